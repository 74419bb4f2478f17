"""Theories as frames of pandas and polars."""

import sys

import pytest

from goldens import golden
from labelrules import DecisionList, LabelSet, LayeredTheory, RuleSet, load, parse

READERS = load("magazines").schema
LAYERS = parse(
    "layer 1:\nin any order:\nquality +2, sports -1 <- true\nlayer 2:\n"
    "sports, not quality, * <- fashion, sex = Male (3/4, 1/0)\nnot sports <- quality\n"
    "if no label was found:\ntabloid <- true",
    READERS,
)


def test_one_row_for_each_rule():
    frame = LAYERS.to_frame("polars")
    assert frame.rows(named=True)[1] == {
        "layer": 2, "is_fallback": False, "number": 1, "head": "not quality, sports, *",
        "body": "fashion, sex = Male", "n_labels": 2, "n_conditions": 2, "n_literals": 4,
        "right": 4, "wrong": 4, "votes": None, "stops": True, "polarity": "mixed",
        "extent": "partial", "dependence": "partial", "constraint": None, "note": None,
    }  # fmt: skip
    assert frame["layer"].to_list() == [1, 2, 2, 3]
    assert frame["is_fallback"].to_list() == [False, False, False, True]
    assert frame["votes"].to_list() == [3, None, None, None]
    assert frame["constraint"].to_list() == [None, None, "exclusion", None]


def test_one_row_for_each_label():
    frame = LAYERS.to_frame("polars", per="label")
    assert frame.select("number", "label", "present", "right", "wrong", "votes").rows() == [
        (1, "quality", True, None, None, 2),
        (1, "sports", False, None, None, 1),
        (1, "quality", False, 1, 0, None),
        (1, "sports", True, 3, 4, None),
        (2, "sports", False, None, None, None),
        (1, "tabloid", True, None, None, None),
    ]


@pytest.mark.parametrize("per", ["rule", "label"])
@pytest.mark.parametrize("theory", [LAYERS, golden("magazines-multi"), DecisionList(READERS)])
def test_both_libraries_say_the_same(theory, per):
    ours, theirs = theory.to_frame(per=per), theory.to_frame("polars", per=per)
    assert list(ours.columns) == theirs.columns
    plain = ours.astype(object).where(ours.notna(), None)
    assert [tuple(row) for row in plain.itertuples(index=False)] == theirs.rows()
    assert str(ours["right"].dtype) == "Int64"
    assert str(ours["layer"].dtype) == "int64"


def test_wrong_names_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="'polars', not 'panda'; did you mean 'pandas'"):
        LAYERS.to_frame("panda")
    with pytest.raises(ValueError, match="per must be 'rule', 'label' or 'label set', not 'head'"):
        LAYERS.to_frame(per="head")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r'needs polars: pip install "labelrules\[polars\]"'):
        LAYERS.to_frame("polars")


def test_label_sets():
    card = RuleSet(READERS, (), [LabelSet((0, 3), 2), LabelSet((), -1)])
    layered = LayeredTheory(READERS, [DecisionList(READERS), card])
    assert layered.to_frame(per="label set").to_dict("list") == {
        "layer": [2, 2], "labels": ["quality, sports", ""], "n_labels": [2, 0], "bonus": [2, -1],
    }  # fmt: skip
    assert len(DecisionList(READERS).to_frame(per="label set")) == 0
