"""Random samples and folds of rows, which depend on the contents of rows and not on their order."""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from labelrules._checks import is_whole
from labelrules._types import UNSET, Board, Floats, Integers, Mask, Matrix
from labelrules.data import Dataset, Partitions
from labelrules.data.table import label_keys


def random_numbers(random_state: Any) -> np.random.RandomState:
    """The source of random numbers that `random_state` stands for; None is the same as 0."""
    try:
        if not isinstance(random_state, bool | np.bool_):
            source = 0 if random_state is None else random_state
            return check_random_state(source)  # type: ignore[no-any-return]
    except ValueError:
        pass
    raise ValueError(
        "random_state must be a whole number from 0 to 4294967295, a RandomState or None, "
        f"not {random_state!r:.60}"
    )


def random_seed(random_state: Any) -> int:
    """A number drawn by `random_state`; 0 for None."""
    return 0 if random_state is None else int(random_numbers(random_state).randint(2**31 - 1))


def random_generator(random_state: Any) -> np.random.Generator:
    """NumPy's newer generator, seeded by the number itself where `random_state` is one."""
    seed = random_seed(random_state)
    return np.random.default_rng(int(random_state) if is_whole(random_state) else seed)


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
    Y: Board, keys: Integers, random: np.random.Generator, ties: tuple[Floats, ...] = ()
) -> Integers:
    """The rows in a random order in which equal label sets stand together."""
    label_sets, kinds = np.unique(Y, axis=0, return_inverse=True)
    return _shuffled_kinds(len(label_sets), kinds.ravel(), keys, random, ties)


def _shuffled_kinds(
    n_kinds: int,
    kinds: Integers,
    keys: Integers,
    random: np.random.Generator,
    ties: tuple[Floats, ...] = (),
) -> Integers:
    factor = random.integers(1, 2**62, dtype=np.int64) * 2 + 1
    order = random.permutation(n_kinds)[kinds]
    return np.lexsort((*ties, (keys * factor) ^ (keys >> 17), order))


def held_out_rows(Y: Board, keys: Integers, share: float, seed: int) -> Mask:
    """A share of the rows, about the same of each label set; `keys` are those of the rows."""
    order = _shuffled(Y, keys, np.random.default_rng(seed))
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


def folds_of(data: Dataset, n_folds: int, random_state: Any = None) -> Integers:
    """For each row its fold, with label sets spread evenly; two folds at least."""
    folds = np.empty(data.n_rows, dtype=np.int64)
    random, ties = random_generator(random_state), weight_keys(data)
    order = _shuffled(data.Y, row_keys(data.X), random, ties)
    folds[order] = np.arange(data.n_rows) % max(2, min(n_folds, data.n_rows))
    return folds


class _Contents(NamedTuple):
    """What folds and samples depend on in a part: keys and label sets of rows with known labels."""

    n_rows: int
    rows: Integers
    """Those of which a label is known."""
    keys: Integers
    label_sets: Board
    kinds: Integers
    """For each row which of the label sets it has."""

    @classmethod
    def of(cls, part: Dataset) -> "list[_Contents]":
        """Read a part; those of several are joined as lists."""
        (rows,) = (part.Y != UNSET).any(axis=1).nonzero()
        known = part.take(rows)
        label_sets, kinds = np.unique(known.Y, axis=0, return_inverse=True)
        return [cls(len(part), rows, row_keys(known.X), label_sets, kinds.ravel())]


class _AllContents(NamedTuple):
    """That of all parts, rows one after the other."""

    keys: Integers
    label_sets: Board
    kinds: Integers
    parts: list[_Contents]

    @classmethod
    def of(cls, data: Partitions) -> "_AllContents":
        """Read all parts."""
        parts: list[_Contents] = data.total(_Contents.of, "looking at the rows")
        sets = np.concatenate([part.label_sets for part in parts])
        label_sets, number = np.unique(sets, axis=0, return_inverse=True)
        before = np.cumsum([0, *(len(part.label_sets) for part in parts)]).tolist()
        kinds = [part.kinds + first for part, first in zip(parts, before, strict=False)]
        keys = np.concatenate([part.keys for part in parts])
        return cls(keys, label_sets, number.ravel()[np.concatenate(kinds)], parts)

    def divided(self, values: Integers) -> Iterator[tuple[_Contents, Integers]]:
        """The parts, each with the values of its rows."""
        ends = np.cumsum([len(part.rows) for part in self.parts])
        return zip(self.parts, np.split(values, ends[:-1]), strict=True)


def folds_of_parts(data: Partitions, n_folds: int, random_state: Any = None) -> list[Integers]:
    """The folds of `folds_of` for the rows of each part of which a label is known, else -1."""
    found = _AllContents.of(data)
    n_rows, random = len(found.keys), random_generator(random_state)
    order = _shuffled_kinds(len(found.label_sets), found.kinds, found.keys, random)
    folds = np.empty(n_rows, dtype=np.int64)
    folds[order] = np.arange(n_rows) % max(2, min(n_folds, n_rows))
    parts = []
    for part, own in found.divided(folds):
        parts.append(np.full(part.n_rows, -1, dtype=np.int64))
        parts[-1][part.rows] = own
    return parts


def sample_of_parts(data: Partitions, random: np.random.RandomState) -> list[Integers]:
    """The rows of `bootstrap_sample`, by their numbers in each part."""
    found = _AllContents.of(data)
    n_rows = len(found.keys)
    place = np.argsort(np.lexsort(label_keys(found.label_sets).T))
    order = np.lexsort((place[found.kinds], found.keys))
    times = np.bincount(order[random.randint(0, n_rows, n_rows)], minlength=n_rows)
    return [np.repeat(part.rows, own) for part, own in found.divided(times)]


def bootstrap_sample(data: Dataset, random: np.random.RandomState) -> Integers:
    """As many rows as there are, drawn with replacement."""
    order = np.lexsort((*weight_keys(data), *label_keys(data.Y).T, row_keys(data.X)))
    return np.asarray(order[np.sort(random.randint(0, data.n_rows, data.n_rows))])
