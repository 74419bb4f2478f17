"""Rows of binned columns on a GPU, which answer the questions of covering and of FOIL by counts."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.codes.bins import Bins
from labelrules.kernels.device import gpu_errors
from labelrules.learners.covering.row_counts import (
    BodyCounts,
    LabelTotals,
    RowCounts,
    Steps,
    WaitingTotals,
    WrittenCounts,
)
from labelrules.scale.gpu.codes import GpuCodes, fingerprint_sums
from labelrules.search.bodies.code_tables import CodedStep
from labelrules.search.bodies.foil import (
    PRESENT,
    CodedFoilSearch,
    RandomDivision,
    keys_of_codes,
    logarithms,
)


class CoveredOnGpu(NamedTuple):
    """The open rows of a label that a body covers, as a set on the GPU."""

    label: int
    steps: Steps
    rows: Any


class GpuRows(RowCounts):
    """Answers `RowCounts` for rows on a GPU; the same as `LocalRows`.

    What is known, true, not yet written and written as present are four planes of labels. A
    question is a few kernels and one copy of their counts to the host.

    Parameters
    ----------
    bins : Bins
    codes : GpuCodes
        The codes of the rows by these bins.
    Y : array of int8, rows by labels
        1, 0, or -1 where it is unknown; in host memory.
    marked : array of int
        The columns for which it matters which codes occur; see `marked_columns`.
    board : array of int8, labels by rows, optional
        What rules that are kept have written.
    """

    def __init__(
        self,
        bins: Bins,
        codes: GpuCodes,
        Y: Board,
        marked: Integers,
        board: Board | None = None,
    ) -> None:
        self.bins, self.codes, self.kernels = bins, codes, codes.kernels
        self.marked = marked.tolist()
        self.n_rows, self.n_labels = Y.shape
        self.n_features, self.n_cells = len(bins.columns), int(bins.start[-1])
        self.missing = np.diff(bins.start) - 1
        self.had_rules = board is not None
        try:
            with gpu_errors():
                self._set_planes(Y, board)
        except BaseException:
            self.close()
            raise
        self.waiting: Any = None
        self._last: CoveredOnGpu | None = None

    def _set_planes(self, Y: Board, board: Board | None) -> None:
        kernels, n_rows, n_labels = self.kernels, self.n_rows, self.n_labels
        self.every = kernels.every(n_rows)
        self.known, self.truth, self.unset, self.ones = (
            kernels.room_for_sets(n_labels, n_rows) for _ in range(4)
        )
        cells, mixed = kernels.array(np.ascontiguousarray(Y)), kernels.room_for_counts(n_labels)
        for label in range(n_labels):
            kernels.mix_cells(kernels.numbers(cells[:, label]), mixed[label : label + 1])
            kernels.pack(cells[:, label], 1, self.truth[label])
            kernels.pack(cells[:, label], 0, self.known[label])
        self.label_sums = fingerprint_sums(kernels, mixed)
        self.known |= self.truth
        self.unset[:] = self.every
        self.is_written = np.zeros(n_labels, dtype=np.bool_)
        if board is not None:
            for label, own in enumerate(board):
                cells = kernels.array(np.ascontiguousarray(own))
                kernels.pack(cells, int(UNSET), self.unset[label])
                kernels.pack(cells, 1, self.ones[label])
            self.is_written = np.asarray((board != UNSET).any(axis=1))
        self.labels = kernels.array(np.arange(n_labels, dtype=np.int32))

    def ask(self, question: str, *given: Any) -> Any:
        """The answer to a question of `RowCounts`."""
        with gpu_errors():
            return getattr(self, f"_{question}")(*given)

    def close(self) -> None:
        """Let go of the memory of the GPU."""
        for name in ("every", "known", "truth", "unset", "ones", "labels", "waiting", "_last"):
            setattr(self, name, None)
        self.codes.close()

    def _totals(self) -> LabelTotals:
        is_open, *written = self._read_states(self.every, self.known, self.truth).T
        known = is_open + written[0] + written[1]
        return LabelTotals(self.n_rows, known, is_open, np.array(written))

    def _read_states(self, rows: Any, counted: Any, positive: Any) -> Integers:
        """For each label the sums of some rows by what is written: unset, absent, present."""
        counts = self.kernels.room_for_counts(3 * self.n_labels)
        self._count_states(rows, counted, positive, counts)
        return np.asarray(self.kernels.read(counts)).reshape(self.n_labels, 3)

    def _count_states(self, rows: Any, counted: Any, positive: Any, into: Any) -> None:
        self.kernels.count_states(rows, counted, positive, self.unset, self.ones, self.labels, into)

    def _written(self) -> Integers:
        if not self.had_rules:
            return np.empty(0, np.int64)
        found = np.zeros((self.n_labels, self.n_labels, 3), np.int64)
        for label in range(self.n_labels):
            states = self._read_states(self._open(label), self.every, self.truth[label])
            found[label, self.is_written] = states[self.is_written]
        return found

    def _open(self, label: int) -> Any:
        """The rows in which the cell of a label counts."""
        among = self.unset[label] if self.waiting is None else self.waiting
        return self.kernels.common(self.known[label], among)

    def _roots(self, labels: Sequence[int]) -> Integers:
        counts = self.kernels.room_for_counts(len(labels) * self.n_cells)
        tables = counts.reshape(len(labels), self.n_cells)
        for label, table in zip(labels, tables, strict=True):
            self.codes.count(self._open(label), self.truth[label], table)
        return np.asarray(self.kernels.read(counts)).reshape(len(labels), self.n_cells)

    def _body(self, label: int, steps: Steps) -> BodyCounts:
        rows, size = self._covered(label, steps), self.n_cells
        states = self.waiting is None and bool(self.is_written.any())
        counts = self.kernels.room_for_counts(size + 3 * self.n_labels)
        self.codes.count(rows, self.truth[label], counts[:size])
        if states:
            self._count_states(rows, self.every, self.truth[label], counts[size:])
        found = self.kernels.read(counts)
        by_label = found[size:].reshape(self.n_labels, 3)
        by_label[~self.is_written] = 0
        return BodyCounts(found[:size], by_label, self._present(steps))

    def _covered(self, label: int, steps: Steps) -> Any:
        """The open rows of a label that a body covers, from those that were counted last."""
        last = self._last
        if last is None or last.label != label or last.steps != steps[: len(last.steps)]:
            last = CoveredOnGpu(label, (), self._open(label))
        rows = last.rows
        for step in steps[len(last.steps) :]:
            rows = self._narrowed(rows, step)
        self._last = CoveredOnGpu(label, steps, rows)
        return rows

    def _narrowed(self, rows: Any, step: CodedStep) -> Any:
        """The rows of a set for which a condition holds."""
        column, second, code, codes = step
        if codes:
            return self._among(rows, column, codes)
        if column < self.n_features:
            low = code if self.bins.nominal[column] else 0
            return self.kernels.narrow(
                rows, self.codes.column(column), low, code, bool(second), int(self.missing[column])
            )
        label = column - self.n_features
        if code == 1:
            return self.kernels.common(rows, self.ones[label])
        written = self.kernels.common(rows, self.unset[label], without=True)
        return self.kernels.common(written, self.ones[label], without=True)

    def _among(self, rows: Any, column: int, codes: tuple[int, ...]) -> Any:
        """The rows of a set with one of some categories: all but those with none of them."""
        own, missing, others = self.codes.column(column), int(self.missing[column]), rows
        for low, high in _runs(codes):
            found = self.kernels.narrow(others, own, low, high, False, missing)
            others = self.kernels.common(others, found, without=True)
        return self.kernels.common(rows, others, without=True)

    def _present(self, steps: Steps) -> Any:
        """Which codes of marked columns occur in rows that a body covers, counted or not."""
        if not self.marked:
            return np.zeros(0, np.uint8)
        *_, rows = self._rows_by_step(steps)
        counts = self.kernels.room_for_counts(self.n_cells)
        self.codes.count_some(self.marked, rows, rows, counts)
        return (self.kernels.read(counts) > 0).astype(np.uint8)

    def _rows_by_step(self, steps: Steps) -> list[Any]:
        """All rows that the first 0, 1, ... conditions of a body cover."""
        found = [self.every]
        for step in steps:
            found.append(self._narrowed(found[-1], step))
        return found

    def _write(self, label: int, value: int, steps: Steps) -> WrittenCounts:
        kernels, size, n_labels, n_steps = self.kernels, self.n_cells, self.n_labels, len(steps)
        counts = kernels.room_for_counts(size + 3 * n_labels + n_steps + 1)
        states, ends = counts[size : size + 3 * n_labels], counts[size + 3 * n_labels :]
        rows = self._next_codes(steps, ends)
        rows = kernels.common(rows, self.unset[label])
        self._count_states(rows, self.known, self.truth, states)
        kernels.count_common(rows, self.every, ends[n_steps:])
        kernels.write(rows, value, self.unset[label], self.ones[label])
        self._last = None
        self.codes.count(self._open(label), self.truth[label], counts[:size])
        found = kernels.read(counts)
        others = found[size : size + 3 * n_labels : 3]
        self.is_written[label] |= bool(found[-1] > 0)
        next_codes = self._of_numbers(steps, found[size + 3 * n_labels : -1])
        return WrittenCounts(found[:size], others, next_codes)

    def _next_codes(self, steps: Steps, into: Any) -> Any:
        """Find the codes that follow those of numeric conditions; returns the covered rows."""
        rows = self.every
        for at, step in enumerate(steps):
            column, _, code, _ = step
            if self._is_number(column):
                own, missing = self.codes.column(column), int(self.missing[column])
                self.kernels.next_code(rows, own, code, missing, into[at : at + 1])
            rows = self._narrowed(rows, step)
        return rows

    def _is_number(self, column: int) -> bool:
        return column < self.n_features and not self.bins.nominal[column]

    def _of_numbers(self, steps: Steps, codes: Integers) -> Integers:
        """The codes that follow, -1 where a condition is not on numbers."""
        return np.where([self._is_number(step[0]) for step in steps], codes, -1).astype(np.int64)

    def _wait(self) -> WaitingTotals:
        marks = self.kernels.row_marks(self.known, self.truth, self.ones)
        self.bare_rows, self.decided_rows, written = marks
        self.waiting = self.kernels.common(self.every, written, without=True)
        return self._waiting_totals((), None)

    def _leave(self, steps: Steps) -> WaitingTotals:
        counts = self.kernels.room_for_counts(len(steps))
        rows = self._next_codes(steps, counts)
        self.waiting = self.kernels.common(self._waiting, rows, without=True)
        return self._waiting_totals(steps, counts)

    @property
    def _waiting(self) -> Any:
        if self.waiting is None:
            raise ValueError("rows leave only once they wait for a last resort: call wait first")
        return self.waiting

    def _waiting_totals(self, steps: Steps, next_codes: Any) -> WaitingTotals:
        self._last = None
        counts = self.kernels.room_for_counts(2)
        for at, rows in enumerate((self.decided_rows, self.bare_rows)):
            self.kernels.count_common(self._waiting, rows, counts[at : at + 1])
        n_decided, n_bare = self.kernels.read(counts).tolist()
        is_open = self._read_states(self._waiting, self.known, self.truth).sum(axis=1)
        codes = self.kernels.read(next_codes) if steps else np.empty(0, np.int64)
        return WaitingTotals(n_decided, n_bare, is_open, self._of_numbers(steps, codes))

    def _bare(self, steps: Steps) -> int:
        *_, rows = self._rows_by_step(steps)
        counts = self.kernels.room_for_counts(1)
        self.kernels.count_common(self.kernels.common(rows, self._waiting), self.bare_rows, counts)
        return int(self.kernels.read(counts)[0])


def _runs(codes: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """The first and the last code of each run of rising codes without a gap."""
    whole = np.array(codes)
    for run in np.split(whole, np.flatnonzero(np.diff(whole) > 1) + 1):
        yield int(run[0]), int(run[-1])


class GpuFoilSearch(CodedFoilSearch):
    """FOIL's search on codes that are counted on a GPU, for rows without weights.

    Rows come and go as bits; sums come back, and the best cut is found on the CPU.
    """

    def __init__(self, bins: Bins, codes: GpuCodes) -> None:
        self.bins, self.on_gpu, self.kernels = bins, codes, codes.kernels
        n_rows, columns = codes.n_rows, range(len(bins.columns))
        try:
            with gpu_errors():
                own = (self.kernels.to_host(codes.column(at))[:n_rows] for at in columns)
                keys = keys_of_codes(bins, own, n_rows)
        except BaseException:
            codes.close()
            raise
        RandomDivision.__init__(self, keys, bins.n_conditions, None, 1.0)
        self.logs = logarithms(n_rows + 1)

    def close(self) -> None:
        """Give the memory of the GPU back."""
        self.on_gpu.close()

    def _set_of(self, rows: Mask) -> Any:
        found = self.kernels.room_for_sets(1, self.n_rows)[0]
        self.kernels.pack(self.kernels.array(rows.view(np.int8)), 1, found)
        return found

    def grow(
        self, positive: Mask, covered: Mask, least: int, cuts: Integers | None = None
    ) -> Integers:
        """Add cuts to a rule, the best by FOIL's gain, while it covers negative rows."""
        from labelrules.kernels.ripper_codes import best_cut

        with gpu_errors():
            rows, right, added = self._set_of(covered), self._set_of(positive), list[Any]()
            while (table := self._table(rows, right)).size:
                inside = int(table[: self.bins.start[1]].sum())
                if inside & PRESENT >= inside >> 32:
                    break
                cut = best_cut(
                    table, self.bins.start, self.bins.nominal, inside, 1.0, least, self.logs
                )
                if cut[0] < 0:
                    break
                added.append(cut)
                rows = self._narrowed(rows, *cut)
        found = np.array(added, dtype=np.int64).reshape(-1, 3)
        return found if cuts is None else np.concatenate([cuts, found])

    def _table(self, rows: Any, positive: Any) -> Integers:
        """The sums of some rows by the codes of all columns."""
        counts = self.kernels.room_for_counts(int(self.bins.start[-1]))
        self.on_gpu.count(rows, positive, counts)
        return np.asarray(self.kernels.read(counts))

    def _narrowed(self, rows: Any, column: int, second: int, code: int) -> Any:
        """The rows of a set for which a cut holds."""
        missing = int(self.bins.start[column + 1] - self.bins.start[column]) - 1
        low, outside = (code, False) if self.bins.nominal[column] else (0, bool(second))
        return self.kernels.narrow(rows, self.on_gpu.column(column), low, code, outside, missing)

    def covered_by(
        self, cuts: Integers, held: Mask, positive: Mask
    ) -> tuple[Mask, Integers | Floats]:
        """The rows that the first 0, 1, ... cuts cover, and counts of those held out."""
        kernels, n = self.kernels, len(cuts) + 1
        with gpu_errors():
            held_out = self._set_of(held)
            right = kernels.common(held_out, self._set_of(positive))
            counts = kernels.room_for_counts(2 * n)
            rows, covered = kernels.every(self.n_rows), np.empty((n, self.n_rows), np.bool_)
            for at in range(n):
                if at:
                    rows = self._narrowed(rows, *cuts[at - 1].tolist())
                kernels.count_common(rows, held_out, counts[at : at + 1])
                kernels.count_common(rows, right, counts[n + at : n + at + 1])
                covered[at] = kernels.unpack(rows, self.n_rows)
            return covered, np.asarray(kernels.read(counts)).reshape(2, n)
