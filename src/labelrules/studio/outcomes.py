"""What rules predict for the rows of a data set, and how good that is."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from labelrules._types import Board
from labelrules.data import Dataset
from labelrules.learners.base.tallies import outcome_counts
from labelrules.measures import Evaluation
from labelrules.measures.evaluation import evaluation_of_counts
from labelrules.rules import (
    DecisionList,
    Evidence,
    LayeredTheory,
    Rule,
    RuleSet,
    Theory,
)
from labelrules.rules.rule_table import table_of
from labelrules.rules.theory import closed


@dataclass(frozen=True, eq=False)
class Outcome:
    """The labels that a theory predicts for some rows, and the truth."""

    truth: Board
    predicted: Board

    @classmethod
    def of(cls, theory: Theory, data: Dataset) -> "Outcome":
        """What a theory predicts for the rows of a data set."""
        return cls(data.Y, closed(cls.written(theory, data)))

    @staticmethod
    def written(theory: Theory, data: Dataset) -> Board:
        """The board that a theory writes."""
        runner = theory if isinstance(theory, LayeredTheory) else table_of(theory)
        return runner.apply(data)

    @cached_property
    def measures(self) -> Evaluation | None:
        """The usual measures; None if no row has a known label."""
        if not (self.truth >= 0).any():
            return None
        return evaluation_of_counts(outcome_counts(self.truth, self.predicted))

    def of_rows(self, rows: npt.NDArray[np.bool_]) -> "Outcome":
        """The same of some rows only."""
        return Outcome(self.truth[rows], self.predicted[rows])


def with_evidence(theory: Theory, data: Dataset) -> Theory:
    """The theory with evidence counted on these rows.

    Rules that vote have it from the rows that they cover, if they lack it; other rules from the
    cells that they write.
    """
    if isinstance(theory, LayeredTheory):
        return theory.with_evidence(data, data.Y)
    if isinstance(theory, DecisionList):
        return theory.with_counts(table_of(theory).run(data), data.Y, data.weights)
    if isinstance(theory, RuleSet):
        counted = theory.with_rules(_voting(rule, data) for rule in theory)
        return counted.numbered(theory.numbers)
    raise TypeError(f"a {type(theory).__name__} has no evidence")


def _voting(rule: Rule, data: Dataset) -> Rule:
    if rule.is_counted:
        return rule
    truth = data.Y[rule.body.covers(data.X, data.empty_board())]
    evidence = []
    for label, value in rule.head:
        right, wrong = ((truth[:, label] == one).sum() for one in (value, 1 - value))
        evidence.append(Evidence(int(right), int(wrong)))
    return rule.with_evidence(evidence)
