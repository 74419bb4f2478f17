"""Refinements that are all counted and scored, for every measure: one scorer for each kind."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.measures import Formula, Measure, Tally, confusion
from labelrules.measures.measure import Merit
from labelrules.rules import Body, Condition, Head
from labelrules.search.bodies.category_sets import SetRefiner
from labelrules.search.bodies.grow import NO_MERIT, Grown, Growth, may_conclude
from labelrules.search.bodies.refine import Covered, Refiner
from labelrules.search.bodies.rule_language import SETS
from labelrules.search.heads.batch import HeadsFound, best_heads
from labelrules.search.heads.choose import best_head
from labelrules.search.heads.problem import Counting, Polarity
from labelrules.search.heads.size_bonus import SizeBonus, no_bonus

if TYPE_CHECKING:
    from labelrules.kernels.covering.refine import RefinementSpace


class Counts(NamedTuple):
    """Tallies of bodies (rows) by labels (columns), for predicting absence and presence."""

    tallies: tuple[Tally, Tally]
    labels: Integers


class Merits(NamedTuple):
    """For each body the value of its best head, minus infinity if it has none; right cells."""

    values: Floats
    correct: Integers


class HeadScorer(Protocol):
    """Finds the best head of bodies."""

    needs_rows: bool

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """The merits of several bodies; the rows they cover only where rows are needed."""

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The best head of one body."""


@dataclass(frozen=True, eq=False)
class CountedRefinements:
    """Counts all refinements and scores each with its best head; for `grow_rule`.

    Thresholds lie between the values of the `remaining` rows, all by default. `fixed_scorer` gives
    the scorer for refinements of a rule whose head stays as it is.
    """

    refiner: Refiner
    scorer: HeadScorer
    growth: Growth
    remaining: Mask | None = None
    fixed_scorer: "Callable[[Head], HeadScorer] | None" = None

    def start(self) -> Grown:
        """The empty body."""
        refiner, labels = self.refiner, np.arange(len(self.refiner.board))
        refiner.note_written(labels)
        start, merit = refiner.everywhere, NO_MERIT
        if refiner.allowed.may_be_empty:
            counts = count_body(refiner, start, labels)
            (value,), (correct,) = self.scorer.merits(counts, [start.mask])
            merit = Merit(float(value), int(correct)) if np.isfinite(value) else NO_MERIT
        return Grown(Body(), start, merit, labels)

    def refined(self, candidate: Grown, beam_width: int) -> list[Grown]:
        """The best refinements of a body that are better than it."""
        refiner, is_first = self.refiner, not candidate.body.conditions
        covered = candidate.covered
        if not is_first and len(covered.rows) < 2:
            return []
        covered = covered if is_first else _narrowed(refiner, covered)
        refined = []
        for merit, labels, condition in self._best_conditions(candidate, covered, beam_width):
            # Its columns are narrowed down when its turn comes, from all rows.
            inside = refiner.narrow(covered, condition)._replace(listing=refiner.columns.index)
            body = candidate.body.and_(condition)
            new = Grown(body, inside, merit, labels, candidate.chosen)
            if is_first and self.fixed_scorer is not None:
                new = new._replace(chosen=self.head(new))
            refined.append(new)
        return refined

    def head(self, candidate: Grown) -> Head:
        """The best head of a body."""
        if candidate.chosen is not None:
            return candidate.chosen
        counts = count_body(self.refiner, candidate.covered, candidate.labels)
        return self.scorer.head(counts, candidate.covered.mask)

    def _best_conditions(
        self, candidate: Grown, covered: Covered, beam_width: int
    ) -> list[tuple[Merit, Integers, Condition]]:
        """The best conditions to add, best first; of equal ones those that come first."""
        best: list[tuple[Merit, Integers, Condition]] = []
        for part in self._columns(candidate, covered):
            for merit, place in self._better(candidate, part, covered):
                if len(best) == beam_width and merit <= best[-1][0]:
                    break
                condition = self._condition(part, place, covered)
                # Where rows have left, several cuts can be one condition.
                if condition not in [known for _, _, known in best]:
                    best.append((merit, part.counts.labels, condition))
                    best.sort(key=lambda one: one[0], reverse=True)  # stable
                    del best[beam_width:]
        return best

    def _better(
        self, candidate: Grown, part: "_ColumnRefinements", covered: Covered
    ) -> Iterator[tuple[Merit, int]]:
        """Merits and places of refinements by one column that are better than the body."""
        scorer = self.scorer
        if candidate.chosen is not None and self.fixed_scorer is not None:
            scorer = self.fixed_scorer(candidate.chosen)
        masks = self._masks(part, covered) if scorer.needs_rows else []
        values, correct = scorer.merits(part.counts, masks)
        for i in np.lexsort((-correct, -values)):  # stable
            merit = Merit(float(values[i]), int(correct[i]))
            if not self.growth.improves(merit, candidate.merit):
                return
            if np.isfinite(values[i]):
                yield merit, int(part.places[i])

    def _masks(self, part: "_ColumnRefinements", covered: Covered) -> list[Mask]:
        """The rows that each refinement covers."""
        refiner, places = self.refiner, part.places.tolist()
        conditions = [self._condition(part, place, covered) for place in places]
        return [refiner.narrow(covered, condition).mask for condition in conditions]

    def _condition(self, part: "_ColumnRefinements", place: int, covered: Covered) -> Condition:
        if part.sets:
            return part.sets[int(np.searchsorted(part.places, place))]
        return self.refiner.condition(part.column, place, covered, self.remaining)

    def _columns(self, candidate: Grown, covered: Covered) -> Iterator["_ColumnRefinements"]:
        """The refinements by each feature, then by each label that is written somewhere."""
        body, head = candidate.body, candidate.chosen
        refiner, allowed = self.refiner, self.refiner.allowed
        features = allowed.features if body.conditions else allowed.first_features
        tested = allowed.labels if body.conditions else allowed.first_labels
        labels = may_conclude(allowed, np.arange(len(refiner.board)), body)
        space = refiner.space(covered.listing, features[np.newaxis])
        for column in np.flatnonzero(features).tolist():
            yield _counted(refiner, space, column, covered, labels, int(features[column]))
            if isinstance(refiner, SetRefiner) and features[column] & SETS:
                yield from _counted_sets(refiner, column, covered, labels, head)
        label_space = refiner.label_space(covered, tested)
        if label_space is None:
            return
        for column in range(len(refiner.board)):
            heads = labels[tested[labels, column] > 0]
            if heads.size and label_space.listing.stop[column] > label_space.listing.start[column]:
                part = _counted(refiner, label_space, column, covered, heads, 1)
                yield part._replace(column=refiner.n_features + column)


