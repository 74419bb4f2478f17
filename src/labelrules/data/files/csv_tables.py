"""What is read of CSV files: the columns of features and labels, by their names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy import sparse

from labelrules._checks import quoted, suggestion
from labelrules._types import UNSET, Board, Floats
from labelrules.data.document import read_pieces
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.access import opened_utf8
from labelrules.data.files.arrow import CellRows
from labelrules.data.files.csv_columns import (
    CategoryColumn,
    FirstCells,
    NumericColumn,
    OddCellError,
    TextColumn,
    TimeColumn,
    TimesAndTextsError,
    UndeclaredColumn,
)
from labelrules.data.files.csv_records import Source
from labelrules.data.files.inputs import name_of
from labelrules.data.memory.labels import Names, checked_names
from labelrules.data.schema import Feature, Schema, repeated
from labelrules.data.schema_json import TableDescription, schema_from_json, schema_path
from labelrules.data.table import Dataset, checked_dataset

_LABELS = {"0": 0.0, "0.0": 0.0, "False": 0.0, "1": 1.0, "1.0": 1.0, "True": 1.0}
_LABELS |= {"-1": nan, "-1.0": nan}
"""The cells of labels; one that is -1 is unknown, as one that is missing."""

_TABLE_ENDING = re.compile(r"\.(csv|tsv|txt)$")

MOST_CATEGORIES = 1 << 20
"""Of a column that is read in pieces; more would fill memory."""


class CsvOptions(NamedTuple):
    """How tables are read, as :func:`labelrules.data.read_csv` describes it."""

    labels: Names | None
    nominal: Names
    ignored: Names
    delimiter: str
    missing: str
    encoding: str

    @classmethod
    def checked(
        cls,
        labels: Iterable[str] | None,
        nominal: Iterable[str],
        ignore: Iterable[str],
        delimiter: str,
        missing: str,
        encoding: str,
    ) -> "CsvOptions":
        """The options; names that contradict each other are refused."""
        if not isinstance(missing, str):
            raise DataError(
                f"missing is {missing!r:.60}: give the one text that stands for a missing value, "
                "such as 'NA'"
            )
        names = checked_names(labels, "labels")
        chosen = checked_names(nominal, "nominal") or ()
        ignored = checked_names(ignore, "ignore") or ()
        if twice := repeated(names or ()):
            raise DataError(f"labels name {quoted(twice[0])} twice")
        for label in names or ():
            if label in (*chosen, *ignored):
                raise DataError(f"{quoted(label)} is named as a label and as something else")
        return cls(names, chosen, ignored, delimiter, missing, encoding)


def opened_tables(paths: Sequence[Path], options: CsvOptions) -> tuple[list[Source], "CsvColumns"]:
    """Files with the same columns, and what is read of them."""
    sources = [Source(one, options.delimiter, options.encoding) for one in paths]
    for source in sources[1:]:
        _check_same_columns(source, sources[0])
    table = _description(sources, options.labels, options.nominal, options.missing)
    if table is None:
        return sources, _undescribed(sources[0], options)
    return sources, _described(sources[0], table, options.ignored)


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
            table = schema_from_json(read_pieces(file), beside)
        try:
            table.check_agreement(beside.name, labels, nominal, missing)
        except DataError as wrong:
            source.refuse(str(wrong))
        found = found or table
        if replace(table, name=found.name) != found:
            raise FileError("it describes other columns than the schema file before it", beside)
    return found


@dataclass(frozen=True)
class CsvColumns:
    """What is read of one or several files: features and labels by the names of their columns."""

    features: dict[str, NumericColumn]
    labels: dict[str, NumericColumn]
    table: TableDescription

    def read(self, sources: Sequence[Source]) -> Dataset:
        """Read all rows, block by block."""
        with self._explained(sources):
            parts: list[Any] = []
            boards: list[Board] = [np.empty((0, len(self.labels)), dtype=np.int8)]
            for _, X, Y in self._blocks(sources):
                parts.append(sparse.csr_array(X) if self.table.is_sparse else X)
                boards.append(Y)
            return self._joined(parts, np.concatenate(boards))

    def _joined(self, parts: list[Any], Y: Board) -> Dataset:
        """The blocks as one data set; they are used up."""
        schema, name = self.table.schema, self.table.name
        if self.table.is_sparse:
            empty = sparse.csr_array((0, len(self.features)))
            return Dataset(schema, sparse.csc_array(sparse.vstack([empty, *parts])), Y, name)
        X = _stacked(parts, (len(Y), len(self.features)))
        columns = enumerate(self.features.values())
        found = [column.finish(X[:, index], len(Y)) for index, column in columns]
        X.setflags(write=False)
        return checked_dataset(Schema(found, schema.labels, schema.parents), X, Y, name)

    def found(self, sources: Sequence[Source]) -> tuple["CsvColumns", int]:
        """The columns with the kinds and categories of all rows, and the number of rows.

        All rows are read once, in little memory.
        """
        with self._explained(sources):
            n_rows = 0
            for source, X, _ in self._blocks(sources):
                n_rows += len(X)
                self._check_number_of_texts(source)
            features = {name: one.found(n_rows) for name, one in self.features.items()}
        found = [one.finish(np.empty(0), n_rows) for one in features.values()]
        schema = Schema(found, self.table.schema.labels, self.table.schema.parents)
        return CsvColumns(features, self.labels, replace(self.table, schema=schema)), n_rows

    def _check_number_of_texts(self, source: Source) -> None:
        for name, column in self.features.items():
            if isinstance(column, TextColumn) and column.n_texts(MOST_CATEGORIES) > MOST_CATEGORIES:
                source.refuse(
                    f"column {quoted(name)} has more than {MOST_CATEGORIES:,} different texts, too "
                    f"many for categories: leave it out by ignore=[{name!r}]"
                )

    def pieces(self, sources: Sequence[Source], n_cells: int) -> Iterator[Dataset]:
        """The rows in pieces of about so many cells, once the kinds of all columns are known."""
        parts: list[Floats] = []
        boards: list[Board] = []
        with self._explained(sources):
            for source, X, Y in self._blocks(sources):
                parts.append(X)
                boards.append(Y)
                if sum(map(len, boards)) * len(source.header) >= n_cells:
                    yield self._piece(parts, boards)
        if boards:
            yield self._piece(parts, boards)

    def _piece(self, parts: list[Floats], boards: list[Board]) -> Dataset:
        """The blocks as one data set; they are used up."""
        Y = np.concatenate(boards)
        boards.clear()
        X = _stacked(parts, (len(Y), len(self.features)))
        X.setflags(write=False)
        if self.table.is_sparse:
            return Dataset(self.table.schema, sparse.csc_array(X), Y, self.table.name)
        return checked_dataset(self.table.schema, X, Y, self.table.name)

    def _blocks(self, sources: Sequence[Source]) -> Iterator[tuple[Source, Floats, Board]]:
        """The values and the labels of all blocks."""
        for source in sources:
            features, labels = (
                [(source.column(name), column) for name, column in columns.items()]
                for columns in (self.features, self.labels)
            )
            both = [*features, *labels]
            wanted = source.wanted(
                self.table.missing,
                [place for place, _ in both],
                lambda both=both: [place for place, column in both if column.reads_numbers],  # type: ignore[misc]
                lambda both=both: [place for place, column in both if column.is_varied],  # type: ignore[misc]
            )
            with closing(source.rows(wanted)) as blocks:
                for rows in blocks:
                    yield source, _decoded(rows, features), _board(_decoded(rows, labels))

    @contextmanager
    def _explained(self, sources: Sequence[Source]) -> Iterator[None]:
        """Say where a cell is that does not fit into its column, by reading all once more."""
        try:
            yield
        except OddCellError:
            self._refuse_first(sources)
        except TimesAndTextsError as wrong:
            (name,) = wrong.args
            sources[0].refuse(
                f"column {quoted(name)} holds many different dates or times, but also other texts: "
                f"pass missing= for a text that stands for a missing value, or ignore=[{name!r}]"
            )

    def _refuse_first(self, sources: Sequence[Source]) -> NoReturn:
        """Refuse the first cell that does not fit into its column."""
        columns = {**self.features, **self.labels}
        sorts = {name: FirstCells(one) for name, one in columns.items()}
        n_rows = 0
        for source in sources:
            with closing(source.text_rows()) as blocks:
                for rows in blocks:
                    n_rows += rows.n_rows
                    for name, one in sorts.items():
                        one.look(rows.columns[source.column(name)], rows.row_lines, source)
        for one in sorts.values():
            one.judge(n_rows, sources[0])
        sources[0].refuse("the file was changed while it was read")


def _decoded(rows: CellRows, columns: Sequence[tuple[int, NumericColumn]]) -> Floats:
    """The values of some columns in a block."""
    matrix = np.empty((rows.n_rows, len(columns)), order="F")
    for index, (place, column) in enumerate(columns):
        matrix[:, index] = column.decode(rows, place)
    return matrix


def _board(labels: Floats) -> Board:
    return np.where(np.isnan(labels), UNSET, labels).astype(np.int8, order="C")


def _stacked(parts: list[Floats], shape: tuple[int, int]) -> Floats:
    """The parts below each other, column by column; they are used up, to save memory."""
    X = np.empty(shape, order="F")
    stop = len(X)
    while parts:
        part = parts.pop()
        X[stop - len(part) : stop] = part
        stop -= len(part)
    return X


def _described(source: Source, table: TableDescription, ignored: Names) -> CsvColumns:
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
            features[feature.name] = CategoryColumn(feature, table.missing, codes)
    labels = _label_columns(source, table.schema.labels, table.missing)
    return CsvColumns(features, labels, table)


def _undescribed(source: Source, options: CsvOptions) -> CsvColumns:
    """The columns of a table without a schema file."""
    labels, missing = options.labels, options.missing
    if labels is None:
        source.refuse(
            "which columns are labels? Pass labels=[...], or put the schema file "
            f"{schema_path(source.path).name} beside it, as write_csv does{source.other_delimiter}"
        )
    label_columns = _label_columns(source, labels, missing)
    for name in (*options.ignored, *options.nominal):
        source.column(name)
    features: dict[str, NumericColumn] = {}
    for name in source.header:
        if name not in options.ignored and name not in label_columns:
            kind = TextColumn if name in options.nominal else UndeclaredColumn
            features[name] = kind(Feature(name), missing)
    schema = Schema([column.feature for column in features.values()], labels)
    stem = _TABLE_ENDING.sub("", name_of(source.path))
    return CsvColumns(features, label_columns, TableDescription(schema, False, missing, stem))


def _label_columns(source: Source, labels: Names, missing: str) -> dict[str, NumericColumn]:
    for name in labels:
        source.column(name)
    codes = {missing: nan} | _LABELS
    return {name: CategoryColumn(Feature(name), missing, codes) for name in labels}
