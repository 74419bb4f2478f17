"""Formulas: plain arithmetic on the counts of a confusion matrix, registered by name.

The same code runs on Python ints, on Fractions (exactly, where the formula is rational), on NumPy
arrays and, compiled, on scalars inside a kernel. Hence no branches, and products of at most two
counts, so that 64-bit integers do not overflow below three thousand million cells.

``tp + fp`` is what a rule covers, ``tp + fn`` and ``fp + tn`` are all positives and negatives. The
default parameters are those found best by F. Janssen and J. Fürnkranz, "On the quest for optimal
rule learning heuristics", Machine Learning 78 (2010) 343-379, doi:10.1007/s10994-009-5162-2,
except for F, where F1 is the usual one (theirs is F0.5).
"""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from numbers import Rational
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias, cast

import numpy as np

from labelrules._checks import number, quoted, suggestion

_LARGE = 1e6  # parameters above are tried out on very large counts

Number = Any
"""An int, a Fraction, a float or an array."""


def ratio(part: Number, whole: Number) -> Number:
    """``part / whole``, and 0 where both are 0: the only definition of 0/0.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, 0.0)
    """
    return part / (whole + (whole == 0))


Function: TypeAlias = Callable[..., Any]
"""From four counts (ints, Fractions or arrays) and at most one parameter to a value."""

Entry: TypeAlias = tuple[FunctionType, float | None]
"""A registered function and the default of its parameter, None when it has none."""

_REGISTRY: dict[str, Entry] = {}

ALIASES = {
    "accuracy": "hamming",
    "hamming-accuracy": "hamming",
    "subset-accuracy": "subset",
    "f-measure": "f",
    "wra": "weighted-relative-accuracy",
}
"""Synonyms; the registered name is the one that is printed."""


def formula(name: str, *, replace: bool = False) -> Callable[[Function], Function]:
    """Register the decorated function of four counts as a formula.

    Parameters
    ----------
    name : str
        Lowercase words joined by hyphens, without digits, so that a number may follow.
    replace : bool, default=False
        Whether to replace an existing formula of this name.

    Examples
    --------
    >>> from labelrules.measures import Measure, formula, ratio
    >>> @formula("balanced-accuracy")
    ... def balanced_accuracy(tp, fp, tn, fn):
    ...     return (ratio(tp, tp + fn) + ratio(tn, tn + fp)) / 2
    >>> measure = Measure.parse("balanced-accuracy/macro/full")
    >>> measure.of_predictions([[1], [0], [0]], [[1], [1], [0]])
    0.75
    >>> forget("balanced-accuracy")
    """

    def enter(function: Function) -> Function:
        register_formula(name, function, replace=replace)
        return function

    return enter


def register_formula(name: str, function: Function, *, replace: bool = False) -> None:
    """Register a function of ``tp, fp, tn, fn`` and at most one parameter with a default.

    It must be plain arithmetic on numbers, arrays and compiled scalars; it is checked first.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z]+(-[a-z]+)*", name):
        raise ValueError(f"a formula's name is lowercase words joined by hyphens, not {name!r}")
    if name in ALIASES:
        raise ValueError(f"{name!r} is a synonym of the formula {ALIASES[name]!r}")
    if name in _REGISTRY and not replace:
        raise ValueError(f"there is a formula {name!r} already; replace=True overwrites it")
    if not isinstance(function, FunctionType):
        raise ValueError(f"formula {name!r} must be a plain Python function, not {function!r}")
    default = _default_parameter(name, function)
    _check_function(name, function)
    _REGISTRY[name] = (function, default)


def forget(name: str) -> None:
    """Remove a formula; a built-in one is removed until the next import."""
    del _REGISTRY[canonical(name)]


def formula_names() -> tuple[str, ...]:
    """The names of all formulas, in the order of their registration."""
    return tuple(_REGISTRY)


def canonical(name: str) -> str:
    """The registered name of a formula or of its synonym: "hamming" for "accuracy"."""
    registered_name = ALIASES.get(name, name)
    if registered_name not in _REGISTRY:
        raise ValueError(
            f"there is no formula {quoted(name)}{suggestion(name, [*_REGISTRY, *ALIASES])}"
            f" (known: {', '.join(_REGISTRY)}; a formula of your own is registered with"
            " labelrules.measures.formula, in every process that uses it)"
        )
    return registered_name


def entry(name: str) -> Entry:
    """The function registered under a name and the default of its parameter."""
    return _REGISTRY[canonical(name)]


def helpers(function: FunctionType) -> tuple[FunctionType, ...]:
    """The plain functions that a formula calls, which must be compiled with it."""
    called: list[FunctionType] = []
    waiting = [function]
    while waiting:
        current = waiting.pop()
        for name in current.__code__.co_names:
            other = current.__globals__.get(name)
            if isinstance(other, FunctionType) and other not in called:
                called.append(other)
                waiting.append(other)
    return tuple(called)


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
    return number(rest[0].default, f"the default of {rest[0].name!r} of formula {name!r}", low=0)


def _check_function(name: str, function: FunctionType) -> None:
    """Evaluate it on every matrix with counts 0, 1 and 3: values must be finite and arithmetic."""
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


@formula("precision")
def precision(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Share of the positive predictions that are right."""
    return ratio(tp, tp + fp)


