"""A fast way to read rows of plain words: no quotes, no comments, no needless blanks.

It accepts only what :func:`labelrules.data.arff.rows.careful` accepts, and gives the
same result; it reports no errors.
"""

from itertools import compress

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats
from labelrules.data.arff.digits import listed_rows
from labelrules.data.arff.layout import Layout, Lookup
from labelrules.data.arff.parts import DenseRows, Part
from labelrules.data.arff.rows import NUMBER_CHARACTERS
from labelrules.data.columns import LARGEST_EXACT

Columns = npt.NDArray[np.int32]

_MOST_DIGITS = 9
_NUMBER_BYTES = NUMBER_CHARACTERS.encode() + b"?,"
_ALL_BUT_SEPARATORS = bytes(set(range(256)) - set(b" ,"))
_COMMA_TO_SPACE = bytes.maketrans(b",", b" ")


def plain_words(data: bytes, layout: Layout, lookup: Lookup) -> Part | None:
    """Rows without quotes, comments and needless blanks, by splitting them at once."""
    if any(odd in data for odd in (b"'", b'"', b"%", b"\t")):
        return None
    rows = [row for row in data.replace(b", ", b",").split(b"\n") if row]
    if not rows:
        return None
    if rows[0].startswith(b"{"):
        return None if layout.must_be_listed else _plain_sparse(rows, layout, lookup)
    return _plain_dense(rows, layout, lookup)


def _plain_dense(rows: list[bytes], layout: Layout, lookup: Lookup) -> Part | None:
    n_attributes = len(lookup.target)
    text = b",".join(rows)
    if any(odd in text for odd in (b" ", b"{", b"}")):
        return None
    words = text.split(b",")
    if b"" in words or any(row.count(b",") != n_attributes - 1 for row in rows):
        return None
    # Where all words are numbers, it is faster to convert them at once.
    numbers = None if text.translate(None, _NUMBER_BYTES) else _numbers(words)
    by_attribute = None if numbers is None else numbers.reshape(len(rows), n_attributes)
    table = np.empty((len(rows), layout.n_features + len(layout.labels)), order="F")
    for attribute, column in enumerate(layout.target):
        if column < 0:
            continue
        of_word = lookup.of_word[attribute]
        if of_word is None and by_attribute is not None:
            table[:, column] = by_attribute[:, attribute]
            continue
        values = _values(words[attribute::n_attributes], of_word)
        if values is None:
            return None
        table[:, column] = values
    of_labels = table[:, layout.n_features :]
    if not ((of_labels == 0) | (of_labels == 1)).all():
        return None
    return DenseRows(table[:, : layout.n_features], of_labels.astype(np.int8, order="C"))


def _values(words: list[bytes], of_word: dict[bytes, float] | None) -> Floats | None:
    if of_word is None:
        return None if b",".join(words).translate(None, _NUMBER_BYTES) else _numbers(words)
    try:
        return np.fromiter(map(of_word.__getitem__, words), np.float64, len(words))
    except KeyError:
        return None


def _numbers(words: list[bytes]) -> Floats | None:
    """Words of the characters of numbers as numbers, NaN for a question mark.

    None if there may be one that is infinite, or a whole number that was rounded.
    """
    if b"?" in words:
        words = [b"nan" if word == b"?" else word for word in words]
    try:
        numbers = np.fromiter(map(float, words), np.float64, len(words))
    except ValueError:
        return None
    return None if (np.abs(numbers) >= LARGEST_EXACT).any() else numbers


def _plain_sparse(rows: list[bytes], layout: Layout, lookup: Lookup) -> Part | None:
    if not all(row.startswith(b"{") and row.endswith(b"}") for row in rows):
        return None
    inner = [row[1:-1] for row in rows]
    text = b",".join(filter(None, inner))
    # A space within each entry, a comma between any two.
    n_entries = text.count(b" ")
    separators = text.translate(None, _ALL_BUT_SEPARATORS)
    if b"{" in text or b"}" in text or separators != (b" ," * n_entries)[:-1]:
        return None
    if text and not n_entries:  # one index without a value
        return None
    words = text.translate(_COMMA_TO_SPACE).split(b" ") if text else []
    attributes = _attributes(words[::2], len(lookup.target))
    values = None if attributes is None else _entry_values(words[1::2], attributes, lookup)
    if b"" in words or attributes is None or values is None:
        return None
    ends = np.cumsum([row.count(b" ") for row in inner])
    return listed_rows(attributes, values, ends, layout, lookup)


def _attributes(words: list[bytes], n_attributes: int) -> Columns | None:
    digits = b"".join(words)
    if digits and not (digits.isdigit() and max(map(len, words)) <= _MOST_DIGITS):
        return None
    try:
        attributes = np.fromiter(map(int, words), np.int32, len(words))
    except ValueError:
        return None
    return attributes if (attributes < n_attributes).all() else None


def _entry_values(words: list[bytes], attributes: Columns, lookup: Lookup) -> Floats | None:
    """What each listed word means in its attribute; ignored attributes are not looked at."""
    values = np.zeros(len(words))
    of_words = np.flatnonzero(lookup.has_codes[attributes])
    try:
        for entry, attribute in zip(of_words.tolist(), attributes[of_words].tolist(), strict=True):
            values[entry] = lookup.of_word[attribute][words[entry]]
    except KeyError:
        return None
    numeric = ~lookup.has_codes[attributes] & (lookup.target[attributes] >= 0)
    numbers = _values(list(compress(words, numeric.tolist())), None)
    if numbers is None:
        return None
    values[numeric] = numbers
    return values
