"""The search for the best groups of rows: by a beam, or exhaustively."""

import warnings
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.schema import Feature
from labelrules.mining.binning import thresholds
from labelrules.mining.items import Bits, packed_rows
from labelrules.mining.subgroup_discovery.results import Deviation
from labelrules.rules import Body, Condition

Numbers: TypeAlias = Literal["cuts", "bins"]  # x > cut or x <= cut; or between two cuts
Selector: TypeAlias = tuple[Condition, ...]  # one condition, or the two ends of a bin
PIECE = 1 << 22  # counts that are in memory at once
WIDER = 8  # how many times more groups are kept when too many of them overlap
WIDEST = 5_000  # the largest number of groups that are kept for that, unless more are wanted


class Selectors(NamedTuple):
    """The selectors of a search, in order, and the rows that satisfy each, as packed bits."""

    parts: tuple[Selector, ...]
    bits: Bits

    def body(self, numbers: tuple[int, ...]) -> Body:
        """The body of the selectors with these numbers."""
        return Body(condition for number in numbers for condition in self.parts[number])


class Vocabulary(NamedTuple):
    """The conditions that bodies may have; see the parameters of `subgroups`."""

    numbers: Numbers
    n_cuts: int
    negated: bool
    labels: tuple[int, ...]

    def selectors(self, data: Dataset, least: int) -> Selectors:
        """Those that hold for at least so many rows and not for all; of equal ones the first."""
        parts: dict[bytes, Selector] = {}
        for part, covered in self._all(data):
            if least <= np.count_nonzero(covered) < data.n_rows:
                parts.setdefault(packed_rows(covered).tobytes(), part)
        bits = np.array([np.frombuffer(own, dtype=np.uint64) for own in parts], dtype=np.uint64)
        return Selectors(tuple(parts.values()), bits.reshape(len(parts), -(-data.n_rows // 64)))

    def _all(self, data: Dataset) -> Iterator[tuple[Selector, Mask]]:
        for column, feature in enumerate(data.schema.features):
            values = data.column(column)
            for part in self._of_feature(column, feature, values):
                yield part, np.all([condition.holds(values) for condition in part], axis=0)
        for label in self.labels:
            for present in (True, False):
                condition = Condition.label(label, present)
                yield (condition,), condition.holds(data.Y[:, label])

    def _of_feature(self, column: int, feature: Feature, values: Floats) -> list[Selector]:
        if feature.is_nominal:
            return self._of_categories(column, len(feature.categories or ()))
        cuts = thresholds(values, None, "frequency", self.n_cuts + 1, feature)
        if self.numbers == "bins":
            low = [None, *(Condition.above(column, cut) for cut in cuts)]
            high = [*(Condition.at_most(column, cut) for cut in cuts), None]
            pairs = zip(low, high, strict=True)
            return [tuple(c for c in pair if c is not None) for pair in pairs if any(pair)]
        tests = Condition.at_most, Condition.above
        return [(test(column, cut),) for cut in cuts for test in tests]

    def _of_categories(self, column: int, n_categories: int) -> list[Selector]:
        codes = range(n_categories)
        tests: list[Selector] = [(Condition.equals(column, code),) for code in codes]
        if self.negated and n_categories > 2:
            tests += [(Condition.differs(column, code),) for code in codes]
        return tests


class Group(NamedTuple):
    """A group of rows: its value, its selectors, its rows, and the counts of its columns."""

    value: float
    numbers: tuple[int, ...]
    bits: Bits
    counts: Integers

    @property
    def rank(self) -> tuple[float, int, tuple[int, ...]]:
        """Greater values first, then fewer selectors, then earlier ones."""
        return (-self.value, len(self.numbers), self.numbers)

    def overlap(self, other: "Group") -> float:
        """The rows of both divided by the rows of either."""
        both = int(np.bitwise_count(self.bits & other.bits).sum())
        return both / (int(self.counts[0]) + int(other.counts[0]) - both)


class BestGroups:
    """The `n_kept` best groups of a value above `least`; of the same rows the first by rank."""

    def __init__(self, n_kept: int, least: float = 0.0) -> None:
        self.n_kept, self.least = n_kept, least
        self.ranked: list[Group] = []
        self._by_rows: dict[bytes, Group] = {}

    @property
    def goal(self) -> float:
        """The least value of a group that may be among the best."""
        return self.ranked[-1].value if len(self.ranked) == self.n_kept else self.least

    def offer(self, group: Group) -> None:
        """Keep the group if it is among the best."""
        if group.value <= self.least:
            return
        by_rank = attrgetter("rank")
        rows = group.bits.tobytes()
        same = self._by_rows.get(rows)
        if same is not None:
            if same.rank <= group.rank:
                return
            del self.ranked[bisect_left(self.ranked, same.rank, key=by_rank)]
        insort(self.ranked, group, key=by_rank)
        self._by_rows[rows] = group
        if len(self.ranked) > self.n_kept:
            del self._by_rows[self.ranked.pop().bits.tobytes()]


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """The parameters of a search, whatever the labels are; see `subgroups`."""

    selectors: Selectors
    least: int  # rows of a group
    max_conditions: int
    is_exact: bool
    beam_width: int
    max_visited: int
    max_overlap: float | None

    def run(self, deviation: Deviation, n_kept: int) -> tuple[list[Group], "Exploration"]:
        """The best groups. The beam is always first: its results are a goal for the rest."""
        search = Exploration(self, deviation)
        best = BestGroups(n_kept)
        search.by_beam(best)
        if self.is_exact:
            search.n_bodies = 0
            search.exhaustively(best)
        return best.ranked, search

    def run_apart(self, deviation: Deviation, n_kept: int) -> tuple[list[Group], "Exploration"]:
        """The best groups that do not overlap too much; as many more are kept as that needs."""
        if self.max_overlap is None:
            return self.run(deviation, n_kept)
        widest = max(n_kept, WIDEST)
        n_tried = min(WIDER * n_kept, widest)
        while True:
            groups, search = self.run(deviation, n_tried)
            apart = _apart(groups, self.max_overlap)[:n_kept]
            if len(apart) == n_kept or len(groups) < n_tried:
                return apart, search
            if n_tried == widest:
                warnings.warn(
                    f"of the best {widest:,} groups only {len(apart)} do not overlap too much: "
                    "raise max_overlap, or lower top",
                    stacklevel=3,
                )
                return apart, search
            n_tried = min(WIDER * n_tried, widest)


def _apart(groups: list[Group], max_overlap: float) -> list[Group]:
    """The groups without those that share too much with a better one."""
    kept: list[Group] = []
    for group in groups:
        if all(group.overlap(better) <= max_overlap for better in kept):
            kept.append(group)
    return kept


class Exploration:
    """A search for groups by one deviation."""

    def __init__(self, plan: SearchPlan, deviation: Deviation) -> None:
        self.plan, self.deviation = plan, deviation
        self.n_bodies = 0  # bodies that it has visited
        self.was_stopped = False  # whether it ended before all promising bodies were visited

    @cached_property
    def columns(self) -> Bits:
        """The columns that are counted within groups, as packed bits."""
        return np.array([packed_rows(column) for column in self.deviation.columns])

    @property
    def everything(self) -> Group:
        """The group of all rows."""
        n_rows = self.deviation.columns.shape[1]
        counts = np.concatenate([[n_rows], self.deviation.columns.sum(axis=1)])
        return Group(-np.inf, (), packed_rows(np.ones(n_rows, dtype=np.bool_)), counts)

    def by_beam(self, best: BestGroups) -> None:
        """Refine the best groups of each length, and offer all groups on the way."""
        beam = [self.everything]
        for _ in range(self.plan.max_conditions):
            level = BestGroups(self.plan.beam_width, least=-np.inf)
            for parent in beam:
                for refined in self._refinements(parent, 0):
                    for group in refined.groups_for(best, level):
                        best.offer(group)
                        level.offer(group)
            beam = level.ranked

    def exhaustively(self, best: BestGroups, parent: Group | None = None, first: int = 0) -> None:
        """Offer every group that may be among the best, depth first, adding selectors in order."""
        parent = self.everything if parent is None else parent
        is_last = len(parent.numbers) + 1 == self.plan.max_conditions
        for refined in self._refinements(parent, first):
            for group in refined.groups_for(best):
                best.offer(group)
            if is_last:
                continue
            reaches = self.deviation.reaches(refined.counts, self.plan.least, best.goal)
            for place in np.flatnonzero(reaches).tolist():
                following = int(refined.numbers[place]) + 1
                if following == len(self.plan.selectors.parts):
                    continue
                if self.n_bodies >= self.plan.max_visited:
                    self.was_stopped = True
                    return
                self.exhaustively(best, refined.group(place), following)

    def _refinements(self, parent: Group, first: int) -> "Iterator[GroupRefinements]":
        """The proper parts of a group that one more selector, from `first` on, leaves."""
        from labelrules.kernels.mining.bits import count_conditions

        least, selectors = self.plan.least, self.plan.selectors
        step = max(1, PIECE // len(parent.counts))
        for start in range(first, len(selectors.parts), step):
            bits = selectors.bits[start : start + step]
            counts = np.empty((len(bits), len(parent.counts)), dtype=np.int32)
            count_conditions(parent.bits, bits, self.columns, least, counts)
            self.n_bodies += len(bits)
            n_rows = counts[:, 0]
            proper = np.flatnonzero((n_rows >= least) & (n_rows < parent.counts[0]))
            kept = counts[proper].astype(np.int64)
            values = self.deviation.values(kept)
            yield GroupRefinements(parent, start + proper, bits[proper], kept, values)


class GroupRefinements(NamedTuple):
    """Parts of a group: the selector that leaves each, their counts and values."""

    parent: Group
    numbers: Integers
    bits: Bits
    counts: npt.NDArray[np.int64]
    values: Floats

    def groups_for(self, *bests: BestGroups) -> Iterator[Group]:
        """The best first, as long as one of the collections may keep them."""
        for place in np.argsort(-self.values, kind="stable").tolist():
            if self.values[place] < min(best.goal for best in bests):
                return
            yield self.group(place)

    def group(self, place: int) -> Group:
        """One of the parts."""
        numbers = tuple(sorted((*self.parent.numbers, int(self.numbers[place]))))
        bits = self.parent.bits & self.bits[place]
        return Group(float(self.values[place]), numbers, bits, self.counts[place])
