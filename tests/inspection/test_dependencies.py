"""The graph of label dependencies: counts, circles, and labels that flip each other."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldens import golden
from labelrules import DecisionList, Feature, Schema, load, parse
from labelrules.constraints import find_constraints
from labelrules.inspection import Edge, Flip, LabelGraph, PairCounts, flips, label_graph
from labelrules.rules import LayeredTheory, UntilStable
from strategies import schemas
from theories import theories

READERS = load("magazines")


def stacked():
    first, second = golden("magazines-sbr-1"), golden("magazines-sbr-2")
    return LayeredTheory(first.schema, [first, second])


def test_the_chapters_stacked_lists():
    """One rule for each label tests labels, two of these four nothing else."""
    graph = label_graph(stacked())
    assert (graph.n_rules, graph.n_full, graph.n_partial) == (23, 2, 2)
    assert graph.edges() == [
        Edge("sports", "quality", 0, 1, "+", 0, 0),
        Edge("quality", "tabloid", 1, 0, "-", 0, 0),
        Edge("tabloid", "fashion", 0, 1, "+", 0, 0),
        Edge("quality", "sports", 1, 0, "+", 0, 0),
        Edge("tabloid", "sports", 1, 0, "-", 0, 0),
    ]
    assert graph.components() == [("quality", "tabloid", "sports")]
    assert graph.cycles() == [("quality", "sports"), ("quality", "sports", "tabloid")]
    assert label_graph(stacked().layers[0]).edges() == []
    assert str(graph).splitlines() == [
        "23 rules with conditions: 2 fully label-dependent (9%), 2 partially (9%)",
        "5 dependencies between 4 labels",
        "in a cycle: quality, tabloid, sports",
    ]


@given(st.data())
def test_counts_are_those_of_the_rules_one_by_one(data):
    schema = data.draw(schemas())
    theory = data.draw(theories(schema))
    graph = label_graph(theory)
    full, partial = np.zeros_like(graph.full), np.zeros_like(graph.partial)
    for rule in theory:
        for told in range(schema.n_labels):
            for tested in range(schema.n_labels):
                said = told in rule.head.labels
                asked = any(c.on_label and c.column == tested for c in rule.body)
                mixed = any(not c.on_label for c in rule.body)
                full[told, tested] += said and asked and not mixed
                partial[told, tested] += said and asked and mixed
    np.testing.assert_array_equal(graph.full, full)
    np.testing.assert_array_equal(graph.partial, partial)
    forms = [rule.form.dependence for rule in theory]
    assert (graph.n_full, graph.n_partial) == (forms.count("full"), forms.count("partial"))
    assert graph.n_rules == sum(1 for rule in theory if len(rule.body))
    assert 0 <= graph.share_full + graph.share_partial <= 1


@settings(max_examples=40)
@given(st.data())
def test_signs_and_evidence_are_those_of_the_rules_one_by_one(data):
    schema = data.draw(schemas())
    theory = data.draw(theories(schema))
    for edge in label_graph(theory).edges():
        told, tested = schema.label_index[edge.predicted], schema.label_index[edge.tested]
        agree, right, wrong = set(), 0, 0
        for rule in theory:
            asked = {int(c.value) for c in rule.body if c.on_label and c.column == tested}
            if not asked or told not in rule.head.labels:
                continue
            agree |= {rule.head.vector()[told] == value for value in asked}
            counts = rule.evidence_for(told)
            right += counts.right if counts else 0
            wrong += counts.wrong if counts else 0
        assert edge.sign == {(True,): "+", (False,): "-"}.get(tuple(agree), "+-")
        assert (edge.right, edge.wrong, edge.support) == (right, wrong, right + wrong)
        assert edge.strength == right / (right + wrong) if edge.support else edge.strength != 0


def test_constraints_have_a_graph_too():
    """b occurs only with a; a and c exclude each other, which is so both ways round."""
    Y = [{"a", "b"}, {"a", "b"}, {"a"}, {"c"}, {"c"}, {"d", "a"}, {"d", "c"}, {"d"}]
    graph = label_graph(find_constraints(Y, groups=False))
    edges = {(edge.tested, edge.predicted): edge for edge in graph.edges()}
    assert edges["b", "a"] == Edge("b", "a", 1, 0, "+", 2, 0)
    assert edges["a", "c"].sign == edges["c", "a"].sign == "-"
    assert (edges["a", "c"].support, edges["c", "a"].support) == (4, 3)
    assert edges["a", "c"].strength == edges["c", "a"].strength == 1
    assert ("a", "b") not in edges
    assert graph.n_rules == graph.n_full == len(find_constraints(Y, groups=False))


def test_an_exclusion_of_yeast_speaks_in_both_directions(data_folder):
    """Class1 and Class14 never meet; that 476 rows have Class1 speaks against Class14 there."""
    found = find_constraints(load("yeast", data_folder, part="train"))
    edges = {(edge.tested, edge.predicted): edge for edge in label_graph(found).edges()}
    assert edges["Class14", "Class1"][-2:] == (21, 0)
    assert edges["Class1", "Class14"][-2:] == (476, 0)


def test_text_is_no_theory():
    with pytest.raises(TypeError, match="or a fitted learner, not str"):
        label_graph("quality <- sports")


def graph_of(adjacency):
    n = len(adjacency)
    schema = Schema([], [f"l{i}" for i in range(n)])
    rules = np.array(adjacency, dtype=np.int64).reshape(n, n)
    none = PairCounts(*(np.zeros_like(rules) for _ in PairCounts._fields))
    return LabelGraph(schema, none._replace(rules=rules), none, 0, 0, 0)


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_cycles_are_all_there_are_and_each_once(adjacency):
    graph, n = graph_of(adjacency), len(adjacency)
    expected = {
        tuple(f"l{i}" for i in path)
        for size in range(1, n + 1)
        for path in permutations(range(n), size)
        if path[0] == min(path)
        and all(adjacency[a][b] for a, b in zip(path, (*path[1:], path[0]), strict=True))
    }
    found = graph.cycles(limit=10**6)
    assert set(found) == expected
    assert len(found) == len(expected)
    assert [len(cycle) for cycle in found] == sorted(len(cycle) for cycle in found)
    assert graph.cycles(limit=3) == found[:3]
    # A label is in a component if, and only if, it is in a cycle.
    assert {name for group in graph.components() for name in group} == {
        name for cycle in expected for name in cycle
    }


def test_groups_are_labels_that_can_reach_each_other():
    graph = graph_of([[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0] * 5])
    assert graph.components() == [("l0", "l1"), ("l3",)]


def test_a_long_list_of_cycles_ends_at_the_limit():
    """A complete graph of 60 labels has more cycles than atoms; the shortest come at once."""
    graph = graph_of(1 - np.eye(60, dtype=int))
    found = graph.cycles(limit=2000)
    assert len(found) == 2000
    assert sum(len(cycle) == 2 for cycle in found) == 60 * 59 / 2
    with pytest.raises(ValueError, match="limit must be a whole number of at least 0"):
        graph.cycles(limit=-1)


def test_a_theory_without_rules():
    graph = label_graph(DecisionList(READERS.schema))
    assert (graph.share_full, graph.share_partial) == (0.0, 0.0)
    assert graph.cycles() == graph.components() == graph.edges() == []
    assert str(graph).endswith("no cycle")


# ---------------------------------------------------------------- flips


EXCLUSION = """
layer 1:
quality <- sex = Male
tabloid <- sex = Male
tabloid <- education = Primary
sports <- true
layer 2:
quality <- not tabloid
tabloid <- not quality
not sports <- quality
"""


def test_labels_that_exclude_each_other_flip():
    """Men have both labels at first, and neither of them, or nobody else, has only one."""
    theory = parse(EXCLUSION, READERS.schema)
    found = flips(theory, READERS)
    # Women without primary education have neither at first and both then; of men nothing says so.
    expected = (READERS.column("sex") == 1) & (READERS.column("education") != 0)
    assert found == [Flip("quality", "tabloid", int(expected.sum()))]
    iterated = flips(theory.with_inference(UntilStable(4)), READERS)
    assert iterated == found


def test_sports_does_not_flip_quality_since_no_rule_for_quality_tests_it():
    theory = parse(
        EXCLUSION.replace("quality <- not tabloid", "quality <- sex = Male"), READERS.schema
    )
    assert flips(theory, READERS) == []


def test_the_chapters_readers_have_no_flips_in_the_first_round():
    assert flips(stacked(), READERS) == []


def test_rule_sets_have_no_rule_that_flips():
    text = EXCLUSION.replace("layer 2:", "layer 2:\nin any order:")
    assert flips(parse(text, READERS.schema), READERS) == []


def test_only_layers_flip():
    with pytest.raises(
        ValueError, match="between the layers of a LayeredTheory, not of a DecisionList"
    ):
        flips(golden("magazines-sbr-1"), READERS)


def test_usual_label_sets_are_no_dependencies():
    schema = Schema([Feature("a")], ["k", "l"])
    text = "in any order:\nk +2 <- a > 1\nl +1 <- true\nusual label sets:\n{k, l} +1\n{k} +1"
    graph = label_graph(parse(text, schema))
    assert (graph.edges(), graph.n_label_sets) == ([], 1)
    assert "not counted: 1 usual label set of labels that are decided together" in str(graph)
    layered = parse(f"layer 1:\n{text}\nlayer 2:\nk <- l", schema)
    assert label_graph(layered).n_label_sets == 1
