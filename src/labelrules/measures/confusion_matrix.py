"""Tallies and confusion matrices: the definition of right and wrong; kernels have it compiled.

Whole weights of rows are rows that are repeated, and rows of weight 0 are left out.
"""

import math
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import UNSET, Board, Floats, Integers, Mask

Counts: TypeAlias = npt.NDArray[np.signedinteger]
"""Counts of any width: one per cell, per row or per label."""

Counting: TypeAlias = Literal["chapter", "head-relative", "plain"]
COUNTINGS: tuple[str, ...] = get_args(Counting)
"""How the cells of a rule become true and false positives and negatives; see :func:`confusion`."""


class Confusion(NamedTuple):
    """The counts of a confusion matrix, or arrays of them."""

    tp: Counts
    fp: Counts
    tn: Counts
    fn: Counts

    def __repr__(self) -> str:
        return _counts_text("Confusion", self)

    def sum(self, axis: int | None = None) -> "Confusion":
        """The sum of the matrices, over everything or along one axis, in 64-bit integers."""
        return Confusion(*(np.asarray(part.sum(axis=axis, dtype=np.int64)) for part in self))


class Tally(NamedTuple):
    """How many ones and zeros of Y a body covers, and how many there are, in open cells only.

    Per label from :func:`tally`, per cell from :func:`cells`; see also :func:`confusion`.
    """

    covered_ones: Counts
    covered_zeros: Counts
    ones: Counts
    zeros: Counts

    def __repr__(self) -> str:
        return _counts_text("Tally", self)


def _counts_text(name: str, counts: Confusion | Tally) -> str:
    """The counts of one matrix, or the shape of many."""
    if np.size(counts[0]) != 1:
        return f"<{name}: counts of shape {np.shape(counts[0])}>"
    pairs = zip(counts._fields, counts, strict=True)
    return f"<{name}: {', '.join(f'{field} {np.asarray(count).item()}' for field, count in pairs)}>"


def cells(Y: Board, covered: Mask, board: Board | None = None) -> Tally:
    """The tally of every single cell, rows by labels.

    A cell that an earlier rule has written, or whose label is unknown, counts neither for nor
    against: all its counts are 0.
    """
    is_open = np.True_ if board is None else board == UNSET
    ones, zeros = (Y == 1) & is_open, (Y == 0) & is_open
    inside = covered[:, np.newaxis]
    return Tally(*(part.view(np.int8) for part in (ones & inside, zeros & inside, ones, zeros)))


def tally(Y: Board, covered: Mask, board: Board | None = None) -> Tally:
    """The tally of every label.

    Parameters
    ----------
    Y : ndarray of int8
        Rows by labels: 0, 1, or -1 where the label is unknown, which is not counted.
    covered : ndarray of bool
        The rows that the body covers.
    board : ndarray of int8, optional
        What earlier rules have written; only open (``UNSET``) cells are counted.

    Examples
    --------
    >>> Y, covered = np.array([[0, 1], [1, 1], [1, 0]], np.int8), np.array([True, True, False])
    >>> tally(Y, covered).covered_ones, tally(Y, covered).ones
    (array([1, 2]), array([2, 2]))
    >>> tally(Y, covered, board=np.array([[-1, -1], [-1, 1], [-1, -1]], np.int8)).covered_ones
    array([1, 1])
    """
    return Tally(*(part.sum(axis=0, dtype=np.int64) for part in cells(Y, covered, board)))


