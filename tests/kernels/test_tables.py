"""Counts by codes against plain Python; also run uncompiled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelrules.kernels.covering import tables
from labelrules.kernels.ripper_codes import covered_by_codes

SIZES = [3, 1, 256, 2, 4, 0]
"""Bins of columns: more than four, so that four are counted together."""

START = np.concatenate([[0], np.cumsum(np.array(SIZES) + 1)])


def packed(cells, ones):
    return (cells << 32) + ones


@st.composite
def coded_rows(draw):
    """Codes, truth, board, and some rows with their sums."""
    n_rows = draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    codes = np.array([rng.integers(0, size + 1, n_rows) for size in SIZES], dtype=np.uint16)
    truth = rng.integers(-1, 2, (3, n_rows)).astype(np.int8)
    board = rng.integers(-1, 2, (3, n_rows)).astype(np.int8)
    rows = np.flatnonzero(rng.random(n_rows) < 0.7).astype(np.int32)
    weights = rng.integers(0, 5, (3, n_rows)).astype(np.int32)
    return codes, truth, board, rows, weights


@given(coded_rows())
def test_each_row_is_added_to_the_cell_of_its_code(case):
    codes, truth, _, rows, weights = case
    sums = np.empty(len(rows), np.int64)
    tables.sums_of(truth[0], weights[0], rows, sums)
    assert sums.tolist() == [
        packed(int(weights[0, row]), int(weights[0, row]) * (truth[0, row] == 1)) for row in rows
    ]
    found = np.zeros(START[-1], np.int64)
    tables.add_rows(codes, START, 0, len(SIZES), rows, sums, found)
    expected = [0] * int(START[-1])
    for row, each in zip(rows.tolist(), sums.tolist(), strict=True):
        for column, own in enumerate(codes):
            expected[START[column] + own[row]] += each
    assert found.tolist() == expected


@given(coded_rows())
def test_the_sum_of_each_row_is_one_number(case):
    codes, _, _, rows, _ = case
    found, expected = np.zeros((2, START[-1]), np.int64)
    tables.add_rows(codes, START, 0, len(SIZES), rows, np.array([7]), found)
    tables.add_rows(codes, START, 0, len(SIZES), rows, np.full(len(rows), 7), expected)
    assert found.tolist() == expected.tolist()


@given(coded_rows())
def test_open_cells_of_other_labels_are_added_up(case):
    _, truth, board, rows, weights = case
    found = np.zeros(3, np.int64)
    tables.add_open(truth, board, weights, rows, found)
    for label in range(3):
        own = [row for row in rows if board[label, row] < 0 <= truth[label, row]]
        expected = [packed(int(weights[label, row]), int(weights[label, row] * truth[label, row]))
                    for row in own]  # fmt: skip
        assert found[label] == sum(expected)


@given(coded_rows(), st.integers(0, 5), st.integers(0, 3), st.booleans(), st.booleans())
def test_rows_are_divided_by_a_condition(case, column, code, outside, is_equality):
    codes, _, board, rows, _ = case
    own, missing = codes[column], SIZES[column]
    kept, rest = np.empty((2, len(rows) + 1), np.int32)
    low = code if is_equality else 0
    n_kept = tables.keep_codes(own, rows, low, code, outside, missing, kept, rest)
    holds = [own[row] != missing and (low <= own[row] <= code) != outside for row in rows.tolist()]
    assert kept[:n_kept].tolist() == [row for row, yes in zip(rows, holds, strict=True) if yes]
    left = len(rows) - n_kept
    assert rest[:left].tolist() == [row for row, yes in zip(rows, holds, strict=True) if not yes]
    n_kept = tables.keep_cells(board[0], rows, 1, kept, rest)
    assert kept[:n_kept].tolist() == [row for row in rows if board[0, row] == 1]
    is_member = np.arange(missing + 1) % 2 == code % 2
    is_member[missing] = False
    n_kept = tables.keep_members(own, rows, is_member, kept, rest)
    assert kept[:n_kept].tolist() == [row for row in rows.tolist() if is_member[own[row]]]
    left = len(rows) - n_kept
    assert rest[:left].tolist() == [row for row in rows.tolist() if not is_member[own[row]]]
    above = [int(own[row]) for row in rows if code < own[row] < missing]
    assert tables.next_code(own, rows, code, missing) == min(above, default=missing)


@given(coded_rows(), st.booleans())
def test_open_rows_and_codes_that_occur(case, waits):
    codes, truth, board, rows, _ = case
    n_rows = codes.shape[1]
    waiting = np.zeros(n_rows if waits else 0, dtype=bool)
    if waits:
        waiting[rows] = True
    found = np.empty(n_rows + 1, np.int32)
    n_open = tables.open_rows(board[1], truth[1], waiting, found)
    counts = waiting if waits else board[1] < 0
    assert found[:n_open].tolist() == np.flatnonzero(counts & (truth[1] >= 0)).tolist()
    present = np.zeros(START[-1], np.uint8)
    tables.mark_present(codes, START, np.array([0, 2]), rows, present)
    marked = {int(START[column] + codes[column, row]) for column in (0, 2) for row in rows}
    assert set(np.flatnonzero(present).tolist()) == marked


@given(st.lists(st.floats(-5, 5) | st.just(np.nan), max_size=30), st.sets(st.floats(-4, 4)))
def test_codes_count_the_cuts_below(values, cuts):
    codes, ordered = np.empty(len(values), np.uint8), np.array(sorted(cuts))
    tables.encode_ordered(np.array(values, dtype=float), ordered, 99, codes)
    expected = [99 if value != value else sum(cut < value for cut in cuts) for value in values]
    assert codes.tolist() == expected
    tables.encode_categories(np.array([2.0, np.nan, 0.0]), 7, codes := np.empty(3, np.uint8))
    assert codes.tolist() == [2, 7, 0]


@pytest.mark.parametrize("nominal", [False, True])
def test_rows_covered_by_cuts_on_codes(nominal):
    codes = np.array([[0, 1, 2, 3, 1]], np.uint8)  # three bins, and a missing value
    cuts = np.array([[0, 0, 1], [0, 1, 0]])
    held, positive = np.array([1, 1, 1, 1, 0], bool), np.array([1, 0, 1, 1, 1], bool)
    counts = np.empty((2, 3), np.int64)
    given = codes, np.array([0, 4]), np.array([nominal], np.int8)
    covered = covered_by_codes(*given, cuts, held, positive, counts)
    first = [0, 1, 0, 0, 1] if nominal else [1, 1, 0, 0, 1]
    second = [0, 0, 0, 0, 0] if nominal else [0, 1, 0, 0, 1]
    assert covered.astype(int).tolist() == [[1] * 5, first, second]
    assert counts[0].tolist() == [4, sum(first[:4]), sum(second[:4])]
