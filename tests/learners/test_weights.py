"""Weights of rows and cells: a whole weight is so many equal rows, any other counts as much."""

from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from extras import pd
from labelrules import (
    UNSET,
    Dataset,
    association_rules,
    cross_validate,
    dataset,
    frontier,
    subgroups,
    theory_text,
)
from labelrules.data import DataError, Schema
from labelrules.data.weights import MOST_UNITS
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    ConstrainedClassifier,
    LabelPowerset,
    Ripper,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.learners.covering.settings import checked_settings
from labelrules.mining import AssociativeClassifier, LazyAssociativeClassifier, items_of
from labelrules.mining.associative_classifier import RowCopies
from learners import registry
from learners.registry import Stumps
from tables import schema_of, tables
from unpruned import told

COVERING = [
    {},
    {"measure": "laplace"},
    {"measure": "m-estimate"},
    {"measure": "correlation"},
    {"heads": "multi", "measure": "precision", "pruning": None},
    {"heads": 2, "fixed_head": False, "pruning": "significance"},
    {"pruning": "irep"},
    {"order": "prepend", "pruning": None},
    {"beam_width": 2},
    {"stop_share": 0.3, "readd": "incomplete", "pruning": None},
    {"polarity": "both", "min_coverage": 2},
    {"heads": "complete", "measure": "subset", "polarity": "both", "pruning": None,
     "fixed_head": False},
    {"bins": 2},
    {"bins": 3, "pruning": None, "operators": ("<=", ">", "=", "in"), "last_resort": 0.2},
    {"bins": 2, "heads": "multi", "measure": "precision", "pruning": None},
    {"bins": 2, "pruning": "irep"},
]  # fmt: skip

LEARNERS = [
    *registry.LEARNERS,
    *registry.WRAPPED,
    BinaryRelevance(),
    BinaryRelevance(SeparateAndConquer(), last_resort=0.2),
    ClassifierChain(n_chains=3, bootstrap=True),
    StackedBinaryRelevance(),
    Scorecard(max_literals=20, teacher=BinaryRelevance(DecisionTreeClassifier(random_state=0))),
    ConstrainedClassifier(BinaryRelevance()),
]

OTHERS = [
    *registry.VARIANTS,
    *registry.ONE_LABEL_LEARNERS,
    BinaryRelevance(Ripper(bins=3)),
    BinaryRelevance(SeparateAndConquer(bins=3), last_resort=0.2),
    SeparateAndConquer(bins=3, operators=("<=", ">", "=", "in")),
    ClassifierChain(SeparateAndConquer(bins=2), n_chains=2),
    ConstrainedClassifier(ClassifierChain(n_chains=2)),
]

REAL = [
    SeparateAndConquer(),
    BinaryRelevance(),
    BinaryRelevance(AssociativeClassifier()),
    BinaryRelevance(LazyAssociativeClassifier()),
    ClassifierChain(),
    StackedBinaryRelevance(),
    LabelPowerset(),
    LabelPowerset(DecisionTreeClassifier(random_state=0, max_depth=2)),
    AssociativeClassifier(),
    LazyAssociativeClassifier(),
    Scorecard(),
    Scorecard(teacher=BinaryRelevance(DecisionTreeClassifier(random_state=0))),
    ConstrainedClassifier(BinaryRelevance()),
]
"""Learners that take weights that are not whole."""

OF_CELLS = [
    SeparateAndConquer(),
    BinaryRelevance(),
    BinaryRelevance(AssociativeClassifier()),
    BinaryRelevance(LogisticRegression()),
    ClassifierChain(),
    StackedBinaryRelevance(),
    Scorecard(),
    Scorecard(teacher=LogisticRegression()),
    ConstrainedClassifier(Scorecard(), learn=False, constraints="y1 <- y0"),
]
"""Learners that take weights of cells."""


def name_of(learner):
    return " ".join(repr(learner).split())


@st.composite
def weighted(draw, **kinds):
    data = draw(tables(max_rows=14, storage=("dense", "sparse"), unknown=True, **kinds))
    counts = st.lists(st.integers(0, 3), min_size=data.n_rows, max_size=data.n_rows)
    weights = np.array(draw(counts.filter(any)), dtype=float)
    if (data.Y[weights > 0] == UNSET).all():
        data = replace(data, Y=np.maximum(data.Y, 0))
    return replace(data, weights=weights)


