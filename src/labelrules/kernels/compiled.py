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


def formula_with_parameter(formula: Formula, mark: str) -> Any:
    """The formula as a compiled function of four counts and its parameter, if it has one or not.

    A division by zero gives no number instead of an error, so that many counts at a time can be
    scored. All that is compiled carries the mark in its name; see `specialised`.
    """
    function = cast(FunctionType, formula.function)
    given = dict(function.__globals__)
    for helper in reversed(helpers(function)):
        given[helper.__name__] = _marked(_rebound(helper, given), mark)
    inner = _marked(_rebound(function, given), mark)

    def parametric(tp, fp, tn, fn, parameter):
        return inner(tp, fp, tn, fn, parameter)

    def plain(tp, fp, tn, fn, parameter):
        return inner(tp, fp, tn, fn)

    return _marked(plain if formula.parameter is None else parametric, mark)


def _marked(function: Any, mark: str) -> Any:
    function.__name__ = f"{function.__name__}_{mark}"
    function.__qualname__ = function.__name__
    return njit(error_model="numpy")(function)
