"""Grow a body for one label and value in one run; see ../README.md."""

from math import inf, log2
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules.kernels.covering.category_sets import BestSets, best_set_of_target
from labelrules.kernels.covering.refine import (
    NOMINAL,
    BestRefinements,
    RefinementSpace,
    _encode,
    _sum_inside,
    best_refinements,
)
from labelrules.kernels.index import (
    Index,
    count_written,
    empty_codes,
    list_labels,
    narrow_down,
    row_of,
    span,
)
from labelrules.kernels.jit import inner
from labelrules.kernels.scoring import NO, SECOND_PLACE, cells_of, ones_of
from labelrules.measures import description_length

THEORY_WEIGHT = 0.5
"""The weight of a bit of theory against a bit of exceptions: many bodies cover the same rows."""

SET_PLACE = 1 << 50
"""Where sets come among the refinements by a column: last, and by their size."""

SHORTER = 1e-9
"""By how much a description must be shorter, so that rounding decides nothing."""


class DescriptionCounts(NamedTuple):
    """The counts that the description length of one label and value is computed from.

    All rows, those that have the value, those for which earlier rules predict it, and those for
    which they are right; the number of possible conditions; and after how many conditions in a row
    that do not shorten the description growth ends (0: never). Rows are counted in units.
    """

    n_rows: int
    n_true: int
    n_predicted: int
    n_right: int
    n_possible: int
    patience: int


NO_DESCRIPTION = DescriptionCounts(0, 0, 0, 0, 0, 0)
"""If description lengths do not matter."""


class GrowthTable(NamedTuple):
    """The columns that a body may test, features and labels, and room to narrow features down."""

    space: RefinementSpace
    narrowed: Index
    places: npt.NDArray[np.int32]
    ranked: npt.NDArray[np.int32]
    by_column: npt.NDArray[np.float64]
    board: npt.NDArray[np.int8]
    label_operators: npt.NDArray[np.int8]


class SetGrowth(NamedTuple):
    """What growth reads of the sets of categories, and where it notes those that it takes.

    `columns` are those that sets may be made of; `is_exact`, `n_values` and `log_factorials` are
    for `best_sets`. `found` has the first condition, if that is a set, and room for the best of one
    target; `sums`, `order` and `shares` are room to search. `chosen` receives for each step and
    number of a value a row with it (-1: rows not listed), or -2 if it is not in the set.
    """

    columns: npt.NDArray[np.int64]
    is_exact: bool
    n_values: npt.NDArray[np.int64]
    log_factorials: npt.NDArray[np.float64]
    found: BestSets
    sums: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float64]
    chosen: npt.NDArray[np.int32]


SET = np.int64(2)
"""The operator of a set in the steps of a body."""


