"""Options that are given again: lists grow, and of single values none is dropped in silence."""

import json
from pathlib import Path

import click
import pytest
from casestudies.__main__ import command as casestudies

from labelrules import load_model
from labelrules.cli.app import COMMANDS, program
from shell import called, output

TABLE = """age,code,sex,quality,tabloid,fashion
36,1,F,1,0,1
20,2,M,0,1,0
50,1,F,1,0,1
64,2,M,1,0,0
33,1,M,0,1,0
27,2,F,0,1,1
"""
LABELS = ["--labels", "quality,tabloid,fashion"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(TABLE, encoding="utf-8")
    output("learn", "a.csv", *LABELS, "-o", "model.json")
    return tmp_path


def test_labels_given_again_are_labels_too(folder: Path) -> None:
    words = ["learn", "a.csv", "--labels", "quality", "--labels", "tabloid,fashion"]
    output(*words, "-o", "again.json")
    schema = load_model("again.json").theory_.schema
    assert schema.labels == ("quality", "tabloid", "fashion")
    assert schema.feature_names == ("age", "code", "sex")


LISTS = [
    ["stats", "a.csv", *LABELS, "--ignore", "age,code"],
    ["stats", "a.csv", *LABELS, "--nominal", "age,code", "--json"],
    ["predict", "model.json", "a.csv", "--labels", "quality,tabloid,fashion"],
    ["evaluate", "model.json", "a.csv", "--labels", "quality,tabloid,fashion"],
    ["convert", "a.csv", "-", "--to", "csv", "--labels", "tabloid,quality,fashion"],
    ["discover", "constraints", "a.csv", "--labels", "quality,tabloid,fashion"],
    ["explain", "model.json", "a.csv", *LABELS, "--label", "tabloid,fashion"],
    ["explain", "model.json", "a.csv", *LABELS, "--row", "1", "--fixed", "age,sex"],
    ["frontier", "a.csv", *LABELS, "--folds", "2", "--sizes", "2,4", "--json", "-q"],
    ["frontier", "a.csv", *LABELS, "--folds", "2", "--sizes", "2",
     "--learners", "separate-and-conquer,scorecard", "--json", "-q"],
]  # fmt: skip


def one_by_one(words: list[str]) -> list[str]:
    """A call with each list given name by name; a comma stands in lists only."""
    apart: list[str] = []
    for word in words:
        first, *more = word.split(",")
        option = apart[-1] if apart else ""
        apart += [first, *(part for name in more for part in (option, name))]
    return apart


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_a_list_may_be_given_name_by_name(words: list[str], folder: Path) -> None:
    assert len(one_by_one(words)) > len(words)
    found, expected = output(*one_by_one(words)), output(*words)
    if words[0] == "frontier":
        found, expected = (_without_times(json.loads(text)) for text in (found, expected))
    assert found == expected


def _without_times(value):
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if "seconds" not in k}
    return value


def options():
    """Every option of every command that takes one value."""
    for name in COMMANDS:
        for one in program.get_command(None, name).params:
            if isinstance(one, click.Option) and not (one.is_flag or one.multiple):
                yield pytest.param(name, one.opts[-1], id=f"{name} {one.opts[-1]}")


@pytest.mark.parametrize(("name", "option"), list(options()))
def test_two_values_for_an_option_that_takes_one_are_refused(name: str, option: str) -> None:
    done = called(name, option, "a", f"{option}=b", "x", "y")
    assert done.code == 2
    assert f"labelrules: {name}: {option} is given twice, but takes one value" in done.err


def test_a_wrong_name_of_a_list_is_blamed_on_its_option(folder: Path) -> None:
    done = called("frontier", "a.csv", *LABELS, "--learners", "scorecard", "--learners", "scorcard")
    assert (done.code, done.out) == (2, "")
    assert "--learners: there is no learner 'scorcard'; did you mean 'scorecard'?" in done.err
    done = called(
        "frontier", "a.csv", *LABELS, "--learners", "scorecard", "--learners", "scorecard"
    )
    assert done.code == 2, "the same learner twice"
    done = called("--sets", "flags", "--sets", "flugs", command=casestudies)
    assert (done.code, "--sets: " in done.err) == (2, True)
