"""The rows of each column by rising value, as an index for compiled code."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Floats, Integers, Mask, Matrix
from labelrules.data.table import column_of

if TYPE_CHECKING:
    from labelrules.kernels.index import Index

PIECE = 1 << 16
"""Cells that are listed together, so that listing takes little memory."""


class _Entries(NamedTuple):
    """Entries of some columns, column by column."""

    columns: Integers
    counts: Integers
    rows: npt.NDArray[np.int32]
    values: Floats


def indexed_columns(X: Matrix, nominal: Mask) -> "tuple[Index, Floats]":
    """The index of all columns, without the most frequent value where that pays; and that value."""
    from labelrules.kernels.index import Index

    n_rows, n_columns = X.shape
    rest = np.zeros(n_columns) if sparse.issparse(X) else _most_frequent(X, nominal)
    counts = _n_others(X, rest)
    stop = np.cumsum(counts)
    start = stop - counts
    index = Index(np.empty(int(counts.sum()), np.int32), start, start.copy(), stop.copy(), stop)
    short = counts < n_rows
    for entries in _sorted(X, np.flatnonzero(~short)):
        _fill(index, entries, rest)
    pieces = _stored(X, np.flatnonzero(short)) if sparse.issparse(X) else _others(X, short, rest)
    for entries in pieces:
        _fill(index, _by_value(entries), rest)
    return index, rest


def _most_frequent(X: Matrix, nominal: Mask) -> Floats:
    """For each dense column a value to leave out; NaN, which equals nothing, if none pays."""
    n_rows, cells = X.shape[0], np.asarray(X)
    zeros = n_rows - np.count_nonzero(cells, axis=0)
    rest = np.where(nominal | (2 * zeros > n_rows), 0.0, np.nan)
    (others,) = (nominal & (2 * zeros < n_rows)).nonzero()
    # Of two categories the other one, seen without counting; NaN is the greatest where it occurs.
    is_one = cells.max(axis=0, initial=0.0)[others] == 1 if others.size else others > 0
    rest[others[is_one]] = 1.0
    for column in others[~is_one].tolist():
        values = cells[:, column]
        codes = values[~np.isnan(values)].astype(np.int64)
        rest[column] = np.argmax(np.bincount(codes)) if codes.size else 0.0
    return np.asarray(rest)


def _n_others(X: Matrix, rest: Floats) -> Integers:
    """For each column the rows that have another value."""
    if sparse.issparse(X):
        return np.diff(X.indptr).astype(np.int64)
    pieces = [np.count_nonzero(X[:, part] != rest[part], axis=0) for part in _parts(X)]
    return np.concatenate([np.empty(0, np.int64), *pieces]).astype(np.int64)


def _parts(X: Matrix) -> Iterator[slice]:
    step = max(1, PIECE // max(1, X.shape[0]))
    for first in range(0, X.shape[1], step):
        yield slice(first, first + step)


def _sorted(X: Matrix, columns: Integers) -> Iterator[_Entries]:
    """The entries of columns that list all rows; rows of one value in any order."""
    n_rows = X.shape[0]
    step = max(1, PIECE // max(1, n_rows))
    for first in range(0, columns.size, step):
        part = columns[first : first + step]
        values = np.stack([column_of(X, column) for column in part.tolist()])
        order = np.argsort(values, axis=1)
        values = np.take_along_axis(values, order, axis=1)
        counts = np.full(part.size, n_rows)
        yield _Entries(part, counts, order.ravel().astype(np.int32), values.ravel())


def _others(X: Matrix, short: Mask, rest: Floats) -> Iterator[_Entries]:
    """The entries of dense columns that differ from what is left out."""
    for part in _parts(X):
        columns = np.arange(X.shape[1])[part][short[part]]
        if columns.size:
            block = np.asarray(X[:, columns])
            owner, rows = np.nonzero((block != rest[columns]).T)
            counts = np.bincount(owner, minlength=columns.size)
            yield _Entries(columns, counts, rows.astype(np.int32), block[rows, owner])


def _stored(X: sparse.csc_array, columns: Integers) -> Iterator[_Entries]:
    """The stored entries of sparse columns."""
    sizes = np.diff(X.indptr)[columns]
    piece = np.cumsum(sizes) // PIECE
    for number in np.unique(piece):
        chosen = columns[piece == number]
        part: Any = X[:, chosen]
        rows = part.indices.astype(np.int32, copy=False)
        yield _Entries(chosen, np.diff(part.indptr), rows, part.data)


def _by_value(entries: _Entries) -> _Entries:
    """The entries of each column by rising value, missing values last."""
    owner = np.repeat(np.arange(entries.columns.size), entries.counts)
    values = entries.values
    falls = ~(values[1:] >= values[:-1]) & (owner[1:] == owner[:-1])
    if not falls.any():
        return entries
    order = np.lexsort((values, owner))
    return entries._replace(rows=entries.rows[order], values=values[order])


def _fill(index: "Index", entries: _Entries, rest: Floats) -> None:
    """Write sorted entries to the places of their columns; the first of each value is marked."""
    columns, counts, rows, values = entries
    owner = np.repeat(np.arange(columns.size), counts)
    first = np.ones(rows.size, dtype=np.bool_)
    first[1:] = (values[1:] != values[:-1]) | (owner[1:] != owner[:-1])
    shift = index.start[columns] - (np.cumsum(counts) - counts)
    index.entries[np.repeat(shift, counts) + np.arange(rows.size)] = np.where(first, ~rows, rows)
    below = values < np.repeat(rest[columns], counts)
    index.middle[columns] += np.bincount(owner[below], minlength=columns.size)
    missing = np.isnan(values)
    index.valid[columns] -= np.bincount(owner[missing], minlength=columns.size)


def n_listed(index: "Index") -> Integers:
    """How many values each column lists."""
    n_first = np.concatenate([[0], np.cumsum(index.entries < 0)])
    return np.asarray(n_first[index.valid] - n_first[index.start])
