"""Weights of rows in measures: repeated rows, other libraries, and a mean by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from labelrules import UNSET, Measure, SeparateAndConquer, cross_validate, evaluate, load
from labelrules.data import dataset

MEASURES = [
    f"{formula}/{averaging}/{predictions}"
    for formula in ("f1", "recall", "laplace", "hamming")
    for averaging in ("micro", "macro", "samples", "cell")
    for predictions in ("partial", "full")
] + ["subset/samples/full"]


def tables(seed, n_rows, unknown):
    random = np.random.default_rng(seed)
    Y = random.integers(-1 if unknown else 0, 2, (n_rows, 3))
    Y[0] = [1, 0, 1]
    return Y, random.integers(-1, 2, Y.shape), random.random(Y.shape), random


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 9999), st.integers(1, 9), st.booleans(), st.sampled_from(MEASURES))
def test_whole_weights_are_repeated_rows_and_others_are_multiples(seed, n_rows, unknown, measure):
    Y, predicted, _, random = tables(seed, n_rows, unknown)
    weights = random.integers(0, 4, n_rows)
    weights[0] = 2
    rows, one = np.repeat(np.arange(n_rows), weights), Measure.parse(measure)
    expected = one.of_predictions(Y[rows], predicted[rows])
    assert one.of_predictions(Y, predicted, sample_weight=weights) == expected
    exact = one.of_predictions(Y[rows], predicted[rows], exact=True)
    assert one.of_predictions(Y, predicted, exact=True, sample_weight=weights) == exact
    if "laplace" not in measure:  # which adds numbers of rows
        found = one.of_predictions(Y, predicted, sample_weight=weights / 8 + 0.0)
        assert found == pytest.approx(expected)


def test_evaluation_is_that_of_repeated_rows_and_of_scikit_learn():
    Y, predicted, scores, random = tables(3, 40, unknown=False)
    whole, real = random.integers(0, 4, 40), random.random(40) + 0.1
    rows = np.repeat(np.arange(40), whole)
    expected = evaluate(Y[rows], predicted[rows], scores[rows])
    assert evaluate(Y, predicted, scores, sample_weight=whole) == expected
    halves = evaluate(Y, predicted, scores, sample_weight=whole / 2 + (whole == 0) * 0.0)
    assert halves == pytest.approx(expected)
    found, board = evaluate(Y, predicted, scores, sample_weight=real), predicted == 1
    given = {"sample_weight": real}
    f1 = metrics.f1_score(Y, board, average="macro", zero_division=0, **given)
    assert found["macro F1"] == pytest.approx(f1)
    assert found["Hamming loss"] == pytest.approx(metrics.hamming_loss(Y, board, **given))
    assert found["macro ROC AUC"] == pytest.approx(metrics.roc_auc_score(Y, scores, **given))
    order = random.permutation(40)
    again = evaluate(Y[order], predicted[order], sample_weight=real[order])
    assert all(again[name] == found[name] for name in again)


def test_unknown_cells_and_weights():
    Y, predicted, scores, random = tables(4, 30, unknown=True)
    weights = random.integers(1, 5, 30)
    rows = np.repeat(np.arange(30), weights)
    expected = evaluate(Y[rows], predicted[rows], scores[rows])
    assert evaluate(Y, predicted, scores, sample_weight=weights / 8) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "has the shape"),
        ([-1, 1, 1], "negative, infinite or NaN"),
        (["a", "b", "c"], "must be numbers"),
        ([0, 0, 0], "all weights are zero"),
    ],
)
def test_bad_weights(weights, message):
    for score in (evaluate, Measure.parse("f1").of_predictions):
        with pytest.raises(ValueError, match=message):
            score([[1], [0], [1]], [[1], [0], [0]], sample_weight=weights)


def test_exact_values_need_whole_weights():
    with pytest.raises(ValueError, match="need whole weights"):
        Measure.parse("f1").of_predictions([[1]], [[1]], exact=True, sample_weight=[0.5])


def test_cross_validation_weighs_rows_in_learning_and_in_measures():
    random = np.random.default_rng(0)
    X, Y = random.integers(0, 4, (60, 2)), random.integers(0, 2, (60, 2))
    plain, folds = dataset(X, Y), 3
    weights = random.integers(1, 9, 60) / 4
    found = cross_validate(dataset_with(plain, weights), SeparateAndConquer(), folds)
    assert (
        found["micro F1"].values
        != cross_validate(plain, SeparateAndConquer(), folds)["micro F1"].values
    )
    alike = cross_validate(dataset_with(plain, np.ones(60)), SeparateAndConquer(), folds)
    assert alike.as_dict() == cross_validate(plain, SeparateAndConquer(), folds).as_dict()
    with pytest.raises(ValueError, match="measures take one weight per row"):
        cross_validate(dataset_with(plain, random.random((60, 2))), SeparateAndConquer())


def dataset_with(data, weights):
    from dataclasses import replace

    return replace(data, weights=weights)


def test_calibration_counts_by_weights():
    data = load("magazines")
    weights = np.arange(14) % 3
    model = SeparateAndConquer().fit(data)
    expected = model.calibrate(data.take(np.repeat(np.arange(14), weights)))
    presence = expected.predict_proba(data)
    found = SeparateAndConquer().fit(data).calibrate(dataset_with(data, weights))
    np.testing.assert_array_equal(found.predict_proba(data), presence)
    assert (presence != SeparateAndConquer().fit(data).predict_proba(data)).any()
    assert (data.Y != UNSET).all()
