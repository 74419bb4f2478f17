"""One row as a dict gives what a frame of one row gives."""

import math
from collections import UserDict
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from data.test_cells import CELLS
from export_cases import ODD, layered, plain_theories, tables
from exports import rows_of
from extras import pd
from labelrules import (
    DecisionList,
    Feature,
    LayeredTheory,
    Predictor,
    Ripper,
    Schema,
    Scorecard,
    SeparateAndConquer,
    load,
    parse,
)
from labelrules.data import DataError
from labelrules.learners import BinaryRelevance, ClassifierChain, ConstrainedClassifier
from labelrules.rules import Gibbs, LabelByLabel, Once, UntilStable
from learners.registry import ASSOCIATIVE, COMPOSED, LAZY, RULE_LEARNERS, VOTING

READERS = load("magazines")
WAYS = [Once(), UntilStable(1), UntilStable(4), LabelByLabel(3)]


@settings(max_examples=40)
@given(st.data())
def test_theories_of_any_kind(data):
    theory = data.draw(plain_theories(ODD) | layered(ODD, WAYS, max_layers=2))
    rows = data.draw(tables(ODD))
    predictor = Predictor(theory)
    given = rows_of(rows, unknown="unheard of")
    expected = theory.predict(rows)
    found = predictor.predict(given)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    for row, cells in zip(given, expected, strict=True):
        names = tuple(np.array(ODD.labels, dtype=object)[cells == 1])
        assert predictor(row).labels == names


ALL = [*RULE_LEARNERS, *COMPOSED, *ASSOCIATIVE, *VOTING, *LAZY]


@pytest.mark.parametrize("learner", ALL, ids=lambda one: str(one).replace("\n", " ")[:60])
def test_every_learner_of_several_labels(learner):
    model = clone(learner).fit(READERS)
    predictor = Predictor(model)
    rows = rows_of(READERS)
    rows += [{**row, "sex": None, "education": "none of them"} for row in rows]
    frame = pd.DataFrame(rows)
    found = predictor.predict(rows)
    assert found.dtype == model.predict(frame).dtype
    np.testing.assert_array_equal(found, model.predict(frame))
    # Sums of products may be rounded otherwise for one row than for many.
    rtol = 0 if "LogisticRegression" not in str(model) else 1e-12
    expected = model.predict_proba(frame)
    np.testing.assert_allclose(predictor.predict_proba(rows), expected, rtol=rtol, atol=0)
    for row, cells, chances in zip(rows, found, predictor.predict_proba(rows), strict=True):
        one = predictor(row)
        assert one.labels == tuple(np.array(READERS.schema.labels, dtype=object)[cells == 1])
        assert list(one.probabilities.values()) == chances.tolist()
        np.testing.assert_array_equal(predictor.predict(row), cells)
        np.testing.assert_array_equal(predictor.predict_proba(row), chances)


CLASSIFIERS = [
    Ripper(),
    SeparateAndConquer(),
    Scorecard(),
    BinaryRelevance(Ripper()),
    BinaryRelevance(LogisticRegression(max_iter=1000)),
]


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"], [3, 1, 2]])
def test_classes(learner, classes):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.random(60), "z": random.choice(["u", "v"], 60)})
    numbers = (frame["x"] * len(classes)).astype(int).to_numpy()
    y = np.array(classes)[np.where(random.random(60) < 0.1, 0, numbers)]
    model = clone(learner).fit(frame, y)
    predictor, rows = Predictor(model), frame.to_dict("records")
    np.testing.assert_array_equal(predictor.predict(rows), model.predict(frame))
    np.testing.assert_allclose(
        predictor.predict_proba(rows), model.predict_proba(frame), rtol=1e-15
    )
    for row, predicted in zip(rows, model.predict(frame), strict=True):
        assert predictor.predict(row) == predicted
        label = predictor(row).labels
        if len(classes) > 2:
            assert label == (model.labels_[list(model.classes_).index(predicted)],)
            assert math.isclose(sum(predictor(row).probabilities.values()), 1)
        else:
            assert label == (("yes",) if predicted == "yes" else ())


KINDS = Schema(
    [
        Feature("n"),
        Feature("text", ("a", "b")),
        Feature("number", ("0", "1", "2.5")),
        Feature("truth", ("False", "True")),
        Feature("untested"),
    ],
    ["low", "a", "one", "yes"],
)
TESTS = parse('low <- n <= 1\na <- text != b\none <- number = "1"\nyes <- truth = True', KINDS)


