"""Binary relevance, chains and stacking: equal to their slow twins, and to their own theories."""

from functools import partial
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.tree import DecisionTreeClassifier

from goldens import golden
from labelrules import Dataset, DecisionList, dataset, load, parse, theory_text
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    LabelPowerset,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.learners.base.label_models import change_counts
from labelrules.learners.base.sampling import bootstrap_sample, folds_of
from labelrules.learners.chain import cardinality_threshold
from labelrules.learners.stacked import improvement
from labelrules.rules import Gibbs, LabelByLabel, LayeredTheory, UntilStable
from labelrules.rules.inference import closed
from learners.registry import Stumps
from tables import tables
from twins import layered_learners as naive

BASES = [SeparateAndConquer(), Stumps(), DecisionTreeClassifier(max_depth=2, random_state=0)]
RULES = BASES[:2]
bases = pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
rule_bases = pytest.mark.parametrize("base", RULES, ids=lambda base: type(base).__name__)


def a_table(seed=0, n_rows=60):
    """Three numeric and a nominal feature, four labels that depend on them and on each other."""
    rng = np.random.default_rng(seed)
    schema = load("magazines").schema
    X = np.column_stack([rng.integers(0, len(f.categories), n_rows) for f in schema.features])
    Y = (rng.random((n_rows, 4)) < 0.1 + 0.35 * (X % 3)).astype(np.int8)
    Y[:, 3] = (Y[:, 0] & ~Y[:, 1] & 1) | (rng.random(n_rows) < 0.1)
    return Dataset(schema, X.astype(float), Y)


def split(data):
    rows = np.arange(len(data))
    return data.take(rows[rows % 3 > 0]), data.take(rows[rows % 3 == 0])


# ---------------------------------------------------------------- twins


@bases
@pytest.mark.parametrize("seed", range(3))
def test_binary_relevance_learns_each_label_on_its_own(base, seed):
    train, test = split(a_table(seed))
    found = BinaryRelevance(base).fit(train).predict(test)
    np.testing.assert_array_equal(found, naive.relevance(base, train, test))


@bases
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
def test_a_chain_shows_each_label_those_before_it(base, order):
    train, test = split(a_table(4))
    model = ClassifierChain(base, order=order).fit(train)
    np.testing.assert_array_equal(model.predict(test), naive.chain(base, train, test, order))
    assert model.orders_ == [order]


@bases
@pytest.mark.parametrize("features", [True, False])
def test_stacking_on_true_labels(base, features):
    train, test = split(a_table(5))
    model = StackedBinaryRelevance(
        base, with_features=features, labels_from="truth", last_resort=None
    ).fit(train)
    expected = naive.stacked(base, train, test, features=features)
    np.testing.assert_array_equal(model.predict(test), expected)


@bases
@pytest.mark.parametrize("own", [False, True])
def test_stacking_on_labels_predicted_out_of_fold(base, own):
    train, test = split(a_table(6))
    model = StackedBinaryRelevance(
        base, own_label=own, n_folds=3, random_state=7, alpha=None, last_resort=None
    ).fit(train)
    shown = naive.out_of_fold(base, train, folds_of(train, 3, 7))
    expected = naive.stacked(base, train, test, shown, own=own)
    np.testing.assert_array_equal(model.predict(test), expected)


@pytest.mark.parametrize(
    "make",
    [
        BinaryRelevance,
        partial(ClassifierChain, order="columns"),
        partial(StackedBinaryRelevance, labels_from="truth", last_resort=None),
    ],
    ids=["relevance", "chain", "stacked"],
)
@given(data=tables(max_rows=10, max_labels=3, storage=("dense", "sparse"), unknown=True))
@settings(max_examples=25)
def test_twins_on_small_tables(make, data):
    base = SeparateAndConquer(pruning=None, min_coverage=1)
    if make is BinaryRelevance:
        expected = naive.relevance(base, data, data)
    elif make.func is ClassifierChain:
        expected = naive.chain(base, data, data, range(data.schema.n_labels))
    else:
        expected = naive.stacked(base, data, data)
    np.testing.assert_array_equal(make(base).fit(data).predict(data), expected)


# ---------------------------------------------------------------- theories


