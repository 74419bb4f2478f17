"""Tallies and confusion matrices against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from labelrules.measures import COUNTINGS, cells, confusion, tally
from twins import measures as naive

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 4))


@st.composite
def tables(draw):
    shape = draw(SHAPES)
    Y = draw(arrays.arrays(np.int8, shape, elements=st.integers(0, 1)))
    board = draw(arrays.arrays(np.int8, shape, elements=st.sampled_from([-1, -1, 0, 1])))
    covered = draw(arrays.arrays(np.bool_, shape[0]))
    return Y, covered, board


@given(tables())
def test_tally_counts_open_cells(table):
    Y, covered, board = table
    for label, found in enumerate(zip(*tally(Y, covered, board), strict=True)):
        rows = [j for j in range(len(Y)) if board[j, label] == -1]
        assert tuple(int(n) for n in found) == (
            sum(Y[j, label] == 1 and covered[j] for j in rows),
            sum(Y[j, label] == 0 and covered[j] for j in rows),
            sum(Y[j, label] == 1 for j in rows),
            sum(Y[j, label] == 0 for j in rows),
        )


@given(tables(), st.sampled_from(COUNTINGS), st.sampled_from([0, 1]))
def test_confusion_of_a_label_is_that_of_its_cells(table, counting, value):
    Y, covered, board = table
    found = confusion(tally(Y, covered, board), value, counting)
    by_cell = confusion(cells(Y, covered, board), value, counting).sum(axis=0)
    for label in range(Y.shape[1]):
        words = [
            naive.outcome(counting, Y[j, label], value, covered[j])
            for j in range(len(Y))
            if board[j, label] == -1
        ]
        assert tuple(int(part[label]) for part in found) == naive.counts_of(words)
        assert tuple(int(part[label]) for part in by_cell) == naive.counts_of(words)


@given(tables())
def test_one_value_per_label(table):
    Y, covered, board = table
    values = np.arange(Y.shape[1]) % 2
    counted = tally(Y, covered, board)
    together = confusion(counted, values)
    for label, value in enumerate(values):
        alone = confusion(counted, value)
        assert [part[label] for part in together] == [part[label] for part in alone]


def test_the_covered_rows_are_all_there_is():
    Y = np.array([[1], [0]], dtype=np.int8)
    counted = tally(Y, np.array([True, True]))
    for counting in ("chapter", "head-relative"):
        assert [int(n[0]) for n in confusion(counted, 1, counting)] == [1, 1, 0, 0]


@pytest.mark.parametrize("counting", COUNTINGS)
def test_every_open_cell_is_counted_once(counting):
    Y = np.array([[1, 0], [0, 0], [1, 1]], dtype=np.int8)
    board = np.array([[-1, 0], [-1, -1], [1, -1]], dtype=np.int8)
    found = confusion(cells(Y, np.array([True, False, True]), board), [1, 0], counting)
    assert np.array_equal(sum(found), board == -1)
