"""Encode tables as a data set, and new data by the schema of a data set."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._checks import listed, quoted, suggestion
from labelrules._kept import kept
from labelrules._types import Board, Floats, Matrix
from labelrules.data.errors import DataError
from labelrules.data.memory.arrays import SparseTable, as_table
from labelrules.data.memory.cells import (
    CellReader,
    cell_reader,
    is_pandas_row,
    read_pandas_row,
    read_plain_numbers,
    read_sparse_row,
)
from labelrules.data.memory.columns import (
    BOOLEANS,
    EncodedColumn,
    FeatureTable,
    category_texts,
    meant_truth_word,
    stands_for_numbers,
)
from labelrules.data.memory.frames import (
    FrameTable,
    divided_frame,
    is_frame,
    is_series,
    native,
    refuse_lazy,
    sparse_columns,
    warn_of_other_order,
)
from labelrules.data.memory.labels import (
    Names,
    checked_names,
    default_names,
    feature_names_of,
    positions,
    read_labels,
    refuse_column_names,
)
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset, checked_dataset, frozen_labels, frozen_matrix
from labelrules.data.times import DAY, TimeKind, example_of, read_time, time_kind_of

_ANEW = "make the data set anew, with its columns in this order:"


def dataset(
    X: Any,
    Y: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    nominal: Iterable[str | int] = (),
    ordered: Mapping[str, Sequence[Any]] | None = None,
    name: str = "",
) -> Dataset:
    """Make a data set from features X and labels Y, which are not changed.

    Parameters
    ----------
    X : array, sparse matrix, data frame or list of rows
        Columns of numbers are numeric; columns of text, truth values or categories are nominal. The
        categories of a categorical column keep their order, others are sorted. The type of an array
        or of a frame's column decides; in an array of objects and in lists it is decided column by
        column. None, NaN, NaT and other marks of a missing value are missing. Dates, times and
        durations are read to the microsecond, times with a time zone in UTC; times that are all at
        midnight are dates. Categories that have an order, as in ``pandas.Categorical(...,
        ordered=True)``, are compared by ``<=`` and ``>``. A sparse matrix or a frame of sparse
        columns stays sparse; numbers in it of which none is below 0 are amounts, of which 0 means
        that there is none. Names of a frame's columns that are whole numbers become text.
    Y : array, sparse matrix, data frame or list of label sets
        Left out, X is a frame and `label_names` names those of its columns that are labels. Else
        rows by labels, 0 or 1 (or truth values); or one set, list or tuple of label names per row,
        in which a repeated name counts once. One dimension is one label. A cell that is missing
        (None, NaN) or -1 is unknown, and so are all cells of a row whose label set is missing: they
        do not count in learning and in measures.
    feature_names, label_names : sequence of str, optional
        A frame brings its own. The default is x0, x1, ... and y0, y1, ...; the label space of label
        sets is the sorted union of the sets.
    nominal : iterable of str or int
        Columns of numbers to be read as nominal, by name or position. The category of a whole
        number has no decimal point: 3.0 is ``"3"``. In a sparse matrix the first category is
        ``"0"``, so that entries that are not stored stay so.
    ordered : mapping from str to sequence, optional
        The categories of columns that have an order, from the least to the greatest.
    name : str
        For headings.

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
    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [36, 41], "quality": [1, 0], "sports": [0, None]})
    >>> dataset(frame, label_names=["quality", "sports"])
    Dataset(2 rows, 1 feature, 2 labels, 1 unknown cell)
    >>> dataset([["M"], ["S"]], [1, 0], ordered={"x0": ["S", "M", "L"]}).X.ravel()
    array([1., 0.])
    """
    asked = checked_names(label_names, "label_names")
    if Y is None:
        X, Y = divided_frame(X, asked)
    warn_of_other_order(X, Y, stacklevel=3)
    table = _as_any_table(X)
    refuse_column_names(Y, table.names or (), table.shape[0])
    board, labels = read_labels(Y, asked)
    given = checked_names(feature_names, "feature_names")
    names = feature_names_of(table.names, given, table.shape[1], taken=labels or ())
    if labels is None:
        labels = default_names("y", board.shape[1], taken=names)
    orders = _orders(ordered or {}, names)
    chosen = positions(nominal, names) | {names.index(column) for column in orders}
    if table.is_numeric and not chosen:
        pairs = zip(names, table.kinds(), strict=True)
        schema = Schema([Feature(name, kind=kind) for name, kind in pairs], labels)
        return Dataset(schema, table.numbers(names), board, name)
    features: list[Feature] = []

    def columns() -> Iterator[Floats]:
        for index, column in enumerate(names):
            read = table.read(index, column, index in chosen)
            if column in orders:
                read = _in_order(read, orders[column], column, table)
            features.append(read.feature(column))
            yield read.values

    matrix = table.assembled(columns())
    return Dataset(Schema(features, labels), matrix, board, name)


def encode(X: Any, schema: Schema) -> Matrix:
    """Encode new features by a schema, as :func:`dataset` encoded the first ones.

    Parameters
    ----------
    X : array, sparse matrix, data frame, list of rows, or Dataset
        Values as they are, not codes. A frame must have the columns of the schema, in its order; an
        array, their number. Numbers in a nominal column are looked up by their text, ``"3"`` for 3
        and for 3.0. X is not changed.
    schema : Schema

    Returns
    -------
    ndarray or csc_array
        Frozen, column by column. A category that the schema does not know is NaN: like a missing
        value, it satisfies no condition.

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
        if X.schema.features == schema.features:
            return X.X
        _check_names(X.schema.feature_names, schema.feature_names, "X", "feature", _ANEW)
        pairs = zip(X.schema.features, schema.features, strict=True)
        _raise_together([_difference(a, b) for a, b in pairs if not _is_encoded_alike(a, b)])
        return X.X
    row = _single_row(X, schema)
    if row is not None:
        return row
    table = _as_any_table(X)
    if table.names is not None:
        _check_names(table.names, schema.feature_names, "X", "feature")
    elif table.shape[1] != schema.n_features:
        raise DataError(
            f"X has {table.shape[1]} columns but the schema has {schema.n_features} features"
        )
    if table.is_numeric and all(feature.is_numeric for feature in schema.features):
        return frozen_matrix(table.numbers(schema.feature_names), schema)
    plain = read_plain_numbers(table, schema) if isinstance(table, SparseTable) else None
    if plain is not None:
        return frozen_matrix(plain, schema)
    codes = _all_fitted([_codes(table, index, f) for index, f in enumerate(schema.features)])
    codes.reverse()
    used_up = (codes.pop() for _ in range(len(codes)))  # to save memory
    return frozen_matrix(table.assembled(used_up), schema)


