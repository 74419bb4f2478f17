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
        columns.append(np.where(shown[:, other] < 0, np.nan, shown[:, other].astype(float)))
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


class Rules:
    """The rules of one label, of which wrong ones may be dropped."""

    def __init__(self, base, data, label, tested, shown, features=True):
        self.label, self.tested, self.features = label, tested, features
        theory = clone(base).fit(table(data, label, tested, shown, features)).theory_
        # A rule that tests its own label says nothing: no rule before it has written the label.
        self.rules = [rule for rule in theory if not rule.body.on_labels]

    def decide(self, rows, seen):
        """For each row the value and the rule that says so, or absent and None."""
        X = table(rows, self.label, self.tested, seen, self.features).X
        covered = [rule.body.covers(X, np.zeros((len(rows), 1))) for rule in self.rules]
        first = [next((k for k, c in enumerate(covered) if c[i]), None) for i in range(len(rows))]
        return [(0, None) if k is None else (self.rules[k].head.values[0], k) for k in first]

    def __call__(self, rows, seen):
        return np.array([value for value, _ in self.decide(rows, seen)])

    def wrong(self, data, seen):
        """The rules with conditions that are wrong as often as right for the rows they decide."""
        net = [0] * len(self.rules)
        for truth, (value, k) in zip(data.Y[:, self.label], self.decide(data, seen), strict=True):
            if k is not None and truth >= 0:
                net[k] += 1 if value == truth else -1
        return [k for k, rule in enumerate(self.rules) if len(rule.body) and net[k] <= 0]

    def drop(self, places):
        self.rules = [rule for k, rule in enumerate(self.rules) if k not in places]


def fit(base, data, label, tested, shown, features=True):
    """A function from new rows and their labels as shown to the cells of one label."""
    known = data.Y[:, label] >= 0
    data, shown = data.take(known), shown[known]
    values = set(data.Y[:, label].tolist())
    if len(values) < 2:
        return lambda rows, seen: np.full(len(rows), max(values, default=0))
    if isinstance(base, RuleClassifier):
        return Rules(base, data, label, tested, shown, features)
    X = numbers(table(data, label, tested, shown, features))
    model = clone(base).fit(X, data.Y[:, label])
    return lambda rows, seen: model.predict(numbers(table(rows, label, tested, seen, features)))


def settle(data, seen_by):
    """Drop wrong rules, all at once, until there are none; without one, others decide more.

    ``seen_by()`` gives each model with the labels that it reads in the training rows.
    """
    while True:
        wrong = [(m, m.wrong(data, seen)) for m, seen in seen_by() if isinstance(m, Rules)]
        if not any(places for _, places in wrong):
            return
        for model, places in wrong:
            model.drop(places)


def columns(models, rows, seen):
    return np.column_stack([model(rows, seen) for model in models])


def relevance_models(base, data):
    models = [fit(base, data, label, (), data.Y) for label in range(data.schema.n_labels)]
    settle(data, lambda: [(model, data.Y) for model in models])
    return models


def relevance(base, data, rows):
    return columns(relevance_models(base, data), rows, rows.Y)


def along(models, rows, order):
    """What a chain finds, each model reading the labels found before."""
    found = np.zeros_like(rows.Y)
    for model, label in zip(models, order, strict=True):
        found[:, label] = model(rows, found)
    return found


def chain(base, data, rows, order):
    models = [
        fit(base, data, label, sorted(order[:place]), data.Y) for place, label in enumerate(order)
    ]

    def seen_by():
        found = along(models, data, order)  # a model reads labels before its own only
        return [(model, found) for model in models]

    settle(data, seen_by)
    return along(models, rows, order)


def others(label, n_labels, own=False):
    return [j for j in range(n_labels) if own or j != label]


def stacked_models(base, data, shown=None, features=True, own=False):
    """Two layers; the second learns from labels as shown, the true ones by default.

    From true labels all rules stay, also those that are wrong on predicted labels.
    """
    from_truth = shown is None
    shown = data.Y if from_truth else shown
    n_labels = data.schema.n_labels
    first = [fit(base, data, label, (), data.Y) for label in range(n_labels)]
    second = [
        fit(base, data, label, others(label, n_labels, own), shown, features)
        for label in range(n_labels)
    ]

    def seen_by():
        found = columns(first, data, data.Y)
        return [(model, found) for model in [*first, *second]]

    if not from_truth:
        settle(data, seen_by)
    return first, second


def stacked(base, data, rows, shown=None, features=True, own=False):
    first, second = stacked_models(base, data, shown, features, own)
    return columns(second, rows, columns(first, rows, rows.Y))


def out_of_fold(base, data, folds):
    """What the models of single labels, as learned, say of each fold from the others."""
    found = np.zeros_like(data.Y)
    for fold in range(folds.max() + 1):
        held, kept = data.take(folds == fold), data.take(folds != fold)
        models = [fit(base, kept, label, (), kept.Y) for label in range(data.schema.n_labels)]
        found[folds == fold] = columns(models, held, held.Y)
    return found
