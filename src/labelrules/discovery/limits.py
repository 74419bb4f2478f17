"""How much is asked for, and where it ends."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers

MEGABYTE = 1 << 20

ANY_NUMBER = 1 << 62
"""No limit: more than can be counted to."""

MOST_VISITED = 10_000_000
"""What a search may look at if nothing else is said: seconds, or a minute for long bodies."""

INTERRUPTED = "it was interrupted"
"""Why a search was stopped, if Ctrl-C did it."""

_found_is_kept = ContextVar("what an interrupted search has found is kept", default=False)

LOOKED_AT = {"rules": "bodies and rules"}
"""What is looked at, where that is not what is found."""


@contextmanager
def kept_if_interrupted() -> Iterator[None]:
    """Let Ctrl-C end searches inside this block with what was found so far."""
    token = _found_is_kept.set(True)
    try:
        yield
    finally:
        _found_is_kept.reset(token)


def minimum_count(min_support: float, n_rows: int) -> int:
    """The least number of rows that is meant by a support: a share of the rows, or their number.

    A float is a share, and an int a number of rows. A share means the decimal number that it is
    written as.

    Examples
    --------
    >>> minimum_count(0.05, 1500), minimum_count(0.1, 14), minimum_count(3, 14)
    (75, 2, 3)
    """
    if isinstance(min_support, bool) or not isinstance(min_support, Real):
        raise ValueError(f"min_support must be a number, not {min_support!r}")
    if isinstance(min_support, Integral):
        if min_support < 1:
            raise ValueError(
                f"min_support must be at least one row, not {min_support}: "
                "with none every set of items there is would be frequent"
            )
        return int(min_support)
    share = float(min_support)
    if not 0 < share <= 1:
        raise ValueError(
            f"min_support must be a share of the rows above 0 and up to 1.0, or a whole number "
            f"of rows; not {min_support!r}"
        )
    return rows_of_share(min_support, n_rows)


def rows_of_share(share: Real | float, n_rows: int) -> int:
    """The least number of rows that are such a share, at least one.

    The share is the decimal number that it is written as, so that no rounding adds a row; that
    holds for numbers of any precision.

    Examples
    --------
    >>> import numpy as np
    >>> rows_of_share(0.07, 100), rows_of_share(np.float32(0.1), 100), rows_of_share(0.01, 5)
    (7, 10, 1)
    """
    return max(1, math.ceil(Fraction(str(share)) * n_rows))


def whole(name: str, value: object, least: int) -> int:
    """A parameter that is a whole number, if it is one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


@dataclass
class Limits:
    """What a search may hand over and use.

    Parameters
    ----------
    what : str
        What is counted, for messages.
    number : int
        How many results there may be.
    memory : int
        How many bytes search and results may take together.
    visits : int
        How much may be looked at, whether it is wanted or not.
    keeps : bool
        Whether results are kept, so that they take memory.
    """

    what: str
    number: int
    memory: int
    visits: int = ANY_NUMBER
    keeps: bool = True
    n_found: int = 0
    n_bytes: int = 0
    stopped: str | None = None

    @classmethod
    def checked(cls, what: str, number: object, memory: object, visits: object) -> "Limits":
        """The limits, if they are some; memory is given in megabytes."""
        return cls(
            what,
            whole(f"max_{what}", number, 1),
            whole("max_memory", memory, 1) * MEGABYTE,
            whole("max_visited", visits, 1),
        )

    def take(self, n_found: int, n_bytes: int, n_working: int) -> int:
        """Count a batch of results; how many of them there is room for."""
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
        """Note that there are too many results."""
        self.stopped = f"there are more than {self.number:,} {self.what} (max_{self.what})"

    def stop_for_memory(self) -> None:
        """Note that memory has ended the search."""
        self.stopped = f"more than {self.memory // MEGABYTE:,} MB are needed (max_memory)"

    def stop_for_interrupt(self) -> None:
        """Note that Ctrl-C has ended the search; to be called where that is caught.

        It goes on to the caller, unless what was found so far is of use to them.
        """
        if not _found_is_kept.get():
            raise
        self.stopped = INTERRUPTED

    def stop_for_visits(self) -> None:
        """Note that enough was looked at."""
        what = LOOKED_AT.get(self.what, self.what)
        self.stopped = f"there are more than {self.visits:,} {what} to look at (max_visited)"


# -------------------- Many lists of numbers in one array

Numbers = npt.NDArray[np.int32]


class Ragged(NamedTuple):
    """Lists of numbers: list i is ``values[start[i]:start[i + 1]]``.

    Examples
    --------
    >>> lists = Ragged(np.array([0, 2, 2, 3]), np.array([4, 5, 6], dtype=np.int32))
    >>> lists.lengths, lists.take(np.array([2, 0])).values
    (array([2, 0, 1]), array([6, 4, 5], dtype=int32))
    """

    start: Integers
    values: Numbers

    @classmethod
    def empty(cls) -> "Ragged":
        """No lists at all."""
        return cls(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))

    @classmethod
    def joined(cls, parts: Sequence["Ragged"]) -> "Ragged":
        """The lists of all parts, one after the other."""
        before = np.cumsum([0, *(part.values.size for part in parts)])
        starts = [part.start[1:] + n for part, n in zip(parts, before, strict=False)]
        return cls(
            np.concatenate([[0], *starts]).astype(np.int64),
            np.concatenate([np.empty(0, dtype=np.int32), *(part.values for part in parts)]),
        )

    @property
    def lengths(self) -> Integers:
        """How long each list is."""
        return np.diff(self.start)

    def __getitem__(self, number: int) -> list[int]:  # type: ignore[override]
        """One list."""
        return list(self.values[self.start[number] : self.start[number + 1]].tolist())

    def take(self, chosen: Any) -> "Ragged":
        """Some of the lists, by number, mask or slice."""
        numbers = np.arange(self.start.size - 1)[chosen]
        lengths = self.lengths[numbers]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.start[numbers] - start[:-1], lengths) + np.arange(start[-1])
        return Ragged(start, self.values[places])

    def padded(self) -> Numbers:
        """The lists as the rows of a matrix, filled up with -1."""
        lengths = self.lengths
        matrix = np.full((lengths.size, int(lengths.max(initial=0))), -1, dtype=np.int32)
        matrix[np.arange(matrix.shape[1]) < lengths[:, np.newaxis]] = self.values
        return matrix


# ---------------------------------------------------------------- results as data frames


def frame_of(columns: dict[str, Any]) -> Any:
    """The columns as a data frame of pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            'to_frame needs pandas: pip install "labelrules[pandas]"; '
            "as_dict gives the columns for any other library"
        ) from None
    return pd.DataFrame(columns)