class _ColumnRefinements(NamedTuple):
    """All refinements of a body by one column, in the order of their places."""

    column: int
    places: Integers
    counts: Counts
    sets: "tuple[Condition, ...]" = ()


def _counted(
    refiner: Refiner,
    space: "RefinementSpace",
    column: int,
    covered: Covered,
    labels: Integers,
    operators: int,
) -> _ColumnRefinements:
    """Count the refinements by a column."""
    from labelrules.kernels.covering.refine import count_refinements
    from labelrules.kernels.scoring import SECOND_PLACE

    shape = (refiner.n_layers, len(labels))
    sums, totals = np.empty((*shape, len(covered.rows) + 2), np.int64), np.empty(shape, np.int64)
    n = count_refinements(space, column, covered.rows, refiner.cells, labels, sums, totals)
    inside, steps = sums[:, :, :n], np.arange(n)
    nominal = bool(space.nominal[column])
    parts = [(inside, steps if nominal else 2 * steps)] if operators & 1 else []
    if operators & 2 and (n > 2 or not nominal):
        places = steps + SECOND_PLACE if nominal else 2 * steps + 1
        parts.append((totals[:, :, np.newaxis] - inside, places))
    if not parts:
        parts = [(inside[:, :, :0], steps[:0])]
    inside = np.concatenate([part for part, _ in parts], axis=2)
    place = np.concatenate([places for _, places in parts])
    order = np.argsort(place)
    return _ColumnRefinements(column, place[order], _counts(refiner, inside[:, :, order], labels))


def _counted_sets(
    refiner: SetRefiner, column: int, covered: Covered, labels: Integers, head: Head | None
) -> Iterator[_ColumnRefinements]:
    """Count the best sets of a column for each of the labels."""
    from labelrules.kernels.covering.grow import SET_PLACE

    sets = refiner.sets_of_column(covered, column, labels, head) if labels.size else []
    if sets:
        rows = [refiner.narrow(covered, condition).rows for condition in sets]
        inside = np.stack([_sums(refiner, labels, each) for each in rows], axis=2)
        places = SET_PLACE + np.arange(len(sets))
        counts = _counts(refiner, inside, labels)
        yield _ColumnRefinements(column, places, counts, tuple(sets))


def count_body(refiner: Refiner, covered: Covered, labels: Integers) -> Counts:
    """The counts of one body."""
    return _counts(refiner, _sums(refiner, labels, covered.rows)[:, :, np.newaxis], labels)


