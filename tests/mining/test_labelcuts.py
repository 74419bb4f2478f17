"""Cuts of numeric features by single labels."""

import numpy as np

from labelrules.mining import items_of
from labelrules.mining.binning import label_cuts


def test_each_label_may_cut():
    x = np.arange(40.0)
    Y = np.column_stack([x >= 10, x >= 30, np.tile([0, 1], 20)]).astype(np.int8)
    assert label_cuts(x, Y, 4) == [9.0, 29.0]
    assert label_cuts(x, Y, 2) == [9.0]


def test_labels_by_chance_cut_nothing():
    rng = np.random.default_rng(0)
    n_cuts = sum(
        len(label_cuts(rng.random(100), rng.integers(0, 2, (100, 5)).astype(np.int8), 4))
        for _ in range(50)
    )
    assert n_cuts <= 3


def test_missing_and_constant_values_cut_nothing():
    Y = np.array([[0], [0], [1], [1]], dtype=np.int8)
    assert label_cuts(np.full(4, 2.0), Y, 4) == []
    assert label_cuts(np.full(4, np.nan), Y, 4) == []
    assert label_cuts(np.empty(0), Y[:0], 4) == []


def test_many_label_sets_do_not_hide_a_label():
    """With each label set as a class, hardly any cut pays; for one label it does."""
    from labelrules import Dataset, Feature, Schema

    rng = np.random.default_rng(0)
    x = rng.random((200, 1))
    Y = rng.integers(0, 2, (200, 6)).astype(np.int8)
    Y[:, 0] = (x[:, 0] > 0.5) ^ (rng.random(200) < 0.2)
    data = Dataset(Schema([Feature("x")], [f"l{j}" for j in range(6)]), x, Y)
    assert len(items_of(data, labels=False, bins="entropy")) == 0
    assert len(items_of(data, labels=False, bins="labels")) == 2
