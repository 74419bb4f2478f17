"""Heads for ratios: maximise a sum of parts over a sum of wholes, exactly.

Every micro-averaged measure is a ratio of two sums over the labels of the head. Dinkelbach's
method finds its maximum: at a guess theta take the literals for which part - theta * whole is
greatest; their ratio is the next guess; when it no longer rises, it is the maximum. Everything
is done in integers, and the last step settles ties.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Mask
from labelrules.measures import Confusion, Formula
from labelrules.search.heads.problem import HeadProblem, preference

RATIOS = frozenset({"precision", "recall", "hamming", "f"})
"""Formulas that are one sum over another in micro-averaging."""

Whole = npt.NDArray[Any]
"""Integers per value (0, 1) and label, of 64 bits or, where these may not do, Python's own."""


class RatioParts(NamedTuple):
    """What each literal adds to the upper and to the lower sum of the ratio."""

    upper: Whole
    lower: Whole


class RatioFound(NamedTuple):
    """The best head, its ratio, and how many heads were looked at."""

    head: Board
    ratio: Fraction
    evaluated: int


def parts_of(formula: Formula, counts: Confusion, n_rows: int) -> RatioParts:
    """Numerator and denominator of the formula for every literal, as integers."""
    p, q = _weights_of(formula)
    c = _with_room(counts, (p + q) * n_rows)
    if formula.name == "hamming":
        return RatioParts(c.tp + c.tn, c.tp + c.fp + c.tn + c.fn)
    upper = (p + q) * c.tp
    return RatioParts(upper, upper + p * c.fn + q * c.fp)


def _weights_of(formula: Formula) -> tuple[int, int]:
    """What false negatives and false positives weigh: beta squared, as a fraction."""
    if formula.name != "f":
        return (1, 0) if formula.name == "recall" else (0, 1)
    return (Fraction(repr(formula.parameter)) ** 2).as_integer_ratio()


def _with_room(c: Confusion, largest: int) -> Confusion:
    """The counts in Python's integers where sums of products may need more than 64 bits."""
    if (largest * c.tp.shape[-1]) ** 2 < 2**60:
        return c
    return Confusion(*(part.astype(object) for part in c))


def best_ratio(problem: HeadProblem, parts: RatioParts, size: int | None = None) -> RatioFound:
    """The head of the greatest ratio, of any size or of one size."""
    if size is None and not problem.is_full:
        # A mediant is no greater than its greatest part: single literals give the maximum.
        theta = _best_single(problem, parts)
        return RatioFound(_preferred(problem, parts, theta, None), theta, parts.upper.size)
    theta, evaluated = Fraction(0), 0
    while True:
        head = _select(problem, _weights(parts, theta), size)
        evaluated += 1
        upper, lower = _sums(problem, parts, head)
        if upper * theta.denominator <= theta.numerator * lower:
            break
        theta = Fraction(upper, lower)
    return RatioFound(_preferred(problem, parts, theta, size), theta, evaluated)


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
    last = np.zeros(len(gains), np.int64) if presence is None else (~presence).astype(np.int64)
    order = sorted(range(len(gains)), key=lambda i: (-gains[i], last[i], i))
    chosen = np.zeros(len(gains), np.bool_)
    chosen[order[:size]] = True
    return chosen


def _sums(problem: HeadProblem, parts: RatioParts, head: Board) -> tuple[int, int]:
    labels = np.arange(problem.n_labels)
    if not problem.is_full:
        labels = labels[head != UNSET]
    values = (head[labels] == 1).astype(np.int64)
    return int(parts.upper[values, labels].sum()), int(parts.lower[values, labels].sum())


def _preferred(problem: HeadProblem, parts: RatioParts, theta: Fraction, size: int | None) -> Board:
    """Of all heads that reach the greatest ratio theta the preferred one.

    They are the heads of greatest weight at theta, except that a head whose whole is 0 has the
    ratio 0 by convention; then some literal with a whole has to be let in.
    """
    weights = _weights(parts, theta)
    head = _select(problem, weights, size)
    if theta == 0 or parts.lower.all() or _sums(problem, parts, head)[1] > 0:
        return head
    wholes = (_select(problem, forced, size) for forced in _forcing(problem, weights, parts.lower))
    reaching = (h for h in wholes if _reaches(problem, parts, theta, h))
    return max(reaching, key=preference)


def _forcing(problem: HeadProblem, weights: Whole, lower: Whole) -> Iterator[Whole]:
    """The weights with each literal that has a whole, in turn, made irresistible."""
    bonus = int(abs(weights).sum()) + 1
    for value, label in zip(*np.nonzero(lower), strict=True):
        forced = weights.copy()
        forced[value, label] += bonus
        yield forced


def _reaches(problem: HeadProblem, parts: RatioParts, theta: Fraction, head: Board) -> bool:
    upper, lower = _sums(problem, parts, head)
    return lower > 0 and upper * theta.denominator == theta.numerator * lower
