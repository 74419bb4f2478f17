"""The learner finds what its slow twin finds, rule by rule, for every setting."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelrules import Dataset
from labelrules.search import kln, root
from tables import schema_of
from tables import tables as generated_tables
from twins import learner as naive
from unpruned import learned, told

tables = partial(generated_tables, unknown=True)

MEASURES = ["precision", "f0.5", "f1", "hamming", "laplace/macro"]
COUNTING = ["head-relative", "chapter"]
STORED = ("dense", "sparse")


def check(data, **parameters):
    expected = naive.learn(data, naive.Settings(**parameters))
    assert told(learned(data, **parameters)) == told(expected)


def few(n):
    return settings(max_examples=n)


# ---------------------------------------------------------------- heads and measures


@pytest.mark.parametrize("counting", COUNTING)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("heads", ["single", "multi", 2])
@given(data=tables(storage=STORED), polarity=st.sampled_from(["both", "presence", "rarer"]))
@few(12)
def test_heads_measures_counting_and_polarity(heads, measure, counting, data, polarity):
    check(data, heads=heads, measure=measure, counting=counting, polarity=polarity)


@given(tables(), st.sampled_from(["multi", 1, 2, 3, 5]), st.sampled_from(["precision", "f1"]))
@few(40)
def test_the_head_may_stay_as_chosen_with_the_first_condition(data, heads, measure):
    check(data, heads=heads, measure=measure, fixed_head=True)
    check(data, heads="single", measure=measure, fixed_head=True)


@given(tables(), st.integers(1, 4), st.sampled_from(["precision", "f1"]), st.booleans())
@few(40)
def test_at_most_k_labels(data, k, measure, label_conditions):
    check(data, heads=k, measure=measure, label_conditions=label_conditions)


@given(
    data=tables(storage=STORED),
    measure=st.sampled_from(["f0.5", "precision", "laplace/macro"]),
    polarity=st.sampled_from(["presence", "rarer"]),
    min_gain=st.sampled_from([0.0, 0.05]),
    max_conditions=st.sampled_from([None, 0, 1, 2]),
)
@few(120)
def test_no_label_conditions_and_no_pruning(data, measure, polarity, min_gain, max_conditions):
    check(
        data, heads="single", measure=measure, polarity=polarity, fixed_head=True,
        label_conditions=False, min_gain=min_gain, max_conditions=max_conditions,
    )  # fmt: skip


@pytest.mark.parametrize("storage", STORED)
def test_a_category_that_is_known_of_some_covered_rows_only(storage):
    """Where covered rows have one category or none, asking for it is a refinement like any other.

    There are more cuts of the number than are bounded one by one, and its bound is looser.
    """
    n_first, n_others = 200, 400
    kind = np.repeat([0.0, 1.0], [n_first, n_others])
    number = np.concatenate([np.arange(n_first), np.resize([-1.0, 300.0, 50.5, 150.5], n_others)])
    known = np.full(n_first + n_others, np.nan)
    known[np.r_[:120, 130, 131]] = 1
    known[n_first:] = np.resize([0, 1, 0], n_others)
    Y = np.zeros((n_first + n_others, 2), dtype=np.int8)
    Y[:126, 0] = Y[:120, 1] = 1
    Y[[130, 131]] = 1
    X = np.column_stack([number, kind, known])
    table = sparse.csc_array(X) if storage == "sparse" else X
    data = Dataset(schema_of([0, 2, 2], 2), table, Y)
    way = {"measure": "precision", "polarity": "presence", "label_conditions": False}
    found = learned(data, heads="multi", max_rules=1, **way)
    assert told(found) == told(naive.learn(data, naive.Settings(heads="multi", max_rules=1, **way)))
    assert [one.right for one in found[0].evidence] == [122, 122]


OTHER_HEADS = [
    {"heads": "multi", "measure": "f1/micro/full"},
    {"heads": "multi", "measure": "hamming/macro/full", "polarity": "presence"},
    {"heads": "multi", "measure": "f1/samples"},
    {"heads": "multi", "measure": "precision/cell"},
    {"heads": "multi", "measure": "subset"},
    {"heads": "multi", "measure": "f1", "size_bonus": kln(0.3)},
    {"heads": "multi", "measure": "f1", "size_bonus": kln(0.3), "polarity": "rarer"},
    {"heads": 2, "measure": "precision", "size_bonus": root(3)},
    {"heads": "multi", "measure": "f1", "size_bonus": root(3), "fixed_head": True},
    {"heads": "single", "measure": "f1/samples"},
    {"heads": "complete", "measure": "f1"},
    {"heads": "complete", "measure": "subset"},
]


@pytest.mark.parametrize("parameters", OTHER_HEADS, ids=range(len(OTHER_HEADS)))
@given(data=tables(max_rows=6, max_features=2), counting=st.sampled_from(COUNTING))
@few(8)
def test_heads_that_need_a_search_of_their_own(parameters, data, counting):
    rarer = parameters.get("polarity") == "rarer"  # where presence and absence must count alike
    # A rule that wrote nothing was once added for ever: better to fail than not to end.
    limit = data.Y.size + 1
    check(data, counting="head-relative" if rarer else counting, max_rules=limit, **parameters)


# ---------------------------------------------------------------- bodies


@given(
    data=tables(storage=STORED),
    beam_width=st.integers(2, 4),
    heads=st.sampled_from(["single", "multi"]),
    fixed_head=st.booleans(),
    stop_share=st.sampled_from([None, 0.5]),
)
@few(40)
def test_beam(data, **parameters):
    check(data, measure="f1", **parameters)


@given(
    data=tables(storage=STORED),
    heads=st.sampled_from(["single", "multi"]),
    max_conditions=st.sampled_from([None, 0, 1, 2]),
    min_coverage=st.integers(1, 3),
    min_gain=st.sampled_from([0.0, 0.1]),
)
@few(60)
def test_limits_of_rules(data, **parameters):
    check(data, measure="precision", **parameters)


# ---------------------------------------------------------------- covering


@given(
    data=tables(storage=STORED),
    heads=st.sampled_from(["single", "multi"]),
    stop_share=st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    readd=st.sampled_from(["all", "incomplete"]),
    label_conditions=st.booleans(),
)
@few(60)
def test_rows_that_leave(data, **parameters):
    check(data, measure="precision", **parameters)


@given(
    data=tables(),
    open_share=st.sampled_from([0.0, 0.2, 1.0]),
    max_rules=st.sampled_from([None, 0, 1, 3]),
    default_rule=st.sampled_from([None, True, False]),
    polarity=st.sampled_from(["both", "presence", "rarer"]),
)
@few(60)
def test_where_the_list_ends(data, **parameters):
    check(data, measure="f1", **parameters)


@given(
    data=tables(storage=STORED),
    heads=st.sampled_from(["single", "multi", 2]),
    measure=st.sampled_from(["precision", "f1"]),
    default_rule=st.booleans(),
    readd=st.sampled_from(["all", "incomplete"]),
)
@few(60)
def test_new_rules_in_front(data, **parameters):
    check(data, order="prepend", **parameters)


@given(tables(min_labels=2, max_labels=4), st.sampled_from(["single", "multi"]))
@few(30)
def test_sparse_and_dense_tables_give_the_same_list(data, heads):
    stored = replace(data, X=sparse.csc_array(data.X))
    parameters = {"heads": heads, "measure": "f1", "operators": ("<=", ">", "=", "!=")}
    assert told(learned(stored, **parameters)) == told(learned(data, **parameters))
