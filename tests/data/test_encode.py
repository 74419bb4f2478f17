"""Making data sets, and encoding new data by their schema."""

import copy
import datetime as dt
import time
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import narwhals
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import strategies
from extras import pa, pd, pl
from labelrules import SeparateAndConquer
from labelrules.data import DataError, Dataset, Feature, Schema, dataset, encode, encode_labels
from labelrules.data.memory.columns import category_text, is_number_text

NAN = float("nan")
Y2 = [[0], [1]]
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def categories(data: Dataset) -> list[tuple[str, ...] | None]:
    return [feature.categories for feature in data.schema.features]


# --- arrays and lists -------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["int8", "uint64", "int64", "float16", "float32", "float64", ">f8"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_numeric_array_makes_numeric_features(dtype: str, order: str) -> None:
    given_X = np.array([[1, 2, 3], [4, 5, 6]], dtype=dtype, order=order)
    data = dataset(given_X, Y2)
    assert categories(data) == [None, None, None]
    assert data.schema.feature_names == ("x0", "x1", "x2")
    assert data.schema.labels == ("y0",)
    assert data.X.dtype == np.float64
    assert data.X.flags.f_contiguous
    assert not data.X.flags.writeable
    np.testing.assert_array_equal(data.X, given_X)


def test_bool_arrays_are_nominal() -> None:
    data = dataset(np.array([[True, False], [False, False]]), Y2)
    assert categories(data) == [("False", "True")] * 2
    np.testing.assert_array_equal(data.X, [[1, 0], [0, 0]])


@pytest.mark.parametrize("dtype", ["U3", object, np.dtypes.StringDType()])
def test_string_arrays_are_nominal_with_sorted_categories(dtype: object) -> None:
    data = dataset(np.array([["b", "x"], ["a", "x"]], dtype=dtype), Y2)
    assert categories(data) == [("a", "b"), ("x",)]
    np.testing.assert_array_equal(data.X, [[1, 0], [0, 0]])


def test_the_kind_of_an_object_column_is_that_of_its_values() -> None:
    X = np.array(
        [[1, "b", True, None, Decimal("0.5")], [2.5, None, None, None, Fraction(1, 4)]],
        dtype=object,
    )
    data = dataset(X, Y2)
    assert categories(data) == [None, ("b",), ("False", "True"), None, None]
    np.testing.assert_array_equal(data.X, [[1, 0, 1, NAN, 0.5], [2.5, NAN, NAN, NAN, 0.25]])


def test_nested_lists_are_read_cell_by_cell() -> None:
    data = dataset([[1, "a"], (2, "b")], Y2)
    assert categories(data) == [None, ("a", "b")]


