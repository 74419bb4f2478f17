"""The columns of a data set, cut into a few bins each, and the conditions that part them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.codes.listed_columns import indexed_columns
from labelrules.data.codes.thresholds import threshold_between
from labelrules.data.table import column_of

Bins: TypeAlias = npt.NDArray[np.uint16]


class FullColumns(NamedTuple):
    """Columns that list all rows: their places among all columns, and bins, columns by rows."""

    places: Integers
    bins: Bins


class ListedColumns(NamedTuple):
    """Columns that list some rows and their bins; the other rows are in the bin `rest`."""

    places: Integers
    start: Integers
    rows: npt.NDArray[np.int32]
    bins: Bins
    rest: Integers


@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """Which bin each row is in, for each column that can be cut; see kernels/README.md.

    The conditions that part the bins have numbers: for each cut two, `<=` and `>`, and for each
    category two, `=` and `!=`, column by column.

    Examples
    --------
    >>> from labelrules import load
    >>> binned = BinnedColumns.of(load("magazines"), n_cuts=8, min_rows=3)
    >>> binned.n_covered[:4], binned.condition(0)
    (array([ 4, 10,  6,  8]), (0, '=', 0.0))
    """

    data: Dataset
    n_rows: int
    columns: Integers
    """The features that can be cut."""
    nominal: Mask
    n_bins: Integers
    """The bins of each, without that of missing values."""
    n_named: Integers
    """The same without that of rare categories."""
    full: FullColumns
    listed: ListedColumns

    @classmethod
    def of(cls, data: Dataset, n_cuts: int, min_rows: int) -> "BinnedColumns":
        """Cut the columns of a data set, with so many rows on each side of a cut."""
        from labelrules.kernels.scorecard import cut_columns

        nominal = np.array([feature.is_nominal for feature in data.schema.features], dtype=np.bool_)
        index, _ = indexed_columns(data.X, nominal)
        bins = np.empty(len(index.entries), np.uint16)
        rest, n_bins, n_named = (np.zeros(len(index.start), np.int64) for _ in range(3))
        cut_columns(index, nominal, data.n_rows, n_cuts, min_rows, bins, rest, n_bins, n_named)
        chosen = np.flatnonzero(n_named > np.where(nominal, 0, 1))
        start, sizes = index.start[chosen], (index.stop - index.start)[chosen]
        rows = index.entries ^ (index.entries >> 31)
        return cls(
            data, data.n_rows, chosen, nominal[chosen], n_bins[chosen], n_named[chosen],
            _full(np.flatnonzero(sizes == data.n_rows), start, rows, bins, data.n_rows),
            _listed(np.flatnonzero(sizes < data.n_rows), start, sizes, rows, bins, rest[chosen]),
        )  # fmt: skip

    def take(self, chosen: Integers) -> "BinnedColumns":
        """The bins of some of the rows."""
        number = np.full(self.n_rows, -1, np.int32)
        number[chosen] = np.arange(len(chosen), dtype=np.int32)
        rows = number[self.listed.rows]
        kept = rows >= 0
        start = np.concatenate([[0], np.cumsum(kept)])[self.listed.start].astype(np.int64)
        bins = np.ascontiguousarray(self.full.bins[:, chosen])
        listed = self.listed._replace(start=start, rows=rows[kept], bins=self.listed.bins[kept])
        full = self.full._replace(bins=bins)
        return replace(self, n_rows=len(chosen), full=full, listed=listed)

    @cached_property
    def cells(self) -> Integers:
        """Where the bins of each column begin if all stand in one row, missing values included."""
        return _starts(self.n_bins + 1)

    @cached_property
    def candidates(self) -> Integers:
        """Where the conditions on each column begin."""
        return _starts(2 * np.where(self.nominal, self.n_named, self.n_bins - 1))

    def sums(self, packed: Integers) -> tuple[Integers, Integers]:
        """Sums over the rows of each bin, labels by cells, of two packed numbers."""
        from labelrules.kernels.scorecard import add_full, add_listed

        shape = (len(packed), int(self.cells[-1]))
        slopes, curves = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        full, listed = self._cells_and_sizes
        add_full(self.full.bins, *full, packed, slopes, curves)
        add_listed(*self.listed[1:], *listed, packed, slopes, curves)
        return slopes, curves

    @cached_property
    def _cells_and_sizes(self) -> tuple[tuple[Integers, Integers], tuple[Integers, Integers]]:
        """The first cells, and how many, of full and of listed columns."""
        full, listed = self.full.places, self.listed.places
        cells, sizes = self.cells, self.n_bins + 1
        return (cells[full], sizes[full]), (cells[listed], sizes[listed])

    @cached_property
    def n_covered(self) -> Integers:
        """For how many rows each condition holds; 0 if it only repeats another one."""
        from labelrules.kernels.scorecard import count_covered

        _, counts = self.sums(np.ones((1, self.n_rows), np.int64))
        found = np.zeros(int(self.candidates[-1]), np.int64)
        count_covered(self.cells, self.candidates, self.nominal, counts[0], found)
        return found

    def covered(self, candidate: int) -> Mask:
        """The rows for which a condition holds."""
        column, cut, second = self._place(candidate)
        bins = self._bins(column)
        inside = bins == cut if self.nominal[column] else bins <= cut
        return np.asarray(~inside & (bins < self.n_bins[column]) if second else inside)

    def condition(self, candidate: int) -> tuple[int, Any, float]:
        """The feature, operator and value of a condition; not after `take`.

        The threshold is the simplest that parts the bins.
        """
        column, cut, second = self._place(candidate)
        bins, feature = self._bins(column), int(self.columns[column])
        values: Floats = column_of(self.data.X, feature)
        if self.nominal[column]:
            return feature, "!=" if second else "=", float(values[bins == cut][0])
        above = values[(bins > cut) & (bins < self.n_bins[column])]
        ends = float(values[bins <= cut].max()), float(above.min())
        threshold = threshold_between(*ends, self.data.schema.features[feature])
        return feature, ">" if second else "<=", threshold

    def opposite(self, candidate: int) -> int:
        """The condition that holds where a condition does not, but for missing values."""
        column, cut, second = self._place(candidate)
        if self.nominal[column] and self.n_bins[column] == self.n_named[column] == 2:
            return int(self.candidates[column]) + 2 * (1 - cut) + second
        return candidate ^ 1

    def _place(self, candidate: int) -> tuple[int, int, bool]:
        column = int(np.searchsorted(self.candidates, candidate, "right")) - 1
        cut, second = divmod(candidate - int(self.candidates[column]), 2)
        return column, cut, bool(second)

    def _bins(self, column: int) -> Any:
        """The bin of each row."""
        place = int(np.searchsorted(self.full.places, column))
        if place < len(self.full.places) and self.full.places[place] == column:
            return self.full.bins[place]
        place = int(np.searchsorted(self.listed.places, column))
        found = np.full(self.n_rows, self.listed.rest[place], np.uint16)
        part = slice(self.listed.start[place], self.listed.start[place + 1])
        found[self.listed.rows[part]] = self.listed.bins[part]
        return found


def _full(places: Integers, start: Integers, rows: Any, bins: Bins, n_rows: int) -> FullColumns:
    by_row = np.empty((len(places), n_rows), np.uint16)
    for number, first in enumerate(start[places].tolist()):
        by_row[number, rows[first : first + n_rows]] = bins[first : first + n_rows]
    return FullColumns(places, by_row)


def _listed(
    places: Integers, start: Integers, sizes: Integers, rows: Any, bins: Bins, rest: Integers
) -> ListedColumns:
    ends = _starts(sizes[places])
    kept = np.repeat(start[places] - ends[:-1], sizes[places]) + np.arange(ends[-1])
    return ListedColumns(places, ends, rows[kept], bins[kept], rest[places])


def _starts(sizes: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
