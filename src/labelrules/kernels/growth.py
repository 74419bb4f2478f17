"""Grow a body for one label and value, condition by condition, without coming back in between.

Like `labelrules.kernels.refine`, compiled once per formula.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from labelrules._types import Integers
from labelrules.kernels.columns import Index, count_written, list_labels, narrow_down
from labelrules.kernels.description import SHORTER, length_with
from labelrules.kernels.refine import RefinementSpace, _encode, _sum_inside, best_of_target
from labelrules.kernels.scoring import NO, SECOND_PLACE, cells_of, ones_of, value_of


class GrowthTable(NamedTuple):
    """What a body may test: features and labels, and what is needed to narrow them down."""

    space: RefinementSpace
    narrowed: Index
    places: npt.NDArray[np.int32]
    ranked: npt.NDArray[np.int32]
    by_column: npt.NDArray[np.float64]
    board: npt.NDArray[np.int8]
    label_operators: npt.NDArray[np.int8]


class Steps(NamedTuple):
    """The conditions found: column, operator (0 or 1), and the rows around a cut.

    Of a numeric column a row below and a row above, of a nominal one a row that has the value
    twice; -1 stands for rows that are not listed. Of a label, which comes after the features, its
    value.
    """

    columns: Integers
    seconds: Integers
    below: Integers
    above: Integers


@njit
def _apply(listing, column, is_rest, nominal, place, rows, covered):
    """Uncover the rows that a condition, given by its place, leaves out; tells its rows around."""
    entries = listing.entries
    start, middle = listing.start[column], listing.middle[column]
    valid, stop = listing.valid[column], listing.stop[column]
    number, second = place // 2, place % 2 == 1
    if nominal:
        number, second = place % SECOND_PLACE, place >= SECOND_PLACE
    gap = 0
    for i in range(start, middle):
        gap += entries[i] < 0
    rest_holds = (gap == number) if nominal else (gap <= number)
    for row in rows:
        covered[row] = is_rest and rest_holds != second
    below, above, value = -1, -1, -1
    for i in range(start, valid):
        entry = entries[i]
        row = entry ^ (entry >> 31)
        if entry < 0:
            value += 1
            value += is_rest and value == gap  # the value of the rows not listed is passed by
            below = row if value == number else below
            above = row if value == number + 1 else above
        covered[row] = ((value == number) if nominal else (value <= number)) != second
    for i in range(valid, stop):
        covered[entries[i] ^ (entries[i] >> 31)] = False
    return below, above


def best_condition(table, label, value, codes, everywhere, rows, least, way):
    """The best further condition: its rank, right cells, column and place; features come first.

    The column is -1 if none exceeds the least rank and right cells.
    """
    inside, n_inside = _sum_inside(codes, rows), len(rows)
    nowhere = np.empty(0, np.int32)
    _, _, kinds, operators, slots, buckets, widths = table.space
    space = RefinementSpace(table.narrowed, True, kinds, operators, slots, buckets, widths)
    allowed, n_before = table.space.operators[0], 0
    rank, right, column, place = least[0], least[1], -1, -1
    for part in range(2):  # features, then labels: one call, so that it is compiled once
        if part == 1:
            allowed, n_before = table.label_operators[label], table.space.nominal.size
            n_set = count_written(table.board, rows) if allowed.any() else 0
            if n_set == 0:
                break
            start, stop = np.empty(len(allowed), np.int64), np.empty(len(allowed), np.int64)
            listing = Index(np.empty(n_set, np.int32), start, start, stop, stop)
            list_labels(table.board, rows, listing.entries, start, stop)
            kinds = np.ones(len(allowed), np.int8)
            space = RefinementSpace(
                listing, False, kinds, table.label_operators, slots, buckets, widths
            )
        top, most, where, at = best_of_target(
            space, NO, len(allowed), codes, everywhere, inside, n_inside, (1 << value, allowed),
            (rank, right), way, nowhere,
        )  # fmt: skip
        if where >= 0:
            rank, right, column, place = top, most, where + n_before, at
    return rank, right, column, place


@njit
def _label_value(cells, rows, place):
    """The value of a label at a place among those that it has on the rows."""
    for row in rows:
        if cells[row] == 0:
            return place  # absent comes first
    return 1


@njit
def _rows_of(rows, covered):
    return rows[covered[rows]]


@njit
def _length(told, value, codes, rows, n_conditions):
    """The length of the description with a rule that covers these rows."""
    inside = _sum_inside(codes, rows)
    ones, zeros = ones_of(inside), cells_of(inside) - ones_of(inside)
    right, wrong = (ones, zeros) if value else (zeros, ones)
    return length_with(told, right, wrong, n_conditions)


def grow_body(
    table, cells, label, value, rows, covered, n_before, least, gain, told, most_steps, way, steps
):
    """Add conditions as long as they make the rule better.

    `covered` and its `rows` are those of the body so far, of `n_before` conditions, and are
    narrowed down; `least` is its rank and its right cells. A condition must raise the score by
    `gain`, if that is above 0, and one out of some must shorten the description, see `Told`.
    Returns how many conditions were added, and the rank and the right cells they lead to.
    """
    layer = value if len(cells.counted) == 2 else 0
    codes = np.empty(cells.truth.shape[1], np.uint8)
    everywhere = _encode(cells.truth[label], cells.counted[layer, label], codes)
    n_features = table.space.nominal.size
    rank, right = least
    n_steps, n_idle, shortest = 0, -1, np.inf
    while n_steps < most_steps and len(rows) > 1:
        if told.patience:
            length = _length(told, value, codes, rows, n_before + n_steps)
            n_idle = 0 if length < shortest - SHORTER else n_idle + 1
            shortest = min(length, shortest)
            if n_idle == told.patience:
                break
        narrow_down(
            table.space.listing, table.narrowed, table.places, table.ranked, table.by_column,
            n_steps == 0, rows, covered,
        )  # fmt: skip
        top, most, column, place = best_condition(
            table, label, value, codes, everywhere, rows, (rank, float(right)), way
        )
        if column < 0:
            break
        if gain > 0 and value_of(top) - value_of(rank) < gain:
            break
        steps.columns[n_steps] = column
        if column < n_features:
            is_rest = len(rows) > table.narrowed.stop[column] - table.narrowed.start[column]
            nominal = table.space.nominal[column] > 0
            below, above = _apply(table.narrowed, column, is_rest, nominal, place, rows, covered)
            second = place >= SECOND_PLACE if nominal else place % 2 == 1
        else:
            cells_of_label = table.board[column - n_features]
            below = above = _label_value(cells_of_label, rows, place)
            second = False
            for row in rows:
                covered[row] = cells_of_label[row] == below
        steps.seconds[n_steps], steps.below[n_steps], steps.above[n_steps] = second, below, above
        rows = _rows_of(rows, covered)
        rank, right = top, np.int64(most)
        n_steps += 1
    return n_steps, rank, right
