"""Theories and tables to be exported: odd names, numbers that must be exact, and real data."""

import math

import numpy as np
from hypothesis import strategies as st

import theories
from exports import with_holes
from labelrules import (
    Body,
    Dataset,
    DecisionList,
    Feature,
    LayeredTheory,
    Rule,
    Schema,
    load,
)

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
    return theories.theories(schema, VALUES) | theories.scorecards(schema, VALUES)


@st.composite
def layered(draw, schema, ways, parts=plain_theories, max_layers=3):
    layers = draw(st.lists(parts(schema), min_size=1, max_size=max_layers))
    fallback = draw(st.none() | theories.decision_lists(schema, VALUES))
    if fallback is not None:
        rules = [Rule(rule.head, Body(rule.body.on_features), rule.stops) for rule in fallback]
        fallback = DecisionList(schema, rules)
    return LayeredTheory(schema, layers, draw(st.sampled_from(ways)), fallback)


def part(name, folder, n_rows=None):
    data = load(name, folder) if name == "CAL500" else load(name, folder, part="train")
    holes = with_holes(data)
    return data, Dataset(data.schema, np.asfortranarray(holes.X[:n_rows]), data.Y[:n_rows])
