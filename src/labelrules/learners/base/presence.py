"""The probabilities of labels, as any classifier gives them."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.frozen import FrozenEstimator

from labelrules._types import Floats
from labelrules.learners.base.estimator import TableClassifier


def is_ours(classifier: Any) -> bool:
    """Whether a classifier is a learner of ours, which reads data sets and labels of any form."""
    inner = classifier.estimator if isinstance(classifier, FrozenEstimator) else classifier
    return isinstance(inner, TableClassifier)


def presence_by(classifier: Any, X: Any, n_labels: int) -> Floats:
    """The probabilities of a fitted classifier, in whichever of the usual forms they come."""
    cells = classifier.predict_proba(X)
    if isinstance(cells, list):
        parts = zip(cells, classifier.classes_, strict=True)
        cells = np.column_stack([_of_presence(part, kinds) for part, kinds in parts])
    cells = dense(cells).astype(np.float64)
    if n_labels == 1 and cells.shape[1:] == np.shape(classifier.classes_):
        cells = _of_presence(cells, classifier.classes_)[:, None]
    return checked_shape(cells, classifier, "predict_proba", n_labels)


def threshold_of(base: Any) -> float:
    """The probability above which a classifier predicts a label; 0.5 if it is not ours."""
    return float(getattr(base, "threshold_", 0.5)) if is_ours(base) else 0.5


def checked_shape(
    cells: npt.NDArray[Any], classifier: Any, method: str, n_labels: int
) -> npt.NDArray[Any]:
    """Rows by labels, as a method of a classifier must give them."""
    if cells.ndim != 2 or cells.shape[1] != n_labels:
        raise ValueError(
            f"{type(classifier).__name__}.{method} gives the shape {cells.shape}, "
            f"but there are {n_labels} labels"
        )
    return cells


def dense(cells: Any) -> npt.NDArray[Any]:
    """An array of cells that may be sparse."""
    found: Any = cells
    return np.asarray(found.toarray() if sparse.issparse(cells) else found)


def _of_presence(part: npt.NDArray[Any], kinds: npt.NDArray[Any]) -> Floats:
    """The column of presence; zeros if no training row had the label."""
    places = np.flatnonzero(np.asarray(kinds) == 1)
    return np.asarray(part[:, places[0]] if len(places) else np.zeros(len(part)))
