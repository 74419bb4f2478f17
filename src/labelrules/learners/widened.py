"""The table of one label, in which other labels are features like any other."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._types import Board, Matrix
from labelrules.data import Dataset, Feature, Schema
from labelrules.data.table import column_of
from labelrules.rules import Body, Condition, Head, Rule

ABSENT_PRESENT = ("0", "1")
"""The categories of a label that is a feature."""


def table_of(
    data: Dataset, label: int, tested: Sequence[int], shown: Board, with_features: bool = True
) -> Dataset:
    """A data set with one label, and with some labels as nominal features behind the others.

    Parameters
    ----------
    data : Dataset
    label : int
        The label that is left.
    tested : sequence of int
        The labels that become features.
    shown : array of int8
        Their values, in rows by all labels.
    with_features : bool, default=True
        Whether to keep the features.
    """
    schema = data.schema
    features = list(schema.features) if with_features else []
    # Of the label itself only what was shown of it before is a feature, under another name.
    taken = {*schema.feature_names, *schema.labels}
    features += [
        Feature(_free(schema.labels[j], taken) if j == label else schema.labels[j], ABSENT_PRESENT)
        for j in tested
    ]
    matrix = widened(data.X if with_features else None, shown[:, list(tested)])
    return Dataset(Schema(features, [schema.labels[label]]), matrix, data.Y[:, [label]], data.name)


def widened(X: Matrix | None, cells: Board) -> Matrix:
    """Features with further columns; X stays sparse."""
    if X is None:
        return np.asfortranarray(cells, dtype=np.float64)
    if not cells.shape[1]:
        return X
    if sparse.issparse(X):
        return sparse.csc_array(sparse.hstack([X, sparse.csc_array(cells.astype(np.float64))]))
    wide = np.empty((X.shape[0], X.shape[1] + cells.shape[1]), order="F")
    wide[:, : X.shape[1]] = X
    wide[:, X.shape[1] :] = cells
    wide.setflags(write=False)
    return wide


def rules_for(
    label: int, rules: Iterable[Rule], schema: Schema, tested: Sequence[int], n_features: int
) -> list[Rule]:
    """Rules from the table of one label as rules over all features and labels.

    The list ends with a rule that always holds, so that it says something of every row.
    """
    found = []
    for rule in rules:
        if rule.body.on_labels:
            continue  # it asks for its own label, and what is written nobody can write
        body = Body(_condition(condition, tested, n_features) for condition in rule.body)
        found.append(Rule(Head({label: rule.head.values[0]}, schema.n_labels), body))
        if not len(body):
            return found
    return [*found, Rule(Head({label: 0}, schema.n_labels))]


def _condition(condition: Condition, tested: Sequence[int], n_features: int) -> Condition:
    if condition.column < n_features:
        return condition
    present = (condition.value == 1) == (condition.operator == "=")
    return Condition.label(tested[condition.column - n_features], present)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name


def numbers_of(data: Dataset) -> Matrix:
    """Features as numbers for any classifier.

    A nominal feature becomes a column of 0 and 1 for each category, or for the second if it has
    two; where its value is missing, all of them are 0.
    """
    if all(feature.is_numeric for feature in data.schema.features):
        return data.X
    columns = [
        column
        for index, feature in enumerate(data.schema.features)
        for column in _columns_of(data.X, index, feature)
    ]
    if data.is_sparse:
        return sparse.csc_array(sparse.hstack([sparse.csc_array(c[:, None]) for c in columns]))
    return np.asfortranarray(np.column_stack(columns))


def _columns_of(X: Matrix, index: int, feature: Feature) -> list[Any]:
    values = column_of(X, index)
    if feature.categories is None:
        return [values]
    n = len(feature.categories)
    return [(values == code).astype(np.float64) for code in ([1] if n == 2 else range(n))]
