"""A fast way to read rows of plain words: no quotes, no comments, no needless blanks.

It accepts only what :func:`labelrules.data.arff_rows.careful` accepts, and gives the
same result; it reports no errors.
"""

from itertools import chain

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats
from labelrules.data.arff_digits import listed_rows
from labelrules.data.arff_layout import Layout, Lookup
from labelrules.data.arff_parts import DenseRows, Part
from labelrules.data.arff_rows import NUMBER_CHARACTERS

Columns = npt.NDArray[np.int32]

_MOST_DIGITS = 9
_NUMBER_BYTES = NUMBER_CHARACTERS.encode() + b"? "


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
    if any(row.count(b",") != n_attributes - 1 for row in rows):
        return None
    words = text.split(b",")
    if b"" in words:
        return None
    table = np.empty((len(rows), layout.n_features + len(layout.labels)), order="F")
    for attribute, column in enumerate(layout.target):
        if column >= 0:
            values = _values(words[attribute::n_attributes], lookup.of_word[attribute])
            if values is None:
                return None
            table[:, column] = values
    of_labels = table[:, layout.n_features :]
    if not ((of_labels == 0) | (of_labels == 1)).all():
        return None
    return DenseRows(table[:, : layout.n_features], of_labels.astype(np.int8, order="C"))


def _values(words: list[bytes], of_word: dict[bytes, float] | None) -> Floats | None:
    if of_word is None:
        return _numbers(words)
    try:
        return np.fromiter(map(of_word.__getitem__, words), np.float64, len(words))
    except KeyError:
        return None


def _numbers(words: list[bytes]) -> Floats | None:
    """Words without blanks as finite numbers, NaN for a question mark."""
    text = b" ".join(words)
    if text.translate(None, _NUMBER_BYTES):
        return None
    if b"?" in text:
        words = [b"nan" if word == b"?" else word for word in words]
    try:
        numbers = np.fromiter(map(float, words), np.float64, len(words))
    except ValueError:
        return None
    return None if np.isinf(numbers).any() else numbers


def _plain_sparse(rows: list[bytes], layout: Layout, lookup: Lookup) -> Part | None:
    text = b"".join(rows)
    if not text.count(b"{") == text.count(b"}") == len(rows):
        return None
    if not all(row.startswith(b"{") and row.endswith(b"}") for row in rows):
        return None
    entries = [
        [entry.split(b" ") for entry in row[1:-1].split(b",")] if row != b"{}" else []
        for row in rows
    ]
    words = list(chain.from_iterable(chain.from_iterable(entries)))
    if b"" in words or any(len(entry) != 2 for row in entries for entry in row):
        return None
    attributes = _attributes(words[::2], len(lookup.target))
    values = None if attributes is None else _entry_values(words[1::2], attributes, lookup)
    if attributes is None or values is None:
        return None
    ends = np.cumsum([len(row) for row in entries])
    return listed_rows(attributes, values, ends, layout, lookup)


def _attributes(words: list[bytes], n_attributes: int) -> Columns | None:
    if not words:
        return np.empty(0, dtype=np.int32)
    if not all(map(bytes.isdigit, words)) or max(map(len, words)) > _MOST_DIGITS:
        return None
    attributes = np.fromiter(map(int, words), np.int32, len(words))
    return attributes if (attributes < n_attributes).all() else None


def _entry_values(words: list[bytes], attributes: Columns, lookup: Lookup) -> Floats | None:
    """What each listed word means in its attribute; ignored attributes are not looked at."""
    values = np.zeros(len(words))
    numeric: list[int] = []
    ignored = lookup.target < 0
    try:
        for place, attribute in enumerate(attributes.tolist()):
            of_word = lookup.of_word[attribute]
            if of_word is not None:
                values[place] = of_word[words[place]]
            elif not ignored[attribute]:
                numeric.append(place)
    except KeyError:
        return None
    numbers = _numbers([words[place] for place in numeric])
    if numbers is None:
        return None
    values[numeric] = numbers
    return values
