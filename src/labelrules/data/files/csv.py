"""Read and write CSV."""

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats, Matrix
from labelrules.data.errors import DataError, FileError, quoted, suggestion
from labelrules.data.files.access import (
    checked_target,
    is_stream,
    opened_text,
    opened_utf8,
    replacing,
    written_text,
)
from labelrules.data.memory.columns import LARGEST_EXACT, is_rounded, text_of, whole_number
from labelrules.data.memory.labels import Names, checked_names
from labelrules.data.schema import Feature, Schema, repeated
from labelrules.data.schema_json import (
    Described,
    described,
    from_json,
    schema_path,
    to_json,
    without_labels,
)
from labelrules.data.table import Dataset

_CELLS_AT_ONCE = 1 << 19
_DELIMITERS = (";", "\t", "|", ",")


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file, and the line where each begins."""

    path: Path
    rows: list[list[str]]
    lines: list[int]

    def columns(self) -> list[tuple[str, ...]]:
        """The same cells column by column."""
        return list(zip(*self.rows, strict=True))

    def error(self, message: str, row: int) -> FileError:
        """What is wrong in a row."""
        return FileError(message, self.path, self.lines[row])


class Source:
    """A CSV file with a header line, which is read and checked at once."""

    def __init__(self, path: Path, delimiter: str, encoding: str) -> None:
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
            raise DataError(f"delimiter is {delimiter!r}: give one character, such as ',' or ';'")
        self.path, self._delimiter, self._encoding = path, delimiter, encoding
        self.header = self._read_header()

    def refuse(self, message: str, line: int | None = None) -> NoReturn:
        """Say what is wrong with the file."""
        raise FileError(message, self.path, line) from None

    def column(self, name: str) -> int:
        """Where a column is."""
        if name not in self.header:
            close = suggestion(str(name), self.header)
            self.refuse(f"there is no column {quoted(name)}{self.other_delimiter or close}", 1)
        return self.header.index(name)

    @property
    def other_delimiter(self) -> str:
        """What to say if the cells of the header are not divided, as it seems; else nothing."""
        if len(self.header) > 1:
            return ""
        header = self.header[0]
        sign = max(_DELIMITERS, key=header.count)
        if sign not in header or sign == self._delimiter:
            return ""
        return f": the header is one cell, {quoted(header)}; perhaps pass delimiter={sign!r}"

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but the header."""
        with closing(self._rows()) as rows:
            return next(rows, None) is None

    def blocks(self) -> Iterator[Block]:
        """The rows, some at a time."""
        with closing(self._rows()) as rows:
            size = max(1, _CELLS_AT_ONCE // len(self.header))
            while some := list(islice(rows, size)):
                yield Block(self.path, [row for _, row in some], [line for line, _ in some])

    def _rows(self) -> Generator[tuple[int, list[str]]]:
        empty: int | None = None
        with closing(self._records()) as records:
            for line, row in islice(records, 1, None):
                if not row:  # an empty line is harmless at the end, but a lost row elsewhere
                    empty = empty or line
                    continue
                if empty is not None:
                    self.refuse("the line is empty", empty)
                if len(row) != len(self.header):
                    but = f"but the header has {len(self.header)}{self.other_delimiter}"
                    self.refuse(f"{len(row)} cells, {but}", line)
                yield line, row

    def _records(self) -> Generator[tuple[int, list[str]]]:
        with opened_text(self.path, self._encoding) as file:
            reader = csv.reader(file, delimiter=self._delimiter, strict=True)
            line = 1
            try:
                for row in reader:
                    yield line, row
                    line = reader.line_num + 1
            except csv.Error as wrong:
                self.refuse(_in_plain_words(wrong), line)

    def _read_header(self) -> list[str]:
        with closing(self._records()) as records:
            _, header = next(records, (0, []))
        if not header:
            self.refuse("the file is empty: a header line with the column names is needed")
        for position, name in enumerate(header, start=1):
            if not name:
                self.refuse(f"column {position} has no name", 1)
        twice = repeated(header)
        if twice:
            self.refuse(f"two columns are called {quoted(twice[0])}: rename one of them", 1)
        return header


def _in_plain_words(wrong: csv.Error) -> str:
    text = str(wrong)
    if "unexpected end of data" in text:
        return "a quote is opened but never closed"
    if "field larger than field limit" in text:
        return f"a cell has more than {csv.field_size_limit()} characters: is a quote not closed?"
    if "expected after" in text:
        return "there is text after a closing quote: double the quotes inside a quoted cell"
    return text


_BLANKS = r"[\s\x1c-\x1f]*"  # what float() strips
_NUMBER = re.compile(rf"{_BLANKS}[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?{_BLANKS}", re.ASCII)
_NOT_FINITE = re.compile(rf"{_BLANKS}[+-]?(nan|inf(inity)?){_BLANKS}", re.ASCII | re.IGNORECASE)
_ZERO_FIRST = re.compile(rf"{_BLANKS}[+-]?0\d", re.ASCII)
_LABELS = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "False": 0.0, "True": 1.0}


