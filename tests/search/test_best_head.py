"""The best head of every measure, against all heads in exact fractions."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import naive_heads as naive
from labelrules.measures import Formula, Measure
from labelrules.search import best_head

CONVENTIONS = ("chapter", "head-relative")
PREDICTIONS = ("partial", "full")

SHAPES = {
    # labels, rows: tables; for each beta
    (1, 2): 20,
    (2, 3): 60,
    (2, 6): 50,
    (3, 1): 30,
    (3, 3): 70,
    (3, 5): 70,
    (3, 8): 60,
    (4, 4): 60,
    (4, 6): 48,
    (5, 5): 24,
    (5, 8): 12,
}


def test_there_are_enough_tables():
    """Every measure is tried on all of them, in both conventions, with and without absence."""
    assert sum(SHAPES.values()) * len(naive.BETAS) >= 2000
    assert len(naive.CELLS) == 34


@pytest.fixture(autouse=True)
def remembered(monkeypatch):
    """Fractions are slow and the same few counts come again and again."""
    monkeypatch.setattr(Formula, "exact", cache(Formula.exact))


@pytest.mark.parametrize("predictions", PREDICTIONS)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("beta", naive.BETAS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_measure(shape, beta, convention, predictions):
    check(shape, SHAPES[shape], beta, convention, predictions)


def check(shape, n_tables, beta, convention, predictions):
    rng = np.random.default_rng([*shape, int(10 * beta)])
    tables = naive.generated(rng, n_tables, n_rows=shape[1], n_labels=shape[0])
    every = naive.AllHeads(tables, convention, predictions)
    instances = list(naive.instances(tables))
    for (name, averaging, full_or_partial), absence in product(naive.CELLS, (True, False)):
        if full_or_partial == predictions:
            formula = Formula(name, beta if name == "f" else None)
            measure = Measure(formula, averaging, predictions)
            best = every.best(name, formula.parameter, averaging, absence)
            for (Y, covered, board), expected in zip(instances, best, strict=True):
                found = best_head(Y, covered, measure, board, convention=convention, absence=absence)
                got = (tuple(found.vector.tolist()), found.value, found.gap)
                assert got == (expected.vector, expected.value, 0), (measure, Y, covered, board)
