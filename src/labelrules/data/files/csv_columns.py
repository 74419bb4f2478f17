"""Columns of a CSV file: cells become numbers, or codes of categories, block by block."""

from collections.abc import Container, Sequence
from functools import cached_property
from math import nan
from typing import NamedTuple, NoReturn

import numpy as np

from labelrules._checks import quoted, suggestion
from labelrules._types import Floats, Integers, Mask
from labelrules.data.files.csv_records import Rows, Source
from labelrules.data.files.plain_csv import UNSEEN, Bytes, PlainRows, WordTable
from labelrules.data.files.spelled_cells import (
    Spelled,
    SpelledTexts,
    are_equal,
    are_surely_words,
    spelled,
    spelled_texts,
    spelled_times,
)
from labelrules.data.memory.columns import (
    EncodedColumn,
    floats_of,
    numbers_of,
    plain_numbers,
    read_objects,
    sorts_of,
    time_column,
    why_no_number,
)
from labelrules.data.schema import Feature, Kind
from labelrules.data.times import DAY, example_of, read_time, times_of

_SOME = 64
"""Of fewer rows, as a block of a wide table has, all cells are read one by one."""

_FEW = 256
"""So many new cells of a block are read one by one; if further ones are new, they are spelled."""

_MANY = 1 << 16
"""Of so many different texts of a column no code is kept while its kind is found."""

