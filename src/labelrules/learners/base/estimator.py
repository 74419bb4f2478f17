"""What every learner does with tables: check them, encode them, and answer in their form."""

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrules._types import Board, Floats
from labelrules.data import DataError, Dataset, Schema, dataset, encode_labels
from labelrules.data.document import Record
from labelrules.data.memory.arrays import as_array
from labelrules.data.memory.frames import FrameTable, is_frame, is_series, native, refuse_lazy
from labelrules.data.memory.labels import Names
from labelrules.learners.base.targets import Target, read_target
from labelrules.rules import Theory
from labelrules.rules.formats.html import SHOWN_IN_NOTEBOOKS, theory_html

# -------------------- How notebooks show learners: scikit-learn's diagram, and below it the rules


class ShowsRules:
    """A learner whose rules are shown in notebooks, once it is fitted.

    It goes before scikit-learn's `BaseEstimator`, and follows its setting ``display``: no HTML if
    that is "text". Within a pipeline a learner has its box of the diagram, as any other.
    """

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + rules_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def rules_html(learner: Any) -> str:
    """The rules of a learner in HTML; nothing if it is not fitted, or has none."""
    return "".join(_parts(learner))


def _parts(learner: Any) -> Iterator[str]:
    if hasattr(learner, "theory_"):
        yield _shown(learner.theory_)
    elif getattr(learner, "theories_", None):
        n_theories = len(learner.theories_)
        yield _heading(f"Theory 1 of {n_theories}, which vote; all are in theories_")
        yield _shown(learner.theories_[0])
    elif hasattr(learner, "constraints_"):
        yield _heading("Constraints that every prediction satisfies")
        yield _shown(learner.constraints_)
        before = rules_html(learner.base_)
        if before:
            yield _heading("What the base says before")
            yield before


def _shown(theory: Theory) -> str:
    return theory_html(theory, max_rules=SHOWN_IN_NOTEBOOKS)


def _heading(text: str) -> str:
    return f'<div class="labelrules"><h4>{text}</h4></div>'


# -------------------- Features as they come to an estimator, refused at the door if no table can
# be made of them


def as_features(X: Any) -> Any:
    """X as an array, sparse matrix or frame of its library; a table in any case.

    The words of the messages are those that scikit-learn's users know.
    """
    X = native(X)
    if sparse.issparse(X) or is_frame(X):
        return X
    refuse_lazy(X, "X")
    table = as_array(X.to_frame() if is_series(X) else X, "X")
    if table.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: give the real and the imaginary part a column each"
        )
    if table.ndim != 2 or is_series(X):
        raise ValueError(
            f"X must have rows and columns, but it has {1 if is_series(X) else table.ndim} "
            "dimension(s). Reshape your data, as by X.reshape(-1, 1) if it is one feature or "
            "X.reshape(1, -1) if it is one row"
        )
    return table


def refuse_empty(shape: tuple[int, int]) -> None:
    """Nothing can be learned from no rows, and no columns are almost always a mistake."""
    for number, what in zip(shape, ("sample", "feature"), strict=True):
        if number == 0:
            raise ValueError(
                f"X has 0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is required."
                + (" To learn from labels alone, fit a Dataset" if what == "feature" else "")
            )


def column_names(X: Any) -> Names:
    """The names that a frame gives its columns; an array gives none."""
    return FrameTable(X, "X").names if is_frame(X) else ()


def renamed(X: Any, names: Names) -> Any:
    """A frame with other names, for an estimator that was fitted without names."""
    import narwhals.stable.v2 as nw

    if not is_frame(X):
        return X
    frame = nw.from_native(X, eager_only=True)
    return nw.to_native(frame.rename(dict(zip(frame.columns, names, strict=True))))


# ---------------------------------------------------------------- the main part


