"""Notebooks show the rules of fitted learners, below scikit-learn's diagram."""

import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from labelrules import load
from labelrules.constraints import find_constraints
from labelrules.learners import (
    ClassifierChain,
    ConstrainedClassifier,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.rules import theory_html
from labelrules.rules.views.html import SHOWN_IN_NOTEBOOKS

READERS = load("magazines")


def shown(learner):
    """What `_repr_html_` and `_repr_mimebundle_` give, without scikit-learn's diagram."""
    html = learner._repr_html_()
    assert learner._repr_mimebundle_()["text/html"].count("labelrules") == html.count("labelrules")
    assert "sk-top-container" in html
    place = html.find('<div class="labelrules">')
    return "" if place < 0 else html[place:]


@pytest.mark.parametrize(
    "learner", [SeparateAndConquer(), StackedBinaryRelevance(Ripper())], ids=["list", "layers"]
)
def test_a_fitted_learner_shows_its_rules(learner):
    assert shown(learner) == ""
    learner.fit(READERS)
    assert shown(learner) == theory_html(learner.theory_, max_rules=SHOWN_IN_NOTEBOOKS)


def test_of_several_theories_the_first_is_shown():
    chains = ClassifierChain(Ripper(), n_chains=3).fit(READERS)
    assert "Theory 1 of 3, which vote; all are in theories_" in shown(chains)
    assert shown(chains).endswith(theory_html(chains.theories_[0], max_rules=SHOWN_IN_NOTEBOOKS))


def test_constraints_stand_before_the_rules_that_they_correct():
    model = ConstrainedClassifier(SeparateAndConquer(), constraints=find_constraints(READERS)).fit(
        READERS
    )
    html = shown(model)
    first, second = (html.index(theory_html(t)) for t in (model.constraints_, model.base_.theory_))
    assert first < second


def test_scikit_learns_setting_is_followed():
    model = SeparateAndConquer().fit(READERS)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_a_pipeline_has_its_diagram_only():
    steps = make_pipeline(FunctionTransformer(), SeparateAndConquer())
    steps.fit(READERS.X, READERS.Y)
    html = steps._repr_html_()
    assert "SeparateAndConquer" in html
    assert 'class="labelrules"' not in html
