"""All usual measures of finished predictions at once."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labelrules._types import Board, Floats
from labelrules.measures.confusion import checked_labels, checked_predictions, checked_scores
from labelrules.measures.measure import AVERAGINGS, Measure

_OURS = (
    *(f"{name}/{averaging}/full" for name in ("precision", "recall", "f1", "hamming", "jaccard")
      for averaging in AVERAGINGS),
    "subset/samples/full",
)  # fmt: skip


def evaluate(Y: Any, predicted: Any, scores: Any = None) -> dict[str, float]:
    """The usual measures of predictions, by name.

    Parameters
    ----------
    Y : array-like
        The truth, rows by labels, 0 or 1.
    predicted : array-like
        0, 1 or ``UNSET`` (-1), which counts as absent.
    scores : array-like, optional
        A number for each cell, the greater the surer of the label's presence; gives the
        measures of a ranking as well.

    Returns
    -------
    dict
        Precision, recall, F1, Hamming accuracy and Jaccard index in the four averagings, and
        subset accuracy, under the text of their :class:`Measure`; from scikit-learn
        ``"hamming-loss"`` and ``"zero-one-loss"`` and, with scores, ``"coverage-error"``,
        ``"ranking-loss"``, ``"label-ranking-average-precision"``, and ``"average-precision"``
        and ``"roc-auc"`` with ``"/micro"`` (all cells as one ranking) and ``"/label"`` (the
        mean over labels).

    Notes
    -----
    What is not defined is left out: the first three need at least two labels to rank; average
    precision needs a positive cell (for ``"/label"``: in every label), ROC AUC a negative one
    as well. Losses and errors are better when smaller, all else when greater.

    Examples
    --------
    >>> Y, predicted = [[1, 0], [0, 1], [1, 1]], [[1, 0], [1, 1], [1, 0]]
    >>> values = evaluate(Y, predicted, scores=[[0.9, 0.2], [0.6, 0.7], [0.8, 0.3]])
    >>> round(values["f1/micro/full"], 3), round(values["hamming-loss"], 3)
    (0.75, 0.333)
    >>> values["ranking-loss"], round(values["roc-auc/macro"], 3)
    (0.0, 1.0)
    """
    labels = checked_labels(Y)
    board = checked_predictions(predicted, labels.shape)
    values = {text: Measure.parse(text).of_predictions(labels, board) for text in _OURS}
    values.update(_losses(labels, (board == 1).astype(np.int8)))
    if scores is not None:
        values.update(_of_ranking(labels, checked_scores(scores, labels.shape)))
    return values


def _losses(Y: Board, predicted: Board) -> Iterator[tuple[str, float]]:
    from sklearn import metrics

    yield "hamming-loss", float(metrics.hamming_loss(Y, predicted))
    yield "zero-one-loss", float(metrics.zero_one_loss(Y, predicted))


def _of_ranking(Y: Board, scores: Floats) -> Iterator[tuple[str, float]]:
    """The measures of a ranking that are defined, by scikit-learn."""
    from sklearn import metrics

    if Y.shape[1] > 1:
        yield "coverage-error", float(metrics.coverage_error(Y, scores))
        yield "ranking-loss", float(metrics.label_ranking_loss(Y, scores))
        average_precision = metrics.label_ranking_average_precision_score(Y, scores)
        yield "label-ranking-average-precision", float(average_precision)
    has_ones, has_zeros = (Y == 1).any(axis=0), (Y == 0).any(axis=0)
    if has_ones.any():
        one = metrics.average_precision_score
        yield "average-precision/micro", float(one(Y.ravel(), scores.ravel()))
        if has_ones.all():
            yield "average-precision/macro", _mean_over_labels(one, Y, scores)
        if has_zeros.any():
            yield "roc-auc/micro", float(metrics.roc_auc_score(Y.ravel(), scores.ravel()))
    if (has_ones & has_zeros).all():
        yield "roc-auc/macro", _mean_over_labels(metrics.roc_auc_score, Y, scores)


def _mean_over_labels(of: Callable[..., Any], Y: Board, scores: Floats) -> float:
    return float(np.mean([of(Y[:, label], scores[:, label]) for label in range(Y.shape[1])]))
