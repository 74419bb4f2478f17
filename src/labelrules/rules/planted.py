"""Tables whose labels follow from known rules."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from labelrules._types import Floats, Matrix
from labelrules.data.dataset import Dataset, column_of
from labelrules.data.schema import Feature, Schema
from labelrules.rules.body import Body
from labelrules.rules.condition import Condition
from labelrules.rules.head import Head
from labelrules.rules.rule import Rule
from labelrules.rules.theory import DecisionList


def planted(
    n_rows: int = 1000,
    n_numeric: int = 5,
    n_nominal: int = 5,
    n_labels: int = 6,
    *,
    n_rules: int = 8,
    n_local: int = 2,
    n_global: int = 1,
    body_size: int = 2,
    head_size: int = 1,
    n_categories: int = 3,
    noise: float = 0.0,
    missing: float = 0.0,
    density: float | None = None,
    seed: int = 0,
) -> tuple[Dataset, DecisionList]:
    """Draw features at random and let a random decision list write the labels.

    Parameters
    ----------
    n_rows, n_numeric, n_nominal, n_labels : int
        The size of the table. Numeric features are uniform between 0 and 1.
    n_rules : int
        Rules whose bodies test features only.
    n_local : int
        Rules that test features and a label: dependencies that hold for a part of the rows.
    n_global : int
        Rules that test a label only: subset and exclusion constraints.
    body_size, head_size : int
        Conditions on features, and labels predicted, per rule (at most as many as there are).
    n_categories : int
        Categories of each nominal feature, all equally likely.
    noise : float
        Share of label cells that are flipped afterwards.
    missing : float
        Share of feature cells that are missing.
    density : float, optional
        Store X sparse, with this share of entries other than zero.
    seed : int

    Returns
    -------
    data : Dataset
    theory : DecisionList
        The rules that wrote the labels; without noise it predicts them all.

    Examples
    --------
    >>> data, theory = planted(n_rows=100, seed=1)
    >>> len(theory)
    11
    >>> bool((theory.predict(data) == data.Y).all())
    True
    """
    for name, share in (("noise", noise), ("missing", missing), ("density", density or 0.0)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} is a share between 0 and 1, not {share}")
    if n_labels < 2 and n_local + n_global:
        raise ValueError("dependencies between labels need at least two labels")
    random = np.random.default_rng(seed)
    schema = _schema(n_numeric, n_nominal, n_labels, n_categories)
    X = _features(random, n_rows, schema, missing, density)
    theory = DecisionList(
        schema, _rules(random, X, schema, (n_rules, n_local, n_global), body_size, head_size)
    )
    Y = theory.predict(Dataset(schema, X, np.zeros((n_rows, n_labels), np.int8)))
    Y ^= random.random(Y.shape) < noise
    return Dataset(schema, X, Y, name=f"planted {n_rows} x {schema.n_features}"), theory


def _schema(n_numeric: int, n_nominal: int, n_labels: int, n_categories: int) -> Schema:
    categories = tuple(f"c{i}" for i in range(n_categories))
    return Schema(
        [Feature(f"x{i}") for i in range(n_numeric)]
        + [Feature(f"a{i}", categories) for i in range(n_nominal)],
        [f"l{i}" for i in range(n_labels)],
    )


def _features(
    random: np.random.Generator, n_rows: int, schema: Schema, missing: float, density: float | None
) -> Matrix:
    if density is not None:
        return _sparse_features(random, n_rows, schema, missing, density)
    X = np.empty((n_rows, schema.n_features), order="F")
    for column, feature in enumerate(schema.features):
        X[:, column] = _draw(random, n_rows, feature)
    X[random.random(X.shape) < missing] = np.nan
    return X


def _draw(random: np.random.Generator, size: int, feature: Feature) -> Floats:
    if feature.categories is None:
        return random.random(size)
    return random.integers(len(feature.categories), size=size).astype(np.float64)


def _sparse_features(
    random: np.random.Generator, n_rows: int, schema: Schema, missing: float, density: float
) -> sparse.csc_array:
    """Column by column, so that the table may be far larger dense than memory is."""
    counts = random.binomial(n_rows, density, size=schema.n_features)
    rows = [np.sort(random.choice(n_rows, size=count, replace=False)) for count in counts]
    values = [_draw(random, int(n), f) for n, f in zip(counts, schema.features, strict=True)]
    data = np.concatenate([np.empty(0), *values])
    data[random.random(len(data)) < missing] = np.nan
    indices = np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csc_array((data, indices, indptr), shape=(n_rows, schema.n_features))


def _rules(
    random: np.random.Generator,
    X: Matrix,
    schema: Schema,
    numbers: tuple[int, int, int],
    body_size: int,
    head_size: int,
) -> Iterator[Rule]:
    """Rules on features first, so that those on labels find labels to look at."""
    n_rules, n_local, n_global = numbers
    for _ in range(n_rules):
        body = _conditions(random, X, schema, body_size)
        yield Rule(_head(random, schema, head_size), Body(body))
    for dependent in range(n_local + n_global):
        look = int(random.integers(schema.n_labels))
        context = _conditions(random, X, schema, 1) if dependent < n_local else []
        condition = Condition.label(look, bool(random.integers(2)) or not context)
        yield Rule(_head(random, schema, head_size, look), Body([*context, condition]))


def _head(random: np.random.Generator, schema: Schema, size: int, but: int | None = None) -> Head:
    others = [label for label in range(schema.n_labels) if label != but]
    labels = random.choice(others, size=min(size, len(others)), replace=False)
    # Presence is more frequent than absence, or most rules would only repeat the default.
    return Head({int(i): int(random.random() < 0.75) for i in labels}, schema.n_labels)


def _conditions(
    random: np.random.Generator, X: Matrix, schema: Schema, size: int
) -> list[Condition]:
    chosen = random.choice(schema.n_features, size=min(size, schema.n_features), replace=False)
    return [_condition(random, X, schema, int(column)) for column in chosen]


def _condition(random: np.random.Generator, X: Matrix, schema: Schema, column: int) -> Condition:
    """A test that a fair share of the rows passes."""
    categories = schema.features[column].categories
    if categories is not None:
        return Condition.equals(column, int(random.integers(len(categories))))
    values = column_of(X, column)
    known = values[~np.isnan(values)]
    middle = float(np.quantile(known, random.uniform(0.3, 0.7))) if len(known) else 0.5
    threshold = round(middle, 3)
    return (Condition.at_most if random.integers(2) else Condition.above)(column, threshold)
