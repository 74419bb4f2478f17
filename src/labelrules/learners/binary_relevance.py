"""Binary relevance: a model for each label, learned from the features alone."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from labelrules._types import Board, Floats
from labelrules.data.numeric import numeric_features
from labelrules.learners.base.label_models import (
    ClassifierLayer,
    LabelLearner,
    LabelTask,
    Workers,
    joined_list,
)
from labelrules.learners.base.per_label import LabelwiseClassifier
from labelrules.learners.base.progress import Listener
from labelrules.learners.registry import register


@register(order=3)
@dataclass(eq=False, repr=False)
class BinaryRelevance(LabelwiseClassifier):
    """Learn a model for each label, from the features alone.

    With a base that learns rules, `theory_` is one decision list: the lists of the labels, one
    after the other. They do not test labels, so their order does not matter.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels; see :class:`LabelwiseClassifier`. By default `Ripper()`.
    last_resort : float, optional
        The least probability of a guess for a row without labels; see :class:`LabelwiseClassifier`.
    max_literals : int, optional
        The most literals of the theory; see :class:`LabelwiseClassifier`.
    n_jobs : int, optional
        Labels that are learned at the same time; see :class:`LabelwiseClassifier`.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`LabelProgress`.

    Attributes
    ----------
    theory_ : DecisionList
        If the base learns rules; with rules for rows without labels, a LayeredTheory.
    models_ : list
        For each label its rules, or the fitted classifier.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.learners import SeparateAndConquer
    >>> print(BinaryRelevance(SeparateAndConquer()).fit(load("magazines")).theory_)
    quality <- education = University
    quality <- marital = Divorced, children = No
    tabloid <- marital = Single
    fashion <- sex = Female, education = University
    sports <- marital = Divorced, education = Secondary, children = No
    """

    base: Any = None
    _: KW_ONLY
    last_resort: float | None = None
    max_literals: int | None = None
    n_jobs: int | None = None
    progress: bool | Listener = False

    @property
    def models_(self) -> list[Any]:
        """For each label its rules, or the fitted classifier."""
        if not self._has_theory:
            return list(self._models)
        rules = getattr(self.theory_, "layers", [self.theory_])[0]
        labels = range(self.theory_.schema.n_labels)
        return [[rule for rule in rules if rule.head.labels == (label,)] for label in labels]

    def _learn(self, learner: LabelLearner, workers: Workers) -> None:
        rows = learner.rows
        tasks = [LabelTask(label) for label in range(rows.schema.n_labels)]
        models = learner.completed(tasks, workers.learn(learner, tasks, "each label on its own"))
        if learner.learns_rules:
            self._keep(joined_list(rows.schema, models), rows)
        else:
            self._models = models

    def _model_labels(self, X: Any) -> Board:
        return self._layer(X).read(None).board

    def _model_presence(self, X: Any) -> Floats:
        return self._layer(X).presence(None)

    def _layer(self, X: Any) -> ClassifierLayer:
        return ClassifierLayer(self._models, numeric_features(self._rows(X)))
