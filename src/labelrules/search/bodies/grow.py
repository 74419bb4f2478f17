"""Grow a rule: refine bodies from the empty one and keep the best, greedily or in a beam."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from labelrules._types import Floats, Integers, Mask
from labelrules.data.table import column_of
from labelrules.measures.measure import Merit
from labelrules.rules import Body, Condition, Head
from labelrules.search.bodies.best_by_column import growth_kernels, top_of
from labelrules.search.bodies.category_sets import Tested
from labelrules.search.bodies.refine import Covered, Refinement, Refiner
from labelrules.search.bodies.rule_language import Language

if TYPE_CHECKING:
    from labelrules.kernels.covering.grow import DescriptionCounts, SetGrowth

NO_MERIT = Merit(-np.inf, -1)
"""The merit of a body that makes no rule; every rule exceeds it."""


class Grown(NamedTuple):
    """A body of the beam or a rule: what it covers, its merit, the labels that its head may have.

    Body and covered rows are as whoever counts rows holds them: a `Body` and `Covered`, or
    conditions on codes and the sums that these cover. The head is chosen at the end, or before.
    """

    body: Any
    covered: Any
    merit: Merit
    labels: Integers
    chosen: Head | None = None

    @property
    def head(self) -> Head:
        """The head of a rule."""
        assert self.chosen is not None
        return self.chosen


@dataclass(frozen=True)
class Growth:
    """When to go on adding conditions.

    A condition must raise the measure by `min_gain`. `fixed`: the head stays as it was chosen with
    the first condition. `describe` gives the counts of the description length of a label and value,
    by which greedy growth with a fixed head may end early.
    """

    max_conditions: int | None = None
    min_gain: float = 0.0
    fixed: bool = False
    describe: "Callable[[int, int], DescriptionCounts] | None" = None

    def improves(self, merit: Merit, before: Merit) -> bool:
        """Whether a refinement is better than the body that it refines, by enough."""
        if before == NO_MERIT:
            return True
        return merit > before and merit.value - before.value >= self.min_gain


class Refinements(Protocol):
    """How bodies are refined: by compiled passes, counted for every measure, or from sums."""

    def start(self) -> Grown:
        """The empty body, with `NO_MERIT` if it may not be a rule."""

    def refined(self, candidate: Grown, beam_width: int) -> list[Grown]:
        """The best refinements of a body that are better than it, best first."""

    def head(self, candidate: Grown) -> Head:
        """The best head of a body."""


def grow_rule(
    refinements: Refinements, max_conditions: int | None = None, beam_width: int = 1
) -> Grown | None:
    """The best rule met when the `beam_width` best bodies of each length are refined, or None."""
    best = refinements.start()
    beam = [best]
    while beam and len(beam[0].body) != max_conditions:
        refined = [new for one in beam for new in refinements.refined(one, beam_width)]
        beam = _best_distinct(refined, beam_width) if beam_width > 1 else refined
        if beam and beam[0].merit > best.merit:
            best = beam[0]
    if best.merit == NO_MERIT:
        return None
    return best if best.chosen is not None else best._replace(chosen=refinements.head(best))


def _best_distinct(candidates: list[Grown], beam_width: int) -> list[Grown]:
    beam: list[Grown] = []
    for candidate in sorted(candidates, key=lambda one: one.merit, reverse=True):  # stable
        if len(beam) < beam_width and candidate.body not in [one.body for one in beam]:
            beam.append(candidate)
    return beam


class Step(NamedTuple):
    """A condition of a compiled run, of a column (labels come after features) with an operator.

    `below` and `above` are rows around the threshold, or `below` has the category (-1: rows not
    listed); a label has its value there, and a set of categories has `codes`.
    """

    column: int
    second: int
    below: int
    above: int
    codes: tuple[int, ...] = ()


class GrownBody(Body):
    """The body of a compiled run: as most are rejected, its conditions are made when asked for."""

    refiner: Refiner
    steps: list[Step]

    def __init__(self, refiner: Refiner, steps: list[Step]) -> None:
        object.__setattr__(self, "refiner", refiner)
        object.__setattr__(self, "steps", steps)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions, with readable thresholds."""
        return tuple([condition_of(self.refiner, step) for step in self.steps])

    def __len__(self) -> int:
        return len(self.steps)

    def masks(self) -> Iterator[Mask]:
        """For each condition where it holds, among the rows that those before it cover."""
        n_features, columns = self.refiner.n_features, self.refiner.columns
        for column, second, below, _, codes in self.steps:
            if codes:
                yield Condition.among(column, codes).holds(column_of(columns.X, column))
            elif column >= n_features:
                yield self.refiner.board[column - n_features] == below
            else:
                yield columns.holds(column, bool(second), below)


