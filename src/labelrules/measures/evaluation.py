"""The usual measures of finished predictions, as a table."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labelrules._types import UNSET, Board, Floats
from labelrules.measures.confusion_matrix import checked_labels, checked_predictions, checked_scores
from labelrules.measures.measure import Measure

_MEASURES = {
    "micro precision": "precision/micro/full",
    "micro recall": "recall/micro/full",
    "micro F1": "f1/micro/full",
    "macro F1": "f1/macro/full",
    "samples F1": "f1/samples/full",
    "samples Jaccard": "jaccard/samples/full",
    "subset accuracy": "subset/samples/full",
}


class Evaluation(dict[str, float]):
    """Values of measures by name: a dictionary that prints as a table."""

    def __repr__(self) -> str:
        known = (name for name in ("micro F1", "subset accuracy", "Hamming loss") if name in self)
        return f"<Evaluation: {', '.join(f'{name} {self[name]:.3f}' for name in known)}>"

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        digits = max((len(f"{value:.4f}") for value in self.values()), default=0)
        return "\n".join(f"{name:<{width}}  {self[name]:{digits}.4f}" for name in self)

    def _repr_html_(self) -> str:
        from labelrules._html import fragment, html_table

        rows = [(name, round(value, 4)) for name, value in self.items()]
        return fragment(html_table(rows, ("measure", "value")))


def evaluate(Y: Any, predicted: Any, scores: Any = None) -> Evaluation:
    """The usual measures of predictions, by name.

    Parameters
    ----------
    Y : array-like
        The truth, rows by labels: 0, 1, or -1 or NaN where it is unknown, which does not count.
    predicted : array-like
        0, 1 or ``UNSET`` (-1), which counts as absent.
    scores : array-like, optional
        A number for each cell, greater where the label is more likely to be present; adds the
        measures of a ranking.

    Returns
    -------
    Evaluation
        A dictionary with micro precision, recall and F1, macro F1 (mean over labels), samples F1
        and samples Jaccard (means over rows), subset accuracy and Hamming loss; with scores also
        micro and macro average precision, micro and macro ROC AUC, label ranking average
        precision, ranking loss and coverage error. The values are those of scikit-learn with
        ``zero_division=0``. Any other measure: :meth:`Measure.of_predictions`.

    Notes
    -----
    A row without true and predicted labels counts as 0 in the means over rows, since 0/0 is 0,
    and as right in subset accuracy; a label without true and predicted rows counts as 0 in the
    macro means. Ranking measures that are not defined are left out: those of the ranking of labels
    within a row need two labels, average precision a positive cell (macro: in every label), and
    ROC AUC a negative one as well. Losses and coverage error are better when smaller, all others
    when greater.

    Examples
    --------
    >>> Y, predicted = [[1, 0], [0, 1], [1, 1]], [[1, 0], [1, 1], [1, 0]]
    >>> evaluate(Y, predicted, scores=[[0.9, 0.2], [0.6, 0.7], [0.8, 0.3]])["ranking loss"]
    0.0
    >>> print(evaluate(Y, predicted))
    micro precision  0.7500
    micro recall     0.7500
    ...
    Hamming loss     0.3333
    """
    labels = checked_labels(Y)
    board = checked_predictions(predicted, labels.shape)
    values = Evaluation(
        (name, Measure.parse(text).of_predictions(labels, board))
        for name, text in _MEASURES.items()
    )
    known = labels != UNSET
    values["Hamming loss"] = float(np.mean(((board == 1) != (labels == 1))[known]))
    if scores is not None:
        values.update(_of_ranking(labels, checked_scores(scores, labels.shape)))
    return values


def _of_ranking(Y: Board, scores: Floats) -> Iterator[tuple[str, float]]:
    """The measures of a ranking that are defined, by scikit-learn; unknown cells do not count."""
    from sklearn import metrics

    has_ones, has_zeros = (Y == 1).any(axis=0), (Y == 0).any(axis=0)
    known = Y != UNSET
    if has_ones.any():
        precision = metrics.average_precision_score
        yield "micro average precision", float(precision(Y[known], scores[known]))
        if has_ones.all():
            yield "macro average precision", _mean_over_labels(precision, Y, scores)
        if has_zeros.any():
            yield "micro ROC AUC", float(metrics.roc_auc_score(Y[known], scores[known]))
    if (has_ones & has_zeros).all():
        yield "macro ROC AUC", _mean_over_labels(metrics.roc_auc_score, Y, scores)
    if (known.sum(axis=1) > 1).any():
        within_rows = metrics.label_ranking_average_precision_score
        yield "label ranking average precision", _mean_over_rows(within_rows, Y, scores)
        yield "ranking loss", _mean_over_rows(metrics.label_ranking_loss, Y, scores)
        yield "coverage error", _mean_over_rows(metrics.coverage_error, Y, scores)


def _mean_over_labels(measure: Callable[..., Any], Y: Board, scores: Floats) -> float:
    values = []
    for truth, given in zip(Y.T, scores.T, strict=True):
        known = truth != UNSET
        values.append(measure(truth[known], given[known]))
    return float(np.mean(values))


def _mean_over_rows(measure: Callable[..., Any], Y: Board, scores: Floats) -> float:
    """The mean over rows with at least two known labels; rows that know the same go together."""
    known = Y != UNSET
    if known.all():
        return float(measure(Y, scores))
    kinds, kind = np.unique(known, axis=0, return_inverse=True)
    total, n_rows = 0.0, 0
    for number, labels in enumerate(kinds):
        rows = kind.reshape(-1) == number
        if np.count_nonzero(labels) > 1:
            part = np.ix_(rows, labels)
            total += float(measure(Y[part], scores[part])) * int(rows.sum())
            n_rows += int(rows.sum())
    return total / n_rows
