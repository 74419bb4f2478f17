"""The next rule of a list, found from counts over rows that are never seen."""

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data.codes.bins import Bins
from labelrules.data.codes.thresholds import simplest_between
from labelrules.learners.covering.next_rule import values_of
from labelrules.learners.covering.pruning import exception_length
from labelrules.learners.covering.row_counts import (
    BodyCounts,
    LabelTotals,
    RowCounts,
    Steps,
    WrittenCounts,
)
from labelrules.learners.covering.settings import Settings
from labelrules.measures.measure import Merit
from labelrules.rules import Body, Condition, Evidence, Head
from labelrules.search.bodies.category_sets import bits_of_body
from labelrules.search.bodies.code_tables import CodedRefinement, TableSearch, condition_on_values
from labelrules.search.bodies.grow import NO_MERIT, Growth

if TYPE_CHECKING:
    from labelrules.kernels.covering.grow import DescriptionCounts

PIECE = 1 << 26
"""Bytes of tables that are asked for together."""


class LabelCounts:
    """For each label the cells of the training rows: what is known, open and written.

    Two counts share a number, cells and those of present labels; see kernels/README.md. Cells are
    counted in units.
    """

    prepends = False

    def __init__(self, totals: LabelTotals, unit: float) -> None:
        self.unit, self.n_rows = unit, totals.n_rows
        self.known, self.open, self.written = (np.array(part) for part in totals[1:])
        self.n_cells = int((self.known >> 32).sum())

    @property
    def n_open(self) -> int:
        """The cells that no rule has written."""
        return int((self.open >> 32).sum())

    @property
    def is_common(self) -> Mask:
        """For each label whether it is present in most of the rows in which it is known."""
        return _is_mostly_present(self.known)

    def n_with(self, values: Integers) -> int:
        """The known cells with a wanted value: for each label 1 absent, 2 present, 3 both."""
        n_present = self.known & 0xFFFFFFFF
        n_absent = (self.known >> 32) - n_present
        return int((n_absent * (values & 1) + n_present * (values >> 1 & 1)).sum())

    def write(self, label: int, value: int, inside: int) -> None:
        """Note that a rule has written open cells."""
        self.open[label] -= inside
        self.written[value, label] += inside

    def evidence(self, value: int, inside: int) -> Evidence:
        """The right and wrong cells of a prediction, in units."""
        n_cells, n_present = inside >> 32, inside & 0xFFFFFFFF
        if value:
            return Evidence(n_present, n_cells - n_present)
        return Evidence(n_cells - n_present, n_present)

    def rounded(self, count: Evidence) -> Evidence:
        """The nearest whole numbers of cells."""
        if self.unit == 1:
            return count
        return Evidence(*(round(self.unit * part) for part in count))

    def default(self) -> Head:
        """For each label the majority of the unwritten cells, else of all; absent on a tie."""
        unwritten = np.where(self.open >> 32 > 0, self.open, self.known)
        common = _is_mostly_present(unwritten).astype(int).tolist()
        return Head(dict(enumerate(common)), len(common))

    def describe(
        self, label: int, value: int, n_possible: int, patience: int
    ) -> "DescriptionCounts":
        """The counts for the description length of a label and value."""
        from labelrules.kernels.covering.grow import DescriptionCounts

        n_cells, n_present = _two(self.known[label])
        n_true = n_present if value else n_cells - n_present
        written = int(self.written[value, label])
        n_right = self.evidence(value, written).right
        return DescriptionCounts(n_cells, n_true, written >> 32, n_right, n_possible, patience)


def _two(packed: int | np.int64) -> tuple[int, int]:
    return int(packed) >> 32, int(packed) & 0xFFFFFFFF


def _is_mostly_present(packed: Integers) -> Mask:
    n_cells, n_present = packed >> 32, packed & 0xFFFFFFFF
    return np.asarray(2 * n_present > n_cells)


class CountedRule(NamedTuple):
    """A rule that was grown, with the cells that its first 0, 1, ... conditions cover."""

    head: Head
    steps: Steps
    merit: Merit
    insides: list[int]
    bodies: list[BodyCounts]
    """The counts of the first condition, the first two and so on, as far as they were needed."""

    @property
    def label(self) -> int:
        """The one label of the head."""
        return self.head.labels[0]

    @property
    def value(self) -> int:
        """Its value."""
        return self.head.values[0]


