"""Whole processes that read CSV by Arrow: Ctrl-C, `tracemalloc`, and what is imported."""

import subprocess
import sys

import numpy as np
import pytest

N_ROWS = 20_000

INTERRUPTED = """
import os, signal, sys, threading, time
from labelrules.data import read_csv

def press():
    pressed.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

read_csv(sys.argv[1], ["l"])  # so that all is imported
waits = []
for delay in (0.01, 0.05, 0.1, 0.2, 0.3, 0.5):
    pressed = []
    timer = threading.Timer(delay, press)
    try:
        timer.start()
        read_csv([sys.argv[1]] * 2000, ["l"])
    except KeyboardInterrupt:
        waits.append(time.perf_counter() - pressed[0])
print(len(waits), max(waits) < 5)
"""

LET_PASS = """
import os, signal, sys, threading
from labelrules.data import read_csv

heard, is_over = [], threading.Event()
signal.signal(signal.SIGINT, lambda *_: heard.append(1))
expected = read_csv([sys.argv[1]] * 5, ["l"])

def press():
    while not is_over.wait(0.003):
        os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=press)
thread.start()
found = read_csv([sys.argv[1]] * 5, ["l"])
is_over.set()
thread.join()
print(found == expected, len(heard) > 3)
"""

TRACED = """
import sys, tracemalloc
from labelrules.data import read_csv

tracemalloc.start(10)
for _ in range(3):
    data = read_csv([sys.argv[1]] * 5, ["l"])
    wide = read_csv(sys.argv[2], ["l"])
print(data.n_rows, wide.schema.n_features)
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of numbers, times, notes and a few words in quotes."""
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(N_ROWS, 5)).round(4)
    times = np.datetime64("2020-01-01T00:00:00") + rng.integers(0, 10**8, N_ROWS)
    lines = [
        f'{",".join(map(repr, row))},{time},note {i} of many,"a, {i % 7}",{i % 2}\n'
        for i, (row, time) in enumerate(zip(numbers.tolist(), times.astype(str), strict=True))
    ]
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    path.write_text("a,b,c,d,e,time,note,word,l\n" + "".join(lines), encoding="utf-8")
    return path


def output(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
def test_an_interrupt_ends_reading_soon(table):
    assert output(INTERRUPTED, table) == "6 True\n"


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
def test_reading_goes_on_after_a_signal_that_is_let_pass(table):
    assert output(LET_PASS, table) == "True True\n"


def test_reading_is_sound_under_tracemalloc(table, tmp_path):
    wide = tmp_path / "wide.csv"
    names = [*(f"f{j}" for j in range(400)), "l"]
    rows = [[str((i * j) % 97) for j in range(400)] + [str(i % 2)] for i in range(500)]
    wide.write_text("".join(",".join(row) + "\n" for row in [names, *rows]), encoding="utf-8")
    assert output(TRACED, table, wide) == f"{5 * N_ROWS} 400\n"


def test_reading_does_not_import_pandas(table):
    """As pyarrow's own conversions would, which takes longer than reading most files."""
    program = "import sys\nfrom labelrules.data import read_csv\nread_csv(sys.argv[1], ['l'])\n"
    assert output(program + "print('pandas' in sys.modules)", table) == "False\n"
