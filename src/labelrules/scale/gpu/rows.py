"""Rows that a GPU reads as they are: learned from without a checked copy in host memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelrules._types import UNSET, Board
from labelrules.data import Dataset, Schema, dataset
from labelrules.data.codes.bins import n_stored
from labelrules.data.fingerprints import Words, fingerprint_of
from labelrules.data.suspicious import warn_of_columns
from labelrules.data.table import checked_dataset
from labelrules.kernels.device import (
    Engine,
    checked_engine,
    is_on_gpu,
    on_gpu,
    uses_gpu,
    why_no_gpu,
)
from labelrules.learners.base.estimator import Target, labels_as_given
from labelrules.learners.base.progress import levels_to_caller, note_training_data, phase
from labelrules.learners.base.tables import given_names, note_names
from labelrules.learners.covering.counted_rows import CountedRows
from labelrules.learners.covering.settings import Settings, checked_settings
from labelrules.scale.gpu.codes import codes_on_gpu
from labelrules.search.bodies.code_tables import marked_columns

EXACT = 1 << 53
"""Up to this whole numbers are the same as real numbers."""


@dataclass(eq=False)
class UncopiedTable:
    """Rows in host memory or on the GPU, and their labels; the GPU checks the numbers.

    Parameters
    ----------
    X : array or sparse matrix
    Y : array of int8
    schema : Schema
    name : str
    sums : pair of arrays, optional
        Of each feature and label, for the fingerprint; they are known once it was on the GPU.
    """

    X: Any
    Y: Board
    schema: Schema
    name: str = ""
    sums: tuple[Words, Words] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the data set of these rows."""
        return self.sums and fingerprint_of(self.schema, self.n_rows, self.sums)

    @property
    def tells_of_each_row(self) -> bool:
        """Whether there is a label known in each row; others would be left out first."""
        if not 0 < self.n_rows == len(self.Y):
            return False
        return bool(self.Y.min() > UNSET or (self.Y != UNSET).any(axis=1).all())


class FrameOnGpu:
    """The columns of a frame of cuDF, as those of a matrix."""

    ndim, itemsize = 2, 8

    def __init__(self, frame: Any) -> None:
        self._frame, self.names = frame, list(frame.columns)
        self.shape: tuple[int, int] = frame.shape
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows_and_column: tuple[slice, int]) -> Any:
        return on_gpu(self._frame[self.names[rows_and_column[1]]])


def uncopied_cells(X: Any, engine: Engine) -> Any:
    """The cells of X if a GPU shall read them as they are, else None.

    It can read those of a `Dataset`, a NumPy array of real numbers, or an array or frame that is
    there: of CuPy, cuDF, or of what speaks the CUDA array interface or DLPack.
    """
    cells = _readable_cells(X)
    # whoever takes the CPU logs it; large integers come last, since looking at them takes long
    if cells is None or not uses_gpu(engine, n_stored(cells), logs=False):
        return None
    return cells if isinstance(X, Dataset) or _are_exact(cells) else None


def _readable_cells(X: Any) -> Any:
    if isinstance(X, Dataset):
        return X.X if X.weights is None and X.schema.n_features else None
    if type(X) in (np.ndarray, np.memmap):
        return X if _are_numbers(X) else None
    if not is_on_gpu(X) or why_no_gpu() is not None:
        return None
    if not hasattr(X, "columns"):
        matrix = on_gpu(X)
        return matrix if _are_numbers(matrix) else None
    is_plain = [
        isinstance(name, str) and X[name].null_count == 0 and _is_real(X[name].dtype)
        for name in X.columns
    ]
    return FrameOnGpu(X) if 0 not in X.shape and all(is_plain) else None


def _are_numbers(matrix: Any) -> bool:
    return matrix.ndim == 2 and 0 not in matrix.shape and _is_real(matrix.dtype)


def _is_real(dtype: Any) -> bool:
    """Whether a type holds real numbers of at most 8 bytes; missing ones are NaN."""
    return dtype.kind in "iuf" and dtype.itemsize <= 8 and dtype.isnative


def _are_exact(cells: Any) -> bool:
    """Whether float64 holds the numbers."""
    if isinstance(cells, FrameOnGpu):
        return all(_are_exact(cells[:, at]) for at in range(cells.shape[1]))
    if cells.dtype.kind == "f" or cells.dtype.itemsize < 8:
        return True
    return int(cells.min()) >= -EXACT and int(cells.max()) <= EXACT


def table_as_it_is(
    learner: Any, X: Any, y: Any, feature_names: Any
) -> tuple[UncopiedTable, Target, Settings] | None:
    """A table that a learner need not copy first, and its settings; None if the CPU must learn."""
    cells = uncopied_cells(X, checked_engine(learner.engine))
    if cells is None or (isinstance(X, Dataset) and feature_names is not None):
        return None
    if isinstance(X, Dataset):
        target, data = labels_as_given(), learner._given_data(X, y)
        table = UncopiedTable(data.X, data.Y, data.schema, data.name)
    else:
        target, table = _uncopied_table(learner, cells, y, given_names(feature_names))
    settings = checked_settings(learner, table.schema)
    if not settings.are_counted or not table.tells_of_each_row:
        return None
    if isinstance(X, np.ndarray):
        whole = checked_dataset(table.schema, X, table.Y)
        warn_of_columns(whole, stacklevel=levels_to_caller() + 1)
    return table, target, settings


def _uncopied_table(
    learner: Any, X: Any, y: Any, names: list[str] | None
) -> tuple[Target, UncopiedTable]:
    """Plain numbers with their labels; names and kinds are those of a row of them."""
    has_names = isinstance(X, FrameOnGpu)
    names = X.names if has_names else names
    note_names(learner, X.shape[1], names if has_names else None)
    target, labels = learner._target_labels(X, y, names or ())
    row, no_label = np.zeros((1, X.shape[1])), np.zeros((1, labels.board.shape[1]), np.int8)
    one = dataset(row, no_label, feature_names=names, label_names=labels.names)
    return target, UncopiedTable(X, labels.board, one.schema)


def rows_on_gpu(table: UncopiedTable, settings: Settings) -> CountedRows:
    """The rows on the GPU, ready to be counted."""
    assert settings.bins is not None, "only binned columns are counted"
    phase("cutting the columns into bins")
    bins, codes = codes_on_gpu(table.X, table.schema, settings.bins)
    rows = codes.counts(bins, table.Y, marked_columns(bins, settings.allowed))
    table.sums = codes.column_sums, rows.label_sums
    note_training_data(table)  # not before: if the CPU must learn, it notes its own copy
    try:
        return CountedRows(rows, bins, settings)
    except BaseException:
        rows.close()
        raise
