"""Columns of NumPy arrays, nested lists and SciPy sparse matrices."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import counted
from labelrules._types import Floats
from labelrules.data.errors import DataError
from labelrules.data.memory.columns import (
    EncodedColumn,
    FeatureTable,
    check_exact,
    is_exact,
    read_array,
)
from labelrules.data.schema import Kind
from labelrules.data.table import freeze, is_frozen


class ArrayTable(FeatureTable):
    """The columns of a two-dimensional array."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array
        self.shape = (array.shape[0], array.shape[1])
        self.is_numeric = array.dtype.kind in "iuf"

    def read(self, index: int, name: str, nominal: bool, local: bool = False) -> EncodedColumn:
        """Read one column; what is masked is missing."""
        values = self._array[:, index]
        if not isinstance(values, np.ma.MaskedArray):
            return read_array(values, name, nominal, local)
        missing = np.ma.getmaskarray(values)
        column = read_array(values.data[~missing], name, nominal, local)
        filled = np.full(len(values), np.nan)
        filled[~missing] = column.values
        return replace(column, values=filled)

    def numbers(self, names: Sequence[str]) -> Floats:
        """All columns of a numeric array, frozen."""
        missing = np.ma.getmaskarray(self._array) if np.ma.isMaskedArray(self._array) else None
        if missing is None and self._array.dtype == np.float64 and is_frozen(self._array):
            return np.asarray(self._array)  # nobody can change it, so that it need not be copied
        check_exact(np.ma.filled(self._array, 0), names)
        matrix: Floats = np.array(np.ma.getdata(self._array), dtype=np.float64, order="F")
        if missing is not None:
            matrix[missing] = np.nan
        matrix.setflags(write=False)
        return matrix


def _in_host_memory(data: Any) -> npt.NDArray[Any]:
    """An array of NumPy; those on a GPU are copied."""
    if not isinstance(data, np.ndarray) and hasattr(data, "__cuda_array_interface__"):
        # CuPy and PyTorch have their own words for it
        data = data.get() if hasattr(data, "get") else data.cpu() if hasattr(data, "cpu") else data
    return np.asarray(data)


def as_array(data: Any, what: str) -> npt.NDArray[Any]:
    """An array of at least one dimension from an array, something like it, or nested lists."""
    if isinstance(data, np.ma.MaskedArray):
        return data
    if hasattr(data, "__array__") or hasattr(data, "__cuda_array_interface__"):
        try:
            array = _in_host_memory(data)
        except Exception as error:  # a foreign __array__ may raise anything
            raise DataError(
                f"{what} of type {type(data).__name__} cannot be made into a NumPy array ({error}):"
                " make one of it first"
            ) from None
        if array.ndim:
            return array
    elif isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _from_rows(data, what)
    hint = "make a frame of it first" if isinstance(data, dict) else "give rows and columns"
    raise DataError(
        f"{what} of type {type(data).__name__} is not an array, sparse matrix, frame or list of "
        f"rows: {hint}"
    )


def as_table(X: Any) -> ArrayTable:
    """The columns of X, which must have rows and columns."""
    array = as_array(X, "X")
    if array.ndim != 2:
        raise DataError(
            f"X has {counted(array.ndim, 'dimension')}, but a table of rows and columns has two: "
            "use X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row"
        )
    return ArrayTable(array)


def _from_rows(rows: Sequence[Any], what: str) -> npt.NDArray[Any]:
    """Nested lists cell by cell: NumPy itself would turn [1, "a"] into text throughout."""
    if rows and isinstance(rows[0], Mapping):
        raise DataError(
            f"{what} has a {type(rows[0]).__name__} in row 0: make a frame of the rows first, as "
            f"by pandas.DataFrame({what})"
        )
    if not any(_is_row(row) for row in rows):
        return _objects(rows, (len(rows),))
    cells: list[list[Any]] = []
    for index, row in enumerate(rows):
        if not _is_row(row):
            raise DataError(
                f"{what} has rows, but row {index} is of type {type(row).__name__}: make it a list"
            )
        cells.append(list(row))
        if len(cells[-1]) != len(cells[0]):
            raise DataError(
                f"{what} has {len(cells[0])} cells in row 0 but {len(cells[-1])} in row {index}: "
                "every row needs the same number"
            )
    return _objects([cell for row in cells for cell in row], (len(cells), len(cells[0])))


def _is_row(row: Any) -> bool:
    return isinstance(row, (Sequence, np.ndarray)) and not isinstance(row, (str, bytes))


def _objects(cells: Iterable[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    array = np.empty(shape, dtype=object)
    flat = array.reshape(-1)
    for index, cell in enumerate(cells):  # assigned one by one, so that NumPy unpacks no cell
        flat[index] = cell
    return array


class SparseTable(FeatureTable):
    """A sorted copy of a sparse matrix, read by stored entries; others have the category `zero`."""

    def __init__(self, X: Any, names: tuple[str, ...] | None = None) -> None:
        if X.ndim != 2:
            raise DataError(
                f"X is sparse with {counted(X.ndim, 'dimension')}, but a table of rows and columns "
                "has two: reshape it"
            )
        if X.dtype.kind not in "biuf":
            raise DataError(f"X is sparse with values of type {X.dtype}: use numbers")
        self.names = names
        self._matrix = _canonical(X)
        self.shape = self._matrix.shape
        self.zero = "False" if X.dtype.kind == "b" else "0"
        self.is_numeric = X.dtype.kind != "b" and is_exact(self._matrix.data)

    def read(self, index: int, name: str, nominal: bool, local: bool = False) -> EncodedColumn:
        """Read the stored entries of one column, which are never 0, nor False."""
        start, stop = self._matrix.indptr[index : index + 2]
        column = read_array(self._matrix.data[start:stop], name, nominal)
        if column.categories is None:
            return replace(column, kind=_kind_of_stored(column.values))
        if self.zero in column.categories:
            return column
        return EncodedColumn(
            column.values + 1.0, (self.zero, *column.categories), column.are_truth_values
        )

    def numbers(self, names: Sequence[str]) -> sparse.csc_array:
        """The whole matrix as numbers, frozen."""
        return self._with(self._matrix.data.astype(np.float64))

    def kinds(self) -> list[Kind]:
        """Amounts, but for columns that store a number below 0."""
        ends = pairwise(self._matrix.indptr.tolist())
        return [_kind_of_stored(self._matrix.data[start:stop]) for start, stop in ends]

    def assembled(self, columns: Iterator[Floats]) -> sparse.csc_array:
        """The matrix with other stored entries, frozen."""
        return self._with(np.concatenate([np.empty(0), *columns]))

    def _with(self, data: Floats) -> sparse.csc_array:
        pattern = (self._matrix.indices.copy(), self._matrix.indptr.copy())
        matrix = sparse.csc_array((data, *pattern), shape=self._matrix.shape)
        matrix.eliminate_zeros()  # a code may be 0
        for array in (matrix.data, matrix.indices, matrix.indptr):
            freeze(array)  # SciPy shortens its arrays by views of its own
        return matrix


def _kind_of_stored(values: npt.NDArray[Any]) -> Kind:
    return "numeric" if (values < 0).any() else "amount"


def _canonical(X: Any) -> sparse.csc_array:
    if X.dtype.kind == "f" or (X.dtype.kind in "iu" and X.dtype.itemsize < 8):
        # before duplicates are added up, because small integers would overflow
        matrix = sparse.csc_array(X.astype(np.float64))
    else:
        matrix = sparse.csc_array(X, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
