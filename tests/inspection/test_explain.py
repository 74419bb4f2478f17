"""Why a row gets its labels."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from goldens import golden
from labelrules import UNSET, LayeredTheory, load
from labelrules.inspection import explain
from labelrules.rules import DecisionList, Gibbs, LabelByLabel, Once, UntilStable
from strategies import datasets
from theories import decision_lists, rule_sets, theories

WAYS = [Once(), UntilStable(2), UntilStable(5), LabelByLabel(1), LabelByLabel(4)]


@st.composite
def explained(draw, kind):
    data = draw(datasets(min_rows=1, max_rows=3))
    theory = draw(kind(data.schema, st.integers(-2, 2).map(float)))
    return theory, data, draw(st.integers(0, len(data) - 1))


def layered(schema, values):
    return st.builds(
        LayeredTheory,
        st.just(schema),
        st.lists(theories(schema, values, 4), min_size=1, max_size=3),
        st.sampled_from(WAYS),
        st.none()
        | st.builds(lambda rules: featured(schema, rules), decision_lists(schema, values)),
    )


def featured(schema, rules):
    return DecisionList(schema, [rule for rule in rules if not rule.body.on_labels])


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
        if one.decided == "nobody":
            assert one.predicted == 0
        assert all(not rule.failing for rule in (*one.later, *one.votes))
        assert all(len(rule.failing) == 1 for rule in one.near)
        check_chain(one)
        assert str(one).startswith(str(one).split(":")[0])
        assert one.sentence().endswith(".")
    return found


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
        assert one.decided == ("vote" if one.votes else "nobody")


@settings(max_examples=60)
@given(explained(layered))
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
    assert str(found).splitlines() == [
        "Row 3",
        "tabloid: absent",
        "  by rule 5: quality, not tabloid, sports <- sex = Female",
        "    sex: here Female",
        "  right in 4 of 4 cells: probability 0.83, 95% interval 0.51 to 1.00",
    ]
