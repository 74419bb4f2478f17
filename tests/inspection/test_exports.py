"""Every export gives what `predict` gives, missing values included."""

import math
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theories
from exports import WAYS, by_duckdb, by_python, by_sqlite, rows_of, with_holes
from labelrules import (
    Body,
    Condition,
    Dataset,
    DecisionList,
    Feature,
    Head,
    LayeredTheory,
    Rule,
    RuleSet,
    Schema,
    load,
    parse,
)
from labelrules.inspection import to_pmml, to_python, to_sql
from labelrules.inspection.export_plan import steps
from labelrules.inspection.export_sql import DIALECTS
from labelrules.learners import (
    AssociativeClassifier,
    BinaryRelevance,
    ClassifierChain,
    LabelPowerset,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
    VotedRules,
)
from labelrules.rules import Gibbs, LabelByLabel, Once, UntilStable
from learners.registry import CHAPTER

pytest.importorskip("sqlglot", reason="the extra `sql` brings it")

READERS = load("magazines").schema
SETS = ["flags", "emotions", "birds", "genbase", "medical", "enron", "scene", "yeast", "CAL500"]

EXAMPLES = 12
"""Each is a theory of many rules; drawing it takes longer than running it."""

ODD = Schema(
    [
        Feature("select"),
        Feature("a b"),
        Feature("quo\"te`s'"),
        Feature("größe 🙂", ("it's", 'a"b', "", "\\", "NULL", "a\nb")),
        Feature("order", ("1", "0")),
        Feature("only", ("one",)),
        Feature("back\\slash"),
    ],
    ["from", "l 2", "it's", "日本", "found", "stopped", "layer 1"],
)
"""Names and categories that are words of SQL, or full of signs that mean something somewhere."""

VALUES = st.sampled_from([0.0, 1.0, -1.5, 0.1, 0.1 + 0.2, 1 / 3, 5e-324, -1.7976931348623157e308])
"""Thresholds that are also values of cells, so that it matters how numbers are written."""


def tables(schema, n_rows=12):
    """Rows of random values; of each column some are missing."""
    cells = [
        VALUES if feature.is_numeric else st.sampled_from(range(len(feature.categories)))
        for feature in schema.features
    ]
    row = st.tuples(*[st.just(math.nan) | cell | cell | cell for cell in cells])
    labels = np.zeros((n_rows, schema.n_labels), dtype=np.int8)
    return st.lists(row, min_size=n_rows, max_size=n_rows).map(
        lambda rows: Dataset(schema, np.asfortranarray(rows, dtype=float), labels)
    )


def plain_theories(schema):
    return theories.theories(schema, VALUES)


