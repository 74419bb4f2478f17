"""Fast readers of ARFF rows, with the same result as `rows.careful`; they report no errors."""

from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Floats, Integers, Mask
from labelrules.data.files.arff.layout import DenseRows, Layout, Lookup, Part, SparseRows
from labelrules.data.files.arff.rows import NUMBER_CHARACTERS
from labelrules.data.memory.columns import LARGEST_EXACT

Bytes = npt.NDArray[np.uint8]
Columns = npt.NDArray[np.int32]

_ZERO, _SPACE, _COMMA, _OPEN, _CLOSE, _NEWLINE = b"0 ,{}\n"
_MOST_DIGITS = 9


def sparse_digits(data: bytes, layout: Layout, lookup: Lookup) -> SparseRows | None:
    """Sparse rows that each list something, with values of one digit; all at once.

    The spaces determine the place of everything else: after each a digit, then a comma and the
    next index, or a closing brace, a newline, an opening brace and the next index.
    """
    # As every other row, the last is followed by a newline and a brace.
    text = np.frombuffer(data.strip(b"\n") + b"\n{", dtype=np.uint8)
    spaces = np.flatnonzero(text == _SPACE)
    if layout.must_be_listed or not len(spaces) or spaces[-1] + 5 != len(text):
        return None
    digits, closers = text.take(spaces + 1) - _ZERO, text.take(spaces + 2)
    last = closers == _CLOSE
    are_sound = last[-1] and (last | (closers == _COMMA)).all() and text[0] == _OPEN
    ends = spaces[last]  # after each row a line with a brace begins
    if not (are_sound and (text[ends + 3] == _NEWLINE).all() and (text[ends + 4] == _OPEN).all()):
        return None
    lengths = _lengths(spaces, last)
    attributes = None if lengths is None else _numbers_before(text, spaces, lengths)
    if attributes is None or attributes.max() >= len(lookup.target) or digits.max() >= 10:
        return None
    values = lookup.of_digit.take(attributes * 10 + digits)
    if values.min() < 0:
        return None
    return listed_rows(attributes, values, np.flatnonzero(last) + 1, layout, lookup)


def _lengths(spaces: Integers, last: Mask) -> Bytes | None:
    """Number of characters of the index before each space, unless one has too many or none."""
    gaps = spaces[1:] - spaces[:-1]
    if max(spaces[0], gaps.max(initial=0)) > 2 * _MOST_DIGITS:
        return None
    lengths: Bytes = np.empty(len(spaces), dtype=np.uint8)
    lengths[0] = spaces[0] - 1
    lengths[1:] = gaps
    lengths[1:] -= np.uint8(3) + last[:-1] * np.uint8(2)
    # Unsigned: a negative length is a large one.
    return lengths if lengths.min() > 0 and lengths.max() <= _MOST_DIGITS else None


def _numbers_before(text: Bytes, ends: Integers, lengths: Bytes) -> Columns | None:
    """The numbers of the given lengths that end before the given places, if they are numbers."""
    numbers: Columns = np.zeros(len(ends), dtype=np.int32)
    places = ends.copy()
    for exponent in range(lengths.max()):
        places -= 1
        digits = text.take(places) - _ZERO  # unsigned: what is below "0" becomes large
        digits *= lengths > exponent
        if digits.max() >= 10:
            return None
        numbers += np.multiply(digits, 10**exponent, dtype=np.int32)
    return numbers


def listed_rows(
    attributes: Columns, values: npt.NDArray[Any], ends: Integers, layout: Layout, lookup: Lookup
) -> SparseRows | None:
    """Entries, those of row i up to ``ends[i]``, as rows if in order and labels are 0 or 1."""
    in_order: Mask = np.ones(len(attributes) + 1, dtype=np.bool_)
    np.greater(attributes[1:], attributes[:-1], out=in_order[1:-1])
    in_order[ends] = True
    target = lookup.target.take(attributes)
    in_labels = target >= layout.n_features
    of_labels = np.flatnonzero(in_labels)
    labels, present = target.take(of_labels) - layout.n_features, values.take(of_labels)
    is_unknown = np.isnan(present) | (present == UNSET)
    if not in_order.all() or not ((present == 0) | (present == 1) | is_unknown).all():
        return None
    first_cells = np.arange(len(ends)) * len(layout.labels)
    cells = np.repeat(first_cells, np.diff(ends, prepend=0)).take(of_labels) + labels
    unusual = cells[(present != layout.usual_labels.take(labels)) & ~is_unknown]
    kept = (target >= 0) & (values != 0) & ~in_labels
    of_features = np.flatnonzero(kept)
    counts = np.diff(np.searchsorted(of_features, ends), prepend=0).astype(np.int32)
    return SparseRows(
        counts, target.take(of_features), values.take(of_features), unusual, cells[is_unknown]
    )


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
    numbers = None if text.translate(None, _NUMBER_BYTES) else _as_numbers(words)
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
    of_labels[np.isnan(of_labels)] = UNSET
    if not ((of_labels == 0) | (of_labels == 1) | (of_labels == UNSET)).all():
        return None
    return DenseRows(table[:, : layout.n_features], of_labels.astype(np.int8, order="C"))


def _values(words: list[bytes], of_word: dict[bytes, float] | None) -> Floats | None:
    if of_word is None:
        return None if b",".join(words).translate(None, _NUMBER_BYTES) else _as_numbers(words)
    try:
        return np.fromiter(map(of_word.__getitem__, words), np.float64, len(words))
    except KeyError:
        return None


def _as_numbers(words: list[bytes]) -> Floats | None:
    """Words as numbers, NaN for a question mark; None if one may be infinite or rounded."""
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
    """The value of each listed word in its attribute; ignored attributes are skipped."""
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
