"""The sums of scorecards: columns cut into bins, slopes and curvatures by bin, points refitted.

See README.md, "Bins, points and moments". All sums are of whole numbers, so their order does not
matter.
"""

import numpy as np
from numba import njit

MOST_BINS = 60_000
"""The most bins of one column; rarer categories share one bin."""

TAKEN = -1
"""In `excess`: the condition gives points to the label already."""


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
def write_moments(target, margin, labels, chance, spread, moments):
    """For each row and label what the target exceeds the chance by, and the spread of the chance.

    `chance` and `spread` are tables by margin. The columns of `moments` are in pairs.
    """
    reach = len(chance) // 2
    for k in range(len(labels)):
        wanted, points = target[labels[k]], margin[labels[k]]
        for row in range(len(points)):
            place = min(max(points[row], -reach), reach) + reach
            moments[row, 2 * k] = wanted[row] - chance[place]
            moments[row, 2 * k + 1] = spread[place]


@njit(nogil=True, cache=True)
def add_full(bins, first_cells, moments, sums):
    """Add the moments of all rows to the cells of their bins; one array of bins to a column."""
    n_rows, width = moments.shape
    for number in range(len(bins)):
        own, first = bins[number], first_cells[number]
        for row in range(n_rows):
            cell = first + own[row]
            for k in range(width):
                sums[cell, k] += moments[row, k]


@njit(nogil=True, cache=True)
def add_listed(start, rows, bins, rest_cells, first_cells, moments, sums):
    """The same for columns that list some rows; the others are in the bin of the cell `rest`."""
    n_rows, width = moments.shape
    total = np.zeros(width, np.int64)
    for row in range(n_rows):
        for k in range(width):
            total[k] += moments[row, k]
    left = np.empty(width, np.int64)
    for number in range(len(start) - 1):
        first = first_cells[number]
        left[:] = total
        for i in range(start[number], start[number + 1]):
            cell, row = first + bins[i], rows[i]
            for k in range(width):
                sums[cell, k] += moments[row, k]
                left[k] -= moments[row, k]
        if start[number + 1] - start[number] < n_rows:
            for k in range(width):
                sums[rest_cells[number], k] += left[k]


# ---------------------------------------------------------------- what conditions promise


@njit(nogil=True, cache=True)
def promise(cells, candidates, nominal, sums, labels, one, ridge, price, allowed, excess, score):
    """Estimate by how much points of each condition for some labels lower the loss.

    `cells` and `candidates` say where those of each column begin, one more at the end; the last
    cell of a column is for missing values. `excess` is the gain beyond the `price`, in parts of a
    nat; `score` sums it over all labels.
    """
    width = len(labels)
    inside, valid = np.empty(2 * width, np.int64), np.empty(2 * width, np.int64)
    for column in range(len(nominal)):
        first, last = cells[column], cells[column + 1] - 1
        for k in range(2 * width):
            valid[k], inside[k] = 0, 0
            for cell in range(first, last):
                valid[k] += sums[cell, k]
        for number in range((candidates[column + 1] - candidates[column]) // 2):
            for k in range(2 * width):
                if nominal[column]:
                    inside[k] = 0
                inside[k] += sums[first + number, k]
            for second in range(2):
                candidate = candidates[column] + 2 * number + second
                if not allowed[candidate]:
                    continue
                for k in range(width):
                    slope, curve = inside[2 * k], inside[2 * k + 1]
                    if second:
                        slope, curve = valid[2 * k] - slope, valid[2 * k + 1] - curve
                    before = excess[candidate, labels[k]]
                    if before == TAKEN:
                        continue
                    gain = np.float64(slope) * np.float64(slope)
                    gain /= 2.0 * one * (np.float64(curve) + ridge)
                    now = np.int64(max(0.0, min(gain * 1024.0, 2e9) - price))
                    score[candidate] += now - before
                    excess[candidate, labels[k]] = now


# ---------------------------------------------------------------- points


@njit(nogil=True, cache=True)
def refit(target_sums, margin, start, rows, rules, points, step, most, n_sweeps, tables, costs):
    """Change the points of rules for one label, one after the other, while the loss falls.

    `target_sums` are the targets summed over the rows of each rule; `tables` are chance, spread and
    softplus by margin; `costs` are one, unit, nat_unit and the ridges. Returns the number of
    changes.
    """
    chance, spread, softplus = tables
    one, slope_unit, loss_unit, ridge, ridge_cost = costs
    reach = len(chance) // 2
    n_changes = 0
    for _sweep in range(n_sweeps):
        before = n_changes
        for j in range(len(rules)):
            first, last = start[rules[j]], start[rules[j] + 1]
            slope, curve = target_sums[j], np.int64(0)
            for i in range(first, last):
                place = min(max(margin[rows[i]], -reach), reach) + reach
                slope -= chance[place]
                curve += spread[place]
            own = ridge if rules[j] else 0.0
            wanted = np.float64(slope) - own * one * slope_unit * np.float64(points[j])
            wanted /= slope_unit * (np.float64(curve) + (own + 0.01) * one)
            change = np.int64(np.rint(max(min(wanted, 1e6), -1e6) / step)) * step
            change = min(max(points[j] + change, -most), most) - points[j]
            while change != 0:
                saved = target_sums[j] * change * loss_unit
                if rules[j]:
                    now = points[j] + change
                    saved -= ridge_cost * (now * now - points[j] * points[j])
                for i in range(first, last):
                    old = margin[rows[i]]
                    saved -= one * (
                        _softened(softplus, reach, loss_unit, old + change)
                        - _softened(softplus, reach, loss_unit, old)
                    )
                if saved > 0:
                    break
                change = np.int64(change / (2 * step)) * step
            if change != 0:
                points[j] += change
                n_changes += 1
                for i in range(first, last):
                    margin[rows[i]] += change
        if n_changes == before:
            break
    return n_changes


@njit(inline="always")
def _softened(softplus, reach, loss_unit, margin):
    """The table of softplus, which is almost linear beyond its ends."""
    if margin > reach:
        return softplus[2 * reach] + (margin - reach) * loss_unit
    return softplus[max(margin, -reach) + reach]


@njit(nogil=True, cache=True)
def losses_without(target_sums, margin, start, rows, rules, points, tables, costs, lost):
    """By how much the loss of a label grows if a rule loses its points, for each rule."""
    _, _, softplus = tables
    one, _, loss_unit, _, ridge_cost = costs
    reach = len(softplus) // 2
    for j in range(len(rules)):
        change = -points[j]
        lost[j] = -target_sums[j] * change * loss_unit - ridge_cost * points[j] * points[j]
        for i in range(start[rules[j]], start[rules[j] + 1]):
            old = margin[rows[i]]
            lost[j] += one * (
                _softened(softplus, reach, loss_unit, old + change)
                - _softened(softplus, reach, loss_unit, old)
            )
