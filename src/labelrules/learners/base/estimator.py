"""Base class of all learners: a scikit-learn classifier of tables with several labels per row."""

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from labelrules._types import UNSET, Board, Floats
from labelrules.data import DataError, Dataset, Schema, dataset, encode_labels
from labelrules.data.document import Record
from labelrules.data.memory.arrays import as_array
from labelrules.data.memory.columns import category_text, kind_of
from labelrules.data.memory.frames import (
    is_frame,
    is_series,
    native,
    refuse_lazy,
    series_values,
)
from labelrules.data.memory.labels import (
    Names,
    are_label_cells,
    are_label_sets,
    read_labels,
    refuse_column_names,
    refuse_joined,
)
from labelrules.data.schema import refuse_half_character
from labelrules.data.suspicious import warn_of_columns
from labelrules.data.weights import are_whole, counting_rows, weighted
from labelrules.kernels.device import Engine, is_on_gpu
from labelrules.learners.base.progress import About, levels_to_caller, note_training_data
from labelrules.learners.base.renaming import RenamedByCopy
from labelrules.learners.base.tables import (
    NO_LABELS,
    are_in_blocks,
    as_features,
    by_partition,
    fits_without_names,
    frame_columns,
    given_names,
    has_known_names,
    note_rows,
    refuse_empty,
    refuse_weights,
    renamed,
    rows_in_blocks,
    telling_of_idle_rows,
    without_idle_rows,
)
from labelrules.rules import Theory, labels_without_rules
from labelrules.rules.json import TheoryRecord, read_theory, theory_record

if TYPE_CHECKING:
    from labelrules.inspection.explanation.values import Explanation

Array = npt.NDArray[Any]

WeightKind: TypeAlias = Literal["whole", "rows", "cells"]
"""Weights that stand for repeated rows, other weights of rows, or of cells: rows by labels."""


@dataclass(frozen=True, eq=False)
class Target:
    """The form of Y: labels, two classes (one label), or classes (a label for each).

    `values` are the classes in order; for labels the values of a cell, absent and present.
    """

    kind: Literal["labels", "two classes", "classes"]
    values: Array

    def classes(self, n_labels: int) -> Array:
        """The attribute `classes_` of scikit-learn: the classes, or the numbers of the labels.

        The latter as in MLPClassifier and OneVsRestClassifier; a single label is absent or present.
        """
        return np.arange(n_labels) if self.kind == "labels" and n_labels > 1 else self.values

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
        total = presence.sum(axis=1, keepdims=True)
        alike = np.full_like(presence, 1 / presence.shape[1])  # where no class is probable at all
        return np.asarray(np.divide(presence, total, out=alike, where=total > 0))

    def predicted(self, board: Board) -> Array:
        """From a filled board to labels, or to a class: the first of those present."""
        if self.kind == "classes":
            return self.most_probable(board)
        values = self.values[board]
        return np.asarray(values if self.kind == "labels" else values[:, 0])

    def most_probable(self, presence: Floats | Board) -> Array:
        """The class with the greatest probability, the first of those that are equal."""
        return np.asarray(self.values[presence.argmax(axis=1)])


def labels_as_given() -> Target:
    """The form of labels that come as 0 and 1, as those of a data set."""
    return Target("labels", np.array([0, 1]))


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
    _warn_of_one_sided(board)
    return Target("labels", _cell_values(native(Y))), TargetLabels(board, names)


def read_classes(Y: Any) -> ClassCells | None:
    """Read the classes of Y; None if it holds labels."""
    Y = native(Y)
    if sparse.issparse(Y) or is_frame(Y):
        return None
    refuse_lazy(Y, "Y")
    values, name = series_values(Y) if is_series(Y) else (Y, None)
    if are_label_sets(values):
        return None
    cells = as_array(values, "Y")
    if cells.ndim == 2 and cells.shape[1] == 1 and not are_label_cells(cells):
        _warn_of_column()
    elif cells.ndim != 1 or any(
        isinstance(cell, (Sequence, set, frozenset, np.ndarray)) and not isinstance(cell, str)
        for cell in cells[:1]
    ):
        return None
    plain = _plain(cells.reshape(-1))
    if plain.dtype.kind == "f":
        assert_all_finite(plain, input_name="y")
    check_classification_targets(plain)
    if plain.dtype.kind == "U":
        refuse_joined(np.unique(plain).tolist())
    return ClassCells(plain, name)


def _warn_of_column() -> None:
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. "
        "Give classes in one dimension, for example by Y.ravel().",
        DataConversionWarning,
        stacklevel=levels_to_caller(),
    )


def _warn_of_one_sided(board: Board) -> None:
    """Warn of one label that is nowhere absent: its -1 may have been meant for a class."""
    if board.shape[1] == 1 and np.unique(board).tolist() == [UNSET, 1]:
        text = (
            "Y has one label, which is present wherever it is known: -1 and missing are unknown. "
            "Write 0 where it is absent; give two classes in one dimension, as by Y.ravel()."
        )
        warnings.warn(text, stacklevel=levels_to_caller())


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
    for text in classes.tolist() if classes.dtype.kind == "U" else ():
        refuse_half_character(text, "the class")
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
    return tuple(f"class_{category_text(value)}" for value in classes.tolist())


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


