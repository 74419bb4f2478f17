"""Learn rules again after those that are kept; learners as records and as Python text."""

from collections.abc import Callable
from dataclasses import dataclass, replace
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
    """The learner that goes on from rules: as given, of the model, or the usual one."""
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


@dataclass(frozen=True)
class Relearning:
    """Learning again, after rules that are kept, by a learner that is told what a person knows."""

    kept: KeptRules
    data: Dataset
    learner: RuleClassifier
    knowledge: Knowledge
    listener: Callable[[Any], object] | None = None

    def new_rules(self) -> Theory:
        """The new rules only: a list, perhaps with rules for rows without labels."""
        self._check_settings()
        told, most = self._told(), self.knowledge.max_rules
        new = self._learned(told)
        if most is None:
            return new
        room = most - self.kept.n_rules
        while (excess := len(_list_of(new)) - room) > 0:  # by guards, or a default rule
            told = self._with_fewer_rules(told, excess)
            new = self._learned(told)
        return new

    def _check_settings(self) -> None:
        knowledge, kept, learner = self.knowledge, self.kept, self.learner
        parameters = learner.get_params(deep=False)
        needed = {
            "forbidden": bool(knowledge.forbidden or knowledge.preferred),
            "max_conditions": knowledge.max_conditions is not None,
            "max_rules": knowledge.max_rules is not None,
            "label_conditions": kept.labels is not None or bool(knowledge.max_literals),
        }
        is_covering = isinstance(learner, SeparateAndConquer)
        if any(is_needed and not (name in parameters and is_covering)
               for name, is_needed in needed.items()):  # fmt: skip
            raise ValueError(
                f"{type(learner).__name__} can only learn all labels again, without knowledge: use "
                "learner=SeparateAndConquer()"
            )
        if knowledge.max_rules is not None and knowledge.max_rules < kept.n_rules:
            raise ValueError(
                f"max_rules={knowledge.max_rules} is less than the {kept.n_rules} rules that are "
                "kept"
            )

    def _told(self) -> RuleClassifier:
        """The learner with the knowledge; it leaves the end of the list to others if that stays."""
        knowledge, kept = self.knowledge, self.kept
        told: RuleClassifier = clone(self.learner)
        if knowledge.max_conditions is not None:
            told.set_params(max_conditions=knowledge.max_conditions)
        if knowledge.max_rules is not None:
            told.set_params(max_rules=knowledge.max_rules - (kept.n_rules - len(kept.prefix)))
        if knowledge.forbidden:
            told.set_params(forbidden=(*told.get_params()["forbidden"], *knowledge.forbidden))
        if isinstance(told, SeparateAndConquer):
            told.set_params(max_literals=None)  # which might leave out rules that are kept
        if kept.labels is not None or kept.after:
            told = _without_end(told, keep_last=kept.labels is None)
        return told

    def _learned(self, told: RuleClassifier) -> Theory:
        """The new rules by a learner that was told all, with guards."""
        kept, rows = self.kept, self.data
        if kept.labels is not None:
            others = np.setdiff1d(np.arange(rows.schema.n_labels), kept.labels)
            Y = rows.Y.copy()
            Y[:, others] = UNSET  # what is unknown counts neither for rules nor against them
            rows = replace(rows, Y=Y)
        prefix = start = kept.prefix
        if self.knowledge.preferred:
            start = _list_of(self._fitted(self._preferring(told), rows, prefix))
        learned = self._within(self._fitted(told, rows, start), rows)
        new = _new_rules(learned, len(prefix))
        return self._constrained(new) if self.knowledge.constraints else new

    def _with_fewer_rules(self, told: RuleClassifier, excess: int) -> RuleClassifier:
        """The learner with a limit that is lower by so many rules, or without a default rule."""
        fewer: RuleClassifier = clone(told)
        parameters, least = told.get_params(deep=False), len(self.kept.prefix)
        if parameters["max_rules"] > least:
            return fewer.set_params(max_rules=max(parameters["max_rules"] - excess, least))  # type: ignore[no-any-return]
        if parameters["default_rule"] is not False:
            return fewer.set_params(default_rule=False)  # type: ignore[no-any-return]
        raise ValueError(
            f"max_rules={self.knowledge.max_rules} is {excess} less than the rules that are kept, "
            "and those that keep the constraints"
        )

    def _preferring(self, told: RuleClassifier) -> RuleClassifier:
        """A learner that tests no features but the preferred ones, and leaves the end to others."""
        schema, preferred = self.data.schema, self.knowledge.preferred
        for name in preferred:
            if name not in schema.feature_index:
                raise ValueError(f"preferred: there is no feature {name!r}")
        others = [name for name in schema.feature_names if name not in preferred]
        narrow = _without_end(told, keep_last=False)
        return narrow.set_params(forbidden=(*told.get_params()["forbidden"], *others))  # type: ignore[no-any-return]

    def _fitted(self, learner: RuleClassifier, rows: Dataset, prefix: DecisionList) -> Theory:
        """The theory that is learned after a prefix; Ctrl-C ends it without a result."""
        if self.listener is not None and "progress" in learner.get_params(deep=False):
            learner.set_params(progress=_cancelling(self.listener))
        with nested_fit():
            return learner.fit(rows, theory=prefix).theory_  # type: ignore[no-any-return]

    def _within(self, learned: Theory, rows: Dataset) -> Theory:
        """The theory without its least useful new rules, so that it is no larger than wanted."""
        prefix, wanted = self.kept.prefix, self.knowledge.max_literals
        own = getattr(self.learner, "max_literals", None)
        limits = [] if own is None else [own]
        if wanted is not None:
            limits.append(prefix.n_literals + wanted)
        if not limits:
            return learned
        counted: Any = learned.with_evidence(rows, rows.Y)  # type: ignore[attr-defined]
        return within_literals(counted, rows, min(limits), n_kept=len(prefix))

    def _constrained(self, new: Theory) -> Theory:
        """The new rules with guards, by which they satisfy the constraints."""
        schema, texts = new.schema, self.knowledge.constraints
        rules = DecisionList(schema, guarded(self.kept.prefix, _list_of(new), texts, schema))
        if not isinstance(new, LayeredTheory):
            return rules
        last = without_breaking(new.fallback or (), texts, schema)
        fallback = DecisionList(schema, last) if last else None
        return LayeredTheory(schema, [rules], fallback=fallback)


def _cancelling(listener: Callable[[Any], object]) -> Listener:
    def heard(report: Any) -> None:
        if listener(report) is False:
            raise LearningCancelledError("learning was cancelled: the rules are as they were")

    return heard


def _without_end(learner: RuleClassifier, keep_last: bool) -> RuleClassifier:
    """The learner without a rule for all rows, and perhaps none for rows without a label."""
    other: RuleClassifier = clone(learner)
    if not isinstance(other, SeparateAndConquer):
        return other
    other.set_params(default_rule=False)
    return other if keep_last else other.set_params(last_resort=None)


def _list_of(theory: Theory) -> DecisionList:
    return theory.layers[0] if isinstance(theory, LayeredTheory) else theory  # type: ignore[return-value]


def _new_rules(theory: Theory, n_kept: int) -> Theory:
    """The rules behind the prefix."""
    new = _list_of(theory)[n_kept:]
    if isinstance(theory, LayeredTheory):
        return LayeredTheory(theory.schema, [new], fallback=theory.fallback)
    return new
