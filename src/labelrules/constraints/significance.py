"""Fisher's exact test for many pairs at once, and corrections for the number of tests."""

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from labelrules._checks import number, one_of, whole_number
from labelrules._types import Floats, Integers

Correction = Literal["holm", "benjamini-hochberg"] | None
Alternative: TypeAlias = Literal["greater", "less"]

CORRECTIONS = ("holm", "benjamini-hochberg")

MOST_TESTS = 1 << 1000  # a larger number of tests counts as this one; a float holds no more


def fisher(
    both: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    n_rows: int,
    alternative: Alternative = "greater",
) -> Floats:
    """P-values of Fisher's exact test, one-sided, for many pairs of properties at once.

    The probability that at least (or at most) so many rows have both properties if the two are
    independent. SciPy's hypergeometric distribution gives the same in about 60 times the time.

    Parameters
    ----------
    both, first, second : array-like of int
        Rows with both properties, with the first, and with the second.
    n_rows : int
        All rows.
    alternative : {"greater", "less"}
        At least as many rows with both, or at most as many.

    Examples
    --------
    >>> fisher([3, 1], first=[3, 3], second=[4, 4], n_rows=14).round(4)
    array([0.011 , 0.6703])
    """
    from labelrules.kernels.mining.associations import log_factorials, upper_tails

    n_rows = whole_number(n_rows, "n_rows", low=0)
    given = [_checked_counts(counts) for counts in (both, first, second)]
    overlaps, firsts, seconds = np.broadcast_arrays(*given)
    _check_overlaps(overlaps, firsts, seconds, n_rows)
    if one_of(alternative, "alternative", get_args(Alternative)) == "less":
        # Few rows that have the second property are many rows that have not.
        overlaps, seconds = firsts - overlaps, n_rows - seconds
    p = np.empty(overlaps.size)
    a, b, c = (np.ascontiguousarray(counts).ravel() for counts in (overlaps, firsts, seconds))
    upper_tails(a, b, c, n_rows, log_factorials(n_rows), p)
    return p.reshape(overlaps.shape)


def _checked_counts(counts: npt.ArrayLike) -> Integers:
    given = np.asarray(counts)
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0):
        raise ValueError("Fisher's test takes counts: whole numbers from 0")
    return given.astype(np.int64)


def _check_overlaps(both: Integers, first: Integers, second: Integers, n_rows: int) -> None:
    fits = (both <= first) & (both <= second) & (first + second - both <= n_rows)
    if not fits.all():
        i = int(np.argmin(fits.ravel()))
        raise ValueError(
            f"of {n_rows} rows, {first.ravel()[i]} and {second.ravel()[i]} cannot have "
            f"{both.ravel()[i]} in common"
        )


def adjusted(p: npt.ArrayLike, correction: Correction, n_tests: int | None = None) -> Floats:
    """P-values corrected for multiple testing.

    Parameters
    ----------
    p : array-like of float
    correction : {"holm", "benjamini-hochberg"}, optional
        Control of the family-wise error rate (Holm), or of the false discovery rate (Benjamini
        and Hochberg).
    n_tests : int, optional
        The number of tests, if more than those given: a search that returns some of its candidates
        has tested them all. Tests not given count as if their p-values were the largest.

    Examples
    --------
    >>> import numpy as np
    >>> adjusted(np.array([0.01, 0.04, 0.03]), "holm")
    array([0.03, 0.06, 0.06])
    >>> adjusted(np.array([0.01, 0.04, 0.03]), "benjamini-hochberg")
    array([0.03, 0.04, 0.04])
    >>> adjusted(np.array([0.01, 0.04, 0.03]), "holm", n_tests=10)
    array([0.1 , 0.32, 0.27])
    """
    p = np.asarray(p, dtype=np.float64)
    if checked_correction(correction) is None:
        return p
    n_tests = p.size if n_tests is None else n_tests
    if n_tests < p.size:
        raise ValueError(f"{p.size} p-values come from {p.size} tests or more, not from {n_tests}")
    tests = float(min(n_tests, MOST_TESTS))
    order = np.argsort(p, kind="stable")
    place = np.arange(p.size)
    if correction == "holm":
        raised = np.maximum.accumulate(p[order] * (tests - place))
    else:
        raised = np.minimum.accumulate((p[order] * tests / (place + 1))[::-1])[::-1]
    corrected = np.empty(p.size)
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def checked_correction(correction: Correction) -> Correction:
    """The name of a correction, or None."""
    if correction is not None:
        one_of(correction, "correction", CORRECTIONS, also="None")
    return correction


def checked_alpha(alpha: float) -> float:
    """A level of significance."""
    return number(alpha, "alpha", above=0, below=1)
