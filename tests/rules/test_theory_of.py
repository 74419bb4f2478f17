"""Functions that read a theory also take a fitted learner."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from labelrules import DecisionList, RuleSet, SeparateAndConquer, load, parse, theory_text
from labelrules.rules import RuleTable, theory_latex, theory_markdown, theory_of

READERS = load("magazines")


@pytest.fixture(scope="module")
def model():
    return SeparateAndConquer().fit(READERS)


@pytest.mark.parametrize("write", [theory_text, theory_latex, theory_markdown])
def test_a_learner_is_written_as_its_theory(write, model):
    assert write(model) == write(model.theory_)
    assert write(model, evidence=True) == write(model.theory_, evidence=True) != write(model)


def test_a_rule_table_of_a_learner_predicts_the_same(model):
    assert np.array_equal(RuleTable(model).predict(READERS), model.predict(READERS))


def test_a_theory_is_its_own():
    for theory in (
        DecisionList(READERS.schema),
        RuleSet(READERS.schema),
        parse("layer 1:", READERS.schema),
    ):
        assert theory_of(theory) is theory


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (SeparateAndConquer, "or a fitted learner, not <class"),
        ("quality <- true", "or a fitted learner, not str"),
        (None, "or a fitted learner, not NoneType"),
    ],
)
def test_anything_else_is_an_error(given, message):
    for function in (theory_of, theory_text, theory_latex, theory_markdown, RuleTable):
        with pytest.raises(TypeError, match=message):
            function(given)


def test_a_learner_must_be_fitted():
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        theory_of(SeparateAndConquer())


def test_what_only_looks_like_a_learner_is_an_error():
    class Foreign:
        def fit(self, X, y):
            return self

    with pytest.raises(TypeError, match="only rules can be shown"):
        theory_of(Foreign())
