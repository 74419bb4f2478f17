"""Learning from Parquet files larger than memory: resident memory, and time per pass.

``python benchmarks/out_of_core.py [ROWS [RULES]]`` writes planted tables of 50 numeric features
and 20 labels into a temporary folder, which it removes; by default 1,000,000 rows. The whole,
20,000,000 rows, are about 8 GB. Reading the same files by pyarrow and learning run in processes of
their own, one after the other.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from parts.peaks import in_fresh_process, kilobytes

from labelrules import Dataset, SeparateAndConquer, load, scan
from labelrules.rules import RuleTable, planted

N_FEATURES, N_LABELS, NOISE = 50, 20, 0.02
ROWS_OF_A_FILE, ROWS_OF_A_GROUP = 1_000_000, 250_000


def write_parts(folder: Path, n_rows: int) -> None:
    """Write uniform features, and labels by the same random rules, with noise, in every file."""
    import pyarrow
    from pyarrow import parquet

    data, theory = planted(5000, N_FEATURES, 0, N_LABELS, n_rules=2 * N_LABELS)
    rules, names = RuleTable(theory), [*data.schema.feature_names, *data.schema.labels]
    for number, start in enumerate(range(0, n_rows, ROWS_OF_A_FILE)):
        random = np.random.default_rng([1, number])
        left = min(ROWS_OF_A_FILE, n_rows - start)
        schema = pyarrow.schema(
            [(name, pyarrow.float64() if n < N_FEATURES else pyarrow.int8())
             for n, name in enumerate(names)]
        )  # fmt: skip
        path = folder / f"part-{number}.parquet"
        with parquet.ParquetWriter(path, schema, use_dictionary=False) as file:
            while left > 0:
                size = min(left, ROWS_OF_A_GROUP)
                X = np.asfortranarray(random.random((N_FEATURES, size)).T)
                Y = rules.predict(Dataset(data.schema, X, np.zeros((size, N_LABELS), np.int8)))
                Y = Y ^ (random.random(Y.shape) < NOISE)
                columns = [*X.T, *Y.T.astype(np.int8)]
                file.write_table(pyarrow.table([pyarrow.array(c) for c in columns], schema=schema))
                left -= size


def clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def report(started: tuple[float, float], **found: Any) -> None:
    wall, cpu = (now - then for now, then in zip(clocks(), started, strict=True))
    peak = kilobytes("VmHWM") / 1024
    print(json.dumps({"wall": wall, "cpu": cpu, "peak_mb": peak, **found}))


def read_by_pyarrow(folder: Path) -> None:
    """One pass: every column of every row as an Arrow array."""
    from pyarrow.parquet import ParquetFile

    started, n_rows = clocks(), 0
    for path in sorted(folder.iterdir()):
        with ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            n_rows += sum(len(batch) for batch in file.iter_batches(60_000, use_threads=False))
    report(started, rows=n_rows)


class Clock:
    """Notes when each phase of learning begins, and each rule."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, tuple[float, float]]] = []
        self.n_rules = 0

    def __call__(self, report: Any) -> None:
        """Called for each rule."""
        self.n_rules = report.n_rules

    def phase(self, text: str) -> None:
        """Called for each phase."""
        self.phases.append((text, clocks()))


def learn(folder: Path, n_rules: int) -> None:
    SeparateAndConquer(bins=255).fit(scan(load("clinic")))  # compiled code is read
    started, clock = clocks(), Clock()
    parts = scan(
        folder,
        labels=planted(9, N_FEATURES, 0, N_LABELS, n_rules=0, n_local=0, n_global=0)[
            0
        ].schema.labels,
    )
    learner = SeparateAndConquer(bins=255, max_rules=n_rules, progress=clock).fit(parts)
    times = [*clock.phases, ("end", clocks())]
    steps = {
        name: [round(after - before, 2) for after, before in zip(end, begin, strict=True)]
        for (name, begin), (_, end) in pairwise(times)
    }
    theory = learner.theory_
    report(started, steps=steps, rules=len(theory), literals=theory.n_literals)


def main() -> None:
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS_OF_A_FILE
    n_rules = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory(prefix="labelrules-out-of-core-") as name:
        folder = Path(name, "data")
        folder.mkdir()
        write_parts(folder, n_rows)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{n_rows:,} rows x {N_FEATURES} features x {N_LABELS} labels: {size / 1e9:.2f} GB")
        for what in ("read", "learn"):
            found = in_fresh_process(__file__, f"--{what}", folder, n_rules)
            print(what, json.dumps(found), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read_by_pyarrow(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["--learn"]:
        learn(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
