"""The items of rows in partitions: their conditions, and how many rows each has."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from labelrules._types import Floats, Integers, Mask
from labelrules.data import DataError, Dataset, Partitions, Schema
from labelrules.data.codes.bins import Bins
from labelrules.data.codes.thresholds import threshold_between
from labelrules.data.schema import Feature
from labelrules.data.table import column_of
from labelrules.mining.binning import (
    Binning,
    checked_binning,
    cut_by_frequency,
    width_edges,
)
from labelrules.mining.items import (
    AbsentItems,
    Items,
    Numbers,
    Ragged,
    are_flags,
    check_columns,
    code_cuts,
    label_tests,
    range_tests,
    value_tests,
)
from labelrules.rules import Condition

Test: TypeAlias = tuple[Condition, ...]
"""The conditions of an item."""


class _UnknownRows(Ragged):
    """How many rows each item has, but not which."""

    @property
    def values(self) -> Numbers:
        """Not known."""
        raise DataError(
            "the rows of these items are in partitions, and were only counted: make the items of a "
            "data set in memory"
        )


def items_of_partitions(
    data: Partitions,
    features: bool,
    labels: bool,
    absent_items: AbsentItems,
    bins: Binning | None,
    n_bins: int,
) -> Items:
    """The items of all rows, as by `items_of`, with numbers of rows only."""
    check_columns(features, labels, absent_items)
    checked_binning(bins, n_bins)
    if bins in ("entropy", "labels"):
        raise DataError(
            f"bins={bins!r} needs all rows in memory: for rows in partitions use 'width' or "
            "'frequency'"
        )
    tests: list[Test] = []
    may_be_empty: list[bool] = []
    left_out = []
    if features:
        facts: _ColumnFacts = data.total(_ColumnFacts.of, "looking for items")
        cuts = {} if bins is None else _cuts(data, facts, bins, n_bins)
        for j, feature in enumerate(data.schema.features):
            found = _value_items(j, feature, bool(facts.are_flags[j]), absent_items)
            if found is None and bins is None:
                left_out.append(feature.name)
            tests += range_tests(j, cuts.get(j, [])) if found is None else found
            may_be_empty += [found is None] * (len(tests) - len(may_be_empty))
    if labels:
        tests += [(one,) for one in label_tests(data.schema, absent_items in (True, "labels"))]
        may_be_empty += [True] * (len(tests) - len(may_be_empty))
    counts = data.total(partial(_item_counts, tests=tests), "counting items")
    kept = np.flatnonzero(np.array(may_be_empty, dtype=np.bool_) | (counts > 0))
    rows = _UnknownRows(np.concatenate([[0], np.cumsum(counts[kept])]), np.empty(0, np.int32))
    return Items(data.schema, data.n_rows, tuple(tests[k] for k in kept), rows, tuple(left_out))


def _value_items(
    j: int, feature: Feature, are_flags: bool, absent_items: AbsentItems
) -> list[Test] | None:
    """The items of categories or of a binary feature; None for a feature that needs bins."""
    if feature.time is not None or (feature.categories is None and not are_flags):
        return None
    if feature.categories is not None and not feature.is_nominal:
        return range_tests(j, code_cuts(feature))
    return [(test,) for test, _ in value_tests(j, feature, absent_items in (True, "features"))]


class _ColumnFacts(NamedTuple):
    """For each column whether its known values are all 0 or 1, the least and the greatest."""

    are_flags: Mask
    low: Floats
    high: Floats

    @classmethod
    def of(cls, part: Dataset) -> "_ColumnFacts":
        """Look at some rows."""
        flags, ends = [], []
        for j in range(part.schema.n_features):
            values = column_of(part.X, j)
            flags.append(are_flags(values))
            ends.append(
                (np.fmin.reduce(values, initial=np.inf), np.fmax.reduce(values, initial=-np.inf))
            )
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        return cls(np.array(flags, dtype=np.bool_), low, high)

    def plus(self, other: "_ColumnFacts") -> "_ColumnFacts":
        """That of both parts."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return _ColumnFacts(self.are_flags & other.are_flags, low, high)


