"""Frequent sets of items, depth first: the closed or the maximal ones.

A set is closed if no larger one is in the same rows. Each closed set but the first is reached from
exactly one other: by adding one item, and then all items that every remaining row has. It is the
right way there only if this brings in no item before the one that was added (the
prefix-preserving extension of T. Uno et al., "LCM: an efficient algorithm for enumerating frequent
closed item sets", FIMI 2003). So nothing that was found before needs to be remembered.

The stack is that of :mod:`labelrules.kernels.mine`; the entries of a projection are those of *all*
frequent items in it, since earlier ones are what an extension is checked against.
"""

from numba import njit

from labelrules.kernels.bits import count_both, lies_within, put_both
from labelrules.kernels.mine import (
    DONE,
    FULL,
    NARROW,
    PATIENCE,
    PAUSED,
    SPENT,
    count_projection,
    emit,
    fill_projection,
    fits,
    has_room,
)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _close(stack, sizes, chosen, level):
    """Take what a level has added out of the set again; go up."""
    for k in range(sizes[level - 2], sizes[level - 1]):
        chosen[stack.prefix[k]] = False
    stack.at[1] = level - 1


@njit(cache=True, nogil=True)
def _project(table, minimum, stack, sizes, chosen):
    """Take an item by itself: what its rows share, and the projection on them.

    Gives the number of its closed set's items, or 0 if another item leads there, or -1 if the
    stack is too small.
    """
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


@njit(cache=True, nogil=True)
def _first_set(table, n_rows, longest, maximal, stack, sizes, chosen, found):
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
        emit(found, stack.prefix, size, table.name, n_rows)
    stack.at[1] = 1
    return size <= longest


@njit(cache=True, nogil=True)
def mine_closed(table, n_rows, minimum, longest, maximal, most, stack, sizes, chosen, found):
    """Go on with the search for closed or maximal sets of up to `longest` items.

    Levels count from 2 within a projection; level 1 goes from item to item, level 0 begins.
    `sizes` and `chosen` are how many items the set has on each level, and which. The search is
    over when it has looked at `most` sets, whether they were wanted or not.
    """
    n_items = len(table.item_start) - 1
    patience = PATIENCE
    while True:
        level = stack.at[1]
        if patience < 0:
            return PAUSED
        if not has_room(found, 1, n_items):
            return FULL
        if level == 0:
            if not _first_set(table, n_rows, longest, maximal, stack, sizes, chosen, found):
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
                emit(found, stack.prefix, size, table.name, support)
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
            emit(found, stack.prefix, size, table.name, stack.support[entry])
        if size >= longest:
            stack.next[level + 1] = stack.stop[level + 1]