def grow_body(
    table, written, cells, label, value, first, rows, covered, gain, description, most_steps,
    scoring, sets, steps,
):  # fmt: skip
    """Add conditions to the first one; returns their number, the score and the right cells.

    `written` are the labels that are written in some row and that a condition may test. `first` has
    the column and place of the first condition, and the score and right cells of its rule. A
    condition must raise the score, by `gain` if that is above 0; growth also ends as
    `DescriptionCounts` describes. `rows` has all rows, and is written over. `covered` receives the
    rows of the body, `steps` its conditions: column, operator (0, 1, or `SET`), and a row below and
    one above the threshold, for a nominal column one with the value (-1: rows not listed); for a
    label, a column after the features, its value; for a set, how many categories it has. `sets` is
    None, or a `SetGrowth`.
    """
    column, place, score, right = first
    layer = value if len(cells.counted) == 2 else 0
    # One number each, as `best_refinements` takes them.
    targets, everywheres = np.empty(1, np.int64), np.empty(1, np.int64)
    scores, corrects = np.empty(1, np.float64), np.empty(1, np.int64)
    best = BestRefinements(scores, corrects, np.empty(1, np.int64), np.empty(1, np.int64))
    targets[0], scores[0], corrects[0] = label * len(cells.counted) + layer, score, right
    codes, values = empty_codes(cells.counted, len(covered)), np.empty(1, np.int8)
    values[0] = 1 << value
    everywheres[0] = _encode(cells.truth[label], cells.counted[layer, label], codes)
    listing, unlisted, kinds, operators, slots, buckets, widths = table.space
    features = RefinementSpace(table.narrowed, unlisted, kinds, operators, slots, buckets, widths)
    n_steps, n_idle, shortest = np.int64(0), -1, np.inf
    while True:
        n_rows = _take_step(table, listing, column, place, rows, covered, sets, steps, n_steps)
        rows = rows[:n_rows]
        n_steps += 1
        if n_steps == most_steps or len(rows) < 2:
            break
        if description.patience:
            length = _length(description, value, codes, rows, sets, steps, n_steps, scoring.unit)
            n_idle = 0 if length < shortest - SHORTER else n_idle + 1
            shortest = min(length, shortest)
            if n_idle == description.patience:
                break
        narrow_down(
            table.space.listing, table.narrowed, table.places, table.ranked, table.by_column,
            n_steps == 1, rows, covered,
        )  # fmt: skip
        listing, column = table.narrowed, -1
        for part in range(2):  # features, then labels
            n_set = count_written(table.board, written, rows) if part else 0
            if part and n_set == 0:
                break
            space = _labels(table, written, label, rows, n_set) if part else features
            best_refinements(
                space, NO, len(space.nominal), rows, cells, targets, values, scoring, codes,
                everywheres, best, None,
            )  # fmt: skip
            if best.columns[0] >= 0:
                column, place = best.columns[0], best.places[0]
                column = table.space.nominal.size + written[column] if part else column
        if sets is not None:
            column, place = or_better_set(
                features, sets, rows, codes, everywheres[0], values[0], scoring, score, right, best,
                column, place,
            )  # fmt: skip
        if column < 0 or (gain > 0 and best.scores[0] - score < gain):
            break
        score, right = best.scores[0], best.corrects[0]
    return n_steps, score, right


def or_better_set(
    features, sets, rows, codes, everywhere, values, scoring, score, right, best, column, place
):  # fmt: skip
    """The place of the best set of categories, if it is better than the best other condition.

    It must also exceed the score and right cells of the body. `best` receives what it leads to.
    """
    found = sets.found
    found.scores[0], found.corrects[0], found.columns[0] = score, right, -1
    best_set_of_target(
        features, sets.columns, rows, codes, everywhere, 0, values, scoring, sets.is_exact,
        sets.n_values, sets.log_factorials, sets.sums, sets.order, sets.shares, found,
    )  # fmt: skip
    if not _is_better_set(found, best, column):
        return column, place
    best.scores[0], best.corrects[0] = found.scores[0], found.corrects[0]
    return found.columns[0], SET_PLACE + found.sizes[0]


@inner
def _is_better_set(found, best, column):
    """Whether a set is better than the best other condition, or as good by an earlier column."""
    if found.columns[0] < 0:
        return False
    if found.scores[0] != best.scores[0]:
        return found.scores[0] > best.scores[0]
    if found.corrects[0] != best.corrects[0]:
        return found.corrects[0] > best.corrects[0]
    return found.columns[0] < column


@inner
def _take_set(listing, column, members, rows, covered, chosen):
    """Uncover the rows that a set leaves out, and note its members by rows that have them."""
    entries, start, middle, valid, stop = listing
    chosen[:] = -2
    gap, value = np.int64(0), np.int64(-1)
    for i in range(start[column], middle[column]):
        gap += entries[i] < 0
    is_rest = len(rows) > stop[column] - start[column]
    rest_holds = is_rest and members[gap]
    if rest_holds:
        chosen[gap] = -1
    for row in rows:
        covered[np.uint64(row)] = rest_holds
    for i in span(start[column], valid[column]):
        entry = entries[i]
        row = row_of(entry)
        if entry < 0:
            value += 1
            value += is_rest and value == gap  # the value of the rows not listed is passed by
            if members[value]:
                chosen[value] = row
        covered[row] = members[value]
    for i in span(valid[column], stop[column]):
        covered[row_of(entries[i])] = False


