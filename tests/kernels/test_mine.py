"""Frequent sets of items, against every set counted in every row."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules.kernels.mining.bits import count_extensions
from labelrules.mining import frequent_itemsets, items_of
from tables import tables
from twins.mining import closed_sets, frequent_sets, item_masks, maximal_sets, wide_table


def expected(items, data, minimum, longest, kind):
    sets = frequent_sets(item_masks(items, data), minimum)
    chosen = {"all": dict, "closed": closed_sets, "maximal": maximal_sets}[kind](sets)
    return {one: n for one, n in chosen.items() if longest is None or len(one) <= longest}


@settings(max_examples=150)
@given(
    tables(storage=("dense", "sparse"), max_features=3),
    st.integers(1, 4),
    st.one_of(st.none(), st.integers(1, 5)),
    st.sampled_from(["all", "closed", "maximal"]),
    st.booleans(),
)
def test_every_set_is_found_once_with_its_rows(data, minimum, longest, kind, absence):
    items = items_of(data, absent_items=absence, bins="width", n_bins=2)
    found = frequent_itemsets(items, minimum, max_conditions=longest, kind=kind).as_tuples()
    assert len(found) == len(dict(found))
    assert dict(found) == expected(items, data, minimum, longest, kind)


@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
@pytest.mark.parametrize("seed", range(3))
def test_sets_over_several_words(kind, seed):
    data = wide_table(seed)
    items = items_of(data)
    for minimum in (10, 40, 150):
        found = dict(frequent_itemsets(items, minimum, kind=kind).as_tuples())
        assert found == expected(items, data, minimum, None, kind)


@given(st.data(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(1, 3))
def test_extensions_are_counted_in_all_blocks(drawn, n_blocks, n_items, n_words, size):
    n_all = n_blocks * n_items * n_words
    words = drawn.draw(st.lists(st.integers(0, 2**64 - 1), min_size=n_all, max_size=n_all))
    blocks = np.array(words, dtype=np.uint64).reshape(n_blocks, n_items, n_words)
    sets = [*combinations(range(n_items), size)]
    stop, expected = [], []
    for number, one in enumerate(sets):
        alike = [other for other in sets[number + 1 :] if other[:-1] == one[:-1]]
        stop.append(number + 1 + len(alike))
        for other in alike:
            rows = np.bitwise_and.reduce(blocks[:, [*one, other[-1]]], axis=1)
            expected.append(sum(word.bit_count() for word in rows.ravel().tolist()))
    counts = np.zeros(len(expected), np.int64)
    given_sets = np.array(sets, dtype=np.int32).reshape(-1, size)
    count_extensions(blocks, given_sets, np.array(stop, dtype=np.int64), counts)
    assert counts.tolist() == expected
