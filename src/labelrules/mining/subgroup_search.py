"""The search for subgroups with exceptional labels, greedy or exact."""

import warnings
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from labelrules._checks import number, one_of, quoted, suggestion, whole_number
from labelrules._types import Board, Floats, Integers, Mask
from labelrules.data import Dataset, Schema
from labelrules.data.schema import Feature
from labelrules.mining.binning import thresholds
from labelrules.mining.items import Bits, check_dataset, check_known, packed_rows, unpacked_rows
from labelrules.mining.limits import minimum_count
from labelrules.mining.subgroup_values import (
    DependenceChange,
    Deviation,
    Divergence,
    RelativeAccuracy,
    Subgroup,
    Subgroups,
)
from labelrules.rules import Body, Condition, Evidence, Head, Rule

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
        """Selectors of at least so many rows, but not of all; the first of equal ones."""
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


Target: TypeAlias = str | Iterable[str] | Mapping[str, int] | Head | None  # names, or name to 0/1

SubgroupMeasure: TypeAlias = Literal["wracc", "kl", "phi"]
SubgroupSearch: TypeAlias = Literal["beam", "exact"]
Against: TypeAlias = Literal["complement", "all"]

MOST_CELLS = 500_000_000  # the largest number of pairs of labels times rows, a byte each


