"""Formulas, compiled: the one definition of each runs inside the kernels."""

from functools import cache
from types import CodeType, FunctionType, ModuleType
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
    return _compiled(makeup(formula), formula)


def makeup(formula: Formula) -> bytes:
    """All that the values of a formula depend on, but its parameter: code, constants, helpers."""
    function = cast(FunctionType, formula.function)
    return repr([_parts(each) for each in (function, *helpers(function))]).encode()


def _parts(function: FunctionType) -> list[Any]:
    code = function.__code__
    outside = [function.__globals__.get(name) for name in code.co_names]
    outside += [cell.cell_contents for cell in function.__closure__ or ()]
    # Functions are helpers, and what a module has is the same whoever asks.
    values = [o for o in outside if not isinstance(o, ModuleType | type) and not callable(o)]
    return [_code_parts(code), values]


def _code_parts(code: CodeType) -> list[Any]:
    inner = [_code_parts(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return [code.co_code, inner, code.co_names]


@cache
def _compiled(made_of: bytes, formula: Formula) -> Any:
    """One compilation per formula; a formula registered anew is made of something else."""
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
