"""From cells to right and wrong: tallies and confusion matrices."""

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Mask

Counts: TypeAlias = npt.NDArray[np.signedinteger]
"""Counts of any width: one per cell, per row or per label."""

Convention: TypeAlias = Literal["chapter", "head-relative", "plain"]
CONVENTIONS: tuple[str, ...] = get_args(Convention)
"""How the cells of a rule are counted; see :func:`confusion`."""


class Confusion(NamedTuple):
    """The counts of a confusion matrix, or arrays of them."""

    tp: Counts
    fp: Counts
    tn: Counts
    fn: Counts

    def sum(self, axis: int | None = None) -> "Confusion":
        """The matrices added up, over everything or along one axis, in 64-bit integers."""
        return Confusion(*(np.asarray(part.sum(axis=axis, dtype=np.int64)) for part in self))


class Tally(NamedTuple):
    """The ones and zeros of Y that a body covers, and all of them, in open cells only.

    Per label from :func:`tally`, per cell from :func:`cells`. It knows no right or wrong yet:
    that depends on the head.
    """

    covered_ones: Counts
    covered_zeros: Counts
    ones: Counts
    zeros: Counts


def cells(Y: Board, covered: Mask, board: Board | None = None) -> Tally:
    """The tally of every single cell, rows by labels.

    A cell that an earlier rule has written is evidence neither for nor against this one:
    all its counts are 0.
    """
    is_one = Y == 1
    ones, zeros = (is_one, ~is_one) if board is None else _open(is_one, board)
    inside = covered[:, np.newaxis]
    return Tally(*(part.view(np.int8) for part in (ones & inside, zeros & inside, ones, zeros)))


def tally(Y: Board, covered: Mask, board: Board | None = None) -> Tally:
    """The tally of every label.

    Parameters
    ----------
    Y : ndarray of int8
        Rows by labels, 0 or 1.
    covered : ndarray of bool
        The rows that the body covers.
    board : ndarray of int8, optional
        What is written already; only open (``UNSET``) cells are counted.

    Examples
    --------
    >>> Y = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.int8)
    >>> counts = tally(Y, covered=np.array([True, True, False]))
    >>> counts.covered_ones, counts.ones
    (array([1, 2]), array([2, 2]))
    >>> board = np.array([[-1, -1], [-1, 1], [-1, -1]], dtype=np.int8)
    >>> tally(Y, np.array([True, True, False]), board).covered_ones
    array([1, 1])
    """
    return Tally(*(part.sum(axis=0, dtype=np.int64) for part in cells(Y, covered, board)))


def confusion(
    counted: Tally, value: npt.ArrayLike = 1, convention: Convention = "chapter"
) -> Confusion:
    """What is right and wrong when covered cells are predicted to be `value`.

    Parameters
    ----------
    counted : Tally
        Of labels or of cells.
    value : array-like of 0 and 1
        The prediction, one for all or one for each.
    convention : {"chapter", "head-relative", "plain"}
        ``"chapter"``: a covered cell is a true positive when it is predicted rightly, present
        or absent, and a false positive when not; an uncovered one is a false negative when
        present and a true negative when absent, whatever the head says.
        ``"head-relative"``: the same for covered cells; an uncovered one is a false negative
        when it agrees with the head. So a rule for absence is counted as a rule for presence is.
        ``"plain"``: only presence is positive, and what is not covered is predicted absent:
        the usual counting of finished predictions.

    Examples
    --------
    >>> Y = np.array([[0], [0], [1], [0]], dtype=np.int8)
    >>> counts = tally(Y, covered=np.array([True, True, True, False]))
    >>> [int(count[0]) for count in confusion(counts, value=0)]
    [2, 1, 1, 0]
    >>> [int(count[0]) for count in confusion(counts, 0, "head-relative")]
    [2, 1, 0, 1]
    >>> [int(count[0]) for count in confusion(counts, 0, "plain")]
    [0, 0, 3, 1]
    """
    inside_1, inside_0, ones, zeros = counted
    outside_1, outside_0 = ones - inside_1, zeros - inside_0
    present = np.asarray(value) == 1
    if convention == "plain":
        tp, fp = inside_1 * present, inside_0 * present
        return Confusion(tp, fp, zeros - fp, ones - tp)
    right, wrong = _swapped_unless(present, inside_1, inside_0)
    if convention == "chapter":
        return Confusion(right, wrong, outside_0, outside_1)
    missed, rejected = _swapped_unless(present, outside_1, outside_0)
    return Confusion(right, wrong, rejected, missed)


def _open(is_one: Mask, board: Board) -> tuple[Mask, Mask]:
    is_open = board == UNSET
    return is_one & is_open, ~is_one & is_open


def _swapped_unless(keep: Mask, first: Counts, second: Counts) -> tuple[Counts, Counts]:
    return np.where(keep, first, second), np.where(keep, second, first)
