"""What every learner has from `RuleClassifier`: targets, probabilities, paths, prefixes, errors."""

import subprocess
import sys

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from extras import pd, pl
from labelrules import UNSET, Dataset, DecisionList, Evidence, Predictor, dataset, load, parse
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    RuleClassifier,
    Scorecard,
    SeparateAndConquer,
)
from learners.registry import LEARNERS, ONE_LABEL_LEARNERS, WRAPPED, Stumps


class Given(RuleClassifier):
    """Learns nothing: the rules are those given as text."""

    def __init__(self, text="", smoothing="laplace"):
        self.text = text
        self.smoothing = smoothing

    def _learn(self, data, prefix):
        return parse(self.text, data.schema)


READERS = """
not fashion <- sex = Male
quality, tabloid, * <- education = University
sports <- true
"""


def fitted(text=READERS, **parameters):
    return Given(text, **parameters).fit(load("magazines"))


# ---------------------------------------------------------------- targets


def test_rows_by_labels_come_back_in_the_type_of_their_cells():
    X = [[0], [1], [2], [3]]
    for dtype in (np.int8, np.int64, np.float32, np.bool_):
        Y = np.array([[0, 1], [0, 1], [1, 1], [1, 1]], dtype=dtype)
        for given in (Y, sparse.csr_array(Y)):
            found = Stumps().fit(X, given).predict(X)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, Y)


def test_label_sets_and_frames_name_the_labels():
    X = [[0], [1], [2]]
    by_set = Stumps().fit(X, [{"b"}, {"a", "b"}, {"a"}])
    assert by_set.schema_.labels == ("a", "b")
    assert by_set.n_labels_ == 2
    by_frame = Stumps().fit(X, pl.DataFrame({"b": [1, 1, 0], "a": [False, True, True]}))
    assert by_frame.schema_.labels == ("b", "a")
    assert by_frame.predict(X).dtype == np.int64
    right = (by_set.predict(X) == [[0, 1], [1, 1], [1, 0]]).all(axis=1).mean()
    assert by_set.score(X, [{"b"}, {"a", "b"}, {"a"}]) == right
    assert by_frame.score(X, pl.DataFrame({"b": [1, 1, 0], "a": [False, True, True]})) == right


def test_the_classes_of_labels_are_their_numbers_as_in_other_multi_label_classifiers():
    assert Stumps().fit([[0], [1]], [[0, 1], [1, 1]]).classes_.tolist() == [0, 1]
    assert Stumps().fit([[0], [1]], [[0], [1]]).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], [2.0, 5.0], ["no", "yes"], [False, True]])
def test_two_classes_are_one_label_and_come_back(classes):
    y = np.array(classes)[[0, 0, 1, 1, 0]]
    X = np.array([[0.0], [1.0], [5.0], [6.0], [2.0]])
    for given in (y, y.tolist(), pd.Series(y), pl.Series(y)):
        model = Stumps().fit(X, given)
        assert model.classes_.tolist() == classes
        assert model.n_labels_ == 1
        np.testing.assert_array_equal(model.predict(X), y)
        assert model.predict(X).dtype == np.asarray(given if given is y else y.tolist()).dtype
        assert model.predict_proba(X).shape == (5, 2)
        assert model.score(X, given) == 1


def test_more_classes_are_a_label_each_and_the_most_probable_is_predicted():
    iris = load_iris()
    names = iris.target_names[iris.target]
    model = Stumps().fit(iris.data, names)
    assert model.schema_.labels == ("setosa", "versicolor", "virginica")
    probabilities = model.predict_proba(iris.data)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(
        model.predict(iris.data), model.classes_[probabilities.argmax(axis=1)]
    )


VOTING_ON_CLASSES = [
    ClassifierChain(n_chains=2),
    ClassifierChain(Stumps(), n_chains=2, bootstrap=False),
    ClassifierChain(SeparateAndConquer(smoothing=2.0), n_chains=3),
    ClassifierChain(LogisticRegression(), n_chains=2),
    BinaryRelevance(DecisionTreeClassifier(random_state=0)),
    Scorecard(),
]


