"""The columns of a data set, sorted once, for searches to refine bodies by."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Floats, Integers, Mask, Matrix
from labelrules.data import Dataset, Feature
from labelrules.data.table import column_of
from labelrules.data.times import roundest_between
from labelrules.rules import Condition

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


def listed(X: Matrix, nominal: Mask) -> "tuple[Index, Floats]":
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


@dataclass(frozen=True, eq=False)
class SortedColumns:
    """The rows of each feature by rising value; see :mod:`labelrules.kernels.index`."""

    X: Matrix
    nominal: npt.NDArray[np.int8]
    """0 for numeric features, 1 for nominal ones, 2 if all rows listed have the same value."""
    index: "Index"
    rest: Floats
    """For each column the value of the rows that it does not list."""
    features: tuple[Feature, ...]

    @classmethod
    def of(cls, data: Dataset) -> "SortedColumns":
        """Sort the columns of a data set."""
        features = data.schema.features
        nominal = np.array([feature.is_nominal for feature in features], dtype=np.int8)
        index, rest = listed(data.X, nominal > 0)
        return cls(data.X, nominal + (nominal & (_n_listed(index) <= 1)), index, rest, features)

    @cached_property
    def n_values(self) -> Integers:
        """For each column how many different values it has."""
        is_rest = self.index.stop - self.index.start < self.X.shape[0]
        return np.asarray(_n_listed(self.index) + is_rest)

    @property
    def n_conditions(self) -> int:
        """How many conditions there are to choose from."""
        n_values = self.n_values
        by_feature = np.where(self.nominal > 0, n_values, 2 * np.maximum(n_values - 1, 0))
        # Testing for the only category pays if it is missing in other rows.
        offers = (n_values > 1) | (self.index.valid < self.index.stop)
        return int(by_feature[offers].sum())

    @cached_property
    def places(self) -> tuple[Any, Any]:
        """For columns that list all rows, where; and the number of each such column, else -1."""
        n_rows, n_columns = self.X.shape
        full = np.flatnonzero(self.index.stop - self.index.start == n_rows)
        full = full[:0] if sparse.issparse(self.X) else full
        ranked = np.full(n_columns, -1, dtype=np.int32)
        ranked[full] = np.arange(full.size)
        places = np.empty((full.size, n_rows), dtype=np.int32)
        step, order = max(1, PIECE // max(1, n_rows)), np.arange(n_rows, dtype=np.int32)
        for first in range(0, full.size, step):
            starts = self.index.start[full[first : first + step]]
            entries = self.index.entries[starts[:, np.newaxis] + order]
            rows = entries ^ (entries >> 31)
            np.put_along_axis(places[first : first + step], rows, order[np.newaxis], axis=1)
        return places, ranked

    @cached_property
    def by_column(self) -> Floats:
        """The values, columns by rows; nothing for sparse columns."""
        values = np.empty((0, 0)) if sparse.issparse(self.X) else np.asarray(self.X).T
        values.setflags(write=False)
        return values

    @cached_property
    def space_for_narrowing(self) -> "Index":
        """An index of the same size, to be filled."""
        return self.new_space()

    def new_space(self) -> "Index":
        """Another one, for another thread."""
        entries, start, *ends = self.index
        return type(self.index)(np.empty_like(entries), start, *map(np.empty_like, ends))

    def condition(
        self,
        column: int,
        place: int,
        index: "Index",
        n_inside: int,
        neighbours: Integers | None = None,
    ) -> Condition:
        """The condition at a place among the refinements by a column of the covered rows.

        A threshold lies between the values of two `neighbours`, all covered rows by default.
        """
        from labelrules.kernels.scoring import SECOND_PLACE

        if self.nominal[column]:
            second, number = divmod(place, SECOND_PLACE)
            (value,) = self.values_at(column, [number], index, n_inside)
            return Condition(column, "!=" if second else "=", value)
        number, second = divmod(place, 2)
        low, high = self.values_at(column, [number, number + 1], index, n_inside)
        return self._cut(column, bool(second), low, high, neighbours)

    def between(
        self, column: int, second: bool, below: int, above: int, neighbours: Integers | None = None
    ) -> Condition:
        """The condition between two rows, or with the value of the first; -1: rows not listed."""
        low = self._value(below, column)
        if self.nominal[column]:
            return Condition(column, "!=" if second else "=", low)
        return self._cut(column, second, low, self._value(above, column), neighbours)

    def holds(self, column: int, second: bool, below: int) -> Mask:
        """Where the condition between two rows holds, if all rows in question are around it."""
        values, low = column_of(self.X, column), self._value(below, column)
        if not self.nominal[column]:
            return np.asarray(values > low if second else values <= low)
        return np.asarray((values != low) & ~np.isnan(values) if second else values == low)

    def _cut(
        self, column: int, second: bool, low: float, high: float, neighbours: Integers | None
    ) -> Condition:
        if neighbours is not None:
            values = column_of(self.X, column)[neighbours]
            below, above = values[values <= low], values[values >= high]
            low = float(below.max()) if below.size else low
            high = float(above.min()) if above.size else high
        threshold = threshold_between(low, high, self.features[column])
        return Condition(column, ">" if second else "<=", threshold)

    def values_at(
        self, column: int, numbers: list[int], index: "Index", n_inside: int
    ) -> list[float]:
        """The values of a column with these numbers, among those that covered rows have, rising."""
        start, middle = int(index.start[column]), int(index.middle[column])
        entries = index.entries[start : int(index.valid[column])]
        rows = ~entries[entries < 0]
        gap = rows.size
        if n_inside > index.stop[column] - start:  # the value of the rows that are not listed
            gap = int(np.count_nonzero(entries[: middle - start] < 0))
        return [self._value(-1 if n == gap else rows[n - (n > gap)], column) for n in numbers]

    def _value(self, row: Any, column: int) -> float:
        """The value in a row, or (-1) in the rows that are not listed."""
        if row < 0:
            return float(self.rest[column])
        if not sparse.issparse(self.X):
            return float(self.X[row, column])
        start, stop = self.X.indptr[column], self.X.indptr[column + 1]
        return float(self.X.data[start + self.X.indices[start:stop].searchsorted(row)])


def threshold_between(low: float, high: float, feature: Feature) -> float:
    """A readable threshold from `low` up to, but not including, `high`.

    The simplest number, the roundest time, or the lower of two categories that have an order.
    """
    if feature.time is not None:
        return roundest_between(low, high, feature.time)
    return low if feature.categories is not None else simplest_between(low, high)


def simplest_between(low: float, high: float) -> float:
    """The shortest number from `low` up to, but not including, `high`; near the middle.

    >>> simplest_between(1.234, 1.871), simplest_between(3, 4), simplest_between(-0.5, 120)
    (1.6, 3.0, 0.0)
    """
    if low < 0 <= high and (low < 0 < high):
        return 0.0
    largest = max(abs(low), abs(high))
    exponent = floor(log10(largest)) + 1 if largest > 0 and isfinite(largest) else 0
    for power in range(exponent, exponent - 19, -1):
        near = _nearest_multiple(low, high, power)
        if near is not None:
            return near
    return low


def _nearest_multiple(low: float, high: float, power: int) -> float | None:
    """The multiple of a power of ten in the range that is nearest to its middle."""
    unit = _power_of_ten(power)
    try:
        least, most = low / unit, high / unit
        first, last = ceil(least) - 1, floor(most) + 1
    except (OverflowError, ZeroDivisionError):
        return None
    # Most powers have no multiple in the range: seen without making numbers of texts.
    slack = 1e-9 * max(abs(least), abs(most))
    if ceil(least - slack) > most + slack:
        return None
    wanted = min(max(round((low / 2 + high / 2) / unit), first), last)
    for number in (wanted, wanted - 1, wanted + 1, wanted - 2, wanted + 2):
        value = float(f"{number}e{power}")
        if low <= value < high:
            return value
    return None


@cache
def _power_of_ten(power: int) -> float:
    return float(f"1e{power}")


def _n_listed(index: "Index") -> Integers:
    """How many values each column lists."""
    n_first = np.concatenate([[0], np.cumsum(index.entries < 0)])
    return np.asarray(n_first[index.valid] - n_first[index.start])
