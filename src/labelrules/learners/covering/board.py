"""The training board: what is known, open and written, counted by label or held cell by cell."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Integers, Mask, Matrix
from labelrules.data import Dataset
from labelrules.data.weights import cell_units
from labelrules.rules import Evidence, Head, Rule
from labelrules.search.bodies.best_by_column import growth_kernels

if TYPE_CHECKING:
    from labelrules.kernels.covering.grow import DescriptionCounts

Order: TypeAlias = Literal["append", "prepend"]

Weight: TypeAlias = npt.NDArray[Any]
"""Weights of cells or rows in units, or truth values where all weights are 0 or 1."""


class LabelCounts:
    """For each label the cells of the training rows: what is known, open and written.

    A number has two counts, cells in its upper half and those of present labels in its lower half
    (kernels/README.md, "Codes and sums"); `written[value]` are the cells that rules predict so.
    Cells are counted in multiples of ``unit``, the weight of a cell that counts once.
    """

    prepends = False

    def __init__(self, known: Integers, is_open: Integers, written: Integers, unit: float) -> None:
        self.known, self.open, self.written = (np.array(part) for part in (known, is_open, written))
        self.unit, self.n_cells = unit, int((self.known >> 32).sum())
        self.count_open()

    def count_open(self) -> None:
        """Count the cells that no rule has written, in rows that have not ended."""
        self.n_open = int((self.open >> 32).sum())

    @property
    def is_common(self) -> Mask:
        """For each label whether it is present in most of the rows in which it is known."""
        return _is_mostly_present(self.known)

    def n_with(self, values: npt.NDArray[np.int8]) -> int:
        """The known cells with a wanted value: for each label 1 absent, 2 present, 3 both."""
        n_present = self.known & 0xFFFFFFFF
        n_absent = (self.known >> 32) - n_present
        return int((n_absent * (values & 1) + n_present * (values >> 1 & 1)).sum())

    def note(self, label: int, value: int, inside: int) -> None:
        """Count open cells as written."""
        self.n_open -= inside >> 32
        self.open[label] -= inside
        self.written[value, label] += inside

    def rounded(self, count: Evidence) -> Evidence:
        """The nearest whole numbers of cells, for rules: people read them."""
        if self.unit == 1:
            return count
        return Evidence(*(round(self.unit * part) for part in count))

    def default(self) -> Head:
        """For each label the majority of the unwritten cells, else of all; absent on a tie."""
        unwritten = np.where(self.open >> 32 > 0, self.open, self.known)
        common = _is_mostly_present(unwritten).astype(int).tolist()
        return Head(dict(enumerate(common)), len(common))

    def describe(
        self, label: int, value: int, n_possible: int, patience: int
    ) -> "DescriptionCounts":
        """The counts for the description length of a label and value, before a rule is added."""
        known, written = int(self.known[label]), int(self.written[value, label])
        n_rows, n_predicted = known >> 32, written >> 32
        n_true, n_right = known & 0xFFFFFFFF, written & 0xFFFFFFFF
        if not value:
            n_true, n_right = n_rows - n_true, n_predicted - n_right
        counts: DescriptionCounts = growth_kernels().DescriptionCounts(
            n_rows, n_true, n_predicted, n_right, n_possible, patience
        )
        return counts


def evidence_of(value: int, inside: int) -> Evidence:
    """The right and wrong cells of a prediction, from their number with two counts."""
    n_cells, n_present = inside >> 32, inside & 0xFFFFFFFF
    if value:
        return Evidence(n_present, n_cells - n_present)
    return Evidence(n_cells - n_present, n_present)


def _is_mostly_present(packed: Integers) -> Mask:
    n_cells, n_present = packed >> 32, packed & 0xFFFFFFFF
    return np.asarray(2 * n_present > n_cells)


class TrainingBoard(LabelCounts):
    """Truth and board of the training rows, labels by rows; shared with `other` if given.

    ``weight`` has the weight of each cell as a multiple of ``unit``, or whether it counts at all:
    a cell of which the truth is unknown is written like others, but never counts. With the order
    "append" new rules write open cells; with "prepend" they overwrite all others.
    """

    def __init__(self, data: Dataset, order: Order, other: "TrainingBoard | None" = None) -> None:
        # A copy, even of one label: a view would be frozen, and kernels be compiled for that, too.
        self.truth: Board = np.array(data.Y.T, order="C") if other is None else other.truth
        self.board: Board = np.full_like(self.truth, UNSET) if other is None else other.board
        self.is_known: Mask = self.truth != UNSET if other is None else other.is_known
        self.weights = data.weights
        units, unit = cell_units(data.Y, data.weights)
        self.weight: Weight = self.is_known if units is None else _weights(units, self.is_known)
        known = self._packed(lambda label: slice(None))
        super().__init__(known, known, np.zeros((2, len(known)), np.int64), unit)
        self.ended: Mask = np.zeros(data.n_rows, dtype=np.bool_)
        self.has_ended = False
        self.prepends = order == "prepend"
        self.counted: Weight = np.repeat(self.weight[np.newaxis], 1 + self.prepends, axis=0)

    @cached_property
    def row_weight(self) -> Weight:
        """The weight of each row, or the greatest of its cells."""
        if self.weights is None:
            return np.ones(self.weight.shape[1], dtype=np.bool_)
        units = np.rint(self.weights / self.unit).astype(np.int64)
        return units if units.ndim == 1 else np.asarray(units.max(axis=1))

    @cached_property
    def n_incomplete(self) -> Integers:
        """For each row the number of unwritten cells; kept up to date once it was asked for."""
        return np.asarray(np.count_nonzero(self.board == UNSET, axis=0))

    def recount(self) -> None:
        """Count the cells that are open and written, after the board was written by hand."""
        self.open[:] = self._packed(lambda label: self.board[label] == UNSET)
        self.count_open()
        for value in (0, 1):
            self.written[value] = self._packed(lambda label: self.board[label] == value)  # noqa: B023

    def _packed(self, rows_of: Callable[[int], Any]) -> Integers:
        """For each label the cells of some rows."""
        sums = [self.inside(label, rows_of(label)) for label in range(len(self.truth))]
        return np.array(sums, dtype=np.int64)

    def inside(self, label: int, rows: Mask | Integers | slice) -> int:
        """The cells of some rows in units, and those of present labels, in one number."""
        weight = self.weight[label][rows]  # 0 where the truth is unknown
        return (total(weight) << 32) + total_within(weight, self.truth[label][rows] == 1)

    def remaining(self, readd: str) -> Mask | None:
        """The rows that thresholds lie between; None for all."""
        if self.prepends:
            return None  # they all may be overwritten
        if readd == "incomplete":
            return ~self.ended & (self.n_incomplete > 0)
        return ~self.ended if self.has_ended else None

    def left(self, covered: Mask) -> Mask:
        """The covered rows without those that have ended."""
        return covered & ~self.ended if self.has_ended else covered

    def write(self, head: Head, covered: Mask) -> tuple[Evidence, ...]:
        """Write a head; returns the right and wrong cells of each of its labels."""
        if not self.prepends:
            return self.write_open(head, covered)
        evidence = []
        for label, value in head:
            written = covered & (self.counted[value, label] > 0)
            evidence.append(self.rounded(evidence_of(value, self.inside(label, written))))
            was_open = self.board[label] == UNSET
            changed = written | (covered & ~self.is_known[label])
            self.written[1 - value, label] -= self.inside(label, written & ~was_open)
            self.written[value, label] += self.inside(label, written & ~was_open)
            self.note(label, value, self.inside(label, written & was_open))
            self._complete((changed & was_open).nonzero()[0])
            self.board[label, changed] = value
            self.counted[value, label, written] = 0
            self.counted[1 - value, label, written] = self.weight[label, written]
        return tuple(evidence)

    def write_open(self, head: Head, covered: Mask) -> tuple[Evidence, ...]:
        """Write a head into open cells; see `write`."""
        evidence = []
        for label, value in head:
            cells, counted = self.board[label], self.counted[0, label]
            (written,) = (covered & (cells == UNSET)).nonzero()
            inside = self.inside(label, written)
            evidence.append(self.rounded(evidence_of(value, inside)))
            self.note(label, value, inside)
            self._complete(written)
            cells[written], counted[written] = value, 0
        return tuple(evidence)

    def _complete(self, rows: Integers) -> None:
        """Count one cell less of some rows, before it is written."""
        if "n_incomplete" in self.__dict__:
            self.n_incomplete[rows] -= 1

    def count(self, head: Head, covered: Mask, *, all_open: bool = False) -> Evidence:
        """The right and wrong counted cells of a head in covered rows, labels added up.

        With `all_open` all unwritten cells count, held out or not.
        """
        right = wrong = 0
        for label, value in head:
            layer = self.counted[value if self.prepends else 0]
            is_counted = self.board[label] == UNSET if all_open else layer[label] > 0
            each = evidence_of(value, self.inside(label, covered & is_counted))
            right, wrong = right + each.right, wrong + each.wrong
        if self.unit == 1:
            return Evidence(right, wrong)
        return Evidence(self.unit * right, self.unit * wrong)  # type: ignore[arg-type]

    def hold_out(self, rows: Mask) -> None:
        """Do not count the cells of these rows."""
        self.held_out = rows
        self.counted[:, :, rows] = 0

    def share_incomplete(self, covered: Mask) -> float:
        """The share of covered rows, among those not ended, that still have an open cell."""
        inside = covered & ~self.ended
        incomplete, weight = self.n_incomplete[inside] > 0, self.row_weight[inside]
        return total(weight[incomplete]) / max(total(weight), 1)

    def end(self, covered: Mask) -> Mask:
        """Remove covered rows; returns a mask of the labels that lost cells that count."""
        leaving = covered & ~self.ended
        is_open = self.board[:, leaving] == UNSET
        self.n_open -= total(self.weight[:, leaving][is_open])
        lost: Mask = self.counted[0][:, leaving].any(axis=1)
        self.counted[:, :, leaving] = 0
        self.ended |= leaving
        self.has_ended = self.has_ended or bool(leaving.any())
        return lost

    def replay(self, rules: Iterable[Rule], X: Matrix) -> list[Rule]:
        """Write the rules of a list; returns them with their evidence."""
        written = []
        for rule in rules:
            covered = rule.body.covers(X, self.board.T) & ~self.ended
            written.append(rule.with_evidence(self.write_open(rule.head, covered)))
            if rule.stops:
                self.end(covered)
        if self.prepends:  # new rules come before any that stops the list
            self.ended[:] = self.has_ended = False
            self.count_open()
            for value in (0, 1):
                self.counted[value] = np.where(self.board != value, self.weight, 0)
        return written


def total(weight: Weight) -> int:
    """The sum of weights, or how many count."""
    if weight.dtype.kind == "b":  # faster than to compare types
        return int(np.count_nonzero(weight))
    return int(weight.sum(dtype=np.int64))


def total_within(weight: Weight, rows: Mask) -> int:
    """The sum of the weights of some rows."""
    return total(weight & rows if weight.dtype.kind == "b" else weight[rows])


def _weights(units: Integers, known: Mask) -> npt.NDArray[np.int32]:
    """The weights of cells, labels by rows."""
    return np.where(known, units.T, 0).astype(np.int32, order="C")


def rarer_values(is_common: Mask) -> npt.NDArray[np.int8]:
    """For each label 2 if presence is the rarer value, or as frequent, else 1."""
    return np.where(is_common, 1, 2).astype(np.int8)
