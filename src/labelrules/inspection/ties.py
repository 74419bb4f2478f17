"""What rules say about pairs of labels: how many, of which sign, and how often rightly."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from labelrules._types import Floats, Integers
from labelrules.rules import Rule


class Ties(NamedTuple):
    """Counts of labels by labels: rules that tell the first by testing the second."""

    rules: Integers
    """How many."""
    same: Integers
    """Those that tell presence by presence, or absence by absence."""
    opposite: Integers
    """Those that tell presence by absence, or absence by presence."""
    right: Integers
    """How often they were right, by their evidence for the label that they tell."""
    wrong: Integers
    """How often they were wrong."""

    @property
    def support(self) -> Integers:
        """How often the rules wrote the label; 0 also if they have no evidence."""
        return self.right + self.wrong

    @property
    def strength(self) -> Floats:
        """The share of it that was right; NaN where there is no evidence."""
        found = np.full(self.right.shape, np.nan)
        np.divide(self.right, self.support, out=found, where=self.support > 0)
        return found

    def sign(self, told: int, tested: int) -> str:
        """``"+"``, ``"-"``, both, or nothing where there is no rule."""
        return "+" * bool(self.same[told, tested]) + "-" * bool(self.opposite[told, tested])

    def plus(self, other: "Ties") -> "Ties":
        """The counts of both together."""
        return Ties(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def counted_ties(rules: Iterable[Rule], n_labels: int) -> Ties:
    """Count what these rules tell by which labels.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> schema = load("magazines").schema
    >>> ties = counted_ties(parse("not sports (3/1) <- fashion", schema), schema.n_labels)
    >>> ties.opposite[3, 2], ties.strength[3, 2]
    (np.int64(1), np.float64(0.75))
    """
    ties = Ties(*np.zeros((len(Ties._fields), n_labels, n_labels), dtype=np.int64))
    for rule in rules:
        signs: dict[int, set[int]] = {}
        for condition in rule.body.on_labels:
            signs.setdefault(condition.column, set()).add(int(condition.value))
        for told, value in rule.head:
            right, wrong = rule.evidence_for(told) or (0, 0)
            for tested, values in signs.items():
                ties.rules[told, tested] += 1
                ties.same[told, tested] += value in values
                ties.opposite[told, tested] += 1 - value in values
                ties.right[told, tested] += right
                ties.wrong[told, tested] += wrong
    return ties
