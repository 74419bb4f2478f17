"""Ctrl-C while Numba compiles."""

import os
import subprocess
import sys

import pytest

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
from labelrules.kernels.interrupts import heard_interrupts

@njit(cache=True)
def one():
    return 1

try:
    with heard_interrupts():
        one()
except KeyboardInterrupt:
    print("heard", *pressed)
"""


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_an_interrupt_is_heard_while_llvm_hands_over_what_it_compiled(tmp_path):
    """Numba then has nothing to keep on disk; should it say so in other words, this fails."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("heard one\n", 0), done.stderr
