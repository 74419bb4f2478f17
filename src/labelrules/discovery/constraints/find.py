"""The search for constraints between labels: between pairs, and with larger bodies."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from labelrules._checks import is_number, whole_number
from labelrules._types import Board, Floats, Integers, Mask
from labelrules.data import Dataset, Schema
from labelrules.data.errors import DataError
from labelrules.data.memory.labels import checked_names, default_names, read_labels
from labelrules.discovery.constraints.constraint import Constraint, Constraints, Descent, Kind
from labelrules.discovery.constraints.graph import equivalences_of, exclusive_groups_of
from labelrules.discovery.items import check_known
from labelrules.discovery.significance import Correction, adjusted, checked_alpha, fisher

LabelSet: TypeAlias = tuple[int, ...]

MAX_SETS = 100_000  # bodies of several labels at most, since more take too long


def find_constraints(
    Y: Any,
    *,
    max_conditions: int = 1,
    tolerance: float = 0.0,
    min_support: int = 1,
    alpha: float | None = None,
    correction: Correction = "holm",
    label_names: Sequence[str] | None = None,
    groups: bool = True,
    max_sets: int = MAX_SETS,
) -> Constraints:
    """Find constraints between labels, whatever the features of the rows.

    A *subset* constraint ``a <- b`` means that b occurs only together with a. An *exclusion*
    ``not a <- b`` means that the two do not occur together; it is symmetric and listed once, with
    the rarer label in the body (the first of equals), of which exceptions are a share. With
    `max_conditions` above 1 there are also *implications* ``c <- a, b``, and exclusions of more
    than two labels ``not c <- a, b``, in which any two of the three do occur together.

    The result has no constraint that shorter ones imply: neither ``c <- a, b`` where there is
    ``c <- a``, nor where ``d <- a`` and ``c <- d`` imply it. All those between pairs are listed;
    `Constraints.graph` leaves out those that follow from others. Labels that all rows have, or
    none, are left out, except from constraints of the label hierarchy that the rows satisfy.

    Parameters
    ----------
    Y : Dataset, array, sparse matrix, frame or label sets
        Rows by labels, as for :func:`labelrules.dataset`.
    max_conditions : int, default=1
        The largest number of labels in a body.
    tolerance : float, default=0
        The largest share of the covered rows that may be exceptions, below one half.
    min_support : int, default=1
        The least number of rows that a body covers. All bodies of an exclusion must: in
        ``not c <- a, b`` also a and c together, and b and c.
    alpha : float, optional
        If given, only constraints with a corrected p-value of at most `alpha` are kept, and those
        of the label hierarchy.
    correction : {"holm", "benjamini-hochberg"}, optional
        For the number of tests: of all candidates, not only the constraints found.
    label_names : sequence of str, optional
        Names for the columns of an array.
    groups : bool, default=True
        Whether to group labels that exclude each other; slow with 100,000 exclusions or more.
    max_sets : int, default=100000
        The largest number of bodies, if `max_conditions` is above 1; more are an error.

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
    schema, board = _labels_of(Y, label_names)
    if alpha is not None:
        checked_alpha(alpha)
    needs = Requirements.checked(tolerance, min_support)
    longest = whole_number(max_conditions, "max_conditions", low=1)
    max_sets = whole_number(max_sets, "max_sets", low=1)
    known = _ancestors(schema)
    candidates, n_tests = _pairs(board, needs, known)
    if longest > 1:
        larger, n_more = LargerBodies(board, needs, max_sets).search(candidates, longest)
        candidates, n_tests = candidates + larger, n_tests + n_more
    found = _tested(candidates, n_tests, schema, known, board, correction, alpha)
    return Constraints(
        schema,
        len(board),
        float(tolerance),
        n_tests,
        found,
        equivalences_of(found, schema, board),
        exclusive_groups_of(found, schema, board) if groups else (),
        _hierarchy(schema, board, found),
    )


def _labels_of(Y: Any, label_names: Sequence[str] | None) -> tuple[Schema, Board]:
    if isinstance(Y, Dataset):
        if label_names is not None:
            raise ValueError("Y is a Dataset, which names its labels: leave label_names out")
        schema, board = Y.schema, Y.Y
    else:
        schema, board = named_labels(Y, label_names)
    if not schema.n_labels or not len(board):
        raise DataError(
            f"Y has {len(board)} rows and {schema.n_labels} labels: constraints need at least one "
            "of each"
        )
    check_known(board)
    return schema, board


