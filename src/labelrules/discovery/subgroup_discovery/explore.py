"""Search for the groups of rows that are worth most: by a beam, or among all of them."""

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.schema import Feature
from labelrules.discovery.binning import thresholds
from labelrules.discovery.subgroup_discovery.results import Deviation
from labelrules.rules import Body, Condition

# -------------------- The conditions that groups of rows are described by, and the rows of each
# on packed bits

Bits: TypeAlias = npt.NDArray[np.uint64]
"""Rows packed into words, 64 to each; bits beyond the last row are 0."""

Numbers: TypeAlias = Literal["cuts", "bins"]
"""How numeric features are tested: above or up to a threshold, or between two neighbours."""

Selector: TypeAlias = tuple[Condition, ...]
"""What is added to a body at once: a condition, or the two ends of a bin."""


@dataclass(frozen=True, eq=False)
class Selectors:
    """What may be added to a body, in order, and the rows that satisfy it.

    Parameters
    ----------
    parts : tuple of Selector
    bits : array of uint64, selectors by words
    """

    parts: tuple[Selector, ...]
    bits: Bits

    def body(self, numbers: tuple[int, ...]) -> Body:
        """The body made of the selectors with these numbers."""
        return Body(condition for number in numbers for condition in self.parts[number])

    def __len__(self) -> int:
        return len(self.parts)


@dataclass(frozen=True)
class Vocabulary:
    """Which conditions bodies may have.

    Parameters
    ----------
    numbers : {"cuts", "bins"}
        How numeric features are tested.
    n_cuts : int
        Thresholds of a numeric feature at most; they divide its rows into equal parts.
    negated : bool
        Whether nominal features of three categories or more may be tested by "!=" too.
    labels : tuple of int
        The labels that may be tested.
    """

    numbers: Numbers
    n_cuts: int
    negated: bool
    labels: tuple[int, ...]

    def selectors(self, data: Dataset, least: int) -> Selectors:
        """Those that hold for at least so many rows and not for all; of equal ones the first."""
        parts, bits, seen = [], [], set()
        for part, covered in self._all(data):
            if not least <= np.count_nonzero(covered) < data.n_rows:
                continue
            packed = packed_rows(covered)
            if packed.tobytes() not in seen:
                seen.add(packed.tobytes())
                parts.append(part)
                bits.append(packed)
        n_words = len(packed_rows(np.zeros(data.n_rows, dtype=np.bool_)))
        return Selectors(tuple(parts), np.array(bits, dtype=np.uint64).reshape(-1, n_words))

    def _all(self, data: Dataset) -> Iterator[tuple[Selector, Mask]]:
        for column, feature in enumerate(data.schema.features):
            values = data.column(column)
            for part in self._of_feature(column, feature, values):
                yield part, _holds(part, values)
        for label in self.labels:
            for present in (True, False):
                part = (Condition.label(label, present),)
                yield part, _holds(part, data.Y[:, label])

    def _of_feature(self, column: int, feature: Feature, values: Floats) -> list[Selector]:
        if feature.categories is not None:
            return self._of_categories(column, len(feature.categories))
        no_classes = np.zeros(len(values), dtype=np.int64)
        found = thresholds(values, no_classes, "frequency", self.n_cuts + 1)
        if self.numbers == "bins":
            low = [None, *(Condition.above(column, cut) for cut in found)]
            high = [*(Condition.at_most(column, cut) for cut in found), None]
            pairs = zip(low, high, strict=True)
            return [tuple(c for c in pair if c is not None) for pair in pairs if any(pair)]
        ways = (Condition.at_most, Condition.above)
        return [(way(column, cut),) for cut in found for way in ways]

    def _of_categories(self, column: int, n_categories: int) -> list[Selector]:
        codes = range(n_categories)
        found: list[Selector] = [(Condition.equals(column, code),) for code in codes]
        if self.negated and n_categories > 2:
            found += [(Condition.differs(column, code),) for code in codes]
        return found


def packed_rows(rows: Mask) -> Bits:
    """A mask of rows as words.

    Examples
    --------
    >>> packed_rows(np.array([True, False, True]))
    array([5], dtype=uint64)
    """
    n_bytes = -(-len(rows) // 64) * 8
    packed = np.zeros(n_bytes, dtype=np.uint8)
    found = np.packbits(rows, bitorder="little")
    packed[: len(found)] = found
    return packed.view("<u8").astype(np.uint64)


def unpacked_rows(bits: Bits, n_rows: int) -> Mask:
    """The mask that was packed.

    Examples
    --------
    >>> unpacked_rows(np.array([5], dtype=np.uint64), 3)
    array([ True, False,  True])
    """
    octets = bits.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, count=n_rows, bitorder="little").astype(np.bool_)


def _holds(part: Selector, values: npt.NDArray[np.float64] | npt.NDArray[np.int8]) -> Mask:
    covered = part[0].holds(values)
    for condition in part[1:]:
        covered = covered & condition.holds(values)
    return covered


# ---------------------------------------------------------------- the main part

PIECE = 1 << 22
"""Counts that are held at once."""


class Group(NamedTuple):
    """Some rows, the selectors that describe them, and what they are worth."""

    value: float
    numbers: tuple[int, ...]
    bits: Bits
    counts: Integers


