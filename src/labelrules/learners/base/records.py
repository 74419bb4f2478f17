"""How a model came about: when it was learned, from which data, and what that took."""

import logging
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from labelrules._checks import counted
from labelrules._compiling import compiling_seconds, learning_clock
from labelrules.data import Dataset, Schema
from labelrules.data.fingerprints import fingerprint
from labelrules.learners.base.progress import is_nested_fit

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
        """The same with another author or other notes, where they are given."""
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
