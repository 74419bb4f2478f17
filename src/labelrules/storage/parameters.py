"""Parameters of learners as values of a JSON document, checked when they are read."""

from collections.abc import Mapping
from functools import cache
from math import inf, isnan
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator

from labelrules._messages import quoted, suggestion
from labelrules.data import DataError
from labelrules.data.document import DocumentError, Record, at, converted, known
from labelrules.discovery import Constraints
from labelrules.learners.table import TableClassifier
from labelrules.measures import Measure
from labelrules.rules import Rule, Theory
from labelrules.rules.inference import Inference
from labelrules.rules.json import InferenceRecord, inference_record, read_inference
from labelrules.search.lift import LogarithmicLift, PeakLift, RootLift, kln, no_lift, peak, root

Learners: TypeAlias = Mapping[str, type[TableClassifier]]
"""The learners that a file may name."""

DEEPEST = 8
"""How many learners may stand in one another."""

Positive = Annotated[float, Meta(gt=0, le=2**53)]
Size = Annotated[int, Meta(ge=1, le=2**53)]


class InfinityRecord(Record, tag="infinity", tag_field="kind"):
    """A number without limit."""


class MeasureRecord(Record, tag="measure", tag_field="kind"):
    """A measure by its name."""

    name: str


class NoLiftRecord(Record, tag="no lift", tag_field="kind"):
    """Head size does not matter."""


class LogarithmicLiftRecord(Record, tag="logarithmic lift", tag_field="kind"):
    """A factor of 1 + a ln k for heads of size k."""

    a: Positive


class RootLiftRecord(Record, tag="root lift", tag_field="kind"):
    """A factor of k to the power 1/a for heads of size k."""

    a: Positive


class PeakLiftRecord(Record, tag="peak lift", tag_field="kind"):
    """A factor that rises from 1 to `lift` at a size, then falls to 1 at `n_labels`."""

    size: Size
    lift: Positive
    n_labels: Size
    curvature: Positive


class LearnerRecord(Record, tag="learner", tag_field="kind"):
    """A learner that is not fitted."""

    learner: str
    parameters: dict[str, Any]


LiftRecord: TypeAlias = NoLiftRecord | LogarithmicLiftRecord | RootLiftRecord | PeakLiftRecord
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Plain: TypeAlias = bool | Whole | float | str | None
Parameter: TypeAlias = (
    Plain
    | list[Plain | list[Plain]]
    | InfinityRecord
    | MeasureRecord
    | InferenceRecord
    | LiftRecord
    | LearnerRecord
)
"""The value of a parameter."""


@cache
def parameters_type(learner: type[TableClassifier]) -> type[Record]:
    """The record of the parameters of a learner, all of which must be there."""
    fields = [(name, Parameter) for name in learner._get_param_names()]
    name = f"{learner.__name__}Parameters"
    return msgspec.defstruct(  # type: ignore[return-value]
        name, fields, bases=(Record,), forbid_unknown_fields=True
    )


# ---------------------------------------------------------------- writing


def parameters_of(learner: TableClassifier) -> dict[str, Any]:
    """The parameters of a learner as values of a document.

    Examples
    --------
    >>> from labelrules import LabelPowerset
    >>> parameters_of(LabelPowerset())
    {'base': None}
    """
    name, given = type(learner).__name__, learner.get_params(deep=False)
    return {key: _written(value, f"{key} of {name}", key) for key, value in given.items()}


def _written(value: Any, whose: str, key: str) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and (value in (inf, -inf) or isnan(value)):
        if value == inf:
            return InfinityRecord()
        raise DataError(f"the parameter {whose} is {value}, which a file cannot hold")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_written(item, whose, key) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_written(item, whose, key) for item in value), key=str)
    if isinstance(value, Measure):
        return MeasureRecord(str(value))
    if isinstance(value, Inference):
        return inference_record(value)
    if isinstance(value, TableClassifier):
        return LearnerRecord(type(value).__name__, parameters_of(value))
    return _written_lift(value) or _refuse(value, whose, key)


def _written_lift(lift: Any) -> LiftRecord | None:
    if isinstance(lift, PeakLift):
        return PeakLiftRecord(lift.size, lift.lift, lift.n_labels, lift.curvature)
    if isinstance(lift, LogarithmicLift):
        return LogarithmicLiftRecord(lift.a)
    if isinstance(lift, RootLift):
        return RootLiftRecord(lift.a)
    return NoLiftRecord() if lift is no_lift else None


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


# ---------------------------------------------------------------- reading


def read_learner(
    name: str, parameters: dict[str, Any], learners: Learners, depth: int = 0
) -> TableClassifier:
    """A learner that is not fitted, whose parameters are checked as by `fit`."""
    if depth > DEEPEST:
        raise DocumentError(".learner", "too many learners stand in one another")
    if name not in learners and name.isidentifier() and not suggestion(name[:60], learners):
        raise DocumentError(
            ".learner",
            f"there is no learner {quoted(name)}: if it is yours, register it by the decorator "
            f"labelrules.learners.register, or use load_model(path, learners=[{name[:60]}])",
        )
    learner = known(name, learners, "learner", ".learner")
    with at(".parameters"):
        record = converted(parameters, parameters_type(learner))
        values = {}
        for key, value in msgspec.structs.asdict(record).items():
            with at(f".{key}"):
                values[key] = _read(value, learners, depth)
        made = learner(**values)
        made._check_parameters()
    return made


def _read(value: Any, learners: Learners, depth: int) -> Any:
    if isinstance(value, list):
        return tuple(_read(item, learners, depth) for item in value)
    if isinstance(value, LearnerRecord):
        return read_learner(value.learner, value.parameters, learners, depth + 1)
    if isinstance(value, MeasureRecord):
        measure = Measure.parse(value.name)
        if str(measure) != value.name:
            raise DocumentError(".name", f"must be written {str(measure)!r}")
        return measure
    if isinstance(value, InferenceRecord):
        return read_inference(value)
    if isinstance(value, Record):
        return inf if isinstance(value, InfinityRecord) else _read_lift(value)
    return value


def _read_lift(record: Any) -> Any:
    if isinstance(record, PeakLiftRecord):
        return peak(record.size, record.lift, record.n_labels, record.curvature)
    if isinstance(record, LogarithmicLiftRecord):
        return kln(record.a)
    return root(record.a) if isinstance(record, RootLiftRecord) else no_lift
