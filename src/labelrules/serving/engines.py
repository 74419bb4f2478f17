"""How single rows are predicted: by rules as a Python function, or by the model itself."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from labelrules._checks import suggestion
from labelrules._types import Board
from labelrules.data.errors import DataError
from labelrules.data.memory.columns import are_truth_words
from labelrules.data.memory.encoding import cell_readers
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset, checked_dataset
from labelrules.export.plan import Plan, used_features
from labelrules.export.programs import to_python
from labelrules.learners.base.estimator import TableClassifier
from labelrules.rules.inference import Gibbs
from labelrules.rules.theory import Theory

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
