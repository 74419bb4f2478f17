"""Exported modules give the probabilities of the model, and the rules that decided."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theories
from export_cases import ODD, VALUES, layered, tables
from exports import rows_of, run_in_node
from labelrules import Feature, LabelSet, LayeredTheory, RuleSet, Schema, load, parse, rule_text
from labelrules.export import to_javascript, to_python
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    LabelPowerset,
    Ripper,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.mining import AssociativeClassifier
from labelrules.rules import DecisionList, LabelByLabel, Once, UntilStable

LEARNERS = [
    SeparateAndConquer(),
    SeparateAndConquer(polarity="both", heads="multi", measure="precision", max_rules=20),
    Scorecard(),
    AssociativeClassifier(),
    BinaryRelevance(Ripper(), last_resort=0.05),
    ClassifierChain(Ripper(smoothing=3.0)),
    StackedBinaryRelevance(Ripper()),
    StackedBinaryRelevance(Ripper(), inference="label by label"),
    LabelPowerset(Ripper(n_passes=0)),
]


def in_python(model, rows, function):
    module = {}
    exec(compile(to_python(model), "exported.py", "exec"), module)
    return [module[function](row) for row in rows]


RUNNERS = {"python": in_python, "node": run_in_node}


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: str(one)[:50])
@pytest.mark.parametrize("name", ["flags", "emotions"])
def test_probabilities_of_every_learner(name, learner, runner, data_folder):
    data = load(name, data_folder, part="train")
    model = learner.fit(data)
    rows = data.take(range(60))
    found = RUNNERS[runner](model, rows_of(rows), "probabilities")
    cells = [[one[label] for label in data.schema.labels] for one in found]
    # Powers of two may be rounded otherwise in JavaScript.
    rtol = 1e-15 if runner == "node" else 0
    np.testing.assert_allclose(cells, model.predict_proba(rows), rtol=rtol, atol=0)


def written_by(theory, rows):
    """For each row and label the texts of the rules that decided it, by the runs of the theory."""
    last, run, fallback = theory, None, None
    if isinstance(theory, LayeredTheory):
        whole = theory.run(rows)
        last, run, fallback = theory.layers[-1], whole.layers[-1], whole.fallback
    elif isinstance(theory, DecisionList):
        run = theory.run(rows)
    for row in range(len(rows)):
        for label in range(theory.schema.n_labels):
            rule = None
            if fallback is not None and fallback.writer[row, label] >= 0:
                rule = theory.fallback[int(fallback.writer[row, label])]
            elif run is not None and run.writer[row, label] >= 0:
                rule = last[int(run.writer[row, label])]
            yield [rule_text(rule, theory.schema)] if rule is not None else []


def lists(schema):
    return theories.decision_lists(schema, VALUES)


@pytest.mark.parametrize("runner", RUNNERS)
@settings(max_examples=15)
@given(st.data())
def test_the_rules_that_decided_lists(runner, data):
    ways = [Once(), UntilStable(1), UntilStable(4), LabelByLabel(1), LabelByLabel(3)]
    theory = data.draw(lists(ODD) | layered(ODD, ways, lists, max_layers=2))
    rows = data.draw(tables(ODD))
    found = RUNNERS[runner](theory, rows_of(rows), "reasons")
    given = [one[label] for one in found for label in ODD.labels]
    assert given == list(written_by(theory, rows))


READERS = load("magazines").schema
CARD = RuleSet(
    READERS,
    parse(
        """in any order:
        quality -1, fashion -3 <- true
        fashion +4, quality -4 <- sex = Female
        quality +3 <- education = University""",
        READERS,
    ),
    [LabelSet((0, 3), -1)],
    at_least_one=True,
)


@pytest.mark.parametrize("runner", RUNNERS)
def test_the_points_that_decided(runner):
    rows = [
        {"sex": "Female", "education": "Primary"},
        {"sex": "Male", "education": "Primary"},
        {"sex": "Male", "education": "University"},
    ]
    one, none, usual = RUNNERS[runner](CARD, rows, "reasons")
    assert one["fashion"] == ["quality -1, fashion -3 <- true",
                              "quality -4, fashion +4 <- sex = Female"]  # fmt: skip
    assert one["tabloid"] == []
    assert none["tabloid"] == ["if no label was found: the label with the most points"]
    assert usual["sports"] == []
    together = RuleSet(READERS, CARD, [LabelSet((0, 3), 0)])
    (usual,) = RUNNERS[runner](together, rows[2:], "reasons")
    assert usual["sports"] == ["usual label set {quality, sports} +0"]


@pytest.mark.parametrize("export", [to_python, to_javascript])
def test_a_theory_alone_has_no_probabilities(export):
    assert "probabilities(row)" not in export(CARD)
    assert "probabilities(row)" in export(Scorecard().fit(load("magazines")))


CELLS = Schema(
    [Feature("n"), Feature("c", ("3", "2.5", "True", "1e-05"))],
    ["a", "b", "__proto__", "constructor"],
)


def test_values_as_a_service_gets_them_in_javascript():
    theory = parse(
        """a <- n > 1
        b <- c = "3"
        "__proto__" <- c = "True"
        constructor <- c != "1e-05", c != "3", c != "True\"""",
        CELLS,
    )
    rows = [
        {"n": 1.5, "c": 3}, {"n": 1, "c": True}, {"n": None, "c": None}, {"n": 2, "c": 1e-5},
        {"n": 1, "c": 2.5}, {"n": 1, "c": "unheard of"},
    ]  # fmt: skip
    found = run_in_node(theory, rows, "labels")
    assert found == [["a", "b"], ["__proto__"], [], ["a"], ["constructor"], []]
    assert found == in_python(theory, rows, "labels")


def test_wrong_rows_in_javascript():
    theory = parse("a <- n > 1", CELLS)
    tried = "(row) => { try { return labels(row) } catch (error) { return String(error) } }"
    found = run_in_node(theory, [{"c": 1}, {"n": "1"}, {"n": True}], tried)
    assert found == [
        'RangeError: the row has no column "n"; a missing value is null',
        'TypeError: "n" must be a number, not "1"',
        'TypeError: "n" must be a number, not true',
    ]
