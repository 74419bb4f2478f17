"""RIPPER as a classifier: what it takes, what it refuses, and what its lists are."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import labelrules
from extras import pd
from labelrules import Body, Dataset, Ripper, load, parse
from labelrules.data import Feature, Schema
from labelrules.learners import LearningInterrupted
from labelrules.learners.ripper.one_class import ClassLearner, RipperSettings
from labelrules.search.bodies.foil import FoilSearch
from labelrules.search.bodies.sorted_columns import SortedColumns
from tables import schema_of, tables


def one_label(data, label=0):
    """The same rows with one of the labels."""
    schema = Schema(data.schema.features, [data.schema.labels[label]])
    return Dataset(schema, data.X, data.Y[:, [label]].copy(), data.name)


def two_rules(n_rows=300, seed=0, noise=0.0):
    """A label that two rules write."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 5))
    y = ((X[:, 0] > 0.7) & (X[:, 1] <= 0.5)) | ((X[:, 2] <= 0.3) & (X[:, 3] > 0.6))
    return X, (y ^ (rng.random(n_rows) < noise)).astype(int)


# ---------------------------------------------------------------- what is learned


def test_rules_that_made_the_data_are_found():
    X, y = two_rules(2000)
    theory = Ripper().fit(X, y).theory_
    found = [{(c.column, c.operator) for c in rule.body} for rule in theory]
    assert sorted(map(sorted, found)) == [[], [(0, ">"), (1, "<=")], [(2, "<="), (3, ">")]]
    thresholds = {c.column: c.value for rule in theory for c in rule.body}
    assert thresholds == pytest.approx({0: 0.7, 1: 0.5, 2: 0.3, 3: 0.6}, abs=0.01)


def test_the_rarer_value_has_the_rules():
    X, y = two_rules()
    rare, often = Ripper().fit(X, y).theory_, Ripper().fit(X, 1 - y).theory_
    assert [rule.head.values for rule in rare] == [*[(1,)] * (len(rare) - 1), (0,)]
    assert [rule.head.values for rule in often] == [*[(0,)] * (len(often) - 1), (1,)]
    assert [rule.body for rule in often] == [rule.body for rule in rare]


def test_classes_come_by_rising_frequency_and_the_most_frequent_is_the_default():
    X = np.repeat([0.0, 1.0, 2.0], [30, 50, 20]).reshape(-1, 1)
    y = np.repeat(["middle", "often", "rare"], [30, 50, 20])
    theory = Ripper().fit(X, y).theory_
    assert str(theory).splitlines() == [
        "rare, not others <- x0 > 1",
        "middle, not others <- x0 <= 0",
        "otherwise: often, no other label",
    ]


def test_what_no_rule_covers_is_given_its_most_frequent_class():
    """Which need not be the most frequent of all: the rules may have covered that one."""
    X = np.array([[0.0]] * 10 + [[1.0]] * 4 + [[2.0]] * 9)
    y = np.repeat([0, 1, 2], [10, 4, 9])
    left = X[:, 0] == 2
    data = Dataset(schema_of([0], 3), X, (y.reshape(-1, 1) == np.arange(3)).astype(np.int8))
    learner = ClassLearner(
        FoilSearch(SortedColumns.of(data)), RipperSettings(2, 3, 2, True, True, 0), y, left
    )
    learner.learn()
    assert learner.listed() == [(2, Body())]


def test_a_rule_covers_enough_rows_of_its_class():
    X = np.arange(40.0).reshape(-1, 1)
    y = np.isin(np.arange(40), [3, 20]).astype(int)
    assert len(Ripper(pruning=False, min_coverage=1).fit(X, y).theory_) == 3
    assert len(Ripper(pruning=False, min_coverage=2).fit(X, y).theory_) == 1


def test_a_rule_that_is_mostly_wrong_is_rejected_unless_that_is_not_checked():
    X = np.array([[0.0]] * 6 + [[1.0]] * 60)
    y = np.array([1, 1, 1, 0, 0, 0] + [0] * 60)
    assert str(Ripper(pruning=False).fit(X, y).theory_) == "otherwise: not y0"
    unchecked = Ripper(pruning=False, check_error=False).fit(X, y).theory_
    assert str(unchecked).splitlines() == ["y0 <- x0 <= 0", "otherwise: not y0"]


