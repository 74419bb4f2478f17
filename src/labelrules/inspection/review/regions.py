"""Parts of theories and regions of rows: what rules do on all rows, the ground of proofs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import eq, gt, le, ne
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from labelrules._types import UNSET
from labelrules.data.schema import Schema
from labelrules.inspection.explanation.values import Place, place_in
from labelrules.rules import (
    Body,
    Condition,
    Once,
    Rule,
    Theory,
    UntilStable,
    conflict,
    is_more_general,
)
from labelrules.rules.conditions import ColumnKey
from labelrules.rules.rule import is_satisfiable

MISSING = -1  # among the categories that a feature may have
MAX_STEPS = 4000
"""Rules that a proof may check on regions: it takes some hundredths of a second, then gives up."""

MODES = {"own": (True,), "previous": (False,), "both": (True, False)}
"""Whether a part reads its own labels, for each way in which parts read."""


class Span(NamedTuple):
    """Numbers greater than `low` and at most `high`, and perhaps a missing value."""

    low: float = -np.inf
    high: float = np.inf
    may_be_missing: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether no value is left."""
        return self.low >= self.high and not self.may_be_missing


Values: TypeAlias = Span | frozenset[int]
Region: TypeAlias = Mapping[ColumnKey, Values]
"""The values that features (and labels of a layer before) may have; all where there is none."""


class UndecidedError(Exception):
    """A proof was given up, because it would take too many steps."""


class ProofSteps:
    """The steps that proofs may still take, all of them together.

    Parameters
    ----------
    left : float
    """

    def __init__(self, left: float = np.inf) -> None:
        self.left = left

    def take(self, number: int = 1) -> None:
        """Take steps, if one is left."""
        if self.left <= 0:
            raise UndecidedError
        self.left -= number


def all_values(key: ColumnKey, schema: Schema) -> Values:
    """Every value that a column may have: `MISSING` too, and for labels `UNSET`."""
    on_label, column = key
    if on_label:
        return frozenset((int(UNSET), 0, 1))
    categories = schema.features[column].categories
    return Span() if categories is None else frozenset((MISSING, *range(len(categories))))


def split(values: Values, condition: Condition) -> tuple[Values | None, Values | None]:
    """The values that satisfy a condition and those that do not; None where there are none."""
    if isinstance(values, frozenset):
        inside = frozenset(code for code in values if _holds(condition, code))
        return inside or None, (values - inside) or None
    low, high, may_be_missing = values
    cut = min(max(condition.value, low), high)
    if condition.operator == "<=":
        inner, outer = Span(low, cut, False), Span(cut, high, may_be_missing)
    else:
        inner, outer = Span(cut, high, False), Span(low, cut, may_be_missing)
    return None if inner.is_empty else inner, None if outer.is_empty else outer


_COMPARED = {"<=": le, ">": gt, "=": eq, "!=": ne}


def _holds(condition: Condition, code: int) -> bool:
    if code == MISSING:
        return False
    return (
        code in condition.codes
        if condition.codes
        else _COMPARED[condition.operator](code, condition.value)
    )


def region_of(conditions: Iterable[Condition], schema: Schema) -> Region | None:
    """The region in which all conditions hold; None if they cannot hold together."""
    region: dict[ColumnKey, Values] = {}
    for condition in conditions:
        key = condition.on_label, condition.column
        inside, _ = split(region.get(key) or all_values(key, schema), condition)
        if inside is None:
            return None
        region[key] = inside
    return region


def is_implied(condition: Condition, region: Region, schema: Schema) -> bool:
    """Whether the condition holds in all of a region."""
    key = condition.on_label, condition.column
    return split(region.get(key) or all_values(key, schema), condition)[1] is None


def implied_conditions(body: Body, schema: Schema) -> list[Condition]:
    """Conditions that all others of the body imply, one after the other: without them it is equal.

    The last are struck out first, so that of two equal conditions the first one stays.
    """
    left, implied = list(body), []
    for condition in reversed(body.conditions):
        others = [other for other in left if other is not condition]
        region = region_of(others, schema)
        if region is not None and is_implied(condition, region, schema):
            left = others
            implied.append(condition)
    return implied[::-1]


class Leaf(NamedTuple):
    """A region in which a list treats all rows alike: its labels, and who wrote them."""

    region: Region
    board: Mapping[int, int]
    writer: Mapping[int, int]
    stopped: int  # the rule that ended the list, -1 if none did


