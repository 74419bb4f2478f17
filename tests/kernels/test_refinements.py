"""Counting the rows of refinements on packed bits; also run uncompiled."""

import numpy as np
import pytest

from labelrules.kernels.mining.bits import count_conditions, phi_coefficients
from labelrules.mining.items import packed_rows, unpacked_rows


@pytest.mark.parametrize("n_rows", [1, 5, 63, 64, 65, 200])
def test_counts_are_those_of_masks(n_rows):
    rng = np.random.default_rng(n_rows)
    group = rng.random(n_rows) < 0.7
    conditions = rng.random((4, n_rows)) < 0.5
    columns = rng.random((3, n_rows)) < 0.4
    conditions[0] = True
    counts = np.full((4, 4), -1, dtype=np.int32)
    least = n_rows // 4
    count_conditions(
        packed_rows(group),
        np.array([packed_rows(rows) for rows in conditions]),
        np.array([packed_rows(rows) for rows in columns]),
        least,
        counts,
    )
    for condition, found in zip(conditions, counts.tolist(), strict=True):
        refined = group & condition
        expected = [int((refined & column).sum()) for column in columns]
        if refined.sum() < least:
            expected = [0] * len(columns)
        assert found == [int(refined.sum()), *expected]


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 130])
def test_rows_are_packed_and_unpacked(n_rows):
    rows = np.random.default_rng(0).random(n_rows) < 0.5
    packed = packed_rows(rows)
    assert packed.dtype == np.uint64
    assert len(packed) == -(-n_rows // 64)
    np.testing.assert_array_equal(unpacked_rows(packed, n_rows), rows)


def test_coefficients_are_correlations():
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (3, 20, 4))
    Y[1, :, 2] = 1  # a label that does not vary
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    counts = np.array(
        [
            [20, *group.sum(axis=0), *((group[:, i] & group[:, j]).sum() for i, j in pairs)]
            for group in Y
        ]
    )
    found = phi_coefficients(counts, 4)
    for group, row in zip(Y, found, strict=True):
        for (i, j), value in zip(pairs, row.tolist(), strict=True):
            varies = len(set(group[:, i])) == len(set(group[:, j])) == 2
            expected = np.corrcoef(group[:, i], group[:, j])[0, 1] if varies else 0.0
            assert value == pytest.approx(expected)
