"""Rows in partitions that are counted: codes, labels and board of each part, in memory or files."""

import errno
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import Board, Integers
from labelrules.data import DataError, Partitions
from labelrules.data.codes.bins import Bins, Codes
from labelrules.data.rows import MEGABYTE, known_rows
from labelrules.data.weights import NOTHING_KNOWN
from labelrules.learners.covering.local_rows import LocalRows, board_of, label_bytes
from labelrules.learners.covering.row_counts import (
    PartedRows,
    RowCounts,
)
from labelrules.rules import Theory

LOGGER = logging.getLogger("labelrules")

PART_BYTES = 1 << 25
"""Codes, labels and board of a part take about so many bytes."""

WRITTEN = "board", "states"
"""The arrays of `LocalRows` that rules change."""


class FiledRows(LocalRows):
    """Rows whose codes, labels and board are in a file, and in memory only while they are asked.

    Parameters
    ----------
    bins, codes, truth, marked
        As for `LocalRows`.
    path : Path
        A new file, which `close` removes.
    keeps_tables : bool
        Whether the sums of each label are kept in memory; else they are counted anew.
    board : array of int8, labels by rows, optional
        What is written beforehand.
    """

    def __init__(
        self,
        bins: Bins,
        codes: Codes,
        truth: Board,
        marked: Integers,
        path: Path,
        keeps_tables: bool,
        board: Board | None = None,
    ) -> None:
        super().__init__(bins, codes, truth, marked, board=board)
        self._path, self._keeps_tables = path, keeps_tables
        self._arrays: dict[str, tuple[int, Any, tuple[int, ...]]] = {}
        place = 0
        with path.open("wb") as file:
            for name in ("codes", "truth", *WRITTEN):
                array = getattr(self, name)
                # written as bytes, so that a full disk is an error and no crash later
                file.write(np.ascontiguousarray(array).tobytes())
                self._arrays[name] = place, array.dtype, array.shape
                place += array.nbytes
        self._forget()

    def _forget(self) -> None:
        """Let go of all that is as long as the rows, but for those that a body covers."""
        for name in ("every", "_has_none", "_is_decided"):
            self.__dict__.pop(name, None)
        for name in self._arrays:
            setattr(self, name, np.empty((0, 0), np.int8))

    @contextmanager
    def _in_memory(self) -> Iterator[None]:
        """Map the file; afterwards its pages count no longer as memory of this process."""
        for name, (place, dtype, shape) in self._arrays.items():
            mode: Any = "r+" if name in WRITTEN else "r"
            is_empty = 0 in shape  # without features there are no codes
            array = np.empty(shape, dtype) if is_empty else np.memmap(
                self._path, dtype, mode, place, shape
            )  # fmt: skip
            setattr(self, name, array)
        try:
            yield
        finally:
            self._forget()

    def _root(self, label: int) -> Integers:
        return super()._root(label) if self._keeps_tables else self._count_root(label)

    def ask(self, question: str, *given: Any) -> Any:
        """The answer to a question of `RowCounts`."""
        with self._in_memory():
            return super().ask(question, *given)

    def close(self) -> None:
        """Remove the file."""
        super().close()
        self._path.unlink(missing_ok=True)


@contextmanager
def naming_full_disks(folder: str) -> Iterator[None]:
    """Raise the error of a full disk as one that says what to do."""
    try:
        yield
    except OSError as wrong:
        if wrong.errno != errno.ENOSPC:
            raise
        raise DataError(
            f"the disk of {folder} is full, and temporary files of the rows do not fit: let TMPDIR "
            "name a folder with more room, or raise memory_limit"
        ) from wrong


