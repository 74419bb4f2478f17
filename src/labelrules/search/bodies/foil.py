"""Grow bodies by FOIL's gain, for one class against the rest, and divide rows at random."""

from collections.abc import Iterable
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data.codes.bins import Bins, Codes
from labelrules.rules import Body, Condition
from labelrules.rules.conditions import Operator
from labelrules.search.bodies.code_tables import condition_on_values
from labelrules.search.bodies.sorted_columns import SortedColumns

_STEP = np.uint64(0x9E3779B97F4A7C15)
_SHIFTS = np.array([30, 27, 31], dtype=np.uint64)
_FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
_SEED_OF_MULTIPLIERS = 5

PRESENT = 0xFFFFFFFF
"""The lower half of two counts in one number: the positive rows."""


class SplitMix64:
    """Random numbers that are the same with every version of NumPy.

    G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.

    >>> [hex(number) for number in SplitMix64(0).draw(2).tolist()]
    ['0x7110541cbd8ee6d7', '0x373c4f3550dcb2fa']
    """

    def __init__(self, seed: int) -> None:
        self.state = np.array([seed % 2**64], dtype=np.uint64)

    def draw(self, size: int) -> Integers:
        """So many numbers from 0 to below 2**63."""
        # Arrays, not numbers: they wrap around without a warning.
        bits: npt.NDArray[np.uint64] = self.state + np.arange(1, size + 1, dtype=np.uint64) * _STEP
        self.state = self.state + np.array([size], dtype=np.uint64) * _STEP
        for shift, factor in zip(_SHIFTS, _FACTORS, strict=False):
            bits = (bits ^ (bits >> shift)) * factor
        return np.asarray((bits ^ (bits >> _SHIFTS[2])) >> np.uint64(1), dtype=np.int64)


class RandomDivision:
    """Rows that are counted, and divided at random by their values, whatever their order.

    `keys` have a number for each row that depends on its values only.
    """

    def __init__(
        self, keys: Integers, n_conditions: int, weights: Integers | None, unit: float
    ) -> None:
        self.n_rows, self.n_conditions = len(keys), n_conditions
        self.weights, self.unit = weights, unit
        self.counted = np.ones(self.n_rows, dtype=np.bool_) if weights is None else weights
        ties = () if weights is None else (weights,)
        self.order: Integers = np.lexsort((*ties, keys))

    def close(self) -> None:
        """Let go of what was only for learning."""

    def divide(
        self, classes: Integers, left: Mask, folds: int, random: SplitMix64
    ) -> tuple[Mask, Mask]:
        """Rows for growing and for pruning (one fold); independent of the order of the rows."""
        from labelrules.kernels.ripper import divide

        growing, pruning = np.empty((2, self.n_rows), np.bool_)
        divide(self.order, classes, left, folds, random.draw(self.n_rows), growing, pruning)
        return growing, pruning

    def count(self, rows: Mask) -> float:
        """The number of rows, or the sum of their weights."""
        if self.weights is None:
            return int(np.count_nonzero(rows))
        return self.unit * int(self.weights[rows].sum())

    def counts_of(
        self, covered: Mask, held: Mask, positive: Mask, counts: Integers
    ) -> Integers | Floats:
        """Of held-out rows that prefixes cover, the number and the positive ones, or weights."""
        if self.weights is None:
            return counts
        held_out = np.array([held * self.weights, held * positive * self.weights])
        return np.asarray(self.unit * (held_out @ covered.T))


def multipliers(n_columns: int) -> Integers:
    """The numbers by which the keys of rows tell the columns apart."""
    return SplitMix64(_SEED_OF_MULTIPLIERS).draw(n_columns)


