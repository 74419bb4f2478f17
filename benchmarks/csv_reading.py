"""Reading CSV files: CPU time against pandas.

Both read the same files, in one process, interleaved; the time is the minimum of the repeats.
pandas stops at a frame, while `read_csv` goes on to codes of categories, checks every cell, and
makes a data set of features and labels.
"""

import csv
import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from labelrules.data import read_csv

N_ROWS = 200_000
REPEATS = 5
LABELS = ["l0", "l1", "l2", "l3"]


def table(n_decimals: int | None) -> pd.DataFrame:
    """Forty columns: numbers, categories and labels, some cells missing."""
    rng = np.random.default_rng(1)
    columns: dict[str, object] = {}
    for j in range(20):
        numbers = rng.normal(size=N_ROWS)
        numbers = numbers if n_decimals is None else numbers.round(n_decimals)
        columns[f"n{j}"] = np.where((j % 3 == 0) & (rng.random(N_ROWS) < 0.05), np.nan, numbers)
    for j in range(6):
        columns[f"i{j}"] = rng.integers(0, 10_000, N_ROWS)
    for j in range(10):
        words = np.array([f"cat{code}" for code in range(3 + 5 * j)], dtype=object)
        chosen = words[rng.integers(0, len(words), N_ROWS)]
        columns[f"c{j}"] = np.where((j % 2 == 1) & (rng.random(N_ROWS) < 0.05), None, chosen)
    for label in LABELS:
        columns[label] = rng.integers(0, 2, N_ROWS)
    return pd.DataFrame(columns)


def cpu(function: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    function()
    return time.process_time() - start


def times(path: Path) -> tuple[float, float]:
    """Our best time and that of pandas."""
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours.append(cpu(lambda: read_csv(path, LABELS)))
        theirs.append(cpu(lambda: pd.read_csv(path)))
    return min(ours), min(theirs)


def main() -> None:
    cases = {
        "numbers of four decimals": (4, csv.QUOTE_MINIMAL),
        "numbers of all digits": (None, csv.QUOTE_MINIMAL),
        "four decimals, words in quotes": (4, csv.QUOTE_NONNUMERIC),
    }
    print("| 200,000 × 40 | MB | read_csv, s | pandas, s | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        for name, (n_decimals, quoting) in cases.items():
            table(n_decimals).to_csv(path, index=False, quoting=quoting)
            ours, theirs = times(path)
            size = path.stat().st_size / 1e6
            print(f"| {name} | {size:.0f} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.1f} |")


if __name__ == "__main__":
    main()
