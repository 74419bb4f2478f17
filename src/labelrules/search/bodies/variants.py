"""Variants of a rule in its place: other heads, and bodies that differ by one step."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.codes.thresholds import threshold_between
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset, column_of
from labelrules.measures import Confusion, Measure, Tally, cells, confusion, tally
from labelrules.measures.confusion_matrix import Counting
from labelrules.rules import Body, Condition, Evidence, Head, Rule
from labelrules.rules.run import PartRun
from labelrules.search.heads.additive import RATIOS
from labelrules.search.heads.choose import best_head
from labelrules.search.heads.problem import known_formula

VariantKind: TypeAlias = Literal["moved", "dropped", "added", "exchanged"]

MOST_SUBSETS = 6
"""Conditions of which all subsets are listed: 64 of them."""
CUTS = 3
"""The best thresholds, or categories, in place of one of a condition."""
MOST_LABELS = 5
"""Heads of so many labels are looked for; single labels are listed from the best."""


class BodyVariant(NamedTuple):
    """A body that is similar to a given one."""

    kind: VariantKind
    body: Body
    inside: Integers  # the ones, then the zeros, in the open cells that it covers, by label


@dataclass(frozen=True, eq=False)
class RulePlace:
    """A place in a list where a rule may stand, as the rows of a run see it, and a measure."""

    part: PartRun
    number: int
    truth: Board
    measure: Measure
    counting: Counting

    @cached_property
    def going(self) -> Mask:
        """The rows that no earlier rule has ended."""
        stopped = self.part.run.stopped
        return (stopped < 0) | (stopped >= self.number)

    @cached_property
    def board(self) -> Board:
        """What earlier rules wrote; the truth in rows that they have ended."""
        return np.where(self.going[:, None], self.part.run.before(self.number), self.truth)

    @cached_property
    def labels(self) -> Board:
        """What conditions on labels are tested on."""
        return self.part.before(self.number)

    def covers(self, body: Body) -> Mask:
        """The rows under way that a body covers."""
        return body.covers(self.part.rows.X, self.labels) & self.going

    def count(self, rule: Rule) -> tuple[Mask, Evidence]:
        """The rows under way that a rule covers, and its right and wrong open cells."""
        covered, columns = self.covers(rule.body), list(rule.head.labels)
        cells = covered[:, None] & (self.board[:, columns] == UNSET)
        return covered, Evidence.of_cells(cells, rule.head.values, self.truth[:, columns])

    def value(self, rule: Rule, covered: Mask) -> Fraction | float:
        """The measure of a rule here, exact unless it is irrational."""
        given = (self.truth, covered, rule.head.vector(), self.board, self.counting)
        try:
            return self.measure.of_rule(*given, exact=True)
        except ValueError:
            return self.measure.of_rule(*given)

    def heads(self, rule: Rule, limit: int) -> list[Head]:
        """The best heads of each size for a body, and the best single labels; not its own head."""
        covered = self.covers(rule.body)
        is_full = self.measure.predictions == "full"
        writable = (self.board[covered] == UNSET).any(axis=0)
        labels = np.flatnonzero(writable | is_full).tolist() if writable.any() else []
        sizes = range(2, min(MOST_LABELS, len(labels)) + 1)
        if is_full:
            sizes = range(1, sizes.stop)
        elif self.measure.averaging == "micro" and known_formula(self.measure) not in RATIOS:
            sizes = range(0)  # no exact search is known for more than one label
        found = [self._best_head(covered, labels, size) for size in sizes]
        if not is_full:
            found += self._single_labels(covered, labels, limit + 1)  # one may be its own head
        return [head for head in dict.fromkeys(found) if head != rule.head]

    def _single_labels(self, covered: Mask, labels: list[int], most: int) -> list[Head]:
        """The best single labels: value, then right cells, then presence, then their order."""
        each = tally(self.truth[:, labels], covered, self.board[:, labels])
        both = [confusion(each, value, self.counting) for value in (1, 0)]
        ranked = [
            (-self._label_value(counts), -counts[0], place, label, value)
            for place, (value, matrix) in enumerate(zip((1, 0), both, strict=True))
            for label, *counts in zip(labels, *(part.tolist() for part in matrix), strict=True)
        ]
        n_labels = self.truth.shape[1]
        return [Head({label: value}, n_labels) for *_, label, value in sorted(ranked)[:most]]

    def _label_value(self, counts: list[int]) -> Fraction | float:
        """The formula of the counts of one label, exact unless it is irrational."""
        try:
            return self.measure.formula.exact(*counts)
        except ValueError:
            return float(self.measure.formula(*map(np.asarray, counts)))

    def _best_head(self, covered: Mask, labels: list[int], size: int) -> Head:
        found = best_head(
            self.truth[:, labels], covered, self.measure, self.board[:, labels],
            counting=self.counting, max_labels=size,
        )  # fmt: skip
        vector = np.full(self.truth.shape[1], UNSET)
        vector[labels] = found.vector
        head = Head.from_vector(vector)
        return head.completed() if self.measure.predictions == "full" else head


@dataclass(frozen=True, eq=False)
class BodyPlace:
    """A place for the bodies of rules with one head."""

    place: RulePlace
    head: Board  # one value for each label that counts

    @property
    def rows(self) -> Dataset:
        """The rows that bodies are tested on."""
        return self.place.part.rows

    @cached_property
    def counted(self) -> Integers:
        """The labels that count: in the head or, for full predictions, all."""
        is_full = self.place.measure.predictions == "full"
        return np.flatnonzero((self.head >= 0) | is_full)

    @cached_property
    def cells(self) -> tuple[Integers, Integers, Integers]:
        """The open cells of labels that count: ones and zeros, rows by labels; and the totals."""
        everywhere = np.ones(len(self.place.truth), dtype=np.bool_)
        columns = self.counted
        each = cells(self.place.truth[:, columns], everywhere, self.place.board[:, columns])
        both = np.concatenate([each.ones, each.zeros], axis=1)
        n = columns.size
        totals = both.sum(axis=0, dtype=np.int64)
        return both, totals[:n], totals[n:]

    def scores(self, inside: Integers) -> tuple[Floats, Integers]:
        """The value and the right cells of bodies, from the ones and zeros that each covers."""
        _, ones, zeros = self.cells
        n = ones.size
        counts = confusion(
            Tally(inside[:, :n], inside[:, n:], ones, zeros),
            (self.head[self.counted] == 1).astype(np.int8),
            self.place.counting,
        )
        if self.place.measure.averaging == "micro":
            summed = Confusion(
                *(np.broadcast_to(p, inside[:, :n].shape).sum(axis=1) for p in counts)
            )
            values = np.asarray(self.place.measure.formula(*summed), dtype=np.float64)
        else:
            each = np.asarray(self.place.measure.formula(*counts), dtype=np.float64)
            values = np.broadcast_to(each, inside[:, :n].shape).mean(axis=1)
        return values, np.asarray(counts.tp.sum(axis=1))

    def count(self, body: Body) -> Integers:
        """The ones, then the zeros, in the open cells that a body covers, for each label."""
        counted: Integers = self.cells[0][self.place.covers(body)].sum(axis=0, dtype=np.int64)
        return counted

    def best(
        self, rest: Body, columns: Iterable[tuple[bool, int]], operator: str | None, most: int
    ) -> Iterator[tuple[Condition, Integers]]:
        """For each column the best conditions to add to a body, of those that change something.

        With each, the ones and zeros that the body then covers.
        """
        inside = self.place.covers(rest)
        rows = np.flatnonzero(inside)
        both = self.cells[0][rows]
        every = both.sum(axis=0, dtype=np.int64)
        for on_label, column in columns:
            if on_label:
                tests = _on_label(self.place.labels[rows, column].astype(np.float64), both)
            elif sparse.issparse(self.rows.X):
                groups = self._groups_of_stored(column, inside, every)
                tests = _on_feature(*groups, self.rows.schema.features[column])
            else:
                groups = _groups(column_of(self.rows.X, column)[rows], both)
                tests = _on_feature(*groups, self.rows.schema.features[column])
            tests = tests.only((tests.inside != every).any(axis=1))
            if operator is not None:
                tests = tests.only(tests.operators == operator)
            for number in self._ranked(tests.inside)[:most]:
                new = tests.condition(column, on_label, number, self.rows.schema)
                yield new, tests.inside[number]

    def _groups_of_stored(
        self, column: int, inside: Mask, every: Integers
    ) -> tuple[Floats, Integers]:
        """The values of a sparse column in some rows; only the stored entries are looked at."""
        matrix: Any = self.rows.X
        entries = slice(matrix.indptr[column], matrix.indptr[column + 1])
        stored = inside[matrix.indices[entries]]
        rows, values = matrix.indices[entries][stored], matrix.data[entries][stored]
        both = self.cells[0][rows]
        distinct, each = _groups(values, both)
        if rows.size == np.count_nonzero(inside):
            return distinct, each
        place = int(np.searchsorted(distinct, 0.0))
        zeros = every - both.sum(axis=0, dtype=np.int64)
        return (
            np.concatenate([distinct[:place], [0.0], distinct[place:]]),
            np.concatenate([each[:place], zeros[None], each[place:]]),
        )

    def _ranked(self, inside: Integers) -> list[int]:
        """The candidates from the best: value, then right cells, then their order."""
        values, right = self.scores(inside)
        order: list[int] = np.lexsort((-right, -np.round(values, 12))).tolist()
        return order


def _groups(values: Floats, both: Integers) -> tuple[Floats, Integers]:
    """The different values that are known, rising, and the ones and zeros of the rows of each."""
    if values.size and (values == values[0]).all():  # as what is stored of a word
        return values[:1], both.sum(axis=0, dtype=np.int64)[None]
    known = ~np.isnan(values)
    values, both = values[known], both[known]
    order = np.argsort(values, kind="stable")
    values = values[order]
    starts = np.flatnonzero(np.concatenate([values[:1] == values[:1], values[1:] > values[:-1]]))
    if not starts.size:
        return values, np.zeros((0, both.shape[1]), dtype=np.int64)
    return values[starts], np.add.reduceat(both[order], starts, axis=0, dtype=np.int64)


class _Tests(NamedTuple):
    """Conditions on one column, and the ones and zeros that each covers."""

    operators: npt.NDArray[np.str_]
    lows: Floats  # the value below a threshold, or the category
    highs: Floats
    inside: Integers

    def only(self, which: Mask) -> "_Tests":
        """Some of them."""
        operators, lows, highs, inside = self
        return _Tests(operators[which], lows[which], highs[which], inside[which])

    def condition(self, column: int, on_label: bool, number: int, schema: Schema) -> Condition:
        """One of them; its threshold is a round number between two values."""
        low, operator = float(self.lows[number]), str(self.operators[number])
        if on_label:
            return Condition.label(column, present=low == 1)
        if operator in ("=", "!="):
            return Condition(column, operator, low)  # type: ignore[arg-type]
        cut = threshold_between(low, float(self.highs[number]), schema.features[column])
        return Condition(column, operator, cut)  # type: ignore[arg-type]


def _on_label(values: Floats, both: Integers) -> _Tests:
    inside = np.array([both[values == value].sum(axis=0, dtype=np.int64) for value in (1, 0)])
    codes = np.array([1.0, 0.0])
    some = np.array([(values == value).any() for value in (1, 0)])
    return _Tests(np.array(["=", "="])[some], codes[some], codes[some], inside[some])


def _on_feature(distinct: Floats, each: Integers, feature: Feature) -> _Tests:
    every = each.sum(axis=0)
    if feature.is_nominal:
        operators = np.repeat(["=", "!="], distinct.size)
        codes = np.tile(distinct, 2)
        tests = _Tests(operators, codes, codes, np.concatenate([each, every - each]))
        # Of two categories one is not the other.
        return tests if len(feature.categories or ()) > 2 else tests.only(operators == "=")
    lower = np.cumsum(each, axis=0)[:-1]
    operators = np.repeat(["<=", ">"], max(distinct.size - 1, 0))
    lows, highs = np.tile(distinct[:-1], 2), np.tile(distinct[1:], 2)
    return _Tests(operators, lows, highs, np.concatenate([lower, every - lower]))


def shortlist(place: BodyPlace, variants: list[BodyVariant], limit: int) -> list[BodyVariant]:
    """The bodies that may be among the best, by values that are nearly exact."""
    if len(variants) <= limit:
        return variants
    values, right = place.scores(np.array([variant.inside for variant in variants]))
    least = np.sort(values)[-limit]
    near = np.flatnonzero(values >= least - 1e-9 * abs(least)).tolist()
    # Among equal values those with more right cells come first.
    best = sorted(near, key=lambda i: (-round(float(values[i]), 12), -right[i], i))
    return [variants[i] for i in sorted(best[: 2 * limit])]


def similar_bodies(place: BodyPlace, body: Body) -> list[BodyVariant]:
    """Bodies one step away: a threshold or category moved, a condition dropped, added, exchanged.

    Of moved ones the best `CUTS` for each condition, of added and exchanged ones the best for each
    column are listed; each body once, and not the given one.
    """
    found = [
        *_moved(place, body),
        *_dropped(place, body),
        *_added(place, body),
        *_exchanged(place, body),
    ]
    first = {variant.body: variant for variant in reversed(found)}
    first.pop(body, None)
    return [variant for variant in found if first.get(variant.body) is variant]


def _moved(place: BodyPlace, body: Body) -> Iterator[BodyVariant]:
    for condition in body.on_features:
        if condition.operator == "in":
            continue
        rest = _without(body, condition)
        where = [(False, condition.column)]
        # One more than is kept, since the condition itself may be among them.
        for new, inside in place.best(rest, where, condition.operator, CUTS + 1):
            if new != condition:
                yield BodyVariant("moved", _exchange(body, condition, new), inside)


def _dropped(place: BodyPlace, body: Body) -> Iterator[BodyVariant]:
    for condition in body:
        rest = _without(body, condition)
        yield BodyVariant("dropped", rest, place.count(rest))


def _added(place: BodyPlace, body: Body) -> Iterator[BodyVariant]:
    for new, inside in place.best(body, _columns(place), None, 1):
        yield BodyVariant("added", body.and_(new), inside)


def _exchanged(place: BodyPlace, body: Body) -> Iterator[BodyVariant]:
    for condition in body:
        for new, inside in place.best(_without(body, condition), _columns(place), None, 1):
            yield BodyVariant("exchanged", _exchange(body, condition, new), inside)


def _columns(place: BodyPlace) -> list[tuple[bool, int]]:
    """All features, and the labels outside the head that some row under way has."""
    features = [(False, column) for column in range(place.rows.schema.n_features)]
    seen = (place.place.labels[place.place.going] >= 0).any(axis=0) & (place.head < 0)
    return [*features, *((True, label) for label in np.flatnonzero(seen).tolist())]


def _without(body: Body, condition: Condition) -> Body:
    return Body(other for other in body if other is not condition)


def _exchange(body: Body, old: Condition, new: Condition) -> Body:
    return Body(new if other is old else other for other in body)


def pruned_bodies(body: Body) -> list[Body]:
    """Bodies of some conditions: all subsets, or of long bodies prefixes and single drops."""
    conditions = body.conditions
    if len(conditions) <= MOST_SUBSETS:
        chosen = [
            subset for size in range(len(conditions)) for subset in combinations(conditions, size)
        ]
    else:
        chosen = [conditions[:size] for size in range(len(conditions))]
        chosen += [(*conditions[:i], *conditions[i + 1 :]) for i in range(len(conditions) - 1)]
    shorter = dict.fromkeys(Body(subset) for subset in chosen)
    return [one for one in shorter if one != body]
