"""The covering learner against mlrl-seco, on the same search.

Single-label heads that say the rarer value of a label, fixed after the first condition; F with
beta 0.5, counted relative to the head; no pruning, no sampling, no end but that of mlrl-seco:
when as many cells are written as have the rarer value. One thread each, CPU time of `fit` alone,
in turn, the least of the repeats; compiling is not counted.

Both get the same numbers, rounded to 32 bits as mlrl-seco does. The lists are compared by the
cells that their rules write. Where they differ our learner goes on from the other list, its
differing rule included, so that all rules are compared on the same board.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from parts.differences import Ground, follow
from parts.environments import PeerError
from parts.peer_mlrl import Peer, peer_with
from parts.sets import have_data, part
from parts.tables import header, row
from scipy import sparse

from labelrules import Dataset, Rule
from labelrules.learners import SeparateAndConquer
from labelrules.rules import DecisionList

# Name, and how often mlrl-seco learns it: minutes each on the last ones.
SETS = {
    "flags": 5, "emotions": 5, "genbase": 5, "medical": 5, "birds": 3, "enron": 2, "scene": 2,
    "yeast": 1, "CAL500": 1,
}  # fmt: skip
OUR_REPEATS = 5
AHEAD = 8
"""Rules learned at once when the lists are compared."""


def rounded(data: Dataset) -> Dataset:
    X: Any = data.X
    if sparse.issparse(X):
        stored = X.data.astype(np.float32).astype(np.float64)
        return Dataset(data.schema, type(X)((stored, X.indices, X.indptr), X.shape), data.Y)
    return Dataset(data.schema, X.astype(np.float32).astype(np.float64, order="F"), data.Y)


def learner(data: Dataset) -> SeparateAndConquer:
    present = data.Y.sum(axis=0)
    n_rarer = int(np.minimum(present, data.n_rows - present).sum())
    return SeparateAndConquer(
        heads="single",
        measure="f0.5",
        counting="head-relative",
        polarity="rarer",
        fixed_head=True,
        operators=("<=", ">", "=", "!="),
        label_conditions=False,
        open_share=1 - n_rarer / data.Y.size,
        default_rule=False,
        min_coverage=1,
        pruning=None,
        last_resort=None,
    )


def our_fit(data: Dataset) -> tuple[float, list[Rule]]:
    model = learner(data)
    start = time.process_time()
    model.fit(data)
    return time.process_time() - start, list(model.theory_)


def timed(data: Dataset, peer: Peer, n_theirs: int) -> tuple[float, float, list[Rule], list[Rule]]:
    """Our best time and theirs, and the rules of both."""
    our_fit(data)  # compiles
    ours, theirs = [], []
    for repeat in range(max(OUR_REPEATS, n_theirs)):
        seconds, rules = our_fit(data)
        ours.append(seconds)
        if repeat < n_theirs:
            theirs.append(float(peer.ask("fit")))
    return min(ours), min(theirs), rules, peer.rules(data.schema.n_labels)


class Comparison(NamedTuple):
    """How two lists differ."""

    n_first: int
    """Rules that are the same before the first difference."""
    reasons: Counter[str]
    """Why others are not the same."""
    n_misstated: int
    """Rules of mlrl-seco that cover other rows than it counted."""


def compare(data: Dataset, ours: list[Rule], theirs: list[Rule]) -> Comparison:
    ground, reasons = Ground(data), Counter[str]()
    done = follow(ground, ours, theirs)
    n_first, n_ahead = len(done), AHEAD
    while len(done) < len(theirs):
        found = next_rules(data, done, n_ahead)
        same = follow(ground, found, theirs[len(done) :])
        done += same
        n_ahead = 2 * n_ahead if len(same) == n_ahead else AHEAD
        if len(done) < len(theirs) and (len(same) < len(found) or not found):
            other = ground.as_counted(theirs[len(done)])
            reasons[ground.why(found[len(same)], other) if found else "our list ends"] += 1
            ground.write(other)
            done.append(other)
    n_misstated = sum(a.body != b.body for a, b in zip(done, theirs, strict=True))
    return Comparison(n_first, reasons, n_misstated)


def next_rules(data: Dataset, rules: list[Rule], number: int) -> list[Rule]:
    """What our learner appends to given rules."""
    model = learner(data).set_params(max_rules=len(rules) + number)
    model.fit(data, theory=DecisionList(data.schema, rules))
    return list(model.theory_[len(rules) :])


def print_set(name: str, n_theirs: int) -> str:
    data = rounded(part(name, "train"))
    with peer_with(data) as peer:
        ours, theirs, our_rules, their_rules = timed(data, peer, n_theirs)
        version = str(peer.ask("version"))
    n_first, reasons, n_misstated = compare(data, our_rules, their_rules)
    n_same = len(their_rules) - reasons.total()
    why = "; ".join(f"{n} {reason}" for reason, n in reasons.most_common()) or "-"
    shape = f"{data.n_rows} x {data.X.shape[1]} x {data.schema.n_labels}"
    times = f"{theirs:.3f}", f"{ours:.4f}", f"{theirs / ours:.1f}"
    sizes = len(their_rules), len(our_rules)
    print(row(name, shape, *times, *sizes, n_first, n_same, why, n_misstated), flush=True)
    return version


def main() -> None:
    if not have_data():
        return
    names = sys.argv[1:] or SETS
    print(header(
        "set", "rows x features x labels", "mlrl-seco, s", "ours, s", "ratio", "its rules",
        "our rules", "same at first", "same in all", "why others are not",
        "misstated",
    ))  # fmt: skip
    try:
        versions = {print_set(name, SETS[name]) for name in names}
    except PeerError as problem:
        print(f"\nnot compared with mlrl-seco: {problem}")
        return
    print(f"\nmlrl-seco {', '.join(versions)}")


if __name__ == "__main__":
    main()
