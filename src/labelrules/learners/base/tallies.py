"""Outcomes of predictions counted over rows, which may come in parts."""

import numpy as np

from labelrules._types import Board, Integers
from labelrules.measures.confusion_matrix import Confusion
from labelrules.measures.evaluation import OutcomeCounts


class OutcomeTally:
    """The confusion matrices of each label and of the kinds of rows, added up over parts.

    Examples
    --------
    >>> tally = OutcomeTally(2)
    >>> tally.add(np.array([[1, 0]], dtype=np.int8), np.array([[1, 1]], dtype=np.int8))
    >>> tally.add(np.array([[0, 1]], dtype=np.int8), np.array([[0, 1]], dtype=np.int8))
    >>> tally.counts().labels.tp
    array([1, 1])
    """

    def __init__(self, n_labels: int) -> None:
        self._by_label: Integers = np.zeros((n_labels, 4), dtype=np.int64)
        self._times: dict[int, int] = {}  # from a matrix, as one number, to how many rows have it
        self._base = n_labels + 1

    def add(self, truth: Board, predicted: Board) -> None:
        """Count further rows."""
        from labelrules.kernels.apply import count_outcomes

        by_row: Integers = np.empty((len(truth), 4), dtype=np.int64)
        count_outcomes(truth, predicted, self._by_label, by_row)
        # One number for each matrix: sorting numbers is much faster than sorting rows of a table.
        codes, times = np.unique(by_row @ self._powers, return_counts=True)
        for code, n in zip(codes.tolist(), times.tolist(), strict=True):
            self._times[code] = self._times.get(code, 0) + n

    @property
    def _powers(self) -> Integers:
        return np.array([self._base**power for power in range(4)], dtype=np.int64)

    def counts(self) -> OutcomeCounts:
        """What was counted so far; labels and rows in which nothing is known are left out."""
        codes: Integers = np.array(sorted(self._times), dtype=np.int64)
        times: Integers = np.array([self._times[code] for code in codes.tolist()], dtype=np.int64)
        kinds = codes[:, np.newaxis] // self._powers % self._base
        known = kinds.any(axis=1)
        labels = self._by_label[self._by_label.any(axis=1)]
        return OutcomeCounts(Confusion(*labels.T), Confusion(*kinds[known].T), times[known])


def outcome_counts(truth: Board, predicted: Board) -> OutcomeCounts:
    """The confusion matrices of each label, and of the kinds of rows."""
    tally = OutcomeTally(truth.shape[1])
    tally.add(truth, predicted)
    return tally.counts()
