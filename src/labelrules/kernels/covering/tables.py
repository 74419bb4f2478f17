"""Code values, count covered cells by the codes of all columns, and score them; see ../README.md.

Sums of cells and present labels are whole numbers, so parts of the rows may be counted apart, in
any order, and added up.
"""

import numpy as np

from labelrules.kernels.jit import inner, kernel
from labelrules.kernels.scoring import (
    FIRST,
    NO,
    NOTHING,
    SECOND,
    SECOND_PLACE,
    YES,
    better_value,
    cells_of,
    key_of_best,
    ones_of,
    score_key,
    value_of,
)

STRETCH = 8192
"""Rows whose numbers and sums stay in the processor's cache while all columns are counted."""

GRID = 1024
"""Equal parts of the range of cuts: few of them have more than one cut to compare with."""


@inner
def _part_of(value, low, scale):
    """The part of the grid; it never falls as the value rises."""
    part = (value - low) * scale
    return np.int64(min(max(part, 0.0), GRID - 1.0))


@inner
def _start_of_parts(cuts, low, scale):
    """For each part of the grid how many cuts are in earlier parts."""
    start = np.zeros(GRID + 1, np.int64)
    for cut in cuts:
        start[_part_of(cut, low, scale) + 1] += 1
    for part in range(GRID):
        start[part + 1] += start[part]
    return start


@kernel
def encode_ordered(values, cuts, missing, codes):
    """The number of the bin of each value, how many cuts are below it; `missing` without one."""
    low, scale = 0.0, 0.0
    if len(cuts) > 1:
        width = cuts[-1] - cuts[0]
        # Where the range is too wide or too narrow for a grid, all cuts are in one part.
        if width > 1e-300 and width < 1e300:
            low, scale = cuts[0], GRID / width
    start = _start_of_parts(cuts, low, scale)
    for row in range(len(values)):
        value = values[row]
        if value != value:
            codes[row] = missing
            continue
        part = _part_of(value, low, scale)
        first, last = start[part], start[part + 1]
        while first < last:
            middle = (first + last) >> 1
            if cuts[middle] < value:
                first = middle + 1
            else:
                last = middle
        codes[row] = first


@kernel
def encode_categories(values, missing, codes):
    """The number of each category, `missing` where there is none."""
    for row in range(len(values)):
        value = values[row]
        codes[row] = np.int64(value) if value == value else missing


@inner
def _add_four(codes, start, column, rows, sums, step, first, last, table):
    """Count four columns side by side, so that the processor waits for none of them."""
    a, b, c, d = codes[column], codes[column + 1], codes[column + 2], codes[column + 3]
    in_a, in_b = table[start[column] :], table[start[column + 1] :]
    in_c, in_d = table[start[column + 2] :], table[start[column + 3] :]
    for i in range(first, last):
        row, each = rows[i], sums[i * step]
        in_a[a[row]] += each
        in_b[b[row]] += each
        in_c[c[row]] += each
        in_d[d[row]] += each


@kernel
def add_rows(codes, start, first, last, rows, sums, table):
    """Add the sum of each row to the cell of its code, in the columns from `first` to `last`.

    `sums` has one number only if it is the same for all rows.
    """
    # One number for all rows: every row reads the first.
    step = np.int64(len(sums) > 1)
    for begin in range(0, len(rows), STRETCH):
        end = min(begin + STRETCH, len(rows))
        column = first
        while column + 4 <= last:
            _add_four(codes, start, column, rows, sums, step, begin, end, table)
            column += 4
        while column < last:
            own, cells = codes[column], table[start[column] :]
            for i in range(begin, end):
                cells[own[rows[i]]] += sums[i * step]
            column += 1


@kernel
def add_open(truth, board, weights, rows, found):
    """Add, for each label, the open cells of the rows; `weights` has no rows if all weigh 1."""
    for label in range(len(board)):
        total, cells, true = np.int64(0), board[label], truth[label]
        for row in rows:
            if cells[row] < 0 and true[row] >= 0:
                weight = np.int64(weights[label, row]) if len(weights) else np.int64(1)
                total += (weight << np.int64(32)) + weight * np.int64(true[row])
        found[label] += total


@kernel
def sums_of(truth, weights, rows, sums):
    """The two counts of each row as one number; `weights` is empty if all weigh 1."""
    for i in range(len(rows)):
        row = rows[i]
        weight = np.int64(weights[row]) if len(weights) else np.int64(1)
        sums[i] = (weight << np.int64(32)) + weight * np.int64(truth[row] == 1)