def repeated(data):
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    rows = np.repeat(np.arange(data.n_rows), weights.astype(int))
    return Dataset(data.schema, data.X, data.Y).take(rows)


@pytest.mark.parametrize("parameters", COVERING, ids=str)
@settings(max_examples=20, deadline=None)
@given(data=weighted())
def test_a_whole_weight_is_so_many_equal_rows(parameters, data):
    learner = SeparateAndConquer(**parameters)
    expected = learner.fit(repeated(data))
    rules, presence = told(expected.theory_), expected.predict_proba(data)
    found = learner.fit(data)
    assert told(found.theory_) == rules
    np.testing.assert_array_equal(found.predict_proba(data), presence)


@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_and_so_it_is_for_every_learner(learner):
    data = noisy()
    weights = np.random.default_rng(1).integers(0, 4, data.n_rows)
    rows = np.repeat(np.arange(data.n_rows), weights)
    expected = learner.fit(data.take(rows))
    labels = expected.predict(data)
    presence = expected.predict_proba(data) if hasattr(expected, "predict_proba") else None
    for one in (weights, weights.astype(np.float32)):
        found = learner.fit(data, sample_weight=one)
        np.testing.assert_array_equal(found.predict(data), labels)
        if presence is not None:
            np.testing.assert_array_equal(found.predict_proba(data), presence)


def weighted_frame(seed, *, with_text, with_missing):
    """Rows with whole weights, some of them 0: a frame, labels, classes and weights.

    Of text, categories and classes some occur only in rows of weight 0.
    """
    random = np.random.default_rng(seed)
    n_rows = int(random.integers(8, 40))
    number, few = random.integers(0, 9, n_rows) / 2, random.random(n_rows) < 0.5
    Y = np.column_stack([number > 2, few & (number < 3)]) ^ (random.random((n_rows, 2)) < 0.15)
    if with_missing:
        number[random.random(n_rows) < 0.1] = np.nan
    frame = pd.DataFrame({"number": number, "few": few.astype(float)})
    if with_text:
        frame["text"] = random.choice(list("abcdefg"), n_rows)
        levels = random.choice(["low", "mid", "high"], n_rows)
        declared = ["low", "mid", "high", "never"]
        frame["level"] = pd.Categorical(levels, declared, ordered=bool(random.integers(2)))
    weights = random.integers(0, 4, n_rows) * (random.random(n_rows) < 0.8)
    weights[:2] = 1, 2
    labels = pd.DataFrame(Y.astype(int), columns=["first", "second"])
    others = np.where(weights == 0, "p", random.choice(list("rs"), n_rows))
    classes = np.where(Y[:, 0], "q", np.where(random.random(n_rows) < 0.4, others, "r"))
    classes[:2] = "q", "r"
    return frame, labels, pd.Series(classes, name="kind"), weights


def what_is_told(model, X):
    """All that a fitted learner tells of itself and of some rows."""
    theories = getattr(model, "theories_", None) or [getattr(model, "theory_", None)]
    texts = [theory_text(one, evidence=True) if one else None for one in theories]
    numbers = [getattr(model, name, None) for name in ("threshold_", "shift_", "literal_cost_")]
    schema = model.schema_ if isinstance(model.schema_, Schema) else None
    return texts, numbers, schema, model.classes_.tolist(), model.predict_proba(X).tolist()


@pytest.mark.parametrize("learner", [*LEARNERS, *OTHERS], ids=name_of)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1 << 20))
def test_weights_of_tables_as_they_are_given(learner, seed):
    """Whole weights repeat rows, those of 0 leave them out, and rows may be in any order."""
    reads_text = not isinstance(getattr(learner, "base", None), DecisionTreeClassifier)
    X, Y, classes, weights = weighted_frame(
        seed, with_text=reads_text, with_missing=is_exact(learner)
    )
    labels = Y["first"] if isinstance(learner, Ripper) else Y
    rows, order = np.repeat(np.arange(len(X)), weights), np.random.default_rng(seed).permutation
    for target in (labels, classes):
        expected = what_is_told(learner.fit(X.iloc[rows], target.iloc[rows]), X)
        assert what_is_told(learner.fit(X, target, sample_weight=weights), X) == expected
        if is_exact(learner):
            places = order(len(X))
            model = learner.fit(X.iloc[places], target.iloc[places], sample_weight=weights[places])
            assert what_is_told(model, X) == expected


