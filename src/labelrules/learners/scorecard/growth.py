"""How a scorecard grows: the condition that pays most, points for all labels for which that pays."""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from labelrules._types import Integers
from labelrules.search.bodies.binned_columns import BinnedColumns

ONE = 1 << 14
NAT = 1 << 16
GRAIN = 1024


class Tables(NamedTuple):
    chance: Any
    spread: Any
    softplus: Any


@cache
def tables(per_doubling: int) -> Tables:
    reach = 64 * per_doubling
    chance, spread, soft = [], [], []
    with localcontext() as context:
        context.prec = 30
        for m in range(-reach, reach + 1):
            odds = Decimal(2) ** (Decimal(m) / per_doubling)
            p = odds / (1 + odds)
            chance.append(round(p * ONE))
            spread.append(round(p * (1 - p) * ONE))
            soft.append(round((1 + odds).ln() * NAT))
    return Tables(np.array(chance, np.int32), np.array(spread, np.int32), np.array(soft, np.int64))


@dataclass
class Settings:
    vote: float = 0.35
    condition: float = 0.2
    ridge: float = 0.5
    gain_ridge: float = 1.0
    min_rows: int = 3
    prune_every: int = 8
    prune_share: float = 0.9
    n_sweeps: int = 4
    most: int = 40
    max_steps: int = 100000
    joint: float = 0.0
    per: int = 2
    gamma: float = 1.0
    base: float = 0.25
    own_ridge: float = 0.0
    eb: float = 0.0
    eb_n: float = 10.0
    eb_low: float = 0.25
    eb_high: float = 20.0


