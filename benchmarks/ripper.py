"""RIPPER against Weka's JRip and against wittgenstein, on binary problems.

Each problem is one label of a data set: learned from the training part, scored on the test part.
All with their defaults, but for the seed; ours and JRip's with the seeds 1 to 5, and figures are
means over the seeds. CPU time of the fit alone, the data being in memory: for JRip that of the
building thread, when it has built every problem twice before in the same process.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from parts.environments import PeerError
from parts.peer_jrip import Built, built
from parts.peer_wittgenstein import fitted
from parts.sets import have_data, part
from parts.tables import header, row

import labelrules
from labelrules import Dataset, Ripper, Schema

SETS = ("emotions", "scene", "yeast", "medical", "enron")
SEEDS = (1, 2, 3, 4, 5)
N_YEAST, LEAST_POSITIVES, WARM_UP = 12, 30, 2
FEW = {"emotions": (0, 2), "yeast": (1,), "scene": (0,)}
"""Problems for wittgenstein, which takes its time."""


class Result(NamedTuple):
    """Means over the seeds for one problem."""

    f1: float
    accuracy: float
    n_rules: float
    n_conditions: float
    seconds: float


def problems(name: str, train: Dataset) -> list[int]:
    """The labels of a set: all, the first twelve, or those with enough training rows."""
    if name in ("emotions", "scene"):
        return list(range(train.schema.n_labels))
    if name == "yeast":
        return list(range(N_YEAST))
    return np.flatnonzero(train.Y.sum(axis=0) >= LEAST_POSITIVES).tolist()


def one_label(data: Dataset, label: int) -> Dataset:
    schema = Schema(data.schema.features, [data.schema.labels[label]])
    return Dataset(schema, data.X, data.Y[:, [label]].copy())


def ours(train: Dataset, test: Dataset, label: int, seed: int) -> Built:
    """One fit of ours."""
    data, rows = one_label(train, label), one_label(test, label)
    start = time.process_time()
    model = Ripper(random_state=seed).fit(data)
    seconds = time.process_time() - start
    bodies = [len(rule.body) for rule in model.theory_ if len(rule.body)]
    return Built(label, seed, seconds, len(bodies), sum(bodies), model.predict(rows)[:, 0])


def summed_up(found: Iterable[Built], truth: np.ndarray) -> Result:
    """The means of all builds of a problem."""
    figures = []
    for one in found:
        both = int((one.predicted & truth).sum())
        f1 = 2 * both / max(1, int(one.predicted.sum() + truth.sum()))
        figures.append([f1, (one.predicted == truth).mean(), *one[3:5], one.seconds])
    return Result(*np.mean(figures, axis=0).tolist())


def compared(name: str) -> tuple[str, dict[int, tuple[Result, Result]]]:
    """Weka's version; for each label what JRip and what ours make of it."""
    train, test = part(name, "train"), part(name, "test")
    labels = problems(name, train)
    version, *builds = built(train, test, labels, SEEDS, WARM_UP)
    results = {}
    for label in labels:
        theirs = [one for one in builds if one.label == label]
        mine = [ours(train, test, label, seed) for seed in SEEDS]
        truth = test.Y[:, label]
        results[label] = summed_up(theirs, truth), summed_up(mine, truth)
    return str(version), results


def print_pairs(name: str, pairs: list[tuple[Result, Result]], whole: bool = True) -> None:
    """Scores are means, sizes and times sums, JRip's before ours."""
    theirs, mine = (np.array(one) for one in zip(*pairs, strict=True))
    n = str(len(pairs)) if whole else ""
    shares = [f"{100 * a[:, k].mean():.1f}" for k in (0, 1) for a in (theirs, mine)]
    # A rule has one label in its head.
    columns = ([2], [2, 3], [3])
    sizes = [f"{a[:, k].sum():.0f}" for k in columns for a in (theirs, mine)]
    seconds = [a[:, 4].sum() for a in (theirs, mine)]
    cells = [*shares, *sizes, *(f"{s:.3f}" for s in seconds), f"{seconds[0] / seconds[1]:.1f}"]
    print(row(name, n, *cells), flush=True)


def heading(first: str, second: str) -> str:
    both = ("F1 %", "accuracy %", "rules", "literals", "conditions", "CPU s")
    columns = [f"{who}{what}" for what in both for who in ("", "our ")]
    return header(first, second, *columns, "ratio")


def against_jrip() -> None:
    print(heading("problem", ""))
    by_set = {}
    for name in SETS:
        version, results = compared(name)
        for label, pair in results.items():
            print_pairs(f"{name} {label}", [pair], whole=False)
        by_set[name] = list(results.values())
    print(f"\nJRip of Weka {version}, labelrules {labelrules.__version__}\n")
    print(heading("set", "problems"))
    for name, pairs in by_set.items():
        print_pairs(name, pairs)
    print_pairs("all", [pair for pairs in by_set.values() for pair in pairs])


def against_wittgenstein() -> None:
    print(
        header("problem", "F1 %", "our F1 %", "rules", "our rules", "CPU s", "our CPU s", "ratio")
    )
    seconds = np.zeros(2)
    for name, labels in FEW.items():
        train, test = part(name, "train"), part(name, "test")
        for label in labels:
            version, found = fitted(train, test, label)
            truth = test.Y[:, label]
            theirs = summed_up([found], truth)
            mine = summed_up([ours(train, test, label, seed) for seed in SEEDS], truth)
            seconds += theirs.seconds, mine.seconds
            cells = [f"{100 * one.f1:.1f}" for one in (theirs, mine)]
            cells += [f"{one.n_rules:.0f}" for one in (theirs, mine)]
            cells += [f"{one.seconds:.3f}" for one in (theirs, mine)]
            ratio = theirs.seconds / mine.seconds
            print(row(f"{name} {label}", *cells, f"{ratio:.0f}"), flush=True)
    print(row("all", *[""] * 4, *(f"{s:.3f}" for s in seconds), f"{seconds[0] / seconds[1]:.0f}"))
    print(f"\nwittgenstein {version}")


def main() -> None:
    if not have_data():
        return
    Ripper().fit(one_label(part("emotions", "train"), 0))  # compiles
    for compare in (against_jrip, against_wittgenstein):
        try:
            compare()
        except PeerError as error:
            print(f"left out: {error}")
        print()


if __name__ == "__main__":
    main()
