"""The story of one row."""

import numpy as np
import pytest

from goldens import golden
from labelrules import Dataset, Feature, Schema, load, parse, trace
from labelrules.rules import LayeredTheory, UntilStable


def test_reader_4():
    assert str(trace(golden("magazines-multi"), load("magazines"), 3)).splitlines() == [
        "The row: education = University, marital = Divorced, sex = Female, children = No",
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
        'The row: "a b" = ?, c = x',
        "  l  absent   given beforehand",
        "  m  absent   no rule that fires speaks of it, so it is taken to be absent",
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
        "The row: education = Primary, marital = Married, sex = Female, children = No",
        "Layer 1:",
        "  quality  present  rule 3: quality <- sex = Female",
        "  tabloid  absent   rule 7: not tabloid <- sex = Female, marital = Married",
        "  fashion  absent   rule 11: not fashion <- children = No",
        "  sports   absent   rule 15: not sports <- true",
        "Layer 2:",
        "  quality  absent   rule 4: not quality <- true",
        "  tabloid  present  rule 6: tabloid <- not quality",
        "  fashion  present  rule 12: fashion <- true",
        "  sports   absent   rule 13: not sports <- not quality, tabloid",
        "The last layer was asked 4 times, until nothing changed.",
    ]


def test_what_does_not_settle_is_told():
    text = "layer 1:\nlayer 2, until stable in at most 3 rounds:\nquality <- not quality"
    theory = parse(text, load("magazines").schema)
    assert str(trace(theory, load("magazines"))).splitlines()[-1] == (
        "Nothing is settled: quality changed even in the last round, so what the first round "
        "said is kept."
    )


def test_votes_and_samples_name_no_rule():
    readers = load("magazines")
    text = (
        "layer 1:\nin any order:\nquality <- true\nlayer 2, sampled 8 times after 0 rounds, "
        "seed 0:\nsports (2/0) <- quality"
    )
    lines = str(trace(parse(text, readers.schema), readers)).splitlines()
    assert lines[2] == "  quality  present  by vote"
    # Nothing is said of quality in the last layer, so it becomes absent in the first round.
    assert lines[-4].startswith("  quality  absent   sampled: present with probability 0.00")


def test_rows_without_labels_are_told_of_if_they_are():
    readers = load("magazines")
    text = "layer 1:\nquality <- education = University\nrows without labels:\ntabloid <- true"
    theory = parse(text, readers.schema)
    assert "Rows without labels" not in str(trace(theory, readers, row=3))
    assert str(trace(theory, readers, row=0)).splitlines()[-5:-2] == [
        "Rows without labels:",
        "  quality  absent   no rule that fires speaks of it, so it is taken to be absent",
        "  tabloid  present  rule 1: tabloid <- true",
    ]


VOTES = """in any order:
quality x3, not sports <- education = University
not quality <- sex = Female
sports x2 <- quality
tabloid <- sex = Female
not tabloid <- true"""


def test_votes_are_listed_with_the_rules_that_cast_them():
    """A rule set, such as `VotedRules` learns, had no story: "no attribute 'run'"."""
    readers = load("magazines")
    theory = parse(VOTES, readers.schema)
    assert str(trace(theory, readers, 3)).splitlines() == [
        "The row: education = University, marital = Divorced, sex = Female, children = No",
        "  quality  present  by vote, 3 for and 1 against",
        "    +3  rule 1: quality x3, not sports <- education = University",
        "    -1  rule 2: not quality <- sex = Female",
        "  tabloid  absent   by vote, 1 for and 1 against",
        "    +1  rule 4: tabloid <- sex = Female",
        "    -1  rule 5: not tabloid <- true",
        "  fashion  absent   no rule that fires speaks of it, so it is taken to be absent",
        "  sports   absent   by vote, 0 for and 1 against",
        "    -1  rule 1: quality x3, not sports <- education = University",
    ]


def test_the_votes_that_are_told_are_those_that_count():
    readers = load("magazines")
    theory = parse(VOTES, readers.schema)
    for row in range(readers.n_rows):
        told = trace(theory, readers, row)
        sums = [sum(cast for _, cast in told.votes(label)) for label in range(4)]
        assert sums == theory.margin(readers)[row].tolist()
        assert told.board.tolist() == theory.apply(readers)[row].tolist()


def test_no_vote_changes_what_was_given():
    readers = load("magazines")
    board = np.full((14, 4), -1, np.int8)
    board[3, 0] = 1
    lines = str(trace(parse(VOTES, readers.schema), readers, 3, board)).splitlines()
    assert lines[1:3] == [
        "  quality  present  given beforehand",
        "  tabloid  absent   by vote, 1 for and 1 against",
    ]
    assert "    +2  rule 3: sports x2 <- quality" in lines


def test_what_is_no_theory_is_refused():
    with pytest.raises(TypeError, match="such as the theory_ of a learner, not through list"):
        trace([], load("magazines"))
