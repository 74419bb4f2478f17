"""Whether any values of the features could make a label present, or absent.

Rules are looked at one by one, as if none stood in another's way. So the answer "no" is sure, and
spares the search for a change that no rule provides for; the answer "yes" says nothing.
"""

from collections.abc import Iterable, Sequence

from labelrules.rules import Body, DecisionList, Gibbs, LayeredTheory, Rule, Theory


def may_be_present(theory: Theory, label: int, options: Sequence[Sequence[float]]) -> bool:
    """Tell False only if no row could have the label: no rule that could hold speaks for it.

    Parameters
    ----------
    theory : Theory
    label : int
    options : sequence of sequence of float
        For each feature the values that it may have.
    """
    if not isinstance(theory, LayeredTheory):
        return label in _present(theory, set(), options)
    if isinstance(theory.inference, Gibbs):
        return True  # labels are drawn, whatever the rules say
    found: set[int] = set()
    for layer in theory.layers:
        found = _present(layer, found, options)
    if theory.fallback is not None:
        found |= _present(theory.fallback, set(), options)
    return label in found


def may_be_absent(theory: Theory, label: int, options: Sequence[Sequence[float]]) -> bool:
    """Tell False only if every row must have the label: a rule that always holds writes it first.

    The parameters are those of `may_be_present`.
    """
    part = theory.layers[-1] if isinstance(theory, LayeredTheory) else theory
    is_drawn = isinstance(theory, LayeredTheory) and isinstance(theory.inference, Gibbs)
    if is_drawn or not isinstance(part, DecisionList):
        return True
    for rule in part:
        if rule.stops or (label, 0) in rule.head:
            if _could_hold(rule.body, options):
                return True
        elif (label, 1) in rule.head and _must_hold(rule.body, options):
            return False
    return True


def _present(part: Theory, before: set[int], options: Sequence[Sequence[float]]) -> set[int]:
    """The labels for which a rule could speak, given those that may have been present before."""
    waiting = [rule for rule in part if _could_hold(rule.body, options)]
    found: set[int] = set()
    while True:
        new = set(_written(waiting, before | found)) - found
        if not new:
            return found
        found |= new


def _written(rules: Iterable[Rule], present: set[int]) -> Iterable[int]:
    for rule in rules:
        if all(c.column in present for c in rule.body.on_labels if c.value == 1):
            yield from (label for label, value in rule.head if value == 1)


def _could_hold(body: Body, options: Sequence[Sequence[float]]) -> bool:
    columns = {condition.column for condition in body.on_features}
    return all(
        any(
            all(c.holds(value) for c in body.on_features if c.column == column)
            for value in options[column]
        )
        for column in columns
    )


def _must_hold(body: Body, options: Sequence[Sequence[float]]) -> bool:
    return not body.on_labels and all(
        c.holds(value) for c in body.on_features for value in options[c.column]
    )
