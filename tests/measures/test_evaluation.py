"""The usual measures, compared with those of scikit-learn."""

import json
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn import metrics

from labelrules.measures import Evaluation, evaluate

ALWAYS = {
    "micro precision", "micro recall", "micro F1", "macro F1", "samples F1", "samples Jaccard",
    "subset accuracy", "Hamming loss",
}  # fmt: skip
RANKED = {"coverage error", "ranking loss", "label ranking average precision"}
CURVES = {f"{average} {name}" for average in ("micro", "macro")
          for name in ("average precision", "ROC AUC")}  # fmt: skip


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

    def average(metric, average):
        return metric(Y, predicted, average=average, zero_division=0)

    expected = {
        "micro precision": average(metrics.precision_score, "micro"),
        "micro recall": average(metrics.recall_score, "micro"),
        "micro F1": average(metrics.f1_score, "micro"),
        "macro F1": average(metrics.f1_score, "macro"),
        "samples F1": average(metrics.f1_score, "samples"),
        "samples Jaccard": average(metrics.jaccard_score, "samples"),
        "subset accuracy": metrics.accuracy_score(Y, predicted),
        "Hamming loss": metrics.hamming_loss(Y, predicted),
        "coverage error": metrics.coverage_error(Y, scores),
        "ranking loss": metrics.label_ranking_loss(Y, scores),
        "label ranking average precision": metrics.label_ranking_average_precision_score(Y, scores),
        "micro average precision": metrics.average_precision_score(Y, scores, average="micro"),
        "macro average precision": metrics.average_precision_score(Y, scores, average="macro"),
        "micro ROC AUC": metrics.roc_auc_score(Y, scores, average="micro"),
        "macro ROC AUC": metrics.roc_auc_score(Y, scores, average="macro"),
    }
    assert values == pytest.approx(expected, rel=1e-12)


def test_rows_and_labels_without_anything_count_as_in_scikit_learn():
    """Row 1 and label 2 have neither true nor predicted labels: 0 in the means, right as a row."""
    Y = predicted = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 0]])
    values = evaluate(Y, predicted)
    assert values["samples F1"] == metrics.f1_score(Y, Y, average="samples", zero_division=0)
    assert values["samples F1"] == values["macro F1"] == 2 / 3
    assert values["subset accuracy"] == 1


def test_the_table_has_at_most_fifteen_lines_with_values_below_each_other(example):
    values = evaluate(*example)
    lines = str(values).splitlines()
    assert len(lines) == len(values) <= 15
    assert len(set(map(len, lines))) == 1
    assert lines[0].split() == ["micro", "precision", f"{values['micro precision']:.4f}"]
    assert all(f"<td>{name}</td>" in values._repr_html_() for name in values)


def test_it_is_a_dictionary_with_a_short_representation(example):
    values = evaluate(*example)
    assert json.loads(json.dumps(values)) == values
    assert repr(values).startswith("<Evaluation: micro F1 0.")
    assert "\n" not in repr(values)
    assert repr(Evaluation()) == "<Evaluation: >"


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
        "micro average precision": ones.any(),
        "macro average precision": ones.all(),
        "micro ROC AUC": ones.any() and zeros.any(),
        "macro ROC AUC": (ones & zeros).all(),
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
