"""The rows of a CSV file, by Arrow, or with care by the standard `csv` module."""

import codecs
import csv
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

from labelrules._checks import quoted, suggestion
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.access import UTF8, codec_name
from labelrules.data.files.arrow import (
    MANY_COLUMNS,
    CellRows,
    CellTexts,
    WantedColumns,
    text_words,
)
from labelrules.data.files.text_blocks import LONGEST_LINE, TextBlock, count_line_ends, raw_blocks
from labelrules.data.schema import repeated

_BYTES_AT_ONCE = 3 << 19
_BYTES_AT_FIRST = 1 << 16  # which show what the columns hold
_BYTES_OF_A_COLUMN = 64  # in a block, so that each column gives some cells
_CELLS_AT_ONCE = 1 << 19
_DELIMITERS = (";", "\t", "|", ",")
_WRONG = (
    ("unexpected end of data", "a quote is opened but never closed"),
    ("larger than field limit", "a cell has more than {} characters: is a quote not closed?"),
    ("expected", "there is text after a closing quote: double the quotes inside a quoted cell"),
)
"""Messages of the csv module, and our words for them."""


class TextRows(NamedTuple):
    """Some rows of a file, column by column, and the line where each row begins."""

    columns: list[tuple[str, ...]]
    row_lines: list[int]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.row_lines)

    def numbers(self, place: int) -> None:
        """Nothing: the cells are given as text."""

    def words(self, place: int) -> CellTexts:
        """The cells of a column as text."""
        return text_words(self.columns[place])


class _Lines:
    """The lines of a block, and of the blocks after it while the record goes on."""

    def __init__(self, source: "Source", block: TextBlock, more: Iterator[TextBlock]) -> None:
        self._source, self._more = source, more
        self._lines = StringIO(block.data.decode(), newline="")
        self.next_line, self._next_text = block.first_line, self._lines.readline()
        self._record_line, self._n_characters = block.first_line, 0

    @property
    def is_over(self) -> bool:
        """Whether the block has no further line."""
        return not self._next_text

    def begin_record(self) -> int:
        """The next line, which begins a record; this may not be endless."""
        self._record_line, self._n_characters = self.next_line, 0
        return self.next_line

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.is_over:
            self._lines = StringIO(next(self._more).data.decode(), newline="")
            self._next_text = self._lines.readline()
        text = self._next_text
        self._n_characters += len(text)
        if self._n_characters > LONGEST_LINE:
            message = f"the row has more than {LONGEST_LINE:,} characters: is a quote not closed?"
            self._source.refuse(message, self._record_line)
        self.next_line += 1
        self._next_text = self._lines.readline()
        return text


