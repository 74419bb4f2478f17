"""All usual measures at once, with scikit-learn as the judge."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn import metrics

from labelrules.measures import AVERAGINGS, evaluate

OURS = {f"{name}/{averaging}/full" for name in ("precision", "recall", "f1", "hamming", "jaccard")
        for averaging in AVERAGINGS}  # fmt: skip
ALWAYS = OURS | {"subset/samples/full", "hamming-loss", "zero-one-loss"}
RANKED = {"coverage-error", "ranking-loss", "label-ranking-average-precision"}
CURVES = {"average-precision/micro", "average-precision/macro", "roc-auc/micro", "roc-auc/macro"}


@pytest.fixture
def example():
    generator = np.random.default_rng(1)
    Y = (generator.random((40, 5)) < 0.4).astype(int)
    scores = generator.random((40, 5)) + 0.3 * Y
    return Y, (scores > 0.6).astype(int), scores


def test_everything_is_there(example):
    Y, predicted, scores = example
    assert set(evaluate(Y, predicted)) == ALWAYS
    assert set(evaluate(Y, predicted, scores)) == ALWAYS | RANKED | CURVES


def test_scikit_learn_agrees(example):
    Y, predicted, scores = example
    values = evaluate(Y, predicted, scores)
    averages = {"micro": "micro", "label": "macro", "example": "samples"}
    expected = {
        "hamming-loss": metrics.hamming_loss(Y, predicted),
        "zero-one-loss": metrics.zero_one_loss(Y, predicted),
        "subset/samples/full": metrics.accuracy_score(Y, predicted),
        "coverage-error": metrics.coverage_error(Y, scores),
        "ranking-loss": metrics.label_ranking_loss(Y, scores),
        "label-ranking-average-precision": metrics.label_ranking_average_precision_score(Y, scores),
        "average-precision/micro": metrics.average_precision_score(Y, scores, average="micro"),
        "average-precision/macro": metrics.average_precision_score(Y, scores, average="macro"),
        "roc-auc/micro": metrics.roc_auc_score(Y, scores, average="micro"),
        "roc-auc/macro": metrics.roc_auc_score(Y, scores, average="macro"),
    }
    for ours, theirs in averages.items():
        options = {"average": theirs, "zero_division": 0.0}
        expected[f"precision/{ours}/full"] = metrics.precision_score(Y, predicted, **options)
        expected[f"recall/{ours}/full"] = metrics.recall_score(Y, predicted, **options)
        expected[f"f1/{ours}/full"] = metrics.f1_score(Y, predicted, **options)
        expected[f"jaccard/{ours}/full"] = metrics.jaccard_score(Y, predicted, **options)
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=1e-12)


def test_open_cells_count_as_absent(example):
    Y, predicted, _ = example
    assert evaluate(Y, np.where(predicted == 0, -1, 1)) == evaluate(Y, predicted)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_never_a_warning_never_a_crash(data):
    """Any table: labels without positives or negatives, one label, one row, tied scores."""
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 3)))
    Y = data.draw(arrays.arrays(np.int8, shape, elements=st.integers(0, 1)))
    predicted = data.draw(arrays.arrays(np.int8, shape, elements=st.integers(-1, 1)))
    scores = data.draw(arrays.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.5, 1.0])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = evaluate(Y, predicted, scores)
    assert all(type(value) is float and np.isfinite(value) for value in values.values())
    ones, zeros = (Y == 1).any(axis=0), (Y == 0).any(axis=0)
    expected = {
        **dict.fromkeys(ALWAYS, True),
        **dict.fromkeys(RANKED, shape[1] > 1),
        "average-precision/micro": ones.any(),
        "average-precision/macro": ones.all(),
        "roc-auc/micro": ones.any() and zeros.any(),
        "roc-auc/macro": (ones & zeros).all(),
    }
    assert set(values) == {name for name, is_defined in expected.items() if is_defined}


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.1]], "Y has the shape (1, 2) but scores has the shape (1, 1)"),
        ([[0.1, np.nan]], "scores has missing or infinite values"),
        ([[0.1, np.inf]], "scores has missing or infinite values"),
        ([["a", "b"]], "scores must be numbers"),
    ],
)
def test_bad_scores(scores, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        evaluate([[1, 0]], [[1, 0]], scores)


def test_bad_predictions():
    with pytest.raises(ValueError, match=re.escape("predicted has the shape (1, 3)")):
        evaluate([[1, 0]], [[1, 0, 1]])
