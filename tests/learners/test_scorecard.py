"""Scorecards: what is learned pays and is shown as it is run; no order of rows matters."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.tree import DecisionTreeClassifier

from labelrules import Dataset, RuleSet, RuleTable, dataset, load, parse
from labelrules.learners import BinaryRelevance, CardProgress, LearningInterrupted, Scorecard
from labelrules.learners.base.progress import nested_fit
from labelrules.learners.scorecard import decoding, learner
from labelrules.learners.scorecard.decoding import (
    BONUSES,
    LEAST_USES,
    SAVED,
    SHIFTS,
    Decoding,
    Unseen,
    UsualSets,
    held_out_parts,
    tuned,
)
from labelrules.learners.scorecard.growth import CardGrowth, Points
from labelrules.learners.scorecard.learner import ONE, mixed_targets, plain_targets
from labelrules.rules import LabelSet
from tables import schema_of, tables

READERS = load("magazines")
CHEAP = 0.1
"""A cost at which conditions pay on small tables."""


def made(n_rows=300, seed=0, n_labels=4):
    """Numbers, categories and missing values; labels that depend on them and on each other."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=(n_rows, 3)).round(2),
            rng.integers(0, 3, n_rows),
            rng.choice([0, 0, 0, 1], n_rows),
        ]
    )
    scores = (
        X[:, :3] @ rng.normal(size=(3, n_labels)) + X[:, [3]] - 1 + rng.normal(size=(n_rows, 1))
    )
    X[rng.random(X.shape) < 0.05] = np.nan
    return Dataset(schema_of([0, 0, 0, 3, 2], n_labels), X, (scores > 0).astype(np.int8))


DATA = made()


@pytest.fixture(scope="module")
def model():
    return Scorecard(literal_cost=0.5).fit(DATA)


# ---------------------------------------------------------------- the theory


def test_what_is_printed_is_what_is_run(model):
    theory = model.theory_
    assert isinstance(theory, RuleSet)
    assert all(len(rule.body) <= 1 for rule in theory)
    assert parse(str(theory), DATA.schema) == theory
    assert (model.predict(DATA) == theory.predict(DATA)).all()
    assert (RuleTable(theory).predict(DATA) == theory.predict(DATA)).all()
    assert theory.n_literals > 20


def words(n_rows=120, n_words=60, seed=3):
    """Rare words in sparse columns, many of them in one or two rows only."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_words)) < rng.choice([0.01, 0.03, 0.2], n_words)).astype(float)
    Y = (X[:, :12].reshape(n_rows, 4, 3).any(axis=2) ^ (rng.random((n_rows, 4)) < 0.05)).astype(
        np.int8
    )
    return Dataset(schema_of([2] * n_words, 4), sparse.csc_array(X), Y)


@pytest.mark.parametrize("cost", [None, 0.5, 0.02])
@pytest.mark.parametrize("data", [DATA, words()], ids=["dense", "sparse"])
def test_points_rest_on_three_rows(data, cost):
    theory = Scorecard(literal_cost=cost).fit(data).theory_
    assert len(theory) > 4
    for rule in theory:
        covered = rule.body.covers(data.X, data.empty_board())
        assert covered.sum() >= 3
        if len(rule.body):
            assert (~covered).sum() >= 3
        for evidence, label, value in zip(
            rule.evidence, rule.head.labels, rule.head.values, strict=True
        ):
            assert evidence.right == (data.Y[covered, label] == value).sum()
            assert evidence.right + evidence.wrong == covered.sum()


def test_every_condition_that_is_chosen_gives_points():
    """Half a point is none, so of many rows small effects promise nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    chance = 1 / (1 + np.exp(-2 * (X[:, 0] > 0) - 0.1 * (X[:, 1:] > 0).sum(axis=1)))
    data = dataset(X, (rng.random((20_000, 1)) < chance[:, np.newaxis]).astype(np.int8))
    task = Scorecard()._task(data, 0)
    growth = CardGrowth(task.binned, task.targets, task.prices(0.1))
    for n_conditions in growth.run():
        assert n_conditions == len(growth.points.conditions)
    assert 0 < n_conditions < 10


