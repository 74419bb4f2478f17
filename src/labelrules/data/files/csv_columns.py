"""Columns of a CSV file: cells become numbers, or codes of categories, block by block."""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple, NoReturn

import numpy as np

from labelrules._checks import quoted, suggestion
from labelrules._types import Floats, Integers, Mask
from labelrules.data.files.csv_records import Rows, Source
from labelrules.data.files.plain_csv import UNSEEN, PlainRows, WordTable
from labelrules.data.memory.columns import (
    floats_of,
    numbers_of,
    plain_numbers,
    read_objects,
    sorts_of,
    time_column,
    why_no_number,
)
from labelrules.data.schema import Feature
from labelrules.data.times import example_of, read_time, times_of

_NUL = "the line has a NUL character: is this text, in this encoding?"


class PlacedCells(NamedTuple):
    """Some cells of a column, and where they are."""

    texts: Sequence[str]
    lines: Sequence[int]
    source: Source

    @classmethod
    def of(
        cls, rows: Rows, column: int, source: Source, some: Integers | None = None
    ) -> "PlacedCells":
        """All cells of a column, or those of some rows."""
        return cls(rows.cells(column, some), rows.lines(some), source)

    def refuse(self, text: str, why: str) -> NoReturn:
        """Raise an error that names the place of the first cell with this text."""
        self.source.refuse(why, self.lines[self.texts.index(text)])


class NumericColumn:
    """Decodes a column of numbers."""

    reads_numbers = True
    """Whether plain rows are to be read as numbers first."""

    def __init__(self, feature: Feature, missing: str) -> None:
        self.feature, self.missing = feature, missing

    def decode(self, cells: PlacedCells) -> Floats:
        """The numbers in some cells."""
        numbers = plain_numbers(cells.texts, self.missing)
        if numbers is not None:
            return numbers
        for cell in cells.texts:
            if cell != self.missing and (why := why_no_number(cell)):
                name = quoted(self.feature.name)
                cells.refuse(cell, f"column {name} holds numbers, but this cell is {why}")
        return floats_of(cells.texts, self.missing)

    def decode_rows(self, rows: Rows, column: int, source: Source) -> Floats:
        """The values of all rows of a block."""
        return self.decode(PlacedCells.of(rows, column, source))

    def complete(
        self, values: Floats, sound: Mask, rows: PlainRows, column: int, source: Source
    ) -> Floats:
        """Numbers that were read at once, of which only some are beyond doubt."""
        if not sound.all():
            others = np.flatnonzero(~sound)
            values[others] = self.decode(PlacedCells.of(rows, column, source, others))
        return values

    def finish(self, values: Floats, source: Source) -> Feature:
        """The feature, when all cells are decoded; codes may be put in order, in place."""
        return self.feature


class _NewCodes(dict[str, float]):
    """Codes for texts in the order in which they are found, after that of the missing value."""

    def __missing__(self, text: str) -> float:
        if "\0" in text:
            raise KeyError(text)
        self[text] = float(len(self) - 1)
        return self[text]


class NominalColumn(NumericColumn):
    """Decodes a column of texts: categories, declared or found, or a label."""

    reads_numbers = False
    may_be_times = False
    """Whether texts that are all dates or times in ISO 8601 are read as such."""

    def __init__(
        self, feature: Feature, missing: str, codes: dict[str, float] | None = None
    ) -> None:
        super().__init__(feature, missing)
        self._codes = _NewCodes({missing: nan}) if codes is None else codes
        self._words = WordTable()

    def decode(self, cells: PlacedCells) -> Floats:
        """The codes of some cells."""
        texts = cells.texts
        try:
            return np.fromiter(map(self._codes.__getitem__, texts), np.float64, len(texts))
        except KeyError as unknown:
            text = unknown.args[0]
        return cells.refuse(text, self._why(text))

    def decode_rows(self, rows: Rows, column: int, source: Source) -> Floats:
        """The codes of all rows of a block; of plain ones, only new words are looked at."""
        if not isinstance(rows, PlainRows):
            return super().decode_rows(rows, column, source)
        first, second, are_long = rows.words(column)
        codes = self._words.find(first, second)
        codes[are_long] = UNSEEN
        unseen = np.flatnonzero(codes == UNSEEN)
        if len(unseen):
            codes[unseen] = self.decode(PlacedCells.of(rows, column, source, unseen))
            short = unseen[~are_long[unseen]]
            self._words.add(first[short], second[short], codes[short])
        return codes

    def _why(self, text: str) -> str:
        if isinstance(self._codes, _NewCodes):
            return _NUL
        if self.feature.categories is None:
            label = f"label {quoted(self.feature.name)} is {quoted(text)}"
            return f"{label}: a label is 0 or 1, or missing if it is unknown"
        known = f"column {quoted(self.feature.name)} has the unknown category {quoted(text)}"
        return known + suggestion(text, self.feature.categories)

    def finish(self, values: Floats, source: Source) -> Feature:
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


