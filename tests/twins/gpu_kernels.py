"""The kernels of a GPU in NumPy, row by row and without a GPU: what `GpuKernels` does, said simply.

Sets of rows are arrays of words as on the GPU, but each kernel makes rows of truth values of them
first. So the twin also takes sets with rows in their padding for an error.
"""

from types import SimpleNamespace

import numpy as np

from labelrules.data.fingerprints import column_sums
from labelrules.scale.gpu.kernels.counting import n_padded, words_of_all


def rows_of(words, n_rows=None):
    """For each row whether it is in a set."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
    return bits.astype(bool)[:n_rows]


def words_of(rows):
    """The set of the rows that are true."""
    padded = np.zeros(n_padded(len(rows)), bool)
    padded[: len(rows)] = rows
    return np.packbits(padded, bitorder="little").view(np.uint32)


class NumpyKernels:
    """The same methods as `GpuKernels`, with arrays of NumPy."""

    def release(self):
        """Nothing is kept."""

    def numbers(self, column):
        return np.array(column, dtype=np.float64)

    def room_for_numbers(self, n_columns, n_rows):
        return np.full((n_columns, n_rows), np.inf)

    def scattered(self, n_rows, rows, values):
        column = np.zeros(n_rows)
        column[rows] = values
        return column

    def array(self, values):
        return np.array(values)

    def to_host(self, values):
        return np.array(values)

    def room_for_codes(self, n_rows, most):
        return np.zeros(n_padded(n_rows), np.uint8 if most <= 255 else np.uint16)

    def room_for_sets(self, n_sets, n_rows):
        return np.zeros((n_sets, n_padded(n_rows) // 32), np.uint32)

    def room_for_counts(self, size):
        return np.zeros(size, np.uint64)

    def read(self, counts):
        return counts.view(np.int64).copy()

    # Keys are the numbers themselves here: their order is that of the GPU's keys.

    def sorted_keys(self, values):
        return np.sort(np.where(values == 0, 0.0, values))

    def count_rises(self, keys):
        known = keys[~np.isnan(keys)]
        return len(keys) - len(known), int((known[1:] > known[:-1]).sum())

    def rises(self, keys, n_rises):
        places = np.flatnonzero(keys[1:] > keys[:-1])
        assert len(places) == n_rises
        return places

    def values_around(self, keys, n_known, places):
        low = keys[places]
        above = np.searchsorted(keys[:n_known], low, side="right")
        return low, np.where(above < n_known, keys[np.minimum(above, n_known - 1)], low)

    def mix_cells(self, values, into):
        into += column_sums(values.reshape(-1, 1))

    def encode_numbers(self, values, cuts, missing, codes):
        found = [missing if v != v else sum(cut < v for cut in cuts) for v in values.tolist()]
        codes[: len(values)] = found

    def encode_categories(self, values, missing, codes):
        codes[: len(values)] = [missing if v != v else int(v) for v in values.tolist()]

    def pack(self, cells, value, found):
        found[:] = words_of(cells == value)

    def unpack(self, rows, n_rows):
        return rows_of(rows, n_rows)

    def every(self, n_rows):
        return words_of_all(n_rows)

    def common(self, rows, others, without=False):
        return words_of(rows_of(rows) & (rows_of(others) ^ without))

    def narrow(self, rows, codes, low, high, outside, missing):
        holds = ((codes >= low) & (codes <= high)) != outside
        return words_of(rows_of(rows) & holds & (codes != missing))

    def write(self, rows, value, unset, ones):
        assert not (rows_of(rows) & ~rows_of(unset)).any()
        unset &= ~rows
        if value:
            ones |= rows

    def row_marks(self, known, truth, ones):
        known, truth, ones = (
            np.array([rows_of(plane) for plane in p]) for p in (known, truth, ones)
        )
        none = (known & ~truth).all(axis=0)
        return words_of(none), words_of(none | truth.any(axis=0)), words_of(ones.any(axis=0))

    def next_code(self, rows, codes, code, missing, into):
        own = codes[rows_of(rows)]
        into[:] = min((int(one) for one in own if code < one < missing), default=missing)

    def count_common(self, rows, others, into):
        into += np.uint64((rows_of(rows) & rows_of(others)).sum())

    def count_states(self, rows, counted, positive, unset, ones, labels, into):
        for at, label in enumerate(labels):
            own = rows_of(rows) & rows_of(counted[label] if counted.ndim == 2 else counted)
            true_rows = rows_of(positive[label] if positive.ndim == 2 else positive)
            is_open, one = rows_of(unset[label]), rows_of(ones[label])
            for state, there in enumerate((is_open, ~is_open & ~one, one)):
                count = (int((own & there).sum()) << 32) + int((own & there & true_rows).sum())
                into[3 * at + state] += np.uint64(count)

    def columns(self, codes, start):
        assert len({(one.dtype, one.shape) for one in codes}) == 1
        return SimpleNamespace(codes=codes, start=start)

    def count_codes(self, columns, rows, positive, into):
        own, true_rows = rows_of(rows), rows_of(positive)
        for codes, start in zip(columns.codes, columns.start, strict=True):
            np.add.at(into, start + codes[own].astype(int), np.uint64(1 << 32))
            np.add.at(into, start + codes[own & true_rows].astype(int), np.uint64(1))
