"""Rules with labels in their heads, as the kernel finds them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats, Integers
from labelrules.discovery.items import Items, Numbers
from labelrules.discovery.itemsets import larger_stack, nbytes, new_stack, table_of
from labelrules.discovery.limits import Limits, Ragged
from labelrules.kernels.interrupts import heard_interrupts

if TYPE_CHECKING:
    from labelrules.kernels.mining.associations import Heads, MinedRules, Truth, Wanted


class FoundRules(NamedTuple):
    """Rules: the items of their bodies, the literals of their heads, and their rows.

    A literal is twice the number of its label, and one more for presence.
    """

    body: Ragged
    head: Ragged
    n_body: Integers
    n_both: Integers

    @classmethod
    def none(cls) -> "FoundRules":
        """No rules."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(Ragged.empty(), Ragged.empty(), nothing, nothing)

    @classmethod
    def joined(cls, parts: list["FoundRules"]) -> "FoundRules":
        """All rules of the parts."""
        bodies, heads = [part.body for part in parts], [part.head for part in parts]
        counts = [
            np.concatenate([p.n_body for p in parts]),
            np.concatenate([p.n_both for p in parts]),
        ]
        return cls(Ragged.joined(bodies), Ragged.joined(heads), *counts)

    def take(self, chosen: Any) -> "FoundRules":
        """Some of the rules."""
        return FoundRules(
            self.body.take(chosen), self.head.take(chosen), self.n_body[chosen], self.n_both[chosen]
        )


@dataclass
class AssociationSearch:
    """What is searched, and how far the search has come.

    Parameters
    ----------
    items : Items
        What bodies are made of.
    Y : array
    minimum : int
        The least number of rows of body and head.
    confident : array of int
        For each number of covered rows, in how many of them the head must hold.
    need : array of int
        For each literal the least number of rows that is of use. It may rise during the search.
    longest_body, longest_head : int
    count_all : bool
        Whether all frequent bodies are looked at, so that they are counted.
    batch : int
        How many rules are handed over together.
    """

    items: Items
    Y: Board
    minimum: int
    confident: Numbers
    need: Numbers
    longest_body: int
    longest_head: int
    count_all: bool
    batch: int
    n_bodies: int = 0

    def batches(self, limits: Limits) -> Iterator[FoundRules]:
        """The rules, batch by batch."""
        from labelrules.kernels.mining.associations import mine_rules
        from labelrules.kernels.mining.itemsets import DONE, FULL, NARROW, SPENT

        table = table_of(self.items, self.minimum)
        depth = int(min(self.longest_body, np.diff(table.row_start).max(initial=0)))
        wanted, truth = self._wanted(depth, limits.visits), self._truth(table.name)
        stack, heads = new_stack(table.name.size), self._heads(table, depth)
        rules = _new_rules(self.batch, max(1, depth))
        status = FULL
        while status != DONE and limits.stopped is None:
            rules.n[:2] = 0
            try:
                with heard_interrupts():
                    status = int(mine_rules(table, truth, wanted, stack, heads, rules))
            except KeyboardInterrupt:  # Python raises it when the rules are there already
                limits.stop_for_interrupt()
            n_rules = int(rules.n[1])
            if status == SPENT:
                limits.stop_for_visits()
            if n_rules:  # rules that are looked at count as well, and there may be many of a body
                wanted = wanted._replace(most_bodies=wanted.most_bodies - n_rules)
                yield _found(rules)
            elif status == FULL:
                rules = self._larger(rules, limits, max(1, depth))
            if status == NARROW:
                stack = larger_stack(stack, limits)
            working = nbytes(stack) + nbytes(heads) + nbytes(rules)
            if status != DONE and limits.n_bytes + working > limits.memory:
                limits.stop_for_memory()
        self.n_bodies = int(rules.n[2])

    def _wanted(self, depth: int, most_bodies: int) -> "Wanted":
        from labelrules.kernels.mining.associations import Wanted

        return Wanted(
            self.minimum,
            depth,
            self.longest_head,
            self.confident,
            self.need,
            self.count_all,
            most_bodies,
        )

    def _truth(self, order: Numbers) -> "Truth":
        from labelrules.kernels.mining.associations import Truth

        present = sparse.csr_array(self.Y)
        column = self.items.column - self.items.schema.n_features
        label = np.where(self.items.is_label, column, -1).astype(np.int32)
        return Truth(
            present.indptr.astype(np.int64), present.indices.astype(np.int32), label[order]
        )

    def _heads(self, table: Any, depth: int) -> "Heads":
        from labelrules.kernels.mining.associations import Heads

        n_labels = self.Y.shape[1]
        n_literals = int((self.need <= self.Y.shape[0]).sum())
        n_entries = n_literals * self.longest_head
        n_words = (int(np.diff(table.item_start).max(initial=0)) + 63) // 64
        room = n_entries if self.longest_head > 1 else 0
        return Heads(
            np.zeros((1 + n_labels + room) * n_words, dtype=np.uint64),
            np.zeros(1, dtype=np.int64),
            np.zeros(n_labels + 1, dtype=np.int32),
            np.zeros(n_labels, dtype=np.int32),
            np.zeros((depth + 1) * n_literals, dtype=np.int32),
            np.zeros(depth + 1, dtype=np.int64),
            np.zeros(self.longest_head + 1, dtype=np.int64),
            np.zeros(self.longest_head + 1, dtype=np.int64),
            np.zeros(self.longest_head + 1, dtype=np.int32),
            np.zeros(n_entries, dtype=np.int32),
            np.zeros(n_entries, dtype=np.int32),
        )

    def _larger(self, rules: "MinedRules", limits: Limits, depth: int) -> "MinedRules":
        """Room for the rules of a body that has more of them than there was room for."""
        if rules.support.size > limits.number - limits.n_found:
            limits.stop_for_number()
            return rules
        larger = _new_rules(2 * rules.support.size, depth)
        larger.n[2] = rules.n[2]
        return larger


