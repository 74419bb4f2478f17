"""The one place where 0/0 is decided."""

from typing import Any

Number = Any
"""An int, a Fraction, a float or an array."""


def ratio(part: Number, whole: Number) -> Number:
    """``part / whole``, and 0 where both are 0.

    Of a part that is 0 whenever the whole is: the only place where 0/0 is decided.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, 0.0)
    """
    return part / (whole + (whole == 0))
