"""Rows in folds by iterative stratification: units, what they have, and the kernels' part."""

from math import gcd, isqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._interrupts import heard_interrupts
from labelrules._types import UNSET, Board, Integers
from labelrules.kernels.stratification import (
    add_up_rows,
    assign,
    exchange,
    list_items,
    list_pairs,
)

WORK = 16_000_000
"""About how many items are read while folds are exchanged; a unit by itself is like four."""

FEWEST_ROUNDS = 4
"""Rounds of exchanges however many items there are."""


class _Units(NamedTuple):
    """Rows, or groups of rows, in order, and the items that each has.

    Unit `u` has `items[i]` `counts[i]` times, for i from `start[u]` to `start[u + 1]`.
    """

    start: Integers
    items: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    sizes: Integers
    n_items: int


@heard_interrupts()
def assigned_folds(
    board: Board,
    order: Integers,
    sizes: Integers,
    groups: Integers | None = None,
    second_order: bool = True,
    is_improved: bool = True,
) -> Integers:
    """For each row its fold, so that folds have labels, and pairs of them, in equal shares.

    Parameters
    ----------
    board : array of int8
        Rows by labels: 0, 1 or unknown.
    order : array of int
        The order in which rows are taken, which decides ties.
    sizes : array of int
        How many rows each fold gets; groups come as near to it as they can.
    groups : array of int, optional
        Rows with the same number get the same fold.
    second_order : bool, default=True
        Whether pairs of labels count, too.
    is_improved : bool, default=True
        Whether folds are exchanged afterwards while that brings shares closer.

    Examples
    --------
    >>> board = np.array([[1, 1], [1, 1], [1, 0], [1, 0], [0, 0], [0, 0]], np.int8)
    >>> assigned_folds(board, np.arange(6), np.array([3, 3])).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    units = _units_of_rows(board, order, second_order)
    unit_of = np.empty(len(order), dtype=np.int64)
    unit_of[order] = np.arange(len(order))
    shares = sizes // gcd(*sizes.tolist())
    if groups is not None:
        ranked = _ranked(groups[order])
        units, unit_of[order] = _united(units, ranked), ranked
    folds = np.full(len(units.sizes), -1, dtype=np.int64)
    room, whole = sizes * shares.sum(), int(shares.sum())
    excess = np.zeros((units.n_items, len(sizes)))
    lists = (units.start, units.items, units.counts)
    is_free = groups is not None
    assign(*lists, units.sizes, shares, room, is_free, folds, excess)
    if is_improved and len(units.items):
        n_rounds = max(WORK // (len(units.items) + 4 * len(folds)), FEWEST_ROUNDS)
        exchange(*lists, whole, is_free, n_rounds, folds, excess)
    return np.asarray(folds[unit_of])


def _units_of_rows(board: Board, order: Integers, second_order: bool) -> _Units:
    """Each row as a unit: its labels, those of which it is unknown, and pairs that it has."""
    present = np.count_nonzero(board == 1, axis=1)[order]
    unknown = board == UNSET
    has_unknown = unknown.any(axis=0)
    n_listed = present + np.count_nonzero(unknown, axis=1)[order]
    n_labels = board.shape[1]
    start, n_items = _starts(n_listed), n_labels + int(np.count_nonzero(has_unknown))
    items = np.empty(start[-1], dtype=np.int32)
    list_items(board, order, n_labels - 1 + np.cumsum(has_unknown), start, items)
    if second_order:
        paired_start = _starts(n_listed + present * (present - 1) // 2)
        paired = np.empty(paired_start[-1], dtype=np.int32)
        n_items = list_pairs(start, items, n_labels, n_items, paired_start, paired)
        start, items = paired_start, paired
    ones = np.ones(len(order), dtype=np.int64)
    return _Units(start, items, np.ones(len(items), dtype=np.int32), ones, n_items)


def _united(rows: _Units, ranked: Integers) -> _Units:
    """Groups of rows as units. How many rows they have is one more item, of more weight."""
    order, sizes = np.argsort(ranked, kind="stable"), np.bincount(ranked)
    start = np.empty(len(sizes) + 1, dtype=np.int64)
    items, counts = np.empty_like(rows.items), np.empty_like(rows.counts)
    given = (rows.start, rows.items, _starts(sizes), order, rows.n_items)
    n_listed = add_up_rows(*given, start, items, counts)
    weight = 1 + isqrt(len(rows.items) // len(order))  # its square is that of a row's other items
    ends = start[1:]
    return _Units(
        start + np.arange(len(start)),
        np.insert(items[:n_listed], ends, rows.n_items),
        np.insert(counts[:n_listed], ends, weight * sizes),
        sizes,
        rows.n_items + 1,
    )


def _ranked(groups: Integers) -> Integers:
    """Groups numbered by their size, the largest first, then by their first row."""
    _, first, numbers, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[numbers])


def _starts(lengths: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(lengths)])