class Growth:
    def __init__(self, binned: BinnedColumns, target: Any, settings: Settings) -> None:
        self.binned, self.settings = binned, settings
        self.target = target  # labels x rows int32
        n_labels, n_rows = target.shape
        self.n_labels = n_labels
        self.margin = np.zeros((n_labels, n_rows), np.int32)
        self.tables = tables(settings.per)
        unit = float(np.log(2)) / settings.per
        n = binned.n_covered
        share = n / n_rows
        varied = (4 * share * (1 - share)) ** settings.gamma
        self.varied = varied
        self.level = settings.ridge
        self.ridge = settings.base + settings.ridge * varied
        self.gain_ridge = (settings.gain_ridge + settings.own_ridge * self.ridge) * ONE
        self.unit = unit
        self.ridges, self.ridge_losses = np.zeros(1), np.zeros(1, np.int64)
        self.allowed = (n >= settings.min_rows) & (n_rows - n >= settings.min_rows)
        n_candidates = len(self.allowed)
        self.excess = np.zeros((n_candidates, n_labels), np.int32)
        self.score = np.zeros(n_candidates, np.int64)
        self.is_rule = np.zeros(n_candidates, np.bool_)
        self.bodies: list[int] = [-1]
        self.rows = np.arange(n_rows, dtype=np.int32)
        self.start = np.array([0, n_rows], np.int64)
        self.points = np.zeros((1, n_labels), np.int64)
        self.sums = target.sum(axis=1, dtype=np.int64)[np.newaxis]
        self.vote = settings.vote * GRAIN
        self.condition = settings.condition * GRAIN
        self.changed = np.ones(n_labels, np.bool_)
        self.lost = np.zeros((1, n_labels), np.int64)

    @property
    def costs(self):
        return ONE, self.unit, round(self.unit * NAT), self.ridges, self.ridge_losses

    def refit(self, labels, n_sweeps, fresh=-1):
        from labelrules.kernels.scorecard import refit

        refit(np.asarray(labels), fresh, self.sums, self.margin, self.start, self.rows, self.points,
              self.settings.most * self.settings.per // 2, n_sweeps, self.tables, self.costs)

    def update(self, labels):
        from labelrules.kernels.scorecard import promise, pack_moments

        labels = np.asarray(labels, np.int64)
        if not len(labels):
            return
        self.changed[labels] = True
        moments = np.empty((len(labels), self.binned.n_rows), np.int64)
        pack_moments(self.target, self.margin, labels, self.tables.chance, self.tables.spread, moments)
        slopes, curves = self.binned.sums(moments)
        promise(self.binned.cells, self.binned.candidates, self.binned.is_nominal, slopes, curves, labels,
                self.gain_ridge, GRAIN / (2 * ONE), self.vote, self.allowed, self.excess, self.score, self.settings.joint)

    def run(self):
        every = np.arange(self.n_labels)
        self.refit(every, 30)
        self.update(every)
        n = 0
        while n < self.settings.max_steps and self.grow():
            n += 1
            if n % self.settings.prune_every == 0:
                self.prune()
            if self.settings.eb and n in (8, 16, 32, 64, 128, 256, 512, 1024, 2048):
                self.adapt()
        while self.prune():
            pass
        self.refit(every, 20)
        self.whole = self.points
        return self

    def grow(self):
        if not len(self.score):
            return False
        net = self.score - np.where(self.is_rule, 0, self.condition)
        best = int(net.argmax())
        if net[best] <= 0:
            return False
        labels = np.flatnonzero(self.excess[best] > 0)
        rule = self.bodies.index(best) if self.is_rule[best] else self.add(best)
        self.excess[best, labels] = -1
        self.score[best] = 0
        self.refit(labels, self.settings.n_sweeps, rule)
        self.update(labels)
        return True

    def add(self, candidate):
        rows = np.flatnonzero(self.binned.covered(candidate)).astype(np.int32)
        self.is_rule[candidate] = True
        self.bodies.append(candidate)
        ridge = self.ridge[candidate]
        self.ridges = np.append(self.ridges, ridge * ONE)
        self.ridge_losses = np.append(self.ridge_losses, round(ridge * self.unit**2 / 2 * ONE * NAT))
        self.rows = np.concatenate([self.rows, rows])
        self.start = np.append(self.start, len(self.rows))
        self.points = np.vstack([self.points, np.zeros((1, self.n_labels), np.int64)])
        self.lost = np.vstack([self.lost, np.zeros((1, self.n_labels), np.int64)])
        self.sums = np.vstack([self.sums, self.target[:, rows].sum(axis=1, dtype=np.int64)])
        return len(self.bodies) - 1

    def set_ridge(self, ridge):
        s = self.settings
        self.level = ridge
        self.ridge = s.base + ridge * self.varied
        self.gain_ridge = (s.gain_ridge + s.own_ridge * self.ridge) * ONE
        own = np.array([self.ridge[c] if c >= 0 else 0.0 for c in self.bodies])
        self.ridges = own * ONE
        self.ridge_losses = np.rint(own * self.unit**2 / 2 * ONE * NAT).astype(np.int64)

    def adapt(self):
        s = self.settings
        w = self.points[1:] * self.unit
        v = self.varied[self.bodies[1:]][:, None]
        n = int((w != 0).sum())
        # prior of one weight at the first level
        total = float((w * w * v).sum())
        level = s.eb * (n + s.eb_n) / (total + s.eb_n * s.eb / s.ridge)
        level = min(max(level, s.eb_low), s.eb_high)
        self.set_ridge(level)
        self.refit(np.arange(self.n_labels), 2)
        self.update(np.arange(self.n_labels))

    def prune(self):
        from labelrules.kernels.scorecard import prune

        s = self.settings
        labels = np.flatnonzero(self.changed)
        before = self.points.copy()
        arrays = (self.sums, self.margin, self.start, self.rows, self.points)
        prune(labels, round(s.prune_share * s.vote * ONE * NAT), *arrays, s.most * s.per // 2, s.n_sweeps,
              self.tables, self.costs, self.lost)
        has = self.points != 0
        worth = self.lost.sum(axis=1) / (ONE * NAT) - s.vote * has.sum(axis=1) - s.condition
        for rule in range(1, len(self.bodies)):
            if has[rule].any() and worth[rule] < 0:
                labels = np.flatnonzero(has[rule])
                rows = self.rows[self.start[rule]:self.start[rule + 1]]
                self.margin[np.ix_(labels, rows)] -= self.points[rule, labels].astype(np.int32)[:, None]
                self.points[rule] = 0
                self.refit(labels, s.n_sweeps)
        self.changed[:] = False
        changed = (self.points != before).any(axis=0)
        gone = ~self.points.any(axis=1)
        gone[0] = False
        for r in np.flatnonzero(gone):
            self.is_rule[self.bodies[r]] = False
        if gone.any():
            self.forget(gone)
        self.update(np.flatnonzero(changed))
        return bool(changed.any())

    def forget(self, gone):
        keep = np.flatnonzero(~gone).tolist()
        parts = [self.rows[self.start[r]:self.start[r + 1]] for r in keep]
        self.rows = np.concatenate(parts)
        self.start = np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64)
        self.bodies = [self.bodies[r] for r in keep]
        self.points, self.sums, self.lost = self.points[keep], self.sums[keep], self.lost[keep]
        self.ridges, self.ridge_losses = self.ridges[keep], self.ridge_losses[keep]
