"""The data sets that the benchmarks use."""

import os
from pathlib import Path
from typing import Literal

import numpy as np

from labelrules import Dataset, load

CAL500_TRAINING_ROWS = 335
"""CAL500 comes undivided; the first rows are for training, the others for testing."""


def folder() -> Path:
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("LABELRULES_DATA") or beside)


def have_data() -> bool:
    """Whether the folder is there; if not, say so."""
    if folder().is_dir():
        return True
    print(f"no data sets: set LABELRULES_DATA to their folder ({folder()} is not there)")
    return False


def part(name: str, which: Literal["train", "test"]) -> Dataset:
    """The rows for training or for testing."""
    if name != "CAL500":
        return load(name, folder(), part=which)
    data = load(name, folder())
    rows = np.arange(data.n_rows)
    is_training = rows < CAL500_TRAINING_ROWS
    return data.take(rows[is_training if which == "train" else ~is_training])
