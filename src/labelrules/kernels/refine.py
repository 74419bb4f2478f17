"""Count and score every refinement of a body in one pass; see `labelrules.kernels.scoring`."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from labelrules._types import Integers
from labelrules.kernels.columns import Index, counts_of, cumulate
from labelrules.kernels.scoring import (
    FIRST,
    NOTHING,
    both_limits,
    scan_cuts,
    scan_two,
    scan_values,
)

NUMERIC, NOMINAL, ONE_LISTED = 0, 1, 2
"""Kinds of columns; the last is nominal, and all rows that it lists have the same value."""


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


@njit
def _encode(truth, counted, codes):
    """The code of each row, and the sum of their counts."""
    everywhere = np.int64(0)
    for row in range(len(codes)):
        code = np.uint8(counted[row]) * np.uint8(1 + 2 * truth[row])
        codes[row] = code
        everywhere += counts_of(code)
    return everywhere


@njit
def _sum_inside(codes, rows):
    inside = np.int64(0)
    for row in rows:
        inside += counts_of(codes[row])
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
        listed += counts_of(codes[entries[i] ^ (entries[i] >> 31)])
    for i in range(valid, stop):
        missing += counts_of(codes[entries[i] ^ (entries[i] >> 31)])
    for listed_now in (middle > start, middle == start):
        if listed_now and valid > start:
            sums[n] = listed
            n += 1
        elif not listed_now and n_inside > stop - start:
            sums[n] = inside - listed - missing
            n += 1
    return n, inside - missing


def best_of_target(
    space, first, last, codes, everywhere, inside, n_inside, target, least, way, found
):
    """The best refinement for one target: its rank, its right cells, its column and its place.

    `target` are the values that heads may have and the operators of the columns; `least` is the
    rank, and the right cells, that must be exceeded, and the column is -1 if they are not. `found`
    receives the ranks of columns that reach the best so far, and how many cells are right then.
    """
    ranks, rights = found
    # Taken apart once: handing on a tuple of arrays costs more than counting a short column.
    (entries, start, middle, valid, stop), unlisted, nominal, _ = space
    values, allowed = target
    sums = np.empty(n_inside + 2, np.int64)
    top, most = least
    where, place, is_root = -1, -1, top == NOTHING
    present, absent = both_limits(everywhere, values, top, way)
    for column in range(first, last):
        ranks[column] = NOTHING
        operators = allowed[column]
        begin, end, behind = start[column], valid[column], stop[column]
        if not operators or (begin == behind and not is_root):
            continue  # where all rows have the same value it makes no difference
        if nominal[column] == ONE_LISTED and operators & FIRST:
            # The most frequent case, written out.
            listed, missing = np.int64(0), np.int64(0)
            for entry in entries[begin:end]:
                listed += counts_of(codes[entry ^ (entry >> 31)])
            for entry in entries[end:behind]:
                missing += counts_of(codes[entry ^ (entry >> 31)])
            is_rest = n_inside > behind - begin
            rest = inside - listed - missing if is_rest else np.int64(0)
            before, after, is_before = rest, listed, is_rest
            if middle[column] > begin:
                before, after, is_before = listed, rest, end > begin
            rank, right, at = scan_two(
                before, after, is_before, everywhere, values, present, absent, way
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
        ranks[column], rights[column] = rank, right
        if rank > top:
            present, absent = both_limits(everywhere, values, rank, way)
        if rank > top or right > most:
            top, most, where, place = rank, right, column, at
    return top, most, where, place


def best_refinements(space, first, last, rows, cells, targets, way, best, reached):
    """The best refinement by a column from `first` to `last`, for each target.

    A target is a label, and with two layers of cells twice its number plus the value. Where
    `reached` has rows it receives, by targets and columns, the most cells right with which the
    best rank is reached, -1 where it is not.
    """
    n_layers = len(cells.counted)
    codes = np.empty(cells.truth.shape[1], np.uint8)
    ranks = np.empty(space.nominal.size, np.int64)
    rights = np.empty(space.nominal.size)
    for i in range(len(targets)):
        label, layer = targets[i] // n_layers, targets[i] % n_layers
        operators = space.operators[label if len(space.operators) > 1 else 0]
        values = cells.values[label] & (3 if n_layers == 1 else 1 << layer)
        everywhere = _encode(cells.truth[label], cells.counted[layer, label], codes)
        inside = _sum_inside(codes, rows)
        top, most, where, place = best_of_target(
            space, first, last, codes, everywhere, inside, len(rows), (values, operators),
            (NOTHING, -1.0), way, (ranks, rights),
        )  # fmt: skip
        best.ranks[i], best.corrects[i], best.columns[i], best.places[i] = top, most, where, place
        if len(reached):
            for column in range(first, last):
                is_best = ranks[column] == top and top > NOTHING
                reached[i, column] = rights[column] if is_best else -1


@njit(nogil=True, cache=True)
def count_refinements(space, column, rows, cells, labels, sums, totals):
    """Count all refinements by one column, for layers and labels, and tell how many there are.

    `sums` receives the codes of the cells inside with the first operator, `totals` those of all
    rows where the column has a value.
    """
    (entries, start, middle, valid, stop), unlisted, nominal, _ = space
    codes = np.empty(cells.truth.shape[1], np.uint8)
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
