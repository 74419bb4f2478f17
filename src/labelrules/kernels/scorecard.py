"""The sums of scorecards: columns cut into bins, slopes and curvatures by bin, points refitted.

See README.md, "Bins, points and moments". All sums are of whole numbers, so their order does not
matter.
"""

import numpy as np
from numba import njit

MOST_BINS = 60_000
"""The most bins of one column; rarer categories share one bin."""

TAKEN = -1
"""In `excess`: the condition gives points to the label already, or gave some."""

MOST_GAIN = 2e9
"""Greater gains are cut off, to fit into 32 bits."""

CHUNK = 1 << 16
"""Rows whose moments are added up in one number, so that the lower half does not overflow."""


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
def add_full(bins, cells, packed, slopes, curves):
    """Add up the moments of the rows in each bin, for columns that list all rows.

    Column `i` has the cells from `cells[i]` to `cells[i + 1]`. The sums are labels by cells.
    """
    n_labels, n_rows = packed.shape
    size = 1
    for number in range(len(bins)):
        size = max(size, cells[number + 1] - cells[number])
    local = np.zeros(size, np.int64)
    for k in range(n_labels):
        for number in range(len(bins)):
            own, first, last = bins[number], cells[number], cells[number + 1]
            for begin in range(0, n_rows, CHUNK):
                for row in range(begin, min(begin + CHUNK, n_rows)):
                    local[own[row]] += packed[k, row]
                for cell in range(first, last):
                    slope, curve = _unpack(local[cell - first])
                    slopes[k, cell] += slope
                    curves[k, cell] += curve
                    local[cell - first] = 0


@njit(nogil=True, cache=True)
def add_listed(start, rows, bins, rest, cells, packed, slopes, curves):
    """The same for columns that list some rows; the others are in the bin `rest`."""
    n_labels, n_rows = packed.shape
    size = 1
    for number in range(len(rest)):
        size = max(size, cells[number + 1] - cells[number])
    local = np.zeros(size, np.int64)
    for k in range(n_labels):
        all_slope, all_curve = np.int64(0), np.int64(0)
        for row in range(n_rows):
            slope, curve = _unpack(packed[k, row])
            all_slope += slope
            all_curve += curve
        for number in range(len(rest)):
            first, last = cells[number], cells[number + 1]
            left_slope, left_curve = all_slope, all_curve
            for begin in range(start[number], start[number + 1], CHUNK):
                for i in range(begin, min(begin + CHUNK, start[number + 1])):
                    local[bins[i]] += packed[k, rows[i]]
                for cell in range(first, last):
                    slope, curve = _unpack(local[cell - first])
                    slopes[k, cell] += slope
                    curves[k, cell] += curve
                    left_slope -= slope
                    left_curve -= curve
                    local[cell - first] = 0
            slopes[k, first + rest[number]] += left_slope
            curves[k, first + rest[number]] += left_curve


# ---------------------------------------------------------------- what conditions promise


@njit(nogil=True, cache=True)
def promise(cells, candidates, nominal, slopes, curves, labels, ridge, scale, price, allowed, excess, score, joint):
    """Estimate by how much points of each condition for some labels lower the loss.

    `cells` and `candidates` say where those of each column begin, one more at the end; the last
    cell of a column is for missing values. `excess` is the gain beyond the `price`, after it is
    multiplied by `scale`; `score` sums it over all labels.
    """
    for k in range(len(labels)):
        label, slope_of, curve_of = labels[k], slopes[k], curves[k]
        for column in range(len(nominal)):
            first, last = cells[column], cells[column + 1] - 1
            valid_slope, valid_curve = np.int64(0), np.int64(0)
            for cell in range(first, last):
                valid_slope += slope_of[cell]
                valid_curve += curve_of[cell]
            all_curve = np.float64(valid_curve + curve_of[last])
            slope, curve = np.int64(0), np.int64(0)
            cell = first
            for candidate in range(candidates[column], candidates[column + 1], 2):
                if nominal[column]:
                    slope, curve = np.int64(0), np.int64(0)
                slope += slope_of[cell]
                curve += curve_of[cell]
                cell += 1
                for second in range(2):
                    if allowed[candidate + second]:
                        before = excess[candidate + second, label]
                        if before != TAKEN:
                            now = _excess(
                                valid_slope - slope if second else slope,
                                valid_curve - curve if second else curve,
                                all_curve, joint,
                                ridge[candidate + second], scale, price,
                            )  # fmt: skip
                            score[candidate + second] += now - before
                            excess[candidate + second, label] = now


