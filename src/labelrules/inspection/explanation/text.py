"""Explanations as text, and as sentences in plain English."""

from collections.abc import Iterable, Iterator

from labelrules._checks import counted
from labelrules.inspection.counterfactuals.search import Counterfactual, shown
from labelrules.inspection.estimates import Estimate
from labelrules.inspection.explanation.values import (
    ChainNode,
    ConditionSeen,
    Explanation,
    LabelExplanation,
    RuleSeen,
)
from labelrules.rules.formats.language import name_text, number_text

SHOWN = 10
"""Longer lists are cut; all is in the data."""

PRESENCE = ("absent", "present")


def row_lines(explanation: Explanation) -> Iterator[str]:
    """All labels of a row, one after the other."""
    yield f"Row {explanation.row}"
    if explanation.moving:
        yield unsettled_text(explanation)
    for label in explanation:
        yield from label_lines(label)


def unsettled_text(explanation: Explanation) -> str:
    """Which labels had not settled."""
    names = _and(map(name_text, explanation.moving))
    return f"Nothing is settled: {names} changed even in the last round, so the first one counts."


def label_lines(one: LabelExplanation) -> Iterator[str]:
    """Why a row gets a label, line by line."""
    yield f"{name_text(one.label)}: {PRESENCE[one.predicted]}"
    yield from (f"  {line}" for line in _cause(one))
    if one.estimate is not None:
        yield f"  {one.estimate}"
    yield from (f"  {line}" for line in _dependence(one))
    yield from _listed("later rules that hold:", [_says(rule) for rule in one.later])
    if one.rows is not None:
        yield f"  training: {rows_text(one)}"
    yield from _listed("rules that nearly hold:", [_lacks(rule) for rule in one.near])
    if one.counterfactual is not None:
        yield f"  {one.counterfactual}"


def _cause(one: LabelExplanation) -> Iterator[str]:
    if one.rule is not None:
        yield f"by {one.rule.place}: {one.rule.text}"
        yield from (f"  {name_text(c.name)}: here {shown(c.value)}" for c in one.rule.conditions)
        if one.rule.place.is_fallback:
            yield "  asked because the layers found no label"
    elif one.decided == "vote":
        yield f"by {counted(one.n_for, 'vote')} for and {one.n_against} against it"
        yield from (f"  {_votes(rule)}: {rule.place}: {rule.text}" for rule in one.votes)
    else:
        yield nobody_text(one)


def nobody_text(one: LabelExplanation) -> str:
    """Why no rule is named."""
    if one.presence is not None:
        return f"sampled: present with probability {one.presence:.2f}"
    if one.ended is not None:
        return (
            f"{one.ended.place} ended the list before a rule spoke of it, so it is taken to be "
            f"absent: {one.ended.text}"
        )
    return "no rule that fires speaks of it, so it is taken to be absent"


def _votes(rule: RuleSeen) -> str:
    return f"{rule.votes} {'for' if rule.value else 'against'}"


def _dependence(one: LabelExplanation) -> Iterator[str]:
    """The labels that it depended on, each with the rules behind it."""
    for node in one.chain.nodes[1:]:
        if node.kind == "label":
            rules = [f"{rule.place}: {rule.name}" for rule in one.chain.before(node.key)]
            by = f", by {'; '.join(rules)}" if rules else ", which no rule wrote"
            yield f"depended on {node_text(node)}{by}"
    if one.chain.circle:
        yield circle_text(one)


def circle_text(one: LabelExplanation) -> str:
    """Which labels hold themselves up, and what they were before."""
    names = [name_text(name) for name in one.chain.circle]
    verb = "holds itself" if len(names) == 1 else "hold each other"
    return (
        f"{_and(names)} {verb} up: the last layer has read its own labels until nothing changed; "
        f"it began with {_and(map(_began_text, one.chain.began))}"
    )


def _began_text(node: ChainNode) -> str:
    where = " in its first round" if node.layer is None else ""
    by = "" if node.place is None else f", by {node.place}"
    return f"{node_text(node)}{where}{by}"


def node_text(node: ChainNode) -> str:
    """A label of a chain with its value."""
    layer = "" if node.layer is None else f" in layer {node.layer + 1}"
    if node.value is None:
        return f"{name_text(node.name)} as it was before the first round"
    return f"{name_text(node.name)} = {PRESENCE[node.value]}{layer}"


def _says(rule: RuleSeen) -> str:
    return f"{rule.place} says {PRESENCE[rule.value]}: {rule.text}"


def _lacks(rule: RuleSeen) -> str:
    (failing,) = rule.failing
    return (
        f"{rule.place} would say {PRESENCE[rule.value]}: {rule.text}, "
        f"but {name_text(failing.name)} is {shown(failing.value)}"
    )


def rows_text(one: LabelExplanation) -> str:
    """The training rows behind a rule, right and wrong ones."""
    if one.rows is None or not any(one.rows):
        return "none"
    parts = zip(("right", "wrong"), one.rows, strict=True)
    return "; ".join(f"{name} in {_some(rows)}" for name, rows in parts if rows)


