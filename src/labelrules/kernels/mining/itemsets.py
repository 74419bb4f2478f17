"""Mine frequent itemsets, depth first: all, closed or maximal ones.

Items are numbered by rising frequency. The rows of each item in turn form a small table (the
*projection*), in which each later item that is still frequent is a stretch of bits. Sets are
extended by intersecting bits, and the extensions of a set lie side by side on a stack. So the
memory is that of one path of the search tree; the search stops when the space for results is full
and can be resumed.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers
from labelrules.kernels.jit import inner, kernel
from labelrules.kernels.mining.bits import count_both, lies_within, put_both, set_bit

DONE, FULL, NARROW, PAUSED, SPENT = 0, 1, 2, 3, 4
"""Why a search returned: complete; results full; stack too small; pause for Ctrl-C; limit."""

PATIENCE = 1 << 27
"""Words that are intersected before a search pauses."""

Numbers = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]


class TransactionTable(NamedTuple):
    """Frequent items by rising frequency, with their rows; and rows with their items, rising."""

    item_start: Integers
    rows: Numbers
    row_start: Integers
    items: Numbers
    name: Numbers
    """The number of each item in results."""


class Stack(NamedTuple):
    """Where a search stands: entries are items to extend by, with the rows that would remain."""

    at: Integers
    """Item projected on, level, words per entry; for closed sets also entries and sets visited."""
    item: Numbers
    support: Numbers
    words: Words
    next: Integers
    """For each level the entry that comes next, and the entry after its last."""
    stop: Integers
    prefix: Numbers
    place: Numbers
    """Per item: rows of the projection that have it, then its entry in the projection."""


class FoundSets(NamedTuple):
    """Space for results: a set owns the items from its start to the next."""

    n: Integers
    """How many sets there are."""
    start: Integers
    items: Numbers
    support: Numbers


@inner
def put_rising(chosen, n_items, name, target, start):
    """Write the names of items one after the other, rising."""
    for k in range(n_items):
        item = name[chosen[k]]
        place = start + k
        while place > start and target[place - 1] > item:
            target[place] = target[place - 1]
            place -= 1
        target[place] = item


@inner
def emit(results, chosen, n_items, name, support):
    """Note a set, its items by rising name."""
    number = results.n[0]
    start = results.start[number]
    put_rising(chosen, n_items, name, results.items, start)
    results.start[number + 1] = start + n_items
    results.support[number] = support
    results.n[0] = number + 1


@inner
def has_room(results, n_sets, n_items):
    """Whether so many sets of so many items can be noted."""
    number = results.n[0]
    if number + n_sets > len(results.support):
        return False
    return results.start[number] + n_sets * n_items <= len(results.items)


@inner
def count_projection(table, root, lowest, minimum, place):
    """Count the items from `lowest` in the rows of an item; how many of them are frequent."""
    place[lowest:] = 0
    for i in range(table.item_start[root], table.item_start[root + 1]):
        row = table.rows[i]
        k = table.row_start[row + 1] - 1
        while k >= table.row_start[row] and table.items[k] >= lowest:
            place[table.items[k]] += 1
            k -= 1
    place[root] = 0
    n_frequent = 0
    for item in range(lowest, len(place)):
        n_frequent += place[item] >= minimum
    return n_frequent


@inner
def fill_projection(table, root, lowest, minimum, stack, n_words):
    """Make entries of the frequent items, by rising number, with the rows as bits."""
    entry = 0
    for item in range(lowest, len(stack.place)):
        times = stack.place[item]
        stack.place[item] = -1
        if times >= minimum:
            stack.item[entry], stack.support[entry] = item, times
            stack.place[item] = entry
            entry += 1
    stack.words[: entry * n_words] = 0
    for i in range(table.item_start[root], table.item_start[root + 1]):
        row = table.rows[i]
        k = table.row_start[row + 1] - 1
        while k >= table.row_start[row] and table.items[k] >= lowest:
            if stack.place[table.items[k]] >= 0:
                start = stack.place[table.items[k]] * n_words
                set_bit(stack.words, start, i - table.item_start[root])
            k -= 1
    return entry


@inner
def fits(stack, n_entries, n_words):
    """Whether the stack can hold so many entries."""
    return n_entries <= len(stack.item) and n_entries * n_words <= len(stack.words)


@inner
def _begin(table, minimum, longest, stack, results):
    """Start with the next item; returns whether there was room for it."""
    root = stack.at[0]
    n_rows = table.item_start[root + 1] - table.item_start[root]
    n_words = (n_rows + 63) >> 6
    stack.prefix[0] = root
    if longest > 1:
        n_entries = count_projection(table, root, root + 1, minimum, stack.place)
        if not fits(stack, n_entries, n_words):
            stack.at[2] = n_words
            return False
        stack.next[1] = 0
        stack.stop[1] = fill_projection(table, root, root + 1, minimum, stack, n_words)
        stack.at[1] = 1
    emit(results, stack.prefix, 1, table.name, n_rows)
    stack.at[0] = root + 1
    stack.at[2] = n_words
    return True


@inner
def _last_level(table, minimum, level, entry, stack, results):
    """Extend the set for the last time: nothing is kept."""
    n_words = stack.at[2]
    for other in range(entry + 1, stack.stop[level]):
        support = count_both(stack.words, entry * n_words, other * n_words, n_words)
        if support >= minimum:
            stack.prefix[level + 1] = stack.item[other]
            emit(results, stack.prefix, level + 2, table.name, support)


@inner
def next_level(minimum, level, entry, stack):
    """Put the frequent extensions of the set on the stack."""
    n_words = stack.at[2]
    first = stack.stop[level]
    target = first
    for other in range(entry + 1, first):
        support = put_both(stack.words, entry * n_words, other * n_words, target * n_words, n_words)
        if support >= minimum:
            stack.item[target], stack.support[target] = stack.item[other], support
            target += 1
    if target > first:
        stack.at[1] = level + 1
        stack.next[level + 1] = first
        stack.stop[level + 1] = target


@kernel
def mine_all(table, minimum, longest, stack, results):
    """Resume the search for all frequent sets of up to `longest` items; returns why it ended."""
    n_items = len(table.item_start) - 1
    patience = PATIENCE
    while True:
        level = stack.at[1]
        if level == 0:
            if stack.at[0] == n_items:
                return DONE
            if not has_room(results, 1, 1):
                return FULL
            if not _begin(table, minimum, longest, stack, results):
                return NARROW
            continue
        entry = stack.next[level]
        n_after = stack.stop[level] - entry - 1
        if n_after < 0:
            stack.at[1] = level - 1
            continue
        patience -= n_after * stack.at[2]
        if patience < 0:
            return PAUSED
        # Room for this set and all its extensions is asked for first: a search that stops in
        # between could not be resumed.
        if not has_room(results, n_after + 1, level + 2):
            return FULL
        if not fits(stack, stack.stop[level] + n_after, stack.at[2]):
            return NARROW
        stack.prefix[level] = stack.item[entry]
        emit(results, stack.prefix, level + 1, table.name, stack.support[entry])
        stack.next[level] = entry + 1
        if level + 2 == longest:
            _last_level(table, minimum, level, entry, stack, results)
        elif level + 1 < longest:
            next_level(minimum, level, entry, stack)


# A set is closed if no larger one is in the same rows. Each closed set but the first is reached
# from exactly one other: by adding one item, and then all items that every remaining row has. The
# extension is valid only if it adds no item before the one that was added (the prefix-preserving
# extension of T. Uno et al., "LCM: an efficient algorithm for enumerating frequent closed item
# sets", FIMI 2003). So no sets have to be remembered. The entries of a projection are those of
# *all* frequent items in it, since extensions are checked against earlier ones.


@inner
def _is_extended(stack, entry, minimum, chosen, item):
    """Whether an item before this one that is not in the set could be added to it."""
    n_words = stack.at[2]
    earlier = 0
    while stack.item[earlier] < item:
        if not chosen[stack.item[earlier]]:
            start = earlier * n_words
            if count_both(stack.words, entry * n_words, start, n_words) >= minimum:
                return True
        earlier += 1
    return False


@inner
def _keeps_its_prefix(stack, entry, chosen, n_base):
    """Whether the rows of an entry share no earlier item that is not in the set."""
    n_words = stack.at[2]
    for earlier in range(n_base):
        item = stack.item[earlier]
        if item >= stack.item[entry]:
            return True
        if not chosen[item] and lies_within(
            stack.words, entry * n_words, earlier * n_words, n_words
        ):
            return False
    return True


@inner
def _open(stack, sizes, chosen, level, minimum):
    """Take the next entry of a level into the set, with all that its rows share; go down."""
    n_words = stack.at[2]
    entry = stack.next[level]
    stack.next[level] = entry + 1
    size = sizes[level - 1]
    stack.prefix[size] = stack.item[entry]
    chosen[stack.item[entry]] = True
    size += 1
    first = stack.stop[level]
    target = first
    for other in range(entry + 1, first):
        support = put_both(stack.words, entry * n_words, other * n_words, target * n_words, n_words)
        if support == stack.support[entry]:
            stack.prefix[size] = stack.item[other]
            chosen[stack.item[other]] = True
            size += 1
        elif support >= minimum:
            stack.item[target], stack.support[target] = stack.item[other], support
            target += 1
    sizes[level] = size
    stack.at[1] = level + 1
    stack.next[level + 1] = first
    stack.stop[level + 1] = target
    return target > first


@inner
def _close(stack, sizes, chosen, level):
    """Take what a level has added out of the set again; go up."""
    for k in range(sizes[level - 2], sizes[level - 1]):
        chosen[stack.prefix[k]] = False
    stack.at[1] = level - 1


@inner
def _project(table, minimum, stack, sizes, chosen):
    """Project on an item; size of its closed set, 0 if another item leads there, -1 if no room."""
    root = stack.at[0]
    n_rows = table.item_start[root + 1] - table.item_start[root]
    n_words = (n_rows + 63) >> 6
    stack.at[2] = n_words
    n_entries = count_projection(table, root, 0, minimum, stack.place)
    if not fits(stack, 2 * n_entries, n_words):
        return -1
    for item in range(root):
        if stack.place[item] == n_rows and not chosen[item]:
            return 0
    size = sizes[0]
    stack.prefix[size] = root
    chosen[root] = True
    size += 1
    for item in range(root + 1, len(stack.place)):
        if stack.place[item] == n_rows and not chosen[item]:
            stack.prefix[size] = item
            chosen[item] = True
            size += 1
    for k in range(size):  # what is in the set is not looked at again
        stack.place[stack.prefix[k]] = 0
    stack.at[3] = fill_projection(table, root, 0, minimum, stack, n_words)
    first = 0
    while first < stack.at[3] and stack.item[first] < root:
        first += 1
    sizes[1] = size
    stack.next[2], stack.stop[2] = first, stack.at[3]
    stack.at[1] = 2
    return size


@inner
def _first_set(table, n_rows, longest, maximal, stack, sizes, chosen, results):
    """The items of all rows, which every closed set has."""
    n_items = len(table.item_start) - 1
    size = 0
    for item in range(n_items):
        if table.item_start[item + 1] - table.item_start[item] == n_rows:
            stack.prefix[size] = item
            chosen[item] = True
            size += 1
    sizes[0] = size
    if 0 < size <= longest and not (maximal and size < n_items):
        emit(results, stack.prefix, size, table.name, n_rows)
    stack.at[1] = 1
    return size <= longest


@kernel
def mine_closed(table, n_rows, minimum, longest, maximal, most, stack, sizes, chosen, results):
    """Resume the search for closed or maximal sets of up to `longest` items.

    Level 0 begins, level 1 goes from item to item, levels from 2 on are within a projection.
    `sizes` and `chosen` hold the items of the set on each level. The search ends after visiting
    `most` sets, whether they qualified or not.
    """
    n_items = len(table.item_start) - 1
    patience = PATIENCE
    while True:
        level = stack.at[1]
        if patience < 0:
            return PAUSED
        if not has_room(results, 1, n_items):
            return FULL
        if level == 0:
            if not _first_set(table, n_rows, longest, maximal, stack, sizes, chosen, results):
                return DONE
            continue
        if level == 1:
            if stack.at[0] == n_items:
                return DONE
            root = stack.at[0]
            if chosen[root]:  # in all rows
                stack.at[0] += 1
                continue
            if stack.at[4] >= most:
                return SPENT
            size = _project(table, minimum, stack, sizes, chosen)
            if size < 0:
                return NARROW
            stack.at[0] += 1
            stack.at[4] += 1
            patience -= stack.at[3] * stack.at[2]
            if size == 0:
                continue
            is_largest = stack.at[3] == 0
            if size <= longest and (not maximal or is_largest):
                support = table.item_start[root + 1] - table.item_start[root]
                emit(results, stack.prefix, size, table.name, support)
            if size >= longest:
                stack.next[2] = stack.stop[2]
            continue
        entry = stack.next[level]
        n_after = stack.stop[level] - entry - 1
        if n_after < 0:
            _close(stack, sizes, chosen, level)
            continue
        if stack.at[4] >= most:
            return SPENT
        if not fits(stack, stack.stop[level] + n_after, stack.at[2]):
            return NARROW
        stack.at[4] += 1
        patience -= (n_after + stack.at[3]) * stack.at[2]
        if not _keeps_its_prefix(stack, entry, chosen, stack.at[3]):
            stack.next[level] = entry + 1
            continue
        goes_on = _open(stack, sizes, chosen, level, minimum)
        size = sizes[level]
        if size <= longest and not (
            maximal and (goes_on or _is_extended(stack, entry, minimum, chosen, stack.item[entry]))
        ):
            emit(results, stack.prefix, size, table.name, stack.support[entry])
        if size >= longest:
            stack.next[level + 1] = stack.stop[level + 1]
