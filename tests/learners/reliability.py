"""How far predicted probabilities are from frequencies."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Bin(NamedTuple):
    """Cells whose predicted probability lies between two tenths."""

    n_cells: int
    predicted: float
    frequency: float


def bins(probabilities: Floats, truth: npt.NDArray[np.int8], n_bins: int = 10) -> list[Bin]:
    """Cells by predicted probability, with the mean of it and the share that have the label."""
    place = np.minimum((probabilities * n_bins).astype(int), n_bins - 1)
    return [
        Bin(int(chosen.sum()), float(probabilities[chosen].mean()), float(truth[chosen].mean()))
        for number in range(n_bins)
        for chosen in [place == number]
        if chosen.any()
    ]


def expected_error(found: list[Bin]) -> float:
    """The mean difference between probability and frequency, over all cells."""
    n_cells = sum(part.n_cells for part in found)
    return sum(part.n_cells * abs(part.predicted - part.frequency) for part in found) / n_cells
