"""Progress reports of learners, and Ctrl-C: what a learner has learned so far is kept."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from time import monotonic
from typing import Any, TypeAlias

import numpy as np

from labelrules._checks import counted
from labelrules._compiling import learning_clock
from labelrules.rules import Rule

Listener: TypeAlias = Callable[[Any], object]
"""A function that is called with each report; a report has a `share` and a text."""


@dataclass(frozen=True)
class Progress:
    """The progress of a learner of one decision list.

    Attributes
    ----------
    n_rules : int
        Rules in the list.
    n_open, n_cells : int
        Cells of the training rows that no rule has written yet, and all cells.
    value : float
        The value of the last rule by the measure, before it was pruned.
    rule : Rule
        The last rule.
    n_found, n_sought : int
        Of the cells with a value that rules predict, which for most labels is presence, those that
        rules have written rightly, and all. If none are sought, the written cells are the work.
    most_rules : int, optional
        The length at which the list ends.
    """

    n_rules: int
    n_open: int
    n_cells: int
    value: float
    rule: Rule
    n_found: int = 0
    n_sought: int = 0
    most_rules: int | None = None

    @property
    def share(self) -> float:
        """The share of the work that is done, from 0 to 1."""
        if not self.n_sought:
            return 1 - self.n_open / self.n_cells
        of_list = self.n_rules / self.most_rules if self.most_rules else 0.0
        return min(max(self.n_found / self.n_sought, of_list), 1.0)

    def __str__(self) -> str:
        return f"{counted(self.n_rules, 'rule')}, last one {self.value:.3f}"


@dataclass(frozen=True)
class LabelProgress:
    """The progress of a learner of one model for each label.

    Attributes
    ----------
    n_done, n_labels : int
        Labels that are finished, and all labels, in this phase.
    label : str
        The label that was finished last.
    phase : str
        What the models are learned for, such as "layer 2".
    """

    n_done: int
    n_labels: int
    label: str
    phase: str

    @property
    def share(self) -> float:
        """The share of this phase that is done, from 0 to 1."""
        return self.n_done / self.n_labels

    def __str__(self) -> str:
        return f"{self.phase}: {self.n_done} of {self.n_labels} labels, last one {self.label}"


@dataclass(frozen=True)
class CardProgress:
    """The progress of a learner of scorecards.

    Attributes
    ----------
    n_done, n_cards : int
        Scorecards that are finished, and all: the one that is kept, and those by which its
        decisions are tuned.
    n_conditions : int
        Conditions of the one that is kept, so far.
    """

    n_done: int
    n_cards: int
    n_conditions: int

    @property
    def share(self) -> float:
        """The share of the scorecards that are finished, from 0 to 1."""
        return self.n_done / self.n_cards

    def __str__(self) -> str:
        kept = counted(self.n_conditions, "condition")
        return f"{self.n_done} of {self.n_cards} scorecards, {kept}"


def check_progress(progress: Any) -> None:
    """Refuse a value of `progress` that is neither True nor False nor a function."""
    if not (callable(progress) or isinstance(progress, bool | np.bool_)):
        raise ValueError(f"progress must be True, False or a function, not {progress!r}")


@contextmanager
def progress_listener(progress: "bool | Listener") -> Iterator[Listener]:
    """The function to call with each report: that given, a progress bar, or one without effect."""
    check_progress(progress)
    with ExitStack() as stack:
        listener: Listener = lambda report: None  # noqa: E731
        if callable(progress):
            listener = progress
        elif progress:
            listener = stack.enter_context(progress_bar("learning"))
        before = _listening.set(listener)
        try:
            yield listener
        finally:
            _listening.reset(before)


_listening: ContextVar[Any] = ContextVar("who hears of the progress", default=None)


def phase(text: str) -> None:
    """Say what a learner does before, between and after its reports.

    It is shown by progress bars; functions of users are called with reports only.
    """
    listener = _listening.get()
    if hasattr(listener, "phase") and not is_nested_fit():
        listener.phase(text)


class _ShownBar:
    """Shows reports and phases by a bar of rich."""

    def __init__(self, bar: Any, title: str, total: float | None) -> None:
        self.bar, self.task, self.last = bar, bar.add_task(title, total=total), title

    def __call__(self, report: Any) -> None:
        self.last = str(report)
        self.bar.update(self.task, completed=report.share, description=self.last)

    def phase(self, text: str) -> None:
        """What happens now."""
        self.bar.update(self.task, description=text)

    def end(self) -> None:
        """What stays on the screen: the last report."""
        self.bar.update(self.task, description=self.last)


class _ShownText:
    """Shows reports and phases in a notebook by one line of text, which is replaced."""

    def __init__(self, title: str) -> None:
        from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

        self.started, self.last, self.share = monotonic(), -inf, ""
        show: Any = display  # without types in some versions
        self.handle = show(self._line(title), raw=True, display_id=True)

    def __call__(self, report: Any) -> None:
        self.share = f"{report.share:.0%} "
        self._show(str(report))

    def phase(self, text: str) -> None:
        """What happens now."""
        self._show(text)

    def _show(self, text: str) -> None:
        if monotonic() - self.last >= 1 / TEXTS_PER_SECOND:
            self.last = monotonic()
            self.handle.update(self._line(text), raw=True)

    def _line(self, text: str) -> dict[str, str]:
        return {"text/plain": f"{self.share}{text} · {monotonic() - self.started:.0f} s"}

    def end(self) -> None:
        """Show that the work has ended."""
        self.last = -inf
        self._show("finished")


TEXTS_PER_SECOND = 5
"""How often a line in a notebook is replaced at most."""


@contextmanager
def progress_bar(title: str, total: float | None = 1.0, **options: Any) -> Iterator[Listener]:
    """A bar in the terminal or notebook; `total` is None for work without reports (time only).

    In a notebook without ipywidgets, which rich needs there, a line of text that is replaced.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    if options.get("console", Console()).is_jupyter and find_spec("ipywidgets") is None:
        line = _ShownText(title)
        try:
            yield line
        finally:
            line.end()
        return
    share = [] if total is None else [TextColumn("{task.percentage:>3.0f}%")]
    text = TextColumn("{task.description}", markup=False)
    # Compiling is not learning, so the clock stands still meanwhile.
    columns = BarColumn(), *share, text, TimeElapsedColumn()
    with Bar(*columns, get_time=learning_clock, **options) as bar:
        shown = _ShownBar(bar, title, total)
        yield shown
        shown.end()


