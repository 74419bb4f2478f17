"""Theories as tables in a terminal: conditions by labels with points, or rules to be read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, TypeAlias

from labelrules._checks import counted, one_of, whole_number
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Body
from labelrules.rules.language.text import (
    RuleLayout,
    Section,
    is_shortened,
    sections,
)
from labelrules.rules.layered_theory import labels_without_rules
from labelrules.rules.rule import Evidence, Head, Rule
from labelrules.rules.theory import LabelSet, RuleSet, Theory, theory_of
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

# -------------------------------------------------------------------- points

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


# -------------------------------------------------------------------- rules

ReadingOrder: TypeAlias = Literal["list", "label"]
LaidOut: TypeAlias = tuple[Rule, RuleLayout]
_ALWAYS = "always"
_OTHERWISE = "otherwise"


class ReadingRow(NamedTuple):
    """A row of the table: parts of a head, conditions, and further cells by their columns.

    These are those of the whole row, or, if there are several, of each part of the head.
    """

    head: list[str]
    body: list[str]
    cells: list[dict[str, str]]
    note: str | None = None


class ReadingSection(NamedTuple):
    """The rows of a layer, or of the rules for rows without a label, and lines below them."""

    heading: str
    rows: list[ReadingRow]
    below: list[list[str]]
    n_implied: int
    """How many rules are left out, since they only say that a label is absent otherwise."""
    left_out: list[str]
    """Labels that are left out, since they only start below 0."""


def theory_view(
    theory: Any,
    *,
    width: int = 100,
    order: ReadingOrder = "list",
    evidence: bool = True,
    colour: bool = False,
) -> str:
    r"""A theory as a table: which labels, if what holds, and how often that was right and wrong.

    Rules of a label that stand together share its name. What many long names begin or end with is
    abbreviated, and thresholds are rounded as long as they differ; the last lines say so. This is
    for people: `parse` reads what `theory_text` writes.

    Parameters
    ----------
    theory : Theory or fitted learner
    width : int, default=100
        The width of lines, in columns of a terminal.
    order : {"list", "label"}, default="list"
        Rules in the order of the theory, or label by label: a rule for several labels is then shown
        with each of them.
    evidence : bool, default=True
        Whether to show how often labels were right and wrong.
    colour : bool, default=False
        Whether to use the colours of a terminal.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse('''
    ... quality <- education = University
    ... quality <- marital = Divorced, children = No
    ... fashion <- sex = Female
    ... otherwise: tabloid
    ... ''', readers.schema).with_evidence(readers, readers.Y)
    >>> print(theory_view(theory))
      label    if                                 right  wrong
      quality  education = University                 4      0
               marital = Divorced, children = No      2      0
      fashion  sex = Female                           3      2
      tabloid  otherwise                              6      8
    <BLANKLINE>
      1 label has no rule: sports
    """
    theory = theory_of(theory)
    whole_number(width, "width", low=NARROWEST)
    one_of(order, "order", ("list", "label"))
    notation = ReadingNotation(theory)
    sections = _sections(theory, notation, order, evidence)
    lines = _Columns(sections, width, colour).lines(sections)
    never = [*_implied_note(sections), *_unpredicted(theory, sections, notation, width)]
    notes = [line for note in notation.notes() for line in indented(note, width)]
    below = [styled(line, "note", colour) for line in (*never, *notes)]
    return "\n".join([*lines, *(["", *below] if below else [])])


def _sections(
    theory: Theory, notation: ReadingNotation, order: ReadingOrder, evidence: bool
) -> list[ReadingSection]:
    """The sections of a theory with their rows, in an order."""
    found = []
    for section in sections(theory, evidence=evidence):
        part, rules = section.part, shown_rules(section)
        below: list[list[str]] = []
        left_out: list[str] = []
        if isinstance(part, RuleSet) and part.gives_points:
            below = list(decisions(part, notation))
            left_out = [part.schema.labels[label] for label in only_started(part)]
        rows = _by_label(rules, part, notation) if order == "label" else _in_order(rules, notation)
        n_implied = len(part) - len(rules)
        found.append(ReadingSection(section.heading, list(rows), below, n_implied, left_out))
    return found


def shown_rules(section: Section) -> list[LaidOut]:
    """The rules of a part and how they are shown, without those that are implied.

    Nor does the start of a rule set have labels that only start below 0, if they are many.
    """
    part = section.part
    pairs = [pair for pair in section.rules if not _is_implied(pair[0], part)]
    if not (isinstance(part, RuleSet) and part.gives_points):
        return pairs
    hidden = set(only_started(part))
    return [
        (_without(rule, hidden), layout)
        for rule, layout in pairs
        if not hidden.issuperset(rule.head.labels)
    ]


def _without(rule: Rule, labels: set[int]) -> Rule:
    """A rule without some of the labels of its head."""
    places = [place for place, (label, _) in enumerate(rule.head) if label not in labels]
    if len(places) == len(rule.head):
        return rule
    head = [list(rule.head)[place] for place in places]
    return replace(
        rule,
        head=Head(dict(head), rule.head.n_labels),
        evidence=rule.evidence and tuple(rule.evidence[place] for place in places),
        votes=rule.votes and tuple(rule.votes[place] for place in places),
    )


def _is_implied(rule: Rule, part: Theory) -> bool:
    """Whether a rule of a list only says of some labels that they are absent otherwise."""
    if len(rule.body) or any(rule.head.values) or rule.head.is_complete or not part.ordered:
        return False
    if rule.note is not None:
        return False
    later = part.rules[part.rules.index(rule) + 1 :]
    given = {label for other in later for label, value in other.head if value}
    return not rule.stops and given.isdisjoint(rule.head.labels)


def _in_order(rules: Sequence[LaidOut], notation: ReadingNotation) -> Iterator[ReadingRow]:
    for rule, layout in rules:
        head = notation.head_parts(rule, notation.schema, layout)
        is_short = is_shortened(rule, layout)
        every = zip(rule.head, _evidence(rule, layout), strict=False)
        counts = [count for (_, value), count in every if value or not is_short]
        yield ReadingRow(head, _body(rule, layout, notation), _counts(counts), rule.note)


def _by_label(
    rules: Sequence[LaidOut], part: Theory, notation: ReadingNotation
) -> Iterator[ReadingRow]:
    for label, rule, layout in by_label(rules, part):
        if label is None:
            yield ReadingRow(["no label"], _body(rule, layout, notation), [], rule.note)
        else:
            yield _row_of_label(label, rule, layout, notation)._replace(note=rule.note)


def by_label(
    rules: Sequence[LaidOut], part: Theory
) -> Iterator[tuple[int | None, Rule, RuleLayout]]:
    """Each label with the rules that name it, at last those that predict no label at all."""
    if not part.ordered:
        rules = sorted(rules, key=lambda pair: place_of(pair[0].body))
    for label in range(part.schema.n_labels):
        for rule, layout in rules:
            if label in rule.head.labels and not _is_left_out(label, rule, layout):
                yield label, rule, layout
    for rule, layout in rules:
        if is_shortened(rule, layout) and not any(rule.head.values):
            yield None, rule, layout


def _is_left_out(label: int, rule: Rule, layout: RuleLayout) -> bool:
    """Whether a head does not name a label that it predicts absent."""
    return is_shortened(rule, layout) and not dict(rule.head)[label]


def _row_of_label(
    label: int, rule: Rule, layout: RuleLayout, notation: ReadingNotation
) -> ReadingRow:
    name, body = notation.schema.labels[label], _body(rule, layout, notation)
    _, value, votes = next(one for one in rule.ballot if one[0] == label)
    cells = _counts([rule.evidence_for(label)] if _evidence(rule, layout) else [])
    if layout.has_points:
        points = str(votes if value else -votes)
        cells = [{"points": points, **(cells[0] if cells else {})}]
        return ReadingRow([notation.label(name)], body, cells)
    head = [notation.literal(name, value)]
    if is_shortened(rule, layout) and not layout.is_default:
        head.append(notation.rest(rule, layout, is_alone=False))
    return ReadingRow([*head, notation.stop] if rule.stops else head, body, cells)


def _body(rule: Rule, layout: RuleLayout, notation: ReadingNotation) -> list[str]:
    if len(rule.body):
        return [notation.condition(condition, notation.schema) for condition in rule.body]
    if layout.has_points:
        return [START]
    return [_OTHERWISE if layout.is_default else _ALWAYS]


def _evidence(rule: Rule, layout: RuleLayout) -> tuple[Evidence | None, ...]:
    """The evidence of a rule; nothing if it has none, or if none is to be shown."""
    return rule.evidence or () if layout.evidence else ()


def _counts(counts: Sequence[Evidence | None]) -> list[dict[str, str]]:
    """How often the labels were right and wrong; once if it is the same for all."""
    known = counts[:1] if len(set(counts)) == 1 else counts
    return [
        {"right": "?", "wrong": "?"}
        if one is None
        else {"right": str(one.right), "wrong": str(one.wrong)}
        for one in known
    ]


def _implied_note(sections: Sequence[ReadingSection]) -> Iterator[str]:
    number = sum(section.n_implied for section in sections)
    if number:
        verb = "is" if number == 1 else "are"
        yield (
            f"  {counted(number, 'rule')} for absent labels {verb} left out: "
            "a label is absent unless a rule gives it"
        )


def _unpredicted(
    theory: Theory, sections: Sequence[ReadingSection], notation: ReadingNotation, width: int
) -> Iterator[str]:
    """Labels that only start below 0, and others that no rule predicts, each in one line."""
    for section in sections:
        if section.left_out:
            names = [notation.label(name) for name in section.left_out]
            yield f"  {first_of(names, only_started_text(len(names)), width - 2)}"
    left_out = {name for section in sections for name in section.left_out}
    without = [name for name in labels_without_rules(theory) if name not in left_out]
    if without:
        verb = "has" if len(without) == 1 else "have"
        start = f"  {counted(len(without), 'label')} {verb} no rule: "
        yield first_of([notation.label(name) for name in without], start, width)


class _Columns:
    """Lays sections out in columns that have the same places in all of them."""

    def __init__(self, sections: Sequence[ReadingSection], width: int, colour: bool) -> None:
        rows = [row for section in sections for row in section.rows]
        self.width, self.colour = width, colour
        names, every = ("points", "right", "wrong"), [cells for row in rows for cells in row.cells]
        self.cells = {
            name: max([len(name), *(display_width(cells.get(name, "")) for cells in every)])
            for name in names
            if any(name in cells for cells in every)
        }
        taken = 4 + sum(2 + size for size in self.cells.values())
        parts = [row.head if len(row.cells) > 1 else [", ".join(row.head)] for row in rows]
        heads = [display_width(part) for row in parts for part in row]
        self.head = min(max([len("label"), *heads]), (width - taken) * 2 // 5)
        bodies = [display_width(", ".join(row.body)) for row in rows]
        self.body = min(max([len("if"), *bodies]), width - taken - self.head)

    def lines(self, sections: Sequence[ReadingSection]) -> list[str]:
        """The lines of the table."""
        titles = {name: name for name in self.cells}
        found = [styled(self._line("label", "if", titles, ""), "note", self.colour)]
        for section in sections:
            found += [f"  {section.heading}"] if section.heading else []
            before: list[str] = []
            for row in section.rows:
                found += self._row(row, is_same=row.head == before)
                before = row.head
            found += [line for items in section.below for line in indented(items, self.width)]
        return found

    def _row(self, row: ReadingRow, is_same: bool) -> list[str]:
        heads = [""] if is_same else wrapped(row.head, self.head)
        if len(row.cells) > 1:
            heads = row.head
        lines = zip_longest(heads, wrapped(row.body, self.body), row.cells)
        shown = [self._line(head or "", body or "", cells or {}) for head, body, cells in lines]
        indent = " " * (self.head + 6)
        notes = note_lines(row.note, self.width - len(indent)) if row.note else []
        return [*shown, *(indent + styled(line, "note", self.colour) for line in notes)]

    def _line(self, head: str, body: str, cells: dict[str, str], kind: str = "label") -> str:
        name = styled(head, kind, self.colour) if kind else head
        name += " " * (self.head - display_width(head))
        numbers = [right(cells.get(key, ""), size) for key, size in self.cells.items()]
        return "  ".join(["", name, left(body, self.body), *numbers]).rstrip()
