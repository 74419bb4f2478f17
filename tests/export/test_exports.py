"""Every export gives what `predict` gives, missing values included."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theories
from export_cases import ODD, VALUES, layered, part, plain_theories, tables
from exports import WAYS, by_node, by_python, rows_of
from extras import needs, pd
from labelrules import (
    Body,
    Condition,
    DecisionList,
    Feature,
    Head,
    LabelSet,
    LayeredTheory,
    Rule,
    RuleSet,
    Schema,
    load,
    parse,
)
from labelrules.export import to_javascript, to_pmml, to_python, to_sql
from labelrules.export.plan import steps
from labelrules.export.sql_terms import DIALECTS
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
from labelrules.rules import Gibbs, LabelByLabel, Once, UntilStable
from learners.registry import CHAPTER

needs("sqlglot")

READERS = load("magazines").schema
SETS = ["flags", "emotions", "birds", "genbase", "medical", "enron", "scene", "yeast", "CAL500"]

EXAMPLES = 12
"""Each is a theory of many rules; drawing it takes longer than running it."""

LOOPS = [UntilStable(1), UntilStable(4), LabelByLabel(3), LabelByLabel(1, (6, 5, 4, 3, 2, 1, 0))]


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=EXAMPLES)
@given(st.data())
def test_theories_of_any_kind(way, data):
    theory = data.draw(plain_theories(ODD) | layered(ODD, [Once()]))
    rows = data.draw(tables(ODD))
    expected = theory.predict(rows)
    assert (WAYS[way](theory, rows_of(rows, unknown="unheard of")) == expected).all()


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=EXAMPLES)
@given(theories.rule_sets(ODD, VALUES), tables(ODD))
def test_rules_that_cast_several_votes(way, theory, rows):
    assert (WAYS[way](theory, rows_of(rows)) == theory.predict(rows)).all()


@pytest.mark.parametrize("way", WAYS)
def test_votes_decide_and_ties_are_absences(way):
    """Two rules are outvoted by one; as many votes on both sides write 0, in a layer too."""
    text = """in any order:
        quality +10000, fashion +2 <- sex = Male
        quality -5000, fashion -3, sports +2 <- true
        quality -5000, fashion +1, sports -1 <- children = No"""
    readers = load("magazines")
    votes = parse(text, readers.schema)
    assert {-10000, -5000, 0, 5000} == set(votes.margin(readers)[:, 0].tolist())
    layers = [votes, parse("not sports <- fashion\nsports <- quality", readers.schema)]
    for theory in (votes, LayeredTheory(readers.schema, layers)):
        assert (WAYS[way](theory, rows_of(readers)) == theory.predict(readers)).all()


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=2 * EXAMPLES)
@given(theories.scorecards(ODD, VALUES), tables(ODD))
def test_labels_that_are_decided_together(way, theory, rows):
    assert (WAYS[way](theory, rows_of(rows)) == theory.predict(rows)).all()


SCORED = RuleSet(
    READERS,
    parse(
        """in any order:
        quality -2, tabloid -1, fashion -3, sports -2 <- true
        fashion +4, quality -4 <- sex = Female
        tabloid +2, quality +1 <- education = Primary
        quality +4 <- education = University
        sports +3 <- marital = Single""",
        READERS,
    ),
    [LabelSet((0, 3), -1), LabelSet((0, 2), -3), LabelSet((), -3), LabelSet((1, 2), 1)],
    at_least_one=True,
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "card",
    [
        SCORED,
        RuleSet(READERS, SCORED, SCORED.label_sets),
        RuleSet(READERS, SCORED, at_least_one=True),
        RuleSet(READERS, SCORED[:1], at_least_one=True),
        RuleSet(READERS, (), SCORED.label_sets[2:]),
        RuleSet(READERS, (), SCORED.label_sets[1:2], at_least_one=True),
        RuleSet(READERS, (), at_least_one=True),
    ],
)
def test_scorecards_alone_and_in_layers(way, card):
    """A layer reads what the scorecard has decided, and a scorecard what a layer has."""
    readers = load("magazines")
    reading = parse("not sports <- fashion\ntabloid <- quality\nsports <- tabloid", READERS)
    asked = RuleSet(
        READERS,
        [*card, *parse("in any order:\nsports +5 <- quality", READERS)],
        card.label_sets,
        card.at_least_one,
    )
    fallback = parse("sports <- true", READERS)
    for theory in (
        card,
        LayeredTheory(READERS, [card, reading]),
        LayeredTheory(READERS, [reading, asked], fallback=fallback),
    ):
        assert (WAYS[way](theory, rows_of(readers)) == theory.predict(readers)).all()


def test_the_scorecard_of_these_tests_uses_all_its_parts():
    readers = load("magazines")
    found = SCORED.predict(readers)
    for other in (
        RuleSet(READERS, SCORED, SCORED.label_sets),
        RuleSet(READERS, SCORED, at_least_one=True),
    ):
        assert (other.predict(readers) != found).any()


def test_points_and_label_sets_are_seen_in_what_is_exported():
    assert "(6, ('quality', 'sports'), -1)," in to_python(SCORED)
    assert "return _together(votes, label_sets, 10, fired)" in to_python(SCORED)
    query = to_sql(SCORED, "t")
    assert "CASE WHEN \"sex\" = 'Female' THEN -4 ELSE 0 END" in query
    assert 'MAX("points of quality", "points of tabloid"' in query
    pmml = to_pmml(SCORED)
    assert '<Scorecard modelName="points of quality' in pmml
    assert '<Attribute partialScore="-4">' in pmml


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_its_query_for_a_scorecard(dialect):
    from sqlglot import parse_one

    query = parse_one(to_sql(SCORED, "t", dialect=dialect, keys=["k"]), dialect=dialect)
    assert [select.alias_or_name for select in query.selects] == ["k", *READERS.labels]


def test_votes_are_seen_in_what_is_exported():
    theory = parse("in any order:\nfashion -4, quality +1 <- sex = Male", READERS)
    assert "_vote(votes, {'quality': 1, 'fashion': -4})" in to_python(theory)
    assert "CASE WHEN \"sex\" = 'Male' THEN 4 ELSE 0 END" in to_sql(theory, "t")
    assert '<SimpleRule id="rule 1" score="0" weight="4">' in to_pmml(theory)


@settings(max_examples=EXAMPLES)
@given(layered(ODD, LOOPS), tables(ODD))
def test_layers_that_are_asked_again_and_again(theory, rows):
    for way in (by_python, by_node):
        assert (way(theory, rows_of(rows)) == theory.predict(rows)).all()


# ---------------------------------------------------------------- real data


@pytest.mark.parametrize("name", SETS)
def test_nine_data_sets(name, data_folder):
    data, rows = part(name, data_folder, 200)
    theory = SeparateAndConquer(stop_share=0.05).fit(data).theory_
    expected = theory.predict(rows)
    given = rows_of(rows, unknown="unheard of")
    for way, run in WAYS.items():
        assert (run(theory, given) == expected).all(), way


@pytest.mark.parametrize("name", ["flags", "emotions"])
def test_learned_votes(name, data_folder):
    data, rows = part(name, data_folder, 200)
    theory = Scorecard().fit(data).theory_
    assert any(rule.votes for rule in theory)
    for way, run in WAYS.items():
        assert (run(theory, rows_of(rows)) == theory.predict(rows)).all(), way


LEARNERS = {
    "scorecard": Scorecard(),
    "associative": AssociativeClassifier(),
    "covering": SeparateAndConquer(stop_share=0.05),
    "covering, several labels": SeparateAndConquer(
        heads="multi",
        measure="precision",
        polarity="both",
        stop_share=0.05,
        max_rules=150,
        **CHAPTER,
    ),
    "relevance": BinaryRelevance(Ripper(), last_resort=0.05),
    "chain": ClassifierChain(Ripper()),
    "stacked": StackedBinaryRelevance(Ripper(), labels_from="truth", last_resort=0.05),
    "powerset": LabelPowerset(Ripper(n_passes=0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", SETS)
def test_nine_data_sets_with_every_learner_and_all_rows(name, learner, data_folder):
    data, rows = part(name, data_folder)
    theory = LEARNERS[learner].fit(data).theory_
    expected = theory.predict(rows)
    given = rows_of(rows, unknown="unheard of")
    for way, run in WAYS.items():
        assert (run(theory, given) == expected).all(), way


# ---------------------------------------------------------------- Python


LIST = parse("not fashion <- sex = Male\nfashion, * <- true\nquality <- fashion", READERS)


def test_the_module_needs_nothing(tmp_path):
    path = tmp_path / "exported.py"
    path.write_text(to_python(LIST), encoding="utf-8")
    program = (
        "import exported; print(exported.labels({'sex': None}), exported.predict({'sex': 'Male'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, '.'); {program}"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == ("['fashion'] {'quality': 0, 'tabloid': 0, 'fashion': 0, 'sports': 0}\n")
    assert "import" not in to_python(LIST).split('"""')[2]


