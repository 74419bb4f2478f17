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
from labelrules.search.heads.problem import HeadProblem, preference
from labelrules.search.heads.size_bonus import no_lift


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

    def key(present: bytes) -> tuple[Fraction | int, int, bytes]:
        """The lifted value, then the tie rule: most presences, then the earliest."""
        size, n_rows = present.count(1), constant + agreeing[present]
        lifted = n_rows if problem.lift is no_lift else n_rows * Fraction(problem.factors[size])
        return lifted, size, present

    sizes = range(problem.smallest, problem.largest + 1)
    fitting = (present for present in agreeing if present.count(1) in sizes)
    best = max(chain(fitting, _first_of_sizes(problem)), key=key)
    return VectorFound(problem.as_head(np.frombuffer(best, dtype=np.bool_)), len(agreeing))


def _agreeing(problem: HeadProblem) -> Counter[bytes]:
    """How many rows each prediction is right on.

    They are the covered rows as they are and, head-relative, the uncovered ones turned round.
    """
    is_open = problem.is_open.any(axis=1)
    vectors = problem.Y == 1
    rows = count_rows(vectors[problem.covered & is_open])
    if problem.convention == "head-relative":
        rows.update(count_rows(~vectors[~problem.covered & is_open]))
    return rows


def count_rows(rows: Mask | Board) -> Counter[bytes]:
    """How often each different row occurs; its bytes are its cells."""
    cells, n = rows.tobytes(), rows.shape[1]
    return Counter(cells[start : start + n] for start in range(0, len(cells), n))


def _always_right(problem: HeadProblem) -> int:
    """Uncovered rows without labels are right in the chapter's counting, whatever the head."""
    if problem.convention == "head-relative":
        return 0
    outside = ~problem.covered & problem.is_open.any(axis=1)
    return int((problem.Y[outside] == 0).all(axis=1).sum())


def _first_of_sizes(problem: HeadProblem) -> Iterator[bytes]:
    """The preferred prediction of each size, for when no row agrees with one of that size.

    Without a lift they are equally good then, and the largest is enough.
    """
    smallest = problem.largest if problem.lift is no_lift else problem.smallest
    for size in range(smallest, problem.largest + 1):
        yield bytes([1] * size + [0] * (problem.n_labels - size))


def rarest_opposite(problem: HeadProblem) -> VectorFound:
    """Example-based recall: the vector that is wrong throughout on the fewest covered rows.

    A covered row counts as soon as one of its labels is right. A row is lost only if it is the
    exact opposite of the prediction, so among one more vectors than there are different rows
    some vector loses nothing that can be kept.
    """
    if not problem.absence and not problem.is_full:
        return VectorFound(np.ones(problem.n_labels, np.int8), 1)
    rows = problem.Y[problem.covered & problem.is_open.any(axis=1)] == 1
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
