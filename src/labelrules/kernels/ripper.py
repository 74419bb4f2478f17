"""The inner loops of RIPPER: divide rows, grow bodies of cuts (see README.md) by FOIL's gain."""

from math import log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from labelrules.kernels.covering.refine import NOMINAL, NUMERIC, ONE_LISTED
from labelrules.kernels.index import (
    Index,
    code_of,
    counts_of,
    cumulate,
    empty_codes,
    narrow_down,
)
from labelrules.kernels.jit import chosen_by_type, inner, kernel, tiny

COLUMN, FIRST, LAST, REST, SECOND = range(5)
"""The numbers of a cut."""

PRESENT = 0xFFFFFFFF
_UNLISTED, _NOWHERE = -1, -2
_SMALLEST = 5e-324  # the least float above 0: a gain of 0 is none


class RipperTable(NamedTuple):
    """The sorted columns, room to narrow them down, and the logarithms of small numbers."""

    listing: Index
    nominal: npt.NDArray[np.int8]
    narrowed: Index
    places: npt.NDArray[np.int32]
    ranked: npt.NDArray[np.int32]
    by_column: npt.NDArray[np.float64]
    logs: npt.NDArray[np.float64]


@kernel
def content_keys(index, multipliers, n_rows):
    """A number for each row that depends on its values only, not on its position or storage.

    The sum over the columns of the rank of the value times the column's multiplier. It wraps
    around, with a warning where this is not compiled.
    """
    entries, starts, middles, valids, stops = index
    keys = np.zeros(n_rows, np.int64)
    for column in range(len(starts)):
        start, middle, valid, stop = starts[column], middles[column], valids[column], stops[column]
        multiplier = multipliers[column]
        is_rest, before = stop - start < n_rows, 0
        for i in range(start, middle):
            before += entries[i] < 0
        # Ranks relative to that of the rows not listed, which need not be touched then.
        rank = -1 - before * is_rest
        for i in range(start, valid):
            rank += is_rest and i == middle
            rank += entries[i] < 0
            keys[entries[i] ^ (entries[i] >> 31)] += rank * multiplier
        rank += is_rest and middle == valid
        for i in range(valid, stop):
            keys[entries[i] ^ (entries[i] >> 31)] += (rank + 1) * multiplier
        if is_rest and before:
            keys += before * multiplier
    return keys


@kernel
def divide(order, classes, left, folds, draws, growing, pruning):
    """Divide the rows left into those to grow a rule on and those to prune it on (the last fold).

    `order` has all rows, independently of their order in the table. The rows of each class are
    shuffled by the random numbers `draws` and dealt out to the folds.
    """
    dealt = np.empty(len(order), np.int64)
    end, n_drawn = 0, 0
    for one in range(classes.max() + 1):
        begin = end
        for row in order:
            if left[row] and classes[row] == one:
                dealt[end] = row
                end += 1
        for i in range(end - 1, begin, -1):
            j = begin + draws[n_drawn] % (i - begin + 1)
            n_drawn += 1
            dealt[i], dealt[j] = dealt[j], dealt[i]
    growing[:] = False
    pruning[:] = False
    n_growing, place = end * (folds - 1) // folds, 0
    for fold in range(folds):
        for i in range(fold, end, folds):
            growing[dealt[i]] = place < n_growing
            pruning[dealt[i]] = place >= n_growing
            place += 1


@inner
def _restrict(index, cut, covered, left):
    """Find which of the covered rows a cut leaves."""
    entries = index.entries
    holds_for_rest = cut[REST] > 0
    # Only the listed rows are looked up: of those that satisfy the cut, or that do not.
    for row in range(len(covered)):
        left[row] = covered[row] & holds_for_rest
    if holds_for_rest:
        for i in range(index.start[cut[COLUMN]], cut[FIRST]):
            left[entries[i] ^ (entries[i] >> 31)] = False
        for i in range(cut[LAST], index.stop[cut[COLUMN]]):
            left[entries[i] ^ (entries[i] >> 31)] = False
    else:
        for i in range(cut[FIRST], cut[LAST]):
            row = entries[i] ^ (entries[i] >> 31)
            left[row] = covered[row]