def test_rows_as_people_have_them():
    schema = Schema([Feature("n"), Feature("c", ("3", "2.5", "True"))], ["a", "b", "c_"])
    theory = parse('a <- n > 1\nb <- c = "3"\nc_ <- c = "True"', schema)
    module = {}
    exec(to_python(theory), module)
    labels = module["labels"]
    assert labels({"n": np.float32(1.5), "c": 3.0}) == ["a", "b"]
    assert labels({"n": np.int8(1), "c": np.int64(3), "more": 1}) == ["b"]
    assert labels({"n": math.nan, "c": True}) == ["c_"]
    assert labels({"n": None, "c": "unheard of"}) == []
    assert labels({"n": pd.NA, "c": pd.NA}) == []
    with pytest.raises(KeyError, match="the row has no column 'c'; a missing value is None"):
        labels({"n": 1})
    with pytest.raises(ValueError, match="'n' must be a number, not '1'"):
        labels({"n": "1", "c": None})
    with pytest.raises(ValueError, match="'n' must be a number, not True"):
        labels({"n": True, "c": None})


def test_names_cannot_break_out_of_the_module():
    odd = "x'''\n\"\"\"\\\r\x00\u2028\x0c{}%s import os"
    schema = Schema([Feature(odd, (odd, "b"))], [odd + "1"])
    theory = DecisionList(schema, [Rule(Head({0: 1}, 1), Body([Condition.equals(0, 0)]))])
    assert (by_python(theory, [{odd: odd}, {odd: "b"}]) == [[1], [0]]).all()