@pytest.mark.parametrize("learner", registry.ONE_LABEL_LEARNERS, ids=name_of)
def test_and_for_learners_of_one_label(learner):
    data = noisy().without(["y1", "y2"])
    weights = np.random.default_rng(2).integers(0, 4, data.n_rows).astype(float)
    rows = np.repeat(np.arange(data.n_rows), weights.astype(int))
    expected = learner.fit(data.take(rows)).theory_
    assert learner.fit(data, sample_weight=weights).theory_ == expected


def fitted(learner, data, weights):
    """What a learner predicts for all rows of a table."""
    model = learner.fit(replace(data, weights=weights))
    return model.predict_proba(noisy())


@pytest.mark.parametrize("learner", REAL, ids=name_of)
def test_real_weights_of_rows(learner):
    """They matter, those of 0 leave rows out, and the order of rows does not matter."""
    data, random = noisy(), np.random.default_rng(5)
    weights = random.exponential(1.0, data.n_rows)
    weights[random.random(data.n_rows) < 0.2] = 0.0
    found, kept = fitted(learner, data, weights), np.flatnonzero(weights)
    np.testing.assert_array_equal(fitted(learner, data.take(kept), weights[kept]), found)
    order = random.permutation(data.n_rows)
    np.testing.assert_array_equal(fitted(learner, data.take(order), weights[order]), found)
    in_columns = np.repeat(weights[:, np.newaxis], 3, axis=1)
    if not isinstance(learner, ConstrainedClassifier):
        np.testing.assert_array_equal(fitted(learner, data, in_columns), found)
    present = data.Y[:, 0] == 1
    heavy = fitted(learner, data, np.where(present, 20.5, 0.5))[:, 0].mean()
    light = fitted(learner, data, np.where(present, 0.25, 5.0))[:, 0].mean()
    assert heavy > light + 0.1


def is_exact(learner):
    """Whether it makes no sums in the order of rows, as logistic regression does."""
    return not isinstance(getattr(learner, "base", None), LogisticRegression)


@pytest.mark.parametrize("learner", OF_CELLS, ids=name_of)
def test_weights_of_cells(learner):
    data, random = noisy(), np.random.default_rng(6)
    weights = random.exponential(1.0, data.Y.shape)
    weights[random.random(data.Y.shape) < 0.1] = 0.0
    found, order = fitted(learner, data, weights), random.permutation(data.n_rows)
    np.testing.assert_allclose(
        fitted(learner, data.take(order), weights[order]),
        found,
        rtol=0,
        atol=0 if is_exact(learner) else 1e-9,
    )
    mask = (random.random(data.Y.shape) < 0.8).astype(float)
    mask[mask.sum(axis=1) == 0] = 1.0
    hidden = replace(data, Y=np.where(mask == 0, UNSET, data.Y))
    np.testing.assert_array_equal(fitted(learner, data, mask), fitted(learner, hidden, None))
    cost = np.ones(data.Y.shape)
    cost[:, 2] = np.where(data.Y[:, 2] == 1, 20.5, 0.5)
    dear = fitted(learner, data, cost)
    cost[:, 2] = np.where(data.Y[:, 2] == 1, 0.25, 5.0)
    cheap = fitted(learner, data, cost)
    assert dear[:, 2].mean() > cheap[:, 2].mean() + 0.1
    if not isinstance(learner, (ClassifierChain, StackedBinaryRelevance, SeparateAndConquer)):
        assert abs(dear[:, 0].mean() - cheap[:, 0].mean()) < 0.1


@pytest.mark.parametrize(
    "learner",
    [LabelPowerset(), AssociativeClassifier(), LazyAssociativeClassifier(), Stumps()],
    ids=name_of,
)
def test_learners_of_rows_ask_for_one_weight_per_row(learner):
    data = noisy()
    weights = np.random.default_rng(7).random(data.Y.shape) + 0.1
    with pytest.raises(ValueError, match="takes one weight per row, but these are weights of cell"):
        learner.fit(data, sample_weight=weights)


