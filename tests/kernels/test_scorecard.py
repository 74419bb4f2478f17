"""The kernels of scorecards against plain Python; also run uncompiled."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelrules import Condition, Dataset
from labelrules.data.codes.binned_columns import BinnedColumns
from labelrules.kernels import points as point_kernels
from labelrules.kernels import scorecard as kernels
from labelrules.learners.scorecard.growth import (
    DOUBLING,
    NAT,
    ONE,
    REACH,
    CardGrowth,
    CellWeights,
    Prices,
    point_tables,
)
from tables import schema_of
from twins.scorecard import SlowCard, slow_conditions, slow_moments, slow_softplus

KINDS = [0, 0, 0, 2, 4, 2, 0]


def table(seed, n_rows, storage="dense", n_labels=3, missing=None):
    """Mixed columns with ties, missing values, mostly zero, of few and of rare categories."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.integers(-3, 4, n_rows) / 2,
            rng.normal(size=n_rows).round(2),
            rng.choice([0, 0, 0, 0, -1.5, 2, 3], n_rows),
            rng.integers(0, 2, n_rows),
            np.minimum(rng.integers(0, 12, n_rows), 3),
            rng.choice([0, 1, 1, 1, 1], n_rows),
            np.ones(n_rows),
        ]
    ).astype(float)
    scores = X[:, [0]] * [2, -1, 0] + X[:, [3]] * [1, 2, -2] + rng.normal(size=(n_rows, 3))
    Y = (scores[:, :n_labels] > 0.5).astype(np.int8)
    if missing is None:
        missing = seed % 2 == 1
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    stored = sparse.csc_array(X) if storage == "sparse" else X
    return Dataset(schema_of(KINDS, n_labels), stored, Y)


def grown(data, literal, ridge, n_cuts=3):
    binned = BinnedColumns.of(data, n_cuts, 3)
    growth = CardGrowth(
        binned, np.ascontiguousarray(data.Y.T * np.int32(ONE)), Prices(literal, ridge)
    )
    for _ in growth.run():
        pass
    return growth


CASES = [
    pytest.param(seed, n_rows, storage, id=f"{seed}-{n_rows}-{storage}")
    for seed, n_rows in enumerate([1, 5, 7, 16, 30, 31])
    for storage in ("dense", "sparse")
]


@pytest.mark.parametrize(("seed", "n_rows", "storage"), CASES)
@pytest.mark.parametrize("n_cuts", [1, 3, 50])
def test_bins_are_cut_near_quantiles(seed, n_rows, storage, n_cuts):
    data = table(seed, n_rows, storage)
    binned = BinnedColumns.of(data, n_cuts, 3)
    expected = [rows for _, rows in slow_conditions(data, n_cuts, 3)]
    assert len(binned.n_covered) == len(expected)
    for number, rows in enumerate(expected):
        if rows is None:
            assert binned.n_covered[number] == 0
            continue
        assert (binned.covered(number) == rows).all()
        assert binned.n_covered[number] == rows.sum()
        condition = Condition(*binned.condition(number))
        assert (condition.holds(data.column(condition.column)) == rows).all()
    some = np.arange(n_rows)[::2]
    taken = binned.take(some)
    for number, rows in enumerate(expected):
        if rows is not None:
            assert (taken.covered(number) == rows[some]).all()
            assert taken.n_covered[number] == rows[some].sum()


