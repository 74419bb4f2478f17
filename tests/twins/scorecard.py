"""A scorecard that grows cell by cell: margins, losses and gains are added up anew each time."""

from fractions import Fraction

import numpy as np

from labelrules.learners.scorecard.growth import (
    BASE_RIDGE,
    GRAIN,
    MIN_ROWS,
    MOST_POINTS,
    NAT,
    ONE,
    PATIENCE,
    SWEEPS,
    TERM,
    point_tables,
)


def slow_conditions(data, n_cuts, min_rows):
    """The conditions in order: their columns, and rows for which they hold; None: a repetition."""
    conditions = []
    for column, feature in enumerate(data.schema.features):
        values = data.column(column)
        known = ~np.isnan(values)
        if feature.is_nominal:
            counts = {v: int((values == v).sum()) for v in sorted(set(values[known].tolist()))}
            named = [value for value, count in counts.items() if count >= min_rows]
            repeats = len(named) == len(counts) == 2
            for value in named:
                other = None if repeats else known & (values != value)
                conditions += [(column, values == value), (column, other)]
        else:
            for cut in slow_cuts(values[known].tolist(), n_cuts, min_rows):
                conditions += [(column, values <= cut), (column, values > cut)]
    return conditions


def slow_cuts(values, n_cuts, min_rows):
    """The values after which a column is cut: near each quantile, the lower of two equally near."""
    n_rows = len(values)
    below = {value: sum(other <= value for other in values) for value in sorted(set(values))}
    places = {v: n for v, n in below.items() if n >= min_rows and n_rows - n >= min_rows}
    chosen = set()
    for number in range(1, n_cuts + 1):
        if places:
            goal = number * n_rows
            chosen.add(min(places, key=lambda v: (abs(places[v] * (n_cuts + 1) - goal), v)))
    return sorted(chosen)


