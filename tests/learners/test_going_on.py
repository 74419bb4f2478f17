"""Going on with a list, and ending before it is finished: prefixes, warm starts, limits, Ctrl-C."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import UNSET, Dataset, DecisionList
from labelrules.learners import LearningInterrupted, Progress, SeparateAndConquer
from labelrules.learners.covering.loop import Covering
from labelrules.learners.covering.next_rule import LastResort
from labelrules.learners.covering.settings import checked_settings
from labelrules.learners.covering.sorted_rows import SortedRows
from labelrules.search.bodies import refine
from tables import schema_of, tables
from theories import decision_lists
from unpruned import told

FEW_VALUES = st.sampled_from([-0.5, 0.0, 0.5, 1.0, 1.5])


def a_table(seed=0, n_rows=40):
    """Three features, three labels that they make more or less probable."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n_rows, 3)).astype(float)
    Y = (rng.random((n_rows, 3)) < 0.05 + 0.2 * X).astype(np.int8)
    return Dataset(schema_of([0, 0, 0], 3), X, Y)


def without_tests_of_labels(theory):
    kept = [rule for rule in theory if not any(condition.on_label for condition in rule.body)]
    return DecisionList(theory.schema, kept)


def plain(**parameters):
    return SeparateAndConquer(**{"pruning": None, "last_resort": None} | parameters)


@st.composite
def going_on(draw):
    """A table with the first rules of a list over it, stop marks and all."""
    data = draw(tables(max_rows=12, storage=("dense", "sparse")))
    return data, draw(decision_lists(data.schema, FEW_VALUES, max_size=3))


SETTINGS = [
    {},
    {"pruning": "irep"},
    {"pruning": "significance", "polarity": "both", "heads": "multi"},
    {"pruning": None, "stop_share": 0.3, "polarity": "both"},
    {"pruning": None, "order": "prepend", "max_rules": 15},
    {"pruning": None, "order": "prepend", "polarity": "both", "max_rules": 15},
]


# ---------------------------------------------------------------- what the list says


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
@given(given_up=going_on(), with_prefix=st.booleans())
@settings(max_examples=15)
def test_evidence_and_board_are_those_of_the_finished_list(parameters, given_up, with_prefix):
    data, prefix = given_up
    learner = SeparateAndConquer(**parameters)
    if "order" in parameters:
        prefix = without_tests_of_labels(prefix)
    kept = DecisionList(data.schema, [rule.with_evidence(None) for rule in prefix])
    settings_ = checked_settings(learner, data.schema)
    covering = Covering(SortedRows(data, settings_), settings_, kept if with_prefix else ())
    covering.go_on(lambda news: None)
    theory = covering.finished()
    assert told(theory) == told(theory.with_evidence(data, data.Y))
    assert np.array_equal(covering.board.board.T, theory.apply(data))


def test_a_stop_mark_keeps_the_default_rule_away():
    """Also if new rules come before the mark; once the learner took all cells for written."""
    data = Dataset(schema_of([0], 2), np.zeros((4, 1)), np.zeros((4, 2), dtype=np.int8))
    for order in ("append", "prepend"):
        learner = plain(order=order, default_rule=True)
        learner.fit(data, theory="not y0, * <- true")
        assert learner.writers(data).board[:, 1].tolist() == [UNSET] * 4
        assert learner.background_.ones.tolist() == [0, 0]
        assert learner.background_.zeros.tolist() == [0, 4]


def test_rules_in_front_of_rules_that_test_labels_are_refused():
    """They may make these fire, which the learner would not know."""
    with pytest.raises(ValueError, match="rules that test labels cannot be kept with order"):
        plain(order="prepend").fit(a_table(), theory="not y0 <- not y1")


# ---------------------------------------------------------------- prefixes


@pytest.mark.parametrize("parameters", SETTINGS[:4], ids=str)
@given(given_up=going_on())
@settings(max_examples=15)
def test_the_rules_given_come_first_and_stay_as_they_are(parameters, given_up):
    data, prefix = given_up
    theory = SeparateAndConquer(**parameters).fit(data, theory=prefix).theory_
    assert theory[: len(prefix)] == prefix


@pytest.mark.parametrize("parameters", SETTINGS[4:], ids=str)
@given(given_up=going_on())
@settings(max_examples=15)
def test_rules_in_front_come_before_the_rules_given(parameters, given_up):
    data, prefix = given_up[0], without_tests_of_labels(given_up[1])
    theory = SeparateAndConquer(**parameters).fit(data, theory=prefix).theory_
    n = len(theory) - len(prefix)
    assert prefix in (theory[n:], theory[n - 1 : -1])  # there may be a default rule at the end


