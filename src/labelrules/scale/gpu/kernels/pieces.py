"""Rules applied to many rows on a GPU, piece by piece; see kernels/README.md."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules.kernels.apply import FlatRules
from labelrules.kernels.device import DeviceError
from labelrules.scale.gpu.kernels import applying
from labelrules.scale.gpu.kernels.applying import DTYPES, OrderedAtoms, n_words_of, ordered_atoms

SENT = 1 << 25
"""Bytes that are sent together: few, so that copies overlap with kernels of other pieces."""

FEWEST, MOST = 1 << 12, 1 << 22
"""Rows of a piece: with fewer, starting kernels takes longer; with more, nothing is won."""

LANES = 8
"""Pieces that are on their way at once, if there are as many cores: each fills its memory alone."""

SHARE = 2
"""The part of the GPU's free memory that is not taken is one in so many."""


class TestedColumns(NamedTuple):
    """The columns that rules test, wherever they are."""

    n_rows: int
    row_bytes: int
    """Bytes that are sent for each row."""
    in_host: Callable[[int, int], list[Any]]
    """What is to be sent of some rows, from the first to before the last."""
    columns: Callable[[Any, Sequence[Any], int, int], list[Any]]
    """The tested columns of these rows on the GPU, by the kernels, from what was sent."""
    device: Any = nullcontext()
    """A context in which the GPU is used on which they are."""


def columns_in_host(X: npt.NDArray[Any], tested: Sequence[int]) -> TestedColumns:
    """Columns of a dense table; whole rows where picking their cells would take longer."""
    is_by_row = X.flags.c_contiguous and not X.flags.f_contiguous
    if is_by_row and X.shape[1] <= 4 * len(tested):
        return TestedColumns(
            len(X), X.shape[1] * X.itemsize, lambda first, last: [X[first:last]],
            lambda kernels, sent, first, last: [sent[0][:, column] for column in tested],
        )  # fmt: skip
    columns = [X[:, column] for column in tested]
    return TestedColumns(
        len(X), len(tested) * X.itemsize, lambda first, last: [one[first:last] for one in columns],
        lambda kernels, sent, first, last: list(sent),
    )  # fmt: skip


def columns_of_sparse(X: Any, tested: Sequence[int]) -> TestedColumns:
    """Columns of a table in host memory that stores only its non-zero entries, by columns."""
    ends = [(X.indptr[column], X.indptr[column + 1]) for column in tested]
    entries = [(X.indices[a:b], X.data[a:b]) for a, b in ends]

    def in_host(first: int, last: int) -> list[Any]:
        found = []
        for rows, values in entries:
            a, b = np.searchsorted(rows, [first, last])
            found += [rows[a:b] - first, values[a:b]]
        return found

    def columns(kernels: Any, sent: Sequence[Any], first: int, last: int) -> list[Any]:
        pairs = zip(sent[::2], sent[1::2], strict=True)
        return [kernels.scattered(last - first, rows, values) for rows, values in pairs]

    return TestedColumns(X.shape[0], 8 * len(tested), in_host, columns)


def columns_in_place(X: Any, names: Sequence[str], tested: Sequence[int]) -> TestedColumns | None:
    """Columns of a table of numbers on the GPU; None if it must be read in host memory."""
    if hasattr(X, "columns"):  # a frame of cuDF
        return _columns_of_frame(X, names, tested)
    array = applying.on_gpu(X)
    if array.dtype.kind == "f" and array.dtype.itemsize == 2:
        array = array.astype(np.float32)
    if array.ndim != 2 or array.shape[1] != len(names) or array.dtype not in DTYPES:
        return None
    return _on_gpu_already([array[:, column] for column in tested], len(array), array.device)


def _on_gpu_already(columns: Sequence[Any], n_rows: int, device: Any) -> TestedColumns:
    """Columns of which nothing is copied."""
    return TestedColumns(
        n_rows, 0, lambda first, last: [],
        lambda kernels, sent, first, last: [one[first:last] for one in columns], device,
    )  # fmt: skip


def _columns_of_frame(X: Any, names: Sequence[str], tested: Sequence[int]) -> TestedColumns | None:
    if list(X.columns) != list(names):
        return None
    chosen = [X[names[column]] for column in tested]
    if any(one.dtype not in DTYPES or one.null_count for one in chosen):
        return None
    arrays = [applying.on_gpu(one) for one in chosen]
    return _on_gpu_already(arrays, len(X), arrays[0].device if arrays else nullcontext())


