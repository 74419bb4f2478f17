"""Labels of which it is unknown whether a row has them, however they are given."""

import numpy as np
import pytest
from scipy import sparse

from extras import pd, pl
from labelrules.data import DataError, dataset, split_labels

X = [[1], [2], [3]]
CELLS = [[1, 0], [-1, 1], [0, -1]]


@pytest.mark.parametrize(
    "Y",
    [
        CELLS,
        np.array([[1, 0], [np.nan, 1], [0, np.nan]]),
        [[1, 0], [None, True], [False, None]],
        np.ma.masked_array([[1, 0], [0, 1], [0, 0]], [[0, 0], [1, 0], [0, 1]]),
        sparse.csr_array([[1, 0], [np.nan, 1], [0, -1]]),
        pd.DataFrame({"a": [1, None, 0], "b": pd.array([0, 1, None], dtype="Int64")}),
        pd.DataFrame({"a": [True, None, False], "b": [0, 1, -1]}),
        pl.DataFrame({"a": [1, None, 0], "b": [False, True, None]}),
    ],
)
def test_missing_cells_and_minus_one_are_unknown(Y):
    data = dataset(X, Y)
    assert data.Y.tolist() == CELLS
    assert data.n_unknown == 2
    assert repr(data) == "Dataset(3 rows, 1 feature, 2 labels, 2 unknown cells)"


def test_all_labels_of_a_row_without_a_label_set_are_unknown():
    data = dataset(X, [{"a"}, None, {"b"}])
    assert data.Y.tolist() == [[1, 0], [-1, -1], [0, 1]]
    assert data.take([0, 2]).n_unknown == 0


@pytest.mark.parametrize("cell", [2, -2, 0.5])
def test_other_cells_are_refused(cell):
    with pytest.raises(DataError, match=r"in row 0, column 0: a label is 0 or 1 \(-1 or missing"):
        dataset([[1]], [[cell, 0]])


def test_label_sets_may_be_of_several_kinds():
    sets = pd.Series([("a",), ["b"], {"a", "c"}, np.array(["c"]), np.array([], dtype=object)])
    assert dataset([[1]] * 5, sets).label_sets() == [("a",), ("b",), ("a", "c"), ("c",), ()]
    assert (
        dataset([[1]] * 5, sets.to_numpy()).Y.tolist() == dataset([[1]] * 5, list(sets)).Y.tolist()
    )


def test_texts_are_split_on_request():
    assert split_labels(pd.Series(["a; b", " ", None]), ";") == [("a", "b"), (), None]
    with pytest.raises(DataError, match="Y has 3 in row 1, which is no text to be split"):
        split_labels(["a", 3])
    with pytest.raises(DataError, match="separator must be a text such as ','"):
        split_labels(["a"], "")


@pytest.mark.parametrize(
    "Y",
    [
        pd.DataFrame({"tags": ["a,b", "c"]}),
        pl.DataFrame({"tags": ["a,b", "c"]}),
        "a,b",
        {"tags": ["a,b", "c"]},
    ],
)
def test_only_one_text_per_row_is_split(Y):
    with pytest.raises(DataError, match=r"Y is of type \w+: give one text per row, .*\['tags'\]"):
        split_labels(Y, "tags")


@pytest.mark.parametrize("library", [pd, pl])
def test_labels_may_be_columns_of_the_frame(library):
    frame = library.DataFrame({"a": [1, None, 0], "x": [1.5, 2.5, 3.5], "b": [0, 1, None]})
    data = dataset(frame, label_names=["b", "a"])
    assert data.schema.feature_names == ("x",)
    assert data.Y.tolist() == [[0, 1], [1, -1], [-1, 0]]
    with pytest.raises(DataError, match="X has no column 'bb'; did you mean 'b'"):
        dataset(frame, label_names=["bb"])
    for X, names in ((frame, None), ([[1]], ["a"])):
        with pytest.raises(DataError, match="Y is missing: give the labels, or a frame as X"):
            dataset(X, label_names=names)
