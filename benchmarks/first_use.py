"""What the first use costs: importing, the first fit of all, and the first fit of a later process.

Each in fresh processes. Times are of the whole process where nothing else is said, the least of
the repeats. The first fit of all starts with an empty folder for compiled code.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from parts.tables import header, row

REPEATS = 7
LATER = 5

FIT = """
import json, time
start = time.perf_counter(), time.process_time()
from labelrules import load
from labelrules.learners import SeparateAndConquer
imported = time.perf_counter(), time.process_time()
SeparateAndConquer().fit(load("magazines"))
done = time.perf_counter(), time.process_time()
print(json.dumps([b - a for a, b in zip(imported, done)]))
"""


def run(code: str, **environment: str) -> tuple[float, str]:
    """Seconds that a process takes, and what it prints."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )
    return time.perf_counter() - start, done.stdout


def print_imports() -> None:
    codes = {"nothing": "pass", "labelrules": "import labelrules", "sklearn": "import sklearn"}
    seconds = {name: float("inf") for name in codes}
    for _ in range(REPEATS):
        for name, code in codes.items():
            seconds[name] = min(seconds[name], run(code)[0])
    bare = seconds["nothing"]
    print(header("import", "process, s", "without starting Python, s", "to sklearn"))
    for name in ("labelrules", "sklearn"):
        ratio = (seconds[name] - bare) / (seconds["sklearn"] - bare)
        print(row(name, f"{seconds[name]:.3f}", f"{seconds[name] - bare:.3f}", f"{ratio:.2f}"))
    loads = run("import labelrules, sys; print('numba' in sys.modules)")[1].strip()
    print(f"\n`import labelrules` brings in numba: {loads}\n")


def print_fits() -> None:
    print(header("fit of the magazines", "process, s", "fit, s", "fit, CPU s"))
    with tempfile.TemporaryDirectory() as folder:
        first = run(FIT, NUMBA_CACHE_DIR=folder)
        later = min(run(FIT, NUMBA_CACHE_DIR=folder) for _ in range(LATER))
    for name, (seconds, printed) in {"first ever": first, "in a later process": later}.items():
        wall, cpu = json.loads(printed)
        print(row(name, f"{seconds:.2f}", f"{wall:.2f}", f"{cpu:.2f}"))


if __name__ == "__main__":
    print_imports()
    print_fits()
