"""Theories for reading: a table of labels, bodies and counts, by label or in the order of rules."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, TypeAlias

from labelrules._checks import counted, one_of, whole_number
from labelrules.rules.language.text import (
    RuleLayout,
    ShownEvidence,
    is_shortened,
    laid_out,
    theory_parts,
)
from labelrules.rules.layered_theory import labels_without_rules
from labelrules.rules.rule import Evidence, Head, Rule
from labelrules.rules.theory import RuleSet, Theory, theory_of
from labelrules.rules.views.points_table import (
    NARROWEST,
    START,
    decisions,
    first_of,
    indented,
    only_started,
    only_started_text,
    place_of,
)
from labelrules.rules.views.terminal import (
    ReadingNotation,
    display_width,
    left,
    note_lines,
    right,
    styled,
    wrapped,
)

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
    for heading, part, shown in theory_parts(theory, evidence=evidence):
        rules = shown_rules(part, shown)
        below: list[list[str]] = []
        left_out: list[str] = []
        if isinstance(part, RuleSet) and part.gives_points:
            below = list(decisions(part, notation))
            left_out = [part.schema.labels[label] for label in only_started(part)]
        rows = _by_label(rules, part, notation) if order == "label" else _in_order(rules, notation)
        n_implied = len(part) - len(rules)
        title = heading.removesuffix(":")
        found.append(ReadingSection(title, list(rows), below, n_implied, left_out))
    return found


def shown_rules(part: Theory, evidence: ShownEvidence) -> list[LaidOut]:
    """The rules of a part and how they are shown, without those that are implied.

    Nor does the start of a rule set have labels that only start below 0, if they are many.
    """
    pairs = [pair for pair in laid_out(part, evidence) if not _is_implied(pair[0], part)]
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
