"""How a scorecard grows: the condition that pays most, with points for all labels it pays for.

A margin is the sum of points of a label in a row; two points double the odds that the label is
present. The loss is the description length of the targets by these odds, plus a ridge that draws
points to 0, plus the price of each literal. All sums are of whole numbers, so neither the order of
rows nor the processor changes the result.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers
from labelrules.data import Dataset
from labelrules.data.codes.binned_columns import BinnedColumns
from labelrules.data.weights import row_units

if TYPE_CHECKING:
    from labelrules.kernels.scorecard import Card, Tables

Targets: TypeAlias = npt.NDArray[np.int32]
"""Labels by rows: how likely a label is meant to be present, in parts of `ONE`; -1 if unknown."""

DOUBLING = 2
"""So many points double the odds."""

MOST_POINTS = 40
"""The most points of one rule for one label."""

MIN_ROWS = 3
"""A condition holds for so many rows, and does not hold for so many."""

ONE = 1 << 14
"""The probability 1 in whole numbers."""

NAT = 1 << 16
"""One nat in the whole numbers that losses are made of, before they are multiplied by `ONE`."""

GRAIN = 1 << 10
"""One nat in the whole numbers that promised gains are made of."""

REACH = 128
"""Margins beyond so many points are as good as certain."""

OUT_OF_REACH = -(1 << 29)
"""The margin of an unknown label: with the target 0 no points ever change its loss, which is 0."""

ROOT = 0.4
"""The cost of a literal grows with this power of the labels that are present."""

BASE_RIDGE = 0.5
"""The ridge of a condition that holds for almost no row."""

TERM = 8
"""After so many steps all points are reviewed."""

SWEEPS = 4
"""How often the points of a label are refitted at most, after each step."""

PATIENCE = 0.9
"""Points are taken again only if they save less than this part of their price."""

MOST_UNITS = 1 << 24
"""The largest sum of weights of one label, in units: losses of so many rows fit into 64 bits."""

BLOCK = 1 << 21
"""Cells of labels by rows that are counted together, so that counting takes little memory."""


@cache
def point_tables() -> "Tables":
    """Probabilities, their spread, and losses by margin; by decimals, so equal on all machines."""
    from labelrules.kernels.scorecard import Tables

    with localcontext() as context:
        context.prec = 40
        margins = [Decimal(m) / DOUBLING for m in range(-REACH, REACH + 1)]
        odds = [Decimal(2) ** margin for margin in margins]
        chances = [odd / (1 + odd) for odd in odds]
        chance = np.array([round(p * ONE) for p in chances], np.int64)
        spread = np.array([round(p * (1 - p) * ONE) for p in chances], np.int64)
        softplus = np.array([round((1 + odd).ln() * NAT) for odd in odds], np.int64)
        unit = Decimal(2).ln() / DOUBLING
        return Tables((-chance << 32) + spread, softplus, ONE, float(unit), round(unit * NAT))


@dataclass(frozen=True)
class Prices:
    """What a literal costs, in nats, and the ridge of a condition that holds for half the rows."""

    literal: float
    ridge: float

    @classmethod
    def of(cls, cost: float, ridge: float, n_present: float) -> "Prices":
        """By the bits of a literal if a thousand labels are present; more rows, more bits."""
        return cls(cost * log(2) * (max(1, n_present) / 1000) ** ROOT, ridge)

    @property
    def bits(self) -> float:
        """What a literal costs, in bits."""
        return self.literal / log(2)

    def ridges(self, n_covered: Integers, n_rows: int) -> Floats:
        """The ridge of each condition, as if the variance of all were one."""
        share = n_covered / n_rows
        return np.asarray(BASE_RIDGE + self.ridge * 4 * share * (1 - share))


class CellWeights(NamedTuple):
    """Weights of cells, labels by rows, as multiples of a unit."""

    units: Integers
    unit: float

    @classmethod
    def of(cls, data: Dataset) -> "CellWeights | None":
        """The weights of a data set; None if all are 1."""
        units, unit = row_units(data.weights, MOST_UNITS)
        if units is None:
            return None
        cells = np.broadcast_to(units.reshape(data.n_rows, -1), data.Y.shape)
        return cls(np.ascontiguousarray(cells.T), unit)

    def take(self, rows: Any) -> "CellWeights":
        """The weights of some rows."""
        return CellWeights(np.ascontiguousarray(self.units[:, rows]), self.unit)

    @property
    def by_row(self) -> Floats:
        """The weight of each row, which is the mean of its cells."""
        return np.asarray(self.unit * self.units.sum(axis=0) / len(self.units))


class Points(NamedTuple):
    """The points of a scorecard: conditions by numbers, and their points, by labels.

    With the cost of a literal in bits, and whether nothing has interrupted the growth.
    """

    start: Integers
    conditions: tuple[int, ...]
    given: Integers
    cost: float = 0.0
    is_finished: bool = True

    @property
    def n_literals(self) -> int:
        """Conditions, and labels that get points from them."""
        return len(self.conditions) + int(np.count_nonzero(self.given))

    def within(self, n_literals: int) -> "Points":
        """The first conditions, as long as there are not more literals."""
        sizes = 1 + np.count_nonzero(self.given, axis=1)
        n_kept = int(np.searchsorted(np.cumsum(sizes), n_literals, "right"))
        return self._replace(conditions=self.conditions[:n_kept], given=self.given[:n_kept])

    def margins(self, binned: BinnedColumns) -> Integers:
        """The sum of points, rows by labels."""
        found = np.repeat(self.start[np.newaxis], binned.n_rows, axis=0)
        for condition, given in zip(self.conditions, self.given, strict=True):
            found[binned.covered(condition)] += given
        return found


class CardGrowth:
    """A scorecard that grows; `margin` is labels by rows.

    `excess` is by how much points of each condition for each label are promised to save more than
    they cost, `score` the sum over labels, `costs` what the condition costs if it is not there yet.
    `card` is the filled part of `room`. With weights, sums and losses are in their unit.
    """

    def __init__(
        self,
        binned: BinnedColumns,
        targets: Targets,
        prices: Prices,
        weights: CellWeights | None = None,
    ) -> None:
        self.is_known = targets >= 0
        self.binned, self.targets, self.prices = binned, np.maximum(targets, 0), prices
        self.n_labels, n_rows = targets.shape
        self.units = None if weights is None else weights.units
        self.unit = 1.0 if weights is None else weights.unit
        self.wanted, self.counted = (self._weighed(one) for one in (self.targets, self.is_known))
        nothing = np.empty((self.n_labels, 0), np.bool_)
        self.weights = nothing if self.units is None else self.units
        self.tables = point_tables()
        self.margin = np.where(self.is_known, np.int32(0), np.int32(OUT_OF_REACH))
        covered = binned.n_covered
        allowed = (covered >= MIN_ROWS) & (n_rows - covered >= MIN_ROWS)
        self.ridges = np.where(allowed, prices.ridges(covered, n_rows) * ONE / self.unit, -1.0)
        self.excess = np.zeros((self.n_labels, len(allowed)), np.int32)
        self.score = np.zeros(len(allowed), np.int64)
        self.leanings = self._lean()
        self.is_reviewed = np.zeros(self.n_labels, np.bool_)
        self.price = self._in_grains(prices.literal)
        self.costs = np.full(len(allowed), self.price)
        self.conditions: list[int] = [-1]
        self.card = self.room = _first_card(self.wanted, self.counted)
        self.lost = np.zeros((1, self.n_labels), np.int64)

    def run(self, limit: int | None = None) -> Iterator[int]:
        """Grow until no condition pays, or there are many more literals than `limit`.

        Gives the number of conditions after each step; if it is not asked to go on, what has grown
        so far is a scorecard too.
        """
        every = np.arange(self.n_labels)
        self.begin()
        self._promise(every)
        n_steps = 0
        while self._grow():
            n_steps += 1
            yield len(self.conditions) - 1
            if n_steps % TERM == 0:
                self._review()
                if limit is not None and self.points.n_literals > limit + limit // 4 + TERM:
                    return
        while self._review():
            yield len(self.conditions) - 1
        self._refit(every, 10 * SWEEPS)

    def begin(self) -> None:
        """Give each label the points that it has in all rows."""
        self._refit(np.arange(self.n_labels), 10 * SWEEPS)

    @property
    def points(self) -> Points:
        """The points as they stand."""
        points, conditions = self.card.points, self.conditions
        kept = [rule for rule in range(1, len(points)) if points[rule].any()]
        return Points(points[0].copy(), tuple(conditions[rule] for rule in kept), points[kept])

    def _grow(self) -> bool:
        """Give points for the condition that promises most, if it pays; of several the first."""
        if not len(self.score):
            return False
        best = int((self.score - self.costs).argmax())
        if self.score[best] <= self.costs[best]:
            return False
        labels = np.flatnonzero(self.excess[:, best] > 0)
        rule = self.conditions.index(best) if self.costs[best] == 0 else self._add(best)
        # Each condition gives points to a label at most once, so growth ends. Nor does its
        # opposite: the points for all rows and those of one condition say the same.
        self._take(best, labels)
        self._take(self.binned.opposite(best), labels)
        self._refit(labels, SWEEPS, rule)
        self._promise(labels)
        return True

    def _take(self, condition: int, labels: Integers) -> None:
        """Promise nothing more by points of a condition for these labels."""
        from labelrules.kernels.scorecard import TAKEN

        self.score[condition] -= int(np.maximum(self.excess[labels, condition], 0).sum())
        self.excess[labels, condition] = TAKEN

    def _refit(self, labels: Integers, n_sweeps: int, fresh: int = -1) -> None:
        from labelrules.kernels.points import refit

        arguments = self.card, self.margin, self.weights, MOST_POINTS, n_sweeps, self.tables
        refit(labels, fresh, *arguments)

    def _promise(self, labels: Integers) -> None:
        """Estimate anew what conditions would save for these labels."""
        from labelrules.kernels.scorecard import pack_moments, promise

        self.is_reviewed[labels] = False
        binned = self.binned
        for some in self._blocks(labels):
            packed = np.empty((len(some), binned.n_rows), np.int64)
            pack_moments(self.targets, self.margin, some, self.tables.moments, packed)
            promise(
                binned.cells, binned.candidates, binned.nominal, *self._sums(packed, some), some,
                self.ridges, self.leanings, self.tables.unit, self.unit * GRAIN / (2 * ONE),
                self.price, self.excess, self.score,
            )  # fmt: skip

    def _lean(self) -> npt.NDArray[np.int8]:
        """Whether each label is more or less frequent where each condition holds."""
        from labelrules.kernels.scorecard import lean

        binned, totals = self.binned, self.wanted.sum(axis=1, dtype=np.int64)
        n_known = self.counted.sum(axis=1, dtype=np.int64)
        leanings = np.zeros(self.excess.shape, np.int8)
        for some in self._blocks(np.arange(self.n_labels)):
            # A target, and one row if it is known.
            packed = (self.targets[some].astype(np.int64) << 32) + self.is_known[some]
            lean(
                binned.cells, binned.candidates, binned.nominal, *self._sums(packed, some), some,
                totals, n_known, leanings,
            )  # fmt: skip
        return leanings

    def _weighed(self, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers of cells, labels by rows, times their weights."""
        return cells if self.units is None else self.units * cells

    def _sums(self, packed: Integers, labels: Integers) -> tuple[Integers, Integers]:
        """Sums over the rows of each bin, labels by cells, of two packed numbers of each row."""
        if self.units is None:
            return self.binned.sums(packed)
        weights = self.units[labels]
        upper = self.binned.sums(weights * (packed >> 32))
        lower = self.binned.sums(weights * (packed & 0xFFFFFFFF))
        # Each sum is a number by itself, and comes in two halves.
        return (upper[0] << 32) + upper[1], (lower[0] << 32) + lower[1]

    def _blocks(self, labels: Integers) -> Iterator[Integers]:
        """Some labels after the other, so that counting takes little memory."""
        step = max(1, BLOCK // max(1, self.binned.n_rows))
        yield from (labels[first : first + step] for first in range(0, len(labels), step))

    def _add(self, condition: int) -> int:
        """Add a rule without points."""
        rows = np.flatnonzero(self.binned.covered(condition)).astype(np.int32)
        rule, ridge = len(self.conditions), float(self.ridges[condition])
        first = int(self.card.start[rule])
        room = self.room = _with_room(self.room, rule + 1, first + len(rows))
        room.rows[first : first + len(rows)] = rows
        room.start[rule + 1] = first + len(rows)
        room.points[rule] = 0
        room.targets[rule] = self.wanted[:, rows].sum(axis=1, dtype=np.int64)
        room.counts[rule] = self.counted[:, rows].sum(axis=1)
        room.ridges[rule] = ridge
        room.ridge_losses[rule] = round(ridge * self.tables.unit**2 / 2 * NAT)
        self.card, self.lost = _filled(room, rule + 1), _longer(self.lost, rule + 1)
        self.conditions.append(condition)
        self.costs[condition] = 0
        return rule

    def _review(self) -> bool:
        """Take points that no longer pay; whether any were taken."""
        from labelrules.kernels.points import prune_points, prune_rules

        before = self.card.points.copy()
        price = self.prices.literal * ONE * NAT / self.unit
        arguments = (
            self.card, self.margin, self.weights, MOST_POINTS, SWEEPS, self.tables, self.lost
        )  # fmt: skip
        prune_points(np.flatnonzero(~self.is_reviewed), round(PATIENCE * price), *arguments)
        prune_rules(round(price), *arguments)
        self.is_reviewed[:] = True
        changed = (self.card.points != before).any(axis=0)
        self._forget(np.asarray(~self.card.points.any(axis=1)))
        self._promise(np.flatnonzero(changed))
        return bool(changed.any())

    def _forget(self, needless: npt.NDArray[np.bool_]) -> None:
        """Forget rules without points, but for the first."""
        needless[0] = False
        if not needless.any():
            return
        self.costs[[self.conditions[rule] for rule in np.flatnonzero(needless)]] = self.price
        kept = np.flatnonzero(~needless)
        start, rows = self.card.start, self.card.rows
        others: list[Any] = [part[kept] for part in self.card[2:]]
        parts = [rows[start[rule] : start[rule + 1]] for rule in kept.tolist()]
        ends = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        self.lost, self.conditions = self.lost[kept], [self.conditions[rule] for rule in kept]
        self.card = self.room = type(self.card)(ends, np.concatenate(parts), *others)

    @staticmethod
    def _in_grains(nats: float) -> int:
        return round(nats * GRAIN)


def _first_card(targets: npt.NDArray[Any], is_known: npt.NDArray[Any]) -> "Card":
    """Only the rule that holds for all rows, whose points cost nothing."""
    from labelrules.kernels.scorecard import Card

    n_labels, n_rows = targets.shape
    totals, counts = (one.sum(axis=1, dtype=np.int64)[np.newaxis] for one in (targets, is_known))
    rows, points = np.arange(n_rows, dtype=np.int32), np.zeros((1, n_labels), np.int64)
    points[counts == 0] = -MOST_POINTS  # a label that is never known is not predicted
    nothing = np.zeros(1), np.zeros(1, np.int64)
    return Card(np.array([0, n_rows]), rows, points, totals, counts, *nothing)


def _with_room(card: "Card", n_rules: int, n_rows: int) -> "Card":
    """The card, with longer arrays where there is no room for so many rules and rows."""
    lengths = (n_rules + 1, n_rows, *5 * [n_rules])
    return type(card)(*map(_longer, card, lengths))


def _filled(card: "Card", n_rules: int) -> "Card":
    """The part of the card that has so many rules."""
    others: list[Any] = [part[:n_rules] for part in card[2:]]
    return type(card)(card.start[: n_rules + 1], card.rows, *others)


def _longer(array: Any, length: int) -> Any:
    """The array, or a copy with more than that length."""
    if length <= len(array):
        return array
    longer = np.zeros((2 * length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
