"""From cells to right and wrong: tallies and confusion matrices."""

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import UNSET, Board, Floats, Mask

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


# -------------------- What is said at the door when arrays are not as they should be


def checked_labels(Y: Any, name: str = "Y") -> Board:
    """A table of 0 and 1 with at least one row and one label."""
    return _table(Y, name, allowed=(0, 1))


def checked_predictions(predicted: Any, shape: tuple[int, ...], name: str = "predicted") -> Board:
    """A table of 0, 1 and ``UNSET`` of the shape of Y."""
    board = _table(predicted, name, allowed=(0, 1, int(UNSET)))
    if board.shape != shape:
        raise ValueError(f"Y has the shape {shape} but {name} has the shape {board.shape}")
    return board


def checked_coverage(covered: Any, n_rows: int) -> Mask:
    """One truth value per row."""
    mask = np.asarray(covered)
    if mask.dtype != np.bool_:
        raise ValueError(f"covered must be a mask of booleans, one per row, not of {mask.dtype}")
    if mask.shape != (n_rows,):
        raise ValueError(f"Y has {n_rows} rows but covered has the shape {mask.shape}")
    return mask


def checked_head(head: Any, n_labels: int) -> Board:
    """One value per label: 0, 1, or ``UNSET`` for a label that the head does not concern."""
    vector = np.asarray(head)
    if vector.shape != (n_labels,):
        raise ValueError(f"Y has {n_labels} labels but the head has the shape {vector.shape}")
    return _cells(vector, "the head", allowed=(0, 1, int(UNSET)))


def checked_scores(scores: Any, shape: tuple[int, ...]) -> Floats:
    """A table of finite numbers of the shape of Y."""
    table = np.asarray(scores)
    if table.dtype.kind not in "biuf":
        raise ValueError(f"scores must be numbers, not {table.dtype}")
    if table.shape != shape:
        raise ValueError(f"Y has the shape {shape} but scores has the shape {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("scores has missing or infinite values")
    return table.astype(np.float64, copy=False)


def _table(given: Any, name: str, allowed: tuple[int, ...]) -> Board:
    if sparse.issparse(given):
        raise ValueError(f"{name} is a sparse matrix; give {name}.toarray()")
    try:
        table = np.asarray(given)
    except ValueError:  # rows of different length
        raise ValueError(f"{name} must be a table, rows by labels") from None
    if table.ndim != 2:
        raise ValueError(f"{name} must be a table, rows by labels, not of {table.ndim} dimensions")
    if 0 in table.shape:
        raise ValueError(f"{name} is empty: it has the shape {table.shape}")
    return _cells(table, name, allowed)


def _cells(given: npt.NDArray[Any], name: str, allowed: tuple[int, ...]) -> Board:
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, not {given.dtype}")
    wrong = np.logical_and.reduce([given != value for value in allowed])
    if wrong.any():
        words = " and ".join("-1 (open)" if value == UNSET else str(value) for value in allowed)
        raise ValueError(f"{name} may hold {words} only, not {given[wrong].flat[0]}")
    return given.astype(np.int8, copy=False)
