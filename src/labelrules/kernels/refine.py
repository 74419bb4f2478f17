"""Count and score every refinement of a body in one pass.

For each label the cells that count are coded row by row, two numbers in one: ``1 << 32`` if the
cell counts, and 1 if the label is present in it. So one addition per row counts both. A *rank* is
a score as an integer of the same order: of many integers the greatest is found several at a time,
which is not so for floats.

The kernels are compiled once per formula, with the formula inside; see `specialised`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from labelrules._types import Integers
from labelrules.kernels.columns import Index, cumulate

ABSENCE, PRESENCE = 1, 2
"""The values that a head may have, and both are 3."""

FIRST, SECOND = 1, 2
"""The operators that a column may have, and both are 3: <= and > for numbers, = and != else."""

NOTHING = np.iinfo(np.int64).min
"""The rank of what is not allowed."""

SECOND_PLACE = 1 << 40
"""Where the refinements of nominal columns by the second operator begin."""

NUMERIC, NOMINAL, ONE_LISTED = 0, 1, 2
"""Kinds of columns; the last is nominal, and all rows that it lists have the same value."""

NO_LIMITS = (np.inf, -1.0)
"""Limits that nothing keeps to."""

BLOCK = 32
"""Sums that are bounded together."""

SLACK = 16
"""Ranks by which rounding might lower a bound."""

_LOW = np.int64(0x7FFFFFFFFFFFFFFF)
_CELL = np.int64(1) << 32


class Cells(NamedTuple):
    """The truth and the cells that count, by labels and rows, and the values heads may have.

    Where the two values of a label count different cells there are two layers of ``counted``,
    for absence and for presence; else there is one.
    """

    truth: npt.NDArray[np.int8]
    counted: npt.NDArray[np.bool_]
    values: npt.NDArray[np.int8]


class Space(NamedTuple):
    """The columns that a body may be refined by.

    ``operators`` has one row, or one for each label of a head.
    """

    listing: Index
    unlisted: bool
    nominal: npt.NDArray[np.int8]
    operators: npt.NDArray[np.int8]


class Way(NamedTuple):
    """How refinements are scored, and which are allowed."""

    parameter: float
    relative: bool
    monotone: bool
    smallest: int


class Best(NamedTuple):
    """The best refinement for each target.

    Ranks, numbers of right cells, columns, and places among the refinements by the column: twice
    the number of a cut, plus 1 for the second operator; the number of a value, plus `SECOND_PLACE`
    for the second operator.
    """

    ranks: Integers
    corrects: Integers
    columns: Integers
    places: Integers


def formula(tp, fp, tn, fn, parameter):
    """Stand in for the formula."""
    raise NotImplementedError


@njit(inline="always")
def _ones(code):
    return np.float64(np.int32(code))


@njit(inline="always")
def _cells(code):
    return np.float64(np.int32(code >> 32))


@njit(inline="always")
def _order(score):
    """An integer that compares like the float; none for what is no number."""
    bits = np.float64(score + 0.0).view(np.int64)  # and never -0.0
    rank = bits ^ ((bits >> 63) & _LOW)
    return rank if score == score else NOTHING


def rank_of(value, ones, zeros, everywhere, way):
    """The rank of predicting `value` in cells with so many ones and zeros."""
    other_ones = _ones(everywhere) - ones
    other_zeros = _cells(everywhere) - _ones(everywhere) - zeros
    right, wrong = (ones, zeros) if value else (zeros, ones)
    mirrored = way.relative and not value
    missed = other_zeros if mirrored else other_ones
    rejected = other_ones if mirrored else other_zeros
    return _order(formula(right, wrong, rejected, missed, way.parameter))


def score_rank(value, inside, everywhere, way):
    """The rank of predicting `value` in the cells inside, `NOTHING` if that is not allowed."""
    ones, cells = _ones(inside), _cells(inside)
    rank = rank_of(value, ones, cells - ones, everywhere, way)
    right = ones if value else cells - ones
    return rank if right > 0 and cells >= way.smallest else NOTHING


def bound_rank(value, low, high, everywhere, way):
    """What no sum between two others can exceed, where right cells raise the score."""
    ones = _ones(high) if value else _ones(low)
    zeros = _cells(low) - _ones(low) if value else _cells(high) - _ones(high)
    return rank_of(value, ones, zeros, everywhere, way)


def reach(value, right, wrong, everywhere, way):
    """The rank of a prediction with so many cells right and wrong."""
    ones, zeros = (right, wrong) if value else (wrong, right)
    return rank_of(value, ones, zeros, everywhere, way)


def limits(value, everywhere, top, way):
    """How many cells must be right at least, and may be wrong at most, to reach the top rank.

    Where right cells raise the score and wrong ones lower it; else anything may.
    """
    ones, cells = _ones(everywhere), _cells(everywhere)
    rights, wrongs = (ones, cells - ones) if value else (cells - ones, ones)
    if top == NOTHING or not (way.monotone and (value or way.relative)):
        return 1.0, wrongs
    low, high = 0.0, rights  # the least number is above low and at most high, if there is one
    while high - low > 1:
        middle = np.floor((low + high) / 2)
        if reach(value, middle, 0.0, everywhere, way) + SLACK < top:
            low = middle
        else:
            high = middle
    least, low, high = high, 0.0, wrongs + 1  # the most is at least low and below high
    while high - low > 1:
        middle = np.floor((low + high) / 2)
        if reach(value, rights, middle, everywhere, way) + SLACK < top:
            high = middle
        else:
            low = middle
    return least, low


def both_limits(everywhere, values, top, way):
    """The limits for presence and for absence."""
    present = limits(1, everywhere, top, way) if values & PRESENCE else NO_LIMITS
    absent = limits(0, everywhere, top, way) if values & ABSENCE else NO_LIMITS
    return present, absent


def greatest(value, sums, n, offset, sign, everywhere, floor, bounded, way):
    """The greatest rank that predicting `value` reaches for the first n sums, if above `floor`.

    Sums that rise are taken block by block, and a block is left out when even the most cells
    right and the fewest wrong that occur in it would not do.
    """
    best = floor
    block = BLOCK if bounded else max(n, 1)
    for start in range(0, n, block):
        stop = min(start + block, n)
        if bounded:
            low, high = offset + sign * sums[start], offset + sign * sums[stop - 1]
            if sign < 0:
                low, high = high, low
            if bound_rank(value, low, high, everywhere, way) + SLACK < best:
                continue
        for i in range(start, stop):
            best = max(best, score_rank(value, offset + sign * sums[i], everywhere, way))
    return best


def greatest_of_column(sums, n, total, operators, floor, everywhere, values, way):
    """The greatest rank of all refinements by a numeric column, if above `floor`."""
    best = floor
    for case in range(4):  # one call, so that it is compiled once
        value, second = 1 - case // 2, case % 2
        if values & (1 << value) and operators & (1 << second):
            offset, sign = (total, -1) if second else (0, 1)
            bounded = way.monotone and (value or way.relative)
            best = greatest(value, sums, n, offset, sign, everywhere, best, bounded, way)
    return best


def better_value(inside, everywhere, values, way):
    """The rank and the right cells of the better value; presence if they are equal."""
    rank, right = NOTHING, -1.0
    if values & PRESENCE:
        rank, right = score_rank(1, inside, everywhere, way), _ones(inside)
    if values & ABSENCE:
        other, zeros = score_rank(0, inside, everywhere, way), _cells(inside) - _ones(inside)
        if other > rank or (other == rank and zeros > right):
            rank, right = other, zeros
    return rank, right


def scan_two(first, last, is_first, everywhere, values, present, absent, way):
    """The same as `scan_values` for the sums of two values, of which the first may not occur."""
    top, most, place = NOTHING, -1.0, -1
    for second in range(2):
        inside = last if second else first
        ones, zeros = _ones(inside), _cells(inside) - _ones(inside)
        can_be_present = ones >= present[0] and zeros <= present[1]
        can_be_absent = zeros >= absent[0] and ones <= absent[1]
        if can_be_present or can_be_absent:
            rank, right = better_value(inside, everywhere, values, way)
            if rank > top or (rank == top and right > most):
                top, most, place = rank, right, second and is_first
    return top, most, np.int64(place)


def scan_values(sums, n, total, operators, everywhere, values, present, absent, way):
    """The best refinement by a nominal column: its rank, its right cells and its place.

    What does not keep to the limits for presence or absence is left out.
    """
    top, most, place = NOTHING, -1.0, -1
    # Of two values the one is what the other is not: nothing to be had from the second operator.
    for second in range(2 if n > 2 else 1):
        if not operators & (SECOND if second else FIRST):
            continue
        for i in range(n):
            inside = total - sums[i] if second else sums[i]
            ones, zeros = _ones(inside), _cells(inside) - _ones(inside)
            can_be_present = ones >= present[0] and zeros <= present[1]
            can_be_absent = zeros >= absent[0] and ones <= absent[1]
            if not (can_be_present or can_be_absent):
                continue
            rank, right = better_value(inside, everywhere, values, way)
            if rank > top or (rank == top and right > most):
                top, most, place = rank, right, second * SECOND_PLACE + i
    return top, most, place


def scan_cuts(sums, n, total, operators, floor, everywhere, values, way):
    """The same for a numeric column, if its rank is above `floor`."""
    rank = greatest_of_column(sums, n, total, operators, floor, everywhere, values, way)
    most, place = -1.0, -1
    if rank == floor:
        return NOTHING, most, place
    for i in range(2 * n):
        if operators & (1 << i % 2):
            inside = total - sums[i // 2] if i % 2 else sums[i // 2]
            reached, right = better_value(inside, everywhere, values, way)
            if reached == rank and right > most:
                most, place = right, i
    return rank, most, place


@njit
def _encode(truth, counted, codes):
    """The code of each row, and their sum."""
    everywhere = np.int64(0)
    for row in range(len(codes)):
        code = (_CELL + truth[row]) * counted[row]
        codes[row] = code
        everywhere += code
    return everywhere


@njit
def _sum_inside(codes, rows):
    inside = np.int64(0)
    for row in rows:
        inside += codes[row]
    return inside


@njit(inline="always")
def _refinements(
    entries, start, middle, valid, stop, nominal, unlisted, codes, inside, n_inside, sums
):
    """The sums of all refinements by a column with its first operator, how many, and the total."""
    if nominal == ONE_LISTED:
        return _two_values(entries, start, middle, valid, stop, codes, inside, n_inside, sums)
    n, total = cumulate(
        entries, start, middle, valid, stop, codes, inside, n_inside, unlisted, sums
    )
    if not nominal:
        return max(n - 1, 0), total  # nothing is greater than the greatest value
    for i in range(n - 1, 0, -1):
        sums[i] -= sums[i - 1]
    return n, total


@njit
def _two_values(entries, start, middle, valid, stop, codes, inside, n_inside, sums):
    """The same for a column that lists the rows of one value: the other is before or after."""
    n, listed, missing = 0, np.int64(0), np.int64(0)
    for i in range(start, valid):
        listed += codes[entries[i] ^ (entries[i] >> 31)]
    for i in range(valid, stop):
        missing += codes[entries[i] ^ (entries[i] >> 31)]
    for listed_now in (middle > start, middle == start):
        if listed_now and valid > start:
            sums[n] = listed
            n += 1
        elif not listed_now and n_inside > stop - start:
            sums[n] = inside - listed - missing
            n += 1
    return n, inside - missing


def best_refinements(space, first, last, rows, cells, targets, way, best, reached):
    """The best refinement by a column from `first` to `last`, for each target.

    A target is a label, and with two layers of cells twice its number plus the value. Where
    `reached` has rows it is told, by targets and columns, which reach the best rank.
    """
    # Taken apart once: handing on a tuple of arrays costs more than counting a short column.
    (entries, start, middle, valid, stop), unlisted, nominal, all_operators = space
    n_layers, n_inside = len(cells.counted), len(rows)
    codes = np.empty(cells.truth.shape[1], np.int64)
    sums = np.empty(n_inside + 2, np.int64)
    ranks = np.empty(nominal.size, np.int64)
    for i in range(len(targets)):
        label, layer = targets[i] // n_layers, targets[i] % n_layers
        allowed = all_operators[label if len(all_operators) > 1 else 0]
        values = cells.values[label] & (3 if n_layers == 1 else 1 << layer)
        everywhere = _encode(cells.truth[label], cells.counted[layer, label], codes)
        inside = _sum_inside(codes, rows)
        top, most, where, place = NOTHING, -1.0, -1, -1
        present, absent = both_limits(everywhere, values, top, way)
        for column in range(first, last):
            ranks[column] = NOTHING
            operators = allowed[column]
            if not operators:
                continue
            begin, end, behind = start[column], valid[column], stop[column]
            if nominal[column] == ONE_LISTED and operators & FIRST:
                # The most frequent case, without handing on arrays: that takes longer than it.
                listed, missing = np.int64(0), np.int64(0)
                for entry in entries[begin:end]:
                    listed += codes[entry ^ (entry >> 31)]
                for entry in entries[end:behind]:
                    missing += codes[entry ^ (entry >> 31)]
                n_rest = n_inside - (behind - begin)
                rest = inside - listed - missing if n_rest > 0 else 0
                if middle[column] == begin:
                    rank, right, at = scan_two(
                        rest, listed, n_rest > 0, everywhere, values, present, absent, way
                    )
                else:
                    rank, right, at = scan_two(
                        listed, rest, end > begin, everywhere, values, present, absent, way
                    )
            else:
                n, total = _refinements(
                    entries, begin, middle[column], end, behind, nominal[column], unlisted, codes,
                    inside, n_inside, sums,
                )  # fmt: skip
                if nominal[column]:
                    rank, right, at = scan_values(
                        sums, n, total, operators, everywhere, values, present, absent, way
                    )
                else:
                    # One below the best so far: what equals the best shall be found.
                    floor = max(top, NOTHING + 1) - 1
                    rank, right, at = scan_cuts(
                        sums, n, total, operators, floor, everywhere, values, way
                    )
            if rank < top or rank == NOTHING:
                continue
            ranks[column] = rank
            if rank > top:
                present, absent = both_limits(everywhere, values, rank, way)
            if rank > top or right > most:
                top, most, where, place = rank, right, column, at
        best.ranks[i], best.corrects[i], best.columns[i], best.places[i] = top, most, where, place
        if len(reached):
            for column in range(first, last):
                reached[i, column] = ranks[column] == top


@njit(nogil=True, cache=True)
def count_refinements(space, column, rows, cells, labels, sums, totals):
    """Count all refinements by one column, for layers and labels, and tell how many there are.

    `sums` receives the codes of the cells inside with the first operator, `totals` those of all
    rows where the column has a value.
    """
    (entries, start, middle, valid, stop), unlisted, nominal, _ = space
    codes = np.empty(cells.truth.shape[1], np.int64)
    n = 0
    for layer in range(len(cells.counted)):
        for i in range(len(labels)):
            label = labels[i]
            _encode(cells.truth[label], cells.counted[layer, label], codes)
            inside = _sum_inside(codes, rows)
            n, totals[layer, i] = _refinements(
                entries, start[column], middle[column], valid[column], stop[column],
                nominal[column], unlisted, codes, inside, len(rows), sums[layer, i],
            )  # fmt: skip
    return n
