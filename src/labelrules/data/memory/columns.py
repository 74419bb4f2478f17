"""Columns: numbers, or codes of the categories that were found."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf, isfinite, isinf, nan
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from labelrules._checks import quoted
from labelrules._types import Floats, Matrix
from labelrules.data.errors import DataError
from labelrules.data.memory.times import numpy_times, object_time_kind, object_times
from labelrules.data.schema import Feature, Kind, usual_kind
from labelrules.data.times import DAY, TIME_KINDS, TimeKind, time_text

BOOLEANS = ("False", "True")
"""The categories of a column of truth values."""

LARGEST_EXACT = 2**53
"""float64 holds every whole number up to here."""

_BLANKS = r"[\s\x1c-\x1f]*"  # what float() strips
_NUMBER = re.compile(rf"{_BLANKS}[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?{_BLANKS}", re.ASCII)
_NOT_FINITE = re.compile(rf"{_BLANKS}[+-]?(nan|inf(inity)?){_BLANKS}", re.ASCII | re.IGNORECASE)
_LEADING_ZERO = re.compile(rf"{_BLANKS}[+-]?0\d", re.ASCII)
_WHOLE = re.compile(r"([+-]?)0*([0-9]+)")
_MOST_DIGITS = 400  # no float64 has as many; Python refuses to convert thousands

_ADVICE = {
    "c": ("complex numbers", "give the real and the imaginary part a column each"),
    "S": ("bytes", "decode them to text"),
    "V": ("records", "give each field a column of its own"),
}


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """Values of one column: numbers, or codes of its own categories; NaN is a missing value.

    The kind is given if it does not follow from the categories.
    """

    values: Floats
    categories: tuple[str, ...] | None = None
    are_truth_values: bool = False
    kind: Kind | None = None

    def feature(self, name: str) -> Feature:
        """The feature that a column with these values makes."""
        return Feature(name, self.categories, self.kind or usual_kind(self.categories))

    def recoded(self, categories: Sequence[str]) -> Floats:
        """Codes of other categories; NaN for a value that is not among them."""
        code_of = {category: code for code, category in enumerate(categories)}
        codes = np.array([code_of.get(text, nan) for text in self.categories or ()] + [nan])
        found = np.isfinite(self.values)
        return codes[np.where(found, self.values, len(codes) - 1).astype(np.intp)]


class FeatureTable(ABC):
    """A table that is read column by column; arrays have no names."""

    names: tuple[str, ...] | None = None
    shape: tuple[int, int]
    is_numeric = False
    """Whether all columns hold numbers, so that `numbers` can read them at once."""

    @abstractmethod
    def read(self, index: int, name: str, nominal: bool, local: bool = False) -> EncodedColumn:
        """Read one column; `name` is for messages; with `nominal`, numbers become categories.

        Times with a zone are in UTC; with `local`, those of the clock there, without the zone.
        """

    def numbers(self, names: Sequence[str]) -> Matrix:
        """All columns of a numeric table; the names are for messages."""
        raise NotImplementedError

    def kinds(self) -> list[Kind]:
        """The kind of each column of a numeric table."""
        return ["numeric"] * self.shape[1]

    def assembled(self, columns: Iterator[Floats]) -> Matrix:
        """A frozen matrix of encoded columns, each of which is read when its turn comes."""
        matrix = np.empty(self.shape, order="F")
        for index, column in enumerate(columns):
            matrix[:, index] = column
        matrix.setflags(write=False)
        return matrix


def read_array(
    values: npt.NDArray[Any], name: str, nominal: bool, local: bool = False
) -> EncodedColumn:
    """Read a one-dimensional array; the parameters are those of `FeatureTable.read`."""
    kind = values.dtype.kind
    if kind in "OT":
        return read_objects(values.astype(object).tolist(), name, nominal, local)
    if kind == "b":
        return EncodedColumn(values.astype(np.float64), BOOLEANS, are_truth_values=True)
    if kind == "U":
        categories, codes = np.unique(values, return_inverse=True)
        return EncodedColumn(codes.astype(np.float64), tuple(categories.tolist()))
    if kind in "Mm":
        return time_column(*numpy_times(values, name), nominal)
    if kind not in "iuf":
        refuse_kind(name, *_ADVICE.get(kind, (f"values of type {values.dtype}", "leave it out")))
    if nominal:
        numbers = values if kind in "iu" else values.astype(np.float64)
        known = ~np.isnan(numbers)
        different, codes = np.unique(numbers[known], return_inverse=True)
        column = np.full(len(numbers), nan)
        column[known] = codes
        return EncodedColumn(column, category_texts(different.tolist(), name))
    check_exact(values.reshape(-1, 1), [name])
    return EncodedColumn(values.astype(np.float64, copy=False))


def read_objects(
    values: Sequence[Any], name: str, nominal: bool, local: bool = False
) -> EncodedColumn:
    """Read Python objects: numbers make a numeric column, text and truth values a nominal one.

    The parameters are those of `FeatureTable.read`.
    """
    kinds = [kind_of(value) for value in values]
    found = set(kinds) - {"missing"}
    _check_kinds(values, kinds, found, name, nominal)
    if found <= {"number"} and not nominal:
        numbers = [
            nan if kind == "missing" else _exact_float(value, name)
            for value, kind in zip(values, kinds, strict=True)
        ]
        return EncodedColumn(np.array(numbers, dtype=np.float64))
    if found and found <= set(TIME_KINDS):
        return time_column(*object_times(values, kinds, name, local), nominal)
    return nominal_column(values, kinds, name)


def time_column(values: Floats, kind: TimeKind, nominal: bool) -> EncodedColumn:
    """Dates, times or durations; times that are all at midnight are dates."""
    known = values[~np.isnan(values)]
    if nominal:
        different, places = np.unique(known, return_inverse=True)
        codes = np.full(len(values), nan)
        codes[~np.isnan(values)] = places
        return EncodedColumn(codes, tuple(_time_category(value, kind) for value in different))
    if kind == "time" and known.size and not (known % DAY).any():
        return EncodedColumn(values / DAY, kind="date")
    return EncodedColumn(values, kind=kind)


def _time_category(value: float, kind: TimeKind) -> str:
    is_midnight = kind == "time" and value % DAY == 0
    return str(time_text(value / DAY, "date") if is_midnight else time_text(value, kind))


def nominal_column(
    values: Sequence[Any], kinds: Sequence[str], name: str, declared: Iterable[Any] | None = None
) -> EncodedColumn:
    """Codes of the declared categories, or else of those found, sorted."""
    # 1 and True are equal in Python but not the same category: the kind is part of the key
    different = {(k, v): v for k, v in zip(kinds, values, strict=True) if k != "missing"}
    only_truth_values = {kind for kind, _ in different} == {"bool"}
    if declared is None:  # numbers by size, truth values always both, anything else by its text
        are_numbers = {kind for kind, _ in different} == {"number"}
        in_order = sorted(different.values(), key=None if are_numbers else category_text)
        declared = [False, True] if only_truth_values else in_order
    categories = category_texts(declared, name)
    code_of_text = {category: float(code) for code, category in enumerate(categories)}
    code_of = {key: code_of_text[category_text(value)] for key, value in different.items()}
    # A missing value may have no hash, such as a signalling NaN of `decimal`.
    cells = zip(kinds, values, strict=True)
    codes = [nan if key[0] == "missing" else code_of.get(key, nan) for key in cells]
    return EncodedColumn(np.array(codes, dtype=np.float64), categories, only_truth_values)


def category_texts(values: Iterable[Any], name: str) -> tuple[str, ...]:
    """The texts of categories; two different values may not share a text."""
    first: dict[str, Any] = {}
    for value in values:
        if kind_of(value) == "missing":
            continue
        if kind_of(value) == "number" and abs(value) == inf:
            raise DataError(f"column {quoted(name)} holds an infinite value: mark it as missing")
        known = first.setdefault(category_text(value), value)
        if known is not value and (kind_of(known) != kind_of(value) or known != value):
            raise DataError(
                f"column {quoted(name)}: the values {known!r:.60} and {value!r:.60} would be the "
                f"same category {quoted(category_text(value))}; make them all text or all numbers"
            )
    return tuple(first)


def category_text(value: Any) -> str:
    """A value as a category: a whole number has no decimal point, even if it is a float."""
    if kind_of(value) != "number":
        return str(value)
    if not isinstance(value, (float, np.floating)) and int(value) == value:
        return str(int(value))
    return repr(float(value) + 0.0).removesuffix(".0")  # adding 0.0 makes -0.0 plain


def is_number_text(category: str) -> bool:
    """Whether the category is the text of a number."""
    for number in (int, float):
        try:
            value = number(category)
        except ValueError:
            continue
        if category == category_text(value):
            return category not in ("inf", "-inf", "nan")
    return False


def kind_of(value: Any) -> str:
    """``"missing"``, ``"text"``, ``"bool"``, ``"number"``, a kind of times, or another type."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, Decimal):
        return "missing" if value.is_nan() else "number"
    if isinstance(value, Real) and not isinstance(value, np.timedelta64):
        return "missing" if value != value else "number"
    name = type(value).__name__
    is_no_time = isinstance(value, (np.datetime64, np.timedelta64)) and np.isnat(value)
    # pandas is not imported here: its two marks of a missing value go by their names
    if is_no_time or name in ("NAType", "NaTType"):
        return "missing"
    # a time of day is of the type called time, but it is no time
    other = f"{type(value).__module__}.{name}" if name in TIME_KINDS else name
    return object_time_kind(value) or other


