"""The lengths of descriptions, compiled, for bodies to stop growing in time."""

from math import inf, log2
from types import FunctionType
from typing import Any, NamedTuple

from numba import njit

from labelrules.measures import description_length as _description

THEORY_WEIGHT = 0.6
"""What a bit of theory weighs against a bit of exceptions: bodies can be told in many ways."""

SHORTER = 1e-9
"""By how much a description must be shorter, so that rounding decides nothing."""


class Told(NamedTuple):
    """What is known of one label and value before a rule is added, and how long to go on.

    Rows in all, those that have the value, those that rules said it of, and those of which they
    were right; conditions there are to choose from; and how many conditions in a row may fail to
    shorten the description, as many as there are if it is 0.
    """

    n_rows: int
    n_true: int
    n_said: int
    n_right: int
    n_possible: int
    patience: int


UNTOLD = Told(0, 0, 0, 0, 0, 0)
"""Where descriptions do not matter."""

_compiled: dict[str, Any] = {"log2": log2, "inf": inf}
for _bits in (_description.subset_bits, _description.body_bits, _description.exception_bits):
    _compiled[_bits.__name__] = njit(FunctionType(_bits.__code__, _compiled, _bits.__name__))
body_bits, exception_bits = _compiled["body_bits"], _compiled["exception_bits"]


@njit
def length_with(told, right, wrong, n_conditions):
    """The length of the description with a rule that sets so many cells right and wrong."""
    n_said = told.n_said + right + wrong
    n_wrong = told.n_said - told.n_right + wrong
    n_missed = told.n_true - told.n_right - right
    exceptions = exception_bits(n_said, told.n_rows - n_said, n_wrong, n_missed, told.n_true)
    return exceptions + THEORY_WEIGHT * body_bits(n_conditions, told.n_possible)
