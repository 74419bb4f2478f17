"""Conditions that must hold together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from labelrules._types import Board, Mask, Matrix
from labelrules.data.table import column_of
from labelrules.rules.condition import Condition

ColumnKey: TypeAlias = tuple[bool, int]
Range: TypeAlias = tuple[float, float]
Choice: TypeAlias = tuple[frozenset[int], frozenset[int]]

NEVER: frozenset[object] = frozenset({"never"})


@dataclass(frozen=True, eq=False)
class Body:
    """A conjunction of conditions; the empty body is true.

    The order of the conditions is kept for the reader. Equality is by meaning:
    order, repetition and conditions that others imply do not matter.

    Parameters
    ----------
    conditions : iterable of Condition

    Examples
    --------
    >>> wide, narrow = Condition.at_most(0, 5), Condition.at_most(0, 3)
    >>> Body([wide, narrow]) == Body([narrow])
    True
    >>> len(Body())
    0
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

    def covers(self, X: Matrix, board: Board) -> Mask:
        """Rows of the encoded X, with the board as it stands, that satisfy every condition."""
        covered = np.ones(X.shape[0], dtype=np.bool_)
        for condition in self.conditions:
            values = (
                board[:, condition.column] if condition.on_label else column_of(X, condition.column)
            )
            covered &= condition.holds(values)
        return covered

    @property
    def on_features(self) -> tuple[Condition, ...]:
        """The conditions on features."""
        return tuple(condition for condition in self.conditions if not condition.on_label)

    @property
    def on_labels(self) -> tuple[Condition, ...]:
        """The conditions on labels."""
        return tuple(condition for condition in self.conditions if condition.on_label)

    @cached_property
    def ranges(self) -> dict[ColumnKey, Range]:
        """For each numeric feature tested: greater than the first, at most the second number."""
        found: dict[ColumnKey, Range] = {}
        for condition in self.conditions:
            if not condition.is_equality:
                low, high = found.get(_key(condition), (-np.inf, np.inf))
                if condition.operator == ">":
                    low = max(low, condition.value)
                else:
                    high = min(high, condition.value)
                found[_key(condition)] = (low, high)
        return found

    @cached_property
    def choices(self) -> dict[ColumnKey, Choice]:
        """For each nominal feature or label tested: values asked for, values ruled out."""
        found: dict[ColumnKey, Choice] = {}
        for condition in self.conditions:
            if condition.is_equality:
                asked, excluded = found.get(_key(condition), (frozenset(), frozenset()))
                value = frozenset({int(condition.value)})
                found[_key(condition)] = (
                    (asked | value, excluded)
                    if condition.operator == "="
                    else (asked, excluded | value)
                )
        return found

    @property
    def is_satisfiable(self) -> bool:
        """Whether any row could satisfy the body."""
        return all(low < high for low, high in self.ranges.values()) and all(
            len(asked) <= 1 and not asked & excluded for asked, excluded in self.choices.values()
        )

    @cached_property
    def _meaning(self) -> frozenset[object]:
        if not self.is_satisfiable:
            return NEVER
        # A value asked for makes the values ruled out redundant.
        choices = {
            (key, asked, excluded if not asked else frozenset())
            for key, (asked, excluded) in self.choices.items()
        }
        return frozenset({*self.ranges.items(), *choices})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and self._meaning == other._meaning

    def __hash__(self) -> int:
        return hash(self._meaning)

    def __len__(self) -> int:
        return len(self.conditions)

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)


def _key(condition: Condition) -> ColumnKey:
    return condition.on_label, condition.column
