"""Coverage, flow, the condition matrix and alternatives, counted once more row by row."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse

from extras import pd
from labelrules import (
    UNSET,
    Body,
    Condition,
    Evidence,
    Feature,
    Measure,
    Schema,
    dataset,
    load,
    parse,
)
from labelrules.inspection import alternatives, condition_matrix, estimate, row_flow, rule_coverage
from labelrules.inspection.review.matrix import MAX_BARS, histogram_of, value_counts
from labelrules.rules import clinic_truth
from strategies import datasets
from theories import bodies, decision_lists, rule_sets
from twins.rules import holds, run_list

SCHEMA = Schema(
    [Feature("x"), Feature("y", ("p", "q", "r")), Feature("size", ("S", "M", "L"), "ordered")],
    ["a", "b", "c"],
)
GRID = st.sampled_from([0.0, 1.0])
QUICK = {"phases": [Phase.generate], "deadline": None}
DATA = datasets(SCHEMA, min_rows=1, max_rows=9, storage=("dense",), with_unknown=True)
LISTS = decision_lists(SCHEMA, GRID, 5)


def boards_before(theory, X, number):
    """The board and who has ended, when the turn of a rule comes."""
    empty = np.full((len(X), SCHEMA.n_labels), UNSET)
    board, _, stopped = run_list(theory[:number], X, empty)
    return board, stopped >= 0


def all_hold(body, row, cells):
    return all(holds(condition, row, cells) for condition in body)


# ---------------------------------------------------------------- coverage


@settings(max_examples=100, **QUICK)
@given(LISTS, DATA)
def test_coverage_of_lists_is_counted_row_by_row(theory, data):
    X, Y = np.asarray(data.X), data.Y
    found = rule_coverage(theory, data, validation=data)
    for number, rule in enumerate(theory):
        board, ended = boards_before(theory, X, number)
        alone, in_order = [], []
        for i, row in enumerate(X):
            if all_hold(rule.body, row, board[i]):
                alone += [(i, Y[i, label], value) for label, value in rule.head]
                if not ended[i]:
                    in_order += [
                        (i, Y[i, label], value)
                        for label, value in rule.head
                        if board[i, label] == UNSET
                    ]
        one = found[number]
        for coverage, cells in ((one.alone, alone), (one.in_order, in_order)):
            right = sum(truth == value for _, truth, value in cells)
            wrong = sum(truth == 1 - value for _, truth, value in cells)
            assert coverage.n_rows == len({i for i, _, _ in cells})
            assert coverage.n_cells == len(cells)
            assert coverage.evidence == Evidence(right, wrong)
            assert coverage.estimate == estimate(Evidence(right, wrong))
        assert (one.validation_alone, one.validation_in_order) == (one.alone, one.in_order)
    if len(theory):
        assert len(found.to_frame()) == 2 * len(theory)


@settings(max_examples=30, **QUICK)
@given(rule_sets(SCHEMA, GRID, 4), DATA)
def test_rules_of_sets_have_coverage_alone_only(theory, data):
    for one, rule in zip(rule_coverage(theory, data), theory, strict=True):
        covered = rule.body.covers(data.X, np.full_like(data.Y, UNSET))
        assert one.in_order is None
        assert one.alone.n_rows == covered.sum()


def test_coverage_without_labels_and_with_layers():
    readers = load("magazines")
    text = "layer 1:\nquality <- sex = Male\nlayer 2:\nsports <- quality\nsports <- not quality"
    features = readers.schema.features
    columns = [[f.text(v) for v in readers.X[:, j]] for j, f in enumerate(features)]
    frame = pd.DataFrame(dict(zip(readers.schema.feature_names, columns, strict=True)))
    found = rule_coverage(parse(text, readers.schema), frame)
    assert [one.alone.n_rows for one in found] == [9, 9, 5]
    assert found[0].alone.evidence is None
    assert found[0].alone.estimate is None


# ---------------------------------------------------------------- flow


@settings(max_examples=100, **QUICK)
@given(LISTS, DATA, st.sampled_from([None, "a", "b"]))
def test_the_flow_is_counted_row_by_row(theory, data, label):
    X = np.asarray(data.X)
    columns = [0, 1, 2] if label is None else [SCHEMA.label_index[label]]
    flow = row_flow(theory, data, label)
    steps = {step.place.number: step for step in flow.steps}
    n_open = len(X)
    for number, rule in enumerate(theory):
        board, ended = boards_before(theory, X, number)
        after, ended_after = boards_before(theory, X, number + 1)
        under_way = ~ended & (board[:, columns] == UNSET).any(axis=1)
        assert under_way.sum() == n_open
        written = (board != after)[:, columns]
        still = ~ended_after & (after[:, columns] == UNSET).any(axis=1)
        if number in steps:
            step = steps[number]
            covered = [all_hold(rule.body, row, board[i]) for i, row in enumerate(X)]
            assert step.n_reaching == n_open
            assert step.n_covered == (covered & under_way).sum()
            assert step.n_writing == written.any(axis=1).sum()
            untouched = (board[:, columns] == UNSET).all(axis=1)
            assert step.n_first == (written.any(axis=1) & untouched).sum()
            assert step.n_leaving == (under_way & ~still).sum()
            assert step.n_stopped == (under_way & ended_after).sum()
            values = after[:, columns][written]
            assert (step.n_present, step.n_absent) == ((values == 1).sum(), (values == 0).sum())
            truth = data.Y[:, columns][written]
            assert step.n_right == (truth == values).sum()
            assert step.n_wrong == ((truth != values) & (truth != UNSET)).sum()
        else:
            assert not written.any()
        n_open = int(still.sum())
    assert flow.n_left == n_open


def test_the_flow_of_a_layer():
    readers = load("magazines")
    text = "layer 1:\nquality <- sex = Male\nlayer 2:\nsports, * <- quality"
    theory = parse(text, readers.schema)
    assert row_flow(theory, readers).steps[0].n_stopped == 9
    assert row_flow(theory, readers, layer=1).steps[0].n_writing == 9
    with pytest.raises(ValueError, match="layer must be a whole number from 1 to 2"):
        row_flow(theory, readers, layer=3)
    with pytest.raises(ValueError, match="all vote"):
        row_flow(parse("in any order:\nquality <- true", readers.schema), readers)


# ---------------------------------------------------------------- condition matrix


@settings(max_examples=100, **QUICK)
@given(LISTS, DATA)
def test_cells_and_thresholds_are_counted_row_by_row(theory, data):
    matrix = condition_matrix(theory, data)
    for cell in matrix:
        rule, tested = theory[cell.rule], matrix.features[cell.feature]
        own = [c for c in rule.body.on_features if c.column == tested.column]
        inside = [i for i, row in enumerate(data.X) if all_hold(own, row, [])]
        assert cell.n_inside == len(inside)
    tested = {(i, c.column) for i, rule in enumerate(theory) for c in rule.body.on_features}
    assert {(c.rule, matrix.features[c.feature].column) for c in matrix} == tested
    for one in matrix.features:
        values = np.asarray(data.X)[:, one.column]
        assert one.histogram.n_missing == np.isnan(values).sum()
        assert sum(bar.n_rows for bar in one.histogram.bars) == (~np.isnan(values)).sum()
        for threshold in one.thresholds:
            assert threshold.n_at_most == (values <= threshold.value).sum()
            assert threshold.n_above == (values > threshold.value).sum()


@settings(max_examples=200, **QUICK)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), max_size=60))
def test_bars_of_numbers_hold_what_they_say(numbers):
    check_bars(np.array(numbers, dtype=np.float64).reshape(-1, 1))


@settings(max_examples=100, **QUICK)
@given(
    st.lists(st.integers(-500, 500) | st.integers(0, 5), min_size=30, max_size=90),
    st.integers(-4, 4),
)
def test_bars_of_round_numbers_hold_what_they_say(numbers, power):
    check_bars(np.array(numbers, dtype=np.float64).reshape(-1, 1) * 10.0**power)


def check_bars(X):
    dense = histogram_of(value_counts(X, 0), Feature("x"))
    values = X[:, 0]
    for bar in dense.bars:
        low, high, n_rows, _ = bar
        inside = values == high if low == high else (values > low) & (values <= high)
        assert n_rows == inside.sum()
    assert sum(bar.n_rows for bar in dense.bars) == (~np.isnan(values)).sum()
    assert len(dense.bars) <= MAX_BARS + 4
    positions = [dense.position(bar.high) for bar in dense.bars]
    assert positions == sorted(positions)
    assert histogram_of(value_counts(sparse.csc_array(X), 0), Feature("x")) == dense


def test_the_matrix_of_the_clinic():
    clinic = load("clinic")
    matrix = condition_matrix(clinic_truth(), clinic)
    assert [cell.text for cell in matrix.of_rule(0)] == [
        "admission > 2024-03-20, admission <= 2024-07-10",
        '"itching"',
    ]
    assert matrix.feature("region").histogram.bars[0].text == "North"
    assert matrix.to_frame()["inside"].tolist() == [cell.n_inside for cell in matrix]
    with pytest.raises(ValueError, match="did you mean 'crp'"):
        matrix.feature("crpp")


# ---------------------------------------------------------------- alternatives


def value_of(rule, theory, number, data, measure):
    """The measure of a rule in its place, its rows, right and wrong cells."""
    X, Y = np.asarray(data.X), data.Y
    board, ended = boards_before(theory, X, number)
    covered = np.array([all_hold(rule.body, row, board[i]) for i, row in enumerate(X)]) & ~ended
    usable = np.where(ended[:, None], Y, board)
    value = measure.of_rule(Y, covered, rule.head.vector(), usable, "head-relative", exact=True)
    cells = [
        (Y[i, label], predicted)
        for i in np.flatnonzero(covered)
        for label, predicted in rule.head
        if usable[i, label] == UNSET
    ]
    right = sum(truth == predicted for truth, predicted in cells)
    wrong = sum(truth == 1 - predicted for truth, predicted in cells)
    return value, int(covered.sum()), Evidence(right, wrong)


@settings(max_examples=60, **QUICK)
@given(
    decision_lists(SCHEMA, GRID, 3).filter(len),
    DATA,
    st.sampled_from(["f1", "precision", "f1/macro", "f0.8/micro/full"]),
    st.data(),
)
def test_alternatives_are_counted_row_by_row_and_ranked(theory, data, name, draw):
    number = draw.draw(st.integers(1, len(theory)))
    measure = Measure.parse(name)
    found = alternatives(theory, number, data, measure, validation=data, limit=6)
    for one in found.every:
        value, n_rows, evidence = value_of(one.rule, theory, number - 1, data, measure)
        assert Fraction(one.value) == value
        assert (one.n_rows, one.evidence, one.validation) == (n_rows, evidence, evidence)
        if one.fix is not None:
            assert one.fix.apply(theory)[number - 1] == one.rule
    for part in (found.heads, found.bodies, found.pruned):
        keys = [(-one.value, -one.evidence.right) for one in part]
        assert keys == sorted(keys)
        assert len({(one.rule.head, one.rule.body) for one in part}) == len(part)


@settings(max_examples=40, **QUICK)
@given(bodies(SCHEMA, GRID, 3), DATA, st.sampled_from(["f1", "precision"]))
def test_no_similar_body_is_better_than_the_best(body, data, name):
    """Compared with every condition that tells two rows apart, added or dropped or exchanged."""
    theory = parse("a <- true", SCHEMA)
    body = Body(body.on_features)
    theory = theory.with_rules([type(theory[0])(theory[0].head, body)])
    measure = Measure.parse(name)
    found = alternatives(theory, 1, data, measure, limit=1000).bodies
    best = max(((one.value, one.evidence.right) for one in found), default=None)
    current = value_of(theory[0], theory, 0, data, measure)
    for other in every_similar(body, np.asarray(data.X)):
        rule = type(theory[0])(theory[0].head, other)
        value, _, evidence = value_of(rule, theory, 0, data, measure)
        if evidence != current[2]:
            assert (value, evidence.right) <= best


def every_similar(body, X):
    tests = []
    for column in range(3):
        values = np.unique(X[~np.isnan(X[:, column]), column])
        if column == 1:
            tests += [
                make(1, int(v)) for v in values for make in (Condition.equals, Condition.differs)
            ]
        else:
            middles = values[:-1] if column == 2 else (values[:-1] / 2 + values[1:] / 2)
            middles = [
                m if m < high else low
                for m, low, high in zip(middles, values[:-1], values[1:], strict=True)
            ]
            tests += [
                make(column, m) for m in middles for make in (Condition.at_most, Condition.above)
            ]
    rests = [Body(c for c in body if c is not gone) for gone in body]
    return [*rests, *(rest.and_(test) for rest in [body, *rests] for test in tests)]


def test_heads_are_the_best_ones():
    readers = load("magazines")
    theory = parse("quality <- sex = Male", readers.schema)
    found = alternatives(theory, 1, readers, "precision", limit=4)
    singles = {}
    for label in range(4):
        for value in (0, 1):
            head = type(theory[0].head)({label: value}, 4)
            singles[label, value] = Measure.parse("precision").of_rule(
                readers.Y, theory[0].body.covers(readers.X, readers.Y), head.vector(), exact=True
            )
    assert found.heads[0].value == max(singles.values())


def test_alternatives_of_the_whole_list():
    clinic = load("clinic")
    found = alternatives(clinic_truth(), 9, clinic, limit=3)
    before, after = found.evaluation(found.bodies[0])["micro F1"]
    assert before != after
    assert found.evaluation(found.current)["micro F1"] == (before, before)


def test_what_alternatives_refuse():
    readers = load("magazines")
    theory = parse("quality <- true", readers.schema)
    with pytest.raises(ValueError, match="micro or macro averaging"):
        alternatives(theory, 1, readers, "subset")
    with pytest.raises(ValueError, match="number must be a whole number from 1 to 1"):
        alternatives(theory, 2, readers)
    with pytest.raises(TypeError, match="data must be a Dataset"):
        alternatives(theory, 1, readers.X)
    with pytest.raises(ValueError, match="all rules vote"):
        alternatives(parse("in any order:\nquality <- true", readers.schema), 1, readers)


def test_sparse_data_give_the_same():
    rng = np.random.default_rng(1)
    X = np.where(rng.random((40, 3)) < 0.7, 0, rng.integers(1, 4, (40, 3))).astype(float)
    Y = rng.integers(0, 2, (40, 2))
    dense, thin = (dataset(made, Y) for made in (X, sparse.csr_array(X)))
    names = dense.schema.feature_names
    text = f"{dense.schema.labels[0]} <- {names[0]} > 1\n{dense.schema.labels[1]} <- {names[1]} > 0"
    theory = parse(text, dense.schema)
    assert str(condition_matrix(theory, dense)) == str(condition_matrix(theory, thin))
    assert str(alternatives(theory, 2, dense)) == str(alternatives(theory, 2, thin))
