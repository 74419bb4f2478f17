"""The inner loops of RIPPER: tell rows apart, divide them, grow a body, see whom it covers.

A condition is a *cut* here, five numbers: its column, the first and the last place (not included)
of the rows for which it holds among the entries of the column, whether it holds for rows that are
not listed, and whether it is the second of two operators (greater than, instead of at most). So
it covers the same training rows wherever the threshold is written down between two values.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from labelrules.kernels.columns import Index, counts_of, cumulate, narrow_down

COLUMN, FIRST, LAST, REST, SECOND = range(5)
"""What the numbers of a cut are."""

_PRIME = 2147483647
_PRESENT = 0xFFFFFFFF
_UNLISTED, _NOWHERE = -1, -2


class Table(NamedTuple):
    """The sorted columns, room to narrow them down, and the logarithms of small numbers."""

    listing: Index
    nominal: npt.NDArray[np.int8]
    narrowed: Index
    places: npt.NDArray[np.int32]
    ranked: npt.NDArray[np.int32]
    by_column: npt.NDArray[np.float64]
    logs: npt.NDArray[np.float64]


# ---------------------------------------------------------------- rows


@njit(nogil=True, cache=True)
def content_keys(index, multipliers, n_rows):
    """A number for each row that depends on its values only, not on its place or how it is stored.

    The sum over the columns of the rank of the value times the column's multiplier, in arithmetic
    modulo a prime, with each of two rows of multipliers below it.
    """
    entries, starts, middles, valids, stops = index
    keys, common = np.zeros((2, n_rows), np.int64), np.zeros(2, np.int64)
    for column in range(len(starts)):
        start, middle, valid, stop = starts[column], middles[column], valids[column], stops[column]
        is_rest = stop - start < n_rows
        rest = 0
        for i in range(start, middle):
            rest += entries[i] < 0
        n_values = rest + is_rest
        for i in range(middle, valid):
            n_values += entries[i] < 0
        rank = -1
        for i in range(start, stop):
            rank += is_rest and i == middle
            rank += entries[i] < 0
            # Ranks relative to that of the rows not listed: theirs would be added to all rows.
            relative = (rank if i < valid else n_values) - (rest if is_rest else 0)
            row = entries[i] ^ (entries[i] >> 31)
            for k in range(2):
                keys[k, row] = (keys[k, row] + relative * multipliers[k, column]) % _PRIME
        if is_rest:
            for k in range(2):
                common[k] = (common[k] + rest * multipliers[k, column]) % _PRIME
    return (keys[0] + common[0]) % _PRIME * _PRIME + (keys[1] + common[1]) % _PRIME


@njit(nogil=True, cache=True)
def divide(order, classes, left, folds, draws):
    """Divide the rows that are left into those to grow a rule on and those to prune it on.

    The rows of each class are shuffled, and the classes put behind each other, the first class
    first. Dealt out to so many folds, all but the last fold are for growing.

    Parameters
    ----------
    order : array of int
        All rows, in an order that does not depend on how they were given.
    classes : array of int
    left : array of bool
    folds : int
    draws : array of int
        A random number, not negative, for each row.

    Returns
    -------
    growing, pruning : array of bool
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
    growing = np.zeros(len(order), np.bool_)
    pruning = np.zeros(len(order), np.bool_)
    n_growing, place = end * (folds - 1) // folds, 0
    for fold in range(folds):
        for i in range(fold, end, folds):
            growing[dealt[i]] = place < n_growing
            pruning[dealt[i]] = place >= n_growing
            place += 1
    return growing, pruning


@njit
def _restricted(index, cut, covered):
    """The covered rows for which a cut holds."""
    entries, first, last = index.entries, cut[FIRST], cut[LAST]
    if cut[REST]:
        left = covered.copy()
        for i in range(index.start[cut[COLUMN]], first):
            left[entries[i] ^ (entries[i] >> 31)] = False
        for i in range(last, index.stop[cut[COLUMN]]):
            left[entries[i] ^ (entries[i] >> 31)] = False
        return left
    left = np.zeros_like(covered)
    for i in range(first, last):
        row = entries[i] ^ (entries[i] >> 31)
        left[row] = covered[row]
    return left


@njit(nogil=True, cache=True)
def covered_by(index, cuts, n_rows):
    """The rows covered by no cut, by the first, by the first two and so on."""
    found = np.ones((len(cuts) + 1, n_rows), np.bool_)
    for k in range(len(cuts)):
        found[k + 1] = _restricted(index, cuts[k], found[k])
    return found


# ---------------------------------------------------------------- growing


@njit(inline="always")
def _gain(p, t, logs, base):
    """FOIL's gain of p positive among t covered rows, over a rule whose logarithm is `base`."""
    return p * (logs[p + 1] - logs[t + 1] - base)


