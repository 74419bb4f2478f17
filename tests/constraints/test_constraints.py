"""Constraints among labels: what is found is so, and nothing that is so is left out."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

import labelrules
from labelrules import Dataset, Schema, load, parse
from labelrules.constraints import adjusted, find_constraints
from labelrules.data import DataError, read_mulan, write_mulan
from labelrules.rules import Body, Condition, Head, Rule
from twins.constraints import constraints, models, n_tests_of_pairs


def boards(max_rows=14, max_labels=5):
    def of_size(size):
        row = st.lists(st.sampled_from([0, 0, 1]), min_size=size, max_size=size)
        return st.lists(row, min_size=1, max_size=max_rows)

    return st.integers(1, max_labels).flatmap(of_size)


def listed(found):
    """As the twin lists them; of an exclusion only which labels, since all are alike in it."""
    return {((*one.body, one.label), one.present): (one.support, one.exceptions) for one in found}


@given(boards(), st.integers(1, 3), st.sampled_from([0, 0.1, 0.25, 0.3, 0.4]), st.integers(1, 3))
def test_what_is_found_is_what_brute_force_finds(rows, max_conditions, tolerance, min_support):
    found = find_constraints(
        rows, max_conditions=max_conditions, tolerance=tolerance, min_support=min_support
    )
    slow = constraints(rows, max_conditions, tolerance, min_support)
    pairs = {key: slow[key] for key in slow if len(key[0]) == 2 and not key[1]}
    ours = listed(found)
    # The twin takes the first of the rarest bodies, in the order of the members; so do we.
    assert {
        frozenset(members) for members, present in ours if not present and len(members) == 2
    } == {frozenset(members) for members, _ in pairs}
    assert ours == slow


@given(boards(), st.integers(1, 3), st.sampled_from([0, 0.25, 0.4]))
def test_an_exclusion_knows_its_rows_whichever_label_is_told(rows, max_conditions, tolerance):
    board = np.array(rows)
    for one in find_constraints(rows, max_conditions=max_conditions, tolerance=tolerance):
        assert bool(one.turned) == (one.kind == "exclusion")
        assert len(one.turned_rules) == (len(one.body) if one.kind == "exclusion" else 0)
        for rule in one.turned_rules:
            covered = rule.body.covers(np.empty((len(board), 0)), board)
            ((label, value),) = rule.head
            right = board[covered, label] == value
            assert rule.evidence_for(label) == (right.sum(), (~right).sum())


@given(boards(), st.integers(1, 3), st.integers(1, 3))
def test_probabilities_are_those_of_scipy_and_corrected_for_all_that_was_looked_at(
    rows, max_conditions, min_support
):
    found = find_constraints(rows, max_conditions=max_conditions, min_support=min_support)
    board = np.array(rows)
    for one in found:
        members = [*one.body, one.label]
        ways = [one.label] if one.present else members
        tests = []
        for head in ways:
            body = board[:, [j for j in members if j != head]].all(axis=1)
            table = [
                [
                    (body & (board[:, head] == value)).sum(),
                    (~body & (board[:, head] == value)).sum(),
                ]
                for value in (1, 0)
            ]
            tests.append(stats.fisher_exact(table, "greater" if one.present else "less").pvalue)
        assert one.p == pytest.approx(max(tests), rel=1e-9)
    p = np.array([one.p for one in found])
    np.testing.assert_allclose([one.corrected for one in found], adjusted(p, "holm", found.n_tests))
    if max_conditions == 1:
        assert found.n_tests == n_tests_of_pairs(rows, min_support)


@given(boards(max_labels=6))
def test_the_graph_says_as_much_as_all_pairs_and_nothing_twice(rows):
    found = find_constraints(rows)
    n_labels, graph = found.schema.n_labels, found.graph()
    number = found.schema.label_index
    circles = [rule for group in found.equivalences for rule in group.rules]
    links = [link.constraint.rule for link in (*graph.subsets, *graph.exclusions)]
    said = models([*circles, *links], n_labels)
    assert said == models(found.rules(), n_labels)
    for left_out in links:
        rest = [rule for rule in links if rule is not left_out]
        assert models([*circles, *rest], n_labels) != said
    for link in graph.subsets:
        below, above = (number[node[0]] for node in (link.below, link.above))
        assert all(row[above] for row in rows if row[below])
    assert graph.n_left_out == len(found) - len(links) - sum(len(r.head) for r in circles)


@given(boards(max_labels=6), st.sampled_from([0, 0.2, 0.4]))
def test_groups_are_counted_and_hold_every_exclusion_that_has_a_third(rows, tolerance):
    found = find_constraints(rows, tolerance=tolerance)
    board = np.array(rows)
    pairs = {frozenset((*one.body, one.label)) for one in found.of_kind("exclusion")}
    for group in found.groups:
        members = board[:, list(group.members)].sum(axis=1)
        assert (group.support, group.exceptions) == ((members > 0).sum(), (members > 1).sum())
        assert len(group.members) > 2
        assert all({a, b} in pairs for a in group.members for b in group.members if a < b)
        others = set(range(found.schema.n_labels)) - set(group.members)
        assert not any(all({j, m} in pairs for m in group.members) for j in others)
    for pair in pairs:
        thirds = [
            j for j in range(found.schema.n_labels) if all({j, member} in pairs for member in pair)
        ]
        assert any(pair <= set(group.members) for group in found.groups) == bool(thirds)
    for group in found.equivalences:
        n_present = board[:, list(group.members)].sum(axis=1)
        some = (n_present > 0) & (n_present < len(group.members))
        assert (group.support, group.exceptions) == ((n_present > 0).sum(), some.sum())
        assert group.exceptions == 0 or tolerance


@given(boards(max_labels=6), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    first, second = (
        find_constraints(rows, max_conditions=2),
        find_constraints(shuffled, max_conditions=2),
    )
    assert first.found == second.found
    assert str(first) == str(second)


def test_every_form_of_labels_gives_the_same():
    import pandas as pd

    readers = load("magazines")
    names = readers.schema.labels
    forms = [
        pd.DataFrame(readers.Y, columns=names),
        readers.label_sets(),
        readers.Y.tolist(),
        sparse.csr_array(readers.Y),
    ]
    expected = find_constraints(readers, max_conditions=2)
    for form in forms:
        given_names = None if isinstance(form, pd.DataFrame) else names
        assert (
            find_constraints(form, max_conditions=2, label_names=given_names).found
            == expected.found
        )


def test_rules_print_and_parse_with_their_evidence():
    found = find_constraints(load("magazines"), max_conditions=2, tolerance=0.3)
    rules = found.rules()
    text = labelrules.theory_text(rules, evidence=True)
    again = parse(text, found.schema)
    assert again == rules
    assert [rule.evidence for rule in again] == [rule.evidence for rule in rules]
    assert sum(len(rule.head) for rule in rules) == len(found)


def test_the_frame_has_everything():
    Y = [{"a", "b"}, {"a", "b"}, {"c"}, {"d"}, {"c", "e"}]
    found = find_constraints(Y)
    frame = found.to_frame()
    assert len(frame) == len(found) + len(found.equivalences) + len(found.groups)
    assert list(frame.columns) == list(found.as_dict())
    (same,) = frame[frame.kind == "equivalence"].constraint
    assert same == "b <- a; a <- b"
    assert json.loads(frame.head(1).to_json(orient="records"))[0]["support"] == 2


def test_a_label_that_all_rows_have_or_none_has_no_constraints():
    found = find_constraints([[1, 0, 1], [1, 0, 0], [1, 0, 1]])
    assert len(found) == found.n_tests == 0
    assert "0 constraints" in str(found)
    assert str(found.graph()) == ""


def hierarchical(n_rows, parents, seed=0):
    """Rows of labels that have their parents with them."""
    random = np.random.default_rng(seed)
    labels = [f"L{j}" for j in range(len(parents))]
    schema = Schema([], labels, [None if p is None else labels[p] for p in parents])
    Y = np.zeros((n_rows, len(parents)), dtype=np.int8)
    for row in range(n_rows):
        for label in random.choice(len(parents), 2):
            while label is not None:
                Y[row, label] = 1
                label = parents[label]
    return Dataset(schema, np.zeros((n_rows, 0)), Y)


def test_a_hierarchy_from_a_label_xml_is_recovered(tmp_path):
    parents = [None, 0, 0, 1, 1, None, 5, 6]
    data = hierarchical(400, parents)
    data = labelrules.dataset(np.zeros((400, 1)), data.Y, label_names=data.schema.labels)
    schema = Schema(
        data.schema.features,
        data.schema.labels,
        [None if p is None else f"L{p}" for p in parents],
    )
    write_mulan(Dataset(schema, data.X, data.Y), tmp_path / "tree.arff")
    again = read_mulan(tmp_path / "tree.arff")
    found = find_constraints(again, alpha=0.05)
    assert [(d.child, d.parent) for d in found.hierarchy] == [
        (f"L{j}", f"L{p}") for j, p in enumerate(parents) if p is not None
    ]
    assert all(d.found and d.exceptions == 0 for d in found.hierarchy)
    graph = found.graph()
    assert {(x.below, x.above) for x in graph.subsets} == {
        ((d.child,), (d.parent,)) for d in found.hierarchy
    }
    assert all(one.known for one in found.of_kind("subset"))


def test_a_hierarchy_that_the_rows_do_not_keep_is_told():
    data = hierarchical(60, [None, 0, 1])
    Y = data.Y.copy()
    Y[np.flatnonzero(Y[:, 1])[:1], 0] = 0
    found = find_constraints(Dataset(data.schema, data.X, Y))
    first, second = found.hierarchy
    assert (first.found, first.exceptions) == (False, 1)
    assert (second.found, second.exceptions) == (True, 0)


@pytest.mark.parametrize(
    ("name", "n_subsets", "n_exclusions"),
    [("yeast", 3, 2), ("enron", 7, 703), ("medical", 14, 927), ("genbase", 19, 315)],
)
def test_the_constraints_of_real_data_are_those_counted_row_by_row(
    name, n_subsets, n_exclusions, data_folder
):
    data = load(name, data_folder)
    found = find_constraints(data)
    assert len(found.of_kind("subset")) == n_subsets
    assert len(found.of_kind("exclusion")) == n_exclusions
    rows = [frozenset(np.flatnonzero(row).tolist()) for row in data.Y]
    sets = [{i for i, row in enumerate(rows) if j in row} for j in range(data.schema.n_labels)]
    subsets = {
        (b, a)
        for a, of_a in enumerate(sets)
        for b, of_b in enumerate(sets)
        if a != b and of_b <= of_a
    }
    apart = {
        frozenset((a, b))
        for a, of_a in enumerate(sets)
        for b, of_b in enumerate(sets)
        if a != b and not of_a & of_b
    }
    assert {(*one.body, one.label) for one in found.of_kind("subset")} == subsets
    assert {frozenset((*one.body, one.label)) for one in found.of_kind("exclusion")} == apart
    for one in found:
        assert one.support == len(sets[one.body[0]])
        assert one.exceptions == 0


def test_topics_of_enron_are_below_company_business(data_folder):
    """A mail has a topic (C) if it is about company business (A.A1), annotators were told."""
    data = load("enron", data_folder)
    assert set(data.schema.parents) == {None}  # its XML has no hierarchy
    found = find_constraints(data, tolerance=0.1, alpha=0.05)
    below = {link.below[0] for link in found.graph().subsets if link.above == ("A.A1",)}
    topics = {label for label in data.schema.labels if label.startswith("C.")}
    assert topics - below == {"C.C13"}  # seven mails, four of them about business
    assert below - topics == {"B.B4", "B.B6"}


def test_the_hierarchy_in_the_names_of_enron_is_recovered(data_folder):
    """With the groups A to D as labels, as in hierarchical versions of the set."""
    data = load("enron", data_folder)
    groups = ["A", "B", "C", "D"]
    parents = [*([None] * 4), *(label[0] for label in data.schema.labels)]
    members = [[label[0] == group for label in data.schema.labels] for group in groups]
    above = np.column_stack([data.Y[:, chosen].any(axis=1) for chosen in members])
    schema = Schema([], [*groups, *data.schema.labels], parents)
    Y = np.hstack([above, data.Y]).astype(np.int8)
    found = find_constraints(Dataset(schema, np.zeros((len(Y), 0)), Y))
    assert len(found.hierarchy) == 53
    assert all(d.found and d.exceptions == 0 for d in found.hierarchy)


def test_pairs_of_983_labels(data_folder):
    data = load("delicious", data_folder)
    every = find_constraints(data, groups=False)
    assert every[0].labels == ("TAG_ubuntu", "TAG_linux")
    both = (sparse.csr_array(data.Y).astype(int).T @ sparse.csr_array(data.Y).astype(int)).toarray()
    assert len(every.of_kind("exclusion")) == (np.triu(both == 0, 1)).sum()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"tolerance": 0.5},
            "tolerance must be a share of exceptions from 0 to below 0.5, not 0.5",
        ),
        ({"tolerance": -0.1}, "tolerance must be"),
        ({"tolerance": "much"}, "tolerance must be"),
        ({"tolerance": float("nan")}, "tolerance must be"),
        ({"min_support": 0}, "min_support must be a whole number of at least 1, not 0"),
        ({"min_support": 2.5}, "min_support must be a whole number"),
        ({"max_conditions": 0}, "max_conditions must be a whole number of at least 1, not 0"),
        ({"max_conditions": True}, "max_conditions must be a whole number"),
        ({"alpha": 0}, "alpha must be a number between 0 and 1"),
        ({"correction": "bonferroni"}, "correction must be"),
        ({"label_names": ["a"]}, "leave label_names out"),
        ({"max_conditions": 3, "max_sets": 2}, "more than 2 label sets of up to 2 labels occur"),
    ],
)
def test_malformed_requests_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        find_constraints(load("magazines"), **options)


def test_no_labels_and_no_rows_are_refused():
    with pytest.raises(DataError, match="0 rows and 2 labels"):
        find_constraints(np.zeros((0, 2)))
    with pytest.raises(DataError, match="3 rows and 0 labels"):
        find_constraints(np.zeros((3, 0)))
    with pytest.raises(DataError, match="a label is 0 or 1"):
        find_constraints([[0, 2]])
    with pytest.raises(DataError, match="2 columns but 3 label names"):
        find_constraints([[0, 1]], label_names=["a", "b", "c"])


def test_a_constraint_is_a_rule():
    (one,) = find_constraints([[1, 1], [1, 0], [0, 0]])
    assert one.rule == Rule(Head({0: 1}, 2), Body([Condition.label(1)]))
    assert one.rule.evidence[0] == (1, 0)
    assert one.rule.form.constraint == one.kind == "subset"
    assert str(one) == "y0 <- y1  (1 row, p = 1)"


@pytest.mark.parametrize("tolerance", [0, 0.4])
def test_among_labels_that_have_nothing_to_do_with_each_other_little_is_significant(tolerance):
    """Tables of independent labels: at most a twentieth of them have any significant constraint."""
    random = np.random.default_rng(0)
    shares = [0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8]
    n_wrong = 0
    for _ in range(200):
        Y = (random.random((100, len(shares))) < shares).astype(np.int8)
        n_wrong += len(find_constraints(Y, tolerance=tolerance, max_conditions=2, alpha=0.05)) > 0
    assert n_wrong <= 10


def test_one_label_is_not_several():
    """It was said that there are 0 constraints "between 1 labels"."""
    assert str(find_constraints([[1], [0]])).startswith("0 constraints between 1 label in 2 rows")
