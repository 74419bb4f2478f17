"""Votes of several models: samples of rows for them to differ by, and when a vote is won."""

from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np

from labelrules._types import Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.learners.pruning import row_keys

Threshold: TypeAlias = float | Literal["cardinality"]
"""How probable a label must be: a number, or such that as many are predicted as there are."""


def checked_threshold(threshold: Any) -> Threshold:
    """A number from 0 to 1, or "cardinality"."""
    if isinstance(threshold, str) and threshold == "cardinality":
        return "cardinality"
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (is_number and 0 <= float(threshold) <= 1):
        raise ValueError(
            f"threshold must be 'cardinality' or a number from 0 to 1, not {threshold!r}"
        )
    return float(threshold)


def bootstrap_sample(data: Dataset, chance: np.random.RandomState) -> Integers:
    """As many rows as there are, drawn with replacement.

    They are drawn from the rows in the order of what they hold, so that the sample does not depend
    on the order in which they are given.
    """
    labels = np.packbits(data.Y, axis=1)
    order = np.lexsort((*labels.T, row_keys(data.X)))
    return np.asarray(order[np.sort(chance.randint(0, data.n_rows, data.n_rows))])


def cardinality_threshold(presence: Floats, truth: Board) -> float:
    """The threshold above which there are as many labels as are present.

    In the middle between the least probable label that is taken and the next; one half if there
    is nothing to go by.

    Examples
    --------
    >>> import numpy as np
    >>> float(cardinality_threshold(np.array([[0.9, 0.4], [0.1, 0.2]]), np.array([[1, 0], [0, 1]])))
    0.30000000000000004
    """
    n_present, falling = int(truth.sum()), np.sort(presence.ravel())[::-1]
    if not 0 < n_present < falling.size:
        return 0.5
    return float((falling[n_present - 1] + falling[n_present]) / 2)
