"""What something takes in a fresh process: time, what is allocated, and resident memory."""

import gc
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scipy import sparse

from labelrules import Dataset

MEGABYTE = 1e6
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def encoded_bytes(data: Dataset) -> int:
    """The size of X and Y as the learner gets them."""
    X: Any = data.X
    of_X = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
    return int(of_X + data.Y.nbytes)


def kilobytes(field: str) -> int:
    lines = STATUS.read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{field}:")).split()[1])


@contextmanager
def measuring(allocated: bool = False) -> Iterator[dict[str, float]]:
    """Fill in CPU seconds and the peak of resident memory above that before, or of allocations.

    Tracing allocations takes time and memory of its own, so it is one or the other.
    Resident memory is known on Linux only.
    """
    found: dict[str, float] = {}
    gc.collect()
    has_status = STATUS.exists()
    if allocated:
        tracemalloc.start()
    elif has_status:
        CLEAR.write_text("5")  # forgets the peak so far
        before = kilobytes("VmRSS")
    start = time.process_time()
    yield found
    found["cpu"] = time.process_time() - start
    if allocated:
        found["allocated"] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    elif has_status:
        found["resident"] = (kilobytes("VmHWM") - before) * 1024


def in_fresh_process(script: str, *arguments: Any) -> dict[str, Any]:
    """What a script prints last, as JSON, when called with these arguments."""
    command = [sys.executable, script, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def both_peaks(measure: Callable[[bool], dict[str, Any]]) -> dict[str, Any]:
    """Time and resident memory of one process, allocations of another."""
    return {**measure(True), **measure(False)}
