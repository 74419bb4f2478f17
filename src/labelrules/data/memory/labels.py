"""Names of columns, and labels from 0/1 tables or sets of label names."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import counted, is_whole, listed, quoted, suggestion
from labelrules._types import UNSET, Board
from labelrules.data.errors import DataError
from labelrules.data.memory.arrays import as_array
from labelrules.data.memory.columns import kind_of
from labelrules.data.memory.frames import (
    FrameTable,
    is_frame,
    is_series,
    native,
    refuse_lazy,
    series_values,
)

Names = tuple[str, ...]


def checked_names(names: Iterable[str] | None, what: str) -> Names | None:
    """Names as a tuple; a single text is refused."""
    if names is None:
        return None
    if isinstance(names, str):
        raise DataError(f"{what} is one text, {names!r}: give a list of names")
    return tuple(str(name) if isinstance(name, str) else name for name in names)


def feature_names_of(
    own: Names | None, given: Names | None, n_columns: int, taken: Iterable[str]
) -> Names:
    """The names of the columns of X: its own, those passed, or the default."""
    if given is not None and len(given) != n_columns:
        raise DataError(f"X has {n_columns} columns but {len(given)} feature names were given")
    if own is None:
        return given if given is not None else default_names("x", n_columns, taken)
    if given is not None and given != own:
        raise DataError(
            "X is a frame and brings the names of its columns: leave feature_names out, "
            "or rename the columns"
        )
    return own


def default_names(letter: str, n_names: int, taken: Iterable[str]) -> Names:
    """x0, x1, ...; with underscores after the letter if such names are taken."""
    others = set(taken)
    names = tuple(f"{letter}{index}" for index in range(n_names))
    return names if others.isdisjoint(names) else default_names(f"{letter}_", n_names, others)


def positions(nominal: Iterable[str | int], names: Names) -> set[int]:
    """The positions of columns that are chosen by name or position."""
    if isinstance(nominal, (str, int)):
        raise DataError(f"nominal is {nominal!r}: give a list of names or positions")
    index_of: dict[str | int, int] = {name: index for index, name in enumerate(names)}
    found = set()
    for choice in nominal:
        if isinstance(choice, str) and choice not in index_of:
            message = f"nominal names {quoted(choice)}, which X does not have"
            raise DataError(message + suggestion(choice, names))
        if not isinstance(choice, str) and not is_whole(choice):
            raise DataError(f"nominal has {choice!r}: give names or positions of columns")
        if is_whole(choice) and not 0 <= choice < len(names):
            raise DataError(f"nominal has the position {choice}, but X has {len(names)} columns")
        found.add(index_of[choice] if isinstance(choice, str) else int(choice))
    return found


def read_labels(Y: Any, names: Names | None) -> tuple[Board, Names | None]:
    """Read labels as :func:`labelrules.data.dataset` takes them; also the names that Y has."""
    Y = native(Y)
    if sparse.issparse(Y):
        return _from_sparse(Y, names), names
    if is_frame(Y):
        return _from_frame(Y, names)
    refuse_lazy(Y, "Y")
    if is_series(Y):
        Y, own = series_values(Y)
        if names is None and own and not are_label_sets(Y):
            names = (own,)
    if are_label_sets(Y):
        return _from_sets(list(Y), names)
    array = as_array(Y, "Y")
    if array.ndim not in (1, 2):
        raise DataError(f"Y has {array.ndim} dimensions, but a table of rows and labels has two")
    cells = array.reshape(-1, 1) if array.ndim == 1 else array
    _check_count(cells.shape[1], names)
    return _zeros_and_ones(cells, names), names


def split_labels(Y: Iterable[Any], separator: str = ",") -> list[tuple[str, ...] | None]:
    """Label sets from texts such as ``"news, sports"``.

    Parameters
    ----------
    Y : iterable of str
        One text per row, such as a column of a frame; a missing one (None, NaN) is a row whose
        labels are unknown.
    separator : str, default=","
        What stands between two labels. Blanks around labels are left out, and empty labels too.

    Returns
    -------
    list of tuple of str, or None
        As `dataset` and the learners take them.

    Examples
    --------
    >>> split_labels(["news, sports", "", "news", None])
    [('news', 'sports'), (), ('news',), None]
    """
    if not isinstance(separator, str) or not separator:
        raise DataError(f"separator must be a text such as ',', not {separator!r:.60}")
    Y = native(Y)
    refuse_lazy(Y, "Y")
    if is_frame(Y) or isinstance(Y, (str, bytes, Mapping)) or not isinstance(Y, Iterable):
        raise DataError(
            f"Y is of type {type(Y).__name__}: give one text per row, as a list or as a single "
            "column of a frame, such as frame['tags']"
        )
    values = series_values(Y)[0] if is_series(Y) else list(Y)
    sets: list[tuple[str, ...] | None] = []
    for row, text in enumerate(values):
        if isinstance(text, str):
            parts = (part.strip() for part in text.split(separator))
            sets.append(tuple(part for part in parts if part))
        elif kind_of(text) == "missing":
            sets.append(None)
        else:
            raise DataError(f"Y has {text!r:.60} in row {row}, which is no text to be split")
    return sets


SEPARATORS = ",;|"
"""What people write between several labels in one text."""

ALSO_IN_NAMES = " /+&"
"""The same, but names have these, too: only texts of which every part stands alone are refused."""

_OTHERWISE = "if each text is one class, replace the separator by another character"


def refuse_joined(texts: Sequence[str], place: str = "Y") -> None:
    """Refuse classes that look like several labels in one text: a part stands alone elsewhere.

    Or there are fewer parts than texts, so that the texts are combinations of them.
    """
    _refuse_printed(texts, place)
    for separator in SEPARATORS + ALSO_IN_NAMES:
        sets = {frozenset(one or ()) for one in split_labels(set(texts), separator)}
        several, single = [one for one in sets if len(one) > 1], [s for s in sets if len(s) < 2]
        alone, n_labels = frozenset().union(*single), len(frozenset().union(*sets))
        if separator in ALSO_IN_NAMES:
            is_joined = any(one <= alone for one in several)
        else:
            is_joined = any(one & alone for one in several)
            is_joined |= bool(several) and n_labels < len(sets)
        if is_joined:
            example = next(
                text for text in texts if len(split_labels([text], separator)[0] or ()) > 1
            )
            raise DataError(
                f"Y has texts such as {quoted(example)}, which look like several labels in one: "
                f"split them by labelrules.split_labels({place}, {separator!r}); {_OTHERWISE}"
            )


def _refuse_printed(texts: Sequence[str], place: str) -> None:
    """Refuse texts that are lists of texts as Python and JSON print them, as read from a file."""
    pairs = {"[": "]", "{": "}", "(": ")"}
    quoting = [text for text in texts if text[1:2] in ("'", '"')]
    if quoting and all(text[-1:] == pairs.get(text[:1]) for text in texts):
        raise DataError(
            f"Y has texts such as {quoted(max(quoting, key=len))}, which look like printed lists: "
            f"make lists of them, as by [ast.literal_eval(text) for text in {place}]"
        )


def refuse_column_names(Y: Any, columns: Iterable[str], n_rows: int) -> None:
    """Refuse names of columns of X in place of their labels, and say how labels are named."""
    if isinstance(Y, (str, list, tuple)):
        names = [Y] if isinstance(Y, str) else Y
        texts = {name for name in names if isinstance(name, str)}
        if len(texts) == len(names) != n_rows and texts and texts <= set(columns):
            raise DataError(
                f"Y names columns of X ({listed(names)}): leave it out, and make the data by "
                f"dataset(X, label_names={list(names)!r:.200})"
            )


def _check_count(n_columns: int, names: Names | None) -> None:
    if names is not None and n_columns != len(names):
        raise DataError(f"Y has {n_columns} columns but {len(names)} label names were given")


def _from_sparse(Y: Any, names: Names | None) -> Board:
    if Y.ndim != 2:
        raise DataError(f"Y is sparse with {Y.ndim} dimensions, but rows and labels are two")
    _check_count(Y.shape[1], names)
    # wide numbers, because those of duplicates are added up and small ones would overflow
    is_small = Y.dtype.kind in "iuf" and Y.dtype.itemsize < 8
    entries = sparse.coo_array(Y.astype(np.float64) if is_small else Y, copy=True)
    entries.sum_duplicates()
    values = np.asarray(entries.data)
    labels, good = _label_cells(values)
    if not good.all():
        first = int(np.argmin(good))
        row, column = entries.coords[0][first], entries.coords[1][first]
        _refuse(values[first], row, column, names)
    board: Board = np.zeros(Y.shape, dtype=np.int8)
    board[entries.coords] = labels
    return board


def _from_frame(Y: Any, names: Names | None) -> tuple[Board, Names]:
    frame = FrameTable(Y, "Y")
    _check_count(len(frame.names), names)
    if names is not None and names != frame.names:
        raise DataError(
            f"Y is a frame with the columns {listed(frame.names)}, but label_names are "
            f"{listed(names)}: leave label_names out, or rename the columns"
        )
    board: Board = np.zeros(frame.shape, dtype=np.int8)
    for column, name in enumerate(frame.names):
        values = frame.values(column)
        if frame.shape[1] == 1:
            _refuse_several(values, name)
        board[:, column] = _zeros_and_ones(as_array(values, "Y").reshape(-1, 1), (name,))[:, 0]
    return board, frame.names


def _refuse_several(values: Any, name: str) -> None:
    """Refuse a frame of one column with several labels in a cell, and say what to give instead."""
    if are_label_sets(values):
        raise DataError(
            f"Y is a frame, and its column {quoted(name)} holds label sets: give the column "
            f"itself, Y[{name!r}]"
        )
    refuse_joined([cell for cell in values if isinstance(cell, str)], f"Y[{name!r}]")


def are_label_sets(Y: Any) -> bool:
    """Whether rows are label sets: sets, or lists with text; lists of numbers are 0/1 rows."""
    if isinstance(Y, np.ndarray) and (Y.dtype.kind != "O" or Y.ndim != 1):
        return False
    if not isinstance(Y, (Sequence, np.ndarray)) or isinstance(Y, (str, bytes)) or not len(Y):
        return False
    rows = [row for row in Y if _is_label_set(row)]
    if any(isinstance(row, (set, frozenset)) for row in rows):
        return True
    labels = [label for row in rows for label in row]
    return any(isinstance(label, str) for label in labels) if labels else len(rows) > 0


def _from_sets(rows: list[Any], names: Names | None) -> tuple[Board, Names]:
    is_unknown = [not _is_label_set(row) and kind_of(row) == "missing" for row in rows]
    rows = [() if unknown else row for row, unknown in zip(rows, is_unknown, strict=True)]
    for index, row in enumerate(rows):
        _check_set(row, index)
    _refuse_cells(rows, names)
    space = names if names is not None else tuple(sorted(set().union(*rows)))
    if not space and names is None:
        raise DataError("every label set in Y is empty: name the labels by label_names=")
    column_of = {name: column for column, name in enumerate(space)}
    board: Board = np.zeros((len(rows), len(space)), dtype=np.int8)
    for index, row in enumerate(rows):
        for label in row:
            if label not in column_of:
                raise DataError(
                    f"Y has the unknown label {quoted(label)} in row {index}"
                    f"{suggestion(label, space)}"
                )
            board[index, column_of[label]] = 1
    board[np.array(is_unknown, dtype=np.bool_)] = UNSET
    return board, space


def _is_label_set(row: Any) -> bool:
    is_array = isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind in "OUT"
    return is_array or isinstance(row, (set, frozenset, list, tuple))


def _check_set(row: Any, index: int) -> None:
    if not _is_label_set(row):
        raise DataError(
            f"Y has {row!r:.60} in row {index} where other rows have label sets: "
            "give each row a set of label names"
        )
    for label in row:
        if not isinstance(label, str):
            raise DataError(
                f"Y has the label {label!r:.60} of type {type(label).__name__} in row {index}: "
                "labels in a label set are text"
            )


def _refuse_cells(rows: list[Any], names: Names | None) -> None:
    """Lists of "0" and "1" are rows of a table that was read as text, not label sets."""
    if any(isinstance(row, (set, frozenset)) for row in rows):
        return
    found = set().union(*rows)
    if found and found <= {"0", "1"} and not found <= set(names or ()):
        raise DataError(
            "Y holds only the texts '0' and '1': turn them into numbers, as by "
            "[[int(cell) for cell in row] for row in Y] (for labels of these names, give sets)"
        )


def _zeros_and_ones(cells: npt.NDArray[Any], names: Names | None) -> Board:
    """The labels of a table; a cell that is missing or -1 is unknown."""
    if type(cells) is np.ndarray and cells.dtype.kind in "biu":  # the usual: one look is enough
        are_labels = cells.min(initial=0) >= -1 and cells.max(initial=0) <= 1
        if are_labels:
            return cells.astype(np.int8)
    labels, good = _label_cells(np.ma.getdata(cells))
    if isinstance(cells, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(cells)
        labels, good = np.where(masked, UNSET, labels), good | masked
    if not good.all():
        row, column = np.argwhere(~good)[0]
        _refuse(np.ma.getdata(cells)[row, column], row, column, names)
    return labels


def are_label_cells(cells: npt.NDArray[Any]) -> bool:
    """Whether a table holds labels: 0 and 1, and -1 or missing cells, which are unknown."""
    _, good = _label_cells(np.ma.getdata(cells))
    return bool((good | np.ma.getmaskarray(cells)).all())


def _label_cells(values: npt.NDArray[Any]) -> tuple[Board, npt.NDArray[np.bool_]]:
    """The cells as 0, 1 or unknown, and which of them are one of these."""
    if values.dtype.kind in "OT":
        flat = [_label_of(cell) for cell in values.reshape(-1).tolist()]
        labels = np.array([UNSET if one is None else one for one in flat], dtype=np.int8)
        good = np.array([one is not None for one in flat], dtype=np.bool_)
        return labels.reshape(values.shape), good.reshape(values.shape)
    if values.dtype.kind not in "biuf":
        return np.full(values.shape, UNSET), np.zeros(values.shape, dtype=np.bool_)
    unknown = (values == -1) | (values != values) if values.dtype.kind in "if" else False
    present = values == 1
    labels = np.where(unknown, UNSET, present.astype(np.int8))
    return labels, (values == 0) | present | unknown


def _label_of(cell: Any) -> int | None:
    """The label in one cell, unknown if the cell is missing; None if it is something else."""
    if kind_of(cell) == "missing":
        return int(UNSET)
    is_label = isinstance(cell, (Real, np.bool_)) and cell in (0, 1, -1)
    return int(cell) if is_label else None


def _refuse(value: Any, row: int, column: int, names: Names | None) -> NoReturn:
    shown = value.item() if isinstance(value, np.generic) else value
    name = column if names is None else quoted(names[column])
    raise DataError(
        f"Y has {shown!r:.60} in row {row}, column {name}: a label is 0 or 1 (-1 or "
        "missing if it is unknown)"
    )


def refuse_unknown(n_rows: int) -> None:
    """Refuse data with so many rows in which a label is unknown, if there are any."""
    if n_rows:
        raise DataError(
            f"in {counted(n_rows, 'row')} some label is unknown: leave them out, as by "
            "data.take((data.Y >= 0).all(axis=1)), or leave out labels by data.without"
        )
