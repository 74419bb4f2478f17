"""Targets as people have them, and scikit-learn's tools for several labels."""

import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import StackingClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from extras import pd, pl
from labelrules import dataset, split_labels
from labelrules.data import DataError
from labelrules.learners import BinaryRelevance, LabelPowerset, Scorecard, SeparateAndConquer
from labelrules.mining import AssociativeClassifier

NAMES = np.array(["jazz", "music", "news"])
ROWS = [("jazz", "music"), ("news",), (), ("music",), ("jazz", "music"), ("news", "music")] * 5
X = np.array([[len(row), "news" in row, "jazz" in row] for row in ROWS], dtype=float)


@pytest.mark.parametrize(
    "Y",
    [
        [list(row) for row in ROWS],
        [set(row) for row in ROWS],
        [frozenset(row) for row in ROWS],
        pd.Series(ROWS),
        pd.Series([np.array(row, dtype=object) for row in ROWS]),
        pl.Series([list(row) for row in ROWS]),
        pd.Series(ROWS).to_numpy(),
        np.array([[name in row for name in NAMES] for row in ROWS]),
        pd.DataFrame({name: [name in row for row in ROWS] for name in NAMES}),
        pd.DataFrame({name: [int(name in row) for row in ROWS] for name in NAMES}).astype(
            pd.SparseDtype("int8", 0)
        ),
        split_labels([",".join(row) for row in ROWS]),
    ],
)
def test_label_sets_and_tables_in_any_form_are_the_same(Y):
    expected = SeparateAndConquer().fit(X, ROWS)
    found = SeparateAndConquer().fit(X, Y)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("separator", [",", "; ", "|"])
@pytest.mark.parametrize("form", [list, np.array, pd.Series])
def test_labels_joined_in_a_text_are_refused(separator, form):
    with pytest.raises(DataError, match="which look like several labels in one: split them by"):
        SeparateAndConquer().fit(X, form([separator.join(row) for row in ROWS]))


@pytest.mark.parametrize("separator", [" ", "/", " + ", "&"])
def test_a_separator_that_names_have_too_joins_labels_that_all_stand_alone(separator):
    X = np.arange(30).reshape(-1, 1)
    joined = ["flu", f"flu{separator}cough", "cough"] * 10
    with pytest.raises(DataError, match="which look like several labels in one: split them by"):
        SeparateAndConquer().fit(X, joined)
    kinds = ["good", f"very{separator}good", f"very{separator}bad"] * 10
    assert SeparateAndConquer().fit(X, kinds).classes_.tolist() == sorted(set(kinds))


@pytest.mark.parametrize("form", [str, json.dumps, lambda row: str(tuple(row)).replace(",)", ")")])
def test_printed_lists_are_refused(form):
    with pytest.raises(DataError, match=r"printed lists: .*\[ast.literal_eval\(text\) for text in"):
        SeparateAndConquer().fit(X, [form(row) for row in ROWS])
    ranges = ["[1, 2]", "[3, 4]"] * (len(ROWS) // 2) + ["[3, 4]"] * (len(ROWS) % 2)
    assert SeparateAndConquer().fit(X, ranges).classes_.tolist() == ["[1, 2]", "[3, 4]"]


@pytest.mark.parametrize(
    "texts", [["a,b", "a", "c"] * 10, ["a,b", "b,c", "a,c", "a,b,c", "b,a"] * 6]
)
def test_they_are_refused_if_one_part_stands_alone_or_there_are_fewer_parts(texts):
    with pytest.raises(DataError, match="which look like several labels in one: split them by"):
        SeparateAndConquer().fit(X, texts)


def test_names_of_columns_are_no_labels():
    frame = pd.DataFrame(X, columns=["size", "news", "jazz"])
    for names in (["news", "jazz"], ("news",), "news"):
        with pytest.raises(
            DataError, match=r"^Y names columns of X \('news'.*label_names=\['news'"
        ):
            SeparateAndConquer().fit(frame, names)


def test_classes_may_have_commas():
    names = ["Miller, Ann" if row else "Smith, John" for row in ROWS]
    assert SeparateAndConquer().fit(X, names).classes_.tolist() == ["Miller, Ann", "Smith, John"]


# ---------------------------------------------------------------- scikit-learn's tools


@pytest.fixture(params=[2, 3])
def table(request):
    return make_multilabel_classification(80, 5, n_classes=request.param, random_state=1)


LEARNERS = [
    SeparateAndConquer(),
    BinaryRelevance(),
    LabelPowerset(KNeighborsClassifier()),
    AssociativeClassifier(),
    Scorecard(),
]
learners = pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)