class Decoder(ABC):
    """Turns the cells of one column into numbers or codes."""

    def __init__(self, feature: Feature, missing: str) -> None:
        self.feature, self.missing = feature, missing

    @abstractmethod
    def decode(self, cells: Sequence[str], block: Block) -> Floats:
        """Decode the cells of one block."""

    def finish(self, codes: Floats) -> Feature:
        """The feature, when all cells are decoded; the codes may be put in order, in place."""
        return self.feature


class Numbers(Decoder):
    """A numeric column."""

    def decode(self, cells: Sequence[str], block: Block) -> Floats:
        """Decode the cells of one block."""
        numbers = plain_numbers(cells, self.missing)
        if numbers is not None:
            return numbers
        for row, cell in enumerate(cells):
            why = None if cell == self.missing else why_no_number(cell)
            if why is not None:
                name = quoted(self.feature.name)
                raise block.error(f"column {name} holds numbers, but this cell is {why}", row)
        return _as_floats(cells, self.missing)


class KnownCategories(Decoder):
    """A nominal column whose categories are declared."""

    def __init__(self, feature: Feature, missing: str) -> None:
        super().__init__(feature, missing)
        self._code_of = {text: float(code) for code, text in enumerate(feature.categories or ())}
        self._code_of[missing] = nan

    def decode(self, cells: Sequence[str], block: Block) -> Floats:
        """Decode the cells of one block."""
        try:
            return np.array([self._code_of[cell] for cell in cells], dtype=np.float64)
        except KeyError as unknown:
            text = unknown.args[0]
            raise block.error(
                f"column {quoted(self.feature.name)} has the unknown category {quoted(text)}"
                f"{suggestion(text, self.feature.categories or ())}",
                cells.index(text),
            ) from None


class FoundCategories(Decoder):
    """A nominal column whose categories are what its cells say.

    If all are numbers, equal ones are one category, written as :func:`text_of` does, and
    they are in order of size; else the texts are taken as they are, sorted.
    """

    def __init__(self, name: str, missing: str) -> None:
        super().__init__(Feature(name, ()), missing)
        self._code_of: dict[str, float] = {}

    def decode(self, cells: Sequence[str], block: Block) -> Floats:
        """Decode the cells of one block."""
        for text in dict.fromkeys(cells):
            if text != self.missing:
                self._code_of.setdefault(text, float(len(self._code_of)))
        return np.array([self._code_of.get(cell, nan) for cell in cells], dtype=np.float64)

    def finish(self, codes: Floats) -> Feature:
        """The feature with its categories in order, and the codes with them."""
        category_of = _categories(self._code_of)
        categories = list(dict.fromkeys(category_of.values()))
        code_of = {category: code for code, category in enumerate(categories)}
        place = np.empty(len(category_of))
        for text, category in category_of.items():
            place[int(self._code_of[text])] = code_of[category]
        known = ~np.isnan(codes)
        codes[known] = place[codes[known].astype(np.intp)]
        return Feature(self.feature.name, tuple(categories))


