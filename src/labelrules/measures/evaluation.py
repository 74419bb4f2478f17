"""The usual measures of finished predictions, as a table."""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from labelrules._report import aligned
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules._wings import blocks_of
from labelrules.measures.confusion_matrix import (
    Confusion,
    checked_labels,
    checked_predictions,
    checked_scores,
    counted_rows,
    weighted_sum,
)
from labelrules.measures.measure import Measure, mean

_MEASURES = {
    "micro precision": "precision/micro/full",
    "micro recall": "recall/micro/full",
    "micro F1": "f1/micro/full",
    "macro F1": "f1/macro/full",
    "samples F1": "f1/samples/full",
    "samples Jaccard": "jaccard/samples/full",
    "subset accuracy": "subset/samples/full",
}
USUAL = (*_MEASURES, "Hamming loss")
"""The names of the measures of :func:`evaluate` that need predictions only."""
RANKING = (
    "micro average precision", "macro average precision", "micro ROC AUC", "macro ROC AUC",
    "label ranking average precision", "ranking loss", "coverage error",
)  # fmt: skip
"""The names of those that need scores."""
SMALLER_IS_BETTER = ("Hamming loss", "ranking loss", "coverage error")
"""The names of those of which smaller values are better."""


class Evaluation(dict[str, float]):
    """Values of measures by name: a dictionary that prints as a table."""

    def __repr__(self) -> str:
        known = (name for name in ("micro F1", "subset accuracy", "Hamming loss") if name in self)
        return f"<Evaluation: {', '.join(f'{name} {self[name]:.3f}' for name in known)}>"

    def __str__(self) -> str:
        return "\n".join(aligned([[name, f"{value:.4f}"] for name, value in self.items()]))

    def _repr_html_(self) -> str:
        from labelrules._html import fragment, html_table

        rows = [(name, round(value, 4)) for name, value in self.items()]
        return fragment(html_table(rows, ("measure", "value")))