@given(going_on(), st.sampled_from(["single", "multi"]))
@settings(max_examples=40)
def test_only_open_cells_of_rows_that_are_left_are_learned_from(given_up, heads):
    """What the truth is where the rules given have written makes no difference."""
    data, prefix = given_up
    run = prefix.run(data)
    written = (run.board != UNSET) | (run.stopped >= 0)[:, np.newaxis]
    other = Dataset(data.schema, data.X, np.where(written, 1 - data.Y, data.Y).astype(np.int8))
    learner = plain(heads=heads, polarity="both", default_rule=False)
    theory, twin = (learner.fit(table, theory=prefix).theory_ for table in (data, other))
    assert told(theory[len(prefix) :]) == told(twin[len(prefix) :])


@pytest.mark.parametrize("n_kept", [0, 1, 4, 7])
def test_a_list_goes_on_as_it_would_have_gone_on(n_kept):
    data = a_table()
    theory = plain().fit(data).theory_
    assert len(theory) > 8
    assert told(plain().fit(data, theory=theory[:n_kept]).theory_) == told(theory)


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_an_empty_prefix_changes_nothing(parameters):
    data = a_table()
    learner = SeparateAndConquer(**parameters)
    expected = told(learner.fit(data).theory_)
    assert told(learner.fit(data, theory="").theory_) == expected
    assert told(learner.fit(data, theory=DecisionList(data.schema)).theory_) == expected


def test_a_list_with_a_default_rule_needs_no_other():
    data = a_table()
    theory = plain().fit(data).theory_
    assert told(plain().fit(data, theory=theory).theory_) == told(theory)


def test_rules_in_front_of_a_stop_mark_are_not_found_for_ever():
    """Once rows that the rules given had ended were counted, but never written."""
    learner = plain(order="prepend", polarity="both", max_rules=50)
    theory = learner.fit(a_table(), theory="not y0, * <- x0 <= 1").theory_
    assert theory[-1].stops
    assert 1 < len(theory) < 50
    assert len(set(theory.rules)) == len(theory)


# ---------------------------------------------------------------- warm starts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("default_rule", [True, False])
@pytest.mark.parametrize("order", ["append", "prepend"])
def test_three_rules_and_three_more_are_six_rules(order, default_rule, seed):
    data = a_table(seed)
    parameters = {"order": order, "default_rule": default_rule, "polarity": "both"}
    at_once = plain(max_rules=6, **parameters).fit(data).theory_
    learner = plain(max_rules=3, warm_start=True, **parameters).fit(data)
    assert len(learner.theory_) == 3 + default_rule
    learner.set_params(max_rules=6).fit(data)
    assert len(at_once) == 6 + default_rule
    assert told(learner.theory_) == told(at_once)


def test_a_warm_start_has_one_default_rule():
    data = a_table()
    learner = SeparateAndConquer(warm_start=True, last_resort=None)
    first = told(learner.fit(data).theory_)
    assert told(learner.fit(data).theory_) == first


def test_without_warm_start_learning_starts_afresh():
    data = a_table()
    learner = plain(max_rules=2).fit(data)
    learner.set_params(max_rules=4, polarity="both", default_rule=False).fit(data)
    fresh = plain(max_rules=4, polarity="both", default_rule=False).fit(data)
    assert told(learner.theory_) == told(fresh.theory_)


# ---------------------------------------------------------------- limits and interruptions


def test_no_time_leaves_the_default_rule():
    data = a_table()
    with pytest.warns(
        LearningInterrupted, match="limit of 0 s was reached; no rule was learned yet"
    ):
        theory = SeparateAndConquer(time_limit=0, default_rule=True).fit(data).theory_
    (rule,) = theory
    assert len(rule.body) == 0
    assert rule.head.labels == (0, 1, 2)
    majority = [int(2 * ones > data.n_rows) for ones in data.Y.sum(axis=0).tolist()]
    assert [value for _, value in rule.head] == majority


def test_time_enough_changes_nothing_and_warns_of_nothing():
    data = a_table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theory = SeparateAndConquer(time_limit=600).fit(data).theory_
    assert told(theory) == told(SeparateAndConquer().fit(data).theory_)


def interrupt_after(n_rules):
    def listen(news):
        if news.n_rules == n_rules:
            raise KeyboardInterrupt

    return listen


@pytest.mark.parametrize("order", ["append", "prepend"])
def test_ctrl_c_keeps_the_rules_learned_so_far(order):
    data = a_table()
    expected = plain(max_rules=3, order=order).fit(data).theory_
    with pytest.warns(LearningInterrupted, match="it was interrupted; the 3 rules"):
        theory = plain(order=order, progress=interrupt_after(3)).fit(data).theory_
    assert told(theory) == told(expected)


