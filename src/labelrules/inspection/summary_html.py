"""Summaries and comparisons as HTML tables for notebooks: self-contained, and all escaped."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from labelrules.inspection.comparison import Comparison
from labelrules.inspection.summaries import Summary
from labelrules.inspection.summary_text import (
    features_table,
    labels_table,
    on_data_line,
    pair_lines,
    size_lines,
)
from labelrules.rules.formats.html import visible

SHOWN = 100
"""Lines of a table or a list; all is in the data."""

STYLE = """
.labelrules-figures { font: 14px/1.5 system-ui, sans-serif; overflow-x: auto; }
.labelrules-figures summary { margin: 0.4em 0 0.2em; font-weight: bold; }
.labelrules-figures ul { margin: 0.2em 0; }
.labelrules-figures p { margin: 0.1em 0; }
.labelrules-figures table { border-collapse: collapse; margin: 0.4em 0; }
.labelrules-figures th, .labelrules-figures td { border: 1px solid rgba(128, 128, 128, 0.5);
  padding: 0.1em 0.6em; text-align: right; vertical-align: top; max-width: 40em;
  overflow-wrap: break-word; }
.labelrules-figures th { border-bottom-width: 2px; white-space: nowrap; }
.labelrules-figures .name { text-align: left; }
.labelrules-figures code { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
"""


def summary_html(found: Summary) -> str:
    """A theory in figures."""
    parts = [_lines(size_lines(found))]
    if found.n_rows is not None:
        parts.append(_lines([on_data_line(found, found.n_rows)]))
    never = [f"{rule.place}: {rule.text}" for rule in found.never_reached]
    parts.append(_table(*labels_table(found.labels)))
    titles, lines = features_table(found.features)
    parts += [_table(titles, lines, names=(0, 3))] if lines else []
    parts += _folded("never reached", never)
    parts += _folded("subsumed", pair_lines(found.subsumed, "by"))
    parts += _folded("conflicting pairs", pair_lines(found.conflicting, "and"))
    return _part(parts)


def comparison_html(found: Comparison) -> str:
    """Two theories side by side."""
    parts = [_lines([found.headline])]
    if found.manner:
        lines = [tuple(difference) for difference in found.manner]
        parts.append(_table(("what", "one", "other"), lines, names=(0, 1, 2)))
    rules = [(f"{c.what} changed", str(c.one), str(c.other)) for c in found.changed]
    rules += [("removed", str(rule), "") for rule in found.removed]
    rules += [("added", "", str(rule)) for rule in found.added]
    if rules:
        parts.append(_table(("rule", "one", "other"), rules, names=(0, 1, 2)))
    title, (titles, labels) = found.on_data()
    if title:
        parts.append(_lines([title]))
    parts += [_table(titles, labels)] if labels else []
    return _part(parts)


def _part(parts: Iterable[str]) -> str:
    inner = "\n".join([f"<style>{STYLE}</style>", *parts])
    return f'<div class="labelrules-figures">\n{inner}\n</div>'


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(f"<p>{_text(line)}</p>" for line in lines)


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    """A title with a number, and what it counts folded away; nothing if there is nothing."""
    if lines:
        yield f"<details><summary>{title}: {len(lines)}</summary>"
        items = "\n".join(f"<li><code>{_text(line)}</code></li>" for line in lines[:SHOWN])
        yield f"<ul>\n{items}\n</ul>"
        yield from _more(len(lines))
        yield "</details>"


def _table(
    titles: Sequence[str], lines: Sequence[Sequence[str]], names: Sequence[int] = (0,)
) -> str:
    """A table; the columns with these numbers hold names, the others figures."""

    def row(tag: str, cells: Sequence[str]) -> str:
        kinds = [' class="name"' if place in names else "" for place in range(len(cells))]
        inner = "".join(
            f"<{tag}{kind}>{_text(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)
        )
        return f"<tr>{inner}</tr>"

    rows = [row("th", titles), *(row("td", line) for line in lines[:SHOWN])]
    return "\n".join(["<table>", *rows, "</table>", *_more(len(lines))])


def _more(n_lines: int) -> Iterator[str]:
    if n_lines > SHOWN:
        yield f"<p>and {n_lines - SHOWN} more</p>"


def _text(text: str) -> str:
    """Lines of a text below one another; signs that nobody would see are written out."""
    return "<br>".join(escape(visible(line)) for line in text.split("\n"))