@kernel
def open_rows(cells, truth, waiting, rows):
    """The rows in which a label is known and open, or that wait if any do; returns how many."""
    n_rows = 0
    for row in range(len(cells)):
        rows[n_rows] = row
        counts = waiting[row] if len(waiting) else cells[row] < 0
        # Every row is written, and stays if the next is not written over it: no branch.
        n_rows += counts and truth[row] >= 0
    return n_rows


@kernel
def mark_present(codes, start, columns, rows, present):
    """Mark the codes that occur in some rows, in some columns."""
    for column in columns:
        own, cells = codes[column], present[start[column] :]
        for row in rows:
            cells[own[row]] = 1


@kernel
def keep_codes(own, rows, low, high, outside, missing, kept, rest):
    """Divide rows by whether their code is from `low` to `high`, or is not if `outside`.

    A missing value satisfies nothing. Returns how many are kept.
    """
    n_kept, n_rest = 0, 0
    for row in rows:
        code = np.int64(own[row])
        is_kept = ((code >= low and code <= high) != outside) and code != missing
        # Both are written, and one of them counts: no branch, since which cannot be foreseen.
        kept[n_kept], rest[n_rest] = row, row
        n_kept += is_kept
        n_rest += not is_kept
    return n_kept


@kernel
def keep_members(own, rows, is_member, kept, rest):
    """Divide rows by whether their code is a member of a set; returns how many are kept."""
    n_kept, n_rest = 0, 0
    for row in rows:
        is_kept = is_member[own[row]]
        kept[n_kept], rest[n_rest] = row, row
        n_kept += is_kept
        n_rest += not is_kept
    return n_kept


@kernel
def keep_cells(cells, rows, value, kept, rest):
    """Divide rows by whether a label is written with a value; returns how many are kept."""
    n_kept, n_rest = 0, 0
    for row in rows:
        is_kept = cells[row] == value
        kept[n_kept], rest[n_rest] = row, row
        n_kept += is_kept
        n_rest += not is_kept
    return n_kept


@kernel
def next_code(own, rows, code, missing):
    """The least code above a code in some rows, `missing` if there is none."""
    least = np.int64(missing)
    for row in rows:
        other = np.int64(own[row])
        if other > code and other < least:
            least = other
            if least == code + 1:  # mostly soon
                break
    return least


def scan_numbers(cells, n_bins, present, operators, everywhere, values, key, right, scoring):
    """The best cut of a numeric column that exceeds a key and right cells; -1 without one.

    Returns key, right cells, place and the sum that it covers. `present` marks the codes that
    occur, where that matters, else it is empty: all occur.
    """
    total, last = np.int64(0), n_bins - 1
    for code in range(n_bins):
        total += cells[code]
    while len(present) and last > 0 and not present[last]:
        last -= 1
    below, place, found = np.int64(0), np.int64(-1), np.int64(0)
    for code in range(last):  # nothing is greater than the greatest value
        below += cells[code]
        if len(present) and not present[code]:
            continue
        for second in range(2):
            if not operators & (1 << second):
                continue
            inside = total - below if second else below
            new, correct = better_value(inside, everywhere, values, scoring)
            if new != NOTHING and (new > key or (new == key and correct > right)):
                key, right, place, found = new, correct, np.int64(2 * code + second), inside
    return key, right, place, found


def scan_categories(cells, n_bins, present, operators, everywhere, values, key, right, scoring):
    """The best category of a nominal column that exceeds a key and right cells; -1 without one."""
    total, n_values, place, found = np.int64(0), np.int64(0), np.int64(-1), np.int64(0)
    for code in range(n_bins):
        total += cells[code]
        n_values += len(present) == 0 or present[code]
    # Of two values the one is what the other is not: nothing to be had from the second operator.
    for second in range(2 if n_values > 2 else 1):
        for code in range(n_bins if operators & (SECOND if second else FIRST) else 0):
            if len(present) and not present[code]:
                continue
            inside = total - cells[code] if second else cells[code]
            new, correct = better_value(inside, everywhere, values, scoring)
            if new != NOTHING and (new > key or (new == key and correct > right)):
                key, right, found = new, correct, inside
                place = np.int64(second * SECOND_PLACE + code)
    return key, right, place, found


