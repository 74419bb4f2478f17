"""Smaller theories: without rules that are wrong, and within a number of literals to read."""

from typing import TypeAlias

from labelrules._checks import whole_number
from labelrules.data import Dataset
from labelrules.rules import DecisionList, LayeredTheory, Rule

Lists: TypeAlias = DecisionList | LayeredTheory
"""A decision list, or several in layers."""


def checked_size(max_literals: int | None) -> int | None:
    """A number of literals, or None for any."""
    if max_literals is None:
        return None
    return whole_number(max_literals, "max_literals", low=0, also="None")


def without_wrong_rules(theory: Lists, data: Dataset) -> Lists:
    """The theory without rules that are wrong as often as right on the cells that they decide.

    A rule is learned from rows on which it is right, but on a board that the theory itself has
    predicted, or after the rules of other labels, it may decide other ones. Rules for rows without
    labels stay: they name a label that is likelier there than elsewhere. The theory must have
    evidence.
    """
    wrong = {
        (part, number)
        for part, layer in enumerate(_layers(theory))
        for number, rule in enumerate(layer)
        if len(rule.body) > 0 and _net(rule) <= 0
    }
    if not wrong:
        return theory
    # Without one rule, others decide more.
    return without_wrong_rules(_without(theory, wrong).with_evidence(data, data.Y), data)


def within_literals(theory: Lists, data: Dataset, max_literals: int | None) -> Lists:
    """The theory with at most so many literals; the least useful rules are left out, one by one.

    That is the rule with the fewest right cells beyond the wrong ones for each of its literals, on
    the training rows as the rules that are left decide them; of equal ones the last.
    """
    while max_literals is not None and theory.n_literals > max_literals:
        parts = theory.parts if isinstance(theory, LayeredTheory) else (theory,)
        places = [
            (_net(rule) / rule.n_literals, -part, -number)
            for part, rules in enumerate(parts)
            for number, rule in enumerate(rules)
            if rule.n_literals
        ]
        _, part, number = min(places)
        theory = _without(theory, {(-part, -number)}).with_evidence(data, data.Y)
    return theory


def _layers(theory: Lists) -> tuple[DecisionList, ...]:
    return theory.layers if isinstance(theory, LayeredTheory) else (theory,)  # type: ignore[return-value]


def _net(rule: Rule) -> int:
    """Right cells minus wrong ones."""
    return sum(cells.right - cells.wrong for cells in rule.evidence or () if cells is not None)


def _without(theory: Lists, left_out: set[tuple[int, int]]) -> Lists:
    """The theory without the rules at these places: part, and number in the part."""
    if isinstance(theory, DecisionList):
        return _rest(theory, 0, left_out)
    layers = [_rest(layer, part, left_out) for part, layer in enumerate(_layers(theory))]
    fallback = theory.fallback
    if fallback is not None:
        fallback = _rest(fallback, len(layers), left_out)
        if not len(fallback) and len(layers) == 1:
            return layers[0]
    return LayeredTheory(theory.schema, layers, theory.inference, fallback)


def _rest(rules: DecisionList, part: int, left_out: set[tuple[int, int]]) -> DecisionList:
    return rules.with_rules(
        rule for number, rule in enumerate(rules) if (part, number) not in left_out
    )
