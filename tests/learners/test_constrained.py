"""Any classifier, with predictions that satisfy constraints."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from extras import pd
from labelrules import load, parse
from labelrules.constraints import violations
from labelrules.learners import (
    BinaryRelevance,
    ConstrainedClassifier,
    Scorecard,
    SeparateAndConquer,
)
from labelrules.learners.base.estimator import TableClassifier
from labelrules.rules import RuleSyntaxError

BASES = [
    RandomForestClassifier(5, random_state=0),
    KNeighborsClassifier(3),
    MultiOutputClassifier(LogisticRegression()),
    OneVsRestClassifier(LogisticRegression()),
    OneVsRestClassifier(LinearSVC()),
    ClassifierChain(LogisticRegression()),
    BinaryRelevance(LogisticRegression()),
    SeparateAndConquer(),
]

KNOWN = "y0 <- y1\nnot y3 <- y2\ny4 <- y1, y2"


@pytest.fixture(scope="module")
def table():
    X, Y = make_multilabel_classification(80, 6, n_classes=5, n_labels=2, random_state=3)
    return X, Y


class Noisy(ClassifierMixin, BaseEstimator):
    """Remembers the labels and predicts them with noise, by the numbers of the rows in X."""

    def __init__(self, noise=0.3):
        self.noise = noise

    def fit(self, X, y):
        self.classes_ = [np.array([0, 1])] * y.shape[1]
        flipped = np.random.default_rng(0).random(y.shape) < self.noise
        self.said_ = np.asarray(y) ^ flipped
        return self

    def predict(self, X):
        return self.said_[np.asarray(X)[:, 0].astype(int)]


@pytest.mark.parametrize("base", BASES, ids=lambda base: " ".join(repr(base).split()))
def test_predictions_around_any_classifier_satisfy_the_constraints(base, table):
    X, Y = table
    model = ConstrainedClassifier(base, constraints=KNOWN, alpha=0.2).fit(X, Y)
    said = clone(base).fit(X, Y).predict(X)
    said = said.toarray() if sparse.issparse(said) else said
    predicted = model.predict(X)
    assert predicted.shape == Y.shape
    assert violations(predicted, model.constraints_) == []
    bad = {violation.row for violation in violations(said.astype(int), model.constraints_)}
    assert bad == set(model.repairs(X).rows.tolist())
    good = [row for row in range(len(X)) if row not in bad]
    np.testing.assert_array_equal(predicted[good], said[good])


@pytest.mark.parametrize("base", BASES, ids=lambda base: " ".join(repr(base).split()))
def test_probabilities_and_scores_agree_with_what_was_repaired(base, table):
    X, Y = table
    model = ConstrainedClassifier(base, constraints=KNOWN).fit(X, Y)
    done = model.repairs(X)
    assert done.changed.any()
    present = done.after[done.changed] == 1
    for method, middle in (("predict_proba", 0.5), ("decision_function", 0)):
        assert hasattr(model, method) == hasattr(model.base_, method)
        if hasattr(model, method):
            cells = getattr(model, method)(X)
            assert cells.shape == Y.shape
            assert (cells[done.changed][present] >= middle).all()
            assert (cells[done.changed][~present] <= middle).all()


def test_the_most_probable_labels_are_kept(table):
    X, Y = table
    base = OneVsRestClassifier(LogisticRegression())
    model = ConstrainedClassifier(base, constraints="not y1 <- y0", learn=False).fit(X, Y)
    presence = model.base_.predict_proba(X)
    both = (presence[:, :2] > 0.5).all(axis=1)
    assert both.any()
    expected = presence[both, 0] > presence[both, 1]
    np.testing.assert_array_equal(model.predict(X)[both, 0] == 1, expected)
    alike = ConstrainedClassifier(base, constraints="not y1 <- y0", learn=False, by="labels")
    assert alike.fit(X, Y).predict(X)[both, 0].all()  # the first label is kept


@pytest.mark.parametrize("name", ["yeast", "enron", "medical", "genbase"])
def test_a_noisy_classifier_is_made_consistent(name, data_folder):
    data = load(name, data_folder, part="train")
    numbers = np.arange(data.n_rows)[:, None]
    model = ConstrainedClassifier(Noisy(0.15), alpha=None, tolerance=0.05, min_support=2)
    model.fit(numbers, pd.DataFrame(data.Y, columns=data.schema.labels))
    chosen = numbers[:150]
    assert len(violations(model.base_.predict(chosen), model.constraints_)) > 0
    assert violations(model.predict(chosen), model.constraints_) == []
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize(
    "base", [LinearSVC(), KNeighborsClassifier(3), BinaryRelevance(LogisticRegression())]
)
def test_one_label_is_a_table_of_one_column(base, table):
    X, Y = table
    for labels in (Y[:, :1], np.zeros_like(Y[:, :1])):
        if not labels.any() and isinstance(base, LinearSVC):
            continue  # it refuses a single class
        model = ConstrainedClassifier(base, constraints="not y0 <- true")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataConversionWarning)
            model.fit(X, labels)
        assert model.predict(X).tolist() == [[0]] * len(X)
        if hasattr(model, "predict_proba"):
            assert model.predict_proba(X).shape == (len(X), 1)
            assert (model.predict_proba(X) <= 0.5).all()
        else:
            assert (model.decision_function(X) <= 0).all()


def test_texts_are_handed_on_as_they_are():
    texts = ["jazz tonight", "jazz trio", "rock band", "stock market", "market news", "rock jazz"]
    labels = [{"music"}, {"music", "jazz"}, {"music"}, {"money"}, {"money"}, {"music", "jazz"}]
    base = make_pipeline(CountVectorizer(), KNeighborsClassifier(1))
    model = ConstrainedClassifier(base, constraints="music <- jazz\nnot money <- music")
    model.fit(texts, labels)
    assert model.predict(texts).tolist() == [
        [int(name in row) for name in ("jazz", "money", "music")] for row in labels
    ]


def test_a_fitted_classifier_is_wrapped_as_it_is(table):
    X, Y = table
    fitted = KNeighborsClassifier(3).fit(X, Y)
    model = ConstrainedClassifier(FrozenEstimator(fitted), constraints=KNOWN).fit(X[:5], Y[:5])
    np.testing.assert_array_equal(model.repairs(X).before, fitted.predict(X))


def test_a_fitted_learner_of_ours_goes_on_reading_data_sets():
    readers = load("magazines")
    fitted = SeparateAndConquer().fit(readers)
    model = ConstrainedClassifier(FrozenEstimator(fitted), constraints="quality <- not tabloid")
    done = model.fit(readers).repairs(readers)
    np.testing.assert_array_equal(done.before, fitted.predict(readers))
    assert model.schema_ == readers.schema


def test_data_sets_frames_and_arrays_give_the_same(table):
    readers = load("magazines")
    rules = parse("quality <- sports", readers.schema)
    for base in (SeparateAndConquer(), KNeighborsClassifier(3)):
        model = ConstrainedClassifier(base, constraints=rules).fit(readers)
        assert violations(model.predict(readers), rules) == []
        assert 0 <= model.score(readers) <= 1
        assert model.schema_ == readers.schema


def test_what_is_given_wins_over_what_is_learned(table):
    X, _ = table
    Y = np.zeros((80, 3), dtype=int)
    Y[:40, 0] = Y[:20, 1] = 1  # y0 <- y1 holds, and y2 is never there
    plain = ConstrainedClassifier(KNeighborsClassifier(3)).fit(X, Y)
    assert str(plain.constraints_) == "in any order:\ny0 <- y1"
    model = ConstrainedClassifier(KNeighborsClassifier(3), constraints="not y0 <- y1").fit(X, Y)
    assert model.left_out_ == ("y0 <- y1",)
    assert str(model.constraints_) == "in any order:\nnot y0 <- y1"


def test_what_is_given_and_what_is_learned_may_not_rule_each_other_out(table):
    X, _ = table
    Y = np.zeros((80, 3), dtype=int)
    Y[:20, 0] = Y[:30, 1] = Y[:40, 2] = 1
    model = ConstrainedClassifier(
        KNeighborsClassifier(3), constraints="y0 <- true\nnot y2 <- y0, y1"
    )
    message = r"given together with those learned: y0 <- true; not y2 <- y0, y1; .*learn=False"
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


def test_the_report_names_rows_labels_and_constraints(table):
    X, Y = table
    model = ConstrainedClassifier(KNeighborsClassifier(3), constraints=KNOWN, learn=False)
    frame = model.fit(X, Y).repairs(X).to_frame()
    assert list(frame.columns) == ["row", "label", "was", "now", "because"]
    said = {text for because in frame.because for text in because}
    assert said <= set(KNOWN.split("\n"))
    assert said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraints": "y0 <- true\nnot y0 <- true"}, "no label set satisfies these"),
        ({"constraints": "y0 <- y9"}, "there is no feature or label 'y9'"),
        ({"constraints": 3}, "must be rules or text such as 'a <- b', not int"),
        ({"tolerance": 0.7}, "tolerance must be a share"),
        ({"by": "probabilitys"}, "did you mean 'probabilities'"),
        ({"by": "scores"}, "KNeighborsClassifier has none: use by='labels'"),
        ({"base": 5}, "base must be a classifier"),
        ({"max_conditions": 0}, "max_conditions must be"),
    ],
)
def test_malformed_requests_are_refused_when_it_is_fitted(options, message, table):
    X, Y = table
    given = {"base": KNeighborsClassifier(3), **options}
    with pytest.raises((ValueError, TypeError, RuleSyntaxError), match=message):
        ConstrainedClassifier(**given).fit(X, Y)


def test_classes_are_predicted_by_the_base_alone(table):
    X, Y = table
    base = KNeighborsClassifier(3)
    model = ConstrainedClassifier(base).fit(X, Y.sum(axis=1))
    np.testing.assert_array_equal(model.predict(X), base.fit(X, Y.sum(axis=1)).predict(X))
    with pytest.raises(ValueError, match="are not repaired"):
        model.repairs(X)
    with pytest.raises(ValueError, match="a class for each row"):
        ConstrainedClassifier(base, constraints="a <- b").fit(X, Y[:, 0])


def test_a_base_that_answers_in_another_width_is_told():
    class Narrow(Noisy):
        def predict(self, X):
            return super().predict(X)[:, :1]

    model = ConstrainedClassifier(Narrow()).fit([[0], [1]], np.array([[0, 1], [1, 1]]))
    with pytest.raises(
        ValueError, match=r"Narrow.predict gives the shape \(1, 1\), but there are 2"
    ):
        model.predict([[0]])


class Told(TableClassifier):
    """Predicts and believes what it is told, whether or not that agrees."""

    def __init__(self, labels=(), presence=(), threshold=0.5):
        self.labels = labels
        self.presence = presence
        self.threshold = threshold

    def fit(self, X, Y=None):
        data, target = self._training_data(X, Y)
        self._remember(data.schema, target)
        self.threshold_ = self.threshold
        return self

    def _labels(self, X):
        return np.array([self.labels] * len(X), dtype=np.int8)

    def _presence(self, X):
        return np.array([self.presence] * len(X))


@pytest.mark.parametrize(
    ("threshold", "expected"),
    # y0 is predicted against its probability. From one half on that is worth next to nothing, so
    # it goes; from one fifth on y1 would cost less.
    [(0.5, [0, 0]), (0.2, [1, 1])],
)
def test_costs_count_from_where_the_base_predicts(threshold, expected):
    """Labels that scorecards predict with a probability below one half were taken for nothing.

    They predict by odds of 1 : 2 already, so that a change cost 0 although the base was sure.
    """
    base = Told([1, 0], [0.4, 0.19], threshold)
    model = ConstrainedClassifier(base, constraints="y1 <- y0", learn=False)
    assert model.fit([[0], [1]], [[1, 1], [0, 0]]).predict([[0]]).tolist() == [expected]


def test_no_label_is_changed_for_nothing():
    """Two labels go for nothing, or one for a little: both cost 0, though predicted.

    y1 and y2 have probabilities of 0.1 and yet are predicted; without a least cost the two were
    as cheap as nothing, and y0, of 0.5 and a hair, stayed.
    """
    base = Told([1, 1, 1], [0.5 + 2e-7, 0.1, 0.1])
    model = ConstrainedClassifier(base, constraints="not y1 <- y0\nnot y2 <- y0", learn=False)
    assert model.fit([[0], [1]], [[1, 1, 1], [0, 0, 0]]).predict([[0]]).tolist() == [[0, 1, 1]]


def test_scorecards_say_from_which_probability_on_they_predict():
    """`predict` and `predict_proba` disagreed at one half, and nothing said so."""
    readers = load("magazines")
    model = Scorecard(literal_cost=0.3, label_sets=False).fit(readers)
    threshold = model.threshold_
    assert threshold < 0.5
    presence = model.predict_proba(readers)
    np.testing.assert_array_equal(model.predict(readers) == 1, presence > threshold + 1e-12)
    assert ((presence > threshold + 1e-12) & (presence < 0.5)).any()
