"""What is learned for one label: rules, or any fitted classifier."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone, is_classifier

from labelrules._types import Board, Floats, Matrix
from labelrules.data import Dataset
from labelrules.learners.base import RuleClassifier
from labelrules.learners.interrupts import passed_on
from labelrules.learners.widened import numbers_of, rules_for, table_of, widened
from labelrules.rules import Body, Condition, Head, Rule


def default_base() -> Any:
    """The learner for single labels where none is given: RIPPER."""
    from labelrules.learners.ripper import Ripper

    return Ripper()


def checked_base(base: Any) -> Any:
    """The learner for single labels, the default if there is none."""
    if base is None:
        return default_base()
    if isinstance(base, type) or not (hasattr(base, "fit") and is_classifier(base)):
        raise ValueError(
            f"base must be a classifier of scikit-learn's kind, such as SeparateAndConquer(), "
            f"not {base!r:.80}"
        )
    return base


class Job(NamedTuple):
    """A label to be learned, and the labels that may be tested for it."""

    label: int
    tested: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Fitted:
    """A classifier for one label, of any kind.

    Parameters
    ----------
    job : Job
    with_features : bool
        Whether it looks at features, or at labels only.
    classifier : fitted estimator, or int
        A number if all training rows had the same value.
    """

    job: Job
    with_features: bool
    classifier: Any

    def cells(self, X: Matrix, seen: Board) -> Board:
        """Whether the label is present, by features as numbers and other labels."""
        if isinstance(self.classifier, int):
            return np.full(len(seen), self.classifier, dtype=np.int8)
        return np.asarray(self.classifier.predict(self._wide(X, seen))).astype(np.int8)

    def presence(self, X: Matrix, seen: Board) -> Floats:
        """How probable it is that the label is present; 0 or 1 if the classifier only decides."""
        if isinstance(self.classifier, int) or not hasattr(self.classifier, "predict_proba"):
            return self.cells(X, seen).astype(np.float64)
        place = int(np.flatnonzero(self.classifier.classes_ == 1)[0])
        return np.asarray(self.classifier.predict_proba(self._wide(X, seen)))[:, place]

    def _wide(self, X: Matrix, seen: Board) -> Matrix:
        return widened(X if self.with_features else None, seen[:, list(self.job.tested)])


class _Unchanged:
    """Predicts what its only feature says."""

    def predict(self, X: Any) -> Any:
        return X[:, 0]


Member: TypeAlias = "list[Rule] | Fitted"
"""The model of one label."""


@dataclass(frozen=True, eq=False)
class Work:
    """What the models of the labels are learned from; it can be sent to other processes.

    Parameters
    ----------
    base : classifier
    data : Dataset
    shown : array of int8
        Rows by labels: what is shown of labels that are tested.
    with_features : bool
    """

    base: Any
    data: Dataset
    shown: Board
    with_features: bool = True

    @property
    def makes_rules(self) -> bool:
        """Whether the models are rules."""
        return isinstance(self.base, RuleClassifier)

    def learn(self, job: Job) -> Member:
        """Learn one label. A label that all rows have, or none, needs no learning."""
        values = np.unique(self.data.Y[:, job.label])
        if len(values) == 1:
            return self.constant(job, int(values[0]))
        with passed_on():
            return self._rules(job) if self.makes_rules else self._fitted(job)

    def constant(self, job: Job, value: int) -> Member:
        """A model that knows only one answer."""
        if self.makes_rules:
            return [Rule(Head({job.label: value}, self.data.schema.n_labels))]
        return Fitted(job, self.with_features, value)

    def unchanged(self, label: int) -> Member:
        """A model that says what it is shown of the label."""
        job, n_labels = Job(label, (label,)), self.data.schema.n_labels
        if self.makes_rules:
            shown = Rule(Head({label: 1}, n_labels), Body([Condition.label(label)]))
            return [shown, Rule(Head({label: 0}, n_labels))]
        return Fitted(job, False, _Unchanged())

    def _rules(self, job: Job) -> list[Rule]:
        table = table_of(self.data, job.label, job.tested, self.shown, self.with_features)
        theory = clone(self.base).fit(table).theory_
        n_features = table.schema.n_features - len(job.tested)
        return rules_for(job.label, theory, self.data.schema, job.tested, n_features)

    def _fitted(self, job: Job) -> Fitted:
        X = numbers_of(self.data) if self.with_features else None
        wide = widened(X, self.shown[:, list(job.tested)])
        classifier = clone(self.base).fit(wide, self.data.Y[:, job.label].astype(np.int64))
        return Fitted(job, self.with_features, classifier)
