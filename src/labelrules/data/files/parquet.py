"""Read and write Parquet."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._checks import quoted, suggestion
from labelrules._types import UNSET, Floats, Matrix
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.access import checked_target, not_opened, replacing
from labelrules.data.files.arrow import pyarrow
from labelrules.data.files.inputs import StrPaths, input_files, name_of
from labelrules.data.memory.encoding import dataset, encode, encode_labels
from labelrules.data.memory.labels import Names, checked_names
from labelrules.data.schema import Feature, Kind, repeated
from labelrules.data.schema_json import TableDescription, schema_from_json, schema_to_json
from labelrules.data.table import Dataset, column_of

METADATA = b"labelrules"
"""The key under which a file keeps its schema."""

_CELLS_AT_ONCE = 1 << 22
_INDEX = re.compile(r"__index_level_\d+__")
"""Columns that pandas writes for an index without a name."""


def read_parquet(
    path: StrPaths,
    labels: Iterable[str] | None = None,
    *,
    nominal: Iterable[str] = (),
    ignore: Iterable[str] = (),
    name: str | None = None,
) -> Dataset:
    """Read a data set from a Parquet file, or from several.

    A file that :func:`write_parquet` wrote includes its schema. For any other file, `labels` must
    name the label columns; the other columns are features, whose kinds follow from their types as
    in :func:`labelrules.data.dataset`. An index without a name that pandas wrote
    (``__index_level_0__``) is ignored, as that of a frame is.

    Parameters
    ----------
    path : path-like or sequence of paths
        The file, or ``"-"`` for the standard input. The rows of several files, which must have the
        same columns, are joined in order.
    labels : iterable of str, optional
        The label columns, which hold 0 and 1 or truth values; a label is unknown where it is
        missing or -1. If the file includes its schema, they must be its labels.
    nominal, ignore : iterable of str
        Columns to be nominal although they hold numbers; columns to be left out.
    name : str, optional
        By default the name in the (first) file, or else that of the file.

    Raises
    ------
    FileError
        If the file cannot be read as a table.
    """
    wanted = checked_names(labels, "labels")
    chosen = checked_names(nominal, "nominal") or ()
    ignored = checked_names(ignore, "ignore") or ()
    with input_files(path, "path", ".parquet") as paths, plain_errors(paths[0]):
        content = _joined([_read_table(one) for one in paths], paths)
        table = description(content, paths[0])
        if table is None:
            data = _foreign(content, wanted, chosen, ignored, Path(name_of(paths[0])).stem)
        else:
            table.check_agreement("the file", wanted, chosen)
            data = from_arrow(content, table).without(ignored)
    return data if name is None else replace(data, name=name)


def write_parquet(data: Dataset, path: str | Path) -> None:
    """Write a data set as Parquet, so that :func:`read_parquet` returns the same data set.

    Parameters
    ----------
    data : Dataset
    path : path-like
        An existing file is replaced when the new one is complete; a stream is written to.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from labelrules.data import load
    >>> with TemporaryDirectory() as folder:
    ...     write_parquet(load("magazines"), Path(folder, "readers.parquet"))
    ...     read_parquet(Path(folder, "readers.parquet")) == load("magazines")
    True
    """
    pyarrow()
    from pyarrow.parquet import ParquetWriter

    if data.schema.n_features + data.schema.n_labels == 0:
        raise DataError("the data set has neither features nor labels: there is nothing to write")
    head = _arrow_schema(data)
    with (
        replacing(checked_target(path)) as new,
        new.open("wb") as file,
        ParquetWriter(file, head) as writer,
    ):
        for batch in _batches(data, head):
            writer.write_batch(batch)


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Raise the errors of pyarrow and of the data as errors that name the file."""
    try:
        yield
    except FileError:
        raise
    except pyarrow().ArrowException as wrong:
        raise FileError(f"this is not a sound Parquet file ({wrong})", path) from None
    except DataError as wrong:
        raise FileError(str(wrong), path) from None
    except UnicodeDecodeError as wrong:
        message = f"the name of a column is not UTF-8 text ({wrong.reason}): rename the column"
        raise FileError(message, path) from None
    except (OSError, ValueError) as wrong:
        raise not_opened(wrong, path) from None


