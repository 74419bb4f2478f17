"""The kernels of `counting.cu`, called with arrays of CuPy; see kernels/README.md."""

from collections.abc import Sequence
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

SHARED_MEMORY = 97
"""What CUDA calls the most shared memory of a block: 64 KB on cards of 2018, more on later ones."""

COUNTING_BLOCKS = 528
"""About so many blocks count, if there are rows for them: twice what runs at a time."""

SHORTEST, LONGEST = 1 << 14, 1 << 20
"""Rows of a block that counts: below, adding up its cells takes longer; above, cells overflow."""


def n_padded(n_rows: int) -> int:
    """The number of rows with padding."""
    return -(-max(n_rows, 1) // PADDING) * PADDING


@cache
def module_of(name: str, *options: str) -> Any:
    """The compiled kernels of a file beside this one."""
    import cupy

    source = files("labelrules.scale.gpu.kernels").joinpath(name).read_text(encoding="utf-8")
    return cupy.RawModule(code=source, options=("--std=c++17", *options))


def columns_together(shared_memory: int) -> int:
    """How many columns a block counts that has so much shared memory."""
    return max(1, min(GROUP, shared_memory // (4 * CELLS * LANES)))


class CountedColumns:
    """Columns of codes of one type on the GPU, and where the sums of each begin."""

    def __init__(self, codes: Sequence[Any], start: Sequence[int], cupy: Any) -> None:
        self.codes, self.length = codes, codes[0].shape[0]
        self.is_byte = codes[0].dtype == np.uint8
        self.places = cupy.asarray([one.data.ptr for one in codes], dtype=np.uint64)
        self.start = cupy.asarray(start, dtype=np.int64)


class GpuKernels:
    """The kernels, on the GPU that CuPy uses now.

    Columns, codes and sets of rows stay on the GPU. Sets of rows are words, several of them a
    plane: sets by words. Planes of labels have a set for each label. Counts are added to numbers on
    the GPU, which `read` brings back, many at once.
    """

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        self.functions: dict[str, Any] = {}
        runtime = cupy.cuda.runtime
        shared = runtime.deviceGetAttribute(SHARED_MEMORY, runtime.getDevice())
        self.group = columns_together(shared)

    def _run(self, name: str, blocks: Any, threads: int, *arguments: Any, shared: int = 0) -> None:
        function = self.functions.get(name)
        if function is None:
            module = module_of("counting.cu", f"-DGROUP={self.group}")
            function = self.functions[name] = module.get_function(name)
            if shared:
                function.max_dynamic_shared_size_bytes = shared
        function(blocks, (threads,), arguments, shared_mem=shared)

    def _by_row(self, name: str, n_threads: int, *arguments: Any) -> None:
        """Run a kernel with a thread for each row or word, or for some one after the other."""
        blocks = min(max(1, -(-n_threads // THREADS)), BLOCKS)
        self._run(name, (blocks,), THREADS, *arguments)

    def release(self) -> None:
        """Give memory that is no longer used back to other programs."""
        self.cupy.get_default_memory_pool().free_all_blocks()

    # ------------------------------------------------------------------ arrays

    def numbers(self, column: Any) -> Any:
        """A column of real numbers as float64 on the GPU, one after the other."""
        return self.cupy.ascontiguousarray(self.cupy.asarray(column), dtype=np.float64)

    def room_for_numbers(self, n_columns: int, n_rows: int) -> Any:
        """Room for some columns of numbers, columns by rows."""
        return self.cupy.empty((n_columns, n_rows), np.float64)

    def scattered(self, n_rows: int, rows: Any, values: Any) -> Any:
        """A column whose numbers are 0 but for some rows."""
        column = self.cupy.zeros(n_rows, np.float64)
        column[self.cupy.asarray(rows)] = self.cupy.asarray(values, dtype=np.float64)
        return column

    def array(self, values: Any) -> Any:
        """An array of the same type on the GPU."""
        return self.cupy.asarray(values)

    def to_host(self, values: Any) -> npt.NDArray[Any]:
        """An array in host memory."""
        return np.asarray(self.cupy.asnumpy(values))

    def room_for_codes(self, n_rows: int, most: int) -> Any:
        """Room for the codes of a column, up to `most`, with padding."""
        dtype = np.uint8 if most <= MOST_OF_A_BYTE else np.uint16
        return self.cupy.zeros(n_padded(n_rows), dtype)

    def room_for_sets(self, n_sets: int, n_rows: int) -> Any:
        """So many empty sets of rows."""
        return self.cupy.zeros((n_sets, n_padded(n_rows) // ROWS_OF_A_WORD), np.uint32)

    def room_for_counts(self, size: int) -> Any:
        """So many numbers to which counts are added."""
        return self.cupy.zeros(size, np.uint64)

    def read(self, counts: Any) -> Integers:
        """Counts in host memory."""
        return np.asarray(counts.get().view(np.int64))

    # ------------------------------------------------------------------ bins

    def sorted_keys(self, values: Any) -> Any:
        """The values of a column as integers of the same order, sorted; missing ones come last."""
        keys = self.cupy.empty(len(values), np.uint64)
        self._by_row("order_keys", len(values), values, len(values), keys)
        keys.sort()
        return keys

    def count_rises(self, keys: Any) -> tuple[int, int]:
        """How many keys are missing, and how often a greater one follows."""
        found = self.room_for_counts(2)
        self._by_row("count_rises", len(keys), keys, len(keys), found)
        n_missing, n_rises = self.read(found).tolist()
        return n_missing, n_rises

    def rises(self, keys: Any, n_rises: int) -> Integers:
        """The places that a greater key follows, of which there are so many."""
        places, found = self.cupy.empty(n_rises, np.int64), self.room_for_counts(1)
        self._by_row("list_rises", len(keys), keys, len(keys), found, places)
        return np.sort(places.get())

    def values_around(self, keys: Any, n_known: int, places: Integers) -> tuple[Floats, Floats]:
        """The values at some places, and the least greater ones, or these where none is greater."""
        given, n_places = self.cupy.asarray(places, dtype=np.int64), len(places)
        low, high = self.cupy.empty((2, n_places), np.uint64)
        self._by_row("keys_around", n_places, keys, n_known, given, np.int32(n_places), low, high)
        return values_of_keys(low.get()), values_of_keys(high.get())

    def mix_cells(self, values: Any, into: Any) -> None:
        """The sum of the cells of a column, each mixed with its row, for fingerprints."""
        self._by_row("mix_cells", len(values), values, len(values), into)

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

    def pack(self, cells: Any, value: int, found: Any) -> None:
        """The rows in which a cell has a value; `cells` has one of int8 for each row."""
        n_rows = len(cells)
        stride = cells.strides[0]
        self._by_row(
            "pack", n_padded(n_rows), cells, n_rows, stride, np.int32(value), found, len(found)
        )

    def unpack(self, rows: Any, n_rows: int) -> npt.NDArray[np.bool_]:
        """For each row whether it is in a set, in host memory."""
        bits = self.cupy.unpackbits(rows.view(np.uint8), bitorder="little")[:n_rows]
        return np.asarray(bits.get().view(np.bool_))

    def every(self, n_rows: int) -> Any:
        """All rows."""
        return self.cupy.asarray(words_of_all(n_rows))

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

    def write(self, rows: Any, value: int, unset: Any, ones: Any) -> None:
        """Write a label in some rows, in all of which it is unset."""
        self._by_row("write_rows", len(rows), rows, np.int32(value), unset, ones, len(rows))

    def row_marks(self, known: Any, truth: Any, ones: Any) -> tuple[Any, Any, Any]:
        """Three sets of rows: with labels of which none is present, decided, and written.

        Rows are decided if it is known whether they have a label, and written if one is written as
        present.
        """
        n_labels, n_words = known.shape
        none, decided, written = self.cupy.zeros((3, n_words), np.uint32)
        self._by_row(
            "mark_rows", n_words, known, truth, ones, np.int32(n_labels), none, decided, written,
            n_words,
        )  # fmt: skip
        return none, decided, written

    # ------------------------------------------------------------------ counts

    def next_code(self, rows: Any, codes: Any, code: int, missing: int, into: Any) -> None:
        """The least code above a code in some rows, `missing` if there is none."""
        into.fill(missing)
        self._by_row(
            f"next_code_{_name(codes)}", len(codes), rows, codes, np.int32(code),
            np.int32(missing), into, len(rows),
        )  # fmt: skip

    def count_common(self, rows: Any, others: Any, into: Any) -> None:
        """How many rows are in both sets."""
        self._by_row("count_common", len(rows), rows, others, into, len(rows))

    def count_states(
        self, rows: Any, counted: Any, positive: Any, unset: Any, ones: Any, labels: Any, into: Any
    ) -> None:
        """Rows, and positive ones, by what is written of some labels: unset, absent, present.

        `counted` and `positive` are planes of labels, or the same set for all labels.
        """
        n_words = len(rows)
        plane = n_words if counted.ndim == 2 else 0
        grid = min(max(1, -(-n_words // THREADS)), 64), len(labels)
        self._run(
            "count_states", grid, THREADS, rows, counted, positive, plane, unset, ones, labels,
            into, n_words,
        )  # fmt: skip

    def columns(self, codes: Sequence[Any], start: Sequence[int]) -> CountedColumns:
        """Columns of codes of one type, whose sums begin at these places."""
        return CountedColumns(codes, start, self.cupy)

    def count_codes(self, columns: CountedColumns, rows: Any, positive: Any, into: Any) -> None:
        """The sums of some rows by the codes of some columns."""
        length, n_columns = columns.length, len(columns.codes)
        given = columns.places, length, np.int32(n_columns), columns.start, rows, positive
        if columns.is_byte:
            n_groups = -(-n_columns // self.group)
            stretch = _stretch(length, n_groups)
            self._run(
                "count_codes_byte", (n_groups, -(-length // stretch)), COUNTING_THREADS, *given,
                stretch, into, shared=4 * self.group * CELLS * LANES,
            )  # fmt: skip
        else:
            stretch = _stretch(length, n_columns)
            grid = n_columns, -(-length // stretch)
            self._run("count_codes_wide", grid, THREADS, *given, stretch, into)


def _name(codes: npt.NDArray[Any]) -> str:
    """The name of the type of codes in `counting.cu`."""
    return "byte" if codes.dtype == np.uint8 else "wide"


def _stretch(length: int, n_groups: int) -> int:
    """The rows of each block, a multiple of those that its threads read at once."""
    step = 16 * COUNTING_THREADS
    wanted = length * n_groups // COUNTING_BLOCKS
    return min(max(-(-wanted // step) * step, SHORTEST), LONGEST)


def words_of_all(n_rows: int) -> npt.NDArray[np.uint32]:
    """The set of all rows, without the padding."""
    words = np.zeros(n_padded(n_rows) // ROWS_OF_A_WORD, np.uint32)
    whole, rest = divmod(n_rows, ROWS_OF_A_WORD)
    words[:whole] = 0xFFFFFFFF
    if rest:
        words[whole] = (1 << rest) - 1
    return words


def values_of_keys(keys: npt.NDArray[np.uint64]) -> Floats:
    """The numbers that keys stand for."""
    top = np.uint64(1 << 63)
    bits = np.where(keys & top, keys ^ top, ~keys)
    return np.asarray(bits.view(np.float64))
