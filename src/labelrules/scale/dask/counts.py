"""Rows on the workers of a Dask cluster, which answer the questions of covering by counts.

A part has the codes and labels of some partitions: the value of a task, so Dask makes it again if
it is lost with a worker. What rules have written is kept beside it, but it is no part of the value:
a part that is made again, read from disk or sent to another worker comes without it, says so when
it is asked, and is told all changes so far.
"""

import sys
from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

import numpy as np

from labelrules._types import Board, Integers
from labelrules.data import ClusterError, Dataset
from labelrules.data.codes.bins import Bins, Codes
from labelrules.data.rows import added
from labelrules.learners.covering.local_rows import LocalRows, board_of, label_bytes
from labelrules.learners.covering.row_counts import RowCounts
from labelrules.rules import Theory
from labelrules.scale.dask.rows import CollectedRows
from labelrules.scale.dask.tasks import (
    TOGETHER,
    cluster_errors,
    computed,
    current_client,
)

PART_BYTES = 1 << 29
"""Codes and labels of a part take at most so many bytes, if partitions are no larger."""

TABLE_BYTES = 1 << 28
"""Sums by codes of all labels, which a part keeps if they take at most so many bytes."""

Question: TypeAlias = tuple[Any, ...]
"""The name of a method of `RowCounts`, and its arguments."""

CHANGES = {"write", "wait", "leave"}
"""The questions after which rows answer differently."""


class Behind(NamedTuple):
    """A part has not heard of all changes: the whole answer is missing."""

    def plus(self, other: Any) -> "Behind":
        """Nothing that is added makes it whole."""
        return self


class RowsAnswer(NamedTuple):
    """What a question about rows gives: numbers, or something that adds up by itself."""

    value: Any

    def plus(self, other: Any) -> Any:
        """The answer of both, unless one is missing."""
        if isinstance(other, Behind):
            return other
        return RowsAnswer(added((self.value, other.value)))


class CodedRows(NamedTuple):
    """The codes and labels of some rows, and what is written beforehand, columns by rows."""

    codes: Codes
    truth: Board
    board: Board | None = None


class CodedPart:
    """Codes and labels of some rows, with what rules have written as far as it is known here.

    Parameters
    ----------
    bins : Bins
    rows : CodedRows
    marked : array of int
        As for `LocalRows`.
    """

    def __init__(self, bins: Bins, rows: CodedRows, marked: Integers) -> None:
        self.bins, self.rows, self.marked = bins, rows, marked
        self._forget()

    def _forget(self) -> None:
        self._lock = Lock()
        self._state: LocalRows | None = None
        self._n_changes = 0
        self._last: tuple[Question, int] | None = None
        self._answered: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return CodedPart, (self.bins, self.rows, self.marked)

    def __sizeof__(self) -> int:
        return sum(sys.getsizeof(one) for one in self.rows) + object.__sizeof__(self)

    def answer(self, n_changes: int, changes: Sequence[Question] | None, question: Question) -> Any:
        """The answer after so many changes; `Behind` if they are not known and not given."""
        with self._lock:
            is_change = question[0] in CHANGES
            if is_change and self._last == (question, n_changes):
                return self._answered  # asked twice, since the answer was lost
            if self._state is None or self._n_changes != n_changes:
                if changes is None and n_changes:
                    return Behind()
                self._begin(changes or ())
            return self._ask(question)

    def _begin(self, changes: Sequence[Question]) -> None:
        """Begin with an empty board, and make all changes."""
        codes, truth, board = self.rows
        written = None if board is None else board.copy()
        self._state = PartRows(self.bins, codes, truth, self.marked, board=written)
        self._n_changes = 0
        for change in changes:
            self._ask(change)

    def _ask(self, question: Question) -> Any:
        name, *arguments = question
        self._last = None
        assert self._state is not None
        value = RowsAnswer(self._state.ask(name, *arguments))
        if name in CHANGES:
            self._last, self._answered = (question, self._n_changes), value
            self._n_changes += 1
        return value


class PartRows(LocalRows):
    """The rows of a part, which keeps sums of labels only if they are small."""

    def _root(self, label: int) -> Integers:
        if 8 * self.n_labels * int(self.start[-1]) <= TABLE_BYTES:
            return super()._root(label)
        return self._count_root(label)


def ask(part: CodedPart, n_changes: int, changes: Any, question: Question) -> Any:
    """Ask a part; run as a task."""
    return part.answer(n_changes, changes, question)


def coded(data: Dataset, bins: Bins, theory: Theory | None) -> CodedRows:
    """The codes and labels of a partition; run as a task."""
    known = data.with_known_labels()
    board = None if theory is None else board_of(theory, known)
    return CodedRows(bins.encode(known.X), np.ascontiguousarray(known.Y.T), board)