class Source:
    """The rows of a CSV file; the header line is read and checked at once."""

    def __init__(self, path: Path, delimiter: str, encoding: str) -> None:
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
            raise DataError(f"delimiter is {delimiter!r}: give one character, such as ',' or ';'")
        self.path, self._delimiter, self._encoding = path, delimiter, encoding
        self.header: list[str] = []
        self._first_line = 1
        with closing(self._blocks()) as blocks:
            for block in islice(blocks, 1):
                lines = _Lines(self, block, blocks)
                _, self.header = next(self._records(lines))
                self._first_line = lines.next_line
        self._check_header()

    def refuse(self, message: str, line: int | None = None) -> NoReturn:
        """Raise an error that names the file."""
        raise FileError(message, self.path, line) from None

    def column(self, name: str) -> int:
        """The position of a column."""
        if name not in self._places:
            close = suggestion(str(name), self.header)
            self.refuse(f"there is no column {quoted(name)}{self.other_delimiter or close}", 1)
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.header)}

    @property
    def other_delimiter(self) -> str:
        """A hint if the header seems to have another delimiter; else an empty text."""
        header = self.header[0]
        sign = max(_DELIMITERS, key=header.count)
        if len(self.header) > 1 or sign not in header or sign == self._delimiter:
            return ""
        return f": the header is one cell, {quoted(header)}; perhaps pass delimiter={sign!r}"

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but the header."""
        with closing(self.text_rows()) as rows:
            return next(rows, None) is None

    def rows(self, wanted: WantedColumns) -> Generator[CellRows, None, None]:
        """The rows, a block at a time; with care where Arrow would read them in another way."""
        empty = _EmptyLines(self)
        with closing(self._blocks()) as blocks:
            for block in blocks:
                kept = _without_empty_end(block)
                rows = wanted.rows_of(kept.data, kept.n_lines)
                if rows is None:
                    yield from self._text_rows(_Lines(self, block, blocks), empty)
                    continue
                empty.refuse()
                if kept is not block:
                    empty.note(kept.first_line + kept.n_lines)
                yield rows

    def text_rows(self) -> Generator[TextRows, None, None]:
        """The rows with their lines, all read with care."""
        empty = _EmptyLines(self)
        with closing(self._blocks()) as blocks:
            for block in blocks:
                yield from self._text_rows(_Lines(self, block, blocks), empty)

    def wanted(
        self,
        missing: str,
        places: Sequence[int],
        numeric: Callable[[], list[int]],
        varied: Callable[[], list[int]],
    ) -> WantedColumns:
        """Some columns of the file, by their places; see `WantedColumns`."""
        return WantedColumns(self.header, self._delimiter, missing, places, numeric, varied)

    def _text_rows(self, lines: _Lines, empty: "_EmptyLines") -> Iterator[TextRows]:
        """The rows that begin in the block of these lines, some at a time."""
        size = max(1, _CELLS_AT_ONCE // len(self.header))
        full = self._full_rows(lines, empty)
        while some := list(islice(full, size)):
            columns = list(zip(*(row for _, row in some), strict=True))
            yield TextRows(columns, [line for line, _ in some])

    def _full_rows(self, lines: _Lines, empty: "_EmptyLines") -> Iterator[tuple[int, list[str]]]:
        for line, row in self._records(lines):
            if not row:
                empty.note(line)
                continue
            empty.refuse()
            if len(row) != len(self.header):
                but = f"but the header has {len(self.header)}{self.other_delimiter}"
                self.refuse(f"{len(row)} cells, {but}", line)
            yield line, row

    def _records(self, lines: _Lines) -> Iterator[tuple[int, list[str]]]:
        """The records that begin in the block of these lines, and where."""
        reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
        while not lines.is_over:
            line = lines.begin_record()
            try:
                yield line, next(reader)
            except csv.Error as wrong:
                text = str(wrong)
                text = next((ours for theirs, ours in _WRONG if theirs in text), text)
                self.refuse(text.replace("{}", str(csv.field_size_limit())), line)

    def _blocks(self) -> Generator[TextBlock, None, None]:
        """The lines after the header, once that is known."""
        is_utf8 = codec_name(self._encoding) in UTF8
        are_many = len(self.header) >= MANY_COLUMNS
        size = max(_BYTES_AT_ONCE, _BYTES_OF_A_COLUMN * len(self.header) * are_many)
        with closing(raw_blocks(self.path, self._encoding, size, _BYTES_AT_FIRST)) as blocks:
            for line, raw, n_lines in blocks:
                # a byte order mark is not part of the first name
                data = raw.removeprefix(codecs.BOM_UTF8) if line == 1 and is_utf8 else raw
                n_before = max(0, self._first_line - line)
                rest = _without_lines(data, n_before)
                if rest:
                    yield TextBlock(line + n_before, rest, n_lines - n_before)

    def _check_header(self) -> None:
        if not self.header:
            self.refuse("the file is empty: a header line with the column names is needed")
        for position, name in enumerate(self.header, start=1):
            if not name:
                self.refuse(f"column {position} has no name", 1)
        twice = repeated(self.header)
        if twice:
            self.refuse(f"two columns are called {quoted(twice[0])}: rename one of them", 1)


class _EmptyLines:
    """The first empty line: harmless at the end of a file, but a lost row elsewhere."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._first: int | None = None

    def note(self, line: int) -> None:
        """Note an empty line."""
        self._first = self._first or line

    def refuse(self) -> None:
        """Refuse an empty line, since a row follows it."""
        if self._first is not None:
            self._source.refuse("the line is empty", self._first)


def _without_empty_end(block: TextBlock) -> TextBlock:
    """Leave out empty lines at the end."""
    if not block.data.endswith((b"\n\n", b"\n\r\n", b"\r\r")):
        return block
    data = block.data.rstrip(b"\r\n") + b"\n"
    return TextBlock(block.first_line, data, count_line_ends(data))


def _without_lines(data: bytes, n_lines: int) -> bytes:
    """What follows the first lines."""
    if n_lines <= 0:
        return data
    text = StringIO(data.decode(), newline="")
    for _ in range(n_lines):
        text.readline()
    return text.read().encode()
