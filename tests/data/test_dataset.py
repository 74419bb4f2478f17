"""A data set is checked when it is made, and frozen from then on."""

import copy
import pickle
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from labelrules.data import DataError, Dataset, Feature, Schema, dataset, load
from strategies import datasets

S = Schema([Feature("x")], ["l"])


def arrays_of(data):
    stored = (data.X.data, data.X.indices, data.X.indptr) if data.is_sparse else (data.X,)
    return (data.Y, *stored)


@given(datasets())
def test_copies_are_equal_and_frozen_too(data):
    for again in (pickle.loads(pickle.dumps(data)), copy.deepcopy(data), copy.copy(data)):
        assert again == data
        assert not any(array.flags.writeable for array in arrays_of(again))


def test_what_was_given_can_change_without_changing_the_data():
    for X in (np.ones((2, 1)), np.ones((2, 1), order="F"), sparse.csc_array(np.ones((2, 1)))):
        Y = np.zeros((2, 1), np.int8)
        data = Dataset(S, X, Y)
        (X.data if sparse.issparse(X) else X)[:] = 5
        Y[:] = 1
        assert (data.column("x") == 1).all()
        assert not data.Y.any()


def test_a_frozen_view_of_what_can_be_written_is_copied():
    base = np.zeros((2, 1), np.int8)
    view = base[:]
    view.setflags(write=False)
    data = Dataset(S, np.ones((2, 1)), view)
    base[:] = 1
    assert not data.Y.any()


def test_stored_zeros_and_duplicates_are_settled():
    X = sparse.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [0, 0, 0])), shape=(2, 1))
    data = Dataset(S, X, [[0], [1]])
    assert data.X.nnz == 1
    assert list(data.column("x")) == [3, 0]


def test_take_and_without():
    readers = load("magazines")
    assert readers.take([3, 1]).label_sets() == [("quality", "fashion"), ()]
    assert len(readers.take([])) == 0
    assert readers.take(readers.Y[:, 3] == 1).n_rows == 2
    assert readers.without(["sex"]).schema.feature_names == ("education", "marital", "children")
    with pytest.raises(DataError, match="there is no feature or label 'size' to leave out"):
        readers.without(["size"])


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[1], [2]], [[0.7], [1]], "Y has cells other than 0, 1 and -1"),
        ([[1], [2]], np.array([[256], [1]]), "Y has cells other than 0, 1 and -1"),
        ([[1], [2]], [[-2], [1]], "Y has cells other than 0, 1 and -1"),
        ([[1], [2]], [[float("nan")], [1]], "Y has cells other than 0, 1 and -1"),
        ([[1], [2]], [["a"], ["b"]], "Y must be an array of numbers"),
        ([[1], [2]], sparse.csr_array([[0], [1]]), "Y must be an array of numbers"),
        ([["a"], ["b"]], [[0], [1]], "X must be an array of numbers"),
        ([[1], [2, 3]], [[0], [1]], "X must be an array of numbers"),
        ([[2**60 + 1], [2]], [[0], [1]], "X has a whole number that a float cannot hold"),
        ([[1, 2]], [[0]], r"X has the shape \(1, 2\) but 1 features are named"),
        ([[1]], [[0, 1]], r"Y has the shape \(1, 2\) but 1 labels are named"),
        ([[1]], [[0], [1]], "X has 1 rows but Y has 2"),
        ([[np.inf]], [[0]], "feature 'x' has an infinite value"),
    ],
)
def test_wrong_arrays_are_refused(X, Y, message):
    with pytest.raises(DataError, match=message):
        Dataset(S, X, Y)


def test_codes_name_categories():
    schema = Schema([Feature("c", ("a", "b", "c"))], ["l"])
    for code in (3, -1, 0.5):
        for X in (np.array([[code]]), sparse.csc_array([[float(code)]])):
            with pytest.raises(DataError, match=r"'c' has the code .* numbered from 0 to 2"):
                Dataset(schema, X, [[0]])


def test_names_are_lists_not_texts():
    with pytest.raises(DataError, match="labels is one text, 'quality': give a list"):
        Schema([], "quality")
    with pytest.raises(DataError, match="the categories of 'sex' are one text, 'MF': give a list"):
        Feature("sex", "MF")


def test_the_schema_cannot_be_changed_through_its_indices():
    with pytest.raises(TypeError):
        S.feature_index["y"] = 0


def test_a_data_set_is_shown_by_its_sizes():
    readers = load("magazines")
    assert repr(readers) == "Dataset('magazines': 14 rows, 4 features, 4 labels)"
    thin = dataset(sparse.csr_array((1, 1200)), [[1]])
    assert repr(thin) == "Dataset(1 row, 1,200 sparse features, 1 label)"
    assert repr(thin.schema) == (
        "Schema(1,200 features: 'x0', 'x1', 'x2', 'x3', 'x4' and 1195 more; 1 label: 'y0')"
    )


def test_a_notebook_shows_the_first_rows():
    nasty = dataset([["<b>", 1.5], ["&", None]], [{"<i>", "sports"}, set()], name="<u>")
    page = ElementTree.fromstring(nasty._repr_html_())
    assert page.findtext("p") == "<u>: 2 rows, 2 features, 2 labels"
    cells = [[cell.text or "" for cell in row] for row in page.iter("tr")]
    assert cells == [["x0", "x1", "labels"], ["<b>", "1.5", "<i>, sports"], ["&", "?", ""]]


def test_a_notebook_shows_some_features_of_many():
    wide = dataset(np.zeros((9, 30)), np.zeros((9, 1)))
    page = ElementTree.fromstring(wide._repr_html_())
    rows = list(page.iter("tr"))
    assert len(rows) == 1 + 5
    assert [cell.text for cell in rows[0]] == [*(f"x{j}" for j in range(8)), "…", "labels"]


def test_labels_are_left_out_with_their_place_in_the_hierarchy():
    schema = Schema([Feature("a")], ["sport", "ball", "news"], [None, "sport", None])
    data = Dataset(schema, [[1.0]], [[1, 1, 0]]).without(["sport"])
    assert data.schema == Schema([Feature("a")], ["ball", "news"])
    assert data.Y.tolist() == [[1, 0]]
