"""The best refinement: columns divided among threads, ties, and results kept from rule to rule."""

from itertools import pairwise

import numpy as np
import pytest

from labelrules.kernels.covering.refine import BestRefinements
from labelrules.measures import Formula, register_formula
from labelrules.measures.formulas import precision
from labelrules.search.bodies import refine
from labelrules.search.bodies.best_by_column import better_of, divided
from labelrules.search.bodies.refine import is_monotone
from refinement_cases import CASES, FORMULAS, refiner_of


def best(*parts):
    scores, *others = (np.array(part) for part in parts)
    return BestRefinements(scores.astype(float), *others)


def test_score_then_right_cells_then_the_first_column():
    first = best([0.5, 0.5, 0.5, 0.5, -np.inf], [3, 3, 3, 3, -1], [4, 4, 4, 4, -1], [0] * 5)
    second = best([0.6, 0.5, 0.5, 0.5, -np.inf], [1, 4, 3, 3, -1], [9, 9, 2, 9, -1], [1] * 5)
    assert better_of(first, second).places.tolist() == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("n_threads", [1, 2, 3, 50])
@pytest.mark.parametrize("given", CASES)
def test_every_column_is_in_one_part(given, n_threads):
    chunks = divided(refiner_of(given).columns.index, n_threads)
    assert len(chunks) <= max(1, min(n_threads, 7))
    assert (chunks[0][0], chunks[-1][1]) == (0, 7)
    assert all(before[1] == after[0] for before, after in pairwise(chunks))


@pytest.mark.parametrize("largest", [1, 3])
@pytest.mark.parametrize("given", CASES)
def test_threads_find_the_same_refinement(given, largest, monkeypatch):
    monkeypatch.setattr(refine, "WORTH_A_THREAD", 0)
    results = []
    for n_threads in (1, 3):
        refiner = refiner_of(given, FORMULAS[1], largest=largest, n_threads=n_threads)
        assert (refiner.pool is None) == (n_threads == 1)
        refiner.refresh()
        choice = refiner.best_first()
        results.append(None if choice is None else (choice[:3], choice.labels.tolist()))
        if refiner.pool is not None:
            refiner.pool.shutdown()
    assert results[0] == results[1]


@pytest.mark.parametrize("given", CASES)
def test_kept_results_are_those_of_a_new_search(given):
    """After some cells of a label were written, here at random, only that label is stale."""
    rng, refiner = np.random.default_rng(3), refiner_of(given)
    refiner.refresh()
    refiner.best_first()
    for label in (0, 2, 1, 0):
        covered = rng.random(given.data.n_rows) < 0.3
        written = covered & refiner.cells.counted[0, label]
        refiner.board[label, written] = rng.integers(0, 2)
        refiner.cells.counted[0, label, written] = False
        refiner.stale[label] = True
        refiner.refresh()
        found = refiner.best_first()
        anew = refiner_of(given._replace(board=np.ascontiguousarray(refiner.board.T)))
        anew.refresh()
        expected = anew.best_first()
        assert (found is None) == (expected is None)
        if found is not None:
            assert found[:3] == expected[:3]
            assert found.labels.tolist() == expected.labels.tolist()


def test_a_formula_under_a_known_name_need_not_be_monotone():
    assert is_monotone(Formula("precision"))
    assert not is_monotone(Formula("correlation"))
    register_formula("precision", lambda tp, fp, tn, fn: fp, replace=True)
    try:
        assert not is_monotone(Formula("precision"))
    finally:
        register_formula("precision", precision, replace=True)
    assert is_monotone(Formula("precision"))
