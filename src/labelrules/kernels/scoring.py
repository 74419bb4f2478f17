"""Score sums of cells, many at a time, with the formula inside.

Cells are counted two numbers in one: ``1 << 32`` for each that counts, and 1 for each in which the
label is present. So one addition per row counts both. A *rank* is
a score as an integer of the same order: of many integers the greatest is found several at a time,
which is not so for floats.

Functions that are not compiled here are compiled once per formula, see `specialised`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

ABSENCE, PRESENCE = 1, 2
"""The values that a head may have, and both are 3."""

FIRST, SECOND = 1, 2
"""The operators that a column may have, and both are 3: <= and > for numbers, = and != else."""

NOTHING = np.int64(np.iinfo(np.int64).min)
"""The rank of what is not allowed."""

NO, YES = np.int64(0), np.int64(1)
"""What is predicted; typed, since functions are compiled anew for each literal number."""

SECOND_PLACE = 1 << 40
"""Where the refinements of nominal columns by the second operator begin."""

NO_LIMITS = (np.inf, -1.0)
"""Limits that nothing keeps to."""

BLOCK = 32
"""Sums that are bounded together."""

SLACK = 16
"""Ranks by which rounding might lower a bound."""

_LOW = np.int64(0x7FFFFFFFFFFFFFFF)


class Way(NamedTuple):
    """How refinements are scored, and which are allowed."""

    parameter: float
    relative: bool
    monotone: bool
    smallest: int


def formula(tp, fp, tn, fn, parameter):
    """Stand in for the formula."""
    raise NotImplementedError


@njit(inline="always")
def ones_of(code):
    """The cells of a code in which the label is present."""
    return np.float64(np.int32(code))


@njit(inline="always")
def cells_of(code):
    """The cells of a code."""
    return np.float64(np.int32(code >> 32))


@njit(inline="always")
def _order(score):
    """An integer that compares like the float; none for what is no number."""
    bits = np.float64(score + 0.0).view(np.int64)  # and never -0.0
    rank = bits ^ ((bits >> 63) & _LOW)
    return rank if score == score else NOTHING


@njit(inline="always")
def value_of(rank):
    """The score that has this rank."""
    return np.int64(rank ^ ((rank >> 63) & _LOW)).view(np.float64)


def rank_of(value, ones, zeros, everywhere, way):
    """The rank of predicting `value` in cells with so many ones and zeros."""
    other_ones = ones_of(everywhere) - ones
    other_zeros = cells_of(everywhere) - ones_of(everywhere) - zeros
    right, wrong = (ones, zeros) if value else (zeros, ones)
    mirrored = way.relative and not value
    missed = other_zeros if mirrored else other_ones
    rejected = other_ones if mirrored else other_zeros
    return _order(formula(right, wrong, rejected, missed, way.parameter))


def score_rank(value, inside, everywhere, way):
    """The rank of predicting `value` in the cells inside, `NOTHING` if that is not allowed."""
    ones, cells = ones_of(inside), cells_of(inside)
    rank = rank_of(value, ones, cells - ones, everywhere, way)
    right = ones if value else cells - ones
    return rank if right > 0 and cells >= way.smallest else NOTHING


def bound_rank(value, low, high, everywhere, way):
    """What no sum between two others can exceed, where right cells raise the score."""
    ones = ones_of(high) if value else ones_of(low)
    zeros = cells_of(low) - ones_of(low) if value else cells_of(high) - ones_of(high)
    return rank_of(value, ones, zeros, everywhere, way)


def reach(value, right, wrong, everywhere, way):
    """The rank of a prediction with so many cells right and wrong."""
    ones, zeros = (right, wrong) if value else (wrong, right)
    return rank_of(value, ones, zeros, everywhere, way)


def limits(value, everywhere, top, way):
    """How many cells must be right at least, and may be wrong at most, to reach the top rank.

    Where right cells raise the score and wrong ones lower it; else anything may.
    """
    ones, cells = ones_of(everywhere), cells_of(everywhere)
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
    present = limits(YES, everywhere, top, way) if values & PRESENCE else NO_LIMITS
    absent = limits(NO, everywhere, top, way) if values & ABSENCE else NO_LIMITS
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
        rank, right = score_rank(YES, inside, everywhere, way), ones_of(inside)
    if values & ABSENCE:
        other, zeros = score_rank(NO, inside, everywhere, way), cells_of(inside) - ones_of(inside)
        if other > rank or (other == rank and zeros > right):
            rank, right = other, zeros
    return rank, right


def scan_two(first, last, is_first, everywhere, values, present, absent, way):
    """The same as `scan_values` for the sums of two values, of which the first may not occur."""
    top, most, place = NOTHING, -1.0, -1
    for second in range(2):
        inside = last if second else first
        ones, zeros = ones_of(inside), cells_of(inside) - ones_of(inside)
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
            ones, zeros = ones_of(inside), cells_of(inside) - ones_of(inside)
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
