"""Choosing rules for a list on packed bits; also run uncompiled."""

import numpy as np
import pytest

from labelrules.kernels.mining.bits import choose_rules
from labelrules.mining.items import packed_rows, unpacked_rows


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_rows", [5, 64, 70])
def test_rules_are_kept_as_by_hand(seed, n_rows):
    rng = np.random.default_rng(seed)
    items = rng.random((5, n_rows)) < 0.5
    bodies = [sorted(rng.permutation(5)[: rng.integers(1, 4)].tolist()) for _ in range(9)]
    wanted, left = rng.random(n_rows) < 0.4, rng.random(n_rows) < 0.8
    start = np.concatenate([[0], np.cumsum([len(body) for body in bodies])])
    order = rng.permutation(9)
    kept, errors = np.full(9, -1), np.full(10, -1)
    remaining = packed_rows(left)
    n_kept = choose_rules(
        start,
        np.concatenate(bodies).astype(np.int32),
        np.array([packed_rows(item) for item in items]),
        order,
        packed_rows(wanted),
        remaining,
        kept,
        errors,
    )
    expected, n_wrong = [], 0
    wrong_by_number = [min((left & wanted).sum(), (left & ~wanted).sum())]
    for number in order.tolist():
        covered = items[bodies[number]].all(axis=0) & left
        if (covered & wanted).any():
            expected.append(number)
            n_wrong += (covered & ~wanted).sum()
            left = left & ~covered
            rest = min((left & wanted).sum(), (left & ~wanted).sum())
            wrong_by_number.append(n_wrong + rest)
    assert kept[:n_kept].tolist() == expected
    assert errors[: n_kept + 1].tolist() == wrong_by_number
    np.testing.assert_array_equal(unpacked_rows(remaining, n_rows), left)
