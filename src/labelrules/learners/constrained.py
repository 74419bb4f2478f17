"""Any multi-label classifier, with predictions that satisfy constraints."""

from collections.abc import Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from labelrules._checks import one_of, truth_value, whole_number
from labelrules._types import UNSET, Board, Floats
from labelrules.constraints import Constraint, Constraints, Repairs, find_constraints
from labelrules.constraints.clauses import Clauses, consistent, rules_of, together
from labelrules.constraints.constraint import Descent, Kind, LabelGroup
from labelrules.constraints.repairs import as_predicted, bounded, log_odds, mended
from labelrules.constraints.significance import Correction
from labelrules.data import Dataset, Schema
from labelrules.data.document import Count, DocumentError, Record, Share, at
from labelrules.data.memory.frames import native
from labelrules.data.memory.labels import default_names
from labelrules.data.numeric import numeric_features
from labelrules.data.weights import checked_weights, weighted, without_idle_cells
from labelrules.learners.base.estimator import TableClassifier, Target, heading
from labelrules.learners.base.label_models import checked_base
from labelrules.learners.base.presence import (
    checked_shape,
    dense,
    is_ours,
    presence_by,
    threshold_of,
)
from labelrules.learners.base.progress import recorded
from labelrules.learners.base.renaming import Names, known_names
from labelrules.learners.base.tables import (
    check_engine,
    frame_columns,
    without_idle_rows,
)
from labelrules.learners.registry import register
from labelrules.rules import RuleSet, parse_rule, rule_text, theory_text
from labelrules.rules.json import SetRecord, read_theory, theory_record

CostKind = Literal["auto", "labels", "probabilities", "scores"]
"""What the cost of a change is computed from."""

_METHODS = {"probabilities": "predict_proba", "scores": "decision_function"}


def _base_has(method: str) -> Any:
    """Provide a method only if the base, fitted or not, has it."""
    return available_if(lambda self: hasattr(getattr(self, "base_", self._base()), method))


class DependencyRecord(Record):
    """The counts and p-values of a constraint or equivalence; labels are stored as numbers."""

    support: Count
    exceptions: Count
    p: Share
    corrected: Share


class ConstraintRecord(DependencyRecord):
    """A learned constraint: see `Constraint`."""

    kind: Kind
    body: tuple[Count, ...]
    label: Count
    present: bool
    known: bool
    turned: tuple[Count, ...]


class EquivalenceRecord(DependencyRecord):
    """Labels that imply each other: see `LabelGroup`."""

    members: tuple[Count, ...]


class FoundRecord(Record):
    """Constraints found among the labels of some rows; the hierarchy has a `Descent` each."""

    n_rows: Count
    tolerance: Share
    n_tests: Count
    found: list[ConstraintRecord]
    equivalences: list[EquivalenceRecord]
    hierarchy: list[Descent]


class ConstrainedState(Record):
    """The base, the constraints, whether their schema has the features, and those left out."""

    base: TableClassifier
    constraints: SetRecord
    features_known: bool
    found: FoundRecord | None
    left_out: list[str]


