"""Ctrl-C while Numba compiles, and while a kernel runs."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import typeof, types

import interrupted_kernels

pytestmark = [
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"),
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no alarms"),
]


def run(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False
    )


# ---------------------------------------------------------------- compiling

PROGRAM = """
import signal, sys
from numba import njit
from numba.core import codegen

pressed = []
take = codegen.CPUCodeLibrary._object_compiled_hook.__func__

def hook(cls, module, compiled):
    if "one" in module.name and not pressed:
        pressed.append(module.name)
        signal.raise_signal(signal.SIGINT)
    take(cls, module, compiled)

codegen.CPUCodeLibrary._object_compiled_hook = classmethod(hook)
sys.unraisablehook = lambda lost: None
from labelrules._interrupts import heard_interrupts

@njit(cache=True)
def one():
    return 1

try:
    with heard_interrupts():
        one()
except KeyboardInterrupt:
    print("heard", *pressed)
"""


def test_an_interrupt_is_heard_while_llvm_hands_over_what_it_compiled(tmp_path):
    """Numba then has nothing to keep on disk; should it say so in other words, this fails."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = run(tmp_path / "program.py")
    assert (done.stdout, done.returncode) == ("heard one\n", 0), done.stderr


# ---------------------------------------------------------------- running

BOARD = """
import signal, sys, time
import numpy as np
from labelrules import UNSET
from labelrules.kernels.index import count_written, list_labels

board, rows = np.full((60, 1_000_000), UNSET, np.int8), np.arange(1_000_000)
board[:, ::64] = 1
labels = np.arange(60)
entries = np.empty(count_written(board, labels, rows), np.int32)
start, stop = np.empty((2, 60), np.int64)
list_labels(board[:, :64].copy(), labels, rows[:64], entries, start, stop)  # to have it compiled

def late(*_):
    raise TimeoutError("alarm")

signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
list_labels(board, labels, rows, entries, start, stop)
while True:  # not signal.pause, which would miss an alarm that comes just before it
    time.sleep(0.01)
"""


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.05])
def test_an_alarm_while_labels_are_listed(seconds):
    """It returned a named tuple, and that was a segmentation fault each time."""
    done = run("-c", BOARD, seconds)
    assert done.returncode == 1, done
    assert done.stderr.splitlines()[-1] == "TimeoutError: alarm"


@pytest.fixture(scope="module")
def report():
    done = run(Path(interrupted_kernels.__file__))
    assert done.returncode == 0, done  # it would be negative if a signal had ended it
    return json.loads(done.stdout)


def test_every_kernel_can_be_interrupted(report):
    assert len(report) > 30
    outcomes = {name: set(kernel["outcomes"]) for name, kernel in report.items()}
    assert outcomes == {name: {"interrupted"} for name in report}


def test_kernels_return_numbers_or_one_array(report):
    unsafe = {name: kernel["unsafe results"] for name, kernel in report.items()}
    assert unsafe == {name: [] for name in report}


class Pair(NamedTuple):
    first: int
    second: int


@pytest.mark.parametrize(
    ("value", "is_safe"),
    [
        (None, True),
        (1, True),
        (np.zeros(2), True),
        ((1, 2.0, True), True),
        ((1, np.zeros(2)), False),
        ((1, (2, 3)), False),
        (Pair(1, 2), False),
        (Pair(1, np.zeros(2)), False),
    ],
    ids=str,
)
def test_which_results_are_safe(value, is_safe):
    kind = types.none if value is None else typeof(value)
    assert interrupted_kernels.is_safe(kind) == is_safe