def test_scorecards_tell_more_than_chance():
    data = made(seed=1)
    train, test = data.take(np.arange(200)), data.take(np.arange(200, 300))
    right = (Scorecard().fit(train).predict(test) == test.Y).mean()
    majority = (train.Y.mean(axis=0) > 0.5) == test.Y
    assert right > majority.mean() + 0.05


def test_a_dependence_on_categories_is_found():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 200), rng.integers(0, 3, 200)])
    Y = np.column_stack([X[:, 0] == 1, X[:, 1] == 2, X[:, 1] != 0]).astype(np.int8)
    data = Dataset(schema_of([2, 3], 3), X.astype(float), Y)
    found = Scorecard().fit(data).theory_
    assert (found.predict(data) == Y).all()
    assert found.n_literals <= 13


# ---------------------------------------------------------------- what does not matter


def test_the_order_of_rows_does_not_matter(model):
    order = np.random.default_rng(5).permutation(DATA.n_rows)
    assert Scorecard(literal_cost=0.5).fit(DATA.take(order)).theory_ == model.theory_


@settings(max_examples=20, deadline=None)
@given(
    tables(max_rows=14, storage=("dense", "sparse"), unknown=True),
    st.randoms(use_true_random=False),
)
def test_nor_on_small_tables_and_storage_does_not_either(data, random):
    learner = Scorecard(literal_cost=0.02)
    found = learner.fit(data).theory_
    order = list(range(data.n_rows))
    random.shuffle(order)
    assert learner.fit(data.take(order)).theory_ == found
    other = data.X.toarray() if data.is_sparse else sparse.csc_array(data.X)
    assert learner.fit(Dataset(data.schema, other, data.Y)).theory_ == found
    assert parse(str(found), data.schema) == found
    assert (model_labels(learner, data) == found.predict(data)).all()


def model_labels(learner, data):
    return learner.fit(data)._labels(data)


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_do_not_change_the_result(n_jobs, model):
    found = Scorecard(literal_cost=0.5, n_jobs=n_jobs).fit(DATA)
    assert found.theory_ == model.theory_
    assert found.shift_ == model.shift_


# ---------------------------------------------------------------- a budget


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 13, 30, 60, 10_000])
def test_the_budget_is_kept(most):
    found = Scorecard(max_literals=most).fit(DATA)
    assert found.theory_.n_literals <= most
    if most >= 8:
        assert found.theory_.n_literals > most / 2 or found.literal_cost_ == 0.5


def test_a_large_budget_costs_no_more_than_the_least():
    assert Scorecard(max_literals=10_000).fit(DATA).literal_cost_ == 0.5
    given_cost = Scorecard(max_literals=10_000, literal_cost=2.0).fit(DATA)
    assert given_cost.literal_cost_ == 2.0
    assert given_cost.theory_ == Scorecard(literal_cost=2.0).fit(DATA).theory_


def test_labels_that_most_rows_have_count_too():
    """A label above 0 at the start is a literal."""
    Y = np.ones((40, 5), np.int8)
    Y[:3] = 0
    data = dataset(np.arange(40.0).reshape(-1, 1), Y)
    theory = Scorecard(max_literals=2).fit(data).theory_
    assert theory.n_literals <= 2
    assert theory.predict(data).any()


def test_points_within_a_number_of_literals():
    points = Points(np.zeros(2, np.int64), (4, 7, 9), np.array([[1, 2], [0, -1], [3, 0]]))
    assert [points.within(n).conditions for n in (0, 2, 3, 4, 5, 7)] == [
        (),
        (),
        (4,),
        (4,),
        (4, 7),
        (4, 7, 9),
    ]


# ---------------------------------------------------------------- decisions


def slow_value(unseen, decided):
    """Micro-F1 plus subset accuracy."""
    truth, known = unseen.truth, unseen.truth >= 0
    weights = np.ones(truth.shape, int) if unseen.weights is None else unseen.weights
    both = int(weights[(truth == 1) & (decided == 1)].sum())
    cells = int(weights[truth == 1].sum() + weights[(decided == 1) & known].sum())
    is_right, of_rows = ((truth == decided) | ~known).all(axis=1), weights.sum(axis=1)
    is_counted = known.any(axis=1)
    right, n_rows = int(of_rows[is_right & is_counted].sum()), int(of_rows[is_counted].sum())
    return 2 * both / max(1, cells) + right / max(1, n_rows)


