"""The columns of a data set, cut into a few bins each."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.table import column_of
from labelrules.rules import Condition
from labelrules.search.bodies.sorted_columns import SortedColumns, simplest_between

Bins = npt.NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """Which bin each row is in, for each column; see kernels/README.md.

    The conditions that part the bins are numbered, two for each cut or category.
    """

    data: Dataset
    n_rows: int
    n_bins: Integers
    """For each column its bins, without that of missing values."""
    n_named: Integers
    """Those of one category, for nominal columns."""
    nominal: Mask
    full_columns: Integers
    full: Bins
    """Columns by rows."""
    listed_columns: Integers
    start: Integers
    rows: npt.NDArray[np.int32]
    bins: Bins
    rest: Integers
    """The bin of rows that are not listed, for each listed column."""

    @classmethod
    def of(cls, data: Dataset, n_cuts: int, min_rows: int) -> "BinnedColumns":
        """Cut the columns of a data set, with so many rows on each side of a cut."""
        from labelrules.kernels.scorecard import cut_columns

        columns = SortedColumns.of(data)
        index, n_rows = columns.index, data.n_rows
        n_columns = len(index.start)
        bins = np.empty(len(index.entries), np.uint16)
        rest, n_bins, n_named = (np.zeros(n_columns, np.int64) for _ in range(3))
        nominal = columns.nominal > 0
        cut_columns(index, nominal, n_rows, n_cuts, min_rows, bins, rest, n_bins, n_named)
        rows = index.entries ^ (index.entries >> 31)
        sizes = index.stop - index.start
        useful = n_named > np.where(nominal, 0, 1)
        whole = np.flatnonzero(useful & (sizes == n_rows))
        full = np.empty((len(whole), n_rows), np.uint16)
        for number, column in enumerate(whole.tolist()):
            part = slice(index.start[column], index.stop[column])
            full[number, rows[part]] = bins[part]
        short = np.flatnonzero(useful & (sizes < n_rows))
        kept = np.concatenate(
            [np.arange(index.start[c], index.stop[c]) for c in short.tolist()]
            or [np.empty(0, np.int64)]
        )
        start = np.concatenate([[0], np.cumsum(sizes[short])]).astype(np.int64)
        return cls(
            data, n_rows, n_bins, n_named, nominal,
            whole, full, short, start, rows[kept], bins[kept], rest[short],
        )  # fmt: skip

    def take(self, chosen: Integers) -> "BinnedColumns":
        """The same bins for some of the rows."""
        number = np.full(self.n_rows, -1, np.int32)
        number[chosen] = np.arange(len(chosen), dtype=np.int32)
        rows = number[self.rows]
        kept = rows >= 0
        start = np.concatenate([[0], np.cumsum(kept)])[self.start].astype(np.int64)
        return replace(
            self, data=self.data.take(chosen), n_rows=len(chosen), full=np.ascontiguousarray(self.full[:, chosen]),
            start=start, rows=rows[kept], bins=self.bins[kept],
        )  # fmt: skip

    @cached_property
    def columns(self) -> Integers:
        """The columns that have conditions: those that list all rows, then the others."""
        return np.concatenate([self.full_columns, self.listed_columns])

    @cached_property
    def cells(self) -> Integers:
        """Where the bins of each of these columns begin, if all stand in one row."""
        return _starts(self.n_bins[self.columns] + 1)

    @cached_property
    def candidates(self) -> Integers:
        """Where the conditions of each of these columns begin."""
        n_cuts = self.n_bins[self.columns] - 1
        return _starts(2 * np.where(self.is_nominal, self.n_named[self.columns], n_cuts))

    @cached_property
    def is_nominal(self) -> Mask:
        """Which of these columns are nominal."""
        return self.nominal[self.columns]

    def sums(self, packed: Integers) -> tuple[Integers, Integers]:
        """Sums of slopes and curvatures over the rows of each bin: labels by cells."""
        from labelrules.kernels.scorecard import add_full, add_listed

        shape = (len(packed), int(self.cells[-1]))
        slopes, curves = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        n_full = len(self.full_columns)
        add_full(self.full, self.cells[: n_full + 1], packed, slopes, curves)
        listed = self.start, self.rows, self.bins, self.rest, self.cells[n_full:]
        add_listed(*listed, packed, slopes, curves)
        return slopes, curves

    @cached_property
    def n_covered(self) -> Integers:
        """For how many rows each condition holds; 0 for one that another one is equal to."""
        counts = self.sums(np.ones((1, self.n_rows), np.int64))[1][0]
        found = np.zeros(int(self.candidates[-1]), np.int64)
        for number in range(len(self.columns)):
            cells = counts[self.cells[number] : self.cells[number + 1] - 1]
            first, last = self.candidates[number], self.candidates[number + 1]
            n_named = (last - first) // 2
            inside = cells[:n_named] if self.is_nominal[number] else np.cumsum(cells)[:n_named]
            both = np.stack([inside, cells.sum() - inside], axis=1)
            if self.is_nominal[number] and len(cells) == 2 and n_named == 2:
                both[:, 1] = 0
            found[first:last] = both.ravel()
        return found

    def _place(self, candidate: int) -> tuple[int, int, bool]:
        number = int(np.searchsorted(self.candidates, candidate, "right")) - 1
        cut, second = divmod(candidate - int(self.candidates[number]), 2)
        return number, cut, bool(second)

    def covered(self, candidate: int) -> Mask:
        """The rows for which a condition holds."""
        number, cut, second = self._place(candidate)
        bins = self._bins(number)
        is_nominal = self.is_nominal[number]
        inside = bins == cut if is_nominal else bins <= cut
        if second:
            inside = ~inside & (bins < self.n_bins[self.columns[number]])
        return np.asarray(inside)

    def _bins(self, number: int) -> Any:
        n_full = len(self.full_columns)
        if number < n_full:
            return self.full[number]
        number -= n_full
        found = np.full(self.n_rows, self.rest[number], np.uint16)
        part = slice(self.start[number], self.start[number + 1])
        found[self.rows[part]] = self.bins[part]
        return found

    def condition(self, candidate: int) -> Condition:
        """A condition, its threshold the simplest that parts the bins."""
        number, cut, second = self._place(candidate)
        bins, column = self._bins(number), int(self.columns[number])
        values: Floats = column_of(self.data.X, column)
        if self.is_nominal[number]:
            return Condition(column, "!=" if second else "=", float(values[bins == cut][0]))
        above = values[(bins > cut) & (bins < self.n_bins[column])]
        threshold = simplest_between(float(values[bins <= cut].max()), float(above.min()))
        return Condition(column, ">" if second else "<=", threshold)


def _starts(sizes: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