@njit(inline="always")
def _excess(slope, curve, all_curve, joint, ridge, scale, price):
    if joint > 0:
        curve = curve * (1 - joint * curve / max(all_curve, 1.0))
    gain = np.float64(slope) * np.float64(slope) / (np.float64(curve) + ridge) * scale
    return np.int64(max(0.0, min(gain, MOST_GAIN) - price))


# ---------------------------------------------------------------- points


@njit(nogil=True, cache=True)
def refit(labels, fresh, targets, margin, start, rows, points, most, n_sweeps, tables, costs):
    """Change the points of rules, one after the other, while the loss falls; label by label.

    The rules that have points for a label, the first rule, which holds for all rows, and the rule
    `fresh` (-1: none) are changed. `targets` are sums over the rows of each rule, rules by labels,
    as are `points`. `tables` are chance, spread and softplus by margin; `costs` see `Costs`.
    """
    for label in labels:
        own = margin[label]
        for _sweep in range(n_sweeps):
            n_changes = 0
            if fresh >= 0:
                n_changes += _change(fresh, label, targets, own, start, rows, points, most, tables, costs)
            for rule in range(len(points)):
                if rule != fresh and (rule == 0 or points[rule, label] != 0):
                    n_changes += _change(rule, label, targets, own, start, rows, points, most, tables, costs)
            if n_changes == 0:
                break


@njit(nogil=True, cache=True)
def _change(rule, label, targets, margin, start, rows, points, most, tables, costs):
    """Change the points of a rule for a label by a Newton step, or less, if the loss falls."""
    chance, spread, softplus = tables
    one, unit, loss_unit, ridges, ridge_losses = costs
    reach = len(chance) // 2
    first, last, before = start[rule], start[rule + 1], points[rule, label]
    slope, curve = targets[rule, label], np.int64(0)
    for i in range(first, last):
        place = min(max(margin[rows[i]], -reach), reach) + reach
        slope -= chance[place]
        curve += spread[place]
    own, ridge_loss = ridges[rule], ridge_losses[rule]
    wanted = np.float64(slope) - own * unit * np.float64(before)
    wanted /= unit * (np.float64(curve) + own + 0.01 * one)
    change = np.int64(np.rint(max(min(wanted, 1e6), -1e6)))
    change = min(max(before + change, -most), most) - before
    while change != 0:
        saved = targets[rule, label] * change * loss_unit
        now = before + change
        saved -= ridge_loss * (now * now - before * before)
        if saved > one * _growth(first, last, rows, margin, change, softplus, loss_unit):
            break
        change = np.int64(change / 2)
    if change == 0:
        return 0
    points[rule, label] = before + change
    for i in range(first, last):
        margin[rows[i]] += change
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
def losses_without(labels, targets, margin, start, rows, points, tables, costs, lost):
    """By how much the loss of each label grows if a rule loses its points, into `lost`."""
    _, _, softplus = tables
    one, _, loss_unit, _, ridge_losses = costs
    for label in labels:
        own = margin[label]
        for rule in range(1, len(points)):
            given = points[rule, label]
            lost[rule, label] = 0
            if given != 0:
                lost[rule, label] = (
                    targets[rule, label] * given * loss_unit - ridge_losses[rule] * given * given
                    + one * _growth(start[rule], start[rule + 1], rows, own, -given, softplus, loss_unit)
                )  # fmt: skip


@njit(nogil=True, cache=True)
def prune(labels, price, targets, margin, start, rows, points, most, n_sweeps, tables, costs, lost):
    """Take points that save less than the price, the least first, and refit the others.

    Returns how many were taken.
    """
    n_taken = 0
    for k in range(len(labels)):
        some = labels[k : k + 1]
        label = some[0]
        while True:
            losses_without(some, targets, margin, start, rows, points, tables, costs, lost)
            worst = 0
            for rule in range(1, len(points)):
                if points[rule, label] != 0 and lost[rule, label] < price:
                    if worst == 0 or lost[rule, label] < lost[worst, label]:
                        worst = rule
            if worst == 0:
                break
            for i in range(start[worst], start[worst + 1]):
                margin[label, rows[i]] -= points[worst, label]
            points[worst, label] = 0
            n_taken += 1
            refit(some, -1, targets, margin, start, rows, points, most, n_sweeps, tables, costs)
    return n_taken