@njit
def _set_limits(limits, n_positive, n_rows, logs, base, best):
    """For each number of positive rows, with how many rows at most the best gain is reached.

    With one positive row more no fewer rows are allowed; so one pass over both finds them.
    """
    t = 0
    for p in range(n_positive + 1):
        t = max(t, p)
        limits[p] = -1
        gain = _gain(p, t, logs, base)
        if gain > 0 and gain >= best:
            while t < n_rows and _gain(p, t + 1, logs, base) >= max(best, 5e-324):
                t += 1
            limits[p] = t


@njit
def _best_place(listing, nominal, codes, inside, n_inside, logs, limits, sums):
    """The refinement with the greatest gain: how many positive rows, its column and its place.

    Of several the one that covers most positive rows, then the first column, then the first place:
    twice the number of a cut, plus 1 for the second operator; or the number of a value. The column
    is -1 if there is no gain.
    """
    # Taken apart once: handing on a tuple of arrays costs more than counting a short column.
    entries, start, middle, valid, stop = listing
    n_positive, n_rows = inside & _PRESENT, inside >> 32
    base = logs[n_positive + 1] - logs[n_rows + 1]
    best, most, where, place = 0.0, np.int64(0), -1, -1
    _set_limits(limits, n_positive, n_rows, logs, base, best)
    for column in range(len(nominal)):
        if start[column] == stop[column]:
            continue  # all rows have the same value
        n, total = cumulate(
            entries, start[column], middle[column], valid[column], stop[column], codes, inside,
            n_inside, True, sums,
        )  # fmt: skip
        sides = 1 if nominal[column] else 2
        for i in range(n if nominal[column] else n - 1):
            count = sums[i]
            if nominal[column] and i > 0:
                count -= sums[i - 1]
            for side in range(sides):
                count = total - count if side else count
                p, t = count & _PRESENT, count >> 32
                # A cut that leaves no value on the other side asks only whether one is missing.
                if t > limits[p] or (sides == 2 and t == total >> 32):
                    continue
                gain = _gain(p, t, logs, base)
                if gain > best or p > most:
                    most, where, place = p, column, sides * i + side
                    if gain > best:
                        best = gain
                        _set_limits(limits, n_positive, n_rows, logs, base, best)
    return most, where, place


@njit
def _rows_around(listing, column, number, codes, n_inside, n_counted):
    """The last row up to the value with a number, and the first beyond, of those that count."""
    entries, start, middle = listing.entries, listing.start[column], listing.middle[column]
    valid, stop = listing.valid[column], listing.stop[column]
    for i in range(start, stop):
        n_counted -= codes[entries[i] ^ (entries[i] >> 31)] & 1
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
            if codes[row] & 1 and value <= number:
                below = row
            elif codes[row] & 1 and above == _NOWHERE:
                above = row
    return below, above


@njit
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


@njit
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


@njit(nogil=True, cache=True)
def grow(table, positive, covered, least):
    """Add cuts, each with the greatest gain, until only positive rows are covered.

    `covered` are the rows to look at. The last cut is taken back if it covers fewer than `least`
    positive rows, and growing ends.
    """
    index, n_rows = table.listing, len(covered)
    codes = np.zeros(n_rows, np.uint8)
    rows = np.flatnonzero(covered)
    inside = np.int64(0)
    for row in rows:
        codes[row] = np.uint8(3) if positive[row] else np.uint8(1)
        inside += counts_of(codes[row])
    limits, sums = np.empty(len(rows) + 1, np.int64), np.empty(n_rows + 2, np.int64)
    cuts, n_cuts = np.empty((8, 5), np.int64), 0
    listing, n_inside, is_whole = index, n_rows, True
    while (inside & _PRESENT) < (inside >> 32):
        # Rows that do not count are passed over as fast as they are taken out, unless most do not.
        if n_cuts > 0 or 2 * len(rows) < n_rows:
            narrow_down(
                index, table.narrowed, table.places, table.ranked, table.by_column, is_whole,
                rows, covered,
            )  # fmt: skip
            listing, n_inside, is_whole = table.narrowed, len(rows), False
        most, column, place = _best_place(
            listing, table.nominal, codes, inside, n_inside, table.logs, limits, sums
        )
        if column < 0 or most < least:
            break
        if n_cuts == len(cuts):
            cuts = np.concatenate((cuts, np.empty_like(cuts)))
        nominal = table.nominal[column] > 0
        number, second = (place, False) if nominal else (place // 2, place % 2 == 1)
        below, above = _rows_around(listing, column, number, codes, n_inside, inside >> 32)
        _set_cut(cuts[n_cuts], index, column, nominal, second, below, above)
        covered = _restricted(index, cuts[n_cuts], covered)
        n_cuts += 1
        rows = np.flatnonzero(covered)
        inside = np.int64(0)
        for row in rows:
            inside += counts_of(codes[row])
    return cuts[:n_cuts].copy()
