"""The smallest change of a row that changes a label."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import Dataset, Feature, LayeredTheory, Schema, load, parse
from labelrules.inspection import counterfactual
from labelrules.inspection.moves import just_above
from labelrules.rules import Gibbs, LabelByLabel, Once, UntilStable
from naive_counterfactual import fewest, naive_change, predicted
from theories import decision_lists, rule_sets, theories

SCHEMA = Schema(
    [Feature("a"), Feature("b", ("x", "y", "z")), Feature("c"), Feature("d", ("u", "v"))],
    ["k", "l", "m"],
)
THRESHOLDS = st.sampled_from([0.0, 1.0, 1.5, 4.0])
ROWS = st.tuples(
    st.sampled_from([-1.0, 0.0, 1.2, 9.0, np.nan]),
    st.sampled_from([0.0, 1.0, 2.0, np.nan]),
    st.sampled_from([-1.0, 1.0, 1.6, np.nan]),
    st.sampled_from([0.0, 1.0, np.nan]),
).map(np.array)
FIXED = st.sets(st.integers(0, 3), max_size=2)


@st.composite
def layered(draw, ways=st.just(Once()), max_size=5):
    layers = draw(st.lists(theories(SCHEMA, THRESHOLDS, max_size), min_size=1, max_size=3))
    rules = [r for r in draw(decision_lists(SCHEMA, THRESHOLDS, 2)) if not r.body.on_labels]
    fallback = type(parse("", SCHEMA))(SCHEMA, rules) if draw(st.booleans()) else None
    return LayeredTheory(SCHEMA, layers, draw(ways), fallback)


def check(theory, values, label, fixed=frozenset()):
    """The search finds what trying everything finds, and what it finds does what it says."""
    data = Dataset(SCHEMA, values[None, :], np.zeros((1, 3)))
    names = [SCHEMA.feature_names[column] for column in fixed]
    found = counterfactual(theory, data, SCHEMA.labels[label], fixed=names, limit=10**6)
    expected = naive_change(theory, values, label, fixed)
    assert found.predicted == predicted(theory, [values])[0, label]
    assert fewest(theory, values, label, fixed) == (expected and len(expected))
    if expected is None:
        assert (found.status, found.moves) == ("impossible", ())
        return
    after = values.copy()
    after[list(expected)] = list(expected.values())
    np.testing.assert_array_equal(found.values, after)
    assert found.status == "found"
    assert [move.feature for move in found.moves] == [
        SCHEMA.feature_names[column] for column in sorted(expected)
    ]
    assert predicted(theory, [found.values])[0, label] == 1 - found.predicted


@settings(max_examples=300)
@given(decision_lists(SCHEMA, THRESHOLDS), ROWS, st.integers(0, 2), FIXED)
def test_lists_equal_brute_force(theory, values, label, fixed):
    check(theory, values, label, fixed)


@settings(max_examples=150)
@given(rule_sets(SCHEMA, THRESHOLDS), ROWS, st.integers(0, 2), FIXED)
def test_votes_equal_brute_force(theory, values, label, fixed):
    check(theory, values, label, fixed)


@settings(max_examples=200)
@given(layered(), ROWS, st.integers(0, 2), FIXED)
def test_layers_equal_brute_force(theory, values, label, fixed):
    check(theory, values, label, fixed)