class ListWalk:
    """What a list of rules does on a region, part by part.

    `reads_own`: whether conditions on labels are tested on the board being written; otherwise they
    are tested on the labels of a layer before, of which any may be present or absent.
    """

    def __init__(
        self,
        rules: Sequence[tuple[int, Rule]],
        schema: Schema,
        reads_own: bool,
        steps: ProofSteps,
    ) -> None:
        self.rules, self.schema, self.reads_own, self.steps = rules, schema, reads_own, steps
        self.n_steps = 0

    def leaves(
        self, region: Region, is_over: Callable[[Leaf], bool] = lambda leaf: False
    ) -> Iterator[Leaf]:
        """The parts of a region, together all of it; those where fewer rules fire come first.

        The list is followed no further where it `is_over`.
        """
        waiting = [(0, Leaf(region, {}, {}, -1))]
        while waiting:
            place, leaf = waiting.pop()
            while place < len(self.rules) and leaf.stopped < 0 and not is_over(leaf):
                self.n_steps += 1
                if self.n_steps > MAX_STEPS:
                    raise UndecidedError
                self.steps.take()
                number, rule = self.rules[place]
                inside, outside = self._parts(leaf, rule)
                if inside is not None and outside is not None:
                    waiting.append((place, leaf._replace(region=inside)))
                if outside is not None:
                    leaf = leaf._replace(region=outside)
                else:
                    leaf = _fired(leaf, number, rule)
                place += 1
            yield leaf

    def _parts(self, leaf: Leaf, rule: Rule) -> tuple[Region | None, Region | None]:
        """A part in which the next undecided condition holds, and one in which it fails.

        If all are decided: the whole region and None if the body holds, None and it if it fails.
        """
        undecided = None
        for condition in rule.body:
            key = condition.on_label, condition.column
            if condition.on_label and self.reads_own:
                if leaf.board.get(condition.column) != condition.value:
                    return None, leaf.region
                continue
            values = leaf.region.get(key) or self._all_values(key)
            inside, outside = split(values, condition)
            if inside is None:
                return None, leaf.region
            if outside is not None and undecided is None:
                undecided = {**leaf.region, key: inside}, {**leaf.region, key: outside}
        return undecided or (leaf.region, None)

    def _all_values(self, key: ColumnKey) -> Values:
        # A layer before has closed its board, so that every label is present or absent.
        return frozenset((0, 1)) if key[0] else all_values(key, self.schema)


def _fired(leaf: Leaf, number: int, rule: Rule) -> Leaf:
    new = {label: value for label, value in rule.head if label not in leaf.board}
    return Leaf(
        leaf.region,
        {**leaf.board, **new},
        {**leaf.writer, **dict.fromkeys(new, number)},
        number if rule.stops else leaf.stopped,
    )


def relevant_rules(
    rules: Sequence[tuple[int, Rule]], labels: frozenset[int], reads_own: bool
) -> list[tuple[int, Rule]]:
    """The rules that may matter for these labels: they write them, stop, or write what these test.

    Other rules write other labels only, and none of the rules that matter reads those.
    """
    wanted = set(labels)
    chosen: set[int] = set()
    while True:
        size = len(chosen)
        for place, (_, rule) in enumerate(rules):
            if place not in chosen and (rule.stops or wanted & set(rule.head.labels)):
                chosen.add(place)
                if reads_own:
                    wanted.update(condition.column for condition in rule.body.on_labels)
        if len(chosen) == size:
            return [rules[place] for place in sorted(chosen)]


def subsumed_rules(theory: Theory) -> Iterator[tuple[int, list[int]]]:
    """Rules of lists that cannot write anything, whatever the row; with those that prevent it.

    Whenever such a body holds, an earlier rule has ended the list, or earlier rules whose bodies
    hold have written its labels. None are named if no row satisfies it. Stopping rules are useful.
    """
    for part in parts_of(theory):
        for number in range(len(part.rules)) if part.rules.ordered else ():
            others = part.subsumed_by(number)
            if others is not None:
                yield part.start + number, [part.start + other for other in others]


def conflicting_rules(theory: Theory) -> Iterator[tuple[int, list[int]]]:
    """Pairs of rules of one part with opposite predictions for a label that can cover one row."""
    for part in parts_of(theory):
        for a, b in sorted(_opposed(part.rules)):
            if conflict(part.rules[a], part.rules[b], theory.schema):
                yield part.start + b, [part.start + a]


class TheoryPart(NamedTuple):
    """A list or a set of rules, and where it begins in its theory."""

    rules: Theory
    start: int
    reads: Literal["own", "previous", "both"]  # labels being written, of the layer before, or both
    layer: int | None  # None for an only layer, and for the list for rows without a label
    is_fallback: bool
    in_rounds: bool  # whether one may say what it does from one application to a row

    @property
    def schema(self) -> Schema:
        """The features and labels."""
        return self.rules.schema

    def place(self, number: int) -> Place:
        """Where the rule with this number in the part stands, and what people call it."""
        return place_in(self.rules, Place(number, self.layer, self.is_fallback))

    def subsumed_by(self, number: int) -> list[int] | None:
        """Earlier rules that leave nothing to a rule, None if they leave something."""
        rule, schema = self.rules[number], self.schema
        if not is_satisfiable(rule.body, schema):
            return []
        wider = [i for i in range(number) if self._fires_before(i, number)]
        ends = [i for i in wider if self.rules[i].stops]
        if ends or rule.stops:
            return ends[:1] or None
        left = set(rule.head.labels)
        if self.reads == "own":
            # A label that is tested has been written, so nothing is left to write.
            left -= {condition.column for condition in rule.body.on_labels}
        writers = [next((i for i in wider if j in self.rules[i].head.labels), None) for j in left]
        return None if None in writers else sorted({i for i in writers if i is not None})

    def _fires_before(self, earlier: int, later: int) -> bool:
        """Whether the earlier rule covers every row that the later one covers."""
        body = self.rules[earlier].body
        if not is_more_general(body, self.rules[later].body, self.rules.schema):
            return False
        # A label that both test may have been written only after the earlier rule.
        tested = {condition.column for condition in body.on_labels}
        between = self.rules.rules[earlier + 1 : later]
        written = {label for rule in between for label in rule.head.labels}
        return self.reads == "previous" or not tested & written


