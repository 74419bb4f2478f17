"""The chapter's own head searches, for study: label by label, present before absent."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from labelrules._checks import one_of
from labelrules._types import UNSET, Board
from labelrules.measures import Measure, traits
from labelrules.search.heads.problem import Counting, HeadProblem, Polarity, preference

Strategy: TypeAlias = Literal["exhaustive", "tree", "breadth-first", "decomposable"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

Literals: TypeAlias = tuple[tuple[int, int], ...]
"""Labels with 0 or 1, in label order."""


@dataclass(frozen=True)
class SearchNode:
    """A head in the search tree.

    `fate` is "evaluated", "pruned" (evaluated, but worse than its parent, so its subtree is not
    searched), or "skipped" (never evaluated).
    """

    literals: Literals
    value: Fraction | float
    fate: Literal["evaluated", "pruned", "skipped"]
    children: tuple["SearchNode", ...] = field(default=(), repr=False)

    def walk(self) -> Iterator["SearchNode"]:
        """The node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, eq=False)
class SearchTree:
    """The heads that a strategy evaluated, pruned and skipped; printing it draws the tree.

    Attributes
    ----------
    strategy : str
    roots : tuple of SearchNode
        The single-label heads.
    vector : array of int8
        The best head found.
    value : Fraction or float
        Its value; a float if the formula is irrational.
    """

    strategy: Strategy
    measure: Measure
    roots: tuple[SearchNode, ...]
    vector: Board
    value: Fraction | float

    def nodes(self) -> Iterator[SearchNode]:
        """Every head of the tree, in label order, parents first."""
        for root in self.roots:
            yield from root.walk()

    @property
    def n_evaluated(self) -> int:
        """Heads whose value was computed."""
        return sum(node.fate != "skipped" for node in self.nodes())

    def __repr__(self) -> str:
        return f"SearchTree({self.strategy}, {self.measure}: {self.n_evaluated} heads evaluated)"

    def __str__(self) -> str:
        lines = [f"{self.strategy}, {self.measure}: {self.n_evaluated} heads evaluated"]
        for root in self.roots:
            lines += _drawn(root, "")
        return "\n".join(lines)


def _drawn(node: SearchNode, indent: str) -> Iterator[str]:
    marks = {"evaluated": "", "pruned": "  x", "skipped": "  -"}
    value = "" if node.fate == "skipped" else f"  {node.value}"
    yield f"{indent}{_name(node.literals)}{value}{marks[node.fate]}"
    for child in node.children:
        yield from _drawn(child, indent + "  ")


def _name(literals: Literals) -> str:
    return "{" + ", ".join(f"{'' if value else '!'}{label + 1}" for label, value in literals) + "}"


def search_tree(
    Y: Any,
    covered: Any,
    measure: Measure | str,
    strategy: Strategy,
    board: Any = None,
    *,
    counting: Counting = "chapter",
    polarity: Polarity = "presence",
    even_if_invalid: bool = False,
) -> SearchTree:
    """Search for the best head as the chapter does.

    Parameters
    ----------
    Y, covered, measure, board, counting, polarity
        As for :func:`labelrules.search.best_head`.
    strategy : {"exhaustive", "tree", "breadth-first", "decomposable"}
        Evaluate every head; prune below a head that is worse than the one it extends; do so level
        by level and skip every head that contains a pruned one; or merge the best single labels.
    even_if_invalid : bool, default=False
        Whether to search although the best head may be missed, to see it happen.

    Raises
    ------
    ValueError
        If the strategy may miss the best head for this measure; names a counterexample.

    Examples
    --------
    >>> Y = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
    >>> covered = [False, False, False, True, True, True]
    >>> print(search_tree(Y, covered, "precision/micro/partial", "breadth-first"))
    breadth-first, precision/micro/partial: 10 heads evaluated
    {1}  2/3
      {1, 2}  2/3
        {1, 2, 3}  -
          {1, 2, 3, 4}  -
        {1, 2, 4}  -
      {1, 3}  1/2  x
        {1, 3, 4}  -
      {1, 4}  1/3  x
    {2}  2/3
      {2, 3}  1/2  x
        {2, 3, 4}  -
      {2, 4}  1/3  x
    {3}  1/3
      {3, 4}  1/6  x
    {4}  0
    """
    measure = measure if isinstance(measure, Measure) else Measure.parse(measure)
    one_of(strategy, "strategy", STRATEGIES)
    problem = HeadProblem(Y, covered, measure, board, counting, polarity)
    if problem.n_labels > MAX_LABELS:
        raise ValueError(
            f"the tree of all heads over {problem.n_labels} labels is too large to draw; these "
            f"strategies are for study, with at most {MAX_LABELS} labels: use best_head"
        )
    if not even_if_invalid:
        _refuse_if_invalid(problem, strategy)
    return _Tree(problem, strategy).grown()


