"""Learners are scikit-learn classifiers: its own checks, and its tools around them."""

import ast
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelrules.learners
from extras import pd, pl
from labelrules import explain, load, parse
from labelrules.learners import (
    ConstrainedClassifier,
    Ripper,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.learners.base.estimator import TableClassifier
from labelrules.mining import LazyAssociativeClassifier
from learners.registry import (
    ASSOCIATIVE,
    CHAPTER,
    COMPOSED,
    EXCEPTIONS,
    LEARNERS,
    ONE_LABEL_LEARNERS,
    RULE_LEARNERS,
    VARIANTS,
    WRAPPED,
)


def each(some):
    return pytest.mark.parametrize("learner", some, ids=lambda one: " ".join(repr(one).split()))


learners = each(LEARNERS)
with_theory = each([*RULE_LEARNERS, *COMPOSED, *ASSOCIATIVE])
rule_learners = each(RULE_LEARNERS)


@pytest.fixture(scope="module")
def table():
    return make_multilabel_classification(
        n_samples=60, n_features=5, n_classes=3, n_labels=2, random_state=0
    )


def subclasses(kind):
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_every_learner_is_registered_public_and_tested():
    """A new learner is a file with a decorator, and a line in the lists of tests/learners."""
    ours = {one for one in subclasses(TableClassifier) if one.__module__.startswith("labelrules.")}
    registered = set(labelrules.learners.registered().values())
    learners = {one for one in ours if hasattr(one, "fit") and not inspect.isabstract(one)}
    assert registered == learners
    for one in registered:
        room = getattr(labelrules, one.__module__.split(".")[1])
        assert one.__name__ in {*room.__all__} & {*labelrules.__all__}
    assert registered <= {type(one) for one in [*LEARNERS, *ONE_LABEL_LEARNERS]}


def test_type_checkers_know_every_learner():
    tree = ast.parse(Path(labelrules.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names}
    assert {one.__name__ for one in labelrules.learners.registered().values()} <= names


@pytest.mark.parametrize("learner", [*LEARNERS, *WRAPPED], ids=repr)
def test_fitted_learners_name_their_labels(learner, table):
    X, Y = table
    assert clone(learner).fit(X, pd.DataFrame(Y, columns=list("abc"))).labels_ == ["a", "b", "c"]


@each([*RULE_LEARNERS, *COMPOSED, *ASSOCIATIVE, Scorecard(literal_cost=0.3)])
def test_fitted_learners_explain_their_predictions(learner):
    readers = load("magazines")
    model = clone(learner).fit(readers)
    explanation = model.explain(readers, 3, counterfactuals=False)
    assert [one.predicted for one in explanation.labels] == model.predict(readers)[3].tolist()
    assert str(explanation) == str(explain(model.theory_, readers, 3, counterfactuals=False))
    assert [one.row for one in model.explain(readers, (0, 2), labels=["quality"])] == [0, 2]


def test_other_learners_explain_as_far_as_they_can():
    readers = load("magazines")
    with pytest.raises(NotFittedError):
        Scorecard().explain(readers)
    chains = labelrules.learners.ClassifierChain(n_chains=2).fit(readers)
    with pytest.raises(AttributeError, match="2 chains that vote are no single theory"):
        chains.explain(readers)
    constrained = ConstrainedClassifier(SeparateAndConquer()).fit(readers)
    expected = constrained.base_.explain(readers, 1, counterfactuals=False)
    assert str(constrained.explain(readers, 1, counterfactuals=False)) == str(expected)
    with pytest.raises(TypeError, match="DecisionTreeClassifier cannot explain"):
        clone(WRAPPED[0]).fit(readers.X, readers.Y).explain(readers.X)


SEEDED = [
    (Scorecard(literal_cost=0.3), "theory_"),
    (StackedBinaryRelevance(SeparateAndConquer(max_rules=2)), "theory_"),
    (Ripper(), "theory_"),
    (SeparateAndConquer(pruning="irep"), "theory_"),
    (labelrules.learners.ClassifierChain(n_chains=2), "theories_"),
    (LazyAssociativeClassifier(max_scored=20), "thresholds_"),
]


@pytest.mark.parametrize(("learner", "result"), SEEDED, ids=lambda one: type(one).__name__)
def test_random_state_is_that_of_scikit_learn(learner, result, table):
    """A number, a source of random numbers, or None for the same numbers at each fit."""
    X, Y = table
    Y = Y[:, 0] if isinstance(learner, Ripper) else Y

    def learned(random_state):
        model = clone(learner).set_params(random_state=random_state).fit(X, Y)
        return pickle.dumps(getattr(model, result))

    assert learned(7) == learned(np.int64(7))
    assert learned(None) == learned(None)
    assert learned(np.random.RandomState(3)) == learned(np.random.RandomState(3))
    for wrong in (-1, 0.5, "dice", True):
        with pytest.raises(ValueError, match="random_state must be a whole number from 0 to "):
            learned(wrong)


def _is_wrapped(learner):
    return repr(learner) in map(repr, WRAPPED)


@parametrize_with_checks(
    # Copies: other tests fit the learners themselves, and what a fitted one has, a new one lacks.
    [clone(one) for one in (*LEARNERS, *ONE_LABEL_LEARNERS, *VARIANTS, *WRAPPED)],
    expected_failed_checks=lambda learner: EXCEPTIONS if _is_wrapped(learner) else {},
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@rule_learners
def test_a_grid_search_chooses_by_labels_and_by_probabilities(learner, table):
    X, Y = table
    scoring = {"f1": make_scorer(f1_score, average="micro", zero_division=0), "auc": "roc_auc"}
    grid = {"warm_start": [False], "smoothing": ["laplace", 5.0]}
    search = GridSearchCV(clone(learner), grid, cv=3, scoring=scoring, refit="f1")
    search.fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_auc"]).all()
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))


@learners
def test_one_label_as_a_matrix_can_be_scored_by_probabilities(learner, table):
    X, Y = table
    model = clone(learner).fit(X, Y[:, :1])
    flat = clone(learner).fit(X, Y[:, 0])
    assert get_scorer("roc_auc")(model, X, Y[:, :1]) == get_scorer("roc_auc")(flat, X, Y[:, 0])


@with_theory
def test_in_a_pipeline_it_sees_what_the_steps_before_give(learner, table):
    X, Y = table
    pipe = make_pipeline(StandardScaler(), clone(learner)).fit(X, Y)
    alone = clone(learner).fit(StandardScaler().fit_transform(X), Y)
    assert pipe[-1].theory_ == alone.theory_
    assert pipe.score(X, Y) == alone.score(StandardScaler().fit_transform(X), Y)


@learners
def test_pipelines_keep_sparse_data_sparse_and_frames_named(learner, table):
    X, Y = table
    sparse_pipe = make_pipeline(MaxAbsScaler(), clone(learner)).fit(sparse.csr_array(X), Y)
    assert sparse_pipe.predict(sparse.csr_array(X)).shape == Y.shape
    frame = pd.DataFrame(X, columns=list("abcde"))
    numbers = make_column_transformer(
        ("passthrough", ["d", "b"]), verbose_feature_names_out=False
    ).set_output(transform="pandas")
    named = make_pipeline(numbers, clone(learner)).fit(frame, Y)
    assert named[-1].schema_.feature_names == ("d", "b")


@learners
def test_cross_validation_of_every_kind_of_target(learner, table):
    X, Y = table
    iris = load_iris()
    assert cross_val_predict(clone(learner), X, Y, cv=3).shape == Y.shape
    folds = cross_val_predict(clone(learner), iris.data, iris.target, cv=3, method="predict_proba")
    np.testing.assert_allclose(folds.sum(axis=1), 1)
    names = iris.target_names[iris.target]
    scores = cross_val_score(clone(learner), iris.data, names, cv=3)
    np.testing.assert_array_equal(
        scores, cross_val_score(clone(learner), iris.data, iris.target, cv=3)
    )


@learners
def test_within_other_learners(learner, table):
    X, Y = table
    for outer in (ClassifierChain(clone(learner)), MultiOutputClassifier(clone(learner))):
        assert outer.fit(X, Y).predict(X).shape == Y.shape


@with_theory
def test_copies_have_the_parameters_and_pickles_the_rules(learner, table):
    X, Y = table
    model = clone(learner).fit(X, Y)
    assert not hasattr(clone(model), "theory_")
    assert repr(clone(model).get_params()) == repr(learner.get_params())
    again = pickle.loads(pickle.dumps(model))
    assert again.theory_ == model.theory_
    assert [rule.evidence for rule in again.theory_] == [rule.evidence for rule in model.theory_]
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def _categorical(library, categories, codes):
    if library is pd.DataFrame:
        return pd.Categorical.from_codes(codes.astype(int), categories)
    return pl.Series([categories[int(code)] for code in codes], dtype=pl.Enum(categories))


@learners
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_frame_is_learned_like_the_data_set_it_holds(learner, library):
    readers = load("magazines")
    # Categories in the order of the data set: folds are chosen by the codes.
    columns = {
        feature.name: _categorical(library, feature.categories, readers.column(feature.name))
        for feature in readers.schema.features
    }
    labels = {name: readers.Y[:, j] for j, name in enumerate(readers.schema.labels)}
    model = clone(learner).fit(library(columns), library(labels))
    direct = clone(learner).fit(readers)
    assert model.schema_.labels == readers.schema.labels
    assert list(model.feature_names_in_) == list(readers.schema.feature_names)
    np.testing.assert_array_equal(model.predict(library(columns)), direct.predict(readers))
    assert model.score(library(columns), library(labels)) == direct.score(readers)


@with_theory
def test_sparse_tables_give_the_same_rules_as_dense_ones(learner):
    random = np.random.default_rng(0)
    X = random.integers(0, 4, (50, 6)) * random.integers(0, 2, (50, 6))
    Y = (X[:, :3] + random.integers(0, 2, (50, 3)) > 2).astype(int)
    model = clone(learner).fit(X, Y)
    for as_sparse in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_array):
        again = clone(learner).fit(as_sparse(X), as_sparse(Y))
        assert list(again.theory_) == list(model.theory_)  # their schemas differ: amounts, numbers
        np.testing.assert_array_equal(again.predict(as_sparse(X)), model.predict(X))
        np.testing.assert_array_equal(again.predict_proba(as_sparse(X)), model.predict_proba(X))


