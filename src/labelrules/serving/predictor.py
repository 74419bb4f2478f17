"""Predictions of single rows, given as mappings from names to values.

An `Engine` predicts them: rules as a Python function, or the model itself.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from labelrules._checks import suggestion
from labelrules._types import Board, Floats
from labelrules.data.errors import DataError
from labelrules.data.memory.columns import are_truth_words
from labelrules.data.memory.encoding import cell_readers
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset, checked_dataset
from labelrules.export.plan import Plan, used_features
from labelrules.export.programs import to_python
from labelrules.learners.base.estimator import TableClassifier, Target
from labelrules.rules.inference import Gibbs
from labelrules.rules.theory import Theory, theory_of

Row: TypeAlias = Mapping[str, Any]
"""From the names of columns to values."""

ValueReader: TypeAlias = Callable[[Any], Any]


class Engine(Protocol):
    """Predicts single rows; numbers are in the order of the labels."""

    columns: tuple[str, ...]

    def labels(self, row: Row) -> Sequence[int]:
        """Whether each label is present, 1 or 0."""

    def presence(self, row: Row) -> Sequence[float]:
        """The probability that each label is present."""

    def reasons(self, row: Row) -> dict[str, list[str]]:
        """For each label the rules that decided it."""


def engine_for(model: Theory | TableClassifier) -> Engine:
    """The fastest way to predict single rows by a model."""
    if isinstance(model, TableClassifier):
        model._check_fitted()
        if model.schema_.n_features != getattr(model, "n_features_in_", model.schema_.n_features):
            raise TypeError(
                f"this {type(model).__name__} does not know the names and kinds of its columns, "
                "since its base is not a learner of labelrules: use model.predict"
            )
    return RuleEngine(model) if _is_its_theory(model) else ModelEngine(model)


def _is_its_theory(model: Theory | TableClassifier) -> bool:
    """Whether what a theory predicts, without lots, is what the model predicts."""
    if isinstance(model, TableClassifier):
        kind = type(model)
        # A learner from elsewhere may predict otherwise than by its rules.
        ways = (kind.predict, kind._labels, kind._presence)
        if not all(way.__module__.startswith("labelrules.") for way in ways):
            return False
        if not hasattr(model, "theory_") or not hasattr(model, "_chances"):
            return False
        model = model.theory_
    return not is_sampled(model)


def is_sampled(theory: Theory) -> bool:
    """Whether the labels of a theory are drawn by lot."""
    return isinstance(theory.inference, Gibbs)


class RuleEngine:
    """Rules as an exported module, with the values of rows checked as by `predict`."""

    def __init__(self, model: Theory | TableClassifier) -> None:
        plan = Plan.of(model)
        features = [plan.schema.features[column] for column in plan.used]
        readers = [cell_readers(plan.schema)[column] for column in plan.used]
        self.columns = tuple(feature.name for feature in features)
        self._cells = [
            (
                feature.name,
                reader if feature.categories is None else text_reader(feature.categories, reader),
            )
            for feature, reader in zip(features, readers, strict=True)
        ]
        self._module: dict[str, Any] = {}
        exec(compile(to_python(model), "<rules>", "exec"), self._module)
        self._module["_values"] = self._values
        self._predict = self._module["predict"]

    def labels(self, row: Row) -> Sequence[int]:
        """Whether each label is present."""
        return list(self._predict(row).values())

    def presence(self, row: Row) -> Sequence[float]:
        """The probability that each label is present."""
        return list(self._module["probabilities"](row).values())

    def reasons(self, row: Row) -> dict[str, list[str]]:
        """For each label the rules that decided it."""
        return self._module["reasons"](row)  # type: ignore[no-any-return]

    def _values(self, row: Row) -> dict[str, Any]:
        """The values that rules test."""
        try:
            return {name: read(row[name]) for name, read in self._cells}
        except KeyError:
            raise missing_column(row, self.columns) from None
        except DataError as wrong:
            raise misfit(wrong) from None


def text_reader(texts: tuple[str, ...], read: Callable[[Any], float]) -> ValueReader:
    """A reader of categories as text, None if missing or unknown."""
    known = frozenset(texts)
    is_plain = not are_truth_words(texts)  # else a text may be refused

    def text(value: Any) -> str | None:
        if type(value) is str and (is_plain or value in known):
            return value if value in known else None
        code = read(value)
        return None if code != code else texts[int(code)]

    return text


class ModelEngine:
    """The model itself, asked with a data set of one row."""

    def __init__(self, model: Theory | TableClassifier) -> None:
        self._model = model
        self._schema: Schema = model.schema if isinstance(model, Theory) else model.schema_
        tested: Sequence[int] = range(self._schema.n_features)
        if isinstance(model, Theory):
            tested = used_features(model)
        self.columns = tuple(self._schema.features[column].name for column in tested)
        readers = cell_readers(self._schema)
        self._cells = [
            (column, self._schema.features[column].name, readers[column]) for column in tested
        ]

    def labels(self, row: Row) -> Sequence[int]:
        """Whether each label is present."""
        rows, model = self._encoded(row), self._model
        board: Board = model.predict(rows) if isinstance(model, Theory) else model._labels(rows)
        return board[0].tolist()  # type: ignore[no-any-return]

    def presence(self, row: Row) -> Sequence[float]:
        """The probability that each label is present."""
        assert isinstance(self._model, TableClassifier)
        return self._model._presence(self._encoded(row))[0].tolist()  # type: ignore[no-any-return]

    def reasons(self, row: Row) -> dict[str, list[str]]:
        """An error: no single rules decide these labels."""
        theory = getattr(self._model, "theory_", self._model)
        if isinstance(theory, Theory) and is_sampled(theory):
            why = "its labels are means of samples (Gibbs), so that no single rule decides them"
        else:
            why = "its labels are not decided by the rules of one theory"
        raise TypeError(f"this {type(self._model).__name__} gives no reasons: {why}")

    def _encoded(self, row: Row) -> Dataset:
        values = np.full((1, self._schema.n_features), np.nan, order="F")
        try:
            for column, name, read in self._cells:
                values[0, column] = read(row[name])
        except KeyError:
            raise missing_column(row, self.columns) from None
        except DataError as wrong:
            raise misfit(wrong) from None
        values.setflags(write=False)
        labels = np.zeros((1, self._schema.n_labels), dtype=np.int8)
        return checked_dataset(self._schema, values, labels)


def missing_column(row: Row, columns: Sequence[str]) -> DataError:
    """The error for a row without a column that is needed."""
    name = next(column for column in columns if column not in row)
    near = suggestion(name, [key for key in row if isinstance(key, str)])
    return DataError(f"the row has no column {name!r} (a missing value is None){near}")


def misfit(wrong: DataError) -> DataError:
    """The error for a value of another kind."""
    return DataError(f"the row does not fit the model: {wrong}")


class Prediction:
    """What a :class:`Predictor` says about one row.

    Attributes
    ----------
    labels : tuple of str
        The names of the labels that are present; of three or more classes the predicted one.
    """

    __slots__ = ("_predictor", "_row", "labels")

    def __init__(self, predictor: "Predictor", row: Row, labels: tuple[str, ...]) -> None:
        self._predictor, self._row, self.labels = predictor, row, labels

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each label."""
        return self._predictor._probabilities(self._row)

    @property
    def reasons(self) -> dict[str, list[str]]:
        """For each label the rules that decided it, as text; none if no rule for it holds."""
        return self._predictor._engine.reasons(self._row)

    def __repr__(self) -> str:
        return f"Prediction(labels={self.labels!r})"