_LONGEST_SPELLED = 64
"""Bytes of a cell that is read together with others, each of which takes as many."""

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

    def scan(self) -> None:
        """Before the first cell: only the kind and the categories shall be found."""

    def count_texts(self) -> int:
        """While kinds are found: how many different texts are kept, in little memory."""
        return 0

    def found(self, n_rows: int, source: Source) -> "NumericColumn":
        """A decoder of the feature that was found in all rows, when all cells are decoded."""
        return self


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
        if codes is not None:
            self._codes = codes
        self._are_varied = False  # whether most cells of a block were new

    # What follows is made when it is needed: a wide table has many columns of numbers.

    @cached_property
    def _codes(self) -> dict[str, float]:
        return _NewCodes({self.missing: nan})

    @cached_property
    def _letters(self) -> Floats:
        return np.full(256, UNSEEN)

    @cached_property
    def _words(self) -> WordTable:
        return WordTable()

    @cached_property
    def _spelled(self) -> SpelledTexts:
        return SpelledTexts()

    def decode(self, cells: PlacedCells) -> Floats:
        """The codes of some cells."""
        texts = cells.texts
        try:
            return np.fromiter(map(self._codes.__getitem__, texts), np.float64, len(texts))
        except KeyError as unknown:
            text = unknown.args[0]
        return cells.refuse(text, self._why(text))

    def decode_rows(self, rows: Rows, column: int, source: Source) -> Floats:
        """The codes of all rows of a block; of many plain ones, only new words are looked at."""
        if not isinstance(rows, PlainRows) or rows.n_rows < _SOME:
            return super().decode_rows(rows, column, source)
        letters = rows.letters(column)
        if letters is not None:
            return self._decode_letters(letters, rows, column, source)
        codes: Floats = np.full(rows.n_rows, UNSEEN)
        unseen = np.arange(rows.n_rows)
        if not self._are_varied:
            unseen = self._find(codes, rows, column, source)
        if len(unseen):
            self._are_varied = self.may_spell and 2 * len(unseen) > rows.n_rows
            unseen = self._spell(codes, unseen, rows, column)
            codes[unseen] = self.decode(PlacedCells.of(rows, column, source, unseen))
        return codes

    def _decode_letters(
        self, letters: Bytes, rows: PlainRows, column: int, source: Source
    ) -> Floats:
        """The codes of cells of one byte; new ones are looked at once."""
        codes = self._letters[letters]
        unseen = np.flatnonzero(codes == UNSEEN)
        if not len(unseen):
            return codes
        _, places = np.unique(letters[unseen], return_index=True)
        new = np.sort(unseen[places])
        self._letters[letters[new]] = self.decode(PlacedCells.of(rows, column, source, new))
        return self._letters[letters]

    def _find(self, codes: Floats, rows: PlainRows, column: int, source: Source) -> Integers:
        """Set the codes of known words and of a few new ones; the rows of the others."""
        first, second, are_long = rows.words(column)
        short = np.flatnonzero(~are_long)
        codes[short] = self._words.find(first[short], second[short])
        unseen = np.flatnonzero(codes == UNSEEN)
        some, unseen = unseen[:_FEW], unseen[_FEW:]
        if len(some):
            codes[some] = self.decode(PlacedCells.of(rows, column, source, some))
            short = some[~are_long[some]]
            self._words.add(first[short], second[short], codes[short])
            short = unseen[~are_long[unseen]]
            codes[short] = self._words.find(first[short], second[short])
        rest: Integers = unseen[codes[unseen] == UNSEEN]
        return rest

    @property
    def may_spell(self) -> bool:
        """Whether cells that are surely words may be kept as they are."""
        return isinstance(self._codes, _NewCodes)

    def _spell(self, codes: Floats, unseen: Integers, rows: PlainRows, column: int) -> Integers:
        """Set the codes of cells to numbers below 0, as they are kept; the rows of the others."""
        if not self.may_spell:
            return unseen
        is_short = rows.lengths(column, unseen) <= _LONGEST_SPELLED
        chosen = unseen[is_short]
        cells = rows.spelled(column, chosen)
        is_missing = are_equal(cells, self.missing)
        is_kept = self._are_words(cells) & ~is_missing
        codes[chosen[is_missing]] = nan
        codes[chosen[is_kept]] = -1.0 - self._spelled.add(cells[is_kept])
        is_left = ~is_short
        is_left[is_short] = ~(is_kept | is_missing)
        return unseen[is_left]

    def _are_words(self, cells: Spelled) -> Mask:
        """Which cells are texts for certain; here all are."""
        return np.ones(len(cells), dtype=np.bool_)

    def _why(self, text: str) -> str:
        if isinstance(self._codes, _NewCodes):
            return _NUL
        if self.feature.categories is None:
            label = f"label {quoted(self.feature.name)} is {quoted(text)}"
            return f"{label}: a label is 0 or 1, or missing if it is unknown"
        known = f"column {quoted(self.feature.name)} has the unknown category {quoted(text)}"
        return known + suggestion(text, self.feature.categories)

    def scan(self) -> None:
        """Keep no numbers of rows."""
        self._spelled.keeps_numbers = False

    def count_texts(self) -> int:
        """How many different texts are kept; many are kept together, since they may be times."""
        if len(self._codes) > _MANY and isinstance(self._codes, _NewCodes):
            texts = list(self._codes)[1:]
            if max(len(text.encode()) for text in texts) <= _LONGEST_SPELLED:
                self._spelled.add(spelled(texts))
                self._codes = _NewCodes({self.missing: nan})
        return len(self._codes) + self._spelled.n_different

    def found(self, n_rows: int, source: Source) -> NumericColumn:
        """A decoder of these categories, or of the dates or times that all texts are."""
        if not isinstance(self._codes, _NewCodes):
            return self
        texts = [*list(self._codes)[1:], *spelled_texts(self._spelled.different())]
        column, name = self._column_of(texts), self.feature.name
        if column.categories is not None and self._spelled.are_few_of_many:
            source.refuse(
                f"column {quoted(name)} holds many different dates or times, but also other texts: "
                f"pass missing= for a text that stands for a missing value, or ignore=[{name!r}]"
            )
        if column.categories is None:
            kind: Kind = "UTC time" if column.kind == "UTC time" else "time"
            are_days = column.kind == "date"
            return (DayColumn if are_days else TimeColumn)(Feature(name, kind=kind), self.missing)
        codes = dict(zip(texts, column.values.tolist(), strict=True)) | {self.missing: nan}
        return NominalColumn(column.feature(name), self.missing, codes)

    def finish(self, values: Floats, source: Source) -> Feature:
        """Put categories that were found in order: numbers by size, or else texts."""
        if not isinstance(self._codes, _NewCodes):
            return self.feature
        texts = list(self._codes)[1:]
        if "_spelled" not in self.__dict__ or self._spelled.is_empty:
            column = self._column_of(texts)
            numbers = column.values
        elif max(map(len, texts), default=0) > _LONGEST_SPELLED:
            cells, places = self._spelled.cells()
            column = self._column_of(texts + spelled_texts(cells))
            listed, others = np.split(column.values, [len(texts)])
            numbers = np.concatenate([listed, others[places][::-1]])
        else:
            own = self._spelled.add(spelled(texts))
            column = self._column_of_spelled()
            numbers = np.concatenate([column.values[own], column.values[::-1]])
        _replace_codes(values, numbers)
        return column.feature(self.feature.name)

    def _column_of(self, texts: list[str]) -> EncodedColumn:
        """Dates or times or codes of categories, for some texts."""
        if self.may_be_times and (times := times_of(texts)) is not None:
            return time_column(np.array(times[0], dtype=np.float64), times[1], nominal=False)
        return read_objects(numbers_of(texts) or texts, self.feature.name, nominal=True)

    def _column_of_spelled(self) -> EncodedColumn:
        """The same for the spelled cells, of which the different ones are already in order."""
        if self.may_be_times and (times := self._spelled.all_times()) is not None:
            return time_column(times[0].astype(np.float64), times[1], nominal=False)
        cells, places = self._spelled.cells()
        texts = spelled_texts(cells)
        column = EncodedColumn(np.arange(float(len(texts))), tuple(texts))
        if (numbers := numbers_of(texts)) is not None:
            column = read_objects(numbers, self.feature.name, nominal=True)
        return EncodedColumn(column.values[places], column.categories)