@register(order=10)
@dataclass(eq=False, repr=False)
class ConstrainedClassifier(TableClassifier):
    """A multi-label classifier whose predictions are repaired to satisfy constraints.

    Constraints are learned from the training labels, see
    :func:`labelrules.constraints.find_constraints`, or given by an expert, or both. Rows whose
    predicted labels satisfy all of them stay as they are; any other row gets the nearest label set
    that does, see :func:`labelrules.constraints.repairs`. Given constraints have
    priority: a learned one that contradicts them where its body holds is left out.

    Parameters
    ----------
    base : classifier, optional
        Any multi-label classifier of scikit-learn's kind. By default `BinaryRelevance()`. One
        that is fitted already is given as ``sklearn.frozen.FrozenEstimator(model)``.
    constraints : str, RuleSet, Constraints, Rule, or list of them, optional
        Rules that test labels only, or text in the rule language: ``"a <- b"`` means that b occurs
        only with a, ``"not a <- b"`` that they exclude each other.
    learn : bool, default=True
        Whether to learn constraints from the training labels.
    max_conditions, tolerance, min_support, alpha, correction
        As for `find_constraints`; but only significant constraints are learned unless `alpha` is
        None.
    by : {"auto", "labels", "probabilities", "scores"}, default="auto"
        The cost of a change: the same for every label, the log-odds of its probability, or its
        score (`decision_function`). "auto" takes probabilities if the base has them, else scores
        if it has them, else labels. Log-odds count from one half; those of `Scorecard` from
        their `threshold_`. No change is free: where the base predicts against its own probability
        or score, a change costs a millionth.

    Attributes
    ----------
    base_ : classifier
        The base, fitted.
    constraints_ : RuleSet
        All constraints that predictions satisfy, those given first.
    found_ : Constraints or None
        The constraints learned from the training labels.
    left_out_ : tuple of str
        Learned constraints that contradict those given.
    schema_, labels_, classes_, n_labels_
        As of other learners; features are named if X is a `Dataset`, or the base names them.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> base = KNeighborsClassifier(1)
    >>> model = ConstrainedClassifier(base, constraints="y0 <- y1").fit(X, Y)
    >>> model.predict([[3.0]])
    array([[0, 0]])
    >>> print(model.repairs([[3.0], [1.0]]))
    1 label changed in 1 of 2 rows
      row 0: -y1  (y0 <- y1)
    """

    base: Any = None
    _: KW_ONLY
    constraints: Any = None
    learn: bool = True
    max_conditions: int = 1
    tolerance: float = 0.0
    min_support: int = 1
    alpha: float | None = 0.05
    correction: Correction = "holm"
    by: CostKind = "auto"

    _State = ConstrainedState

    def _check_parameters(self) -> None:
        checked_base(self._base())
        one_of(self.by, "by", get_args(CostKind))
        texts = self.constraints if isinstance(self.constraints, tuple) else (self.constraints,)
        if self.constraints is not None and not all(isinstance(text, str) for text in texts):
            raise ValueError("constraints must be text, a list of texts, or null")
        if truth_value(self.learn, "learn"):
            whole_number(self.max_conditions, "max_conditions", low=1)
            # The rest is checked as `fit` does it, without a long search.
            short = copy(self)
            short.max_conditions = 1
            short._learned(Schema([], ["label"]), np.zeros((2, 1), dtype=np.int8))

    def _state(self) -> dict[str, Any]:
        return {
            "base": self.base_,
            "constraints": theory_record(self.constraints_),
            "features_known": self.constraints_.schema == self.schema_,
            "found": None if self.found_ is None else _found_record(self.found_),
            "left_out": list(self.left_out_),
        }

    def _restore_state(self, state: Any) -> None:
        self.base_, whole = state.base, self.schema_
        if self.base_.schema_ != whole or self.base_._target.kind != self._target.kind:
            raise DocumentError(".base", "its features and labels must be those of the whole")
        schema = whole if state.features_known else Schema([], whole.labels)
        if schema == whole and not state.features_known:
            raise DocumentError(".features_known", "must be true where there are no features")
        rules = read_theory(state.constraints, schema, ".constraints")
        with at(".constraints"):
            self._clauses = consistent(Clauses(schema, rules_of(rules, schema)))
            self.constraints_ = RuleSet(schema, [one.rule for one in self._clauses.clauses])
            if theory_record(self.constraints_) != state.constraints:
                raise ValueError(
                    "each constraint must be a rule for one label, once, without evidence and votes"
                )
        with at(".found"):
            self.found_ = None if state.found is None else _read_found(state.found, whole)
        self.left_out_ = tuple(state.left_out)

    def _renamed(self, names: Names) -> Any:
        if not is_ours(self.base_) and any(name in self.schema_.feature_index for name in names):
            raise ValueError("features can be renamed only if the base is a learner of ours")
        other, before = super()._renamed(names), self.constraints_.schema
        schema = other.constraints_.schema
        other._clauses = Clauses(schema, [one.rule for one in self._clauses.clauses])
        left_out = (parse_rule(text, before) for text in self.left_out_)
        other.left_out_ = tuple(rule_text(rule, schema) for rule in left_out)
        if self.found_ is not None:
            other.found_ = self.found_.rename(known_names(self.found_.schema, names))
        if self.constraints is not None:
            other.constraints = theory_text(RuleSet(schema, rules_of(self.constraints, before)))
        return other

    @recorded
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, feature_names: Any = None
    ) -> Self:
        """Learn constraints, and fit the base.

        The base gets X as it is; of a `Dataset` the features as numbers, if it is not a learner of
        ours. Classes in one dimension exclude each other, so the base alone predicts them. Weights
        and `feature_names` are handed on to the base; for constraints each row counts as often as
        its weight says, rounded, but at least once if it is above 0.
        """
        base = checked_base(self._base())
        one_of(self.by, "by", get_args(CostKind))
        X, y, sample_weight = without_idle_rows(X, y, sample_weight, n_dims=1)
        if isinstance(X, Dataset):
            X = weighted(X, sample_weight)
            X = X if is_ours(base) else without_idle_cells(X)
            sample_weight = X.weights
        schema, board, target = self._label_data(X, y)
        if target.kind != "labels" and self.constraints is not None:
            raise ValueError("Y holds a class for each row, and constraints are for labels")
        given = Clauses(schema, rules_of(self.constraints, schema))
        consistent(given)
        learns = bool(self.learn) and target.kind == "labels"
        weights = checked_weights(sample_weight, board.shape)
        found = self._learned(schema, _complete(_repeated(board, weights))) if learns else None
        clauses, left_out = together(given, found)
        names = {} if feature_names is None else {"feature_names": feature_names}
        fitted = _fitted(base, self._base_data(base, X, y, board, target), weights, names)
        _method(self.by, fitted)
        self.base_, self.found_, self.left_out_, self._clauses = fitted, found, left_out, clauses
        self.constraints_ = RuleSet(schema, [clause.rule for clause in clauses.clauses])
        self._remember(getattr(self.base_, "schema_", schema), target)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.base_, name):
                setattr(self, name, getattr(self.base_, name))
            elif hasattr(self, name):
                delattr(self, name)  # from another fit
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict labels that satisfy the constraints, or classes as the base does."""
        target = self._check_fitted()
        if target.kind != "labels":
            return np.asarray(self.base_.predict(self._table(X)))
        return target.predicted(self._labels(self._table(X)))

    @_base_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probabilities that labels are present, or those of classes, by the base.

        Probabilities that contradict a repaired label are exchanged for those of its opposite.
        """
        target = self._check_fitted()
        if target.kind != "labels":
            return np.asarray(self.base_.predict_proba(self._table(X)))
        return self._presence(self._table(X))

    @_base_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The scores of the base; where a label was changed, with the sign of its new value."""
        target = self._check_fitted()
        scores = np.asarray(self.base_.decision_function(self._table(X)), dtype=np.float64)
        if target.kind != "labels":
            return scores
        done = self.repairs(X)
        cells = scores.reshape(done.after.shape)
        signed = np.where(done.after == 1, np.abs(cells), -np.abs(cells))
        return np.where(done.changed, signed, cells).reshape(scores.shape)

    def repairs(self, X: Any) -> Repairs:
        """The changes in the predictions of the base: which rows, which labels, and why."""
        if self._check_fitted().kind != "labels":
            raise ValueError("fit was given classes, and predicted classes are not repaired")
        return self._repaired(self._table(X))

    def explain(self, X: Any, row: Any = 0, **options: Any) -> Any:
        """Explain the predictions of the base, before they are repaired; see also `repairs`."""
        self._check_fitted()
        if not hasattr(self.base_, "explain"):
            name = type(self.base_).__name__
            raise TypeError(f"the base {name} cannot explain its predictions: use one of ours")
        return self.base_.explain(X, row, **options)

    def _rules_html(self) -> Iterator[str]:
        if hasattr(self, "constraints_"):
            yield heading("Constraints that every prediction satisfies")
            yield self.constraints_._repr_html_()
            before = "".join(self.base_._rules_html()) if is_ours(self.base_) else ""
            if before:
                yield heading("Rules of the base, before its predictions are repaired")
                yield before

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of_base = get_tags(self._base())
        tags.input_tags = of_base.input_tags
        tags.classifier_tags.poor_score = of_base.classifier_tags.poor_score
        return tags

    def _labels(self, X: Any) -> Board:
        return self._repaired(X).after

    def _presence(self, X: Any) -> Floats:
        presence = presence_by(self.base_, X, self.n_labels_)
        done = self._repaired(X)
        likely = np.maximum(presence, 1 - presence)
        return np.where(done.changed, np.where(done.after == 1, likely, 1 - likely), presence)

    def _repaired(self, X: Any) -> Repairs:
        board = self._base_labels(X)
        method = _method(self.by, self.base_)
        if method == "predict_proba":
            presence = presence_by(self.base_, X, self.n_labels_)
            odds = log_odds(presence) - log_odds([[threshold_of(self.base_)]])
            return mended(board, self._clauses, as_predicted(board, odds))
        if method == "decision_function":
            scores = np.asarray(self.base_.decision_function(X)).reshape(len(board), -1)
            scores = bounded(self._checked_shape(scores, method))
            return mended(board, self._clauses, as_predicted(board, scores))
        return mended(board, self._clauses, None)

    def _base_labels(self, X: Any) -> Board:
        """The labels that the base predicts."""
        cells = dense(self.base_.predict(X))
        cells = cells.reshape(len(cells), -1)
        if not np.isin(cells, (0, 1)).all():
            raise ValueError(f"{type(self.base_).__name__} predicts other values than 0 and 1")
        return self._checked_shape(cells.astype(np.int8), "predict")

    def _checked_shape(self, cells: npt.NDArray[Any], method: str) -> npt.NDArray[Any]:
        return checked_shape(cells, self.base_, method, self.n_labels_)

    def _base(self) -> Any:
        if self.base is not None:
            return self.base
        from labelrules.learners.binary_relevance import BinaryRelevance

        return BinaryRelevance()

    def _label_data(self, X: Any, Y: Any) -> tuple[Schema, Board, Target]:
        if isinstance(X, Dataset):
            return X.schema, self._given_data(X, Y).Y, Target("labels", np.array([0, 1]))
        table = native(X)
        target, labels = self._target_labels(table, Y)
        names = labels.names or default_names("y", labels.board.shape[1], frame_columns(table))
        return Schema([], names), labels.board, target

    def _base_data(
        self, base: Any, X: Any, Y: Any, board: Board, target: Target
    ) -> tuple[Any, ...]:
        """X and Y as the base can read them."""
        if is_ours(base) or target.kind != "labels":
            return X, Y
        if (board == UNSET).any():
            raise ValueError(
                f"some labels are unknown, which {type(base).__name__} cannot learn from: give "
                "BinaryRelevance of a classifier for one label as base"
            )
        return (numeric_features(X) if isinstance(X, Dataset) else X), board.astype(np.int64)

    def _table(self, X: Any) -> Any:
        check_engine(self)
        return X if is_ours(self.base_) or not isinstance(X, Dataset) else numeric_features(X)

    def _learned(self, schema: Schema, board: Board) -> Constraints:
        labels = Schema([], schema.labels, schema.parents)
        return find_constraints(
            Dataset(labels, np.zeros((len(board), 0)), board),
            max_conditions=whole_number(self.max_conditions, "max_conditions", low=1),
            tolerance=self.tolerance,
            min_support=self.min_support,
            alpha=self.alpha,
            correction=self.correction,
            groups=False,
        )


def _repeated(board: Board, weights: Floats | None) -> Board:
    """The labels of each row as often as its weight says, rounded, but at least once."""
    if weights is None:
        return board
    if weights.ndim == 2:
        raise ValueError("to learn constraints, give one weight per row, or learn=False")
    return np.repeat(board, np.maximum(np.rint(weights), weights > 0).astype(np.int64), axis=0)


def _complete(board: Board) -> Board:
    """The rows of which all labels are known: constraints are of all of them."""
    known = (board != UNSET).all(axis=1)
    if not known.any():
        raise ValueError(
            "in each row some label is unknown, so no constraints can be learned: give constraints "
            "and learn=False"
        )
    return np.asarray(board[known])


def _fitted(
    base: Any, arguments: tuple[Any, ...], weights: Floats | None, names: dict[str, Any]
) -> Any:
    """A copy of the base, fitted; a data set of ours has its weights already."""
    if names and not has_fit_parameter(base, "feature_names"):
        raise ValueError(f"{type(base).__name__} takes no names: leave feature_names out")
    if weights is None or (isinstance(arguments[0], Dataset) and arguments[0].weights is not None):
        return clone(base).fit(*arguments, **names)
    if not has_fit_parameter(base, "sample_weight"):
        raise ValueError(f"{type(base).__name__} takes no weights: leave sample_weight out")
    return clone(base).fit(*arguments, sample_weight=weights, **names)


def _method(by: CostKind, base: Any) -> str | None:
    """The method of the base by which changes cost more or less."""
    if by == "auto":
        return next((name for name in _METHODS.values() if hasattr(base, name)), None)
    if by == "labels":
        return None
    if not hasattr(base, _METHODS[by]):
        raise ValueError(
            f"by={by!r} needs a base with {_METHODS[by]}, and {type(base).__name__} has none: "
            "use by='labels'"
        )
    return _METHODS[by]


def _found_record(found: Constraints) -> FoundRecord:
    constraints = [_record(one, ConstraintRecord) for one in found]
    groups = [_record(one, EquivalenceRecord) for one in found.equivalences]
    numbers = found.n_rows, found.tolerance, found.n_tests
    return FoundRecord(*numbers, constraints, groups, list(found.hierarchy))


def _record(one: Any, kind: Any) -> Any:
    """A record of the fields that it shares with a value."""
    return kind(*(getattr(one, name) for name in kind.__struct_fields__))


def _values(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


def _read_found(record: FoundRecord, whole: Schema) -> Constraints:
    schema, labels = Schema([], whole.labels, whole.parents), set(range(whole.n_labels))
    names = {name for one in record.hierarchy for name in (one.child, one.parent)}
    used = {label for one in record.equivalences for label in one.members}
    used = used.union(*({*one.body, one.label} for one in record.found))
    if not (used <= labels and names <= set(whole.labels)):
        raise ValueError("it has labels that the schema does not have")
    return Constraints(
        schema,
        record.n_rows,
        record.tolerance,
        record.n_tests,
        tuple(_read_constraint(one, schema) for one in record.found),
        tuple(LabelGroup(schema, "equivalence", **_values(one)) for one in record.equivalences),
        (),
        tuple(record.hierarchy),
    )


def _read_constraint(record: ConstraintRecord, schema: Schema) -> Constraint:
    turned = record.turned
    if turned and (record.kind != "exclusion" or len(turned) != len(record.body)):
        raise ValueError("only an exclusion has turned, a number for each label of the body")
    if turned and min(turned) < record.exceptions:
        raise ValueError("turned must be as many rows as there are exceptions, or more")
    return Constraint(schema, **_values(record))
