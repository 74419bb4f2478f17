"""The kernels of `counting.cu`, called with arrays of CuPy; see ../README.md for the encodings."""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers

ROWS_OF_A_WORD = 32

PADDING = 128
"""Rows are padded to whole stretches of so many: 16 bytes of words, and codes read at once."""

MOST_OF_A_BYTE = 255
"""The greatest code of a byte; codes of two bytes are counted more slowly."""

THREADS = 256

BLOCKS = 1056
"""The most blocks, eight for each multiprocessor of the largest cards; more rows take turns."""

COUNTING_THREADS = 1024

GROUP, CELLS, LANES = 3, 256, 32
"""Columns that a block counts, cells of a column, and copies of each cell; as in `counting.cu`."""

COUNTING_BLOCKS = 528
"""About so many blocks count, if there are rows for them: twice what runs at a time."""

SHORTEST, LONGEST = 1 << 14, 1 << 20
"""Rows of a block that counts: below, adding up its cells takes longer; above, cells overflow."""


def n_padded(n_rows: int) -> int:
    """The number of rows with padding."""
    return -(-max(n_rows, 1) // PADDING) * PADDING


@cache
def _module() -> Any:
    import cupy

    source = files("labelrules.kernels.gpu").joinpath("counting.cu").read_text(encoding="utf-8")
    return cupy.RawModule(code=source, options=("--std=c++17",))


class GpuKernels:
    """The kernels, on the GPU that CuPy uses now.

    Columns, codes and sets of rows stay on the GPU; what is counted comes back as NumPy's arrays.
    Sets of rows are words, several of them a plane: sets by words. Planes of labels have a set for
    each label.
    """

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        self.functions: dict[str, Any] = {}

    def _run(self, name: str, blocks: Any, threads: int, *arguments: Any, shared: int = 0) -> None:
        function = self.functions.get(name)
        if function is None:
            function = self.functions[name] = _module().get_function(name)
            if shared:
                function.max_dynamic_shared_size_bytes = shared
        function(blocks, (threads,), arguments, shared_mem=shared)

    def _by_row(self, name: str, n_threads: int, *arguments: Any) -> None:
        """Run a kernel with a thread for each row or word, or for some one after the other."""
        blocks = min(max(1, -(-n_threads // THREADS)), BLOCKS)
        self._run(name, (blocks,), THREADS, *arguments)

    # ------------------------------------------------------------------ arrays

    def numbers(self, column: Any) -> Any:
        """A column of real numbers as float64 on the GPU, one after the other."""
        return self.cupy.ascontiguousarray(self.cupy.asarray(column, dtype=np.float64))

    def cells(self, labels: Any) -> Any:
        """Labels, rows by labels of int8, on the GPU."""
        return self.cupy.ascontiguousarray(self.cupy.asarray(labels, dtype=np.int8))

    def room_for_codes(self, n_columns: int, n_rows: int, most: int) -> Any:
        """Room for codes up to `most`, columns by rows with padding."""
        dtype = np.uint8 if most <= MOST_OF_A_BYTE else np.uint16
        return self.cupy.zeros((n_columns, n_padded(n_rows)), dtype)

    def room_for_sets(self, n_sets: int, n_rows: int) -> Any:
        """So many empty sets of rows."""
        return self.cupy.zeros((n_sets, n_padded(n_rows) // ROWS_OF_A_WORD), np.uint32)

    # ------------------------------------------------------------------ bins

    def sorted_keys(self, values: Any) -> Any:
        """The values of a column as integers of the same order, sorted; missing ones come last."""
        keys = self.cupy.empty(len(values), np.uint64)
        self._by_row("order_keys", len(values), values, len(values), keys)
        keys.sort()
        return keys

    def count_rises(self, keys: Any) -> tuple[int, int]:
        """How many keys are missing, and how often a greater one follows."""
        found = self.cupy.zeros(2, np.uint64)
        self._by_row("count_rises", len(keys), keys, len(keys), found)
        n_missing, n_rises = found.get().tolist()
        return n_missing, n_rises

    def rises(self, keys: Any, n_rises: int) -> Integers:
        """The places that a greater key follows, of which there are so many."""
        places, found = self.cupy.empty(n_rises, np.int64), self.cupy.zeros(1, np.uint64)
        self._by_row("list_rises", len(keys), keys, len(keys), found, places)
        return np.sort(places.get())

    def values_around(self, keys: Any, n_known: int, places: Integers) -> tuple[Floats, Floats]:
        """The values at some places, and the least greater ones; the same if there is none."""
        given, n_places = self.cupy.asarray(places, dtype=np.int64), len(places)
        low, high = self.cupy.empty((2, n_places), np.uint64)
        self._by_row("keys_around", n_places, keys, n_known, given, np.int32(n_places), low, high)
        return values_of_keys(low.get()), values_of_keys(high.get())

    def encode_numbers(self, values: Any, cuts: Floats, missing: int, codes: Any) -> None:
        """The bin of each value, how many cuts are below it; `missing` without one."""
        given = self.cupy.asarray(cuts, dtype=np.float64)
        self._by_row(
            f"encode_numbers_{_name(codes)}", len(values), values, len(values), given,
            np.int32(len(cuts)), np.int32(missing), codes,
        )  # fmt: skip

    def encode_categories(self, values: Any, missing: int, codes: Any) -> None:
        """The number of each category, `missing` where there is none."""
        self._by_row(
            f"encode_categories_{_name(codes)}", len(values), values, len(values),
            np.int32(missing), codes,
        )  # fmt: skip

    # ------------------------------------------------------------------ sets of rows

    def pack(self, cells: Any, label: int, value: int, found: Any) -> None:
        """The rows in which a label has a value."""
        n_rows, n_labels = cells.shape
        own = cells.reshape(-1)[label:]
        self._by_row(
            "pack", n_padded(n_rows), own, n_rows, n_labels, np.int32(value), found, len(found)
        )

    def every(self, n_rows: int) -> Any:
        """All rows."""
        words = np.zeros(n_padded(n_rows) // ROWS_OF_A_WORD, np.uint32)
        whole, rest = divmod(n_rows, ROWS_OF_A_WORD)
        words[:whole] = 0xFFFFFFFF
        if rest:
            words[whole] = (1 << rest) - 1
        return self.cupy.asarray(words)

    def common(self, rows: Any, others: Any, without: bool = False) -> Any:
        """The rows of one set that are in another, or that are not."""
        found = self.cupy.empty_like(rows)
        self._by_row("common", len(rows), rows, others, np.int32(without), found, len(rows))
        return found

    def narrow(
        self, rows: Any, codes: Any, low: int, high: int, outside: bool, missing: int
    ) -> Any:
        """The rows whose code is from `low` to `high`, or is not if `outside`.

        A missing value satisfies nothing.
        """
        found = self.cupy.empty_like(rows)
        limits = (np.int32(one) for one in (low, high, outside, missing))
        self._by_row(f"narrow_{_name(codes)}", len(codes), rows, codes, *limits, found, len(rows))
        return found

    def next_code(self, rows: Any, codes: Any, code: int, missing: int) -> int:
        """The least code above a code in some rows, `missing` if there is none."""
        least = self.cupy.full(1, missing, np.int32)
        self._by_row(
            f"next_code_{_name(codes)}", len(codes), rows, codes, np.int32(code),
            np.int32(missing), least, len(rows),
        )  # fmt: skip
        return int(least.get()[0])

    def write(self, rows: Any, value: int, unset: Any, ones: Any) -> None:
        """Write a label in some rows, in all of which it is unset."""
        self._by_row("write_rows", len(rows), rows, np.int32(value), unset, ones, len(rows))

    def row_marks(self, known: Any, truth: Any, ones: Any) -> tuple[Any, Any, Any]:
        """Three sets of rows: with labels of which none is present, decided, and written.

        Rows are decided if it is known whether they have a label, and written if one is written as
        present.
        """
        none, decided, written = self.room_for_sets(3, known.shape[1] * ROWS_OF_A_WORD)
        n_labels, n_words = known.shape
        self._by_row(
            "mark_rows", n_words, known, truth, ones, np.int32(n_labels), none, decided, written,
            n_words,
        )  # fmt: skip
        return none, decided, written

    # ------------------------------------------------------------------ counts

    def count_common(self, rows: Any, others: Any) -> int:
        """How many rows are in both sets."""
        total = self.cupy.zeros(1, np.uint64)
        self._by_row("count_common", len(rows), rows, others, total, len(rows))
        return int(total.get()[0])

    def count_states(
        self, rows: Any, counted: Any, positive: Any, unset: Any, ones: Any, labels: Integers
    ) -> Integers:
        """Rows, and positive ones, by what is written of some labels: unset, absent, present.

        `counted` and `positive` are planes of labels, or the same set for all labels.
        """
        found = self.cupy.zeros((len(labels), 3), np.uint64)
        if len(labels):
            n_words, given = len(rows), self.cupy.asarray(labels, dtype=np.int32)
            plane = n_words if counted.ndim == 2 else 0
            grid = min(max(1, -(-n_words // THREADS)), 128), len(labels)
            self._run(
                "count_states", grid, THREADS, rows, counted, positive, plane, unset, ones, given,
                found, n_words,
            )  # fmt: skip
        return np.asarray(found.get().view(np.int64))

    def count_codes(
        self, codes: Any, start: Integers, columns: Integers, rows: Any, positive: Any
    ) -> Integers:
        """The sums of some rows by the codes of some columns; those of other columns are 0."""
        table = self.cupy.zeros(int(start[-1]), np.uint64)
        n_columns, length = len(columns), codes.shape[1]
        given = [self.cupy.asarray(columns, dtype=np.int32), np.int32(n_columns)]
        given += [self.cupy.asarray(start, dtype=np.int64), rows, positive]
        if n_columns and codes.dtype == np.uint8:
            n_groups = -(-n_columns // GROUP)
            stretch = _stretch(length, n_groups)
            self._run(
                "count_codes_byte", (n_groups, -(-length // stretch)), COUNTING_THREADS, codes,
                length, *given, stretch, table, shared=4 * GROUP * CELLS * LANES,
            )  # fmt: skip
        elif n_columns:
            stretch = _stretch(length, n_columns)
            grid = n_columns, -(-length // stretch)
            self._run("count_codes_wide", grid, THREADS, codes, length, *given, stretch, table)
        return np.asarray(table.get().view(np.int64))


def _name(codes: npt.NDArray[Any]) -> str:
    """The name of the type of codes in `counting.cu`."""
    return "byte" if codes.dtype == np.uint8 else "wide"


def _stretch(length: int, n_groups: int) -> int:
    """The rows of each block, a multiple of those that its threads read at once."""
    step = 16 * COUNTING_THREADS
    wanted = length * n_groups // COUNTING_BLOCKS
    return min(max(-(-wanted // step) * step, SHORTEST), LONGEST)


def values_of_keys(keys: npt.NDArray[np.uint64]) -> Floats:
    """The numbers that keys stand for."""
    top = np.uint64(1 << 63)
    bits = np.where(keys & top, keys ^ top, ~keys)
    return np.asarray(bits.view(np.float64))
