"""Which column of an ARFF file goes where, and rows collected part by part."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import quoted, suggestion
from labelrules._types import Board, Floats, Mask, Matrix
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.arff.header import Attribute, Header
from labelrules.data.schema import Feature
from labelrules.data.table import freeze

Codes = Mapping[str, int]
"""From categories to numbers."""

_IGNORED = -1
_INT32_MAX = np.iinfo(np.int32).max
_LARGEST_SMALL = int(np.iinfo(np.int8).max)
_ABSENT_AND_PRESENT = ({"0", "1"}, {"false", "true"})
_PRESENT = ("1", "true")


@dataclass(frozen=True)
class Layout:
    """Which attributes are features and which are labels, in the order of the file.

    Parameters
    ----------
    attributes : tuple of Attribute
    features, labels : tuple of int
        Places among the attributes; the others are ignored.
    codes : tuple of (dict or None)
        For each attribute the codes of its categories: their position for a feature,
        0 or 1 for a label; None if the values are numbers.
    """

    attributes: tuple[Attribute, ...]
    features: tuple[int, ...]
    labels: tuple[int, ...]
    codes: tuple[Codes | None, ...]

    @cached_property
    def n_features(self) -> int:
        """Number of features; in `target` the labels are numbered from here."""
        return len(self.features)

    @cached_property
    def target(self) -> list[int]:
        """For each attribute its column among the features followed by the labels, or -1."""
        target = [_IGNORED] * len(self.attributes)
        for column, attribute in enumerate((*self.features, *self.labels)):
            target[attribute] = column
        return target

    @cached_property
    def usual_labels(self) -> Board:
        """The values of labels that a sparse row does not list: their first category."""
        codes = (self.codes[attribute] for attribute in self.labels)
        return np.array([next(iter(c.values())) if c else 0 for c in codes], dtype=np.int8)

    @cached_property
    def must_be_listed(self) -> tuple[int, ...]:
        """Features without any category: a sparse row cannot leave them at their first one."""
        return tuple(
            attribute
            for attribute in self.features
            if self.codes[attribute] is not None and not self.codes[attribute]
        )

    def schema_features(self) -> list[Feature]:
        """The features as a schema has them."""
        return [_feature(self.attributes[attribute]) for attribute in self.features]

    def label_names(self) -> list[str]:
        """The names of the labels in the order of their columns."""
        return [self.attributes[attribute].name for attribute in self.labels]


@dataclass(frozen=True)
class Lookup:
    """A layout in the form that the fast readers of rows need."""

    target: npt.NDArray[np.int32]
    """As in the layout."""
    of_digit: npt.NDArray[np.int8]
    """The code of each digit in each attribute, ten in a row; -1 if it is not declared."""
    of_word: tuple[dict[bytes, float] | None, ...]
    """The codes of the words that need no quotes; None for numbers."""
    has_codes: Mask
    """For which attributes `of_word` is there."""


def lookup_of(layout: Layout) -> Lookup:
    """Prepare a layout for fast reading."""
    # Attributes with the same categories share their codes, so each is prepared once.
    groups: dict[int, int] = {id(None): 0}
    words: list[dict[bytes, float] | None] = [None]
    digits = [list(range(10))]
    for codes, target in zip(layout.codes, layout.target, strict=True):
        if codes is not None and id(codes) not in groups:
            groups[id(codes)] = len(words)
            by_word = _by_word(codes, target < layout.n_features)
            words.append(by_word)
            digits.append([_small_code(by_word, b"%d" % digit) for digit in range(10)])
    group_of = [groups[id(codes)] for codes in layout.codes]
    return Lookup(
        np.array(layout.target, dtype=np.int32),
        np.array(digits, dtype=np.int8)[group_of].ravel(),
        tuple(words[group] for group in group_of),
        np.array(group_of) > 0,
    )


def _by_word(codes: Codes, may_be_missing: bool) -> dict[bytes, float]:
    # Without quotes, a question mark is a missing value, and nothing is not an empty text.
    words: dict[bytes, float] = {
        name.encode(): code for name, code in codes.items() if name not in ("", "?")
    }
    if may_be_missing:
        words[b"?"] = np.nan
    return words


def _small_code(codes: dict[bytes, float], word: bytes) -> int:
    # A digit declared after 127 other categories is left to a slower reader.
    code = codes.get(word, -1)
    return int(code) if code <= _LARGEST_SMALL else -1


def layout_of(header: Header, labels: Iterable[str], ignore: Sequence[str]) -> Layout:
    """Divide the attributes of a file into features and labels; refuse unreadable ones.

    The labels must be among the attributes.
    """
    ignored = _checked_names(header, ignore)
    label_set = set(labels)
    both = sorted(ignored & label_set)
    if both:
        raise FileError(f"{quoted(both[0])} is a label and cannot be ignored", header.path)
    features, label_columns = [], []
    codes: list[Codes | None] = []
    for place, attribute in enumerate(header.attributes):
        if attribute.name in label_set:
            label_columns.append(place)
            codes.append(_label_codes(attribute, header))
        elif attribute.name in ignored:
            codes.append(None)
        else:
            features.append(place)
            codes.append(_feature_codes(attribute, header))
    return Layout(header.attributes, tuple(features), tuple(label_columns), tuple(codes))


def _checked_names(header: Header, ignore: Sequence[str]) -> set[str]:
    if isinstance(ignore, str):
        raise DataError(f"ignore must be a list of names: ignore=[{ignore!r}]")
    known = {attribute.name: attribute for attribute in header.attributes}
    unknown = [name for name in ignore if name not in known]
    if unknown:
        raise FileError(
            f"there is no attribute {quoted(unknown[0])} to ignore"
            f"{suggestion(str(unknown[0]), known)}",
            header.path,
        )
    return set(ignore)


def _feature_codes(attribute: Attribute, header: Header) -> Codes | None:
    if attribute.kind == "numeric":
        return None
    if attribute.kind == "nominal":
        return _numbered(attribute.categories)
    raise FileError(
        f"attribute {quoted(attribute.name)} is of type {attribute.kind}, which rules cannot use: "
        f"leave it out with ignore=[{attribute.name!r}]",
        header.path,
        attribute.line,
    )


def _label_codes(attribute: Attribute, header: Header) -> Codes | None:
    """0 or 1 for each category; numeric labels have no codes."""
    if attribute.kind == "numeric":
        return None
    codes = _absent_or_present(attribute.categories)
    if codes is not None:
        return codes
    declared = f"{{{', '.join(attribute.categories)}}}"
    raise FileError(
        f"label {quoted(attribute.name)} is declared "
        f"{quoted(declared) if attribute.kind == 'nominal' else attribute.kind}; "
        "a label is {0,1}, {false,true} or numeric with the values 0 and 1",
        header.path,
        attribute.line,
    )


@lru_cache(maxsize=64)
def _numbered(categories: tuple[str, ...]) -> Codes:
    return MappingProxyType({category: code for code, category in enumerate(categories)})


@lru_cache(maxsize=64)
def _absent_or_present(categories: tuple[str, ...]) -> Codes | None:
    lowered = [category.lower() for category in categories]
    if len(lowered) != 2 or set(lowered) not in _ABSENT_AND_PRESENT:
        return None
    return MappingProxyType({c: int(c.lower() in _PRESENT) for c in categories})


def _feature(attribute: Attribute) -> Feature:
    nominal = attribute.kind == "nominal"
    return Feature(attribute.name, attribute.categories if nominal else None)


class DenseRows(NamedTuple):
    """Rows that give every value."""

    X: Floats
    Y: Board

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.Y)


class SparseRows(NamedTuple):
    """Rows that list some of their values; the others are 0, and labels as usual."""

    counts: npt.NDArray[np.int32]
    """Entries of X in each row; none of them is 0."""
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[Any]
    """Floats, or small integers where that is enough: they are kept until all is read."""
    unusual: npt.NDArray[np.integer[Any]]
    """Cells of Y, numbered row by row, that differ from what is not listed."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.counts)


