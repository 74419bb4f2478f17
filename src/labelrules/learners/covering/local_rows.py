"""Rows of binned columns in memory, which answer the questions of covering by counts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.codes.bins import Bins, Codes
from labelrules.data.weights import cell_units
from labelrules.learners.covering.row_counts import (
    BodyCounts,
    LabelTotals,
    PartedRows,
    RowCounts,
    Steps,
    WaitingTotals,
    WrittenCounts,
)
from labelrules.rules import Theory
from labelrules.search.bodies.code_tables import CodedStep

ROOM = 1 << 30
"""Bytes of tables that are kept; of more labels and bins each is counted when it is asked for."""

STRETCH = 1 << 18
"""Rows that are counted together: what is noted of them stays in the processor's cache."""

ONE_CELL, ONE_LABEL = np.array([1 << 32]), np.array([1])
"""The sum of each row if its cell counts, and what it is more if the label is present."""

WORTH_A_THREAD = 2_000_000
"""Codes to count below which another thread costs more than it saves."""


TOGETHER = 5
"""Labels whose states have a number together, below 3^5: it fits into a byte, as a code does."""

STATES = np.arange(3**TOGETHER)[:, np.newaxis] // 3 ** np.arange(TOGETHER) % 3
"""The states of labels that each number stands for: unset, absent and present are 0, 1 and 2."""

IN_STATE = (STATES[:, :, np.newaxis] == np.arange(3)).reshape(3**TOGETHER, -1).astype(np.int64)
"""For each number whether its labels are in their states: a product with it adds up sums."""


def label_bytes(n_labels: int) -> int:
    """Bytes that the labels of a row take: truth and board one each, states one for five."""
    return 2 * n_labels - -n_labels // TOGETHER


@dataclass
class _Covered:
    """The open cells of one label in the rows that a body covers, and all other covered rows.

    The latter only where it matters which codes occur in them. `table` is None if not yet counted.
    """

    label: int
    steps: Steps
    rows: npt.NDArray[np.int32]
    others: npt.NDArray[np.int32]
    table: Integers | None = None


