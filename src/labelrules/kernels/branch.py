"""Branch and bound over heads for example-based measures, rows counted cell by cell.

The general search: any formula, cells open or written, any limit or lift. It decides label
after label. A row is worth what a table says of its right and wrong cells; what it would be
worth if every label left to decide turned out right bounds what it can reach.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from labelrules._types import Floats, Integers

ABSENT, PRESENT, SILENT = 0, 1, 2
TINY = 1e-12
"""Values closer than this are equal; then the preferred head is kept."""


class DistinctRows(NamedTuple):
    """Different rows, how often each occurs, and what each choice does to their cells."""

    effect: npt.NDArray[np.int8]
    """Choices by labels by rows: 1 makes a cell right, -1 wrong, 0 leaves it uncounted."""
    weight: Floats
    """How much each row counts in the mean."""
    table: Integers
    """Which of the two tables values a row: 0 if the body covers it, 1 if not."""


class HeadSpace(NamedTuple):
    """The heads there are and what their rows are worth."""

    choices: npt.NDArray[np.int8]
    """What may be said of a label."""
    full: bool
    """Whether the size of a head is its presences rather than all it says."""
    smallest: int
    largest: int
    factors: Floats
    """The lift by size."""
    worth: Floats
    """Table by right by wrong cells."""
    reach: Floats
    """The greatest worth with at least as many right and wrong cells, or `worth` itself."""
    rises: bool
    """Whether right cells never harm and wrong ones never help; then `reach` is `worth`."""


@njit(cache=True, nogil=True)
def _counts_in_size(choice, full):
    return int(choice == PRESENT) if full else int(choice != SILENT)


@njit(cache=True, nogil=True)
def _preferred(head, other):
    """Whether one head comes before another: size, then presences, then earlier labels."""
    said = present = first = 0
    for label in range(len(head)):
        a, b = head[label], other[label]
        said += int(a != SILENT) - int(b != SILENT)
        present += int(a == PRESENT) - int(b == PRESENT)
        if first == 0 and a != b:
            # Present before absent before silent.
            first = 1 if a == PRESENT or (a == ABSENT and b == SILENT) else -1
    if said != 0:
        return said > 0
    if present != 0:
        return present > 0
    return first > 0


@njit(cache=True, nogil=True)
def value_of(head, rows, space):
    """The lifted value of a head."""
    n_labels, n_rows = rows.effect.shape[1], rows.effect.shape[2]
    size = 0
    for label in range(n_labels):
        size += _counts_in_size(head[label], space.full)
    total = 0.0
    for row in range(n_rows):
        right = wrong = 0
        for label in range(n_labels):
            effect = rows.effect[head[label], label, row]
            right += effect == 1
            wrong += effect == -1
        total += rows.weight[row] * space.worth[rows.table[row], right, wrong]
    return total * space.factors[size]


@njit(cache=True, nogil=True)
def climb(head, rows, space):
    """Change one label at a time as long as the head gets better; returns its value."""
    best = value_of(head, rows, space)
    size = 0
    for label in range(len(head)):
        size += _counts_in_size(head[label], space.full)
    improved = True
    while improved:
        improved = False
        for label in range(len(head)):
            for choice in space.choices:
                old = head[label]
                new_size = size + _counts_in_size(choice, space.full)
                new_size -= _counts_in_size(old, space.full)
                if choice == old or new_size < space.smallest or new_size > space.largest:
                    continue
                head[label] = choice
                value = value_of(head, rows, space)
                if value > best + TINY:
                    best, size, improved = value, new_size, True
                else:
                    head[label] = old
    return best


@njit(cache=True, nogil=True)
def _bound(depth, size, right, wrong, left, rows, space):
    """No head that begins as decided so far is worth more than this."""
    n_labels = rows.effect.shape[1]
    room = n_labels - depth if space.full else min(n_labels - depth, space.largest - size)
    total = 0.0
    for row in range(rows.effect.shape[2]):
        r, w, table = right[depth, row], wrong[depth, row], rows.table[row]
        if space.rises:
            total += rows.weight[row] * space.worth[table, r + min(left[depth, row], room), w]
        else:
            total += rows.weight[row] * space.reach[table, r, w]
    lift = 0.0
    for k in range(max(size, space.smallest), min(size + n_labels - depth, space.largest) + 1):
        lift = max(lift, space.factors[k])
    # Negative values (some heuristics) shrink by the smallest factor; be generous.
    return total * lift if total > 0 else 0.0


@njit(cache=True, nogil=True)
def search(rows, space, best_head, max_nodes):
    """Improve `best_head` to the best there is; returns its value, the bound left open, nodes.

    The bound left open is that of the best head not looked at when `max_nodes` ran out, or
    minus infinity when the search was complete.
    """
    _, n_labels, n_rows = rows.effect.shape
    right = np.zeros((n_labels + 1, n_rows), np.int32)
    wrong = np.zeros((n_labels + 1, n_rows), np.int32)
    left = np.zeros((n_labels + 1, n_rows), np.int32)
    for label in range(n_labels - 1, -1, -1):
        for row in range(n_rows):
            can = False
            for choice in space.choices:
                can |= rows.effect[choice, label, row] == 1
            left[label, row] = left[label + 1, row] + can
    head = np.empty(n_labels, np.int8)
    tried = np.zeros(n_labels + 1, np.int64)
    sizes = np.zeros(n_labels + 1, np.int64)
    best = value_of(best_head, rows, space)
    nodes, depth, missed = 0, 0, -np.inf
    while depth >= 0:
        if depth == n_labels:
            value = value_of(head, rows, space)
            if value > best + TINY or (value > best - TINY and _preferred(head, best_head)):
                best = max(best, value)
                best_head[:] = head
            depth -= 1
            continue
        if tried[depth] == len(space.choices):
            tried[depth] = 0
            depth -= 1
            continue
        choice = space.choices[tried[depth]]
        tried[depth] += 1
        size = sizes[depth] + _counts_in_size(choice, space.full)
        if size > space.largest or size + n_labels - depth - 1 < space.smallest:
            continue
        head[depth] = choice
        for row in range(n_rows):
            effect = rows.effect[choice, depth, row]
            right[depth + 1, row] = right[depth, row] + (effect == 1)
            wrong[depth + 1, row] = wrong[depth, row] + (effect == -1)
        sizes[depth + 1] = size
        bound = _bound(depth + 1, size, right, wrong, left, rows, space)
        if bound < best - TINY:
            continue
        if bound <= best + TINY:
            # At most a tie: go on only if all labels left, present, would make it preferred.
            head[depth + 1 :] = PRESENT
            if not _preferred(head, best_head):
                continue
        nodes += 1
        if nodes > max_nodes:
            missed = max(missed, bound)
            continue
        depth += 1
        tried[min(depth, n_labels)] = 0
    return best, missed, nodes
