"""What a scorecard is to learn: the labels, or these mixed with what a teacher thinks of them."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from labelrules._checks import counted
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.data.numeric import numeric_features
from labelrules.data.table import cell_counts, label_keys
from labelrules.learners.base.presence import is_ours, presence_by
from labelrules.learners.base.progress import nested_fit
from labelrules.learners.base.sampling import folds_of, row_keys, weight_keys
from labelrules.learners.scorecard.growth import ONE, Targets

N_FOLDS = 5
"""A teacher tells of each fifth of the rows what it has learned from the others."""

N_TREES = 300


def check_teacher(teacher: Any) -> None:
    """Refuse a teacher that is neither None nor "forest" nor a classifier with probabilities."""
    if teacher is None or (isinstance(teacher, str) and teacher == "forest"):
        return
    if isinstance(teacher, str | type) or not hasattr(teacher, "fit"):
        raise ValueError(
            f"teacher must be 'forest', a classifier of scikit-learn's kind or None, "
            f"not {teacher!r:.60}"
        )
    if not hasattr(teacher, "predict_proba"):
        raise ValueError(
            f"teacher must give probabilities, but {type(teacher).__name__} has no predict_proba"
        )


def plain_targets(Y: Board) -> Targets:
    """The labels themselves: labels by rows, in parts of `ONE`; -1 where a label is unknown."""
    return np.ascontiguousarray(np.where(Y.T == UNSET, -1, Y.T * np.int32(ONE)))


def mixed_targets(Y: Board, presence: Floats, weight: float) -> Targets:
    """The labels mixed with probabilities, which have this weight.

    Examples
    --------
    >>> Y, presence = np.array([[1, 0]], np.int8), np.array([[0.5, 0.25]])
    >>> (mixed_targets(Y, presence, weight=0.5) / ONE).tolist()
    [[0.75], [0.125]]
    """
    mixed = np.rint(((1 - weight) * Y + weight * np.clip(presence, 0, 1)) * ONE)
    return np.ascontiguousarray(np.where(Y == UNSET, -1, mixed.astype(np.int32)).T)


def taught_presence(teacher: Any, data: Dataset, seed: int, n_jobs: int | None) -> Floats:
    """The probabilities of the labels of each row, by teachers that have not seen the row.

    Parameters
    ----------
    teacher : "forest" or classifier
        A classifier of ours is given data sets, another one features as numbers.
    data : Dataset
    seed : int
        Draws the folds, and seeds a forest.
    n_jobs : int, optional
        Threads of a forest.
    """
    # So that the order of rows does not matter.
    order = np.lexsort((*weight_keys(data), *label_keys(data.Y).T, row_keys(data.X)))
    ordered = data.take(order)
    folds = folds_of(ordered, N_FOLDS, seed)
    found = np.empty(data.Y.shape)
    for fold in range(int(folds.max()) + 1):
        seen, unseen = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        made = _forest(seed, n_jobs) if teacher == "forest" else clone(teacher)
        found[order[unseen]] = _taught(made, ordered, seen, unseen)
    return found


def _forest(seed: int, n_jobs: int | None) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(N_TREES, random_state=seed, n_jobs=n_jobs)


def _taught(teacher: Any, data: Dataset, seen: Integers, unseen: Integers) -> Floats:
    """What a teacher learns from rows that it sees; a label that they all have, or none, is so."""
    truth, weights = data.Y[seen], None if data.weights is None else data.weights[seen]
    by_label = weights is not None and weights.ndim == 2 and data.schema.n_labels > 1
    if not is_ours(teacher) and (by_label or (truth == UNSET).any()):
        return _taught_apart(teacher, data, seen, unseen)
    n_present, n_known = (cell_counts(one, weights) for one in (truth == 1, truth != UNSET))
    shares = n_present / np.where(n_known > 0, n_known, 1)
    varies = (shares > 0) & (shares < 1)
    found = np.repeat(shares[np.newaxis], len(unseen), axis=0)
    if not varies.any():
        return found
    with nested_fit():
        if is_ours(teacher):
            found[:] = presence_by(teacher.fit(data.take(seen)), data.take(unseen), len(varies))
            return found
        X: Any = numeric_features(data)
        X = X.tocsr() if data.is_sparse else X
        Y = data.Y[seen][:, varies].astype(np.int64)
        n_labels, given = int(varies.sum()), {}
        if weights is not None:
            given = _weights_for(teacher, weights)
        try:
            fitted = teacher.fit(X[seen], Y[:, 0] if n_labels == 1 else Y, **given)
        except ValueError as wrong:
            raise ValueError(
                f"the teacher {type(teacher).__name__} cannot learn {counted(n_labels, 'label')} "
                f"from these rows ({wrong}): if it is for one label, give BinaryRelevance of it"
            ) from wrong
        found[:, varies] = presence_by(fitted, X[unseen], n_labels)
    return found


def _weights_for(teacher: Any, weights: Floats) -> dict[str, Floats]:
    """The weights of rows as an argument of `fit`."""
    if has_fit_parameter(teacher, "sample_weight"):
        return {"sample_weight": weights.reshape(len(weights))}
    raise ValueError(
        f"the teacher {type(teacher).__name__} takes no weights: give another one, or whole weights"
    )


def _taught_apart(teacher: Any, data: Dataset, seen: Integers, unseen: Integers) -> Floats:
    """The same for each label by itself, from the rows in which it is known."""
    found = np.empty((len(unseen), data.schema.n_labels))
    for label, name in enumerate(data.schema.labels):
        one = data.without([other for other in data.schema.labels if other != name])
        known = seen[data.Y[seen, label] != UNSET]
        found[:, [label]] = _taught(clone(teacher), one, known, unseen)
    return found
