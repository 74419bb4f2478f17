"""Learning on a GPU against one core: time, memory, and how fast rows are counted there.

`python gpu.py learn [rows ...]` learns a list of 20 rules from planted tables of 50 numeric
features and 20 labels in host memory, with 255 bins: the whole of `fit`, its parts, and with `cpu`
behind the rows the same on one core of the CPU. `python gpu.py count [rows]` counts one table, and
compares it with what a copy within the memory of the GPU takes. Times are the least of several
runs after one that compiles. Needs labelrules[gpu] and a GPU; says so where there is none.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from histogram import peak, planted_table
from parts.tables import header, row

from labelrules import Dataset, SeparateAndConquer
from labelrules.data.codes.bins import Bins
from labelrules.kernels.device import why_no_gpu
from labelrules.learners.covering.counted_rows import CountedRows
from labelrules.learners.covering.local_rows import rows_in_memory
from labelrules.learners.covering.loop import Covering
from labelrules.learners.covering.settings import checked_settings
from labelrules.scale.gpu.codes import codes_on_gpu
from labelrules.scale.gpu.counts import GpuRows
from labelrules.scale.gpu.kernels.counting import GpuKernels
from labelrules.search.bodies.code_tables import marked_columns

N_RULES, N_BINS = 20, 255
LEARNER = {"bins": N_BINS, "max_rules": N_RULES}


def device_name() -> str:
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def least(work: Callable[[], Any], runs: int = 3) -> tuple[float, Any]:
    """The least wall time of some runs, and the last result."""
    found, seconds = None, []
    for _ in range(runs):
        start = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), found


def parts_on_gpu(data: Dataset) -> tuple[float, float]:
    """Seconds of bins, transfer and codes, and of learning from the codes."""
    import cupy

    settings = checked_settings(SeparateAndConquer(engine="gpu", **LEARNER), data.schema)
    start = time.perf_counter()
    bins, codes = codes_on_gpu(data.X, data.schema, N_BINS)
    cupy.cuda.runtime.deviceSynchronize()
    coded = time.perf_counter()
    rows = GpuRows(bins, codes, data.Y, marked_columns(bins, settings.allowed))
    Covering(CountedRows(rows, bins, settings), settings).go_on(lambda progress: None)
    return coded - start, time.perf_counter() - coded


def parts_on_cpu(data: Dataset) -> tuple[float, float]:
    """The same on one core."""
    settings = checked_settings(SeparateAndConquer(engine="cpu", **LEARNER), data.schema)
    start = time.perf_counter()
    bins = Bins.of(data, N_BINS)
    marked = marked_columns(bins, settings.allowed)
    rows = rows_in_memory(data, bins, marked, None, 1)
    coded = time.perf_counter()
    Covering(CountedRows(rows, bins, settings), settings).go_on(lambda progress: None)
    return coded - start, time.perf_counter() - coded


def learn(sizes: list[int], with_cpu: bool) -> None:
    print(device_name())
    small = planted_table(50_000)
    for engine in ("gpu", "cpu"):
        SeparateAndConquer(engine=engine, **LEARNER).fit(small)
    print(header("rows", "engine", "fit s", "bins, transfer, codes s", "learning s", "peak GB"))
    for n_rows in sizes:
        data = planted_table(n_rows)
        runs = 3 if n_rows <= 10_000_000 else 1
        learner = SeparateAndConquer(engine="gpu", **LEARNER)
        whole, model = least(partial(learner.fit, data.X, data.Y), runs)
        show(n_rows, "GPU", whole, *min(parts_on_gpu(data) for _ in range(runs)))
        if with_cpu:
            learner = SeparateAndConquer(engine="cpu", **LEARNER)
            whole, expected = least(
                lambda data=data, learner=learner: learner.fit(data.X, data.Y), 1
            )
            show(n_rows, "one core", whole, *parts_on_cpu(data))
            assert model.theory_ == expected.theory_, "the theories differ"
            assert [r.evidence for r in _rules(model)] == [r.evidence for r in _rules(expected)]
        del data


def _rules(model: Any) -> list[Any]:
    theory = model.theory_
    return [rule for layer in getattr(theory, "layers", [theory]) for rule in layer]


def show(n_rows: int, engine: str, whole: float, coding: float, learning: float) -> None:
    times = (f"{one:.2f}" for one in (whole, coding))
    print(row(f"{n_rows:,}", engine, *times, f"{learning:.3f}", f"{peak():.1f}"), flush=True)


def count(n_rows: int) -> None:
    import cupy

    print(device_name())
    kernels = GpuKernels()
    random = cupy.random.default_rng(1)
    codes = [random.integers(0, N_BINS, n_rows, dtype=cupy.uint8) for _ in range(50)]
    padded = []
    for one in codes:
        padded.append(kernels.room_for_codes(n_rows, N_BINS))
        padded[-1][:n_rows] = one
    rows = kernels.every(n_rows)
    positive = kernels.common(rows, random.integers(0, 2**32, len(rows), dtype=cupy.uint32))
    columns = kernels.columns(padded, [256 * at for at in range(50)])
    table = kernels.room_for_counts(256 * 50)
    n_bytes = sum(one.nbytes for one in padded) + 2 * rows.nbytes
    copied = cupy.empty(n_bytes // 2, np.uint8)
    other = cupy.empty_like(copied)
    seconds = on_device(lambda: kernels.count_codes(columns, rows, positive, table))
    copying = on_device(lambda: cupy.copyto(other, copied))
    print(header("one table", "ms", "GB/s"))
    for name, one in (("counted", seconds), ("as many bytes copied", copying)):
        print(row(name, f"{1e3 * one:.3f}", f"{n_bytes / one / 1e9:,.0f}"), flush=True)


def on_device(work: Callable[[], Any], runs: int = 20) -> float:
    """The least time of some runs on the GPU itself."""
    import cupy

    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    seconds = []
    for _ in range(runs):
        start.record()
        work()
        stop.record()
        stop.synchronize()
        seconds.append(cupy.cuda.get_elapsed_time(start, stop) / 1e3)
    return min(seconds)


def main() -> None:
    reason = why_no_gpu()
    if reason is not None:
        print(f"nothing is measured: {reason}")
        return
    what, *rest = sys.argv[1:] or ["learn"]
    sizes = [int(one) for one in rest if one != "cpu"] or [10_000_000]
    if what == "learn":
        learn(sizes, "cpu" in rest)
    else:
        count(*sizes)


if __name__ == "__main__":
    main()
