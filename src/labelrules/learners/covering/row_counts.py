"""Counts over rows, from one part of them or from several: all that covering needs of the rows.

The search on binned columns (`counted_rows.py`) keeps the counts of labels and
the best first conditions; it never sees a row. What it asks of the rows is
`RowCounts`. `LocalRows` answers for rows in memory, `PartedRows` adds up the answers of parts. All
answers are whole numbers, added up number by number (only `next_codes` and `present` are combined
by minimum and maximum), so the theory is the same for any parts, in any order.

What is moved, for F columns, B cells (the bins of all columns and one more each, for missing
values), L labels and a body of k conditions, in 64-bit numbers unless said otherwise:

=================== ======================================= ======================================
question            asked                                   answer of each part
=================== ======================================= ======================================
``totals()``        once                                    3 L + 1
``written()``       once                                    nothing; L * 3 L if rules are kept
``roots(labels)``   once for all labels, and for labels     B for each label
                    searched anew after all
``body(...)``       once for each condition of a rule       B + 3 L, and B bytes if a column has
                                                            missing values or is tested by "!="
``write(...)``      once for each rule                      B + L + k
``wait()``          once, before last resorts               L + 2
``leave(steps)``    once for each last resort, then         L + k + 2
                    ``roots`` for all labels
``bare(steps)``     once for each last resort tried         1
=================== ======================================= ======================================

Questions name rows by conditions on codes, so they are a few numbers, and the same for all parts.
``write`` and ``leave`` change the rows, all others do not: a part that is lost is made anew from
its codes and labels, and given all of these two again, in their order.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers
from labelrules.data.rows import added
from labelrules.search.bodies.code_tables import CodedStep

Steps: TypeAlias = tuple[CodedStep, ...]
"""A body on codes."""


class LabelTotals(NamedTuple):
    """How many rows there are, and for each label its known, open and written cells.

    Each number has two counts: cells in its upper half, and those of present labels in its lower
    half (kernels/README.md, "Codes and sums"). `written[value]` are cells that rules predict so.
    """

    n_rows: int
    known: Integers
    open: Integers
    written: Integers

    def plus(self, other: "LabelTotals") -> "LabelTotals":
        """The totals of both parts."""
        n_rows = self.n_rows + other.n_rows
        known, is_open = self.known + other.known, self.open + other.open
        return LabelTotals(n_rows, known, is_open, self.written + other.written)


class BodyCounts(NamedTuple):
    """The open cells of one label in the rows that a body covers.

    `table` has the sums by the codes of all columns, `by_label` by what is written of each label
    (unset, absent, present). `present` marks the codes that occur, of columns for which that
    matters; it is empty if there are none.
    """

    table: Integers
    by_label: Integers
    present: npt.NDArray[np.uint8]

    def plus(self, other: "BodyCounts") -> "BodyCounts":
        """The counts of both parts."""
        present = np.maximum(self.present, other.present)
        return BodyCounts(self.table + other.table, self.by_label + other.by_label, present)


class WrittenCounts(NamedTuple):
    """What writing a rule has changed.

    The open cells that are left of its label, by codes; for each label the open cells of the rows
    that it wrote; and for each numeric condition the least code above its own in the rows that
    those before it cover.
    """

    table: Integers
    others: Integers
    next_codes: Integers

    def plus(self, other: "WrittenCounts") -> "WrittenCounts":
        """The counts of both parts."""
        nearest = np.minimum(self.next_codes, other.next_codes)
        return WrittenCounts(self.table + other.table, self.others + other.others, nearest)


class WaitingTotals(NamedTuple):
    """The rows in which no label was found: of how many that is known, and how many have none.

    `open` has for each label its known cells in these rows, `next_codes` is as in `WrittenCounts`.
    """

    n_decided: int
    n_bare: int
    open: Integers
    next_codes: Integers

    def plus(self, other: "WaitingTotals") -> "WaitingTotals":
        """The totals of both parts."""
        nearest = np.minimum(self.next_codes, other.next_codes)
        n_decided, n_bare = self.n_decided + other.n_decided, self.n_bare + other.n_bare
        return WaitingTotals(n_decided, n_bare, self.open + other.open, nearest)


class RowCounts(ABC):
    """Answers questions about rows by whole numbers."""

    @abstractmethod
    def ask(self, question: str, *given: Any) -> Any:
        """The answer to a question, the name of one of the methods below, and what it takes."""

    @abstractmethod
    def close(self) -> None:
        """End threads, and whatever else was only for learning."""

    def totals(self) -> LabelTotals:
        """The rows and cells."""
        totals: LabelTotals = self.ask("totals")
        return totals

    def written(self) -> Integers:
        """The open cells of each label by what is written of each: labels by labels by 3.

        Without rules to keep nothing is written, and the answer is empty.
        """
        return np.asarray(self.ask("written"))

    def roots(self, labels: Sequence[int]) -> Integers:
        """For each of some labels the sums of its open cells by the codes of all columns."""
        return np.asarray(self.ask("roots", list(labels)))

    def body(self, label: int, steps: Steps) -> BodyCounts:
        """The open cells of a label in the rows that a body covers."""
        counts: BodyCounts = self.ask("body", label, steps)
        return counts

    def write(self, label: int, value: int, steps: Steps) -> WrittenCounts:
        """Write the open cells of a label in the rows that a body covers."""
        written: WrittenCounts = self.ask("write", label, value, steps)
        return written

    def wait(self) -> WaitingTotals:
        """From now on count the known cells of rows in which no label is written as present."""
        totals: WaitingTotals = self.ask("wait")
        return totals

    def leave(self, steps: Steps) -> WaitingTotals:
        """Count the rows that a body covers no longer; after `wait`."""
        totals: WaitingTotals = self.ask("leave", steps)
        return totals

    def bare(self, steps: Steps) -> int:
        """How many of the counted rows that a body covers are known to have no label."""
        return int(self.ask("bare", steps))


class PartedRows(RowCounts):
    """The rows of several parts, at least one, asked one after the other or by several threads.

    Parameters
    ----------
    parts : sequence of RowCounts
    n_threads : int
        Threads that ask parts side by side.
    folder : TemporaryDirectory, optional
        The folder of their files, removed by `close`.
    """

    def __init__(
        self,
        parts: Sequence[RowCounts],
        n_threads: int = 1,
        folder: "TemporaryDirectory[str] | None" = None,
    ) -> None:
        self.parts, self._folder = parts, folder
        self.pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def ask(self, question: str, *given: Any) -> Any:
        """The answers of all parts, added up one after the other, since tables may be large."""
        every = map if self.pool is None else self.pool.map
        answers: Iterable[Any] = every(lambda part: part.ask(question, *given), self.parts)
        if question == "written":  # empty where a part has no rows
            answers = [one for one in answers if one.size] or [np.empty(0, np.int64)]
        return added(answers)

    def close(self) -> None:
        """End threads, and remove files."""
        if self.pool is not None:
            self.pool.shutdown(wait=self._folder is not None, cancel_futures=True)
        for part in self.parts:
            part.close()
        if self._folder is not None:
            self._folder.cleanup()
