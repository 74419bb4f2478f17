"""The text of cells, column by column: what it says and what is wrong with it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from math import nan

import numpy as np

from labelrules._types import Floats
from labelrules.data.columns import LARGEST_EXACT, is_rounded, text_of, whole_number
from labelrules.data.errors import quoted, suggestion
from labelrules.data.schema import Feature
from labelrules.data.tables.csv_records import Block

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
        numbers = _numbers(cells, missing)
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


def _numbers(cells: Sequence[str], missing: str) -> Floats:
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
