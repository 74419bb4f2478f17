"""Subgroups with exceptional labels, against looking at every body."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import Dataset, Feature, Head, Schema, load, parse
from labelrules.mining import subgroups
from labelrules.mining.limits import minimum_count
from labelrules.mining.subgroup_search import Vocabulary
from labelrules.mining.subgroup_values import (
    DependenceChange,
    Divergence,
    RelativeAccuracy,
)
from twins import subgroups as naive


@st.composite
def tables(draw, n_labels=3):
    """Small tables with numeric and nominal features and missing values; many ties."""
    n_rows = draw(st.integers(2, 14))
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.integers(0, 5, n_rows),
            rng.integers(0, 3, n_rows),
            rng.integers(0, 2, n_rows),
        ]
    ).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    Y = (rng.random((n_rows, n_labels)) < rng.random(n_labels)).astype(np.int8)
    features = [Feature("size"), Feature("color", ("r", "g", "b")), Feature("old", ("n", "y"))]
    return Dataset(Schema(features, [f"l{j}" for j in range(n_labels)]), X, Y)


def expected(data, value, k, depth, least, words=None):
    words = words or Vocabulary("cuts", 3, False, ())
    # Every condition there is, in the order in which ties are settled.
    parts = [part for part, _ in words._all(data)]
    return naive.best_groups(data, parts, value, k, depth, least)


def assert_same(found, wanted):
    assert [group.value for group in found] == pytest.approx([w for w, _, _ in wanted], abs=1e-9)
    assert [group.n_covered for group in found] == [n for _, _, n in wanted]
    assert found.bodies() == [body for _, body, _ in wanted]


ASKED = {"n_cuts": 3, "search": "exact"}


@given(tables(), st.integers(1, 6), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=60)
def test_exact_relative_accuracy_is_that_of_brute_force(data, k, depth, least):
    head = {"l0": 1, "l2": 0}
    found = subgroups(
        data,
        "wracc",
        target=head,
        top=k,
        max_conditions=depth,
        min_coverage=least,
        beam_width=1,
        **ASKED,
    )
    value = partial(naive.wracc, head=[(0, 1), (2, 0)])
    assert_same(found, expected(data, value, k, depth, least))
    assert found.is_complete


@given(tables(), st.integers(1, 6), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=60)
def test_exact_divergence_is_that_of_brute_force(data, k, depth, least):
    found = subgroups(
        data, "kl", top=k, max_conditions=depth, min_coverage=least, beam_width=1, **ASKED
    )
    assert_same(found, expected(data, partial(naive.kl, labels=[0, 1, 2]), k, depth, least))


@given(tables(), st.integers(1, 6), st.integers(1, 3), st.sampled_from(["complement", "all"]))
@settings(max_examples=60)
def test_exact_change_of_dependence_is_that_of_brute_force(data, k, depth, against):
    found = subgroups(
        data,
        "phi",
        top=k,
        max_conditions=depth,
        min_coverage=2,
        against=against,
        beam_width=1,
        **ASKED,
    )
    value = partial(naive.dependence, labels=[0, 1, 2], against=against)
    assert_same(found, expected(data, value, k, depth, 2))


@given(tables(), st.booleans(), st.booleans())
@settings(max_examples=30)
def test_bins_negation_and_given_labels_are_searched_too(data, negated, bins):
    numbers = "bins" if bins else "cuts"
    found = subgroups(
        data,
        given=["l1"],
        top=4,
        max_conditions=2,
        min_coverage=1,
        numbers=numbers,
        negated=negated,
        **ASKED,
    )
    words = Vocabulary(numbers, 3, negated, (1,))
    assert_same(found, expected(data, partial(naive.kl, labels=[0, 2]), 4, 2, 1, words))


@given(tables(), st.sampled_from(["kl", "phi"]))
@settings(max_examples=30)
def test_a_beam_that_keeps_everything_is_exact(data, measure):
    asked = {"top": 5, "max_conditions": 3, "min_coverage": 1, "n_cuts": 3}
    wide = subgroups(data, measure, beam_width=10_000, **asked)
    exact = subgroups(data, measure, search="exact", **asked)
    assert_same(wide, [(g.value, g.body, g.n_covered) for g in exact])


@given(tables(), st.sampled_from(["kl", "wracc", "phi"]))
@settings(max_examples=20)
def test_the_order_of_the_rows_does_not_matter(data, measure):
    target = ["l0"] if measure == "wracc" else None
    turned = data.take(np.arange(data.n_rows)[::-1])
    a, b = (subgroups(d, measure, target=target, min_coverage=1) for d in (data, turned))
    assert_same(a, [(g.value, g.body, g.n_covered) for g in b])


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("least", [1, 2, 3])
def test_the_bound_of_divergence_holds_for_all_parts_and_is_met(seed, least):
    """It is the best of all parts there could be, labels taken one by one."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((12, 3)) < rng.random(3)).astype(np.int8)
    deviation = Divergence(Y, [0, 1, 2])
    covered = rng.permutation(12)[: rng.integers(3, 8)]
    ones = Y[covered].sum(axis=0, dtype=np.int64)
    counts = np.array([[len(covered), *ones]])
    parts = [p for p in naive.parts_of_groups(ones, len(covered) - ones) if p[0] >= least]
    best = deviation.values(np.array(parts)).max()
    assert deviation.reaches(counts, least, best)[0]
    assert not deviation.reaches(counts, least, best + 1e-6)[0]


