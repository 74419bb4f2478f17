"""The records of a CSV file, by the standard `csv` module, in blocks of rows."""

import csv
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

from labelrules._checks import quoted, suggestion
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.access import opened_text
from labelrules.data.schema import repeated

_CELLS_AT_ONCE = 1 << 19
_DELIMITERS = (";", "\t", "|", ",")
_WRONG = (
    ("unexpected end of data", "a quote is opened but never closed"),
    ("larger than field limit", "a cell has more than {} characters: is a quote not closed?"),
    ("expected", "there is text after a closing quote: double the quotes inside a quoted cell"),
)
"""Messages of the csv module, and our words for them."""


class Block(NamedTuple):
    """Some rows of a file, column by column, and the line where each row begins."""

    columns: list[tuple[str, ...]]
    lines: list[int]


class Source:
    """The records of a CSV file; the header line is read and checked at once."""

    def __init__(self, path: Path, delimiter: str, encoding: str) -> None:
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
            raise DataError(f"delimiter is {delimiter!r}: give one character, such as ',' or ';'")
        self.path, self._delimiter, self._encoding = path, delimiter, encoding
        self.header = self._read_header()

    def refuse(self, message: str, line: int | None = None) -> NoReturn:
        """Raise an error that names the file."""
        raise FileError(message, self.path, line) from None

    def column(self, name: str) -> int:
        """The position of a column."""
        if name not in self.header:
            close = suggestion(str(name), self.header)
            self.refuse(f"there is no column {quoted(name)}{self.other_delimiter or close}", 1)
        return self.header.index(name)

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
        with closing(self._rows()) as rows:
            return next(rows, None) is None

    def blocks(self) -> Iterator[Block]:
        """The rows, a block at a time."""
        with closing(self._rows()) as rows:
            size = max(1, _CELLS_AT_ONCE // len(self.header))
            while some := list(islice(rows, size)):
                columns = list(zip(*(row for _, row in some), strict=True))
                yield Block(columns, [line for line, _ in some])

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
                text = str(wrong)
                text = next((ours for theirs, ours in _WRONG if theirs in text), text)
                self.refuse(text.replace("{}", str(csv.field_size_limit())), line)

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
