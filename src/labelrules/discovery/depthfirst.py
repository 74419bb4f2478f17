"""The searches of the kernels, run batch by batch."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from labelrules._types import Integers
from labelrules.discovery.items import Items, Numbers
from labelrules.discovery.limits import ANY_NUMBER, Limits

if TYPE_CHECKING:
    from labelrules.kernels.mine import Found, Stack, Table

Kind: TypeAlias = Literal["all", "closed", "maximal"]

BATCH = 1 << 16
"""Results that are handed over together, if they come so quickly."""


class Batch(NamedTuple):
    """Sets of items: set s has the items from start[s] to start[s + 1], rising, in so many rows."""

    start: Integers
    items: Numbers
    support: Numbers


def table_of(items: Items, minimum: int) -> "Table":
    """The frequent items by rising frequency, for the kernels."""
    from labelrules.kernels.mine import Table

    frequent = np.flatnonzero(items.counts >= minimum)
    order = frequent[np.argsort(items.counts[frequent], kind="stable")]
    start = np.concatenate([[0], np.cumsum(items.counts[order])]).astype(np.int64)
    rows = np.concatenate([items.rows_of(i) for i in order.tolist()] or [np.empty(0, np.int32)])
    cells = np.ones(rows.size, dtype=np.bool_)
    by_item = sparse.csc_array((cells, rows, start), shape=(items.n_rows, order.size))
    by_row = by_item.tocsr()
    return Table(
        start,
        rows.astype(np.int32),
        by_row.indptr.astype(np.int64),
        by_row.indices.astype(np.int32),
        order.astype(np.int32),
    )


def set_batches(
    table: "Table", n_rows: int, minimum: int, longest: int, kind: Kind, limits: Limits
) -> Iterator[Batch]:
    """Frequent sets of items as they are found."""
    from labelrules.kernels.closed import mine_closed
    from labelrules.kernels.mine import mine_all

    n_items = table.name.size
    longest = max(1, min(longest, n_items))
    if kind == "all":

        def search(stack: Any, found: Any) -> int:
            return int(mine_all(table, minimum, longest, stack, found))

    else:
        sizes = np.zeros(n_items + 3, dtype=np.int64)
        chosen = np.zeros(n_items, dtype=np.bool_)

        def search(stack: Any, found: Any) -> int:
            maximal = kind == "maximal"
            most = limits.visits if maximal else ANY_NUMBER  # closed ones are found as they come
            state = stack, sizes, chosen, found
            return int(mine_closed(table, n_rows, minimum, longest, maximal, most, *state))

    yield from _run(search, n_items, limits)


def _run(search: Callable[[Any, Any], int], n_items: int, limits: Limits) -> Iterator[Batch]:
    from labelrules.kernels.mine import DONE, FULL, NARROW, SPENT

    stack, found = new_stack(n_items), _new_found(BATCH, 8 * BATCH)
    status = FULL
    while status != DONE and limits.stopped is None:
        found.n[0] = 0
        status = search(stack, found)
        n_found = int(found.n[0])
        if status == SPENT:
            limits.stop_for_visits()
        elif status == NARROW:
            stack = larger_stack(stack, limits)
        elif status == FULL and n_found == 0:
            found = _new_found(2 * found.support.size, 2 * found.items.size)
        if n_found:
            end = int(found.start[n_found])
            # Twice, for batches are copied when they are put together.
            taken = limits.take(n_found, 2 * (4 * end + 16 * n_found), nbytes(stack))
            if taken:
                end = int(found.start[taken])
                yield Batch(
                    found.start[: taken + 1].copy(),
                    found.items[:end].copy(),
                    found.support[:taken].copy(),
                )


def new_stack(n_items: int, n_entries: int = 1 << 14, n_words: int = 1 << 16) -> "Stack":
    """An empty stack for so many items."""
    from labelrules.kernels.mine import Stack

    return Stack(
        np.zeros(5, dtype=np.int64),
        np.zeros(n_entries, dtype=np.int32),
        np.zeros(n_entries, dtype=np.int32),
        np.zeros(n_words, dtype=np.uint64),
        np.zeros(n_items + 3, dtype=np.int64),
        np.zeros(n_items + 3, dtype=np.int64),
        np.zeros(n_items + 3, dtype=np.int32),
        np.zeros(n_items, dtype=np.int32),
    )


def larger_stack(stack: "Stack", limits: Limits) -> "Stack":
    """The same stack with twice the room, if there is memory for it."""
    if limits.n_bytes + 3 * nbytes(stack) > limits.memory:
        limits.stop_for_memory()
        return stack
    return stack._replace(
        item=_doubled(stack.item), support=_doubled(stack.support), words=_doubled(stack.words)
    )


def nbytes(arrays: Iterable[Any]) -> int:
    """The memory of arrays."""
    return sum(array.nbytes for array in arrays)


def _doubled(array: Any) -> Any:
    return np.concatenate([array, np.zeros_like(array)])


def _new_found(n_sets: int, n_items: int) -> "Found":
    from labelrules.kernels.mine import Found

    return Found(
        np.zeros(1, dtype=np.int64),
        np.zeros(n_sets + 1, dtype=np.int64),
        np.zeros(n_items, dtype=np.int32),
        np.zeros(n_sets, dtype=np.int32),
    )
