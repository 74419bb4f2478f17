"""Models of single labels, rules or fitted classifiers: learned in parallel, and out of fold."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from labelrules._checks import job_count
from labelrules._interrupts import heard_interrupts
from labelrules._types import UNSET, Board, Floats, Integers, Matrix
from labelrules.data import Dataset, Feature, Schema
from labelrules.data.numeric import numeric_features
from labelrules.data.rows import Rows
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import (
    LabelProgress,
    is_nested_fit,
    nested_fit,
    warn_of_early_end,
)
from labelrules.learners.base.sampling import folds_by_block
from labelrules.learners.base.tallies import LabelCells, label_cells
from labelrules.learners.base.theory_classifier import RuleClassifier
from labelrules.rules import Body, Condition, DecisionList, Head, Rule, Run
from labelrules.rules.inference import (
    Inference,
    LabelByLabel,
    Numbers,
    Once,
    Rounds,
    UntilStable,
    closed,
    label_by_label,
    nothing_known,
    sampled,
    until_stable,
)
from labelrules.rules.rule_table import table_of


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


def check_base_of_parts(base: Any) -> None:
    """Refuse a base that needs all rows in memory."""
    if not (isinstance(base, RuleClassifier) and base._takes_partitions):
        raise ValueError(
            f"{type(base).__name__} as base needs all rows in memory: for rows in partitions use "
            "SeparateAndConquer(bins=255) or Ripper(bins=255)"
        )
    base._check_for_partitions()


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


class Beside(NamedTuple):
    """What stands beside a block of rows: their folds, and their numbers if some were left out."""

    folds: Integers
    numbers: Integers | None = None

    def without(self, fold: int) -> "Beside":
        """Leave the rows of a fold out."""
        (kept,) = (self.folds != fold).nonzero()
        return Beside(self.folds[kept], kept if self.numbers is None else self.numbers[kept])


LabelReader: TypeAlias = Callable[[Dataset, Beside | None], Board]
"""The labels that models test: from a block of rows, and what stands beside it."""


def true_labels(block: Dataset, beside: Beside | None) -> Board:
    """Read the true values of labels."""
    return block.Y


@dataclass(frozen=True, eq=False)
class KeptLabels:
    """Reads labels that are kept for all rows of the one block in memory."""

    board: Board

    def __call__(self, block: Dataset, beside: Beside | None) -> Board:
        """Take those of the rows of the block."""
        assert beside is not None, "no rows in memory are only a sample"
        return self.board if beside.numbers is None else self.board[beside.numbers]


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Reads the labels that the models of each fold predict for its rows.

    The models read the labels `before`; they were learned from the other folds. Where the folds of
    rows are not known, all labels are absent.
    """

    models: "tuple[FoldModels, ...]"
    before: LabelReader

    def __call__(self, block: Dataset, beside: Beside | None) -> Board:
        """Predict the labels of a block."""
        board: Board = np.zeros(block.Y.shape, dtype=np.int8)
        if beside is None:
            return board
        seen = self.before(block, beside)
        for fold, models in enumerate(self.models):
            (rows,) = (beside.folds == fold).nonzero()
            if len(rows):
                board[rows] = predicted_by(models, block.take(rows), seen[rows])
        return board


