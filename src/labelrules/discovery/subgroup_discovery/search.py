"""Groups of rows with exceptional labels: another distribution, or another dependence."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from labelrules._checks import quoted, suggestion
from labelrules._types import Board
from labelrules.data import Dataset, Schema
from labelrules.discovery.limits import rows_of_share, whole
from labelrules.discovery.subgroup_discovery.explore import (
    BestGroups,
    Exploration,
    Group,
    Numbers,
    Selectors,
    Vocabulary,
    unpacked_rows,
)
from labelrules.discovery.subgroup_discovery.results import (
    DependenceChange,
    Deviation,
    Divergence,
    RelativeAccuracy,
    Subgroup,
    Subgroups,
)
from labelrules.rules import Evidence, Head, Rule

# -------------------- What was asked of a search for subgroups, checked at the door

Target: TypeAlias = str | Iterable[str] | Mapping[str, int] | Head | None
"""Labels by name; with what they must be, where that matters."""

SubgroupMeasure: TypeAlias = Literal["wracc", "kl", "phi"]
SubgroupSearch: TypeAlias = Literal["beam", "exact"]
Against: TypeAlias = Literal["complement", "all"]


MOST_CELLS = 500_000_000
"""Pairs of labels times rows, a byte each, that are compared at most."""


def checked_data(data: Any) -> Dataset:
    """A data set with enough rows and labels to compare some with others."""
    if not isinstance(data, Dataset):
        raise ValueError(f"data must be a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    if data.n_rows < 2:
        raise ValueError(f"there must be two rows to compare; the Dataset has {data.n_rows}")
    if not data.schema.n_labels:
        raise ValueError("the Dataset has no labels, so none can be exceptional")
    return data


def checked_word(name: str, value: Any, words: tuple[str, ...]) -> str:
    """One of the words, or an error that says which there are."""
    if not isinstance(value, str) or value not in words:
        named = ", ".join(map(repr, words[:-1]))
        hint = suggestion(value, words) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be {named} or {words[-1]!r}, not {value!r}{hint}")
    return value


def checked_share(name: str, value: Any) -> float:
    """A number above 0, at most 1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must be a number above 0 and at most 1, not {value!r}")
    return float(value)


def checked_coverage(given: Any, n_rows: int) -> int:
    """The rows that a group must have: a number of them, or a share of all."""
    if isinstance(given, Integral):
        return whole("min_coverage", given, 1)
    if not isinstance(given, Real) or not 0 < float(given) <= 1:
        raise ValueError(
            "min_coverage must be a whole number of rows, or a share of them above 0 and "
            f"up to 1.0, not {given!r}"
        )
    return rows_of_share(given, n_rows)


def checked_labels(names: Any, schema: Schema, what: str) -> tuple[int, ...]:
    """The numbers of labels given by name, in the order of the schema."""
    if not isinstance(names, Iterable):
        raise ValueError(f"{what} must be the name of a label, or several names, not {names!r}")
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        if not isinstance(name, str) or name not in schema.label_index:
            hint = suggestion(str(name), schema.labels)
            raise ValueError(f"{what}: there is no label {quoted(name)}{hint}")
    return tuple(sorted({schema.label_index[name] for name in given}))


def checked_head(target: Target, schema: Schema) -> Head:
    """What rows are to have: labels present, or each as a mapping says."""
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
    literals = dict(target) if isinstance(target, Mapping) else None
    labels = checked_labels(target, schema, "target")
    if not labels:
        raise ValueError("target names no label")
    if literals is None:
        return Head(dict.fromkeys(labels, 1), schema.n_labels)
    return Head({label: literals[schema.labels[label]] for label in labels}, schema.n_labels)