@st.composite
def layered(draw, schema, ways):
    layers = draw(st.lists(plain_theories(schema), min_size=1, max_size=3))
    fallback = draw(st.none() | theories.decision_lists(schema, VALUES))
    if fallback is not None:
        rules = [Rule(rule.head, Body(rule.body.on_features), rule.stops) for rule in fallback]
        fallback = DecisionList(schema, rules)
    return LayeredTheory(schema, layers, draw(st.sampled_from(ways)), fallback)


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
        quality x10000, fashion x2 <- sex = Male
        not quality x5000, not fashion x3, sports x2 <- true
        not quality x5000, fashion, not sports <- children = No"""
    readers = load("magazines")
    votes = parse(text, readers.schema)
    assert {-10000, -5000, 0, 5000} == set(votes.margin(readers)[:, 0].tolist())
    layers = [votes, parse("not sports <- fashion\nsports <- quality", readers.schema)]
    for theory in (votes, LayeredTheory(readers.schema, layers)):
        assert (WAYS[way](theory, rows_of(readers)) == theory.predict(readers)).all()


def test_votes_are_seen_in_what_is_exported():
    theory = parse("in any order:\nnot fashion x4, quality <- sex = Male", READERS)
    assert "_vote(votes, {'quality': 1, 'fashion': -4})" in to_python(theory)
    assert "CASE WHEN \"sex\" = 'Male' THEN 4 ELSE 0 END" in to_sql(theory, "t")
    assert '<SimpleRule id="rule 1" score="0" weight="4">' in to_pmml(theory)


@settings(max_examples=EXAMPLES)
@given(layered(ODD, LOOPS), tables(ODD))
def test_layers_that_are_asked_again_and_again_in_python(theory, rows):
    assert (by_python(theory, rows_of(rows)) == theory.predict(rows)).all()


# ---------------------------------------------------------------- real data


def part(name, folder, n_rows=None):
    data = load(name, folder) if name == "CAL500" else load(name, folder, part="train")
    holes = with_holes(data)
    return data, Dataset(data.schema, np.asfortranarray(holes.X[:n_rows]), data.Y[:n_rows])


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
    theory = VotedRules(n_lists=2).fit(data).theory_
    assert any(rule.votes for rule in theory)
    for way, run in WAYS.items():
        assert (run(theory, rows_of(rows)) == theory.predict(rows)).all(), way


LEARNERS = {
    "voted": VotedRules(n_lists=3),
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flags", "yeast", "medical"])
def test_an_evaluator_of_others_agrees(name, data_folder, tmp_path):
    """JPMML, if it is at hand; it needs Java."""
    jpmml = pytest.importorskip("jpmml_evaluator", reason="pip install jpmml-evaluator jpype1")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    data, rows = part(name, data_folder, 100)
    for learner in ("covering", "covering, several labels", "relevance", "stacked", "voted"):
        theory = LEARNERS[learner].fit(data).theory_
        (tmp_path / "theory.pmml").write_text(to_pmml(theory), encoding="utf-8")
        evaluator = jpmml.make_evaluator(str(tmp_path / "theory.pmml")).verify()
        found = [evaluator.evaluate(row) for row in rows_of(rows, unknown="unheard of")]
        got = np.array([[row[label] for label in data.schema.labels] for row in found])
        assert (got == theory.predict(rows)).all(), learner


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
    assert labels({"n": True, "c": np.int64(3), "more": 1}) == ["b"]
    assert labels({"n": math.nan, "c": True}) == ["c_"]
    assert labels({"n": None, "c": "unheard of"}) == []
    assert labels({"n": pd.NA, "c": pd.NA}) == []
    with pytest.raises(KeyError, match="the row has no column 'c'; a missing value is None"):
        labels({"n": 1})
    with pytest.raises(ValueError, match="'n' must be a number, not '1'"):
        labels({"n": "1", "c": None})


def test_names_cannot_break_out_of_the_module():
    odd = "x'''\n\"\"\"\\\r\x00\u2028\x0c{}%s import os"
    schema = Schema([Feature(odd, (odd, "b"))], [odd + "1"])
    theory = DecisionList(schema, [Rule(Head({0: 1}, 1), Body([Condition.equals(0, 0)]))])
    assert (by_python(theory, [{odd: odd}, {odd: "b"}]) == [[1], [0]]).all()


# ---------------------------------------------------------------- SQL


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_says_the_same_names_texts_and_numbers(dialect):
    """The query is read again by the dialect's own grammar."""
    from sqlglot import exp, parse_one

    numbers = [0.1 + 0.2, 5e-324, 1e300, 2.5, -7.0, 123456789.125]
    rules = [
        Rule(Head({label: 1}, ODD.n_labels), Body([Condition.above(label % 3, number)]))
        for label, number in enumerate(numbers)
    ]
    rules += [
        Rule(Head({6: 1, 5: 0}, ODD.n_labels), Body([Condition.equals(3, code)]))
        for code in range(6)
    ]
    query = parse_one(
        to_sql(DecisionList(ODD, rules), "t", dialect=dialect, keys=["k"]), dialect=dialect
    )
    assert [select.alias_or_name for select in query.selects] == ["k", *ODD.labels]
    texts = {literal.this for literal in query.find_all(exp.Literal) if literal.is_string}
    assert texts == set(ODD.features[3].categories)
    found = {
        float(literal.this) for literal in query.find_all(exp.Literal) if not literal.is_string
    }
    assert found == {*map(abs, numbers), 0, 1}
    columns = {column.name for column in query.find_all(exp.Column)}
    assert {"select", "a b", "quo\"te`s'", "größe 🙂"} <= columns


