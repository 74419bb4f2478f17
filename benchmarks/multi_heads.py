"""What multi-label heads cost, against single-label heads, per refinement that is scored.

Lists of 10 rules, the head chosen anew with every condition, conditions on features only, no
pruning; by F with beta 0.5, for which labels are seldom equally good, and by precision, for which
they often are. The refinements are counted from the rules: those of every body that
was refined, for every label whose cells had changed since (results for the empty body are kept
between rules). CPU time of `fit`, in turn, the least of the repeats.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time

import numpy as np
from parts.sets import have_data, part
from parts.tables import header, row

from labelrules import Dataset
from labelrules.learners import SeparateAndConquer
from labelrules.rules import Body, DecisionList

SETS = ("scene", "yeast", "CAL500", "birds", "medical", "enron")
MEASURES = ("f0.5", "precision")
KINDS = ("single", "multi")
REPEATS = 3
N_RULES = 10


def learned(data: Dataset, measure: str, heads: str) -> tuple[float, DecisionList]:
    model = SeparateAndConquer(
        heads=heads,
        measure=measure,
        polarity="both",
        fixed_head=False,
        label_conditions=False,
        min_coverage=1,
        default_rule=False,
        pruning=None,
        last_resort=None,
        max_rules=N_RULES,
    )
    start = time.process_time()
    model.fit(data)
    return time.process_time() - start, model.theory_


def n_conditions(data: Dataset, covered: np.ndarray) -> int:
    """How many conditions could refine a body that covers these rows."""
    X = data.X[covered]
    values = np.sort(X.toarray() if data.is_sparse else X, axis=0)
    n_values = 1 + (np.diff(values, axis=0) > 0).sum(axis=0)
    nominal = np.array([feature.is_nominal for feature in data.schema.features])
    # A nominal column gives a condition per value, a numeric one two per cut.
    return int(np.where(nominal, np.where(n_values > 1, n_values, 0), 2 * (n_values - 1)).sum())


def n_refinements(data: Dataset, theory: DecisionList) -> int:
    """Pairs of a condition and a label that were scored to find the rules."""
    everywhere = n_conditions(data, np.ones(data.n_rows, dtype=np.bool_))
    total, n_changed = 0, data.schema.n_labels
    for rule in theory:
        total += everywhere * n_changed
        n_changed = len(rule.head)
        for size in range(1, len(rule.body) + 1):
            covered = Body(rule.body.conditions[:size]).covers(data.X, data.empty_board())
            if covered.sum() > 1:
                total += n_conditions(data, covered) * data.schema.n_labels
    return total


def print_set(name: str, data: Dataset, measure: str) -> None:
    seconds = dict.fromkeys(KINDS, float("inf"))
    lists = {}
    for repeat in range(REPEATS + 1):
        for heads in KINDS:
            took, lists[heads] = learned(data, measure, heads)
            if repeat:  # the first one compiles
                seconds[heads] = min(seconds[heads], took)
    cells, costs = [], []
    for heads in KINDS:
        n_scored = n_refinements(data, lists[heads])
        costs.append(seconds[heads] / n_scored * 1e9)
        per_head = np.mean([len(rule.head) for rule in lists[heads]])
        cells += [f"{per_head:.2f}", f"{seconds[heads]:.3f}", f"{n_scored / 1e6:.2f}",
                  f"{costs[-1]:.2f}"]  # fmt: skip
    print(row(name, measure, *cells, f"{costs[1] / costs[0]:.2f}"), flush=True)


def main() -> None:
    if not have_data():
        return
    columns = ["labels", "CPU s", "scored, millions", "ns each"]
    names = [f"{heads}: {column}" for heads in KINDS for column in columns]
    print(header("set", "measure", *names, "ratio"))
    for name in SETS:
        data = part(name, "train")
        for measure in MEASURES:
            print_set(name, data, measure)


if __name__ == "__main__":
    main()
