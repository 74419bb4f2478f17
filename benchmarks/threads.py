"""Two threads against one: wall time of `fit`.

Columns are divided among threads in passes over enough entries. Three searches: the default
learner, that of `covering.py`, and lists of 20 rules whose heads are chosen anew with every
condition. In turn, the least of the repeats. Other work on the machine makes two threads look worse
than they are, so the table also has the cores that they had: CPU time by wall time.
"""

import time

from covering import learner, rounded
from parts.sets import have_data, part
from parts.tables import header, row

from labelrules import Dataset
from labelrules.learners import SeparateAndConquer

SETS = ("scene", "yeast")
REPEATS = 9


def chosen_anew() -> SeparateAndConquer:
    return SeparateAndConquer(
        heads="multi", measure="f0.5", polarity="both", fixed_head=False, label_conditions=False,
        min_coverage=1, pruning=None, last_resort=None, max_rules=20,
    )  # fmt: skip


def timed(model: SeparateAndConquer, data: Dataset, n_jobs: int) -> tuple[float, float]:
    """Wall time, and the cores in use."""
    model.set_params(n_jobs=n_jobs)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(data)
    seconds = time.perf_counter() - wall
    return seconds, (time.process_time() - cpu) / seconds


def main() -> None:
    if not have_data():
        return
    print(header("set", "search", "one thread, s", "cores", "two threads, s", "cores", "ratio"))
    for name in SETS:
        data = rounded(part(name, "train"))
        searches = {
            "default": SeparateAndConquer(),
            "as in covering.py": learner(data),
            "heads chosen anew": chosen_anew(),
        }
        for search, model in searches.items():
            model.fit(data)  # compiles
            runs = [[timed(model, data, n_jobs) for n_jobs in (1, 2)] for _ in range(REPEATS)]
            one, two = (min(column) for column in zip(*runs, strict=True))
            cells = [text for run in (one, two) for text in (f"{run[0]:.3f}", f"{run[1]:.2f}")]
            print(row(name, search, *cells, f"{one[0] / two[0]:.2f}"), flush=True)


if __name__ == "__main__":
    main()
