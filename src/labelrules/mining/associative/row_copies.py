"""Weighted rows as copies: so that bits can be counted, rows are repeated."""

from math import ceil
from typing import NamedTuple

import numpy as np

from labelrules._types import Integers
from labelrules.data import Dataset
from labelrules.data.weights import row_units
from labelrules.mining.limits import minimum_count

MOST_COPIES = 16
"""Weighted rows are repeated so often at most, on average."""


class RowCopies(NamedTuple):
    """How often rows are repeated, and what a copy weighs; one copy each where all weights are 1.

    Weights are rounded to a power of two, between an eighth and a sixteenth of their mean.
    """

    times: Integers
    unit: float

    @classmethod
    def of(cls, data: Dataset) -> "RowCopies":
        """The copies of each row."""
        units, unit = row_units(data.weights, MOST_COPIES * data.n_rows)
        return cls(np.ones(data.n_rows, dtype=np.int64) if units is None else units, unit)

    @property
    def rows(self) -> Integers:
        """The number of the row of each copy."""
        return np.repeat(np.arange(len(self.times)), self.times)

    @property
    def first(self) -> Integers:
        """The first copy of each row."""
        return np.asarray(np.cumsum(self.times) - self.times)

    def repeated(self, data: Dataset) -> Dataset:
        """The data set with the copies, and without weights."""
        if data.weights is None:
            return data
        plain = Dataset(data.schema, data.X, data.Y, data.name)
        return plain.take(self.rows)

    def least(self, min_support: float, n_copies: int) -> int:
        """The copies that make up a minimum support, of so many in all; at least 2 rows."""
        n_rows = max(1, round(n_copies * self.unit))
        return ceil(max(2, minimum_count(min_support, n_rows)) / self.unit)
