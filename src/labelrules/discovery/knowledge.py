"""Constraints that somebody knows, together with those that were learned."""

from labelrules.discovery.clauses import Clauses
from labelrules.discovery.constraint import Constraints
from labelrules.discovery.repair import contradiction, is_satisfiable
from labelrules.rules import Head, Rule, rule_text


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
