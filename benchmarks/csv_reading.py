"""Reading CSV files: CPU time against pandas.

Both read the same files, in one process, interleaved; the time is the minimum of the repeats.
pandas stops at a frame, while `read_csv` goes on to codes of categories, checks every cell, and
makes a data set of features and labels.
"""

import csv
import gc
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from labelrules.data import read_csv

N_ROWS, N_SMALL = 200_000, 100_000
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


def small_tables() -> dict[str, dict[str, object]]:
    """Tables of one kind of column, without the labels."""
    rng = np.random.default_rng(2)

    def words(texts: Iterable[str]) -> object:
        return np.array([*texts], dtype=object)[rng.integers(0, 30, N_SMALL)]

    days = [np.datetime64("2020-01-01") + rng.integers(0, 1000, N_SMALL) for _ in range(3)]
    start = np.datetime64("2020-01-01T00:00:00")
    seconds = [start + rng.integers(0, 10**8, N_SMALL) for _ in range(2)]
    numbers = rng.integers(0, 10**6, (5, N_SMALL))
    return {
        "3 dates": {f"d{j}": day.astype(str) for j, day in enumerate(days)},
        "2 times": {f"t{j}": np.datetime_as_string(time) for j, time in enumerate(seconds)},
        "10 words with commas": {f"c{j}": words(f"c {i}, x" for i in range(30)) for j in range(10)},
        "10 words with quotes": {
            f"c{j}": words(f'c "{i}" x' for i in range(30)) for j in range(10)
        },
        "5 notes, most different": {
            f"c{j}": [f"patient {i} came in" for i in row] for j, row in enumerate(numbers)
        },
    }


def cpu(function: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    function()
    return time.process_time() - start


def times(path: Path, dates: Sequence[str] = ()) -> tuple[float, float]:
    """Our best time and that of pandas."""
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours.append(cpu(lambda: read_csv(path, LABELS)))
        theirs.append(cpu(lambda: pd.read_csv(path, parse_dates=[*dates])))
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
        print("\n| 100,000 rows | MB | read_csv, s | pandas, s | ratio |\n|---|---|---|---|---|")
        rng = np.random.default_rng(3)
        labels = {label: rng.integers(0, 2, N_SMALL) for label in LABELS}
        for name, columns in small_tables().items():
            pd.DataFrame(columns | labels).to_csv(path, index=False)
            ours, theirs = times(path, [column for column in columns if column[0] in "dt"])
            size = path.stat().st_size / 1e6
            print(f"| {name} | {size:.0f} | {ours:.2f} | {theirs:.3f} | {ours / theirs:.1f} |")


if __name__ == "__main__":
    main()