class FoilSearch(RandomDivision):
    """Divides rows and grows bodies on sorted columns, for any number of labels.

    A body is an array of *cuts*, see kernels/README.md, until `body` makes conditions of them. Two
    threads may share the columns, but not a search. Rows may have `weights`, multiples of the
    `unit`: then sums of them stand for numbers of rows, and are divided row by row all the same.
    """

    def __init__(
        self, columns: SortedColumns, weights: Integers | None = None, unit: float = 1.0
    ) -> None:
        from labelrules.kernels.ripper import RipperTable, content_keys

        self.columns = columns
        n_rows, n_columns = columns.X.shape
        with np.errstate(over="ignore"):
            keys = content_keys(columns.index, multipliers(n_columns), n_rows)
        super().__init__(keys, columns.n_conditions, weights, unit)
        self.table = RipperTable(
            columns.index, columns.nominal, columns.new_space(), *columns.places,
            columns.by_column, logarithms(self.n_rows + 1 if weights is None else 0),
        )  # fmt: skip

    def grow(
        self, positive: Mask, covered: Mask, least: int, cuts: Integers | None = None
    ) -> Integers:
        """Add cuts as long as they have a gain and cover `least` positive rows.

        Conditions are <= and > between any two values of the covered rows, and = for nominal
        features. Ties go to most positive rows, then the first feature, then the lowest value.
        """
        from labelrules.kernels.ripper import grow

        given = self.counted, self.unit, covered, least / self.unit
        added: Integers = grow(self.table, positive, *given)
        return added if cuts is None else np.concatenate([cuts, added])

    def covered_by(
        self, cuts: Integers, held: Mask, positive: Mask
    ) -> tuple[Mask, Integers | Floats]:
        """Rows covered by the first 0, 1, ... cuts; of held-out rows the number, and positives."""
        from labelrules.kernels.ripper import covered_by

        counts = np.empty((2, len(cuts) + 1), np.int64)
        covered: Mask = covered_by(self.columns.index, cuts, held, positive, counts)
        return covered, self.counts_of(covered, held, positive, counts)

    def body(self, cuts: Integers) -> Body:
        """The conditions of cuts that no later one implies, with the simplest thresholds."""
        conditions: dict[tuple[int, str], Condition] = {}
        for cut in cuts.tolist():
            condition = self._condition(*cut)
            key = (condition.column, condition.operator)
            conditions.pop(key, None)
            conditions[key] = condition
        return Body(conditions.values())

    def _condition(self, column: int, first: int, last: int, rest: int, second: int) -> Condition:
        if self.columns.nominal[column]:
            row = -1 if rest else self._listed(first)
            return self.columns.between(column, False, row, row)
        edge = first if second else last
        middle = int(self.columns.index.middle[column])
        stop, start = self.columns.index.stop[column], self.columns.index.start[column]
        at_rest = edge == middle and stop - start < self.n_rows
        # Rows not listed are between those listed before and after the middle.
        covers_rest = at_rest and bool(rest)
        below = -1 if at_rest and covers_rest != bool(second) else self._listed(edge - 1)
        above = -1 if at_rest and covers_rest == bool(second) else self._listed(edge)
        return self.columns.between(column, bool(second), below, above)

    def _listed(self, place: int) -> int:
        entry = int(self.columns.index.entries[place])
        return entry if entry >= 0 else ~entry


class CodedFoilSearch(RandomDivision):
    """FOIL on columns cut into bins, by counting codes; see `Bins`.

    A cut has three numbers: column, operator and code.
    """

    def __init__(
        self, bins: Bins, codes: Codes, weights: Integers | None = None, unit: float = 1.0
    ) -> None:
        self.bins, self.codes = bins, codes
        keys = keys_of_codes(bins, codes, codes.shape[1])
        super().__init__(keys, bins.n_conditions, weights, unit)
        logs = logarithms(self.n_rows + 1 if weights is None else 0)
        self.table = codes, bins.start, bins.nominal
        self.logs = logs if weights is None else logs[:1]

    def grow(
        self, positive: Mask, covered: Mask, least: int, cuts: Integers | None = None
    ) -> Integers:
        """Grow a body by FOIL's gain, as `FoilSearch.grow` does."""
        from labelrules.kernels.ripper_codes import grow_on_codes

        given = self.counted, self.unit, covered, least / self.unit, self.logs
        added: Integers = grow_on_codes(*self.table, positive, *given)
        return added if cuts is None else np.concatenate([cuts, added])

    def covered_by(
        self, cuts: Integers, held: Mask, positive: Mask
    ) -> tuple[Mask, Integers | Floats]:
        """Count the rows covered by each beginning of a body, as `FoilSearch.covered_by` does."""
        from labelrules.kernels.ripper_codes import covered_by_codes

        counts = np.empty((2, len(cuts) + 1), np.int64)
        covered: Mask = covered_by_codes(*self.table, cuts, held, positive, counts)
        return covered, self.counts_of(covered, held, positive, counts)

    def body(self, cuts: Integers) -> Body:
        """Make a body of cuts, as `FoilSearch.body` does."""
        conditions: dict[tuple[int, str], Condition] = {}
        for column, second, code in cuts.tolist():
            operator: Operator = "<="
            if self.bins.nominal[column] or second:
                operator = "=" if self.bins.nominal[column] else ">"
            condition = condition_on_values(self.bins, Condition(column, operator, code))
            conditions.pop((column, operator), None)
            conditions[column, operator] = condition
        return Body(conditions.values())


def keys_of_codes(bins: Bins, codes: Iterable[Any], n_rows: int) -> Integers:
    """For each row a number that depends on its codes only, from the columns one by one."""
    keys = np.zeros(n_rows, np.int64)
    for column, (own, multiplier) in enumerate(
        zip(codes, multipliers(len(bins.columns)), strict=True)
    ):
        keys += bins.ranks_of_codes(column, own)[own] * multiplier
    return keys


def logarithms(largest: int) -> Floats:
    """The binary logarithms of the numbers up to the largest, with a place for 0."""
    return np.array([0.0, *map(log2, range(1, largest + 1))])
