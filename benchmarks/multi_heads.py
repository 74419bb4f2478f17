"""What multi-label heads cost, against single-label heads, per refinement that is scored.

A list of 10 rules with multi-label heads is learned: the head chosen anew with every condition,
conditions on features only, no pruning; by F with beta 0.5, for which labels are seldom equally
good, and by precision, for which they often are. Then, for every body on the way, on the board as
it was then, all its refinements for all labels are searched for the best one, with single-label
and with multi-label heads in turn: the same refinements for both. CPU time over all bodies, the
least of the repeats. The whole of `fit` is given, too.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from collections.abc import Iterator

import numpy as np
from parts.sets import have_data, part
from parts.tables import header, row

from labelrules import Dataset
from labelrules.learners import SeparateAndConquer
from labelrules.learners.covering.board import TrainingBoard
from labelrules.learners.covering.next_rule import values_of
from labelrules.learners.covering.settings import checked_settings
from labelrules.learners.covering.sorted_rows import SortedSearch
from labelrules.rules import DecisionList
from labelrules.search.bodies.refine import Covered, Refiner
from labelrules.search.bodies.sorted_columns import SortedColumns

SETS = ("flags", "emotions", "scene", "yeast", "CAL500", "birds", "medical", "enron")
MEASURES = ("f0.5", "precision")
KINDS = ("single", "multi")
REPEATS = 3
N_RULES = 10


def learner(measure: str, heads: str) -> SeparateAndConquer:
    return SeparateAndConquer(
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


def bodies(
    data: Dataset, ground: TrainingBoard, theory: DecisionList
) -> Iterator[list[np.ndarray]]:
    """The rows covered by the parts of the body of each rule, with the board at its time."""
    for rule in theory:
        covered = [np.ones(data.n_rows, dtype=np.bool_)]
        for condition in rule.body:
            covered.append(covered[-1] & condition.holds(data.column(condition.column)))
        yield covered
        ground.write(rule.head, covered[-1])


def search(refiner: Refiner, covered: list[np.ndarray]) -> None:
    """Refine every part of a body."""
    labels = np.arange(len(refiner.board))
    refiner.stale[:] = True
    refiner.refresh()
    refiner.best_first()
    narrowed = refiner.everywhere
    for mask in covered[1:]:
        if mask.sum() > 1:
            inside = Covered(mask, np.flatnonzero(mask), narrowed.listing)
            _, narrowed = refiner.best(inside, labels)


def n_conditions(data: Dataset, covered: np.ndarray) -> int:
    """How many conditions could refine a body that covers these rows."""
    X = data.X[covered]
    values = np.sort(X.toarray() if data.is_sparse else X, axis=0)
    n_values = 1 + (np.diff(values, axis=0) > 0).sum(axis=0)
    nominal = np.array([feature.is_nominal for feature in data.schema.features])
    # A nominal column gives a condition per value, a numeric one two per cut.
    return int(np.where(nominal, np.where(n_values > 1, n_values, 0), 2 * (n_values - 1)).sum())


def seconds_of_search(data: Dataset, measure: str, theory: DecisionList) -> dict[str, float]:
    """For each kind of heads the time of searching all refinements of all bodies."""
    ground = TrainingBoard(data, "append")
    columns, searches = SortedColumns.of(data), {}
    for heads in KINDS:
        settings = checked_settings(learner(measure, heads), data.schema)
        values = values_of(settings.polarity, ground.is_common)
        searches[heads] = SortedSearch(columns, ground, settings, values)
    spent = dict.fromkeys(KINDS, 0.0)
    for covered in bodies(data, ground, theory):
        for heads, one in searches.items():
            start = time.process_time()
            search(one.refiner, covered)
            spent[heads] += time.process_time() - start
    return spent


def print_set(name: str, data: Dataset, measure: str) -> None:
    seconds, fits = dict.fromkeys(KINDS, float("inf")), dict.fromkeys(KINDS, float("inf"))
    for repeat in range(REPEATS + 1):
        for heads in KINDS:
            start = time.process_time()
            theory = learner(measure, heads).fit(data).theory_
            took = time.process_time() - start
            fits[heads] = min(fits[heads], took) if repeat else fits[heads]  # the first compiles
        for heads, took in seconds_of_search(data, measure, theory).items():
            seconds[heads] = min(seconds[heads], took)
    found = list(bodies(data, TrainingBoard(data, "append"), theory))
    n_scored = data.schema.n_labels * sum(
        n_conditions(data, mask) for covered in found for mask in covered if mask.sum() > 1
    )
    costs = [seconds[heads] / n_scored * 1e9 for heads in KINDS]
    per_head = np.mean([len(rule.head) for rule in theory])
    print(row(
        name, measure, f"{per_head:.1f}", f"{n_scored / 1e6:.1f}", *(f"{one:.2f}" for one in costs),
        f"{costs[1] / costs[0]:.2f}", *(f"{fits[heads]:.3f}" for heads in KINDS),
    ), flush=True)  # fmt: skip


def main() -> None:
    if not have_data():
        return
    print(header(
        "set", "measure", "labels per head", "refinements, millions", "single, ns", "multi, ns",
        "ratio", "fit, single, s", "fit, multi, s",
    ))  # fmt: skip
    for name in SETS:
        data = part(name, "train")
        for measure in MEASURES:
            print_set(name, data, measure)


if __name__ == "__main__":
    main()
