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

OPEN, SATURATED, SURE = 0, 1, 2
"""Whether a rank can be exceeded, or not, or not and all that keeps to its limits has it."""

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
    """The same as `scan_values` for the sums of two values, of which the first may not occur.

    Tells the ranks and the right cells of both, too.
    """
    ranks, rights = (NOTHING, NOTHING), (-1.0, -1.0)
    for second in range(2):
        inside = last if second else first
        ones, zeros = ones_of(inside), cells_of(inside) - ones_of(inside)
        can_be_present = ones >= present[0] and zeros <= present[1]
        can_be_absent = zeros >= absent[0] and ones <= absent[1]
        if can_be_present or can_be_absent:
            rank, right = better_value(inside, everywhere, values, way)
            ranks, rights = (ranks[1], rank), (rights[1], right)
        else:
            ranks, rights = (ranks[1], NOTHING), (rights[1], -1.0)
    if ranks[1] > ranks[0] or (ranks[1] == ranks[0] and rights[1] > rights[0]):
        return ranks[1], rights[1], np.int64(is_first), ranks, rights
    return ranks[0], rights[0], np.int64(0), ranks, rights


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


def saturation(everywhere, values, present, absent, top, way):
    """What limits tell of the top rank: `OPEN`, `SATURATED` or `SURE`."""
    ones, cells = ones_of(everywhere), cells_of(everywhere)
    level = SURE
    for value in range(2):
        if values & (1 << value):
            least, wrong = present if value else absent
            rights = ones if value else cells - ones
            if not (way.monotone and (value or way.relative)):
                return OPEN
            if reach(value, rights, 0.0, everywhere, way) > top:
                return OPEN
            right = max(least, 1.0)
            while wrong == 0 and right <= rights and level == SURE:
                if reach(value, right, 0.0, everywhere, way) != top:
                    level = SATURATED
                right += 1
            if wrong > 0:
                level = SATURATED
    return level


@njit(inline="always")
def mark(marks, first, bucket, buckets, right):
    """Keep the most right cells of a bucket, if marks are kept."""
    if len(marks):
        slot = first + min(bucket, buckets - 1)
        marks[slot] = max(marks[slot], np.int32(right))


def scan_block(
    sums, n, before, total, operators, everywhere, values, present, absent, level, way, best,
    marks, first, buckets, width,
):  # fmt: skip
    """The best of a block of cuts and of what came before: rank, right cells and place.

    `before` are the cuts that came before. What does not keep to the limits for presence or
    absence is left out. Where there are `marks` they receive, from `first` on, the most right
    cells with which the best rank is reached, by operator and bucket of cuts.
    """
    top, most, place = best
    if level == OPEN:
        floor = max(top, NOTHING + 1) - 1  # what equals the best shall be found
        rank = greatest_of_column(sums, n, total, operators, floor, everywhere, values, way)
        if rank == floor:
            return best
        if rank > top:
            top, most, place = rank, -1.0, -1
            if len(marks):
                marks[first : first + 2 * buckets] = 0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for second in range(2):
            offset, sign = (total, -1) if second else (0, 1)
            low, high = offset + sign * sums[start], offset + sign * sums[stop - 1]
            low, high = (high, low) if second else (low, high)
            if not operators & (1 << second):
                continue
            if not can_reach(top, low, high, everywhere, values, way):
                continue
            bucket = (before + start) // width
            until, reached = (bucket + 1) * width - before, 0.0
            for i in range(start, stop):
                if i == until:
                    mark(marks, first + second * buckets, bucket, buckets, reached)
                    bucket, until, reached = bucket + 1, until + width, 0.0
                inside = offset + sign * sums[i]
                ones, zeros = ones_of(inside), cells_of(inside) - ones_of(inside)
                allowed = (PRESENCE if ones >= present[0] and zeros <= present[1] else 0) | (
                    ABSENCE if zeros >= absent[0] and ones <= absent[1] else 0
                )
                if not allowed or ones + zeros < way.smallest:
                    continue
                rank, right = top, (ones if allowed & PRESENCE else zeros)
                if level < SURE:
                    rank, right = better_value(inside, everywhere, values & allowed, way)
                if rank < top or rank == NOTHING:
                    continue
                if rank > top:
                    top, most, place, reached = rank, -1.0, -1, 0.0
                    if len(marks):
                        marks[first : first + 2 * buckets] = 0
                at = 2 * (before + i) + second
                if right > most or (right == most and at < place):
                    most, place = right, at
                reached = max(reached, right)
            mark(marks, first + second * buckets, bucket, buckets, reached)
    return top, most, np.int64(place)


def can_reach(rank, low, high, everywhere, values, way):
    """Whether a sum between two others might reach the rank, for any of the values."""
    for value in range(2):
        if values & (1 << value):
            if not (way.monotone and (value or way.relative)):
                return True
            if bound_rank(value, low, high, everywhere, way) + SLACK >= rank:
                return True
    return False


def mark_values(
    sums, n, total, operators, rank, everywhere, values, way, marks, first, last, buckets
):
    """Mark with how many right cells the values of a nominal column reach a rank."""
    marks[first:last] = 0
    for second in range(2 if n > 2 else 1):
        for i in range(n if operators & (1 << second) else 0):
            inside = total - sums[i] if second else sums[i]
            reached, right = better_value(inside, everywhere, values, way)
            if reached == rank:
                at = first + second * buckets + min(i, buckets - 1)
                marks[at] = max(marks[at], np.int32(right))
