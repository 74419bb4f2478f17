"""Values that a feature could be changed to: one for each answer that the rules could give."""

from decimal import Decimal
from math import inf, isfinite, isnan, nextafter

import numpy as np

from labelrules._types import Floats
from labelrules.rules import Theory
from labelrules.rules.tokens import number_text


def moves(theory: Theory, column: int, value: float, seen: Floats | None = None) -> list[float]:
    """Encoded values for one feature of a row that the rules tell from its own, nearest first.

    The thresholds that rules compare a number with cut its line into ranges. Within one of them
    no rule sees a difference, so one value stands for each: the one nearest to the row's that
    occurs among `seen`, else the threshold itself on the way down, and the number just above it
    on the way up. Of categories each that some rule names stands for itself, and the first of the
    others for all others. No value is ever taken away: missing is not among the moves.

    Parameters
    ----------
    theory : Theory
    column : int
    value : float
        What the row has; NaN if it is missing.
    seen : array of float, optional
        Values of the column in training data, rising.
    """
    conditions = [c for rule in theory for c in rule.body.on_features if c.column == column]
    named = sorted({condition.value for condition in conditions})
    categories = theory.schema.features[column].categories
    if categories is not None:
        return _categories({int(code) for code in named}, len(categories), value)
    return _numbers(named, value, np.empty(0) if seen is None else seen)


def _categories(named: set[int], n_categories: int, value: float) -> list[float]:
    others = [code for code in range(n_categories) if code not in named]
    stand_in = set() if not isnan(value) and int(value) in others else set(others[:1])
    return [float(code) for code in sorted(named | stand_in) if code != value]


def _numbers(thresholds: list[float], value: float, seen: Floats) -> list[float]:
    """One number for each range between thresholds but that of the value."""
    edges = [-inf, *thresholds, inf]
    home = None if isnan(value) else int(np.searchsorted(thresholds, value, side="left"))
    found = []
    for number in range(len(thresholds) + 1):
        if number != home and thresholds:
            from_above = number == 0 if home is None else number < home
            found.append(_nearest(edges[number], edges[number + 1], from_above, seen))
    known = [number for number in found if number is not None]
    if home is None:
        return known
    return sorted(known, key=lambda number: (abs(number - value), number))


def _nearest(low: float, high: float, from_above: bool, seen: Floats) -> float | None:
    """A number greater than `low` and at most `high`, close to one end; None if there is none."""
    inside = seen[(seen > low) & (seen <= high)]
    if inside.size:
        return float(inside[-1] if from_above else inside[0])
    return high if from_above else just_above(low, high)


def just_above(low: float, high: float = inf) -> float | None:
    """A short number greater than `low` and at most `high`: one more in the last digit of `low`.

    If that is too much, in the digit after it, and so on. None if there is no number between.

    Examples
    --------
    >>> just_above(3), just_above(0.25), just_above(3, 3.5), just_above(1e16)
    (4.0, 0.26, 3.1, 2e+16)
    """
    written = Decimal(number_text(low))
    last = int(written.as_tuple().exponent)
    for power in range(last, last - 18, -1):
        number = float(written + Decimal(1).scaleb(power))
        if low < number <= high and isfinite(number):
            return number
    number = nextafter(low, inf)
    return number if number <= high and isfinite(number) else None
