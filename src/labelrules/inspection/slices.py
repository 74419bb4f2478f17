"""The part of a theory that one label depends on."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from labelrules.data.schema import Schema
from labelrules.rules import Body, DecisionList, LayeredTheory, Once, Rule, RuleSet, Theory

Simple: TypeAlias = DecisionList | RuleSet


class Slice(NamedTuple):
    """A theory without what does not matter for a label, over the features that are left."""

    theory: Theory
    columns: tuple[int, ...]
    """The features of the original theory that it tests, in order."""


def slice_for(theory: Theory, label: int) -> Slice:
    """Leave out rules that cannot influence a label, and features that no rule then tests.

    A rule may matter if it speaks of the label, if it writes a label that such a rule tests, or
    if it may end the list before such a rule.
    """
    part = _layered(theory, label) if isinstance(theory, LayeredTheory) else theory
    if not isinstance(part, LayeredTheory):
        part = _simple(part, {label}, looks_at_itself=True)[0]
    columns = tuple(sorted({c.column for rule in part for c in rule.body.on_features}))
    return Slice(_projected(part, columns), columns)


def _layered(theory: LayeredTheory, label: int) -> LayeredTheory:
    if not isinstance(theory.inference, Once):
        return theory  # asked again and again, any label may decide when it ends
    every = set(range(theory.schema.n_labels))
    wanted = {label} if theory.fallback is None else every
    layers: list[Simple] = []
    for number, layer in reversed(list(enumerate(theory.layers))):
        part, wanted = _simple(layer, wanted, looks_at_itself=number == 0)
        layers.insert(0, part)
    fallback = theory.fallback
    if fallback is not None:
        fallback = DecisionList(theory.schema, _speaking(fallback, {label}))
    return LayeredTheory(theory.schema, layers, theory.inference, fallback)


def _simple(theory: Theory, wanted: set[int], looks_at_itself: bool) -> tuple[Simple, set[int]]:
    """The rules that matter for the wanted labels, and the labels that these rules test."""
    kind = DecisionList if isinstance(theory, DecisionList) else RuleSet
    while True:
        rules = _speaking(theory, wanted)
        tested = {c.column for rule in rules for c in rule.body.on_labels}
        if not looks_at_itself or tested <= wanted or kind is RuleSet:
            return kind(theory.schema, rules), tested
        wanted = wanted | tested


def _speaking(theory: Iterable[Rule], labels: set[int]) -> list[Rule]:
    return [rule for rule in theory if rule.stops or labels & set(rule.head.labels)]


def _projected(theory: Theory, columns: tuple[int, ...]) -> Theory:
    """The same theory over some of its features only."""
    schema = Schema(
        [theory.schema.features[j] for j in columns], theory.schema.labels, theory.schema.parents
    )
    place = {column: number for number, column in enumerate(columns)}

    def simple(part: Theory) -> Simple:
        kind = DecisionList if isinstance(part, DecisionList) else RuleSet
        return kind(schema, [_moved(rule, place) for rule in part])

    if not isinstance(theory, LayeredTheory):
        return simple(theory)
    fallback = None
    if theory.fallback is not None:
        fallback = DecisionList(schema, [_moved(rule, place) for rule in theory.fallback])
    return LayeredTheory(schema, map(simple, theory.layers), theory.inference, fallback)


def _moved(rule: Rule, place: dict[int, int]) -> Rule:
    conditions = [c if c.on_label else replace(c, column=place[c.column]) for c in rule.body]
    return replace(rule, body=Body(conditions))