@with_theory
def test_missing_values_are_learned_from_and_predicted(learner, table):
    X, Y = table
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    model = clone(learner).fit(holes, Y)
    nothing = np.full((1, X.shape[1]), np.nan)
    by_hand = model.theory_.predict(nothing)
    np.testing.assert_array_equal(model.predict(nothing), by_hand)
    assert np.isfinite(model.predict_proba(holes)).all()


@learners
def test_an_unknown_category_is_a_missing_value(learner):
    X = pd.DataFrame({"color": ["red", "green", "red", "green"], "size": [1, 2, 3, 4]})
    model = clone(learner).fit(X, [[1, 0], [0, 1], [1, 0], [0, 1]])
    unknown = pd.DataFrame({"color": ["blue"], "size": [1]})
    missing = pd.DataFrame({"color": [None], "size": [1]}, dtype=object).astype({"size": int})
    np.testing.assert_array_equal(model.predict_proba(unknown), model.predict_proba(missing))


@with_theory
def test_a_constant_column_makes_no_condition(learner, table):
    """It may yet make others dearer: pruning pays for the choice among more columns."""
    X, Y = table
    wider = np.hstack([np.ones((len(X), 1)), X])
    model = clone(learner).fit(wider, Y)
    assert all(c.column > 0 for rule in model.theory_ for c in rule.body.on_features)
    if not any(learner.get_params().get(name) for name in ("pruning", "base__pruning")):
        np.testing.assert_array_equal(model.predict(wider), clone(learner).fit(X, Y).predict(X))


