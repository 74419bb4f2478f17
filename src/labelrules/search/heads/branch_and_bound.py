"""The general head search: branch and bound on rows that count cell by cell."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from labelrules._types import UNSET, Board, Floats, Mask
from labelrules.search.heads.problem import HeadProblem

if TYPE_CHECKING:
    from labelrules.kernels.branch import DistinctRows, HeadSpace


class GeneralFound(NamedTuple):
    """The best head found, how many were looked at, and how much better another could be."""

    head: Board
    evaluated: int
    gap: float


def best_general(problem: HeadProblem, max_nodes: int) -> GeneralFound:
    """The best head for example-based averaging, whatever the formula, board, limit or lift."""
    from labelrules.kernels.branch import search

    space = _space(problem)
    rows, share = _rows(problem, space.worth)
    head = _start(problem, rows, space)
    value, missed, nodes = search(rows, space, head, max_nodes)
    found = np.where(head == 2, UNSET, head).astype(np.int8)
    if problem.is_full and not problem.absence:
        found = problem.as_head(head == 1)
    gap = max(float(missed - value), 0.0) * share * max(problem.factors[: problem.largest + 1])
    return GeneralFound(found, int(nodes), gap)


def _start(problem: HeadProblem, rows: "DistinctRows", space: "HeadSpace") -> Board:
    """A good head to begin with: the best that a large, a majority and a small one grow into."""
    from labelrules.kernels.branch import climb

    heads = list(_seeds(problem, rows, space))
    values = [climb(head, rows, space) for head in heads]
    return heads[int(np.argmax(values))]


def _seeds(problem: HeadProblem, rows: "DistinctRows", space: "HeadSpace") -> Iterator[Board]:
    from labelrules.kernels.branch import value_of

    n, rest = problem.n_labels, np.int8(0 if problem.is_full else 2)
    yield np.where(np.arange(n) < problem.largest, np.int8(1), rest)
    inside = problem.is_open & problem.covered[:, np.newaxis]
    ones = (inside & (problem.Y == 1)).sum(axis=0)
    gains = ones - (inside & (problem.Y == 0)).sum(axis=0)
    order = np.argsort(-gains, kind="stable")[: problem.largest]
    n_won = min(max(int((gains[order] > 0).sum()), problem.smallest), problem.largest)
    majority = np.full(n, rest)
    majority[order[:n_won]] = 1
    yield majority
    values = (1, 0) if problem.absence and not problem.is_full else (1,)
    singles = [np.full(n, rest) for _ in range(n * len(values))]
    for number, single in enumerate(singles):
        single[number % n] = values[number // n]
    yield max(singles, key=lambda head: float(value_of(head, rows, space)))


def _rows(problem: HeadProblem, worth: Floats) -> tuple["DistinctRows", float]:
    """Rows that can be worth something, and their share of all rows.

    Rows that are alike are counted once, with their number as weight.
    """
    from labelrules.kernels.branch import DistinctRows

    kind = np.where(problem.is_open, problem.Y, 2).astype(np.int8)
    keyed = np.column_stack([problem.covered.astype(np.int8), kind])
    if not worth[1].any():
        keyed = keyed[problem.covered]
    different, times = np.unique(keyed, axis=0, return_counts=True)
    covered, cells = different[:, :1] == 1, different[:, 1:]
    right = np.stack([_right(problem, covered, cells, value) for value in (0, 1)])
    effect = np.where(cells == 2, 0, np.where(right, 1, -1)).astype(np.int8)
    silent = effect[0] if problem.is_full else np.zeros_like(effect[0])
    effects = np.stack([effect[0], effect[1], silent]).transpose(0, 2, 1)
    rows = DistinctRows(
        np.ascontiguousarray(effects),
        times / max(len(keyed), 1),
        (~covered[:, 0]).astype(np.int64),
    )
    return rows, len(keyed) / problem.n_rows


def _right(problem: HeadProblem, covered: Mask, cells: Board, value: int) -> Mask:
    """Where saying a value is right: a true positive inside, a true negative outside."""
    outside = cells == 0 if problem.convention == "chapter" else cells != value
    return np.asarray(np.where(covered, cells == value, outside))


def _space(problem: HeadProblem) -> "HeadSpace":
    from labelrules.kernels.branch import HeadSpace

    worth = _worth(problem)
    rises = bool((np.diff(worth, axis=1) >= 0).all() and (np.diff(worth, axis=2) <= 0).all())
    flipped = worth[:, ::-1, ::-1]
    reach = np.maximum.accumulate(np.maximum.accumulate(flipped, axis=1), axis=2)[:, ::-1, ::-1]
    partial = [1, 0, 2] if problem.absence else [1, 2]
    choices = [1, 0] if problem.is_full else partial
    return HeadSpace(
        np.array(choices, np.int8),
        problem.is_full,
        problem.smallest,
        problem.largest,
        np.array(problem.factors) / max(problem.factors),
        worth,
        np.ascontiguousarray(reach),
        rises,
    )


def _worth(problem: HeadProblem) -> Floats:
    """The formula for every number of right and wrong cells, in covered and uncovered rows."""
    n = problem.n_labels
    right, wrong = (grid.ravel() for grid in np.indices((n + 1, n + 1)))
    zero = np.zeros_like(right)
    formula = problem.measure.formula
    tables = [formula(right, wrong, zero, zero), formula(zero, zero, right, wrong)]
    return np.array(tables, dtype=np.float64).reshape(2, n + 1, n + 1)
