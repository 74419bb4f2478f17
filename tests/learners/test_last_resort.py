"""Rules of last resort: the likeliest label for rows in which none was found."""

import numpy as np
import pytest

from labelrules import (
    Body,
    Condition,
    Dataset,
    DecisionList,
    Head,
    LayeredTheory,
    Rule,
    parse,
    theory_text,
)
from labelrules.learners import SeparateAndConquer
from tables import schema_of
from unpruned import told

N_LABELS = 3


def table(x, *present):
    """One nominal feature; for each row the number of its only label, None if it has none."""
    Y = np.zeros((len(x), N_LABELS), dtype=np.int8)
    for row, label in enumerate(present):
        if label is not None:
            Y[row, label] = 1
    X = np.array([["abcd".index(cell)] for cell in x], dtype=float)
    return Dataset(schema_of([4], N_LABELS), X, Y)


def resorts(data, share=0.4):
    """The rules for rows without a label, and the theory that they belong to."""
    without = SeparateAndConquer(last_resort=None).fit(data).theory_
    theory = SeparateAndConquer(last_resort=share).fit(data).theory_
    if isinstance(theory, DecisionList):
        assert told(theory) == told(without)
        return (), theory
    assert told(theory.layers[0]) == told(without)
    assert told(theory.fallback) == told(theory.with_evidence(data, data.Y).fallback)
    return theory.fallback.rules, theory


def half_right():
    """Of ten rows a five have y0, of ten rows b three have y1; nothing is worth a rule by MDL."""
    a = [0, 0, 0, 0, 0, 1, 1, 2, 2, None]
    b = [1, 1, 1, 0, 0, 2, 2, 2, None, None]
    return table("a" * 10 + "b" * 10, *a, *b)


def test_a_label_that_is_probable_enough_is_guessed():
    guesses, _ = resorts(half_right(), 0.4)
    assert [(rule.head, rule.body) for rule in guesses] == [
        (Head({0: 1}, N_LABELS), Body([Condition(0, "=", 0.0)]))
    ]
    assert guesses[0].evidence == ((5, 5),)


def test_a_label_that_is_just_as_probable_is_not_guessed():
    """Five of ten is not more than one half."""
    assert resorts(half_right(), 0.5)[0] == ()


@pytest.mark.parametrize(("fifth", "is_guessed"), [(None, False), (2, True)])
def test_no_label_is_guessed_where_as_many_rows_have_none(fifth, is_guessed):
    """y0 in 2 of 5 rows a, none in 2 of them: to say nothing would be right as often."""
    data = table("aaaaa" + "b" * 6, 0, 0, 1, None, fifth, *[1, 2, 1, 2, 1, 2])
    guesses, _ = resorts(data, 0.35)
    assert any(rule.head == Head({0: 1}, N_LABELS) for rule in guesses) == is_guessed


def test_a_guess_must_be_right_twice():
    data = table("aabbbbcccc", 0, 1, *[1, 2, 0, 2], *[0, 1, 2, 1])
    for share in (0.3, 0.4, 0.49):
        for rule in resorts(data, share)[0]:
            assert rule.evidence[0].right >= 2


def test_rows_with_a_label_get_no_other_one():
    plan = [0] * 12 + [1, 1, 1, 1, 2, 2, 2, None] + [2, 2, 1, 1, None, None, None, None]
    data = table("a" * 12 + "b" * 8 + "c" * 8, *plan)
    last, theory = resorts(data)
    assert theory.layers[0][0].head == Head({0: 1}, N_LABELS)
    assert [rule.head for rule in last] == [Head({1: 1}, N_LABELS)]
    assert theory.predict(data)[:12].tolist() == [[1, 0, 0]] * 12


def test_the_first_rule_that_holds_decides_the_row():
    """Else rows that were to get one label would get several."""
    data = half_right()
    both = [Rule(Head({0: 1}, N_LABELS)), Rule(Head({1: 1}, N_LABELS))]
    theory = LayeredTheory(
        data.schema, [DecisionList(data.schema)], fallback=DecisionList(data.schema, both)
    )
    assert theory.predict(data).tolist() == [[1, 0, 0]] * 20
    assert parse(theory_text(theory), data.schema) == theory


WHERE_NOT = {
    "a label is present in most rows": ({}, "most"),
    "heads may say that labels are absent": ({"polarity": "both", "default_rule": True}, None),
    "it is not wanted": ({"share": None}, None),
    "the number of rules is limited": ({"max_rules": 50}, None),
    "rules are put in front": ({"order": "prepend", "pruning": None, "max_rules": 0}, None),
}


@pytest.mark.parametrize("reason", WHERE_NOT)
def test_there_is_no_last_resort_where(reason):
    parameters, change = WHERE_NOT[reason]
    data = half_right()
    if change == "most":
        data.Y.flags.writeable = True
        data.Y[:, 2] = 1
        data.Y[0, 2] = 0
    given_up = {"last_resort": parameters.get("share", 0.4)}
    given_up |= {name: value for name, value in parameters.items() if name != "share"}
    theory = SeparateAndConquer(**given_up).fit(data).theory_
    without = SeparateAndConquer(**given_up | {"last_resort": None}).fit(data).theory_
    assert told(theory) == told(without)


def chance_table(seed):
    """One label or none to a row; values of the first two features make labels more probable."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    label = np.where(rng.random(60) < 0.55, X[:, 0], rng.integers(-2, 4, 60))
    label = np.where(X[:, 1] == 3, rng.integers(-1, 4, 60), label)
    Y = (label[:, np.newaxis] == np.arange(4)).astype(np.int8)
    X[rng.random(X.shape) < 0.05] = np.nan
    return Dataset(schema_of([4, 4, 0], 4), X, Y)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 8, 11])
@pytest.mark.parametrize("share", [0.3, 0.4])
def test_every_guess_is_probable_where_nothing_was_found(seed, share):
    """And more probable than no label, and than in all rows; on rows that no rule before takes."""
    data = chance_table(seed)
    last, theory = resorts(data, share)
    assert last
    board = theory.layers[0].apply(data)
    waiting = ~(board == 1).any(axis=1)
    for rule in last:
        ((label, value),) = rule.head
        assert value == 1
        assert len(rule.body) <= 3
        assert not rule.body.on_labels
        covered = rule.body.covers(data.X, board) & waiting
        truth = data.Y[covered]
        n_right = int(truth[:, label].sum())
        assert n_right >= 2
        assert n_right > share * len(truth)
        assert n_right > (truth.sum(axis=1) == 0).sum()
        assert n_right / len(truth) >= data.Y[:, label].mean()
        assert rule.evidence == ((n_right, len(truth) - n_right),)
        waiting &= ~covered
