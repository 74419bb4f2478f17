"""Constraints in the form in which they are kept or broken: of some literals one must hold."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from labelrules._checks import quoted
from labelrules._types import Board, Integers
from labelrules.data.schema import Schema
from labelrules.discovery.constraints.constraint import Constraints
from labelrules.rules import Body, Head, LayeredTheory, Rule, Theory, parse, rule_text

Literal: TypeAlias = tuple[int, int]
"""A label and 1 for its presence, 0 for its absence."""

PIECE = 1 << 22
"""Cells of rows by clauses that are looked at together."""


class Clause(NamedTuple):
    """One literal of a head, and that no body holds without it."""

    literals: tuple[Literal, ...]
    rule: Rule


class Clauses:
    """What a label set must satisfy, made from rules whose bodies test labels only.

    Parameters
    ----------
    schema : Schema
    rules : iterable of Rule
    """

    def __init__(self, schema: Schema, rules: Iterable[Rule]) -> None:
        self.schema = schema
        # A dictionary keeps one of several that say the same, and their order.
        unique = {frozenset(clause.literals): clause for rule in rules for clause in _clauses(rule)}
        self.clauses = tuple(unique.values())

    def __len__(self) -> int:
        return len(self.clauses)

    @cached_property
    def having(self) -> dict[Literal, list[int]]:
        """The clauses with each literal."""
        found: dict[Literal, list[int]] = {}
        for number, clause in enumerate(self.clauses):
            for literal in clause.literals:
                found.setdefault(literal, []).append(number)
        return found

    @cached_property
    def _signs(self) -> sparse.csr_array:
        """Clauses by labels, 1 for presence, -1 for absence; other cells do not matter."""
        entries = [
            (number, label, 1 if value else -1)
            for number, clause in enumerate(self.clauses)
            for label, value in clause.literals
        ]
        rows, columns, signs = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        shape = (len(self.clauses), self.schema.n_labels)
        return sparse.csr_array((signs.astype(np.int32), (rows, columns)), shape=shape)

    def broken(self, board: Board) -> tuple[Integers, Integers]:
        """Rows and the clauses they break, by row."""
        if not len(self.clauses) or not len(board):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        n_absences = (self._signs < 0).sum(axis=1)
        step = max(PIECE // len(self.clauses), 1)
        rows, clauses = [], []
        for start in range(0, len(board), step):
            piece = board[start : start + step].astype(np.int32)
            n_true = (self._signs @ piece.T).T + n_absences
            found = np.nonzero(n_true == 0)
            rows.append(found[0] + start)
            clauses.append(found[1])
        return np.concatenate(rows), np.concatenate(clauses)

    def text(self, number: int) -> str:
        """A clause as a rule."""
        return rule_text(self.clauses[number].rule, self.schema)


def _clauses(rule: Rule) -> Iterator[Clause]:
    against = {(condition.column, 1 - int(condition.value)) for condition in rule.body}
    for label, value in rule.head:
        literals = against | {(label, value)}
        # A body that asks for a label and for its absence, or for what the head says, is kept
        # by every row.
        if len({tested for tested, _ in literals}) == len(literals):
            only = Rule(Head({label: value}, rule.head.n_labels), rule.body)
            yield Clause(tuple(sorted(literals)), only)


def rules_of(given: Any, schema: Schema) -> tuple[Rule, ...]:
    """Constraints that a user gives, as rules over the labels of a schema.

    Parameters
    ----------
    given : str, Rule, theory, Constraints, or iterable of them
        Text is in the rule language.
    schema : Schema
    """
    if given is None:
        return ()
    if isinstance(given, str):
        given = parse(given, schema)
    if isinstance(given, Constraints):
        given = given.rules()
    if isinstance(given, LayeredTheory):
        raise ValueError("constraints have no layers: give rules without headings")
    if isinstance(given, Theory):
        _check_labels(given.schema, schema)
        return tuple(_checked(rule, schema) for rule in given)
    if isinstance(given, Rule):
        return (_checked(given, schema),)
    if not isinstance(given, Iterable):
        raise TypeError(
            f"constraints are given as rules or as text such as 'a <- b', not as "
            f"{type(given).__name__}"
        )
    return tuple(rule for one in given for rule in rules_of(one, schema))


def _check_labels(of_rules: Schema, schema: Schema) -> None:
    if of_rules.labels != schema.labels:
        raise ValueError(
            f"the constraints are about {len(of_rules.labels)} labels, "
            f"{quoted(of_rules.labels[0])} first, and the rows have {len(schema.labels)}, "
            f"{quoted(schema.labels[0])} first: both need the same labels in the same order"
        )


def _checked(rule: Rule, schema: Schema) -> Rule:
    """A rule that can be a constraint."""
    if rule.head.n_labels != schema.n_labels:
        raise ValueError(
            f"a constraint is about {rule.head.n_labels} labels, the rows have {schema.n_labels}"
        )
    if rule.body.on_features:
        raise ValueError(
            "a constraint tests labels only, and one has a condition on a feature: "
            f"{_shown(rule, schema)}"
        )
    if rule.stops:
        raise ValueError(f"a constraint has no stop mark: {_shown(rule, schema)}")
    return Rule(rule.head, Body(rule.body))


def _shown(rule: Rule, schema: Schema) -> str:
    if schema.n_features:
        return rule_text(rule, schema)
    return f"that for {quoted(schema.labels[rule.head.labels[0]])}"
