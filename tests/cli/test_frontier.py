"""``labelrules frontier``: what it prints, writes and draws."""

import csv
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from extras import needs
from labelrules import frontier, load
from labelrules.lab import FrontierProgress
from labelrules.lab.commands import frontier as program
from shell import called, output

WORDS = ["frontier", "magazines", "--sizes", "8,3", "--folds", "3"]
LISTS = ["--learners", "SeparateAndConquer"]
NAMES = ["separate-and-conquer"]


@pytest.fixture(scope="module")
def found():
    return frontier(load("magazines"), NAMES, (3, 8), 3)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_table_is_printed(found):
    done = called(*WORDS, *LISTS)
    assert (done.code, done.out, done.err) == (0, f"{found}\n", "")


def test_options_reach_the_function():
    words = ["-m", "macro-F1", "-m", "precision/micro/full", "--jobs", "1"]
    expected = frontier(load("magazines"), NAMES, (3, 8), 3, ["macro-F1", "precision/micro/full"])
    assert output(*WORDS, *LISTS, *words) == f"{expected}\n"


def test_the_points_as_csv_and_json(found):
    assert output(*WORDS, *LISTS, "--csv", "points.csv") == f"{found}\n"
    text = Path("points.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    columns = found.as_dict()
    assert list(rows[0]) == list(columns)
    assert [float(row["micro-F1"]) for row in rows] == columns["micro-F1"]
    assert output(*WORDS, *LISTS, "--csv", "-") == text
    shown = called(*WORDS, *LISTS, "--json").json
    assert {name: [one[name] for one in shown["points"]] for name in columns} == columns
    assert shown["knee"]["max_literals"] == found.knee().max_literals
    assert (shown["data"], shown["rows"], shown["stopped"]) == ("magazines", 14, None)


@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_the_picture_is_drawn_the_same_each_time(name, start):
    needs("matplotlib")
    done = called(*WORDS, *LISTS, "-o", name)
    assert (done.code, done.err) == (0, f"labelrules: drawn to {name}\n")
    drawn = Path(name).read_bytes()
    assert drawn.startswith(start)
    assert called(*WORDS, *LISTS, "-o", name, "-q").err == ""
    assert Path(name).read_bytes() == drawn


def test_without_matplotlib_nothing_is_computed(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = called(*WORDS, "-o", "a.svg")
    assert (done.code, done.out) == (1, "")
    assert done.err == 'labelrules: plots need matplotlib: pip install "labelrules[plot]"\n'
    assert not Path("a.svg").exists()


def test_ctrl_c_prints_the_finished_points(found, monkeypatch):
    def interrupt(report: FrontierProgress) -> None:
        if report.n_done == 4:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(program, "shown_progress", lambda *given: nullcontext(interrupt))
    before = signal.getsignal(signal.SIGINT)
    done = called(*WORDS, *LISTS, "--json")
    assert done.code == 130
    assert "the 1 of 2 points finished so far are kept" in done.err
    (one,) = done.json["points"]
    assert (one["max_literals"], one["micro-F1"]) == (3, found.points[0]["micro-F1"].mean)
    assert done.json["stopped"] == "it was interrupted"
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_before_the_first_point(monkeypatch):
    def interrupt(report: FrontierProgress) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(program, "shown_progress", lambda *given: nullcontext(interrupt))
    done = called(*WORDS, *LISTS)
    assert (done.code, done.out) == (130, "")
    assert done.err == "labelrules: interrupted before a point was finished\n"
