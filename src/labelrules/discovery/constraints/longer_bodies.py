"""Constraints with more than one label in the body."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from labelrules._types import Board, Integers, Mask

# -------------------- What a constraint needs, and constraints as counts, before anything is
# known of chance


class Limit(NamedTuple):
    """How many exceptions a constraint may have, and how many rows it needs."""

    share: Fraction
    min_support: int

    @classmethod
    def checked(cls, tolerance: float, min_support: int) -> "Limit":
        """From what a user gives."""
        if not isinstance(tolerance, Real) or not 0 <= tolerance < 0.5:
            raise ValueError(
                f"tolerance must be a share of exceptions from 0 to below 0.5, not {tolerance!r}"
            )
        check_whole("min_support", min_support, 1)
        # A share as it is written, so that 3 of 10 are within 0.3 whatever a float makes of it.
        share = Fraction(str(float(tolerance))).limit_denominator(10**6)
        return cls(share, int(min_support))

    def allows(self, exceptions: Integers, support: Integers) -> Mask:
        """Whether so many of the rows covered may be otherwise."""
        few = exceptions * self.share.denominator <= support * self.share.numerator
        return np.asarray(few & (support >= self.min_support))


class ConstraintCounts(NamedTuple):
    """Constraints as arrays are best for counting: one entry per constraint.

    `members` are the label numbers, that of the head last; `tables` the four numbers of Fisher's
    test (rows with body and head, with the body, with the head's label); several tests of one
    constraint follow one another, `owner` says whose they are.
    """

    members: list[tuple[int, ...]]
    present: list[bool]
    support: list[int]
    exceptions: list[int]
    tables: Integers
    owner: Integers
    n_tests: int


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number, or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, not {value!r}")


# ---------------------------------------------------------------- the main part

LabelSet = tuple[int, ...]


class LabelSets:
    """The label sets of some rows, looked through from the smaller to the larger.

    Parameters
    ----------
    board : array of int8
        Rows by labels.
    limit : Limit
    max_sets : int
        Sets that may be bodies.
    """

    def __init__(self, board: Board, limit: Limit, max_sets: int) -> None:
        self.board, self.limit, self.max_sets = board, limit, max_sets
        self.columns = np.asfortranarray(board, dtype=np.bool_)
        self.count: Integers = self.columns.sum(axis=0)
        self.varied = (self.count > 0) & (self.count < len(board))

    def extend(self, pairs: ConstraintCounts, max_body: int) -> ConstraintCounts:
        """Add the constraints with larger bodies to those between pairs of labels."""
        shorter = Shorter(len(self.count))
        found, n_tests = pairs, pairs.n_tests
        shorter.learn(pairs)
        bodies: dict[LabelSet, int] = {(j,): int(self.count[j]) for j in self._labels()}
        n_sets = 0
        # No body is larger than the number of labels.
        for _ in range(2, min(max_body, len(self.count)) + 1):
            bodies = self._grown(bodies, shorter, n_sets)
            n_sets += len(bodies)
            level, n_looked_at = self._constraints(bodies, shorter)
            n_tests += n_looked_at
            more = _counted(level)
            shorter.learn(more)
            found = _joined(found, more)
        return found._replace(n_tests=n_tests)

    def _labels(self) -> list[int]:
        frequent = self.varied & (self.count >= self.limit.min_support)
        return np.flatnonzero(frequent).tolist()

    def _counts(self, body: LabelSet) -> Integers:
        """How many rows with these labels have each label."""
        covered = np.flatnonzero(np.logical_and.reduce([self.columns[:, j] for j in body]))
        return np.asarray(self.board[covered].sum(axis=0, dtype=np.int64))

    def _grown(
        self, bodies: dict[LabelSet, int], shorter: "Shorter", n_before: int
    ) -> dict[LabelSet, int]:
        """Bodies with one label more, that cover enough rows and not just exceptions."""
        found: dict[LabelSet, int] = {}
        labels = np.array(self._labels(), dtype=np.int64)
        for body in bodies:
            counts = self._counts(body)
            for label in labels[labels > body[-1]].tolist():
                enough = counts[label] >= self.limit.min_support
                if enough and not shorter.excludes((*body, label)):
                    found[(*body, label)] = int(counts[label])
            if n_before + len(found) > self.max_sets:
                raise ValueError(
                    f"more than {self.max_sets} label sets of up to {len(body) + 1} labels occur "
                    f"in {self.limit.min_support} rows or more: raise min_support or max_sets, or "
                    "lower max_body"
                )
        return found

    def _constraints(
        self, bodies: dict[LabelSet, int], shorter: "Shorter"
    ) -> tuple[list["_Found"], int]:
        """What these bodies tell that is not told yet, and how much was looked at."""
        found: list[_Found] = []
        n_tests = 0
        for body, n_covered in bodies.items():
            counts = self._counts(body)
            open_labels = [j for j in self._varied() if not shorter.closed(body) >> j & 1]
            n_tests += len(open_labels)
            within = self.limit.allows(n_covered - counts, np.full_like(counts, n_covered))
            found += [
                _Found((*body, j), True, n_covered, n_covered - int(counts[j]),
                       [(int(counts[j]), n_covered, int(self.count[j]))])
                for j in open_labels if within[j]
            ]  # fmt: skip
            for label in self._partners(body, bodies, shorter):
                n_tests += 1
                found += self._excluded((*body, label), int(counts[label]), bodies)
        return found, n_tests

    def _varied(self) -> list[int]:
        return np.flatnonzero(self.varied).tolist()

    def _partners(
        self, body: LabelSet, bodies: dict[LabelSet, int], shorter: "Shorter"
    ) -> Iterator[int]:
        """Labels after the body with which every part of it is a body too."""
        for label in self._labels():
            if label > body[-1]:
                parts = combinations((*body, label), len(body))
                if all(part in bodies for part in parts) and not shorter.excludes((*body, label)):
                    yield label

    def _excluded(
        self, members: LabelSet, together: int, bodies: dict[LabelSet, int]
    ) -> list["_Found"]:
        """The exclusion of these labels, if there is one; its body is the rarest, or the first."""
        # Parts come without the last label first, so the least one is that of the last head.
        parts = list(combinations(members, len(members) - 1))
        heads = members[::-1]
        least = min(range(len(parts)), key=lambda place: bodies[parts[place]])
        support = bodies[parts[least]]
        if not self.limit.allows(np.array(together), np.array(support)):
            return []
        tables = [
            (together, bodies[part], int(self.count[head]))
            for part, head in zip(parts, heads, strict=True)
        ]
        return [_Found((*parts[least], heads[least]), False, support, together, tables)]


class _Found(NamedTuple):
    """One constraint; see `Counted`."""

    members: LabelSet
    present: bool
    support: int
    exceptions: int
    tables: list[tuple[int, int, int]]


class Shorter:
    """What the constraints with fewer labels tell, taken together. Sets of labels are bits."""

    def __init__(self, n_labels: int) -> None:
        self.implied = [1 << label for label in range(n_labels)]
        self.excluded = [0] * n_labels
        self.long_implications: list[tuple[int, int]] = []
        self.long_exclusions: list[int] = []

    def learn(self, found: ConstraintCounts) -> None:
        """Take note of further constraints."""
        for members, present in zip(found.members, found.present, strict=True):
            self._note(members, present)
        self._follow()

    def closed(self, labels: LabelSet) -> int:
        """These labels and all that they imply."""
        mask = 0
        for label in labels:
            mask |= self.implied[label]
        return self._completed(mask)

    def excludes(self, labels: LabelSet) -> bool:
        """Whether these labels cannot occur together."""
        mask = self.closed(labels)
        return any(self.excluded[label] & mask for label in _bits(mask)) or any(
            other & ~mask == 0 for other in self.long_exclusions
        )

    def _note(self, members: LabelSet, present: bool) -> None:
        *body, head = members
        if len(body) == 1 and present:
            self.implied[body[0]] |= 1 << head
        elif len(body) == 1:
            self.excluded[body[0]] |= 1 << head
            self.excluded[head] |= 1 << body[0]
        elif present:
            self.long_implications.append((_mask(tuple(body)), 1 << head))
        else:
            self.long_exclusions.append(_mask(members))

    def _follow(self) -> None:
        """Let what a label implies contain all that this implies."""
        changed = True
        while changed:
            changed = False
            for label, mask in enumerate(self.implied):
                wider = mask
                for other in _bits(mask):
                    wider |= self.implied[other]
                if wider != mask:
                    self.implied[label] = wider
                    changed = True

    def _completed(self, mask: int) -> int:
        before = 0
        while mask != before:
            before = mask
            for body, head in self.long_implications:
                if body & ~mask == 0:
                    mask |= self.implied[head.bit_length() - 1]
        return mask


def _mask(labels: LabelSet) -> int:
    return sum(1 << label for label in labels)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _counted(found: list[_Found]) -> ConstraintCounts:
    """As arrays; each test knows whose it is."""
    owner = [number for number, one in enumerate(found) for _ in one.tables]
    tables = [table for one in found for table in one.tables]
    return ConstraintCounts(
        [one.members for one in found],
        [one.present for one in found],
        [one.support for one in found],
        [one.exceptions for one in found],
        np.array(tables, dtype=np.int64).reshape(-1, 3),
        np.array(owner, dtype=np.int64),
        0,
    )


def _joined(first: ConstraintCounts, second: ConstraintCounts) -> ConstraintCounts:
    return ConstraintCounts(
        first.members + second.members,
        first.present + second.present,
        first.support + second.support,
        first.exceptions + second.exceptions,
        np.concatenate([first.tables, second.tables]),
        np.concatenate([first.owner, second.owner + len(first.members)]),
        first.n_tests,
    )
