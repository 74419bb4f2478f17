"""Columns of data frames: pandas, polars, pyarrow and all others that narwhals reads."""

import warnings
from dataclasses import replace
from typing import Any

import narwhals
import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import is_whole, quoted, suggestion
from labelrules.data.errors import DataError
from labelrules.data.memory.columns import (
    BOOLEANS,
    EncodedColumn,
    FeatureTable,
    category_text,
    category_texts,
    kind_of,
    nominal_column,
    read_array,
    read_objects,
    refuse_kind,
    time_column,
)
from labelrules.data.memory.times import numpy_times
from labelrules.data.schema import Kind, repeated
from labelrules.data.times import TimeKind

Series = nw.Series[Any]

_BEYOND_NUMPY = (nw.Int128, nw.UInt128)  # it has no integers so long

_ADVICE: dict[Any, tuple[str, str]] = {
    nw.Time: ("times of day", "turn them into numbers, such as seconds since midnight"),
    nw.List: ("lists", "give each element a column of its own"),
    nw.Array: ("arrays", "give each element a column of its own"),
    nw.Struct: ("records", "give each field a column of its own"),
    nw.Binary: ("bytes", "decode them to text"),
}


def native(data: Any) -> Any:
    """A frame or series of any version of narwhals as that of its own library."""
    return narwhals.to_native(data, pass_through=True)


def is_frame(data: Any) -> bool:
    """Whether these data are a frame in memory."""
    return nw.dependencies.is_into_dataframe(data)


def is_series(data: Any) -> bool:
    """Whether these data are one column of a frame."""
    return nw.dependencies.is_into_series(data)


def warn_of_other_order(X: Any, Y: Any, stacklevel: int) -> None:
    """Warn of pandas rows with the same index in another order: they are taken by place."""
    pandas = nw.dependencies.get_pandas()
    if pandas is None or not all(
        isinstance(one, (pandas.DataFrame, pandas.Series)) for one in (X, Y)
    ):
        return
    if len(X.index) != len(Y.index) or X.index.equals(Y.index) or not X.index.is_unique:
        return
    if Y.index.is_unique and X.index.isin(Y.index).all():
        warnings.warn(
            "the rows of Y have the index of X in another order, and rows belong together by their "
            "place: give Y.loc[X.index] if they belong together by their index",
            stacklevel=stacklevel,
        )


def refuse_lazy(data: Any, what: str) -> None:
    """Refuse a lazy frame: the caller decides when its query is run."""
    if isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame):
        raise DataError(f"{what} is a lazy frame: collect its rows first, as by {what}.collect()")


class FrameTable(FeatureTable):
    """The columns of a frame, with names that are text and unique."""

    names: tuple[str, ...]

    def __init__(self, data: Any, what: str) -> None:
        self.names = _column_names(data, what)
        if nw.dependencies.is_pandas_like_dataframe(data) and self.names != tuple(data.columns):
            data = data.set_axis(list(self.names), axis=1)
        self._frame = nw.from_native(data, eager_only=True)
        self.shape = self._frame.shape

    def read(self, index: int, name: str, nominal: bool, local: bool = False) -> EncodedColumn:
        """Read one column by its type."""
        return read_series(self._frame.get_column(self.names[index]), name, nominal, local)

    def values(self, index: int) -> npt.NDArray[Any] | list[Any]:
        """The values of one column as they are."""
        return _values(self._frame.get_column(self.names[index]))


def divided_frame(data: Any, labels: tuple[str, ...] | None) -> tuple[Any, Any]:
    """The columns of a frame that are no labels, and those that are."""
    data = native(data)
    if not is_frame(data) or labels is None:
        raise DataError(
            "Y is missing: give the labels, or a frame as X and label_names=[...] for those of its "
            "columns that are labels"
        )
    names = FrameTable(data, "X").names
    for name in labels:
        if name not in names:
            raise DataError(f"X has no column {quoted(name)}{suggestion(name, names)}")
    frame = nw.from_native(data, eager_only=True)
    features = [name for name in names if name not in labels]
    return nw.to_native(frame.select(features)), nw.to_native(frame.select(list(labels)))