class Predictor:
    """Predicts rows one at a time, within microseconds: for services.

    A row is a mapping from the names of columns to values. Only the columns that rules test need to
    be there, others are ignored; None and NaN are missing values. Values are read as by `predict`
    for a frame, and the results are the same: an unknown category is a missing value, and a value
    of another kind, such as text where numbers were learned from, is an error.

    Parameters
    ----------
    model : fitted learner, DecisionList, RuleSet or LayeredTheory
        As it is now: a model that is fitted again needs a new predictor. Probabilities need a
        learner. Learners that do not predict by one theory are asked themselves, which is slower;
        they need all columns and give no reasons.

    Attributes
    ----------
    columns : tuple of str
        The columns that a row must have.
    label_names : tuple of str

    Examples
    --------
    >>> from labelrules import Predictor, SeparateAndConquer, load
    >>> predictor = Predictor(SeparateAndConquer().fit(load("magazines")))
    >>> predictor.columns
    ('education', 'marital', 'sex', 'children')
    >>> row = {"education": "University", "marital": None, "sex": "Female", "children": "No"}
    >>> found = predictor(row)
    >>> found.labels, found.probabilities["fashion"]
    (('quality', 'fashion'), 0.75)
    >>> found.reasons["fashion"]
    ['fashion <- sex = Female, education = University']
    >>> predictor.predict([row, {**row, "sex": "Male"}])
    array([[1, 0, 1, 0],
           [1, 0, 0, 0]])
    """

    def __init__(self, model: Theory | TableClassifier) -> None:
        if not isinstance(model, Theory | TableClassifier):
            model = theory_of(model)
        self._engine: Engine = engine_for(model)
        self._target: Target | None = None
        self._by_rules = self._chooses_class = False
        if isinstance(model, TableClassifier):
            self._target, self._by_rules = model._target, model._rules_choose_classes
            self._chooses_class = model._target.kind == "classes"
        schema: Schema = model.schema if isinstance(model, Theory) else model.schema_
        self.label_names = schema.labels

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a row must have."""
        return self._engine.columns

    @overload
    def __call__(self, row: Row) -> Prediction: ...
    @overload
    def __call__(self, row: Sequence[Row]) -> list[Prediction]: ...
    def __call__(self, row: Row | Sequence[Row]) -> Prediction | list[Prediction]:
        """Predict one row, or each row of a list."""
        if type(row) is not dict and not isinstance(row, Mapping):
            return [self(one) for one in checked_rows(row)]
        row = dict(row)  # the probabilities are made later, from the same values
        if self._chooses_class:
            return Prediction(self, row, (self.label_names[int(np.argmax(self._cells(row)))],))
        cells = self._engine.labels(row)
        names = zip(self.label_names, cells, strict=True)
        return Prediction(self, row, tuple([name for name, cell in names if cell]))

    def predict(self, row: Row | Sequence[Row]) -> Any:
        """Labels, 0 or 1, or the class, as the model predicts them: of one row, or of each row."""
        if not isinstance(row, Mapping):
            rows = [self._cells(one) for one in checked_rows(row)]
            return self._shaped(np.array(rows).reshape(len(rows), len(self.label_names)))
        return self._shaped(np.array([self._cells(row)]))[0]

    def predict_proba(self, row: Row | Sequence[Row]) -> Floats:
        """Probabilities, as the model estimates them: of one row, or rows by labels or classes."""
        if isinstance(row, Mapping):
            return np.asarray(self._all_probabilities([row])[0])
        return self._all_probabilities(checked_rows(row))

    def __repr__(self) -> str:
        return f"<Predictor: {len(self.columns)} columns, {len(self.label_names)} labels>"

    def _cells(self, row: Row) -> Sequence[float]:
        """Labels, or what decides between classes."""
        is_by_chance = self._chooses_class and not self._by_rules
        return self._engine.presence(row) if is_by_chance else self._engine.labels(row)

    def _shaped(self, cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self._target is None:
            return cells.astype(np.int8)
        if self._chooses_class:
            return self._target.most_probable(cells)
        return self._target.predicted(cells.astype(np.int8))

    def _probabilities(self, row: Row) -> dict[str, float]:
        if self._chooses_class:
            found = self._all_probabilities([row])[0].tolist()
            return dict(zip(self.label_names, found, strict=True))
        return dict(zip(self.label_names, self._presence(row), strict=True))

    def _presence(self, row: Row) -> Sequence[float]:
        if self._target is None:
            raise TypeError(
                "a theory alone has no probabilities: they need the training rows, so give "
                "Predictor the fitted learner"
            )
        return self._engine.presence(row)

    def _all_probabilities(self, rows: Sequence[Row]) -> Floats:
        cells = np.array([self._presence(row) for row in rows])
        presence = cells.reshape(len(rows), len(self.label_names)).astype(np.float64)
        if self._target is None:
            return presence
        return self._target.probabilities(presence)


def checked_rows(rows: Any) -> Sequence[Row]:
    """Rows in a list or tuple, each a mapping."""
    if not isinstance(rows, list | tuple):
        raise TypeError(
            f"a row is a dict from the names of columns to values, not {type(rows).__name__}; a "
            "frame is for model.predict"
        )
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} is not a dict, but of type {type(row).__name__}")
    return rows
