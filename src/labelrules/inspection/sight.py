"""How the conditions of a rule stood for a row."""

from collections.abc import Iterable
from itertools import islice

from labelrules._types import UNSET
from labelrules.inspection.counterfactual import named_value
from labelrules.inspection.explanation import ConditionSeen, Ending, Place, RuleSeen
from labelrules.inspection.passage import Passage
from labelrules.rules import Condition
from labelrules.rules.text import condition_text, rule_text

CELLS = {1: "present", 0: "absent", int(UNSET): "open"}
"""How a cell of the board is told."""


def nearly_holding(passage: Passage, told: int) -> list[RuleSeen]:
    """The rules of a part that speak of a label and hold but for one condition at most."""
    found = []
    for number, rule in enumerate(passage.theory):
        if told in rule.head.labels:
            failing = (c for c in rule.body if not passage.holds(c, number, told))
            if len(list(islice(failing, 2))) < 2:
                found.append(rule_seen(passage, number, told))
    return found


def ending(parts: Iterable[Passage]) -> Ending | None:
    """The first rule that has ended one of the lists, if any has."""
    for passage in parts:
        number = passage.story.stopped
        if number >= 0:
            place = Place(number, passage.layer, passage.is_fallback)
            return Ending(place, rule_text(passage.theory[number], passage.theory.schema))
    return None


def rule_seen(passage: Passage, number: int, told: int) -> RuleSeen:
    """A rule that speaks of the label `told`, with what it saw of the row."""
    rule, schema = passage.theory[number], passage.theory.schema
    (value, votes), *_ = [(v, n) for label, v, n in rule.ballot if label == told]
    return RuleSeen(
        Place(number, passage.layer, passage.is_fallback),
        rule,
        rule_text(rule, schema),
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
