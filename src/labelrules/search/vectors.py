"""Heads for measures that look at whole rows: subset accuracy and example-based recall.

They hold as long as each row counts with all its labels or with none, and neither lift nor
limit restrain the head; subset accuracy of full predictions takes both.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from labelrules._types import UNSET, Board, Mask
from labelrules.search.problem import HeadProblem, preference


class VectorFound(NamedTuple):
    """The best head and how many heads were looked at."""

    head: Board
    evaluated: int


def best_satisfied(problem: HeadProblem) -> VectorFound:
    """Partial subset accuracy: the largest group of literals right on the same rows.

    A head is right on the rows on which all its literals are. No head is right on more rows
    than the best literal, and only literals right on the very same rows keep that number.
    """
    satisfied = _satisfied(problem)
    sizes = satisfied.sum(axis=2)
    allowed = sizes if problem.absence else sizes[1:]
    groups: dict[bytes, Board] = {}
    for value, label in np.argwhere(sizes == allowed.max()).tolist():
        if value or problem.absence:
            rows = satisfied[value, label].tobytes()
            head = groups.setdefault(rows, np.full(problem.n_labels, UNSET))
            head[label] = value  # presence comes after absence and replaces it
    return VectorFound(max(groups.values(), key=preference), allowed.size)


def _satisfied(problem: HeadProblem) -> Mask:
    """For each value and label: the open rows on which the literal does no harm."""
    is_open: Mask = np.asarray(problem.is_open.any(axis=1))
    right = np.stack([problem.Y == 0, problem.Y == 1])
    if problem.convention == "chapter":
        harmless = np.stack([problem.Y == 0, problem.Y == 0])
    else:
        harmless = ~right
    rows = np.where(problem.covered[:, np.newaxis], right, harmless) & is_open[:, np.newaxis]
    return np.ascontiguousarray(rows.transpose(0, 2, 1))


def most_frequent(problem: HeadProblem) -> VectorFound:
    """Full subset accuracy: for each size the label vector that most rows agree with."""
    agreeing = _agreeing(problem)
    constant = _always_right(problem)
    factors = [Fraction(factor) for factor in problem.factors]
    best, found = Fraction(-1), np.full(problem.n_labels, UNSET)
    for present, n_rows in chain(_preferred_of_sizes(problem, agreeing), agreeing.items()):
        size = present.count(1)
        value = (constant + n_rows) * factors[size]
        if value < best or not problem.smallest <= size <= problem.largest:
            continue
        head = problem.as_head(np.frombuffer(present, dtype=np.bool_))
        if value > best or preference(head) > preference(found):
            best, found = value, head
    return VectorFound(found, len(agreeing))


def _agreeing(problem: HeadProblem) -> Counter[bytes]:
    """How many rows each prediction is right on.

    They are the covered rows as they are and, head-relative, the uncovered ones turned round.
    """
    is_open = problem.is_open.any(axis=1)
    vectors = problem.Y == 1
    rows = Counter(row.tobytes() for row in vectors[problem.covered & is_open])
    if problem.convention == "head-relative":
        rows.update(row.tobytes() for row in ~vectors[~problem.covered & is_open])
    return rows


def _always_right(problem: HeadProblem) -> int:
    """Uncovered rows without labels are right in the chapter's counting, whatever the head."""
    if problem.convention == "head-relative":
        return 0
    outside = ~problem.covered & problem.is_open.any(axis=1)
    return int((problem.Y[outside] == 0).all(axis=1).sum())


def _preferred_of_sizes(
    problem: HeadProblem, agreeing: Counter[bytes]
) -> Iterator[tuple[bytes, int]]:
    """A prediction of every size, for when no row agrees with one of that size."""
    for size in range(problem.smallest, problem.largest + 1):
        first = (np.arange(problem.n_labels) < size).tobytes()
        yield first, agreeing[first]


def rarest_opposite(problem: HeadProblem) -> VectorFound:
    """Example-based recall: the vector that is wrong throughout on the fewest covered rows.

    A covered row counts as soon as one of its labels is right. A row is lost only if it is the
    exact opposite of the prediction, so among one more vectors than there are different rows
    some vector loses nothing that can be kept.
    """
    if not problem.absence and not problem.is_full:
        return VectorFound(np.ones(problem.n_labels, np.int8), 1)
    rows = problem.Y[problem.covered & problem.is_open.any(axis=1)] == 1
    lost = Counter((~row).tobytes() for row in rows)
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
    return VectorFound(problem.as_head(best[1]), evaluated)


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
