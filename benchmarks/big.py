"""Lists of 100 rules for large data sets: CPU time and memory, each in a process of its own.

The learner has its defaults, but prunes nothing, which may end a list sooner; the compiled code is
there already. Memory is what learning
takes on top of the data: allocated by Python and NumPy, and by how much the process grows.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import sys

from parts.peaks import MEGABYTE, both_peaks, encoded_bytes, in_fresh_process, measuring
from parts.sets import folder, have_data
from parts.tables import header, row

from labelrules import load
from labelrules.learners import SeparateAndConquer

SETS = ("bibtex", "tmc2007-500", "delicious", "rcv1subset1", "ohsumed", "imdb")
N_RULES = 100


def report(name: str, allocated: bool) -> None:
    """Learn in this process, after a small set, and print what it takes."""
    learner = SeparateAndConquer(
        max_rules=N_RULES, pruning=None, last_resort=None, default_rule=False
    )
    learner.fit(load("magazines"))
    data = load(name, folder())
    with measuring(allocated) as found:
        learner.fit(data)
    shape = [*data.X.shape, data.schema.n_labels]
    theory = learner.theory_
    size = {
        "rules": len(theory), "literals": theory.n_literals, "conditions": theory.n_conditions,
    }  # fmt: skip
    print(json.dumps({**found, **size, "shape": shape, "encoded": encoded_bytes(data)}))


def print_set(name: str) -> None:
    found = both_peaks(
        lambda allocated: in_fresh_process(__file__, "--report", name, int(allocated))
    )
    encoded = found["encoded"]
    shape = " x ".join(f"{size:,}" for size in found["shape"])
    peaks = [f"{found[kind] / MEGABYTE:.0f} ({found[kind] / encoded:.1f})"
             if kind in found else "-" for kind in ("allocated", "resident")]  # fmt: skip
    print(row(
        name, shape, found["rules"], found["literals"], found["conditions"],
        f"{found['cpu']:.1f}", f"{encoded / MEGABYTE:.1f}", *peaks,
    ), flush=True)  # fmt: skip


def main() -> None:
    if not have_data():
        return
    print(header(
        "set", "rows x features x labels", "rules", "literals", "conditions", "CPU s",
        "encoded, MB", "allocated, MB (ratio)", "resident, MB (ratio)",
    ))  # fmt: skip
    for name in sys.argv[1:] or SETS:
        print_set(name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--report"]:
        report(sys.argv[2], bool(int(sys.argv[3])))
    else:
        main()
