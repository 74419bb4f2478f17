"""From the tables people have to a data set, and new data by the same schema."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats, Matrix
from labelrules.data.arrays import Table, as_table
from labelrules.data.columns import Column
from labelrules.data.dataset import Dataset, frozen_labels, frozen_matrix
from labelrules.data.errors import DataError
from labelrules.data.fit import (
    check_columns,
    check_features,
    check_label_space,
    check_labels,
    codes_of,
    codes_of_stored,
    raise_together,
)
from labelrules.data.frames import Frame, is_frame, is_series, native, refuse_lazy
from labelrules.data.labels import read_labels
from labelrules.data.names import Names, checked_names, default_names, feature_names_of, positions
from labelrules.data.schema import Feature, Schema
from labelrules.data.sparse import SparseTable

AnyTable = Frame | Table | SparseTable


def dataset(
    X: Any,
    Y: Any,
    *,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    nominal: Iterable[str | int] = (),
    name: str = "",
) -> Dataset:
    """Make a data set from features X and labels Y.

    Parameters
    ----------
    X : array, sparse matrix, data frame or list of rows
        Columns of numbers are numeric; columns of text, truth values or
        categories are nominal. The categories of a categorical column keep
        their order, others are sorted. The type of an array or of a frame's column
        decides; in an array of objects and in lists it is decided column by
        column. None, NaN and other marks of a missing value are missing.
        A sparse matrix stays sparse. Names of a frame's columns that are whole
        numbers become text. X is not changed.
    Y : array, sparse matrix, data frame or list of label sets
        Rows by labels, 0 or 1 (or truth values); or one set, list or tuple of
        label names per row, in which a repeated name counts once. One dimension
        is one label.
    feature_names, label_names : sequence of str, optional
        A frame brings its own. The default is x0, x1, ... and y0, y1, ...; the
        label space of label sets is the sorted union of the sets.
    nominal : iterable of str or int
        Columns of numbers to be read as nominal, by name or position. The
        category of a whole number has no decimal point: 3.0 is ``"3"``. In a sparse
        matrix the first category is ``"0"``, so that what is not stored stays so.
    name : str
        For headings.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If X or Y cannot be read; the message names the column.

    Examples
    --------
    >>> data = dataset([[36, "Female"], [None, "Male"]], [{"quality", "fashion"}, set()])
    >>> data.schema.features
    (Feature(name='x0', categories=None), Feature(name='x1', categories=('Female', 'Male')))
    >>> data.X
    array([[36.,  0.],
           [nan,  1.]])
    >>> data.label_sets()
    [('fashion', 'quality'), ()]
    """
    table = _as_any_table(X)
    board, labels = read_labels(Y, checked_names(label_names, "label_names"))
    given = checked_names(feature_names, "feature_names")
    names = feature_names_of(table.names, given, table.shape[1], taken=labels or ())
    if labels is None:
        labels = default_names("y", board.shape[1], taken=names)
    chosen = positions(nominal, names)
    matrix: Matrix
    if isinstance(table, SparseTable):
        features, matrix = _read_sparse(table, names, chosen)
    else:
        features, matrix = _read_dense(table, names, chosen)
    return Dataset(Schema(features, labels), matrix, board, name)


def encode(X: Any, schema: Schema) -> Matrix:
    """Encode new features by a schema, as :func:`dataset` encoded the first ones.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of rows, or Dataset
        Values as they are, not codes. A frame must have the columns of the
        schema, in its order; an array, their number. Numbers in a nominal column
        are looked up by their text, ``"3"`` for 3 and for 3.0. X is not changed.
    schema : Schema

    Returns
    -------
    ndarray or csc_array
        Frozen, column by column. A category that the schema does not know is NaN: like a
        missing value, it satisfies no condition.

    Raises
    ------
    DataError
        If a column is missing, extra, in another place or of another kind; it is named.

    Examples
    --------
    >>> schema = Schema([Feature("age"), Feature("sex", ("Female", "Male"))], ["quality"])
    >>> encode([[36, "Male"], [41, "unknown"]], schema)
    array([[36.,  1.],
           [41., nan]])
    """
    if isinstance(X, Dataset):
        check_features(X.schema, schema)
        return X.X
    table = _as_any_table(X)
    check_columns(table, schema)
    if isinstance(table, SparseTable):
        return frozen_matrix(_encode_sparse(table, schema), schema)
    return frozen_matrix(_encode_dense(table, schema), schema)


def encode_labels(Y: Any, schema: Schema) -> Board:
    """Encode new labels by a schema.

    Parameters
    ----------
    Y : array, sparse matrix, data frame, list of label sets, or Dataset
        As for :func:`dataset`; a frame must have one column per label, in order.
    schema : Schema

    Returns
    -------
    ndarray of int8
        Rows by labels, frozen.

    Examples
    --------
    >>> encode_labels([{"tabloid"}, []], Schema([], ["quality", "tabloid"]))
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    if isinstance(Y, Dataset):
        check_label_space(Y.schema, schema)
        return Y.Y
    check_labels(Y, schema)
    board, _ = read_labels(Y, schema.labels)
    return frozen_labels(board, schema)


