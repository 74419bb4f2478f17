"""How time and memory grow with rows, features and labels, on tables with planted rules.

10,000 rows, 20 features (half of them nominal) and 10 labels, of which 5 % of the cells are
flipped, unless said otherwise. The rows are the first of one table, and so are the labels; further
features say nothing about the labels.

Lists of equal length: the more rows there are, the more rules the default learner finds worth
having, so its lists are cut off after 5 rules, which even the smallest table has. And lists of 20
rules without pruning, with single heads and up to 4 conditions (the more features say nothing, the
longer bodies get without pruning), and as in the chapter.

CPU time of `fit`, the least of up to three repeats. The exponent is the slope of a line through the
logarithms: 1 means twice the time for twice the size. Memory is that of fresh processes, on top of
the data.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import sys
import time
from typing import Any

import numpy as np
from parts.peaks import MEGABYTE, both_peaks, encoded_bytes, in_fresh_process, measuring
from parts.tables import header, row

from labelrules import Dataset, Feature, Schema, load
from labelrules.learners import SeparateAndConquer
from labelrules.rules import planted

USUAL = {"rows": 10_000, "features": 20, "labels": 10}
SERIES = {
    "rows": (10_000, 20_000, 40_000, 80_000, 160_000),
    "features": (20, 40, 80, 160, 320),
    "labels": (10, 20, 40, 80, 160),
}
REPEATS = 3
LONG = 20.0
"""CPU seconds after which there are no further repeats."""

LEARNERS = {
    "default, 5 rules": SeparateAndConquer(max_rules=5),
    "unpruned, 20 rules": SeparateAndConquer(max_rules=20, max_conditions=4, pruning=None),
    "chapter, 20 rules": SeparateAndConquer(
        heads="multi", measure="precision", counting="chapter", polarity="both", fixed_head=False,
        min_coverage=1, stop_share=0.01, pruning=None, last_resort=None, max_rules=20,
    ),
}  # fmt: skip


def table(rows: int, features: int, labels: int) -> Dataset:
    """A part of one large table, so that the same rules are to be found whatever its size."""
    n_rows = max(rows, USUAL["rows"])
    n_labels = max(labels, USUAL["labels"])
    half = USUAL["features"] // 2
    data, _ = planted(n_rows, half, half, n_labels, n_rules=2 * n_labels, noise=0.05)
    more, _ = planted(n_rows, *[features // 2 - half] * 2, 1, n_rules=0, n_local=0, n_global=0,
                      random_state=1)  # fmt: skip
    added = [Feature(f"more {one.name}", one.categories) for one in more.schema.features]
    schema = Schema([*data.schema.features, *added], data.schema.labels[:labels])
    X = np.asfortranarray(np.hstack([data.X, more.X])[:rows])
    return Dataset(schema, X, data.Y[:rows, :labels])


def seconds(learner: SeparateAndConquer, data: Dataset) -> float:
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < LONG:
        start = time.process_time()
        learner.fit(data)
        times.append(time.process_time() - start)
    # A shorter list would not be the same work.
    assert len(learner.theory_) >= learner.max_rules
    return min(times)


def print_series(name: str, sizes: tuple[int, ...]) -> None:
    tables = [table(**{**USUAL, name: size}) for size in sizes]
    for kind, learner in LEARNERS.items():
        times = [seconds(learner, data) for data in tables]
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        cells = [f"{size:,}: {one:.2f} s" for size, one in zip(sizes, times, strict=True)]
        print(row(name, kind, *cells, f"{exponent:.2f}"), flush=True)


def report(size: dict[str, int], allocated: bool) -> None:
    """Learn in this process, after a small set, and print what it takes."""
    learner = SeparateAndConquer(max_rules=20)
    learner.fit(load("magazines"))
    data = table(**size)
    with measuring(allocated) as found:
        learner.fit(data)
    print(json.dumps({**found, "encoded": encoded_bytes(data)}))


def print_peaks(size: dict[str, int]) -> None:
    def measured(allocated: bool) -> dict[str, Any]:
        return in_fresh_process(__file__, "--report", json.dumps(size), int(allocated))

    found = both_peaks(measured)
    encoded = found["encoded"]
    peaks = [f"{found[kind] / MEGABYTE:.0f} ({found[kind] / encoded:.2f})"
             if kind in found else "-" for kind in ("allocated", "resident")]  # fmt: skip
    shape = " x ".join(f"{one:,}" for one in size.values())
    print(row(shape, f"{encoded / MEGABYTE:.1f}", *peaks), flush=True)


def main() -> None:
    for learner in LEARNERS.values():
        learner.fit(load("magazines"))  # compiles
    print(header("growing", "learner", *[""] * 5, "exponent"))
    for name, sizes in SERIES.items():
        print_series(name, sizes)
    print()
    print(header(
        "rows x features x labels", "encoded, MB", "allocated, MB (ratio)", "resident, MB (ratio)",
    ))  # fmt: skip
    for name, sizes in SERIES.items():
        print_peaks({**USUAL, name: sizes[-1]})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--report"]:
        report(json.loads(sys.argv[2]), bool(int(sys.argv[3])))
    else:
        main()
