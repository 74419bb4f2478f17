"""Sets of features and labels that occur together often."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from scipy import sparse

from labelrules._checks import counted, suggestion
from labelrules._types import Floats, Integers
from labelrules.data import Dataset
from labelrules.discovery.binning import Binning
from labelrules.discovery.items import Absence, Items, Numbers, items_of
from labelrules.discovery.limits import (
    ANY_NUMBER,
    MOST_VISITED,
    Limits,
    Ragged,
    frame_of,
    minimum_count,
    whole,
)
from labelrules.rules import Body

if TYPE_CHECKING:
    from labelrules.kernels.mining.itemsets import FoundSets, Stack, TransactionTable

# -------------------- The searches of the kernels, run batch by batch

Kind: TypeAlias = Literal["all", "closed", "maximal"]

BATCH = 1 << 16
"""Results that are handed over together, if they come so quickly."""


class Batch(NamedTuple):
    """Sets of items: set s has the items from start[s] to start[s + 1], rising, in so many rows."""

    start: Integers
    items: Numbers
    support: Numbers


def table_of(items: Items, minimum: int) -> "TransactionTable":
    """The frequent items by rising frequency, for the kernels."""
    from labelrules.kernels.mining.itemsets import TransactionTable

    frequent = np.flatnonzero(items.counts >= minimum)
    order = frequent[np.argsort(items.counts[frequent], kind="stable")]
    start = np.concatenate([[0], np.cumsum(items.counts[order])]).astype(np.int64)
    rows = np.concatenate([items.rows_of(i) for i in order.tolist()] or [np.empty(0, np.int32)])
    cells = np.ones(rows.size, dtype=np.bool_)
    by_item = sparse.csc_array((cells, rows, start), shape=(items.n_rows, order.size))
    by_row = by_item.tocsr()
    return TransactionTable(
        start,
        rows.astype(np.int32),
        by_row.indptr.astype(np.int64),
        by_row.indices.astype(np.int32),
        order.astype(np.int32),
    )


def set_batches(
    table: "TransactionTable", n_rows: int, minimum: int, longest: int, kind: Kind, limits: Limits
) -> Iterator[Batch]:
    """Frequent sets of items as they are found."""
    from labelrules.kernels.mining.itemsets import mine_all, mine_closed

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
    from labelrules.kernels.mining.itemsets import DONE, FULL, NARROW, SPENT

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
    from labelrules.kernels.mining.itemsets import Stack

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


def _new_found(n_sets: int, n_items: int) -> "FoundSets":
    from labelrules.kernels.mining.itemsets import FoundSets

    return FoundSets(
        np.zeros(1, dtype=np.int64),
        np.zeros(n_sets + 1, dtype=np.int64),
        np.zeros(n_items, dtype=np.int32),
        np.zeros(n_sets, dtype=np.int32),
    )


# ---------------------------------------------------------------- the main part

SHOWN = 10
"""How many results are printed."""


class Itemset(NamedTuple):
    """Items by name, and the number of rows that have them all."""

    items: tuple[str, ...]
    support: int


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Frequent sets of items, in the order in which they were found; printing shows the largest.

    Attributes
    ----------
    items : Items
        What the numbers of items mean.
    start : array of int
        Set s has the items ``item[start[s]:start[s + 1]]``, which rise.
    item : array of int
    support : array of int
        The number of rows that have all items of a set.
    minimum : int
        The least number of rows that was asked for.
    kind : {"all", "closed", "maximal"}
    stopped : str or None
        Why the search ended before it was done; None if it has found everything.
    """

    items: Items
    start: Integers = field(repr=False)
    item: Numbers = field(repr=False)
    support: Integers = field(repr=False)
    minimum: int
    kind: Kind = "all"
    stopped: str | None = None

    def __len__(self) -> int:
        return int(self.support.size)

    @property
    def length(self) -> Integers:
        """The number of items of each set."""
        return np.diff(self.start)

    @property
    def share(self) -> Floats:
        """The share of the rows that have all items of a set."""
        return self.support / max(1, self.items.n_rows)

    def numbers(self, number: int) -> tuple[int, ...]:
        """The items of a set, by number."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} sets, and none with the number {number}")
        number %= len(self)
        return tuple(self.item[self.start[number] : self.start[number + 1]].tolist())

    def body(self, number: int) -> Body:
        """The body that covers the rows of a set."""
        return self.items.body(self.numbers(number))

    def __getitem__(self, number: int) -> Itemset:
        names = tuple(self._names[item] for item in self.numbers(number))
        return Itemset(names, int(self.support[number]))

    def __iter__(self) -> Iterator[Itemset]:
        for items, support in self.as_tuples():
            yield Itemset(tuple(map(self._names.__getitem__, items)), support)

    def as_tuples(self) -> list[tuple[tuple[int, ...], int]]:
        """The numbers of the items of each set, and in how many rows it is."""
        shared = np.arange(len(self.items)).astype(object)  # one number of Python for each item
        items = tuple(shared[self.item].tolist())
        sets = [items[start:stop] for start, stop in pairwise(self.start.tolist())]
        return list(zip(sets, self.support.tolist(), strict=True))

    @cached_property
    def _names(self) -> list[str]:
        return [self.items.text(item) for item in range(len(self.items))]

    def as_dict(self) -> dict[str, list[Any]]:
        """The sets as columns, for a data frame of any library."""
        return {
            "items": [one.items for one in self],
            "support": self.share.tolist(),
            "rows": self.support.tolist(),
            "length": self.length.tolist(),
        }

    def to_frame(self) -> Any:
        """The sets as a data frame of pandas."""
        return frame_of(self.as_dict())

    def __str__(self) -> str:
        kind = "frequent" if self.kind == "all" else self.kind
        sets, rows = counted(len(self), f"{kind} set"), counted(self.minimum, "row")
        lines = [f"{sets} of items in at least {rows}"]
        if self.stopped:
            lines.append(f"not all of them: {self.stopped}")
        order = np.lexsort((self.length, -self.support))[:SHOWN]
        for number in order.tolist():
            names, support = self[number]
            lines.append(f"  {support:5d}  {', '.join(names)}")
        more = len(self) - SHOWN
        return "\n".join([*lines, f"  ... and {more:,} more"] if more > 0 else lines)


def frequent_itemsets(
    data: Dataset | Items,
    min_support: float = 0.1,
    *,
    max_length: int | None = None,
    kind: Kind = "all",
    features: bool = True,
    labels: bool = True,
    absence: Absence = False,
    bins: Binning | None = None,
    n_bins: int = 4,
    max_sets: int = 1_000_000,
    max_memory: int = 1024,
    max_visited: int = MOST_VISITED,
) -> Itemsets:
    """Find the sets of features and labels that occur together often.

    Parameters
    ----------
    data : Dataset or Items
        With `Items`, from :func:`items_of`, what makes the items is settled already.
    min_support : float or int, default=0.1
        In how many rows a set must occur: a share as a float, a number of rows as an int.
    max_length : int, optional
        The largest number of items in a set.
    kind : {"all", "closed", "maximal"}
        All frequent sets; those to which no item can be added without losing rows; or those to
        which none can be added without becoming infrequent. `max_length` then leaves out longer
        sets, and makes no set closed or maximal that is not.
    features, labels, absence, bins, n_bins
        What the items are; see :func:`items_of`.
    max_sets : int, default=1,000,000
        When there are more, the search stops and the result says so (and a warning is given).
    max_memory : int, default=1024
        Megabytes for the search and its result, about; likewise.
    max_visited : int, default=10,000,000
        How many sets the search for maximal ones may look at, found or not; likewise. There may
        be very many on the way to the first that is maximal. Those of the other kinds are found
        as they are looked at.

    Returns
    -------
    Itemsets

    See Also
    --------
    itemset_batches : The same, handed over while the search goes on.

    Examples
    --------
    >>> from labelrules import load
    >>> found = frequent_itemsets(load("magazines"), min_support=5, kind="closed")
    >>> print(found)
    9 closed sets of items in at least 5 rows
          9  sex = Male
          7  quality
          6  education = Secondary
          6  children = Yes
          6  tabloid
          5  marital = Single
          5  marital = Divorced
          5  sex = Female
          5  sex = Male, tabloid
    """
    items = _made_items(data, features, labels, absence, bins, n_bins)
    limits = Limits.checked("sets", max_sets, max_memory, max_visited)
    sets = list(_batches(items, min_support, max_length, kind, limits))
    last = sets[-1]
    joined = Ragged.joined([Ragged(one.start, one.item) for one in sets])
    return Itemsets(
        last.items,
        joined.start,
        joined.values,
        np.concatenate([one.support for one in sets]),
        last.minimum,
        kind,
        last.stopped,
    )


def itemset_batches(
    data: Dataset | Items,
    min_support: float = 0.1,
    *,
    max_length: int | None = None,
    kind: Kind = "all",
    features: bool = True,
    labels: bool = True,
    absence: Absence = False,
    bins: Binning | None = None,
    n_bins: int = 4,
    max_sets: int = 1_000_000,
    max_memory: int = 1024,
    max_visited: int = MOST_VISITED,
) -> Iterator[Itemsets]:
    """Find the sets that occur together often, and hand them over in batches.

    The parameters are those of :func:`frequent_itemsets`. The batches together are what it gives,
    in the same order; the last one tells whether the search was stopped. Nothing is kept of a
    batch that was handed over: `max_sets` may be large, and `max_memory` is that of the search.

    Examples
    --------
    >>> from labelrules import load
    >>> sum(len(batch) for batch in itemset_batches(load("magazines"), min_support=2))
    91
    """
    items = _made_items(data, features, labels, absence, bins, n_bins)
    limits = replace(Limits.checked("sets", max_sets, max_memory, max_visited), keeps=False)
    return _batches(items, min_support, max_length, kind, limits)


def _made_items(
    data: Dataset | Items,
    features: bool,
    labels: bool,
    absence: Absence,
    bins: Binning | None,
    n_bins: int,
) -> Items:
    made = (
        data
        if isinstance(data, Items)
        else items_of(
            data, features=features, labels=labels, absence=absence, bins=bins, n_bins=n_bins
        )
    )
    check_items(made, "features=False")
    return made


def check_items(items: Items, only_labels: str) -> None:
    """Refuse to search where there is nothing to be found; how labels alone are asked for."""
    if items.left_out and not (~items.is_label).any():
        raise ValueError(
            f"every feature is numeric ({items.left_out[0]!r}, ...), and there is no binning: give "
            f"bins='width', 'frequency', 'entropy' or 'labels', or {only_labels} for labels alone"
        )
    if not len(items):
        raise ValueError("there are no items: nothing that may be taken is in any row")


def _batches(
    items: Items, min_support: float, max_length: int | None, kind: Kind, limits: Limits
) -> Iterator[Itemsets]:
    """Check what is asked for at once, and search when the first batch is."""
    if kind not in get_args(Kind):
        near = suggestion(str(kind), get_args(Kind))
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}; not {kind!r}{near}")
    longest = len(items) if max_length is None else whole("max_length", max_length, 1)
    return _searched(items, minimum_count(min_support, items.n_rows), longest, kind, limits)


def _searched(
    items: Items, minimum: int, longest: int, kind: Kind, limits: Limits
) -> Iterator[Itemsets]:
    table = table_of(items, minimum)
    held: Batch | None = None  # the last batch tells how the search ended
    for batch in set_batches(table, items.n_rows, minimum, longest, kind, limits):
        if held is not None:
            yield _sets(items, held, minimum, kind, None)
        held = batch
    if held is None:
        nothing = np.empty(0, dtype=np.int32)
        held = Batch(np.zeros(1, dtype=np.int64), nothing, nothing)
    if limits.stopped:
        caller = 3 if limits.keeps else 2
        message = f"the search was stopped: {limits.stopped}"
        warnings.warn(message, RuntimeWarning, stacklevel=caller)
    yield _sets(items, held, minimum, kind, limits.stopped)


def _sets(items: Items, batch: Batch, minimum: int, kind: Kind, stopped: str | None) -> Itemsets:
    support = batch.support.astype(np.int64)
    return Itemsets(items, batch.start, batch.items, support, minimum, kind, stopped)
