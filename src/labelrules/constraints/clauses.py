"""Constraints as clauses, sets of literals of which one must hold: violations and repairs."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from labelrules._checks import quoted
from labelrules._types import Board, Integers
from labelrules.constraints.constraint import Constraints
from labelrules.constraints.find import places
from labelrules.data.schema import Schema
from labelrules.rules import Body, Head, LayeredTheory, Rule, Theory, parse, rule_text

Literal: TypeAlias = tuple[int, int]  # a label and 1 for its presence, 0 for its absence
PIECE = 1 << 22  # cells of rows by clauses that are counted together
MAX_STEPS = 50_000  # steps of a search for flips at most: some tens of seconds for one row


class Clause(NamedTuple):
    """The clause of a rule with one label in its head: that literal, or a body that fails."""

    literals: tuple[Literal, ...]
    rule: Rule


class Clauses:
    """What a label set must satisfy, from rules whose bodies test labels only."""

    def __init__(self, schema: Schema, rules: Iterable[Rule]) -> None:
        self.schema = schema
        # A dictionary keeps one of several equal clauses, and their order.
        unique = {frozenset(clause.literals): clause for rule in rules for clause in _clauses(rule)}
        self.clauses = tuple(unique.values())

    def __len__(self) -> int:
        return len(self.clauses)

    @cached_property
    def having(self) -> dict[Literal, list[int]]:
        """The clauses with each literal."""
        numbers: dict[Literal, list[int]] = {}
        for number, clause in enumerate(self.clauses):
            for literal in clause.literals:
                numbers.setdefault(literal, []).append(number)
        return numbers

    @cached_property
    def _signs(self) -> sparse.csr_array:
        """Clauses by labels, 1 for presence, -1 for absence, 0 for other labels."""
        entries = [(n, *one) for n, clause in enumerate(self.clauses) for one in clause.literals]
        rows, columns, values = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        signs = (2 * values - 1).astype(np.int32)
        shape = (len(self.clauses), self.schema.n_labels)
        return sparse.csr_array((signs, (rows, columns)), shape=shape)

    def broken(self, board: Board) -> tuple[Integers, Integers]:
        """Rows and the clauses they violate, by row."""
        if not len(self.clauses) or not len(board):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        n_absences = (self._signs < 0).sum(axis=1)
        step = max(PIECE // len(self.clauses), 1)
        rows, clauses = [], []
        for start in range(0, len(board), step):
            piece = board[start : start + step].astype(np.int32)
            n_true = (self._signs @ piece.T).T + n_absences
            violating = np.nonzero(n_true == 0)
            rows.append(violating[0] + start)
            clauses.append(violating[1])
        return np.concatenate(rows), np.concatenate(clauses)

    def text(self, number: int) -> str:
        """A clause as a rule."""
        return rule_text(self.clauses[number].rule, self.schema)


def _clauses(rule: Rule) -> Iterator[Clause]:
    against = {(condition.column, 1 - int(condition.value)) for condition in rule.body}
    for label, value in rule.head:
        literals = against | {(label, value)}
        # Every row satisfies a rule whose body tests a label both ways, or implies the head.
        if len({tested for tested, _ in literals}) == len(literals):
            only = Rule(Head({label: value}, rule.head.n_labels), rule.body)
            yield Clause(tuple(sorted(literals)), only)


def rules_of(given: Any, schema: Schema) -> tuple[Rule, ...]:
    """Constraints that a user gives, as text or in any other form, as rules over the labels."""
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
            f"constraints must be rules or text such as 'a <- b', not {type(given).__name__}"
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
    if rule.head.n_labels != schema.n_labels:
        raise ValueError(
            f"a constraint is about {rule.head.n_labels} labels, the rows have {schema.n_labels}"
        )
    shown = f"that for {quoted(schema.labels[rule.head.labels[0]])}"
    if schema.n_features:
        shown = rule_text(rule, schema)
    if rule.body.on_features:
        raise ValueError(f"a constraint tests labels only, and one tests a feature: {shown}")
    if rule.stops:
        raise ValueError(f"a constraint has no stop mark: {shown}")
    return Rule(rule.head, Body(rule.body))


class SearchTooLongError(RuntimeError):
    """A search for flips that gave up; the message is the number of connected labels."""


class FlipChoice(NamedTuple):
    """Labels to flip and labels to keep, as bits: one of these choices must be made."""

    flip: int
    keep: int


def cheapest_flips(
    row: Sequence[int], costs: Sequence[int], clauses: Clauses, broken: Sequence[int]
) -> list[int] | None:
    """The labels to flip, given the `broken` clauses of a row; None if no label set satisfies all.

    The least sum of costs; then the fewest labels; then, from the first label on, a label that is
    kept before one that is flipped. So no two label sets are equally good.
    """
    flipped: list[int] = []
    for labels, choices in _components(row, clauses, _concerned(row, clauses, broken)):
        best = FlipSearch(ranked([costs[label] for label in labels]), choices).best()
        if best is None:
            return None
        flipped += [label for place, label in enumerate(labels) if best >> place & 1]
    return sorted(flipped)


def ranked(costs: Sequence[int]) -> list[int]:
    """A weight for each label, so that sums of them rank by cost, then number, then order.

    >>> ranked([5, 5])
    [66, 65]
    """
    n = len(costs)
    return [(cost * (n + 1) + 1 << n) + (1 << n - 1 - place) for place, cost in enumerate(costs)]


def _concerned(row: Sequence[int], clauses: Clauses, broken: Sequence[int]) -> dict[int, None]:
    """Clauses that are violated, or whose true literals could all be flipped for others."""
    concerned = dict.fromkeys(broken)
    waiting = list(concerned)
    flippable: set[int] = set()
    n_safe: dict[int, int] = {}
    while waiting:
        for label, value in clauses.clauses[waiting.pop()].literals:
            if row[label] == value or label in flippable:
                continue
            flippable.add(label)
            for other in clauses.having.get((label, row[label]), ()):
                if other not in n_safe:
                    literals = clauses.clauses[other].literals
                    n_safe[other] = sum(row[one] == wanted for one, wanted in literals)
                n_safe[other] -= 1
                if n_safe[other] == 0 and other not in concerned:
                    concerned[other] = None
                    waiting.append(other)
    return concerned


def _components(
    row: Sequence[int], clauses: Clauses, concerned: dict[int, None]
) -> Iterator[tuple[list[int], list[FlipChoice]]]:
    """Labels that are connected by clauses, and the choices among them."""
    leader: dict[int, int] = {}

    def lead(label: int) -> int:
        while leader.setdefault(label, label) != label:
            leader[label] = leader[leader[label]]
            label = leader[label]
        return label

    literals = [clauses.clauses[number].literals for number in concerned]
    flippable = {label for clause in literals for label, value in clause if row[label] != value}
    for clause in literals:
        members = [label for label, _ in clause if label in flippable]
        for label in members[1:]:
            leader[lead(label)] = lead(members[0])
    together: dict[int, list[int]] = {}
    for label in sorted(flippable):
        together.setdefault(lead(label), []).append(label)
    place = {label: spot for group in together.values() for spot, label in enumerate(group)}
    choices: dict[int, list[FlipChoice]] = {first: [] for first in together}
    for clause in literals:
        flip = sum(1 << place[label] for label, value in clause if row[label] != value)
        keep = sum(1 << place[label] for label, value in clause if row[label] == value)
        choices[lead(clause[0][0])].append(FlipChoice(flip, keep))
    for first, labels in together.items():
        yield labels, choices[first]


class FlipSearch:
    """Branch and bound for flips, as bits, that satisfy all choices; `best` needs distinct sums."""

    def __init__(self, weights: Sequence[int], choices: Sequence[FlipChoice]) -> None:
        self.weights, self.choices = list(weights), list(choices)
        self.by_weight = sorted(range(len(weights)), key=lambda place: -weights[place])

    def best(self) -> int | None:
        """The cheapest flips as bits, or None if the choices contradict each other."""
        best: int | None = None
        least = sum(self.weights) + 1
        waiting = [(0, 0)]
        for flipped, kept, open_choices in self._reached(waiting):
            cost = sum(self.weights[place] for place in places(flipped))
            if cost + self._bound(open_choices) >= least:
                continue
            if not open_choices:
                best, least = flipped, cost
                continue
            place = self._most_frequent(open_choices)
            waiting += [(flipped, kept | place), (flipped | place, kept)]
        return best

    def any(self) -> int | None:
        """The first flips that are found, as bits, or None if the choices contradict each other."""
        waiting = [(0, 0)]
        for flipped, kept, open_choices in self._reached(waiting):
            if not open_choices:
                return flipped
            # The shortest choices first: they are decided soonest.
            fewest = min(bits.bit_count() for bits in open_choices)
            place = self._most_frequent([b for b in open_choices if b.bit_count() == fewest])
            waiting += [(flipped, kept | place), (flipped | place, kept)]
        return None

    def _reached(self, waiting: list[tuple[int, int]]) -> Iterator[tuple[int, int, list[int]]]:
        """Flipped and kept labels with the open choices, last in first out; callers add states."""
        for _ in range(MAX_STEPS):
            if not waiting:
                return
            state = self._forced(*waiting.pop())
            if state is not None:
                yield *state, self._open(*state)
        if waiting:
            raise SearchTooLongError(f"{len(self.weights)} labels")

    def _open(self, flipped: int, kept: int) -> list[int]:
        """The possible flips for each choice that is violated if the other labels are kept."""
        violated = (f for f, keep in self.choices if not f & flipped and not keep & ~flipped)
        return [flip & ~kept for flip in violated]

    def _forced(self, flipped: int, kept: int) -> tuple[int, int] | None:
        """With the labels for which one option is left; None if there is a contradiction."""
        before = (-1, -1)
        while (flipped, kept) != before:
            before = flipped, kept
            for flip, keep in self.choices:
                if flip & flipped or keep & kept:
                    continue
                to_flip, to_keep = flip & ~kept, keep & ~flipped
                options = to_flip | to_keep
                if not options:
                    return None
                if not options & (options - 1):
                    flipped |= to_flip
                    kept |= to_keep
        return flipped, kept

    def _bound(self, open_choices: list[int]) -> int:
        """A lower bound of the cost of one flip for each open choice.

        Of labels that are in choices pairwise, all but the most expensive are flipped; groups that
        share no label add up.
        """
        partners: dict[int, int] = {}
        for bits in open_choices:
            low = bits & -bits
            high = bits ^ low
            if high and not high & (high - 1):
                first, second = low.bit_length() - 1, high.bit_length() - 1
                partners[first] = partners.get(first, 0) | high
                partners[second] = partners.get(second, 0) | low
        total = used = 0
        for place in self.by_weight:
            if used >> place & 1 or place not in partners:
                continue
            used |= 1 << place
            fitting = partners[place] & ~used
            while fitting:
                other = next(spot for spot in self.by_weight if fitting >> spot & 1)
                total += self.weights[other]
                used |= 1 << other
                fitting &= partners[other] & ~used
        for bits in open_choices:
            if not bits & used:
                total += min(self.weights[place] for place in places(bits))
                used |= bits
        return total

    def _most_frequent(self, open_choices: list[int]) -> int:
        counts: dict[int, int] = {}
        for bits in open_choices:
            for place in places(bits):
                counts[place] = counts.get(place, 0) + 1
        return 1 << max(counts, key=lambda place: (counts[place], -self.weights[place]))


def are_consistent(clauses: Clauses) -> bool:
    """Whether some label set satisfies all clauses; much faster than to find the cheapest flips."""
    row = np.zeros(clauses.schema.n_labels, dtype=np.int8)
    _, broken = clauses.broken(row[np.newaxis])
    none = row.tolist()
    components = _components(none, clauses, _concerned(none, clauses, broken.tolist()))
    try:
        return all(FlipSearch([1] * len(own), c).any() is not None for own, c in components)
    except SearchTooLongError as wrong:
        raise ValueError(
            f"it is too hard to find out whether the {len(clauses)} constraints can hold together, "
            f"which connect {wrong}: use fewer of them, or smaller bodies"
        ) from None


def consistent(clauses: Clauses) -> Clauses:
    """Refuse clauses that no label set satisfies together."""
    if not are_consistent(clauses):
        those = "; ".join(contradiction(clauses))
        raise ValueError(
            f"no label set satisfies these constraints together: {those}. Leave one of them out"
        )
    return clauses


def contradiction(clauses: Clauses) -> list[str]:
    """A smallest set of constraints that contradict each other: without any one they do not."""
    kept = [clause.rule for clause in clauses.clauses]
    for rule in list(kept):
        fewer = [other for other in kept if other is not rule]
        if not are_consistent(Clauses(clauses.schema, fewer)):
            kept = fewer
    few = Clauses(clauses.schema, kept)
    return [few.text(number) for number in range(len(few))]


def together(given: Clauses, found: Constraints | None) -> tuple[Clauses, tuple[str, ...]]:
    """All constraints, those given first, and the learned ones that are left out.

    These are the ones whose body the given ones allow, but not together with the head.
    """
    if found is None:
        return given, ()
    schema = given.schema
    rules = [clause.rule for clause in given.clauses]
    learned = [constraint.rule for constraint in found]
    left_out = [rule for rule in learned if rules and _contradicts(rule, rules, given)]
    kept = [rule for rule in learned if rule not in left_out]
    clauses = Clauses(schema, [*rules, *kept])
    if not are_consistent(clauses):
        raise ValueError(
            "no label set satisfies the constraints given together with those learned: "
            f"{'; '.join(contradiction(clauses))}. Change those given, or use learn=False"
        )
    return clauses, tuple(rule_text(rule, schema) for rule in left_out)


def _contradicts(rule: Rule, rules: list[Rule], given: Clauses) -> bool:
    facts = [
        Rule(Head({condition.column: int(condition.value)}, rule.head.n_labels))
        for condition in rule.body
    ]
    could_hold = are_consistent(Clauses(given.schema, [*rules, *facts]))
    return could_hold and not are_consistent(Clauses(given.schema, [*rules, *facts, rule]))