def stands_for_numbers(categories: Sequence[str] | None) -> bool:
    """Whether numbers may stand for categories: one looks like a number, or none is known."""
    return categories is not None and (not categories or any(map(is_number_text, categories)))


def are_truth_words(categories: Sequence[str] | None) -> bool:
    """Whether the categories are truth values: True and False, in any letters, or one of them."""
    words = [category.lower() for category in categories or ()]
    return bool(words) and {*words} <= {"true", "false"} and len({*words}) == len(words)


def meant_truth_word(text: str, categories: Sequence[str]) -> str | None:
    """The truth value that a text writes in other letters than the categories do; else None.

    >>> meant_truth_word("true", BOOLEANS), meant_truth_word("True", BOOLEANS)
    ('True', None)
    """
    if text in categories or not are_truth_words(categories):
        return None
    return next((word for word in categories if word.lower() == text.lower()), None)


def check_exact(values: npt.NDArray[Any], names: Sequence[str]) -> None:
    """Refuse whole numbers that float64 would round, by the name of their column."""
    if not is_exact(values):
        for row, column in np.argwhere(_beyond(values)):
            _exact_float(values[row, column], names[column])


def is_exact(values: npt.NDArray[Any]) -> bool:
    """Whether float64 certainly holds every whole number exactly."""
    is_wide = values.dtype.itemsize >= 8 and values.dtype.kind in "iuf"
    return not is_wide or values.dtype == np.float64 or not _beyond(values).any()


