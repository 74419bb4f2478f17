"""Label dependencies of a theory: which labels its rules predict by testing which others."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from labelrules._checks import counted, whole_number
from labelrules._html import SHOWN
from labelrules._report import Lines, Part, Report, Table, field_columns
from labelrules._types import Floats, Integers, Mask
from labelrules.constraints.constraint import Constraints
from labelrules.data.schema import Schema
from labelrules.rules import DecisionList, LayeredTheory, Rule, RuleSet, theory_of
from labelrules.rules.inference import closed


class PairCounts(NamedTuple):
    """Counts of labels by labels: rules that predict the first and test the second."""

    rules: Integers  #: How many.
    same: Integers  #: Those that predict presence from presence, or absence from absence.
    opposite: Integers  #: Those that predict presence from absence, or absence from presence.
    right: Integers  #: How often they were right, by their evidence for the predicted label.
    wrong: Integers  #: How often they were wrong.

    @property
    def support(self) -> Integers:
        """How often the rules wrote the label; 0 without evidence."""
        return self.right + self.wrong

    @property
    def strength(self) -> Floats:
        """The share of it that was right; NaN without evidence."""
        share = np.full(self.right.shape, np.nan)
        np.divide(self.right, self.support, out=share, where=self.support > 0)
        return share

    def sign(self, predicted: int, tested: int) -> str:
        """``"+"``, ``"-"``, both, or nothing where there is no rule."""
        signs = self.same[predicted, tested], self.opposite[predicted, tested]
        return "+" * bool(signs[0]) + "-" * bool(signs[1])

    def plus(self, other: "PairCounts") -> "PairCounts":
        """The counts of both together."""
        return PairCounts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def pair_counts(rules: Iterable[Rule], n_labels: int) -> PairCounts:
    """Count which labels these rules predict by testing which others.

    >>> from labelrules import load, parse
    >>> schema = load("magazines").schema
    >>> counts = pair_counts(parse("not sports <- fashion (3/1)", schema), schema.n_labels)
    >>> counts.opposite[3, 2], counts.strength[3, 2]
    (np.int64(1), np.float64(0.75))
    """
    counts = PairCounts(*np.zeros((len(PairCounts._fields), n_labels, n_labels), dtype=np.int64))
    for rule in rules:
        signs: dict[int, set[int]] = {}
        for condition in rule.body.on_labels:
            signs.setdefault(condition.column, set()).add(int(condition.value))
        for predicted, value in rule.head:
            right, wrong = rule.evidence_for(predicted) or (0, 0)
            for tested, values in signs.items():
                counts.rules[predicted, tested] += 1
                counts.same[predicted, tested] += value in values
                counts.opposite[predicted, tested] += 1 - value in values
                counts.right[predicted, tested] += right
                counts.wrong[predicted, tested] += wrong
    return counts


class Edge(NamedTuple):
    """A dependency: rules that test one label to predict another.

    The sign is ``"+"`` if they predict presence from presence or absence from absence, ``"-"`` if
    the one from the other, ``"+-"`` if both. Right and wrong are sums over the rules; 0 without
    evidence.
    """

    tested: str
    predicted: str
    n_full: int
    n_partial: int
    sign: str
    right: int
    wrong: int

    @property
    def support(self) -> int:
        """How often the rules wrote the predicted label."""
        return self.right + self.wrong

    @property
    def strength(self) -> float:
        """The share of it that was right; NaN without evidence."""
        return self.right / self.support if self.support else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class LabelGraph(Report):
    """The graph of label dependencies."""

    schema: Schema
    fully: PairCounts  #: For rules that test labels only.
    partly: PairCounts  #: The same for rules that test features too.
    n_rules: int  #: Rules that have conditions; default rules do not count.
    n_full: int  #: Rules that test labels only.
    n_partial: int  #: Rules that test labels and features.
    n_label_sets: int = 0  #: Usual label sets with several labels, which are no dependencies.

    @property
    def full(self) -> Integers:
        """Labels by labels: rules that test labels only, and predict the first by the second."""
        return self.fully.rules

    @property
    def partial(self) -> Integers:
        """Labels by labels: rules that test features too, and predict the first by the second."""
        return self.partly.rules

    @property
    def adjacency(self) -> Mask:
        """Labels by labels: whether some rule predicts the first by testing the second."""
        return np.asarray(self.full + self.partial > 0)

    @property
    def share_full(self) -> float:
        """The share of rules that test labels only."""
        return self.n_full / self.n_rules if self.n_rules else 0.0

    @property
    def share_partial(self) -> float:
        """The share of rules that test labels and features."""
        return self.n_partial / self.n_rules if self.n_rules else 0.0

    def edges(self) -> list[Edge]:
        """Every pair of labels with a rule between them, ordered by the predicted label."""
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
        return {
            **field_columns(Edge, edges),
            "support": [edge.support for edge in edges],
            "strength": [edge.strength for edge in edges],
        }

    def components(self) -> list[tuple[str, ...]]:
        """Strongly connected labels, which depend on each other; the largest component first."""
        _, group = connected_components(self.adjacency, directed=True, connection="strong")
        groups = [np.flatnonzero(group == number) for number in range(group.max(initial=-1) + 1)]
        cyclic = [g for g in groups if len(g) > 1 or self.adjacency[g[0], g[0]]]
        cyclic.sort(key=lambda members: (-len(members), members[0]))
        return [tuple(self.schema.labels[label] for label in members) for members in cyclic]

    def cycles(self, limit: int = 100) -> list[tuple[str, ...]]:
        """At most `limit` elementary cycles, the shortest first: the next label predicts each."""
        limit = whole_number(limit, "limit", low=0)
        names = self.schema.labels
        cycles = islice(_cycles(self.adjacency), limit)
        return [tuple(names[label] for label in cycle) for cycle in cycles]

    def __repr__(self) -> str:
        return f"LabelGraph({self._size}; {counted(self.n_rules, 'rule')})"

    @property
    def _size(self) -> str:
        return dependencies_text(int(self.adjacency.sum()), self.schema.n_labels)

    @property
    def headline(self) -> str:
        """How many rules depend on labels."""
        return (
            f"{counted(self.n_rules, 'rule')} with conditions: {self.n_full} fully label-dependent "
            f"({self.share_full:.0%}), {self.n_partial} partially ({self.share_partial:.0%})"
        )

    def _parts(self) -> Iterator[Part]:
        lines = [self._size]
        if self.n_label_sets:
            sets = counted(self.n_label_sets, "usual label set")
            lines.append(f"not counted: {sets} of labels that are decided together")
        groups = [f"in a cycle: {', '.join(group)}" for group in self.components()]
        yield Lines([*lines, *(groups or ["no cycle"])])

    def _page(self) -> Iterator[Part]:
        yield from self._parts()
        titles = ("predicted", "tested", "sign", "labels only", "with features", "right", "wrong")
        rows = [
            (e.predicted, e.tested, e.sign, e.n_full, e.n_partial, e.right, e.wrong)
            for e in self.edges()
        ]
        yield Table(titles, rows, SHOWN)


def dependencies_text(n_edges: int, n_labels: int) -> str:
    """How many dependencies between how many labels.

    >>> dependencies_text(1, 1), dependencies_text(2, 3)
    ('1 dependency of 1 label', '2 dependencies between 3 labels')
    """
    between = "of" if n_labels == 1 else "between"
    edges = counted(n_edges, "dependency")
    return f"{edges} {between} {counted(n_labels, 'label')}"


def label_graph(source: Any) -> LabelGraph:
    r"""Count which labels a theory, fitted learner or constraints predict by testing which others.

    All layers of a layered theory count together; for one of them give ``theory.layers[1]``. Labels
    that exclude each other predict each other, each with the rows that have the tested label.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "quality <- sports, sex = Male\nsports <- not quality\nfashion <- sex = Female"
    >>> graph = label_graph(parse(text, load("magazines").schema))
    >>> print(graph)
    3 rules with conditions: 1 fully label-dependent (33%), 1 partially (33%)
    2 dependencies between 4 labels
    in a cycle: quality, sports
    >>> graph.edges()[1]
    Edge(tested='quality', predicted='sports', n_full=1, n_partial=0, sign='-', right=0, wrong=0)
    """
    if isinstance(source, Constraints):
        rules = [constraint.rule for constraint in source]
        turned = [rule for constraint in source for rule in constraint.turned_rules]
    else:
        source = theory_of(source)
        rules, turned = [rule for rule in source if len(rule.body)], []
    full = [rule for rule in rules if rule.form.dependence == "full"]
    partial = [rule for rule in rules if rule.form.dependence == "partial"]
    n_labels = source.schema.n_labels
    parts = () if isinstance(source, Constraints) else source.parts
    sets = [one for part in parts if isinstance(part, RuleSet) for one in part.label_sets]
    return LabelGraph(
        source.schema,
        pair_counts(full + turned, n_labels),
        pair_counts(partial, n_labels),
        len(rules),
        len(full),
        len(partial),
        sum(len(one.labels) > 1 for one in sets),
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
    """Cycles of a length through a label and larger ones; labels too far from it are left out."""
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
    """How many steps lead from each larger label back to the start, through larger ones only."""
    before: dict[int, list[int]] = {}
    for label, targets in enumerate(following):
        for target in targets:
            before.setdefault(target, []).append(label)
    distances, reached = {start: 0}, [start]
    for label in reached:
        for source in before.get(label, []):
            if source > start and source not in distances:
                distances[source] = distances[label] + 1
                reached.append(source)
    return distances


class Flip(NamedTuple):
    """Two labels that change each other from one layer to the next, and in how many rows."""

    first: str
    second: str
    n_rows: int


def flips(theory: Any, X: Any) -> list[Flip]:
    """Pairs of labels that flip each other between the layers of a theory, the most frequent first.

    Two labels flip each other in a row if a layer changes both, each by a rule testing the other.

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
    theory = theory_of(theory)
    if not isinstance(theory, LayeredTheory):
        raise ValueError(
            f"flips are between the layers of a LayeredTheory, not of a {type(theory).__name__}"
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
    """Rules by labels: whether the rule tests the label; the last row, for number -1, is empty."""
    tested = np.zeros((len(layer) + 1, layer.schema.n_labels), dtype=np.bool_)
    for number, rule in enumerate(layer):
        tested[number, [condition.column for condition in rule.body.on_labels]] = True
    return tested