@pytest.mark.parametrize(
    "missing",
    [None, NAN, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s"), Decimal("NaN")],
)
def test_every_mark_of_a_missing_value_is_missing(missing: object) -> None:
    data = dataset([[missing, "a"], [1.5, missing]], Y2)
    np.testing.assert_array_equal(data.X, [[NAN, 0], [1.5, NAN]])


def test_masked_cells_are_missing() -> None:
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(dataset(X, Y2).X, [[1, NAN], [3, 4]])
    words = np.ma.masked_array([["a"], ["b"]], mask=[[False], [True]])
    data = dataset(words, Y2)
    assert categories(data) == [("a",)]
    np.testing.assert_array_equal(data.X, [[0], [NAN]])


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_object_and_anything_with_array_conversion_is_taken() -> None:
    class Tensor:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.array([[1.0], [2.0]])

    assert dataset(Tensor(), Y2) == dataset(np.asmatrix([[1.0], [2.0]]), Y2)


def test_no_rows_and_no_features_are_tables_too() -> None:
    assert dataset(np.empty((0, 2)), np.empty((0, 3))).X.shape == (0, 2)
    assert dataset([[]], [[1, 0]]).X.shape == (1, 0)
    assert dataset(pd.DataFrame(index=range(2)), Y2).X.shape == (2, 0)
    assert dataset(sparse.csr_array((0, 4)), np.empty((0, 1))).X.shape == (0, 4)


def test_whole_numbers_that_float64_holds_are_taken_whatever_their_size() -> None:
    X = np.array([[2**53, 2**60], [-(2**53), 0]])
    np.testing.assert_array_equal(dataset(X, Y2).X.astype(object), X.astype(object))


def test_default_names_do_not_clash_with_given_ones() -> None:
    data = dataset([[1]], [[0, 1]], feature_names=["y1"])
    assert data.schema.labels == ("y_0", "y_1")
    data = dataset([[1]], [{"x0"}])
    assert data.schema.feature_names == ("x_0",)


# --- numbers as categories --------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (np.float32(3), "3"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (1e300, "1e+300"),
        (2**60 + 1, str(2**60 + 1)),
        (Decimal("2.50"), "2.5"),
        (Decimal("2.00"), "2"),
        (True, "True"),
        (np.False_, "False"),
        ("x", "x"),
    ],
)
def test_the_text_of_a_category(value: object, text: str) -> None:
    assert category_text(value) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", True), ("-0.5", True), ("1e+300", True), (str(2**60 + 1), True), ("3.0", False),
     ("03", False), ("nan", False), ("inf", False), ("a", False), ("", False), ("1_0", False)],
)  # fmt: skip
def test_what_looks_like_a_number(text: str, expected: bool) -> None:
    assert is_number_text(text) is expected


def test_nominal_numbers_are_sorted_by_size() -> None:
    data = dataset(np.array([[10, 1], [9, 2]]), Y2, nominal=[0])
    assert categories(data) == [("9", "10"), None]
    np.testing.assert_array_equal(data.X, [[1, 1], [0, 2]])


def test_nominal_columns_by_name() -> None:
    data = dataset([[10.0, 1], [None, 2]], Y2, feature_names=["a", "b"], nominal=["a"])
    assert categories(data) == [("10",), None]
    np.testing.assert_array_equal(data.X, [[0, 1], [NAN, 2]])


def test_nominal_numbers_may_be_beyond_what_float64_holds() -> None:
    X = np.array([[2**53 + 1], [2**53]])
    assert categories(dataset(X, Y2, nominal=[0])) == [(str(2**53), str(2**53 + 1))]


def test_a_mixed_column_may_be_made_nominal() -> None:
    data = dataset([[1], ["a"], [True], [None], [1.0]], np.zeros((5, 1)), nominal=[0])
    assert categories(data) == [("1", "True", "a")]
    np.testing.assert_array_equal(data.X.ravel(), [0, 2, 1, NAN, 0])


def test_two_values_with_one_text_are_refused() -> None:
    with pytest.raises(DataError, match="column 'x0': the values '1' and 1 would be the same"):
        dataset([["1"], [1]], Y2, nominal=[0])


# --- frames -----------------------------------------------------------------------------


@given(strategies.frames())
def test_any_frame_is_read_as_what_it_holds(pair: tuple[object, Dataset]) -> None:
    frame, expected = pair
    data = dataset(frame, expected.Y, label_names=expected.schema.labels)
    assert data == Dataset(
        Schema(expected.schema.features, expected.schema.labels), expected.X, expected.Y
    )
    np.testing.assert_array_equal(encode(frame, data.schema), data.X)


