"""Tables by Apache Arrow: blocks of CSV as numbers, or as texts and their places.

Arrow is more lenient than the standard `csv` module. What it would read in another way is left to
that, and so is any block that Arrow refuses: the reader in `csv_records` reads it with care.
"""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data.memory.columns import LARGEST_EXACT, sorts_of
from labelrules.data.times import LIMITS, TimeKind, time_kind_of, times_of

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.signedinteger[Any]]

_QUOTE, _NEWLINE, _RETURN = b'"\n\r'
_ZERO, _MINUS = np.frombuffer(b"0-", dtype=np.uint8)
_BEGINS_NUMBER: Mask = np.isin(np.arange(256), [*b" \t\n\v\f\r\x1c\x1d\x1e\x1f0123456789.+-"])
_EMPTY_LINES = (b"\n\n", b"\n\r", b"\r\r")
MANY_COLUMNS = 300
"""Of so many columns Arrow would need more time and memory for each than for its cells."""

_WORD, _MOST_WORDS = 8, 16
_MOST_BYTES = 1 << 30  # of texts whose places Arrow counts in 32 bits

_FEW = 64
"""Fewer texts are looked at one by one."""

_BLANK = r"[ \t\n\v\f\r\x1c-\x1f]*"  # what float() strips
_PLAIN_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_LIKE_A_NUMBER = rf"^{_BLANK}[0-9.eE+-]+{_BLANK}$"
_DATE = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"[T ]([01]\d|2[0-3]):\d{2}(:\d{2}(\.\d{1,6})?)?"
_ZONE = r"(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)"


def pyarrow() -> Any:
    """The library pyarrow, which is imported when it is needed."""
    import pyarrow
    import pyarrow.compute

    return pyarrow


class CellTexts:
    """The cells of a column: texts, as a list or in Arrow, and which of them each cell is.

    The texts are distinct, except of a varied column, where each cell has its own.
    """

    def __init__(self, texts: Any, places: Places) -> None:
        self._given, self.places = texts, places

    def __len__(self) -> int:
        return len(self._given)

    @classmethod
    def of(cls, encoded: Any) -> "CellTexts":
        """The texts of an array without nulls, which may be dictionary-encoded."""
        if encoded.type == pyarrow().string():
            return cls(encoded, np.arange(len(encoded)))
        return cls(encoded.dictionary, numpy_values(encoded.indices))

    @cached_property
    def texts(self) -> list[str]:
        """The texts as a list."""
        return text_list(self._given)

    @cached_property
    def array(self) -> Any:
        """The texts in Arrow."""
        return text_array(self._given)

    def without(self, text: str) -> tuple[Any, Mask]:
        """The other texts in Arrow, and which those are."""
        compute = pyarrow().compute
        sought = _text(text)
        if compute.index(self.array, sought).as_py() < 0:
            return self.array, np.ones(len(self), dtype=np.bool_)
        are_others = compute.not_equal(self.array, sought)
        return self.array.filter(are_others), numpy_values(are_others)

    @property
    def has_nul(self) -> bool:
        """Whether a text has a NUL character; Arrow gets only blocks without."""
        return isinstance(self._given, list) and "\0" in "".join(self._given)


