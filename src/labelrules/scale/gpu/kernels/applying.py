"""The kernels of `apply.cu`, called with arrays of CuPy; see kernels/README.md."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules.kernels.apply import FlatRules
from labelrules.kernels.device import free_bytes, why_no_gpu
from labelrules.kernels.device import on_gpu as on_gpu
from labelrules.scale.gpu.kernels.counting import BLOCKS, ROWS_OF_A_WORD, THREADS, module_of

TYPES = ("f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
"""The types that columns of numbers may have, as `number_at` in `apply.cu` counts them."""

DTYPES = tuple(np.dtype(name) for name in TYPES)

MOST_ROWS_OF_A_GRID = 65535
"""CUDA's limit on the second dimension of a grid."""

ALIGNED = 16
"""Arrays that are sent together begin at multiples of so many bytes."""

NULL = np.uint64(0)
"""A pointer to nothing."""


def n_words_of(n_rows: int) -> int:
    """The words of a set of rows."""
    return -(-n_rows // ROWS_OF_A_WORD)


class OrderedAtoms(NamedTuple):
    """Rules for the GPU: flat arrays whose atoms stand column by column; see `FlatRules`.

    Atoms of the c-th tested column stand from `atoms_of[c]` to `atoms_of[c + 1]`. The votes on a
    label stand from `vote_start[label]` on, in the order of the rules that cast them.
    """

    atoms_of: Any
    operator: Any
    value: Any
    member_start: Any
    member: Any
    atom_start: Any
    atom: Any
    look_start: Any
    look_label: Any
    look_value: Any
    head_start: Any
    head_label: Any
    head_value: Any
    stops: Any
    vote_start: Any
    vote_rule: Any
    vote_value: Any
    vote_number: Any
    set_start: Any
    set_label: Any
    bonus: Any

    @property
    def n_rules(self) -> int:
        """How many rules there are."""
        return len(self.stops)


def ordered_atoms(rules: FlatRules, n_labels: int) -> tuple[OrderedAtoms, list[int]]:
    """The rules for the GPU, and the columns that they test, in their order."""
    order = np.argsort(rules.column, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    tested, first = np.unique(rules.column[order], return_index=True)
    sizes = np.diff(rules.member_start)[order]
    members = [rules.member[rules.member_start[a] : rules.member_start[a + 1]] for a in order]
    by_label = np.argsort(rules.head_label, kind="stable")
    rule_of = np.repeat(np.arange(len(rules.stops)), np.diff(rules.head_start))
    found = OrderedAtoms(
        atoms_of=np.append(first, len(order)).astype(np.int64),
        operator=rules.operator[order],
        value=rules.value[order],
        member_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        member=np.concatenate([np.empty(0, np.bool_), *members]),
        atom_start=_small(rules.atom_start),
        atom=_small(place[rules.atom]),
        look_start=_small(rules.look_start),
        look_label=_small(rules.look_label),
        look_value=rules.look_value,
        head_start=_small(rules.head_start),
        head_label=_small(rules.head_label),
        head_value=rules.head_value,
        stops=rules.stops,
        vote_start=_small(np.searchsorted(rules.head_label[by_label], np.arange(n_labels + 1))),
        vote_rule=_small(rule_of[by_label]),
        vote_value=rules.head_value[by_label],
        vote_number=rules.head_votes[by_label],
        set_start=rules.set_start,
        set_label=rules.set_label,
        bonus=rules.bonus,
    )
    return found, tested.tolist()


def _small(numbers: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    return numbers.astype(np.int32)


def in_host(X: Any) -> Any:
    """An array in host memory; as it is if it cannot be brought there."""
    if why_no_gpu() is not None:
        return X
    import cupy

    return cupy.asnumpy(on_gpu(X))


class ApplyKernels:
    """The kernels, on the GPU that CuPy uses when they are made, in a stream of their own.

    One thread at a time may use them, within ``with kernels``. What they send and bring back goes
    through memory that is never paged out, so that copies and kernels of several streams overlap.
    """

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        module = module_of("apply.cu")
        names = "test_atoms pack_cells unpack_cells run_list cover_rows count_votes decide_rows"
        self.functions = {name: module.get_function(name) for name in names.split()}
        self.device = cupy.cuda.Device()
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self._sent = self._received = PinnedRoom()

    def __enter__(self) -> "ApplyKernels":
        self.device.__enter__()
        self.stream.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stream.__exit__(*error)
        self.device.__exit__(*error)

    def release(self) -> None:
        """Give back the memory of this stream, which no other one would use again."""
        with self.device:
            self.cupy.get_default_memory_pool().free_all_blocks(stream=self.stream)

    def free_bytes(self) -> int:
        """The free memory of the GPU."""
        return free_bytes()

    def settle(self) -> None:
        """Wait until all that was begun on the GPU is done."""
        self.device.synchronize()

    # ------------------------------------------------------------------ arrays

    def array(self, values: Any) -> Any:
        """An array of the same type on the GPU; one that is there is not copied."""
        return self.cupy.asarray(values)

    def room(self, shape: Any, dtype: Any) -> Any:
        """An array with any values."""
        return self.cupy.empty(shape, dtype)

    def full(self, shape: Any, value: int, dtype: Any) -> Any:
        """An array filled with one value."""
        return self.cupy.full(shape, value, dtype)

    def scattered(self, n_rows: int, rows: Any, values: Any) -> Any:
        """A column whose numbers are 0 but for some rows."""
        column = self.cupy.zeros(n_rows, np.float64)
        column[rows] = values
        return column

    def close(self, cells: Any) -> None:
        """Set open cells to 0, absent."""
        self.cupy.maximum(cells, 0, out=cells)

    def read(self, flag: Any) -> int:
        """A single number."""
        return int(flag[0])

    def send(self, arrays: Sequence[npt.NDArray[Any]]) -> list[Any]:
        """Arrays on the GPU, in C order; all together, once in each piece of work."""
        start, size = _starts(arrays)
        given = self._sent = self._sent.of(size, self.cupy)
        room = self.cupy.empty(size, np.uint8)
        for one, at in zip(arrays, start, strict=True):
            np.copyto(_part(given.bytes, at, one), one)
        self._copy(room.data.ptr, given.address, size, "memcpyHostToDevice")
        return [_part(room, at, one) for one, at in zip(arrays, start, strict=True)]

    def receive(self, pairs: Sequence[tuple[Any, npt.NDArray[Any]]]) -> None:
        """Bring arrays back into arrays of the same shape and type; wait for it."""
        start, size = _starts([into for _, into in pairs])
        given = self._received = self._received.of(size, self.cupy)
        for (one, _), at in zip(pairs, start, strict=True):
            self._copy(given.address + at, one.data.ptr, one.nbytes, "memcpyDeviceToHost")
        self.stream.synchronize()
        for (_, into), at in zip(pairs, start, strict=True):
            np.copyto(into, _part(given.bytes, at, into))

    def _copy(self, to: int, start: int, size: int, kind: str) -> None:
        runtime = self.cupy.cuda.runtime
        if size:
            runtime.memcpyAsync(to, start, size, getattr(runtime, kind), self.stream.ptr)

    # ------------------------------------------------------------------ kernels

    def _run(self, name: str, blocks: Any, *arguments: Any) -> None:
        self.functions[name](blocks, (THREADS,), arguments)

    def test_atoms(
        self, columns: Sequence[Any], rules: OrderedAtoms, n_rows: int, found: Any, unfit: Any
    ) -> None:
        """The rows that satisfy each atom; `unfit` becomes 1 if a number is none for a table."""
        places = self.cupy.asarray([one.data.ptr for one in columns], dtype=np.uint64)
        strides = self.cupy.asarray([one.strides[0] for one in columns], dtype=np.int64)
        types = self.cupy.asarray([DTYPES.index(one.dtype) for one in columns], dtype=np.int32)
        grid = _blocks(n_rows), min(len(columns), MOST_ROWS_OF_A_GRID)
        self._run(
            "test_atoms", grid, places, strides, types, np.int32(len(columns)), rules.atoms_of,
            rules.operator, rules.value, rules.member_start, rules.member, n_rows, found,
            n_words_of(n_rows), unfit,
        )  # fmt: skip

    def pack(self, cells: Any, planes: Any) -> None:
        """From cells, rows by labels, to planes of what is written and present."""
        n_rows, n_labels = cells.shape
        self._run(
            "pack_cells", (_blocks(n_rows),), cells, n_rows, np.int32(n_labels), planes[0],
            planes[1], n_words_of(n_rows),
        )  # fmt: skip

    def unpack(self, planes: Any, cells: Any) -> None:
        """From planes to cells; what is not written is -1."""
        n_rows, n_labels = cells.shape
        self._run(
            "unpack_cells", (_blocks(n_rows),), planes[0], planes[1], n_rows, np.int32(n_labels),
            cells, n_words_of(n_rows),
        )  # fmt: skip

    def run_list(
        self, rules: OrderedAtoms, atoms: Any, planes: Any, seen: Any, n_rows: int,
        writer: Any, stopped: Any,
    ) -> None:  # fmt: skip
        """Apply a list to planes, in place; conditions on labels are tested on those `seen`.

        `writer` and `stopped`, if they are given, receive the numbers of rules.
        """
        n_words = n_words_of(n_rows)
        self._run(
            "run_list", (_blocks(n_words),), np.int32(rules.n_rules), *_bodies(rules),
            rules.head_start, rules.head_label, rules.head_value, rules.stops, atoms, planes[0],
            planes[1], seen[0], seen[1], np.int32(planes.shape[1]), n_rows, n_words,
            NULL if writer is None else writer, NULL if stopped is None else stopped,
        )  # fmt: skip

    def cover_rows(
        self, rules: OrderedAtoms, atoms: Any, seen: Any, n_rows: int, found: Any
    ) -> None:
        """The rows that each rule covers."""
        n_words = n_words_of(n_rows)
        self._run(
            "cover_rows", (_blocks(n_words),), np.int32(rules.n_rules), *_bodies(rules), atoms,
            seen[0], seen[1], n_rows, found, n_words,
        )  # fmt: skip

    def count_votes(self, rules: OrderedAtoms, covered: Any, points: Any, cells: Any) -> None:
        """The points of each cell; they decide open cells with votes, if cells are given."""
        n_rows, n_labels = points.shape
        self._run(
            "count_votes", (_blocks(n_rows), min(n_labels, MOST_ROWS_OF_A_GRID)),
            rules.vote_start, rules.vote_rule, rules.vote_value, rules.vote_number, covered,
            np.int32(n_labels), n_rows, n_words_of(n_rows), points,
            NULL if cells is None else cells,
        )  # fmt: skip

    def decide_rows(self, rules: OrderedAtoms, points: Any, at_least_one: bool, cells: Any) -> None:
        """Decide the open labels of each row together."""
        n_rows, n_labels = points.shape
        self._run(
            "decide_rows", (_blocks(n_rows),), points, rules.set_start, rules.set_label,
            rules.bonus, np.int32(len(rules.bonus)), np.int32(at_least_one), np.int32(n_labels),
            n_rows, cells,
        )  # fmt: skip


def _starts(arrays: Sequence[npt.NDArray[Any]]) -> tuple[list[int], int]:
    """Where arrays begin that lie one after the other, and how many bytes they take."""
    *start, size = np.cumsum([0, *(-(-one.nbytes // ALIGNED) * ALIGNED for one in arrays)]).tolist()
    return start, size


def _part(room: Any, start: int, like: npt.NDArray[Any]) -> Any:
    """Some bytes as an array of the type and shape of another one."""
    return room[start : start + like.nbytes].view(like.dtype).reshape(like.shape)


def _blocks(n_threads: int) -> int:
    """Blocks with a thread for each row or word, or for some one after the other."""
    return min(max(1, -(-n_threads // THREADS)), BLOCKS)


def _bodies(rules: OrderedAtoms) -> Iterable[Any]:
    """The arguments of kernels that test bodies."""
    return rules.look_start, rules.look_label, rules.look_value, rules.atom_start, rules.atom


class PinnedRoom:
    """Host memory that is never paged out, which the GPU reads and writes by itself."""

    def __init__(self, size: int = 0, cupy: Any = None) -> None:
        self.size = size
        if size:
            self._memory = cupy.cuda.alloc_pinned_memory(size)
            self.address = self._memory.ptr
            self.bytes = np.frombuffer(self._memory, np.uint8, size)
        else:
            self.address, self.bytes = 0, np.empty(0, np.uint8)

    def of(self, size: int, cupy: Any) -> "PinnedRoom":
        """Itself if it has so many bytes, or a larger one."""
        return self if size <= self.size else PinnedRoom(size, cupy)
