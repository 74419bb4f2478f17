"""Items and frequent itemsets of rows in partitions, counted by part.

Sets of one size come after the other. The rows of each frequent item are kept as bits, an eighth of
a byte for each row and item: in memory, in files, or where Dask has the rows. Sets of one size that
differ in their last item only make those of the next size, whose rows are counted in all parts and
added up. So nothing is moved but candidates and their counts (R. Agrawal and J. Shafer, "Parallel
Mining of Association Rules", IEEE Transactions on Knowledge and Data Engineering 8, 1996).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
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
    Bits,
    Items,
    Numbers,
    Ragged,
    are_flags,
    check_columns,
    code_cuts,
    label_tests,
    packed_rows,
    range_tests,
    value_tests,
)
from labelrules.mining.limits import MEGABYTE, Limits
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
        """Add the facts of both."""
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
        """Add the counts of both, and keep the nearest values."""
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
    """Rows with a label that is known, since values of all rows matter."""
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


BLOCK = 1 << 10
"""Words of 64 rows that are counted together: those of some items stay in the processor's cache."""

CANDIDATES = 1 << 22
"""So many sets are counted in one pass over the bits: 32 MB of counts."""


def _blocks(part: Dataset, tests: Sequence[Test]) -> Bits:
    """The rows of items as bits: blocks by items by words."""
    n_words = -(-len(part) // 64)
    width = max(1, min(BLOCK, n_words))
    n_blocks = -(-n_words // width)
    words = np.zeros((len(tests), n_blocks * width), np.uint64)
    for number, test in enumerate(tests):
        words[number, :n_words] = packed_rows(rows_with(part, test))
    return np.ascontiguousarray(words.reshape(len(tests), n_blocks, width).transpose(1, 0, 2))


def _extension_counts(blocks: Bits, sets: Numbers, stop: Integers) -> Integers:
    """The rows of extended sets; see `labelrules.kernels.mining.bits.count_extensions`."""
    from labelrules.kernels.mining.bits import count_extensions

    counts = np.zeros(int((stop - np.arange(len(stop)) - 1).sum()), np.int64)
    count_extensions(blocks, sets, stop, counts)
    return counts


class Level(NamedTuple):
    """Frequent sets of one size: rising ranks of items, in lexicographic order; and their rows."""

    sets: Numbers
    support: Integers


def sets_by_level(
    data: Partitions, items: Items, minimum: int, longest: int, kind: str, limits: Limits
) -> tuple[Ragged, Integers]:
    """The frequent sets of up to `longest` items, and their rows, in the order of `_search`."""
    frequent = np.flatnonzero(items.counts >= minimum)
    ranked = frequent[np.argsort(items.counts[frequent], kind="stable")]
    tests = [items.conditions[item] for item in ranked]
    bits = data.keeping(partial(_blocks, tests=tests), -(-data.n_rows * len(tests) // 8))
    try:
        # Whether a set is closed, or maximal, is seen from sets with one item more.
        further = longest + (kind != "all")
        found = list(_levels(bits, items.counts[ranked], minimum, further, kind, limits))
    finally:
        bits.close()
    levels = found if kind == "all" else _without_extensions(found, kind)[:longest]
    if sum(len(level.support) for level in levels) > limits.number:
        raise _too_many(limits.number, "max_sets")
    order = _order(levels) if kind == "all" else _order_of_closed(levels, found, items.n_rows)
    sets = [_named(level.sets, ranked) for level in levels]
    support = np.concatenate([np.empty(0, np.int64), *(level.support for level in levels)])
    return Ragged.joined(sets).take(order), support[order]


def _levels(
    bits: Any, counts: Integers, minimum: int, longest: int, kind: str, limits: Limits
) -> Iterator[Level]:
    """The frequent sets of 1, 2, ... items."""
    most, name = limits.number, "max_sets"
    if kind != "all":
        most, name = limits.visits, "max_visited"
    level = Level(np.arange(len(counts), dtype=np.int32)[:, np.newaxis], counts)
    n_sets = n_bytes = 0
    while len(level.support):
        n_sets += len(level.support)
        n_bytes += 4 * level.sets.nbytes + (500 if kind != "all" else 0) * len(level.support)
        if n_sets > most:
            raise _too_many(most, name)
        if n_bytes > limits.memory:
            raise DataError(
                f"more than {limits.memory // MEGABYTE:,} MB are needed (max_memory): raise "
                "min_support or max_memory, or lower max_conditions"
            )
        yield level
        if level.sets.shape[1] >= longest:
            return
        level = _extended(bits, level, minimum)


def _too_many(most: int, name: str) -> DataError:
    return DataError(
        f"there are more than {most:,} frequent sets ({name}); of rows in partitions all sets of "
        f"one size are counted before larger ones, so there is no first part of the result: raise "
        f"min_support or {name}, or lower max_conditions"
    )


def _extended(bits: Any, level: Level, minimum: int) -> Level:
    """The frequent sets with one item more."""
    sets = level.sets
    is_first = np.ones(len(sets), dtype=np.bool_)
    is_first[1:] = (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)
    stop = np.append(np.flatnonzero(is_first)[1:], len(sets))[np.cumsum(is_first) - 1]
    n_extensions = stop - np.arange(len(sets)) - 1
    n_before = np.concatenate([[0], np.cumsum(n_extensions)])
    found = [Level(np.empty((0, sets.shape[1] + 1), np.int32), np.empty(0, np.int64))]
    first = 0
    while first < len(sets):
        last = int(np.searchsorted(n_before, n_before[first] + CANDIDATES, "right")) - 1
        last = min(len(sets), max(first + 1, last))
        parent = np.repeat(np.arange(first, last), n_extensions[first:last])
        partner = parent + 1 + np.arange(len(parent)) - (n_before[parent] - n_before[first])
        if len(parent):
            stops = np.arange(first + 1, stop[last - 1] + 1)  # those beyond are partners only
            stops[: last - first] = stop[first:last]
            given = {"sets": sets[first : stop[last - 1]], "stop": stops - first}
            counts = bits.total(partial(_extension_counts, **given), "counting itemsets")
            kept = counts >= minimum
            larger = np.column_stack([sets[parent[kept]], sets[partner[kept], -1]])
            found.append(Level(larger, counts[kept]))
        first = last
    return Level(*(np.concatenate(one) for one in zip(*found, strict=True)))


def _without_extensions(levels: list[Level], kind: str) -> list[Level]:
    """The sets to which no item can be added: without losing rows ("closed"), or at all."""
    kept = []
    for size, level in enumerate(levels, 1):
        is_kept = np.ones(len(level.support), dtype=np.bool_)
        for larger, left_out in product(levels[size : size + 1], range(size + 1)):
            at = np.searchsorted(_keys(level.sets), _keys(np.delete(larger.sets, left_out, axis=1)))
            is_kept[at[(larger.support == level.support[at]) | (kind == "maximal")]] = False
        kept.append(Level(level.sets[is_kept], level.support[is_kept]))
    return kept


def _keys(sets: Numbers) -> Any:
    """Texts that are in the order of the sets."""
    return np.ascontiguousarray(sets, dtype=">u4").view(f"S{4 * sets.shape[1]}").ravel()


def _order(levels: list[Level]) -> Integers:
    """The places of all sets in their order by items, each before those that begin with it."""
    if not levels:
        return np.empty(0, np.int64)
    width = max(level.sets.shape[1] for level in levels)
    padded = [np.pad(one.sets, ((0, 0), (0, width - one.sets.shape[1])), constant_values=-1)
              for one in levels]  # fmt: skip
    return np.lexsort(np.concatenate(padded).T[::-1])


def _order_of_closed(levels: list[Level], every: list[Level], n_rows: int) -> Integers:
    """The places in order of the items that a search adds one by one, with all their rows share."""
    support = {
        tuple(one): n
        for level in every
        for one, n in zip(level.sets.tolist(), level.support.tolist(), strict=True)
    }
    paths = [_path(one, support, n_rows) for level in levels for one in level.sets.tolist()]
    return np.array(sorted(range(len(paths)), key=paths.__getitem__), dtype=np.int64)


def _path(members: list[int], support: dict[tuple[int, ...], int], n_rows: int) -> tuple[int, ...]:
    """The items by which a search reaches a closed set, or one of those that it could reach."""
    added = [item for item in members if support[item,] == n_rows]
    path, reached = [], set(added)
    for item in members:
        if item in reached:
            continue
        path.append(item)
        added = sorted([*added, item])
        n_left = support[tuple(added)]
        reached |= {one for one in members if support[tuple(sorted({*added, one}))] == n_left}
    return tuple(path)


def _named(sets: Numbers, names: Integers) -> Ragged:
    """The sets as lists of items, by rising number."""
    n_sets, size = sets.shape
    values = np.sort(names[sets], axis=1).astype(np.int32).ravel()
    return Ragged(np.arange(n_sets + 1, dtype=np.int64) * size, values)