class CellRows(Protocol):
    """Rows of a file, column by column."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def numbers(self, place: int) -> Floats | None:
        """The cells of a column that are all plain numbers or missing; else None."""
        ...

    def words(self, place: int) -> CellTexts:
        """The cells of a column as text."""
        ...


@dataclass(frozen=True)
class WantedColumns:
    """The columns that are read of a file, by their places."""

    header: Sequence[str]
    delimiter: str
    missing: str
    places: Sequence[int]
    numeric: Callable[[], list[int]]
    """Gives the places of columns whose cells have all been numbers so far."""
    varied: Callable[[], list[int]] = list
    """Gives the places of columns of nearly all different texts, where a dictionary is waste."""

    def rows_of(self, data: bytes, n_lines: int) -> CellRows | None:
        """The rows of so many whole lines in UTF-8, if Arrow reads them as `csv` does."""
        if not self.delimiter.isascii() or not _is_plain(data, self.delimiter):
            return None
        rows = (TypedRows if len(self.header) < MANY_COLUMNS else WideRows).of(data, self)
        # Arrow skips empty lines; otherwise rows are fewer only by line ends in quotes
        if rows is None or (rows.n_rows < n_lines and _has_empty_line(data)):
            return None
        return rows


# ---------------------------------------------------------------- what is read as elsewhere


def _is_plain(data: bytes, delimiter: str) -> bool:
    """Whether there is no NUL, no endless cell, and no quote in an odd place."""
    if b"\0" in data or _may_have_long_cell(data, delimiter.encode()):
        return False
    return b'"' not in data or _has_plain_quotes(data, ord(delimiter))


def _has_empty_line(data: bytes) -> bool:
    """Whether two line ends follow each other, perhaps in quotes."""
    return data.startswith((b"\n", b"\r")) or any(two in data for two in _EMPTY_LINES)


def _may_have_long_cell(data: bytes, delimiter: bytes) -> bool:
    """Whether so many bytes follow each other without an end of a cell, in long steps."""
    most = csv.field_size_limit()
    end = 0
    while len(data) - end > most:
        signs = (b"\n", delimiter, b"\r")  # the last is rare, and then sought in all bytes
        places = (data.rfind(sign, end, end + most) for sign in signs)
        found = next((place for place in places if place >= 0), None)
        if found is None:
            return True
        end = found + 1
    return False


def _has_plain_quotes(data: bytes, delimiter: int) -> bool:
    """Whether quotes are only around cells, or doubled in them, and all are closed."""
    text = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(text == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    are_doubled = closing[:-1] + 1 == opening[1:]
    begins = opening[np.concatenate([[True], ~are_doubled])]
    ends = closing[np.concatenate([~are_doubled, [True]])]
    ends_cell = np.zeros(256, dtype=np.bool_)
    ends_cell[[delimiter, _NEWLINE, _RETURN]] = True
    before = text[begins[begins > 0] - 1]
    fits = (ends - begins).max() <= csv.field_size_limit()
    return bool(fits and ends_cell[before].all() and ends_cell[text[ends + 1]].all())


def _parsed(data: bytes, names: Sequence[str], delimiter: str, missing: str, **options: Any) -> Any:
    """A table of such types; None if Arrow does not read it."""
    arrow = pyarrow()
    from pyarrow import csv as reader

    # Arrow's own copy: no thread of it may release what belongs to Python
    buffer = arrow.allocate_buffer(len(data))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    keeps_empty = options.pop("keeps_empty", False)
    reading = reader.ReadOptions(
        use_threads=False, column_names=names, block_size=max(1, len(data))
    )
    parsing = reader.ParseOptions(delimiter=delimiter, ignore_empty_lines=not keeps_empty)
    converting = reader.ConvertOptions(null_values=[missing], check_utf8=False, **options)
    while True:
        try:
            return reader.read_csv(arrow.BufferReader(buffer), reading, parsing, converting)
        except arrow.ArrowCancelled:  # by a signal that its handler let pass
            continue
        except (arrow.ArrowException, ValueError):
            return None


# ---------------------------------------------------------------- rows of some columns


class TypedRows:
    """Rows whose columns Arrow gives one by one: doubles, or texts, most with a dictionary."""

    def __init__(self, data: bytes, wanted: WantedColumns, table: Any, numeric: set[int]) -> None:
        self._data, self._wanted, self._numeric = data, wanted, numeric
        self.n_rows = int(table.num_rows)
        self._columns = dict(zip(wanted.places, table.itercolumns(), strict=False))

    @classmethod
    def of(cls, data: bytes, wanted: WantedColumns) -> "TypedRows | None":
        """The rows of a block; if columns are no numbers any more, all are read as text."""
        numeric = set(wanted.numeric())
        table = _typed(data, wanted, wanted.places, numeric)
        if table is None and numeric:
            numeric = set()
            table = _typed(data, wanted, wanted.places, numeric)
        return None if table is None else cls(data, wanted, table, numeric)

    def numbers(self, place: int) -> Floats | None:
        """The cells of a column that are all plain numbers or missing; else None."""
        found = self._columns[place].chunk(0)
        if place in self._numeric:
            values: Floats = numpy_values(found)
            n_sound = np.count_nonzero(np.abs(values) < LARGEST_EXACT)
            return values if n_sound == self.n_rows - found.null_count else None
        words = CellTexts.of(found)
        values, sound = _numbers_of(words.array, self._wanted.missing)
        return values[words.places] if sound.all() else None

    def words(self, place: int) -> CellTexts:
        """The cells of a column as text."""
        found = self._columns[place]
        if place in self._numeric:
            found = _typed(self._data, self._wanted, [place], set()).column(0)
        return CellTexts.of(found.chunk(0))


def _typed(data: bytes, wanted: WantedColumns, places: Sequence[int], numeric: set[int]) -> Any:
    arrow = pyarrow()
    text = arrow.dictionary(arrow.int32(), arrow.string())
    header = wanted.header
    types = {header[place]: text for place in places} or {header[0]: text}
    types |= {header[place]: arrow.string() for place in wanted.varied() if place in places}
    types |= {header[place]: arrow.float64() for place in numeric}
    table = _parsed(
        data, header, wanted.delimiter, wanted.missing,
        include_columns=[*types], column_types=types,
    )  # fmt: skip
    return table if table is not None and table.num_rows else None


# ---------------------------------------------------------------- rows of very many columns


class WideRows:
    """Rows of very many columns, all of whose cells Arrow gives as one column."""

    def __init__(self, cells: Any, n_rows: int, wanted: WantedColumns) -> None:
        self._cells, self.n_rows, self._wanted = cells, n_rows, wanted

    @classmethod
    def of(cls, data: bytes, wanted: WantedColumns) -> "WideRows | None":
        """The rows of a block; None if a line has another number of cells than the header."""
        lines, n_columns = data.splitlines(), len(wanted.header)
        sign = wanted.delimiter.encode()
        if any(line.count(sign) + 1 != n_columns for line in lines):
            return None
        joined = b"\n".join(lines).replace(sign, b"\n") + b"\n"
        text = pyarrow().string()
        table = _parsed(
            joined, ["cell"], wanted.delimiter, wanted.missing,
            column_types={"cell": text}, keeps_empty=True,
        )  # fmt: skip
        if table is None or table.num_rows != len(lines) * n_columns:
            return None
        return cls(table.column(0).combine_chunks(), len(lines), wanted)

    def numbers(self, place: int) -> Floats | None:
        """The cells of a column that are all plain numbers or missing; else None."""
        values, sound, at = self._numbers
        found = at.get(place)
        return values[found] if found is not None and sound[found] else None

    def words(self, place: int) -> CellTexts:
        """The cells of a column as text."""
        texts, codes, at = self._words
        found = at.get(place)
        if found is None:
            return CellTexts.of(self._of_columns([place]).dictionary_encode())
        distinct, places = np.unique(codes[found], return_inverse=True)
        return CellTexts([texts[code] for code in distinct.tolist()], places)

    @cached_property
    def _numbers(self) -> tuple[Floats, Mask, dict[int, int]]:
        """All columns of numbers so far, which of them are so here, and their places."""
        some = self._wanted.numeric()
        cells = self._of_columns(some)
        values, sound = _numbers_of(cells, self._wanted.missing)
        shape = len(some), self.n_rows
        columns = {place: index for index, place in enumerate(some)}
        are_sound: Mask = np.asarray(sound.reshape(shape).all(axis=1))
        return values.reshape(shape), are_sound, columns

    @cached_property
    def _words(self) -> tuple[list[str], Places, dict[int, int]]:
        """The texts of all other columns, the text of each cell, and their places."""
        _, sound, at = self._numbers
        some = [one for one in self._wanted.places if one not in at or not sound[at[one]]]
        words = CellTexts.of(self._of_columns(some).dictionary_encode())
        columns = {place: index for index, place in enumerate(some)}
        return words.texts, words.places.reshape(len(some), self.n_rows), columns

    def _of_columns(self, places: Sequence[int]) -> Any:
        """The cells of some columns, one column after the other."""
        n_columns = len(self._wanted.header)
        rows = np.arange(0, self.n_rows * n_columns, n_columns)
        chosen = np.array(places, dtype=np.int64)[:, None] + rows
        return texts_at(self._cells, chosen.ravel())


# ---------------------------------------------------------------- what distinct texts are


def text_words(cells: Sequence[str]) -> CellTexts:
    """The cells of a column that were read one by one."""
    places = {text: place for place, text in enumerate(dict.fromkeys(cells))}
    return CellTexts([*places], np.array([places[cell] for cell in cells], dtype=np.int32))


def numbers_in(texts: Sequence[str], missing: str) -> tuple[Floats, Mask]:
    """Texts as numbers, NaN where they are none or missing; and which are certainly read well."""
    if len(texts) >= _FEW:
        return _numbers_of(text_array(texts), missing)
    are_missing: Mask = np.array([text == missing for text in texts], dtype=np.bool_)
    are_numbers = np.array([sorts_of(text) == ("number",) for text in texts], dtype=np.bool_)
    pairs = zip(texts, are_numbers & ~are_missing, strict=True)
    values = [float(text) if is_number else nan for text, is_number in pairs]
    return np.array(values, dtype=np.float64), are_numbers | are_missing


def _numbers_of(cells: Any, missing: str) -> tuple[Floats, Mask]:
    arrow = pyarrow()
    is_missing, unknown = arrow.compute.equal(cells, _text(missing)), arrow.nulls(1, arrow.string())
    known = arrow.compute.if_else(is_missing, unknown[0], cells)
    try:
        numbers = known.cast(arrow.float64())
    except arrow.ArrowInvalid:
        is_number = arrow.compute.match_substring_regex(cells, _PLAIN_NUMBER)
        known = arrow.compute.if_else(is_number, known, unknown[0])
        numbers = known.cast(arrow.float64())
    values: Floats = numpy_values(numbers)
    sound: Mask = np.abs(values) < LARGEST_EXACT
    return values, sound | numpy_values(is_missing)


def are_like_numbers(texts: Any) -> Mask:
    """Which texts may be numbers; all others are certainly none."""
    cells = text_array(texts)
    text, begins, lengths = _spelled(cells)
    is_date = (lengths > 4) & (text[begins + 4] == _MINUS) & (text[begins + 3] - _ZERO < 10)
    found: Mask = _BEGINS_NUMBER[text[begins]] & (lengths > 0) & ~is_date
    found[found] = _matched(texts_at(cells, np.flatnonzero(found)), _LIKE_A_NUMBER)
    return found


def times_in(given: Any) -> tuple[Integers, TimeKind] | None:
    """The numbers of texts that are all dates or times, as `labelrules.data.times` reads them."""
    if not len(given) or time_kind_of(str(given[0])) is None:
        return None
    texts = given
    found = _many_times(texts) if len(texts) >= _FEW else None
    if found is None:
        one_by_one = times_of(text_list(texts))
        return one_by_one and (np.array(one_by_one[0], dtype=np.int64), one_by_one[1])
    return found


def _many_times(texts: Any) -> tuple[Integers, TimeKind] | None:
    """The numbers of dates or times; None if one is neither, or not certain."""
    arrow, cells = pyarrow(), text_array(texts)
    forms: tuple[tuple[TimeKind, str, Any], ...] = (
        ("date", _DATE, arrow.date32()),
        ("UTC time", _DATE + _CLOCK + _ZONE, arrow.timestamp("us", "UTC")),
        ("time", f"{_DATE}({_CLOCK})?", arrow.timestamp("us")),
    )
    if kind_of_all := _kind_of_one_form(cells):
        fitting = [one for one in forms if one[0] == kind_of_all]
    else:
        fitting = [one for one in forms if _matched(cells, f"^{one[1]}$").all()]
    if not fitting:
        return None
    kind, _, wanted = fitting[0]
    try:
        read = cells.cast(wanted)
    except arrow.ArrowInvalid:
        return None
    whole = read.cast(arrow.int32() if kind == "date" else arrow.int64())
    numbers: Integers = numpy_values(whole).astype(np.int64)
    low, high = LIMITS[kind]
    fits = low <= numbers.min() and numbers.max() <= high
    is_exact = (numbers.astype(np.float64).astype(np.int64) == numbers).all()
    return (numbers, kind) if fits and is_exact else None


def _kind_of_one_form(cells: Any) -> TimeKind | None:
    """The kind of dates or times that have all their digits and signs where the first one has."""
    text, begins, lengths = _spelled(cells)
    first, n_bytes = str(cells[0]), int(lengths[0])
    kind = time_kind_of(first)
    # Arrow checks the ranges of all numbers but those of a zone
    if (kind == "UTC time" and first[-1] != "Z") or (lengths != n_bytes).any():
        return None
    signs = text[begins[0] : begins[0] + len(cells) * n_bytes].reshape(len(cells), n_bytes)
    are_digits = signs[0] - _ZERO < 10
    is_one_form = (signs[:, are_digits] - _ZERO < 10).all()
    return kind if is_one_form and (signs[:, ~are_digits] == signs[0, ~are_digits]).all() else None


def ranked_texts(given: Any) -> tuple[list[str], Integers]:
    """The distinct ones of texts in order, and where each text is there."""
    if len(given) <= _FEW:
        texts = text_list(given)
        ordered = sorted(set(texts))
        places = {text: place for place, text in enumerate(ordered)}
        return ordered, np.array([places[text] for text in texts], dtype=np.int64)
    cells = text_array(given)
    order, are_new = _sorted_by_words(cells) or _sorted_by_arrow(cells)
    ranks: Integers = np.empty(len(cells), dtype=np.int64)
    ranks[order] = np.cumsum(are_new) - 1
    return text_list(texts_at(cells, order[are_new])), ranks


def _sorted_by_words(cells: Any) -> tuple[Integers, Mask] | None:
    """The order of texts, and which of them are new there; None if long parts are the same.

    Eight bytes are compared as one number, the first of them highest; behind its end a text has
    zeros, so none may hold a NUL character.
    """
    spelled = _spelled(cells)
    text, _, lengths = spelled
    if not text[: -2 * _WORD].all():
        return None
    place = _common_start(cells)
    words = _words_at(place, *spelled)
    order: Integers = np.argsort(words)
    are_new = np.append(True, np.diff(words[order]) != 0)
    for start in range(place + _WORD, place + _MOST_WORDS * _WORD, _WORD):
        tied = np.flatnonzero(~are_new | ~np.append(are_new[1:], True))
        rows = order[tied]
        if (lengths[rows] <= start).all():
            return order, are_new
        words = _words_at(start, text, *(one[rows] for one in spelled[1:]))
        within = np.lexsort([words, np.cumsum(are_new)[tied]])
        order[tied] = rows[within]
        are_new[tied[1:]] |= np.diff(words[within]) != 0
    return None


def _common_start(cells: Any) -> int:
    """How many bytes all texts have in common at their start."""
    ends = pyarrow().compute.min_max(cells).as_py()
    least, most = ends["min"].encode(), ends["max"].encode()
    pairs = enumerate(zip(least, most, strict=False))
    return next((place for place, (one, other) in pairs if one != other), len(least))


def _words_at(place: int, text: Bytes, begins: Integers, lengths: Integers) -> Words:
    """Eight bytes of texts from a place on, as numbers."""
    all_words: Words = np.ndarray(len(text) - _WORD + 1, dtype=">u8", buffer=text, strides=(1,))
    words = all_words[begins + np.minimum(lengths, place)].astype(np.uint64)
    n_lacking = (8 * np.clip(place + _WORD - lengths, 0, _WORD)).astype(np.uint64)
    return (words >> n_lacking) << n_lacking


def _sorted_by_arrow(cells: Any) -> tuple[Integers, Mask]:
    """The order of texts, and which of them are new there."""
    compute = pyarrow().compute
    order = compute.array_sort_indices(cells)
    texts = cells.take(order)
    differ = numpy_values(compute.not_equal(texts[1:], texts[:-1]))
    return numpy_values(order).astype(np.int64), np.append(True, differ)


def _spelled(cells: Any) -> tuple[Bytes, Integers, Integers]:
    """The bytes of texts, followed by zeros, where each text begins, and its length."""
    _, offsets, data = cells.buffers()
    is_large = cells.type == pyarrow().large_string()
    ends = np.frombuffer(offsets, dtype=np.int64 if is_large else np.int32)
    ends = ends[cells.offset : cells.offset + len(cells) + 1].astype(np.int64)
    text = np.frombuffer(data or b"", dtype=np.uint8)[ends[0] : ends[-1]]
    text = np.append(text, np.zeros(2 * _WORD, dtype=np.uint8))
    return text, ends[:-1] - ends[0], np.diff(ends)


# ---------------------------------------------------------------- to and from Arrow
# by buffers: pyarrow's own conversions import pandas, which takes longer than most files


def numpy_values(cells: Any) -> Any:
    """Numbers or truth values of Arrow in NumPy, NaN where there is none."""
    known, data = cells.buffers()
    here = slice(cells.offset, cells.offset + len(cells))
    if str(cells.type) == "bool":
        return _bits(data)[here]
    values = np.frombuffer(data or b"", dtype=np.dtype(str(cells.type)))[here]
    return np.where(_bits(known)[here], values, nan) if cells.null_count else values


def _bits(buffer: Any) -> Mask:
    return np.unpackbits(np.frombuffer(buffer or b"", np.uint8), bitorder="little").view(np.bool_)


def texts_at(cells: Any, places: Integers | Sequence[int]) -> Any:
    """The texts of Arrow at some places."""
    arrow = pyarrow()
    whole = np.ascontiguousarray(places, dtype=np.int64)
    data = arrow.py_buffer(whole.tobytes())
    return cells.take(arrow.Array.from_buffers(arrow.int64(), len(whole), [None, data]))


def text_array(texts: Any) -> Any:
    """Texts in Arrow."""
    if not isinstance(texts, list):
        return texts
    arrow = pyarrow()
    spelled = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, spelled)])
    is_large = ends[-1] > _MOST_BYTES
    kind = arrow.large_string() if is_large else arrow.string()
    places = ends.astype(np.int64 if is_large else np.int32).tobytes()
    buffers = [None, arrow.py_buffer(places), arrow.py_buffer(b"".join(spelled))]
    return arrow.Array.from_buffers(kind, len(texts), buffers)


def _text(text: str) -> Any:
    """One text in Arrow."""
    return text_array([text])[0]


def text_list(texts: Any) -> list[str]:
    """Texts as a list."""
    if isinstance(texts, list):
        return texts
    if not len(texts):
        return []
    ended = pyarrow().compute.binary_join_element_wise(texts, _text(""), _text("\0"))
    parts = _spelled(ended)[0][: -2 * _WORD].tobytes().decode().split("\0")[:-1]
    return parts if len(parts) == len(texts) else [*texts.to_pylist()]


def joined_texts(arrays: Sequence[Any]) -> Any:
    """Texts in Arrow as one array."""
    arrow = pyarrow()
    if sum(one.nbytes for one in arrays) > _MOST_BYTES:
        arrays = [one.cast(arrow.large_string()) for one in arrays]
    return arrow.concat_arrays(arrays)


def _matched(cells: Any, form: str) -> Mask:
    found: Mask = numpy_values(pyarrow().compute.match_substring_regex(cells, form))
    return found
