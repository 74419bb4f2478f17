"""Iterative stratification, one row and one fold at a time, with the whole sum at each step."""

from collections import Counter
from itertools import combinations, count
from math import gcd, isqrt


def items_of(row, second_order):
    """What a row has, as keys that sort as the kernels number items."""
    present = [label for label, cell in enumerate(row) if cell == 1]
    unknown = [label for label, cell in enumerate(row) if cell == -1]
    found = [(0, label) for label in present] + [(1, label) for label in unknown]
    return found + [(2, *pair) for pair in combinations(present, 2) if second_order]


def units_of(board, order, groups, second_order):
    """Lists of rows that stay together, and how often each has which item."""
    rows = [[row] for row in order]
    listed = {row: items_of(board[row], second_order) for row in order}
    if groups is None:
        return rows, [Counter(listed[row]) for row in order]
    members = {}
    for row in order:
        members.setdefault(groups[row], []).append(row)
    rows = sorted(members.values(), key=lambda one: -len(one))
    weight = 1 + isqrt(sum(map(len, listed.values())) // len(order))
    return rows, [
        Counter(item for row in unit for item in listed[row]) + Counter({(3,): weight * len(unit)})
        for unit in rows
    ]


def folds_of(board, order, sizes, groups=None, second_order=True, is_improved=True):
    """For each row its fold."""
    rows, has = units_of(board, order, groups, second_order)
    division = Division(rows, has, sizes, groups is not None)
    division.assign()
    if is_improved:
        division.exchange()
    folds = [None] * len(order)
    for unit, fold in zip(rows, division.folds, strict=True):
        for row in unit:
            folds[row] = fold
    return folds


class Division:
    def __init__(self, rows, has, sizes, is_free):
        self.rows, self.has, self.is_free = rows, has, is_free
        step = gcd(*sizes)
        self.shares = [size // step for size in sizes]
        self.folds = [None] * len(rows)
        self.total = sum(has, Counter())

    def excess(self, item, fold):
        """What a fold has beyond its share, times the sum of the shares."""
        own = sum(
            one[item] for one, where in zip(self.has, self.folds, strict=True) if where == fold
        )
        return own * sum(self.shares) - self.total[item] * self.shares[fold]

    def squares(self):
        return sum(
            self.excess(item, fold) ** 2 for item in self.total for fold in range(len(self.shares))
        )

    def lacking(self, fold):
        """Rows that a fold lacks, times the sum of the shares."""
        n_rows = sum(map(len, self.rows))
        own = sum(
            len(unit) for unit, where in zip(self.rows, self.folds, strict=True) if where == fold
        )
        return self.shares[fold] * n_rows - own * sum(self.shares)

    def assign(self):
        while None in self.folds:
            open_units = [unit for unit, fold in enumerate(self.folds) if fold is None]
            left = Counter(item for unit in open_units for item in self.has[unit])
            chosen = open_units
            if left:
                rarest = min(left, key=lambda item: (left[item], item))
                chosen = [unit for unit in open_units if rarest in self.has[unit]]
            for unit in chosen:
                self.folds[unit] = self.best_fold(unit)

    def best_fold(self, unit):
        folds = range(len(self.shares))
        vacant = [fold for fold in folds if fold not in self.folds]
        must = self.folds.count(None) <= len(vacant)
        allowed = [
            fold for fold in (vacant if must else folds) if self.is_free or self.lacking(fold) > 0
        ]

        def cost(fold):
            pull = sum(n * self.excess(item, fold) for item, n in self.has[unit].items())
            return pull, -self.lacking(fold), fold

        return min(allowed, key=cost)

    def exchange(self):
        n_units, since = len(self.folds), 0
        for turn in count():
            if since >= n_units // 2:
                return
            before, distance = list(self.folds), 1 + turn % (n_units // 2)
            for one in range(n_units):
                if self.is_free and self.folds.count(self.folds[one]) > 1:
                    self.move(one)
                other = (one + distance) % n_units
                if self.folds[one] != self.folds[other]:
                    self.take_if_less(self.swapped(one, other))
            since = since + 1 if self.folds == before else 0

    def swapped(self, one, other):
        folds = list(self.folds)
        folds[one], folds[other] = folds[other], folds[one]
        return folds

    def move(self, unit):
        ways = []
        for fold in range(len(self.shares)):
            if fold != self.folds[unit]:
                ways.append([*self.folds])
                ways[-1][unit] = fold
        self.take_if_less(min(ways, key=self.squares_of))

    def squares_of(self, folds):
        now, self.folds = self.folds, folds
        found = self.squares()
        self.folds = now
        return found

    def take_if_less(self, folds):
        if self.squares_of(folds) < self.squares():
            self.folds = folds
