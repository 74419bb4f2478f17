"""Exports, run: the generated module, databases, and an evaluator of PMML."""

import sqlite3

import numpy as np
import pyarrow as pa
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
    kinds = ["REAL" if feature.is_numeric else "TEXT" for feature in theory.schema.features]
    names = _called(theory, columns)
    typed = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(names, kinds, strict=True))
    values = [[number, *row.values()] for number, row in enumerate(rows)]
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f'CREATE TABLE "my table" ({quoted(KEY)} INTEGER, {typed})')
        marks = ", ".join("?" * (len(names) + 1))
        connection.executemany(f'INSERT INTO "my table" VALUES ({marks})', values)
        return _asked(connection, theory, len(rows), "sqlite", columns)


def by_duckdb(theory, rows, columns=None):
    duckdb = pytest.importorskip("duckdb", reason="the extra `test` brings it")
    names = _called(theory, columns)
    table = {KEY: pa.array(range(len(rows)))}
    for name, feature in zip(names, theory.schema.features, strict=True):
        kind = pa.float64() if feature.is_numeric else pa.string()
        table[name] = pa.array([row[feature.name] for row in rows], type=kind)
    with duckdb.connect(":memory:") as connection:
        connection.register("my table", pa.table(table))
        return _asked(connection, theory, len(rows), "duckdb", columns)


def _called(theory, columns):
    return [(columns or {}).get(name, name) for name in theory.schema.feature_names]


def _asked(connection, theory, n_rows, dialect, columns):
    """The labels of the table, in the order of its rows."""
    query = to_sql(theory, "my table", dialect=dialect, keys=[KEY], columns=columns)
    result = connection.execute(query)
    names = [column[0] for column in result.description]
    assert names == [KEY, *((columns or {}).get(label, label) for label in theory.schema.labels)]
    found = sorted(result.fetchall())
    assert [row[0] for row in found] == list(range(n_rows))
    return np.array([row[1:] for row in found], dtype=np.int8)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


WAYS = {"python": by_python, "sqlite": by_sqlite, "duckdb": by_duckdb, "pmml": by_pmml}
"""How a theory can be exported and run; each gives rows by labels."""