def best_in_tables(
    tables, present, space, operators, everywheres, values_of, scoring, best, insides
):
    """The best refinement by a feature for each target, from the sums of all codes.

    `space` has where the cells of each column begin, and whether it is nominal. A refinement must
    exceed what `best` has before; `insides` receives the sum that it covers.
    """
    start, nominal, is_marked = space
    for i in range(len(tables)):
        key, right = key_of_best(best.scores[i]), float(best.corrects[i])
        for column in range(len(nominal)):
            if not operators[column]:
                continue
            begin, end = start[column], start[column + 1] - 1  # the last is that of missing values
            cells, marks = tables[i, begin:end], present[:0]
            if is_marked[column] and len(present):
                marks = present[begin:end]
            if nominal[column]:
                new, correct, place, inside = scan_categories(
                    cells, end - begin, marks, operators[column], everywheres[i], values_of[i], key,
                    right, scoring,
                )  # fmt: skip
            else:
                new, correct, place, inside = scan_numbers(
                    cells, end - begin, marks, operators[column], everywheres[i], values_of[i], key,
                    right, scoring,
                )  # fmt: skip
            if place >= 0:
                key, right, insides[i] = new, correct, inside
                best.columns[i], best.places[i] = column, place
        best.scores[i], best.corrects[i] = value_of(key), right


def best_by_labels(
    by_label, labels, operators, n_features, everywheres, values_of, scoring, best, insides
):
    """The best condition on one of some labels for each target; the place is its value.

    `by_label` has, for each target and tested label, the sums of cells where it is unset, absent
    and present; `operators` likewise whether it may be tested.
    """
    for i in range(len(by_label)):
        key, right = key_of_best(best.scores[i]), float(best.corrects[i])
        for label in labels:
            for value in range(2 if operators[i, label] & FIRST else 0):
                inside = by_label[i, label, value + 1]
                new, correct = better_value(inside, everywheres[i], values_of[i], scoring)
                if new != NOTHING and (new > key or (new == key and correct > right)):
                    key, right, insides[i] = new, correct, inside
                    best.columns[i], best.places[i] = n_features + label, value
        best.scores[i], best.corrects[i] = value_of(key), right


def score_sums(insides, everywheres, values_of, scoring, scores, corrects):
    """The score and the right cells of each label and value, from the sums that a body covers."""
    for i in range(len(insides)):
        for value in range(2):
            scores[i, value], corrects[i, value] = -np.inf, 0
            if values_of[i] & (1 << value):
                own = YES if value else NO
                key = score_key(own, insides[i], everywheres[i], scoring)
                ones = ones_of(insides[i])
                scores[i, value] = value_of(key)
                corrects[i, value] = ones if value else cells_of(insides[i]) - ones


# Sorted pieces of a column, counted between splitters: s splitters leave s + 1 gaps, and gap i is
# above splitter i - 1 and below splitter i.


@inner
def _gap_from(gap, value, splitters):
    """The number of splitters below a value, at least `gap`; near ones are tried first."""
    n_splitters = len(splitters)
    # Values are sorted, so the next one is mostly in the same gap, or near.
    if gap >= n_splitters or splitters[gap] >= value:
        return gap
    low, step = gap, 1  # the splitter at `low` is below
    while low + step < n_splitters and splitters[low + step] < value:
        low += step
        step *= 2
    first, last = low + 1, min(low + step, n_splitters)
    while first < last:
        middle = (first + last) >> 1
        if splitters[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def count_between(values, splitters, equal, between, least):
    """Add up the values that equal each splitter, those in each gap, and the least of each gap.

    Missing values do not count; the number of others is returned.
    """
    n_known, gap = np.int64(0), np.int64(0)
    for value in values:
        if value != value:  # missing values come last
            break
        n_known += 1
        gap = _gap_from(gap, value, splitters)
        if gap < len(splitters) and splitters[gap] == value:
            equal[gap] += 1
        else:
            between[gap] += 1
            least[gap] = min(least[gap], value)
    return n_known


@kernel
def collect_between(values, splitters, wanted, collected, n_collected):
    """Append the values in wanted gaps to those collected; returns how many there are then."""
    gap = np.int64(0)
    for value in values:
        if value != value:
            break
        gap = _gap_from(gap, value, splitters)
        if wanted[gap] and not (gap < len(splitters) and splitters[gap] == value):
            collected[n_collected] = value
            n_collected += 1
    return n_collected
