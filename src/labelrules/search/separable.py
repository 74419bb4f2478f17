"""Heads for values that labels contribute one by one: a mean or a sum over labels.

Label-based and macro-averaging always are of this kind, whatever the formula; example-based
precision and Hamming accuracy are as long as each row counts with all its labels or with none.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Mask
from labelrules.measures import Confusion, Formula
from labelrules.search.problem import HeadProblem

NEAR = 1e-9
"""Scores closer than this, relatively, are compared as fractions."""


class SeparableFound(NamedTuple):
    """The best head, its value times the lift, and how many heads were looked at."""

    head: Board
    evaluated: int


class Scores:
    """What each literal (value 0 or 1, label) contributes, as a float and, on demand, exactly."""

    def __init__(self, problem: HeadProblem) -> None:
        self.formula = problem.measure.formula
        self.averaging = problem.measure.averaging
        self.counts = problem.counts
        self.n_rows = problem.n_rows
        self.floats: Floats = np.array([self._of(matrix) for matrix in problem.counts])

    def _of(self, c: Confusion) -> Any:
        if self.averaging == "label":
            return np.asarray(self.formula(*c), dtype=np.float64)
        if self.averaging == "macro":
            units = unit_values(self.formula)
            empty = self.n_rows - (c.tp + c.fp + c.tn + c.fn)
            return sum(n * value for n, value in zip((*c, empty), units, strict=True))
        return c.tp + c.tn if self.formula.name == "hamming" else c.tp

    def exact(self, value: int, label: int) -> Fraction | float:
        """A contribution as a fraction; as a float where the formula is irrational."""
        c = [int(part[label]) for part in self.counts[value]]
        try:
            if self.averaging == "label":
                return self.formula.exact(*c)
            if self.averaging == "macro":
                units = [self.formula.exact(*row) for row in _UNITS]
                parts = [*c, self.n_rows - sum(c)]
                return sum((n * u for n, u in zip(parts, units, strict=True)), Fraction(0))
        except ValueError:
            pass
        return Fraction(float(self.floats[value, label]))


_UNITS = [tuple(int(i == j) for j in range(4)) for i in range(5)]


def unit_values(formula: Formula) -> list[float]:
    """The formula of a single cell that is tp, fp, tn, fn, and of one that does not count."""
    return [float(formula(*(np.array([cell]) for cell in unit))[0]) for unit in _UNITS]


def best_separable(problem: HeadProblem) -> SeparableFound:
    """The best head when neither lift nor limit restrain its size."""
    scores = Scores(problem)
    if problem.is_full:
        present = _wins(scores)
        if present.sum() < problem.smallest:
            return best_of_sizes(problem)
        return SeparableFound(problem.as_head(present), 2 * problem.n_labels)
    return SeparableFound(_merged(problem, scores), scores.floats.size)


def _merged(problem: HeadProblem, scores: Scores) -> Board:
    """All literals that reach the best score, presence before absence."""
    floats = scores.floats if problem.absence else scores.floats[1:]
    best = floats.max()
    near = np.argwhere(floats >= best - NEAR * max(abs(best), 1.0))
    if not problem.absence:
        near[:, 0] += 1
    exact = {(value, label): scores.exact(value, label) for value, label in near.tolist()}
    top = max(exact.values())
    head = np.full(problem.n_labels, UNSET)
    for (value, label), score in sorted(exact.items()):  # presence comes later and overwrites
        if score == top:
            head[label] = value
    return head


def _wins(scores: Scores) -> Mask:
    """The labels for which presence is at least as good as absence."""
    absent, present = scores.floats
    wins: Mask = present >= absent
    close = np.abs(present - absent) <= NEAR * np.maximum(np.abs(present), 1.0)
    for label in np.flatnonzero(close & (present != absent)).tolist():
        wins[label] = scores.exact(1, label) >= scores.exact(0, label)
    return wins


def best_of_sizes(problem: HeadProblem) -> SeparableFound:
    """The best head under a lift or a limit: for each size the best labels, then the best size."""
    scores = Scores(problem)
    table = np.array(
        [[scores.exact(value, label) for label in range(problem.n_labels)] for value in (0, 1)],
        dtype=object,
    )
    return (_full_sizes if problem.is_full else _partial_sizes)(problem, table)


def _partial_sizes(problem: HeadProblem, table: npt.NDArray[Any]) -> SeparableFound:
    presence = np.array([not problem.absence or p >= a for a, p in table.T], dtype=np.bool_)
    best = np.where(presence, table[1], table[0])
    order = sorted(range(problem.n_labels), key=lambda i: (-best[i], not presence[i], i))
    sums = np.cumsum(best[order])
    sizes = range(1, problem.largest + 1)
    size = _best_size(problem, {k: Fraction(sums[k - 1]) / k for k in sizes})
    head = np.full(problem.n_labels, UNSET)
    head[order[:size]] = presence[order[:size]]
    return SeparableFound(head, problem.largest)


def _full_sizes(problem: HeadProblem, table: npt.NDArray[Any]) -> SeparableFound:
    gains = table[1] - table[0]
    order = sorted(range(problem.n_labels), key=lambda i: (-gains[i], i))
    sums = np.cumsum([sum(table[0], Fraction(0)), *gains[order]])
    size = _best_size(
        problem, {k: Fraction(sums[k]) for k in range(problem.smallest, problem.largest + 1)}
    )
    present = np.zeros(problem.n_labels, np.bool_)
    present[order[:size]] = True
    return SeparableFound(problem.as_head(present), len(sums))


def _best_size(problem: HeadProblem, values: dict[int, Fraction]) -> int:
    """The size of the greatest lifted value, of equal ones the largest."""
    lifted = {k: value * Fraction(problem.factors[k]) for k, value in values.items()}
    return max(lifted, key=lambda k: (lifted[k], k))