_nested = ContextVar("this fit is part of another", default=False)


class LearningInterrupted(UserWarning):
    """Learning ended before it was finished; what was learned so far is kept."""


@contextmanager
def nested_fit() -> Iterator[None]:
    """Within this block learners are part of another learner, which alone handles Ctrl-C."""
    token = _nested.set(True)
    try:
        yield
    finally:
        _nested.reset(token)


def is_nested_fit() -> bool:
    """Whether another learner handles Ctrl-C for this one."""
    return _nested.get()


def warn_of_early_end(reason: str, kept: str) -> None:
    """Warn the caller of this package why learning ended early, and what is kept."""
    warnings.warn(
        f"learning ended early because {reason}; {kept}",
        LearningInterrupted,
        stacklevel=levels_to_caller(),
    )


def rules_so_far(number: int, has_default: bool = True) -> str:
    """What is kept of a list, for a warning; a default rule may end the list."""
    if number == 0:
        kept = "only the default rule is" if has_default else "none is"
        return f"no rule was learned yet, so {kept} kept"
    if number == 1:
        return "the rule learned so far is kept"
    return f"the {number} rules learned so far are kept"


def lost_rows(error: Exception, n_rules: int) -> Exception:
    """What to raise once the rules so far are kept: rows were lost while they were learned from."""
    lost = type(error)(f"{error}; {rules_so_far(n_rules)} in theory_")
    lost.__cause__ = error
    return lost


def levels_to_caller() -> int:
    """The number of stack frames up to the caller of this package, for `warnings.warn`."""
    frame, level = sys._getframe(1), 1
    inside = ("labelrules.", "contextlib")  # which runs what `heard_interrupts` decorates
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(inside):
        frame, level = frame.f_back, level + 1
    return level
