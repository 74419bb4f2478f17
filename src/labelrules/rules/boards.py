"""Boards, rows by labels: checked, empty, or with open cells closed."""

from typing import Any

import numpy as np

from labelrules._types import UNSET, Board, Matrix
from labelrules.data.schema import Schema


def closed(board: Board) -> Board:
    """The board with its open cells set to 0, absent."""
    return np.where(board == UNSET, np.int8(0), board)


def start_board(board: Board | None, X: Matrix, schema: Schema) -> Board:
    """An empty board for the rows of X, or a copy of the given one."""
    if board is None:
        return np.full((X.shape[0], schema.n_labels), UNSET)
    return checked_board(board, X, schema, "board").copy()


def checked_board(board: Any, X: Matrix | Board, schema: Schema, name: str) -> Board:
    """A board given by the user, as int8; its shape and values must fit."""
    cells = np.asarray(board)
    expected = (X.shape[0], schema.n_labels)
    if cells.shape != expected:
        raise ValueError(f"{name} has the shape {cells.shape}, expected {expected}")
    if not np.isin(cells, [0, 1, int(UNSET)]).all():
        raise ValueError(f"{name} has cells other than 0, 1 and UNSET (-1)")
    return cells.astype(np.int8)
