"""Learning on a cluster of local processes: two workers against one, and what is moved.

``python benchmarks/cluster.py [ROWS [RULES]]`` writes the tables of
`out_of_core.py` into a temporary folder, by default 1,000,000 rows, and learns from them by Dask on
one and on two single-threaded workers, twice each in turns. For each kind of question it reports
how often it was asked, its median time, and the bytes of the answer of one part. The time of a
question about hardly any rows is what asking itself takes. `boosting.py` has LightGBM beside.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import pickle
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from out_of_core import N_FEATURES, N_LABELS, ROWS_OF_A_FILE, Clock, clocks, write_parts

from labelrules import SeparateAndConquer
from labelrules.scale.dask.counts import ClusterRows

LABELS = [f"l{label}" for label in range(N_LABELS)]


class Questions:
    """Notes the time of each question, and the size of its answer."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.sizes: dict[str, int] = {}
        self.parts = 0

    def __enter__(self) -> "Questions":
        self.asked = asked = ClusterRows._ask

        def ask(rows: ClusterRows, *question: Any) -> Any:
            started = time.perf_counter()
            answer = asked(rows, *question)
            self.times[question[0]].append(time.perf_counter() - started)
            self.sizes[question[0]] = len(pickle.dumps(answer))
            self.parts = len(rows.parts)
            return answer

        ClusterRows._ask = ask  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        ClusterRows._ask = self.asked  # type: ignore[method-assign]

    def told(self) -> dict[str, Any]:
        """For each kind of question: how often, median milliseconds, bytes."""
        return {
            name: (len(times), round(1e3 * median(times), 1), self.sizes[name])
            for name, times in self.times.items()
        }


def cluster(n_workers: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0",
        memory_limit="8GB", silence_logs=50,  # so much that nothing is written to a disk
    )  # fmt: skip


def peak_and_cpu(client: Any) -> tuple[float, float]:
    """The largest peak memory of a worker in MB, and the CPU seconds of all."""
    import resource

    used = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF)).values()
    return max(one.ru_maxrss for one in used) / 1024, sum(
        one.ru_utime + one.ru_stime for one in used
    )


def learn(folder: Path, n_workers: int, n_rules: int) -> tuple[Any, dict[str, Any]]:
    """Learn on some workers; the theory, and what it took."""
    import dask.dataframe as dd
    from distributed import Client

    with cluster(n_workers) as workers, Client(workers) as client:
        files = sorted(map(str, folder.iterdir()))
        frame = dd.read_parquet(files, split_row_groups=True)
        small = dd.from_pandas(frame.head(2000), npartitions=2 * n_workers)
        SeparateAndConquer(bins=255, max_rules=5).fit(small, LABELS)  # compiled code is read
        with Questions() as overhead:
            SeparateAndConquer(bins=255, max_rules=n_rules).fit(small, LABELS)
        _, before = peak_and_cpu(client)
        clock, started = Clock(), clocks()
        with Questions() as questions:
            learner = SeparateAndConquer(bins=255, max_rules=n_rules, progress=clock)
            learner.fit(frame, LABELS)
        wall, own = (now - then for now, then in zip(clocks(), started, strict=True))
        peak, after = peak_and_cpu(client)
    phases = [*clock.phases, ("end", clocks())]
    steps = {
        name: round(phases[at + 1][1][0] - begin[0], 2)
        for at, (name, begin) in enumerate(phases[:-1])
    }
    steps["reading kinds and a sample"] = round(phases[0][1][0] - started[0], 2)
    asking = sum(map(sum, questions.times.values()))
    return learner.theory_, {
        "workers": n_workers, "wall": round(wall, 2), "cpu of workers": round(after - before, 2),
        "cpu of client and scheduler": round(own, 2),
        "peak MB of a worker": round(peak), "steps": steps, "parts": questions.parts,
        "seconds asking": round(asking, 2), "questions": questions.told(),
        "with hardly any rows": {name: told[1] for name, told in overhead.told().items()},
    }  # fmt: skip


def main() -> None:
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS_OF_A_FILE
    n_rules = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory(prefix="labelrules-cluster-") as name:
        folder = Path(name, "data")
        folder.mkdir()
        write_parts(folder, n_rows)
        print(f"{n_rows:,} rows x {N_FEATURES} features x {N_LABELS} labels", flush=True)
        theories, walls = [], defaultdict(list)
        for _ in range(2):
            for n_workers in (1, 2):
                theory, found = learn(folder, n_workers, n_rules)
                theories.append(theory)
                walls[n_workers].append(found["wall"])
                print(json.dumps(found), flush=True)
        same = all(theory == theories[0] for theory in theories)
        print(f"two workers are {min(walls[1]) / min(walls[2]):.2f} times as fast; same: {same}")


if __name__ == "__main__":
    main()
