"""The text of cells, column by column: what it says and what is wrong with it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from math import nan
from typing import NoReturn

import numpy as np

from labelrules._types import Floats
from labelrules.data.errors import quoted, suggestion
from labelrules.data.schema import Feature
from labelrules.data.tables.csv_records import Block, Source

_BLANKS = r"[\s\x1c-\x1f]*"  # what float() strips
_NUMBER = re.compile(rf"{_BLANKS}[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?{_BLANKS}", re.ASCII)
_NOT_FINITE = re.compile(rf"{_BLANKS}[+-]?(nan|inf(inity)?){_BLANKS}", re.ASCII | re.IGNORECASE)
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
            if cell != self.missing and not _is_finite_number(cell):
                raise block.error(
                    f"column {quoted(self.feature.name)} holds numbers, but this cell is "
                    f"{quoted(cell)}",
                    row,
                )
        return _numbers(cells, self.missing)


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
    """A nominal column whose categories are what its cells say."""

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
        """The feature with its categories sorted, and the codes with them."""
        texts = sorted(self._code_of)
        place = np.empty(len(texts))
        place[[int(self._code_of[text]) for text in texts]] = np.arange(len(texts))
        known = ~np.isnan(codes)
        codes[known] = place[codes[known].astype(np.intp)]
        return Feature(self.feature.name, tuple(texts))


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
        numbers = _numbers(cells, missing)
    except ValueError:
        return None
    text = "".join(cells)
    # float() also takes digits of other scripts, underscores, and words such as "nan"
    if "_" in text or not text.isascii() or np.isinf(numbers).any():
        return None
    return numbers if np.isnan(numbers).sum() == cells.count(missing) else None


def numeric_columns(source: Source, columns: Collection[int], missing: str) -> set[int]:
    """Which of the columns hold nothing but numbers, by all their cells."""
    numeric = set(columns)
    not_finite: dict[int, tuple[Block, int]] = {}
    block = None
    for block in source.blocks():
        _refuse_nul(block)
        cells = block.columns()
        for column in sorted(numeric):
            if plain_numbers(cells[column], missing) is not None:
                continue
            odd = [row for row, cell in enumerate(cells[column]) if _is_odd(cell, missing)]
            if any(not _is_not_finite(cells[column][row]) for row in odd):
                numeric.discard(column)
            elif odd:
                not_finite.setdefault(column, (block, odd[0]))
    if block is None:
        source.refuse("there are no rows, so nothing says what the columns hold")
    for column in sorted(numeric & not_finite.keys()):
        _refuse_not_finite(source.header[column], column, *not_finite[column])
    return numeric


def _refuse_not_finite(name: str, column: int, block: Block, row: int) -> NoReturn:
    cell = block.rows[row][column]
    raise block.error(
        f"column {quoted(name)} holds numbers, but this cell is {quoted(cell)}: pass "
        f"missing={cell!r} if it stands for a missing value, or nominal=[{quoted(name)}]",
        row,
    )


def _refuse_nul(block: Block) -> None:
    for row, cells in enumerate(block.rows):
        if "\0" in "".join(cells):
            raise block.error("the line has a NUL character: is this text, in this encoding?", row)


def _numbers(cells: Sequence[str], missing: str) -> Floats:
    return np.array([nan if cell == missing else float(cell) for cell in cells], dtype=np.float64)


def _is_odd(cell: str, missing: str) -> bool:
    return cell != missing and not _is_finite_number(cell)


def _is_finite_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None and bool(np.isfinite(float(cell)))


def _is_not_finite(cell: str) -> bool:
    """A word for no number, or a number too large to be one."""
    return _NOT_FINITE.fullmatch(cell) is not None or _NUMBER.fullmatch(cell) is not None
