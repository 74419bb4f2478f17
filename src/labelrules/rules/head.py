"""What a rule says about labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board


@dataclass(frozen=True, slots=True)
class Head:
    """Labels predicted present (1) or absent (0); silent about the rest.

    Parameters
    ----------
    literals : mapping of int to int
        From the number of a label to 0 or 1.
    n_labels : int
        The size of the label space.

    Examples
    --------
    >>> head = Head({0: 1, 2: 0}, n_labels=4)
    >>> head.vector()
    array([ 1, -1,  0, -1], dtype=int8)
    >>> head.is_complete, len(head)
    (False, 2)
    >>> head.completed().vector()
    array([1, 0, 0, 0], dtype=int8)
    """

    literals: tuple[tuple[int, int], ...]
    n_labels: int

    def __init__(self, literals: Mapping[int, int], n_labels: int) -> None:
        if not literals:
            raise ValueError("a head names at least one label")
        for label, value in literals.items():
            if label not in range(n_labels):
                raise ValueError(f"there is no label {label} among {n_labels} labels")
            if value not in (0, 1):
                raise ValueError(f"label {label} is present (1) or absent (0), not {value}")
        pairs = tuple(sorted((int(label), int(value)) for label, value in literals.items()))
        object.__setattr__(self, "literals", pairs)
        object.__setattr__(self, "n_labels", int(n_labels))

    @classmethod
    def from_vector(cls, vector: npt.ArrayLike) -> "Head":
        """The head with these predictions, `UNSET` for labels it is silent about."""
        values = np.asarray(vector).tolist()
        return cls({i: value for i, value in enumerate(values) if value != UNSET}, len(values))

    def vector(self) -> Board:
        """One cell per label: 0, 1 or `UNSET`."""
        cells = np.full(self.n_labels, UNSET)
        for label, value in self.literals:
            cells[label] = value
        return cells

    def completed(self) -> "Head":
        """The full prediction: labels not in the head are predicted absent."""
        absent = dict.fromkeys(range(self.n_labels), 0)
        return Head({**absent, **dict(self.literals)}, self.n_labels)

    @property
    def is_complete(self) -> bool:
        """Whether the head says something about every label."""
        return len(self.literals) == self.n_labels

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels in the head, in order."""
        return tuple(label for label, _ in self.literals)

    @property
    def values(self) -> tuple[int, ...]:
        """What is predicted for each of them."""
        return tuple(value for _, value in self.literals)

    def __len__(self) -> int:
        return len(self.literals)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.literals)