def _counts(refiner: Refiner, inside: Integers, labels: Integers) -> Counts:
    """Sums as the kernels add them up, layers by labels by bodies, as tallies."""
    everywhere = _sums(refiner, labels, slice(None))
    ones, cells = inside & 0xFFFFFFFF, inside >> 32
    all_ones, all_cells = everywhere & 0xFFFFFFFF, everywhere >> 32
    parts = (ones, cells - ones, all_ones, all_cells - all_ones)
    absent, present = (
        Tally(*(np.ascontiguousarray(part[layer].T) for part in parts))
        for layer in (0, refiner.n_layers - 1)
    )
    return Counts((absent, present), labels)


def _sums(refiner: Refiner, labels: Integers, rows: Integers | slice) -> Integers:
    """Cells that count in some rows (upper half) and ones (lower half), layers by labels."""
    counted = refiner.cells.counted[:, labels]
    ones = counted * (refiner.cells.truth[labels] == 1)
    cells = counted[:, :, rows].sum(axis=2, dtype=np.int64) << 32
    return np.asarray(cells + ones[:, :, rows].sum(axis=2, dtype=np.int64))


def _narrowed(refiner: Refiner, covered: Covered) -> Covered:
    from labelrules.kernels.index import narrow

    target = refiner.columns.space_for_narrowing
    narrow(refiner.columns.index, 0, refiner.n_features, covered.mask, target)
    return covered._replace(listing=target)


@dataclass(frozen=True, eq=False)
class LiteralScorer:
    """Scores each label alone: one of the best labels, or all of them, make up the head."""

    formula: Formula
    counting: Counting
    values: npt.NDArray[np.int8]
    smallest: int
    merging: bool
    largest: int
    unit: float = 1.0

    needs_rows = False

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """The best score, with the most right cells or those of all labels that reach it."""
        scores, right = self._scores(counts)
        top = scores.max(axis=(0, 2), initial=-np.inf)
        tied = (scores == top[np.newaxis, :, np.newaxis]) & np.isfinite(scores)
        if not self.merging:
            return Merits(top, np.where(tied, right, 0).max(axis=(0, 2), initial=0))
        tied[0] &= ~tied[1]
        tied = _first(tied, self.largest)
        return Merits(top, np.where(tied, right, 0).sum(axis=(0, 2)))

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The literals of the best score."""
        scores, right = (part[:, 0] for part in self._scores(counts))
        tied = scores == scores.max()
        if self.merging:
            tied[0] &= ~tied[1]
            tied = _first(tied[:, np.newaxis], self.largest)[:, 0]
            literals = {int(counts.labels[i]): int(value) for value, i in np.argwhere(tied)}
            return Head(literals, self.values.size)
        tied &= right == right[tied].max()
        value = int(tied[1].any())
        return Head({int(counts.labels[np.argmax(tied[value])]): value}, self.values.size)

    def _scores(self, counts: Counts) -> tuple[Floats, Integers]:
        """Scores and right cells of the literals: values by bodies by labels."""
        scores, right = [], []
        for value, tally in enumerate(counts.tallies):
            matrix = confusion(tally, value, self.counting)
            with np.errstate(divide="ignore", invalid="ignore"):
                score = np.asarray(self.formula(*(self.unit * part for part in matrix)))
            allowed = _is_enough(tally, matrix.tp, self.smallest / self.unit)
            allowed &= (self.values[counts.labels] >> value & 1) > 0
            scores.append(np.where(allowed & ~np.isnan(score), score, -np.inf))
            right.append(matrix.tp)
        return np.array(scores), np.array(right)


def _is_enough(tally: Tally, right: Integers, smallest: float) -> Mask:
    """Where something is right and enough cells are covered."""
    return np.asarray((right > 0) & (tally.covered_ones + tally.covered_zeros >= smallest))


def _first(tied: Mask, largest: int) -> Mask:
    """At most so many literals of each body: presences before absences, labels in order."""
    if largest >= tied.shape[2]:
        return tied
    ordered = np.concatenate([tied[1], tied[0]], axis=1)
    ordered &= np.cumsum(ordered, axis=1) <= largest
    present, absent = np.split(ordered, 2, axis=1)
    return np.array([absent, present])


@dataclass(frozen=True, eq=False)
class FixedHeadScorer:
    """Scores a given head, times its size bonus; its counts are summed or averaged."""

    given: Head
    measure: Measure
    counting: Counting
    smallest: int
    factor: float = 1.0
    unit: float = 1.0

    needs_rows = False

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """The value of the head for each body."""
        n_bodies = len(counts.tallies[0].covered_ones)
        right, enough = np.zeros(n_bodies, np.int64), np.ones(n_bodies, np.bool_)
        if not np.isin(self.given.labels, counts.labels).all():
            return Merits(np.full(n_bodies, -np.inf), right)  # not with what the body tests
        parts: list[Floats] = []
        for label, value in self.given:
            i = int(np.searchsorted(counts.labels, label))
            tally = Tally(*(part[..., i] for part in counts.tallies[value]))
            matrix = confusion(tally, value, self.counting)
            parts.append(self.unit * np.array(matrix, dtype=float))
            right = right + matrix.tp
            enough = enough & _is_enough(tally, matrix.tp, self.smallest / self.unit)
        formula = self.measure.formula
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.measure.averaging == "micro":
                values = np.asarray(formula(*np.sum(parts, axis=0)), dtype=np.float64)
            else:
                values = np.mean([formula(*part) for part in parts], axis=0)
        return Merits(np.where(enough & ~np.isnan(values), self.factor * values, -np.inf), right)

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The head that was given."""
        return self.given


