"""Factors on the value of a head by its size, to favour larger heads."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from labelrules._checks import number, whole_number

SizeBonus: TypeAlias = Callable[[int], float]
"""From the size of a head, at least 1, to a positive factor."""


def no_bonus(size: int) -> float:
    """The factor 1 for every size."""
    return 1.0


@dataclass(frozen=True, slots=True)
class LogarithmicBonus:
    """The size bonus of `kln`: a value, so that it can be compared, pickled and stored."""

    a: float

    def __call__(self, size: int) -> float:
        """The factor of a size."""
        return 1.0 + self.a * math.log(size)


@dataclass(frozen=True, slots=True)
class RootBonus:
    """The size bonus of `root`."""

    a: float

    def __call__(self, size: int) -> float:
        """The factor of a size."""
        return float(size ** (1.0 / self.a))


@dataclass(frozen=True, slots=True)
class PeakBonus:
    """The size bonus of `peak`."""

    size: int
    factor: float
    n_labels: int
    curvature: float

    def __call__(self, size: int) -> float:
        """The factor of a size."""
        rises = size <= self.size
        length = self.size - 1 if rises else self.n_labels - self.size
        done = size - 1 if rises else self.n_labels - size
        share = max(done / length, 0.0) if length else float(done == 0)
        return 1.0 + (self.factor - 1.0) * float(share ** (1.0 / self.curvature))


def kln(a: float) -> SizeBonus:
    """Rise with the logarithm of the size: 1 + a ln k.

    >>> kln(0.2)(1), round(kln(0.2)(5), 4)
    (1.0, 1.3219)
    """
    return LogarithmicBonus(number(a, "a", above=0))


def root(a: float) -> SizeBonus:
    """Rise with a root of the size: k to the power 1/a.

    >>> root(4)(1), root(4)(16)
    (1.0, 2.0)
    """
    return RootBonus(number(a, "a", above=0))


def peak(size: int, factor: float, n_labels: int, curvature: float = 1.0) -> SizeBonus:
    """Rise from 1 for one label to `factor` at a size, then fall to 1 for `n_labels` and more.

    >>> [round(peak(3, 1.5, n_labels=5)(k), 2) for k in range(1, 6)]
    [1.0, 1.25, 1.5, 1.25, 1.0]
    """
    n_labels = whole_number(n_labels, "n_labels", low=1)
    size = whole_number(size, "size", low=1, high=n_labels)
    factor, curvature = number(factor, "factor", above=0), number(curvature, "curvature", above=0)
    return PeakBonus(size, factor, n_labels, curvature)


def factors(size_bonus: SizeBonus, n_labels: int) -> list[float]:
    """The factor of every size from 0 to `n_labels`; no label counts as one label."""
    if not callable(size_bonus):
        raise ValueError(
            f"size_bonus must be a function of the head size like kln(0.2), not {size_bonus!r}"
        )
    sizes = range(1, n_labels + 1)
    values = [number(size_bonus(size), f"size_bonus({size})", above=0) for size in sizes]
    return [values[0], *values]
