"""Exports, run: the generated module, databases, and an evaluator of PMML."""

import sqlite3

import numpy as np
import pytest

import pmml_evaluator
from labelrules.data import Dataset
from labelrules.inspection import to_pmml, to_python, to_sql

KEY = "the row's number"


def rows_of(data, unknown=()):
    """Rows as mappings from names to values; None for missing ones, or a text nobody knows."""
    columns = [_values(data, column, unknown) for column in range(data.schema.n_features)]
    names = data.schema.feature_names
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(data, column, unknown):
    categories = data.schema.features[column].categories
    for row, value in enumerate(data.column(column).tolist()):
        if np.isnan(value):
            is_unknown = categories is not None and (row + column) % 2 and unknown
            yield unknown if is_unknown else None
        else:
            yield value if categories is None else categories[int(value)]


def with_holes(data, share=0.1, seed=0):
    """The same data with values knocked out at random."""
    X = np.array(data.X.todense() if data.is_sparse else data.X)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return Dataset(data.schema, X, data.Y, data.name)


def by_python(theory, rows):
    module = {}
    exec(compile(to_python(theory), "exported.py", "exec"), module)
    found = [module["predict"](row) for row in rows]
    assert all(tuple(labels) == theory.schema.labels for labels in found)
    return np.array([list(labels.values()) for labels in found], dtype=np.int8)


def by_pmml(theory, rows):
    outputs = pmml_evaluator.evaluate(to_pmml(theory), rows)
    return np.column_stack([outputs[label] for label in theory.schema.labels]).astype(np.int8)


def by_sqlite(theory, rows, columns=None):
    with sqlite3.connect(":memory:") as connection:
        return _by_database(connection, theory, rows, "sqlite", "REAL", columns)


def by_duckdb(theory, rows, columns=None):
    duckdb = pytest.importorskip("duckdb", reason="the extra `test` brings it")
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET threads = 1")
        return _by_database(connection, theory, rows, "duckdb", "DOUBLE", columns)


def _by_database(connection, theory, rows, dialect, number, columns):
    """The rows go in by their names; the labels come out under theirs."""
    schema = theory.schema
    called = {name: (columns or {}).get(name, name) for name in schema.feature_names}
    kinds = [f"{quoted(called[f.name])} {number if f.is_numeric else 'TEXT'}" for f in schema.features]
    connection.execute(f"CREATE TABLE {quoted('my table')} ({quoted(KEY)} INTEGER, {', '.join(kinds)})")
    values = [[number, *row.values()] for number, row in enumerate(rows)]
    marks = ", ".join("?" * (len(kinds) + 1))
    connection.executemany(f"INSERT INTO {quoted('my table')} VALUES ({marks})", values)
    query = to_sql(theory, "my table", dialect=dialect, keys=[KEY], columns=columns)
    result = connection.execute(query)
    names = [column[0] for column in result.description]
    assert names == [KEY, *((columns or {}).get(label, label) for label in schema.labels)]
    found = sorted(result.fetchall())
    assert [row[0] for row in found] == list(range(len(rows)))
    return np.array([row[1:] for row in found], dtype=np.int8)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


WAYS = {"python": by_python, "sqlite": by_sqlite, "duckdb": by_duckdb, "pmml": by_pmml}
"""How a theory can be exported and run; each gives rows by labels."""
