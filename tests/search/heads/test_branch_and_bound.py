"""Branch and bound that ends early says how much may be missing, and is never wrong about it."""

from itertools import product

import numpy as np
import pytest

from labelrules.search import best_head, kln
from twins import heads as naive

POLARITY = naive.POLARITY


def complement_pairs(seed, n_labels, n_pairs):
    """Rows and their opposites: only heads right on half of every row reach the bound."""
    rows = np.random.default_rng(seed).integers(0, 2, (n_pairs, n_labels))
    return np.vstack([rows, 1 - rows])


def best_f(Y, predictions, absence, beta=1.0):
    """The greatest example-based F of any head when all rows are covered."""
    states = (0, 1) if predictions == "full" else (-1, 0, 1) if absence else (-1, 1)
    heads = np.array(list(product(states, repeat=Y.shape[1])))
    right = (heads == 1) @ Y.T + (heads == 0) @ (1 - Y).T
    share = right / np.maximum((heads != -1).sum(axis=1, keepdims=True), 1)
    return ((1 + beta**2) * share / (1 + beta**2 * share)).mean(axis=1).max()


def check_limits(Y, predictions, absence, limits, board=None):
    everywhere = np.ones(len(Y), dtype=bool)
    optimum = best_f(Y, predictions, absence)
    missing = []
    for max_nodes in limits:
        found = best_head(
            Y,
            everywhere,
            f"f1/samples/{predictions}",
            board,
            polarity=POLARITY[absence],
            max_nodes=max_nodes,
        )
        assert found.gap >= 0
        assert float(found.value) <= optimum + 1e-12 <= float(found.value) + found.gap + 2e-12
        missing.append(found.gap)
    return missing


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("predictions", "absence"), [("full", True), ("partial", False)])
def test_a_limit_leaves_a_certified_gap(seed, predictions, absence):
    Y = complement_pairs(seed, n_labels=9, n_pairs=3)
    gaps = check_limits(Y, predictions, absence, limits=(1, 10, 100, 100_000))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == 0


def test_absence_too():
    Y = complement_pairs(4, n_labels=7, n_pairs=3)
    gaps = check_limits(Y, "partial", True, limits=(1, 10, 100, 100_000))
    assert gaps[-1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("predictions", "absence"), [("full", True), ("partial", False)])
def test_sixteen_labels_and_six_rows(seed, predictions, absence):
    """Full predictions need some 18,000 nodes of the 65,536 there are."""
    Y = complement_pairs(seed, n_labels=16, n_pairs=3)
    gaps = check_limits(Y, predictions, absence, limits=(1, 30, 300, 3000, 100_000))
    assert gaps[-1] == 0


def instances_with_best(text, absence, bonus=None):
    name, averaging, predictions = text.split("/")
    tables = naive.generated(np.random.default_rng(7), 18, 8, 4)
    every = naive.AllHeads(tables, "chapter", predictions)
    factors = [bonus(max(size, 1)) for size in range(5)] if bonus else None
    best = every.best(name, 1.0 if name == "f" else None, averaging, absence, factors=factors)
    return zip(naive.instances(tables), best, strict=True)


@pytest.mark.parametrize("max_nodes", [0, 1, 5, 20])
@pytest.mark.parametrize("absence", [True, False])
@pytest.mark.parametrize("predictions", ["partial", "full"])
@pytest.mark.parametrize("name", ["precision", "recall", "hamming", "f", "subset"])
def test_the_gap_of_every_measure(name, predictions, absence, max_nodes):
    """Also of the general search, which takes boards on which single cells are written."""
    text = f"{name}/samples/{predictions}"
    for (Y, covered, board), best in instances_with_best(text, absence):
        found = best_head(Y, covered, text, board, polarity=POLARITY[absence], max_nodes=max_nodes)
        assert found.gap >= 0
        assert found.value <= best.value
        assert float(best.value) <= float(found.value) + found.gap + 1e-12


@pytest.mark.parametrize("name", ["precision", "f"])
@pytest.mark.parametrize("scale", [1.0, 1e9, 1e-9])
def test_the_gap_is_in_values_with_bonus(name, scale):
    text = f"{name}/samples/partial"

    def bonus(size):
        return scale * kln(0.5)(size)

    seen = set()
    for (Y, covered, board), best in instances_with_best(text, True, bonus):
        for max_nodes in (1, 10, 100_000):
            found = best_head(Y, covered, text, board, size_bonus=bonus, max_nodes=max_nodes)
            assert best.lifted <= (found.value_with_bonus + found.gap) * (1 + 1e-12)
            seen.add(found.gap > 0)
        assert found.gap == 0
        assert found.value == best.value
    assert seen == {True, False}
