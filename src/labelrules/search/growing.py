"""The conditions after the first, for one label, found in one compiled run."""

from typing import TYPE_CHECKING

import numpy as np

from labelrules._types import Mask
from labelrules.rules import Body, Condition
from labelrules.search.refiner import Refiner

if TYPE_CHECKING:
    from labelrules.kernels.columns import Index
    from labelrules.kernels.growth import Steps, Table
    from labelrules.search.bodies import Grown, Growth

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
    table: "Table",
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


def table_of(refiner: Refiner, narrowed: "Index") -> "Table":
    """What a body may test, with an index to be narrowed down."""
    from labelrules.kernels.growth import Table

    space = refiner.space(refiner.columns.index, refiner.allowed.features[np.newaxis])
    return Table(
        space, narrowed, *refiner.columns.places, refiner.columns.by_column, refiner.board,
        refiner.allowed.labels,
    )  # fmt: skip
