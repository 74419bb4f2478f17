"""The rules that vote on the labels of one row, mined for this row alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Board, Floats, Integers, Matrix
from labelrules.data import Schema
from labelrules.data.table import column_of
from labelrules.mining.items import Bits, Items, Ragged, packed_rows
from labelrules.rules import Evidence, Head, Rule
from labelrules.rules.language.text import label_text, rule_text

Numbers: TypeAlias = npt.NDArray[np.int32]
"""Items by number."""


class VotingRule(NamedTuple):
    """A rule, the share that it votes with, and its part of the weight of all votes."""

    rule: Rule
    share: float
    part: float


@dataclass(frozen=True)
class LabelVotes:
    """The votes on one label of a row.

    Attributes
    ----------
    label : int
    score : float
        The mean of all votes.
    presence : float
        The score as `predict_proba` gives it.
    is_predicted : bool
    rules : tuple of VotingRule
        By falling weight; evidence counts training rows with and without the label.
    """

    label: int
    score: float
    presence: float
    is_predicted: bool
    rules: tuple[VotingRule, ...]


@dataclass(frozen=True)
class RowRules:
    """The rules of one row, label by label; printing shows the labels predicted.

    Attributes
    ----------
    schema : Schema
    votes : tuple of LabelVotes
        One for each label.
    n_bodies : int
        How many bodies cover the row.
    """

    schema: Schema
    votes: tuple[LabelVotes, ...]
    n_bodies: int

    def __str__(self) -> str:
        lines = [f"{self.n_bodies:,} bodies cover this row"]
        for votes in sorted(self.votes, key=lambda one: -one.presence):
            if votes.is_predicted:
                name = label_text(self.schema.labels[votes.label])
                lines.append(f"{name}: mean {votes.score:.2f}, probability {votes.presence:.2f}")
                lines += [
                    f"  {voting.share:.2f}, {voting.part:.1%} of the votes: "
                    f"{rule_text(voting.rule, self.schema, evidence=True)}"
                    for voting in votes.rules
                ]
        return "\n".join(lines if len(lines) > 1 else [*lines, "no label is predicted"])

    def __repr__(self) -> str:
        predicted = [votes.label for votes in self.votes if votes.is_predicted]
        names = ", ".join(self.schema.labels[label] for label in predicted) or "no label"
        return f"<RowRules: {self.n_bodies:,} bodies, {names} predicted>"


@dataclass(frozen=True, eq=False)
class RowRuleFinder:
    """Finds the rules of single rows: bodies of up to `max_conditions` items in `minimum` rows.

    They are for some `labels`, in the training rows with the numbers `rows`, in which these labels
    are known; `items` and `Y` have these rows only.
    """

    items: Items
    Y: Board
    minimum: int
    max_conditions: int
    m: float
    labels: Integers
    rows: Integers
    unit: float = 1.0

    @cached_property
    def correlation(self) -> Floats:
        """For each item its greatest correlation with a label."""
        own = np.arange(len(self.items), dtype=np.int32)
        counts = self._counts(self._everything, own, 0)
        _, weights = self._votes(counts.astype(np.int64))
        return np.asarray(weights.max(axis=1, initial=0.0))

    def explain(
        self, own: Numbers, scores: Floats, presence: Floats, predicted: Board, n_rules: int
    ) -> RowRules:
        """The rules of a row with these items, at most `n_rules` for each label."""
        bodies, body_counts = [], []
        for body, of_body in self._bodies(own, (), self._everything):
            bodies.append(body)
            body_counts.append(of_body)
        counts = np.array(body_counts, dtype=np.int64).reshape(-1, 1 + self.Y.shape[1])
        shares, weights = self._votes(counts)
        votes = []
        for label, number in enumerate(self.labels.tolist()):
            total = max(float(weights[:, label].sum()), 1e-300)
            best = np.argsort(-weights[:, label], kind="stable")[:n_rules].tolist()
            rules = tuple(
                VotingRule(
                    self._rule(bodies[place], label, counts[place]),
                    float(shares[place, label]),
                    float(weights[place, label] / total),
                )
                for place in best
                if weights[place, label] > 0
            )
            values = float(scores[number]), float(presence[number]), bool(predicted[number])
            votes.append(LabelVotes(number, *values, rules))
        return RowRules(self.items.schema, tuple(votes), len(bodies))

    @cached_property
    def _everything(self) -> Bits:
        return packed_rows(np.ones(len(self.Y), dtype=np.bool_))

    @cached_property
    def label_bits(self) -> Bits:
        """For each label the training rows that have it."""
        return np.array([packed_rows(column == 1) for column in self.Y.T])

    def _counts(self, rows: Bits, own: Numbers, minimum: int) -> Integers:
        from labelrules.kernels.mining.bits import count_conditions

        counts = np.empty((len(own), 1 + self.Y.shape[1]), dtype=np.int32)
        count_conditions(rows, self.items.words[own], self.label_bits, minimum, counts)
        return counts.astype(np.int64)

    def _bodies(
        self, own: Numbers, body: tuple[int, ...], rows: Bits
    ) -> Iterator[tuple[tuple[int, ...], Integers]]:
        """All bodies of some of these items that cover enough rows, with counts, depth first."""
        counts = self._counts(rows, own, self.minimum)
        for place in np.flatnonzero(counts[:, 0] >= self.minimum).tolist():
            longer = (*body, int(own[place]))
            yield longer, counts[place]
            if len(longer) < self.max_conditions:
                inside = rows & self.items.words[own[place]]
                yield from self._bodies(own[place + 1 :], longer, inside)

    def _votes(self, counts: Integers) -> tuple[Floats, Floats]:
        from labelrules.kernels.mining.bits import votes_of

        everything = np.concatenate([[len(self.Y)], self.Y.sum(axis=0, dtype=np.int64)])
        shape = (len(counts), self.Y.shape[1])
        shares, weights = np.empty(shape), np.empty(shape)
        votes_of(counts, everything, self.m, shares, weights)
        return shares, weights

    def _rule(self, body: tuple[int, ...], label: int, counts: Integers) -> Rule:
        ones, n_rows = round(self.unit * counts[1 + label]), round(self.unit * counts[0])
        head = Head({int(self.labels[label]): 1}, self.items.schema.n_labels)
        evidence = (Evidence(ones, n_rows - ones),)
        return Rule(head, self.items.body(body), evidence=evidence)

    def __reduce__(self) -> tuple[Any, ...]:
        values = self.items, self.Y, self.minimum, self.max_conditions, self.m
        return RowRuleFinder, (*values, self.labels, self.rows, self.unit)


def items_in_rows(items: Items, X: Matrix) -> Ragged:
    """The items, made of features, that hold for each encoded row, rising."""
    rows: list[Integers] = []
    column, values = -1, np.empty(0)
    for parts in items.conditions:
        if parts[0].column != column:
            column = parts[0].column
            values = column_of(X, column)
        rows.append(np.flatnonzero(np.all([part.holds(values) for part in parts], axis=0)))
    n_held = [len(held) for held in rows]
    ones = np.ones(sum(n_held), dtype=np.int8)
    joined = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    numbers = np.repeat(np.arange(len(items)), n_held)
    table = sparse.csr_array((ones, (joined, numbers)), shape=(X.shape[0], len(items)))
    table.sort_indices()
    return Ragged(table.indptr.astype(np.int64), table.indices.astype(np.int32))


def most_correlated(held: Ragged, correlation: Floats, most: int) -> tuple[Ragged, bool]:
    """At most so many items per row, those with the greatest correlation; and whether some left."""
    kept = [held.values[:0]]
    for start, end in pairwise(held.start):
        own = held.values[start:end]
        if len(own) > most:
            own = np.sort(own[np.argsort(-correlation[own], kind="stable")[:most]])
        kept.append(own)
    start = np.cumsum([len(own) for own in kept])
    return Ragged(start, np.concatenate(kept)), bool((held.lengths > most).any())
