"""One fit of an experiment: in this process, or with a time limit in one of its own.

The process of its own is a new interpreter and no fork, so it can be started from threads, from
workers of any backend of joblib, and on every platform. It ends by itself when the process that
began it is gone, however that ended: its standard input is then closed.
"""

import os
import pickle
import platform
import queue
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO, ClassVar, Literal

import cloudpickle
import msgspec
import numpy as np
import sklearn
from msgspec import Meta, field

from labelrules._compiling import compiling_seconds, learning_clock
from labelrules._types import Integers
from labelrules.data import Dataset
from labelrules.data.document import Count, FrozenRecord
from labelrules.lab.measuring import (
    Categories,
    FitMeasure,
    learned,
    literals_of,
    measured,
    predictions,
    presence_scores,
    rule_count,
)
from labelrules.learners.base.progress import library_version

LONGEST_MESSAGE = 500
"""Characters of a message that are kept."""

Seconds = Annotated[float, Meta(ge=0)]


class FitOutcome(FrozenRecord, kw_only=True, frozen=True):
    """What came of one fit, as files keep it.

    Attributes
    ----------
    status : str
        "done", "failed" or "timed out".
    message : str
        Why it has failed or was stopped; empty if it is done.
    measures : tuple of str
        The measures that were asked for.
    values : dict
        The values of those that are defined.
    literals, rules : int or None
        The size of the model, if the learner says it.
    seconds, predict_seconds : float or None
        The time of learning, without compiling, and of predicting the rows held out.
    cpu_seconds : float or None
        Processor time of learning, of all threads and of the programs that it has called; None if
        other fits ran in the same process meanwhile.
    peak_memory : int or None
        The most memory of the process while it was learning, in bytes, with Python, libraries and
        data; None if that is not known: if other fits ran in the same process, or, outside Linux,
        without a time limit.
    limit : float or None
        The time limit, if there was one.
    versions : dict
        Of labelrules, Python, NumPy and scikit-learn.
    """

    status: Literal["done", "failed", "timed out"]
    measures: tuple[str, ...]
    message: str = ""
    values: dict[str, float] = field(default_factory=dict)
    literals: Count | None = None
    rules: Count | None = None
    seconds: Seconds | None = None
    predict_seconds: Seconds | None = None
    cpu_seconds: Seconds | None = None
    peak_memory: Count | None = None
    limit: Seconds | None = None
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FitTask:
    """A learner, the rows that it learns from, and those that it is measured on.

    Attributes
    ----------
    learner : estimator
        It is copied before it is fitted.
    train_data, test_data : Dataset
        Often the same one.
    train, test : array of int
        Rows of them.
    measures : tuple of FitMeasure
    categories : {"columns", "codes"}
    time_limit : float or None
        Seconds for learning and predicting.
    """

    learner: Any
    train_data: Dataset
    test_data: Dataset
    train: Integers
    test: Integers
    measures: tuple[FitMeasure, ...]
    categories: Categories = "columns"
    time_limit: float | None = None

    def outcome(
        self, status: Literal["done", "failed", "timed out"], message: str = "", **figures: Any
    ) -> FitOutcome:
        """What came of it, with the measures, the limit and the versions of now."""
        return FitOutcome(
            status=status,
            measures=tuple(one.name for one in self.measures),
            message=message,
            limit=self.time_limit,
            versions=_versions(),
            **figures,
        )


