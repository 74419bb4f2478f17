"""A fast way to read the sparse rows of most multi-label data: ``{3 1,17 1,20 1}``.

It accepts only what :func:`labelrules.data.arff_rows.careful` accepts, and gives the
same result; it reports no errors.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers, Mask
from labelrules.data.arff_layout import Layout, Lookup
from labelrules.data.arff_parts import SparseRows

Bytes = npt.NDArray[np.uint8]
Columns = npt.NDArray[np.int32]

_ZERO, _SPACE, _COMMA, _OPEN, _CLOSE, _NEWLINE = b"0 ,{}\n"
_MOST_DIGITS = 9


def sparse_digits(data: bytes, layout: Layout, lookup: Lookup) -> SparseRows | None:
    """Sparse rows that each list something, with values of one digit; all at once."""
    # After the last value stand its brace and, as after every row, two more characters.
    text = np.frombuffer(data.strip(b"\n") + b"\n{", dtype=np.uint8)
    spaces = np.flatnonzero(text == _SPACE)
    if layout.must_be_listed or not len(spaces) or spaces[-1] + 5 != len(text):
        return None
    numbers = _numbers_before(text, spaces)
    if numbers is None:
        return None
    attributes, starts = numbers
    digits, closers = text[spaces + 1] - _ZERO, text[spaces + 2]
    last = closers == _CLOSE
    if not (_is_covered(text, spaces, starts, closers, last) and (digits < 10).all()):
        return None
    if (attributes >= len(lookup.target)).any():
        return None
    values = lookup.of_digit[attributes * 10 + digits]
    if (values < 0).any():
        return None
    return listed_rows(attributes, values, np.flatnonzero(last) + 1, layout, lookup)


def _numbers_before(text: Bytes, ends: Integers) -> tuple[Columns, Integers] | None:
    """The numbers that end before the given places, and where they start.

    None if there is no digit before one of them, or too many.
    """
    digits = text[ends - 1] - _ZERO  # unsigned: what is below "0" becomes large
    if (digits >= 10).any():
        return None
    numbers, starts = digits.astype(np.int32), ends - 1
    going_on: Mask = np.ones(len(ends), dtype=np.bool_)
    for distance in range(2, _MOST_DIGITS + 2):
        digits = text[ends - distance] - _ZERO
        going_on &= digits < 10
        if not going_on.any():
            return numbers, starts
        numbers += (digits * going_on).astype(np.int32) * 10 ** (distance - 1)
        starts -= going_on
    return None


def _is_covered(
    text: Bytes, spaces: Integers, starts: Integers, closers: Bytes, last: Mask
) -> bool:
    """Whether index, space, value and closer of the entries, and line ends, are all there is.

    After a comma the next index starts at once, after a closing brace it does after a
    newline and an opening brace.
    """
    after = spaces[last] + 3
    return bool(
        text[0] == _OPEN
        and starts[0] == 1
        and last[-1]
        and (last | (closers == _COMMA)).all()
        and (starts[1:] - spaces[:-1] == 3 + 2 * last[:-1]).all()
        and (text[after] == _NEWLINE).all()
        and (text[after + 1] == _OPEN).all()
    )


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
    target = lookup.target[attributes]
    in_labels = target >= layout.n_features
    labels, of_labels = target[in_labels] - layout.n_features, values[in_labels]
    if not (in_order.all() and ((of_labels == 0) | (of_labels == 1)).all()):
        return None
    n_labels = len(layout.labels)
    first_cells = np.arange(0, len(ends) * n_labels, n_labels, dtype=np.int32)
    cells = np.repeat(first_cells, np.diff(ends, prepend=0))[in_labels] + labels
    kept = (target >= 0) & ~in_labels & (values != 0)
    n_kept = np.concatenate(([0], np.cumsum(kept, dtype=np.int32)))[ends]
    return SparseRows(
        np.diff(n_kept, prepend=0).astype(np.int32),
        target[kept],
        values[kept],
        cells[of_labels != layout.usual_labels[labels]],
    )
