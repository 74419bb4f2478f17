"""The board while a list is learned: what is written, what still counts, who has left."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Integers, Mask, Matrix
from labelrules.data import Dataset
from labelrules.rules import Evidence, Head, Rule

Order: TypeAlias = Literal["append", "prepend"]


class TrainingBoard:
    """Truth and board of the training rows, labels by rows.

    ``n_open`` are the cells that nobody has written, in rows that have not left.

    Parameters
    ----------
    data : Dataset
    order : {"append", "prepend"}
        Whether new rules come last, and write what is open, or first, and write over all else.
    other : Ground, optional
        One with the same truth and board.
    """

    def __init__(self, data: Dataset, order: Order, other: "TrainingBoard | None" = None) -> None:
        # A copy, even of one label: a view would be frozen, and kernels be compiled for that, too.
        self.truth: Board = np.array(data.Y.T, order="C") if other is None else other.truth
        self.board: Board = np.full_like(self.truth, UNSET) if other is None else other.board
        self.ended: Mask = np.zeros(data.n_rows, dtype=np.bool_)
        self.n_open = self.truth.size
        self.prepends = order == "prepend"
        self.counted: Mask = np.ones((1 + self.prepends, *self.truth.shape), dtype=np.bool_)

    @property
    def n_incomplete(self) -> Integers:
        """For each row the cells that nobody has written."""
        return np.asarray((self.board == UNSET).sum(axis=0))

    def remaining(self, readd: str) -> Mask | None:
        """The rows still in the table; None if that are all."""
        if self.prepends:
            return None  # they all may be written over
        if readd == "incomplete":
            return ~self.ended & (self.n_incomplete > 0)
        return ~self.ended if self.ended.any() else None

    def write(self, head: Head, covered: Mask) -> tuple[Evidence, ...]:
        """Write a head; returns what becomes right and wrong for each of its labels."""
        if not self.prepends:
            return self.write_open(head, covered)
        found = []
        for label, value in head:
            written = covered & self.counted[value, label]
            right = int((written & (self.truth[label] == value)).sum())
            found.append(Evidence(right, int(written.sum()) - right))
            self.n_open -= int((self.board[label, written] == UNSET).sum())
            self.board[label, written] = value
            self.counted[value, label, written] = False
            self.counted[1 - value, label, written] = True
        return tuple(found)

    def hold_out(self, rows: Mask) -> None:
        """Let the cells of these rows not count."""
        self.counted[:, :, rows] = False

    def gain(self, head: Head, covered: Mask) -> int:
        """How many more cells a head would set right than wrong."""
        gain = 0
        for label, value in head:
            written = covered & self.counted[value if self.prepends else 0, label]
            gain += 2 * int((written & (self.truth[label] == value)).sum()) - int(written.sum())
        return gain

    def share_incomplete(self, covered: Mask) -> float:
        """The share of covered rows in the table that still have an open cell."""
        inside = covered & ~self.ended
        incomplete = (self.board[:, inside] == UNSET).any(axis=0)
        return float(incomplete.mean()) if incomplete.size else 0.0

    def end(self, covered: Mask) -> Mask:
        """Let covered rows leave; tells which labels have lost cells by that."""
        leaving = covered & ~self.ended
        self.n_open -= int((self.board[:, leaving] == UNSET).sum())
        lost: Mask = self.counted[0][:, leaving].any(axis=1)
        self.counted[:, :, leaving] = False
        self.ended |= leaving
        return lost

    def default(self) -> Head:
        """For each label the majority of the cells that nobody wrote, or of all if there are none.

        Absent if there are as many zeros as ones.
        """
        majority = {}
        for label, (truth, cells) in enumerate(zip(self.truth, self.board, strict=True)):
            unwritten = cells == UNSET
            left = truth[unwritten] if unwritten.any() else truth
            majority[label] = int(2 * np.count_nonzero(left == 1) > left.size)
        return Head(majority, len(self.truth))

    def replay(self, rules: Iterable[Rule], X: Matrix) -> list[tuple[Evidence, ...]]:
        """Take over what the rules of a list write; returns the evidence of each."""
        found = []
        for rule in rules:
            covered = rule.body.covers(X, self.board.T) & ~self.ended
            found.append(self.write_open(rule.head, covered))
            if rule.stops:
                self.end(covered)
        if self.prepends:  # new rules are asked before any mark that stops the list
            self.ended[:] = False
            self.n_open = int((self.board == UNSET).sum())
            self.counted[0], self.counted[1] = self.board != 0, self.board != 1
        return found

    def write_open(self, head: Head, covered: Mask) -> tuple[Evidence, ...]:
        """Write a head into the cells that nobody has written; see `write`."""
        found = []
        for label, value in head:
            written = np.flatnonzero(covered & (self.board[label] == UNSET))
            right = int(np.count_nonzero(self.truth[label, written] == value))
            found.append(Evidence(right, written.size - right))
            self.n_open -= written.size
            self.board[label, written] = value
            self.counted[0, label, written] = False
        return tuple(found)


def rarer_values(truth: Board) -> npt.NDArray[np.int8]:
    """For each label 2 if presence is the rarer value, or as frequent, else 1."""
    ones = truth.sum(axis=1, dtype=np.int64)
    return np.where(2 * ones <= truth.shape[1], 2, 1).astype(np.int8)
