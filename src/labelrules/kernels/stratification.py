"""Folds that have each label, and each pair of labels, as often as all rows together.

See README.md, "Units and items". Excesses and what follows from them are whole numbers in
floating point: below 2**53 they are exact, so their sums come in any order.
"""

import numpy as np

from labelrules.kernels.jit import inner, kernel

BLOCK = 128
"""Items of which the least number of units left is kept."""

_EXHAUSTED = np.int64(2**62)


@kernel
def list_items(board, order, unknown, start, items):
    """List, for the rows in this order, the labels that are present, then the unknown ones.

    `start` says where the list of each row begins; unknown cells of a label are the item
    `unknown[label]`.
    """
    for place in range(len(order)):
        row, at = order[place], start[place]
        for label in range(board.shape[1]):
            if board[row, label] == 1:
                items[at] = label
                at += 1
        if at < start[place + 1]:
            for label in range(board.shape[1]):
                if board[row, label] < 0:
                    items[at] = unknown[label]
                    at += 1


@kernel
def list_pairs(start, items, n_labels, n_items, paired_start, paired):
    """Copy the lists of items, each followed by the pairs of labels that are present.

    Pairs are numbered from `n_items`, by their first label, then by their second, those that some
    row has. Returns the number of all items.
    """
    n_rows = len(start) - 1
    n_present = np.zeros(n_rows, np.int64)
    ends = np.zeros(n_labels + 1, np.int64)
    fill = np.empty(n_rows, np.int64)
    for row in range(n_rows):
        first, at = start[row], paired_start[row]
        for i in range(first, start[row + 1]):
            paired[at + i - first] = items[i]
            if items[i] < n_labels:
                n_present[row] += 1
                ends[items[i]] += 1
        fill[row] = at + start[row + 1] - first
    for label in range(n_labels):
        ends[label + 1] += ends[label]
    places = np.empty(ends[n_labels], np.int64)  # by label, where it stands in the lists
    rows = np.empty(ends[n_labels], np.int32)
    for row in range(n_rows - 1, -1, -1):
        for i in range(start[row], start[row] + n_present[row]):
            ends[items[i]] -= 1
            places[ends[items[i]]] = i
            rows[ends[items[i]]] = row
    number = np.full(n_labels, -1, np.int64)
    for label in range(n_labels):
        begin, end = ends[label], ends[label + 1]
        for k in range(begin, end):
            for i in range(places[k] + 1, start[rows[k]] + n_present[rows[k]]):
                number[items[i]] = 0
        for other in range(label + 1, n_labels):
            if number[other] == 0:
                number[other] = n_items
                n_items += 1
        for k in range(begin, end):
            row = rows[k]
            for i in range(places[k] + 1, start[row] + n_present[row]):
                paired[fill[row]] = number[items[i]]
                fill[row] += 1
        number[:] = -1
    return n_items


@kernel
def add_up_rows(start, items, rows_start, rows, n_items, unit_start, unit_items, counts):
    """List the items of groups of rows, with how often they are there.

    The rows of group `g` are `rows[rows_start[g]:rows_start[g + 1]]`. `unit_start` is filled, and
    `unit_items` and `counts` up to what is returned.
    """
    slot = np.full(n_items, -1, np.int64)
    at = np.int64(0)
    for unit in range(len(rows_start) - 1):
        unit_start[unit] = first = at
        for k in range(rows_start[unit], rows_start[unit + 1]):
            for i in range(start[rows[k]], start[rows[k] + 1]):
                item = items[i]
                if slot[item] < first:
                    slot[item] = at
                    unit_items[at] = item
                    counts[at] = 0
                    at += 1
                counts[slot[item]] += 1
    unit_start[len(rows_start) - 1] = at
    return at


