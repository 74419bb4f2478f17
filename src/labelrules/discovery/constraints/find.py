"""Constraints among the labels of a data set, counted."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats, Mask
from labelrules.data import Dataset, Schema
from labelrules.data.errors import DataError
from labelrules.data.memory.labels import checked_names, default_names, read_labels
from labelrules.discovery.constraints.constraint import Constraint, Constraints, Descent, Kind
from labelrules.discovery.constraints.graph import equivalences_of, exclusive_groups_of
from labelrules.discovery.constraints.longer_bodies import (
    ConstraintCounts,
    LabelSets,
    Limit,
    check_whole,
)
from labelrules.discovery.significance import (
    Alternative,
    Correction,
    adjusted,
    checked_alpha,
    fisher,
)

MAX_SETS = 100_000
"""Label sets that may be bodies; with more, nobody would wait for or read what is found."""


def find_constraints(
    Y: Any,
    *,
    max_body: int = 1,
    tolerance: float = 0.0,
    min_support: int = 1,
    alpha: float | None = None,
    correction: Correction = "holm",
    label_names: Sequence[str] | None = None,
    groups: bool = True,
    max_sets: int = MAX_SETS,
) -> Constraints:
    """Find what the labels of a row have to do with each other, whatever its features.

    A *subset* constraint ``a <- b`` says that b occurs only together with a. An *exclusion*
    ``not a <- b`` says that the two do not occur together; it is the same both ways, is listed
    once, with the rarer label in the body (the first of two that are as frequent), and its
    exceptions are counted as a share of the rarer one. With `max_body` above 1 there are also
    *implications* ``c <- a, b``, and exclusions of more than two labels ``not c <- a, b``, in
    which any two labels of the three do occur together.

    Only what is not told by shorter constraints is listed: neither ``c <- a, b`` where there is
    ``c <- a``, nor where ``d <- a`` and ``c <- d`` lead to it. Between pairs all constraints are
    listed; `Constraints.graph` leaves out those that follow from others. Labels that all rows
    have, or none, depend on nothing and are left out. Only what the label hierarchy of a data set
    says is listed in any case, if the rows bear it out: even where all rows have the parent.

    Parameters
    ----------
    Y : Dataset, array, sparse matrix, frame or label sets
        Rows by labels, as for :func:`labelrules.dataset`.
    max_body : int, default=1
        Labels in a body at most.
    tolerance : float, default=0
        The share of the rows covered that may be exceptions, below one half.
    min_support : int, default=1
        Rows that a body covers at least. All bodies of an exclusion must: in ``not c <- a, b``
        also a and c together, and b and c.
    alpha : float, optional
        If given, only constraints with a corrected probability of at most `alpha` are kept, and
        those that the label hierarchy knows.
    correction : {"holm", "benjamini-hochberg"}, optional
        For the number of tests: all constraints that were looked at, not only those found.
    label_names : sequence of str, optional
        Names for the columns of an array.
    groups : bool, default=True
        Whether to make groups of labels that exclude each other; with hundreds of thousands of
        exclusions it takes some seconds.
    max_sets : int, default=100000
        Label sets that may be bodies, if `max_body` is above 1; more are an error.

    Returns
    -------
    Constraints

    Examples
    --------
    >>> from labelrules import load
    >>> print(find_constraints(load("magazines")))
    3 constraints between 4 labels in 14 rows
    subset: 1
      quality <- sports  (2 rows, p = 1)
    exclusion: 2
      not tabloid <- sports  (2 rows, p = 1)
      not fashion <- sports  (2 rows, p = 1)
    >>> Y = [{"music", "jazz"}, {"music", "rock"}, {"music"}, {"news"}, {"music", "jazz"}]
    >>> print(find_constraints(Y, min_support=2).rules())
    in any order:
    music <- jazz
    """
    schema, board = labels_and_names(Y, label_names)
    if alpha is not None:
        checked_alpha(alpha)
    limit = Limit.checked(tolerance, min_support)
    _check_bodies(max_body, max_sets)
    known = _ancestors(schema)
    counted = _pairs(board, limit, known)
    if max_body > 1:
        counted = LabelSets(board, limit, max_sets).extend(counted, int(max_body))
    found = _judged(counted, schema, known, len(board), correction, alpha)
    return Constraints(
        schema,
        len(board),
        float(tolerance),
        counted.n_tests,
        found,
        equivalences_of(found, schema, board),
        exclusive_groups_of(found, schema, board) if groups else (),
        _hierarchy(schema, board, found),
    )


def labels_and_names(Y: Any, label_names: Sequence[str] | None) -> tuple[Schema, Board]:
    """The labels of rows, and a schema that names them."""
    if isinstance(Y, Dataset):
        if label_names is not None:
            raise ValueError("Y is a Dataset, which names its labels: leave label_names out")
        schema, board = Y.schema, Y.Y
    else:
        board, names = read_labels(Y, checked_names(label_names, "label_names"))
        schema = Schema([], names or default_names("y", board.shape[1], taken=()))
    if not schema.n_labels or not len(board):
        raise DataError(
            f"Y has {len(board)} rows and {schema.n_labels} labels: constraints are found among "
            "the labels of some rows"
        )
    return schema, board


def _check_bodies(max_body: int, max_sets: int) -> None:
    check_whole("max_body", max_body, 1)
    check_whole("max_sets", max_sets, 1)


def _pairs(board: Board, limit: Limit, known: Mask) -> ConstraintCounts:
    """Subset and exclusion constraints between two labels."""
    ones = sparse.csr_array(board).astype(np.int64)
    both = np.asarray((ones.T @ ones).toarray())
    count = both.diagonal()
    varied = (count > 0) & (count < len(board))
    pairs = np.outer(varied, varied) & ~np.eye(len(count), dtype=np.bool_)
    bodies = pairs & (count >= limit.min_support)
    candidates = bodies | (known & (count >= limit.min_support))
    subset = candidates & limit.allows(count - both, np.broadcast_to(count, both.shape))
    # Of two labels that exclude each other the rarer is the body, of equals the first.
    rarer = np.lexsort((np.arange(len(count)), count))
    place = np.argsort(rarer)
    once = bodies & (place[None, :] < place[:, None])
    excluded = once & limit.allows(both, np.broadcast_to(count, both.shape))
    heads, tested = np.concatenate([np.argwhere(subset), np.argwhere(excluded)]).T
    n_subsets = int(subset.sum())
    present = np.arange(len(heads)) < n_subsets
    together = both[heads, tested]
    exceptions = np.where(present, count[tested] - together, together)
    return ConstraintCounts(
        list(zip(tested.tolist(), heads.tolist(), strict=True)),
        present.tolist(),
        count[tested].tolist(),
        exceptions.tolist(),
        np.column_stack([together, count[tested], count[heads]]),
        np.arange(len(heads)),
        int(candidates.sum() + once.sum()),
    )


def _judged(
    counted: ConstraintCounts,
    schema: Schema,
    known: Mask,
    n_rows: int,
    correction: Correction,
    alpha: float | None,
) -> tuple[Constraint, ...]:
    """With probabilities, and in order: kinds, then the surest, then the most rows."""
    p = _probabilities(counted, n_rows)
    corrected = adjusted(p, correction, counted.n_tests)
    said = [
        present and len(members) == 2 and bool(known[members[1], members[0]])
        for members, present in zip(counted.members, counted.present, strict=True)
    ]
    found = [
        Constraint(
            schema,
            _kind(members, present),
            members[:-1],
            members[-1],
            present,
            support,
            exceptions,
            probability,
            raised,
            is_known,
            turned,
        )
        for members, present, support, exceptions, probability, raised, is_known, turned in zip(
            counted.members,
            counted.present,
            counted.support,
            counted.exceptions,
            p.tolist(),
            corrected.tolist(),
            said,
            _turned(counted),
            strict=True,
        )
        if alpha is None or raised <= alpha or is_known
    ]
    order: dict[Kind, int] = {"subset": 0, "implication": 1, "exclusion": 2}
    found.sort(key=lambda one: (order[one.kind], one.p, -one.support, one.body, one.label))
    return tuple(found)


def _turned(counted: ConstraintCounts) -> Iterator[tuple[int, ...]]:
    """For each label in the body of an exclusion the rows with all the others; else nothing."""
    starts = np.searchsorted(counted.owner, np.arange(len(counted.members)))
    for members, present, start in zip(counted.members, counted.present, starts, strict=True):
        body = members[:-1]
        if present:
            yield ()
        elif len(body) == 1:
            yield (int(counted.tables[start, 2]),)  # the rows with the label of the head
        else:
            # A test for each label as the head, from the last label to the first.
            tests = counted.tables[start : start + len(members), 1].tolist()
            n_covered = dict(zip(sorted(members, reverse=True), tests, strict=True))
            yield tuple(n_covered[label] for label in body)


def _probabilities(counted: ConstraintCounts, n_rows: int) -> Floats:
    """Fisher's test for more presences or fewer; of several the greatest probability."""
    both, first, second = counted.tables.T
    greater = np.array(counted.present, dtype=np.bool_)[counted.owner]
    each = np.empty(len(both))
    sides: dict[Alternative, Mask] = {"greater": greater, "less": ~greater}
    for side, chosen in sides.items():
        each[chosen] = fisher(both[chosen], first[chosen], second[chosen], n_rows, side)
    p = np.zeros(len(counted.members))
    np.maximum.at(p, counted.owner, each)
    return p


def _kind(members: tuple[int, ...], present: bool) -> Kind:
    if not present:
        return "exclusion"
    return "subset" if len(members) == 2 else "implication"


def _ancestors(schema: Schema) -> Mask:
    """Labels by labels: whether the first is above the second in the label hierarchy."""
    found = np.zeros((schema.n_labels, schema.n_labels), dtype=np.bool_)
    for label, parent in enumerate(schema.parents):
        while parent is not None:
            above = schema.label_index[parent]
            found[above, label] = True
            parent = schema.parents[above]
    return found


def _hierarchy(schema: Schema, board: Board, found: tuple[Constraint, ...]) -> tuple[Descent, ...]:
    """What the rows say of each child and its parent."""
    told = {one.labels for one in found if one.known}
    descents = []
    for label, parent in zip(schema.labels, schema.parents, strict=True):
        if parent is not None:
            child = board[:, schema.label_index[label]] == 1
            without = child & (board[:, schema.label_index[parent]] == 0)
            counts = int(child.sum()), int(without.sum())
            descents.append(Descent(label, parent, *counts, (label, parent) in told))
    return tuple(descents)
