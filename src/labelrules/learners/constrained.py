"""Any multi-label classifier, with predictions that satisfy constraints."""

from copy import copy
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from labelrules._checks import suggestion, whole_number
from labelrules._types import Board, Floats
from labelrules.data import Dataset, Schema
from labelrules.data.document import Count, DocumentError, Record, Share, at
from labelrules.data.memory.frames import native
from labelrules.data.memory.labels import default_names
from labelrules.discovery import Constraint, Constraints, Repairs, find_constraints
from labelrules.discovery.constraints.clauses import Clauses, consistent, rules_of, together
from labelrules.discovery.constraints.constraint import Descent, Kind, LabelGroup
from labelrules.discovery.constraints.repairs import STEPS, bounded, log_odds, mended
from labelrules.discovery.significance import Correction
from labelrules.learners.base.estimator import TableClassifier, column_names, refuse_no_labels
from labelrules.learners.base.progress import needed, truth, whole
from labelrules.learners.base.targets import Target, read_target
from labelrules.learners.base.workers import checked_base, numbers_of
from labelrules.learners.registry import register
from labelrules.rules import RuleSet
from labelrules.rules.json import SetRecord, read_theory, theory_record

Way = Literal["auto", "labels", "probabilities", "scores"]

_METHODS = {"probabilities": "predict_proba", "scores": "decision_function"}


def _base_has(method: str) -> Any:
    """A method is there if the base, fitted or not, has it."""
    return available_if(lambda self: hasattr(getattr(self, "base_", self._base()), method))


class DependencyRecord(Record):
    """What constraints and equivalences have in common; labels are given by their numbers."""

    support: Count
    exceptions: Count
    p: Share
    corrected: Share


class ConstraintRecord(DependencyRecord):
    """A learned constraint: see `Constraint`."""

    kind: Kind
    body: list[Count]
    label: Count
    present: bool
    known: bool
    turned: list[Count]


