"""Bins: exact quantiles, codes that cuts decide, and conditions on codes read as on values."""

from bisect import bisect_left
from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelrules import UNSET, Condition
from labelrules.data import Dataset
from labelrules.data.codes.bins import Bins, cut_ranks
from labelrules.search.bodies.code_tables import condition_on_values
from strategies import datasets
from tables import schema_of


def naive_ends(values, n_bins):
    """The values that bins of a column end with: all but the last, or those of the ranks."""
    known = sorted(value for value in values if not isnan(value))
    distinct = sorted(set(known))
    if len(distinct) <= n_bins:
        return distinct[:-1]
    ends = {known[rank - 1] for rank in cut_ranks(len(known), n_bins)}
    return sorted(ends - {distinct[-1]})


@given(datasets(max_rows=30), st.integers(2, 6))
def test_each_cut_lies_between_two_neighbouring_values_and_codes_count_cuts(data, n_bins):
    bins = Bins.of(data, n_bins)
    codes = bins.encode(data.X)
    for at, (column, feature) in enumerate(zip(bins.columns, data.schema.features, strict=True)):
        values = data.column(at).tolist()
        if feature.is_nominal:
            expected = [column.n_bins if isnan(value) else int(value) for value in values]
            assert column.n_values == len({value for value in values if not isnan(value)})
        else:
            ends = naive_ends(values, n_bins)
            assert len(ends) == len(column.cuts)
            for low, cut in zip(ends, column.cuts, strict=True):
                high = min(value for value in values if value > low)
                assert low <= cut < high
            cuts = list(column.cuts)
            missing = column.n_bins
            expected = [missing if isnan(v) else bisect_left(cuts, v) for v in values]
        assert codes[at].tolist() == expected
        assert column.has_missing == any(map(isnan, values))


@given(datasets(min_rows=1, max_rows=30), st.integers(2, 6), st.data())
def test_conditions_on_codes_hold_where_those_on_values_do(data, n_bins, chosen):
    bins = Bins.of(data, n_bins)
    coded = bins.coded(data)
    for at, column in enumerate(bins.columns):
        for number in range(len(column.cuts)):
            on_codes = Condition(at, chosen.draw(st.sampled_from(["<=", ">"])), number)
            on_values = condition_on_values(bins, on_codes)
            holds = on_codes.holds(coded.column(at))
            assert holds.tolist() == on_values.holds(data.column(at)).tolist()


@given(datasets(max_rows=30), st.integers(2, 6), st.randoms(use_true_random=False))
def test_bins_do_not_depend_on_the_order_of_rows(data, n_bins, random):
    order = list(range(data.n_rows))
    random.shuffle(order)
    assert Bins.of(data.take(order), n_bins) == Bins.of(data, n_bins)


@given(datasets(min_rows=1, max_rows=20), st.integers(2, 6), st.data())
def test_quantiles_count_weights(data, n_bins, chosen):
    """A whole weight is so many rows; that of a row of cells is the greatest of known ones."""
    times = st.lists(st.integers(1, 4), min_size=data.n_rows, max_size=data.n_rows)
    weights = np.array(chosen.draw(times))
    repeated = data.take(np.repeat(np.arange(data.n_rows), weights))
    assert Bins.of(replace(data, weights=weights), n_bins) == Bins.of(repeated, n_bins)
    assert Bins.of(replace(data, weights=weights / 8), n_bins) == Bins.of(repeated, n_bins)
    if data.schema.n_labels and (data.Y != UNSET).any(axis=1).all():
        cells = np.where(data.Y == UNSET, 9, weights[:, np.newaxis])
        assert Bins.of(replace(data, weights=cells), n_bins) == Bins.of(repeated, n_bins)


@pytest.mark.parametrize(("n_bins", "dtype"), [(255, np.uint8), (256, np.uint16)])
def test_codes_take_one_byte_if_255_bins_and_missing_values_fit(n_bins, dtype):
    X = np.arange(1000.0)[:, np.newaxis]
    bins = Bins.of(Dataset(schema_of([0], 1), X, np.zeros((1000, 1), np.int8)), n_bins)
    assert bins.encode(X).dtype == dtype
    assert bins.columns[0].n_bins == n_bins


def test_values_beyond_the_grid_of_cuts_have_the_right_codes():
    X = np.array([-1e308, -1.0, 0.0, 5e-324, 1.0, 1e308, np.nan])[:, np.newaxis]
    bins = Bins.of(Dataset(schema_of([0], 1), X, np.zeros((7, 1), np.int8)), 255)
    assert bins.encode(X)[0].tolist() == [0, 1, 2, 3, 4, 5, 6]
