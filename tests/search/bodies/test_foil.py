"""Rows divided at random, and bodies grown by FOIL's gain; lists are compared with a twin."""

import numpy as np

from labelrules import load
from labelrules.search.bodies.foil import FoilSearch, SplitMix64
from labelrules.search.bodies.sorted_columns import SortedColumns


def a_search():
    return FoilSearch(SortedColumns.of(load("magazines")))


def test_rows_are_divided_by_class_into_folds():
    search = a_search()
    classes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    left = np.arange(14) != 13
    growing, held = search.divide(classes, left, 3, SplitMix64(7))
    assert not (growing & held).any()
    np.testing.assert_array_equal(growing | held, left)
    assert (growing.sum(), held.sum()) == (8, 5)
    assert held[:6].sum() == 2
    other = search.divide(classes, left, 3, SplitMix64(8))[0]
    assert (growing != other).any()


def test_the_known_numbers_of_splitmix():
    """The first outputs for the seed 1234567, without the last bit."""
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert SplitMix64(1234567).draw(3).tolist() == [number >> 1 for number in known]
    random = SplitMix64(1234567)
    assert [random.draw(1)[0] for _ in range(3)] == [number >> 1 for number in known]


def test_the_division_does_not_depend_on_the_order_of_rows():
    readers, order = load("magazines"), np.random.default_rng(0).permutation(14)
    classes, left = readers.Y[:, 1].astype(np.int64), np.ones(14, dtype=np.bool_)
    shuffled = FoilSearch(SortedColumns.of(readers.take(order.tolist())))
    here = a_search().divide(classes, left, 3, SplitMix64(1))
    there = shuffled.divide(classes[order], left, 3, SplitMix64(1))
    rows = [sorted(map(tuple, readers.X[part].tolist())) for part in here]
    assert rows == [sorted(map(tuple, readers.X[order][part].tolist())) for part in there]


def test_a_body_has_no_condition_that_a_later_one_implies():
    """A repeated cut is one condition, and a body covers the rows that its cuts cover."""
    readers = load("magazines")
    positive = np.isin(np.arange(14), (0, 1, 2))
    search = a_search()
    cuts = search.grow(positive, np.ones(14, dtype=np.bool_), least=1)
    body = search.body(np.concatenate([cuts, cuts]))
    assert body.conditions == search.body(cuts).conditions
    covered, counts = search.covered_by(cuts, np.ones(14, dtype=np.bool_), positive)
    assert covered[-1].tolist() == body.covers(readers.X, readers.empty_board()).tolist()
    assert counts[:, -1].tolist() == [covered[-1].sum(), (covered[-1] & positive).sum()]
