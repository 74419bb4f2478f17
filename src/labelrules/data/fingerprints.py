"""Fingerprints of data sets: a hash of their names and cells."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Floats, Matrix
from labelrules.data.document import builtins_of, schema_record
from labelrules.data.schema import Schema
from labelrules.data.table import PIECE, Dataset


def fingerprint(data: Dataset) -> str:
    """A hash of all that a data set holds, but for its own name, as 32 hexadecimal digits.

    Two data sets have the same fingerprint if their schemas, their cells in the order of the rows,
    and their weights are the same; it does not matter whether X is dense or sparse. The fingerprint
    of the training data is part of every model, see :func:`labelrules.about`.

    Examples
    --------
    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> fingerprint(readers)
    '...'
    >>> fingerprint(readers.take([1, 0])) == fingerprint(readers.take([0, 1]))
    False
    """
    features = data.schema.features  # numbers are amounts only where they are stored sparsely
    entries = [hashlib.blake2b(digest_size=16) for _ in range(3)]
    for part in _stored_entries(data.X):
        for one, array in zip(entries, part, strict=True):
            one.update(array.tobytes())
    plain = [replace(one, kind="numeric") if one.is_numeric else one for one in features]
    schema = builtins_of(schema_record(Schema(plain, data.schema.labels, data.schema.parents)))
    whole = hashlib.blake2b(json.dumps([schema, data.n_rows]).encode(), digest_size=16)
    for one in entries:
        whole.update(one.digest())
    whole.update(np.ascontiguousarray(data.Y).tobytes())
    if data.weights is not None:
        whole.update(json.dumps(data.weights.shape).encode())
        whole.update(np.ascontiguousarray(data.weights).astype("<f8").tobytes())
    return whole.hexdigest()


def _stored_entries(X: Matrix) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """For some columns after the other: how many cells are not 0, their rows and their values."""
    if sparse.issparse(X):
        yield _as_stored(np.diff(X.indptr), X.indices, X.data)
        return
    step = max(1, PIECE // max(1, X.shape[0]))
    for first in range(0, X.shape[1], step):
        part = X[:, first : first + step].T
        stored = part != 0  # so that 0.0 and -0.0 are the same
        yield _as_stored(stored.sum(axis=1), np.nonzero(stored)[1], part[stored])


def _as_stored(
    counts: npt.NDArray[Any], rows: npt.NDArray[Any], values: Floats
) -> tuple[npt.NDArray[Any], ...]:
    """The same numbers on every machine; there are many NaNs, all of which are missing values."""
    plain = np.where(np.isnan(values), np.nan, values)
    return counts.astype("<u4"), rows.astype("<u4"), plain.astype("<f8")