class LocalRows(RowCounts):
    """Answers `RowCounts` for rows in memory; the codes are shared, never copied or written.

    Parameters
    ----------
    bins : Bins
    codes : array, columns by rows
        The codes of the rows by these bins.
    truth : array of int8, labels by rows
        1, 0, or -1 where it is unknown.
    marked : array of int
        The columns for which it matters which codes occur; see `marked_columns`.
    weight : array of int32, labels by rows, optional
        The weights of known cells in units, 0 where the truth is unknown.
    row_weight : array of int, optional
        The weights of rows in units, with `weight`.
    board : array of int8, labels by rows, optional
        What rules that are kept have written; it is written on.
    n_threads : int, default=1
        Threads that count columns side by side.
    room : int
        Bytes of tables that may be kept.
    """

    def __init__(
        self,
        bins: Bins,
        codes: Codes,
        truth: Board,
        marked: Integers,
        *,
        weight: npt.NDArray[np.int32] | None = None,
        row_weight: Integers | None = None,
        board: Board | None = None,
        n_threads: int = 1,
        room: int = ROOM,
    ) -> None:
        self.room = room
        self.codes, self.truth, self.marked = codes, truth, marked
        self.start, self.nominal, self.n_features = bins.start, bins.nominal, len(bins.columns)
        self.missing = np.diff(bins.start) - 1
        self.n_labels, self.n_rows = truth.shape
        self.weight, self.row_weight = weight, row_weight
        self.had_rules = board is not None
        self.board: Board = np.full_like(truth, UNSET) if board is None else board
        self.states = np.zeros((-(-self.n_labels // TOGETHER), self.n_rows), np.uint8)
        self.places: dict[int, int] = {}
        """Where in `states` a label is: labels have places once they are written in some row."""
        if board is not None:
            self._note_rules()
        self.waiting: Mask | None = None
        self.tables: dict[int, Integers] = {}
        self.body_counted: _Covered | None = None
        self.base: Integers | None = None
        edges = np.linspace(0, self.n_features, n_threads + 1).astype(int).tolist()
        self.chunks = list(pairwise(edges))
        self.pool = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None

    def ask(self, question: str, *given: Any) -> Any:
        """The answer to a question of `RowCounts`."""
        return getattr(self, f"_{question}")(*given)

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)

    @cached_property
    def every(self) -> npt.NDArray[np.int32]:
        """The numbers of all rows."""
        return np.arange(self.n_rows, dtype=np.int32)

    def _totals(self) -> LabelTotals:
        every = self._packed(lambda label: None)
        is_open, *written = (self._packed(partial(self._holds, v)) for v in (int(UNSET), 0, 1))
        return LabelTotals(self.n_rows, every, is_open, np.array(written))

    def _holds(self, value: int, label: int) -> Mask:
        """The rows in which a value is written for a label."""
        return np.asarray(self.board[label] == value)

    def _packed(self, rows_of: Callable[[int], Mask | None]) -> Integers:
        """For each label the known cells of some rows (None: all), and the present ones of them.

        Label by label, so that it takes little memory.
        """
        found = np.zeros(self.n_labels, np.int64)
        for label in range(self.n_labels):
            truth, rows = self.truth[label], rows_of(label)
            for value in (0, 1):
                cells = truth == value if rows is None else rows & (truth == value)
                if self.weight is None:
                    n_cells = int(np.count_nonzero(cells))
                else:
                    n_cells = int(self.weight[label][cells].sum(dtype=np.int64))
                found[label] += (n_cells << 32) + value * n_cells
        return found

    def _written(self) -> Integers:
        if not self.had_rules:
            return np.empty(0, np.int64)
        found = np.zeros((self.n_labels, self.n_labels, 3), np.int64)
        for label in range(self.n_labels):
            rows = self._open(label)
            found[label] = self._by_label(label, rows)
        return found

    def _roots(self, labels: Any) -> Integers:
        found = np.empty((len(labels), int(self.start[-1])), np.int64)
        for at, label in enumerate(labels):
            found[at] = self._root(int(label))
        return found

    def _root(self, label: int) -> Integers:
        if label in self.tables:
            return self.tables[label]
        table = self._count_root(label)
        if 8 * self.n_labels * table.size <= self.room:
            self.tables[label] = table
        return table

    def _count_root(self, label: int) -> Integers:
        """Count the open cells of a label: those that are present, and all, or all others."""
        rows = self._open(label)
        if self.weight is not None:
            return self._count(rows, self._sums(label, rows))
        counted = self.every if self.waiting is None else np.flatnonzero(self.waiting)
        if 2 * len(rows) < len(counted):
            return self._count(rows, self._sums(label, rows))
        if self.base is None:
            self.base = self._count(counted, ONE_CELL)
        table = self.base.copy()
        if len(rows) < len(counted):
            is_counted = np.zeros(self.n_rows, dtype=np.bool_)
            is_counted[counted] = True
            is_counted[rows] = False
            closed = np.flatnonzero(is_counted).astype(np.int32)
            table -= self._count(closed, ONE_CELL)
        present = rows[self.truth[label, rows] == 1]
        return table + self._count(present, ONE_LABEL)

    def _open(self, label: int) -> npt.NDArray[np.int32]:
        """The rows in which the cell of a label counts."""
        from labelrules.kernels.covering.tables import open_rows

        waiting = np.empty(0, np.bool_) if self.waiting is None else self.waiting
        rows = np.empty(self.n_rows + 1, np.int32)
        return rows[: open_rows(self.board[label], self.truth[label], waiting, rows)]

    def _sums(self, label: int, rows: npt.NDArray[np.int32]) -> Integers:
        """The two counts of each row as one number."""
        from labelrules.kernels.covering.tables import sums_of

        weights = np.empty(0, np.int32) if self.weight is None else self.weight[label]
        sums = np.empty(len(rows), np.int64)
        sums_of(self.truth[label], weights, rows, sums)
        return sums

    def _count(self, rows: npt.NDArray[Any], sums: Integers) -> Integers:
        """The sums of some rows, or the sum of each, by the codes of all columns."""
        from labelrules.kernels.covering.tables import add_rows

        table = np.zeros(int(self.start[-1]), np.int64)
        add = partial(add_rows, self.codes, self.start)
        rest = rows.astype(np.int32, copy=False), sums, table
        if self.pool is None or len(rows) * self.n_features < WORTH_A_THREAD:
            add(0, self.n_features, *rest)
            return table
        waiting = [self.pool.submit(add, *chunk, *rest) for chunk in self.chunks[1:]]
        add(*self.chunks[0], *rest)
        for job in waiting:
            job.result()
        return table

    def _body(self, label: int, steps: Steps) -> BodyCounts:
        covered = self._covered(label, steps)
        if covered.table is None:
            covered.table = self._count(covered.rows, self._sums(label, covered.rows))
        by_label = self._by_label(label, covered.rows)
        return BodyCounts(covered.table, by_label, self._present(covered))

    def _covered(self, label: int, steps: Steps) -> _Covered:
        """The covered rows, from those that were counted last if these have the first steps."""
        last = self.body_counted
        if last is None or last.label != label or last.steps != steps[: len(last.steps)]:
            rows = self._open(label)
            others = rows[:0]
            if len(self.marked):
                is_other = np.ones(self.n_rows, dtype=np.bool_)
                is_other[rows] = False
                others = np.flatnonzero(is_other).astype(np.int32)
            last = _Covered(label, (), rows, others, self.tables.get(label))
        for step in steps[len(last.steps) :]:
            last = self._narrowed(last, step, is_last=len(last.steps) + 1 == len(steps))
        self.body_counted = last
        return last

    def _narrowed(self, before: _Covered, step: CodedStep, is_last: bool) -> _Covered:
        """One condition more; where few rows are left out, they are counted instead."""
        label, table = before.label, None
        rows, rest = self._divided(before.rows, step)
        if is_last and before.table is not None and len(rest) < len(rows):
            table = before.table - self._count(rest, self._sums(label, rest))
        others, _ = self._divided(before.others, step)
        return _Covered(label, (*before.steps, step), rows, others, table)

    def _divided(
        self, rows: npt.NDArray[np.int32], step: CodedStep
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The rows for which a condition holds, and the others."""
        from labelrules.kernels.covering.tables import keep_cells, keep_codes, keep_members

        column, second, code, codes = step
        kept, rest = np.empty((2, len(rows) + 1), np.int32)
        if column >= self.n_features:
            n_kept = keep_cells(self.board[column - self.n_features], rows, code, kept, rest)
        elif codes:
            is_member = np.zeros(self.missing[column] + 1, dtype=np.bool_)
            is_member[list(codes)] = True
            n_kept = keep_members(self.codes[column], rows, is_member, kept, rest)
        else:
            low = code if self.nominal[column] else 0
            n_kept = keep_codes(
                self.codes[column], rows, low, code, bool(second), self.missing[column], kept, rest
            )
        return kept[:n_kept], rest[: len(rows) - n_kept]

    def _by_label(self, label: int, rows: npt.NDArray[np.int32]) -> Integers:
        """The sums of some rows by what is written of each label that is written in some row."""
        from labelrules.kernels.covering.tables import add_rows

        found = np.zeros((self.n_labels, 3), np.int64)
        if self.waiting is None and self.places:
            n_used = -(-len(self.places) // TOGETHER)
            table = np.zeros((n_used, len(STATES)), np.int64)
            start = np.arange(n_used + 1) * len(STATES)
            add_rows(self.states, start, 0, n_used, rows, self._sums(label, rows), table.ravel())
            by_place = (table @ IN_STATE).reshape(-1, 3)
            found[list(self.places)] = by_place[: len(self.places)]
        return found

    def _note_rules(self) -> None:
        """Note what rules that are kept have written."""
        for label, value in np.ndindex(self.n_labels, 2):
            if (rows := np.flatnonzero(self._holds(value, label))).size:
                self._note_written(label, value, rows)

    def _note_written(self, label: int, value: int, rows: Integers) -> None:
        place, among = divmod(self.places.setdefault(label, len(self.places)), TOGETHER)
        self.states[place, rows] += np.uint8((value + 1) * 3**among)

    def _present(self, covered: _Covered) -> npt.NDArray[np.uint8]:
        from labelrules.kernels.covering.tables import mark_present

        present = np.zeros(int(self.start[-1]) if len(self.marked) else 0, np.uint8)
        if len(self.marked):
            for rows in (covered.rows, covered.others):
                mark_present(self.codes, self.start, self.marked, rows, present)
        return present

    def _write(self, label: int, value: int, steps: Steps) -> WrittenCounts:
        from labelrules.kernels.covering.tables import add_open

        table = self._root(label) - self._body(label, steps).table
        self.body_counted = None
        rows, next_codes = self._rows_and_next_codes(steps)
        written = rows[self.board[label, rows] == UNSET]
        others = np.zeros(self.n_labels, np.int64)
        weight = np.empty((0, 0), np.int32) if self.weight is None else self.weight
        add_open(self.truth, self.board, weight, written, others)
        self.board[label, written] = value
        if len(written):
            self._note_written(label, value, written)
        if label in self.tables:
            self.tables[label] = table
        return WrittenCounts(table, others, next_codes)

    def _rows_and_next_codes(self, steps: Steps) -> tuple[npt.NDArray[np.int32], Integers]:
        """All rows that a body covers, and the codes that follow those of its conditions."""
        from labelrules.kernels.covering.tables import next_code

        rows, found = self.every, np.full(len(steps), -1, np.int64)
        for at, step in enumerate(steps):
            column, _, code, _ = step
            if column < self.n_features and not self.nominal[column]:
                found[at] = next_code(self.codes[column], rows, code, self.missing[column])
            rows, _ = self._divided(rows, step)
        return rows, found

    def _wait(self) -> WaitingTotals:
        self.waiting = ~(self.board == 1).any(axis=0)
        return self._waiting_totals(np.empty(0, np.int64))

    def _leave(self, steps: Steps) -> WaitingTotals:
        rows, next_codes = self._rows_and_next_codes(steps)
        waiting = self._waiting()
        waiting[rows] = False
        return self._waiting_totals(next_codes)

    def _waiting(self) -> Mask:
        if self.waiting is None:
            raise ValueError("rows leave only once they wait for a last resort: call wait first")
        return self.waiting

    def _waiting_totals(self, next_codes: Integers) -> WaitingTotals:
        self.tables, self.base, self.body_counted = {}, None, None
        waiting = self._waiting()
        n_decided, n_bare = (
            self._row_total(waiting & one) for one in (self._is_decided, self._has_none)
        )
        return WaitingTotals(n_decided, n_bare, self._packed(lambda label: waiting), next_codes)

    @cached_property
    def _has_none(self) -> Mask:
        """The rows that are known to have no label."""
        return np.asarray((self.truth == 0).all(axis=0))

    @cached_property
    def _is_decided(self) -> Mask:
        """The rows of which it is known whether they have a label."""
        return np.asarray(self._has_none | (self.truth == 1).any(axis=0))

    def _bare(self, steps: Steps) -> int:
        rows, _ = self._rows_and_next_codes(steps)
        covered = np.zeros(self.n_rows, dtype=np.bool_)
        covered[rows] = True
        return self._row_total(covered & self._waiting() & self._has_none)

    def _row_total(self, rows: Any) -> int:
        if self.row_weight is None:
            return int(np.count_nonzero(rows))
        return int(self.row_weight[rows].sum())


def board_of(theory: Theory, rows: Dataset) -> Board:
    """A board on which only the labels are written that a theory finds."""
    return np.where(theory.predict(rows).T == 1, np.int8(1), UNSET)


def rows_in_memory(
    data: Dataset, bins: Bins, marked: Integers, board: Board | None = None, n_threads: int = 1
) -> RowCounts:
    """The rows of a data set, a stretch at a time; `board` has what rules to keep have written."""
    truth: Board = data.Y.T
    weight, row_weight = _units(data, truth)
    n_parts = max(1, -(-data.n_rows // STRETCH))
    parts = []
    for first in range(0, max(1, data.n_rows), STRETCH):
        rows = slice(first, first + STRETCH)
        X = data.X.tocsr()[rows].tocsc() if sparse.issparse(data.X) else data.X[rows]
        part = LocalRows(
            bins, bins.encode(X), np.ascontiguousarray(truth[:, rows]), marked,
            weight=None if weight is None else np.ascontiguousarray(weight[:, rows]),
            row_weight=None if row_weight is None else row_weight[rows],
            board=None if board is None else np.ascontiguousarray(board[:, rows]),
            n_threads=n_threads if n_parts == 1 else 1, room=ROOM // n_parts,
        )  # fmt: skip
        parts.append(part)
    return parts[0] if n_parts == 1 else PartedRows(parts, min(n_threads, n_parts))


def _units(data: Dataset, truth: Board) -> tuple[npt.NDArray[np.int32] | None, Integers | None]:
    """Weights of known cells, labels by rows, and of rows, in units; None if all weigh 1."""
    units, unit = cell_units(data.Y, data.weights)
    if units is None or data.weights is None:
        return None, None
    weight = np.where(truth != UNSET, units.T, 0).astype(np.int32, order="C")
    rows = np.rint(data.weights / unit).astype(np.int64)
    return weight, rows if rows.ndim == 1 else np.asarray(rows.max(axis=1))