def _some(numbers: tuple[int, ...]) -> str:
    more = len(numbers) - SHOWN
    noun = "row" if len(numbers) == 1 else "rows"
    return f"{noun} {', '.join(map(str, numbers[:SHOWN]))}" + (
        f" and {more} more" if more > 0 else ""
    )


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"  {title}"
        yield from (f"    {line}" for line in lines[:SHOWN])
        if len(lines) > SHOWN:
            yield f"    and {len(lines) - SHOWN} more"


# ---------------------------------------------------------------- plain English


def row_sentences(explanation: Explanation) -> str:
    """Which labels a row gets, and a paragraph on each label that is explained."""
    names = explanation.theory.schema.labels
    present = [name_text(n) for n, cell in zip(names, explanation.board, strict=True) if cell]
    first = f"Row {explanation.row} gets {_and(present) if present else 'no label'}."
    if explanation.moving:
        first = f"{first} {unsettled_text(explanation)}"
    return "\n\n".join([first, *(label_sentence(label) for label in explanation)])


def label_sentence(one: LabelExplanation) -> str:
    """Why a row gets a label, in a few sentences."""
    parts = [_because(one), *_behind(one)]
    if one.estimate is not None:
        parts.append(_trust(one, one.estimate))
    if one.counterfactual is not None:
        parts.append(_otherwise(one.counterfactual))
    return " ".join(parts)


def _trust(one: LabelExplanation, estimate: Estimate) -> str:
    """How far the rule that decided can be relied on."""
    rule = "The rule" if one.rule is None else str(one.rule.place).capitalize()
    cells = counted(estimate.right + estimate.wrong, "cell")
    return (
        f"{rule} was right in {estimate.right} of {cells}, which makes it "
        f"{estimate.probability:.2f} probable to be right ({estimate.low:.2f} to "
        f"{estimate.high:.2f})."
    )


def _because(one: LabelExplanation) -> str:
    start = f"{name_text(one.label)} is predicted {PRESENCE[one.predicted]}"
    if one.rule is not None:
        asked = "; it was asked because the layers found no label"
        end = asked if one.rule.place.is_fallback else ""
        return f"{start} by {one.rule.place}, {_reason(one.rule.conditions)}{end}."
    if one.decided == "vote":
        return (
            f"{start}, because the rules that fire have {counted(one.n_for, 'vote')} for it and "
            f"{one.n_against} against it."
        )
    if one.presence is not None:
        return f"{start}, because it was drawn with probability {one.presence:.2f}."
    if one.ended is not None:
        return f"{start}, because {one.ended.place} ended the list before a rule spoke of it."
    return f"{start}, because no rule that fires speaks of it."


def _reason(conditions: tuple[ConditionSeen, ...]) -> str:
    if not conditions:
        return "which holds for every row"
    return "because " + _and([condition_words(seen) for seen in conditions])


def condition_words(seen: ConditionSeen) -> str:
    """A condition that holds, in words.

    Of a number its value is told, and on which side of the threshold it is.
    """
    name, value, threshold = name_text(seen.name), seen.value, seen.condition.value
    if seen.condition.operator == "<=":
        return f"{name} is {shown(value)}, at most {number_text(threshold)}"
    if seen.condition.operator == ">":
        return f"{name} is {shown(value)}, above {number_text(threshold)}"
    if seen.condition.operator == "!=":
        return f"{name} is {shown(value)}, not {seen.text.removeprefix(f'{name} != ')}"
    return f"{name} is {shown(value)}"


def _behind(one: LabelExplanation) -> Iterator[str]:
    """The labels that the rule has read, one sentence on each."""
    for node in one.chain.nodes[1:]:
        if node.kind != "label" or node.value is None:
            continue
        rules = list(one.chain.before(node.key))
        start = f"{name_text(node.name)} is {PRESENCE[node.value]}"
        layer = "" if node.layer is None else f" of layer {node.layer + 1}"
        if not rules:
            yield f"{start}, because no rule{layer} wrote it."
        elif len(rules) == 1 and rules[0].place is not None:
            yield f"{start} by {rules[0].place}, {_reason(rules[0].conditions)}."
        else:
            yield f"{start} by the votes of {len(rules)} rules{layer}."
    if one.chain.circle:
        yield f"Note that {circle_text(one)}."


def _otherwise(change: Counterfactual) -> str:
    name = name_text(change.label)
    if change.status == "impossible":
        return f"No change of the features that may change would change {name}."
    if change.status == "unknown":
        return (
            f"At least {counted(change.at_least, 'feature')} would have to change for {name} to "
            "change; "
            "the search was given up there."
        )
    moves = [f"{name_text(move.feature)} were {shown(move.new)}" for move in change.moves]
    return f"{name} would be {PRESENCE[1 - change.predicted]} if {_and(moves)}."


def _and(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
