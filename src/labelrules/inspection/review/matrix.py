"""The matrix of rules by features: what each rule tests, on the histograms of the data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labelrules._checks import counted, quoted, suggestion
from labelrules._html import SHOWN as SHOWN_IN_HTML
from labelrules._html import fragment, html_table, paragraphs
from labelrules._report import pandas_frame
from labelrules._types import Matrix
from labelrules.data.schema import Feature, Schema
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.review.histograms import (
    Histogram,
    ValueCounts,
    histogram_of,
    value_counts,
)
from labelrules.inspection.summaries import Table, places_of, text_table
from labelrules.inspection.tracing import encoded_rows
from labelrules.rules import Body, Rule, Theory, theory_of
from labelrules.rules.language.text import condition_text, head_text, name_text

if TYPE_CHECKING:
    import pandas


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
class ConditionMatrix:
    """Rules by the features that they test."""

    theory: Theory
    places: tuple[Place, ...]  #: Of the rules: the rows of the matrix.
    heads: tuple[str, ...]  #: Their heads as text.
    features: tuple[MatrixFeature, ...]  #: The columns, the one that most rules test first.
    cells: tuple[ConditionCell, ...]  #: Rule by rule; only those with conditions.
    n_rows: int  #: Of the data.

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

    def to_frame(self) -> "pandas.DataFrame":
        """A pandas frame with a row for each cell."""
        return pandas_frame(
            {
                "rule": [str(self.places[cell.rule]) for cell in self.cells],
                "head": [self.heads[cell.rule] for cell in self.cells],
                "feature": [self.features[cell.feature].feature.name for cell in self.cells],
                "conditions": [cell.text for cell in self.cells],
                "low": [cell.low for cell in self.cells],
                "high": [cell.high for cell in self.cells],
                "inside": [cell.n_inside for cell in self.cells],
            }
        )

    def __iter__(self) -> Iterator[ConditionCell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"ConditionMatrix({self.headline})"

    @property
    def headline(self) -> str:
        """How many rules, features and rows."""
        return (
            f"{counted(len(self.places), 'rule')} by {counted(len(self.features), 'feature')}, "
            f"on {counted(self.n_rows, 'row')}"
        )

    def __str__(self) -> str:
        return "\n".join([self.headline, *text_table(self._table())])

    def _repr_html_(self) -> str:
        titles, rows = self._table()
        table = html_table(rows, titles, SHOWN_IN_HTML) if rows else ""
        return fragment(paragraphs([self.headline]), table)

    def _table(self) -> Table:
        titles = ["rule", *(name_text(one.feature.name) for one in self.features)]
        texts = {(cell.rule, cell.feature): cell.text for cell in self.cells}
        rows = [
            [f"{place}: {head}", *(texts.get((i, j), "") for j in range(len(self.features)))]
            for i, (place, head) in enumerate(zip(self.places, self.heads, strict=True))
        ]
        return titles, rows


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