def confusion(
    counted: Tally, value: npt.ArrayLike = 1, counting: Counting = "chapter"
) -> Confusion:
    """The confusion matrix when covered cells are predicted to be `value`.

    Parameters
    ----------
    counted : Tally
        Of labels or of cells; arrays of any shape.
    value : array-like of 0 and 1
        The prediction, one for all or one for each element of the tally.
    counting : {"chapter", "head-relative", "plain"}
        ``"chapter"``: a covered cell is a true positive if the prediction is right, present or
        absent, and a false positive if it is wrong; an uncovered one is a false negative if present
        and a true negative if absent, whatever the head predicts. ``"head-relative"``: the same for
        covered cells; an uncovered one is a false negative if it agrees with the head. So rules for
        absence and for presence are counted alike. ``"plain"``: only presence is positive, and
        uncovered cells are predicted absent: the usual counting of finished predictions.

    Examples
    --------
    >>> Y = np.array([[0], [0], [1], [0]], dtype=np.int8)
    >>> counts = tally(Y, covered=np.array([True, True, True, False]))
    >>> confusion(counts, value=0)
    <Confusion: tp 2, fp 1, tn 1, fn 0>
    >>> confusion(counts, 0, "head-relative")
    <Confusion: tp 2, fp 1, tn 0, fn 1>
    >>> confusion(counts, 0, "plain")
    <Confusion: tp 0, fp 0, tn 3, fn 1>
    """
    inside_1, inside_0, ones, zeros = counted
    outside_1, outside_0 = ones - inside_1, zeros - inside_0
    present = np.asarray(value) == 1
    if counting == "plain":
        tp, fp = inside_1 * present, inside_0 * present
        return Confusion(tp, fp, zeros - fp, ones - tp)
    right, wrong = _swapped_unless(present, inside_1, inside_0)
    if counting == "chapter":
        return Confusion(right, wrong, outside_0, outside_1)
    missed, rejected = _swapped_unless(present, outside_1, outside_0)
    return Confusion(right, wrong, rejected, missed)


def _swapped_unless(keep: Mask, first: Counts, second: Counts) -> tuple[Counts, Counts]:
    return np.where(keep, first, second), np.where(keep, second, first)


def checked_labels(Y: Any, name: str = "Y") -> Board:
    """A table of 0, 1 and ``UNSET`` (unknown) with at least one row and one label."""
    return _table(Y, name, allowed=(0, 1, int(UNSET)), unset="unknown")


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


def _table(given: Any, name: str, allowed: tuple[int, ...], unset: str = "open") -> Board:
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
    if unset == "unknown" and table.dtype.kind == "f":
        table = np.where(np.isnan(table), UNSET, table)
    return _cells(table, name, allowed, unset)


def _cells(
    given: npt.NDArray[Any], name: str, allowed: tuple[int, ...], unset: str = "open"
) -> Board:
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, not {given.dtype}")
    wrong = np.logical_and.reduce([given != value for value in allowed])
    if wrong.any():
        words = " and ".join(f"-1 ({unset})" if value == UNSET else str(value) for value in allowed)
        raise ValueError(f"{name} may hold {words} only, not {given[wrong].flat[0]}")
    return given.astype(np.int8, copy=False)


ADVICE = "give a number from 0 for each row"


def counted_rows(sample_weight: Any, n_rows: int) -> tuple[Integers, Floats | None]:
    """The rows that count, as often as whole weights say, or once with weights that are not.

    Examples
    --------
    >>> counted_rows([2, 0, 1], 3)
    (array([0, 0, 2]), None)
    >>> counted_rows([0.5, 0, 1], 3)
    (array([0, 2]), array([0.5, 1. ]))
    """
    if sample_weight is None:
        return np.arange(n_rows), None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must be numbers: {ADVICE}") from None
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has the shape {weights.shape}, but there are {n_rows} rows: {ADVICE}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"a sample_weight is negative, infinite or NaN: {ADVICE}")
    if not weights.any():
        raise ValueError("all weights are zero, so no row counts")
    if (weights == np.floor(weights)).all():
        return np.repeat(np.arange(n_rows), weights.astype(np.int64)), None
    rows = np.flatnonzero(weights)
    return rows, weights[rows]


def weighted_sum(cells: npt.NDArray[Any], weights: Floats) -> float:
    """The sum of cells, rows by labels, by the weights of rows; rounded once."""
    return math.fsum((cells.sum(axis=1) * weights).tolist())


def weighted_matrices(outcomes: Confusion, axis: int | None, weights: Floats) -> Confusion:
    """The confusion matrix of all cells (None), or of each label (0), from weighted rows."""
    parts = []
    for part in outcomes:
        columns = [part] if axis is None else [part[:, [j]] for j in range(part.shape[1])]
        parts.append(np.array([weighted_sum(one, weights) for one in columns]))
    return Confusion(*parts)
