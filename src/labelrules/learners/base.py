"""Everything of a learner of decision lists but the learning."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

from labelrules._types import Board
from labelrules.data import Dataset
from labelrules.data.document import Record
from labelrules.learners.explained import TheoryClassifier, TheoryState
from labelrules.learners.parameters import truth
from labelrules.learners.prefix import as_prefix
from labelrules.learners.probability import Background, check_smoothing
from labelrules.learners.targets import Target
from labelrules.rules import DecisionList, RuleTable
from labelrules.rules.json import ListRecord


class ListState(TheoryState):
    """A decision list, and counts for cells that no rule writes."""

    theory: ListRecord


class RuleClassifier(TheoryClassifier):
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

    warm_start: bool = False

    _State: ClassVar[type[Record]] = ListState

    def _check_parameters(self) -> None:
        check_smoothing(self.smoothing)
        truth(self, "warm_start")

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
        return self._fit_data(data, target, theory)

    def _fit_data(
        self, data: Dataset, target: Target, theory: DecisionList | str | None = None
    ) -> Self:
        """Learn from a data set that is checked already."""
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

    def _kept(self, theory: DecisionList | str | None) -> DecisionList | str | None:
        """The rules to keep: those given, or with `warm_start` those learned before.

        A last rule that always holds would leave nothing to learn, so it is learned anew.
        """
        if theory is not None or not self.warm_start or not hasattr(self, "theory_"):
            return theory
        learned: DecisionList = self.theory_
        return learned[:-1] if learned.rules and not len(learned[-1].body) else learned
