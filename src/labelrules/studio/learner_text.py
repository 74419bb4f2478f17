"""Learners that are not fitted as records and as Python text."""

from typing import Any

from labelrules.data.document import builtins_of
from labelrules.learners.registry import registered
from labelrules.storage.parameters import ValueRecord, parameters_of

_MADE_IN = {
    "kln": "labelrules.search",
    "no_bonus": "labelrules.search",
    "peak": "labelrules.search",
    "root": "labelrules.search",
}
"""Where names come from that are not learners."""

_INFERENCES = {
    "gibbs": "Gibbs",
    "label by label": "LabelByLabel",
    "once": "Once",
    "until stable": "UntilStable",
}


def expression(value: Any) -> str:
    """A learner, or the value of a parameter, in Python; it is known to be valid.

    Examples
    --------
    >>> from labelrules import SeparateAndConquer
    >>> expression(record_of(SeparateAndConquer(max_rules=3, measure="f0.5")))
    "SeparateAndConquer(max_rules=3, measure='f0.5')"
    """
    if isinstance(value, list):
        inner = ", ".join(map(expression, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        value = ValueRecord(**value)
    if not isinstance(value, ValueRecord):
        return repr(value)
    if value.kind == "infinity":
        return 'float("inf")'
    if value.kind == "measure":
        return repr(value.parameters["name"])
    if value.kind == "no_bonus":
        return value.kind
    name = _INFERENCES.get(value.kind, value.kind)
    usual = _usual_parameters(value.kind)
    given = [
        f"{key}={expression(one)}"
        for key, one in value.parameters.items()
        if key not in usual or usual[key] != one
    ]
    return f"{name}({', '.join(given)})"


def imports_of(value: Any) -> set[tuple[str, str]]:
    """The modules and names that the text of a value needs."""
    if isinstance(value, list):
        return set().union(*map(imports_of, value))
    if isinstance(value, ValueRecord):
        value = builtins_of(value)
    if not isinstance(value, dict) or value["kind"] in ("infinity", "measure"):
        return set()
    kind: str = value["kind"]
    module = "labelrules.rules" if kind in _INFERENCES else _MADE_IN.get(kind, "labelrules")
    found: set[tuple[str, str]] = {(module, _INFERENCES.get(kind, kind))}
    return found.union(*map(imports_of, value["parameters"].values()))


def record_of(learner: Any) -> ValueRecord:
    """A learner by its class and its parameters, as plain values."""
    return ValueRecord(type(learner).__name__, builtins_of(parameters_of(learner)))


def _usual_parameters(kind: str) -> dict[str, Any]:
    for learner in registered().values():
        if learner.__name__ == kind:
            return record_of(learner()).parameters
    return {}