def tests_of(body: Any) -> Sequence[Tested]:
    """What the conditions of a body test; those of a compiled run are not made for this."""
    return body.steps if isinstance(body, GrownBody) else tuple(body)


STEPS = 64
"""Conditions that a compiled run has room for at first."""


_EMPTY = Body()


@dataclass(eq=False)
class GreedyRefinements:
    """The best refinement by one compiled pass over all columns, for heads scored label by label.

    A fixed head has one label, and one compiled run adds all conditions after the first, faster
    than a pass for each. Thresholds lie between the values of the `remaining` rows.
    """

    refiner: Refiner
    growth: Growth
    remaining: Mask | None = None

    def start(self) -> Grown:
        """The empty body."""
        refiner = self.refiner
        refiner.refresh()
        merit = self._merit_of_empty_body() if refiner.allowed.may_be_empty else NO_MERIT
        return Grown(_EMPTY, refiner.everywhere, merit, np.arange(len(refiner.board)))

    def refined(self, candidate: Grown, beam_width: int = 1) -> list[Grown]:
        """The best refinement, or none."""
        refiner, covered = self.refiner, candidate.covered
        if candidate.chosen is not None:
            return []  # the compiled run has added all conditions
        if not len(candidate.body):
            best = refiner.best_first()
        elif len(covered.rows) < 2:
            return []
        else:
            (sought,) = refiner.cells.values.nonzero()
            labels = may_conclude(refiner.allowed, sought, candidate.body)
            best, covered = refiner.best(covered, labels)
        if best is None or not self.growth.improves(best.merit, candidate.merit):
            return []
        if self.growth.fixed:
            return [self._run(best)]
        return [self._refined(candidate.body, best, covered)]

    def head(self, candidate: Grown) -> Head:
        """The labels of the best score: one of them, or all if labels are merged."""
        if candidate.chosen is not None:
            return candidate.chosen
        labels = candidate.labels
        return self._only_head(labels) or self._best_head(
            labels, *self.refiner.score(candidate.covered, labels)
        )

    def _merit_of_empty_body(self) -> Merit:
        scores, corrects = self.refiner.empty_body
        top = top_of(scores)
        if top == -np.inf:
            return NO_MERIT
        if not self.refiner.merging:
            return Merit(top, int(corrects[scores == top].max()))
        head = self._best_head(np.arange(len(scores)), scores, corrects)
        return Merit(top, sum(int(corrects[label, value]) for label, value in head))

    def _refined(self, body: Body, best: Refinement, covered: Covered) -> Grown:
        refiner = self.refiner
        if best.codes:
            condition = Condition.among(best.column, best.codes)
        else:
            condition = refiner.condition(best.column, best.place, covered, self.remaining)
        body, inside = body.and_(condition), refiner.narrow(covered, condition)
        labels = may_conclude(refiner.allowed, best.labels, body)
        return Grown(body, inside, best.merit, labels)

    def _only_head(self, labels: Integers) -> Head | None:
        """The head, if there is one label that may have one value."""
        values = self.refiner.cells.values
        if labels.size > 1 or values[labels[0]] == 3:
            return None
        label = int(labels[0])
        return Head({label: int(values[label]) - 1}, len(values))

    def _best_head(self, labels: Integers, scores: Floats, corrects: Integers) -> Head:
        """The head of the best score: presence before absence, labels in order."""
        n_labels = len(self.refiner.board)
        tied = scores == scores.max()
        if self.refiner.merging:
            literals = [(int(labels[i]), 1) for i in np.flatnonzero(tied[:, 1])]
            literals += [(int(labels[i]), 0) for i in np.flatnonzero(tied[:, 0] & ~tied[:, 1])]
            return Head(dict(literals[: self.refiner.largest]), n_labels)
        tied &= corrects == corrects[tied].max()
        value = int(tied[:, 1].any())
        return Head({int(labels[np.argmax(tied[:, value])]): value}, n_labels)

    def _run(self, first: Refinement) -> Grown:
        """Add all conditions after the first in one compiled run."""
        refiner, growth = self.refiner, self.growth
        table, head = refiner.growth_table, self._only_head(first.labels)
        if head is None:
            head = self.head(self._refined(_EMPTY, first, refiner.everywhere))
        ((label, value),) = head
        describe = growth.describe
        description = (
            growth_kernels().NO_DESCRIPTION if describe is None else describe(label, value)
        )
        start = (first.column, first.place, float(first.merit.value), first.merit.correct)
        covered = np.empty_like(refiner.everywhere.mask)
        most = growth.max_conditions or sys.maxsize
        room = n_steps = 0
        while n_steps == room < most:  # at first, and again if there was not enough room
            room = min(max(STEPS, 2 * room), most)
            steps, sets = np.empty((room, 4), np.int64), refiner.growing_sets(first, room)
            n_steps, score, correct = refiner.kernels.grow_body(
                table, refiner.written, refiner.cells, label, value, start,
                refiner.everywhere.rows.copy(), covered, growth.min_gain, description, room,
                refiner.scoring, sets, steps,
            )  # fmt: skip
        taken = steps_of(refiner, steps[:n_steps].tolist(), sets)
        body: Body = GrownBody(refiner, taken)
        if self.remaining is not None:  # thresholds move, so other rows may be covered
            body = self._moved(taken, self.remaining, covered)
        inside = Covered(covered, covered.nonzero()[0], refiner.columns.index)
        return Grown(body, inside, Merit(score, int(correct)), first.labels, head)

    def _moved(self, steps: list[Step], remaining: Mask, covered: Mask) -> Body:
        """The body with thresholds between remaining rows; `covered` receives its rows."""
        covered[:] = True
        conditions = []
        for step in steps:
            condition = condition_of(self.refiner, step, np.flatnonzero(covered & remaining))
            conditions.append(condition)
            covered &= condition.holds(self.refiner.values_of(condition))
        return Body(conditions)


