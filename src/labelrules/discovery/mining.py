"""The search for association rules: what is kept of what is found, and in which order."""

import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from labelrules._types import Integers
from labelrules.data import Dataset
from labelrules.discovery.associations import AssociationRules
from labelrules.discovery.heldrules import Held, nbytes_of
from labelrules.discovery.items import Items, items_of
from labelrules.discovery.limits import INTERRUPTED, Limits
from labelrules.discovery.rulebatches import Found, RuleSearch
from labelrules.discovery.scoring import needed, needed_by_any, score
from labelrules.discovery.significance import Correction, adjusted
from labelrules.kernels.interrupts import heard_interrupts
from labelrules.measures import Measure

LONGEST_COMPARED = 16
"""The longest body of which all shorter ones are compared with it."""

BATCH, TOP_BATCH = 1 << 16, 1 << 12
"""Rules that are handed over together; fewer where what is found guides the search."""

SHARE_OF_BATCH = 1 << 14
"""There is memory for so many bytes to a rule of a batch: it is small beside what is kept."""


def check_compared(name: str, longest: int) -> None:
    """Refuse to compare bodies so long with all shorter ones; the name is what to set."""
    if longest > LONGEST_COMPARED:
        raise ValueError(
            "productive compares a rule with all that have fewer conditions: "
            f"set {name} to at most {LONGEST_COMPARED}"
        )


