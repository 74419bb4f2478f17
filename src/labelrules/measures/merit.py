"""What a candidate is worth, and the one place where ties are settled."""

from fractions import Fraction
from typing import NamedTuple


class Merit(NamedTuple):
    """The value of a measure, then the number of cells the rule gets right.

    Merits compare as pairs: the greater value wins, of equal values the one with more correct
    cells, and of equal merits the candidate that came first; so keep a best one only when it is
    strictly exceeded (as ``max`` does).

    Values compare exactly, never with a tolerance, and a float compares with a fraction.
    A float from one division of counts (micro averaging of precision, recall, Hamming, subset,
    or F with beta 1/2, 1, 2) is as good as the fraction: equal fractions give equal floats, and
    different ones different floats while fewer than ten million cells count. A mean of several
    divisions (label, example) may differ in the last bit where the fractions are equal; ask the
    measure for ``exact=True`` where that matters.

    Examples
    --------
    >>> max(Merit(2 / 3, 4), Merit(4 / 6, 8), Merit(0.5, 100))
    Merit(value=0.6666666666666666, correct=8)
    """

    value: float | Fraction
    correct: int