def _read_table(path: Path) -> Any:
    pyarrow()
    from pyarrow.parquet import ParquetFile

    with plain_errors(path):
        path.open("rb").close()  # a file that cannot be opened is explained by the system
        with ParquetFile(path) as content:  # its threads read without calling Python
            table = content.read()
        refuse_repeated(table.column_names)
    return table


def refuse_repeated(columns: Sequence[str]) -> None:
    """Refuse two columns of the same name."""
    if twice := repeated(columns):
        raise DataError(f"two columns are called {quoted(twice[0])}: rename one of them")


def description(content: Any, path: Path) -> TableDescription | None:
    """The schema that a file of ours includes."""
    text = (content.schema.metadata or {}).get(METADATA)
    return None if text is None else schema_from_json(text, path)


def _joined(tables: list[Any], paths: list[Path]) -> Any:
    """The rows of several files with the same columns."""
    first = tables[0]
    check_same_tables(tables, paths)
    in_order = [table.select(first.column_names) for table in tables]
    return concatenated(in_order) if tables[1:] else first


def check_same_tables(tables: Sequence[Any], paths: Sequence[Path]) -> None:
    """Refuse a table that has other columns than the first one, or another schema."""
    first = tables[0]
    for table, path in zip(tables[1:], paths[1:], strict=True):
        with plain_errors(path):
            _check_same_columns(table, first, paths[0])
        found, expected = description(table, path), description(first, paths[0])
        if found != expected and (
            found is None or expected is None or replace(found, name=expected.name) != expected
        ):
            raise FileError(f"its schema is another than that of {paths[0]}", path)


def concatenated(tables: Sequence[Any]) -> Any:
    """The rows of several tables with the same columns, of types that hold those of all."""
    # whole numbers here and others there become floats
    return pyarrow().concat_tables(tables, promote_options="permissive")


def _check_same_columns(table: Any, first: Any, first_path: Path) -> None:
    advice = "files are joined only if their columns are the same"
    for name in first.column_names:
        if name not in table.column_names:
            message = f"there is no column {quoted(name)} as in {first_path}; {advice}"
            raise DataError(message + suggestion(name, table.column_names))
        try:
            concatenated([one.select([name]).slice(0, 0) for one in (first, table)])
        except pyarrow().ArrowException:
            here, there = (one.schema.field(name).type for one in (table, first))
            message = f"column {quoted(name)} is of type {here}, but {there} in {first_path}"
            raise DataError(message) from None
    for name in table.column_names:
        if name not in first.column_names:
            raise DataError(f"column {quoted(name)} is not in {first_path}; {advice}")


def column_names(path: Path) -> tuple[list[str], bool]:
    """The names of the columns of a file, and whether it includes its schema."""
    pyarrow()
    from pyarrow.parquet import read_schema

    with plain_errors(path), path.open("rb") as file:
        found = read_schema(file)
        return found.names, METADATA in (found.metadata or {})


def _foreign(
    content: Any, labels: Names | None, nominal: Names, ignored: Names, name: str
) -> Dataset:
    left, labels = divided_columns(content.column_names, labels, nominal, ignored)
    return dataset(content.select(left), content.select(list(labels)), nominal=nominal, name=name)


def divided_columns(
    columns: Sequence[str], labels: Names | None, nominal: Names, ignored: Names
) -> tuple[list[str], Names]:
    """The features and the labels of a file without a schema."""
    if labels is None:
        raise DataError("which columns are labels? Pass labels=[...]")
    for column in (*labels, *nominal, *ignored):
        if column not in columns:
            raise DataError(f"there is no column {quoted(column)}{suggestion(column, columns)}")
    dropped = {*ignored, *labels, *(c for c in columns if _INDEX.fullmatch(c))} - {*nominal}
    return [column for column in columns if column not in dropped], labels


