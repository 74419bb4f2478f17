"""The story of one row."""

import numpy as np
import pytest

from goldens import golden
from labelrules import Dataset, Feature, Schema, load, parse, trace
from labelrules.rules import LayeredTheory, UntilStable


def test_reader_4():
    assert str(trace(golden("magazines-multi"), load("magazines"), 3)).splitlines() == [
        "Row: education = University, marital = Divorced, sex = Female, children = No",
        "  quality  present  rule 2: quality, not sports <- education = University",
        "  tabloid  absent   rule 5: quality, not tabloid, sports <- sex = Female",
        "  fashion  present  rule 8: not quality, fashion, not sports <- true",
        "  sports   absent   rule 2: quality, not sports <- education = University",
        "Rule 10 ended the list.",
    ]


def test_missing_values_and_given_labels():
    schema = Schema([Feature("a b"), Feature("c", ("x",))], ["l", "m"])
    data = Dataset(schema, np.array([[np.nan, 0], [1.5, 0]]), np.zeros((2, 2)))
    theory = parse('l <- "a b" > 1', schema)
    board = np.array([[0, -1], [-1, -1]], np.int8)
    assert str(trace(theory, data, 0, board)).splitlines() == [
        'Row: "a b" = ?, c = x',
        "  l  absent   given",
        "  m  absent   by default: no rule that covers the row predicts it",
    ]


def test_unknown_rows():
    with pytest.raises(IndexError, match="there is no row 14: rows are numbered from 0 to 13"):
        trace(golden("magazines-multi"), load("magazines"), 14)


def stacked(inference=None):
    first, second = golden("magazines-sbr-1"), golden("magazines-sbr-2")
    return LayeredTheory(first.schema, [first, second], inference)


def test_layers_are_told_one_after_the_other():
    found = trace(stacked(UntilStable()), load("magazines"), row=10)
    assert str(found).splitlines() == [
        "Row: education = Primary, marital = Married, sex = Female, children = No",
        "Layer 1:",
        "  quality  present  rule 3: quality <- sex = Female",
        "  tabloid  absent   rule 7: not tabloid <- sex = Female, marital = Married",
        "  fashion  absent   rule 11: not fashion <- children = No",
        "  sports   absent   rule 15: otherwise: not sports",
        "Layer 2:",
        "  quality  absent   rule 4: not quality <- true",
        "  tabloid  present  rule 6: tabloid <- not quality",
        "  fashion  present  rule 12: fashion <- true",
        "  sports   absent   rule 13: not sports <- not quality, tabloid",
        "The last layer settled after 4 rounds.",
    ]


def test_what_does_not_settle_is_told():
    text = "layer 1:\nlayer 2, until stable in at most 3 rounds:\nquality <- not quality"
    theory = parse(text, load("magazines").schema)
    assert str(trace(theory, load("magazines"))).splitlines()[-1] == (
        "Not settled: quality changed even in the last round, so the first round counts."
    )


def test_votes_and_samples_name_no_rule():
    readers = load("magazines")
    text = (
        "layer 1:\nin any order:\nquality <- true\nlayer 2, sampled 8 times after 0 rounds, "
        "seed 0:\nsports <- quality (2/0)"
    )
    lines = str(trace(parse(text, readers.schema), readers)).splitlines()
    assert lines[2] == "  quality  present  by vote"
    # Nothing is said of quality in the last layer, so it becomes absent in the first round.
    assert lines[-4].startswith("  quality  absent   sampled: probability 0.00")


def test_rows_without_labels_are_told_of_if_they_are():
    readers = load("magazines")
    text = "layer 1:\nquality <- education = University\nif no label was found:\ntabloid <- true"
    theory = parse(text, readers.schema)
    assert "If no label was found" not in str(trace(theory, readers, row=3))
    assert str(trace(theory, readers, row=0)).splitlines()[-5:-2] == [
        "If no label was found:",
        "  quality  absent   by default: no rule that covers the row predicts it",
        "  tabloid  present  rule 1: otherwise: tabloid",
    ]