def joined(rows: Sequence[CodedRows], bins: Bins, marked: Integers) -> CodedPart:
    """A part of the rows of some partitions; run as a task."""
    given = ([one for one in each if one is not None] for each in zip(*rows, strict=True))
    whole = CodedRows(*(np.concatenate(each, axis=1) for each in given if each))
    return CodedPart(bins, whole, marked)


class ClusterRows(RowCounts):
    """Answers `RowCounts` for the rows of parts on workers.

    Parameters
    ----------
    client : distributed.Client
    parts : sequence of Future
        Of `CodedPart`.
    """

    def __init__(self, client: Any, parts: Sequence[Any]) -> None:
        self.client, self.parts = client, list(parts)
        self.changes: list[Question] = []

    def ask(self, *question: Any) -> Any:
        """The answers of all parts, added up; no rules are kept, so that none are written."""
        if question[0] == "written":
            return np.empty(0, np.int64)
        with cluster_errors(self.client):
            answer = self._asked(None, question)
            if isinstance(answer, Behind):
                answer = self._asked(list(self.changes), question)
        if isinstance(answer, Behind):
            raise ClusterError("a part of the rows was lost again while it was made anew")
        if question[0] in CHANGES:
            self.changes.append(question)
        return answer.value

    def _asked(self, changes: list[Question] | None, question: Question) -> Any:
        name = f"labelrules-{question[0]}"
        level = self.client.map(
            ask, self.parts, n_changes=len(self.changes), changes=changes, question=question,
            pure=False, key=name,
        )  # fmt: skip
        while len(level) > TOGETHER:
            groups = [level[i : i + TOGETHER] for i in range(0, len(level), TOGETHER)]
            level = [
                self.client.submit(added, group, pure=False, key=f"{name}-sum-{uuid4().hex}")
                for group in groups
            ]
        return added(self.client.gather(level))  # few: a task to add them up would take longer

    def close(self) -> None:
        """Let the workers forget the parts, and tasks that nobody waits for."""
        self.parts = []


def row_counts(
    data: CollectedRows,
    bins: Bins,
    marked: Integers,
    n_threads: int = 1,
    theory: Theory | None = None,
) -> ClusterRows:
    """Codes and labels of all rows on the workers, ready to be counted by their threads."""
    import dask

    client = current_client()
    code, join = dask.delayed(coded, pure=False), dask.delayed(joined, pure=False)
    given, rules = dask.delayed(bins, traverse=False), dask.delayed(theory, traverse=False)
    by_partition = [code(part, given, rules) for part in data.parts]
    places = _places(client)
    with cluster_errors(client):
        tasks = [
            join([by_partition[number] for number in group], given, marked)
            for group in _groups(data, bins, len(places))
        ]
        parts = [
            client.compute(
                task, workers=[places[n % len(places)]], allow_other_workers=True, sync=False
            )
            for n, task in enumerate(tasks)
        ]
    _wait(client, parts, by_partition)
    return ClusterRows(client, parts)


def _wait(client: Any, parts: Sequence[Any], by_partition: Sequence[Any]) -> None:
    """Wait until all parts are made; an error names the partition."""
    from distributed import wait

    with cluster_errors(client):
        wait(parts)
    for part in parts:
        if part.status == "error":
            computed(by_partition, "reading it")
            part.result()


def _places(client: Any) -> list[str]:
    """The address of each worker, once for each of its threads, in turns."""
    with cluster_errors(client):
        workers = client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            client.wait_for_workers(1)
            workers = client.scheduler_info(n_workers=-1)["workers"]
    threads = {address: worker["nthreads"] for address, worker in workers.items()}
    most = max(threads.values())
    return [one for turn in range(most) for one, n in sorted(threads.items()) if turn < n]


def _groups(data: CollectedRows, bins: Bins, n_threads: int) -> list[list[int]]:
    """Partitions that make a part together: about as many rows for each thread."""
    n_bytes, n_labels = np.dtype(bins.dtype).itemsize, bins.schema.n_labels
    row_bytes = len(bins.columns) * n_bytes + label_bytes(n_labels)
    n_parts = max(n_threads, -(-data.n_rows * row_bytes // PART_BYTES))
    ends = np.cumsum(data.sizes)
    middles = ends - np.array(data.sizes) / 2
    numbers = np.floor(middles * n_parts / max(1, data.n_rows)).astype(int).tolist()
    groups: dict[int, list[int]] = {}
    for partition, number in enumerate(numbers):
        groups.setdefault(number, []).append(partition)
    return list(groups.values())
