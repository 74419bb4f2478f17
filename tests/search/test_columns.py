"""Columns list each row by its value; thresholds are the simplest numbers between two values."""

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, inf, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelrules import Condition, Dataset
from labelrules.data.schema import Feature, Schema
from labelrules.search.columns import SECOND_PLACE, Columns, simplest_between
from strategies import datasets

# ---------------------------------------------------------------- the simplest number


def multiples(low, high, power):
    """The first and the last whole number k with low <= k * 10**power < high, exactly."""
    unit = Fraction(10) ** power
    return ceil(Fraction(low) / unit), ceil(Fraction(high) / unit) - 1


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
