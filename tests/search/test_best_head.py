"""The best head of every measure, against all heads in exact fractions."""

from itertools import product

import numpy as np
import pytest

import naive_heads as naive
from labelrules.measures import Formula, Measure
from labelrules.search import best_head

CONVENTIONS = ("chapter", "head-relative")
PREDICTIONS = ("partial", "full")

# Labels by rows; each shape is generated TIMES times, with another beta for F each time.
SHAPES = [(1, 2), (2, 2), (2, 4), (2, 7), (3, 1), (3, 3), (3, 5), (3, 8), (4, 4), (4, 6), (5, 5)]
SHAPES += [(5, 8)]
TIMES = 4
N_TABLES = 42
BLOCKS = list(enumerate(product(SHAPES, range(TIMES))))


def test_there_are_enough_tables():
    """Every measure is tried on all of them, in both conventions, with and without absence."""
    assert len(BLOCKS) * N_TABLES >= 2000
    assert len(naive.CELLS) == 34
    assert len(naive.BETAS) == TIMES


@pytest.mark.parametrize("predictions", PREDICTIONS)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(("seed", "block"), BLOCKS, ids=str)
def test_every_measure(seed, block, convention, predictions):
    (n_labels, n_rows), turn = block
    rng = np.random.default_rng(seed)
    tables = naive.generated(rng, N_TABLES, n_rows, n_labels)
    check(tables, convention, predictions, naive.BETAS[turn])


def check(tables, convention, predictions, beta):
    every = naive.AllHeads(tables, convention, predictions)
    instances = list(naive.instances(tables))
    for name, averaging, absence in product(
        ("precision", "recall", "hamming", "f", "subset"),
        ("micro", "label", "example", "macro"),
        (True, False),
    ):
        if (name, averaging, predictions) in naive.CELLS:
            formula = Formula(name, beta if name == "f" else None)
            measure = Measure(formula, averaging, predictions)
            best = every.best(name, formula.parameter, averaging, absence)
            for (Y, covered, board), expected in zip(instances, best, strict=True):
                found = best_head(Y, covered, measure, board, convention=convention, absence=absence)
                got = (tuple(found.vector.tolist()), found.value, found.gap)
                assert got == (expected.vector, expected.value, 0), (measure, Y, covered, board)
