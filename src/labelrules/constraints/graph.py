"""Groups of labels that imply or exclude each other, and the graph of constraints between pairs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from labelrules._checks import counted
from labelrules._types import Board, Floats, Integers, Mask
from labelrules.constraints.constraint import (
    SHOWN,
    Constraint,
    Constraints,
    GroupKind,
    LabelGroup,
)
from labelrules.constraints.label_counts import LabelTotal
from labelrules.data.schema import Schema

Pair: TypeAlias = tuple[int, int]
Node: TypeAlias = tuple[str, ...]  # a label, or labels that imply each other
PIECE = 256  # groups whose rows are counted together


def equivalences_of(
    found: Iterable[Constraint], schema: Schema, total: LabelTotal
) -> tuple[LabelGroup, ...]:
    """Labels that imply each other, in the order of the first of each."""
    subsets = [one for one in found if one.kind == "subset"]
    pairs = [(one.body[0], one.label) for one in subsets]
    cycles = [members for members in classes(pairs, schema.n_labels) if len(members) > 1]
    return _groups("equivalence", cycles, subsets, schema, total)


def exclusive_groups_of(
    found: Iterable[Constraint], schema: Schema, total: LabelTotal
) -> tuple[LabelGroup, ...]:
    """Three or more labels of which a row has at most one, in the order of the first labels."""
    exclusions = [one for one in found if one.kind == "exclusion" and len(one.body) == 1]
    pairs = sorted((min(*one.body, one.label), max(*one.body, one.label)) for one in exclusions)
    cliques = sorted(members for members in _cliques(pairs, schema.n_labels) if len(members) > 2)
    return _groups("exclusive group", cliques, exclusions, schema, total)


def classes(pairs: Iterable[Pair], n_labels: int) -> list[tuple[int, ...]]:
    """Each label with those that it implies and that imply it, in the order of the first."""
    edges = np.array([*pairs], dtype=np.int64).reshape(-1, 2)
    ones = np.ones(len(edges), dtype=np.int8)
    graph = sparse.csr_array((ones, edges.T), shape=(n_labels, n_labels))
    _, number = connected_components(graph, directed=True, connection="strong")
    components: dict[int, list[int]] = {}
    for label, own in enumerate(number.tolist()):
        components.setdefault(own, []).append(label)
    return [tuple(members) for members in components.values()]


def _cliques(pairs: list[Pair], n_labels: int) -> Iterator[tuple[int, ...]]:
    """Maximal cliques, until every pair is in one.

    Each begins with the first pair in none yet, and adds the label with the most such pairs.
    """
    excluded = np.zeros((n_labels, n_labels), dtype=np.bool_)
    for first, second in pairs:
        excluded[first, second] = excluded[second, first] = True
    left = excluded.copy()
    for first, second in pairs:
        if not left[first, second]:
            continue
        members = [first, second]
        fitting: Mask = excluded[first] & excluded[second]
        gained = left[first].astype(np.int64) + left[second]
        while fitting.any():
            label = int(np.where(fitting, gained, -1).argmax())
            members.append(label)
            fitting &= excluded[label]
            gained += left[label]
        left[np.ix_(members, members)] = False
        yield tuple(sorted(members))


def _groups(
    kind: GroupKind,
    groups: list[tuple[int, ...]],
    pairs: list[Constraint],
    schema: Schema,
    total: LabelTotal,
) -> tuple[LabelGroup, ...]:
    """Groups with their counts, and the greatest p-value of the constraints within."""
    p, corrected = _matrix(pairs, "p", schema), _matrix(pairs, "corrected", schema)
    found = []
    if not groups:
        return ()
    counted: Integers = total(partial(group_counts, kind=kind, groups=groups))
    for members, (some, wrong) in zip(groups, counted.tolist(), strict=True):
        within = np.ix_(members, members)
        p_values = float(p[within].max()), float(corrected[within].max())
        found.append(LabelGroup(schema, kind, members, some, wrong, *p_values))
    return tuple(found)


def group_counts(board: Board, kind: GroupKind, groups: list[tuple[int, ...]]) -> Integers:
    """For each group the rows that have any of its labels, and the exceptions."""
    ones = sparse.csr_array(board).astype(np.int32)
    counts = []
    for start in range(0, len(groups), PIECE):
        piece = groups[start : start + PIECE]
        membership = np.zeros((board.shape[1], len(piece)), dtype=np.int32)
        for place, members in enumerate(piece):
            membership[list(members), place] = 1
        n_present = np.asarray(ones @ membership)
        some = n_present > 0
        wrong = n_present > 1
        if kind == "equivalence":
            wrong = some & (n_present < membership.sum(axis=0))
        counts.append(np.column_stack([some.sum(axis=0), wrong.sum(axis=0)]))
    return np.concatenate(counts).astype(np.int64)


def _matrix(pairs: list[Constraint], name: str, schema: Schema) -> Floats:
    """Labels by labels: a number of the constraint between the two, 0 where there is none."""
    matrix = np.zeros((schema.n_labels, schema.n_labels))
    for one in pairs:
        matrix[one.body[0], one.label] = getattr(one, name)
    return matrix


class ConstraintLink(NamedTuple):
    """Two nodes of the graph, and the most significant constraint between their labels.

    A subset is `below` what it occurs with; exclusions are in the order of the labels.
    """

    below: Node
    above: Node
    constraint: Constraint


@dataclass(frozen=True, eq=False, repr=False)
class ConstraintGraph:
    """Subset and exclusion constraints between pairs, without redundant ones; prints as a tree.

    Labels that imply each other are one node. A subset constraint that follows from two others is
    left out, and so is an exclusion of labels below two that exclude each other.

    Attributes
    ----------
    schema : Schema
    nodes : tuple of tuple of str
        Labels that have a constraint, those that imply each other together.
    subsets, exclusions : tuple of ConstraintLink
    n_left_out : int
        Constraints between pairs that follow from those in the graph.
    """

    schema: Schema
    nodes: tuple[Node, ...]
    subsets: tuple[ConstraintLink, ...]
    exclusions: tuple[ConstraintLink, ...]
    n_left_out: int

    def parents(self, node: Node) -> list[Node]:
        """The nodes just above one."""
        return [link.above for link in self.subsets if link.below == node]

    def children(self, node: Node) -> list[Node]:
        """The nodes just below one."""
        return [link.below for link in self.subsets if link.above == node]

    def __repr__(self) -> str:
        parts = {"node": self.nodes, "subset": self.subsets, "exclusion": self.exclusions}
        counts = ", ".join(counted(len(part), noun) for noun, part in parts.items())
        return f"<ConstraintGraph: {counts}>"

    def __str__(self) -> str:
        lines: list[str] = []
        above = {link.above for link in self.subsets}
        below = {link.below for link in self.subsets}
        waiting = [(node, 0) for node in reversed(self.nodes) if node in above - below]
        while waiting:
            node, depth = waiting.pop()
            lines.append("  " * depth + " = ".join(node))
            waiting += [(child, depth + 1) for child in reversed(self.children(node))]
        alone = [node for node in self.nodes if len(node) > 1 and node not in above | below]
        lines += [" = ".join(node) for node in alone]
        for link in self.exclusions[:SHOWN]:
            lines.append(f"{' = '.join(link.below)} excludes {' = '.join(link.above)}")
        more = len(self.exclusions) - SHOWN
        return "\n".join([*lines, f"... and {more} more exclusions"] if more > 0 else lines)


def reduced(constraints: Constraints) -> ConstraintGraph:
    """The graph of the constraints between pairs.

    >>> from labelrules.constraints import find_constraints
    >>> Y = [{"a", "b", "c"}, {"a", "b"}, {"a"}, {"d"}, {"e", "f"}, {"d", "g"}]
    >>> print(find_constraints(Y).graph())
    a
      b
        c
    d
      g
    e = f
    a excludes d
    a excludes e = f
    d excludes e = f
    """
    pairs = [one for one in constraints if len(one.body) == 1]
    subsets = [one for one in pairs if one.kind == "subset"]
    schema = constraints.schema
    members = classes([(one.body[0], one.label) for one in subsets], schema.n_labels)
    node_of = {label: number for number, group in enumerate(members) for label in group}
    edges = _linked(subsets, node_of)
    below = _pair_matrix(edges, len(members))
    reached = _closure(below)
    # There are no cycles between nodes, so a link over another node is redundant.
    is_needed = below & ~_composed(below, reached)
    excluded = _linked([one for one in pairs if one.kind == "exclusion"], node_of, ordered=True)
    is_new = _pair_matrix(excluded, len(members)) & ~_inherited(excluded, reached)
    names = [tuple(schema.labels[label] for label in group) for group in members]
    used = {node_of[label] for one in pairs for label in (*one.body, one.label)}
    below_others = _links(edges, is_needed, names)
    apart = _links(excluded, is_new, names)
    # As many constraints as a cycle has labels imply that they are equivalent.
    n_in_cycles = sum(len(group) for group in members if len(group) > 1)
    n_kept = len(below_others) + len(apart) + n_in_cycles
    nodes = tuple(names[number] for number in sorted(used))
    return ConstraintGraph(schema, nodes, below_others, apart, len(pairs) - n_kept)


def _linked(
    constraints: Iterable[Constraint], node_of: dict[int, int], ordered: bool = False
) -> dict[Pair, Constraint]:
    """The most significant constraint from each node to each other one."""
    links: dict[Pair, Constraint] = {}
    for one in constraints:
        ends = node_of[one.body[0]], node_of[one.label]
        if ends[0] != ends[1]:
            links.setdefault((min(ends), max(ends)) if ordered else ends, one)
    return links


def _pair_matrix(links: Iterable[Pair], n_nodes: int) -> Mask:
    matrix = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
    for first, second in links:
        matrix[first, second] = True
    return matrix


def _closure(below: Mask) -> Mask:
    """Which nodes lie above which, over any number of steps."""
    reached = below.copy()
    while True:
        further = reached | _composed(reached, below)
        if (further == reached).all():
            return reached
        reached = further


def _inherited(excluded: Iterable[Pair], reached: Mask) -> Mask:
    """Which exclusions follow from one further up, on either side or both."""
    every = _pair_matrix(excluded, len(reached))
    every |= every.T
    or_itself = reached | np.eye(len(reached), dtype=np.bool_)
    higher = _composed(_composed(reached, every), or_itself.T)
    return higher | higher.T


def _composed(first: Mask, second: Mask) -> Mask:
    return np.asarray(first.astype(np.float32) @ second.astype(np.float32) > 0)


def _links(
    links: dict[Pair, Constraint], chosen: Mask, names: list[Node]
) -> tuple[ConstraintLink, ...]:
    return tuple(
        ConstraintLink(names[first], names[second], constraint)
        for (first, second), constraint in sorted(links.items(), key=lambda item: item[0])
        if chosen[first, second]
    )
