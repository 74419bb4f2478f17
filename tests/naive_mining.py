"""Slow, obvious twins of the miners: every set, every row."""

from itertools import combinations

import numpy as np

from labelrules import dataset
from naive import holds


def item_masks(items, data):
    """For each item the rows that satisfy its conditions, one row and condition at a time."""
    X = data.X.toarray() if data.is_sparse else np.asarray(data.X)
    masks = [
        [all(holds(part, X[i], data.Y[i]) for part in parts) for i in range(data.n_rows)]
        for parts in items.conditions
    ]
    return np.array(masks, dtype=bool).reshape(len(items), data.n_rows)


def frequent_sets(masks, minimum, longest=None):
    """Every set of items in at least so many rows, with the number of rows."""
    found = {}
    for length in range(1, (longest or len(masks)) + 1):
        for chosen in combinations(range(len(masks)), length):
            support = int(masks[list(chosen)].all(axis=0).sum())
            if support >= minimum:
                found[chosen] = support
    return found


def closed_sets(sets):
    """Those to which nothing can be added without losing rows."""
    return {
        one: support
        for one, support in sets.items()
        if not any(set(one) < set(more) and support == n for more, n in sets.items())
    }


def maximal_sets(sets):
    """Those to which nothing can be added."""
    return {
        one: support
        for one, support in sets.items()
        if not any(set(one) < set(more) for more in sets)
    }


def wide_table(seed, n_rows=150, n_items=9):
    """More rows than a word has bits, items that imply others, one that is everywhere."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_items)) < rng.uniform(0.3, 0.95, n_items)).astype(float)
    X[:, 1] = np.maximum(X[:, 0], X[:, 1])
    X[:, 2] = 1
    Y = (rng.random((n_rows, 2)) < 0.5).astype(np.int8)
    return dataset(X, Y)
