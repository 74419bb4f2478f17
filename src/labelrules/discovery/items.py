"""Features and labels as items: what may be true of a row."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import counted, suggestion
from labelrules._types import Floats, Integers, Mask
from labelrules.data import Dataset
from labelrules.data.schema import Feature, Schema
from labelrules.discovery.binning import (
    Binning,
    checked_binning,
    label_cuts,
    label_set_numbers,
    thresholds,
)
from labelrules.rules import Body, Condition
from labelrules.rules.formats.language import Style
from labelrules.rules.formats.text import body_text
from labelrules.search.bodies.sorted_columns import simplest_between

Numbers = npt.NDArray[np.int32]
Made: TypeAlias = tuple[tuple[Condition, ...], npt.NDArray[Any]]
"""An item while items are made: its conditions, and its rows."""

Absence: TypeAlias = bool | Literal["features", "labels"]

ABSENT = {"0": "1", "no": "yes", "false": "true", "absent": "present"}
"""Categories that say that something is not there, with those that say that it is."""


@dataclass(frozen=True, eq=False)
class Items:
    """What may be true of a row, and the rows of which it is; made by `items_of`.

    Parameters
    ----------
    schema : Schema
    n_rows : int
    conditions : tuple of tuple of Condition
        For each item, the conditions that hold where it holds; two for a range.
    start : array of int
        Item i holds in ``rows[start[i]:start[i + 1]]``, which rise.
    rows : array of int
    left_out : tuple of str
        Numeric features of which no items were made, since they were not binned.

    Examples
    --------
    >>> from labelrules import load
    >>> items = items_of(load("magazines"))
    >>> print(items)
    13 items in 14 rows
    >>> items.text(0), int(items.counts[0])
    ('education = Primary', 4)
    """

    schema: Schema
    n_rows: int
    conditions: tuple[tuple[Condition, ...], ...] = field(repr=False)
    start: Integers = field(repr=False)
    rows: Numbers = field(repr=False)
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.conditions)

    @cached_property
    def counts(self) -> Integers:
        """The number of rows of each item."""
        return np.diff(self.start)

    @cached_property
    def is_label(self) -> Mask:
        """Which items are labels, present or absent."""
        return np.array([parts[0].on_label for parts in self.conditions], dtype=np.bool_)

    @cached_property
    def column(self) -> Integers:
        """The column of each item: features first, then labels. No row has two of one column."""
        n_features = self.schema.n_features
        numbers = [p[0].column + n_features * p[0].on_label for p in self.conditions]
        return np.array(numbers, dtype=np.int64)

    @cached_property
    def value(self) -> npt.NDArray[np.int8]:
        """For labels, 1 where an item says presence and 0 where it says absence; else -1."""
        values = [int(p[0].value) if p[0].on_label else -1 for p in self.conditions]
        return np.array(values, dtype=np.int8)

    def rows_of(self, item: int) -> Numbers:
        """The rows of one item."""
        return self.rows[self.start[item] : self.start[item + 1]]

    def chosen(self, which: npt.ArrayLike) -> "Items":
        """Some of the items, by number or mask, in the order given."""
        numbers = np.arange(len(self))[np.asarray(which)]
        rows: list[npt.NDArray[Any]] = [self.rows_of(item) for item in numbers.tolist()]
        return _put_together(
            self.schema, self.n_rows, [self.conditions[i] for i in numbers], rows, self.left_out
        )

    def body(self, items: Iterable[int]) -> Body:
        """The body that holds where all these items hold."""
        return Body(condition for item in items for condition in self.conditions[int(item)])

    def text(self, item: int, style: Style = "plain") -> str:
        """One item in the rule language."""
        return body_text(self.body([item]), self.schema, style)

    @cached_property
    def words(self) -> npt.NDArray[np.uint64]:
        """Items by words of 64 rows: a bit is set where the item holds."""
        n_words = (self.n_rows + 63) // 64
        packed = np.zeros((len(self), n_words * 8), dtype=np.uint8)
        of_item = np.repeat(np.arange(len(self)), self.counts)
        bits = (1 << (self.rows & 7)).astype(np.uint8)
        np.bitwise_or.at(packed, (of_item, self.rows >> 3), bits)
        return packed.view("<u8").astype(np.uint64)

    def __str__(self) -> str:
        items, rows = counted(len(self), "item"), counted(self.n_rows, "row")
        left_out = counted(len(self.left_out), "numeric feature")
        return f"{items} in {rows}" + (f"; {left_out} not binned" if self.left_out else "")


def items_of(
    data: Dataset,
    *,
    features: bool = True,
    labels: bool = True,
    absence: Absence = False,
    bins: Binning | None = None,
    n_bins: int = 4,
) -> Items:
    """Make items of a data set.

    A nominal feature has an item for each category that occurs. A binary one, whose categories
    are 0 and 1, no and yes, false and true, or absent and present, has one for the second of
    them, and one for the first only if asked for; so has a numeric feature with no other values
    than 0 and 1, and so has a label. Other numeric features need `bins`. A missing value is in
    no item.

    Parameters
    ----------
    data : Dataset
    features, labels : bool
        Of which columns items are made.
    absence : bool, "features" or "labels"
        Whether absence makes an item too: of binary features and labels, or only of one of them.
    bins : {"width", "frequency", "entropy", "labels"}, optional
        How numeric features are cut into ranges: of equal width, of equally many rows, by the
        entropy of the label sets, or by that of the label that a cut tells best. Thresholds are
        the simplest decimals that part the same rows. Without it numeric features are left out.
    n_bins : int, default=4
        Ranges per feature; for "entropy" and "labels" at most so many.

    Examples
    --------
    >>> from labelrules import dataset
    >>> data = dataset([[0.12, 1], [0.5, 0], [0.61, 1], [0.9, 1]], [[1], [1], [0], [0]])
    >>> items = items_of(data, bins="frequency", n_bins=2, absence="labels")
    >>> [items.text(item) for item in range(len(items))]
    ['x0 <= 0.6', 'x0 > 0.6', 'x1 > 0', 'y0', 'not y0']
    """
    _check(data, features, labels, absence)
    checked_binning(bins, n_bins)
    made: list[Made] = []
    left_out = []
    classes = label_set_numbers(data.Y) if bins == "entropy" else np.zeros(data.n_rows, np.int64)
    for j, feature in enumerate(data.schema.features if features else ()):
        column = _ItemColumn(data, j, feature, absence in (True, "features"))
        if column.needs_bins and bins is None:
            left_out.append(feature.name)
        elif column.needs_bins:
            values = data.column(j)
            if bins == "labels":
                cuts = label_cuts(values, data.Y, n_bins)
            else:
                cuts = thresholds(values, classes, bins or "width", n_bins)
            made += _ranges(j, values, cuts)
        else:
            made += column.items()
    if labels:
        made += _label_items(data, absence in (True, "labels"))
    conditions, rows = [one[0] for one in made], [one[1] for one in made]
    return _put_together(data.schema, data.n_rows, conditions, rows, tuple(left_out))


def _check(data: object, features: bool, labels: bool, absence: object) -> None:
    if not isinstance(data, Dataset):
        raise ValueError(f"data must be a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    if not (features or labels):
        raise ValueError("there are no items: take features, labels or both")
    if absence not in (True, False, "features", "labels"):
        near = suggestion(str(absence), ("features", "labels"))
        raise ValueError(
            f"absence must be True, False, 'features' or 'labels', not {absence!r}{near}"
        )


def _put_together(
    schema: Schema,
    n_rows: int,
    conditions: list[tuple[Condition, ...]],
    rows: list[npt.NDArray[Any]],
    left_out: tuple[str, ...],
) -> Items:
    start = np.concatenate([[0], np.cumsum([len(part) for part in rows])]).astype(np.int64)
    joined = np.concatenate(rows) if rows else np.empty(0)
    return Items(schema, n_rows, tuple(conditions), start, joined.astype(np.int32), left_out)


def _label_items(data: Dataset, absence: bool) -> list[Made]:
    made: list[Made] = []
    for label in range(data.schema.n_labels):
        for value in (1, 0) if absence else (1,):
            rows = np.flatnonzero(data.Y[:, label] == value)
            made.append(((Condition.label(label, bool(value)),), rows))
    return made


def _ranges(j: int, values: Floats, cuts: list[float]) -> list[Made]:
    """The items of a numeric column: at most the first cut, between cuts, above the last."""
    edges = [None, *cuts, None]
    made: list[Made] = []
    for low, high in pairwise(edges):
        parts = [] if low is None else [Condition.above(j, low)]
        parts += [] if high is None else [Condition.at_most(j, high)]
        if parts:  # a column that is not cut says nothing
            holds = np.all([part.holds(values) for part in parts], axis=0)
            made.append((tuple(parts), np.flatnonzero(holds)))
    return made


@dataclass(frozen=True)
class _ItemColumn:
    """One feature: what it stores, and what items that makes."""

    data: Dataset
    j: int
    feature: Feature
    absence: bool

    @cached_property
    def stored(self) -> tuple[npt.NDArray[Any], Floats]:
        """Rows and values; of a sparse column those that are not 0."""
        X = self.data.X
        if not sparse.issparse(X):
            return np.arange(self.data.n_rows, dtype=np.int32), np.asarray(X[:, self.j])
        start, stop = X.indptr[self.j], X.indptr[self.j + 1]
        return X.indices[start:stop], X.data[start:stop]

    @cached_property
    def needs_bins(self) -> bool:
        values = self.stored[1]
        is_binary = np.isnan(values) | (values == 0) | (values == 1)
        return self.feature.is_numeric and not bool(is_binary.all())

    def items(self) -> list[Made]:
        if self.feature.categories is None:
            threshold = simplest_between(0.0, 1.0)
            above = Condition.above(self.j, threshold), self._rows(1.0)
            below = Condition.at_most(self.j, threshold), self._rows(0.0)
            wanted = [above, below] if self.absence else [above]
        else:
            codes = range(len(self.feature.categories))
            if is_binary(self.feature):
                codes = range(1, -1, -1) if self.absence else range(1, 2)
            wanted = [(Condition.equals(self.j, code), self._rows(float(code))) for code in codes]
        return [((condition,), rows) for condition, rows in wanted if len(rows)]

    def _rows(self, value: float) -> npt.NDArray[Any]:
        rows, values = self.stored
        if value == 0 and self.data.is_sparse:
            return np.setdiff1d(np.arange(self.data.n_rows, dtype=np.int32), rows)
        return np.asarray(rows[values == value])


def is_binary(feature: Feature) -> bool:
    """Whether the categories of a feature say that something is absent, or present.

    >>> is_binary(Feature("word", ("0", "1"))), is_binary(Feature("sex", ("Female", "Male")))
    (True, False)
    """
    names = [category.casefold() for category in feature.categories or ()]
    return len(names) == 2 and ABSENT.get(names[0]) == names[1]
