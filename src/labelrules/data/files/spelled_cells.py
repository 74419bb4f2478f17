"""Cells as bytes of one width: different ones, dates and times are found for all at once.

What a shorter cell lacks is zero, so no cell may hold a NUL character.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers, Mask
from labelrules.data.times import DAY, LIMITS, TimeKind, time_kind_of, times_of

Spelled: TypeAlias = npt.NDArray[np.bytes_]
"""Cells in UTF-8, each as wide as the longest, in whole words of eight bytes."""

_WORD = 8
_MOST_BYTES, _FEW_BYTES = 1 << 26, 1 << 21
_MANY_TIMES = 1 << 16  # of more different dates or times, where only their kind matters, few stay
_SECOND, _MINUTE = 10**6, 60 * 10**6
_ZERO, _MINUS, _PLUS, _COLON, _POINT, _BLANK, _T, _Z = b"0-+:. TZ"
_IN_NUMBERS = b"\0 \t\n\r\f\v\x1c\x1d\x1e\x1f0123456789.+-eEnNaAiIfFtTyY"  # also nan, infinity
_IN_NO_NUMBER: Mask = ~np.isin(np.arange(256), np.frombuffer(_IN_NUMBERS, dtype=np.uint8))


_NO_CELLS: Spelled = np.empty(0, dtype=f"S{_WORD}")


def spelled(texts: Sequence[str]) -> Spelled:
    """Texts as such cells."""
    found = np.array([text.encode() for text in texts], dtype=np.bytes_)
    return found.astype(f"S{-(-found.itemsize // _WORD) * _WORD}")


def spelled_texts(cells: Spelled) -> list[str]:
    """The cells as Python's texts."""
    characters = np.zeros((len(cells), cells.itemsize + 1), dtype=np.uint8)
    characters[:, :-1] = _characters(cells)
    is_kept = characters > 0
    is_kept[:, -1] = True  # a NUL after each text
    kept: bytes = characters[is_kept].tobytes()
    return kept.decode().split("\0")[:-1]


def are_equal(cells: Spelled, text: str) -> Mask:
    """Which cells are this text."""
    if "\0" in text:
        return np.zeros(len(cells), dtype=np.bool_)
    are_same: Mask = cells == text.encode()
    return are_same


def are_surely_words(cells: Spelled) -> Mask:
    """Which cells are certainly neither numbers nor nan nor infinite."""
    characters = _characters(cells)
    found: Mask = characters[:, 4] == _MINUS  # as in a date
    found &= characters[:, 3] - np.uint8(_ZERO) < 10
    for start in range(0, cells.itemsize, _WORD):
        rest = np.flatnonzero(~found)
        if not len(rest):
            break
        found[rest] = _IN_NO_NUMBER[characters[rest, start : start + _WORD]].any(axis=1)
    return found


def _characters(cells: Spelled) -> npt.NDArray[np.uint8]:
    return cells.view(np.uint8).reshape(len(cells), cells.itemsize)


