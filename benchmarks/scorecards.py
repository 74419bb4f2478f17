"""How well scorecards of several sizes predict, with and without a teacher, on the chapter's sets.

The same sets, splits and figures as in `quality.py`; settings were chosen on training parts. CPU
time of one fit, compiling not counted, and that of the teacher apart: it is asked once for each
set, and what it says is remembered. At the end a table with many rows. ``python scorecards.py cv``
cross-validates the settings on the training parts instead.
"""

import os
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from other_sets import measured as cross_validated
from parts.sets import have_data, part
from parts.tables import header, row
from quality import SETS, qualities

from labelrules import Dataset, dataset
from labelrules.learners import Scorecard, SeparateAndConquer
from labelrules.learners.scorecard import learner
from labelrules.learners.scorecard.learner import taught_presence

LARGE: dict[str, Any] = {"literal_cost": 0.5, "ridge": 8.0}
LARGER: dict[str, Any] = {"literal_cost": 0.3, "ridge": 8.0}
CHOSEN = {
    "flags": LARGE | {"teacher": "forest"}, "emotions": LARGE, "birds": LARGER,
    "genbase": {"literal_cost": 1.0}, "medical": {}, "enron": {"literal_cost": 1.0},
    "scene": LARGER, "yeast": LARGER,
}  # fmt: skip
"""By five-fold cross-validation on the training part of each set."""

SETTINGS: dict[str, Callable[[str], dict[str, Any]]] = {
    "literal_cost=7": lambda _: {"literal_cost": 7.0},
    "literal_cost=2.7, ridge=2": lambda _: {"literal_cost": 2.7, "ridge": 2.0},
    "defaults": lambda _: {},
    "literal_cost=1": lambda _: {"literal_cost": 1.0},
    "literal_cost=0.5, ridge=8": lambda _: LARGE,
    "chosen for each set": lambda name: CHOSEN[name],
}
"""What is compared: settings by the name of the set."""

TAUGHT_COSTS = (1.4, 0.8, 0.2)
"""With a teacher, for cards of about the same sizes: what it says is smoother than labels."""

N_ROWS, N_FEATURES, N_BINARY, N_LABELS, N_CAUSES = 100_000, 100, 20, 20, 8
"""The large table: numbers, the last ones binary, and labels that some of them cause."""


class RememberedTeacher:
    """Asks a teacher once for each data set; what it takes is not part of learning."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, ...], Any] = {}
        self.seconds = 0.0

    def __call__(self, teacher: Any, data: Dataset, seed: int, n_jobs: int | None) -> Any:
        """What the teacher says of the rows."""
        key = data.X.shape
        if key not in self.found:
            start = time.process_time()
            self.found[key] = taught_presence(teacher, data, seed, n_jobs)
            self.seconds += time.process_time() - start
        return self.found[key]


def measured(name: str, model: Scorecard, teacher: RememberedTeacher) -> list[float]:
    """Three qualities on the test part; rules, literals, conditions and CPU seconds."""
    train, test = part(name, "train"), part(name, "test")
    start, taught = time.process_time(), teacher.seconds
    theory = model.fit(train).theory_
    seconds = time.process_time() - start - (teacher.seconds - taught)
    found = qualities(test.Y, np.asarray(model.predict(test)))[:3]
    return [*found, len(theory), theory.n_literals, theory.n_conditions, seconds]


def print_row(
    title: str, make: Callable[[str], dict[str, Any]], taught: Any, teacher: RememberedTeacher
) -> None:
    """Means over the sets; sizes and seconds of all of them."""
    models = [Scorecard(**{"teacher": taught} | make(name)) for name in SETS]
    found = np.array([measured(*pair, teacher) for pair in zip(SETS, models, strict=True)])
    means = [f"{mean:.3f}" for mean in found[:, :3].mean(axis=0)]
    *sizes, seconds = found[:, 3:].sum(axis=0)
    counts = [f"{size:,.0f}" for size in sizes]
    apart = f"{teacher.seconds:.0f}" if taught else ""
    print(row(title, taught or "none", *means, *counts, f"{seconds:.1f}", apart), flush=True)


def print_cross_validation() -> None:
    """What five folds of the training parts say of the settings, and of the default list."""
    print(header("settings", "micro-F1", "example-F1", "subset acc.", "literals of a fold"))
    makers: dict[str, Callable[[str], Any]] = {
        title: lambda name, make=make: Scorecard(**make(name)) for title, make in SETTINGS.items()
    }
    makers["separate-and-conquer"] = lambda _: SeparateAndConquer()
    for title, make in makers.items():
        found = np.array([
            cross_validated(part(name, "train"), lambda make=make, name=name: make(name))
            for name in SETS
        ])  # fmt: skip
        means = [f"{mean:.3f}" for mean in found[:, :3].mean(axis=0)]
        print(row(title, *means, f"{found[:, 3].sum():,.0f}"), flush=True)


def large_table() -> Dataset:
    """Rows whose labels are drawn by the sums of what their causes give."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, N_FEATURES))
    X[:, -N_BINARY:] = X[:, -N_BINARY:] > 1
    weights = np.zeros((N_FEATURES, N_LABELS))
    for label in range(N_LABELS):
        causes = random.choice(N_FEATURES, N_CAUSES, replace=False)
        weights[causes, label] = random.normal(size=N_CAUSES)
    margin = np.sign(X - 0.3) @ weights + random.logistic(size=(N_ROWS, N_LABELS))
    return dataset(X, (margin > 1.5).astype(np.int8))


def main() -> None:
    if not have_data():
        return
    for name in ("flags", "enron"):
        Scorecard().fit(part(name, "train"))  # compiles
    if sys.argv[1:] == ["cv"]:
        print_cross_validation()
        return
    teacher = RememberedTeacher()
    learner.taught_presence = teacher
    print(header(
        "settings", "teacher", "micro-F1", "example-F1", "subset acc.", "rules", "literals",
        "conditions", "CPU s", "teacher's CPU s",
    ))  # fmt: skip
    for title, make in SETTINGS.items():
        print_row(title, make, None, teacher)
    for cost in TAUGHT_COSTS:
        print_row(f"literal_cost={cost}", lambda _, c=cost: {"literal_cost": c}, "forest", teacher)
    data = large_table()
    start = time.process_time()
    theory = Scorecard().fit(data).theory_
    shape = f"{N_ROWS:,} x {N_FEATURES} x {N_LABELS}"
    seconds = time.process_time() - start
    print(f"\n{shape}: {theory.n_literals} literals, {seconds:.1f} s of CPU")


if __name__ == "__main__":
    main()
