"""Searching by bins against the exact search: processor time, growth with rows, and quality.

`python histogram.py speed [rows]` learns from a planted table of 50 numeric features and 20 labels
with exact thresholds and with 255 bins, on one thread. `growth [rows ...]` is the time of 255 bins
for more and more rows, and the exponent between the first and the last; the table is drawn column
by column, so 10,000,000 rows take about 7 GB. `quality [folds]` compares both on the nine data
sets, by the split that comes with them and, with folds, by cross-validation of all rows.
`steadiness [repeats]` compares them by the given split so many times, each time without another
hundredth of the training rows: how much chance is in one split.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import resource
import sys
import time

import numpy as np
from parts.sets import have_data, part
from parts.tables import header, row
from quality import SETS, qualities

from labelrules import Dataset, Feature, Schema, SeparateAndConquer, planted
from labelrules.data.table import checked_dataset, freeze

N_FEATURES, N_LABELS = 50, 20
RULES_OF_A_LABEL = 2
NOISE = 0.02
QUALITIES = ("micro-F1", "example-F1", "subset accuracy")


def planted_table(n_rows: int, seed: int = 1) -> Dataset:
    """Uniform features, and for each label two rules of two conditions, with noise.

    The last quarter of the labels need an earlier label and a condition on a feature. The rules are
    the same for any number of rows.
    """
    random = np.random.default_rng(seed)
    drawn = np.random.default_rng(seed + 1)
    X = np.empty((n_rows, N_FEATURES), order="F")
    for column in range(N_FEATURES):
        X[:, column] = random.random(n_rows, dtype=np.float32)
    Y = np.zeros((n_rows, N_LABELS), dtype=np.int8)
    for label in range(N_LABELS):
        for _ in range(RULES_OF_A_LABEL):
            columns = drawn.choice(N_FEATURES, 2, replace=False)
            thresholds, above = drawn.uniform(0.2, 0.4, 2), drawn.random(2) < 0.5
            tests = [
                X[:, column] > 1 - cut if second else X[:, column] <= cut
                for column, cut, second in zip(columns, thresholds, above, strict=True)
            ]
            if label >= 3 * N_LABELS // 4:
                tests[0] = Y[:, int(drawn.integers(N_LABELS // 2))] == 1
            Y[:, label] |= tests[0] & tests[1]
    for label in range(N_LABELS):
        Y[:, label] ^= random.random(n_rows, dtype=np.float32) < NOISE
    schema = Schema(
        [Feature(f"x{i}") for i in range(N_FEATURES)], [f"l{i}" for i in range(N_LABELS)]
    )
    return checked_dataset(schema, freeze(X), Y)


def fitted(data: Dataset, bins: int | None) -> tuple[SeparateAndConquer, float]:
    """A fitted learner and its processor time."""
    start = time.process_time()
    model = SeparateAndConquer(bins=bins).fit(data)
    return model, time.process_time() - start


def peak() -> float:
    """The greatest memory so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def compile_all() -> None:
    data = planted(300, 5, 0, 4, n_rules=4)[0]
    for bins in (None, 255):
        SeparateAndConquer(bins=bins).fit(data)


def speed(n_rows: int) -> None:
    data = planted_table(n_rows)
    print(header("thresholds", "rules", "conditions", "CPU s", "peak GB"))
    seconds = {}
    for bins in (255, None):
        model, seconds[bins] = fitted(data, bins)
        theory = model.theory_
        numbers = len(list(theory)), theory.n_conditions
        cells = [*map(str, numbers), f"{seconds[bins]:.2f}", f"{peak():.1f}"]
        print(row("exact" if bins is None else f"{bins} bins", *cells), flush=True)
    print(f"\nexact / 255 bins: {seconds[None] / seconds[255]:.1f}")


def growth(sizes: list[int]) -> None:
    print(header("rows", "rules", "CPU s", "microseconds per row", "exponent", "peak GB"))
    found: list[tuple[int, float]] = []
    for n_rows in sizes:
        data = planted_table(n_rows)
        model, seconds = fitted(data, 255)
        del data
        found.append((n_rows, seconds))
        exponent = "" if len(found) == 1 else f"{_exponent(found[-2], found[-1]):.2f}"
        cells = f"{seconds:.2f}", f"{1e6 * seconds / n_rows:.2f}", exponent, f"{peak():.1f}"
        print(row(f"{n_rows:,}", str(len(list(model.theory_))), *cells), flush=True)
    if len(found) > 1:
        print(f"\nexponent from first to last: {_exponent(found[0], found[-1]):.2f}")