class Labels(Decoder):
    """A label column."""

    def __init__(self, name: str) -> None:
        super().__init__(Feature(name), "")

    def decode(self, cells: Sequence[str], block: Block) -> Floats:
        """Decode the cells of one block."""
        try:
            return np.array([_LABELS[cell] for cell in cells], dtype=np.float64)
        except KeyError as unknown:
            text = unknown.args[0]
            raise block.error(
                f"label {quoted(self.feature.name)} is {quoted(text)}: a label is 0 or 1",
                cells.index(text),
            ) from None


def plain_numbers(cells: Sequence[str], missing: str) -> Floats | None:
    """The numbers that cells hold; none if that takes a closer look."""
    try:
        numbers = _as_floats(cells, missing)
    except ValueError:
        return None
    text = "".join(cells)
    # float() also takes digits of other scripts, underscores, and words such as "nan"
    if "_" in text or not text.isascii() or (np.abs(numbers) >= LARGEST_EXACT).any():
        return None
    return numbers if np.isnan(numbers).sum() == cells.count(missing) else None


def looks_like_number(cell: str) -> bool:
    """Whether the cell is written as a number, be it too large or too long to be held."""
    return _NUMBER.fullmatch(cell) is not None


def is_word_for_no_number(cell: str) -> bool:
    """Whether the cell is "nan", "inf" or the like."""
    return _NOT_FINITE.fullmatch(cell) is not None


def why_no_number(cell: str) -> str | None:
    """What a cell is instead of a number that can be held; none if it is such a number."""
    if not looks_like_number(cell) or np.isinf(float(cell)):
        return quoted(cell)
    if is_rounded(cell):
        return f"the whole number {cell.strip():.60}, which a float64 cannot hold exactly"
    return None


def _as_floats(cells: Sequence[str], missing: str) -> Floats:
    return np.array([nan if cell == missing else float(cell) for cell in cells], dtype=np.float64)


def _as_numbers(texts: Iterable[str]) -> dict[str, float] | None:
    """The numbers that texts are, if all are: a code such as 007 is none."""
    numbers: dict[str, float] = {}
    for text in texts:
        if _ZERO_FIRST.match(text) or not looks_like_number(text) or np.isinf(float(text)):
            return None
        whole = whole_number(text)
        numbers[text] = float(text) if whole is None else whole
    return numbers


def _categories(texts: Iterable[str]) -> dict[str, str]:
    """The category that each text stands for, in the order of the categories."""
    numbers = _as_numbers(texts)
    if numbers is None:
        return {text: text for text in sorted(texts)}
    text_of_number: dict[float, str] = {}
    for number in numbers.values():
        text_of_number.setdefault(number, text_of(number))
    return {
        text: text_of_number[numbers[text]] for text in sorted(numbers, key=numbers.__getitem__)
    }


Found = tuple[str, int]
"""A cell and its line."""


@dataclass(slots=True)
class _Seen:
    """The first cell of each sort in one column."""

    number: Found | None = None
    beyond: Found | None = None
    """A number that float64 cannot hold."""
    odd: Found | None = None
    """Anything but a number."""
    text: Found | None = None
    """Anything but a number and "nan" and the like."""

    @property
    def is_mixed(self) -> bool:
        return self.number is not None and self.odd is not None

    def look(self, cells: Sequence[str], block: Block, missing: str) -> None:
        """Take note of the cells of one block."""
        plain = plain_numbers(cells, missing) is not None
        known = {missing}
        for cell, line in zip(cells, block.lines, strict=True):
            if cell not in known:
                known.add(cell)
                self._take(cell, line)
                if plain or self.is_mixed:  # one cell of a block of plain numbers says it all
                    return

    def _take(self, cell: str, line: int) -> None:
        found = (cell, line)
        if looks_like_number(cell):
            self.number = self.number or found
            if self.beyond is None and why_no_number(cell) is not None:
                self.beyond = found
            return
        self.odd = self.odd or found
        if self.text is None and not is_word_for_no_number(cell):
            self.text = found