def test_pandas_columns_by_type() -> None:
    frame = pd.DataFrame(
        {
            "i": [1, 2],
            "n": pd.array([1, None], dtype="Int64"),
            "f": pd.array([None, 0.5], dtype="Float32"),
            "b": [True, False],
            "m": pd.array([True, None], dtype="boolean"),
            "s": ["v", None],
            "o": pd.Series(["v", None], dtype=object),
            "c": pd.Categorical(["lo", None], categories=["lo", "hi", "never"]),
            "k": pd.Categorical([2, 1], categories=[2, 1], ordered=True),
            "a": pd.array([1, None], dtype="int64[pyarrow]"),
            "t": pd.array(["z", None], dtype="string[pyarrow]"),
        }
    )
    data = dataset(frame, Y2)
    two = ("False", "True")
    assert categories(data) == [
        None, None, None, two, two, ("v",), ("v",), ("lo", "hi", "never"), ("2", "1"), None, ("z",),
    ]  # fmt: skip
    np.testing.assert_array_equal(
        data.X,
        [
            [1, 1, NAN, 1, 1, 0, 0, 0, 0, 1, 0],
            [2, NAN, 0.5, 0, NAN, NAN, NAN, NAN, 1, NAN, NAN],
        ],
    )


def test_polars_columns_by_type() -> None:
    frame = pl.DataFrame(
        {
            "i": pl.Series([1, None], dtype=pl.UInt8),
            "w": pl.Series([1, None], dtype=pl.Int128),
            "f": [0.5, NAN],
            "d": pl.Series([Decimal("0.25"), None], dtype=pl.Decimal(10, 2)),
            "b": [None, True],
            "s": ["v", None],
            "c": pl.Series(["z", "a"], dtype=pl.Categorical),
            "e": pl.Series(["lo", None], dtype=pl.Enum(["hi", "lo"])),
            "n": [None, None],
        }
    )
    data = dataset(frame, Y2)
    assert categories(data) == [
        None, None, None, None, ("False", "True"), ("v",), ("a", "z"), ("hi", "lo"), None,
    ]  # fmt: skip
    np.testing.assert_array_equal(
        data.X, [[1, 1, 0.5, 0.25, NAN, 0, 1, 1, NAN], [NAN, NAN, NAN, NAN, 1, NAN, 0, NAN, NAN]]
    )


def test_pyarrow_columns_by_type() -> None:
    frame = pa.table(
        {
            "i": pa.array([1, None], pa.int64()),
            "h": pa.array([0.5, None], pa.float16()),
            "b": pa.array([None, True]),
            "s": pa.array(["v", None], pa.large_string()),
            "c": pa.chunked_array(
                [pa.array(["z"]).dictionary_encode(), pa.array(["a"]).dictionary_encode()]
            ),
            "x": pa.DictionaryArray.from_arrays(pa.array([1, 2]), pa.array(["u", "v", None])),
            "n": pa.nulls(2),
        }
    )
    data = dataset(frame, Y2)
    assert categories(data) == [None, None, ("False", "True"), ("v",), ("z", "a"), ("u", "v"), None]
    np.testing.assert_array_equal(
        data.X, [[1, 0.5, NAN, 0, 0, 1, NAN], [NAN, NAN, 1, NAN, 1, NAN, NAN]]
    )


def test_arrow_dictionaries_inside_pandas_are_nominal() -> None:
    column = pd.Series(["z", "a"], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))
    assert categories(dataset(pd.DataFrame({"c": column}), Y2)) == [("a", "z")]


def test_intervals_from_binning_are_categories_in_order() -> None:
    frame = pd.DataFrame({"age": pd.cut([5, 15], bins=[0, 10, 20])})
    assert categories(dataset(frame, Y2)) == [("(0, 10]", "(10, 20]")]


def test_whole_numbers_as_column_names_become_text() -> None:
    data = dataset(pd.DataFrame([[1, 2], [3, 4]]), Y2)
    assert data.schema.feature_names == ("0", "1")
    np.testing.assert_array_equal(encode(pd.DataFrame([[5, 6]]), data.schema), [[5, 6]])


def test_numbers_made_nominal_survive_a_missing_value_at_predict_time() -> None:
    """pandas turns whole numbers with a gap into floats; the category must stay "3"."""
    schema = dataset(pd.DataFrame({"grade": [3, 1]}), Y2, nominal=["grade"]).schema
    new = pd.DataFrame({"grade": [3, None, 7]})
    np.testing.assert_array_equal(encode(new, schema).ravel(), [1, NAN, NAN])