def _replace_codes(values: Floats, numbers: Floats) -> None:
    """Put other numbers in the place of codes, in place."""
    known = ~np.isnan(values)
    values[known] = numbers[values[known].astype(np.intp)]


class TimeColumn(NumericColumn):
    """Decodes a column of dates, times or durations."""

    reads_numbers = False

    def decode_rows(self, rows: Rows, column: int, source: Source) -> Floats:
        """The values of all rows of a block; plain ones are read at once, if all are sound."""
        values = None
        if isinstance(rows, PlainRows):
            values = self._read_at_once(rows, column)
        return super().decode_rows(rows, column, source) if values is None else values

    def _read_at_once(self, rows: PlainRows, column: int) -> Floats | None:
        everything = np.arange(rows.n_rows)
        if rows.lengths(column, everything).max(initial=0) > _LONGEST_SPELLED:
            return None
        cells = rows.spelled(column, everything)
        is_known = ~are_equal(cells, self.missing)
        values: Floats = np.full(rows.n_rows, nan)
        found = spelled_times(cells[is_known])
        if found is None:
            return None if is_known.any() else values
        numbers, kind = found
        if kind != self.feature.time:
            if kind != "date":
                return None
            numbers = numbers * DAY
        values[is_known] = numbers
        return values

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


class DayColumn(TimeColumn):
    """Decodes a column of dates, some of which are written as times at midnight."""

    def __init__(self, feature: Feature, missing: str) -> None:
        super().__init__(feature, missing)
        self._date = Feature(feature.name, kind="date")

    def decode_rows(self, rows: Rows, column: int, source: Source) -> Floats:
        """The days of all rows of a block."""
        return super().decode_rows(rows, column, source) / DAY

    def finish(self, values: Floats, source: Source) -> Feature:
        """The feature, which holds dates."""
        return self._date


class UndeclaredColumn(NominalColumn):
    """Decodes a column that is numeric if all its cells are numbers, nominal if none is.

    A mixture is an error: a word for a missing value would turn all numbers into categories.
    """

    may_be_times = True

    def __init__(self, feature: Feature, missing: str) -> None:
        super().__init__(feature, missing)
        # the first cell of each sort; a text is neither a number nor nan nor inf
        self._first: dict[str, tuple[str, int, Source]] = {}

    @property
    def may_spell(self) -> bool:
        """Whether cells that are surely words may be kept as they are."""
        return "text" in self._first

    def _are_words(self, cells: Spelled) -> Mask:
        return are_surely_words(cells)

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
        known: Container[str] = self._codes if "other" in self._first else (self.missing,)
        for cell in dict.fromkeys(cells.texts):
            if cell not in known:
                if "\0" in cell:
                    cells.refuse(cell, _NUL)
                for sort in sorts_of(cell):
                    if sort not in self._first:
                        line = cells.lines[cells.texts.index(cell)]
                        self._first[sort] = (cell, line, cells.source)
                if are_plain:
                    return

    def found(self, n_rows: int, source: Source) -> NumericColumn:
        """A decoder of the kind that was found."""
        self._check_sorts(n_rows, source)
        if "text" in self._first:
            return super().found(n_rows, source)
        return NumericColumn(self.feature, self.missing)

    def finish(self, values: Floats, source: Source) -> Feature:
        """The feature of the kind that was found."""
        self._check_sorts(len(values), source)
        return super().finish(values, source) if "text" in self._first else self.feature

    def _check_sorts(self, n_rows: int, source: Source) -> None:
        """Refuse what is neither numbers nor categories."""
        if not n_rows:
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

    def _refuse(self, holds: str) -> NoReturn:
        (cell, line, source), name = self._first["other"], quoted(self.feature.name)
        source.refuse(
            f"column {name} {holds} this cell is {quoted(cell)}: pass missing={cell!r:.60} if it "
            f"stands for a missing value, or nominal=[{name}] if the column holds categories",
            line,
        )
