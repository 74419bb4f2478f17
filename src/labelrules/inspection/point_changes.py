"""The smallest change of a row for rule sets whose rules test one feature each: scorecards.

Every feature adds points to the labels, so that what a set of features can change is known without
trying all their values. A label changes only if some *winner* with the other value wins: the labels
with points, or a usual label set. A winner has to win some comparisons, each of which is a sum over
the features. A set of features is tried only if it could win all comparisons of one winner.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeGuard

import numpy as np

from labelrules._types import Integers
from labelrules.rules import RuleSet, Theory

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