@inner
def _labels(table, written, label, rows, n_set):
    """The labels that are written on the rows as columns to refine by."""
    n_labels = len(written)
    start, stop = np.empty(n_labels, np.int64), np.empty(n_labels, np.int64)
    listing = Index(np.empty(n_set, np.int32), start, start, stop, stop)
    list_labels(table.board, written, rows, listing.entries, start, stop)
    kinds, operators = np.empty(n_labels, np.int8), np.empty((1, n_labels), np.int8)
    for i in range(n_labels):
        kinds[i], operators[0, i] = NOMINAL, table.label_operators[label, written[i]]
    _, _, _, _, slots, buckets, widths = table.space
    return RefinementSpace(listing, False, kinds, operators, slots, buckets, widths)


@inner
def _take_step(table, listing, column, place, rows, covered, sets, steps, n_steps):
    """Uncover the rows that a condition leaves out, note the condition, and keep the others.

    Returns how many rows there are; they come first now.
    """
    n_features, second, above = table.space.nominal.size, np.int64(0), np.int64(-1)
    if sets is not None and place >= SET_PLACE:
        _take_set(listing, column, sets.found.members[0], rows, covered, sets.chosen[n_steps])
        second, below = SET, place - SET_PLACE
    elif column < n_features:
        is_rest = len(rows) > listing.stop[column] - listing.start[column]
        nominal = table.space.nominal[column] > 0
        below, above = _apply(listing, column, is_rest, nominal, place, rows, covered)
        second = np.int64(place >= SECOND_PLACE if nominal else place % 2 == 1)
    else:
        cells = table.board[column - n_features]
        below = np.int64(1)
        for row in rows:
            if cells[row] == 0:
                below = place  # absent comes first
        above = below
        for row in rows:
            covered[np.uint64(row)] = cells[np.uint64(row)] == below
    steps[n_steps, 0], steps[n_steps, 1] = column, second
    steps[n_steps, 2], steps[n_steps, 3] = below, above
    n_rows = 0
    for row in rows:
        rows[n_rows] = row
        n_rows += covered[np.uint64(row)]
    return n_rows


@inner
def _apply(listing, column, is_rest, nominal, place, rows, covered):
    """Uncover the rows that a condition leaves out; returns the rows around its threshold."""
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
        covered[np.uint64(row)] = is_rest and rest_holds != second
    below, above, value = -1, -1, -1
    for i in span(start, valid):
        entry = entries[i]
        row = row_of(entry)
        if entry < 0:
            value += 1
            value += is_rest and value == gap  # the value of the rows not listed is passed by
            below = row if value == number else below
            above = row if value == number + 1 else above
        covered[row] = ((value == number) if nominal else (value <= number)) != second
    for i in span(valid, stop):
        covered[row_of(entries[i])] = False
    return below, above


# The bits of `labelrules.measures.description_length`, compiled.
_compiled: dict[str, Any] = {"log2": log2, "inf": inf}
for _bits in (
    description_length.subset_bits,
    description_length.condition_bits,
    description_length.exception_bits,
):
    _compiled[_bits.__name__] = inner(FunctionType(_bits.__code__, _compiled, _bits.__name__))
_condition_bits, _exception_bits = _compiled["condition_bits"], _compiled["exception_bits"]


@inner
def _length(description, value, codes, rows, sets, steps, n_steps, unit):
    """The length of the description with a rule that covers these rows."""
    inside = _sum_inside(codes, rows)
    ones, zeros = ones_of(inside), cells_of(inside) - ones_of(inside)
    right, wrong = (ones, zeros) if value else (zeros, ones)
    n_predicted = unit * (description.n_predicted + right + wrong)
    n_wrong = unit * (description.n_predicted - description.n_right + wrong)
    n_missed = unit * (description.n_true - description.n_right - right)
    n_rows, n_true = unit * description.n_rows, unit * description.n_true
    exceptions = _exception_bits(n_predicted, n_rows - n_predicted, n_wrong, n_missed, n_true)
    bits = _condition_bits(n_steps, description.n_possible)
    if sets is not None:
        for i in range(n_steps):
            if steps[i, 1] == SET:
                bits += _bits_of_set(sets, steps[i, 0], steps[i, 2])
    return exceptions + THEORY_WEIGHT * bits


@inner
def _bits_of_set(sets, column, size):
    """The bits that tell which of the sets of this size it is."""
    n_values = sets.n_values[column]
    named = sets.log_factorials[n_values] - sets.log_factorials[size]
    return named - sets.log_factorials[n_values - size]
