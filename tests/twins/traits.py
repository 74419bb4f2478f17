"""The four properties of a measure, by looking at every head of every small table.

Tables are stacked and every head is scored at once, but the values are fractions: each
different set of confusion matrices is scored once by `naive_measures`, and heads are compared
by the rank of their fraction. A cell of a table is 0, 1, or -1 for one written already.
"""

from fractions import Fraction
from itertools import chain, combinations_with_replacement, permutations, product
from math import lcm
from typing import NamedTuple

import numpy as np

from twins import measures as naive

KINDS = ("tp", "fp", "tn", "fn")


class Tables(NamedTuple):
    """Tables of one size: cells (tables, rows, labels) and coverage (tables, rows)."""

    cells: np.ndarray
    covered: np.ndarray


class Heads(NamedTuple):
    """All heads of a universe: values (heads, labels) and `below[p, s]`: p is part of s."""

    values: np.ndarray
    below: np.ndarray


class Verdict(NamedTuple):
    """For each table, whether it agrees with the property."""

    anti_monotone: np.ndarray
    finds: np.ndarray
    decomposable: np.ndarray
    merges: np.ndarray


def all_tables(n_labels, n_rows, states=(0, 1)):
    """Every table in which something is covered, up to the order of rows and of labels."""
    kinds = sorted((*row, c) for row in product(states, repeat=n_labels) for c in (0, 1))
    orders = list(permutations(range(n_labels)))
    chosen = []
    for rows in combinations_with_replacement(kinds, n_rows):
        reordered = (sorted((*(row[i] for i in o), row[-1]) for row in rows) for o in orders)
        if any(row[-1] for row in rows) and tuple(min(reordered)) == rows:
            chosen.append(rows)
    return as_tables(chosen)


def as_tables(tables):
    stacked = np.array(tables, dtype=np.int8)
    return Tables(stacked[:, :, :-1], stacked[:, :, -1] == 1)


def all_heads(n_labels, universe):
    """Universe "all" or "positive"; the empty head is none."""
    states = (-1, 1) if universe == "positive" else (-1, 0, 1)
    values = np.array(
        [head for head in product(states, repeat=n_labels) if any(v >= 0 for v in head)]
    )
    part = ((values[:, None] == -1) | (values[:, None] == values[None, :])).all(axis=2)
    return Heads(values, part & ~np.eye(len(values), dtype=bool))


def words(tables, heads, convention):
    """The outcome of each cell as an index into KINDS, -1 where it is written."""
    lookup = np.array(
        [
            [[KINDS.index(naive.outcome(convention, y, v, c)) for c in (0, 1)] for v in (0, 1)]
            for y in (0, 1)
        ]
    )
    truth = tables.cells[:, None, :, :]
    value = np.maximum(heads.values, 0)[None, :, None, :]
    found = lookup[truth, value, tables.covered[:, None, :, None].astype(int)]
    return np.where(truth == -1, -1, found)


class Scorer:
    """Scores every head on every table, for one convention and kind of prediction."""

    def __init__(self, tables, heads, convention, predictions):
        outcome = words(tables, heads, convention)
        self.relevant = np.ones(heads.values.shape, dtype=bool)
        if predictions == "partial":
            self.relevant = heads.values != -1
        outcome[~np.broadcast_to(self.relevant[None, :, None, :], outcome.shape)] = -1
        self.cells = np.stack([outcome == kind for kind in range(4)], axis=-1).astype(np.int8)
        self._groups = {}

    def ranks(self, name, parameter, averaging):
        """Integers (tables, heads) in the order of the exact values."""
        return self.ranked(name, parameter, averaging)[0]

    def ranked(self, name, parameter, averaging):
        """The ranks, and the different exact values in order: what has rank r is worth the r-th."""
        if averaging not in self._groups:
            self._groups[averaging] = self._grouped(averaging)
        different, place = self._groups[averaging]
        values, whole = _means(name, parameter, different)
        in_order = sorted(set(values))
        order = {value: rank for rank, value in enumerate(in_order)}
        ranks = np.array([order[value] for value in values])[place]
        return ranks.reshape(self.cells.shape[:2]), [Fraction(value, whole) for value in in_order]

    def undefined(self, name):
        """For each table, whether the formula of all cells is 0/0 for some head."""
        tp, fp, tn, fn = np.moveaxis(self.cells.sum(axis=(2, 3)), -1, 0)
        whole = {"precision": tp + fp, "recall": tp + fn, "f": tp + fp + fn}
        return (whole.get(name, tp + fp + tn + fn) == 0).any(axis=1)

    def _grouped(self, averaging):
        """The different multisets of matrices that are averaged, and where each one occurs."""
        n_tables, n_heads = self.cells.shape[:2]
        base = self.cells[0, 0].size + 1
        code = base ** np.arange(4)
        if averaging == "micro":
            codes = (self.cells.sum(axis=(2, 3)) @ code)[:, :, None]
        elif averaging == "macro":
            codes = np.where(self.relevant[None], self.cells.sum(axis=2) @ code, -1)
        elif averaging == "samples":
            codes = self.cells.sum(axis=3) @ code
        else:
            flat = np.where(self.relevant[None, :, None, :], self.cells @ code, -1)
            codes = flat.reshape(n_tables, n_heads, -1)
        keys = np.sort(codes, axis=2).reshape(n_tables * n_heads, -1)
        different, place = np.unique(keys, axis=0, return_inverse=True)
        groups = [
            [tuple(int(one) // base**k % base for k in range(4)) for one in key if one >= 0]
            for key in different
        ]
        return groups, place.ravel()


def _means(name, parameter, groups):
    """The mean of each group, exactly: integers, and the denominator common to them all."""
    terms = {
        counts: naive.delta(name, counts, parameter) for counts in set(chain.from_iterable(groups))
    }
    common = lcm(*(term.denominator for term in terms.values()))
    parts = {counts: int(term * common) for counts, term in terms.items()}
    n_parts = lcm(*{len(group) for group in groups})
    sums = [sum(parts[counts] for counts in group) * (n_parts // len(group)) for group in groups]
    return sums, common * n_parts


def verdict(ranks, heads):
    """Whether each table agrees with the four properties; ranks are (tables, heads)."""
    best = ranks == ranks.max(axis=1, keepdims=True)
    below = heads.below
    best_part = np.where(below[None], ranks[:, :, None], -1).max(axis=1)
    decreased = best_part > ranks
    skipped = decreased @ below  # a head that contains one that is worse than a part of it
    n_literals = (heads.values != -1).sum(axis=1)
    single = n_literals == 1
    inside = (below | np.eye(len(single), dtype=bool)) & single[:, None]
    all_singles_best = ~((~best) @ inside)
    leading = single & (ranks == np.where(single, ranks, -1).max(axis=1, keepdims=True))
    # A merge takes one literal of every label that has a leading one, and no other literal.
    only_leading = ~((single & ~leading) @ inside)
    label_leads = leading.astype(int) @ (heads.values != -1).astype(int) > 0
    takes_all = n_literals[None] == label_leads.sum(axis=1, keepdims=True)
    merged = only_leading & takes_all
    return Verdict(
        anti_monotone=~(skipped & best).any(axis=1),
        finds=(~skipped & best).any(axis=1),
        decomposable=(best == all_singles_best).all(axis=1),
        merges=(~merged | best).all(axis=1),
    )