def named_labels(Y: Any, label_names: Sequence[str] | None) -> tuple[Schema, Board]:
    """Labels in any form, and a schema with the names given, their own names, or y0, y1, ...."""
    board, names = read_labels(Y, checked_names(label_names, "label_names"))
    return Schema([], names or default_names("y", board.shape[1], taken=())), board


class Requirements(NamedTuple):
    """The largest share of exceptions of a constraint, and its minimum support."""

    share: Fraction
    min_support: int

    @classmethod
    def checked(cls, tolerance: float, min_support: int) -> "Requirements":
        """From the parameters of a search."""
        if not is_number(tolerance) or not 0 <= tolerance < 0.5:
            raise ValueError(
                f"tolerance must be a share of exceptions from 0 to below 0.5, not {tolerance!r}"
            )
        # A share as it is written: 3 of 10 are within 0.3, whatever the float is.
        share = Fraction(str(float(tolerance))).limit_denominator(10**6)
        return cls(share, whole_number(min_support, "min_support", low=1))

    def allow(self, exceptions: Integers, support: Integers) -> Mask:
        """Whether so many of the covered rows may be exceptions."""
        few = exceptions * self.share.denominator <= support * self.share.numerator
        return np.asarray(few & (support >= self.min_support))


class ConstraintCandidate(NamedTuple):
    """A constraint before it is tested; `members` are its labels, that of the head last."""

    members: LabelSet
    present: bool
    support: int
    exceptions: int
    turned: tuple[int, ...] = ()  # see Constraint

    @property
    def kind(self) -> Kind:
        """What the constraint is called."""
        if not self.present:
            return "exclusion"
        return "subset" if len(self.members) == 2 else "implication"

    def tests(self, count: list[int]) -> Iterator[tuple[int, int, int]]:
        """Counts for Fisher's test (both, body, head), one for each head of an exclusion."""
        both = self.support - self.exceptions if self.present else self.exceptions
        yield both, self.support, count[self.members[-1]]
        if len(self.turned) > 1:
            for label, n_covered in zip(self.members, self.turned, strict=False):
                yield both, n_covered, count[label]


def _pairs(board: Board, needs: Requirements, known: Mask) -> tuple[list[ConstraintCandidate], int]:
    """Subset and exclusion constraints between two labels, and the number of tests."""
    ones = sparse.csr_array(board).astype(np.int64)
    both = np.asarray((ones.T @ ones).toarray())
    count = both.diagonal()
    support = np.broadcast_to(count, both.shape)
    varied = (count > 0) & (count < len(board))
    frequent = count >= needs.min_support
    bodies = np.outer(varied, varied) & ~np.eye(len(count), dtype=np.bool_) & frequent
    implied = bodies | (known & frequent)
    subset = implied & needs.allow(count - both, support)
    # Of two labels that exclude each other the rarer is the body, of equals the first.
    place = np.argsort(np.lexsort((np.arange(len(count)), count)))
    once = bodies & (place[None, :] < place[:, None])
    excluded = once & needs.allow(both, support)
    candidates = []
    for present, chosen in ((True, subset), (False, excluded)):
        head, body = np.nonzero(chosen)
        columns = body, head, both[head, body], count[body], count[head]
        for b, h, together, covered, n_head in zip(*(c.tolist() for c in columns), strict=True):
            exceptions = covered - together if present else together
            turned = () if present else (n_head,)
            candidates.append(ConstraintCandidate((b, h), present, covered, exceptions, turned))
    return candidates, int(implied.sum() + once.sum())


def _tested(
    candidates: list[ConstraintCandidate],
    n_tests: int,
    schema: Schema,
    known: Mask,
    board: Board,
    correction: Correction,
    alpha: float | None,
) -> tuple[Constraint, ...]:
    """Constraints with p-values, in order: kinds, then p-values, then support."""
    p = _p_values(candidates, board.sum(axis=0, dtype=np.int64).tolist(), len(board))
    figures = zip(candidates, p.tolist(), adjusted(p, correction, n_tests).tolist(), strict=True)
    found = []
    for one, own_p, corrected in figures:
        kind, body, head = one.kind, one.members[:-1], one.members[-1]
        is_known = kind == "subset" and bool(known[head, body[0]])
        if alpha is None or corrected <= alpha or is_known:
            counts = one.support, one.exceptions, own_p, corrected, is_known, one.turned
            found.append(Constraint(schema, kind, body, head, one.present, *counts))
    order: dict[Kind, int] = {"subset": 0, "implication": 1, "exclusion": 2}
    found.sort(key=lambda one: (order[one.kind], one.p, -one.support, one.body, one.label))
    return tuple(found)


