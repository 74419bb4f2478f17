"""Histograms of features: exact counts, and fast for sparse ones."""

from math import ceil, floor, isfinite, log10
from typing import NamedTuple

import numpy as np
from scipy import sparse

from labelrules._types import Floats, Integers, Matrix
from labelrules.data.schema import Feature
from labelrules.data.table import column_of

MAX_BARS = 24
"""Bars of a histogram of numbers; a feature with no more values has a bar for each of them."""


class Bar(NamedTuple):
    """The rows with values greater than `low` and at most `high`, or with one value."""

    low: float
    high: float  #: The same as `low` for a bar of one value or category.
    n_rows: int
    text: str  #: The value, category or range.


class Histogram(NamedTuple):
    """How often a feature has which values."""

    bars: tuple[Bar, ...]  #: By rising value; of categories all, in the order of the schema.
    n_missing: int
    is_by_value: bool  #: Whether each bar stands for one value or category.

    @property
    def most(self) -> int:
        """Rows of the highest bar."""
        return max((bar.n_rows for bar in self.bars), default=0)

    def position(self, value: float) -> float:
        """Where a threshold stands between the left end, 0, and the right end, 1."""
        if not self.bars or value < self.bars[0].low:
            return 0.0
        if self.is_by_value:  # between two bars
            return sum(bar.high <= value for bar in self.bars) / len(self.bars)
        low, high = self.bars[0].low, self.bars[-1].high
        return min((value - low) / (high - low), 1.0)


class ValueCounts(NamedTuple):
    """The different values of a feature, rising, and how many rows have each."""

    values: Floats
    counts: Integers
    n_missing: int

    def n_at_most(self, value: float) -> int:
        """Rows with at most this value."""
        return int(self.counts[: np.searchsorted(self.values, value, "right")].sum())

    def n_of(self, values: frozenset[int]) -> int:
        """Rows with one of these values."""
        return int(self.counts[np.isin(self.values, sorted(values))].sum())


def value_counts(X: Matrix, column: int) -> ValueCounts:
    """Count the values of a column; of a sparse one only the entries that are stored are read."""
    n_rest = 0
    if sparse.issparse(X):
        start, stop = X.indptr[column], X.indptr[column + 1]
        stored = X.data[start:stop]
        n_rest = X.shape[0] - stored.size
    else:
        stored = column_of(X, column)
    known = stored[~np.isnan(stored)]
    values, counts = np.unique(known + 0.0, return_counts=True)  # -0.0 is 0.0
    if n_rest:
        place = int(np.searchsorted(values, 0.0))
        values, counts = np.insert(values, place, 0.0), np.insert(counts, place, n_rest)
    return ValueCounts(values, counts.astype(np.int64), int(stored.size - known.size))


def histogram_of(counted: ValueCounts, feature: Feature) -> Histogram:
    """The histogram of a feature, of the bars that people read best."""
    if feature.categories is not None:
        n_each = dict(
            zip(counted.values.astype(int).tolist(), counted.counts.tolist(), strict=True)
        )
        bars = [Bar(c, c, n_each.get(c, 0), text) for c, text in enumerate(feature.categories)]
        return Histogram(tuple(bars), counted.n_missing, True)
    pairs = zip(counted.values.tolist(), counted.counts.tolist(), strict=True)
    if counted.values.size <= MAX_BARS:
        bars = [Bar(value, value, n, feature.text(value)) for value, n in pairs]
        return Histogram(tuple(bars), counted.n_missing, True)
    edges = _edges(float(counted.values[0]), float(counted.values[-1]), feature)
    ends = np.searchsorted(counted.values, edges, "right")
    sums = np.concatenate([[0], np.cumsum(counted.counts)])[ends]
    # Before the first time that there can be there is none that has a text.
    shown = [float(counted.values[0]), *edges[1:]] if feature.time is not None else edges
    texts = [feature.text(edge) for edge in shown]
    bars = [
        Bar(edges[i], edges[i + 1], int(sums[i + 1] - sums[i]), f"{texts[i]} to {texts[i + 1]}")
        for i in range(len(edges) - 1)
    ]
    return Histogram(tuple(bars), counted.n_missing, False)


def _edges(least: float, most: float, feature: Feature) -> list[float]:
    """Round numbers in equal steps: the first less than all values, the last not less than any."""
    if feature.time is not None:
        stride = max(1, ceil((most - least) / (MAX_BARS - 1)))
        start = int(least) - 1
        n_steps = ceil((most - start) / stride)
        # A last edge beyond the last date there can be would have no text.
        return [*(float(start + i * stride) for i in range(n_steps)), most]
    width = most / (MAX_BARS - 2) - least / (MAX_BARS - 2)
    power = floor(log10(width)) if width > 0 and isfinite(width) else 0
    digit = next((d for d in (1, 2, 5, 10) if d * 10.0**power >= width), 10)
    step = float(f"{digit}e{power}")
    if not isfinite(least / step) or abs(least / step) > 2**52 or abs(most / step) > 2**52:
        return [np.nextafter(least, -np.inf), most]  # steps too small for numbers so large
    first, last = ceil(least / step) - 1, ceil(most / step)
    edges = [float(f"{number * digit}e{power}") for number in range(first, last + 1)]
    # Rounding may leave an extreme value outside.
    edges = [edges[0] - step, *edges] if edges[0] >= least else edges
    return edges if edges[-1] >= most else [*edges, most]
