"""Score the sums of refinements, many at a time; encodings are defined in README.md.

Functions that are not compiled here are compiled with the kernels: see `kernels.compile`.
"""

from typing import NamedTuple

import numpy as np

from labelrules.kernels.jit import small, tiny
from labelrules.measures.linear_ratios import Weights

ABSENCE, PRESENCE = 1, 2
"""The values that a head may predict; both are 3."""

FIRST, SECOND = 1, 2
"""The operators that a column may have; both are 3: <= and > for numbers, = and != otherwise."""

NOTHING = np.int64(np.iinfo(np.int64).min)
"""The key of a refinement that is not allowed."""

NO, YES = np.int64(0), np.int64(1)
"""The predicted value; typed, since functions are compiled anew for each literal number."""

SECOND_PLACE = 1 << 40
"""Where the refinements of nominal columns by the second operator begin."""

NO_LIMITS = (np.inf, -1.0)
"""Limits that no refinement satisfies."""

OPEN, SATURATED, SURE = 0, 1, 2
"""Whether a key can be exceeded; cannot; or cannot, and all within its limits have it."""

BLOCK = 32
"""Sums that are bounded together."""

SLACK = 16
"""Keys by which rounding might lower a bound."""

_LOW = np.int64(0x7FFFFFFFFFFFFFFF)


class Scoring(NamedTuple):
    """How refinements are scored, and which are allowed.

    Ratios of weighted counts have weights, as plain tuples, since these are handed over faster;
    other formulas a parameter and the addresses of their compiled code: of one that scores counts,
    and of one that finds the greatest key of some sums. `short` says what `are_short` finds. `unit`
    is what a count of 1 stands for where cells have weights; `smallest` is in units.
    """

    parameter: float
    head_relative: bool
    monotone: bool
    smallest: int
    unit: float = 1.0
    upper: tuple[float, ...] = tuple(Weights())
    lower: tuple[float, ...] = tuple(Weights())
    short: bool = False
    of_counts: int = 0
    of_sums: int = 0


def formula_value(tp, fp, tn, fn, prior, scoring):
    """The ratio of two weighted sums; other formulas take its place, see `kernels.compile`.

    The order of additions is that of `measures.linear_ratios`, so that both round alike.
    """
    upper_tp, upper_fn, upper_fp, upper_tn, upper_prior, upper_one = scoring.upper
    lower_tp, lower_fn, lower_fp, lower_tn, lower_prior, lower_one = scoring.lower
    part, whole = upper_tp * tp, lower_tp * tp + lower_fn * fn + lower_fp * fp
    if not scoring.short:  # else what follows adds zeros
        part = part + upper_fn * fn + upper_fp * fp + upper_tn * tn
        part = part + (upper_prior * prior + upper_one)
        whole = whole + lower_tn * tn + (lower_prior * prior + lower_one)
    return part / (whole if whole != 0 else 1.0)


def are_short(upper, lower):
    """Whether the ratio is one of true positives, as precision, recall and F are."""
    zeros = upper.fn, upper.fp, upper.tn, upper.prior, upper.one, lower.tn, lower.prior, lower.one
    return not any(zeros)


@small
def ones_of(code):
    """The cells of a sum in which the label is present."""
    return np.float64(np.int32(code))


@small
def cells_of(code):
    """The cells of a sum."""
    return np.float64(np.int32(code >> 32))


@small
def confusion_of(value, head_relative, inside_1, inside_0, ones, zeros):
    """True and false positives, true and false negatives of predicting `value` inside.

    The definition of right and wrong for all kernels, as `measures.confusion` is for Python.
    """
    right, wrong = (inside_1, inside_0) if value else (inside_0, inside_1)
    missed, rejected = ones - inside_1, zeros - inside_0
    if head_relative and not value:
        missed, rejected = rejected, missed
    return right, wrong, rejected, missed


