"""The slow twin of the search for counterfactuals: try everything, the fewest features first."""

from itertools import combinations, product

import numpy as np

from labelrules import Dataset
from labelrules.inspection.counterfactuals import candidate_values, values_named
from labelrules.inspection.reasons import slice_for


def naive_change(theory, values, label, fixed=frozenset(), seen=None):
    """The new values of the first change that does it, as a dict of columns, or None."""
    part = slice_for(theory, label)
    named, features = values_named(part.theory), part.theory.schema.features
    options = {
        column: candidate_values(
            features[j], named.get(j, []), values[column], None if seen is None else seen[column]
        )
        for j, column in enumerate(part.columns)
        if column not in fixed
    }
    before = predicted(theory, [values])[0, label]
    for size in range(1, len(options) + 1):
        for columns in combinations(sorted(options), size):
            changes = list(product(*(options[column] for column in columns)))
            if not changes:
                continue
            rows = np.tile(values, (len(changes), 1))
            rows[:, list(columns)] = changes
            flipped = np.flatnonzero(predicted(theory, rows)[:, label] != before)
            if flipped.size:
                return dict(zip(columns, changes[flipped[0]], strict=True))
    return None


def predicted(theory, rows):
    X = np.array(rows, dtype=float).reshape(len(rows), theory.schema.n_features)
    return theory.predict(Dataset(theory.schema, X, np.zeros((len(X), theory.schema.n_labels))))


def fewest(theory, values, label, fixed=frozenset()):
    """How many features must change at least: over a grid of values of our own, and None."""
    grids = [_grid(theory, j) if j not in fixed else [] for j in range(len(values))]
    before = predicted(theory, [values])[0, label]
    for size in range(1, len(values) + 1):
        for columns in combinations(range(len(values)), size):
            changes = list(product(*(grids[column] for column in columns)))
            rows = np.tile(values, (len(changes), 1))
            if changes:
                rows[:, list(columns)] = changes
            if changes and (predicted(theory, rows)[:, label] != before).any():
                return size
    return None


def _grid(theory, column):
    categories = theory.schema.features[column].categories
    if categories is not None:
        return list(map(float, range(len(categories))))
    named = sorted(
        {c.value for rule in theory for c in rule.body.on_features if c.column == column}
    )
    return [*named, *[float(np.nextafter(value, np.inf)) for value in named]]
