"""Tests for dependence between labels, against SciPy and against definitions written out."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from extras import pd
from labelrules import dataset, load
from labelrules.learners import (
    Dependence,
    SeparateAndConquer,
    conditional_dependence,
    unconditional_dependence,
)
from labelrules.learners.dependence import adjusted, gained_and_lost, mcnemar

boards = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=25
    ).map(np.array)
)


@given(boards)
def test_chi_square_is_that_of_scipy(Y):
    found = unconditional_dependence(Y, correction=None)
    for i, j in combinations(range(Y.shape[1]), 2):
        table = np.array(
            [[((Y[:, i] == a) & (Y[:, j] == b)).sum() for b in (0, 1)] for a in (0, 1)]
        )
        if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
            assert (found.statistic[i, j], found.p[i, j]) == (0.0, 1.0)
            continue
        expected = stats.chi2_contingency(table, correction=False)
        np.testing.assert_allclose(found.statistic[i, j], expected.statistic, atol=1e-9)
        np.testing.assert_allclose(found.p[i, j], expected.pvalue, atol=1e-9)
        assert found.p[i, j] == found.p[j, i]
        assert found.corrected[i, j] == found.corrected[j, i]


@given(st.lists(st.floats(0, 1), max_size=8).map(np.array))
def test_corrections(p):
    if len(p):
        expected = stats.false_discovery_control(p)
        np.testing.assert_allclose(adjusted(p, "benjamini-hochberg"), expected)
    holm = adjusted(p, "holm")
    n, order = len(p), np.argsort(p, kind="stable")
    for rank, place in enumerate(order):
        raised = max((n - k) * p[order[k]] for k in range(rank + 1))
        assert holm[place] == min(1.0, raised)
    np.testing.assert_array_equal(adjusted(p, None), p)
    assert (adjusted(p, "benjamini-hochberg") <= holm + 1e-12).all()


@given(st.integers(0, 12), st.integers(0, 12))
def test_mcnemar_is_the_exact_binomial_test(gained, lost):
    n = gained + lost
    chances = [comb(n, k) / 2**n for k in range(n + 1)]
    expected = sum(c for c in chances if c <= chances[gained] * (1 + 1e-9))
    assert mcnemar(gained, lost) == pytest.approx(expected)
    assert mcnemar(gained, lost) == mcnemar(lost, gained)


def test_gained_and_lost():
    before, after = np.array([1, 1, 0, 0, 0], bool), np.array([1, 0, 1, 1, 0], bool)
    assert gained_and_lost(before, after) == (2, 1)


def related(n_rows=300):
    """Two labels are equal but for noise, and features do not tell them; the third is alone."""
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 3))
    hidden = rng.random(n_rows) < 0.5
    Y = np.column_stack([hidden, hidden ^ (rng.random(n_rows) < 0.05), X[:, 0] > 0.5])
    return dataset(X, Y.astype(int), label_names=["a", "b", "c"])


def test_dependence_beyond_the_features():
    found = conditional_dependence(related(), SeparateAndConquer(), n_folds=3)
    names = [(pair.label, pair.on) for pair in found.pairs() if pair.significant]
    assert sorted(names) == [("a", "b"), ("b", "a")]
    assert found.statistic[0, 1] > 50
    assert found.order()[:2] in {(0, 1), (1, 0)}
    assert "a on b: p = " in str(found)


def test_dependence_that_the_features_explain_is_not_conditional():
    """Both labels follow from the same feature: it tells all that the other one could."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    data = dataset(X, np.column_stack([X[:, 0] > 0.5, X[:, 0] > 0.4]).astype(int))
    assert unconditional_dependence(data).significant[0, 1]
    assert not conditional_dependence(data, SeparateAndConquer(), n_folds=3).significant.any()


def test_the_statistic_is_the_number_of_rows_won():
    """Knowing b, the learner is right about a in all rows but those with noise."""
    data = related(60)
    found = conditional_dependence(data, SeparateAndConquer(), n_folds=2, correction=None)
    n = len(data)
    assert found.statistic.shape == (3, 3)
    assert (np.abs(found.statistic) <= n).all()
    assert (found.corrected[~np.eye(3, dtype=bool)] == found.p[~np.eye(3, dtype=bool)]).all()


def test_pairs_as_a_frame():
    found = unconditional_dependence(load("magazines"))
    frame = pd.DataFrame(found.as_dict())
    assert list(frame.columns) == ["label", "on", "statistic", "p", "corrected", "significant"]
    assert len(frame) == 6
    assert frame.p.is_monotonic_increasing
    assert (
        len(pd.DataFrame(conditional_dependence(related(30), SeparateAndConquer()).as_dict())) == 6
    )


def test_labels_in_any_form():
    readers = load("magazines")
    by_array = unconditional_dependence(readers.Y)
    assert by_array.labels == ("y0", "y1", "y2", "y3")
    by_frame = unconditional_dependence(pd.DataFrame(readers.Y, columns=list("abcd")))
    assert by_frame.labels == ("a", "b", "c", "d")
    by_set = unconditional_dependence(readers.label_sets())
    assert by_set.labels == ("fashion", "quality", "sports", "tabloid")
    np.testing.assert_array_equal(by_array.p, by_frame.p)
    np.testing.assert_array_equal(by_array.p, unconditional_dependence(readers).p)


def test_a_long_list_is_cut():
    rng = np.random.default_rng(0)
    Y = np.repeat(rng.integers(0, 2, (200, 1)), 8, axis=1)
    assert str(unconditional_dependence(Y)).splitlines()[-1] == "  ... and 8 more"


# ---------------------------------------------------------------- orders


def with_strength(strength):
    strength = np.array(strength, float)
    p = np.where(strength > 0, 0.0, 1.0)
    names = tuple(f"l{i}" for i in range(len(strength)))
    return Dependence("conditional", names, strength, p, p, 0.05)


def test_an_order_begins_with_the_label_of_most_use_and_follows_the_strongest_dependence():
    # l0 depends on l2 strongly and on l1 weakly; l1 on l2; l3 on nobody, and nobody on it.
    found = with_strength([[0, 1, 5, 0], [0, 0, 3, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    assert found.order() == (2, 0, 1, 3)


def test_an_order_begins_anew_with_labels_that_have_nothing_to_do_with_the_others():
    found = with_strength([[0, 0, 0, 9], [0, 0, 4, 0], [0, 5, 0, 0], [8, 0, 0, 0]])
    assert found.order() == (3, 0, 1, 2)
    assert with_strength(np.zeros((3, 3))).order() == (0, 1, 2)


@given(boards)
def test_an_order_has_each_label_once(Y):
    assert sorted(unconditional_dependence(Y, correction=None, alpha=0.5).order()) == [
        *range(Y.shape[1])
    ]


# ---------------------------------------------------------------- errors


def test_bad_input():
    with pytest.raises(ValueError, match="a label is 0 or 1"):
        unconditional_dependence([[0, 2]])
    with pytest.raises(ValueError, match="correction must be 'holm'"):
        unconditional_dependence([[0, 1]], correction="bonferroni")
    with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
        unconditional_dependence([[0, 1]], alpha=1)
    with pytest.raises(ValueError, match=r"data must be a Dataset, not list: use dataset\(X, Y\)"):
        conditional_dependence([[1]])