@small
def key_of_score(score):
    """An integer that compares like the float; `NOTHING` for NaN."""
    bits = np.float64(score + 0.0).view(np.int64)  # and never -0.0
    # Negative floats rise as their bits fall: all but the sign are turned.
    key = bits ^ ((bits >> 63) & _LOW)
    return key if score == score else NOTHING


@small
def value_of(key):
    """The score that has this key; minus infinity for `NOTHING`."""
    score = np.int64(key ^ ((key >> 63) & _LOW)).view(np.float64)
    return score if key != NOTHING else -np.inf


@tiny
def key_of_best(score):
    """The key of the best score so far; `NOTHING` for minus infinity, if there is none."""
    return key_of_score(score) if score > -np.inf else NOTHING


def key_of(value, ones, zeros, everywhere, scoring):
    """The key of predicting `value` in cells with so many ones and zeros."""
    all_ones, cells = ones_of(everywhere), cells_of(everywhere)
    all_zeros = cells - all_ones
    tp, fp, tn, fn = confusion_of(value, scoring.head_relative, ones, zeros, all_ones, all_zeros)
    prior = 0.0
    if not scoring.short:
        prior = (all_ones if value else all_zeros) / max(cells, 1.0)
    return key_of_score(formula_value(tp, fp, tn, fn, prior, scoring))


def score_key(value, inside, everywhere, scoring):
    """The key of predicting `value` in the cells inside, `NOTHING` if that is not allowed."""
    ones, cells = ones_of(inside), cells_of(inside)
    key = key_of(value, ones, cells - ones, everywhere, scoring)
    right = ones if value else cells - ones
    # A rule that is right about nothing is none, whatever its score.
    return key if right > 0 and cells >= scoring.smallest else NOTHING


def bound_key(value, low, high, everywhere, scoring):
    """What no sum between two others can exceed, where right cells raise the score."""
    # Sums rise in both counts: the most right cells and the fewest wrong ones are at the ends.
    ones = ones_of(high) if value else ones_of(low)
    zeros = cells_of(low) - ones_of(low) if value else cells_of(high) - ones_of(high)
    return key_of(value, ones, zeros, everywhere, scoring)


def reach(value, right, wrong, everywhere, scoring):
    """The key of a prediction with so many cells right and wrong."""
    ones, zeros = (right, wrong) if value else (wrong, right)
    return key_of(value, ones, zeros, everywhere, scoring)


def limits(value, everywhere, top, scoring):
    """The fewest right and the most wrong cells that reach the top key, by a monotone formula."""
    ones, cells = ones_of(everywhere), cells_of(everywhere)
    rights, wrongs = (ones, cells - ones) if value else (cells - ones, ones)
    if top == NOTHING or not (scoring.monotone and (value or scoring.head_relative)):
        return 1.0, wrongs
    low, high = 0.0, rights  # the least number is above low and at most high, if there is one
    while high - low > 1:
        # Halving needs the score to rise with right cells; rounding is left room by the slack.
        middle = np.floor((low + high) / 2)
        if reach(value, middle, 0.0, everywhere, scoring) + SLACK < top:
            low = middle
        else:
            high = middle
    least, low, high = high, 0.0, wrongs + 1  # the most is at least low and below high
    while high - low > 1:
        middle = np.floor((low + high) / 2)
        if reach(value, rights, middle, everywhere, scoring) + SLACK < top:
            high = middle
        else:
            low = middle
    return least, low


def both_limits(everywhere, values, top, scoring):
    """The limits for presence and for absence."""
    present = limits(YES, everywhere, top, scoring) if values & PRESENCE else NO_LIMITS
    absent = limits(NO, everywhere, top, scoring) if values & ABSENCE else NO_LIMITS
    return present, absent


