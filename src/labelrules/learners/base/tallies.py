"""Counts over rows, which may come in blocks: cells of labels, and outcomes of predictions."""

from typing import Any, NamedTuple

import numpy as np

from labelrules._kept import kept
from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.rows import Rows
from labelrules.data.table import cell_counts
from labelrules.measures.confusion_matrix import Confusion
from labelrules.measures.evaluation import OutcomeCounts


class LabelCells(NamedTuple):
    """For each label the rows in which it is known, and those that have it.

    `n_labelled` rows have some known label. `weights` are those of present and of absent cells.
    """

    known: Integers
    present: Integers
    n_labelled: int
    weights: Any

    @classmethod
    def of(cls, block: Dataset) -> "LabelCells":
        """Count the cells of a block of rows."""
        known, is_present = block.Y != UNSET, block.Y == 1
        n_known, present = known.sum(axis=0), is_present.sum(axis=0)
        weights = np.array([present, n_known - present])
        if block.weights is not None:
            kinds = is_present, block.Y == 0
            weights = np.array([cell_counts(one, block.weights) for one in kinds])
        return cls(n_known, present, int(known.any(axis=1).sum()), weights)

    def plus(self, other: "LabelCells") -> "LabelCells":
        """Add the cells of both."""
        return LabelCells(*(one + two for one, two in zip(self, other, strict=True)))

    @property
    def are_common(self) -> Mask:
        """For each label whether it is present in most of the rows in which it is known."""
        present, absent = self.weights
        return np.asarray(present > absent)


@kept
def label_cells(rows: Rows) -> LabelCells:
    """The cells of each label, counted once."""
    cells: LabelCells = rows.total(LabelCells.of, "counting labels")
    return cells


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
