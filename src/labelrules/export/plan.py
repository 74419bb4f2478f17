"""What all exports share: the layers of a theory, the features it tests, steps, free names."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.inference import Chances, Gibbs, Inference, ListChances, Once
from labelrules.rules.language.text import label_text, rule_text
from labelrules.rules.rule import Rule
from labelrules.rules.theory import DecisionList, RuleSet, Theory, theory_of


class Plan(NamedTuple):
    """A theory, or that of a fitted learner, in the parts that an export writes."""

    schema: Schema
    layers: tuple[Theory, ...]  # the first reads its own labels, others those of the one before
    inference: Inference  # how the last layer is read
    fallback: DecisionList | None  # for rows in which the layers find no label
    chances: Chances | None = None  # none for a theory that no learner has made

    @classmethod
    def of(cls, model: Any) -> "Plan":
        """The plan of a theory that is not sampled from."""
        theory = theory_of(model)
        chances = model._chances() if hasattr(model, "_chances") else None
        if isinstance(theory.inference, Gibbs):
            raise ValueError(
                "a layer that is sampled from (Gibbs) cannot be exported, since the random numbers "
                "would differ: use theory.with_inference(UntilStable()), or save the model"
            )
        return cls(theory.schema, theory.layers, theory.inference, theory.fallback, chances)

    @property
    def parts(self) -> tuple[Theory, ...]:
        """The layers, and the list for rows without labels."""
        return (*self.layers, *(() if self.fallback is None else (self.fallback,)))

    @property
    def deciding(self) -> tuple[Theory, ...]:
        """The parts whose rules decide labels: the last layer, and the list after it."""
        return self.parts[len(self.layers) - 1 :]

    @property
    def used(self) -> tuple[int, ...]:
        """The features that some rule tests, in the order of the schema."""
        return used_features(rule for part in self.parts for rule in part)

    def only_once(self, what: str) -> "Plan":
        """Refuse a plan whose last layer is read more than once."""
        if not isinstance(self.inference, Once):
            raise ValueError(
                f"{what} has no loops, so it cannot read a last layer until it settles: use "
                "to_python, or theory.with_inference(Once())"
            )
        return self


def used_features(rules: Iterable[Rule]) -> tuple[int, ...]:
    """The features that some of the rules test, in order."""
    return tuple(sorted({c.column for rule in rules for c in rule.body.on_features}))


class FreeNames:
    """Names that differ from those taken, whether or not case matters.

    >>> names = FreeNames(["Age"])
    >>> names.free("age"), names.free("rule 1")
    ('age_', 'rule 1')
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {name.casefold() for name in taken}

    def free(self, name: str) -> str:
        """The name, with as many underscores after it as necessary."""
        while name.casefold() in self._taken:
            name = f"{name}_"
        self._taken.add(name.casefold())
        return name


def steps(rules: Iterable[Rule], reads_itself: bool, most_shared: int) -> list[list[Rule]]:
    """Split a list so that no rule tests what a rule of its step writes, if it reads itself.

    At most so many rules of a step are shared: they predict several labels or end the list.
    """
    parts: list[list[Rule]] = [[]]
    written: set[int] = set()
    n_shared = 0
    for rule in rules:
        tested = {condition.column for condition in rule.body.on_labels}
        is_shared = len(rule.head) > 1 or rule.stops
        if (reads_itself and tested & written) or n_shared + is_shared > most_shared:
            parts.append([])
            written, n_shared = set(), 0
        parts[-1].append(rule)
        written |= set(rule.head.labels)
        n_shared += is_shared
    return [step for step in parts if step]


def holding_categories(condition: Condition, schema: Schema) -> tuple[str, ...]:
    """The categories for which a condition holds; an unknown category is a missing value."""
    categories = schema.features[condition.column].categories or ()
    holds = condition.holds(np.arange(len(categories), dtype=np.float64))
    return tuple(text for text, does in zip(categories, holds, strict=True) if does)


def is_list(part: Theory) -> bool:
    """Whether the rules have an order; otherwise they vote."""
    return not isinstance(part, RuleSet)


def has_wide_heads(plan: Plan) -> bool:
    """Whether some rule of a list predicts several labels."""
    return any(len(rule.head) > 1 for part in plan.parts if is_list(part) for rule in part)


def is_scorecard(part: Theory) -> TypeGuard[RuleSet]:
    """Whether the labels of a row are decided together, by points and usual label sets."""
    return isinstance(part, RuleSet) and part.decides_rows


PointRule: TypeAlias = tuple[int, Rule, int]
"""The number of a rule, the rule, and the points that it gives to a label, below 0 for absence."""


def label_points(part: Theory, first: int = 1) -> list[tuple[int, list[PointRule]]]:
    """Labels that some rule mentions, in order, each with the rules that give points to it."""
    found: dict[int, list[PointRule]] = {}
    for number, rule in enumerate(part, first):
        for label, value, votes in rule.ballot:
            found.setdefault(label, []).append((number, rule, votes if value else -votes))
    return sorted(found.items())


def n_numbers(part: Theory) -> int:
    """How many numbers a part takes: its rules, its usual label sets, and a last resort."""
    if not isinstance(part, RuleSet):
        return len(part)
    return len(part) + len(part.label_sets) + part.at_least_one


class DecidingRule(NamedTuple):
    """What can decide labels: a rule, a usual label set or the last resort of a scorecard.

    The values are for each label its probability of presence, the points that the rule gives, or
    what it predicts.
    """

    number: int
    text: str
    values: Mapping[int, float]


def deciding_rules(plan: Plan) -> list[DecidingRule]:
    """The rules of the last layer and of the list after it, numbered through all parts."""
    chances = iter(plan.chances.by_rule if isinstance(plan.chances, ListChances) else ())
    found = []
    number = 1 + sum(n_numbers(layer) for layer in plan.layers[:-1])
    for part in plan.deciding:
        for rule in part:
            values = next(chances, None) or _predicted(rule, part)
            found.append(DecidingRule(number, rule_text(rule, plan.schema), values))
            number += 1
        for text in _row_decisions(part):
            everywhere = dict.fromkeys(range(plan.schema.n_labels), 0)
            found.append(DecidingRule(number, text, everywhere))
            number += 1
    return found


def _predicted(rule: Rule, part: Theory) -> dict[int, float]:
    if is_list(part):
        return dict(rule.head)
    return {label: votes if value else -votes for label, value, votes in rule.ballot}


def _row_decisions(part: Theory) -> list[str]:
    """The usual label sets and the last resort of a scorecard, as text."""
    if not isinstance(part, RuleSet):
        return []
    lines = []
    for one in part.label_sets:
        names = ", ".join(label_text(part.schema.labels[label]) for label in one.labels)
        lines.append(f"usual label set {{{names}}} {one.bonus:+}")
    return lines + ["if no label was found: the label with the most points"] * part.at_least_one


def printable(text: str) -> str:
    """Text on one line, without characters that a source file cannot have."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
