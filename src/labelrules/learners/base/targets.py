"""The target Y of `fit`, labels or classes, and predictions in the same form."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from labelrules._types import Board, Floats
from labelrules.data import Schema, encode_labels
from labelrules.data.errors import DataError
from labelrules.data.memory.arrays import as_array
from labelrules.data.memory.columns import kind_of, text_of
from labelrules.data.memory.frames import is_frame, is_series, native, refuse_lazy, series_values
from labelrules.data.memory.labels import Names, read_labels

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Target:
    """The form of Y: labels, two classes (one label), or classes (a label for each).

    `values` are the classes in order; for labels the values of a cell, absent and present.
    """

    kind: Literal["labels", "two classes", "classes"]
    values: Array

    def classes(self, n_labels: int) -> Any:
        """The attribute `classes_` of scikit-learn: one array, or one for each label."""
        if self.kind == "labels":
            return [self.values.copy() for _ in range(n_labels)]
        return self.values

    def board(self, Y: Any, schema: Schema) -> Board:
        """The labels of other rows, whose classes must be among those known."""
        if self.kind == "labels":
            return encode_labels(Y, schema)
        classes = read_classes(Y)
        if classes is None:
            raise DataError("Y has labels, but fit was given classes: give classes here too")
        known = np.isin(classes.cells, self.values)
        if not known.all():
            row = int(np.argmin(known))
            raise DataError(
                f"Y has the class {classes.cells[row]!r:.60} in row {row}, unknown to fit"
            )
        labels = self.values[1:] if self.kind == "two classes" else self.values
        return np.asarray(classes.cells.reshape(-1, 1) == labels, dtype=np.int8)

    def probabilities(self, presence: Floats) -> Floats:
        """From probabilities of presence to the array that `predict_proba` returns."""
        if self.kind == "labels":
            return presence
        if self.kind == "two classes":
            return np.hstack([1.0 - presence, presence])
        return np.asarray(presence / presence.sum(axis=1, keepdims=True))

    def predicted(self, board: Board) -> Array:
        """From a filled board to labels, or to the first or second class."""
        values = self.values[board]
        return np.asarray(values if self.kind == "labels" else values[:, 0])

    def most_probable(self, presence: Floats) -> Array:
        """The class with the greatest probability, the first of those that are equal."""
        return np.asarray(self.values[presence.argmax(axis=1)])


class TargetLabels(NamedTuple):
    """The labels to learn from: rows by labels, and their names if Y gives them."""

    board: Board
    names: Names | None


class ClassCells(NamedTuple):
    """The class of each row, and the name of the series they come from if it has one."""

    cells: Array
    name: str | None


def read_target(Y: Any, taken: Iterable[str] = ()) -> tuple[Target, TargetLabels]:
    """Read the form of Y and its labels: one dimension holds classes, anything else labels.

    `taken` are the names of features, which labels that are classes must not have.
    """
    classes = read_classes(Y)
    if classes is not None:
        return _from_classes(classes, set(taken))
    board, names = read_labels(Y, None)
    return Target("labels", _cell_values(native(Y))), TargetLabels(board, names)


def read_classes(Y: Any) -> ClassCells | None:
    """Read the classes of Y; None if it holds labels."""
    Y = native(Y)
    if sparse.issparse(Y) or is_frame(Y):
        return None
    refuse_lazy(Y, "Y")
    values, name = series_values(Y) if is_series(Y) else (Y, None)
    cells = as_array(values, "Y")
    if cells.ndim == 2 and cells.shape[1] == 1 and not _are_labels(cells):
        _warn_of_column()
    elif cells.ndim != 1 or any(_is_row(cell) for cell in cells[:1]):
        return None
    plain = _plain(cells.reshape(-1))
    if plain.dtype.kind == "f":
        assert_all_finite(plain, input_name="y")
    check_classification_targets(plain)
    return ClassCells(plain, name)


def _is_row(cell: Any) -> bool:
    return isinstance(cell, (Sequence, set, frozenset, np.ndarray)) and not isinstance(cell, str)


def _are_labels(cells: Array) -> bool:
    return cells.dtype.kind != "U" and all(cell in (0, 1) for cell in cells[:, 0].tolist())


def _warn_of_column() -> None:
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. "
        "Give classes in one dimension, for example by Y.ravel().",
        DataConversionWarning,
        stacklevel=6,
    )


def _plain(cells: Array) -> Array:
    """Cells of one type; lists come as arrays of objects."""
    if cells.dtype.kind not in "OT":
        return cells
    kinds = [kind_of(cell) for cell in cells.tolist()]
    if "missing" in kinds:
        raise DataError(
            f"Y has no class in row {kinds.index('missing')}: leave the row out, or name a class "
            "for rows without one"
        )
    if len(set(kinds)) > 1:
        other = kinds.index(next(kind for kind in kinds if kind != kinds[0]))
        raise DataError(
            f"Unknown label type: the classes in Y are {cells[0]!r:.60} in row 0 and "
            f"{cells[other]!r:.60} in row {other}; make them all text or all numbers"
        )
    return np.array(cells.tolist())


def _from_classes(given: ClassCells, taken: set[str]) -> tuple[Target, TargetLabels]:
    classes, codes = np.unique(given.cells, return_inverse=True)
    if len(classes) == 2:
        board = codes.reshape(-1, 1).astype(np.int8)
        names = _label_name(classes, given.name)
        return Target("two classes", classes), TargetLabels(board, names and _free(names, taken))
    board = (codes.reshape(-1, 1) == np.arange(len(classes))).astype(np.int8)
    return Target("classes", classes), TargetLabels(board, _free(_class_names(classes), taken))


def _label_name(classes: Array, name: str | None) -> Names | None:
    """The label of two classes has the name of the second, unless they are 0 and 1."""
    if classes.dtype.kind != "U" and classes.tolist() == [0, 1]:
        return (name,) if name else None
    return _class_names(classes[1:])


def _class_names(classes: Array) -> Names:
    if classes.dtype.kind == "U":
        return tuple(text or "class_" for text in classes.tolist())
    return tuple(f"class_{text_of(value)}" for value in classes.tolist())


def _free(names: Names, taken: set[str]) -> Names:
    """The names, with underscores added until they differ from those of features."""
    if taken.isdisjoint(names) and len(set(names)) == len(names):
        return names
    return _free(tuple(f"{name}_" for name in names), taken)


def _cell_values(Y: Any) -> Array:
    """Absent and present, in the type of the cells of Y if they have one."""
    dtype = getattr(Y, "dtype", None)
    known = isinstance(dtype, np.dtype) and dtype.kind in "biuf"
    return np.array([0, 1], dtype=dtype if known else np.int64)
