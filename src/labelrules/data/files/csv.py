"""Read and write CSV; columns are decoded by blocks, a large file is never all in memory."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._checks import quoted, suggestion
from labelrules._types import UNSET, Board, Floats, Mask
from labelrules.data.document import read_pieces
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.access import (
    checked_target,
    is_stream,
    opened_utf8,
    replacing,
    written_text,
)
from labelrules.data.files.csv_columns import (
    NominalColumn,
    NumericColumn,
    TimeColumn,
    UndeclaredColumn,
)
from labelrules.data.files.csv_records import Rows, Source
from labelrules.data.files.inputs import StrPaths, input_files, name_of
from labelrules.data.files.plain_csv import PlainRows
from labelrules.data.memory.labels import Names, checked_names
from labelrules.data.schema import Feature, Schema, repeated
from labelrules.data.schema_json import (
    TableDescription,
    from_json,
    missing_text,
    schema_path,
    to_json,
)
from labelrules.data.table import Dataset

_CELLS_AT_ONCE = 1 << 18
_LABELS = {"0": 0.0, "0.0": 0.0, "False": 0.0, "1": 1.0, "1.0": 1.0, "True": 1.0}
_LABELS |= {"-1": nan, "-1.0": nan}
"""The cells of labels; one that is -1 is unknown, as one that is missing."""

_TABLE_ENDING = re.compile(r"\.(csv|tsv|txt)$")
_NEEDS_NO_QUOTES = re.compile(r"[\w .:+-]*", re.ASCII)


def read_csv(
    path: StrPaths,
    labels: Iterable[str] | None = None,
    *,
    nominal: Iterable[str] = (),
    ignore: Iterable[str] = (),
    delimiter: str = ",",
    missing: str = "",
    encoding: str = "utf-8",
    name: str | None = None,
) -> Dataset:
    r"""Read a data set from a CSV file with a header line, or from several.

    A column is numeric if all its cells that are not missing are numbers, and nominal if none
    is; its categories are then the texts, sorted. If all are dates or times in ISO 8601, such as
    ``2018-12-30`` or ``2018-12-30T14:00``, it holds dates or times. A mixture is an error:
    ``NA`` among numbers is a missing value (``missing="NA"``), and codes such as 1, 2, 3a are
    categories (``nominal=[...]``). If there is a schema file beside the table
    (``PATH.schema.json``, as :func:`write_csv` writes it), kinds, categories and labels come from
    there, and the table must agree with it.

    Parameters
    ----------
    path : path-like or sequence of paths
        The file, or ``"-"`` for the standard input. Files whose names end in ``.gz``, ``.bz2`` or
        ``.xz`` (from Python 3.14 on also ``.zst``) are unpacked. The rows of several files are
        joined in order; their columns must be the same, in any order, and one schema file holds
        for all.
    labels : iterable of str, optional
        The label columns; their cells are 0 or 1 (also 0.0, 1.0, False, True), and unknown if
        they are missing or -1. Required without a schema file; with one, they must be its labels.
    nominal : iterable of str
        Columns that are nominal although they hold numbers. If all their cells are numbers,
        1 and 1.0 are both the category ``"1"``, as in :func:`labelrules.data.dataset`, and the
        categories are in order of size. If there is other text, or a number with a leading
        zero such as 007, the categories are the texts as they are.
    ignore : iterable of str
        Columns to leave out.
    delimiter, missing : str
        The character between cells; the cell that stands for a missing value.
    encoding : str
    name : str, optional
        The name of the data set; by default that in the schema file, or else that of the (first)
        file.

    Raises
    ------
    FileError
        If the file cannot be read as a table; the message begins with file and line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "readers.csv")
    ...     _ = path.write_text("age,sex,quality\n36,Female,1\n,Male,0\n")
    ...     data = read_csv(path, labels=["quality"])
    >>> data.schema.features
    (Feature(name='age', categories=None), Feature(name='sex', categories=('Female', 'Male')))
    >>> data.X
    array([[36.,  0.],
           [nan,  1.]])
    """
    label_names = checked_names(labels, "labels")
    chosen, ignored = checked_names(nominal, "nominal") or (), checked_names(ignore, "ignore") or ()
    if twice := repeated(label_names or ()):
        raise DataError(f"labels name {quoted(twice[0])} twice")
    for label in label_names or ():
        if label in (*chosen, *ignored):
            raise DataError(f"{quoted(label)} is named as a label and as something else")
    with input_files(path, "path", ".csv") as paths:
        sources = [Source(one, delimiter, encoding) for one in paths]
        for source in sources[1:]:
            _check_same_columns(source, sources[0])
        table = _description(sources, label_names, chosen, missing)
        if table is None:
            columns = _undescribed(sources[0], label_names, chosen, ignored, missing)
        else:
            columns = _described(sources[0], table, ignored)
        data = columns.read(sources)
    return data if name is None else replace(data, name=name)


def _check_same_columns(source: Source, first: Source) -> None:
    advice = "files are joined only if their columns are the same"
    for name in first.header:
        if name not in source.header:
            message = f"there is no column {quoted(name)} as in {first.path}; {advice}"
            source.refuse(message + suggestion(name, source.header), 1)
    for name in source.header:
        if name not in first.header:
            source.refuse(f"column {quoted(name)} is not in {first.path}; {advice}", 1)


def _description(
    sources: Sequence[Source], labels: Names | None, nominal: Names, missing: str
) -> TableDescription | None:
    """What the schema files beside some tables say, which must be the same."""
    found: TableDescription | None = None
    for source in sources:
        beside = schema_path(source.path)
        if not beside.exists():
            continue
        with opened_utf8(beside) as file:
            table = from_json(read_pieces(file), beside)
        try:
            table.check_agreement(beside.name, labels, nominal, missing)
        except DataError as wrong:
            source.refuse(str(wrong))
        found = found or table
        if replace(table, name=found.name) != found:
            raise FileError("it describes other columns than the schema file before it", beside)
    return found


def write_csv(data: Dataset, path: str | Path) -> None:
    """Write a data set as CSV, with a schema file beside it.

    ``PATH.schema.json`` holds what the table does not show (kinds, categories and their order,
    labels and their hierarchy, whether X is sparse, the text for missing values), so that
    :func:`read_csv` returns the same data set. Features come first, then labels as 0 and 1, or
    missing if they are unknown.

    Parameters
    ----------
    data : Dataset
    path : path-like
        Compressed if the name ends in ``.gz``, ``.bz2`` or ``.xz``. An existing file is replaced
        when the new one is complete. A stream, such as a pipe, is written to, without a schema
        file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from labelrules.data import load, read_csv
    >>> with TemporaryDirectory() as folder:
    ...     write_csv(load("magazines"), Path(folder, "readers.csv"))
    ...     read_csv(Path(folder, "readers.csv")) == load("magazines")
    True
    """
    if data.schema.n_features + data.schema.n_labels == 0:
        raise DataError("the data set has neither features nor labels: there is nothing to write")
    target = checked_target(path)
    with ExitStack() as stack:
        if not is_stream(target):  # which has no place beside it
            schema_file = stack.enter_context(replacing(schema_path(target)))
            with written_text(schema_file, schema_path(target)) as file:
                file.write(to_json(TableDescription.of(data)))
        table_file = stack.enter_context(replacing(target))
        with written_text(table_file, target) as file:
            file.writelines(csv_lines(data))


def csv_lines(data: Dataset) -> Iterator[str]:
    """The lines of a data set as CSV, the names first."""
    schema = data.schema
    n_columns = schema.n_features + schema.n_labels
    # a name is quoted, so that a byte order mark at its start is not one of the file
    yield ",".join(_cell(name, True) for name in (*schema.feature_names, *schema.labels)) + "\n"
    missing = _cell(missing_text(schema)) if n_columns > 1 else '""'
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    size = max(1, _CELLS_AT_ONCE // n_columns)
    for start in range(0, data.n_rows, size):
        part = X[start : start + size]
        values = part.toarray() if sparse.issparse(part) else part
        columns = [_texts(values[:, j], f, missing) for j, f in enumerate(schema.features)]
        labels = ["0", "1", missing]  # an unknown one has the number -1
        for column in data.Y[start : start + size].T.tolist():
            columns.append([labels[label] for label in column])
        yield from (",".join(row) + "\n" for row in zip(*columns, strict=True))


def _texts(values: Floats, feature: Feature, missing: str) -> list[str]:
    if feature.time is not None:
        return [missing if value != value else feature.text(value) for value in values.tolist()]
    if feature.categories is None:
        return [missing if value != value else repr(value) for value in values.tolist()]
    cells = [*map(_cell, feature.categories), missing]
    codes = np.where(np.isnan(values), len(cells) - 1, values).astype(np.intp)
    return [cells[code] for code in codes.tolist()]


def _cell(text: str, must_be_quoted: bool = False) -> str:
    is_plain = _NEEDS_NO_QUOTES.fullmatch(text) and not must_be_quoted
    return text if is_plain else '"' + text.replace('"', '""') + '"'


@dataclass(frozen=True)
class _CsvColumns:
    """What is read of one or several files: features and labels by the names of their columns."""

    features: dict[str, NumericColumn]
    labels: dict[str, NumericColumn]
    table: TableDescription

    def read(self, sources: Sequence[Source]) -> Dataset:
        """Read all rows, block by block."""
        parts: list[Any] = []
        boards: list[Board] = [np.empty((0, len(self.labels)), dtype=np.int8)]
        for source in sources:
            with closing(source.rows()) as blocks:
                for rows in blocks:
                    part = self._decoded(rows, self.features, source)
                    parts.append(sparse.csr_array(part) if self.table.is_sparse else part)
                    boards.append(_board(self._decoded(rows, self.labels, source)))
        Y = np.concatenate(boards)
        schema, name = self.table.schema, self.table.name
        if self.table.is_sparse:
            empty = sparse.csr_array((0, len(self.features)))
            return Dataset(schema, sparse.csc_array(sparse.vstack([empty, *parts])), Y, name)
        X = _joined(parts, (len(Y), len(self.features)))
        decoders = enumerate(self.features.values())
        found = [decoder.finish(X[:, index], sources[0]) for index, decoder in decoders]
        X.setflags(write=False)
        return Dataset(Schema(found, schema.labels, schema.parents), X, Y, name)

    def _decoded(self, rows: Rows, decoders: dict[str, NumericColumn], source: Source) -> Floats:
        """The values of some columns in a block."""
        matrix = np.empty((rows.n_rows, len(decoders)), order="F")
        places = [source.column(name) for name in decoders]
        numbers: dict[int, tuple[Floats, Mask]] = {}
        if isinstance(rows, PlainRows):
            chosen = [
                p for p, one in zip(places, decoders.values(), strict=True) if one.reads_numbers
            ]
            found = rows.numbers(chosen, self.table.missing)
            numbers = dict(zip(chosen, zip(*found, strict=True), strict=True))
        for index, (place, decoder) in enumerate(zip(places, decoders.values(), strict=True)):
            if isinstance(rows, PlainRows) and place in numbers:
                column = decoder.complete(*numbers[place], rows, place, source)
            else:
                column = decoder.decode_rows(rows, place, source)
            matrix[:, index] = column
        return matrix


def _board(labels: Floats) -> Board:
    return np.where(np.isnan(labels), UNSET, labels).astype(np.int8)


def _joined(parts: list[Floats], shape: tuple[int, int]) -> Floats:
    """The parts below each other, column by column; they are used up, to save memory."""
    X = np.empty(shape, order="F")
    stop = len(X)
    while parts:
        part = parts.pop()
        X[stop - len(part) : stop] = part
        stop -= len(part)
    return X


def _described(source: Source, table: TableDescription, ignored: Names) -> _CsvColumns:
    """The columns of a table with a schema file."""
    known = {*table.schema.feature_names, *table.schema.labels}
    extra = [name for name in source.header if name not in known]
    if extra:
        source.refuse(f"column {quoted(extra[0])} is not in the schema file", 1)
    table = replace(table, schema=table.schema.without(ignored))
    features: dict[str, NumericColumn] = {}
    for feature in table.schema.features:
        source.column(feature.name)
        if feature.categories is None:
            kind = NumericColumn if feature.time is None else TimeColumn
            features[feature.name] = kind(feature, table.missing)
        else:
            codes = {text: float(code) for code, text in enumerate(feature.categories)}
            codes[table.missing] = nan
            features[feature.name] = NominalColumn(feature, table.missing, codes)
    labels = _label_columns(source, table.schema.labels, table.missing)
    return _CsvColumns(features, labels, table)


def _undescribed(
    source: Source, labels: Names | None, nominal: Names, ignored: Names, missing: str
) -> _CsvColumns:
    """The columns of a table without a schema file."""
    if labels is None:
        source.refuse(
            "which columns are labels? Pass labels=[...], or put the schema file "
            f"{schema_path(source.path).name} beside it, as write_csv does{source.other_delimiter}"
        )
    label_columns = _label_columns(source, labels, missing)
    for name in (*ignored, *nominal):
        source.column(name)
    features: dict[str, NumericColumn] = {}
    for name in source.header:
        if name not in ignored and name not in label_columns:
            kind = NominalColumn if name in nominal else UndeclaredColumn
            features[name] = kind(Feature(name), missing)
    schema = Schema([column.feature for column in features.values()], labels)
    stem = _TABLE_ENDING.sub("", name_of(source.path))
    return _CsvColumns(features, label_columns, TableDescription(schema, False, missing, stem))


def _label_columns(source: Source, labels: Names, missing: str) -> dict[str, NumericColumn]:
    for name in labels:
        source.column(name)
    codes = {missing: nan} | _LABELS
    return {name: NominalColumn(Feature(name), missing, codes) for name in labels}