Part = DenseRows | SparseRows


@dataclass
class RowCollector:
    """Collects rows part by part; joining them takes little more memory than the result.

    Parameters
    ----------
    n_features : int
    usual : ndarray of int8
        For each label the value of a cell that a sparse row does not list.
    """

    n_features: int
    usual: Board
    _parts: list[Part] = field(default_factory=list)

    def add(self, part: Part) -> None:
        """Append rows."""
        self._parts.append(part)

    def joined(self) -> tuple[Matrix, Board]:
        """X and Y, frozen; the parts are used up. X is sparse if any row was."""
        Y = self._labels()
        is_sparse = any(isinstance(part, SparseRows) for part in self._parts)
        X: Matrix = self._sparse(len(Y)) if is_sparse else self._dense(len(Y))
        for array in (Y, *((X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,))):
            freeze(array)
        return X, Y

    def _labels(self) -> Board:
        n_rows = sum(part.n_rows for part in self._parts)
        Y: Board = np.zeros((n_rows, len(self.usual)), dtype=np.int8)
        if self.usual.any():
            Y[:] = self.usual
        end = 0
        for part in self._parts:
            rows = Y[end : end + part.n_rows]
            end += part.n_rows
            if isinstance(part, SparseRows):
                rows.reshape(-1)[part.unusual] ^= 1
            else:
                rows[:] = part.Y
        return Y

    def _dense(self, n_rows: int) -> Floats:
        X: Floats = np.empty((n_rows, self.n_features), order="F")
        end = n_rows
        while self._parts:
            part = self._parts.pop()
            assert isinstance(part, DenseRows)
            X[end - part.n_rows : end] = part.X
            end -= part.n_rows
        return X

    def _sparse(self, n_rows: int) -> sparse.csc_array:
        parts = [_as_sparse(part) for part in self._parts]
        self._parts.clear()
        n_entries = sum(len(part.columns) for part in parts)
        # SciPy numbers rows by the wider of the two types given here.
        starts = np.zeros(n_rows + 1, np.int32 if n_entries <= _INT32_MAX else np.int64)
        np.cumsum(np.concatenate([part.counts for part in parts]), out=starts[1:])
        columns = np.concatenate([part.columns for part in parts])
        values = np.concatenate([part.values for part in parts])
        parts.clear()
        by_row = sparse.csr_array((values, columns, starts), shape=(n_rows, self.n_features))
        return by_row.tocsc().astype(np.float64, copy=False)


def _as_sparse(part: Part) -> SparseRows:
    """The part with its entries of X, without its labels."""
    if isinstance(part, SparseRows):
        return part
    rows, columns = np.nonzero(part.X)
    counts = np.bincount(rows, minlength=part.n_rows).astype(np.int32)
    none = np.empty(0, dtype=np.int64)
    return SparseRows(counts, columns.astype(np.int32), part.X[rows, columns], none)