def row_counts(
    data: Partitions,
    bins: Bins,
    marked: Integers,
    n_threads: int = 1,
    theory: Theory | None = None,
) -> PartedRows:
    """Codes and labels of all rows of which a label is known, ready to be counted.

    They are in memory if they fit into half of the memory limit, else in files. The labels that a
    theory finds are written as present.
    """
    n_labels, n_bytes = bins.schema.n_labels, np.dtype(bins.dtype).itemsize
    row_bytes = len(bins.columns) * n_bytes + label_bytes(n_labels)
    total, limit = data.n_rows * row_bytes, data.memory_limit * MEGABYTE
    in_files = 2 * total > limit
    n_parts = -(-total // PART_BYTES)
    keeps_tables = 4 * n_parts * 8 * n_labels * int(bins.start[-1]) <= limit
    where = "temporary files" if in_files else "memory"
    LOGGER.info(
        "%s rows as codes and labels, %s MB, in %s (memory limit %s MB)",
        f"{data.n_rows:,}", f"{total / MEGABYTE:,.0f}", where, f"{data.memory_limit:,}",
    )  # fmt: skip
    folder = tempfile.TemporaryDirectory(prefix="labelrules-") if in_files else None
    parts: list[RowCounts] = []
    try:
        coded = _coded(data, bins, max(1, PART_BYTES // row_bytes), theory)
        for number, (codes, truth, *board) in enumerate(coded):
            found = board[0] if board else None
            if folder is None:
                parts.append(LocalRows(bins, codes, truth, marked, board=found))
                continue
            path = Path(folder.name, f"{number}.rows")
            with naming_full_disks(folder.name):
                parts.append(FiledRows(bins, codes, truth, marked, path, keeps_tables, found))
    except BaseException:
        if folder is not None:
            folder.cleanup()
        raise
    rows = PartedRows(parts, n_threads, folder)
    if not parts:
        rows.close()
        raise ValueError(NOTHING_KNOWN)
    return rows


def _coded(
    data: Partitions, bins: Bins, n_rows: int, theory: Theory | None
) -> Iterator[tuple[Any, ...]]:
    """The codes and labels of the rows, columns by rows, about so many rows at once.

    With a theory, also a board with the labels that it finds.
    """
    waiting: list[tuple[Any, ...]] = []
    for part in known_rows(data):
        found = () if theory is None else (board_of(theory, part),)
        waiting.append((bins.encode(part.X), part.Y.T, *found))
        if sum(one[1].shape[1] for one in waiting) >= n_rows:
            yield _side_by_side(waiting)
            waiting.clear()
    if waiting:
        yield _side_by_side(waiting)


def _side_by_side(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Arrays side by side, row by row."""
    return tuple(
        np.ascontiguousarray(np.concatenate(arrays, axis=1)) for arrays in zip(*parts, strict=True)
    )


def all_codes(data: Partitions, bins: Bins, n_rows: int, folder: Path) -> tuple[Codes, Board]:
    """The codes and labels of all rows with a known label, of which there are so many.

    In memory if the codes fit into half of the memory limit, else in a file, of which columns are
    mapped into memory as they are read.
    """
    shape = len(bins.columns), n_rows
    n_bytes = shape[0] * n_rows * np.dtype(bins.dtype).itemsize
    in_memory = 2 * n_bytes <= data.memory_limit * MEGABYTE or not shape[0]
    codes: Codes = (
        np.empty(shape, bins.dtype) if in_memory else _mapped(folder / "codes", bins.dtype, shape)
    )
    Y: Board = np.empty((n_rows, bins.schema.n_labels), np.int8)
    first = 0
    for part in known_rows(data):
        rows = slice(first, first + len(part))
        codes[:, rows], Y[rows] = bins.encode(part.X), part.Y
        first += len(part)
    return np.asarray(codes), Y


def _mapped(path: Path, dtype: npt.DTypeLike, shape: tuple[int, int]) -> Codes:
    """An array in a new file, with room on the disk: else writing to it may end the process."""
    with naming_full_disks(str(path.parent)), path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, shape[0] * shape[1] * np.dtype(dtype).itemsize)
    mode: Any = "r+" if path.stat().st_size else "w+"
    return np.memmap(path, dtype, mode, shape=shape)
