"""Rule sets as tables: conditions by labels, with points in the cells."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from labelrules._checks import whole_number
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Body
from labelrules.rules.theory import LabelSet, RuleSet, theory_of
from labelrules.rules.views.terminal import (
    ReadingNotation,
    broken,
    display_width,
    left,
    note_lines,
    right,
    styled,
    wrapped,
)

START = "start"
"""The name of the row for all rows of data."""
NOTHING = "·"
"""The cell of a condition that gives a label no points."""
GIVEN = "a label is given above 0 points"
FEW = 3
"""So many labels that only start below 0 are shown."""
NARROWEST = 40
"""Columns of a terminal that a table needs at least."""
_HEADING = 9
"""Columns that the name of a label takes, unless one of its words is longer."""


class PointsRow(NamedTuple):
    """A body and the points that it gives to labels, below 0 for absence."""

    body: Body
    points: Mapping[int, int]
    note: str | None = None


@dataclass(frozen=True)
class PointsTable:
    """A rule set as rows of points, in the order in which they are shown."""

    schema: Schema
    rows: tuple[PointsRow, ...]
    labels: tuple[int, ...]
    """Labels that are shown: first those with points in most rows, then with most points."""
    label_sets: tuple[LabelSet, ...]
    at_least_one: bool

    @classmethod
    def of(cls, theory: RuleSet) -> "PointsTable":
        """The table of a rule set; rules with the same body are one row."""
        points: dict[Body, dict[int, int]] = {}
        notes: dict[Body, list[str]] = {}
        for rule in theory:
            notes.setdefault(rule.body, []).extend([rule.note] if rule.note else [])
            cells = points.setdefault(rule.body, {})
            for label, value, votes in rule.ballot:
                cells[label] = cells.get(label, 0) + (votes if value else -votes)
        rows = [
            PointsRow(body, _without_zeros(cells), "\n".join(notes[body]) or None)
            for body, cells in points.items()
        ]
        shown = sorted((row for row in rows if row.points), key=lambda row: place_of(row.body))
        labels = {label for row in shown for label in row.points} - set(only_started(theory))
        ranked = tuple(sorted(labels, key=_importance(shown)))
        return cls(theory.schema, tuple(shown), ranked, theory.label_sets, theory.at_least_one)

    @property
    def left_out(self) -> tuple[int, ...]:
        """Labels that start below 0, get no further points, and are left out since they are many.

        See `only_started`.
        """
        pointed = {label for row in self.rows for label in row.points}
        return tuple(sorted(pointed.difference(self.labels)))

    @property
    def without_points(self) -> tuple[int, ...]:
        """Labels that no row gives points to."""
        shown = {*self.labels, *self.left_out}
        return tuple(label for label in range(self.schema.n_labels) if label not in shown)


def only_started(theory: RuleSet) -> tuple[int, ...]:
    """Labels that start below 0 and get no other points, nor are in a usual set.

    If there are few of them they are shown like the others, and the result is empty.
    """
    started = {label for rule in theory if not rule.body for label in rule.head.labels}
    shown = {label for one in theory.label_sets for label in one.labels}
    for rule in theory:
        shown.update(label for label, value in rule.head if value or rule.body)
    found = sorted(started - shown)
    return tuple(found) if len(found) > FEW else ()


def _without_zeros(cells: Mapping[int, int]) -> dict[int, int]:
    return {label: points for label, points in cells.items() if points}


def place_of(body: Body) -> tuple[Any, ...]:
    """Start first, then features before labels, by column and threshold."""
    return tuple((one.on_label, one.column, one.value, one.operator, one.codes) for one in body)


def _importance(rows: Sequence[PointsRow]) -> Any:
    def key(label: int) -> tuple[int, int, int]:
        cells = [row.points[label] for row in rows if label in row.points]
        return -len(cells), -sum(map(abs, cells)), label

    return key


def theory_table(theory: Any, *, width: int = 100, colour: bool = False) -> str:
    r"""A rule set as a table: a row for each body, a column for each label, points in the cells.

    Labels with most points come first; those that do not fit come in further blocks, each with the
    rows that concern it. What many long names begin or end with is abbreviated, and thresholds are
    rounded as long as they differ; the lines below the table say so.

    Parameters
    ----------
    theory : RuleSet, or fitted learner that has one
    width : int, default=100
        The width of lines, in columns of a terminal.
    colour : bool, default=False
        Whether to use the colours of a terminal.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse('''
    ... in any order:
    ... quality -1, fashion -3, sports -1 <- true
    ... fashion +4, quality -1 <- sex = Female
    ... quality +3 <- education = University
    ... usual label sets:
    ... {quality, fashion} +1
    ... ''', load("magazines").schema)
    >>> print(theory_table(theory))
                              quality  fashion  sports
      start                        -1       -3      -1
      education = University        3        ·       ·
      sex = Female                 -1        4       ·
    <BLANKLINE>
      a label is given above 0 points
      usual together: {quality, fashion} +1
      no points: tabloid
    """
    theory = theory_of(theory)
    whole_number(width, "width", low=NARROWEST)
    if not isinstance(theory, RuleSet):
        raise ValueError(
            f"a table shows the points of a rule set, not a {type(theory).__name__}: use "
            "theory_view or theory_text"
        )
    notation, table = ReadingNotation(theory), PointsTable.of(theory)
    lines = _Blocks(table, notation, width, colour).lines()
    below = [line for text in _below(table, notation, width) for line in indented(text, width)]
    return "\n".join(
        [*lines, *([""] if lines else []), *(styled(x, "note", colour) for x in below)]
    )


def indented(items: Sequence[str], width: int) -> list[str]:
    """Items in lines, all but the first further to the right."""
    first, *rest = wrapped(items, width - 4)
    return [f"  {first}", *(f"    {line}" for line in rest)]


def _below(table: PointsTable, notation: ReadingNotation, width: int) -> Iterable[list[str]]:
    """The lines below a table, each as items."""
    yield from decisions(table, notation)
    if table.left_out:
        names = [notation.label(table.schema.labels[one]) for one in table.left_out]
        yield [first_of(names, only_started_text(len(names)), width - 4)]
    if table.without_points:
        first, *rest = [notation.label(table.schema.labels[one]) for one in table.without_points]
        yield [f"no points: {first}", *rest]
    yield from notation.notes()


def only_started_text(number: int) -> str:
    """The start of a line with labels that are left out."""
    return f"{number} labels start below 0 and get no further points: "


def first_of(names: Sequence[str], start: str, width: int) -> str:
    """As many names as fit into a line, and a sign that there are more."""
    shown = list(names)
    line = start + ", ".join(shown)
    while display_width(line) > width and len(shown) > 1:
        shown.pop()
        line = start + ", ".join([*shown, "…"])
    return line


def decisions(part: "RuleSet | PointsTable", notation: ReadingNotation) -> Iterable[list[str]]:
    """How points decide which labels a row gets, in lines, each as items."""
    yield [GIVEN]
    if part.label_sets:
        first, *rest = [notation.label_set(one, part.schema) for one in part.label_sets]
        yield [f"usual together: {first}", *rest]
    if part.at_least_one:
        yield ["a row without a label gets the one with the most points"]


class _Blocks:
    """The table in blocks of labels that fit the width."""

    def __init__(
        self, table: PointsTable, notation: ReadingNotation, width: int, colour: bool
    ) -> None:
        self.table, self.width, self.colour = table, width, colour
        self.names = [
            [notation.condition(one, table.schema) for one in row.body] or [START]
            for row in table.rows
        ]
        names = table.schema.labels
        self.titles = {
            label: [part.rstrip() for part in broken(notation.label(names[label]), _HEADING)]
            for label in table.labels
        }

    def lines(self) -> list[str]:
        """All lines; between blocks an empty one."""
        found: list[str] = []
        rest = list(self.table.labels)
        while rest:
            chosen = self._first(rest)
            rest = rest[len(chosen) :]
            found += ["", *self._block(chosen)] if found else self._block(chosen)
        return found

    def _first(self, labels: list[int]) -> list[int]:
        """As many of the first labels as fit, at least one."""
        room = self.width - self._first_column()
        chosen: list[int] = []
        for label in labels:
            room -= 2 + self._column(label)
            if room < 0 and chosen:
                break
            chosen.append(label)
        return chosen

    def _first_column(self) -> int:
        """The width of the first column: long bodies wrap, but no condition does."""
        longest = max(display_width(", ".join(name)) for name in self.names)
        widest = max(display_width(one) for name in self.names for one in name) + 1
        return 2 + max(min(longest, self.width // 2), min(widest, longest))

    def _column(self, label: int) -> int:
        cells = [str(row.points.get(label, NOTHING)) for row in self.table.rows]
        return max(display_width(text) for text in [*self.titles[label], *cells])

    def _block(self, labels: list[int]) -> list[str]:
        first = self._first_column()
        widths = {label: self._column(label) for label in labels}
        height = max(len(self.titles[label]) for label in labels)
        lines = []
        for number in range(height):
            titles = [[""] * (height - len(self.titles[n])) + self.titles[n] for n in labels]
            cells = [
                right(title[number], widths[n]) for n, title in zip(labels, titles, strict=True)
            ]
            shown = [styled(cell, "label", self.colour) for cell in cells]
            lines.append("  ".join([" " * first, *shown]))
        for name, row in zip(self.names, self.table.rows, strict=True):
            if any(label in row.points for label in labels):
                lines += self._row(name, row, widths, first)
        return [line.rstrip() for line in lines]

    def _row(
        self, name: list[str], row: PointsRow, widths: Mapping[int, int], first: int
    ) -> list[str]:
        *before, last = wrapped(name, first - 2)
        cells = [self._cell(row.points.get(label), width) for label, width in widths.items()]
        lines = [*(f"  {line}" for line in before), "  ".join([left(f"  {last}", first), *cells])]
        notes = note_lines(row.note, self.width - 4) if row.note else []
        return [*lines, *(styled(f"    {line}", "note", self.colour) for line in notes)]

    def _cell(self, points: int | None, width: int) -> str:
        if points is None:
            return styled(right(NOTHING, width), "note", self.colour)
        return styled(right(str(points), width), "for" if points > 0 else "against", self.colour)