@inner
def _rows_of(covered):
    n_rows = 0
    for row in range(len(covered)):
        n_rows += covered[row]
    rows = np.empty(n_rows, np.int64)
    n_rows = 0
    for row in range(len(covered)):
        if covered[row]:
            rows[n_rows] = row
            n_rows += 1
    return rows


@kernel
def covered_by(index, cuts, held, positive, counts):
    """The rows covered by no cut, the first, the first two and so on; counts held-out ones."""
    covered = np.ones((len(cuts) + 1, len(held)), np.bool_)
    counts[:] = 0
    for k in range(len(cuts) + 1):
        if k > 0:
            _restrict(index, cuts[k - 1], covered[k - 1], covered[k])
        for row in range(len(held)):
            counts[0, k] += covered[k, row] & held[row]
            counts[1, k] += covered[k, row] & held[row] & positive[row]
    return covered


@tiny
def gain_of(p, t, logs, base):
    """FOIL's gain of p positive among t covered rows, over a rule whose logarithm is `base`."""
    return p * (logs[p + 1] - logs[t + 1] - base)


@inner
def _set_limits(upper, lower, inside, logs, best, most):
    """When a refinement is better than the best so far, by its number of positive rows.

    It must cover at most `upper` rows, its complement at least `lower`. Better is a greater gain,
    or an equal one with more positive rows. With one positive row more no fewer rows are allowed,
    so one pass finds all limits.
    """
    n_positive, n_rows = inside & PRESENT, inside >> 32
    base = logs[n_positive + 1] - logs[n_rows + 1]
    least = max(best, _SMALLEST)
    t = 0
    for p in range(n_positive + 1):
        t = max(t, p)
        upper[p] = -1
        while t <= n_rows:
            gain = gain_of(p, t, logs, base)
            if gain < least or (gain == best and p <= most):
                break
            upper[p] = t
            t += 1
        t = max(upper[p], p)
        lower[n_positive - p] = n_rows - upper[p]


@inner
def _is_better_inside(entries, first, last, counts, total, upper, lower):
    """Whether a cut before one of the entries is better; and the sum behind them."""
    is_better = False
    for i in range(first, last):
        entry = entries[i]
        p, t = total & PRESENT, total >> 32
        # Without a branch: it is a cut where a value begins.
        is_better |= (entry < 0) & ((t <= upper[p]) | (t >= lower[p]))
        total += counts[entry ^ (entry >> 31)]
    return is_better, total


@inner
def _sum_of(entries, first, last, codes):
    # From codes, which are bytes: of larger numbers several would be fetched at once, slowly.
    total = np.int64(0)
    for entry in entries[first:last]:
        total += counts_of(codes[entry ^ (entry >> 31)])
    return total


@inner
def _may_be_better(
    entries, start, middle, valid, stop, nominal, codes, counts, inside, n_inside, upper, lower
):
    """Whether a refinement by a column may be better than the best so far; most are not."""
    if nominal == NOMINAL or (nominal == NUMERIC and valid < stop):
        return True
    is_rest = n_inside > stop - start
    rest = np.int64(0)
    if is_rest or nominal == ONE_LISTED:
        rest = inside - _sum_of(entries, start, stop, codes)
    if nominal == ONE_LISTED:
        listed = inside - rest - _sum_of(entries, valid, stop, codes)
        return listed >> 32 <= upper[listed & PRESENT] or rest >> 32 <= upper[rest & PRESENT]
    is_better, total = _is_better_inside(entries, start, middle, counts, np.int64(0), upper, lower)
    if is_rest:
        p, t = total & PRESENT, total >> 32
        is_better |= (t <= upper[p]) | (t >= lower[p])
        total += rest
    return is_better | _is_better_inside(entries, middle, valid, counts, total, upper, lower)[0]


