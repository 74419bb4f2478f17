"""HTML for notebooks and pages: Jinja2 templates that escape everything, and one stylesheet.

The templates are in the folder ``templates``. Nothing is fetched and nothing runs: no script, no
font, no link. Colours are never the only sign: an absent label has a dashed border and a "not".
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

SHOWN = 100
"""Rows of a table, or items of a list, that a notebook shows; the values have all of them."""


@cache
def _environment() -> "Environment":
    # Imported here: most programs show no HTML.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("labelrules"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template_file(name: str) -> "Template":
    """A template for text other than HTML, which is not escaped."""
    return _environment().overlay(autoescape=False, finalize=None).get_template(name)


def _visible(value: object) -> object:
    r"""Text with invisible characters as ``\u0009``; anything else, HTML too, as it is."""
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(c if c.isprintable() else _code_point(ord(c)) for c in value)


def _code_point(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def render(template: str, **values: object) -> "Markup":
    """Fill a Jinja2 template; values are escaped unless they are HTML already."""
    from markupsafe import Markup

    is_file = template.endswith((".html", ".css", ".svg"))
    made = (_environment().get_template if is_file else _environment().from_string)(template)
    return Markup(made.render(values).rstrip("\n"))


def html_table(
    rows: Iterable[Sequence[object]], head: Sequence[str] = (), limit: int | None = None
) -> "Markup":
    """A table; numbers are aligned on the right, and rows beyond the limit are counted."""
    call = '{% from "parts.html" import table %}{{ table(rows, head, limit) }}'
    return render(call, rows=list(rows), head=head, limit=limit)


def paragraphs(lines: Iterable[str]) -> "Markup":
    """Lines of text, each a paragraph."""
    return render("{% for line in lines %}<p>{{ line }}</p>\n{% endfor %}", lines=list(lines))


def folded(title: str, items: Sequence[Sequence[str]]) -> "Markup":
    """A title with a number, and the items folded away, each of some lines; empty without items."""
    call = '{% from "parts.html" import folded %}{{ folded(title, items, limit) }}'
    return render(call, title=title, items=items, limit=SHOWN)


def fragment(*parts: object) -> str:
    """Parts of a page in one element with the stylesheet, for ``_repr_html_``."""
    call = '{% from "parts.html" import fragment %}{{ fragment(style, parts) }}'
    return str(render(call, style=render("style.css"), parts=parts))


def html_page(content: str, title: str) -> str:
    """A whole page around HTML such as `fragment` returns."""
    from markupsafe import Markup

    call = '{% from "parts.html" import page %}{{ page(title, content) }}'
    return f"{render(call, content=Markup(content), title=title)}\n"