@dataclass(frozen=True, eq=False)
class LabelLearner:
    """Learns the models of single labels; it can be sent to other processes.

    `labels` reads the values of tested labels; `beside` each block stand folds, if there are any.
    """

    base: Any
    rows: Rows
    labels: LabelReader = true_labels
    beside: Sequence[Beside] | None = None
    with_features: bool = True

    @property
    def learns_rules(self) -> bool:
        """Whether the models are rules."""
        return isinstance(self.base, RuleClassifier)

    @cached_property
    def cells(self) -> LabelCells:
        """The cells of each label; once counted, they are sent along."""
        return label_cells(self.rows)

    def learn(self, task: LabelTask) -> LabelModel:
        """Learn one label from the rows in which it is known.

        One that all these rows have, or none, is predicted for all rows.
        """
        n_known, n_present = (int(one[task.label]) for one in self.cells[:2])
        if n_present in (0, n_known):
            return self._constant(task, int(n_present > 0))
        with nested_fit():
            return self._rules(task) if self.learns_rules else self._classifier(task)

    def completed(
        self, tasks: Iterable[LabelTask], learned: dict[LabelTask, LabelModel]
    ) -> list[Any]:
        """The models of all tasks; those that were not learned predict the majority."""
        return [
            learned[task]
            if task in learned
            else self._constant(task, int(self.cells.are_common[task.label]))
            for task in tasks
        ]

    def identity(self, label: int) -> LabelModel:
        """A model that predicts the value of the label that it reads."""
        n_labels = self.rows.schema.n_labels
        if self.learns_rules:
            return [Rule(Head({label: 1}, n_labels), Body([Condition.label(label)]))]
        return LabelClassifier(LabelTask(label, (label,)), False, _Identity())

    def with_folds(self, n_folds: int, random_state: Any) -> "LabelLearner":
        """The learner with the fold of each row beside it."""
        folds = folds_by_block(self.rows, n_folds, random_state)
        return replace(self, beside=[Beside(one) for one in folds])

    def models_by_fold(
        self, tasks: list[LabelTask], workers: "Workers", phase: str
    ) -> list[dict[LabelTask, LabelModel]]:
        """The models of all tasks, learned without one fold after the other."""
        assert self.beside is not None, "folds are set first"
        n_folds = 1 + max(int(one.folds.max(initial=0)) for one in self.beside)
        found = []
        for fold in range(n_folds):
            kept = [one.without(fold) for one in self.beside]
            rows = self.rows.mapped(
                partial(_without_fold, fold),
                self.rows.schema,
                self.beside,
                n_rows=sum(len(one.folds) for one in kept),
            )
            part = replace(self, rows=rows, beside=kept)
            name = f"{phase}, fold {fold + 1} of {n_folds}"
            # without any other row nothing can be learned
            found.append(workers.learn(part, tasks, name) if part.cells.n_labelled else {})
        return found

    def out_of_fold(self, tasks: list[LabelTask], workers: "Workers", phase: str) -> LabelReader:
        """The labels of all tasks as predicted by models that were learned from other folds.

        They are predicted once for rows in memory, else whenever a block is read.
        """
        models = self.models_by_fold(tasks, workers, phase)
        joined = tuple(self.joined(one.values()) for one in models)
        return self._kept(OutOfFold(joined, self.labels))

    def chosen(self, kept: list[bool], after: LabelReader, before: LabelReader) -> LabelReader:
        """Later predictions of the labels that are kept, and earlier ones of all others."""
        return self._kept(partial(_chosen, kept, after, before))

    def _kept(self, reader: LabelReader) -> LabelReader:
        """Read the labels of rows in memory now, once for all."""
        if not self.rows.in_memory:
            return reader
        return KeptLabels(self.rows.total(reader, "predicting", self.beside))

    def joined(self, models: Iterable[Any]) -> "FoldModels":
        """Models of different labels as one: the rules of all as a list."""
        if not self.learns_rules:
            return list(models)
        return DecisionList(self.rows.schema, [rule for model in models for rule in model])

    def changes(self, before: LabelReader, after: LabelReader) -> Integers:
        """For each label what other predictions change; see `change_counts`."""
        count = partial(_changes, before, after)
        counts: Integers = self.rows.total(count, "comparing predictions", self.beside)
        return counts

    def _constant(self, task: LabelTask, value: int) -> LabelModel:
        if self.learns_rules:
            return [Rule(Head({task.label: value}, self.rows.schema.n_labels))]
        return LabelClassifier(task, self.with_features, value)

    def _rules(self, task: LabelTask) -> list[Rule]:
        schema = label_schema(self.rows.schema, task, self.with_features)
        change = partial(_label_rows, task, self.labels, self.with_features)
        is_always_known = bool(self.cells.known[task.label] == self.cells.n_labelled)
        table = self.rows.mapped(
            change, schema, self.beside, keeps_features=self.with_features and is_always_known
        )
        theory = clone(self.base).fit(table).theory_
        return rules_for(task, theory, self.rows.schema, schema.n_features)

    def _classifier(self, task: LabelTask) -> LabelClassifier:
        (data,) = self.rows
        labels = self.labels(data, None if self.beside is None else self.beside[0])
        known = data.Y[:, task.label] != UNSET
        if not known.all():
            data, labels = data.take(known), labels[known]
        X = numeric_features(data) if self.with_features else None
        columns = with_labels(X, _without_unknown(labels[:, list(task.tested)]))
        weights = _weights_of(data, task.label)
        given = {} if weights is None else {"sample_weight": weights}
        truth = data.Y[:, task.label].astype(np.int64)
        classifier = clone(self.base).fit(columns, truth, **given)
        return LabelClassifier(task, self.with_features, classifier)


FoldModels: TypeAlias = DecisionList | list[LabelClassifier]
"""The models of labels that were learned without the rows of a fold."""


def predicted_by(models: FoldModels, rows: Dataset, labels: Board) -> Board:
    """The labels that models predict by the features of rows and these labels."""
    if isinstance(models, DecisionList):
        return closed(table_of(models).apply(rows, reads=labels))
    board: Board = np.zeros(rows.Y.shape, dtype=np.int8)
    X = numeric_features(rows)
    for model in models:
        board[:, model.label] = replace(model, X=X).read(labels)[0]
    return board


def _without_fold(fold: int, block: Dataset, beside: Beside | None) -> Dataset:
    return block if beside is None else block.take(np.flatnonzero(beside.folds != fold))


def _label_rows(
    task: LabelTask,
    labels: LabelReader,
    with_features: bool,
    block: Dataset,
    beside: Beside | None,
) -> Dataset:
    return label_table(block, task, labels(block, beside), with_features)


def _changes(before: LabelReader, after: LabelReader, block: Dataset, beside: Beside) -> Integers:
    return change_counts(block.Y, before(block, beside), after(block, beside))


def _chosen(
    kept: list[bool],
    after: LabelReader,
    before: LabelReader,
    block: Dataset,
    beside: Beside | None,
) -> Board:
    return np.where(kept, after(block, beside), before(block, beside))


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
        _ = learner.cells  # counted before the learner is sent to other processes
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        try:
            for task, model in parallel(delayed(_learn)(learner, task) for task in tasks):
                models[task] = model
                self.n_done += 1
                name = learner.rows.schema.labels[task.label]
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
        return Run.by_none(board)

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