def _exponent(first: tuple[int, float], last: tuple[int, float]) -> float:
    return float(np.log(last[1] / first[1]) / np.log(last[0] / first[0]))


def quality(n_folds: int) -> None:
    if not have_data():
        return
    print(header("set", *(f"{name}, {kind}" for name in QUALITIES for kind in ("exact", "bins"))))
    differences = []
    for name in (*SETS, "CAL500"):
        train, test = part(name, "train"), part(name, "test")
        pairs = [(train, test)] if n_folds < 2 else _folds(train, test, n_folds)
        found = np.mean([[_scores(*pair, bins) for bins in (None, 255)] for pair in pairs], axis=0)
        differences.append(found[1] - found[0])
        print(row(name, *(f"{one:.4f}" for one in found.T.ravel())), flush=True)
    means = np.mean(differences, axis=0)
    print("\nmean difference, bins less exact: ", end="")
    print(", ".join(f"{n} {mean:+.4f}" for n, mean in zip(QUALITIES, means, strict=True)))


def steadiness(n_repeats: int) -> None:
    """Differences of bins and exact search in subset accuracy, and how far each search varies."""
    if not have_data():
        return
    kinds = "mean", "standard deviation"
    print(header("set", *(f"{what}, {kind}" for what in ("exact", "difference") for kind in kinds)))
    differences = []
    for name in (*SETS, "CAL500"):
        train, test = part(name, "train"), part(name, "test")
        random = np.random.default_rng(0)
        kept = -(-99 * train.n_rows // 100)
        drawn = [np.sort(random.permutation(train.n_rows)[:kept]) for _ in range(n_repeats)]
        found = np.array(
            [[_scores(train.take(rows), test, bins) for bins in (None, 255)] for rows in drawn]
        )
        differences.append(found[:, 1] - found[:, 0])
        both = found[:, 0, 2], differences[-1][:, 2]
        cells = [f"{number:.4f}" for one in both for number in (one.mean(), one.std(ddof=1))]
        print(row(name, *cells), flush=True)
    means, errors = _means_and_errors(np.array(differences))
    print("\nmean difference, bins less exact: ", end="")
    print(
        ", ".join(
            f"{n} {m:+.4f} ± {e:.4f}" for n, m, e in zip(QUALITIES, means, errors, strict=True)
        )
    )


def _means_and_errors(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean over sets of the mean over repeats, and its standard error, for each quality."""
    n_sets, n_repeats, _ = differences.shape
    variances = differences.var(axis=1, ddof=1) / n_repeats
    return differences.mean(axis=(0, 1)), np.sqrt(variances.sum(axis=0)) / n_sets


def _folds(train: Dataset, test: Dataset, n_folds: int) -> list[tuple[Dataset, Dataset]]:
    """Training and test rows of each fold of all rows, drawn at random."""
    X = np.vstack([np.asarray(_dense(one)) for one in (train, test)])
    data = Dataset(train.schema, X, np.vstack([train.Y, test.Y]))
    order = np.random.default_rng(0).permutation(data.n_rows)
    parts = [np.sort(order[k::n_folds]) for k in range(n_folds)]
    return [(data.take(np.setdiff1d(order, rows)), data.take(rows)) for rows in parts]


def _dense(data: Dataset) -> np.ndarray:
    return data.X.toarray() if data.is_sparse else data.X


def _scores(train: Dataset, test: Dataset, bins: int | None) -> list[float]:
    model = SeparateAndConquer(bins=bins).fit(train)
    return qualities(test.Y, np.asarray(model.predict(test)))[:3]


def main() -> None:
    what, *numbers = sys.argv[1:] or ["speed"]
    sizes = [int(number.replace("_", "").replace(",", "")) for number in numbers]
    compile_all()
    if what == "speed":
        speed(*(sizes or [1_000_000]))
    elif what == "growth":
        growth(sizes or [100_000, 1_000_000, 10_000_000])
    elif what == "steadiness":
        steadiness(*(sizes or [20]))
    else:
        quality(*(sizes or [1]))


if __name__ == "__main__":
    main()
