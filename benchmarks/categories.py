"""What sets of categories (`region in {North, West}`) and `!=` are worth to the covering learner.

Five-fold cross-validation, three times, of `SeparateAndConquer`; only its operators differ:

- sets: on data with columns of at least three categories, and on tables with planted rules: four
  nominal columns, two numeric ones, five labels, each of which is present where two columns have
  one of some categories; a share of the cells is turned. One table has labels of pure chance.
- `!=`: on all sets with nominal columns.

Categories are those named in sets; conditions on one category are not counted there. CPU time is
the sum of the five fits, compiling not counted.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
import time
from collections.abc import Iterable

import numpy as np
from parts.sets import have_data
from parts.tables import header, row
from quality import qualities

from labelrules import Dataset, SeparateAndConquer, load
from labelrules.data import Feature, Schema

PLAIN = ("<=", ">", "=")
SET_DATA = ("clinic", "flags", "birds", "genbase")  # one column of genbase is an identifier
BINARY_DATA = ("clinic", "flags", "birds", "genbase", "medical", "enron")
N_FOLDS = 5
SEEDS = (0, 1, 2)


def planted_sets(
    n_rows: int, n_categories: int, noise: float, seed: int = 0, n_labels: int = 5
) -> Dataset:
    """Labels that are present where two of four nominal columns have one of some categories."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_categories, (n_rows, 4))
    numbers = rng.normal(size=(n_rows, 2)).round(2)
    Y = np.zeros((n_rows, n_labels), dtype=np.int8)
    for label in range(n_labels):
        present = np.ones(n_rows, dtype=np.bool_)
        for column in rng.choice(4, 2, replace=False):
            size = rng.integers(max(2, n_categories // 3), n_categories // 2 + 2)
            present &= np.isin(codes[:, column], rng.choice(n_categories, size, replace=False))
        Y[:, label] = present ^ (rng.random(n_rows) < noise)
    return Dataset(_schema(n_categories, n_labels), np.hstack([codes, numbers]), Y)


def pure_chance(n_rows: int, n_categories: int, seed: int = 0) -> Dataset:
    """Labels that nothing tells."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.integers(0, n_categories, (n_rows, 4)), rng.normal(size=(n_rows, 2))])
    Y = (rng.random((n_rows, 5)) < 0.3).astype(np.int8)
    return Dataset(_schema(n_categories, 5), X, Y)


def _schema(n_categories: int, n_labels: int) -> Schema:
    categories = tuple(f"c{i}" for i in range(n_categories))
    features = [Feature(f"a{i}", categories) for i in range(4)]
    features += [Feature(f"x{i}") for i in range(2)]
    return Schema(features, [f"y{i}" for i in range(n_labels)])


def generated() -> Iterable[tuple[str, Dataset]]:
    """The generated tables."""
    for n_categories in (10, 25, 50):
        for n_rows in (500, 2000):
            for noise in (0.0, 0.1):
                name = f"{n_categories} categories, {n_rows} rows, {noise:.0%} turned"
                yield name, planted_sets(n_rows, n_categories, noise)
    yield "25 categories, 1000 rows, chance", pure_chance(1000, 25)


def measured(data: Dataset, operators: tuple[str, ...]) -> list[float]:
    """Means over several divisions into folds; see `validated`."""
    found = [validated(data, operators, seed) for seed in SEEDS]
    return np.mean(found, axis=0).tolist()


def validated(data: Dataset, operators: tuple[str, ...], seed: int) -> list[float]:
    """Micro-F1, example-F1, subset accuracy; rules, literals, categories in sets, CPU seconds."""
    fold = np.random.default_rng(seed).permutation(data.n_rows) % N_FOLDS
    predicted = np.zeros(data.Y.shape, dtype=np.int8)
    rules = literals = categories = 0
    seconds = 0.0
    for k in range(N_FOLDS):
        start = time.process_time()
        model = SeparateAndConquer(operators=operators).fit(data.take(fold != k))
        seconds += time.process_time() - start
        predicted[fold == k] = model.predict(data.take(fold == k))
        rules += len(model.theory_)
        literals += model.theory_.n_literals
        categories += sum(
            len(condition.codes)
            for part in getattr(model.theory_, "parts", (model.theory_,))
            for rule in part.rules
            for condition in rule.body
        )
    known = np.maximum(data.Y, 0)
    micro, example, subset, _ = qualities(known, np.where(data.Y < 0, 0, predicted))
    sizes = (rules / N_FOLDS, literals / N_FOLDS, categories / N_FOLDS)
    return [micro, example, subset, *sizes, seconds]


def compare(named: Iterable[tuple[str, Dataset]], more: str) -> None:
    """A line for each data set without and with one more operator."""
    for name, data in named:
        for operators in (PLAIN, (*PLAIN, more)):
            validated(data.take(np.arange(min(60, data.n_rows))), operators, 0)  # compiles
            *quality, rules, literals, categories, seconds = measured(data, operators)
            sizes = (f"{one:.0f}" for one in (rules, literals, categories))
            mode = f"with {more}" if more in operators else "without"
            cells = (*(f"{one:.3f}" for one in quality), *sizes, f"{seconds:.2f}")
            print(row(name, mode, *cells), flush=True)


def main() -> None:
    """The tables of the README; "in" or "!=" makes one of them, names choose data."""
    wanted = sys.argv[1:]
    columns = ("micro-F1", "example-F1", "subset acc.", "rules", "literals", "categories", "CPU s")
    names = [one for one in wanted if one not in ("in", "!=")]
    available = have_data()
    if "in" in wanted or "!=" not in wanted:
        print(header("data", "sets", *columns))
        if available:
            compare(((name, load(name)) for name in names or SET_DATA), "in")
        if not names:
            compare(generated(), "in")
    if "!=" in wanted or "in" not in wanted:
        print(header("data", "!=", *columns))
        if available:
            compare(((name, load(name)) for name in names or BINARY_DATA), "!=")


if __name__ == "__main__":
    main()
