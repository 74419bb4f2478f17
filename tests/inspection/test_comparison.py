"""Two theories side by side."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldens import golden
from labelrules import Dataset, Feature, Schema, load, parse
from labelrules.inspection import compare, summary
from strategies import datasets
from theories import theories

SCHEMA = Schema([Feature("a"), Feature("b", ("x", "y"))], ["k", "l"])


def changes(one, other):
    found = compare(parse(one, SCHEMA), parse(other, SCHEMA))
    return (
        [str(rule) for rule in found.removed],
        [str(rule) for rule in found.added],
        [(change.what, str(change.one), str(change.other)) for change in found.changed],
    )


def test_what_was_added_removed_and_changed():
    assert changes("k <- a > 1\nl <- b = x\nnot k <- true", "l <- b = x\nk <- a > 2") == (
        ["rule 3: otherwise: not k"],
        [],
        [("body", "rule 1: k <- a > 1", "rule 2: k <- a > 2")],
    )
    assert changes("k <- a > 1", "not k <- a > 1\nl <- true") == (
        [],
        ["rule 2: otherwise: l"],
        [("head", "rule 1: k <- a > 1", "rule 1: not k <- a > 1")],
    )
    assert changes("k <- a > 1", "k, * <- a > 1")[2] == [
        ("marks", "rule 1: k <- a > 1", "rule 1: k, * <- a > 1")
    ]
    assert changes("layer 1:\nk <- a > 1\nlayer 2:\nl <- k", "layer 1:\nlayer 2:\nl <- k") == (
        ["rule 1 of layer 1: k <- a > 1"],
        [],
        [],
    )


def test_meaning_counts_not_writing():
    found = compare(
        parse("k <- a > 1, a > 2\nl <- true", SCHEMA), parse("l <- true (3/4)\nk <- a > 2", SCHEMA)
    )
    assert len(found.kept) == 2
    assert found.reordered
    assert str(found) == (
        "2 rules (4 literals) and 2 rules (3 literals), 2 of them in both, in another order"
    )


SECOND = "layer 1:\nk <- true\nlayer 2"
RULES = ":\nl <- k (3/4)\nk <- l"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (
            "k <- true", "in any order:\nk <- true",
            ["order: in order (the first rule decides), now in any order (rules vote)"],
        ),
        ("k <- true", "layer 1:\nk <- true", ["layers: none, now 1"]),
        (
            f"{SECOND}{RULES}", f"{SECOND}, until stable in at most 5 rounds{RULES}",
            ["inference: once, now until stable in at most 5 rounds"],
        ),
        (
            f"{SECOND}, label by label in at most 2 rounds{RULES}",
            f"{SECOND}, label by label in at most 2 rounds, in the order l, k{RULES}",
            [
                "inference: label by label in at most 2 rounds, "
                "now label by label in at most 2 rounds, in the order l, k"
            ],
        ),
        (
            f"{SECOND}{RULES}", f"{SECOND}:\nin any order:\nl <- k\nk <- l",
            ["order of layer 2: in order (the first rule decides), now in any order (rules vote)"],
        ),
        (
            f"{SECOND}{RULES}", f"{SECOND}{RULES}\nif no label was found:",
            ["if no label was found: nothing, now 0 rules"],
        ),
        (f"{SECOND}{RULES}", f"{SECOND}{RULES}", []),
    ],
)  # fmt: skip
def test_what_differs_besides_the_rules(one, other, expected):
    """Rules that are the same may say something else in another manner."""
    found = compare(parse(one, SCHEMA), parse(other, SCHEMA))
    assert [str(difference) for difference in found.structure] == expected
    assert (found.removed, found.added, found.changed) == ((), (), ())
    assert str(found).splitlines()[1:] == expected


def test_sampled_layers_differ_in_settings_and_in_evidence():
    way = "layer 1, sampled 9 times after 1 round, seed"
    one = parse(f"{way} 1:\nk <- true (3/1)\nl <- true (1/1)", SCHEMA)
    other = parse(f"{way} 2:\nk <- true (1/3)\nl <- true (1/1)", SCHEMA)
    found = compare(one, other)
    assert [difference.what for difference in found.structure] == ["inference"]
    assert [(change.what, change.one.place.number) for change in found.changed] == [("evidence", 0)]
    assert len(found.kept) == 1
    assert "evidence of rule 1 of layer 1: otherwise: k (3/1)" in str(found)


def test_an_order_counts_where_rules_have_one():
    layers = "layer 1:\n{}layer 2:\nk <- true"
    for start, reordered in (("", True), ("in any order:\n", False)):
        one = parse(layers.format(start + "k <- a > 1\nl <- true\n"), SCHEMA)
        other = parse(layers.format(start + "l <- true\nk <- a > 1\n"), SCHEMA)
        assert compare(one, other).reordered == reordered


@st.composite
def two(draw):
    data = draw(datasets(min_rows=1))
    kind = theories(data.schema, st.integers(-2, 2).map(float))
    return draw(kind), draw(kind), data


@settings(max_examples=80)
@given(two())
def test_every_rule_is_in_one_place_and_every_difference_is_counted(case):
    one, other, data = case
    found = compare(one, other, data)
    n_pairs = len(found.kept) + len(found.changed)
    assert n_pairs + len(found.removed) == len(one)
    assert n_pairs + len(found.added) == len(other)
    assert all(a.rule == b.rule for a, b in found.kept)
    assert all(change.one.rule != change.other.rule for change in found.changed)
    first, second = one.predict(data), other.predict(data)
    np.testing.assert_array_equal(found.differs, first != second)
    for label, line in enumerate(found.labels):
        assert line.n_rows == (first != second)[:, label].sum()
        assert line.n_other_right == ((first != second) & (second == data.Y))[:, label].sum()
        assert line.n_one_right + line.n_other_right == line.n_rows
    assert str(found).startswith(str(len(one)))


def test_a_theory_equals_itself():
    theory = golden("magazines-multi")
    found = compare(theory, theory, load("magazines"))
    assert (found.removed, found.added, found.changed, found.reordered) == ((), (), (), False)
    assert str(found).splitlines()[1:] == ["predictions differ in 0 cells (0.0%), in 0 of 14 rows"]


def test_frames_and_rows_without_true_labels():
    one, other = parse("k <- a > 1\nl <- true", SCHEMA), parse("k <- a > 2\nk <- b = x", SCHEMA)
    data = Dataset(SCHEMA, np.array([[1.5, 0], [9, 1]]), np.zeros((2, 2)))
    found = compare(one, other, data)
    assert list(found.to_frame()["change"]) == ["body changed", "removed", "added"]
    assert list(found.to_frame("label")["n_rows"]) == [0, 2]
    unlabelled = compare(one, other, [[1.5, "x"], [9.0, "y"]])
    assert unlabelled.labels[1] == ("l", 2, None, None)
    assert str(unlabelled).splitlines()[-2:] == ["label  differ", "l           2"]


def test_other_schemas_and_what_is_no_theory_are_refused():
    with pytest.raises(TypeError, match="a theory must be a DecisionList, RuleSet or LayeredT"):
        compare(golden("magazines-multi"), "k <- true")
    with pytest.raises(TypeError, match="or a fitted learner, not str"):
        summary("k <- true")
    with pytest.raises(ValueError, match="only theories over the same features and labels"):
        compare(golden("magazines-multi"), parse("k <- true", SCHEMA))
