"""Frequent sets of items, against every set counted in every row."""

import numpy as np
import pytest

from labelrules import Dataset, dataset, load
from labelrules.mining import frequent_itemsets, items_of, itemset_batches, itemsets
from labelrules.mining.limits import minimum_count
from twins.mining import wide_table


def test_the_order_of_rows_does_not_matter():
    data = wide_table(0)
    turned = data.take(np.random.default_rng(0).permutation(data.n_rows))
    for kind in ("all", "closed", "maximal"):
        one, other = (frequent_itemsets(d, 20, kind=kind).as_tuples() for d in (data, turned))
        assert one == other


def test_batches_together_are_the_whole(monkeypatch):
    monkeypatch.setattr(itemsets, "BATCH", 16)
    data = wide_table(1)
    whole = frequent_itemsets(data, 10)
    batches = list(itemset_batches(data, 10))
    assert len(batches) > 3
    assert [one for batch in batches for one in batch] == list(whole)
    assert whole.stopped is None


@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
def test_small_rooms_change_nothing(monkeypatch, kind):
    """The stack and the space for results begin small and grow."""
    data = wide_table(2)
    whole = frequent_itemsets(data, 10, kind=kind).as_tuples()
    monkeypatch.setattr(itemsets, "BATCH", 2)
    usual = itemsets.new_stack
    monkeypatch.setattr(itemsets, "new_stack", lambda n: usual(n, n_entries=2, n_words=2))
    assert frequent_itemsets(data, 10, kind=kind).as_tuples() == whole


def test_a_search_that_finds_too_much_stops_and_says_so():
    data = wide_table(0)
    with pytest.warns(RuntimeWarning, match="more than 50 sets"):
        found = frequent_itemsets(data, 10, max_sets=50)
    assert len(found) == 50
    assert found.stopped == "there are more than 50 sets (max_sets)"
    assert "not all of them: there are more than 50 sets" in str(found)


def test_just_as_many_as_allowed_is_no_stop():
    data = wide_table(0)
    whole = frequent_itemsets(data, 10)
    assert frequent_itemsets(data, 10, max_sets=len(whole)).stopped is None


def test_a_search_that_needs_too_much_memory_stops_and_says_so():
    data = dataset(np.ones((64, 22)), np.ones((64, 1), dtype=int))
    with pytest.warns(RuntimeWarning, match="more than 16 MB are needed"):
        found = frequent_itemsets(data, 64, max_memory=16, max_sets=10**9)
    assert found.sets.values.nbytes + found.sets.start.nbytes < 16 << 20
    assert found.stopped == "more than 16 MB are needed (max_memory)"


def test_a_search_that_looks_at_too_much_stops_and_says_so():
    """On the way to the maximal sets of dense tables there are closed ones without number.

    The limits counted what was found alone: with 60 items in four of five rows the search found
    a set now and then, and did not come back.
    """
    dense = (np.random.default_rng(0).random((300, 60)) < 0.8).astype(float)
    data = dataset(dense, np.zeros((300, 1), dtype=int))
    with pytest.warns(RuntimeWarning, match=r"more than 2,000 sets to visit \(max_visited\)"):
        found = frequent_itemsets(data, 1, kind="maximal", max_visited=2000)
    assert found.stopped == "there are more than 2,000 sets to visit (max_visited)"
    assert found.stopped in str(found)


def test_just_as_much_to_look_at_as_allowed_is_no_stop():
    """Three items that are never together are three sets to look at."""
    data = dataset(np.eye(3), np.zeros((3, 1), dtype=int))
    assert frequent_itemsets(data, 1, kind="maximal", max_visited=3).stopped is None
    with pytest.warns(RuntimeWarning, match="max_visited"):
        assert len(frequent_itemsets(data, 1, kind="maximal", max_visited=2)) == 2


@pytest.mark.parametrize("kind", ["all", "closed"])
def test_what_is_found_as_it_is_looked_at_needs_no_second_limit(kind):
    found = frequent_itemsets(wide_table(0), 20, kind=kind, max_visited=1)
    assert found.stopped is None
    assert len(found) > 1


def test_supports_are_shares_or_numbers():
    assert minimum_count(0.07, 100) == 7  # where floats would give 8
    assert minimum_count(0.075, 100) == 8
    assert minimum_count(1.0, 10) == 10
    assert minimum_count(1, 10) == 1
    assert minimum_count(1e-9, 10) == 1
    found = frequent_itemsets(load("magazines"), 0.5)
    assert found.minimum == 7
    assert found.share.tolist() == [0.5, 9 / 14]


def test_sets_are_read_in_several_ways():
    data = load("magazines")
    found = frequent_itemsets(data, 4, max_conditions=2)
    assert next(iter(found)) == found[0]
    assert found[-1] == list(found)[-1]
    for number in range(len(found)):
        covered = found.body(number).covers(data.X, data.Y)
        assert covered.sum() == found.support[number]
    frame = found.to_frame()
    assert frame.columns.tolist() == ["items", "support", "rows", "length"]
    assert len(frame) == len(found)
    with pytest.raises(IndexError, match="none with the number"):
        found[len(found)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_support": 0}, "of at least 1 or a share"),
        ({"min_support": 0.0}, "above 0"),
        ({"min_support": 1.5}, "up to 1.0"),
        ({"min_support": float("nan")}, "above 0"),
        ({"min_support": "1"}, "min_support must be a whole number"),
        ({"kind": "close"}, "did you mean 'closed'"),
        ({"max_conditions": 0}, "max_conditions must be a whole number of at least 1"),
        ({"max_sets": 0}, "max_sets must be a whole number"),
        ({"max_memory": 0.5}, "max_memory must be a whole number"),
    ],
)
def test_malformed_requests_are_refused_before_anything_is_searched(settings, message):
    with pytest.raises(ValueError, match=message):
        itemset_batches(load("magazines"), **settings)


def test_numeric_features_alone_need_bins():
    data = dataset([[0.5, 1.5], [2.5, 3.5]], [[1], [0]])
    with pytest.raises(ValueError, match=r"numeric .* give bins=.* or 'labels', or features=F"):
        frequent_itemsets(data, 1)
    assert len(frequent_itemsets(data, 1, features=False)) == 1
    assert len(frequent_itemsets(data, 1, bins="width", n_bins=2)) == 10


def test_yeast_by_quartiles_has_as_many_sets_as_others_find(data_folder):
    """The 206 lower and upper quarters of yeast's features, and its labels: PyFIM's number."""
    data = load("yeast", data_folder, part="train")
    X = np.asarray(data.X)
    low, high = np.quantile(X, [0.25, 0.75], axis=0)
    quarters = dataset(np.hstack([low > X, high <= X]).astype(float), data.Y)
    assert len(items_of(quarters)) == 220
    assert len(frequent_itemsets(quarters, 0.05, max_conditions=3)) == 51_991


def test_a_table_without_rows_has_no_sets():
    data = load("magazines").take([])
    assert len(frequent_itemsets(data, 1)) == 0
    assert isinstance(data, Dataset)


def test_batches_that_are_handed_over_take_no_memory():
    """More sets than fit into a megabyte come through it."""
    data = dataset(np.ones((64, 16)), np.ones((64, 1), dtype=int))
    batches = itemset_batches(data, 64, max_memory=16, max_sets=10**9)
    assert sum(len(batch) for batch in batches) == 2**17 - 1
