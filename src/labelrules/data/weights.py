"""Weights of rows and of cells: how often, or how much, they count.

Counts are sums of whole numbers, so that they do not depend on the order of rows. Weights are
therefore multiples of a unit, which is a power of two: 1 for whole weights, else so small that the
largest sum has about 30 bits.
"""

from math import ceil, log2
from typing import Any

import numpy as np

from labelrules._types import Board, Floats, Integers
from labelrules.data.errors import DataError

MOST_UNITS = 1 << 30
"""The largest sum of weights of one label, in units: two such sums share a 64-bit number."""

SMALLEST_UNIT = 2.0**-20

ADVICE = "give one weight per row, or one per row and label"


def checked_weights(given: Any, shape: tuple[int, int]) -> Floats | None:
    """Weights of rows, or of rows by labels, as multiples of their unit; None if all are 1."""
    if given is None:
        return None
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"weights must be numbers: {ADVICE}") from None
    if weights.ndim == 0:
        weights = np.full(shape[0], float(weights))
    if weights.shape not in ((shape[0],), shape):
        raise DataError(
            f"weights have the shape {weights.shape}, but there are {shape[0]} rows and "
            f"{shape[1]} labels: {ADVICE}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise DataError("weights must be finite numbers from 0: one is negative, infinite or NaN")
    return None if (weights == 1).all() else _rounded(weights)


def _rounded(weights: Floats) -> Floats:
    """The nearest multiples of the unit; a small weight stays above 0."""
    unit = unit_of(weights)
    units = np.rint(weights / unit)
    units[(units == 0) & (weights > 0)] = 1
    weights = units * unit
    weights.setflags(write=False)
    return weights


def unit_of(weights: Floats) -> float:
    """The unit of which all weights are multiples, or are rounded to multiples.

    Examples
    --------
    >>> unit_of(np.array([1.0, 3.0])), unit_of(np.array([0.5, 2.0])) == SMALLEST_UNIT
    (1.0, True)
    >>> unit_of(np.full(1_000_000, 0.3)) == 2.0**-11
    True
    """
    total = float(weights.sum(axis=0).max(initial=0.0))
    if (weights == np.floor(weights)).all():
        if total > MOST_UNITS:
            raise DataError(f"the weights add up to {total:.3g}: divide them by a common number")
        return 1.0
    return max(SMALLEST_UNIT, 2.0 ** ceil(log2(total / MOST_UNITS)))


def cell_units(Y: Board, weights: Floats | None) -> tuple[Integers | None, float]:
    """The weights of cells in units, rows by labels, and the unit; None if all are 1."""
    if weights is None:
        return None, 1.0
    unit = unit_of(weights)
    rows = weights if weights.ndim == 2 else weights[:, np.newaxis]
    return np.broadcast_to((rows / unit).astype(np.int64), Y.shape), unit


def are_whole(weights: Floats) -> bool:
    """Whether each row has one weight, a whole number: then rows may be repeated instead."""
    return bool(weights.ndim == 1 and (weights == np.floor(weights)).all())
