"""Limits on the number, memory and time of a search."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction

from labelrules._checks import is_number, is_whole, whole_number

MEGABYTE = 1 << 20

ANY_NUMBER = 1 << 62  # no limit: more than any count can reach
MOST_VISITED = 10_000_000  # candidates by default: seconds, or a minute for long bodies
INTERRUPTED = "it was interrupted"  # why a search stopped, if Ctrl-C ended it

_keeps_results = ContextVar("an interrupted search keeps its results", default=False)

_VISITED = {"rules": "bodies and rules"}  # what a search visits, if not what it returns


def minimum_count(minimum: float, n_rows: int, name: str = "min_support") -> int:
    """The rows that a minimum requires: a number of rows as an int, a share of them as a float.

    The decimal as written counts, so that rounding adds no row: 0.05 of 1500 rows are 75.
    """
    if is_number(minimum) and not is_whole(minimum) and 0 < minimum <= 1:
        return max(1, math.ceil(Fraction(str(minimum)) * n_rows))
    return whole_number(minimum, name, low=1, also="a share of the rows above 0 and up to 1.0")


@contextmanager
def kept_if_interrupted() -> Iterator[None]:
    """Within this block, Ctrl-C ends a search, which then returns its results so far."""
    token = _keeps_results.set(True)
    try:
        yield
    finally:
        _keeps_results.reset(token)


@dataclass
class Limits:
    """How many results a search may return, how much memory it may use, and its counts so far."""

    what: str  # what the results are, for messages
    number: int  # of results
    memory: int  # bytes of search and results together
    visits: int = ANY_NUMBER  # of candidates, kept or not
    keeps: bool = True  # whether results stay in memory
    n_found: int = 0
    n_bytes: int = 0
    stopped: str | None = None

    @classmethod
    def checked(cls, what: str, number: object, memory: object, visits: object) -> "Limits":
        """Limits from the parameters of a search, with memory in megabytes."""
        return cls(
            what,
            whole_number(number, f"max_{what}", low=1),
            whole_number(memory, "max_memory", low=1) * MEGABYTE,
            whole_number(visits, "max_visited", low=1),
        )

    def take(self, n_found: int, n_bytes: int, n_working: int) -> int:
        """Count a batch of results; return how many of them the limits allow."""
        room = self.number - self.n_found
        if n_found > room:
            self.stop_for_number()
            n_bytes = n_bytes * room // n_found
            n_found = room
        elif self.n_bytes + n_bytes + n_working > self.memory:
            self.stop_for_memory()
            return 0
        self.n_found += n_found
        self.n_bytes += n_bytes if self.keeps else 0
        return n_found

    def stop_for_number(self) -> None:
        """Stop since there are too many results."""
        self.stopped = f"there are more than {self.number:,} {self.what} (max_{self.what})"

    def stop_for_memory(self) -> None:
        """Stop since the search needs too much memory."""
        self.stopped = f"more than {self.memory // MEGABYTE:,} MB are needed (max_memory)"

    def stop_for_visits(self) -> None:
        """Stop since the search has visited enough."""
        what = _VISITED.get(self.what, self.what)
        self.stopped = f"there are more than {self.visits:,} {what} to visit (max_visited)"

    def stop_for_interrupt(self) -> None:
        """Stop since Ctrl-C was pressed, or raise the exception again; for use in ``except``."""
        if not _keeps_results.get():
            raise
        self.stopped = INTERRUPTED