@pytest.mark.parametrize("make", [
    lambda cells: pd.DataFrame({"b": cells}),
    lambda cells: pl.DataFrame({"b": cells}),
    lambda cells: pa.table({"b": cells}),
    lambda cells: np.array(cells)[:, None],
    lambda cells: sparse.csr_array(np.array(cells)[:, None]),
])  # fmt: skip
def test_truth_values_are_the_same_categories_everywhere(make: object) -> None:
    data = dataset(make([True, False]), Y2, feature_names=["b"])
    assert data == dataset(pd.DataFrame({"b": [True, False]}), Y2)
    np.testing.assert_array_equal(data.column(0), [1, 0])


# --- sparse matrices --------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse_matrices_of_any_format_stay_sparse(form: str, kind: str) -> None:
    dense = np.array([[0, 1.5, 0], [-2, 0, NAN]])
    X = getattr(sparse, f"{form}_{kind}")(dense)
    data = dataset(X, Y2)
    assert isinstance(data.X, sparse.csc_array)
    assert data.X.has_canonical_format
    assert not data.X.data.flags.writeable
    np.testing.assert_array_equal(data.X.toarray(), dense)
    np.testing.assert_array_equal(encode(X, data.schema).toarray(), dense)


def test_stored_zeros_go_and_duplicates_add_up() -> None:
    """Also of small integers, which would overflow if they were added up as they are."""
    rows, columns = [0, 0, 1, 1], [0, 0, 1, 0]
    X = sparse.coo_array((np.array([100, 100, 0, 7], dtype=np.int8), (rows, columns)), shape=(2, 2))
    data = dataset(X, Y2)
    assert data.X.nnz == 2
    np.testing.assert_array_equal(data.X.toarray(), [[200, 0], [7, 0]])


def test_sparse_nominal_columns_have_zero_first() -> None:
    X = sparse.csr_array([[0.0, -1.0], [5.0, 0.0], [NAN, 2.0]])
    data = dataset(X, np.zeros((3, 1)), nominal=[1, "x0"])
    assert categories(data) == [("0", "5"), ("0", "-1", "2")]
    assert data.X.nnz == 4
    np.testing.assert_array_equal(data.X.toarray(), [[0, 1], [1, 0], [NAN, 2]])


def test_sparse_truth_values_are_nominal() -> None:
    data = dataset(sparse.csr_array(np.array([[True, False], [False, False]])), Y2)
    assert categories(data) == [("False", "True")] * 2
    np.testing.assert_array_equal(data.X.toarray(), [[1, 0], [0, 0]])
    np.testing.assert_array_equal(
        encode(sparse.csr_array(np.array([[True, True]])), data.schema).toarray(), [[1, 1]]
    )


@given(strategies.datasets(storage=["sparse"]))
def test_sparse_and_dense_encode_alike(data: Dataset) -> None:
    numeric = Schema([Feature(name) for name in data.schema.feature_names], data.schema.labels)
    sparse_X, dense_X = encode(data.X, numeric), encode(data.X.toarray(), numeric)
    np.testing.assert_array_equal(sparse_X.toarray(), dense_X)


def test_a_wide_sparse_matrix_takes_memory_like_its_entries() -> None:
    """47,236 features of rcv1 would fill 2.3 GB if they were dense."""
    rng = np.random.default_rng(0)
    n_rows, n_columns, n_entries = 6000, 47236, 460_000
    X = sparse.csr_array(
        (
            rng.random(n_entries),
            (rng.integers(0, n_rows, n_entries), rng.integers(0, n_columns, n_entries)),
        ),
        shape=(n_rows, n_columns),
    )
    Y = np.zeros((n_rows, 1))
    stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    tracemalloc.start()
    start = time.perf_counter()
    data = dataset(X, Y)
    seconds = time.perf_counter() - start
    encode(X, data.schema)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    names = 12_000_000  # 47,236 features with their names
    assert peak < 10 * stored + names
    assert peak < n_rows * n_columns * 8 / 20
    assert seconds < 20


