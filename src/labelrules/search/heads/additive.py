"""Heads for sums over labels, and for ratios of two such sums; exact.

Means over labels (macro) and over cells are sums, whatever the formula; example-based precision and
Hamming accuracy are if each row counts with all its labels or with none. Micro-averaged measures
are ratios of two sums over the labels of the head. Dinkelbach's method finds the maximum of a
ratio: at a guess theta take the literals for which numerator - theta * denominator is greatest;
their ratio is the next guess, until it no longer rises. Integers throughout; the last step settles
ties.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Mask
from labelrules.measures import Confusion, Formula
from labelrules.search.heads.problem import (
    BestVector,
    HeadProblem,
    by_gain,
    known_formula,
    preference,
)

NEAR = 1e-9
"""Scores closer than this, relatively, are compared as fractions."""

RATIOS = frozenset({"precision", "recall", "hamming", "f"})
"""Formulas that are one sum over another in micro-averaging."""

Whole = npt.NDArray[Any]
"""Integers per value (0, 1) and label, of 64 bits, or Python's own where products are larger."""


class RatioParts(NamedTuple):
    """What each literal (value 0 or 1, label) adds to the numerator and to the denominator."""

    upper: Whole
    lower: Whole


class BestRatio(NamedTuple):
    """The best head, its ratio, and the number of heads evaluated."""

    vector: Board
    ratio: Fraction
    evaluated: int


def literal_ratios(formula: Formula, counts: Confusion, n_rows: int) -> RatioParts:
    """Numerator and denominator of the formula for every literal, as integers."""
    p, q = _weights_of(formula)
    c = _with_room(counts, (p + q) * n_rows)
    if formula.name == "hamming":
        return RatioParts(c.tp + c.tn, c.tp + c.fp + c.tn + c.fn)
    upper = (p + q) * c.tp
    return RatioParts(upper, upper + p * c.fn + q * c.fp)


def _weights_of(formula: Formula) -> tuple[int, int]:
    """The weights of false negatives and false positives: beta squared, as a fraction."""
    if formula.name != "f":
        return (1, 0) if formula.name == "recall" else (0, 1)
    return (Fraction(repr(formula.parameter)) ** 2).as_integer_ratio()


def _with_room(c: Confusion, largest: int) -> Confusion:
    """The counts in Python's integers where sums of products may need more than 64 bits."""
    if (largest * c.tp.shape[-1]) ** 2 < 2**60:
        return c
    return Confusion(*(part.astype(object) for part in c))


def best_ratio(problem: HeadProblem, parts: RatioParts, size: int | None = None) -> BestRatio:
    """The head of the greatest ratio, of any size or of one size."""
    if size is None and not problem.is_full:
        # A mediant is no greater than its greatest part: single literals give the maximum.
        theta = _best_single(problem, parts)
        return BestRatio(_preferred(problem, parts, theta, None), theta, parts.upper.size)
    theta, evaluated = Fraction(0), 0
    while True:
        head = _select(problem, _weights(parts, theta), size)
        evaluated += 1
        upper, lower = _sums(problem, parts, head)
        if upper * theta.denominator <= theta.numerator * lower:
            break
        theta = Fraction(upper, lower)
    return BestRatio(_preferred(problem, parts, theta, size), theta, evaluated)


def _best_single(problem: HeadProblem, parts: RatioParts) -> Fraction:
    first = 0 if problem.absence else 1
    upper, lower = parts.upper[first:].ravel(), parts.lower[first:].ravel()
    best = int(np.argmax(upper / np.maximum(lower, 1)))
    while True:
        u, w = int(upper[best]), int(lower[best])
        # Division rounds: integers decide.
        greater = upper * w > u * lower
        if not greater.any():
            return Fraction(u, w) if w else Fraction(0)
        best = int(np.argmax(greater))


def leading(problem: HeadProblem, parts: RatioParts) -> Mask:
    """The literals that have the greatest ratio alone, by value and label."""
    theta = _best_single(problem, parts)
    reach = (_weights(parts, theta) == 0) & ((parts.lower > 0) | (theta == 0))
    return np.asarray(reach if problem.absence else reach & [[False], [True]], dtype=np.bool_)


def _weights(parts: RatioParts, theta: Fraction) -> Whole:
    return np.asarray(parts.upper * theta.denominator - parts.lower * theta.numerator)


def _select(problem: HeadProblem, weights: Whole, size: int | None) -> Board:
    """The head of greatest weight; of equal ones the preferred."""
    if problem.is_full:
        return problem.as_head(_chosen(weights[1] - weights[0], size, problem.smallest))
    presence = np.ones(problem.n_labels, np.bool_)
    best = weights[1]
    if problem.absence:
        presence = weights[1] >= weights[0]
        best = np.where(presence, weights[1], weights[0])
    chosen = _chosen(best, size, problem.smallest, presence)
    return np.where(chosen, presence, UNSET).astype(np.int8)


def _chosen(gains: Whole, size: int | None, smallest: int, presence: Mask | None = None) -> Mask:
    """The labels of greatest gain: `size` of them, or those that do not lose."""
    if size is None:
        chosen = np.asarray(gains >= 0, dtype=np.bool_)
        if chosen.sum() >= smallest:
            return chosen
        size = smallest
    chosen = np.zeros(len(gains), np.bool_)
    chosen[by_gain(gains, presence)[:size]] = True
    return chosen


def _sums(problem: HeadProblem, parts: RatioParts, head: Board) -> tuple[int, int]:
    labels = np.arange(problem.n_labels)
    if not problem.is_full:
        labels = labels[head != UNSET]
    values = (head[labels] == 1).astype(np.int64)
    return int(parts.upper[values, labels].sum()), int(parts.lower[values, labels].sum())


