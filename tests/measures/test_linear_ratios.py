"""Weights that are read off formulas give the same values, to the last bit."""

import numpy as np
import pytest

from labelrules.measures import Formula, forget, formula, formula_names, ratio
from labelrules.measures.linear_ratios import LinearRatio, Weights, linear_ratio

LINEAR = {
    "precision", "recall", "hamming", "f", "jaccard", "laplace", "m-estimate", "linear-cost",
}  # fmt: skip
PARAMETERS = (None, 0, 0.1, 0.3, 0.4, 0.8, 1, 1.7, 22.466, 1e6)
RNG = np.random.default_rng(7)


def counts(n):
    """Small and large ones, and zeros."""
    table = RNG.integers(0, 10 ** RNG.integers(1, 9, (4, n)))
    table[RNG.random(table.shape) < 0.2] = 0
    return table


def given(name):
    has_parameter = Formula(name).parameter is not None
    return [Formula(name, one) for one in (PARAMETERS if has_parameter else (None,))]


def test_which_formulas_are_linear():
    assert {name for name in formula_names() if linear_ratio(Formula(name))} == LINEAR


@pytest.mark.parametrize("one", [each for name in sorted(LINEAR) for each in given(name)], ids=str)
def test_to_the_last_bit(one):
    weights, table = linear_ratio(one), counts(3000)
    by_weights = weights(*table.astype(np.float64))
    assert by_weights.tolist() == np.asarray(one(*table), np.float64).tolist()
    for tp, fp, tn, fn in table.T[:200].tolist():
        assert weights(float(tp), float(fp), float(tn), float(fn)) == one(tp, fp, tn, fn)


@pytest.mark.parametrize("one", [each for name in sorted(LINEAR) for each in given(name)], ids=str)
def test_counts_in_other_units(one):
    """By a power of two nothing is rounded otherwise."""
    weights, table = linear_ratio(one), counts(500).astype(np.float64)
    assert weights.in_units(2**20)(*(2**20 * table)).tolist() == weights(*table).tolist()


def test_only_the_estimate_needs_the_share_of_positives():
    needing = {name for name in LINEAR if linear_ratio(Formula(name)).needs_prior}
    assert needing == {"m-estimate"}


def weights_of(function):
    formula("mine", replace=True)(function)
    try:
        return linear_ratio(Formula("mine"))
    finally:
        forget("mine")


def test_a_formula_of_ones_own():
    def specificity(tp, fp, tn, fn):
        return ratio(tn, tn + fp)

    def gain(tp, fp, tn, fn, c=0.3):
        return 3 * tp - c * fp - 2

    assert weights_of(specificity) == LinearRatio(Weights(tn=1), Weights(fp=1, tn=1))
    assert weights_of(gain) == LinearRatio(Weights(tp=3, fp=-0.3, one=-2), Weights(one=1))


@pytest.mark.parametrize(
    "function",
    [
        lambda tp, fp, tn, fn: 0.3 * (tp + fn) / (tp + fp + 1),  # rounded once, not twice
        lambda tp, fp, tn, fn: 0.3 * fp + 0.3 * tn + 0.3 * tp,  # another order
        lambda tp, fp, tn, fn: 0.3 * tp + (fn + fp),  # another order
        lambda tp, fp, tn, fn: 0.3 * (0.7 * tp),  # rounded twice, not once
        lambda tp, fp, tn, fn: 0.1 * tp + 0.2 * tp,  # rounded twice, not once
        lambda tp, fp, tn, fn: 100_000 * tp + 0.3 * fp + 0.3 * tp,
        lambda tp, fp, tn, fn: ratio(tp, tp + fp) + ratio(fn, fn + tn),
        lambda tp, fp, tn, fn: ratio(tp, tp + fp) * 2,
        lambda tp, fp, tn, fn: 2 - ratio(tp, tp + fp),
        lambda tp, fp, tn, fn: -ratio(tp, tp + fp),
        lambda tp, fp, tn, fn: ratio(tp, tp + fp) ** 2,
        lambda tp, fp, tn, fn: tp * tn,
        lambda tp, fp, tn, fn: tp + (fp == 0),
        lambda tp, fp, tn, fn: tp * (fp == 0),
        lambda tp, fp, tn, fn: tp + (fp == tn),
        lambda tp, fp, tn, fn: tp + (ratio(tp, tp + fp) == 0),
        lambda tp, fp, tn, fn: tp + (fp != 0),
        lambda tp, fp, tn, fn: tp + (fp == 1),
        lambda tp, fp, tn, fn: np.sqrt(tp * 1.0),
        lambda tp, fp, tn, fn: np.minimum(tp, fp),
        lambda tp, fp, tn, fn: ratio(tp + fn, tp + fp + tn + fn) * 0.5 + 0.1,
    ],
)
def test_whatever_rounds_otherwise_is_refused(function):
    assert weights_of(function) is None
