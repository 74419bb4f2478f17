"""How the conditions of a rule stood for a row."""

from collections.abc import Iterable
from itertools import islice

from labelrules._types import UNSET
from labelrules.inspection.counterfactual import named_value
from labelrules.inspection.explanation import ConditionSeen, Ending, Place, RuleSeen
from labelrules.inspection.passage import Passage
from labelrules.rules import Condition
from labelrules.rules.text import condition_text

CELLS = {1: "present", 0: "absent", int(UNSET): "open"}
"""How a cell of the board is told."""


def nearly_holding(passage: Passage, told: int) -> list[RuleSeen]:
    """The rules of a part that speak of a label and hold but for one condition at most."""
    found = []
    for number in passage.speaking.get(told, ()):
        failing = (c for c in passage.theory[number].body if not passage.holds(c, number, told))
        if len(list(islice(failing, 2))) < 2:
            found.append(rule_seen(passage, number, told))
    return found


def ending(parts: Iterable[Passage], told: int) -> Ending | None:
    """The first rule that has ended a list before one that speaks of a label, if any has."""
    for passage in parts:
        for number, rule in enumerate(passage.theory):
            if rule.stops and all(passage.holds(c, number, told) for c in rule.body):
                if max(passage.speaking.get(told, ()), default=-1) > number:
                    place = Place(number, passage.layer, passage.is_fallback)
                    return Ending(place, passage.text(number))
                break
    return None


def rule_seen(passage: Passage, number: int, told: int) -> RuleSeen:
    """A rule that speaks of the label `told`, with what it saw of the row."""
    rule = passage.theory[number]
    value, votes = passage.speaking[told][number]
    return RuleSeen(
        Place(number, passage.layer, passage.is_fallback),
        rule,
        passage.text(number),
        value,
        votes,
        tuple(_seen(passage, condition, number, told) for condition in rule.body),
    )


def _seen(passage: Passage, condition: Condition, number: int, told: int) -> ConditionSeen:
    schema, column = passage.theory.schema, condition.column
    value: float | str | None
    if condition.on_label:
        name, value = schema.labels[column], CELLS[passage.cell(condition, number, told)]
    else:
        feature = schema.features[column]
        name, value = feature.name, named_value(feature, passage.story.values[column])
    holds = passage.holds(condition, number, told)
    return ConditionSeen(condition, condition_text(condition, schema), name, value, holds)
