"""The search for constraints between labels: between pairs, and with larger bodies."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from labelrules._checks import is_number, whole_number
from labelrules._types import Floats, Integers, Mask
from labelrules.constraints.constraint import Constraint, Constraints, Descent, Kind
from labelrules.constraints.graph import equivalences_of, exclusive_groups_of
from labelrules.constraints.label_counts import (
    LabelPairCounts,
    LabelSet,
    LabelTotal,
    body_counts,
    labels_of,
)
from labelrules.constraints.significance import Correction, adjusted, checked_alpha, fisher
from labelrules.data import Schema

MAX_SETS = 100_000  # bodies of several labels at most, since more take too long

CELLS_AT_ONCE = 1 << 22  # bodies by labels whose rows are counted in one pass: 32 MB


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
    Y : Dataset, array, sparse matrix, frame or label sets, Partitions, or Dask frame or array
        Rows by labels, as for :func:`labelrules.dataset`. Partitions, from :func:`labelrules.scan`,
        and collections of Dask are counted part by part: once for all pairs, and once or twice for
        each further label in a body.
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
    schema, total = labels_of(Y, label_names)
    if alpha is not None:
        checked_alpha(alpha)
    needs = Requirements.checked(tolerance, min_support)
    longest = whole_number(max_conditions, "max_conditions", low=1)
    max_sets = whole_number(max_sets, "max_sets", low=1)
    known = _ancestors(schema)
    rows: LabelPairCounts = total(LabelPairCounts.of)
    rows.check()
    candidates, n_tests = _pairs(rows, needs, known)
    if longest > 1:
        larger, n_more = LargerBodies(rows, total, needs, max_sets).search(candidates, longest)
        candidates, n_tests = candidates + larger, n_tests + n_more
    found = _tested(candidates, n_tests, schema, known, rows, correction, alpha)
    return Constraints(
        schema,
        rows.n_rows,
        float(tolerance),
        n_tests,
        found,
        equivalences_of(found, schema, total),
        exclusive_groups_of(found, schema, total) if groups else (),
        _hierarchy(schema, rows, found),
    )


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
    """A constraint before it is tested; `members` are its labels, with the head last."""

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


def _pairs(
    rows: LabelPairCounts, needs: Requirements, known: Mask
) -> tuple[list[ConstraintCandidate], int]:
    """Subset and exclusion constraints between two labels, and the number of tests."""
    both, count = rows.both, rows.support
    support = np.broadcast_to(count, both.shape)
    varied = (count > 0) & (count < rows.n_rows)
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
    rows: LabelPairCounts,
    correction: Correction,
    alpha: float | None,
) -> tuple[Constraint, ...]:
    """Constraints with p-values, in order: kinds, then p-values, then support."""
    p = _p_values(candidates, rows.support.tolist(), rows.n_rows)
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


def _hierarchy(
    schema: Schema, rows: LabelPairCounts, found: tuple[Constraint, ...]
) -> tuple[Descent, ...]:
    """Each child and its parent, with their rows."""
    known = {one.labels for one in found if one.known}
    descents = []
    for child, (label, parent) in enumerate(zip(schema.labels, schema.parents, strict=True)):
        if parent is not None:
            n_child, together = rows.support[child], rows.both[child, schema.label_index[parent]]
            counts = int(n_child), int(n_child - together)
            descents.append(Descent(label, parent, *counts, (label, parent) in known))
    return tuple(descents)


class LargerBodies:
    """The search for constraints with several labels in the body, from small bodies to large."""

    def __init__(
        self, rows: LabelPairCounts, total: LabelTotal, needs: Requirements, max_sets: int
    ) -> None:
        self.total, self.needs, self.max_sets = total, needs, max_sets
        self.count = rows.support
        varied = np.flatnonzero((self.count > 0) & (self.count < rows.n_rows))
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

    def _counted(self, bodies: dict[LabelSet, int]) -> Iterator[tuple[LabelSet, Integers]]:
        """Bodies, and how many rows with their labels have each label."""
        n_at_once = max(1, CELLS_AT_ONCE // len(self.count))
        every = list(bodies)
        for first in range(0, len(every), n_at_once):
            some = every[first : first + n_at_once]
            yield from zip(some, self.total(partial(body_counts, bodies=some)), strict=True)

    def _grown(
        self, bodies: dict[LabelSet, int], implied: "Implied", n_before: int
    ) -> dict[LabelSet, int]:
        """Bodies with one label more that cover enough rows and not just exceptions."""
        grown: dict[LabelSet, int] = {}
        for body, counts in self._counted(bodies):
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
        for body, counts in self._counted(bodies):
            n_covered = bodies[body]
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
