"""The smallest change of a row that changes a label."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import (
    Body,
    Condition,
    Dataset,
    DecisionList,
    Feature,
    Head,
    LabelSet,
    LayeredTheory,
    Rule,
    RuleSet,
    Schema,
    parse,
)
from labelrules.inspection import counterfactual
from labelrules.inspection.counterfactuals import just_above
from labelrules.inspection.reasons import is_additive
from labelrules.rules import Gibbs, LabelByLabel, UntilStable
from layered_theories import ONCE, layered_theories
from theories import decision_lists, rule_sets, scorecards
from twins.counterfactual import fewest, naive_change, predicted

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


def check(theory, values, label, fixed=frozenset()):
    """The search finds what trying everything finds, and what it finds does what it says."""
    data = Dataset(SCHEMA, values[None, :], np.zeros((1, 3)))
    names = [SCHEMA.feature_names[column] for column in fixed]
    found = counterfactual(theory, data, SCHEMA.labels[label], fixed=names, limit=10**6)
    expected = naive_change(theory, values, label, fixed)
    assert found.predicted == predicted(theory, [values])[0, label]
    assert fewest(theory, values, label, fixed) == (expected and len(expected))
    if expected is None:
        assert (found.status, found.changes) == ("impossible", ())
        return
    after = values.copy()
    after[list(expected)] = list(expected.values())
    np.testing.assert_array_equal(found.values, after)
    assert found.status == "found"
    assert [change.feature for change in found.changes] == [
        SCHEMA.feature_names[column] for column in sorted(expected)
    ]
    assert predicted(theory, [found.values])[0, label] == 1 - found.predicted


@settings(max_examples=80)
@given(decision_lists(SCHEMA, THRESHOLDS), ROWS, st.integers(0, 2), FIXED)
def test_lists_equal_brute_force(theory, values, label, fixed):
    check(theory, values, label, fixed)


@settings(max_examples=50)
@given(rule_sets(SCHEMA, THRESHOLDS), ROWS, st.integers(0, 2), FIXED)
def test_votes_equal_brute_force(theory, values, label, fixed):
    check(theory, values, label, fixed)


@settings(max_examples=50)
@given(layered_theories(SCHEMA, THRESHOLDS, ONCE), ROWS, st.integers(0, 2), FIXED)
def test_layers_equal_brute_force(theory, values, label, fixed):
    check(theory, values, label, fixed)


@settings(max_examples=60)
@given(scorecards(SCHEMA, THRESHOLDS), ROWS, st.integers(0, 2), FIXED)
def test_sets_that_decide_rows_equal_brute_force(theory, values, label, fixed):
    check(theory, values, label, fixed)


def scorecard(lots):
    """Rules with one condition, or two on one feature; usual label sets; at least one label."""
    rules = []
    for _ in range(lots.integers(3, 12)):
        column = int(lots.integers(-1, 4))
        conditions = []
        if column in (1, 3):
            code = int(lots.integers(0, len(SCHEMA.features[column].categories)))
            conditions = [Condition(column, lots.choice(["=", "!="]), code)]
        elif column >= 0:
            low, high = sorted(lots.choice([0.0, 1.0, 1.5, 4.0], 2, replace=False).tolist())
            conditions = [Condition.above(column, low), Condition.at_most(column, high)]
            conditions = conditions[: lots.integers(1, 3)]
        labels = lots.choice(3, size=lots.integers(1, 4), replace=False).tolist()
        head = Head({label: int(lots.integers(0, 2)) for label in labels}, 3)
        votes = lots.integers(1, 6, len(labels)).tolist()
        rules.append(Rule(head, Body(conditions), votes=votes))
    if lots.random() < 0.2:
        rules.append(Rule(Head({0: 1}, 3), Body([Condition.label(1)]), votes=(7,)))
    sets = {
        tuple(np.flatnonzero(lots.integers(0, 2, 3)).tolist()): int(lots.integers(-3, 6))
        for _ in range(lots.integers(0, 5))
    }
    label_sets = [LabelSet(labels, bonus) for labels, bonus in sets.items()]
    return RuleSet(SCHEMA, rules, label_sets, bool(lots.integers(0, 2)))


@pytest.mark.parametrize("seed", range(150))
def test_scorecards_equal_brute_force(seed):
    lots = np.random.default_rng(seed)
    theory = scorecard(lots)
    assert is_additive(theory)
    values = np.array([lots.choice([0.0, 1.2, 9.0, np.nan]) for _ in range(4)])
    values[[1, 3]] = lots.integers(0, 2, 2)
    for label in range(3):
        check(theory, values, label, {int(lots.integers(0, 4))} if seed % 2 else frozenset())


@pytest.mark.parametrize("seed", range(20))
def test_scorecards_in_layers_equal_brute_force(seed):
    lots = np.random.default_rng(seed)
    layers = [dense_theory(lots, DecisionList), scorecard(lots)][:: 1 if seed % 2 else -1]
    theory = LayeredTheory(SCHEMA, layers)
    values = np.array([lots.choice([0.0, 1.2, 9.0]) for _ in range(4)])
    values[[1, 3]] = lots.integers(0, 2, 2)
    for label in range(3):
        check(theory, values, label)


def dense_theory(lots, kind):
    """Rules with few conditions, so that many of them fire, read labels and end the list."""
    rules = []
    for _ in range(lots.integers(3, 8)):
        conditions = []
        for _ in range(lots.integers(0, 3)):
            column = int(lots.integers(0, 7))
            if column > 3:
                conditions.append(Condition.label(column - 4, bool(lots.integers(0, 2))))
            elif column % 2:
                code = int(lots.integers(0, len(SCHEMA.features[column].categories)))
                conditions.append(Condition(column, lots.choice(["=", "!="]), code))
            else:
                threshold = lots.choice([0.0, 1.0, 1.5])
                conditions.append(Condition(column, lots.choice(["<=", ">"]), threshold))
        labels = lots.choice(3, size=lots.integers(1, 3), replace=False).tolist()
        head = Head({label: int(lots.integers(0, 2)) for label in labels}, 3)
        rules.append(Rule(head, Body(conditions), kind is DecisionList and lots.random() < 0.3))
    return kind(SCHEMA, rules)


@pytest.mark.parametrize("seed", range(120))
def test_dense_theories_equal_brute_force(seed):
    lots = np.random.default_rng(seed)
    kinds = [DecisionList, DecisionList, RuleSet]
    theory = dense_theory(lots, kinds[seed % 3])
    if seed % 4 == 0:
        layers = [dense_theory(lots, kinds[lots.integers(0, 3)]) for _ in range(2)]
        rules = [rule for rule in theory if not rule.body.on_labels]
        fallback = DecisionList(SCHEMA, rules) if theory.ordered else None
        theory = LayeredTheory(SCHEMA, layers, fallback=fallback)
    values = np.array([lots.choice([0.0, 1.2, 9.0, np.nan]) for _ in range(4)])
    values[[1, 3]] = lots.integers(0, 2, 2)
    for label in range(3):
        check(theory, values, label, {int(lots.integers(0, 4))} if seed % 2 else frozenset())


AGAIN = st.sampled_from([UntilStable(3), LabelByLabel(2), LabelByLabel(3, order=[2, 0, 1])])


@settings(max_examples=30)
@given(layered_theories(SCHEMA, THRESHOLDS, AGAIN, max_size=3), ROWS, st.integers(0, 2), FIXED)
def test_layers_that_are_asked_again_equal_brute_force(theory, values, label, fixed):
    check(theory, values, label, fixed)


def test_a_sampled_layer_can_be_changed():
    text = "layer 1:\nlayer 2, sampled 8 times after 0 rounds, seed 0:\nk <- a > 3 (9/0)"
    theory = parse(text, SCHEMA)
    assert isinstance(theory.inference, Gibbs)
    check(theory, np.array([1.0, 0, 0, 0]), 0)


def row_of(*values):
    return Dataset(SCHEMA, np.array([values], dtype=float), np.zeros((1, 3)))


def told(text, label, *values, **settings):
    return str(counterfactual(parse(text, SCHEMA), row_of(*values), label, **settings))


def test_numbers_move_just_beyond_the_threshold():
    assert told("k <- a > 2.5", "k", 0, 0, 0, 0) == "k would be present with a = 2.6 instead of 0"
    assert told("k <- a <= 2.5", "k", 7, 0, 0, 0) == (
        "k would be present with a = 2.5 instead of 7"
    )
    assert told("k <- a > 3, a <= 3.5", "k", 0, 0, 0, 0) == (
        "k would be present with a = 3.1 instead of 0"
    )


def test_numbers_move_to_values_that_occur():
    training = Dataset(
        SCHEMA, np.array([[9.0, 0, 0, 0], [4, 0, 0, 0], [1, 0, 0, 0]]), [[0] * 3] * 3
    )
    text = "k <- a > 2.5"
    assert told(text, "k", 0, 0, 0, 0, training=training).endswith("a = 4 instead of 0")
    assert told("k <- a <= 3", "k", 7, 0, 0, 0, training=training).endswith("a = 1 instead of 7")


def test_missing_values_may_get_a_value_but_are_never_made():
    nan = np.nan
    assert told("k <- b != x", "k", 0, nan, 0, 0) == "k would be present with b = y instead of ?"
    # b = y fires the rule for each value that b could have but x; only a missing one escapes.
    assert told("k <- b = x\nk <- b != x", "k", 0, 1, 0, 0) == (
        "k stays as it is whatever the values of the features that may change"
    )


def test_changes_go_through_labels():
    text = "k <- a > 1\nl <- not k\nnot k <- true\nm <- k, b = y"
    assert told(text, "m", 0, 0, 0, 0) == (
        "m would be present with a = 2 instead of 0, b = y instead of x"
    )


def test_changes_may_lead_to_the_list_for_rows_without_labels():
    text = "layer 1:\nl <- a > 1\nif no label was found:\nk <- b = x\nm <- true"
    assert told(text, "k", 3, 0, 0, 0) == "k would be present with a = 1 instead of 3"
    assert told(text, "m", 3, 1, 0, 0) == "m would be present with a = 1 instead of 3"
    assert told(text, "m", 0, 1, 0, 0) == "m would be absent with a = 2 instead of 0"


def test_changes_may_end_the_list():
    assert told("l, * <- a > 1\nk <- true", "k", 0, 0, 0, 0) == (
        "k would be absent with a = 2 instead of 0"
    )


def test_ties_are_settled_by_the_order_of_features_and_then_by_the_nearest_value():
    assert told("k <- c > 1\nk <- b = z\nk <- d = v", "k", 0, 0, 0, 0).endswith(
        "b = z instead of x"
    )
    assert told("k <- a > 1\nk <- a <= -1", "k", 0.5, 0, 0, 0).endswith("a = -1 instead of 0.5")
    assert told("k <- a > 5\nk <- a <= -1", "k", 0.5, 0, 0, 0).endswith("a = -1 instead of 0.5")
    assert told("k <- a > 1\nk <- a <= -9", "k", 0.5, 0, 0, 0).endswith("a = 2 instead of 0.5")


def test_a_search_that_is_too_large_says_how_far_it_got():
    schema = Schema([Feature(f"f{j}") for j in range(12)], ["k"])
    body = ", ".join(f"f{j} > {i}" for j in range(12) for i in range(3))
    theory = parse(f"k <- {body}", schema)
    data = Dataset(schema, np.zeros((1, 12)), [[0]])
    assert str(counterfactual(theory, data, "k", limit=20)) == (
        "the search for a change of k stopped after 17 rows: at least 5 features must change; "
        "raise limit to search further"
    )
    found = counterfactual(theory, data, "k")
    assert (found.status, len(found.changes)) == ("found", 12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"label": "kk"}, "there is no label 'kk'; did you mean 'k'"),
        ({"fixed": ["aa"]}, "there is no feature 'aa' to keep fixed; did you mean 'a'"),
        ({"fixed": "a"}, "fixed is one text, 'a': give a list"),
        ({"label": ["k"]}, r"there is no label \"\['k'\]\""),
        ({"label": None}, "there is no label 'None'"),
        ({"fixed": None}, "fixed must be a list of features, empty for none, not None"),
        ({"fixed": [["a"]]}, "there is no feature .* to keep fixed"),
        ({"limit": 0}, "limit must be a whole number of at least 1, not 0"),
    ],
)
def test_wrong_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        counterfactual(parse("k <- true", SCHEMA), row_of(0, 0, 0, 0), **{"label": "k", **wrong})


def test_what_is_no_theory_or_no_row_is_named():
    with pytest.raises(TypeError, match="or a fitted learner, not str"):
        counterfactual("k <- true", row_of(0, 0, 0, 0), "k")
    with pytest.raises(IndexError, match="there is no row 1: rows are numbered from 0 to 0"):
        counterfactual(parse("k <- true", SCHEMA), row_of(0, 0, 0, 0), "k", row=1)


@given(st.floats(-1e300, 1e300), st.floats(min_value=0, exclude_min=True, max_value=1e300))
def test_just_above_is_above_if_there_is_room(low, width):
    high = low + width
    found = just_above(low, high)
    assert high == low if found is None else low < found <= high


def test_nothing_is_above_the_largest_number():
    assert just_above(float(np.finfo(float).max)) is None
