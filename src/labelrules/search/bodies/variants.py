"""Bodies that differ from a given one by one step, and the cells that each covers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Board, Floats, Integers, Mask, Matrix
from labelrules.data.codes.thresholds import threshold_between
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import column_of
from labelrules.measures import Confusion, Measure, Tally, cells, confusion
from labelrules.measures.confusion_matrix import Counting
from labelrules.rules import Body, Condition

VariantKind: TypeAlias = Literal["moved", "dropped", "added", "exchanged"]

MOST_SUBSETS = 6
"""Conditions of which all subsets are listed: 64 of them."""
CUTS = 3
"""The best thresholds, or categories, in place of one of a condition."""


class BodyVariant(NamedTuple):
    """A body that is similar to a given one."""

    kind: VariantKind
    body: Body
    inside: Integers  # the ones, then the zeros, in the open cells that it covers, by label


@dataclass(frozen=True, eq=False)
class BodyPlace:
    """A place in a list where a rule with a given head may stand, and what counts there.

    `board` has what earlier rules wrote, and the truth in rows that they have ended; `labels` are
    what conditions on labels are tested on. `head` has one value for each label that counts.
    """

    schema: Schema
    X: Matrix
    truth: Board
    board: Board
    labels: Board
    going: Mask
    head: Board
    measure: Measure
    counting: Counting

    @cached_property
    def counted(self) -> Integers:
        """The labels that count: those of the head or, for full predictions, all."""
        is_full = self.measure.predictions == "full"
        return np.flatnonzero((self.head >= 0) | is_full)

    @cached_property
    def cells(self) -> tuple[Integers, Integers, Integers]:
        """The open cells of labels that count: ones and zeros, rows by labels; and the totals."""
        everywhere = np.ones(len(self.truth), dtype=np.bool_)
        columns = self.counted
        each = cells(self.truth[:, columns], everywhere, self.board[:, columns])
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
            self.counting,
        )
        if self.measure.averaging == "micro":
            summed = Confusion(
                *(np.broadcast_to(p, inside[:, :n].shape).sum(axis=1) for p in counts)
            )
            values = np.asarray(self.measure.formula(*summed), dtype=np.float64)
        else:
            each = np.asarray(self.measure.formula(*counts), dtype=np.float64)
            values = np.broadcast_to(each, inside[:, :n].shape).mean(axis=1)
        return values, np.asarray(counts.tp.sum(axis=1))

    def covers(self, body: Body) -> Mask:
        """The rows under way that a body covers."""
        return body.covers(self.X, self.labels) & self.going

    def count(self, body: Body) -> Integers:
        """The ones, then the zeros, in the open cells that a body covers, for each label."""
        counted: Integers = self.cells[0][self.covers(body)].sum(axis=0, dtype=np.int64)
        return counted

    def best(
        self, rest: Body, columns: Iterable[tuple[bool, int]], operator: str | None, most: int
    ) -> Iterator[tuple[Condition, Integers]]:
        """For each column the best conditions to add to a body, of those that change something.

        With each, the ones and zeros that the body then covers.
        """
        inside = self.covers(rest)
        rows = np.flatnonzero(inside)
        both = self.cells[0][rows]
        every = both.sum(axis=0, dtype=np.int64)
        for on_label, column in columns:
            if on_label:
                tests = _on_label(self.labels[rows, column].astype(np.float64), both)
            elif sparse.issparse(self.X):
                groups = self._groups_of_stored(column, inside, every)
                tests = _on_feature(*groups, self.schema.features[column])
            else:
                groups = _groups(column_of(self.X, column)[rows], both)
                tests = _on_feature(*groups, self.schema.features[column])
            tests = tests.only((tests.inside != every).any(axis=1))
            if operator is not None:
                tests = tests.only(tests.operators == operator)
            for number in self._ranked(tests.inside)[:most]:
                new = tests.condition(column, on_label, number, self.schema)
                yield new, tests.inside[number]

    def _groups_of_stored(
        self, column: int, inside: Mask, every: Integers
    ) -> tuple[Floats, Integers]:
        """The values of a sparse column in some rows; only the stored entries are looked at."""
        matrix: Any = self.X
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
    """All features, and the labels that some row under way has, but for those of the head."""
    features = [(False, column) for column in range(place.schema.n_features)]
    seen = (place.labels[place.going] >= 0).any(axis=0) & (place.head < 0)
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
