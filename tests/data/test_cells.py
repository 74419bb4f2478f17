"""Single rows are read as every other table: same values, same messages."""

import gc
import math
import pickle
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import strategies
from extras import pd
from labelrules import Feature, Schema, load, parse
from labelrules.data import DataError, encode
from labelrules.data.memory import cells, encoding
from labelrules.rules.rule_table import table_of

SCHEMA = Schema(
    [
        Feature("n"),
        Feature("text", ("a", "b")),
        Feature("number", ("0", "1", "2.5")),
        Feature("truth", ("False", "True")),
        Feature("none", ()),
    ],
    ["label"],
)

CELLS = st.sampled_from(
    [
        None, math.nan, math.inf, 0, 1, -3, 2.5, 2**53 + 1, "a", "b", "c", "0", "1", "True", "",
        True, False, np.float32(0.1), np.int8(1), np.bool_(True), np.float64(2.5), np.str_("a"),
        pd.NA, pd.NaT, pd.Timestamp(0), b"a", 1j, (1,),
    ]
)  # fmt: skip

SERIES = st.sampled_from(
    [
        pd.Series([1]), pd.Series([1.5]), pd.Series([math.inf]), pd.Series(["a"]),
        pd.Series(["a"], dtype=object), pd.Series([None], dtype="str"), pd.Series([True]),
        pd.Series([1], dtype="Int64"), pd.Series([None], dtype="Int64"),
        pd.Series([True], dtype="boolean"), pd.Series(["a"], dtype="category"),
        pd.Series([1], dtype="category"), pd.Series([True], dtype="category"),
        pd.Series(pd.Categorical(["a"], ["a", 1, "1"])), pd.Series(pd.Categorical([None], ["a"])),
        pd.Series([1], dtype="float32"), pd.Series([2**60], dtype="uint64"), pd.Series([1j]),
        pd.Series([pd.Timestamp(0)]), pd.Series([pd.NaT]), pd.Series([pd.Timedelta(1)]),
        pd.Series([1.0], dtype="Sparse[float]"), pd.Series([0.5], dtype="float16"),
    ]
)  # fmt: skip


def outcome(X, schema):
    """The first row, or the message of the error."""
    try:
        found = encode(X, schema)
    except DataError as wrong:
        return str(wrong)
    return (found.toarray() if sparse.issparse(found) else found)[:1]


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, str):
        assert one == other
    else:
        np.testing.assert_array_equal(one, other)


def twice(frame):
    return pd.concat([frame, frame], ignore_index=True)


@given(st.tuples(*[CELLS] * 5))
def test_a_row_of_objects_is_read_as_two_equal_rows(row):
    frame = pd.DataFrame({f.name: [cell] for f, cell in zip(SCHEMA.features, row, strict=True)})
    frame = frame.astype(object)
    both = pd.DataFrame({name: [cell, cell] for name, (cell,) in frame.items()}, dtype=object)
    assert_same(outcome(frame, SCHEMA), outcome(both, SCHEMA))


@given(st.tuples(*[SERIES] * 5))
def test_a_row_of_any_types_is_read_as_two_equal_rows(row):
    frame = pd.DataFrame(dict(zip(SCHEMA.feature_names, row, strict=True)))
    assert_same(outcome(frame, SCHEMA), outcome(twice(frame), SCHEMA))


@given(strategies.frames("pandas"))
def test_rows_of_a_frame_one_by_one(pair):
    frame, expected = pair
    for row in range(len(frame)):
        found = encode(frame.iloc[[row]], expected.schema)
        np.testing.assert_array_equal(found, expected.X[[row]])
        assert not found.flags.writeable


TIMES = Schema(
    [
        Feature("day", kind="date"),
        Feature("time", kind="time"),
        Feature("long", kind="duration"),
        Feature("size", ("S", "M", "L"), "ordered"),
    ],
    ["label"],
)
UNITS = st.sampled_from(["s", "ms", "us", "ns"])
WHOLE = st.integers(-(10**18), 2 * 10**18)  # nanoseconds, from 1938 to 2033
SIZES = st.sampled_from(["S", "M", "L", "XL", None])


