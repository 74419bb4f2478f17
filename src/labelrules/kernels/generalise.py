"""Rules looked at again: their heads in all rows, and the rules with fewer conditions."""

import numpy as np
from numba import njit

from labelrules.kernels.bits import popcount


@njit(cache=True, nogil=True)
def _literal(labels, code, k):
    word = labels[code >> 1, k]
    return word if code & 1 else ~word


@njit(cache=True, nogil=True)
def count_heads(body, items, head, labels, everywhere, right, n_head):
    """For each literal of a head, covered rows where it holds; for each head, all such rows.

    `body` and `head` are starts with numbers of items, and starts with literals; `everywhere` has
    a bit for each row there is.
    """
    n_words = len(everywhere)
    covered = np.empty(n_words, np.uint64)
    for r in range(len(n_head)):
        covered[:] = everywhere
        for i in range(body[0][r], body[0][r + 1]):
            for k in range(n_words):
                covered[k] &= items[body[1][i], k]
        start, stop = head[0][r], head[0][r + 1]
        right[start:stop] = 0
        n_head[r] = 0
        for k in range(n_words):
            held = everywhere[k]
            for i in range(start, stop):
                literal = _literal(labels, head[1][i], k)
                right[i] += popcount(covered[k] & literal)
                held &= literal
            n_head[r] += popcount(held)


@njit(cache=True, nogil=True)
def _subset_counts(items, chosen, which, held, everywhere):
    """Rows covered by some conditions of a body, and those of them in which the head holds."""
    n_body, n_both = 0, 0
    for k in range(len(everywhere)):
        covered = everywhere[k]
        for i in range(len(chosen)):
            if (which >> i) & 1:
                covered &= items[chosen[i], k]
        n_body += popcount(covered)
        n_both += popcount(covered & held[k])
    return n_body, n_both


@njit(cache=True, nogil=True)
def compare_with_general(body, items, head, labels, everywhere, counts, productive, needed):
    """Whether each rule is right more often than all with fewer conditions, and needs all of its.

    `counts` are the rows that each rule covers, and those of them in which its head holds.
    """
    n_words = len(everywhere)
    held = np.empty(n_words, np.uint64)
    for r in range(len(productive)):
        chosen = body[1][body[0][r] : body[0][r + 1]]
        for k in range(n_words):
            held[k] = everywhere[k]
            for i in range(head[0][r], head[0][r + 1]):
                held[k] &= _literal(labels, head[1][i], k)
        n_body, n_both = counts[0][r], counts[1][r]
        whole = (1 << len(chosen)) - 1
        productive[r], needed[r] = True, True
        for i in range(len(chosen)):
            fewer, _ = _subset_counts(items, chosen, whole ^ (1 << i), held, everywhere)
            needed[r] &= fewer > n_body
        for which in range(whole):
            n_covered, n_right = _subset_counts(items, chosen, which, held, everywhere)
            if n_both * n_covered <= n_right * n_body:
                productive[r] = False
                break
