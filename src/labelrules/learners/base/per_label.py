"""Base classes of learners made of other classifiers, one for each label or one for all."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

from sklearn.utils import get_tags

from labelrules._checks import is_whole, job_count, number
from labelrules._types import Board, Floats
from labelrules.data import DataError, Dataset
from labelrules.data.document import Record, Share
from labelrules.data.memory.encoding import new_rows
from labelrules.data.rows import Rows
from labelrules.data.weights import NOTHING_KNOWN
from labelrules.learners.base.estimator import WeightKind
from labelrules.learners.base.label_models import (
    LabelLearner,
    Workers,
    check_base_of_parts,
    checked_base,
    weighs,
)
from labelrules.learners.base.progress import check_progress, phase, progress_listener, recorded
from labelrules.learners.base.size import checked_size, within_literals, without_wrong_rules
from labelrules.learners.base.tallies import label_cells
from labelrules.learners.base.theory_classifier import (
    Background,
    RuleClassifier,
    Smoothing,
    TheoryClassifier,
    TheoryState,
    reasons_without_rules,
)
from labelrules.learners.covering.learner import rules_of_last_resort
from labelrules.rules import DecisionList, LayeredTheory


class _NoTheory:
    """The attribute `theory_` as long as `fit` has made none."""

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        raise AttributeError(model._why_no_theory())


class ComposedClassifier(TheoryClassifier):
    """A classifier made of others (`base`); it has a `theory_` if they learn rules."""

    base: Any = None
    max_literals: int | None = None

    theory_ = _NoTheory()
    _rules_must_be_right = True
    """Whether rules that are wrong where they decide are left out."""

    def _keep(self, theory: DecisionList | LayeredTheory, data: Rows) -> None:
        """Set the theory, with evidence from the training rows, by which rules must be right."""
        phase("counting right and wrong cells")
        counted = theory.with_evidence(data)
        right = without_wrong_rules(counted, data) if self._rules_must_be_right else counted
        self.theory_ = within_literals(right, data, self.max_literals)
        self.background_ = Background.left_by(self.theory_, data)

    def _forget(self) -> None:
        """Drop what was learned before, maybe with another base."""
        for name in ("theory_", "background_", "_models"):
            self.__dict__.pop(name, None)

    @property
    def _has_theory(self) -> bool:
        return "theory_" in self.__dict__

    def _why_no_theory(self) -> str:
        name = type(self).__name__
        if not hasattr(self, "schema_"):
            return f"this {name} has no theory_ yet: call fit first"
        return (
            f"this {name} has no theory_, because its base {type(self.base).__name__} does not "
            "learn rules; use SeparateAndConquer, Ripper or another RuleClassifier"
        )

    @property
    def _smoothing(self) -> Smoothing:
        smoothing: Smoothing = getattr(self.base, "smoothing", "laplace")
        return smoothing

    def _rows(self, X: Any) -> Dataset:
        """New rows, encoded; their labels do not matter."""
        return new_rows(X, self.schema_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.base is not None:
            of_base = get_tags(self.base)
            tags.input_tags.allow_nan = of_base.input_tags.allow_nan
            tags.input_tags.sparse = of_base.input_tags.sparse
            tags.classifier_tags.poor_score = of_base.classifier_tags.poor_score
        return tags


class LabelwiseState(TheoryState):
    """Rules of several labels, and the probability above which a label of last resort is given."""

    last_resort: Share | None


class LabelwiseClassifier(ComposedClassifier):
    """A multi-label classifier made of classifiers for single labels.

    A subclass learns them in ``_learn(learner, workers)``. It gives `_keep` a theory if the
    base learns rules; any other models are in `_models`, which it applies in `_model_labels` and
    `_model_presence`.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels: one of ours, or any classifier of scikit-learn's kind. The
        latter is given numbers: a nominal feature becomes a column of 0 and 1 for each category,
        or for the second if it has two. By default `Ripper()`.
    last_resort : float, optional
        Rows for which no label is predicted get the likeliest one if it is more probable than
        this: by rules for such rows, or by the probabilities of the classifiers. Not where some
        label is present in most rows, nor for a single label or for classes.
    max_literals : int, optional
        The most literals of the theory, rules for rows without labels included: conditions and
        labels in heads. The least useful rules are left out. Only for a base that learns rules.
    n_jobs : int, optional
        Labels that are learned at the same time, by joblib and in any of its backends; -1 for all
        processors. The result does not depend on it.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`LabelProgress`.
    """

    last_resort: float | None = None
    max_literals: int | None = None
    n_jobs: int | None = None
    progress: Any = False
    _models: Any

    _State: ClassVar[type[Record]] = LabelwiseState
    _takes_partitions = True

    def _check_parameters(self) -> None:
        checked_base(self.base)
        _last_resort(self.last_resort)
        checked_size(self.max_literals)
        job_count(self.n_jobs)
        check_progress(self.progress)

    def _state(self) -> dict[str, Any]:
        if not self._has_theory:
            raise DataError(f"{self._why_no_theory()}; a file holds rules only")
        return super()._state()

    @abstractmethod
    def _learn(self, learner: LabelLearner, workers: Workers) -> None:
        """Learn what `predict` needs from the rows of a learner of single labels."""

    @abstractmethod
    def _model_labels(self, X: Any) -> Board:
        """Predict the labels where there is no theory."""

    @abstractmethod
    def _model_presence(self, X: Any) -> Floats:
        """Estimate the probabilities of labels where there is no theory."""

    @recorded
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, feature_names: Any = None
    ) -> Self:
        """Learn from features and labels, or classes, as for :class:`SeparateAndConquer`.

        Rows in partitions, from :func:`labelrules.scan`, and collections of Dask need a base that
        learns from them: ``SeparateAndConquer(bins=255)`` or ``Ripper(bins=255)``.
        """
        base, last_resort = checked_base(self.base), _last_resort(self.last_resort)
        checked_size(self.max_literals)
        data, target = self._training_data(X, y, sample_weight, feature_names)
        if not label_cells(data).n_labelled:
            raise ValueError(NOTHING_KNOWN)
        self._forget()
        with progress_listener(self.progress) as listener:
            # Rows in partitions have workers or threads of their own.
            workers = Workers(self.n_jobs if data.in_memory else None, listener)
            phase("learning the first label")
            self._learn(LabelLearner(base, data), workers)
            is_single = target.kind != "labels" or data.schema.n_labels == 1
            is_often_present = label_cells(data).are_common.any()
            self.last_resort_ = None if is_single or is_often_present else last_resort
            if self._has_theory and self.last_resort_ is not None:
                phase("searching for rules for rows without a label")
                workers.unless_interrupted(lambda: self._fall_back(data))
        self._remember(data.schema, target)
        stopped = "learning was interrupted" if workers.was_interrupted else None
        self.why_without_rules_ = reasons_without_rules(self, label_cells(data), stopped=stopped)
        workers.warn()
        return self

    def _check_for_partitions(self) -> None:
        check_base_of_parts(checked_base(self.base))

    def _weighs(self, data: Dataset, weights: WeightKind) -> bool:
        # Folds and samples are of rows, so whole weights are rows that are repeated.
        return weights != "whole" and weighs(checked_base(self.base), data)

    def _fall_back(self, rows: Rows) -> None:
        """Add rules for rows in which the theory predicts no label."""
        theory, least = self.theory_, float(self.last_resort_ or 0.0)
        rules = rules_of_last_resort(rows, theory, least, self._n_bins)
        if rules is None:
            return
        if not isinstance(theory, LayeredTheory):
            theory = LayeredTheory(rows.schema, [theory])
        self._keep(theory.with_fallback(rules), rows)

    @property
    def _n_bins(self) -> int | None:
        """The bins of a base that searches by them; rules for rows without a label do, too."""
        bins = getattr(self.base, "bins", None)
        return bins if isinstance(self.base, RuleClassifier) and is_whole(bins) else None

    def _labels(self, X: Any) -> Board:
        if self._has_theory:
            return super()._labels(X)
        labels = self._model_labels(X)
        if self.last_resort_ is None:
            return labels
        return with_likeliest(labels, self._model_presence(X), self.last_resort_)

    def _presence(self, X: Any) -> Floats:
        return super()._presence(X) if self._has_theory else self._model_presence(X)


def _last_resort(least: Any) -> float | None:
    return None if least is None else number(least, "last_resort", low=0, high=1, also="None")


def with_likeliest(labels: Board, presence: Floats, least: float) -> Board:
    """The labels, with the likeliest one in rows that have none if it is probable enough."""
    guessed = ~(labels == 1).any(axis=1) & (presence.max(axis=1, initial=0.0) > least)
    completed = labels.copy()
    completed[guessed, presence[guessed].argmax(axis=1)] = 1
    return completed
