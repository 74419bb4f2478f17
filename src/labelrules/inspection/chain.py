"""The labels and rules that one label of a row depended on."""

from dataclasses import replace

from labelrules.inspection.explanation import Chain, Link, Node, Place
from labelrules.inspection.passage import NOWHERE, Passage
from labelrules.inspection.sight import rule_seen


def chain_of(parts: tuple[Passage, ...], label: int, part: int) -> Chain:
    """Go back from a label of the deciding part to the rules and labels behind it.

    A label may be met in several layers; each is a node of its own. If the last layer has read
    its own result, the graph may have circles.
    """
    start = (part, label)
    nodes, links = {start: _label_node(parts, *start)}, []
    rules: dict[tuple[int, int], Node] = {}
    waiting = [start]
    for part, told in waiting:
        for number in _writers(parts, part, told):
            passage = parts[part]
            rule = rules.setdefault((part, number), _rule_node(passage, number, told))
            links.append(Link(rule.key, nodes[part, told].key))
            for condition in passage.theory[number].body.on_labels:
                tested = (passage.source_of(condition, told, part), condition.column)
                if tested not in nodes:
                    nodes[tested] = _label_node(parts, *tested)
                    waiting.append(tested)
                links.append(Link(nodes[tested].key, rule.key))
    circle = _circle({place: node.key for place, node in nodes.items()}, links)
    return Chain(
        (*nodes.values(), *rules.values()),
        tuple(dict.fromkeys(links)),
        tuple(nodes[place].name for place in circle),
        tuple(_began(parts, *place) for place in circle),
    )


def _circle(keys: dict[tuple[int, int], str], links: list[Link]) -> list[tuple[int, int]]:
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


def _began(parts: tuple[Passage, ...], part: int, label: int) -> Node:
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


def _label_node(parts: tuple[Passage, ...], part: int, label: int) -> Node:
    name = parts[-1].theory.schema.labels[label]
    if part == NOWHERE:
        return Node(f"label {label} at first", "label", name)
    passage = parts[part]
    key = f"label {label} of part {part}"
    value = int(passage.story.board[label] == 1)
    return Node(key, "label", name, value=value, layer=passage.layer)


def _rule_node(passage: Passage, number: int, told: int) -> Node:
    seen = rule_seen(passage, number, told)
    return Node(
        str(seen.place),
        "rule",
        seen.text,
        place=seen.place,
        layer=passage.layer,
        conditions=seen.conditions,
    )
