"""Heads for example-based measures whose rows count with all their labels or with none.

Subset accuracy, recall, and full predictions counted plainly. Neither a size bonus nor a limit may
restrict the head, except for subset accuracy of full predictions and for plain counting.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.search.heads.problem import BestVector, HeadProblem, by_gain, preference
from labelrules.search.heads.size_bonus import no_bonus


def best_satisfied(problem: HeadProblem) -> BestVector:
    """Partial subset accuracy: the largest group of literals right on the same rows.

    A head is right on the rows on which all its literals are. No head is right on more rows
    than the best literal, and only literals right on the very same rows keep that number.
    """
    satisfied = np.ascontiguousarray(problem.right.transpose(0, 2, 1))
    sizes = satisfied.sum(axis=2)
    allowed = sizes if problem.absence else sizes[1:]
    groups: dict[bytes, Board] = {}
    for value, label in np.argwhere(sizes == allowed.max()).tolist():
        if value or problem.absence:
            rows = satisfied[value, label].tobytes()
            head = groups.setdefault(rows, np.full(problem.n_labels, UNSET))
            head[label] = value  # presence comes after absence and replaces it
    return BestVector(max(groups.values(), key=preference), allowed.size)


def most_frequent(problem: HeadProblem) -> BestVector:
    """Full subset accuracy: for each size the label vector that is right on most rows."""
    absent, present = problem.right[:, problem.open_rows]
    # In a row that counts each label is right with one value, or with both whatever is predicted.
    always = int((absent & present).all(axis=1).sum())
    agreeing = count_rows(present[(absent != present).all(axis=1)])

    def key(vector: bytes) -> tuple[Fraction | int, int, bytes]:
        """The value with its bonus, then the tie rule: most presences, then the earliest."""
        size, n_rows = vector.count(1), always + agreeing[vector]
        plain = problem.size_bonus is no_bonus
        return n_rows if plain else n_rows * Fraction(problem.factors[size]), size, vector

    sizes = range(problem.smallest, problem.largest + 1)
    fitting = (vector for vector in agreeing if vector.count(1) in sizes)
    best = max(chain(fitting, _first_of_sizes(problem)), key=key)
    return BestVector(problem.as_head(np.frombuffer(best, dtype=np.bool_)), len(agreeing))


def count_rows(rows: Mask | Board) -> Counter[bytes]:
    """How often each different row occurs; its bytes are its cells."""
    cells, n = rows.tobytes(), rows.shape[1]
    return Counter(cells[start : start + n] for start in range(0, len(cells), n))


def _first_of_sizes(problem: HeadProblem) -> Iterator[bytes]:
    """The preferred prediction of each size, if no row agrees; the largest without a size bonus."""
    smallest = problem.largest if problem.size_bonus is no_bonus else problem.smallest
    for size in range(smallest, problem.largest + 1):
        yield bytes([1] * size + [0] * (problem.n_labels - size))


def rarest_opposite(problem: HeadProblem) -> BestVector:
    """Example-based recall: the vector that is wrong throughout on the fewest covered rows.

    A row is lost only if it is the exact opposite of the prediction, so one more vector than there
    are different rows suffices to include a best one.
    """
    if not problem.absence and not problem.is_full:
        return BestVector(np.ones(problem.n_labels, np.int8), 1)
    rows = problem.Y[problem.covered & problem.open_rows] == 1
    lost = count_rows(~rows)
    best: tuple[int, Mask] | None = None
    evaluated = 0
    for vector in islice(_by_preference(problem), len(lost) + 1):
        evaluated += 1
        n_lost = lost[vector.tobytes()]
        if best is None or n_lost < best[0]:
            best = (n_lost, vector)
        if n_lost == 0:
            break
    assert best is not None
    return BestVector(problem.as_head(best[1]), evaluated)


def _by_preference(problem: HeadProblem) -> Iterator[Mask]:
    """All predictions, those with most presences and earliest labels first."""
    fewest = 0 if problem.absence else 1
    for n_absent in range(problem.n_labels - fewest + 1):
        for absent in _latest(0, problem.n_labels, n_absent):
            vector = np.ones(problem.n_labels, np.bool_)
            vector[list(absent)] = False
            yield vector


def _latest(start: int, stop: int, size: int) -> Iterator[tuple[int, ...]]:
    """Increasing numbers from a range, those with the latest first number first."""
    if size == 0:
        yield ()
        return
    for first in range(stop - size, start - 1, -1):
        for rest in _latest(first + 1, stop, size - 1):
            yield first, *rest


def best_by_size(problem: HeadProblem) -> BestVector:
    """Full predictions counted plainly: for each size the labels of greatest weight (GFM).

    A row with s labels, t of them among the k of the head, has the F (1 + b) t / (b s + k). For
    heads of one size that is a sum over their labels, so the best head of a size has the labels of
    greatest weight. Precision (t / k) and recall (t / s) are of the same kind. K. Dembczyński,
    W. Waegeman, W. Cheng and E. Hüllermeier, "An exact algorithm for F-measure maximization",
    NIPS 2011.
    """
    rows = problem.Y[problem.covered & problem.open_rows]
    best = {
        size: _best_of_size(problem, rows, size)
        for size in range(problem.smallest, problem.largest + 1)
    }

    def key(size: int) -> tuple[Any, ...]:
        value, head = best[size]
        return value * Fraction(problem.factors[size]), preference(head)

    return BestVector(best[max(best, key=key)][1], len(best))


def _best_of_size(problem: HeadProblem, rows: Board, size: int) -> tuple[Fraction, Board]:
    weights = _weights(problem, rows, size)
    chosen = by_gain(weights)[:size]
    present = np.zeros(problem.n_labels, np.bool_)
    present[chosen] = True
    value = sum((Fraction(weights[label]) for label in chosen), Fraction(0))
    return value, problem.as_head(present)


def _weights(problem: HeadProblem, rows: Board, size: int) -> npt.NDArray[Any]:
    """What each label adds to the sum over the rows, exactly, if the head has this size."""
    n = problem.n_labels
    # How many rows have the label, by the number of labels that the row has.
    n_present: Integers = rows.sum(axis=1)
    by_size = np.zeros((n + 1, n), np.int64)
    np.add.at(by_size, n_present, rows)
    formula = problem.measure.formula
    name, b = formula.name, Fraction(repr(formula.parameter or 0.0)) ** 2
    if size == 0:
        return np.zeros(n, dtype=object)
    if name == "precision":
        worth = [Fraction(1, size)] * (n + 1)
    elif name == "recall":
        worth = [Fraction(1, max(s, 1)) for s in range(n + 1)]
    else:
        worth = [(1 + b) / (b * s + size) for s in range(n + 1)]
    return np.asarray(np.array(worth, dtype=object) @ by_size.astype(object))