@kept
def cell_readers(schema: Schema) -> tuple[CellReader, ...]:
    """The readers of single cells, one for each feature; see `cell_reader`."""
    return tuple(cell_reader(feature, _fitted) for feature in schema.features)


def new_rows(X: Any, schema: Schema) -> Dataset:
    """New rows as a data set, encoded once for whoever asks for them; no label is present."""
    matrix = encode(X, schema)
    labels: Board = np.zeros((matrix.shape[0], schema.n_labels), dtype=np.int8)
    return checked_dataset(schema, matrix, labels)


def encode_labels(Y: Any, schema: Schema) -> Board:
    """Encode new labels by a schema, as frozen rows by labels.

    Parameters
    ----------
    Y : array, sparse matrix, data frame, list of label sets, or Dataset
        As for :func:`dataset`; a frame must have one column per label, in order.
    schema : Schema

    Examples
    --------
    >>> encode_labels([{"tabloid"}, []], Schema([], ["quality", "tabloid"]))
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    if isinstance(Y, Dataset):
        _check_names(Y.schema.labels, schema.labels, "Y", "label", _ANEW)
        return Y.Y
    if is_frame(native(Y)):
        _check_names(FrameTable(native(Y), "Y").names, schema.labels, "Y", "label")
    board, _ = read_labels(Y, schema.labels)
    return frozen_labels(board, schema)


def conform(data: Dataset, schema: Schema, *, with_labels: bool) -> Dataset:
    """A data set in the columns and categories of a schema; other columns are left out.

    An unknown category becomes a missing value, as in :func:`encode`. Missing labels count as
    absent, or are an error if `with_labels`.
    """
    own = data.schema
    columns = [("feature", name, own.feature_index) for name in schema.feature_names]
    columns += [("label", name, own.label_index) for name in schema.labels if with_labels]
    for noun, name, index_of in columns:
        if name not in index_of:
            message = f"the data have no column {quoted(name)}, a {noun} of the model"
            raise DataError(message + suggestion(name, index_of))
    Y: Board = np.zeros((len(data), schema.n_labels), dtype=np.int8)
    for place, name in enumerate(schema.labels):
        if name in own.label_index:
            Y[:, place] = data.Y[:, own.label_index[name]]
    if own.features == schema.features:
        return Dataset(schema, data.X, Y, data.name)
    chosen = [own.features[own.feature_index[name]] for name in schema.feature_names]
    encoded = (
        EncodedColumn(data.column(found.name), found.categories, kind=found.kind)
        for found in chosen
    )
    X = _all_fitted([_fitted(*pair) for pair in zip(encoded, schema.features, strict=True)])
    matrix = np.column_stack([np.empty((len(data), 0)), *X])
    return Dataset(schema, sparse.csc_array(matrix) if data.is_sparse else matrix, Y, data.name)


def _orders(ordered: Mapping[str, Sequence[Any]], names: Sequence[str]) -> dict[str, Names]:
    """The categories of columns that have an order, as text."""
    if not isinstance(ordered, Mapping):
        raise DataError('ordered must map names to categories, as in {"size": ["S", "M", "L"]}')
    for name, categories in ordered.items():
        if name not in names:
            raise DataError(f"ordered: there is no column {quoted(name)}{suggestion(name, names)}")
        if isinstance(categories, str) or not isinstance(categories, Sequence):
            raise DataError(f"ordered: the categories of {quoted(name)} must be a list")
    return {name: category_texts(values, name) for name, values in ordered.items()}


def _in_order(
    column: EncodedColumn, categories: Names, name: str, table: FeatureTable
) -> EncodedColumn:
    if isinstance(table, SparseTable) and table.zero not in categories[:1]:
        raise DataError(
            f"column {quoted(name)} is sparse, so {quoted(table.zero)} must be the first of its "
            f"ordered categories, which are {listed(categories)} (pass X dense)"
        )
    other = [text for text in column.categories or () if text not in categories]
    if other:
        near = suggestion(other[0], categories)
        raise DataError(
            f"column {quoted(name)} holds {quoted(other[0])}, which is not among its ordered "
            f"categories {listed(categories)}{near}"
        )
    return EncodedColumn(column.recoded(categories), categories, kind="ordered")


def _single_row(X: Any, schema: Schema) -> Matrix | None:
    """The only row of X, encoded; None if X is another table, or needs a closer look."""
    if is_pandas_row(X):
        return read_pandas_row(X, schema, cell_readers(schema))
    return read_sparse_row(X, schema) if sparse.issparse(X) else None


def _as_any_table(X: Any) -> FeatureTable:
    X = native(X)
    if sparse.issparse(X):
        return SparseTable(X)
    if is_frame(X) and (found := sparse_columns(X, "X")) is not None:
        return SparseTable(*found)
    if is_frame(X):
        return FrameTable(X, "X")
    refuse_lazy(X, "X")
    if is_series(X):
        raise DataError("X is a single column: make it a table, by X.to_frame() for one feature")
    return as_table(X)


def _all_fitted(columns: Sequence[Floats | str]) -> list[Floats]:
    _raise_together([problem for problem in columns if isinstance(problem, str)])
    return [column for column in columns if not isinstance(column, str)]


def _raise_together(problems: Sequence[str]) -> None:
    """Raise one error for all problems with the columns of X, if there are any."""
    if problems:
        more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise DataError("X does not fit the schema: " + "; ".join(problems[:5]) + more)


def _codes(table: FeatureTable, index: int, feature: Feature) -> Floats | str:
    """One column encoded, or a description of the problem."""
    if not isinstance(table, SparseTable):
        by_text = stands_for_numbers(feature.categories)
        column = table.read(index, feature.name, nominal=by_text, local=feature.kind == "date")
        return _fitted(column, feature)
    if feature.is_numeric and table.zero == "False":
        return _not_of_kind(Feature(feature.name, BOOLEANS), feature)
    if feature.categories is not None and table.zero not in feature.categories[:1]:
        return (
            f"column {quoted(feature.name)} is sparse, so {quoted(table.zero)} must be its first "
            f"category, but its categories are {listed(feature.categories)} (pass X dense)"
        )
    has_categories = feature.categories is not None
    return _fitted(table.read(index, feature.name, has_categories), feature)


def _fitted(column: EncodedColumn, feature: Feature) -> Floats | str:
    if np.isnan(column.values).all():
        return column.values  # a column without values may be of any kind
    found = column.feature(feature.name)
    if feature.categories is None:
        if (feature.is_numeric and found.is_numeric) or found.kind == feature.kind:
            return column.values
        if feature.time is not None and found.categories is not None:
            return _from_texts(column, feature, feature.time)
        return _in_kind(column.values, found, feature)
    if column.categories is None:
        return _must_hold(feature, _plural(found))
    is_other = bool(feature.categories) and set(feature.categories).isdisjoint(BOOLEANS)
    if column.are_truth_values and is_other:
        return _must_hold(feature, "truth values")
    codes = column.recoded(feature.categories)
    for code, text in enumerate(column.categories):
        meant = meant_truth_word(text, feature.categories)
        if meant and (column.values == code).any():
            return _must_hold(feature, f"{quoted(text)}: did you mean {quoted(meant)}?")
    return codes


def _from_texts(column: EncodedColumn, feature: Feature, kind: TimeKind) -> Floats | str:
    """Dates, times or durations that are given as text; or a description of the problem."""
    numbers: list[float] = []
    for text in column.categories or ():
        # Where days are asked for, a time is its day, as it is where it is no text.
        is_time = kind == "date" and time_kind_of(text) is not None
        number = read_time(text[:10] if is_time else text, kind)
        if number is None:
            return f"column {quoted(feature.name)} must hold {example_of(kind)}, not {quoted(text)}"
        numbers.append(number)
    found = np.isfinite(column.values)
    codes = np.where(found, column.values, len(numbers)).astype(np.intp)
    return np.array([*numbers, np.nan])[codes]


def _in_kind(values: Floats, found: Feature, feature: Feature) -> Floats | str:
    """Dates as times, or the days of times; or a description of the problem."""
    if (found.kind, feature.kind) == ("date", "time"):
        return values * DAY
    if (found.kind, feature.kind) == ("time", "date"):
        return np.asarray(values // DAY)
    return _not_of_kind(found, feature)


def _is_encoded_alike(found: Feature, feature: Feature) -> bool:
    """Whether codes and numbers mean the same in both: an amount is a number like others."""
    kinds = "numeric" if found.is_numeric else found.kind, feature.kind
    is_same_kind = kinds[0] == kinds[1] or (found.is_numeric and feature.is_numeric)
    return is_same_kind and found.categories == feature.categories


def _difference(found: Feature, feature: Feature) -> str:
    """The problem with a feature that is already encoded, by other categories."""
    if feature.categories is None:
        return _not_of_kind(found, feature)
    if found.categories is None:
        holds = _plural(found)
    elif found.categories == feature.categories:
        return (
            f"column {quoted(feature.name)} is {found.kind}, but it must be {feature.kind}: "
            "its categories have an order in one of them only"
        )
    else:
        holds = f"the categories {listed(found.categories)}" if found.categories else "no category"
        if set(found.categories) == set(feature.categories):
            holds += ", in another order"
    return _must_hold(feature, holds)


def _must_hold(feature: Feature, holds: str) -> str:
    return (
        f"column {quoted(feature.name)} must hold the categories "
        f"{listed(feature.categories or ())}, but it holds {holds}"
    )


def _plural(feature: Feature) -> str:
    """What a feature without categories holds, for messages."""
    return {"time": "times without a time zone", "UTC time": "times with a time zone"}.get(
        feature.kind, "numbers" if feature.is_numeric else f"{feature.kind}s"
    )


def _not_of_kind(found: Feature, feature: Feature) -> str:
    holds = "is nominal" if found.categories is not None else f"holds {_plural(found)}"
    if (found.kind, feature.kind) == ("UTC time", "date"):
        holds += ", which are kept in UTC, without the days in their zones: give those as dates"
    return f"column {quoted(feature.name)} must hold {_plural(feature)}, but it {holds}"


def _check_names(
    found: Sequence[str], expected: Sequence[str], what: str, noun: str, advice: str = ""
) -> None:
    if tuple(found) == tuple(expected):
        return
    missing = [name for name in expected if name not in set(found)]
    extra = [name for name in found if name not in set(expected)]
    if missing or extra:
        parts = [(noun, missing, "missing"), ("column", extra, "extra")]
        named = [f"{how} {one}{'s' * (len(n) > 1)} {listed(n)}" for one, n, how in parts if n]
        close = suggestion(missing[0], extra) if missing and extra else ""
        raise DataError(f"{what} does not fit the schema: {'; '.join(named)}{close}")
    first = next(index for index, name in enumerate(found) if name != expected[index])
    raise DataError(
        f"the columns of {what} are in another order than the {noun}s of the schema: column "
        f"{first} is {quoted(found[first])} instead of {quoted(expected[first])}; "
        f"{advice or f'use {what}[names] with the names'} {listed(expected)}"
    )