def series_values(data: Any) -> tuple[npt.NDArray[Any] | list[Any], str | None]:
    """The values of a series as they are, and its name if it has one that is text."""
    series = nw.from_native(data, series_only=True)
    name = series.name if isinstance(series.name, str) and series.name else None
    return _values(series), name


def _values(series: Series) -> npt.NDArray[Any] | list[Any]:
    known = series.dtype.is_numeric() or isinstance(series.dtype, nw.Boolean)
    if known and not isinstance(series.dtype, _BEYOND_NUMPY) and not series.is_null().any():
        return series.to_numpy()
    # a cell that is a list may come as an array
    return [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in series.to_list()]


def read_series(series: Series, name: str, nominal: bool, local: bool = False) -> EncodedColumn:
    """Read one column of a frame by its type; the parameters are those of `FeatureTable.read`."""
    series, has_zone = _without_zone(series, local)
    dtype = series.dtype
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _read_categories(series, name)
    if isinstance(dtype, nw.String):  # even if every value is missing
        texts = series.to_list()
        return nominal_column(texts, [kind_of(text) for text in texts], name)
    if isinstance(dtype, (nw.Object, nw.Decimal, *_BEYOND_NUMPY)):
        return read_objects(series.to_list(), name, nominal, local)
    if isinstance(dtype, nw.Boolean):
        values = series.fill_null(False).to_numpy().astype(np.float64)
        values[series.is_null().to_numpy()] = np.nan
        return EncodedColumn(values, BOOLEANS, are_truth_values=True)
    if dtype.is_numeric():
        return _read_numbers(series, name, nominal)
    if isinstance(dtype, (nw.Date, nw.Datetime, nw.Duration)):
        numbers, kind = _times(series, name)
        return time_column(numbers, "UTC time" if has_zone and not local else kind, nominal)
    if _is_sparse(series.to_native()):
        return read_array(np.asarray(series.to_native()), name, nominal)
    if series.is_null().all():
        return EncodedColumn(np.full(len(series), np.nan))
    return _refuse(series, name)


def _without_zone(series: Series, local: bool) -> tuple[Series, bool]:
    """Times without a zone instead of those that have one, and whether they had; dates as such."""
    native: Any = series.to_native()
    dtype = series.dtype
    # narwhals does not know the dates of Arrow in milliseconds, nor many zones of pandas
    kind = getattr(native, "dtype", getattr(native, "type", None))
    if isinstance(dtype, nw.Unknown) and str(kind).startswith("date64"):
        return series.cast(nw.Date()), False
    if isinstance(dtype, nw.Unknown) and getattr(kind, "tz", None) is not None:
        plain = native.dt.tz_localize(None) if local else native.dt.tz_convert(None)
        return nw.from_native(plain, series_only=True), True
    if not isinstance(dtype, nw.Datetime) or dtype.time_zone is None:
        return series, False
    placed = series if local else series.dt.convert_time_zone("UTC")
    return placed.dt.replace_time_zone(None), True


def _times(series: Series, name: str) -> tuple[npt.NDArray[np.float64], TimeKind]:
    """The numbers of dates, of times without a time zone, or of durations."""
    dtype = series.dtype
    values = series.to_numpy()
    if values.dtype.kind not in "Mm":  # objects, because some are missing
        unit = "D" if isinstance(dtype, nw.Date) else getattr(dtype, "time_unit", "us")
        marked = [None if kind_of(value) == "missing" else value for value in values.tolist()]
        letter = "m" if isinstance(dtype, nw.Duration) else "M"
        values = np.array(marked, dtype=f"{letter}8[{unit}]")
    return numpy_times(values, name)


def _is_sparse(series: Any) -> bool:
    return str(getattr(series, "dtype", "")).startswith("Sparse[")


