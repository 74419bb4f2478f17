"""Refinements of a group of rows: how many rows each has, and how labels depend on each other.

Rows are counted on packed bits. A column of rows is an array of words, 64 rows to a word; bits
beyond the last row are 0.
"""

import numpy as np
from numba import njit

from labelrules.kernels.bits import popcount


@njit(nogil=True, cache=True)
def count_refinements(group, conditions, columns, least, counts):
    """Count the rows of a group that satisfy each condition, alone and within each column.

    Parameters
    ----------
    group : array of uint64
        The rows of the group.
    conditions, columns : array of uint64, conditions or columns by words
    least : int
        Of refinements with fewer rows than this the columns are not counted.
    counts : array of int32, conditions by columns and one more
        Receives the number of rows, and the number in each column.
    """
    n_words = len(group)
    refined = np.empty(n_words, np.uint64)
    for condition in range(len(conditions)):
        n_rows = 0
        for word in range(n_words):
            refined[word] = group[word] & conditions[condition, word]
            n_rows += popcount(refined[word])
        counts[condition, 0] = n_rows
        if n_rows < least:
            counts[condition, 1:] = 0
            continue
        for column in range(len(columns)):
            n_inside = 0
            for word in range(n_words):
                n_inside += popcount(refined[word] & columns[column, word])
            counts[condition, 1 + column] = n_inside


@njit(nogil=True, cache=True)
def phi_coefficients(counts, n_labels):
    """The correlation of each pair of labels within groups; 0 where a label does not vary.

    Parameters
    ----------
    counts : array of int64, groups by 1 + labels + pairs
        The rows of a group; those with each label; those with both labels of each pair, the first
        label with all others, then the second with those behind it, and so on.
    n_labels : int

    Returns
    -------
    array of float, groups by pairs
    """
    found = np.zeros((len(counts), n_labels * (n_labels - 1) // 2))
    spread = np.empty(n_labels)
    for group in range(len(counts)):
        n_rows = counts[group, 0]
        for label in range(n_labels):
            ones = counts[group, 1 + label]
            spread[label] = np.sqrt(np.float64(ones * (n_rows - ones)))
        pair = 0
        for first in range(n_labels):
            for second in range(first + 1, n_labels):
                size = spread[first] * spread[second]
                if size > 0:
                    both = n_rows * counts[group, 1 + n_labels + pair]
                    expected = counts[group, 1 + first] * counts[group, 1 + second]
                    found[group, pair] = (both - expected) / size
                pair += 1
    return found
