"""Fingerprints of data sets: a hash of their names and cells."""

import hashlib
import json
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._kept import kept
from labelrules._types import Board, Floats, Matrix
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset

Words: TypeAlias = npt.NDArray[np.uint64]

FORM = "2-"
"""What fingerprints begin with; those of earlier versions have digits only, by another hash."""

STRETCH = 1 << 14
"""So many cells are mixed together: all numbers on the way stay in the processor's cache."""

STEP = np.uint64(0x9E3779B97F4A7C15)
MIXING = tuple(
    (np.uint64(shift), np.uint64(factor))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
)
"""These numbers and `STEP` are those of SplitMix64 (Steele, Lea and Flood, 2014)."""


@kept
def fingerprint(data: Dataset) -> str:
    """A hash of all that a data set holds, but for its own name: `2-` and 32 hexadecimal digits.

    Two data sets have the same fingerprint if their schemas, their cells in the order of the rows,
    and their weights are the same; it does not matter whether X is dense or sparse. It guards
    against mistakes, not against forgery. The fingerprint of the training data is part of every
    model, see :func:`labelrules.about`.

    Examples
    --------
    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> fingerprint(readers)
    '2-...'
    >>> fingerprint(readers.take([1, 0])) == fingerprint(readers.take([0, 1]))
    False
    """
    sums = column_sums(data.X), column_sums(data.Y)
    return fingerprint_of(data.schema, data.n_rows, sums, data.weights)


def fingerprint_of(
    schema: Schema, n_rows: int, sums: tuple[Words, Words], weights: Floats | None = None
) -> str:
    """The fingerprint of a data set whose columns of features, and of labels, have these sums."""
    text = f"[{_schema_text(schema)}, {n_rows}]"
    whole = hashlib.blake2b(text.encode(), digest_size=16)
    for each in sums:
        whole.update(each.astype("<u8").tobytes())
    if weights is not None:
        whole.update(json.dumps(weights.shape).encode())
        whole.update(np.ascontiguousarray(weights).astype("<f8").tobytes())
    return FORM + whole.hexdigest()


@kept
def _schema_text(schema: Schema) -> str:
    """A schema as JSON, as in documents."""
    features = [
        {"name": one.name, "categories": one.categories}
        # numbers are amounts only where they are stored sparsely
        | ({} if one.is_numeric or one.is_nominal else {"kind": one.kind})
        for one in schema.features
    ]
    return json.dumps({"features": features, "labels": schema.labels, "parents": schema.parents})


def column_sums(X: Matrix | Board) -> Words:
    """For each column the sum over its cells, each mixed with the number of its row, modulo 2^64.

    Zeros add nothing, so that it does not matter whether they are stored.
    """
    if sparse.issparse(X):
        return _stored_sums(X)
    return _dense_sums(X)


def _dense_sums(X: Floats | Board) -> Words:
    n_rows, n_columns = X.shape
    sums = np.zeros(n_columns, np.uint64)
    for top in range(0, n_rows, STRETCH):
        steps = _steps(np.arange(top, min(top + STRETCH, n_rows)))
        of_zeros = _mixed(steps.copy()).sum()
        width = max(1, STRETCH // len(steps))
        for left in range(0, n_columns, width):
            cells = X[top : top + STRETCH, left : left + width].T
            sums[left : left + width] += _mixed(_bits(cells) + steps).sum(axis=1) - of_zeros
    return sums


def _stored_sums(X: Any) -> Words:
    sums, (occupied,) = np.zeros(X.shape[1], np.uint64), np.diff(X.indptr).nonzero()
    mixed = np.empty(X.nnz, np.uint64)
    for first in range(0, X.nnz, STRETCH):
        part = slice(first, first + STRETCH)
        steps = _steps(X.indices[part])
        mixed[part] = _mixed(_bits(X.data[part]) + steps) - _mixed(steps)
    if occupied.size:
        sums[occupied] = np.add.reduceat(mixed, X.indptr[occupied])
    return sums


def _steps(rows: npt.NDArray[np.integer]) -> Words:
    """A number for each row, such that no cell is mixed as that of another row."""
    return (rows.astype(np.uint64) + np.uint64(1)) * STEP


def _bits(values: Floats | Board) -> Words:
    """The bits of numbers; -0.0 is 0.0, and there are many NaNs, all of which are missing."""
    plain = values + 0.0
    missing = np.isnan(plain)
    if missing.any():
        plain[missing] = np.nan
    return plain.view(np.uint64)


def _mixed(words: Words) -> Words:
    """Numbers of which every bit depends on all bits of those given, which are used up."""
    for shift, factor in MIXING:
        words ^= words >> shift
        words *= factor
    return words
