"""Rules that vote: what is elected pays, what is shown is run, and no order of rows matters."""

from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelrules import RuleSet, RuleTable, dataset, load, parse
from labelrules.learners import LearningInterrupted, SeparateAndConquer, VotedRules, voted
from labelrules.learners.base.progress import nested_fit
from labelrules.learners.voted import BIT, MOST_VOTES, REACH, Costs, Election


def naive_bits(truth, margin, miss):
    """Telling a label by its odds; two votes double them."""
    odds = 2.0 ** (margin / 2)
    return miss * log2(1 + 1 / odds) if truth else log2(1 + odds)


def naive_cost(covers, lengths, Y, votes, costs):
    """What is paid for labels, votes and conditions, cell by cell."""
    bits = 0.0
    for row, labels in enumerate(Y):
        for label, truth in enumerate(labels):
            margin = votes[-1][label] + sum(
                votes[rule][label] for rule in range(len(covers)) if covers[rule][row]
            )
            bits += naive_bits(truth, margin, costs.miss)
    for rule, length in enumerate(lengths):
        bits += costs.vote * sum(map(abs, votes[rule]))
        bits += costs.condition * length * any(votes[rule])
    return bits


@st.composite
def elections(draw):
    n_rules, n_rows, n_labels = (draw(st.integers(1, most)) for most in (5, 12, 3))
    bits = st.integers(0, 1)
    covers = np.array(
        draw(st.lists(st.tuples(*[bits] * n_rows), min_size=n_rules, max_size=n_rules))
    )
    Y = np.array(draw(st.lists(st.tuples(*[bits] * n_labels), min_size=n_rows, max_size=n_rows)))
    lengths = np.array(draw(st.lists(st.integers(1, 3), min_size=n_rules, max_size=n_rules)))
    costs = Costs(*(draw(st.sampled_from(values)) for values in ([1.0, 2.0], [0, 0.5], [0, 0.75])))
    return covers, lengths, Y.astype(np.int8), costs


def election(covers, lengths, Y, costs):
    return Election(sparse.csr_array(covers.astype(float)), lengths, Y, costs)


@settings(max_examples=60)
@given(elections())
def test_costs_are_those_of_the_definition(made):
    covers, lengths, Y, costs = made
    held = election(*made)
    votes = held.run()
    expected = naive_cost(covers, lengths, Y, votes.tolist(), costs)
    # Each cell is rounded to a part of a bit.
    assert held.cost() / BIT == pytest.approx(expected, abs=(Y.size + len(covers) * 4) / BIT)
    margins = votes[-1] + covers.T @ votes[:-1]
    assert (held.margin == margins).all()


@settings(max_examples=60)
@given(elections())
def test_every_rule_that_is_elected_pays(made):
    held = election(*made)
    votes = held.run().copy()
    cost = held.cost()
    for rule in np.flatnonzero(votes[:-1].any(axis=1)):
        other = election(*made)
        for kept in range(len(votes)):
            other._give(kept, np.zeros_like(votes[kept]) if kept == rule else votes[kept])
        assert other.cost() > cost


def test_one_rule_and_one_label_get_the_best_votes_there_are():
    covers = np.array([[1, 1, 1, 1, 0, 0, 0, 0, 0, 0]])
    Y = np.array([1, 1, 1, 0, 0, 0, 0, 1, 0, 0], dtype=np.int8).reshape(-1, 1)
    costs = Costs(2.0, 0.1, 0.1)
    found = election(covers, np.array([2]), Y, costs)
    found.run()
    best = min(
        naive_cost(covers, [2], Y.tolist(), [[rule], [default]], costs)
        for rule, default in product(range(-12, 13), repeat=2)
    )
    assert found.cost() / BIT == pytest.approx(best, abs=0.001)


def test_tables_of_bits():
    costs = Costs(2.0, 0.5, 0.75)
    margins = np.array([-200, -REACH, -3, 0, 1, REACH, 200])
    for truth in (0, 1):
        expected = [naive_bits(truth, margin, 2.0) for margin in margins.tolist()]
        found = costs.bits(np.full_like(margins, truth), margins) / BIT
        np.testing.assert_allclose(found, expected, atol=1 / BIT)


def test_what_is_shown_is_what_is_run():
    readers = load("magazines")
    model = VotedRules(vote_cost=0, condition_cost=0).fit(readers)
    assert isinstance(model.theory_, RuleSet)
    again = parse(str(model.theory_), readers.schema)
    assert again == model.theory_
    assert (again.predict(readers) == model.predict(readers)).all()
    assert (RuleTable(again).predict(readers) == model.predict(readers)).all()
    margin = model.theory_.margin(readers)
    assert ((margin > 0) == model.predict(readers)).all()
    odds = 2.0 ** (margin / 2) / 2
    np.testing.assert_allclose(model.predict_proba(readers), odds / (1 + odds))


def planted_table(n_rows=300, seed=3):
    chance = np.random.default_rng(seed)
    X = chance.integers(0, 20, size=(n_rows, 6)).astype(float)
    first = (X[:, 0] > 9) & (X[:, 1] > 9)
    Y = np.column_stack([first, first | (X[:, 2] > 14), X[:, 3] + X[:, 4] > 24]).astype(int)
    return X, Y ^ (chance.random(Y.shape) < 0.05)


def test_neither_the_order_of_rows_nor_workers_matter():
    X, Y = planted_table()
    model = VotedRules(n_lists=4).fit(X, Y)
    order = np.random.default_rng(0).permutation(len(X))
    assert model.theory_.rules == VotedRules(n_lists=4).fit(X[order], Y[order]).theory_.rules
    assert model.theory_.rules == VotedRules(n_lists=4, n_jobs=2).fit(X, Y).theory_.rules
    assert model.theory_ == VotedRules(n_lists=4, random_state=0).fit(X, Y).theory_


