"""The sums of scorecards: columns cut into bins, slopes and curvatures by bin, their promises.

See README.md, "Bins, points and moments". All sums are of whole numbers, so their order does not
matter.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers
from labelrules.kernels.jit import inner, kernel, small, tiny

MOST_BINS = 60_000
"""The most bins of one column; rarer categories share one bin."""

TAKEN = -1
"""In `excess`: the condition gives points to the label already, or gave some."""

MOST_GAIN = 2e9
"""Greater gains are cut off, to fit into 32 bits."""

CHUNK = 1 << 16
"""Rows whose moments are added up in one number, so that the lower half does not overflow."""

NEAR = 1 << 12
"""Rows whose moments stay near the processor while one column after another adds them up."""


class Tables(NamedTuple):
    """By margin: the probability and its spread p(1 - p), in parts of `one`, and the softplus.

    `moments` is the negated probability and the spread, packed. `unit` is a point in nats,
    `loss_unit` the same in whole parts of a nat, as the softplus has it.
    """

    moments: Integers
    softplus: Integers
    one: int
    unit: float
    loss_unit: int


class Card(NamedTuple):
    """Rules and their points. Rule `r` holds for the rows from `start[r]` to `start[r + 1]`.

    `points`, `targets`, which are summed over these rows, and `counts`, how many of these rows know
    the label, are rules by labels. `ridges` are how strongly points of a rule are drawn to 0;
    `ridge_losses` is the same as a loss by the square of the points. The first rule holds for all
    rows.
    """

    start: Integers
    rows: npt.NDArray[np.int32]
    points: Integers
    targets: Integers
    counts: Integers
    ridges: Floats
    ridge_losses: Integers


# ---------------------------------------------------------------- columns into bins


@kernel
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


@inner
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


@inner
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


@inner
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


@kernel
def pack_moments(target, margin, labels, moments, packed):
    """For each label and row what the target exceeds the chance by, and the spread of the chance.

    `moments` is a table by margin. Both numbers are packed into one.
    """
    reach = len(moments) // 2
    for k in range(len(labels)):
        wanted, points, found = target[labels[k]], margin[labels[k]], packed[k]
        for row in range(len(points)):
            place = min(max(points[row], -reach), reach) + reach
            found[row] = (np.int64(wanted[row]) << 32) + moments[place]


@small
def unpacked(total):
    """The two sums in one number: the upper one may be negative, the lower one is not."""
    return total >> 32, total & 0xFFFFFFFF


@kernel
def add_full(bins, first_cells, sizes, packed, slopes, curves):
    """Add up the moments of the rows in each bin, for columns that list all rows.

    Column `i` has `sizes[i]` cells from `first_cells[i]` on. The sums are labels by cells.
    """
    n_labels, n_rows = packed.shape
    if len(bins) == 0:
        return
    # Four sums of each bin, in turn: an addition need not wait for the one before.
    lanes = np.zeros((4, sizes.max()), np.int64)
    lane_0, lane_1, lane_2, lane_3 = lanes[0], lanes[1], lanes[2], lanes[3]
    # With many bins emptying their sums takes longer, so steps have more rows then.
    step = min(CHUNK, max(NEAR, 4 * sizes.max()))
    for begin in range(0, n_rows, step):
        end = min(begin + step, n_rows)
        fours = end - (end - begin) % 4
        for k in range(n_labels):
            moments, slope_of, curve_of = packed[k], slopes[k], curves[k]
            for number in range(len(bins)):
                own, first = bins[number], first_cells[number]
                for row in range(begin, fours, 4):
                    lane_0[own[row]] += moments[row]
                    lane_1[own[row + 1]] += moments[row + 1]
                    lane_2[own[row + 2]] += moments[row + 2]
                    lane_3[own[row + 3]] += moments[row + 3]
                for row in range(fours, end):
                    lane_0[own[row]] += moments[row]
                for place in range(sizes[number]):
                    total = lane_0[place] + lane_1[place] + lane_2[place] + lane_3[place]
                    lane_0[place] = lane_1[place] = lane_2[place] = lane_3[place] = 0
                    slope, curve = unpacked(total)
                    slope_of[first + place] += slope
                    curve_of[first + place] += curve


@kernel
def add_listed(start, rows, bins, rest, first_cells, sizes, packed, slopes, curves):
    """Add up the moments for columns that list some rows; the others are in the bin `rest`."""
    if len(rest) == 0:
        return
    lanes = np.zeros((4, sizes.max()), np.int64)
    lane_0, lane_1, lane_2, lane_3 = lanes[0], lanes[1], lanes[2], lanes[3]
    for k in range(len(packed)):
        moments, slope_of, curve_of = packed[k], slopes[k], curves[k]
        all_slope, all_curve = _total(moments)
        for number in range(len(rest)):
            left_slope, left_curve = all_slope, all_curve
            for begin in range(start[number], start[number + 1], CHUNK):
                end = min(begin + CHUNK, start[number + 1])
                fours = end - (end - begin) % 4
                for i in range(begin, fours, 4):
                    lane_0[bins[i]] += moments[rows[i]]
                    lane_1[bins[i + 1]] += moments[rows[i + 1]]
                    lane_2[bins[i + 2]] += moments[rows[i + 2]]
                    lane_3[bins[i + 3]] += moments[rows[i + 3]]
                for i in range(fours, end):
                    lane_0[bins[i]] += moments[rows[i]]
                for place in range(sizes[number]):
                    total = lane_0[place] + lane_1[place] + lane_2[place] + lane_3[place]
                    lane_0[place] = lane_1[place] = lane_2[place] = lane_3[place] = 0
                    slope, curve = unpacked(total)
                    slope_of[first_cells[number] + place] += slope
                    curve_of[first_cells[number] + place] += curve
                    left_slope -= slope
                    left_curve -= curve
            slope_of[first_cells[number] + rest[number]] += left_slope
            curve_of[first_cells[number] + rest[number]] += left_curve


@tiny
def _total(moments):
    """The sums of packed numbers."""
    all_slope, all_curve = np.int64(0), np.int64(0)
    for row in range(len(moments)):
        slope, curve = unpacked(moments[row])
        all_slope += slope
        all_curve += curve
    return all_slope, all_curve


# ---------------------------------------------------------------- what conditions promise


@kernel
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


@kernel
def lean(cells, candidates, nominal, targets, counts, labels, totals, n_known, leanings):
    """Whether labels are more (1), less (-1) or as frequent (0) where a condition holds as in all.

    By the targets and the number of known rows in each cell; `leanings` are labels by conditions.
    """
    for k in range(len(labels)):
        target_of, count_of = targets[k], counts[k]
        total, n_rows = totals[labels[k]], n_known[labels[k]]
        for column in range(len(nominal)):
            first, last = cells[column], cells[column + 1] - 1
            all_wanted, all_rows = target_of[first:last].sum(), count_of[first:last].sum()
            wanted, rows, cell = np.int64(0), np.int64(0), first
            for number in range(candidates[column], candidates[column + 1], 2):
                wanted = target_of[cell] + (0 if nominal[column] else wanted)
                rows = count_of[cell] + (0 if nominal[column] else rows)
                cell += 1
                # Shares compared by products of whole numbers, so without rounding.
                leanings[labels[k], number] = np.sign(wanted * n_rows - total * rows)
                others = (all_wanted - wanted) * n_rows - total * (all_rows - rows)
                leanings[labels[k], number + 1] = np.sign(others)


@kernel
def promise(
    cells, candidates, nominal, slopes, curves, labels, ridges, leanings, unit, scale, price,
    excess, score,
):  # fmt: skip
    """Estimate by how much points of each condition for some labels lower the loss.

    `cells` and `candidates` say where those of each column begin, one more at the end; the last
    cell of a column is for missing values. A negative ridge forbids a condition, and points against
    its leaning promise nothing. `excess` is the gain of whole points, of `unit` nats each, after it
    is multiplied by `scale`, beyond the `price`, labels by conditions; `score` sums it over all
    labels.
    """
    for k in range(len(labels)):
        own, slope_of, curve_of = excess[labels[k]], slopes[k], curves[k]
        leaning = leanings[labels[k]]
        for column in range(len(nominal)):
            valid_slope, valid_curve = np.int64(0), np.int64(0)
            for cell in range(cells[column], cells[column + 1] - 1):
                valid_slope += slope_of[cell]
                valid_curve += curve_of[cell]
            slope, curve, cell = np.int64(0), np.int64(0), cells[column]
            for number in range(candidates[column], candidates[column + 1]):
                if number & 1 == 0:
                    slope = slope_of[cell] + (0 if nominal[column] else slope)
                    curve = curve_of[cell] + (0 if nominal[column] else curve)
                    cell += 1
                    now = _excess(slope, curve, ridges[number], unit, scale, price)
                    is_against = slope * leaning[number] <= 0
                else:
                    slope_2, curve_2 = valid_slope - slope, valid_curve - curve
                    now = _excess(slope_2, curve_2, ridges[number], unit, scale, price)
                    is_against = slope_2 * leaning[number] <= 0
                now = np.int64(0) if is_against else now
                before = own[number]
                # The score is kept up by differences: most labels stay as they were.
                if now != before and before != TAKEN:
                    score[number] += now - before
                    own[number] = now


@tiny
def _excess(slope, curve, ridge, unit, scale, price):
    """The gain of the best whole points beyond the price.

    It has no arrays as arguments: counting who uses them is slow.
    """
    slope, curve = np.float64(slope), np.float64(curve) + ridge
    if ridge < 0 or slope * slope * scale < curve * price:  # the best points would gain less
        return np.int64(0)
    points = unit * np.rint(slope / (unit * curve))
    gain = (2 * slope - points * curve) * points * scale
    return max(np.int64(0), np.int64(min(gain, MOST_GAIN)) - price)
