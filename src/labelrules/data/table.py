"""A data set: X, Y and a schema, checked and frozen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from mmap import mmap
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import counted
from labelrules._html import fragment, html_table, render
from labelrules._types import UNSET, Board, Floats, Integers, Mask, Matrix
from labelrules.data.errors import DataError
from labelrules.data.schema import Feature, Schema, refuse_half_character
from labelrules.data.weights import are_whole, checked_weights

_ROWS_SHOWN, _FEATURES_SHOWN = 5, 8

PIECE = 1 << 18
"""Entries of a sparse matrix that are checked together."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of features with a set of labels per row, checked and frozen.

    Use :func:`labelrules.data.dataset` to make one from arrays or frames.

    Parameters
    ----------
    schema : Schema
    X : ndarray or csc_array of float64
        One column per feature: numbers, category codes, NaN for missing. Dense X is in column-major
        order; an entry that sparse X does not store is 0, the first category.
    Y : ndarray of int8
        Rows by labels: 0, 1, or -1 where it is unknown whether the row has the label.
    name : str, optional
        For headings.
    weights : array of float, optional
        How much each row counts, or each cell (rows by labels); by default 1. Weights that are not
        whole are rounded to multiples of a small power of two, so that their sums are exact.

    Examples
    --------
    >>> from labelrules.data import load
    >>> readers = load("magazines")
    >>> readers
    Dataset('magazines': 14 rows, 4 features, 4 labels)
    >>> readers.label_sets()[3]
    ('quality', 'fashion')
    """

    schema: Schema
    X: Matrix
    Y: Board
    name: str = ""
    weights: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", frozen_matrix(self.X, self.schema))
        object.__setattr__(self, "Y", frozen_labels(self.Y, self.schema))
        if self.X.shape[0] != self.Y.shape[0]:
            raise DataError(f"X has {self.X.shape[0]} rows but Y has {self.Y.shape[0]}")
        refuse_half_character(self.name, "the data set's name")
        if self.weights is not None:
            weights = checked_weights(self.weights, (self.n_rows, self.schema.n_labels))
            object.__setattr__(self, "weights", weights)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.Y.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether X stores only its non-zero entries."""
        return sparse.issparse(self.X)

    @cached_property
    def n_unknown(self) -> int:
        """Number of cells of Y that are unknown."""
        return int(np.count_nonzero(self.Y == UNSET))

    def empty_board(self) -> Board:
        """A board for these rows on which nothing is written yet."""
        return np.full(self.Y.shape, UNSET)

    def column(self, feature: int | str) -> Floats:
        """One column of X, dense."""
        index = feature if isinstance(feature, int) else self.schema.feature_index[feature]
        return column_of(self.X, index)

    def take(self, rows: npt.ArrayLike) -> "Dataset":
        """The given rows, by index or mask, as a data set of their own."""
        chosen: Integers | Mask = np.asarray(rows)
        if chosen.size == 0 and chosen.dtype != np.bool_:
            chosen = chosen.astype(np.int64)  # an empty list has no type of its own
        X = self.X.tocsr()[chosen].tocsc() if sparse.issparse(self.X) else self.X[chosen]
        weights = None if self.weights is None else self.weights[chosen]
        return Dataset(self.schema, X, self.Y[chosen], self.name, weights)

    def with_known_labels(self) -> "Dataset":
        """The rows of which some label is known: others say nothing, not even by bins or folds."""
        is_known = (self.Y != UNSET).any(axis=1)
        return self if is_known.all() else self.take(is_known)

    def without(self, names: Sequence[str]) -> "Dataset":
        """Leave out the named features and labels."""
        schema = self.schema.without(names)
        features = [self.schema.feature_index[name] for name in schema.feature_names]
        labels = [self.schema.label_index[name] for name in schema.labels]
        weights = self.weights
        if weights is not None and weights.ndim == 2:
            weights = weights[:, labels]
        return Dataset(schema, self.X[:, features], self.Y[:, labels], self.name, weights)

    def rename(self, names: Mapping[str, str]) -> "Dataset":
        """Rename features and labels, from old names to new ones.

        Examples
        --------
        >>> from labelrules.data import load
        >>> load("magazines").rename({"sports": "Sport", "sex": "gender"}).schema.labels
        ('quality', 'tabloid', 'fashion', 'Sport')
        """
        return replace(self, schema=self.schema.rename(names))

    def repeated(self) -> "Dataset":
        """Repeat each row as often as its whole weight says; the rows have no weights then."""
        if self.weights is None:
            return self
        if not are_whole(self.weights):
            raise DataError("only rows with one whole weight each can be repeated")
        rows = np.repeat(np.arange(self.n_rows), self.weights.astype(np.int64))
        return replace(self, weights=None).take(rows)

    def label_sets(self) -> list[tuple[str, ...]]:
        """The labels present in each row, by name."""
        names = np.array(self.schema.labels, dtype=object)
        return [tuple(names[row == 1]) for row in self.Y]

    def __eq__(self, other: object) -> bool:
        """Same schema, same cells, same weights; the name and the storage of X do not matter."""
        if not isinstance(other, Dataset):
            return NotImplemented
        return (
            self.schema == other.schema
            and np.array_equal(self.Y, other.Y)
            and np.array_equal(_or_one(self.weights), _or_one(other.weights))
            and all(
                np.array_equal(self.column(index), other.column(index), equal_nan=True)
                for index in range(self.schema.n_features)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type["Dataset"], tuple[Any, ...]]:
        # Copies and pickles go through the constructor, or their arrays would not be frozen.
        return Dataset, (self.schema, self.X, self.Y, self.name, self.weights)

    # rows in one block: see `labelrules.data.rows.Rows`

    in_memory: ClassVar[bool] = True
    back_end: ClassVar[str] = "memory"

    def __iter__(self) -> Iterator["Dataset"]:
        yield self

    def total(
        self, count: Callable[..., Any], what: str, beside: Sequence[Any] | None = None
    ) -> Any:
        """Count all rows at once."""
        return count(self) if beside is None else count(self, *beside)

    def mapped(
        self,
        change: Callable[["Dataset", Any], "Dataset"],
        schema: Schema,
        beside: Sequence[Any] | None = None,
        n_rows: int | None = None,
        keeps_features: bool = False,
    ) -> "Dataset":
        """Change all rows at once."""
        return change(self, None if beside is None else beside[0])

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"Dataset({f'{self.name!r}: ' if self.name else ''}{self._sizes()})"

    def _sizes(self) -> str:
        feature = "sparse feature" if self.is_sparse else "feature"
        sizes = {"row": self.n_rows, feature: self.schema.n_features, "label": self.schema.n_labels}
        if self.n_unknown:
            sizes["unknown cell"] = self.n_unknown
        weighted = "" if self.weights is None else ", weighted"
        return ", ".join(counted(number, noun) for noun, number in sizes.items()) + weighted

    def _repr_html_(self) -> str:
        """The first rows, for notebooks: some features, and the labels that are present."""
        shown = self.take(np.arange(min(self.n_rows, _ROWS_SHOWN)))
        columns = [
            [feature.text(value) for value in shown.column(index).tolist()]
            for index, feature in enumerate(self.schema.features[:_FEATURES_SHOWN])
        ]
        head = list(self.schema.feature_names[:_FEATURES_SHOWN])
        if self.schema.n_features > _FEATURES_SHOWN:
            head.append("…")
            columns.append(["…"] * len(shown))
        labels = [", ".join(names) for names in shown.label_sets()]
        title = f"{self.name}: {self._sizes()}" if self.name else self._sizes()
        rows = zip(*columns, labels, strict=True)
        return fragment(
            render('<p class="about">{{ title }}</p>', title=title),
            html_table(rows, [*head, "labels"]),
        )


def _or_one(weights: Floats | None) -> Floats:
    return np.ones(1) if weights is None else weights


def label_keys(Y: Board) -> npt.NDArray[np.uint8]:
    """The labels of each row as few small numbers, which differ where the labels do."""
    present = np.packbits(Y == 1, axis=1)
    if (Y != UNSET).all():
        return present
    return np.hstack([present, np.packbits(Y == UNSET, axis=1)])


def labels_known_together(Y: Board) -> list[tuple[Integers, Integers]]:
    """Labels that are known in the same rows, with these rows, for all such groups of labels.

    The groups are in the order of their first labels, whatever the order of the rows.
    """
    known = Y != UNSET
    if known.all():
        return [(np.arange(Y.shape[1]), np.arange(Y.shape[0]))]
    kinds, first, kind = np.unique(known.T, axis=0, return_index=True, return_inverse=True)
    return [
        (np.flatnonzero(kind.ravel() == number), np.flatnonzero(kinds[number]))
        for number in np.argsort(first)
    ]


def common_labels(Y: Board, weights: npt.NDArray[Any] | None = None) -> Mask:
    """For each label whether it is present in most of the rows in which it is known."""
    present, absent = (cell_counts(np.equal(Y, value), weights) for value in (1, 0))
    return np.asarray(present > absent)


def cell_counts(cells: Mask, weights: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
    """For each label the number of cells, or the sum of their weights: of rows, or of cells."""
    if weights is None:
        return np.asarray(cells.sum(axis=0))
    return np.asarray((cells * (weights if weights.ndim == 2 else weights[:, None])).sum(axis=0))


def checked_dataset(schema: Schema, X: Matrix, Y: Board, name: str = "") -> Dataset:
    """A data set of a matrix and labels that were checked and frozen before."""
    Y.setflags(write=False)
    data = object.__new__(Dataset)
    for field, value in (("schema", schema), ("X", X), ("Y", Y), ("name", name)):
        object.__setattr__(data, field, value)
    return data


def column_of(X: Matrix, index: int) -> Floats:
    """One column of an encoded matrix, dense."""
    if not sparse.issparse(X):
        return np.asarray(X[:, index])
    column = np.zeros(X.shape[0])
    start, stop = X.indptr[index], X.indptr[index + 1]
    column[X.indices[start:stop]] = X.data[start:stop]
    return column


def frozen_matrix(X: Any, schema: Schema) -> Matrix:
    """Check encoded features against a schema; return them frozen, column by column."""
    matrix = _frozen_sparse(X) if sparse.issparse(X) else _frozen_dense(X)
    if matrix.ndim != 2 or matrix.shape[1] != schema.n_features:
        raise DataError(
            f"X has the shape {matrix.shape} but {schema.n_features} features are named"
        )
    for column in schema.times:
        _check_times(column_of(matrix, column), schema.features[column])
    if _is_plainly_valid(matrix, schema):
        return matrix
    if sparse.issparse(matrix):
        _check_sparse(matrix, schema)
    else:
        _check_dense(np.asarray(matrix), schema)
    return matrix


def frozen_labels(Y: Any, schema: Schema) -> Board:
    """Check labels against a schema; return them frozen, as int8."""
    given = _numbers(Y, "Y")
    if given.ndim != 2 or given.shape[1] != schema.n_labels:
        raise DataError(f"Y has the shape {given.shape} but {schema.n_labels} labels are named")
    lowest, highest = given.min(initial=0), given.max(initial=0)
    has_fractions = given.dtype.kind == "f" and bool((given != np.floor(given)).any())
    if not (lowest >= UNSET and highest <= 1) or has_fractions:
        raise DataError("Y has cells other than 0, 1 and -1 (unknown)")
    labels: Board = _owned(given, np.int8, "C")
    return labels


def _numbers(array: Any, name: str) -> npt.NDArray[Any]:
    """The array, which must hold numbers; `dataset` reads everything else."""
    try:
        given = np.asarray(array)
    except ValueError:  # rows of different lengths
        given = np.empty(0, dtype=object)
    if given.dtype.kind not in "biuf":
        raise DataError(
            f"{name} must be an array of numbers; use labelrules.dataset for other tables"
        )
    return given


def _owned(given: npt.NDArray[Any], dtype: npt.DTypeLike, order: Literal["C", "F"]) -> Any:
    """The array itself if it can no longer be changed, else a frozen copy."""
    contiguous = given.flags.c_contiguous if order == "C" else given.flags.f_contiguous
    if given.dtype == dtype and contiguous and is_frozen(given):
        return given
    return freeze(np.array(given, dtype=dtype, order=order))


def freeze(array: Any) -> Any:
    """Make an array read-only, and what it is a view of: no other code may have it."""
    base = array
    while isinstance(base, np.ndarray):
        base.setflags(write=False)
        base = base.base
    return array


def is_frozen(array: npt.NDArray[Any]) -> bool:
    """Whether neither the array nor what it views can be written to; a file mapped read-only is so.

    Nobody must change the file.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, mmap)


def _frozen_dense(X: Any) -> Floats:
    given = _numbers(X, "X")
    frozen: Floats = _owned(given, np.float64, "F")
    large = given[np.abs(frozen) > 2**53].tolist() if given.dtype.kind in "iu" else []
    if any(float(number) != number for number in large):
        raise DataError("X has a whole number that a float cannot hold: scale the column")
    return frozen


def _frozen_sparse(X: Any) -> sparse.csc_array:
    """Column by column, sorted, without stored zeros; the input stays as it was."""
    matrix: sparse.csc_array = X
    if not (isinstance(X, sparse.csc_array) and X.has_canonical_format and is_frozen(X.data)):
        matrix = sparse.csc_array(X, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    return matrix


def _is_plainly_valid(matrix: Matrix, schema: Schema) -> bool:
    """A quick check that is enough for most tables: only finite numbers, or only codes 0 and 1."""
    values: Floats = matrix.data if sparse.issparse(matrix) else np.asarray(matrix)
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    fewest = schema.n_categories.min(initial=np.inf)
    if np.isinf(fewest):
        return bool(np.isfinite(low) and np.isfinite(high))
    return bool(high < fewest and np.count_nonzero(values == 1) == np.count_nonzero(values))


def _check_dense(matrix: Floats, schema: Schema) -> None:
    """Check several columns at once; of finite numbers, and where they are missing, only codes."""
    ends = np.fmin.reduce(matrix, None, initial=0.0), np.fmax.reduce(matrix, None, initial=0.0)
    are_codes = np.isfinite(schema.n_categories)
    chosen = np.flatnonzero(are_codes | ~np.isfinite(ends).all())
    step = max(1, PIECE // max(1, matrix.shape[0]))
    for first in range(0, len(chosen), step):
        some = chosen[first : first + step]
        columns = np.repeat(some, matrix.shape[0])
        _check_stored(matrix[:, some].ravel(order="F"), columns, schema)


def _check_sparse(matrix: sparse.csc_array, schema: Schema) -> None:
    """Check several columns at once, but not too many, so that this takes little memory."""
    ends = np.searchsorted(matrix.indptr, np.arange(PIECE, matrix.nnz + PIECE, PIECE), "right") - 1
    first = 0
    for last in np.unique([*ends.tolist(), matrix.shape[1]]).tolist():
        start, stop = matrix.indptr[first], matrix.indptr[last]
        columns = np.repeat(np.arange(first, last), np.diff(matrix.indptr[first : last + 1]))
        _check_stored(matrix.data[start:stop], columns, schema)
        first = last


def _check_times(values: Floats, feature: Feature) -> None:
    """Dates, times and durations are whole numbers within limits."""
    known = values[~np.isnan(values)]
    unfit = known[(known != np.floor(known)) | np.isinf(known)].tolist()
    for value in [*unfit, *([known.min(), known.max()] if known.size else [])]:
        if problem := feature.value_problem(float(value)):
            raise DataError(f"feature {problem}")


def _check_stored(values: Floats, columns: Integers, schema: Schema) -> None:
    """Numbers are finite or missing; codes are whole, from 0, and name a category."""
    limits = schema.n_categories[columns]
    whole = np.isinf(limits) | (values == np.floor(values)) & (values >= 0)
    good = np.isnan(values) | (np.abs(values) < limits) & whole
    if good.all():
        return
    where = int(np.argmin(good))
    feature, value = schema.features[int(columns[where])], float(values[where])
    if feature.categories is None:
        raise DataError(infinite(feature))
    raise DataError(
        f"feature {feature.name!r} has the code {value:g}, but its categories are numbered "
        f"from 0 to {len(feature.categories or ()) - 1}"
    )


def infinite(feature: Feature) -> str:
    """What to say of a column with an infinite value."""
    return (
        f"feature {feature.name!r} has an infinite value: replace it by a number, or by NaN if it "
        "is missing"
    )
