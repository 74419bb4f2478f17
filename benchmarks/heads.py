"""The best head of 200 random bodies on real label matrices, for every measure of the chapter.

One core, CPU time, no board, the chapter's counting, absence allowed, F with beta 1. Of each body
the minimum of three runs is taken (one where it takes long), of the bodies the median. Counting
is measured in between, body by body, so that a ratio compares like with like.
"""

import os
from functools import partial

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelrules import Body, Condition, Dataset, Measure, load
from labelrules.measures import Tally, tally
from labelrules.search import HeadFound, best_head, best_heads, tallies_decide

SETS = ("flags", "emotions", "yeast", "birds", "enron", "CAL500")
N_BODIES = 200
MIN_COVERED = 5
REPEATS = 3
LONG = 0.005
"""Seconds after which one run is enough."""

MEASURES = [
    Measure.parse(f"{name}/{averaging}/{predictions}")
    for name in ("precision", "recall", "hamming", "f1", "subset")
    for averaging in ("micro", "macro", "samples", "cell")
    for predictions in ("partial", "full")
    if name != "subset" or averaging == "samples"
]


class Task(NamedTuple):
    """A label matrix and the rows that each body covers."""

    name: str
    Y: np.ndarray
    masks: np.ndarray


class Timed(NamedTuple):
    """What a search took, and counting in between."""

    found: list[HeadFound]
    search: float
    count: float


def folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("LABELRULES_DATA") or beside)


def tasks() -> Iterator[Task]:
    for name in SETS:
        data = load(name, folder())
        yield Task(name, np.asarray(data.Y), np.array(list(coverages(data, N_BODIES))))


def coverages(data: Dataset, n_bodies: int) -> Iterator[np.ndarray]:
    """The rows covered by random bodies of one or two conditions."""
    rng = np.random.default_rng(0)
    board = data.empty_board()
    while n_bodies:
        body = Body(random_condition(rng, data) for _ in range(rng.integers(1, 3)))
        covered = body.covers(data.X, board)
        if covered.sum() >= MIN_COVERED:
            n_bodies -= 1
            yield covered


def random_condition(rng: np.random.Generator, data: Dataset) -> Condition:
    """A value that occurs, on either side of it or equal to it."""
    column = int(rng.integers(data.X.shape[1]))
    value = float(data.X[int(rng.integers(data.n_rows)), column])
    value = 0.0 if np.isnan(value) else value
    if data.schema.features[column].is_nominal:
        return Condition(column, "=", value)
    return Condition(column, str(rng.choice(["<=", ">"])), value)


def cpu(function: Callable[[], Any]) -> tuple[float, Any]:
    best = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
        if best > LONG:
            break
    return best, result


def one_by_one(task: Task, measure: Measure, **options: Any) -> Timed:
    best_head(task.Y, task.masks[0], measure, **options)  # imports and compiles
    pairs = []
    for mask in task.masks:
        count, _ = cpu(lambda mask=mask: tally(task.Y, mask))
        search, found = cpu(lambda mask=mask: best_head(task.Y, mask, measure, **options))
        pairs.append((found, search, count))
    found, search, count = zip(*pairs, strict=True)
    return Timed(list(found), float(np.median(search)), float(np.median(count)))


def all_at_once(task: Task, measure: Measure) -> tuple[float, float]:
    """Seconds per body to find the heads of all bodies, and to count for them."""
    ones = task.Y.astype(np.float32)  # as a learner would once; sums of fewer rows are exact

    def count() -> Tally:
        inside = (task.masks.astype(np.float32) @ ones).astype(np.int64)
        covered = task.masks.sum(axis=1)[:, np.newaxis]
        total = task.Y.sum(axis=0, dtype=np.int64)
        return Tally(inside, covered - inside, total, len(task.Y) - total)

    counted = count()
    best_heads(counted, len(task.Y), measure)  # compiles
    searching, counting = [], []
    for _ in range(10):
        counting.append(cpu(count)[0])
        searching.append(cpu(lambda: best_heads(counted, len(task.Y), measure))[0])
    n_bodies = len(task.masks)
    return float(np.median(searching)) / n_bodies, float(np.median(counting)) / n_bodies


