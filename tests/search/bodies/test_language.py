"""What bodies may and must test: operators, labels, features that are required or forbidden."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import Dataset, load, theory_text
from tables import schema_of, tables
from twins import learner as naive
from unpruned import learned, told

OPERATORS = [("<=", ">", "="), ("<=", ">", "=", "!="), ("<=",), (">", "!="), ("=",), ()]


@st.composite
def wishes(draw, data, max_size=3):
    """Features, and pairs of a head label and another one that is tested."""
    names = [feature.name for feature in data.schema.features]
    pairs = st.permutations(data.schema.labels).map(lambda labels: tuple(labels[:2]))
    one = st.one_of([pairs, *([st.sampled_from(names)] if names else [])])
    return tuple(draw(st.lists(one, max_size=max_size)))


def check(data, **parameters):
    expected = naive.learn(data, naive.Settings(**parameters))
    theory = learned(data, **parameters)
    assert told(theory) == told(expected)
    return theory


@given(
    data=tables(storage=("dense", "sparse")),
    heads=st.sampled_from(["single", "multi"]),
    operators=st.sampled_from(OPERATORS),
    label_conditions=st.booleans(),
)
@settings(max_examples=60)
def test_operators(data, **parameters):
    theory = check(data, measure="precision", **parameters)
    for condition in (condition for rule in theory for condition in rule.body):
        if condition.on_label:
            assert parameters["label_conditions"]
        else:
            assert condition.operator in parameters["operators"]


@given(st.data(), tables(min_labels=2), st.sampled_from(["single", "multi"]), st.integers(1, 2))
@settings(max_examples=60)
def test_what_is_forbidden(draw, data, heads, beam):
    forbidden = draw.draw(wishes(data))
    theory = check(data, heads=heads, measure="f1", beam_width=beam, forbidden=forbidden)
    for rule in theory:
        assert not any(asked_by(data, rule, label) & set(forbidden) for label in rule.head.labels)


@given(st.data(), tables(min_labels=2), st.sampled_from(["single", "multi"]), st.integers(1, 2))
@settings(max_examples=60)
def test_what_is_required(draw, data, heads, beam):
    required = draw.draw(wishes(data).filter(bool))
    theory = check(data, heads=heads, measure="f1", beam_width=beam, required=required)
    for rule in theory:
        assert all(asked_by(data, rule, label) & set(required) for label in rule.head.labels)


def asked_by(data, rule, label):
    """What the rule tests: names of features, and pairs of the head label and a tested one."""
    names = data.schema.labels
    features = {data.schema.features[c.column].name for c in rule.body.on_features}
    return features | {(names[label], names[c.column]) for c in rule.body.on_labels}


def test_a_forbidden_pair_does_not_come_in_by_another_label_of_the_head():
    """Labels that were as good elsewhere once joined a head without being asked about its body."""
    X = np.array([[0], [0], [1], [1], [2]], dtype=float)
    Y = np.array([[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 1, 1]], dtype=np.int8)
    data = Dataset(schema_of([3], 3), X, Y)
    for pair in [("y1", "y0"), ("y2", "y0"), ("y2", "y1"), ("y0", "y1")]:
        for heads in ("single", "multi"):
            for rule in check(data, heads=heads, measure="precision", forbidden=(pair,)):
                assert not any(pair in asked_by(data, rule, label) for label in rule.head.labels)


def test_without_operators_only_labels_are_tested():
    """What is most frequent is written, and nothing is left that a label could be asked for."""
    theory = learned(load("magazines"), measure="precision", operators=())
    assert theory_text(theory).splitlines() == [
        "otherwise: not sports",
        "otherwise: not fashion",
        "otherwise: not tabloid",
        "otherwise: quality",
    ]


@pytest.mark.parametrize("heads", ["single", "multi"])
def test_a_feature_that_is_forbidden_might_as_well_not_be_there(heads):
    readers = load("magazines")
    theory = learned(readers, heads=heads, measure="precision", forbidden=("sex",))
    without = learned(readers.without(["sex"]), heads=heads, measure="precision")
    assert theory_text(theory) == theory_text(without)
