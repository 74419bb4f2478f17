"""Tables with planted rules are what they promise."""

import numpy as np
import pytest

from labelrules import planted


@pytest.mark.parametrize("density", [None, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_without_noise_the_planted_rules_predict_every_label(seed, density):
    data, theory = planted(500, 4, 4, 6, head_size=2, missing=0.1, density=density, seed=seed)
    assert (theory.predict(data) == data.Y).all()
    assert data.is_sparse == (density is not None)


def test_the_forms_asked_for_are_there():
    _, theory = planted(n_rules=5, n_local=3, n_global=2, head_size=2, seed=3)
    dependence = [rule.form.dependence for rule in theory]
    assert dependence == ["independent"] * 5 + ["partial"] * 3 + ["full"] * 2
    assert {len(rule.head) for rule in theory} == {2}


def test_noise_flips_its_share_of_cells():
    data, theory = planted(5000, noise=0.1, seed=1)
    share = (theory.predict(data) != data.Y).mean()
    assert 0.09 < share < 0.11


def test_missing_and_density_are_shares_of_cells():
    data, _ = planted(5000, missing=0.2, seed=1)
    assert 0.19 < np.isnan(data.X).mean() < 0.21
    data, _ = planted(5000, density=0.05, seed=1)
    assert 0.03 < data.X.nnz / (5000 * 10) < 0.06


def test_the_seed_decides():
    first, again, other = (planted(50, seed=seed) for seed in (4, 4, 5))
    assert first == again
    assert first[0] != other[0]


def test_wide_sparse_tables_are_never_dense():
    data, theory = planted(2000, 47_236, 0, 20, density=0.001, n_rules=30, seed=0)
    assert data.X.nnz < 200_000
    assert theory.predict(data).shape == (2000, 20)


def test_impossible_wishes_are_refused():
    with pytest.raises(ValueError, match="noise is a share between 0 and 1, not 2"):
        planted(noise=2)
    with pytest.raises(ValueError, match="need at least two labels"):
        planted(n_labels=1)
