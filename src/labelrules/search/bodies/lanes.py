"""Rules of labels that do not depend on each other, each label in a lane of its own.

Where bodies test no labels, and each head says one fixed value of one label, the rules of a label
follow from its own cells alone. So they are found ahead of time, several in one compiled run and
several labels side by side; which rule comes next in the list is decided as ever.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Condition
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules.rules import Body, Head
from labelrules.search.bodies.grow import Grown, Growth, table_of, value_of
from labelrules.search.bodies.refine import Covered, Refiner

if TYPE_CHECKING:
    from labelrules.kernels.growth import GrowthTable
    from labelrules.kernels.lanes import Ahead

_NOTHING = np.iinfo(np.int64).min

ROOM = 64
"""Conditions of a body that are made room for; twice as many if they are not enough."""

WORTH_A_LANE = 50_000
"""Entries of all columns below which another thread costs more than it brings."""

AT_ONCE = 4
"""Rules that a thread finds in one run, where there are several."""

ENOUGH_AHEAD, MOST_AHEAD = 12, 16
"""Rules of a label that wait until no more are wanted, and until none is found to pass the time.

They may never be asked for.
"""


class Waiting(NamedTuple):
    """A rule that was found, and what it competes with."""

    alone: tuple[int, int]
    """The rank and the right cells of the empty body."""
    first: tuple[int, int]
    """Those of its first condition, by which rules of different labels are compared."""
    column: int
    place: int
    rank: int
    correct: int
    steps: tuple[list[int], ...]
    rows: npt.NDArray[np.int32]


class Lanes:
    """The rules of all labels, in the order in which a list would have them.

    Parameters
    ----------
    refiner : Refiner
        For labels that have one value each; what it counts is copied.
    growth : Growth
    most : int, optional
        The most rules that will be asked for.
    """

    def __init__(self, refiner: Refiner, growth: Growth, most: int | None = None) -> None:
        self.refiner, self.growth = refiner, growth
        limit = MOST_AHEAD if most is None else most
        self.enough, self.at_most = min(ENOUGH_AHEAD, limit), min(MOST_AHEAD, limit)
        self.is_closed = False
        n_labels = len(refiner.board)
        # Written ahead of the list.
        self.cells = refiner.cells._replace(counted=refiner.cells.counted.copy())
        self.waiting: list[deque[Waiting]] = [deque() for _ in range(n_labels)]
        self.lock = Condition()
        self.busy: set[int] = set()
        self.n_helping = 0
        # For each label what its next rule is compared by.
        self.alone = np.full((2, n_labels), _NOTHING)
        self.first = np.full((4, n_labels), _NOTHING)
        is_large = len(refiner.columns.index.entries) >= WORTH_A_LANE
        self.n_threads = n_threads = refiner.n_threads if is_large else 1
        self.tables: SimpleQueue[tuple[GrowthTable, Ahead]] = SimpleQueue()
        for _ in range(n_threads):
            self.tables.put((table_of(refiner, refiner.columns.new_space()), self._room(ROOM)))
        self.pool = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None
        for label in range(n_labels):
            self._show(label)

    def next_rule(self) -> Grown | None:
        """The best rule of all labels, None if there is none."""
        if self.n_helping:
            sleep(0)  # lets other threads hand over what they have found, and go on
        label, least = self._best_alone()
        chosen = self._best_first()
        if chosen is not None:
            rank, correct = (int(number) for number in self.first[:2, chosen])
            is_better = (rank, correct) > least
            if is_better and least[0] > _NOTHING:
                is_better = value_of(rank) - value_of(least[0]) >= self.growth.min_gain
            if is_better:
                return self._take(chosen)
        return self._end(label, least) if label >= 0 else None

    def close(self) -> None:
        """Find no more rules: other threads end when they have done what they are at."""
        self.is_closed = True
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------ which rule is next

    def _best_first(self) -> int | None:
        """The label of the best first condition: most cells right, then the first condition."""
        ranks, corrects, columns, places = self.first
        top = ranks.max(initial=_NOTHING)
        if top == _NOTHING:
            return None
        tied = np.flatnonzero(ranks == top)
        if tied.size > 1:
            says_absence = self.cells.values[tied] == 1
            tied = tied[
                np.lexsort((tied, says_absence, places[tied], columns[tied], -corrects[tied]))
            ]
        return int(tied[0])

    def _best_alone(self) -> tuple[int, tuple[int, int]]:
        """The label for which the empty body is best, -1 if there is none, and what it is worth."""
        ranks, corrects = self.alone
        top = ranks.max(initial=_NOTHING)
        if top == _NOTHING or not self.refiner.allowed.may_be_empty:
            return -1, (_NOTHING, -1)
        tied = np.flatnonzero(ranks == top)
        says_absence = self.cells.values[tied] == 1
        label = int(tied[np.lexsort((tied, says_absence, -corrects[tied]))][0])
        return label, (int(top), int(corrects[label]))

    def _take(self, label: int) -> Grown:
        rule = self.waiting[label].popleft()
        self._show(label)
        conditions = [
            self.refiner.columns.between(column, bool(second), below, above)
            for column, second, below, above in zip(*rule.steps, strict=True)
        ]
        return Grown(
            self._head(label), Body(conditions), self._covered(rule.rows), rule.rank, rule.correct
        )

    def _end(self, label: int, merit: tuple[int, int]) -> Grown:
        """The rule without conditions, after which nothing of its label is left."""
        self.busy.add(label)  # for good
        self.alone[:, label] = self.first[:, label] = _NOTHING
        return Grown(self._head(label), Body(), self.refiner.everywhere, *merit)

    def _head(self, label: int) -> Head:
        return Head({label: int(self.cells.values[label]) - 1}, len(self.refiner.board))

    def _covered(self, rows: npt.NDArray[np.int32]) -> Covered:
        mask = np.zeros(self.cells.truth.shape[1], dtype=np.bool_)
        mask[rows] = True
        return Covered(mask, rows.astype(np.int64), self.refiner.columns.index)

    # ------------------------------------------------------------ finding rules ahead

    def _show(self, label: int) -> None:
        """Note what the next rule of a label is compared by; it is found if need be."""
        queue = self.waiting[label]
        self._call_for_help()
        while not queue:
            if self._claims(label):
                self._go_ahead(label)
            elif (other := self._shortest(self.at_most)) is not None:
                self._go_ahead(other)  # rather than wait for the thread that is at it
            else:
                with self.lock:
                    self.lock.wait_for(lambda: queue or label not in self.busy)
        rule = queue[0]
        self.alone[:, label] = rule.alone
        self.first[:, label] = (*rule.first, rule.column, rule.place)

    def _call_for_help(self) -> None:
        """Let another thread find rules of labels that have few."""
        if self.pool is None:
            return
        with self.lock:
            is_wanted = self.n_helping < self.n_threads - 1 and not self.is_closed
            self.n_helping += is_wanted
        if is_wanted:
            self.pool.submit(self._help)

    def _help(self) -> None:
        try:
            while not self.is_closed and (label := self._shortest(self.enough)) is not None:
                self._go_ahead(label)
        finally:
            with self.lock:
                self.n_helping -= 1

    def _claims(self, label: int) -> bool:
        """Keep other threads off a label, unless one is at it."""
        with self.lock:
            is_free = label not in self.busy
            self.busy.add(label)
        return is_free

    def _shortest(self, enough: int) -> int | None:
        """Claim the label with the fewest rules waiting, if they are not enough."""
        with self.lock:
            free = set(range(len(self.waiting))) - self.busy
            label = min(free, key=lambda label: len(self.waiting[label]), default=None)
            if label is None or len(self.waiting[label]) >= enough:
                return None
            self.busy.add(label)
        return label

    def _go_ahead(self, label: int) -> None:
        """Find rules of a claimed label; it stays claimed when it has come to its end."""
        found: list[Waiting] = []
        try:
            found = self._find(label, 1 if self.pool is None else min(AT_ONCE, self.enough))
        finally:
            with self.lock:
                self.waiting[label].extend(found)
                if not found or found[-1].rank > _NOTHING:
                    self.busy.remove(label)
                self.lock.notify_all()

    def _find(self, label: int, n_rules: int) -> list[Waiting]:
        """Find rules, one at least."""
        most, value = self.growth.max_conditions, int(self.cells.values[label]) - 1
        table, ahead = self.tables.get()
        try:
            while True:
                room = ahead.steps.columns.shape[1]
                n_found, _ = self.refiner.kernels.next_rules(
                    table, self.refiner.allowed.first_features, self.cells, label, value,
                    self.growth.min_gain, room, room == most, self.refiner.way, ahead, n_rules,
                )  # fmt: skip
                if n_found:
                    return _waiting(ahead, n_found)
                ahead = self._room(2 * room)
        finally:
            self.tables.put((table, ahead))

    def _room(self, n_conditions: int) -> "Ahead":
        """Room for rules of so many conditions, or as many as there may be."""
        most = self.growth.max_conditions
        n_conditions = n_conditions if most is None else min(n_conditions, most)
        return _room_for(AT_ONCE, n_conditions, self.cells.truth.shape[1])


def _room_for(n_rules: int, n_conditions: int, n_rows: int) -> "Ahead":
    from labelrules.kernels.growth import Steps
    from labelrules.kernels.lanes import Ahead

    steps = Steps(*(np.empty((n_rules, n_conditions), np.int64) for _ in range(4)))
    numbers: Any = [np.empty(n_rules, np.int64) for _ in range(10)]
    return Ahead._make([*numbers, steps, np.empty(n_rows, np.int32)])


def _waiting(ahead: "Ahead", n_found: int) -> list[Waiting]:
    found, end = [], 0
    for i in range(n_found):
        start, end = end, end + int(ahead.n_covered[i])
        found.append(Waiting(
            (int(ahead.alone_ranks[i]), int(ahead.alone_corrects[i])),
            (int(ahead.first_ranks[i]), int(ahead.first_corrects[i])),
            int(ahead.columns[i]), int(ahead.places[i]), int(ahead.ranks[i]),
            int(ahead.corrects[i]),
            tuple(part[i, : ahead.n_steps[i]].tolist() for part in ahead.steps),
            ahead.rows[start:end].copy(),
        ))  # fmt: skip
    return found
