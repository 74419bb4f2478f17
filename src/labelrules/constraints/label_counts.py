"""Counts of labels over rows: in memory, in partitions, or where Dask has them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from labelrules._types import UNSET, Board, Integers
from labelrules.data import Dataset, Partitions, Schema, encode_labels
from labelrules.data.errors import DataError
from labelrules.data.memory.labels import (
    checked_names,
    default_names,
    read_labels,
    refuse_unknown,
)
from labelrules.data.partitions.collections import names_of_labels
from labelrules.data.partitions.tasks import in_partition, is_collection, tasks_of, total_of

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
        if isinstance(Y, Partitions):
            return Y.schema, partial(_total_of_parts, Y)
        schema, board = Y.schema, Y.Y
    elif is_collection(Y):
        names = checked_names(label_names, "label_names") or names_of_labels(Y)
        names = names or default_names("y", Y.shape[1], taken=())
        return Schema([], names), partial(_total_of_blocks, tasks_of(Y), Schema([], names))
    else:
        schema, board = named_labels(Y, label_names)
    return schema, lambda count: count(board)


def _total_of_parts(parts: Partitions, count: Callable[[Board], Any]) -> Any:
    return parts.total(partial(_count_labels, count), "counting labels")


def _count_labels(count: Callable[[Board], Any], part: Dataset) -> Any:
    return count(part.Y)


def _total_of_blocks(blocks: list[Any], schema: Schema, count: Callable[[Board], Any]) -> Any:
    import dask

    ask, shared = dask.delayed(_count_block, pure=False), dask.delayed(count, traverse=False)
    tasks = [ask(number, block, schema, shared) for number, block in enumerate(blocks)]
    return total_of(tasks, "counting labels")


def _count_block(number: int, block: Any, schema: Schema, count: Callable[[Board], Any]) -> Any:
    """What is counted in the labels of a partition; run as a task."""
    with in_partition(number):
        return count(encode_labels(block, schema))


def named_labels(Y: Any, label_names: Sequence[str] | None) -> tuple[Schema, Board]:
    """Labels in any form, and a schema with the names given, their own names, or y0, y1, ...."""
    board, names = read_labels(Y, checked_names(label_names, "label_names"))
    return Schema([], names or default_names("y", board.shape[1], taken=())), board
