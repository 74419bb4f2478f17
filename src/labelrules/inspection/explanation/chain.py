"""The labels and rules that one label of a row depended on."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from labelrules._types import UNSET
from labelrules.inspection.counterfactuals.search import named_value
from labelrules.inspection.explanation.row_history import NOWHERE, Passage
from labelrules.inspection.explanation.values import (
    Chain,
    ChainLink,
    ChainNode,
    ConditionSeen,
    Ending,
    Place,
    RuleSeen,
)
from labelrules.rules import Condition
from labelrules.rules.formats.text import condition_text

# -------------------- How the conditions of a rule stood for a row

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


# ---------------------------------------------------------------- the main part


def chain_of(parts: tuple[Passage, ...], label: int, part: int) -> Chain:
    """Go back from a label of the deciding part to the rules and labels behind it.

    A label may be met in several layers; each is a node of its own. If the last layer has read
    its own result, the graph may have circles.
    """
    start = (part, label)
    nodes, links = {start: _label_node(parts, *start)}, []
    rules: dict[tuple[int, int], ChainNode] = {}
    waiting = [start]
    for part, told in waiting:
        for number in _writers(parts, part, told):
            passage = parts[part]
            rule = rules.setdefault((part, number), _rule_node(passage, number, told))
            links.append(ChainLink(rule.key, nodes[part, told].key))
            for condition in passage.theory[number].body.on_labels:
                tested = (passage.source_of(condition, told, part), condition.column)
                if tested not in nodes:
                    nodes[tested] = _label_node(parts, *tested)
                    waiting.append(tested)
                links.append(ChainLink(nodes[tested].key, rule.key))
    circle = _circle({place: node.key for place, node in nodes.items()}, links)
    return Chain(
        (*nodes.values(), *rules.values()),
        tuple(dict.fromkeys(links)),
        tuple(nodes[place].name for place in circle),
        tuple(_began(parts, *place) for place in circle),
    )


def _circle(keys: dict[tuple[int, int], str], links: list[ChainLink]) -> list[tuple[int, int]]:
    """The labels that depend on themselves, through others or at once."""
    behind: dict[str, set[str]] = {}
    for link in links:
        behind.setdefault(link.target, set()).add(link.source)

    def depends_on_itself(key: str) -> bool:
        waiting, known = list(behind.get(key, ())), set()
        while waiting:
            one = waiting.pop()
            if one not in known:
                known.add(one)
                waiting += behind.get(one, ())
        return key in known

    return [place for place, key in keys.items() if depends_on_itself(key)]


def _began(parts: tuple[Passage, ...], part: int, label: int) -> ChainNode:
    """A label before the circle closed: of the layer before, else of the only layer's first round.

    The place is that of the rule that wrote it then.
    """
    first = parts[part].first
    story, layer = (parts[part - 1].story, part - 1) if first is None else (first, None)
    writer = int(story.writer[label])
    place = Place(writer, part if layer is None else layer) if writer >= 0 else None
    node = _label_node(parts, part, label)
    return replace(node, value=int(story.board[label] == 1), place=place, layer=layer)


def _writers(parts: tuple[Passage, ...], part: int, told: int) -> list[int]:
    """The rules behind a label: the one that wrote it, or those that voted."""
    if part == NOWHERE or parts[part].is_sampled:
        return []
    passage = parts[part]
    if passage.theory.ordered:
        writer = int(passage.story.writer[told])
        return [writer] if writer >= 0 else []
    return [
        number
        for number in passage.speaking.get(told, ())
        if all(passage.holds(c, number, told) for c in passage.theory[number].body)
    ]


def _label_node(parts: tuple[Passage, ...], part: int, label: int) -> ChainNode:
    name = parts[-1].theory.schema.labels[label]
    if part == NOWHERE:
        return ChainNode(f"label {label} at first", "label", name)
    passage = parts[part]
    key = f"label {label} of part {part}"
    value = int(passage.story.board[label] == 1)
    return ChainNode(key, "label", name, value=value, layer=passage.layer)


def _rule_node(passage: Passage, number: int, told: int) -> ChainNode:
    seen = rule_seen(passage, number, told)
    return ChainNode(
        str(seen.place),
        "rule",
        seen.text,
        place=seen.place,
        layer=passage.layer,
        conditions=seen.conditions,
    )