def subgroups(
    data: Dataset,
    measure: SubgroupMeasure = "kl",
    *,
    target: Target = None,
    given: Iterable[str] = (),
    top: int = 10,
    max_conditions: int = 2,
    search: SubgroupSearch = "beam",
    beam_width: int = 50,
    min_coverage: float = 0.05,
    numbers: Numbers = "cuts",
    n_cuts: int = 8,
    negated: bool = False,
    against: Against | None = None,
    max_overlap: float | None = None,
    max_visited: int = 20_000_000,
    n_permutations: int = 0,
    random_state: int = 0,
) -> Subgroups:
    """Find subgroups: groups of rows, described by a body, with exceptional labels.

    Parameters
    ----------
    data : Dataset
    measure : {"kl", "wracc", "phi"}
        What is exceptional. With N rows in all and n in the group:

        - "kl": the distribution of the labels. n/N times the sum over the labels of the
          Kullback-Leibler divergence, in bits, of their shares in the group from their shares in
          all rows; labels count as independent [1]_.
        - "wracc": the share of rows with the target. Weighted relative accuracy, n/N times
          the difference of its share in the group and in all rows [2]_.
        - "phi": the dependence between labels. The mean over all pairs of labels of the
          absolute difference of their correlation (the phi coefficient) in the group and outside,
          times the entropy, in bits, of the division of the rows into n and N - n [3]_. phi is 0
          where a label is always or never present.
    target : str, sequence of str, mapping of str to int, or Head, optional
        For "wracc" a label, several labels at once, or labels that are present (1) or absent (0).
        Else the names of the labels that count, by default all but `given`.
    given : iterable of str
        Labels that bodies may test; they do not count.
    top : int, default=10
        The largest number of subgroups. Those of value 0 are left out.
    max_conditions : int, default=2
        The largest number of conditions, or bins, in a body.
    search : {"beam", "exact"}
        "beam" refines the best bodies of each length, "exact" visits all bodies but those that
        cannot be among the best. It has a good bound for "wracc" and "kl"; for "phi", where
        only the number of rows bounds the value of a group, it takes long beyond two conditions.
    beam_width : int, default=50
        Bodies of each length that the beam refines.
    min_coverage : int or float, default=0.05
        The least number of rows of a group: a number as an int, a share of all as a float.
    numbers : {"cuts", "bins"}
        Whether numeric features are tested by thresholds or by ranges between two neighbours.
    n_cuts : int, default=8
        The largest number of thresholds of each numeric feature, at equal frequency.
    negated : bool, default=False
        Whether nominal features of more than two categories are also tested by "!=".
    against : {"complement", "all"}, optional
        For "phi": compare correlations with those of the rows outside, the default, or of all rows.
    max_overlap : float, optional
        Leave out a subgroup if it shares more than this with a better one: the rows of both
        divided by the rows of either. By default only subgroups of the same rows are left out.
        A warning is given if too few are left of the best 5,000.
    max_visited : int, default=20_000_000
        After so many bodies the exact search ends with a warning.
    n_permutations : int, default=0
        Repeat the search so many times with randomly permuted label sets: ``p`` is the share of
        searches, the first one included, whose best subgroup has at least the same value.
    random_state : int, default=0
        The seed of the permutations.

    Returns
    -------
    Subgroups
        The best first. Ties: fewer conditions, then earlier conditions, by feature, category or
        threshold, then labels. Of bodies that describe the same rows the result has the first.

    References
    ----------
    .. [1] M. van Leeuwen and A. Knobbe: Diverse subgroup set discovery. Data Mining and Knowledge
       Discovery 25, 2012.
    .. [2] S. Wrobel: An algorithm for multi-relational discovery of subgroups. PKDD 1997.
    .. [3] D. Leman, A. Feelders and A. Knobbe: Exceptional model mining. ECML PKDD 2008; there for
       one pair of numbers.

    Examples
    --------
    >>> from labelrules import load
    >>> print(subgroups(load("magazines"), "wracc", target="quality", top=1))
    1 subgroup of 14 rows by wracc, 110 bodies searched
    0.1429, 4 rows: education = University (quality 1.00 instead of 0.50)
    """
    _check_data(data)
    tested = _label_numbers(given, data.schema, "given")
    if not (data.schema.n_features or tested):
        raise ValueError("there are no features to describe groups by: name labels in given")
    deviation_of, head = _measured(data, measure, target, tested, against)
    one_of(numbers, "numbers", get_args(Numbers))
    least = minimum_count(min_coverage, data.n_rows, "min_coverage")
    n_cuts = whole_number(n_cuts, "n_cuts", low=1)
    plan = SearchPlan(
        Vocabulary(numbers, n_cuts, bool(negated), tested).selectors(data, least),
        least,
        whole_number(max_conditions, "max_conditions", low=1),
        one_of(search, "search", get_args(SubgroupSearch)) == "exact",
        whole_number(beam_width, "beam_width", low=1),
        whole_number(max_visited, "max_visited", low=1),
        None if max_overlap is None else number(max_overlap, "max_overlap", above=0, high=1),
    )
    n_kept = whole_number(top, "top", low=1)
    n_permutations = whole_number(n_permutations, "n_permutations", low=0)
    seed = whole_number(random_state, "random_state", low=0)
    deviation = deviation_of(data.Y)
    groups, done = plan.run_apart(deviation, n_kept)
    if done.was_stopped:
        warnings.warn(
            f"the search ended after {done.n_bodies:,} bodies, before it visited all: raise "
            "max_visited or min_coverage, lower max_conditions or n_cuts, or use search='beam'",
            stacklevel=2,
        )
    permuted = (_permuted(data.Y, n, seed, tested) for n in range(n_permutations))
    chance = [max((g.value for g in plan.run(deviation_of(Y), 1)[0]), default=0) for Y in permuted]
    found = tuple(_subgroup(group, data, plan, deviation, head, chance) for group in groups)
    is_complete = plan.is_exact and not done.was_stopped
    counts = data.n_rows, head, done.n_bodies
    return Subgroups(found, measure, data.schema, *counts, is_complete)


def _check_data(data: Any) -> None:
    check_dataset(data)
    check_known(data.Y)
    if data.n_rows < 2:
        raise ValueError(f"there must be two rows to compare; the Dataset has {data.n_rows}")
    if not data.schema.n_labels:
        raise ValueError("the Dataset has no labels, so none can be exceptional")


def _label_numbers(names: Any, schema: Schema, what: str) -> tuple[int, ...]:
    """The numbers of labels given by name, in the order of the schema."""
    if not isinstance(names, Iterable):
        raise ValueError(f"{what} must be the name of a label, or several names, not {names!r}")
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        if not isinstance(name, str) or name not in schema.label_index:
            hint = suggestion(str(name), schema.labels)
            raise ValueError(f"{what}: there is no label {quoted(name)}{hint}")
    return tuple(sorted({schema.label_index[name] for name in given}))


