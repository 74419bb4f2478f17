"""Names that a database takes for something else."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from labelrules import Feature, Schema, load, parse
from labelrules.export import to_sql

SCHEMA = Schema([Feature("age")], ["true", "False"])
THEORY = parse('"true" <- age > 1\n"False" <- "true"', SCHEMA)


def test_labels_called_true_and_false_are_not_taken_for_truth_values():
    """SQLite reads "true" as text where it names a column of a subquery; every row had 'true'."""
    query = to_sql(THEORY, "people", keys=["id"], dialect="sqlite")
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("create table people(id integer, age real)")
        base.executemany("insert into people values(?, ?)", [(0, 0.0), (1, 2.0), (2, None)])
        cursor = base.execute(query)
        names, found = [column[0] for column in cursor.description], sorted(cursor.fetchall())
    expected = THEORY.predict(np.array([[0.0], [2.0], [np.nan]]))
    assert found == [(row, *cells) for row, cells in enumerate(expected.tolist())]
    assert names == ["id", "true", "False"]


@pytest.mark.parametrize("name", ["true", "FALSE"])
def test_features_so_called_are_refused_unless_the_table_has_another_name(name):
    schema = Schema([Feature(name)], ["a"])
    theory = parse(f'a <- "{name}" > 1', schema)
    with pytest.raises(ValueError, match=r"SQLite reads the column .* as a truth value"):
        to_sql(theory, "people", dialect="sqlite")
    assert '"is_so"' in to_sql(theory, "people", dialect="sqlite", columns={name: "is_so"})
    assert f'"{name}"' in to_sql(theory, "people", dialect="duckdb")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"keys": "id"}, r"keys must be a list of names, such as \['id'\]"),
        ({"keys": 3}, "keys must be a list of names, not 3"),
        ({"keys": None}, "keys must be a list of names, not None"),
        ({"keys": [3]}, "keys: a name must be text that is not empty, not 3"),
        ({"keys": [""]}, "keys: a name must be text that is not empty"),
        ({"table": 3}, "table must be a name, or a list of names, not 3"),
        (
            {"columns": ["a"]},
            r"columns must map names to names, such as .* not \['a'\]",
        ),
        ({"columns": 3}, "columns must map names to names, such as .* not 3"),
        ({"columns": {"education": ""}}, "columns: a name must be text that is not empty"),
        ({"columns": {"education": 3}}, "columns: a name must be text that is not empty, not 3"),
    ],
)
def test_what_is_no_name_is_refused(wrong, message):
    theory = parse("quality <- education = University", load("magazines").schema)
    with pytest.raises(ValueError, match=message):
        to_sql(theory, **{"table": "readers", **wrong})


@pytest.mark.parametrize("keys", [["true"], ["KEY", "key"], ["id", "id"]])
def test_a_key_can_only_be_renamed_where_it_is(keys):
    """It is no feature and no label, of which `columns` tells other names."""
    theory = parse("quality <- education = University", load("magazines").schema)
    with pytest.raises(ValueError, match="give the key another name in the table") as caught:
        to_sql(theory, "readers", keys=keys)
    assert "columns=" not in str(caught.value)


@pytest.mark.parametrize("key", ["quality", "Education"])
def test_what_is_like_a_key_can_be_renamed(key):
    theory = parse("quality <- education = University", load("magazines").schema)
    with pytest.raises(ValueError, match=r"rename them by columns=\{...\}"):
        to_sql(theory, "readers", keys=[key])
    to_sql(theory, "readers", keys=[key], columns={key.lower(): "other"})


@pytest.mark.parametrize(
    ("name", "meant"),
    [("mssql", ""), ("psql", ""), ("SQLite", "; did you mean 'sqlite'?"),
     ("postgresql", "; did you mean 'postgres'?")],
)  # fmt: skip
def test_dialects_that_there_are_not(name, meant):
    with pytest.raises(ValueError, match=r"dialect must be one of bigquery, .*, trino, ") as caught:
        to_sql(THEORY, "people", dialect=name)
    assert str(caught.value).endswith(f"not '{name}'{meant}")