class SlowCard:
    """A growing scorecard: rules by conditions, with points for each label; -1 is for all rows.

    Weights of cells, labels by rows, are in units; so are losses then.
    """

    def __init__(self, data, targets, literal, ridge, n_cuts, weights=None, unit=1.0):
        found = slow_conditions(data, n_cuts, MIN_ROWS)
        self.conditions = [rows for _, rows in found]
        self.columns = [column for column, _ in found]
        self.twofold = {column for column, rows in found if rows is None}
        self.targets = targets.tolist()
        self.n_labels, self.n_rows = targets.shape
        self.literal, self.ridge, self.unit = literal, ridge, unit
        self.weights = np.ones(targets.shape, int).tolist() if weights is None else weights
        self.points = {-1: [0] * self.n_labels}
        self.tried = set()

    # ------------------------------------------------------------ sums

    def rows(self, rule):
        if rule == -1:
            return list(range(self.n_rows))
        return np.flatnonzero(self.conditions[rule]).tolist()

    def ridge_of(self, rule):
        """In parts of ONE; nothing for the points that all rows get."""
        if rule == -1:
            return 0.0
        share = len(self.rows(rule)) / self.n_rows
        return (BASE_RIDGE + self.ridge * 4 * share * (1 - share)) * ONE / self.unit

    def opposites(self, rule):
        """The conditions that hold where another one does not, but for missing values."""
        first = rule - rule % 2
        pair = [first, first + 1]
        if self.columns[rule] in self.twofold:
            pair = [r for r, column in enumerate(self.columns) if column == self.columns[rule]][::2]
        return [other for other in pair if other != rule]

    def is_allowed(self, rule):
        if self.conditions[rule] is None:
            return False
        return MIN_ROWS <= len(self.rows(rule)) <= self.n_rows - MIN_ROWS

    def margin(self, label, row):
        return sum(
            given[label]
            for rule, given in self.points.items()
            if rule == -1 or self.conditions[rule][row]
        )

    def loss(self, label):
        """The loss of all rows and the ridge."""
        tables = point_tables()
        total = 0
        for row in self.known(label, range(self.n_rows)):
            margin = self.margin(label, row)
            weight = self.weights[label][row]
            total += weight * ONE * slow_softplus(margin)
            total -= weight * self.targets[label][row] * margin * tables.loss_unit
        for rule, given in self.points.items():
            total += round(self.ridge_of(rule) * tables.unit**2 / 2 * NAT) * given[label] ** 2
        return total

    def slope_and_curve(self, label, rows):
        slope = curve = 0
        for row in self.known(label, rows):
            chance, spread = slow_moments(self.margin(label, row))
            slope += self.weights[label][row] * (self.targets[label][row] - chance)
            curve += self.weights[label][row] * spread
        return slope, curve

    def excess(self, rule, label):
        """What the points of a condition promise to save beyond their price."""
        if not self.is_allowed(rule) or (rule, label) in self.tried:
            return 0
        slope, curve = self.slope_and_curve(label, self.rows(rule))
        low, high = self.allowed(rule, label)
        if slope == 0 or (high if slope > 0 else low) == 0:
            return 0
        unit, curve = point_tables().unit, curve + self.ridge_of(rule)
        step = unit * round(slope / (unit * curve))
        gain = (2 * slope - step * curve) * step * (GRAIN / (2 * ONE) * self.unit)
        return max(0, int(gain) - round(self.literal * GRAIN))

    # ------------------------------------------------------------ growth

    def run(self):
        labels = range(self.n_labels)
        self.refit(labels, 10 * SWEEPS)
        n_steps = 0
        while self.grow():
            n_steps += 1
            if n_steps % TERM == 0:
                self.review()
        while self.review():
            pass
        self.refit(labels, 10 * SWEEPS)
        return self

    def grow(self):
        best, most = None, 0
        for rule in range(len(self.conditions)):
            cost = 0 if rule in self.points else round(self.literal * GRAIN)
            worth = sum(self.excess(rule, label) for label in range(self.n_labels)) - cost
            if worth > most:
                best, most = rule, worth
        if best is None:
            return False
        labels = [label for label in range(self.n_labels) if self.excess(best, label) > 0]
        self.points.setdefault(best, [0] * self.n_labels)
        self.tried |= {(rule, label) for rule in (best, *self.opposites(best)) for label in labels}
        self.refit(labels, SWEEPS, best)
        return True

    def refit(self, labels, n_sweeps, fresh=None):
        for label in labels:
            for _ in range(n_sweeps):
                rules = [rule for rule in self.points if rule != fresh]
                rules = [rule for rule in rules if rule == -1 or self.points[rule][label]]
                first = [] if fresh is None else [fresh]
                n_changes = sum(self.change(rule, label) for rule in (*first, *rules))
                if n_changes == 0:
                    break

    def change(self, rule, label):
        """Change points by a Newton step, or less, if the loss falls; whether it does."""
        tables, before = point_tables(), self.points[rule][label]
        slope, curve = self.slope_and_curve(label, self.rows(rule))
        ridge = self.ridge_of(rule)
        wanted = (float(slope) - ridge * tables.unit * before) / (
            tables.unit * (curve + ridge + 1.0)
        )
        change = round(max(min(wanted, 1e6), -1e6))
        low, high = self.allowed(rule, label)
        change = min(max(before + change, low), high) - before
        loss = self.loss(label)
        while change:
            self.points[rule][label] = before + change
            if self.loss(label) < loss:
                return True
            change = int(change / 2)
        self.points[rule][label] = before
        return False

    def known(self, label, rows):
        """The rows in which it is known whether they have the label."""
        return [row for row in rows if self.targets[label][row] >= 0]

    def share(self, label, rows):
        weights = [(row, self.weights[label][row]) for row in self.known(label, rows)]
        wanted = sum(weight * self.targets[label][row] for row, weight in weights)
        return Fraction(wanted, max(sum(weight for _, weight in weights), 1))

    def allowed(self, rule, label):
        """No points against what the rows of a rule say; the first rule holds for all rows."""
        if rule == -1:
            return -MOST_POINTS, MOST_POINTS
        inside, of_all = self.share(label, self.rows(rule)), self.share(label, range(self.n_rows))
        return -MOST_POINTS * (inside < of_all), MOST_POINTS * (inside > of_all)

    # ------------------------------------------------------------ review

    def loss_without(self, rule, label):
        given, loss = self.points[rule][label], self.loss(label)
        self.points[rule][label] = 0
        lost = self.loss(label) - loss
        self.points[rule][label] = given
        return lost

    def losses(self, label):
        rules = [rule for rule in self.points if rule != -1 and self.points[rule][label]]
        return {rule: self.loss_without(rule, label) for rule in rules}

    def review(self):
        before = {rule: list(given) for rule, given in self.points.items()}
        least = round(PATIENCE * self.literal * ONE * NAT / self.unit)
        for label in range(self.n_labels):
            while losses := self.losses(label):
                worst = min(losses, key=losses.get)
                if losses[worst] >= least:
                    break
                self.points[worst][label] = 0
                self.refit([label], SWEEPS)
        losses = [self.losses(label) for label in range(self.n_labels)]
        price = round(self.literal * ONE * NAT / self.unit)
        for rule in [rule for rule in self.points if rule != -1]:
            labels = [label for label in range(self.n_labels) if self.points[rule][label]]
            if labels and sum(losses[label][rule] - price for label in labels) < price:
                for label in labels:
                    self.points[rule][label] = 0
                    self.refit([label], SWEEPS)
        changed = self.points != before
        self.points = {r: given for r, given in self.points.items() if r == -1 or any(given)}
        return changed


def slow_softplus(margin):
    """The table within its reach, and a straight line beyond."""
    tables = point_tables()
    reach = len(tables.softplus) // 2
    if margin > reach:
        return int(tables.softplus[-1]) + (margin - reach) * tables.loss_unit
    return int(tables.softplus[max(margin, -reach) + reach])


def slow_moments(margin):
    """The chance and its spread, in parts of ONE."""
    moments = point_tables().moments
    reach = len(moments) // 2
    packed = int(moments[min(max(margin, -reach), reach) + reach])
    return -(packed >> 32), packed % 2**32
