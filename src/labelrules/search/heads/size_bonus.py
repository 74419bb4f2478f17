"""How much a larger head is favoured: factors on the value, by head size."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

Lift: TypeAlias = Callable[[int], float]
"""From the size of a head, at least 1, to a positive factor."""


def no_lift(size: int) -> float:
    """Head size does not matter.

    >>> no_lift(7)
    1.0
    """
    return 1.0


@dataclass(frozen=True, slots=True)
class LogarithmicLift:
    """What `kln` makes: a value, so that it can be compared, pickled and kept."""

    a: float

    def __call__(self, size: int) -> float:
        """The factor of a size."""
        return 1.0 + self.a * math.log(size)


@dataclass(frozen=True, slots=True)
class RootLift:
    """What `root` makes."""

    a: float

    def __call__(self, size: int) -> float:
        """The factor of a size."""
        return float(size ** (1.0 / self.a))


@dataclass(frozen=True, slots=True)
class PeakLift:
    """What `peak` makes."""

    size: int
    lift: float
    n_labels: int
    curvature: float

    def __call__(self, size: int) -> float:
        """The factor of a size."""
        rises = size <= self.size
        way = self.size - 1 if rises else self.n_labels - self.size
        done = size - 1 if rises else self.n_labels - size
        share = max(done / way, 0.0) if way else float(done == 0)
        return 1.0 + (self.lift - 1.0) * float(share ** (1.0 / self.curvature))


def kln(a: float) -> Lift:
    """Rise with the logarithm of the size: 1 + a ln k.

    Examples
    --------
    >>> kln(0.2)(1), round(kln(0.2)(5), 4)
    (1.0, 1.3219)
    """
    _check_positive(a)
    return LogarithmicLift(float(a))


def root(a: float) -> Lift:
    """Rise with a root of the size: k to the power 1/a.

    Examples
    --------
    >>> root(4)(1), root(4)(16)
    (1.0, 2.0)
    """
    _check_positive(a)
    return RootLift(float(a))


def peak(size: int, lift: float, n_labels: int, curvature: float = 1.0) -> Lift:
    """Rise from 1 for one label to `lift` at a size, then fall to 1 for `n_labels` and more.

    Examples
    --------
    >>> [round(peak(3, 1.5, n_labels=5)(k), 2) for k in range(1, 6)]
    [1.0, 1.25, 1.5, 1.25, 1.0]
    """
    if not 1 <= size <= n_labels:
        raise ValueError(f"the peak must be at a size from 1 to {n_labels}, not {size}")
    _check_positive(lift)
    _check_positive(curvature)
    return PeakLift(int(size), float(lift), int(n_labels), float(curvature))


def factors(lift: Lift, n_labels: int) -> list[float]:
    """The factor of every size from 0 to `n_labels`; no label counts as one label."""
    if not callable(lift):
        raise ValueError(f"lift must be a function of the head size like kln(0.2), not {lift!r}")
    values = [lift(size) for size in range(1, n_labels + 1)]
    for size, value in enumerate(values, start=1):
        if not _is_positive(value):
            raise ValueError(
                f"a lift is a positive number; for heads of size {size} it is {value!r}"
            )
    return [float(value) for value in (values[0], *values)]


def _check_positive(value: float) -> None:
    if not _is_positive(value):
        raise ValueError(f"expected a positive number, not {value!r}")


def _is_positive(value: object) -> bool:
    return isinstance(value, Real) and math.isfinite(value) and float(value) > 0