@pytest.mark.parametrize("learner", VOTING_ON_CLASSES, ids=lambda one: " ".join(repr(one).split()))
@hypothesis.settings(max_examples=6, deadline=None)
@hypothesis.given(seed=st.integers(0, 1 << 20), n_classes=st.integers(2, 4))
def test_the_class_that_is_predicted_is_the_most_probable(learner, seed, n_classes):
    """Voting chains once took the threshold for label sets, and trees gave NaN for no class."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 5, (40, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] + random.integers(0, 4, 40)) ** 2 % 7 % n_classes
    y[:n_classes] = np.arange(n_classes)
    model = learner.fit(X[:30], y[:30])
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    rows = [dict(zip(model.schema_.feature_names, row, strict=True)) for row in X[28:32].tolist()]
    served = [list(Predictor(model)(row).probabilities.values()) for row in rows]
    if n_classes > 2:
        np.testing.assert_allclose(served, probabilities[28:32])


def test_of_equally_probable_classes_the_first_is_predicted():
    model = Given("").fit([[1], [2], [3]], ["b", "a", "c"])
    np.testing.assert_allclose(model.predict_proba([[9]]), [[1 / 3, 1 / 3, 1 / 3]])
    assert model.predict([[9]]).tolist() == ["a"]


def test_labels_that_are_classes_have_readable_names():
    def labels(y, X=None):
        return Stumps().fit([[1]] * len(y) if X is None else X, y).schema_.labels

    assert labels([0, 1]) == ("y0",)
    assert labels(pd.Series([0, 1], name="spam")) == ("spam",)
    assert labels(["ham", "spam"]) == ("spam",)
    assert labels([1, 2]) == ("class_2",)
    assert labels([1.0, 2.0, 4.0]) == ("class_1", "class_2", "class_4")
    assert labels(["", "a", "b"]) == ("class_", "a", "b")
    frame = pd.DataFrame({"a": [1, 2, 3], "a_": [1, 2, 3]})
    assert labels(["a", "b", "c"], frame) == ("a__", "b__", "c__")


def test_a_column_of_classes_is_flattened_with_a_warning_and_one_of_labels_is_not():
    X = [[0], [1], [2]]
    with pytest.warns(DataConversionWarning, match="ravel"):
        model = Stumps().fit(X, np.array([["a"], ["b"], ["c"]]))
    assert model.predict(X).shape == (3,)
    assert Stumps().fit(X, [[0], [1], [1]]).predict(X).shape == (3, 1)


# ---------------------------------------------------------------- probabilities


def test_a_written_cell_has_the_probability_of_its_rule():
    """Nine men, none of whom reads fashion: Laplace says 1 of 11."""
    model = fitted()
    readers = load("magazines")
    assert model.theory_[0].evidence == (Evidence(9, 0),)
    men = readers.column("sex") == readers.schema.features[2].categories.index("Male")
    np.testing.assert_allclose(model.predict_proba(readers)[men, 2], 1 / 11)


def test_a_cell_nobody_wrote_has_the_probability_of_the_training_cells_nobody_wrote():
    model, readers = fitted(), load("magazines")
    is_open = model.writers(readers).board == UNSET
    for label in range(4):
        cells = readers.Y[is_open[:, label], label]
        expected = (cells.sum() + 1) / (len(cells) + 2)
        np.testing.assert_allclose(model.predict_proba(readers)[is_open[:, label], label], expected)


def test_the_m_estimate_leans_on_the_share_of_the_label():
    readers = load("magazines")
    model = fitted("quality <- education = Primary\nnot tabloid <- true", smoothing=3)
    share = (readers.Y.sum(axis=0) + 1) / (len(readers) + 2)
    tabloid = readers.Y[:, 1].sum()
    expected = (tabloid + 3 * share[1]) / (len(readers) + 3)
    np.testing.assert_allclose(model.predict_proba(readers)[:, 1], expected)
    primary = model.writers(readers).writer[:, 0] == 0
    np.testing.assert_allclose(
        model.predict_proba(readers)[primary, 0],
        (readers.Y[primary, 0].sum() + 3 * share[0]) / (primary.sum() + 3),
    )


def test_probabilities_are_strictly_between_0_and_1():
    X, Y = [[0], [1]], [[0, 1], [0, 1]]
    for smoothing in ("laplace", 0.1, 100):
        found = Given("y1 <- true", smoothing).fit(X, Y).predict_proba(X)
        assert ((found > 0) & (found < 1)).all()


def test_rules_without_evidence_know_nothing():
    """A list that was edited by hand after learning can still be used."""
    model = fitted()
    model.theory_ = parse("quality <- true", model.schema_)
    assert model.predict_proba(load("magazines"))[:, 0].tolist() == [0.5] * 14


# ---------------------------------------------------------------- paths


def test_writers_are_those_of_the_list():
    model, readers = fitted(), load("magazines")
    for found, expected in zip(model.writers(readers), model.theory_.run(readers), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_path_has_the_rules_that_wrote_or_ended_a_row():
    """The second rule ends a row even where its labels are written already."""
    text = "quality, tabloid <- true\n*, quality <- education = University\nsports <- true"
    model, readers = fitted(text), load("magazines")
    at_university = model.writers(readers).stopped == 1
    assert 0 < at_university.sum() < 14
    path = model.decision_path(readers)
    assert path.format == "csr"
    assert path.shape == (14, 3)
    np.testing.assert_array_equal(path.toarray()[at_university], [[1, 1, 0]] * at_university.sum())
    np.testing.assert_array_equal(
        path.toarray()[~at_university], [[1, 0, 1]] * (~at_university).sum()
    )


def test_no_rows_are_predicted_too():
    model = Stumps().fit([[0], [1], [2]], [[0, 1], [1, 1], [1, 0]])
    nothing = np.empty((0, 1))
    assert model.predict(nothing).shape == model.predict_proba(nothing).shape == (0, 2)
    assert model.decision_path(nothing).shape == (0, len(model.theory_))


# ---------------------------------------------------------------- prefixes


def test_given_rules_are_kept_and_their_evidence_is_counted_anew():
    readers = load("magazines")
    prefix = parse("quality <- sex = Male (99/0)", readers.schema)
    for given in (prefix, str(prefix), "quality <- sex = Male (99/0)"):
        model = Stumps().fit(readers, theory=given)
        assert model.theory_[0] == prefix[0]
        assert (
            model.theory_[0].evidence == model.theory_.with_evidence(readers, readers.Y)[0].evidence
        )
        assert sum(model.theory_[0].evidence[0]) == 9


def test_a_warm_start_keeps_the_rules_of_the_last_fit_but_the_default():
    readers = load("magazines")
    model = Stumps(warm_start=True).fit(readers)
    first = model.theory_
    assert len(first[-1].body) == 0
    again = model.fit(readers).theory_
    assert again[: len(first) - 1] == first[:-1]
    assert [len(rule.body) for rule in again].count(0) == 1
    assert model.set_params(warm_start=False).fit(readers).theory_ == first


def test_a_warm_start_goes_on_where_the_last_fit_ended():
    readers = load("magazines")
    settings = {"pruning": None, "last_resort": None}
    model = SeparateAndConquer(max_rules=3, warm_start=True, **settings).fit(readers)
    assert len(model.theory_) == 3
    assert model.set_params(max_rules=None).fit(readers).theory_ == (
        SeparateAndConquer(**settings).fit(readers).theory_
    )


def test_a_warm_start_within_literals_learns_the_default_anew():
    readers = load("magazines")
    data = Dataset(readers.schema, readers.X, 1 - readers.Y)  # most labels are mostly present
    model = SeparateAndConquer(warm_start=True, pruning=None, max_literals=9).fit(data)
    default = model.theory_[-1]
    assert not len(default.body)
    assert (
        model.n_learned_
        == len(model.theory_) - 1
        < len(SeparateAndConquer(pruning=None).fit(data).theory_) - 1
    )
    again = model.fit(data).theory_
    assert [len(rule.body) for rule in again].count(0) == 1


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ({"a": [1, 2]}, {"p": [0, 1], "q": [1, 0]}, "its labels are 'q', 'p', those of Y 'p', 'q'"),
        ({"b": [1, 2]}, {"q": [0, 1], "p": [1, 0]}, "its features are 'a', those of X 'b'"),
        ({"a": ["u", "v"]}, {"q": [0, 1], "p": [1, 0]}, "'a' is numeric, that of X nominal"),
    ],
)
def test_rules_over_other_data_are_refused_with_the_way_to_read_them_by_name(X, Y, message):
    schema = dataset(pd.DataFrame({"a": [0.5]}), pd.DataFrame({"q": [0], "p": [1]})).schema
    theory = parse("p <- true", schema)
    with pytest.raises(ValueError, match=message) as caught:
        Stumps().fit(pd.DataFrame(X), pd.DataFrame(Y), theory=theory)
    assert "theory=str(theory)" in str(caught.value)
    read = Stumps().fit(pd.DataFrame(X), pd.DataFrame(Y), theory=str(theory)).theory_
    assert str(read[:1]) == "otherwise: p"


def test_a_prefix_is_a_decision_list():
    readers = load("magazines")
    for wrong in (parse("in any order:\nquality <- true", readers.schema), [], 3):
        with pytest.raises(ValueError, match="must be a DecisionList, or the text of one"):
            Stumps().fit(readers, theory=wrong)
    assert isinstance(
        Stumps().fit(readers, theory=DecisionList(readers.schema)).theory_, DecisionList
    )


# ---------------------------------------------------------------- names of features


def test_without_names_the_columns_count_by_their_place():
    X = np.array([[0, 3], [1, 2], [2, 1]])
    Y = [[1], [0], [0]]
    by_array, by_numbers = Stumps().fit(X, Y), Stumps().fit(pd.DataFrame(X), Y)
    for model in (by_array, by_numbers):
        assert not hasattr(model, "feature_names_in_")
        for table in (X, X.tolist(), pd.DataFrame(X), pd.DataFrame(X, columns=[7, 8])):
            np.testing.assert_array_equal(model.predict(table), Y)
        with pytest.warns(UserWarning, match="fitted without feature names"):
            np.testing.assert_array_equal(model.predict(pl.DataFrame(X, schema=["a", "b"])), Y)


def test_with_names_the_columns_must_have_them_in_order():
    model = Stumps().fit(pl.DataFrame({"a": [0, 1], "b": [1, 0]}), [[0], [1]])
    with pytest.raises(ValueError, match="same order"):
        model.predict(pl.DataFrame({"b": [0], "a": [1]}))
    with pytest.raises(ValueError, match="now missing"):
        model.predict(pd.DataFrame({"a": [0]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert model.predict([[1, 0]]).tolist() == [[1]]


def test_a_data_set_is_taken_by_its_schema():
    readers = load("magazines")
    model = Stumps().fit(readers)
    assert list(model.feature_names_in_) == list(readers.schema.feature_names)
    with pytest.raises(ValueError, match="missing feature 'sex'"):
        model.predict(readers.without(["sex"]))


# ---------------------------------------------------------------- errors at the door


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[1.0], [2.0]], None, "requires y to be passed"),
        (np.empty((0, 2)), [], r"0 sample\(s\)"),
        (np.empty((2, 0)), [0, 1], r"0 feature\(s\).*fit a Dataset"),
        (pd.DataFrame(index=[0, 1]), [0, 1], r"0 feature\(s\)"),
        (sparse.csr_array((2, 0)), [0, 1], r"0 feature\(s\)"),
        ([1.0, 2.0], [0, 1], "Reshape your data"),
        (pd.Series([1.0, 2.0]), [0, 1], "Reshape your data"),
        (pl.LazyFrame({"a": [1, 2]}), [0, 1], "lazy frame: collect"),
        (np.array([[1j], [2]]), [0, 1], "Complex data not supported"),
        ([[np.inf], [1]], [0, 1], "infinite"),
        ([[1], [2]], [0, 1, 1], "X has 2 rows but Y has 3"),
        ([[1], [2]], [0.5, 1.5], "continuous"),
        ([[1], [2]], [np.nan, 1], "NaN|no class in row 0"),
        ([[1], [2]], np.array([np.inf, 1]), "infinity"),
        ([[1], [2]], pd.Series(["a", None]), "no class in row 1"),
        ([[1], [2]], [[0, 2], [1, 1]], "Y has 2 in row 0, column 1: a label is 0 or 1"),
        ([[1], [2]], [["a", 1], ["b", 0]], "labels in a label set are text"),
        ([[1], [2]], "ab", "Y of type str"),
        ([[1], [2]], ["a", 1], "Unknown label type"),
        (load("magazines"), [0, 1], "brings its labels: leave Y out"),
        (load("magazines").take([]), None, "no rows to learn from"),
    ],
)
def test_bad_tables_are_refused_by_name(X, Y, message):
    with pytest.raises(ValueError, match=message):
        Stumps().fit(X, Y)


@pytest.mark.parametrize("smoothing", ["Laplace", 0, -1, np.nan, np.inf, None, True, "m"])
def test_bad_smoothing_is_refused(smoothing):
    with pytest.raises(ValueError, match=r"smoothing must be a .*number above 0 or 'laplace'"):
        fitted(smoothing=smoothing)


def test_nothing_is_predicted_before_fit():
    model = Stumps()
    for method in (model.predict, model.predict_proba, model.writers, model.decision_path):
        with pytest.raises(NotFittedError):
            method([[1]])
    with pytest.raises(NotFittedError):
        model.score([[1]], [1])


def test_the_base_alone_cannot_learn():
    with pytest.raises(TypeError, match="abstract"):
        RuleClassifier()


# ---------------------------------------------------------------- imports


def modules_after(statement):
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_learners_imports_nothing_heavy_but_scikit_learn():
    """Which imports pandas by itself where it is installed."""
    heavy = {"numba", "pandas", "polars", "pyarrow", "matplotlib"}
    found = modules_after("import labelrules.learners")
    assert found & heavy <= modules_after("import sklearn") & heavy


@pytest.mark.parametrize(
    "learner",
    [*LEARNERS, *ONE_LABEL_LEARNERS, *WRAPPED],
    ids=lambda learner: " ".join(repr(learner).split()),
)
def test_data_without_labels_are_refused_in_the_same_words_by_all(learner):
    """Each learner had its own way to fail, and some fitted and then predicted nothing.

    "A head names at least one label" and "need at least one array to concatenate" were among the
    answers.
    """
    X, none = [[0.0], [1.0]], np.zeros((2, 0))
    for given in ((dataset(X, none),), (X, none)):
        with pytest.raises(ValueError, match="the data have no labels, so there is nothing to"):
            clone(learner).fit(*given)