# ---------------------------------------------------------------- what cannot be exported


EXPORTS = [to_python, to_javascript, lambda theory: to_sql(theory, "t"), to_pmml]


@pytest.mark.parametrize("export", EXPORTS)
def test_what_cannot_be_exported(export):
    with pytest.raises(ValueError, match=r"sampled from .* cannot be exported"):
        export(LayeredTheory(READERS, [LIST], Gibbs()))
    with pytest.raises(TypeError, match="or a fitted learner, not tuple"):
        export(LIST.rules)


@pytest.mark.parametrize("way", [UntilStable(), LabelByLabel()])
def test_sql_and_pmml_have_no_loops(way):
    theory = LayeredTheory(READERS, [LIST], way)
    with pytest.raises(ValueError, match=r"SQL has no loops.*use to_python"):
        to_sql(theory, "t")
    with pytest.raises(ValueError, match=r"PMML has no loops.*use to_python"):
        to_pmml(theory)


def test_characters_that_a_format_does_not_have():
    schema = Schema([Feature("x\x00")], ["a", "b\x01"])
    theory = DecisionList(schema, [Rule(Head({0: 1}, 2), Body([Condition.above(0, 1)]))])
    with pytest.raises(
        ValueError, match=r"SQL has no names with null characters, such as 'x\\x00'"
    ):
        to_sql(theory, "t")
    with pytest.raises(ValueError, match=r"XML cannot hold the character '\\x00' of 'x\\x00'"):
        to_pmml(theory)
    with pytest.raises(ValueError, match="PMML has no models without features"):
        to_pmml(DecisionList(Schema([], ["a"])))


def test_steps_keep_the_order_and_read_what_is_written_before():
    rules = list(
        parse("quality <- true\nsports <- quality\nfashion <- true\ntabloid <- sports", READERS)
    )
    assert steps(rules, True, 100) == [rules[:1], rules[1:3], rules[3:]]
    assert steps(rules, False, 100) == [rules]
