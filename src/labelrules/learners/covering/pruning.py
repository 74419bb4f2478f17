"""Prune rules: leave out conditions and rules that the training rows do not warrant."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Protocol

from labelrules._types import UNSET, Integers, Mask
from labelrules.learners.covering.board import LabelCounts, TrainingBoard, total_within
from labelrules.measures.description_length import condition_bits, exception_bits, label_bits
from labelrules.rules import Body, Evidence
from labelrules.search.bodies.best_by_column import growth_kernels
from labelrules.search.bodies.category_sets import Tested, bits_of_body
from labelrules.search.bodies.grow import Grown, tests_of

if TYPE_CHECKING:
    from labelrules.kernels.covering.grow import DescriptionCounts

PATIENCE = 5
"""Conditions in a row that may not shorten the description; on nine benchmarks 3 were enough."""


class Prefixes(Protocol):
    """What the first 0, 1, ... conditions of a rule cover: who counts rows answers."""

    def __len__(self) -> int:
        """How many there are, one more than conditions."""

    def evidence(self, label: int, value: int) -> list[Evidence]:
        """The open cells of a label that each would write right and wrong, in units."""

    def count(self, n_conditions: int) -> Evidence:
        """The right and wrong cells that count, those of all labels of the head added up."""

    def count_held_out(self, n_conditions: int) -> Evidence:
        """The right and wrong open cells of rows that were held out."""

    def shortened(self, n_conditions: int) -> Grown:
        """The rule with its first conditions only."""


class Pruner(Protocol):
    """Shortens a rule, or rejects it."""

    def __call__(self, grown: Grown, prefixes: Prefixes) -> int | None:
        """How many conditions to keep, None to reject."""


@dataclass(frozen=True)
class DescriptionLength:
    """Keep what shortens the description of the labels of a head.

    For each label and value: the bits that encode what is printed of its rules, each condition one
    of `n_possible` and each label of the head one of `n_labels`, and those that encode the
    exceptions; see `labelrules.measures.description_length`.
    """

    board: LabelCounts
    n_possible: int
    n_labels: int = 1
    n_values: Integers | None = None
    """Of each column how many categories sets may be made of, if conditions may test for sets."""

    def __call__(self, grown: Grown, prefixes: Prefixes) -> int | None:
        """The shortest prefix with the shortest description, if that is shorter than before."""
        by_label = [self._lengths(label, value, prefixes) for label, value in grown.head]
        before, *lengths = (sum(bits) for bits in zip(*by_label, strict=True))
        best = self._shortest(
            before, lengths, self._body_bits(tests_of(grown.body)), len(grown.head)
        )
        if best is None:
            return None
        right, wrong = prefixes.count(best)
        return best if right > wrong else None

    def _lengths(self, label: int, value: int, prefixes: Prefixes) -> list[float]:
        """The bits for the exceptions of a label: before, and with each prefix."""
        counts = self.describe(label, value)
        cells = [Evidence(0, 0), *prefixes.evidence(label, value)]
        return [exception_length(counts, *each, self.board.unit) for each in cells]

    def _shortest(
        self, before: float, lengths: list[float], body_bits: list[float], n_heads: int
    ) -> int | None:
        """The first of the shortest descriptions with a rule, if it is shorter than that before."""
        weight, head_bits = growth_kernels().THEORY_WEIGHT, n_heads * label_bits(self.n_labels)
        whole = [
            bits + weight * (of_body + head_bits)
            for bits, of_body in zip(lengths, body_bits, strict=True)
        ]
        best = min(range(min(1, len(whole) - 1), len(whole)), key=lambda k: round(whole[k], 9))
        return best if whole[best] < before - 1e-9 else None

    def _body_bits(self, tests: Sequence[Tested]) -> list[float]:
        """The bits for the first 0, 1, ... conditions of a body, which matter if there are sets."""
        if self.n_values is None:
            return [condition_bits(kept, self.n_possible) for kept in range(len(tests) + 1)]
        first = (tests[:kept] for kept in range(len(tests) + 1))
        return [bits_of_body(kept, self.n_possible, self.n_values) for kept in first]

    def describe(self, label: int, value: int) -> "DescriptionCounts":
        """The counts for the description length of a label and value, before a rule is added."""
        return self.board.describe(label, value, self.n_possible, PATIENCE)


def exception_length(before: "DescriptionCounts", right: int, wrong: int, unit: float = 1) -> float:
    """The bits for the exceptions once a rule writes so many cells right and wrong, in units."""
    n_predicted, n_right = before.n_predicted + right + wrong, before.n_right + right
    counts = (
        n_predicted, before.n_rows - n_predicted, n_predicted - n_right, before.n_true - n_right,
        before.n_true,
    )  # fmt: skip
    return exception_bits(*(counts if unit == 1 else (unit * count for count in counts)))


@dataclass(frozen=True)
class Significance:
    """Keep the conditions up to the last that makes a difference beyond chance.

    By the likelihood ratio of right and wrong cells against those of the body without it, as
    P. Clark and T. Niblett's CN2 does ("The CN2 Induction Algorithm", Machine Learning 3, 1989).
    By chance the threshold 3.84 is exceeded one time in twenty.
    """

    threshold: float = 3.841459

    def __call__(self, grown: Grown, prefixes: Prefixes) -> int | None:
        """The longest prefix that ends with a condition beyond chance."""
        counts = [prefixes.count(kept) for kept in range(len(prefixes))]
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


class HeldOut:
    """Keep what does best on rows that the rule was not grown on (IREP).

    The prefix with the greatest share of right minus wrong cells, the shortest on a tie; a rule
    that is wrong as often as right is rejected (J. Fürnkranz and G. Widmer, "Incremental Reduced
    Error Pruning", ICML 1994).
    """

    def __call__(self, grown: Grown, prefixes: Prefixes) -> int | None:
        """The best prefix on the held-out rows."""
        best, kept = -2.0, None
        for n_conditions in range(min(1, len(grown.body)), len(prefixes)):
            right, wrong = prefixes.count_held_out(n_conditions)
            value = (right - wrong) / (right + wrong) if right + wrong else -1.0
            if value > best:
                best, kept = value, n_conditions
        return kept if best > 0 else None


@dataclass(frozen=True, eq=False)
class RowPrefixes:
    """The rows that the first 0, 1, ... conditions of a rule cover, counted on a board."""

    board: TrainingBoard
    grown: Grown
    masks: list[Mask]

    def __len__(self) -> int:
        return len(self.masks)

    def evidence(self, label: int, value: int) -> list[Evidence]:
        """The open cells of a label that each would write right and wrong, in units."""
        board = self.board
        # Whole masks: the rows of one label are fewer, but to gather them takes longer.
        weight = board.weight[label] * (board.board[label] == UNSET)
        right = weight * (board.truth[label] == value)
        found = []
        for mask in self.masks:
            n_right = total_within(right, mask)
            found.append(Evidence(n_right, total_within(weight, mask) - n_right))
        return found

    def count(self, n_conditions: int) -> Evidence:
        """The right and wrong cells that count, those of all labels of the head added up."""
        return self.board.count(self.grown.head, self.masks[n_conditions])

    def count_held_out(self, n_conditions: int) -> Evidence:
        """The right and wrong open cells of rows that were held out."""
        rows = self.masks[n_conditions] & self.board.held_out & ~self.board.ended
        return self.board.count(self.grown.head, rows, all_open=True)

    def shortened(self, n_conditions: int) -> Grown:
        """The rule with its first conditions only."""
        grown = self.grown
        covered = grown.covered._replace(mask=self.masks[n_conditions])
        return grown._replace(body=Body(grown.body.conditions[:n_conditions]), covered=covered)
