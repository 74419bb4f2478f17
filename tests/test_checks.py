"""Parameters are checked by one set of functions, and messages say what is allowed."""

import re
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from labelrules._checks import (
    counted,
    is_number,
    is_whole,
    listed,
    number,
    one_of,
    quoted,
    suggestion,
    truth_value,
    whole_number,
)


@pytest.mark.parametrize("value", [1, np.int8(1), np.uint64(2)])
def test_whole_numbers_of_any_type_become_int(value):
    assert is_whole(value)
    assert type(whole_number(value, "n", low=1, high=2)) is int


@pytest.mark.parametrize("value", [True, np.True_, 1.0, "1", None, nan, Fraction(1, 2), [1]])
def test_what_is_no_whole_number_is_refused(value):
    assert not is_whole(value)
    with pytest.raises(ValueError, match=r"^n must be a whole number, not "):
        whole_number(value, "n")


@pytest.mark.parametrize(
    ("limits", "value", "allowed"),
    [
        ({"low": 1}, 0, "a whole number of at least 1"),
        ({"high": 3}, 4, "a whole number of at most 3"),
        ({"low": 1, "high": 3}, 0, "a whole number from 1 to 3"),
        ({"low": 1, "high": 3}, 4, "a whole number from 1 to 3"),
        ({"low": 1, "also": "None"}, "none", "a whole number of at least 1 or None"),
    ],
)
def test_limits_of_whole_numbers_are_named(limits, value, allowed):
    with pytest.raises(ValueError, match=f"^n must be {allowed}, not {value!r}$"):
        whole_number(value, "n", **limits)


def test_limits_are_allowed_themselves():
    assert [whole_number(n, "n", low=1, high=3) for n in (1, 3)] == [1, 3]
    assert [number(x, "x", low=0, high=1) for x in (0, 1)] == [0.0, 1.0]


@pytest.mark.parametrize("value", [0, 0.5, np.float32(0.5), Fraction(1, 2)])
def test_numbers_of_any_type_become_float(value):
    assert is_number(value)
    assert number(value, "x") == value
    assert type(number(value, "x")) is float


@pytest.mark.parametrize("value", [True, "0.5", None, nan, 1j])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^x must be a number, not "):
        number(value, "x")


@pytest.mark.parametrize(
    ("limits", "value", "allowed"),
    [
        ({"low": 0}, -1, "a number of at least 0"),
        ({"low": 0}, inf, "a finite number of at least 0"),
        ({"low": 0, "high": 1}, 1.5, "a number from 0 to 1"),
        ({"above": 0}, 0, "a number above 0"),
        ({"above": 0, "below": 1}, 1, "a number between 0 and 1"),
        ({"above": 0, "high": 1}, 0, "a number above 0 and of at most 1"),
        ({"low": 0, "below": 1}, 1, "a number of at least 0 and below 1"),
    ],
)
def test_limits_of_numbers_are_named(limits, value, allowed):
    with pytest.raises(ValueError, match=f"^x must be {allowed}, not {value!r}$"):
        number(value, "x", **limits)


def test_infinity_is_allowed_on_request():
    assert number(inf, "x", low=0, infinite=True) == inf


def test_truth_values():
    assert truth_value(np.True_, "b") is True
    with pytest.raises(ValueError, match=r"^b must be True or False, not 1$"):
        truth_value(1, "b")


def test_words():
    assert one_of("beam", "search", ("greedy", "beam")) == "beam"
    said = "search must be 'greedy', 'beam' or a function, not 'bean'; did you mean 'beam'?"
    with pytest.raises(ValueError, match=re.escape(said)):
        one_of("bean", "search", ("greedy", "beam"), also="a function")
    with pytest.raises(ValueError, match=r"^search must be 'beam', not 3$"):
        one_of(3, "search", ["beam"])
    with pytest.raises(ValueError, match=r"^search must be 'beam', not \['beam'\]$"):
        one_of(["beam"], "search", ["beam"])


def test_messages_are_short():
    assert len(quoted("x" * 1000)) == 60
    with pytest.raises(ValueError, match=r"^n must be a whole number, not .{60}$"):
        whole_number("x" * 1000, "n")


def test_suggestions_ignore_case():
    assert suggestion("GREEDY", ["greedy"]) == "; did you mean 'greedy'?"
    assert suggestion("zzz", ["greedy"]) == ""


def test_lists_of_names():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed([]) == ""


def test_numbers_with_their_noun():
    assert counted(2, "row") == "2 rows"
