"""Columns of SciPy sparse matrices, by their stored entries alone."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Floats
from labelrules.data.columns import Column, is_exact, read_array
from labelrules.data.errors import DataError


class SparseTable:
    """A sparse matrix column by column: sorted, without duplicates and stored zeros.

    It is a copy: the matrix given is never changed.
    """

    names: tuple[str, ...] | None = None

    def __init__(self, X: Any) -> None:
        if X.ndim != 2:
            raise DataError(
                f"X is sparse with {X.ndim} dimension{'s' * (X.ndim != 1)}, but a table of rows "
                "and columns has two: reshape it"
            )
        if X.dtype.kind not in "biuf":
            raise DataError(f"X is sparse with values of type {X.dtype}: use numbers")
        self._matrix = _canonical(X)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n_rows, n_columns = self._matrix.shape
        return n_rows, n_columns

    @property
    def zero(self) -> str:
        """The category that stands for the entries that are not stored."""
        return "False" if self._matrix.dtype.kind == "b" else "0"

    @property
    def is_numeric(self) -> bool:
        """Whether every entry is a number that float64 holds, so that all can be read at once."""
        return self._matrix.dtype.kind != "b" and is_exact(self._matrix.data)

    def read(self, index: int, name: str, nominal: bool) -> Column:
        """Read the stored entries of one column; `name` is what messages call it."""
        start, stop = self._matrix.indptr[index : index + 2]
        return read_array(self._matrix.data[start:stop], name, nominal)

    def numbers(self) -> sparse.csc_array:
        """The whole matrix as numbers."""
        return self._with(self._matrix.data.astype(np.float64))

    def replaced(self, columns: Iterable[Floats]) -> sparse.csc_array:
        """The matrix with other stored entries, column by column."""
        data = np.empty(self._matrix.nnz)
        start = 0
        for column in columns:
            data[start : start + len(column)] = column
            start += len(column)
        return self._with(data)

    def _with(self, data: Floats) -> sparse.csc_array:
        pattern = (self._matrix.indices.copy(), self._matrix.indptr.copy())
        matrix = sparse.csc_array((data, *pattern), shape=self._matrix.shape)
        matrix.eliminate_zeros()  # a code may be 0
        for array in (matrix.data, matrix.indices, matrix.indptr):
            _freeze(array)
        return matrix


def _canonical(X: Any) -> sparse.csc_array:
    if X.dtype.kind == "f" or (X.dtype.kind in "iu" and X.dtype.itemsize < 8):
        # before duplicates are added up, because small integers would overflow
        matrix = sparse.csc_array(X.astype(np.float64))
    else:
        matrix = sparse.csc_array(X, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _freeze(array: npt.NDArray[Any]) -> None:
    """Also what the array is a view of: SciPy shortens its arrays by views of its own."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base.setflags(write=False)
        base = base.base
