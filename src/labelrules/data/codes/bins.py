"""Columns cut into a fixed number of bins: a table of small integers that stands for the values."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._checks import whole_number
from labelrules._types import Floats, Integers, Matrix
from labelrules._wings import back_end
from labelrules.data import Dataset, Feature, Schema
from labelrules.data.codes.thresholds import threshold_between
from labelrules.data.rows import Rows
from labelrules.data.table import column_of
from labelrules.data.weights import row_units, weights_of_rows
from labelrules.kernels.device import DeviceError, Engine, cpu_instead, uses_gpu

Codes: TypeAlias = npt.NDArray[Any]
"""The bin of each row, columns by rows, as the smallest unsigned integers that hold them."""


MOST_BINS = 65_535
"""Bins of a column whose numbers, and one for missing values, take two bytes."""


def checked_bins(bins: Any) -> int | None:
    """Into how many bins numeric columns are cut, None for every value."""
    return None if bins is None else whole_number(bins, "bins", low=2, high=MOST_BINS, also="None")


@dataclass(frozen=True)
class ColumnBins:
    """The bins of one column; the number after the last bin stands for a missing value.

    Parameters
    ----------
    cuts : tuple of float
        Rising thresholds: bin k has the values up to `cuts[k]` and above `cuts[k - 1]`. Empty for a
        nominal column, of which each category is a bin.
    n_bins : int
        How many there are, of a nominal column also those of categories that do not occur.
    n_values : int
        How many of the bins occur in the rows that they were made from.
    has_missing : bool
        Whether the value is missing in some of these rows.
    """

    cuts: tuple[float, ...]
    n_bins: int
    n_values: int
    has_missing: bool

    @classmethod
    def of_ends(
        cls, ends: Iterable[tuple[float, float]], n_known: int, has_missing: bool, feature: Feature
    ) -> "ColumnBins":
        """The bins of a column with an order, from the two values around each cut.

        `n_known` is the number of rows with a value; without any there is no bin.
        """
        cuts = tuple(threshold_between(low, high, feature) + 0.0 for low, high in ends)
        n_bins = len(cuts) + 1 if n_known else 0
        return cls(cuts, n_bins, n_bins, has_missing)

    @classmethod
    def of_categories(cls, n_categories: int, n_values: int, has_missing: bool) -> "ColumnBins":
        """The bins of a nominal column, of which so many categories occur."""
        return cls((), n_categories, n_values, has_missing)


def cut_ranks(n_known: int, n_bins: int) -> list[int]:
    """The ranks, from 1, of the values that bins end with, among the sorted known values.

    A column of more than `n_bins` different values is cut after the value of each of these ranks,
    if a greater value follows, and only once where several ranks have the same value.

    >>> cut_ranks(10, 4)
    [3, 5, 8]
    """
    return [-(-number * n_known // n_bins) for number in range(1, n_bins)]


def ends_of_sorted(
    values: Floats, n_bins: int, units: Integers | None = None
) -> list[tuple[float, float]]:
    """The values around each cut of a column, from its sorted known values.

    `units` are their weights: so many equal values are each of them.

    >>> ends_of_sorted(np.array([1.0, 1, 2, 3, 5, 8, 9]), n_bins=3)
    [(2.0, 3.0), (5.0, 8.0)]
    >>> ends_of_sorted(np.array([1.0, 2, 3, 5, 8, 9]), n_bins=3, units=np.array([2, 1, 1, 1, 1, 1]))
    [(2.0, 3.0), (5.0, 8.0)]
    """
    rises = values[1:] > values[:-1]
    if np.count_nonzero(rises) < n_bins:
        (last,) = rises.nonzero()
    else:
        n_known = len(values) if units is None else int(units.sum())
        ranks = np.array(cut_ranks(n_known, n_bins), dtype=np.int64)
        wanted = values[ranks - 1 if units is None else np.searchsorted(np.cumsum(units), ranks)]
        places = np.searchsorted(values, np.unique(wanted), side="right") - 1
        last = places[places < len(values) - 1]
    return list(zip(values[last].tolist(), values[last + 1].tolist(), strict=True))


@dataclass(frozen=True)
class Bins:
    """How the columns of a table are cut, by exact quantiles; nominal columns keep categories.

    A condition ``code <= k`` on a coded column says ``value <= cuts[k]``. Two tables of the same
    rows, in any order and in any parts, have equal bins.

    Examples
    --------
    >>> from labelrules import dataset
    >>> data = dataset([[1.5], [7.0], [None], [3.0]], [[0], [1], [0], [1]])
    >>> bins = Bins.of(data, 255)
    >>> bins.columns[0].cuts, bins.encode(data.X).tolist()
    ((2.0, 5.0), [[0, 2, 3, 1]])
    """

    schema: Schema
    columns: tuple[ColumnBins, ...]

    @classmethod
    def of(cls, rows: Rows, n_bins: int) -> "Bins":
        """Cut the columns of rows into so many bins at most; quantiles count weights.

        Of rows that are not in memory only those count of which a label is known.
        """
        if not rows.in_memory:
            cut: Bins = back_end(rows.back_end, "codes").bins_of(rows, n_bins)
            return cut
        (data,) = rows
        room = np.empty(data.n_rows)
        columns = []
        weights = None if data.weights is None else weights_of_rows(data.Y, data.weights)
        units, _ = row_units(weights)
        for at, feature in enumerate(data.schema.features):
            room[:] = column_of(data.X, at)
            columns.append(_bins_of(room, units, feature, n_bins))
        return cls(data.schema, tuple(columns))

    @cached_property
    def dtype(self) -> npt.DTypeLike:
        """The type of codes: one byte where 255 bins and missing values fit."""
        most = max((column.n_bins for column in self.columns), default=0)
        return np.min_scalar_type(most)

    @cached_property
    def start(self) -> Integers:
        """Where the bins of each column begin if all stand in one row, missing values included."""
        sizes = [column.n_bins + 1 for column in self.columns]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def nominal(self) -> npt.NDArray[np.int8]:
        """For each column whether it is nominal."""
        return np.array([feature.is_nominal for feature in self.schema.features], dtype=np.int8)

    @cached_property
    def n_values(self) -> Integers:
        """For each column how many of its bins occur; see `SortedColumns.n_values`."""
        return np.array([column.n_values for column in self.columns], dtype=np.int64)

    @cached_property
    def n_conditions(self) -> int:
        """How many conditions there are to choose from; see `SortedColumns.n_conditions`."""
        total = 0
        for column, nominal in zip(self.columns, self.nominal.tolist(), strict=True):
            if column.n_values > 1 or column.has_missing:
                total += column.n_values if nominal else 2 * max(column.n_values - 1, 0)
        return total

    def encode(self, X: Matrix) -> Codes:
        """The bin of each value, columns by rows."""
        codes: Codes = np.empty((len(self.columns), X.shape[0]), dtype=self.dtype)
        for at in range(len(self.columns)):
            self.encode_column(at, column_of(X, at), codes[at])
        return codes

    def encode_column(self, at: int, values: Floats, codes: Codes) -> None:
        """The bin of each value of one column, into an array."""
        from labelrules.kernels.covering.tables import encode_categories, encode_ordered

        column = self.columns[at]
        if self.nominal[at]:
            encode_categories(values, column.n_bins, codes)
        else:
            cuts = np.array(column.cuts, dtype=np.float64)
            encode_ordered(values, cuts, column.n_bins, codes)

    def ranks_of_codes(self, at: int, codes: Codes) -> Integers:
        """For each code of a column how many lower ones occur in some rows; missing comes last."""
        occurs = np.zeros(self.columns[at].n_bins + 1, np.int64)
        occurs[np.unique(codes)] = 1
        return np.asarray(np.cumsum(occurs) - occurs)

    def coded(self, data: Dataset) -> Dataset:
        """The data set with the codes as numbers in place of the values."""
        codes = self.encode(data.X).astype(np.float64).T
        codes[codes == np.array([column.n_bins for column in self.columns])] = np.nan
        return Dataset(self.coded_schema, codes, data.Y, data.name, data.weights)

    @cached_property
    def coded_schema(self) -> Schema:
        """The schema of coded tables: columns with an order are numeric there."""
        features = [
            feature if feature.is_nominal else Feature(feature.name)
            for feature in self.schema.features
        ]
        return replace(self.schema, features=tuple(features))


def bins_by_engine(data: Dataset, n_bins: int, engine: Engine) -> tuple[Bins, Any]:
    """The bins of a data set, and its codes if they are on a GPU, where they are counted, too."""
    if data.weights is not None and engine == "gpu":
        raise ValueError("weights are counted on the CPU only: leave them out, or set engine='cpu'")
    if data.weights is None and uses_gpu(engine, n_stored(data.X)):
        try:
            cut, codes = back_end("gpu", "codes").codes_on_gpu(data.X, data.schema, n_bins)
        except DeviceError as error:
            cpu_instead(engine, error)
        else:
            return cut, codes
    return Bins.of(data, n_bins), None


def n_stored(X: Any) -> int:
    """How many cells a matrix stores."""
    return int(X.size)  # of a sparse matrix those that it stores


def _bins_of(values: Floats, units: Integers | None, feature: Feature, n_bins: int) -> ColumnBins:
    """The bins of a column, of which the values are sorted in place."""
    if units is not None:
        units = units[np.argsort(values)]  # of equal values the order does not matter
    values.sort()
    known = values[: len(values) - np.count_nonzero(np.isnan(values))]  # others come last
    has_missing = len(known) < len(values)
    if feature.is_nominal:
        n_values = int(np.count_nonzero(known[1:] > known[:-1])) + (len(known) > 0)
        return ColumnBins.of_categories(len(feature.categories or ()), n_values, has_missing)
    ends = ends_of_sorted(known, n_bins, None if units is None else units[: len(known)])
    return ColumnBins.of_ends(ends, len(known), has_missing, feature)
