"""Rows that a GPU reads as they are: learned from without a checked copy in host memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board
from labelrules.data import Dataset, Schema
from labelrules.data.fingerprints import fingerprint_of
from labelrules.kernels.gpu.device import on_device
from labelrules.learners.base.progress import Listener, phase
from labelrules.learners.covering.counted_loop import is_counted
from labelrules.learners.covering.gpu_rows import GpuRows
from labelrules.learners.covering.partitioned import LearnedByCounts, learned_by_counts
from labelrules.learners.covering.settings import Settings
from labelrules.search.bodies.code_tables import marked_columns
from labelrules.search.bodies.gpu_bins import codes_on_gpu

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
    column_sums : array, optional
        Of each column, for the fingerprint; they are known once it was on the GPU.
    """

    X: Any
    Y: Board
    schema: Schema
    name: str = ""
    column_sums: npt.NDArray[np.uint64] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def fingerprint(self) -> str | None:
        """That of the data set of these rows."""
        if self.column_sums is None:
            return None
        return fingerprint_of(self.schema, self.column_sums, self.Y, None)

    @property
    def tells_of_each_row(self) -> bool:
        """Whether there is a label known in each row; others would be left out first."""
        return 0 < self.n_rows == len(self.Y) and bool((self.Y != UNSET).any(axis=1).all())


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


def learned_on_gpu(
    table: UncopiedTable, settings: Settings, listener: Listener
) -> LearnedByCounts | None:
    """Learn a list, the same as on the CPU; None if more than counts is needed."""
    assert settings.bins is not None, "only binned columns are counted"
    phase("cutting the columns into bins")
    bins, codes = codes_on_gpu(table.X, table.schema, settings.bins)
    if not is_counted(settings, bins):
        codes.close()
        return None
    table.column_sums = codes.column_sums
    phase("searching for the first rule")
    rows = GpuRows(bins, codes, table.Y, marked_columns(bins, settings.allowed))
    return learned_by_counts(rows, bins, settings, listener)