def test_many_sparse_nominal_columns_are_quick_too() -> None:
    X = sparse.random_array((500, 5000), density=0.01, random_state=0, format="csr")
    X.data[:] = 1
    start = time.perf_counter()
    data = dataset(X, np.zeros((500, 1)), nominal=range(5000))
    encode(X, data.schema)
    assert time.perf_counter() - start < 20
    assert set(categories(data)) == {("0",), ("0", "1")}
    np.testing.assert_array_equal(data.X.data, 1.0)


# --- new data by a schema ---------------------------------------------------------------

SCHEMA = Schema(
    [Feature("age"), Feature("sex", ("Female", "Male")), Feature("grade", ("1", "2"))], ["a", "b"]
)


def test_new_arrays_hold_values_not_codes() -> None:
    new = encode([[36, "Male", 2], [None, "Other", "1"], [1.5, None, None]], SCHEMA)
    np.testing.assert_array_equal(new, [[36, 1, 1], [NAN, NAN, 0], [1.5, NAN, NAN]])
    assert new.flags.f_contiguous
    assert not new.flags.writeable


def test_numbers_are_looked_up_by_their_text() -> None:
    schema = Schema([Feature("grade", ("1", "2.5")), Feature("x")], ["a"])
    np.testing.assert_array_equal(
        encode(np.array([[1, 7], [2.5, 8], [9, 9]]), schema), [[0, 7], [1, 8], [NAN, 9]]
    )


def test_a_column_without_any_value_fits_every_kind() -> None:
    frame = pd.DataFrame({"age": [None], "sex": [NAN], "grade": pd.array([None], dtype="str")})
    assert np.isnan(encode(frame, SCHEMA)).all()


def test_a_data_set_is_taken_if_its_features_are_the_same() -> None:
    data = dataset([[1, "a"]], [[1]])
    assert encode(data, data.schema) is data.X
    assert encode_labels(data, data.schema) is data.Y


def test_sparse_new_data_look_up_categories() -> None:
    schema = Schema([Feature("w", ("0", "1", "3")), Feature("x")], ["a"])
    X = sparse.csr_array([[3.0, 0.0], [7.0, 2.0], [0.0, NAN]])
    new = encode(X, schema)
    assert isinstance(new, sparse.csc_array)
    np.testing.assert_array_equal(new.toarray(), [[2, 0], [NAN, 2], [0, NAN]])


def frame_problem(frame: object) -> str:
    with pytest.raises(DataError) as caught:
        encode(frame, SCHEMA)
    return str(caught.value)


@pytest.mark.parametrize("library", [pd, pl])
def test_every_misfit_of_a_frame_is_named(library: object) -> None:
    good = {"age": [1], "sex": ["Male"], "grade": ["1"]}
    assert "missing feature 'sex'" in frame_problem(library.DataFrame({"age": [1], "grade": ["1"]}))
    both = frame_problem(library.DataFrame({"age": [1], "sexx": ["Male"], "grades": ["1"]}))
    assert "missing features 'sex', 'grade'" in both
    assert "extra columns 'sexx', 'grades'" in both
    assert "did you mean 'sexx'?" in both
    moved = frame_problem(library.DataFrame({k: good[k] for k in ("sex", "age", "grade")}))
    assert "another order" in moved
    assert "column 0 is 'sex' instead of 'age'" in moved
    assert "X[names]" in moved
    kinds = frame_problem(library.DataFrame({"age": ["old"], "sex": [1], "grade": ["1"]}))
    assert "column 'age' must hold numbers, but it is nominal" in kinds
    assert "column 'sex' must hold the categories 'Female', 'Male', but it holds numbers" in kinds


