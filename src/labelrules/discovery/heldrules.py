"""The rules that a search has found so far, or the best of them."""

from typing import Any

import numpy as np

from labelrules._types import Floats, Integers
from labelrules.discovery.rulebatches import Found


class Held:
    """Rules with their values, batch by batch.

    Parameters
    ----------
    top : int, optional
        How many of them are wanted in the end. The others are let go when as many are new as are
        wanted: each rule is then put in order a few times at most, whatever `top` is.
    """

    def __init__(self, top: int | None) -> None:
        self.top = top
        self.least: float | None = None
        """The value of the last of the best, once there are so many."""
        self.n_bytes = 0
        self._parts: list[tuple[Found, Floats]] = [(Found.none(), np.empty(0))]
        self._n_new = 0

    def add(self, found: Found, values: Floats) -> None:
        """Hold some more."""
        if self.least is not None:
            better = values >= self.least  # of equal ones the order decides
            found, values = found.take(better), values[better]
        self._parts.append((found, values))
        self._n_new += values.size
        self.n_bytes += nbytes_of(found)
        if self.top is not None and self._n_new >= self.top:
            self._compact(self.top)

    def best(self) -> Found:
        """The rules in order, and no more than are wanted; they are held no longer."""
        found, values = self._joined()
        return found.take(in_order(found, values)[: self.top])

    def _joined(self) -> tuple[Found, Floats]:
        values = np.concatenate([part[1] for part in self._parts])
        found = Found.joined([part[0] for part in self._parts])
        self._parts = []
        return found, values

    def _compact(self, top: int) -> None:
        """Let go of all but the best."""
        found, values = self._joined()
        if values.size > top:  # most need no comparing
            worst = np.partition(values, values.size - top)[values.size - top]
            near = values >= worst
            found, values = found.take(near), values[near]
        order = in_order(found, values)[:top]
        found, values = found.take(order), values[order]
        self._parts = [(found, values)]
        self._n_new = 0
        self.least = float(values[-1])
        self.n_bytes = nbytes_of(found)


def in_order(found: Found, values: Floats) -> Integers:
    """Rules by falling value, more right rows, fewer items, fewer labels, and as items come."""
    heads, bodies = found.head.padded().T, found.body.padded().T
    lengths = found.head.lengths, found.body.lengths
    keys: tuple[Any, ...] = (*heads[::-1], *bodies[::-1], *lengths, -found.n_both, -values)
    return np.asarray(np.lexsort(keys))


def nbytes_of(found: Found) -> int:
    """The memory of rules, with what it takes to put them together and in order.

    They are held twice while they are joined or chosen from, with the places of their items; to be
    compared, all bodies are made as long as the longest, and so are all heads.
    """
    n_rules = found.n_body.size
    longest = int(found.body.lengths.max(initial=0) + found.head.lengths.max(initial=0))
    return 18 * (found.body.values.size + found.head.values.size) + (5 * longest + 100) * n_rules