def _arrow_types() -> dict[Kind, Any]:
    """The types of features that have no categories."""
    arrow = pyarrow()
    return {
        "numeric": arrow.float64(),
        "amount": arrow.float64(),
        "date": arrow.date32(),
        "time": arrow.timestamp("us"),
        "UTC time": arrow.timestamp("us", tz="UTC"),
        "duration": arrow.duration("us"),
    }


def _arrow_schema(data: Dataset) -> Any:
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
            (feature.name, _arrow_types().get(feature.kind, text))
            for feature in data.schema.features
        ]
    return arrow.schema(
        columns + labels, metadata={METADATA: schema_to_json(TableDescription.of(data)).encode()}
    )


def _batches(data: Dataset, head: Any) -> Iterator[Any]:
    arrow = pyarrow()
    X: Any = data.X.tocsr() if sparse.issparse(data.X) else data.X
    size = max(1024, _CELLS_AT_ONCE // len(head))
    for start in range(0, data.n_rows, size):
        part = X[start : start + size]
        if data.is_sparse:
            rows = sparse.csr_array(part)
            starts = rows.indptr.astype(np.int64)
            entries = (rows.indices.astype(np.int32), rows.data)
            columns = [arrow.LargeListArray.from_arrays(starts, arrow.array(e)) for e in entries]
        else:
            columns = [_column(part[:, j], f) for j, f in enumerate(data.schema.features)]
        board = data.Y[start : start + size]
        labels = [arrow.array(column, mask=column == UNSET) for column in board.T]
        yield arrow.record_batch(columns + labels, schema=head)


def from_arrow(content: Any, table: TableDescription) -> Dataset:
    """The data set of a table of Arrow with such a description."""
    schema = table.schema
    Y = encode_labels(_selected(content, schema.labels), schema)
    X: Matrix
    if table.is_sparse:
        X = _sparse_matrix(content, table)
    else:
        features = _selected(content, schema.feature_names)
        X = encode(features, schema) if schema.n_features else np.empty((len(Y), 0))
        # a category that the schema lacks is harmless in new data, but not in this file
        for index, feature in enumerate(schema.features):
            n_missing = np.isnan(column_of(X, index)).sum()
            if feature.categories is not None and n_missing != features.column(index).null_count:
                message = f"column {quoted(feature.name)} has a category that its schema lacks"
                raise DataError(message)
    return Dataset(schema, X, Y, table.name)


def _entry_columns(labels: Iterable[str]) -> tuple[str, str]:
    """Names for the two columns of a sparse data set, different from those of its labels."""
    taken = set(labels)
    indices, values = "indices", "values"
    while indices in taken or values in taken:
        indices, values = f"{indices}_", f"{values}_"
    return indices, values


def _column(values: Floats, feature: Feature) -> Any:
    arrow = pyarrow()
    if feature.is_numeric:
        return arrow.array(values, from_pandas=True)  # NaN becomes null
    missing = np.isnan(values)
    if feature.time is not None:
        whole = np.int32 if feature.time == "date" else np.int64
        numbers = arrow.array(np.where(missing, 0, values).astype(whole), mask=missing)
        return numbers.cast(_arrow_types()[feature.kind])
    codes = arrow.array(np.where(missing, 0, values).astype(np.int32), mask=missing)
    categories = arrow.array(feature.categories, type=arrow.string())
    return arrow.DictionaryArray.from_arrays(codes, categories)


def _selected(content: Any, names: Iterable[str]) -> Any:
    missing = [name for name in names if name not in content.column_names]
    if missing:
        raise DataError(f"there is no column {quoted(missing[0])}, which its schema names")
    return content.select(list(names))


def _sparse_matrix(content: Any, table: TableDescription) -> sparse.csc_array:
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
        raise DataError("the sparse rows have different numbers of values and indices")
    return sparse.csc_array(sparse.csr_array((values, indices, offsets), shape=shape))