def _new_rules(n_rules: int, depth: int) -> "MinedRules":
    from labelrules.kernels.mining.associations import MinedRules

    return MinedRules(
        np.zeros(3, dtype=np.int64),
        np.zeros(n_rules + 1, dtype=np.int64),
        np.zeros(n_rules * min(depth, 8) + depth, dtype=np.int32),
        np.zeros(n_rules, dtype=np.int32),
        np.zeros(n_rules, dtype=np.int32),
        np.zeros(n_rules + 1, dtype=np.int64),
        np.zeros(n_rules * 4, dtype=np.int32),
        np.zeros(n_rules, dtype=np.int32),
    )


def _found(rules: "MinedRules") -> FoundRules:
    n_bodies, n_rules = int(rules.n[0]), int(rules.n[1])
    body_start, head_start = rules.body_start[: n_bodies + 1], rules.head_start[: n_rules + 1]
    bodies = Ragged(body_start, rules.body_item[: body_start[-1]])
    of_body = rules.body[:n_rules]
    return FoundRules(
        bodies.take(of_body),
        Ragged(head_start.copy(), rules.head[: head_start[-1]].copy()),
        rules.body_support[of_body].astype(np.int64),
        rules.support[:n_rules].astype(np.int64),
    )


# -------------------- The rules that a search has found so far, or the best of them


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
        self._parts: list[tuple[FoundRules, Floats]] = [(FoundRules.none(), np.empty(0))]
        self._n_new = 0

    def add(self, found: FoundRules, values: Floats) -> None:
        """Hold some more."""
        if self.least is not None:
            better = values >= self.least  # of equal ones the order decides
            found, values = found.take(better), values[better]
        self._parts.append((found, values))
        self._n_new += values.size
        self.n_bytes += nbytes_of(found)
        if self.top is not None and self._n_new >= self.top:
            self._compact(self.top)

    def best(self) -> FoundRules:
        """The rules in order, and no more than are wanted; they are held no longer."""
        found, values = self._joined()
        return found.take(in_order(found, values)[: self.top])

    def _joined(self) -> tuple[FoundRules, Floats]:
        values = np.concatenate([part[1] for part in self._parts])
        found = FoundRules.joined([part[0] for part in self._parts])
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


def in_order(found: FoundRules, values: Floats) -> Integers:
    """Rules by falling value, more right rows, fewer items, fewer labels, and as items come."""
    heads, bodies = found.head.padded().T, found.body.padded().T
    lengths = found.head.lengths, found.body.lengths
    keys: tuple[Any, ...] = (*heads[::-1], *bodies[::-1], *lengths, -found.n_both, -values)
    return np.asarray(np.lexsort(keys))


def nbytes_of(found: FoundRules) -> int:
    """The memory of rules, with what it takes to put them together and in order.

    They are held twice while they are joined or chosen from, with the places of their items; to be
    compared, all bodies are made as long as the longest, and so are all heads.
    """
    n_rules = found.n_body.size
    longest = int(found.body.lengths.max(initial=0) + found.head.lengths.max(initial=0))
    return 18 * (found.body.values.size + found.head.values.size) + (5 * longest + 100) * n_rules
