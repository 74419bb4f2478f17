"""From points to labels: how many points a label needs, and which label sets are usual.

Three numbers are tuned on rows that a scorecard has not seen: by how much the points for all rows
are shifted, the bonus of usual label sets, and whether each row gets at least one label.
"""

from dataclasses import dataclass
from itertools import product
from math import ceil, log
from typing import NamedTuple

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data import Dataset
from labelrules.learners.base.sampling import folds_of
from labelrules.learners.scorecard.growth import DOUBLING
from labelrules.rules import LabelSet

SHIFTS = (-2, -1, -3, 0, -4, 1, -5, 2, -6, 3)
"""Points that are subtracted from those of all rows; of equally good ones the first."""

BONUSES = (0.25, 0.5, 0.0, 0.75, 1.0, 1.5, 2.0)
"""Parts of the logarithm of its count that a usual label set gets as bonus."""

SAVED = 0.002
"""By how much label sets must raise the sum of micro-F1 and subset accuracy."""

ROWS_PER_BIT = 5
"""A usual label set has so many rows for each bit that a literal costs, three at least."""

LEAST_USES = 2
"""A label set that decides fewer of the rows is not kept."""

N_FOLDS = 4
MANY_ROWS, ENOUGH_ROWS, MOST_REPEATS = 20_000, 500, 10
"""Folds are drawn anew until there are enough rows; of many rows some thousand are held out."""


class Unseen(NamedTuple):
    """Margins and labels of rows that the scorecards which gave the margins have not seen.

    And the weights of their cells in units, if not all are 1.
    """

    margins: Integers
    truth: Board
    weights: Integers | None = None

    @classmethod
    def joined(cls, parts: "list[Unseen]") -> "Unseen":
        """The held-out rows of all parts."""
        weights = [one.weights for one in parts if one.weights is not None]
        return cls(
            np.concatenate([one.margins for one in parts]),
            np.concatenate([one.truth for one in parts]),
            np.concatenate(weights) if weights else None,
        )


