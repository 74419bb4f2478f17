"""Search for the groups of rows that are worth most: by a beam, or among all of them."""

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from labelrules._types import Floats, Integers
from labelrules.discovery.deviations import Deviation
from labelrules.discovery.selectors import Bits, Selectors, packed_rows

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


class Best:
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

    def by_beam(self, best: Best, width: int) -> None:
        """Refine the best groups of each length; all groups met on the way are offered."""
        beam = [self.everything]
        for _ in range(self.depth):
            level = Best(width, least=-np.inf)
            for parent in beam:
                for refined in self._refinements(parent, 0):
                    for group in refined.worth_keeping(best, level):
                        best.offer(group)
                        level.offer(group)
            beam = level.ranked

    def among_all(self, best: Best, parent: Group | None = None, first: int = 0) -> None:
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
        from labelrules.kernels.refinements import count_refinements

        step = max(1, PIECE // len(parent.counts))
        for start in range(first, len(self.selectors), step):
            bits = self.selectors.bits[start : start + step]
            counts = np.empty((len(bits), len(parent.counts)), dtype=np.int32)
            count_refinements(parent.bits, bits, self.columns, self.least, counts)
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

    def worth_keeping(self, *bests: Best) -> Iterator[Group]:
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
