"""Knowledge that a learner heeds, and rules that guard constraints between labels.

A constraint says that a label is present, or absent, where others are present. As a clause it is a
set of literals of which at least one must be true. A rule whose head would make the last one false
is preceded by a guard, which makes it true where all others are false: for ``infection <- flu``
a rule for flu is preceded by ``not flu <- not infection``. At the end stand the constraints
themselves, for labels that no rule has written.

Several constraints together may forbid more than each of them: all that follows from them by
resolution is guarded, too. Each clause has at most one literal for presence, and so has all that
follows; therefore labels left open can be absent, and predictions satisfy every constraint, on any
row, as far as the rules that were kept let them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any, TypeAlias

from labelrules._checks import counted, quoted, whole_number
from labelrules.constraints import Constraint
from labelrules.data.document import FrozenRecord
from labelrules.data.schema import Schema
from labelrules.rules import Body, Condition, DecisionList, Head, Rule, parse_rule, rule_text
from labelrules.rules.language.text import label_text, name_text
from labelrules.search.bodies.rule_language import Wish, language


class Knowledge(FrozenRecord, frozen=True, kw_only=True):
    """Knowledge of a person, told before rules are learned again.

    Parameters
    ----------
    forbidden : tuple of str or (str, str)
        Features that no new rule tests, and pairs of labels: new rules for the first do not test
        the second.
    preferred : tuple of str
        Features to explain with first: rules are searched for with these features alone, as long
        as any is found, and only then with all others.
    constraints : tuple of str
        Rules that test labels only, such as ``"infection <- flu"`` or ``"not flu <- pneumonia"``:
        no new rule breaks them. Constraints that were discovered may be given as they are.
    max_conditions : int, optional
        The largest body of a new rule.
    max_rules : int, optional
        The longest list, with rules that are kept, guards of constraints and a default rule; those
        for rows without labels and disabled rules are not part of it.
    max_literals : int, optional
        The most conditions and labels in heads of all new rules together.

    Examples
    --------
    >>> Knowledge(forbidden=("region",), max_conditions=3).expression()
    "Knowledge(forbidden=('region',), max_conditions=3)"
    """

    forbidden: tuple[Wish, ...] = ()
    preferred: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    max_conditions: int | None = None
    max_rules: int | None = None
    max_literals: int | None = None

    def expression(self) -> str:
        """The knowledge in Python, without what is as usual."""
        usual = Knowledge()
        given = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__struct_fields__
            if getattr(self, name) != getattr(usual, name)
        ]
        return f"Knowledge({', '.join(given)})"

    def words(self) -> list[str]:
        """The knowledge in plain English, each part of it in a phrase.

        >>> Knowledge(forbidden=("region", ("flu", "pneumonia")), max_rules=9).words()
        ['no new rule tests region', 'no new rule for flu tests pneumonia', 'at most 9 rules']
        """
        features = [name_text(one) for one in self.forbidden if isinstance(one, str)]
        pairs = [one for one in self.forbidden if not isinstance(one, str)]
        limits = {
            "in a new rule": (self.max_conditions, "condition"),
            "": (self.max_rules, "rule"),
            "in new rules": (self.max_literals, "literal"),
        }
        return [
            *([f"no new rule tests {' or '.join(features)}"] if features else []),
            *(f"no new rule for {label_text(a)} tests {label_text(b)}" for a, b in pairs),
            *(
                [f"tried first: {', '.join(map(name_text, self.preferred))}"]
                if self.preferred
                else []
            ),
            *(f"constraint: {one}" for one in self.constraints),
            *(
                f"at most {counted(most, noun)} {where}".rstrip()
                for where, (most, noun) in limits.items()
                if most is not None
            ),
        ]


def checked_knowledge(knowledge: Knowledge | None, schema: Schema) -> Knowledge:
    """The knowledge with names that are known, and constraints as text."""
    if knowledge is None:
        return Knowledge()
    if not isinstance(knowledge, Knowledge):
        raise TypeError(f"knowledge must be a Knowledge, not {knowledge!r:.60}")
    for name in ("forbidden", "preferred", "constraints"):
        if isinstance(getattr(knowledge, name), str):
            raise ValueError(
                f"{name} must be a list, not one text: ({getattr(knowledge, name)!r},)"
            )
    forbidden = tuple(tuple(one) if isinstance(one, list) else one for one in knowledge.forbidden)
    language(schema, forbidden=forbidden)  # refuses names that are unknown
    language(schema, forbidden=knowledge.preferred)
    limits = {
        name: whole_number(value, name, low=low)
        for name, low in (("max_conditions", 0), ("max_rules", 0), ("max_literals", 0))
        if (value := getattr(knowledge, name)) is not None
    }
    texts = constraint_texts(knowledge.constraints, schema)
    return Knowledge(
        forbidden=forbidden, preferred=tuple(knowledge.preferred), constraints=texts, **limits
    )


Literal: TypeAlias = tuple[int, int]
"""A label and its value."""
Clause: TypeAlias = frozenset[Literal]

MOST_CLAUSES = 1000
"""More constraints, with all that follows from them, are too many rules to read."""

NOTE = "keeps a constraint"
"""The note of guards."""


def constraint_texts(constraints: Any, schema: Schema) -> tuple[str, ...]:
    """Constraints as text, checked; they may be text, rules, or discovered constraints."""
    given = [constraints] if isinstance(constraints, str | Rule | Constraint) else constraints
    texts = []
    for one in given:
        if isinstance(one, Constraint):
            one = one.rule.with_evidence(None)
        text = rule_text(one, schema) if isinstance(one, Rule) else one
        rule = parse_rule(text, schema)
        positive = all(condition.value == 1 for condition in rule.body.on_labels)
        if rule.body.on_features or not rule.body.on_labels or not positive:
            raise ValueError(
                f"the constraint {quoted(text)} must test labels that are present, and nothing "
                "else, such as 'infection <- flu' or 'not flu <- pneumonia'"
            )
        texts.append(rule_text(replace(rule, note=None, evidence=None), schema))
    return tuple(texts)


def clauses_of(texts: Iterable[str], schema: Schema) -> list[Clause]:
    """The clauses of constraints, with all that follow from them, the shortest first."""
    found: set[Clause] = set()
    for text in texts:
        rule = parse_rule(text, schema)
        body = {(condition.column, 0) for condition in rule.body}
        new = {frozenset({*body, literal}) for literal in rule.head}
        found |= {clause for clause in new if not _is_always_true(clause)}
    found = _all_that_follow(_without_longer(found))
    return sorted(found, key=lambda clause: (len(clause), sorted(clause)))


def _is_always_true(clause: Clause) -> bool:
    return any((label, 1 - value) in clause for label, value in clause)


def _without_longer(clauses: set[Clause]) -> set[Clause]:
    """The clauses that do not follow from a shorter one."""
    return {one for one in clauses if not any(other < one for other in clauses)}


def _all_that_follow(clauses: set[Clause]) -> set[Clause]:
    """The clauses with their resolvents, until nothing shorter or new follows."""
    while True:
        new = set()
        for one, other in combinations(clauses, 2):
            opposed = [(j, v) for j, v in one if (j, 1 - v) in other]
            if len(opposed) == 1:
                (label, value), *_ = opposed
                new.add((one - {(label, value)}) | (other - {(label, 1 - value)}))
        grown = _without_longer(clauses | new)
        if grown == clauses:
            return clauses
        if len(grown) > MOST_CLAUSES:
            raise ValueError(
                f"more than {MOST_CLAUSES:,} constraints follow from those that are given: give "
                "fewer"
            )
        clauses = grown


class GuardedRules:
    """New rules, written one after the other behind rules that are kept, with guards."""

    def __init__(self, kept: DecisionList, clauses: list[Clause]) -> None:
        self.n_labels, self.clauses = kept.schema.n_labels, clauses
        self.rules: list[Rule] = []
        self.time = 0
        self.last_written: dict[Literal, int] = {}
        self.last_guarded: dict[tuple[Clause, Literal], int] = {}
        for rule in kept:
            self._note(rule)

    def _note(self, rule: Rule) -> None:
        self.time += 1
        for literal in rule.head:
            self.last_written[literal] = self.time

    def add(self, rule: Rule) -> None:
        """Add a rule behind the guards that it needs."""
        for part in self._parts(rule):
            for label, value in part.head:
                for clause in self.clauses:
                    if (label, 1 - value) in clause:
                        self.guard(clause, (label, 1 - value))
            self.rules.append(part)
            self._note(part)
            for clause, literal in product(self.clauses, part.head):
                if literal in clause and part.body == _rest_is_false(clause, literal):
                    self.last_guarded[clause, literal] = self.time  # it is a guard itself

    def guard(self, clause: Clause, literal: Literal) -> None:
        """Make a literal true where all others of its clause are false, if that can be."""
        times = [self.last_written.get((j, 1 - v), 0) for j, v in clause - {literal}]
        if 0 in times or max(times, default=1) <= self.last_guarded.get((clause, literal), 0):
            return
        body = _rest_is_false(clause, literal)
        rule = Rule(Head(dict([literal]), self.n_labels), body, note=NOTE)
        self.rules.append(rule)
        self._note(rule)
        self.last_guarded[clause, literal] = self.time

    def close(self) -> None:
        """Add the constraints themselves, for labels that no rule has written."""
        for clause in self.clauses:
            for literal in clause:
                if literal[1] == 1:
                    self.guard(clause, literal)

    def _parts(self, rule: Rule) -> Iterator[Rule]:
        """The rule, in parts if its head alone makes several literals of a clause false."""
        false = {(label, 1 - value) for label, value in rule.head}
        apart = sorted({one for c in self.clauses if len(c & false) > 1 for one in c & false})
        labels = [label for label, _ in apart]
        rest = {label: value for label, value in rule.head if label not in labels}
        heads = [{label: 1 - value} for label, value in apart] + [rest] * bool(rest)
        for number, head in enumerate(heads, 1):
            ends = rule.stops and number == len(heads)
            part = Head(head, self.n_labels)
            yield replace(rule, head=part, stops=ends, evidence=None)


def _rest_is_false(clause: Clause, literal: Literal) -> Body:
    """The body that holds where all other literals of a clause are false."""
    return Body(Condition.label(label, value == 0) for label, value in sorted(clause - {literal}))


def guarded(
    kept: DecisionList, learned: Iterable[Rule], texts: Iterable[str], schema: Schema
) -> list[Rule]:
    """The new rules with guards, so that none of them breaks a constraint."""
    found = GuardedRules(kept, clauses_of(texts, schema))
    for rule in learned:
        if not rule.body:
            found.close()
        found.add(rule)
    found.close()
    return found.rules


def without_breaking(rules: Iterable[Rule], texts: Iterable[str], schema: Schema) -> list[Rule]:
    """Keep the rules for rows without labels whose heads alone satisfy all constraints."""
    clauses = clauses_of(texts, schema)
    kept = []
    for rule in rules:
        present = {label for label, value in rule.head if value}
        if all(any((j in present) == bool(v) for j, v in clause) for clause in clauses):
            kept.append(rule)
    return kept