def row(*cells: Any) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def header(*cells: str) -> str:
    return f"{row(*cells)}\n{row('---', *['---:'] * (len(cells) - 1))}"


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f}" if seconds >= 1e-5 else f"{seconds * 1e6:.2f}"


def print_searches(table: dict[tuple[str, str], Timed]) -> None:
    print("\nOne by one: microseconds per body, and as a multiple of counting for it\n")
    print(header("measure", "method", *SETS))
    for measure in map(str, MEASURES):
        cells = [table[name, measure] for name in SETS]
        methods = {found.method for cell in cells for found in cell.found}
        times = [f"{microseconds(c.search)} ({c.search / c.count:.1f})" for c in cells]
        print(row(measure, " / ".join(sorted(methods)), *times))


def print_effort(table: dict[tuple[str, str], Timed]) -> None:
    print("\nHeads looked at, or nodes of branch and bound: median / maximum\n")
    print(header("measure", *SETS))
    for measure in map(str, MEASURES):
        numbers = [[found.evaluated for found in table[name, measure].found] for name in SETS]
        print(row(measure, *(f"{np.median(one):.0f} / {max(one):,}" for one in numbers)))
    gaps = [found.gap for cell in table.values() for found in cell.found]
    print(f"\nThe greatest gap of {len(gaps):,} searches is {max(gaps)}.")


def print_many(table: dict[tuple[str, str], tuple[float, float]]) -> None:
    print(
        f"\nAll {N_BODIES} bodies at once, from tallies: microseconds per body, and as a multiple"
    )
    print("of counting for all of them at once (a matrix product)\n")
    print(header("measure", *SETS))
    for measure in map(str, MEASURES):
        if (SETS[0], measure) in table:
            cells = [table[name, measure] for name in SETS]
            print(row(measure, *(f"{microseconds(s)} ({s / c:.1f})" for s, c in cells)))
    counting = [np.median([c for (of, _), (_, c) in table.items() if of == name]) for name in SETS]
    print(row("*counting alone*", *(microseconds(float(one)) for one in counting)))


def print_hard(task: Task) -> None:
    print(f"\nExample-based F1 on {task.name}, {task.Y.shape[1]} labels; the reference experiment")
    print("took 3 to 6 s per body for partial predictions\n")
    print(
        header("predictions", "absence", "median, ms", "slowest, ms", "nodes", "most nodes", "gap")
    )
    for predictions, absence in (("partial", True), ("partial", False), ("full", True)):
        times, found = [], []
        for mask in task.masks:
            text = f"f1/samples/{predictions}"
            seconds, one = cpu(
                partial(best_head, task.Y, mask, text, polarity="both" if absence else "presence")
            )
            times.append(seconds * 1e3)
            found.append(one)
        nodes = [one.evaluated for one in found]
        print(row(
            predictions, "yes" if absence else "no", f"{np.median(times):.1f}",
            f"{max(times):.1f}", f"{np.median(nodes):.0f}", max(nodes),
            max(one.gap for one in found),
        ))  # fmt: skip


def main() -> None:
    if not folder().is_dir():
        print(f"no data sets: set LABELRULES_DATA to their folder ({folder()} is not there)")
        return
    searches: dict[tuple[str, str], Timed] = {}
    many: dict[tuple[str, str], tuple[float, float]] = {}
    print(f"{N_BODIES} bodies of one or two conditions that cover at least {MIN_COVERED} rows\n")
    print(header("set", "rows", "labels", "covered, median", "counting one by one, µs"))
    for task in tasks():
        for measure in MEASURES:
            searches[task.name, str(measure)] = one_by_one(task, measure)
            if tallies_decide(measure):
                many[task.name, str(measure)] = all_at_once(task, measure)
        counts = [searches[task.name, str(measure)].count for measure in MEASURES]
        covered = int(np.median(task.masks.sum(axis=1)))
        print(row(task.name, *task.Y.shape, covered, microseconds(float(np.median(counts)))))
    print_searches(searches)
    print_effort(searches)
    print_many(many)
    print_hard(task)


if __name__ == "__main__":
    main()