@pytest.mark.parametrize("least", [1, 2, 5])
def test_the_bound_of_relative_accuracy_holds_and_is_met(least):
    deviation = RelativeAccuracy(np.array([[1]] * 4 + [[0]] * 6), {0: 1})
    for n, p in ((7, 3), (5, 4), (6, 0)):
        parts = [q for q in naive.parts_of_groups([p], [n - p]) if q[0] >= least]
        best = deviation.values(np.array(parts)).max()
        assert deviation.reaches(np.array([[n, p]]), least, best)[0]
        assert not deviation.reaches(np.array([[n, p]]), least, best + 1e-6)[0]


@pytest.mark.parametrize("against_all", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_bound_of_dependence_holds_for_all_parts(seed, against_all):
    rng = np.random.default_rng(seed)
    Y = (rng.random((9, 3)) < 0.5).astype(np.int8)
    deviation = DependenceChange(Y, [0, 1, 2], against_all)
    group = rng.permutation(9)[:7]
    best = 0.0
    for chosen in range(1, 1 << len(group)):
        part = group[[chosen >> i & 1 == 1 for i in range(len(group))]]
        counts = np.array([[len(part), *deviation.columns[:, part].sum(axis=1)]])
        best = max(best, deviation.values(counts)[0])
    counts = np.array([[len(group), *deviation.columns[:, group].sum(axis=1)]])
    assert deviation.reaches(counts, 1, best)[0]


# ---------------------------------------------------------------- what comes out


def test_readers_of_magazines():
    readers = load("magazines")
    found = subgroups(readers, "wracc", target="quality", top=1, search="exact")
    assert str(found).splitlines() == [
        "1 subgroup of 14 rows by wracc, all bodies searched",
        "0.1429, 4 rows: education = University (quality 1.00 instead of 0.50)",
    ]
    rule = found[0].rule
    assert rule == parse("quality <- education = University", readers.schema)[0]
    assert rule.evidence == ((4, 0),)
    assert found.as_dict()["coverage"] == [4 / 14]


def test_rules_have_the_evidence_of_the_rows_of_their_group():
    readers = load("magazines")
    for measure in ("kl", "phi"):
        found = subgroups(readers, measure, min_coverage=2)
        for group in found:
            covered = group.body.covers(readers.X, readers.Y)
            assert covered.sum() == group.n_covered
            for (label, value), evidence in zip(group.rule.head, group.rule.evidence, strict=True):
                right = int((readers.Y[covered, label] == value).sum())
                assert evidence == (right, group.n_covered - right)
                assert evidence.right >= evidence.wrong
        assert found.theory().schema == readers.schema


def test_changes_add_up_to_the_value():
    readers = load("magazines")
    for group in subgroups(readers, "kl"):
        parts = sum(change.weight for change in group.changes)
        assert group.value == pytest.approx(group.n_covered / 14 * parts)
    for group in subgroups(readers, "wracc", target="fashion"):
        (change,) = group.changes
        assert group.value == pytest.approx(group.n_covered / 14 * change.weight)


def test_subgroups_that_overlap_too_much_are_left_out():
    readers = load("magazines")
    everything = subgroups(readers, top=10_000, min_coverage=1, search="exact")
    apart = subgroups(readers, top=3, min_coverage=1, search="exact", max_overlap=0.2)
    kept = []
    for group in everything:
        rows = set(np.flatnonzero(group.body.covers(readers.X, readers.Y)))
        if all(len(rows & other) <= 0.2 * len(rows | other) for _, other in kept):
            kept.append((group.body, rows))
    assert apart.bodies() == [body for body, _ in kept[:3]]


def test_when_too_many_subgroups_overlap_it_says_so(monkeypatch):
    monkeypatch.setattr("labelrules.mining.subgroup_search.WIDEST", 10)
    with pytest.warns(UserWarning, match="max_overlap"):
        found = subgroups(load("magazines"), top=5, min_coverage=1, max_overlap=0.01)
    assert 0 < len(found) < 5


def test_a_planted_subgroup_is_found_and_is_no_chance():
    """Two labels that agree everywhere but where both conditions hold, and differ there."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 4))
    planted = (X[:, 1] > 0.5) & (X[:, 2] <= 0.5)
    a = rng.random(300) < 0.5
    Y = np.column_stack([a, a ^ planted, rng.random(300) < 0.5]).astype(np.int8)
    data = Dataset(Schema([Feature(f"x{j}") for j in range(4)], ["a", "b", "c"]), X, Y)
    found = subgroups(data, "phi", top=1, n_cuts=9, n_permutations=19)
    assert {c.column for c in found[0].body} == {1, 2}
    assert found[0].changes[0].labels == (0, 1)
    assert found[0].p == 0.05
    # The shares of the labels tell nothing: what there is could be chance.
    shares = subgroups(data, "kl", top=1, n_cuts=9, n_permutations=19)
    assert shares[0].p > 0.05


def test_chance_is_counted_over_the_whole_search():
    """With labels by chance p is small no more often than it should be."""
    rng = np.random.default_rng(1)
    small = 0
    for _ in range(40):
        X = rng.random((60, 5))
        Y = (rng.random((60, 2)) < 0.5).astype(np.int8)
        data = Dataset(Schema([Feature(f"x{j}") for j in range(5)], ["a", "b"]), X, Y)
        small += subgroups(data, top=1, n_cuts=3, n_permutations=9)[0].p <= 0.1
    assert small <= 9  # 4 are expected, and more than 9 have a probability below 1 %


def test_sparse_tables_have_the_same_subgroups():
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 5)) * rng.integers(0, 2, (40, 5)).astype(float)
    Y = (rng.random((40, 3)) < 0.4).astype(np.int8)
    schema = Schema([Feature(f"x{j}") for j in range(5)], ["a", "b", "c"])
    dense = subgroups(Dataset(schema, X, Y))
    assert str(subgroups(Dataset(schema, sparse.csc_array(X), Y))) == str(dense)


def test_cuts_divide_the_rows_evenly():
    values = np.random.default_rng(0).normal(size=(1000, 1))
    data = Dataset(Schema([Feature("x")], ["a"]), values, np.zeros((1000, 1)))
    found = Vocabulary("bins", 4, False, ()).selectors(data, 1)
    sizes = [int(np.bitwise_count(bits).sum()) for bits in found.bits]
    assert sizes == [200] * 5
    assert [len(part) for part in found.parts] == [1, 2, 2, 2, 1]


def test_labels_that_are_never_or_always_there_change_nothing():
    readers = load("magazines")
    Y = np.column_stack([readers.Y, np.zeros(14), np.ones(14)]).astype(np.int8)
    schema = Schema(readers.schema.features, [*readers.schema.labels, "never", "always"])
    more = subgroups(Dataset(schema, readers.X, Y), "kl", min_coverage=1)
    plain = subgroups(readers, "kl", min_coverage=1)
    assert [g.value for g in more] == [g.value for g in plain]


# ---------------------------------------------------------------- the door

MALFORMED = {
    "target": ({"measure": "wracc"}, "needs a target"),
    "typo": ({"measure": "wracc", "target": "qualty"}, "did you mean 'quality'"),
    "no name": ({"target": [["quality"]]}, "there is no label"),
    "seed": ({"random_state": -1}, "random_state"),
    "no label": ({"measure": "wracc", "target": []}, "target names no label"),
    "values": ({"measure": "kl", "target": {"quality": 0}}, "only measure 'wracc'"),
    "value": ({"measure": "wracc", "target": {"quality": 2}}, "present .1. or absent .0."),
    "head": ({"measure": "wracc", "target": Head({0: 1}, 2)}, "over 2 labels"),
    "both": ({"target": ["quality"], "given": ["quality"]}, "both in target and in given"),
    "measure": ({"measure": "wrac"}, "did you mean 'wracc'"),
    "against": ({"against": "all"}, "goes with measure 'phi'"),
    "way": ({"measure": "phi", "against": "none"}, "must be 'complement' or 'all'"),
    "one label": ({"measure": "phi", "target": "quality"}, "pairs of labels"),
    "all given": ({"given": ["quality", "tabloid", "fashion", "sports"]}, "no label is left"),
    "search": ({"search": "greedy"}, "'beam' or 'exact'"),
    "numbers": ({"numbers": "thresholds"}, "'cuts' or 'bins'"),
    "top": ({"top": 0}, "top must be a whole number of at least 1"),
    "conditions": ({"max_conditions": 1.5}, "max_conditions must be a whole number"),
    "coverage": ({"min_coverage": 0}, "min_coverage"),
    "share": ({"min_coverage": 1.5}, "min_coverage"),
    "target number": ({"target": 0}, "target must be the name of a label, or several names"),
    "head number": ({"measure": "wracc", "target": 0}, "target must be the name of a label"),
    "given nothing": ({"given": None}, "given must be the name of a label, or several names"),
    "overlap": ({"max_overlap": 0}, "max_overlap"),
    "permutations": ({"n_permutations": -1}, "n_permutations"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_requests_are_refused(name):
    asked, message = MALFORMED[name]
    with pytest.raises(ValueError, match=message):
        subgroups(load("magazines"), **asked)


def test_tables_without_anything_to_compare_are_refused():
    readers = load("magazines")
    with pytest.raises(ValueError, match="must be a Dataset"):
        subgroups(readers.X)
    with pytest.raises(ValueError, match="two rows"):
        subgroups(readers.take([0]))
    bare = readers.without(readers.schema.feature_names)
    with pytest.raises(ValueError, match="no features"):
        subgroups(bare)
    assert len(subgroups(bare, given=["quality"])) > 0


def test_too_many_pairs_of_labels_are_refused(monkeypatch):
    monkeypatch.setattr("labelrules.mining.subgroup_search.MOST_CELLS", 50)
    with pytest.raises(ValueError, match="6 pairs of labels in 14 rows"):
        subgroups(load("magazines"), "phi")


def test_a_search_that_is_too_long_says_so():
    readers = load("magazines")
    with pytest.warns(UserWarning, match="max_visited"):
        found = subgroups(readers, search="exact", max_conditions=3, max_visited=20)
    assert not found.is_complete
    assert "bodies searched" in str(found)


def test_a_search_that_looked_at_all_bodies_was_not_stopped():
    """The data have ten bodies of one condition: with max_visited=10 all are looked at.

    It was said nevertheless that the search had ended "before all were looked at".
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = subgroups(load("magazines"), search="exact", max_conditions=1, max_visited=10)
    assert found.n_bodies == 10
    assert found.is_complete


def test_a_share_of_rows_is_exact():
    """0.07 * 100 is 7.000000000000001 in floating point, and made 8 rows of 7.

    Shares of other precisions were refused, and 1.0 too, which other shares of rows may be.
    """
    shares = [0.07, np.float32(0.1), 1.0, 0.0701, 1e-9]
    assert [minimum_count(share, 100) for share in shares] == [7, 10, 100, 8, 1]
    with pytest.raises(ValueError, match="min_coverage"):
        minimum_count(float("nan"), 100, "min_coverage")
    with pytest.raises(ValueError, match="min_coverage"):
        minimum_count(True, 100, "min_coverage")


def test_one_row_is_not_several():
    """A group of one row was shown as "1 rows"."""
    assert ", 1 row: " in str(subgroups(load("magazines"), top=100, min_coverage=1))


def test_nothing_exceptional_gives_nothing():
    readers = load("magazines")
    same = Dataset(readers.schema, readers.X, np.ones_like(readers.Y))
    found = subgroups(same)
    assert len(found) == len(found.theory()) == 0
    assert str(found).startswith("0 subgroups of 14 rows by kl")
