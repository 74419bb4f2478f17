"""The next rule of a list."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from labelrules._types import Board, Mask
from labelrules.data import Dataset
from labelrules.learners.covering.board import TrainingBoard, rarer_values
from labelrules.learners.covering.settings import Settings
from labelrules.rules import Head
from labelrules.search.bodies.beam import grow_in_beam
from labelrules.search.bodies.grow import Grown, Growth, grow
from labelrules.search.bodies.head_scorers import (
    FixedHeadScorer,
    HeadScorer,
    LiteralScorer,
    RowScorer,
    TallyScorer,
)
from labelrules.search.bodies.lanes import Lanes
from labelrules.search.bodies.refine import Refiner
from labelrules.search.bodies.sorted_columns import SortedColumns
from labelrules.search.heads.problem import RuleConvention
from labelrules.search.heads.size_bonus import no_lift


class RuleFinder:
    """Finds the best rule for the cells that count on the ground.

    Parameters
    ----------
    data : Dataset
    ground : Ground
    settings : Settings
    columns : Columns, optional
        Those of the data, if they have been sorted.
    ahead : bool
        Whether nothing but the rules found changes what counts, so that more can be found ahead.
    """

    def __init__(
        self,
        data: Dataset,
        ground: TrainingBoard,
        settings: Settings,
        columns: SortedColumns | None = None,
        *,
        ahead: bool = True,
    ) -> None:
        self.ground, self.settings = ground, settings
        self.growth = Growth(settings.max_conditions, settings.min_gain, settings.fixed_head)
        self.values = _values(settings.polarity, ground.truth)
        self.refiner = Refiner(
            columns or SortedColumns.of(data),
            ground.truth,
            ground.board,
            ground.counted,
            self.values,
            settings.measure.formula,
            settings.allowed,
            relative=settings.relative,
            smallest=settings.min_coverage,
            merging=settings.heads == "multi",
            largest=settings.largest,
            n_threads=settings.n_threads,
        )
        self.lanes: Lanes | None = None
        self.has_lanes = ahead and self._labels_are_alone()

    def best_rule(self) -> Grown | None:
        """The best rule, None if there is none."""
        if self.has_lanes:
            most = self.settings.max_rules
            self.lanes = self.lanes or Lanes(self.refiner, self.growth, most)
            return self.lanes.next_rule()
        remaining = self.ground.remaining(self.settings.readd)
        if self._is_greedy:
            return grow(self.refiner, self.growth, remaining)
        width = self.settings.beam
        return grow_in_beam(self.refiner, self._judge(), self.growth, width, remaining, self._fix())

    def close(self, head: Head) -> None:
        """Search no longer for rules that say what this head says."""
        for label, value in head:
            self.values[label] &= ~(1 << value)
            self.refiner.stale[label] = True
            if not self.settings.scores_literals:  # heads are searched for as a whole
                self.ground.counted[:, label] = False

    def end(self) -> None:
        """Find no more rules ahead."""
        if self.lanes is not None:
            self.lanes.close()

    def changed(self, labels: Mask) -> None:
        """Take note of labels whose cells have changed."""
        self.refiner.stale |= labels

    @property
    def _is_greedy(self) -> bool:
        """Whether one compiled pass per condition finds the best rule."""
        settings = self.settings
        several_fixed = settings.fixed_head and settings.heads != "single"
        return settings.beam == 1 and settings.scores_literals and not several_fixed

    def _labels_are_alone(self) -> bool:
        """Whether the rules of one label follow from its own cells, come what may."""
        settings = self.settings
        is_fixed = settings.heads == "single" and settings.fixed_head
        is_alone = settings.polarity != "both" and not settings.allowed.has_labels
        keeps_rows = settings.stop_share is None and settings.readd == "all"
        keeps_rows = keeps_rows and not self.ground.ended.any()
        stays = settings.pruning is None and settings.order == "append"
        has_bodies = settings.max_conditions != 0
        return self._is_greedy and is_fixed and is_alone and keeps_rows and stays and has_bodies

    def _judge(self) -> HeadScorer:
        settings, ground = self.settings, self.ground
        measure = settings.measure
        if settings.scores_literals:
            return LiteralScorer(
                measure.formula, settings.relative, self.values, settings.min_coverage,
                settings.heads == "multi", settings.largest,
            )  # fmt: skip
        convention: RuleConvention = "head-relative" if settings.relative else "chapter"
        absence = settings.polarity == "both"
        complete = settings.heads == "complete"
        if settings.tallies_decide:
            n_labels, n_rows = ground.truth.shape
            return TallyScorer(measure, convention, absence, n_labels, n_rows, complete)
        flipped = (rarer_values(ground.truth) == 1) & (settings.polarity == "rarer")
        return RowScorer(
            measure, convention, absence, ground.truth, ground.counted[0], settings.lift,
            settings.largest, settings.min_coverage, flipped, complete,
        )  # fmt: skip

    def _fix(self) -> Callable[[Grown], HeadScorer] | None:
        """How refinements are judged once the head is found, if it shall stay."""
        settings = self.settings
        if not settings.fixed_head:
            return None
        lift = no_lift if settings.scores_literals else settings.lift or no_lift
        return lambda grown: FixedHeadScorer(
            grown.head, settings.measure, settings.relative, settings.min_coverage,
            float(lift(len(grown.head))),
        )  # fmt: skip


def _values(polarity: str, truth: Board) -> npt.NDArray[np.int8]:
    """For each label the values that heads may have: 1 absent, 2 present, 3 both."""
    if polarity == "rarer":
        return rarer_values(truth)
    return np.full(len(truth), 3 if polarity == "both" else 2, dtype=np.int8)
