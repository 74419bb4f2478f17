"""Explanations as text, and as sentences in plain English."""

from collections.abc import Iterator

from labelrules._checks import counted
from labelrules.inspection.counterfactuals import Counterfactual
from labelrules.inspection.explanation.overview import absence_words, absent_groups, is_denied
from labelrules.inspection.explanation.phrases import (
    NO_LABEL_FOUND,
    body_words,
    choice_words,
    missed_words,
    outcome_words,
    shown_name,
    sum_words,
)
from labelrules.inspection.explanation.values import (
    ChainNode,
    CheckedCondition,
    CheckedRule,
    Explanation,
    LabelExplanation,
)
from labelrules.inspection.tracing import PRESENCE, and_text, unsettled_text, value_words
from labelrules.rules.language.words import label_text

SHOWN = 10  # longer lists are cut; the values have all items


def row_lines(explanation: Explanation) -> Iterator[str]:
    """All labels of a row, one after the other."""
    yield f"Row {explanation.row}"
    if explanation.unsettled:
        yield unsettled_text(explanation.unsettled)
    for label in explanation:
        yield from label_lines(label)


def label_lines(one: LabelExplanation) -> Iterator[str]:
    """The explanation of a label, line by line."""
    yield f"{label_text(one.label)}: {PRESENCE[one.predicted]}"
    yield from (f"  {line}" for line in _cause(one))
    if one.estimate is not None:
        yield f"  {one.estimate}"
    for node, rules in one.chain.labels():
        by = f"by {'; '.join(f'{rule.place}: {rule.name}' for rule in rules)}"
        yield f"  depends on {node_text(node)}, {by if rules else 'which no rule wrote'}"
    if one.chain.cycle:
        yield f"  {cycle_text(one)}"
    yield from _listed("later rules that cover the row:", [later_text(rule) for rule in one.later])
    if one.rows is not None:
        yield f"  training: {rows_text(one)}"
    yield from _listed(*near_lines(one))
    if one.counterfactual is not None:
        yield f"  {one.counterfactual}"


def cause_text(one: LabelExplanation) -> str:
    """What decides a label, in one line."""
    return next(_cause(one))


def _cause(one: LabelExplanation) -> Iterator[str]:
    if one.rule is not None:
        yield f"by {one.rule.place}: {one.rule.text}"
        yield from (f"  {_value_of(checked)}" for checked in one.rule.conditions)
        if one.rule.place.is_fallback:
            yield f"  {NO_LABEL_FOUND}"
    elif one.decided in ("vote", "label set", "most points"):
        yield points_text(one)
        yield from (f"  {line}" for line in vote_lines(one))
    else:
        yield no_rule_text(one)


def vote_lines(one: LabelExplanation) -> list[str]:
    """The points of each rule that covers the row, and why it does."""
    return [f"{rule.points:+d}: {rule.place}: {body_words(rule) or 'start'}" for rule in one.votes]


def near_lines(one: LabelExplanation) -> tuple[str, list[str]]:
    """The rules that fail by one condition, with a title; of a rule set, what they would add."""
    if one.decided in ("vote", "label set", "most points"):
        return "points of conditions that fail:", [missed_words(rule) for rule in one.near]
    return "rules that fail by one condition:", [_near_text(rule) for rule in one.near]


def points_text(one: LabelExplanation) -> str:
    """The points of a label added up, and what follows from them."""
    start = f"{sum_words(one)}: {outcome_words(one)}"
    if one.decided != "label set" or one.choice is None:
        return start
    return f"{start}; the row gets {choice_words(one.choice)}"


def no_rule_text(one: LabelExplanation) -> str:
    """Why no rule is named."""
    if one.presence is not None:
        return f"sampled: probability {one.presence:.2f}"
    if one.ended is not None:
        return (
            f"by default: {one.ended.place} ended the list before a rule predicted it: "
            f"{one.ended.text}"
        )
    return "by default: no rule that covers the row predicts it"


def cycle_text(one: LabelExplanation) -> str:
    """Which labels depend on each other, and their values before."""
    names = [label_text(name) for name in one.chain.cycle]
    depend = "depends on itself" if len(names) == 1 else "depend on each other"
    initial = and_text(map(_initial_text, one.chain.initial))
    return (
        f"{and_text(names)} {depend}, since the last layer reads its own labels; before: {initial}"
    )


def _initial_text(node: ChainNode) -> str:
    where = " in its first round" if node.layer is None else ""
    by = "" if node.place is None else f", by {node.place}"
    return f"{node_text(node)}{where}{by}"


def node_text(node: ChainNode) -> str:
    """A label of a chain with its value."""
    layer = "" if node.layer is None else f" in layer {node.layer + 1}"
    if node.value is None:
        return f"{label_text(node.name)} as it was before the first round"
    return f"{label_text(node.name)} = {PRESENCE[node.value]}{layer}"


def later_text(rule: CheckedRule) -> str:
    """What a rule predicts."""
    return f"{rule.place} predicts {PRESENCE[rule.value]}: {rule.text}"


def _near_text(rule: CheckedRule) -> str:
    (failing,) = rule.failing
    return (
        f"{rule.place} would predict {PRESENCE[rule.value]}: {rule.text}, but {_value_of(failing)}"
    )


