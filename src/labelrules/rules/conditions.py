"""Conditions, which test one column, and bodies, which are conjunctions of conditions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from labelrules._types import Board, Mask, Matrix
from labelrules.data.table import column_of

Operator: TypeAlias = Literal["<=", ">", "=", "!=", "in"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True, slots=True, repr=False)
class Condition:
    """A test on a column of X or, with `on_label`, on a label column of the board.

    Missing values and cells that are not written yet satisfy no condition, "!=" included.

    Parameters
    ----------
    column : int
        The number of a feature or label.
    operator : {"<=", ">", "=", "!=", "in"}
        The first two for numbers, times and categories that have an order, the others for nominal
        features; labels have "=" only.
    value : float
        A threshold, the number of a category, or 0 or 1 for a label.
    on_label : bool, default=False
    codes : tuple of int
        For "in" the numbers of the categories, of which `value` is the least.

    Examples
    --------
    >>> Condition.at_most(0, 2.5).holds([1.0, 3.0, float("nan")])
    array([ True, False, False])
    >>> Condition.label(0, present=False).holds([0, 1, -1])
    array([ True, False, False])
    >>> Condition.among(0, [0, 2]).holds([0.0, 1.0, 2.0])
    array([ True, False,  True])
    """

    column: int
    operator: Operator
    value: float
    on_label: bool = False
    codes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise ValueError(f"there is no operator {self.operator!r}: use one of {OPERATORS}")
        if self.codes or self.operator == "in":
            self._check_codes()
        if self.column < 0 or self.column != int(self.column):
            raise ValueError(f"columns are counted from 0; there is no column {self.column}")
        if not isfinite(self.value):
            raise ValueError(f"a condition compares with a finite number, not {self.value}")
        if self.on_label and (self.operator != "=" or self.value not in (0, 1)):
            raise ValueError("a condition on a label must be = 1 (present) or = 0 (absent)")
        if self.is_equality and (self.value < 0 or self.value != int(self.value)):
            raise ValueError(f"categories are numbered from 0; there is no category {self.value}")
        # 0.0 and -0.0 are the same threshold, which is kept as 0.0.
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
    def among(cls, column: int, categories: Iterable[int]) -> "Condition":
        """The nominal feature has one of these categories."""
        codes = tuple(categories)
        return cls(column, "in", min(codes, default=0), codes=codes)

    @classmethod
    def label(cls, column: int, present: bool = True) -> "Condition":
        """The label is predicted as present, or as absent."""
        return cls(column, "=", int(present), on_label=True)

    @property
    def is_equality(self) -> bool:
        """Whether the condition tests categories or a label rather than a range."""
        return self.operator in ("=", "!=", "in")

    def _check_codes(self) -> None:
        """The codes of a set rise, and only sets have them."""
        if (self.operator == "in") != bool(self.codes):
            raise ValueError("a condition with 'in' names categories, and no other condition does")
        if any(code < 0 or code != int(code) for code in self.codes):
            raise ValueError(f"categories are numbered from 0, not {self.codes}")
        if self.codes:
            codes = tuple(sorted({int(code) for code in self.codes}))
            object.__setattr__(self, "codes", codes)
            object.__setattr__(self, "value", codes[0])

    def __repr__(self) -> str:
        return f"<Condition: {condition_numbers(self)}>"

    def holds(self, values: npt.ArrayLike) -> Mask:
        """Which of the values of its column satisfy the condition."""
        column: npt.NDArray[Any] = np.asarray(values)
        if self.operator == "<=":
            return np.asarray(column <= self.value)
        if self.operator == ">":
            return np.asarray(column > self.value)
        if self.operator == "=":
            return np.asarray(column == self.value)
        if self.operator == "in":
            return np.isin(column, self.codes)
        # NaN differs from everything, but a missing value satisfies no condition.
        return np.asarray((column != self.value) & ~np.isnan(column))


def condition_numbers(condition: Condition) -> str:
    """The condition with numbers in place of names."""
    column = f"{'label' if condition.on_label else 'column'} {condition.column}"
    if condition.operator == "in":
        return f"{column} in {{{', '.join(map(str, condition.codes))}}}"
    return f"{column} {condition.operator} {condition.value:.12g}"


ColumnKey: TypeAlias = tuple[bool, int]
Range: TypeAlias = tuple[float, float]
Choice: TypeAlias = tuple[frozenset[int] | None, frozenset[int]]

NEVER: frozenset[object] = frozenset({"never"})


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """A conjunction of conditions, in the order in which they are printed; the empty body is true.

    Equality is by meaning: order, repetition and implied conditions do not matter.

    Examples
    --------
    >>> wide, narrow = Condition.at_most(0, 5), Condition.at_most(0, 3)
    >>> Body([wide, narrow]) == Body([narrow])
    True
    """

    conditions: tuple[Condition, ...] = ()

    def __init__(self, conditions: Iterable[Condition] = ()) -> None:
        given = tuple(dict.fromkeys(conditions))
        for condition in given:
            if not isinstance(condition, Condition):
                raise ValueError(f"a body is made of conditions, not {condition!r}")
        object.__setattr__(self, "conditions", given)

    def and_(self, condition: Condition) -> "Body":
        """The body with one more condition."""
        return Body((*self.conditions, condition))

    def without_implied(self) -> "Body":
        """Leave out conditions that the other conditions imply.

        Examples
        --------
        >>> Body([Condition.at_most(0, 5), Condition.at_most(0, 3)]).without_implied()
        <Body: column 0 <= 3>
        """
        kept = tried = self.conditions
        if _test_different_columns(kept):
            return self
        if self.is_satisfiable:
            # Limits are implied by the narrowest of their column, values excluded by values named.
            ends, left = self.ranges, self.choices
            kept = tuple(one for one in kept if one.is_equality or one.value in ends[_key(one)])
            tried = tuple(one for one in kept if one.is_equality and left[_key(one)][0] is not None)
            tried = () if _test_different_columns(tried) else tried
        for condition in tried:
            others = tuple(one for one in kept if one is not condition)
            if Body(others) == self:
                kept = others
        return self if len(kept) == len(self.conditions) else Body(kept)

    def covers(self, X: Matrix, board: Board) -> Mask:
        """Rows of the encoded X, with the board as it stands, that satisfy every condition."""
        covered = np.ones(X.shape[0], dtype=np.bool_)
        for condition in self.conditions:
            values = (
                board[:, condition.column] if condition.on_label else column_of(X, condition.column)
            )
            covered &= condition.holds(values)
        return covered

    def __reduce__(self) -> tuple[type["Body"], tuple[tuple[Condition, ...]]]:
        return Body, (self.conditions,)  # without what is cached

    @cached_property
    def on_features(self) -> tuple[Condition, ...]:
        """The conditions on features."""
        return tuple(condition for condition in self.conditions if not condition.on_label)

    @cached_property
    def on_labels(self) -> tuple[Condition, ...]:
        """The conditions on labels."""
        return tuple(condition for condition in self.conditions if condition.on_label)

    @cached_property
    def ranges(self) -> dict[ColumnKey, Range]:
        """For each numeric feature tested: greater than the first, at most the second number."""
        ranges: dict[ColumnKey, Range] = {}
        for condition in self.conditions:
            low, high = ranges.get(_key(condition), (-np.inf, np.inf))
            if condition.operator == ">":
                ranges[_key(condition)] = (max(low, condition.value), high)
            elif condition.operator == "<=":
                ranges[_key(condition)] = (low, min(high, condition.value))
        return ranges

    @cached_property
    def choices(self) -> dict[ColumnKey, Choice]:
        """For each nominal feature or label tested: values left (None for all), excluded values."""
        choices: dict[ColumnKey, Choice] = {}
        for condition in self.conditions:
            if condition.is_equality:
                left, excluded = choices.get(_key(condition), (None, frozenset()))
                named = frozenset(condition.codes or {int(condition.value)})
                if condition.operator == "!=":
                    excluded |= named
                else:
                    left = named if left is None else left & named
                choices[_key(condition)] = (left, excluded)
        return choices

    @property
    def is_satisfiable(self) -> bool:
        """Whether any row could satisfy the body."""
        return all(low < high for low, high in self.ranges.values()) and all(
            left is None or bool(left - excluded) for left, excluded in self.choices.values()
        )

    @cached_property
    def _meaning(self) -> frozenset[object]:
        if not self.is_satisfiable:
            return NEVER
        # Where the values left are named, those excluded say nothing more.
        choices = {
            (key, None, excluded) if left is None else (key, left - excluded, frozenset())
            for key, (left, excluded) in self.choices.items()
        }
        return frozenset({*self.ranges.items(), *choices})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and self._meaning == other._meaning

    def __hash__(self) -> int:
        return hash(self._meaning)

    def __repr__(self) -> str:
        return f"<Body: {', '.join(map(condition_numbers, self.conditions)) or 'true'}>"

    def __len__(self) -> int:
        return len(self.conditions)

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)


def _key(condition: Condition) -> ColumnKey:
    return condition.on_label, condition.column


def _test_different_columns(conditions: tuple[Condition, ...]) -> bool:
    return len(set(map(_key, conditions))) == len(conditions)
