"""What learners of one model for each label have in common."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from labelrules._types import Board, Floats
from labelrules.data import DataError, Dataset
from labelrules.data.document import Record, Share
from labelrules.learners.composed import ComposedClassifier
from labelrules.learners.crew import Crew, checked_jobs
from labelrules.learners.explained import TheoryState
from labelrules.learners.fallback import checked_last_resort, fallback_rules, likeliest
from labelrules.learners.lastresort import is_mostly_present
from labelrules.learners.members import checked_base
from labelrules.learners.progress import check_progress, told
from labelrules.rules import LayeredTheory, Rule


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
