"""Weights of rows in measures: whole ones are rows that are repeated, those of 0 are left out."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers
from labelrules.measures.confusion_matrix import Confusion

ADVICE = "give a number from 0 for each row"


def counted_rows(sample_weight: Any, n_rows: int) -> tuple[Integers, Floats | None]:
    """The rows that count, as often as whole weights say, or once with weights that are not.

    Examples
    --------
    >>> counted_rows([2, 0, 1], 3)
    (array([0, 0, 2]), None)
    >>> counted_rows([0.5, 0, 1], 3)
    (array([0, 2]), array([0.5, 1. ]))
    """
    if sample_weight is None:
        return np.arange(n_rows), None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must be numbers: {ADVICE}") from None
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has the shape {weights.shape}, but there are {n_rows} rows: {ADVICE}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"a sample_weight is negative, infinite or NaN: {ADVICE}")
    if not weights.any():
        raise ValueError("all weights are zero, so no row counts")
    if (weights == np.floor(weights)).all():
        return np.repeat(np.arange(n_rows), weights.astype(np.int64)), None
    rows = np.flatnonzero(weights)
    return rows, weights[rows]


def weighted_sum(cells: npt.NDArray[Any], weights: Floats) -> float:
    """The sum of cells, rows by labels, by the weights of rows; rounded once."""
    return math.fsum((cells.sum(axis=1) * weights).tolist())


def weighted_matrices(outcomes: Confusion, axis: int | None, weights: Floats) -> Confusion:
    """The confusion matrix of all cells (None), or of each label (0), from weighted rows."""
    parts = []
    for part in outcomes:
        columns = [part] if axis is None else [part[:, [j]] for j in range(part.shape[1])]
        parts.append(np.array([weighted_sum(one, weights) for one in columns]))
    return Confusion(*parts)
