"""Counts that the pages show: what each rule does on the rows, made once for each state."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np

from labelrules._types import UNSET, Board, Integers
from labelrules.data import Dataset
from labelrules.inspection import estimate
from labelrules.rules import Evidence, Theory
from labelrules.rules.run import PartRun, TheoryRun, WrittenRows
from labelrules.rules.theory import closed
from labelrules.studio import EditedRule, Editor
from labelrules.studio.outcomes import Outcome

LOWER_IS_BETTER = ("Hamming loss",)
"""Measures that are losses."""


class Counted(NamedTuple):
    """How often a rule was right and wrong, and the precision with its 95 % interval."""

    right: int
    wrong: int
    share: float
    low: float
    high: float


def counted_of(right: int, wrong: int) -> Counted:
    """The counts with their interval.

    >>> counted_of(9, 1)
    Counted(right=9, wrong=1, share=0.9, low=0.59..., high=0.98...)
    """
    made = estimate(Evidence(right, wrong))
    share = right / (right + wrong) if right + wrong else 0.0
    return Counted(right, wrong, share, made.low, made.high)


@dataclass(frozen=True, eq=False)
class PartFigures:
    """What a theory does on one part of the data; rules of sets all vote: none decides alone."""

    theory: Theory
    data: Dataset
    run: TheoryRun

    @property
    def runs(self) -> list[PartRun]:
        """The runs of its decision lists."""
        return [part for part in self.run.parts if part.rules.ordered]

    @cached_property
    def predicted(self) -> Board:
        """The labels of the rows, 0 or 1."""
        return closed(self.run.board)

    @cached_property
    def measures(self) -> dict[str, float]:
        """The usual measures; none if no label of any row is known."""
        return dict(Outcome(self.data.Y, self.predicted).measures or {})

    @cached_property
    def counts(self) -> Integers:
        """Right and wrong cells, by labels and rules."""
        return self.run.evidence(self.data.Y)

    def of_rule(self, place: int) -> Counted:
        """The counts of a rule, over all labels of its head; places are counted from 0."""
        right, wrong = self.counts[:, :, place].sum(axis=1).tolist()
        return counted_of(right, wrong)

    def of_label(self, place: int, label: int) -> Counted:
        """The counts of a rule for one label."""
        right, wrong = self.counts[:, label, place].tolist()
        return counted_of(right, wrong)

    def alone(self, place: int, label: int) -> Counted:
        """The counts of a rule for one label in all rows that its body covers.

        Other rules may decide them first. Labels are tested as they are when its turn comes.
        """
        part, number = self.run.part_of(place)
        rule, covered = part.rules[number], part.covered(number)
        truth = self.data.Y[covered, label]
        right = int((truth == dict(rule.head)[label]).sum())
        return counted_of(right, int((truth != UNSET).sum()) - right)

    def rows_of(self, place: int, label: int) -> WrittenRows:
        """The rows in which a rule decides a label."""
        part, number = self.run.part_of(place)
        return part.written_rows(number, label, self.data.Y)

    @cached_property
    def wrong_rows(self) -> Integers:
        """Rows in which some known label is predicted wrongly."""
        is_wrong = (self.predicted != self.data.Y) & (self.data.Y != UNSET)
        return np.flatnonzero(is_wrong.any(axis=1))


def part_figures(theory: Theory, data: Dataset) -> PartFigures:
    """Apply a theory to rows, and note which rule decides what."""
    return PartFigures(theory, data, TheoryRun.of(theory, data))


@dataclass(frozen=True, eq=False)
class Figures:
    """What the rules of an editor do on its training and validation rows."""

    editor: Editor

    @cached_property
    def rules(self) -> tuple[EditedRule, ...]:
        """The rules with their marks."""
        return self.editor.rules

    @property
    def n_disabled(self) -> int:
        """How many rules are left out of the theory."""
        return sum(one.disabled for one in self.rules)

    @cached_property
    def places(self) -> dict[int, int]:
        """From the number of each rule that is not disabled to its place in the theory, from 0."""
        enabled = [one.number for one in self.rules if not one.disabled]
        return {number: place for place, number in enumerate(enabled)}

    @cached_property
    def training(self) -> PartFigures:
        """On the rows that the rules were learned from."""
        return part_figures(self.editor.theory, self.editor.data)

    @cached_property
    def validation(self) -> PartFigures | None:
        """On rows that were held out; None without any."""
        rows = self.editor.validation
        return None if rows is None else part_figures(self.editor.theory, rows)

    @property
    def parts(self) -> dict[str, PartFigures]:
        """The parts by their names."""
        held_out = self.validation
        return {"training": self.training} | ({} if held_out is None else {"validation": held_out})


STATES_COUNTED = 6
"""Figures that are kept: each has whole boards of the rows."""

_kept: OrderedDict[int, Figures] = OrderedDict()
_lock = Lock()


def figures_of(editor: Editor) -> Figures:
    """The figures of an editor; those of the last states that were asked for are kept."""
    with _lock:
        found = _kept.setdefault(id(editor), Figures(editor))  # which keeps the editor
        _kept.move_to_end(id(editor))
        if len(_kept) > STATES_COUNTED:
            _kept.popitem(last=False)
    return found