MODELS = [
    BinaryRelevance(SeparateAndConquer()),
    ClassifierChain(SeparateAndConquer(), order="dependence"),
    ClassifierChain(SeparateAndConquer(polarity="both", operators=["<=", ">", "!="])),
    LabelPowerset(SeparateAndConquer(polarity="presence", label_conditions=False)),
    StackedBinaryRelevance(SeparateAndConquer()),
    StackedBinaryRelevance(SeparateAndConquer(), alpha=None, last_resort=None),
    StackedBinaryRelevance(
        SeparateAndConquer(operators=["!="]), inference="until stable", labels_from="truth"
    ),
    StackedBinaryRelevance(SeparateAndConquer(), inference=LabelByLabel(2, [2, 0, 1, 3])),
    StackedBinaryRelevance(SeparateAndConquer(), inference=Gibbs(30, 5, 1), labels_from="truth"),
    StackedBinaryRelevance(SeparateAndConquer(), own_label=True, n_layers=4, alpha=None),
    StackedBinaryRelevance(Stumps(), with_features=False, n_layers=3, labels_from="truth"),
    StackedBinaryRelevance(SeparateAndConquer(), last_resort=0.1),
    StackedBinaryRelevance(
        SeparateAndConquer(), inference=Gibbs(9), last_resort=0.1, labels_from="truth"
    ),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: " ".join(repr(model).split()))
def test_the_theory_printed_and_read_predicts_what_the_learner_predicts(model):
    train, test = split(a_table(2, 90))
    model = model.fit(train)
    kind = DecisionList if not isinstance(model, StackedBinaryRelevance) else LayeredTheory
    assert isinstance(model.theory_, kind)
    for style in ("plain", "unicode"):
        read = parse(theory_text(model.theory_, style), train.schema)
        assert read == model.theory_
        np.testing.assert_array_equal(read.predict(test), model.predict(test))
    assert all(rule.evidence is not None for rule in model.theory_)
    assert (model.predict_proba(test) > 0).all()
    assert (model.predict_proba(test) < 1).all()
    np.testing.assert_array_equal(closed(model.writers(test).board), model.predict(test))
    assert model.decision_path(test).shape == (len(test), len(model.theory_))


def test_chains_test_earlier_labels_only_and_relevance_none():
    data = a_table(2, 120)
    order = [2, 0, 3, 1]
    chain = ClassifierChain(SeparateAndConquer(), order=order).fit(data).theory_
    tested = [(r.head.labels[0], c.column) for r in chain for c in r.body.on_labels]
    assert tested
    assert all(order.index(other) < order.index(label) for label, other in tested)
    relevance = BinaryRelevance(SeparateAndConquer()).fit(data).theory_
    assert not any(rule.body.on_labels for rule in relevance)
    pure = StackedBinaryRelevance(SeparateAndConquer(), with_features=False, alpha=None).fit(data)
    assert not any(rule.body.on_features for rule in pure.theory_.layers[1])
    assert not any(rule.body.on_labels for rule in pure.theory_.layers[0])


class Opposites(Stumps):
    """Predicts a label where the one before it in a chain is absent."""

    def _learn(self, data, prefix):
        (name,) = data.schema.labels
        others = [one.name for one in data.schema.features if one.categories == ("0", "1")]
        body = f'not "{others[-1]}"' if others else "sex = Male"
        return parse(f"{name} <- {body}\nnot {name} <- true", data.schema)


def test_absence_is_written_where_a_rule_of_the_list_tests_it():
    """A label that no rule has written satisfies no condition of a list."""
    readers = load("magazines")
    sex = readers.column("sex")
    Y = np.column_stack([sex == 0, sex == 1, sex == 0, sex == 1]).astype(np.int8)
    data = Dataset(readers.schema, readers.X, Y)
    chain = ClassifierChain(Opposites(), order="columns").fit(data)
    assert str(chain.theory_).splitlines() == [
        "quality <- sex = Male", "not quality <- true",
        "tabloid <- not quality", "not tabloid <- true",
        "fashion <- not tabloid", "not fashion <- true",
        "sports <- not fashion",
    ]  # fmt: skip
    np.testing.assert_array_equal(chain.predict(data), Y)
    # A layer reads the one before, where open cells are absent.
    stacked = StackedBinaryRelevance(Opposites(), labels_from="truth", last_resort=None)
    for layer in stacked.fit(data).theory_.layers:
        assert all(len(rule.body) for rule in layer)


