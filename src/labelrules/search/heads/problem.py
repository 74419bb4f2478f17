"""The problem of the best head: its data checked and counted once, and how ties are settled."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._checks import one_of, whole_number
from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.measures import Confusion, Measure, Tally, cells, confusion, tally, traits
from labelrules.measures.confusion_matrix import (
    checked_coverage,
    checked_labels,
    checked_predictions,
)
from labelrules.search.heads.size_bonus import SizeBonus, factors, no_bonus

Counting: TypeAlias = Literal["chapter", "head-relative", "plain"]
Polarity: TypeAlias = Literal["both", "presence"]

_BOTH = np.array([[0], [1]])


class BestVector(NamedTuple):
    """The best head, heads (or nodes) evaluated, and by how much another may be better."""

    vector: Board
    evaluated: int
    gap: float = 0.0


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Find the best head for the rows that a body covers; parameters as for `best_head`.

    `max_labels` counts literals for partial, and presences for full predictions.
    """

    Y: Board
    covered: Mask
    measure: Measure
    board: Board | None = None
    counting: Counting = "chapter"
    polarity: Polarity = "both"
    max_labels: int | None = None
    size_bonus: SizeBonus = no_bonus

    def __post_init__(self) -> None:
        Y = checked_labels(self.Y)
        object.__setattr__(self, "covered", checked_coverage(self.covered, Y.shape[0]))
        board = self.board
        if board is not None:
            board = checked_predictions(board, Y.shape, "board")
        if (Y == UNSET).any():  # an unknown cell counts as little as one that is written
            open_board = np.full_like(Y, UNSET) if board is None else board
            board, Y = np.where(Y == UNSET, np.int8(0), open_board), np.maximum(Y, np.int8(0))
        object.__setattr__(self, "Y", Y)
        object.__setattr__(self, "board", board)
        if self.counting == "plain" and not self.is_full:
            raise ValueError(
                "counting='plain' is for full predictions, which predict every label: use "
                "'chapter' or 'head-relative' for partial ones"
            )
        one_of(self.counting, "counting", ("chapter", "head-relative", "plain"))
        one_of(self.polarity, "polarity", ("both", "presence"))
        if self.max_labels is not None:
            whole_number(self.max_labels, "max_labels", low=1)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.Y.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows, covered or not."""
        return int(self.Y.shape[0])

    @property
    def absence(self) -> bool:
        """Whether heads may predict absence."""
        return self.polarity == "both"

    @property
    def is_full(self) -> bool:
        """Whether labels outside the head count as predicted absent."""
        return self.measure.predictions == "full"

    @property
    def smallest(self) -> int:
        """The smallest head: a full prediction may name no label if absence is allowed."""
        return 0 if self.is_full and self.absence else 1

    @property
    def largest(self) -> int:
        """The largest head."""
        return self.n_labels if self.max_labels is None else min(self.max_labels, self.n_labels)

    @property
    def is_unrestricted(self) -> bool:
        """Whether neither a size bonus nor a limit restricts the head."""
        return self.size_bonus is no_bonus and self.largest == self.n_labels

    @cached_property
    def factors(self) -> list[float]:
        """The size bonus of every head size from 0."""
        # Sizes beyond the limit do not occur, and the bonus may not be defined there.
        return factors(self.size_bonus, self.largest) + [1.0] * (self.n_labels - self.largest)

    @cached_property
    def is_open(self) -> Mask:
        """The cells that count."""
        if self.board is None:
            return np.ones(self.Y.shape, dtype=np.bool_)
        return np.asarray(self.board == UNSET)

    @cached_property
    def open_rows(self) -> Mask:
        """The rows in which some cell counts."""
        return np.asarray(self.is_open.any(axis=1))

    @cached_property
    def rows_are_whole(self) -> bool:
        """Whether each row counts with all its labels or with none."""
        return bool((self.is_open.all(axis=1) == self.open_rows).all())

    @cached_property
    def counts(self) -> Confusion:
        """Confusion matrices of predicting absence (0) and presence (1), or one row for both."""
        return confusion(tally(self.Y, self.covered, self.board), _BOTH, self.counting)

    @cached_property
    def right(self) -> Mask:
        """The cells in which predicting absence (0) or presence (1) is right; see `right_cells`."""
        return right_cells(cells(self.Y, self.covered, self.board), self.counting)

    def exact_value(self, head: npt.ArrayLike) -> Fraction | float:
        """The measure of a head, without bonus: a fraction, or a float if it is irrational."""
        given = (self.Y, self.covered, head, self.board, self.counting)
        try:
            return self.measure.of_rule(*given, exact=True)
        except ValueError:
            return self.measure.of_rule(*given)

    def size(self, head: Board) -> int:
        """The size of a head, for the bonus and the limit."""
        return int((head == 1).sum() if self.is_full else (head != UNSET).sum())

    def as_head(self, present: Mask) -> Board:
        """The head of a full prediction: its presences, and its absences if heads have them."""
        silent = 0 if self.absence else UNSET
        return np.where(present, np.int8(1), np.int8(silent)).astype(np.int8)


def right_cells(each: Tally, counting: Counting) -> Mask:
    """Where predicting absence (0) or presence (1) is right, values by rows by labels."""
    matrices = [confusion(each, value, counting) for value in (0, 1)]
    return np.array([(matrix.tp > 0) | (matrix.tn > 0) for matrix in matrices])


def known_formula(measure: Measure) -> str | None:
    """The name of a formula whose form the searches know: the chapter's, if not replaced."""
    return None if traits(measure) is None else measure.formula.name


def preference(head: Board) -> tuple[Any, ...]:
    """The tie rule of heads: the greatest key wins; size, presences, labels that come first."""
    order: Integers = np.array([1, 2, 0])[head]  # absent 1, present 2, silent (-1) 0
    return (int((head != UNSET).sum()), int((head == 1).sum()), order.tolist())


def by_gain(gains: Any, presence: Any = None) -> list[int]:
    """Labels by falling gain; of equal ones as `preference` has it: presences, then in order."""
    last = np.zeros(len(gains), np.bool_) if presence is None else ~np.asarray(presence)
    return sorted(range(len(gains)), key=lambda label: (-gains[label], last[label], label))