class TimeColumn(NumericColumn):
    """Decodes a column of dates, times or durations."""

    reads_numbers = False

    def decode(self, cells: PlacedCells) -> Floats:
        """The numbers of some cells."""
        kind = self.feature.time
        assert kind is not None, "other columns have other decoders"
        numbers: dict[str, float] = {self.missing: nan}
        for cell in dict.fromkeys(cells.texts):
            if cell not in numbers:
                number = read_time(cell, kind)
                if number is None:
                    name, wanted = quoted(self.feature.name), example_of(kind)
                    why = f"column {name} must hold {wanted}, but this cell is {cell!r:.60}"
                    cells.refuse(cell, why)
                numbers[cell] = float(number)
        return np.array([numbers[cell] for cell in cells.texts], dtype=np.float64)


class UndeclaredColumn(NominalColumn):
    """Decodes a column that is numeric if all its cells are numbers, nominal if none is.

    A mixture is an error: a word for a missing value would turn all numbers into categories.
    """

    may_be_times = True

    def __init__(self, feature: Feature, missing: str) -> None:
        super().__init__(feature, missing)
        self._seen = {missing}
        # the first cell of each sort; a text is neither a number nor nan nor inf
        self._first: dict[str, tuple[str, int, Source]] = {}

    @property
    def reads_numbers(self) -> bool:  # type: ignore[override]
        """Whether no cell is known yet that is no number."""
        return "other" not in self._first

    def complete(
        self, values: Floats, sound: Mask, rows: PlainRows, column: int, source: Source
    ) -> Floats:
        """Numbers that were read at once, of which only some are beyond doubt."""
        if "number" in self._first:
            return super().complete(values, sound, rows, column, source)
        if not sound.all():
            return self.decode_rows(rows, column, source)
        known = np.flatnonzero(~np.isnan(values))[:1]
        self._look(PlacedCells.of(rows, column, source, known), True)
        return values

    def decode(self, cells: PlacedCells) -> Floats:
        """The numbers or codes of some cells."""
        numbers = plain_numbers(cells.texts, self.missing)
        if numbers is None or "number" not in self._first:
            self._look(cells, numbers is not None)
        if {"number", "other"} <= self._first.keys():
            number, line, source = self._first["number"]
            there = "" if source is self._first["other"][2] else f" of {source.path}"
            self._refuse(f"holds numbers, such as {quoted(number)} in line {line}{there}, but")
        if numbers is not None:
            return numbers
        if "other" in self._first:
            return super().decode(cells)
        return floats_of(cells.texts, self.missing)

    def _look(self, cells: PlacedCells, are_plain: bool) -> None:
        """Note the first cell of each sort; of plain numbers one is enough."""
        for cell in dict.fromkeys(cells.texts):
            if cell not in self._seen:
                self._seen.add(cell)
                if "\0" in cell:
                    cells.refuse(cell, _NUL)
                for sort in sorts_of(cell):
                    if sort not in self._first:
                        line = cells.lines[cells.texts.index(cell)]
                        self._first[sort] = (cell, line, cells.source)
                if are_plain:
                    return

    def finish(self, values: Floats, source: Source) -> Feature:
        """The feature of the kind that was found."""
        if not len(values):
            source.refuse("there are no rows, so the kinds of the columns are unknown")
        if "beyond" in self._first:
            (cell, line, source), name = self._first["beyond"], quoted(self.feature.name)
            source.refuse(
                f"column {name} holds numbers, but this cell is {why_no_number(cell)}: "
                f"scale the column, or pass nominal=[{name}]",
                line,
            )
        if "other" in self._first and "text" not in self._first:
            self._refuse("holds no number, and")
        return super().finish(values, source) if "text" in self._first else self.feature

    def _refuse(self, holds: str) -> NoReturn:
        (cell, line, source), name = self._first["other"], quoted(self.feature.name)
        source.refuse(
            f"column {name} {holds} this cell is {quoted(cell)}: pass missing={cell!r:.60} if it "
            f"stands for a missing value, or nominal=[{name}] if the column holds categories",
            line,
        )
