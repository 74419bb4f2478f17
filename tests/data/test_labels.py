"""Labels from tables and from label sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import strategies
from extras import pa, pd, pl
from labelrules.data import DataError, Dataset, Schema, dataset, encode_labels, split_labels
from labelrules.data.memory.labels import read_labels

BOARD = np.array([[0, 1, 1], [1, 0, 0]], dtype=np.int8)
NAMES = ("a", "b", "c")
SETS = [{"b", "c"}, {"a"}]

TABLES = {
    "int": BOARD.astype(int),
    "bool": BOARD.astype(bool),
    "float": BOARD.astype(float),
    "object": BOARD.astype(object),
    "mixed objects": np.array([[0.0, True, 1], [np.True_, np.int8(0), False]], dtype=object),
    "lists": BOARD.tolist(),
    "tuples": tuple(map(tuple, BOARD.tolist())),
    "masked, nothing hidden": np.ma.masked_array(BOARD),
    **{
        form: sparse.csr_array(BOARD).asformat(form)
        for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    },
    "sparse matrix": sparse.csr_matrix(BOARD),
    "sparse bool": sparse.csr_array(BOARD.astype(bool)),
    "sparse float": sparse.csr_array(BOARD.astype(float)),
}

NAMED = {
    "pandas": pd.DataFrame(BOARD, columns=list(NAMES)),
    "pandas bool": pd.DataFrame(BOARD.astype(bool), columns=list(NAMES)),
    "pandas nullable": pd.DataFrame(BOARD, columns=list(NAMES)).astype("Int64"),
    "pandas object": pd.DataFrame(BOARD, columns=list(NAMES)).astype(object),
    "polars": pl.DataFrame(dict(zip(NAMES, BOARD.T, strict=True))),
    "pyarrow": pa.table(dict(zip(NAMES, BOARD.T, strict=True))),
    "sets": SETS,
    "frozensets": [frozenset(labels) for labels in SETS],
    "lists of names": [["c", "b"], ("a", "a")],
    "array of sets": np.array([{"b", "c"}, {"a"}], dtype=object),
    "series of lists": pd.Series([["b", "c"], ["a"]]),
    "series of arrays": pd.Series([np.array(["b", "c"]), np.array(["a"])]),
    "polars lists": pl.Series([["b", "c"], ["a"]]),
}


@pytest.mark.parametrize("form", TABLES)
def test_a_table_of_zeros_and_ones(form: str) -> None:
    board, names = read_labels(TABLES[form], None)
    assert names is None
    assert board.dtype == np.int8
    np.testing.assert_array_equal(board, BOARD)
    schema = Schema([], NAMES)
    encoded = encode_labels(TABLES[form], schema)
    assert not encoded.flags.writeable
    np.testing.assert_array_equal(encoded, BOARD)


@pytest.mark.parametrize("form", NAMED)
def test_what_brings_its_own_names(form: str) -> None:
    board, names = read_labels(NAMED[form], None)
    assert names == NAMES
    np.testing.assert_array_equal(board, BOARD)
    np.testing.assert_array_equal(encode_labels(NAMED[form], Schema([], NAMES)), BOARD)


@pytest.mark.parametrize("Y", [[0, 1], [False, True], np.array([0.0, 1.0]), (0, 1)])
def test_one_dimension_is_one_label(Y: object) -> None:
    np.testing.assert_array_equal(dataset(np.empty((2, 0)), Y).Y, [[0], [1]])


@pytest.mark.parametrize("library", [pd, pl])
def test_a_series_is_one_label_with_its_name(library: object) -> None:
    data = dataset(np.empty((2, 0)), library.Series(name="sports", **_values(library, [0, 1])))
    assert data.schema.labels == ("sports",)
    nameless = library.Series(**_values(library, [True, False]))
    assert dataset(np.empty((2, 0)), nameless).schema.labels == ("y0",)


def _values(library: object, values: list[object]) -> dict[str, object]:
    return {"data" if library is pd else "values": values}


def test_label_names_give_the_label_space_and_its_order() -> None:
    data = dataset(np.empty((2, 0)), SETS, label_names=["c", "unused", "b", "a"])
    assert data.schema.labels == ("c", "unused", "b", "a")
    np.testing.assert_array_equal(data.Y, [[1, 0, 1, 0], [0, 0, 0, 1]])


def test_empty_label_sets_need_names() -> None:
    assert dataset([[1], [2]], [set(), []], label_names=["a"]).Y.tolist() == [[0], [0]]
    assert dataset([[1], [2]], [[], []], label_names=["a"]).Y.tolist() == [[0], [0]]
    with pytest.raises(DataError, match="every label set in Y is empty"):
        dataset([[1], [2]], [[], []])


def test_a_name_twice_in_a_list_counts_once() -> None:
    assert dataset([[1]], [["a", "a"]]).Y.tolist() == [[1]]


def test_sparse_labels_are_not_changed() -> None:
    Y = sparse.coo_array(([1, 0], ([0, 0], [1, 0])), shape=(1, 2))
    assert dataset([[1]], Y).Y.tolist() == [[0, 1]]
    assert Y.data.tolist() == [1, 0]


@given(strategies.datasets())
def test_label_sets_say_the_same_as_the_table(data: Dataset) -> None:
    X = np.empty((data.n_rows, 0))
    made = dataset(X, data.label_sets(), label_names=data.schema.labels) if data.n_rows else None
    if made is not None:
        np.testing.assert_array_equal(made.Y, data.Y)
    np.testing.assert_array_equal(encode_labels(sparse.csr_array(data.Y), data.schema), data.Y)


@given(st.lists(st.frozensets(strategies.names(), max_size=3), min_size=1).filter(any))
def test_the_label_space_is_the_sorted_union(sets: list[frozenset[str]]) -> None:
    data = dataset(np.empty((len(sets), 0)), sets)
    assert data.schema.labels == tuple(sorted(frozenset().union(*sets)))
    assert [frozenset(labels) for labels in data.label_sets()] == sets


def test_frames_of_labels_are_checked_against_the_schema() -> None:
    schema = Schema([], NAMES)
    frame = NAMED["pandas"]
    with pytest.raises(DataError, match="Y does not fit the schema: missing label 'c'"):
        encode_labels(frame[["a", "b"]], schema)
    with pytest.raises(DataError, match="the columns of Y are in another order than the labels"):
        encode_labels(frame[["b", "a", "c"]], schema)
    with pytest.raises(DataError, match="extra column 'z'"):
        encode_labels(frame.assign(z=0), schema)
    with pytest.raises(DataError, match="Y has 3 columns but 2 label names were given"):
        encode_labels(BOARD, Schema([], ["a", "b"]))
    other = dataset([[1]], [{"z"}])
    with pytest.raises(DataError, match="missing labels 'a', 'b', 'c'; extra column 'z'"):
        encode_labels(other, schema)


def test_labels_may_be_called_0_and_1() -> None:
    """If they are in sets, or if the names are given."""
    X = [[1], [2]]
    assert dataset(X, [{"0"}, {"1", "0"}]).Y.tolist() == [[1, 0], [1, 1]]
    assert dataset(X, [["0"], ["1", "0"]], label_names=["1", "0"]).Y.tolist() == [[0, 1], [1, 1]]
    assert dataset(X, [["0", "x"], ["1"]]).schema.labels == ("0", "1", "x")


@pytest.mark.parametrize("given", [None, 3])
def test_what_is_no_list_of_texts_is_not_split(given: object) -> None:
    with pytest.raises(DataError, match="give one text per row, as a list or as a single column"):
        split_labels(given)
