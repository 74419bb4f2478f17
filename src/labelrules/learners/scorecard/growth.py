"""How a scorecard grows: the condition that pays most, points for all labels for which that pays."""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from labelrules._types import Integers
from labelrules.search.bodies.binned_columns import BinnedColumns

ONE = 1 << 14
FINE = 1
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
    fine: int = 1
    min_rows: int = 3
    prune_every: int = 8
    prune_share: float = 0.9
    n_sweeps: int = 4
    most: int = 40
    max_steps: int = 100000
    tentative: float = 0.0


class Growth:
    def __init__(self, binned: BinnedColumns, target: Any, settings: Settings) -> None:
        self.binned, self.settings = binned, settings
        self.target = target  # labels x rows int32
        n_labels, n_rows = target.shape
        self.n_labels = n_labels
        self.margin = np.zeros((n_labels, n_rows), np.int32)
        self.tables = tables(2 * settings.fine)
        unit = float(np.log(2)) / (2 * settings.fine)
        self.costs = (
            ONE, unit, round(unit * NAT), settings.ridge,
            round(settings.ridge * unit * unit / 2 * ONE * NAT),
        )
        self.allowed = binned.allowed(settings.min_rows)
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
        self.step = settings.fine if False else 1

    def refit(self, labels, n_sweeps, step=1):
        from labelrules.kernels.scorecard import refit

        n = 0
        for label in labels:
            rules = np.flatnonzero(self.points[:, label])
            if not len(rules) or rules[0]:
                rules = np.concatenate([[0], rules])
            points = self.points[rules, label]
            n += refit(self.sums[rules, label], self.margin[label], self.start, self.rows, rules, points, step,
                  self.settings.most * self.settings.fine, n_sweeps, self.tables, self.costs)
            self.points[rules, label] = points
        return n

    def update(self, labels):
        from labelrules.kernels.scorecard import promise, write_moments

        labels = np.asarray(labels, np.int64)
        if not len(labels):
            return
        moments = np.empty((self.binned.n_rows, 2 * len(labels)), np.int32)
        write_moments(self.target, self.margin, labels, self.tables.chance, self.tables.spread, moments)
        sums = self.binned.sums(moments)
        promise(self.binned.cells, self.binned.candidates, self.binned.is_nominal, sums, labels,
                float(ONE), self.settings.gain_ridge * ONE, self.vote, self.allowed, self.excess, self.score)

    def run(self):
        every = np.arange(self.n_labels)
        self.refit(every, 30)
        self.update(every)
        n = 0
        while n < self.settings.max_steps and self.grow():
            n += 1
            if n % self.settings.prune_every == 0:
                self.prune()
        for _ in range(3):
            if not self.prune():
                break
        self.finish()
        return self

    def grow(self):
        if not len(self.score):
            return False
        net = self.score - np.where(self.is_rule, 0, self.condition)
        best = int(net.argmax())
        if net[best] <= 0:
            return False
        labels = np.flatnonzero(self.excess[best] > 0)
        if self.is_rule[best]:
            rule = self.bodies.index(best)
        else:
            rule = self.add(best)
        # first points by a Newton step of the rule alone
        self.excess[best, labels] = -1
        self.score[best] = np.maximum(self.excess[best], 0).sum()
        from labelrules.kernels.scorecard import refit
        for label in labels:
            points = np.zeros(1, np.int64)
            refit(self.sums[[rule], label], self.margin[label], self.start, self.rows, np.array([rule]), points, 1,
                  self.settings.most * self.settings.fine, 3, self.tables, self.costs)
            self.points[rule, label] = points[0]
        self.refit(labels, self.settings.n_sweeps)
        self.update(labels)
        return True

    def add(self, candidate):
        rows = np.flatnonzero(self.binned.covered(candidate)).astype(np.int32)
        self.is_rule[candidate] = True
        self.bodies.append(candidate)
        self.rows = np.concatenate([self.rows, rows])
        self.start = np.append(self.start, len(self.rows))
        self.points = np.vstack([self.points, np.zeros((1, self.n_labels), np.int64)])
        self.sums = np.vstack([self.sums, self.target[:, rows].sum(axis=1, dtype=np.int64)])
        return len(self.bodies) - 1

    def lost(self, label):
        from labelrules.kernels.scorecard import losses_without

        rules = np.flatnonzero(self.points[1:, label]) + 1
        lost = np.zeros(len(rules), np.int64)
        losses_without(self.sums[rules, label], self.margin[label], self.start, self.rows, rules,
                       self.points[rules, label], self.tables, self.costs, lost)
        return rules, lost / (ONE * NAT)

    def drop(self, rule, label):
        rows = self.rows[self.start[rule]:self.start[rule + 1]]
        self.margin[label, rows] -= self.points[rule, label].astype(np.int32)
        self.points[rule, label] = 0
        if self.excess[self.bodies[rule], label] == -1:
            self.excess[self.bodies[rule], label] = 0

    def prune(self):
        s = self.settings
        changed = set()
        for label in range(self.n_labels):
            while True:
                rules, lost = self.lost(label)
                if not len(rules):
                    break
                k = int(lost.argmin())
                if lost[k] >= s.prune_share * s.vote:
                    break
                self.drop(int(rules[k]), label)
                self.refit([label], s.n_sweeps)
                changed.add(label)
            # votes that excess says taken but are zero
        all_lost = np.zeros(self.points.shape)
        for label in range(self.n_labels):
            rules, lost = self.lost(label)
            all_lost[rules, label] = lost
        has = self.points != 0
        saved = all_lost.sum(axis=1) - s.vote * has.sum(axis=1) - s.condition
        for rule in range(1, len(self.bodies)):
            if has[rule].any() and saved[rule] < 0:
                labels = np.flatnonzero(has[rule])
                for label in labels:
                    self.drop(rule, label)
                self.refit(labels, s.n_sweeps)
                changed.update(labels.tolist())
        gone = [r for r in range(1, len(self.bodies)) if not self.points[r].any()]
        for r in gone:
            c = self.bodies[r]
            self.is_rule[c] = False
            self.excess[c][self.excess[c] == -1] = 0
        if gone:
            self.forget(gone)
        if changed:
            self.update(sorted(changed))
        return bool(changed)

    def forget(self, gone):
        keep = [r for r in range(len(self.bodies)) if r not in set(gone)]
        parts = [self.rows[self.start[r]:self.start[r + 1]] for r in keep]
        self.rows = np.concatenate(parts)
        self.start = np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64)
        self.bodies = [self.bodies[r] for r in keep]
        self.points = self.points[keep]
        self.sums = self.sums[keep]

    def finish(self):
        """Whole points."""
        fine = self.settings.fine
        every = np.arange(self.n_labels)
        self.refit(every, 20)
        if fine > 1:
            rounded = np.rint(self.points / fine).astype(np.int64) * fine
            for rule in range(len(self.bodies)):
                rows = self.rows[self.start[rule]:self.start[rule + 1]]
                self.margin[:, rows] += (rounded - self.points)[rule].astype(np.int32)[:, None]
            self.points = rounded
            self.refit(every, 20, step=fine)
        self.whole = self.points // fine
