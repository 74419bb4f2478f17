"""The kernels that apply rules on a GPU, in NumPy and row by row: `ApplyKernels`, said simply.

Sets of rows are arrays of words as on the GPU, but without padding: bits beyond the last row are 0.
"""

from contextlib import contextmanager, nullcontext
from unittest import mock

import numpy as np

from labelrules.kernels import device
from labelrules.scale.gpu.kernels import applying
from labelrules.scale.gpu.kernels.applying import DTYPES, n_words_of


def rows_of(words, n_rows):
    """For each row whether it is in a set; rows that do not exist are in none."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little").astype(bool)
    assert len(bits) == 32 * n_words_of(n_rows)
    assert not bits[n_rows:].any()
    return bits[:n_rows]


def words_of(rows):
    """The set of the rows that are true."""
    padded = np.zeros(32 * n_words_of(len(rows)), bool)
    padded[: len(rows)] = rows
    return np.packbits(padded, bitorder="little").view(np.uint32)


class OnFakeGpu:
    """An array that says it is in the memory of a GPU."""

    __cuda_array_interface__ = {}  # noqa: RUF012 - which says nothing: only the twin reads it

    def __init__(self, values):
        self.values = values
        self.shape = values.shape

    def __dlpack_device__(self):
        return 2, 0


class OnFakeDevice(np.ndarray):
    """An array of the twin, whose device is a context as in CuPy."""

    device = nullcontext()


def satisfies(x, operator, value, members):
    if operator == 0:
        return x <= value
    if operator == 1:
        return x > value
    if operator == 2:
        return x == value
    if operator == 3:
        return x == x and x != value
    return x in np.flatnonzero(members)


class NumpyApplyKernels:
    """The same methods as `ApplyKernels`, with arrays of NumPy."""

    room_on_gpu = 1 << 40
    n_sent = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def release(self):
        """Nothing is kept."""

    def free_bytes(self):
        return self.room_on_gpu

    def settle(self):
        pass

    def array(self, values):
        return np.array(values)

    def room(self, shape, dtype):
        return np.full(shape, 77, dtype)  # so that what is not written is seen

    def full(self, shape, value, dtype):
        return np.full(shape, value, dtype)

    def scattered(self, n_rows, rows, values):
        column = np.zeros(n_rows)
        column[rows] = values
        return column

    def close(self, cells):
        cells[cells < 0] = 0

    def read(self, flag):
        return int(flag[0])

    def send(self, arrays):
        NumpyApplyKernels.n_sent += sum(one.nbytes for one in arrays)
        return [np.array(one, order="C") for one in arrays]

    def receive(self, pairs):
        for one, into in pairs:
            assert one.dtype == into.dtype
            into[:] = one

    def test_atoms(self, columns, rules, n_rows, found, unfit):
        for number, column in enumerate(columns):
            assert column.dtype in DTYPES
            assert len(column) == n_rows
            if any(np.isinf(float(x)) or int(float(x)) != x for x in column.tolist() if x == x):
                infinite = np.isinf(column.astype(float)).any()
                large = column.dtype.kind in "iu" and any(abs(x) > 2**53 for x in column.tolist())
                if infinite or large:
                    unfit[0] = 1
            for atom in range(rules.atoms_of[number], rules.atoms_of[number + 1]):
                members = rules.member[rules.member_start[atom] : rules.member_start[atom + 1]]
                test = rules.operator[atom], rules.value[atom], members
                found[atom] = words_of([satisfies(x, *test) for x in column.astype(float)])

    def pack(self, cells, planes):
        for label, column in enumerate(cells.T):
            planes[0, label], planes[1, label] = words_of(column >= 0), words_of(column == 1)

    def unpack(self, planes, cells):
        for label in range(cells.shape[1]):
            written, present = (rows_of(plane[label], len(cells)) for plane in planes)
            cells[:, label] = np.where(written, present, -1)

    def run_list(self, rules, atoms, planes, seen, n_rows, writer, stopped):
        for row in range(n_rows):
            for rule in range(rules.n_rules):
                if self._covers(rules, rule, atoms, seen, row):
                    self._write(rules, rule, planes, row, writer)
                    if rules.stops[rule]:
                        if stopped is not None:
                            stopped[row] = rule
                        break

    def _write(self, rules, rule, planes, row, writer):
        word, bit = row // 32, np.uint32(1 << row % 32)
        for i in range(rules.head_start[rule], rules.head_start[rule + 1]):
            label = rules.head_label[i]
            if planes[0, label, word] & bit:
                continue
            planes[0, label, word] |= bit
            if rules.head_value[i]:
                planes[1, label, word] |= bit
            if writer is not None:
                writer[row, label] = rule

    def _covers(self, rules, rule, atoms, seen, row):
        def has(words):
            return bool(words[row // 32] >> np.uint32(row % 32) & np.uint32(1))

        for i in range(rules.look_start[rule], rules.look_start[rule + 1]):
            label = rules.look_label[i]
            cell = int(has(seen[1, label])) if has(seen[0, label]) else -1
            if cell != rules.look_value[i]:
                return False
        first, last = rules.atom_start[rule], rules.atom_start[rule + 1]
        return all(has(atoms[atom]) for atom in rules.atom[first:last])

    def cover_rows(self, rules, atoms, seen, n_rows, found):
        for rule in range(rules.n_rules):
            found[rule] = words_of(
                [self._covers(rules, rule, atoms, seen, row) for row in range(n_rows)]
            )

    def count_votes(self, rules, covered, points, cells):
        n_rows, n_labels = points.shape
        votes = np.zeros((2, n_rows, n_labels), np.int64)
        for label in range(n_labels):
            for i in range(rules.vote_start[label], rules.vote_start[label + 1]):
                rows = rows_of(covered[rules.vote_rule[i]], n_rows)
                votes[rules.vote_value[i], rows, label] += rules.vote_number[i]
        points[:] = votes[1] - votes[0]
        if cells is not None:
            decided = (cells < 0) & (votes.sum(axis=0) > 0)
            cells[decided] = (votes[1] > votes[0])[decided]

    def decide_rows(self, rules, points, at_least_one, cells):
        for row, own in enumerate(points.tolist()):
            chosen = {label for label, number in enumerate(own) if number > 0}
            if not chosen and at_least_one:
                chosen = {own.index(max(own))}
            best = sum(own[label] for label in chosen)
            sets = [
                rules.set_label[rules.set_start[s] : rules.set_start[s + 1]].tolist()
                for s in range(len(rules.bonus))
            ]
            totals = [
                sum(own[label] for label in one) + bonus
                for one, bonus in zip(sets, rules.bonus.tolist(), strict=True)
            ]
            if totals and max(totals) >= best:
                chosen = set(sets[totals.index(max(totals))])
            for label in range(len(own)):
                if cells[row, label] < 0:
                    cells[row, label] = label in chosen


@contextmanager
def fake_gpu(kernels=NumpyApplyKernels):
    """A GPU whose kernels are those of NumPy, while the context lasts."""
    with (
        mock.patch.object(device, "why_no_gpu", return_value=None),
        mock.patch.object(applying, "ApplyKernels", kernels),
        mock.patch.object(applying, "on_gpu", lambda X: X.values.view(OnFakeDevice)),
        mock.patch.object(applying, "in_host", lambda X: X.values),
    ):
        yield