def test_a_list_ends_with_its_first_rule_that_always_holds():
    """A class may be in most of the rows that are left; what came after would not be asked."""
    X = np.array([[0.0]] * 5 + [[1.0]] * 12)
    y = np.array([0] * 5 + [1] * 6 + [2] * 6)
    rng = np.random.default_rng(0)
    for seed in range(20):
        theory = Ripper(check_error=False, random_state=seed).fit(X, rng.permutation(y)).theory_
        assert [len(rule.body) == 0 for rule in theory][:-1] == [False] * (len(theory) - 1)
        assert len(theory[-1].body) == 0


def test_no_condition_asks_only_whether_a_value_is_missing():
    X = np.array([[1.0]] * 10 + [[np.nan]] * 20)
    y = np.array([1] * 10 + [0] * 20)
    assert str(Ripper().fit(X, y).theory_) == "otherwise: not y0"
    nominal = pd.DataFrame({"x": ["a"] * 10 + [None] * 20})
    assert str(Ripper().fit(nominal, y).theory_).splitlines() == [
        "y0 <- x = a",
        "otherwise: not y0",
    ]


def test_conditions_that_others_imply_are_not_written(data_folder):
    data = load("scene", data_folder, part="train")
    for label in range(2):
        for rule in Ripper().fit(one_label(data, label)).theory_:
            tests = [(c.column, c.operator) for c in rule.body]
            assert len(set(tests)) == len(tests)


# ---------------------------------------------------------------- what does not matter


@given(
    tables(max_rows=25, max_labels=1, storage=("dense", "sparse")),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60)
def test_the_order_of_rows_does_not_matter(data, random):
    order = random.sample(range(data.n_rows), data.n_rows)
    assert Ripper().fit(data.take(order)).theory_ == Ripper().fit(data).theory_


def test_the_order_of_many_rows_does_not_matter():
    X, y = two_rules(noise=0.1)
    X = X.round(1)
    order = np.random.default_rng(1).permutation(len(X))
    theory = Ripper(random_state=3).fit(X, y).theory_
    assert len(theory) > 2
    assert Ripper(random_state=3).fit(X[order], y[order]).theory_ == theory


@pytest.mark.parametrize("stored", [sparse.csr_array, sparse.csc_matrix, sparse.lil_array])
def test_sparse_tables_give_the_same_rules_as_dense_ones(stored):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 4, (90, 6)) * rng.integers(0, 2, (90, 6))
    y = X[:, 0] + X[:, 1] + rng.integers(0, 2, 90) > 2
    model, again = Ripper().fit(X, y), Ripper().fit(stored(X), y)
    assert len(model.theory_) > 2
    assert again.theory_ == model.theory_
    np.testing.assert_array_equal(again.predict_proba(stored(X)), model.predict_proba(X))