def checked_targets(target: Target, given: tuple[int, ...], schema: Schema) -> list[int]:
    """The labels that count: those named, or all that bodies do not test."""
    if isinstance(target, Mapping | Head):
        raise ValueError("only measure 'wracc' asks for labels present or absent: give their names")
    if target is not None:
        labels = list(checked_labels(target, schema, "target"))
    else:
        labels = [label for label in range(schema.n_labels) if label not in given]
    if not labels:
        raise ValueError("no label is left to count: name some in target, or fewer in given")
    return labels


def check_pairs(n_labels: int, n_rows: int) -> None:
    """Refuse too few labels to make pairs, and more pairs than there is memory for."""
    if n_labels < 2:
        raise ValueError("measure 'phi' compares pairs of labels, and only one counts")
    n_pairs = n_labels * (n_labels - 1) // 2
    if n_pairs * n_rows > MOST_CELLS:
        raise ValueError(
            f"measure 'phi' would compare {n_pairs:,} pairs of labels in {n_rows:,} rows, which "
            "takes too much memory: name fewer labels in target, or use measure 'kl'"
        )


def refuse_both(labels: Iterable[int], given: tuple[int, ...], schema: Schema) -> None:
    """A label that a body tests would be exceptional by that alone."""
    both = sorted(set(labels) & set(given))
    if both:
        raise ValueError(
            f"label {quoted(schema.labels[both[0]])} cannot be both in target and in given"
        )


# ---------------------------------------------------------------- the main part

WIDER = 8
"""By how many times more groups are kept when too many of them overlap."""

WIDEST = 5_000
"""No more groups than this are kept for that, or as many as are asked for."""


