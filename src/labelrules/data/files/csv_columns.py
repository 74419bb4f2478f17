"""Columns of a CSV file: distinct texts become numbers, or codes of categories."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import nan
from typing import Any, NoReturn

import numpy as np

from labelrules._checks import quoted, suggestion
from labelrules._types import Floats, Mask
from labelrules.data.files.arrow import (
    CellRows,
    CellTexts,
    are_like_numbers,
    joined_texts,
    numbers_in,
    ranked_texts,
    text_array,
    text_list,
    texts_at,
    times_in,
)
from labelrules.data.files.csv_records import Source
from labelrules.data.memory.columns import (
    EncodedColumn,
    numbers_of,
    read_objects,
    sorts_of,
    time_column,
    why_no_number,
)
from labelrules.data.schema import Feature, Kind
from labelrules.data.times import DAY, example_of, read_time

_VARIED = 1 << 10
"""So many different texts of a block stay in Arrow until all rows are read."""

_MANY = 1 << 16
"""Of more dates or times only some are kept while kinds are found."""


class OddCellError(Exception):
    """A cell does not fit into its column: a careful reading says which, and where."""


class NumericColumn:
    """A column of numbers."""

    reads_numbers = True
    """Whether Arrow shall give the cells as doubles: all have been plain numbers so far."""

    is_varied = False
    """Whether Arrow shall give the cells as they are, since nearly all have been different."""

    def __init__(self, feature: Feature, missing: str) -> None:
        self.feature, self.missing = feature, missing

    def decode(self, rows: CellRows, place: int) -> Floats:
        """The values of all cells of a block."""
        if self.reads_numbers and (values := rows.numbers(place)) is not None:
            return self._noted(values)
        words = rows.words(place)
        return self._meanings(words).take(words.places)

    def why(self, cell: str) -> str | None:
        """Why a cell cannot stand in this column, if so."""
        why = why_no_number(cell)
        name = quoted(self.feature.name)
        return f"column {name} holds numbers, but this cell is {why}" if why else None

    def finish(self, values: Floats, n_rows: int) -> Feature:
        """The feature, when all cells are decoded; codes may be put in order, in place."""
        return self.feature

    def found(self, n_rows: int) -> "NumericColumn":
        """A column of the kind and the categories that were found in all rows."""
        return self

    def _noted(self, values: Floats) -> Floats:
        """Take note of plain numbers."""
        return values

    def _meanings(self, words: CellTexts) -> Floats:
        """The values of distinct texts."""
        values, sound = numbers_in(words.texts, self.missing)
        self.reads_numbers = bool(sound.all())  # other spellings come again
        return self._completed(values, sound, words.texts)

    def _completed(self, values: Floats, sound: Mask, texts: list[str]) -> Floats:
        """The numbers of texts, of which those that are not sound are read one by one."""
        if sound.all():
            return values
        numbers = values.copy()
        for place in np.flatnonzero(~sound).tolist():
            if why_no_number(texts[place]):
                raise OddCellError
            numbers[place] = float(texts[place])
        return numbers


class CategoryColumn(NumericColumn):
    """A column of known categories, or a label."""

    reads_numbers = False

    def __init__(self, feature: Feature, missing: str, codes: dict[str, float]) -> None:
        super().__init__(feature, missing)
        self._codes = codes

    def why(self, cell: str) -> str | None:
        """Why a cell cannot stand in this column, if so."""
        if cell in self._codes:
            return None
        if self.feature.categories is None:
            label = f"label {quoted(self.feature.name)} is {quoted(cell)}"
            return f"{label}: a label is 0 or 1, or missing if it is unknown"
        known = f"column {quoted(self.feature.name)} has the unknown category {quoted(cell)}"
        return known + suggestion(cell, self.feature.categories)

    def _meanings(self, words: CellTexts) -> Floats:
        try:
            return np.fromiter(map(self._codes.__getitem__, words.texts), np.float64, len(words))
        except KeyError:
            raise OddCellError from None


class TimeColumn(NumericColumn):
    """A column of dates, times or durations."""

    reads_numbers = False

    def why(self, cell: str) -> str | None:
        """Why a cell cannot stand in this column, if so."""
        kind, name = self.feature.time, quoted(self.feature.name)
        assert kind is not None, "other columns are of other classes"
        if read_time(cell, kind) is not None:
            return None
        return f"column {name} must hold {example_of(kind)}, but this cell is {cell!r:.60}"

    def _meanings(self, words: CellTexts) -> Floats:
        self.is_varied = self.is_varied or _are_varied(words)
        texts, are_known = words.without(self.missing)
        values: Floats = np.full(len(words), nan)
        values[are_known] = self._times(texts)
        return values

    def _times(self, texts: Any) -> Floats:
        kind = self.feature.time
        found = None if kind is None or kind == "duration" else times_in(texts)
        if found is not None and found[1] in (kind, "date"):
            numbers = found[0] if found[1] == kind else found[0] * DAY
            return numbers.astype(np.float64)
        one_by_one = [read_time(text, kind or "time") for text in text_list(texts)]
        if None in one_by_one:
            raise OddCellError
        return np.array(one_by_one, dtype=np.float64)


class DayColumn(TimeColumn):
    """A column of dates, some of which are written as times at midnight."""

    def decode(self, rows: CellRows, place: int) -> Floats:
        """The days of all cells of a block."""
        return super().decode(rows, place) / DAY

    def finish(self, values: Floats, n_rows: int) -> Feature:
        """The feature, which holds dates."""
        return Feature(self.feature.name, kind="date")


def _are_varied(words: CellTexts) -> bool:
    """Whether there are many cells, nearly all different."""
    return len(words) >= _VARIED and 4 * len(words) > 3 * len(words.places)


class TextColumn(NumericColumn):
    """A column of texts whose categories are found."""

    reads_numbers = False
    may_be_times = False
    """Whether texts that are all dates or times in ISO 8601 are read as such."""
    _lacks_codes = False
    """Whether some rows were decoded as missing before the column was known to hold texts."""
    _many: tuple[Any, ...] = ()
    """Texts of blocks with many different ones, in Arrow."""
    _n_kept = _n_distinct = 0
    _are_few_of_many = False
    """Whether most of many dates or times were not kept."""

    @cached_property
    def _codes(self) -> dict[str, float]:
        """The texts in the order in which they are found, after the missing value."""
        return {self.missing: 0.0}

    def why(self, cell: str) -> str | None:
        """Why a cell cannot stand in this column, if so."""
        return "the line has a NUL character: is this text, in this encoding?" * ("\0" in cell)

    def _meanings(self, words: CellTexts) -> Floats:
        if words.has_nul:
            raise OddCellError
        self.is_varied = self.is_varied or _are_varied(words)
        if self.is_varied or len(words) >= _VARIED:
            return self._kept(words)
        codes, texts = self._codes, words.texts
        found = [*map(codes.get, texts)]
        numbers = np.array(found, dtype=np.float64)
        are_new = np.isnan(numbers)
        if are_new.any():
            new = [text for text, code in zip(texts, found, strict=True) if code is None]
            numbers[are_new] = np.arange(len(codes), len(codes) + len(new))
            codes.update(zip(new, numbers[are_new].tolist(), strict=True))
        return numbers

    def _kept(self, words: CellTexts) -> Floats:
        """Numbers below 0 for many texts, which stay in Arrow until all are there."""
        kept, are_known = words.without(self.missing)
        numbers: Floats = np.zeros(len(words))
        numbers[are_known] = -1.0 - np.arange(self._n_kept, self._n_kept + len(kept))
        self._many = (*self._many, kept)
        self._n_kept += len(kept)
        return numbers

    def n_texts(self, most: int) -> int:
        """How many texts are kept while kinds are found; of many dates or times, only some.

        If there are more than `most`, all are different.
        """
        if self._n_kept + len(self._codes) > min(most, max(_MANY, 2 * self._n_distinct)):
            texts = self._all_texts().unique()
            if self.may_be_times and (times := times_in(texts)) is not None:
                at_some_hour = np.flatnonzero((times[0] % DAY != 0) & (times[1] == "time"))
                texts = texts_at(texts, [*range(min(2, len(texts))), *at_some_hour[:1]])
                self._are_few_of_many = True
            self._codes = {self.missing: 0.0}
            self._many, self._n_kept, self._n_distinct = (texts,), len(texts), len(texts)
        return self._n_kept + len(self._codes)

    def finish(self, values: Floats, n_rows: int) -> Feature:
        """The feature; codes are put in the order of numbers by size, or else of texts."""
        column = self._column()
        if self._lacks_codes:
            np.nan_to_num(values, copy=False)
        listed, kept = np.split(column.values, [len(self._codes) - 1])
        values[:] = np.concatenate([[nan], listed, kept[::-1]])[values.astype(np.intp)]
        return column.feature(self.feature.name)

    def found(self, n_rows: int) -> NumericColumn:
        """A column of these categories, or of the dates or times that all texts are."""
        column, name = self._column(), self.feature.name
        if column.categories is not None:
            if self._are_few_of_many:
                raise TimesAndTextsError(name)
            texts = [
                *list(self._codes)[1:],
                *(text for one in self._many for text in text_list(one)),
            ]
            pairs = zip(texts, column.values.tolist(), strict=True)
            codes = {self.missing: nan} | dict(pairs)
            return CategoryColumn(column.feature(name), self.missing, codes)
        kind: Kind = "UTC time" if column.kind == "UTC time" else "time"
        form = DayColumn if column.kind == "date" else TimeColumn
        return form(Feature(name, kind=kind), self.missing)

    def _all_texts(self) -> Any:
        """The texts in Arrow, those that are listed first; kept ones may come twice."""
        return joined_texts([text_array(list(self._codes)[1:]), *self._many])

    def _column(self) -> EncodedColumn:
        """What the texts are, those that are listed first."""
        texts = self._all_texts() if self._many else list(self._codes)[1:]
        if self.may_be_times and (times := times_in(texts)) is not None:
            return time_column(times[0].astype(np.float64), times[1], nominal=False)
        categories, ranks = ranked_texts(texts)
        if (numbers := numbers_of(categories)) is not None:
            column = read_objects(numbers, self.feature.name, nominal=True)
            return replace(column, values=column.values[ranks])
        return EncodedColumn(ranks.astype(np.float64), tuple(categories))


class TimesAndTextsError(Exception):
    """A column has many dates or times, of which most were not kept, and other texts."""


class UndeclaredColumn(TextColumn):
    """A column that is numeric if all its cells are numbers, nominal if none is.

    A mixture is an error: a word for a missing value would turn all numbers into categories.
    """

    may_be_times = True
    _holds = ""
    """Numbers or texts, once a cell is not missing."""
    _has_words = False
    """Whether one of the texts is not only another number, such as nan."""
    _is_spelled_oddly = False

    @property
    def reads_numbers(self) -> bool:  # type: ignore[override]
        """Whether Arrow shall give the cells as doubles: all have been plain numbers so far."""
        return self._holds != "texts" and not self._is_spelled_oddly

    def _noted(self, values: Floats) -> Floats:
        if not self._holds:
            known = not np.isnan(values).all()
            self._holds, self._lacks_codes = ("numbers", False) if known else ("", True)
        return values

    def _meanings(self, words: CellTexts) -> Floats:
        if self._holds == "texts" and self._has_words:
            is_new = (
                self.is_varied or len(words) >= _VARIED or None in map(self._codes.get, words.texts)
            )
            if is_new and self._has_number(words):
                raise OddCellError
            return super()._meanings(words)
        texts = words.texts
        values, sound = numbers_in(texts, self.missing)
        sorts = self._sorts(texts, ~sound)
        if not np.isnan(values[sound]).all():
            sorts.add("number")
        holds = {"texts"} if "other" in sorts else {"numbers"} if "number" in sorts else set()
        holds |= {self._holds} - {""}
        if len(holds) > 1 or "beyond" in sorts or {"number", "other"} <= sorts:
            raise OddCellError
        if holds == {"texts"}:
            self._holds, self._has_words = "texts", self._has_words or "text" in sorts
            return super()._meanings(words)
        self._is_spelled_oddly = self._is_spelled_oddly or not sound.all()
        return self._noted(self._completed(values, sound, texts))

    def _has_number(self, words: CellTexts) -> bool:
        """Whether one of the texts is a number; the missing one does not count."""
        places = np.flatnonzero(are_like_numbers(words.array)).tolist()
        found = (words.texts[place] for place in places)
        return any("number" in sorts_of(text) for text in found if text != self.missing)

    def _sorts(self, texts: list[str], are_chosen: Mask) -> set[str]:
        """The sorts of some texts; once there is a word, only what is like a number matters."""
        are_like = are_like_numbers(texts)
        sorts = {sort for i in np.flatnonzero(are_chosen & are_like) for sort in sorts_of(texts[i])}
        for place in np.flatnonzero(are_chosen & ~are_like):
            sorts |= {*sorts_of(texts[place])}
            if "text" in sorts:
                break
        return sorts

    def finish(self, values: Floats, n_rows: int) -> Feature:
        """The feature of the kind that was found."""
        return super().finish(values, n_rows) if self._are_texts(n_rows) else self.feature

    def found(self, n_rows: int) -> NumericColumn:
        """A column of the kind that was found."""
        if self._are_texts(n_rows):
            return super().found(n_rows)
        return NumericColumn(self.feature, self.missing)

    def _are_texts(self, n_rows: int) -> bool:
        if not n_rows or (self._holds == "texts" and not self._has_words):
            raise OddCellError
        return self._holds == "texts"


class FirstCells:
    """The first cells of each sort in a column that is read with care, to say what is wrong."""

    def __init__(self, column: NumericColumn) -> None:
        self._column, self._name = column, quoted(column.feature.name)
        self._first: dict[str, tuple[str, int, Source]] = {}

    def look(self, cells: Sequence[str], lines: Sequence[int], source: Source) -> None:
        """Refuse the first cell that cannot stand in the column."""
        for cell in dict.fromkeys(cells):
            if cell == self._column.missing:
                continue
            line = lines[cells.index(cell)]
            if why := self._column.why(cell):
                source.refuse(why, line)
            if isinstance(self._column, UndeclaredColumn):
                for sort in sorts_of(cell):
                    self._first.setdefault(sort, (cell, line, source))
        if {"number", "other"} <= self._first.keys():
            number, line, there = self._first["number"]
            of = "" if there is self._first["other"][2] else f" of {there.path}"
            self._refuse(f"holds numbers, such as {quoted(number)} in line {line}{of}, but")

    def judge(self, n_rows: int, source: Source) -> None:
        """Refuse what is neither numbers nor categories."""
        if not isinstance(self._column, UndeclaredColumn):
            return
        if not n_rows:
            source.refuse("there are no rows, so the kinds of the columns are unknown")
        if "beyond" in self._first:
            cell, line, source = self._first["beyond"]
            source.refuse(
                f"column {self._name} holds numbers, but this cell is {why_no_number(cell)}: "
                f"scale the column, or pass nominal=[{self._name}]",
                line,
            )
        if "other" in self._first and "text" not in self._first:
            self._refuse("holds no number, and")

    def _refuse(self, holds: str) -> NoReturn:
        cell, line, source = self._first["other"]
        source.refuse(
            f"column {self._name} {holds} this cell is {quoted(cell)}: pass missing={cell!r:.60} "
            f"if it stands for a missing value, or nominal=[{self._name}] if the column holds "
            "categories",
            line,
        )
