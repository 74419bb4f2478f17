"""Many lists of numbers in one array."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers

Numbers = npt.NDArray[np.int32]


class Ragged(NamedTuple):
    """Lists of numbers: list i is ``values[start[i]:start[i + 1]]``.

    Examples
    --------
    >>> lists = Ragged(np.array([0, 2, 2, 3]), np.array([4, 5, 6], dtype=np.int32))
    >>> lists.lengths, lists.take(np.array([2, 0])).values
    (array([2, 0, 1]), array([6, 4, 5], dtype=int32))
    """

    start: Integers
    values: Numbers

    @classmethod
    def empty(cls) -> "Ragged":
        """No lists at all."""
        return cls(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))

    @classmethod
    def joined(cls, parts: Sequence["Ragged"]) -> "Ragged":
        """The lists of all parts, one after the other."""
        before = np.cumsum([0, *(part.values.size for part in parts)])
        starts = [part.start[1:] + n for part, n in zip(parts, before, strict=False)]
        return cls(
            np.concatenate([[0], *starts]).astype(np.int64),
            np.concatenate([np.empty(0, dtype=np.int32), *(part.values for part in parts)]),
        )

    @property
    def lengths(self) -> Integers:
        """How long each list is."""
        return np.diff(self.start)

    def __getitem__(self, number: int) -> list[int]:  # type: ignore[override]
        """One list."""
        return list(self.values[self.start[number] : self.start[number + 1]].tolist())

    def take(self, chosen: Any) -> "Ragged":
        """Some of the lists, by number, mask or slice."""
        numbers = np.arange(self.start.size - 1)[chosen]
        lengths = self.lengths[numbers]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.start[numbers] - start[:-1], lengths) + np.arange(start[-1])
        return Ragged(start, self.values[places])

    def padded(self) -> Numbers:
        """The lists as the rows of a matrix, filled up with -1."""
        lengths = self.lengths
        matrix = np.full((lengths.size, int(lengths.max(initial=0))), -1, dtype=np.int32)
        matrix[np.arange(matrix.shape[1]) < lengths[:, np.newaxis]] = self.values
        return matrix
