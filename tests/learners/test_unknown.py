"""Unknown labels do not count: each learner does what a naive one does with what is known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from labelrules import UNSET, association_rules, load, subgroups
from labelrules.constraints import find_constraints
from labelrules.data import DataError, read_mulan
from labelrules.data.table import labels_known_together
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    ConstrainedClassifier,
    LabelPowerset,
    Ripper,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
    unconditional_dependence,
)
from labelrules.learners.powerset import completed_labels
from labelrules.mining import AssociativeClassifier, LazyAssociativeClassifier
from tables import tables
from twins import layered_learners
from twins import learner as naive
from unpruned import learned, told

SETS = ["flags", "emotions", "birds", "genbase", "medical", "yeast"]

LABEL_BY_LABEL = [
    BinaryRelevance(),
    BinaryRelevance(SeparateAndConquer(label_conditions=False, last_resort=None)),
    BinaryRelevance(DecisionTreeClassifier(random_state=0, max_depth=3)),
    AssociativeClassifier(bins="frequency", max_frequency=1.0, min_support=2),
    LazyAssociativeClassifier(bins="frequency", max_frequency=1.0, threshold=0.5, last_resort=None),
]


def with_unknown(data, share, seed=0):
    """The data without a share of the labels, deleted at random."""
    hidden = np.random.default_rng(seed).random(data.Y.shape) < share
    return replace(data, Y=np.where(hidden, UNSET, data.Y))


def part(data, label):
    """The rows in which a label is known, and this label only."""
    names = data.schema.labels
    known = data.take(data.Y[:, label] != UNSET)
    return known.without([name for name in names if name != names[label]])


def nominal(data):
    """Without numeric features, whose ranges would depend on all rows."""
    return data.without([one.name for one in data.schema.features if one.is_numeric])


@pytest.mark.parametrize("learner", LABEL_BY_LABEL, ids=lambda one: type(one).__name__)
@settings(max_examples=25, deadline=None)
@given(data=tables(max_rows=16, min_labels=2, max_labels=3, unknown=True, missing=False))
def test_each_label_is_learned_from_the_rows_in_which_it_is_known(learner, data):
    data = nominal(data)
    assume(data.schema.n_features > 0)
    found = learner.fit(data)._labels(data)
    for label in range(data.schema.n_labels):
        own = part(data, label)
        if len(np.unique(own.Y)) < 2:
            continue
        expected = learner.fit(own)._labels(replace(data.without(_others(data, label))))
        np.testing.assert_array_equal(found[:, [label]], expected)


def _others(data, label):
    return [name for j, name in enumerate(data.schema.labels) if j != label]


SIZES = [
    pytest.param(24, 8, id="24x8"),
    pytest.param(40, 12, id="40x12", marks=pytest.mark.slow),
]
"""Rows and features: the twin counts every condition by itself."""


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize(("n_rows", "n_features"), SIZES)
def test_covering_is_that_of_the_twin_on_real_data(name, share, n_rows, n_features, data_folder):
    data = with_unknown(small(name, data_folder, n_rows, n_features), share)
    for heads in ("single", "multi"):
        parameters = {"heads": heads, "measure": "f0.5", "max_rules": 2, "max_conditions": 2}
        expected = naive.learn(data, naive.Settings(**parameters))
        assert told(learned(data, **parameters)) == told(expected)


@pytest.mark.parametrize("name", SETS)
def test_layers_are_those_of_the_twin_on_real_data(name, data_folder):
    data, base = with_unknown(small(name, data_folder), 0.3), Ripper()
    found = BinaryRelevance(base).fit(data).predict(data)
    np.testing.assert_array_equal(found, layered_learners.relevance(base, data, data))
    chain = ClassifierChain(base, order="columns").fit(data).predict(data)
    order = range(data.schema.n_labels)
    np.testing.assert_array_equal(chain, layered_learners.chain(base, data, data, order))


def small(name, data_folder, n_rows=40, n_features=12):
    """Some rows, features and labels of a benchmark."""
    data = read_mulan(data_folder / f"{name}-train.arff.gz")
    features = np.array(data.schema.feature_names, dtype=object)
    frequent = np.argsort(-data.Y.sum(axis=0), kind="stable")[4:]
    names = [*features[n_features:], *np.array(data.schema.labels, dtype=object)[frequent]]
    return data.take(np.arange(n_rows)).without(names)


ALL = [
    SeparateAndConquer(),
    SeparateAndConquer(heads="multi", measure="precision", order="prepend", pruning=None),
    SeparateAndConquer(
        heads="complete", measure="subset", pruning=None, polarity="both", fixed_head=False
    ),
    SeparateAndConquer(pruning="irep"),
    SeparateAndConquer(pruning="significance"),
    BinaryRelevance(last_resort=0.1),
    BinaryRelevance(LogisticRegression()),
    ClassifierChain(),
    ClassifierChain(LogisticRegression()),
    ClassifierChain(n_chains=3),
    StackedBinaryRelevance(),
    StackedBinaryRelevance(labels_from="truth"),
    StackedBinaryRelevance(LogisticRegression(), labels_from="truth"),
    LabelPowerset(),
    AssociativeClassifier(),
    LazyAssociativeClassifier(),
    Scorecard(),
    Scorecard(teacher=BinaryRelevance(LogisticRegression())),
    ConstrainedClassifier(BinaryRelevance()),
]


@pytest.mark.parametrize("learner", ALL, ids=lambda one: " ".join(repr(one).split()))
def test_every_learner_takes_unknown_labels(learner):
    data = with_unknown(planted_rows(), 0.15)
    model = learner.fit(data)
    predicted = model.predict(data)
    assert set(np.unique(predicted)) <= {0, 1}
    probabilities = model.predict_proba(data)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    alike = (predicted == learner.fit(planted_rows()).predict(data)).mean()
    assert alike > 0.9, "what is known tells enough"
    assert model.score(data) >= model.score(planted_rows())
    frame = {name: data.column(name) for name in data.schema.feature_names}
    cells = np.where(data.Y == UNSET, np.nan, data.Y)
    if not isinstance(learner, ConstrainedClassifier):
        again = learner.fit(np.column_stack(list(frame.values())), cells)
        np.testing.assert_array_equal(
            again.predict(np.column_stack(list(frame.values()))), predicted
        )


def planted_rows():
    random = np.random.default_rng(3)
    X = random.integers(0, 4, (160, 4)).astype(float)
    Y = np.column_stack([X[:, 0] > 1, (X[:, 1] > 2) & (X[:, 0] > 0), X[:, 2] > 2])
    from labelrules import dataset

    return dataset(X, Y.astype(np.int8))


def test_deleting_no_cell_changes_nothing():
    readers = load("magazines")
    assert labels_known_together(readers.Y)[0][0].tolist() == [0, 1, 2, 3]
    assert completed_labels(readers.Y) is readers.Y


def test_dependence_of_two_labels_by_the_rows_in_which_both_are_known():
    random = np.random.default_rng(0)
    Y = random.integers(-1, 2, (200, 4))
    found = unconditional_dependence(Y)
    for i, j in ((0, 1), (2, 3), (1, 3)):
        both = (Y[:, [i, j]] >= 0).all(axis=1)
        alone = unconditional_dependence(Y[both][:, [i, j]])
        assert found.statistic[i, j] == pytest.approx(alone.statistic[0, 1])


@pytest.mark.parametrize("discover", [association_rules, subgroups, find_constraints])
def test_discovery_between_labels_asks_for_complete_rows(discover):
    data = with_unknown(load("magazines"), 0.1)
    with pytest.raises(DataError, match=r"some label is unknown: leave them out, as by data.take"):
        discover(data)
    discover(data.take((data.Y >= 0).all(axis=1)))


def test_a_classifier_of_another_library_needs_known_labels():
    data = with_unknown(planted_rows(), 0.1)
    with pytest.raises(ValueError, match="some labels are unknown, which DecisionTreeClassifier"):
        ConstrainedClassifier(DecisionTreeClassifier()).fit(data)


@pytest.mark.parametrize(
    "learner",
    [
        SeparateAndConquer(),
        BinaryRelevance(),
        Scorecard(),
        AssociativeClassifier(),
        LazyAssociativeClassifier(),
    ],
)
def test_a_label_that_is_never_known_is_never_predicted(learner):
    data = planted_rows()
    Y = data.Y.copy()
    Y[:, 1] = UNSET
    assert not learner.fit(replace(data, Y=Y)).predict(data)[:, 1].any()


@pytest.mark.parametrize("learner", ALL, ids=lambda one: " ".join(repr(one).split()))
def test_where_nothing_is_known_nothing_is_learned(learner):
    data = with_unknown(planted_rows(), 1.1)
    with pytest.raises(ValueError, match="unknown"):
        learner.fit(data)


@pytest.mark.parametrize("learner", ALL, ids=lambda one: " ".join(repr(one).split()))
def test_a_row_of_which_nothing_is_known_changes_nothing(learner):
    """The bins of a scorecard, and the label sets of a powerset, once counted such rows."""
    data = with_unknown(planted_rows(), 0.15)
    twice = data.take([*range(data.n_rows), *range(40)])
    Y = twice.Y.copy()
    Y[data.n_rows :] = UNSET
    expected = learner.fit(data).predict_proba(data)
    np.testing.assert_array_equal(learner.fit(replace(twice, Y=Y)).predict_proba(data), expected)


def test_groups_of_labels_do_not_depend_on_the_order_of_rows():
    """Tied rules of an associative classifier once stood in the order of such groups."""
    Y = np.array([[1, -1, 0], [-1, 1, 1], [1, 0, -1]], np.int8)
    for rows in ([0, 1, 2], [1, 2, 0], [2, 1, 0]):
        assert [labels.tolist() for labels, _ in labels_known_together(Y[rows])] == [[0], [1], [2]]
    data = with_unknown(planted_rows(), 0.2)
    order = np.random.default_rng(0).permutation(data.n_rows)
    learner = AssociativeClassifier(bins="frequency", m=0, n_bins=4)
    assert learner.fit(data.take(order)).theory_ == learner.fit(data).theory_
