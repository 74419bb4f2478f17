"""From scores to predictions: how high a score must be for its label to be predicted."""

from dataclasses import dataclass

import numpy as np

from labelrules._types import Board, Floats

ENOUGH = 20
"""Cells with a label that it takes to learn a threshold."""

EVEN = 0.5
"""The threshold where there are fewer."""


@dataclass(frozen=True, eq=False)
class Judge:
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
    def fixed(cls, threshold: float, n_labels: int) -> "Judge":
        """The same threshold for all, and no guesses."""
        return cls(np.full(n_labels, threshold), 1.0)

    @classmethod
    def learned(cls, scores: Floats, truth: Board, last_resort: float | None) -> "Judge":
        """The thresholds by which scored rows are predicted best.

        A label that enough rows have gets the threshold of the best F1, all others together
        one; where fewer than that have any, it is 0.5. Rows without labels get the likeliest
        one, down to where `last_resort` is the share of guesses that are right.
        """
        n_present = truth.sum(axis=0, dtype=np.int64)
        is_enough = n_present.sum() >= ENOUGH
        common = best_threshold(scores.ravel(), truth.ravel()) if is_enough else EVEN
        own = [
            best_threshold(scores[:, label], truth[:, label])
            if n_present[label] >= ENOUGH
            else common
            for label in range(truth.shape[1])
        ]
        judge = cls(np.array(own), 1.0)
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


def best_threshold(scores: Floats, truth: Board) -> float:
    """The middle between two scores for which F1 is greatest, the highest of several.

    Examples
    --------
    >>> best_threshold(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 1]))
    0.05
    >>> best_threshold(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]))
    0.55
    """
    if not truth.any():
        return 0.5
    order = np.argsort(-scores, kind="stable")
    falling = np.append(scores[order], 0.0)
    right = np.cumsum(truth[order], dtype=np.int64)
    f1 = 2 * right / (np.arange(1, len(order) + 1) + int(truth.sum()))
    f1[falling[:-1] == falling[1:]] = -1.0  # equal scores are predicted together
    best = int(f1.argmax())
    middle = float((falling[best] + falling[best + 1]) / 2)
    return min(max(middle, 1e-6), 1 - 1e-6)
