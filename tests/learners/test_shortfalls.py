"""What learners could not do, and what they do while they learn."""

import sys
from types import ModuleType

import numpy as np
import pytest

from labelrules import (
    AssociativeClassifier,
    BinaryRelevance,
    Scorecard,
    SeparateAndConquer,
    dataset,
    from_json,
    load,
    to_json,
)
from labelrules.learners import LearningInterrupted
from labelrules.learners.base.progress import progress_listener

READERS = load("magazines")


def with_labels(*columns):
    return dataset(READERS.X, np.column_stack([READERS.Y, *columns]))


NOBODY = np.zeros(14, dtype=np.int8)
UNKNOWN = NOBODY - 1
ONE = np.eye(14, dtype=np.int8)[0]


@pytest.mark.parametrize(
    "learner", [SeparateAndConquer(), BinaryRelevance(), Scorecard(), AssociativeClassifier()]
)
def test_labels_without_examples(learner):
    model = learner.fit(with_labels(NOBODY, UNKNOWN))
    reasons = model.why_without_rules_
    assert reasons["y4"] == "no row has it"
    if not isinstance(learner, Scorecard):  # its shift is for all labels
        assert reasons["y5"] == "it is unknown in all rows"
    assert list(reasons) == model.labels_without_rules_
    assert from_json(to_json(model)).why_without_rules_ == reasons
    assert "none" in model.rename({"y4": "none"}).why_without_rules_
    assert model.fit(dataset(READERS.X, READERS.Y)).why_without_rules_.keys() <= {"y1", "y2", "y3"}


@pytest.mark.parametrize(
    ("settings", "label", "reason"),
    [
        ({}, "tabloid", "pruning rejected its rules: wrong as often as right, or too long"),
        ({"pruning": "significance"}, "sports", "pruning rejected its rules: not beyond chance"),
        ({"pruning": "irep"}, "sports", "pruning rejected its rules: wrong as often as right on h"),
        ({"max_rules": 1}, "sports", "the list has max_rules=1 rules"),
        ({"max_literals": 4}, "sports", "its rules did not fit into max_literals=4"),
        ({"min_coverage": 3}, "sports", "2 rows have it, fewer than min_coverage=3"),
    ],
)
def test_reasons_of_the_covering_learner(settings, label, reason):
    model = SeparateAndConquer(**settings).fit(READERS)
    assert model.why_without_rules_[label].startswith(reason)
    assert "_reasons" not in vars(model)


def test_frequent_labels_and_early_ends():
    common = 1 - ONE
    model = SeparateAndConquer(default_rule=False).fit(with_labels(common))
    assert model.why_without_rules_["y4"] == "most rows have it, and rules predict the rarer value"
    with pytest.warns(LearningInterrupted):
        model = SeparateAndConquer(time_limit=1e-9).fit(READERS)
    reason = "learning ended early because the time limit of 1e-09 s was reached"
    assert set(model.why_without_rules_.values()) == {reason}


def test_nothing_is_missing_where_all_labels_have_rules():
    model = SeparateAndConquer(pruning=None).fit(READERS)
    assert (model.labels_without_rules_, model.why_without_rules_) == ([], {})
    assert '"why_without_rules"' not in to_json(model)


class Heard:
    """Hears of reports and phases."""

    def __init__(self):
        self.lines = []

    def __call__(self, report):
        assert 0 <= report.share <= 1
        self.lines.append("report")

    def phase(self, text):
        self.lines.append(text)


@pytest.mark.parametrize(
    ("learner", "first", "last"),
    [
        (SeparateAndConquer(), "sorting the columns", "counting right and wrong cells"),
        (BinaryRelevance(), "learning the first label", "counting right and wrong"),
        (Scorecard(), "cutting the features into ranges", "report"),
    ],
)
def test_phases_before_the_first_report_and_after_the_last(learner, first, last):
    heard = Heard()
    learner.set_params(progress=heard).fit(READERS)
    assert heard.lines[0] == first
    assert "report" in heard.lines[1:]
    assert heard.lines[-1].startswith(last)
    reports = []
    learner.set_params(progress=reports.append).fit(READERS)  # functions hear of reports only
    assert len(reports) == heard.lines.count("report")


SHOWN: list[str] = []


class Handle:
    def update(self, bundle, raw):
        assert raw
        SHOWN.append(bundle["text/plain"])


def test_notebooks_without_widgets_show_text(monkeypatch):
    """IPython is not needed for the tests: this is the part of it that is used."""

    def display(bundle, raw, display_id):
        assert raw
        assert display_id
        SHOWN[:] = [bundle["text/plain"]]
        return Handle()

    module = ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("labelrules.learners.base.progress.find_spec", lambda name: None)
    monkeypatch.setattr("labelrules.learners.base.progress.TEXTS_PER_SECOND", float("inf"))
    SeparateAndConquer(progress=True).fit(READERS)
    shown = [line.rpartition(" · ")[0] for line in SHOWN]
    assert shown[:3] == ["learning", "sorting the columns", "searching for the first rule"]
    assert any(line.endswith("1 rule, last one 0.774") and "% " in line for line in shown)
    assert shown[-1].endswith("finished")


def test_a_listener_is_forgotten_after_the_fit():
    from labelrules.learners.base.progress import phase

    heard = Heard()
    with progress_listener(heard):
        phase("inside")
    phase("outside")
    assert heard.lines == ["inside"]