def _measured(
    data: Dataset, measure: str, target: Target, given: tuple[int, ...], against: Against | None
) -> tuple[Callable[[Board], Deviation], Head | None]:
    """The deviation as a function of labels, and the head of the target."""
    one_of(measure, "measure", get_args(SubgroupMeasure))
    if against is not None:
        one_of(against, "against", get_args(Against))
        if measure != "phi":
            raise ValueError(f"against goes with measure 'phi', not with {measure!r}")
    if measure == "wracc":
        head = _target_head(target, data.schema)
        _refuse_both(head.labels, given, data.schema)
        return lambda Y: RelativeAccuracy(Y, dict(head)), head
    labels = _target_labels(target, given, data.schema)
    _refuse_both(labels, given, data.schema)
    if measure == "kl":
        return lambda Y: Divergence(Y, labels), None
    _check_pairs(len(labels), data.n_rows)
    return lambda Y: DependenceChange(Y, labels, against == "all"), None


def _target_head(target: Target, schema: Schema) -> Head:
    """The target as a head: labels present, or as a mapping gives them."""
    if isinstance(target, Head):
        if target.n_labels != schema.n_labels:
            raise ValueError(
                f"target is a head over {target.n_labels} labels, the data have {schema.n_labels}"
            )
        return target
    if target is None:
        raise ValueError(
            "measure 'wracc' needs a target: the name of a label, several names, or a mapping "
            "from names to 0 (absent) and 1 (present)"
        )
    labels = _label_numbers(target, schema, "target")
    if not labels:
        raise ValueError("target names no label")
    given = target if isinstance(target, Mapping) else {}
    return Head({label: given.get(schema.labels[label], 1) for label in labels}, schema.n_labels)


def _target_labels(target: Target, given: tuple[int, ...], schema: Schema) -> list[int]:
    """The labels that count: those named, or all that bodies do not test."""
    if isinstance(target, Mapping | Head):
        raise ValueError("only measure 'wracc' takes labels present or absent: give their names")
    if target is not None:
        labels = list(_label_numbers(target, schema, "target"))
    else:
        labels = [label for label in range(schema.n_labels) if label not in given]
    if not labels:
        raise ValueError("no label is left to count: name some in target, or fewer in given")
    return labels


def _check_pairs(n_labels: int, n_rows: int) -> None:
    """Raise if there are too few labels to make pairs, or too many pairs for the memory."""
    if n_labels < 2:
        raise ValueError("measure 'phi' compares pairs of labels, and there is only one")
    n_pairs = n_labels * (n_labels - 1) // 2
    if n_pairs * n_rows > MOST_CELLS:
        raise ValueError(
            f"measure 'phi' would compare {n_pairs:,} pairs of labels in {n_rows:,} rows, which "
            "takes too much memory: name fewer labels in target, or use measure 'kl'"
        )


def _refuse_both(labels: Iterable[int], given: tuple[int, ...], schema: Schema) -> None:
    """A label that a body tests would be exceptional by that alone."""
    both = sorted(set(labels) & set(given))
    if both:
        raise ValueError(
            f"label {quoted(schema.labels[both[0]])} cannot be both in target and in given"
        )


def _permuted(Y: Board, number: int, seed: int, given: tuple[int, ...]) -> Board:
    """The label sets in another order; labels that bodies test stay where they are."""
    permuted = Y[np.random.default_rng([seed, number]).permutation(len(Y))]
    permuted[:, given] = Y[:, given]
    return permuted


def _subgroup(
    group: Group,
    data: Dataset,
    plan: SearchPlan,
    deviation: Deviation,
    head: Head | None,
    chance: list[float],
) -> Subgroup:
    body = plan.selectors.body(group.numbers)
    Y = data.Y[unpacked_rows(group.bits, data.n_rows)]
    changes = tuple(deviation.changes(group.counts))
    if head is None:
        # The majority in the group; half of the rows are none.
        labels = sorted({label for change in changes for label in change.labels})
        head = Head({j: int(2 * Y[:, j].sum() > len(Y)) for j in labels}, Y.shape[1])
    right = [int((Y[:, label] == value).sum()) for label, value in head]
    rule = Rule(head, body, evidence=tuple(Evidence(n, len(Y) - n) for n in right))
    n_as_good = sum(value >= group.value for value in chance)
    p = (1 + n_as_good) / (1 + len(chance)) if chance else None
    return Subgroup(body, group.value, int(group.counts[0]), rule, changes, p)