def sparse_columns(data: Any, what: str) -> tuple[Any, tuple[str, ...]] | None:
    """A pandas frame of sparse columns as a matrix, with their names; None for another frame."""
    if not nw.dependencies.is_pandas_dataframe(data) or not data.shape[1]:
        return None
    dtypes = list(data.dtypes)
    if not all(str(dtype).startswith("Sparse[") for dtype in dtypes):
        return None
    are_truth_values = {dtype.subtype.kind == "b" for dtype in dtypes}
    if len(are_truth_values) > 1 or any(dtype.fill_value != 0 for dtype in dtypes):
        return None  # what is not stored is no zero, so that these columns are read as dense ones
    names = _column_names(data, what)
    columns = [data.iloc[:, index].array for index in range(data.shape[1])]
    indptr = np.cumsum([0, *(len(column.sp_index.indices) for column in columns)])
    indices = np.concatenate([column.sp_index.indices for column in columns])
    values = np.concatenate([column.sp_values for column in columns])
    return sparse.csc_array((values, indices, indptr), shape=data.shape), names


def _column_names(data: Any, what: str) -> tuple[str, ...]:
    """Names as text; only texts and whole numbers are accepted."""
    if nw.dependencies.is_pandas_like_dataframe(data):
        if getattr(data.columns, "nlevels", 1) > 1:
            raise DataError(
                f"{what} has columns with several levels of names: flatten them, for instance by "
                f"{what}.columns = ['_'.join(map(str, names)) for names in {what}.columns]"
            )
        columns = list(data.columns)
    elif nw.dependencies.is_pyarrow_table(data):
        columns = list(data.column_names)
    else:
        columns = list(nw.from_native(data, eager_only=True).columns)
    for column in columns:
        if not (isinstance(column, str) or is_whole(column)):
            raise DataError(
                f"{what} has a column called {column!r} of type {type(column).__name__}: "
                "rename it, a name is text"
            )
    names = tuple(map(str, columns))
    twice = repeated(names)
    if twice:
        raise DataError(f"{what} has two columns called {quoted(twice[0])}: rename one of them")
    return names


def _read_numbers(series: Series, name: str, nominal: bool) -> EncodedColumn:
    missing = series.is_null().to_numpy()
    if not missing.any():
        return read_array(series.to_numpy(), name, nominal)
    # filled with a number first, because libraries would turn integers into floats to mark the gap
    column = read_array(series.fill_null(0).to_numpy()[~missing], name, nominal)
    values = np.full(len(series), np.nan)
    values[~missing] = column.values
    return replace(column, values=values)


def _read_categories(series: Series, name: str) -> EncodedColumn:
    coded = _coded(series)
    if coded is None:
        values = series.to_list()
        kinds = [kind_of(value) for value in values]
        # the categories of an enumeration are listed; those of polars' Categorical are not
        is_listed = isinstance(series.dtype, nw.Enum)
        declared = series.cat.get_categories().to_list() if is_listed else None
        return nominal_column(values, kinds, name, declared)
    codes, values, is_ordered = coded
    categories = category_texts(values, name)
    place = {text: float(code) for code, text in enumerate(categories)}
    # a missing value has the code -1, which is the last place; a category may be missing itself
    places = [np.nan if kind_of(v) == "missing" else place[category_text(v)] for v in values]
    places.append(np.nan)
    only_truth_values = {kind_of(value) for value in values} == {"bool"}
    kind: Kind = "ordered" if is_ordered else "nominal"
    return EncodedColumn(np.array(places)[codes], categories, only_truth_values, kind)


def _coded(series: Series) -> tuple[npt.NDArray[Any], list[Any], bool] | None:
    """Codes, -1 for a missing value, categories, and whether in order, if the library has them."""
    native: Any = series.to_native()
    if series.implementation.is_pandas_like() and str(native.dtype) == "category":
        own = native.cat
        return own.codes.to_numpy(), own.categories.tolist(), bool(own.ordered)
    if series.implementation.is_pyarrow():
        array = native.unify_dictionaries().combine_chunks()
        codes, categories = array.indices.fill_null(-1).to_numpy(), array.dictionary.to_pylist()
        return codes, categories, bool(array.type.ordered)
    return None


def _refuse(series: Series, name: str) -> EncodedColumn:
    for dtype, (what, advice) in _ADVICE.items():
        if isinstance(series.dtype, dtype):
            refuse_kind(name, what, advice)
    native = str(getattr(series.to_native(), "dtype", series.dtype))
    refuse_kind(
        name, f"values of type {native}", "turn them into numbers or text, or leave the column out"
    )