def numeric_columns(source: Source, columns: Collection[int], missing: str) -> set[int]:
    """Which of the columns hold numbers alone; the others hold none.

    A column with some cells that are numbers and some that are not is refused, because
    a word for a missing value would make categories of all its numbers.
    """
    seen = {column: _Seen() for column in sorted(columns)}
    block = None
    for block in source.blocks():
        _refuse_nul(block)
        cells = block.columns()
        for column, so_far in seen.items():
            so_far.look(cells[column], block, missing)
            if so_far.is_mixed:
                _refuse_mixed(source, source.header[column], so_far)
    if block is None and seen:
        source.refuse("there are no rows, so nothing says what the columns hold")
    for column, so_far in seen.items():
        _check_seen(source, source.header[column], so_far)
    return {column for column, so_far in seen.items() if so_far.text is None}


def _check_seen(source: Source, name: str, seen: _Seen) -> None:
    if seen.beyond is not None:
        cell, line = seen.beyond
        source.refuse(
            f"column {quoted(name)} holds numbers, but this cell is {why_no_number(cell)}: scale "
            f"the column, or pass nominal=[{quoted(name)}]",
            line,
        )
    if seen.text is None and seen.odd is not None:
        cell, line = seen.odd
        source.refuse(
            f"column {quoted(name)} holds no number, and this cell is {_advised(cell, name)}", line
        )


def _refuse_mixed(source: Source, name: str, seen: _Seen) -> NoReturn:
    assert seen.number is not None
    assert seen.odd is not None
    (number, number_line), (cell, line) = seen.number, seen.odd
    source.refuse(
        f"column {quoted(name)} holds numbers, such as {quoted(number)} in line {number_line}, "
        f"but this cell is {_advised(cell, name)}",
        line,
    )


def _advised(cell: str, name: str) -> str:
    return (
        f"{quoted(cell)}: pass missing={cell!r:.60} if it stands for a missing value, "
        f"or nominal=[{quoted(name)}] if the column holds categories"
    )


def _refuse_nul(block: Block) -> None:
    for row, cells in enumerate(block.rows):
        if "\0" in "".join(cells):
            raise block.error("the line has a NUL character: is this text, in this encoding?", row)


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

    Of the cells of a column that are not missing, either all are numbers, and it is
    numeric, or none is, and it is nominal, with its texts as categories, sorted. A mixture
    is refused: ``NA`` among numbers is a missing value (``missing="NA"``), and codes such
    as 1, 2, 3a are categories (``nominal=[...]``).
    A schema file beside the table (``PATH.schema.json``, as :func:`write_csv`
    leaves it) says all this itself, and the table must fit it.

    Parameters
    ----------
    path : path-like
        The file; one that ends in ``.gz`` is decompressed.
    labels : iterable of str, optional
        The label columns; their cells are 0 or 1 (also 0.0, 1.0, False, True). Needed if
        there is no schema file; if there is one, they must be its labels.
    nominal : iterable of str
        Columns to be nominal although they hold numbers. If all their cells are numbers,
        1 and 1.0 are both the category ``"1"``, as in :func:`labelrules.data.table`,
        and the categories are in order of size; unless one begins with a needless zero,
        such as 007. Then, or if there is other text, the categories are the texts as they are.
    ignore : iterable of str
        Columns to be left out.
    delimiter : str
        What stands between cells.
    missing : str
        The cell that stands for a missing value.
    encoding : str
        Of the file.
    name : str, optional
        Of the data set; the default is that of the schema file or of the table.

    Returns
    -------
    Dataset

    Raises
    ------
    FileError
        If the file is not as it should be; the message begins with file and line.

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
    choice = _Choice(
        checked_names(labels, "labels"),
        checked_names(nominal, "nominal") or (),
        checked_names(ignore, "ignore") or (),
    )
    table = _schema_beside(source.path)
    if table is None:
        plan = _plan_from_names(source, choice, missing)
    else:
        _check_agreement(source, table, choice, missing)
        plan = _plan_from_schema(source, table, choice.ignore)
    data = plan.read(source, name if name is not None else plan.table.name)
    if table is None:
        return data
    return data.without([one for one in choice.ignore if one not in table.schema.label_index])


