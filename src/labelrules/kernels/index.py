"""Columns sorted once and narrowed down; see README.md, "Index and entries".

The rows of the most frequent value of a column may be left out. So a sparse column costs what it
stores, and a column of words the few texts that have the word.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from labelrules._types import Integers
from labelrules.kernels.jit import chosen_by_type, inner, kernel, small, tiny


class Index(NamedTuple):
    """The entries of all columns, and where each column begins and ends among them."""

    entries: npt.NDArray[np.int32]
    start: Integers
    middle: Integers
    valid: Integers
    stop: Integers


FEW = 8
"""How many times fewer the covered rows must be for picking them one by one."""

_ONE, _NONE = np.uint64(1), np.uint64(0)


@tiny
def row_of(entry):
    """The row of an entry; without a sign, so that compiled code looks for no row below 0."""
    return np.uint32(entry ^ (entry >> 31))


@tiny
def span(first, last):
    """The numbers from `first` up to but without `last`, likewise without a sign."""
    return range(np.uint64(first), np.uint64(last))


@tiny
def _exponent(power):
    """The logarithm of a power of two, read off the float's exponent."""
    return (np.float64(power).view(np.int64) >> 52) - 1023


@tiny
def _keep(source, first, last, covered, target, end):
    """Copy the covered entries to `end` and behind; no branch, since coverage is unpredictable."""
    pending = np.int32(0)
    for i in span(first, last):
        entry = source[i]
        pending |= entry >> 31
        row = row_of(entry)
        target[np.uint64(end)] = np.int32(row) ^ pending
        kept = np.int32(covered[row])
        # The first row of a value may go: its mark is passed on to the first that stays.
        end += kept
        pending &= kept - np.int32(1)
    return end


@inner
def _narrow(index, first, last, covered, narrowed):
    entries, starts, middles, valids, stops = index
    for column in range(first, last):
        begin = end = starts[column]
        stops_before = (middles[column], valids[column], stops[column])
        for part in range(3):
            end = _keep(entries, begin, stops_before[part], covered, narrowed.entries, end)
            begin = stops_before[part]
            if part == 0:
                narrowed.middle[column] = end
            elif part == 1:
                narrowed.valid[column] = end
        narrowed.stop[column] = end


