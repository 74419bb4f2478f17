"""What learners of one model for each label have in common."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from labelrules._types import Board
from labelrules.data import Dataset
from labelrules.learners.composed import ComposedClassifier
from labelrules.learners.crew import Crew
from labelrules.learners.members import checked_base
from labelrules.learners.progress import told
from labelrules.rules import Rule


class LabelwiseClassifier(ComposedClassifier):
    """A multi-label classifier made of classifiers for single labels.

    A subclass says in ``_learn(data, base, crew)`` how; it leaves a `theory_` if the base learns
    rules, and otherwise answers `_labels` and `_presence` itself.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels: one of ours, or any classifier of scikit-learn's kind. The
        latter is given numbers: a nominal feature becomes a column of 0 and 1 for each category,
        or for the second if it has two. By default `Ripper()`.
    n_jobs : int, optional
        Labels that are learned at the same time, by joblib and in any of its backends; -1 for all
        processors. The result does not depend on it.
    progress : bool or function, default=False
        Whether to show how far learning has come, or a function to call with each
        :class:`LabelProgress`.
    """

    n_jobs: int | None = None
    progress: Any = False

    @abstractmethod
    def _learn(self, data: Dataset, base: Any, crew: Crew) -> None:
        """Learn what `predict` needs."""

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
        base = checked_base(self.base)
        data, target = self._training_data(X, Y)
        self._forget()
        with told(self.progress) as listener:
            crew = Crew(self.n_jobs, listener)
            self._learn(data, base, crew)
        self._remember(data.schema, target)
        crew.warn()
        return self


def majority(Y: Board) -> list[int]:
    """For each label whether it is present in more than half of the rows."""
    return [int(2 * ones > len(Y)) for ones in Y.sum(axis=0, dtype=np.int64)]


def flat(lists: Iterable[Any]) -> list[Rule]:
    """The rules of lists that follow one another."""
    return [rule for rules in lists for rule in rules]
