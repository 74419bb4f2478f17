"""Rows as they are read, a part at a time, and how the parts become X and Y."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Board, Floats, Matrix

_INT32_MAX = np.iinfo(np.int32).max


class DenseRows(NamedTuple):
    """Rows that give every value."""

    X: Floats
    Y: Board

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.Y)


class SparseRows(NamedTuple):
    """Rows that list some of their values; the others are 0, and labels as usual."""

    counts: npt.NDArray[np.int32]
    """Entries of X in each row; none of them is 0."""
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]
    """Floats, or small integers where that is enough: they are kept until all is read."""
    unusual: npt.NDArray[np.integer[Any]]
    """Cells of Y, numbered row by row, that differ from what is not listed."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.counts)


Part = DenseRows | SparseRows


@dataclass
class Parts:
    """Collects parts; joining them takes little more memory than the result.

    Parameters
    ----------
    n_features : int
    usual : ndarray of int8
        For each label the value of a cell that a sparse row does not list.
    """

    n_features: int
    usual: Board
    _parts: list[Part] = field(default_factory=list)

    def add(self, part: Part) -> None:
        """Append rows."""
        self._parts.append(part)

    def joined(self) -> tuple[Matrix, Board]:
        """X and Y, frozen; the parts are used up. X is sparse if any row was."""
        Y = self._labels()
        is_sparse = any(isinstance(part, SparseRows) for part in self._parts)
        X: Matrix = self._sparse(len(Y)) if is_sparse else self._dense(len(Y))
        for array in (Y, *((X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,))):
            _freeze(array)
        return X, Y

    def _labels(self) -> Board:
        n_rows = sum(part.n_rows for part in self._parts)
        Y: Board = np.zeros((n_rows, len(self.usual)), dtype=np.int8)
        if self.usual.any():
            Y[:] = self.usual
        end = 0
        for part in self._parts:
            rows = Y[end : end + part.n_rows]
            end += part.n_rows
            if isinstance(part, SparseRows):
                rows.reshape(-1)[part.unusual] ^= 1
            else:
                rows[:] = part.Y
        return Y

    def _dense(self, n_rows: int) -> Floats:
        X: Floats = np.empty((n_rows, self.n_features), order="F")
        end = n_rows
        while self._parts:
            part = self._parts.pop()
            assert isinstance(part, DenseRows)
            X[end - part.n_rows : end] = part.X
            end -= part.n_rows
        return X

    def _sparse(self, n_rows: int) -> sparse.csc_array:
        parts = [_as_sparse(part) for part in self._parts]
        self._parts.clear()
        n_entries = sum(len(part.columns) for part in parts)
        # SciPy numbers rows by the wider of the two types given here.
        starts = np.zeros(n_rows + 1, np.int32 if n_entries <= _INT32_MAX else np.int64)
        np.cumsum(np.concatenate([part.counts for part in parts]), out=starts[1:])
        columns = np.concatenate([part.columns for part in parts])
        values = np.concatenate([part.values for part in parts])
        parts.clear()
        by_row = sparse.csr_array((values, columns, starts), shape=(n_rows, self.n_features))
        return by_row.tocsc().astype(np.float64, copy=False)


def _freeze(array: npt.NDArray[Any] | None) -> None:
    """Make an array read-only, and what it is a view of: nobody else has seen it."""
    while array is not None:
        array.setflags(write=False)
        array = array.base


def _as_sparse(part: Part) -> SparseRows:
    """The part with its entries of X; its labels are done with."""
    if isinstance(part, SparseRows):
        return part
    rows, columns = np.nonzero(part.X)
    counts = np.bincount(rows, minlength=part.n_rows).astype(np.int32)
    none = np.empty(0, dtype=np.int64)
    return SparseRows(counts, columns.astype(np.int32), part.X[rows, columns], none)
