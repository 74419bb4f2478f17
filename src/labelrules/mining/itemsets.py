"""Frequent itemsets: sets of features and labels that occur together often."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from scipy import sparse

from labelrules._checks import counted, one_of, whole_number
from labelrules._report import Columns, Excerpt, Lines, Part, Report, Tabular, first_lines
from labelrules._types import Floats, Integers
from labelrules.data import Dataset, Partitions
from labelrules.mining.binning import Binning
from labelrules.mining.items import AbsentItems, Items, Ragged, items_of
from labelrules.mining.level_wise import items_of_partitions, sets_by_level
from labelrules.mining.limits import ANY_NUMBER, MOST_VISITED, Limits, minimum_count
from labelrules.rules import Body

if TYPE_CHECKING:
    from labelrules.kernels.mining.itemsets import FoundSets, Stack, TransactionTable

Kind: TypeAlias = Literal["all", "closed", "maximal"]

SHOWN = 10  # itemsets that are printed
BATCH = 1 << 16  # itemsets of a batch, at most


class Itemset(NamedTuple):
    """Items by name, and the number of rows that have them all."""

    items: tuple[str, ...]
    support: int


@dataclass(frozen=True, eq=False, repr=False)
class Itemsets(Report, Tabular):
    """Frequent itemsets in the order of the search; printing shows the most frequent.

    Attributes
    ----------
    items : Items
        What the numbers of items mean.
    sets : Ragged
        The items of each set, rising.
    support : array of int
        The number of rows that have all items of a set.
    minimum : int
        The minimum support in rows.
    kind : {"all", "closed", "maximal"}
    stopped : str or None
        Why the search stopped early; None if it is complete.
    """

    items: Items
    sets: Ragged
    support: Integers
    minimum: int
    kind: Kind = "all"
    stopped: str | None = None

    _heading = "h4"

    def __len__(self) -> int:
        return int(self.support.size)

    @property
    def length(self) -> Integers:
        """The number of items of each set."""
        return self.sets.lengths

    @property
    def share(self) -> Floats:
        """The share of the rows that have all items of a set."""
        return self.support / max(1, self.items.n_rows)

    def numbers(self, number: int) -> tuple[int, ...]:
        """The items of a set, by number."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} sets, and none with the number {number}")
        return tuple(self.sets[number % len(self)])

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
        """The numbers of the items of each set, and its support in rows."""
        shared = np.arange(len(self.items)).astype(object)  # one number of Python for each item
        items = tuple(shared[self.sets.values].tolist())
        sets = [items[start:stop] for start, stop in pairwise(self.sets.start.tolist())]
        return list(zip(sets, self.support.tolist(), strict=True))

    @cached_property
    def _names(self) -> list[str]:
        return [self.items.text(item) for item in range(len(self.items))]

    def as_dict(self) -> Columns:
        """The sets as columns, for a data frame of any library."""
        return {
            "items": [one.items for one in self],
            "support": self.share.tolist(),
            "rows": self.support.tolist(),
            "length": self.length.tolist(),
        }

    def _most_frequent(self, n: int) -> Iterator[Itemset]:
        order = np.lexsort((self.length, -self.support))[:n]
        return (self[number] for number in order.tolist())

    @property
    def headline(self) -> str:
        """How many sets, of which kind, in how many rows."""
        kind = "frequent" if self.kind == "all" else self.kind
        sets, rows = counted(len(self), f"{kind} set"), counted(self.minimum, "row")
        return f"{sets} of items in at least {rows}"

    def _page(self) -> Iterator[Part]:
        rows = [(support, ", ".join(names)) for names, support in self._most_frequent(20)]
        yield Excerpt(("rows", "items"), rows, len(self), self.stopped)

    def _parts(self) -> Iterator[Part]:
        if self.stopped:
            yield Lines([f"not all of them: {self.stopped}"])
        shown = self._most_frequent(SHOWN)
        lines = (f"{support:5d}  {', '.join(names)}" for names, support in shown)
        yield Lines(first_lines(lines, len(self)))


