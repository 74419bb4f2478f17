"""The search of the kernels for association rules, batch by batch, and the best rules so far."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from labelrules._interrupts import heard_interrupts
from labelrules._types import Board, Floats, Integers
from labelrules.mining.items import Items, Numbers, Ragged
from labelrules.mining.itemsets import larger_stack, nbytes, new_stack, transactions
from labelrules.mining.limits import Limits

if TYPE_CHECKING:
    from labelrules.kernels.mining.associations import Heads, MinedRules, Truth, Wanted


class FoundRules(NamedTuple):
    """Rules: items of bodies, literals of heads (2 * label, + 1 for presence), numbers of rows."""

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
        bodies, heads, n_body, n_both = zip(*parts, strict=True)
        counts = np.concatenate(n_body), np.concatenate(n_both)
        return cls(Ragged.joined(bodies), Ragged.joined(heads), *counts)

    def take(self, chosen: Any) -> "FoundRules":
        """Some of the rules."""
        return FoundRules(
            self.body.take(chosen), self.head.take(chosen), self.n_body[chosen], self.n_both[chosen]
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the rules, of a copy to join them, and of lists of equal length to sort them."""
        n_values = self.body.values.size + self.head.values.size
        longest = int(self.body.lengths.max(initial=0) + self.head.lengths.max(initial=0))
        return 18 * n_values + (5 * longest + 100) * self.n_body.size


@dataclass
class AssociationSearch:
    """The search for association rules by the kernels, and its state."""

    items: Items
    Y: Board
    minimum: int  # rows of body and head
    confident: Numbers  # for each number of covered rows, in how many the head must hold
    need: Numbers  # for each literal the least number of right rows; it may rise during the search
    longest_body: int
    longest_head: int
    count_all: bool  # whether to visit all frequent bodies, to count them
    batch: int  # rules of a batch
    n_bodies: int = 0

    def batches(self, limits: Limits) -> Iterator[FoundRules]:
        """The rules, batch by batch."""
        from labelrules.kernels.mining.associations import mine_rules
        from labelrules.kernels.mining.itemsets import DONE, FULL, NARROW, SPENT

        table = transactions(self.items, self.minimum)
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
            if n_rules:  # rules count as visits too, for a body may have many
                wanted = wanted._replace(most_bodies=wanted.most_bodies - n_rules)
                yield _copied(rules)
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

        needs = self.confident, self.need, self.count_all
        return Wanted(self.minimum, depth, self.longest_head, *needs, most_bodies)

    def _truth(self, order: Numbers) -> "Truth":
        from labelrules.kernels.mining.associations import Truth

        present = sparse.csr_array(self.Y)
        column = self.items.column - self.items.schema.n_features
        label = np.where(self.items.is_label, column, -1).astype(np.int32)
        start, labels = present.indptr.astype(np.int64), present.indices.astype(np.int32)
        return Truth(start, labels, label[order])

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
        """Room for a body with more rules than there was room for."""
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


def _copied(rules: "MinedRules") -> FoundRules:
    """The rules of a batch, apart from the arrays that the kernel fills again."""
    n_bodies, n_rules = int(rules.n[0]), int(rules.n[1])
    body_start, head_start = rules.body_start[: n_bodies + 1], rules.head_start[: n_rules + 1]
    of_body = rules.body[:n_rules]
    return FoundRules(
        Ragged(body_start, rules.body_item[: body_start[-1]]).take(of_body),
        Ragged(head_start.copy(), rules.head[: head_start[-1]].copy()),
        rules.body_support[of_body].astype(np.int64),
        rules.support[:n_rules].astype(np.int64),
    )


class BestRules:
    """All rules with their values, or the best `top`; others are dropped whenever `top` are new."""

    def __init__(self, top: int | None) -> None:
        self.top = top
        self.least: float | None = None  # value of the last of the best rules, once there are `top`
        self.n_bytes = 0
        self._parts: list[tuple[FoundRules, Floats]] = [(FoundRules.none(), np.empty(0))]
        self._n_new = 0

    def add(self, rules: FoundRules, values: Floats) -> None:
        """Add a batch."""
        if self.least is not None:
            better = values >= self.least  # the order decides among equal ones
            rules, values = rules.take(better), values[better]
        self._parts.append((rules, values))
        self._n_new += values.size
        self.n_bytes += rules.nbytes
        if self.top is not None and self._n_new >= self.top:
            self._compact(self.top)

    def sorted(self) -> FoundRules:
        """The rules in order, at most `top`; they are kept here no longer."""
        rules, values = self._joined()
        return rules.take(in_order(rules, values)[: self.top])

    def _joined(self) -> tuple[FoundRules, Floats]:
        values = np.concatenate([part[1] for part in self._parts])
        rules = FoundRules.joined([part[0] for part in self._parts])
        self._parts = []
        return rules, values

    def _compact(self, top: int) -> None:
        rules, values = self._joined()
        if values.size > top:  # most need no comparison
            worst = np.partition(values, values.size - top)[values.size - top]
            near = values >= worst
            rules, values = rules.take(near), values[near]
        order = in_order(rules, values)[:top]
        rules, values = rules.take(order), values[order]
        self._parts = [(rules, values)]
        self._n_new = 0
        self.least = float(values[-1])
        self.n_bytes = rules.nbytes


def in_order(rules: FoundRules, values: Floats) -> Integers:
    """The order of rules: value, correct rows, shorter bodies, smaller heads, order of items."""
    heads, bodies = rules.head.padded().T, rules.body.padded().T
    lengths = rules.head.lengths, rules.body.lengths
    keys: tuple[Any, ...] = (*heads[::-1], *bodies[::-1], *lengths, -rules.n_both, -values)
    return np.asarray(np.lexsort(keys))