def held_out_parts(data: Dataset, seed: int) -> list[Integers]:
    """The rows that are held out, for each scorecard that is grown on the others."""
    if data.n_rows < 2 * N_FOLDS:
        return []
    if data.n_rows > MANY_ROWS:
        return [np.flatnonzero(folds_of(data, data.n_rows // 5000, seed) == 0)]
    n_repeats = min(MOST_REPEATS, ceil(ENOUGH_ROWS / data.n_rows))
    parts = []
    for number in range(n_repeats):
        folds = folds_of(data, N_FOLDS, seed + number)
        parts += [np.flatnonzero(folds == fold) for fold in range(N_FOLDS)]
    return parts


@dataclass(frozen=True)
class Decoding:
    """How points become labels: `shift` is subtracted from the points for all rows."""

    shift: int = 0
    at_least_one: bool = False
    label_sets: tuple[LabelSet, ...] = ()

    def with_at_most(self, n_literals: int) -> "Decoding":
        """Keep label sets of so many labels at most, the most frequent first."""
        kept, n_left = [], n_literals
        for one in self.label_sets:
            if len(one.labels) <= n_left:
                kept.append(one)
                n_left -= len(one.labels)
        return Decoding(self.shift, self.at_least_one, tuple(kept))


class UsualSets(NamedTuple):
    """Frequent label sets, the most frequent first: sets by labels, 0 or 1, and their counts."""

    members: Integers
    counts: Integers | Floats

    @classmethod
    def of(cls, Y: Board, least: float, weights: Floats | None = None) -> "UsualSets":
        """The label sets that so many rows have, of those in which all labels are known.

        The weights are those of rows.
        """
        complete = (Y != UNSET).all(axis=1)
        members, kinds = np.unique(Y[complete], axis=0, return_inverse=True)
        own = None if weights is None else weights[complete]
        counts = np.bincount(kinds.ravel(), own, minlength=len(members))
        order = np.lexsort((*members.T[::-1], -counts)) if len(counts) else np.arange(0)
        order = order[counts[order] >= least]
        return cls(members[order].astype(np.int64), counts[order])

    def bonuses(self, part: float) -> Integers:
        """The whole bonus of each, by a part of the logarithm of its count."""
        points = [part * DOUBLING * log(float(count), 2) for count in self.counts]
        return np.asarray(np.rint(points), dtype=np.int64)

    def label_sets(self, part: float, kept: Mask | slice = slice(None)) -> tuple[LabelSet, ...]:
        """The sets that are kept, with their bonuses."""
        return tuple(
            LabelSet(tuple(np.flatnonzero(members).tolist()), int(bonus))
            for members, bonus in zip(self.members[kept], self.bonuses(part)[kept], strict=True)
        )


def least_count(bits: float) -> float:
    """How many rows a usual label set has, by the bits that a literal costs."""
    return max(3.0, ROWS_PER_BIT * bits)


def tuned(unseen: Unseen, sets: UsualSets) -> Decoding:
    """The decoding with the greatest sum of micro-F1 and subset accuracy on unseen rows."""
    scorer = _Scorer(unseen, sets)
    plain = [(shift, one) for shift in SHIFTS for one in (False, True)]
    shift, at_least_one = max(plain, key=lambda case: scorer.value(case[0], case[1], None))
    least = scorer.value(shift, at_least_one, None) + SAVED
    part: float | None = None
    for case, some in product(plain, BONUSES if len(sets.counts) else ()):
        value = scorer.value(case[0], case[1], some)
        if value > least:
            (shift, at_least_one), part, least = case, some, value
    if part is None:
        return Decoding(shift, at_least_one)
    used = scorer.uses(shift, at_least_one, part) >= LEAST_USES
    return Decoding(shift, at_least_one, sets.label_sets(part, used))


class _Scorer:
    """Scores decodings; what they share is computed once."""

    def __init__(self, unseen: Unseen, sets: UsualSets) -> None:
        rows = (unseen.truth != UNSET).any(axis=1)
        self.margins, truth = unseen.margins[rows], unseen.truth[rows]
        # Which labels are present, and which are known; or their weights if so.
        self.truth, self.is_known = truth == 1, truth != UNSET
        self.row_weights = np.ones(len(truth), dtype=np.int64)
        if unseen.weights is not None:
            weights = unseen.weights[rows]
            self.truth, self.is_known = weights * self.truth, weights * self.is_known
            self.row_weights = weights.sum(axis=1)
        self.sets = sets
        self.sizes = sets.members.sum(axis=1)
        self.totals = self.margins @ sets.members.T
        self.n_true = self.truth.sum(axis=1)
        self.common = self.truth @ sets.members.T  # labels that a row and a set have in common
        self.n_in_set = self.is_known @ sets.members.T  # labels of a set that are known in a row
        self._own: dict[tuple[int, bool], tuple[Integers, Integers, Integers]] = {}

    def value(self, shift: int, at_least_one: bool, part: float | None) -> float:
        """Micro-F1 plus subset accuracy."""
        n_common, n_given, _ = self._own_labels(shift, at_least_one)
        if part is not None:
            chosen, number = self._chosen(shift, at_least_one, part)
            rows = np.arange(len(number))
            n_common = np.where(chosen, self.common[rows, number], n_common)
            n_given = np.where(chosen, self.n_in_set[rows, number], n_given)
        n_cells = int(n_given.sum() + self.n_true.sum())
        is_exact = (n_common == n_given) & (n_common == self.n_true)
        exact, n_rows = int(self.row_weights[is_exact].sum()), int(self.row_weights.sum())
        return 2 * int(n_common.sum()) / max(1, n_cells) + exact / max(1, n_rows)

    def uses(self, shift: int, at_least_one: bool, part: float) -> Integers:
        """How many rows each label set decides."""
        chosen, number = self._chosen(shift, at_least_one, part)
        return np.bincount(number[chosen], minlength=len(self.sizes))

    def _own_labels(self, shift: int, at_least_one: bool) -> tuple[Integers, Integers, Integers]:
        """By the points of each label alone: right labels, labels, and their points in all."""
        key = shift, at_least_one
        if key not in self._own:
            points = self.margins - shift
            chosen = points > 0
            if at_least_one:
                none = ~chosen.any(axis=1)
                chosen[none, points[none].argmax(axis=1)] = True
            common = (chosen * self.truth).sum(axis=1)
            total = np.where(chosen, points, 0).sum(axis=1)
            self._own[key] = common, (chosen * self.is_known).sum(axis=1), total
        return self._own[key]

    def _chosen(self, shift: int, at_least_one: bool, part: float) -> tuple[Mask, Integers]:
        """Rows that get a usual label set, and the number of the best one for each row."""
        _, _, own = self._own_labels(shift, at_least_one)
        totals = self.totals + (self.sets.bonuses(part) - shift * self.sizes)
        number = totals.argmax(axis=1)
        return totals[np.arange(len(number)), number] >= own, number
