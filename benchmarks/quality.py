"""How well the covering learner predicts with its defaults, on the chapter's data sets.

Trained on the training part, tested on the test part of the splits that come with the data;
CAL500 comes without and is divided into its first 335 and its last 167 rows. A row without true
and predicted labels has an example-based F1 of 1. CPU time of one fit, compiling not counted.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time

import numpy as np
from parts.sets import have_data, part
from parts.tables import header, row

from labelrules.learners import SeparateAndConquer

SETS = ("flags", "emotions", "birds", "genbase", "medical", "enron", "scene", "yeast")
AUTHORS_BEST = {"flags": 0.7139, "emotions": 0.5780, "birds": 0.4128, "genbase": 0.9897}
"""The best micro-F1 that the authors of the chapter published for their own program."""


def qualities(truth: np.ndarray, predicted: np.ndarray) -> list[float]:
    """Micro-F1, example-F1, subset accuracy, Hamming accuracy."""
    both = (truth & predicted).sum(axis=1)
    either = truth.sum(axis=1) + predicted.sum(axis=1)
    example_f1 = np.where(either == 0, 1.0, 2 * both / np.maximum(either, 1))
    right = truth == predicted
    return [
        2 * both.sum() / either.sum(), example_f1.mean(), right.all(axis=1).mean(), right.mean(),
    ]  # fmt: skip


def measured(name: str) -> tuple[list[float], list[float]]:
    """Qualities on the test part; rules, literals, conditions and CPU seconds."""
    train, test = part(name, "train"), part(name, "test")
    start = time.process_time()
    model = SeparateAndConquer().fit(train)
    seconds = time.process_time() - start
    found = qualities(test.Y, np.asarray(model.predict(test)))
    theory = model.theory_
    return found, [len(theory), theory.n_literals, theory.n_conditions, seconds]


def print_row(name: str, found: list[float], size: list[float], remark: str = "") -> None:
    *sizes, seconds = size
    cells = [*(f"{one:.3f}" for one in found), *(f"{one:.0f}" for one in sizes)]
    print(row(name, *cells, f"{seconds:.2f}", remark), flush=True)


def main() -> None:
    if not have_data():
        return
    SeparateAndConquer().fit(part("flags", "train"))  # compiles
    print(header(
        "set", "micro-F1", "example-F1", "subset acc.", "Hamming acc.", "rules", "literals",
        "conditions", "CPU s", "authors' best micro-F1",
    ))  # fmt: skip
    results = {}
    for name in (*SETS, "CAL500"):
        results[name] = measured(name)
        best = f"{AUTHORS_BEST[name]:.3f}" if name in AUTHORS_BEST else ""
        print_row(name, *results[name], best)
    found, sizes = zip(*(results[name] for name in SETS), strict=True)
    mean = np.mean(found, axis=0).tolist()
    print_row("mean, sum without CAL500", mean, np.sum(sizes, axis=0).tolist())


if __name__ == "__main__":
    main()
