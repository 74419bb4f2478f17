"""Labels of 10^8 rows by a list of 100 rules: a GPU against the compiled CPU twin.

The rows are numbers; the rules have two to four conditions on half of the columns. The CPU predicts
a part of the rows on one core, and all rows by a thread for each core. The GPU predicts them from
host memory, where they lie by columns or by rows, and in its own memory; labels come back to host
memory in each case. Wall time, the least of the repeats; all cores once. All labels of the
GPU are compared with those of the CPU.

    python gpu_predict.py --rows 1000000 --columns 20 --rules 100 --labels 10 --repeats 3
"""

import argparse
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import cpu_count
from parts.tables import header, row

from labelrules import (
    Body,
    Condition,
    Dataset,
    DecisionList,
    Feature,
    Head,
    Rule,
    RuleTable,
    Schema,
)
from labelrules.kernels.device import why_no_gpu

WITHOUT_GPU = 1_000_000
"""The most rows where there is no GPU."""

STRETCH = 1 << 20
"""Rows that a thread generates, or predicts, at once."""

FEW = 2
"""Stretches that one core predicts."""


class Options(NamedTuple):
    """The size of all."""

    rows: int
    columns: int
    rules: int
    labels: int
    repeats: int


def options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    defaults = {"rows": 10**8, "columns": 20, "rules": 100, "labels": 10, "repeats": 3}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"(default {default})")
    return Options(**vars(parser.parse_args()))


def in_threads(work: Callable[[Any], Any], given: Iterable[Any]) -> list[Any]:
    with ThreadPoolExecutor(cpu_count()) as pool:
        return list(pool.map(work, given))


def stretches(n_rows: int) -> Iterator[slice]:
    return (slice(first, min(first + STRETCH, n_rows)) for first in range(0, n_rows, STRETCH))


def generated(given: Options) -> np.ndarray:
    """Numbers that float32 holds exactly, one column after the other; some are missing."""
    columns = np.empty((given.columns, given.rows))

    def generate(number: int) -> None:
        for first, rows in enumerate(stretches(given.rows)):
            random = np.random.default_rng([number, first])
            values = random.random(rows.stop - rows.start, dtype=np.float32)
            values[::97] = np.nan
            columns[number, rows] = values

    in_threads(generate, range(given.columns))
    columns.setflags(write=False)
    return columns.T


def random_list(given: Options) -> DecisionList:
    """Rules of two to four conditions on every second column; some also test a label."""
    random = np.random.default_rng(0)
    schema = Schema(
        [Feature(f"x{number}") for number in range(given.columns)],
        [f"label {number}" for number in range(given.labels)],
    )
    rules = []
    for _ in range(given.rules):
        tested, n_tests = range(0, given.columns, 2), random.integers(2, 5)
        chosen = random.choice(tested, size=min(n_tests, len(tested)), replace=False)
        tests = [
            Condition.above(int(column), float(random.random()) * 0.8)
            if random.integers(2)
            else Condition.at_most(int(column), 0.2 + 0.8 * float(random.random()))
            for column in chosen
        ]
        if random.integers(4) == 0:
            tests.append(Condition.label(int(random.integers(given.labels)), True))
        head = Head({int(random.integers(given.labels)): int(random.integers(2))}, given.labels)
        rules.append(Rule(head, Body(tests)))
    return DecisionList(schema, rules)


def data_sets(X: np.ndarray, schema: Schema) -> list[Dataset]:
    """Stretches of the rows, each by columns, as the CPU takes them without a copy."""

    def data_set(rows: slice) -> Dataset:
        labels = np.zeros((rows.stop - rows.start, schema.n_labels), np.int8)
        return Dataset(schema, np.asfortranarray(X[rows]), labels)

    return in_threads(data_set, stretches(len(X)))


def by_rows(X: np.ndarray) -> np.ndarray:
    """The same numbers as float32, one row after the other."""
    rows = np.empty(X.shape, np.float32)

    def copy(here: slice) -> None:
        rows[here] = X[here]

    in_threads(copy, stretches(len(X)))
    return rows


def timed(predict: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The least wall time, and the result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = predict()
        seconds.append(time.perf_counter() - start)
    return min(seconds), found


def shown(where: str, n_rows: int, seconds: float, against: float) -> str:
    speed = n_rows / seconds
    cells = f"{n_rows:,}", f"{seconds:.3f}", f"{speed / 1e6:,.1f}", f"{speed / against:,.1f}"
    return row(where, *cells)


def on_cpu(table: RuleTable, parts: list[Dataset], repeats: int) -> tuple[float, list[Any]]:
    """Print the CPU's times; its rows a second on one core, and the labels of all parts."""
    predict = partial(table.predict, engine="cpu")
    predict(parts[-1])  # compiles
    few = parts[:FEW]
    seconds, _ = timed(lambda: [predict(one) for one in few], repeats)
    n_rows = sum(map(len, few))
    one_core = n_rows / seconds
    print(shown("CPU, 1 core", n_rows, seconds, one_core), flush=True)
    seconds, labels = timed(lambda: in_threads(predict, parts), 1)
    n_rows = sum(map(len, parts))
    print(shown(f"CPU, {cpu_count()} cores", n_rows, seconds, one_core), flush=True)
    return one_core, labels


def are_equal(board: np.ndarray, labels: list[Any]) -> bool:
    """Whether a board has these labels, stretch by stretch."""
    pairs = list(zip(stretches(len(board)), labels, strict=True))
    return all(in_threads(lambda pair: (board[pair[0]] == pair[1]).all(), pairs))


def on_gpu(
    table: RuleTable, X: np.ndarray, labels: list[Any], one_core: float, repeats: int
) -> None:
    import cupy

    X32 = by_rows(X)
    sources = {
        "host memory, float64 by columns": lambda: X,
        "host memory, float32 by rows": lambda: X32,
        "its own memory, float64 by columns": lambda: cupy.asarray(X.T).T,
        "its own memory, float32 by rows": lambda: cupy.asarray(X32),
    }
    start = time.perf_counter()
    table.predict(X[:1000], engine="gpu")
    first = time.perf_counter() - start
    for name, source in sources.items():
        given = source()
        seconds, found = timed(lambda given=given: table.predict(given, engine="gpu"), repeats)
        del given
        cupy.get_default_memory_pool().free_all_blocks()
        print(shown(f"GPU, {name}", len(X), seconds, one_core), flush=True)
        assert are_equal(found, labels), f"labels of the GPU differ: {name}"
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    print(f"\nGPU: {properties['name'].decode()}; all labels are those of the CPU")
    print(f"the first call, which starts CUDA and compiles kernels, took {first:.1f} s")


def main() -> None:
    given, reason = options(), why_no_gpu()
    if reason is not None:
        given = given._replace(rows=min(given.rows, WITHOUT_GPU))
    table = RuleTable(random_list(given))
    X = generated(given)
    parts = data_sets(X, table.schema)
    n_tests = len(table.arrays.atom)
    print(
        f"{given.rows:,} x {given.columns} numbers, {given.rules} rules with {n_tests} conditions "
        f"on {len(np.unique(table.arrays.column))} columns, {given.labels} labels; least of "
        f"{given.repeats} repeats; {platform.processor() or platform.machine()}\n"
    )
    print(header("where", "rows", "seconds", "million rows/s", "of one core"), flush=True)
    one_core, labels = on_cpu(table, parts, given.repeats)
    del parts
    if reason is None:
        on_gpu(table, X, labels, one_core, given.repeats)
    else:
        print(f"\nno GPU: {reason}")


if __name__ == "__main__":
    main()
