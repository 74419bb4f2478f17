"""The training board: what is written, which cells count, and which rows have ended."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Integers, Mask, Matrix
from labelrules.data import Dataset
from labelrules.data.table import common_labels
from labelrules.rules import Evidence, Head, Rule

Order: TypeAlias = Literal["append", "prepend"]


class TrainingBoard:
    """Truth and board of the training rows, labels by rows; shared with `other` if given.

    ``n_open`` is the number of unwritten cells, in rows that have not ended. With the order
    "append" new rules write open cells; with "prepend" they overwrite all others. Cells of which
    the truth is unknown are written like others, but they never count.
    """

    def __init__(self, data: Dataset, order: Order, other: "TrainingBoard | None" = None) -> None:
        # A copy, even of one label: a view would be frozen, and kernels be compiled for that, too.
        self.truth: Board = np.array(data.Y.T, order="C") if other is None else other.truth
        self.board: Board = np.full_like(self.truth, UNSET) if other is None else other.board
        self.known: Mask = self.truth != UNSET if other is None else other.known
        self.ended: Mask = np.zeros(data.n_rows, dtype=np.bool_)
        self.n_cells = self.n_open = int(np.count_nonzero(self.known))
        self.prepends = order == "prepend"
        self.counted: Mask = np.repeat(self.known[np.newaxis], 1 + self.prepends, axis=0)

    @property
    def n_incomplete(self) -> Integers:
        """For each row the number of unwritten cells."""
        return np.asarray((self.board == UNSET).sum(axis=0))

    def remaining(self, readd: str) -> Mask | None:
        """The rows that thresholds lie between; None for all."""
        if self.prepends:
            return None  # they all may be overwritten
        if readd == "incomplete":
            return ~self.ended & (self.n_incomplete > 0)
        return ~self.ended if self.ended.any() else None

    def write(self, head: Head, covered: Mask) -> tuple[Evidence, ...]:
        """Write a head; returns the right and wrong cells of each of its labels."""
        if not self.prepends:
            return self.write_open(head, covered)
        evidence = []
        for label, value in head:
            written = covered & self.counted[value, label]
            evidence.append(self._evidence(label, value, written))
            self.n_open -= int((self.board[label, written] == UNSET).sum())
            self.board[label, written | (covered & ~self.known[label])] = value
            self.counted[value, label, written] = False
            self.counted[1 - value, label, written] = True
        return tuple(evidence)

    def write_open(self, head: Head, covered: Mask) -> tuple[Evidence, ...]:
        """Write a head into open cells; see `write`."""
        evidence = []
        for label, value in head:
            cells, counted = self.board[label], self.counted[0, label]
            (written,) = (covered & (cells == UNSET)).nonzero()
            count = self._evidence(label, value, written)
            evidence.append(count)
            self.n_open -= count.right + count.wrong
            cells[written], counted[written] = value, False
        return tuple(evidence)

    def count(self, head: Head, covered: Mask, counted: Mask | None = None) -> Evidence:
        """The right and wrong counted cells of a head in covered rows, labels added up."""
        right = wrong = 0
        for label, value in head:
            layer = self.counted[value if self.prepends else 0] if counted is None else counted
            each = self._evidence(label, value, covered & layer[label])
            right, wrong = right + each.right, wrong + each.wrong
        return Evidence(right, wrong)

    def _evidence(self, label: int, value: int, rows: Mask | Integers) -> Evidence:
        truth = self.truth[label][rows]
        right, wrong = (int(np.count_nonzero(truth == one)) for one in (value, 1 - value))
        return Evidence(right, wrong)

    def hold_out(self, rows: Mask) -> None:
        """Do not count the cells of these rows."""
        self.counted[:, :, rows] = False

    def share_incomplete(self, covered: Mask) -> float:
        """The share of covered rows, among those not ended, that still have an open cell."""
        inside = covered & ~self.ended
        incomplete = (self.board[:, inside] == UNSET).any(axis=0)
        return float(incomplete.mean()) if incomplete.size else 0.0

    def end(self, covered: Mask) -> Mask:
        """Remove covered rows; returns a mask of the labels that lost cells that count."""
        leaving = covered & ~self.ended
        is_open = (self.board[:, leaving] == UNSET) & self.known[:, leaving]
        self.n_open -= int(np.count_nonzero(is_open))
        lost: Mask = self.counted[0][:, leaving].any(axis=1)
        self.counted[:, :, leaving] = False
        self.ended |= leaving
        return lost

    def default(self) -> Head:
        """For each label the majority of the unwritten cells, else of all; absent on a tie."""
        majority = {}
        for label, (truth, cells) in enumerate(zip(self.truth, self.board, strict=True)):
            unwritten = (cells == UNSET) & (truth != UNSET)
            left = truth[unwritten] if unwritten.any() else truth[truth != UNSET]
            majority[label] = int(2 * np.count_nonzero(left == 1) > left.size)
        return Head(majority, len(self.truth))

    def replay(self, rules: Iterable[Rule], X: Matrix) -> list[Rule]:
        """Write the rules of a list; returns them with their evidence."""
        written = []
        for rule in rules:
            covered = rule.body.covers(X, self.board.T) & ~self.ended
            written.append(rule.with_evidence(self.write_open(rule.head, covered)))
            if rule.stops:
                self.end(covered)
        if self.prepends:  # new rules come before any that stops the list
            self.ended[:] = False
            self.n_open = int(((self.board == UNSET) & self.known).sum())
            for value in (0, 1):
                self.counted[value] = (self.board != value) & self.known
        return written


def rarer_values(truth: Board) -> npt.NDArray[np.int8]:
    """For each label 2 if presence is the rarer value, or as frequent, else 1."""
    return np.where(common_labels(truth.T), 1, 2).astype(np.int8)
