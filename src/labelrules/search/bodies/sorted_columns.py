"""The columns of a data set, sorted once, for searches to refine bodies by."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Floats, Integers, Mask, Matrix
from labelrules.data import Dataset, Feature
from labelrules.data.codes.listed_columns import PIECE, indexed_columns, n_listed
from labelrules.data.codes.thresholds import threshold_between
from labelrules.data.table import column_of
from labelrules.rules import Condition

if TYPE_CHECKING:
    from labelrules.kernels.index import Index


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
        index, rest = indexed_columns(data.X, nominal > 0)
        return cls(data.X, nominal + (nominal & (n_listed(index) <= 1)), index, rest, features)

    @cached_property
    def n_values(self) -> Integers:
        """For each column how many different values it has."""
        is_rest = self.index.stop - self.index.start < self.X.shape[0]
        return np.asarray(n_listed(self.index) + is_rest)

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
        low = self.value_of(below, column)
        if self.nominal[column]:
            return Condition(column, "!=" if second else "=", low)
        return self._cut(column, second, low, self.value_of(above, column), neighbours)

    def holds(self, column: int, second: bool, below: int) -> Mask:
        """Where the condition between two rows holds, if all rows in question are around it."""
        values, low = column_of(self.X, column), self.value_of(below, column)
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
        return [self.value_of(-1 if n == gap else rows[n - (n > gap)], column) for n in numbers]

    def value_of(self, row: Any, column: int) -> float:
        """The value in a row, or (-1) in the rows that are not listed."""
        if row < 0:
            return float(self.rest[column])
        if isinstance(self.X, np.ndarray):
            return float(self.X.item(row, column))
        start, stop = self.X.indptr[column], self.X.indptr[column + 1]
        return float(self.X.data[start + self.X.indices[start:stop].searchsorted(row)])