@st.composite
def unseen_rows(draw):
    n_rows, n_labels = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(-6, 6), min_size=n_labels, max_size=n_labels)
    least = draw(st.sampled_from([0, 0, -1]))
    bits = st.lists(st.integers(least, 1), min_size=n_labels, max_size=n_labels)
    margins = np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
    truth = np.array(draw(st.lists(bits, min_size=n_rows, max_size=n_rows)), np.int8)
    if draw(st.booleans()):
        return Unseen(margins, truth)
    seed = draw(st.integers(0, 1000))
    return Unseen(margins, truth, np.random.default_rng(seed).integers(1, 9, truth.shape))


@settings(max_examples=40, deadline=None)
@given(unseen_rows(), st.integers(1, 3))
def test_decisions_are_tuned_as_rule_sets_decide(unseen, least):
    """Every choice is tried by `RuleSet.decided`; the one that was tuned is among the best."""
    sets = UsualSets.of(unseen.truth, least)
    n_labels = unseen.truth.shape[1]
    schema = schema_of([], n_labels)

    def value(shift, one, part):
        label_sets = [] if part is None else sets.label_sets(part)
        found = RuleSet(schema, (), label_sets, one).decided(unseen.margins - shift)
        return slow_value(unseen, found)

    plain = max(value(*case, None) for case in product(SHIFTS, (False, True)))
    together = max(
        (value(*case) for case in product(SHIFTS, (False, True), BONUSES)), default=plain
    )
    found = tuned(unseen, sets)
    scorer = decoding._Scorer(unseen, sets)
    if together > plain + SAVED and len(sets.counts):
        kept = {one.labels: one.bonus for one in found.label_sets}
        parts = [part for part in BONUSES if _has(kept, sets, part)]
        values = [value(found.shift, found.at_least_one, part) for part in parts]
        assert max(values) == pytest.approx(together)
    else:
        assert not found.label_sets
        assert value(found.shift, found.at_least_one, None) == pytest.approx(plain)
        assert scorer.value(found.shift, found.at_least_one, None) == pytest.approx(plain)


def _has(kept, sets, part):
    """Whether the label sets that are kept have their bonuses by this part."""
    every = sets.label_sets(part)
    return all(kept.get(one.labels, one.bonus) == one.bonus for one in every)


def test_label_sets_that_decide_few_rows_are_not_kept():
    assert LEAST_USES == 2
    truth = np.array([[1, 1, 0]] * 9 + [[0, 0, 1]] * 9 + [[1, 0, 1]], np.int8)
    margins = np.where(truth == 1, 1, -1) * np.array([4, 1, 4])
    margins[:9, 1] = -1  # the second label is seen by the first only
    found = tuned(Unseen(margins, truth), UsualSets.of(truth, 1))
    assert found.label_sets
    assert (0, 2) not in {one.labels for one in found.label_sets}


def test_usual_label_sets_come_by_their_counts():
    Y = np.array([[1, 0]] * 3 + [[0, 1]] * 4 + [[1, 1]] * 3 + [[0, 0]], np.int8)
    sets = UsualSets.of(Y, 3)
    assert sets.members.tolist() == [[0, 1], [1, 0], [1, 1]] or sets.members.tolist() == [
        [0, 1],
        [1, 1],
        [1, 0],
    ]
    assert sets.counts.tolist() == [4, 3, 3]
    assert sets.bonuses(0.5).tolist() == [2, 2, 2]
    assert sets.bonuses(0.0).tolist() == [0, 0, 0]


def test_label_sets_within_a_number_of_literals():
    every = Decoding(1, True, (LabelSet((0, 1), 3), LabelSet((0, 1, 2), 2), LabelSet((2,), 1)))
    assert every.with_at_most(3).label_sets == (LabelSet((0, 1), 3), LabelSet((2,), 1))
    assert every.with_at_most(0).label_sets == ()
    assert every.with_at_most(3).shift == 1


def test_without_label_sets():
    found = Scorecard(literal_cost=0.5, label_sets=False).fit(DATA)
    assert not found.theory_.label_sets
    assert Scorecard(literal_cost=0.5).fit(DATA).theory_.label_sets


