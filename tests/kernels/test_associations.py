"""Rules with labels in their heads, against every rule counted in every row."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules.mining import association_rules, items_of
from tables import tables
from twins import mining as naive

VALUES = {"presence": (1,), "absence": (0,), "both": (0, 1)}


def as_dict(rules):
    found = {
        (tuple(rules.body[r]), tuple(rules.head[r])): (int(rules.n_body[r]), int(rules.n_both[r]))
        for r in range(len(rules))
    }
    assert len(found) == len(rules)
    return found


@settings(max_examples=150)
@given(
    tables(storage=("dense", "sparse")),
    st.integers(1, 4),
    st.sampled_from([0, 0.3, 0.5, 1]),
    st.sampled_from(["features", "labels", "both"]),
    st.sampled_from(["presence", "absence", "both"]),
    st.integers(1, 3),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
)
def test_every_rule_is_found_once_with_its_rows(
    data, minimum, confidence, bodies, polarity, max_head, max_conditions, counting
):
    items = items_of(
        data,
        absent_items=True,
        bins="frequency",
        n_bins=2,
        features=bodies != "labels",
        labels=bodies != "features",
    )
    if not len(items):
        return
    rules = association_rules(
        data,
        minimum,
        confidence,
        heads="multi" if max_head > 1 else "single",
        max_head=max_head,
        polarity=polarity,
        bodies=bodies,
        max_conditions=max_conditions,
        items=items,
        correction="holm" if counting else None,
    )
    expected = naive.rules(
        items, data, minimum, Fraction(str(confidence)), VALUES[polarity], max_conditions, max_head
    )
    assert as_dict(rules) == expected
    for r in range(len(rules)):
        head = rules.head[r]
        assert rules.n_head[r] == naive.holds_in(data.Y, head).sum()
        covered = rules[r].body.covers(data.X, data.Y)
        right = [int((covered & naive.holds_in(data.Y, [code])).sum()) for code in head]
        assert [evidence.right for evidence in rules[r].evidence] == right


@pytest.mark.parametrize("heads", ["single", "multi"])
@pytest.mark.parametrize("seed", range(2))
def test_rules_over_several_words(heads, seed):
    data = naive.wide_table(seed, n_labels=4)
    items = items_of(data)
    rules = association_rules(
        data, 20, 0.4, heads=heads, polarity="both", bodies="both", items=items, max_conditions=3
    )
    longest = 3 if heads == "multi" else 1
    expected = naive.rules(items, data, 20, Fraction("0.4"), (0, 1), 3, longest)
    assert as_dict(rules) == expected
    assert len(expected) > 100


@settings(max_examples=100)
@given(tables(max_rows=12), st.integers(1, 3), st.integers(1, 2))
def test_productive_and_nonredundant_rules(data, minimum, max_head):
    items = items_of(data, absent_items=True, bins="width", n_bins=2, labels=False)
    if not len(items):
        return
    masks = naive.item_masks(items, data)
    common = {"heads": "multi", "max_head": max_head, "polarity": "both", "items": items}
    every = as_dict(association_rules(data, minimum, 0, **common))
    productive = association_rules(data, minimum, 0, productive=True, **common)
    assert as_dict(productive) == {
        rule: counts for rule, counts in every.items() if naive.is_productive(masks, data.Y, *rule)
    }
    nonredundant = association_rules(data, minimum, 0, nonredundant=True, **common)
    assert as_dict(nonredundant) == {
        rule: counts for rule, counts in every.items() if naive.is_nonredundant(masks, rule[0])
    }


def test_bodies_are_counted_though_they_have_no_rules():
    """The number of tests is that of all frequent bodies, times that of all frequent heads."""
    data = naive.wide_table(0, n_labels=3)
    items = items_of(data, labels=False)
    rules = association_rules(data, 60, 0.99, items=items, max_conditions=3, correction="holm")
    n_bodies = len(naive.frequent_sets(naive.item_masks(items, data), 60, 3))
    n_heads = int((data.Y.sum(axis=0) >= 60).sum())
    assert rules.n_tests == n_bodies * n_heads
    assert 0 < n_heads < 4
    assert np.isfinite(rules.corrected).all()
