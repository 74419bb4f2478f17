"""Rules with one condition or one label changed."""

from dataclasses import replace
from typing import Any

from labelrules._checks import is_number, quoted, suggestion, whole_number
from labelrules.data.schema import Feature, Schema
from labelrules.data.times import example_of, read_time
from labelrules.rules import Body, Condition, Head, Rule
from labelrules.rules.language.rule_parser import RuleParser
from labelrules.rules.language.text import condition_text, tokens


def with_threshold(rule: Rule, number: int, value: Any, schema: Schema) -> Rule:
    """The rule with another threshold in a condition."""
    index = _index(rule, number)
    old = rule.body.conditions[index]
    if old.on_label or old.operator not in ("<=", ">"):
        text = condition_text(old, schema)
        raise ValueError(f"condition {number}, {text}, has no threshold: replace the whole rule")
    found = _threshold(value, schema.features[old.column])
    conditions = list(rule.body.conditions)
    conditions[index] = Condition(old.column, old.operator, found)
    return replace(rule, body=_distinct(conditions, schema), evidence=None)


def _threshold(value: Any, feature: Feature) -> float:
    """A threshold as the feature encodes it."""
    if feature.time is not None:
        found = read_time(value, feature.time) if isinstance(value, str) else None
        if found is None:
            example = example_of(feature.time)
            raise ValueError(
                f"the threshold of {quoted(feature.name)} must be {example}, not {value!r:.60}"
            )
        return float(found)
    if feature.categories is not None:
        if value not in feature.categories:
            near = suggestion(str(value), feature.categories)
            raise ValueError(f"{quoted(feature.name)} has no category {quoted(value)}{near}")
        return float(feature.categories.index(value))
    if not is_number(value) or value != value or value in (float("inf"), float("-inf")):
        raise ValueError(
            f"the threshold of {quoted(feature.name)} must be a number, not {value!r:.60}"
        )
    return float(value)


def with_condition(rule: Rule, condition: Condition | str, schema: Schema) -> Rule:
    """The rule with one more condition, or several in one text."""
    more = body_of(condition, schema).conditions if isinstance(condition, str) else (condition,)
    body = _distinct([*rule.body.conditions, *more], schema)
    return replace(rule, body=body, evidence=None)


def without_condition(rule: Rule, number: int) -> Rule:
    """The rule without a condition."""
    index = _index(rule, number)
    conditions = rule.body.conditions
    rest = Body((*conditions[:index], *conditions[index + 1 :]))
    return replace(rule, body=rest, evidence=None)


def with_label(rule: Rule, label: str, present: bool | None, schema: Schema) -> Rule:
    """The rule with a label present or absent in its head, or not in it."""
    if label not in schema.label_index:
        near = suggestion(str(label), schema.labels)
        raise ValueError(f"there is no label {quoted(label)}{near}")
    number = schema.label_index[label]
    votes = {one: n for one, _, n in rule.ballot}
    literals = dict(rule.head)
    literals.pop(number, None)
    if present is not None:
        literals[number] = int(present)
    if not literals:
        raise ValueError(
            f"{quoted(label)} is the only label of the head: remove the rule, or name another first"
        )
    head = Head(literals, rule.head.n_labels)
    ballot = tuple(votes.get(one, 1) for one in head.labels)
    return replace(rule, head=head, votes=ballot, evidence=None)


def _index(rule: Rule, number: int) -> int:
    """The place of a condition, from 0, by its number."""
    n_conditions = len(rule.body)
    if not n_conditions:
        raise ValueError("the rule has no condition: it holds for every row")
    return whole_number(number, "condition", low=1, high=n_conditions) - 1


def _distinct(conditions: list[Condition], schema: Schema) -> Body:
    """The body of these conditions, each once."""
    for place, one in enumerate(conditions):
        if one in conditions[:place]:
            raise ValueError(f"the condition {condition_text(one, schema)} is there already")
    return Body(conditions)


def body_of(text: str, schema: Schema) -> Body:
    """The conditions of a text such as ``"age > 60, not flu"``; errors name the place."""
    parser = RuleParser(list(tokens(text, 1)), schema, [text], 1)
    if parser.took_words("true"):
        parser.expect("end", "the end of the line")
        return Body()
    conditions = [parser.condition()]
    while parser.took("comma"):
        conditions.append(parser.condition())
    parser.expect("end", "a comma or the end of the line")
    return Body(conditions)
