"""A fast way to read the sparse rows of most multi-label data: ``{3 1,17 1,20 1}``.

It accepts only what :func:`labelrules.data.arff.rows.careful` accepts, and gives the
same result; it reports no errors.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers, Mask
from labelrules.data.arff.layout import Layout, Lookup
from labelrules.data.arff.parts import SparseRows

Bytes = npt.NDArray[np.uint8]
Columns = npt.NDArray[np.int32]

_ZERO, _SPACE, _COMMA, _OPEN, _CLOSE, _NEWLINE = b"0 ,{}\n"
_MOST_DIGITS = 9


def sparse_digits(data: bytes, layout: Layout, lookup: Lookup) -> SparseRows | None:
    """Sparse rows that each list something, with values of one digit; all at once.

    The spaces say where everything else must stand: a digit after each, then a comma
    and the next index, or a closing brace, a newline, an opening brace and the next index.
    """
    # As every other row, the last is followed by a newline and a brace.
    text = np.frombuffer(data.strip(b"\n") + b"\n{", dtype=np.uint8)
    spaces = np.flatnonzero(text == _SPACE)
    if layout.must_be_listed or not len(spaces) or spaces[-1] + 5 != len(text):
        return None
    digits, closers = text.take(spaces + 1) - _ZERO, text.take(spaces + 2)
    last = closers == _CLOSE
    if not (last[-1] and (last | (closers == _COMMA)).all() and _begin_rows(text, spaces[last])):
        return None
    lengths = _lengths(spaces, last)
    attributes = None if lengths is None else _numbers_before(text, spaces, lengths)
    if attributes is None or attributes.max() >= len(lookup.target) or digits.max() >= 10:
        return None
    values = lookup.of_digit.take(attributes * 10 + digits)
    if values.min() < 0:
        return None
    return listed_rows(attributes, values, np.flatnonzero(last) + 1, layout, lookup)


def _begin_rows(text: Bytes, last_spaces: Integers) -> bool:
    """Whether the text begins with a brace, and after each row a line with a brace begins."""
    return bool(
        text[0] == _OPEN
        and (text.take(last_spaces + 3) == _NEWLINE).all()
        and (text.take(last_spaces + 4) == _OPEN).all()
    )


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
    attributes: Columns,
    values: npt.NDArray[Any],
    ends: Integers,
    layout: Layout,
    lookup: Lookup,
) -> SparseRows | None:
    """Listed entries as rows, if each row has them in order and labels are 0 or 1.

    Row i has the entries from ``ends[i - 1]`` to ``ends[i]``.
    """
    in_order: Mask = np.ones(len(attributes) + 1, dtype=np.bool_)
    np.greater(attributes[1:], attributes[:-1], out=in_order[1:-1])
    in_order[ends] = True
    target = lookup.target.take(attributes)
    in_labels = target >= layout.n_features
    of_labels = np.flatnonzero(in_labels)
    cells = _unusual_cells(of_labels, target, values, ends, layout)
    if cells is None or not in_order.all():
        return None
    kept = (target >= 0) & (values != 0) & ~in_labels
    of_features = np.flatnonzero(kept)
    counts = np.diff(np.searchsorted(of_features, ends), prepend=0).astype(np.int32)
    return SparseRows(counts, target.take(of_features), values.take(of_features), cells)


def _unusual_cells(
    entries: Integers,
    target: Columns,
    values: npt.NDArray[Any],
    ends: Integers,
    layout: Layout,
) -> Integers | None:
    """The cells of Y that differ from what is not listed, if the given entries are 0 or 1."""
    labels, present = target.take(entries) - layout.n_features, values.take(entries)
    if not ((present == 0) | (present == 1)).all():
        return None
    first_cells = np.arange(len(ends)) * len(layout.labels)
    cells: Integers = np.repeat(first_cells, np.diff(ends, prepend=0)).take(entries) + labels
    unusual: Integers = cells[present != layout.usual_labels.take(labels)]
    return unusual
