"""Asking a layer again and again: until nothing changes, label by label, or by drawing lots."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.rules.inference import Gibbs
from labelrules.rules.theory import Run

Numbers: TypeAlias = npt.NDArray[np.int32]
"""Numbers of rules, -1 for none."""


class Rounds(NamedTuple):
    """How the last layer came to its result; see `LayeredRun`."""

    run: Run
    n_rounds: Integers
    moving: Mask
    presence: Floats | None = None


def closed(board: Board) -> Board:
    """The board on which cells that nobody wrote have become absent."""
    return np.where(board == UNSET, np.int8(0), board)


class Reader(Protocol):
    """A layer, for some rows."""

    def read(self, seen: Board | None) -> Run:
        """What the layer writes when it sees these labels; those it writes itself if None."""


class Column(Protocol):
    """The part of a layer that speaks of one label, for some rows."""

    label: int

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """The cells of the label, and the numbers of the rules that wrote them."""

    def presence(self, seen: Board) -> Floats:
        """How probable it is that the label is present."""


def until_stable(reader: Reader, max_rounds: int, seen: Board | None) -> Rounds:
    """Let a layer read its own result until nothing changes; see `UntilStable`."""
    result = _copied(reader.read(seen))
    labels = closed(result.board)
    n_rounds, moving = nothing_known(labels)
    if seen is not None:
        moving = labels != seen
        n_rounds[~moving.any(axis=1)] = 1
    for number in range(2, max_rounds + 1):
        if n_rounds.all():
            break
        run = reader.read(labels)
        moving = closed(run.board) != labels
        labels = closed(run.board)
        stable = (n_rounds == 0) & ~moving.any(axis=1)
        n_rounds[stable] = number
        _take(result, run, stable)
    return Rounds(result, n_rounds, moving)


def label_by_label(
    columns: Sequence[Column], order: tuple[int, ...], max_rounds: int, labels: Board
) -> Rounds:
    """Let the labels be written one after the other, from these on; see `LabelByLabel`."""
    labels = labels.copy()
    result, first = Run(labels.copy(), *nobody(labels)), None
    n_rounds, moving = nothing_known(labels)
    for number in range(1, max_rounds + 1):
        before = labels.copy()
        for label in order:
            result.board[:, label], result.writer[:, label] = columns[label].read(labels)
            labels[:, label] = closed(result.board[:, label])
        moving = labels != before
        n_rounds[(n_rounds == 0) & ~moving.any(axis=1)] = number
        first = first or _copied(result)
        if n_rounds.all():
            break
    _take(result, first or result, n_rounds == 0)
    return Rounds(result, n_rounds, moving)


def sampled(columns: Sequence[Column], way: Gibbs, labels: Board) -> Rounds:
    """Draw label after label anew, from these on; see `Gibbs`."""
    labels = labels.copy()
    lots = np.random.default_rng(way.seed).random((way.burn_in + way.n_samples, len(columns)))
    total = np.zeros(labels.shape)
    for number, numbers in enumerate(lots):
        for column, lot in zip(columns, numbers, strict=True):
            presence = column.presence(labels)
            # The same lot for all rows: what a row gets must not depend on the others.
            labels[:, column.label] = lot < presence
            if number >= way.burn_in:
                total[:, column.label] += presence
    presence = total / way.n_samples
    board = (presence > 0.5).astype(np.int8)
    return Rounds(Run(board, *nobody(board)), *nothing_known(board), presence)


def _take(target: Run, source: Run, rows: Mask) -> None:
    """Copy what happened to some rows."""
    target.board[rows] = source.board[rows]
    target.writer[rows] = source.writer[rows]
    target.stopped[rows] = source.stopped[rows]


def _copied(run: Run) -> Run:
    return Run(run.board.copy(), run.writer.copy(), run.stopped.copy())


def nobody(board: Board) -> tuple[Numbers, Numbers]:
    """No rule wrote a cell, none ended a row."""
    return (
        np.full(board.shape, -1, dtype=np.int32),
        np.full(len(board), -1, dtype=np.int32),
    )


def nothing_known(board: Board) -> tuple[Integers, Mask]:
    """No row is known to have settled, no cell to have changed."""
    return np.zeros(len(board), dtype=np.int64), np.zeros(board.shape, dtype=np.bool_)
