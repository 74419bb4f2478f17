"""Tails of the hypergeometric distribution: the overlap of two sets of rows by chance.

Of `n_rows` rows, `n_first` are in one set and `n_second` in the other. Terms are summed from the
observed overlap outwards, where each is smaller than the one before.
"""

import math

import numpy as np
from numba import njit

_NEGLIGIBLE = 1e-17
"""A term this much smaller than the sum does not change it any more."""


@njit(cache=True, nogil=True)
def _log_probability(both, n_first, n_second, n_rows, log_factorial):
    return (
        log_factorial[n_first]
        + log_factorial[n_rows - n_first]
        + log_factorial[n_second]
        + log_factorial[n_rows - n_second]
        - log_factorial[n_rows]
        - log_factorial[both]
        - log_factorial[n_first - both]
        - log_factorial[n_second - both]
        - log_factorial[n_rows - n_first - n_second + both]
    )


@njit(cache=True, nogil=True)
def _outer_tail(both, n_first, n_second, n_rows, log_factorial):
    """The probability of at least `both`, which is not below the most probable overlap."""
    term, total = 1.0, 1.0
    for x in range(both, min(n_first, n_second)):
        term *= (n_first - x) / (x + 1) * (n_second - x) / (n_rows - n_first - n_second + x + 1)
        total += term
        if term < total * _NEGLIGIBLE:
            break
    return total * math.exp(_log_probability(both, n_first, n_second, n_rows, log_factorial))


@njit(cache=True, nogil=True)
def _mode(n_first, n_second, n_rows):
    return (n_first + 1) * (n_second + 1) // (n_rows + 2)


@njit(cache=True, nogil=True)
def _at_least(both, n_first, n_second, n_rows, log_factorial):
    if both <= max(0, n_first + n_second - n_rows):
        return 1.0
    if both > min(n_first, n_second):
        return 0.0
    if both > _mode(n_first, n_second, n_rows):
        return _outer_tail(both, n_first, n_second, n_rows, log_factorial)
    # The rest lies in the other tail: fewer than `both` of the second are more of the others.
    left = n_first - both + 1
    return 1.0 - _outer_tail(left, n_first, n_rows - n_second, n_rows, log_factorial)


@njit(cache=True, nogil=True)
def upper_tails(both, first, second, n_rows, log_factorial, p):
    """Fill in the probabilities of overlaps at least as large."""
    for i in range(len(p)):
        tail = _at_least(both[i], first[i], second[i], n_rows, log_factorial)
        p[i] = min(max(tail, 0.0), 1.0)


def log_factorials(n_rows: int) -> np.ndarray:
    """The logarithms of 0! to n_rows!."""
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(n_rows + 1) + 1.0))
