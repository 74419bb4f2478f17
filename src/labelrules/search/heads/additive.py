"""Heads for values that labels contribute one by one: a mean or a sum over labels.

Means over labels (macro) and over cells always are, whatever the formula; example-based precision
and Hamming accuracy are as long as each row counts with all its labels or with none.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Mask
from labelrules.measures import Confusion, Formula
from labelrules.search.heads.problem import HeadProblem, known_formula
from labelrules.search.heads.ratio import leading, parts_of

NEAR = 1e-9
"""Scores closer than this, relatively, are compared as fractions."""


class SeparableFound(NamedTuple):
    """The best head and how many heads were looked at."""

    head: Board
    evaluated: int


class Scores:
    """What each literal (value 0 or 1, label) contributes, as a float and, on demand, exactly."""

    def __init__(self, problem: HeadProblem) -> None:
        self.formula = problem.measure.formula
        self.averaging = problem.measure.averaging
        self.counts = problem.counts
        self.n_rows = problem.n_rows
        self.by_cell = self.averaging == "samples" or known_formula(problem.measure) is not None
        """Whether each cell adds 1 or nothing, where a label's score is a sum over its cells."""
        self.are_whole = self.averaging != "macro" and self.by_cell
        """Whether the floats are whole numbers, which compare exactly."""
        self.shares: npt.NDArray[Any] | None = None
        """Exact contributions, where rows weigh by their number of open cells."""
        if self.averaging == "samples" and not problem.rows_are_whole:
            self.shares = _shares(problem)
            self.are_whole = False
            self.floats: Floats = self.shares.astype(np.float64)
            return
        self.floats = np.broadcast_to(self._of(self.counts), (2, problem.n_labels))

    def _of(self, c: Confusion) -> Any:
        if self.averaging == "macro":
            return np.asarray(self.formula(*c), dtype=np.float64)
        if not self.are_whole:
            *each, empty = unit_values(self.formula)
            self.are_whole = all(value.is_integer() for value in (*each, empty))
            n_empty = self.n_rows - (c.tp + c.fp + c.tn + c.fn)
            return sum(n * value for n, value in zip(c, each, strict=True)) + n_empty * empty
        return c.tp + c.tn if self.formula.name == "hamming" else c.tp

    def exact(self, value: int, label: int) -> Fraction:
        """A contribution as a fraction; where the formula is irrational, to twelve digits."""
        if self.shares is not None:
            return Fraction(self.shares[value, label])
        score = float(self.floats[value, label])
        if self.are_whole:
            return Fraction(score)
        c = [int(np.broadcast_to(n, self.floats.shape)[value, label]) for n in self.counts]
        try:
            return self._exactly(c)
        except ValueError:
            return Fraction(f"{score:.11e}")  # errors of rounding shall not part ties

    def _exactly(self, c: list[int]) -> Fraction:
        if self.averaging == "macro":
            return self.formula.exact(*c)
        units = [self.formula.exact(*row) for row in _UNITS.tolist()]
        parts = [*c, self.n_rows - sum(c)]
        return sum((n * unit for n, unit in zip(parts, units, strict=True)), Fraction(0))


def _shares(problem: HeadProblem) -> npt.NDArray[Any]:
    """Per value and label: the sum over the rows of its right cells by their open cells.

    A full prediction says something of every open cell, so a row's number of counted cells does
    not depend on the head, and the mean over rows is a sum over labels.
    """
    n_open = problem.is_open.sum(axis=1)
    rows = n_open > 0
    common = math.lcm(*np.unique(n_open[rows]).tolist())
    weight = np.array([common // n for n in n_open[rows].tolist()], dtype=object)
    Y, is_open, inside = problem.Y[rows], problem.is_open[rows], problem.covered[rows, np.newaxis]
    hamming = problem.measure.formula.name == "hamming"
    shares = []
    for value in (0, 1):
        outside = Y == 0 if problem.convention == "chapter" else value != Y
        right = np.where(inside, value == Y, outside & hamming) & is_open
        shares.append([Fraction(n, common) for n in weight @ right.astype(object)])
    return np.array(shares, dtype=object)


_UNITS = np.eye(5, 4, dtype=np.int64)


def unit_values(formula: Formula) -> list[float]:
    """The formula of a single cell that is tp, fp, tn, fn, and of one that does not count."""
    values: list[float] = np.asarray(formula(*_UNITS.T), dtype=np.float64).tolist()
    return values


def best_separable(problem: HeadProblem) -> SeparableFound:
    """The best head when neither lift nor limit restrain its size."""
    if not problem.is_full:
        absent, present = _reaching(problem)
        head = np.where(present, np.int8(1), np.where(absent, np.int8(0), UNSET))
        return SeparableFound(head, head.size * (2 if problem.absence else 1))
    present = _wins(Scores(problem))
    if present.sum() < problem.smallest:
        return best_of_sizes(problem)
    return SeparableFound(problem.as_head(present), 2 * problem.n_labels)


def _reaching(problem: HeadProblem) -> Mask:
    """The literals of the best score, by value and label."""
    if problem.measure.averaging == "macro" and known_formula(problem.measure):
        parts = parts_of(problem.measure.formula, problem.counts, problem.n_rows)
        return leading(problem, parts)
    scores = Scores(problem)
    floats = (
        scores.floats if problem.absence else np.where([[False], [True]], scores.floats, -np.inf)
    )
    best = floats.max()
    if scores.are_whole:
        return np.asarray(floats == best)
    reach = np.asarray(floats >= best - NEAR * max(abs(best), 1.0))
    exact = {(value, label): scores.exact(value, label) for value, label in np.argwhere(reach)}
    top = max(exact.values())
    for literal, score in exact.items():
        reach[literal] = score == top
    return reach


def _wins(scores: Scores) -> Mask:
    """The labels for which presence is at least as good as absence."""
    absent, present = scores.floats
    wins: Mask = present >= absent
    if not scores.are_whole:
        difference = np.abs(present - absent)
        close = (difference <= NEAR * np.maximum(np.abs(present), 1.0)) & (difference > 0)
        for label in np.flatnonzero(close).tolist():
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
