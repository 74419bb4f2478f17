"""The next rule of a list, and rules for rows in which no label was found."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from labelrules._types import Mask
from labelrules.data import Dataset
from labelrules.data.table import common_labels
from labelrules.learners.covering.board import TrainingBoard, rarer_values, total
from labelrules.learners.covering.settings import Settings
from labelrules.measures import Measure
from labelrules.rules import Body, Evidence, Head, Rule
from labelrules.search.bodies.category_sets import SetRefiner, set_columns
from labelrules.search.bodies.grow import GreedyRefinements, Grown, Growth, grow_rule
from labelrules.search.bodies.head_scorers import (
    CountedRefinements,
    FixedHeadScorer,
    HeadScorer,
    LiteralScorer,
    RowScorer,
    TallyScorer,
)
from labelrules.search.bodies.refine import Refiner
from labelrules.search.bodies.sorted_columns import SortedColumns
from labelrules.search.heads.problem import Polarity
from labelrules.search.heads.size_bonus import no_bonus


class RuleFinder:
    """Finds the best rule for the cells that count on the training board."""

    def __init__(
        self,
        data: Dataset,
        board: TrainingBoard,
        settings: Settings,
        columns: SortedColumns | None = None,
    ) -> None:
        self.board, self.settings = board, settings
        self.growth = Growth(settings.max_conditions, settings.min_gain, settings.fixed_head)
        self.values = values_of(settings.polarity, board.is_common)
        self.given_up = np.zeros_like(self.values)
        columns = columns or SortedColumns.of(data)
        has_sets = set_columns(columns, settings.allowed.features).size > 0
        self.refiner = (SetRefiner if has_sets else Refiner)(
            columns,
            board.truth,
            board.board,
            board.counted,
            self.values,
            formula=settings.measure.formula,
            allowed=settings.allowed,
            counting=settings.counting,
            smallest=settings.min_coverage,
            merging=settings.heads == "multi",
            largest=settings.largest,
            n_threads=settings.n_threads,
            unit=board.unit,
        )

    def best_rule(self) -> Grown | None:
        """The best rule, None if there is none."""
        settings = self.settings
        remaining = self.board.remaining(settings.readd)
        if self._is_greedy:
            greedy = GreedyRefinements(self.refiner, self.growth, remaining)
            return grow_rule(greedy, settings.max_conditions)
        fixed_scorer = self._fixed_scorer if settings.fixed_head else None
        counted = CountedRefinements(
            self.refiner, self._scorer(), self.growth, remaining, fixed_scorer
        )
        return grow_rule(counted, settings.max_conditions, settings.beam_width)

    def exclude(self, head: Head) -> None:
        """Search no longer for rules with the labels and values of this head."""
        for label, value in head:
            self.values[label] &= ~(1 << value)
            self.given_up[label] |= 1 << value
            if self.values[label] or self.refiner.merging:
                self.refiner.stale[label] = True
            else:
                self.refiner.drop(label)
            if not self.settings.scores_literals:  # heads are searched for as a whole
                self.board.counted[:, label] = False

    def close(self) -> None:
        """End the threads."""
        if self.refiner.pool is not None:
            self.refiner.pool.shutdown(wait=False, cancel_futures=True)

    def changed(self, labels: Mask) -> None:
        """Search anew for labels whose cells have changed."""
        self.refiner.stale |= labels

    @cached_property
    def _is_greedy(self) -> bool:
        """Whether one compiled pass per condition finds the best rule."""
        settings = self.settings
        several_fixed = settings.fixed_head and settings.heads != "single"
        if isinstance(self.refiner, SetRefiner) and settings.heads != "single":
            return False  # each label has a best set of its own
        return settings.beam_width == 1 and settings.scores_literals and not several_fixed

    def _scorer(self) -> HeadScorer:
        settings, board = self.settings, self.board
        measure, counting = settings.measure, settings.counting
        if settings.scores_literals:
            return LiteralScorer(
                measure.formula, counting, self.values, settings.min_coverage,
                settings.heads == "multi", settings.largest, board.unit,
            )  # fmt: skip
        polarity: Polarity = "both" if settings.polarity == "both" else "presence"
        complete = settings.heads == "complete"
        if settings.tallies_decide:
            n_labels, n_rows = board.truth.shape
            return TallyScorer(measure, counting, polarity, n_labels, n_rows, complete)
        flipped = board.is_common & (settings.polarity == "rarer")
        return RowScorer(
            measure, counting, polarity, board.truth, board.counted[0], settings.size_bonus,
            settings.largest, settings.min_coverage, flipped, complete,
        )  # fmt: skip

    def _fixed_scorer(self, head: Head) -> HeadScorer:
        """Scores refinements of a rule whose head stays."""
        settings = self.settings
        bonus = no_bonus if settings.scores_literals else settings.size_bonus or no_bonus
        return FixedHeadScorer(
            head, settings.measure, settings.counting, settings.min_coverage,
            float(bonus(len(head))), self.board.unit,
        )  # fmt: skip


def values_of(polarity: str, is_common: Mask) -> npt.NDArray[np.int8]:
    """For each label the values that heads may have: 1 absent, 2 present, 3 both."""
    if polarity == "rarer":
        return rarer_values(is_common)
    return np.full(len(is_common), 3 if polarity == "both" else 2, dtype=np.int8)


MAX_CONDITIONS = 3
"""Rules for rows without a label rest on few rows: they stay short."""

MIN_RIGHT = 2
"""Such a rule must be right more than once."""


def last_resort_settings(settings: Settings) -> Settings:
    """The settings of the search for rules for rows in which no label was found."""
    none = np.zeros_like(settings.allowed.labels)
    # A measure of whole heads does not score one label.
    measure = settings.measure if settings.scores_literals else Measure.parse("f1")
    return replace(
        settings, measure=measure, polarity="presence", heads="single", largest=1,
        max_conditions=MAX_CONDITIONS, min_coverage=MIN_RIGHT, min_gain=0.0, fixed_head=True,
        beam_width=1, size_bonus=None,
        allowed=replace(settings.allowed, labels=none, first_labels=none),
    )  # fmt: skip


class LastResort:
    """Finds rules for rows in which no label was found: those for a label that is probable there.

    A label must be more probable than a threshold, than having no label at all, and than among
    all rows.
    """

    def __init__(
        self,
        data: Dataset,
        board: TrainingBoard,
        columns: SortedColumns,
        settings: Settings,
        least: float,
        is_late: Callable[[], bool],
    ) -> None:
        self.data, self.board, self.columns = data, board, columns
        self.least, self.is_late = least, is_late
        self.settings = last_resort_settings(settings)

    def rules(self) -> list[Rule]:
        """The rules, with their evidence; none if no label is probable enough."""
        left = _WaitingRows(self.data, self.board)
        with closing(RuleFinder(self.data, left, self.settings, self.columns)) as finder:
            return self._rules(finder, left)

    def _rules(self, finder: RuleFinder, left: "_WaitingRows") -> list[Rule]:
        rules: list[Rule] = []
        while left.are_often_labelled(self.least):
            if self.is_late():
                break
            grown = finder.best_rule()
            if grown is None:
                break
            covered = grown.covered.mask & left.waiting
            ((label, _),) = grown.head
            if not left.is_probable(label, covered, self.least):
                finder.exclude(grown.head)
                continue
            evidence = left.write_nothing(grown.head, covered)
            body = Body(grown.body).without_implied()
            rules.append(Rule(grown.head, body, evidence=evidence))
            finder.changed(left.leave(covered))
        return rules


class _WaitingRows(TrainingBoard):
    """The rows in which no label was found; nothing is written, so the board is shared."""

    def __init__(self, data: Dataset, board: TrainingBoard) -> None:
        super().__init__(data, "append", board)
        self.waiting: Mask = ~(board.board == 1).any(axis=0)
        self.counted[0][:, ~self.waiting] = False

    @cached_property
    def has_none(self) -> Mask:
        """The rows that are known to have no label."""
        return np.asarray((self.truth == 0).all(axis=0))

    @cached_property
    def is_decided(self) -> Mask:
        """The rows of which it is known whether they have a label."""
        return np.asarray(self.has_none | (self.truth == 1).any(axis=0))

    def are_often_labelled(self, least: float) -> bool:
        """Whether few enough of these rows have no label, among those of which it is known."""
        weight, is_decided = self.row_weight, self.is_decided
        n_rows, n_bare = (total(weight[self.waiting & one]) for one in (is_decided, self.has_none))
        return n_rows > 0 and n_bare / n_rows < least

    def is_probable(self, label: int, covered: Mask, least: float) -> bool:
        """Whether covered rows have the label more often than none, than others, and than least."""
        weight, is_present = self.weight[label], self.truth[label] == 1
        n_covered, n_right = total(weight[covered]), total(weight[covered & is_present])
        if n_right * self.unit < MIN_RIGHT or n_right <= self._n_bare(covered):
            return False
        if n_right * total(weight) < n_covered * total(weight[is_present]):
            return False
        return n_right > least * n_covered

    def _n_bare(self, covered: Mask) -> int:
        return total(self.row_weight[covered & self.has_none])

    def write_nothing(self, head: Head, covered: Mask) -> tuple[Evidence, ...]:
        """The right and wrong cells of a head."""
        return tuple(self._rounded(self._evidence(label, value, covered)) for label, value in head)

    def leave(self, covered: Mask) -> Mask:
        """Remove rows that have a label now; returns a mask of the labels that changed: all."""
        self.waiting &= ~covered
        self.counted[0][:, covered] = False
        return np.ones(len(self.truth), dtype=np.bool_)


def is_mostly_present(data: Dataset) -> bool:
    """Whether some label is present in most rows, so that its absence is worth a prediction."""
    return bool(common_labels(data.Y, data.weights).any())
