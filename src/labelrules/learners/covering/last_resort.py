"""Rules of last resort: for rows in which no label was found to be present."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from labelrules._types import UNSET, Board, Mask
from labelrules.data import Dataset
from labelrules.learners.covering.board import TrainingBoard
from labelrules.learners.covering.next_rule import RuleFinder
from labelrules.learners.covering.settings import Settings
from labelrules.measures import Measure
from labelrules.rules import Body, Condition, Head, Rule
from labelrules.search.bodies.grow import Grown
from labelrules.search.bodies.sorted_columns import SortedColumns

MAX_CONDITIONS = 3
"""Rules of last resort are guesses: they stay short."""

MIN_RIGHT = 2
"""A guess that was right once only is none."""


class LastResort:
    """Finds the likeliest label for rows that have none.

    First each label that was found present completes its rows: all else is absent there. For the
    rows that are left a label is guessed to be present where it is more probable than a threshold,
    and all others absent.
    """

    def __init__(
        self,
        data: Dataset,
        ground: TrainingBoard,
        columns: SortedColumns,
        settings: Settings,
        least: float,
        is_late: Callable[[], bool],
    ) -> None:
        self.data, self.ground, self.columns = data, ground, columns
        self.least, self.is_late = least, is_late
        # A measure of whole heads cannot tell how good one label is.
        measure = settings.measure if settings.scores_literals else Measure.parse("f1")
        self.settings = replace(
            settings, measure=measure, polarity="presence", heads="single", largest=1,
            max_conditions=MAX_CONDITIONS, min_coverage=MIN_RIGHT, min_gain=0.0, fixed_head=True,
            beam=1, lift=None, allowed=settings.allowed.without_labels(),
        )  # fmt: skip

    def rules(self) -> list[Rule]:
        """The rules, written on the ground; none if no guess is good enough."""
        guesses = self.guesses()
        if not guesses:
            return []
        n_labels = len(self.ground.truth)
        nothing = Head(dict.fromkeys(range(n_labels), 0), n_labels)
        rules = []
        for label in np.flatnonzero((self.ground.board == 1).any(axis=1)).tolist():
            covered = self.ground.board[label] == 1
            evidence = self.ground.write(nothing, covered & ~self.ground.ended)
            if any(map(sum, evidence)):  # else other labels have completed its rows
                rules.append(Rule(nothing, Body([Condition.label(label)]), evidence=evidence))
        for head, grown in guesses:
            covered = grown.body.covers(self.data.X, self.ground.board.T) & ~self.ground.ended
            rules.append(Rule(head, grown.body, evidence=self.ground.write(head, covered)))
        return rules

    def guesses(self) -> list[tuple[Head, Grown]]:
        """Rules for rows in which nothing was found to be present, or absent."""
        waiting = np.asarray((self.ground.board == UNSET).all(axis=0) & ~self.ground.ended)
        scene = _Scene(self.data, self.ground, waiting)
        search = RuleFinder(self.data, scene, self.settings, self.columns, ahead=False)
        found: list[tuple[Head, Grown]] = []
        is_bare = ~(self.ground.truth == 1).any(axis=0)
        while scene.waiting.any() and is_bare[scene.waiting].mean() < self.least:
            if self.is_late():
                break
            grown = search.best_rule()
            if grown is None:
                break
            covered = grown.covered.mask & scene.waiting
            ((label, _),) = grown.head
            n_right = np.count_nonzero(self.ground.truth[label, covered] == 1)
            too_rare = n_right < MIN_RIGHT or n_right <= np.count_nonzero(is_bare[covered])
            if too_rare or n_right <= self.least * np.count_nonzero(covered):
                search.close(grown.head)
                continue
            found.append((grown.head.completed(), grown))
            search.changed(scene.leave(covered))
        return found


class _Scene(TrainingBoard):
    """The rows that are waiting for a guess; nothing is written, so the board is shared."""

    def __init__(self, data: Dataset, ground: TrainingBoard, waiting: Mask) -> None:
        super().__init__(data, "append", ground)
        self.waiting = waiting.copy()
        self.counted[0][:, ~waiting] = False

    def leave(self, covered: Mask) -> Mask:
        """Rows that were given a label wait no longer; tells which labels that concerns: all."""
        self.waiting &= ~covered
        self.counted[0][:, covered] = False
        return np.ones(len(self.truth), dtype=np.bool_)


def is_mostly_present(truth: Board) -> bool:
    """Whether some label is present in most rows, so that no label is no sign of ignorance."""
    return bool((2 * truth.sum(axis=1, dtype=np.int64) > truth.shape[1]).any())