def test_a_label_of_all_rows_is_always_predicted():
    data = a_table(3)
    Y = np.hstack([data.Y[:, :2], np.ones((len(data), 1)), data.Y[:, 3:]])
    train, test = split(Dataset(data.schema, data.X, Y))
    for base in (SeparateAndConquer(), Stumps()):
        for make in (BinaryRelevance, ClassifierChain, StackedBinaryRelevance):
            model = make(base).fit(train)
            assert model.predict(test)[:, 2].all()
            assert "fashion" not in model.labels_without_rules_


def test_what_a_base_says_by_stop_marks_and_by_its_own_label_is_not_lost():
    """Stop marks end the list of one label only; a rule that tests its own label writes nothing."""

    class Odd(Stumps):
        def _learn(self, data, prefix):
            name = data.schema.labels[0]
            rules = f"{name}, * <- sex = Male\nnot {name} <- {name}\nnot {name} <- children = No"
            return parse(rules, data.schema)

    readers = load("magazines")
    model = BinaryRelevance(Odd()).fit(readers)
    np.testing.assert_array_equal(model.predict(readers), naive.relevance(Odd(), readers, readers))
    assert str(model.theory_).splitlines()[:2] == [
        "tabloid <- sex = Male", "not tabloid <- children = No",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [
        BinaryRelevance(LogisticRegression()),
        ClassifierChain(LogisticRegression()),
        StackedBinaryRelevance(LogisticRegression()),
        LabelPowerset(LogisticRegression()),
    ],
)
def test_other_classifiers_have_no_theory_and_say_so(model):
    with pytest.raises(AttributeError, match="has no theory_ yet: call fit first"):
        _ = model.theory_
    model.fit(a_table())
    with pytest.raises(AttributeError, match="its base LogisticRegression does not learn rules"):
        _ = model.theory_
    assert not hasattr(model, "theory_")
    with pytest.raises(AttributeError, match="does not learn rules"):
        model.writers(a_table())
    model.set_params(base=Stumps()).fit(a_table())
    if not isinstance(model, LabelPowerset):
        assert len(model.theory_)
        model.set_params(base=LogisticRegression()).fit(a_table())
        assert not hasattr(model, "theory_")


def test_a_theory_edited_by_hand_is_used():
    readers = load("magazines")
    model = StackedBinaryRelevance(SeparateAndConquer()).fit(readers)
    first, second = golden("magazines-sbr-1"), golden("magazines-sbr-2")
    model.theory_ = LayeredTheory(readers.schema, [first, second])
    np.testing.assert_array_equal(model.predict(readers), model.theory_.predict(readers))
    model.calibrate(readers)
    assert model.theory_.layers[0][0].evidence == ((4, 0),)


# ---------------------------------------------------------------- options


def test_further_layers_on_true_labels_are_the_second_again():
    data = a_table(8)
    model = StackedBinaryRelevance(SeparateAndConquer(), n_layers=4, labels_from="truth").fit(data)
    assert model.n_layers_ == 4
    first, *further = model.theory_.layers
    learned = [fitted.rules for fitted in naive.stacked_models(SeparateAndConquer(), data)[1]]
    for layer in further:
        for label in range(4):
            own = [rule.body for rule in layer if rule.head.labels == (label,)]
            assert own == [rule.body for rule in further[0] if rule.head.labels == (label,)]
            assert len(own) == len(learned[label])
    repeated = LayeredTheory(data.schema, [first, *[further[0]] * 3])
    iterated = LayeredTheory(data.schema, [first, further[0]], UntilStable(3))
    settled = iterated.run(data).rounds > 0
    assert settled.any()
    np.testing.assert_array_equal(iterated.predict(data)[settled], repeated.predict(data)[settled])


def test_layers_out_of_fold_end_when_nothing_changes_any_more():
    data = a_table(8)
    model = StackedBinaryRelevance(Stumps(), n_layers=50, alpha=None).fit(data)
    assert 2 <= model.n_layers_ < 50
    assert len(model.theory_.layers) == model.n_layers_


def label_that_needs_another(n_rows, seed):
    """The second label is the first one, but for a few rows."""
    chance = np.random.default_rng(seed)
    X = chance.integers(0, 10, size=(n_rows, 4)).astype(float)
    first = (X[:, 0] > 6).astype(np.int8)
    second = np.where(chance.random(n_rows) < 0.05, 1 - first, first).astype(np.int8)
    alone = (X[:, 2] > 4).astype(np.int8)
    return dataset(X, np.column_stack([first, second, alone]))


def test_a_further_layer_is_kept_for_labels_it_tells_better():
    class Clumsy(Stumps):
        """Cannot tell the second label but by the first."""

        def _learn(self, data, prefix):
            if data.schema.labels != ("y1",):
                return super()._learn(data, prefix)
            sees_first = any(feature.name == "y0" for feature in data.schema.features)
            rule = 'y1 <- "y0"\n' if sees_first else ""
            return parse(f"{rule}not y1 <- true", data.schema)

    data = label_that_needs_another(200, 1)
    model = StackedBinaryRelevance(Clumsy(), last_resort=None).fit(data)
    first, second = model.theory_.layers
    assert {rule.head.labels[0] for rule in first} == {0, 2}
    assert str(second).splitlines() == ["y0 <- y0", "y1 <- y0", "y2 <- y2"]
    plain = BinaryRelevance(Clumsy()).fit(data)
    right = [(one.predict(data) == data.Y).mean(axis=0) for one in (plain, model)]
    assert right[1][1] > 0.9 > right[0][1]
    assert (right[0] == right[1])[[0, 2]].all()


def test_without_a_better_label_there_is_one_layer():
    readers = load("magazines")
    model = StackedBinaryRelevance(SeparateAndConquer()).fit(readers)
    assert model.n_layers_ == len(model.theory_.layers) == 1
    with pytest.raises(ValueError, match="there is one layer only"):
        model.error_propagation(readers)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    other = StackedBinaryRelevance(tree, last_resort=None).fit(readers)
    assert other.n_layers_ == 1
    expected = BinaryRelevance(tree).fit(readers)
    np.testing.assert_array_equal(other.predict(readers), expected.predict(readers))
    np.testing.assert_array_equal(other.predict_proba(readers), expected.predict_proba(readers))


@given(
    st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=40),
    st.sampled_from([0.01, 0.05, 0.5]),
)
def test_better_means_fewer_wrong_cells_by_more_than_chance_and_no_lower_f1(cells, alpha):
    truth, before, after = np.array(cells, dtype=np.int8).T
    gained = sum(b != t == a for t, b, a in cells)
    lost = sum(a != t == b for t, b, a in cells)
    n = gained + lost
    tail = sum(comb(n, k) for k in range(gained, n + 1)) / 2**n
    scores = [
        (2 * (truth & said).sum() / total if (total := truth.sum() + said.sum()) else 0)
        for said in (before, after)
    ]
    expected = gained > lost and min(1.0, 2 * tail) <= alpha and scores[1] >= scores[0]
    assert (improvement(change_counts(truth, before, after)) <= alpha) == expected


def test_sampling_starts_from_the_majority():
    data = a_table(9)
    model = StackedBinaryRelevance(
        SeparateAndConquer(), inference="gibbs", labels_from="truth", last_resort=None
    ).fit(data)
    first = model.theory_.layers[0]
    assert [len(rule.body) for rule in first] == [0, 0, 0, 0]
    share = data.Y.mean(axis=0)
    assert [rule.head.values[0] for rule in first] == [int(s > 0.5) for s in share]
    again = clone(model).fit(data)
    np.testing.assert_array_equal(model.predict_proba(data), again.predict_proba(data))
    np.testing.assert_array_equal(model.predict(data), model.predict_proba(data) > 0.5)


@pytest.mark.parametrize("inference", ["once", "until stable", "label by label", "gibbs"])
def test_classifiers_without_rules_are_asked_in_the_same_ways(inference):
    """A tree of depth one on a nominal feature is a rule, and its leaves are the same shares."""
    train, test = split(a_table(10, 90))
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = StackedBinaryRelevance(
        tree, inference=inference, labels_from="truth", last_resort=None
    ).fit(train)
    found = model.predict(test)
    assert found.shape == test.Y.shape
    if inference == "once":
        np.testing.assert_array_equal(found, naive.stacked(tree, train, test))
    presence = model.predict_proba(test)
    sure = np.abs(presence - 0.5) > 1e-9
    np.testing.assert_array_equal((presence > 0.5)[sure], (found == 1)[sure])


def test_several_chains_vote_with_their_probabilities():
    train, test = split(a_table(11))
    ensemble = ClassifierChain(
        SeparateAndConquer(), n_chains=4, bootstrap=False, threshold=0.5, random_state=3
    ).fit(train)
    assert len(set(ensemble.orders_)) > 1
    votes = [
        ClassifierChain(SeparateAndConquer(), order=order).fit(train).predict_proba(test)
        for order in ensemble.orders_
    ]
    np.testing.assert_allclose(ensemble.predict_proba(test), np.mean(votes, axis=0))
    np.testing.assert_array_equal(ensemble.predict(test), ensemble.predict_proba(test) > 0.5)
    with pytest.raises(AttributeError, match="4 chains that vote are no single theory"):
        _ = ensemble.theory_
    assert len(ensemble.theories_) == 4
    again = clone(ensemble).fit(train)
    assert again.orders_ == ensemble.orders_


@pytest.mark.parametrize("base", [SeparateAndConquer(), BASES[2]], ids=["rules", "tree"])
def test_chains_from_samples_predict_as_many_labels_as_there_are(base):
    train, test = split(a_table(16, 150))
    model = ClassifierChain(base, n_chains=6, random_state=2).fit(train)
    # By hand: the same samples, in the same order of random numbers.
    chance = np.random.RandomState(2)
    orders = [tuple(chance.permutation(4).tolist()) for _ in range(6)]
    samples = [bootstrap_sample(train, chance)[0] for _ in range(6)]
    assert model.orders_ == orders
    total, n_votes = np.zeros(train.Y.shape), np.zeros((len(train), 1))
    for order, sample in zip(orders, samples, strict=True):
        part = train.take(sample)
        chain = ClassifierChain(base, order=order).fit(part)
        if hasattr(chain, "theory_"):
            chain.calibrate(train)
        outside = np.setdiff1d(np.arange(len(train)), sample)
        total[outside] += chain.predict_proba(train.take(outside))
        n_votes[outside] += 1
    asked = n_votes[:, 0] > 0
    presence = (total / np.maximum(n_votes, 1))[asked]
    assert model.threshold_ == cardinality_threshold(presence, train.Y[asked])
    n_more = (presence > model.threshold_).sum() - train.Y[asked].sum()
    n_tied = (presence == model.threshold_).sum()
    assert -n_tied <= n_more <= 0
    found = model.predict_proba(test) > model.threshold_
    np.testing.assert_array_equal(model.predict(test), found)


def test_samples_follow_from_what_rows_hold():
    data = a_table(17)
    order = np.random.default_rng(0).permutation(len(data))
    (sample,) = bootstrap_sample(data, np.random.RandomState(5))
    (again,) = bootstrap_sample(data.take(order), np.random.RandomState(5))
    assert len(np.unique(sample)) < len(data)
    assert data.take(sample) == data.take(order).take(again)


def test_the_threshold_when_there_is_nothing_to_choose():
    presence = np.array([[0.2, 0.7]])
    assert cardinality_threshold(presence, np.array([[0, 0]])) == 0.5
    assert cardinality_threshold(presence, np.array([[1, 1]])) == 0.5
    assert cardinality_threshold(presence, np.array([[0, 1]])) == pytest.approx(0.45)


def test_classifiers_that_only_decide_can_vote_too():
    train, test = split(a_table(12))
    ensemble = ClassifierChain(Perceptron(random_state=0), n_chains=3, bootstrap=False).fit(train)
    votes = [
        ClassifierChain(Perceptron(random_state=0), order=order).fit(train).predict(test)
        for order in ensemble.orders_
    ]
    np.testing.assert_allclose(ensemble.predict_proba(test), np.mean(votes, axis=0))


def test_orders_of_a_chain():
    data = a_table(13)

    def order(**parameters):
        return ClassifierChain(Stumps(), **parameters).fit(data).orders_[0]

    assert order(order="columns") == (0, 1, 2, 3)
    assert order(order=["sports", "quality", "fashion", "tabloid"]) == (3, 0, 2, 1)
    counts = data.Y.sum(axis=0)
    assert [counts[label] for label in order()] == sorted(counts, reverse=True)
    assert order(order="random", random_state=1) == order(order="random", random_state=1)
    assert sorted(order(order="random")) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ClassifierChain(Stumps(), order="random", n_chains=0), "n_chains must be a whole number"),
        (ClassifierChain(Stumps(), order=[0, 1, 2, 3], n_chains=2), "several chains have random"),
        (ClassifierChain(Stumps(), n_chains=2, max_literals=9), "max_literals is for one theory"),
        (ClassifierChain(Stumps(), n_chains=2, bootstrap=None), "bootstrap must be True or False"),
        (ClassifierChain(Stumps(), n_chains=2, threshold=2), "threshold must be a number"),
        (ClassifierChain(Stumps(), n_chains=2, threshold="half"), "1 or 'cardinality', not 'half'"),
        (ClassifierChain(Stumps(), order="by size"), "order must be 'frequency', 'dep"),
        (ClassifierChain(Stumps(), order=["qualty"]), "did you mean 'quality'"),
        (ClassifierChain(Stumps(), order=[0, 1, 2]), "it leaves out 'sports'"),
        (ClassifierChain(Stumps(), order=[0, 1, 2, 3, 3]), "it has repeats"),
        (ClassifierChain(Stumps(), order=[0, 1, 2, 4]), "4, which is neither a label nor its"),
        (ClassifierChain(Stumps(), order=3), "order must be a sequence of labels"),
        (BinaryRelevance(Stumps), "base must be a classifier"),
        (BinaryRelevance("ripper"), "base must be a classifier"),
        (LabelPowerset(3), "base must be a classifier"),
        (BinaryRelevance(Stumps(), n_jobs=0), "n_jobs must be a number of workers"),
        (BinaryRelevance(Stumps(), progress="yes"), "progress must be True, False or a function"),
        (StackedBinaryRelevance(Stumps(), labels_from="both"), "labels_from must be 'out-of-fold'"),
        (StackedBinaryRelevance(Stumps(), n_layers=1), "n_layers must be a whole number of at"),
        (StackedBinaryRelevance(Stumps(), n_folds=1), "n_folds must be a whole number of at"),
        (StackedBinaryRelevance(Stumps(), random_state=-1), "random_state must be a whole"),
        (
            StackedBinaryRelevance(Stumps(), own_label=True, labels_from="truth"),
            "the true label would predict itself",
        ),
        (StackedBinaryRelevance(Stumps(), with_features=1), "with_features must be True or False"),
        (StackedBinaryRelevance(Stumps(), inference="twice"), "inference must be 'once', "),
        (
            StackedBinaryRelevance(Stumps(), inference="gibbs", labels_from="out-of-fold"),
            "Gibbs sampling needs labels_from='truth'",
        ),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(a_table())


# ---------------------------------------------------------------- last resort


def seldom(seed=0, n_rows=80):
    """The last label follows from two features, the others hardly; each row has one or more."""
    data, rng = a_table(seed, n_rows), np.random.default_rng(seed)
    sure = (data.column(0) == 2) & (data.column(2) == 1)
    label = np.where(rng.random(n_rows) < 0.2, data.column(1), rng.integers(0, 3, n_rows))
    Y = (np.eye(4)[label.astype(int)] > 0) | (rng.random((n_rows, 4)) < 0.1)
    Y[:, 3] = sure
    Y[sure, :3] = False
    return Dataset(data.schema, data.X, Y)


class OnlySports(Stumps):
    """Finds rules for one label only."""

    def _learn(self, data, prefix):
        (name,) = data.schema.labels
        rule = "sports <- education = University, sex = Female" if name == "sports" else ""
        return parse(f"{rule}\nnot {name} <- true", data.schema)


@pytest.mark.parametrize("make", [BinaryRelevance, ClassifierChain, StackedBinaryRelevance])
def test_rows_without_labels_get_the_likeliest_one(make):
    train, test = split(seldom(3, 240))
    base = OnlySports()
    plain = make(base, last_resort=None).fit(train)
    model = make(base, last_resort=0.2).fit(train)
    theory = model.theory_
    assert isinstance(theory, LayeredTheory)
    assert len(theory.fallback) > 0
    bare = ~plain.predict(test).any(axis=1)
    assert bare.any()
    np.testing.assert_array_equal(model.predict(test)[~bare], plain.predict(test)[~bare])
    np.testing.assert_array_equal(
        model.predict(test)[bare], theory.fallback.predict(test.take(bare))
    )
    waiting = ~plain.predict(train).any(axis=1)
    for rule in theory.fallback:
        assert sum(rule.head.values) == 1
        counts = rule.evidence[rule.head.values.index(1)]
        assert counts.right > 0.2 * sum(counts)
        assert sum(counts) <= waiting.sum()
    guessed = model.writers(test).fallback.writer >= 0
    sure = model.predict_proba(test)[guessed.all(axis=1)]
    assert (sure.argmax(axis=1) == model.predict(test)[guessed.all(axis=1)].argmax(axis=1)).all()


def test_no_guess_where_some_label_is_present_in_most_rows():
    data = a_table(3)
    data = Dataset(data.schema, data.X, np.hstack([data.Y[:, :3], np.ones((len(data), 1))]))
    assert isinstance(BinaryRelevance(Stumps(), last_resort=0.0).fit(data).theory_, DecisionList)


def test_classifiers_guess_by_their_probabilities():
    train, test = split(seldom(5))
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    for make in (BinaryRelevance, ClassifierChain, StackedBinaryRelevance):
        plain, model = make(tree).fit(train), make(tree, last_resort=0.3).fit(train)
        expected = plain.predict(test).copy()
        for row in np.flatnonzero(~expected.any(axis=1)):
            chances = plain.predict_proba(test)[row]
            expected[row, chances.argmax()] = chances.max() > 0.3
        np.testing.assert_array_equal(model.predict(test), expected)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, True, "0.4", np.nan])
def test_a_last_resort_is_a_probability(wrong):
    with pytest.raises(ValueError, match="last_resort must be a number from 0 to 1 or None"):
        BinaryRelevance(Stumps(), last_resort=wrong).fit(a_table())


# ---------------------------------------------------------------- label powerset


def test_the_powerset_predicts_only_label_sets_that_occur():
    train, test = split(a_table(14, 90))
    known = {tuple(row) for row in train.Y.tolist()}
    for base in (
        LogisticRegression(max_iter=10_000),
        SeparateAndConquer(),
        SeparateAndConquer(polarity="presence", label_conditions=False),
    ):
        model = LabelPowerset(base).fit(train)
        assert {tuple(row) for row in model.predict(test).tolist()} <= known


def test_the_powerset_asks_its_base_for_classes():
    train, test = split(a_table(14, 90))
    for base in (LogisticRegression(max_iter=10_000), DecisionTreeClassifier(random_state=0)):
        model = LabelPowerset(base).fit(train)
        sets, codes = np.unique(train.Y, axis=0, return_inverse=True)
        by_hand = clone(base).fit(naive.numbers(train), codes.ravel())
        expected = sets[by_hand.predict(naive.numbers(test))]
        np.testing.assert_array_equal(model.predict(test), expected)
        presence = by_hand.predict_proba(naive.numbers(test)) @ sets
        np.testing.assert_allclose(model.predict_proba(test), presence)


def test_two_label_sets_are_two_classes_and_one_is_no_question():
    readers = load("magazines")
    Y = np.where(readers.column("sex")[:, None] == 0, [0, 1, 1, 0], [1, 1, 0, 0]).astype(np.int8)
    data = Dataset(readers.schema, readers.X, Y)
    model = LabelPowerset(SeparateAndConquer()).fit(data)
    np.testing.assert_array_equal(model.predict(data), Y)
    assert all(rule.head.is_complete for rule in model.theory_)
    alone = LabelPowerset(SeparateAndConquer()).fit(Dataset(readers.schema, readers.X, Y * 0))
    assert str(alone.theory_) == "otherwise: no label"
    other = LabelPowerset(LogisticRegression()).fit(Dataset(readers.schema, readers.X, Y * 0))
    assert not other.predict(readers).any()
    assert not other.predict_proba(readers).any()


def test_a_powerset_whose_rules_are_not_for_classes_has_no_theory():
    model = LabelPowerset(SeparateAndConquer(polarity="both")).fit(a_table(14, 90))
    with pytest.raises(AttributeError, match=r"do not predict one class: see base_\.theory_"):
        _ = model.theory_
    assert len(model.base_.theory_)


# ---------------------------------------------------------------- errors handed on


def test_error_propagation_of_the_chapters_lists():
    """9 wrong cells of 56 before, 6 on the labels predicted, 9 on the true ones."""
    readers = load("magazines")
    model = StackedBinaryRelevance(SeparateAndConquer(), labels_from="truth").fit(readers)
    model.theory_ = LayeredTheory(
        readers.schema, [golden("magazines-sbr-1"), golden("magazines-sbr-2")]
    )
    found = model.error_propagation(readers)
    wrong = [(1 - part) * 14 for part in (found.before, found.on_predictions, found.on_truth)]
    np.testing.assert_allclose(wrong, [[2, 2, 1, 4], [1, 1, 0, 4], [1, 3, 1, 4]])
    np.testing.assert_allclose(found.loss * 14, [0, -2, -1, 0])
    assert str(found).splitlines()[-1].split() == ["all", "0.839", "0.893", "0.839"]


@bases
def test_error_propagation_is_what_the_twin_counts(base):
    train, test = split(a_table(15))
    model = StackedBinaryRelevance(base, labels_from="truth").fit(train)
    found = model.error_propagation(test)
    models, further = naive.stacked_models(base, train)
    first = naive.columns(models, test, test.Y)
    on_truth = naive.columns(further, test, test.Y)
    np.testing.assert_allclose(found.before, (first == test.Y).mean(axis=0))
    np.testing.assert_allclose(found.on_truth, (on_truth == test.Y).mean(axis=0))
    np.testing.assert_allclose(found.on_predictions, (model.predict(test) == test.Y).mean(axis=0))


def test_own_labels_propagate_no_errors():
    model = StackedBinaryRelevance(Stumps(), labels_from="out-of-fold", own_label=True)
    with pytest.raises(ValueError, match="would read the label it predicts"):
        model.fit(a_table()).error_propagation(a_table())


# ---------------------------------------------------------------- planted dependencies


def test_a_label_that_is_told_by_others_needs_no_features_in_the_second_layer():
    """What chains and stacking are for: rules between labels are found where labels make labels."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 4))
    Y = np.zeros((300, 4), dtype=np.int8)
    Y[:, :2] = (X[:, :2] > 0.6) ^ (rng.random((300, 2)) < 0.1)
    Y[:, 2] = Y[:, 0] & Y[:, 1]
    Y[:, 3] = (1 - Y[:, 0]) & (1 - Y[:, 1])
    data = dataset(X, Y)
    theory = StackedBinaryRelevance(SeparateAndConquer(), labels_from="truth").fit(data).theory_
    second = DecisionList(data.schema, [r for r in theory.layers[1] if r.head.labels[0] > 1])
    expected = "y2 <- y0, y1\ny3 <- not y0, not y1"
    assert second == parse(expected, data.schema)
    assert closed(second.apply(data, reads=data.Y))[:, 2:].tolist() == Y[:, 2:].tolist()


def test_what_was_learned_does_not_change_with_parameters_set_afterwards():
    data = a_table(1)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    for model in (
        StackedBinaryRelevance(tree, labels_from="truth", inference="until stable").fit(data),
        LabelPowerset(tree).fit(data),
        LabelPowerset(SeparateAndConquer()).fit(data),
    ):
        before = model.predict_proba(data)
        changed = {"base": LogisticRegression()}
        if isinstance(model, StackedBinaryRelevance):
            changed |= {"inference": "once", "labels_from": "out-of-fold"}
        np.testing.assert_array_equal(model.set_params(**changed).predict_proba(data), before)
