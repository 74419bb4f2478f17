"""What rules do with rows: what each covers, and the flow of the rows through a list."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from labelrules._checks import counted
from labelrules._html import SHOWN
from labelrules._report import Columns, Part, Picture, Report, Table, Tabular, field_columns
from labelrules._types import Board, Mask
from labelrules.data.table import Dataset
from labelrules.inspection.explanation.values import Estimate, Place, estimate
from labelrules.inspection.summaries import places_of
from labelrules.inspection.tracing import label_number, rows_and_truth
from labelrules.rules import Evidence, Rule, Theory, theory_of
from labelrules.rules.language.text import label_text, rule_texts
from labelrules.rules.run import PartRun, TheoryRun


class Coverage(NamedTuple):
    """Rows and cells of one rule on one part of the data."""

    n_rows: int  #: Rows.
    n_cells: int  #: Cells: the labels of the head in these rows, known or not.
    evidence: Evidence | None  #: Right and wrong ones of these; None without true labels.

    @property
    def estimate(self) -> Estimate | None:
        """The precision, with a 95 % interval; None without true labels."""
        return None if self.evidence is None else estimate(self.evidence)


class RuleCoverage(NamedTuple):
    """One rule: what it covers alone, and what it decides in the order of the list."""

    place: Place
    text: str
    alone: Coverage
    """Rows that its body covers, whatever other rules do with them. Labels are tested as they are
    when its turn comes."""
    in_order: (
        Coverage | None
    )  #: Cells that it is the first to write; None in a set, where all vote.
    validation_alone: Coverage | None = None  #: The same on validation data.
    validation_in_order: Coverage | None = None


@dataclass(frozen=True, eq=False, repr=False)
class RuleCoverages(Report, Tabular):
    """The coverage of each rule of a theory."""

    theory: Theory
    rules: tuple[RuleCoverage, ...]  #: In the order of the theory.
    n_rows: int  #: Of the data.
    n_validation_rows: int | None = None  #: Of the validation data.

    _value = "{}({})"

    def as_dict(self) -> Columns:
        """The counts as columns, by rules and parts: training or validation."""
        names = ("training",) if self.n_validation_rows is None else ("training", "validation")
        rows = [_frame_row(rule, name) for rule in self.rules for name in names]
        titles = rows[0] if rows else ("rule", "text", "part")
        return {name: [row[name] for row in rows] for name in titles}

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[RuleCoverage]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> RuleCoverage:
        return self.rules[index]

    @property
    def headline(self) -> str:
        """How many rules, and on how many rows."""
        also = self.n_validation_rows
        more = "" if also is None else f" and {counted(also, 'validation row')}"
        return f"{counted(len(self.rules), 'rule')} on {counted(self.n_rows, 'row')}{more}"

    def _parts(self) -> Iterator[Part]:
        titles = ["rule", "alone", "right", "in order", "right"]
        parts = ["alone", "in_order"]
        if self.n_validation_rows is not None:
            titles += ["validation", "right", "in order", "right"]
            parts += ["validation_alone", "validation_in_order"]
        rows = []
        for rule in self.rules:
            cells = [text for part in parts for text in _cell_texts(getattr(rule, part))]
            rows.append([f"{rule.place}: {rule.text}", *cells])
        yield Table(titles, rows, SHOWN)


def _cell_texts(coverage: Coverage | None) -> tuple[int | str, str]:
    if coverage is None:
        return "", ""
    found = coverage.estimate
    if found is None or coverage.evidence is None:
        return coverage.n_rows, ""
    right, wrong = coverage.evidence
    if not right + wrong:
        return coverage.n_rows, "0/0"
    return coverage.n_rows, f"{right}/{wrong} ({found.low:.2f} to {found.high:.2f})"


def _frame_row(rule: RuleCoverage, name: str) -> dict[str, Any]:
    pairs = {
        "training": (rule.alone, rule.in_order),
        "validation": (rule.validation_alone, rule.validation_in_order),
    }[name]
    row: dict[str, Any] = {"rule": str(rule.place), "text": rule.text, "part": name}
    for kind, coverage in zip(("alone", "in_order"), pairs, strict=True):
        known = None if coverage is None else coverage.evidence
        found = None if coverage is None else coverage.estimate
        row[f"{kind}_rows"] = None if coverage is None else coverage.n_rows
        row[f"{kind}_right"] = None if known is None else known.right
        row[f"{kind}_wrong"] = None if known is None else known.wrong
        row[f"{kind}_precision"] = None if found is None else found.probability
        row[f"{kind}_low"] = None if found is None else found.low
        row[f"{kind}_high"] = None if found is None else found.high
    return row


def rule_coverage(theory: Any, data: Any, validation: Any = None) -> RuleCoverages:
    r"""What each rule covers alone, and what it decides in the order of its list.

    Rows are counted, each once, whatever their weights.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
    data : Dataset, array, sparse matrix or frame
        True labels are taken from a Dataset only; cells of which the truth is unknown are neither
        right nor wrong.
    validation : Dataset, array, sparse matrix or frame, optional
        Other rows, to see what holds on them, too.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "quality <- sex = Female\ntabloid <- true"
    >>> print(rule_coverage(parse(text, readers.schema), readers))
    2 rules on 14 rows
    rule                             alone  right               in order  right
    rule 1: quality <- sex = Female      5  3/2 (0.23 to 0.88)         5  3/2 (0.23 to 0.88)
    rule 2: otherwise: tabloid          14  6/8 (0.21 to 0.67)        14  6/8 (0.21 to 0.67)
    """
    theory = theory_of(theory)
    parts = [_coverages(theory, data)]
    if validation is not None:
        parts.append(_coverages(theory, validation))
    placed = zip(places_of(theory), rule_texts(theory), strict=True)
    pairs = zip(*(found for found, _ in parts), strict=True)
    rules = tuple(
        RuleCoverage(place, text, *training, *(other[0] if other else (None, None)))
        for (place, text), (training, *other) in zip(placed, pairs, strict=True)
    )
    return RuleCoverages(theory, rules, *(n_rows for _, n_rows in parts))


def _coverages(theory: Theory, data: Any) -> tuple[list[tuple[Coverage, Coverage | None]], int]:
    """Alone and in order, for each rule, and the number of rows."""
    rows, truth = rows_and_truth(theory, data)
    found = [
        _of_rule(part, number, truth)
        for part in TheoryRun.of(theory, rows).parts
        for number in range(len(part.rules))
    ]
    return found, len(rows)


def _of_rule(part: PartRun, number: int, truth: Board | None) -> tuple[Coverage, Coverage | None]:
    rule = part.rules[number]
    alone = np.repeat(part.covered(number)[:, None], len(rule.head), axis=1)
    in_order = _coverage(rule, part.wrote(number), truth) if part.rules.ordered else None
    return _coverage(rule, alone, truth), in_order


def _coverage(rule: Rule, cells: Mask, truth: Board | None) -> Coverage:
    """What a rule writes in these cells of the labels of its head, rows by labels."""
    n_rows, n_cells = int(cells.any(axis=1).sum()), int(cells.sum())
    if truth is None:
        return Coverage(n_rows, n_cells, None)
    known = truth[:, list(rule.head.labels)]
    return Coverage(n_rows, n_cells, Evidence.of_cells(cells, rule.head.values, known))


class FlowStep(NamedTuple):
    """What one rule does with the rows that reach it."""

    place: Place
    text: str
    n_reaching: int  #: Rows that are still under way: not ended, and with an open label.
    n_covered: int  #: Those that the body covers.
    n_first: int  #: Those of which it writes the first label.
    n_writing: int  #: Those of which it writes any label.
    n_completed: int  #: Those of which it writes the last open label, without ending them.
    n_stopped: int  #: Those that its stop mark ends.
    n_present: int  #: Cells that it writes as present.
    n_absent: int  #: Cells that it writes as absent.
    n_right: int | None  #: Cells that it writes rightly; None without true labels.
    n_wrong: int | None  #: Cells that it writes wrongly.

    @property
    def n_leaving(self) -> int:
        """Rows that go no further than this rule."""
        return self.n_completed + self.n_stopped


@dataclass(frozen=True, eq=False, repr=False)
class RowFlow(Report, Tabular):
    """The way of the rows through a list, for all labels or for one."""

    theory: Theory
    steps: tuple[FlowStep, ...]  #: In the order of the list.
    n_rows: int  #: Rows that the list begins with.
    n_left: int  #: Rows that are still under way after the last rule.
    label: str | None = None  #: If only the way to one label was looked at.

    _value = "{}({})"

    def as_dict(self) -> Columns:
        """The counts as columns, by rules."""
        columns = field_columns(FlowStep, self.steps)
        return {"rule": list(map(str, columns.pop("place"))), **columns}

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[FlowStep]:
        return iter(self.steps)

    @property
    def headline(self) -> str:
        """How many rows begin, and how many are left."""
        what = "" if self.label is None else f" for {label_text(self.label)}"
        rows, rules = counted(self.n_rows, "row"), counted(len(self.steps), "rule")
        return f"{rows} through {rules}{what}; {self.n_left:,} {self.left_words}"

    @property
    def left_words(self) -> str:
        """What the rows that are left have in common, after "5 rows"."""
        return "with labels that no rule decides" if self.label is None else "that no rule decides"

    def _parts(self) -> Iterator[Part]:
        titles = ("rule", "reach it", "covered", "first", "writes", "complete", "ended")
        rows = [(f"{step.place}: {step.text}", *step[2:8]) for step in self.steps]
        yield Table(titles, rows, SHOWN)

    def _page(self) -> Iterator[Part]:
        from labelrules.inspection.pictures.svg import flow_svg

        yield Picture(flow_svg(self) if 0 < len(self.steps) <= SHOWN else "")
        yield from self._parts()


def row_flow(theory: Any, data: Any, label: str | None = None, layer: int | None = None) -> RowFlow:
    r"""Follow the rows through a list of rules.

    A row is under way until a stop mark ends it or all its labels are written; with `label`, until
    that label is written.

    Parameters
    ----------
    theory : DecisionList, LayeredTheory or fitted learner
    data : Dataset, array, sparse matrix or frame
        True labels are taken from a Dataset only.
    label : str, optional
        Follow the rows to one label; only rules that predict it, or end rows, are steps then.
    layer : int, optional
        Which layer of a layered theory, from 1; by default the last.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "quality <- sex = Female\nnot sports, * <- quality\nsports <- marital = Divorced"
    >>> print(row_flow(parse(text, readers.schema), readers))
    14 rows through 3 rules; 9 with labels that no rule decides
    rule                                  reach it  covered  first  writes  complete  ended
    rule 1: quality <- sex = Female             14        5      5       5         0      0
    rule 2: not sports, * <- quality            14        5      0       5         0      5
    rule 3: sports <- marital = Divorced         9        3      3       3         0      0
    """
    theory = theory_of(theory)
    rows, truth = rows_and_truth(theory, data)
    part = _list_of(theory, rows, layer)
    columns = list(range(theory.schema.n_labels))
    if label is not None:
        columns = [label_number(label, theory.schema)]
    steps, n_left = _steps(theory, part, truth, columns)
    return RowFlow(theory, steps, len(rows), n_left, label)


def _list_of(theory: Theory, rows: Dataset, layer: int | None) -> PartRun:
    """The part of a theory that is looked at, with its run."""
    layers = TheoryRun.of(theory, rows).layers
    if layer is not None and not 1 <= layer <= len(layers):
        raise ValueError(f"layer must be a whole number from 1 to {len(layers)}, not {layer!r}")
    part = layers[-1 if layer is None else layer - 1]
    if not part.rules.ordered:
        raise ValueError(
            "rows flow through the rules of a list; those of a rule set all vote: see rule_coverage"
        )
    return part


def _steps(
    theory: Theory, part: PartRun, truth: Board | None, columns: list[int]
) -> tuple[tuple[FlowStep, ...], int]:
    places, texts = places_of(theory), rule_texts(theory)
    board, writer = part.run.board[:, columns], part.run.writer[:, columns]
    known = None if truth is None else truth[:, columns]
    n_open = np.full(len(board), len(columns), dtype=np.int64)
    going = np.ones(len(board), dtype=np.bool_)
    steps = []
    for number, rule, fires in part.fired():
        under_way = going & (n_open > 0)
        # A rule writes the labels of its head only.
        own = [place for place, label in enumerate(columns) if label in rule.head.labels]
        cells = writer[:, own] == number
        n_written = cells.sum(axis=1)
        counts = _counts(rule, fires, under_way, n_written, n_open, len(columns))
        n_open -= n_written
        if rule.stops:
            going &= ~fires
        if rule.stops or set(rule.head.labels) & set(columns):
            at = part.start + number
            steps.append(
                FlowStep(
                    places[at],
                    texts[at],
                    *counts,
                    *_cells(cells, board[:, own], None if known is None else known[:, own]),
                )
            )
    return tuple(steps), int((going & (n_open > 0)).sum())


def _counts(
    rule: Rule, fires: Mask, under_way: Mask, n_written: Any, n_open: Any, n_labels: int
) -> tuple[int, ...]:
    writes = n_written > 0
    ended = fires & under_way if rule.stops else np.zeros_like(fires)
    masks = (
        under_way,
        fires & under_way,
        writes & (n_open == n_labels),
        writes,
        writes & (n_written == n_open) & ~ended,
        ended,
    )
    return tuple(int(mask.sum()) for mask in masks)


def _cells(cells: Mask, board: Board, known: Board | None) -> tuple[int | None, ...]:
    """Cells written present and absent, right and wrong."""
    n_present = int(np.count_nonzero(cells & (board == 1)))
    n_absent = int(np.count_nonzero(cells)) - n_present
    if known is None:
        return n_present, n_absent, None, None
    return n_present, n_absent, *Evidence.of_cells(cells, board, known)
