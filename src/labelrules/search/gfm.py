"""Full predictions counted plainly, example-based: the general F-measure maximiser (GFM).

Counted as finished predictions are, a row with s labels of which the head names t among its k
has the F (1 + b) t / (b s + k). For heads of one size that is a sum over their labels, so the
best head of a size takes the labels of greatest weight, and the best size is tried out.
Precision (t / k) and recall (t / s) are of the same kind. K. Dembczyński, W. Waegeman, W. Cheng
and E. Hüllermeier, "An exact algorithm for F-measure maximization", NIPS 2011.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Board, Integers
from labelrules.search.problem import HeadProblem, preference


class GfmFound(NamedTuple):
    """The best head, and how many heads were looked at."""

    head: Board
    evaluated: int


def best_by_size(problem: HeadProblem) -> GfmFound:
    """For each size the labels of greatest weight, then the best size."""
    rows = problem.Y[problem.covered & problem.is_open.any(axis=1)]
    found = {
        size: _best_of_size(problem, rows, size)
        for size in range(problem.smallest, problem.largest + 1)
    }

    def key(size: int) -> tuple[Any, ...]:
        value, head = found[size]
        return value * Fraction(problem.factors[size]), preference(head)

    return GfmFound(found[max(found, key=key)][1], len(found))


def _best_of_size(problem: HeadProblem, rows: Board, size: int) -> tuple[Fraction, Board]:
    weights = _weights(problem, rows, size)
    order = sorted(range(problem.n_labels), key=lambda label: (-weights[label], label))
    present = np.zeros(problem.n_labels, np.bool_)
    present[order[:size]] = True
    value = sum((Fraction(weights[label]) for label in order[:size]), Fraction(0))
    return value, problem.as_head(present)


def _weights(problem: HeadProblem, rows: Board, size: int) -> npt.NDArray[Any]:
    """What each label adds to the sum over the rows, exactly, if the head has this size."""
    n = problem.n_labels
    # How many rows have the label, by the number of labels that the row has.
    n_present: Integers = rows.sum(axis=1)
    by_size = np.zeros((n + 1, n), np.int64)
    np.add.at(by_size, n_present, rows)
    name, b = problem.measure.formula.name, _beta_squared(problem)
    if size == 0:
        return np.zeros(n, dtype=object)
    if name == "precision":
        worth = [Fraction(1, size)] * (n + 1)
    elif name == "recall":
        worth = [Fraction(1, max(s, 1)) for s in range(n + 1)]
    else:
        worth = [(1 + b) / (b * s + size) for s in range(n + 1)]
    return np.asarray(np.array(worth, dtype=object) @ by_size.astype(object))


def _beta_squared(problem: HeadProblem) -> Fraction:
    return Fraction(repr(problem.measure.formula.parameter or 0.0)) ** 2