@pytest.mark.parametrize("chunk", [2, 1 << 16])
@pytest.mark.parametrize(
    ("seed", "n_rows", "storage"), [*CASES, (6, 9001, "dense"), (7, 9001, "sparse")]
)
def test_sums_by_bin(seed, n_rows, storage, chunk, monkeypatch):
    """Also where rows are counted in several pieces, as far as that is seen uncompiled."""
    monkeypatch.setattr(kernels, "CHUNK", chunk)
    data = table(seed, n_rows, storage)
    binned = BinnedColumns.of(data, 3, 3)
    rng = np.random.default_rng(seed)
    slopes = rng.integers(-ONE, ONE, (2, n_rows))
    curves = rng.integers(0, ONE // 4 + 1, (2, n_rows))
    found_slopes, found_curves = binned.sums((slopes << 32) + curves)
    for column in range(len(binned.columns)):
        bins = binned._bins(column)
        for number in range(int(binned.n_bins[column]) + 1):
            cell = binned.cells[column] + number
            assert (found_slopes[:, cell] == slopes[:, bins == number].sum(axis=1)).all()
            assert (found_curves[:, cell] == curves[:, bins == number].sum(axis=1)).all()


def test_tables_are_those_of_the_logistic_function():
    tables = point_tables()
    for margin in range(-REACH, REACH + 1):
        odds = 2.0 ** (margin / DOUBLING)
        p = odds / (1 + odds)
        chance, spread = slow_moments(margin)
        assert chance == pytest.approx(p * ONE, abs=0.51)
        assert spread == pytest.approx(p * (1 - p) * ONE, abs=0.51)
        assert tables.softplus[margin + REACH] == pytest.approx(log(1 + odds) * NAT, abs=0.51)
    assert slow_softplus(REACH + 7) == pytest.approx((REACH + 7) * tables.unit * NAT, abs=4)
    assert slow_softplus(-REACH - 7) == 0


def test_the_loss_is_almost_linear_beyond_the_tables():
    tables = point_tables()
    rows = np.arange(3, dtype=np.int32)
    margin = np.array([REACH - 2, REACH + 4, -REACH - 9], np.int32)
    expected = [slow_softplus(m + 5) - slow_softplus(m) for m in margin.tolist()]
    for weights, total in (
        (np.empty(0, np.bool_), sum(expected)),
        (np.array([1, 3, 2]), expected[0] + 3 * expected[1] + 2 * expected[2]),
    ):
        cells = 0, 3, rows, margin, 5, tables.softplus, tables.loss_unit, weights
        assert point_kernels._growth(*cells) == total


@pytest.mark.parametrize(("seed", "n_rows", "storage"), CASES)
@pytest.mark.parametrize(("literal", "ridge"), [(0.05, 0.0), (0.3, 1.0), (0.1, 4.0)])
def test_growth_is_that_of_the_slow_card(seed, n_rows, storage, literal, ridge):
    data = table(seed, n_rows, storage)
    points = grown(data, literal, ridge).points
    slow = SlowCard(data, (data.Y.T * np.int32(ONE)), literal, ridge, 3).run()
    assert points.start.tolist() == slow.points.pop(-1)
    assert dict(zip(points.conditions, points.given.tolist(), strict=True)) == slow.points
    assert list(points.conditions) == list(slow.points)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(8, 24),
    st.sampled_from([0.02, 0.1, 0.4]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([None, 1.0, 2.0**-7, 2.0**-17]),
)
def test_growth_with_soft_and_unknown_targets_and_weights(seed, n_rows, literal, unknown, unit):
    data, random = table(seed, n_rows, n_labels=2), np.random.default_rng(seed)
    targets = random.integers(0, ONE + 1, (2, n_rows)).astype(np.int32)
    targets[random.random(targets.shape) < unknown] = -1
    weights = None
    if unit is not None:
        given = random.integers(1, 4 / unit, targets.shape)
        weights = CellWeights(given, unit)
    growth = CardGrowth(BinnedColumns.of(data, 2, 3), targets, Prices(literal, 1.0), weights)
    for _ in growth.run():
        pass
    weighted = () if weights is None else (weights.units.tolist(), unit)
    slow = SlowCard(data, targets, literal, 1.0, 2, *weighted).run()
    points = growth.points
    assert points.start.tolist() == slow.points.pop(-1)
    assert dict(zip(points.conditions, points.given.tolist(), strict=True)) == slow.points


@pytest.mark.parametrize("literal", [0.02, 0.1])
def test_margins_and_sums_stay_those_of_the_points(literal):
    data = table(3, 200)
    growth = grown(data, literal, 0.5, n_cuts=8)
    points = growth.points
    assert len(points.conditions) > 8
    assert (points.margins(growth.binned) == growth.margin.T).all()
    for rule, condition in enumerate(growth.conditions[1:], 1):
        rows = growth.card.rows[growth.card.start[rule] : growth.card.start[rule + 1]]
        assert (np.flatnonzero(growth.binned.covered(condition)) == rows).all()
        assert (growth.card.targets[rule] == data.Y[rows].sum(axis=0) * ONE).all()


def test_scores_are_sums_of_what_is_promised():
    """Though they are changed label by label, and what was promised once is no more."""
    data = table(4, 120)
    growth = grown(data, 0.1, 1.0)
    assert (growth.score == np.maximum(growth.excess, 0).sum(axis=0)).all()
    given = growth.points
    for condition, points in zip(given.conditions, given.given, strict=True):
        taken = growth.excess[points != 0][:, [condition, growth.binned.opposite(condition)]]
        assert (taken == kernels.TAKEN).all()
    assert given.conditions
