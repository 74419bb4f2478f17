"""The kernels of the heads of many bodies, against slow twins; also run uncompiled."""

from itertools import product

import numpy as np
import pytest

from labelrules.kernels import heads as kernel
from labelrules.kernels.compile import compiled, kernels_for, scoring_for
from labelrules.measures import Formula, Tally, confusion, formula_names

RNG = np.random.default_rng(0)
SILENT = -1


def tallies(n_bodies, n_labels):
    inside_1, inside_0 = RNG.integers(0, 4, (2, n_bodies, n_labels))
    outside_1, outside_0 = RNG.integers(0, 3, (2, n_labels))
    return Tally(
        inside_1, inside_0, inside_1.max(axis=0) + outside_1, inside_0.max(axis=0) + outside_0
    )


TALLIES = [tallies(*shape) for shape in ((1, 1), (4, 1), (6, 3), (3, 7))]


@pytest.mark.parametrize("name", formula_names())
def test_compiled_formulas_are_the_formulas(name):
    formula = Formula(name)
    compiled_one, scoring = compiled(formula), scoring_for(formula, "chapter")
    for counts in product((0, 1, 5), repeat=4):
        value = compiled_one(*counts, 0.0, scoring)
        assert value == pytest.approx(float(formula(*counts)), rel=1e-14)


def test_the_parameter_is_an_argument():
    compiled_one = compiled(Formula("klosgen"))
    for formula in (Formula("klosgen", 2), Formula("klosgen", 0.5)):
        value = compiled_one(1, 1, 0, 3, 0.0, scoring_for(formula, "chapter"))
        assert value == pytest.approx(formula(1, 1, 0, 3))


@pytest.mark.parametrize("counting", ["chapter", "head-relative"])
@pytest.mark.parametrize("name", formula_names())
def test_kernels_score_as_the_formulas_do(name, counting):
    """To the last bit, except for powers and logarithms."""
    exact = name not in ("klosgen", "correlation", "foil-gain")
    for parameter in (None, 0.3, 7) if Formula(name).parameter is not None else (None,):
        formula = Formula(name, parameter)
        score = kernels_for(formula, counting).score_tallies
        for counted in TALLIES:
            by_formula = score(scoring_for(formula, counting), *counted)
            for value in (0, 1):
                expected = np.asarray(formula(*confusion(counted, value, counting)), np.float64)
                if exact:
                    assert by_formula[:, value].tolist() == expected.tolist()
                else:
                    assert by_formula[:, value] == pytest.approx(expected)


def scores(n_bodies, n_labels):
    """Few different numbers, so that there are ties, and errors of rounding among them."""
    table = RNG.choice([-0.5, 0.0, 0.1 + 0.2, 0.3, 1.0], (n_bodies, 2, n_labels))
    return np.ascontiguousarray(table)


SCORES = [scores(*shape) for shape in ((1, 1), (20, 1), (40, 3), (20, 5))]


def near(a, b):
    return abs(a - b) <= 1e-12 * max(abs(a), abs(b))


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("absence", [False, True])
@pytest.mark.parametrize("table", SCORES, ids=lambda one: str(one.shape))
def test_merging(table, absence, single):
    heads = np.full((len(table), table.shape[2]), 7, np.int8)
    values = kernel.merge_singles(table, absence, single, heads)
    for (absent, present), value, head in zip(table.tolist(), values, heads.tolist(), strict=True):
        best = max([*present, *absent] if absence else present)
        assert value == best
        assert head == (first if single else merged)(absent, present, best, absence)


def merged(absent, present, best, absence):
    return [
        1 if near(p, best) else 0 if absence and near(a, best) else SILENT
        for a, p in zip(absent, present, strict=True)
    ]


def first(absent, present, best, absence):
    head = [SILENT] * len(present)
    literals = [(1, i) for i, p in enumerate(present) if near(p, best)]
    literals += [(0, i) for i, a in enumerate(absent) if absence and near(a, best)]
    value, label = literals[0]
    head[label] = value
    return head


@pytest.mark.parametrize("absence", [False, True])
@pytest.mark.parametrize("table", SCORES, ids=lambda one: str(one.shape))
def test_voting(table, absence):
    heads = np.full((len(table), table.shape[2]), 7, np.int8)
    values = kernel.vote(table, absence, heads)
    for (absent, present), value, head in zip(table.tolist(), values, heads.tolist(), strict=True):
        gains = [0.0 if near(p, a) else p - a for a, p in zip(absent, present, strict=True)]
        wins = [gain >= 0 for gain in gains]
        if not any(wins) and not absence:
            wins[next(i for i, gain in enumerate(gains) if near(gain, max(gains)))] = True
        assert head == [1 if win else 0 if absence else SILENT for win in wins]
        chosen = [p if win else a for a, p, win in zip(absent, present, wins, strict=True)]
        assert value == pytest.approx(sum(chosen) / len(chosen), abs=1e-15)


@pytest.mark.parametrize("absence", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 4])
def test_the_greatest_ratio(n_labels, absence):
    """Against all heads; of equally good ones the one with most presences, the earliest."""
    upper = RNG.integers(0, 3, (2, 40, n_labels)).astype(float)
    lower = upper + RNG.integers(0, 3, (2, 40, n_labels))
    heads = np.full((40, n_labels), 7, np.int8)
    values = kernel.dinkelbach(upper, lower, absence, heads)
    labels = np.arange(n_labels)
    for body, (value, head) in enumerate(zip(values, heads, strict=True)):
        ratios = {}
        for choice in product((1, 0), repeat=n_labels):
            if any(choice) or absence:
                whole = lower[list(choice), body, labels].sum()
                ratios[choice] = upper[list(choice), body, labels].sum() / whole if whole else 0.0
        best = max(ratios.values())
        assert value == pytest.approx(best)
        said = tuple((head == 1).astype(int).tolist())
        assert ratios[said] == pytest.approx(best)
        assert set(head.tolist()) <= {1, 0 if absence else SILENT}
        # Where 0/0 does not occur, ties fall to the preferred head.
        if lower[:, body].min() > 0:
            tied = [choice for choice, ratio in ratios.items() if near(ratio, best)]
            assert said == max(tied, key=lambda choice: (sum(choice), choice))