def _beyond(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return (values > LARGEST_EXACT) | (values < -LARGEST_EXACT)


def spelled_integer(text: str) -> int | None:
    """The number that is written by digits without point and exponent, such as -007; else None."""
    match = _WHOLE.fullmatch(text.strip())
    return int(match[1] + match[2]) if match and len(match[2]) <= _MOST_DIGITS else None


def is_rounded(text: str) -> bool:
    """Whether the text is a whole number that float64 would turn into another one."""
    number = spelled_integer(text)
    return number is not None and abs(number) > LARGEST_EXACT and float(text) != number


def sorts_of(cell: str) -> Sequence[str]:
    """The sorts of text that a cell is: number, beyond (float64), other (as nan), text."""
    if _NUMBER.fullmatch(cell):
        return ("number", "beyond") if why_no_number(cell) else ("number",)
    return ("other",) if _NOT_FINITE.fullmatch(cell) else ("other", "text")


def plain_numbers(cells: Sequence[str], missing: str) -> Floats | None:
    """The numbers in cells of text; None if a cell needs a closer look."""
    try:
        numbers = floats_of(cells, missing)
    except ValueError:
        return None
    text = "".join(cells)
    # float() also takes digits of other scripts, underscores, and words such as "nan"
    if "_" in text or not text.isascii() or (np.abs(numbers) >= LARGEST_EXACT).any():
        return None
    return numbers if np.isnan(numbers).sum() == cells.count(missing) else None


def floats_of(cells: Sequence[str], missing: str) -> Floats:
    """The cells by Python's float(), NaN for the missing ones."""
    return np.array([nan if cell == missing else float(cell) for cell in cells], dtype=np.float64)


def why_no_number(cell: str) -> str | None:
    """What a cell is instead of a number that float64 can hold; None if it is such a number."""
    if not _NUMBER.fullmatch(cell) or isinf(float(cell)):
        return quoted(cell)
    if is_rounded(cell):
        return f"the whole number {cell.strip():.60}, which a float64 cannot hold exactly"
    return None


def numbers_of(texts: Iterable[str]) -> list[float] | None:
    """The texts as numbers; None if one is not a number, or a code such as 007."""
    numbers: list[float] = []
    for text in texts:
        if _LEADING_ZERO.match(text) or not _NUMBER.fullmatch(text) or isinf(float(text)):
            return None
        whole = spelled_integer(text)
        numbers.append(float(text) if whole is None else whole)
    return numbers


def refuse_kind(name: str, what: str, advice: str) -> NoReturn:
    """Raise an error: a column holds values that no condition can test."""
    raise DataError(f"column {quoted(name)} holds {what}: {advice}")


def _exact_float(value: Any, name: str) -> float:
    is_whole = isinstance(value, np.longdouble) and np.isfinite(value) and value == np.floor(value)
    if isinstance(value, np.integer) or is_whole:
        value = int(value)  # else it would be rounded, too, when it is compared
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if isfinite(number) and number != value and int(value) == value:
        raise DataError(
            f"column {quoted(name)} holds the whole number {value}, which a float64 cannot "
            f"hold exactly: make the column nominal (nominal=[{quoted(name)}]) or scale it"
        )
    return number


def _check_kinds(
    values: Sequence[Any], kinds: Sequence[str], found: set[str], name: str, nominal: bool
) -> None:
    for other in sorted(found - {"text", "bool", "number", *TIME_KINDS}):
        what = f"a value of type {other} in row {kinds.index(other)}"
        refuse_kind(name, what, "a cell is a number, text, a truth value, a time or missing")
    if len(found) > 1 and found & set(TIME_KINDS) and not found <= {"date", "time"}:
        what = " and ".join(f"a {kind} in row {kinds.index(kind)}" for kind in sorted(found))
        refuse_kind(name, what, "make them all of one kind")
    if "number" in found and len(found) > 1 and not nominal:
        number = values[kinds.index("number")]
        text = next(v for v, kind in zip(values, kinds, strict=True) if kind in ("text", "bool"))
        raise DataError(
            f"column {quoted(name)} mixes numbers such as {number!r:.60} with values such as "
            f"{text!r:.60}: clean it, or make it nominal (nominal=[{quoted(name)}])"
        )
