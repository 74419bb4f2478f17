"""Associative classifiers: decision lists made of association rules."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted, number, truth_value, whole_number
from labelrules._interrupts import heard_interrupts
from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.document import Count, Record
from labelrules.data.table import common_labels, labels_known_together
from labelrules.data.weights import row_units
from labelrules.learners.base.estimator import WeightKind
from labelrules.learners.base.progress import is_nested_fit, warn_of_early_end
from labelrules.learners.base.theory_classifier import ListState, RuleClassifier, Smoothing
from labelrules.learners.registry import register
from labelrules.mining.association_search import association_rules, check_compared
from labelrules.mining.binning import Binning, checked_binning
from labelrules.mining.items import Items, Ragged, items_of, packed_rows
from labelrules.mining.limits import ANY_NUMBER, INTERRUPTED, kept_if_interrupted, minimum_count
from labelrules.rules import DecisionList, Evidence, Head, Rule, RuleTable

MOST_COPIES = 16
"""Weighted rows are repeated so often at most, on average."""


class RowCopies(NamedTuple):
    """How often rows are repeated, and what a copy weighs; one copy each where all weights are 1.

    Weights are rounded to a power of two, between an eighth and a sixteenth of their mean.
    """

    times: Integers
    unit: float

    @classmethod
    def of(cls, data: Dataset) -> "RowCopies":
        """The copies of each row."""
        units, unit = row_units(data.weights, MOST_COPIES * data.n_rows)
        return cls(np.ones(data.n_rows, dtype=np.int64) if units is None else units, unit)

    @property
    def rows(self) -> Integers:
        """The number of the row of each copy."""
        return np.repeat(np.arange(len(self.times)), self.times)

    @property
    def first(self) -> Integers:
        """The first copy of each row."""
        return np.asarray(np.cumsum(self.times) - self.times)

    def repeated(self, data: Dataset) -> Dataset:
        """The data set with the copies, and without weights."""
        if data.weights is None:
            return data
        plain = Dataset(data.schema, data.X, data.Y, data.name)
        return plain.take(self.rows)

    def least(self, min_support: float, n_copies: int) -> int:
        """The copies that make up a minimum support, of so many in all; at least 2 rows."""
        n_rows = max(1, round(n_copies * self.unit))
        return ceil(max(2, minimum_count(min_support, n_rows)) / self.unit)


class AssociativeState(ListState):
    """A decision list, and the number of rules that were mined."""

    n_mined: Count


@register(order=8)
@dataclass(eq=False, repr=False, kw_only=True)
class AssociativeClassifier(RuleClassifier):
    """Mine association rules, and keep those that a decision list needs.

    Rules predict the rarer value of each label, and a last rule that always holds the other one.
    All rules with enough support and confidence are mined and put in order: by confidence, then by
    support, then by length. A rule is kept if it is right for a row that no rule before it covers,
    and the list of a label ends where it makes least errors, the last rule included, as in CBA
    [1]_. Rules with the same body are then made one, with several labels in its head, as in MMAC
    [2]_. Since all rules for a label predict the same value, this changes no prediction. At last a
    head loses the labels of which it says what is rarer among the rows that it decides than among
    all rows, or of which it decides none.

    Ctrl-C while rules are mined ends the search, and the list is chosen from the rules mined so
    far; while rules are chosen it leaves the labels that have none yet to the last rule.

    Parameters
    ----------
    max_conditions : int, default=2
        The most items of a body; an item is a category, or a range of a numeric feature.
    min_support : int or float, default=3
        The rows with both body and head: a number of rows, or as a float a share of all of them;
        at least 2. A share leaves labels that fewer rows have without rules.
    min_confidence : float, default=0.5
        The share of covered rows that must have the head.
    m : float, default=5
        The m of the m-estimate of confidence, by which rules are put in order, with the share of
        all rows as prior. 0 is plain confidence, by which rules of few rows come first.
    productive : bool, default=True
        Whether only rules are used that have more confidence than with fewer conditions.
    max_frequency : float, default=0.9
        Items that a larger share of the rows has are not used: they separate little.
    bins : {"labels", "entropy", "frequency", "width"}
        How numeric features are cut into ranges: by single labels, by label sets, into ranges of
        equally many rows, or of the same width. See :func:`labelrules.mining.items_of`.
    n_bins : int, default=6
        How many ranges, or how many at most.
    max_rules : int, default=2_000_000
        The search stops with a warning when it has mined so many rules.
    smoothing, warm_start
        As for :class:`RuleClassifier`.

    Attributes
    ----------
    n_mined_ : int
        How many rules were mined; the other attributes are those of :class:`RuleClassifier`.

    References
    ----------
    .. [1] B. Liu, W. Hsu and Y. Ma: Integrating classification and association rule mining.
       KDD 1998.
    .. [2] F. Thabtah, P. Cowling and Y. Peng: MMAC, a new multi-class, multi-label associative
       classification approach. ICDM 2004.

    Examples
    --------
    >>> from labelrules import load
    >>> model = AssociativeClassifier(max_conditions=1).fit(load("magazines"))
    >>> print(model.theory_)
    quality <- education = University
    quality <- marital = Divorced
    tabloid <- marital = Single
    tabloid <- sex = Male
    fashion <- sex = Female
    otherwise: no label
    """

    max_conditions: int = 2
    min_support: float = 3
    min_confidence: float = 0.5
    m: float = 5.0
    productive: bool = True
    max_frequency: float = 0.9
    bins: Binning = "labels"
    n_bins: int = 6
    max_rules: int = 2_000_000
    smoothing: Smoothing = "laplace"
    warm_start: bool = False

    _State: ClassVar[type[Record]] = AssociativeState
    _no_rule_reason = "no rule that was mined for it was kept"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check()
        number(self.min_confidence, "min_confidence", low=0, high=1)
        minimum_count(self.min_support, n_rows=1)
        checked_binning(self.bins, self.n_bins)
        if self.bins is None:
            raise ValueError("bins must be a method for numeric features: use 'labels'")

    def _check(self) -> None:
        number(self.max_frequency, "max_frequency", low=0, high=1)
        number(self.m, "m", low=0)
        longest = whole_number(self.max_conditions, "max_conditions", low=1)
        if truth_value(self.productive, "productive"):
            check_compared("max_conditions", longest)
        whole_number(self.max_rules, "max_rules", low=1)

    def _weighs(self, data: Dataset, weights: WeightKind) -> bool:
        # Ranges are cut by whole rows, so whole weights are rows that are repeated.
        return weights == "rows"

    def _learn(self, data: Dataset, prefix: DecisionList | None) -> DecisionList:
        self._check()
        copies, weighted = RowCopies.of(data), data
        data = copies.repeated(weighted)
        is_open, is_common = _open_cells(data, prefix), common_labels(data.Y)
        rarer = _rarer(data.Y, is_common)
        wanted = replace(data, Y=rarer)
        single = replace(weighted, Y=_rarer(weighted.Y, is_common))
        items = rare_items(single, self.bins, self.n_bins, self.max_frequency, copies)
        self.n_mined_ = 0
        merged = MergedRules()
        for labels, rows in labels_known_together(data.Y):
            self._choose(wanted, copies, items, labels, rows, is_open, merged)
        rules = merged.rules(items, 1 - is_common)
        learned = DecisionList(data.schema, [*(prefix or ()), *rules])
        learned = borne_out(learned, data, first=len(prefix or ()))
        is_left = _open_cells(data, learned)
        default = {
            j: _default(rarer[:, j], is_left[:, j]) ^ int(is_common[j])
            for j in range(data.schema.n_labels)
        }
        return learned.with_rules([*learned, Rule(Head(default, data.schema.n_labels))])

    def _choose(
        self,
        data: Dataset,
        copies: RowCopies,
        items: Items,
        labels: Integers,
        rows: Integers,
        is_open: Mask,
        merged: "MergedRules",
    ) -> None:
        """Add rules for these labels, from the rows in which they are known."""
        if len(labels) < data.schema.n_labels or len(rows) < data.n_rows:
            others = np.delete(np.array(data.schema.labels, dtype=object), labels).tolist()
            data = data.take(rows).without(others)
            items, is_open = items.within(rows, data.schema), is_open[np.ix_(rows, labels)]
        candidates, is_whole = self._mined(data, copies, items)
        self.n_mined_ += len(candidates.label)
        ranks = candidates.ranks()
        chosen = _chosen(candidates, ranks, data.Y, is_open)
        _warn_of_interrupts(candidates, is_whole, len(chosen), len(labels))
        merged.add(candidates, ranks, chosen, labels)

    def _mined(self, data: Dataset, copies: RowCopies, items: Items) -> tuple["Candidates", bool]:
        """The rules to choose from, all for presence; and whether the search was finished."""
        if not len(items) or not len(data):
            nothing = np.empty(0, dtype=np.int64)
            none = Candidates(items, Ragged.empty(), nothing, nothing, nothing, np.empty(0))
            return none, True
        with nullcontext() if is_nested_fit() else kept_if_interrupted():
            mined = association_rules(
                data,
                copies.least(self.min_support, data.n_rows),
                self.min_confidence,
                max_conditions=self.max_conditions,
                items=items,
                productive=self.productive,
                max_rules=self.max_rules,
                max_visited=ANY_NUMBER,
            )
        label = mined.head.values.astype(np.int64) >> 1
        share, m = data.Y.mean(axis=0)[label], self.m / copies.unit
        confidence = (mined.n_both + m * share) / (mined.n_body + m)
        candidates = Candidates(items, mined.body, label, mined.n_body, mined.n_both, confidence)
        return candidates, mined.stopped != INTERRUPTED


def _rarer(Y: Board, is_common: Mask) -> Board:
    """1 where a label has the value that rules predict."""
    return np.where(Y == UNSET, UNSET, Y ^ is_common)


class Candidates(NamedTuple):
    """Rules for single labels; each covers ``n_body`` rows, of which ``n_both`` have the label."""

    items: Items
    body: Ragged
    label: Integers
    n_body: Integers
    n_both: Integers
    confidence: Floats

    def ranks(self) -> Integers:
        """The place of each rule: by confidence, then right rows, then length, then as given."""
        order = np.lexsort((self.body.lengths, -self.n_both, -self.confidence))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


@heard_interrupts()
def chosen_rules(
    candidates: Candidates, ranks: Integers, label: int, truth: npt.NDArray[np.int8], is_open: Mask
) -> Integers:
    """Cover the open rows: keep rules that are right for a row that is left, up to least errors.

    Rows that are left have the default value, which is that of most of them. Of equal places the
    first is taken.
    """
    from labelrules.kernels.mining.bits import choose_rules

    order = np.flatnonzero(candidates.label == label)
    order = order[np.argsort(ranks[order])]
    wanted, open_rows = packed_rows(truth == 1), packed_rows(is_open)
    kept = np.empty(len(order), dtype=np.int64)
    errors = np.empty(len(order) + 1, dtype=np.int64)
    body = candidates.body
    args = body.start, body.values, candidates.items.words, order, wanted
    n_kept = choose_rules(*args, open_rows, kept, errors)
    return kept[: int(errors[: n_kept + 1].argmin())]


def _default(truth: npt.NDArray[np.int8], left: Mask) -> int:
    """The value of most rows that are left, 0 on a tie."""
    return int((truth[left] == 1).sum() > (truth[left] == 0).sum())


class MergedRules:
    """One rule per body, at the place of the best; bodies are items, heads are labels."""

    def __init__(self) -> None:
        self.heads: dict[tuple[int, ...], list[int]] = {}
        self.best: dict[tuple[int, ...], tuple[float, ...]] = {}
        self.n_parts = 0

    def add(
        self, candidates: Candidates, ranks: Integers, chosen: list[Integers], labels: Integers
    ) -> None:
        """Add the rules chosen for some labels."""
        for label, one in zip(labels.tolist(), chosen, strict=False):
            for rule in one.tolist():
                body = tuple(candidates.body[rule])
                self.heads.setdefault(body, []).append(label)
                place = (
                    -float(candidates.confidence[rule]), -int(candidates.n_both[rule]), len(body),
                    self.n_parts, int(ranks[rule]),
                )  # fmt: skip
                self.best[body] = min(self.best.get(body, place), place)
        self.n_parts += 1

    def rules(self, items: Items, values: Integers) -> list[Rule]:
        """The rules in their order; `values` are those predicted for each label."""
        return [
            Rule(
                Head({j: int(values[j]) for j in sorted(self.heads[body])}, len(values)),
                items.body(body),
            )
            for body in sorted(self.heads, key=lambda body: self.best[body])
        ]


def borne_out(learned: DecisionList, data: Dataset, first: int = 0) -> DecisionList:
    """The list without what the rows speak against, from the rule with the number `first` on.

    That is a label of a head whose value is rarer among the rows for which the rule decides it than
    among all rows, or that the rule decides for no row. Without it, later rules decide more.
    """
    n_said = [np.count_nonzero(value == data.Y, axis=0) for value in (0, 1)]
    n_known = n_said[0] + n_said[1]
    with_counts = learned.with_evidence(data, data.Y)
    rules = list(with_counts[:first])
    for rule in with_counts[first:]:
        head = {
            label: value
            for label, value in rule.head
            if _speaks_for(rule.evidence_for(label), n_said[value][label], int(n_known[label]))
        }
        rules += [Rule(Head(head, rule.head.n_labels), rule.body)] if head else []
    shorter = learned.with_rules(rules)
    return learned if shorter == learned else borne_out(shorter, data, first)


def _speaks_for(cells: Evidence | None, n_said: int, n_rows: int) -> bool:
    """Whether a value is as frequent among these cells, if there are any, as in all rows."""
    if cells is None or not sum(cells):
        return False
    return cells.right * n_rows >= sum(cells) * int(n_said)


def _chosen(candidates: Candidates, ranks: Integers, rarer: Board, is_open: Mask) -> list[Integers]:
    """The rules of each label, up to the label at which learning is interrupted."""
    chosen: list[Integers] = []
    try:
        for j in range(rarer.shape[1]):
            chosen.append(chosen_rules(candidates, ranks, j, rarer[:, j], is_open[:, j]))
    except KeyboardInterrupt:
        if is_nested_fit() or not chosen:
            raise
    return chosen


def _warn_of_interrupts(
    candidates: Candidates, is_whole: bool, n_chosen: int, n_labels: int
) -> None:
    """Warn what is kept after an interrupt; nothing is if no rule was mined yet."""
    n_mined = len(candidates.label)
    if not is_whole and not n_mined:
        raise KeyboardInterrupt
    kept = [] if is_whole else [f"the list is chosen from {counted(n_mined, 'rule')} mined so far"]
    if n_chosen < n_labels:
        kept.append(f"{n_chosen} of {n_labels} labels have rules")
    if kept:
        warn_of_early_end(INTERRUPTED, " and ".join(kept))


def _open_cells(data: Dataset, prefix: DecisionList | None) -> Mask:
    """The cells that rules after the prefix can write."""
    if prefix is None:
        return np.ones(data.Y.shape, dtype=np.bool_)
    run = RuleTable(prefix).run(data)
    return np.asarray((run.board == UNSET) & (run.stopped < 0)[:, np.newaxis])


def rare_items(
    data: Dataset,
    bins: Binning,
    n_bins: int,
    max_frequency: float,
    copies: RowCopies | None = None,
) -> Items:
    """The items of the features in copies of the rows, without those that nearly all rows have.

    Where ranges are cut does not depend on weights.
    """
    if bins is None:
        raise ValueError("bins must be a method for numeric features: use 'labels'")
    weights, plain = data.weights, Dataset(data.schema, data.X, data.Y, data.name)
    items = items_of(plain, labels=False, bins=bins, n_bins=n_bins)
    if weights is not None and copies is not None:
        items = items.repeated(copies.rows)
    return items.chosen(items.counts <= max_frequency * items.n_rows)