@inner
def _best_place(listing, nominal, codes, counts, inside, n_inside, logs, room):
    """The refinement with the greatest gain: how many positive rows, its column and its place.

    Ties go to more positive rows, then the first column, then the first place: twice the number of
    a cut, plus 1 for the second operator; or the number of a value. Column -1 means no gain.
    """
    # Taken apart once: handing on a tuple of arrays costs more than counting a short column.
    entries, start, middle, valid, stop = listing
    base = logs[(inside & PRESENT) + 1] - logs[(inside >> 32) + 1]
    best, most, where, place = 0.0, np.int64(0), -1, -1
    upper, lower, sums = room
    _set_limits(upper, lower, inside, logs, best, most)
    for column in range(len(nominal)):
        if start[column] == stop[column]:
            continue  # all rows have the same value
        if not _may_be_better(
            entries, start[column], middle[column], valid[column], stop[column], nominal[column],
            codes, counts, inside, n_inside, upper, lower,
        ):  # fmt: skip
            continue
        n, total = cumulate(
            entries, start[column], middle[column], valid[column], stop[column], codes, inside,
            n_inside, True, sums,
        )  # fmt: skip
        sides = 1 if nominal[column] else 2
        for i in range(n if nominal[column] else n - 1):
            for side in range(sides):
                count = total - sums[i] if side else sums[i]
                if nominal[column] and i > 0:
                    count -= sums[i - 1]
                p, t = count & PRESENT, count >> 32
                # A cut without a value on the other side only tests whether one is missing.
                if t > upper[p] or (sides == 2 and t == total >> 32):
                    continue
                gain = gain_of(p, t, logs, base)
                if gain > best or (gain == best and p > most):
                    best, most, where, place = gain, p, column, sides * i + side
        if where == column:
            _set_limits(upper, lower, inside, logs, best, most)
    return most, where, place


@inner
def _best_weighted(listing, nominal, codes, inside, n_inside, unit, sums):
    """The best refinement of weighted rows: sums of weights, in units, in `codes` and `inside`."""
    entries, start, middle, valid, stop = listing
    base = information(inside, unit)
    best, most, where, place = 0.0, np.int64(0), -1, -1
    for column in range(len(nominal)):
        if start[column] == stop[column]:
            continue
        n, total = cumulate(
            entries, start[column], middle[column], valid[column], stop[column], codes, inside,
            n_inside, True, sums,
        )  # fmt: skip
        sides = 1 if nominal[column] else 2
        for i in range(n if nominal[column] else n - 1):
            for side in range(sides):
                count = total - sums[i] if side else sums[i]
                if nominal[column] and i > 0:
                    count -= sums[i - 1]
                if sides == 2 and count >> 32 == total >> 32:
                    continue
                p = count & PRESENT
                gain = unit * p * (information(count, unit) - base)
                if gain > best or (gain == best > 0 and p > most):
                    best, most, where, place = gain, p, column, sides * i + side
    return most, where, place


@tiny
def information(count, unit):
    """The logarithm of the share of positive rows, smoothed; their weights are in units."""
    return log2(unit * (count & PRESENT) + 1) - log2(unit * (count >> 32) + 1)


@inner
def _rows_around(listing, column, number, codes, n_inside, n_counted):
    """The last row up to the value with a number, and the first beyond, of those that count."""
    entries, start, middle = listing.entries, listing.start[column], listing.middle[column]
    valid, stop = listing.valid[column], listing.stop[column]
    for i in range(start, stop):
        n_counted -= codes[entries[i] ^ (entries[i] >> 31)] != 0
    is_rest, value = n_inside > stop - start, -1
    below, above = _NOWHERE, _NOWHERE
    for part in range(2):
        if part == 1 and is_rest:
            value += 1
            if n_counted > 0 and value <= number:
                below = _UNLISTED
            elif n_counted > 0 and above == _NOWHERE:
                above = _UNLISTED
        for i in range(start if part == 0 else middle, middle if part == 0 else valid):
            value += entries[i] < 0
            row = entries[i] ^ (entries[i] >> 31)
            if codes[row] != 0 and value <= number:
                below = row
            elif codes[row] != 0 and above == _NOWHERE:
                above = row
    return below, above


