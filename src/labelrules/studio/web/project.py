"""The rules that are worked on: a present state, its counts, and learning in the background."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from labelrules._types import UNSET, Board, Integers
from labelrules.data import Dataset
from labelrules.data.document import FrozenRecord
from labelrules.inspection import estimate
from labelrules.rules import Evidence, Theory
from labelrules.rules.run import PartRun, TheoryRun, WrittenRows
from labelrules.rules.theory import closed
from labelrules.studio import EditedRule, Editor, LearningCancelledError
from labelrules.studio.edit_files import EditConflictError, write_edits
from labelrules.studio.edit_history import Outcome

LOWER_IS_BETTER = ("Hamming loss",)
"""Measures that are losses."""


class RuleCounts(FrozenRecord, frozen=True):
    """How often a rule is right and wrong, the share of right, and its 95 % interval."""

    right: int
    wrong: int
    share: float
    low: float
    high: float


def counted_of(right: int, wrong: int) -> RuleCounts:
    """The counts with their interval.

    >>> counted_of(9, 1)
    RuleCounts(right=9, wrong=1, share=0.9, low=0.59..., high=0.98...)
    """
    made = estimate(Evidence(right, wrong))
    share = right / (right + wrong) if right + wrong else 0.0
    return RuleCounts(right, wrong, share, made.low, made.high)


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

    def of_rule(self, place: int) -> RuleCounts:
        """The counts of a rule, over all labels of its head; places are counted from 0."""
        right, wrong = self.counts[:, :, place].sum(axis=1).tolist()
        return counted_of(right, wrong)

    def of_label(self, place: int, label: int) -> RuleCounts:
        """The counts of a rule for one label."""
        right, wrong = self.counts[:, label, place].tolist()
        return counted_of(right, wrong)

    def alone(self, place: int, label: int) -> RuleCounts:
        """The counts of a rule for one label in all rows that its body covers.

        Other rules may decide them first. Labels are tested as they are when its turn comes.
        """
        part, number = self.run.part_of(place)
        value, truth = dict(part.rules[number].head)[label], self.data.Y[:, label]
        return counted_of(*Evidence.of_cells(part.covered(number), value, truth))

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
    """Counts of the rules of an editor on its training and validation rows."""

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


Change: TypeAlias = Callable[[Editor], Editor]

STATES_KEPT = 50
"""Older states that are kept, to show what has changed since a form was made."""


class State(NamedTuple):
    """An editor, which never changes, and its number, which grows with every change."""

    revision: int
    editor: Editor


class ConflictError(ValueError):
    """A change was asked for on an older state than the present one."""

    def __init__(self, made_from: State | None, present: State) -> None:
        super().__init__("the rules have been changed since this page was made")
        self.made_from, self.present = made_from, present


class Project:
    """The present state of the rules, one for all pages and clients.

    Reading needs no lock, since editors are values; changes are applied one after the other, and
    each is written to the project file before it is seen.

    Parameters
    ----------
    editor : Editor
    path : Path, optional
        The project file; without it nothing is written. If the editor was loaded from it, it is
        left as it is until something changes.
    """

    def __init__(self, editor: Editor, path: Path | None = None) -> None:
        self.state = State(1, editor.draft())
        self.job = Job()
        self.reading = Lock()  # around calls that use results that editors share and keep
        self.path = path
        self._states: OrderedDict[int, State] = OrderedDict({1: self.state})
        self._n_jobs = 0
        self._lock = Lock()
        if path is not None and editor.path != path:
            self.state.editor.save(path)

    def apply(self, revision: int, change: Change) -> State:
        """Apply a change to the state with this number, which must be the present one."""
        with self._lock:
            self._check_present(revision)
            return self._put(change(self.state.editor))

    def _check_present(self, revision: int) -> None:
        if revision != self.state.revision:
            raise ConflictError(self._states.get(revision), self.state)

    def _put(self, editor: Editor) -> State:
        self._write(editor)
        self.state = State(self.state.revision + 1, editor)
        self._states[self.state.revision] = self.state
        while len(self._states) > STATES_KEPT:
            self._states.popitem(last=False)
        return self.state

    def _write(self, editor: Editor) -> None:
        if self.path is not None:
            with _said_here():
                write_edits(editor.session, editor.history, self.path, self.state.editor.history)

    def open_test(self, revision: int, reason: str) -> None:
        """Measure the present rules on the test part; the look is counted and written."""
        with self._lock:
            self._check_present(revision)
            editor = replace(self.state.editor, path=self.path)
            with self.reading, _said_here():
                editor.open_test(reason)

    def at(self, revision: int) -> State | None:
        """The state with this number, if it is still known."""
        return self._states.get(revision)

    def learn(self, revision: int, about: str, change: Callable[[Editor, Any], Editor]) -> None:
        """Begin to learn in the background; the result is a proposal until it is accepted."""
        with self._lock:
            self._check_present(revision)
            if self.job.is_running:
                raise BusyError("rules are being learned already: wait for them, or cancel")
            if self.job.proposal is not None:
                raise BusyError("newly learned rules are waiting: accept them, or drop them, first")
            self._n_jobs += 1
            self.job = Job(about, self.state, self._n_jobs)
            self.job.start(change)

    def accept(self, revision: int, number: int) -> State:
        """Make the proposal of a job, given by its number, the present state."""
        with self._lock:
            job = self._job(number)
            if job.proposal is None or job.base is None:
                raise BusyError("there are no newly learned rules to accept")
            if revision != self.state.revision or job.base.revision != revision:
                raise ConflictError(job.base, self.state)
            state = self._put(job.proposal)
            self.job = Job()
            return state

    def drop(self, number: int) -> None:
        """Cancel a job, or forget its result; the rules stay as they are."""
        with self._lock:
            if self.job.base is not None:
                self._job(number).cancel()
            self.job = Job()

    def _job(self, number: int) -> "Job":
        """The present job, if it is the one with this number, which somebody has seen."""
        if self.job.base is not None and self.job.number != number:
            raise BusyError(
                "other rules have been learned since this page was made: look at them first"
            )
        return self.job


@contextmanager
def _said_here() -> Iterator[None]:
    """A conflict about the project file with what to do in the workbench."""
    try:
        yield
    except EditConflictError as wrong:
        raise BusyError(
            f"{wrong.path}: {wrong.facts}. Nothing was written: start the workbench again to go on "
            "from the file, and make this change again"
        ) from None


class BusyError(ValueError):
    """What is asked for does not fit what is going on; the answer has the status 409."""


@dataclass(eq=False)
class Job:
    """Learning in the background; without a base nothing is learned."""

    about: str = ""
    base: State | None = None
    number: int = 0
    share: float = 0.0
    text: str = "starting"
    proposal: Editor | None = None
    error: str = ""
    is_running: bool = False
    _is_cancelled: bool = field(default=False, repr=False)

    def start(self, change: Callable[[Editor, Any], Editor]) -> None:
        """Learn in a thread of its own."""
        self.is_running = True
        Thread(target=self._run, args=(change,), daemon=True, name="learning").start()

    def cancel(self) -> None:
        """Stop at the next report of progress; the result is not kept."""
        self._is_cancelled = True

    def __call__(self, report: Any) -> bool:
        """Hear of the progress of the learner; False ends it."""
        self.share, self.text = float(report.share), str(report)
        return not self._is_cancelled

    def _run(self, change: Callable[[Editor, Any], Editor]) -> None:
        assert self.base is not None
        try:
            proposal = change(self.base.editor, self)
            if not self._is_cancelled:
                self.proposal = proposal
        except LearningCancelledError:
            self.text = "cancelled"
        except (ValueError, TypeError, MemoryError, RecursionError) as wrong:
            self.error = str(wrong) or type(wrong).__name__
        except Exception as wrong:  # the thread must not die in silence
            self.error = f"learning failed: {type(wrong).__name__}: {wrong}"
        finally:
            self.is_running = False
