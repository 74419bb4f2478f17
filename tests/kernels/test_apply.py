"""A theory, its compiled twin and a naive twin do the same on everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from applied_tables import VALUES, as_sparse, random_list, tables
from labelrules import (
    UNSET,
    Dataset,
    DecisionList,
    Feature,
    Head,
    Rule,
    RuleSet,
    RuleTable,
    Schema,
    load,
    planted,
)
from labelrules.kernels.apply import count_outcomes
from theories import boards, decision_lists, rule_sets, scorecards
from twins import rules as naive


@given(st.data())
def test_lists(draw):
    data = draw.draw(tables())
    theory = draw.draw(decision_lists(data.schema, VALUES))
    shape = (data.n_rows, data.schema.n_labels)
    start = np.array(draw.draw(boards(*shape)), dtype=np.int8).reshape(shape)
    reads = draw.draw(st.none() | boards(*shape))
    reads = None if reads is None else np.array(reads, dtype=np.int8).reshape(shape)
    expected = naive.run_list(theory, data.X, start, reads)
    for table in (theory, RuleTable(theory)):
        for storage in (data, as_sparse(data)):
            for found, wanted in zip(table.run(storage, start, reads=reads), expected, strict=True):
                assert (found == wanted).all()
            assert (table.apply(storage, start, reads=reads) == expected[0]).all()


@given(st.data())
def test_sets(draw):
    data = draw.draw(tables())
    theory = draw.draw(rule_sets(data.schema, VALUES) | scorecards(data.schema, VALUES))
    shape = (data.n_rows, data.schema.n_labels)
    start = np.array(draw.draw(boards(*shape)), dtype=np.int8).reshape(shape)
    reads = draw.draw(st.none() | boards(*shape))
    reads = None if reads is None else np.array(reads, dtype=np.int8).reshape(shape)
    expected = naive.run_set(theory, data.X, start, reads)
    for table in (theory, RuleTable(theory)):
        for storage in (data, as_sparse(data)):
            assert (table.apply(storage, start, reads=reads) == expected).all()
            assert (table.margin(storage) == naive.margins(theory, data.X)).all()


POINTS = Schema([Feature("x")], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("points", "label_sets", "at_least_one", "labels"),
    [
        ((3, -1, 2), (), False, "ac"),
        ((3, -1, 2), [((0, 1), 2)], False, "ac"),  # 3 - 1 + 2 = 4 points, fewer than 5
        ((3, -1, 2), [((0, 1), 3)], False, "ab"),  # as many points as without the set
        ((3, -1, 2), [((0, 1), 4), ((0,), 3)], False, "ab"),  # of equal ones the first
        ((3, -1, 2), [((0,), 3), ((0, 1), 4)], False, "a"),
        ((3, -1, 2), [((), 6)], False, ""),
        ((-2, -1, -1), (), False, ""),
        ((-2, -1, -1), (), True, "b"),
        ((-2, 0, 0), (), True, "b"),
        ((-2, -1, -1), [((0,), 0)], True, "b"),  # -2 points, fewer than the -1 of b alone
        ((-2, -1, -1), [((), 0)], True, ""),
        ((-2, -1, -1), [((0, 1, 2), 3)], True, "abc"),
        ((-2, -1, -1), [((), -1)], False, ""),
    ],
)
def test_labels_that_are_decided_together(points, label_sets, at_least_one, labels):
    ballot = {label: int(number > 0) for label, number in enumerate(points) if number}
    votes = [abs(number) for number in points if number]
    theory = RuleSet(POINTS, [Rule(Head(ballot, 3), votes=votes)], label_sets, at_least_one)
    data = Dataset(POINTS, np.zeros((2, 1)), np.zeros((2, 3), np.int8))
    wanted = [[int(label in labels) for label in "abc"]] * 2
    assert theory.predict(data).tolist() == RuleTable(theory).predict(data).tolist() == wanted
    assert RuleTable(theory).margin(data).tolist() == [list(points)] * 2


def test_known_labels_stay_and_do_not_change_the_others():
    theory = RuleSet(POINTS, [Rule(Head({0: 1, 1: 0}, 3))], [((0, 2), 4)])
    data = Dataset(POINTS, np.zeros((1, 1)), np.zeros((1, 3), np.int8))
    board = np.array([[0, UNSET, UNSET]], np.int8)
    for table in (theory, RuleTable(theory)):
        assert table.apply(data, board).tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("n_rows", [63, 64, 65, 4097, 9000])
def test_many_rows_of_scorecards_cross_the_borders_of_words_and_slabs(n_rows):
    data, _ = planted(n_rows, 4, 3, 5, n_rules=1, n_local=0, n_global=0, missing=0.1)
    rules = [Rule(rule.head, rule.body) for rule in random_list(data.schema, seed=n_rows)]
    theory = RuleSet(data.schema, rules, [((0, 1), 1), ((), 0), ((2, 3, 4), -1)], True)
    assert (RuleTable(theory).apply(data) == theory.apply(data)).all()
    assert (RuleTable(theory).margin(data) == theory.margin(data)).all()


@given(st.data())
def test_a_written_cell_never_changes(draw):
    data = draw.draw(tables())
    theory = draw.draw(decision_lists(data.schema, VALUES))
    shape = (data.n_rows, data.schema.n_labels)
    start = np.array(draw.draw(boards(*shape)), dtype=np.int8).reshape(shape)
    before = start.copy()
    after = theory.apply(data, start)
    assert (start == before).all()
    assert (after[start >= 0] == start[start >= 0]).all()
    assert (theory.apply(data, after) == after)[after >= 0].all()


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 4095, 4096, 4097, 9000])
@pytest.mark.parametrize("density", [None, 0.1])
def test_many_rows_cross_the_borders_of_words_and_slabs(n_rows, density):
    data, _ = planted(
        n_rows,
        4,
        3,
        5,
        n_rules=1,
        n_local=0,
        n_global=0,
        missing=0.1,
        density=density,
        random_state=n_rows,
    )
    theory = random_list(data.schema, seed=n_rows)
    for wanted, found in zip(theory.run(data), RuleTable(theory).run(data), strict=True):
        assert (wanted == found).all()


def test_no_rules_and_no_labels():
    for labels in ([], ["l"]):
        data = Dataset(Schema([Feature("x")], labels), np.zeros((3, 1)), np.zeros((3, len(labels))))
        assert (RuleTable(DecisionList(data.schema)).apply(data) == -1).all()


def test_wrong_boards_are_refused():
    readers = load("magazines")
    theory = DecisionList(readers.schema)
    for table in (theory, RuleTable(theory)):
        with pytest.raises(ValueError, match=r"board has the shape \(2, 4\), expected \(14, 4\)"):
            table.apply(readers, np.zeros((2, 4), np.int8))
        with pytest.raises(ValueError, match="reads has cells other than 0, 1 and UNSET"):
            table.apply(readers, reads=np.full((14, 4), 7))


@given(st.data(), st.integers(1, 5), st.integers(1, 4))
def test_outcomes_are_counted_cell_by_cell(data, n_rows, n_labels):
    truth, predicted = (
        np.array(data.draw(boards(n_rows, n_labels)), dtype=np.int8) for _ in range(2)
    )
    by_label, by_row = np.zeros((n_labels, 4), np.int64), np.empty((n_rows, 4), np.int64)
    count_outcomes(truth, predicted, by_label, by_row)
    expected = np.zeros((n_rows, n_labels, 4), np.int64)
    for row, label in np.argwhere(truth != UNSET):
        kinds = {(1, True): 0, (0, True): 1, (0, False): 2, (1, False): 3}
        expected[row, label, kinds[truth[row, label], predicted[row, label] == 1]] += 1
    assert by_label.tolist() == expected.sum(axis=0).tolist()
    assert by_row.tolist() == expected.sum(axis=1).tolist()


def test_a_rule_set_has_no_single_writer():
    with pytest.raises(TypeError, match="vote together"):
        RuleTable(RuleSet(load("magazines").schema)).run(load("magazines"))
    with pytest.raises(TypeError, match="a decision list has no margins"):
        RuleTable(DecisionList(load("magazines").schema)).margin(load("magazines"))
