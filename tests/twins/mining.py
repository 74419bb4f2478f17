"""Slow, obvious twins of the miners: every set, every row."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np

from labelrules import dataset
from twins.rules import holds


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


def wide_table(seed, n_rows=150, n_items=9, n_labels=2):
    """More rows than a word has bits, items that imply others, one that is everywhere."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_items)) < rng.uniform(0.3, 0.95, n_items)).astype(float)
    X[:, 1] = np.maximum(X[:, 0], X[:, 1])
    X[:, 2] = 1
    Y = (rng.random((n_rows, n_labels)) < 0.5).astype(np.int8)
    return dataset(X, Y)


def head_sets(Y, values, longest):
    """Every head of up to so many labels: literals as twice a label, and one more for presence."""
    for length in range(1, longest + 1):
        for labels in combinations(range(Y.shape[1]), length):
            for said in product(values, repeat=length):
                yield tuple(2 * label + value for label, value in zip(labels, said, strict=True))


def holds_in(Y, head):
    """The rows in which a whole head holds."""
    rows = np.ones(len(Y), dtype=bool)
    for code in head:
        rows &= Y[:, code >> 1] == code & 1
    return rows


def rules(items, data, minimum, confidence, values=(1,), longest_body=None, longest_head=1):
    """Every rule: body and head, with the rows of the body and of both."""
    masks = item_masks(items, data)
    label = np.where(items.is_label, items.column - data.schema.n_features, -1)
    found = {}
    for body, n_body in frequent_sets(masks, minimum, longest_body).items():
        covered = masks[list(body)].all(axis=0)
        for head in head_sets(data.Y, values, longest_head):
            n_both = int((covered & holds_in(data.Y, head)).sum())
            is_apart = not {code >> 1 for code in head} & {int(label[item]) for item in body}
            if is_apart and n_both >= minimum and n_both >= confidence * n_body:
                found[body, head] = (n_body, n_both)
    return found


def is_productive(masks, Y, body, head):
    """Is the rule right more often than every one with fewer conditions?"""
    held = holds_in(Y, head)

    def confidence(conditions):
        covered = masks[list(conditions)].all(axis=0)
        return Fraction(int((covered & held).sum()), max(1, int(covered.sum())))

    shorter = [part for n in range(len(body)) for part in combinations(body, n)]
    return all(confidence(body) > confidence(part) for part in shorter)


def is_nonredundant(masks, body):
    """Would the rule cover more rows without any one of its items?"""
    covered = masks[list(body)].all(axis=0).sum()
    shorter = combinations(body, len(body) - 1)
    return all(masks[list(part)].all(axis=0).sum() > covered for part in shorter)
