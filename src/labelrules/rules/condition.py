"""One test on one column."""

from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from labelrules._types import Mask

Operator: TypeAlias = Literal["<=", ">", "=", "!="]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True, slots=True)
class Condition:
    """A test on a column of X or, with `on_label`, on a label column of the board.

    A condition holds no names and no data: `column` is a number, and the value of
    a nominal feature is the number of its category. Missing values and cells that
    are not written yet satisfy no condition, "!=" included.

    Parameters
    ----------
    column : int
        Which feature, or which label.
    operator : {"<=", ">", "=", "!="}
        The first two for numeric features, the others for nominal ones; a label
        is tested by "=" alone.
    value : float
        A threshold, the number of a category, or 0 or 1 for a label.
    on_label : bool, default=False
        Whether `column` counts labels.

    Examples
    --------
    >>> Condition.at_most(0, 2.5).holds([1.0, 3.0, float("nan")])
    array([ True, False, False])
    >>> Condition.label(0, present=False).holds([0, 1, -1])
    array([ True, False, False])
    """

    column: int
    operator: Operator
    value: float
    on_label: bool = False

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise ValueError(f"there is no operator {self.operator!r}: use one of {OPERATORS}")
        if self.column < 0 or self.column != int(self.column):
            raise ValueError(f"columns are counted from 0; there is no column {self.column}")
        if not isfinite(self.value):
            raise ValueError(f"a condition compares with a finite number, not {self.value}")
        if self.on_label and (self.operator != "=" or self.value not in (0, 1)):
            raise ValueError("a label is present (= 1) or absent (= 0); nothing else can be asked")
        if self.is_equality and (self.value < 0 or self.value != int(self.value)):
            raise ValueError(f"categories are numbered from 0; there is no category {self.value}")
        # 0.0 and -0.0 mean the same threshold, so there is only one way to write it.
        object.__setattr__(self, "value", float(self.value) + 0.0)
        object.__setattr__(self, "column", int(self.column))

    @classmethod
    def at_most(cls, column: int, value: float) -> "Condition":
        """The numeric feature is at most `value`."""
        return cls(column, "<=", value)

    @classmethod
    def above(cls, column: int, value: float) -> "Condition":
        """The numeric feature is greater than `value`."""
        return cls(column, ">", value)

    @classmethod
    def equals(cls, column: int, category: int) -> "Condition":
        """The nominal feature has this category."""
        return cls(column, "=", category)

    @classmethod
    def differs(cls, column: int, category: int) -> "Condition":
        """The nominal feature has a value, and another one than this category."""
        return cls(column, "!=", category)

    @classmethod
    def label(cls, column: int, present: bool = True) -> "Condition":
        """The label is predicted as present, or as absent."""
        return cls(column, "=", int(present), on_label=True)

    @property
    def is_equality(self) -> bool:
        """Whether the condition asks for a category or a label rather than a range."""
        return self.operator in ("=", "!=")

    def holds(self, values: npt.ArrayLike) -> Mask:
        """Which of the values of its column satisfy the condition."""
        column: npt.NDArray[Any] = np.asarray(values)
        if self.operator == "<=":
            return np.asarray(column <= self.value)
        if self.operator == ">":
            return np.asarray(column > self.value)
        if self.operator == "=":
            return np.asarray(column == self.value)
        # NaN differs from everything, but a missing value satisfies no condition.
        return np.asarray((column != self.value) & ~np.isnan(column))