@inner
def _value_places(index, column, row):
    """From where to where a column lists the rows that have the value of a row."""
    entries, middle = index.entries, index.middle[column]
    first = index.start[column]
    while entries[first] ^ (entries[first] >> 31) != row:
        first += 1
    last = first + 1
    end = middle if first < middle else index.valid[column]
    while entries[first] >= 0:
        first -= 1
    while last < end and entries[last] >= 0:
        last += 1
    return first, last


@inner
def _set_cut(cut, index, column, nominal, second, below, above):
    """Write down a condition that holds for the rows up to `below`, or from `above` on."""
    start, middle, valid = index.start[column], index.middle[column], index.valid[column]
    row = above if second else below
    first, last = (start if nominal else middle, start if nominal else middle)
    if row != _UNLISTED:
        first, last = _value_places(index, column, row)
    cut[COLUMN], cut[SECOND] = column, second
    cut[REST] = row == _UNLISTED
    if not nominal:
        cut[REST] |= first < middle if second else last > middle
    cut[FIRST] = first if second or nominal else start
    cut[LAST] = valid if second and not nominal else last


def best_cut(listing, table, codes, counts, inside, n_inside, unit, room):
    """The best refinement, by the kind of codes: of rows, or of weighted rows."""
    if codes.dtype == np.uint8:
        return _best_place(
            listing, table.nominal, codes, counts, inside, n_inside, table.logs, room
        )
    return _best_weighted(listing, table.nominal, codes, inside, n_inside, unit, room[2])


@chosen_by_type(best_cut)
def _best_cut(listing, table, codes, counts, inside, n_inside, unit, room):
    if codes.dtype == types.uint8:
        return lambda listing, table, codes, counts, inside, n_inside, unit, room: _best_place(
            listing, table.nominal, codes, counts, inside, n_inside, table.logs, room
        )
    return lambda listing, table, codes, counts, inside, n_inside, unit, room: _best_weighted(
        listing, table.nominal, codes, inside, n_inside, unit, room[2]
    )


@kernel
def grow(table, positive, counted, unit, covered, least):
    """Add cuts, each with the greatest gain, until all rows left of `covered` are positive.

    Growing ends without the last cut if it covers fewer than `least` positive rows. `counted` is
    true for each row, or has its weight as a multiple of the unit; so is `least` then.
    """
    index, n_rows = table.listing, len(covered)
    codes, counts = empty_codes(counted, n_rows), np.zeros(n_rows, np.int64)
    codes[:] = 0
    rows, inside = _rows_of(covered), np.int64(0)
    for row in rows:
        codes[row] = code_of(counted[row], positive[row])
        counts[row] = counts_of(codes[row])
        inside += counts[row]
    room = (
        np.empty(n_rows + 1, np.int64),
        np.empty(n_rows + 1, np.int64),
        np.empty(n_rows + 2, np.int64),
    )
    # Each cut leaves fewer rows.
    cuts, n_cuts, n_narrowed = np.empty((len(rows), 5), np.int64), 0, 0
    listing, n_inside = index, n_rows
    before = covered
    while (inside & PRESENT) < (inside >> 32):
        # Rows that do not count are passed over as fast as they are taken out, unless most do not.
        if n_cuts > 0 or 2 * len(rows) < n_rows:
            narrow_down(
                index, table.narrowed, table.places, table.ranked, table.by_column,
                n_narrowed == 0, rows, before,
            )  # fmt: skip
            listing, n_inside = table.narrowed, len(rows)
            n_narrowed += 1
        most, column, place = best_cut(listing, table, codes, counts, inside, n_inside, unit, room)
        if column < 0 or most < least:
            break
        nominal = table.nominal[column] > 0
        number, second = (place, False) if nominal else (place // 2, place % 2 == 1)
        below, above = _rows_around(listing, column, number, codes, n_inside, len(rows))
        _set_cut(cuts[n_cuts], index, column, nominal, second, below, above)
        left = np.empty(n_rows, np.bool_)
        _restrict(index, cuts[n_cuts], before, left)
        before, rows, inside = left, _rows_of(left), np.int64(0)
        for row in rows:
            inside += counts[row]
        n_cuts += 1
    return cuts[:n_cuts].copy()
