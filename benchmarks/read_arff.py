"""Reading Mulan files: CPU time against liac-arff, and peak memory against the arrays loaded.

Both readers take the same compressed files, in one process, interleaved; the time is the
minimum of the repeats. liac-arff stops at lists of Python objects (its fastest form: one
dictionary per sparse row), while `read_mulan` goes on to arrays and also reads the label file.

The peaks are those of fresh processes: what Python and NumPy allocate at most while reading
(tracemalloc), and by how much the process grows (resident memory).
"""

import gc
import gzip
import json
import os
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import arff as liac

from labelrules.data import Dataset, read_mulan

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDER = Path(os.environ.get("LABELRULES_DATA") or BESIDE)

# Name, and how often liac-arff reads it; the first two are the ones promised.
SETS = {"delicious": 3, "imdb": 2, "ohsumed": 2, "rcv1subset1": 1, "scene": 2}
OUR_REPEATS = 5
MEGABYTE = 1e6
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def files(name: str) -> list[Path]:
    parts = [FOLDER / f"{name}-{part}.arff.gz" for part in ("train", "test")]
    return parts if parts[0].exists() else [FOLDER / f"{name}.arff.gz"]


def read_with_liac(name: str, is_sparse: bool) -> None:
    for path in files(name):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            kind = liac.LOD if is_sparse else liac.DENSE
            liac.load(file, encode_nominal=True, return_type=kind)


def cpu(function: Callable[..., object], *arguments: object) -> float:
    gc.collect()
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def times(name: str, is_sparse: bool) -> tuple[float, float]:
    """Our best time and theirs."""
    ours, theirs = [], []
    for repeat in range(max(OUR_REPEATS, SETS[name])):
        ours.append(cpu(read_mulan, files(name)))
        if repeat < SETS[name]:
            theirs.append(cpu(read_with_liac, name, is_sparse))
    return min(ours), min(theirs)


def loaded_bytes(data: Dataset) -> int:
    X = data.X
    of_X = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if data.is_sparse else X.nbytes
    return int(of_X + data.Y.nbytes)


def report_peak(name: str, how: str) -> None:
    """Print what reading takes in this process, which has read only a small set before."""
    read_mulan(files("flags"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if how == "allocated":
        tracemalloc.start()
    data = read_mulan(files(name))
    if how == "allocated":
        peak = tracemalloc.get_traced_memory()[1]
    else:
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * RSS_UNIT
    print(json.dumps({"sparse": data.is_sparse, "loaded": loaded_bytes(data), "peak": peak}))


def peak(name: str, how: str) -> dict[str, int]:
    command = [sys.executable, __file__, name, how]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(found.stdout))


def main() -> None:
    if not FOLDER.is_dir():
        print(f"no data sets: set LABELRULES_DATA to their folder ({FOLDER} is not there)")
        return
    # Memory first: a process inherits the resident peak of the one that starts it.
    peaks = {name: (peak(name, "allocated"), peak(name, "resident")) for name in SETS}
    print("| set | liac-arff, s | ours, s | ratio | loaded, MB | ", end="")
    print("allocated at most, MB | ratio | resident, MB | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (allocated, resident) in peaks.items():
        ours, theirs = times(name, bool(allocated["sparse"]))
        loaded = allocated["loaded"]
        cells = [name, f"{theirs:.2f}", f"{ours:.3f}", f"{theirs / ours:.1f}"]
        cells.append(f"{loaded / MEGABYTE:.1f}")
        for found in (allocated, resident):
            cells += [f"{found['peak'] / MEGABYTE:.1f}", f"{found['peak'] / loaded:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        report_peak(*sys.argv[1:])
    else:
        main()