def test_weights_of_association_rules_are_copies_of_rows():
    """Rows are repeated by an eighth to a sixteenth of the mean weight; limits are as many."""
    data = noisy().without(["x3"])
    data = Dataset(schema_of([4, 4, 4], 3), data.X % 4, data.Y)
    weights = np.random.default_rng(8).integers(1, 30, data.n_rows) / 16
    copies = RowCopies.of(replace(data, weights=weights))
    assert (copies.times * copies.unit == weights).all()
    repeated, unit = data.take(copies.rows), copies.unit
    limits = {"min_support": ceil(3 / unit), "m": 5 / unit}
    expected = AssociativeClassifier(**limits).fit(repeated).theory_
    found = AssociativeClassifier().fit(data, sample_weight=weights)
    assert str(found.theory_) == str(expected)
    rest = {"threshold": 0.4, "max_frequency": 1.0}
    votes = LazyAssociativeClassifier(min_support=ceil(2 / unit), m=1 / unit, **rest).fit(repeated)
    lazy = LazyAssociativeClassifier(min_support=2, **rest).fit(data, sample_weight=weights)
    np.testing.assert_array_equal(lazy.predict_proba(data), votes.predict_proba(data))
    counts = lazy.explain(data, 0).votes[0].rules[0].rule.evidence[0]
    whole = votes.explain(data, 0).votes[0].rules[0].rule.evidence[0]
    assert sum(counts) == round(sum(whole) * unit)


def test_thresholds_leave_all_copies_of_a_row_out():
    data = noisy()
    weights = np.full(data.n_rows, 1.0)
    weights[0] = 1.0 + 2.0**-20
    plain = LazyAssociativeClassifier().fit(data).thresholds_
    found = LazyAssociativeClassifier().fit(data, sample_weight=weights).thresholds_
    np.testing.assert_allclose(found.thresholds, plain.thresholds, atol=0.02)


def noisy():
    random = np.random.default_rng(0)
    X = random.integers(0, 5, (120, 4)).astype(float)
    Y = np.column_stack([X[:, 0] > 2, (X[:, 1] > 2) & (X[:, 0] > 0), X[:, 2] == 0])
    return dataset(X, (Y ^ (random.random(Y.shape) < 0.1)).astype(np.int8))


@settings(max_examples=30, deadline=None)
@given(tables(max_rows=14, unknown=True), st.sampled_from([1.5, 2.25, 3.0]), st.booleans())
def test_a_common_weight_changes_no_ratio(data, weight, merging):
    if (data.Y == UNSET).all():
        return
    heads = "multi" if merging else "single"
    learner = SeparateAndConquer(
        heads=heads, measure="f1", pruning=None, last_resort=None, min_coverage=1
    )
    expected = learner.fit(data).theory_
    assert learner.fit(replace(data, weights=np.full(data.n_rows, weight))).theory_ == expected


@pytest.mark.parametrize("parameters", COVERING, ids=str)
@settings(max_examples=15, deadline=None)
@given(data=weighted())
def test_two_rows_of_half_the_weight_are_one_row(parameters, data):
    learner = SeparateAndConquer(**parameters)
    if not checked_settings(learner, data.schema).scores_literals or learner.pruning == "irep":
        return  # they take whole weights only
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    odd, kept = (2 * weights[weights > 0] + 1) / 4, data.take(weights > 0)
    times = np.arange(kept.n_rows) % 2 + 1
    twice = replace(kept, weights=odd / times).take(np.repeat(np.arange(kept.n_rows), times))
    assert told(learner.fit(twice).theory_) == told(learner.fit(replace(kept, weights=odd)).theory_)


