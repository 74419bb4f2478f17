"""Tables as learners take them: X as scikit-learn checks it, and the names of its columns."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn, TypeVar, cast

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from labelrules._types import Floats, Mask
from labelrules._wings import reader_of
from labelrules.data import Partitions
from labelrules.data.memory.arrays import as_array
from labelrules.data.memory.cells import is_pandas_row
from labelrules.data.memory.frames import (
    FrameTable,
    is_frame,
    is_series,
    native,
    refuse_lazy,
    warn_of_other_order,
)
from labelrules.data.memory.labels import Names
from labelrules.learners.base.progress import levels_to_caller, note_training_data

NO_LABELS = "the data have no labels, so there is nothing to learn"

Method = TypeVar("Method", bound=Callable[..., Any])


def as_features(X: Any, beside: Any = None) -> Any:
    """X as an array, sparse matrix or frame, beside the labels; errors use scikit-learn's words."""
    X = native(X)
    warn_of_other_order(X, beside, stacklevel=levels_to_caller() + 1)
    frame_columns(X)  # refuses those that occur twice, in our words
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
    """Refuse tables without rows, or without columns, which are almost always a mistake."""
    for number, what in zip(shape, ("sample", "feature"), strict=True):
        if number == 0:
            raise ValueError(
                f"X has 0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is required."
                + (" To learn from labels alone, fit a Dataset" if what == "feature" else "")
            )


def frame_columns(X: Any) -> Names:
    """The names of the columns of a frame; an array has none."""
    return FrameTable(X, "X").names if is_frame(X) else ()


def given_names(names: Any) -> list[str] | None:
    """The names of columns, as they are given or as a fitted transformer has made them."""
    if names is None:
        return None
    if hasattr(names, "get_feature_names_out"):
        names = names.get_feature_names_out()
    found: list[str] = names.tolist() if isinstance(names, np.ndarray) else names
    return found


def renamed(X: Any, names: Names) -> Any:
    """A frame with other names, for an estimator that was fitted without names."""
    if not is_frame(X):
        return X
    frame = nw.from_native(X, eager_only=True)
    return nw.to_native(frame.rename(dict(zip(frame.columns, names, strict=True))))


def has_known_names(model: Any, X: Any) -> bool:
    """Whether X is one row of a frame with the columns of `fit`: nothing is to be checked."""
    names = getattr(model, "feature_names_in_", None)
    return names is not None and is_pandas_row(X) and X.columns.tolist() == names.tolist()


def fits_without_names(model: Any, table: Any) -> bool:
    """Whether the table is a matrix with the right number of columns.

    It warns, as scikit-learn does, if the model has learned from named columns.
    """
    is_matrix = sparse.issparse(table) or type(table) is np.ndarray
    if not is_matrix or table.ndim != 2 or table.shape[1] != getattr(model, "n_features_in_", None):
        return False
    if hasattr(model, "feature_names_in_"):
        warnings.warn(
            f"X does not have valid feature names, but {type(model).__name__} was fitted with "
            "feature names",
            stacklevel=levels_to_caller(),
        )
    return True


def without_idle_rows(X: Any, Y: Any, weights: Any, n_dims: int) -> tuple[Any, Any, Any]:
    """A table, its labels and its weights without rows of weight 0, which are as if not there.

    Neither their categories nor their classes are known then. Nothing is left out of what is
    refused later, nor if the weights have another number of dimensions: of label sets and classes,
    weights of cells have a column for each that occurs anywhere.
    """
    X, Y, counts = native(X), native(Y), _counts(weights)
    if counts is None or counts.ndim != n_dims or {_n_rows(X), _n_rows(Y)} != {len(counts)}:
        return X, Y, weights
    kept = np.asarray(counts.reshape(len(counts), -1).any(axis=1))
    if kept.all() or not kept.any():
        return X, Y, weights
    return _taken(X, kept, "X"), _taken(Y, kept, "Y"), np.asarray(weights)[kept]


def _counts(weights: Any) -> Mask | None:
    """Which weights are not 0; None if they are no numbers."""
    try:
        return None if weights is None else np.asarray(weights, dtype=np.float64) != 0
    except (TypeError, ValueError):
        return None


