"""Models of single labels, rules or fitted classifiers: learned in parallel, and out of fold."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from labelrules._checks import job_count
from labelrules._interrupts import heard_interrupts
from labelrules._types import UNSET, Board, Floats, Integers, Mask, Matrix
from labelrules.data import Dataset, Feature, Schema
from labelrules.data.numeric import numeric_features
from labelrules.data.table import common_labels
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import (
    LabelProgress,
    is_nested_fit,
    nested_fit,
    warn_of_early_end,
)
from labelrules.learners.base.sampling import folds_of
from labelrules.learners.base.theory_classifier import RuleClassifier
from labelrules.rules import Body, Condition, DecisionList, Head, Rule, RuleTable, Run
from labelrules.rules.inference import (
    Inference,
    LabelByLabel,
    Numbers,
    Once,
    Rounds,
    UntilStable,
    closed,
    label_by_label,
    no_writer,
    nothing_known,
    sampled,
    until_stable,
)


def checked_base(base: Any) -> Any:
    """The base learner: `Ripper()` if none is given."""
    if base is None:
        from labelrules.learners.ripper.learner import Ripper

        return Ripper()
    if isinstance(base, type) or not (hasattr(base, "fit") and is_classifier(base)):
        raise ValueError(
            f"base must be a classifier of scikit-learn's kind, such as SeparateAndConquer(), "
            f"not {base!r:.80}"
        )
    return base


def weighs(base: Any, data: Dataset) -> bool:
    """Whether a base takes one weight per row that is not whole."""
    if isinstance(base, TableClassifier):
        return base._weighs(data, "rows")
    return bool(has_fit_parameter(base, "sample_weight"))


class LabelTask(NamedTuple):
    """A label to be learned, and the labels that its model may test."""

    label: int
    tested: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class LabelClassifier:
    """A classifier for one label that is not made of rules; a number if the label is constant."""

    task: LabelTask
    with_features: bool
    classifier: Any
    X: Matrix | None = None

    @property
    def label(self) -> int:
        """The label that it predicts."""
        return self.task.label

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """Predict the label by the features and these labels; no rule writes it."""
        writer = np.full(len(seen), -1, dtype=np.int32)
        if isinstance(self.classifier, int):
            return np.full(len(seen), self.classifier, dtype=np.int8), writer
        return np.asarray(self.classifier.predict(self._columns(seen))).astype(np.int8), writer

    def presence(self, seen: Board) -> Floats:
        """The probability that the label is present; 0 or 1 if the classifier gives none."""
        if isinstance(self.classifier, int) or not hasattr(self.classifier, "predict_proba"):
            return self.read(seen)[0].astype(np.float64)
        place = int(np.flatnonzero(self.classifier.classes_ == 1)[0])
        return np.asarray(self.classifier.predict_proba(self._columns(seen)))[:, place]

    def _columns(self, seen: Board) -> Matrix:
        X = self.X if self.with_features else None
        return with_labels(X, _without_unknown(seen[:, list(self.task.tested)]))


class _Identity:
    """Predicts the value of its only feature."""

    def predict(self, X: Any) -> Any:
        return X[:, 0]


LabelModel: TypeAlias = "list[Rule] | LabelClassifier"
"""The model of one label."""


@dataclass(frozen=True, eq=False)
class LabelLearner:
    """Learns the models of single labels; it can be sent to other processes.

    `labels` has the values of tested labels, rows by labels.
    """

    base: Any
    data: Dataset
    labels: Board
    with_features: bool = True

    @property
    def learns_rules(self) -> bool:
        """Whether the models are rules."""
        return isinstance(self.base, RuleClassifier)

    def learn(self, task: LabelTask) -> LabelModel:
        """Learn one label from the rows in which it is known.

        One that all these rows have, or none, is predicted for all rows.
        """
        known = self.data.Y[:, task.label] != UNSET
        if not known.all():
            return replace(self, data=self.data.take(known), labels=self.labels[known]).learn(task)
        values = np.unique(self.data.Y[:, task.label])
        if len(values) < 2:
            return self._constant(task, int(values.max(initial=0)))
        with nested_fit():
            return self._rules(task) if self.learns_rules else self._classifier(task)

    def completed(
        self, tasks: Iterable[LabelTask], learned: dict[LabelTask, LabelModel]
    ) -> list[Any]:
        """The models of all tasks; those that were not learned predict the majority."""
        common = self.common_labels()
        return [
            learned[task] if task in learned else self._constant(task, int(common[task.label]))
            for task in tasks
        ]

    def identity(self, label: int) -> LabelModel:
        """A model that predicts the value of the label that it reads."""
        n_labels = self.data.schema.n_labels
        if self.learns_rules:
            return [Rule(Head({label: 1}, n_labels), Body([Condition.label(label)]))]
        return LabelClassifier(LabelTask(label, (label,)), False, _Identity())

    def folds(self, n_folds: int, random_state: Any) -> Any:
        """For each row its fold."""
        return folds_of(self.data, n_folds, random_state)

    def out_of_fold(
        self, tasks: list[LabelTask], folds: Any, workers: "Workers", phase: str
    ) -> Any:
        """The labels of all tasks as predicted by models that were learned from other folds."""
        predictions = out_of_fold_predictions(self, tasks, folds, workers, phase)
        return np.column_stack([predictions[task] for task in tasks])

    def reading(self, labels: Any, folds: Any) -> "LabelLearner":
        """The same with other values of tested labels, as `out_of_fold` gives them."""
        return replace(self, labels=labels)

    def changes(self, before: Any, after: Any, folds: Any) -> Integers:
        """For each label what other predictions change; see `change_counts`."""
        return change_counts(self.data.Y, before, after)

    def chosen(self, kept: list[bool], after: Any, before: Any) -> Any:
        """Later predictions of the labels that are kept, and earlier ones of all others."""
        return np.where(kept, after, before)

    def common_labels(self) -> Mask:
        """For each label whether it is present in most rows."""
        return common_labels(self.data.Y, self.data.weights)

    def _constant(self, task: LabelTask, value: int) -> LabelModel:
        if self.learns_rules:
            return [Rule(Head({task.label: value}, self.data.schema.n_labels))]
        return LabelClassifier(task, self.with_features, value)

    def _rules(self, task: LabelTask) -> list[Rule]:
        table = label_table(self.data, task, self.labels, self.with_features)
        theory = clone(self.base).fit(table).theory_
        return rules_for(task, theory, self.data.schema, table.schema.n_features)

    def _classifier(self, task: LabelTask) -> LabelClassifier:
        X = numeric_features(self.data) if self.with_features else None
        columns = with_labels(X, _without_unknown(self.labels[:, list(task.tested)]))
        weights = _weights_of(self.data, task.label)
        given = {} if weights is None else {"sample_weight": weights}
        truth = self.data.Y[:, task.label].astype(np.int64)
        classifier = clone(self.base).fit(columns, truth, **given)
        return LabelClassifier(task, self.with_features, classifier)


def change_counts(truth: Board, before: Board, after: Board) -> Integers:
    """For each label how other predictions change it.

    The known cells that are right only after, and only before; those with the label, those that are
    predicted to have it before, and rightly, and the same after; and all cells that change.
    """
    known, present = truth != UNSET, truth == 1
    cells = (
        known & (after == truth) & (before != truth),
        known & (before == truth) & (after != truth),
        present,
        known & (before == 1), present & (before == 1),
        known & (after == 1), present & (after == 1),
        before != after,
    )  # fmt: skip
    return np.array([one.sum(axis=0) for one in cells], dtype=np.int64)


ABSENT_PRESENT = ("0", "1")
"""The categories of a label that is a feature."""


def label_table(
    data: Dataset, task: LabelTask, labels: Board, with_features: bool = True
) -> Dataset:
    """A data set with one label, in which the tested labels, rows by all labels, are features."""
    X = with_labels(data.X if with_features else None, labels[:, list(task.tested)])
    schema, weights = label_schema(data.schema, task, with_features), _weights_of(data, task.label)
    return Dataset(schema, X, data.Y[:, [task.label]], data.name, weights)


def label_schema(schema: Schema, task: LabelTask, with_features: bool) -> Schema:
    """The schema of a data set with one label, in which the tested labels are features."""
    features = list(schema.features) if with_features else []
    # A label that is predicted from its own earlier value needs another name for the latter.
    taken = {*schema.feature_names, *schema.labels}
    for j in task.tested:
        name = _free(schema.labels[j], taken) if j == task.label else schema.labels[j]
        features.append(Feature(name, ABSENT_PRESENT))
    return Schema(features, [schema.labels[task.label]])


def _weights_of(data: Dataset, label: int) -> Floats | None:
    """The weights of the rows for one label."""
    if data.weights is None or data.weights.ndim == 1:
        return data.weights
    weights: Floats = data.weights[:, label]
    return weights


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name


def _without_unknown(labels: Board) -> Floats:
    """Labels as numbers for any classifier; an unknown one lies between absent and present."""
    return np.where(labels == UNSET, 0.5, labels)


def with_labels(X: Matrix | None, given: Board | Floats) -> Matrix:
    """Features with labels as further columns, an unknown one missing; sparse X stays sparse."""
    labels = np.where(given == UNSET, np.nan, given) if (given == UNSET).any() else given
    if X is None:
        return np.asfortranarray(labels, dtype=np.float64)
    if not labels.shape[1]:
        return X
    if sparse.issparse(X):
        return sparse.csc_array(sparse.hstack([X, sparse.csc_array(labels.astype(np.float64))]))
    columns = np.empty((X.shape[0], X.shape[1] + labels.shape[1]), order="F")
    columns[:, : X.shape[1]] = X
    columns[:, X.shape[1] :] = labels
    columns.setflags(write=False)
    return columns


def rules_for(task: LabelTask, rules: Iterable[Rule], schema: Schema, n_columns: int) -> list[Rule]:
    """Rules from the table of one label as rules over all features and labels, the default last."""
    translated = []
    for rule in rules:
        if rule.body.on_labels:
            continue  # it tests its own label, which no rule can have written
        first = n_columns - len(task.tested)
        body = Body(one for condition in rule.body for one in _translated(condition, task, first))
        translated.append(Rule(Head({task.label: rule.head.values[0]}, schema.n_labels), body))
        if not len(body):
            return translated
    return [*translated, Rule(Head({task.label: 0}, schema.n_labels))]


def _translated(condition: Condition, task: LabelTask, first: int) -> Iterator[Condition]:
    """The condition over all features and labels; none if every value of a label is allowed."""
    if condition.column < first:
        yield condition
        return
    allowed = condition.holds(np.array([0.0, 1.0])).tolist()
    if allowed != [True, True]:
        yield Condition.label(task.tested[condition.column - first], present=allowed[1])


Absence: TypeAlias = Literal["never", "if tested", "always"]
"""Whether default rules that predict absence are written."""


def joined_list(
    schema: Schema, models: Iterable[list[Rule]], absence: Absence = "if tested"
) -> DecisionList:
    """One decision list of the rules of several models, one after the other.

    A label that no rule predicts is absent, so default rules that predict absence say nothing new;
    but a rule of the same list that tests whether a label is absent waits for one.
    """
    rules = [rule for model in models for rule in model]
    written: set[int] = set() if absence == "never" else set(range(schema.n_labels))
    if absence == "if tested":
        written = {one.column for rule in rules for one in rule.body.on_labels if one.value == 0}
    return DecisionList(
        schema, [rule for rule in rules if not _is_absence(rule) or rule.head.labels[0] in written]
    )


def _is_absence(rule: Rule) -> bool:
    """Whether the rule predicts for all rows that its label is absent."""
    return not len(rule.body) and not any(rule.head.values)


class Workers:
    """Learn the models of many labels in parallel, by joblib; Ctrl-C keeps those finished."""

    def __init__(self, n_jobs: int | None, listener: Callable[[LabelProgress], object]) -> None:
        self.n_jobs, self.listener = job_count(n_jobs), listener
        self.n_done = self.n_tasks = self.n_phases = 0
        self.was_interrupted = False

    def learn(
        self, learner: LabelLearner, tasks: Iterable[LabelTask], phase: str
    ) -> dict[LabelTask, LabelModel]:
        """The models of the tasks that were finished: all, or none after an interrupt."""
        models: dict[LabelTask, LabelModel] = {}
        tasks = list(dict.fromkeys(tasks))
        self.n_tasks += len(tasks)
        self.n_phases += 1
        if self.was_interrupted or not tasks:
            return models
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        try:
            for task, model in parallel(delayed(_learn)(learner, task) for task in tasks):
                models[task] = model
                self.n_done += 1
                name = learner.data.schema.labels[task.label]
                self.listener(LabelProgress(len(models), len(tasks), name, phase))
        except KeyboardInterrupt:
            self._note_interrupt()
        return models

    def unless_interrupted(self, step: Callable[[], None]) -> None:
        """Take a further step, unless Ctrl-C was or is pressed."""
        if self.was_interrupted:
            return
        try:
            step()
        except KeyboardInterrupt:
            self._note_interrupt()

    def _note_interrupt(self) -> None:
        """Keep what is there, unless another learner, or a comparison, handles Ctrl-C."""
        if is_nested_fit():
            raise KeyboardInterrupt
        self.was_interrupted = True

    def warn(self) -> None:
        """Warn if not everything was learned."""
        if self.was_interrupted:
            warn_of_early_end("it was interrupted", self._kept())

    def _kept(self) -> str:
        share = f"{self.n_done} of {self.n_tasks}"
        if self.n_done == 0:
            return "no label was learned yet, so only default rules are kept"
        if self.n_phases == 1:
            return f"the {share} labels learned so far are kept"
        # A label has several models, and some are needed only for what was not begun.
        return f"{share} models were learned, and what can be used of them is kept"


@heard_interrupts()
def _learn(learner: LabelLearner, task: LabelTask) -> tuple[LabelTask, LabelModel]:
    return task, learner.learn(task)


def out_of_fold_predictions(
    learner: LabelLearner, tasks: list[LabelTask], folds: Integers, workers: Workers, phase: str
) -> dict[LabelTask, Board]:
    """For each task the labels predicted by models that were learned from the other folds.

    Labels that are tested have the values of `learner.labels`, in learning and in predicting.
    """
    data, n_folds = learner.data, int(folds.max()) + 1
    predictions: dict[LabelTask, Board] = {
        task: np.zeros(data.n_rows, dtype=np.int8) for task in tasks
    }
    for fold in range(n_folds):
        held, kept = folds == fold, np.flatnonzero(folds != fold)
        if not kept.size:  # a single row
            continue
        part = replace(learner, data=data.take(kept), labels=learner.labels[kept])
        models = workers.learn(part, tasks, f"{phase}, fold {fold + 1} of {n_folds}")
        rows, labels = data.take(held), learner.labels[held]
        for task, model in models.items():
            predictions[task][held] = _predict(model, task, rows, labels)
    return predictions


def _predict(model: LabelModel, task: LabelTask, rows: Dataset, labels: Board) -> Board:
    if isinstance(model, LabelClassifier):
        return replace(model, X=numeric_features(rows)).read(labels)[0]
    board = RuleTable(DecisionList(rows.schema, model)).apply(rows, reads=labels)
    return closed(board)[:, task.label]


class ClassifierLayer:
    """A classifier for each label with the rows to predict, X in numbers: see `Reader` of rules."""

    def __init__(self, models: Iterable[LabelClassifier], X: Matrix) -> None:
        in_order = sorted(models, key=lambda model: model.label)
        self.columns: list[Any] = [replace(model, X=X) for model in in_order]
        self.absent: Board = np.zeros((X.shape[0], len(self.columns)), dtype=np.int8)

    def read(self, seen: Board | None) -> Run:
        """Predict all labels by features and these labels; all are absent if None."""
        labels = self.absent if seen is None else seen
        board = np.column_stack([column.read(labels)[0] for column in self.columns])
        return Run(board, *no_writer(board))

    def presence(self, seen: Board | None) -> Floats:
        """The probability of each label, given these labels."""
        labels = self.absent if seen is None else seen
        return np.column_stack([column.presence(labels) for column in self.columns])

    def infer(self, inference: Inference, seen: Board | None) -> Rounds:
        """Predict by one of the methods of inference, beginning with these labels."""
        if isinstance(inference, UntilStable):
            return until_stable(self, inference.max_rounds, seen)
        if isinstance(inference, Once):
            run = self.read(seen)
            return Rounds(run, *nothing_known(run.board))
        start = self.absent if seen is None else seen
        if isinstance(inference, LabelByLabel):
            order = inference.labels(len(self.columns))
            return label_by_label(self.columns, order, inference.max_rounds, start)
        return sampled(self.columns, inference, start)
