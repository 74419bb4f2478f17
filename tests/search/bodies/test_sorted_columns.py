"""Columns list each row by its value; thresholds are the simplest numbers between two values."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelrules import Condition, Dataset
from labelrules.data import Feature, Schema
from labelrules.data.codes.thresholds import simplest_between
from labelrules.kernels.scoring import SECOND_PLACE
from labelrules.search.bodies.sorted_columns import SortedColumns
from strategies import datasets
from tables import tables

# ---------------------------------------------------------------- the simplest number


def multiples(low, high, power):
    """The first and the last whole number k with low <= k * 10**power < high.

    Numbers are what they are written as: 0.1 as a float is a little more than a tenth, and what
    lies between the two no float can tell.
    """
    unit = Fraction(10) ** power
    return ceil(Fraction(repr(low)) / unit), ceil(Fraction(repr(high)) / unit) - 1


def coarsest_power(low, high):
    """The greatest power of ten of which a multiple other than 0 lies in the range."""
    power = floor(np.log10(max(abs(low), abs(high)))) + 2
    while True:
        first, last = multiples(low, high, power)
        if first <= last:
            return power
        power -= 1


def n_digits(number):
    """How many digits a number is written with, but for zeros before and behind."""
    return len(f"{abs(Decimal(repr(number))).normalize():E}".split("E")[0].replace(".", ""))


RANGES = [
    (1.234, 1.871, 1.6),
    (3, 4, 3.0),
    (-0.5, 120, 0.0),
    (0, 5, 0.0),
    (-5, 0, -2.0),
    (0.95, 1.05, 1.0),
    (99, 1001, 1000.0),
    (1.0, 1.0000001, 1.0),
    (0.1 + 0.2, 0.3000000000000001, 0.30000000000000004),
    (5e-324, 1e-323, 5e-324),
    (-1.7976931348623157e308, 1.7976931348623157e308, 0.0),
]


@pytest.mark.parametrize(("low", "high", "expected"), RANGES)
def test_simplest_numbers(low, high, expected):
    assert simplest_between(low, high) == expected


decimals = st.builds(lambda k, power: float(f"{k}e{power}"), st.integers(-9999, 9999),
                     st.integers(-6, 6))  # fmt: skip


@given(st.tuples(decimals, decimals).filter(lambda pair: pair[0] != pair[1]))
@settings(max_examples=300)
def test_no_shorter_decimal_lies_between_two_decimals(pair):
    low, high = sorted(pair)
    found = simplest_between(low, high)
    assert low <= found < high
    if low <= 0 < high:
        assert found == 0
        return
    power = coarsest_power(low, high)
    first, last = multiples(low, high, power)
    number = Fraction(repr(found)) / Fraction(10) ** power
    assert number.denominator == 1, f"{found} although multiples of 1e{power} would do"
    middle = (Fraction(low) + Fraction(high)) / 2 / Fraction(10) ** power
    nearest = min(range(first, last + 1), key=lambda k: abs(k - middle))
    assert abs(number - middle) <= abs(nearest - middle) + Fraction(1, 10**6)


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, st.one_of(finite, st.integers(1, 4)))
@settings(max_examples=500)
def test_thresholds_part_any_two_numbers(low, other):
    """Neighbouring floats, tiny and huge ones: what is not above `low` stays on its side."""
    high = other
    if isinstance(other, int):
        high = low
        for _ in range(other):
            high = nextafter(high, inf)
    low, high = sorted((low, high))
    if low < high < inf:
        found = simplest_between(low, high)
        assert low <= found < high
        assert found == 0 or n_digits(found) <= n_digits(low)


# ---------------------------------------------------------------- the listing

few_tables = st.one_of(tables(max_rows=20, storage=("dense", "sparse")), datasets(min_rows=1))


def dense(data):
    return data.X.toarray() if sparse.issparse(data.X) else data.X


def known_values(values):
    """The different values, rising, without missing ones."""
    return sorted({value for value in values.tolist() if value == value})


def listed_rows(index, column):
    """The rows of a column, whether each is marked as first of its value, and missing rows."""
    start, valid, stop = (int(part[column]) for part in (index.start, index.valid, index.stop))
    entries = index.entries[start:stop].tolist()
    rows = [~entry if entry < 0 else entry for entry in entries]
    marks = [entry < 0 for entry in entries]
    return rows[: valid - start], marks[: valid - start], rows[valid - start :]


def check_listing(index, column, values, inside, rest):
    """Every row once: listed by rising value, or unlisted with the value that is left out."""
    rows, marks, missing = listed_rows(index, column)
    unlisted = set(inside) - set(rows) - set(missing)
    assert len(rows) + len(missing) + len(unlisted) == len(inside)
    assert all(values[row] == rest for row in unlisted)
    assert set(missing) == {row for row in inside if np.isnan(values[row])}
    in_order = [values[row] for row in rows]
    assert in_order == sorted(in_order)
    is_first = [i == 0 or in_order[i] != in_order[i - 1] for i in range(len(rows))]
    assert marks == is_first
    if unlisted:
        n_below = int(index.middle[column] - index.start[column])
        assert n_below == sum(value < rest for value in in_order)


@settings(max_examples=40)
@given(few_tables)
def test_every_row_is_listed_by_its_value(data):
    columns = SortedColumns.of(data)
    for j, values in enumerate(dense(data).T):
        check_listing(columns.index, j, values, range(data.n_rows), columns.rest[j])
        assert columns.n_values[j] == len(known_values(values))
        assert (columns.nominal[j] > 0) == data.schema.features[j].is_nominal


@settings(max_examples=40)
@given(few_tables)
def test_sparse_columns_cost_what_they_store(data):
    stored = Dataset(data.schema, sparse.csc_array(dense(data)), data.Y)
    index = SortedColumns.of(stored).index
    assert (index.stop - index.start).tolist() == np.diff(stored.X.indptr).tolist()


@settings(max_examples=40)
@given(few_tables)
def test_of_categories_a_most_frequent_one_is_left_out(data):
    X = dense(data)
    rest = SortedColumns.of(Dataset(data.schema, X, data.Y)).rest
    for j in np.flatnonzero([feature.is_nominal for feature in data.schema.features]):
        values = X[:, j].tolist()
        counts = [values.count(one) for one in values if one == one]
        assert values.count(rest[j]) == max(counts, default=0)


def test_columns_leave_out_what_most_rows_have():
    features = [Feature("words"), Feature("color", ("red", "green", "blue")), Feature("size")]
    X = np.array([[0, 2, 1.5], [0, 2, 2.5], [3, 2, 0], [0, 0, 7]])
    columns = SortedColumns.of(Dataset(Schema(features, ["y"]), X, np.ones((4, 1), np.int8)))
    assert (columns.index.stop - columns.index.start).tolist() == [1, 1, 4]
    assert columns.rest[:2].tolist() == [0, 2]


@settings(max_examples=40)
@given(few_tables, st.data())
def test_narrowed_columns_list_the_covered_rows(data, drawn):
    from labelrules.kernels.index import narrow, narrow_to_few

    columns = SortedColumns.of(data)
    mask = np.array(drawn.draw(st.lists(st.booleans(), min_size=data.n_rows, max_size=data.n_rows)))
    rows, space = np.flatnonzero(mask), columns.space_for_narrowing
    n_columns = data.schema.n_features
    ways = [lambda: narrow(columns.index, 0, n_columns, mask, space)]
    if not sparse.issparse(data.X):
        ways.append(
            lambda: narrow_to_few(
                columns.index, *columns.places, columns.by_column, 0, n_columns, rows, mask, space
            )
        )
    for way in ways:
        way()
        for j, values in enumerate(dense(data).T):
            check_listing(space, j, values, rows.tolist(), columns.rest[j])


# ---------------------------------------------------------------- conditions by their place


def all_conditions(column, values, nominal):
    """Each condition with the place that it has, as a person would list them."""
    known = known_values(values)
    if nominal:
        for number, value in enumerate(known):
            yield number, Condition(column, "=", value)
            yield SECOND_PLACE + number, Condition(column, "!=", value)
        return
    for number, (low, high) in enumerate(pairwise(known)):
        yield 2 * number, Condition(column, "<=", simplest_between(low, high))
        yield 2 * number + 1, Condition(column, ">", simplest_between(low, high))


@settings(max_examples=40)
@given(few_tables)
def test_places_stand_for_conditions(data):
    columns = SortedColumns.of(data)
    for j, values in enumerate(dense(data).T):
        nominal = data.schema.features[j].is_nominal
        for place, condition in all_conditions(j, values, nominal):
            assert columns.condition(j, place, columns.index, data.n_rows) == condition


def test_thresholds_lie_between_neighbours():
    """Rows that have left do not hold a threshold where it is."""
    data = Dataset(Schema([Feature("x")], ["y"]), np.arange(10.0)[:, None], np.ones((10, 1)))
    columns = SortedColumns.of(data)
    neighbours = np.array([0, 2, 8, 9])
    condition = columns.condition(0, 2 * 4, columns.index, 10, neighbours)
    assert condition == Condition(0, "<=", simplest_between(2, 8))