def _n_rows(rows: Any) -> int:
    """The number of rows; -1 if there are none to be counted."""
    if hasattr(rows, "shape"):
        return int(rows.shape[0]) if rows.shape else -1
    return len(rows) if hasattr(rows, "__len__") else -1


def _taken(rows: Any, kept: Mask, what: str) -> Any:
    """Some of the rows of a table, a series or a list."""
    table: Any = rows
    if sparse.issparse(rows):
        return table.tocsr()[kept]
    if is_frame(rows):
        return nw.to_native(nw.from_native(rows, eager_only=True).filter(kept.tolist()))
    if is_series(rows):
        return nw.to_native(nw.from_native(rows, series_only=True).filter(kept.tolist()))
    if isinstance(rows, (list, tuple)):
        return [row for row, is_kept in zip(rows, kept, strict=True) if is_kept]
    return as_array(rows, what)[kept]


@contextmanager
def telling_of_idle_rows(weights: Any) -> Iterator[None]:
    """Say in errors how rows are counted there, if some have weight 0."""
    counts = _counts(weights)
    try:
        yield
    except ValueError as error:
        if counts is not None and not counts.all():
            error.add_note("Rows are counted without those of weight 0.")
        raise


def refuse_weights(name: str, weights: Floats) -> NoReturn:
    """Say why a learner does not take these weights, and what to do."""
    if weights.ndim == 2:
        raise ValueError(
            f"this {name} takes one weight per row, but these are weights of cells (rows by "
            "labels): use SeparateAndConquer, Scorecard, or BinaryRelevance of a learner with "
            "weights, where each label has its own"
        )
    raise ValueError(
        f"this {name} takes one whole weight per row, which stands for repeated rows; for other "
        "weights use another learner, such as BinaryRelevance of a classifier that takes weights"
    )


def check_engine(model: Any) -> None:
    """Refuse the GPU for models that predict otherwise than by the rules of one theory."""
    is_fitted = hasattr(model, "schema_")
    if model.engine == "gpu" and is_fitted and "theory_" not in vars(model):
        raise ValueError(
            f"engine='gpu' applies the rules of one theory, but this {type(model).__name__} "
            "predicts otherwise: set engine='auto' or 'cpu'"
        )


def are_in_blocks(X: Any) -> bool:
    """Whether X has rows that need not be in memory: partitions, or data of a kind of a wing."""
    return isinstance(X, Partitions) or reader_of(X) is not None


def rows_in_blocks(X: Any, y: Any, feature_names: Any, others: Mapping[str, Any]) -> Partitions:
    """The rows of X and y, with which no other arguments may be given."""
    reader = reader_of(X)
    if reader is not None:
        if any(value is not None for value in others.values()):
            raise ValueError(f"X is of Dask: leave {' and '.join(others)} out")
        rows: Partitions = reader.collected(X, y, feature_names=feature_names)
        refuse_empty((rows.n_rows, rows.schema.n_features))
        return rows
    if not X.n_rows:
        refuse_empty((0, X.schema.n_features))
    if any(one is not None for one in (y, feature_names, *others.values())):
        raise ValueError("X is in partitions: leave all other arguments out")
    return X  # type: ignore[no-any-return]


def note_rows(model: Any, rows: Partitions) -> None:
    """Take note of training rows in partitions, as of others."""
    if not rows.schema.labels:
        raise ValueError(NO_LABELS)
    note_training_data(rows)
    note_names(model, rows.schema.n_features, rows.schema.feature_names if rows.has_names else None)


def note_names(model: Any, n_features: int, names: Sequence[str] | None) -> None:
    """Set what scikit-learn keeps of the columns; names of an earlier `fit` are forgotten."""
    model.n_features_in_ = n_features
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def by_partition(predict: Method) -> Method:
    """Let a method that predicts rows take data of other kinds, too, as by a Dask array."""

    @wraps(predict)
    def predict_any(self: Any, X: Any) -> Any:
        check_engine(self)
        reader = reader_of(X)
        return (
            predict(self, X)
            if reader is None
            else reader.applied_to_blocks(self, predict.__name__, X)
        )

    return cast(Method, predict_any)
