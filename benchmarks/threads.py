"""Two threads against one: wall time of `fit`.

Two searches: that of `covering.py`, where most is kept from rule to rule and little is left to
divide, and lists of 20 rules whose heads are chosen anew with every condition. In turn, the least
of the repeats; other work on the machine makes two threads look worse than they are.
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


def wall(model: SeparateAndConquer, data: Dataset, n_jobs: int) -> float:
    model.set_params(n_jobs=n_jobs)
    start = time.perf_counter()
    model.fit(data)
    return time.perf_counter() - start


def main() -> None:
    if not have_data():
        return
    print(header("set", "search", "one thread, s", "two threads, s", "ratio"))
    for name in SETS:
        data = rounded(part(name, "train"))
        searches = {"as in covering.py": learner(data), "heads chosen anew": chosen_anew()}
        for search, model in searches.items():
            model.fit(data)  # compiles
            times = [[wall(model, data, n_jobs) for n_jobs in (1, 2)] for _ in range(REPEATS)]
            one, two = (min(column) for column in zip(*times, strict=True))
            print(row(name, search, f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}"), flush=True)


if __name__ == "__main__":
    main()
