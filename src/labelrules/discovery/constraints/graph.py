"""Constraints between pairs of labels as a graph without what follows from the rest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from labelrules._types import Board, Floats, Mask
from labelrules.data.schema import Schema
from labelrules.discovery.constraints.constraint import (
    SHOWN,
    Constraint,
    Constraints,
    GroupKind,
    LabelGroup,
)

# -------------------- Labels that belong together: those that imply each other, and those that
# exclude each other

Pair = tuple[int, int]

PIECE = 256
"""Groups that are counted together."""


def equivalences_of(
    found: Iterable[Constraint], schema: Schema, board: Board
) -> tuple[LabelGroup, ...]:
    """Labels that imply each other, in the order of the first of each."""
    subsets = [one for one in found if one.kind == "subset"]
    pairs = [(one.body[0], one.label) for one in subsets]
    circles = [members for members in classes(pairs, schema.n_labels) if len(members) > 1]
    return _groups("equivalence", circles, subsets, schema, board)


def exclusive_groups_of(
    found: Iterable[Constraint], schema: Schema, board: Board
) -> tuple[LabelGroup, ...]:
    """Three or more labels of which a row has at most one, in the order of the first labels."""
    exclusions = [one for one in found if one.kind == "exclusion" and len(one.body) == 1]
    pairs = sorted((min(*one.body, one.label), max(*one.body, one.label)) for one in exclusions)
    cliques = sorted(members for members in _cliques(pairs, schema.n_labels) if len(members) > 2)
    return _groups("exclusive group", cliques, exclusions, schema, board)


def classes(pairs: Iterable[Pair], n_labels: int) -> list[tuple[int, ...]]:
    """Each label with those that imply it and are implied by it, in the order of the first."""
    edges = np.array([*pairs], dtype=np.int64).reshape(-1, 2)
    ones = np.ones(len(edges), dtype=np.int8)
    graph = sparse.csr_array((ones, edges.T), shape=(n_labels, n_labels))
    _, number = connected_components(graph, directed=True, connection="strong")
    together: dict[int, list[int]] = {}
    for label, own in enumerate(number.tolist()):
        together.setdefault(own, []).append(label)
    return [tuple(members) for members in together.values()]


def _cliques(pairs: list[Pair], n_labels: int) -> Iterator[tuple[int, ...]]:
    """Groups that cannot grow, until every pair is in one.

    Each begins with the first pair that is in none yet, and takes in the label with the most
    such pairs, the first of several.
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
    board: Board,
) -> tuple[LabelGroup, ...]:
    """Groups with their counts, and the greatest probability among the constraints within."""
    p, corrected = _square(pairs, "p", schema), _square(pairs, "corrected", schema)
    found = []
    for members, counts in zip(groups, _counts(kind, groups, board), strict=True):
        within = np.ix_(members, members)
        chance = float(p[within].max()), float(corrected[within].max())
        found.append(LabelGroup(schema, kind, members, *counts, *chance))
    return tuple(found)


def _counts(
    kind: GroupKind, groups: list[tuple[int, ...]], board: Board
) -> Iterator[tuple[int, int]]:
    """For each group the rows that have any of its labels, and the exceptions."""
    ones = sparse.csr_array(board).astype(np.int32)
    for start in range(0, len(groups), PIECE):
        piece = groups[start : start + PIECE]
        membership = np.zeros((board.shape[1], len(piece)), dtype=np.int32)
        for place, members in enumerate(piece):
            membership[list(members), place] = 1
        n_present = np.asarray(ones @ membership)
        wrong = _exceptions(kind, n_present, membership.sum(axis=0, dtype=np.int32))
        yield from zip(
            (n_present > 0).sum(axis=0).tolist(), wrong.sum(axis=0).tolist(), strict=True
        )


def _square(pairs: list[Constraint], name: str, schema: Schema) -> Floats:
    """Labels by labels: a number of the constraint between the two, 0 where there is none."""
    found = np.zeros((schema.n_labels, schema.n_labels))
    for one in pairs:
        found[one.body[0], one.label] = getattr(one, name)
    return found


def _exceptions(
    kind: GroupKind, n_present: npt.NDArray[np.int32], sizes: npt.NDArray[np.int32]
) -> Mask:
    """Rows by groups."""
    if kind == "equivalence":
        return np.asarray((n_present > 0) & (n_present < sizes))
    return np.asarray(n_present > 1)


