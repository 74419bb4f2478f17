"""Counts of labels over rows: in memory, in partitions, or where Dask has them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from labelrules._types import UNSET, Board, Integers
from labelrules._wings import blocks_of, reader_of
from labelrules.data import Dataset, Partitions, Schema, encode_labels
from labelrules.data.errors import DataError
from labelrules.data.memory.labels import (
    checked_names,
    default_names,
    read_labels,
    refuse_unknown,
)

LabelSet: TypeAlias = tuple[int, ...]

LabelTotal: TypeAlias = Callable[[Callable[[Board], Any]], Any]
"""The sum of what a function counts in the labels of each part of the rows."""


class LabelPairCounts(NamedTuple):
    """How many rows there are, in how many a label is unknown, and how many have two labels."""

    n_rows: int
    n_unknown: int
    both: Integers
    """Labels by labels; on the diagonal the rows of each."""

    @classmethod
    def of(cls, board: Board) -> "LabelPairCounts":
        """Count some rows."""
        n_unknown = int(np.count_nonzero((board == UNSET).any(axis=1)))
        ones = sparse.csr_array(board == 1).astype(np.int64)
        return cls(len(board), n_unknown, np.asarray((ones.T @ ones).toarray()))

    def plus(self, other: "LabelPairCounts") -> "LabelPairCounts":
        """The counts of both parts."""
        n_rows, n_unknown = self.n_rows + other.n_rows, self.n_unknown + other.n_unknown
        return LabelPairCounts(n_rows, n_unknown, self.both + other.both)

    @property
    def support(self) -> Integers:
        """The rows of each label."""
        return self.both.diagonal()

    def check(self) -> None:
        """Refuse rows that there are no constraints in."""
        if not self.n_rows or not len(self.both):
            raise DataError(
                f"Y has {self.n_rows} rows and {len(self.both)} labels: constraints need at least "
                "one of each"
            )
        refuse_unknown(self.n_unknown)


def body_counts(board: Board, bodies: Sequence[LabelSet]) -> Integers:
    """Bodies by labels: how many rows with all labels of a body have each label."""
    counts = np.empty((len(bodies), board.shape[1]), np.int64)
    columns = np.asfortranarray(board, dtype=np.bool_)
    for at, body in enumerate(bodies):
        covered = np.flatnonzero(np.logical_and.reduce([columns[:, j] for j in body]))
        counts[at] = board[covered].sum(axis=0, dtype=np.int64)
    return counts


def labels_of(Y: Any, label_names: Sequence[str] | None) -> tuple[Schema, LabelTotal]:
    """The labels, and what counts their rows: in memory, in partitions, or where Dask has them."""
    if isinstance(Y, Dataset | Partitions):
        if label_names is not None:
            raise ValueError(
                f"Y is a {type(Y).__name__}, which names its labels: leave label_names out"
            )
        return Y.schema, lambda count: Y.total(partial(_count_labels, count), "counting labels")
    reader = reader_of(Y)
    if reader is None:
        schema, board = named_labels(Y, label_names)
        return schema, lambda count: count(board)
    names = checked_names(label_names, "label_names") or reader.names_of_labels(Y)
    schema, blocks = Schema([], names or default_names("y", Y.shape[1], taken=())), blocks_of(Y=Y)
    return schema, lambda count: blocks.total(
        partial(_count_cells, count, schema), "counting labels"
    )


def _count_labels(count: Callable[[Board], Any], block: Dataset) -> Any:
    return count(block.Y)


def _count_cells(count: Callable[[Board], Any], schema: Schema, Y: Any) -> Any:
    return count(encode_labels(Y, schema))


def named_labels(Y: Any, label_names: Sequence[str] | None) -> tuple[Schema, Board]:
    """Labels in any form, and a schema with the names given, their own names, or y0, y1, ...."""
    board, names = read_labels(Y, checked_names(label_names, "label_names"))
    return Schema([], names or default_names("y", board.shape[1], taken=())), board
