"""Bins and codes of a table on a GPU: columns sorted there, and kept there as far as they fit."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from labelrules._types import Board, Integers
from labelrules.data import DataError, DeviceError, Feature, Schema
from labelrules.data.codes.bins import MOST_BINS, Bins, ColumnBins, cut_ranks
from labelrules.data.fingerprints import Words
from labelrules.data.table import infinite
from labelrules.kernels.device import (
    forget_arrays,
    free_bytes,
    gpu_errors,
)
from labelrules.scale.gpu.kernels.counting import MOST_OF_A_BYTE, GpuKernels, n_padded

if TYPE_CHECKING:
    from labelrules.scale.gpu.counts import GpuFoilSearch, GpuRows

PIECE = 1 << 28
"""Bytes of rows that are sent to the GPU together, if they are not stored column by column."""

SORTING = 40
"""Bytes for each row that sorting a column takes: numbers, keys, and room to sort them."""


SETS_OF_A_LABEL, OTHER_SETS = 4, 16
"""Sets of rows that covering keeps on the GPU."""


def codes_on_gpu(X: Any, schema: Schema, n_bins: int) -> "tuple[Bins, GpuCodes]":
    """The bins of a table, and its codes on the GPU as far as its memory allows."""
    _refuse_many_categories(schema)
    with gpu_errors():
        kernels = GpuKernels()
        sets = SETS_OF_A_LABEL * schema.n_labels + OTHER_SETS
        room = free_bytes() * 9 // 10 - sets * n_padded(X.shape[0]) // 8
        # later the labels come where columns were sorted, and may take more
        room -= max(0, schema.n_labels + 8 - SORTING) * X.shape[0]
        needed = (SORTING + 8) * X.shape[0]
        if room < needed:
            raise DeviceError(
                f"the memory of the GPU is too small: {needed / 1e9:.2f} GB are needed to sort a "
                f"column of {X.shape[0]:,} rows, {max(room, 0) / 1e9:.2f} GB are free; end other "
                "programs that use it (nvidia-smi lists them), or set engine='cpu'"
            )
        try:
            return binned_on_gpu(X, schema, n_bins, kernels, room)
        except BaseException as error:
            forget_arrays(error)
            raise


def binned_on_gpu(
    X: Any, schema: Schema, n_bins: int, kernels: Any, room: int
) -> tuple[Bins, "GpuCodes"]:
    """The bins of a table, equal to `Bins.of`, and its codes, for which there are `room` bytes.

    Parameters
    ----------
    X : array, rows by columns
        In host memory or on the GPU, or sparse by columns.
    schema : Schema
    n_bins : int
        Into so many bins a numeric column is cut at most.
    kernels : GpuKernels
    room : int
        Bytes of the GPU for codes, and for columns while they are coded.
    """
    together = room // 4 if _is_by_row(X) else 0
    codes = GpuCodes(kernels, X.shape[0], X.shape[1], room - SORTING * X.shape[0] - together)
    columns = []
    values_of = columns_on_gpu(X, kernels, together)
    for feature, values in zip(schema.features, values_of, strict=True):
        keys = kernels.sorted_keys(values)
        n_missing, n_rises = kernels.count_rises(keys)
        n_known = len(values) - n_missing
        if feature.is_nominal:
            n_categories, n_values = len(feature.categories or ()), n_rises + (n_known > 0)
            found = ColumnBins.of_categories(n_categories, n_values, n_missing > 0)
        else:
            ends = _ends(keys, n_known, n_rises, n_bins, feature, kernels)
            found = ColumnBins.of_ends(ends, n_known, n_missing > 0, feature)
        del keys  # its memory is needed for the codes
        columns.append(found)
        codes.add(values, found, feature.is_nominal)
        kernels.mix_cells(values, codes.mixed[len(columns) - 1 :][:1])
    bins = Bins(schema, tuple(columns))
    codes.settle(bins.start)
    return bins, codes


def fingerprint_sums(kernels: Any, mixed: Any) -> Words:
    """What fingerprints have of some columns, from the GPU."""
    return np.asarray(kernels.read(mixed)).view(np.uint64)


def columns_on_gpu(X: Any, kernels: Any, room: int) -> Iterator[Any]:
    """The columns of a table as numbers on the GPU, one after the other."""
    n_rows, n_columns = X.shape
    if sparse.issparse(X):
        yield from _sparse_columns(X, kernels)
    elif _is_by_row(X):
        at_once = max(1, min(n_columns, room // max(1, 8 * n_rows)))
        for first in range(0, n_columns, at_once):
            yield from _columns_of_rows(X, first, min(first + at_once, n_columns), kernels)
    else:
        for at in range(n_columns):
            yield kernels.numbers(X[:, at])


def _is_by_row(X: Any) -> bool:
    """Whether rows of a table in host memory are sent, and not columns."""
    return isinstance(X, np.ndarray) and not X.flags.f_contiguous


def _refuse_many_categories(schema: Schema) -> None:
    for feature in schema.features:
        n_categories = len(feature.categories or ())
        if feature.is_nominal and n_categories > MOST_BINS:
            raise DeviceError(
                f"feature {feature.name!r} has {n_categories:,} categories, but a GPU counts "
                f"{MOST_BINS:,} at most: leave the feature out, or set engine='cpu'"
            )


def _sparse_columns(X: Any, kernels: Any) -> Iterator[Any]:
    for first, last in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield kernels.scattered(X.shape[0], X.indices[first:last], X.data[first:last])


def _columns_of_rows(X: Any, first: int, last: int, kernels: Any) -> Any:
    """Some columns of a table that is stored row by row; the rows are sent as they are."""
    n_rows = X.shape[0]
    columns = kernels.room_for_numbers(last - first, n_rows)
    step = max(1, PIECE // max(1, X.shape[1] * X.itemsize))
    for begin in range(0, n_rows, step):
        piece = kernels.array(np.ascontiguousarray(X[begin : begin + step]))
        columns[:, begin : begin + step] = piece[:, first:last].T
    return columns


def _ends(
    keys: Any, n_known: int, n_rises: int, n_bins: int, feature: Feature, kernels: Any
) -> list[tuple[float, float]]:
    """The values around each cut; see `labelrules.data.codes.bins.ends_of_sorted`."""
    if n_known == 0:
        return []
    if n_rises < n_bins:
        places = kernels.rises(keys, n_rises)
    else:
        places = np.array(cut_ranks(n_known, n_bins), dtype=np.int64) - 1
    ends = np.array([0, n_known - 1])
    low, high = kernels.values_around(keys, n_known, np.concatenate([ends, places]))
    if np.isinf(low[:2]).any():
        raise DataError(infinite(feature))
    low, first = np.unique(low[2:], return_index=True)
    pairs = zip(low.tolist(), high[2:][first].tolist(), strict=True)
    return [(below, above) for below, above in pairs if below < above]


class GpuCodes:
    """The codes of columns, on the GPU as far as they fit, else in host memory.

    Parameters
    ----------
    kernels : GpuKernels
    n_rows, n_columns : int
    room : int
        Bytes that codes may take on the GPU.
    """

    def __init__(self, kernels: Any, n_rows: int, n_columns: int, room: int) -> None:
        self.kernels, self.n_rows, self.room = kernels, n_rows, room
        self.mixed = kernels.room_for_counts(n_columns)
        self.kept: list[Any] = []
        self._on_gpu: list[bool] = []

    def add(self, values: Any, column: ColumnBins, is_nominal: bool) -> None:
        """Code the next column."""
        codes = self.kernels.room_for_codes(self.n_rows, column.n_bins)
        if is_nominal:
            self.kernels.encode_categories(values, column.n_bins, codes)
        else:
            cuts = np.array(column.cuts, dtype=np.float64)
            self.kernels.encode_numbers(values, cuts, column.n_bins, codes)
        self._on_gpu.append(codes.nbytes <= self.room)
        if self._on_gpu[-1]:
            self.room -= codes.nbytes
            self.kept.append(codes)
        else:
            self.kept.append(self.kernels.to_host(codes))

    def counts(
        self, bins: Bins, Y: Board, marked: Integers, board: Board | None = None
    ) -> "GpuRows":
        """The rows, which answer the questions of covering; `board` has what is written before."""
        from labelrules.scale.gpu.counts import GpuRows

        return GpuRows(bins, self, Y, marked, board)

    def foil_search(self, bins: Bins) -> "GpuFoilSearch":
        """A search for rules of one class in the rows."""
        from labelrules.scale.gpu.counts import GpuFoilSearch

        return GpuFoilSearch(bins, self)

    def settle(self, start: Integers) -> None:
        """All columns are coded; the sums of each begin at `start`."""
        self.start = start
        self._whole = self._columns([at for at, is_there in enumerate(self._on_gpu) if is_there])

    @property
    def column_sums(self) -> Words:
        """What fingerprints have of each column."""
        return fingerprint_sums(self.kernels, self.mixed)

    def close(self) -> None:
        """Let go of the codes, and give the memory of the GPU back."""
        self.kept.clear()
        self._whole = []
        self.kernels.release()

    def column(self, at: int) -> Any:
        """The codes of a column, on the GPU."""
        return self.kept[at] if self._on_gpu[at] else self.kernels.array(self.kept[at])

    def count(self, rows: Any, positive: Any, into: Any) -> None:
        """The sums of some rows by the codes of all columns."""
        for columns in self._whole:
            self.kernels.count_codes(columns, rows, positive, into)
        away = [at for at, is_there in enumerate(self._on_gpu) if not is_there]
        self._count_by_turns(away, rows, positive, into)

    def count_some(self, columns: Sequence[int], rows: Any, positive: Any, into: Any) -> None:
        """The sums of some rows by the codes of some columns."""
        self._count_by_turns(columns, rows, positive, into)

    def _count_by_turns(self, wanted: Sequence[int], rows: Any, positive: Any, into: Any) -> None:
        """Count a few columns at a time, those in host memory after they were sent."""
        at_once = max(1, PIECE // n_padded(self.n_rows))
        for first in range(0, len(wanted), at_once):
            for columns in self._columns(wanted[first : first + at_once]):
                self.kernels.count_codes(columns, rows, positive, into)

    def _columns(self, places: Sequence[int]) -> list[Any]:
        """Columns to be counted: those of bytes together, and those of two bytes."""
        codes = {at: self.column(at) for at in places}
        found = []
        for is_byte in (True, False):
            chosen = [at for at, one in codes.items() if (_most(one) == MOST_OF_A_BYTE) == is_byte]
            if chosen:
                starts = [int(self.start[at]) for at in chosen]
                found.append(self.kernels.columns([codes[at] for at in chosen], starts))
        return found


def _most(codes: Any) -> int:
    """The greatest code that the type of codes can hold."""
    return int(np.iinfo(codes.dtype).max)
