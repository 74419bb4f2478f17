"""How probable a finding is by chance, and what remains of that when many were looked for."""

from numbers import Real
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from labelrules._checks import suggestion
from labelrules._types import Floats, Integers
from labelrules.discovery.limits import whole

Correction = Literal["holm", "benjamini-hochberg"] | None
Alternative: TypeAlias = Literal["greater", "less", "two-sided"]

MOST_TESTS = 1 << 1000
"""More tests than this are taken for so many; a float holds no more."""


def fisher(
    both: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    n_rows: int,
    alternative: Alternative = "greater",
) -> Floats:
    """Fisher's exact test, of many pairs of row sets at once.

    How probable it is that so many rows (or so few) have both of two properties, if which rows
    have the second has nothing to do with which have the first.

    Parameters
    ----------
    both : array-like of int
        Rows that have both.
    first, second : array-like of int
        Rows that have the one, and the other.
    n_rows : int
        All rows.
    alternative : {"greater", "less", "two-sided"}
        At least as many with both; at most as many; or any number that is no more probable.

    Examples
    --------
    >>> fisher([3, 1], first=[3, 3], second=[4, 4], n_rows=14).round(4)
    array([0.011 , 0.6703])
    """
    overlaps, firsts, seconds = np.broadcast_arrays(
        *(_checked_counts(counts) for counts in (both, first, second))
    )
    n_rows = whole("n_rows", n_rows, 0)
    _check_overlaps(overlaps, firsts, seconds, n_rows)
    from labelrules.kernels.hypergeometric import log_factorials, tails

    sides = get_args(Alternative)
    if alternative not in sides:
        near = suggestion(str(alternative), sides)
        raise ValueError(f"alternative must be one of {sides}, not {alternative!r}{near}")
    p = np.empty(overlaps.size)
    a, b, c = (np.ascontiguousarray(counts).ravel() for counts in (overlaps, firsts, seconds))
    tails(a, b, c, n_rows, log_factorials(n_rows), sides.index(alternative), p)
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
    """Probabilities corrected for their number.

    Parameters
    ----------
    p : array-like of float
    correction : {"holm", "benjamini-hochberg"}, optional
        Against a single wrong finding (Holm), or against many among those found (Benjamini and
        Hochberg).
    n_tests : int, optional
        How many tests were made, if more than are given: a search that hands over only some of
        what it looked at has made them all. The tests not given count as if their probabilities
        were greater than all that are.

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
    if correction is None:
        return p
    n = p.size
    n_tests = n if n_tests is None else n_tests
    if n_tests < n:
        raise ValueError(f"{n} probabilities come from {n} tests or more, not from {n_tests}")
    tests = float(min(n_tests, MOST_TESTS))
    order = np.argsort(p, kind="stable")
    place = np.arange(n)
    if correction == "holm":
        raised = np.maximum.accumulate(p[order] * (tests - place))
    elif correction == "benjamini-hochberg":
        raised = np.minimum.accumulate((p[order] * tests / (place + 1))[::-1])[::-1]
    else:
        raise ValueError(
            f"correction must be 'holm', 'benjamini-hochberg' or None, not {correction!r}"
            f"{suggestion(str(correction), ('holm', 'benjamini-hochberg'))}"
        )
    found = np.empty(n)
    found[order] = np.minimum(raised, 1.0)
    return found


def checked_alpha(alpha: float) -> float:
    """The level of significance, if it is one."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real):
        raise ValueError(f"alpha must be a number between 0 and 1, not {alpha!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, not {alpha!r}")
    return float(alpha)
