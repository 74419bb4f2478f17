"""Readable thresholds between two values."""

from functools import cache
from math import ceil, floor, isfinite, log10

from labelrules.data.schema import Feature
from labelrules.data.times import roundest_between


def threshold_between(low: float, high: float, feature: Feature) -> float:
    """A readable threshold from `low` up to, but not including, `high`.

    The simplest number, the roundest time, or the lower of two categories that have an order.
    """
    if feature.time is not None:
        return roundest_between(low, high, feature.time)
    return low if feature.categories is not None else simplest_between(low, high)


def simplest_between(low: float, high: float) -> float:
    """The shortest number from `low` up to, but not including, `high`; near the middle.

    >>> simplest_between(1.234, 1.871), simplest_between(3, 4), simplest_between(-0.5, 120)
    (1.6, 3.0, 0.0)
    """
    if low < 0 <= high and (low < 0 < high):
        return 0.0
    largest = max(abs(low), abs(high))
    exponent = floor(log10(largest)) + 1 if largest > 0 and isfinite(largest) else 0
    for power in range(exponent, exponent - 19, -1):
        near = _nearest_multiple(low, high, power)
        if near is not None:
            return near
    return low


def _nearest_multiple(low: float, high: float, power: int) -> float | None:
    """The multiple of a power of ten in the range that is nearest to its middle."""
    unit = _power_of_ten(power)
    try:
        least, most = low / unit, high / unit
        first, last = ceil(least) - 1, floor(most) + 1
    except (OverflowError, ZeroDivisionError):
        return None
    # Most powers have no multiple in the range: seen without making numbers of texts.
    slack = 1e-9 * max(abs(least), abs(most))
    if ceil(least - slack) > most + slack:
        return None
    wanted = min(max(round((low / 2 + high / 2) / unit), first), last)
    for number in (wanted, wanted - 1, wanted + 1, wanted - 2, wanted + 2):
        value = float(f"{number}e{power}")
        if low <= value < high:
            return value
    return None


@cache
def _power_of_ten(power: int) -> float:
    return float(f"1e{power}")