@inner
def _narrow_to_few(index, places, ranked, by_column, first, last, rows, covered, narrowed):
    bits = np.zeros(places.shape[1] // 64 + 1, np.uint64)
    for column in range(first, last):
        if ranked[column] < 0:
            _narrow(index, column, column + 1, covered, narrowed)
            continue
        start = index.start[column]
        place, values = places[ranked[column]], by_column[column]
        for row in rows:
            at = np.uint32(place[np.uint64(row)])
            bits[at >> np.uint32(6)] |= _ONE << np.uint64(at & np.uint32(63))
        end, n_valid, before = start, index.valid[column] - start, np.nan
        narrowed.middle[column] = start
        narrowed.valid[column] = start
        for word in range(len(bits)):
            left = bits[word]
            bits[word] = _NONE
            # From the lowest bit on, so that the rows come sorted by value.
            while left:
                lowest = left & (~left + _ONE)
                left ^= lowest
                at = 64 * word + _exponent(lowest)
                entry = index.entries[start + at]
                row = row_of(entry)
                # The first row of its value is marked; a value that is missing equals nothing.
                narrowed.entries[end] = np.int32(row) if values[row] == before else ~np.int32(row)
                before = values[row]
                end += 1
                if at < n_valid:
                    narrowed.valid[column] = end
        narrowed.stop[column] = end


@inner
def narrow_down(index, narrowed, places, ranked, by_column, is_whole, rows, covered):
    """Narrow all columns by the faster function; from all rows if `is_whole`, else in place."""
    # Not as a constant: for that it would be compiled once more.
    first, n_columns = np.int64(0), len(index.start)
    if not is_whole:
        _narrow(narrowed, first, n_columns, covered, narrowed)
    elif len(places) and FEW * len(rows) < len(covered):
        _narrow_to_few(index, places, ranked, by_column, first, n_columns, rows, covered, narrowed)
    else:
        _narrow(index, first, n_columns, covered, narrowed)


@kernel
def narrow(index, first, last, covered, narrowed):
    """Keep only covered rows, in the columns from `first` to `last`.

    Each column stays at its place, so `narrowed` may be `index` itself, and threads can share it.
    """
    _narrow(index, first, last, covered, narrowed)


@kernel
def narrow_to_few(index, places, ranked, by_column, first, last, rows, covered, narrowed):
    """Keep only covered rows, from the index of all rows, if they are few; see README.md."""
    _narrow_to_few(index, places, ranked, by_column, first, last, rows, covered, narrowed)


def counts_of(code):
    """Widen a code, which is smaller in the processor's cache, to two counts in one number.

    The code of a weighted cell has the two counts already.
    """
    if isinstance(code, np.uint8):
        return (np.int64(code & np.uint8(1)) << np.int64(32)) + np.int64(code >> np.uint8(1))
    return code


def code_of(counted, truth):
    """The code of a cell by whether it counts, or by its weight, and by its truth."""
    if isinstance(counted, np.bool_):
        return np.uint8(np.uint8(counted) * np.uint8(1 + 2 * truth))
    return np.int64(counted) * ((np.int64(1) << np.int64(32)) + np.int64(truth == 1))


def empty_codes(counted, n_rows):
    """Room for codes: a byte each, or a word if cells have weights."""
    return np.empty(n_rows, np.uint8 if counted.dtype == np.bool_ else np.int64)


@chosen_by_type(counts_of)
def _counts_of(code):
    if code == types.uint8:
        return lambda code: (
            (np.int64(code & np.uint8(1)) << np.int64(32)) + np.int64(code >> np.uint8(1))
        )
    return lambda code: code


@chosen_by_type(code_of)
def _code_of(counted, truth):
    if counted == types.boolean:
        return lambda counted, truth: np.uint8(np.uint8(counted) * np.uint8(1 + 2 * truth))
    return lambda counted, truth: (
        np.int64(counted) * ((np.int64(1) << np.int64(32)) + np.int64(truth == 1))
    )


@chosen_by_type(empty_codes)
def _empty_codes(counted, n_rows):
    if counted.dtype == types.boolean:
        return lambda counted, n_rows: np.empty(n_rows, np.uint8)
    return lambda counted, n_rows: np.empty(n_rows, np.int64)


@inner
def sum_of(entries, first, last, codes):
    """The sum of the codes of some entries."""
    total = np.int64(0)
    for i in span(first, last):
        total += counts_of(codes[row_of(entries[i])])
    return total


@small
def cumulate(entries, start, middle, valid, stop, codes, inside, n_inside, unlisted, sums):
    """Add up the codes of a column, value by value; see README.md, "Codes and sums".

    `inside` is the sum over all `n_inside` covered rows. Rows that are not listed have a value if
    `unlisted`, else theirs is missing. `sums` has room for one more than the values. Returns the
    number of values, and the sum over rows that have a value.
    """
    # Rows that are not listed are never touched: their sum is what the listed ones leave.
    total, n_values = _add(entries, start, middle, codes, sums, np.int64(0), np.int64(0))
    gap, before = n_values, total
    is_rest = unlisted and n_inside > stop - start
    n_values += is_rest
    total, n_values = _add(entries, middle, valid, codes, sums, total, n_values)
    if is_rest:
        rest = inside - total - sum_of(entries, valid, stop, codes)
        sums[gap] = before
        for value in range(gap, n_values):
            sums[value] += rest
        total += rest
    return n_values, total


@tiny
def _add(entries, first, last, codes, sums, total, n_values):
    at = n_values - 1
    for i in span(first, last):
        entry = entries[i]
        # A new value begins where the entry is negative; each row overwrites the sum of its value.
        at -= np.int64(entry >> 31)
        total += counts_of(codes[row_of(entry)])
        sums[np.uint64(at)] = total
    return total, at + 1


@kernel
def list_labels(board, labels, rows, entries, start, stop):
    """List the covered rows where each of the labels is written (absent, then present)."""
    end = 0
    for i in range(len(labels)):
        start[i] = end
        cells = board[labels[i]]
        for value in range(2):
            first = end
            for row in rows:
                if cells[np.uint64(row)] == value:
                    entries[end] = row
                    end += 1
            if end > first:
                entries[first] ^= -1
        stop[i] = end


@kernel
def count_written(board, labels, rows):
    """How many cells of the labels and rows are written."""
    n_set = 0
    for label in labels:
        cells = board[label]
        for row in rows:
            n_set += cells[np.uint64(row)] >= 0
    return n_set
