"""Queries in the databases themselves, each where it is at hand (see `sql_engines`)."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from export_cases import ODD, layered, part, plain_theories, tables
from exports import by_sql, rows_of
from extras import needs
from labelrules import Dataset, Feature, LayeredTheory, Schema, parse
from labelrules.export import to_sql
from labelrules.learners import Ripper, Scorecard, SeparateAndConquer, StackedBinaryRelevance
from labelrules.rules import Once
from sql_engines import ENGINES, TABLE, engine

needs("sqlglot")
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed.*socket:ResourceWarning",  # Spark leaves them open
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

SERVERS = [name for name in ENGINES if name not in ("sqlite", "duckdb")]
"""SQLite and DuckDB also run in `test_exports`, with the other exports."""

CALLED = {"größe 🙂": "größe"}
"""MySQL has no such signs in names."""


@pytest.mark.parametrize("name", SERVERS)
@settings(max_examples=12)
@given(st.data())
def test_theories_of_any_kind(name, data):
    theory = data.draw(plain_theories(ODD) | layered(ODD, [Once()]))
    rows = data.draw(tables(ODD))
    given_rows = rows_of(rows, unknown="unheard of")
    assert (by_sql(name, theory, given_rows, CALLED) == theory.predict(rows)).all()


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("data", ["flags", "emotions", "birds", "medical"])
def test_real_data(name, data, data_folder):
    database = engine(name)
    learned, rows = part(data, data_folder, 100)
    for learner in (
        SeparateAndConquer(stop_share=0.05),
        StackedBinaryRelevance(Ripper(), labels_from="truth", last_resort=0.05),
        Scorecard(),
    ):
        theory = learner.fit(learned).theory_
        found = by_sql(name, theory, rows_of(rows, unknown="unheard of"), nan=database.has_nan)
        assert (found == theory.predict(rows)).all(), learner


# ---------------------------------------------------------------- numbers


NUMBERS = Schema([Feature("x")], [*"abcd"])


@pytest.mark.parametrize("name", ENGINES)
def test_nan_is_missing(name):
    """Most databases take it for the greatest number, so that it satisfied x > 1."""
    database = engine(name)
    if not database.has_nan:
        pytest.skip(f"{name} has no NaN")
    theory = parse("a <- x > 1\nb <- x <= 1\nnot c <- x > 1\nc <- true", NUMBERS)
    rows = [{"x": value} for value in (None, 2.0, 1.0)]
    expected = theory.predict(np.array([[math.nan], [2.0], [1.0]]))
    assert (by_sql(name, theory, rows, nan=True) == expected).all()


@pytest.mark.parametrize("name", ENGINES)
def test_columns_of_single_precision_are_compared_with_the_whole_threshold(name):
    """As a decimal number, 0.1 became the nearest number of single precision, which is above it."""
    theory = parse("a <- x > 0.1\nb <- x <= 16777217\nc <- x > 2.5\nd <- x > 1e-300", NUMBERS)
    values = np.array([0.1, 16777218, 2.5, 0, 3e-38, np.nan], dtype=np.float32)
    database = engine(name)
    given_values = [None if value != value else value for value in values.tolist()]
    database.fill(
        {"k": ("double", np.arange(float(len(values))).tolist()), "x": ("single", given_values)}
    )
    _, found = database.ask(to_sql(theory, TABLE, dialect=database.dialect, keys=["k"]))
    expected = theory.predict(values.astype(float).reshape(-1, 1))
    assert [row[1:] for row in sorted(found)] == [tuple(row) for row in expected.tolist()]


@pytest.mark.parametrize("name", ENGINES)
def test_thresholds_are_exact(name):
    """Each cut is also a value, and so are its neighbours on both sides."""
    cuts = [5e-324, 1e-300, 0.1, 0.1 + 0.2, 1 / 3, 2.5, 2.0**53, 1e22, 1.7976931348623157e308]
    schema = Schema([Feature("x")], [f"l{number}" for number in range(len(cuts))])
    theory = parse("\n".join(f"l{n} <- x > {cut!r}" for n, cut in enumerate(cuts)), schema)
    near = [
        value for cut in cuts for value in (cut, np.nextafter(cut, 0), np.nextafter(cut, 1e308))
    ]
    values = [float(value) for value in [*near, *np.negative(near), 0.0, -0.0]]
    rows = [{"x": value} for value in values]
    assert (by_sql(name, theory, rows) == theory.predict(np.array(values).reshape(-1, 1))).all()


# ---------------------------------------------------------------- texts


ALIKE = (
    "a",
    "A",
    "ä",
    "a ",
    " a",
    "a\\",
    "\\n",
    "\n",
    "${spark.master}",
    "$",
    "1",
    "01",
    "'",
    "%s",
)


@pytest.mark.parametrize("name", ENGINES)
def test_texts_that_some_databases_take_for_the_same(name):
    """Upper and lower case, accents, spaces at the end; signs that mean something in a query."""
    schema = Schema([Feature("c", ALIKE)], [f"l{number}" for number in range(len(ALIKE))])
    rules = [f"l{n} <- c = {_written(text)}" for n, text in enumerate(ALIKE)]
    theory = parse("\n".join([*rules, f"l1 <- c != {_written('a')}"]), schema)
    rows = [{"c": text} for text in (*ALIKE, "Ä", "A ", "${spark.app.name}", None)]
    codes = [*range(len(ALIKE)), math.nan, math.nan, math.nan, math.nan]
    assert (by_sql(name, theory, rows) == _predicted(theory, codes)).all()


def _predicted(theory, codes):
    column, labels = np.array([codes]).T, np.zeros((len(codes), theory.schema.n_labels), np.int8)
    return theory.predict(Dataset(theory.schema, column, labels))


def _written(text):
    signs = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    return f'"{"".join(signs.get(sign, sign) for sign in text)}"'


def test_columns_of_mysql_with_another_character_set():
    """Bytes of Latin-1 were compared with those of UTF-8."""
    database = engine("mysql")
    schema = Schema([Feature("c", ("größe", "b"))], ["a", "b"])
    theory = parse("a <- c = größe\nb <- c != größe", schema)
    cursor = database.connection.cursor()
    cursor.execute("DROP TABLE IF EXISTS latin")
    cursor.execute("CREATE TEMPORARY TABLE latin (c VARCHAR(9) CHARACTER SET latin1)")
    cursor.executemany("INSERT INTO latin VALUES (%s)", [("größe",), ("b",), ("GRÖSSE",)])
    _, found = database.ask(to_sql(theory, "latin", dialect="mysql", keys=["c"]))
    assert sorted(found) == [("GRÖSSE", 0, 0), ("b", 0, 1), ("größe", 1, 0)]


def test_numbers_in_a_column_of_sqlite_without_a_type():
    """There '1' = 1 is false."""
    schema = Schema([Feature("c", ("1", "2.5", "-3", "01"))], ["a", "b", "c_", "d"])
    theory = parse('a <- c = "1"\nb <- c = "2.5"\nc_ <- c = "-3"\nd <- c != "1"', schema)
    database = engine("sqlite")
    values = [1, 1.0, "1", 2.5, -3, "-3", "01", 4, None]
    codes = [0, 0, 0, 1, 2, 2, 3, math.nan, math.nan]
    database.fill({"k": ("double", np.arange(float(len(values))).tolist()), "c": ("any", values)})
    _, found = database.ask(to_sql(theory, TABLE, keys=["k"]))
    expected = _predicted(theory, codes)
    assert [row[1:] for row in sorted(found)] == [tuple(row) for row in expected.tolist()]


# ---------------------------------------------------------------- truth values


STORED = {
    "boolean": [True, False, None],
    "integer": [1, 0, None, 2],
    "double": [1.0, 0.0, None, 0.5],
    "text": [
        "True",
        "False",
        None,
        "unheard of",
        "true",
        "false",
        "1",
        "0",
        "TRUE",
        "FALSE",
        "t",
        "f",
    ],
}
"""Truth values in columns of these types: true, false, missing; and others."""

MEMBER = """a <- member = True
b <- member = False
c <- member != True
d <- member in {False, True}"""


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("storage", STORED)
@pytest.mark.parametrize("words", [("False", "True"), ("True", "False"), ("false", "TRUE")])
def test_truth_values_as_databases_store_them(name, storage, words):
    """They were compared with 'True': 1 was never that, and an error in PostgreSQL and DuckDB."""
    written = {word.title(): word for word in words}
    text = MEMBER.replace("True", written["True"]).replace("False", written["False"])
    theory = parse(text, Schema([Feature("member", words)], [*"abcd"]))
    database, values = engine(name), STORED[storage]
    keys = list(range(len(values)))
    database.fill({"k": ("double", list(map(float, keys))), "member": (storage, values)})
    _, found = database.ask(to_sql(theory, TABLE, dialect=database.dialect, keys=["k"]))
    meant = [str(value).title().removesuffix(".0") for value in values]
    codes = [
        words.index(written[{"1": "True", "0": "False", "T": "True", "F": "False"}.get(text, text)])
        if text in ("True", "False", "1", "0", "T", "F")
        else math.nan
        for text in meant
    ]
    assert [row[1:] for row in sorted(found)] == list(
        map(tuple, _predicted(theory, codes).tolist())
    )


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("storage", ["boolean", "integer", "text"])
def test_categories_0_and_1_as_databases_store_them(name, storage):
    theory = parse(
        'a <- cough = "1"\nb <- cough != "1"', Schema([Feature("cough", ("0", "1"))], [*"ab"])
    )
    database = engine(name)
    values = {"boolean": [True, False, None], "integer": [1, 0, None], "text": ["1", "0", None]}
    database.fill({"k": ("double", [0.0, 1.0, 2.0]), "cough": (storage, values[storage])})
    _, found = database.ask(to_sql(theory, TABLE, dialect=database.dialect, keys=["k"]))
    assert [row[1:] for row in sorted(found)] == [(1, 0), (0, 1), (0, 0)]


def test_a_learned_model_of_truth_values():
    """`predict` found 67 positives where the query found none."""
    random = np.random.default_rng(0)
    member = random.random(100) < 0.67
    labels = np.column_stack([member, ~member]).astype(int)
    frame = pd.DataFrame({"member": member})
    theory = SeparateAndConquer().fit(frame, labels).theory_
    rows = [{"member": int(value)} for value in member]
    database = engine("sqlite")
    database.fill({"member": ("boolean", [row["member"] for row in rows])})
    _, found = database.ask(to_sql(theory, TABLE))
    assert sum(row[0] for row in found) == theory.predict(frame)[:, 0].sum() == member.sum()


# ---------------------------------------------------------------- names and forms of queries


@pytest.mark.parametrize("name", ENGINES)
def test_names_as_long_as_they_can_be(name):
    """With a further sign the label's column, whose name is taken, had that of the feature."""
    long = "x" * 62
    schema = Schema([Feature(f"{long}1"), Feature(f"{long}2")], [f"X{long[1:]}1", "b"])
    theory = parse(f"X{long[1:]}1 <- {long}1 > 1\nb <- X{long[1:]}1, {long}2 > 1", schema)
    values = np.array([[2.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    rows = [dict(zip(schema.feature_names, row, strict=True)) for row in values.tolist()]
    assert (by_sql(name, theory, rows) == theory.predict(values)).all()


@pytest.mark.parametrize("name", ENGINES)
def test_keys_that_are_features_come_out_as_they_are(name):
    schema = Schema([Feature("x"), Feature("c", ("a", "b"))], ["l", "m"])
    theory = parse("l <- x > 1\nm <- c = a", schema)
    database = engine(name)
    database.fill({"x": ("double", [1.5, None]), "c": ("text", ["a", "A"])})
    names, found = database.ask(to_sql(theory, TABLE, dialect=database.dialect, keys=["c", "x"]))
    assert names == ["c", "x", "l", "m"]
    assert sorted(found) == [("A", None, 0, 0), ("a", 1.5, 1, 1)]


@pytest.mark.parametrize("name", ENGINES)
def test_labels_that_no_row_can_get_any_more(name):
    """Their column was NULL alone, which is text in PostgreSQL, and no number to compare."""
    schema = Schema([Feature("x")], ["true", "b", "c"])
    lines = parse('"true", * <- true\nb <- x > 1\nc <- b', schema)
    rows = [{"x": value} for value in (2.0, None)]
    for theory in (lines, LayeredTheory(schema, [lines, lines])):
        assert by_sql(name, theory, rows).tolist() == [[1, 0, 0]] * 2


@pytest.mark.parametrize("name", ENGINES)
def test_long_chains_of_labels(name):
    """Put into each other, each step twice, the queries of MariaDB took for ever."""
    labels = [f"l{number}" for number in range(40)]
    schema = Schema([Feature("x")], labels)
    rules = ["l0 <- x > 1", "l1 <- x > 2"]
    for number in range(2, len(labels)):
        before, other = labels[number - 1], labels[number - 2]
        rules += [
            f"{labels[number]} <- {before}, x > {number % 3}",
            f"not {labels[number]} <- true",
        ]
        rules += [f"{labels[number]} <- not {other}, not {before}"] if number % 2 else []
    theory = parse("\n".join(rules), schema)
    values = np.array([[0.5], [1.5], [2.5], [math.nan]])
    rows = [{"x": None if value != value else value} for value in values[:, 0].tolist()]
    assert (by_sql(name, theory, rows) == theory.predict(values)).all()
