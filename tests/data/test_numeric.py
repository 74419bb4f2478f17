"""Features as numbers: one encoding for classifiers of other libraries, as a base and alone."""

import numpy as np
from hypothesis import given
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import strategies
from labelrules import BinaryRelevance, Dataset, Feature, Schema, dataset
from labelrules.data.numeric import numeric_features
from labelrules.lab.measuring import as_numbers, learned, predictions


def test_features_as_numbers():
    X = np.array([[1.5, 0, 2], [np.nan, 1, 0], [0, np.nan, np.nan]])
    features = [Feature("n"), Feature("two", ("p", "q")), Feature("three", ("u", "v", "w"))]
    dense = Dataset(Schema(features, ["a"]), X, np.zeros((3, 1)))
    expected = [[1.5, 0, 0, 0, 1], [np.nan, 1, 1, 0, 0], [0, 0, 0, 0, 0]]
    np.testing.assert_array_equal(numeric_features(dense), expected)
    scarce = Dataset(Schema(features, ["a"]), sparse.csc_array(X), np.zeros((3, 1)))
    found = numeric_features(scarce)
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), expected)


def test_ordered_categories_and_times_are_numbered_and_missing_ones_are_nan():
    features = [Feature("size", ("S", "M", "L"), "ordered"), Feature("day", kind="date")]
    data = Dataset(Schema(features, ["a"]), np.array([[2, 9], [np.nan, np.nan]]), np.zeros((2, 1)))
    np.testing.assert_array_equal(numeric_features(data), data.X)


def test_features_without_categories_have_no_column():
    for form in (np.asarray, sparse.csc_array):
        X = form(np.full((3, 1), np.nan))
        data = Dataset(Schema([Feature("none", ())], ["a"]), X, np.zeros((3, 1)))
        assert numeric_features(data).shape == (3, 0)


@given(strategies.datasets(min_rows=1))
def test_an_experiment_gives_the_same_numbers_as_a_base_learner_gets(data):
    expected, found = numeric_features(data), as_numbers(data)
    assert sparse.issparse(found) == data.is_sparse
    np.testing.assert_array_equal(
        *(one.toarray() if sparse.issparse(one) else one for one in (found, expected))
    )


def test_missing_categories_do_not_stop_classifiers_that_refuse_nan():
    cities = ["Ulm", "Bonn", "Kiel", None] * 10
    labels = [{"north"} if city == "Kiel" else set() for city in cities]
    data = dataset([[city, "x" if city == "Ulm" else None] for city in cities], labels)
    alone = learned(LogisticRegression(), data)
    within = BinaryRelevance(LogisticRegression()).fit(data)
    np.testing.assert_array_equal(predictions(alone, data), data.Y)
    np.testing.assert_array_equal(within.predict(data), data.Y)
