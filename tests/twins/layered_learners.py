"""Slow, obvious twins of the layered learners: one label at a time, tables put together by hand."""

import numpy as np
from sklearn.base import clone

from labelrules import Dataset, Feature, Schema
from labelrules.learners import RuleClassifier


def columns_of(data):
    return [data.column(j) for j in range(data.schema.n_features)]


def table(data, label, tested, shown, features=True):
    """Features, then tested labels as nominal features, and one label."""
    columns = columns_of(data) if features else []
    kinds = list(data.schema.features) if features else []
    for other in tested:
        columns.append(shown[:, other].astype(float))
        name = data.schema.labels[other] + ("'" if other == label else "")
        kinds.append(Feature(name, ("0", "1")))
    X = np.column_stack([np.empty((len(data), 0)), *columns])
    return Dataset(Schema(kinds, [data.schema.labels[label]]), X, data.Y[:, [label]])


def numbers(data):
    """A column of 0 and 1 for each category, or for the second of two."""
    columns = [np.empty((len(data), 0))]
    for feature, values in zip(data.schema.features, columns_of(data), strict=True):
        if feature.is_numeric:
            columns.append(values)
        elif len(feature.categories) == 2:
            columns.append(values == 1)
        else:
            columns += [values == code for code in range(len(feature.categories))]
    return np.column_stack(columns).astype(float)


def fit(base, data, label, tested, shown, features=True):
    """A function from new rows and their labels as shown to the cells of one label."""
    values = set(data.Y[:, label].tolist())
    if len(values) == 1:
        return lambda rows, seen: np.full(len(rows), values.copy().pop())
    if isinstance(base, RuleClassifier):
        model = clone(base).fit(table(data, label, tested, shown, features))
        return lambda rows, seen: model.predict(table(rows, label, tested, seen, features))[:, 0]
    X = numbers(table(data, label, tested, shown, features))
    model = clone(base).fit(X, data.Y[:, label])
    return lambda rows, seen: model.predict(numbers(table(rows, label, tested, seen, features)))


def relevance(base, data, rows):
    found = np.zeros_like(rows.Y)
    for label in range(data.schema.n_labels):
        found[:, label] = fit(base, data, label, (), data.Y)(rows, rows.Y)
    return found


def chain(base, data, rows, order):
    found = np.zeros_like(rows.Y)
    for place, label in enumerate(order):
        tested = sorted(order[:place])
        found[:, label] = fit(base, data, label, tested, data.Y)(rows, found)
    return found


def others(label, n_labels, own=False):
    return [j for j in range(n_labels) if own or j != label]


def stacked(base, data, rows, shown=None, features=True, own=False):
    """Two layers; the second learns from labels as shown, the true ones by default."""
    first = relevance(base, data, rows)
    found = np.zeros_like(rows.Y)
    shown = data.Y if shown is None else shown
    n_labels = data.schema.n_labels
    for label in range(n_labels):
        tested = others(label, n_labels, own)
        found[:, label] = fit(base, data, label, tested, shown, features)(rows, first)
    return found


def out_of_fold(base, data, folds):
    """What binary relevance says of each fold when it has seen the others."""
    found = np.zeros_like(data.Y)
    for fold in range(folds.max() + 1):
        held = folds == fold
        found[held] = relevance(base, data.take(~held), data.take(held))
    return found
