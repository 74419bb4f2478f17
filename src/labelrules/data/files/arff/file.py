"""Read ARFF files as a data set, and write one as ARFF text."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from labelrules._checks import quoted
from labelrules._types import Board, Floats
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.access import BLOCK_SIZE, TextBlock, read_blocks
from labelrules.data.files.arff.fast_rows import plain_words, sparse_digits
from labelrules.data.files.arff.header import Header, read_header, written
from labelrules.data.files.arff.layout import (
    Layout,
    Lookup,
    Part,
    RowCollector,
    layout_of,
    lookup_of,
)
from labelrules.data.files.arff.rows import careful
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset

FastReader = Callable[[bytes, Layout, Lookup], Part | None]
Hierarchy = Mapping[str, str | None]
"""Labels and their parents."""

Words = list[str] | None
"""The categories of a feature as they are written in a row; None for numbers."""

_ROWS_AT_ONCE = 1000

FAST_READERS: tuple[FastReader, ...] = (sparse_digits, plain_words)


def read_arff(
    paths: Sequence[Path],
    hierarchy_of: Callable[[Header], Hierarchy],
    ignore: Sequence[str],
    name: str,
    encoding: str,
    *,
    fast_readers: Sequence[FastReader] = FAST_READERS,
    block_size: int = BLOCK_SIZE,
) -> Dataset:
    """Read files that declare the same attributes as one data set.

    Parameters
    ----------
    hierarchy_of : callable
        From a header to the labels among its attributes, and their parents.
    fast_readers : sequence of callable
        Tried in order on each block of rows before it is read carefully. The result
        does not depend on them, nor on the size of the blocks.
    """
    reader: _Reader | None = None
    for path in paths:
        with closing(read_blocks(path, encoding, block_size)) as blocks:
            header, rest = read_header(blocks, path)
            if reader is None:
                reader = _Reader(header, hierarchy_of(header), ignore, fast_readers)
            else:
                _check_same(header, reader.header)
                _check_same_labels(header, hierarchy_of(header), reader)
            reader.read(chain([rest], blocks), path)
    assert reader is not None
    return reader.dataset(name)


class _Reader:
    """Collects the rows of files with one header."""

    def __init__(
        self,
        header: Header,
        hierarchy: Hierarchy,
        ignore: Sequence[str],
        fast_readers: Sequence[FastReader],
    ) -> None:
        self.header = header
        self.hierarchy = hierarchy
        self.fast_readers = fast_readers
        self.layout = layout_of(header, hierarchy, ignore)
        self.lookup = lookup_of(self.layout)
        self.parts = RowCollector(self.layout.n_features, self.layout.usual_labels)

    def read(self, blocks: Iterable[TextBlock], path: Path) -> None:
        """Append the rows of a file."""
        for block in blocks:
            self.parts.add(self._fast(block) or careful(block, self.layout, path))

    def _fast(self, block: TextBlock) -> Part | None:
        tried = (read(block.data, self.layout, self.lookup) for read in self.fast_readers)
        return next((part for part in tried if part is not None), None)

    def dataset(self, name: str) -> Dataset:
        """All rows as a data set; the collected parts are used up."""
        X, Y = self.parts.joined()
        labels = self.layout.label_names()
        parents = [self.hierarchy[label] for label in labels]
        return Dataset(Schema(self.layout.schema_features(), labels, parents), X, Y, name)


def _check_same(header: Header, first: Header) -> None:
    for attribute, expected in zip(header.attributes, first.attributes, strict=False):
        if not attribute.declares_as(expected):
            what = f"attribute {quoted(expected.name)}"
            if attribute.name != expected.name:
                what = f"{what}, here {quoted(attribute.name)},"
            raise FileError(
                f"{what} is declared differently in {first.path}, line {expected.line}; "
                "files are joined only if their attributes are the same",
                header.path,
                attribute.line,
            )
    n_here, n_first = len(header.attributes), len(first.attributes)
    if n_here != n_first:
        raise FileError(
            f"{n_here} attributes are declared here but {n_first} in {first.path}; "
            "files are joined only if their attributes are the same",
            header.path,
        )


def _check_same_labels(header: Header, hierarchy: Hierarchy, reader: _Reader) -> None:
    if set(hierarchy) != set(reader.hierarchy):
        raise FileError(
            f"other attributes are labels here than in {reader.header.path}",
            header.path,
            header.relation_line,
        )


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
        yield from _sparse_lines(data.X.tocsr(), data.Y, words)
    else:
        yield from _dense_lines(data.X, data.Y, words)


def _words(feature: Feature) -> Words:
    return None if feature.categories is None else list(map(written, feature.categories))


def _dense_lines(X: Floats, Y: Board, words: list[Words]) -> Iterator[str]:
    for start in range(0, len(Y), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        columns = [
            [_word(value, categories) for value in X[rows, column].tolist()]
            for column, categories in enumerate(words)
        ]
        labels = [list(map(str, column)) for column in Y[rows].T.tolist()]
        for row in zip(*columns, *labels, strict=True):
            yield f"{','.join(row)}\n"


def _sparse_lines(X: sparse.csr_array, Y: Board, words: list[Words]) -> Iterator[str]:
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
