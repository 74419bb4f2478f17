"""The rules that are worked on: a present state, its revisions, and learning in the background."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeAlias

from labelrules.studio import Editor, LearningCancelledError
from labelrules.studio.edit_files import EditConflictError, write_edits

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