@given(st.tuples(WHOLE, WHOLE, WHOLE), st.tuples(UNITS, UNITS, UNITS), SIZES, st.booleans())
def test_times_and_ordered_categories_alone_and_together(numbers, units, size, is_ordered):
    day, time, long = (np.array([number], "m8[ns]") for number in numbers)
    epoch = np.datetime64(0, "ns")
    frame = pd.DataFrame(
        {
            "day": (epoch + day).astype(f"M8[{units[0]}]"),
            "time": (epoch + time).astype(f"M8[{units[1]}]"),
            "long": long.astype(f"m8[{units[2]}]"),
            "size": pd.Categorical([size], ["L", "S", "XL", "M"], ordered=is_ordered),
        }
    )
    gaps = frame.iloc[[0]].shift()
    readers = encoding.cell_readers(TIMES)
    for row in (frame, gaps):
        assert cells.read_pandas_row(row, TIMES, readers) is not None
        assert_same(outcome(row, TIMES), outcome(twice(row), TIMES))


def test_most_rows_of_a_frame_need_no_closer_look():
    frame = pd.DataFrame({"n": [1], "text": ["a"], "number": ["1"], "truth": [True], "none": [""]})
    readers = tuple(lambda value: 0.0 for _ in SCHEMA.features)
    assert cells.read_pandas_row(frame, SCHEMA, readers) is not None
    assert cells.read_pandas_row(frame[["text", "n"]], SCHEMA, readers) is None


@pytest.mark.parametrize("columns", [["text", "n"], ["n", "n"], [0, 1], ["n", "texts"]])
def test_columns_with_other_names(columns):
    schema = Schema(SCHEMA.features[:2], ["label"])
    frame = pd.DataFrame([[1, "a"]], columns=columns)
    assert_same(outcome(frame, schema), outcome(twice(frame), schema))
    assert isinstance(outcome(frame, schema), str)


WORDS = Schema([Feature("n"), *(Feature(f"w{i}", ("0", "1", "2")) for i in range(4))], ["label"])
OTHERS = Schema([*WORDS.features, Feature("sex", ("0", "Male"))], ["label"])
STORED = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.5, -1.0, math.nan, math.inf])


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "int64", "bool"])
@pytest.mark.parametrize("schema", [WORDS, OTHERS])
@given(data=st.data())
def test_sparse_rows_alone_and_together(layout, dtype, schema, data):
    """A table of three equal rows is read at once, or column by column if a code needs it."""
    stored = STORED if dtype.startswith("float") else st.sampled_from([0, 1, 2, 3])
    size = schema.n_features
    row = np.array(data.draw(st.lists(stored, min_size=size, max_size=size))).astype(dtype)
    one, more = (layout(np.tile(row, (n, 1))) for n in (1, 3))
    assert_same(outcome(one, schema), outcome(more, schema))
    slow = cells._code_limits
    try:
        cells._code_limits = lambda schema: None
        assert_same(outcome(one, schema), outcome(more, schema))
        expected = outcome(one, schema)
    finally:
        cells._code_limits = slow
    assert_same(outcome(one, schema), expected)


def test_a_sparse_row_that_stores_a_cell_twice():
    row = sparse.csr_array((np.array([1.0, 1.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 5))
    np.testing.assert_array_equal(encode(row, WORDS).toarray(), [[0, 2, 0, 0, 0]])
    assert row.nnz == 2


def test_what_is_kept_goes_with_its_object():
    readers = load("magazines")
    theory = parse("quality <- sex = Male", readers.schema)
    table = table_of(theory)
    assert table_of(theory) is table
    assert table_of(parse("quality <- sex = Male", readers.schema)) is not table
    assert pickle.dumps(theory) == pickle.dumps(parse("quality <- sex = Male", readers.schema))
    made = weakref.ref(table)
    del theory, table
    gc.collect()
    assert made() is None
