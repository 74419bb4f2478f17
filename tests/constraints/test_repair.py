"""Repairs: consistent, nearest, and told."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labelrules import Rule, RuleSet, Schema, load, parse
from labelrules.constraints import clauses as clauses_module
from labelrules.constraints import find_constraints, repair, violations
from labelrules.constraints.clauses import Clauses, are_consistent, cheapest_flips
from labelrules.data import DataError
from labelrules.rules import Body, Condition, Head, RuleSyntaxError
from twins.constraints import keeps, literals_of, models, nearest


@st.composite
def rule_sets(draw, max_labels=6):
    """Any rules over labels: presences and absences, in bodies and heads of any size."""
    n_labels = draw(st.integers(1, max_labels))
    label, value = st.integers(0, n_labels - 1), st.integers(0, 1)
    rules = []
    for _ in range(draw(st.integers(0, 8))):
        body = [
            Condition.label(j, bool(present))
            for j, present in draw(st.dictionaries(label, value, max_size=3)).items()
        ]
        head = draw(st.dictionaries(label, value, min_size=1, max_size=2))
        rules.append(Rule(Head(head, n_labels), Body(body)))
    return RuleSet(Schema([], [f"y{j}" for j in range(n_labels)]), rules)


def rows_of(rules, min_size=1, max_size=5):
    n_labels = rules.schema.n_labels
    row = st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)
    return st.lists(row, min_size=min_size, max_size=max_size)


@given(st.data())
def test_a_repair_is_the_nearest_consistent_label_set(data):
    rules = data.draw(rule_sets())
    rows = data.draw(rows_of(rules))
    if not models(rules, rules.schema.n_labels):
        with pytest.raises(ValueError, match="no label set satisfies these constraints together"):
            repair(rows, rules)
        return
    after = repair(rows, rules).after
    expected = [nearest(row, [1] * len(row), rules) for row in rows]
    assert after.tolist() == [list(cells) for cells in expected]


@given(st.data())
def test_by_costs_it_is_the_cheapest(data):
    rules = data.draw(rule_sets())
    (row,) = data.draw(rows_of(rules, 1, 1))
    cost = st.sampled_from([0, 0, 1, 1, 2, 5, 100, 10**12])
    costs = data.draw(st.lists(cost, min_size=len(row), max_size=len(row)))
    clauses = Clauses(rules.schema, rules)
    _, broken = clauses.broken(np.array([row], dtype=np.int8))
    assert {frozenset(clauses.clauses[number].literals) for number in broken} == {
        frozenset(clause)
        for rule in rules
        for clause in literals_of(rule)
        if not any(row[label] == value for label, value in clause)
    }
    flips = cheapest_flips(row, costs, clauses, broken.tolist())
    expected = nearest(row, costs, rules)
    if expected is None:
        assert flips is None
    else:
        assert flips == [j for j in range(len(row)) if expected[j] != row[j]]


@given(st.data())
def test_with_probabilities_it_is_the_most_probable_consistent_label_set(data):
    rules = data.draw(rule_sets(max_labels=5))
    n_labels = rules.schema.n_labels
    assume(models(rules, n_labels))
    probability = st.floats(0.01, 0.99)
    p = data.draw(st.lists(probability, min_size=n_labels, max_size=n_labels))

    def likelihood(cells):
        return np.prod([p[j] if cells[j] else 1 - p[j] for j in range(n_labels)])

    done = repair(None, rules, probabilities=[p])
    best = max(likelihood(cells) for cells in models(rules, n_labels))
    assert likelihood(done.after[0]) == pytest.approx(best, rel=1e-4)


@given(st.data())
def test_every_change_is_told_with_what_would_be_broken_without_it(data):
    rules = data.draw(rule_sets())
    assume(models(rules, rules.schema.n_labels))
    done = repair(data.draw(rows_of(rules)), rules)
    changes = done.changes()
    assert len(changes) == (done.before != done.after).sum()
    for change in changes:
        assert change.because
        cells = done.after[change.row].copy()
        assert cells[rules.schema.label_index[change.label]] == change.now
        cells[rules.schema.label_index[change.label]] = change.was
        told = [parse(text, rules.schema)[0] for text in change.because]
        assert not any(keeps(cells, [rule]) for rule in told)
        assert {violation.constraint for violation in violations([cells], rules)} == set(
            change.because
        )


def test_what_is_consistent_stays():
    rules = parse("y0 <- y1\nnot y2 <- y0", Schema([], ["y0", "y1", "y2"]))
    rows = [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    done = repair(rows, rules, probabilities=np.full((3, 3), 0.3))
    np.testing.assert_array_equal(done.after, rows)
    assert str(done) == "0 labels changed in 0 of 3 rows"
    assert done.to_frame().empty


def test_the_first_labels_are_kept_of_several_that_are_as_good():
    done = repair([[1, 1, 1]], ["not y1 <- y0", "not y2 <- y1", "not y2 <- y0"])
    assert done.after.tolist() == [[1, 0, 0]]


def test_scores_decide_which_label_goes():
    done = repair(None, "not y1 <- y0", scores=[[0.5, 2.0], [3.0, 1.0], [-1.0, 1.0]])
    assert done.after.tolist() == [[0, 1], [1, 0], [0, 1]]
    # So far from 0 all are alike, and of two label sets the one with the first label is taken.
    assert repair(None, "y1 <- y0", scores=[[1e300, -np.inf]]).after.tolist() == [[1, 1]]


@pytest.mark.parametrize("name", ["yeast", "enron", "medical", "genbase"])
@pytest.mark.parametrize("max_conditions", [1, 2])
def test_noisy_predictions_are_repaired_without_a_violation(name, max_conditions, data_folder):
    data = load(name, data_folder)
    found = find_constraints(data, max_conditions=max_conditions, min_support=3)
    random = np.random.default_rng(0)
    noise = (random.random((100, data.schema.n_labels)) < 0.2).astype(np.int8)
    noisy = data.Y[:100] ^ noise
    assert len(violations(noisy, found))
    for done in (
        repair(noisy, found),
        repair(noisy, found, probabilities=random.random(noisy.shape)),
    ):
        assert violations(done.after, found) == []
    # The true labels are consistent, so nothing needs more changes than to undo the noise.
    assert (repair(noisy, found).changed.sum(axis=1) <= noise.sum(axis=1)).all()


def test_repairs_of_yeast_need_no_more_changes_than_brute_force(data_folder):
    data = load("yeast", data_folder)
    found = find_constraints(data, max_conditions=2, min_support=10)
    every = ((np.arange(2**14)[:, None] >> np.arange(14)) & 1).astype(np.int8)
    broken, _ = Clauses(data.schema, found.rules()).broken(every)
    allowed = np.delete(every, np.unique(broken), axis=0)
    noisy = data.Y[:60] ^ (np.random.default_rng(1).random((60, 14)) < 0.3)
    done = repair(noisy, found)
    fewest = [(allowed != row).sum(axis=1).min() for row in noisy]
    assert done.changed.sum(axis=1).tolist() == fewest


def test_a_search_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr("labelrules.constraints.clauses.MAX_STEPS", 3)
    circle = [f"not y{j} <- y{(j + 1) % 9}" for j in range(9)]
    with pytest.raises(
        ValueError, match="row 1 violates 9 constraints, which connect 9 labels: too many"
    ):
        repair([[0] * 9, [1] * 9], circle)


def test_contradictions_are_named():
    names = ["a", "b", "c", "d"]
    text = "a <- true\nd <- c\nb <- a\nnot b <- c\nnot b <- a"
    with pytest.raises(ValueError, match=r"together: a <- true; b <- a; not b <- a. Leave one"):
        repair([[0, 0, 0, 0]], text, label_names=names)


def test_text_with_errors_is_refused_in_the_words_of_the_language():
    with pytest.raises(RuleSyntaxError, match="no label 'musik'; did you mean 'music'"):
        repair([{"music"}], "musik <- jazz", label_names=["music", "jazz"])
    readers = load("magazines")
    with pytest.raises(ValueError, match=r"tests labels only.*quality <- sex = Male"):
        repair(readers, "quality <- sex = Male")
    with pytest.raises(ValueError, match="no stop mark: quality, \\* <- sports"):
        repair(readers, "quality, * <- sports")
    with pytest.raises(ValueError, match="no layers"):
        repair(readers, "layer 1:\nquality <- sports")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((None, "y0 <- y1"), {}, "give predicted labels, probabilities or scores"),
        (([[0, 1]], 5), {}, "must be rules or text such as 'a <- b', not int"),
        (([[0, 1]], "y0 <- y1"), {"probabilities": [[0.1]]}, r"the shape \(1, 1\), but the labels"),
        (([[0, 1]], "y0 <- y1"), {"probabilities": [0.1, 0.2]}, "1 dimension"),
        ((None, "y0 <- y1"), {"probabilities": [[0.1, 1.2]]}, "from 0 to 1"),
        ((None, "y0 <- y1"), {"probabilities": [[0.1, np.nan]]}, "from 0 to 1"),
        ((None, "y0 <- y1"), {"scores": [[0.1, np.nan]]}, "a score is missing"),
        ((None, "y0 <- y1"), {"scores": [[1, 1]], "probabilities": [[1, 1]]}, "not both"),
        (([[0, 3]], "y0 <- y1"), {}, "a label is 0 or 1"),
        (([[0, 1, 1]], parse("a <- b", Schema([], ["a", "b"]))), {}, "3 columns"),
    ],
)
def test_malformed_requests_are_refused(arguments, options, message):
    with pytest.raises((ValueError, TypeError, DataError), match=message):
        repair(*arguments, **options)


def test_constraints_about_other_labels_are_refused():
    other = Schema([], ["a", "b"])
    rules = [parse("a <- b", other), parse("x <- y", Schema([], ["x", "y"]))]
    with pytest.raises(ValueError, match="both need the same labels"):
        repair([[0, 1]], rules)


def test_whether_constraints_can_hold_is_asked_of_any_label_set():
    """120 labels of which many pairs need one: the all-present row keeps every constraint.

    The check that some label set keeps them all used to look for the *smallest* one, a hard
    question that nobody had asked, and gave up: "SearchTooLongError: 120 labels", and not even a
    ValueError.
    """
    chance = np.random.default_rng(1)
    pairs = [(i, j) for i in range(120) for j in range(i + 1, 120) if chance.random() < 0.06]
    needed = "\n".join(f"y{i} <- not y{j}" for i, j in pairs)
    row = np.ones((1, 120), dtype=int)
    assert not violations(row, needed)
    assert (repair(row, needed).after == row).all()


@given(rule_sets())
def test_a_label_set_is_found_if_there_is_one(rules):
    assert are_consistent(Clauses(rules.schema, rules)) == bool(
        models(rules, rules.schema.n_labels)
    )


def test_a_search_that_is_given_up_says_so(monkeypatch):
    """It was a RuntimeError whose whole message was a number of labels."""
    monkeypatch.setattr(clauses_module, "MAX_STEPS", 1)
    with pytest.raises(
        ValueError, match="too hard to find out whether the 2 constraints can hold together"
    ):
        repair([[1, 1, 1]], "y0, y1 <- not y2")
