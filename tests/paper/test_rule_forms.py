"""The chapter's table of rule forms: ten rules, what they are and what they cover."""

import numpy as np
import pytest

from goldens import golden
from labelrules import load

# readers covered (label conditions look at the true labels), right, wrong predictions
COUNTS = [
    ([4, 5], 2, 0),
    ([8, 12, 14], 3, 0),
    ([4, 5], 2, 0),
    ([1, 2, 11], 3, 0),
    ([4, 5, 9], 3, 0),
    ([7, 10, 13], 3, 0),
    ([4, 5], 4, 0),
    ([4, 5], 8, 0),
    ([5, 9], 3, 1),
    ([1, 2, 11, 12], 8, 0),
]
# The chapter files the fifth rule under "positive"; it predicts absence.
FORMS = [
    ("single", "positive", "partial", "independent", None),
    ("single", "negative", "partial", "independent", None),
    ("single", "positive", "partial", "partial", None),
    ("single", "negative", "partial", "partial", None),
    ("single", "negative", "partial", "full", "exclusion"),
    ("single", "negative", "partial", "full", None),
    ("multi", "positive", "partial", "independent", None),
    ("multi", "mixed", "complete", "independent", None),
    ("multi", "mixed", "partial", "partial", None),
    ("multi", "negative", "partial", "full", None),
]


@pytest.mark.parametrize("number", range(10))
def test_coverage(number):
    readers = load("magazines")
    rule = golden("rule-forms")[number]
    covered = rule.body.covers(readers.X, readers.Y)
    said = rule.head.vector()
    right = int(((said == readers.Y) & (said >= 0))[covered].sum())
    found = (list(np.flatnonzero(covered) + 1), right, covered.sum() * len(rule.head) - right)
    assert found == COUNTS[number]


@pytest.mark.parametrize("number", range(10))
def test_form(number):
    form = golden("rule-forms")[number].form
    found = (form.heads, form.polarity, form.extent, form.dependence, form.constraint)
    assert found == FORMS[number]


def test_the_one_wrong_prediction_is_the_tabloid_of_reader_5():
    readers = load("magazines")
    rule = golden("rule-forms")[8]
    covered = rule.body.covers(readers.X, readers.Y)
    assert readers.Y[4, 1] == 0
    assert rule.head.vector()[1] == 1
    assert covered[4]
