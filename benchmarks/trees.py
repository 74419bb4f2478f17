"""Fits by this tree against fits by another one: ``trees.py --against FOLDER [set ...]``.

FOLDER is the ``src`` of another checkout. Two processes learn in turn, on one core; the least CPU
time of the repeats counts, after fits that compile. Three settings: the default list; the default
list with the operators of old, without sets of categories; and the unpruned list of
`covering.py`. With ``--instructions``, and valgrind, instructions of one fit each are counted, too:
minutes for each set, with code for a processor that valgrind knows.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from parts.sets import folder, have_data
from parts.tables import header, row

HERE = Path(__file__).resolve().parent
OWN = HERE.parent / "src"
SETS = ("flags", "emotions", "genbase", "medical", "birds", "enron", "scene", "yeast", "CAL500")
SETTINGS = ("default", "without sets", "unpruned")
ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
KNOWN_TO_VALGRIND = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2"}
SHORT = 0.05
"""Seconds of fits that are repeated before the other tree has its turn."""


class Tree:
    """A process that learns with the library of a folder."""

    def __init__(self, process: "subprocess.Popen[str]", counts: Path | None) -> None:
        self.process, self.counts = process, counts

    def fit(self, name: str, setting: str, repeats: int = 1) -> list[Any]:
        """CPU seconds of the fastest fit, rules, conditions, and a hash of the list."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, setting, repeats]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("the process of a tree ended")
        return list(json.loads(answer))

    def instructions(self, name: str, setting: str) -> int:
        """The instructions of one fit, after one that is not counted."""
        assert self.counts is not None
        self.fit(name, setting)
        self._control("--instr=on")
        self._control("--zero")
        self.fit(name, setting)
        self._control("--dump")
        self._control("--instr=off")
        newest = max(self.counts.glob("counts*"), key=lambda path: path.stat().st_mtime_ns)
        found = re.search(r"^(?:summary|totals): (\d+)", newest.read_text(), re.MULTILINE)
        assert found is not None
        return int(found[1])

    def _control(self, what: str) -> None:
        command = ["callgrind_control", what, str(self.process.pid)]
        subprocess.run(command, check=True, capture_output=True)


@contextmanager
def tree(source: Path, counted: bool = False) -> Iterator[Tree]:
    """Start a process with the library of a folder; its compiled code is kept meanwhile."""
    with tempfile.TemporaryDirectory() as kept:
        environment = {
            **os.environ, **ONE_CORE, "PYTHONPATH": os.pathsep.join([str(source), str(HERE)]),
            "NUMBA_CACHE_DIR": kept, "LABELRULES_DATA": str(folder()),
            **(KNOWN_TO_VALGRIND if counted else {}),
        }  # fmt: skip
        worker = [sys.executable, str(HERE / "parts" / "tree_worker.py")]
        if counted:
            compiled(worker, environment)
            out = f"--callgrind-out-file={kept}/counts"
            worker = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", out, *worker]
        process = subprocess.Popen(
            worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        with process:
            yield Tree(process, Path(kept) if counted else None)


def compiled(worker: list[str], environment: dict[str, str]) -> None:
    """Compile everything outside valgrind."""
    asked = "".join(
        json.dumps([name, setting, 1]) + "\n"
        for name in ("flags", "medical", "emotions")
        for setting in SETTINGS
    )
    subprocess.run(worker, input=asked, text=True, check=True, env=environment, capture_output=True)


def timed(trees: list[Tree], name: str, setting: str, seconds: float) -> list[float]:
    """The least CPU seconds of each tree, which take turns."""
    best = [min(one.fit(name, setting)[0] for _ in range(2)) for one in trees]
    at_once = max(1, int(SHORT / best[0]))
    for turn in range(max(5, min(60, int(seconds / (2 * best[0] * at_once))))):
        for i in (0, 1) if turn % 2 else (1, 0):
            best[i] = min(best[i], trees[i].fit(name, setting, at_once)[0])
    return best


def print_set(
    trees: list[Tree], counting: list[Tree], name: str, setting: str, seconds: float
) -> None:
    theirs, ours = timed(trees, name, setting, seconds)
    (_, *their_list), (_, *our_list) = (one.fit(name, setting) for one in trees)
    sizes = [f"{n_rules} ({n_conditions})" for n_rules, n_conditions, _ in (their_list, our_list)]
    cells = [f"{1000 * theirs:.1f}", f"{1000 * ours:.1f}", f"{ours / theirs:.2f}"]
    if counting:
        before, now = (one.instructions(name, setting) for one in counting)
        cells += [f"{now / before:.2f}"]
    same = "the same" if their_list == our_list else " → ".join(sizes)
    print(row(name, setting, *cells, same), flush=True)


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--against", type=Path, metavar="FOLDER")
    reader.add_argument("--settings", nargs="+", choices=SETTINGS, default=SETTINGS)
    reader.add_argument("--seconds", type=float, default=4.0, help="of repeats for each row")
    reader.add_argument("--instructions", action="store_true")
    reader.add_argument("sets", nargs="*", default=SETS)
    asked = reader.parse_args()
    if asked.against is None:
        print("not compared: name the folder of another tree with --against")
        return
    if not have_data():
        return
    sources = asked.against.resolve(), OWN
    counted = ["instructions, ratio"] if asked.instructions and shutil.which("valgrind") else []
    with ExitStack() as stack:
        trees = [stack.enter_context(tree(source)) for source in sources]
        counting = [stack.enter_context(tree(source, True)) for source in sources if counted]
        titles = "CPU before, ms", "now, ms", "ratio", *counted, "rules (conditions)"
        print(header("set", "setting", *titles))
        for setting in asked.settings:
            for name in asked.sets:
                print_set(trees, counting, name, setting, asked.seconds)


if __name__ == "__main__":
    main()
