"""The matrix of rules by features: what each rule tests, on the histograms of the data."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from labelrules._checks import counted, quoted, suggestion
from labelrules._html import SHOWN
from labelrules._report import Columns, Part, Report, Table, Tabular
from labelrules._types import Floats, Integers, Matrix
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import column_of
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.summaries import places_of
from labelrules.inspection.tracing import encoded_rows
from labelrules.rules import Body, Rule, Theory, theory_of
from labelrules.rules.language.text import condition_text, head_text, name_text

MAX_BARS = 24
"""Bars of a histogram of numbers; a feature with no more values has a bar for each of them."""


class Bar(NamedTuple):
    """The rows with values greater than `low` and at most `high`, or with one value."""

    low: float
    high: float  #: The same as `low` for a bar of one value or category.
    n_rows: int
    text: str  #: The value, category or range.


class Histogram(NamedTuple):
    """How often a feature has which values."""

    bars: tuple[Bar, ...]  #: By rising value; of categories all, in the order of the schema.
    n_missing: int
    is_by_value: bool  #: Whether each bar stands for one value or category.

    @property
    def most(self) -> int:
        """Rows of the highest bar."""
        return max((bar.n_rows for bar in self.bars), default=0)

    def position(self, value: float) -> float:
        """Where a threshold stands between the left end, 0, and the right end, 1."""
        if not self.bars or value < self.bars[0].low:
            return 0.0
        if self.is_by_value:  # between two bars
            return sum(bar.high <= value for bar in self.bars) / len(self.bars)
        low, high = self.bars[0].low, self.bars[-1].high
        return min((value - low) / (high - low), 1.0)


class ValueCounts(NamedTuple):
    """The different values of a feature, rising, and how many rows have each."""

    values: Floats
    counts: Integers
    n_missing: int

    def n_at_most(self, value: float) -> int:
        """Rows with at most this value."""
        return int(self.counts[: np.searchsorted(self.values, value, "right")].sum())

    def n_of(self, values: frozenset[int]) -> int:
        """Rows with one of these values."""
        return int(self.counts[np.isin(self.values, sorted(values))].sum())


def value_counts(X: Matrix, column: int) -> ValueCounts:
    """Count the values of a column; of a sparse one only the entries that are stored are read."""
    n_rest = 0
    if sparse.issparse(X):
        start, stop = X.indptr[column], X.indptr[column + 1]
        stored = X.data[start:stop]
        n_rest = X.shape[0] - stored.size
    else:
        stored = column_of(X, column)
    known = stored[~np.isnan(stored)]
    values, counts = np.unique(known + 0.0, return_counts=True)  # -0.0 is 0.0
    if n_rest:
        place = int(np.searchsorted(values, 0.0))
        values, counts = np.insert(values, place, 0.0), np.insert(counts, place, n_rest)
    return ValueCounts(values, counts.astype(np.int64), int(stored.size - known.size))


def histogram_of(counted: ValueCounts, feature: Feature) -> Histogram:
    """The histogram of a feature, of the bars that people read best."""
    if feature.categories is not None:
        n_each = dict(
            zip(counted.values.astype(int).tolist(), counted.counts.tolist(), strict=True)
        )
        bars = [Bar(c, c, n_each.get(c, 0), text) for c, text in enumerate(feature.categories)]
        return Histogram(tuple(bars), counted.n_missing, True)
    pairs = zip(counted.values.tolist(), counted.counts.tolist(), strict=True)
    if counted.values.size <= MAX_BARS:
        bars = [Bar(value, value, n, feature.text(value)) for value, n in pairs]
        return Histogram(tuple(bars), counted.n_missing, True)
    edges = _edges(float(counted.values[0]), float(counted.values[-1]), feature)
    ends = np.searchsorted(counted.values, edges, "right")
    sums = np.concatenate([[0], np.cumsum(counted.counts)])[ends]
    # Before the first time that there can be there is none that has a text.
    shown = [float(counted.values[0]), *edges[1:]] if feature.time is not None else edges
    texts = [feature.text(edge) for edge in shown]
    bars = [
        Bar(edges[i], edges[i + 1], int(sums[i + 1] - sums[i]), f"{texts[i]} to {texts[i + 1]}")
        for i in range(len(edges) - 1)
    ]
    return Histogram(tuple(bars), counted.n_missing, False)


def _edges(least: float, most: float, feature: Feature) -> list[float]:
    """Round numbers in equal steps: the first less than all values, the last not less than any."""
    if feature.time is not None:
        stride = max(1, ceil((most - least) / (MAX_BARS - 1)))
        start = int(least) - 1
        n_steps = ceil((most - start) / stride)
        # A last edge beyond the last date there can be would have no text.
        return [*(float(start + i * stride) for i in range(n_steps)), most]
    width = most / (MAX_BARS - 2) - least / (MAX_BARS - 2)
    power = floor(log10(width)) if width > 0 and isfinite(width) else 0
    digit = next((d for d in (1, 2, 5, 10) if d * 10.0**power >= width), 10)
    step = float(f"{digit}e{power}")
    if not isfinite(least / step) or abs(least / step) > 2**52 or abs(most / step) > 2**52:
        return [np.nextafter(least, -np.inf), most]  # steps too small for numbers so large
    first, last = ceil(least / step) - 1, ceil(most / step)
    edges = [float(f"{number * digit}e{power}") for number in range(first, last + 1)]
    # Rounding may leave an extreme value outside.
    edges = [edges[0] - step, *edges] if edges[0] >= least else edges
    return edges if edges[-1] >= most else [*edges, most]


class Threshold(NamedTuple):
    """A number that rules compare a feature with."""

    value: float
    text: str  #: As rules show it: a number, a time, or a category that has an order.
    n_at_most: int  #: Rows with at most this value.
    n_above: int  #: Rows with a greater value; missing values are in neither.
    rules: tuple[Place, ...]  #: The rules that have it.


class MatrixFeature(NamedTuple):
    """A feature that rules test, with its values in the data."""

    feature: Feature
    column: int  #: Its number in the schema.
    n_rules: int  #: Rules that test it.
    histogram: Histogram
    thresholds: tuple[Threshold, ...]  #: By rising value; none of nominal features.


class ConditionCell(NamedTuple):
    """The conditions of one rule on one feature."""

    rule: int  #: The number of the rule in the matrix, from 0.
    feature: int  #: The number of the feature in the matrix, from 0.
    text: str  #: The conditions in the rule language.
    low: float  #: Values must be greater; minus infinity if there is no such limit.
    high: float  #: Values must be at most this; infinity if there is no such limit.
    codes: tuple[int, ...] | None  #: Of a nominal feature the categories it may have, by number.
    n_inside: int  #: Rows of the data that satisfy them.


@dataclass(frozen=True, eq=False, repr=False)
class ConditionMatrix(Report, Tabular):
    """Rules by the features that they test."""

    theory: Theory
    places: tuple[Place, ...]  #: Of the rules: the rows of the matrix.
    heads: tuple[str, ...]  #: Their heads as text.
    features: tuple[MatrixFeature, ...]  #: The columns, the one that most rules test first.
    cells: tuple[ConditionCell, ...]  #: Rule by rule; only those with conditions.
    n_rows: int  #: Of the data.

    _value = "{}({})"

    def of_rule(self, rule: int) -> tuple[ConditionCell, ...]:
        """The cells of one rule, by its number in the matrix, from 0."""
        return tuple(cell for cell in self.cells if cell.rule == rule)

    def feature(self, name: str) -> MatrixFeature:
        """A tested feature by its name."""
        known = {one.feature.name: one for one in self.features}
        if name not in known:
            near = suggestion(str(name), known)
            raise ValueError(f"no rule tests a feature {quoted(name)}{near}")
        return known[name]

    def as_dict(self) -> Columns:
        """The cells as columns."""
        return {
            "rule": [str(self.places[cell.rule]) for cell in self.cells],
            "head": [self.heads[cell.rule] for cell in self.cells],
            "feature": [self.features[cell.feature].feature.name for cell in self.cells],
            "conditions": [cell.text for cell in self.cells],
            "low": [cell.low for cell in self.cells],
            "high": [cell.high for cell in self.cells],
            "inside": [cell.n_inside for cell in self.cells],
        }

    def __iter__(self) -> Iterator[ConditionCell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def headline(self) -> str:
        """How many rules, features and rows."""
        return (
            f"{counted(len(self.places), 'rule')} by {counted(len(self.features), 'feature')}, "
            f"on {counted(self.n_rows, 'row')}"
        )

    def _parts(self) -> Iterator[Part]:
        titles = ["rule", *(name_text(one.feature.name) for one in self.features)]
        texts = {(cell.rule, cell.feature): cell.text for cell in self.cells}
        rows = [
            [f"{place}: {head}", *(texts.get((i, j), "") for j in range(len(self.features)))]
            for i, (place, head) in enumerate(zip(self.places, self.heads, strict=True))
        ]
        yield Table(titles, rows, SHOWN)


def condition_matrix(theory: Any, data: Any) -> ConditionMatrix:
    r"""What each rule tests, feature by feature, with exact histograms of these features.

    Only features that some rule tests are read. Conditions on labels are not part of the matrix:
    `label_graph` has them.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
    data : Dataset, array, sparse matrix or frame

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.rules import clinic_truth
    >>> matrix = condition_matrix(clinic_truth()[1:3], load("clinic"))
    >>> print(matrix)
    2 rules by 4 features, on 1,000 rows
    rule               temperature         oxygen        crp       cough
    rule 1: pneumonia                                    crp > 80  "cough"
    rule 2: pneumonia  temperature > 38.4  oxygen <= 92
    >>> matrix.feature("oxygen").thresholds[0][:4]
    (92.0, '92', 138, 791)
    """
    theory = theory_of(theory)
    X = encoded_rows(theory, data).X
    places = places_of(theory)
    testing: dict[int, list[int]] = {}
    for number, rule in enumerate(theory):
        for column in dict.fromkeys(condition.column for condition in rule.body.on_features):
            testing.setdefault(column, []).append(number)
    columns = sorted(testing, key=lambda column: (-len(testing[column]), column))
    counts = [value_counts(X, column) for column in columns]
    features = tuple(
        _feature(theory, places, column, testing[column], known)
        for column, known in zip(columns, counts, strict=True)
    )
    at = {column: place for place, column in enumerate(columns)}
    cells = tuple(
        _cell(theory.schema, number, rule, column, at[column], counts[at[column]])
        for number, rule in enumerate(theory)
        for column in sorted({c.column for c in rule.body.on_features}, key=at.__getitem__)
    )
    heads = tuple(head_text(rule, theory.schema) for rule in theory)
    return ConditionMatrix(theory, places, heads, features, cells, X.shape[0])


def tested_feature(theory: Theory, X: Matrix, column: int) -> MatrixFeature:
    """One feature as in the matrix, whether or not a rule tests it."""
    testing = [
        number
        for number, rule in enumerate(theory)
        if any(condition.column == column for condition in rule.body.on_features)
    ]
    return _feature(theory, places_of(theory), column, testing, value_counts(X, column))


def _feature(
    theory: Theory, places: tuple[Place, ...], column: int, numbers: list[int], known: ValueCounts
) -> MatrixFeature:
    feature = theory.schema.features[column]
    thresholds = _thresholds(theory, places, column, numbers, known)
    return MatrixFeature(feature, column, len(numbers), histogram_of(known, feature), thresholds)


def _thresholds(
    theory: Theory, places: tuple[Place, ...], column: int, numbers: list[int], known: ValueCounts
) -> tuple[Threshold, ...]:
    rules_of: dict[float, list[Place]] = {}
    rules = tuple(theory)
    for number in numbers:
        tests = (c for c in rules[number].body.on_features if c.column == column)
        for value in dict.fromkeys(c.value for c in tests if not c.is_equality):
            rules_of.setdefault(value, []).append(places[number])
    feature, n_known = theory.schema.features[column], int(known.counts.sum())
    return tuple(
        Threshold(value, feature.text(value), n := known.n_at_most(value), n_known - n, tuple(of))
        for value, of in sorted(rules_of.items())
    )


def _cell(
    schema: Schema, number: int, rule: Rule, column: int, place: int, known: ValueCounts
) -> ConditionCell:
    body = Body(c for c in rule.body.on_features if c.column == column)
    text = ", ".join(condition_text(condition, schema) for condition in body)
    low, high = body.ranges.get((False, column), (-np.inf, np.inf))
    if (False, column) not in body.choices:
        n_inside = max(known.n_at_most(high) - known.n_at_most(low), 0)
        return ConditionCell(number, place, text, low, high, None, n_inside)
    named, excluded = body.choices[False, column]
    every = range(len(schema.features[column].categories or ()))
    codes = frozenset(every if named is None else named) - excluded
    return ConditionCell(number, place, text, low, high, tuple(sorted(codes)), known.n_of(codes))
