"""The best conditions on binned columns, from sums of covered cells by the codes of all columns."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data.codes.bins import Bins
from labelrules.measures import Formula
from labelrules.measures.formulas import is_monotone
from labelrules.measures.measure import Merit
from labelrules.rules import Body, Condition, Rule
from labelrules.search.bodies.best_by_column import (
    better_of,
    is_better_set,
    room_for,
    targets_of_best,
)
from labelrules.search.bodies.category_sets import (
    best_of_sets,
    finds_best_sets,
    log2_factorials,
    merit_of_set,
    room_for_sets,
    set_columns,
)
from labelrules.search.bodies.rule_language import Language, Operators

if TYPE_CHECKING:
    from labelrules.kernels.covering.category_sets import BestSets
    from labelrules.kernels.covering.refine import BestRefinements

SECOND = 2
"""The second operator of a column, "!=" of a nominal one."""


class CodedStep(NamedTuple):
    """A condition on codes: a column (labels come after features), operator 0 or 1, and a code.

    The operators are ``<=`` and ``>`` for numbers, ``=`` and ``!=`` for categories. A set of
    categories has `codes`, of which `code` is the least. That of a label is its value.
    """

    column: int
    second: int
    code: int
    codes: tuple[int, ...] = ()


def condition_on_values(bins: Bins, on_codes: Condition) -> Condition:
    """The condition on values that a condition on codes stands for.

    >>> from labelrules import dataset
    >>> data = dataset([[1.5], [7.0], [None], [3.0]], [[0], [1], [0], [1]])
    >>> condition_on_values(Bins.of(data, 255), Condition.at_most(0, 1))
    <Condition: column 0 <= 5>
    """
    if on_codes.on_label or on_codes.operator not in ("<=", ">"):
        return on_codes
    cut = bins.columns[on_codes.column].cuts[int(on_codes.value)]
    return replace(on_codes, value=cut)


def rule_on_values(bins: Bins, on_codes: Rule) -> Rule:
    """The rule on values that a rule on codes stands for."""
    body = Body(condition_on_values(bins, condition) for condition in on_codes.body)
    return replace(on_codes, body=body)


class CodedRefinement(NamedTuple):
    """A condition on codes, the merit that it leads to, and the cells that it covers, by target."""

    merit: Merit
    step: CodedStep
    labels: Integers
    insides: Integers


class BestSums(NamedTuple):
    """For each target its best refinement, or set, and the sum of the cells that it covers."""

    best: "BestRefinements | BestSets"
    insides: Integers

    @classmethod
    def none(cls, n_targets: int) -> "BestSums":
        """No refinement yet."""
        return cls(room_for(n_targets), np.zeros(n_targets, np.int64))

    def put(self, targets: Integers, found: "BestSums") -> None:
        """Replace what is best for some targets."""
        for old, new in zip((*self.best, self.insides), (*found.best, found.insides), strict=True):
            old[targets] = new

    def drop(self, target: int) -> None:
        """Expect nothing for a target any more."""
        self.best.scores[target], self.best.columns[target] = -np.inf, -1

    def exceed(self, merit: Merit) -> None:
        """Look only for what is better than this."""
        self.best.scores[:], self.best.corrects[:] = merit.value, merit.correct


class FirstSums(NamedTuple):
    """For each target its best first condition, and its best set if bodies may test for sets."""

    single: BestSums
    sets: BestSums | None

    def put(self, targets: Integers, found: "FirstSums") -> None:
        """Replace what is best for some targets."""
        for old, new in zip(self, found, strict=True):
            if old is not None and new is not None:
                old.put(targets, new)

    def drop(self, target: int) -> None:
        """Expect nothing for a target any more."""
        for best in self:
            if best is not None:
                best.drop(target)


def marked_columns(bins: Bins, allowed: Language) -> Integers:
    """The columns for which it matters which codes occur in covered rows, counted or not.

    Where values are missing, the cut after the last code that occurs is none, and "!=" of a
    category that does not occur is none, though it covers fewer rows. Whether a column that is only
    tested for "!=" has more than two values depends on all covered rows.
    """
    has_missing = np.array([column.has_missing for column in bins.columns], dtype=np.bool_)
    is_partial = has_missing | _has_others(bins)
    only_second = (allowed.features & 3) == SECOND
    by_second = only_second | (is_partial & (allowed.features & SECOND > 0))
    return np.flatnonzero(np.where(bins.nominal > 0, by_second, has_missing))


def _has_others(bins: Bins) -> Mask:
    """For each column whether it has categories that do not occur in any row."""
    return np.asarray(np.diff(bins.start) - 1 > bins.n_values)


class TableSearch:
    """Finds refinements by sums: the same as `Refiner` finds on a table of codes.

    `values` has for each label 1 if heads may predict its absence, 2 its presence, 3 both.
    """

    def __init__(
        self,
        bins: Bins,
        values: npt.NDArray[np.int8],
        formula: Formula,
        allowed: Language,
        *,
        counting: str,
        smallest: int,
        unit: float = 1.0,
    ) -> None:
        from labelrules.kernels.compile import kernels_for, scoring_for

        self.values, self.allowed = values, allowed
        self.kernels = kernels_for(formula, counting)
        self.scoring = scoring_for(formula, counting, is_monotone(formula), int(smallest), unit)
        self.nominal, self.n_features = bins.nominal, len(bins.columns)
        is_marked = np.zeros(self.n_features, dtype=np.bool_)
        is_marked[marked_columns(bins, allowed)] = True
        self.space = bins.start, bins.nominal, is_marked
        self.all_occur = not (is_marked & _has_others(bins)).any()
        self.sets: SetsInTables | None = None
        if set_columns(bins, allowed.features).size:
            is_exact = finds_best_sets(formula, counting)
            self.sets = SetsInTables(bins, allowed, self.kernels, self.scoring, is_exact)

    def none(self, n_targets: int) -> FirstSums:
        """No first conditions yet."""
        sets = None if self.sets is None else self.sets.none(n_targets)
        return FirstSums(BestSums.none(n_targets), sets)

    def by_features(
        self,
        labels: Integers,
        tables: Integers,
        everywheres: Integers,
        present: npt.NDArray[np.uint8],
    ) -> FirstSums:
        """The best first condition on a feature for each of some labels, of which tables are given.

        `present` marks the codes that occur in all rows; it is empty if `all_occur`.
        """
        found, values = self.none(len(labels)), self.values[labels]
        self._scan(tables, present, self.allowed.first_features, everywheres, values, found.single)
        if self.sets is not None and found.sets is not None:
            self.sets.scan(tables, self.sets.first_columns, everywheres, values, found.sets)
        return found

    def by_labels(self, by_label: Integers, tested: Integers, everywheres: Integers) -> BestSums:
        """The best first condition on one of the tested labels for each label."""
        found = BestSums.none(len(by_label))
        self.kernels.best_by_labels(
            by_label, tested, self.allowed.first_labels, self.n_features, everywheres, self.values,
            self.scoring, *found,
        )  # fmt: skip
        return found

    def best_first(
        self, by_features: FirstSums, by_labels: BestSums | None
    ) -> CodedRefinement | None:
        """The best first condition of all labels: score, right cells, then the first condition."""
        single = self._best_single(by_features.single, by_labels)
        return _better(single, by_features.sets and _best_set(by_features.sets))

    def _best_single(
        self, by_features: BestSums, by_labels: BestSums | None
    ) -> CodedRefinement | None:
        """The best one that is no set."""
        best: Any = by_features.best
        insides = by_features.insides
        if by_labels is not None:
            others: Any = by_labels.best
            both = better_of(best, others)
            insides = np.where(both.columns >= self.n_features, by_labels.insides, insides)
            best = both
        labels = targets_of_best(best)
        if labels is None:
            return None
        first = labels[0]
        merit = Merit(float(best.scores[first]), int(best.corrects[first]))
        step = self._step(int(best.columns[first]), int(best.places[first]))
        return CodedRefinement(merit, step, labels, insides[labels])

    def best_further(
        self, label: int, value: int, counts: Any, tested: Integers, everywhere: int, merit: Merit
    ) -> CodedRefinement | None:
        """The best further condition for a label and value; it must exceed the merit before.

        `counts` are the `table`, `by_label` and `present` of the rows that are covered.
        """
        found, everywheres = BestSums.none(1), np.array([everywhere])
        values = np.array([1 << value], dtype=np.int8)
        found.exceed(merit)
        self._scan(
            counts.table[np.newaxis], counts.present, self.allowed.features, everywheres, values,
            found,
        )  # fmt: skip
        self.kernels.best_by_labels(
            counts.by_label[np.newaxis], tested, self.allowed.labels[label : label + 1],
            self.n_features, everywheres, values, self.scoring, *found,
        )  # fmt: skip
        own = np.array([label])
        single = self._only(found, own)
        if self.sets is None:
            return single
        by_set = self.sets.none(1)
        by_set.exceed(merit)
        self.sets.scan(counts.table[np.newaxis], self.sets.columns, everywheres, values, by_set)
        in_set = _best_set(by_set)
        return _better(single, in_set and in_set._replace(labels=own))

    def _only(self, found: BestSums, labels: Integers) -> CodedRefinement | None:
        """The refinement of the only target, if there is one."""
        best: Any = found.best
        if best.columns[0] < 0:
            return None
        step = self._step(int(best.columns[0]), int(best.places[0]))
        merit = Merit(float(best.scores[0]), int(best.corrects[0]))
        return CodedRefinement(merit, step, labels, found.insides)

    def score(
        self, labels: Integers, insides: Integers, everywheres: Integers
    ) -> tuple[Floats, Integers]:
        """Scores and right cells of the single-label heads of a body, labels by values."""
        scores, corrects = np.empty((len(labels), 2)), np.empty((len(labels), 2), np.int64)
        self.kernels.score_sums(
            insides, everywheres, self.values[labels], self.scoring, scores, corrects
        )
        return scores, corrects

    def _scan(
        self,
        tables: Integers,
        present: npt.NDArray[np.uint8],
        operators: Operators,
        everywheres: Integers,
        values: npt.NDArray[np.int8],
        found: BestSums,
    ) -> None:
        self.kernels.best_in_tables(
            tables, present, self.space, operators, everywheres, values, self.scoring, *found
        )

    def _step(self, column: int, place: int) -> CodedStep:
        """The condition at a place, as kernels/README.md numbers them for codes that all occur."""
        from labelrules.kernels.scoring import SECOND_PLACE

        if column >= self.n_features:
            return CodedStep(column, 0, place)
        if self.nominal[column]:
            second, code = divmod(place, SECOND_PLACE)
            return CodedStep(column, second, code)
        code, second = divmod(place, 2)
        return CodedStep(column, second, code)


class SetsInTables:
    """Finds the best sets of categories by sums: the same as `SetRefiner` on a table of codes."""

    def __init__(
        self, bins: Bins, allowed: Language, kernels: Any, scoring: Any, is_exact: bool
    ) -> None:
        self.kernels, self.scoring, self.is_exact = kernels, scoring, is_exact
        self.start, self.n_values = bins.start, bins.n_values
        self.columns = set_columns(bins, allowed.features)
        self.first_columns = set_columns(bins, allowed.first_features)
        self.n_codes = max(bins.columns[column].n_bins for column in self.columns.tolist())
        self.log_factorials = log2_factorials(int(self.n_values[self.columns].max()))

    def none(self, n_targets: int) -> BestSums:
        """No sets yet."""
        return BestSums(room_for_sets(n_targets, self.n_codes), np.zeros(n_targets, np.int64))

    def scan(
        self,
        tables: Integers,
        columns: Integers,
        everywheres: Integers,
        values: npt.NDArray[np.int8],
        found: BestSums,
    ) -> None:
        """Find the best set for each target, of which tables are given, by some columns."""
        self.kernels.best_sets_in_tables(
            tables, self.start, columns, everywheres, values, self.scoring, self.is_exact,
            self.n_values, self.log_factorials, *found,
        )  # fmt: skip


def _best_set(found: BestSums) -> CodedRefinement | None:
    """The best set of all targets, which are labels."""
    sets: Any = found.best
    at, labels = best_of_sets(sets)
    if at is None:
        return None
    codes = tuple(np.flatnonzero(sets.members[at]).tolist())
    step = CodedStep(int(sets.columns[at]), 0, codes[0], codes)
    return CodedRefinement(merit_of_set(sets, at), step, labels, found.insides[labels])


def _better(
    first: CodedRefinement | None, second: CodedRefinement | None
) -> CodedRefinement | None:
    """The better one of a single condition and a set, which comes after those by its column."""
    if first is None or second is None:
        return second if first is None else first
    column, other = second.step.column, first.step.column
    return second if is_better_set(second.merit, column, first.merit, other) else first