def subgroups(
    data: Dataset,
    measure: SubgroupMeasure = "kl",
    *,
    target: Target = None,
    given: Iterable[str] = (),
    k: int = 10,
    depth: int = 2,
    search: SubgroupSearch = "beam",
    width: int = 50,
    min_coverage: float = 0.05,
    numbers: Numbers = "cuts",
    n_cuts: int = 8,
    negated: bool = False,
    against: Against | None = None,
    max_overlap: float | None = None,
    max_bodies: int = 20_000_000,
    n_permutations: int = 0,
    random_state: int = 0,
) -> Subgroups:
    """Find the groups of rows whose labels behave most otherwise than elsewhere.

    Parameters
    ----------
    data : Dataset
    measure : {"kl", "wracc", "phi"}
        What is exceptional. With N rows in all and n in the group:

        - "kl": other shares of the labels. n/N times the sum over the labels of the
          Kullback-Leibler divergence, in bits, of their shares in the group from their shares in
          all rows; labels are taken as independent [1]_.
        - "wracc": a larger share of rows with the target. Weighted relative accuracy, n/N times
          the difference of its share in the group and in all rows [2]_.
        - "phi": other dependence between labels. The mean over all pairs of labels of the
          absolute difference of their correlation (the phi coefficient) in the group and outside,
          times the entropy, in bits, of the division of the rows into n and N - n [3]_. phi is 0
          where a label is always or never present.
    target : str, sequence of str, mapping of str to int, or Head, optional
        For "wracc" what the rows are to have: a label, several labels at once, or labels present
        (1) or absent (0). Else the names of the labels that count, by default all but `given`.
    given : iterable of str
        Labels that bodies may test; they do not count.
    k : int, default=10
        How many subgroups to give, at most. Those worth nothing are not given.
    depth : int, default=2
        How many conditions, or bins, a body may have.
    search : {"beam", "exact"}
        "beam" refines the best bodies of each length, "exact" looks at all bodies but those that
        cannot be among the best. It has a good bound for "wracc" and "kl"; for "phi", where
        only the number of rows bounds what a group is worth, it takes long beyond two conditions.
    width : int, default=50
        Bodies of each length that the beam refines.
    min_coverage : int or float, default=0.05
        The rows that a group must have: a number of them, or a share of all.
    numbers : {"cuts", "bins"}
        Whether numeric features are tested by thresholds or for being between two neighbours.
    n_cuts : int, default=8
        Thresholds of each numeric feature at most, chosen so that as many rows lie between any
        two neighbours.
    negated : bool, default=False
        Whether a nominal feature of more than two categories may be asked not to have one.
    against : {"complement", "all"}, optional
        For "phi": whether correlations are compared with those of the rows outside, as by default,
        or of all rows.
    max_overlap : float, optional
        Leave out a subgroup if it shares more than this with a better one: the rows of both
        divided by the rows of either. By default only subgroups of the same rows are left out.
        If too few are left of the best 5,000, a warning says so.
    max_bodies : int, default=20_000_000
        After so many bodies the exact search ends with a warning.
    n_permutations : int, default=0
        If above 0, the search is made again so many times with the labels given to rows by
        chance, and ``p`` is the share of searches, the first one included, that have found
        something worth as much. It so takes account of how many bodies were tried.
    random_state : int, default=0
        Chooses the permutations, together with the order of the rows.

    Returns
    -------
    Subgroups
        The best first. Of the same value the one with fewer conditions comes first, then the one
        whose conditions come first: by feature, category or threshold, then labels. Of bodies
        that describe the same rows only the first is given.

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
    >>> print(subgroups(load("magazines"), "wracc", target="quality", k=1))
    1 subgroup of 14 rows by wracc, 110 bodies searched
    0.1429, 4 rows: education = University (quality 1.00 instead of 0.50)
    """
    table = checked_data(data)
    tested = checked_labels(given, table.schema, "given")
    if not (table.schema.n_features or tested):
        raise ValueError("there are no features to describe groups by: name labels in given")
    make, head = _measured(table, measure, target, tested, against)
    checked_word("numbers", numbers, get_args(Numbers))
    words = Vocabulary(numbers, whole("n_cuts", n_cuts, 1), bool(negated), tested)
    plan = _SubgroupPlan(
        words.selectors(table, checked_coverage(min_coverage, table.n_rows)),
        checked_coverage(min_coverage, table.n_rows),
        whole("depth", depth, 1),
        checked_word("search", search, get_args(SubgroupSearch)) == "exact",
        whole("width", width, 1),
        whole("max_bodies", max_bodies, 1),
        None if max_overlap is None else checked_share("max_overlap", max_overlap),
    )
    n_kept = whole("k", k, 1)
    n_permutations = whole("n_permutations", n_permutations, 0)
    seed = whole("random_state", random_state, 0)
    deviation = make(table.Y)
    groups, done = plan.spread(deviation, n_kept)
    if plan.is_exact and done.was_stopped:
        warnings.warn(
            f"the search ended after {done.n_bodies:,} bodies, before all were looked at: raise "
            "max_bodies or min_coverage, lower depth or n_cuts, or use search='beam'",
            stacklevel=2,
        )
    chance = [
        plan.best_value(make(_shuffled(table.Y, number, seed, tested)))
        for number in range(n_permutations)
    ]
    found = [_subgroup(group, table, plan, deviation, head, chance) for group in groups]
    return Subgroups(
        tuple(found), measure, table.schema, table.n_rows, head, done.n_bodies,
        plan.is_exact and not done.was_stopped,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _SubgroupPlan:
    """How to search, whatever the labels are."""

    selectors: Selectors
    least: int
    depth: int
    is_exact: bool
    width: int
    max_bodies: int
    max_overlap: float | None

    def run(self, deviation: Deviation, n_kept: int) -> tuple[list[Group], Exploration]:
        """The best groups. The beam goes first in any case: what it finds is a goal to reach."""
        done = Exploration(self.selectors, deviation, self.least, self.depth, self.max_bodies)
        best = BestGroups(n_kept)
        done.by_beam(best, self.width)
        if self.is_exact:
            done.n_bodies = 0
            done.among_all(best)
        return best.ranked, done

    def spread(self, deviation: Deviation, n_kept: int) -> tuple[list[Group], Exploration]:
        """The best groups that do not overlap too much; as many more are kept as that takes."""
        if self.max_overlap is None:
            return self.run(deviation, n_kept)
        widest = max(n_kept, WIDEST)
        n_tried = min(WIDER * n_kept, widest)
        while True:
            groups, done = self.run(deviation, n_tried)
            apart = _apart(groups, self.max_overlap)[:n_kept]
            if len(apart) == n_kept or len(groups) < n_tried:
                return apart, done
            if n_tried == widest:
                warnings.warn(
                    f"of the best {widest:,} groups only {len(apart)} do not overlap too much: "
                    "raise max_overlap, or lower k",
                    stacklevel=3,
                )
                return apart, done
            n_tried = min(WIDER * n_tried, widest)

    def best_value(self, deviation: Deviation) -> float:
        """What the best group is worth, 0 if there is none."""
        groups, _ = self.run(deviation, 1)
        return groups[0].value if groups else 0.0


def _measured(
    data: Dataset,
    measure: str,
    target: Target,
    given: tuple[int, ...],
    against: Against | None,
) -> tuple[Callable[[Board], Deviation], Head | None]:
    """What makes a deviation of labels, and the head that was asked for."""
    checked_word("measure", measure, get_args(SubgroupMeasure))
    if against is not None:
        checked_word("against", against, get_args(Against))
        if measure != "phi":
            raise ValueError(f"against goes with measure 'phi', not with {measure!r}")
    if measure == "wracc":
        head = checked_head(target, data.schema)
        refuse_both(head.labels, given, data.schema)
        return lambda Y: RelativeAccuracy(Y, dict(head)), head
    labels = checked_targets(target, given, data.schema)
    refuse_both(labels, given, data.schema)
    if measure == "kl":
        return lambda Y: Divergence(Y, labels), None
    check_pairs(len(labels), data.n_rows)
    return lambda Y: DependenceChange(Y, labels, against == "all"), None


def _apart(groups: list[Group], max_overlap: float) -> list[Group]:
    """The groups without those that share too much with a better one."""
    kept: list[Group] = []
    for group in groups:
        if all(_overlap(group, better) <= max_overlap for better in kept):
            kept.append(group)
    return kept


def _overlap(a: Group, b: Group) -> float:
    """The rows of both divided by the rows of either."""
    both = int(np.bitwise_count(a.bits & b.bits).sum())
    return both / (int(a.counts[0]) + int(b.counts[0]) - both)


def _shuffled(Y: Board, number: int, seed: int, given: tuple[int, ...]) -> Board:
    """The label sets given to other rows; labels that bodies test stay where they are."""
    found = Y[np.random.default_rng([seed, number]).permutation(len(Y))]
    found[:, given] = Y[:, given]
    return found


def _subgroup(
    group: Group,
    data: Dataset,
    plan: _SubgroupPlan,
    deviation: Deviation,
    head: Head | None,
    chance: list[float],
) -> Subgroup:
    body = plan.selectors.body(group.numbers)
    covered = unpacked_rows(group.bits, data.n_rows)
    changes = tuple(deviation.changes(group.counts))
    labels = sorted({label for change in changes for label in change.labels})
    p = (1 + sum(value >= group.value for value in chance)) / (1 + len(chance)) if chance else None
    rule = Rule(head or _usual(data.Y[covered], labels), body)
    rule = rule.with_evidence(_evidence(rule.head, data.Y[covered]))
    return Subgroup(body, group.value, int(group.counts[0]), rule, changes, p)


def _usual(Y: Board, labels: list[int]) -> Head:
    """What most rows have; half of them is not most."""
    return Head({label: int(2 * Y[:, label].sum() > len(Y)) for label in labels}, Y.shape[1])


def _evidence(head: Head, Y: Board) -> list[Evidence]:
    right = [int((Y[:, label] == value).sum()) for label, value in head]
    return [Evidence(count, len(Y) - count) for count in right]
