"""Small tables, and lists of rules at random, for all that applies rules."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from labelrules import Body, Condition, Dataset, DecisionList, Feature, Head, Rule, Schema
from theories import boards

VALUES = st.sampled_from([-1.0, 0.0, 1.0, 2.0])


@st.composite
def tables(draw):
    """A small schema and rows that its conditions tell apart, missing values included."""
    kinds = draw(st.lists(st.sampled_from([None, 1, 2, 3]), max_size=4))
    features = [
        Feature(f"x{i}", None if kind is None else tuple(f"c{c}" for c in range(kind)))
        for i, kind in enumerate(kinds)
    ]
    schema = Schema(features, [f"l{i}" for i in range(draw(st.integers(1, 4)))])
    cells = [
        st.sampled_from([float("nan"), *([-1.0, 0.0, 0.5, 1.0, 3.0] if k is None else range(k))])
        for k in kinds
    ]
    rows = draw(st.lists(st.tuples(*cells), max_size=6))
    X = np.array(rows, dtype=float).reshape(len(rows), len(kinds))
    return Dataset(schema, X, np.zeros((len(rows), schema.n_labels), np.int8))


def as_sparse(data):
    return Dataset(data.schema, sparse.csc_array(data.X), data.Y)


def random_list(schema, n_rules=40, seed=0):
    """Rules on features and labels at random, a third of them stopping."""
    random = np.random.default_rng(seed)
    rules = []
    for number in range(n_rules):
        x, a, look, said = random.integers([4, 3, 5, 5])
        tests = [Condition.above(int(x), 0.2), Condition.at_most(int(x), 0.9)]
        tests += [Condition.equals(4 + int(a), 1), Condition.label(int(look), bool(number % 2))]
        chosen = random.choice(4, size=int(random.integers(3)), replace=False)
        head = Head({int(said): int(random.integers(2))}, 5)
        rules.append(Rule(head, Body([tests[i] for i in chosen]), stops=number % 3 == 0))
    return DecisionList(schema, rules)


def a_board(draw, data):
    """A board that is given, or none."""
    shape = data.n_rows, data.schema.n_labels
    found = draw.draw(st.none() | boards(*shape))
    return None if found is None else np.array(found, dtype=np.int8).reshape(shape)
