"""What bodies are worth, many at a time: counts in, values out."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.measures import Formula, Measure, Tally
from labelrules.rules import Head
from labelrules.search.heads.batch import HeadsFound, best_heads
from labelrules.search.heads.choose import best_head
from labelrules.search.heads.problem import RuleConvention
from labelrules.search.heads.size_bonus import Lift, no_lift


class Counts(NamedTuple):
    """Cells that count, for several bodies (rows) and some labels (columns).

    Each is a pair, for predicting absence and presence: the same twice, unless the two count
    different cells.
    """

    ones: tuple[Integers, Integers]
    zeros: tuple[Integers, Integers]
    all_ones: tuple[Integers, Integers]
    all_zeros: tuple[Integers, Integers]
    labels: Integers


class Merits(NamedTuple):
    """For each body the value of its best head, minus infinity if it has none; cells right."""

    values: Floats
    correct: Integers


class HeadScorer(Protocol):
    """Finds the best head of bodies."""

    needs_rows: bool

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """What several bodies are worth; the rows they cover only where rows are needed."""

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The best head of one body."""


@dataclass(frozen=True, eq=False)
class LiteralScorer:
    """Each label is scored alone: one of the best, or all of them, make up the head."""

    formula: Formula
    relative: bool
    values: npt.NDArray[np.int8]
    smallest: int
    merging: bool
    largest: int

    needs_rows = False

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """The best score, with the most cells right or those of all labels that reach it."""
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
        for value in (0, 1):
            ones, zeros = counts.ones[value], counts.zeros[value]
            others = counts.all_ones[value] - ones, counts.all_zeros[value] - zeros
            hit, wrong = (ones, zeros) if value else (zeros, ones)
            missed, rejected = others if value or not self.relative else others[::-1]
            with np.errstate(divide="ignore", invalid="ignore"):
                score = np.asarray(
                    self.formula(*(part.astype(float) for part in (hit, wrong, rejected, missed))),
                    dtype=np.float64,
                )
            allowed = (hit > 0) & (ones + zeros >= self.smallest)
            allowed &= (self.values[counts.labels] >> value & 1) > 0
            scores.append(np.where(allowed & ~np.isnan(score), score, -np.inf))
            right.append(hit)
        return np.array(scores), np.array(right)


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
    """The head is given, with the lift for its size; its counts are summed or averaged."""

    given: Head
    measure: Measure
    relative: bool
    smallest: int
    factor: float = 1.0

    needs_rows = False

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """The value of the head for each body."""
        parts: list[Floats] = []
        right: Integers = np.zeros(len(counts.ones[0]), np.int64)
        enough: Mask = np.ones(len(right), np.bool_)
        if not np.isin(self.given.labels, counts.labels).all():
            return Merits(np.full(len(right), -np.inf), right)  # not with what the body tests
        for label, value in self.given:
            i = int(np.searchsorted(counts.labels, label))
            ones, zeros = counts.ones[value][:, i], counts.zeros[value][:, i]
            others = counts.all_ones[value][i] - ones, counts.all_zeros[value][i] - zeros
            hit, wrong = (ones, zeros) if value else (zeros, ones)
            missed, rejected = others if value or not self.relative else others[::-1]
            parts.append(np.array([hit, wrong, rejected, missed], dtype=float))
            right = right + hit
            enough = enough & (ones + zeros >= self.smallest) & (hit > 0)
        formula = self.measure.formula
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.measure.averaging == "micro":
                values = np.asarray(formula(*np.sum(parts, axis=0)), dtype=np.float64)
            else:
                values = np.mean([formula(*part) for part in parts], axis=0)
        values = np.where(enough & ~np.isnan(values), self.factor * values, -np.inf)
        return Merits(values, right)

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The head that was given."""
        return self.given


@dataclass(frozen=True, eq=False)
class TallyScorer:
    """The best head follows from counts per label, by `best_heads`."""

    measure: Measure
    convention: RuleConvention
    absence: bool
    n_labels: int
    n_rows: int
    complete: bool

    needs_rows = False

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """The values of the best heads."""
        found = self._best(counts)
        said = (
            np.where(found.vectors == UNSET, 0, found.vectors) if self.complete else found.vectors
        )
        # What is silently predicted absent is not written: a rule must write something right.
        written = np.where(said == 1, counts.ones[1], 0) + np.where(said == 0, counts.zeros[1], 0)
        is_right = written.sum(axis=1) > 0
        return Merits(np.where(is_right, found.values, -np.inf), found.correct)

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The best head of the only body."""
        head = _spread(self._best(counts).vectors[0], counts.labels, self.n_labels)
        return head.completed() if self.complete else head

    def _best(self, counts: Counts) -> HeadsFound:
        tally = Tally(counts.ones[1], counts.zeros[1], counts.all_ones[1], counts.all_zeros[1])
        return best_heads(
            tally, self.n_rows, self.measure, convention=self.convention, absence=self.absence
        )


def _spread(vector: Board, labels: Integers, n_labels: int) -> Head:
    cells = np.full(n_labels, UNSET)
    cells[labels] = vector
    return Head.from_vector(cells)


@dataclass(frozen=True, eq=False)
class RowScorer:
    """The best head needs the rows themselves, by `best_head`: exact for every measure, but slow.

    `flipped` are labels of which heads may only say that they are absent: they are looked at
    upside down.
    """

    measure: Measure
    convention: RuleConvention
    absence: bool
    truth: Board
    counted: Mask
    lift: Lift | None
    largest: int
    smallest: int
    flipped: Mask
    complete: bool

    needs_rows = True

    def merits(self, counts: Counts, masks: list[Mask]) -> Merits:
        """One body after the other."""
        values, correct = np.full(len(masks), -np.inf), np.zeros(len(masks), np.int64)
        for body, mask in enumerate(masks):
            found = self._best(counts.labels, mask)
            if found is not None:
                values[body], correct[body], _ = found
        return Merits(values, correct)

    def head(self, counts: Counts, mask: Mask) -> Head:
        """The best head of the body."""
        found = self._best(counts.labels, mask)
        assert found is not None
        return found[2]

    def _best(self, labels: Integers, mask: Mask) -> tuple[float, int, Head] | None:
        """The lifted value, the cells right and the head."""
        n_inside = self.counted[labels][:, mask].sum(axis=1)
        if self.measure.predictions == "partial":
            labels = labels[n_inside >= self.smallest]
        if labels.size == 0 or n_inside.max(initial=0) < self.smallest:
            return None
        flip = self.flipped[labels]
        truth = self.truth[labels].T ^ flip
        board = np.where(self.counted[labels].T, UNSET, np.int8(0))
        found = best_head(
            truth, mask, self.measure, board, convention=self.convention, absence=self.absence,
            max_labels=self.largest if self.largest < labels.size else None,
            lift=self.lift or no_lift,
        )  # fmt: skip
        merit = self.measure.merit_of_rule(truth, mask, found.vector, board, self.convention)
        vector = np.where(found.vector == UNSET, UNSET, found.vector ^ flip).astype(np.int8)
        said = np.where(vector == UNSET, 0, vector) if self.complete else vector
        # What is silently predicted absent is not written: a rule must write something right.
        if not ((said == self.truth[labels].T) & self.counted[labels].T)[mask].any():
            return None
        head = _spread(vector, labels, len(self.truth))
        return found.lifted, merit.correct, head.completed() if self.complete else head
