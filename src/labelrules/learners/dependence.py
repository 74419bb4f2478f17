"""Tests for dependence between labels, without and with regard to the features."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats

from labelrules._types import Board, Floats, Mask
from labelrules.data import Dataset
from labelrules.data.memory.labels import read_labels
from labelrules.discovery.significance import Correction, adjusted, checked_alpha
from labelrules.learners.base.progress import Listener, told
from labelrules.learners.base.workers import Crew, Job, Work, checked_base, folds_of, held_out_cells


class DependentPair(NamedTuple):
    """Two labels and how sure it is that one depends on the other."""

    label: str
    on: str
    statistic: float
    p: float
    corrected: float
    significant: bool


@dataclass(frozen=True, eq=False)
class Dependence:
    """Which labels depend on which; printing it shows the pairs that do.

    Arrays are labels by labels: the first depends on the second. Their diagonals mean nothing.

    Attributes
    ----------
    kind : {"unconditional", "conditional"}
    labels : tuple of str
    statistic : array of float
        The chi-square statistic; or by how many more rows the first label is right when the
        second is known.
    p : array of float
        How probable a statistic this large is by chance.
    corrected : array of float
        The same, corrected for the number of tests.
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
        """Which pairs are dependent."""
        found: Mask = self.corrected <= self.alpha
        return found & ~np.eye(len(self.labels), dtype=np.bool_)

    def pairs(self) -> list[DependentPair]:
        """All pairs, the surest first; unconditional dependence is the same both ways."""
        found = []
        for i, j in np.argwhere(~np.eye(len(self.labels), dtype=np.bool_)).tolist():
            if self.kind == "unconditional" and i > j:
                continue
            pair = DependentPair(
                self.labels[i],
                self.labels[j],
                float(self.statistic[i, j]),
                float(self.p[i, j]),
                float(self.corrected[i, j]),
                bool(self.significant[i, j]),
            )
            found.append(pair)
        return sorted(found, key=lambda pair: (pair.p, -pair.statistic))

    def as_dict(self) -> dict[str, list[Any]]:
        """The pairs as columns, for a data frame of any library."""
        pairs = self.pairs()
        return {name: [getattr(pair, name) for pair in pairs] for name in DependentPair._fields}

    def order(self) -> tuple[int, ...]:
        """An order of the labels for a chain, in which labels come soon after those they depend on.

        It begins with the label on which the others depend most. Then comes, again and again, the
        label with the strongest dependence on one that is there already; when none is left that
        depends on them, it begins anew. Only significant dependence counts, and of equal labels
        the first is taken.
        """
        strength = np.where(self.significant, np.maximum(self.statistic, 0.0), 0.0)
        of_use = strength.sum(axis=0)
        order: list[int] = []
        left = list(range(len(self.labels)))
        while left:
            bound = [max((strength[i, j] for j in order), default=0.0) for i in left]
            value = bound if any(bound) else [of_use[i] for i in left]
            order.append(left.pop(int(np.argmax(value))))
        return tuple(order)

    def __str__(self) -> str:
        pairs = self.pairs()
        sure = [pair for pair in pairs if pair.significant]
        lines = [f"{len(sure)} of {len(pairs)} pairs of labels show {self.kind} dependence"]
        joint = "and" if self.kind == "unconditional" else "on"
        for pair in sure[:20]:
            lines.append(f"  {pair.label} {joint} {pair.on}: p = {pair.corrected:.2g}")
        more = len(sure) - 20
        return "\n".join([*lines, f"  ... and {more} more"] if more > 0 else lines)