MAX_LABELS = 12
"""Labels for which all heads are kept as a tree."""

_NEEDED: dict[Strategy, str] = {
    "tree": "finds", "breadth-first": "finds", "decomposable": "merges",
}  # fmt: skip


def _refuse_if_invalid(problem: HeadProblem, strategy: Strategy) -> None:
    if strategy == "exhaustive":
        return
    known = traits(problem.measure, problem.counting, written=problem.board is not None)
    plain_f = problem.counting == "plain" and str(problem.measure).startswith("f")
    if plain_f and problem.measure.averaging == "samples":
        raise ValueError(
            f"the strategy {strategy!r} may miss the best head for {problem.measure} with "
            "counting='plain'; the counterexample 'f-full-samples-plain-finds' shows it: use "
            "best_head"
        )
    if known is None:
        raise ValueError(
            f"it is not known whether the strategy {strategy!r} is valid for {problem.measure}: "
            "use 'exhaustive' or best_head"
        )
    needed = _NEEDED[strategy]
    if getattr(known, needed) == "no":
        raise ValueError(
            f"the strategy {strategy!r} may miss the best head for {problem.measure}; "
            f"the counterexample {known.witnesses[needed]!r} shows it: use best_head"
        )


class _Tree:
    """Grows the tree of all heads and marks what a strategy evaluates."""

    def __init__(self, problem: HeadProblem, strategy: Strategy) -> None:
        self.problem = problem
        self.strategy = strategy
        self.values: dict[Literals, Fraction | float] = {}
        self.fates: dict[Literals, Literal["evaluated", "pruned", "skipped"]] = {}

    def grown(self) -> SearchTree:
        self.mark()
        roots = tuple(self.built(child) for child in self.children(()))
        vector = self.merged() if self.strategy == "decomposable" else self.best()
        value = self.problem.exact_value(vector)
        return SearchTree(self.strategy, self.problem.measure, roots, vector, value)

    def children(self, literals: Literals) -> list[Literals]:
        first = literals[-1][0] + 1 if literals else 0
        values = (1, 0) if self.problem.absence else (1,)
        labels = range(first, self.problem.n_labels)
        return [(*literals, (label, value)) for label, value in product(labels, values)]

    def mark(self) -> None:
        """Level by level, parents in label order; the order matters to breadth-first only."""
        level: list[tuple[Literals, Literals]] = [((), head) for head in self.children(())]
        while level:
            for parent, head in level:
                self.fates[head] = self.fate(parent, head)
            level = [(head, child) for _, head in level for child in self.children(head)]

    def fate(self, parent: Literals, head: Literals) -> Literal["evaluated", "pruned", "skipped"]:
        if parent and self.strategy == "decomposable":
            return "skipped"
        if self.strategy == "tree" and parent and self.fates[parent] != "evaluated":
            return "skipped"
        if self.strategy == "breadth-first" and self.contains_pruned(head):
            return "skipped"
        if self.strategy == "exhaustive" or not parent:
            self.value(head)
            return "evaluated"
        return "pruned" if self.value(head) < self.reference(parent, head) else "evaluated"

    def reference(self, parent: Literals, head: Literals) -> Fraction | float:
        """What a head must reach: its parent or, with bookkeeping, every head it extends."""
        if self.strategy == "tree":
            return self.value(parent)
        return max(self.value(shorter) for shorter in _shortened(head))

    def contains_pruned(self, head: Literals) -> bool:
        return any(self.fates[shorter] != "evaluated" for shorter in _shortened(head))

    def value(self, head: Literals) -> Fraction | float:
        if head not in self.values:
            self.values[head] = self.problem.exact_value(self.vector(head))
        return self.values[head]

    def vector(self, head: Literals) -> Board:
        cells = np.full(self.problem.n_labels, UNSET)
        for label, value in head:
            cells[label] = value
        return cells

    def built(self, head: Literals) -> SearchNode:
        children = tuple(self.built(child) for child in self.children(head))
        return SearchNode(head, self.value(head), self.fates[head], children)

    def best(self) -> Board:
        heads = (h for h, fate in self.fates.items() if fate != "skipped")
        key: Callable[[Literals], Any] = lambda h: (self.value(h), preference(self.vector(h)))  # noqa: E731
        return self.vector(max(heads, key=key))

    def merged(self) -> Board:
        """All single labels of the best value, presence before absence."""
        singles = self.children(())
        top = max(self.value(head) for head in singles)
        cells = np.full(self.problem.n_labels, UNSET)
        for (literal,) in reversed(singles):  # presence comes last and stays
            if self.value((literal,)) == top:
                cells[literal[0]] = literal[1]
        return cells


def _shortened(head: Literals) -> Iterator[Literals]:
    """The heads with one label less."""
    for i in range(len(head)):
        shorter = head[:i] + head[i + 1 :]
        if shorter:
            yield shorter