def test_case_and_clashing_names():
    schema = Schema([Feature("Age"), Feature("age")], ["AGE", "b"])
    theory = parse("AGE <- Age > 1\nb <- age > 1, AGE", schema)
    with pytest.raises(
        ValueError, match=r"the table would have the columns 'Age' and 'age'.*columns="
    ):
        to_sql(theory, "t")
    with pytest.raises(ValueError, match="there is no feature or label 'agee'; did you mean 'age'"):
        to_sql(theory, "t", columns={"agee": "x"})
    with pytest.raises(ValueError, match="the result would have the columns 'B' and 'b'"):
        to_sql(theory, "t", columns={"age": "x"}, keys=["B"])
    rows = [{"Age": 2.0, "age": 2.0}, {"Age": 0.0, "age": 2.0}]
    columns = {"age": "age of the other", "b": "both"}
    for run in (by_sqlite, by_duckdb):
        assert (run(theory, rows, columns) == [[1, 1], [0, 0]]).all()


def test_tables_keys_and_names_of_ours():
    theory = parse("fashion <- sex = Male", READERS)
    query = to_sql(theory, ("main", "features"), keys=["sex"])
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE features (sex TEXT)")
        connection.executemany("INSERT INTO features VALUES (?)", [("Male",), (None,)])
        assert connection.execute(query).fetchall() == [("Male", 0, 0, 1, 0), (None, 0, 0, 0, 0)]
    with pytest.raises(ValueError, match="table must be a name"):
        to_sql(theory, ())
    with pytest.raises(ValueError, match=r"dialect must be one of .*; did you mean 'sqlite'"):
        to_sql(theory, "t", dialect="sqlight")


def test_columns_of_single_precision_are_compared_with_the_whole_threshold():
    """As a decimal number, 0.1 became the nearest number of single precision, which is above it."""
    duckdb = pytest.importorskip("duckdb", reason="the extra `test` brings it")
    theory = parse(
        "a <- x > 0.1\nb <- x <= 16777217\nc <- x > 2.5", Schema([Feature("x")], [*"abc"])
    )
    values = np.array([0.1, 16777218, 2.5, np.nan], dtype=np.float32)
    expected = theory.predict(values.reshape(-1, 1))
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (k INTEGER, x FLOAT)")
        for key, value in enumerate(values.tolist()):
            connection.execute(
                "INSERT INTO t VALUES (?, ?)", [key, None if value != value else value]
            )
        query = to_sql(theory, "t", dialect="duckdb", keys=["k"])
        found = sorted(connection.execute(query).fetchall())
    assert [row[1:] for row in found] == [tuple(row) for row in expected.tolist()]


def test_mysql_tells_upper_from_lower_case():
    query = to_sql(LIST, "t", dialect="mysql")
    assert "CAST(`sex` AS BINARY) = CAST('Male' AS BINARY)" in query


def test_a_theory_without_columns_still_answers_for_every_row():
    theory = parse("quality <- true", READERS)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (sex TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [("Male",), (None,)])
        for each in (theory, RuleSet(READERS, theory), DecisionList(READERS)):
            found = connection.execute(to_sql(each, "t")).fetchall()
            assert found == [tuple(each.predict(load("magazines"))[0].tolist())] * 2


# ---------------------------------------------------------------- what cannot be exported


@pytest.mark.parametrize("export", [to_python, lambda theory: to_sql(theory, "t"), to_pmml])
def test_what_cannot_be_exported(export):
    with pytest.raises(ValueError, match=r"sampled from .* cannot be exported"):
        export(LayeredTheory(READERS, [LIST], Gibbs()))
    with pytest.raises(TypeError, match="not a Ripper: of a fitted learner, give theory_"):
        export(Ripper())


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
