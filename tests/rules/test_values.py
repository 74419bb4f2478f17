"""Conditions, bodies, heads and rules are values, equal by meaning."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelrules import (
    Body,
    Condition,
    DecisionList,
    Evidence,
    Feature,
    Head,
    Rule,
    RuleSet,
    Schema,
    load,
    parse,
    parse_rule,
)
from labelrules.rules import RuleTable, conflict, is_more_general, is_more_specific, overlap
from labelrules.rules.rule import is_satisfiable
from theories import bodies

SMALL = Schema([Feature("x"), Feature("a", ("r", "g", "b")), Feature("b", ("n", "y"))], ["l", "m"])
GRID = st.sampled_from([0.0, 1.0, 2.0])


def every_row():
    """All rows and boards that a body with thresholds 0, 1, 2 can tell apart."""
    numbers = [-1, 0.5, 1.5, 3, np.nan]
    rows, cells = [], []
    for x in numbers:
        for a in (0, 1, 2, np.nan):
            for b in (0, 1, np.nan):
                for first in (0, 1, -1):
                    for second in (0, 1, -1):
                        rows.append((x, a, b))
                        cells.append((first, second))
    return np.array(rows, dtype=float), np.array(cells, dtype=np.int8)


ROWS, CELLS = every_row()


def extent(body):
    return body.covers(ROWS, CELLS)


ON_FEW = st.lists(
    st.builds(Condition.equals, st.just(1), st.integers(0, 2))
    | st.builds(Condition.differs, st.just(1), st.integers(0, 2))
    | st.builds(Condition.label, st.just(0), st.booleans()),
    max_size=4,
).map(Body)
"""Bodies on one feature and one label, which often contradict themselves."""


@given(bodies(SMALL, GRID) | ON_FEW, bodies(SMALL, GRID) | ON_FEW)
def test_generality_and_overlap_equal_brute_force(a, b):
    assert is_more_general(a, b, SMALL) == bool((extent(a) | ~extent(b)).all())
    assert is_more_specific(b, a, SMALL) == is_more_general(a, b, SMALL)
    assert overlap(a, b, SMALL) == bool((extent(a) & extent(b)).any())
    rules = Rule(Head({0: 1}, 2), a), Rule(Head({1: 0}, 2), b)
    assert is_more_general(*rules, SMALL) == is_more_general(a, b, SMALL)
    assert overlap(*rules, SMALL) == overlap(a, b, SMALL)
    assert is_satisfiable(a, SMALL) == bool(extent(a).any())


@pytest.mark.parametrize(
    ("impossible", "possible"), [("l <- a = r, a = g", "l <- a = r"), ("m <- l, not l", "m <- l")]
)
def test_a_body_that_no_row_satisfies_is_not_more_general_than_one_that_some_do(
    impossible, possible
):
    """Two values asked for were once taken for a choice between them."""
    a, b = parse_rule(impossible, SMALL), parse_rule(possible, SMALL)
    assert not is_more_general(a, b, SMALL)
    assert is_more_general(b, a, SMALL)


@given(bodies(SMALL, GRID), bodies(SMALL, GRID))
def test_equal_bodies_cover_the_same(a, b):
    if a == b:
        assert hash(a) == hash(b)
        assert (extent(a) == extent(b)).all()


@given(bodies(SMALL, GRID), st.randoms())
def test_order_and_repetition_do_not_matter(body, random):
    conditions = [*body, *body]
    random.shuffle(conditions)
    assert Body(conditions) == body


def test_implied_conditions_do_not_matter():
    narrow = Body([Condition.at_most(0, 1)])
    assert Body([Condition.at_most(0, 2), Condition.at_most(0, 1)]) == narrow
    assert Body([Condition.equals(1, 0), Condition.differs(1, 2)]) == Body([Condition.equals(1, 0)])
    assert Body([Condition.above(0, 0)]) != Body([Condition.above(0, 1)])
    never = [Body([Condition.label(0), Condition.label(0, False)])]
    never.append(Body([Condition.at_most(0, 1), Condition.above(0, 1)]))
    assert never[0] == never[1]


def test_feature_and_label_columns_are_different_columns():
    assert Body([Condition.equals(1, 1)]) != Body([Condition.label(1)])


def test_conflict_needs_a_common_row_and_a_contradiction():
    schema = load("magazines").schema
    male, single, married = (
        parse_rule(text, schema)
        for text in (
            "quality, not tabloid <- sex = Male",
            "tabloid <- marital = Single",
            "tabloid <- marital = Married",
        )
    )
    assert conflict(male, single, schema)
    assert not conflict(single, married, schema)
    assert not conflict(single, parse_rule("not tabloid <- marital = Married", schema), schema)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Condition(0, "<", 1), "there is no operator '<'"),
        (lambda: Condition(-1, "<=", 1), "there is no column -1"),
        (lambda: Condition(0, "<=", float("nan")), "a finite number, not nan"),
        (lambda: Condition(0, ">", float("inf")), "a finite number, not inf"),
        (lambda: Condition(0, "=", 1.5), "there is no category 1.5"),
        (lambda: Condition(0, "=", 2, on_label=True), "must be = 1 (present) or = 0 (absent)"),
        (lambda: Condition(0, "!=", 1, on_label=True), "must be = 1 (present) or = 0 (absent)"),
        (lambda: Condition(1.5, "=", 0), "there is no column 1.5"),
        (lambda: Head({}, 3), "at least one label"),
        (lambda: Head({0.5: 1}, 3), "there is no label 0.5 among 3 labels"),
        (lambda: Head({0: 0.7}, 3), "present (1) or absent (0), not 0.7"),
        (lambda: Head.from_vector([0.5, 1, -1]), "present (1) or absent (0), not 0.5"),
        (lambda: Body(["x"]), "a body is made of conditions, not 'x'"),
        (lambda: Rule(Head({0: 1}, 1), [Condition.label(0)]), "needs a Head and a Body"),
        (lambda: DecisionList(load("magazines"), []), "a theory needs a Schema, not Dataset"),
        (lambda: Head({3: 1}, 3), "there is no label 3 among 3 labels"),
        (lambda: Head({0: 2}, 3), "present (1) or absent (0), not 2"),
        (
            lambda: Rule(Head({0: 1}, 1), evidence=()),
            "0 pieces of evidence were given for 1 labels",
        ),
        (lambda: Rule(Head({0: 1}, 1), evidence=(Evidence(-1, 0),)), "are no counts"),
        (lambda: DecisionList(SMALL, [Rule(Head({0: 1}, 3))]), "rule 1: its head is over 3 labels"),
        (lambda: _one(Condition.at_most(1, 1)), "'a' is nominal: compare it by =, != or in"),
        (lambda: _one(Condition.equals(0, 1)), "'x' is numeric: compare it by <= or >"),
        (lambda: _one(Condition.equals(1, 3)), "'a' has no category number 3"),
        (lambda: _one(Condition.equals(9, 3)), "there is no feature 9 among 3 features"),
        (lambda: _one(Condition.label(2)), "there is no label 2 among 2 labels"),
        (lambda: RuleSet(SMALL, [Rule(Head({0: 1}, 2), stops=True)]), "rule 1 has a stop mark"),
        (
            lambda: DecisionList(SMALL, [Rule(Head({0: 1}, 2), votes=(2,))]),
            "rule 1 casts several votes, but in a list the first rule decides",
        ),
        (lambda: Rule(Head({0: 1}, 1), votes=(1, 2)), "2 numbers of votes were given for 1 labels"),
        (lambda: Rule(Head({0: 1}, 1), votes=3), "votes must be a sequence with a number for each"),
        (lambda: Rule(Head({0: 1}, 1), evidence=3), "evidence must be a sequence with a pair of"),
        (
            lambda: Rule(Head({0: 1}, 1), votes=(0,)),
            "the votes must be a whole number from 1 to 10000, not 0",
        ),
        (lambda: Rule(Head({0: 1}, 1), votes=(1.5,)), "the votes must be a whole number"),
    ],
)
def test_impossible_values_are_refused(make, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        make()
    assert message in str(caught.value)


def _one(condition):
    return DecisionList(SMALL, [Rule(Head({0: 1}, 2), Body([condition]))])


def test_values_are_frozen_and_survive_pickling():
    rule = parse_rule("quality, * <- not tabloid (3/1)", load("magazines").schema)
    with pytest.raises(AttributeError):
        rule.stops = False
    again = pickle.loads(pickle.dumps(rule))
    assert again == rule
    assert again.evidence == (Evidence(3, 1),)
    assert {rule, again} == {rule}


def test_evidence_is_a_record_not_meaning():
    rule = Rule(Head({0: 1, 1: 0}, 2))
    assert rule.with_evidence([Evidence(1, 2), Evidence(3, 4)]) == rule
    assert rule.with_evidence([Evidence(1, 2), Evidence(3, 4)]).evidence_for(1) == (3, 4)
    assert rule.evidence_for(0) is None


def test_full_predictions_say_that_all_other_labels_are_absent():
    readers = load("magazines")
    rule = parse_rule("quality, fashion <- sex = Female", readers.schema)
    full = DecisionList(readers.schema, [rule]).as_full_predictions()
    assert full[0].form.extent == "complete"
    assert list(full.apply(readers)[3]) == [1, 0, 1, 0]
    assert list(full.apply(readers)[0]) == [-1, -1, -1, -1]


def test_subset_and_exclusion_constraints():
    schema = load("magazines").schema
    constraints = {
        text: parse_rule(text, schema).form.constraint
        for text in (
            "quality <- sports",
            "not sports <- fashion",
            "quality <- not sports",
            "quality <- quality",
            "quality, tabloid <- sports",
            "quality <- sports, fashion",
            "quality <- sex = Male",
        )
    }
    assert list(constraints.values()) == ["subset", "exclusion", None, None, None, None, None]


def test_cells_nobody_wrote_are_predicted_absent():
    readers = load("magazines")
    theory = DecisionList(readers.schema, [parse_rule("quality <- sex = Male", readers.schema)])
    assert (theory.apply(readers)[3] == -1).all()
    assert (theory.predict(readers)[3] == 0).all()
    assert list(theory.predict(readers)[0]) == [1, 0, 0, 0]


def test_missing_values_and_open_cells_satisfy_no_condition():
    missing, open_cell = [float("nan")], np.array([-1], np.int8)
    for condition in (
        Condition.at_most(0, 1),
        Condition.above(0, 1),
        Condition.equals(0, 1),
        Condition.differs(0, 1),
    ):
        assert not condition.holds(missing).any()
    for present in (True, False):
        assert not Condition.label(0, present).holds(open_cell).any()


def test_the_order_of_a_rule_set_does_not_matter_but_how_often_a_rule_votes_does():
    one, other = Rule(Head({0: 1}, 2)), Rule(Head({0: 0}, 2))
    assert RuleSet(SMALL, [one, other]) == RuleSet(SMALL, [other, one])
    assert hash(RuleSet(SMALL, [one, other])) == hash(RuleSet(SMALL, [other, one]))
    assert RuleSet(SMALL, [one, one]) != RuleSet(SMALL, [one])
    assert DecisionList(SMALL, [one, other]) != DecisionList(SMALL, [other, one])
    assert RuleSet(SMALL, [one]) != DecisionList(SMALL, [one])


def test_no_evidence_and_no_prior_is_no_probability():
    assert Evidence(0, 0).probability(m=0) == 0


def test_representations_are_short():
    """One line each, with numbers in place of names; `str` of a theory is the rule language."""
    body = Body([Condition.at_most(0, 2.5), Condition.label(1, present=False)])
    rule = Rule(Head({0: 1, 1: 0}, 8), body, stops=True)
    assert repr(body.conditions[0]) == "<Condition: column 0 <= 2.5>"
    assert repr(body) == "<Body: column 0 <= 2.5, label 1 = 0>"
    assert repr(Body()) == "<Body: true>"
    assert repr(rule.head) == "<Head: label 0 = 1, label 1 = 0>"
    assert repr(rule) == "<Rule: label 0 = 1, label 1 = 0, * <- column 0 <= 2.5, label 1 = 0>"
    assert repr(rule.head.completed()).endswith("label 4 = 0 and 3 more>")
    theory = DecisionList(SMALL, [Rule(Head({0: 1}, 2))])
    assert repr(theory) == "<DecisionList: 1 rule, 1 literal for 2 labels>"
    assert repr(RuleSet(SMALL)) == "<RuleSet: 0 rules, 0 literals for 2 labels>"
    assert repr(RuleTable(theory)) == "<RuleTable: 1 rule for 2 labels>"
    readers = load("magazines")
    run = DecisionList(readers.schema, [Rule(Head({0: 1}, 4))]).run(readers)
    assert repr(run) == "<Run: 14 of 14 x 4 cells written>"


def test_the_size_of_a_theory_is_its_number_of_literals():
    schema = load("magazines").schema
    every = parse_rule("quality, not others <- sex = Male, tabloid", schema)
    assert (every.n_conditions, every.n_literals) == (2, 6)
    default = parse_rule("quality, not sports <- true", schema)
    assert (default.n_conditions, default.n_literals) == (0, 1)
    votes = parse(
        "in any order:\nquality +3, sports -2 <- tabloid\nquality -1, sports +1 <- true\n"
        "usual label sets:\n{quality, sports} +1\n{tabloid} +1\n{} +1\n"
        "if no label was found: the label with the most points",
        schema,
    )
    assert (votes.n_conditions, votes.n_literals) == (1, 3 + 1 + 3)
    layers = parse(
        "layer 1:\nin any order:\nquality <- sex = Male\nusual label sets:\n{sports} +1\n"
        "layer 2:\nnot sports <- quality\nif no label was found:\ntabloid <- sex = Male\n"
        "otherwise: sports",
        schema,
    )
    assert (layers.n_conditions, layers.n_literals) == (3, 2 + 1 + 2 + 2 + 1)
    assert repr(layers) == "<LayeredTheory: 2 layers, 4 rules, 8 literals for 4 labels>"
    assert layers.to_frame()["n_literals"].tolist() == [2, 2, 2, 1]


def test_implied_conditions_are_left_out_and_the_meaning_stays():
    among, one = Condition.among(1, (0, 1, 2)), Condition.equals(1, 2)
    loose, tight, other = Condition.at_most(0, 5), Condition.at_most(0, 3), Condition.above(0, 1)
    body = Body([loose, among, other, Condition.differs(1, 0), tight, one])
    assert body.without_implied().conditions == (other, tight, one)
    assert body.without_implied() == body
    assert Body([loose, other]).without_implied().conditions == (loose, other)


@given(bodies(SMALL, GRID, max_size=7))
def test_conditions_are_implied_if_the_others_mean_the_same(body):
    kept = body.conditions
    if len({(one.on_label, one.column) for one in kept}) < len(kept):
        for condition in body:
            others = tuple(one for one in kept if one is not condition)
            kept = others if Body(others) == body else kept
    assert body.without_implied().conditions == kept
