"""Data sets as ARFF text."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats
from labelrules.data.arff.tokens import written
from labelrules.data.dataset import Dataset
from labelrules.data.errors import DataError, quoted
from labelrules.data.schema import Feature, Schema

_ROWS_AT_ONCE = 1000

Words = list[str] | None
"""The categories of a feature as they stand in a row; none for numbers."""


def arff_lines(data: Dataset, relation: str) -> Iterator[str]:
    """The lines of a file: features, then labels; sparse rows if the data are sparse."""
    yield f"@relation {written(relation)}\n\n"
    words = [_words(feature) for feature in data.schema.features]
    for feature, categories in zip(data.schema.features, words, strict=True):
        kind = "numeric" if categories is None else f"{{{','.join(categories)}}}"
        yield f"@attribute {written(feature.name)} {kind}\n"
    for label in data.schema.labels:
        yield f"@attribute {written(label)} {{0,1}}\n"
    yield "\n@data\n"
    if sparse.issparse(data.X):
        yield from _sparse_rows(data.X.tocsr(), data.Y, words)
    else:
        yield from _dense_rows(data.X, data.Y, words)


def _words(feature: Feature) -> Words:
    return None if feature.categories is None else list(map(written, feature.categories))


def _dense_rows(X: Floats, Y: Board, words: list[Words]) -> Iterator[str]:
    for start in range(0, len(Y), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        columns = [
            [_word(value, categories) for value in X[rows, column].tolist()]
            for column, categories in enumerate(words)
        ]
        labels = [list(map(str, column)) for column in Y[rows].T.tolist()]
        for row in zip(*columns, *labels, strict=True):
            yield f"{','.join(row)}\n"


def _sparse_rows(X: sparse.csr_array, Y: Board, words: list[Words]) -> Iterator[str]:
    starts = X.indptr.tolist()
    for row, labels in enumerate(Y):
        stored = slice(starts[row], starts[row + 1])
        columns, values = X.indices[stored].tolist(), X.data[stored].tolist()
        entries = [f"{c} {_word(v, words[c])}" for c, v in zip(columns, values, strict=True)]
        entries.extend(f"{len(words) + label} 1" for label in np.flatnonzero(labels).tolist())
        yield f"{{{','.join(entries)}}}\n"


def _word(value: float, categories: Words) -> str:
    if value != value:
        return "?"
    # repr is the shortest text that reads back as the same number.
    return repr(value).removesuffix(".0") if categories is None else categories[int(value)]


def check_writable(data: Dataset, relation: str) -> None:
    """Refuse what an ARFF file cannot hold."""
    schema = data.schema
    if not schema.labels:
        raise DataError("a Mulan file needs at least one label, but the data set has none")
    _check_text(relation, "the data set's name")
    for feature in schema.features:
        _check_text(feature.name, "the name of feature")
        for category in feature.categories or ():
            _check_text(category, f"feature {quoted(feature.name)}: category")
    for label in schema.labels:
        _check_text(label, "the name of label")
    if sparse.issparse(data.X):
        _check_categories_of_zero(data.X, schema)


def _check_text(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as wrong:
        raise DataError(
            f"{what} {quoted(text)} has the character {text[wrong.start]!r}, half of a pair, "
            "which no file can hold: rename it"
        ) from None


def _check_categories_of_zero(X: sparse.csc_array, schema: Schema) -> None:
    n_stored = np.diff(X.indptr)
    for column, feature in enumerate(schema.features):
        if feature.categories == () and n_stored[column] < X.shape[0]:
            raise DataError(
                f"feature {quoted(feature.name)} has no categories but cells that are not missing"
            )
