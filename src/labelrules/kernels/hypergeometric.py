"""How probable an overlap is when two sets of rows are drawn blindly.

Of `n_rows` rows, `n_first` have one thing and `n_second` another; by chance the number that have
both follows the hypergeometric distribution. Its tails are summed term by term, from the observed
overlap outwards, where each term is smaller than the one before.
"""

import math

import numpy as np
from numba import njit

GREATER, LESS, TWO_SIDED = 0, 1, 2

_NEGLIGIBLE = 1e-17
"""A term this much smaller than the sum does not change it any more."""

_DOUBT, _DOUBT_OF_LOG = 1e-6, 1e-14
"""Logarithms of probabilities closer than this, and this share of log(n!), are not trusted."""

_ROUNDING = 4e-16
"""How far one factor of a quotient of probabilities may be off, and the product with it."""


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
def _at_most(both, n_first, n_second, n_rows, log_factorial):
    return _at_least(n_first - both, n_first, n_rows - n_second, n_rows, log_factorial)


@njit(cache=True, nogil=True)
def _step(both, n_first, n_second, n_rows):
    """How many times more probable one more overlap is."""
    right = (n_first - both) * (n_second - both)
    return right / ((both + 1) * (n_rows - n_first - n_second + both + 1))


@njit(cache=True, nogil=True)
def _is_no_more_probable(less, both, n_first, n_second, n_rows, log_factorial):
    """Whether an overlap is at most as probable as a larger one.

    Where logarithms do not tell, the quotient is multiplied out. Its factors fall; they are taken
    from both ends in turn, so that the product stays near 1.
    """
    gap = _log_probability(less, n_first, n_second, n_rows, log_factorial)
    gap -= _log_probability(both, n_first, n_second, n_rows, log_factorial)
    if abs(gap) > _DOUBT + _DOUBT_OF_LOG * log_factorial[n_rows]:
        return gap < 0
    quotient, low, high = 1.0, less, both - 1
    while low <= high:
        if quotient < 1:
            quotient *= _step(low, n_first, n_second, n_rows)
            low += 1
        else:
            quotient *= _step(high, n_first, n_second, n_rows)
            high -= 1
    return quotient >= 1 - _ROUNDING * (both - less + 1)


@njit(cache=True, nogil=True)
def _as_improbable(both, n_first, n_second, n_rows, log_factorial):
    """The probability of all overlaps that are no more probable than this one."""
    mode = _mode(n_first, n_second, n_rows)
    if both < mode:  # seen from the other side it is above
        return _as_improbable(n_first - both, n_first, n_rows - n_second, n_rows, log_factorial)
    if _is_no_more_probable(mode, both, n_first, n_second, n_rows, log_factorial):
        return 1.0
    low, high = max(0, n_first + n_second - n_rows) - 1, mode
    while high - low > 1:  # probabilities rise from low to high
        middle = (low + high) // 2
        if _is_no_more_probable(middle, both, n_first, n_second, n_rows, log_factorial):
            low = middle
        else:
            high = middle
    upper = _at_least(both, n_first, n_second, n_rows, log_factorial)
    return min(1.0, upper + _at_most(low, n_first, n_second, n_rows, log_factorial))


@njit(cache=True, nogil=True)
def tails(both, first, second, n_rows, log_factorial, side, p):
    """Fill in the probabilities of overlaps at least (or at most) as large, or as improbable."""
    for i in range(len(p)):
        if side == GREATER:
            found = _at_least(both[i], first[i], second[i], n_rows, log_factorial)
        elif side == LESS:
            found = _at_most(both[i], first[i], second[i], n_rows, log_factorial)
        else:
            found = _as_improbable(both[i], first[i], second[i], n_rows, log_factorial)
        p[i] = min(max(found, 0.0), 1.0)


def log_factorials(n_rows: int) -> np.ndarray:
    """The logarithms of 0! to n_rows!."""
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(n_rows + 1) + 1.0))
