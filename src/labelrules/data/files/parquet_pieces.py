"""The rows of Parquet files in pieces, with kinds and categories that were found over all rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from labelrules._checks import quoted
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.arrow import pyarrow
from labelrules.data.files.inputs import name_of
from labelrules.data.files.parquet import (
    check_same_tables,
    concatenated,
    description,
    divided_columns,
    from_arrow,
    plain_errors,
    refuse_repeated,
)
from labelrules.data.memory.columns import EncodedColumn
from labelrules.data.memory.encoding import conform, dataset
from labelrules.data.memory.frames import FrameTable
from labelrules.data.memory.labels import Names
from labelrules.data.schema import Feature, Kind, Schema
from labelrules.data.schema_json import TableDescription
from labelrules.data.table import Dataset
from labelrules.data.times import read_time

MOST_CATEGORIES = 1 << 20
"""Of a column that is read in pieces; more would fill memory."""


_GROUPS = 64
"""So many row groups a sample of rows is read from."""

Order: TypeAlias = Literal["found", "text", "number", "time", "duration"]
"""The order of categories: as they were found, or by what their texts stand for."""

_KEYS: Mapping[Order, Callable[[str], Any]] = {
    "text": str,
    "number": Decimal,
    "time": lambda text: read_time(text, "UTC time"),
    "duration": lambda text: read_time(text, "duration"),
}


@dataclass(frozen=True)
class ParquetPieces:
    """Parquet files with the same columns, that are read in pieces, as often as needed."""

    paths: tuple[Path, ...]
    arrow_schema: Any
    """The types that hold the values of all files."""
    schema: Schema
    table: TableDescription | None
    """What the files say about their columns, if we wrote them."""
    n_rows: int
    name: str
    nominal: Names = ()

    def pieces(self, n_cells: int) -> Iterator[Dataset]:
        """The rows in pieces of at most so many cells, or of one row."""
        return self._datasets(_tables(self.paths, self.arrow_schema, self._columns, n_cells))

    def some(self, n_rows: int) -> Iterator[Dataset]:
        """About so many rows, the first ones of row groups from all over the files."""
        tables = _some_tables(self.paths, self.arrow_schema, self._columns, n_rows)
        return self._datasets(tables)

    @property
    def _columns(self) -> list[str] | None:
        """The columns that are read; None for all of them."""
        return None if self.table is not None else [*self.schema.feature_names, *self.schema.labels]

    def _datasets(self, tables: Iterable[tuple["_Place", Any]]) -> Iterator[Dataset]:
        for place, part in tables:
            with place.named():
                if self.table is not None:
                    yield from_arrow(part, self.table).without(self._left_out)
                    continue
                X, Y = (part.select(list(names)) for names in self._names)
                found = dataset(X, Y, nominal=self.nominal, name=self.name)
                found = conform(found, self.schema, with_labels=True)
            yield found

    @property
    def _names(self) -> tuple[Names, Names]:
        return self.schema.feature_names, self.schema.labels

    @property
    def _left_out(self) -> Names:
        assert self.table is not None
        whole = self.table.schema
        return tuple(name for name in whole.feature_names if name not in self.schema.feature_index)


def opened_parquet(
    paths: Sequence[Path], labels: Names | None, nominal: Names, ignored: Names, n_cells: int
) -> ParquetPieces:
    """Files as :func:`labelrules.data.read_parquet` reads them, but in pieces.

    Their columns must be the same. Unless a file includes its schema, columns of text, times and
    the like are read once, to find their kinds and categories.
    """
    heads = [_head(path) for path in paths]
    empty = [head.empty_table() for head, _ in heads]
    check_same_tables(empty, paths)
    first = empty[0]
    arrow_schema = concatenated([one.select(first.column_names) for one in empty]).schema
    n_rows = sum(n for _, n in heads)
    name = Path(name_of(paths[0])).stem
    table = description(first, paths[0])
    with plain_errors(paths[0]):
        if table is not None:
            table.check_agreement("the file", labels, nominal)
            schema = table.schema.without(ignored)
            return ParquetPieces(tuple(paths), arrow_schema, schema, table, n_rows, table.name)
        features, chosen = divided_columns(first.column_names, labels, nominal, ignored)
    found = _features(paths, arrow_schema, features, nominal, n_cells)
    with plain_errors(paths[0]):
        schema = Schema(found, chosen)
    return ParquetPieces(tuple(paths), arrow_schema, schema, None, n_rows, name, nominal)


@dataclass(frozen=True)
class _Place:
    """Where some rows are, for messages."""

    path: Path
    row_group: int
    first_row: int

    @contextmanager
    def named(self) -> Iterator[None]:
        """Raise errors of the data as errors that name the file and the row group."""
        try:
            with plain_errors(self.path):
                yield
        except FileError as wrong:
            message, path, line = wrong.__reduce__()[1]
            rows = f"row {self.first_row:,} of it is row 0 here" if " row " in message else ""
            where = f"row group {self.row_group}{f' ({rows})' if rows else ''}"
            raise FileError(f"{where}: {message}", path, line) from None


def _head(path: Path) -> tuple[Any, int]:
    """The types of a file, and the number of its rows."""
    pyarrow()
    from pyarrow.parquet import ParquetFile

    with plain_errors(path), path.open("rb") as file, ParquetFile(file) as content:
        found = content.schema_arrow
        refuse_repeated(found.names)
        return found, int(content.metadata.num_rows)


def _tables(
    paths: Sequence[Path], schema: Any, columns: Sequence[str] | None, n_cells: int
) -> Iterator[tuple[_Place, Any]]:
    """All rows, in pieces, of some columns or of all, in the types of a schema."""
    from pyarrow.parquet import ParquetFile

    names = list(schema.names if columns is None else columns)
    empty = schema.empty_table().select(names)
    size = max(1, n_cells // max(1, len(schema)))
    for path in paths:
        with plain_errors(path):
            file = ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
        with file:
            for group in range(file.num_row_groups):
                first = 0
                batches = file.iter_batches(size, [group], names)
                while (batch := _next(batches, path, group, first)) is not None:
                    place = _Place(path, group, first)
                    yield place, _typed(batch, empty, place)
                    first += batch.num_rows


def _some_tables(
    paths: Sequence[Path], schema: Any, columns: Sequence[str] | None, n_rows: int
) -> Iterator[tuple[_Place, Any]]:
    """The first rows of some row groups, about as many in all."""
    from pyarrow.parquet import ParquetFile

    names = list(schema.names if columns is None else columns)
    empty = schema.empty_table().select(names)
    groups = []
    for path in paths:
        with plain_errors(path), ParquetFile(path) as file:
            groups += [(path, group) for group in range(file.num_row_groups)]
    chosen = np.unique(np.linspace(0, len(groups) - 1, min(len(groups), _GROUPS)).astype(np.int64))
    for path, group in [groups[number] for number in chosen.tolist()]:
        with plain_errors(path):
            file = ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
        with file:
            batches = file.iter_batches(-(-n_rows // len(chosen)), [group], names)
            batch = _next(batches, path, group, 0)
            if batch is not None:
                place = _Place(path, group, 0)
                yield place, _typed(batch, empty, place)


def _next(batches: Iterator[Any], path: Path, group: int, first: int) -> Any:
    with _Place(path, group, first).named():
        return next(batches, None)


def _typed(batch: Any, empty: Any, place: _Place) -> Any:
    """Rows in the types of an empty table."""
    with place.named():
        table = pyarrow().Table.from_batches([batch]).select(empty.column_names)
        same = table.schema.remove_metadata() == empty.schema.remove_metadata()
        metadata = empty.schema.metadata
        return (table if same else concatenated([empty, table])).replace_schema_metadata(metadata)


def _features(
    paths: Sequence[Path], schema: Any, names: Sequence[str], nominal: Names, n_cells: int
) -> list[Feature]:
    """The features of files without a schema; only columns that need it are read."""
    whole = FrameTable(schema.empty_table().select(list(names)), "X")
    found, columns = {}, {}
    for index, name in enumerate(names):
        with plain_errors(paths[0]):
            bare = whole.read(index, name, name in nominal)
        found[name] = bare.feature(name)
        order = _order_of(schema.field(name).type)
        if order is not None or name in nominal:
            columns[name] = FoundColumn(name, order or "number")
            columns[name].add(bare)
    if columns:
        for place, part in _tables(paths, schema, list(columns), n_cells):
            with place.named():
                table = FrameTable(part, "X")
                for index, (name, column) in enumerate(columns.items()):
                    column.add(table.read(index, name, name in nominal))
    return [columns[name].feature() if name in columns else found[name] for name in names]


def _order_of(kind: Any) -> Order | None:
    """The order of the categories of a column; None for one that holds plain numbers."""
    types = pyarrow().types
    if types.is_integer(kind) or types.is_floating(kind):
        return None
    if types.is_date(kind) or types.is_timestamp(kind):
        return "time"
    if types.is_duration(kind):
        return "duration"
    if types.is_decimal(kind):
        return "number"
    return "found" if types.is_dictionary(kind) or types.is_boolean(kind) else "text"


class FoundColumn:
    """What the parts of a column are together, as if they had been read at once.

    Parameters
    ----------
    name : str
    order : str
        The order of its categories, if it has some.
    """

    def __init__(self, name: str, order: Order) -> None:
        self._name, self._order = name, order
        self._first: EncodedColumn | None = None  # without values, from a part with some
        self._any: EncodedColumn | None = None  # from any part
        self._categories: dict[str, None] = {}
        self._kinds: set[Kind | None] = set()

    def add(self, part: EncodedColumn) -> None:
        """Take the next part into account."""
        has_values = not np.isnan(part.values).all()
        bare = EncodedColumn(np.empty(0), part.categories, part.are_truth_values, part.kind)
        self._any = self._any or bare
        self._categories |= dict.fromkeys(part.categories or ())
        if len(self._categories) > MOST_CATEGORIES:
            raise DataError(
                f"column {quoted(self._name)} has more than {MOST_CATEGORIES:,} different values, "
                f"too many for categories: leave it out by ignore=[{self._name!r}]"
            )
        if has_values:
            self._first = self._first or bare
            self._kinds.add(part.kind)

    def feature(self) -> Feature:
        """The feature that all parts make."""
        found = self._first or self._any
        assert found is not None, "a part is added first"
        if found.categories is None:
            kind: Kind | None = "time" if self._kinds == {"date", "time"} else found.kind
            return EncodedColumn(np.empty(0), kind=kind).feature(self._name)
        texts = tuple(self._categories)
        if self._order != "found":
            texts = tuple(sorted(texts, key=_KEYS[self._order]))
        return EncodedColumn(np.empty(0), texts, kind=found.kind).feature(self._name)
