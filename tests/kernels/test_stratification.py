"""Iterative stratification equals its slow twin; also run uncompiled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules.lab.stratification import assigned_folds
from twins import stratification as naive


@st.composite
def divisions(draw):
    n_rows, n_labels = draw(st.integers(2, 9)), draw(st.integers(0, 3))
    cells = st.lists(st.sampled_from([0, 1, 1, -1]), min_size=n_labels, max_size=n_labels)
    board = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    n_folds = draw(st.integers(2, min(n_rows, 4)))
    cuts = sorted(
        draw(st.sets(st.integers(1, n_rows - 1), min_size=n_folds - 1, max_size=n_folds - 1))
    )
    sizes = np.diff([0, *cuts, n_rows])
    groups = None
    if draw(st.booleans()):
        n_groups = draw(st.integers(n_folds, n_rows))
        others = st.lists(
            st.integers(0, n_groups - 1), min_size=n_rows - n_groups, max_size=n_rows - n_groups
        )
        groups = draw(st.permutations([*range(n_groups), *draw(others)]))
    order = draw(st.permutations(range(n_rows)))
    return np.array(board, np.int8).reshape(n_rows, n_labels), order, sizes, groups


@settings(max_examples=60, deadline=None)
@given(divisions(), st.booleans(), st.booleans())
def test_folds_are_those_of_the_twin(division, second_order, is_improved):
    board, order, sizes, groups = division
    found = assigned_folds(
        board,
        np.array(order),
        sizes,
        None if groups is None else np.array(groups),
        second_order,
        is_improved,
    )
    expected = naive.folds_of(
        board.tolist(), order, sizes.tolist(), groups, second_order, is_improved
    )
    assert found.tolist() == expected
    if groups is None:
        assert np.bincount(found, minlength=len(sizes)).tolist() == sizes.tolist()
    else:
        assert len({*zip(groups, expected, strict=True)}) == len({*groups})
        assert {*expected} == {*range(len(sizes))}


@pytest.mark.parametrize("second_order", [False, True])
def test_exchanges_bring_shares_closer(second_order):
    random = np.random.default_rng(0)
    board = (random.random((40, 9)) < 0.4).astype(np.int8)
    order, sizes = np.arange(40), np.array([10, 10, 10, 10])
    sums = []
    for is_improved in (False, True):
        folds = assigned_folds(board, order, sizes, None, second_order, is_improved).tolist()
        division = naive.Division(
            *naive.units_of(board.tolist(), order, None, second_order), sizes.tolist(), False
        )
        division.folds = folds
        sums.append(division.squares())
    assert sums[1] < sums[0]
