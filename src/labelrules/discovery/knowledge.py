"""Whether constraints can hold together: those that somebody knows, and those that were learned."""

import numpy as np

from labelrules.discovery.clauses import Clauses
from labelrules.discovery.constraint import Constraints
from labelrules.discovery.flips import SearchTooLongError, is_mendable
from labelrules.rules import Head, Rule, rule_text


def consistent(clauses: Clauses) -> Clauses:
    """The same, if some label set satisfies them all."""
    if not is_satisfiable(clauses):
        raise ValueError(
            "no label set satisfies these constraints together: "
            + "; ".join(contradiction(clauses))
            + ". Leave one of them out"
        )
    return clauses


def contradiction(clauses: Clauses) -> list[str]:
    """Constraints that contradict each other, none of which could be left out of it."""
    kept = [clause.rule for clause in clauses.clauses]
    for rule in list(kept):
        fewer = [other for other in kept if other is not rule]
        if not is_satisfiable(Clauses(clauses.schema, fewer)):
            kept = fewer
    few = Clauses(clauses.schema, kept)
    return [few.text(number) for number in range(len(few))]


def is_satisfiable(clauses: Clauses) -> bool:
    """Whether some label set satisfies all clauses: any will do."""
    nothing = np.zeros((1, clauses.schema.n_labels), dtype=np.int8)
    _, broken = clauses.broken(nothing)
    try:
        return is_mendable(nothing[0].tolist(), clauses, broken.tolist())
    except SearchTooLongError as wrong:
        raise ValueError(
            f"it was not found out whether the {len(clauses)} constraints can hold together, in "
            f"which {wrong} have to do with each other: use fewer of them, or smaller bodies"
        ) from None


def together(given: Clauses, found: Constraints | None) -> tuple[Clauses, tuple[str, ...]]:
    """All constraints, those given first, and those that were found but contradict them.

    A constraint that was found is left out if what is given lets its body hold, but not together
    with its head.
    """
    if found is None:
        return given, ()
    schema = given.schema
    rules = [clause.rule for clause in given.clauses]
    learned = [constraint.rule for constraint in found]
    left_out = [rule for rule in learned if rules and _contradicts(rule, rules, given)]
    kept = [rule for rule in learned if rule not in left_out]
    clauses = Clauses(schema, [*rules, *kept])
    if not is_satisfiable(clauses):
        raise ValueError(
            "no label set satisfies the constraints given together with those learned: "
            + "; ".join(contradiction(clauses))
            + ". Change what is given, or use learn=False"
        )
    return clauses, tuple(rule_text(rule, schema) for rule in left_out)


def _contradicts(rule: Rule, rules: list[Rule], given: Clauses) -> bool:
    facts = [
        Rule(Head({condition.column: int(condition.value)}, rule.head.n_labels))
        for condition in rule.body
    ]
    could_hold = is_satisfiable(Clauses(given.schema, [*rules, *facts]))
    return could_hold and not is_satisfiable(Clauses(given.schema, [*rules, *facts, rule]))
