"""A decision list chosen from association rules."""

from contextlib import nullcontext
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted, whole_number
from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data import Dataset, Schema
from labelrules.data.document import Count, Record
from labelrules.discovery import association_rules
from labelrules.discovery.associations.mine import check_compared
from labelrules.discovery.binning import Binning, checked_binning
from labelrules.discovery.items import Items, Ragged, packed_rows
from labelrules.discovery.limits import (
    ANY_NUMBER,
    INTERRUPTED,
    kept_if_interrupted,
    minimum_count,
)
from labelrules.kernels.interrupts import heard_interrupts
from labelrules.learners.associative.lazy import checked_number, telling_items
from labelrules.learners.base.progress import are_passed_on, truth, warn_of_early_end
from labelrules.learners.base.theory_classifier import ListState, RuleClassifier, Smoothing
from labelrules.learners.registry import register
from labelrules.rules import DecisionList, Head, Rule, RuleTable

# -------------------- The rules that a decision list needs, chosen from many


class Candidates(NamedTuple):
    """Rules for the presence of single labels, to choose from.

    Rule r has the items ``body[r]`` and the label ``label[r]``; of the ``n_body[r]`` rows it covers
    ``n_both[r]`` have the label. `confidence` may be an estimate.
    """

    items: Items
    body: Ragged
    label: Integers
    n_body: Integers
    n_both: Integers
    confidence: Floats

    def ranks(self) -> Integers:
        """The place of each rule: by confidence, then rows that are right, then length.

        Of rules that are equal in all this the first comes first.
        """
        order = np.lexsort((self.body.lengths, -self.n_both, -self.confidence))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


class Chosen(NamedTuple):
    """The rules chosen for a label, in order, and what the label is by default."""

    rules: Integers
    default: int


