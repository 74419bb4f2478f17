"""Kill an experiment at random moments until it is finished; `tests/lab` runs this program.

A program of its own, because it forks. Its argument is a folder. Prints, as JSON, how often the
experiment was killed, how many fits were finished before the last start, and what differs.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from sklearn.tree import DecisionTreeClassifier

from labelrules import SeparateAndConquer, planted
from labelrules.lab import experiment

KILLS = 12


def run(folder):
    data = {f"planted {n}": planted(60, random_state=n)[0] for n in (1, 2)}
    learners = {
        "rules": SeparateAndConquer(max_rules=4),
        "tree": DecisionTreeClassifier(max_depth=3),
        "wrong": SeparateAndConquer(beam_width=0),
    }
    experiment(learners, data, ["micro F1", "subset accuracy"], 5, n_repeats=2, folder=folder)


def kill(folder, seconds):
    """Run in a process that is killed after so long; returns whether it was finished before."""
    child = os.fork()
    if not child:
        run(folder)
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return status == 0


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder, "fits").glob("*.json")}


def main(place):
    whole, broken = Path(place, "whole"), Path(place, "broken")
    run(Path(place, "first"))  # loads what is compiled
    start = time.perf_counter()
    run(whole)
    seconds = time.perf_counter() - start
    numbers, n_killed, kept = random.Random(0), 0, []
    for _ in range(KILLS):
        if kill(broken, numbers.uniform(0.05, 0.5) * seconds):
            break
        n_killed += 1
        kept.append(len(contents(broken)) if broken.is_dir() else 0)
    before = contents(broken)
    run(broken)
    after = contents(broken)
    report = {
        "killed": n_killed,
        "kept": kept,
        "fits": len(after),
        "run again": [name for name in before if before[name] != after[name]],
        "left over": sorted({path.name for path in broken.rglob("*")} - {*after, "fits"}),
        "same": (whole / "scores.csv").read_bytes() == (broken / "scores.csv").read_bytes(),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1])
