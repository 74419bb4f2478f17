"""What is true of every list that is learned, on generated tables and on real data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import UNSET, Dataset, DecisionList, load, parse, theory_text
from labelrules.learners import SeparateAndConquer
from labelrules.measures import Formula, Measure
from labelrules.search.bodies import refine
from tables import columns_of, schema_of, tables
from twins import single_label as plain
from unpruned import learned, learner, told

WAYS = [
    {"heads": "single", "measure": "f0.5"},
    {"heads": "single", "measure": "f0.5", "fixed_head": True, "polarity": "rarer"},
    {
        "heads": "single",
        "fixed_head": True,
        "polarity": "rarer",
        "label_conditions": False,
        "measure": "f0.5",
    },
    {"heads": "multi", "measure": "precision", "counting": "chapter", "stop_share": 0.01},
    {"heads": "multi", "measure": "f1", "label_conditions": False, "readd": "incomplete"},
    {"heads": 2, "measure": "hamming", "operators": ("<=", ">", "=", "!=")},
]
IN_FRONT = {"heads": "single", "measure": "precision", "order": "prepend"}

any_way = st.sampled_from(WAYS)


def history(data, **parameters):
    """The list without its default rule, and what was told while it grew."""
    news = []
    model = learner(progress=news.append, **{**parameters, "default_rule": False}).fit(data)
    return model.theory_, news


def check_growth(data, **parameters):
    """The board is what the rules make of it, each rule writes, and is worth what is told."""
    theory, news = history(data, **parameters)
    measure, counting = Measure.parse(parameters["measure"]), parameters.get("counting")
    assert [one.rule for one in news] == list(theory)
    before = theory[:0].run(data)
    for number, one in enumerate(news):
        after = theory[: number + 1].run(data)
        left = (before.stopped < 0)[:, np.newaxis] & (before.board == UNSET)
        still_left = (after.stopped < 0)[:, np.newaxis] & (after.board == UNSET)
        assert one.n_open == still_left.sum()
        assert one.n_rules == number + 1
        written = after.writer == number
        assert written[:, list(one.rule.head.labels)].any(axis=0).all()
        assert (written <= left).all()
        covered = one.rule.body.covers(data.X, before.board)
        closed = np.where(left, UNSET, 0)
        given_head = (data.Y, covered, one.rule.head.vector(), closed)
        value = measure.of_rule(*given_head, counting or "head-relative")
        assert one.value == pytest.approx(value, rel=1e-12)
        right = [int((written[:, j] & (data.Y[:, j] == v)).sum()) for j, v in one.rule.head]
        assert [e.right for e in one.rule.evidence] == right
        assert sum(right) == measure.merit_of_rule(*given_head).correct
        before = after


@given(tables(max_rows=12, max_labels=4, storage=("dense", "sparse")), any_way)
@settings(max_examples=40)
def test_boards_scores_and_writing(data, way):
    check_growth(data, **way)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("name", ["flags", "emotions"])
def test_boards_scores_and_writing_on_real_data(name, way, data_folder):
    data = load(name, data_folder, part="train")
    check_growth(data, **way, max_rules=None if name == "flags" else 12)


@given(tables(max_rows=12, max_labels=4), any_way)
@settings(max_examples=40)
def test_the_last_board_is_what_the_list_predicts(data, way):
    theory = learned(data, **way)
    run = theory.run(data)
    counted = sum(e.right + e.wrong for rule in theory for e in rule.evidence)
    assert counted == (run.board != UNSET).sum()
    assert told(theory.with_evidence(data, data.Y)) == told(theory)


@given(tables(max_rows=12, max_labels=4))
@settings(max_examples=40)
def test_learning_ends(data):
    """Behind others each rule writes a cell; in front of them each sets one more right."""
    for way in WAYS:
        assert len(learned(data, **way)) <= data.Y.size + 1
    assert len(learned(data, **IN_FRONT)) <= data.Y.size


def test_a_rule_in_front_sets_more_right_than_before(data_folder):
    data = load("flags", data_folder, part="train")
    theory = learned(data, **IN_FRONT, max_rules=40)
    right = [(theory[i:].apply(data) == data.Y).sum() for i in range(len(theory), -1, -1)]
    assert right == sorted(set(right))


# ---------------------------------------------------------------- separable tables


@st.composite
def separable(draw):
    """Tables in which each label depends on one feature, in whatever way."""
    kinds = draw(st.lists(st.sampled_from([0, 0, 3, 4]), min_size=1, max_size=3))
    n_rows = draw(st.integers(1, 12))
    X = np.array([draw(columns_of(n, n_rows)) for n in kinds]).T
    labels = []
    for _ in range(draw(st.integers(1, 4))):
        column = np.nan_to_num(X[:, draw(st.integers(0, len(kinds) - 1))], nan=-99)
        found, code = np.unique(column, return_inverse=True)
        values = draw(st.lists(st.integers(0, 1), min_size=len(found), max_size=len(found)))
        labels.append(np.array(values)[code])
    return Dataset(schema_of(kinds, len(labels)), X, np.array(labels, dtype=np.int8).T)


@given(separable(), st.sampled_from(["single", "multi", 2]), st.sampled_from([None, 0.0]))
@settings(max_examples=60)
def test_a_separable_table_is_separated(data, heads, stop_share):
    theory = learned(data, heads=heads, measure="precision", stop_share=stop_share)
    assert (theory.apply(data) == data.Y).all()


def test_what_no_single_condition_begins_to_separate_is_beyond_a_greedy_search():
    """Where two features decide together and each alone says nothing, no condition helps."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    data = Dataset(schema_of([2, 2], 1), X, np.array([[0], [1], [1], [0]], dtype=np.int8))
    assert theory_text(learned(data, measure="precision")) == "otherwise: y0"


