"""Which labels a theory tells by which others: the graph of it, its cycles, and who flips whom."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from labelrules._checks import counted
from labelrules._types import Floats, Integers, Mask
from labelrules.data.schema import Schema
from labelrules.discovery.constraints.constraint import Constraints
from labelrules.rules import DecisionList, LayeredTheory, Rule, Theory
from labelrules.rules.inference import closed

# -------------------- What rules say about pairs of labels: how many, of which sign, and how
# often rightly


class Ties(NamedTuple):
    """Counts of labels by labels: rules that tell the first by testing the second."""

    rules: Integers
    """How many."""
    same: Integers
    """Those that tell presence by presence, or absence by absence."""
    opposite: Integers
    """Those that tell presence by absence, or absence by presence."""
    right: Integers
    """How often they were right, by their evidence for the label that they tell."""
    wrong: Integers
    """How often they were wrong."""

    @property
    def support(self) -> Integers:
        """How often the rules wrote the label; 0 also if they have no evidence."""
        return self.right + self.wrong

    @property
    def strength(self) -> Floats:
        """The share of it that was right; NaN where there is no evidence."""
        found = np.full(self.right.shape, np.nan)
        np.divide(self.right, self.support, out=found, where=self.support > 0)
        return found

    def sign(self, told: int, tested: int) -> str:
        """``"+"``, ``"-"``, both, or nothing where there is no rule."""
        return "+" * bool(self.same[told, tested]) + "-" * bool(self.opposite[told, tested])

    def plus(self, other: "Ties") -> "Ties":
        """The counts of both together."""
        return Ties(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def counted_ties(rules: Iterable[Rule], n_labels: int) -> Ties:
    """Count what these rules tell by which labels.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> schema = load("magazines").schema
    >>> ties = counted_ties(parse("not sports (3/1) <- fashion", schema), schema.n_labels)
    >>> ties.opposite[3, 2], ties.strength[3, 2]
    (np.int64(1), np.float64(0.75))
    """
    ties = Ties(*np.zeros((len(Ties._fields), n_labels, n_labels), dtype=np.int64))
    for rule in rules:
        signs: dict[int, set[int]] = {}
        for condition in rule.body.on_labels:
            signs.setdefault(condition.column, set()).add(int(condition.value))
        for told, value in rule.head:
            right, wrong = rule.evidence_for(told) or (0, 0)
            for tested, values in signs.items():
                ties.rules[told, tested] += 1
                ties.same[told, tested] += value in values
                ties.opposite[told, tested] += 1 - value in values
                ties.right[told, tested] += right
                ties.wrong[told, tested] += wrong
    return ties


# ---------------------------------------------------------------- the main part


class Edge(NamedTuple):
    """A label that is tested, one that is told by it, by how many rules, and how rightly.

    The sign is ``"+"`` if presence tells presence or absence absence, ``"-"`` if the one tells
    the other, and ``"+-"`` if there are rules of both kinds. Right and wrong are summed over the
    rules; without evidence both are 0.
    """

    tested: str
    told: str
    n_full: int
    n_partial: int
    sign: str
    right: int
    wrong: int

    @property
    def support(self) -> int:
        """How often the rules wrote the label that is told."""
        return self.right + self.wrong

    @property
    def strength(self) -> float:
        """The share of it that was right; NaN without evidence."""
        return self.right / self.support if self.support else float("nan")


@dataclass(frozen=True, eq=False)
class LabelGraph:
    """Which labels are told by which others; printing it gives a summary.

    Attributes
    ----------
    schema : Schema
    fully : Ties
        Labels by labels: what is said of rules for the first that test the second, and labels
        only.
    partly : Ties
        The same of rules for the first that test the second, and features too.
    n_rules : int
        Rules that have conditions; default rules do not count.
    n_full, n_partial : int
        Those of them that test labels only, and labels and features.
    """

    schema: Schema
    fully: Ties
    partly: Ties
    n_rules: int
    n_full: int
    n_partial: int

    @property
    def full(self) -> Integers:
        """Labels by labels: how many rules for the first test the second, and labels only."""
        return self.fully.rules

    @property
    def partial(self) -> Integers:
        """How many rules for the first test the second, and features too."""
        return self.partly.rules

    @property
    def adjacency(self) -> Mask:
        """Labels by labels: whether some rule for the first tests the second."""
        found: Mask = self.full + self.partial > 0
        return found

    @property
    def share_full(self) -> float:
        """The share of rules that test labels only."""
        return self.n_full / self.n_rules if self.n_rules else 0.0

    @property
    def share_partial(self) -> float:
        """The share of rules that test labels and features."""
        return self.n_partial / self.n_rules if self.n_rules else 0.0

    def edges(self) -> list[Edge]:
        """Every pair of labels with a rule between them, by the label that is told."""
        names = self.schema.labels
        every = self.fully.plus(self.partly)
        return [
            Edge(
                names[j],
                names[i],
                int(self.full[i, j]),
                int(self.partial[i, j]),
                every.sign(i, j),
                int(every.right[i, j]),
                int(every.wrong[i, j]),
            )
            for i, j in np.argwhere(self.adjacency).tolist()
        ]

    def as_dict(self) -> dict[str, list[Any]]:
        """The edges as columns, for a data frame of any library."""
        edges = self.edges()
        columns = {name: [getattr(edge, name) for edge in edges] for name in Edge._fields}
        return {
            **columns,
            "support": [edge.support for edge in edges],
            "strength": [edge.strength for edge in edges],
        }

    def components(self) -> list[tuple[str, ...]]:
        """Groups of labels that depend on each other in a circle, the largest first."""
        _, group = connected_components(self.adjacency, directed=True, connection="strong")
        found = [np.flatnonzero(group == number) for number in range(group.max(initial=-1) + 1)]
        circular = [g for g in found if len(g) > 1 or self.adjacency[g[0], g[0]]]
        circular.sort(key=lambda members: (-len(members), members[0]))
        return [tuple(self.schema.labels[label] for label in members) for members in circular]

    def cycles(self, limit: int = 100) -> list[tuple[str, ...]]:
        """Elementary cycles, the shortest first: each label is told by the one after it.

        Parameters
        ----------
        limit : int, default=100
            How many at most; there may be more than anybody could read.
        """
        if limit < 0:
            raise ValueError(f"limit must be at least 0, not {limit}")
        names = self.schema.labels
        found: list[tuple[str, ...]] = []
        for cycle in _cycles(self.adjacency):
            if len(found) == limit:
                break
            found.append(tuple(names[label] for label in cycle))
        return found

    def __str__(self) -> str:
        circles = self.components()
        lines = [
            f"{counted(self.n_rules, 'rule')} with conditions: {self.n_full} fully label-dependent "
            f"({self.share_full:.0%}), {self.n_partial} partially ({self.share_partial:.0%})",
            dependencies_text(int(self.adjacency.sum()), self.schema.n_labels),
        ]
        lines += [f"in a circle: {', '.join(group)}" for group in circles] or ["no circle"]
        return "\n".join(lines)


def dependencies_text(n_edges: int, n_labels: int) -> str:
    """How many dependencies between how many labels.

    Examples
    --------
    >>> dependencies_text(1, 1), dependencies_text(2, 3)
    ('1 dependency of 1 label', '2 dependencies between 3 labels')
    """
    between = "of" if n_labels == 1 else "between"
    edges = counted(n_edges, "dependency")
    return f"{edges} {between} {counted(n_labels, 'label')}"


def label_graph(source: Theory | Constraints) -> LabelGraph:
    r"""Count which labels a theory, or constraints, tell by which others.

    All layers of a layered theory count together; for one of them give ``theory.layers[1]``.
    Labels that exclude each other tell each other, both ways round, each with the rows that have
    the label which is tested.

    Parameters
    ----------
    source : Theory or Constraints

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "quality <- sports, sex = Male\nsports <- not quality\nfashion <- sex = Female"
    >>> graph = label_graph(parse(text, load("magazines").schema))
    >>> print(graph)
    3 rules with conditions: 1 fully label-dependent (33%), 1 partially (33%)
    2 dependencies between 4 labels
    in a circle: quality, sports
    >>> graph.edges()[1]
    Edge(tested='quality', told='sports', n_full=1, n_partial=0, sign='-', right=0, wrong=0)
    """
    if isinstance(source, Constraints):
        rules = [constraint.rule for constraint in source]
        turned = [rule for constraint in source for rule in constraint.turned_rules]
    elif isinstance(source, Theory):
        rules, turned = [rule for rule in source if len(rule.body)], []
    else:
        raise TypeError(
            f"a label graph is made from a theory or from Constraints, not from "
            f"{type(source).__name__}; a fitted learner has its theory in theory_"
        )
    full = [rule for rule in rules if rule.form.dependence == "full"]
    partial = [rule for rule in rules if rule.form.dependence == "partial"]
    n_labels = source.schema.n_labels
    return LabelGraph(
        source.schema,
        counted_ties(full + turned, n_labels),
        counted_ties(partial, n_labels),
        len(rules),
        len(full),
        len(partial),
    )


def _cycles(adjacency: Mask) -> Iterator[tuple[int, ...]]:
    """All elementary cycles by rising length; each begins with its smallest label."""
    following = [np.flatnonzero(row).tolist() for row in adjacency]
    back = [_distances(start, following) for start in range(len(following))]
    for length in range(1, len(following) + 1):
        for start in range(len(following)):
            yield from _cycles_from(start, length, following, back[start])


def _cycles_from(
    start: int, length: int, following: list[list[int]], back: dict[int, int]
) -> Iterator[tuple[int, ...]]:
    """Cycles of a length through a label and larger ones; labels too far from home are left out."""
    paths: list[tuple[int, ...]] = [(start,)]
    while paths:
        path = paths.pop()
        if len(path) == length:
            if start in following[path[-1]]:
                yield path
            continue
        left = length - len(path)
        paths += [
            (*path, label)
            for label in reversed(following[path[-1]])
            if label > start and label not in path and back.get(label, length) <= left
        ]


def _distances(start: int, following: list[list[int]]) -> dict[int, int]:
    """How many steps lead from each larger label back to the start, going through larger ones."""
    before: dict[int, list[int]] = {}
    for label, targets in enumerate(following):
        for target in targets:
            before.setdefault(target, []).append(label)
    found, reached = {start: 0}, [start]
    for label in reached:
        for source in before.get(label, []):
            if source > start and source not in found:
                found[source] = found[label] + 1
                reached.append(source)
    return found


class Flip(NamedTuple):
    """Two labels that change each other from one layer to the next, and in how many rows."""

    first: str
    second: str
    n_rows: int


def flips(theory: LayeredTheory, X: Any) -> list[Flip]:
    """Pairs of labels that flip each other between layers.

    In a row two labels flip each other if a layer changes both, each by a rule that tests the
    other: what made the one change is no longer so. In the most rows first.

    Parameters
    ----------
    theory : LayeredTheory
    X : array, sparse matrix, frame or Dataset

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse('''
    ... layer 1:
    ... quality, tabloid <- sex = Male
    ... layer 2:
    ... not quality <- tabloid
    ... not tabloid <- quality
    ... ''', readers.schema)
    >>> flips(theory, readers)
    [Flip(first='quality', second='tabloid', n_rows=9)]
    """
    if not isinstance(theory, LayeredTheory):
        raise ValueError(
            f"only a LayeredTheory has layers to flip between, not a {type(theory).__name__}"
        )
    run = theory.run(X)
    n_labels = theory.schema.n_labels
    counts = np.zeros((n_labels, n_labels), dtype=np.int64)
    for (before, after), layer in zip(pairwise(run.layers), theory.layers[1:], strict=True):
        if not isinstance(layer, DecisionList):
            continue
        changed = closed(before.board) != closed(after.board)
        tested = _tested(layer)
        for first, second in combinations(range(n_labels), 2):
            both = changed[:, first] & changed[:, second]
            both &= tested[after.writer[:, first], second]
            both &= tested[after.writer[:, second], first]
            counts[first, second] += int(both.sum())
    names = theory.schema.labels
    pairs = [
        Flip(names[i], names[j], int(counts[i, j])) for i, j in np.argwhere(counts > 0).tolist()
    ]
    return sorted(pairs, key=lambda pair: -pair.n_rows)


def _tested(layer: DecisionList) -> Mask:
    """For each rule which labels it tests; in the last row, for the number -1, none."""
    found = np.zeros((len(layer) + 1, layer.schema.n_labels), dtype=np.bool_)
    for number, rule in enumerate(layer):
        found[number, [condition.column for condition in rule.body.on_labels]] = True
    return found