def _preferred(problem: HeadProblem, parts: RatioParts, theta: Fraction, size: int | None) -> Board:
    """Of all heads that reach the greatest ratio theta the preferred one.

    They are the heads of greatest weight at theta, except that a head with the denominator 0 has
    the ratio 0 by convention; then some literal with a denominator above 0 is needed.
    """
    weights = _weights(parts, theta)
    head = _select(problem, weights, size)
    if theta == 0 or parts.lower.all() or _sums(problem, parts, head)[1] > 0:
        return head
    heads = (_select(problem, forced, size) for forced in _forcing(weights, parts.lower))
    reaching = (head for head in heads if _reaches(problem, parts, theta, head))
    return max(reaching, key=preference)


def _forcing(weights: Whole, lower: Whole) -> Iterator[Whole]:
    """The weights with each literal that has a denominator above 0, in turn, sure to be chosen."""
    bonus = int(abs(weights).sum()) + 1
    for value, label in zip(*np.nonzero(lower), strict=True):
        forced = weights.copy()
        forced[value, label] += bonus
        yield forced


def _reaches(problem: HeadProblem, parts: RatioParts, theta: Fraction, head: Board) -> bool:
    upper, lower = _sums(problem, parts, head)
    return lower > 0 and upper * theta.denominator == theta.numerator * lower


class Scores:
    """The contribution of each literal (value 0 or 1, label): a float and, on demand, exact."""

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
            return Fraction(f"{score:.11e}")  # rounding must not decide between equal scores

    def _exactly(self, c: list[int]) -> Fraction:
        if self.averaging == "macro":
            return self.formula.exact(*c)
        units = [self.formula.exact(*row) for row in _UNITS.tolist()]
        parts = [*c, self.n_rows - sum(c)]
        return sum((n * unit for n, unit in zip(parts, units, strict=True)), Fraction(0))


def _shares(problem: HeadProblem) -> npt.NDArray[Any]:
    """Per value and label: the sum over the rows of right cells by open cells of the row.

    In a full prediction the latter do not depend on the head, so a mean over rows is a sum.
    """
    n_open = problem.is_open.sum(axis=1)[problem.open_rows]
    common = math.lcm(*np.unique(n_open).tolist())
    weight = np.array([common // n for n in n_open.tolist()], dtype=object)
    right = problem.right
    if problem.measure.formula.name == "precision":  # true positives only
        right = right & problem.covered[:, np.newaxis]
    sums = weight @ right[:, problem.open_rows].astype(object)
    return np.array([[Fraction(n, common) for n in row] for row in sums], dtype=object)


_UNITS = np.eye(5, 4, dtype=np.int64)


def unit_values(formula: Formula) -> list[float]:
    """The formula of a single cell that is tp, fp, tn, fn, and of one that does not count."""
    values: list[float] = np.asarray(formula(*_UNITS.T), dtype=np.float64).tolist()
    return values


def best_separable(problem: HeadProblem) -> BestVector:
    """The best head if neither a size bonus nor a limit restricts it."""
    if not problem.is_full:
        absent, present = _reaching(problem)
        head = np.where(present, np.int8(1), np.where(absent, np.int8(0), UNSET))
        return BestVector(head, head.size * (2 if problem.absence else 1))
    present = _wins(Scores(problem))
    if present.sum() < problem.smallest:
        return best_of_sizes(problem)
    return BestVector(problem.as_head(present), 2 * problem.n_labels)


def _reaching(problem: HeadProblem) -> Mask:
    """The literals of the best score, by value and label."""
    if problem.measure.averaging == "macro" and known_formula(problem.measure):
        parts = literal_ratios(problem.measure.formula, problem.counts, problem.n_rows)
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


def best_of_sizes(problem: HeadProblem) -> BestVector:
    """The best head with a size bonus or a limit: the best labels of each size, then the size."""
    scores = Scores(problem)
    table = np.array(
        [[scores.exact(value, label) for label in range(problem.n_labels)] for value in (0, 1)],
        dtype=object,
    )
    return (_full_sizes if problem.is_full else _partial_sizes)(problem, table)


def _partial_sizes(problem: HeadProblem, table: npt.NDArray[Any]) -> BestVector:
    presence = np.array([not problem.absence or p >= a for a, p in table.T], dtype=np.bool_)
    best = np.where(presence, table[1], table[0])
    order = by_gain(best, presence)
    sums = np.cumsum(best[order])
    sizes = range(1, problem.largest + 1)
    size = _best_size(problem, {k: Fraction(sums[k - 1]) / k for k in sizes})
    head = np.full(problem.n_labels, UNSET)
    head[order[:size]] = presence[order[:size]]
    return BestVector(head, problem.largest)


def _full_sizes(problem: HeadProblem, table: npt.NDArray[Any]) -> BestVector:
    gains = table[1] - table[0]
    order = by_gain(gains)
    sums = np.cumsum([sum(table[0], Fraction(0)), *gains[order]])
    size = _best_size(
        problem, {k: Fraction(sums[k]) for k in range(problem.smallest, problem.largest + 1)}
    )
    present = np.zeros(problem.n_labels, np.bool_)
    present[order[:size]] = True
    return BestVector(problem.as_head(present), len(sums))


def _best_size(problem: HeadProblem, values: dict[int, Fraction]) -> int:
    """The size of the greatest value with its bonus, of equal ones the largest."""
    return max(values, key=lambda k: (values[k] * Fraction(problem.factors[k]), k))