def _value_of(checked: CheckedCondition) -> str:
    return f"{shown_name(checked)} is {value_words(checked.value, checked.is_binary)}"


def rows_text(one: LabelExplanation) -> str:
    """The training rows behind a rule, right and wrong ones."""
    if one.rows is None or not any(one.rows):
        return "none"
    parts = zip(("right", "wrong"), one.rows, strict=True)
    return "; ".join(f"{name} in {_numbers_text(rows)}" for name, rows in parts if rows)


def _numbers_text(numbers: tuple[int, ...]) -> str:
    more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return f"{'row' if len(numbers) == 1 else 'rows'} {str(numbers[:SHOWN]).strip('(,)')}{more}"


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"  {title}"
        yield from (f"    {line}" for line in lines[:SHOWN])
        if len(lines) > SHOWN:
            yield f"    and {len(lines) - SHOWN} more"


def row_sentences(explanation: Explanation, details: bool = False) -> str:
    """The labels of a row, and a paragraph on each label that it gets, or that is asked for."""
    present = [label_text(name) for name in explanation.present]
    first = f"Row {explanation.row} gets {and_text(present) if present else 'no label'}."
    if explanation.unsettled:
        first = f"{first} {unsettled_text(explanation.unsettled)}"
    every = details or len(explanation) < explanation.theory.schema.n_labels
    shown = [label_sentence(one) for one in explanation if one.predicted or every]
    absent = [] if every else [" ".join(_absent_sentences(explanation))]
    return "\n\n".join(part for part in [first, *shown, *absent] if part)


def _absent_sentences(explanation: Explanation) -> Iterator[str]:
    """How many labels are absent and why, with the closest one."""
    for title, lines in absent_groups(explanation, 1):
        start, _, kind = title.rstrip(".:").partition(". ")
        start_of_line = "Closest is " if kind == "Closest" else ""
        yield f"{start}."
        yield from (f"{start_of_line}{name}: {why}." for name, why in lines)


def label_sentence(one: LabelExplanation) -> str:
    """The explanation of a label in a few sentences."""
    if is_left_out(one):
        parts = [f"{_predicted(one)}, because {absence_words(one)}."]
    else:
        parts = [_because(one), *_dependences(one)]
    if one.estimate is not None and not is_left_out(one):
        rule = "The rule" if one.rule is None else str(one.rule.place).capitalize()
        parts.append(f"{rule} was {one.estimate}.")
    if one.counterfactual is not None:
        parts.append(_otherwise(one.counterfactual))
    return " ".join(parts)


def is_left_out(one: LabelExplanation) -> bool:
    """Whether no rule for the label holds, and one with other labels in its head excludes it."""
    return not one.predicted and one.rule is not None and not is_denied(one)


def _predicted(one: LabelExplanation) -> str:
    return f"{label_text(one.label)} is predicted {PRESENCE[one.predicted]}"


def _because(one: LabelExplanation) -> str:
    start = _predicted(one)
    if one.rule is not None:
        end = f"; {NO_LABEL_FOUND}" if one.rule.place.is_fallback else ""
        return f"{start} by {one.rule.place}, {_reason(one.rule.conditions)}{end}."
    if one.decided in ("vote", "label set", "most points"):
        return f"{start}, because of its points: {points_text(one)}."
    if one.presence is not None:
        return f"{start}, because it was sampled with probability {one.presence:.2f}."
    if one.ended is not None:
        return f"{start}, because {one.ended.place} ended the list before a rule predicted it."
    return f"{start}, because no rule that covers the row predicts it."


def _reason(conditions: tuple[CheckedCondition, ...]) -> str:
    if not conditions:
        return "which covers every row"
    return "because " + and_text([_condition_words(checked) for checked in conditions])


def _condition_words(checked: CheckedCondition) -> str:
    """A condition that holds; a number with its value and the side of the threshold."""
    name, operator = shown_name(checked), checked.condition.operator
    start = f"{name} is {value_words(checked.value, checked.is_binary)}"
    if operator == "=" or (checked.is_binary and operator != "!="):
        return start
    words = {"<=": "at most", ">": "above", "!=": "not", "in": "in"}[operator]
    return f"{start}, {words} {checked.text.removeprefix(f'{name} {operator} ')}"


def _dependences(one: LabelExplanation) -> Iterator[str]:
    """A sentence on each label that the rule has read."""
    for node, rules in one.chain.labels():
        if node.value is None:
            continue
        start = f"{label_text(node.name)} is {PRESENCE[node.value]}"
        layer = "" if node.layer is None else f" of layer {node.layer + 1}"
        if not rules:
            yield f"{start}, because no rule{layer} wrote it."
        elif len(rules) == 1 and rules[0].place is not None:
            yield f"{start} by {rules[0].place}, {_reason(rules[0].conditions)}."
        else:
            yield f"{start} by the votes of {len(rules)} rules{layer}."
    if one.chain.cycle:
        yield f"Note that {cycle_text(one)}."


def _otherwise(change: Counterfactual) -> str:
    name = label_text(change.label)
    if change.status == "impossible":
        return f"No change of the features that may change would change {name}."
    if change.status == "unknown":
        features = counted(change.at_least, "feature")
        return f"To change {name}, at least {features} must change; the search stopped there."
    changes = and_text([one.condition for one in change.changes])
    return f"{name} would be {PRESENCE[1 - change.predicted]} if {changes}."
