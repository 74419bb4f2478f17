"""Four ways from the confusion matrices of single cells to one value.

One principle settles what a cell that is not counted (written already, or left open by a
partial prediction) does to a mean: its confusion matrix is empty. It adds nothing to a sum,
and a row, label or cell left with an empty matrix has the formula's value of the empty matrix
(0 for all measures of the chapter) and stays in the number by which the mean divides.
"""

import math
from collections import Counter
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import numpy as np

from labelrules._types import Integers
from labelrules.measures.confusion import Confusion
from labelrules.measures.formula import Formula

Averaging: TypeAlias = Literal["micro", "label", "example", "macro"]
AVERAGINGS: tuple[str, ...] = get_args(Averaging)
"""See :func:`matrices`."""


def matrices(outcomes: Confusion, averaging: Averaging) -> tuple[Confusion, Integers]:
    """The confusion matrices whose values are averaged, and how often each one counts.

    Parameters
    ----------
    outcomes : Confusion
        Of every cell, rows by labels.
    averaging : {"micro", "label", "example", "macro"}
        One matrix over all cells; one per label; one per row; one per cell.
    """
    if averaging == "macro":
        return _kinds_of_cells(outcomes)
    axis = {"micro": None, "label": 0, "example": 1}[averaging]
    summed = Confusion(*(np.atleast_1d(part) for part in outcomes.sum(axis)))
    return summed, np.ones(summed.tp.size, dtype=np.int64)


def mean(formula: Formula, averaged: Confusion, weights: Integers) -> float:
    """The mean of the formula's values.

    The sum is rounded once, so the value does not depend on the order of rows or labels.
    """
    values = np.asarray(formula(*averaged), dtype=np.float64)
    return math.fsum(values * weights) / int(weights.sum())


def exact_mean(formula: Formula, averaged: Confusion, weights: Integers) -> Fraction:
    """The mean of the formula's values as a fraction."""
    times: Counter[tuple[int, ...]] = Counter()  # there are few different matrices
    for *counts, n in zip(*(part.tolist() for part in (*averaged, weights)), strict=True):
        times[tuple(counts)] += n
    total = sum((n * formula.exact(*counts) for counts, n in times.items()), Fraction(0))
    return total / int(weights.sum())


def _kinds_of_cells(outcomes: Confusion) -> tuple[Confusion, Integers]:
    """A single cell is right or wrong in one of four ways, or empty: count the five kinds."""
    n_each = [int(part) for part in outcomes.sum()]
    units = np.vstack([np.eye(4, dtype=np.int64), np.zeros((1, 4), dtype=np.int64)])
    n_empty = outcomes.tp.size - sum(n_each)
    return Confusion(*units.T), np.array([*n_each, n_empty], dtype=np.int64)
