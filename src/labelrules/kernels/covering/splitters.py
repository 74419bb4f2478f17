"""To find bins, sorted pieces of a column are counted between splitters, some rising numbers.

With s splitters there are s + 1 gaps: gap i is above splitter i - 1 and below splitter i.
"""

import numpy as np

from labelrules.kernels.jit import inner, kernel


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