class TableClassifier(ShowsRules, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """A scikit-learn classifier of rows that may have several labels.

    A subclass has a `fit` that calls `_training_data` and, once it has learned, `_remember`; and
    it says which labels it predicts, and how probable each is.

    Attributes
    ----------
    schema_ : Schema
        Names, kinds and categories of the features, and names of the labels.
    classes_ : array, or list of arrays
        The classes of a target of one dimension; for rows by labels, absent and
        present for each label.
    n_labels_ : int
    n_features_in_ : int
    feature_names_in_ : array of str
        If `fit` was given names.
    """

    _State: ClassVar[type[Record]]
    """The record of what a fitted model has beyond its parameters, schema and classes."""
    _why_not_stored: ClassVar[str | None] = None
    """Why files cannot hold the models of this learner, and what to do; None if they can."""

    def _check_parameters(self) -> None:
        """Refuse parameters with which `fit` could not learn, as far as that needs no data."""

    def _state(self) -> dict[str, Any]:
        """The fields of `_State`, of which others are made by `_restore_state`."""
        name = type(self).__name__
        raise DataError(
            f"a {name} cannot be stored: derive it from RuleClassifier, or define _State, _state "
            "and _restore_state"
        )

    def _restore_state(self, state: Any) -> None:
        """Make the fitted attributes from a `_State`; `schema_` and `_target` are there already."""

    @abstractmethod
    def _labels(self, X: Any) -> Board:
        """The labels of new rows, 0 or 1; X is a data set, or a table that `_table` has checked."""

    @abstractmethod
    def _presence(self, X: Any) -> Floats:
        """How probable it is that each label is present; X as for `_labels`."""

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict labels, or classes where `fit` was given classes.

        Of two classes the second is the one that the label stands for; of more classes the most
        probable is predicted, the first of those that are equally probable.
        """
        target = self._check_fitted()
        if target.kind == "classes":
            return target.most_probable(self._presence(self._table(X)))
        return target.predicted(self._labels(self._table(X)))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities that labels are present, or of classes.

        Returns
        -------
        array of float
            Rows by labels; where `fit` was given classes, rows by classes, each row
            with the sum 1.
        """
        return self._check_fitted().probabilities(self._presence(self._table(X)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows that are right in all labels (subset accuracy), or in their class."""
        if self._check_fitted().kind != "labels":
            return float(super().score(X, y, sample_weight))
        truth = encode_labels(X if y is None and isinstance(X, Dataset) else y, self.schema_)
        right = (self.predict(X) == truth).all(axis=1)
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        # Not `categorical`: by that tag scikit-learn's checks mean learners that take codes only.
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.classifier_tags.multi_label = True
        return tags

    def _training_data(self, X: Any, Y: Any) -> tuple[Dataset, Target]:
        if isinstance(X, Dataset):
            return self._given_data(X, Y), Target("labels", np.array([0, 1]))
        if Y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; "
                "only a Dataset as X brings its labels"
            )
        table = as_features(X)
        refuse_empty(table.shape)
        validate_data(self, table, reset=True, skip_check_array=True)
        target, labels = read_target(Y, taken=column_names(table))
        refuse_no_labels(labels.board.shape[1])
        return dataset(table, labels.board, label_names=labels.names), target

    def _given_data(self, data: Dataset, Y: Any) -> Dataset:
        if Y is not None:
            raise ValueError("X is a Dataset, which brings its labels: leave Y out")
        if data.n_rows == 0:
            raise ValueError("the Dataset has no rows to learn from")
        refuse_no_labels(data.schema.n_labels)
        self.n_features_in_ = data.schema.n_features
        self.feature_names_in_ = np.array(data.schema.feature_names, dtype=object)
        return data

    def _remember(self, schema: Schema, target: Target) -> None:
        """Take note of what was learned from, when all has gone well."""
        self._target = target
        self.schema_ = schema
        self.n_labels_ = schema.n_labels
        self.classes_ = target.classes(self.n_labels_)

    def _check_fitted(self) -> Target:
        check_is_fitted(self, "schema_")
        return self._target

    def _table(self, X: Any) -> Any:
        """New rows, with the features that `fit` has seen."""
        if isinstance(X, Dataset):
            return X
        table = as_features(X)
        validate_data(self, table, reset=False, skip_check_array=True)
        if hasattr(self, "feature_names_in_"):
            return table
        return renamed(table, self.schema_.feature_names)


def refuse_no_labels(n_labels: int) -> None:
    """Refuse a table that has no labels."""
    if not n_labels:
        raise ValueError("the data have no labels, so there is nothing to learn")
