"""Association rules with labels in their heads."""

import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from labelrules._checks import suggestion
from labelrules._types import Integers
from labelrules.data import Dataset
from labelrules.discovery.associations.best_rules import (
    AssociationSearch,
    FoundRules,
    Held,
    nbytes_of,
)
from labelrules.discovery.associations.rules import (
    AssociationRules,
    measured,
    needed,
    needed_by_any,
    score,
)
from labelrules.discovery.binning import Binning
from labelrules.discovery.items import Absence, Items, items_of
from labelrules.discovery.itemsets import check_items
from labelrules.discovery.limits import (
    ANY_NUMBER,
    INTERRUPTED,
    MOST_VISITED,
    Limits,
    minimum_count,
    whole,
)
from labelrules.discovery.significance import Correction, adjusted, checked_alpha
from labelrules.kernels.interrupts import heard_interrupts
from labelrules.measures import Measure

# -------------------- The search for association rules: what is kept of what is found, and in
# which order

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
    def _hold(
        self, batch: FoundRules, search: AssociationSearch, held: Held, limits: Limits
    ) -> None:
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

    def _search(self, limits: Limits) -> AssociationSearch:
        batch = BATCH if self._n_best is None else TOP_BATCH
        n_rows = self.data.n_rows
        need = np.full(2 * self.data.schema.n_labels, n_rows + 1, dtype=np.int32)
        need[self.literals] = self.minimum
        part, whole_ = self.min_confidence.as_integer_ratio()
        confident = [-(-part * n // whole_) for n in range(n_rows + 1)]
        return AssociationSearch(
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

    def _counted(self, found: FoundRules) -> AssociationRules:
        """The rules with the rows of their heads, and of each literal."""
        if self.max_head == 1:
            n_head, right = self.n_literal[found.head.values], found.n_both
        else:
            right = np.empty(found.head.values.size, dtype=np.int64)
            n_head = np.empty(found.n_body.size, dtype=np.int64)
            from labelrules.kernels.mining.bits import count_heads

            body, items, head, labels, everywhere = self._in_bits(found)
            count_heads(body, items, head, labels, everywhere, right, n_head)
        counts = found.n_body, n_head, found.n_both, right
        return AssociationRules(
            self.data, self.items, found.body, found.head, *counts, self.minimum
        )

    def _in_bits(self, found: FoundRules) -> tuple[Any, ...]:
        body, head = tuple(found.body), tuple(found.head)
        everywhere = all_rows(self.data.n_rows)
        return body, self.items.words, head, self.labels.words, everywhere

    def _kept(self, found: FoundRules) -> FoundRules:
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
        """Ask for as many right rows as it takes to be among the best so far."""
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


# ---------------------------------------------------------------- the main part

Bodies: TypeAlias = Literal["features", "labels", "both"]
Polarity: TypeAlias = Literal["presence", "absence", "both"]

HEADS = ("single", "multi")
ITEMS_OF = {"features": (False,), "labels": (True,), "both": (False, True)}


def association_rules(
    data: Dataset,
    min_support: float = 0.05,
    min_confidence: float = 0.5,
    *,
    heads: Literal["single", "multi"] = "single",
    max_head: int = 3,
    polarity: Polarity = "presence",
    bodies: Bodies = "features",
    max_body: int | None = 3,
    absence: Absence = False,
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
    """Find the rules with labels in their heads that hold often, and often enough.

    Only labels are ever tried as heads, and a body is left as soon as no label holds in enough
    of its rows.

    Parameters
    ----------
    data : Dataset
    min_support : float or int, default=0.05
        In how many rows body and head must hold together: a share as a float, a number of rows
        as an int.
    min_confidence : float, default=0.5
        In which share of the covered rows the whole head must be right.
    heads : {"single", "multi"}
        Whether a head has one label, or up to `max_head` of them.
    max_head : int, default=3
        For heads of several labels.
    polarity : {"presence", "absence", "both"}
        What a head may say of a label.
    bodies : {"features", "labels", "both"}
        What a body may test. No rule has a label both in its head and in its body.
    max_body : int, optional
        The largest number of items in a body, by default 3; None for any number. A range of a
        numeric feature is one item.
    absence, bins, n_bins
        What the items of bodies are; see :func:`items_of`.
    items : Items, optional
        Items made before, instead.
    measure : str or Measure, default="confidence"
        By what rules are ordered: "support", "confidence", "lift", "leverage", "conviction",
        "chi-square", or any :class:`~labelrules.Measure`. Of equal rules the one with more right
        rows comes first, then the shorter body, the smaller head, and the items as they come.
    top : int, optional
        How many rules to keep: the best by `measure` of all that are asked for. Bodies from
        which no better rule can come are left, where a bound is known: for the six named above;
        and for heads of a single label that is present, by measures whose formula rises with
        right cells and falls with wrong ones, if they are partial, by micro- or label-averaging.
        Elsewhere all rules are looked at, and the best are kept.
    productive : bool, default=False
        Whether to keep only rules with more confidence than each rule of the same head whose body
        has some of the conditions, or none.
    nonredundant : bool, default=False
        Whether to keep only rules that would cover more rows without any one of their items.
    correction : {"holm", "benjamini-hochberg"}, optional
        How the probabilities of Fisher's exact test are corrected for the number of tests: that
        of all pairs of a frequent body and a head, found or not; of several labels, all heads
        count that can be made of frequent literals. All frequent bodies are then looked at.
    alpha : float, optional
        Keep the rules whose corrected probability is at most this. Without a correction it is
        the probability itself. With `top`, the best of these are kept.
    max_rules : int, default=1,000,000
        When there are more, the search stops and the result says so (and a warning is given).
        With `top` only that many are kept, and there is no such limit; unless there are a
        correction and `alpha`, which take all rules with a probability of at most `alpha`.
    max_memory : int, default=1024
        Megabytes for the search and its result; likewise.
    max_visited : int, default=10,000,000
        How many bodies and rules may be looked at, whether they are kept or not; likewise.

    Returns
    -------
    AssociationRules

    Notes
    -----
    The corrected probabilities hold for the null hypothesis of each test that the head is
    independent of the body: with features in bodies, the chance of any wrong rule (Holm), or the
    mean share of wrong ones (Benjamini and Hochberg, if tests do not depend on each other
    negatively) is at most `alpha`. A rule can still be significant merely because a more general
    one is: that is what `productive` is for.

    "Productive" and "nonredundant" are as in G. I. Webb, "Discovering significant patterns",
    Machine Learning 68 (2007) 1-33, doi:10.1007/s10994-007-5006-x.

    Examples
    --------
    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> print(association_rules(readers, 3, 0.75))
    2 rules that hold in at least 3 rows
      confidence  rows   lift
           1.000     4   2.00  quality (4/0) <- education = University
           0.800     4   1.60  quality (4/1) <- marital = Divorced
    >>> print(association_rules(readers, 2, 0.6, heads="multi", top=3, measure="leverage"))
    3 rules that hold in at least 2 rows
      confidence  rows   lift
           1.000     4   2.00  quality (4/0) <- education = University
           0.600     3   2.80  fashion (3/2) <- sex = Female
           1.000     2   7.00  quality (2/0), fashion (2/0) <- education = University, sex = Female
    """
    search = Miner(
        _checked_data(data),
        _made_items(data, items, bodies, absence, bins, n_bins),
        minimum_count(min_support, data.n_rows),
        _checked_confidence(min_confidence),
        whole("max_head", max_head, 1) if _word("heads", heads, HEADS) == "multi" else 1,
        _word("polarity", polarity, get_args(Polarity)),
        None if max_body is None else whole("max_body", max_body, 1),
        measured(measure),
        None if top is None else whole("top", top, 1),
        bool(productive),
        bool(nonredundant),
        _checked_correction(correction),
        None if alpha is None else checked_alpha(alpha),
    )
    limits = Limits.checked("rules", max_rules, max_memory, max_visited)
    if top is not None and (alpha is None or correction is None):
        limits = replace(limits, number=ANY_NUMBER)
    return search.mined(limits)


def _checked_data(data: Any) -> Dataset:
    if not isinstance(data, Dataset):
        raise ValueError(f"data must be a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    if data.schema.n_labels == 0:
        raise ValueError("the data have no labels, and nothing else can be in a head")
    return data


def _made_items(
    data: Dataset, items: Items | None, bodies: str, absence: Absence, bins: Any, n_bins: int
) -> Items:
    """What bodies are made of."""
    kind = _word("bodies", bodies, get_args(Bodies))
    if items is None:
        items = items_of(
            _checked_data(data),
            features=kind != "labels",
            labels=kind != "features",
            absence=absence,
            bins=bins,
            n_bins=n_bins,
        )
    elif items.n_rows != data.n_rows or items.schema != data.schema:
        raise ValueError("the items were made of other data: make them anew with items_of")
    else:
        items = items.chosen(np.isin(items.is_label, ITEMS_OF[kind]))
        if kind == "labels":  # features are not asked for, and none is missed
            items = replace(items, left_out=())
    check_items(items, "bodies='labels'")
    return items


def _checked_confidence(confidence: Any) -> Fraction:
    if isinstance(confidence, bool) or not isinstance(confidence, Real):
        raise ValueError(f"min_confidence must be a number, not {confidence!r}")
    if not 0 <= float(confidence) <= 1:
        raise ValueError(f"min_confidence must be from 0 to 1, not {confidence!r}")
    return Fraction(repr(float(confidence)))


def _checked_correction(correction: Any) -> Correction:
    adjusted(np.empty(0), correction)  # which knows what there is
    known: Correction = correction
    return known


def _word(name: str, word: Any, known: tuple[str, ...]) -> str:
    if word not in known:
        near = suggestion(str(word), known)
        raise ValueError(f"{name} must be one of {', '.join(known)}; not {word!r}{near}")
    return str(word)
