"""How well learners made of single-label learners predict, on the chapter's data sets.

The same sets, splits and figures as in `quality.py`. CPU time of one fit, compiling not counted;
for an ensemble the conditions are those of all its chains.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from parts.sets import have_data, part
from parts.tables import header, row
from quality import SETS, qualities

from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    LabelPowerset,
    SeparateAndConquer,
    StackedBinaryRelevance,
)

BASE = SeparateAndConquer()
MODELS: dict[str, Callable[[], Any]] = {
    "separate-and-conquer": SeparateAndConquer,
    "BR": lambda: BinaryRelevance(BASE),
    "BR, last resort": lambda: BinaryRelevance(BASE, last_resort=0.4),
    "chain": lambda: ClassifierChain(BASE),
    "chain, last resort": lambda: ClassifierChain(BASE, last_resort=0.4),
    "chain by dependence, last resort": lambda: ClassifierChain(
        BASE, order="dependence", last_resort=0.4
    ),
    "SBR on true labels": lambda: StackedBinaryRelevance(BASE, labels_from="truth"),
    "SBR": lambda: StackedBinaryRelevance(BASE),
    "SBR, own label, last resort": lambda: StackedBinaryRelevance(
        BASE, own_label=True, last_resort=0.4
    ),
    "label powerset": lambda: LabelPowerset(
        SeparateAndConquer(polarity="presence", label_conditions=False)
    ),
    "ten chains": lambda: ClassifierChain(BASE, n_chains=10, last_resort=0.3),
}
"""What is compared, by name."""


def measured(name: str, model: Any) -> list[float]:
    """Qualities on the test part; conditions and CPU seconds."""
    train, test = part(name, "train"), part(name, "test")
    start = time.process_time()
    model.fit(train)
    seconds = time.process_time() - start
    found = qualities(test.Y, np.asarray(model.predict(test)))
    return [*found, n_conditions(model), seconds]


def n_conditions(model: Any) -> int:
    theories = [model.theory_] if hasattr(model, "theory_") else getattr(model, "theories_", [])
    return sum(len(rule.body) for theory in theories for rule in theory)


def main() -> None:
    if not have_data():
        return
    SeparateAndConquer().fit(part("flags", "train"))  # compiles
    print(header(
        "learner", "micro-F1", "example-F1", "subset acc.", "Hamming acc.", "conditions", "CPU s",
    ))  # fmt: skip
    for title, make in MODELS.items():
        found = np.array([measured(name, make()) for name in SETS])
        cells = [f"{mean:.3f}" for mean in found[:, :4].mean(axis=0)]
        conditions, seconds = found[:, 4:].sum(axis=0)
        print(row(title, *cells, f"{conditions:.0f}", f"{seconds:.1f}"), flush=True)


if __name__ == "__main__":
    main()