@heard_interrupts()
def chosen_rules(
    candidates: Candidates, ranks: Integers, label: int, truth: npt.NDArray[np.int8], is_open: Mask
) -> Chosen:
    """Cover the open rows: keep what is right about a row that is left, up to the least errors.

    Of several places with as few errors the first is taken. By default a label is what more of the
    rows left are, absent if as many.
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
    n_used = int(errors[: n_kept + 1].argmin())
    rules = kept[:n_used]
    left = is_open.copy()
    for rule in rules.tolist():
        left &= ~_covers(candidates, rule)
    return Chosen(rules, _default(truth, left))


def nothing_chosen(truth: npt.NDArray[np.int8], is_open: Mask) -> Chosen:
    """For a label without rules what it is by default."""
    return Chosen(np.empty(0, dtype=np.int64), _default(truth, is_open))


def _default(truth: npt.NDArray[np.int8], left: Mask) -> int:
    return int(2 * int((truth[left] == 1).sum()) > int(left.sum()))


def _covers(candidates: Candidates, rule: int) -> Mask:
    covered = np.ones(candidates.items.n_rows, dtype=np.bool_)
    for item in candidates.body[rule]:
        holds = np.zeros_like(covered)
        holds[candidates.items.rows_of(item)] = True
        covered &= holds
    return covered


def merged_rules(
    candidates: Candidates, ranks: Integers, chosen: list[Chosen], values: Integers, schema: Schema
) -> list[Rule]:
    """One rule for each body, at the place of the best of those that have it.

    `values` says what the rules of each label predict.
    """
    heads: dict[tuple[int, ...], dict[int, int]] = {}
    best: dict[tuple[int, ...], int] = {}
    for label, one in enumerate(chosen):
        for rule in one.rules.tolist():
            body = tuple(candidates.body[rule])
            heads.setdefault(body, {})[label] = int(values[label])
            best[body] = min(best.get(body, len(ranks)), int(ranks[rule]))
    return [
        Rule(Head(heads[body], schema.n_labels), candidates.items.body(body))
        for body in sorted(heads, key=lambda body: best[body])
    ]


# ---------------------------------------------------------------- the main part


class AssociativeState(ListState):
    """A decision list, and how many rules there were to choose from."""

    n_mined: Count


@register(order=8)
class AssociativeClassifier(RuleClassifier):
    """Mine association rules, and keep those that a decision list needs.

    For each label its rarer value is told by rules, and the other one by a last rule that always
    holds. All rules with enough support and confidence are mined. They are put in order: by
    confidence, then by support, then by length. A rule is kept if it is right about a row that no
    rule before it covers, and the list of a label ends where it makes least errors, the last
    rule included: this is how CBA covers [1]_. Rules with the same body are then made one, with
    several labels in its head, as in MMAC [2]_. Since all rules for a label say the same, this
    changes no prediction.

    Ctrl-C while rules are mined ends that, and the list is chosen from those there are; while rules
    are chosen it leaves the labels that have none yet to the last rule. Before any rule is mined
    there is nothing to keep.

    Parameters
    ----------
    max_length : int, default=2
        Items of a body at most; an item is a category, or a range of a numeric feature.
    min_support : int or float, default=0.01
        The rows that must have both body and head: a share of all rows, or a number of them; at
        least 2.
    min_confidence : float, default=0.5
        The share of covered rows that must have the head.
    m : float, default=5
        In the order of the rules confidence is drawn towards the share of all rows as if so many
        more rows were covered: the m-estimate. 0 is plain confidence, by which rules of few rows
        come first.
    productive : bool, default=True
        Whether only rules are used that have more confidence than with fewer conditions.
    max_frequency : float, default=0.9
        Items that a larger share of the rows has are not used: they tell little.
    bins : {"labels", "entropy", "frequency", "width"}
        How numeric features are cut into ranges: as single labels, or as label sets have it; into
        ranges of as many rows, or of the same width. See :func:`labelrules.discovery.items_of`.
    n_bins : int, default=6
        How many ranges, or how many at most.
    max_rules : int, default=2_000_000
        When there are more rules to choose from, the search stops, and a warning says so.
    smoothing, warm_start
        As for :class:`SeparateAndConquer`.

    Attributes
    ----------
    theory_ : DecisionList
        The rules, with evidence from the training rows.
    n_mined_ : int
        How many rules there were to choose from.
    schema_, classes_, n_labels_, background_, n_features_in_, feature_names_in_
        As for :class:`SeparateAndConquer`.

    References
    ----------
    .. [1] B. Liu, W. Hsu and Y. Ma: Integrating classification and association rule mining.
       KDD 1998.
    .. [2] F. Thabtah, P. Cowling and Y. Peng: MMAC, a new multi-class, multi-label associative
       classification approach. ICDM 2004.

    Examples
    --------
    >>> from labelrules import load
    >>> model = AssociativeClassifier(max_length=1).fit(load("magazines"))
    >>> print(model.theory_)
    quality <- education = University
    quality <- marital = Divorced
    tabloid <- marital = Single
    tabloid <- sex = Male
    fashion <- sex = Female
    not quality, not tabloid, not fashion, not sports <- true
    """

    def __init__(
        self,
        *,
        max_length: int = 2,
        min_support: float = 0.01,
        min_confidence: float = 0.5,
        m: float = 5.0,
        productive: bool = True,
        max_frequency: float = 0.9,
        bins: Binning = "labels",
        n_bins: int = 6,
        max_rules: int = 2_000_000,
        smoothing: Smoothing = "laplace",
        warm_start: bool = False,
    ) -> None:
        self.max_length = max_length
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.m = m
        self.productive = productive
        self.max_frequency = max_frequency
        self.bins = bins
        self.n_bins = n_bins
        self.max_rules = max_rules
        self.smoothing = smoothing
        self.warm_start = warm_start

    _State: ClassVar[type[Record]] = AssociativeState

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check()
        truth(self, "productive")
        checked_number("min_confidence", self.min_confidence, 1.0)
        minimum_count(self.min_support, n_rows=1)
        checked_binning(self.bins, self.n_bins)
        if self.bins is None:
            raise ValueError("bins must say how numeric features are cut: use 'labels'")

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "n_mined": int(self.n_mined_)}

    def _restore_state(self, state: Any) -> None:
        super()._restore_state(state)
        self.n_mined_ = state.n_mined

    def _learn(self, data: Dataset, prefix: DecisionList | None) -> DecisionList:
        self._check()
        is_open = _open_cells(data, prefix)
        is_common: Mask = 2 * data.Y.sum(axis=0, dtype=np.int64) > data.n_rows
        told = data.Y ^ is_common  # the rarer value is what rules tell
        candidates, is_whole = self._mined(Dataset(data.schema, data.X, told))
        self.n_mined_ = len(candidates.label)
        ranks = candidates.ranks()
        labels = range(data.schema.n_labels)
        chosen = _chosen(candidates, ranks, told, is_open)
        _warn_of_interrupts(candidates, is_whole, len(chosen), len(labels))
        without = slice(len(chosen), None)
        chosen += [nothing_chosen(told[:, j], is_open[:, j]) for j in labels[without]]
        rules = merged_rules(candidates, ranks, chosen, 1 - is_common, data.schema)
        default = {j: chosen[j].default ^ int(is_common[j]) for j in labels}
        return DecisionList(
            data.schema, [*(prefix or ()), *rules, Rule(Head(default, data.schema.n_labels))]
        )

    def _mined(self, data: Dataset) -> tuple[Candidates, bool]:
        """The rules to choose from, all of them for presence; and whether none is missing."""
        items = telling_items(data, self.bins, self.n_bins, self.max_frequency)
        if not len(items):
            nothing = np.empty(0, dtype=np.int64)
            none = Candidates(items, Ragged.empty(), nothing, nothing, nothing, np.empty(0))
            return none, True
        with nullcontext() if are_passed_on() else kept_if_interrupted():
            mined = association_rules(
                data,
                max(2, minimum_count(self.min_support, data.n_rows)),
                self.min_confidence,
                max_conditions=self.max_length,
                items=items,
                productive=self.productive,
                max_rules=self.max_rules,
                max_visited=ANY_NUMBER,
            )
        label = mined.head.values.astype(np.int64) >> 1
        share = data.Y.mean(axis=0)[label]
        confidence = (mined.n_both + self.m * share) / (mined.n_body + self.m)
        found = Candidates(items, mined.body, label, mined.n_body, mined.n_both, confidence)
        return found, mined.stopped != INTERRUPTED

    def _check(self) -> None:
        checked_number("max_frequency", self.max_frequency, 1.0)
        checked_number("m", self.m)
        longest = whole_number(self.max_length, "max_length", low=1)
        if self.productive:
            check_compared("max_length", longest)
        whole_number(self.max_rules, "max_rules", low=1)


def _chosen(candidates: Candidates, ranks: Integers, told: Board, is_open: Mask) -> list[Chosen]:
    """The rules of each label, up to the label at which somebody interrupts."""
    chosen: list[Chosen] = []
    try:
        for j in range(told.shape[1]):
            chosen.append(chosen_rules(candidates, ranks, j, told[:, j], is_open[:, j]))
    except KeyboardInterrupt:
        if are_passed_on() or not chosen:
            raise
    return chosen


def _warn_of_interrupts(
    candidates: Candidates, is_whole: bool, n_chosen: int, n_labels: int
) -> None:
    """Say what is kept if somebody interrupts; nothing is if there are no rules yet."""
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