def greatest(value, sums, n, offset, sign, everywhere, floor, bounded, scoring):
    """The greatest key that predicting `value` reaches for the first n sums, if above `floor`.

    Rising sums are taken in blocks; a block is skipped if even its most right and fewest wrong
    cells would not reach the floor.
    """
    best = floor
    block = BLOCK if bounded else max(n, 1)
    for start in range(0, n, block):
        stop = min(start + block, n)
        if bounded:
            low, high = offset + sign * sums[start], offset + sign * sums[stop - 1]
            # What the second operator covers falls as the sums of the first rise.
            if sign < 0:
                low, high = high, low
            if bound_key(value, low, high, everywhere, scoring) + SLACK < best:
                continue
        best = greatest_key(value, sums, start, stop, offset, sign, everywhere, best, scoring)
    return best


def greatest_key(value, sums, start, stop, offset, sign, everywhere, floor, scoring):
    """The greatest key for a stretch of sums, all of which are scored."""
    best = floor
    # LLVM takes several at a time only if no index may be below 0, hence those without a sign, and
    # if each key counts: without the floor it passes over those that are not allowed by a branch.
    for i in range(np.uint64(start), np.uint64(stop)):
        key = score_key(value, offset + sign * sums[i], everywhere, scoring)
        best = max(best, max(key, floor))
    return best


def greatest_of_column(sums, n, total, operators, floor, everywhere, values, scoring):
    """The greatest key of all refinements by a numeric column, if above `floor`."""
    best = floor
    for case in range(4):  # one call, so that it is compiled once
        value, second = 1 - case // 2, case % 2
        if values & (1 << value) and operators & (1 << second):
            offset, sign = (total, -1) if second else (0, 1)
            bounded = scoring.monotone and (value or scoring.head_relative)
            best = greatest(value, sums, n, offset, sign, everywhere, best, bounded, scoring)
    return best


def better_value(inside, everywhere, values, scoring):
    """The key and the right cells of the better value; presence if they are equal."""
    key, right = NOTHING, -1.0
    if values & PRESENCE:
        key, right = score_key(YES, inside, everywhere, scoring), ones_of(inside)
    if values & ABSENCE:
        other, zeros = (
            score_key(NO, inside, everywhere, scoring),
            cells_of(inside) - ones_of(inside),
        )
        if other > key or (other == key and zeros > right):
            key, right = other, zeros
    return key, right


def scan_two(first, last, is_first, everywhere, values, present, absent, scoring):
    """`best_value` for two values, of which the first may not occur; also keys and right cells."""
    keys, rights = (NOTHING, NOTHING), (-1.0, -1.0)
    for second in range(2):
        inside = last if second else first
        ones, zeros = ones_of(inside), cells_of(inside) - ones_of(inside)
        can_be_present = ones >= present[0] and zeros <= present[1]
        can_be_absent = zeros >= absent[0] and ones <= absent[1]
        if can_be_present or can_be_absent:
            key, right = better_value(inside, everywhere, values, scoring)
            keys, rights = (keys[1], key), (rights[1], right)
        else:
            keys, rights = (keys[1], NOTHING), (rights[1], -1.0)
    if keys[1] > keys[0] or (keys[1] == keys[0] and rights[1] > rights[0]):
        return keys[1], rights[1], np.int64(is_first), keys, rights
    return keys[0], rights[0], np.int64(0), keys, rights


def best_value(sums, n, total, operators, everywhere, values, present, absent, scoring):
    """The best refinement by a nominal column within the limits: key, right cells and place."""
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
            key, right = better_value(inside, everywhere, values, scoring)
            if key > top or (key == top and right > most):
                top, most, place = key, right, second * SECOND_PLACE + i
    return top, most, place


def saturation(everywhere, values, present, absent, top, scoring):
    """Whether the top key is `OPEN`, `SATURATED` or `SURE`, given its limits."""
    ones, cells = ones_of(everywhere), cells_of(everywhere)
    level = SURE
    for value in range(2):
        if values & (1 << value):
            least, wrong = present if value else absent
            rights = ones if value else cells - ones
            if not (scoring.monotone and (value or scoring.head_relative)):
                return OPEN
            if reach(value, rights, 0.0, everywhere, scoring) > top:
                return OPEN
            # Without a wrong cell only the right ones vary: all must give this very key.
            right = max(least, 1.0)
            while wrong == 0 and right <= rights and level == SURE:
                if reach(value, right, 0.0, everywhere, scoring) != top:
                    level = SATURATED
                right += 1
            if wrong > 0:
                level = SATURATED
    return level