SMALLEST = 1e-12
"""The least probability, and the least distance from certainty, that log-odds are taken of."""


def _has_labels(model: Any) -> bool:
    """Whether a learner was fitted to labels, not to classes."""
    return hasattr(model, "_target") and model._target.kind == "labels"


class TableClassifier(RenamedByCopy, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """A scikit-learn classifier of rows that may have several labels.

    A subclass has a `fit` that calls `_training_data` and, at the end, `_remember`; and it predicts
    the labels and their probabilities by `_labels` and `_presence`. For model files it names the
    fitted attributes to store in `_State`. Fitted attributes: see :class:`RuleClassifier`.
    """

    _State: ClassVar[type[Record]]
    """The record of the fitted attributes beyond schema and classes, without their underscores."""
    about_: About
    _rules_choose_classes: ClassVar[bool] = False
    """Whether a class is predicted by the labels of the row, and not by probabilities."""
    _takes_partitions: ClassVar[bool] = False
    """Whether it learns from rows in partitions."""
    _why_not_stored: ClassVar[str | None] = None
    """Why files cannot hold the models of this learner, and what to do; None if they can."""
    engine: Engine = "auto"
    """Where rules are applied: "auto", "cpu" or "gpu"; the predictions are the same."""

    def _check_for_partitions(self) -> None:
        """Refuse rows that are not in memory, or parameters that need them there."""
        raise TypeError(
            f"a {type(self).__name__} needs all rows in memory; SeparateAndConquer(bins=255) and "
            "Ripper(bins=255) learn from partitions, and so do BinaryRelevance, ClassifierChain "
            "and StackedBinaryRelevance of them"
        )

    def _check_parameters(self) -> None:
        """Refuse parameters with which `fit` could not learn, as far as that needs no data."""

    @abstractmethod
    def _labels(self, X: Any) -> Board:
        """Predict labels, 0 or 1; X is a data set, or a table that `_table` has checked."""

    @abstractmethod
    def _presence(self, X: Any) -> Floats:
        """Estimate the probability that each label is present; X as for `_labels`."""

    @by_partition
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict labels, or classes where `fit` was given classes.

        Of classes it is the most probable, the first on a tie; of two the second has the label.
        """
        target = self._check_fitted()
        if target.kind == "classes" and not self._rules_choose_classes:
            return target.most_probable(self._presence(self._table(X)))
        return target.predicted(self._labels(self._table(X)))

    @by_partition
    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probabilities of presence, rows by labels, or those of classes."""
        return self._check_fitted().probabilities(self._presence(self._table(X)))

    @available_if(_has_labels)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The log-odds of presence, rows by labels; only where `fit` was given labels.

        Scikit-learn's scorers of rankings, such as "roc_auc", ask for it.
        """
        return np.asarray(logit(np.clip(self.predict_proba(X), SMALLEST, 1.0 - SMALLEST)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose labels are all right (subset accuracy), or whose class is."""
        if self._check_fitted().kind != "labels":
            return float(super().score(X, y, sample_weight))
        truth = encode_labels(X if y is None and isinstance(X, Dataset) else y, self.schema_)
        right = ((self.predict(X) == truth) | (truth == UNSET)).all(axis=1)
        weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(right, weights=weights * (truth != UNSET).any(axis=1)))

    @property
    def labels_without_rules_(self) -> list[str]:
        """The names of the labels that no rule of `theory_` predicts as present."""
        return labels_without_rules(self.theory_)

    def explain(
        self, X: Any, row: int | Iterable[int] = 0, **options: Any
    ) -> "Explanation | list[Explanation]":
        """Explain the labels predicted for a row, or for several rows, by the rules of `theory_`.

        Parameters
        ----------
        X : as for `predict`
        row : int or iterable of int, default=0
            Which row of X. Several give a list of explanations.
        **options
            As for :func:`labelrules.explain`, such as `labels` or `training`.
        """
        from labelrules.inspection.explanation.explaining import explain

        self._check_fitted()
        return explain(self.theory_, self._table(X), row, **options)

    def __sklearn_tags__(self) -> Any:
        # Not `categorical`: by that tag scikit-learn's checks mean learners that take codes only.
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.classifier_tags.multi_label = True
        return tags

    def _training_data(
        self,
        X: Any,
        Y: Any,
        sample_weight: Any = None,
        feature_names: Any = None,
        theory: Any = None,
    ) -> tuple[Any, Target]:
        """The rows to learn from, and the form of their labels: the door of every `fit`.

        Tables in memory become a `Dataset`. Other rows are for learners that say so by
        `_takes_partitions`, and come with no other arguments.
        """
        if isinstance(X, Dataset):
            if feature_names is not None:
                raise ValueError("X is a Dataset, which brings its names: leave feature_names out")
            return self._weighted(self._given_data(X, Y), sample_weight), labels_as_given()
        if are_in_blocks(X):
            self._check_for_partitions()
            others = {"sample_weight": sample_weight, "theory": theory}
            rows = rows_in_blocks(X, Y, feature_names, others)
            note_rows(self, rows)
            return rows, labels_as_given()
        table = as_features(X, beside=Y)
        refuse_empty(table.shape)
        validate_data(self, table, reset=True, skip_check_array=True)
        names = given_names(feature_names)
        with telling_of_idle_rows(sample_weight):
            table, Y, weights = without_idle_rows(table, Y, sample_weight, n_dims=1)
            target, labels = self._target_labels(table, Y, names or ())
            table, board, weights = without_idle_rows(table, labels.board, weights, n_dims=2)
            data = dataset(table, board, feature_names=names, label_names=labels.names)
        warn_of_columns(data, stacklevel=levels_to_caller() + 1)
        return self._weighted(data, weights), target

    def _weighted(self, data: Dataset, sample_weight: Any) -> Dataset:
        """The data with these weights: those rows that count, repeated if need be."""
        data = weighted(data, sample_weight)
        note_training_data(data)
        data = counting_rows(data)
        if data.weights is None:
            return data
        if are_whole(data.weights):
            return data if self._weighs(data, "whole") else data.repeated()
        if not self._weighs(data, "rows" if data.weights.ndim == 1 else "cells"):
            refuse_weights(type(self).__name__, data.weights)
        return data

    def _weighs(self, data: Dataset, weights: WeightKind) -> bool:
        """Whether the learner takes such weights, whole ones just as if rows were repeated."""
        return False

    def _given_data(self, data: Dataset, Y: Any) -> Dataset:
        if Y is not None:
            raise ValueError("X is a Dataset, which brings its labels: leave Y out")
        if data.n_rows == 0:
            raise ValueError("the Dataset has no rows to learn from")
        if not data.schema.labels:
            raise ValueError(NO_LABELS)
        self.n_features_in_ = data.schema.n_features
        self.feature_names_in_ = np.array(data.schema.feature_names, dtype=object)
        return data

    def _target_labels(
        self, X: Any, Y: Any, names: Sequence[str] = ()
    ) -> tuple[Target, TargetLabels]:
        """The form and the labels of Y, whose names must not be those of features."""
        if Y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; "
                "only a Dataset as X brings its labels"
            )
        columns = frame_columns(X)
        if columns:
            refuse_column_names(Y, columns, X.shape[0])
        target, labels = read_target(Y, taken=(*columns, *names))
        if not labels.board.shape[1]:
            raise ValueError(NO_LABELS)
        return target, labels

    def _remember(self, schema: Schema, target: Target) -> None:
        """Set the attributes that all fitted learners have; the last step of `fit`."""
        self._target = target
        self.schema_ = schema
        self.labels_ = list(schema.labels)
        self.n_labels_ = schema.n_labels
        self.classes_ = target.classes(self.n_labels_)
        self.why_without_rules_: dict[str, str] = {}

    def _check_fitted(self) -> Target:
        check_is_fitted(self, "schema_")
        return self._target

    def _table(self, X: Any) -> Any:
        """New rows, with the features that `fit` has seen."""
        if isinstance(X, Dataset) or is_on_gpu(X):
            return X
        if has_known_names(self, X):
            return X
        table = as_features(X)
        if not fits_without_names(self, table):
            validate_data(self, table, reset=False, skip_check_array=True)
        if hasattr(self, "feature_names_in_"):
            return table
        return renamed(table, self.schema_.feature_names)

    def _state(self) -> dict[str, Any]:
        """The fields of `_State`, from which `_restore_state` makes the fitted attributes."""
        if not hasattr(self, "_State"):
            raise DataError(
                f"a {type(self).__name__} cannot be stored: derive it from RuleClassifier, or "
                "define _State"
            )
        return {name: self._stored(name) for name in self._State.__struct_fields__}

    def _stored(self, name: str) -> Any:
        """The value of a field: the attribute of that name with an underscore behind it."""
        value = getattr(self, f"{name}_", None)
        return theory_record(value) if isinstance(value, Theory) else value

    def _restore_state(self, state: Any) -> None:
        """Set the attributes from a `_State`; `schema_` and `_target` are set already."""
        for name in state.__struct_fields__:
            value = getattr(state, name)
            if isinstance(value, TheoryRecord):
                value = read_theory(value, self.schema_, f".{name}")
            setattr(self, f"{name}_", value)

    def _repr_html_inner(self) -> str:
        # scikit-learn's diagram, with the rules below it; in a pipeline only the diagram is shown.
        return str(super()._repr_html_inner()) + "".join(self._rules_html())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # not if scikit-learn's setting `display` is "text"
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _rules_html(self) -> Iterator[str]:
        """The rules of a fitted learner, if it has any."""
        if hasattr(self, "theory_"):
            yield self.theory_._repr_html_()
        elif getattr(self, "theories_", None):
            n_theories = len(self.theories_)
            yield heading(f"Theory 1 of {n_theories}, which vote; all are in theories_")
            yield self.theories_[0]._repr_html_()


def heading(text: str) -> str:
    """A heading in HTML."""
    return f'<div class="labelrules"><h4>{text}</h4></div>'
