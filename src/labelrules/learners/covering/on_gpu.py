"""Rows that a GPU reads as they are: learned from without a checked copy in host memory."""

from typing import Any, NamedTuple

import numpy as np

from labelrules._types import UNSET, Board
from labelrules.data import Dataset, Schema
from labelrules.kernels.gpu.device import on_device
from labelrules.learners.base.progress import Listener, phase
from labelrules.learners.covering.gpu_rows import GpuRows
from labelrules.learners.covering.partitioned import LearnedByCounts, learned_by_counts
from labelrules.learners.covering.settings import Settings
from labelrules.search.bodies.code_tables import marked_columns
from labelrules.search.bodies.gpu_bins import codes_on_gpu

EXACT = 1 << 53
"""Up to this whole numbers are the same as real numbers."""


class UncopiedTable(NamedTuple):
    """Rows of real numbers, in host memory or on the GPU, and their labels.

    The numbers are not checked yet: the GPU does that.
    """

    X: Any
    Y: Board
    schema: Schema
    name: str = ""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])


def uncopied_cells(X: Any) -> Any:
    """The cells of X if the GPU reads them as they are, None if they must be checked first.

    That are those of a `Dataset`, a NumPy array of real numbers, or an array on the GPU: of CuPy,
    or of what speaks the CUDA array interface or DLPack.
    """
    if isinstance(X, Dataset):
        return X.X if X.weights is None and X.schema.n_features else None
    matrix = X if type(X) is np.ndarray else on_device(X)
    if matrix is None or matrix.ndim != 2 or 0 in matrix.shape:
        return None
    if matrix.dtype.kind not in "iuf" or matrix.dtype.itemsize > 8 or not matrix.dtype.isnative:
        return None
    if matrix.dtype.kind in "iu" and matrix.dtype.itemsize == 8:
        is_exact = int(matrix.min()) >= -EXACT and int(matrix.max()) <= EXACT
        return matrix if is_exact else None
    return matrix


def tells_of_each_row(table: UncopiedTable | Dataset) -> bool:
    """Whether there is a label known in each row; others would be left out first."""
    n_rows = int(table.X.shape[0])
    return 0 < n_rows == len(table.Y) and bool((table.Y != UNSET).any(axis=1).all())


def learned_on_gpu(
    table: UncopiedTable | Dataset, settings: Settings, listener: Listener
) -> LearnedByCounts:
    """Learn a list, the same as on the CPU."""
    assert settings.bins is not None, "only binned columns are counted"
    phase("cutting the columns into bins")
    bins, codes = codes_on_gpu(table.X, table.schema, settings.bins)
    phase("searching for the first rule")
    rows = GpuRows(bins, codes, table.Y, marked_columns(bins, settings.allowed))
    return learned_by_counts(rows, bins, settings, listener)
