"""What learning says while it goes on, and how a model came about."""

import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from importlib.util import find_spec
from math import inf
from time import monotonic
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from labelrules._checks import counted
from labelrules._compiling import compiling_seconds, learning_clock
from labelrules.data import Dataset, Schema
from labelrules.data.fingerprints import fingerprint
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


LOGGER = logging.getLogger("labelrules")
LOGGER.addHandler(logging.NullHandler())

Fit = TypeVar("Fit", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class About:
    """How a model came about; fields that are not known are None.

    Attributes
    ----------
    version : str
        The version of labelrules that has learned it, or written the file of a theory.
    learned : datetime, optional
        When `fit` has ended, in UTC, to the second.
    data : str, optional
        The fingerprint of the training data: see :func:`labelrules.data.fingerprint`.
    data_name : str, optional
        The name of the data set, if it had one.
    n_rows, n_features, n_labels : int, optional
        The size of the training data.
    seconds, cpu_seconds : float, optional
        Wall time and processor time of `fit`; the latter of this process with all its threads,
        without worker processes.
    peak_memory : int, optional
        The most memory that the process had held when `fit` ended, in bytes, as the operating
        system counts it; it does not say what else the process had done before.
    edited : str, optional
        Of a model whose rules were edited: in how many steps, by whom, and which version it is.
    author, notes : str, optional
        As they were given to :func:`labelrules.save`.
    """

    version: str
    learned: datetime | None = None
    data: str | None = None
    data_name: str | None = None
    n_rows: int | None = None
    n_features: int | None = None
    n_labels: int | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    edited: str | None = None
    author: str | None = None
    notes: str | None = None

    def signed(self, author: str | None, notes: str | None) -> "About":
        """Replace author and notes, where they are given."""
        return replace(self, author=author or self.author, notes=notes or self.notes)

    def __str__(self) -> str:
        lines = ((name, text.replace("\n", f"\n{'':12}")) for name, text in self._lines() if text)
        return "\n".join(f"{name:<12}{text}" for name, text in lines)

    def _lines(self) -> list[tuple[str, str | None]]:
        when = None if self.learned is None else f"{self.learned:%Y-%m-%d %H:%M:%S} UTC"
        return [
            ("labelrules", self.version),
            ("learned", when),
            ("data", self._data_text()),
            ("fingerprint", self.data),
            ("time", self._time_text()),
            ("memory", self._memory_text()),
            ("edited", self.edited),
            ("author", self.author),
            ("notes", self.notes),
        ]

    def _data_text(self) -> str | None:
        if self.n_rows is None:
            return self.data_name
        sizes = {"row": self.n_rows, "feature": self.n_features, "label": self.n_labels}
        text = ", ".join(counted(number, noun) for noun, number in sizes.items() if number)
        return f"{self.data_name}: {text}" if self.data_name else text

    def _memory_text(self) -> str | None:
        return None if self.peak_memory is None else f"{self.peak_memory / 2**20:,.0f} MiB at most"

    def _time_text(self) -> str | None:
        if self.seconds is None:
            return None
        return f"{self.seconds:.3g} s" + (
            "" if self.cpu_seconds is None else f", {self.cpu_seconds:.3g} s of processor time"
        )


class TrainingTable(Protocol):
    """What `fit` notes of its data: a data set, partitions, or what else a learner takes."""

    @property
    def name(self) -> str:
        """The name, or nothing."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def schema(self) -> Schema:
        """The names of features and labels."""


class _Learning:
    """A call of `fit` that is going on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.data: TrainingTable | None = None
        self.start = learning_clock(), time.process_time()
        self.compiled = compiling_seconds()

    def note(self, data: TrainingTable) -> None:
        """Take note of the training data: the first, since parts may learn from parts of them."""
        if self.data is not None:
            return
        self.data = data
        LOGGER.info("%s: learning from %s", self.name, _sizes(data))

    def about(self) -> About:
        """What is to be kept about this call, which has ended."""
        # Compiling is not learning; it takes as much processor time as time.
        seconds = learning_clock() - self.start[0]
        cpu = time.process_time() - self.start[1] - (compiling_seconds() - self.compiled)
        about = About(
            version=library_version(),
            learned=datetime.now(UTC).replace(microsecond=0),
            seconds=round(seconds, 6),
            cpu_seconds=round(max(cpu, 0.0), 6),
            peak_memory=_peak_memory(),
        )
        if self.data is None:
            return about
        return replace(
            about,
            data=_fingerprint_of(self.data),
            data_name=self.data.name or None,
            n_rows=self.data.n_rows,
            n_features=self.data.schema.n_features,
            n_labels=self.data.schema.n_labels,
        )


def _fingerprint_of(data: TrainingTable) -> str | None:
    """The fingerprint of the training data; partitions have none, since it goes by columns."""
    known: str | None = getattr(data, "fingerprint", None)
    return fingerprint(data) if isinstance(data, Dataset) else known


_current: ContextVar[_Learning | None] = ContextVar("_current", default=None)


def recorded(fit: Fit) -> Fit:
    """Make `fit` keep how the model came about in `about_`, and log its start and its end.

    Of learners within learners only the outermost does.
    """

    @wraps(fit)
    def fit_and_record(self: Any, *args: Any, **options: Any) -> Any:
        if _current.get() is not None or is_nested_fit():
            return fit(self, *args, **options)
        learning = _Learning(type(self).__name__)
        token = _current.set(learning)
        try:
            fitted = fit(self, *args, **options)
        finally:
            _current.reset(token)
        self.about_ = learning.about()
        LOGGER.info("%s: %s after %.3g s", learning.name, _result(self), self.about_.seconds)
        return fitted

    return cast(Fit, fit_and_record)


def note_training_data(data: TrainingTable) -> None:
    """Let the call of `fit` that is going on take note of its data."""
    learning = _current.get()
    if learning is not None:
        learning.note(data)


def library_version() -> str:
    """The version of labelrules."""
    return str(sys.modules["labelrules"].__version__)


def _sizes(data: TrainingTable) -> str:
    sizes = {"row": data.n_rows, "feature": data.schema.n_features, "label": data.schema.n_labels}
    return ", ".join(counted(number, noun) for noun, number in sizes.items())


def _result(model: Any) -> str:
    theory = getattr(model, "theory_", None)
    return "learned" if theory is None else f"learned {theory.size_text}"


def _peak_memory() -> int | None:
    try:
        import resource
    except ImportError:  # on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024
