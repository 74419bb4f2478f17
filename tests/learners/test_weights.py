"""Weights of rows and cells: a whole weight is so many equal rows, any other counts as much."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from labelrules import UNSET, Dataset, dataset
from labelrules.data import DataError
from labelrules.data.weights import MOST_UNITS
from labelrules.learners import (
    AssociativeClassifier,
    BinaryRelevance,
    ClassifierChain,
    ConstrainedClassifier,
    LabelPowerset,
    LazyAssociativeClassifier,
    Ripper,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from tables import tables
from unpruned import told

COVERING = [
    {},
    {"measure": "laplace"},
    {"measure": "m-estimate"},
    {"measure": "correlation"},
    {"heads": "multi", "measure": "precision", "pruning": None},
    {"heads": 2, "fixed_head": False, "pruning": "significance"},
    {"pruning": "irep"},
    {"order": "prepend", "pruning": None},
    {"beam_width": 2},
    {"stop_share": 0.3, "readd": "incomplete", "pruning": None},
    {"polarity": "both", "min_coverage": 2},
    {"heads": "complete", "measure": "subset", "polarity": "both", "pruning": None,
     "fixed_head": False},
]  # fmt: skip

LEARNERS = [
    BinaryRelevance(),
    BinaryRelevance(SeparateAndConquer(), last_resort=0.2),
    ClassifierChain(n_chains=3, bootstrap=True),
    StackedBinaryRelevance(),
    LabelPowerset(),
    AssociativeClassifier(),
    LazyAssociativeClassifier(),
    Scorecard(),
    ConstrainedClassifier(BinaryRelevance()),
]


@st.composite
def weighted(draw, **kinds):
    data = draw(tables(max_rows=14, storage=("dense", "sparse"), unknown=True, **kinds))
    counts = st.lists(st.integers(0, 3), min_size=data.n_rows, max_size=data.n_rows)
    weights = np.array(draw(counts.filter(any)), dtype=float)
    if (data.Y[weights > 0] == UNSET).all():
        data = replace(data, Y=np.maximum(data.Y, 0))
    return replace(data, weights=weights)


def repeated(data):
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    rows = np.repeat(np.arange(data.n_rows), weights.astype(int))
    return Dataset(data.schema, data.X, data.Y).take(rows)


@pytest.mark.parametrize("parameters", COVERING, ids=str)
@settings(max_examples=20, deadline=None)
@given(data=weighted())
def test_a_whole_weight_is_so_many_equal_rows(parameters, data):
    learner = SeparateAndConquer(**parameters)
    expected = learner.fit(repeated(data))
    rules, presence = told(expected.theory_), expected.predict_proba(data)
    found = learner.fit(data)
    assert told(found.theory_) == rules
    np.testing.assert_array_equal(found.predict_proba(data), presence)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_and_so_it_is_for_every_learner(learner):
    data = noisy()
    weights = np.random.default_rng(1).integers(0, 4, data.n_rows)
    expected = learner.fit(data.take(np.repeat(np.arange(data.n_rows), weights)))
    presence, labels = expected.predict_proba(data), expected.predict(data)
    found = learner.fit(data, sample_weight=weights)
    np.testing.assert_array_equal(found.predict_proba(data), presence)
    np.testing.assert_array_equal(found.predict(data), labels)


def noisy():
    random = np.random.default_rng(0)
    X = random.integers(0, 5, (120, 4)).astype(float)
    Y = np.column_stack([X[:, 0] > 2, (X[:, 1] > 2) & (X[:, 0] > 0), X[:, 2] == 0])
    return dataset(X, (Y ^ (random.random(Y.shape) < 0.1)).astype(np.int8))


@settings(max_examples=30, deadline=None)
@given(tables(max_rows=14, unknown=True), st.sampled_from([1.5, 2.25, 3.0]), st.booleans())
def test_a_common_weight_changes_no_ratio(data, weight, merging):
    if (data.Y == UNSET).all():
        return
    heads = "multi" if merging else "single"
    learner = SeparateAndConquer(
        heads=heads, measure="f1", pruning=None, last_resort=None, min_coverage=1
    )
    expected = learner.fit(data).theory_
    assert learner.fit(replace(data, weights=np.full(data.n_rows, weight))).theory_ == expected


@settings(max_examples=30, deadline=None)
@given(tables(max_rows=14), st.randoms(use_true_random=False))
def test_a_cell_without_weight_is_as_good_as_unknown(data, random):
    weights = np.array([[random.choice([0.0, 1.0]) for _ in row] for row in data.Y])
    weights[0] = 1.0
    rows = weights.any(axis=1)
    hidden = replace(data, Y=np.where(weights == 0, UNSET, data.Y)).take(rows)
    learner = SeparateAndConquer(last_resort=None)
    assert told(learner.fit(replace(data, weights=weights)).theory_) == told(
        learner.fit(hidden).theory_
    )


@settings(max_examples=20, deadline=None)
@given(tables(max_rows=14), st.randoms(use_true_random=False))
def test_real_weights_do_not_depend_on_the_order_of_rows(data, random):
    weights = np.array([random.random() + 0.01 for _ in range(data.n_rows)])
    order = list(range(data.n_rows))
    random.shuffle(order)
    for learner in (SeparateAndConquer(), BinaryRelevance(SeparateAndConquer())):
        expected = learner.fit(replace(data, weights=weights)).theory_
        assert learner.fit(replace(data, weights=weights).take(order)).theory_ == expected


def test_a_heavy_row_decides():
    X, Y = [[0], [0], [0], [1], [1], [1]], [[1], [0], [0], [0], [0], [0]]
    weights = [5.5, 1, 1, 1, 1, 1]
    learner = SeparateAndConquer(pruning=None, polarity="presence")
    model = learner.fit(X, np.array(Y), sample_weight=weights)
    assert model.predict([[0], [1]]).tolist() == [[1], [0]]
    assert model.theory_[0].evidence[0] == (6, 2)  # rounded


def test_weights_reach_classifiers_of_other_libraries():
    data = noisy()
    weights = np.random.default_rng(2).random(data.n_rows) + 0.1
    base = LogisticRegression()
    found = BinaryRelevance(base).fit(data, sample_weight=weights).predict_proba(data)
    own = base.fit(data.X, data.Y[:, 1], sample_weight=replace(data, weights=weights).weights)
    np.testing.assert_allclose(found[:, 1], own.predict_proba(data.X)[:, 1])


@pytest.mark.parametrize("learner", [Scorecard(), AssociativeClassifier(), BinaryRelevance()])
def test_learners_that_count_rows_ask_for_whole_weights(learner):
    data = noisy()
    with pytest.raises(ValueError, match="takes one whole weight per row"):
        learner.fit(data, sample_weight=np.full(data.n_rows, 0.5))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "weights have the shape"),
        ([-1] * 120, "one is negative, infinite or NaN"),
        ([np.nan] * 120, "one is negative, infinite or NaN"),
        (["a"] * 120, "weights must be numbers"),
        ([0] * 120, "all weights are zero"),
        ([float(MOST_UNITS)] * 120, "divide them by a common number"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises((DataError, ValueError), match=message):
        SeparateAndConquer().fit(noisy(), sample_weight=weights)


def test_weights_are_given_once():
    data = replace(noisy(), weights=np.arange(120.0) + 1)
    for learner in (SeparateAndConquer(), ConstrainedClassifier()):
        with pytest.raises(ValueError, match="brings its weights: leave sample_weight out"):
            learner.fit(data, sample_weight=np.ones(120))
    assert "weighted" in repr(data)
    assert data != noisy()
    assert data.take([3, 4]).weights.tolist() == [4, 5]


def test_ripper_takes_whole_weights_by_classes():
    data = noisy()
    classes = np.where(data.Y[:, 0] == 1, "a", np.where(data.Y[:, 2] == 1, "b", "c"))
    weights = np.random.default_rng(1).integers(1, 4, data.n_rows)
    found = Ripper().fit(data.X, classes, sample_weight=weights)
    rows = np.repeat(np.arange(data.n_rows), weights)
    assert found.theory_ == Ripper().fit(data.X[rows], classes[rows]).theory_
