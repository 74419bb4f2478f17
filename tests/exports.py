"""Exports, run: the generated module, databases, and an evaluator of PMML."""

import json
import math
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pmml_evaluator
from labelrules.data import Dataset
from labelrules.export import to_javascript, to_pmml, to_python, to_sql
from labelrules.export.plan import Plan
from sql_engines import TABLE, engine

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


def by_node(theory, rows):
    """Run the JavaScript module in Node.js."""
    found = run_in_node(theory, rows, "predict")
    assert all(sorted(labels) == sorted(theory.schema.labels) for labels in found)
    cells = [[labels[name] for name in theory.schema.labels] for labels in found]
    return np.array(cells, dtype=np.int8).reshape(len(rows), -1)


def run_in_node(model, rows, function):
    """What a function of the exported module returns for each row; NaN is given as null."""
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    given = [{name: None if v != v else v for name, v in row.items()} for row in rows]
    program = (
        f"{to_javascript(model)}\nimport {{ readFileSync }} from 'node:fs';\n"
        f"const rows = JSON.parse(readFileSync(0, 'utf8'));\n"
        f"console.log(JSON.stringify(rows.map({function})));\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported.mjs"
        path.write_text(program, encoding="utf-8")
        done = subprocess.run(
            ["node", path], input=json.dumps(given), capture_output=True, text=True, check=False
        )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def by_pmml(theory, rows):
    outputs = pmml_evaluator.evaluate(to_pmml(theory), rows)
    return np.column_stack([outputs[label] for label in theory.schema.labels]).astype(np.int8)


def by_sql(name, theory, rows, columns=None, nan=False):
    """Run the query in a database; missing numbers are NULL, or NaN if so wanted.

    The table has the columns that the query needs, since databases limit how many there are.
    """
    database = engine(name)
    query = to_sql(theory, TABLE, dialect=database.dialect, keys=[KEY], columns=columns)
    database.fill(_columns(theory, rows, columns or {}, nan))
    names, found = database.ask(query)
    assert names == [KEY, *((columns or {}).get(label, label) for label in theory.schema.labels)]
    found = sorted(found)
    assert [row[0] for row in found] == list(range(len(rows)))
    return np.array([row[1:] for row in found], dtype=np.int8).reshape(len(rows), -1)


def _columns(theory, rows, columns, nan):
    """The table: from names to the kind of column, and its values."""
    table = {KEY: ("double", [float(number) for number in range(len(rows))])}
    for number in Plan.of(theory).used:
        feature = theory.schema.features[number]
        values = [row[feature.name] for row in rows]
        if nan and feature.is_numeric:
            values = [math.nan if value is None else value for value in values]
        kind = "double" if feature.is_numeric else feature.time or "text"
        table[columns.get(feature.name, feature.name)] = (kind, values)
    return table


by_sqlite, by_duckdb = partial(by_sql, "sqlite"), partial(by_sql, "duckdb")


WAYS = {
    "python": by_python,
    "node": by_node,
    "sqlite": by_sqlite,
    "duckdb": by_duckdb,
    "pmml": by_pmml,
}
"""How a theory can be exported and run; each gives rows by labels."""