def _p_values(candidates: list[ConstraintCandidate], count: list[int], n_rows: int) -> Floats:
    """Fisher's test for more presences or fewer; the greatest p-value of several tests."""
    tests = [(n, *test) for n, one in enumerate(candidates) for test in one.tests(count)]
    owner, both, first, second = np.array(tests, dtype=np.int64).reshape(-1, 4).T
    more = np.array([one.present for one in candidates], dtype=np.bool_)[owner]
    each = np.empty(len(both))
    each[more] = fisher(both[more], first[more], second[more], n_rows, "greater")
    each[~more] = fisher(both[~more], first[~more], second[~more], n_rows, "less")
    p = np.zeros(len(candidates))
    np.maximum.at(p, owner, each)
    return p


def _ancestors(schema: Schema) -> Mask:
    """Labels by labels: whether the first is above the second in the label hierarchy."""
    above = np.zeros((schema.n_labels, schema.n_labels), dtype=np.bool_)
    for label, parent in enumerate(schema.parents):
        while parent is not None:
            number = schema.label_index[parent]
            above[number, label] = True
            parent = schema.parents[number]
    return above


def _hierarchy(schema: Schema, board: Board, found: tuple[Constraint, ...]) -> tuple[Descent, ...]:
    """Each child and its parent, with their rows."""
    known = {one.labels for one in found if one.known}
    descents = []
    for label, parent in zip(schema.labels, schema.parents, strict=True):
        if parent is not None:
            child = board[:, schema.label_index[label]] == 1
            without = child & (board[:, schema.label_index[parent]] == 0)
            counts = int(child.sum()), int(without.sum())
            descents.append(Descent(label, parent, *counts, (label, parent) in known))
    return tuple(descents)