def test_of_categories_and_classes_of_rows_without_weight_nothing_is_known():
    X = pd.DataFrame({"size": ["a", "b", "c", "a"] * 3, "level": ["low", "high", "mid", "low"] * 3})
    X["level"] = pd.Categorical(X["level"], ["low", "mid", "high"], ordered=True)
    y, weights = np.array(["u", "v", "w", "u"] * 3), np.array([1, 2, 0, 1] * 3)
    model = SeparateAndConquer(label_conditions=False).fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == ["u", "v"]
    assert [one.categories for one in model.schema_.features] == [
        ("a", "b"),
        ("low", "mid", "high"),
    ]
    assert model.about_.n_rows == 9
    unseen, missing = X.iloc[[2]], X.iloc[[2]].assign(size=None)
    assert model.predict_proba(unseen).tolist() == model.predict_proba(missing).tolist()
    # A data set brings its schema, of whichever rows it was made.
    data = dataset(X, np.array(y == "v", dtype=int))
    assert SeparateAndConquer().fit(data, sample_weight=weights).schema_ == data.schema


@pytest.mark.parametrize("of_cells", [False, True])
def test_rows_without_weight_may_hold_anything(of_cells):
    X, Y = [[1, "a"], ["?", 7.5], [2, "b"], [3, "b"]], [{"p"}, {"q"}, {"p", "q"}, set()]
    weights = np.array([1.0, 0, 2, 0.5])
    if of_cells:  # which have a column for each label
        weights = np.repeat(weights[:, np.newaxis], 2, axis=1)
    model = SeparateAndConquer().fit(X, Y, sample_weight=weights)
    assert [one.categories for one in model.schema_.features] == [None, ("a", "b")]
    assert model.labels_ == ["p", "q"]
    with pytest.raises(DataError, match="Y has 1 in row 2 where") as caught:
        SeparateAndConquer().fit(X, [*Y[:3], 1], sample_weight=[1, 0, 2, 0.5])
    assert caught.value.__notes__ == ["Rows are counted without those of weight 0."]


def in_polars(*tables):
    library = pytest.importorskip("polars")
    return tuple(library.from_pandas(one) for one in tables)


def in_arrow(*tables):
    library = pytest.importorskip("pyarrow")
    return tuple(library.table(dict(one.items())) for one in tables)


