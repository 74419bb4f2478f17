"""The search for association rules, all of them or the best."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from scipy import sparse

from labelrules._checks import number, one_of, whole_number
from labelrules._interrupts import heard_interrupts
from labelrules._types import Board, Floats, Integers
from labelrules.constraints.significance import (
    Correction,
    adjusted,
    checked_alpha,
    checked_correction,
)
from labelrules.data import Dataset
from labelrules.measures import Measure
from labelrules.mining.associations import (
    AssociationRules,
    interest_measure,
    needed,
    needed_by_any,
    score,
)
from labelrules.mining.binning import Binning
from labelrules.mining.items import (
    AbsentItems,
    Items,
    Numbers,
    Ragged,
    check_dataset,
    check_known,
    items_of,
    packed_rows,
)
from labelrules.mining.itemsets import check_items, larger_stack, nbytes, new_stack, transactions
from labelrules.mining.limits import ANY_NUMBER, INTERRUPTED, MOST_VISITED, Limits, minimum_count

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


Bodies: TypeAlias = Literal["features", "labels", "both"]
Polarity: TypeAlias = Literal["presence", "absence", "both"]

LONGEST_COMPARED = 16  # the longest body that is compared with all shorter ones
BATCH, TOP_BATCH = 1 << 16, 1 << 12  # rules of a batch; fewer if the best so far guide the search
SHARE_OF_BATCH = 1 << 14  # bytes of `max_memory` for each rule of a batch, to keep batches small


def association_rules(
    data: Dataset,
    min_support: float = 0.05,
    min_confidence: float = 0.5,
    *,
    heads: Literal["single", "multi"] = "single",
    max_head: int = 3,
    polarity: Polarity = "presence",
    bodies: Bodies = "features",
    max_conditions: int | None = 3,
    absent_items: AbsentItems = False,
    bins: Binning | None = None,
    n_bins: int = 4,
    items: Items | None = None,
    measure: str | Measure = "confidence",
    top: int | None = None,
    productive: bool = False,
    nonredundant: bool = False,
    correction: Correction = None,
    alpha: float | None = None,
    max_rules: int = 1_000_000,
    max_memory: int = 1024,
    max_visited: int = MOST_VISITED,
) -> AssociationRules:
    """Find association rules with labels in their heads.

    Parameters
    ----------
    data : Dataset
    min_support : float or int, default=0.05
        The rows in which body and head hold: a share as a float, a number of rows as an int.
    min_confidence : float, default=0.5
        The share of the covered rows in which the whole head is right.
    heads : {"single", "multi"}
        Whether a head has one label, or up to `max_head` of them.
    max_head : int, default=3
        The largest number of labels in a head of several.
    polarity : {"presence", "absence", "both"}
        Whether heads predict the presence of labels, their absence, or both.
    bodies : {"features", "labels", "both"}
        What a body may test. No rule has a label both in its head and in its body.
    max_conditions : int, optional
        The largest number of items in a body, by default 3; None for any. A range is one item.
    absent_items, bins, n_bins
        What the items of bodies are; see :func:`items_of`.
    items : Items, optional
        Items from :func:`items_of`, instead.
    measure : str or Measure, default="confidence"
        The order of the rules: "support", "confidence", "lift", "leverage", "conviction",
        "chi-square", or any :class:`~labelrules.Measure`. Of equal rules the one with more right
        rows comes first, then the shorter body, the smaller head, and the items as they come.
    top : int, optional
        The number of rules to return: the best by `measure`. The search prunes bodies where it has
        a bound: for the six measures above; and, for single present labels, for partial measures
        by micro or macro averaging that rise with right cells and fall with wrong ones.
    productive : bool, default=False
        Whether to keep only rules with more confidence than each rule of the same head whose body
        has only some of the conditions, or none.
    nonredundant : bool, default=False
        Whether to keep only rules that would cover more rows without any one of their items.
    correction : {"holm", "benjamini-hochberg"}, optional
        How the p-values of Fisher's exact test are corrected for the number of tests: of all
        pairs of a frequent body and a head, found or not, where the heads of several labels are all
        those of frequent literals. The search then visits all frequent bodies.
    alpha : float, optional
        The level of significance: keep rules whose p-value, corrected if there is a correction,
        is at most this. With `top`, keep the best of these.
    max_rules : int, default=1,000,000
        When there are more, the search stops with a warning, and the result gives the reason.
        With `top` there is no such limit, unless there are both a correction and `alpha`.
    max_memory : int, default=1024
        Megabytes for the search and its result; likewise.
    max_visited : int, default=10,000,000
        How many bodies and rules the search may visit, kept or not; likewise.

    Notes
    -----
    The null hypothesis of each test is that the head is independent of the body. With features in
    bodies, the probability of any wrong rule (Holm), or the expected share of wrong ones (Benjamini
    and Hochberg, if tests do not depend on each other negatively) is at most `alpha`. A rule can
    still be significant merely because a more general one is; `productive` compares the two.

    "Productive" and "nonredundant" are as in G. I. Webb, "Discovering significant patterns",
    Machine Learning 68 (2007) 1-33, doi:10.1007/s10994-007-5006-x.

    Examples
    --------
    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> print(association_rules(readers, 3, 0.75))
    2 rules that hold in at least 3 rows
      confidence  rows   lift
           1.000     4   2.00  quality <- education = University (4/0)
           0.800     4   1.60  quality <- marital = Divorced (4/1)
    >>> print(association_rules(readers, 2, 0.6, heads="multi", top=3, measure="leverage"))
    3 rules that hold in at least 2 rows
      confidence  rows   lift
           1.000     4   2.00  quality <- education = University (4/0)
           0.600     3   2.80  fashion <- sex = Female (3/2)
           1.000     2   7.00  quality, fashion <- education = University, sex = Female (2/0)
    """
    _check_data(data)
    is_single = one_of(heads, "heads", ("single", "multi")) == "single"
    longest = None
    if max_conditions is not None:
        longest = whole_number(max_conditions, "max_conditions", low=1, also="None")
    miner = RuleMiner(
        data,
        _made_items(data, items, bodies, absent_items, bins, n_bins),
        minimum_count(min_support, data.n_rows),
        Fraction(repr(number(min_confidence, "min_confidence", low=0, high=1))),
        1 if is_single else whole_number(max_head, "max_head", low=1),
        one_of(polarity, "polarity", get_args(Polarity)),
        longest,
        interest_measure(measure),
        None if top is None else whole_number(top, "top", low=1, also="None"),
        bool(productive),
        bool(nonredundant),
        checked_correction(correction),
        None if alpha is None else checked_alpha(alpha),
    )
    if productive:
        check_compared("max_conditions", longest or len(miner.items))
    limits = Limits.checked("rules", max_rules, max_memory, max_visited)
    if top is not None and (alpha is None or correction is None):
        limits = replace(limits, number=ANY_NUMBER)
    return miner.mined(limits)


def _check_data(data: Any) -> None:
    check_dataset(data)
    check_known(data.Y)
    if data.schema.n_labels == 0:
        raise ValueError("the data have no labels, and heads consist of labels")


def check_compared(name: str, longest: int) -> None:
    """Raise if bodies are too long to compare with all shorter ones; `name` is the parameter."""
    if longest > LONGEST_COMPARED:
        raise ValueError(
            "productive compares a rule with all that have fewer conditions: "
            f"set {name} to at most {LONGEST_COMPARED}"
        )


def _made_items(
    data: Dataset,
    items: Items | None,
    bodies: str,
    absent_items: AbsentItems,
    bins: Any,
    n_bins: int,
) -> Items:
    kind = one_of(bodies, "bodies", get_args(Bodies))
    if items is None:
        sources = {"features": kind != "labels", "labels": kind != "features"}
        items = items_of(data, **sources, absent_items=absent_items, bins=bins, n_bins=n_bins)
    elif items.n_rows != data.n_rows or items.schema != data.schema:
        raise ValueError("the items were made of other data: make them anew with items_of")
    elif kind == "labels":  # no feature is missing
        items = replace(items.chosen(items.is_label), left_out=())
    elif kind == "features":
        items = items.chosen(~items.is_label)
    check_items(items, "bodies='labels'")
    return items


@dataclass
class RuleMiner:
    """One search for association rules, with checked parameters."""

    data: Dataset
    items: Items
    minimum: int
    min_confidence: Fraction
    max_head: int
    polarity: str
    max_conditions: int | None
    measure: str | Measure
    top: int | None
    productive: bool
    nonredundant: bool
    correction: Correction
    alpha: float | None

    @cached_property
    def literals(self) -> Integers:
        """The literals of heads: twice the number of a label, and one more for presence."""
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
        """Search, and sort the rules."""
        search = self._search(limits)
        best = BestRules(self._n_best)
        try:
            for batch in search.batches(limits):
                self._add(batch, search, best, limits)
        except KeyboardInterrupt:
            limits.stop_for_interrupt()
        if limits.stopped not in (None, INTERRUPTED):
            warnings.warn(f"the search was stopped: {limits.stopped}", RuntimeWarning, stacklevel=3)
        rules = replace(self._counted(best.sorted()), stopped=limits.stopped)
        rules = rules if self.correction is None else self._corrected(rules, search)
        return rules if self.alpha is None else self._significant(rules, self.alpha)

    @heard_interrupts()
    def _add(
        self, batch: FoundRules, search: AssociationSearch, best: BestRules, limits: Limits
    ) -> None:
        """Keep the rules of a batch that pass the filters and the limits."""
        kept = self._filtered(batch)
        rules = self._counted(kept)
        if self.alpha is not None:  # no correction makes a p-value smaller
            significant = rules.p <= self.alpha
            kept, rules = kept.take(significant), rules[significant]
        if self._n_best is None:
            n_taken = limits.take(len(rules), kept.nbytes, 0)
            kept, rules = kept.take(slice(n_taken)), rules[:n_taken]
        best.add(kept, score(self.measure, rules))
        if self._n_best is not None:
            self._raise_needs(search, best.least)
            limits.n_bytes = best.n_bytes

    @property
    def _n_best(self) -> int | None:
        """How many rules to keep during the search; all where a correction needs all p-values."""
        return None if self.alpha is not None and self.correction is not None else self.top

    def _significant(self, rules: AssociationRules, alpha: float) -> AssociationRules:
        p = rules.p if rules.corrected is None else rules.corrected
        return rules[p <= alpha][: self.top]

    def _search(self, limits: Limits) -> AssociationSearch:
        batch = BATCH if self._n_best is None else TOP_BATCH
        n_rows = self.data.n_rows
        need = np.full(2 * self.data.schema.n_labels, n_rows + 1, dtype=np.int32)
        need[self.literals] = self.minimum
        part, total = self.min_confidence.as_integer_ratio()
        confident = [-(-part * n // total) for n in range(n_rows + 1)]
        return AssociationSearch(
            self.items,
            self.data.Y,
            self.minimum,
            np.array(confident, dtype=np.int32),
            need,
            self.max_conditions or max(1, len(self.items)),
            self.max_head,
            self.correction is not None,
            min(batch, limits.memory // SHARE_OF_BATCH),
        )

    def _counted(self, found: FoundRules) -> AssociationRules:
        """The rules with the rows of their heads, and of each literal."""
        if self.max_head == 1:
            n_head, right = self.n_literal[found.head.values], found.n_both
        else:
            right = np.empty(found.head.values.size, dtype=np.int64)
            n_head = np.empty(found.n_body.size, dtype=np.int64)
            from labelrules.kernels.mining.bits import count_heads

            body, items, head, labels, rows = self._in_bits(found)
            count_heads(body, items, head, labels, rows, right, n_head)
        counts = found.n_body, n_head, found.n_both, right, self.minimum
        return AssociationRules(self.data, self.items, found.body, found.head, *counts)

    def _in_bits(self, found: FoundRules) -> tuple[Any, ...]:
        everywhere = packed_rows(np.ones(self.data.n_rows, dtype=np.bool_))
        body, head = tuple(found.body), tuple(found.head)
        return body, self.items.words, head, self.labels.words, everywhere

    def _filtered(self, found: FoundRules) -> FoundRules:
        """The rules that pass the comparisons with more general ones."""
        if not (self.productive or self.nonredundant):
            return found
        from labelrules.kernels.mining.bits import compare_with_general

        productive, needs_all = np.ones((2, found.n_body.size), dtype=np.bool_)
        body, items, head, labels, rows = self._in_bits(found)
        counts = found.n_body, found.n_both
        compare_with_general(body, items, head, labels, rows, counts, productive, needs_all)
        kept = np.ones(found.n_body.size, dtype=np.bool_)
        if self.productive:
            kept &= productive
        return found.take(kept & needs_all if self.nonredundant else kept)

    def _raise_needs(self, search: AssociationSearch, least: float | None) -> None:
        """Require as many right rows as a rule needs to be among the best so far."""
        if least is None:
            return
        need = needed(self.measure, self.data.Y, self.minimum, self.literals, least)
        if need is not None and self.max_head > 1:
            of_any = needed_by_any(self.measure, self.data.n_rows, self.minimum, least)
            need = np.minimum(need, of_any)
        if need is not None:
            search.need[self.literals] = np.maximum(search.need[self.literals], need)

    def _corrected(self, rules: AssociationRules, search: AssociationSearch) -> AssociationRules:
        sizes = np.bincount(self.literals >> 1) if self.literals.size else np.zeros(0, np.int64)
        n_heads = n_sets(sizes, self.max_head)
        n_bodies = search.n_bodies
        if rules.stopped:  # the search has not counted all bodies
            frequent = self.items.column[self.items.counts >= self.minimum]
            n_bodies = n_sets(np.bincount(frequent), search.longest_body)
        n_tests = n_bodies * n_heads
        corrected = adjusted(rules.p, self.correction, n_tests)
        return replace(rules, corrected=corrected, correction=self.correction, n_tests=n_tests)


def n_sets(sizes: Any, longest: int) -> int:
    """The number of sets of up to `longest` members, at most one from each group of given size.

    >>> n_sets([2, 1], 1), n_sets([2, 1], 2)
    (3, 5)
    """
    of_size = [1]
    for size in (int(size) for size in sizes if size):
        longer = [size * number for number in of_size[:longest]]
        of_size = [a + b for a, b in zip_longest(of_size, [0, *longer], fillvalue=0)]
    return sum(of_size[1:])
