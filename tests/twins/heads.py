"""The best head, by looking at every head: slow, obvious, in exact fractions.

Tables of one shape are stacked, and `naive_traits` scores all heads on all of them at once. A
cell of a table is 0, 1, or -1 for one written already.
"""

from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from twins import traits as brute

BETAS = (0.5, 1.0, 2.0, 0.7)
CELLS = [
    (name, averaging, predictions)
    for name in ("precision", "recall", "hamming", "f", "subset")
    for averaging in ("micro", "macro", "samples", "cell")
    for predictions in ("partial", "full")
    if name != "subset" or averaging == "samples"
]
"""The chapter's table."""


class Best(NamedTuple):
    """The preferred one of the best heads, and its value, without and with the lift."""

    vector: tuple
    value: Fraction
    lifted: Fraction


def preference(head):
    """The tie rule: the largest head, then most presences, then the earliest labels."""
    said = [cell for cell in head if cell != -1]
    return len(said), said.count(1), [{1: 2, 0: 1, -1: 0}[cell] for cell in head]


POLARITY = {True: "both", False: "presence"}
"""How `best_head` is asked for heads with and without absence."""


class AllHeads:
    """Every head on every table, for one convention and kind of prediction."""

    def __init__(self, tables, convention, predictions):
        self.is_full = predictions == "full"
        states = (0, 1) if self.is_full else (-1, 0, 1)
        heads = product(states, repeat=tables.cells.shape[2])
        # In a full prediction what is not present is absent, so that there is no empty head.
        self.heads = sorted((h for h in heads if set(h) != {-1}), key=preference)
        self.values = np.array(self.heads)
        stacked = brute.Heads(self.values, None)
        self.scorer = brute.Scorer(tables, stacked, convention, predictions)
        self.ranked = cache(self.scorer.ranked)
        self.sizes = (self.values == 1).sum(axis=1)
        if not self.is_full:
            self.sizes = (self.values != -1).sum(axis=1)

    def allowed(self, absence, max_labels=None):
        """Which heads there are to choose from."""
        n_labels = self.values.shape[1]
        fine = self.sizes <= (n_labels if max_labels is None else max_labels)
        if not absence:
            fine &= self.sizes > 0 if self.is_full else (self.values != 0).all(axis=1)
        return fine

    def best(self, name, parameter, averaging, absence, max_labels=None, factors=None):
        """For every table the best head; `factors` is the lift of each size from 0."""
        ranks, values = self.ranked(name, parameter, averaging)
        factors = factors or [1] * (self.values.shape[1] + 1)
        lifted_ranks, lifted = self._lifted(ranks, values, [Fraction(f) for f in factors])
        among = np.where(self.allowed(absence, max_labels), lifted_ranks, -1)
        # Heads are sorted by preference, so the last of the best ones is the preferred one.
        last = among.shape[1] - 1 - among[:, ::-1].argmax(axis=1)
        return [
            Best(self._written(head, absence), values[ranks[i, head]], lifted[among[i, head]])
            for i, head in enumerate(last.tolist())
        ]

    def _lifted(self, ranks, values, factors):
        if set(factors) == {1}:
            return ranks, values
        codes = ranks * len(factors) + self.sizes
        different, place = np.unique(codes, return_inverse=True)
        products = [
            values[code // len(factors)] * factors[code % len(factors)] for code in different
        ]
        in_order = sorted(set(products))
        order = {value: rank for rank, value in enumerate(in_order)}
        return np.array([order[one] for one in products])[place].reshape(ranks.shape), in_order

    def _written(self, head, absence):
        """As the search returns it: silent of absent labels if absence is not to be said."""
        if self.is_full and not absence:
            return tuple(1 if cell == 1 else -1 for cell in self.heads[head])
        return self.heads[head]


def generated(rng, n_tables, n_rows, n_labels):
    """Tables of one shape in which something is covered.

    Half of them have rows drawn from three noisy prototypes. A third has nothing written, a
    third has single cells written anywhere, a third has whole rows written.
    """
    shape = (n_tables, n_rows, n_labels)
    cells = rng.integers(0, 2, shape)
    prototypes = rng.integers(0, 2, (n_tables, 3, n_labels))
    drawn = prototypes[np.arange(n_tables)[:, None], rng.integers(0, 3, shape[:2])]
    noisy = drawn ^ (rng.random(shape) < 0.1)
    number = np.arange(n_tables)[:, None, None]
    cells = np.where(number % 2 == 0, cells, noisy)
    written = rng.random((n_tables, 1, 1)) * 0.8
    by_cell = (number % 3 == 1) & (rng.random(shape) < written)
    by_row = (number % 3 == 2) & (rng.random((*shape[:2], 1)) < written)
    cells[by_cell | by_row] = -1
    covered = rng.random(shape[:2]) < rng.choice([0.3, 0.7, 1.0], (n_tables, 1))
    covered[np.arange(n_tables), rng.integers(0, n_rows, n_tables)] = True
    return brute.Tables(cells.astype(np.int8), covered)


def written_in_part(board):
    """Whether some row counts with some of its labels only."""
    return board is not None and any(set(row) == {0, -1} for row in board.tolist())


def instances(tables):
    """Each table as the search takes it: Y, covered, board (None where nothing is written)."""
    for cells, covered in zip(*tables, strict=True):
        board = np.where(cells == -1, 0, -1).astype(np.int8)
        yield np.maximum(cells, 0), covered, board if (cells == -1).any() else None
