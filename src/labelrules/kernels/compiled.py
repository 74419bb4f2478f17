"""Formulas, compiled: the one definition of each runs inside the kernels."""

from functools import cache
from types import FunctionType
from typing import Any, cast

from numba import njit

from labelrules.measures import Formula, helpers


def compiled(formula: Formula) -> Any:
    """A formula as a compiled function of four counts.

    Examples
    --------
    >>> from labelrules.measures import Formula
    >>> compiled(Formula("f", 0.5))(1, 1, 0, 3)
    0.4166666666666667
    """
    return _compiled(formula.function.__code__, formula)


@cache
def _compiled(code: Any, formula: Formula) -> Any:
    """One compilation per formula; a formula registered anew has other code."""
    function = cast(FunctionType, formula.function)
    # A compiled function can only call compiled ones, so give it its helpers that way.
    given = dict(function.__globals__)
    for helper in reversed(helpers(function)):
        given[helper.__name__] = njit(_rebound(helper, given))
    return njit(_rebound(function, given))


def _rebound(function: FunctionType, given: dict[str, Any]) -> FunctionType:
    return FunctionType(
        function.__code__, given, function.__name__, function.__defaults__, function.__closure__
    )


def formula_with_parameter(formula: Formula) -> Any:
    """The formula as a compiled function of four counts and its parameter, if it has one or not.

    A division by zero gives no number instead of an error, so that many counts at a time can be
    scored.
    """
    function = cast(FunctionType, formula.function)
    given = dict(function.__globals__)
    for helper in reversed(helpers(function)):
        given[helper.__name__] = njit(error_model="numpy")(_rebound(helper, given))
    inner = njit(error_model="numpy")(_rebound(function, given))

    def parametric(tp, fp, tn, fn, parameter):
        return inner(tp, fp, tn, fn, parameter)

    def plain(tp, fp, tn, fn, parameter):
        return inner(tp, fp, tn, fn)

    return njit(error_model="numpy")(plain if formula.parameter is None else parametric)
