"""Tables with planted rules are what they promise."""

import numpy as np
import pytest

from labelrules import planted


@pytest.mark.parametrize("density", [None, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_without_noise_the_planted_rules_predict_every_label(seed, density):
    data, theory = planted(
        500, 4, 4, 6, head_size=2, missing=0.1, density=density, random_state=seed
    )
    assert (theory.predict(data) == data.Y).all()
    assert data.is_sparse == (density is not None)


def test_the_forms_asked_for_are_there():
    _, theory = planted(n_rules=5, n_local=3, n_global=2, head_size=2, random_state=3)
    dependence = [rule.form.dependence for rule in theory]
    assert dependence == ["independent"] * 5 + ["full"] * 2 + ["partial"] * 3
    assert {len(rule.head) for rule in theory} == {2}


@pytest.mark.parametrize("density", [None, 0.3])
@pytest.mark.parametrize("seed", range(30))
def test_each_rule_writes_and_each_dependency_holds(seed, density):
    data, theory = planted(
        300, n_labels=8, n_local=3, n_global=2, missing=0.05, density=density, random_state=seed
    )
    run = theory.run(data)
    for number, rule in enumerate(theory):
        assert (run.writer == number).any()
        covered = rule.body.covers(data.X, data.Y)
        said = rule.head.vector()
        assert covered.any()
        if rule.body.on_labels:
            assert ((data.Y[covered] == said) | (said == -1)).all()


def test_the_default_table_can_be_planted_with_every_seed():
    for seed in range(200):
        data, theory = planted(200, random_state=seed)
        assert len(theory) == 11
        assert data.Y.any()


def test_noise_flips_its_share_of_cells():
    data, theory = planted(5000, noise=0.1, random_state=1)
    share = (theory.predict(data) != data.Y).mean()
    assert 0.09 < share < 0.11


def test_missing_and_density_are_shares_of_cells():
    data, _ = planted(5000, missing=0.2, random_state=1)
    assert 0.19 < np.isnan(data.X).mean() < 0.21
    data, _ = planted(5000, density=0.05, random_state=1)
    assert 0.04 < data.X.nnz / (5000 * 10) < 0.06


def test_the_seed_decides():
    first, again, other = (planted(50, random_state=seed) for seed in (4, 4, 5))
    assert first == again
    assert first[0] != other[0]


def test_wide_sparse_tables_are_never_dense():
    data, theory = planted(2000, 47_236, 0, 20, density=0.001, n_rules=10, random_state=0)
    assert data.X.nnz < 200_000
    assert theory.predict(data).shape == (2000, 20)


def test_impossible_wishes_are_refused():
    with pytest.raises(ValueError, match="noise must be a number from 0 to 1, not 2"):
        planted(noise=2)
    with pytest.raises(ValueError, match="dependencies need two labels"):
        planted(n_labels=1)
    with pytest.raises(ValueError, match="a local dependency needs a feature"):
        planted(50, 0, 0, 3)
    with pytest.raises(ValueError, match="n_rows must be a whole number of at least 0"):
        planted(-1)
    with pytest.raises(ValueError, match="n_categories must be a whole number of at least 1"):
        planted(n_categories=0)
    with pytest.raises(ValueError, match="no further rule writes anything"):
        planted(20, 1, 0, 2, n_rules=50, n_local=0, n_global=0)


def test_no_features_and_no_dependencies():
    data, theory = planted(10, 0, 0, 3, n_rules=2, n_local=0, n_global=0)
    assert (theory.predict(data) == data.Y).all()
