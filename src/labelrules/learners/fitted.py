"""Layers of fitted classifiers, asked as layers of rules are."""

from collections.abc import Sequence

import numpy as np

from labelrules._types import Board, Floats, Matrix
from labelrules.learners.members import Fitted
from labelrules.rules import Run
from labelrules.rules.inference import Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.rounds import (
    Numbers,
    Rounds,
    label_by_label,
    nobody,
    nothing_known,
    sampled,
    until_stable,
)


class FittedColumn:
    """A classifier for one label, and the rows it is asked about."""

    def __init__(self, member: Fitted, X: Matrix) -> None:
        self.label, self.member, self.X = member.job.label, member, X

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """The cells of the label; no rule wrote them."""
        return self.member.cells(self.X, seen), np.full(len(seen), -1, dtype=np.int32)

    def presence(self, seen: Board) -> Floats:
        """How probable it is that the label is present."""
        return self.member.presence(self.X, seen)


class FittedReader:
    """A classifier for each label, and the rows they are asked about.

    Parameters
    ----------
    members : sequence of Fitted
        In the order of the labels.
    X : matrix
        Features as numbers.
    """

    def __init__(self, members: Sequence[Fitted], X: Matrix) -> None:
        self.columns = [FittedColumn(member, X) for member in members]
        self.nothing: Board = np.zeros((X.shape[0], len(members)), dtype=np.int8)

    def read(self, seen: Board | None) -> Run:
        """What the classifiers say when they see these labels, or none."""
        labels = self.nothing if seen is None else seen
        board = self.nothing.copy()
        for column in self.columns:
            board[:, column.label] = column.read(labels)[0]
        return Run(board, *nobody(board))

    def presence(self, seen: Board | None) -> Floats:
        """How probable each label is, given these."""
        labels = self.nothing if seen is None else seen
        found = np.zeros(labels.shape)
        for column in self.columns:
            found[:, column.label] = column.presence(labels)
        return found

    def ask(self, way: Inference, seen: Board | None) -> Rounds:
        """Ask the classifiers in one of the ways there are."""
        if isinstance(way, UntilStable):
            return until_stable(self, way.max_rounds, seen)
        if isinstance(way, Once):
            run = self.read(seen)
            return Rounds(run, *nothing_known(run.board))
        start = self.nothing if seen is None else seen
        if isinstance(way, LabelByLabel):
            order = way.labels(len(self.columns))
            return label_by_label(self.columns, order, way.max_rounds, start)
        return sampled(self.columns, way, start)
