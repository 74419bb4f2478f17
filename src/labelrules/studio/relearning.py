"""Learn rules again after those that are kept; learners as records and as Python text."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from labelrules._types import UNSET
from labelrules.data import Dataset
from labelrules.data.document import builtins_of
from labelrules.learners import RuleClassifier, SeparateAndConquer
from labelrules.learners.base.progress import Listener, nested_fit
from labelrules.learners.base.size import within_literals
from labelrules.learners.registry import registered
from labelrules.rules import DecisionList, LayeredTheory, Theory
from labelrules.storage.parameters import ValueRecord, parameters_of
from labelrules.studio.edited_rules import KeptRules
from labelrules.studio.knowledge import Knowledge, guarded, without_breaking

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


class LearningCancelledError(Exception):
    """Learning was cancelled by the function that is called with its progress."""


def checked_learner(learner: Any, model: Any) -> RuleClassifier:
    """The learner that goes on from rules: the given one, that of the model, or the usual one."""
    if learner is None:
        if isinstance(model, RuleClassifier):
            return _as_given(model)
        last_resort = getattr(model, "last_resort", None)
        return (
            SeparateAndConquer() if model is None else SeparateAndConquer(last_resort=last_resort)
        )
    if not isinstance(learner, RuleClassifier):
        raise ValueError(
            f"learner must be a learner that can go on from rules, such as SeparateAndConquer(), "
            f"not {learner!r:.60}"
        )
    return _as_given(learner)


def _as_given(learner: RuleClassifier) -> RuleClassifier:
    """A copy that is not fitted; how it reports is not part of it."""
    copy: RuleClassifier = clone(learner)
    parameters = copy.get_params(deep=False)
    quiet = {"progress": False, "warm_start": False}
    copy.set_params(**{name: value for name, value in quiet.items() if name in parameters})
    if parameters.get("order") == "prepend":
        raise ValueError(
            "a learner with order='prepend' puts new rules in front of those that are kept: use "
            "order='append'"
        )
    return copy


def learn_again(
    kept: KeptRules,
    data: Dataset,
    learner: RuleClassifier,
    knowledge: Knowledge,
    listener: Callable[[Any], object] | None = None,
) -> Theory:
    """The new rules only: a list, perhaps with rules for rows without labels."""
    _check_settings(learner, knowledge, kept)
    told = _told(learner, knowledge, kept.n_rules - len(kept.prefix))
    if kept.labels is not None or kept.after:
        told = _without_end(told, keep_last=kept.labels is None)
    new = _learned_after(kept, data, told, learner, knowledge, listener)
    if knowledge.max_rules is None:
        return new
    room = knowledge.max_rules - kept.n_rules
    while (excess := len(_list_of(new)) - room) > 0:  # by guards of constraints, or a default rule
        told = _with_fewer_rules(told, excess, kept, knowledge)
        new = _learned_after(kept, data, told, learner, knowledge, listener)
    return new


def _learned_after(
    kept: KeptRules,
    data: Dataset,
    told: RuleClassifier,
    learner: RuleClassifier,
    knowledge: Knowledge,
    listener: Callable[[Any], object] | None,
) -> Theory:
    """The new rules by a learner that was told all, with guards."""
    rows = data
    if kept.labels is not None:
        others = np.setdiff1d(np.arange(data.schema.n_labels), kept.labels)
        Y = data.Y.copy()
        Y[:, others] = UNSET  # what is unknown does not count, neither for rules nor against them
        rows = replace(data, Y=Y)
    prefix = start = kept.prefix
    if knowledge.preferred:
        start = _list_of(_fitted(_preferring(told, knowledge, data), rows, prefix, listener))
    learned = _fitted(told, rows, start, listener)
    new = _new_rules(_within(learned, rows, learner, knowledge, prefix), len(prefix))
    return _constrained(new, prefix, knowledge) if knowledge.constraints else new


def _with_fewer_rules(
    told: RuleClassifier, excess: int, kept: KeptRules, knowledge: Knowledge
) -> RuleClassifier:
    """The learner with a limit that is lower by so many rules, or without a default rule."""
    fewer: RuleClassifier = clone(told)
    parameters, least = told.get_params(deep=False), len(kept.prefix)
    if parameters["max_rules"] > least:
        return fewer.set_params(max_rules=max(parameters["max_rules"] - excess, least))  # type: ignore[no-any-return]
    if parameters["default_rule"] is not False:
        return fewer.set_params(default_rule=False)  # type: ignore[no-any-return]
    raise ValueError(
        f"max_rules={knowledge.max_rules} is {excess} less than the rules that are kept, and those "
        "that keep the constraints"
    )


def _fitted(learner: RuleClassifier, data: Dataset, prefix: DecisionList, listener: Any) -> Theory:
    """The theory that is learned after a prefix; Ctrl-C ends it without a result."""
    if listener is not None and "progress" in learner.get_params(deep=False):
        learner.set_params(progress=_cancelling(listener))
    with nested_fit():
        return learner.fit(data, theory=prefix).theory_  # type: ignore[no-any-return]


def _cancelling(listener: Callable[[Any], object]) -> Listener:
    def heard(report: Any) -> None:
        if listener(report) is False:
            raise LearningCancelledError("learning was cancelled: the rules are as they were")

    return heard


def _check_settings(learner: RuleClassifier, knowledge: Knowledge, kept: KeptRules) -> None:
    name, parameters = type(learner).__name__, learner.get_params(deep=False)
    needed = {
        "forbidden": bool(knowledge.forbidden or knowledge.preferred),
        "max_conditions": knowledge.max_conditions is not None,
        "max_rules": knowledge.max_rules is not None,
        "label_conditions": kept.labels is not None or bool(knowledge.max_literals),
    }
    for setting, is_needed in needed.items():
        if is_needed and not (setting in parameters and isinstance(learner, SeparateAndConquer)):
            raise ValueError(
                f"{name} can only learn all labels again, without knowledge: use "
                "learner=SeparateAndConquer()"
            )
    if knowledge.max_rules is not None and knowledge.max_rules < kept.n_rules:
        raise ValueError(
            f"max_rules={knowledge.max_rules} is less than the {kept.n_rules} rules that are kept"
        )


def _told(learner: RuleClassifier, knowledge: Knowledge, n_after: int) -> RuleClassifier:
    """The learner with what it is told; so many rules that are kept follow the new ones."""
    told: RuleClassifier = clone(learner)
    if knowledge.max_conditions is not None:
        told.set_params(max_conditions=knowledge.max_conditions)
    if knowledge.max_rules is not None:
        told.set_params(max_rules=knowledge.max_rules - n_after)
    if knowledge.forbidden:
        told.set_params(forbidden=(*told.get_params()["forbidden"], *knowledge.forbidden))
    if isinstance(told, SeparateAndConquer):
        told.set_params(max_literals=None)  # which might leave out rules that are kept
    return told


def _preferring(told: RuleClassifier, knowledge: Knowledge, data: Dataset) -> RuleClassifier:
    """A learner that tests no features but the preferred ones, and leaves the end to others."""
    schema = data.schema
    for name in knowledge.preferred:
        if name not in schema.feature_index:
            raise ValueError(f"preferred: there is no feature {name!r}")
    others = [name for name in schema.feature_names if name not in knowledge.preferred]
    narrow = _without_end(told, keep_last=False)
    return narrow.set_params(forbidden=(*told.get_params()["forbidden"], *others))  # type: ignore[no-any-return]


def _without_end(learner: RuleClassifier, keep_last: bool) -> RuleClassifier:
    """The learner without a rule for all rows, and perhaps none for rows without a label."""
    other: RuleClassifier = clone(learner)
    if not isinstance(other, SeparateAndConquer):
        return other
    other.set_params(default_rule=False)
    return other if keep_last else other.set_params(last_resort=None)


def _within(
    learned: Theory, data: Dataset, learner: Any, knowledge: Knowledge, prefix: DecisionList
) -> Theory:
    """The theory without its least useful new rules, so that it is no larger than wanted."""
    own = getattr(learner, "max_literals", None)
    limits = [] if own is None else [own]
    if knowledge.max_literals is not None:
        limits.append(prefix.n_literals + knowledge.max_literals)
    if not limits:
        return learned
    counted: Any = learned.with_evidence(data, data.Y)  # type: ignore[attr-defined]
    return within_literals(counted, data, min(limits), n_kept=len(prefix))


def _constrained(new: Theory, prefix: DecisionList, knowledge: Knowledge) -> Theory:
    """The new rules with guards, by which they satisfy the constraints."""
    schema, texts = new.schema, knowledge.constraints
    rules = DecisionList(schema, guarded(prefix, _list_of(new), texts, schema))
    if not isinstance(new, LayeredTheory):
        return rules
    last = without_breaking(new.fallback or (), texts, schema)
    fallback = DecisionList(schema, last) if last else None
    return LayeredTheory(schema, [rules], fallback=fallback)


def _list_of(theory: Theory) -> DecisionList:
    return theory.layers[0] if isinstance(theory, LayeredTheory) else theory  # type: ignore[return-value]


def _new_rules(theory: Theory, n_kept: int) -> Theory:
    """The rules behind those that are kept."""
    new = _list_of(theory)[n_kept:]
    if isinstance(theory, LayeredTheory):
        return LayeredTheory(theory.schema, [new], fallback=theory.fallback)
    return new
