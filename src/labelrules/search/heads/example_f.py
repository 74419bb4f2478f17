"""Example-based F: branch and bound with tangents.

With x the share of right labels in a covered row, its F is phi(x) = (1 + b) x / (1 + b x),
b = beta squared: concave, so a tangent at any point lies above it. Summed over the rows the
tangents are linear in the literals of the head, and the best head of a size for a linear sum is
read off by sorting. That bounds all heads of the size; moving the tangent points towards the
head just read off (Frank-Wolfe) tightens the bound, and each head read off is a candidate.
What the bound leaves undecided is split on a label that the tangents disagree about.

Values are means over the covered rows times the lift as a share of the greatest, so that they
are between 0 and 1 and one tolerance fits all.
"""

import heapq
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.search.heads.problem import HeadProblem, preference
from labelrules.search.heads.whole_rows import count_rows

TINY = 1e-12
"""Values closer than this are equal; then the preferred head is kept."""

STEPS = 12
"""Tangent moves per node at most."""

PATIENCE = 5
"""Sizes that a greedy head may grow without getting better."""

FREE = np.int8(-2)
"""A label that a node has not decided; otherwise 0, 1 or `UNSET`."""


class TangentFound(NamedTuple):
    """The best head found, nodes visited, and how much better another could be."""

    head: Board
    evaluated: int
    gap: float


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
        inside = problem.Y[problem.covered & problem.is_open.any(axis=1)]
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
        way = end - start
        if self.slopes(end) @ way >= 0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            rising = self.slopes(start + middle * way) @ way > 0
            low, high = (middle, high) if rising else (low, middle)
        return low


def best_f(problem: HeadProblem, max_nodes: int) -> TangentFound:
    """The best head for example-based F when each row counts with all its labels or none."""
    return _TangentSearch(problem).run(max_nodes)


class _TangentSearch:
    def __init__(self, problem: HeadProblem) -> None:
        self.problem = problem
        self.rows = _Rows(problem)
        self.unit = max(problem.factors)
        self.lifts = [factor / self.unit for factor in problem.factors]
        self.best = -1.0
        self.head: Board = np.full(problem.n_labels, UNSET)
        self.key = preference(self.head)
        self.nodes = 0

    def run(self, max_nodes: int) -> TangentFound:
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
        return TangentFound(self.head, self.nodes, gap * unit if gap > TINY else 0.0)

    def sizes(self) -> list[int | None]:
        """The sizes to search one by one; full predictions need it for a lift or a limit only."""
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
            self.offer(head.copy(), float(values[best]) * self.lifts[size])
            since = 0 if self.best > before else since + 1
            if since > PATIENCE:
                return

    def node(
        self, size: int | None, decided: Board, point: Floats, bound: float = np.inf
    ) -> _Node | None:
        """The node of a decision, or None if nothing in it can be better than the best head."""
        self.nodes += 1
        lift = 1.0 if size is None else self.lifts[size]
        mean: Floats | None = None
        for _ in range(STEPS):
            slopes = self.rows.slopes(point)
            chosen, linear = self.oracle(size, decided, slopes)
            share = self.shares(chosen)
            here, there = self.rows.value(point), self.rows.value(share)
            bound = min(bound, float(here - slopes @ point + linear) * lift)
            self.offer(self.as_head(chosen), there * lift)
            if bound <= there * lift + TINY or self.closed(bound, size, decided):
                return None
            if mean is None:
                # The tangents given come from other heads; from here on move among these.
                mean, point = chosen.astype(np.float64), share
                continue
            step = self.rows.step(point, share)
            mean = mean + step * (chosen - mean)
            point = point + step * (share - point)
        label = self.most_torn(decided, mean)
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

    def most_torn(self, decided: Board, mean: Floats | None) -> int:
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


# -------------------- Full predictions counted plainly, example-based: the general F-measure
# maximiser (GFM)
# Counted as finished predictions are, a row with s labels of which the head names t among its k
# has the F (1 + b) t / (b s + k). For heads of one size that is a sum over their labels, so the
# best head of a size takes the labels of greatest weight, and the best size is tried out.
# Precision (t / k) and recall (t / s) are of the same kind. K. Dembczyński, W. Waegeman, W. Cheng
# and E. Hüllermeier, "An exact algorithm for F-measure maximization", NIPS 2011.


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
