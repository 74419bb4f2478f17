"""Prune rules: leave out conditions and rules that the training rows do not warrant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Protocol

import numpy as np

from labelrules._types import UNSET, Integers, Mask, Matrix
from labelrules.data.table import column_of
from labelrules.learners.covering.board import TrainingBoard, Weight, total, total_within
from labelrules.measures.description_length import condition_bits, exception_bits, label_bits
from labelrules.rules import Body, Head
from labelrules.search.bodies.category_sets import Tested, bits_of_body
from labelrules.search.bodies.grow import Grown, GrownBody

if TYPE_CHECKING:
    from labelrules.kernels.covering.grow import DescriptionCounts

PATIENCE = 5
"""Conditions in a row that may not shorten the description; on nine benchmarks 3 were enough."""


class Pruner(Protocol):
    """Shortens a rule, or rejects it."""

    def __call__(self, grown: Grown, prefixes: list[Mask], board: TrainingBoard) -> int | None:
        """How many conditions to keep, None to reject; `prefixes`: rows of the first 0, 1, ... ."""


@dataclass(frozen=True)
class DescriptionLength:
    """Keep what shortens the description of the labels of a head.

    For each label and value: the bits that encode what is printed of its rules, each condition one
    of `n_possible` and each label of the head one of `n_labels`, and those that encode the
    exceptions; see `labelrules.measures.description_length`.
    """

    n_possible: int
    n_labels: int = 1
    n_values: Integers | None = None
    """Of each column how many categories sets may be made of, if conditions may test for sets."""

    def __call__(self, grown: Grown, prefixes: list[Mask], board: TrainingBoard) -> int | None:
        """The shortest prefix with the shortest description, if that is shorter than before."""
        covers = [np.zeros_like(prefixes[0]), *prefixes]
        before, *lengths = self._lengths(board, grown.head, covers)
        # The conditions of a compiled run are not made for this.
        body = grown.body
        tests = body.steps if isinstance(body, GrownBody) else body.conditions
        body_bits = self.body_bits(len(body), tests)
        best = self.shortest(before, lengths, body_bits, len(grown.head))
        if best is None:
            return None
        right, wrong = board.count(grown.head, prefixes[best])
        return best if right > wrong else None

    def shortest(
        self, before: float, lengths: list[float], body_bits: list[float], n_heads: int
    ) -> int | None:
        """The first of the shortest descriptions with a rule, if it is shorter than that before.

        `lengths` are the bits of the exceptions for the first 0, 1, ... conditions, `body_bits`
        those of the conditions, `n_heads` how many labels the head has.
        """
        from labelrules.kernels.covering.grow import THEORY_WEIGHT

        head_bits = n_heads * label_bits(self.n_labels)
        whole = [
            bits + THEORY_WEIGHT * (of_body + head_bits)
            for bits, of_body in zip(lengths, body_bits, strict=True)
        ]
        best = min(range(min(1, len(whole) - 1), len(whole)), key=lambda k: round(whole[k], 9))
        return best if whole[best] < before - 1e-9 else None

    def body_bits(self, size: int, tests: Sequence[Tested]) -> list[float]:
        """The bits for the first 0, 1, ... conditions of a body, which matter if there are sets."""
        if self.n_values is None:
            return [condition_bits(kept, self.n_possible) for kept in range(size + 1)]
        first = (tests[:kept] for kept in range(size + 1))
        return [bits_of_body(kept, self.n_possible, self.n_values) for kept in first]

    def _lengths(self, board: TrainingBoard, head: Head, covers: list[Mask]) -> list[float]:
        """The bits for the exceptions, for each of several ways to cover more rows."""
        by_label = [self._lengths_of(board, label, value, covers) for label, value in head]
        return [sum(bits) for bits in zip(*by_label, strict=True)]

    def _lengths_of(
        self, board: TrainingBoard, label: int, value: int, covers: list[Mask]
    ) -> list[float]:
        counts, weight = self.counts(board, label, value), board.weight[label]
        is_open = board.board[label] == UNSET
        is_true = board.truth[label] == value
        n_added, n_added_right = (
            _totals(weight * rows, covers) for rows in (is_open, is_open & is_true)
        )
        return [
            exception_length(counts, right, added - right, board.unit)
            for added, right in zip(n_added, n_added_right, strict=True)
        ]

    def counts(self, board: TrainingBoard, label: int, value: int) -> "DescriptionCounts":
        """The counts for the description length of a label and value, before a rule is added."""
        from labelrules.kernels.covering.grow import DescriptionCounts

        cells, n_cells = board.board[label], total(board.weight[label])
        n_predicted, n_true, n_right = _count(board, label, value, cells == value)
        return DescriptionCounts(n_cells, n_true, n_predicted, n_right, self.n_possible, PATIENCE)


def exception_length(before: "DescriptionCounts", right: int, wrong: int, unit: float = 1) -> float:
    """The bits for the exceptions once a rule writes so many cells right and wrong, in units."""
    n_predicted, n_right = before.n_predicted + right + wrong, before.n_right + right
    counts = (
        n_predicted, before.n_rows - n_predicted, n_predicted - n_right, before.n_true - n_right,
        before.n_true,
    )  # fmt: skip
    return exception_bits(*(counts if unit == 1 else (unit * count for count in counts)))


def _totals(weight: Weight, covers: list[Mask]) -> list[int]:
    """The sum of weights, or how many count, of each of several sets of rows."""
    (rows,) = weight.nonzero()  # mostly few
    kept = weight[rows]
    return [total_within(kept, covered[rows]) for covered in covers]


def _count(board: TrainingBoard, label: int, value: int, predicted: Mask) -> tuple[int, int, int]:
    """Rows predicted to have a value, rows that have it, and rows predicted rightly."""
    true, weight = board.truth[label] == value, board.weight[label]
    n_predicted, n_true, n_right = (
        total_within(weight, rows) for rows in (predicted, true, predicted & true)
    )
    return n_predicted, n_true, n_right


@dataclass(frozen=True)
class Significance:
    """Keep the conditions up to the last that makes a difference beyond chance.

    By the likelihood ratio of right and wrong cells against those of the body without it, as
    P. Clark and T. Niblett's CN2 does ("The CN2 Induction Algorithm", Machine Learning 3, 1989).
    By chance the threshold 3.84 is exceeded one time in twenty.
    """

    threshold: float = 3.841459

    def __call__(self, grown: Grown, prefixes: list[Mask], board: TrainingBoard) -> int | None:
        """The longest prefix that ends with a condition beyond chance."""
        return self.longest([board.count(grown.head, covered) for covered in prefixes])

    def longest(self, counts: Sequence[tuple[float, float]]) -> int | None:
        """The longest prefix by the right and wrong cells of the first 0, 1, ... conditions."""
        for kept in range(len(counts) - 1, 0, -1):
            if self.ratio(counts[kept], counts[kept - 1]) >= self.threshold:
                right, wrong = counts[kept]
                return kept if right > wrong else None
        return None if len(counts) > 1 else 0

    def ratio(self, inside: tuple[float, float], around: tuple[float, float]) -> float:
        """Twice the logarithm of the likelihood of two counts against their expectation."""
        total, whole = sum(inside), sum(around)
        bits = 0.0
        for count, of in zip(inside, around, strict=True):
            if count:
                bits += count * (log2(count / total) - log2(of / whole))
        return 2 * bits * _LN2


_LN2 = 0.6931471805599453


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Keep what does best on rows that the rule was not grown on (IREP).

    The prefix with the greatest share of right minus wrong cells, the shortest on a tie; a rule
    that is wrong as often as right is rejected (J. Fürnkranz and G. Widmer, "Incremental Reduced
    Error Pruning", ICML 1994).
    """

    rows: Mask

    def __call__(self, grown: Grown, prefixes: list[Mask], board: TrainingBoard) -> int | None:
        """The best prefix on the held-out rows."""
        best, kept = -2.0, None
        for n_conditions, covered in enumerate(prefixes):
            if n_conditions < min(1, len(grown.body)):
                continue
            rows = covered & self.rows & ~board.ended
            right, wrong = board.count(grown.head, rows, all_open=True)
            value = (right - wrong) / (right + wrong) if right + wrong else -1.0
            if value > best:
                best, kept = value, n_conditions
        return kept if best > 0 else None


def prefixes_of(body: Body, X: Matrix, board: TrainingBoard) -> list[Mask]:
    """The rows that no condition, the first, the first two and so on cover."""
    prefixes = [~board.ended]
    for holds in body.masks() if isinstance(body, GrownBody) else _masks(body, X, board):
        prefixes.append(prefixes[-1] & holds)
    return prefixes


def _masks(body: Body, X: Matrix, board: TrainingBoard) -> Iterator[Mask]:
    for condition in body:
        column = condition.column
        yield condition.holds(board.board[column] if condition.on_label else column_of(X, column))