def _as_any_table(X: Any) -> AnyTable:
    X = native(X)
    if sparse.issparse(X):
        return SparseTable(X)
    if is_frame(X):
        return Frame(X, "X")
    refuse_lazy(X, "X")
    if is_series(X):
        raise DataError("X is a single column: make it a table, by X.to_frame() for one feature")
    return as_table(X)


def _read_dense(
    table: Frame | Table, names: Names, nominal: set[int]
) -> tuple[list[Feature], Floats]:
    if isinstance(table, Table) and table.is_numeric and not nominal:
        return [Feature(name) for name in names], _frozen(table.numbers(names))
    matrix = np.empty(table.shape, order="F")
    features = []
    for index, name in enumerate(names):
        column = table.read(index, name, index in nominal)
        matrix[:, index] = column.values
        features.append(Feature(name, column.categories))
    return features, _frozen(matrix)


def _read_sparse(
    table: SparseTable, names: Names, nominal: set[int]
) -> tuple[list[Feature], sparse.csc_array]:
    if table.is_numeric and not nominal:
        return [Feature(name) for name in names], table.numbers()
    features, columns = [], []
    for index, name in enumerate(names):
        feature, column = _with_zero_first(table.read(index, name, index in nominal), name)
        features.append(feature)
        columns.append(column)
    return features, table.replaced(columns)


def _with_zero_first(stored: Column, name: str) -> tuple[Feature, Floats]:
    """Code 0 is for what is not stored; the stored entries are never 0, nor False."""
    if stored.categories is None:
        return Feature(name), stored.values
    if "False" in stored.categories:
        return Feature(name, stored.categories), stored.values
    return Feature(name, ("0", *stored.categories)), stored.values + 1.0


def _encode_dense(table: Frame | Table, schema: Schema) -> Floats:
    all_numeric = all(feature.is_numeric for feature in schema.features)
    if isinstance(table, Table) and table.is_numeric and all_numeric:
        return _frozen(table.numbers(schema.feature_names))
    matrix = np.empty(table.shape, order="F")
    problems = []
    for index, feature in enumerate(schema.features):
        codes = codes_of(table, index, feature)
        if isinstance(codes, str):
            problems.append(codes)
        else:
            matrix[:, index] = codes
    raise_together(problems)
    return _frozen(matrix)


def _encode_sparse(table: SparseTable, schema: Schema) -> sparse.csc_array:
    if table.is_numeric and all(feature.is_numeric for feature in schema.features):
        return table.numbers()
    columns, problems = [], []
    for index, feature in enumerate(schema.features):
        codes = codes_of_stored(table, index, feature)
        if isinstance(codes, str):
            problems.append(codes)
        else:
            columns.append(codes)
    raise_together(problems)
    return table.replaced(columns)


def _frozen(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix
