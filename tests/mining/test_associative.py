"""Classifiers made of association rules."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import Dataset, Feature, Schema, load, parse, theory_text
from labelrules.learners import BinaryRelevance, LearningInterrupted
from labelrules.mining import AssociativeClassifier, LazyAssociativeClassifier, association_rules
from labelrules.mining import association_search as mining
from labelrules.mining import associative_classifier as associative
from labelrules.mining.associative_classifier import rare_items
from labelrules.mining.lazy_classifier import Thresholds, best_thresholds
from twins import associative as naive

CLASSIFIERS = [AssociativeClassifier, LazyAssociativeClassifier]


def table(seed, n_rows=40, n_labels=3):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows), rng.random(n_rows)]
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    share = rng.random(n_labels)
    Y = (rng.random((n_rows, n_labels)) < share).astype(np.int8)
    Y[:, 0] |= np.nan_to_num(X[:, 0]) == 2
    features = [Feature("color", ("r", "g", "b")), Feature("old", ("n", "y")), Feature("size")]
    return Dataset(Schema(features, [f"l{j}" for j in range(n_labels)]), X, Y)


# ---------------------------------------------------------------- the list


@given(st.integers(0, 10_000), st.sampled_from([0.0, 5.0]), st.integers(1, 3))
@settings(max_examples=40)
def test_the_list_is_that_of_covering_by_hand(seed, m, max_conditions):
    """Rules from the miner in order; covering, the end and the default one row at a time."""
    data = table(seed)
    model = AssociativeClassifier(
        m=m, max_conditions=max_conditions, bins="frequency", n_bins=3, min_support=2
    ).fit(data)
    common = 2 * data.Y.sum(axis=0) > data.n_rows
    told = Dataset(data.schema, data.X, data.Y ^ common)
    items = rare_items(told, "frequency", 3, 0.9)
    mined = association_rules(
        told, 2, 0.5, max_conditions=max_conditions, items=items, productive=True
    )
    heads, places = {}, {}
    for label in range(3):
        share = told.Y[:, label].mean()

        def rank(number, share=share):
            (evidence,) = mined[number].evidence
            n = evidence.right + evidence.wrong
            confidence = (evidence.right + m * share) / (n + m)
            return (-confidence, -evidence.right, _n_items(mined[number].body), number)

        numbers = [number for number, rule in enumerate(mined) if rule.head.labels == (label,)]
        numbers.sort(key=rank)
        covered = [rows_of(mined[number].body, data) for number in numbers]
        for place in naive.cba(covered, told.Y[:, label].tolist(), [True] * data.n_rows):
            body, own = mined[numbers[place]].body, rank(numbers[place])
            heads.setdefault(body, {})[label] = int(not common[label])
            places[body] = min(places.get(body, own), own)
    # Each body stands once, whatever the number of its labels; then comes the default.
    bodies = sorted(heads, key=places.get)
    rules = [(rows_of(body, data), heads[body]) for body in bodies]
    kept, left = naive.borne_out(rules, data.Y.tolist())
    assert [(rows_of(rule.body, data), dict(rule.head)) for rule in model.theory_[:-1]] == kept
    for label, value in model.theory_[-1].head:
        n_rarer = int(told.Y[sorted(left[label]), label].sum())
        assert value == int((2 * n_rarer > len(left[label])) ^ common[label])
    assert not len(model.theory_[-1].body)


def rows_of(body, data):
    return set(np.flatnonzero(body.covers(data.X, data.Y)).tolist())


def _n_items(body):
    """A range of a numeric feature is one item."""
    return len({(condition.column, condition.on_label) for condition in body})


def test_rules_with_the_same_body_are_one():
    """Wherever a is, b and c are too, so one body tells all three."""
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0]])
    Y = np.repeat(1 - X, 3, axis=1).astype(np.int8)
    data = Dataset(Schema([Feature("x", ("p", "q"))], ["a", "b", "c"]), X, Y)
    model = AssociativeClassifier().fit(data)
    assert str(model.theory_) == "a, b, c <- x = p\notherwise: no label"


def test_labels_that_most_rows_have_are_told_by_their_absence():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0]])
    data = Dataset(Schema([Feature("x", ("p", "q"))], ["a"]), X, X.astype(np.int8))
    assert str(AssociativeClassifier().fit(data).theory_) == "not a <- x = p\notherwise: a"


def test_magazines():
    readers = load("magazines")
    model = AssociativeClassifier().fit(readers)
    assert theory_text(model.theory_, evidence=True).splitlines()[:2] == [
        "quality <- education = University (4/0)",
        "quality <- marital = Divorced (2/1)",
    ]
    assert model.theory_ == parse(str(model.theory_), readers.schema)


def test_given_rules_come_first_and_what_they_write_is_not_learned():
    readers = load("magazines")
    prefix = parse(
        "quality <- education = University\nnot tabloid, * <- sex = Male", readers.schema
    )
    model = AssociativeClassifier().fit(readers, theory=prefix)
    assert model.theory_[:2] == prefix
    sex = readers.schema.features[readers.schema.feature_index["sex"]]
    male = readers.column("sex") == sex.categories.index("Male")
    np.testing.assert_array_equal(model.predict(readers)[male], prefix.predict(readers)[male])


def test_too_many_rules_are_said_to_be_too_many():
    with pytest.warns(RuntimeWarning, match="max_rules"):
        model = AssociativeClassifier(max_rules=3).fit(load("magazines"))
    assert model.n_mined_ == 3


# ---------------------------------------------------------------- the lazy one


@pytest.mark.parametrize("seed", range(5))
def test_lazy_scores_are_those_of_the_rules_that_hold_for_the_row(seed):
    data = table(seed)
    model = LazyAssociativeClassifier(min_support=3, max_conditions=3, bins="width", n_bins=2)
    model.fit(data)
    items = model.items_
    rows_of = [set(items.rows_of(item).tolist()) for item in range(len(items))]
    everything = set(range(data.n_rows))
    explained = model.explain(data, range(data.n_rows), n_rules=10_000)
    for row in range(0, data.n_rows, 7):
        own = [item for item in range(len(items)) if row in rows_of[item]]
        for votes in explained[row].votes:
            ones = set(np.flatnonzero(data.Y[:, votes.label]).tolist())
            expected = naive.score(own, rows_of, ones, everything, 3, 3, 1.0)
            assert votes.score == pytest.approx(expected)
            # The rules shown are all there are, so their votes make up the score.
            said = sum(voting.share * voting.part for voting in votes.rules)
            assert said == pytest.approx(votes.score) or not votes.rules


def test_what_is_explained_is_what_is_predicted():
    data = table(3)
    model = LazyAssociativeClassifier(min_support=3).fit(data)
    presence, labels = model.predict_proba(data), model.predict(data)
    for row, explained in enumerate(model.explain(data, range(data.n_rows), n_rules=2)):
        for votes in explained.votes:
            assert votes.presence == presence[row, votes.label]
            assert votes.is_predicted == labels[row, votes.label]
            assert len(votes.rules) <= 2
            for voting in votes.rules:
                assert voting.rule.body.covers(data.X, data.Y)[row]
                covered = voting.rule.body.covers(data.X, data.Y)
                ones = int(data.Y[covered, votes.label].sum())
                assert voting.rule.evidence == ((ones, int(covered.sum()) - ones),)


def test_a_row_is_judged_by_the_other_rows_only():
    """Each row has an item of its own two rows share; without it, nothing would be known."""
    X = np.repeat(np.arange(20.0), 2)[:, np.newaxis]
    Y = np.tile([[1], [0]], (20, 1)).astype(np.int8)
    data = Dataset(Schema([Feature("x", tuple(f"v{j}" for j in range(20)))], ["a"]), X, Y)
    model = LazyAssociativeClassifier(min_support=2, max_conditions=1).fit(data)
    # Left out, a row leaves its body with a single row: nothing votes, and all are alike.
    scores = model._scores(model._items_in(data), np.arange(40))
    assert set(scores.ravel().round(9)) == {round(19 / 39, 9), round(20 / 39, 9)}


def test_rows_with_too_many_items_say_so():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 2, (60, 12)), rng.integers(0, 2, (60, 2))
    X = np.column_stack([X, 1 - X])
    Y[:, 0] = X[:, 7]
    with pytest.warns(UserWarning, match="max_items"):
        model = LazyAssociativeClassifier(max_items=3).fit(X, Y)
    with pytest.warns(UserWarning, match="max_items"):
        explained = model.explain(X[:1], n_rules=50)
    tested = {c.column for v in explained.votes for r in v.rules for c in r.rule.body}
    assert len(tested) == 3
    assert tested & {7, 19}  # what tells most is kept


def test_a_fixed_threshold_is_where_probabilities_are_even():
    data = table(1)
    model = LazyAssociativeClassifier(threshold=0.3, last_resort=None).fit(data)
    scores = np.array(
        [[v.score for v in row.votes] for row in model.explain(data, range(data.n_rows), n_rules=1)]
    )
    np.testing.assert_array_equal(model.predict(data), scores > 0.3)
    np.testing.assert_array_equal(model.predict_proba(data) > 0.5, scores > 0.3)


def test_thresholds_have_the_best_f1():
    """No other pair of thresholds, one for each group of cells, is better.

    But for those by which a label is predicted for more than 1.5 times the rows that have it.
    """
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = [rng.integers(1, 9, 12) / 10 for _ in range(2)]
        truth = [rng.integers(0, 2, 12), (rng.random(12) < 0.2).astype(int)]

        def f1(thresholds, scores=scores, truth=truth):
            found = [s > t for s, t in zip(scores, thresholds, strict=True)]
            right = sum(y[f].sum() for y, f in zip(truth, found, strict=True))
            return 2 * right / (sum(f.sum() for f in found) + sum(y.sum() for y in truth))

        allowed = [
            [t for t in np.arange(0, 10) / 10 if (s > t).sum() <= 1.5 * y.sum()]
            for s, y in zip(scores, truth, strict=True)
        ]
        best = max(f1(thresholds) for thresholds in product(*allowed))
        assert f1(best_thresholds(scores, truth)) == pytest.approx(best)


def test_guesses_go_as_far_as_enough_of_them_are_right():
    thresholds = Thresholds(np.array([0.5, 0.5]), 1.0)
    scores = np.array([[0.9, 0.1], [0.4, 0.1], [0.1, 0.3], [0.2, 0.1], [0.1, 0.0]])
    truth = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]], dtype=np.int8)
    assert thresholds.lowest_guess(scores, truth, 0.6) == 0.2  # two of three
    assert thresholds.lowest_guess(scores, truth, 0.4) == 0.1  # two of four
    assert thresholds.lowest_guess(scores, 1 - truth, 0.9) == 1.0  # the first is wrong
    guessed = Thresholds(thresholds.thresholds, 0.3).labels(thresholds.presence(scores))
    assert guessed.tolist() == [[1, 0], [1, 0], [0, 1], [0, 0], [0, 0]]


# ---------------------------------------------------------------- both


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_the_order_of_the_rows_does_not_matter(make):
    data = table(2, n_rows=60)
    turned = np.random.default_rng(0).permutation(60)
    a, b = make().fit(data), make().fit(data.take(turned))
    np.testing.assert_array_equal(a.predict(data), b.predict(data))
    np.testing.assert_allclose(a.predict_proba(data), b.predict_proba(data))


@pytest.mark.parametrize("make", CLASSIFIERS)
@pytest.mark.parametrize(
    "asked",
    [
        {"max_conditions": 0},
        {"min_support": 0},
        {"max_frequency": -1},
        {"m": -1},
        {"m": np.inf},
        {"m": np.nan},
        {"bins": "entropie"},
        {"bins": None},
        {"n_bins": 1},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_malformed_parameters_are_refused(make, asked):
    with pytest.raises(ValueError, match=next(iter(asked))):
        make(**asked).fit(load("magazines"))


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_data_without_labels_are_refused(make):
    readers = load("magazines")
    schema = Schema(readers.schema.features, [])
    with pytest.raises(ValueError, match="no labels"):
        make().fit(Dataset(schema, readers.X, np.empty((14, 0), np.int8)))


def test_malformed_parameters_of_one_are_refused():
    for asked in ({"threshold": "loo"}, {"threshold": 2}, {"last_resort": 2}, {"max_items": 0}):
        with pytest.raises(ValueError, match=next(iter(asked))):
            LazyAssociativeClassifier(**asked).fit(load("magazines"))
    for asked in ({"min_confidence": 2}, {"max_rules": 0}, {"max_conditions": 17}):
        with pytest.raises(ValueError, match=next(iter(asked))):
            AssociativeClassifier(**asked).fit(load("magazines"))


# ---------------------------------------------------------------- interrupts


def interrupting(function, after: int):
    """The function, with Ctrl-C at the call after so many."""
    calls = iter(range(after))

    def called(*given, **named):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return function(*given, **named)

    return called


def test_interrupted_choosing_leaves_labels_to_the_last_rule(monkeypatch):
    readers = load("magazines")
    whole = AssociativeClassifier().fit(readers)
    monkeypatch.setattr(associative, "chosen_rules", interrupting(associative.chosen_rules, 2))
    with pytest.warns(LearningInterrupted, match="2 of 4 labels have rules"):
        model = AssociativeClassifier().fit(readers)
    assert (model.predict(readers)[:, :2] == whole.predict(readers)[:, :2]).all()
    assert {label for rule in model.theory_[:-1] for label in rule.head.labels} == {0, 1}
    assert model.theory_[-1].head.labels == (0, 1, 2, 3)


def test_interrupted_mining_leaves_the_rules_that_are_there(monkeypatch):
    monkeypatch.setattr(mining, "BATCH", 10)
    monkeypatch.setattr(mining.RuleMiner, "_add", interrupting(mining.RuleMiner._add, 2))
    readers = load("magazines")
    with pytest.warns(LearningInterrupted, match="chosen from [1-9][0-9]* rules mined so far"):
        model = AssociativeClassifier(min_support=2).fit(readers)
    assert 0 < model.n_mined_ <= 20
    assert len(model.theory_) > 1


def test_rules_that_were_mined_when_python_hears_of_the_interrupt_are_kept(monkeypatch):
    """Ctrl-C is heard when compiled code has returned."""
    from labelrules.kernels.mining import associations as associations

    readers = load("magazines")
    whole = AssociativeClassifier().fit(readers)
    mine = associations.mine_rules

    def interrupted(*given):
        mine(*given)
        raise SystemError("a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(associations, "mine_rules", interrupted)
    with pytest.warns(LearningInterrupted, match="rules mined so far"):
        model = AssociativeClassifier().fit(readers)
    assert model.theory_ == whole.theory_
    with pytest.raises(KeyboardInterrupt):
        association_rules(readers)


def test_nothing_mined_is_nothing_to_keep(monkeypatch):
    monkeypatch.setattr(mining.RuleMiner, "_add", interrupting(mining.RuleMiner._add, 0))
    with pytest.raises(KeyboardInterrupt):
        AssociativeClassifier().fit(load("magazines"))
    with pytest.raises(KeyboardInterrupt):
        AssociativeClassifier().fit(load("magazines"))


def test_below_another_learner_interrupts_are_passed_on(monkeypatch):
    monkeypatch.setattr(associative, "chosen_rules", interrupting(associative.chosen_rules, 2))
    with pytest.warns(LearningInterrupted, match="the 2 of 4 labels"):
        BinaryRelevance(AssociativeClassifier()).fit(load("magazines"))


@pytest.mark.parametrize("row", [-1, 14, [-1], [0, 14]])
def test_rows_that_do_not_exist_are_refused(row):
    readers = load("magazines")
    model = LazyAssociativeClassifier().fit(readers)
    with pytest.raises(IndexError, match="rows are numbered from 0 to 13"):
        model.explain(readers, row)
    with pytest.raises(TypeError, match="row must be the number of a row, not None"):
        model.explain(readers, None)
