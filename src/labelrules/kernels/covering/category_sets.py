"""Find the best sets of categories, `region in {North, West}`.

Only searches that may test for sets call this, so others need not wait until it is compiled.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers
from labelrules.kernels.covering.refine import _by_value, _encode, _sum_inside
from labelrules.kernels.index import empty_codes
from labelrules.kernels.jit import inner, small
from labelrules.kernels.scoring import (
    NO,
    NOTHING,
    YES,
    cells_of,
    key_of_best,
    ones_of,
    score_key,
    value_of,
)

MARGIN = 1e-9
"""By how many bits a set must be better, so that rounding decides nothing."""


class BestSets(NamedTuple):
    """For each target its best set of categories; column -1 if there is none.

    `sizes` has the number of categories, `members` has for each number of a value among those of
    covered rows whether it belongs to the set.
    """

    scores: Floats
    corrects: Integers
    columns: Integers
    sizes: Integers
    members: npt.NDArray[np.bool_]


@inner
def _by_precision(sums, n, value, order, shares):
    """The numbers of the values by falling share of right cells, those without cells left out.

    Equal shares come in the order of the values.
    """
    for i in range(n):
        cells, ones = cells_of(sums[i]), ones_of(sums[i])
        right = ones if value else cells - ones
        shares[i] = -right / cells if cells > 0 else np.inf
    n_counted = np.int64(0)
    for i in range(n):
        n_counted += shares[i] < np.inf
    order[:n] = np.argsort(shares[:n], kind="mergesort")
    return n_counted


@small
def _right_of(value, inside):
    return ones_of(inside) if value else cells_of(inside) - ones_of(inside)


@inner
def _entropy_bits(inside):
    """The bits that tell in which of these cells the label is present."""
    cells, ones = cells_of(inside), ones_of(inside)
    return _times_log(cells) - _times_log(ones) - _times_log(cells - ones)


@inner
def _times_log(count):
    return count * np.log2(count) if count > 0 else 0.0


@inner
def _saves_bits(sums, order, n, size, reverse, n_categories, log_factorials, inside, unit):
    """Whether a set saves more bits than name it, and more than each single category does."""
    whole, most = _entropy_bits(inside), 0.0
    one_of_all = np.log2(np.float64(n_categories))
    for i in range(n):
        one = sums[order[i]]
        saved = unit * (whole - _entropy_bits(one) - _entropy_bits(inside - one))
        most = max(most, saved - one_of_all)
    together = np.int64(0)
    for k in range(size):
        together += sums[order[n - 1 - k if reverse else k]]
    saved = unit * (whole - _entropy_bits(together) - _entropy_bits(inside - together))
    # How many categories, and which.
    named = one_of_all + log_factorials[n_categories] - log_factorials[size]
    named -= log_factorials[n_categories - size]
    return saved - named > most + MARGIN


def scan_sets(sums, order, n, value, reverse, everywhere, scoring):
    """The best set of the first values in an order, or of the last: key, right cells, size.

    It has at least two values, and leaves one out at least. Of equal sets the smaller one.
    """
    top, most, size, inside = NOTHING, -1.0, np.int64(0), np.int64(0)
    for k in range(n - 1):
        inside += sums[order[n - 1 - k if reverse else k]]
        if k == 0:
            continue
        key, right = score_key(value, inside, everywhere, scoring), _right_of(value, inside)
        if key > top or (key == top and key > NOTHING and right > most):
            top, most, size = key, right, np.int64(k + 1)
    return top, most, size


def grow_set(sums, order, n, value, everywhere, scoring):
    """The best set by adding the value that raises the score most, as long as one does.

    The values in the set are moved to the front of the order. Returns key, right cells and size.
    """
    top, most, size, inside = NOTHING, -1.0, np.int64(0), np.int64(0)
    while size < n - 1:
        best, best_right, at = NOTHING, -1.0, -1
        for i in range(size, n):
            joined = inside + sums[order[i]]
            key, right = score_key(value, joined, everywhere, scoring), _right_of(value, joined)
            if at < 0 or key > best or (key == best and right > best_right):
                best, best_right, at = key, right, i
        # Two values may reach what the first alone may not.
        if size > 1 and not (best > top or (best == top and best_right > most)):
            break
        chosen = order[at]
        for i in range(at, size, -1):
            order[i] = order[i - 1]
        order[size] = chosen
        inside += sums[chosen]
        top, most, size = best, best_right, np.int64(size + 1)
    return (top, most, size) if size > 1 else (NOTHING, -1.0, np.int64(0))


def improve_set(
    sums, n, inside, column, i, values, everywhere, scoring, is_exact, n_categories,
    log_factorials, order, shares, top, most, best,
):  # fmt: skip
    """Note the best set of a column for one target, if it exceeds a key and right cells.

    `sums` has those of the `n` values of the column, `inside` the sum of all covered cells; `order`
    and `shares` are room for as many. Returns the key and the right cells of the best set so far.
    """
    for case in range(6 if n > 2 else 0):  # one call of each, so that it is compiled once
        value, way = YES if case < 3 else NO, case % 3
        if not values & (1 << value):
            continue
        # The last ones are worst, if right cells raise the score.
        is_plain = scoring.monotone and (value or scoring.head_relative)
        if (way == 1 and is_plain) or (way == 2 and is_exact):
            continue
        n_counted = _by_precision(sums, n, value, order, shares)
        if way < 2:
            key, right, size = scan_sets(
                sums, order, n_counted, value, way == 1, everywhere, scoring
            )
        else:
            key, right, size = grow_set(sums, order, n_counted, value, everywhere, scoring)
        if key == NOTHING or key < top or (key == top and right < most):
            continue
        is_smaller = column == best.columns[i] and size < best.sizes[i]
        if key == top and right == most and not is_smaller:
            continue
        if not _saves_bits(
            sums, order, n_counted, size, way == 1, n_categories, log_factorials, inside,
            scoring.unit,
        ):  # fmt: skip
            continue
        top, most = key, right
        best.columns[i], best.sizes[i] = column, size
        best.members[i] = False
        for k in range(size):
            best.members[i, order[n_counted - 1 - k if way == 1 else k]] = True
    return top, most


def best_set_of_target(
    space, columns, rows, codes, everywhere, i, values, scoring, is_exact, n_categories,
    log_factorials, sums, order, shares, best,
):  # fmt: skip
    """Note the best set for one target, if it exceeds what is noted; see `best_sets`."""
    (entries, start, middle, valid, stop), unlisted, _, _, _, _, _ = space
    inside = _sum_inside(codes, rows)
    top, most = key_of_best(best.scores[i]), float(best.corrects[i])
    for column in columns:
        n, _ = _by_value(
            entries, start[column], middle[column], valid[column], stop[column], codes, inside,
            len(rows), unlisted, sums,
        )  # fmt: skip
        top, most = improve_set(
            sums, n, inside, column, i, values, everywhere, scoring, is_exact,
            n_categories[column], log_factorials, order, shares, top, most, best,
        )  # fmt: skip
    best.scores[i], best.corrects[i] = value_of(top), most


def best_sets(
    space, columns, rows, cells, targets, values_of, scoring, is_exact, n_categories,
    log_factorials, best,
):  # fmt: skip
    """The best set of categories of some nominal columns, for each target.

    Where the values of a column are put in the order of their shares of right cells, the best set
    are the first ones, or the last ones, for a measure that is quasi-convex in right and wrong
    cells (`is_exact`), as the best condition on a number is one of its cuts; see docs/covering.md.
    For other measures values are added greedily, too. A set must save more bits than it takes to
    name it among all sets of so many of the `n_categories` of its column, and more than single
    categories do. `best` receives the sets, if they exceed what it has before.
    """
    n_layers = len(cells.counted)
    codes = empty_codes(cells.counted, cells.truth.shape[1])
    sums, order = np.empty((2, len(rows) + 3), np.int64)
    shares = np.empty(len(rows) + 3, np.float64)
    for i in range(len(targets)):
        label, layer = targets[i] // n_layers, targets[i] % n_layers
        everywhere = _encode(cells.truth[label], cells.counted[layer, label], codes)
        best_set_of_target(
            space, columns, rows, codes, everywhere, i, values_of[i], scoring, is_exact,
            n_categories, log_factorials, sums, order, shares, best,
        )  # fmt: skip


def best_sets_in_tables(
    tables, start, columns, everywheres, values_of, scoring, is_exact, n_categories,
    log_factorials, best, insides,
):  # fmt: skip
    """Find the best sets from the sums by the codes of all columns; members are codes.

    Codes without counted cells are in no set, so it does not matter which of them occur. `insides`
    receives the sum that a set covers.
    """
    n_members = best.members.shape[1]
    order, shares = np.empty(n_members, np.int64), np.empty(n_members, np.float64)
    for i in range(len(tables)):
        top, most = key_of_best(best.scores[i]), float(best.corrects[i])
        for column in columns:
            begin, end = start[column], start[column + 1] - 1  # the last is that of missing values
            inside = np.int64(0)
            for at in range(begin, end + 1):
                inside += tables[i, at]
            top, most = improve_set(
                tables[i, begin:end], end - begin, inside, column, i, values_of[i], everywheres[i],
                scoring, is_exact, n_categories[column], log_factorials, order, shares, top, most,
                best,
            )  # fmt: skip
        best.scores[i], best.corrects[i] = value_of(top), most
        if best.columns[i] >= 0:
            begin, insides[i] = start[best.columns[i]], 0
            for code in range(n_members):
                if best.members[i, code]:
                    insides[i] += tables[i, begin + code]
