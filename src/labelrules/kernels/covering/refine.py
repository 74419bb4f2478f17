"""Count and score every refinement of a body in one pass; see ../README.md."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers
from labelrules.kernels.index import (
    Index,
    code_of,
    counts_of,
    cumulate,
    empty_codes,
    row_of,
    span,
    sum_of,
)
from labelrules.kernels.jit import inner, kernel, tiny
from labelrules.kernels.scoring import (
    FIRST,
    NOTHING,
    best_value,
    both_limits,
    key_of_best,
    mark_values,
    saturation,
    scan_block,
    scan_two,
    value_of,
)

NUMERIC, NOMINAL, ONE_LISTED = 0, 1, 2
"""Kinds of columns; the last is nominal, and all rows that it lists have the same value."""

STEP = 512
"""Rows whose sums are made and scored together."""


class Cells(NamedTuple):
    """Truth and counted cells, labels by rows (see ../README.md), and the values heads may have."""

    truth: npt.NDArray[np.int8]
    counted: npt.NDArray[np.bool_]
    values: npt.NDArray[np.int8]


class RefinementSpace(NamedTuple):
    """The columns that a body may be refined by; `operators` has one row, or one per head label."""

    listing: Index
    unlisted: bool
    nominal: npt.NDArray[np.int8]
    operators: npt.NDArray[np.int8]
    slots: Integers
    buckets: Integers
    widths: Integers


class BestRefinements(NamedTuple):
    """For each target its best refinement; column -1 if there is none.

    Its score is then minus infinity and its right cells are -1, or what was to be exceeded.
    """

    scores: Floats
    corrects: Integers
    columns: Integers
    places: Integers


@inner
def _encode(truth, counted, codes):
    """The code of each row, and the sum of their counts."""
    everywhere = np.int64(0)
    for row in range(len(codes)):
        code = code_of(counted[row], truth[row])
        codes[row] = code
        everywhere += counts_of(code)
    return everywhere


@inner
def _sum_inside(codes, rows):
    inside = np.int64(0)
    for row in rows:
        inside += counts_of(codes[np.uint64(row)])
    return inside


@inner
def _refinements(
    entries, start, middle, valid, stop, nominal, unlisted, codes, inside, n_inside, sums
):
    """The sums of all refinements by a column with its first operator, how many, and the total."""
    if nominal == ONE_LISTED:
        return _two_values(entries, start, middle, valid, stop, codes, inside, n_inside, sums)
    if nominal:
        return _by_value(
            entries, start, middle, valid, stop, codes, inside, n_inside, unlisted, sums
        )
    n, total = cumulate(
        entries, start, middle, valid, stop, codes, inside, n_inside, unlisted, sums
    )
    return max(n - 1, 0), total  # nothing is greater than the greatest value


@inner
def _by_value(entries, start, middle, valid, stop, codes, inside, n_inside, unlisted, sums):
    """The sums of all values of a nominal column, how many, and the total."""
    n, total = cumulate(
        entries, start, middle, valid, stop, codes, inside, n_inside, unlisted, sums
    )
    # Sums up to each value become sums of each; from the end, where the one before is whole yet.
    for i in range(n - 1, 0, -1):
        sums[i] -= sums[i - 1]
    return n, total


@inner
def _two_values(entries, start, middle, valid, stop, codes, inside, n_inside, sums):
    """The sums of a column that lists the rows of one value: the other is before or after."""
    n = 0
    listed, missing = sum_of(entries, start, valid, codes), sum_of(entries, valid, stop, codes)
    for listed_now in (middle > start, middle == start):
        if listed_now and valid > start:
            sums[n] = listed
            n += 1
        elif not listed_now and n_inside > stop - start:
            sums[n] = inside - listed - missing
            n += 1
    return n, inside - missing


@tiny
def width_of(width, buckets, n_listed):
    """How many cuts a bucket has: fewer where few rows are left."""
    return min(width, n_listed // buckets + 1)


def scan_cuts(
    entries, start, middle, valid, stop, codes, inside, n_inside, operators, top, everywhere,
    values, present, absent, level, scoring, sums, marks, first, buckets, width,
):  # fmt: skip
    """The best refinement by a numeric column, if it reaches the top: key, right cells, place.

    Sums are made and scored in blocks that fit into the processor's cache.
    """
    rest, total = np.int64(0), inside
    if valid < stop:
        total -= sum_of(entries, valid, stop, codes)
    is_rest = n_inside > stop - start
    if is_rest:
        rest = total - sum_of(entries, start, valid, codes)
    width = width_of(width, buckets, valid - start)
    best = (top, -1.0, np.int64(-1))
    at, so_far, before = np.int64(-1), np.int64(0), np.int64(0)
    begin, is_below = start, True
    while is_below or begin < valid:
        if is_below and begin == middle:
            is_below = False
            at += np.int64(is_rest)
            so_far += rest
            sums[max(at, 0)] = so_far
        end = min(begin + STEP, middle if is_below else valid)
        for i in span(begin, end):
            entry = entries[i]
            at -= np.int64(entry >> 31)
            so_far += counts_of(codes[row_of(entry)])
            sums[np.uint64(at)] = so_far
        begin = end
        # The last value may go on, and nothing is greater than the greatest.
        if at > 0:
            best = scan_block(
                sums, at, before, total, operators, everywhere, values, present, absent, level,
                scoring, best, marks, first, buckets, width,
            )  # fmt: skip
            before += at
            sums[0] = sums[at]
            at = np.int64(0)
    key, right, place = best
    return (key if place >= 0 else NOTHING), right, place


def scan_listed(
    entries, start, middle, valid, stop, codes, inside, n_inside, top, everywhere, values, present,
    absent, scoring, marks, slot,
):  # fmt: skip
    """The best refinement by a column that lists the rows of one value, the most frequent case."""
    listed, missing = np.int64(0), np.int64(0)
    for entry in entries[start:valid]:
        listed += counts_of(codes[row_of(entry)])
    if valid < stop:
        missing = sum_of(entries, valid, stop, codes)
    is_rest = n_inside > stop - start
    rest = inside - listed - missing if is_rest else np.int64(0)
    before, after, is_before = rest, listed, is_rest
    if middle > start:
        before, after, is_before = listed, rest, valid > start
    key, right, at, keys, rights = scan_two(
        before, after, is_before, everywhere, values, present, absent, scoring
    )
    if marks is not None and key >= top and key > NOTHING:
        first, last = np.int64(not is_before), np.int64(1)  # the first value that occurs
        marks[slot] = rights[first] if keys[first] == key else 0
        marks[slot + 1] = rights[last] if is_before and keys[last] == key else 0
    return key, right, at


def scan_values(
    entries, start, middle, valid, stop, unlisted, codes, inside, n_inside, operators, top,
    everywhere, values, present, absent, scoring, sums, marks, first, last, buckets,
):  # fmt: skip
    """The best refinement by a nominal column: key, right cells and place."""
    n, total = _by_value(
        entries, start, middle, valid, stop, codes, inside, n_inside, unlisted, sums
    )
    key, right, at = best_value(
        sums, n, total, operators, everywhere, values, present, absent, scoring
    )
    if marks is not None and key >= top and key > NOTHING:
        mark_values(
            sums, n, total, operators, key, everywhere, values, scoring, marks, first, last, buckets
        )
    return key, right, at


def best_refinements(
    space, first, last, rows, cells, targets, values_of, scoring, codes, everywheres, best, reached
):
    """The best refinement by a column from `first` to `last`, for each target.

    A target is a label, and with two layers of cells twice its number plus the value. `values_of`
    has the values that its heads may have. A refinement must exceed what `best` has before.
    `everywheres` has for each target the sum over all rows; if
    it is below 0, the codes of the target are made, too. `reached`, if not None, receives by
    targets and slots the most right cells with the best key, else 0.
    """
    # Taken apart once: handing on a tuple of arrays costs more than counting a short column.
    (entries, start, middle, valid, stop), unlisted, kinds, allowed, slots, buckets, widths = space
    n_layers, n_inside = len(cells.counted), len(rows)
    sums = np.empty(n_inside + 3, np.int64)  # one value goes on, and one is not listed
    for i in range(len(targets)):
        label, layer = targets[i] // n_layers, targets[i] % n_layers
        if everywheres[i] < 0:
            everywheres[i] = _encode(cells.truth[label], cells.counted[layer, label], codes)
        everywhere, inside = everywheres[i], _sum_inside(codes, rows)
        values = values_of[i]
        own, marks = label if len(allowed) > 1 else 0, None if reached is None else reached[i]
        top, most = key_of_best(best.scores[i]), float(best.corrects[i])
        where, place, is_root, has_risen = -1, -1, top == NOTHING, True
        for column in range(first, last):
            # Limits change with the top key only, and it seldom rises.
            if has_risen:
                present, absent = both_limits(everywhere, values, top, scoring)
                level = saturation(everywhere, values, present, absent, top, scoring)
                has_risen = False
            operators = allowed[own, column]
            begin, end, behind = start[column], valid[column], stop[column]
            if not operators or (begin == behind and not is_root):
                continue  # where all rows have the same value it makes no difference
            if kinds[column] == ONE_LISTED:
                if not operators & FIRST:
                    continue  # of two values the one is what the other is not
                key, right, at = scan_listed(
                    entries, begin, middle[column], end, behind, codes, inside, n_inside, top,
                    everywhere, values, present, absent, scoring, marks, slots[column],
                )  # fmt: skip
            elif kinds[column]:
                key, right, at = scan_values(
                    entries, begin, middle[column], end, behind, unlisted, codes, inside, n_inside,
                    operators, top, everywhere, values, present, absent, scoring, sums, marks,
                    slots[column], slots[column + 1], buckets[column],
                )  # fmt: skip
            else:
                key, right, at = scan_cuts(
                    entries, begin, middle[column], end, behind, codes, inside, n_inside, operators,
                    top, everywhere, values, present, absent, level, scoring, sums, marks,
                    slots[column], buckets[column], widths[column],
                )  # fmt: skip
            if key < top or key == NOTHING:
                continue
            has_risen = key > top
            # What was marked before reaches the lower key only.
            if marks is not None and has_risen:
                marks[slots[first] : slots[column]] = 0
            if has_risen or right > most:
                top, most, where, place = key, right, column, at
        best.scores[i], best.corrects[i] = value_of(top), most
        best.columns[i], best.places[i] = where, place


@kernel
def count_refinements(space, column, rows, cells, labels, sums, totals):
    """Count all refinements by one column, for layers and labels; returns how many there are.

    `sums` receives the sums of the first operator, `totals` those of all rows that have a value.
    """
    (entries, start, middle, valid, stop), unlisted, nominal, _, _, _, _ = space
    codes = empty_codes(cells.counted, cells.truth.shape[1])
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
