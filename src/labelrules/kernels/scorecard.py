"""The sums of scorecards: columns cut into bins, slopes and curvatures by bin, points refitted.

See README.md, "Bins, points and moments". All sums are of whole numbers, so their order does not
matter.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from labelrules._types import Floats, Integers

MOST_BINS = 60_000
"""The most bins of one column; rarer categories share one bin."""

TAKEN = -1
"""In `excess`: the condition gives points to the label already, or gave some."""

MOST_GAIN = 2e9
"""Greater gains are cut off, to fit into 32 bits."""

FARTHEST = 1e6
"""The longest step of points that is tried."""

CHUNK = 1 << 16
"""Rows whose moments are added up in one number, so that the lower half does not overflow."""


class Tables(NamedTuple):
    """By margin: the probability and its spread p(1 - p), in parts of `one`, and the softplus.

    `unit` is a point in nats, `loss_unit` the same in whole parts of a nat, as the softplus has it.
    """

    chance: npt.NDArray[np.int32]
    spread: npt.NDArray[np.int32]
    softplus: Integers
    one: int
    unit: float
    loss_unit: int


class Card(NamedTuple):
    """Rules and their points. Rule `r` holds for the rows from `start[r]` to `start[r + 1]`.

    `points` and `targets`, which are summed over these rows, are rules by labels. `ridges` are how
    strongly points of a rule are drawn to 0; `ridge_losses` is the same as a loss by the square of
    the points. The first rule holds for all rows.
    """

    start: Integers
    rows: npt.NDArray[np.int32]
    points: Integers
    targets: Integers
    ridges: Floats
    ridge_losses: Integers


# ---------------------------------------------------------------- columns into bins


@njit(nogil=True, cache=True)
def cut_columns(index, nominal, n_rows, n_cuts, min_rows, bins, rest, n_bins, n_named):
    """Cut each column into bins, and write the bin of each entry of the index.

    Numeric columns have at most `n_cuts` cuts, near quantiles, with `min_rows` rows on each side.
    A category with at least as many rows has a bin, the others share one. Missing values come last,
    in bin `n_bins`. `rest` is the bin of rows that are not listed, `n_named` counts the bins
    without that of rare categories.
    """
    entries, starts, middles, valids, stops = index
    ends = np.empty(n_rows + 1, np.int64)
    bin_of = np.empty(n_rows + 1, np.int64)
    for column in range(len(starts)):
        start, middle, valid, stop = starts[column], middles[column], valids[column], stops[column]
        n_values, gap = _count_values(entries, start, middle, valid, n_rows - (stop - start), ends)
        if nominal[column]:
            n_bins[column], n_named[column] = _name_values(ends, n_values, min_rows, bin_of)
        else:
            n_bins[column] = _cut_values(ends, n_values, n_cuts, min_rows, bin_of)
            n_named[column] = n_bins[column]
        rest[column] = bin_of[gap] if gap >= 0 else 0
        value = -1
        for i in range(start, valid):
            value += entries[i] < 0
            bins[i] = bin_of[value + (gap >= 0 and i >= middle)]
        bins[valid:stop] = n_bins[column]


@njit
def _count_values(entries, start, middle, valid, n_rest, ends):
    """The rows up to each value, into `ends`; how many values, and which one is not listed."""
    n_values, n_seen, gap = 0, 0, -1
    for i in range(start, valid + 1):
        if i == middle and n_rest > 0:
            gap = n_values
            n_seen += n_rest
            ends[n_values] = n_seen
            n_values += 1
        if i < valid:
            n_values += entries[i] < 0
            n_seen += 1
            ends[n_values - 1] = n_seen
    return n_values, gap


@njit
def _cut_values(ends, n_values, n_cuts, min_rows, bin_of):
    """The bin of each value of a numeric column; how many there are."""
    if n_values == 0:
        return 0
    bin_of[:n_values] = 0
    n_rows, low, high = ends[n_values - 1], 0, n_values - 2
    while low <= high and ends[low] < min_rows:
        low += 1
    while high >= low and n_rows - ends[high] < min_rows:
        high -= 1
    if low <= high:
        for number in range(1, n_cuts + 1):
            goal = number * n_rows
            while low < high and (
                abs(ends[low + 1] * (n_cuts + 1) - goal) < abs(ends[low] * (n_cuts + 1) - goal)
            ):
                low += 1
            bin_of[low + 1] = 1
    n_cut = 0
    for value in range(n_values):
        n_cut += bin_of[value]
        bin_of[value] = n_cut
    return n_cut + 1


@njit
def _name_values(ends, n_values, min_rows, bin_of):
    """The bin of each category; how many bins there are, and how many are of one category."""
    n_named, others = 0, False
    for value in range(n_values):
        size = ends[value] - (ends[value - 1] if value else 0)
        if size >= min_rows and n_named < MOST_BINS:
            bin_of[value] = n_named
            n_named += 1
        else:
            bin_of[value] = -1
            others = True
    for value in range(n_values):
        if bin_of[value] < 0:
            bin_of[value] = n_named
    return n_named + others, n_named


# ---------------------------------------------------------------- sums by bin


@njit(nogil=True, cache=True)
def pack_moments(target, margin, labels, chance, spread, packed):
    """For each label and row what the target exceeds the chance by, and the spread of the chance.

    `chance` and `spread` are tables by margin. Both numbers are packed into one.
    """
    reach = len(chance) // 2
    for k in range(len(labels)):
        wanted, points, found = target[labels[k]], margin[labels[k]], packed[k]
        for row in range(len(points)):
            place = min(max(points[row], -reach), reach) + reach
            found[row] = (np.int64(wanted[row] - chance[place]) << 32) + spread[place]


@njit(inline="always")
def _unpack(total):
    """The two sums in one number: the upper one may be negative, the lower one is not."""
    return total >> 32, total & 0xFFFFFFFF


@njit(nogil=True, cache=True)
def add_full(bins, first_cells, sizes, packed, slopes, curves):
    """Add up the moments of the rows in each bin, for columns that list all rows.

    Column `i` has `sizes[i]` cells from `first_cells[i]` on. The sums are labels by cells.
    """
    n_labels, n_rows = packed.shape
    local = np.zeros(1 + sizes.sum(), np.int64)
    for k in range(n_labels):
        for number in range(len(bins)):
            own = bins[number]
            for begin in range(0, n_rows, CHUNK):
                for row in range(begin, min(begin + CHUNK, n_rows)):
                    local[own[row]] += packed[k, row]
                _empty(local, sizes[number], first_cells[number], slopes[k], curves[k])


@njit(inline="always")
def _empty(local, size, first, slopes, curves):
    """Move packed sums to the cells of a column, and return their total."""
    all_slope, all_curve = np.int64(0), np.int64(0)
    for place in range(size):
        slope, curve = _unpack(local[place])
        slopes[first + place] += slope
        curves[first + place] += curve
        all_slope += slope
        all_curve += curve
        local[place] = 0
    return all_slope, all_curve


@njit(nogil=True, cache=True)
def add_listed(start, rows, bins, rest, first_cells, sizes, packed, slopes, curves):
    """The same for columns that list some rows; the others are in the bin `rest`."""
    n_labels, n_rows = packed.shape
    local = np.zeros(1 + sizes.sum(), np.int64)
    for k in range(n_labels):
        all_slope, all_curve = np.int64(0), np.int64(0)
        for row in range(n_rows):
            slope, curve = _unpack(packed[k, row])
            all_slope += slope
            all_curve += curve
        for number in range(len(rest)):
            left_slope, left_curve = all_slope, all_curve
            for begin in range(start[number], start[number + 1], CHUNK):
                for i in range(begin, min(begin + CHUNK, start[number + 1])):
                    local[bins[i]] += packed[k, rows[i]]
                slope, curve = _empty(
                    local, sizes[number], first_cells[number], slopes[k], curves[k]
                )
                left_slope -= slope
                left_curve -= curve
            slopes[k, first_cells[number] + rest[number]] += left_slope
            curves[k, first_cells[number] + rest[number]] += left_curve


# ---------------------------------------------------------------- what conditions promise


@njit(nogil=True, cache=True)
def count_covered(cells, candidates, nominal, counts, n_covered):
    """For how many rows each condition holds, by the rows in each cell.

    0 for the second condition on a column with two categories, which says what the others say.
    """
    for column in range(len(nominal)):
        first, last = cells[column], cells[column + 1] - 1
        n_valid = counts[first:last].sum()
        is_twofold = last - first == 2 and candidates[column + 1] - candidates[column] == 4
        inside, cell = np.int64(0), first
        for candidate in range(candidates[column], candidates[column + 1], 2):
            inside = counts[cell] + (0 if nominal[column] else inside)
            cell += 1
            n_covered[candidate] = inside
            n_covered[candidate + 1] = 0 if nominal[column] and is_twofold else n_valid - inside


@njit(nogil=True, cache=True)
def promise(
    cells, candidates, nominal, slopes, curves, labels, ridges, scale, price, excess, score
):
    """Estimate by how much points of each condition for some labels lower the loss.

    `cells` and `candidates` say where those of each column begin, one more at the end; the last
    cell of a column is for missing values. A negative ridge forbids a condition. `excess` is the
    gain, after it is multiplied by `scale`, beyond the `price`; `score` sums it over all labels.
    """
    for k in range(len(labels)):
        label, slope_of, curve_of = labels[k], slopes[k], curves[k]
        for column in range(len(nominal)):
            first, last = cells[column], cells[column + 1] - 1
            valid_slope, valid_curve = slope_of[first:last].sum(), curve_of[first:last].sum()
            slope, curve, cell = np.int64(0), np.int64(0), first
            for candidate in range(candidates[column], candidates[column + 1], 2):
                if nominal[column]:
                    slope, curve = np.int64(0), np.int64(0)
                slope += slope_of[cell]
                curve += curve_of[cell]
                cell += 1
                _note(candidate, label, slope, curve, ridges, scale, price, excess, score)
                slope_2, curve_2 = valid_slope - slope, valid_curve - curve
                _note(candidate + 1, label, slope_2, curve_2, ridges, scale, price, excess, score)


@njit(inline="always")
def _note(candidate, label, slope, curve, ridges, scale, price, excess, score):
    before, ridge = excess[candidate, label], ridges[candidate]
    if ridge < 0 or before == TAKEN:
        return
    gain = np.float64(slope) * np.float64(slope) / (np.float64(curve) + ridge) * scale
    now = max(0, np.int64(min(gain, MOST_GAIN)) - price)
    score[candidate] += now - before
    excess[candidate, label] = now


# ---------------------------------------------------------------- points


@njit(nogil=True, cache=True)
def refit(labels, fresh, card, margin, most, n_sweeps, tables):
    """Change the points of rules, one after the other, while the loss falls; label by label.

    Those rules that have points for a label, the first rule, which holds for all rows, and the rule
    `fresh` (-1: none).
    """
    for label in labels:
        for _sweep in range(n_sweeps):
            n_changes = 0
            if fresh >= 0:
                n_changes += _change(fresh, label, card, margin[label], most, tables)
            for rule in range(len(card.points)):
                if rule != fresh and (rule == 0 or card.points[rule, label] != 0):
                    n_changes += _change(rule, label, card, margin[label], most, tables)
            if n_changes == 0:
                break


@njit(nogil=True, cache=True)
def _change(rule, label, card, margin, most, tables):
    """Change the points of a rule for a label by a Newton step, or less, if the loss falls."""
    chance, spread, softplus, one, unit, loss_unit = tables
    reach = len(chance) // 2
    first, last, before = card.start[rule], card.start[rule + 1], card.points[rule, label]
    slope, curve = card.targets[rule, label], np.int64(0)
    for i in range(first, last):
        place = min(max(margin[card.rows[i]], -reach), reach) + reach
        slope -= chance[place]
        curve += spread[place]
    ridge = card.ridges[rule]
    wanted = np.float64(slope) - ridge * unit * np.float64(before)
    wanted /= unit * (np.float64(curve) + ridge + 1.0)
    change = np.int64(np.rint(max(min(wanted, FARTHEST), -FARTHEST)))
    change = min(max(before + change, -most), most) - before
    while change != 0:
        now = before + change
        saved = card.targets[rule, label] * change * loss_unit
        saved -= card.ridge_losses[rule] * (now * now - before * before)
        if saved > one * _growth(first, last, card.rows, margin, change, softplus, loss_unit):
            break
        change = np.int64(change / 2)
    if change == 0:
        return 0
    card.points[rule, label] = before + change
    for i in range(first, last):
        margin[card.rows[i]] += change
    return 1


@njit(nogil=True, cache=True)
def _growth(first, last, rows, margin, change, softplus, loss_unit):
    """By how much softplus grows, over some rows, if their margins change."""
    reach = len(softplus) // 2
    total = np.int64(0)
    for i in range(first, last):
        old = margin[rows[i]]
        total += _softened(softplus, reach, loss_unit, old + change)
        total -= _softened(softplus, reach, loss_unit, old)
    return total


@njit(inline="always")
def _softened(softplus, reach, loss_unit, margin):
    """The table of softplus, which is almost linear beyond its ends."""
    if margin > reach:
        return softplus[2 * reach] + (margin - reach) * loss_unit
    return softplus[max(margin, -reach) + reach]


@njit(nogil=True, cache=True)
def _loss_without(rule, label, card, margin, tables):
    """By how much the loss of a label grows if a rule loses its points for it."""
    _, _, softplus, one, _, loss_unit = tables
    given = card.points[rule, label]
    first, last = card.start[rule], card.start[rule + 1]
    grown = one * _growth(first, last, card.rows, margin, -given, softplus, loss_unit)
    ridge_loss = card.ridge_losses[rule] * given * given
    return grown + card.targets[rule, label] * given * loss_unit - ridge_loss


@njit(nogil=True, cache=True)
def take_points(rule, label, card, margin):
    """Take the points that a rule gives to a label."""
    given = card.points[rule, label]
    for i in range(card.start[rule], card.start[rule + 1]):
        margin[label, card.rows[i]] -= given
    card.points[rule, label] = 0


@njit(nogil=True, cache=True)
def prune_points(labels, price, card, margin, most, n_sweeps, tables, lost):
    """Take points that save less than the price, the least first, and refit the others.

    Afterwards `lost`, rules by labels, is by how much the loss would grow without each.
    """
    for k in range(len(labels)):
        label, worst = labels[k], 0
        while worst >= 0:
            worst = -1
            for rule in range(1, len(card.points)):
                lost[rule, label] = 0
                if card.points[rule, label] != 0:
                    lost[rule, label] = _loss_without(rule, label, card, margin[label], tables)
                    least = price if worst < 0 else lost[worst, label]
                    worst = rule if lost[rule, label] < least else worst
            if worst >= 0:
                take_points(worst, label, card, margin)
                refit(labels[k : k + 1], -1, card, margin, most, n_sweeps, tables)


@njit(nogil=True, cache=True)
def prune_rules(price, card, margin, most, n_sweeps, tables, lost):
    """Take all points of rules that save less than their points and their condition cost."""
    n_labels = card.points.shape[1]
    for rule in range(1, len(card.points)):
        worth, n_points = np.int64(0), 0
        for label in range(n_labels):
            if card.points[rule, label] != 0:
                worth += lost[rule, label] - price
                n_points += 1
        if n_points > 0 and worth < price:
            for label in range(n_labels):
                if card.points[rule, label] != 0:
                    take_points(rule, label, card, margin)
                    refit(np.array([label]), -1, card, margin, most, n_sweeps, tables)
