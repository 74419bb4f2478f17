"""Merge labels that are equally good into one head."""

import numpy as np

from labelrules.kernels.covering.refine import _encode, _refinements, _sum_inside, width_of
from labelrules.kernels.index import code_of, empty_codes
from labelrules.kernels.jit import inner
from labelrules.kernels.scoring import (
    ABSENCE,
    NO,
    OPEN,
    PRESENCE,
    SECOND_PLACE,
    SURE,
    YES,
    both_limits,
    cells_of,
    key_of_score,
    ones_of,
    saturation,
    score_key,
    value_of,
)


def score_literals(rows, cells, labels, scoring, scores, corrects):
    """The score and the right cells of each label and value, for a body that covers the rows."""
    codes = empty_codes(cells.counted, cells.truth.shape[1])
    n_layers = len(cells.counted)
    for i in range(len(labels)):
        label = labels[i]
        for value in range(2):
            scores[i, value], corrects[i, value] = -np.inf, 0
            if not cells.values[label] & (1 << value):
                continue
            layer = value if n_layers == 2 else 0
            everywhere = _encode(cells.truth[label], cells.counted[layer, label], codes)
            inside = _sum_inside(codes, rows)
            scores[i, value] = value_of(score_key(value, inside, everywhere, scoring))
            corrects[i, value] = ones_of(inside) if value else cells_of(inside) - ones_of(inside)


@inner
def _totals(cells, labels, rows, codes, everywhere, inside):
    """The sums over all rows and over the covered ones, by layers and labels."""
    for layer in range(len(cells.counted)):
        for i in range(len(labels)):
            truth, counted = cells.truth[labels[i]], cells.counted[layer, labels[i]]
            everywhere[layer, i] = _encode(truth, counted, codes)
            inside[layer, i] = _sum_inside(codes, rows)


@inner
def _encode_rows(truth, counted, rows, codes):
    for row in rows:
        codes[row] = code_of(counted[row], truth[row])


def limits_of(cells, labels, everywhere, key, scoring, limits, levels):
    """What keeps each label from the key; see `scoring.limits` and `scoring.saturation`."""
    top = len(cells.counted) - 1
    for i in range(len(labels)):
        values = cells.values[labels[i]]
        present, _ = both_limits(everywhere[top, i], values & PRESENCE, key, scoring)
        _, absent = both_limits(everywhere[0, i], values & ABSENCE, key, scoring)
        limits[i, 0], limits[i, 1] = present
        limits[i, 2], limits[i, 3] = absent
        levels[i] = OPEN
        if top == 0:
            levels[i] = saturation(everywhere[0, i], values, present, absent, key, scoring)


def add_right(inside_1, inside_0, everywhere_1, everywhere_0, limits, level, key, scoring):
    """What a label adds to a head of the key: its right cells, and for which value."""
    ones, zeros = ones_of(inside_1), cells_of(inside_1) - ones_of(inside_1)
    can_be = ones >= limits[0] and zeros <= limits[1] and ones + zeros >= scoring.smallest
    if can_be and (level == SURE or score_key(YES, inside_1, everywhere_1, scoring) == key):
        return ones, 1
    ones, zeros = ones_of(inside_0), cells_of(inside_0) - ones_of(inside_0)
    can_be = zeros >= limits[2] and ones <= limits[3] and ones + zeros >= scoring.smallest
    if can_be and (level == SURE or score_key(NO, inside_0, everywhere_0, scoring) == key):
        return zeros, 0
    return 0.0, -1


