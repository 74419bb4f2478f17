"""Compiled code on disk: damaged files are compiled anew and repaired, and end no call."""

import errno
import importlib.util
import os
import pickle
import random
import subprocess
import sys

import numba
import numpy as np
import pytest

from labelrules import _compiling
from labelrules.kernels import jit

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

SOURCE = """
from labelrules.kernels.jit import inner, kernel

@inner
def doubled(value):
    return value + value

@kernel
def total(values):
    found = values[0] - values[0]
    for value in values:
        found += doubled(value)
    return found
"""
NUMBERS = np.arange(5), np.arange(5) / 2
TOTALS = 20, 10.0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "summing.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def called(folder):
    """Call the kernel as a new process would; how many of two forms of it were on disk."""
    spec = importlib.util.spec_from_file_location("summing", folder / "summing.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert tuple(module.total(values) for values in NUMBERS) == TOTALS
    return sum(module.total.stats.cache_hits.values())


def files(folder, ending):
    found = sorted((folder / "kept").rglob(f"*.{ending}"))
    assert found
    return found


def zeros_in_the_middle(content):
    """What a crash of the machine may leave of a file."""
    third = len(content) // 3
    return content[:third] + bytes(third) + content[2 * third :]


def other_library(content):
    """A whole file, of which another version of a library makes nothing."""
    body = pickle.dumps(numba.__version__) + b"cno_such_module\nNoClass\n."
    return body + jit._digest(body)


DAMAGES = {
    "empty": lambda content: b"",
    "first byte": lambda content: content[:1],
    "half": lambda content: content[: len(content) // 2],
    "last byte missing": lambda content: content[:-1],
    "hash missing": lambda content: content[:-32],
    "zeros": zeros_in_the_middle,
    "no pickle": lambda content: b"\x00\xff" * 500,
    "other library": other_library,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_files_are_compiled_anew_and_repaired(folder, ending, damage):
    assert [called(folder), called(folder)] == [0, 2]
    for path in files(folder, ending):
        path.write_bytes(damage(path.read_bytes()))
    assert [called(folder), called(folder)] == [0, 2]


def test_no_damage_of_a_byte_goes_unseen(folder):
    """Of machine code, which Numba does not check, a single bit would crash the interpreter."""
    called(folder)
    chance = random.Random(0)
    for _ in range(10):
        path = chance.choice([*files(folder, "nbi"), *files(folder, "nbc")])
        content = bytearray(path.read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        n_found = 0 if path.suffix == ".nbi" else 1
        assert [called(folder), called(folder)] == [n_found, 2]


def test_files_that_vanish_are_made_anew(folder):
    called(folder)
    files(folder, "nbc")[0].unlink()
    assert [called(folder), called(folder)] == [1, 2]


def test_an_index_that_leads_to_other_code_is_not_believed(folder):
    """What two processes may leave that write at once: each has taken the first free name."""
    called(folder)
    one, two = files(folder, "nbc")
    contents = one.read_bytes(), two.read_bytes()
    two.write_bytes(contents[0])
    one.write_bytes(contents[1])
    assert [called(folder), called(folder)] == [0, 2]


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_folder_in_the_place_of_a_file_costs_only_time(folder, ending, capsys, monkeypatch):
    called(folder)
    for path in files(folder, ending):
        path.unlink()
        path.mkdir()
    monkeypatch.setattr(_compiling._State, "is_not_kept_said", False)
    assert [called(folder), called(folder)] == [0, 0]
    assert capsys.readouterr().err.count("cannot be kept") == 1


def test_a_full_disk_costs_only_time(folder, capsys, monkeypatch):
    def full(*anything):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_compiling._State, "is_not_kept_said", False)
    monkeypatch.setattr(jit._CodeFiles, "_save_data", full)
    assert [called(folder), called(folder)] == [0, 0]
    said = capsys.readouterr().err
    assert said.count("cannot be kept in") == 1
    assert "(No space left on device): it is compiled every time" in said


AT_ONCE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from summing import total
sys.stdin.read()
for _ in range(3):
    for kind in sys.argv[2:]:
        values = np.arange(5).astype(kind)
        assert total(values) == 2 * values.sum(), kind
"""


def test_processes_that_compile_at_once(folder):
    """They write the same files, in different orders, and one finds them damaged later."""
    kinds = ["int8", "int16", "int32", "float32"]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kept")}

    def run(orders):
        program = [sys.executable, "-c", AT_ONCE, str(folder)]
        with_input = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "env": env}
        started = [subprocess.Popen([*program, *order], **with_input) for order in orders]
        for one in started:  # they wait for this, and go on together
            one.stdin.close()
            one.stdin = None
        for one in started:
            _, said = one.communicate(timeout=120)
            assert one.returncode == 0, said

    run([kinds, kinds[::-1], kinds[2:]])
    for path in [*files(folder, "nbi"), *files(folder, "nbc")[::2]]:
        path.write_bytes(path.read_bytes()[:-9])
    run([kinds, kinds[::-1]])
