"""Heads for example-based measures by branch and bound: F with tangents, and the general search.

With x the share of right labels in a covered row, its F is phi(x) = (1 + b) x / (1 + b x),
b = beta squared: concave, so a tangent at any point lies above it. Summed over the rows the
tangents are linear in the literals of the head, and sorting gives the best head of a size for a
linear sum. That bounds all heads of the size; moving the tangent points towards that head
(Frank-Wolfe) tightens the bound, and each such head is a candidate. What the bound leaves undecided
is split on a label that the tangents disagree about. Values are means over the covered rows times
the size bonus as a share of the greatest: between 0 and 1, so that one tolerance fits all.
"""

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labelrules._types import UNSET, Board, Floats
from labelrules.measures import cells
from labelrules.search.heads.problem import BestVector, HeadProblem, preference, right_cells
from labelrules.search.heads.whole_rows import count_rows

if TYPE_CHECKING:
    from labelrules.kernels.heads import DistinctRows, HeadSpace

TINY = 1e-12
"""Values closer than this are equal; then the preferred head is kept."""

STEPS = 12
"""Tangent moves per node at most."""

PATIENCE = 5
"""Sizes that a greedy head may grow without getting better."""

FREE = np.int8(-2)
"""A label that a node has not decided; otherwise 0, 1 or `UNSET`."""


class _Node(NamedTuple):
    """Heads of one size (None: any size) that agree with what is decided."""

    priority: float
    number: int
    size: int | None
    decided: Board
    point: Floats
    label: int
    """The next label to decide."""


class _Rows:
    """The different covered rows: what is right where, and how often."""

    def __init__(self, problem: HeadProblem) -> None:
        inside = problem.Y[problem.covered & problem.open_rows]
        self.n_rows = len(inside)
        different = count_rows(inside)
        shape = (len(different), problem.n_labels)
        cells = np.frombuffer(b"".join(different), np.int8).reshape(shape)
        self.present: Floats = cells.astype(np.float64)
        self.weight: Floats = np.array(list(different.values()), dtype=np.float64) / len(inside)
        self.b = float(problem.measure.formula.parameter or 0.0) ** 2

    def value(self, share: Floats) -> float:
        """The mean of F, given the share of right labels in each row."""
        return float(self.weight @ ((1 + self.b) * share / (1 + self.b * share)))

    def slopes(self, share: Floats) -> Floats:
        """The weighted slopes of the tangents."""
        return np.asarray(self.weight * (1 + self.b) / (1 + self.b * share) ** 2)

    def step(self, start: Floats, end: Floats) -> float:
        """How far to go from one point towards another to where F is greatest (bisection)."""
        step = end - start
        if self.slopes(end) @ step >= 0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            rising = self.slopes(start + middle * step) @ step > 0
            low, high = (middle, high) if rising else (low, middle)
        return low


def best_f(problem: HeadProblem, max_nodes: int) -> BestVector:
    """The best head for example-based F when each row counts with all its labels or none."""
    return _TangentSearch(problem).run(max_nodes)


