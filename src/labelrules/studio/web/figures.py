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
from labelrules.rules import DecisionList, Evidence, LayeredTheory, RuleTable, Theory
from labelrules.rules.rule import written_cells
from labelrules.rules.run import PartRun, part_runs
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


class WrittenRows(NamedTuple):
    """Rows in which a rule decides a label, by what is true there."""

    right: Integers
    wrong: Integers
    unknown: Integers


@dataclass(frozen=True, eq=False)
class PartFigures:
    """What a theory does on one part of the data.

    `runs` are those of its decision lists; the rules of sets all vote, so none decides alone.
    """

    theory: Theory
    data: Dataset
    board: Board
    runs: tuple[PartRun, ...]

    @cached_property
    def predicted(self) -> Board:
        """The labels of the rows, 0 or 1."""
        return closed(self.board)

    @cached_property
    def measures(self) -> dict[str, float]:
        """The usual measures; none if no label of any row is known."""
        return dict(Outcome(self.data.Y, self.predicted).measures or {})

    @cached_property
    def counts(self) -> Integers:
        """Right and wrong cells, by labels and rules."""
        found = np.zeros((2, self.theory.schema.n_labels, len(self.theory)), np.int64)
        for part in self.runs:
            run = part.run
            n_rules = int(run.writer.max(initial=-1)) + 1
            counts = written_cells(run.board, run.writer, self.data.Y, n_rules)
            found[:, :, part.start : part.start + n_rules] = counts
        return found

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
        part = max((one for one in self.runs if one.start <= place), key=lambda one: one.start)
        number = place - part.start
        rule = part.rules[number]
        board = part.board_before(number) if rule.body.on_labels else part.run.board
        covered = rule.body.covers(self.data.X, board)
        covered = covered if part.waiting is None else covered & part.waiting
        truth = self.data.Y[covered, label]
        right = int((truth == dict(rule.head)[label]).sum())
        return counted_of(right, int((truth != UNSET).sum()) - right)

    def rows_of(self, place: int, label: int) -> WrittenRows:
        """The rows in which a rule decides a label."""
        for part in self.runs:
            run = part.run
            wrote = run.writer[:, label] == place - part.start
            if place >= part.start and wrote.any():
                truth = self.data.Y[:, label]
                is_right = run.board[:, label] == truth
                is_known = truth != UNSET
                return WrittenRows(
                    np.flatnonzero(wrote & is_right),
                    np.flatnonzero(wrote & is_known & ~is_right),
                    np.flatnonzero(wrote & ~is_known),
                )
        nothing = np.empty(0, np.int64)
        return WrittenRows(nothing, nothing, nothing)

    @cached_property
    def wrong_rows(self) -> Integers:
        """Rows in which some known label is predicted wrongly."""
        is_wrong = (self.predicted != self.data.Y) & (self.data.Y != UNSET)
        return np.flatnonzero(is_wrong.any(axis=1))


def part_figures(theory: Theory, data: Dataset) -> PartFigures:
    """Apply a theory to rows, and note which rule decides what."""
    if isinstance(theory, LayeredTheory):
        run = theory.run(data)
        runs = [part for part in part_runs(theory, data, run) if part.rules.ordered]
        return PartFigures(theory, data, run.board, tuple(runs))
    table = RuleTable(theory)
    if not isinstance(theory, DecisionList):
        return PartFigures(theory, data, table.apply(data), ())
    done = table.run(data)
    return PartFigures(theory, data, done.board, (PartRun(theory, 0, done, None, None),))


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
