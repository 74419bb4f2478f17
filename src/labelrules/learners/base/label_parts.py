"""Models of single labels from rows in partitions: rules, the same as from the rows in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from labelrules._kept import kept
from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.data import Dataset, Partitions
from labelrules.data.table import checked_dataset
from labelrules.learners.base.label_models import (
    LabelLearner,
    LabelModel,
    LabelTask,
    Workers,
    change_counts,
    label_schema,
    label_table,
    rules_for,
)
from labelrules.learners.base.progress import nested_fit
from labelrules.learners.base.sampling import folds_of_parts
from labelrules.learners.base.theory_classifier import Background, RuleClassifier
from labelrules.rules import DecisionList, LayeredTheory
from labelrules.rules.inference import closed
from labelrules.rules.rule_table import table_of

LabelReader: TypeAlias = Callable[[Dataset, Any], Board]
"""The labels that models test: from a part of the rows, and what stands beside it."""


def label_learner(base: Any, data: Dataset | Partitions) -> LabelLearner:
    """Learns models of single labels from all rows; tested labels have their true values."""
    if isinstance(data, Dataset):
        return LabelLearner(base, data, data.Y)
    return PartedLabelLearner(base, data, true_labels)


def check_base_of_parts(base: Any) -> None:
    """Refuse a base that needs all rows in memory."""
    if not (isinstance(base, RuleClassifier) and base._takes_partitions):
        raise ValueError(
            f"{type(base).__name__} as base needs all rows in memory: for rows in partitions use "
            "SeparateAndConquer(bins=255) or Ripper(bins=255)"
        )
    base._check_for_partitions()


@dataclass(frozen=True, eq=False)
class PartedLabelLearner(LabelLearner):
    """The same as `LabelLearner` for rows in partitions; `labels` reads those that are tested."""

    data: Any
    labels: Any
    beside: Sequence[Any] | None = None

    def learn(self, task: LabelTask) -> LabelModel:
        """See `LabelLearner.learn`."""
        n_known, n_present = label_cells(self.data)[:, task.label].tolist()
        if n_present in (0, n_known):
            return self._constant(task, int(n_present > 0))
        schema = label_schema(self.data.schema, task, self.with_features)
        change = partial(_label_rows, task, self.labels, self.with_features)
        is_always_known = n_known == n_labelled_rows(self.data)
        rows = self.data.mapped(
            change, schema, self.beside, keeps_features=self.with_features and is_always_known
        )
        with nested_fit():
            theory = clone(self.base).fit(rows).theory_
        return rules_for(task, theory, self.data.schema, schema.n_features)

    def folds(self, n_folds: int, random_state: Any) -> list[Integers]:
        """See `LabelLearner.folds`; part by part, -1 for rows of which no label is known."""
        return folds_of_parts(self.data, n_folds, random_state)

    def out_of_fold(
        self, tasks: list[LabelTask], folds: list[Integers], workers: Workers, phase: str
    ) -> "OutOfFold":
        """See `LabelLearner.out_of_fold`; predicted anew whenever a part is read."""
        n_folds = 1 + max(int(part.max(initial=0)) for part in folds)
        lists = []
        for fold in range(n_folds):
            rows = self.data.mapped(partial(_without_fold, fold), self.data.schema, folds)
            models: dict[LabelTask, Any] = {}
            if label_cells(rows)[0].any():  # else there is a single row
                learner = replace(self, data=rows, beside=folds)
                models = workers.learn(learner, tasks, f"{phase}, fold {fold + 1} of {n_folds}")
            rules = [rule for task in tasks for rule in models.get(task, ())]
            lists.append(DecisionList(self.data.schema, rules))
        return OutOfFold(tuple(lists), self.labels)

    def reading(self, labels: LabelReader, folds: list[Integers]) -> "PartedLabelLearner":
        """See `LabelLearner.reading`."""
        return replace(self, labels=labels, beside=folds)

    def changes(self, before: LabelReader, after: LabelReader, folds: list[Integers]) -> Integers:
        """See `LabelLearner.changes`."""
        count = partial(_changes, before, after)
        counts: Integers = self.data.total(count, "comparing predictions", folds)
        return counts

    def chosen(self, kept: list[bool], after: LabelReader, before: LabelReader) -> LabelReader:
        """See `LabelLearner.chosen`."""
        return partial(_chosen, kept, after, before)

    def common_labels(self) -> Mask:
        """See `LabelLearner.common_labels`."""
        n_known, n_present = label_cells(self.data)
        return np.asarray(2 * n_present > n_known)


def true_labels(part: Dataset, beside: Any) -> Board:
    """Reads the true values of labels."""
    return part.Y


@dataclass(frozen=True)
class OutOfFold:
    """Reads the labels that the rules of each fold predict for its rows.

    The rules read the labels `before`; they were learned from the other folds. Where the folds of
    rows are not known, all labels are absent.
    """

    lists: tuple[DecisionList, ...]
    before: LabelReader

    def __call__(self, part: Dataset, folds: Integers | None) -> Board:
        """Predict labels of a part."""
        board: Board = np.zeros(part.Y.shape, dtype=np.int8)
        if folds is None:
            return board
        seen = self.before(part, folds)
        for fold, rules in enumerate(self.lists):
            (rows,) = (folds == fold).nonzero()
            if len(rows):
                own = table_of(rules).apply(part.take(rows), reads=seen[rows])
                board[rows] = closed(own)
        return board


def _without_fold(fold: int, part: Dataset, folds: Integers | None) -> Dataset:
    """The rows of a part, with the labels unknown in those of a fold."""
    if folds is None:
        return part
    held = (folds == fold)[:, np.newaxis]
    return checked_dataset(part.schema, part.X, np.where(held, UNSET, part.Y))


def _changes(before: LabelReader, after: LabelReader, part: Dataset, folds: Integers) -> Integers:
    return change_counts(part.Y, before(part, folds), after(part, folds))


def _chosen(
    kept: list[bool], after: LabelReader, before: LabelReader, part: Dataset, folds: Any
) -> Board:
    return np.where(kept, after(part, folds), before(part, folds))


def sampled_rows(data: Dataset | Partitions, sample: Any) -> Any:
    """Some rows, perhaps several times: by their numbers, of partitions in each part."""
    if isinstance(data, Dataset):
        return data.take(sample)
    return data.mapped(_taken, data.schema, sample, n_rows=sum(map(len, sample)))


def _taken(part: Dataset, rows: Integers | None) -> Dataset:
    return part if rows is None else part.take(rows)


def _label_rows(
    task: LabelTask, labels: LabelReader, with_features: bool, part: Dataset, beside: Any
) -> Dataset:
    return label_table(part, task, labels(part, beside), with_features)


@kept
def _cells_of_parts(data: Partitions) -> Integers:
    counts: Integers = data.total(_label_cells, "counting labels")
    return counts


def label_cells(data: Dataset | Partitions) -> Integers:
    """For each label the rows in which it is known, and those that have it."""
    return (_label_cells(data) if isinstance(data, Dataset) else _cells_of_parts(data))[:, :-1]


def n_labelled_rows(data: Partitions) -> int:
    """How many rows there are of which a label is known."""
    return int(_cells_of_parts(data)[0, -1])


def _label_cells(data: Dataset) -> Integers:
    """The cells of each label, and then of whether any label is known or present."""
    kinds = data.Y != UNSET, data.Y == 1
    return np.array([[*one.sum(axis=0), one.any(axis=1).sum()] for one in kinds], dtype=np.int64)


def background_on(
    theory: DecisionList | LayeredTheory | None, data: Dataset | Partitions
) -> Background:
    """The cells of all rows that a theory leaves open; None leaves none open."""
    if isinstance(data, Dataset):
        return Background.count(_written(theory, data), data.Y, data.weights)
    return Background.of_cells(data.total(partial(_open_cells, theory), "counting open cells"))


def _open_cells(theory: DecisionList | LayeredTheory | None, part: Dataset) -> Any:
    return Background.cells(_written(theory, part), part.Y)


def _written(theory: DecisionList | LayeredTheory | None, rows: Dataset) -> Board:
    if theory is None:
        return rows.Y
    return (theory if isinstance(theory, LayeredTheory) else table_of(theory)).run(rows).board
