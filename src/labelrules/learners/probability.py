"""How probable it is that a label is present, by the evidence of the rule that said so."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Annotated, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data.document import Count, DocumentError, Record
from labelrules.rules import DecisionList, Evidence, Rule
from labelrules.rules.theory import Run

Smoothing: TypeAlias = Literal["laplace"] | float
"""Laplace's estimate, or the m of the m-estimate."""

Estimate: TypeAlias = Callable[[Evidence, int], float]
"""From the cells with and without a label, and the label, to its probability."""


def check_smoothing(smoothing: object) -> None:
    """Refuse what is neither "laplace" nor a number above 0."""
    if isinstance(smoothing, str) and smoothing == "laplace":
        return
    is_number = isinstance(smoothing, Real) and not isinstance(smoothing, bool)
    if not (is_number and isfinite(smoothing) and smoothing > 0):  # type: ignore[arg-type, operator]
        raise ValueError(
            f"smoothing must be 'laplace', or a number above 0 for the m-estimate, "
            f"not {smoothing!r}"
        )


class BackgroundRecord(Record):
    """For each label the cells that no rule wrote, with it and without, and its share of rows."""

    ones: list[Count]
    zeros: list[Count]
    share: list[Annotated[float, Meta(gt=0, lt=1)]]


@dataclass(frozen=True, eq=False)
class Background:
    """What the training rows say about labels apart from the rules.

    Parameters
    ----------
    ones, zeros : array of int
        For each label the cells that no rule wrote, with the label and without it.
    share : array of float
        For each label the share of all rows that have it, by Laplace's estimate, so
        that nothing is impossible.
    """

    ones: Integers
    zeros: Integers
    share: Floats

    @classmethod
    def count(cls, board: Board, truth: Board) -> "Background":
        """Count the cells that are still open."""
        is_open = board == UNSET
        ones = (is_open & (truth == 1)).sum(axis=0)
        present = truth.sum(axis=0, dtype=np.float64)
        return cls(ones, is_open.sum(axis=0) - ones, (present + 1.0) / (len(truth) + 2.0))

    @property
    def record(self) -> BackgroundRecord:
        """The same for a file."""
        return BackgroundRecord(*(one.tolist() for one in (self.ones, self.zeros, self.share)))

    @classmethod
    def of(cls, record: BackgroundRecord, n_labels: int) -> "Background":
        """From a file; `n_labels` numbers of each kind."""
        for name in ("ones", "zeros", "share"):
            if len(getattr(record, name)) != n_labels:
                message = f"must have a number for each of {n_labels} labels"
                raise DocumentError(f".background.{name}", message)
        ones, zeros = (np.array(one, dtype=np.int64) for one in (record.ones, record.zeros))
        return cls(ones, zeros, np.array(record.share, dtype=np.float64))

    def estimate(self, smoothing: Smoothing) -> Estimate:
        """Laplace's estimate, or the m-estimate with the label's share as prior."""
        if isinstance(smoothing, str):
            return lambda cells, label: cells.probability()
        m = float(smoothing)
        return lambda cells, label: cells.probability(m, float(self.share[label]))


def presence(
    theory: DecisionList, run: Run, background: Background, smoothing: Smoothing
) -> Floats:
    """For each cell the probability that the label is present.

    A cell has the probability of the rule that wrote it, from the evidence for that
    label; a cell that nobody wrote, that of the training cells that nobody wrote.
    """
    estimate = background.estimate(smoothing)
    by_label: list[list[tuple[int, float]]] = [[] for _ in background.ones]
    for number, rule in enumerate(theory):
        for label, cells in _with_and_without(rule):
            by_label[label].append((number, estimate(cells, label)))
    found = np.empty(run.board.shape)
    for label, of_rules in enumerate(by_label):
        nobody = Evidence(int(background.ones[label]), int(background.zeros[label]))
        lookup = np.full(len(theory) + 1, estimate(nobody, label))  # writer -1 is its last place
        for number, probability in of_rules:
            lookup[number] = probability
        found[:, label] = lookup[run.writer[:, label]]
    return found


def _with_and_without(rule: Rule) -> list[tuple[int, Evidence]]:
    """For each label of the head the cells written that have the label, and those that do not."""
    evidence = rule.evidence or (Evidence(0, 0),) * len(rule.head)
    return [
        (label, cells if value else Evidence(cells.wrong, cells.right))
        for (label, value), cells in zip(rule.head, evidence, strict=True)
    ]