def distinct(cells: Spelled) -> tuple[Spelled, Integers]:
    """The different cells in order, and which of them each cell is.

    Word by word, cells that are equal so far share a rank.
    """
    n_cells = len(cells)
    words = cells.view(">u8").reshape(n_cells, cells.itemsize // _WORD)
    ranks: Integers = np.zeros(n_cells, dtype=np.int64)
    one_of_rank: Integers = np.zeros(min(n_cells, 1), dtype=np.int64)
    for word in words.T.astype(np.uint64):
        if (word == word[one_of_rank][ranks]).all():  # equal cells remain equal
            continue
        different, places = np.unique(word, return_inverse=True)
        if len(one_of_rank) > 1:
            _, places = np.unique(ranks * len(different) + places, return_inverse=True)
        ranks = places
        one_of_rank = np.empty(ranks.max() + 1, dtype=np.int64)
        one_of_rank[ranks] = np.arange(n_cells)
    return cells[one_of_rank], ranks


class SpelledTexts:
    """Cells of a column, each of which has a number, until it is known how many are different."""

    keeps_numbers = True
    """Whether the numbers of cells matter; else only different cells are kept, in little memory."""

    def __init__(self) -> None:
        self._known = _NO_CELLS
        self._places: list[Integers] = []
        self._pending: list[Spelled] = []
        self._n_cells = self._n_bytes = 0
        self.are_few_of_many = False  # whether most times were not kept

    def add(self, cells: Spelled) -> Integers:
        """Keep some cells; their numbers go on from those before."""
        numbers = np.arange(self._n_cells, self._n_cells + len(cells))
        self._pending.append(cells)
        self._n_cells += len(cells)
        self._n_bytes += cells.nbytes
        most = _MOST_BYTES if self.keeps_numbers else _FEW_BYTES
        if self._n_bytes > max(most, 2 * self._known.nbytes):
            self._reduce()
        return numbers

    @property
    def is_empty(self) -> bool:
        """Whether there are no cells."""
        return not self._n_cells

    def cells(self) -> tuple[Spelled, Integers]:
        """The different cells in order, and the place there of each number."""
        self._reduce()
        return self._known, self._places[0]

    @property
    def n_different(self) -> int:
        """How many different cells are known, without those that were added at last."""
        return len(self._known)

    def different(self) -> Spelled:
        """The different cells in order."""
        self._reduce()
        return self._known

    def all_times(self) -> tuple[Integers, TimeKind] | None:
        """The dates or times that all cells are, by their numbers; else None."""
        if self._places:
            cells, places = self.cells()
            found = spelled_times(cells)
            return None if found is None else (found[0][places], found[1])
        return spelled_times(np.concatenate([self._known, *self._pending]))

    def _reduce(self) -> None:
        """Replace the cells by the different ones among them."""
        n_known = len(self._known)
        self._known, places = distinct(np.concatenate([self._known, *self._pending]))
        self._pending, self._n_bytes = [], 0
        if not self.keeps_numbers:
            if len(self._known) > _MANY_TIMES and (found := spelled_times(self._known)) is not None:
                self._known = self._known[_witnesses(*found)]
                self.are_few_of_many = True
            return
        before = [places[:n_known][old] for old in self._places]
        self._places = [np.concatenate([*before, places[n_known:]])]


def _witnesses(numbers: Integers, kind: TimeKind) -> Integers:
    """Some of many times, which are of the same kind as all: with one that is not at midnight."""
    some = np.arange(2)
    is_later = (numbers % DAY != 0) if kind == "time" else np.zeros(len(numbers), dtype=np.bool_)
    return np.union1d(some, np.flatnonzero(is_later)[:1])


def spelled_times(cells: Spelled) -> tuple[Integers, TimeKind] | None:
    """The numbers of cells that are all dates or times in ISO 8601, and their kind; else None.

    As `labelrules.data.times.times_of` reads them, which is asked where this is not certain.
    """
    if not len(cells) or time_kind_of(cells[0].decode()) is None:
        return None
    characters = np.ascontiguousarray(_characters(cells).T)
    lengths = np.count_nonzero(characters, axis=0)
    numbers: Integers = np.empty(len(cells), dtype=np.int64)
    kinds: set[TimeKind] = set()
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        found = _times_of_length(characters[:length, rows])
        if found is None:
            return _times_by_python(spelled_texts(cells))
        numbers[rows] = found[0]
        kinds.add(found[1])
    if len(kinds) > 1 or (numbers.astype(np.float64).astype(np.int64) != numbers).any():
        return _times_by_python(spelled_texts(cells))
    return numbers, kinds.pop()


def _times_by_python(texts: Sequence[str]) -> tuple[Integers, TimeKind] | None:
    found = times_of(texts)
    return None if found is None else (np.array(found[0], dtype=np.int64), found[1])


def _times_of_length(rows: npt.NDArray[np.uint8]) -> tuple[Integers, TimeKind] | None:
    """The numbers of texts of one length, given by their characters; None if not certain."""
    if len(rows) < 10:
        return None
    reader = _Digits(rows)
    days = reader.days()
    if len(rows) == 10:
        return (days, "date") if reader.are_sound else None
    offset, end = reader.zone()
    time = reader.time_of_day(end)
    numbers = days * DAY + time - (0 if offset is None else offset)
    low, high = LIMITS["time"]
    if not reader.are_sound or numbers.min() < low or numbers.max() > high:
        return None
    return numbers, "time" if offset is None else "UTC time"


class _Digits:
    """Numbers at fixed places of texts of one length, and whether all texts are as they must."""

    def __init__(self, rows: npt.NDArray[np.uint8]) -> None:
        self._rows, self.are_sound = rows, True

    def days(self) -> Integers:
        """The dates at the beginning."""
        self._must_be(_MINUS, 4)
        self._must_be(_MINUS, 7)
        years, months = self._number(0, 4, 1, 9999), self._number(5, 7, 1, 12)
        days = self._number(8, 10, 1, 31)
        if not self.are_sound:
            return days
        since = (years - 1970) * 12 + months - 1
        first, after = _first_days(since), _first_days(since + 1)
        self._check((first + days <= after).all())
        return first + days - 1

    def zone(self) -> tuple[Integers | int | None, int]:
        """The offset from UTC in microseconds, if there is one, and where it begins."""
        end = len(self._rows)
        if (self._rows[-1] == _Z).all():
            return 0, end - 1
        if end < 22 or not (self._rows[-3] == _COLON).all():
            return None, end
        signs = self._rows[-6]
        if not ((signs == _MINUS) | (signs == _PLUS)).all():
            return None, end
        offset = self._number(end - 5, end - 3, 0, 23) * 60 + self._number(end - 2, end, 0, 59)
        return np.where(signs == _MINUS, -offset, offset) * _MINUTE, end - 6

    def time_of_day(self, end: int) -> Integers:
        """The microseconds since midnight, from place 10 to the end."""
        self._check(end in (16, 19) or 21 <= end <= 26)
        if not self.are_sound:
            return np.zeros(self._rows.shape[1], dtype=np.int64)
        self._check(((self._rows[10] == _T) | (self._rows[10] == _BLANK)).all())
        self._must_be(_COLON, 13)
        time = (self._number(11, 13, 0, 23) * 60 + self._number(14, 16, 0, 59)) * _MINUTE
        if end > 16:
            self._must_be(_COLON, 16)
            time += self._number(17, 19, 0, 59) * _SECOND
        if end > 19:
            self._must_be(_POINT, 19)
            time += self._number(20, end, 0, _SECOND) * 10 ** (26 - end)
        return time

    def _number(self, start: int, end: int, least: int, most: int) -> Integers:
        number: Integers = np.zeros(self._rows.shape[1], dtype=np.int64)
        for row in self._rows[start:end]:
            digit = row - np.uint8(_ZERO)
            self._check((digit < 10).all())
            number = number * 10 + digit
        self._check(((number >= least) & (number <= most)).all())
        return number

    def _must_be(self, sign: int, place: int) -> None:
        self._check((self._rows[place] == sign).all())

    def _check(self, is_sound: bool | np.bool_) -> None:
        self.are_sound = self.are_sound and bool(is_sound)


def _first_days(months: Integers) -> Integers:
    """The first days of months since 1970 as days since 1970."""
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
