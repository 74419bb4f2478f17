"""The contract of `RowCounts`: whoever counts rows gives the answers of a slow, obvious twin."""

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import UNSET
from labelrules.data.codes.bins import Bins
from labelrules.learners.covering.local_rows import LocalRows
from labelrules.learners.covering.row_counts import (
    BodyCounts,
    LabelTotals,
    PartedRows,
    WaitingTotals,
    WrittenCounts,
)
from labelrules.scale.dask.counts import ClusterRows, CodedPart, CodedRows
from labelrules.scale.files.counts import FiledRows
from labelrules.scale.gpu.codes import binned_on_gpu
from labelrules.scale.gpu.counts import GpuRows
from labelrules.search.bodies.code_tables import CodedStep
from tables import tables
from twins.gpu_kernels import NumpyKernels


class SlowRows:
    """Row by row and cell by cell."""

    def __init__(self, bins, codes, truth, marked, board):
        self.bins, self.codes, self.truth, self.marked = bins, codes.T.tolist(), truth.T, marked
        self.had_rules = board is not None
        self.board = np.full(self.truth.shape, UNSET) if board is None else board.T.copy()
        self.waits = None
        self.rows, self.labels = range(len(self.truth)), range(self.truth.shape[1])

    def holds(self, row, step):
        column, second, code, codes = step
        if column >= len(self.bins.columns):
            return self.board[row, column - len(self.bins.columns)] == code
        own, is_missing = self.codes[row][column], False
        is_missing = own == self.bins.columns[column].n_bins
        if codes:
            return own in codes
        if self.bins.nominal[column]:
            return (own != code and not is_missing) if second else own == code
        return (own > code and not is_missing) if second else own <= code

    def covered(self, steps):
        return [row for row in self.rows if all(self.holds(row, step) for step in steps)]

    def is_open(self, row, label):
        if self.truth[row, label] == UNSET:
            return False
        return self.board[row, label] == UNSET if self.waits is None else self.waits[row]

    def packed(self, rows, label, state=None):
        cells = [row for row in rows if self.truth[row, label] != UNSET]
        cells = [row for row in cells if state is None or self.board[row, label] == state]
        return (len(cells) << 32) + sum(int(self.truth[row, label] == 1) for row in cells)

    def table(self, rows, label):
        found = np.zeros(int(self.bins.start[-1]), np.int64)
        for row in rows:
            if self.is_open(row, label):
                for start, code in zip(self.bins.start, self.codes[row], strict=False):
                    found[start + code] += (1 << 32) + int(self.truth[row, label] == 1)
        return found

    def by_label(self, rows, label):
        found = np.zeros((len(self.labels), 3), np.int64)
        for tested in self.labels:
            if self.waits is None and (self.board[:, tested] != UNSET).any():
                for row in rows:
                    if self.is_open(row, label):
                        state = int(self.board[row, tested]) + 1
                        found[tested, state] += (1 << 32) + int(self.truth[row, label] == 1)
        return found

    def totals(self):
        known, *states = (
            np.array([self.packed(self.rows, label, state) for label in self.labels])
            for state in (None, UNSET, 0, 1)
        )
        return LabelTotals(len(self.rows), known, states[0], np.array(states[1:]))

    def written(self):
        if not self.had_rules:
            return np.empty(0, np.int64)
        return np.array([self.by_label(self.rows, label) for label in self.labels])

    def roots(self, labels):
        return np.array([self.table(self.rows, label) for label in labels])

    def body(self, label, steps):
        rows = self.covered(steps)
        present = np.zeros(int(self.bins.start[-1]) if len(self.marked) else 0, np.uint8)
        for row in rows:
            for column in self.marked:
                present[self.bins.start[column] + self.codes[row][column]] = 1
        return BodyCounts(self.table(rows, label), self.by_label(rows, label), present)

    def next_codes(self, steps):
        found = []
        for at, (column, _, code, _) in enumerate(steps):
            if column >= len(self.bins.columns) or self.bins.nominal[column]:
                found.append(-1)
                continue
            own = [self.codes[row][column] for row in self.covered(steps[:at])]
            found.append(min([*(c for c in own if c > code), self.bins.columns[column].n_bins]))
        return np.array(found, dtype=np.int64)

    def write(self, label, value, steps):
        next_codes = self.next_codes(steps)
        rows = [row for row in self.covered(steps) if self.board[row, label] == UNSET]
        others = np.array([self.packed(rows, other, UNSET) for other in self.labels])
        self.board[rows, label] = value
        return WrittenCounts(self.table(self.rows, label), others, next_codes)

    def wait(self):
        self.waits = ~(self.board == 1).any(axis=1)
        return self.waiting_totals(np.empty(0, np.int64))

    def waiting_totals(self, next_codes):
        rows = [row for row in self.rows if self.waits[row]]
        bare = [row for row in rows if (self.truth[row] == 0).all()]
        decided = [row for row in rows if row in bare or (self.truth[row] == 1).any()]
        cells = np.array([self.packed(rows, label) for label in self.labels])
        return WaitingTotals(len(decided), len(bare), cells, next_codes)

    def leave(self, steps):
        next_codes = self.next_codes(steps)
        self.waits[self.covered(steps)] = False
        return self.waiting_totals(next_codes)

    def bare(self, steps):
        rows = [row for row in self.covered(steps) if self.waits[row]]
        return sum(bool((self.truth[row] == 0).all()) for row in rows)

    def close(self):
        pass