def frequent_itemsets(
    data: Dataset | Items | Partitions,
    min_support: float = 0.1,
    *,
    max_conditions: int | None = None,
    kind: Kind = "all",
    features: bool = True,
    labels: bool = True,
    absent_items: AbsentItems = False,
    bins: Binning | None = None,
    n_bins: int = 4,
    max_sets: int = 1_000_000,
    max_memory: int = 1024,
    max_visited: int = MOST_VISITED,
) -> Itemsets:
    """Find frequent itemsets: sets of features and labels that occur together often.

    Parameters
    ----------
    data : Dataset, Items or Partitions
        With `Items`, from :func:`items_of`, the parameters of items have no effect. Partitions,
        from :func:`labelrules.scan`, are counted part by part, sets of one size after the other,
        where Dask has them if they are of Dask; the result is the same. Limits are errors then, and
        numeric features are cut by "width" or "frequency".
    min_support : float or int, default=0.1
        The rows that have all items of a set: a share as a float, a number of rows as an int.
    max_conditions : int, optional
        The largest number of items in a set.
    kind : {"all", "closed", "maximal"}
        All frequent sets; those to which no item can be added without losing rows; or those to
        which none can be added without becoming infrequent. `max_conditions` then leaves out
        larger sets, and makes no set closed or maximal that is not.
    features, labels, absent_items, bins, n_bins
        What the items are; see :func:`items_of`.
    max_sets : int, default=1,000,000
        When there are more, the search stops with a warning, and the result gives the reason.
    max_memory : int, default=1024
        Megabytes for the search and its result, about; likewise.
    max_visited : int, default=10,000,000
        How many sets the search for maximal ones may visit, kept or not; likewise.

    See Also
    --------
    itemset_batches : The same in batches, while the search goes on.

    Examples
    --------
    >>> from labelrules import load
    >>> itemsets = frequent_itemsets(load("magazines"), min_support=5, kind="closed")
    >>> print(itemsets)
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
    limits = Limits.checked("sets", max_sets, max_memory, max_visited)
    if isinstance(data, Partitions):
        counted = items_of_partitions(data, features, labels, absent_items, bins, n_bins)
        check_items(counted, "features=False")
        minimum, longest = _checked_search(counted, min_support, max_conditions, kind)
        return Itemsets(
            counted, *sets_by_level(data, counted, minimum, longest, kind, limits), minimum, kind
        )
    items = _made_items(data, features, labels, absent_items, bins, n_bins)
    given = _checked_search(items, min_support, max_conditions, kind)
    parts = list(_search(items, *given, kind, limits))
    sets = Ragged.joined([part.sets for part in parts])
    return replace(parts[-1], sets=sets, support=np.concatenate([part.support for part in parts]))


def itemset_batches(
    data: Dataset | Items,
    min_support: float = 0.1,
    *,
    max_conditions: int | None = None,
    kind: Kind = "all",
    features: bool = True,
    labels: bool = True,
    absent_items: AbsentItems = False,
    bins: Binning | None = None,
    n_bins: int = 4,
    max_sets: int = 1_000_000,
    max_memory: int = 1024,
    max_visited: int = MOST_VISITED,
) -> Iterator[Itemsets]:
    """Find frequent itemsets, batch by batch.

    The parameters are those of :func:`frequent_itemsets`. The batches together are its result,
    in the same order; the last one gives the reason if the search stopped early. The search keeps
    no batch: `max_sets` may be large, and `max_memory` is that of the search.

    Examples
    --------
    >>> from labelrules import load
    >>> sum(len(batch) for batch in itemset_batches(load("magazines"), min_support=2))
    91
    """
    items = _made_items(data, features, labels, absent_items, bins, n_bins)
    limits = replace(Limits.checked("sets", max_sets, max_memory, max_visited), keeps=False)
    given = _checked_search(items, min_support, max_conditions, kind)
    return _search(items, *given, kind, limits)


def _made_items(
    data: Dataset | Items,
    features: bool,
    labels: bool,
    absent_items: AbsentItems,
    bins: Binning | None,
    n_bins: int,
) -> Items:
    if not isinstance(data, Items):
        columns = {"features": features, "labels": labels}
        data = items_of(data, **columns, absent_items=absent_items, bins=bins, n_bins=n_bins)
    check_items(data, "features=False")
    return data


def check_items(items: Items, only_labels: str) -> None:
    """Raise if there is nothing to search; `only_labels` is the option for labels alone."""
    if items.left_out and not (~items.is_label).any():
        raise ValueError(
            f"every feature is numeric ({items.left_out[0]!r}, ...), and there is no binning: give "
            f"bins='width', 'frequency', 'entropy' or 'labels', or {only_labels} for labels alone"
        )
    if not len(items):
        raise ValueError("there are no items: no feature or label that may be one is in any row")


def _checked_search(
    items: Items, min_support: float, max_conditions: int | None, kind: Kind
) -> tuple[int, int]:
    """The minimum support in rows, and the largest number of items."""
    one_of(kind, "kind", get_args(Kind))
    longest = len(items)
    if max_conditions is not None:
        longest = whole_number(max_conditions, "max_conditions", low=1, also="None")
    return minimum_count(min_support, items.n_rows), longest


def _search(
    items: Items, minimum: int, longest: int, kind: Kind, limits: Limits
) -> Iterator[Itemsets]:
    last = Itemsets(items, Ragged.empty(), np.empty(0, dtype=np.int64), minimum, kind)
    table = transactions(items, minimum)
    kernel = _kernel(table, items.n_rows, minimum, longest, kind, limits)
    for sets, support in _batches(kernel, table.name.size, limits):
        if len(last):
            yield last
        last = replace(last, sets=sets, support=support)
    if limits.stopped:
        caller = 3 if limits.keeps else 2
        message = f"the search was stopped: {limits.stopped}"
        warnings.warn(message, RuntimeWarning, stacklevel=caller)
    yield replace(last, stopped=limits.stopped)


def transactions(items: Items, minimum: int) -> "TransactionTable":
    """The frequent items by rising frequency, for the kernels."""
    from labelrules.kernels.mining.itemsets import TransactionTable

    frequent = np.flatnonzero(items.counts >= minimum)
    order = frequent[np.argsort(items.counts[frequent], kind="stable")]
    start, rows = items.rows.take(order)
    cells = np.ones(rows.size, dtype=np.bool_)
    by_item = sparse.csc_array((cells, rows, start), shape=(items.n_rows, order.size))
    by_row = by_item.tocsr()
    row_start, row_items = by_row.indptr.astype(np.int64), by_row.indices.astype(np.int32)
    return TransactionTable(start, rows, row_start, row_items, order.astype(np.int32))


def _kernel(
    table: "TransactionTable", n_rows: int, minimum: int, longest: int, kind: Kind, limits: Limits
) -> Callable[[Any, Any], int]:
    """The search of one kind, as a function of its stack and of the room for its results."""
    from labelrules.kernels.mining.itemsets import mine_all, mine_closed

    n_items = table.name.size
    longest = max(1, min(longest, n_items))
    if kind == "all":
        return partial(mine_all, table, minimum, longest)
    sizes, chosen = np.zeros(n_items + 3, np.int64), np.zeros(n_items, np.bool_)
    maximal = kind == "maximal"
    most = limits.visits if maximal else ANY_NUMBER  # closed ones are found as they are visited
    given = table, n_rows, minimum, longest, maximal, most
    return lambda stack, found: int(mine_closed(*given, stack, sizes, chosen, found))


def _batches(
    kernel: Callable[[Any, Any], int], n_items: int, limits: Limits
) -> Iterator[tuple[Ragged, Integers]]:
    """Call the kernel until it is done, with a larger stack or more room where it needs that."""
    from labelrules.kernels.mining.itemsets import DONE, FULL, NARROW, SPENT

    stack, found = new_stack(n_items), _new_found(BATCH, 8 * BATCH)
    status = FULL
    while status != DONE and limits.stopped is None:
        found.n[0] = 0
        status = int(kernel(stack, found))
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
                start = found.start[: taken + 1].copy()
                sets = Ragged(start, found.items[: start[-1]].copy())
                yield sets, found.support[:taken].astype(np.int64)


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
    """Double the room of a stack, if the limits allow the memory."""
    if limits.n_bytes + 3 * nbytes(stack) > limits.memory:
        limits.stop_for_memory()
        return stack
    item, support, words = (
        np.concatenate([array, np.zeros_like(array)])
        for array in (stack.item, stack.support, stack.words)
    )
    return stack._replace(item=item, support=support, words=words)


def nbytes(arrays: Iterable[Any]) -> int:
    """The memory of arrays."""
    return sum(array.nbytes for array in arrays)


def _new_found(n_sets: int, n_items: int) -> "FoundSets":
    from labelrules.kernels.mining.itemsets import FoundSets

    return FoundSets(
        np.zeros(1, dtype=np.int64),
        np.zeros(n_sets + 1, dtype=np.int64),
        np.zeros(n_items, dtype=np.int32),
        np.zeros(n_sets, dtype=np.int32),
    )
