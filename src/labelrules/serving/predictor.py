"""Predictions of single rows, given as mappings from names to values."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats
from labelrules.data.schema import Schema
from labelrules.learners.base.estimator import TableClassifier, Target
from labelrules.rules.theory import Theory, theory_of
from labelrules.serving.engines import Engine, Row, engine_for


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
