"""The columns of a data set, sorted once, for searches to refine bodies by."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Floats, Integers, Matrix
from labelrules.data import Dataset
from labelrules.data.table import column_of
from labelrules.rules import Condition
from labelrules.search.listing import PIECE, listed

if TYPE_CHECKING:
    from labelrules.kernels.columns import Index


@dataclass(frozen=True, eq=False)
class Columns:
    """The rows of each feature by rising value; see :mod:`labelrules.kernels.columns`."""

    X: Matrix
    nominal: npt.NDArray[np.int8]
    """0 for numeric features, 1 for nominal ones, 2 if all rows listed have the same value."""
    index: "Index"
    rest: Floats
    """For each column the value of the rows that it does not list."""

    @classmethod
    def of(cls, data: Dataset) -> "Columns":
        """Sort the columns of a data set."""
        nominal = np.array([not f.is_numeric for f in data.schema.features], dtype=np.int8)
        index, rest = listed(data.X, nominal > 0)
        return cls(data.X, nominal + (nominal & (_n_listed(index) <= 1)), index, rest)

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
        # One category is worth asking for where it is missing elsewhere.
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
            (value,) = self._values(column, [number], index, n_inside)
            return Condition(column, "!=" if second else "=", value)
        number, second = divmod(place, 2)
        low, high = self._values(column, [number, number + 1], index, n_inside)
        return self._cut(column, bool(second), low, high, neighbours)

    def between(
        self, column: int, second: bool, below: int, above: int, neighbours: Integers | None = None
    ) -> Condition:
        """The condition with a threshold between two rows, or with the value of the first.

        -1 stands for the rows that the column does not list.
        """
        low, high = (
            float(self.rest[column]) if row < 0 else self._value(row, column)
            for row in (below, above)
        )
        if self.nominal[column]:
            return Condition(column, "!=" if second else "=", low)
        return self._cut(column, second, low, high, neighbours)

    def _cut(
        self, column: int, second: bool, low: float, high: float, neighbours: Integers | None
    ) -> Condition:
        if neighbours is not None:
            values = column_of(self.X, column)[neighbours]
            below, above = values[values <= low], values[values >= high]
            low = float(below.max()) if below.size else low
            high = float(above.min()) if above.size else high
        return Condition(column, ">" if second else "<=", simplest_between(low, high))

    def _values(
        self, column: int, numbers: list[int], index: "Index", n_inside: int
    ) -> list[float]:
        """The values of a column with these numbers, among those that covered rows have, rising."""
        start, middle = int(index.start[column]), int(index.middle[column])
        entries = index.entries[start : int(index.valid[column])]
        rows = ~entries[entries < 0]
        gap = rows.size
        if n_inside > index.stop[column] - start:  # the value of the rows that are not listed
            gap = int(np.count_nonzero(entries[: middle - start] < 0))
        return [
            float(self.rest[column]) if n == gap else self._value(rows[n - (n > gap)], column)
            for n in numbers
        ]

    def _value(self, row: Any, column: int) -> float:
        if not sparse.issparse(self.X):
            return float(self.X[row, column])
        start, stop = self.X.indptr[column], self.X.indptr[column + 1]
        return float(self.X.data[start + np.searchsorted(self.X.indices[start:stop], row)])


def simplest_between(low: float, high: float) -> float:
    """The shortest number from `low` up to, but not including, `high`; near the middle.

    Examples
    --------
    >>> simplest_between(1.234, 1.871), simplest_between(3, 4), simplest_between(-0.5, 120)
    (1.6, 3.0, 0.0)
    >>> simplest_between(0.1 + 0.2, 0.30000000000000010)
    0.30000000000000004
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
    try:
        unit = float(f"1e{power}")
        first, last = ceil(low / unit) - 1, floor(high / unit) + 1
    except (OverflowError, ZeroDivisionError):
        return None
    middle = (low / 2 + high / 2) / unit
    wanted = min(max(round(middle), first), last)
    for number in (wanted, wanted - 1, wanted + 1, wanted - 2, wanted + 2):
        value = float(f"{number}e{power}")
        if low <= value < high:
            return value
    return None


def _n_listed(index: "Index") -> Integers:
    """How many values each column lists."""
    n_first = np.concatenate([[0], np.cumsum(index.entries < 0)])
    return np.asarray(n_first[index.valid] - n_first[index.start])
