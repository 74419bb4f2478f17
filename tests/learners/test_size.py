"""Theories within a number of literals: what is left out, and what comes back."""

import pytest

from labelrules import load, parse
from labelrules.learners import BinaryRelevance, ClassifierChain, Scorecard, SeparateAndConquer
from labelrules.learners.base.size import within_literals
from labelrules.rules import theory_text

READERS = load("magazines")
RULES = """
quality <- education = University
fashion <- sex = Female, education = University
sports <- marital = Divorced, education = Secondary, children = No
otherwise: quality, tabloid, no other label
"""


def smaller(max_literals, rules=RULES):
    theory = parse(rules, READERS.schema).with_evidence(READERS, READERS.Y)
    found = within_literals(theory, READERS, max_literals)
    assert found.n_literals <= max_literals
    return theory_text(found).splitlines()


def test_rules_that_fit_come_back():
    """The short rule is the least useful, and fits when the long one is left out too."""
    first, short, long = (
        "quality <- education = University",
        "tabloid <- marital = Single",
        "fashion <- sex = Female, education = University",
    )
    rules = "\n".join([first, short, long])
    assert smaller(6, rules) == [first, long]
    assert smaller(4, rules) == [first, short]
    assert smaller(3, rules) == [first]


def test_a_default_may_keep_some_of_its_labels():
    (only,) = smaller(1)
    assert only == "otherwise: tabloid, no other label"
    assert smaller(0) == []


@pytest.mark.parametrize("make", [SeparateAndConquer, BinaryRelevance, ClassifierChain, Scorecard])
@pytest.mark.parametrize("most", range(9))
def test_no_learner_exceeds_its_limit(make, most):
    model = make(max_literals=most).fit(READERS)
    assert model.theory_.n_literals <= most
    assert model.predict(READERS).shape == READERS.Y.shape
