"""Tables, boards and covered rows for the tests of the kernels that refine bodies."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from labelrules import UNSET, Dataset
from labelrules.measures import Formula
from labelrules.search.bodies.refine import Refiner
from labelrules.search.bodies.rule_language import language
from labelrules.search.bodies.sorted_columns import SortedColumns
from tables import schema_of

OPERATORS = ("<=", ">", "=", "!=")
FORMULAS = [Formula("precision"), Formula("f", 0.5)]


class Case(NamedTuple):
    """A table, what is written on its board, and the rows that a body covers."""

    data: Dataset
    board: np.ndarray
    covered: np.ndarray


def case(seed, n_rows, storage):
    """Mixed columns with ties, missing values, mostly zero, constant, of two categories."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.integers(-3, 4, n_rows) / 2,
            rng.normal(size=n_rows).round(2),
            rng.choice([0, 0, 0, 0, -1.5, 2], n_rows),
            np.ones(n_rows),
            rng.integers(0, 2, n_rows),
            rng.integers(0, 4, n_rows),
            rng.choice([0, 1, 1, 1, 1], n_rows),
        ]
    )
    if seed % 2:
        X[rng.random(X.shape) < 0.2] = np.nan
    Y = (rng.random((n_rows, 3)) < [0.2, 0.5, 0.9]).astype(np.int8)
    Y[:, 0] |= X[:, 1] > 0.8
    board = np.where(rng.random(Y.shape) < 0.3, rng.integers(0, 2, Y.shape), UNSET)
    table = sparse.csc_array(X) if storage == "sparse" else X
    data = Dataset(schema_of([0, 0, 0, 0, 2, 4, 2], 3), table, Y)
    return Case(data, board.astype(np.int8), rng.random(n_rows) < (0.1 if seed % 3 == 2 else 0.7))


CASES = [
    pytest.param(case(seed, n_rows, storage), id=f"{seed}-{n_rows}-{storage}")
    for seed, n_rows in enumerate([1, 6, 20, 20, 90, 90])
    for storage in ("dense", "sparse")
]


def refiner_of(given, formula=FORMULAS[0], *, relative=True, smallest=1, values=3, layers=1,
               largest=1, n_threads=1):  # fmt: skip
    data, board = given.data, np.ascontiguousarray(given.board.T)
    is_open = board == UNSET
    counted = np.array([is_open] if layers == 1 else [board != 0, board != 1])
    n_labels = len(board)
    return Refiner(
        SortedColumns.of(data), np.ascontiguousarray(data.Y.T), board, counted,
        np.full(n_labels, values, np.int8), formula, language(data.schema, OPERATORS),
        counting="head-relative" if relative else "chapter", smallest=smallest,
        merging=largest > 1, largest=largest, n_threads=n_threads,
    )  # fmt: skip
