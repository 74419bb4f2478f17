"""Unknown labels in measures: the value is that of what is known."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from labelrules.measures import Measure, evaluate

FORMULAS = ["precision", "recall", "f1", "f0.5", "hamming", "jaccard", "laplace"]


def parts(averaging, known):
    """The cells of each table whose value is averaged, as rows and labels."""
    rows, labels = np.nonzero(known)
    if averaging == "micro":
        return [(rows, labels)]
    if averaging == "cell":
        return [(rows[k : k + 1], labels[k : k + 1]) for k in range(len(rows))]
    key = rows if averaging == "samples" else labels
    return [(rows[key == one], labels[key == one]) for one in np.unique(key)]


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(FORMULAS), st.sampled_from(["micro", "macro", "samples", "cell"]))
def test_the_mean_over_what_is_known(data, formula, averaging):
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 4)))
    Y = data.draw(arrays.arrays(np.int8, shape, elements=st.integers(-1, 1)))
    predicted = data.draw(arrays.arrays(np.int8, shape, elements=st.integers(0, 1)))
    assume((Y >= 0).any())
    measure = Measure.parse(f"{formula}/{averaging}/full")
    of_part = Measure.parse(f"{formula}/micro/full")
    values = [
        of_part.of_predictions(Y[cells][None], predicted[cells][None], exact=True)
        for cells in parts(averaging, Y >= 0)
    ]
    expected = sum(values) / len(values)
    assert measure.of_predictions(Y, predicted, exact=True) == expected
    assert measure.of_predictions(Y, predicted) == pytest.approx(float(expected))
    as_nan = np.where(Y < 0, np.nan, Y)
    assert measure.of_predictions(as_nan, predicted, exact=True) == expected


def test_a_row_is_right_if_all_that_is_known_of_it_is():
    Y, predicted = [[1, -1], [0, 1], [-1, -1], [-1, 0]], [[1, 1], [1, 1], [0, 0], [1, 1]]
    assert Measure.parse("subset/samples/full").of_predictions(Y, predicted) == 1 / 3
    assert evaluate(Y, predicted)["Hamming loss"] == 2 / 4


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rankings_of_what_is_known(data):
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(2, 4)))
    Y = data.draw(arrays.arrays(np.int8, shape, elements=st.integers(-1, 1)))
    scores = data.draw(arrays.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.5, 1.0])))
    assume((Y >= 0).any())
    found = evaluate(Y, (scores > 0.5).astype(int), scores)
    rows = [(row[row >= 0], score[row >= 0]) for row, score in zip(Y, scores, strict=True)]
    rows = [pair for pair in rows if len(pair[0]) > 1]
    for name in ("ranking loss", "label ranking average precision", "coverage error"):
        if not rows:
            assert name not in found
            continue
        each = [evaluate(y[None], (s > 0.5)[None].astype(int), s[None])[name] for y, s in rows]
        assert found[name] == pytest.approx(np.mean(each))


def test_nothing_known_is_nothing_to_compare_with():
    with pytest.raises(ValueError, match="all cells of Y are unknown"):
        evaluate([[-1, -1]], [[0, 1]])
