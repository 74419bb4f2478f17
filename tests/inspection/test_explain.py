"""Why a row gets its labels."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldens import golden
from labelrules import UNSET, Dataset, Feature, LayeredTheory, Schema, dataset, load, parse
from labelrules.inspection import Place, estimate, explain
from labelrules.rules import Evidence, Gibbs, LabelByLabel, UntilStable
from labelrules.rules.language.text import label_text
from layered_theories import layered_theories
from pages import fetched
from strategies import datasets
from theories import decision_lists, rule_sets


@st.composite
def explained(draw, kind):
    data = draw(datasets(min_rows=1, max_rows=3))
    theory = draw(kind(data.schema, st.integers(-2, 2).map(float)))
    return theory, data, draw(st.integers(0, len(data) - 1))


def check(theory, data, row):
    found = explain(theory, data, row, training=data, counterfactuals=False)
    predicted = theory.predict(data)[row]
    np.testing.assert_array_equal(found.board, predicted)
    assert [one.predicted for one in found] == predicted.tolist()
    for label, one in enumerate(found):
        assert (one.rule is not None) == (one.decided == "rule")
        if one.rule is not None:
            assert (one.rule.value, one.rule.failing) == (one.predicted, ())
            # The row itself is a training row on which the rule wrote the label.
            assert row in (
                one.rows.right if data.Y[row, label] == one.predicted else one.rows.wrong
            )
        if one.decided == "default":
            assert one.predicted == 0
            assert written_last(theory, data)[row, label] == UNSET
        assert all(not rule.failing for rule in (*one.later, *one.votes))
        assert all(len(rule.failing) == 1 for rule in one.near)
        check_chain(one)
        state = "present" if one.predicted else "absent"
        assert str(one).splitlines()[0] == f"{label_text(one.label)}: {state}"
        start = f"{label_text(one.label)} is predicted {state}"
        assert one.sentence().startswith((f"{start} by", f"{start}, because"))
    return found


def written_last(theory, data):
    """What rules wrote: those for rows without labels, and where they are silent the last layer."""
    if not isinstance(theory, LayeredTheory):
        return theory.apply(data)
    run = theory.run(data)
    board = run.layers[-1].board
    if run.fallback is None:
        return board
    bare = ~(board == 1).any(axis=1, keepdims=True)
    return np.where(bare & (run.fallback.board != UNSET), run.fallback.board, board)


def check_chain(one):
    """Every label that a rule of the chain tests is in the graph, as it was asked for."""
    nodes = {node.key: node for node in one.chain.nodes}
    assert len(nodes) == len(one.chain.nodes)
    assert (one.chain.nodes[0].name, one.chain.nodes[0].value) == (one.label, one.predicted)
    assert {key for link in one.chain.links for key in link} <= nodes.keys()
    for node in one.chain.nodes:
        if node.kind == "rule":
            tested = {n.name: n.value for n in one.chain.before(node.key)}
            labels = [seen for seen in node.conditions if seen.condition.on_label]
            assert tested.keys() == {seen.name for seen in labels}
            assert all(seen.holds for seen in node.conditions)
            for seen in labels:
                assert tested[seen.name] in (None, seen.condition.value)


@settings(max_examples=60)
@given(explained(decision_lists))
def test_lists_are_explained_as_they_predict(case):
    theory, data, row = case
    for label, one in enumerate(check(theory, data, row)):
        number = one.rule.place.number if one.rule else len(theory)
        # Nobody wrote the label before this rule.
        assert theory[:number].apply(data)[row, label] == UNSET
        if one.rule:
            assert theory[: number + 1].apply(data)[row, label] == one.predicted
        holding = [
            i
            for i in range(len(theory))
            if label in theory[i].head.labels
            and theory[i].body.covers(data.X, theory[:i].apply(data))[row]
        ]
        writer = one.rule.place.number if one.rule else -1
        assert [r.place.number for r in one.later] == [i for i in holding if i > writer]


@settings(max_examples=60)
@given(explained(rule_sets))
def test_votes_are_explained_as_they_predict(case):
    theory, data, row = case
    margin = theory.margin(data)[row]
    for label, one in enumerate(check(theory, data, row)):
        assert one.n_for - one.n_against == margin[label]
        assert one.decided == ("vote" if one.votes else "default")


@settings(max_examples=60)
@given(explained(layered_theories))
def test_layers_are_explained_as_they_predict(case):
    check(*case)


def test_sampled_labels_name_no_rule():
    readers = load("magazines")
    theory = golden("magazines-multi").with_evidence(readers, readers.Y)
    sampled = LayeredTheory(readers.schema, [theory], Gibbs(n_samples=20, burn_in=0))
    found = explain(sampled, readers, 3, counterfactuals=False)
    np.testing.assert_array_equal(found.board, sampled.predict(readers)[3])
    for one in found:
        assert (one.decided, one.rule, one.later, one.near) == ("sampled", None, (), ())
        assert (one.presence > 0.5) == one.predicted


def test_a_reader_is_explained():
    readers = load("magazines")
    found = explain(golden("magazines-multi"), readers, 3, labels=["tabloid"], training=readers)
    assert found.text(details=True).splitlines() == [
        "Row 3",
        "tabloid: absent",
        "  by rule 5: quality, not tabloid, sports <- sex = Female",
        "    sex is Female",
        "  right in 4 of 4 cells: estimated precision 0.83 (95 % interval 0.51 to 1.00)",
        "  later rules that cover the row:",
        "    rule 10 predicts present: otherwise: tabloid, *",
        "  training: right in rows 3, 4, 7, 10",
        "  rules that fail by one condition:",
        "    rule 6 would predict present: quality, tabloid, fashion, not sports <- "
        "marital = Married, but marital is Divorced",
        "    rule 7 would predict absent: quality, sports, not others <- education = Secondary, "
        "children = No, but education is University",
        "    rule 9 would predict absent: not tabloid, * <- not quality, but quality is present",
        "  tabloid would be present with sex = Male instead of Female",
    ]
    assert found.sentences() == (
        "Row 3 gets quality and fashion.\n\ntabloid is predicted absent by rule 5, because sex is "
        "Female. Rule 5 was right in 4 of 4 cells: estimated precision 0.83 (95 % interval 0.51 to "
        "1.00). tabloid would be present if sex were Male."
    )


SCHEMA = Schema([Feature("a"), Feature("<b>", ("x&y", "z"))], ["k", "l", "m"])


def row_of(a, b):
    return Dataset(SCHEMA, np.array([[a, b]], dtype=float), np.zeros((1, 3)))


def test_the_chain_goes_back_through_labels():
    theory = parse("k <- a > 1\nnot l <- k, a <= 5\nm <- not l", SCHEMA)
    one = explain(theory, row_of(3, 0))["m"]
    assert [(node.kind, node.name, node.value) for node in one.chain.nodes] == [
        ("label", "m", 1),
        ("label", "l", 0),
        ("label", "k", 1),
        ("rule", "m <- not l", None),
        ("rule", "not l <- k, a <= 5", None),
        ("rule", "k <- a > 1", None),
    ]
    names = {node.key: node.name for node in one.chain.nodes}
    assert {(names[link.source], names[link.target]) for link in one.chain.links} == {
        ("m <- not l", "m"),
        ("l", "m <- not l"),
        ("not l <- k, a <= 5", "l"),
        ("k", "not l <- k, a <= 5"),
        ("k <- a > 1", "k"),
    }
    assert one.sentence() == (
        "m is predicted present by rule 3, because l is absent. l is absent by rule 2, because k "
        "is present and a is 3, at most 5. k is present by rule 1, because a is 3, above 1. m "
        "would be absent if a were 1."
    )


def test_the_chain_is_drawn():
    theory = parse("k <- a > 1\nnot l <- k, a <= 5\nm <- not l, k", SCHEMA)
    page = explain(theory, row_of(3, 0)).html()
    (picture,) = re.findall(r"<svg[^>]*What m depends on.*?</svg>", page, flags=re.DOTALL)
    assert picture.count("<rect") == 6
    assert picture.count("<path") == 2 * 6  # a line and its head
    assert picture.count("dashed") == 1  # l is absent
    assert page.count("<svg") == 2  # k depends on no label
    left = {
        name: float(re.search(rf'<title>{name}</title><rect x="([0-9.]+)"', picture)[1])
        for name in ("k", "l", "m")
    }
    assert left["k"] < left["l"] < left["m"]


def test_a_chain_with_very_many_ways_is_drawn_at_once():
    labels = [f"l{i}" for i in range(20)]
    lines = [f"{labels[i]} <- {', '.join(labels[:i]) or 'true'}" for i in range(20)]
    theory = parse("\n".join(lines), Schema([], labels))
    rows = Dataset(theory.schema, np.zeros((1, 0)), np.zeros((1, 20)))
    assert explain(theory, rows, labels=["l19"]).html().count("<rect") == 40


def test_labels_that_depend_on_each_other_are_named():
    text = "layer 1:\nk <- a > 1\nm <- a > 2\nlayer 2:\nk <- m\nm <- k\nl <- m"
    layers = parse(text, SCHEMA).layers
    found = explain(LayeredTheory(SCHEMA, layers, UntilStable()), row_of(3, 0))
    assert found["l"].chain.cycle == ("m", "k")
    assert [(node.name, node.value, node.layer) for node in found["l"].chain.initial] == [
        ("m", 1, 0),
        ("k", 1, 0),
    ]
    words = "m and k depend on each other, since the last layer reads its own labels; before: m = "
    assert words in str(found["l"])
    assert words in found["l"].sentence()
    assert words in found.html()
    alone = parse("k <- m\nm <- k\nk <- a > 1\nm <- a > 2", SCHEMA)
    one = explain(LayeredTheory(SCHEMA, [alone], UntilStable()), row_of(3, 0))["k"]
    assert [(node.name, node.value, node.place) for node in one.chain.initial] == [
        ("k", 1, Place(2)),
        ("m", 1, Place(3)),
    ]
    assert "before: k = present in its first round, by rule 3" in str(one)
    once = explain(LayeredTheory(SCHEMA, layers), row_of(3, 0))["l"]
    assert once.chain.cycle == once.chain.initial == ()


def test_a_rule_that_ends_the_list_is_named():
    theory = parse("k, * <- a > 1\nl <- a > 2", SCHEMA)
    one = explain(theory, row_of(3, 0))["l"]
    assert (one.decided, one.ended.place) == ("default", Place(0))
    assert str(one).splitlines()[1] == (
        "  by default: rule 1 ended the list before a rule predicted it: k, * <- a > 1"
    )
    assert "because rule 1 ended the list before a rule predicted it." in one.sentence()
    assert explain(theory, row_of(0, 0))["l"].ended is None
    assert explain(theory, row_of(3, 0))["m"].ended is None  # no rule speaks of it at all
    in_turn = LayeredTheory(SCHEMA, [theory], LabelByLabel())
    assert explain(in_turn, row_of(3, 0))["l"].ended.place == Place(0)


def test_labels_that_do_not_settle_are_named():
    restless = parse("k <- not l\nl <- k\nnot k <- l\nnot l <- not k", SCHEMA)
    found = explain(LayeredTheory(SCHEMA, [restless], UntilStable()), row_of(0, 0))
    run = LayeredTheory(SCHEMA, [restless], UntilStable()).run(row_of(0, 0))
    assert found.unsettled == tuple(np.array(SCHEMA.labels)[run.moving[0]])
    assert found.unsettled
    assert "Not settled: " in str(found)
    assert "Not settled: " in found.sentences()
    assert "Not settled: " in found.html()


def test_a_category_with_the_sign_for_other_values_is_told_whole():
    schema = Schema([Feature("f", ["x!= y", "a"])], ["k"])
    row = Dataset(schema, np.array([[1.0]]), np.zeros((1, 1)))
    one = explain(parse('k <- f != "x!= y"', schema), row)["k"]
    assert 'because f is a, not "x!= y".' in one.sentence()


def test_what_the_layers_wrote_stays_where_the_list_for_bare_rows_is_silent():
    text = "layer 1:\nnot l <- a > 0\nnot k <- true\nif no label was found:\nk <- a > 1\nl <- a > 9"
    found = explain(parse(text, SCHEMA), row_of(3, 0), training=row_of(3, 0))
    assert found["k"].rule.place == Place(0, is_fallback=True)
    assert "no rule found a label; of the rules for such rows, this holds first" in str(found["k"])
    assert (found["l"].rule.place, found["l"].rows) == (Place(0), ((0,), ()))
    assert [rule.place for rule in found["l"].near] == [Place(1, is_fallback=True)]
    assert found["m"].decided == "default"


def test_layers_and_rows_without_labels_are_told():
    text = "layer 1:\nk <- a > 1\nlayer 2:\nl <- k\nif no label was found:\nm <- true"
    theory = parse(text, SCHEMA)
    assert str(explain(theory, row_of(3, 0))["l"]).splitlines()[1:5] == [
        "  by rule 1 of layer 2: l <- k",
        "    k is present",
        "  depends on k = present in layer 1, by rule 1 of layer 1: k <- a > 1",
        "  l would be absent with a = 1 instead of 3",
    ]
    bare = explain(theory, row_of(0, 0))["m"]
    assert bare.rule.place == Place(0, is_fallback=True)
    assert str(bare).splitlines()[1] == "  by rule 1 for rows without a label: otherwise: m"
    assert str(bare).splitlines()[-1] == "  m would be absent with a = 2 instead of 0"


def test_votes_for_and_against_are_listed():
    text = "in any order:\nk +3 <- a > 1\nnot k <- true\nk <- a > 9"
    one = explain(parse(text, SCHEMA), row_of(3, 0))["k"]
    assert (one.decided, one.n_for, one.n_against) == ("vote", 3, 1)
    assert str(one).splitlines() == [
        "k: present",
        "  start (-1), a 3 > 1 (+3) = 2: given",
        "    +3: rule 1: a 3 > 1",
        "    -1: rule 2: start",
        "  points of conditions that fail:",
        "    +1: a > 9 (is 3)",
        "  k would be absent with a = 1 instead of 3",
    ]


def test_pages_escape_everything():
    theory = parse('k <- "<b>" != z\nl <- k', SCHEMA)
    found = explain(theory, row_of(np.nan, 0), training=row_of(1, 0))
    for page in (found.html(), found._repr_html_()):
        assert "<b>" not in page
        assert "x&y" not in page
        assert "&lt;b&gt;" in page
        assert fetched(page) == []
        # A card for each of two labels, and the third is folded away.
        assert page.count("<section>") == page.count("</section>") == 2
        assert page.count('<details class="others">') == 1
    assert found.html().startswith("<!DOCTYPE html>")


def test_several_rows_give_several_explanations():
    readers = load("magazines")
    theory = golden("magazines-multi")
    found = explain(theory, readers, [3, 0], counterfactuals=False)
    assert [one.row for one in found] == [3, 0]
    assert str(found[0]) == str(explain(theory, readers, 3, counterfactuals=False))
    assert found[0]["sports"].counterfactual is None


def test_evidence_of_the_theory_comes_before_that_of_training_rows():
    theory = parse("k <- true (7/1)\nl <- true", SCHEMA)
    found = explain(theory, row_of(0, 0), training=([[1, "z"], [2, "z"]], [["l"], []]))
    assert (found["k"].estimate.right, found["k"].estimate.wrong) == (7, 1)
    assert found["l"].rows == ((0,), (1,))
    assert (found["l"].estimate.right, found["l"].estimate.wrong) == (1, 1)
    assert found["m"].estimate is None


def test_intervals():
    """Wilson's interval: the shares whose score test does not reject what was counted."""
    found = estimate(Evidence(8, 2))
    for share in (found.low, found.high):
        assert abs(0.8 - share) / np.sqrt(share * (1 - share) / 10) == pytest.approx(1.959964)
    z = 1.959963984540054
    for right, wrong in ((8, 2), (1, 0), (0, 3), (12345, 678)):
        found, n = estimate(Evidence(right, wrong)), right + wrong
        middle = (right + z * z / 2) / (n + z * z)
        half = z / (n + z * z) * np.sqrt(right * wrong / n + z * z / 4)
        assert (found.low, found.high) == pytest.approx((middle - half, middle + half), abs=1e-12)
    assert (estimate(Evidence(0, 0)).low, estimate(Evidence(0, 0)).high) == (0, 1)
    assert estimate(Evidence(0, 5)).low == 0
    assert estimate(Evidence(5, 0)).high == 1
    with pytest.raises(ValueError, match="level must be a number between 0 and 1, not 95"):
        estimate(Evidence(1, 1), level=95)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"labels": ["kk"]}, "there is no label 'kk'; did you mean 'k'"),
        ({"labels": "k"}, "labels is one text, 'k': give a list"),
        ({"training": [[1, "z"]]}, r"training must be a Dataset or a pair \(X, Y\)"),
        ({"training": ([[1, "z"]],)}, r"training must be a Dataset or a pair \(X, Y\)"),
        ({"training": ([[1, "z"]], [["k"], []])}, "training: X has 1 rows but Y has 2"),
        ({"level": "high"}, "level must be a number between 0 and 1, not 'high'"),
        ({"level": 2}, "level must be a number between 0 and 1, not 2"),
        ({"limit": "many"}, "limit must be a whole number"),
    ],
)
def test_wrong_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        explain(parse("k <- true (1/0)", SCHEMA), row_of(0, 0), **wrong)


def test_unknown_labels_rows_and_theories_are_named():
    theory = parse("k <- true", SCHEMA)
    with pytest.raises(KeyError, match="no label 'x' is explained"):
        explain(theory, row_of(0, 0))["x"]
    with pytest.raises(IndexError, match="there is no row 5: rows are numbered from 0 to 0"):
        explain(theory, row_of(0, 0), 5)
    with pytest.raises(TypeError, match="or a fitted learner, not tuple"):
        explain(theory.rules, row_of(0, 0))
    for row in ("0", 0.5, True, ["0"]):
        with pytest.raises(TypeError, match="row must be the number of a row, not"):
            explain(theory, row_of(0, 0), row)
    with pytest.raises(IndexError, match="there is no row 0: X has no rows"):
        explain(theory, row_of(0, 0).take([]))


def test_training_rows_of_unknown_truth_are_neither_right_nor_wrong():
    data = dataset([[1.0], [1.0], [1.0]], [[1], [0], [-1]])
    found = explain(parse("y0 <- x0 > 0", data.schema), data, 0, training=data)["y0"]
    assert found.rows == ((0,), (1,))
    assert (found.estimate.right, found.estimate.wrong) == (1, 1)