@learners
def test_predictions_of_folds(learner, table):
    X, Y = table
    found = cross_val_predict(learner, X, Y, method="predict_proba", cv=2)
    assert found.shape == Y.shape
    assert cross_val_predict(learner, X, Y, cv=2).shape == Y.shape


@learners
@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1_micro", "accuracy"])
def test_scorers(learner, table, scoring):
    values = cross_val_score(learner, *table, scoring=scoring, cv=2, error_score="raise")
    assert np.isfinite(values).all()


@learners
def test_stacking_takes_the_probabilities(learner, table):
    X, Y = table
    stack = StackingClassifier([("ours", learner)], final_estimator=KNeighborsClassifier(), cv=2)
    assert stack.fit(X, Y).predict(X).shape == Y.shape


@learners
def test_other_tools(learner, table):
    X, Y = table
    assert MultiOutputClassifier(SeparateAndConquer()).fit(X, Y).predict(X).shape == Y.shape
    assert ClassifierChain(SeparateAndConquer()).fit(X, Y).predict_proba(X).shape == Y.shape
    assert permutation_importance(learner.fit(X, Y), X, Y, n_repeats=1).importances.shape == (5, 1)
    average = partial_dependence(learner, X, [0], response_method="predict_proba")["average"]
    # Of two labels it shows the second only, as for OneVsRestClassifier: they look like classes.
    assert average.shape[0] == (Y.shape[1] if Y.shape[1] > 2 else 1)


def test_searches_and_curves(table):
    X, Y = table
    pipeline = make_pipeline(StandardScaler(), SeparateAndConquer())
    grid = {"separateandconquer__max_rules": [1, 3]}
    for search in (
        GridSearchCV(pipeline, grid, cv=2),
        RandomizedSearchCV(pipeline, grid, n_iter=2),
    ):
        assert search.fit(X, Y).predict(X).shape == Y.shape
    assert np.isfinite(learning_curve(SeparateAndConquer(), X, Y, cv=2)[1]).all()
    curve = validation_curve(SeparateAndConquer(), X, Y, param_name="max_rules", param_range=[1, 2])
    assert np.isfinite(curve[1]).all()
    assert permutation_test_score(SeparateAndConquer(), X, Y, n_permutations=2, cv=2)[0] >= 0
    selector = SequentialFeatureSelector(SeparateAndConquer(), n_features_to_select=2, cv=2)
    assert selector.fit(X, Y).transform(X).shape == (80, 2)


def test_one_label_is_scored_as_it_is():
    X = np.random.default_rng(0).random((60, 2))
    Y = (X[:, :1] > 0.5).astype(int)
    assert cross_val_score(SeparateAndConquer(), X, Y, scoring="roc_auc").min() == 1.0


def test_rows_with_the_same_index_in_another_order():
    features, labels = (
        pd.DataFrame(X),
        pd.DataFrame([[name in row for name in NAMES] for row in ROWS]),
    )
    labels.columns = NAMES
    turned = labels[::-1]
    with pytest.warns(UserWarning, match=r"in another order, .* give Y\.loc\[X\.index\]") as found:
        SeparateAndConquer().fit(features, turned)
    assert [one.filename for one in found] == [__file__]
    with pytest.warns(UserWarning, match="in another order") as found:
        dataset(features, turned["jazz"])
    assert [one.filename for one in found] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SeparateAndConquer().fit(features, turned.loc[features.index])
        SeparateAndConquer().fit(features, turned.reset_index(drop=True))
        SeparateAndConquer().fit(features[::-1], turned)
        SeparateAndConquer().fit(features, turned.to_numpy())
