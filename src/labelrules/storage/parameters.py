"""Parameters of learners as values of a JSON document, checked when they are read."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from math import inf, isfinite
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator

from labelrules._checks import quoted, suggestion
from labelrules.constraints import Constraints
from labelrules.data import DataError
from labelrules.data.document import DocumentError, Record, at, converted, known
from labelrules.learners.base.estimator import TableClassifier
from labelrules.measures import Measure
from labelrules.rules import Rule, Theory
from labelrules.rules.json import INFERENCES
from labelrules.search.heads.size_bonus import (
    LogarithmicBonus,
    PeakBonus,
    RootBonus,
    kln,
    no_bonus,
    peak,
    root,
)

Learners: TypeAlias = Mapping[str, type[TableClassifier]]  # the learners that a file may name
DEEPEST = 8  # how many learners may stand in one another


class ValueRecord(Record):
    """A value that JSON has no form for, or a learner that is not fitted, by what it is made of."""

    kind: str
    parameters: dict[str, Any]


Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Plain: TypeAlias = bool | Whole | float | str | None
Parameter: TypeAlias = Plain | list[Plain | list[Plain]] | ValueRecord  # the value of a parameter
_VALUES: dict[str, Callable[..., Any]] = {  # by kind; any other kind is a learner
    "infinity": lambda: inf,
    "measure": lambda name: Measure.parse(name),
    "no_bonus": lambda: no_bonus,
    "kln": kln,
    "root": root,
    "peak": peak,
    **INFERENCES,
}

_KINDS: dict[type, str] = {  # of dataclasses, whose fields are the parameters
    LogarithmicBonus: "kln",
    RootBonus: "root",
    PeakBonus: "peak",
    **{made: kind for kind, made in INFERENCES.items()},
}


@cache
def parameters_type(learner: type[TableClassifier]) -> type[Record]:
    """The record of the parameters of a learner, all of which must be there."""
    fields = [(name, Parameter) for name in learner._get_param_names()]
    name = f"{learner.__name__}Parameters"
    return msgspec.defstruct(  # type: ignore[return-value]
        name, fields, bases=(Record,), forbid_unknown_fields=True
    )


def parameters_of(learner: TableClassifier) -> dict[str, Any]:
    """The parameters of a learner as values of a document.

    >>> from labelrules import LabelPowerset
    >>> parameters_of(LabelPowerset())
    {'base': None}
    """
    name, given = type(learner).__name__, learner.get_params(deep=False)
    return {key: _written(value, f"{key} of {name}", key) for key, value in given.items()}


def _written(value: Any, whose: str, key: str) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not isfinite(value):
        if value == inf:
            return ValueRecord("infinity", {})
        raise DataError(f"the parameter {whose} is {value}, which a file cannot hold")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_written(item, whose, key) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_written(item, whose, key) for item in value), key=str)
    if isinstance(value, Measure):
        return ValueRecord("measure", {"name": str(value)})
    if isinstance(value, TableClassifier):
        return ValueRecord(type(value).__name__, parameters_of(value))
    if value is no_bonus:
        return ValueRecord("no_bonus", {})
    if type(value) in _KINDS:
        fields = asdict(value)
        return ValueRecord(
            _KINDS[type(value)], {name: _written(one, whose, key) for name, one in fields.items()}
        )
    return _refuse(value, whose, key)


def _refuse(value: Any, whose: str, key: str) -> Any:
    what = "a function" if callable(value) else f"a {type(value).__name__}"
    advice = f"give it another value by set_params({key}=...) before the model is saved"
    if isinstance(value, FrozenEstimator):
        what = "a FrozenEstimator, fitted elsewhere"
        advice = "fit the base with the learner itself, or pickle the model"
    elif isinstance(value, BaseEstimator):
        advice = (
            "files hold rules only. Use a base that learns rules, such as Ripper() or "
            "SeparateAndConquer(); or pickle the model, as by joblib.dump, and load it only where "
            "the file is trusted"
        )
    elif isinstance(value, Theory | Rule | Constraints):
        advice = (
            "give the same rules as text in the rule language, such as "
            f"set_params({key}='a <- b'), before the model is saved"
        )
    raise DataError(f"the parameter {whose} is {what}, which a file cannot hold: {advice}")


def read_learner(
    name: str,
    parameters: dict[str, Any],
    learners: Learners,
    depth: int = 0,
    place: str = ".learner",
) -> TableClassifier:
    """A learner that is not fitted, whose parameters are checked as by `fit`."""
    if depth > DEEPEST:
        raise DocumentError(place, "learners are nested too deeply")
    if name not in learners and name.isidentifier() and not suggestion(name[:60], learners):
        raise DocumentError(
            place,
            f"there is no learner {quoted(name)}: if it is yours, register it by the decorator "
            f"labelrules.learners.register, or use load_model(path, learners=[{name[:60]}])",
        )
    learner = known(name, learners, "learner", place)
    with at(".parameters"):
        record = converted(parameters, parameters_type(learner))
        values = {}
        for key in record.__struct_fields__:
            with at(f".{key}"):
                values[key] = _read(getattr(record, key), learners, depth)
        made = learner(**values)
        made._check_parameters()
    return made


def _read(value: Any, learners: Learners, depth: int) -> Any:
    if isinstance(value, list):
        return tuple(_read(item, learners, depth) for item in value)
    if not isinstance(value, ValueRecord):
        return value
    if value.kind not in _VALUES:
        return read_learner(value.kind, value.parameters, learners, depth + 1, ".kind")
    with at(".parameters"):
        given = converted(value.parameters, dict[str, Whole | float | str | list[Whole] | None])
        made = _VALUES[value.kind](**given)
        if _written(made, "", "") != value:
            raise ValueError(f"{value.kind} has other parameters, or they are written otherwise")
    return made
