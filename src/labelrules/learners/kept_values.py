"""Parameters of learners as plain values of a JSON document, and back."""

from collections.abc import Mapping
from math import inf
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from labelrules.data import DataError, Schema
from labelrules.data.document import Node
from labelrules.discovery import Constraints
from labelrules.discovery.binning import checked_binning
from labelrules.discovery.limits import minimum_count
from labelrules.learners.associative.classifier import AssociativeClassifier
from labelrules.learners.associative.lazy import checked_number
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.per_label import LabelwiseClassifier, checked_last_resort
from labelrules.learners.base.progress import needed, truth, whole
from labelrules.learners.base.theory_classifier import RuleClassifier, check_smoothing
from labelrules.learners.binary_relevance import BinaryRelevance
from labelrules.learners.chain import WORDS, ClassifierChain
from labelrules.learners.constrained import ConstrainedClassifier, check_way
from labelrules.learners.covering.learner import SeparateAndConquer
from labelrules.learners.covering.settings import checked_settings
from labelrules.learners.powerset import LabelPowerset
from labelrules.learners.ripper.learner import Ripper, ripper_settings
from labelrules.learners.stacked import StackedBinaryRelevance
from labelrules.learners.voted.learner import VotedRules
from labelrules.measures import Measure
from labelrules.rules import Rule, Theory
from labelrules.rules.inference import Inference
from labelrules.rules.json import inference_document, read_inference
from labelrules.search.heads.size_bonus import (
    LogarithmicBonus,
    PeakBonus,
    RootBonus,
    kln,
    no_bonus,
    peak,
    root,
)

LearnerTable: TypeAlias = Mapping[str, type[TableClassifier]]
"""The learners that a file may name."""

OURS: LearnerTable = {
    learner.__name__: learner
    for learner in (
        AssociativeClassifier,
        BinaryRelevance,
        ClassifierChain,
        ConstrainedClassifier,
        LabelPowerset,
        Ripper,
        SeparateAndConquer,
        StackedBinaryRelevance,
        VotedRules,
    )
}
"""The learners of this library."""

DEEPEST = 8
"""How many learners may stand in one another, and lists in lists."""

_LIFTS = ("none", "kln", "root", "peak")
_TINY = Schema([], ["label"])


# ---------------------------------------------------------------- writing


def learner_document(learner: Any) -> dict[str, Any]:
    """The name of a learner and its parameters.

    Examples
    --------
    >>> learner_document(LabelPowerset())
    {'learner': 'LabelPowerset', 'parameters': {'base': None}}
    """
    name = type(learner).__name__
    parameters = learner.get_params(deep=False)
    return {
        "learner": name,
        "parameters": {key: _plain(value, name, key) for key, value in parameters.items()},
    }


def _plain(value: Any, learner: str, parameter: str) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"number": "infinity"} if value == inf else value
    if isinstance(value, list | tuple):
        return [_plain(item, learner, parameter) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(item, learner, parameter) for item in value), key=str)
    if isinstance(value, Measure):
        return {"measure": str(value)}
    if isinstance(value, Inference):
        return {"inference": inference_document(value, _Numbers())}
    if isinstance(value, LogarithmicBonus | RootBonus | PeakBonus) or value is no_bonus:
        return _lift_document(value)
    if isinstance(value, TableClassifier):
        return learner_document(value)
    return _refuse(value, learner, parameter)


class _Numbers(tuple[int, ...]):
    """Labels that are called by their numbers."""

    def __getitem__(self, label: Any) -> Any:
        return label


def _lift_document(lift: Any) -> dict[str, Any]:
    if isinstance(lift, PeakBonus):
        numbers = {"size": lift.size, "lift": lift.factor, "n_labels": lift.n_labels}
        return {"lift": "peak", "numbers": {**numbers, "curvature": lift.curvature}}
    if isinstance(lift, LogarithmicBonus | RootBonus):
        name = "kln" if isinstance(lift, LogarithmicBonus) else "root"
        return {"lift": name, "numbers": {"a": lift.a}}
    return {"lift": "none", "numbers": {}}


def _refuse(value: Any, learner: str, parameter: str) -> Any:
    if isinstance(value, BaseEstimator):
        raise DataError(
            f"the parameter {parameter} of {learner} is a {type(value).__name__}, which is no "
            "learner of rules: a file of rules cannot hold it. Use a base that learns rules, such "
            "as Ripper() or SeparateAndConquer(), or pickle the model"
        )
    if isinstance(value, Theory | Rule | Constraints):
        raise DataError(
            f"the parameter {parameter} of {learner} is a {type(value).__name__}, which a file "
            "holds as text only: before the model is saved, give the same rules in the rule "
            f"language, such as set_params({parameter}='a <- b')"
        )
    what = "a function" if callable(value) else f"a {type(value).__name__}"
    raise DataError(
        f"the parameter {parameter} of {learner} is {what}, which a file does not hold: give it "
        f"another value by set_params({parameter}=...) before the model is saved"
    )


# ---------------------------------------------------------------- reading


def read_learner(node: Node, table: LearnerTable, depth: int = 0) -> TableClassifier:
    """A learner that is not fitted, by its fields "learner" and "parameters"."""
    if depth > DEEPEST:
        node.refuse("too many learners stand in one another")
    learner = _known(node.field("learner"), table)
    given = node.field("parameters")
    names = learner._get_param_names()
    fields = given.fields(*names)
    parameters = {name: _value(field, table, depth) for name, field in fields.items()}
    with given.blamed():
        made: TableClassifier = learner(**parameters)
        check_parameters(made)
    return made


