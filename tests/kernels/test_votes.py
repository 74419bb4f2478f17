"""Votes of the bodies of a row on packed bits; also run uncompiled."""

import numpy as np
import pytest

from labelrules.kernels.mining.bits import score_rows, votes_of
from labelrules.mining.items import packed_rows
from twins import associative as naive


def rows_of(mask):
    return set(np.flatnonzero(mask).tolist())


@pytest.mark.parametrize("longest", [1, 2, 3])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_single_bodies(longest, left_out, seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(3, 70))
    items = rng.random((6, n_rows)) < 0.6
    Y = (rng.random((n_rows, 3)) < [0.2, 0.5, 1.0]).astype(np.int8)
    held = [np.flatnonzero(row) for row in items.T]
    scores = np.full((n_rows, 3), np.nan)
    score_rows(
        np.array([packed_rows(item) for item in items]),
        np.array([packed_rows(label == 1) for label in Y.T]),
        np.concatenate([[0], np.cumsum([len(own) for own in held])]),
        np.concatenate(held).astype(np.int32),
        np.arange(n_rows) if left_out else np.full(n_rows, -1),
        np.ones(n_rows, np.int64),
        Y,
        2,
        longest,
        1.5,
        scores,
    )
    for row in range(n_rows):
        everything = set(range(n_rows)) - ({row} if left_out else set())
        for label in range(3):
            ones = rows_of(Y[:, label] == 1) & everything
            sets = [rows_of(item) & everything for item in items]
            expected = naive.score(held[row], sets, ones, everything, 2, longest, 1.5)
            assert scores[row, label] == pytest.approx(expected)


def test_votes_of_counts():
    shares, weights = np.empty((2, 1)), np.empty((2, 1))
    votes_of(np.array([[4, 3], [8, 4]]), np.array([8, 4]), 1.0, shares, weights)
    assert shares.ravel().tolist() == pytest.approx([3.5 / 5, 4.5 / 9])
    assert weights.ravel().tolist() == pytest.approx([0.5, 0.0])  # one body is everything