@tiny
def mark(marks, first, bucket, buckets, right):
    """Keep the most right cells of a bucket, if marks are kept."""
    if marks is not None:
        slot = first + min(bucket, buckets - 1)
        marks[slot] = max(marks[slot], np.int32(right))


def scan_block(
    sums, n, before, total, operators, everywhere, values, present, absent, level, scoring, best,
    marks, first, buckets, width,
):  # fmt: skip
    """The best of a block of cuts and of those `before`: key, right cells and place.

    Cuts outside the limits for presence or absence are left out. `marks`, if not None, receive,
    from `first` on, the most right cells with the best key, by operator and bucket of cuts.
    """
    top, most, place = best
    if level == OPEN:
        floor = max(top, NOTHING + 1) - 1  # so that ties are seen
        key = greatest_of_column(sums, n, total, operators, floor, everywhere, values, scoring)
        if key == floor:
            return best
        if key > top:
            top, most, place = key, -1.0, -1
            if marks is not None:
                marks[first : first + 2 * buckets] = 0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for second in range(2):
            offset, sign = (total, -1) if second else (0, 1)
            low, high = offset + sign * sums[start], offset + sign * sums[stop - 1]
            low, high = (high, low) if second else (low, high)
            if not operators & (1 << second):
                continue
            if not can_reach(top, low, high, everywhere, values, scoring):
                continue
            bucket = (before + start) // width
            until, reached = (bucket + 1) * width - before, 0.0
            last = ~sums[start]
            for i in range(start, stop):
                if i == until:
                    mark(marks, first + second * buckets, bucket, buckets, reached)
                    bucket, until, reached = bucket + 1, until + width, 0.0
                # Where slots are marked, each of them needs its own most right cells.
                if marks is None and sums[i] == last:
                    continue  # the same cells as by the cut before
                last = sums[i]
                inside = offset + sign * last
                ones, zeros = ones_of(inside), cells_of(inside) - ones_of(inside)
                allowed = (PRESENCE if ones >= present[0] and zeros <= present[1] else 0) | (
                    ABSENCE if zeros >= absent[0] and ones <= absent[1] else 0
                )
                if not allowed or ones + zeros < scoring.smallest:
                    continue
                # Where all within the limits have the top key nothing needs to be scored.
                key, right = top, (ones if allowed & PRESENCE else zeros)
                if level < SURE:
                    key, right = better_value(inside, everywhere, values & allowed, scoring)
                if key < top or key == NOTHING:
                    continue
                if key > top:
                    top, most, place, reached = key, -1.0, -1, 0.0
                    if marks is not None:
                        marks[first : first + 2 * buckets] = 0
                at = 2 * (before + i) + second
                if right > most or (right == most and at < place):
                    most, place = right, at
                reached = max(reached, right)
            mark(marks, first + second * buckets, bucket, buckets, reached)
    return top, most, np.int64(place)


def can_reach(key, low, high, everywhere, values, scoring):
    """Whether a sum between two others might reach the key, for any of the values."""
    for value in range(2):
        if values & (1 << value):
            if not (scoring.monotone and (value or scoring.head_relative)):
                return True
            if bound_key(value, low, high, everywhere, scoring) + SLACK >= key:
                return True
    return False


def mark_values(
    sums, n, total, operators, key, everywhere, values, scoring, marks, first, last, buckets
):
    """Mark with how many right cells the values of a nominal column reach a key."""
    marks[first:last] = 0
    for second in range(2 if n > 2 else 1):
        for i in range(n if operators & (1 << second) else 0):
            inside = total - sums[i] if second else sums[i]
            reached, right = better_value(inside, everywhere, values, scoring)
            if reached == key:
                at = first + second * buckets + min(i, buckets - 1)
                marks[at] = max(marks[at], np.int32(right))
