"""Labels to flip so that a label set satisfies every clause: the cheapest, or any."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from labelrules.discovery.constraints.clauses import Clauses
from labelrules.discovery.constraints.constraint import Constraints
from labelrules.rules import Head, Rule, rule_text

MAX_STEPS = 50_000
"""Steps of a search after which it is given up: some tens of seconds for one row."""


class SearchTooLongError(RuntimeError):
    """So many labels have to do with each other that no answer was found; it says how many."""


class FlipChoice(NamedTuple):
    """Labels to be flipped and labels to be kept, as bits, of which one must be."""

    flip: int
    keep: int


def cheapest_flips(
    row: Sequence[int], costs: Sequence[int], clauses: Clauses, broken: Sequence[int]
) -> list[int] | None:
    """Which labels to flip, or None if no label set satisfies all clauses.

    The least sum of costs; then the fewest labels; then, from the first label on, a label that
    is kept before one that is flipped. By all three no two label sets are equally good.

    Parameters
    ----------
    row : sequence of int
        0 or 1 for each label.
    costs : sequence of int
        What it costs to flip each label, from 0.
    clauses : Clauses
    broken : sequence of int
        The clauses that the row breaks.
    """
    flipped: list[int] = []
    for labels, choices in _parts(row, clauses, _concerned(row, clauses, broken)):
        found = Search(ranked([costs[label] for label in labels]), choices).best()
        if found is None:
            return None
        flipped += [label for place, label in enumerate(labels) if found >> place & 1]
    return sorted(flipped)


def is_mendable(row: Sequence[int], clauses: Clauses, broken: Sequence[int]) -> bool:
    """Whether some flips, at whatever cost, make all clauses hold.

    This asks for much less than the cheapest flips: each search ends with the first that it finds.
    """
    parts = _parts(row, clauses, _concerned(row, clauses, broken))
    return all(Search([1] * len(labels), choices).any() is not None for labels, choices in parts)


def ranked(costs: Sequence[int]) -> list[int]:
    """A weight for each label, so that sums of them rank by cost, then number, then order.

    >>> ranked([5, 5])
    [66, 65]
    """
    n = len(costs)
    return [(cost * (n + 1) + 1 << n) + (1 << n - 1 - place) for place, cost in enumerate(costs)]


def _concerned(row: Sequence[int], clauses: Clauses, broken: Sequence[int]) -> dict[int, None]:
    """Clauses that are broken, or could be when labels are flipped to mend others, in order.

    A flip is of use only if a clause that is concerned asks for it. A clause is concerned if all
    of its literals that hold could be flipped for the sake of others.
    """
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


def _parts(
    row: Sequence[int], clauses: Clauses, concerned: dict[int, None]
) -> Iterator[tuple[list[int], list[FlipChoice]]]:
    """Labels that have to do with each other, and the choices among them."""
    leader: dict[int, int] = {}

    def lead(label: int) -> int:
        while leader.setdefault(label, label) != label:
            leader[label] = leader[leader[label]]
            label = leader[label]
        return label

    flippable = {
        label
        for number in concerned
        for label, value in clauses.clauses[number].literals
        if row[label] != value
    }
    for number in concerned:
        members = [label for label, _ in clauses.clauses[number].literals if label in flippable]
        for label in members[1:]:
            leader[lead(label)] = lead(members[0])
    together: dict[int, list[int]] = {}
    for label in sorted(flippable):
        together.setdefault(lead(label), []).append(label)
    place = {label: spot for group in together.values() for spot, label in enumerate(group)}
    choices: dict[int, list[FlipChoice]] = {first: [] for first in together}
    for number in concerned:
        flip = keep = 0
        for label, value in clauses.clauses[number].literals:
            if row[label] == value:
                keep |= 1 << place[label]
            else:
                flip |= 1 << place[label]
        choices[lead(clauses.clauses[number].literals[0][0])].append(FlipChoice(flip, keep))
    for first, labels in together.items():
        yield labels, choices[first]


class Search:
    """A search for flips that satisfy all choices: branch and bound, with bits.

    Parameters
    ----------
    weights : sequence of int
        What flips cost; for the cheapest no two sets of them may have the same sum.
    choices : sequence of Choice
    """

    def __init__(self, weights: Sequence[int], choices: Sequence[FlipChoice]) -> None:
        self.weights, self.choices = list(weights), list(choices)
        self.by_weight = sorted(range(len(weights)), key=lambda place: -weights[place])

    def best(self) -> int | None:
        """The cheapest flips as bits, or None if the choices contradict each other."""
        found: int | None = None
        least = sum(self.weights) + 1
        waiting = [(0, 0)]
        for flipped, kept, asked in self._reached(waiting):
            cost = self._sum(flipped)
            if cost + self._bound(asked) >= least:
                continue
            if not asked:
                found, least = flipped, cost
                continue
            place = self._most_asked(asked)
            waiting += [(flipped, kept | place), (flipped | place, kept)]
        return found

    def any(self) -> int | None:
        """The first flips that are found, as bits, or None if the choices contradict each other."""
        waiting = [(0, 0)]
        for flipped, kept, asked in self._reached(waiting):
            if not asked:
                return flipped
            # The shortest choices first: they are decided soonest, either way.
            fewest = min(bits.bit_count() for bits in asked)
            place = self._most_asked([bits for bits in asked if bits.bit_count() == fewest])
            waiting += [(flipped, kept | place), (flipped | place, kept)]
        return None

    def _reached(self, waiting: list[tuple[int, int]]) -> Iterator[tuple[int, int, list[int]]]:
        """What is flipped, kept and still asked for, the last that waits first.

        Who asks adds to what waits. After so many steps the search is given up.
        """
        for _ in range(MAX_STEPS):
            if not waiting:
                return
            state = self._forced(*waiting.pop())
            if state is not None:
                yield *state, self._asked(*state)
        if waiting:
            raise SearchTooLongError(f"{len(self.weights)} labels")

    def _asked(self, flipped: int, kept: int) -> list[int]:
        """What could be flipped for each choice that would be broken if the rest were kept."""
        return [
            flip & ~kept
            for flip, keep in self.choices
            if not flip & flipped and not keep & ~flipped
        ]

    def _forced(self, flipped: int, kept: int) -> tuple[int, int] | None:
        """Also what is left no choice; None if that contradicts itself."""
        before = (-1, -1)
        while (flipped, kept) != before:
            before = flipped, kept
            for flip, keep in self.choices:
                if flip & flipped or keep & kept:
                    continue
                to_flip, to_keep = flip & ~kept, keep & ~flipped
                open_bits = to_flip | to_keep
                if not open_bits:
                    return None
                if not open_bits & (open_bits - 1):
                    flipped |= to_flip
                    kept |= to_keep
        return flipped, kept

    def _bound(self, asked: list[int]) -> int:
        """What flips must cost at least, of which each of these sets needs one.

        Of labels that ask for each other in pairs, all but the dearest are flipped; groups of
        them that share no label add up.
        """
        partners: dict[int, int] = {}
        for bits in asked:
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
        for bits in asked:
            if not bits & used:
                total += min(self.weights[place] for place in _places(bits))
                used |= bits
        return total

    def _most_asked(self, asked: list[int]) -> int:
        counts: dict[int, int] = {}
        for bits in asked:
            for place in _places(bits):
                counts[place] = counts.get(place, 0) + 1
        return 1 << max(counts, key=lambda place: (counts[place], -self.weights[place]))

    def _sum(self, bits: int) -> int:
        return sum(self.weights[place] for place in _places(bits))


def _places(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


# -------------------- Whether constraints can hold together: those that somebody knows, and those
# that were learned


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