@given(st.sampled_from(KINDS.feature_names[:4]), CELLS)
def test_values_of_any_kind_are_read_as_in_a_frame(name, cell):
    row = {**dict.fromkeys(KINDS.feature_names), name: cell}
    frame = pd.DataFrame({name: [cell] for name, cell in row.items()}, dtype=object)
    found, expected = outcome(Predictor(TESTS).predict, row), outcome(TESTS.predict, frame)
    if isinstance(found, str):
        assert found.removeprefix("the row does not fit the model: ") in expected
    else:
        np.testing.assert_array_equal([found], expected)


def outcome(predict, row):
    """What is predicted, or the message of the error."""
    try:
        return predict(row)
    except DataError as wrong:
        return str(wrong)


def test_a_date_is_the_day_that_a_zoned_time_is_written_with():
    schema = Schema([Feature("day", kind="date")], ["winter"])
    predictor = Predictor(parse("winter <- day <= 2020-02-29", schema))
    for text, is_before in (
        ("2020-03-01T00:30+01:00", False),
        ("2020-02-29T23:30-01:00", True),
        ("2020-03-01T00:30", False),
    ):
        for time in (datetime.fromisoformat(text), pd.Timestamp(text), text):
            assert predictor({"day": time}).labels == ("winter",) * is_before


def test_only_columns_that_rules_test_are_needed():
    predictor = Predictor(TESTS)
    assert predictor.columns == ("n", "text", "number", "truth")
    row = {"n": 0, "text": "a", "number": 1.0, "truth": True, "untested": "anything", "more": []}
    assert predictor(row).labels == ("low", "a", "one", "yes")
    assert predictor(UserDict(row)).labels == predictor(row).labels
    assert [one.labels for one in predictor([row, row])] == [predictor(row).labels] * 2
    assert predictor([]) == []
    assert predictor.predict([]).shape == (0, 4)
    assert repr(predictor) == "<Predictor: 4 columns, 4 labels>"
    assert repr(predictor(row)) == "Prediction(labels=('low', 'a', 'one', 'yes'))"


def test_the_values_are_those_of_the_call():
    row = {"n": 0, "text": "a", "number": "1", "truth": True}
    found = Predictor(TESTS)(row)
    row["n"] = 7
    assert found.reasons["low"] == ["low <- n <= 1"]


def test_reasons():
    model = SeparateAndConquer().fit(READERS)
    row = {"education": "University", "marital": "Single", "sex": "Female", "children": "No"}
    assert Predictor(model)(row).reasons == {
        "quality": ["quality <- education = University"],
        "tabloid": [],
        "fashion": ["fashion <- sex = Female, education = University"],
        "sports": [],
    }


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (
            LayeredTheory(READERS.schema, [DecisionList(READERS.schema)], Gibbs()),
            "means of samples",
        ),
        (ClassifierChain(Ripper(), n_chains=3).fit(READERS), "not decided by the rules of one"),
        (ConstrainedClassifier().fit(READERS), "not decided by the rules of one theory"),
    ],
)
def test_no_reasons(model, why):
    row = rows_of(READERS)[0]
    with pytest.raises(TypeError, match=f"gives no reasons: .*{why}"):
        _ = Predictor(model)(row).reasons


def test_wrong_calls():
    predictor = Predictor(TESTS)
    row = {"n": 0, "text": "a", "number": "1", "truth": True}
    with pytest.raises(DataError, match=r"no column 'text' \(.* None\); did you mean 'test'"):
        predictor({"n": 1, "test": "a"})
    with pytest.raises(DataError, match="fit the model: column 'n' must hold numbers, but it is n"):
        predictor({**row, "n": "1"})
    with pytest.raises(DataError, match="feature 'n' has an infinite value"):
        predictor({**row, "n": math.inf})
    with pytest.raises(TypeError, match=r"not DataFrame; a frame is for model\.predict"):
        predictor(pd.DataFrame([row]))
    with pytest.raises(TypeError, match="row 1 is not a dict, but of type list"):
        predictor([row, [1]])
    with pytest.raises(TypeError, match="a theory alone has no probabilities"):
        _ = predictor(row).probabilities
    with pytest.raises(TypeError, match="a theory alone has no probabilities"):
        predictor.predict_proba(row)
    with pytest.raises(TypeError, match="or a fitted learner, not str"):
        Predictor("model")
    with pytest.raises(NotFittedError):
        Predictor(Ripper())
    with pytest.raises(TypeError, match="does not know the names and kinds of its columns"):
        Predictor(
            ConstrainedClassifier(DecisionTreeClassifier()).fit(
                np.arange(8).reshape(-1, 2), [[0, 1]] * 4
            )
        )


def test_a_learner_from_elsewhere_is_asked_itself():
    class Contrary(SeparateAndConquer):
        def _labels(self, X):
            return 1 - super()._labels(X)

    model = Contrary().fit(READERS)
    np.testing.assert_array_equal(
        Predictor(model).predict(rows_of(READERS)), model.predict(READERS)
    )
