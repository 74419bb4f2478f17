"""Formulas that are a ratio of two linear functions of the counts, such as precision, F or Laplace.

What a kernel needs to know of such a formula is its weights, so all of them share one kernel. The
weights are read off the formula: it is called with symbols instead of counts, which note what is
added to what. Nothing is defined twice, and a formula of one's own may be linear, too.

The weights must give the same number to the last bit. A kernel adds up the weighted counts in the
order of `Weights`. That rounds as the formula does where all weights are whole numbers, since
such sums are exact, and where the formula itself adds up in this order. Symbols refuse
everything else, and the formula is compiled by itself.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from labelrules.measures import formulas
from labelrules.measures.formulas import Formula, ratio

EXACT = 1 << 16
"""The largest whole weight: sums of so many times 32 bits are exact in 64-bit floats."""


class Weights(NamedTuple):
    """The weights of the counts, in the order in which they are added up.

    `prior` is the weight of the share of positives among all cells, `one` that of 1. At most one of
    them is not 0 where weights are not whole.
    """

    tp: float = 0.0
    fn: float = 0.0
    fp: float = 0.0
    tn: float = 0.0
    prior: float = 0.0
    one: float = 0.0


class LinearRatio(NamedTuple):
    """A formula as the ratio of two weighted sums of the counts; 0/0 is 0."""

    upper: Weights
    lower: Weights

    def __call__(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
        """The value, as kernels compute it."""
        prior = ratio(tp + fn, tp + fp + tn + fn)
        upper, lower = (
            each.tp * tp
            + each.fn * fn
            + each.fp * fp
            + each.tn * tn
            + (each.prior * prior + each.one)
            for each in self
        )
        return ratio(upper, lower)

    @property
    def needs_prior(self) -> bool:
        """Whether the value depends on the share of positives."""
        return bool(self.upper.prior or self.lower.prior)

    def in_units(self, unit: float) -> "LinearRatio":
        """Weights for counts that are multiplied by a number.

        >>> laplace = linear_ratio(Formula("laplace"))
        >>> laplace(3, 1, 0, 0), laplace.in_units(8)(24, 8, 0, 0)
        (0.6666666666666666, 0.6666666666666666)
        """
        return LinearRatio(
            *(each._replace(prior=unit * each.prior, one=unit * each.one) for each in self)
        )


def linear_ratio(formula: Formula) -> LinearRatio | None:
    """The weights of a formula; None if it is no ratio of linear functions.

    >>> weights = linear_ratio(Formula("f", 0.5))
    >>> weights.upper.tp, weights.lower
    (1.25, Weights(tp=1.25, fn=0.25, fp=1.0, tn=0.0, prior=0.0, one=0.0))
    >>> linear_ratio(Formula("correlation")) is None
    True
    """
    if formula.function.__module__ == formulas.__name__:
        return _of_built_in(formula)
    return _read_off(formula)


@cache
def _of_built_in(formula: Formula) -> LinearRatio | None:
    return _read_off(formula)


def _read_off(formula: Formula) -> LinearRatio | None:
    tp, fn, fp, tn = (_Symbol(_only(place)) for place in range(4))
    try:
        value = formula.function(tp, fp, tn, fn)
        value = value if isinstance(value, _Quotient) else _Quotient(_symbol(value), _symbol(1))
    except Exception:  # whatever a formula does with numbers that symbols cannot do
        return None
    return LinearRatio(Weights(*value.upper.weights), Weights(*value.lower.weights))


class _NotLinearError(Exception):
    """Raised where the symbols cannot tell the value to the last bit."""


class _Zero:
    """The comparison of a symbol with 0, which `ratio` adds to that symbol."""

    def __init__(self, symbol: "_Symbol") -> None:
        self.symbol = symbol

    def __bool__(self) -> bool:
        raise _NotLinearError


class _Quotient:
    """One symbol divided by another; arithmetic and comparisons are refused."""

    def __init__(self, upper: "_Symbol", lower: "_Symbol") -> None:
        self.upper, self.lower = upper, lower

    def __eq__(self, other: object) -> bool:
        raise _NotLinearError

    __hash__ = None  # type: ignore[assignment]


class _Symbol:
    """A weighted sum of counts, the prior and 1 that is evaluated in the order of `Weights`."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.weights = tuple(float(weight) for weight in weights)
        self.is_whole = not self.weights[4] and all(
            weight.is_integer() and abs(weight) <= EXACT for weight in self.weights
        )
        # The last two are constants, and added as one.
        self.places = [min(place, 4) for place, weight in enumerate(self.weights) if weight]

    def __add__(self, other: Any) -> "_Symbol":
        if isinstance(other, _Zero):
            return self._guarded(other)
        other = _symbol(other)
        total = _Symbol([a + b for a, b in zip(self.weights, other.weights, strict=True)])
        if self.is_whole and other.is_whole and total.is_whole:
            return total
        for first, second in ((self, other), (other, self)):
            comes_after = max(first.places, default=-1) < min(second.places, default=5)
            if comes_after and len(second.places) <= 1:
                return total
        raise _NotLinearError

    __radd__ = __add__

    def __neg__(self) -> "_Symbol":
        return _Symbol([-weight for weight in self.weights])

    def __sub__(self, other: Any) -> "_Symbol":
        return self + -_symbol(other)

    def __rsub__(self, other: Any) -> "_Symbol":
        return _symbol(other) + -self

    def __mul__(self, factor: Any) -> "_Symbol":
        if isinstance(factor, _Symbol | _Quotient | _Zero):
            raise _NotLinearError
        product = _Symbol([factor * weight for weight in self.weights])
        is_unit = len(self.places) <= 1 and all(abs(weight) in (0, 1) for weight in self.weights)
        if not is_unit and not (self.is_whole and product.is_whole):
            raise _NotLinearError
        return product

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "_Quotient | _Symbol":
        other = _symbol(other)
        if (self.weights, other.weights) == (_POSITIVES, _CELLS):
            return _Symbol(_only(4))
        return _Quotient(self, other)

    def __rtruediv__(self, other: Any) -> "_Quotient | _Symbol":
        return _symbol(other) / self

    def __eq__(self, other: object) -> Any:
        if isinstance(other, _Symbol) or other != 0:
            raise _NotLinearError
        return _Zero(self)

    __hash__ = None  # type: ignore[assignment]

    def _guarded(self, zero: _Zero) -> "_Symbol":
        if zero.symbol is not self:
            raise _NotLinearError
        return self


_POSITIVES, _CELLS = (1.0, 1.0, 0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0, 0.0, 0.0)


def _only(place: int) -> list[float]:
    return [float(place == each) for each in range(6)]


def _symbol(value: Any) -> _Symbol:
    """A number as a symbol; symbols stay as they are."""
    if isinstance(value, _Symbol):
        return value
    number = float(value)
    if abs(number) == float("inf") or number != number:
        raise _NotLinearError
    return _Symbol([0, 0, 0, 0, 0, number])
