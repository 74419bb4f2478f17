"""One learner on one division of the rows: its predictions, its measures and its size."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from labelrules._checks import quoted, suggestion
from labelrules._types import Board, Floats
from labelrules.data import Dataset
from labelrules.data.numeric import numeric_features
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import nested_fit
from labelrules.learners.registry import command_name, registered
from labelrules.measures import Measure, evaluate
from labelrules.measures.evaluation import RANKING, SMALLER_IS_BETTER, USUAL

Categories: TypeAlias = Literal["columns", "codes"]
"""How learners of other libraries get features with categories: see `as_numbers`."""

_NAMES = {name.casefold(): name for name in (*USUAL, *RANKING)}


@dataclass(frozen=True)
class FitMeasure:
    """A measure of finished predictions, by the name under which it is shown.

    Attributes
    ----------
    name : str
        Of a usual measure as `evaluate` names it, or the text of a `Measure`.
    measure : Measure or None
        None for one of the usual measures.
    """

    name: str
    measure: Measure | None = None

    @classmethod
    def of(cls, given: "str | Measure | FitMeasure") -> "FitMeasure":
        """The measure of a name or text; ``micro-F1`` may stand for ``micro F1``.

        >>> FitMeasure.of("micro-F1").name, FitMeasure.of("example-F1").name
        ('micro F1', 'samples F1')
        >>> FitMeasure.of("f1/micro").measure
        <Measure: f1/micro/partial>
        """
        if isinstance(given, FitMeasure):
            return given
        if isinstance(given, Measure):
            return cls(str(given), given)
        if not isinstance(given, str):
            raise ValueError(f"a measure must be a name or a Measure, not {given!r:.60}")
        usual = given.casefold().replace("-", " ").replace("example ", "samples ")
        if usual in _NAMES:
            return cls(_NAMES[usual])
        try:
            return cls(given, Measure.parse(given))
        except ValueError as wrong:
            near = suggestion(given.replace("-", " "), _NAMES.values())
            known = ", ".join(map(repr, _NAMES.values()))
            raise ValueError(f"measure: {wrong}; there are also {known}{near}") from None

    @property
    def higher_is_better(self) -> bool:
        """Whether greater values are better."""
        return self.name not in SMALLER_IS_BETTER

    @property
    def needs_scores(self) -> bool:
        """Whether it measures a ranking, by a number for each cell."""
        return self.name in RANKING


def fit_measures(given: Any) -> tuple[FitMeasure, ...]:
    """The measures of one name or several; each once."""
    is_one = isinstance(given, str | Measure | FitMeasure)
    if not is_one and not isinstance(given, Iterable):
        raise ValueError(f"measures must be names, or Measures, not {given!r:.60}")
    found = [FitMeasure.of(one) for one in ([given] if is_one else given)]
    if not found:
        raise ValueError("measures is empty: give at least one")
    names = [one.name for one in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"the measure {quoted(twice[0])} is given twice")
    return tuple(found)


def measured(
    measures: Iterable[FitMeasure], held: Dataset, predicted: Any, scores: Any = None
) -> dict[str, float]:
    """The values of measures on rows with their predictions, of those that are defined.

    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> measured(fit_measures(["subset accuracy", "f1/micro"]), readers, readers.Y)
    {'subset accuracy': 1.0, 'f1/micro': 1.0}
    """
    weights = held.weights
    usual: dict[str, float] = {}
    values: dict[str, float] = {}
    for one in measures:
        if one.measure is not None:
            values[one.name] = one.measure.of_predictions(held.Y, predicted, sample_weight=weights)
            continue
        usual = usual or evaluate(held.Y, predicted, scores, sample_weight=weights)
        if one.name in usual:
            values[one.name] = usual[one.name]
    return {name: float(value) for name, value in values.items() if np.isfinite(value)}


def learned(
    learner: Any, train: Dataset, categories: Categories = "columns", **options: Any
) -> Any:
    """A copy of the learner, fitted to rows; learners of other libraries get arrays.

    Weights of rows are given to `fit`; an error if it takes none. The parameter `progress` is
    False, for its bars would break that of the whole, and Ctrl-C ends the copy at once.
    """
    model = clone(learner, safe=False)
    if isinstance(model, TableClassifier):
        if "progress" in model.get_params(deep=False):
            model.set_params(progress=False)
        with nested_fit():
            return model.fit(train, **options)
    if train.n_unknown:
        raise ValueError(
            f"the data have {train.n_unknown:,} unknown labels, and {type(model).__name__} is a "
            "learner of another library, which needs to know all of them"
        )
    if train.weights is not None:
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(f"the rows have weights, which {type(model).__name__} does not take")
        options["sample_weight"] = np.array(train.weights)
    Y = train.Y.astype(np.int64)
    model.fit(as_numbers(train, categories), Y.ravel() if Y.shape[1] == 1 else Y, **options)
    return model


def predictions(model: Any, held: Dataset, categories: Categories = "columns") -> Board:
    """The predicted labels of rows, rows by labels."""
    if isinstance(model, TableClassifier):
        return np.asarray(model.predict(held))
    found: Board = _by_labels(model.predict(as_numbers(held, categories)), held)
    return found


def presence_scores(model: Any, held: Dataset, categories: Categories = "columns") -> Floats:
    """For each row and label a number, greater where the label is more likely to be present."""
    if isinstance(model, TableClassifier):
        return np.asarray(model.predict_proba(held))
    X, n_labels = as_numbers(held, categories), held.schema.n_labels
    if hasattr(model, "predict_proba"):
        found, classes = model.predict_proba(X), getattr(model, "classes_", None)
        if isinstance(found, list):  # of each label, the probability of each of its classes
            columns = [_of_presence(*one) for one in zip(found, classes or (), strict=True)]
            return np.column_stack(columns)
        if n_labels == 1 and np.ndim(found) == 2 and classes is not None:
            return _of_presence(found, classes).reshape(-1, 1)
        return np.asarray(_by_labels(found, held))
    if hasattr(model, "decision_function"):
        return np.asarray(_by_labels(model.decision_function(X), held))
    raise ValueError(
        f"{type(model).__name__} has neither predict_proba nor decision_function, which measures "
        "of a ranking need: leave them out"
    )


def _of_presence(probabilities: Any, classes: Any) -> Floats:
    """The probability of the class 1, which was perhaps in no row."""
    places = np.flatnonzero(np.asarray(classes) == 1)
    array = np.asarray(probabilities, dtype=np.float64)
    return array[:, places[0]] if places.size else np.zeros(len(array))


def _by_labels(found: Any, held: Dataset) -> Any:
    """An array, rows by labels, of what a learner predicts."""
    array = np.asarray(found.toarray() if hasattr(found, "toarray") else found)
    is_column = held.schema.n_labels == 1 and array.ndim == 1
    return array.reshape(-1, 1) if is_column else array


def as_numbers(data: Dataset, categories: Categories = "columns") -> Any:
    """The features as an array of numbers that may be written to; a CSR array where X is sparse.

    They are those of `numeric_features`, or with ``categories="codes"`` one column for each
    feature, which has the number of its category, NaN where it is missing.

    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> [len(feature.categories) for feature in readers.schema.features]
    [3, 3, 2, 2]
    >>> as_numbers(readers).shape, as_numbers(readers, "codes").shape
    ((14, 8), (14, 4))
    """
    X = data.X if categories == "codes" else numeric_features(data)
    return sparse.csr_array(X) if sparse.issparse(X) else np.array(X, order="C")


def literals_of(model: Any) -> int | None:
    """The literals of a fitted learner, of all theories that vote; None if it has no rules.

    Learners of other libraries may say it by an attribute `n_literals`.

    >>> from labelrules import SeparateAndConquer, load
    >>> literals_of(SeparateAndConquer(max_rules=1).fit(load("magazines")))
    2
    """
    return _size_of(model, "n_literals", lambda theory: theory.n_literals)


def rule_count(model: Any) -> int | None:
    """The number of rules of a fitted learner, as `literals_of` counts; None if it has none.

    >>> from labelrules import SeparateAndConquer, load
    >>> rule_count(SeparateAndConquer(max_rules=1).fit(load("magazines")))
    1
    """
    return _size_of(model, "n_rules", len)


def _size_of(model: Any, attribute: str, size: Callable[[Any], int]) -> int | None:
    """What a learner says of itself, or the sum over its theories; None without any."""
    said = getattr(model, attribute, None)
    if said is not None:
        return int(said() if callable(said) else said)
    own = [model.theory_] if hasattr(model, "theory_") else getattr(model, "theories_", None)
    return sum(int(size(one)) for one in own) if own else None


# --------------------------------------------------------------------------- what is given


def refuse_cell_weights(data: Dataset) -> None:
    """Refuse weights of cells: measures take one weight per row."""
    if data.weights is not None and data.weights.ndim == 2:
        raise ValueError(
            "the data have weights of cells, and measures take one weight per row: give such data "
            "to fit, and compare predictions on data with one weight per row, or none"
        )


def by_name(
    given: Any, what: str, nouns: str, name_of: Callable[[Any], Any], check: Callable[..., Any]
) -> dict[str, Any]:
    """Things by name, from a dict, or from a list in which each has a name of its own.

    `check` gets the name and the thing, and returns what is kept.
    """
    if isinstance(given, str | Dataset) or not isinstance(given, Iterable):
        raise ValueError(
            f"{what} must be a dict from names to {nouns}, or a list of {nouns}, not {given!r:.60}"
        )
    pairs = given.items() if isinstance(given, Mapping) else ((name_of(one), one) for one in given)
    found: dict[str, Any] = {}
    for name, one in pairs:
        if str(name) in found:
            raise ValueError(f"two {nouns} are called {quoted(name)}: name them by a dict")
        found[str(name)] = check(str(name), one)
    if not found:
        raise ValueError(f"{what} is empty: give at least one")
    return found


def named_learners(
    given: Any, known: Callable[[], Mapping[str, Any]] = registered
) -> dict[str, Any]:
    """Learners by name: estimators, or names of registered learners, of which messages name some.

    >>> named_learners(["ripper"])
    {'ripper': Ripper()}
    """

    def checked(_: str, learner: Any) -> Any:
        if isinstance(learner, str):
            if learner not in registered():
                near = suggestion(learner, registered()) or f"; there are {', '.join(known())}"
                raise ValueError(f"there is no learner {quoted(learner)}{near}")
            return registered()[learner]()
        missing = [name for name in ("fit", "predict") if not hasattr(learner, name)]
        if isinstance(learner, type) or missing:
            made = f": write {learner.__name__}()" if isinstance(learner, type) else ""
            raise ValueError(
                f"a learner must be an object with fit and predict, not {learner!r:.60}{made}"
            )
        return learner

    return by_name(given, "learners", "learners", _name_of_learner, checked)


def _name_of_learner(learner: Any) -> str:
    return learner if isinstance(learner, str) else command_name(type(learner))
