"""Every function that reads a theory takes a fitted learner as well."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from labelrules import load
from labelrules.export import to_pmml, to_python, to_sql
from labelrules.inspection import (
    compare,
    counterfactual,
    explain,
    flips,
    label_graph,
    plot_dependency_matrix,
    plot_label_graph,
    summary,
    trace,
)
from labelrules.learners import BinaryRelevance, Ripper, SeparateAndConquer, StackedBinaryRelevance
from labelrules.rules import theory_html

READERS = load("magazines")

FUNCTIONS = {
    "explain": lambda model: str(explain(model, READERS, 3, training=READERS)),
    "trace": lambda model: str(trace(model, READERS, 3)),
    "summary": lambda model: str(summary(model, READERS)),
    "compare one": lambda model: str(compare(model, _list(), READERS)),
    "compare other": lambda model: str(compare(_list(), model, READERS)),
    "counterfactual": lambda model: str(counterfactual(model, READERS, "sports", 3)),
    "label_graph": lambda model: str(label_graph(model)),
    "to_sql": lambda model: to_sql(model, "readers"),
    # Of a learner the module has probabilities, too.
    "to_python": lambda model: to_python(model).split("def _decided")[1].split("RULES = {")[0],
    "to_pmml": to_pmml,
    "theory_html": theory_html,
}


def _list():
    return _fitted().theory_[:2]


def _fitted():
    return SeparateAndConquer(measure="precision", polarity="both").fit(READERS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_fitted_learner_is_read_as_its_theory(name):
    model = _fitted()
    assert len(model.theory_) > 2
    assert FUNCTIONS[name](model) == FUNCTIONS[name](model.theory_)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_learner_without_a_theory_is_refused_with_the_reason(name):
    for unfitted in (Ripper(), BinaryRelevance()):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            FUNCTIONS[name](unfitted)
    X = np.array([[0.0], [1.0]])
    trees = BinaryRelevance(DecisionTreeClassifier()).fit(X, np.array([[0, 1], [1, 0]]))
    with pytest.raises(TypeError, match="because its base DecisionTreeClassifier does not"):
        FUNCTIONS[name](trees)
    for wrong in ("quality <- true", SeparateAndConquer):
        with pytest.raises(TypeError, match=r"a theory must be a DecisionList, .* not "):
            FUNCTIONS[name](wrong)


def test_flips_and_plots_read_learners_too():
    from matplotlib import pyplot

    model = StackedBinaryRelevance(Ripper(), labels_from="truth").fit(READERS)
    assert flips(model, READERS) == flips(model.theory_, READERS)
    for draw in (plot_dependency_matrix, plot_label_graph):
        titles = [
            draw(source, only_dependent=False).get_title() for source in (model, model.theory_)
        ]
        assert titles[0] == titles[1]
    pyplot.close("all")