def test_reordered_columns_can_be_put_right_as_the_message_says() -> None:
    frame = pd.DataFrame({"sex": ["Male"], "age": [1], "grade": ["1"]})
    np.testing.assert_array_equal(encode(frame[list(SCHEMA.feature_names)], SCHEMA), [[1, 1, 0]])


CELLS = {
    "numbers": st.one_of(strategies.numbers(), st.integers(-(2**53), 2**53)),
    "text": strategies.texts(),
    "truth values": st.booleans(),
    "numbers and text": st.one_of(strategies.numbers(), st.sampled_from("ab")),
}


@st.composite
def rows_of_objects(draw: st.DrawFn) -> tuple[list[list[object]], list[int]]:
    """Rows of any cells, and which columns are to be nominal."""
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    n_rows = draw(st.integers(1, 5))
    columns = [
        draw(st.lists(st.one_of(st.none(), CELLS[kind]), min_size=n_rows, max_size=n_rows))
        for kind in kinds
    ]
    mixed = [index for index, kind in enumerate(kinds) if kind == "numbers and text"]
    nominal = draw(st.sets(st.integers(0, len(kinds) - 1)))
    return [list(row) for row in zip(*columns, strict=True)], sorted({*mixed, *nominal})


@given(rows_of_objects())
def test_what_made_a_data_set_encodes_to_the_same(
    case: tuple[list[list[object]], list[int]],
) -> None:
    """Also every row by itself, which may hold other kinds of values than the whole."""
    rows, nominal = case
    data = dataset(rows, np.zeros((len(rows), 1)), nominal=nominal)
    np.testing.assert_array_equal(encode(rows, data.schema), data.X)
    for index, row in enumerate(rows):
        np.testing.assert_array_equal(encode([row], data.schema), data.X[index : index + 1])
    for column, feature in enumerate(data.schema.features):
        for row, code in zip(rows, data.X[:, column], strict=True):
            if row[column] is None:
                assert np.isnan(code)
            elif feature.categories is None:
                assert code == row[column]
            else:
                assert feature.categories[int(code)] == category_text(row[column])


def test_frames_of_narwhals_are_taken() -> None:
    frame = narwhals.from_native(pl.DataFrame({"a": [1, 2]}))
    data = dataset(frame, frame.select(b=narwhals.col("a") == 2))
    assert data == dataset(pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"b": [0, 1]}))
    np.testing.assert_array_equal(encode(frame, data.schema), data.X)
    with pytest.raises(DataError, match="Y does not fit the schema: missing label 'b'"):
        encode_labels(frame, data.schema)
    with pytest.raises(DataError, match="X is a lazy frame"):
        dataset(frame.lazy(), Y2)


# --- the input is never changed ---------------------------------------------------------


@given(strategies.frames())
def test_encoding_leaves_frames_as_they_are(pair: tuple[object, Dataset]) -> None:
    frame, expected = pair
    before = copy.deepcopy(frame)
    encode(frame, dataset(frame, expected.Y).schema)
    if isinstance(frame, pd.DataFrame):
        pd.testing.assert_frame_equal(frame, before)
    else:
        assert frame.equals(before)


@st.composite
def untidy_sparse(draw: st.DrawFn) -> sparse.sparray:
    """Sparse matrices as they come: unsorted, with duplicates and stored zeros."""
    n_entries = draw(st.integers(0, 8))
    cells = st.lists(st.integers(0, 3), min_size=n_entries, max_size=n_entries)
    dtype = draw(st.sampled_from(["float64", "float32", "int64", "int8"]))
    values = [0, 1, -1, 3] if dtype.startswith("int") else [0.0, 1.0, -1.0, 2.5, NAN]
    data = draw(st.lists(st.sampled_from(values), min_size=n_entries, max_size=n_entries))
    coo = sparse.coo_array((np.array(data, dtype), (draw(cells), draw(cells))), shape=(4, 4))
    form = draw(st.sampled_from(["coo", "csr", "csc", "lil"]))
    if form != "csc":
        return coo.asformat(form)
    order = np.argsort(coo.coords[1], kind="stable")
    counts = np.bincount(coo.coords[1], minlength=4)
    return sparse.csc_array(
        (coo.data[order], coo.coords[0][order], np.concatenate([[0], np.cumsum(counts)])),
        shape=(4, 4),
    )