class EquivalenceRecord(DependencyRecord):
    """Labels that imply each other: see `LabelGroup`."""

    members: list[Count]


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
class ConstrainedClassifier(TableClassifier):
    """A multi-label classifier whose predictions are repaired to satisfy constraints.

    Constraints are learned from the training labels, see
    :func:`labelrules.discovery.find_constraints`, or given by somebody who knows, or both. Rows
    whose predicted labels satisfy all of them stay as they are; any other row gets the nearest
    label set that does, see :func:`labelrules.discovery.constraints.repairs`.

    What is given wins: a learned constraint that cannot hold together with it, where its body
    holds, is left out.

    Parameters
    ----------
    base : classifier, optional
        Any multi-label classifier of scikit-learn's kind. By default `BinaryRelevance()`. One
        that is fitted already is given as ``sklearn.frozen.FrozenEstimator(model)``.
    constraints : str, RuleSet, Constraints, Rule, or list of them, optional
        Rules that test labels only, or text in the rule language: ``"a <- b"`` says that b occurs
        only with a, ``"not a <- b"`` that they exclude each other.
    learn : bool, default=True
        Whether to learn constraints from the training labels.
    max_body, tolerance, min_support, alpha, correction
        As for `find_constraints`; but only constraints that are surely no chance are learned
        unless `alpha` is None.
    by : {"auto", "labels", "probabilities", "scores"}, default="auto"
        What a change costs: the same for every label, the log-odds of its probability, or its
        score (`decision_function`). "auto" takes probabilities if the base has them, else scores
        if it has them, else labels. Log-odds count from one half; those of `VotedRules` from
        their `threshold_`. Nothing that the base predicts is changed for nothing: where it
        predicts against its own probability or score, a change costs a millionth.

    Attributes
    ----------
    base_ : classifier
        The base, fitted.
    constraints_ : RuleSet
        All constraints that predictions satisfy, those given first.
    found_ : Constraints or None
        What was learned from the training labels.
    left_out_ : tuple of str
        Learned constraints that contradict those given.
    schema_, classes_, n_labels_
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

    def __init__(
        self,
        base: Any = None,
        *,
        constraints: Any = None,
        learn: bool = True,
        max_body: int = 1,
        tolerance: float = 0.0,
        min_support: int = 1,
        alpha: float | None = 0.05,
        correction: Correction = "holm",
        by: Way = "auto",
    ) -> None:
        self.base = base
        self.constraints = constraints
        self.learn = learn
        self.max_body = max_body
        self.tolerance = tolerance
        self.min_support = min_support
        self.alpha = alpha
        self.correction = correction
        self.by = by

    _State: ClassVar[type[Record]] = ConstrainedState

    def _check_parameters(self) -> None:
        checked_base(self._base())
        check_way(self.by)
        texts = self.constraints if isinstance(self.constraints, tuple) else (self.constraints,)
        if self.constraints is not None and not all(isinstance(text, str) for text in texts):
            raise ValueError("constraints must be text, a list of texts, or null")
        if truth(self, "learn"):
            needed(whole(self, "max_body", 1), "max_body")
            # The rest is checked as `fit` does it, without a long search.
            short = copy(self)
            short.max_body = 1
            short._found(Schema([], ["label"]), np.zeros((2, 1), dtype=np.int8))

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

    def fit(self, X: Any, Y: Any = None) -> Self:
        """Learn constraints, and fit the base.

        Parameters
        ----------
        X : whatever the base takes, or Dataset
            It is handed on as it is; of a `Dataset`, its features as numbers if the base is not
            a learner of ours.
        Y : array, sparse matrix, frame or label sets
            Rows by labels. Classes in one dimension exclude each other anyhow: the base alone
            predicts them.

        Returns
        -------
        self
        """
        base = checked_base(self._base())
        check_way(self.by)
        schema, board, target = self._labels_given(X, Y)
        if target.kind != "labels" and self.constraints is not None:
            raise ValueError("Y holds a class for each row, which constraints cannot speak of")
        given = Clauses(schema, rules_of(self.constraints, schema))
        consistent(given)
        wanted = bool(self.learn) and target.kind == "labels"
        found = self._found(schema, board) if wanted else None
        clauses, left_out = together(given, found)
        self.base_ = clone(base).fit(*self._handed_on(base, X, Y, board, target))
        _method(self.by, self.base_)
        self._clauses = clauses
        self.found_, self.left_out_ = found, left_out
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
        """Probabilities that labels are present, or of classes as the base gives them.

        They are those of the base, but where a label was changed: the probability of what it was
        and of what it is now are exchanged if the first is the greater. So labels that were
        repaired do not contradict their probabilities.
        """
        target = self._check_fitted()
        if target.kind != "labels":
            return np.asarray(self.base_.predict_proba(self._table(X)))
        return self._presence(self._table(X))

    @_base_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The scores of the base; where a label was changed, with the sign of what it is now."""
        target = self._check_fitted()
        scores = np.asarray(self.base_.decision_function(self._table(X)), dtype=np.float64)
        if target.kind != "labels":
            return scores
        done = self.repairs(X)
        cells = scores.reshape(done.after.shape)
        signed = np.where(done.after == 1, np.abs(cells), -np.abs(cells))
        return np.where(done.changed, signed, cells).reshape(scores.shape)

    def repairs(self, X: Any) -> Repairs:
        """What is changed in the predictions of the base: which rows, which labels, and why."""
        if self._check_fitted().kind != "labels":
            raise ValueError("fit was given classes, in whose predictions nothing is changed")
        return self._repaired(self._table(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        of_base = get_tags(self._base())
        tags.input_tags = of_base.input_tags
        tags.classifier_tags.poor_score = of_base.classifier_tags.poor_score
        return tags

    # ------------------------------------------------------------ labels

    def _labels(self, X: Any) -> Board:
        return self._repaired(X).after

    def _presence(self, X: Any) -> Floats:
        presence = self._probabilities(X)
        done = self._repaired(X)
        likely = np.maximum(presence, 1 - presence)
        return np.where(done.changed, np.where(done.after == 1, likely, 1 - likely), presence)

    def _repaired(self, X: Any) -> Repairs:
        board = self._said(X)
        method = _method(self.by, self.base_)
        if method == "predict_proba":
            odds = log_odds(self._probabilities(X)) - log_odds([[_threshold(self.base_)]])
            return mended(board, self._clauses, _as_predicted(board, odds))
        if method == "decision_function":
            scores = np.asarray(self.base_.decision_function(X)).reshape(len(board), -1)
            sureness = bounded(self._fitting(scores, method))
            return mended(board, self._clauses, _as_predicted(board, sureness))
        return mended(board, self._clauses, None)

    def _said(self, X: Any) -> Board:
        """The labels that the base predicts."""
        cells = _dense(self.base_.predict(X))
        cells = cells.reshape(len(cells), -1)
        if not np.isin(cells, (0, 1)).all():
            raise ValueError(f"{type(self.base_).__name__} predicts other than 0 and 1")
        return self._fitting(cells.astype(np.int8), "predict")

    def _probabilities(self, X: Any) -> Floats:
        """How probable the base says each label is, in whichever of the usual forms."""
        said = self.base_.predict_proba(X)
        if isinstance(said, list):
            said = np.column_stack(
                [
                    _of_presence(part, kinds)
                    for part, kinds in zip(said, self.base_.classes_, strict=True)
                ]
            )
        cells = _dense(said).astype(np.float64)
        if self.n_labels_ == 1 and isinstance(self.base_.classes_, np.ndarray):
            cells = _of_presence(cells, self.base_.classes_)[:, None]
        return self._fitting(cells, "predict_proba")

    def _fitting(self, cells: npt.NDArray[Any], method: str) -> npt.NDArray[Any]:
        if cells.ndim != 2 or cells.shape[1] != self.n_labels_:
            raise ValueError(
                f"{type(self.base_).__name__}.{method} gives the shape {cells.shape}, "
                f"but there are {self.n_labels_} labels"
            )
        return cells

    # ------------------------------------------------------------ what is handed on

    def _base(self) -> Any:
        if self.base is not None:
            return self.base
        from labelrules.learners.binary_relevance import BinaryRelevance

        return BinaryRelevance()

    def _labels_given(self, X: Any, Y: Any) -> tuple[Schema, Board, Target]:
        if isinstance(X, Dataset):
            return X.schema, self._given_data(X, Y).Y, Target("labels", np.array([0, 1]))
        if Y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; "
                "only a Dataset as X brings its labels"
            )
        features = column_names(native(X))
        target, labels = read_target(Y, taken=features)
        refuse_no_labels(labels.board.shape[1])
        names = labels.names or default_names("y", labels.board.shape[1], taken=features)
        return Schema([], names), labels.board, target

    def _handed_on(
        self, base: Any, X: Any, Y: Any, board: Board, target: Target
    ) -> tuple[Any, ...]:
        """What the base is fitted with: what was given, if it can read it."""
        if _reads_tables(base):
            return X, Y
        if target.kind == "labels":
            return (numbers_of(X) if isinstance(X, Dataset) else X), board.astype(np.int64)
        return X, Y

    def _table(self, X: Any) -> Any:
        if isinstance(X, Dataset) and not _reads_tables(self.base_):
            return numbers_of(X)
        return X

    def _found(self, schema: Schema, board: Board) -> Constraints:
        labels = Schema([], schema.labels, schema.parents)
        return find_constraints(
            Dataset(labels, np.zeros((len(board), 0)), board),
            max_conditions=whole_number(self.max_body, "max_body", low=1),
            tolerance=self.tolerance,
            min_support=self.min_support,
            alpha=self.alpha,
            correction=self.correction,
            groups=False,
        )


def _reads_tables(base: Any) -> bool:
    """Whether a classifier is one of ours, and so reads data sets and labels of any form."""
    inner = base.estimator if isinstance(base, FrozenEstimator) else base
    return isinstance(inner, TableClassifier)


def _threshold(base: Any) -> float:
    """The probability above which a classifier predicts a label.

    Other people's may call something else so.
    """
    return float(getattr(base, "threshold_", 0.5)) if _reads_tables(base) else 0.5


def check_way(by: Any) -> None:
    """Refuse what is no way to tell what a change costs."""
    ways = get_args(Way)
    if by not in ways:
        raise ValueError(f"by must be one of {ways}, not {by!r}{suggestion(str(by), ways)}")


def _method(by: Way, base: Any) -> str | None:
    """The method of the base that says what a change costs."""
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


def _as_predicted(board: Board, sureness: Floats) -> Floats:
    """How sure the labels are, but at least a little of what is predicted."""
    least = 1 / STEPS
    return np.where(board == 1, np.maximum(sureness, least), np.minimum(sureness, -least))


def _dense(cells: Any) -> npt.NDArray[Any]:
    dense: Any = cells
    return np.asarray(dense.toarray() if sparse.issparse(cells) else cells)


def _of_presence(part: npt.NDArray[Any], kinds: npt.NDArray[Any]) -> Floats:
    """The column of presence; a label that was never seen present, or absent, has but one."""
    found = np.flatnonzero(np.asarray(kinds) == 1)
    return np.asarray(part[:, found[0]] if len(found) else np.zeros(len(part)))


def _found_record(found: Constraints) -> FoundRecord:
    constraints = [_copied(one, ConstraintRecord) for one in found]
    groups = [_copied(one, EquivalenceRecord) for one in found.equivalences]
    numbers = found.n_rows, found.tolerance, found.n_tests
    return FoundRecord(*numbers, constraints, groups, list(found.hierarchy))


def _copied(one: Any, kind: Any) -> Any:
    return kind(*(getattr(one, name) for name in kind.__struct_fields__))


def _read_found(record: FoundRecord, whole: Schema) -> Constraints:
    schema, labels = Schema([], whole.labels, whole.parents), set(range(whole.n_labels))
    names = {name for one in record.hierarchy for name in (one.child, one.parent)}
    used = {label for one in record.equivalences for label in one.members}
    used = used.union(*({*one.body, one.label} for one in record.found))
    if not (used <= labels and names <= set(whole.labels)):
        raise ValueError("it has labels that the schema does not have")
    found = tuple(_read_constraint(one, schema) for one in record.found)
    equal = tuple(_made(LabelGroup, one, schema, kind="equivalence") for one in record.equivalences)
    numbers = record.n_rows, record.tolerance, record.n_tests
    return Constraints(schema, *numbers, found, equal, (), tuple(record.hierarchy))


def _read_constraint(record: ConstraintRecord, schema: Schema) -> Constraint:
    turned = record.turned
    if turned and (record.kind != "exclusion" or len(turned) != len(record.body)):
        raise ValueError("only an exclusion has turned, a number for each label of the body")
    if turned and min(turned) < record.exceptions:
        raise ValueError("turned must be as many rows as there are exceptions, or more")
    return _made(Constraint, record, schema)  # type: ignore[no-any-return]


def _made(make: Any, record: Record, schema: Schema, **more: Any) -> Any:
    """A frozen value with the fields of a record."""
    values = {name: getattr(record, name) for name in record.__struct_fields__}
    lists = {name: tuple(one) for name, one in values.items() if isinstance(one, list)}
    return make(schema=schema, **{**values, **lists, **more})