def test_probabilities_undo_the_shift(model):
    margin = model.theory_.margin(DATA) + model.shift_
    expected = 1 / (1 + 2.0 ** (-margin / 2))
    np.testing.assert_allclose(model.predict_proba(DATA), expected)
    assert abs(expected.mean() - DATA.Y.mean()) < 0.02
    assert model.threshold_ == pytest.approx(1 / (1 + 2 ** (-model.shift_ / 2)))


def test_of_many_rows_some_thousand_are_held_out(monkeypatch):
    assert [len(part) for part in held_out_parts(DATA.take(np.arange(7)), 0)] == []
    parts = held_out_parts(DATA, 0)
    assert len(parts) == 2 * 4
    for first in range(0, 8, 4):
        assert sorted(np.concatenate(parts[first : first + 4]).tolist()) == list(range(300))
    monkeypatch.setattr(decoding, "MANY_ROWS", 200)
    (part,) = held_out_parts(made(10_000), 0)
    assert len(part) == 5000


# ---------------------------------------------------------------- classes and odd tables


def test_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    found = Scorecard(literal_cost=0.5).fit(X, y)
    assert found.score(X, y) > 0.9
    assert found.shift_ == 0
    assert not found.theory_.label_sets
    np.testing.assert_allclose(found.predict_proba(X).sum(axis=1), 1)
    two = Scorecard(literal_cost=0.5).fit(X, y == "low")
    assert two.score(X, y == "low") > 0.9
    assert not two.theory_.at_least_one


@pytest.mark.parametrize("value", [0, 1])
def test_labels_that_all_rows_have_or_none(value):
    Y = np.column_stack([np.full(30, value), np.arange(30) % 2]).astype(np.int8)
    data = dataset(np.arange(30.0).reshape(-1, 1) % 2, Y)
    found = Scorecard().fit(data)
    assert (found.predict(data)[:, 0] == value).all()
    presence = found.predict_proba(data)
    assert ((presence > 0) & (presence < 1)).all()


def test_no_features_and_one_row():
    nothing = Dataset(
        READERS.schema.__class__([], READERS.schema.labels), np.empty((14, 0)), READERS.Y
    )
    assert len(Scorecard(literal_cost=CHEAP).fit(nothing).theory_) == 1
    assert Scorecard().fit([[1.0]], [[1, 0]]).predict([[2.0]]).tolist() == [[1, 0]]


def test_missing_values_satisfy_no_condition(model):
    empty = np.full((1, 5), np.nan)
    start = model.theory_[-1]
    assert not len(start.body)
    points = np.zeros(4, int)
    for label, value, number in start.ballot:
        points[label] = number if value else -number
    assert model.theory_.margin(empty).tolist() == [points.tolist()]


def test_an_unknown_category_is_a_missing_value():
    rng = np.random.default_rng(0)
    colours = np.array(["red", "green", "blue"], dtype=object)[rng.integers(0, 3, 90)]
    Y = np.column_stack([colours == "red", colours != "green"]).astype(np.int8)
    learner = Scorecard(literal_cost=0.2).fit(colours[:, np.newaxis], Y)
    assert (learner.predict(colours[:, np.newaxis]) == Y).all()
    unknown, missing = (learner.predict_proba([[one]]) for one in ("violet", None))
    assert unknown.tolist() == missing.tolist()
    assert unknown[0].tolist() not in learner.predict_proba(colours[:3, np.newaxis]).tolist()


# ---------------------------------------------------------------- teachers


@pytest.mark.parametrize(
    "teacher",
    ["forest", DecisionTreeClassifier(max_depth=3), BinaryRelevance(LogisticRegression())],
    ids=["forest", "tree", "ours"],
)
def test_teachers(teacher, monkeypatch):
    monkeypatch.setattr(learner, "N_TREES", 10)
    data = made().without([])
    filled = Dataset(data.schema, np.nan_to_num(data.X), data.Y)
    found = Scorecard(literal_cost=0.5, teacher=teacher).fit(filled)
    assert found.theory_ != Scorecard(literal_cost=0.5).fit(filled).theory_
    order = np.random.default_rng(1).permutation(filled.n_rows)
    again = Scorecard(literal_cost=0.5, teacher=teacher, n_jobs=2).fit(filled.take(order))
    assert again.theory_ == found.theory_
    none = Scorecard(literal_cost=0.5, teacher=teacher, teacher_weight=0).fit(filled)
    assert none.theory_ == Scorecard(literal_cost=0.5).fit(filled).theory_


