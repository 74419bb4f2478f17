"""Hypothesis: small tables to learn rules from, with few values, so that much is tied."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from labelrules import Dataset
from labelrules.data import Feature, Schema

MISSING = float("nan")
FEW_NUMBERS = (-1.0, 0.0, 0.0, 0.5, 1.0, 2.0, 7.25)
CATEGORIES = ("a", "b", "c", "d")


def schema_of(n_categories, n_labels):
    """Features with so many categories each, 0 for a numeric one."""
    features = [Feature(f"x{j}", CATEGORIES[:n] if n else None) for j, n in enumerate(n_categories)]
    return Schema(features, [f"y{j}" for j in range(n_labels)])


def columns_of(n_categories, n_rows, missing=True):
    known = FEW_NUMBERS if n_categories == 0 else tuple(map(float, range(n_categories)))
    cells = st.sampled_from((*known, MISSING) if missing else known)
    return st.lists(cells, min_size=n_rows, max_size=n_rows)


@st.composite
def tables(
    draw,
    max_rows=9,
    max_features=3,
    min_labels=1,
    max_labels=3,
    storage=("dense",),
    missing=True,
    unknown=False,
):
    """Numeric and nominal features, missing values, rows that occur twice, unknown labels."""
    n_categories = draw(st.lists(st.sampled_from([0, 0, 2, 3, 4]), max_size=max_features))
    n_labels = draw(st.integers(min_labels, max_labels))
    n_rows = draw(st.integers(1, max_rows))
    X = np.empty((n_rows, len(n_categories)))
    for j, n in enumerate(n_categories):
        X[:, j] = draw(columns_of(n, n_rows, missing))
    least = -1 if unknown and draw(st.booleans()) else 0
    row = st.lists(st.integers(least, 1), min_size=n_labels, max_size=n_labels)
    Y = np.array(draw(st.lists(row, min_size=n_rows, max_size=n_rows)), dtype=np.int8)
    if (Y == -1).all():
        Y[0, 0] = 0  # where nothing is known, nothing can be learned
    copied = draw(st.lists(st.integers(0, n_rows - 1), max_size=2))
    X, Y = np.vstack([X, X[copied]]), np.vstack([Y, Y[copied]])
    if draw(st.sampled_from(storage)) == "sparse":
        X = sparse.csc_array(X)
    return Dataset(schema_of(n_categories, n_labels), X, Y)


@st.composite
def category_tables(draw, max_rows=120):
    """Columns of 3 to 7 categories and numbers, and labels that follow from sets of categories.

    A category of the schema may not occur, a column may say what a set of another says, and values
    may be missing and labels unknown. All follows from a seed, as small tables have no sets.
    """
    rng = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    kinds = rng.choice([0, 3, 5, 6, 7], rng.integers(1, 4)).tolist()
    n_rows, n_labels = int(rng.integers(max_rows // 4, max_rows)), int(rng.integers(1, 4))
    X = np.column_stack([rng.integers(0, n or 9, n_rows) for n in kinds]).astype(float)
    marks = rng.random((n_labels, 9)) < 0.5
    holds = [marks[label, X[:, label % len(kinds)].astype(int)] for label in range(n_labels)]
    Y = np.column_stack([one ^ (rng.random(n_rows) < rng.choice([0, 0.1])) for one in holds])
    Y = Y.astype(np.int8)
    if rng.random() < 0.5:  # as good as a set, before or after it
        X, kinds = np.column_stack([X, holds[0]]), [*kinds, 2]
        if rng.random() < 0.5:
            X, kinds = np.roll(X, 1, axis=1), [2, *kinds[:-1]]
    if rng.random() < 0.5:
        X = np.where(rng.random(X.shape) < 0.1, MISSING, X)
        Y[rng.random(Y.shape) < 0.1] = -1
        Y[0, 0] = 0  # where nothing is known, nothing can be learned
    more = int(rng.integers(0, 2))
    features = [
        Feature(f"x{j}", tuple("abcdefgh"[: n + more]) if n else None) for j, n in enumerate(kinds)
    ]
    return Dataset(Schema(features, [f"y{j}" for j in range(n_labels)]), X, Y)