class _Around(NamedTuple):
    """For each of some edges of columns how many values are not above it, and the next to it."""

    n: Integers
    low: Floats
    high: Floats

    @classmethod
    def of(cls, part: Dataset, edges: dict[int, list[float]]) -> "_Around":
        """Count the values of some rows."""
        found = []
        for j, own in edges.items():
            values = np.sort(column_of(part.X, j))
            values = np.concatenate(
                [[-np.inf], values[: np.searchsorted(values, np.inf)], [np.inf]]
            )
            place = np.searchsorted(values[:-1], own, "right")
            found.append((place - 1, values[place - 1], values[place]))
        n, low, high = (np.concatenate([np.empty(0), *one]) for one in zip(*found, strict=True))
        return cls(n.astype(np.int64), low, high)

    def plus(self, other: "_Around") -> "_Around":
        """That of both parts."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        return _Around(self.n + other.n, low, high)


Places: TypeAlias = dict[int, tuple[float, float]]
"""How many values of a column are below a cut, and the two values around it."""


def _places(data: Partitions, edges: dict[int, list[float]]) -> list[Places]:
    """Where the columns can be cut at these edges."""
    if not edges:
        return []
    around = data.total(partial(_Around.of, edges=edges), "counting values")
    columns = np.cumsum([len(own) for own in edges.values()])[:-1]
    found = []
    for parts in zip(*(np.split(one, columns) for one in around), strict=True):
        n, low, high = (part.tolist() for part in parts)
        found.append({at: (a, b) for at, a, b in zip(n, low, high, strict=True)})
    return found


def _cuts(
    data: Partitions, facts: _ColumnFacts, bins: Binning, n_bins: int
) -> dict[int, list[float]]:
    """The thresholds of the columns that need them; see `labelrules.mining.binning`."""
    features = data.schema.features
    wanted = [
        j
        for j, feature in enumerate(features)
        if _value_items(j, feature, bool(facts.are_flags[j]), False) is None
        and facts.low[j] <= facts.high[j]
    ]
    if bins == "width":
        edges = {j: width_edges(facts.low[j], facts.high[j], n_bins) for j in wanted}
        chosen = [sorted(places.items()) for places in _places(data, edges)]
        ends = [[pair for n, pair in own if np.isfinite(pair).all()] for own in chosen]
    else:
        ends = _ends_by_frequency(data, wanted, n_bins) if wanted else []
    return {
        j: [threshold_between(low, high, features[j]) for low, high in own]
        for j, own in zip(wanted, ends, strict=True)
    }


def _ends_by_frequency(
    data: Partitions, wanted: list[int], n_bins: int
) -> list[list[tuple[float, float]]]:
    """The values around the possible cuts nearest to each quantile.

    That is one of the two cuts beside the values that have the quantile, which bins end with.
    """
    found = Bins.of(data.mapped(_all_known, _with_a_label(data.schema)), n_bins)
    behind = _places(data, {j: [*found.columns[j].cuts, np.inf] for j in wanted})
    values = [[low for low, _ in own.values()] for own in behind]
    before = {j: np.nextafter(own, -np.inf).tolist() for j, own in zip(wanted, values, strict=True)}
    ends = []
    for one, other in zip(behind, _places(data, before), strict=True):
        places = one | other
        n_known = max(places)
        inner = np.array(sorted(set(places) - {0, n_known}), dtype=np.int64)
        ends.append([places[cut] for cut in cut_by_frequency(inner, n_known, n_bins)])
    return ends


def _with_a_label(schema: Schema) -> Schema:
    name = "label"
    while name in schema.feature_names:
        name += "_"
    return Schema(schema.features, [name])


def _all_known(part: Dataset, _: Any) -> Dataset:
    """The same rows with a label that is known, since values of all rows matter."""
    return Dataset(_with_a_label(part.schema), part.X, np.zeros((len(part), 1), np.int8))


def rows_with(part: Dataset, test: Test) -> Mask:
    """The rows that have an item."""
    columns = (
        part.Y[:, one.column] if one.on_label else column_of(part.X, one.column) for one in test
    )
    held = [one.holds(column) for one, column in zip(test, columns, strict=True)]
    return np.asarray(np.logical_and.reduce(held))


def _item_counts(part: Dataset, tests: Sequence[Test]) -> Integers:
    """How many rows each item has."""
    counts = [np.count_nonzero(rows_with(part, test)) for test in tests]
    return np.array(counts, dtype=np.int64)
