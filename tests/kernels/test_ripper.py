"""RIPPER's kernels against plain Python; also run uncompiled."""

import numpy as np
import pytest
from scipy import sparse

from labelrules import Dataset
from labelrules.search.bodies.foil import FoilSearch, SplitMix64
from labelrules.search.bodies.sorted_columns import SortedColumns
from tables import schema_of
from twins.ripper import OneClass, Table

KINDS = [0, 0, 0, 0, 2, 4, 2]


def case(seed, n_rows, storage):
    """Mixed columns with ties, missing values, mostly zero, constant, of few categories."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.integers(-3, 4, n_rows) / 2,
            rng.normal(size=n_rows).round(2),
            rng.choice([0, 0, 0, 0, -1.5, 2, 3], n_rows),
            np.ones(n_rows),
            rng.integers(0, 2, n_rows),
            rng.integers(0, 4, n_rows),
            rng.choice([0, 1, 1, 1, 1], n_rows),
        ]
    )
    classes = (X[:, 0] + X[:, 1] + X[:, 5] / 2 + rng.normal(size=n_rows) < 0.4).astype(np.int64)
    if seed % 2:
        X[rng.random(X.shape) < 0.2] = np.nan
    stored = sparse.csc_array(X) if storage == "sparse" else X
    data = Dataset(schema_of(KINDS, 1), stored, classes.reshape(-1, 1).astype(np.int8))
    return data, Table(X.T.tolist(), [kind > 0 for kind in KINDS], classes.tolist())


CASES = [
    pytest.param(*case(seed, n_rows, storage), seed, id=f"{seed}-{n_rows}-{storage}")
    for seed, n_rows in enumerate([1, 6, 20, 20, 60, 60])
    for storage in ("dense", "sparse")
]
cases = pytest.mark.parametrize(("data", "table", "seed"), CASES)


def as_conditions(search, cuts):
    """Cuts as the twin has conditions: with the outermost training value that they cover."""
    found = []
    for k in range(len(cuts)):
        (condition,) = search.body(cuts[k : k + 1])
        holds = search.covered_by(cuts[k : k + 1], *[np.ones(search.n_rows, dtype=bool)] * 2)[0][-1]
        values = search.columns.X[:, [condition.column]]
        values = values.toarray()[:, 0] if sparse.issparse(values) else values[:, 0]
        np.testing.assert_array_equal(condition.holds(values), holds)
        sign, outermost = {
            "<=": ("<=", values[holds].max()),
            ">": (">=", values[holds].min()),
            "=": ("=", condition.value),
        }[condition.operator]
        found.append((condition.column, sign, outermost))
    return found


@cases
def test_growing(data, table, seed):
    search = FoilSearch(SortedColumns.of(data))
    rng = np.random.default_rng(seed)
    for share in (1.0, 0.7, 0.3, 0.1):
        rows = rng.random(data.n_rows) < share
        positive = data.Y[:, 0] == 1
        twin = OneClass(table, 1, set(np.flatnonzero(rows).tolist()))
        table.least = int(rng.integers(1, 4))
        grown = twin.grown([], twin.rows)
        cuts = search.grow(positive, rows, table.least)
        assert as_conditions(search, cuts) == grown
        longer = search.grow(positive, rows, 1, cuts[:1])
        np.testing.assert_array_equal(longer[:1], cuts[:1])


@cases
def test_covered_rows_and_counts(data, table, seed):
    search = FoilSearch(SortedColumns.of(data))
    positive = data.Y[:, 0] == 1
    cuts = search.grow(positive, np.ones(data.n_rows, dtype=bool), 1)
    rule = as_conditions(search, cuts)
    held = np.random.default_rng(seed).random(data.n_rows) < 0.5
    covered, counts = search.covered_by(cuts, held, positive)
    for n in range(len(rule) + 1):
        rows = table.covered(rule[:n], range(data.n_rows))
        assert set(np.flatnonzero(covered[n]).tolist()) == rows
        inside = covered[n] & held
        assert counts[:, n].tolist() == [inside.sum(), (inside & positive).sum()]


@cases
def test_rows_are_told_apart_by_what_is_in_them(data, table, seed):
    search = FoilSearch(SortedColumns.of(data))
    assert search.order.tolist() == table.order
    backwards = np.arange(data.n_rows)[::-1]
    again = FoilSearch(SortedColumns.of(data.take(backwards)))
    X = data.X.toarray() if data.is_sparse else data.X
    np.testing.assert_array_equal(X[backwards][again.order], X[search.order])


@cases
@pytest.mark.parametrize("folds", [2, 3, 5])
def test_dividing(data, table, seed, folds):
    search = FoilSearch(SortedColumns.of(data))
    left = np.random.default_rng(seed).random(data.n_rows) < 0.8
    classes = data.Y[:, 0].astype(np.int64)
    table.n_folds, table.ranked = folds, [0, 1]
    table.draws = iter(SplitMix64(seed).draw(data.n_rows).tolist())
    expected = table.divided(set(np.flatnonzero(left).tolist()))
    found = search.divide(classes, left, folds, SplitMix64(seed))
    assert [set(np.flatnonzero(part).tolist()) for part in found] == list(expected)


def test_a_long_rule():
    """Each condition takes one row away."""
    n_rows = 14
    X = np.eye(n_rows)[:, 2:]
    data = Dataset(schema_of([0] * (n_rows - 2), 1), X, np.zeros((n_rows, 1), dtype=np.int8))
    positive = np.arange(n_rows) < 2
    cuts = FoilSearch(SortedColumns.of(data)).grow(positive, np.ones(n_rows, dtype=bool), 2)
    assert len(cuts) == n_rows - 2
