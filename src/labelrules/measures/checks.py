"""What is said at the door when arrays are not as they should be."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import UNSET, Board, Floats, Mask


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
