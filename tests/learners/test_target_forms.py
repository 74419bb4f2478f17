"""What 1, 0, -1 and NaN in Y mean: classes in one dimension, labels in a table, of any form."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from extras import pd, pl
from labelrules import SeparateAndConquer, dataset
from labelrules.data import DataError
from labelrules.lab import IterativeStratifiedKFold
from labelrules.learners.base.estimator import read_target

ONE_DIMENSION = {
    "list": list,
    "objects": lambda cells: [None if cell != cell else int(cell) for cell in cells],
    "array": np.array,
    "pandas": lambda cells: pd.Series(cells, name="l"),
    "polars": lambda cells: pl.Series("l", cells, dtype=pl.Float64),
}
"""What `fit` takes for classes."""


def column(cells):
    return np.array(cells)[:, None]


TABLES = {
    "column": column,
    "whole column": lambda cells: np.nan_to_num(column(cells), nan=-1).astype(int),
    "column of objects": lambda cells: column(ONE_DIMENSION["objects"](cells)),
    "rows": lambda cells: [[cell] for cell in ONE_DIMENSION["objects"](cells)],
    "masked": lambda cells: np.ma.masked_invalid(column(cells)),
    "sparse": lambda cells: sparse.csr_array(column(cells)),
    "pandas": lambda cells: pd.DataFrame({"l": cells}),
    "whole pandas": lambda cells: pd.DataFrame({"l": cells}).astype("Int64"),
    "polars": lambda cells: pl.DataFrame({"l": cells}, schema={"l": pl.Float64}),
    "two columns": lambda cells: np.column_stack([cells, cells]),
    "pandas, two columns": lambda cells: pd.DataFrame({"l": cells, "m": cells}),
}
"""What holds labels, in `fit` as in `dataset`."""

CELLS = st.lists(st.sampled_from([1.0, -1.0, 0.0, np.nan]), min_size=2, max_size=9)


def board_of(cells, form):
    """The labels of a table, cell by cell."""
    labels = [-1 if cell != cell else int(cell) for cell in cells]
    return [[label] * (2 if "two" in form else 1) for label in labels]


def is_one_sided(board):
    """Whether the one label is present or unknown in every row, and both occur."""
    return {tuple(row) for row in board} == {(1,), (-1,)}


@pytest.mark.parametrize("form", TABLES)
@given(cells=CELLS)
def test_in_a_table_minus_one_is_unknown_whatever_else_it_holds(form, cells):
    board, Y = board_of(cells, form), TABLES[form](cells)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        target, labels = read_target(Y)
        folds = list(IterativeStratifiedKFold(2).split(np.zeros((len(cells), 1)), Y))
    assert (target.kind, labels.board.tolist()) == ("labels", board)
    assert dataset([[0]] * len(cells), Y).Y.tolist() == board
    assert sorted(row for _, test in folds for row in test) == list(range(len(cells)))
    expected = ["Y has one label, which is present wherever it is known"] * is_one_sided(board) * 2
    assert [str(one.message)[:54] for one in found] == expected


@pytest.mark.parametrize("form", ONE_DIMENSION)
@given(cells=CELLS)
def test_in_one_dimension_they_are_classes_and_none_may_be_missing(form, cells):
    Y, classes = ONE_DIMENSION[form](cells), sorted({*cells} - {np.nan})
    assert dataset([[0]] * len(cells), Y).Y.tolist() == board_of(cells, form)
    if any(cell != cell for cell in cells):
        with pytest.raises(ValueError, match=r"contains NaN|no class in row"):
            read_target(Y)
        return
    target, labels = read_target(Y)
    of_two = len(classes) == 2
    assert (target.kind, target.values.tolist()) == (
        "two classes" if of_two else "classes",
        classes,
    )
    chosen = classes[1:] if of_two else classes
    assert labels.board.tolist() == [[int(cell == one) for one in chosen] for cell in cells]


@pytest.mark.parametrize("form", TABLES)
def test_learners_leave_out_the_cells_of_minus_one(form):
    X, cells = [[0], [0], [1], [1]], [1.0, -1.0, 0.0, -1.0]
    model = SeparateAndConquer(min_coverage=1).fit(X, TABLES[form](cells))
    assert np.asarray(model.predict(X)).tolist() == board_of([1, 1, 0, 0], form)
    assert model.score(X, TABLES[form](cells)) == 1.0
    with pytest.warns(UserWarning, match="which is present wherever it is known") as found:
        SeparateAndConquer().fit(X, column([1, -1, 1, -1]))
    assert [one.filename for one in found] == [__file__]


def test_a_column_of_other_values_holds_classes():
    for cells in ([-1, 0, 1, 2], [1, 2, 1, 2], ["a", "b", "a", "b"]):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            target, _ = read_target(column(cells))
        assert target.values.tolist() == sorted({*cells})
    with pytest.raises(DataError, match="Y has 2 in row 3, column 0: a label is 0 or 1"):
        dataset([[0]] * 4, column([-1, 0, 1, 2]))