class CountedPatience:
    """Ends growth when several conditions in a row have not shortened the description."""

    def __init__(self, description: "DescriptionCounts", unit: float, n_values: Integers) -> None:
        self.description, self.unit, self.n_values = description, unit, n_values
        self.shortest, self.n_idle = np.inf, 0

    def ends(self, evidence: Evidence, steps: Steps) -> bool:
        """Whether growth ends with this body, the next longer one."""
        from labelrules.kernels.covering.grow import SHORTER, THEORY_WEIGHT

        length = exception_length(self.description, *evidence, self.unit)
        length += THEORY_WEIGHT * bits_of_body(steps, self.description.n_possible, self.n_values)
        self.n_idle = 0 if length < self.shortest - SHORTER else self.n_idle + 1
        self.shortest = min(length, self.shortest)
        return 0 < self.description.patience <= self.n_idle


class CountedFinder:
    """Finds the best rule with one label for the open cells; the twin of `RuleFinder`."""

    def __init__(
        self, rows: RowCounts, counts: LabelCounts, bins: Bins, settings: Settings
    ) -> None:
        self.rows, self.counts, self.bins, self.settings = rows, counts, bins, settings
        self.growth = Growth(settings.max_conditions, settings.min_gain, fixed=True)
        self.values = values_of(settings.polarity, counts.is_common)
        self.given_up = np.zeros_like(self.values)
        self.search = TableSearch(
            bins, self.values, settings.measure.formula, settings.allowed,
            counting=settings.counting, smallest=settings.min_coverage, unit=counts.unit,
        )  # fmt: skip
        n_labels = len(self.values)
        self.stale = np.ones(n_labels, dtype=np.bool_)
        self.first = self.search.none(n_labels)
        self.by_label = np.zeros((n_labels, n_labels, 3), np.int64)
        self.tested = np.zeros(n_labels, dtype=np.bool_)

    def note_written(self) -> None:
        """Ask what rules that are kept have written."""
        if (found := self.rows.written()).size and self.settings.allowed.has_labels:
            self.by_label[:] = found
            self.tested[:] = (found[:, :, 1:] != 0).any(axis=(0, 2))

    def go_on_from(self, other: "CountedFinder") -> None:
        """Take over what is written, and search for the labels that another finder gave up."""
        self.growth, self.values[:] = other.growth, other.given_up
        self.by_label, self.tested = other.by_label, other.tested

    def best_rule(self) -> CountedRule | None:
        """The best rule, None if there is none."""
        self._refresh()
        counts, search = self.counts, self.search
        merit = self._merit_of_empty_body() if search.allowed.may_be_empty else NO_MERIT
        tested = np.flatnonzero(self.tested)
        by_labels = None
        if tested.size:
            by_labels = search.by_labels(self.by_label, tested, counts.open)
        best = search.best_first(self.first, by_labels)
        may_grow = self.growth.max_conditions != 0
        if may_grow and best is not None and self.growth.improves(best.merit, merit):
            return self._run(best)
        if merit == NO_MERIT:
            return None
        labels = np.arange(len(self.values))
        head, inside = self._head(labels, counts.open)
        return CountedRule(head, (), merit, [inside], [])

    def _refresh(self) -> None:
        """Search anew, from the empty body, for the labels whose cells have changed."""
        (stale,) = (self.stale & (self.values > 0)).nonzero()
        at_once = max(1, PIECE // max(8, 8 * int(self.bins.start[-1])))
        for begin in range(0, stale.size, at_once):
            labels = stale[begin : begin + at_once]
            self._search_first(labels, self.rows.roots(labels.tolist()))
        for label in np.flatnonzero(self.stale & (self.values == 0)).tolist():
            self.first.drop(label)
        self.stale[:] = False

    def _search_first(self, labels: Integers, tables: Integers) -> None:
        everywheres = self.counts.open[labels]
        found = self.search.by_features(labels, tables, everywheres, self._present)
        self.first.put(labels, found)

    @cached_property
    def _present(self) -> npt.NDArray[np.uint8]:
        """The codes that occur in any row, of marked columns; empty if all of them do."""
        if self.search.all_occur:
            return np.empty(0, np.uint8)
        return self.rows.body(0, ()).present

    def _merit_of_empty_body(self) -> Merit:
        scores, corrects = self._scores_of_empty_body()
        top = float(scores.max(initial=-np.inf))
        return NO_MERIT if top == -np.inf else Merit(top, int(corrects[scores == top].max()))

    def _scores_of_empty_body(self) -> tuple[Floats, Integers]:
        labels = np.arange(len(self.values))
        return self.search.score(labels, self.counts.open, self.counts.open)

    def _head(self, labels: Integers, insides: Integers) -> tuple[Head, int]:
        """The head of the best score: most right cells, presence, then the first label."""
        everywheres = self.counts.open[labels]
        scores, corrects = self.search.score(labels, insides, everywheres)
        tied = scores == scores.max()
        tied &= corrects == corrects[tied].max()
        value = int(tied[:, 1].any())
        at = int(np.argmax(tied[:, value]))
        return Head({int(labels[at]): value}, len(self.values)), int(insides[at])

    def _run(self, first: CodedRefinement) -> CountedRule:
        """Add conditions to the first one as long as one makes the rule better."""
        growth, counts = self.growth, self.counts
        head, inside = self._head(first.labels, first.insides)
        ((label, value),) = head
        everywhere = int(counts.open[label])
        steps: Steps = (first.step,)
        merit = first.merit
        insides, bodies = [everywhere, inside], list[BodyCounts]()
        patience = None
        if growth.describe is not None:
            description = growth.describe(label, value)
            patience = CountedPatience(description, counts.unit, self.bins.n_values)
        while len(steps) != growth.max_conditions:
            if patience is not None and patience.ends(counts.evidence(value, inside), steps):
                break
            bodies.append(self.rows.body(label, steps))
            new = self.search.best_further(
                label, value, bodies[-1], np.flatnonzero(self.tested), everywhere, merit
            )
            if new is None or (growth.min_gain > 0 and _gain(new.merit, merit) < growth.min_gain):
                break
            steps, merit, inside = (*steps, new.step), new.merit, int(new.insides[0])
            insides.append(inside)
        return CountedRule(head, steps, merit, insides, bodies)

    def write(self, rule: CountedRule) -> WrittenCounts:
        """Write a rule, and keep up with what that changes."""
        label, value, n = rule.label, rule.value, len(rule.steps)
        if self.settings.allowed.has_labels:
            known = n and len(rule.bodies) >= n
            body = rule.bodies[n - 1] if known else self.rows.body(label, rule.steps)
            self.by_label[label] -= body.by_label
        written = self.rows.write(label, value, rule.steps)
        self.counts.write(label, value, rule.insides[n])
        if self.settings.allowed.has_labels:
            self.by_label[:, label, value + 1] += written.others
            self.by_label[label, label] = 0
            self.tested[label] = True
        self.stale[label] = False
        if self.values[label]:
            labels = np.array([label])
            self._search_first(labels, written.table[np.newaxis])
        return written

    def exclude(self, head: Head) -> None:
        """Search no longer for rules with the labels and values of this head."""
        for label, value in head:
            self.values[label] &= ~(1 << value)
            self.given_up[label] |= 1 << value
            if self.values[label]:
                self.stale[label] = True
            else:
                self.first.drop(label)

    def body_of(self, steps: Steps, next_codes: Integers) -> Body:
        """The conditions of steps; a threshold lies between the codes of covered rows."""
        conditions = []
        for step, following in zip(steps, next_codes.tolist(), strict=True):
            column, second, code, codes = step
            if column >= self.search.n_features:
                conditions.append(Condition.label(column - self.search.n_features, code == 1))
            elif codes:
                conditions.append(Condition.among(column, codes))
            elif self.bins.nominal[column]:
                conditions.append(Condition(column, "!=" if second else "=", code))
            else:
                between = simplest_between(code, following)
                on_codes = Condition(column, ">" if second else "<=", between)
                conditions.append(condition_on_values(self.bins, on_codes))
        return Body(conditions).without_implied()


def _gain(after: Merit, before: Merit) -> float:
    return float(after.value) - float(before.value)
