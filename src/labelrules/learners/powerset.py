"""The label powerset: each set of labels that occurs is a class."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone

from labelrules._types import Board, Floats
from labelrules.data import Dataset, Schema
from labelrules.learners.base.per_label import ComposedClassifier
from labelrules.learners.base.targets import Target
from labelrules.learners.base.theory_classifier import RuleClassifier
from labelrules.learners.base.workers import checked_base, numbers_of
from labelrules.rules import DecisionList, Head, Rule, Theory


class LabelPowerset(ComposedClassifier):
    """Learn a classifier whose classes are the label sets that occur.

    It can predict no other label sets than these. With a base that learns rules of which each says
    one class, as `Ripper` does, `theory_` is a decision list whose heads say something of every
    label; its first rule that fires decides. Other bases are asked for the class.

    Parameters
    ----------
    base : classifier, optional
        A learner for several classes. By default `Ripper()`.

    Attributes
    ----------
    theory_ : DecisionList
        If each rule of the base says one class.
    sets_ : array of int8
        The label sets, one to a row, in rising order.
    base_ : classifier
        Which was fitted, if there is more than one label set.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.learners import SeparateAndConquer
    >>> base = SeparateAndConquer(polarity="presence", label_conditions=False)
    >>> model = LabelPowerset(base).fit(load("magazines"))
    >>> print(model.theory_)
    not quality, not tabloid, not fashion, not sports <- education = Primary
    quality, not tabloid, fashion, not sports <- education = University, sex = Female
    not quality, not tabloid, not fashion, not sports <- true
    """

    def __init__(self, base: Any = None) -> None:
        self.base = base

    def fit(self, X: Any, Y: Any = None) -> Self:
        """Learn from features and labels, as other learners do.

        Parameters
        ----------
        X : array, sparse matrix, frame, list of rows, or Dataset
        Y : array, sparse matrix, frame, series or list
            Rows by labels, 0 or 1, or label sets. Or, in one dimension, the class of each row.

        Returns
        -------
        self
        """
        base = checked_base(self.base)
        data, target = self._training_data(X, Y)
        self._forget()
        self.sets_, codes = np.unique(data.Y, axis=0, return_inverse=True)
        self._counts = np.bincount(codes.ravel(), minlength=len(self.sets_))
        theory: DecisionList | None = None
        if isinstance(base, RuleClassifier):
            theory = self._learn_rules(data, codes.ravel(), base)
        elif len(self.sets_) > 1:
            self.base_ = clone(base).fit(numbers_of(data), codes.ravel())
        self._remember(data.schema, target)
        if theory is not None:
            self._keep(theory, data)
        return self

    def _learn_rules(self, data: Dataset, codes: Any, base: RuleClassifier) -> DecisionList | None:
        n_sets = len(self.sets_)
        usual = self._head(int(self._counts.argmax()))
        if n_sets == 1:
            return DecisionList(data.schema, [Rule(usual)])
        ids = np.arange(n_sets)
        target = Target("two classes", ids) if n_sets == 2 else Target("classes", ids)
        board = codes[:, None] == (ids if n_sets > 2 else ids[1:])
        names = _set_names(data.schema, board.shape[1])
        schema = Schema(data.schema.features, names)
        table = Dataset(schema, data.X, board.astype(np.int8), data.name)
        self.base_ = clone(base)._fit_data(table, target)
        rules = self._translated(self.base_.theory_)
        if rules is None:
            return None
        return DecisionList(data.schema, rules if _is_closed(rules) else [*rules, Rule(usual)])

    def _translated(self, theory: Theory) -> list[Rule] | None:
        """Rules for classes as rules for label sets; None if some say more or less than a class."""
        rules = []
        for rule in theory:
            classes = [label for label, value in rule.head if value]
            if len(self.sets_) == 2:
                classes = [rule.head.values[0]]
            if len(classes) != 1 or rule.body.on_labels:
                return None
            rules.append(Rule(self._head(classes[0]), rule.body))
        return rules

    def _head(self, number: int) -> Head:
        return Head.from_vector(self.sets_[number])

    def _why_no_theory(self) -> str:
        if hasattr(self, "schema_") and isinstance(self.base, RuleClassifier):
            return (
                "this LabelPowerset has no theory_, because some rules of its base do not say one "
                "class: see base_.theory_, or use a base that predicts presence and tests no "
                "labels, such as SeparateAndConquer(polarity='presence', label_conditions=False)"
            )
        return super()._why_no_theory()

    def _labels(self, X: Any) -> Board:
        if self._has_theory:
            return super()._labels(X)
        return np.asarray(self.sets_[self._classes(X)], dtype=np.int8)

    def _presence(self, X: Any) -> Floats:
        if self._has_theory:
            return super()._presence(X)
        if len(self.sets_) > 1 and hasattr(self.base_, "predict_proba"):
            return np.asarray(self.base_.predict_proba(self._rows_for_base(X)) @ self.sets_)
        return self._labels(X).astype(np.float64)

    def _classes(self, X: Any) -> Any:
        if len(self.sets_) == 1:
            return np.zeros(len(self._rows(X)), dtype=np.int64)
        return np.asarray(self.base_.predict(self._rows_for_base(X)))

    def _rows_for_base(self, X: Any) -> Any:
        rows = self._rows(X)
        return rows if isinstance(self.base_, RuleClassifier) else numbers_of(rows)


def _is_closed(rules: list[Rule]) -> bool:
    """Whether some rule always holds."""
    return any(not len(rule.body) for rule in rules)


def _set_names(schema: Schema, n_sets: int) -> list[str]:
    """Names for classes that no feature has."""
    stem = "set_"
    while any(name.startswith(stem) for name in schema.feature_names):
        stem = f"{stem}_"
    return [f"{stem}{number}" for number in range(n_sets)]
