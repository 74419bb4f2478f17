"""Everything of a learner of decision lists but the learning."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats
from labelrules.data import Dataset
from labelrules.learners.prefix import as_prefix
from labelrules.learners.probability import Background, Smoothing, check_smoothing, presence
from labelrules.learners.table import TableClassifier
from labelrules.rules import DecisionList, RuleTable
from labelrules.rules.theory import Run


class RuleClassifier(TableClassifier):
    """A scikit-learn classifier whose model is a decision list.

    A label is predicted to be what the list says, absent where it says nothing. A cell has the
    probability that the evidence of the rule which wrote it gives; a cell nobody wrote, that of the
    training cells nobody wrote. Evidence from the rows that the rules were learned from is too
    good to be true: see `calibrate`.

    A subclass says how the list is learned, in ``_learn(data, prefix)``, and has these
    parameters among those of its ``__init__``, if they are to be chosen:

    Parameters
    ----------
    smoothing : "laplace" or float, default="laplace"
        How evidence becomes a probability: Laplace's estimate, or the m-estimate with
        this m, above 0, and the label's share in the training rows as prior.
    warm_start : bool, default=False
        Whether another `fit` keeps the rules of the last one, but for a default rule at the
        end, and learns what follows.

    Attributes
    ----------
    theory_ : DecisionList
        The rules, with evidence from the training rows, or those given to `calibrate`.
    schema_ : Schema
        Names, kinds and categories of the features, and names of the labels.
    classes_ : array, or list of arrays
        The classes of a target of one dimension; for rows by labels, absent and
        present for each label.
    n_labels_ : int
    background_ : Background
        Counts for cells that no rule writes.
    n_features_in_ : int
    feature_names_in_ : array of str
        If `fit` was given names.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> class Constant(RuleClassifier):
    ...     def _learn(self, data, prefix):
    ...         return parse("not fashion <- sex = Male", data.schema)
    >>> readers = load("magazines")
    >>> model = Constant().fit(readers)
    >>> model.theory_[0].evidence
    (Evidence(right=9, wrong=0),)
    >>> model.predict_proba(readers)[0].round(2)
    array([0.5 , 0.44, 0.09, 0.19])
    """

    smoothing: Smoothing = "laplace"
    warm_start: bool = False

    @abstractmethod
    def _learn(self, data: Dataset, prefix: DecisionList | None) -> DecisionList:
        """Learn a list that begins with the rules of the prefix.

        Rules without evidence get it from the training rows afterwards, all of them if
        one has none.
        """

    def fit(self, X: Any, Y: Any = None, *, theory: DecisionList | str | None = None) -> Self:
        """Learn a decision list.

        Parameters
        ----------
        X : array, sparse matrix, frame, list of rows, or Dataset
            Features as for :func:`labelrules.dataset`: columns of text, truth values or
            categories are nominal, NaN and None are missing values, sparse X stays so.
            A `Dataset` brings its labels and may have no features at all.
        Y : array, sparse matrix, frame, series or list
            Rows by labels, 0 or 1, or label sets; a frame names them. Or, in one
            dimension, the class of each row: two classes are one label, any other
            number of classes a label each.
        theory : DecisionList or str, optional
            Rules to keep; only what follows them is learned. Text is read by the names
            of features and labels.

        Returns
        -------
        self
        """
        check_smoothing(self.smoothing)
        data, target = self._training_data(X, Y)
        prefix = as_prefix(self._kept(theory), data.schema)
        learned = self._learn(data, prefix)
        if any(rule.evidence is None for rule in learned):
            learned = learned.with_evidence(data, data.Y)
        self.theory_ = learned
        self._remember(data.schema, target)
        self.background_ = Background.count(self._written(learned, data), data.Y)
        return self

    def _written(self, learned: DecisionList, data: Dataset) -> Board:
        """The board that the list writes; a learner that has it at hand need not write it anew."""
        return RuleTable(learned).apply(data)

    def calibrate(self, X: Any, Y: Any = None) -> Self:
        """Count the evidence on rows that were not learned from; the rules stay as they are.

        The rules were made to fit the training rows, so evidence from there flatters them,
        and so do probabilities. A tenth of the rows, kept from `fit`, makes them honest.

        Parameters
        ----------
        X, Y
            As for `fit`, with the same features and the same labels or classes.

        Returns
        -------
        self
        """
        target, table = self._check_fitted(), self._table(X)
        truth = target.board(X if isinstance(X, Dataset) else Y, self.schema_)
        self.theory_ = self.theory_.with_evidence(table, truth)
        self.background_ = Background.count(RuleTable(self.theory_).apply(table), truth)
        return self

    def writers(self, X: Any) -> Run:
        """Which rule wrote each cell and ended each row, and the board they wrote.

        Rules are counted from 0, in the order of `theory_`; -1 stands for none.
        """
        self._check_fitted()
        return RuleTable(self.theory_).run(self._table(X))

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Rows by rules, 1 where the rule wrote a cell of the row or ended it."""
        run = self.writers(X)
        rows, labels = np.nonzero(run.writer >= 0)
        ended = np.flatnonzero(run.stopped >= 0)
        rules = np.concatenate([run.writer[rows, labels], run.stopped[ended]])
        ones = np.ones(len(rules), dtype=np.int64)
        shape = (len(run.board), len(self.theory_))
        path = sparse.csr_array((ones, (np.concatenate([rows, ended]), rules)), shape=shape)
        path.sum_duplicates()
        path.data[:] = 1
        return path

    def _kept(self, theory: DecisionList | str | None) -> DecisionList | str | None:
        """The rules to keep: those given, or with `warm_start` those learned before.

        A last rule that always holds would leave nothing to learn, so it is learned anew.
        """
        if theory is not None or not self.warm_start or not hasattr(self, "theory_"):
            return theory
        learned: DecisionList = self.theory_
        return learned[:-1] if learned.rules and not len(learned[-1].body) else learned

    def _labels(self, X: Any) -> Board:
        return RuleTable(self.theory_).predict(X)

    def _presence(self, X: Any) -> Floats:
        run = RuleTable(self.theory_).run(X)
        return presence(self.theory_, run, self.background_, self.smoothing)
