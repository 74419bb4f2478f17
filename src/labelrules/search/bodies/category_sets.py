"""Sets of categories as conditions, `region in {North, West}`: refine bodies by the best one."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers
from labelrules.data.codes.bins import Bins
from labelrules.measures import Formula
from labelrules.measures.description_length import category_bits, condition_bits
from labelrules.measures.formulas import is_quasi_convex
from labelrules.measures.linear_ratios import linear_ratio
from labelrules.measures.measure import Merit
from labelrules.rules import Condition, Head
from labelrules.search.bodies.best_by_column import growth_kernels, is_better_set, top_of
from labelrules.search.bodies.refine import Covered, Refinement, Refiner
from labelrules.search.bodies.rule_language import SETS, Operators
from labelrules.search.bodies.sorted_columns import SortedColumns

if TYPE_CHECKING:
    from labelrules.kernels.covering.category_sets import BestSets
    from labelrules.kernels.covering.grow import SetGrowth

FEWEST = 3
"""Categories that a column must have for sets: of two, each is what the other is not."""


def finds_best_sets(formula: Formula, counting: str) -> bool:
    """Whether the best set of categories is a cut of their order by precision.

    >>> finds_best_sets(Formula("f", 0.8), "head-relative")
    True
    >>> finds_best_sets(Formula("subset"), "head-relative")
    False
    """
    weights = linear_ratio(formula)
    if counting == "head-relative":
        return weights is not None or is_quasi_convex(formula)
    # By the chapter's counting the positives are not always the same cells.
    return weights is not None and not weights.needs_prior


def set_columns(columns: SortedColumns | Bins, operators: Operators) -> Integers:
    """The columns that sets may be made of."""
    wanted = (operators & SETS > 0) & (columns.nominal == 1) & (columns.n_values >= FEWEST)
    return np.flatnonzero(wanted)


def log2_factorials(most: int) -> Floats:
    """The binary logarithms of the factorials of whole numbers, up to one."""
    return np.asarray(np.cumsum(np.log2(np.maximum(np.arange(most + 1), 1))))


def room_for_sets(n_targets: int, n_members: int) -> "BestSets":
    """No sets yet, of values with so many numbers."""
    scores, numbers = np.empty(n_targets), np.empty((3, n_targets), np.int64)
    scores.fill(-np.inf)
    numbers.fill(-1)
    members = np.zeros((n_targets, n_members), dtype=np.bool_)
    room: BestSets = growth_kernels().BestSets(scores, numbers[0], numbers[1], numbers[2], members)
    return room


class SetRefiner(Refiner):
    """A `Refiner` that also finds the best set of categories; those of all rows are kept."""

    def __init__(self, *columns_and_cells: Any, formula: Formula, **others: Any) -> None:
        super().__init__(*columns_and_cells, formula=formula, **others)  # type: ignore[misc]
        self.is_exact = finds_best_sets(formula, others["counting"])
        self.set_columns = set_columns(self.columns, self.allowed.features)
        self.first_set_columns = set_columns(self.columns, self.allowed.first_features)
        self.most_values = int(self.columns.n_values[self.set_columns].max(initial=0))
        self.log_factorials = log2_factorials(self.most_values)
        self.root_sets = room_for_sets(self.targets_of.size, self.most_values)

    def refresh(self) -> None:
        """Search anew, from the empty body, for the labels whose cells have changed."""
        targets = self.targets_of[self.stale].ravel()
        super().refresh()
        if targets.size:
            anew = self._search_sets(self.everywhere, targets, self.first_set_columns)
            for old, new in zip(self.root_sets, anew, strict=True):
                old[targets] = new

    def drop(self, label: int) -> None:
        """Expect no rule for a label any more."""
        super().drop(label)
        targets = self.targets_of[label]
        self.root_sets.scores[targets], self.root_sets.columns[targets] = -np.inf, -1

    def best_first(self) -> Refinement | None:
        """The best first condition, after `refresh`."""
        found, targets = super().best_first(), self.targets_of.ravel()
        return self._or_better_set(found, self.everywhere, targets, self.root_sets)

    def best(self, covered: Covered, labels: Integers) -> tuple[Refinement | None, Covered]:
        """The best further condition, and the covered rows with their columns narrowed down."""
        found, narrowed = super().best(covered, labels)
        targets = self.targets_of[labels].ravel()
        sets = self._search_sets(narrowed, targets, self.set_columns)
        return self._or_better_set(found, narrowed, targets, sets), narrowed

    def growing_sets(self, first: Refinement, room: int) -> "SetGrowth":
        """The sets of categories that a compiled run may test for, after the first condition."""
        found, n_rows = room_for_sets(1, self.most_values), len(self.everywhere.rows)
        if first.codes:
            every = list(range(int(self.columns.n_values[first.column])))
            values = self.columns.values_at(first.column, every, self.everywhere.listing, n_rows)
            found.members[0, : len(every)] = np.isin(values, first.codes)
        sums, order = np.empty(n_rows + 3, np.int64), np.empty(n_rows + 3, np.int64)
        sets: SetGrowth = growth_kernels().SetGrowth(
            self.set_columns, self.is_exact, self.columns.n_values, self.log_factorials, found,
            sums, order, np.empty(n_rows + 3), np.empty((room, self.most_values), dtype=np.int32),
        )  # fmt: skip
        return sets

    def _search_sets(
        self,
        covered: Covered,
        targets: Integers,
        columns: Integers,
        values: npt.NDArray[np.int8] | None = None,
    ) -> "BestSets":
        best = room_for_sets(len(targets), self.most_values)
        values = self.values_for(targets) if values is None else values
        if columns.size:
            space = self.space(covered.listing, self.allowed.features[np.newaxis])
            self.kernels.best_sets(
                space, columns, covered.rows, self.cells, targets, values, self.scoring,
                self.is_exact, self.columns.n_values, self.log_factorials, best,
            )  # fmt: skip
        return best

    def sets_of_column(
        self, covered: Covered, column: int, labels: Integers, head: Head | None = None
    ) -> list[Condition]:
        """The best sets of a column for each label, or for those of a head; small ones first."""
        labels = labels if head is None else np.array(head.labels)
        targets = self.targets_of[labels].ravel()
        values = self.values_for(targets)
        if head is not None:
            values = values & np.repeat(1 << np.array(head.values), self.n_layers).astype(np.int8)
        sets = self._search_sets(covered, targets, np.array([column]), values)
        found = {
            self._codes(covered, sets, at): None
            for at in np.argsort(sets.sizes, kind="stable").tolist()
            if sets.columns[at] >= 0
        }
        return [Condition.among(column, codes) for codes in found]

    def _or_better_set(
        self, found: Refinement | None, covered: Covered, targets: Integers, sets: "BestSets"
    ) -> Refinement | None:
        """The best set of all labels, if it is better than another refinement, else that one."""
        if found is not None and top_of(sets.scores) < found.merit.value:
            return found
        at, same = best_of_sets(sets)
        if at is None:
            return found
        merit, column = merit_of_set(sets, at), int(sets.columns[at])
        if found is not None and not is_better_set(merit, column, found.merit, found.column):
            return found
        labels, codes = np.unique(targets[same] // self.n_layers), self._codes(covered, sets, at)
        return Refinement(merit, column, growth_kernels().SET_PLACE + len(codes), labels, codes)

    def _codes(self, covered: Covered, sets: "BestSets", at: int) -> tuple[int, ...]:
        """The categories of a set, which is noted by their numbers among covered rows."""
        numbers = np.flatnonzero(sets.members[at]).tolist()
        listing, n_rows = covered.listing, len(covered.rows)
        values = self.columns.values_at(int(sets.columns[at]), numbers, listing, n_rows)
        return tuple(map(int, values))


def best_of_sets(sets: "BestSets") -> tuple[int | None, Integers]:
    """The first target with the best set, and all with it: score, right cells, column, then size.

    None if there is no set.
    """
    (tied,) = (sets.scores == top_of(sets.scores)).nonzero()
    if tied.size > 1:
        tied = tied[sets.corrects[tied] == sets.corrects[tied].max()]
    if tied.size > 1:
        tied = tied[sets.columns[tied] == sets.columns[tied].min()]
    at = int(tied[sets.sizes[tied].argmin()])
    if sets.columns[at] < 0:
        return None, np.empty(0, np.int64)
    return at, tied[(sets.members[tied] == sets.members[at]).all(axis=1)]


def merit_of_set(sets: "BestSets", at: int) -> Merit:
    """The merit that the best set of a target leads to."""
    return Merit(float(sets.scores[at]), int(sets.corrects[at]))


class Tested(Protocol):
    """What is known of a condition, or of one on codes, where bits are counted."""

    @property
    def column(self) -> int:
        """Which column is tested."""

    @property
    def codes(self) -> tuple[int, ...]:
        """The categories of a set, none otherwise."""


def bits_of_body(tests: Collection[Tested], n_possible: int, n_values: Integers) -> float:
    """The bits that encode a body: for each condition which one, for sets what they name, too."""
    sets = [one for one in tests if one.codes]
    more = sum(category_bits(int(n_values[one.column]), len(one.codes)) for one in sets)
    return condition_bits(len(tests), n_possible) + more
