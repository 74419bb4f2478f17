"""What the first use costs: importing, the help of the command line, the first fits.

Each in fresh processes, in turn, the least of the repeats: CPU time, which tells more on a machine
with other work to do, and wall time. The first fit of all starts with an empty folder for
compiled code.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

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


class Ran(NamedTuple):
    """What a process took, in seconds, and what it printed."""

    cpu: float
    wall: float
    printed: str


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(code: str, **environment: str) -> Ran:
    wall, cpu = time.perf_counter(), cpu_of_children()
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **environment},
    )
    return Ran(cpu_of_children() - cpu, time.perf_counter() - wall, done.stdout)


def print_imports() -> None:
    codes = {
        "nothing": "pass",
        "labelrules": "import labelrules",
        "labelrules and a data set": "from labelrules import load; load('magazines')",
        "`labelrules --help`": "from labelrules.cli import main; main(['--help'])",
        "`labelrules learn --help`": "from labelrules.cli import main; main(['learn', '--help'])",
        "sklearn": "import sklearn",
    }
    runs: dict[str, list[Ran]] = {name: [] for name in codes}
    for _ in range(REPEATS):
        for name, code in codes.items():
            runs[name].append(run(code))
    cpu = {name: min(ran.cpu for ran in found) for name, found in runs.items()}
    print(header("import", "CPU s", "without starting Python", "to sklearn", "wall s"))
    for name in list(codes)[1:]:
        own = cpu[name] - cpu["nothing"]
        ratio = own / (cpu["sklearn"] - cpu["nothing"])
        wall = min(ran.wall for ran in runs[name])
        print(row(name, f"{cpu[name]:.3f}", f"{own:.3f}", f"{ratio:.2f}", f"{wall:.3f}"))
    loads = run("import labelrules, sys; print('numba' in sys.modules)").printed.strip()
    print(f"\n`import labelrules` brings in numba: {loads}\n")


def print_fits() -> None:
    print(header("fit of the magazines", "process, CPU s", "wall s", "fit alone, CPU s", "wall s"))
    with tempfile.TemporaryDirectory() as folder:
        first = run(FIT, NUMBA_CACHE_DIR=folder)
        later = min(run(FIT, NUMBA_CACHE_DIR=folder) for _ in range(LATER))
    for name, ran in {"first ever": first, "in a later process": later}.items():
        wall, cpu = json.loads(ran.printed)
        print(row(name, f"{ran.cpu:.2f}", f"{ran.wall:.2f}", f"{cpu:.2f}", f"{wall:.2f}"))


if __name__ == "__main__":
    print_imports()
    print_fits()