@formula("recall")
def recall(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Share of the positives that are predicted."""
    return ratio(tp, tp + fn)


@formula("hamming")
def hamming(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Share of all predictions that are right; rule learners call it accuracy."""
    return ratio(tp + tn, tp + fp + tn + fn)


@formula("f")
def f(tp: Number, fp: Number, tn: Number, fn: Number, beta: Number = 1.0) -> Number:
    """Weighted harmonic mean of precision and recall; recall weighs beta² times as much."""
    b = beta * beta
    return ratio((1 + b) * tp, (1 + b) * tp + b * fn + fp)


@formula("subset")
def subset(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """1 if something is right and nothing is wrong, else 0."""
    return ratio(tp + tn, tp + tn) * (fp + fn == 0)


@formula("jaccard")
def jaccard(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """True positives as a share of what is predicted or true."""
    return ratio(tp, tp + fp + fn)


@formula("laplace")
def laplace(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Precision with one right and one wrong prediction added."""
    return (tp + 1) / (tp + fp + 2)


@formula("m-estimate")
def m_estimate(tp: Number, fp: Number, tn: Number, fn: Number, m: Number = 22.466) -> Number:
    """Precision with m predictions added, which are right at the rate of the positives."""
    prior = ratio(tp + fn, tp + fp + tn + fn)
    return ratio(tp + m * prior, tp + fp + m)


@formula("weighted-relative-accuracy")
def weighted_relative_accuracy(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Coverage times the gain in precision over predicting always."""
    total = tp + fp + tn + fn
    return ratio(tp * tn - fp * fn, total * total)


@formula("klosgen")
def klosgen(tp: Number, fp: Number, tn: Number, fn: Number, omega: Number = 0.4323) -> Number:
    """Coverage to the power omega, times the gain in precision; omega weighs the coverage."""
    total = tp + fp + tn + fn
    gain = ratio(tp, tp + fp) - ratio(tp + fn, total)
    return ratio(tp + fp, total) ** omega * gain


@formula("correlation")
def correlation(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Correlation of prediction and truth (phi, Matthews)."""
    by_truth = ((tp + fn) * (fp + tn)) ** 0.5
    by_prediction = ((tp + fp) * (fn + tn)) ** 0.5
    return ratio(tp * tn - fp * fn, by_truth * by_prediction)


@formula("rate-difference")
def rate_difference(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """True positive rate minus false positive rate."""
    return ratio(tp, tp + fn) - ratio(fp, fp + tn)


@formula("linear-cost")
def linear_cost(tp: Number, fp: Number, tn: Number, fn: Number, c: Number = 0.437) -> Number:
    """Each true positive earns c, each false positive costs 1 - c."""
    return c * tp - (1 - c) * fp


@formula("foil-gain")
def foil_gain(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Bits saved by a refinement in encoding that its true positives are positive.

    Pass the counts *within what the predecessor of the refined rule covers*: ``tp + fn`` and
    ``fp + tn`` are the predecessor's true and false positives. On the counts of the whole table the
    predecessor is the empty body.
    """
    # Where tp is 0 the value is 0; adding 1 to a share of 0 keeps its logarithm finite.
    after = ratio(tp, tp + fp) + (tp == 0)
    before = ratio(tp + fn, tp + fp + tn + fn) + (tp + fn == 0)
    return tp * (np.log2(after * 1.0) - np.log2(before * 1.0))


_TEXT = re.compile(r"(?P<name>[a-z]+(?:-[a-z]+)*)(?:\((?P<inner>[^()]*)\)|(?P<outer>[0-9.].*))?")


@dataclass(frozen=True, slots=True, repr=False)
class Formula:
    """A registered formula with the value of its parameter.

    It is looked up by name when it is used, so that it can be pickled: another process must have
    registered the same name.

    Parameters
    ----------
    name : str
        A registered name or a synonym.
    parameter : float, optional
        At least 0; the formula's default when left out.

    Examples
    --------
    >>> Formula("f", 0.5), str(Formula("m-estimate"))
    (<Formula: f0.5>, 'm-estimate(22.466)')
    >>> Formula("f", 0.5)(tp=1, fp=1, tn=0, fn=3), Formula("f", 0.5).exact(1, 1, 0, 3)
    (0.4166666666666667, Fraction(5, 12))
    >>> Formula.parse("f0.5") == Formula.parse("f(0.5)") == Formula("f-measure", 0.5)
    True
    """

    name: str
    parameter: float | None = None

    def __post_init__(self) -> None:
        name = canonical(self.name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "parameter", _checked(name, self.parameter))

    @classmethod
    def parse(cls, text: str) -> "Formula":
        """Read ``"precision"``, ``"m-estimate(10)"`` or ``"f0.5"``."""
        match = _TEXT.fullmatch(text.strip().lower())
        if match is None:
            shown = quoted(text)
            raise ValueError(f"{shown} is no formula; write e.g. 'precision' or 'm-estimate(10)'")
        digits = match["inner"] if match["inner"] is not None else match["outer"]
        if digits is None:
            return cls(match["name"])
        canonical(match["name"])  # report an unknown name first
        try:
            parameter = float(digits)
        except ValueError:
            message = f"{quoted(digits)} in the formula {quoted(text)} is no number"
            raise ValueError(message) from None
        try:
            return cls(match["name"], parameter)
        except ValueError as wrong:
            raise ValueError(f"{quoted(text)}: {wrong}") from None

    def __str__(self) -> str:
        if self.parameter is None:
            return self.name
        digits = repr(self.parameter).removesuffix(".0")
        return f"{self.name}{digits}" if self.name == "f" else f"{self.name}({digits})"

    def __repr__(self) -> str:
        return f"<Formula: {self}>"

    def __call__(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
        """The value for counts, or for arrays of counts."""
        return self.function(tp, fp, tn, fn)

    @property
    def function(self) -> FunctionType:
        """The formula to be compiled with its :func:`helpers`; the parameter is a default."""
        given, _ = entry(self.name)
        if self.parameter is None:
            return given
        return FunctionType(
            given.__code__, given.__globals__, self.name, (self.parameter,), given.__closure__
        )

    def exact(self, tp: int, fp: int, tn: int, fn: int) -> Fraction:
        """The value as a fraction (0.1 is 1/10); an error for formulas with irrational values."""
        counts = [Fraction(int(count)) for count in (tp, fp, tn, fn)]
        if self.parameter is not None:
            counts.append(Fraction(repr(self.parameter)))
        function, _ = entry(self.name)
        try:
            value = function(*counts)
        except TypeError:  # such as a NumPy function, which takes no fractions
            value = None
        if not isinstance(value, Rational):
            raise ValueError(f"{self} has no exact value as a fraction; use exact=False")
        return Fraction(value)


def _checked(name: str, parameter: float | None) -> float | None:
    _, default = entry(name)
    if parameter is None:
        return default
    if default is None:
        raise ValueError(f"the formula {name!r} has no parameter, but {parameter!r} was given")
    checked = number(parameter, f"the parameter of {name!r}", low=0) + 0.0  # and never -0.0
    function, _ = entry(name)
    if checked > _LARGE and not _is_finite(function, checked):
        raise ValueError(
            f"the parameter of {name!r} is {checked!r}, which is too large: the values of the "
            "formula would not be finite numbers"
        )
    return checked


def _is_finite(function: Function, parameter: float) -> bool:
    """Whether a formula has finite values for counts of none and of very many."""
    rows = product((0.0, 2.0**53), repeat=4)
    return all(math.isfinite(_value(function, row, parameter)) for row in rows)


def _value(function: Function, counts: tuple[float, ...], parameter: float) -> float:
    try:
        return float(function(*counts, parameter))
    except (OverflowError, ZeroDivisionError):
        return math.inf


def definition_of(formula: Formula) -> bytes:
    """All that the values of a formula depend on except its parameter: code, constants, helpers."""
    function = cast(FunctionType, formula.function)
    return repr([_function_parts(each) for each in (function, *helpers(function))]).encode()


def _function_parts(function: FunctionType) -> list[Any]:
    code = function.__code__
    outside = [function.__globals__.get(name) for name in code.co_names]
    outside += [cell.cell_contents for cell in function.__closure__ or ()]
    # Functions are helpers, and the contents of a module are the same for every caller.
    values = [o for o in outside if not isinstance(o, ModuleType | type) and not callable(o)]
    return [_code_parts(code), values]


def _code_parts(code: CodeType) -> list[Any]:
    inner = [_code_parts(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return [code.co_code, inner, code.co_names]


def is_monotone(formula: Formula) -> bool:
    """Whether right cells never lower the formula and wrong ones never raise it, so bounds hold.

    >>> is_monotone(Formula("f", 0.5)), is_monotone(Formula("linear-cost", 1.5))
    (True, False)
    """
    # The name may have been given to another function.
    is_built_in = formula.function.__module__ == __name__
    rewards_errors = formula.name == "linear-cost" and (formula.parameter or 0.0) > 1
    return formula.name in _MONOTONE and is_built_in and not rewards_errors


_MONOTONE = frozenset({
    "precision", "recall", "hamming", "f", "jaccard", "laplace", "m-estimate",
    "weighted-relative-accuracy", "rate-difference", "linear-cost",
})  # fmt: skip


def is_quasi_convex(formula: Formula) -> bool:
    """Whether no mixture of two predictions for given cells is better than the better of both.

    Then the best set of categories is a cut of their order by precision; see docs/covering.md.
    Where the formula is negative it need not hold.

    >>> is_quasi_convex(Formula("correlation")), is_quasi_convex(Formula("subset"))
    (True, False)
    """
    is_built_in = formula.function.__module__ == __name__
    if formula.name == "klosgen":
        return is_built_in and (formula.parameter or 0.0) <= 1
    return is_built_in and formula.name in _MONOTONE | {"correlation", "foil-gain"}