@dataclass(frozen=True, eq=False)
class TallyScorer:
    """The best head follows from counts per label, by `best_heads`."""

    measure: Measure
    counting: Counting
    polarity: Polarity
    n_labels: int
    n_rows: int
    complete: bool

    needs_rows = False

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """The values of the best heads."""
        best, tally = self._best(counts), counts.tallies[1]
        heads = best.vectors
        predicted = np.where(heads == UNSET, 0, heads) if self.complete else heads
        # A full prediction counts absences that it does not write: a rule must write a right cell.
        right = np.where(predicted == 1, tally.covered_ones, 0)
        right += np.where(predicted == 0, tally.covered_zeros, 0)
        return Merits(np.where(right.sum(axis=1) > 0, best.values, -np.inf), best.correct)

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The best head of the only body."""
        head = _spread(self._best(counts).vectors[0], counts.labels, self.n_labels)
        return head.completed() if self.complete else head

    def _best(self, counts: Counts) -> HeadsFound:
        return best_heads(
            counts.tallies[1], self.n_rows, self.measure, counting=self.counting,
            polarity=self.polarity,
        )  # fmt: skip


def _spread(vector: Board, labels: Integers, n_labels: int) -> Head:
    cells = np.full(n_labels, UNSET)
    cells[labels] = vector
    return Head.from_vector(cells)


@dataclass(frozen=True, eq=False)
class RowScorer:
    """Scores the rows themselves by `best_head`: exact for every measure, but slow.

    `flipped` are labels of which heads may predict absence only: their values are exchanged.
    """

    measure: Measure
    counting: Counting
    polarity: Polarity
    truth: Board
    counted: Mask
    size_bonus: SizeBonus | None
    largest: int
    smallest: int
    flipped: Mask
    complete: bool

    needs_rows = True

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """One body after the other."""
        values, correct = np.full(len(masks), -np.inf), np.zeros(len(masks), np.int64)
        for body, mask in enumerate(masks):
            best = self._best(counts.labels, mask)
            if best is not None:
                values[body], correct[body], _ = best
        return Merits(values, correct)

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The best head of the body."""
        best = self._best(counts.labels, mask)
        assert best is not None
        return best[2]

    def _best(self, labels: Integers, mask: Mask) -> tuple[float, int, Head] | None:
        """The value with the size bonus, the right cells and the head."""
        n_inside = self.counted[labels][:, mask].sum(axis=1)
        if self.measure.predictions == "partial":
            labels = labels[n_inside >= self.smallest]
        if labels.size == 0 or n_inside.max(initial=0) < self.smallest:
            return None
        flip = self.flipped[labels]
        truth = np.maximum(self.truth[labels].T, 0) ^ flip  # an unknown cell never counts
        board = np.where(self.counted[labels].T, UNSET, np.int8(0))
        found = best_head(
            truth, mask, self.measure, board, counting=self.counting, polarity=self.polarity,
            max_labels=self.largest if self.largest < labels.size else None,
            size_bonus=self.size_bonus or no_bonus,
        )  # fmt: skip
        merit = self.measure.merit_of_rule(truth, mask, found.vector, board, self.counting)
        vector = np.where(found.vector == UNSET, UNSET, found.vector ^ flip).astype(np.int8)
        predicted = np.where(vector == UNSET, 0, vector) if self.complete else vector
        # A full prediction counts absences that it does not write: a rule must write a right cell.
        if not ((predicted == self.truth[labels].T) & self.counted[labels].T)[mask].any():
            return None
        head = _spread(vector, labels, len(self.truth))
        return found.value_with_bonus, merit.correct, head.completed() if self.complete else head