def add_up(
    space,
    column,
    rows,
    cells,
    labels,
    everywhere,
    inside,
    key,
    largest,
    scoring,
    bounds,
    least,
    work,
):
    """Add up, for each refinement by a column, the right cells of all labels that reach the key.

    Presences first, `largest` labels at most. Refinements in slots whose bounds are below the least
    are left out. Returns the number of cuts or values.
    """
    (entries, start, middle, valid, stop), unlisted, nominal, all_operators, _, _, _ = space
    first, buckets = space.slots[column], space.buckets[column]
    width = width_of(space.widths[column], buckets, valid[column] - start[column])
    codes, sums, totals, gains, sizes, limits, levels = work
    n_layers, n = len(cells.counted), 0
    top = n_layers - 1  # the layer for presence
    # Where heads are limited presences go before absences, hence a pass for each.
    limited = largest < len(labels)
    gains[:], sizes[:] = 0.0, 0
    for step in range(len(labels) * (2 if limited else 1)):
        j, phase = step % len(labels), step // len(labels)
        label = labels[j]
        operators = all_operators[label if len(all_operators) > 1 else 0, column]
        if not operators:
            continue
        for layer in range(n_layers):
            _encode_rows(cells.truth[label], cells.counted[layer, label], rows, codes)
            n, totals[layer] = _refinements(
                entries, start[column], middle[column], valid[column], stop[column],
                nominal[column], unlisted, codes, inside[layer, j], len(rows), sums[layer],
            )  # fmt: skip
        keeps_to, level = (limits[j, 0], limits[j, 1], limits[j, 2], limits[j, 3]), levels[j]
        # Of two values the one is what the other is not.
        for part in range((1 if nominal[column] and n <= 2 else 2) * buckets):
            second, bucket = part // buckets, part % buckets
            if not operators & (1 << second) or bounds[first + part] < least:
                continue
            for cut in range(bucket * width, n if bucket == buckets - 1 else (bucket + 1) * width):
                if cut >= n:
                    break
                if sizes[second, cut] >= largest:
                    continue
                in_1, in_0 = sums[top, cut], sums[0, cut]
                if second:
                    in_1, in_0 = totals[top] - in_1, totals[0] - in_0
                gain, value = add_right(
                    in_1, in_0, everywhere[top, j], everywhere[0, j], keeps_to, level, key, scoring
                )
                if value >= 0 and not (limited and value == phase):
                    gains[second, cut] += gain
                    sizes[second, cut] += 1
    return n


def best_merged(space, bounds, by_slot, rows, cells, labels, score, largest, scoring):
    """Of the refinements that reach the score the one whose labels have the most cells right.

    All labels that reach it make up the head, presences first, `largest` of them at most. No
    refinement exceeds the bound of its column or slot, so most columns, visited by falling bounds,
    are skipped. Returns the number of right cells, the column and the place.
    """
    key, nominal, n_layers = key_of_score(score), space.nominal, len(cells.counted)
    shape, size = (n_layers, len(labels)), len(rows) + 2
    everywhere, inside = np.empty(shape, np.int64), np.empty(shape, np.int64)
    codes = empty_codes(cells.counted, cells.truth.shape[1])
    _totals(cells, labels, rows, codes, everywhere, inside)
    gains, sizes = np.empty((2, size)), np.empty((2, size), np.int64)
    sums, totals = np.empty((n_layers, size), np.int64), np.empty(n_layers, np.int64)
    limits, levels = np.empty((len(labels), 4)), np.empty(len(labels), np.int64)
    limits_of(cells, labels, everywhere, key, scoring, limits, levels)
    work = (codes, sums, totals, gains, sizes, limits, levels)
    most, where, place = -1.0, -1, -1
    for column in np.argsort(-bounds):
        # Equal bounds come in any order.
        if bounds[column] < most or bounds[column] == 0:
            break
        if bounds[column] == most and column > where:
            continue
        n = add_up(
            space, column, rows, cells, labels, everywhere, inside, key, largest, scoring, by_slot,
            most, work,
        )  # fmt: skip
        for step in range(2 * n):
            # As places are numbered: cut by cut, but the second operator last for values.
            by_value = nominal[column]
            i, second = (step % n, step // n) if by_value else (step // 2, step % 2)
            at = second * SECOND_PLACE + i if by_value else step
            gain = gains[second, i] if sizes[second, i] else -1.0
            if gain > most or (gain == most and gain >= 0 and column < where):
                most, where, place = gain, column, at
    return most, where, place
