"""How well learners made of single-label learners predict, on the chapter's data sets.

The same sets, splits and figures as in `quality.py`. CPU time of one fit, compiling not counted;
for an ensemble rules, literals and conditions are those of all its chains.
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
    Ripper,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
)

BASES = {"RIPPER": Ripper(), "separate-and-conquer": SeparateAndConquer()}
PLAIN: dict[str, Callable[[], Any]] = {
    "separate-and-conquer": SeparateAndConquer,
    "scorecard": Scorecard,
}
LAYERED: dict[str, Callable[[Any], Any]] = {
    "BR": BinaryRelevance,
    "BR, last resort": lambda base: BinaryRelevance(base, last_resort=0.4),
    "chain": ClassifierChain,
    "chain, last resort": lambda base: ClassifierChain(base, last_resort=0.4),
    "SBR on true labels": lambda base: StackedBinaryRelevance(
        base, labels_from="truth", last_resort=None
    ),
    "SBR": StackedBinaryRelevance,
    "SBR, every label anew": lambda base: StackedBinaryRelevance(
        base, alpha=None, last_resort=None
    ),
    "SBR, every label anew, own label, last resort": lambda base: StackedBinaryRelevance(
        base, own_label=True, alpha=None
    ),
    "ten chains that vote": lambda base: ClassifierChain(base, n_chains=10),
}
"""What is compared, by name."""


def measured(name: str, model: Any) -> list[float]:
    """Qualities on the test part; rules, literals, conditions and CPU seconds."""
    train, test = part(name, "train"), part(name, "test")
    start = time.process_time()
    model.fit(train)
    seconds = time.process_time() - start
    found = qualities(test.Y, np.asarray(model.predict(test)))
    return [*found, *sizes(model), seconds]


def sizes(model: Any) -> list[int]:
    """The numbers of rules, literals and conditions, of all theories together."""
    theories = [model.theory_] if hasattr(model, "theory_") else getattr(model, "theories_", [])
    found = [(len(theory), theory.n_literals, theory.n_conditions) for theory in theories]
    return [sum(numbers) for numbers in zip(*found, strict=True)] or [0, 0, 0]


def main() -> None:
    if not have_data():
        return
    SeparateAndConquer().fit(part("flags", "train"))  # compiles
    print(header(
        "learner", "micro-F1", "example-F1", "subset acc.", "Hamming acc.", "rules", "literals",
        "conditions", "CPU s",
    ))  # fmt: skip
    for title, make in PLAIN.items():
        print_row(title, make)
    for below, base in BASES.items():
        for title, made in LAYERED.items():
            print_row(f"{title} ({below})", lambda made=made, base=base: made(base))
    print_row("powerset (separate-and-conquer)", lambda: LabelPowerset(
        SeparateAndConquer(polarity="presence", label_conditions=False)
    ))  # fmt: skip


def print_row(title: str, make: Callable[[], Any]) -> None:
    """Means over the sets; sizes and seconds of all of them."""
    found = np.array([measured(name, make()) for name in SETS])
    cells = [f"{mean:.3f}" for mean in found[:, :4].mean(axis=0)]
    *sums, seconds = found[:, 4:].sum(axis=0)
    print(row(title, *cells, *(f"{size:.0f}" for size in sums), f"{seconds:.1f}"), flush=True)


if __name__ == "__main__":
    main()
