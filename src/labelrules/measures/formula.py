"""A formula with its parameter, as a value."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from types import FunctionType
from typing import Any

import labelrules.measures.formulas  # noqa: F401  (enters the formulas into the registry)
from labelrules.measures.registry import canonical, entry

_TEXT = re.compile(r"(?P<name>[a-z]+(?:-[a-z]+)*)(?:\((?P<inner>[^()]*)\)|(?P<outer>[0-9.].*))?")


@dataclass(frozen=True, slots=True)
class Formula:
    """The name of a registered formula and the value of its parameter.

    It is looked up by name when it is used, so that it can be pickled: another process
    must have registered the same name.

    Parameters
    ----------
    name : str
        A registered name, or another word for one.
    parameter : float, optional
        At least 0; the formula's default when left out.

    Examples
    --------
    >>> Formula("f", 0.5)(tp=1, fp=1, tn=0, fn=3)
    0.4166666666666667
    >>> Formula.parse("f0.5") == Formula.parse("f(0.5)") == Formula("f-measure", 0.5)
    True
    >>> str(Formula("m-estimate"))
    'm-estimate(22.466)'
    >>> Formula("f", 0.5).exact(1, 1, 0, 3)
    Fraction(5, 12)
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
            raise ValueError(f"{text!r} is no formula; write e.g. 'precision' or 'm-estimate(10)'")
        number = match["inner"] if match["inner"] is not None else match["outer"]
        if number is None:
            return cls(match["name"])
        canonical(match["name"])  # an unknown name is the greater mistake
        try:
            parameter = float(number)
        except ValueError:
            raise ValueError(f"{number!r} in the formula {text!r} is no number") from None
        return cls(match["name"], parameter)

    def __str__(self) -> str:
        if self.parameter is None:
            return self.name
        number = repr(self.parameter).removesuffix(".0")
        return f"{self.name}{number}" if self.name == "f" else f"{self.name}({number})"

    def __call__(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
        """The value for counts, or for arrays of counts."""
        return self.function(tp, fp, tn, fn)

    @property
    def function(self) -> FunctionType:
        """A plain function of four counts, ready to be compiled: the parameter is its default.

        The functions it calls are in :func:`labelrules.measures.registry.helpers`.
        """
        given, _ = entry(self.name)
        if self.parameter is None:
            return given
        return FunctionType(
            given.__code__, given.__globals__, self.name, (self.parameter,), given.__closure__
        )

    def exact(self, tp: int, fp: int, tn: int, fn: int) -> Fraction:
        """The value as a fraction; an error where it is irrational by nature.

        A parameter means the decimal number it is written as: 0.1 is 1/10.
        """
        counts = [Fraction(int(count)) for count in (tp, fp, tn, fn)]
        if self.parameter is not None:
            counts.append(Fraction(repr(self.parameter)))
        function, _ = entry(self.name)
        try:
            value = function(*counts)
        except TypeError:  # such as a NumPy function, which takes no fractions
            value = None
        if not isinstance(value, Rational):
            raise ValueError(f"{self} has no exact value as a fraction; ask for the float")
        return Fraction(value)


def _checked(name: str, parameter: float | None) -> float | None:
    _, default = entry(name)
    if parameter is None:
        return default
    if default is None:
        raise ValueError(f"the formula {name!r} has no parameter, but {parameter!r} was given")
    if isinstance(parameter, bool) or not isinstance(parameter, Real):
        raise ValueError(f"the parameter of {name!r} must be a number, not {parameter!r}")
    if not (math.isfinite(parameter) and parameter >= 0):
        raise ValueError(
            f"the parameter of {name!r} must be finite and at least 0, not {parameter}"
        )
    return float(parameter) + 0.0  # and never -0.0