@kernel
def assign(start, items, counts, sizes, shares, room, is_free, folds, excess):
    """Give each unit a fold, those first that have the item of which the fewest units are left.

    Ties: the first item, the first unit. The fold is that with the least excess of what the unit
    has; then the one that lacks the most rows for its share, then the first. `room` is how many
    rows folds lack, times the sum of the shares; unless `is_free`, only folds that lack rows are
    chosen. `excess`, items by folds, is what a fold has beyond its share, times that sum.
    """
    n_items, n_folds = excess.shape
    whole = shares.sum()
    left = np.zeros(n_items, np.int64)
    for i in range(len(items)):
        left[items[i]] += 1
        for fold in range(n_folds):
            excess[items[i], fold] -= counts[i] * shares[fold]
    units, ends = _units_of_items(start, items, left)
    least = np.full((n_items + BLOCK - 1) // BLOCK, _EXHAUSTED)
    for item in range(n_items):
        if left[item] == 0:
            left[item] = _EXHAUSTED
        least[item // BLOCK] = min(least[item // BLOCK], left[item])
    vacant, pull = np.ones(n_folds, np.bool_), np.empty(n_folds)
    n_left, n_vacant = len(folds), n_folds
    while n_left > 0:
        item = _rarest(least, left)
        first, end = (0, len(folds)) if item < 0 else (ends[item], ends[item + 1])
        for k in range(first, end):
            unit = k if item < 0 else units[k]
            if folds[unit] < 0:
                _sum_excess(start, items, counts, unit, excess, pull)
                fold = _wanting(pull, room, is_free, vacant, n_left <= n_vacant)
                n_left, n_vacant = n_left - 1, n_vacant - vacant[fold]
                folds[unit], vacant[fold] = fold, False
                room[fold] -= sizes[unit] * whole
                for i in range(start[unit], start[unit + 1]):
                    excess[items[i], fold] += counts[i] * whole
                    _take_unit(items[i], left, least)


@inner
def _units_of_items(start, items, left):
    """The units that have each item, in order, and where those of each begin."""
    ends = np.zeros(len(left) + 1, np.int64)
    for item in range(len(left)):
        ends[item + 1] = ends[item] + left[item]
    at = ends[:-1].copy()
    units = np.empty(len(items), np.int32)
    for unit in range(len(start) - 1):
        for i in range(start[unit], start[unit + 1]):
            units[at[items[i]]] = unit
            at[items[i]] += 1
    return units, ends


@inner
def _rarest(least, left):
    """The first item of those with the fewest units left; -1 if none has any."""
    if len(least) == 0:
        return np.int64(-1)
    block = np.argmin(least)
    if least[block] == _EXHAUSTED:
        return np.int64(-1)
    item = block * BLOCK
    while left[item] != least[block]:
        item += 1
    return np.int64(item)


@inner
def _take_unit(item, left, least):
    """One unit less that has the item."""
    block = item // BLOCK
    left[item] -= 1
    if left[item] > 0:
        least[block] = min(least[block], left[item])
        return
    left[item] = _EXHAUSTED
    fewest = _EXHAUSTED
    for other in range(block * BLOCK, min((block + 1) * BLOCK, len(left))):
        fewest = min(fewest, left[other])
    least[block] = fewest


@inner
def _sum_excess(start, items, counts, unit, excess, pull):
    """By fold, the sum of the excesses of what a unit has."""
    pull[:] = 0.0
    for i in range(start[unit], start[unit + 1]):
        for fold in range(len(pull)):
            pull[fold] += counts[i] * excess[items[i], fold]


@inner
def _wanting(pull, room, is_free, vacant, must):
    """The fold for a unit; one without units if it must be."""
    best = -1
    for fold in range(len(pull)):
        if (must and not vacant[fold]) or not (is_free or room[fold] > 0):
            continue
        is_better = best < 0 or pull[fold] < pull[best]
        if is_better or (pull[fold] == pull[best] and room[fold] > room[best]):
            best = fold
    return best


@kernel
def exchange(start, items, counts, whole, is_free, n_rounds, folds, excess):
    """Exchange the folds of two units while that makes the sum of squared excesses less.

    In round t each unit, in order, is compared with the unit t places further; after half as many
    rounds as units it begins anew. Units that are free to move also go to another fold, to the
    first of the best, if that alone makes it less and some unit stays. Ends with a pass through
    all pairs in which nothing changed, else after `n_rounds`. Returns the number of changes.
    """
    n_units, n_folds = len(folds), excess.shape[1]
    norm, n_in = np.zeros(n_units), np.zeros(n_folds, np.int64)
    for unit in range(n_units):
        n_in[folds[unit]] += 1
        for i in range(start[unit], start[unit + 1]):
            norm[unit] += whole * counts[i] * counts[i]
    own, pull = np.zeros(len(excess)), np.empty(n_folds)
    n_changes, since, last = 0, 0, n_units // 2
    for turn in range(n_rounds):
        if since >= last:
            break
        before, distance = n_changes, 1 + turn % last
        for one in range(n_units):
            if is_free and n_in[folds[one]] > 1:
                n_changes += _move(
                    start, items, counts, whole, one, norm, folds, excess, pull, n_in
                )
            other = one + distance if one + distance < n_units else one + distance - n_units
            if folds[one] != folds[other]:
                n_changes += _exchange_two(
                    start, items, counts, whole, one, other, norm, folds, excess, own
                )
        since = since + 1 if n_changes == before else 0
    return n_changes


@inner
def _exchange_two(start, items, counts, whole, one, other, norm, folds, excess, own):
    """Exchange the folds of two units if that makes the sum of squares less."""
    here, there = folds[one], folds[other]
    change = 0.0
    for i in range(start[one], start[one + 1]):
        change += counts[i] * (excess[items[i], there] - excess[items[i], here])
    for i in range(start[other], start[other + 1]):
        change -= counts[i] * (excess[items[i], there] - excess[items[i], here])
    if change >= 0:  # what the units differ in only adds to it
        return 0
    change += norm[one] + norm[other]
    for i in range(start[one], start[one + 1]):
        own[items[i]] = counts[i]
    shared = 0.0
    for i in range(start[other], start[other + 1]):
        shared += counts[i] * own[items[i]]
    for i in range(start[one], start[one + 1]):
        own[items[i]] = 0.0
    if change - 2 * whole * shared >= 0:
        return 0
    _put(start, items, counts, whole, one, there, folds, excess)
    _put(start, items, counts, whole, other, here, folds, excess)
    return 1


@inner
def _move(start, items, counts, whole, unit, norm, folds, excess, pull, n_in):
    """Move a unit to another fold if that makes the sum of squares less."""
    _sum_excess(start, items, counts, unit, excess, pull)
    here = there = folds[unit]
    for fold in range(len(pull)):
        if fold != here and (there == here or pull[fold] < pull[there]):
            there = fold
    if pull[there] - pull[here] + norm[unit] >= 0:
        return 0
    n_in[here] -= 1
    n_in[there] += 1
    _put(start, items, counts, whole, unit, there, folds, excess)
    return 1


@inner
def _put(start, items, counts, whole, unit, fold, folds, excess):
    """Put a unit into another fold."""
    for i in range(start[unit], start[unit + 1]):
        excess[items[i], folds[unit]] -= whole * counts[i]
        excess[items[i], fold] += whole * counts[i]
    folds[unit] = fold
