"""Lengths of descriptions, in bits, as W. W. Cohen's RIPPER counts them.

"Fast Effective Rule Induction", ICML 1995; J. R. Quinlan, "MDL and Categorical Theories
(Continued)", ICML 1995.
"""

from math import log2
from typing import NamedTuple

import numpy as np
from numba import njit

THEORY_WEIGHT = 0.6
"""What a bit of theory weighs against a bit of exceptions: bodies can be told in many ways."""

SHORTER = 1e-9
"""By how much a description must be shorter, so that rounding decides nothing."""


class Told(NamedTuple):
    """What is known of one label and value before a rule is added, and how long to go on.

    Rows in all, those that have the value, those that rules said it of, and those of which they
    were right; conditions there are to choose from; and how many conditions in a row may fail to
    shorten the description, as many as there are if it is 0.
    """

    n_rows: int
    n_true: int
    n_said: int
    n_right: int
    n_possible: int
    patience: int


UNTOLD = Told(0, 0, 0, 0, 0, 0)
"""Where descriptions do not matter."""


@njit(cache=True)
def subset_bits(n, k, share):
    """The bits for telling which k of n it is, when each is expected with this probability.

    >>> round(subset_bits(8, 4, 0.5), 6)
    8.0
    """
    bits = 0.0
    if k > 0:
        bits += np.inf if share <= 0 else -k * log2(share)
    if n > k and share < 1:
        bits -= (n - k) * log2(1 - share)
    return bits


@njit(cache=True)
def exception_bits(n_said, n_unsaid, n_wrong, n_missed, n_true):
    """The bits for telling which rows are wrongly covered and which are missed.

    The errors of the larger part are expected as the other part has them, so that errors may not
    hide where there are many rows.

    >>> exception_bits(0, 7, 0, 0, 0)
    3.0
    """
    n_errors, share = n_wrong + n_missed, n_true / (n_said + n_unsaid)
    wrong_share = n_wrong / n_said if n_said else 0.0
    missed_share = n_missed / n_unsaid if n_unsaid else 0.0
    if n_said > n_unsaid and share * n_errors < n_said:
        wrong_share = share * n_errors / n_said
    elif n_unsaid >= max(1, n_said) and (1 - share) * n_errors < n_unsaid:
        missed_share = (1 - share) * n_errors / n_unsaid
    return (
        log2(n_said + n_unsaid + 1)
        + subset_bits(n_said, n_wrong, wrong_share)
        + subset_bits(n_unsaid, n_missed, missed_share)
    )


@njit(cache=True)
def theory_bits(n_possible, n_conditions):
    """The weighted bits for telling so many of the possible conditions."""
    k = n_conditions
    if k == 0:
        return 0.0
    size = log2(k) + (2 * log2(log2(k)) if k > 1 else 0.0)
    return THEORY_WEIGHT * (size + subset_bits(n_possible, k, k / n_possible))


@njit
def length_with(told, right, wrong, n_conditions):
    """The length of the description with a rule that sets so many cells right and wrong."""
    n_said = told.n_said + right + wrong
    n_wrong = told.n_said - told.n_right + wrong
    n_missed = told.n_true - told.n_right - right
    exceptions = exception_bits(n_said, told.n_rows - n_said, n_wrong, n_missed, told.n_true)
    return exceptions + theory_bits(told.n_possible, n_conditions)