class _Choice:
    """What the caller says of the columns."""

    def __init__(self, labels: Names | None, nominal: Names, ignore: Names) -> None:
        self.labels, self.nominal, self.ignore = labels, nominal, ignore
        twice = repeated(labels or ())
        if twice:
            raise DataError(f"labels name {quoted(twice[0])} twice")
        for label in labels or ():
            if label in self.nominal or label in self.ignore:
                raise DataError(f"{quoted(label)} is named as a label and as something else")


class _Plan:
    """How the columns that are read, by position, are decoded."""

    def __init__(
        self, features: dict[int, Decoder], labels: dict[int, Decoder], table: Described
    ) -> None:
        self._features, self._labels, self.table = features, labels, table

    def read(self, source: Source, name: str) -> Dataset:
        """Read all rows."""
        parts: list[Any] = []
        boards: list[Board] = [np.empty((0, len(self._labels)), dtype=np.int8)]
        for block in source.blocks():
            columns = block.columns()
            part = _decoded(columns, block, self._features)
            parts.append(sparse.csr_array(part) if self.table.is_sparse else part)
            boards.append(_decoded(columns, block, self._labels).astype(np.int8))
        Y = np.concatenate(boards)
        X: Matrix
        features, X = self._sparse(parts) if self.table.is_sparse else self._dense(parts, len(Y))
        schema = Schema(features, self.table.schema.labels, self.table.schema.parents)
        return Dataset(schema, X, Y, name)

    def _sparse(self, parts: list[Any]) -> tuple[list[Feature], Matrix]:
        empty = sparse.csr_array((0, len(self._features)))
        whole = sparse.csc_array(sparse.vstack([empty, *parts]))
        return [decoder.feature for decoder in self._features.values()], whole

    def _dense(self, parts: list[Any], n_rows: int) -> tuple[list[Feature], Matrix]:
        X = np.empty((n_rows, len(self._features)), order="F")
        stop = n_rows
        while parts:
            part = parts.pop()  # so that each part is freed as soon as it is copied
            X[stop - part.shape[0] : stop] = part
            stop -= part.shape[0]
        decoders = enumerate(self._features.values())
        features = [decoder.finish(X[:, index]) for index, decoder in decoders]
        X.setflags(write=False)
        return features, X


def _decoded(
    columns: Sequence[Sequence[str]], block: Block, decoders: dict[int, Decoder]
) -> Floats:
    matrix = np.empty((len(block.rows), len(decoders)), order="F")
    for index, (column, decoder) in enumerate(decoders.items()):
        matrix[:, index] = decoder.decode(columns[column], block)
    return matrix


def _plan_from_names(source: Source, choice: _Choice, missing: str) -> _Plan:
    if choice.labels is None:
        source.refuse(
            "which columns are labels? Pass labels=[...], or put the schema file "
            f"{schema_path(source.path).name} beside it, as write_csv does{source.other_delimiter}"
        )
    labels: dict[int, Decoder] = {source.column(name): Labels(name) for name in choice.labels}
    ignored = {source.column(name) for name in choice.ignore}
    nominal = {source.column(name) for name in choice.nominal}
    chosen = [c for c in range(len(source.header)) if c not in labels and c not in ignored]
    numeric = numeric_columns(source, [c for c in chosen if c not in nominal], missing)
    features: dict[int, Decoder] = {}
    for column in chosen:
        name = source.header[column]
        is_numeric = column in numeric
        features[column] = (
            Numbers(Feature(name), missing) if is_numeric else FoundCategories(name, missing)
        )
    schema = Schema([Feature(source.header[column]) for column in chosen], choice.labels)
    return _Plan(features, labels, Described(schema, False, missing, _stem(source.path)))


def _plan_from_schema(source: Source, table: Described, ignored: Names) -> _Plan:
    known = table.schema.feature_index.keys() | table.schema.label_index.keys()
    extra = [name for name in source.header if name not in known]
    if extra:
        source.refuse(f"column {quoted(extra[0])} is not in the schema file", 1)
    table = without_labels(table, ignored)
    schema = table.schema
    features: dict[int, Decoder] = {}
    for feature in schema.features:
        decoder = Numbers if feature.is_numeric else KnownCategories
        features[source.column(feature.name)] = decoder(feature, table.missing)
    labels: dict[int, Decoder] = {source.column(name): Labels(name) for name in schema.labels}
    return _Plan(features, labels, table)