@learners
def test_a_label_without_positives_is_never_predicted_and_one_with_nothing_else_always(
    learner, table
):
    X, Y = table
    Y = np.column_stack([Y, np.zeros(len(Y), int), np.ones(len(Y), int)])
    model = clone(learner).fit(X, Y)
    assert not model.predict(X)[:, -2].any()
    assert model.predict(X)[:, -1].all()
    assert (model.predict_proba(X)[:, -2] < 0.5).all()
    assert (model.predict_proba(X)[:, -1] > 0.5).all()


@rule_learners
def test_rows_given_twice_make_the_same_rules(learner, table):
    """But where they are more to go by: pruning trusts many rows more than few."""
    if learner.get_params().get("pruning"):
        learner = clone(learner).set_params(**CHAPTER)
    X, Y = table
    once = clone(learner).fit(X, Y)
    twice = clone(learner).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    assert twice.theory_ == once.theory_
    assert [e.right for r in twice.theory_ for e in r.evidence] == [
        2 * e.right for r in once.theory_ for e in r.evidence
    ]


@learners
def test_one_row_is_learned_by_heart(learner):
    model = clone(learner).fit([[1.5, 2.5]], [[1, 0, 1]])
    np.testing.assert_array_equal(model.predict([[0, 0], [9, 9]]), [[1, 0, 1]] * 2)
    assert clone(learner).fit([[1.5]], ["only"]).predict([[0]]).tolist() == ["only"]


@with_theory
def test_a_data_set_without_features_is_described_by_its_labels(learner):
    data = load("magazines")
    bare = data.without(data.schema.feature_names)
    model = clone(learner).fit(bare)
    np.testing.assert_array_equal(model.predict(bare), model.theory_.predict(bare))
    assert model.n_features_in_ == 0
    assert not any(rule.body.on_features for rule in model.theory_)


@learners
def test_the_inputs_stay_as_they_were(learner, table):
    X, Y = table[0].copy(), table[1].copy()
    clone(learner).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(X, table[0])
    np.testing.assert_array_equal(Y, table[1])


@rule_learners
def test_given_rules_come_first(learner):
    readers = load("magazines")
    prefix = parse("sports <- sex = Male\nnot fashion <- sports", readers.schema)
    model = clone(learner).fit(readers, theory=prefix)
    assert model.theory_[:2] == prefix
    assert len(model.theory_) > 2
    counted = model.theory_.with_evidence(readers, readers.Y)
    assert [rule.evidence for rule in model.theory_] == [rule.evidence for rule in counted]
