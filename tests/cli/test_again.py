"""Editing and learning again from the shell: names, notes, rules to keep, counts, folds."""

import json
import signal
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labelrules import SeparateAndConquer, cross_validate, load, load_model, parse, save
from labelrules.cli.commands import learn
from labelrules.data import write_csv
from labelrules.inspection import differing_rows
from shell import called, output

READERS = load("magazines")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELRULES_DATA", raising=False)
    write_csv(READERS, "readers.csv")
    output("learn", "readers.csv", "-o", "model.json")
    return tmp_path


NAMES = {"quality": "good, better", "sex": "gender"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("names.csv", 'old,new\n"quality","good, better"\n\nsex,gender\n'),
        ("names.json", json.dumps(NAMES)),
        ("names.txt", 'sex,gender\r\nquality,"good, better"\r\n'),
    ],
)
def test_names_from_a_file(name, text):
    Path(name).write_text(text, encoding="utf-8")
    first = output("show", "model.json", "--names", name).splitlines()[0]
    assert first == "'good, better' <- education = University (4/0)"
    output("convert", "model.json", "legible.json", "--names", name)
    assert load_model("legible.json").theory_ == load_model("model.json").theory_.rename(NAMES)
    output("convert", "readers.csv", "renamed.csv", "--names", name)
    before, after = (
        output("predict", *words)
        for words in (("model.json", "readers.csv"), ("legible.json", "renamed.csv"))
    )
    assert after.splitlines()[1:] == before.splitlines()[1:]
    assert after.startswith('"good, better",')
    summary = output("show", "model.json", "--names", name, "--summary", "--data", "readers.csv")
    assert "gender" in summary
    done = called("show", "model.json", "--names", name, "--label", "good, better")
    assert done.out.startswith("rule 1: 'good, better'")


EDITED = """quality <- sports  # note: "sure" \\n #1
tabloid <- education = Primary
otherwise: no label
"""


def test_rules_are_kept_and_learning_goes_on():
    Path("edited.txt").write_text(EDITED, encoding="utf-8")
    first = EDITED.splitlines()[0]
    printed = output("learn", "readers.csv", "--keep", "edited.txt", "-o", "new.json").splitlines()
    assert printed[0].startswith("quality <- sports (0/0)  # note: ")
    assert printed[1].startswith("tabloid <- education = Primary (")
    assert len(printed) > 2
    direct = SeparateAndConquer().fit(READERS, theory="\n".join(EDITED.splitlines()[:2]))
    assert load_model("new.json").theory_ == direct.theory_
    assert load_model("new.json").theory_[0].note == '"sure" \n #1'
    printed = output("learn", "readers.csv", "--keep", "edited.txt", "--first", "1").splitlines()
    assert not printed[1].startswith("tabloid <- education = Primary")
    kept = output("learn", "readers.csv", "--keep", "edited.txt", "--first", "3").splitlines()
    assert kept[2:4] == ["otherwise: no label", "if no label was found:"]
    assert "# note:" in first


def test_the_rules_of_a_model_are_kept_by_their_names():
    other = READERS.without(["children"]).take(np.arange(12))
    write_csv(other, "fewer.csv")
    words = ["learn", "fewer.csv", "--keep", "model.json", "--first", "2"]
    printed = output(*words).splitlines()
    assert printed[0].startswith("quality <- education = University")
    assert printed[1].startswith("fashion <- sex = Female, education = University")
    done = called("learn", "fewer.csv", "--keep", "model.json")
    assert (done.code, "there is no feature or label 'children'" in done.err) == (1, True)


def test_evidence_is_counted_anew(tmp_path):
    write_csv(READERS.take(np.arange(5)), "few.csv")
    shown = output("show", "model.json", "--count", "few.csv", "-o", "few.json")
    assert shown == ""
    direct = load_model("model.json").calibrate(READERS.take(np.arange(5)))
    recounted = load_model("few.json")
    assert [r.evidence for r in recounted.theory_] == [r.evidence for r in direct.theory_]
    assert np.array_equal(recounted.predict_proba(READERS), direct.predict_proba(READERS))
    text = output("show", "model.json", "--count", "few.csv")
    assert text == output("show", "few.json")
    Path("rules.txt").write_text("quality <- sex = Male", encoding="utf-8")
    assert output("show", "rules.txt", "--count", "few.csv") == "quality <- sex = Male (0/3)\n"
    output("show", "rules.txt", "--count", "few.csv", "-o", "rules.json")
    assert load_model("rules.json")[0].evidence == ((0, 3),)


def test_unknown_cells_are_not_counted(monkeypatch):
    Y = READERS.Y.copy()
    Y[:7] = -1
    some = replace(READERS, Y=Y)
    monkeypatch.setattr("labelrules.cli.models.read_data", lambda *given: some)
    Path("old.txt").write_text("quality <- sex = Male", encoding="utf-8")
    Path("new.txt").write_text("quality <- sex = Female", encoding="utf-8")
    counted = output("show", "old.txt", "--count", "some.csv")
    male = READERS.column("sex") == READERS.schema.features[2].categories.index("Male")
    right = int(((Y[:, 0] == 1) & male).sum())
    wrong = int(((Y[:, 0] == 0) & male).sum())
    assert counted == f"quality <- sex = Male ({right}/{wrong})\n"
    found = called("compare", "old.txt", "new.txt", "some.csv", "--json", "--rows", "99").json
    quality = found["labels"][0]
    assert quality["n_rows"] == 14
    assert quality["n_one_right"] + quality["n_other_right"] == 7
    assert [one["truth"] for one in found["rows"][:8]] == [None] * 7 + [int(Y[7, 0])]


