"""How well classifiers made of association rules predict, on the chapter's data sets.

The same sets, splits and figures as in `quality.py`, first set by set, then the means. CPU time of
one fit and of predicting the test part, compiling not counted. The lazy classifier has no list:
its rules are made for each row, so there is no size to count.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from layers import sizes
from parts.sets import have_data, part
from parts.tables import header, row
from quality import SETS, qualities

from labelrules.learners import SeparateAndConquer
from labelrules.mining import AssociativeClassifier, LazyAssociativeClassifier

MODELS: dict[str, Callable[[], Any]] = {
    "separate-and-conquer": SeparateAndConquer,
    "associative": AssociativeClassifier,
    "associative, by plain confidence": lambda: AssociativeClassifier(m=0),
    "lazy associative": LazyAssociativeClassifier,
    "lazy associative, single items": lambda: LazyAssociativeClassifier(max_conditions=1),
}
"""What is compared, by name."""


def measured(name: str, model: Any) -> list[float]:
    """Qualities on the test part; sizes, CPU seconds to fit and to predict."""
    train, test = part(name, "train"), part(name, "test")
    start = time.process_time()
    model.fit(train)
    fitted = time.process_time()
    predicted = np.asarray(model.predict(test))
    seconds = [fitted - start, time.process_time() - fitted]
    return [*qualities(test.Y, predicted), *sizes(model), *seconds]


def print_row(title: str, found: Any) -> None:
    cells = [f"{value:.3f}" for value in found[:4]]
    cells += [f"{size:.0f}" for size in found[4:7]]
    cells += [f"{seconds:.2f}" for seconds in found[7:]]
    print(row(title, *cells), flush=True)


def main() -> None:
    if not have_data():
        return
    for make in MODELS.values():  # compiles
        make().fit(part("flags", "train")).predict(part("flags", "test"))
    columns = (
        "micro-F1", "example-F1", "subset acc.", "Hamming acc.", "rules", "literals", "conditions",
    )  # fmt: skip
    for title, make in MODELS.items():
        print(f"\n{title}\n\n{header('set', *columns, 'fit, CPU s', 'predict, CPU s')}")
        found = np.array([measured(name, make()) for name in SETS])
        for name, of_set in zip(SETS, found, strict=True):
            print_row(name, of_set)
        print_row("mean, sum", [*found[:, :4].mean(axis=0), *found[:, 4:].sum(axis=0)])


if __name__ == "__main__":
    main()
