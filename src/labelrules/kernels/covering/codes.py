"""Values to codes, the numbers of their bins; see ../README.md, "Codes of bins".

To find bins, sorted pieces of a column are counted between splitters, some rising numbers. With s
splitters there are s + 1 gaps: gap i is above splitter i - 1 and below splitter i.
"""

import numpy as np

from labelrules.kernels.jit import inner, kernel

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
def _gap_from(gap, value, splitters):
    """The number of splitters below a value, at least `gap`; near ones are tried first."""
    n_splitters = len(splitters)
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
        if value != value:
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
