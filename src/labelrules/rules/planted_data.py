"""Synthetic data sets whose labels follow from known rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from labelrules._checks import number, whole_number
from labelrules._types import UNSET, Board, Floats, Matrix
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset, column_of
from labelrules.rules.conditions import Body, Condition
from labelrules.rules.rule import Head, Rule
from labelrules.rules.theory import DecisionList

TRIES = 500
"""Random rules that are tried to find one that writes something."""


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
    random_state: int = 0,
) -> tuple[Dataset, DecisionList]:
    """Draw features at random and let a random decision list write the labels.

    Every rule writes some cells. A dependency between labels contradicts no earlier rule, so
    that before the noise it holds in every row that its body covers. Labels that others depend on
    come first, those that depend on them last.

    Parameters
    ----------
    n_rows, n_numeric, n_nominal, n_labels : int
        The size of the table. Numeric features are uniform between 0 and 1.
    n_rules, n_local, n_global : int
        Rules that test features only; a feature and a label, dependencies that hold for a part of
        the rows; or a label only, subset and exclusion constraints.
    body_size, head_size : int
        Conditions on features, and labels predicted, per rule (at most as many as there are).
    n_categories : int
        Categories of each nominal feature, all equally likely.
    noise, missing : float
        Shares of label cells that are flipped, and of (stored) feature cells that are missing.
    density : float, optional
        Store X sparse, with this share of entries other than zero.
    random_state : int

    Returns
    -------
    data : Dataset
    theory : DecisionList
        The rules that wrote the labels; without noise it predicts them all.

    Examples
    --------
    >>> data, theory = planted(n_rows=100, random_state=1)
    >>> len(theory), bool((theory.predict(data) == data.Y).all())
    (11, True)
    """
    n_dependent = n_local + n_global
    _check_shares(noise=noise, missing=missing, density=density or 0.0)
    _check_counts(
        n_rows=n_rows, n_numeric=n_numeric, n_nominal=n_nominal, n_labels=n_labels,
        n_rules=n_rules, n_local=n_local, n_global=n_global,
    )  # fmt: skip
    whole_number(n_categories, "n_categories", low=1 if n_nominal else 0)
    if n_dependent and (n_labels < 2 or n_rules == 0):
        raise ValueError("dependencies need two labels, and a rule for the one that others need")
    if n_local and n_numeric + n_nominal == 0:
        raise ValueError("a local dependency needs a feature for its context")
    random = np.random.default_rng(whole_number(random_state, "random_state", low=0))
    schema = _schema(n_numeric, n_nominal, n_labels, n_categories)
    X = _features(random, n_rows, schema, missing, density)
    garden = _Garden(random, X, schema, head_size)
    n_first = n_labels if n_dependent == 0 else (n_labels + 1) // 2
    first, last = range(n_first), range(n_first, n_labels)
    for _ in range(n_rules):
        garden.plant(lambda: garden.conditions(body_size), first)
    for _ in range(n_global):
        garden.plant(lambda: [garden.dependence(first)], last)
    for _ in range(n_local):
        garden.plant(lambda: [*garden.context(), garden.dependence(first)], last)
    theory = DecisionList(schema, garden.rules)
    Y = np.where(garden.board == UNSET, np.int8(0), garden.board)
    Y ^= random.random(Y.shape) < noise
    return Dataset(schema, X, Y, name=f"planted {n_rows} x {schema.n_features}"), theory


@dataclass
class _Garden:
    """The rules so far, and the board that they have written."""

    random: np.random.Generator
    X: Matrix
    schema: Schema
    head_size: int

    def __post_init__(self) -> None:
        self.rules: list[Rule] = []
        self.board: Board = np.full((self.X.shape[0], self.schema.n_labels), UNSET)

    def plant(self, draw: Callable[[], list[Condition]], labels: Sequence[int]) -> None:
        """Add a rule with a drawn body that writes something; a dependency must hold throughout."""
        for _ in range(TRIES):
            body = Body(draw())
            covered = body.covers(self.X, self.board)
            rule = Rule(self.head(labels), body)
            cells = self.board[covered][:, rule.head.labels]
            fits = not body.on_labels or ((cells == UNSET) | (cells == rule.head.values)).all()
            if (fits and (cells == UNSET).any()) or len(self.board) == 0:
                for label, value in rule.head:
                    self.board[covered & (self.board[:, label] == UNSET), label] = value
                self.rules.append(rule)
                return
        raise ValueError(
            f"after {len(self.rules)} rules no further rule writes anything: use fewer rules, or "
            "more rows, labels or features"
        )

    def head(self, labels: Sequence[int]) -> Head:
        chosen = self.random.choice(labels, size=min(self.head_size, len(labels)), replace=False)
        # Presence is more frequent than absence, or most rules would only repeat the default.
        values = {int(label): int(self.random.random() < 0.75) for label in chosen}
        return Head(values, self.schema.n_labels)

    def dependence(self, labels: Sequence[int]) -> Condition:
        """A condition on a label that some row has."""
        present = [label for label in labels if (self.board[:, label] == 1).any()]
        return Condition.label(int(self.random.choice(present or labels)))

    def conditions(self, size: int) -> list[Condition]:
        n_features = self.schema.n_features
        chosen = self.random.choice(n_features, size=min(size, n_features), replace=False)
        return [self.condition(int(column), i == 0) for i, column in enumerate(chosen)]

    def context(self) -> list[Condition]:
        """One condition on a feature, in a sparse table as often for 0 as for the others."""
        column = int(self.random.integers(self.schema.n_features))
        return [self.condition(column, bool(self.random.integers(2)))]

    def condition(self, column: int, first: bool) -> Condition:
        """A test that a fair share of the rows passes, if the values are many and different."""
        categories = self.schema.features[column].categories
        if categories is not None:  # none of them has an order
            return Condition.equals(column, int(self.random.integers(len(categories))))
        values = column_of(self.X, column)
        known = values[~np.isnan(values)]
        quantile = self.random.uniform(0.3, 0.7)
        threshold = round(float(np.quantile(known, quantile)), 3) if len(known) else 0.5
        # In a sparse column most values are 0: test for another one, but not in many columns.
        is_mostly_lowest = threshold <= known.min(initial=1)
        above = first if is_mostly_lowest else bool(self.random.integers(2))
        return (Condition.above if above else Condition.at_most)(column, threshold)


def _check_shares(**shares: float) -> None:
    for name, share in shares.items():
        number(share, name, low=0, high=1)


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        whole_number(count, name, low=0)


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
        X[:, column] = _draw(random, n_rows, feature, 0)
    X[random.random(X.shape) < missing] = np.nan
    return X


def _draw(random: np.random.Generator, size: int, feature: Feature, first: int) -> Floats:
    """Numbers between 0 and 1, or categories from the first one on."""
    if feature.categories is None:
        return random.random(size)
    last = len(feature.categories)
    return random.integers(min(first, last - 1), last, size=size).astype(np.float64)


def _sparse_features(
    random: np.random.Generator, n_rows: int, schema: Schema, missing: float, density: float
) -> sparse.csc_array:
    """Column by column, so that the dense table need not fit into memory."""
    counts = random.binomial(n_rows, density, size=schema.n_features)
    rows = [np.sort(random.choice(n_rows, size=count, replace=False)) for count in counts]
    values = [_draw(random, int(n), f, 1) for n, f in zip(counts, schema.features, strict=True)]
    data = np.concatenate([np.empty(0), *values])
    data[random.random(len(data)) < missing] = np.nan
    indices = np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csc_array((data, indices, indptr), shape=(n_rows, schema.n_features))
