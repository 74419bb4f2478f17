"""What an experiment consists of: learners, data sets, divisions of rows, fingerprints of fits."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from labelrules._checks import is_number, is_whole, number, whole_number
from labelrules._types import Integers
from labelrules.data import DataError, Dataset, load
from labelrules.data.fingerprints import fingerprint
from labelrules.data.memory.encoding import conform
from labelrules.lab.measuring import Categories, by_name, refuse_cell_weights
from labelrules.lab.stratification import even_sizes, holdout_sizes, stratified_folds
from labelrules.learners.base.estimator import TableClassifier

FORMAT = 1
"""Part of all fingerprints: to be raised when the same definition gives other results."""

_NOT_DEFINING = ("progress", "verbose")
"""Settings that change what is shown and nothing else."""


class Division(NamedTuple):
    """Rows to learn from and rows to measure on: fold `fold` of repetition `repeat`, from 0."""

    repeat: int
    fold: int
    train: Integers
    test: Integers


@dataclass(frozen=True, eq=False)
class DividedData:
    """A data set and how its rows are divided.

    Attributes
    ----------
    name : str
    train_data, test_data : Dataset
        The same one, unless a train and a test part were given.
    divisions : tuple of Division
    """

    name: str
    train_data: Dataset
    test_data: Dataset
    divisions: tuple[Division, ...]


def named_data(given: Any) -> dict[str, "Dataset | tuple[Dataset, Dataset]"]:
    """Data sets by name, each whole or as a pair of a train and a test part."""
    return by_name(given, "data", "data sets", _name_of_data, _checked_data)


def _name_of_data(one: Any) -> str:
    name = one if isinstance(one, str) else getattr(one, "name", "")
    if not name or not isinstance(one, str | Dataset):
        raise ValueError(f"{one!r:.60} in data has no name: give a dict from names to data sets")
    return str(name)


def _checked_data(name: str, one: Any) -> "Dataset | tuple[Dataset, Dataset]":
    if isinstance(one, str):
        one = load(one)
    if isinstance(one, Dataset):
        refuse_cell_weights(one)
        return one
    if isinstance(one, tuple | list) and len(one) == 2:
        train, test = one
        if isinstance(train, Dataset) and isinstance(test, Dataset):
            return _checked_parts(name, train, test)
    raise ValueError(
        f"data[{name!r}] must be a Dataset, or a pair of them, to learn from and to measure on, "
        f"not {one!r:.60}: use dataset(X, Y)"
    )


def _checked_parts(name: str, train: Dataset, test: Dataset) -> tuple[Dataset, Dataset]:
    refuse_cell_weights(train)
    refuse_cell_weights(test)
    if train.schema == test.schema:
        return train, test
    if test.weights is not None:
        raise ValueError(f"data[{name!r}]: the test part has weights and another schema: rename it")
    try:
        return train, conform(test, train.schema, with_labels=True)
    except DataError as wrong:
        message = str(wrong).replace("of the model", "of the train part")
        raise DataError(f"data[{name!r}], the test part: {message}") from None


def divided_datasets(
    data: Mapping[str, "Dataset | tuple[Dataset, Dataset]"],
    split: Any,
    n_repeats: int,
    random_state: int,
) -> tuple[DividedData, ...]:
    """Divide the rows of all data sets."""
    found = []
    for name, one in data.items():
        if isinstance(one, tuple):
            rows = Division(0, 0, np.arange(len(one[0])), np.arange(len(one[1])))
            found.append(DividedData(name, *one, (rows,)))
            continue
        try:
            divisions = tuple(_divisions(one, split, n_repeats, random_state))
        except ValueError as wrong:
            raise ValueError(f"data[{name!r}]: {wrong}") from None
        found.append(DividedData(name, one, one, divisions))
    return tuple(found)


def _divisions(data: Dataset, split: Any, n_repeats: int, random_state: int) -> Iterator[Division]:
    if is_number(split):
        if is_whole(split):
            sizes = even_sizes(data.n_rows, whole_number(split, "split", low=2))
            held_out = range(len(sizes))
        else:
            sizes = holdout_sizes(data.n_rows, number(split, "split", above=0, below=1))
            held_out = range(1, 2)
        for repeat in range(n_repeats):
            parts = stratified_folds(data, sizes, random_state + repeat)
            for fold, held in enumerate(held_out):
                rows = np.flatnonzero(parts != held), np.flatnonzero(parts == held)
                yield Division(repeat, fold, *rows)
        return
    if isinstance(split, str) or not hasattr(split, "split"):
        raise ValueError(
            "split must be a number of folds, a share of rows to hold out, or a splitter of "
            f"scikit-learn, not {split!r:.60}"
        )
    if n_repeats != 1:
        raise ValueError(
            f"n_repeats={n_repeats} is for folds and holdouts that are made here: {split} has "
            "repeats of its own"
        )
    found = _splits(split, data)
    first, second = _flat(found), _flat(_splits(split, data))
    if len(first) != len(second) or not all(map(np.array_equal, first, second)):
        raise ValueError(
            f"{split} divides the rows otherwise each time, so no fit could be found again: give "
            "it a whole number as random_state"
        )
    per_repeat = len(found) // max(1, getattr(split, "n_repeats", 1))
    for place, (train, test) in enumerate(found):
        yield Division(*divmod(place, max(1, per_repeat)), train, test)


def _splits(split: Any, data: Dataset) -> list[tuple[Integers, Integers]]:
    X = sparse.csr_array(data.X) if data.is_sparse else data.X
    return [(np.asarray(a), np.asarray(b)) for a, b in split.split(X, np.array(data.Y))]


def _flat(pairs: Iterable[tuple[Integers, Integers]]) -> list[Integers]:
    return [rows for pair in pairs for rows in pair]


def seeded(learner: Any, seed: int) -> Any:
    """Copy a learner, and seed each `random_state` that is None, also in its parts.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> seeded(RandomForestClassifier(), 3)
    RandomForestClassifier(random_state=3)
    """
    made = clone(learner, safe=False)
    if not hasattr(made, "get_params"):
        return made
    unset = {
        name: seed
        for name, value in made.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return made.set_params(**unset) if unset else made


def fit_fingerprint(data: str, division: Division, learner: Any, categories: Categories) -> str:
    """A hash of all that determines the result of a fit.

    Parameters
    ----------
    data : str
        The fingerprints of the data.
    division : Division
    learner : estimator
        Seeded.
    categories : {"columns", "codes"}
        It does not matter for learners of this library.
    """
    rows = blake2b(digest_size=16)
    for part in (division.train, division.test):
        rows.update(f"{part.size};".encode())
        rows.update(np.ascontiguousarray(part).astype("<i8").tobytes())
    is_own = isinstance(learner, TableClassifier)
    settings = _settings(learner, 0)
    whole = [FORMAT, data, rows.hexdigest(), settings, None if is_own else categories]
    text = json.dumps(whole, sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def data_fingerprint(data: DividedData) -> str:
    """The fingerprints of the data sets that are learned from and measured on."""
    parts = [data.train_data] if data.train_data is data.test_data else [
        data.train_data, data.test_data
    ]  # fmt: skip
    return " ".join(map(fingerprint, parts))


_DEEPEST = 30


def _settings(value: Any, depth: int) -> Any:
    """A value as JSON that is the same in every process: by types, parameters and attributes."""
    if depth > _DEEPEST:
        raise ValueError(f"a setting of a learner is nested too deeply: {value!r:.60}")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return ["float", repr(value)]
    if isinstance(value, np.generic):
        return _settings(value.item(), depth + 1)
    if isinstance(value, type | FunctionType):
        return _code(value)
    if isinstance(value, Mapping):
        pairs = [[_settings(part, depth + 1) for part in pair] for pair in value.items()]
        return [_type(value), sorted(pairs, key=json.dumps)]
    if isinstance(value, set | frozenset):
        return [_type(value), sorted((_settings(one, depth + 1) for one in value), key=json.dumps)]
    if isinstance(value, list | tuple):
        return [_type(value), [_settings(one, depth + 1) for one in value]]
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest = blake2b(np.ascontiguousarray(value).tobytes(), digest_size=16).hexdigest()
        return ["array", str(value.dtype), list(value.shape), digest]
    return [_type(value), _settings(_attributes(value), depth + 1)]


def _attributes(value: Any) -> dict[str, Any]:
    """What an object is made of."""
    if hasattr(value, "get_params"):
        given = value.get_params(deep=False)
        return {name: one for name, one in given.items() if name not in _NOT_DEFINING}
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, np.ndarray):
        return {"shape": value.shape, "cells": value.ravel().tolist()}
    if hasattr(value, "__dict__"):
        return dict(vars(value))
    state = value.__reduce_ex__(2)
    return {"state": [one for one in state[1:3] if one is not None]}


def _type(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _code(value: Any) -> list[str]:
    """A class or function by its name; one without a name that can be imported by its code, too."""
    name = f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, FunctionType) and "<" in value.__qualname__:
        code = value.__code__
        return ["code", name, code.co_code.hex(), repr(code.co_consts), repr(code.co_names)]
    return ["code", name]