@dataclass
class Miner:
    """One search: what was asked for, checked."""

    data: Dataset
    items: Items
    minimum: int
    min_confidence: Fraction
    max_head: int
    polarity: str
    max_body: int | None
    measure: str | Measure
    top: int | None
    productive: bool
    nonredundant: bool
    correction: Correction
    alpha: float | None = None

    def __post_init__(self) -> None:
        longest = self.max_body or len(self.items)
        if self.productive:
            check_compared("max_body", longest)

    @cached_property
    def literals(self) -> Integers:
        """The literals that heads may have: twice a label, and one more for presence."""
        wanted = {"presence": (1,), "absence": (0,), "both": (0, 1)}[self.polarity]
        every = np.arange(2 * self.data.schema.n_labels)
        return every[np.isin(every & 1, wanted) & (self.n_literal >= self.minimum)]

    @cached_property
    def n_literal(self) -> Integers:
        """The rows of each literal."""
        ones = self.data.Y.sum(axis=0, dtype=np.int64)
        return np.column_stack([self.data.n_rows - ones, ones]).ravel()

    @cached_property
    def labels(self) -> Items:
        """The labels as items, present."""
        return items_of(self.data, features=False)

    def mined(self, limits: Limits) -> AssociationRules:
        """Search, and put the rules in order."""
        search = self._search(limits)
        held = Held(self._n_best)
        try:
            for batch in search.batches(limits):
                self._hold(batch, search, held, limits)
        except KeyboardInterrupt:
            limits.stop_for_interrupt()
        if limits.stopped not in (None, INTERRUPTED):
            warnings.warn(f"the search was stopped: {limits.stopped}", RuntimeWarning, stacklevel=3)
        rules = replace(self._counted(held.best()), stopped=limits.stopped)
        rules = rules if self.correction is None else self._corrected(rules, search)
        return rules if self.alpha is None else self._significant(rules, self.alpha)

    @heard_interrupts()
    def _hold(self, batch: Found, search: RuleSearch, held: Held, limits: Limits) -> None:
        """Hold what is wanted of a batch of rules."""
        kept = self._kept(batch)
        rules = self._counted(kept)
        if self.alpha is not None:  # no correction makes a probability smaller
            likely = rules.p <= self.alpha
            kept, rules = kept.take(likely), rules[likely]
        if self._n_best is None:
            n_taken = limits.take(len(rules), nbytes_of(kept), 0)
            kept, rules = kept.take(slice(n_taken)), rules[:n_taken]
        held.add(kept, score(self.measure, rules))
        if self._n_best is not None:
            self._raise_needs(search, held.least)
            limits.n_bytes = held.n_bytes

    @property
    def _n_best(self) -> int | None:
        """How many rules are held; all where it takes all to tell which are significant."""
        return None if self.alpha is not None and self.correction is not None else self.top

    def _significant(self, rules: AssociationRules, alpha: float) -> AssociationRules:
        p = rules.p if rules.corrected is None else rules.corrected
        return rules[p <= alpha][: self.top]

    def _search(self, limits: Limits) -> RuleSearch:
        batch = BATCH if self._n_best is None else TOP_BATCH
        n_rows = self.data.n_rows
        need = np.full(2 * self.data.schema.n_labels, n_rows + 1, dtype=np.int32)
        need[self.literals] = self.minimum
        part, whole_ = self.min_confidence.as_integer_ratio()
        confident = [-(-part * n // whole_) for n in range(n_rows + 1)]
        return RuleSearch(
            self.items,
            self.data.Y,
            self.minimum,
            np.array(confident, dtype=np.int32),
            need,
            self.max_body or max(1, len(self.items)),
            self.max_head,
            self.correction is not None,
            min(batch, limits.memory // SHARE_OF_BATCH),
        )

    def _counted(self, found: Found) -> AssociationRules:
        """The rules with the rows of their heads, and of each literal."""
        if self.max_head == 1:
            n_head, right = self.n_literal[found.head.values], found.n_both
        else:
            right = np.empty(found.head.values.size, dtype=np.int64)
            n_head = np.empty(found.n_body.size, dtype=np.int64)
            from labelrules.kernels.generalise import count_heads

            body, items, head, labels, everywhere = self._in_bits(found)
            count_heads(body, items, head, labels, everywhere, right, n_head)
        counts = found.n_body, n_head, found.n_both, right
        return AssociationRules(
            self.data, self.items, found.body, found.head, *counts, self.minimum
        )

    def _in_bits(self, found: Found) -> tuple[Any, ...]:
        body, head = tuple(found.body), tuple(found.head)
        everywhere = all_rows(self.data.n_rows)
        return body, self.items.words, head, self.labels.words, everywhere

    def _kept(self, found: Found) -> Found:
        """The rules that pass the comparisons with more general ones."""
        if not (self.productive or self.nonredundant):
            return found
        from labelrules.kernels.generalise import compare_with_general

        productive, needs_all = np.ones((2, found.n_body.size), dtype=np.bool_)
        body, items, head, labels, rows = self._in_bits(found)
        counts = found.n_body, found.n_both
        compare_with_general(body, items, head, labels, rows, counts, productive, needs_all)
        kept = np.ones(found.n_body.size, dtype=np.bool_)
        if self.productive:
            kept &= productive
        return found.take(kept & needs_all if self.nonredundant else kept)

    def _raise_needs(self, search: RuleSearch, least: float | None) -> None:
        """Ask for as many right rows as it takes to be among the best so far."""
        if least is None:
            return
        need = needed(self.measure, self.data.Y, self.minimum, self.literals, least)
        if need is not None and self.max_head > 1:
            of_any = needed_by_any(self.measure, self.data.n_rows, self.minimum, least)
            need = np.minimum(need, of_any)
        if need is not None:
            search.need[self.literals] = np.maximum(search.need[self.literals], need)

    def _corrected(self, rules: AssociationRules, search: RuleSearch) -> AssociationRules:
        sizes = np.bincount(self.literals >> 1) if self.literals.size else np.zeros(0, np.int64)
        n_heads = n_sets(sizes, self.max_head)
        n_bodies = search.n_bodies
        if rules.stopped:  # not all bodies were counted
            frequent = self.items.column[self.items.counts >= self.minimum]
            n_bodies = n_sets(np.bincount(frequent), search.longest_body)
        n_tests = n_bodies * n_heads
        corrected = adjusted(rules.p, self.correction, n_tests)
        return replace(rules, corrected=corrected, correction=self.correction, n_tests=n_tests)


def n_sets(sizes: Any, longest: int) -> int:
    """How many sets there are of up to so many things, at most one from each group.

    >>> n_sets([2, 1], 1), n_sets([2, 1], 2)
    (3, 5)
    """
    of_size = [1]
    for size in (int(size) for size in sizes if size):
        longer = [size * number for number in of_size[:longest]]
        of_size = [a + b for a, b in zip_longest(of_size, [0, *longer], fillvalue=0)]
    return sum(of_size[1:])


def all_rows(n_rows: int) -> Any:
    """A bit for each row."""
    bits = np.zeros((n_rows + 63) // 64 * 64, dtype=np.uint8)
    bits[:n_rows] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
