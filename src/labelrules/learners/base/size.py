"""Smaller theories: without rules that are wrong, and within a number of literals to read."""

from typing import TypeAlias

from labelrules._checks import whole_number
from labelrules.data.rows import Rows
from labelrules.rules import DecisionList, Evidence, Head, LayeredTheory, Rule

Lists: TypeAlias = DecisionList | LayeredTheory
"""A decision list, or several in layers."""


def checked_size(max_literals: int | None) -> int | None:
    """A number of literals, or None for any."""
    if max_literals is None:
        return None
    return whole_number(max_literals, "max_literals", low=0, also="None")


def without_wrong_rules(theory: Lists, data: Rows) -> Lists:
    """The theory without rules that are wrong as often as right on the cells that they decide.

    A rule is learned from rows on which it is right, but on a board that the theory itself has
    predicted, or after the rules of other labels, it may decide other ones. Rules for rows without
    labels stay: they name a label that is likelier there than elsewhere. The theory must have
    evidence.
    """
    wrong = {
        (part, number)
        for part, layer in enumerate(theory.layers)
        for number, rule in enumerate(layer)
        if len(rule.body) > 0 and _net(rule) <= 0
    }
    if not wrong:
        return theory
    # Without one rule, others decide more.
    return without_wrong_rules(_without(theory, wrong).with_evidence(data), data)


def within_literals(theory: Lists, data: Rows, max_literals: int | None, n_kept: int = 0) -> Lists:
    """The theory with at most so many literals; the least useful rules are left out, one by one.

    That is the rule with the fewest right cells beyond the wrong ones for each of its literals, on
    the training rows as the rules that are left decide them; of equal ones the last. Then as much
    of a default as fits comes back, and rules that fit, the most useful first. The first `n_kept`
    rules stay in any case.
    """
    if max_literals is None or theory.n_literals <= max_literals:
        return theory
    places = [(p, n) for p, rules in enumerate(_parts(theory)) for n in range(len(rules))]
    left_out: set[tuple[int, int]] = set()
    smaller = theory
    while smaller.n_literals > max_literals:
        kept = [place for place in places if place not in left_out]
        rules = [rule for part in _parts(smaller) for rule in part]
        worth = [
            (_worth(rule), -k)
            for k, rule in enumerate(rules)
            if rule.n_literals and kept[k] >= (0, n_kept)
        ]
        if not worth:
            break
        left_out.add(kept[-min(worth)[1]])
        smaller = _without(theory, left_out).with_evidence(data)
    rule_at = {(p, n): _parts(theory)[p][n] for p, n in places}
    for place in sorted(left_out):
        room = max_literals - smaller.n_literals
        if room > 0 and not len(rule_at[place].body):
            theory = _with_rule(theory, place, _with_fewer_labels(rule_at[place], room))
            left_out.remove(place)
            smaller = _without(theory, left_out)
    for place in sorted(left_out, key=lambda place: (-_worth(rule_at[place]), place)):
        if smaller.n_literals + rule_at[place].n_literals <= max_literals:
            left_out.remove(place)
            smaller = _without(theory, left_out)
    found: Lists = smaller.with_evidence(data)
    return found


def _parts(theory: Lists) -> tuple[DecisionList, ...]:
    """The layers and the fallback, or the list itself."""
    return theory.parts  # type: ignore[return-value]


def _worth(rule: Rule) -> float:
    """Right cells beyond the wrong ones for each literal."""
    return _net(rule) / max(1, rule.n_literals)


def _with_fewer_labels(rule: Rule, n_present: int) -> Rule:
    """A rule that predicts so many labels present: those that are right most often."""
    counts = {label: rule.evidence_for(label) or Evidence(0, 0) for label, _ in rule.head}
    present = [label for label, value in rule.head if value]
    present.sort(key=lambda label: counts[label].wrong - counts[label].right)
    kept = set(present[:n_present])
    head = Head({j: int(j in kept) for j in rule.head.labels}, rule.head.n_labels)
    return Rule(head, rule.body, note=rule.note)


def _with_rule(theory: Lists, place: tuple[int, int], rule: Rule) -> Lists:
    """The theory with another rule at a place."""
    parts, (at, number) = list(theory.parts), place
    rules = list(parts[at])
    rules[number] = rule
    parts[at] = parts[at].with_rules(rules)
    return theory.with_parts(parts)  # type: ignore[return-value]


def _net(rule: Rule) -> int:
    """Right cells minus wrong ones."""
    return sum(cells.right - cells.wrong for cells in rule.evidence or () if cells is not None)


def _without(theory: Lists, left_out: set[tuple[int, int]]) -> Lists:
    """The theory without the rules at these places: part, and number in the part."""
    parts = [_rest(part, number, left_out) for number, part in enumerate(_parts(theory))]
    if theory.fallback is not None and len(theory.layers) == 1 and not len(parts[-1]):
        return parts[0]
    return theory.with_parts(parts)  # type: ignore[return-value]


def _rest(rules: DecisionList, part: int, left_out: set[tuple[int, int]]) -> DecisionList:
    return rules.with_rules(
        rule for number, rule in enumerate(rules) if (part, number) not in left_out
    )
