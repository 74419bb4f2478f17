"""The history of one row: how it passed each part of a theory, and what its labels depend on."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Literal

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data.table import Dataset
from labelrules.inspection.explanation.values import (
    Chain,
    ChainLink,
    ChainNode,
    CheckedCondition,
    CheckedRule,
    Place,
    RowChoice,
    StoppingRule,
    place_in,
)
from labelrules.inspection.tracing import LayeredTrace, Trace, named_value, trace
from labelrules.rules import Condition, DecisionList, Gibbs, LabelByLabel, RuleSet, Theory
from labelrules.rules.inference import closed
from labelrules.rules.language.text import condition_text, presence_of
from labelrules.rules.rule import is_satisfiable

BEFORE = -1  # the source of labels that no part has written: their values before the first round

CELLS = {1: "present", 0: "absent", int(UNSET): "open"}


@dataclass(frozen=True, eq=False)
class PartHistory:
    """One row on its way through one part of a theory: a layer, or the list for bare rows."""

    trace: Trace
    layer: int | None = None  # from 0; None for the only layer and for the fallback list
    is_fallback: bool = False  # whether it is the list for rows without labels
    seen: Board | None = None
    """Labels by labels: the value of the second that rules for the first read. None if the rules
    read the board that they write."""
    source: Integers | None = None  # likewise, the part that had written that value
    is_sampled: bool = False  # whether labels were drawn at random, written by no rule
    presence: Floats | None = None  # if so, the probability of each
    first_round: Trace | None = None  # if the only layer has read its own labels, its first round
    unsettled: tuple[str, ...] = ()  # labels that still changed when the rounds ended

    @property
    def theory(self) -> DecisionList | RuleSet:
        """The rules of this part."""
        return self.trace.theory

    @cached_property
    def predicting(self) -> dict[int, dict[int, tuple[int, int]]]:
        """For each label the rules that predict it: their numbers, with value and votes."""
        rules: dict[int, dict[int, tuple[int, int]]] = {}
        for number, rule in enumerate(self.theory):
            for label, value, votes in rule.ballot:
                rules.setdefault(label, {})[number] = (value, votes)
        return rules

    def cell(self, condition: Condition, number: int, label: int) -> int:
        """The value of the tested label when rule `number` was to write `label`."""
        if self.seen is not None:
            return int(self.seen[label, condition.column])
        is_written = 0 <= self.trace.writer[condition.column] < number
        return int(self.trace.board[condition.column]) if is_written else int(UNSET)

    def holds(self, condition: Condition, number: int, label: int) -> bool:
        """Whether a condition held when rule `number` was to write `label`."""
        if condition.on_label:
            return self.cell(condition, number, label) == condition.value
        return bool(condition.holds(self.trace.values[condition.column]))

    def covered(self, number: int, label: int) -> bool:
        """Whether all conditions of rule `number` held when it was to write `label`."""
        return all(self.holds(c, number, label) for c in self.theory[number].body)

    def checked_rule(self, number: int, label: int) -> CheckedRule:
        """A rule that predicts `label`, with its conditions checked for the row."""
        rule = self.theory[number]
        value, votes = self.predicting[label][number]
        conditions = tuple(self._checked(condition, number, label) for condition in rule.body)
        return CheckedRule(
            self.place(number), rule, self.trace.texts[number], value, votes, conditions
        )

    def _checked(self, condition: Condition, number: int, label: int) -> CheckedCondition:
        schema, column = self.theory.schema, condition.column
        text, holds = condition_text(condition, schema), self.holds(condition, number, label)
        if condition.on_label:
            cell = CELLS[self.cell(condition, number, label)]
            return CheckedCondition(condition, text, schema.labels[column], cell, holds)
        feature = schema.features[column]
        value = named_value(feature, self.trace.values[column])
        is_binary = feature.present_code is not None or presence_of(condition, feature) is not None
        return CheckedCondition(condition, text, feature.name, value, holds, is_binary)

    def place(self, number: int) -> Place:
        """Where a rule of this part stands in the theory."""
        return place_in(self.theory, Place(number, self.layer, self.is_fallback))

    def nearly_covering(self, label: int) -> list[CheckedRule]:
        """The rules that predict a label and fail by one condition at most."""
        rules = []
        for number in self.predicting.get(label, ()):
            failing = (c for c in self.theory[number].body if not self.holds(c, number, label))
            if len(list(islice(failing, 2))) < 2:
                rules.append(self.checked_rule(number, label))
        return rules

    def closest_rule(self, label: int) -> CheckedRule | None:
        """The rule for the presence of a label with the fewest failing conditions, if any.

        Of several the one with the most conditions that hold, then the first.
        """
        best, fewest = None, (0, 0)
        for number, (value, _) in self.predicting.get(label, {}).items():
            body = self.theory[number].body
            if not value or not is_satisfiable(body, self.theory.schema):
                continue
            n_holding = sum(self.holds(c, number, label) for c in body)
            distance = (len(body) - n_holding, -n_holding)
            if best is None or distance < fewest:
                best, fewest = number, distance
        return None if best is None else self.checked_rule(best, label)

    @cached_property
    def choice(self) -> RowChoice | None:
        """How the labels were chosen together, if the rules are a set that does so."""
        theory, names = self.theory, self.theory.schema.labels
        if not isinstance(theory, RuleSet) or not theory.decides_rows:
            return None
        points = np.array([[self.points(label) for label in range(len(names))]])
        alone = RuleSet(theory.schema, at_least_one=theory.at_least_one)
        own = np.flatnonzero(alone.decided(points)[0])
        given = np.flatnonzero(theory.decided(points)[0])
        if not np.array_equal(given, np.flatnonzero(self.trace.board == 1)):
            return None  # one label was written after the other, not all together
        kind: Literal["points", "most points", "label set"] = "label set"
        if np.array_equal(given, own):
            kind = "points" if (points[0, own] > 0).all() else "most points"
        bonus = dict(theory.label_sets).get(tuple(given.tolist()), 0) if kind == "label set" else 0
        return RowChoice(
            kind,
            tuple(names[label] for label in given),
            tuple(points[0, given].tolist()),
            bonus,
            tuple(names[label] for label in own),
            int(points[0, own].sum()),
        )

    def points(self, label: int) -> int:
        """In a rule set, the votes for a label minus those against it."""
        return sum(
            votes if value else -votes
            for number, (value, votes) in self.predicting.get(label, {}).items()
            if self.covered(number, label)
        )

    def writers(self, label: int) -> list[int]:
        """The rules behind a label: the one that wrote it, or those that voted."""
        if self.is_sampled:
            return []
        if self.theory.ordered:
            writer = int(self.trace.writer[label])
            return [writer] if writer >= 0 else []
        return [n for n in self.predicting.get(label, ()) if self.covered(n, label)]


def stopping_rule(parts: Iterable[PartHistory], label: int) -> StoppingRule | None:
    """The first rule that ended a list before one that predicts the label, if any did."""
    for part in parts:
        stops = (n for n, rule in enumerate(part.theory) if rule.stops and part.covered(n, label))
        number = next(stops, None)
        if number is not None and max(part.predicting.get(label, ()), default=-1) > number:
            return StoppingRule(part.place(number), part.trace.texts[number])
    return None


def row_history(theory: Theory, one: Dataset) -> tuple[PartHistory, ...]:
    """The parts that the only row passed: layers, then the list for rows without labels."""
    row = trace(theory, one)
    if not isinstance(row, LayeredTrace):
        return (PartHistory(row),)
    parts = []
    for layer, part in enumerate(row.layers):
        is_last = layer == len(row.layers) - 1
        if is_last and isinstance(row.theory.inference, Gibbs):
            parts.append(PartHistory(part, layer, is_sampled=True, presence=row.presence))
        elif is_last:
            parts.append(replace(_last_layer(row, part, one), unsettled=row.unsettled))
        elif layer:
            parts.append(_reading(part, layer, closed(row.layers[layer - 1].board), layer - 1))
        else:
            parts.append(PartHistory(part, layer))
    if len(parts) == 1:
        parts = [replace(parts[0], layer=None)]  # a number would be of no use
    if row.fallback is not None:
        parts.append(PartHistory(row.fallback, is_fallback=True))
    return tuple(parts)


def _last_layer(row: LayeredTrace, part: Trace, one: Dataset) -> PartHistory:
    """The last layer; if it was read until it settled, it has read its own result."""
    layer = len(row.layers) - 1
    own = closed(part.board)
    if row.rounds:
        history = _reading(part, layer, own, layer)
        return history if layer else replace(history, first_round=trace(part.theory, one))
    before = closed(row.layers[layer - 1].board) if layer else None
    if isinstance(row.theory.inference, LabelByLabel):
        start = closed(part.theory.apply(one)[0]) if before is None else before
        return _label_by_label(part, layer, own, start, row.theory.inference)
    return PartHistory(part, layer) if before is None else _reading(part, layer, before, layer - 1)


def _reading(part: Trace, layer: int, seen: Board, source: int) -> PartHistory:
    n_labels = len(seen)
    sources = np.full((n_labels, n_labels), source)
    return PartHistory(part, layer, seen=np.tile(seen, (n_labels, 1)), source=sources)


def _label_by_label(
    part: Trace, layer: int, own: Board, start: Board, inference: LabelByLabel
) -> PartHistory:
    """The first round: each label sees those written before it, the others as they were."""
    n_labels = len(own)
    turn = np.argsort(inference.labels(n_labels))
    done = turn[None, :] < turn[:, None]
    source = np.where(done, layer, layer - 1 if layer else BEFORE)
    return PartHistory(part, layer, seen=np.where(done, own, start), source=source)


def dependency_chain(parts: tuple[PartHistory, ...], label: int, part: int) -> Chain:
    """The rules and labels that a label of the deciding part depends on, going back.

    A label in two layers is two nodes; a layer that has read its own result may have cycles.
    """
    start = (part, label)
    nodes, links = {start: _label_node(parts, *start)}, []
    rules: dict[tuple[int, int], ChainNode] = {}
    waiting = [start]
    for part, written in waiting:
        history = parts[part]
        for number in [] if part == BEFORE else history.writers(written):
            rule = rules.setdefault((part, number), _rule_node(history, number, written))
            links.append(ChainLink(rule.key, nodes[part, written].key))
            for condition in history.theory[number].body.on_labels:
                tested = condition.column
                source = part if history.source is None else int(history.source[written, tested])
                if (source, tested) not in nodes:
                    nodes[source, tested] = _label_node(parts, source, tested)
                    waiting.append((source, tested))
                links.append(ChainLink(nodes[source, tested].key, rule.key))
    cycle = _on_cycles({place: node.key for place, node in nodes.items()}, links)
    return Chain(
        (*nodes.values(), *rules.values()),
        tuple(dict.fromkeys(links)),
        tuple(nodes[place].name for place in cycle),
        tuple(_initial(parts, *place) for place in cycle),
    )


def _on_cycles(keys: dict[tuple[int, int], str], links: list[ChainLink]) -> list[tuple[int, int]]:
    """The labels that depend on themselves, at once or through others."""
    sources: dict[str, set[str]] = {}
    for link in links:
        sources.setdefault(link.target, set()).add(link.source)

    def depends_on_itself(key: str) -> bool:
        waiting, known = list(sources.get(key, ())), set()
        while waiting:
            one = waiting.pop()
            if one not in known:
                known.add(one)
                waiting += sources.get(one, ())
        return key in known

    return [place for place, key in keys.items() if depends_on_itself(key)]


def _initial(parts: tuple[PartHistory, ...], part: int, label: int) -> ChainNode:
    """A label before the cycle: in the layer before, else in the first round of the only layer."""
    first = parts[part].first_round
    row, layer = (parts[part - 1].trace, part - 1) if first is None else (first, None)
    writer = int(row.writer[label])
    where = parts[part].layer if layer is None else layer
    place = place_in(row.theory, Place(writer, where)) if writer >= 0 else None
    node = _label_node(parts, part, label)
    return replace(node, value=int(row.board[label] == 1), place=place, layer=layer)


def _label_node(parts: tuple[PartHistory, ...], part: int, label: int) -> ChainNode:
    name = parts[-1].theory.schema.labels[label]
    if part == BEFORE:
        return ChainNode(f"label {label} at first", "label", name)
    history = parts[part]
    key = f"label {label} of part {part}"
    value = int(history.trace.board[label] == 1)
    return ChainNode(key, "label", name, value=value, layer=history.layer)


def _rule_node(history: PartHistory, number: int, label: int) -> ChainNode:
    rule = history.checked_rule(number, label)
    return ChainNode(
        str(rule.place),
        "rule",
        rule.text,
        place=rule.place,
        layer=history.layer,
        conditions=rule.conditions,
    )