def rank(group: Group) -> tuple[float, int, tuple[int, ...]]:
    """Greater values first, then fewer selectors, then earlier ones."""
    return (-group.value, len(group.numbers), group.numbers)


class BestGroups:
    """The best groups so far; of those with the same rows the first by rank.

    Parameters
    ----------
    n_kept : int
    least : float
        What a group is worth more than.
    """

    def __init__(self, n_kept: int, least: float = 0.0) -> None:
        self.n_kept, self.least = n_kept, least
        self.ranked: list[Group] = []
        self._by_rows: dict[bytes, Group] = {}

    @property
    def goal(self) -> float:
        """What a group must be worth to be looked at."""
        return self.ranked[-1].value if len(self.ranked) == self.n_kept else self.least

    def offer(self, group: Group) -> None:
        """Keep the group if it is among the best."""
        if group.value <= self.least:
            return
        rows = group.bits.tobytes()
        same = self._by_rows.get(rows)
        if same is not None:
            if rank(same) <= rank(group):
                return
            del self.ranked[bisect_left(self.ranked, rank(same), key=rank)]
        insort(self.ranked, group, key=rank)
        self._by_rows[rows] = group
        if len(self.ranked) > self.n_kept:
            del self._by_rows[self.ranked.pop().bits.tobytes()]


@dataclass(eq=False)
class Exploration:
    """A search for groups; the number of bodies looked at is counted.

    Parameters
    ----------
    selectors : Selectors
    deviation : Deviation
    least : int
        Rows that a group must have.
    depth : int
        Selectors that a group may have.
    max_bodies : int
        After so many bodies the search among all ends.

    Attributes
    ----------
    n_bodies : int
    was_stopped : bool
        Whether it ended before all bodies were looked at that could be among the best.
    """

    selectors: Selectors
    deviation: Deviation
    least: int
    depth: int
    max_bodies: int
    n_bodies: int = 0
    was_stopped: bool = False

    @cached_property
    def columns(self) -> Bits:
        """What is counted within groups."""
        return np.array([packed_rows(column) for column in self.deviation.columns])

    @property
    def everything(self) -> Group:
        """All rows."""
        n_rows = self.deviation.columns.shape[1]
        counts = np.concatenate([[n_rows], self.deviation.columns.sum(axis=1)])
        return Group(-np.inf, (), packed_rows(np.ones(n_rows, dtype=np.bool_)), counts)

    def by_beam(self, best: BestGroups, width: int) -> None:
        """Refine the best groups of each length; all groups met on the way are offered."""
        beam = [self.everything]
        for _ in range(self.depth):
            level = BestGroups(width, least=-np.inf)
            for parent in beam:
                for refined in self._refinements(parent, 0):
                    for group in refined.worth_keeping(best, level):
                        best.offer(group)
                        level.offer(group)
            beam = level.ranked

    def among_all(self, best: BestGroups, parent: Group | None = None, first: int = 0) -> None:
        """Offer every group, but those that cannot be among the best, depth first.

        Selectors are added in their order, so that each set of them is met once.
        """
        parent = self.everything if parent is None else parent
        is_last = len(parent.numbers) + 1 == self.depth
        for refined in self._refinements(parent, first):
            for group in refined.worth_keeping(best):
                best.offer(group)
            if is_last:
                continue
            reaches = self.deviation.reaches(refined.counts, self.least, best.goal)
            for place in np.flatnonzero(reaches).tolist():
                following = int(refined.numbers[place]) + 1
                if following == len(self.selectors):
                    continue
                if self.n_bodies >= self.max_bodies:
                    self.was_stopped = True
                    return
                self.among_all(best, refined.group(place), following)

    def _refinements(self, parent: Group, first: int) -> "Iterator[Refinements]":
        """The proper parts of a group that one more selector, from `first` on, leaves."""
        from labelrules.kernels.mining.bits import count_conditions

        step = max(1, PIECE // len(parent.counts))
        for start in range(first, len(self.selectors), step):
            bits = self.selectors.bits[start : start + step]
            counts = np.empty((len(bits), len(parent.counts)), dtype=np.int32)
            count_conditions(parent.bits, bits, self.columns, self.least, counts)
            self.n_bodies += len(bits)
            n_rows = counts[:, 0]
            proper = np.flatnonzero((n_rows >= self.least) & (n_rows < parent.counts[0]))
            kept = counts[proper].astype(np.int64)
            yield Refinements(
                parent, start + proper, bits[proper], kept, self.deviation.values(kept)
            )


@dataclass(frozen=True, eq=False)
class Refinements:
    """Parts of a group: the selector that leaves each, their counts and values."""

    parent: Group
    numbers: Integers
    bits: Bits
    counts: Integers
    values: Floats

    def worth_keeping(self, *bests: BestGroups) -> Iterator[Group]:
        """The best first, as long as one of these may keep them."""
        for place in np.argsort(-self.values, kind="stable").tolist():
            if self.values[place] < min(best.goal for best in bests):
                return
            yield self.group(place)

    def group(self, place: int) -> Group:
        """One of them."""
        numbers = tuple(sorted((*self.parent.numbers, int(self.numbers[place]))))
        bits = self.parent.bits & self.bits[place]
        return Group(float(self.values[place]), numbers, bits, self.counts[place])
