"""Rules that vote: found in many samples of the rows, elected by the bits they save.

By the odds that the votes give (see `VotedRules`) the true labels can be encoded in a number of
bits; each condition and each vote takes some more. Rules are elected, changed and dismissed as long
as that makes the sum smaller. All sums are of whole numbers, so neither the order of rows nor the
processor changes the result.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Meta
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from labelrules._checks import counted, job_count, number, whole_number
from labelrules._interrupts import heard_interrupts
from labelrules._types import Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.data.document import Record
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import (
    Listener,
    ListProgress,
    check_progress,
    is_nested_fit,
    nested_fit,
    progress_listener,
    warn_of_early_end,
)
from labelrules.learners.base.sampling import bootstrap_sample, random_numbers
from labelrules.learners.covering.learner import SeparateAndConquer
from labelrules.learners.registry import register
from labelrules.rules import Body, Evidence, Head, Rule, RuleSet, RuleTable
from labelrules.rules.json import SetRecord

DOUBLING = 2
"""So many votes double the odds."""

MOST_VOTES = 40
"""The most votes of one rule on one label."""

REACH = 128
"""Margins beyond so many votes are as good as certain."""

BIT = 1 << 16
"""One bit in the whole numbers that are added up."""

TRIED = 5
"""So many of the most promising rules are tried, the best first, before the election ends."""

TERM = 5
"""After so many rules are elected, all elected rules are reviewed."""


class VotedState(Record):
    """Rules that vote, and how many times worse it was to miss a label than to add one."""

    theory: SetRecord
    miss_cost: Annotated[float, Meta(gt=0, le=1000)]


@register(order=7)
@dataclass(eq=False, repr=False, kw_only=True)
class VotedRules(TableClassifier):
    """Learn a set of short rules that vote on the labels.

    Decision lists are learned from samples of the rows, drawn with replacement. The bodies of their
    rules stand for election: one after the other is given votes on all labels for which that pays.
    Two votes for presence double the odds that a label is present, two for absence halve them. A
    label is predicted if there are more votes for its presence than for its absence.

    Votes weigh misses by `miss_cost`, and `predict_proba` takes that out again: a label is
    predicted if the odds of its presence are better than 1 : `miss_cost`, so with the default 2 if
    its probability is above one third, and not one half. `threshold_` is that probability.

    Such a set is harder to read than a decision list, since votes must be added up, but it is
    shorter and predicts better. No condition tests a label; labels meet in the heads of rules.

    Parameters
    ----------
    n_lists : int, default=10
        How many lists are learned.
    max_conditions : int, optional, default=2
        The most conditions of a rule.
    miss_cost : float, optional
        How many times worse it is to miss a label than to predict one that is absent. The more, the
        more labels are predicted. By default 2; but 1 for a single label, and for classes.
    vote_cost : float, default=0.5
        How many bits a vote must save. The higher, the fewer rules.
    condition_cost : float, default=0.75
        How many bits each condition of a rule must save. The higher, the fewer and shorter rules.
    random_state : int, RandomState or None, default=None
        Draws the samples, together with the values of the rows. None is the same as 0.
    n_jobs : int, optional
        Lists that are learned at the same time, by joblib. The result does not depend on it.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`ListProgress`.

    Attributes
    ----------
    theory_ : RuleSet
        The rules in the order of their election, the votes that are cast on every row last.
        Evidence is from the training rows that a rule covers.
    miss_cost_ : float
        The `miss_cost` that was used.
    threshold_ : float
        The probability above which a label is predicted.

    Examples
    --------
    >>> from labelrules import load
    >>> print(VotedRules().fit(load("magazines")).theory_)
    in any order:
    quality -6 <- education = Primary
    fashion +5 <- sex = Female
    quality +3, tabloid +1, fashion -4, sports -3 <- true
    """

    n_lists: int = 10
    max_conditions: int | None = 2
    miss_cost: float | None = None
    vote_cost: float = 0.5
    condition_cost: float = 0.75
    random_state: Any = None
    n_jobs: int | None = None
    progress: bool | Listener = False

    _State = VotedState

    def _check_parameters(self) -> None:
        whole_number(self.n_lists, "n_lists", low=1)
        if self.max_conditions is not None:
            whole_number(self.max_conditions, "max_conditions", low=1, also="None")
        for name in ("vote_cost", "condition_cost"):
            number(getattr(self, name), name, low=0, high=1000)
        if self.miss_cost is not None:
            number(self.miss_cost, "miss_cost", above=0, high=1000, also="None")
        job_count(self.n_jobs)
        random_numbers(self.random_state)
        check_progress(self.progress)

    def fit(self, X: Any, Y: Any = None) -> Self:
        """Learn from features and labels, or classes, as for :class:`SeparateAndConquer`."""
        self._check_parameters()
        data, target = self._training_data(X, Y)
        is_single = target.kind != "labels" or data.schema.n_labels == 1
        miss = (1.0 if is_single else 2.0) if self.miss_cost is None else float(self.miss_cost)
        with progress_listener(self.progress) as listener:
            bodies, n_learned = self._candidates(data, listener)
        costs = Costs(miss, float(self.vote_cost), float(self.condition_cost))
        rules, is_finished = _elected(bodies, data, costs)
        self.theory_ = RuleSet(data.schema, rules)
        self.miss_cost_ = miss
        self._remember(data.schema, target)
        self._warn(n_learned, is_finished)
        return self

    @property
    def threshold_(self) -> float:
        """The probability above which a label is predicted: odds of 1 : `miss_cost`."""
        return 1 / (1 + self.miss_cost_)

    def _warn(self, n_learned: int, is_finished: bool) -> None:
        """Warn what is kept if learning was interrupted."""
        kept = []
        if n_learned < self.n_lists:
            kept.append(f"the rules of {n_learned} of {self.n_lists} lists vote")
        if not is_finished:
            n_rules = sum(len(rule.body) > 0 for rule in self.theory_)
            kept.append(f"the election ended after {counted(n_rules, 'rule')}")
        if kept:
            warn_of_early_end("it was interrupted", " and ".join(kept))

    def _candidates(self, data: Dataset, listener: Listener) -> tuple[list[Body], int]:
        """The bodies of rules from all lists, each once; and how many lists were learned."""
        random = random_numbers(self.random_state)
        base = SeparateAndConquer(
            max_conditions=self.max_conditions, label_conditions=False, last_resort=None
        )
        samples = [bootstrap_sample(data, random) for _ in range(self.n_lists)]
        lists: list[list[Body]] = []
        parallel = Parallel(n_jobs=job_count(self.n_jobs), return_as="generator")
        try:
            for bodies in parallel(delayed(_bodies)(base, data, rows) for rows in samples):
                lists.append(bodies)
                listener(ListProgress(len(lists), len(samples)))
        except KeyboardInterrupt:
            if not lists or is_nested_fit():
                raise
        return list(dict.fromkeys(body for bodies in lists for body in bodies)), len(lists)

    def _labels(self, X: Any) -> Board:
        return RuleTable(self.theory_).predict(X)

    def _presence(self, X: Any) -> Floats:
        # The votes were given as if each present label counted `miss_cost_` times.
        with np.errstate(over="ignore"):  # thousands of votes against are a probability of 0
            against = np.exp2(-self.theory_.margin(X) / DOUBLING)
            return np.asarray(1 / (1 + self.miss_cost_ * against))


@heard_interrupts()
def _bodies(base: SeparateAndConquer, data: Dataset, rows: Integers) -> list[Body]:
    """The bodies of a list that is learned from some rows, but for the empty one."""
    with nested_fit():
        learned = base.fit(data.take(rows)).theory_
    return [rule.body for rule in learned if len(rule.body)]


def _elected(bodies: list[Body], data: Dataset, costs: "Costs") -> tuple[list[Rule], bool]:
    """The rules that have votes, and whether their election was not interrupted.

    Those elected until then are kept; if it is before any was, a first few are elected.
    """
    election: Election | None = None
    try:
        election = _election(bodies, data, costs)
        return _rules(bodies, election.run(), data), True
    except KeyboardInterrupt:
        if is_nested_fit():
            raise
    if election is None or not election.votes[:-1].any():
        election = _election(bodies, data, costs)
        election.run(max_terms=1)
    return _rules(bodies, election.votes, data), False


def _election(bodies: list[Body], data: Dataset, costs: "Costs") -> "Election":
    nothing = data.empty_board()
    rows = [np.flatnonzero(body.covers(data.X, nothing)) for body in bodies]
    start = np.concatenate([[0], np.cumsum([len(some) for some in rows])]).astype(np.int64)
    columns = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    shape = (len(rows), data.n_rows)
    covers = sparse.csr_array((np.ones(len(columns)), columns, start), shape=shape)
    return Election(covers, np.array([len(body) for body in bodies], np.int64), data.Y, costs)


def _rules(bodies: Iterable[Body], votes: Integers, data: Dataset) -> list[Rule]:
    """The rules that have votes, that for every row last, with evidence from the rows covered."""
    nothing, rules = data.empty_board(), []
    for body, given in zip([*bodies, Body()], votes, strict=True):
        labels = np.flatnonzero(given).tolist()
        if not labels:
            continue
        truth = data.Y[body.covers(data.X, nothing)]
        values = [int(given[label] > 0) for label in labels]
        n_right = [
            int((truth[:, j] == value).sum()) for j, value in zip(labels, values, strict=True)
        ]
        head = Head(dict(zip(labels, values, strict=True)), data.schema.n_labels)
        evidence = tuple(Evidence(right, len(truth) - right) for right in n_right)
        cast = tuple(abs(int(given[label])) for label in labels)
        rules.append(Rule(head, body, False, evidence, cast))
    return rules


@dataclass(frozen=True)
class Costs:
    """The bits of votes and conditions; a label present counts `miss` times one that is absent."""

    miss: float
    vote: float
    condition: float

    @cached_property
    def loss(self) -> Integers:
        """Bits that encode absence, or presence, by the margin from -REACH on."""
        code = [_code_length(margin) for margin in range(-REACH, REACH + 1)]
        present = [_whole(Decimal(self.miss) * bits) for bits in code]
        return np.array([[_whole(bits) for bits in code[::-1]], present])

    @cached_property
    def slope(self) -> Integers:
        """Bits that a further vote for presence saves, as the derivative."""
        odds, step = _odds(), 1 / DOUBLING
        return _rounded([-step * odds / (1 + odds), self.miss * step / (1 + odds)])

    @cached_property
    def curvature(self) -> Integers:
        """By how much each further vote saves less than the one before."""
        odds = _odds()
        curved = np.log(2.0) * odds / (DOUBLING * (1 + odds)) ** 2
        return _rounded([curved, self.miss * curved])

    def bits(self, truth: Integers, margin: Integers) -> Integers:
        """Bits that encode these labels by these margins; shapes that fit each other."""
        beyond = np.maximum(np.where(truth == 1, -margin, margin) - REACH, 0)
        each = np.where(truth == 1, _whole(Decimal(self.miss)), BIT) // DOUBLING
        bits: Integers = self.loss[truth, _place(margin)] + each * beyond
        return bits


def _code_length(margin: int) -> Decimal:
    """The bits for an event with such odds; by decimals, which are the same on all machines."""
    with localcontext() as context:
        context.prec = 40
        return (1 + Decimal(2) ** (Decimal(-margin) / DOUBLING)).ln() / Decimal(2).ln()


def _rounded(bits: list[Floats]) -> Integers:
    return np.asarray(np.rint(np.stack(bits) * BIT), dtype=np.int64)


def _odds() -> Floats:
    return np.exp2(np.arange(-REACH, REACH + 1) / DOUBLING)


def _whole(bits: Decimal) -> int:
    return round(bits * BIT)


def _place(margin: Integers) -> Integers:
    place: Integers = np.clip(margin, -REACH, REACH) + REACH
    return place


class Election:
    """Rules that stand for election, and the votes they have been given.

    `covers` is rules by rows. `votes`, rules by labels, are above 0 for presence and below 0 for
    absence; those of the last rule, which covers every row, cost nothing. `margin`, rows by labels,
    is by how many votes presence wins.
    """

    def __init__(self, covers: sparse.csr_array, lengths: Integers, Y: Board, costs: Costs) -> None:
        n_rows, n_labels = Y.shape
        every = sparse.csr_array(np.ones((1, n_rows)))
        self.covers = sparse.csr_array(sparse.vstack([covers, every]))
        self.default = self.covers.shape[0] - 1
        self.truth = Y.astype(np.int64)
        self.costs = costs
        self.vote_cost = round(costs.vote * BIT)
        self.body_costs = np.array([*(round(costs.condition * BIT * n) for n in lengths), 0])
        self.votes = np.zeros((self.default + 1, n_labels), dtype=np.int64)
        self.margin = np.zeros((n_rows, n_labels), dtype=np.int64)
        self.gains = np.zeros((self.default + 1, n_labels), dtype=np.int64)

    def run(self, max_terms: int | None = None) -> Integers:
        """Elect rules until no further one pays, or for so many terms; return the votes."""
        self._update_gains(np.arange(self.votes.shape[1]))
        self._change(self.default)
        n_terms = 0
        while n_terms != max_terms and self._elect():
            self._review()
            n_terms += 1
        return self.votes

    def cost(self) -> int:
        """The cost of the labels, the votes and the conditions."""
        elected = self.votes[:-1].any(axis=1)
        votes = int(np.abs(self.votes[:-1]).sum()) * self.vote_cost
        labels = int(self.costs.bits(self.truth, self.margin).sum())
        return labels + votes + int(self.body_costs[:-1][elected].sum())

    def _rows(self, rule: int) -> Integers:
        start, end = self.covers.indptr[rule : rule + 2]
        return np.asarray(self.covers.indices[start:end], dtype=np.int64)

    def _elect(self) -> bool:
        """Elect some rules, one after the other, or give them other votes; whether one was."""
        n_elected = 0
        while n_elected < TERM and any(self._change(rule) for rule in self._promising()):
            n_elected += 1
        return n_elected > 0

    def _promising(self) -> list[int]:
        """The rules that seem to save most, by slope and curvature."""
        elected = self.votes.any(axis=1)
        saved = self.gains.sum(axis=1) - np.where(elected, 0, self.body_costs)
        # A stable order: of equal rules the first comes first.
        best = np.argsort(-saved, kind="stable")[:TRIED]
        return [int(rule) for rule in best if saved[rule] > 0]

    def _change(self, rule: int) -> bool:
        """Give a rule the votes that are best for each label, if that pays."""
        labels = np.flatnonzero(self.gains[rule] > 0)
        wanted = self.votes[rule].copy()
        saved = 0
        for label in labels.tolist():
            wanted[label], bits = self._best_votes(rule, label)
            saved += bits
        if not self.votes[rule].any():
            saved -= int(self.body_costs[rule])
        if saved <= 0:
            # Slope and curvature promised too much: not to be tried again until votes change.
            self.gains[rule] = 0
            return False
        self._give(rule, wanted)
        return True

    def _best_votes(self, rule: int, label: int) -> tuple[int, int]:
        """The fewest votes on a label that save most bits, and the bits; no change without gain."""
        rows, before = self._rows(rule), int(self.votes[rule, label])
        choices = np.array(sorted(range(-MOST_VOTES, MOST_VOTES + 1), key=lambda n: (abs(n), n)))
        bits = np.zeros(len(choices), dtype=np.int64)
        for value in (0, 1):
            margins = self.margin[rows[self.truth[rows, label] == value], label]
            if margins.size:
                least = int(margins.min())
                counts = np.bincount(margins - least)
                kinds = np.flatnonzero(counts)
                moved = kinds + least + (choices - before)[:, np.newaxis]
                bits += self.costs.bits(np.full_like(moved, value), moved) @ counts[kinds]
        if rule != self.default:
            bits += np.abs(choices) * self.vote_cost
        best = int(bits.argmin())
        saved = int(bits[np.flatnonzero(choices == before)[0]] - bits[best])
        return (int(choices[best]), saved) if saved > 0 else (before, 0)

    def _give(self, rule: int, votes: Integers) -> None:
        """Give a rule these votes."""
        labels = np.flatnonzero(self.votes[rule] != votes)
        self.margin[np.ix_(self._rows(rule), labels)] += (votes - self.votes[rule])[labels]
        self.votes[rule] = votes
        self._update_gains(labels)

    def _update_gains(self, labels: Integers) -> None:
        """Estimate anew what each rule would save on these labels."""
        truth, place = self.truth[:, labels], _place(self.margin[:, labels])
        # Sums of whole numbers below 2 ** 53 are exact as floats too, in whatever order.
        slope: Floats = self.covers @ self.costs.slope[truth, place].astype(np.float64)
        curve: Floats = self.covers @ self.costs.curvature[truth, place].astype(np.float64)
        step = np.clip(slope / np.maximum(curve, 1.0), -MOST_VOTES, MOST_VOTES)
        step = np.where(np.abs(step) < 1, np.sign(step), step)
        saved = slope * step - 0.5 * curve * step**2
        saved[:-1] -= np.where(
            self.votes[:-1, labels] == 0, self.vote_cost * np.abs(step[:-1]), 0.0
        )
        self.gains[:, labels] = np.maximum(np.floor(saved), 0)

    def _review(self) -> None:
        """Dismiss rules that have become needless, and give the default rule new votes."""
        for rule in np.flatnonzero(self.votes[:-1].any(axis=1)).tolist():
            if self._is_needless(rule):
                self._give(rule, np.zeros_like(self.votes[rule]))
        self._change(self.default)

    def _is_needless(self, rule: int) -> bool:
        """Whether it would cost no more without the rule."""
        rows, votes = self._rows(rule), self.votes[rule]
        labels = np.flatnonzero(votes)
        truth, margin = self.truth[np.ix_(rows, labels)], self.margin[np.ix_(rows, labels)]
        without = self.costs.bits(truth, margin - votes[labels]).sum()
        paid = int(self.body_costs[rule]) + int(np.abs(votes).sum()) * self.vote_cost
        return bool(without <= self.costs.bits(truth, margin).sum() + paid)
