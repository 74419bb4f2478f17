"""Exact tests and their corrections."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelrules.constraints import adjusted, fisher
from labelrules.constraints.significance import checked_alpha

ALTERNATIVES = ("greater", "less")


@st.composite
def overlaps(draw, max_rows=60):
    n_rows = draw(st.integers(1, max_rows))
    first, second = draw(st.integers(0, n_rows)), draw(st.integers(0, n_rows))
    both = draw(st.integers(max(0, first + second - n_rows), min(first, second)))
    return both, first, second, n_rows


def by_scipy(both, first, second, n_rows, alternative):
    table = [[both, first - both], [second - both, n_rows - first - second + both]]
    return stats.fisher_exact(table, alternative=alternative).pvalue


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(overlaps())
def test_fisher_is_that_of_scipy(alternative, counts):
    found = float(fisher(*counts, alternative))
    assert found == pytest.approx(by_scipy(*counts, alternative), rel=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_fisher_is_that_of_scipy_on_large_tables(alternative):
    """Far tails too, where probabilities are near the smallest there are."""
    cases = [
        (900, 1000, 5000, 10_000),
        (500, 1000, 5000, 10_000),
        (400, 1000, 5000, 10_000),
        (70, 300, 2000, 43_907),
        (0, 300, 2000, 43_907),
        (1, 2, 3, 1_000_000),
    ]
    for counts in cases:
        found = float(fisher(*counts, alternative))
        assert found == pytest.approx(by_scipy(*counts, alternative), rel=1e-8), counts


def test_fisher_takes_many_tables_at_once():
    found = fisher([[1, 2], [3, 0]], first=[[3, 3], [3, 3]], second=4, n_rows=14)
    alone = [[float(fisher(both, 3, 4, 14)) for both in row] for row in [[1, 2], [3, 0]]]
    assert found.tolist() == alone


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((4, 3, 5, 10), "of 10 rows, 3 and 5 cannot have 4 in common"),
        ((1, 6, 6, 10), "of 10 rows, 6 and 6 cannot have 1 in common"),
        ((-1, 3, 5, 10), "whole numbers from 0"),
        ((0.5, 3, 5, 10), "whole numbers from 0"),
        ((1, 2, 3, 10.7), "n_rows must be a whole number of at least 0, not 10.7"),
    ],
)
def test_counts_that_cannot_be_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        fisher(*counts)


def test_an_unknown_alternative_is_refused():
    with pytest.raises(ValueError, match="did you mean 'greater'"):
        fisher(1, 2, 3, 4, "grater")


@pytest.mark.parametrize("correction", ["holm", "benjamini-hochberg"])
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 20))
def test_tests_that_are_not_handed_over_count(correction, p, n_more):
    """As if they were given, with the largest of probabilities."""
    handed = adjusted(np.array(p), correction, len(p) + n_more)
    every = adjusted(np.array(p + [1.0] * n_more), correction)[: len(p)]
    assert handed == pytest.approx(every)


def test_there_may_be_more_tests_than_a_float_can_hold():
    assert adjusted(np.array([1e-300, 0.5]), "holm", 3**5000).tolist() == [1.0, 1.0]


def test_there_are_no_fewer_tests_than_probabilities():
    with pytest.raises(ValueError, match="2 tests or more"):
        adjusted(np.array([0.1, 0.2]), "holm", 1)


@pytest.mark.parametrize("correction", [None, "holm", "benjamini-hochberg"])
def test_a_list_of_probabilities_will_do(correction):
    p = [0.01, 0.02]
    assert adjusted(p, correction).tolist() == adjusted(np.array(p), correction).tolist()


@pytest.mark.parametrize("alpha", [".05", None, True, float("nan"), 0, 1])
def test_a_level_of_significance_is_a_number(alpha):
    """A text ended in a comparison of Python that told nothing of alpha."""
    with pytest.raises(ValueError, match="alpha must be "):
        checked_alpha(alpha)
