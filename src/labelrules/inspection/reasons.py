"""Reasons for a label: features of a row that, left unchanged, keep the label as it is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset
from labelrules.rules import (
    Body,
    Condition,
    DecisionList,
    Gibbs,
    LayeredTheory,
    Once,
    Rule,
    RuleSet,
    RuleTable,
    Run,
    Theory,
)
from labelrules.rules.inference import closed
from labelrules.rules.layered_theory import without_labels
from labelrules.rules.theory import run_of

MANY_RULES = 30  # longer theories are run compiled


class Fact(NamedTuple):
    """Something true of a row on its way through a theory.

    Rule `number` of a part "fires" or "fails"; before it, a label "is" of a value or "is not".
    """

    part: int
    number: int
    kind: Literal["fires", "fails", "is", "is not"]
    label: int = -1
    value: int = -1


Passed: TypeAlias = list[Run]  # the run of each layer, then of the list for bare rows


class Reasons:
    """Finds reasons why one label of a row is as it is.

    A reason is a set of features, not always the smallest: as long as they and the decided features
    keep their values, the label keeps its own.
    """

    def __init__(self, theory: Theory, label: int) -> None:
        self.theory, self.label = theory, label
        self.layers, self.fallback = theory.layers, theory.fallback
        is_once = isinstance(theory.inference, Once)
        self.simple = is_once and not any(map(decides_rows, theory.parts))
        self.parts = [_ReasonedPart(part) for part in theory.parts]
        self.tested = frozenset(c.column for rule in theory for c in rule.body.on_features)

    def run(self, X: Floats) -> tuple[Integers, Passed]:
        """The label of each row, and the run of each part."""
        empty = np.zeros((len(X), self.theory.schema.n_labels), dtype=np.int8)
        rows = Dataset(self.theory.schema, X, empty)
        if not self.simple:
            return self.theory.predict(rows)[:, self.label].astype(np.int64), []
        passed: Passed = []
        for part in self.parts[: len(self.layers)]:
            passed.append(part.run(rows, closed(passed[-1].board) if passed else None))
        board = passed[-1].board
        if self.fallback is not None:
            passed.append(self.parts[-1].run(rows, None))
            board = np.where(without_labels(board)[:, None], passed[-1].board, board)
        return (board[:, self.label] == 1).astype(np.int64), passed

    def may_be(self, value: int, options: Sequence[Sequence[float]]) -> bool:
        """False only if no values of these options give the label this value."""
        possible = may_be_present if value else may_be_absent
        return possible(self.theory, self.label, options)

    def reason(
        self,
        row: int,
        X: Floats,
        passed: Passed,
        decided: frozenset[int],
        preferred: frozenset[int],
    ) -> frozenset[int]:
        """Features that keep the label of a row of `run(X)`, preferred first, without decided."""
        if not self.simple:
            return self.tested - decided
        return _Walk(self, X[row], [_row(run, row) for run in passed], decided, preferred).kept()


def _row(run: Run, row: int) -> Run:
    return Run(run.board[row], run.writer[row], run.stopped[row])


class _ReasonedPart:
    """A list or a set of rules, indexed by label."""

    def __init__(self, theory: Theory) -> None:
        self.theory, self.rules, self.voting = theory, theory.rules, not theory.ordered
        self.runner = RuleTable(theory) if len(theory) > MANY_RULES else theory
        self.stops = [number for number, rule in enumerate(theory) if rule.stops]
        self.predicting: dict[int, list[tuple[int, int, int]]] = {}
        for number, rule in enumerate(theory):
            for label, value, votes in rule.ballot:
                self.predicting.setdefault(label, []).append((number, value, votes))

    def run(self, rows: Dataset, seen: Board | None) -> Run:
        return run_of(self.runner, rows, reads=seen)


class _Walk:
    """Goes from facts to those that they depend on, and collects the features on the way."""

    def __init__(
        self,
        reasons: Reasons,
        values: Floats,
        passed: Passed,
        decided: frozenset[int],
        preferred: frozenset[int],
    ) -> None:
        self.reasons, self.values, self.passed = reasons, values, passed
        self.decided, self.preferred = decided, preferred
        self.features: set[int] = set()

    def kept(self) -> frozenset[int]:
        """The features that all facts together depend on."""
        waiting = list(self._goals())
        known = set(waiting)
        while waiting:
            for fact in self._causes(waiting.pop()):
                if fact not in known:
                    known.add(fact)
                    waiting.append(fact)
        return frozenset(self.features)

    def _goals(self) -> Iterator[Fact]:
        """The facts that keep the label as it is."""
        label, last = self.reasons.label, len(self.reasons.layers) - 1
        board = self.passed[last].board
        present = np.flatnonzero(board == 1)
        if self.reasons.fallback is None or board[label] == 1:
            yield self._stays(last, label, board[label])
        elif present.size:
            # One label that is present keeps the list for rows without labels away.
            yield self._stays(last, label, board[label])
            yield self._stays(last, int(present[0]), 1)
        else:
            for other in range(len(board)):
                yield self._stays(last, other, 0)
            yield self._stays(last + 1, label, self.passed[last + 1].board[label])

    def _stays(self, part: int, label: int, value: int) -> Fact:
        """At the end of a part, a label is present, or it is not."""
        number = len(self.reasons.parts[part].rules)
        return Fact(part, number, "is" if value == 1 else "is not", label, 1)

    def _causes(self, fact: Fact) -> Iterator[Fact]:
        part = self.reasons.parts[fact.part]
        if fact.kind == "fires":
            return self._fires(fact, part)
        if fact.kind == "fails":
            return self._fails(fact, part)
        if part.voting:
            return self._outvotes(fact, part)
        return self._is(fact, part) if fact.kind == "is" else self._is_not(fact, part)

    def _fires(self, fact: Fact, part: _ReasonedPart) -> Iterator[Fact]:
        rule = part.rules[fact.number]
        self.features.update(
            c.column for c in rule.body.on_features if c.column not in self.decided
        )
        for condition in rule.body.on_labels:
            yield self._read(fact, condition, holds=True)
        for number in part.stops:
            if number < fact.number:
                yield Fact(fact.part, number, "fails")

    def _fails(self, fact: Fact, part: _ReasonedPart) -> Iterator[Fact]:
        rule = part.rules[fact.number]
        columns = [c.column for c in rule.body.on_features if not c.holds(self.values[c.column])]
        free = self.decided | self.features
        unread = fact.part == 0 and part.voting and rule.body.on_labels
        if unread or any(column in free for column in columns):
            return  # a first set of rules sees no labels, whatever the features are
        if columns:
            # Few features make a strong reason: those that are used anyway come first.
            self.features.add(
                min(columns, key=lambda column: (column not in self.preferred, column))
            )
            return
        stopped = int(self.passed[fact.part].stopped)
        if 0 <= stopped < fact.number:
            yield Fact(fact.part, stopped, "fires")
            return
        failing = (c for c in rule.body.on_labels if not self._holds(fact, c))
        yield self._read(fact, next(failing), holds=False)

    def _is(self, fact: Fact, part: _ReasonedPart) -> Iterator[Fact]:
        writer = int(self.passed[fact.part].writer[fact.label])
        yield Fact(fact.part, writer, "fires")
        for number, value, _ in part.predicting[fact.label]:
            if number < writer and value != fact.value:
                yield Fact(fact.part, number, "fails")

    def _is_not(self, fact: Fact, part: _ReasonedPart) -> Iterator[Fact]:
        writer = int(self.passed[fact.part].writer[fact.label])
        if 0 <= writer < fact.number:
            yield fact._replace(kind="is", value=1 - fact.value)
            return
        for number, value, _ in part.predicting.get(fact.label, []):
            if number < fact.number and value == fact.value:
                yield Fact(fact.part, number, "fails")

    def _outvotes(self, fact: Fact, part: _ReasonedPart) -> Iterator[Fact]:
        """Enough rules that fire or fail so that the others cannot change the outcome."""
        ballots = part.predicting.get(fact.label, [])
        wins = fact.kind == "is"
        # The margin of presence in the worst case for the rules not looked at yet.
        margin = sum((-n if wins else n) for _, value, n in ballots if value != wins)
        for number, value, votes in ballots:
            if (margin > 0) == wins:
                return
            if self._fired(fact.part, part.rules[number]):
                if value == wins:
                    margin += votes if wins else -votes
                    yield Fact(fact.part, number, "fires")
            elif value != wins:
                margin += votes if wins else -votes
                yield Fact(fact.part, number, "fails")

    def _fired(self, part: int, rule: Rule) -> bool:
        place = Fact(part, 0, "fires")
        return all(
            self._holds(place, c) if c.on_label else bool(c.holds(self.values[c.column]))
            for c in rule.body
        )

    def _holds(self, fact: Fact, condition: Condition) -> bool:
        """Whether a condition on a label holds for the rule of a fact."""
        if fact.part:
            before = self.passed[fact.part - 1].board[condition.column]
            return bool((before == 1) == (condition.value == 1))
        if self.reasons.parts[0].voting:
            return False
        here = self.passed[0]
        written = 0 <= here.writer[condition.column] < fact.number
        cell = here.board[condition.column] if written else UNSET
        return bool(cell == condition.value)

    def _read(self, fact: Fact, condition: Condition, holds: bool) -> Fact:
        """The fact that a condition on a label, which holds or does not, depends on."""
        label, value = condition.column, int(condition.value)
        if fact.part:
            return self._stays(fact.part - 1, label, value if holds else 1 - value)
        return Fact(0, fact.number, "is" if holds else "is not", label, value)


def decides_rows(part: Theory) -> bool:
    """Whether a part of a theory decides the labels of a row together."""
    return isinstance(part, RuleSet) and part.decides_rows


def may_be_present(theory: Theory, label: int, options: Sequence[Sequence[float]]) -> bool:
    """False only if no row can have the label, since no rule that can hold predicts it.

    The options are the values of each feature. Rules are checked one by one, as if none stood in
    another's way: so True is not certain.
    """
    if isinstance(theory.inference, Gibbs):
        return True  # labels are sampled
    labels: set[int] = set()
    for layer in theory.layers:
        labels = _present(layer, labels, options)
    if theory.fallback is not None:
        labels |= _present(theory.fallback, set(), options)
    return label in labels


def may_be_absent(theory: Theory, label: int, options: Sequence[Sequence[float]]) -> bool:
    """False only if every row must have the label: a rule that always holds writes it first."""
    part = theory.layers[-1]
    if isinstance(theory.inference, Gibbs) or not isinstance(part, DecisionList):
        return True
    for rule in part:
        if rule.stops or (label, 0) in rule.head:
            if _could_hold(rule.body, options):
                return True
        elif (label, 1) in rule.head and _must_hold(rule.body, options):
            return False
    return True


def _present(part: Theory, before: set[int], options: Sequence[Sequence[float]]) -> set[int]:
    """The labels that could be predicted, given those that may have been present before."""
    if decides_rows(part):
        return set(range(part.schema.n_labels))
    rules = [rule for rule in part if _could_hold(rule.body, options)]
    labels: set[int] = set()
    while True:
        new = set(_written(rules, before | labels)) - labels
        if not new:
            return labels
        labels |= new


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


Simple: TypeAlias = DecisionList | RuleSet


class Slice(NamedTuple):
    """A theory without what does not matter for a label, over the features that are left."""

    theory: Theory
    columns: tuple[int, ...]  # the features of the original theory that it tests, in order


def slice_for(theory: Theory, label: int) -> Slice:
    """Leave out rules that cannot influence a label, and features that no other rule tests.

    A rule matters if it predicts the label or one that such a rule tests, or may end its list.
    """
    part = _layered(theory, label) if isinstance(theory, LayeredTheory) else theory
    if not isinstance(part, LayeredTheory):
        part = _simple(part, {label}, reads_itself=True)[0]
    columns = tuple(sorted({c.column for rule in part for c in rule.body.on_features}))
    return Slice(_projected(part, columns), columns)


def _layered(theory: LayeredTheory, label: int) -> LayeredTheory:
    if not isinstance(theory.inference, Once):
        return theory  # it reads its own labels, and any of them may decide when it settles
    every = set(range(theory.schema.n_labels))
    wanted = {label} if theory.fallback is None else every
    layers: list[Theory] = []
    for number, layer in reversed(list(enumerate(theory.layers))):
        part, wanted = _simple(layer, wanted, reads_itself=number == 0)
        layers.insert(0, part)
    if theory.fallback is not None:
        layers.append(theory.fallback.with_rules(_predicting(theory.fallback, {label})))
    return theory.with_parts(layers)


def _simple(theory: Theory, wanted: set[int], reads_itself: bool) -> tuple[Theory, set[int]]:
    """The rules that matter for the wanted labels, and the labels that these rules test."""
    is_set = isinstance(theory, RuleSet)
    wanted = set(range(theory.schema.n_labels)) if decides_rows(theory) else wanted
    while True:
        rules = _predicting(theory, wanted)
        tested = {c.column for rule in rules for c in rule.body.on_labels}
        if not reads_itself or tested <= wanted or is_set:
            return theory.with_rules(rules), tested
        wanted = wanted | tested


def _predicting(theory: Iterable[Rule], labels: set[int]) -> list[Rule]:
    return [rule for rule in theory if rule.stops or labels & set(rule.head.labels)]


def _projected(theory: Theory, columns: tuple[int, ...]) -> Theory:
    """The theory over some of its features only."""
    schema = Schema(
        [theory.schema.features[j] for j in columns], theory.schema.labels, theory.schema.parents
    )
    place = {column: number for number, column in enumerate(columns)}

    def projected(part: Theory) -> Simple:
        rules = [_moved(rule, place) for rule in part]
        if isinstance(part, RuleSet):
            return RuleSet(schema, rules, part.label_sets, part.at_least_one)
        return DecisionList(schema, rules)

    return theory.with_parts(map(projected, theory.parts))


def _moved(rule: Rule, place: dict[int, int]) -> Rule:
    conditions = [c if c.on_label else replace(c, column=place[c.column]) for c in rule.body]
    return replace(rule, body=Body(conditions))


_SETS_PER_ROW = 2  # sets of features that are considered for each row that may be tried


class LimitReachedError(Exception):
    """More rows would have to be tried than allowed."""


def is_additive(theory: Theory) -> TypeGuard[RuleSet]:
    """Whether each rule gives its points by the value of one feature, or to all rows.

    In a rule set that is applied alone, rules that test labels never hold.
    """
    return isinstance(theory, RuleSet) and all(
        len({condition.column for condition in rule.body.on_features}) <= 1
        for rule in theory
        if not rule.body.on_labels
    )


class _Comparison(NamedTuple):
    """What must be at least 0: a weighted sum of points, or what a change can add to it at most."""

    weights: Integers  # one for each label
    value: int  # with the row as it is
    is_bound: bool = False  # whether each label counts only as far as it helps


class PointSearch:
    """Searches for the fewest features to change; the options of a feature begin with its value.

    Of several sets of features the first is taken, and of several values the first of the first
    feature.
    """

    def __init__(
        self, theory: RuleSet, label: int, options: Sequence[Sequence[float]], limit: int
    ) -> None:
        self.theory, self.label, self.limit = theory, label, limit
        self.start, self.gains = _points(theory, options)
        self.columns = [j for j, values in enumerate(options) if len(values) > 1]
        self.options = options
        self.predicted = int(self._labels(self.start[None, :])[0])
        self.n_tried, self.size, self.n_sets = 0, 1, 0
        winners = list(self._winners())
        comparisons = [one for winner in winners for one in winner]
        self.values = np.array([one.value for one in comparisons], dtype=np.int64)
        self.first = np.cumsum([0, *(len(winner) for winner in winners)])[:-1]
        # What each option of each feature that may change adds to each comparison.
        self.added = [_added(self.gains[j], comparisons) for j in self.columns]
        self.best = np.array([added[1:].max(axis=0) for added in self.added], dtype=np.int64)
        self.best = self.best.reshape(len(self.columns), len(comparisons))

    def search(self) -> tuple[Literal["found", "impossible", "unknown"], dict[int, float]]:
        """Whether a change was found, and the new values."""
        n_free = len(self.columns)
        if not self._could_win(self.values + np.maximum(self.best, 0).sum(axis=0)):
            self.size = max(1, n_free)
            return "impossible", {}
        try:
            for size in range(1, n_free + 1):
                self.size = size
                for chosen in self._sets(size):
                    found = self._change(chosen)
                    if found:
                        return "found", {j: self.options[j][n] for j, n in found}
        except LimitReachedError:
            return "unknown", {}
        return "impossible", {}

    def _labels(self, points: Integers) -> Integers:
        """The label by rows of points."""
        if self.theory.decides_rows:
            return self.theory.decided(points)[:, self.label].astype(np.int64)
        return (points[:, self.label] > 0).astype(np.int64)

    def _sets(self, size: int) -> Iterator[tuple[int, ...]]:
        """Sets of features, in order, that could win; by their places among `columns`."""
        added = _largest_sums(np.maximum(self.best, 0), size)
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            chosen = waiting.pop()
            self.n_sets += 1
            if self.n_sets > _SETS_PER_ROW * self.limit:
                raise LimitReachedError
            sure = self.values + self.best[list(chosen)].sum(axis=0)
            n_left, start = size - len(chosen), chosen[-1] + 1 if chosen else 0
            if not self._could_win(sure + added[start, n_left]):
                continue
            if not n_left:
                yield chosen
            else:
                last = len(self.columns) - n_left
                waiting += [(*chosen, place) for place in range(last, start - 1, -1)]

    def _change(self, chosen: tuple[int, ...]) -> list[tuple[int, int]]:
        """The first values of these features that change the label; empty if there are none."""
        columns = [self.columns[place] for place in chosen]
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            numbers = waiting.pop()
            if len(numbers) < len(columns) - 1:
                waiting += self._longer(numbers, chosen)
                continue
            points = self.start + self.gains[columns[-1]][1:]
            for column, number in zip(columns, numbers, strict=False):
                points = points + self.gains[column][number]
            self.n_tried += len(points)
            if self.n_tried > self.limit:
                raise LimitReachedError
            changed = np.flatnonzero(self._labels(points) != self.predicted)
            if changed.size:
                return list(zip(columns, (*numbers, int(changed[0]) + 1), strict=True))
        return []

    def _longer(self, numbers: tuple[int, ...], chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
        """With each value of the next feature with which the label could change, the last first."""
        n_done = len(numbers)
        values = self.values + self.best[list(chosen[n_done + 1 :])].sum(axis=0)
        for place, number in zip(chosen, numbers, strict=False):
            values = values + self.added[place][number]
        added = self.added[chosen[n_done]]
        possible = [n for n in range(1, len(added)) if self._could_win(values + added[n])]
        return [(*numbers, n) for n in reversed(possible)]

    def _could_win(self, values: Integers) -> bool:
        """Whether all comparisons of some winner are at least 0."""
        if not len(self.first):
            return False
        return bool((np.minimum.reduceat(values, self.first) >= 0).any())

    def _winners(self) -> Iterator[list[_Comparison]]:
        """For each winner that would change the label, comparisons that it must win."""
        wanted = 1 - self.predicted
        sets = self.theory.label_sets if self.theory.decides_rows else ()
        rivals = [n for n, one in enumerate(sets) if (self.label in one.labels) != wanted]
        against = [self._beats_set(n) for n in rivals]
        for ahead in self._by_points(wanted):
            yield [*ahead, *against]
        own = self._members(np.flatnonzero(self._own()))
        for number, (labels, bonus) in enumerate(sets):
            if number in rivals:
                continue
            members = self._members(labels)
            # The labels that have points now may get others, but never fewer points than these.
            comparisons = [self._linear(members - own, bonus)]
            for rival in rivals:
                others, other_bonus = sets[rival]
                # Of equal label sets the first is taken.
                margin = bonus - other_bonus - (rival < number)
                comparisons.append(self._linear(members - self._members(others), margin))
            yield comparisons

    def _by_points(self, wanted: int) -> Iterator[list[_Comparison]]:
        """Ways in which the points of the label alone decide for the value."""
        unit, n_labels = np.eye(len(self.start), dtype=np.int64), len(self.start)
        mine = unit[self.label]
        if wanted:
            yield [self._linear(mine, -1)]
        elif not self.theory.at_least_one:
            yield [self._linear(-mine, 0)]
        if not self.theory.at_least_one:
            return
        # Of equal labels the first has the most points.
        ahead = [
            (unit[other], -int((other > self.label) if not wanted else (other < self.label)))
            for other in range(n_labels)
            if other != self.label
        ]
        if wanted:  # no label has points, and this one has the most
            yield [
                *(self._linear(-one, 0) for one in unit),
                *(self._linear(mine - other, tie) for other, tie in ahead),
            ]
        for other, tie in [] if wanted else ahead:
            yield [self._linear(-mine, 0), self._linear(other - mine, tie)]

    def _own(self) -> Integers:
        """The labels that the row would get without usual label sets."""
        alone = RuleSet(self.theory.schema, at_least_one=self.theory.at_least_one)
        own: Integers = alone.decided(self.start[None, :])[0].astype(np.int64)
        return own

    def _beats_set(self, number: int) -> _Comparison:
        """The labels with points have more than a usual label set."""
        labels, bonus = self.theory.label_sets[number]
        members = self._members(labels)
        value = np.where(members, -np.minimum(self.start, 0), np.maximum(self.start, 0)).sum()
        return _Comparison(1 - 2 * members, int(value) - bonus - 1, is_bound=True)

    def _members(self, labels: Sequence[int] | Integers) -> Integers:
        members = np.zeros(len(self.start), dtype=np.int64)
        members[list(labels)] = 1
        return members

    def _linear(self, weights: Integers, constant: int) -> _Comparison:
        return _Comparison(weights, int(weights @ self.start) + constant)


def _points(
    theory: RuleSet, options: Sequence[Sequence[float]]
) -> tuple[Integers, dict[int, Integers]]:
    """The points of the row, and for each feature what each of its options adds to them."""
    start = np.zeros(theory.schema.n_labels, dtype=np.int64)
    points = {
        j: np.zeros((len(values), len(start)), dtype=np.int64) for j, values in enumerate(options)
    }
    for rule in theory:
        if rule.body.on_labels:
            continue
        ballot = np.zeros_like(start)
        for label, value, votes in rule.ballot:
            ballot[label] = votes if value else -votes
        if not rule.body:
            start += ballot
            continue
        column = rule.body.conditions[0].column
        holds = np.logical_and.reduce([c.holds(options[column]) for c in rule.body])
        points[column] += holds[:, None] * ballot
    start += sum((values[0] for values in points.values()), np.zeros_like(start))
    return start, {j: values - values[0] for j, values in points.items()}


def _added(gains: Integers, comparisons: Sequence[_Comparison]) -> Integers:
    """What each option of a feature adds to each comparison, at most."""
    columns = [
        (np.maximum(gains * one.weights, 0) if one.is_bound else gains * one.weights).sum(axis=1)
        for one in comparisons
    ]
    return np.column_stack(columns) if columns else np.zeros((len(gains), 0), dtype=np.int64)


def _largest_sums(values: Integers, size: int) -> Integers:
    """For each place and number up to `size`: the sum of so many largest values from there on."""
    n_places, n_comparisons = values.shape
    sums = np.zeros((n_places + 1, size + 1, n_comparisons), dtype=np.int64)
    largest = np.zeros((0, n_comparisons), dtype=np.int64)
    for place in range(n_places - 1, -1, -1):
        largest = -np.sort(-np.vstack([largest, values[place]]), axis=0)[:size]
        filled = np.vstack([largest, np.zeros((size - len(largest), n_comparisons), np.int64)])
        sums[place, 1:] = np.cumsum(filled, axis=0)
    return sums
