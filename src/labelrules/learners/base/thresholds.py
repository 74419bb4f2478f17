"""From scores to predictions: how high a score must be for its label to be predicted."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from labelrules._types import Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.learners.covering.pruning import row_keys

ENOUGH = 10
"""Rows that must have a label for it to get a threshold of its own."""

ENOUGH_IN_ALL = 50
"""Cells with any label that it takes to learn thresholds."""

EVEN = 0.5
"""The threshold where there are fewer."""


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Thresholds for the scores of labels.

    Parameters
    ----------
    thresholds : array of float
        For each label, above 0 and below 1.
    guess : float
        How probable the likeliest label must be for a row without labels to get it.
    """

    thresholds: Floats
    guess: float

    @classmethod
    def fixed(cls, threshold: float, n_labels: int) -> "Thresholds":
        """The same threshold for all, and no guesses."""
        return cls(np.full(n_labels, threshold), 1.0)

    @classmethod
    def learned(cls, scores: Floats, truth: Board, last_resort: float | None) -> "Thresholds":
        """The thresholds by which scored rows are predicted best, by micro-averaged F1.

        A label that enough rows have gets a threshold of its own, all others together one; where
        there are too few labels in all, it is 0.5. Rows without labels get the likeliest one,
        down to where `last_resort` is the share of guesses that are right.
        """
        n_present = truth.sum(axis=0, dtype=np.int64)
        if n_present.sum() < ENOUGH_IN_ALL:
            return cls.fixed(EVEN, truth.shape[1])
        has_own = n_present >= ENOUGH
        groups = [np.array([label]) for label in np.flatnonzero(has_own)]
        groups += [np.flatnonzero(~has_own)] if not has_own.all() else []
        found = best_thresholds(
            [scores[:, group].ravel() for group in groups],
            [truth[:, group].ravel() for group in groups],
        )
        own = np.empty(truth.shape[1])
        for group, threshold in zip(groups, found, strict=True):
            own[group] = threshold
        judge = cls(own, 1.0)
        if last_resort is None:
            return judge
        return cls(judge.thresholds, judge.lowest_guess(scores, truth, last_resort))

    def presence(self, scores: Floats) -> Floats:
        """The scores stretched on both sides of the thresholds, so that these are at 0.5."""
        low = 0.5 * scores / self.thresholds
        high = 0.5 + 0.5 * (scores - self.thresholds) / (1 - self.thresholds)
        return np.where(scores < self.thresholds, low, high)

    def labels(self, presence: Floats) -> Board:
        """What is predicted: more probable than 0.5, or the best guess in a row without labels."""
        found = presence > 0.5
        bare = ~found.any(axis=1) & (presence.max(axis=1, initial=0.0) >= self.guess)
        found[bare, presence[bare].argmax(axis=1)] = True
        return found.astype(np.int8)

    def lowest_guess(self, scores: Floats, truth: Board, right_share: float) -> float:
        """How probable guesses must be so that such a share of them is right; 1 if never."""
        presence = self.presence(scores)
        bare = np.flatnonzero(~(presence > 0.5).any(axis=1))
        best = presence[bare].argmax(axis=1)
        sure = presence[bare, best]
        order = np.argsort(-sure, kind="stable")
        right = np.cumsum(truth[bare, best][order])
        n = np.arange(1, len(bare) + 1)
        is_last = np.append(np.diff(sure[order]) != 0, True)[: len(bare)]
        good = np.flatnonzero(is_last & (right >= right_share * n) & (right > 0))
        return float(sure[order][good[-1]]) if good.size else 1.0


def best_thresholds(scores: list[Floats], truth: list[Board]) -> list[float]:
    """A threshold for each group of cells, so that F1 over all cells is greatest.

    Dinkelbach's way: with F1 guessed to be f, each group by itself is best where the sum of
    ``2 y - f`` over the cells predicted is greatest; then f is what this gives, until it rises no
    more. Of thresholds that are as good the highest is taken.

    Examples
    --------
    >>> scores = [np.array([0.9, 0.8, 0.3, 0.1]), np.array([0.6, 0.2])]
    >>> best_thresholds(scores, [np.array([1, 1, 0, 0]), np.array([0, 1])])
    [0.55, 0.1]
    """
    orders = [np.argsort(-one, kind="stable") for one in scores]
    falling = [np.append(one[order], 0.0) for one, order in zip(scores, orders, strict=True)]
    right = [
        np.append(0, np.cumsum(one[order], dtype=np.int64))
        for one, order in zip(truth, orders, strict=True)
    ]
    n_present = sum(int(one.sum()) for one in truth)
    f1, cuts = 0.0, [0] * len(scores)
    while True:
        tried = [_best_cut(r, f, f1) for r, f in zip(right, falling, strict=True)]
        n_right = sum(int(r[cut]) for r, cut in zip(right, tried, strict=True))
        reached = 2 * n_right / max(sum(tried) + n_present, 1)
        if reached <= f1:
            break
        f1, cuts = reached, tried
    return [_middle(f, cut) for f, cut in zip(falling, cuts, strict=True)]


def _best_cut(right: Integers, falling: Floats, f1: float) -> int:
    """How many cells to predict, from the highest score on; equal scores go together."""
    gain = 2 * right - f1 * np.arange(len(right))
    gain[1:-1][falling[:-2] == falling[1:-1]] = -np.inf
    return int(gain.argmax())


def _middle(falling: Floats, cut: int) -> float:
    """A threshold that so many scores are above, and the next is not."""
    above = falling[cut - 1] if cut else 1.0
    return min(max(float((above + falling[cut]) / 2), 1e-6), 1 - 1e-6)


# -------------------- Votes of several models: samples of rows for them to differ by, and when a
# vote is won

Threshold: TypeAlias = float | Literal["cardinality"]
"""How probable a label must be: a number, or such that as many are predicted as there are."""


def checked_threshold(threshold: Any) -> Threshold:
    """A number from 0 to 1, or "cardinality"."""
    if isinstance(threshold, str) and threshold == "cardinality":
        return "cardinality"
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (is_number and 0 <= float(threshold) <= 1):
        raise ValueError(
            f"threshold must be 'cardinality' or a number from 0 to 1, not {threshold!r}"
        )
    return float(threshold)


def bootstrap_sample(data: Dataset, chance: np.random.RandomState) -> Integers:
    """As many rows as there are, drawn with replacement.

    They are drawn from the rows in the order of what they hold, so that the sample does not depend
    on the order in which they are given.
    """
    labels = np.packbits(data.Y, axis=1)
    order = np.lexsort((*labels.T, row_keys(data.X)))
    return np.asarray(order[np.sort(chance.randint(0, data.n_rows, data.n_rows))])


def cardinality_threshold(presence: Floats, truth: Board) -> float:
    """The threshold above which there are as many labels as are present.

    In the middle between the least probable label that is taken and the next; one half if there
    is nothing to go by.

    Examples
    --------
    >>> import numpy as np
    >>> float(cardinality_threshold(np.array([[0.9, 0.4], [0.1, 0.2]]), np.array([[1, 0], [0, 1]])))
    0.30000000000000004
    """
    n_present, falling = int(truth.sum()), np.sort(presence.ravel())[::-1]
    if not 0 < n_present < falling.size:
        return 0.5
    return float((falling[n_present - 1] + falling[n_present]) / 2)