def unconditional_dependence(
    Y: Any, *, correction: Correction = "holm", alpha: float = 0.05
) -> Dependence:
    """Test for each pair of labels whether they occur together as often as chance would have it.

    A chi-square test of the two-by-two table of each pair, without a correction for continuity.

    Parameters
    ----------
    Y : Dataset, array, sparse matrix, frame or label sets
        Rows by labels, as for :func:`labelrules.dataset`.
    correction : {"holm", "benjamini-hochberg"}, optional
        For the number of tests: against a single wrong pair (Holm), or against many among those
        found (Benjamini and Hochberg).
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
    labels, board = _labels_of(Y)
    n_rows = len(board)
    ones = board.astype(np.float64)
    both = ones.T @ ones
    count = ones.sum(axis=0)
    spread = count * (n_rows - count)
    product = np.outer(spread, spread)
    squared = (n_rows * both - np.outer(count, count)) ** 2
    statistic = np.divide(n_rows * squared, product, out=np.zeros_like(product), where=product > 0)
    p = stats.chi2.sf(statistic, 1)
    above = np.triu_indices(len(labels), 1)
    corrected = np.ones_like(p)
    corrected[above] = adjusted(p[above], correction)
    corrected = np.minimum(corrected, corrected.T)
    return Dependence("unconditional", labels, statistic, p, corrected, checked_alpha(alpha))


def conditional_dependence(
    data: Dataset,
    base: Any = None,
    *,
    n_folds: int = 5,
    correction: Correction = "holm",
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | Listener = False,
) -> Dependence:
    """Test for each label whether knowing another one helps a classifier that knows the features.

    For each label a classifier is learned from the features, and another one from the features
    and one other label. Both predict each row after learning from the rows of other folds. Of the
    rows on which just one of the two is right, chance would give each a half: McNemar's test, in
    its exact form. There are as many tests as ordered pairs of labels, and for each a classifier
    per fold.

    Parameters
    ----------
    data : Dataset
    base : classifier, optional
        By default `Ripper()`.
    n_folds : int, default=5
    correction, alpha
        As for `unconditional_dependence`.
    random_state : int, default=0
        Chooses the folds, together with the values of the rows.
    n_jobs, progress
        As for :class:`BinaryRelevance`.
    """
    if not isinstance(data, Dataset):
        raise ValueError(f"data must be a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    every = range(data.schema.n_labels)
    pairs = [(i, j) for i in every for j in every if i != j]
    jobs = [*(Job(i) for i in every), *(Job(i, (j,)) for i, j in pairs)]
    work = Work(checked_base(base), data, data.Y)
    with told(progress) as listener:
        crew = Crew(n_jobs, listener)
        folds = folds_of(data, n_folds, random_state)
        said = held_out_cells(work, jobs, folds, crew, "labels with and without another")
    if crew.was_interrupted:
        raise KeyboardInterrupt
    shape = (len(every), len(every))
    statistic, p, corrected = np.zeros(shape), np.ones(shape), np.ones(shape)
    for i, j in pairs:
        truth = data.Y[:, i]
        gained, lost = compared(said[Job(i)] == truth, said[Job(i, (j,))] == truth)
        statistic[i, j], p[i, j] = gained - lost, mcnemar(gained, lost)
    rows, columns = (list(side) for side in zip(*pairs, strict=True)) if pairs else ([], [])
    corrected[rows, columns] = adjusted(p[rows, columns], correction)
    labels = data.schema.labels
    return Dependence("conditional", labels, statistic, p, corrected, checked_alpha(alpha))


def compared(before: Mask, after: Mask) -> tuple[int, int]:
    """How many rows are right only after, and only before."""
    return int((after & ~before).sum()), int((before & ~after).sum())


def mcnemar(gained: int, lost: int) -> float:
    """How probable so uneven a division of the rows that differ is by chance; two-sided, exact.

    Examples
    --------
    >>> mcnemar(8, 2), mcnemar(0, 0)
    (0.109375, 1.0)
    """
    if gained + lost == 0:
        return 1.0
    return float(stats.binomtest(gained, gained + lost).pvalue)


def _labels_of(Y: Any) -> tuple[tuple[str, ...], Board]:
    if isinstance(Y, Dataset):
        return Y.schema.labels, Y.Y
    board, names = read_labels(Y, None)
    return names or tuple(f"y{label}" for label in range(board.shape[1])), board
