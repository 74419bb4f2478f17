"""Blocks of CSV lines without odd quotes, split into cells and read as numbers or words at once.

A cell is a place in the bytes of a block. Its last sixteen bytes are two words, numbers of 64 bits,
of which the second holds the last eight bytes; what a shorter cell lacks is zero.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data.files.spelled_cells import Spelled
from labelrules.data.memory.columns import LARGEST_EXACT

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

UNSEEN = -1.0
"""The code of a cell that a table of words does not know."""

_WORD = 8
_LONGEST = 3 * _WORD
_PADDING = bytes(_LONGEST)
_NO_PLACES: Integers = np.empty(0, dtype=np.int64)
_QUOTE, _NEWLINE, _RETURN, _MINUS, _PLUS = b'"\n\r-+'
_CELLS_AT_ONCE = 1 << 14  # so that what is computed stays in the processor's cache
_CELLS_TOGETHER = _CELLS_AT_ONCE << 2  # of several columns; of all columns they would fill memory
_MOST_WORDS = 1 << 13
_FIRST_FACTOR, _SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F  # odd, with mixed bits
_ALL_BITS = 2**64 - 1


def _eight(byte: int) -> np.uint64:
    """A word of eight equal bytes."""
    return np.uint64(int.from_bytes(bytes([byte]) * _WORD))


_ZEROS, _POINTS, _TOP_BITS, _OTHER_BITS = map(_eight, (ord("0"), ord("."), 0x80, 0x7F))
_UPPER_HALVES, _SIXES, _THREES = map(_eight, (0xF0, 0x06, 0x33))
_POWERS = np.array([10**n for n in range(_WORD + 1)], dtype=np.int64)
_DIVISORS = np.array([float(10**n) for n in range(23)])  # further ones would be rounded
_LARGEST_UPPER = 922  # followed by sixteen digits it is below 2**63


@dataclass(frozen=True)
class PlainRows:
    """Rows of a block: where each cell begins and ends, column by column, and the rows' lines."""

    data: bytes
    starts: Integers
    ends: Integers
    row_lines: Integers

    @classmethod
    def of(cls, lines: bytes, first_line: int, n_columns: int, delimiter: str) -> Self | None:
        """The rows of whole lines; None unless splitting at delimiters and line ends is enough.

        Those within quotes, an odd number of quotes after the start, are left out.
        """
        if not lines or b"\0" in lines or not delimiter.isascii():
            return None
        data = _PADDING + lines + _PADDING  # so that there are enough bytes around every cell
        text = np.frombuffer(data, dtype=np.uint8)
        places = np.flatnonzero((text == _NEWLINE) | (text == ord(delimiter)))
        quotes = _NO_PLACES
        if b'"' in lines:
            places, quotes = _without_quoted(text, places)
        n_rows, rest = divmod(len(places), n_columns)
        if rest or not n_rows:
            return None
        ends = np.ascontiguousarray(places.reshape(n_rows, n_columns).T)
        if not (text[ends[-1]] == _NEWLINE).all() or ends[-1, -1] != len(data) - len(_PADDING) - 1:
            return None
        if (text[ends[:-1]] == _NEWLINE).any():
            return None
        starts = np.empty_like(ends)
        starts[1:] = ends[:-1] + 1
        starts[0, 0], starts[0, 1:] = len(_PADDING), ends[-1, :-1] + 1
        row_lines = first_line + _lines_before(text, starts[0])
        if b"\r" in lines and not _without_returns(text, ends):
            return None
        lengths = ends - starts
        if n_columns == 1 and not lengths.all():  # an empty line is no row
            return None
        if lengths.max() > csv.field_size_limit():
            return None
        if len(quotes):
            doubled = _without_quotes(text, quotes, starts, ends)
            if doubled is None:
                return None
            if len(doubled):
                data = _without_places(text, doubled, starts, ends)
        return cls(data, starts, ends, row_lines)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.starts[0])

    def lines(self, rows: Integers | None = None) -> list[int]:
        """The lines of all rows, or of some."""
        lines = self.row_lines if rows is None else self.row_lines[rows]
        return [*lines.tolist()]

    def cells(self, column: int, rows: Integers | None = None) -> list[str]:
        """The cells of a column as text, all or those of some rows."""
        chosen = slice(None) if rows is None else rows
        starts, ends = self.starts[column][chosen].tolist(), self.ends[column][chosen].tolist()
        text = self._text
        if text is not None:
            return [text[start:end] for start, end in zip(starts, ends, strict=True)]
        return [self.data[start:end].decode() for start, end in zip(starts, ends, strict=True)]

    @cached_property
    def _text(self) -> str | None:
        """The bytes as text, if it has as many characters."""
        return self.data.decode() if self.data.isascii() else None

    def letters(self, column: int) -> Bytes | None:
        """The cells of a column if each is one byte or empty, which is 0; else None."""
        lengths = self.ends[column] - self.starts[column]
        if lengths.max() > 1:
            return None
        letters: Bytes = np.frombuffer(self.data, dtype=np.uint8)[self.starts[column]]
        letters[lengths == 0] = 0
        return letters

    def words(self, column: int) -> tuple[Words, Words, Mask]:
        """The two words of each cell of a column, and which cells are longer."""
        ends, lengths = self.ends[column], self.ends[column] - self.starts[column]
        first = _last_bytes(self.data, ends, lengths, _WORD)
        return first, _last_bytes(self.data, ends, lengths), lengths > 2 * _WORD

    def lengths(self, column: int, rows: Integers) -> Integers:
        """The numbers of bytes of some cells of a column."""
        found: Integers = self.ends[column][rows] - self.starts[column][rows]
        return found

    def spelled(self, column: int, rows: Integers) -> Spelled:
        """Some cells of a column as bytes of one width."""
        starts, ends = self.starts[column][rows], self.ends[column][rows]
        n_words = max(1, -(-(ends - starts).max(initial=0) // _WORD))
        words = np.empty((len(rows), n_words), dtype="<u8")
        for place in range(n_words):
            begin = np.minimum(starts + _WORD * place, ends)
            lacking = _lacking_bits(ends - begin, 0)
            words[:, place] = _bytes_before(self.data, begin + _WORD) << lacking >> lacking
        return words.view(f"S{_WORD * n_words}")[:, 0]

    def numbers(self, columns: list[int], missing: str) -> Iterator[tuple[Floats, Mask]]:
        """Cells as numbers, column by column, NaN where missing; and which are beyond doubt."""
        at_once = max(1, _CELLS_TOGETHER // self.n_rows)
        for left in range(0, len(columns), at_once):
            some = columns[left : left + at_once]
            starts, ends = self.starts[some], self.ends[some]
            values: Floats = np.empty(starts.shape)
            sound: Mask = np.empty(starts.shape, dtype=np.bool_)
            for first in range(0, starts.size, _CELLS_AT_ONCE):
                cells = slice(first, first + _CELLS_AT_ONCE)
                places = starts.reshape(-1)[cells], ends.reshape(-1)[cells]
                numbers, are_sound = _numbers(self.data, *places, missing.encode())
                values.reshape(-1)[cells], sound.reshape(-1)[cells] = numbers, are_sound
            yield from zip(values, sound, strict=True)


def _without_returns(text: Bytes, ends: Integers) -> bool:
    """Move the ends before the first of the two characters that end each line; else False."""
    ends[-1] -= 1
    n_returns = np.count_nonzero(text == _RETURN)
    return n_returns == len(ends[-1]) and bool((text[ends[-1]] == _RETURN).all())


def _without_quoted(text: Bytes, places: Integers) -> tuple[Integers, Integers]:
    """The places that follow an even number of quotes, and those of the quotes."""
    are_signs = text == _QUOTE
    are_signs[places] = True
    signs = np.flatnonzero(are_signs)
    are_quotes = text[signs] == _QUOTE
    follow_odd = np.logical_xor.accumulate(are_quotes)
    return signs[~follow_odd & ~are_quotes], signs[are_quotes]


def _lines_before(text: Bytes, starts: Integers) -> Integers:
    """How many lines end before some places."""
    line_ends = np.flatnonzero(text == _NEWLINE)
    if len(line_ends) == len(starts):
        return np.arange(len(starts))
    return np.searchsorted(line_ends, starts)


def _without_quotes(
    text: Bytes, quotes: Integers, starts: Integers, ends: Integers
) -> Integers | None:
    """Move starts and ends into the quotes; and the first of each two quotes that stand for one.

    None if there are other quotes than these and those around cells. Outside of quotes their
    number is even, so that they open and close by turns.
    """
    is_quoted = text[starts] == _QUOTE
    opening, closing = quotes[::2], quotes[1::2]
    are_doubled = closing[:-1] + 1 == opening[1:]
    n_quoted = np.count_nonzero(is_quoted)
    closed = (text[ends - 1] == _QUOTE) & (ends - starts > 1)
    if len(opening) - np.count_nonzero(are_doubled) != n_quoted or not closed[is_quoted].all():
        return None
    starts += is_quoted
    ends -= is_quoted
    doubled: Integers = closing[:-1][are_doubled]
    return doubled


def _without_places(text: Bytes, places: Integers, starts: Integers, ends: Integers) -> bytes:
    """The text without some bytes; starts and ends are moved."""
    is_kept: Mask = np.ones(len(text), dtype=np.bool_)
    is_kept[places] = False
    starts -= np.searchsorted(places, starts)
    ends -= np.searchsorted(places, ends)
    return text[is_kept].tobytes()


def _last_bytes(data: bytes, ends: Integers, lengths: Integers, shift: int = 0) -> Words:
    """The last eight bytes of cells, or the eight before those if shifted by a word."""
    lacking = _lacking_bits(lengths, shift)
    return _bytes_before(data, ends - shift) >> lacking << lacking


def _bytes_before(data: bytes, places: Integers) -> Words:
    words: Words = np.ndarray(len(data) - _WORD + 1, dtype="<u8", buffer=data, strides=(1,))
    return words[places - _WORD]


def _lacking_bits(lengths: Integers, shift: int) -> Words:
    """How many bits of a word a cell does not fill; NumPy shifts all bits out by 64."""
    n_bytes = np.minimum(np.maximum(_WORD + shift - lengths, 0), _WORD)
    return (n_bytes << 3).view(np.uint64)


def _numbers(data: bytes, starts: Integers, ends: Integers, missing: bytes) -> tuple[Floats, Mask]:
    """Cells as numbers if they are digits, perhaps with a sign and a point, and exactly so."""
    signs = np.frombuffer(data, dtype=np.uint8)[starts]
    is_negative = signs == _MINUS
    lengths = ends - starts
    n_signs = is_negative | (signs == _PLUS)
    whole, n_decimals, sound = _digits(data, ends, lengths - n_signs)
    values = whole / _DIVISORS[n_decimals]  # both are exact up to 2**53, and rounded once
    large = np.flatnonzero(whole > LARGEST_EXACT)
    if len(large):
        values[large], certain = _quotients(whole[large], n_decimals[large])
        sound[large] &= certain
    sound &= values < LARGEST_EXACT
    np.negative(values, out=values, where=is_negative)
    is_missing: Mask = lengths == len(missing)
    if len(missing) > 2 * _WORD:  # which two words do not show
        return values, sound & ~is_missing
    if missing:
        wanted = np.frombuffer(missing.rjust(2 * _WORD, b"\0"), dtype="<u8")
        is_missing &= _last_bytes(data, ends, lengths) == wanted[1]
        is_missing &= _last_bytes(data, ends, lengths, _WORD) == wanted[0]
    values[is_missing] = np.nan
    return values, sound | is_missing


def _digits(data: bytes, ends: Integers, lengths: Integers) -> tuple[Integers, Integers, Mask]:
    """Cells as whole numbers without their points, and how many digits follow the points.

    And which cells are sound: at most one point, at least one digit, and nothing else.
    """
    whole: Integers = np.zeros(len(ends), dtype=np.int64)
    n_decimals: Integers = np.zeros(len(ends), dtype=np.int64)
    n_points = np.zeros(len(ends), dtype=np.uint8)
    longest = lengths.max(initial=0)
    sound: Mask = lengths <= _LONGEST
    for shift in range(_LONGEST - _WORD, -1, -_WORD):
        if shift and longest <= shift:
            continue
        kept = np.uint64(_ALL_BITS) << _lacking_bits(lengths, shift)
        # what a cell lacks is read as leading zeros
        word = (_bytes_before(data, ends - shift) & kept) | (_ZEROS & ~kept)
        points = _points(word)
        n_decimals += _WORD * (n_points > 0)
        if points.any():
            word, n_after = _without_points(word, points)
            n_decimals += n_after
            n_points += np.bitwise_count(points)
        sound &= _are_digits(word)
        whole = whole * _POWERS[_WORD - (points > 0)] + _eight_digits(word)
        if shift == 2 * _WORD:  # so that the product fits into 64 bits
            sound &= whole < _LARGEST_UPPER
            whole *= sound
    sound &= (n_points <= 1) & (lengths > n_points) & (n_decimals < len(_DIVISORS))
    return whole * sound, n_decimals * sound, sound


def _without_points(words: Words, points: Words) -> tuple[Words, Integers]:
    """Words with a 0 before all bytes instead of the point, and how many bytes follow that."""
    is_there = points > 0
    first_byte: Words = is_there * np.uint64(0xFF)
    before: Words = (points - np.uint64(1)) * is_there
    after: Words = ~(before << np.uint64(8) | first_byte)
    moved: Words = (words & before) << np.uint64(8) | (first_byte & _ZEROS)
    n_after = np.bitwise_count(after).astype(np.int64) >> 3
    return (words & after) | moved, n_after * is_there


def _quotients(whole: Integers, n_decimals: Integers) -> tuple[Floats, Mask]:
    """Whole numbers beyond 2**53 divided by powers of ten, and which are certainly rounded well.

    The remainder of the rounded division, which is exact, gives a correction. If making it a little
    larger or smaller changes nothing, then neither does its own rounding.
    """
    upper = whole.astype(np.float64)
    lower = (whole - upper.astype(np.int64)).astype(np.float64)
    power = _DIVISORS[n_decimals]
    quotient = upper / power
    quotient_high, quotient_low = _halves(quotient)
    power_high, power_low = _halves(power)
    product = quotient * power
    rest = quotient_high * power_high - product
    rest += quotient_high * power_low
    rest += quotient_low * power_high
    rest += quotient_low * power_low
    correction = (upper - product - rest + lower) / power
    slack = np.abs(correction) * 2.0**-40
    values = quotient + correction
    certain = (quotient + (correction - slack) == values) & (
        quotient + (correction + slack) == values
    )
    return values, certain


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    """Numbers as sums of two with half as many digits, whose products are exact."""
    spread = numbers * (2.0**27 + 1)
    high = spread - (spread - numbers)
    return high, numbers - high


def _points(words: Words) -> Words:
    """A bit for each byte that is a point; if a byte is not ASCII, the digits are refused."""
    return (~((words ^ _POINTS) + _OTHER_BITS) & _TOP_BITS) >> np.uint64(7)


def _are_digits(words: Words) -> Mask:
    """Whether all bytes begin with the bits of digits, also after six is added."""
    upper, sums = words & _UPPER_HALVES, (words + _SIXES) & _UPPER_HALVES
    are_digits: Mask = (upper | sums >> np.uint64(4)) == _THREES
    return are_digits


def _eight_digits(words: Words) -> Integers:
    """The number that eight digits are, by adding up neighbours: digits, pairs, fours."""
    digits = words - _ZEROS
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    odd = (pairs & np.uint64(0x000000FF000000FF)) * np.uint64(100 + (10**6 << 32))
    even = (pairs >> np.uint64(16) & np.uint64(0x000000FF000000FF)) * np.uint64(1 + (10**4 << 32))
    return ((odd + even) >> np.uint64(32)).astype(np.int64)


class WordTable:
    """Codes of cells by their two words: a hash table that is searched for all cells at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], float] = {}
        self._resize(6)

    def find(self, first: Words, second: Words) -> Floats:
        """The codes of cells, `UNSEEN` if they are not known."""
        mixed = first * np.uint64(_FIRST_FACTOR) + second * np.uint64(_SECOND_FACTOR)
        slots = (mixed >> np.uint64(64 - self._n_bits)).astype(np.int64)
        codes = self._codes[slots]
        rest = np.flatnonzero((self._first[slots] != first) | (self._second[slots] != second))
        codes[rest] = UNSEEN
        while len(rest):  # the word in the slot is another one: perhaps the next slot has it
            rest = rest[self._is_taken[slots[rest]]]
            slots[rest] = (slots[rest] + 1) % len(self._codes)
            places = slots[rest]
            same = (self._first[places] == first[rest]) & (self._second[places] == second[rest])
            codes[rest[same]] = self._codes[places[same]]
            rest = rest[~same]
        return codes

    def add(self, first: Words, second: Words, codes: Floats) -> None:
        """Note the codes of some cells, one for each code, until there are too many."""
        _, one = np.unique(codes, return_index=True)
        one = one[: _MOST_WORDS - len(self._known)]
        words = zip(first[one].tolist(), second[one].tolist(), strict=True)
        new = dict(zip(words, codes[one].tolist(), strict=True))
        self._known |= new
        if 2 * len(self._known) > len(self._codes):
            self._resize(len(self._known).bit_length() + 2)
            return
        for (first_word, second_word), code in new.items():
            self._put(first_word, second_word, code)

    def _resize(self, n_bits: int) -> None:
        self._n_bits = n_bits
        self._first: Words = np.zeros(2**n_bits, dtype=np.uint64)
        self._second: Words = np.zeros(2**n_bits, dtype=np.uint64)
        self._codes: Floats = np.full(2**n_bits, UNSEEN)
        self._is_taken: Mask = np.zeros(2**n_bits, dtype=np.bool_)
        for (first, second), code in self._known.items():
            self._put(first, second, code)

    def _put(self, first: int, second: int, code: float) -> None:
        mixed = (first * _FIRST_FACTOR + second * _SECOND_FACTOR) & _ALL_BITS
        slot = mixed >> (64 - self._n_bits)
        while self._is_taken[slot]:
            slot = (slot + 1) % len(self._codes)
        self._first[slot], self._second[slot] = first, second
        self._codes[slot], self._is_taken[slot] = code, True
