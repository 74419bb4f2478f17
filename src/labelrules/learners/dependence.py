"""Tests for dependence between labels: unconditional, and conditional on the features."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats

from labelrules._checks import whole_number
from labelrules._report import (
    Columns,
    Lines,
    Part,
    Report,
    Tabular,
    field_columns,
    first_lines,
)
from labelrules._types import UNSET, Board, Floats, Mask
from labelrules.constraints.label_counts import labels_of
from labelrules.constraints.significance import Correction, adjusted, checked_alpha
from labelrules.data import Dataset
from labelrules.learners.base.label_models import (
    Beside,
    LabelLearner,
    LabelTask,
    Workers,
    checked_base,
    predicted_by,
)
from labelrules.learners.base.progress import Listener, progress_listener
from labelrules.learners.base.sampling import folds_of


class DependentPair(NamedTuple):
    """Two labels, and the test whether the first depends on the second."""

    label: str
    on: str
    statistic: float
    p: float
    corrected: float
    significant: bool


@dataclass(frozen=True, eq=False, repr=False)
class Dependence(Report, Tabular):
    """The dependence between all pairs of labels; printing it shows the significant pairs.

    Arrays are labels by labels: the first depends on the second. Their diagonals have no meaning.

    Attributes
    ----------
    kind : {"unconditional", "conditional"}
    labels : tuple of str
    statistic : array of float
        The chi-square statistic; or for how many more rows the prediction of the first label is
        right when the second is known.
    p, corrected : array of float
        The p-values, and those corrected for the number of tests.
    alpha : float
        The level of significance.
    """

    kind: Literal["unconditional", "conditional"]
    labels: tuple[str, ...]
    statistic: Floats
    p: Floats
    corrected: Floats
    alpha: float

    @property
    def significant(self) -> Mask:
        """A mask of the pairs that are dependent."""
        is_significant: Mask = self.corrected <= self.alpha
        return is_significant & ~np.eye(len(self.labels), dtype=np.bool_)

    def pairs(self) -> list[DependentPair]:
        """All pairs, the smallest p first; unconditional dependence is symmetric."""
        pairs = [
            DependentPair(
                self.labels[i],
                self.labels[j],
                float(self.statistic[i, j]),
                float(self.p[i, j]),
                float(self.corrected[i, j]),
                bool(self.significant[i, j]),
            )
            for i, j in np.argwhere(~np.eye(len(self.labels), dtype=np.bool_)).tolist()
            if self.kind == "conditional" or i < j
        ]
        return sorted(pairs, key=lambda pair: (pair.p, -pair.statistic))

    def as_dict(self) -> Columns:
        """The pairs as columns, for a data frame of any library."""
        return field_columns(DependentPair, self.pairs())

    def order(self) -> tuple[int, ...]:
        """An order of the labels for a chain, in which labels come soon after those they depend on.

        The label on which the others depend most is the first. The next is always the label with
        the strongest dependence on one in the order; if none depends on them, again the label on
        which the others depend most. Only significant dependence counts; ties go to the first.
        """
        strength = np.where(self.significant, np.maximum(self.statistic, 0.0), 0.0)
        total = strength.sum(axis=0)
        order: list[int] = []
        left = list(range(len(self.labels)))
        while left:
            strongest = [max((strength[i, j] for j in order), default=0.0) for i in left]
            value = strongest if any(strongest) else [total[i] for i in left]
            order.append(left.pop(int(np.argmax(value))))
        return tuple(order)

    def _parts(self) -> Iterator[Part]:
        significant = [pair for pair in self.pairs() if pair.significant]
        joint = "and" if self.kind == "unconditional" else "on"
        shown = (
            f"{one.label} {joint} {one.on}: p = {one.corrected:.2g}" for one in significant[:20]
        )
        yield Lines(first_lines(shown, len(significant)))

    @property
    def headline(self) -> str:
        """How many pairs of labels are dependent."""
        pairs = self.pairs()
        n_significant = sum(pair.significant for pair in pairs)
        return f"{n_significant} of {len(pairs)} pairs of labels show {self.kind} dependence"


def unconditional_dependence(
    Y: Any, *, correction: Correction = "holm", alpha: float = 0.05
) -> Dependence:
    """Test each pair of labels for dependence: whether they occur together by chance only.

    A chi-square test of the two-by-two table of each pair, without a correction for continuity.

    Parameters
    ----------
    Y : Dataset, array, sparse matrix, frame or label sets, or Partitions
        Rows by labels, as for :func:`labelrules.dataset`. Cells that are unknown do not count.
    correction : {"holm", "benjamini-hochberg"}, optional
        For the number of tests: of the probability of any wrong pair (Holm), or of the share of
        wrong pairs (Benjamini and Hochberg).
    alpha : float, default=0.05
        The level of significance.

    Examples
    --------
    >>> from labelrules import load
    >>> print(unconditional_dependence(load("magazines"), correction=None, alpha=0.2))
    2 of 6 pairs of labels show unconditional dependence
      quality and sports: p = 0.13
      tabloid and sports: p = 0.19
    """
    schema, total = labels_of(Y, None)
    labels = schema.labels
    n_rows, both, count = total(_pair_tables)
    spread = count * (n_rows - count)
    product = spread * spread.T
    squared = (n_rows * both - count * count.T) ** 2
    statistic = np.divide(n_rows * squared, product, out=np.zeros_like(product), where=product > 0)
    p = stats.chi2.sf(statistic, 1)
    above = np.triu_indices(len(labels), 1)
    corrected = np.ones_like(p)
    corrected[above] = adjusted(p[above], correction)
    corrected = np.minimum(corrected, corrected.T)
    return Dependence("unconditional", labels, statistic, p, corrected, checked_alpha(alpha))


def _pair_tables(board: Board) -> Floats:
    """For each pair of labels the rows in which both are known, have both, and have the first.

    Of each pair only the rows count in which both labels are known.
    """
    ones, known = (board == 1).astype(np.float64), (board != UNSET).astype(np.float64)
    return np.array([known.T @ known, ones.T @ ones, ones.T @ known])


def conditional_dependence(
    data: Dataset,
    base: Any = None,
    *,
    n_folds: int = 5,
    correction: Correction = "holm",
    alpha: float = 0.05,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | Listener = False,
) -> Dependence:
    """Test each pair of labels for dependence given the features.

    For each label a classifier is learned from the features, and another one from the features
    and one other label. McNemar's exact test compares their out-of-fold predictions. There are as
    many tests as ordered pairs of labels, and for each a classifier per fold.

    Parameters
    ----------
    data : Dataset
    base : classifier, optional
        By default `Ripper()`.
    n_folds : int, default=5
    correction, alpha
        As for `unconditional_dependence`.
    random_state : int, RandomState or None, default=None
        Chooses the folds, together with the values of the rows. None is the same as 0.
    n_jobs, progress
        As for :class:`BinaryRelevance`.
    """
    if not isinstance(data, Dataset):
        raise ValueError(f"data must be a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    whole_number(n_folds, "n_folds", low=2)
    every = range(data.schema.n_labels)
    pairs = [(i, j) for i in every for j in every if i != j]
    tasks = [*(LabelTask(i) for i in every), *(LabelTask(i, (j,)) for i, j in pairs)]
    learner = LabelLearner(
        checked_base(base), data, beside=[Beside(folds_of(data, n_folds, random_state))]
    )
    with progress_listener(progress) as listener:
        workers = Workers(n_jobs, listener)
        by_fold = learner.models_by_fold(tasks, workers, "labels with and without another")
    if workers.was_interrupted:
        raise KeyboardInterrupt
    right = _right_cells(data, learner, tasks, by_fold)
    shape = (len(every), len(every))
    statistic, p, corrected = np.zeros(shape), np.ones(shape), np.ones(shape)
    for i, j in pairs:
        gained, lost = gained_and_lost(right[LabelTask(i)], right[LabelTask(i, (j,))])
        statistic[i, j], p[i, j] = gained - lost, mcnemar(gained, lost)
    rows, columns = (list(side) for side in zip(*pairs, strict=True)) if pairs else ([], [])
    corrected[rows, columns] = adjusted(p[rows, columns], correction)
    labels = data.schema.labels
    return Dependence("conditional", labels, statistic, p, corrected, checked_alpha(alpha))


def _right_cells(
    data: Dataset,
    learner: LabelLearner,
    tasks: list[LabelTask],
    by_fold: list[dict[LabelTask, Any]],
) -> dict[LabelTask, Mask]:
    """For each task the rows for which it is predicted right by models that have not seen them."""
    ((folds, _),) = learner.beside or ()
    found = {task: data.Y[:, task.label] == 0 for task in tasks}  # what is not learned is absent
    for fold, models in enumerate(by_fold):
        (held,) = (folds == fold).nonzero()
        rows = data.take(held)
        for task, model in models.items():
            board = predicted_by(learner.joined([model]), rows, rows.Y)
            found[task][held] = board[:, task.label] == rows.Y[:, task.label]
    return found


def gained_and_lost(before: Mask, after: Mask) -> tuple[int, int]:
    """The number of rows that are right only after, and only before."""
    return int((after & ~before).sum()), int((before & ~after).sum())


def mcnemar(gained: int, lost: int) -> float:
    """The p-value of McNemar's exact two-sided test."""
    if gained + lost == 0:
        return 1.0
    return float(stats.binomtest(gained, gained + lost).pvalue)