def evaluate(Y: Any, predicted: Any, scores: Any = None, sample_weight: Any = None) -> Evaluation:
    """The usual measures of predictions, by name.

    Parameters
    ----------
    Y : array-like, or Dask array or frame
        The truth, rows by labels: 0, 1, or -1 or NaN where it is unknown, which does not count.
    predicted : array-like, or Dask array or frame
        0, 1 or ``UNSET`` (-1), which counts as absent. Collections of Dask are counted by
        partition, without scores and weights; the values are the same, to the last bit.
    scores : array-like, optional
        A number for each cell, greater where the label is more likely to be present; adds the
        measures of a ranking.
    sample_weight : array-like, optional
        How much each row counts; a whole weight stands for so many equal rows.

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
    blocks = blocks_of(Y=Y, predicted=predicted)
    if not blocks.in_memory:
        if scores is not None or sample_weight is not None:
            raise ValueError(
                "scores and weights need all rows in memory: leave them out, or compute the "
                "collections"
            )
        return evaluation_of_counts(blocks.total(_CellCounts.of, "counting its cells").outcomes)
    labels = checked_labels(Y)
    board = checked_predictions(predicted, labels.shape)
    given = None if scores is None else checked_scores(scores, labels.shape)
    rows, weights = counted_rows(sample_weight, len(labels))
    if sample_weight is not None:
        labels, board = labels[rows], board[rows]
        given = None if given is None else given[rows]
    values = Evaluation(
        (name, Measure.parse(text).of_predictions(labels, board, sample_weight=weights))
        for name, text in _MEASURES.items()
    )
    values["Hamming loss"] = _hamming_loss(labels, board, weights)
    if given is not None:
        values.update(_of_ranking(labels, given, weights))
    return values


def _hamming_loss(Y: Board, predicted: Board, weights: Floats | None) -> float:
    """The share of known cells that are wrong."""
    known = Y != UNSET
    wrong = ((predicted == 1) != (Y == 1)) & known
    if weights is None:
        return float(np.mean(wrong[known]))
    return weighted_sum(wrong, weights) / weighted_sum(known, weights)


class OutcomeCounts(NamedTuple):
    """The confusion matrices of finished predictions, of each label and of kinds of rows.

    Rows with the same matrix are of one kind; `times` says how many there are of each. Labels and
    rows in which nothing is known are left out.
    """

    labels: Confusion
    rows: Confusion
    times: Integers


def evaluation_of_counts(counts: OutcomeCounts) -> Evaluation:
    """The values of :func:`evaluate` from counts, equal to the last bit."""
    whole = counts.labels.sum()
    if not sum(int(part) for part in whole):
        raise ValueError("all cells of Y are unknown: there is nothing to compare with")
    values = Evaluation()
    for name, text in _MEASURES.items():
        values[name] = value_of_counts(Measure.parse(text), counts)
    n_wrong = int(whole.fp) + int(whole.fn)
    values["Hamming loss"] = n_wrong / sum(int(part) for part in whole)
    return values


def value_of_counts(measure: Measure, counts: OutcomeCounts) -> float:
    """The value of a measure for full predictions, as :meth:`Measure.of_predictions` gives it."""
    if measure.averaging == "cell":
        raise ValueError(f"{measure} needs all rows in memory: choose another averaging than cell")
    if measure.averaging == "samples":
        return _repeated_mean(measure, counts.rows, counts.times)
    each = Confusion(*map(np.atleast_1d, counts.labels.sum()))
    if measure.averaging == "macro":
        each = counts.labels
    return mean(measure.formula, each, np.ones(each.tp.size, dtype=np.int64))


class _CellCounts(NamedTuple):
    """The confusion matrix of each label, and how many rows have which one."""

    by_label: Integers
    times: Counter[tuple[int, ...]]

    @classmethod
    def of(cls, Y: Any, predicted: Any) -> "_CellCounts":
        """Count the cells of some rows."""
        if not len(Y) and not len(predicted):
            return cls(np.zeros(((*np.shape(Y), 1)[1], 4), dtype=np.int64), Counter())
        labels = checked_labels(Y)
        known, present = labels != UNSET, labels == 1
        given = checked_predictions(predicted, labels.shape) == 1
        cells = (
            present & given,
            ~present & given & known,
            ~present & ~given & known,
            present & ~given,
        )
        by_row = np.stack([one.sum(axis=1) for one in cells], axis=1)
        by_label = np.stack([one.sum(axis=0) for one in cells], axis=1)
        return cls(by_label, Counter(map(tuple, by_row.tolist())))

    def plus(self, other: "_CellCounts") -> "_CellCounts":
        """Add the counts of both."""
        return _CellCounts(self.by_label + other.by_label, self.times + other.times)

    @property
    def outcomes(self) -> OutcomeCounts:
        """The counts without labels and rows in which nothing is known."""
        known = {kind: n for kind, n in self.times.items() if any(kind)}
        rows: Integers = np.array(list(known), dtype=np.int64).reshape(-1, 4)
        times: Integers = np.array(list(known.values()), dtype=np.int64)
        labels = self.by_label[self.by_label.any(axis=1)]
        return OutcomeCounts(Confusion(*labels.T), Confusion(*rows.T), times)


def _repeated_mean(measure: Measure, each: Confusion, times: Integers) -> float:
    """The mean of values that occur several times; their sum is rounded once, as by `mean`."""
    values = np.asarray(measure.formula(*each), dtype=np.float64).tolist()
    pairs = zip(values, times.tolist(), strict=True)
    total = sum((Fraction(value) * n for value, n in pairs), Fraction(0))
    return float(total) / int(times.sum())


def _of_ranking(Y: Board, scores: Floats, weights: Floats | None) -> Iterator[tuple[str, float]]:
    """The measures of a ranking that are defined, by scikit-learn; unknown cells do not count."""
    from sklearn import metrics

    has_ones, has_zeros = (Y == 1).any(axis=0), (Y == 0).any(axis=0)
    known = Y != UNSET
    of_cells = None if weights is None else (weights[:, np.newaxis] * known)[known]
    cells = Y[known], scores[known]
    if has_ones.any():
        precision, area = metrics.average_precision_score, metrics.roc_auc_score
        yield "micro average precision", float(precision(*cells, sample_weight=of_cells))
        if has_ones.all():
            yield "macro average precision", _mean_over_labels(precision, Y, scores, weights)
        if has_zeros.any():
            yield "micro ROC AUC", float(area(*cells, sample_weight=of_cells))
    if (has_ones & has_zeros).all():
        yield "macro ROC AUC", _mean_over_labels(metrics.roc_auc_score, Y, scores, weights)
    if (known.sum(axis=1) > 1).any():
        within_rows = metrics.label_ranking_average_precision_score
        yield "label ranking average precision", _mean_over_rows(within_rows, Y, scores, weights)
        yield "ranking loss", _mean_over_rows(metrics.label_ranking_loss, Y, scores, weights)
        yield "coverage error", _mean_over_rows(metrics.coverage_error, Y, scores, weights)


def _mean_over_labels(
    measure: Callable[..., Any], Y: Board, scores: Floats, weights: Floats | None
) -> float:
    values = []
    for truth, given in zip(Y.T, scores.T, strict=True):
        known = truth != UNSET
        own = None if weights is None else weights[known]
        values.append(measure(truth[known], given[known], sample_weight=own))
    return float(np.mean(values))


def _mean_over_rows(
    measure: Callable[..., Any], Y: Board, scores: Floats, weights: Floats | None
) -> float:
    """The mean over rows with two known labels or more, by which labels they know."""
    known = Y != UNSET
    if known.all():
        return float(measure(Y, scores, sample_weight=weights))
    kinds, kind = np.unique(known, axis=0, return_inverse=True)
    total, n_rows = 0.0, 0.0
    for number, labels in enumerate(kinds):
        rows = kind.reshape(-1) == number
        if np.count_nonzero(labels) > 1:
            part, own = np.ix_(rows, labels), None if weights is None else weights[rows]
            size = float(rows.sum() if own is None else own.sum())
            total += float(measure(Y[part], scores[part], sample_weight=own)) * size
            n_rows += size
    return total / n_rows
