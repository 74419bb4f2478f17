"""RIPPER, rule by rule the same as its slow twin in plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelrules import Dataset, Ripper
from tables import schema_of, tables
from twins.ripper import Table

WAYS = [
    {},
    {"n_passes": 0},
    {"n_passes": 1, "n_folds": 2},
    {"n_passes": 3, "n_folds": 5, "min_coverage": 1},
    {"pruning": False},
    {"check_error": False},
    {"check_error": False, "pruning": False, "min_coverage": 4},
]
any_way = st.sampled_from(WAYS)


def by_the_twin(data, classes, **parameters):
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    is_nominal = [feature.is_nominal for feature in data.schema.features]
    rules, default = Table(X.T.tolist(), is_nominal, classes, **parameters).learn()
    bodies = [body for _, body in rules] + [[]]
    return [*rules, (default, [])][: bodies.index([]) + 1]  # nothing is asked after "true"


def as_told(theory):
    """Rules as (class, conditions): of one label its value, of several the one that is present."""
    return [
        (
            rule.head.values[0] if rule.head.n_labels == 1 else rule.head.values.index(1),
            [(c.column, c.operator, c.value) for c in rule.body],
        )
        for rule in theory
    ]


def check(data, classes, seed, weights=None, **parameters):
    """Compare; random_state is a seed for the seed, so the twin is told what comes of it."""
    drawn = int(np.random.RandomState(seed).randint(2**31 - 1))
    model = Ripper(random_state=seed, **parameters)
    found = model.fit(data).theory_ if data.schema.n_labels == 1 else model._learn(data, None)
    assert as_told(found) == by_the_twin(data, classes, seed=drawn, weights=weights, **parameters)
    return found


@given(tables(max_rows=14, max_labels=1, storage=("dense", "sparse")), any_way, st.integers(0, 9))
@settings(max_examples=150)
def test_the_same_rules_on_small_tables(data, way, seed):
    check(data, data.Y[:, 0].tolist(), seed, **way)


@st.composite
def noisy(draw, n_classes):
    """Larger tables, in which classes follow from conditions but for some rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from([0, 0, 0, 2, 3]), min_size=1, max_size=4))
    n_rows = draw(st.integers(1, 80))
    X = np.empty((n_rows, len(kinds)))
    for j, n in enumerate(kinds):
        few = draw(st.sampled_from([3, 8, 1000]))
        X[:, j] = rng.integers(0, n, n_rows) if n else rng.integers(-few, few, n_rows) / 4
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.3] = 0.0
    classes = np.zeros(n_rows, dtype=np.int64)
    for one in range(1, n_classes):
        for _ in range(2):
            a, b = rng.integers(0, len(kinds), 2)
            classes[(X[:, a] > np.median(X[:, a])) & (X[:, b] <= X[rng.integers(n_rows), b])] = one
    is_noise = rng.random(n_rows) < draw(st.sampled_from([0.0, 0.1, 0.3]))
    classes[is_noise] = rng.integers(0, n_classes, n_rows)[is_noise]
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.1] = np.nan
    stored = sparse.csc_array(X) if draw(st.booleans()) else X
    return stored, kinds, classes


@given(noisy(2), any_way, st.integers(0, 9))
@settings(max_examples=150)
def test_the_same_rules_for_one_label(table, way, seed):
    X, kinds, classes = table
    data = Dataset(schema_of(kinds, 1), X, classes.reshape(-1, 1).astype(np.int8))
    check(data, classes.tolist(), seed, **way)


@given(st.integers(3, 5).flatmap(noisy), any_way, st.integers(0, 9))
@settings(max_examples=100)
def test_the_same_rules_for_several_classes(table, way, seed):
    X, kinds, classes = table
    Y = (classes.reshape(-1, 1) == np.arange(classes.max() + 2)).astype(np.int8)
    check(Dataset(schema_of(kinds, Y.shape[1]), X, Y), classes.tolist(), seed, **way)


def test_there_are_rules_to_compare():
    """On a table like those above most rules have several conditions."""
    rng = np.random.default_rng(3)
    X = rng.integers(-1000, 1000, (80, 4)) / 4
    classes = ((X[:, 0] > 0) & (X[:, 1] <= 60)) | ((X[:, 2] > 100) & (X[:, 3] <= 0))
    data = Dataset(schema_of([0] * 4, 1), X, classes.reshape(-1, 1).astype(np.int8))
    theory = check(data, classes.astype(int).tolist(), 0)
    assert [len(rule.body) for rule in theory] == [2, 2, 0]


@given(noisy(2), any_way, st.integers(0, 9), st.sampled_from(["few", "many", "small"]))
@settings(max_examples=80)
def test_the_same_rules_for_weighted_rows(table, way, seed, kind):
    X, kinds, classes = table
    random = np.random.default_rng(seed)
    weights = {
        "few": random.integers(1, 9, len(classes)) / 4,
        "many": random.exponential(2.0, len(classes)) + 0.01,
        "small": random.random(len(classes)) / 8 + 0.001,
    }[kind]
    weights[0] = 0.5
    schema = schema_of(kinds, 1)
    data = Dataset(schema, X, classes.reshape(-1, 1).astype(np.int8), weights=weights)
    check(data, classes.tolist(), seed, weights=data.weights.tolist(), **way)
