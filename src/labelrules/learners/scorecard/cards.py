"""Scorecards for some rows, at some cost, and within a budget of literals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labelrules._interrupts import heard_interrupts
from labelrules._types import Integers
from labelrules.data import Dataset
from labelrules.data.codes.binned_columns import BinnedColumns
from labelrules.learners.base.progress import is_nested_fit
from labelrules.learners.scorecard.decoding import Unseen, UsualSets, least_count
from labelrules.learners.scorecard.growth import CardGrowth, CellWeights, Points, Prices, Targets

Report = Callable[[int], object]
"""A function that is called with the number of conditions so far."""

LEAST_COST = 0.5
"""Scorecards that fill a budget are not made larger than with this cost, in bits."""

STEPS, STEPS_PER_DOUBLING = 96, 8
"""Costs that are tried to keep to a budget."""

FOR_LABEL_SETS = 8
"""One of so many literals of a budget is left to usual label sets."""


class GrownCard(NamedTuple):
    """The points of a scorecard, the cost of a literal, and whether nothing interrupted it."""

    points: Points
    cost: float
    is_finished: bool


@dataclass(frozen=True, eq=False)
class CardTask:
    """What scorecards are grown for: rows, their bins, targets, and weights if not all are 1."""

    data: Dataset
    binned: BinnedColumns
    targets: Targets
    ridge: float
    weights: CellWeights | None = None

    def prices(self, cost: float, rows: Integers | slice = slice(None)) -> Prices:
        """The prices at a cost in bits, for some of the rows."""
        return Prices.of(cost, self.ridge, self._n_present(rows))

    def _n_present(self, rows: Integers | slice) -> float:
        """The labels that are present in these rows, or the sum of their weights."""
        present = self.data.Y[rows] == 1
        if self.weights is None:
            return int(present.sum())
        return self.weights.unit * int(self.weights.units[:, rows][present.T].sum())

    def usual_sets(self, cost: float) -> UsualSets:
        """The label sets that are frequent enough at this cost."""
        by_row = None if self.weights is None else self.weights.by_row
        return UsualSets.of(self.data.Y, least_count(self.prices(cost).bits), by_row)

    @heard_interrupts()
    def unseen(self, cost: float, part: Integers) -> Unseen:
        """The margins of some rows, by a scorecard that is grown on the others."""
        others = np.setdiff1d(np.arange(self.data.n_rows), part)
        targets = np.ascontiguousarray(self.targets[:, others])
        seen, held_out = (
            None if self.weights is None else self.weights.take(rows) for rows in (others, part)
        )
        growth = CardGrowth(self.binned.take(others), targets, self.prices(cost, others), seen)
        for _ in growth.run():
            pass
        margins = growth.points.margins(self.binned.take(part))
        return Unseen(margins, self.data.Y[part], None if held_out is None else held_out.units.T)

    def card(self, cost: float, report: Report, limit: int | None = None) -> GrownCard:
        """A scorecard at this cost; if it is interrupted, what has grown so far."""
        growth = CardGrowth(self.binned, self.targets, self.prices(cost), self.weights)
        try:
            with heard_interrupts():
                for n_conditions in growth.run(limit):
                    report(n_conditions)
        except KeyboardInterrupt:
            if is_nested_fit():
                raise
            return GrownCard(growth.points, cost, False)
        return GrownCard(growth.points, cost, True)

    def card_within(self, most: int, cost: float, report: Report) -> GrownCard:
        """The scorecard of at most so many literals with the least cost, from `cost` on."""
        limit = most - most // FOR_LABEL_SETS
        best = GrownCard(_only_start(self), cost, True)
        low, high, step = -1, STEPS, 0
        while high - low > 1:
            found = self.card(cost * 2 ** (step / STEPS_PER_DOUBLING), report, limit)
            if found.points.n_literals <= limit:
                best, high = found, step
            elif not found.is_finished and not best.points.conditions:
                best = found._replace(points=found.points.within(limit))
            else:
                low = step
            if not found.is_finished:
                return best._replace(is_finished=False)
            step = (low + high) // 2
        return best


def _only_start(task: CardTask) -> Points:
    growth = CardGrowth(task.binned, task.targets, task.prices(LEAST_COST), task.weights)
    growth.begin()
    return growth.points
