"""A fit with a time limit: in a process of its own, which can be ended whatever it does.

The process is a new interpreter and no fork, so it can be started from threads, from workers of any
backend of joblib, and on every platform. It ends by itself when the process that began it is gone,
however that ended: its standard input is then closed.
"""

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

import cloudpickle
import msgspec

from labelrules.lab.running.fitting import (
    FitOutcome,
    FitTask,
    alone_in_process,
    not_done,
    outcome_of,
)

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
        return not_done(task, "failed", _end_in_words(process, "before it could begin"))
    try:
        answer = messages.get(timeout=task.time_limit)
    except queue.Empty:
        return not_done(task, "timed out", f"stopped after {task.time_limit:g} s")
    if answer is None:
        return not_done(task, "failed", _end_in_words(process, "without a result"))
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