def outcome_of(task: FitTask) -> FitOutcome:
    """Learn, predict and measure; errors are outcomes, too.

    >>> from labelrules import SeparateAndConquer, load
    >>> from labelrules.lab.measuring import fit_measures
    >>> readers, rows = load("magazines"), np.arange(14)
    >>> measures = fit_measures("subset accuracy")
    >>> given = readers, readers, rows, rows, measures
    >>> found = outcome_of(FitTask(SeparateAndConquer(), *given))
    >>> found.status, found.values, found.rules
    ('done', {'subset accuracy': 0.5714285714285714}, 4)
    >>> outcome_of(FitTask(SeparateAndConquer(beam_width=0), *given))
    FitOutcome(status='failed', ... message='ValueError: beam_width must be a whole number of ...
    """
    meter = _Meter()
    try:
        train, held = task.train_data.take(task.train), task.test_data.take(task.test)
        with meter.running():
            model = learned(task.learner, train, task.categories)
        start = learning_clock()
        predicted = predictions(model, held, task.categories)
        predict_seconds = learning_clock() - start
        needs_scores = any(one.needs_scores for one in task.measures)
        scores = presence_scores(model, held, task.categories) if needs_scores else None
        values = measured(task.measures, held, predicted, scores)
        literals, rules = literals_of(model), rule_count(model)
    except Exception as wrong:  # of any library: the other fits go on
        return task.outcome("failed", message_of(wrong), **meter.figures())
    return task.outcome(
        "done",
        values=values,
        literals=literals,
        rules=rules,
        predict_seconds=round(predict_seconds, 6),
        **meter.figures(),
    )


def message_of(wrong: BaseException) -> str:
    """An error in one line."""
    text = " ".join(str(wrong).split())
    whole = f"{type(wrong).__name__}: {text}" if text else type(wrong).__name__
    return whole if len(whole) <= LONGEST_MESSAGE else f"{whole[: LONGEST_MESSAGE - 3]}..."


def _versions() -> dict[str, str]:
    return {
        "labelrules": library_version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }


class _Meter:
    """The time, processor time and memory of a piece of work.

    Processor time and memory are those of the process, so they are unknown if another piece of work
    that is metered runs in it at the same time.
    """

    _lock = threading.Lock()
    _at_work: ClassVar["set[_Meter]"] = set()
    alone_in_process = False
    """Whether this process does nothing else, so that all it ever needed is that of the work."""

    def __init__(self) -> None:
        self.seconds: float | None = None
        self.cpu_seconds: float | None = None
        self.peak_memory: int | None = None
        self.is_shared = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Meter this block."""
        with self._lock:
            self._at_work.add(self)
            if len(self._at_work) > 1:
                for one in self._at_work:
                    one.is_shared = True
        is_reset = _reset_peak_memory()
        compiled, cpu, start = compiling_seconds(), _cpu_seconds(), learning_clock()
        try:
            yield
        finally:
            self.seconds = learning_clock() - start
            # Compiling is not learning; it takes as much processor time as time.
            self.cpu_seconds = max(0.0, _cpu_seconds() - cpu - (compiling_seconds() - compiled))
            self.peak_memory = _peak_memory(is_reset, self.alone_in_process)
            with self._lock:
                self._at_work.discard(self)

    def figures(self) -> dict[str, Any]:
        """What is known, by the names of the fields of `FitOutcome`."""
        cpu = None if self.is_shared else self.cpu_seconds
        return {
            "seconds": None if self.seconds is None else round(self.seconds, 6),
            "cpu_seconds": None if cpu is None else round(cpu, 6),
            "peak_memory": None if self.is_shared else self.peak_memory,
        }


def _cpu_seconds() -> float:
    """The processor time of this process and of the programs that it has waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _reset_peak_memory() -> bool:
    """Let Linux count the peak of the memory from here; False where that is not possible."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def _peak_memory(is_reset: bool, is_alone: bool) -> int | None:
    """The most memory since the peak was reset, or ever if this process does nothing else."""
    if not (is_reset or is_alone):
        return None
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            found = _PEAK.search(file.read())
        if found is not None:  # after a fork, the figure of getrusage is that of the parent
            return int(found[1]) * 1024
    except OSError:
        pass
    return _peak_by_getrusage() if is_alone else None


def _peak_by_getrusage() -> int | None:
    try:
        import resource
    except ImportError:  # on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def alone_in_process() -> None:
    """Note that this process does nothing else than one fit."""
    _Meter.alone_in_process = True


_LENGTH = struct.Struct("!Q")
_READY = b"ready"
_SECONDS_TO_END = 10.0
"""How long a process whose result is there may go on, for what it does at its end."""

_PROGRAM = f"from {__name__} import serve_one_fit; serve_one_fit()"


def limited_outcome(task: FitTask) -> FitOutcome:
    """The outcome of a fit, which is ended at its time limit; without a limit in this process.

    The time begins when the process has imported what it needs and has got its data.
    """
    if task.time_limit is None:
        return outcome_of(task)
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # a group of its own, so that programs and workers that it has started end with it
        start_new_session=os.name != "nt",
    )
    _at_work.add(process)
    try:
        return _answer(process, task)
    finally:
        _at_work.discard(process)
        _end(process)


_at_work: "set[subprocess.Popen[bytes]]" = set()


def end_all() -> None:
    """End the processes of all fits that threads of this process wait for."""
    for process in tuple(_at_work):
        _end(process)


def _answer(process: "subprocess.Popen[bytes]", task: FitTask) -> FitOutcome:
    messages: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    reader = threading.Thread(target=_read_all, args=(process.stdout, messages), daemon=True)
    reader.start()
    # modules are searched where this process does, before anything is read by pickle
    with suppress(BrokenPipeError):
        _send(process.stdin, pickle.dumps(sys.path))
        _send(process.stdin, cloudpickle.dumps(task))
    if messages.get() is None:
        return task.outcome("failed", _end_in_words(process, "before it could begin"))
    try:
        answer = messages.get(timeout=task.time_limit)
    except queue.Empty:
        return task.outcome("timed out", f"stopped after {task.time_limit:g} s")
    if answer is None:
        return task.outcome("failed", _end_in_words(process, "without a result"))
    with suppress(subprocess.TimeoutExpired):
        process.wait(_SECONDS_TO_END)
    return msgspec.json.decode(answer, type=FitOutcome)


def _read_all(file: Any, messages: "queue.SimpleQueue[bytes | None]") -> None:
    """Hand on messages, and None when there are no more."""
    message: bytes | None = b""
    while message is not None:
        message = _receive(file)
        messages.put(message)


def _end_in_words(process: "subprocess.Popen[bytes]", when: str) -> str:
    """How a process ended."""
    code = process.wait()
    if code < 0:
        with suppress(ValueError):
            return f"the process of the fit was ended by {signal.Signals(-code).name} {when}"
    return f"the process of the fit ended with status {code} {when}"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, and all that it has started."""
    with suppress(OSError):
        if os.name == "nt":
            process.kill()
        else:  # the group lives on as long as one of its processes does
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def _send(file: Any, message: bytes) -> None:
    file.write(_LENGTH.pack(len(message)))
    file.write(message)
    file.flush()


def _receive(file: Any) -> bytes | None:
    """The next message; None if the other side has ended."""
    try:
        head = file.read(_LENGTH.size)
        if len(head) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack(head)
        message: bytes = file.read(length)
    except (OSError, ValueError):  # closed meanwhile
        return None
    return message if len(message) == length else None


def serve_one_fit() -> None:
    """Read a task from standard input, and write its outcome to standard output.

    What learners print goes to standard error.
    """
    answers: BinaryIO = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    given = sys.stdin.buffer
    path, payload = _receive(given), None
    if path is not None:
        sys.path[:] = pickle.loads(path)
        payload = _receive(given)
    if payload is None:
        return
    task = pickle.loads(payload)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    alone_in_process()
    _send(answers, _READY)
    outcome = outcome_of(task)
    _send(answers, msgspec.json.encode(outcome))


def _end_with_parent() -> None:
    """Wait for the end of standard input, and then end this process and what it has started."""
    os.read(0, 1)  # not by sys.stdin, whose lock would be held when this process ends by itself
    if os.name != "nt" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
