"""Which rules vote, and with how many votes: the shortest description of the labels, step by step.

Two votes for presence double the odds that a label is present, two for absence halve them. Telling
the true labels to somebody who knows these odds takes so many bits; each condition and each vote
takes some more. Rules are elected, changed and dismissed as long as that makes the sum smaller.
All sums are of whole numbers, so no order of rows and no processor changes what is elected.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats, Integers

DOUBLING = 2
"""So many votes double the odds."""

MOST_VOTES = 40
"""Of one rule on one label."""

REACH = 128
"""Beyond so many votes more for one side, the odds are as good as sure."""

BIT = 1 << 16
"""One bit in the whole numbers that are added up."""

TRIED = 5
"""So many of the most promising rules are tried, the best first, before the election ends."""

TERM = 5
"""After so many rules are elected, those that were are reviewed."""


@dataclass(frozen=True)
class Stakes:
    """What is to be paid, in bits.

    Parameters
    ----------
    miss : float
        How many times as much a label that is present counts as one that is absent.
    vote, condition : float
        For each vote of a rule, and for each condition.
    """

    miss: float
    vote: float
    condition: float

    @cached_property
    def loss(self) -> Integers:
        """Bits for telling that a label is absent, or present, by the margin from -REACH on."""
        told = [_bits_told(margin) for margin in range(-REACH, REACH + 1)]
        present = [_whole(Decimal(self.miss) * bits) for bits in told]
        return np.array([[_whole(bits) for bits in told[::-1]], present])

    @cached_property
    def pull(self) -> Integers:
        """Bits that a vote more for presence would save, for a small part of a vote."""
        odds, step = _odds(), 1 / DOUBLING
        return _rounded([-step * odds / (1 + odds), self.miss * step / (1 + odds)])

    @cached_property
    def bend(self) -> Integers:
        """By how much a vote more makes the next one save less."""
        odds = _odds()
        curved = np.log(2.0) * odds / (DOUBLING * (1 + odds)) ** 2
        return _rounded([curved, self.miss * curved])

    def bits(self, truth: Integers, margin: Integers) -> Integers:
        """For telling these labels by these margins; shapes that fit each other."""
        beyond = np.maximum(np.where(truth == 1, -margin, margin) - REACH, 0)
        each = np.where(truth == 1, _whole(Decimal(self.miss)), BIT) // DOUBLING
        found: Integers = self.loss[truth, _place(margin)] + each * beyond
        return found


def _bits_told(margin: int) -> Decimal:
    """The bits for what has such odds; by decimals, which are the same on all machines."""
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
    found: Integers = np.clip(margin, -REACH, REACH) + REACH
    return found


class Election:
    """Rules that stand for election, and the votes they have been given.

    Parameters
    ----------
    fires : sparse array
        Rules by rows, 1 where the rule fires.
    lengths : sequence of int
        The conditions of each rule.
    Y : array of int8
        Rows by labels.
    stakes : Stakes

    Attributes
    ----------
    votes : array of int
        Rules by labels; above 0 for presence, below 0 for absence. The last rule is one that
        fires on every row. It need not pay for its votes.
    margin : array of int
        Rows by labels: by how many votes presence wins.
    """

    def __init__(
        self, fires: sparse.csr_array, lengths: Integers, Y: Board, stakes: Stakes
    ) -> None:
        n_rows, n_labels = Y.shape
        every = sparse.csr_array(np.ones((1, n_rows)))
        self.fires = sparse.csr_array(sparse.vstack([fires, every]))
        self.default = self.fires.shape[0] - 1
        self.truth = Y.astype(np.int64)
        self.stakes = stakes
        self.vote_cost = round(stakes.vote * BIT)
        self.costs = np.array([*(round(stakes.condition * BIT * n) for n in lengths), 0])
        self.votes = np.zeros((self.default + 1, n_labels), dtype=np.int64)
        self.margin = np.zeros((n_rows, n_labels), dtype=np.int64)
        self.gains = np.zeros((self.default + 1, n_labels), dtype=np.int64)

    def held(self, most_terms: int | None = None) -> Integers:
        """Elect rules until no further one pays, or for so many terms; the votes."""
        self._look(np.arange(self.votes.shape[1]))
        self._change(self.default)
        n_terms = 0
        while n_terms != most_terms and self._elect():
            self._review()
            n_terms += 1
        return self.votes

    def cost(self) -> int:
        """What the labels, the votes and the conditions cost."""
        elected = self.votes[:-1].any(axis=1)
        votes = int(np.abs(self.votes[:-1]).sum()) * self.vote_cost
        told = int(self.stakes.bits(self.truth, self.margin).sum())
        return told + votes + int(self.costs[:-1][elected].sum())

    def _rows(self, rule: int) -> Integers:
        start, end = self.fires.indptr[rule : rule + 2]
        return np.asarray(self.fires.indices[start:end], dtype=np.int64)

    def _elect(self) -> bool:
        """Elect some rules, one after the other, or give them other votes; whether one was."""
        n_elected = 0
        while n_elected < TERM and any(self._change(rule) for rule in self._promising()):
            n_elected += 1
        return n_elected > 0

    def _promising(self) -> list[int]:
        """The rules that seem to save most, as far as slope and curvature can tell."""
        elected = self.votes.any(axis=1)
        saved = self.gains.sum(axis=1) - np.where(elected, 0, self.costs)
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
            saved -= int(self.costs[rule])
        if saved <= 0:
            # What slope and curvature promised is not so: do not ask again until something changes.
            self.gains[rule] = 0
            return False
        self._give(rule, wanted)
        return True

    def _best_votes(self, rule: int, label: int) -> tuple[int, int]:
        """The votes on a label that save most, the fewest of equally good ones; and what is saved.

        Votes that are there already are given up only for something better.
        """
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
                told = self.stakes.bits(np.full_like(moved, value), moved)
                bits += told @ counts[kinds]
        if rule != self.default:
            bits += np.abs(choices) * self.vote_cost
        best = int(bits.argmin())
        saved = int(bits[np.flatnonzero(choices == before)[0]] - bits[best])
        return (int(choices[best]), saved) if saved > 0 else (before, 0)

    def _give(self, rule: int, votes: Integers) -> None:
        """Let a rule have these votes from now on."""
        labels = np.flatnonzero(self.votes[rule] != votes)
        self.margin[np.ix_(self._rows(rule), labels)] += (votes - self.votes[rule])[labels]
        self.votes[rule] = votes
        self._look(labels)

    def _look(self, labels: Integers) -> None:
        """See anew what each rule would save on these labels."""
        truth, place = self.truth[:, labels], _place(self.margin[:, labels])
        # Sums of whole numbers below 2 ** 53 are exact as floats too, in whatever order.
        slope: Floats = self.fires @ self.stakes.pull[truth, place].astype(np.float64)
        curve: Floats = self.fires @ self.stakes.bend[truth, place].astype(np.float64)
        step = np.clip(slope / np.maximum(curve, 1.0), -MOST_VOTES, MOST_VOTES)
        step = np.where(np.abs(step) < 1, np.sign(step), step)
        saved = slope * step - 0.5 * curve * step**2
        saved[:-1] -= np.where(
            self.votes[:-1, labels] == 0, self.vote_cost * np.abs(step[:-1]), 0.0
        )
        self.gains[:, labels] = np.maximum(np.floor(saved), 0)

    def _review(self) -> None:
        """Dismiss rules that have become needless, and decide anew what is usual."""
        for rule in np.flatnonzero(self.votes[:-1].any(axis=1)).tolist():
            if self._is_needless(rule):
                self._give(rule, np.zeros_like(self.votes[rule]))
        self._change(self.default)

    def _is_needless(self, rule: int) -> bool:
        """Whether it would cost no more without the rule."""
        rows, votes = self._rows(rule), self.votes[rule]
        labels = np.flatnonzero(votes)
        truth, margin = self.truth[np.ix_(rows, labels)], self.margin[np.ix_(rows, labels)]
        without = self.stakes.bits(truth, margin - votes[labels]).sum()
        paid = int(self.costs[rule]) + int(np.abs(votes).sum()) * self.vote_cost
        return bool(without <= self.stakes.bits(truth, margin).sum() + paid)
