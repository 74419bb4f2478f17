"""Large files on the command line: in partitions, with the results of files in memory."""

import json
from pathlib import Path

import numpy as np
import pytest

from labelrules.cli import models
from labelrules.cli.commands import learn
from labelrules.data import load, write_csv, write_parquet
from labelrules.data.files import csv_records
from labelrules.data.partitions import scanning
from shell import called, output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Parts of a table in a folder, a table, and a model."""
    monkeypatch.chdir(tmp_path)
    data = load("clinic")
    (tmp_path / "parts").mkdir()
    for number, start in enumerate(range(0, len(data), 300)):
        rows = np.arange(start, min(start + 300, len(data)))
        write_parquet(data.take(rows), tmp_path / "parts" / f"part.{number}.parquet")
    write_csv(data, tmp_path / "all.csv")
    output("learn", "clinic", "--set", "bins=31", "-o", "model.json")
    return tmp_path


@pytest.fixture
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "LARGE", 0)
    monkeypatch.setattr(learn, "LARGE", 0)
    monkeypatch.setattr(scanning, "CELLS_OF_A_PIECE", 3000)
    monkeypatch.setattr(csv_records, "_BYTES_AT_ONCE", 5000)


CALLS = [
    ["predict", "model.json", "{}"],
    ["predict", "model.json", "{}", "--as", "sets"],
    ["predict", "model.json", "{}", "--as", "probabilities"],
    ["predict", "model.json", "{}", "--json"],
    ["evaluate", "model.json", "{}", "-m", "f1", "-m", "subset/samples/full"],
]


@pytest.mark.parametrize("source", ["parts", "all.csv"])
def test_large_files_give_the_same(folder, source, request) -> None:
    calls = [[source if word == "{}" else word for word in call] for call in CALLS]
    expected = [output(*call) for call in calls]
    request.getfixturevalue("all_are_large")
    assert [output(*call) for call in calls] == expected
    output(*calls[0], "-o", "labels.csv")
    assert Path("labels.csv").read_text() == expected[0]
    done = called("evaluate", "model.json", source)
    assert "measures of a ranking are left out" in done.err
    assert "ROC" not in done.out


@pytest.mark.parametrize("source", ["parts", "all.csv"])
def test_learning_from_large_files_gives_the_same_rules(folder, source, all_are_large) -> None:
    rules = json.loads(Path("model.json").read_text())["model"]["state"]["theory"]
    for more in (["--memory-limit", "1"], []):
        done = called("learn", source, "--set", "bins=31", "-o", "new.json", *more)
        assert done.code == 0
        assert json.loads(Path("new.json").read_text())["model"]["state"]["theory"] == rules
    done = called("learn", source, "--memory-limit", "99", "--set", "max_rules=1")
    assert "learned from with bins=255" in done.err
    done = called("learn", source, "-l", "binary-relevance", "--memory-limit", "99", "--quiet")
    assert done.code == 0


def test_a_limit_is_for_files_that_can_be_read_in_partitions(folder) -> None:
    for call in (
        ["learn", "clinic"], ["learn", "all.csv", "--cv", "3"],
        ["learn", "parts", "-l", "scorecard"],
    ):  # fmt: skip
        done = called(*call, "--memory-limit", "9")
        assert done.code != 0
        assert "--memory-limit is for CSV and Parquet files" in done.err


@pytest.mark.parametrize("more", [["heads=multi"], ["max_literals=9"], ["pruning=irep"]])
def test_settings_that_need_all_rows_in_memory_take_them_there(more, folder, all_are_large) -> None:
    settings = [word for one in ["bins=31", *more] for word in ("--set", one)]
    done = called("learn", "all.csv", *settings, "-o", "new.json")
    assert done.code == 0, done.err
    done = called("learn", "all.csv", *settings, "--memory-limit", "9")
    assert done.code != 0
    assert "rows in partitions" in done.err or "max_literals needs all rows" in done.err


def test_files_with_other_names_are_read_by_their_format(folder, all_are_large) -> None:
    expected = output("predict", "model.json", "all.csv")
    Path("all.csv").rename("all.dat")
    Path("all.csv.schema.json").rename("all.dat.schema.json")
    assert output("predict", "model.json", "all.dat", "--format", "csv") == expected
    done = called("learn", "all.dat", "--format", "csv", "--set", "bins=31", "--set", "max_rules=1")
    assert done.code == 0, done.err