def test_sums_of_votes_can_say_what_short_rules_cannot():
    """A label that depends on a sum needs long rules in a list, and a few votes in a set."""
    X, Y = planted_table(600)
    test_X, test_Y = planted_table(600, seed=4)
    voted = VotedRules().fit(X, Y)
    listed = SeparateAndConquer(max_conditions=2).fit(X, Y)
    wrong = [(model.predict(test_X) != test_Y).mean() for model in (voted, listed)]
    assert wrong[0] < wrong[1]
    assert max(len(rule.body) for rule in voted.theory_) <= 2


def test_higher_costs_give_fewer_rules_and_a_miss_that_costs_more_gives_more_labels():
    X, Y = planted_table()
    few, many = (VotedRules(vote_cost=cost).fit(X, Y) for cost in (4.0, 0.1))
    assert len(few.theory_) < len(many.theory_)
    shy, bold = (VotedRules(miss_cost=cost).fit(X, Y) for cost in (0.5, 6.0))
    assert shy.predict(X).sum() < bold.predict(X).sum()


def test_evidence_is_of_the_rows_that_a_rule_covers():
    X, Y = planted_table()
    model = VotedRules(n_lists=2).fit(X, Y)
    encoded = dataset(X, Y)
    for rule in model.theory_:
        covers = rule.body.covers(encoded.X, encoded.empty_board())
        for (label, value), evidence in zip(rule.head, rule.evidence, strict=True):
            right = int((Y[covers, label] == value).sum())
            assert evidence == (right, int(covers.sum()) - right)
    assert max(votes for rule in model.theory_ for _, _, votes in rule.ballot) <= MOST_VOTES


def test_labels_that_are_always_or_never_there():
    X = np.arange(6.0).reshape(-1, 1)
    model = VotedRules(n_lists=2).fit(X, [[1, 0]] * 6)
    assert model.predict(X).tolist() == [[1, 0]] * 6
    assert [len(rule.body) for rule in model.theory_] == [0]


def test_an_interruption_keeps_the_lists_that_are_there():
    X, Y = planted_table()

    def interrupt(news):
        if news.n_done == 2:
            raise KeyboardInterrupt

    with pytest.warns(LearningInterrupted, match="the rules of 2 of 5 lists vote"):
        model = VotedRules(n_lists=5, progress=interrupt).fit(X, Y)
    assert model.predict(X).shape == Y.shape


def pressing_in(monkeypatch, where, name, at):
    """Ctrl-C at some calls of a function."""
    inner, calls = getattr(where, name), []

    def pressed(*given, **named):
        calls.append(1)
        if len(calls) in at:
            raise KeyboardInterrupt
        return inner(*given, **named)

    monkeypatch.setattr(where, name, pressed)


def test_an_interruption_of_the_election_keeps_who_is_elected(monkeypatch):
    X, Y = planted_table()
    whole = VotedRules(n_lists=3).fit(X, Y)
    pressing_in(monkeypatch, Election, "_give", [3])  # after the default and a rule
    with pytest.warns(LearningInterrupted, match="the election ended after 1 rule$") as caught:
        model = VotedRules(n_lists=3).fit(X, Y)
    assert caught[0].filename == __file__
    assert [len(rule.body) > 0 for rule in model.theory_] == [True, False]
    assert len(whole.theory_) > 2
    assert (model.predict(X) == Y).mean() > ((Y.mean(axis=0) > 0.5) == Y).mean()


@pytest.mark.parametrize(
    ("where", "name"), [(voted, "_election"), (Election, "_update_gains"), (voted, "_rules")]
)
def test_an_interruption_around_the_election_keeps_rules(where, name, monkeypatch):
    X, Y = planted_table()
    pressing_in(monkeypatch, where, name, [1])
    with pytest.warns(LearningInterrupted, match="the election ended after [1-9]"):
        model = VotedRules(n_lists=3).fit(X, Y)
    assert len(model.theory_) >= 2


def test_a_second_interruption_keeps_what_the_first_did(monkeypatch):
    X, Y = planted_table()

    def interrupt(news):
        raise KeyboardInterrupt

    pressing_in(monkeypatch, Election, "_give", [3])
    with pytest.warns(
        LearningInterrupted, match="the rules of 1 of 3 lists vote and the election ended after 1 r"
    ):
        VotedRules(n_lists=3, progress=interrupt).fit(X, Y)


def test_a_learner_around_it_hears_of_interruptions(monkeypatch):
    X, Y = planted_table()
    pressing_in(monkeypatch, Election, "_give", [3])
    with nested_fit(), pytest.raises(KeyboardInterrupt):
        VotedRules(n_lists=3).fit(X, Y)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_lists": 0}, "n_lists must be a whole number of at least 1, not 0"),
        (
            {"max_conditions": 1.5},
            "max_conditions must be a whole number of at least 1 or None, not 1.5",
        ),
        ({"vote_cost": -1}, "vote_cost must be a number from 0 to 1000, not -1"),
        ({"condition_cost": float("nan")}, "condition_cost must be a number from 0 to 1000"),
        ({"miss_cost": 0}, "miss_cost must be a number above 0 and of at most 1000 or None"),
        ({"n_jobs": 0}, "n_jobs must be a number of workers"),
    ],
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(ValueError, match=message):
        VotedRules(**wrong).fit(load("magazines"))
