"""Rules that can never matter, and rules that contradict each other."""

from typing import Literal, NamedTuple

from labelrules.inspection.explanation import Place
from labelrules.rules import LayeredTheory, Once, Theory, conflict, is_more_general
from labelrules.rules.generality import is_satisfiable
from labelrules.rules.text import rule_text


class Pair(NamedTuple):
    """A rule, and those that make it useless, or the one that it contradicts."""

    place: Place
    text: str
    others: tuple[Place, ...]
    other_texts: tuple[str, ...]


def subsumed(theory: Theory, places: tuple[Place, ...]) -> tuple[Pair, ...]:
    """Rules of lists that cannot write anything, whatever the rows; with the rules to blame.

    Whenever the body of such a rule holds, the list has been ended before, or each label of its
    head has been written by an earlier rule whose body holds as well. If no row can satisfy the
    body, nobody is to blame. A rule that may end the list is of use.
    """
    found = []
    for part in _parts(theory):
        if not part.rules.ordered:
            continue
        for number in range(len(part.rules)):
            others = part.to_blame(number)
            if others is not None:
                others = [part.start + other for other in others]
                found.append(_pair(theory, places, part.start + number, others))
    return tuple(found)


def conflicting(theory: Theory, places: tuple[Place, ...]) -> tuple[Pair, ...]:
    """Pairs of rules of one part that contradict each other on a label and may fire together."""
    found = []
    for part in _parts(theory):
        for a, b in sorted(_opposed(part.rules)):
            if conflict(part.rules[a], part.rules[b], theory.schema):
                found.append(_pair(theory, places, part.start + b, [part.start + a]))
    return tuple(found)


class _Part(NamedTuple):
    """A list or a set of rules, and where it begins in its theory."""

    rules: Theory
    start: int
    looks: Literal["at itself", "back", "both"]
    """What conditions on labels see: the board being written, a finished one, or now this."""

    def to_blame(self, number: int) -> list[int] | None:
        """Earlier rules that leave nothing to a rule, None if they leave something."""
        rule, schema = self.rules[number], self.rules.schema
        if not is_satisfiable(rule.body, schema):
            return []
        wider = [i for i in range(number) if self._fires_before(i, number)]
        ends = [i for i in wider if self.rules[i].stops]
        if ends or rule.stops:
            return ends[:1] or None
        left = set(rule.head.labels)
        if self.looks == "at itself":
            # A label that is seen has been written, so nothing is left to say about it.
            left -= {condition.column for condition in rule.body.on_labels}
        blamed = [next((i for i in wider if j in self.rules[i].head.labels), None) for j in left]
        return None if None in blamed else sorted({i for i in blamed if i is not None})

    def _fires_before(self, earlier: int, later: int) -> bool:
        """Whether the earlier rule fires on every row on which the later one does."""
        body = self.rules[earlier].body
        if not is_more_general(body, self.rules[later].body, self.rules.schema):
            return False
        # What the later rule sees may have been written after the earlier one was asked.
        tested = {condition.column for condition in body.on_labels}
        between = self.rules.rules[earlier + 1 : later]
        written = {label for rule in between for label in rule.head.labels}
        return self.looks == "back" or not tested & written


def _parts(theory: Theory) -> list[_Part]:
    if not isinstance(theory, LayeredTheory):
        return [_Part(theory, 0, "at itself")]
    found: list[_Part] = []
    start = 0
    for number, layer in enumerate(theory.layers):
        alone = len(theory.layers) == 1 and not isinstance(theory.inference, Once)
        found.append(_Part(layer, start, "back" if number else "both" if alone else "at itself"))
        start += len(layer)
    if theory.fallback is not None:
        found.append(_Part(theory.fallback, start, "at itself"))
    return found


def _opposed(theory: Theory) -> set[tuple[int, int]]:
    """Pairs of rules of which one says that a label is present, the other that it is absent."""
    saying: dict[tuple[int, int], list[int]] = {}
    for number, rule in enumerate(theory):
        for literal in rule.head:
            saying.setdefault(literal, []).append(number)
    return {
        (min(a, b), max(a, b))
        for (label, value), numbers in saying.items()
        if value
        for a in numbers
        for b in saying.get((label, 0), [])
    }


def _pair(theory: Theory, places: tuple[Place, ...], number: int, others: list[int]) -> Pair:
    texts = tuple(rule_text(theory[i], theory.schema) for i in others)
    mine = rule_text(theory[number], theory.schema)
    return Pair(places[number], mine, tuple(places[i] for i in others), texts)
