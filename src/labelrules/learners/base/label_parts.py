"""Models of single labels from rows in partitions: rules, the same as from the rows in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from labelrules._kept import kept
from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.data import Dataset, Partitions
from labelrules.learners.base.label_models import (
    LabelLearner,
    LabelModel,
    LabelTask,
    label_schema,
    label_table,
    rules_for,
)
from labelrules.learners.base.progress import nested_fit
from labelrules.learners.base.theory_classifier import Background, RuleClassifier
from labelrules.rules import DecisionList, LayeredTheory
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
        rows = self.data.mapped(change, schema, self.beside)
        with nested_fit():
            theory = clone(self.base).fit(rows).theory_
        return rules_for(task, theory, self.data.schema, schema.n_features)

    def common_labels(self) -> Mask:
        """See `LabelLearner.common_labels`."""
        n_known, n_present = label_cells(self.data)
        return np.asarray(2 * n_present > n_known)


def true_labels(part: Dataset, beside: Any) -> Board:
    """Reads the true values of labels."""
    return part.Y


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
    return _label_cells(data) if isinstance(data, Dataset) else _cells_of_parts(data)


def _label_cells(data: Dataset) -> Integers:
    return np.array([(data.Y != UNSET).sum(axis=0), (data.Y == 1).sum(axis=0)], dtype=np.int64)


def background_on(theory: DecisionList | LayeredTheory, data: Dataset | Partitions) -> Background:
    """The cells of all rows that a theory leaves open."""
    if isinstance(data, Dataset):
        return Background.count(_run(theory, data).board, data.Y, data.weights)
    return Background.of_cells(data.total(partial(_open_cells, theory), "counting open cells"))


def _open_cells(theory: DecisionList | LayeredTheory, part: Dataset) -> Any:
    return Background.cells(_run(theory, part).board, part.Y)


def _run(theory: DecisionList | LayeredTheory, rows: Dataset) -> Any:
    return (theory if isinstance(theory, LayeredTheory) else table_of(theory)).run(rows)
