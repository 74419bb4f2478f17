"""Which column of an ARFF file goes where, and rows collected part by part."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import quoted, suggestion
from labelrules._types import UNSET, Board, Floats, Mask, Matrix
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.arff.dates import date_codes
from labelrules.data.files.arff.header import Attribute, Header
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
    """Places of features and labels in a file; codes of categories are positions, or 0 and 1."""

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
        codes = self.codes
        return tuple(one for one in self.features if codes[one] is not None and not codes[one])


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
    for codes in layout.codes:
        if codes is not None and id(codes) not in groups:
            groups[id(codes)] = len(words)
            # Without quotes, a question mark is a missing value, and nothing is not an empty text.
            of_word: dict[bytes, float] = {
                name.encode(): code for name, code in codes.items() if name not in ("", "?")
            }
            of_word[b"?"] = np.nan
            words.append(of_word)
            # A digit declared after 127 other categories is left to a slower reader.
            found = [int(of_word.get(b"%d" % digit, -1)) for digit in range(10)]
            digits.append([code if code <= _LARGEST_SMALL else -1 for code in found])
    group_of = [groups[id(codes)] for codes in layout.codes]
    return Lookup(
        np.array(layout.target, dtype=np.int32),
        np.array(digits, dtype=np.int8)[group_of].ravel(),
        tuple(words[group] for group in group_of),
        np.array(group_of) > 0,
    )


def attribute_layout(header: Header, labels: Iterable[str], ignore: Sequence[str]) -> Layout:
    """Divide the attributes of a file into features and labels; refuse unreadable ones."""
    if isinstance(ignore, str):
        raise DataError(f"ignore must be a list of names: ignore=[{ignore!r}]")
    known = {attribute.name for attribute in header.attributes}
    for name in ignore:
        if name not in known:
            message = f"there is no attribute {quoted(name)} to ignore"
            raise FileError(message + suggestion(str(name), known), header.path)
    label_set = set(labels)
    both = sorted(label_set.intersection(ignore))
    if both:
        raise FileError(f"{quoted(both[0])} is a label and cannot be ignored", header.path)
    features, label_columns = [], []
    codes: list[Codes | None] = []
    for place, attribute in enumerate(header.attributes):
        if attribute.name in label_set:
            label_columns.append(place)
            codes.append(_label_codes(attribute, header))
        elif attribute.name in ignore:
            codes.append(None)
        else:
            features.append(place)
            codes.append(_feature_codes(attribute, header))
    return Layout(header.attributes, tuple(features), tuple(label_columns), tuple(codes))


def _feature_codes(attribute: Attribute, header: Header) -> Codes | None:
    if attribute.kind == "numeric":
        return None
    if attribute.kind == "nominal":
        return _numbered(attribute.categories)
    why = f"is of type {attribute.kind}, which rules cannot use"
    try:
        if attribute.kind == "date":
            return date_codes(attribute.categories[0])
    except ValueError as wrong:
        why = f"is a date, but {wrong}"
    raise FileError(
        f"attribute {quoted(attribute.name)} {why}: leave it out with ignore=[{attribute.name!r}]",
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
    """Cells of Y, numbered row by row, that are known and differ from what is not listed."""
    unknown: npt.NDArray[np.integer[Any]]
    """Cells of Y that are unknown."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.counts)


Part = DenseRows | SparseRows


def joined_parts(parts: list[Part], layout: Layout) -> tuple[Matrix, Board]:
    """X and Y, frozen; the parts are used up, to save memory. X is sparse if any row was."""
    n_rows = sum(part.n_rows for part in parts)
    Y: Board = np.zeros((n_rows, len(layout.labels)), dtype=np.int8)
    if layout.usual_labels.any():
        Y[:] = layout.usual_labels
    end = 0
    for part in parts:
        rows = Y[end : end + part.n_rows]
        end += part.n_rows
        if isinstance(part, SparseRows):
            rows.reshape(-1)[part.unusual] ^= 1
            rows.reshape(-1)[part.unknown] = UNSET
        else:
            rows[:] = part.Y
    if any(isinstance(part, SparseRows) for part in parts):
        X = _joined_sparse(parts, (n_rows, layout.n_features))
        for array in (X.data, X.indices, X.indptr):
            freeze(array)
        return X, freeze(Y)
    dense: Floats = np.empty((n_rows, layout.n_features), order="F")
    while parts:
        part = parts.pop()
        assert isinstance(part, DenseRows)
        dense[end - part.n_rows : end] = part.X
        end -= part.n_rows
    return freeze(dense), freeze(Y)


def _joined_sparse(parts: list[Part], shape: tuple[int, int]) -> sparse.csc_array:
    rows = [_as_sparse(part) for part in parts]
    parts.clear()
    n_entries = sum(len(part.columns) for part in rows)
    # SciPy numbers rows by the wider of the two types given here.
    starts = np.zeros(shape[0] + 1, np.int32 if n_entries <= _INT32_MAX else np.int64)
    np.cumsum(np.concatenate([part.counts for part in rows]), out=starts[1:])
    columns = np.concatenate([part.columns for part in rows])
    values = np.concatenate([part.values for part in rows])
    rows.clear()
    by_row = sparse.csr_array((values, columns, starts), shape=shape)
    return by_row.tocsc().astype(np.float64, copy=False)


def _as_sparse(part: Part) -> SparseRows:
    """The part with its entries of X, without its labels."""
    if isinstance(part, SparseRows):
        return part
    rows, columns = np.nonzero(part.X)
    counts = np.bincount(rows, minlength=part.n_rows).astype(np.int32)
    none = np.empty(0, dtype=np.int64)
    return SparseRows(counts, columns.astype(np.int32), part.X[rows, columns], none, none)