def are_plain_numbers(X: Any, n_columns: int) -> bool:
    """Whether X is an array in host memory with so many columns of a type that kernels read."""
    is_plain = type(X) in (np.ndarray, np.memmap)
    return is_plain and X.ndim == 2 and X.shape[1] == n_columns and X.dtype in DTYPES


class WantedCells(NamedTuple):
    """What is known before, and arrays for the results; each may be missing, but for the board.

    `board` has the cells that are written before if `is_given`; `closed`: open cells become 0.
    """

    board: npt.NDArray[np.int8]
    is_given: bool = False
    reads: npt.NDArray[np.int8] | None = None
    closed: bool = False
    writer: npt.NDArray[np.int32] | None = None
    stopped: npt.NDArray[np.int32] | None = None
    points: npt.NDArray[np.int64] | None = None


class RulesOnGpu:
    """Rules that are applied to rows on a GPU.

    Parameters
    ----------
    rules : FlatRules
    ordered : bool
        Whether they are a list, not a set.
    n_labels : int
    """

    def __init__(self, rules: FlatRules, ordered: bool, n_labels: int) -> None:
        self.ordered, self.n_labels = ordered, n_labels
        self.decides_rows = len(rules.bonus) > 0 or rules.at_least_one
        self.at_least_one = rules.at_least_one
        self.in_host, self.tested = ordered_atoms(rules, n_labels)

    def apply(self, source: TestedColumns, wanted: WantedCells) -> bool:
        """Fill the arrays that are wanted; whether some number is one that no table may hold."""
        with source.device:
            kernels = self._lanes(source, wanted)
            try:
                return self._apply(kernels, source, wanted)
            finally:
                self.__dict__.pop("rules", None)
                for one in kernels:
                    one.release()

    def _apply(self, kernels: list[Any], source: TestedColumns, wanted: WantedCells) -> bool:
        first = kernels[0]
        n_rows = self._rows_of_a_piece(source, wanted, first.free_bytes() // SHARE, len(kernels))
        with first:
            first.settle()  # what others do on the GPU with rows that are there
            self.rules = OrderedAtoms(*(first.array(one) for one in self.in_host))
            unfit = [first.full(1, 0, np.int32) for _ in kernels]
            first.settle()
        free: SimpleQueue[tuple[Any, Any]] = SimpleQueue()
        for one in zip(kernels, unfit, strict=True):
            free.put(one)

        def work(start: int) -> None:
            own, flag = free.get()
            try:
                with own:
                    self._piece(
                        own, source, wanted, start, min(start + n_rows, source.n_rows), flag
                    )
            finally:
                free.put((own, flag))

        _in_threads(work, range(0, source.n_rows, n_rows), len(kernels))
        with first:
            return any(first.read(one) for one in unfit)

    def _lanes(self, source: TestedColumns, wanted: WantedCells) -> list[Any]:
        """The kernels, once for each piece that is on its way at the same time."""
        from joblib import cpu_count  # knows how many may be used

        n_bytes = source.row_bytes * source.n_rows + wanted.board.nbytes
        first = applying.ApplyKernels()
        least = FEWEST * self._row_bytes(source, wanted)
        room = first.free_bytes() // SHARE
        if room < least:
            raise DeviceError(
                f"the memory of the GPU is too small: {least / 1e6:.1f} MB are needed for "
                f"{FEWEST:,} rows, but {room / 1e6:.1f} MB can be used; end other programs that "
                "use it (nvidia-smi lists them), or set engine='cpu'"
            )
        n_lanes = min(LANES, cpu_count(), -(-n_bytes // SENT) or 1, room // least)
        return [first, *(applying.ApplyKernels() for _ in range(n_lanes - 1))]

    def _row_bytes(self, source: TestedColumns, wanted: WantedCells) -> int:
        """Bytes of the GPU that a row takes."""
        n_bits = len(self.in_host.operator) + 4 * self.n_labels
        n_bytes = source.row_bytes + 2 * self.n_labels + 4
        if wanted.writer is not None:
            n_bytes += 4 * self.n_labels + 4
        if not self.ordered:
            n_bits += self.in_host.n_rules
            n_bytes += 8 * self.n_labels
        return n_bytes + n_bits // 8 + 1

    def _rows_of_a_piece(
        self, source: TestedColumns, wanted: WantedCells, room: int, n_lanes: int
    ) -> int:
        """As many rows as are worth it and have room, a multiple of the fewest."""
        fit = room // n_lanes // self._row_bytes(source, wanted)
        worth = SENT // (source.row_bytes + self.n_labels)
        share = -(-source.n_rows // n_lanes)
        return max(FEWEST, min(fit, worth, MOST, share + FEWEST) // FEWEST * FEWEST)

    def _piece(
        self,
        kernels: Any,
        source: TestedColumns,
        wanted: WantedCells,
        first: int,
        last: int,
        unfit: Any,
    ) -> None:
        """Apply the rules to some rows."""
        boards = [wanted.board[first:last]] if wanted.is_given else []
        if wanted.reads is not None:
            boards.append(wanted.reads[first:last])
        given = source.in_host(first, last)
        sent = kernels.send([*boards, *given])
        boards, sent = sent[: len(boards)], sent[len(boards) :]
        n_rows, n_words = last - first, n_words_of(last - first)
        atoms = kernels.room((len(self.in_host.operator), n_words), np.uint32)
        columns = source.columns(kernels, sent, first, last)
        if columns:
            kernels.test_atoms(columns, self.rules, n_rows, atoms, unfit)
        reads = boards.pop() if wanted.reads is not None else None
        cells = boards.pop() if wanted.is_given else None
        step = self._list if self.ordered else self._vote
        pairs = step(kernels, atoms, cells, reads, wanted, slice(first, last))
        kernels.receive(pairs)

    def _list(
        self, kernels: Any, atoms: Any, cells: Any, reads: Any, wanted: WantedCells, rows: slice
    ) -> list[tuple[Any, Any]]:
        """Apply a list; returns arrays of the GPU and where their values are wanted."""
        n_rows = rows.stop - rows.start
        planes = self._planes(kernels, cells, n_rows)
        seen = planes if reads is None else self._planes(kernels, reads, n_rows)
        pairs = [
            (kernels.full(into[rows].shape, -1, np.int32), into[rows])
            for into in (wanted.writer, wanted.stopped)
            if into is not None
        ]
        noted = [one for one, _ in pairs] or (None, None)
        kernels.run_list(self.rules, atoms, planes, seen, n_rows, *noted)
        if cells is None:
            cells = kernels.room((n_rows, self.n_labels), np.int8)
        kernels.unpack(planes, cells)
        return [*pairs, self._cells(kernels, cells, wanted, rows)]

    def _vote(
        self, kernels: Any, atoms: Any, cells: Any, reads: Any, wanted: WantedCells, rows: slice
    ) -> list[tuple[Any, Any]]:
        """Let a set vote; see `_list`."""
        n_rows = rows.stop - rows.start
        seen = self._planes(kernels, cells if reads is None else reads, n_rows)
        covered = kernels.room((self.in_host.n_rules, n_words_of(n_rows)), np.uint32)
        kernels.cover_rows(self.rules, atoms, seen, n_rows, covered)
        points = kernels.room((n_rows, self.n_labels), np.int64)
        if wanted.points is not None:
            kernels.count_votes(self.rules, covered, points, None)
            return [(points, wanted.points[rows])]
        if cells is None:
            cells = kernels.full((n_rows, self.n_labels), -1, np.int8)
        kernels.count_votes(self.rules, covered, points, None if self.decides_rows else cells)
        if self.decides_rows:
            kernels.decide_rows(self.rules, points, self.at_least_one, cells)
        return [self._cells(kernels, cells, wanted, rows)]

    def _planes(self, kernels: Any, cells: Any, n_rows: int) -> Any:
        """What is written and present, by labels; nothing at first."""
        shape = 2, self.n_labels, n_words_of(n_rows)
        if cells is None:
            return kernels.full(shape, 0, np.uint32)
        planes = kernels.room(shape, np.uint32)
        kernels.pack(cells, planes)
        return planes

    def _cells(self, kernels: Any, cells: Any, wanted: WantedCells, rows: slice) -> tuple[Any, Any]:
        if wanted.closed:
            kernels.close(cells)
        return cells, wanted.board[rows]


def _in_threads(work: Callable[[int], None], pieces: Sequence[int], n_threads: int) -> None:
    """Do pieces of work, several at a time; after an error or Ctrl-C no further one is begun."""
    if n_threads == 1 or len(pieces) < 2:
        for piece in pieces:
            work(piece)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for _ in pool.map(work, pieces):
                pass
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
