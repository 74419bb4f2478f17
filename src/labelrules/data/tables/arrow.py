"""Data sets as Arrow tables, the way Parquet files keep them.

A dense data set has a column per feature, nominal ones as dictionaries, and one per
label. Of a sparse one, each row holds the list of its non-zero entries, because
thousands of columns that are mostly 0 would make a file that is mostly headings.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._types import Floats, Matrix
from labelrules.data.dataset import Dataset, column_of
from labelrules.data.encode import encode, encode_labels
from labelrules.data.errors import DataError, quoted
from labelrules.data.schema import Feature
from labelrules.data.tables.schemafile import Described, described, to_json

METADATA = b"labelrules"
"""The key under which a file keeps its schema."""

_CELLS_AT_ONCE = 1 << 22


def pyarrow() -> Any:
    """The library, which is optional."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError('Parquet needs pyarrow: pip install "labelrules[parquet]"') from None
    return pyarrow


def arrow_schema(data: Dataset) -> Any:
    """The columns of a data set, with its schema as metadata."""
    arrow = pyarrow()
    labels = [(label, arrow.int8()) for label in data.schema.labels]
    if data.is_sparse:
        indices, values = _entry_columns(data.schema.labels)
        columns = [
            (indices, arrow.large_list(arrow.int32())),
            (values, arrow.large_list(arrow.float64())),
        ]
    else:
        text = arrow.dictionary(arrow.int32(), arrow.string())
        columns = [
            (feature.name, arrow.float64() if feature.is_numeric else text)
            for feature in data.schema.features
        ]
    return arrow.schema(columns + labels, metadata={METADATA: to_json(described(data)).encode()})


def batches(data: Dataset, head: Any) -> Iterator[Any]:
    """The rows of a data set, some at a time."""
    X: Any = data.X.tocsr() if sparse.issparse(data.X) else data.X
    size = max(1024, _CELLS_AT_ONCE // len(head))
    for start in range(0, data.n_rows, size):
        part = X[start : start + size]
        columns = _entries(part) if data.is_sparse else _columns(part, data.schema.features)
        labels = [pyarrow().array(column) for column in data.Y[start : start + size].T]
        yield pyarrow().record_batch(columns + labels, schema=head)


def from_arrow(content: Any, table: Described) -> Dataset:
    """The data set that a table with a schema of ours holds."""
    schema = table.schema
    Y = encode_labels(_selected(content, schema.labels), schema)
    X: Matrix
    if table.is_sparse:
        X = _sparse_matrix(content, table)
    else:
        features = _selected(content, schema.feature_names)
        X = encode(features, schema) if schema.n_features else np.empty((len(Y), 0))
        _check_known(features, X, schema.features)
    return Dataset(schema, X, Y, table.name)


def _entry_columns(labels: Iterable[str]) -> tuple[str, str]:
    """Names for the two columns of a sparse data set, other than those of its labels."""
    taken = set(labels)
    indices, values = "indices", "values"
    while indices in taken or values in taken:
        indices, values = f"{indices}_", f"{values}_"
    return indices, values


def _columns(part: Floats, features: Sequence[Feature]) -> list[Any]:
    return [_column(part[:, index], feature) for index, feature in enumerate(features)]


def _column(values: Floats, feature: Feature) -> Any:
    arrow = pyarrow()
    if feature.categories is None:
        return arrow.array(values, from_pandas=True)  # NaN becomes null
    missing = np.isnan(values)
    codes = arrow.array(np.where(missing, 0, values).astype(np.int32), mask=missing)
    categories = arrow.array(feature.categories, type=arrow.string())
    return arrow.DictionaryArray.from_arrays(codes, categories)


def _entries(part: Any) -> list[Any]:
    rows = sparse.csr_array(part)
    arrow = pyarrow()
    return [
        arrow.LargeListArray.from_arrays(rows.indptr.astype(np.int64), arrow.array(entries))
        for entries in (rows.indices.astype(np.int32), rows.data)
    ]


def _selected(content: Any, names: Iterable[str]) -> Any:
    missing = [name for name in names if name not in content.column_names]
    if missing:
        raise DataError(f"there is no column {quoted(missing[0])}, which its schema names")
    return content.select(list(names))


def _check_known(content: Any, X: Matrix, features: Iterable[Feature]) -> None:
    """A category that the schema lacks is harmless in new data, but not in this file."""
    for index, feature in enumerate(features):
        n_missing = np.isnan(column_of(X, index)).sum()
        if feature.is_nominal and n_missing != content.column(index).null_count:
            raise DataError(f"column {quoted(feature.name)} has a category that its schema lacks")


def _sparse_matrix(content: Any, table: Described) -> sparse.csc_array:
    names = _entry_columns(table.schema.labels)
    lists = [column.combine_chunks() for column in _selected(content, names).columns]
    arrow = pyarrow()
    if not all(arrow.types.is_large_list(entries.type) for entries in lists):
        raise DataError(f"the columns {names[0]} and {names[1]} of sparse data are not lists")
    offsets, others = (entries.offsets.to_numpy() for entries in lists)
    indices, values = (entries.values.to_numpy(zero_copy_only=False) for entries in lists)
    shape = (len(lists[0]), table.schema.n_features)
    inside = indices.dtype.kind == "i" and ((indices >= 0) & (indices < shape[1])).all()
    if any(entries.null_count for entries in lists) or not inside:
        raise DataError("the sparse rows name features that are not there")
    if not np.array_equal(offsets, others):
        raise DataError("the sparse rows have not as many values as indices")
    return sparse.csc_array(sparse.csr_array((values, indices, offsets), shape=shape))