class LargerBodies:
    """The search for constraints with several labels in the body, from small bodies to large."""

    def __init__(self, board: Board, needs: Requirements, max_sets: int) -> None:
        self.board, self.needs, self.max_sets = board, needs, max_sets
        self.columns = np.asfortranarray(board, dtype=np.bool_)
        self.count: Integers = self.columns.sum(axis=0)
        varied = np.flatnonzero((self.count > 0) & (self.count < len(board)))
        self.varied: list[int] = varied.tolist()
        self.frequent = [j for j in self.varied if self.count[j] >= needs.min_support]

    def search(
        self, pairs: list[ConstraintCandidate], longest: int
    ) -> tuple[list[ConstraintCandidate], int]:
        """The constraints with larger bodies than those between pairs, and the number of tests."""
        implied = Implied(len(self.count))
        implied.add(pairs)
        found: list[ConstraintCandidate] = []
        n_sets = n_tests = 0
        bodies: dict[LabelSet, int] = {(j,): int(self.count[j]) for j in self.frequent}
        for _ in range(2, min(longest, len(self.count)) + 1):
            bodies = self._grown(bodies, implied, n_sets)
            n_sets += len(bodies)
            level, n_more = self._constraints(bodies, implied)
            implied.add(level)
            found += level
            n_tests += n_more
        return found, n_tests

    def _counts(self, body: LabelSet) -> Integers:
        """How many rows with these labels have each label."""
        covered = np.flatnonzero(np.logical_and.reduce([self.columns[:, j] for j in body]))
        return np.asarray(self.board[covered].sum(axis=0, dtype=np.int64))

    def _grown(
        self, bodies: dict[LabelSet, int], implied: "Implied", n_before: int
    ) -> dict[LabelSet, int]:
        """Bodies with one label more that cover enough rows and not just exceptions."""
        grown: dict[LabelSet, int] = {}
        for body in bodies:
            counts = self._counts(body)
            for label in self.frequent:
                enough = label > body[-1] and counts[label] >= self.needs.min_support
                if enough and not implied.excludes((*body, label)):
                    grown[(*body, label)] = int(counts[label])
            if n_before + len(grown) > self.max_sets:
                raise ValueError(
                    f"more than {self.max_sets} label sets of up to {len(body) + 1} labels occur "
                    f"in {self.needs.min_support} rows or more: raise min_support or max_sets, or "
                    "lower max_conditions"
                )
        return grown

    def _constraints(
        self, bodies: dict[LabelSet, int], implied: "Implied"
    ) -> tuple[list[ConstraintCandidate], int]:
        """The constraints of these bodies that shorter ones do not imply, and the tests."""
        found: list[ConstraintCandidate] = []
        n_tests = 0
        for body, n_covered in bodies.items():
            counts = self._counts(body)
            closure = implied.closure(body)
            heads = [j for j in self.varied if not closure >> j & 1]
            n_tests += len(heads)
            allowed = self.needs.allow(n_covered - counts, np.full_like(counts, n_covered))
            for j in heads:
                if allowed[j]:
                    wrong = n_covered - int(counts[j])
                    found.append(ConstraintCandidate((*body, j), True, n_covered, wrong))
            for label in self._partners(body, bodies, implied):
                n_tests += 1
                found += self._exclusion((*body, label), int(counts[label]), bodies)
        return found, n_tests

    def _partners(
        self, body: LabelSet, bodies: dict[LabelSet, int], implied: "Implied"
    ) -> Iterator[int]:
        """Labels after the body with which every part of it is a body too."""
        for label in self.frequent:
            if label > body[-1]:
                parts = combinations((*body, label), len(body))
                if all(part in bodies for part in parts) and not implied.excludes((*body, label)):
                    yield label

    def _exclusion(
        self, members: LabelSet, together: int, bodies: dict[LabelSet, int]
    ) -> list[ConstraintCandidate]:
        """The exclusion of these labels, if there is one; its body is the rarest, or the first."""
        parts = combinations(members, len(members) - 1)
        n_without = {head: bodies[part] for head, part in zip(members[::-1], parts, strict=True)}
        head = min(n_without, key=lambda label: n_without[label])
        if not self.needs.allow(np.array(together), np.array(n_without[head])):
            return []
        body = tuple(label for label in members if label != head)
        turned = tuple(n_without[label] for label in body)
        return [ConstraintCandidate((*body, head), False, n_without[head], together, turned)]


class Implied:
    """What the constraints so far imply, taken together. Sets of labels are bits."""

    def __init__(self, n_labels: int) -> None:
        self.implied = [1 << label for label in range(n_labels)]
        self.excluded = [0] * n_labels
        self.long_implications: list[tuple[int, int]] = []
        self.long_exclusions: list[int] = []

    def add(self, candidates: list[ConstraintCandidate]) -> None:
        """Add constraints."""
        for one in candidates:
            self._add(one.members, one.present)
        self._close()

    def closure(self, labels: LabelSet) -> int:
        """These labels and all that they imply."""
        mask = 0
        for label in labels:
            mask |= self.implied[label]
        before = 0
        while mask != before:
            before = mask
            for body, head in self.long_implications:
                if body & ~mask == 0:
                    mask |= self.implied[head]
        return mask

    def excludes(self, labels: LabelSet) -> bool:
        """Whether these labels cannot occur together."""
        mask = self.closure(labels)
        in_pairs = any(self.excluded[label] & mask for label in places(mask))
        return in_pairs or any(other & ~mask == 0 for other in self.long_exclusions)

    def _add(self, members: LabelSet, present: bool) -> None:
        *body, head = members
        if len(body) == 1 and present:
            self.implied[body[0]] |= 1 << head
        elif len(body) == 1:
            self.excluded[body[0]] |= 1 << head
            self.excluded[head] |= 1 << body[0]
        elif present:
            self.long_implications.append((sum(1 << label for label in body), head))
        else:
            self.long_exclusions.append(sum(1 << label for label in members))

    def _close(self) -> None:
        """The transitive closure of implications between pairs."""
        changed = True
        while changed:
            changed = False
            for label, mask in enumerate(self.implied):
                wider = mask
                for other in places(mask):
                    wider |= self.implied[other]
                if wider != mask:
                    self.implied[label] = wider
                    changed = True


def places(bits: int) -> Iterator[int]:
    """The places of the bits that are set, rising."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
