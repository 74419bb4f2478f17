"""Rows that come one at a time: single cells, and tables that need no reading column by column."""

from collections.abc import Callable
from copy import copy
from math import inf, nan
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._kept import kept
from labelrules._types import Floats, Matrix
from labelrules.data.errors import DataError
from labelrules.data.memory.arrays import SparseTable
from labelrules.data.memory.columns import (
    LARGEST_EXACT,
    EncodedColumn,
    are_truth_words,
    is_exact,
    read_objects,
    stands_for_numbers,
)
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import freeze

CellReader = Callable[[Any], float]
"""From a value to a number or the code of a category, NaN if missing or unknown."""

Fitting = Callable[[EncodedColumn, Feature], Floats | str]
"""A column by the kind of a feature, or a description of the problem."""


def cell_reader(feature: Feature, fitted: Fitting) -> CellReader:
    """The reader of the cells of one column, each as a column of one object would be read.

    It raises a `DataError`, which describes the problem, for values of another kind.
    """
    known = feature.categories
    by_text = stands_for_numbers(known)
    local = feature.kind == "date"

    def read(value: Any) -> float:
        found = fitted(read_objects([value], feature.name, by_text, local), feature)
        if isinstance(found, str):
            raise DataError(found)
        number = float(found[0])
        if abs(number) == inf:
            raise DataError(
                f"feature {feature.name!r} has an infinite value: replace it by a number, or by "
                "NaN if it is missing"
            )
        return number

    if feature.is_numeric:
        return _number_reader(read)
    return read if known is None else _category_reader(known, read)


def _number_reader(read: CellReader) -> CellReader:
    def number(value: Any) -> float:
        kind = type(value)
        if kind is float or kind is np.float64:
            if -inf < value < inf:
                return value  # type: ignore[no-any-return]
            return nan if value != value else read(value)
        if (kind is int or kind is np.int64) and -LARGEST_EXACT <= value <= LARGEST_EXACT:
            return float(value)
        return nan if value is None else read(value)

    return number


def _category_reader(categories: tuple[str, ...], read: CellReader) -> CellReader:
    codes = {category: float(code) for code, category in enumerate(categories)}
    truth_values: dict[Any, float] = {}
    is_plain = not are_truth_words(categories)  # else a text may be refused

    def code(value: Any) -> float:
        kind = type(value)
        if kind is str and (is_plain or value in codes):
            return codes.get(value, nan)
        if kind is not bool and kind is not np.bool_:
            return nan if value is None else read(value)
        if value not in truth_values:
            truth_values[value] = read(value)
        return truth_values[value]

    return code


def read_pandas_row(frame: Any, schema: Schema, readers: tuple[CellReader, ...]) -> Floats | None:
    """The only row of a frame of pandas, encoded and frozen; None if it needs a closer look."""
    if frame.columns.tolist() != list(schema.feature_names):
        return None
    row = np.empty((1, len(readers)), order="F")
    columns = zip(frame.dtypes.tolist(), schema.features, readers, strict=True)
    for place, (dtype, feature, read) in enumerate(columns):
        if not _holds_plain_cells(dtype, feature):
            return None
        try:
            row[0, place] = read(frame.iat[0, place])
        except DataError:
            return None
    row.setflags(write=False)
    return row


def _holds_plain_cells(dtype: Any, feature: Feature) -> bool:
    """Whether a cell of this type, alone, tells how its column is read."""
    if isinstance(dtype, np.dtype):
        return dtype.kind in "iufbO" or (dtype.kind in "Mm" and feature.time is not None)
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        holds_texts = type(dtype.categories.dtype).__name__ == "StringDtype"
        return feature.categories is not None and holds_texts
    return kind == "StringDtype"


def is_pandas_row(X: Any) -> bool:
    """Whether X is a frame of pandas itself, with one row."""
    pandas = nw.dependencies.get_pandas()
    return pandas is not None and type(X) is pandas.DataFrame and len(X.index) == 1


def read_sparse_row(X: Any, schema: Schema) -> sparse.csc_array | None:
    """One sparse row, encoded and frozen; None if it needs a closer look."""
    if X.shape != (1, schema.n_features) or X.dtype.kind not in "iuf" or not is_exact(X.data):
        return None
    limits, stored = _code_limits(schema), X.data != 0
    places = _stored_places(X)
    if limits is None or places is None:
        return None
    places, values = places[stored], X.data[stored].astype(np.float64)
    limit = limits[places]
    is_code = (values >= 0) & (values < limit) & (values == np.floor(values))
    if not is_code.all() and not np.isfinite(values).all():
        return None
    values[~is_code & np.isfinite(limit)] = nan
    starts = np.zeros(schema.n_features + 1, dtype=np.int32)
    starts[places + 1] = 1
    rows = np.zeros(len(values), dtype=np.int32)
    # SciPy's checks of new matrices take longer than all the rest.
    matrix = copy(_empty_row(schema))
    matrix.data, matrix.indices = freeze(values), freeze(rows)
    matrix.indptr = freeze(starts.cumsum(dtype=np.int32))
    return matrix


@kept
def _empty_row(schema: Schema) -> sparse.csc_array:
    row = sparse.csc_array((1, schema.n_features), dtype=np.float64)
    row.has_canonical_format = True
    return row


def _stored_places(X: Any) -> npt.NDArray[Any] | None:
    """The columns of the stored entries of one row, each once; None if that is not certain."""
    if X.format == "csr":
        return X.indices if (X.indices[1:] > X.indices[:-1]).all() else None
    if X.format == "csc":
        counts = np.diff(X.indptr)
        return np.flatnonzero(counts) if counts.max(initial=0) <= 1 else None
    return None


@kept
def _code_limits(schema: Schema) -> Floats | None:
    """For each feature the number of its categories if they are 0, 1, ...; infinite for numbers.

    None if a feature has other categories, or holds neither.
    """
    limits = np.full(schema.n_features, inf)
    for index, feature in enumerate(schema.features):
        if feature.categories is not None:
            limits[index] = len(feature.categories)
            if not feature.categories or feature.categories != _numerals(len(feature.categories)):
                return None
        elif not feature.is_numeric:
            return None
    return limits


def _numerals(number: int) -> tuple[str, ...]:
    return tuple(map(str, range(number)))


def read_plain_numbers(table: SparseTable, schema: Schema) -> Matrix | None:
    """All columns of a sparse table at once, if numbers are codes; None if they are not."""
    limits = _code_limits(schema) if table.is_numeric else None
    if limits is None:
        return None
    matrix = table.numbers(schema.feature_names)
    if matrix.data.size and not (matrix.data == 1).all():
        return _with_codes(matrix, limits)
    return matrix if limits.min(initial=inf) > 1 else _with_codes(matrix, limits)


def _with_codes(matrix: sparse.csc_array, limits: Floats) -> sparse.csc_array | None:
    """The matrix with numbers that are no codes missing; None if one is infinite."""
    values = matrix.data
    limit = np.repeat(limits, np.diff(matrix.indptr))
    is_number = np.isinf(limit)
    if np.isinf(values[~is_number]).any():
        return None
    is_code = (values >= 0) & (values < limit) & (values == np.floor(values))
    data = np.where(is_number | is_code, values, nan)
    data.setflags(write=False)
    return sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