def test_ctrl_c_while_a_rule_is_written_leaves_nothing_half_done(monkeypatch):
    """The board is that of the rules in the list, so evidence and default rule are right."""
    add, n_added = SortedRows._stops, 0

    def interrupted(covering, *args):
        nonlocal n_added
        n_added += 1
        if n_added == 3:
            raise KeyboardInterrupt
        return add(covering, *args)

    data = a_table()
    expected = plain(max_rules=2).fit(data)
    monkeypatch.setattr(SortedRows, "_stops", interrupted)
    with pytest.warns(LearningInterrupted, match="the 2 rules"):
        learner = plain().fit(data)
    assert told(learner.theory_) == told(expected.theory_)
    assert np.array_equal(learner.predict_proba(data), expected.predict_proba(data))


def test_ctrl_c_while_the_last_resort_is_searched_keeps_all_rules(monkeypatch):
    def interrupted(self, is_late):
        raise KeyboardInterrupt

    data = a_table()
    data = Dataset(data.schema, data.X, data.Y * (np.cumsum(data.Y, axis=1) == 1))
    monkeypatch.setattr(LastResort, "rules", interrupted)
    with pytest.warns(LearningInterrupted):
        theory = SeparateAndConquer().fit(data).theory_
    assert told(theory) == told(SeparateAndConquer(last_resort=None).fit(data).theory_)


def test_the_warning_points_at_the_call_of_fit():
    with pytest.warns(LearningInterrupted) as caught:
        SeparateAndConquer(time_limit=0).fit(a_table())
    assert caught[0].filename == __file__


# ---------------------------------------------------------------- progress


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_every_rule_is_told(parameters):
    data, told_of = a_table(), []
    learner = SeparateAndConquer(**{"last_resort": None} | parameters, progress=told_of.append)
    theory = learner.fit(data).theory_
    n_learned = len([rule for rule in theory if not rule.head.is_complete])
    assert [news.n_rules for news in told_of] == list(range(1, n_learned + 1))
    assert all(isinstance(news, Progress) for news in told_of)
    rules = [news.rule for news in told_of]
    rules = rules[::-1] if parameters.get("order") == "prepend" else rules
    assert rules == list(theory[: len(rules)])
    is_open = [news.n_open for news in told_of]
    assert is_open == sorted(is_open, reverse=True)
    assert {news.n_cells for news in told_of} == {data.Y.size}


def test_the_share_is_that_of_the_cells_which_rules_look_for():
    rows = np.arange(400)
    Y = np.zeros((400, 40), dtype=np.int8)
    Y[rows, rows % 40] = 1  # one label of forty
    X = (rows % 40).astype(float)[:, None]
    for bins in (None, 255):
        told_of = []
        SeparateAndConquer(bins=bins, last_resort=None, progress=told_of.append).fit(X, Y)
        shares = [news.share for news in told_of]
        assert shares == sorted(shares)
        assert shares[-1] > 0.9
        assert {news.n_sought for news in told_of} == {400}
        told_of.clear()
        SeparateAndConquer(bins=bins, max_rules=4, progress=told_of.append).fit(X, Y)
        assert [news.share for news in told_of] == [0.25, 0.5, 0.75, 1]


def test_open_cells_are_those_that_nobody_has_written():
    data, told_of = a_table(), []
    theory = plain(progress=told_of.append).fit(data).theory_
    for number, news in enumerate(told_of, start=1):
        assert news.n_open == np.count_nonzero(theory[:number].apply(data) == UNSET)


def test_rules_given_are_counted_with_those_that_are_learned():
    data, told_of = a_table(), []
    plain(progress=told_of.append).fit(data, theory="y0 <- x0 > 2")
    assert told_of[0].n_rules == 2


def test_nothing_is_shown_unless_asked_for(capsys):
    plain().fit(a_table())
    assert capsys.readouterr() == ("", "")


def test_a_bar_shows_how_many_rules_there_are(capsys):
    theory = plain(progress=True).fit(a_table()).theory_
    assert f"{len(theory)} rules" in capsys.readouterr().out


@pytest.mark.parametrize("limits", [{"max_rules": 1}, {}], ids=str)
def test_no_thread_goes_on_when_learning_has_ended(limits, monkeypatch):
    monkeypatch.setattr(refine, "WORTH_A_THREAD", 1)
    data = a_table(n_rows=200)
    model = plain(n_jobs=3, **limits)
    given = checked_settings(model, data.schema)
    covering = Covering(SortedRows(data, given), given)
    covering.go_on(lambda progress: None)
    pool = covering.finder.search.refiner.pool
    assert pool._threads
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(int)
    for thread in pool._threads:
        thread.join(timeout=20)
        assert not thread.is_alive()
