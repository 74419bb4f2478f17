"""HTML fragments for notebooks and pages: escaped by Jinja2, with one stylesheet."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

STYLE = """
.labelrules { font: 14px/1.5 system-ui, sans-serif; overflow-x: auto; }
.labelrules h4 { margin: 0.9em 0 0.2em; font-size: 1em; }
.labelrules .about { margin: 0 0 0.4em; opacity: 0.75; }
.labelrules table { border-collapse: collapse; margin: 0.3em 0; }
.labelrules th, .labelrules td { border-bottom: 1px solid rgba(128, 128, 128, 0.4);
  padding: 0.1em 0.7em; text-align: left; font-variant-numeric: tabular-nums; }
.labelrules td { white-space: pre-wrap; overflow-wrap: anywhere; }
.labelrules .number { text-align: right; }
"""

_FRAGMENT = """\
<div class="labelrules">
<style>{{ style }}</style>
{% for part in parts %}{{ part }}
{% endfor %}</div>"""

_TABLE = """\
<table>
{% if head %}<thead><tr>{% for cell in head %}<th>{{ cell }}</th>{% endfor %}</tr></thead>
{% endif %}<tbody>
{% for row in rows %}<tr>
{%- for cell in row %}<td{% if cell is number %} class="number"{% endif %}>{{ cell }}</td>
{%- endfor %}</tr>
{% endfor %}</tbody>
</table>"""


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, StrictUndefined  # imported here: most programs show no HTML

    return Environment(autoescape=True, undefined=StrictUndefined)


def render(template: str, **values: object) -> "Markup":
    """A Jinja2 template filled with values, which are escaped unless they are HTML already.

    >>> render("<b>{{ name }}</b>", name="a<b")
    Markup('<b>a&lt;b</b>')
    """
    from markupsafe import Markup

    return Markup(_environment().from_string(template).render(values))


def html_table(rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> "Markup":
    """A table; cells that are numbers stand on the right.

    >>> rows = html_table([["&", 1]])
    >>> "<td>&amp;</td>" in rows, '<td class="number">1</td>' in rows
    (True, True)
    """
    return render(_TABLE, rows=list(rows), head=head)


def fragment(*parts: object) -> str:
    """Parts of a page in one element with the stylesheet, for ``_repr_html_``."""
    from markupsafe import Markup

    return str(render(_FRAGMENT, style=Markup(STYLE), parts=parts))