def test_sparse_tables_stay_sparse(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 400), density=0.02, rng=rng, format="csc")
    y = np.asarray(X[:, [7]].todense())[:, 0] > 0

    def refuse(self, *_, **__):
        raise AssertionError("it was made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csc_array, name, refuse)
        monkeypatch.setattr(sparse.csr_array, name, refuse)
    model = Ripper(min_coverage=1, n_folds=10).fit(X, y)
    assert model.predict(X).shape == (60,)


def test_many_labels_can_share_the_sorted_columns(data_folder):
    """Each is learned as if alone, in whatever order."""
    data = load("emotions", data_folder, part="train")
    search = FoilSearch(SortedColumns.of(data))
    for label in (3, 0, 3):
        y = data.Y[:, label].astype(np.int64)
        learner = ClassLearner(search, RipperSettings(2, 3, 2, True, True, 0), y)
        learner.learn()
        alone = Ripper().fit(one_label(data, label)).theory_
        expected = [(rule.head.values[0], rule.body) for rule in alone]
        assert learner.listed() == expected


def test_the_seed_matters_and_the_same_gives_the_same():
    X, y = two_rules(noise=0.15)
    lists = [str(Ripper(random_state=seed).fit(X, y).theory_) for seed in (0, 1, 2, 3, 0)]
    assert len(set(lists)) > 1
    assert lists[0] == lists[-1]
    assert str(Ripper().fit(X, y).theory_) == str(Ripper().fit(X, y).theory_)


def test_a_constant_column_makes_no_condition():
    X, y = two_rules()
    wider = np.hstack([np.ones((len(X), 1)), X])
    assert all(c.column > 0 for rule in Ripper().fit(wider, y).theory_ for c in rule.body)
    whole = {"pruning": False}
    assert [len(rule.body) for rule in Ripper(**whole).fit(wider, y).theory_] == [
        len(rule.body) for rule in Ripper(**whole).fit(X, y).theory_
    ]


# ---------------------------------------------------------------- edges


@pytest.mark.parametrize("parameters", [{}, {"pruning": False}, {"check_error": False}])
def test_tables_with_nothing_to_learn(parameters):
    learner = Ripper(**parameters)
    assert learner.fit([[1.5]], [1]).predict([[0], [9]]).tolist() == [1, 1]
    assert learner.fit([[1.5]], ["only"]).predict([[0]]).tolist() == ["only"]
    assert learner.fit([[1.0], [2.0]], ["only", "only"]).predict([[0]]).tolist() == ["only"]
    assert learner.fit([[1.0]] * 4, [0, 1, 0, 0]).predict([[1]]).tolist() == [0]
    assert learner.fit([[np.nan]] * 4, [0, 1, 0, 0]).predict([[np.nan]]).tolist() == [0]


def test_a_data_set_without_features_gets_its_default():
    data = load("magazines")
    model = Ripper().fit(one_label(data.without(data.schema.feature_names)))
    assert str(model.theory_) == "otherwise: not quality"


def test_a_row_that_occurs_often_is_like_many_rows():
    X = np.repeat([[0.0, 1.0], [1.0, 1.0]], [40, 60], axis=0)
    y = np.repeat([1, 0], [40, 60])
    assert str(Ripper().fit(X, y).theory_).splitlines() == ["y0 <- x0 <= 0", "otherwise: not y0"]


# ---------------------------------------------------------------- what it takes


def test_several_labels_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r"Y has 4 labels: use BinaryRelevance\(Ripper\(\)\)"):
        Ripper().fit(load("magazines"))
    with pytest.raises(ValueError, match="BinaryRelevance"):
        Ripper().fit([[1.0], [2.0]], [[0, 1], [1, 0]])


def test_one_label_in_any_form():
    data = one_label(load("magazines"))
    frame = pd.DataFrame(
        {f.name: [f.categories[int(code)] for code in data.column(f.name)]
         for f in data.schema.features}
    )  # fmt: skip
    by_set = Ripper().fit(data)
    assert str(by_set.theory_).splitlines() == [
        "quality <- education = University",
        "otherwise: not quality",
    ]
    column = Ripper().fit(frame, pd.DataFrame({"quality": data.Y[:, 0]}))
    flat = Ripper().fit(frame, pd.Series(data.Y[:, 0], name="quality"))
    assert str(column.theory_) == str(flat.theory_) == str(by_set.theory_)
    assert column.predict(frame).shape == (14, 1)
    assert flat.predict(frame).shape == (14,)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("n_passes", -1, "n_passes must be a whole number of at least 0"),
        ("n_passes", None, "n_passes must be a whole number"),
        ("n_folds", 1, "n_folds must be a whole number of at least 2"),
        ("min_coverage", 0, "min_coverage must be a whole number of at least 1"),
        ("pruning", "mdl", "pruning must be True or False"),
        ("check_error", 1, "check_error must be True or False"),
        ("smoothing", -1, "smoothing must be"),
        ("progress", "yes", "progress must be"),
    ],
)
def test_parameters_are_checked(parameter, value, message):
    with pytest.raises(ValueError, match=message):
        Ripper(**{parameter: value}).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("loaded", [load_iris, load_wine])
def test_predictions_are_what_the_list_says(loaded):
    X, y = loaded(return_X_y=True)
    model = Ripper().fit(X, y)
    assert (model.theory_.predict(X).sum(axis=1) == 1).all()
    np.testing.assert_array_equal(model.predict(X), model.theory_.predict(X).argmax(axis=1))
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_array_equal(chances.argmax(axis=1), model.predict(X))
    assert model.score(X, y) > 0.9