def test_cross_validation():
    printed = output("learn", "readers.csv", "--cv", "3")
    direct = cross_validate(READERS, SeparateAndConquer(), 3)
    assert printed == f"{direct}\n"
    assert "literals " in printed.splitlines()[-1]
    done = called("learn", "readers.csv", "--cv", "3", "--json")
    assert done.json["cross_validation"] == direct.as_dict()
    both = output("learn", "readers.csv", "--cv", "3", "-o", "both.json")
    assert both == output("show", "both.json") + f"\n{direct}\n"
    whole = called("learn", "readers.csv", "--cv", "3", "-o", "both.json", "--json").json
    assert len(whole["rules"]) == len(load_model("both.json").theory_)
    assert whole["cross_validation"]["literals"]["mean"] == direct["literals"].mean
    kept = called("learn", "readers.csv", "--cv", "3", "--keep", "model.json", "--json").json
    assert kept["cross_validation"]["literals"]["mean"] >= 9


def test_comparison_with_measures_and_rows():
    Path("new.txt").write_text("quality <- children = No", encoding="utf-8")
    printed = output("compare", "model.json", "new.txt", "readers.csv", "--rows", "1")
    old, new = load_model("model.json").theory_, parse("quality <- children = No", READERS.schema)
    (first,) = {one.row for one in differing_rows(old, new, READERS, 1)}
    assert f"\nrow {first}\n" in printed
    assert printed.count("\nrow ") == 1
    values = called("evaluate", "new.txt", "readers.csv", "--json").json["values"]
    line = next(line for line in printed.splitlines() if line.startswith("micro F1"))
    assert float(line.split()[3]) == pytest.approx(values["micro F1"], abs=5e-5)
    assert printed == output(
        "compare", "model.json", "new.txt", "--data", "readers.csv", "--rows", "1"
    )
    found = called("compare", "model.json", "new.txt", "readers.csv", "--json").json
    assert found["measures"][1]["micro F1"] == values["micro F1"]
    assert "row " not in output("compare", "model.json", "new.txt", "readers.csv", "--rows", "0")


class Pressed:
    """A listener that is interrupted by Ctrl-C when a phase begins."""

    def __init__(self, text):
        self.text = text

    def __call__(self, report):
        pass

    def phase(self, text):
        if text.startswith(self.text):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("learner", ["separate-and-conquer", "binary-relevance", "scorecard"])
def test_ctrl_c_before_the_first_rule_leaves_the_file_alone(learner, monkeypatch):
    before = Path("model.json").read_bytes()
    for phase in ("searching for the first", "learning the first", "cutting", "sorting"):
        monkeypatch.setattr(learn, "shown_progress", lambda *g, p=phase: nullcontext(Pressed(p)))
        done = called("learn", "readers.csv", "--learner", learner, "-o", "model.json")
        assert done.code in (0, 130)
        if done.code == 130:
            assert (done.out, Path("model.json").read_bytes()) == ("", before)
            assert "nothing is saved, and model.json is as it was" in done.err
        else:
            Path("model.json").write_bytes(before)


def test_ctrl_c_within_the_first_search(monkeypatch):
    """The learner keeps an empty list; the shell does not."""
    from labelrules.learners.covering.next_rule import RuleFinder

    def pressed(self):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(RuleFinder, "best_rule", pressed)
    before = Path("model.json").read_bytes()
    done = called("learn", "readers.csv", "-o", "model.json")
    assert (done.code, done.out) == (130, "")
    assert done.err == (
        "labelrules: interrupted before the first rule was learned: nothing is saved, and "
        "model.json is as it was\n"
    )
    assert Path("model.json").read_bytes() == before
    done = called("learn", "readers.csv", "--keep", "model.json", "-o", "new.json")
    assert (done.code, Path("new.json").exists()) == (130, False)
    assert done.err.endswith("before the first rule was learned: nothing is saved\n")
    done = called("learn", "readers.csv", "--cv", "3")
    assert (done.code, done.out) == (130, "")
    assert "before all folds were finished: nothing is saved" in done.err


def test_rules_that_are_often_wrong_are_named():
    save(parse("quality <- sex = Male (1/5)\nsports <- true (9/5)", READERS.schema), "wrong.json")
    done = called("show", "wrong.json")
    line = "labelrules: 1 rule was more often wrong than right: rule 1 (quality 1/5)\n"
    assert done.err == line
    assert called("show", "wrong.json", "--no-evidence").err == ""
    assert "more often wrong than right: 1" in output("show", "wrong.json", "--summary")
    assert called("learn", "readers.csv", "--keep", "wrong.json").err.endswith(
        line.replace("1/5", "4/5")
    )


def test_labels_without_rules_are_named_with_reasons():
    done = called("show", "model.json")
    assert "1 label has no rule: 'tabloid' (pruning rejected its rules: " in done.err
    found = called("learn", "readers.csv", "--json").json
    assert list(found["why_without_rules"]) == found["labels_without_rules"] == ["tabloid"]


def test_verbose_lists_the_phases():
    lines = called("learn", "readers.csv", "-v", "-o", "new.json").err.splitlines()
    assert lines[:4] == [
        "reading readers.csv",
        "sorting the columns",
        "searching for the first rule",
        "1 rule, last one 0.774",
    ]
    assert "counting right and wrong cells" in lines
    assert "writing new.json" in lines
