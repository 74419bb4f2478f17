"""The story of one row."""

import numpy as np
import pytest

from goldens import golden
from labelrules import Dataset, Feature, Schema, load, parse, trace


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
