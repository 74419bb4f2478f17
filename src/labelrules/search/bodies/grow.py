"""Growing a rule: conditions are added as long as they make it better."""

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from labelrules._types import Floats, Integers, Mask
from labelrules.rules import Body, Condition, Head
from labelrules.search.bodies.language import Language
from labelrules.search.bodies.refine import Covered, Refinement, Refiner

if TYPE_CHECKING:
    from labelrules.kernels.columns import Index
    from labelrules.kernels.description import Told
    from labelrules.kernels.growth import GrowthTable, Steps

# -------------------- The conditions after the first, for one label, found in one compiled run

AT_ONCE = 64
"""Conditions that one run adds at most; there may be another run."""


def finished(
    refiner: Refiner,
    grown: "Grown",
    growth: "Growth",
    remaining: Mask | None = None,
) -> "Grown":
    """A rule with a head of one label, with all conditions that make it better."""
    table = table_of(refiner, refiner.columns.space_for_narrowing)
    while True:
        room = AT_ONCE
        if growth.max_conditions is not None:
            room = min(room, growth.max_conditions - len(grown.body))
        longer = _run(refiner, table, grown, growth, room, remaining)
        if len(longer.body) < len(grown.body) + AT_ONCE:
            return longer
        grown = longer


def _run(
    refiner: Refiner,
    table: "GrowthTable",
    grown: "Grown",
    growth: "Growth",
    room: int,
    remaining: Mask | None,
) -> "Grown":
    from labelrules.kernels.description import UNTOLD
    from labelrules.kernels.growth import Steps

    ((label, value),) = grown.head
    told = UNTOLD if growth.told is None else growth.told(label, value)
    steps = Steps(*(np.empty(room, np.int64) for _ in range(4)))
    mask = grown.covered.mask.copy()
    n_steps, rank, correct = refiner.kernels.grow_body(
        table, refiner.cells, label, value, grown.covered.rows, mask, len(grown.body),
        grown.merit, growth.min_gain, told, room, refiner.way, steps,
    )  # fmt: skip
    if n_steps == 0:
        return grown
    inside, body = grown.covered.mask, grown.body
    for step in range(n_steps):
        neighbours = None if remaining is None else np.flatnonzero(inside & remaining)
        condition = _condition(refiner, steps, step, neighbours)
        body = body.and_(condition)
        if remaining is not None:
            inside = inside & condition.holds(refiner.values_of(condition))
    covered = grown.covered._replace(mask=mask, rows=np.flatnonzero(mask))
    return grown._replace(body=Body(body), covered=covered, rank=rank, correct=correct)


def _condition(
    refiner: Refiner, steps: "Steps", step: int, neighbours: "np.ndarray | None"
) -> Condition:
    column, second = int(steps.columns[step]), bool(steps.seconds[step])
    below, above = int(steps.below[step]), int(steps.above[step])
    if column >= refiner.n_features:
        return Condition.label(column - refiner.n_features, present=below == 1)
    return refiner.columns.between(column, second, below, above, neighbours)


def table_of(refiner: Refiner, narrowed: "Index") -> "GrowthTable":
    """What a body may test, with an index to be narrowed down."""
    from labelrules.kernels.growth import GrowthTable

    space = refiner.space(refiner.columns.index, refiner.allowed.features[np.newaxis])
    return GrowthTable(
        space, narrowed, *refiner.columns.places, refiner.columns.by_column, refiner.board,
        refiner.allowed.labels,
    )  # fmt: skip


# ---------------------------------------------------------------- the main part

_INTEGER, _FLOAT = Struct("q"), Struct("d")

_NOTHING = np.iinfo(np.int64).min
_NO_MERIT = (_NOTHING, -1)
"""What every rule exceeds."""


class Grown(NamedTuple):
    """A rule that was grown, and the rows that it covers."""

    head: Head
    body: Body
    covered: Covered
    rank: int
    correct: int

    @property
    def merit(self) -> tuple[int, int]:
        """What rules are compared by: the value, then the cells that are right."""
        return self.rank, self.correct

    @property
    def value(self) -> float:
        """The value of the measure."""
        return value_of(self.rank)


@dataclass(frozen=True)
class Growth:
    """When to go on adding conditions.

    Parameters
    ----------
    max_conditions : int, optional
        The largest body.
    min_gain : float
        By how much a condition must raise the value of the measure.
    fixed : bool
        Whether the head stays as it was chosen with the first condition.
    told : callable, optional
        For a label and a value that stay, what a description of its rows is counted from.
    """

    max_conditions: int | None = None
    min_gain: float = 0.0
    fixed: bool = False
    told: "Callable[[int, int], Told] | None" = None


