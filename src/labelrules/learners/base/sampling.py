"""Random samples and folds of rows, which depend on the contents of rows and not on their order."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from labelrules._checks import random_generator
from labelrules._types import UNSET, Board, Floats, Integers, Mask, Matrix
from labelrules.data import Dataset
from labelrules.data.rows import Rows
from labelrules.data.table import label_keys


def row_keys(X: Matrix) -> Integers:
    """A number for each row that depends on its values only."""
    contents = _stored_rows(X) if sparse.issparse(X) else _nonzero_rows(np.ascontiguousarray(X))
    digests = b"".join(blake2b(content, digest_size=8).digest() for content in contents)
    return np.frombuffer(digests, dtype="<i8").astype(np.int64)


def _stored_rows(X: sparse.csc_array) -> Iterator[bytes]:
    rows = X.tocsr()
    for start, stop in pairwise(rows.indptr.tolist()):
        yield rows.indices[start:stop].astype(np.int64).tobytes() + rows.data[start:stop].tobytes()


def _nonzero_rows(X: Floats) -> Iterator[bytes]:
    for row in X:
        columns = np.flatnonzero(row)
        yield columns.tobytes() + row[columns].tobytes()


def weight_keys(data: Dataset) -> tuple[Floats, ...]:
    """What tells rows apart that are equal but for their weights, as keys to sort by."""
    return () if data.weights is None else tuple(data.weights.reshape(data.n_rows, -1).T)


def _shuffled(
    n_kinds: int,
    kinds: Integers,
    keys: Integers,
    random: np.random.Generator,
    ties: tuple[Floats, ...] = (),
) -> Integers:
    """The rows in a random order in which equal label sets (`kinds`) stand together."""
    factor = random.integers(1, 2**62, dtype=np.int64) * 2 + 1
    order = random.permutation(n_kinds)[kinds]
    return np.lexsort((*ties, (keys * factor) ^ (keys >> 17), order))


def held_out_rows(Y: Board, keys: Integers, share: float, seed: int) -> Mask:
    """A share of the rows, about the same of each label set; `keys` are those of the rows."""
    label_sets, kinds = np.unique(Y, axis=0, return_inverse=True)
    order = _shuffled(len(label_sets), kinds.ravel(), keys, np.random.default_rng(seed))
    steps = np.floor(np.arange(len(Y) + 1) * share)
    held: Mask = np.zeros(len(Y), dtype=np.bool_)
    held[order[np.diff(steps) > 0]] = True
    return held


def shuffled_rows(data: Dataset, random_state: Any = None) -> Integers:
    """The rows in a random order that depends on their contents only; equal ones are together."""
    factor = random_generator(random_state).integers(1, 2**62, dtype=np.int64) * 2 + 1
    keys = row_keys(data.X)
    mixed = (keys * factor) ^ (keys >> 17)
    return np.lexsort((*weight_keys(data), *label_keys(data.Y).T, mixed))


class _Contents(NamedTuple):
    """What folds and samples depend on in a block: the keys, label sets and weights of rows."""

    n_rows: int
    rows: Integers
    """The rows that count, by their numbers in the block."""
    keys: Integers
    label_sets: Board
    kinds: Integers
    """For each row which of the label sets it has."""
    ties: tuple[Floats, ...]
    """What tells rows apart that are equal otherwise."""

    @classmethod
    def of_known(cls, block: Dataset) -> "list[_Contents]":
        """Read the rows of which a label is known; several blocks are joined as lists."""
        (rows,) = (block.Y != UNSET).any(axis=1).nonzero()
        return [cls.of(block.with_known_labels())._replace(n_rows=len(block), rows=rows)]

    @classmethod
    def of(cls, data: Dataset) -> "_Contents":
        """Read all rows."""
        label_sets, kinds = np.unique(data.Y, axis=0, return_inverse=True)
        rows, keys = np.arange(data.n_rows), row_keys(data.X)
        return cls(data.n_rows, rows, keys, label_sets, kinds.ravel(), weight_keys(data))

    @classmethod
    def joined(cls, blocks: "Sequence[_Contents]") -> "_Contents":
        """The rows of all blocks, one after the other."""
        if len(blocks) == 1:
            return blocks[0]
        sets = np.concatenate([one.label_sets for one in blocks])
        label_sets, number = np.unique(sets, axis=0, return_inverse=True)
        before = np.cumsum([0, *(len(one.label_sets) for one in blocks)]).tolist()
        kinds = [one.kinds + first for one, first in zip(blocks, before, strict=False)]
        keys = np.concatenate([one.keys for one in blocks])
        ties = tuple(map(np.concatenate, zip(*(one.ties for one in blocks), strict=True)))
        kinds_of_all = number.ravel()[np.concatenate(kinds)]
        return cls(len(keys), np.arange(len(keys)), keys, label_sets, kinds_of_all, ties)

    def folds(self, n_folds: int, random_state: Any) -> Integers:
        """For each row its fold, with label sets spread evenly; two folds at least."""
        n_rows, random = len(self.keys), random_generator(random_state)
        order = _shuffled(len(self.label_sets), self.kinds, self.keys, random, self.ties)
        folds = np.empty(n_rows, dtype=np.int64)
        folds[order] = np.arange(n_rows) % max(2, min(n_folds, n_rows))
        return folds


def folds_of(data: Dataset, n_folds: int, random_state: Any = None) -> Integers:
    """For each row its fold, with label sets spread evenly; two folds at least."""
    return _Contents.of(data).folds(n_folds, random_state)


def folds_by_block(rows: Rows, n_folds: int, random_state: Any = None) -> list[Integers]:
    """For the rows of each block their folds, -1 where no label is known."""
    blocks: list[_Contents] = rows.total(_Contents.of_known, "looking at the rows")
    every = _Contents.joined(blocks).folds(n_folds, random_state)
    ends = np.cumsum([len(one.rows) for one in blocks])
    found = []
    for block, own in zip(blocks, np.split(every, ends[:-1]), strict=True):
        found.append(np.full(block.n_rows, -1, dtype=np.int64))
        found[-1][block.rows] = own
    return found


def bootstrap_sample(rows: Rows, random: np.random.RandomState) -> list[Integers]:
    """As many rows of known labels as there are, drawn with replacement: by block, in numbers."""
    blocks: list[_Contents] = rows.total(_Contents.of_known, "looking at the rows")
    every = _Contents.joined(blocks)
    n_rows = len(every.keys)
    place = np.argsort(np.lexsort(label_keys(every.label_sets).T))
    order = np.lexsort((*every.ties, place[every.kinds], every.keys))
    drawn = order[np.sort(random.randint(0, n_rows, n_rows))]
    ends = np.cumsum([len(block.rows) for block in blocks])
    block_of = np.searchsorted(ends, drawn, "right")
    return [
        block.rows[drawn[block_of == number] - (ends[number] - len(block.rows))]
        for number, block in enumerate(blocks)
    ]
