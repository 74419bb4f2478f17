"""What a head search is given, checked and counted once."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._checks import suggestion
from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.measures import Confusion, Measure, confusion, tally, traits
from labelrules.measures.confusion_matrix import (
    checked_coverage,
    checked_labels,
    checked_predictions,
)
from labelrules.search.heads.size_bonus import Lift, factors, no_lift

RuleConvention: TypeAlias = Literal["chapter", "head-relative", "plain"]


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Find the best head for the rows that a body covers.

    Parameters
    ----------
    Y : array of int8
        The truth, rows by labels.
    covered : array of bool
        The rows that the body covers.
    measure : Measure
    board : array of int8, optional
        What is written already; only open cells count.
    convention : {"chapter", "head-relative", "plain"}
        How cells are counted; plainly only for full predictions.
    absence : bool, default=True
        Whether a head may predict absence. With full predictions every label not in the head
        is absent anyway; `absence` then allows the head that predicts nothing as present.
    max_labels : int, optional
        The largest head: literals for partial, labels predicted present for full predictions.
    lift : function, optional
        A factor on the value by head size.
    """

    Y: Board
    covered: Mask
    measure: Measure
    board: Board | None = None
    convention: RuleConvention = "chapter"
    absence: bool = True
    max_labels: int | None = None
    lift: Lift = no_lift

    def __post_init__(self) -> None:
        Y = checked_labels(self.Y)
        object.__setattr__(self, "Y", Y)
        object.__setattr__(self, "covered", checked_coverage(self.covered, Y.shape[0]))
        if self.board is not None:
            board = checked_predictions(self.board, Y.shape, "board")
            object.__setattr__(self, "board", board)
        if self.convention == "plain" and not self.is_full:
            raise ValueError(
                "plain counting is for full predictions, which say of every label whether it is "
                "present: use 'chapter' or 'head-relative' for partial ones"
            )
        if self.convention != "plain":
            check_convention(self.convention)
        limit = self.max_labels
        if limit is not None and (not isinstance(limit, Integral) or limit < 1):
            raise ValueError(f"max_labels must be a whole number of at least 1, not {limit!r}")

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.Y.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows, covered or not."""
        return int(self.Y.shape[0])

    @property
    def is_full(self) -> bool:
        """Whether labels outside the head count as predicted absent."""
        return self.measure.predictions == "full"

    @property
    def smallest(self) -> int:
        """The smallest head size: a full prediction may name no label if absence is allowed."""
        return 0 if self.is_full and self.absence else 1

    @property
    def largest(self) -> int:
        """The largest head size."""
        return self.n_labels if self.max_labels is None else min(self.max_labels, self.n_labels)

    @property
    def is_unrestricted(self) -> bool:
        """Whether neither a lift nor a size limit restrains the head."""
        return self.lift is no_lift and self.largest == self.n_labels

    @cached_property
    def factors(self) -> list[float]:
        """The lift of every head size from 0."""
        # Sizes beyond the limit do not occur; the lift is not asked about them.
        return factors(self.lift, self.largest) + [1.0] * (self.n_labels - self.largest)

    @cached_property
    def is_open(self) -> Mask:
        """The cells that count."""
        if self.board is None:
            return np.ones(self.Y.shape, dtype=np.bool_)
        return np.asarray(self.board == UNSET)

    @cached_property
    def rows_are_whole(self) -> bool:
        """Whether each row counts with all its labels or with none."""
        if self.board is None:
            return True
        n_open = self.is_open.sum(axis=1)
        return bool(((n_open == 0) | (n_open == self.n_labels)).all())

    @cached_property
    def counts(self) -> Confusion:
        """The confusion matrices of saying absent (row 0) and present (row 1), label by label.

        A count that does not depend on what is said may have one row for both.
        """
        return confusion(tally(self.Y, self.covered, self.board), _BOTH, self.convention)

    def exact_value(self, head: npt.ArrayLike) -> Fraction | float:
        """The measure of a head, without lift: a fraction, or a float if it is irrational."""
        given = (self.Y, self.covered, head, self.board, self.convention)
        try:
            return self.measure.of_rule(*given, exact=True)
        except ValueError:
            return self.measure.of_rule(*given)

    def size(self, head: Board) -> int:
        """The size of a head as the lift and the limit count it."""
        return int((head == 1).sum() if self.is_full else (head != UNSET).sum())

    def as_head(self, present: Mask) -> Board:
        """The head of a full prediction: its presences, and its absences if they may be said."""
        silent = 0 if self.absence else UNSET
        return np.where(present, np.int8(1), np.int8(silent)).astype(np.int8)


_BOTH = np.array([[0], [1]])


def check_convention(convention: str) -> None:
    """Refuse to count a candidate rule in another way than the two there are."""
    if convention not in ("chapter", "head-relative"):
        raise ValueError(
            f"a candidate rule is counted 'chapter' or 'head-relative', not {convention!r}"
            f"{suggestion(str(convention), ('chapter', 'head-relative'))}"
        )


def known_formula(measure: Measure) -> str | None:
    """The name of a formula whose form the searches know: the chapter's, if not replaced."""
    return None if traits(measure) is None else measure.formula.name


def preference(head: Board) -> tuple[Any, ...]:
    """Of equally good heads the one with the greatest key wins.

    The largest head, then the one with most presences, then the one whose labels come first.
    """
    order: Integers = np.array([1, 2, 0])[head]  # absent 1, present 2, silent (-1) 0
    return (int((head != UNSET).sum()), int((head == 1).sum()), order.tolist())
