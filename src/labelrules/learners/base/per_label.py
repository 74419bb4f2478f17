"""What learners of one model for each label have in common."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import get_tags

from labelrules._types import Board, Floats
from labelrules.data import DataError, Dataset
from labelrules.data.document import Record, Share
from labelrules.data.memory.encoding import encode
from labelrules.learners.base.progress import check_progress, told
from labelrules.learners.base.theory_classifier import (
    Background,
    Smoothing,
    TheoryClassifier,
    TheoryState,
)
from labelrules.learners.base.workers import Crew, checked_base, checked_jobs
from labelrules.learners.covering.board import TrainingBoard
from labelrules.learners.covering.learner import SeparateAndConquer
from labelrules.learners.covering.next_rule import LastResort, is_mostly_present
from labelrules.learners.covering.settings import checked_settings
from labelrules.rules import DecisionList, LayeredTheory, Rule
from labelrules.search.bodies.sorted_columns import SortedColumns

# -------------------- What classifiers that are made of other classifiers have in common


class _NoTheory:
    """What `theory_` is as long as `fit` has made none."""

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        raise AttributeError(model._why_no_theory())


class ComposedClassifier(TheoryClassifier):
    """A multi-label classifier made of other classifiers.

    If these learn rules, it has a `theory_`.

    Parameters
    ----------
    base : classifier, optional
        What it is made of. By default `Ripper()`.
    """

    base: Any = None

    theory_ = _NoTheory()

    def _keep(self, theory: DecisionList | LayeredTheory, data: Dataset) -> None:
        """Take a theory for the result, with evidence from the training rows."""
        self.theory_ = theory.with_evidence(data, data.Y)
        self.background_ = Background.count(self._run(data).board, data.Y)

    @property
    def _smoothing(self) -> Smoothing:
        """As the base does it."""
        found: Smoothing = getattr(self.base, "smoothing", "laplace")
        return found

    def _forget(self) -> None:
        """Drop a theory that was learned before, maybe with another base."""
        self.__dict__.pop("theory_", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.base is not None:
            of_base = get_tags(self.base)
            tags.input_tags.allow_nan = of_base.input_tags.allow_nan
            tags.input_tags.sparse = of_base.input_tags.sparse
            tags.classifier_tags.poor_score = of_base.classifier_tags.poor_score
        return tags

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

    def _rows(self, X: Any) -> Dataset:
        """New rows, encoded; their labels do not matter."""
        matrix = encode(X, self.schema_)
        return Dataset(
            self.schema_, matrix, np.zeros((matrix.shape[0], self.n_labels_), dtype=np.int8)
        )


# -------------------- A label for rows in which a classifier finds none


def checked_last_resort(least: Any) -> float | None:
    """How probable a label must be, from 0 to 1; None if none shall be guessed."""
    if least is None:
        return None
    is_number = isinstance(least, Real) and not isinstance(least, bool)
    if not (is_number and 0 <= float(least) <= 1):
        raise ValueError(f"last_resort must be a number from 0 to 1, or None, not {least!r}")
    return float(least)


def fallback_rules(data: Dataset, predicted: Board, least: float) -> DecisionList | None:
    """Rules that guess a label for rows in which none was predicted; None if no guess is good.

    As the covering learner makes them, see `SeparateAndConquer`; not where some label is present
    in most rows.
    """
    if is_mostly_present(data.Y.T):
        return None
    ground = TrainingBoard(data, "append")
    ground.board[predicted.T == 1] = 1
    settings = checked_settings(SeparateAndConquer(), data.schema)
    resort = LastResort(
        data, ground, SortedColumns.of(data), settings, least, is_late=lambda: False
    )
    rules = [Rule(head, grown.body) for head, grown in resort.guesses()]
    return DecisionList(data.schema, rules) if rules else None


def likeliest(labels: Board, presence: Floats, least: float) -> Board:
    """The labels, with the likeliest one in rows that have none if it is probable enough."""
    bare = ~(labels == 1).any(axis=1)
    best = presence.argmax(axis=1)
    sure = bare & (presence.max(axis=1, initial=0.0) > least)
    found = labels.copy()
    found[sure, best[sure]] = 1
    return np.asarray(found)


# ---------------------------------------------------------------- the main part


class LabelwiseState(TheoryState):
    """Rules of several labels, and how probable a label of last resort must be."""

    least: Share | None


class LabelwiseClassifier(ComposedClassifier):
    """A multi-label classifier made of classifiers for single labels.

    A subclass says in ``_learn(data, base, crew)`` how. It gives `_keep` a theory if the base
    learns rules; otherwise, and for what is no single theory, it answers `_said` and `_probable`.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels: one of ours, or any classifier of scikit-learn's kind. The
        latter is given numbers: a nominal feature becomes a column of 0 and 1 for each category,
        or for the second if it has two. By default `Ripper()`.
    last_resort : float, optional
        Rows in which no label is found are given the likeliest one if it is more probable than
        this: by rules for such rows, or as the classifiers say. Not where some label is present in
        most rows, nor for a single label or for classes.
    n_jobs : int, optional
        Labels that are learned at the same time, by joblib and in any of its backends; -1 for all
        processors. The result does not depend on it.
    progress : bool or function, default=False
        Whether to show how far learning has come, or a function to call with each
        :class:`LabelProgress`.
    """

    last_resort: float | None = None
    n_jobs: int | None = None
    progress: Any = False

    _State: ClassVar[type[Record]] = LabelwiseState

    def _check_parameters(self) -> None:
        checked_base(self.base)
        checked_last_resort(self.last_resort)
        checked_jobs(self.n_jobs)
        check_progress(self.progress)

    def _state(self) -> dict[str, Any]:
        if not self._has_theory:
            raise DataError(f"{self._why_no_theory()}; a file holds rules only")
        return {**super()._state(), "least": self._least}

    def _restore_state(self, state: Any) -> None:
        super()._restore_state(state)
        self._least = state.least

    @abstractmethod
    def _learn(self, data: Dataset, base: Any, crew: Crew) -> None:
        """Learn what `predict` needs."""

    @abstractmethod
    def _said(self, X: Any) -> Board:
        """The labels, where there is no theory."""

    @abstractmethod
    def _probable(self, X: Any) -> Floats:
        """How probable each label is, where there is no theory."""

    def fit(self, X: Any, Y: Any = None) -> Self:
        """Learn the models of the labels.

        Parameters
        ----------
        X : array, sparse matrix, frame, list of rows, or Dataset
            Features as for :func:`labelrules.dataset`: columns of text, truth values or
            categories are nominal, NaN and None are missing values, sparse X stays so.
            A `Dataset` brings its labels.
        Y : array, sparse matrix, frame, series or list
            Rows by labels, 0 or 1, or label sets; a frame names them. Or, in one
            dimension, the class of each row.

        Returns
        -------
        self
        """
        base, least = checked_base(self.base), checked_last_resort(self.last_resort)
        data, target = self._training_data(X, Y)
        self._forget()
        with told(self.progress) as listener:
            crew = Crew(self.n_jobs, listener)
            self._learn(data, base, crew)
            is_single = target.kind != "labels" or data.schema.n_labels == 1
            self._least = None if is_single or is_mostly_present(data.Y.T) else least
            if self._has_theory and self._least is not None:
                crew.unless_interrupted(lambda: self._fall_back(data))
        self._remember(data.schema, target)
        crew.warn()
        return self

    def _fall_back(self, data: Dataset) -> None:
        """Add rules for rows in which the theory finds no label."""
        theory = self.theory_
        rules = fallback_rules(data, theory.predict(data), float(self._least or 0.0))
        if rules is None:
            return
        if not isinstance(theory, LayeredTheory):
            theory = LayeredTheory(data.schema, [theory])
        self._keep(theory.with_fallback(rules), data)

    def _labels(self, X: Any) -> Board:
        if self._has_theory:
            return super()._labels(X)
        labels = self._said(X)
        return labels if self._least is None else likeliest(labels, self._probable(X), self._least)

    def _presence(self, X: Any) -> Floats:
        return super()._presence(X) if self._has_theory else self._probable(X)


def majority(Y: Board) -> list[int]:
    """For each label whether it is present in more than half of the rows."""
    return [int(2 * ones > len(Y)) for ones in Y.sum(axis=0, dtype=np.int64)]


def by_label(rules: Iterable[Rule], order: Sequence[int]) -> list[Any]:
    """The rules for each label alone, as they were learned: evidence was counted later."""
    found: dict[int, list[Rule]] = {label: [] for label in order}
    for rule in rules:
        if len(rule.head) == 1:
            found[rule.head.labels[0]].append(rule.with_evidence(None))
    return list(found.values())


def flat(lists: Iterable[Any]) -> list[Rule]:
    """The rules of lists that follow one another."""
    return [rule for rules in lists for rule in rules]