def _known(node: Node, table: LearnerTable) -> Any:
    name = node.text()
    if name not in table and name.isidentifier():
        node.refuse(
            f"{name[:60]!r} is no learner of labelrules: if it is one of yours, give its class, "
            f"as in restore(path, learners=[{name[:60]}])"
        )
    return node.one_of(table, "learner")


def _value(node: Node, table: LearnerTable, depth: int) -> Any:
    value = node.value
    if isinstance(value, list):
        if depth > DEEPEST:
            node.refuse("too many lists stand in one another")
        return tuple(_value(item, table, depth + 1) for item in node.items())
    if isinstance(value, dict):
        return _tagged(node, table, depth)
    if isinstance(value, str):
        return node.text()
    if value is None or isinstance(value, bool):
        return value
    return node.whole(-(2**63)) if isinstance(value, int) else node.number()


def _tagged(node: Node, table: LearnerTable, depth: int) -> Any:
    """A value that JSON has no form for; its first field says what it is."""
    if node.has("learner"):
        node.fields("learner", "parameters")
        return read_learner(node, table, depth + 1)
    if node.has("measure"):
        field = node.fields("measure")["measure"]
        with field.blamed():
            measure = Measure.parse(field.text())
        if str(measure) != field.value:
            field.refuse(f"must be written {str(measure)!r}")
        return measure
    if node.has("inference"):
        return read_inference(node.fields("inference")["inference"], _whole_numbers)
    if node.has("lift"):
        return _lift(node)
    node.fields("number")["number"].word(("infinity",), "number")
    return inf


def _whole_numbers(node: Node) -> list[int]:
    return [item.whole() for item in node.items()]


def _lift(node: Node) -> Any:
    fields = node.fields("lift", "numbers")
    name, numbers = fields["lift"].word(_LIFTS, "lift"), fields["numbers"]
    with node.blamed():
        if name == "none":
            numbers.fields()
            return no_bonus
        if name == "peak":
            given = numbers.fields("size", "lift", "n_labels", "curvature")
            size, n_labels = given["size"].whole(), given["n_labels"].whole()
            return peak(size, given["lift"].number(), n_labels, given["curvature"].number())
        a = numbers.fields("a")["a"].number()
        return kln(a) if name == "kln" else root(a)


# ---------------------------------------------------------------- checking


def check_parameters(learner: TableClassifier) -> None:
    """Refuse parameters with which a learner of this library could not learn."""
    base = learner.get_params(deep=False).get("base")
    if not (base is None or isinstance(base, TableClassifier)):
        raise ValueError("base must be a learner, or null")
    for name in ("progress", "warm_start"):
        if not isinstance(getattr(learner, name, False), bool):
            raise ValueError(f"{name} must be true or false")
    if isinstance(learner, RuleClassifier):
        check_smoothing(learner.smoothing)
    if type(learner) is SeparateAndConquer:
        _check_covering(learner)
    elif type(learner) is Ripper:
        ripper_settings(learner)
    elif type(learner) is AssociativeClassifier:
        _check_associative(learner)
    elif type(learner) is VotedRules:
        learner._check()
        check_random_state(learner.random_state)
    elif type(learner) is ConstrainedClassifier:
        _check_constrained(learner)
    elif isinstance(learner, LabelwiseClassifier):
        _check_labelwise(learner)


def _check_covering(learner: SeparateAndConquer) -> None:
    for name in ("required", "forbidden"):
        wishes = getattr(learner, name)
        if not isinstance(wishes, tuple):
            raise ValueError(f"{name} must be a list")
        for wish in wishes:
            pair = wish if isinstance(wish, tuple) else (wish,)
            if not (len(pair) in (1, 2) and all(isinstance(part, str) for part in pair)):
                raise ValueError(f"{name} must name features, or pairs of labels")
    # Which columns there are is for the data to say; the rest is checked as `fit` does it.
    rest = {**learner.get_params(deep=False), "required": (), "forbidden": ()}
    checked_settings(SeparateAndConquer(**rest), _TINY)


def _check_associative(learner: AssociativeClassifier) -> None:
    learner._check()
    truth(learner, "productive")
    checked_number("min_confidence", learner.min_confidence, 1.0)
    minimum_count(learner.min_support, n_rows=1)
    checked_binning(learner.bins, learner.n_bins)
    if learner.bins is None:
        raise ValueError("bins must say how numeric features are cut")


def _check_constrained(learner: ConstrainedClassifier) -> None:
    check_way(learner.by)
    given = learner.constraints
    texts = given if isinstance(given, tuple) else (given,)
    if not (given is None or all(isinstance(text, str) for text in texts)):
        raise ValueError("constraints must be text, a list of texts, or null")
    if truth(learner, "learn"):
        needed(whole(learner, "max_body", 1), "max_body")
        # The rest is checked as `fit` does it, without a long search.
        short = ConstrainedClassifier(**{**learner.get_params(deep=False), "max_body": 1})
        short._found(_TINY, np.zeros((2, 1), dtype=np.int8))


def _check_labelwise(learner: LabelwiseClassifier) -> None:
    checked_last_resort(learner.last_resort)
    if not (learner.n_jobs is None or (type(learner.n_jobs) is int and learner.n_jobs)):
        raise ValueError("n_jobs must be a number of workers, or null")
    if isinstance(learner, StackedBinaryRelevance):
        learner._checked_way()
    if isinstance(learner, ClassifierChain):
        check_random_state(learner.random_state)
        order = learner.order
        if isinstance(order, str):
            if order not in WORDS:
                raise ValueError(f"order must be {', '.join(map(repr, WORDS))} or labels")
        elif not all(type(label) in (int, str) for label in order):
            raise ValueError("order must name labels, or give their numbers")
        learner._check()