def grow(refiner: Refiner, growth: Growth, remaining: Mask | None = None) -> Grown | None:
    """The rule that greedy search finds, from the empty body; None if there is none.

    Thresholds lie between values of `remaining` rows, all by default. A head that shall stay as it
    is has one label; for more see `grow_in_beam`.
    """
    refiner.refresh()
    labels = np.arange(len(refiner.board))
    best: Grown | None = None
    least = alone_merit(refiner) if refiner.allowed.may_be_empty else _NO_MERIT
    choice = refiner.best_first() if growth.max_conditions != 0 else None
    covered, body = refiner.everywhere, Body()
    while choice is not None and (choice.rank, choice.correct) > least:
        if least is not _NO_MERIT and value_of(choice.rank) - value_of(least[0]) < growth.min_gain:
            break
        condition = refiner.condition(choice, covered, remaining)
        body = body.and_(condition)
        covered = refiner.narrow(covered, condition)
        best = _with_head(refiner, choice, body, covered)
        least = best.merit
        if len(body) == growth.max_conditions or len(covered.rows) < 2:
            break
        if growth.fixed:
            return finished(refiner, best, growth, remaining)
        heads = may_conclude(refiner.allowed, labels, body)
        choice, covered = refiner.best(covered, heads)
    return best if best is not None or least is _NO_MERIT else _alone(refiner, least)


def _with_head(refiner: Refiner, choice: Refinement, body: Body, covered: Covered) -> Grown:
    labels = may_conclude(refiner.allowed, choice.labels, body)
    head = _only_head(refiner, labels) or _head(refiner, labels, *refiner.score(covered, labels))
    return Grown(head, body, covered, choice.rank, choice.correct)


def alone_merit(refiner: Refiner) -> tuple[int, int]:
    """What the rule without conditions is worth."""
    ranks, corrects = refiner.alone
    top = int(ranks.max(initial=_NOTHING))
    if top == _NOTHING:
        return _NO_MERIT
    if not refiner.merging:
        return top, int(corrects[ranks == top].max())
    head = _head(refiner, np.arange(len(ranks)), ranks, corrects)
    return top, sum(int(corrects[label, value]) for label, value in head)


def _alone(refiner: Refiner, merit: tuple[int, int]) -> Grown:
    ranks, corrects = refiner.alone
    head = _head(refiner, np.arange(len(ranks)), ranks, corrects)
    return Grown(head, Body(), refiner.everywhere, *merit)


def _head(refiner: Refiner, labels: Integers, ranks: Integers, corrects: Integers) -> Head:
    """The head of the best rank: one label, or all that reach it."""
    n_labels = len(refiner.board)
    tied = ranks == ranks.max()
    if refiner.merging:
        literals = [(int(labels[i]), 1) for i in np.flatnonzero(tied[:, 1])]
        literals += [(int(labels[i]), 0) for i in np.flatnonzero(tied[:, 0] & ~tied[:, 1])]
        return Head(dict(literals[: refiner.largest]), n_labels)
    tied &= corrects == corrects[tied].max()
    value = int(tied[:, 1].any())
    return Head({int(labels[np.argmax(tied[:, value])]): value}, n_labels)


def _only_head(refiner: Refiner, labels: Integers) -> Head | None:
    """The head, if there is one label that may have one value."""
    if labels.size > 1 or refiner.cells.values[labels[0]] == 3:
        return None
    label = int(labels[0])
    return Head({label: int(refiner.cells.values[label]) - 1}, len(refiner.board))


def may_conclude(allowed: Language, labels: Integers, body: Body) -> Integers:
    """The labels that a head may have, given the labels that the body tests."""
    for number, condition in enumerate(body):
        if condition.on_label:
            tested = allowed.labels if number else allowed.first_labels
            labels = labels[tested[labels, condition.column] > 0]
    return labels


def rank_of(values: Floats) -> Integers:
    """Integers of the same order as the values.

    >>> bool(np.all(np.diff(rank_of(np.array([-np.inf, -2.0, 0.0, 0.5, 1.0]))) > 0))
    True
    """
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)


def value_of(rank: int) -> float:
    """The score that has this rank.

    >>> value_of(4602678819172646912)
    0.5
    """
    value: float
    (value,) = _FLOAT.unpack(_INTEGER.pack(rank if rank >= 0 else rank ^ 0x7FFFFFFFFFFFFFFF))
    return value
