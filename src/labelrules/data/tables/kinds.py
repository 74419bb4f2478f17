"""Which columns of a CSV file hold numbers and which hold categories."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NoReturn

from labelrules.data.errors import quoted
from labelrules.data.tables.cells import (
    is_word_for_no_number,
    looks_like_number,
    plain_numbers,
    why_no_number,
)
from labelrules.data.tables.csv_records import Block, Source

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
        _check(source, source.header[column], so_far)
    return {column for column, so_far in seen.items() if so_far.text is None}


def _check(source: Source, name: str, seen: _Seen) -> None:
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