def _schema_beside(path: Path) -> Described | None:
    beside = schema_path(path)
    if not beside.exists():
        return None

    def refuse(message: str, line: int | None) -> NoReturn:
        raise FileError(message, beside, line) from None

    with opened_utf8(beside) as file:
        return from_json(file.read(), refuse)


def _check_agreement(source: Source, table: Described, choice: _Choice, missing: str) -> None:
    """What the caller says must be what the schema file says."""
    beside = schema_path(source.path).name
    schema = table.schema
    if choice.labels is not None and choice.labels != schema.labels:
        source.refuse(f"labels= are not the labels in {beside}: leave labels out, or remove it")
    nominal = {feature.name for feature in schema.features if feature.is_nominal}
    for name in choice.nominal:
        source.column(name)
        if name not in nominal:
            source.refuse(f"column {quoted(name)} is not nominal in {beside}: remove one of them")
    if missing not in ("", table.missing):
        source.refuse(f"missing={missing!r}, but {beside} says {table.missing!r}")


def _stem(path: Path) -> str:
    name = path.name
    for ending in (".gz", ".csv", ".tsv", ".txt"):
        name = name.removesuffix(ending)
    return name


_CELLS_WRITTEN_AT_ONCE = 1 << 18
_PLAIN = re.compile(r"[\w .:+-]+", re.ASCII)


def write_csv(data: Dataset, path: str | Path) -> None:
    """Write a data set as CSV, with a schema file beside it.

    ``PATH.schema.json`` holds what the table does not say (kinds, categories and their
    order, labels and their hierarchy, whether X is sparse, what stands for a missing
    value), so that :func:`read_csv` gives back the same data set. Features come first, then
    labels as 0 and 1; numbers are written so that they read back as the same numbers.

    Parameters
    ----------
    data : Dataset
    path : path-like
        The table; one that ends in ``.gz`` is compressed. A file that is there already is
        replaced, once the new one is complete. What is there and is no file, such as a pipe, is
        written into, without a schema file.

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
    table = described(data)
    with ExitStack() as stack:
        if not is_stream(target):  # beside which there is no place for a file
            schema_file = stack.enter_context(replacing(schema_path(target)))
            with written_text(schema_file, schema_path(target)) as file:
                file.write(to_json(table))
        table_file = stack.enter_context(replacing(target))
        with written_text(table_file, target) as file:
            file.writelines(csv_lines(data, table))


def csv_lines(data: Dataset, table: Described) -> Iterator[str]:
    """The lines of the table, the names first."""
    schema = data.schema
    # a name is quoted, so that a byte order mark at its start is not one of the file
    yield ",".join(_in_quotes(name) for name in (*schema.feature_names, *schema.labels)) + "\n"
    missing = _cell_text(table.missing) if schema.n_features + schema.n_labels > 1 else '""'
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    size = max(1, _CELLS_WRITTEN_AT_ONCE // (schema.n_features + schema.n_labels))
    for start in range(0, data.n_rows, size):
        part = X[start : start + size]
        values = part.toarray() if sparse.issparse(part) else part
        columns = [
            _texts(values[:, index], feature, missing)
            for index, feature in enumerate(schema.features)
        ]
        columns += [list(map(str, column)) for column in data.Y[start : start + size].T.tolist()]
        yield from (",".join(row) + "\n" for row in zip(*columns, strict=True))


def _texts(values: Floats, feature: Feature, missing: str) -> Sequence[str]:
    if feature.categories is None:
        return [missing if value != value else repr(value) for value in values.tolist()]
    cells = [*map(_cell_text, feature.categories), missing]
    codes = np.where(np.isnan(values), len(cells) - 1, values).astype(np.intp)
    return [cells[code] for code in codes.tolist()]


def _cell_text(text: str) -> str:
    return text if not text or _PLAIN.fullmatch(text) else _in_quotes(text)


def _in_quotes(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
