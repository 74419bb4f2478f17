"""The next rule of a list, and rules for rows in which no label was found."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import numpy as np

from labelrules._types import Mask
from labelrules.data import Dataset
from labelrules.data.table import common_labels
from labelrules.learners.covering.board import evidence_of, rarer_values
from labelrules.learners.covering.settings import Settings
from labelrules.learners.covering.training_rows import TrainingRows, Values, WaitingRows
from labelrules.measures import Measure
from labelrules.rules import Head, Rule
from labelrules.search.bodies.grow import Grown, Growth, grow_rule


class RuleFinder:
    """Finds the best rule for the cells of some rows that count."""

    def __init__(
        self,
        rows: TrainingRows,
        settings: Settings,
        values: Values | None = None,
        growth: Growth | None = None,
    ) -> None:
        self.growth = growth or Growth(
            settings.max_conditions, settings.min_gain, settings.fixed_head
        )
        self.values = values_of(settings.polarity, rows.board.is_common)
        if values is not None:
            self.values[:] = values
        self.given_up = np.zeros_like(self.values)
        self.search = rows.search(settings, self.values)

    def best_rule(self) -> Grown | None:
        """The best rule, None if there is none."""
        refinements = self.search.refinements(self.growth)
        return grow_rule(refinements, self.growth.max_conditions, self.search.beam_width)

    def exclude(self, head: Head) -> None:
        """Search no longer for rules with the labels and values of this head."""
        for label, value in head:
            self.values[label] &= ~(1 << value)
            self.given_up[label] |= 1 << value
            if self.values[label] or self.search.merging:
                self.search.stale[label] = True
            else:
                self.search.drop(label)
            self.search.exclude(label)

    def close(self) -> None:
        """End the threads."""
        self.search.close()


def values_of(polarity: str, is_common: Mask) -> Values:
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

    def __init__(self, rows: WaitingRows, settings: Settings, least: float) -> None:
        self.rows, self.least, self.settings = rows, least, last_resort_settings(settings)

    def rules(self, is_late: Callable[[], bool] = lambda: False) -> list[Rule]:
        """The rules, with their evidence; none if no label is probable enough."""
        rules: list[Rule] = []
        with closing(RuleFinder(self.rows, self.settings)) as finder:
            while self._are_often_labelled() and not is_late():
                grown = finder.best_rule()
                if grown is None:
                    break
                if self._is_probable(grown):
                    rules.append(self.rows.write(grown, finder.search))
                else:
                    finder.exclude(grown.head)
        return rules

    def _are_often_labelled(self) -> bool:
        """Whether few enough of these rows have no label, among those of which it is known."""
        n_decided, n_bare = self.rows.n_decided_and_bare()
        return n_decided > 0 and n_bare / n_decided < self.least

    def _is_probable(self, grown: Grown) -> bool:
        """Whether covered rows have the label more often than none, than others, and than least."""
        ((label, value),) = grown.head
        n_right, n_wrong = self.rows.evidence(grown)
        n_covered, board = n_right + n_wrong, self.rows.board
        if n_right * board.unit < MIN_RIGHT or n_right <= self.rows.n_bare(grown):
            return False
        everywhere = evidence_of(value, int(board.known[label]))
        if n_right * sum(everywhere) < n_covered * everywhere.right:
            return False
        return n_right > self.least * n_covered


def is_mostly_present(data: Dataset) -> bool:
    """Whether some label is present in most rows, so that its absence is worth a prediction."""
    return bool(common_labels(data.Y, data.weights).any())
