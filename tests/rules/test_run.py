"""What a theory did on rows: who wrote what, rightly or wrongly, and what rules saw before."""

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from labelrules import UNSET, DecisionList, Evidence, Feature, LayeredTheory, Schema, dataset, parse
from labelrules.rules import RuleSet, UntilStable
from labelrules.rules.run import TheoryRun
from strategies import datasets
from theories import decision_lists

SCHEMA = Schema([Feature("x"), Feature("y", ("p", "q", "r"))], ["a", "b", "c"])
GRID = st.sampled_from([0.0, 1.0])
DATA = datasets(SCHEMA, min_rows=1, max_rows=9, storage=("dense",), with_unknown=True)
LISTS = decision_lists(SCHEMA, GRID, 5)
QUICK = {
    "phases": [Phase.generate],
    "deadline": None,
    "max_examples": 50,
    "suppress_health_check": [HealthCheck.too_slow],
}


@settings(**QUICK)
@given(LISTS, DATA)
def test_the_labels_before_a_rule_are_those_that_the_rules_before_it_write(theory, data):
    (part,) = TheoryRun.of(theory, data).parts
    for number in range(len(theory)):
        np.testing.assert_array_equal(part.before(number), theory[:number].run(data).board)
        for label in range(SCHEMA.n_labels):
            np.testing.assert_array_equal(part.before(number, label), part.before(number)[:, label])


@settings(**QUICK)
@given(LISTS, LISTS, DATA)
def test_evidence_is_that_of_the_theory_through_all_layers(first, second, data):
    theory = LayeredTheory(SCHEMA, [first, second])
    run = TheoryRun.of(theory, data)
    np.testing.assert_array_equal(run.board, theory.apply(data))
    found = run.evidence(data.Y)
    counted = theory.with_evidence(data, data.Y)
    for number, rule in enumerate(counted):
        part, place = run.part_of(number)
        assert part.rules[place] == rule
        for label in rule.head.labels:
            evidence = Evidence(*found[:, label, number].tolist())
            assert evidence == rule.evidence_for(label)
            rows = part.written_rows(place, label, data.Y)
            assert evidence == (len(rows.right), len(rows.wrong))
            assert (data.Y[rows.unknown, label] == UNSET).all()
            assert sum(map(len, rows)) == part.wrote(place)[:, rule.head.labels.index(label)].sum()


@settings(**QUICK)
@given(LISTS, DATA)
def test_rules_are_covered_and_reached_in_rows_that_no_stop_mark_has_ended(theory, data):
    run = theory.run(data)
    (part,) = TheoryRun.of(theory, data).parts
    fired = {number: fires for number, _, fires in part.fired()}
    for number, rule, going in part.reached():
        np.testing.assert_array_equal(going, (run.stopped < 0) | (run.stopped >= number))
        covered = rule.body.covers(data.X, part.before(number))
        np.testing.assert_array_equal(part.covered(number), covered)
        np.testing.assert_array_equal(fired[number], covered & going)


def test_a_theory_is_its_only_layer():
    for theory in (DecisionList(SCHEMA), RuleSet(SCHEMA)):
        assert theory.layers == theory.parts == (theory,)
        assert theory.fallback is None
    layered = parse("layer 1:\na <- true\nif no label was found:\notherwise: b", SCHEMA)
    assert layered.parts == (*layered.layers, layered.fallback)
    both = LayeredTheory(SCHEMA, layered.layers, UntilStable(3))
    assert both.inference == UntilStable(3)
    assert both.parts == both.layers


def test_no_rule_of_a_set_writes_alone():
    votes = RuleSet(SCHEMA, parse("a <- true\nnot b <- true", SCHEMA).rules)
    data = dataset(np.zeros((2, 2)), np.ones((2, 3), int), label_names=SCHEMA.labels)
    run = TheoryRun.of(RuleSet(data.schema, votes.rules), data)
    assert run.board.tolist() == [[1, 0, UNSET]] * 2
    assert not run.evidence(data.Y).any()


def test_cells_of_which_the_truth_is_unknown_are_neither_right_nor_wrong():
    truth = np.array([[1, 0, UNSET], [1, 1, 0]], np.int8)
    written = np.array([[True, True, True], [False, True, True]])
    assert Evidence.of_cells(written, (1, 1, 1), truth) == (2, 2)
