"""Read and write CSV; columns are decoded by blocks, a large file is never all in memory."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from labelrules._checks import quoted, suggestion
from labelrules._types import Board, Floats, Matrix
from labelrules.data.errors import DataError
from labelrules.data.files.access import (
    checked_target,
    is_stream,
    opened_utf8,
    replacing,
    written_text,
)
from labelrules.data.files.csv_records import Block, Source
from labelrules.data.memory.columns import (
    floats_of,
    numbers_of,
    plain_numbers,
    read_objects,
    sorts_of,
    time_column,
    why_no_number,
)
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
from labelrules.data.times import TimeKind, example_of, read_time, times_of

_CELLS_AT_ONCE = 1 << 18
_LABELS = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "False": 0.0, "True": 1.0}
_NUL = "the line has a NUL character: is this text, in this encoding?"
_NEEDS_NO_QUOTES = re.compile(r"[\w .:+-]*", re.ASCII)


def read_csv(
    path: str | Path,
    labels: Iterable[str] | None = None,
    *,
    nominal: Iterable[str] = (),
    ignore: Iterable[str] = (),
    delimiter: str = ",",
    missing: str = "",
    encoding: str = "utf-8",
    name: str | None = None,
) -> Dataset:
    r"""Read a data set from a CSV file with a header line.

    A column is numeric if all its cells that are not missing are numbers, and nominal if none
    is; its categories are then the texts, sorted. If all are dates or times in ISO 8601, such as
    ``2018-12-30`` or ``2018-12-30T14:00``, it holds dates or times. A mixture is an error:
    ``NA`` among numbers is a missing value (``missing="NA"``), and codes such as 1, 2, 3a are
    categories (``nominal=[...]``). If there is a schema file beside the table
    (``PATH.schema.json``, as :func:`write_csv` writes it), kinds, categories and labels come from
    there, and the table must agree with it.

    Parameters
    ----------
    path : path-like
        The file; one whose name ends in ``.gz`` is decompressed.
    labels : iterable of str, optional
        The label columns; their cells are 0 or 1 (also 0.0, 1.0, False, True). Required
        without a schema file; with one, they must be its labels.
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
        The name of the data set; by default that in the schema file, or else that of the file.

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
    source = Source(Path(path), delimiter, encoding)
    label_names = checked_names(labels, "labels")
    chosen, ignored = checked_names(nominal, "nominal") or (), checked_names(ignore, "ignore") or ()
    if twice := repeated(label_names or ()):
        raise DataError(f"labels name {quoted(twice[0])} twice")
    for label in label_names or ():
        if label in (*chosen, *ignored):
            raise DataError(f"{quoted(label)} is named as a label and as something else")
    beside = schema_path(source.path)
    if beside.exists():
        with opened_utf8(beside) as file:
            table = from_json(file.read(), beside)
        try:
            table.check_agreement(beside.name, label_names, chosen, missing)
        except DataError as wrong:
            source.refuse(str(wrong))
        data = _read_described(source, table, ignored)
    else:
        data = _read_undescribed(source, label_names, chosen, ignored, missing)
    return data if name is None else replace(data, name=name)


