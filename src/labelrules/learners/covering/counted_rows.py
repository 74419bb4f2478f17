"""Training rows that are only counted: the search asks `RowCounts`, and never sees a row."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers
from labelrules._wings import back_end
from labelrules.data import Dataset
from labelrules.data.codes.bins import Bins
from labelrules.data.codes.thresholds import simplest_between
from labelrules.data.rows import Rows
from labelrules.data.weights import NOTHING_KNOWN, cell_units
from labelrules.learners.base.theory_classifier import Background
from labelrules.learners.covering.board import LabelCounts, TrainingBoard, evidence_of
from labelrules.learners.covering.local_rows import board_of, rows_in_memory
from labelrules.learners.covering.pruning import exception_length
from labelrules.learners.covering.row_counts import BodyCounts, RowCounts, Steps
from labelrules.learners.covering.settings import Settings
from labelrules.learners.covering.training_rows import RuleSearch, Values
from labelrules.measures.measure import Merit
from labelrules.rules import (
    Body,
    Condition,
    DecisionList,
    Evidence,
    Head,
    LayeredTheory,
    Rule,
    Theory,
)
from labelrules.search.bodies.category_sets import bits_of_body
from labelrules.search.bodies.code_tables import (
    CodedRefinement,
    TableSearch,
    condition_on_values,
    marked_columns,
)
from labelrules.search.bodies.grow import NO_MERIT, Grown, Growth

if TYPE_CHECKING:
    from labelrules.kernels.covering.grow import DescriptionCounts

PIECE = 1 << 26
"""Bytes of tables that are asked for together."""


class CoveredCounts(NamedTuple):
    """The open cells of a label that the first 1, 2, ... conditions of a rule cover.

    `bodies` are the answers for these conditions, as far as they were needed.
    """

    insides: list[int]
    bodies: list[BodyCounts]


class WrittenLabels:
    """The open cells of each label by what is written of each, for labels that may be tested.

    `by_label` is labels by labels by 3 (unset, absent, present), `is_tested` marks the labels that
    are written in some row.
    """

    def __init__(self, n_labels: int, found: Integers | None = None) -> None:
        self.by_label = np.zeros((n_labels, n_labels, 3), np.int64)
        if found is not None and found.size:
            self.by_label[:] = found
        self.is_tested = (self.by_label[:, :, 1:] != 0).any(axis=(0, 2))

    @property
    def tested(self) -> Integers:
        """The labels that are written in some row."""
        return np.flatnonzero(self.is_tested)

    def note(self, label: int, value: int, before: Integers, others: Integers) -> None:
        """A rule has written a label: in cells of its own, and in rows where others are open."""
        self.by_label[label] -= before
        self.by_label[:, label, value + 1] += others
        self.by_label[label, label] = 0
        self.is_tested[label] = True


class CountedPatience:
    """Ends growth when several conditions in a row have not shortened the description."""

    def __init__(self, description: "DescriptionCounts", unit: float, n_values: Integers) -> None:
        self.description, self.unit, self.n_values = description, unit, n_values
        self.shortest, self.n_idle = np.inf, 0

    def ends(self, evidence: Evidence, steps: Steps) -> bool:
        """Whether growth ends with this body, the next longer one."""
        from labelrules.kernels.covering.grow import SHORTER, THEORY_WEIGHT

        length = exception_length(self.description, *evidence, self.unit)
        length += THEORY_WEIGHT * bits_of_body(steps, self.description.n_possible, self.n_values)
        self.n_idle = 0 if length < self.shortest - SHORTER else self.n_idle + 1
        self.shortest = min(length, self.shortest)
        return 0 < self.description.patience <= self.n_idle


class CountedSearch:
    """Finds rules with one label for the open cells, from sums by the codes of all columns."""

    merging, beam_width = False, 1

    def __init__(
        self,
        rows: RowCounts,
        board: LabelCounts,
        bins: Bins,
        settings: Settings,
        values: Values,
        written: WrittenLabels,
    ) -> None:
        self.rows, self.board, self.bins, self.settings = rows, board, bins, settings
        self.values, self.written = values, written
        self.search = TableSearch(
            bins, values, settings.measure.formula, settings.allowed,
            counting=settings.counting, smallest=settings.min_coverage, unit=board.unit,
        )  # fmt: skip
        self.stale = np.ones(len(values), dtype=np.bool_)
        self.first = self.search.none(len(values))

    def refinements(self, growth: Growth) -> "CountedBodies":
        """How bodies are refined, as the cells are now."""
        return CountedBodies(self, growth)

    def drop(self, label: int) -> None:
        """Expect no rule for a label any more."""
        self.first.drop(label)

    def exclude(self, label: int) -> None:
        """Heads of one label are not searched for as a whole."""

    def close(self) -> None:
        """The rows have threads, the search has none."""

    def refresh(self) -> None:
        """Search anew, from the empty body, for the labels whose cells have changed."""
        (stale,) = (self.stale & (self.values > 0)).nonzero()
        at_once = max(1, PIECE // max(8, 8 * int(self.bins.start[-1])))
        for begin in range(0, stale.size, at_once):
            labels = stale[begin : begin + at_once]
            self.search_first(labels, self.rows.roots(labels.tolist()))
        for label in np.flatnonzero(self.stale & (self.values == 0)).tolist():
            self.first.drop(label)
        self.stale[:] = False

    def search_first(self, labels: Integers, tables: Integers) -> None:
        """Search for the best first conditions for some labels, of which sums are given."""
        found = self.search.by_features(labels, tables, self.board.open[labels], self._present)
        self.first.put(labels, found)

    @cached_property
    def _present(self) -> npt.NDArray[np.uint8]:
        """The codes that occur in any row, of marked columns; empty if all of them do."""
        if self.search.all_occur:
            return np.empty(0, np.uint8)
        return self.rows.body(0, ()).present

    def best_first(self) -> CodedRefinement | None:
        """The best first condition, after `refresh`."""
        tested, by_labels = self.written.tested, None
        if tested.size:
            by_labels = self.search.by_labels(self.written.by_label, tested, self.board.open)
        return self.search.best_first(self.first, by_labels)

    def scores(self, labels: Integers, insides: Integers) -> tuple[Floats, Integers]:
        """Scores and right cells of the heads of a body that covers these cells."""
        return self.search.score(labels, insides, self.board.open[labels])

    def body_of(self, steps: Steps, next_codes: Integers) -> Body:
        """The conditions of steps; a threshold lies between the codes of covered rows."""
        conditions = []
        for step, following in zip(steps, next_codes.tolist(), strict=True):
            column, second, code, codes = step
            if column >= self.search.n_features:
                conditions.append(Condition.label(column - self.search.n_features, code == 1))
            elif codes:
                conditions.append(Condition.among(column, codes))
            elif self.bins.nominal[column]:
                conditions.append(Condition(column, "!=" if second else "=", code))
            else:
                between = simplest_between(code, following)
                on_codes = Condition(column, ">" if second else "<=", between)
                conditions.append(condition_on_values(self.bins, on_codes))
        return Body(conditions).without_implied()


@dataclass(frozen=True, eq=False)
class CountedBodies:
    """Refinements of bodies on codes; after the first condition come all others of its head."""

    search: CountedSearch
    growth: Growth

    def start(self) -> Grown:
        """The empty body."""
        search = self.search
        search.refresh()
        labels = np.arange(len(search.values))
        merit = self._merit_of_empty_body() if search.settings.allowed.may_be_empty else NO_MERIT
        return Grown((), CoveredCounts([], []), merit, labels)

    def _merit_of_empty_body(self) -> Merit:
        scores, corrects = self.search.scores(np.arange(len(self.search.values)), self._open)
        top = float(scores.max(initial=-np.inf))
        return NO_MERIT if top == -np.inf else Merit(top, int(corrects[scores == top].max()))

    @property
    def _open(self) -> Integers:
        return self.search.board.open

    def refined(self, candidate: Grown, beam_width: int = 1) -> list[Grown]:
        """The best first condition and all others, or none."""
        if candidate.chosen is not None:
            return []
        best = self.search.best_first()
        if best is None or not self.growth.improves(best.merit, candidate.merit):
            return []
        return [self._run(best)]

    def head(self, candidate: Grown) -> Head:
        """The head that was fixed, or for the empty body the best one."""
        if candidate.chosen is not None:
            return candidate.head
        return self._best_head(candidate.labels, self._open)[0]

    def _best_head(self, labels: Integers, insides: Integers) -> tuple[Head, int]:
        """The head of the best score: most right cells, presence, then the first label."""
        scores, corrects = self.search.scores(labels, insides)
        tied = scores == scores.max()
        tied &= corrects == corrects[tied].max()
        value = int(tied[:, 1].any())
        at = int(np.argmax(tied[:, value]))
        return Head({int(labels[at]): value}, len(self.search.values)), int(insides[at])

    def _run(self, first: CodedRefinement) -> Grown:
        """Add conditions to the first one as long as one makes the rule better."""
        search, growth = self.search, self.growth
        head, inside = self._best_head(first.labels, first.insides)
        ((label, value),) = head
        everywhere, merit = int(self._open[label]), first.merit
        steps: Steps = (first.step,)
        covered, tested = CoveredCounts([inside], []), search.written.tested
        patience = None
        if growth.describe is not None:
            description = growth.describe(label, value)
            patience = CountedPatience(description, search.board.unit, search.bins.n_values)
        while len(steps) != growth.max_conditions:
            if patience is not None and patience.ends(evidence_of(value, inside), steps):
                break
            covered.bodies.append(search.rows.body(label, steps))
            new = search.search.best_further(
                label, value, covered.bodies[-1], tested, everywhere, merit
            )
            if new is None or not growth.improves(new.merit, merit):
                break
            steps, merit, inside = (*steps, new.step), new.merit, int(new.insides[0])
            covered.insides.append(inside)
        return Grown(steps, covered, merit, first.labels, head)


@dataclass(frozen=True, eq=False)
class CountedPrefixes:
    """The open cells that the first 0, 1, ... conditions of a rule with one label cover."""

    grown: Grown
    board: LabelCounts

    def __len__(self) -> int:
        return len(self.grown.body) + 1

    def evidence(self, label: int, value: int) -> list[Evidence]:
        """The open cells of a label that each would write right and wrong, in units."""
        insides = int(self.board.open[label]), *self.grown.covered.insides
        return [evidence_of(value, inside) for inside in insides]

    def count(self, n_conditions: int) -> Evidence:
        """The right and wrong cells."""
        ((label, value),) = self.grown.head
        right, wrong = self.evidence(label, value)[n_conditions]
        if self.board.unit == 1:
            return Evidence(right, wrong)
        return Evidence(self.board.unit * right, self.board.unit * wrong)  # type: ignore[arg-type]

    def count_held_out(self, n_conditions: int) -> Evidence:
        """Rows that are only counted cannot be held out."""
        raise NotImplementedError

    def shortened(self, n_conditions: int) -> Grown:
        """The rule with its first conditions only."""
        insides, bodies = self.grown.covered
        covered = CoveredCounts(insides[:n_conditions], bodies[:n_conditions])
        return self.grown._replace(body=self.grown.body[:n_conditions], covered=covered)


class CountedRows:
    """Training rows whose cells are counted by codes; what is written is known by label.

    With `unit` cells have weights, which are multiples of it.
    """

    def __init__(
        self, rows: RowCounts, bins: Bins, settings: Settings, unit: float | None = None
    ) -> None:
        self.rows, self.bins, self.settings, self.schema = rows, bins, settings, bins.schema
        self.n_conditions, self.n_values = bins.n_conditions, bins.n_values
        self.n_rows, known, is_open, written = rows.totals()
        self.is_weighted = unit is not None
        self.board = LabelCounts(known, is_open, written, unit or 1.0)
        self.open_before = self.board.open.copy()
        found = rows.written() if settings.allowed.has_labels else None
        self.written = WrittenLabels(self.schema.n_labels, found)

    def replay(self, rules: list[Rule]) -> list[Rule]:
        """Count as these rules have left the rows; the next may have been half written."""
        self.board.open[:] = self.open_before
        self.board.count_open()
        return rules

    def search(self, settings: Settings, values: Values) -> CountedSearch:
        """A search for rules whose heads have these values, which may change."""
        return CountedSearch(self.rows, self.board, self.bins, settings, values, self.written)

    def prefixes(self, grown: Grown) -> CountedPrefixes:
        """What the first conditions of a rule cover."""
        return CountedPrefixes(grown, self.board)

    def write(self, grown: Grown, search: RuleSearch) -> Rule:
        """Write a rule, and keep up with what that changes."""
        assert isinstance(search, CountedSearch)
        ((label, value),) = grown.head
        steps, board, inside = grown.body, self.board, inside_of(grown, self.board)
        before = self._before(grown) if self.settings.allowed.has_labels else None
        written = self.rows.write(label, value, steps)
        board.note(label, value, inside)
        if before is not None:
            self.written.note(label, value, before, written.others)
        search.stale[label] = False
        if search.values[label]:
            search.search_first(np.array([label]), written.table[np.newaxis])
        body = search.body_of(steps, written.next_codes)
        self.open_before = board.open.copy()
        return Rule(grown.head, body, evidence=(board.rounded(evidence_of(value, inside)),))

    def _before(self, grown: Grown) -> Integers:
        """The open cells that a rule covers, by what is written of each label."""
        ((label, _),) = grown.head
        known, n = grown.covered.bodies, len(grown.body)
        body = known[n - 1] if 0 < n <= len(known) else self.rows.body(label, grown.body)
        by_label: Integers = body.by_label
        return by_label

    def wait(self) -> "WaitingCountedRows":
        """The rows in which no label was found."""
        return WaitingCountedRows(self)

    def write_default(self, head: Head) -> Rule:
        """Write a head into all open cells."""
        board, evidence = self.board, []
        for label, value in head:
            inside = int(board.open[label])
            evidence.append(board.rounded(evidence_of(value, inside)))
            board.note(label, value, inside)
        return Rule(head, evidence=tuple(evidence))

    def settled(self, theory: DecisionList | LayeredTheory) -> DecisionList | LayeredTheory:
        """The finished theory: all evidence was counted."""
        return theory

    def background(self, theory: DecisionList | LayeredTheory) -> Background | None:
        """The cells that no rule wrote: those that are open, without those of last resorts.

        A last resort writes open cells only, since no label was found in its rows. Evidence of
        cells with weights is rounded, so that the cells are not known here.
        """
        if self.is_weighted:
            return None
        left = self.board.open.copy()
        for rule in theory.fallback or () if isinstance(theory, LayeredTheory) else ():
            for (label, _), cells in zip(rule.head, rule.evidence or (), strict=True):
                right, wrong = cells or Evidence(0, 0)
                left[label] -= ((right + wrong) << 32) + right
        n_present, n_known = left & 0xFFFFFFFF, self.known_cells
        return Background.of_cells(np.array([n_present, (left >> 32) - n_present, *n_known[::-1]]))

    @property
    def known_cells(self) -> tuple[Integers, Integers]:
        """For each label the rows in which it is known, and those that have it."""
        return self.board.known >> 32, self.board.known & 0xFFFFFFFF

    def hold_out(self, share: float, seed: int) -> None:
        """Rows that are only counted cannot be held out."""
        raise NotImplementedError

    def close(self) -> None:
        """End threads, and whatever else was only for learning."""
        self.rows.close()


def inside_of(grown: Grown, board: LabelCounts) -> int:
    """The open cells that a rule with one label covers."""
    ((label, _),) = grown.head
    return int(grown.covered.insides[-1] if grown.covered.insides else board.open[label])


class WaitingCountedRows(CountedRows):
    """The rows in which no label was found, counted; no condition tests labels there."""

    def __init__(self, rows: CountedRows) -> None:
        self.__dict__.update(rows.__dict__)
        self.waiting = self.rows.wait()
        board = rows.board
        self.board = LabelCounts(board.known, self.waiting.open, board.written, board.unit)
        self.written = WrittenLabels(self.schema.n_labels)

    def n_decided_and_bare(self) -> tuple[int, int]:
        """The rows of which it is known whether they have a label, and those that have none."""
        return self.waiting.n_decided, self.waiting.n_bare

    def evidence(self, grown: Grown) -> Evidence:
        """The right and wrong cells of a rule for one label, in units."""
        ((_, value),) = grown.head
        return evidence_of(value, inside_of(grown, self.board))

    def n_bare(self, grown: Grown) -> int:
        """The covered rows that are known to have no label."""
        return self.rows.bare(grown.body)

    def write(self, grown: Grown, search: RuleSearch) -> Rule:
        """Make a rule; the rows that it covers have a label now."""
        assert isinstance(search, CountedSearch)
        evidence = (self.board.rounded(self.evidence(grown)),)
        self.waiting = self.rows.leave(grown.body)
        self.board.open[:] = self.waiting.open
        search.stale[:] = True
        return Rule(
            grown.head, search.body_of(grown.body, self.waiting.next_codes), evidence=evidence
        )


def is_counted(settings: Settings, kept: Iterable[Rule] = ()) -> bool:
    """Whether counts by codes are all that a search by these settings needs.

    That is so for heads of one label that stay as they were chosen, greedy search, and lists that
    no rule stops, kept ones included. All else is searched for by `SortedRows` on the table of
    codes.
    """
    return settings.are_counted and not any(rule.stops for rule in kept)


def counted_rows_of(
    rows: Rows, bins: Bins, settings: Settings, theory: Theory | None = None
) -> CountedRows:
    """Rows in any blocks, counted by these bins; the labels that a theory finds are written.

    Whoever reads the blocks counts them.
    """
    marked = marked_columns(bins, settings.allowed)
    if rows.in_memory:
        (data,) = rows
        board = None if theory is None else board_of(theory, data)
        unit = cell_units(data.Y, data.weights)[1]
        counts: RowCounts = rows_in_memory(data, bins, marked, board, settings.n_threads)
        return CountedRows(counts, bins, settings, None if data.weights is None else unit)
    counts = back_end(rows.back_end, "counts").row_counts(
        rows, bins, marked, settings.n_threads, theory
    )
    try:
        counted = CountedRows(counts, bins, settings)
        if not counted.n_rows:
            raise ValueError(NOTHING_KNOWN)
    except BaseException:
        counts.close()
        raise
    return counted


def counted_in_memory(
    data: Dataset,
    bins: Bins,
    settings: Settings,
    kept: list[Rule],
    codes: Any = None,
) -> tuple[CountedRows, list[Rule]]:
    """The rows of a data set, or of their codes on a GPU, and the kept rules with evidence."""
    board, unit = None, None
    if kept or data.weights is not None:
        replayed = TrainingBoard(data, "append")
        kept = replayed.replay(kept, data.X)
        board = replayed.board if kept else None
        unit = None if data.weights is None else replayed.unit
    marked = marked_columns(bins, settings.allowed)
    rows: RowCounts
    if codes is None:
        rows = rows_in_memory(data, bins, marked, board, settings.n_threads)
    else:
        rows = codes.counts(bins, data.Y, marked, board)
    return CountedRows(rows, bins, settings, unit), kept
