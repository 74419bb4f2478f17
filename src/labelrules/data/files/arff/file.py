"""Read ARFF files as a data set, and write one as ARFF text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from labelrules._checks import quoted
from labelrules._types import Board, Floats
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.arff.dates import (
    date_codes,
    why_not_written,
    written_date,
    written_format,
)
from labelrules.data.files.arff.fast_rows import plain_words, sparse_digits
from labelrules.data.files.arff.header import Attribute, Header, read_header, written
from labelrules.data.files.arff.layout import (
    Layout,
    Lookup,
    Part,
    attribute_layout,
    joined_parts,
    lookup_of,
)
from labelrules.data.files.arff.rows import careful
from labelrules.data.files.text_blocks import BLOCK_SIZE, read_blocks
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset

FastReader = Callable[[bytes, Layout, Lookup], Part | None]
Hierarchy = Mapping[str, str | None]
"""Labels and their parents."""

Words = list[str] | Callable[[float], str] | None
"""The categories of a feature as they are written in a row, or how times are; None for numbers."""

_ROWS_AT_ONCE = 1000
_LABELS = ("0", "1", "?")  # an unknown one has the number -1

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

    `hierarchy_of` finds the labels among the attributes of a header, and their parents. The result
    depends neither on the fast readers, tried in order on each block, nor on the size of blocks.
    """
    first: Header | None = None
    parts: list[Part] = []
    for path in paths:
        with closing(read_blocks(path, encoding, block_size)) as blocks:
            header, rest = read_header(blocks, path)
            found = hierarchy_of(header)
            if first is None:
                first, hierarchy = header, found
                layout = attribute_layout(header, hierarchy, ignore)
                lookup = lookup_of(layout)
            else:
                _check_same(header, first, set(found) == set(hierarchy))
            for block in chain([rest], blocks):
                tried = (read(block.data, layout, lookup) for read in fast_readers)
                part = next((rows for rows in tried if rows is not None), None)
                parts.append(part or careful(block, layout, path))
    X, Y = joined_parts(parts, layout)
    labels = [layout.attributes[place].name for place in layout.labels]
    features = [_feature(layout.attributes[place]) for place in layout.features]
    return Dataset(Schema(features, labels, [hierarchy[label] for label in labels]), X, Y, name)


def _feature(attribute: Attribute) -> Feature:
    if attribute.kind == "date":
        return Feature(attribute.name, kind=date_codes(attribute.categories[0]).kind)
    return Feature(attribute.name, attribute.categories if attribute.kind == "nominal" else None)


def _check_same(header: Header, first: Header, has_same_labels: bool) -> None:
    advice = "files are joined only if their attributes are the same"
    for attribute, expected in zip(header.attributes, first.attributes, strict=False):
        if attribute[:3] != expected[:3]:  # all but the line
            is_renamed = attribute.name != expected.name
            here = f", here {quoted(attribute.name)}," if is_renamed else ""
            raise FileError(
                f"attribute {quoted(expected.name)}{here} is declared differently in {first.path}, "
                f"line {expected.line}; {advice}",
                header.path,
                attribute.line,
            )
    n_here, n_first = len(header.attributes), len(first.attributes)
    if n_here != n_first:
        message = f"{n_here} attributes are declared here but {n_first} in {first.path}; {advice}"
        raise FileError(message, header.path)
    if not has_same_labels:
        message = f"other attributes are labels here than in {first.path}"
        raise FileError(message, header.path, header.relation_line)


def arff_lines(data: Dataset, relation: str) -> Iterator[str]:
    """The lines of a file: features, then labels; sparse rows if the data are sparse."""
    yield f"@relation {written(relation)}\n\n"
    words = [_words(feature) for feature in data.schema.features]
    for feature, found in zip(data.schema.features, words, strict=True):
        kind = f"{{{','.join(found)}}}" if isinstance(found, list) else "numeric"
        kind = kind if feature.time is None else written_format(feature)
        yield f"@attribute {written(feature.name)} {kind}\n"
    for label in data.schema.labels:
        yield f"@attribute {written(label)} {{0,1}}\n"
    yield "\n@data\n"
    if sparse.issparse(data.X):
        yield from _sparse_lines(data.X.tocsr(), data.Y, words)
    else:
        yield from _dense_lines(data.X, data.Y, words)


def _words(feature: Feature) -> Words:
    if feature.time is not None:
        return partial(written_date, kind=feature.time)
    return None if feature.categories is None else list(map(written, feature.categories))


def _dense_lines(X: Floats, Y: Board, words: list[Words]) -> Iterator[str]:
    for start in range(0, len(Y), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        columns = [
            [_word(value, categories) for value in X[rows, column].tolist()]
            for column, categories in enumerate(words)
        ]
        labels = [[_LABELS[label] for label in column] for column in Y[rows].T.tolist()]
        for row in zip(*columns, *labels, strict=True):
            yield f"{','.join(row)}\n"


def _sparse_lines(X: sparse.csr_array, Y: Board, words: list[Words]) -> Iterator[str]:
    starts = X.indptr.tolist()
    for row, labels in enumerate(Y):
        stored = slice(starts[row], starts[row + 1])
        columns, values = X.indices[stored].tolist(), X.data[stored].tolist()
        entries = [f"{c} {_word(v, words[c])}" for c, v in zip(columns, values, strict=True)]
        listed = np.flatnonzero(labels)
        entries.extend(
            f"{len(words) + place} {_LABELS[label]}"
            for place, label in zip(listed.tolist(), labels[listed].tolist(), strict=True)
        )
        yield f"{{{','.join(entries)}}}\n"


def _word(value: float, categories: Words) -> str:
    if value != value:
        return "?"
    # repr is the shortest text that reads back as the same number.
    if categories is None:
        return repr(value).removesuffix(".0")
    return categories[int(value)] if isinstance(categories, list) else categories(value)


def check_writable(data: Dataset) -> None:
    """Refuse what an ARFF file cannot hold."""
    schema = data.schema
    if not schema.labels:
        raise DataError("a Mulan file needs at least one label, but the data set has none")
    for column in schema.times:
        values = data.column(column)
        why = why_not_written(schema.features[column], values[~np.isnan(values)].tolist())
        if why is not None:
            name = quoted(schema.features[column].name)
            raise DataError(f"feature {name} {why}: write the data as CSV or Parquet")
    for column, feature in enumerate(schema.features):
        # what sparse rows do not list is the first category
        if feature.categories == () and not np.isnan(data.column(column)).all():
            raise DataError(
                f"feature {quoted(feature.name)} has no categories but cells that are not missing"
            )
