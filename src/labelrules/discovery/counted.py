"""What a constraint needs, and constraints as counts, before anything is known of chance."""

from fractions import Fraction
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from labelrules._types import Integers, Mask


class Limit(NamedTuple):
    """How many exceptions a constraint may have, and how many rows it needs."""

    share: Fraction
    min_support: int

    @classmethod
    def checked(cls, tolerance: float, min_support: int) -> "Limit":
        """From what a user gives."""
        if not isinstance(tolerance, Real) or not 0 <= tolerance < 0.5:
            raise ValueError(
                f"tolerance must be a share of exceptions from 0 to below 0.5, not {tolerance!r}"
            )
        check_whole("min_support", min_support, 1)
        # A share as it is written, so that 3 of 10 are within 0.3 whatever a float makes of it.
        share = Fraction(str(float(tolerance))).limit_denominator(10**6)
        return cls(share, int(min_support))

    def allows(self, exceptions: Integers, support: Integers) -> Mask:
        """Whether so many of the rows covered may be otherwise."""
        few = exceptions * self.share.denominator <= support * self.share.numerator
        return np.asarray(few & (support >= self.min_support))


class Counted(NamedTuple):
    """Constraints as arrays are best for counting: one entry per constraint.

    `members` are the label numbers, that of the head last; `tables` the four numbers of Fisher's
    test (rows with body and head, with the body, with the head's label); several tests of one
    constraint follow one another, `owner` says whose they are.
    """

    members: list[tuple[int, ...]]
    present: list[bool]
    support: list[int]
    exceptions: list[int]
    tables: Integers
    owner: Integers
    n_tests: int


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number, or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, not {value!r}")
