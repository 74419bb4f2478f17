"""The book of formulas: what a name means, and what may be entered under one."""

import inspect
import math
import re
from collections.abc import Callable
from itertools import product
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np

from labelrules._checks import suggestion

Function: TypeAlias = Callable[..., Any]
"""From four counts (ints, Fractions or arrays) and at most one parameter to a value."""


Entry: TypeAlias = tuple[FunctionType, float | None]
"""A registered function and the default of its parameter, None when it has none."""

_BOOK: dict[str, Entry] = {}

ALIASES = {
    "accuracy": "hamming",
    "hamming-accuracy": "hamming",
    "subset-accuracy": "subset",
    "f-measure": "f",
    "wra": "weighted-relative-accuracy",
}
"""Other words for a formula; the registered name is the one that is printed."""


def formula(name: str, *, replace: bool = False) -> Callable[[Function], Function]:
    """Register the decorated function of four counts as a formula.

    Parameters
    ----------
    name : str
        Lowercase words joined by hyphens, without digits, so that a number may follow.
    replace : bool, default=False
        Whether an existing formula of this name gives way.

    Examples
    --------
    Five lines give a formula that works on arrays, exactly, in measures and compiled:

    >>> from labelrules.measures import Measure, formula, ratio
    >>> @formula("balanced-accuracy")
    ... def balanced_accuracy(tp, fp, tn, fn):
    ...     return (ratio(tp, tp + fn) + ratio(tn, tn + fp)) / 2
    >>> measure = Measure.parse("balanced-accuracy/label/full")
    >>> measure.of_predictions([[1], [0], [0]], [[1], [1], [0]])
    0.75
    >>> forget("balanced-accuracy")
    """

    def enter(function: Function) -> Function:
        register(name, function, replace=replace)
        return function

    return enter


def register(name: str, function: Function, *, replace: bool = False) -> None:
    """Enter a function of ``tp, fp, tn, fn`` and at most one parameter with a default.

    It must be plain arithmetic: the same code gets numbers, arrays and compiled scalars.
    It is tried on small counts first and refused with the reason when it is not.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z]+(-[a-z]+)*", name):
        raise ValueError(f"a formula's name is lowercase words joined by hyphens, not {name!r}")
    if name in ALIASES:
        raise ValueError(f"{name!r} is another word for the formula {ALIASES[name]!r}")
    if name in _BOOK and not replace:
        raise ValueError(f"there is a formula {name!r} already; replace=True overwrites it")
    if not isinstance(function, FunctionType):
        raise ValueError(f"formula {name!r} must be a plain Python function, not {function!r}")
    default = _default_parameter(name, function)
    _try_out(name, function)
    _BOOK[name] = (function, default)


def forget(name: str) -> None:
    """Take a formula out of the book; one that is built in too, until the next import."""
    del _BOOK[canonical(name)]


def registered() -> tuple[str, ...]:
    """The names of all formulas, in the order in which they were entered."""
    return tuple(_BOOK)


def canonical(name: str) -> str:
    """The registered name that a word stands for.

    >>> canonical("accuracy")
    'hamming'
    """
    found = ALIASES.get(name, name)
    if found not in _BOOK:
        raise ValueError(
            f"there is no formula {name!r}{suggestion(name, [*_BOOK, *ALIASES])}"
            f" (known: {', '.join(_BOOK)}; a formula of your own is registered with"
            " labelrules.measures.formula, in every process that uses it)"
        )
    return found


def entry(name: str) -> Entry:
    """The function registered under a name and the default of its parameter."""
    return _BOOK[canonical(name)]


def helpers(function: FunctionType) -> tuple[FunctionType, ...]:
    """The plain functions that a formula calls, so that a compiler can be told of them.

    >>> [helper.__name__ for helper in helpers(entry("precision")[0])]
    ['ratio']
    """
    found: list[FunctionType] = []
    waiting = [function]
    while waiting:
        current = waiting.pop()
        for name in current.__code__.co_names:
            called = current.__globals__.get(name)
            if isinstance(called, FunctionType) and called not in found:
                found.append(called)
                waiting.append(called)
    return tuple(found)


def _default_parameter(name: str, function: FunctionType) -> float | None:
    parameters = list(inspect.signature(function).parameters.values())
    counts, rest = parameters[:4], parameters[4:]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if len(counts) < 4 or len(rest) > 1 or any(p.kind not in positional for p in parameters):
        raise ValueError(
            f"formula {name!r} must take (tp, fp, tn, fn) and at most one parameter,"
            f" not {inspect.signature(function)}"
        )
    if not rest:
        return None
    default = rest[0].default
    if isinstance(default, bool) or not isinstance(default, (int, float)) or default < 0:
        raise ValueError(
            f"the parameter {rest[0].name!r} of formula {name!r} needs a number of at least 0"
            " as default"
        )
    return float(default)


def _try_out(name: str, function: FunctionType) -> None:
    """Refuse what is not finite or not arithmetic, on every matrix with counts 0, 1 and 3."""
    rows = list(product((0, 1, 3), repeat=4))
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    try:
        with np.errstate(divide="raise", invalid="raise", over="raise"):
            whole = np.asarray(function(*columns))
        single = [float(function(*row)) for row in rows]
    except Exception as error:
        raise ValueError(
            f"formula {name!r} fails on small counts ({type(error).__name__}: {error});"
            " write it as arithmetic that takes numbers and arrays alike,"
            " with labelrules.measures.ratio where a denominator can be 0"
        ) from None
    if whole.shape != (len(rows),):
        raise ValueError(f"formula {name!r} must return one value for each element of its counts")
    for row, value in zip(rows, single, strict=True):
        if not math.isfinite(value):
            counts = "tp={}, fp={}, tn={}, fn={}".format(*row)
            raise ValueError(f"formula {name!r} is {value} for {counts}; use ratio for 0/0 = 0")
    if not np.allclose(whole.astype(np.float64), single, rtol=1e-12, atol=1e-12):
        raise ValueError(f"formula {name!r} gives other values for arrays than for numbers")
