"""Folds for cross-validation, against the package iterative-stratification.

The same number of folds and the same seeds. For each label, and each pair of labels that occur
together, its proportion in a fold is compared with that in all rows; the figures are means of the
absolute differences over labels (pairs), folds and seeds, in percent points; *closer* says in how
many seeds ours are smaller, for labels and for pairs. The package is installed in an environment of
its own; both are timed in processes of their own, by CPU time, ours after compiling.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import time
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np
from parts.environments import PeerError, interpreter, run
from parts.sets import folder, have_data
from parts.tables import header, row

from labelrules import load
from labelrules.lab import IterativeStratifiedKFold

PEER = "iterative-stratification"
WORKER = Path(__file__).resolve().parent / "parts" / "stratification_worker.py"
SETS = ("yeast", "enron", "CAL500")
N_FOLDS, SEEDS = 10, tuple(range(10))
LARGE = (100_000, 100)
LABELS_PER_ROW = (3, 10)


def ours(Y: np.ndarray, n_folds: int, seeds: tuple[int, ...], order: int) -> tuple[list, list]:
    """For each seed the fold of each row, and the time."""
    found, seconds = [], []
    for seed in seeds:
        start = time.process_time()
        splitter = IterativeStratifiedKFold(n_folds, order=order, random_state=seed)
        parts = [test for _, test in splitter.split(Y, Y)]
        seconds.append(time.process_time() - start)
        folds = np.empty(len(Y), dtype=np.int64)
        for fold, test in enumerate(parts):
            folds[test] = fold
        found.append(folds)
    return found, seconds


def theirs(Y: np.ndarray, n_folds: int, seeds: tuple[int, ...]) -> tuple[list, list, str]:
    """The same by the package, and its version."""
    with TemporaryDirectory() as folder:
        labels, folds = Path(folder, "labels.npy"), Path(folder, "folds.npy")
        np.save(labels, Y)
        given = [str(labels), str(folds), str(n_folds), *map(str, seeds)]
        printed = run(str(interpreter(PEER)), str(WORKER), *given)
        told = json.loads(printed.splitlines()[-1])
        return list(np.load(folds)), told["seconds"], told["version"]


def deviations(Y: np.ndarray, folds: np.ndarray) -> tuple[float, float]:
    """Mean absolute deviations of proportions of labels and of pairs, in percent points."""
    counts = Y.astype(np.float64)
    pairs = np.triu_indices(Y.shape[1], 1)
    whole, together = counts.mean(axis=0), (counts.T @ counts / len(Y))[pairs]
    occurs = together > 0
    labels, both = [], []
    for fold in np.unique(folds):
        part = counts[folds == fold]
        labels.append(np.abs(part.mean(axis=0) - whole).mean())
        shares = (part.T @ part / len(part))[pairs]
        both.append(np.abs(shares - together)[occurs].mean())
    return 100 * mean(labels), 100 * mean(both)


def compare(name: str, Y: np.ndarray, seeds: tuple[int, ...]) -> None:
    """Print a row for each way to divide the rows."""
    try:
        found, seconds, version = theirs(Y, N_FOLDS, seeds)
    except PeerError as wrong:
        print(f"{PEER}: {wrong}")
        return
    peer = [deviations(Y, folds) for folds in found]
    print(row(name, f"{PEER} {version}", *figures(peer, found, seconds), ""), flush=True)
    for order, balanced in ((1, "labels"), (2, "labels and pairs")):
        found, seconds = ours(Y, N_FOLDS, seeds, order)
        own = [deviations(Y, folds) for folds in found]
        closer = [
            sum(a < b for a, b in zip(*both, strict=True))
            for both in zip(zip(*own, strict=True), zip(*peer, strict=True), strict=True)
        ]
        told = f"{closer[0]} and {closer[1]} of {len(seeds)}"
        print(row("", f"ours, {balanced}", *figures(own, found, seconds), told), flush=True)


def figures(found: list[tuple[float, float]], folds: list, seconds: list) -> list[str]:
    """Cells of a table: labels, pairs, the sizes of the folds, and time."""
    labels, pairs = zip(*found, strict=True)
    sizes = [np.bincount(one) for one in folds]
    low, high = min(map(np.min, sizes)), max(map(np.max, sizes))
    return [f"{mean(labels):.4f}", f"{mean(pairs):.4f}", f"{low} to {high}", f"{min(seconds):.2f}"]


def large(n_rows: int, n_labels: int, per_row: int) -> np.ndarray:
    """Labels with skewed frequencies, `per_row` of them in a row on average."""
    random = np.random.default_rng(0)
    weights = 1 / np.arange(1, n_labels + 1) ** 0.8
    chances = np.minimum(per_row * weights / weights.sum(), 0.9)
    return (random.random((n_rows, n_labels)) < chances).astype(np.int8)


def main() -> None:
    """Print two tables."""
    head = header("set", "by", "labels", "pairs", "rows in folds", "CPU s, best", "closer")
    small = np.random.default_rng(0).integers(0, 2, (50, 4), dtype=np.int8)
    for order in (1, 2):
        ours(small, 2, (0,), order)  # compiles
    print(f"{N_FOLDS} folds, {len(SEEDS)} seeds\n\n{head}")
    for name in SETS:
        compare(name, np.asarray(load(name, folder()).Y), SEEDS)
    n_rows, n_labels = LARGE
    print(f"\n{n_rows:,} rows, {n_labels} labels; {N_FOLDS} folds, 2 seeds\n\n{head}")
    for per_row in LABELS_PER_ROW:
        compare(f"{per_row} labels per row", large(n_rows, n_labels, per_row), (0, 1))


if __name__ == "__main__" and have_data():
    main()