def test_teachers_need_not_know_of_constant_labels():
    Y = DATA.Y.copy()
    Y[:, 0], Y[:, 1:3] = 1, 0
    data = Dataset(DATA.schema, np.nan_to_num(DATA.X), Y)
    found = Scorecard(teacher=LogisticRegression(), literal_cost=0.5).fit(data)
    assert (found.predict(data)[:, :3] == [1, 0, 0]).all()
    Y[:] = [1, 0, 0, 1]
    assert (
        Scorecard(teacher="forest").fit(Dataset(DATA.schema, data.X, Y)).predict(data) == Y
    ).all()


def test_targets_are_mixed():
    Y = np.array([[1, 0], [0, 1]], np.int8)
    assert plain_targets(Y).tolist() == [[ONE, 0], [0, ONE]]
    presence = np.array([[0.5, 0.25], [0.0, 2.0]])
    assert mixed_targets(Y, presence, 0.5).tolist() == [[ONE * 3 // 4, 0], [ONE // 8, ONE]]


# ---------------------------------------------------------------- interrupts and progress


def test_progress():
    reports = []
    found = Scorecard(literal_cost=0.5, progress=reports.append).fit(DATA)
    assert all(isinstance(one, CardProgress) for one in reports)
    shares = [one.share for one in reports]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    n_conditions = len(found.theory_) - 1
    assert str(reports[-1]) == f"9 of 9 scorecards, {n_conditions} conditions"


def stopping_at(condition):
    def listen(report):
        if condition(report):
            raise KeyboardInterrupt

    return listen


def test_what_has_grown_is_kept():
    stop = stopping_at(lambda report: report.n_conditions == 3)
    with pytest.warns(LearningInterrupted, match="3 conditions, and is not tuned"):
        found = Scorecard(literal_cost=0.5, progress=stop).fit(DATA)
    assert len(found.theory_) == 4
    assert found.shift_ == 0
    with pytest.warns(LearningInterrupted, match="conditions?, and is not tuned"):
        found = Scorecard(max_literals=9, progress=stop).fit(DATA)
    assert found.theory_.n_literals <= 9


def test_tuning_ends_with_what_is_there():
    stop = stopping_at(lambda report: report.n_done == 4)
    with pytest.warns(LearningInterrupted, match="tuned on 3 of 8 parts of the rows"):
        found = Scorecard(literal_cost=0.5, progress=stop).fit(DATA)
    assert found.theory_.n_literals > 20


@pytest.mark.parametrize("n_done", [0, 4])
def test_within_another_learner_nothing_is_kept(n_done):
    stop = stopping_at(lambda report: report.n_done == n_done)
    with nested_fit(), pytest.raises(KeyboardInterrupt):
        Scorecard(literal_cost=0.5, progress=stop).fit(DATA)


def test_growth_can_end_after_any_step():
    """Whenever it is left, margins are those of the points."""
    task = Scorecard(literal_cost=0.3)._task(DATA, 0)
    growth = CardGrowth(task.binned, task.targets, task.prices(0.3))
    for _ in growth.run():
        assert (growth.points.margins(task.binned) == growth.margin.T).all()


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_literals": -1}, "max_literals must be a whole number of at least 0 or None, not -1"),
        ({"literal_cost": 0}, "literal_cost must be a number"),
        ({"ridge": -1}, "ridge must be a number"),
        ({"n_cuts": 0}, "n_cuts must be a whole number"),
        ({"label_sets": 2}, "label_sets must be True or False"),
        ({"teacher": "tree"}, "teacher must be 'forest', a classifier .* or None, not 'tree'"),
        ({"teacher": LogisticRegression}, "teacher must be 'forest', a classifier"),
        ({"teacher": Perceptron()}, "Perceptron has no predict_proba"),
        ({"teacher_weight": 1.5}, "teacher_weight must be a number"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": "x"}, "random_state must be"),
        ({"progress": 3}, "progress must be"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(ValueError, match=message):
        Scorecard(**wrong).fit(READERS)