def steps_of(refiner: Refiner, steps: list[list[int]], sets: "SetGrowth | None") -> list[Step]:
    """The steps of a compiled run, sets of categories with their codes."""
    if sets is None:
        return [Step(*step) for step in steps]  # type: ignore[arg-type]
    taken, is_set = [], growth_kernels().SET
    for number, (column, second, below, above) in enumerate(steps):
        codes: tuple[int, ...] = ()
        if second == is_set:
            rows = sets.chosen[number]
            every = rows[rows > -2].tolist()
            codes = tuple(int(refiner.columns.value_of(row, column)) for row in every)
        taken.append(Step(column, second, below, above, codes))
    return taken


def condition_of(refiner: Refiner, step: Step, rows: Integers | None = None) -> Condition:
    """The condition of a step of a compiled run, with a threshold between values of the rows."""
    column, second, below, above, codes = step
    if codes:
        return Condition.among(column, codes)
    if column >= refiner.n_features:
        return Condition.label(column - refiner.n_features, present=below == 1)
    return refiner.columns.between(column, bool(second), below, above, rows)


def may_conclude(allowed: Language, labels: Integers, body: Body) -> Integers:
    """The labels that a head may have, given the labels that the body tests."""
    for number, condition in enumerate(body):
        if condition.on_label:
            tested = allowed.labels if number else allowed.first_labels
            labels = labels[tested[labels, condition.column] > 0]
    return labels
