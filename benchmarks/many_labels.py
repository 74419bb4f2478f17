"""How learning grows with labels that have nothing to do with the features.

2,000 rows, 20 numeric features; each cell of a label is 1 with the same probability. CPU seconds of
`fit` by the default learner, least of two, and the exponent of growth: the slope of a line through
the logarithms. *Mixed* has a planted label for every three of noise. *List only* is without rules
for rows without a label (`last_resort=None`): of rare labels there are many such rules, and as the
rows that a rule covers leave, all labels are searched again after each.

    python benchmarks/many_labels.py            # 100 to 1,000 labels
    python benchmarks/many_labels.py 300 3000   # other numbers
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
import time
import warnings
from typing import Any

import numpy as np
from parts.tables import header, row

from labelrules.learners import SeparateAndConquer

SIZES = (100, 300, 1000)
N_ROWS, N_FEATURES, REPEATS = 2000, 20, 2


def table(n_labels: int, density: float, n_real: int = 0) -> tuple[Any, Any]:
    """Features and labels, of which the last `n_real` follow from one feature, with noise."""
    random = np.random.default_rng(0)
    X = random.random((N_ROWS, N_FEATURES))
    Y = random.random((N_ROWS, n_labels)) < density
    for label in range(n_labels - n_real, n_labels):
        cut, flipped = 1 - random.uniform(0.05, 0.3), random.random(N_ROWS) < 0.02
        Y[:, label] = (X[:, label % N_FEATURES] > cut) ^ flipped
    return X, Y.astype(int)


def seconds(X: Any, Y: Any, **settings: Any) -> float:
    """The CPU seconds of `fit`."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        SeparateAndConquer(**settings).fit(X, Y)
        times.append(time.process_time() - start)
    return min(times)


KINDS: dict[str, tuple[float, int, dict[str, Any]]] = {
    "noise, 10 %": (0.1, 0, {}),
    "noise, 30 %": (0.3, 0, {}),
    "mixed, 10 %": (0.1, 4, {}),
    "noise, 2 %, list only": (0.02, 0, {"last_resort": None}),
}


def main() -> None:
    warnings.simplefilter("ignore")
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    seconds(*table(40, 0.1, 4))  # compiles
    print(header("labels", *(f"{size:,}" for size in sizes), "exponent"))
    for name, (density, share, settings) in KINDS.items():
        times = [seconds(*table(n, density, share and n // share), **settings) for n in sizes]
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        print(row(name, *(f"{one:.2f}" for one in times), f"{exponent:.2f}"), flush=True)


if __name__ == "__main__":
    main()