def parts_of(theory: Theory) -> list[TheoryPart]:
    """The lists and sets of a theory: its layers, and the list for rows without a label."""
    parts: list[TheoryPart] = []
    start, n_layers = 0, len(theory.layers)
    reads_itself = n_layers == 1 and not isinstance(theory.inference, Once)
    in_rounds = isinstance(theory.inference, Once | UntilStable)
    for number, rules in enumerate(theory.parts):
        is_fallback = number == n_layers
        layer = number if number < n_layers > 1 else None
        reads: Literal["own", "previous", "both"] = "both" if reads_itself else "own"
        reads = "own" if is_fallback else "previous" if number else reads
        parts.append(TheoryPart(rules, start, reads, layer, is_fallback, in_rounds))
        start += len(rules)
    return parts


def _opposed(theory: Theory) -> set[tuple[int, int]]:
    """Pairs of rules of which one predicts a label present, the other absent."""
    predicting: dict[tuple[int, int], list[int]] = {}
    for number, rule in enumerate(theory):
        for literal in rule.head:
            predicting.setdefault(literal, []).append(number)
    return {
        (min(a, b), max(a, b))
        for (label, value), numbers in predicting.items()
        if value
        for a in numbers
        for b in predicting.get((label, 0), [])
    }


class Reach(NamedTuple):
    """What a rule can do on some row."""

    is_reached: bool  # whether it can write a label, or end the list
    labels: frozenset[int]  # the labels that it can be the first to write
    before: frozenset[int]  # rules that come before it: that write its labels, or end the list


def reach_of(part: TheoryPart, number: int, steps: ProofSteps | None = None) -> Reach | None:
    """What a rule of a list can do; None if that would take too long to find out."""
    steps = steps or ProofSteps()
    try:
        steps.take(0)
        found = [_reach(part, number, own, steps) for own in MODES[part.reads]]
    except UndecidedError:
        return None
    return Reach(
        any(one.is_reached for one in found),
        frozenset().union(*(one.labels for one in found)),
        frozenset().union(*(one.before for one in found)),
    )


def _reach(part: TheoryPart, number: int, reads_own: bool, steps: ProofSteps) -> Reach:
    rule = part.rules[number]
    head = frozenset(rule.head.labels)
    labels: set[int] = set()
    before: set[int] = set()
    is_reached = False
    for leaf in _turns(part, number, reads_own, steps):
        is_open = head - leaf.board.keys()
        before |= {leaf.writer[label] for label in head - is_open}
        before |= {leaf.stopped} if leaf.stopped >= 0 else set()
        if leaf.stopped < 0 and _labels_hold(rule, leaf, reads_own):
            labels |= is_open
            is_reached |= rule.stops or bool(is_open)
        # A head of all labels is not shortened, so one of them is enough.
        if is_reached and (labels == head or rule.head.is_complete):
            return Reach(True, head, frozenset())
    return Reach(is_reached, frozenset(labels), frozenset(before))


def _turns(part: TheoryPart, number: int, reads_own: bool, steps: ProofSteps) -> Iterator[Leaf]:
    """The regions in which the features of a body hold, when its turn comes."""
    rule = part.rules[number]
    head = set(rule.head.labels)
    tested = {condition.column: condition.value for condition in rule.body.on_labels}
    wanted = frozenset(head | tested.keys())

    def is_over(leaf: Leaf) -> bool:
        if reads_own and any(leaf.board.get(i, value) != value for i, value in tested.items()):
            return True
        return not rule.stops and head <= leaf.board.keys()

    earlier = list(enumerate(part.rules))[:number]
    region = region_of(rule.body.on_features if reads_own else rule.body, part.schema)
    walk = ListWalk(relevant_rules(earlier, wanted, reads_own), part.schema, reads_own, steps)
    return walk.leaves(region, is_over) if region is not None else iter(())


def _labels_hold(rule: Rule, leaf: Leaf, reads_own: bool) -> bool:
    if not reads_own:
        return True  # they are a part of the region
    return all(leaf.board.get(test.column) == test.value for test in rule.body.on_labels)
