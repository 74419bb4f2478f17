"""Learning with unknown labels, against taking unknown labels for absent ones.

Of six benchmarks some shares of the training cells are deleted at random, with three seeds. Each
learner is fitted once with the deleted cells unknown, and once with them absent, which is what is
left without support for unknown labels; the test part is complete. Micro-F1, means of the seeds.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import warnings
from dataclasses import replace
from statistics import mean

import numpy as np
from parts.sets import have_data, part
from parts.tables import header, row

from labelrules import UNSET, Dataset, Measure
from labelrules.learners import BinaryRelevance, Scorecard, SeparateAndConquer

SETS = ("flags", "emotions", "birds", "genbase", "medical", "yeast")
SHARES = (0.1, 0.3, 0.5)
SEEDS = (0, 1, 2)
LEARNERS = {
    "list": SeparateAndConquer(),
    "BR": BinaryRelevance(),
    "scorecard": Scorecard(),
}
F1 = Measure.parse("f1/micro/full")


def quality(learner: object, train: Dataset, test: Dataset) -> float:
    """Micro-F1 on the test part."""
    return F1.of_predictions(test.Y, learner.fit(train).predict(test))


def both(learner: object, train: Dataset, test: Dataset, share: float) -> tuple[float, float]:
    """With deleted cells unknown, and with them absent."""
    values = []
    for seed in SEEDS:
        hidden = np.random.default_rng(seed).random(train.Y.shape) < share
        values.append([
            quality(learner, replace(train, Y=np.where(hidden, value, train.Y)), test)
            for value in (UNSET, np.int8(0))
        ])  # fmt: skip
    unknown, absent = zip(*values, strict=True)
    return mean(unknown), mean(absent)


def main() -> None:
    """Print a table."""
    warnings.simplefilter("ignore")
    columns = [f"{name}, {one}" for name in LEARNERS for one in ("unknown", "absent")]
    print(header("set", "deleted", *columns))
    for name in SETS:
        train, test = part(name, "train"), part(name, "test")
        whole = [quality(learner, train, test) for learner in LEARNERS.values()]
        print(row(name, "0%", *(f"{value:.3f}" for value in whole for _ in range(2))), flush=True)
        for share in SHARES:
            values = [both(learner, train, test, share) for learner in LEARNERS.values()]
            cells = (f"{one:.3f}" for pair in values for one in pair)
            print(row(name, f"{share:.0%}", *cells), flush=True)


if __name__ == "__main__" and have_data():
    main()
