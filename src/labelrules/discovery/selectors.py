"""The conditions that groups of rows are described by, and the rows of each on packed bits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Mask
from labelrules.data import Dataset
from labelrules.data.schema import Feature
from labelrules.discovery.binning import thresholds
from labelrules.rules import Body, Condition

Bits: TypeAlias = npt.NDArray[np.uint64]
"""Rows packed into words, 64 to each; bits beyond the last row are 0."""

Numbers: TypeAlias = Literal["cuts", "bins"]
"""How numeric features are tested: above or up to a threshold, or between two neighbours."""

Selector: TypeAlias = tuple[Condition, ...]
"""What is added to a body at once: a condition, or the two ends of a bin."""


@dataclass(frozen=True, eq=False)
class Selectors:
    """What may be added to a body, in order, and the rows that satisfy it.

    Parameters
    ----------
    parts : tuple of Selector
    bits : array of uint64, selectors by words
    """

    parts: tuple[Selector, ...]
    bits: Bits

    def body(self, numbers: tuple[int, ...]) -> Body:
        """The body made of the selectors with these numbers."""
        return Body(condition for number in numbers for condition in self.parts[number])

    def __len__(self) -> int:
        return len(self.parts)


@dataclass(frozen=True)
class Vocabulary:
    """Which conditions bodies may have.

    Parameters
    ----------
    numbers : {"cuts", "bins"}
        How numeric features are tested.
    n_cuts : int
        Thresholds of a numeric feature at most; they divide its rows into equal parts.
    negated : bool
        Whether nominal features of three categories or more may be tested by "!=" too.
    labels : tuple of int
        The labels that may be tested.
    """

    numbers: Numbers
    n_cuts: int
    negated: bool
    labels: tuple[int, ...]

    def selectors(self, data: Dataset, least: int) -> Selectors:
        """Those that hold for at least so many rows and not for all; of equal ones the first."""
        parts, bits, seen = [], [], set()
        for part, covered in self._all(data):
            if not least <= np.count_nonzero(covered) < data.n_rows:
                continue
            packed = packed_rows(covered)
            if packed.tobytes() not in seen:
                seen.add(packed.tobytes())
                parts.append(part)
                bits.append(packed)
        n_words = len(packed_rows(np.zeros(data.n_rows, dtype=np.bool_)))
        return Selectors(tuple(parts), np.array(bits, dtype=np.uint64).reshape(-1, n_words))

    def _all(self, data: Dataset) -> Iterator[tuple[Selector, Mask]]:
        for column, feature in enumerate(data.schema.features):
            values = data.column(column)
            for part in self._of_feature(column, feature, values):
                yield part, _holds(part, values)
        for label in self.labels:
            for present in (True, False):
                part = (Condition.label(label, present),)
                yield part, _holds(part, data.Y[:, label])

    def _of_feature(self, column: int, feature: Feature, values: Floats) -> list[Selector]:
        if feature.categories is not None:
            return self._of_categories(column, len(feature.categories))
        no_classes = np.zeros(len(values), dtype=np.int64)
        found = thresholds(values, no_classes, "frequency", self.n_cuts + 1)
        if self.numbers == "bins":
            low = [None, *(Condition.above(column, cut) for cut in found)]
            high = [*(Condition.at_most(column, cut) for cut in found), None]
            pairs = zip(low, high, strict=True)
            return [tuple(c for c in pair if c is not None) for pair in pairs if any(pair)]
        ways = (Condition.at_most, Condition.above)
        return [(way(column, cut),) for cut in found for way in ways]

    def _of_categories(self, column: int, n_categories: int) -> list[Selector]:
        codes = range(n_categories)
        found: list[Selector] = [(Condition.equals(column, code),) for code in codes]
        if self.negated and n_categories > 2:
            found += [(Condition.differs(column, code),) for code in codes]
        return found


def packed_rows(rows: Mask) -> Bits:
    """A mask of rows as words.

    Examples
    --------
    >>> packed_rows(np.array([True, False, True]))
    array([5], dtype=uint64)
    """
    n_bytes = -(-len(rows) // 64) * 8
    packed = np.zeros(n_bytes, dtype=np.uint8)
    found = np.packbits(rows, bitorder="little")
    packed[: len(found)] = found
    return packed.view("<u8").astype(np.uint64)


def unpacked_rows(bits: Bits, n_rows: int) -> Mask:
    """The mask that was packed.

    Examples
    --------
    >>> unpacked_rows(np.array([5], dtype=np.uint64), 3)
    array([ True, False,  True])
    """
    octets = bits.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, count=n_rows, bitorder="little").astype(np.bool_)


def _holds(part: Selector, values: npt.NDArray[np.float64] | npt.NDArray[np.int8]) -> Mask:
    covered = part[0].holds(values)
    for condition in part[1:]:
        covered = covered & condition.holds(values)
    return covered
