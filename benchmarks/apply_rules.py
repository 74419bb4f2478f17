"""Predictions of a 500-rule list for 120,919 x 28 cells: compiled twin against NumPy.

Both take the same encoded rows (1,001 sparse features like the imdb set; the set itself when it
is there), in one process, interleaved, CPU time, the minimum of the repeats.
"""

import os
import time
from pathlib import Path

import numpy as np

from labelrules import (
    Body,
    Condition,
    Dataset,
    DecisionList,
    Head,
    Rule,
    RuleTable,
    load,
    planted,
)

N_ROWS, N_FEATURES, N_LABELS, N_RULES = 120_919, 1_001, 28, 500
REPEATS = 5


def imdb() -> Dataset | None:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LABELRULES_DATA", beside))
    return load("imdb", folder) if (folder / "imdb.arff.gz").exists() else None


def random_list(data: Dataset) -> DecisionList:
    """Rules with two conditions on features each, every fifth with one and a label."""
    random = np.random.default_rng(0)
    rules = []
    for number in range(N_RULES):
        columns = random.choice(N_FEATURES, size=2, replace=False)
        tests = [
            Condition.above(int(j), 0.5) if random.integers(2) else Condition.at_most(int(j), 0.5)
            for j in columns
        ]
        if number % 5 == 4:
            tests[1] = Condition.label(int(random.integers(N_LABELS)), bool(random.integers(2)))
        head = Head({int(random.integers(N_LABELS)): int(random.integers(2))}, N_LABELS)
        rules.append(Rule(head, Body(tests)))
    return DecisionList(data.schema, rules)


def cpu(function, *arguments) -> float:
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def row(name: str, data: Dataset, theory: DecisionList) -> str:
    table = RuleTable(theory)
    assert (table.predict(data) == theory.predict(data)).all()
    compiled, numpy = [], []
    for _ in range(REPEATS):
        compiled.append(cpu(table.predict, data))
        numpy.append(cpu(theory.predict, data))
    fast, slow = min(compiled), min(numpy)
    speeds = [f"{data.Y.size / seconds / 1e6:.1f}" for seconds in (fast, slow)]
    return (
        f"| {name} | {data.n_rows:,} x {data.schema.n_labels} | {len(theory)} | {fast:.3f} "
        f"| {speeds[0]} | {slow:.3f} | {speeds[1]} | {slow / fast:.1f} |"
    )


def main() -> None:
    print(f"CPU seconds, minimum of {REPEATS} interleaved runs; speeds in million cells a second\n")
    print("| rows | cells | rules | compiled s | speed | NumPy s | speed | ratio |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    table, _ = planted(
        N_ROWS, N_FEATURES, 0, N_LABELS, density=0.02, n_rules=1, n_local=0, n_global=0
    )
    print(row("planted", table, random_list(table)))
    data = imdb()
    if data is None:
        print("\nimdb is not there: set LABELRULES_DATA to measure on it")
    else:
        print(row("imdb", data, random_list(data)))


if __name__ == "__main__":
    main()
