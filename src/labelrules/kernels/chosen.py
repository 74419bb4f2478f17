"""Which rules of a long, ordered list are worth keeping, on packed bits."""

import numpy as np
from numba import njit

from labelrules.kernels.bits import popcount


@njit(nogil=True, cache=True)
def choose_rules(start, items, words, order, wanted, left, kept, errors):
    """Keep each rule that is right about a row no rule before has covered.

    Parameters
    ----------
    start, items : array of int
        Rule r has the items from ``start[r]`` to ``start[r + 1]``.
    words : array of uint64, items by words
        The rows of each item.
    order : array of int
        The rules for one label, the best first.
    wanted : array of uint64
        The rows of which these rules are right.
    left : array of uint64
        The rows that are not covered; those that remain are left in it.
    kept : array of int
        Receives the rules that are kept, in order.
    errors : array of int
        Receives for each number of rules, from none on, how many rows are wrong if the others get
        what most of them have.

    Returns
    -------
    int
        How many are kept.
    """
    n_words = len(wanted)
    covered = np.empty(n_words, np.uint64)
    n_kept, n_wrong = 0, 0
    n_wanted, n_other = 0, 0
    for word in range(n_words):
        n_wanted += popcount(left[word] & wanted[word])
        n_other += popcount(left[word] & ~wanted[word])
    errors[0] = min(n_wanted, n_other)
    for rule in order:
        if n_wanted == 0:
            break
        n_right, n_covered = 0, 0
        for word in range(n_words):
            both = left[word]
            for item in range(start[rule], start[rule + 1]):
                both &= words[items[item], word]
            covered[word] = both
            n_covered += popcount(both)
            n_right += popcount(both & wanted[word])
        if n_right == 0:
            continue
        for word in range(n_words):
            left[word] &= ~covered[word]
        n_wanted -= n_right
        n_other -= n_covered - n_right
        n_wrong += n_covered - n_right
        kept[n_kept] = rule
        n_kept += 1
        errors[n_kept] = n_wrong + min(n_wanted, n_other)
    return n_kept
