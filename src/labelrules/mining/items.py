"""Items: the conditions on features and labels that a row satisfies, as sets of rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import counted, suggestion
from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules._wings import reader_of
from labelrules.data import DataError, Dataset, Partitions
from labelrules.data.codes.thresholds import simplest_between
from labelrules.data.memory.labels import refuse_unknown
from labelrules.data.schema import Feature, Schema
from labelrules.mining.binning import (
    Binning,
    checked_binning,
    label_cuts,
    label_set_numbers,
    thresholds,
)
from labelrules.rules import Body, Condition
from labelrules.rules.language.text import Style, body_text

Numbers = npt.NDArray[np.int32]

Bits: TypeAlias = npt.NDArray[np.uint64]  # 64 rows to a word; bits beyond the last row are 0

AbsentItems: TypeAlias = bool | Literal["features", "labels"]

ABSENT = {"0": "1", "no": "yes", "false": "true", "absent": "present"}  # absence: presence


class Ragged(NamedTuple):
    """Lists of numbers in one array: list i is ``values[start[i]:start[i + 1]]``.

    >>> lists = Ragged.of([[4, 5], [], [6]])
    >>> lists.lengths, lists.take([2, 0]).values
    (array([2, 0, 1]), array([6, 4, 5], dtype=int32))
    """

    start: Integers
    values: Numbers

    @classmethod
    def of(cls, lists: Sequence[npt.ArrayLike]) -> "Ragged":
        """The lists in this order."""
        arrays = [np.asarray(one, dtype=np.int32) for one in lists]
        start = np.concatenate([[0], np.cumsum([one.size for one in arrays])])
        return cls(start.astype(np.int64), np.concatenate([np.empty(0, np.int32), *arrays]))

    @classmethod
    def empty(cls) -> "Ragged":
        """No lists at all."""
        return cls.of([])

    @classmethod
    def joined(cls, parts: Sequence["Ragged"]) -> "Ragged":
        """The lists of all parts, one part after the other."""
        before = np.cumsum([0, *(part.values.size for part in parts)])
        starts = [part.start[1:] + n for part, n in zip(parts, before, strict=False)]
        return cls(
            np.concatenate([[0], *starts]).astype(np.int64),
            np.concatenate([np.empty(0, dtype=np.int32), *(part.values for part in parts)]),
        )

    @property
    def lengths(self) -> Integers:
        """The length of each list."""
        return np.diff(self.start)

    def __getitem__(self, number: int) -> list[int]:  # type: ignore[override]
        return list(self.part(number).tolist())

    def part(self, number: int) -> Numbers:
        """One list as an array."""
        return self.values[self.start[number] : self.start[number + 1]]

    def take(self, chosen: Any) -> "Ragged":
        """Some of the lists, by number, mask or slice."""
        numbers = np.arange(self.start.size - 1)[chosen]
        lengths = self.lengths[numbers]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.start[numbers] - start[:-1], lengths) + np.arange(start[-1])
        return Ragged(start, self.values[places])

    def padded(self) -> Numbers:
        """The lists as the rows of a matrix, filled up with -1."""
        lengths = self.lengths
        matrix = np.full((lengths.size, int(lengths.max(initial=0))), -1, dtype=np.int32)
        matrix[np.arange(matrix.shape[1]) < lengths[:, np.newaxis]] = self.values
        return matrix


@dataclass(frozen=True, eq=False, repr=False)
class Items:
    """Conditions on features and labels, each with the rows that satisfy it; see `items_of`.

    Attributes
    ----------
    schema : Schema
    n_rows : int
    conditions : tuple of tuple of Condition
        For each item its conditions; two for a range.
    rows : Ragged
        For each item the rows that satisfy it, rising.
    left_out : tuple of str
        Numeric features without items, since they were not binned.

    Examples
    --------
    >>> from labelrules import load
    >>> items = items_of(load("magazines"))
    >>> items
    <Items: 13 items in 14 rows>
    >>> items.text(0), int(items.counts[0])
    ('education = Primary', 4)
    """

    schema: Schema
    n_rows: int
    conditions: tuple[tuple[Condition, ...], ...]
    rows: Ragged
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.conditions)

    @cached_property
    def counts(self) -> Integers:
        """The number of rows of each item."""
        return self.rows.lengths

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

    def rows_of(self, item: int) -> Numbers:
        """The rows of one item."""
        return self.rows.part(item)

    def chosen(self, which: npt.ArrayLike) -> "Items":
        """Some of the items, by number or mask, in the order given."""
        numbers = np.arange(len(self))[np.asarray(which)]
        conditions = tuple(self.conditions[item] for item in numbers)
        return replace(self, conditions=conditions, rows=self.rows.take(numbers))

    def within(self, rows: Integers, schema: Schema) -> "Items":
        """The items in some of the rows, which are numbered anew, over another schema."""
        place = np.full(self.n_rows, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        places = place[self.rows.values]
        before = np.concatenate([[0], np.cumsum(places >= 0)])[self.rows.start]
        kept = Ragged(before.astype(np.int64), places[places >= 0])
        return replace(self, schema=schema, n_rows=len(rows), rows=kept)

    def repeated(self, rows: Integers) -> "Items":
        """The items in these rows, each as often as it is listed, which are numbered anew."""
        taken = []
        for item in range(len(self)):
            holds = np.zeros(self.n_rows, dtype=np.bool_)
            holds[self.rows_of(item)] = True
            taken.append(np.flatnonzero(holds[rows]))
        return replace(self, n_rows=len(rows), rows=Ragged.of(taken))

    def body(self, items: Iterable[int]) -> Body:
        """The body that tests all these items."""
        return Body(condition for item in items for condition in self.conditions[int(item)])

    def text(self, item: int, style: Style = "plain") -> str:
        """One item in the rule language."""
        return body_text(self.body([item]), self.schema, style)

    @cached_property
    def words(self) -> Bits:
        """Items by words of 64 rows: a bit is set where the item holds."""
        n_words = (self.n_rows + 63) // 64
        packed = np.zeros((len(self), n_words * 8), dtype=np.uint8)
        of_item = np.repeat(np.arange(len(self)), self.counts)
        bits = (1 << (self.rows.values & 7)).astype(np.uint8)
        np.bitwise_or.at(packed, (of_item, self.rows.values >> 3), bits)
        return packed.view("<u8").astype(np.uint64)

    def __repr__(self) -> str:
        return f"<Items: {self}>"

    def __str__(self) -> str:
        items, rows = counted(len(self), "item"), counted(self.n_rows, "row")
        left_out = counted(len(self.left_out), "numeric feature")
        return f"{items} in {rows}" + (f"; {left_out} not binned" if self.left_out else "")


class _NewItem(NamedTuple):
    conditions: tuple[Condition, ...]
    rows: npt.NDArray[Any]


def items_of(
    data: Dataset,
    *,
    features: bool = True,
    labels: bool = True,
    absent_items: AbsentItems = False,
    bins: Binning | None = None,
    n_bins: int = 4,
) -> Items:
    """The items of a data set.

    A nominal feature has an item for each category that occurs. A binary one, whose categories
    are 0 and 1, no and yes, false and true, or absent and present, has an item for presence, and
    with `absent_items` one for absence; so has a numeric feature whose only values are 0 and 1, and
    so has a label. Other numeric features need `bins`. A missing value is in no item.

    Parameters
    ----------
    data : Dataset
    features, labels : bool
        Which columns have items.
    absent_items : bool, "features" or "labels"
        Whether absence is an item too: of binary features and labels, or of only one of them.
    bins : {"width", "frequency", "entropy", "labels"}, optional
        How numeric features are cut into ranges: of equal width, of equal frequency, by the
        entropy of the label sets, or by that of the label that a cut predicts best. A threshold is
        the simplest decimal that parts the same rows. By default numeric features are left out.
    n_bins : int, default=4
        Ranges of each feature; the largest number of them for "entropy" and "labels".

    Examples
    --------
    >>> from labelrules import dataset
    >>> data = dataset([[0.12, 1], [0.5, 0], [0.61, 1], [0.9, 1]], [[1], [1], [0], [0]])
    >>> items = items_of(data, bins="frequency", n_bins=2, absent_items="labels")
    >>> [items.text(item) for item in range(len(items))]
    ['x0 <= 0.6', 'x0 > 0.6', 'x1 > 0', 'y0', 'not y0']
    """
    check_dataset(data)
    check_columns(features, labels, absent_items)
    checked_binning(bins, n_bins)
    made: list[_NewItem] = []
    left_out = []
    classes = label_set_numbers(data.Y) if bins == "entropy" else None
    for j, feature in enumerate(data.schema.features if features else ()):
        of_column = _column_items(data, j, feature, absent_items in (True, "features"))
        if of_column is not None:
            made += of_column
        elif bins is None:
            left_out.append(feature.name)
        elif bins == "labels":
            made += _ranges(j, data.column(j), label_cuts(data.column(j), data.Y, n_bins, feature))
        else:
            cuts = thresholds(data.column(j), classes, bins, n_bins, feature)
            made += _ranges(j, data.column(j), cuts)
    if labels:
        made += _label_items(data, absent_items in (True, "labels"))
    conditions, rows = tuple(one.conditions for one in made), Ragged.of([one.rows for one in made])
    return Items(data.schema, data.n_rows, conditions, rows, tuple(left_out))


def check_columns(features: bool, labels: bool, absent_items: object) -> None:
    """Raise unless some columns are wanted, and absent items of a kind that there is."""
    if not (features or labels):
        raise ValueError("there are no items: take features, labels or both")
    if absent_items not in (True, False, "features", "labels"):
        near = suggestion(str(absent_items), ("features", "labels"))
        raise ValueError(
            f"absent_items must be True, False, 'features' or 'labels', not {absent_items!r}{near}"
        )


def check_dataset(data: object) -> None:
    """Raise unless this is a `Dataset`, of rows that count alike."""
    if isinstance(data, Partitions):
        raise DataError(
            "data are in partitions, and this needs all rows in memory: of discovery, "
            "frequent_itemsets and find_constraints take partitions"
        )
    if not isinstance(data, Dataset):
        if reader_of(data) is not None:
            raise DataError(
                "data are a collection of Dask: give partitions of it, with its labels, by "
                "labelrules.scan(X, labels)"
            )
        raise ValueError(f"data must be a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    if data.weights is not None:
        raise DataError(
            "the data have weights, and here rows are counted: give data.repeated() if weights are "
            "whole, or dataclasses.replace(data, weights=None)"
        )


def check_known(Y: Board) -> None:
    """Refuse labels that are unknown somewhere: rules between labels count whole rows."""
    refuse_unknown(int(np.count_nonzero((Y == UNSET).any(axis=1))))


def _label_items(data: Dataset, with_absence: bool) -> list[_NewItem]:
    return [
        _NewItem((test,), np.flatnonzero(data.Y[:, test.column] == test.value))
        for test in label_tests(data.schema, with_absence)
    ]


def label_tests(schema: Schema, with_absence: bool) -> list[Condition]:
    """Whether each label is present, or also whether it is absent."""
    return [
        Condition.label(label, present)
        for label in range(schema.n_labels)
        for present in ((True, False) if with_absence else (True,))
    ]


def _ranges(j: int, values: Floats, cuts: list[float]) -> list[_NewItem]:
    """The items of a numeric column: up to the first cut, between cuts, above the last."""
    return [
        _NewItem(test, np.flatnonzero(np.all([part.holds(values) for part in test], axis=0)))
        for test in range_tests(j, cuts)
    ]


def range_tests(j: int, cuts: list[float]) -> list[tuple[Condition, ...]]:
    """The conditions of each range between cuts; a column without a cut has none."""
    tests = []
    for low, high in pairwise([None, *cuts, None]):
        parts = [] if low is None else [Condition.above(j, low)]
        parts += [] if high is None else [Condition.at_most(j, high)]
        if parts:
            tests.append(tuple(parts))
    return tests


def _column_items(
    data: Dataset, j: int, feature: Feature, with_absence: bool
) -> list[_NewItem] | None:
    """The items of categories or of a binary feature; None for a feature that needs bins."""
    rows, values = _stored(data, j)
    if feature.time is not None:
        return None
    if feature.categories is not None and not feature.is_nominal:
        return [item for item in _ranges(j, data.column(j), code_cuts(feature)) if len(item.rows)]
    if feature.categories is None and not are_flags(values):
        return None
    tests = value_tests(j, feature, with_absence)
    made = [_NewItem((test,), _rows_with(data, rows, values, value)) for test, value in tests]
    return [item for item in made if len(item.rows)]


def code_cuts(feature: Feature) -> list[float]:
    """The cuts between categories that have an order."""
    return [float(code) for code in range(len(feature.categories or ()) - 1)]


def are_flags(values: Floats) -> bool:
    """Whether all known values are 0 or 1."""
    return bool((np.isnan(values) | (values == 0) | (values == 1)).all())


def value_tests(j: int, feature: Feature, with_absence: bool) -> list[tuple[Condition, int]]:
    """The conditions on categories, or on 0 and 1, each with the value for which it holds."""
    if feature.categories is None:
        threshold = simplest_between(0.0, 1.0)
        tests = [(Condition.above(j, threshold), 1), (Condition.at_most(j, threshold), 0)]
        return tests if with_absence else tests[:1]
    codes = range(len(feature.categories))
    if is_binary(feature):
        codes = range(1, -1, -1) if with_absence else range(1, 2)
    return [(Condition.equals(j, code), code) for code in codes]


def _stored(data: Dataset, j: int) -> tuple[npt.NDArray[Any], Floats]:
    """Rows and values of a column; of a sparse one those that are not 0."""
    if not sparse.issparse(data.X):
        return np.arange(data.n_rows, dtype=np.int32), np.asarray(data.X[:, j])
    start, stop = data.X.indptr[j], data.X.indptr[j + 1]
    return data.X.indices[start:stop], data.X.data[start:stop]


def _rows_with(
    data: Dataset, rows: npt.NDArray[Any], values: Floats, value: float
) -> npt.NDArray[Any]:
    if value == 0 and data.is_sparse:
        return np.setdiff1d(np.arange(data.n_rows, dtype=np.int32), rows)
    return np.asarray(rows[values == value])


def is_binary(feature: Feature) -> bool:
    """Whether the two categories of a feature mean absence and presence.

    >>> is_binary(Feature("word", ("0", "1"))), is_binary(Feature("sex", ("Female", "Male")))
    (True, False)
    """
    names = [category.casefold() for category in feature.categories or () if feature.is_nominal]
    return len(names) == 2 and ABSENT.get(names[0]) == names[1]


def packed_rows(rows: Mask) -> Bits:
    """A mask of rows as words: row i is bit i % 64 of word i // 64."""
    packed = np.zeros(-(-len(rows) // 64) * 8, dtype=np.uint8)
    octets = np.packbits(rows, bitorder="little")
    packed[: len(octets)] = octets
    return packed.view("<u8").astype(np.uint64)


def unpacked_rows(bits: Bits, n_rows: int) -> Mask:
    """The mask of rows from words."""
    octets = bits.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, count=n_rows, bitorder="little").astype(np.bool_)