def parts_of(X: sparse.sparray) -> list[np.ndarray]:
    names = ("data", "indices", "indptr", "row", "col", "rows")
    return [np.array(getattr(X, name)) for name in names if hasattr(X, name)]


@given(untidy_sparse(), st.sets(st.integers(0, 3)))
def test_encoding_leaves_sparse_matrices_as_they_are(X: sparse.sparray, nominal: set[int]) -> None:
    before = parts_of(X)
    dense = X.toarray()
    data = dataset(X, np.zeros((4, 1)), nominal=nominal)
    encoded = encode(X, data.schema)
    for old, new in zip(before, parts_of(X), strict=True):
        np.testing.assert_array_equal(old, new)
    np.testing.assert_array_equal(encoded.toarray(), data.X.toarray())
    for index, feature in enumerate(data.schema.features):
        column = data.column(index)
        if feature.categories is not None:
            texts = np.array([*map(float, feature.categories), NAN])
            column = texts[np.where(np.isnan(column), len(texts) - 1, column).astype(int)]
        np.testing.assert_array_equal(column, dense[:, index])


@given(strategies.datasets(storage=["dense"]))
def test_encoding_leaves_arrays_as_they_are(data: Dataset) -> None:
    X, Y = np.array(data.X), np.array(data.Y)
    before_X, before_Y = X.copy(), Y.copy()
    made = dataset(X, Y)
    encode(X, made.schema)
    encode_labels(Y, made.schema)
    np.testing.assert_array_equal(X, before_X)
    np.testing.assert_array_equal(Y, before_Y)
    X[...] = 0
    Y[...] = 0
    np.testing.assert_array_equal(made.X, before_X)
    np.testing.assert_array_equal(made.Y, before_Y)


def test_times_of_day_are_refused_with_advice() -> None:
    with pytest.raises(DataError, match="column 'when' holds times of day: turn them into numbers"):
        dataset(pl.DataFrame({"when": [dt.time(12)] * 2}), Y2)


def test_truth_values_fit_the_words_for_them_and_what_is_not_known() -> None:
    new = np.array([[True], [False]])
    for categories, codes in ((("False", "True"), [1, 0]), (("True", "x"), [0, np.nan])):
        found = encode(new, Schema([Feature("a", categories)], []))
        np.testing.assert_array_equal(found.ravel(), codes)
    assert np.isnan(encode(new, Schema([Feature("a", ())], []))).all()
    words = encode([["True"], ["False"]], Schema([Feature("a", ("no", "yes"))], []))
    assert np.isnan(words).all()  # text among text: categories that the schema does not know
    gaps = pd.DataFrame({"a": pd.array([None, None], dtype="boolean")})
    assert np.isnan(encode(gaps, Schema([Feature("a", ("no", "yes"))], []))).all()


@pytest.mark.parametrize("number", [np.longdouble(2) ** 53 + 1, np.longdouble(2) ** 62 + 1])
def test_long_doubles_that_would_be_rounded_are_refused(number: np.longdouble) -> None:
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("long doubles hold no more than doubles here")
    model = SeparateAndConquer().fit([[1.0], [2.0]], [[0, 1], [1, 0]])
    for X in (np.array([[number]]), [[number]]):
        with pytest.raises(DataError, match=f"holds the whole number {int(number)}, which"):
            model.predict(X)
    assert dataset(np.array([[number - 1]]), [[1]]).X[0, 0] == float(number - 1)
