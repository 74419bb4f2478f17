"""Explanations that fit on a screen: the labels of a row with reasons, the others in short."""

import re
import shutil
import sys
from collections.abc import Iterator
from textwrap import wrap
from typing import NamedTuple

from labelrules._checks import whole_number
from labelrules.inspection.explanation.values import Explanation, LabelExplanation
from labelrules.inspection.explanation.writer import ExplainingNotation, Writer
from labelrules.inspection.tracing import PRESENCE, value_text, value_words

SCREEN = 25  # lines
WIDTH = 100  # characters, if there is no terminal
MORE = "explanation.text(details=True): every label, training rows, later rules"

_INDENT = "    "
_ITEM = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | [^,;] | [,;](?!\ ))+ [,;]?""", re.VERBOSE
)
_NARROWEST = 30


class _Layout(NamedTuple):
    """How much room an explanation takes."""

    is_spacious: bool  # an empty line between labels
    is_listed: bool  # reason, evidence and change on lines of their own
    n_absent: int  # absent labels that get a line
    n_terms: int | None = None  # conditions of a rule, points that are added up, changes
    has_precision: bool = True  # if not, the evidence follows the reason in brackets


_LAYOUTS = (
    _Layout(True, True, 5),
    _Layout(False, True, 3),
    _Layout(False, True, 3, n_terms=8, has_precision=False),
    _Layout(False, False, 3, n_terms=8, has_precision=False),
    _Layout(False, False, 1, n_terms=3, has_precision=False),
    _Layout(False, False, 0, n_terms=1, has_precision=False),
)
"""The first one that fits on a screen is taken, or else the last."""


def screen_text(explanation: Explanation, width: int | None = None) -> str:
    """An explanation on a screen, wrapped at a width; by default at that of the terminal.

    Names and thresholds are those of `theory_view`; the last lines tell the abbreviations.
    """
    if width is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    width = max(whole_number(width, "width", low=1), _NARROWEST)
    notation = ExplainingNotation(explanation.theory, is_short=True)
    lines: list[str] = []
    for layout in _LAYOUTS:
        writer = Writer(notation, layout.n_terms, layout.has_precision)
        lines = [
            values_line(explanation, width, writer),
            *_lines(explanation, layout, width, writer),
        ]
        legend = ", ".join(notation.legend("\n".join(lines)))
        lines += [*_hanging(legend, "", _INDENT, width), *wrap(MORE, width)]
        if len(lines) <= SCREEN:
            break
    return "\n".join(lines)


def _lines(explanation: Explanation, layout: _Layout, width: int, writer: Writer) -> Iterator[str]:
    for note in writer.notes(explanation):
        yield from wrap(note, width)
    is_chosen = len(explanation) < explanation.theory.schema.n_labels
    shown = [one for one in explanation if one.predicted or is_chosen]
    for number, one in enumerate(shown):
        if layout.is_spacious or not number:
            yield ""
        yield from _label(one, layout, width, writer)
    if not (shown or is_chosen):
        yield from ("", "No label is given.")
    if not is_chosen:
        for title, lines in writer.absent_groups(explanation, layout.n_absent):
            if layout.is_spacious or shown:
                yield ""
            yield from wrap(title, width)
            yield from _table(lines, width)


def values_line(explanation: Explanation, width: int, writer: Writer) -> str:
    """The row on one line: the features that it has, or all values if they fit."""
    start, features = f"Row {explanation.row}", explanation.theory.schema.features
    names = [writer.feature(feature.name) for feature in features]
    binary = {j for j, f in enumerate(features) if f.present_code is not None or f.kind == "amount"}
    n_binary = len(binary)
    if 2 * n_binary > len(features):
        present = [
            names[j]
            for j in _by_relevance(explanation)
            if j in binary and value_words(explanation.values[j], is_binary=True) == PRESENCE[1]
        ]
        return _cut(start, present, f"({len(present):,} of {n_binary:,} present)", width)
    pairs = [
        f"{name} = {value_text(value)}"
        for name, value in zip(names, explanation.values, strict=True)
    ]
    whole = f"{start}: {', '.join(pairs)}"
    if len(whole) <= width:
        return whole if pairs else start
    found = [pairs[j] for j in _by_relevance(explanation) if explanation.values[j] != 0]
    if 2 * len(found) < len(pairs):
        return _cut(start, found, f"({len(found):,} of {len(pairs):,} are not 0)", width)
    return start


def _by_relevance(explanation: Explanation) -> list[int]:
    """The features: first those that the labels of the row rest on, then all that rules test."""
    columns = range(explanation.theory.schema.n_features)
    tested = {c.column for rule in explanation.theory for c in rule.body.on_features}
    deciding = {
        checked.condition.column
        for one in explanation
        if one.predicted
        for rule in (*one.votes, *([one.rule] if one.rule else []))
        for checked in rule.conditions
        if not checked.condition.on_label
    }
    return sorted(columns, key=lambda j: (j not in deciding, j not in tested, j))


def _cut(start: str, words: list[str], end: str, width: int) -> str:
    """As many words as fit between start and end."""
    if not words:
        return f"{start} {end}"
    line = f"{start}: {words[0]}"
    for number, word in enumerate(words[1:], 1):
        more = f"{line}, {word}"
        dots = " …" if number < len(words) - 1 else ""
        if len(f"{more}{dots} {end}") > width:
            return f"{line} … {end}"
        line = more
    return f"{line} {end}"


def _label(one: LabelExplanation, layout: _Layout, width: int, writer: Writer) -> Iterator[str]:
    facts, name = list(writer.facts(one)), writer.label(one.label)
    if not layout.is_listed:
        parts = [f"{title} {text}".lstrip() for title, text in facts]
        yield from _hanging(f"{name}: {'; '.join(parts)}", "", _INDENT, width)
        return
    if one.votes:
        yield from _hanging(f"{name}: {facts.pop(0)[1]}", "", _INDENT, width)
    else:
        yield name if one.predicted else f"{name}: not given"
    longest = max((len(title) for title, _ in facts), default=0)
    for title, text in facts:
        start = f"{_INDENT}{title:<{longest}}  "
        yield from _hanging(text, start, " " * len(start), width)


def _table(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    """Names and what is said of them, each on one line, which may end between two items."""
    longest = min(max((len(name) for name, _ in rows), default=0), width // 3)
    for name, text in rows:
        first, *rest = _items(text)
        line = f"{_INDENT}{name:<{longest}}  {first}"
        for n_left, item in zip(range(len(rest) - 1, -1, -1), rest, strict=True):
            end = " …" if n_left else ""
            if len(f"{line} {item}{end}") > width:
                line = f"{line} …"
                break
            line = f"{line} {item}"
        yield line if len(line) <= width else f"{line[: width - 2]} …"


def _items(text: str) -> list[str]:
    """A text in parts that end with a comma or semicolon, none of which is inside quotes."""
    return [item.removeprefix(" ") for item in _ITEM.findall(text)]


def _hanging(text: str, first: str, later: str, width: int) -> list[str]:
    """Text in lines that end after commas and semicolons, or, if they are too far away, words."""
    lines: list[str] = []
    for item in _items(text):
        if lines and len(f"{lines[-1]} {item}") <= width:
            lines[-1] += f" {item}"
            continue
        start = later if lines else first
        lines += wrap(
            item,
            width,
            initial_indent=start,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines
