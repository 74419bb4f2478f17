"""PMML in its evaluators: JPMML and PMML4S, where they are at hand (they need Java), and our own.

JPMML
    ``pip install jpmml-evaluator jpype1``
PMML4S
    ``pip install pypmml``
"""

import shutil

import numpy as np
import pytest

import exports
from export.test_exports import LEARNERS
from export_cases import part
from labelrules import Body, Condition, Dataset, DecisionList, Feature, Head, Rule, Schema
from labelrules.export import to_pmml


def jpmml(path):
    module = pytest.importorskip("jpmml_evaluator", reason="pip install jpmml-evaluator jpype1")
    return module.make_evaluator(str(path)).verify().evaluate


def pmml4s(path):
    module = pytest.importorskip("pypmml", reason="pip install pypmml")
    return module.Model.load(str(path)).predict


EVALUATORS = {"JPMML": jpmml, "PMML4S": pmml4s}


@pytest.fixture(params=EVALUATORS)
def evaluated(request, tmp_path):
    """What an evaluator of others gives for a theory and rows."""
    if shutil.which("java") is None:
        pytest.skip("there is no Java")

    def cells(theory, rows):
        path = tmp_path / "theory.pmml"
        path.write_text(to_pmml(theory), encoding="utf-8")
        evaluate = EVALUATORS[request.param](path)
        found = [evaluate(row) for row in rows]
        return np.array([[row[label] for label in theory.schema.labels] for row in found])

    return cells


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flags", "yeast", "medical"])
def test_evaluators_of_others_agree(name, data_folder, evaluated):
    data, rows = part(name, data_folder, 100)
    for learner in ("covering", "covering, several labels", "relevance", "stacked", "scorecard"):
        theory = LEARNERS[learner].fit(data).theory_
        given = exports.rows_of(rows, unknown="unheard of")
        assert (evaluated(theory, given) == theory.predict(rows)).all(), learner


ODD_TEXTS = (
    "a", 'q"x', "back\\slash", "end\\", '\\"', '"', '"a"', "it's", "a b", "a  b", " lead", "trail ",
    "", "tab\tx", "new\nline", "a,b", "\\n", "é", "{x}", "1", "1.0", "01", "TRUE", "<&>", "\\\\",
)  # fmt: skip
"""Quotes and backslashes are what PMML4S misreads in an array, or refuses with the document."""


def sets_of_odd_texts():
    """A theory with sets of odd categories, rows for each of them, and what it predicts."""
    n = len(ODD_TEXTS)
    features = [Feature("set", ODD_TEXTS), Feature("size", ODD_TEXTS, "ordered")]
    schema = Schema(features, [f"l{code}" for code in range(n + 1)])
    rules = [
        Rule(Head({code: 1}, n + 1), Body([Condition.among(0, [code, (code + 1) % n])]))
        for code in range(n)
    ]
    rules.append(Rule(Head({n: 1}, n + 1), Body([Condition.at_most(1, 7)])))
    theory = DecisionList(schema, rules)
    texts = [*ODD_TEXTS, None, "unheard of"]
    codes = np.array([*range(n), np.nan, np.nan])
    data = Dataset(schema, np.column_stack([codes, codes]), np.zeros((n + 2, n + 1), np.int8))
    return theory, [{"set": text, "size": text} for text in texts], theory.predict(data)


def test_sets_of_odd_categories_in_other_evaluators(evaluated):
    theory, rows, expected = sets_of_odd_texts()
    np.testing.assert_array_equal(evaluated(theory, rows), expected)


def test_sets_are_compared_one_by_one():
    """As an array, a set was read in different ways."""
    theory, rows, expected = sets_of_odd_texts()
    assert "Array" not in to_pmml(theory)
    np.testing.assert_array_equal(exports.by_pmml(theory, rows), expected)
