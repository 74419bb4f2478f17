"""Which items rows have."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Floats, Integers, Matrix
from labelrules.data.table import column_of
from labelrules.discovery.items import Items


class RowItems(NamedTuple):
    """Row r has the items from ``start[r]`` to ``start[r + 1]``, rising."""

    start: Integers
    items: npt.NDArray[np.int32]

    def of(self, row: int) -> npt.NDArray[np.int32]:
        """The items of one row."""
        return self.items[self.start[row] : self.start[row + 1]]


def items_in_rows(items: Items, X: Matrix) -> RowItems:
    """The items, made of features, that hold for each encoded row."""
    rows: list[Integers] = []
    column, values = -1, np.empty(0)
    for parts in items.conditions:
        if parts[0].column != column:
            column = parts[0].column
            values = column_of(X, column)
        rows.append(np.flatnonzero(np.all([part.holds(values) for part in parts], axis=0)))
    n_held = [len(held) for held in rows]
    ones = np.ones(sum(n_held), dtype=np.int8)
    joined = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    numbers = np.repeat(np.arange(len(items)), n_held)
    table = sparse.csr_array((ones, (joined, numbers)), shape=(X.shape[0], len(items)))
    table.sort_indices()
    return RowItems(table.indptr.astype(np.int64), table.indices.astype(np.int32))


def most_telling(held: RowItems, telling: Floats, most: int) -> tuple[RowItems, bool]:
    """At most so many items per row, those that tell most; and whether some were left out."""
    start = [0]
    kept: list[npt.NDArray[np.int32]] = []
    for row in range(len(held.start) - 1):
        own = held.of(row)
        if len(own) > most:
            own = np.sort(own[np.argsort(-telling[own], kind="stable")[:most]])
        kept.append(own)
        start.append(start[-1] + len(own))
    chosen = np.concatenate(kept) if kept else held.items
    return RowItems(np.array(start, dtype=np.int64), chosen), start[-1] < len(held.items)
