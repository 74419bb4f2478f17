"""Queries: what they say in each dialect, and what is refused."""

import sqlite3
from contextlib import closing

import pytest

from export_cases import ODD
from exports import by_duckdb, by_sqlite
from extras import needs
from labelrules import (
    Body,
    Condition,
    DecisionList,
    Feature,
    Head,
    Rule,
    RuleSet,
    Schema,
    load,
    parse,
)
from labelrules.export import to_sql
from labelrules.export.sql_terms import DIALECTS

needs("sqlglot")

READERS = load("magazines").schema


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
    columns = {"größe 🙂": "größe"}
    text = to_sql(DecisionList(ODD, rules), "t", dialect=dialect, keys=["k"], columns=columns)
    query = parse_one(text, dialect=dialect)
    assert [select.alias_or_name for select in query.selects] == ["k", *ODD.labels]
    texts = {literal.this for literal in query.find_all(exp.Literal) if literal.is_string}
    assert texts - {"NaN"} == set(ODD.features[3].categories)
    found = {
        float(literal.this) for literal in query.find_all(exp.Literal) if not literal.is_string
    }
    assert found - {float(2**64)} == {*map(abs, numbers), 0, 1}
    names = {column.name for column in query.find_all(exp.Column)}
    assert {"select", "a b", "quo\"te`s'", "größe"} <= names


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
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE features (sex TEXT)")
        connection.executemany("INSERT INTO features VALUES (?)", [("Male",), (None,)])
        assert connection.execute(query).fetchall() == [("Male", 0, 0, 1, 0), (None, 0, 0, 0, 0)]
    with pytest.raises(ValueError, match="table must be a name"):
        to_sql(theory, ())
    with pytest.raises(ValueError, match=r"dialect must be one of .*; did you mean 'sqlite'"):
        to_sql(theory, "t", dialect="sqlight")


def test_mysql_tells_upper_from_lower_case():
    query = to_sql(parse("not fashion <- sex = Male", READERS), "t", dialect="mysql")
    assert "CAST(CAST(`sex` AS CHAR CHARACTER SET utf8mb4) AS BINARY) AS `sex`" in query
    assert "CASE WHEN `sex` = 'Male' THEN 0 END" in query


def test_a_theory_without_columns_still_answers_for_every_row():
    theory = parse("quality <- true", READERS)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (sex TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [("Male",), (None,)])
        for each in (theory, RuleSet(READERS, theory), DecisionList(READERS)):
            found = connection.execute(to_sql(each, "t")).fetchall()
            assert found == [tuple(each.predict(load("magazines"))[0].tolist())] * 2


# ---------------------------------------------------------------- what a database does not have


LONG = "x" * 60


@pytest.mark.parametrize(
    ("dialect", "name", "message"),
    [
        ("postgres", LONG + "ää", r"PostgreSQL has names of at most 63 bytes of UTF-8, not 6[45]"),
        ("mysql", LONG + "12345", r"MySQL has names of at most 64 characters, not 6[56]"),
        ("mysql", "größe 🙂", "MySQL has no names that end in a space, or with characters above"),
        ("mysql", "an end ", "MySQL has no names that end in a space"),
        ("spark", "${user}", r"Spark puts the value of a variable in the place of \$\{\.\.\.\}"),
        ("redshift", LONG * 3, "Redshift has names of at most 127 bytes"),
    ],
)
def test_names_that_a_database_takes_for_others_are_refused(dialect, name, message):
    """PostgreSQL cuts names off, and so took two long ones for the same."""
    label = f"-{name}"
    schema = Schema([Feature(name)], [label, "b"])
    theory = parse(f'"{label}" <- "{name}" > 1\nb <- "{label}"', schema)
    everywhere = {name: "x", label: "y"}
    for columns in ({}, {name: "x"}, {label: "y"}):
        with pytest.raises(ValueError, match=rf"{message}.*columns="):
            to_sql(theory, "t", dialect=dialect, columns=columns)
    with pytest.raises(ValueError, match=message):
        to_sql(theory, "t", dialect=dialect, columns=everywhere, keys=[name])
    with pytest.raises(ValueError, match=rf"{message}.*the path of the table cannot"):
        to_sql(theory, name, dialect=dialect, columns=everywhere)
    assert name not in to_sql(theory, "t", dialect=dialect, columns=everywhere)
    assert name in to_sql(theory, "t", dialect="duckdb")


def test_more_columns_than_a_database_has_are_refused():
    schema = Schema([Feature("x")], [f"l{number}" for number in range(1601)])
    theory = parse("l1 <- x > 1", schema)
    with pytest.raises(ValueError, match=r"1601 columns at once, and PostgreSQL has at most 1600"):
        to_sql(theory, "t", dialect="postgres")
    assert '"l1600"' in to_sql(theory, "t", dialect="duckdb")
