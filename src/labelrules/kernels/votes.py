"""What the bodies that hold for a row say about its labels, counted on packed bits.

A body votes for each label with the share of its rows that have the label, drawn a little towards
the share of all rows, and with a weight: the correlation of the body and the label.
"""

import numpy as np
from numba import njit

from labelrules.kernels.bits import popcount


@njit(nogil=True, cache=True)
def _vote(n_rows, n_ones, n_all, ones_all, m):
    """The share that a body votes for, and its weight: phi without its sign, 0 if one is constant.

    Parameters
    ----------
    n_rows, n_ones : int
        Rows of the body, and those of them with the label.
    n_all, ones_all : int
        The same of all rows.
    m : float
        How many rows the share of all rows is worth.
    """
    share = (n_ones + m * ones_all / n_all) / (n_rows + m)
    spread = np.sqrt(np.float64(n_rows * (n_all - n_rows)))
    spread *= np.sqrt(np.float64(ones_all * (n_all - ones_all)))
    if spread > 0:
        return share, abs(np.float64(n_ones * n_all - n_rows * ones_all)) / spread
    return share, 0.0


@njit(nogil=True, cache=True)
def votes_of(counts, all_counts, m, shares, weights):
    """The votes of bodies from counts, bodies by 1 + labels: rows, and rows with each label."""
    for body in range(len(counts)):
        for label in range(len(all_counts) - 1):
            shares[body, label], weights[body, label] = _vote(
                counts[body, 0], counts[body, 1 + label], all_counts[0], all_counts[1 + label], m
            )


@njit(nogil=True, cache=True)
def _intersect(words, item, body, level):
    """Put the rows of an item and of the body one level up into the body; how many they are."""
    n_rows = 0
    for word in range(words.shape[1]):
        both = words[item, word]
        if level > 0:
            both &= body[level - 1, word]
        body[level, word] = both
        n_rows += popcount(both)
    return n_rows


@njit(nogil=True, cache=True)
def _common(rows, label):
    """How many rows two stretches of words have in common."""
    n_rows = 0
    for word in range(len(rows)):
        n_rows += popcount(rows[word] & label[word])
    return n_rows


@njit(nogil=True, cache=True)
def _mean_votes(words, labels, own, truth, out, ones, least, longest, m, body, upcoming, sums):
    """Add up the votes of all bodies made of a row's own items, depth first; their number."""
    n_all = len(truth) - (out >= 0)
    sums[:] = 0.0
    n_bodies = 0
    level = 0
    upcoming[0] = 0
    while level >= 0:
        if upcoming[level] == len(own):
            level -= 1
            continue
        place = upcoming[level]
        upcoming[level] += 1
        # The row left out has all its items, so it is in every body.
        n_rows = _intersect(words, own[place], body, level) - (out >= 0)
        if n_rows < least:
            continue
        n_bodies += 1
        for label in range(len(labels)):
            n_ones = _common(body[level], labels[label])
            if out >= 0:
                n_ones -= truth[out, label]
            share, weight = _vote(n_rows, n_ones, n_all, ones[label], m)
            sums[0, label] += weight * share
            sums[1, label] += weight
        if level + 1 < longest:
            upcoming[level + 1] = place + 1
            level += 1
    return n_bodies


@njit(nogil=True, cache=True)
def score_rows(words, labels, start, items, left_out, truth, least, longest, m, scores):
    """The weighted mean of the votes for each label, row by row.

    Parameters
    ----------
    words, labels : array of uint64, items or labels by words
        The training rows that have them.
    start, items : array of int
        Row r has the items from ``start[r]`` to ``start[r + 1]``.
    left_out : array of int
        The training row that is not counted for each row, or -1.
    truth : array of int8, training rows by labels
    least : int
        Rows that a body must have.
    longest : int
        Items that a body may have.
    m : float
    scores : array of float, rows by labels
        Receives the means; where nothing votes, the share of all rows.
    """
    n_labels, n_words = labels.shape
    body = np.empty((longest, n_words), np.uint64)
    upcoming = np.empty(longest, np.int64)
    ones = np.empty(n_labels, np.int64)
    sums = np.empty((2, n_labels))
    for row in range(len(start) - 1):
        out = left_out[row]
        n_all = len(truth) - (out >= 0)
        for label in range(n_labels):
            ones[label] = _common(labels[label], labels[label])
            if out >= 0:
                ones[label] -= truth[out, label]
        own = items[start[row] : start[row + 1]]
        _mean_votes(words, labels, own, truth, out, ones, least, longest, m, body, upcoming, sums)
        for label in range(n_labels):
            if sums[1, label] > 0:
                scores[row, label] = sums[0, label] / sums[1, label]
            else:
                scores[row, label] = ones[label] / max(n_all, 1)
