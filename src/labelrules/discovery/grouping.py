"""Labels that belong together: those that imply each other, and those that exclude each other."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from labelrules._types import Board, Floats, Mask
from labelrules.data.schema import Schema
from labelrules.discovery.constraint import Constraint, GroupKind, LabelGroup

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
