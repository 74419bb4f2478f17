"""Compile what learners need before it is needed."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._compiling import compiling_seconds
from labelrules.data import Dataset, Feature, Schema
from labelrules.learners.registry import registered

_WAYS: tuple[dict[str, Any], ...] = (
    {"heads": "multi", "measure": "precision", "fixed_head": False, "pruning": None},
    {"heads": "complete", "measure": "hamming", "fixed_head": False, "polarity": "both"},
    {"beam_width": 2, "max_rules": 2},
)
"""Settings of the covering learner with kernels of their own."""


def warm_up() -> float:
    """Compile all that the learners need, and keep it on disk; returns the seconds it took.

    The first fits and predictions of a fresh installation are otherwise slow, each by some seconds.
    Measures that are no ratios of linear functions of the counts, such as correlation, have kernels
    of their own, which are compiled when they are first used.

    Returns
    -------
    float
        Seconds; 0.0 if everything was on disk already.

    Examples
    --------
    >>> seconds = warm_up()
    >>> warm_up()
    0.0
    """
    before = compiling_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is learned here nothing matters
        for data in (_table(), _sparse_table()):
            _use_learners(data)
    return compiling_seconds() - before


def _use_learners(data: Dataset) -> None:
    """Let every learner learn and predict."""
    one_label = Dataset(Schema(data.schema.features, ["first"]), data.X, data.Y[:, :1])
    for name, learner in registered().items():
        ways = ({}, *_WAYS) if name == "separate-and-conquer" else ({},)
        for way in ways:
            rows = one_label if name == "ripper" else data
            learner(**way).fit(rows).predict(rows)


def _table() -> Dataset:
    """Numbers, some missing, and categories; labels that depend on both."""
    rng = np.random.default_rng(0)
    number, colour, flag = rng.random(80), rng.integers(0, 4, 80), rng.integers(0, 2, 80)
    few = np.where(rng.random(80) < 0.8, 0.0, rng.random(80))
    Y = np.column_stack([number > 0.6, colour == 2, (flag == 1) & (number > 0.3)])
    Y ^= rng.random(Y.shape) < 0.05
    number[:3] = np.nan
    features = [
        Feature("number"),
        Feature("few"),
        Feature("colour", ("red", "green", "blue", "black")),
        Feature("flag", ("no", "yes")),
    ]
    schema = Schema(features, ["first", "second", "third"])
    return Dataset(schema, np.column_stack([number, few, colour, flag]), Y.astype(np.int8))


def _sparse_table() -> Dataset:
    dense = _table()
    return Dataset(dense.schema, sparse.csc_array(np.nan_to_num(np.asarray(dense.X))), dense.Y)
