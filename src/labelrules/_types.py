"""Array aliases and the value of an empty cell of the board."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = ["UNSET"]

UNSET = np.int8(-1)
"""A cell of the board that no rule has written yet: the chapter's question mark."""

Board: TypeAlias = npt.NDArray[np.int8]
"""Rows by labels, each cell 0, 1 or `UNSET`."""

Mask: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

Matrix: TypeAlias = Floats | sparse.csc_array
"""Encoded features, column by column: numbers, category codes, NaN for a missing value."""