class Workers:
    """Runs tasks at once; a part may be lost, and comes back as it was before it was asked."""

    def __init__(self, random):
        self.random = random

    def map(self, task, parts, *, pure, key, **given):
        for at in range(len(parts)):
            if self.random.random() < 0.3:
                parts[at] = pickle.loads(pickle.dumps(parts[at]))
        return [task(part, **given) for part in parts]

    def submit(self, task, *given, pure, key):
        return task(*given)

    def gather(self, level):
        return list(level)


def parts_of(random, codes, truth, board):
    """The rows in one to three parts."""
    n_rows, n_parts = truth.shape[1], random.randint(1, 3)
    numbers = np.array([random.randrange(n_parts) for _ in range(n_rows)])
    for number in np.unique(numbers):
        own = numbers == number
        kept = None if board is None else np.ascontiguousarray(board[:, own])
        yield np.ascontiguousarray(codes[:, own]), np.ascontiguousarray(truth[:, own]), kept


def in_memory(data, bins, codes, truth, marked, board, random, folder):
    return LocalRows(bins, codes, truth, marked, board=board, n_threads=random.randint(1, 2))


def in_parts(data, bins, codes, truth, marked, board, random, folder):
    parts = parts_of(random, codes, truth, board)
    rows = [LocalRows(bins, *own, marked, board=kept, room=0) for *own, kept in parts]
    return PartedRows(rows, n_threads=random.randint(1, 2))


def in_files(data, bins, codes, truth, marked, board, random, folder):
    rows = [
        FiledRows(bins, *own, marked, Path(folder, f"{at}"), random.random() < 0.5, kept)
        for at, (*own, kept) in enumerate(parts_of(random, codes, truth, board))
    ]
    return PartedRows(rows, random.randint(1, 2))


def on_a_gpu(data, bins, codes, truth, marked, board, random, folder):
    found, on_gpu = binned_on_gpu(data.X, data.schema, 4, NumpyKernels(), random.choice([0, 9999]))
    assert found == bins
    return GpuRows(bins, on_gpu, data.Y, marked, board)


def on_workers(data, bins, codes, truth, marked, board, random, folder):
    parts = parts_of(random, codes, truth, board)
    rows = [CodedPart(bins, CodedRows(*own), marked) for own in parts]
    return ClusterRows(Workers(random), rows)


def told(answer):
    """What an answer tells: of unwritten cells of labels that are tested nothing is asked."""
    if isinstance(answer, BodyCounts):
        return answer._replace(by_label=answer.by_label[:, 1:])
    return answer[:, :, 1:] if getattr(answer, "ndim", 0) == 3 else answer


def equal(one, other):
    if isinstance(one, tuple):
        return all(map(equal, one, other))
    return np.array_equal(one, other)


@st.composite
def conditions(draw, bins, label):
    """A condition on a code that may occur, on a set of categories, or on another label."""
    usable = [at for at, column in enumerate(bins.columns) if column.n_bins]
    labels = [at for at in range(bins.schema.n_labels) if at != label]
    column = draw(st.sampled_from([*usable, *(len(bins.columns) + at for at in labels)]))
    if column >= len(bins.columns):
        return CodedStep(column, 0, draw(st.integers(0, 1)))
    codes = st.integers(0, bins.columns[column].n_bins - 1)
    if bins.nominal[column] and draw(st.booleans()):
        chosen = tuple(sorted(draw(st.sets(codes, min_size=1))))
        return CodedStep(column, 0, chosen[0], chosen)
    return CodedStep(column, draw(st.integers(0, 1)), draw(codes))


@st.composite
def questions(draw, bins):
    """Rules that grow and are written, then last resorts."""
    labels = st.integers(0, bins.schema.n_labels - 1)
    asked = [("totals",), ("written",)]
    waits = False
    for _ in range(draw(st.integers(1, 5))):
        label = draw(labels)
        asked.append(("roots", draw(st.lists(labels, min_size=1, max_size=3))))
        can_test = any(column.n_bins for column in bins.columns) or bins.schema.n_labels > 1
        steps = draw(st.lists(conditions(bins, label), max_size=3)) if can_test else []
        asked += [("body", label, tuple(steps[:n])) for n in range(len(steps) + 1)]
        waits = waits or draw(st.integers(0, 3)) == 0
        if waits and ("wait",) not in asked:
            asked.append(("wait",))
        if waits:
            steps = [step for step in steps if step.column < len(bins.columns)]
            asked += [("bare", tuple(steps)), ("leave", tuple(steps))]
        else:
            asked.append(("write", label, draw(st.integers(0, 1)), tuple(steps)))
    return asked


@pytest.mark.parametrize("begun", [in_memory, in_parts, in_files, on_a_gpu, on_workers])
@settings(max_examples=60)
@given(
    tables(max_rows=16, max_features=4, unknown=True), st.data(),
    st.randoms(use_true_random=False), st.booleans(),
)  # fmt: skip
def test_answers_are_those_of_the_slow_twin(begun, data, drawn, random, has_rules):
    data = data.with_known_labels()
    bins = Bins.of(data, 4)
    codes, truth = bins.encode(data.X), np.ascontiguousarray(data.Y.T)
    marked = np.flatnonzero([random.random() < 0.5 for _ in bins.columns])
    board = None
    if has_rules and begun is not on_workers:  # no rules are kept there
        board = np.where([[random.random() < 0.3 for _ in row] for row in truth], 1, UNSET)
        board = board.astype(np.int8)
    twin = SlowRows(bins, codes, truth, marked, board)
    with TemporaryDirectory() as folder:
        rows = begun(data, bins, codes, truth, marked, board, random, folder)
        for name, *given_ in drawn.draw(questions(bins)):
            found, expected = (told(getattr(one, name)(*given_)) for one in (rows, twin))
            assert equal(found, expected), (name, given_)
        rows.close()