# ---------------------------------------------------------------- the main part

Node: TypeAlias = tuple[str, ...]
"""A label, or labels that imply each other."""


class ConstraintLink(NamedTuple):
    """Two nodes of the graph, and the surest constraint between their labels.

    For a subset, `below` occurs only together with `above`; two that exclude each other are in
    the order of the labels.
    """

    below: Node
    above: Node
    constraint: Constraint


@dataclass(frozen=True, eq=False)
class ConstraintGraph:
    """Subset and exclusion constraints between pairs, as few as say the same; it prints as a tree.

    Labels that imply each other are one node. A subset constraint that follows from two others is
    left out, and so is an exclusion between labels below of two that exclude each other.

    Attributes
    ----------
    schema : Schema
    nodes : tuple of tuple of str
        Labels that have a constraint, those that imply each other together.
    subsets, exclusions : tuple of Link
    n_left_out : int
        Constraints between pairs that follow from those in the graph.
    """

    schema: Schema = field(repr=False)
    nodes: tuple[Node, ...]
    subsets: tuple[ConstraintLink, ...] = field(repr=False)
    exclusions: tuple[ConstraintLink, ...] = field(repr=False)
    n_left_out: int

    def parents(self, node: Node) -> list[Node]:
        """The nodes just above one."""
        return [link.above for link in self.subsets if link.below == node]

    def children(self, node: Node) -> list[Node]:
        """The nodes just below one."""
        return [link.below for link in self.subsets if link.above == node]

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

    Examples
    --------
    >>> from labelrules.discovery import find_constraints
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
    reached = _reached(below)
    is_needed = below & ~_in_two_steps(below, reached)
    excluded = _linked([one for one in pairs if one.kind == "exclusion"], node_of, ordered=True)
    is_new = _pair_matrix(excluded, len(members)) & ~_inherited(excluded, reached)
    names = [tuple(schema.labels[label] for label in group) for group in members]
    used = {node_of[label] for one in pairs for label in (*one.body, one.label)}
    below_others = _links(edges, is_needed, names)
    apart = _links(excluded, is_new, names)
    # All but one way round each circle are needed to say that its labels imply each other.
    n_circles = sum(len(group) for group in members if len(group) > 1)
    n_said = len(below_others) + len(apart) + n_circles
    nodes = tuple(names[number] for number in sorted(used))
    return ConstraintGraph(schema, nodes, below_others, apart, len(pairs) - n_said)


def _linked(
    found: Iterable[Constraint], node_of: dict[int, int], ordered: bool = False
) -> dict[tuple[int, int], Constraint]:
    """The surest constraint from each node to each other one."""
    links: dict[tuple[int, int], Constraint] = {}
    for one in found:
        ends = node_of[one.body[0]], node_of[one.label]
        if ends[0] != ends[1]:
            links.setdefault((min(ends), max(ends)) if ordered else ends, one)
    return links


def _pair_matrix(links: Iterable[tuple[int, int]], n_nodes: int) -> Mask:
    found = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
    for first, second in links:
        found[first, second] = True
    return found


def _reached(below: Mask) -> Mask:
    """Which nodes lie above which, over any number of steps."""
    reached = below.copy()
    while True:
        further = reached | (_times(reached, below))
        if (further == reached).all():
            return reached
        reached = further


def _in_two_steps(below: Mask, reached: Mask) -> Mask:
    """Which nodes lie above which over some other node; there are no circles."""
    return _times(below, reached)


def _inherited(excluded: Iterable[tuple[int, int]], reached: Mask) -> Mask:
    """Which exclusions follow from one further up, on either side or both."""
    every = _pair_matrix(excluded, len(reached))
    every |= every.T
    or_itself = reached | np.eye(len(reached), dtype=np.bool_)
    higher = _times(_times(reached, every), or_itself.T)
    return higher | higher.T


def _times(first: Mask, second: Mask) -> Mask:
    """Whether there is a way by the one and then by the other."""
    return np.asarray(first.astype(np.float32) @ second.astype(np.float32) > 0)


def _links(
    found: dict[tuple[int, int], Constraint], chosen: Mask, names: list[Node]
) -> tuple[ConstraintLink, ...]:
    return tuple(
        ConstraintLink(names[first], names[second], constraint)
        for (first, second), constraint in sorted(found.items(), key=lambda item: item[0])
        if chosen[first, second]
    )