def write_csv(data: Dataset, path: str | Path) -> None:
    """Write a data set as CSV, with a schema file beside it.

    ``PATH.schema.json`` holds what the table does not show (kinds, categories and their order,
    labels and their hierarchy, whether X is sparse, the text for missing values), so that
    :func:`read_csv` returns the same data set. Features come first, then labels as 0 and 1.

    Parameters
    ----------
    data : Dataset
    path : path-like
        Compressed if the name ends in ``.gz``. An existing file is replaced when the new one is
        complete. A stream, such as a pipe, is written to, without a schema file.

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
        columns += [list(map(str, column)) for column in data.Y[start : start + size].T.tolist()]
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


class _Numeric:
    """Decodes a column of numbers."""

    def __init__(self, source: Source, feature: Feature, missing: str) -> None:
        self.source, self.feature, self.missing = source, feature, missing

    def decode(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        """The numbers in the cells of one block."""
        numbers = plain_numbers(cells, self.missing)
        if numbers is not None:
            return numbers
        for cell, line in zip(cells, lines, strict=True):
            if cell != self.missing and (why := why_no_number(cell)):
                name = quoted(self.feature.name)
                self.source.refuse(f"column {name} holds numbers, but this cell is {why}", line)
        return floats_of(cells, self.missing)

    def finish(self, values: Floats) -> Feature:
        """The feature, when all cells are decoded; codes may be put in order, in place."""
        return self.feature


class _NewCodes(dict[str, float]):
    """Codes for texts in the order in which they are found, after that of the missing value."""

    def __missing__(self, text: str) -> float:
        if "\0" in text:
            raise KeyError(text)
        self[text] = float(len(self) - 1)
        return self[text]


class _Nominal(_Numeric):
    """Decodes a column of texts: categories, declared or found, or a label."""

    may_be_times = False
    """Whether texts that are all dates or times in ISO 8601 are read as such."""

    def __init__(
        self, source: Source, feature: Feature, missing: str, codes: dict[str, float] | None = None
    ) -> None:
        super().__init__(source, feature, missing)
        self._codes = _NewCodes({missing: nan}) if codes is None else codes

    def decode(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        """The codes of the cells of one block."""
        try:
            return np.fromiter(map(self._codes.__getitem__, cells), np.float64, len(cells))
        except KeyError as unknown:
            text = unknown.args[0]
        return self.source.refuse(self._why(text), lines[cells.index(text)])

    def _why(self, text: str) -> str:
        if isinstance(self._codes, _NewCodes):
            return _NUL
        if self.feature.categories is None:
            return f"label {quoted(self.feature.name)} is {quoted(text)}: a label is 0 or 1"
        known = f"column {quoted(self.feature.name)} has the unknown category {quoted(text)}"
        return known + suggestion(text, self.feature.categories)

    def finish(self, values: Floats) -> Feature:
        """Put categories that were found in order: numbers by size, or else texts."""
        if not isinstance(self._codes, _NewCodes):
            return self.feature
        texts = list(self._codes)[1:]
        if self.may_be_times and (times := times_of(texts)) is not None:
            column = time_column(np.array(times[0], dtype=np.float64), times[1], nominal=False)
            _replace_codes(values, column.values)
            return column.feature(self.feature.name)
        column = read_objects(numbers_of(texts) or texts, self.feature.name, nominal=True)
        _replace_codes(values, column.values)
        return Feature(self.feature.name, column.categories)


def _replace_codes(values: Floats, numbers: Floats) -> None:
    """Put other numbers in the place of codes, in place."""
    known = ~np.isnan(values)
    values[known] = numbers[values[known].astype(np.intp)]


class _Times(_Numeric):
    """Decodes a column of dates, times or durations."""

    def decode(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        """The numbers of the cells of one block."""
        kind = self.feature.time
        assert kind is not None, "other columns have other decoders"
        numbers: dict[str, float] = {self.missing: nan}
        for cell in dict.fromkeys(cells):
            if cell not in numbers:
                number = read_time(cell, kind)
                if number is None:
                    self._refuse_time(cell, kind, lines[cells.index(cell)])
                numbers[cell] = float(number)
        return np.array([numbers[cell] for cell in cells], dtype=np.float64)

    def _refuse_time(self, cell: str, kind: TimeKind, line: int) -> NoReturn:
        name, wanted = quoted(self.feature.name), example_of(kind)
        self.source.refuse(f"column {name} must hold {wanted}, but this cell is {cell!r:.60}", line)


class _Undeclared(_Numeric):
    """Decodes a column that is numeric if all its cells are numbers, nominal if none is.

    A mixture is an error: a word for a missing value would turn all numbers into categories.
    """

    def __init__(self, source: Source, feature: Feature, missing: str) -> None:
        super().__init__(source, feature, missing)
        self._texts = _Nominal(source, feature, missing)
        self._texts.may_be_times = True
        self._seen = {missing}
        # the first cell of each sort with its line; a text is neither a number nor nan nor inf
        self._first: dict[str, tuple[str, int]] = {}

    def decode(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        """The numbers or codes of the cells of one block."""
        numbers = plain_numbers(cells, self.missing)
        if numbers is None or "number" not in self._first:
            self._look(cells, lines, numbers is not None)
        if {"number", "other"} <= self._first.keys():
            number, line = self._first["number"]
            self._refuse(f"holds numbers, such as {quoted(number)} in line {line}, but")
        if numbers is not None:
            return numbers
        if "other" in self._first:
            return self._texts.decode(cells, lines)
        return floats_of(cells, self.missing)

    def _look(self, cells: Sequence[str], lines: Sequence[int], are_plain: bool) -> None:
        """Note the first cell of each sort; of plain numbers one is enough."""
        for cell in dict.fromkeys(cells):
            if cell not in self._seen:
                self._seen.add(cell)
                if "\0" in cell:
                    self.source.refuse(_NUL, lines[cells.index(cell)])
                for sort in sorts_of(cell):
                    self._first.setdefault(sort, (cell, lines[cells.index(cell)]))
                if are_plain:
                    return

    def finish(self, values: Floats) -> Feature:
        """The feature of the kind that was found."""
        if not len(values):
            self.source.refuse("there are no rows, so the kinds of the columns are unknown")
        if "beyond" in self._first:
            (cell, line), name = self._first["beyond"], quoted(self.feature.name)
            self.source.refuse(
                f"column {name} holds numbers, but this cell is {why_no_number(cell)}: "
                f"scale the column, or pass nominal=[{name}]",
                line,
            )
        if "other" in self._first and "text" not in self._first:
            self._refuse("holds no number, and")
        return self._texts.finish(values) if "text" in self._first else self.feature

    def _refuse(self, holds: str) -> NoReturn:
        (cell, line), name = self._first["other"], quoted(self.feature.name)
        self.source.refuse(
            f"column {name} {holds} this cell is {quoted(cell)}: pass missing={cell!r:.60} if it "
            f"stands for a missing value, or nominal=[{name}] if the column holds categories",
            line,
        )


_Decoders = dict[int, _Numeric]
"""By the position of their columns."""


def _read(
    source: Source, features: _Decoders, labels: _Decoders, table: TableDescription
) -> Dataset:
    """Read all rows, block by block."""
    parts: list[Any] = []
    boards: list[Board] = [np.empty((0, len(labels)), dtype=np.int8)]
    for block in source.blocks():
        part = _decoded(block, features)
        parts.append(sparse.csr_array(part) if table.is_sparse else part)
        boards.append(_decoded(block, labels).astype(np.int8))
    Y = np.concatenate(boards)
    X: Matrix
    if table.is_sparse:
        empty = sparse.csr_array((0, len(features)))
        X = sparse.csc_array(sparse.vstack([empty, *parts]))
        return Dataset(table.schema, X, Y, table.name)
    X = np.empty((len(Y), len(features)), order="F")
    stop = len(Y)
    while parts:
        part = parts.pop()  # so that each part is freed as soon as it is copied
        X[stop - len(part) : stop] = part
        stop -= len(part)
    found = [decoder.finish(X[:, index]) for index, decoder in enumerate(features.values())]
    X.setflags(write=False)
    return Dataset(Schema(found, table.schema.labels, table.schema.parents), X, Y, table.name)


def _decoded(block: Block, decoders: _Decoders) -> Floats:
    matrix = np.empty((len(block.lines), len(decoders)), order="F")
    for index, (column, decoder) in enumerate(decoders.items()):
        matrix[:, index] = decoder.decode(block.columns[column], block.lines)
    return matrix


def _read_described(source: Source, table: TableDescription, ignored: Names) -> Dataset:
    """Read a table with a schema file."""
    known = {*table.schema.feature_names, *table.schema.labels}
    extra = [name for name in source.header if name not in known]
    if extra:
        source.refuse(f"column {quoted(extra[0])} is not in the schema file", 1)
    table = replace(table, schema=table.schema.without(ignored))
    features: _Decoders = {}
    for feature in table.schema.features:
        column = source.column(feature.name)
        if feature.categories is None:
            decoder = _Numeric if feature.time is None else _Times
            features[column] = decoder(source, feature, table.missing)
        else:
            codes = {text: float(code) for code, text in enumerate(feature.categories)}
            codes[table.missing] = nan
            features[column] = _Nominal(source, feature, table.missing, codes)
    return _read(source, features, _label_decoders(source, table.schema.labels), table)


def _read_undescribed(
    source: Source, labels: Names | None, nominal: Names, ignored: Names, missing: str
) -> Dataset:
    """Read a table without a schema file."""
    if labels is None:
        source.refuse(
            "which columns are labels? Pass labels=[...], or put the schema file "
            f"{schema_path(source.path).name} beside it, as write_csv does{source.other_delimiter}"
        )
    label_decoders = _label_decoders(source, labels)
    left_out = {source.column(name) for name in ignored} | label_decoders.keys()
    as_texts = {source.column(name) for name in nominal}
    features: _Decoders = {}
    for column, name in enumerate(source.header):
        if column not in left_out:
            decoder = _Nominal if column in as_texts else _Undeclared
            features[column] = decoder(source, Feature(name), missing)
    schema = Schema([decoder.feature for decoder in features.values()], labels)
    name = re.sub(r"(\.(csv|tsv|txt))?(\.gz)?$", "", source.path.name, count=1)
    return _read(source, features, label_decoders, TableDescription(schema, False, missing, name))


def _label_decoders(source: Source, labels: Names) -> _Decoders:
    return {source.column(name): _Nominal(source, Feature(name), "", _LABELS) for name in labels}