class _TangentSearch:
    def __init__(self, problem: HeadProblem) -> None:
        self.problem = problem
        self.rows = _Rows(problem)
        self.unit = max(problem.factors)
        self.factors = [factor / self.unit for factor in problem.factors]
        self.best = -1.0
        self.head: Board = np.full(problem.n_labels, UNSET)
        self.key = preference(self.head)
        self.nodes = 0

    def run(self, max_nodes: int) -> BestVector:
        self.greedy()
        heap: list[_Node] = []
        point = np.full(len(self.rows.weight), 0.5)
        for size in self.sizes():
            node = self.node(size, np.full(self.problem.n_labels, FREE), point)
            heap += [node] if node else []
            point = node.point if node else point
        heapq.heapify(heap)
        while heap and self.nodes < max_nodes:
            node = heapq.heappop(heap)
            if not self.closed(-node.priority, node.size, node.decided):
                for child in self.children(node):
                    heapq.heappush(heap, child)
        gap = -heap[0].priority - self.best if heap else 0.0
        unit = self.unit * self.rows.n_rows / self.problem.n_rows
        return BestVector(self.head, self.nodes, gap * unit if gap > TINY else 0.0)

    def sizes(self) -> list[int | None]:
        """The sizes to search one by one; full predictions only with a size bonus or a limit."""
        if self.problem.is_full and self.problem.is_unrestricted:
            return [None]
        return list(range(self.problem.largest, self.problem.smallest - 1, -1))

    def greedy(self) -> None:
        """Heads that grow by the literal that helps most: something to measure bounds by."""
        if self.problem.is_full:
            return
        rows, n = self.rows, self.problem.n_labels
        right = np.hstack([1 - rows.present, rows.present])
        if not self.problem.absence:
            right[:, :n] = 0
        free = np.ones(2 * n, dtype=np.bool_)
        free[:n] = self.problem.absence
        total, head, since = np.zeros(len(rows.weight)), np.full(n, UNSET), 0
        for size in range(1, self.problem.largest + 1):
            share = (total[:, np.newaxis] + right) / size
            values = rows.weight @ ((1 + rows.b) * share / (1 + rows.b * share))
            best = int(np.argmax(np.where(free, values, -1.0)))
            total += right[:, best]
            head[best % n] = best // n
            free[[best % n, best % n + n]] = False
            before = self.best
            self.offer(head.copy(), float(values[best]) * self.factors[size])
            since = 0 if self.best > before else since + 1
            if since > PATIENCE:
                return

    def node(
        self, size: int | None, decided: Board, point: Floats, bound: float = np.inf
    ) -> _Node | None:
        """The node of a decision, or None if nothing in it can be better than the best head."""
        self.nodes += 1
        factor = 1.0 if size is None else self.factors[size]
        mean: Floats | None = None
        for _ in range(STEPS):
            slopes = self.rows.slopes(point)
            chosen, linear = self.oracle(size, decided, slopes)
            share = self.shares(chosen)
            here, there = self.rows.value(point), self.rows.value(share)
            bound = min(bound, float(here - slopes @ point + linear) * factor)
            self.offer(self.as_head(chosen), there * factor)
            if bound <= there * factor + TINY or self.closed(bound, size, decided):
                return None
            if mean is None:
                # The tangents given come from other heads; from here on move among these.
                mean, point = chosen.astype(np.float64), share
                continue
            step = self.rows.step(point, share)
            mean = mean + step * (chosen - mean)
            point = point + step * (share - point)
        label = self.least_certain_label(decided, mean)
        return _Node(-bound, self.nodes, size, decided, point, label)

    def oracle(self, size: int | None, decided: Board, slopes: Floats) -> tuple[Board, float]:
        """Which head has the greatest sum of slopes of its right cells: 2 x labels of 0 and 1."""
        present = slopes @ self.rows.present
        absent = float(slopes.sum()) - present
        if self.problem.is_full:
            return _choose_full(size, decided, present, absent, self.problem.smallest)
        return _choose_partial(size or 1, decided, present, absent, self.problem.absence)

    def shares(self, chosen: Board) -> Floats:
        """The share of right labels in each row."""
        absent, present = chosen
        right = self.rows.present @ (present - absent.astype(np.float64)) + absent.sum()
        return np.asarray(right / max(int(chosen.sum()), 1))

    def as_head(self, chosen: Board) -> Board:
        if self.problem.is_full:
            return self.problem.as_head(chosen[1] == 1)
        return np.where(chosen[1] == 1, 1, np.where(chosen[0] == 1, 0, UNSET)).astype(np.int8)

    def offer(self, head: Board, value: float) -> None:
        """Keep a head that is better, or as good and preferred."""
        if value < self.best - TINY:
            return
        key = preference(head)
        if value > self.best + TINY or key > self.key:
            self.best, self.head, self.key = max(value, self.best), head, key

    def closed(self, bound: float, size: int | None, decided: Board) -> bool:
        """Whether no head of a node is better than the best, nor as good and preferred."""
        if bound > self.best + TINY:
            return False
        return bound < self.best - TINY or self.most_preferred(size, decided) <= self.key

    def most_preferred(self, size: int | None, decided: Board) -> tuple[Any, ...]:
        """A preference that no head of a node exceeds: whatever is open is present."""
        head = np.where(decided == FREE, np.int8(1), decided)
        if self.problem.is_full:
            head = self.problem.as_head(head == 1)
        n_said, n_present, order = preference(head)
        if size is None:
            return n_said, n_present, order
        if not (self.problem.is_full and self.problem.absence):
            n_said = min(n_said, size)
        return n_said, min(n_present, size), order

    def least_certain_label(self, decided: Board, mean: Floats | None) -> int:
        """The open label on which the heads read off agree least."""
        assert mean is not None
        silent = 1 - mean.sum(axis=0)
        agreement = np.maximum(np.maximum(mean[0], mean[1]), silent)
        return int(np.argmin(np.where(decided == FREE, agreement, np.inf)))

    def children(self, node: _Node) -> Iterator[_Node]:
        values = [1, 0] if self.problem.is_full or self.problem.absence else [1]
        for value in values if self.problem.is_full else [*values, int(UNSET)]:
            decided = node.decided.copy()
            decided[node.label] = value
            if self.feasible(node.size, decided):
                child = self.node(node.size, decided, node.point, -node.priority)
                if child is not None:
                    yield child

    def feasible(self, size: int | None, decided: Board) -> bool:
        if size is None:
            return bool((decided != 0).sum() >= self.problem.smallest)
        sure = decided == 1 if self.problem.is_full else (decided == 1) | (decided == 0)
        return bool(sure.sum() <= size <= (sure | (decided == FREE)).sum())


