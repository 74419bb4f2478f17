"""Theories in figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldens import golden
from labelrules import UNSET, Dataset, DecisionList, Feature, Schema, load, parse
from labelrules.inspection import Place, summary
from layered_theories import layered_theories
from strategies import datasets
from theories import decision_lists, theories

NUMBERS = st.integers(-2, 2).map(float)


@st.composite
def summarised(draw, kind):
    data = draw(datasets(min_rows=1, max_rows=5))
    return draw(kind(data.schema, NUMBERS)), data


def test_the_readers():
    readers = load("magazines")
    found = summary(golden("magazines-multi"), readers)
    assert len(found.rules) == 10
    assert sum(rule.n_cells for rule in found.rules) == readers.Y.size
    assert [rule.n_decided for rule in found.rules][-1] == readers.Y.size
    assert found.never_reached == ()
    assert (found.n_positive, found.n_negative, found.n_mixed) == (1, 3, 6)
    assert (found.n_dependent, found.n_stopping) == (1, 2)
    assert found.n_undecided_rows == 0
    assert sum(label.n_wrong for label in found.labels) == int(
        (golden("magazines-multi").predict(readers) != readers.Y).sum()
    )
    assert found.features[0].feature == "education"


@settings(max_examples=80)
@given(summarised(decision_lists))
def test_lists_are_counted_as_they_run(case):
    theory, data = case
    found, run = summary(theory, data), theory.run(data)
    for number, rule in enumerate(found.rules):
        before, after = theory[:number].run(data), theory[: number + 1].run(data)
        fires = theory[number].body.covers(data.X, before.board) & (before.stopped < 0)
        assert rule.place == Place(number)
        assert rule.n_covered == fires.sum()
        assert rule.n_cells == (run.writer == number).sum()
        assert rule.n_rows == (run.writer == number).any(axis=1).sum()
        assert rule.n_decided == (after.board != UNSET).sum()
        says = theory[number].head.vector()
        opposite = (says != UNSET) & (run.board != UNSET) & (run.board != says)
        assert rule.n_overruled == opposite[fires].sum()
    for label, line in enumerate(found.labels):
        assert line.n_undecided == (run.board[:, label] == UNSET).sum()
        assert line.n_wrong == (theory.predict(data) != data.Y)[:, label].sum()
    assert found.n_undecided_rows == (run.board == UNSET).all(axis=1).sum()


@settings(max_examples=60)
@given(
    summarised(lambda schema, values: theories(schema, values) | layered_theories(schema, values))
)
def test_every_theory_has_a_summary(case):
    theory, data = case
    found = summary(theory, data)
    assert len(found.rules) == len(theory)
    assert sum(found.head_sizes.values()) == sum(found.body_sizes.values()) == len(theory)
    for rule in found.rules:
        assert rule.n_rows <= rule.n_covered <= len(data)
        assert rule.n_rows <= rule.n_cells
    assert str(found).startswith(str(len(theory)))
    assert str(summary(theory)).startswith(str(len(theory)))


@settings(max_examples=100)
@given(
    summarised(
        lambda schema, values: decision_lists(schema, values) | layered_theories(schema, values)
    )
)
def test_subsumed_rules_write_nothing_and_can_be_left_out(case):
    """Otherwise a reader would strike out a rule that matters."""
    theory, data = case
    found = summary(theory, data)
    useless = {pair.place for pair in found.subsumed}
    assert all(rule.n_cells == 0 for rule in found.rules if rule.place in useless)
    if isinstance(theory, DecisionList):
        rules = [rule for number, rule in enumerate(theory) if Place(number) not in useless]
        shorter = DecisionList(theory.schema, rules)
        np.testing.assert_array_equal(shorter.apply(data), theory.apply(data))


SCHEMA = Schema([Feature("a"), Feature("b", ("x", "y"))], ["k", "l"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k <- a > 1\nk <- a > 2", ["rule 2 by rule 1"]),
        ("k <- a > 2\nk <- a > 1", []),
        ("k <- a > 1\nnot k <- a > 2", ["rule 2 by rule 1"]),
        ("k <- b = x\nl <- true\nk, l <- b != y, a > 1", ["rule 3 by rule 1, rule 2"]),
        ("k, * <- a > 1\nl <- a > 2", ["rule 2 by rule 1"]),
        ("k <- a > 1\nk, * <- a > 2", []),
        ("k <- a > 1, a <= 0", ["rule 1 by "]),
        # k may have been written between the two rules for l
        ("l <- k\nk <- true\nl <- k", []),
        ("k <- a > 1\nl <- k\nl <- k, b = x", ["rule 3 by rule 2"]),
        ("k <- a > 1\nk <- k, b = x", ["rule 2 by "]),
        ("in any order:\nk <- a > 1\nk <- a > 2", []),
        (
            "layer 1:\nk <- true\nlayer 2:\nl <- k\nk <- true\nl <- k",
            ["rule 3 of layer 2 by rule 1 of layer 2"],
        ),
    ],
)
def test_who_is_subsumed_by_whom(text, expected):
    found = summary(parse(text, SCHEMA)).subsumed
    assert [f"{pair.place} by {', '.join(map(str, pair.others))}" for pair in found] == expected


def test_conflicts():
    theory = parse("in any order:\nk <- a > 1\nnot k <- a <= 1\nnot k, l <- b = x", SCHEMA)
    found = summary(theory)
    assert [(pair.place.number, pair.others[0].number) for pair in found.conflicting] == [(2, 0)]
    assert "conflicting pairs: 1\n  rule 3: not k, l <- b = x\n    and rule 1: k <- a > 1" in str(
        found
    )


def test_frames_have_a_line_for_each():
    readers = load("magazines")
    found = summary(golden("magazines-multi"), readers)
    frame = found.to_frame()
    assert list(frame.columns) == [
        "layer", "is_fallback", "number", "text", "n_covered", "n_rows", "n_cells", "n_decided",
        "n_overruled", "is_reached",
    ]  # fmt: skip
    assert list(frame["number"]) == list(range(1, 11))
    expected = golden("magazines-multi").to_frame()
    assert frame[["layer", "is_fallback"]].equals(expected[["layer", "is_fallback"]])
    assert list(found.to_frame("label")["label"]) == list(readers.schema.labels)
    assert found.to_frame("feature")["n_rules"].is_monotonic_decreasing


def test_rows_without_labels_and_without_theory():
    data = Dataset(SCHEMA, np.zeros((3, 2)), np.zeros((3, 2)))
    found = summary(DecisionList(SCHEMA), data)
    assert found.n_undecided_rows == 3
    assert str(found).splitlines()[0] == "0 rules, 0 literals; 0 conditions"
    assert summary(DecisionList(SCHEMA), [[1, "x"]]).labels[0].n_wrong is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("k <- a > 1", "1 rule, 2 literals; 1 condition, on a feature"),
        ("k <- a > 1\nl <- true", "2 rules, 3 literals; 1 condition, on a feature"),
        ("k <- l", "1 rule, 2 literals; 1 condition, on a label"),
        ("k <- true", "1 rule, 1 literal; 0 conditions"),
        ("k <- l, a > 1", "1 rule, 3 literals; 2 conditions, 1 of them on labels"),
    ],
)
def test_one_is_no_plural(text, line):
    assert str(summary(parse(text, SCHEMA))).splitlines()[0] == line