FORMS = {
    "list": lambda X, Y: (X.to_numpy().tolist(), Y.to_numpy().tolist()),
    "tuple": lambda X, Y: (tuple(map(tuple, X.to_numpy())), tuple(map(tuple, Y.to_numpy()))),
    "sparse": lambda X, Y: (sparse.coo_array(X.to_numpy()), sparse.csc_matrix(Y.to_numpy())),
    "numbered": lambda X, Y: (X.set_axis([7, 8], axis=1).set_index(Y["first"]), Y),
    "polars": in_polars,
    "arrow": in_arrow,
    "series": lambda X, Y: in_polars(X, Y["first"]),
    "chunks": lambda X, Y: (in_arrow(X)[0], in_arrow(Y)[0]["first"]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_rows_are_left_out_of_tables_of_all_forms(form):
    X, Y, _, weights = weighted_frame(1, with_text=False, with_missing=False)
    given, left = form(X, Y), form(X[weights > 0], Y[weights > 0])
    model = SeparateAndConquer().fit(*given, sample_weight=pd.Series(weights))
    expected = SeparateAndConquer().fit(*left, sample_weight=weights[weights > 0])
    assert model.about_.n_rows == expected.about_.n_rows == (weights > 0).sum()
    assert what_is_told(model, given[0]) == what_is_told(expected, given[0])


def test_folds_are_those_of_the_rows_that_count():
    data = noisy()
    weights = np.random.default_rng(4).integers(0, 3, data.n_rows)
    some = replace(data, weights=weights)
    expected = cross_validate(some.take(weights > 0), SeparateAndConquer(), n_folds=3)
    found = cross_validate(some, SeparateAndConquer(), n_folds=3)
    assert list(found.measures) == list(expected.measures)
    ours, theirs = (
        frontier(one, sizes=[10], n_folds=3).points for one in (some, some.take(weights > 0))
    )
    assert ours == theirs


@settings(max_examples=30, deadline=None)
@given(tables(max_rows=14), st.randoms(use_true_random=False))
def test_a_cell_without_weight_is_as_good_as_unknown(data, random):
    weights = np.array([[random.choice([0.0, 1.0]) for _ in row] for row in data.Y])
    weights[0] = 1.0
    rows = weights.any(axis=1)
    hidden = replace(data, Y=np.where(weights == 0, UNSET, data.Y)).take(rows)
    learner = SeparateAndConquer(last_resort=None)
    assert told(learner.fit(replace(data, weights=weights)).theory_) == told(
        learner.fit(hidden).theory_
    )


@settings(max_examples=20, deadline=None)
@given(tables(max_rows=14), st.randoms(use_true_random=False))
def test_real_weights_do_not_depend_on_the_order_of_rows(data, random):
    weights = np.array([random.random() + 0.01 for _ in range(data.n_rows)])
    order = list(range(data.n_rows))
    random.shuffle(order)
    for learner in (SeparateAndConquer(), BinaryRelevance(SeparateAndConquer())):
        expected = learner.fit(replace(data, weights=weights)).theory_
        assert learner.fit(replace(data, weights=weights).take(order)).theory_ == expected


def test_a_heavy_row_decides():
    X, Y = [[0], [0], [0], [1], [1], [1]], [[1], [0], [0], [0], [0], [0]]
    weights = [5.5, 1, 1, 1, 1, 1]
    learner = SeparateAndConquer(pruning=None, polarity="presence")
    model = learner.fit(X, np.array(Y), sample_weight=weights)
    assert model.predict([[0], [1]]).tolist() == [[1], [0]]
    assert model.theory_[0].evidence[0] == (6, 2)  # rounded


def test_weights_reach_classifiers_of_other_libraries():
    data = noisy()
    weights = np.random.default_rng(2).random(data.n_rows) + 0.1
    base = LogisticRegression()
    found = BinaryRelevance(base).fit(data, sample_weight=weights).predict_proba(data)
    own = base.fit(data.X, data.Y[:, 1], sample_weight=replace(data, weights=weights).weights)
    np.testing.assert_allclose(found[:, 1], own.predict_proba(data.X)[:, 1])


@pytest.mark.parametrize(
    "learner",
    [Stumps(), SeparateAndConquer(pruning="irep"), BinaryRelevance(KNeighborsClassifier())],
    ids=name_of,
)
def test_learners_that_count_rows_ask_for_whole_weights(learner):
    data = noisy()
    with pytest.raises(ValueError, match="takes one whole weight per row"):
        learner.fit(data, sample_weight=np.full(data.n_rows, 0.5))


def test_discovery_asks_for_rows_without_weights():
    data = replace(noisy(), weights=np.full(120, 2))
    for discover in (association_rules, subgroups, items_of):
        with pytest.raises(DataError, match=r"give data.repeated\(\) if weights are whole"):
            discover(data)
    assert len(items_of(data.repeated())) == len(items_of(replace(data, weights=None)))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "weights have the shape"),
        ([-1] * 120, "one is negative, infinite or NaN"),
        ([np.nan] * 120, "one is negative, infinite or NaN"),
        (["a"] * 120, "weights must be numbers"),
        ([0] * 120, "all weights are zero"),
        ([float(MOST_UNITS)] * 120, "divide them by a common number"),
    ],
)
def test_bad_weights(weights, message):
    data = noisy()
    for learner in (SeparateAndConquer(), BinaryRelevance(), ConstrainedClassifier(learn=False)):
        for table in ((data,), (data.X, data.Y)):
            with pytest.raises((DataError, ValueError), match=message):
                learner.fit(*table, sample_weight=weights)


def test_weights_are_given_once():
    data = replace(noisy(), weights=np.arange(120.0) + 1)
    for learner in (SeparateAndConquer(), ConstrainedClassifier()):
        with pytest.raises(ValueError, match="brings its weights: leave sample_weight out"):
            learner.fit(data, sample_weight=np.ones(120))
    assert "weighted" in repr(data)
    assert data != noisy()
    assert data.take([3, 4]).weights.tolist() == [4, 5]


def test_ripper_takes_whole_weights_by_classes():
    data = noisy()
    classes = np.where(data.Y[:, 0] == 1, "a", np.where(data.Y[:, 2] == 1, "b", "c"))
    weights = np.random.default_rng(1).integers(1, 4, data.n_rows)
    found = Ripper().fit(data.X, classes, sample_weight=weights)
    rows = np.repeat(np.arange(data.n_rows), weights)
    assert found.theory_ == Ripper().fit(data.X[rows], classes[rows]).theory_
