"""Frequent itemsets of rows in partitions: sets of one size after the other, counted by part.

The rows of each frequent item are kept as bits, an eighth of a byte for each row and item: in
memory, in files, or where Dask has the rows. Sets of one size that differ in their last item only
make those of the next size, whose rows are counted in all parts and added up. So nothing is moved
but candidates and their counts (R. Agrawal and J. Shafer, "Parallel Mining of Association Rules",
IEEE Transactions on Knowledge and Data Engineering 8, 1996).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from labelrules._types import Integers
from labelrules.data import DataError, Dataset, Partitions
from labelrules.mining.items import Bits, Items, Numbers, Ragged, packed_rows
from labelrules.mining.limits import MEGABYTE, Limits
from labelrules.mining.parted_items import Test, rows_with

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
    """The same by the items that a search adds one by one, each with all that its rows share."""
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
