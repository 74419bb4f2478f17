"""Weights of rows and of cells: how often, or how much, they count.

Counts are sums of whole numbers, so that they do not depend on the order of rows. Weights are
therefore multiples of a unit, which is a power of two: 1 for whole weights, else so small that the
largest sum has about 30 bits.
"""

from dataclasses import replace
from math import ceil, fsum, log2
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data.errors import DataError

if TYPE_CHECKING:
    from labelrules.data.table import Dataset

MOST_UNITS = 1 << 30
"""The largest sum of weights of one label, in units: two such sums share a 64-bit number."""

SMALLEST_UNIT = 2.0**-20

NOTHING_KNOWN = "all labels are unknown in all rows, so there is nothing to learn from"

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
    total = _largest_sum(weights)
    if (weights == np.floor(weights)).all():
        if total > MOST_UNITS:
            raise DataError(f"the weights add up to {total:.3g}: divide them by a common number")
        return 1.0
    return max(SMALLEST_UNIT, _unit_for(total, MOST_UNITS))


def _largest_sum(weights: Floats) -> float:
    """The largest sum of weights of one label; exact, so that the order of rows does not matter."""
    return max((fsum(column) for column in weights.reshape(len(weights), -1).T.tolist()), default=0)


def _unit_for(total: float, most: int) -> float:
    """The smallest power of two of which at most so many add up to the total."""
    return float(2.0 ** ceil(log2(total / most)))


def cell_units(Y: Board, weights: Floats | None) -> tuple[Integers | None, float]:
    """The weights of cells in units, rows by labels, and the unit; None if all are 1."""
    if weights is None:
        return None, 1.0
    unit = unit_of(weights)
    rows = weights if weights.ndim == 2 else weights[:, np.newaxis]
    return np.broadcast_to((rows / unit).astype(np.int64), Y.shape), unit


def row_units(weights: Floats | None, most: int = MOST_UNITS) -> tuple[Integers | None, float]:
    """The weights of rows in units of which there are about so many at most, and the unit.

    A coarser unit rounds the weights once more; none that is above 0 becomes 0. None if all are 1.

    Examples
    --------
    >>> row_units(np.array([0.5, 2.0, 1.75]), most=16)
    (array([1, 4, 4]), 0.5)
    """
    if weights is None:
        return None, 1.0
    unit = max(unit_of(weights), _unit_for(_largest_sum(weights), most))
    return np.maximum(np.rint(weights / unit), weights > 0).astype(np.int64), unit


def simplest(Y: Board, weights: Floats) -> tuple[Board, Floats]:
    """Say labels and weights in the simplest manner.

    A cell of weight 0 is unknown, and a row has one weight if those of its known cells are equal.

    Examples
    --------
    >>> simplest(np.array([[1, 0], [0, 1]], np.int8), np.array([[2.0, 2.0], [1.0, 0.0]]))
    (array([[ 1,  0],
           [ 0, -1]], dtype=int8), array([2., 1.]))
    """
    if weights.ndim == 1:
        return Y, weights
    known = (Y != UNSET) & (weights > 0)
    labels = np.where(known, Y, UNSET).astype(np.int8)
    rows = weights_of_rows(Y, weights)
    is_same = ((weights == rows[:, np.newaxis]) | ~known).all()
    return labels, rows if is_same else weights


def weights_of_rows(Y: Board, weights: Floats) -> Floats:
    """One weight for each row: the greatest of its known cells.

    Examples
    --------
    >>> weights_of_rows(np.array([[1, 0], [0, -1]], np.int8), np.array([[2.0, 0.5], [1.0, 9.0]]))
    array([2., 1.])
    """
    if weights.ndim == 1:
        return weights
    known = (Y != UNSET) & (weights > 0)
    # A row of which nothing is known has a weight all the same.
    counted = np.where(known.any(axis=1, keepdims=True), weights * known, weights)
    return np.asarray(counted.max(axis=1, initial=0.0))


def are_whole(weights: Floats) -> bool:
    """Whether each row has one weight, a whole number: then rows may be repeated instead."""
    return bool(weights.ndim == 1 and (weights == np.floor(weights)).all())


def weighted(data: "Dataset", weights: Any) -> "Dataset":
    """A data set with the weights that `fit` was given, or with its own."""
    if weights is None:
        return data
    if data.weights is not None:
        raise ValueError("X is a Dataset that brings its weights: leave sample_weight out")
    return replace(data, weights=weights)


def counting_rows(data: "Dataset") -> "Dataset":
    """The rows and cells that count, with their weights said in the simplest manner."""
    data = without_idle_cells(data)
    if data.n_unknown == data.Y.size:
        raise ValueError(NOTHING_KNOWN)
    return data.with_known_labels()


def without_idle_cells(data: "Dataset") -> "Dataset":
    """The rows of which some weight is not 0, with cells of weight 0 unknown."""
    weights: Any = data.weights
    if weights is None:
        return data
    counts = weights > 0 if weights.ndim == 1 else weights.any(axis=1)
    if not counts.any():
        raise ValueError("all weights are zero, so there is nothing to learn from")
    data = data if counts.all() else data.take(counts)
    if data.weights is None or weights.ndim == 1:
        return data
    labels, simple = simplest(data.Y, data.weights)
    return replace(data, Y=labels, weights=simple)