# ---------------------------------------------------------------- decisions and probabilities


CLOSED = [
    {},
    {"bins": 2},
    {"min_coverage": 1},
    {"polarity": "both", "default_rule": True},
    {"polarity": "presence", "default_rule": True},
]
"""Lists whose default rule says the majority, unless all others are absent in most rows."""


@pytest.mark.parametrize("parameters", CLOSED, ids=str)
@given(tables(max_rows=12, unknown=True))
@settings(max_examples=30)
def test_what_is_predicted_is_more_probable_than_not(parameters, data):
    model = SeparateAndConquer(last_resort=None, **parameters).fit(data)
    predicted, presence = model.predict(data), model.predict_proba(data)
    assert (predicted[presence > 0.5] == 1).all()
    assert (predicted[presence < 0.5] == 0).all()


@pytest.mark.parametrize("polarity", ["both", "presence"])
@given(tables(max_rows=12, unknown=True))
@settings(max_examples=30)
def test_without_a_default_rule_open_cells_are_absent_however_probable(polarity, data):
    model = SeparateAndConquer(polarity=polarity, last_resort=None).fit(data)
    predicted, presence = model.predict(data), model.predict_proba(data)
    is_open = model.writers(data).writer < 0
    assert (predicted[is_open] == 0).all()
    assert (predicted == 1)[~is_open & (presence > 0.5)].all()
    assert (predicted == 0)[presence < 0.5].all()


def test_one_row():
    """A rule for it needs `min_coverage=1`; a default rule needs "rarer", or to be asked for."""

    def found(**parameters):
        model = SeparateAndConquer(**parameters).fit([[1.0]], [[1, 0]])
        return model.predict([[1.0]]).tolist(), model.predict_proba([[1.0]]).round(2).tolist()

    for polarity in ("rarer", "both", "presence"):
        for parameters in ({"min_coverage": 1}, {"default_rule": True}):
            assert found(polarity=polarity, **parameters) == ([[1, 0]], [[0.67, 0.33]])
    assert found() == ([[1, 0]], [[0.67, 0.33]])
    for polarity in ("both", "presence"):
        assert found(polarity=polarity) == ([[0, 0]], [[0.67, 0.33]])


# ---------------------------------------------------------------- threads, rows, text


@given(tables(max_rows=12, max_features=5, storage=("dense", "sparse")), any_way)
@settings(max_examples=25)
def test_the_list_does_not_depend_on_threads(data, way):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refine, "WORTH_A_THREAD", 1)
        lists = [told(learned(data, n_jobs=n, **way)) for n in (1, 2, 3)]
    assert lists[0] == lists[1] == lists[2]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_list_does_not_depend_on_threads_on_real_data(way, data_folder, monkeypatch):
    monkeypatch.setattr(refine, "WORTH_A_THREAD", 1)
    data = load("emotions", data_folder, part="train")
    lists = [told(learned(data, n_jobs=n, max_rules=8, **way)) for n in (1, 2, 3)]
    assert lists[0] == lists[1] == lists[2]


@given(tables(max_rows=12, storage=("dense", "sparse")), any_way, st.randoms())
@settings(max_examples=40)
def test_the_list_does_not_depend_on_the_order_of_rows(data, way, random):
    order = list(range(data.n_rows))
    random.shuffle(order)
    assert told(learned(data.take(order), **way)) == told(learned(data, **way))
    assert told(learned(data.take(order), **IN_FRONT)) == told(learned(data, **IN_FRONT))


@given(tables(max_rows=12, max_labels=4), any_way)
@settings(max_examples=30)
def test_a_list_that_is_printed_and_read_does_the_same(data, way):
    theory = learned(data, **way)
    read = parse(theory_text(theory), data.schema)
    assert isinstance(read, DecisionList)
    assert [r.body.conditions for r in read] == [r.body.conditions for r in theory]
    assert read == theory
    assert (read.predict(data) == theory.predict(data)).all()


# ---------------------------------------------------------------- one label


FORMULAS = {
    "precision": Formula("precision"),
    "f0.5": Formula("f", 0.5),
    "laplace/macro": Formula("laplace"),
}


@given(data=tables(max_rows=12, max_labels=1, missing=False), name=st.sampled_from([*FORMULAS]))
@settings(max_examples=60)
def test_with_one_label_it_is_the_classical_learner(data, name):
    formula = FORMULAS[name]

    def score(p, n, all_p, all_n):
        return formula(p, n, all_n - n, all_p - p)

    parameters = {"measure": name, "polarity": "presence", "readd": "incomplete"}
    theory = learned(data, heads="single", **parameters)
    columns = [data.column(j).tolist() for j in range(data.schema.n_features)]
    nominal = [feature.is_nominal for feature in data.schema.features]
    expected = plain.learn(columns, nominal, data.Y[:, 0].tolist(), score)
    found = [[(c.column, c.operator, c.value) for c in rule.body] for rule in theory]
    assert found == expected
    assert told(learned(data, heads="multi", **parameters)) == told(theory)