def test_a_row_that_no_training_row_is_like_gets_what_the_default_rule_says():
    """It has no evidence, and all classes are equally probable."""
    X = pd.DataFrame({"x": ["a"] * 4 + ["b"] * 5 + ["c"] * 6})
    y = np.repeat(["q", "r", "s"], [4, 5, 6])
    model = Ripper(pruning=False).fit(X, y)
    theory = parse(f"{model.theory_}\n", model.schema_)
    model.theory_ = type(theory)(theory.schema, [theory[0], theory[1], theory[-1]])
    assert model.predict(pd.DataFrame({"x": [None]}, dtype=object)).tolist() == ["s"]


def test_with_scikit_learns_tools():
    X, y = two_rules(noise=0.05)
    model = Ripper(random_state=1).fit(X, y)
    assert not hasattr(clone(model), "theory_")
    assert pickle.loads(pickle.dumps(model)).theory_ == model.theory_
    scaled = StandardScaler().fit_transform(X)
    pipe = make_pipeline(StandardScaler(), Ripper(random_state=1)).fit(X, y)
    assert pipe[-1].theory_ == Ripper(random_state=1).fit(scaled, y).theory_
    assert labelrules.Ripper is Ripper


# ---------------------------------------------------------------- rules that are kept


def test_given_rules_come_first_and_their_rows_are_not_learned_from():
    X, y = two_rules(2000)
    schema = Schema([Feature(f"x{j}") for j in range(5)], ["y0"])
    kept = parse("y0 <- x2 <= 0.3, x3 > 0.6\nnot y0 <- x2 <= 0.3", schema)
    theory = Ripper().fit(X, y, theory=kept).theory_
    assert theory[:2] == kept
    assert [{c.column for c in rule.body} for rule in theory[2:]] == [{0, 1}, set()]
    assert sum(e.right + e.wrong for rule in theory for e in rule.evidence) == 2000


def test_after_a_given_rule_that_always_holds_nothing_is_learned():
    X, y = two_rules()
    theory = Ripper().fit(X, y, theory="y0 <- true").theory_
    assert str(theory).splitlines() == ["otherwise: y0", "otherwise: not y0"]


def test_a_warm_start_keeps_all_but_the_default_rule():
    X, y = two_rules()
    learner = Ripper(warm_start=True).fit(X, y)
    first = learner.theory_
    assert learner.fit(X, y).theory_[: len(first) - 1] == first[:-1]
    assert len(learner.theory_[-1].body) == 0


def test_given_rules_for_classes_must_name_one():
    X, y = load_iris(return_X_y=True)
    model = Ripper().fit(X, y)
    assert Ripper().fit(X, y, theory=model.theory_[:1]).theory_[:1] == model.theory_[:1]
    with pytest.raises(ValueError, match="rule 2 of theory must predict one class as present"):
        Ripper().fit(X, y, theory="class_0, not others <- x3 <= 0.6\nnot class_1 <- x3 > 1.7")


# ---------------------------------------------------------------- news and interruptions


def test_news_of_each_rule():
    X, y = two_rules()
    news = []
    theory = Ripper(progress=news.append).fit(X, y).theory_
    assert {one.rule for one in news} >= set(theory[:-1])
    assert all(one.n_cells == 300 and 0 <= one.n_open <= 300 for one in news)
    assert all(0.5 < one.value <= 1 for one in news)
    assert max(one.n_rules for one in news) >= len(theory) - 1
    assert Ripper(progress=lambda news: None).fit(X, y).theory_ == theory


def test_an_interrupted_learner_keeps_what_it_has():
    X, y = two_rules()
    seen = []

    def interrupt(news):
        seen.append(news.rule)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.warns(LearningInterrupted, match="it was interrupted; the 2 rules") as caught:
        model = Ripper(progress=interrupt).fit(X, y)
    assert caught[0].filename == __file__
    assert list(model.theory_[:-1]) == seen
    assert len(model.theory_[-1].body) == 0
    assert model.predict(X).shape == y.shape