def _choose_partial(
    size: int, decided: Board, present: Floats, absent: Floats, absence: bool
) -> tuple[Board, float]:
    """`size` literals, those decided and the best others."""
    value = (_rounded(present) >= _rounded(absent)) | (not absence)
    fixed = (decided == 0) | (decided == 1)
    value = np.where(fixed, decided == 1, value)
    gain = np.where(value, present, absent)
    rank = np.where(fixed, np.inf, np.where(decided == UNSET, -np.inf, _rounded(gain)))
    labels = np.lexsort((~value, -rank))[:size]
    chosen = np.zeros((2, len(decided)), np.int8)
    chosen[value[labels].astype(np.int64), labels] = 1
    return chosen, float(gain[labels].sum()) / size


def _choose_full(
    size: int | None, decided: Board, present: Floats, absent: Floats, smallest: int
) -> tuple[Board, float]:
    """Every label, `size` of them present (None: wherever presence is as good)."""
    gain = present - absent
    rank = np.where(decided == 1, np.inf, np.where(decided == 0, -np.inf, _rounded(gain)))
    chosen = np.zeros((2, len(decided)), np.int8)
    if size is None and (rank >= 0).sum() >= smallest:
        chosen[1] = rank >= 0
    else:
        size = smallest if size is None else size
        chosen[1, np.argsort(-rank, kind="stable")[:size]] = 1
    chosen[0] = 1 - chosen[1]
    return chosen, float((chosen * [absent, present]).sum()) / len(decided)


def _rounded(gains: Floats) -> Floats:
    """Gains that differ by rounding errors only are equal, so that ties fall to the preferred."""
    return np.round(gains, 13)


def best_general(problem: HeadProblem, max_nodes: int) -> BestVector:
    """The best head for example-based averaging: any formula, board, limit and size bonus."""
    from labelrules.kernels.heads import search_heads

    space = _space(problem)
    rows, share = _rows(problem, space.worth)
    head = _start(problem, rows, space)
    value, missed, nodes = search_heads(rows, space, head, max_nodes)
    vector = np.where(head == 2, UNSET, head).astype(np.int8)
    if problem.is_full and not problem.absence:
        vector = problem.as_head(head == 1)
    gap = max(float(missed - value), 0.0) * share * max(problem.factors[: problem.largest + 1])
    return BestVector(vector, int(nodes), gap)


def _start(problem: HeadProblem, rows: "DistinctRows", space: "HeadSpace") -> Board:
    """A good head to begin with: the best that a large, a majority and a small one grow into."""
    from labelrules.kernels.heads import climb

    heads = list(_seeds(problem, rows, space))
    values = [climb(head, rows, space) for head in heads]
    return heads[int(np.argmax(values))]


def _seeds(problem: HeadProblem, rows: "DistinctRows", space: "HeadSpace") -> Iterator[Board]:
    from labelrules.kernels.heads import head_value

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
    yield max(singles, key=lambda head: float(head_value(head, rows, space)))


def _rows(problem: HeadProblem, worth: Floats) -> tuple["DistinctRows", float]:
    """Distinct rows that can be worth something, with weights, and their share of all rows."""
    from labelrules.kernels.heads import DistinctRows

    kind = np.where(problem.is_open, problem.Y, np.int8(2))
    keyed = np.column_stack([problem.covered.astype(np.int8), kind])
    if not worth[1].any():
        keyed = keyed[problem.covered]
    different, times = np.unique(keyed, axis=0, return_counts=True)
    covered, Y = different[:, 0] == 1, different[:, 1:]
    is_open = Y != 2
    right = right_cells(cells(Y, covered, np.where(is_open, UNSET, np.int8(0))), problem.counting)
    effect = np.where(is_open, np.where(right, 1, -1), 0).astype(np.int8)
    silent = effect[0] if problem.is_full else np.zeros_like(effect[0])
    effects = np.ascontiguousarray(np.stack([*effect, silent]).transpose(0, 2, 1))
    rows = DistinctRows(effects, times / max(len(keyed), 1), (~covered).astype(np.int64))
    return rows, len(keyed) / problem.n_rows


def _space(problem: HeadProblem) -> "HeadSpace":
    from labelrules.kernels.heads import HeadSpace

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
