"""Stacked binary relevance: a second layer of models reads the labels of the first."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from labelrules._checks import one_of, random_numbers, truth_value, whole_number
from labelrules._report import aligned
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.constraints.significance import adjusted, checked_alpha
from labelrules.data import Dataset
from labelrules.data.document import Record
from labelrules.data.numeric import numeric_features
from labelrules.learners.base.label_models import (
    Absence,
    ClassifierLayer,
    LabelLearner,
    LabelTask,
    Workers,
    joined_list,
)
from labelrules.learners.base.per_label import LabelwiseClassifier, LabelwiseState
from labelrules.learners.base.progress import Listener
from labelrules.learners.dependence import mcnemar
from labelrules.learners.registry import register
from labelrules.measures import ratio
from labelrules.rules import DecisionList, Gibbs, LabelByLabel, LayeredTheory, Once
from labelrules.rules.inference import Inference, Rounds, closed
from labelrules.rules.json import INFERENCES, LayersRecord
from labelrules.rules.rule_table import table_of


class StackedState(LabelwiseState):
    """Layers, and whether further ones read the label that they predict."""

    theory: LayersRecord
    own_label: bool


@register(order=4)
@dataclass(eq=False, repr=False)
class StackedBinaryRelevance(LabelwiseClassifier):
    """Learn two layers of models: from the features alone, then from features and other labels.

    In predicting, the second layer reads the labels that the first has predicted. With a base
    that learns rules, `theory_` is a layered theory. The options make it one of several methods of
    the literature; see the page on layers.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels; see :class:`LabelwiseClassifier`. By default `Ripper()`.
    labels_from : {"out-of-fold", "truth"}, default="out-of-fold"
        Whether the second layer learns from out-of-fold predictions of the first one, or from the
        true values of the other labels, as in the chapter. The latter takes less time, but in
        predicting the second layer reads predicted labels, which it has not learned from. So
        some of its rules may be wrong more often than right; they are kept, because they show
        how true labels depend on each other.
    with_features : bool, default=True
        Whether the second layer reads the features too, or labels only (pure stacking).
    own_label : bool, default=False
        Whether the second layer also reads the first layer's prediction of the label itself; only
        with out-of-fold predictions.
    n_layers : int, default=2
        How many layers are learned at most, each like the second. Learning ends when a layer
        predicts for the training rows what the one before it does. From true labels every further
        layer is learned like the second; it may lack rules that are wrong there.
    inference : {"once", "until stable", "label by label", "gibbs"} or Inference, default="once"
        How the last layer is applied; see :class:`labelrules.rules.LayeredTheory`. With Gibbs
        sampling the first layer predicts the majority only, to start from.
    n_folds : int, default=5
        For out-of-fold predictions.
    random_state : int, RandomState or None, default=None
        Chooses the folds, together with the values of the rows. None is the same as 0.
    alpha : float, optional, default=0.05
        A further layer predicts a label only if its rules test labels, its out-of-fold predictions
        are right for significantly more rows (McNemar's exact test at this level, corrected for
        the number of labels by Holm's method) and their F1 is not lower; any other label stays as
        the layer before predicts it. With None, and from true labels, it predicts every label.
    last_resort : float, optional, default=0.4
        The least probability of a guess for a row without labels; see :class:`LabelwiseClassifier`.
    max_literals : int, optional
        The most literals of the theory; see :class:`LabelwiseClassifier`.
    n_jobs : int, optional
        Labels that are learned at the same time; see :class:`LabelwiseClassifier`.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`LabelProgress`.

    Attributes
    ----------
    theory_ : LayeredTheory
        If the base learns rules.
    n_layers_ : int
        How many layers were learned; 1 if a further one is not better for any label.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.learners import SeparateAndConquer
    >>> model = StackedBinaryRelevance(SeparateAndConquer(), labels_from="truth")
    >>> print(model.fit(load("magazines")).theory_.layers[1])
    quality <- education = University
    quality <- sports
    tabloid <- marital = Single
    fashion <- sex = Female, education = University
    sports <- marital = Divorced, education = Secondary, children = No
    """

    base: Any = None
    _: KW_ONLY
    labels_from: str = "out-of-fold"
    with_features: bool = True
    own_label: bool = False
    n_layers: int = 2
    inference: str | Inference = "once"
    n_folds: int = 5
    random_state: Any = None
    alpha: float | None = 0.05
    last_resort: float | None = 0.4
    max_literals: int | None = None
    n_jobs: int | None = None
    progress: bool | Listener = False

    _State: ClassVar[type[Record]] = StackedState

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._checked_inference()
        random_numbers(self.random_state)

    def _checked_inference(self) -> Inference:
        """How the last layer is applied, if all parameters go together."""
        one_of(self.labels_from, "labels_from", ("out-of-fold", "truth"))
        whole_number(self.n_layers, "n_layers", low=2)
        whole_number(self.n_folds, "n_folds", low=2)
        truth_value(self.with_features, "with_features")
        if truth_value(self.own_label, "own_label") and self.labels_from == "truth":
            raise ValueError(
                "own_label needs labels_from='out-of-fold': the true label would predict itself"
            )
        if self.alpha is not None:
            checked_alpha(self.alpha)
        inference = as_inference(self.inference)
        if isinstance(inference, Gibbs) and self.labels_from != "truth":
            raise ValueError(
                "Gibbs sampling needs labels_from='truth': it samples each label from its "
                "probability when the others are known"
            )
        return inference

    @property
    def _rules_must_be_right(self) -> bool:  # type: ignore[override]
        # Rules learned from true labels say how labels depend on each other, as in the chapter;
        # on predicted labels some of them are wrong.
        return self.labels_from != "truth"

    def _restore_state(self, state: Any) -> None:
        super()._restore_state(state)
        theory: LayeredTheory = self.theory_
        if not all(isinstance(layer, DecisionList) for layer in theory.layers):
            raise ValueError("the layers of this learner must be decision lists")
        are_counted = all(rule.is_counted for rule in theory.layers[-1])
        if isinstance(theory.inference, Gibbs) and not are_counted:
            raise ValueError("rules that are sampled from need evidence")
        self.n_layers_ = len(theory.layers)

    def _check_for_partitions(self) -> None:
        super()._check_for_partitions()
        if isinstance(self._checked_inference(), Gibbs):
            raise ValueError(
                "Gibbs sampling needs all rows in memory: for rows in partitions use another "
                "inference, such as 'until stable'"
            )

    def _learn(self, learner: LabelLearner, workers: Workers) -> None:
        inference, rows = self._checked_inference(), learner.rows
        tasks = [LabelTask(label) for label in range(rows.schema.n_labels)]
        learned = {} if isinstance(inference, Gibbs) else workers.learn(learner, tasks, "layer 1")
        layers = [learner.completed(tasks, learned)]
        layers += self._further_layers(learner, workers)
        self.own_label_, self.n_layers_ = bool(self.own_label), len(layers)
        if learner.learns_rules:
            # Labels are read from the layer before, where open cells count as absent; to sample
            # them, each needs a rule.
            absence: Absence = "always" if isinstance(inference, Gibbs) else "never"
            lists = [joined_list(rows.schema, models, absence) for models in layers]
            self._keep(LayeredTheory(rows.schema, lists, inference), rows)
        else:
            self._models = layers, inference

    def _further_layers(self, first: LabelLearner, workers: Workers) -> list[list[Any]]:
        every = range(first.rows.schema.n_labels)
        tasks = [LabelTask(i, tuple(j for j in every if j != i or self.own_label)) for i in every]
        if self.labels_from == "truth":
            learner = replace(first, with_features=self.with_features)
            learned = workers.learn(learner, tasks, "layer 2")
            layer = [learned.get(task) or learner.identity(task.label) for task in tasks]
            return [layer] * (self.n_layers - 1)
        first = first.with_folds(self.n_folds, self.random_state)
        labels = first.out_of_fold([LabelTask(i) for i in every], workers, "layer 1")
        layers: list[list[Any]] = []
        for number in range(2, self.n_layers + 1):
            learner = replace(first, with_features=self.with_features, labels=labels)
            learned = workers.learn(learner, tasks, f"layer {number}")
            predicted = labels
            if self.alpha is not None or number < self.n_layers:
                phase = f"layer {number} on trial"
                predicted = learner.out_of_fold(tasks, workers, phase)
            changes = learner.changes(labels, predicted)
            kept = self._kept(changes, map(learned.get, tasks), workers)
            if not any(kept) or (number > 2 and not changes[-1, kept].any()):
                break
            layers.append([learned[tasks[i]] if kept[i] else learner.identity(i) for i in every])
            labels = learner.chosen(kept, predicted, labels)
        return layers

    def _kept(self, changes: Integers, models: Iterable[Any], workers: Workers) -> list[bool]:
        """Which labels a further layer predicts: those it predicts better, or all it has learned.

        Each label is a test, so p-values are corrected by Holm's method.
        """
        if self.alpha is None or workers.was_interrupted:
            return [self.alpha is None and model is not None for model in models]
        p = [
            improvement(changes[:, i]) if reads_labels(model) else 1.0
            for i, model in enumerate(models)
        ]
        return [bool(one) for one in adjusted(p, "holm") <= float(self.alpha)]

    def error_propagation(self, X: Any, Y: Any = None) -> "ErrorPropagation":
        """Compare the accuracy of the last layer on true labels with that on predicted ones."""
        target, table = self._check_fitted(), self._table(X)
        if self.own_label_:
            raise ValueError("with own_label the last layer would read the label it predicts")
        if self.n_layers_ == 1:
            raise ValueError(
                "there is one layer only, since a further one was not better for any label; "
                "alpha=None keeps it nevertheless"
            )
        truth = target.board(X if isinstance(X, Dataset) else Y, self.schema_)
        rows = self._rows(table)
        before = self._before_last(rows)
        boards = before, self._last(rows, before), self._last(rows, truth)
        return ErrorPropagation.count(self.schema_.labels, truth, *boards)

    def _before_last(self, rows: Dataset) -> Board:
        """The labels that the last layer reads; a first layer reads none."""
        if self.n_layers_ == 1:
            return np.zeros((rows.n_rows, self.n_labels_), dtype=np.int8)
        if self._has_theory:
            return LayeredTheory(rows.schema, self.theory_.layers[:-1]).predict(rows)
        labels, X = None, numeric_features(rows)
        for models in self._models[0][:-1]:
            labels = ClassifierLayer(models, X).read(labels).board
        return np.asarray(labels)

    def _last(self, rows: Dataset, labels: Board) -> Board:
        """Apply the last layer once, given these labels."""
        if self._has_theory:
            return closed(table_of(self.theory_.layers[-1]).apply(rows, reads=labels))
        return ClassifierLayer(self._models[0][-1], numeric_features(rows)).read(labels).board

    def _model_labels(self, X: Any) -> Board:
        return self._infer(X)[1].run.board

    def _model_presence(self, X: Any) -> Floats:
        last, rounds, labels = self._infer(X)
        if rounds.presence is not None:
            return rounds.presence
        _, inference = self._models
        if isinstance(inference, Once):
            return last.presence(labels)
        # Rows that have not settled keep the result of the first round, which read `labels`.
        settled = (rounds.n_rounds > 0)[:, None] | isinstance(inference, LabelByLabel)
        return last.presence(np.where(settled, rounds.run.board, labels))

    def _infer(self, X: Any) -> tuple[ClassifierLayer, Rounds, Board]:
        """The last layer of classifiers, its result, and the labels it has read."""
        rows, (layers, inference) = self._rows(X), self._models
        last, labels = ClassifierLayer(layers[-1], numeric_features(rows)), self._before_last(rows)
        return last, last.infer(inference, labels), labels


def as_inference(inference: Any) -> Inference:
    """How the last layer is applied, given as a value or by its name."""
    if isinstance(inference, Inference):
        return inference
    made: Inference = INFERENCES[
        one_of(inference, "inference", INFERENCES, also="a value such as UntilStable(20)")
    ]()
    return made


def improvement(changes: Integers) -> float:
    """The p-value of more cells of a label being right than before; 1 if its F1 is lower.

    Fewer wrong cells alone could mean that a rare label is never predicted any more. `changes` are
    those of one label, see `labelrules.learners.base.label_models.change_counts`.
    """
    gained, lost, n_true, n_before, right_before, n_after, right_after, _ = changes.tolist()
    f1_before = ratio(2 * right_before, n_true + n_before)
    if gained <= lost or ratio(2 * right_after, n_true + n_after) < f1_before:
        return 1.0
    return mcnemar(gained, lost)


def reads_labels(model: Any) -> bool:
    """Whether rules test labels; other classifiers may, and what was not learned does not."""
    if model is None:
        return False
    return not isinstance(model, list) or any(rule.body.on_labels for rule in model)


@dataclass(frozen=True, eq=False)
class ErrorPropagation:
    """The accuracy of a layer that reads true labels, and of one that reads predicted ones.

    If rules for a label test another one, an error in the other is likely to become an error in
    it. The difference is the price of reading predicted labels. Arrays have one value per label.

    Attributes
    ----------
    labels : tuple of str
    before : array of float
        The accuracy of the layer before.
    on_predictions, on_truth : array of float
        That of the layer if it reads the predictions of the layer before, or the true labels.
    """

    labels: tuple[str, ...]
    before: Floats
    on_predictions: Floats
    on_truth: Floats

    @classmethod
    def count(cls, labels: tuple[str, ...], truth: Board, *boards: Board) -> "ErrorPropagation":
        """Compare three boards with the true labels."""
        n_known = np.maximum((truth != UNSET).sum(axis=0), 1)
        return cls(labels, *((board == truth).sum(axis=0) / n_known for board in boards))

    @property
    def loss(self) -> Floats:
        """For each label the accuracy lost by reading predicted labels."""
        return self.on_truth - self.on_predictions

    def __str__(self) -> str:
        columns = np.stack([self.before, self.on_predictions, self.on_truth])
        table = np.column_stack([columns, columns.mean(axis=1)]).T
        rows = [[" " * 8, "layer before", "on predictions", "on true labels"]]
        for name, values in zip((*self.labels, "all"), table.tolist(), strict=True):
            rows.append([name, *(f"{value:.3f}" for value in values)])
        return "\n".join(aligned(rows))

    def __repr__(self) -> str:
        means = f"{self.on_predictions.mean():.3f} on predictions, {self.on_truth.mean():.3f}"
        return f"<ErrorPropagation of {len(self.labels)} labels: accuracy {means} on true labels>"
