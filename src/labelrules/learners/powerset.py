"""Label powerset: each label set that occurs in the training rows is a class."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from msgspec import Meta
from sklearn.base import clone

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data import Dataset, Schema
from labelrules.data.document import DocumentError, Record
from labelrules.data.numeric import numeric_features
from labelrules.data.table import common_labels
from labelrules.learners.base.estimator import TableClassifier, Target, WeightKind
from labelrules.learners.base.label_models import checked_base, weighs
from labelrules.learners.base.per_label import ComposedClassifier
from labelrules.learners.base.progress import recorded
from labelrules.learners.base.tallies import label_cells
from labelrules.learners.base.theory_classifier import (
    BackgroundRecord,
    RuleClassifier,
    reasons_without_rules,
)
from labelrules.learners.registry import register
from labelrules.rules import DecisionList, Head, Rule, Theory
from labelrules.rules.json import ListRecord, label_numbers

MOST_CELLS = 2**28
"""The most label sets times labels that are read from a file, so that it fits into memory."""


class PowersetState(Record):
    """The label sets, the classifier that predicts their numbers, and its rules for labels."""

    theory: ListRecord | None
    background: BackgroundRecord | None
    sets: Annotated[list[list[str]], Meta(min_length=1)]
    base: TableClassifier | None


@register(order=6)
@dataclass(eq=False, repr=False)
class LabelPowerset(ComposedClassifier):
    """Learn a classifier whose classes are the label sets that occur; it predicts no other ones.

    With a base that learns rules for single classes, as `Ripper` does, `theory_` is a decision list
    whose heads have all labels; the first rule that covers a row decides. Other bases predict the
    class.

    Parameters
    ----------
    base : classifier, optional
        A learner for several classes. By default `Ripper()`.

    Attributes
    ----------
    theory_ : DecisionList
        If each rule of the base predicts one class.
    sets_ : array of int8
        The label sets, one to a row, in rising order.
    base_ : classifier
        The fitted base, if there is more than one label set.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.learners import SeparateAndConquer
    >>> base = SeparateAndConquer(polarity="presence", label_conditions=False)
    >>> print(LabelPowerset(base).fit(load("magazines")).theory_)
    no label <- education = Primary
    quality, fashion, not others <- education = University, sex = Female
    quality, sports, not others <- marital = Divorced, education = Secondary, children = No
    quality, tabloid, not others <- education = University
    otherwise: no label
    """

    base: Any = None

    _State: ClassVar[type[Record]] = PowersetState

    def _check_parameters(self) -> None:
        checked_base(self.base)

    def _state(self) -> dict[str, Any]:
        labels, nothing = self.schema_.labels, {"theory": None, "background": None}
        return {
            **(super()._state() if self._has_theory else nothing),
            "sets": [[labels[j] for j in np.flatnonzero(row)] for row in self.sets_],
            "base": getattr(self, "base_", None),
        }

    def _restore_state(self, state: Any) -> None:
        if (state.theory is None) != (state.background is None):
            raise ValueError("a theory and background counts go together")
        if state.theory is not None:
            super()._restore_state(state)
        self.__dict__.pop("base_", None)
        self.sets_ = _read_sets(state.sets, self.schema_)
        n_sets = len(self.sets_)
        if (state.base is None) != (n_sets == 1):
            raise DocumentError(".base", "several label sets, and only these, need a classifier")
        if state.base is not None:
            self.base_ = state.base
            _check_read(state.base, n_sets, self.schema_)

    @recorded
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, feature_names: Any = None
    ) -> Self:
        """Learn from features and labels, or classes, as for :class:`SeparateAndConquer`."""
        base = checked_base(self.base)
        data, target = self._training_data(X, y, sample_weight, feature_names)
        self._forget()
        self.sets_, codes = np.unique(
            completed_labels(data.Y, data.weights), axis=0, return_inverse=True
        )
        theory: DecisionList | None = None
        if isinstance(base, RuleClassifier):
            theory = self._learn_rules(data, codes.ravel(), base)
        elif len(self.sets_) > 1:
            given = {} if data.weights is None else {"sample_weight": data.weights}
            self.base_ = clone(base).fit(numeric_features(data), codes.ravel(), **given)
        self._remember(data.schema, target)
        if theory is not None:
            self._keep(theory, data)
            self.why_without_rules_ = reasons_without_rules(self, label_cells(data))
        return self

    def _weighs(self, data: Dataset, weights: WeightKind) -> bool:
        # A class is a whole label set, so its rows have one weight each.
        return weights == "rows" and weighs(checked_base(self.base), data)

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("base_", None)

    def _learn_rules(
        self, data: Dataset, codes: Integers, base: RuleClassifier
    ) -> DecisionList | None:
        n_sets = len(self.sets_)
        majority = self._head(int(np.bincount(codes, data.weights).argmax()))
        if n_sets == 1:
            return DecisionList(data.schema, [Rule(majority)])
        ids = np.arange(n_sets)
        target = Target("two classes", ids) if n_sets == 2 else Target("classes", ids)
        board = codes[:, None] == (ids if n_sets > 2 else ids[1:])
        names = _set_names(data.schema, board.shape[1])
        schema = Schema(data.schema.features, names)
        table = Dataset(schema, data.X, board.astype(np.int8), data.name, data.weights)
        self.base_ = clone(base)._fit_data(table, target)
        rules = self._translated(self.base_.theory_)
        if rules is None:
            return None
        is_closed = any(not len(rule.body) for rule in rules)
        return DecisionList(data.schema, rules if is_closed else [*rules, Rule(majority)])

    def _translated(self, theory: Theory) -> list[Rule] | None:
        """Rules for classes as rules for label sets; None if a head is not one class."""
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
                "this LabelPowerset has no theory_, because some rules of its base do not predict "
                "one class: see base_.theory_, or use a base that predicts presence and tests no "
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
            chances = self.base_.predict_proba(self._rows_for_base(X))
            # not by `@`, whose last bit depends on how many rows there are
            return np.asarray(np.einsum("rs,sl->rl", chances, self.sets_))
        return self._labels(X).astype(np.float64)

    def _classes(self, X: Any) -> Any:
        if len(self.sets_) == 1:
            return np.zeros(len(self._rows(X)), dtype=np.int64)
        return np.asarray(self.base_.predict(self._rows_for_base(X)))

    def _rows_for_base(self, X: Any) -> Any:
        rows = self._rows(X)
        return rows if isinstance(self.base_, RuleClassifier) else numeric_features(rows)


def completed_labels(Y: Board, weights: Floats | None = None) -> Board:
    """Labels with unknown cells filled in: a class is a whole label set.

    A row gets the most frequent label set of complete rows that agrees with what is known of it,
    the first of equally frequent ones. If there is none, each unknown label gets its more frequent
    value. Weights are those of rows.

    Examples
    --------
    >>> completed_labels(np.array([[1, 0], [1, 0], [0, 0], [1, -1], [-1, 1]], np.int8)).tolist()
    [[1, 0], [1, 0], [0, 0], [1, 0], [1, 1]]
    """
    unknown = Y == UNSET
    if not unknown.any():
        return Y
    complete = ~unknown.any(axis=1)
    sets, kinds = np.unique(Y[complete], axis=0, return_inverse=True)
    counts = np.bincount(kinds.ravel(), None if weights is None else weights[complete])
    sets = sets[np.argsort(-counts, kind="stable")]
    common = common_labels(Y, weights).astype(np.int8)
    filled = np.where(unknown, common, Y)
    for row in np.flatnonzero(unknown.any(axis=1)):
        agree = ((sets == Y[row]) | unknown[row]).all(axis=1)
        if agree.any():
            filled[row] = sets[np.argmax(agree)]
    return filled


def _set_names(schema: Schema, n_sets: int) -> list[str]:
    """Names for classes that no feature has."""
    stem = "set_"
    while any(name.startswith(stem) for name in schema.feature_names):
        stem = f"{stem}_"
    return [f"{stem}{number}" for number in range(n_sets)]


def _read_sets(sets: list[list[str]], schema: Schema) -> Board:
    """Label sets from a file, rising and each once, as `fit` has them."""
    if len(sets) * schema.n_labels > MOST_CELLS:
        raise DocumentError(".sets", f"must have at most {MOST_CELLS:,} cells")
    label_sets: Board = np.zeros((len(sets), schema.n_labels), dtype=np.int8)
    for row, names in enumerate(sets):
        labels = list(label_numbers(names, schema, f".sets[{row}]"))
        if labels != sorted(set(labels)):
            raise DocumentError(f".sets[{row}]", "labels must stand in their order, each once")
        label_sets[row, labels] = 1
    if not np.array_equal(np.unique(label_sets, axis=0), label_sets):
        raise DocumentError(".sets", "label sets must stand in rising order, each once")
    return label_sets


def _check_read(base: TableClassifier, n_sets: int, schema: Schema) -> None:
    """Whether a base from a file predicts the numbers of label sets by these features."""
    if base._target.values.tolist() != list(range(n_sets)):
        message = f"its classes must be the numbers of {n_sets} label sets"
        raise DocumentError(".base", message)
    features = base.schema_.features
    is_same = features == schema.features
    if not isinstance(base, RuleClassifier):  # it reads numbers: see `numeric_features`
        nominal = [f.categories or () if f.is_nominal else "1" for f in schema.features]
        widths = [len(categories) for categories in nominal]
        n_columns = sum(1 if width == 2 else width for width in widths)
        is_same = [feature.categories for feature in features] == [None] * n_columns
    if not is_same:
        raise DocumentError(".base", "its features must be those of the whole")
