"""Predictions of a 500-rule list for 120,919 x 28 cells: compiled twin against NumPy.

Both take the same encoded rows (1,001 sparse features like the imdb set; the set itself when it
is there), in one process, interleaved, CPU time, the minimum of the repeats.
"""

import os
import time
from pathlib import Path

from labelrules import Dataset, DecisionList, RuleTable, load, planted

N_ROWS, N_FEATURES, N_LABELS, N_RULES = 120_919, 1_001, 28, 500
REPEATS = 5


def imdb() -> Dataset | None:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LABELRULES_DATA", beside))
    return load("imdb", folder) if (folder / "imdb.arff.gz").exists() else None


def random_list(data: Dataset | None) -> tuple[Dataset, DecisionList]:
    """Rules with one to three conditions on features, a fifth of them with a label as well."""
    table, theory = planted(
        N_ROWS,
        N_FEATURES,
        0,
        N_LABELS,
        density=0.02,
        n_rules=N_RULES * 4 // 5,
        n_local=N_RULES // 5,
        n_global=0,
    )
    if data is None:
        return table, theory
    # The same list on the real rows: feature by position, thresholds at one half.
    rules = []
    for rule in theory:
        conditions = [c if c.on_label else type(c)(c.column, c.operator, 0.5) for c in rule.body]
        rules.append(type(rule)(rule.head, type(rule.body)(conditions)))
    return data, DecisionList(data.schema, rules)


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
    print(row("planted", *random_list(None)))
    data = imdb()
    if data is None:
        print("\nimdb is not there: set LABELRULES_DATA to measure on it")
    else:
        print(row("imdb", *random_list(data)))


if __name__ == "__main__":
    main()
