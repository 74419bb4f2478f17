"""Rules applied on a GPU, by the NumPy twins of its kernels: the same as on the CPU."""

import logging
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applied_tables import VALUES, a_board, as_sparse, random_list, tables
from labelrules import Dataset, DecisionList, Feature, Rule, RuleSet, RuleTable, Schema, planted
from labelrules.data import DataError, DeviceError
from labelrules.kernels import device
from labelrules.rules import Body, Condition, Head
from labelrules.scale.gpu.kernels import pieces
from theories import decision_lists, rule_sets, scorecards
from twins.gpu_apply import NumpyApplyKernels, OnFakeGpu, fake_gpu


@pytest.fixture(autouse=True, scope="module")
def _gpu():
    with fake_gpu():
        yield


@settings(max_examples=60)
@given(st.data())
def test_lists(draw):
    data = draw.draw(tables())
    table = RuleTable(draw.draw(decision_lists(data.schema, VALUES)))
    start, reads = a_board(draw, data), a_board(draw, data)
    expected = table.run(data, start, reads=reads, engine="cpu")
    for storage in (data, as_sparse(data)):
        found = table.run(storage, start, reads=reads, engine="gpu")
        for one, wanted in zip(found, expected, strict=True):
            assert one.dtype == wanted.dtype
            assert one.tolist() == wanted.tolist()
        board = table.apply(storage, start, reads=reads, engine="gpu")
        assert board.tolist() == expected.board.tolist()
    predicted = table.predict(data, engine="gpu")
    assert predicted.tolist() == table.predict(data, engine="cpu").tolist()


@settings(max_examples=60)
@given(st.data())
def test_sets(draw):
    data = draw.draw(tables())
    table = RuleTable(draw.draw(rule_sets(data.schema, VALUES) | scorecards(data.schema, VALUES)))
    start, reads = a_board(draw, data), a_board(draw, data)
    expected = table.apply(data, start, reads=reads, engine="cpu")
    for storage in (data, as_sparse(data)):
        found = table.apply(storage, start, reads=reads, engine="gpu")
        assert found.tolist() == expected.tolist()
        margins = table.margin(storage, engine="gpu")
        assert margins.tolist() == table.margin(storage, engine="cpu").tolist()
        predicted = table.predict(storage, engine="gpu")
        assert predicted.tolist() == table.predict(storage, engine="cpu").tolist()


@pytest.mark.parametrize("n_rows", [0, 1, 31, 32, 33, 300])
@pytest.mark.parametrize("n_lanes", [1, 3])
def test_rows_go_through_in_pieces(n_rows, n_lanes, monkeypatch):
    monkeypatch.setattr(pieces, "FEWEST", 64)
    monkeypatch.setattr(pieces, "SENT", 64 * 8 * 7 // n_lanes)
    data, _ = planted(n_rows, 4, 3, 5, n_rules=1, n_local=0, n_global=0, missing=0.1)
    table = RuleTable(random_list(data.schema, n_rules=15, seed=n_rows))
    found = table.run(data, engine="gpu")
    for one, wanted in zip(found, table.run(data, engine="cpu"), strict=True):
        assert (one == wanted).all()


# ------------------------------------------------------------------ tables of many kinds

NUMBERS = Schema([Feature(name) for name in "abcdefghijkl"], ["one", "two"])
TESTS = DecisionList(
    NUMBERS,
    [
        Rule(Head({0: 1}, 2), Body([Condition.above(3, 2), Condition.at_most(5, 6)])),
        Rule(Head({1: 1}, 2), Body([Condition.at_most(3, 1), Condition.label(0, False)])),
        Rule(Head({0: 0, 1: 1}, 2), Body([Condition.above(7, 4.5)])),
    ],
)
CELLS = np.random.default_rng(0).integers(0, 9, (50, 12))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("order", ["C", "F", "view", "GPU"])
def test_arrays_are_read_in_their_own_type(dtype, order):
    table = RuleTable(TESTS)
    X = np.array(CELLS, dtype=dtype, order="F" if order == "F" else "C")
    expected = table.predict(X, engine="cpu").tolist()
    before = NumpyApplyKernels.n_sent
    if order == "view":
        X = np.repeat(X, 2, axis=0)[::2]
    found = table.predict(OnFakeGpu(X) if order == "GPU" else X, engine="gpu")
    assert found.tolist() == expected
    sent = {"GPU": 0, "C": 12, "view": 3, "F": 3}[order] * X.itemsize * len(X)
    assert NumpyApplyKernels.n_sent - before == sent


def test_of_wide_tables_only_the_tested_columns_are_sent():
    schema = Schema([Feature(f"x{i}") for i in range(40)], ["one", "two"])
    table, X = RuleTable(DecisionList(schema, TESTS.rules)), np.tile(CELLS, 4)[:, :40].copy()
    before = NumpyApplyKernels.n_sent
    assert (table.predict(X, engine="gpu") == table.predict(X, engine="cpu")).all()
    assert NumpyApplyKernels.n_sent - before == 3 * X.itemsize * len(X)


@pytest.mark.parametrize("X", [
    CELLS.tolist(), CELLS.astype(np.float16), CELLS.astype(">f8"), CELLS.astype(np.longdouble),
    np.ma.masked_equal(CELLS.astype(float), 3), OnFakeGpu(CELLS.astype(np.float16)),
    OnFakeGpu(CELLS.astype(np.longdouble)),
])  # fmt: skip
def test_other_tables_are_encoded_first(X):
    table = RuleTable(TESTS)
    host = X.values if isinstance(X, OnFakeGpu) else X
    expected = table.predict(host, engine="cpu").tolist()
    assert table.predict(X, engine="gpu").tolist() == expected
    assert table.predict(X, engine="cpu").tolist() == expected


def test_categories_on_the_gpu_are_read_in_host_memory():
    schema = Schema([Feature("a", ("0", "3", "5"))], ["one"])
    rule = Rule(Head({0: 1}, 1), Body([Condition.among(0, [1, 2])]))
    table = RuleTable(DecisionList(schema, [rule]))
    X = np.array([[0.0], [3.0], [5.0], [np.nan]])
    assert table.predict(OnFakeGpu(X), engine="gpu").tolist() == [[0], [1], [1], [0]]


class FrameOfCudf:
    """What is used of a frame of cuDF."""

    def __init__(self, X, names, null_count=0):
        self.columns, self.shape, self.values = names, X.shape, X
        self.null_count = null_count

    def __len__(self):
        return len(self.values)

    def __getitem__(self, name):
        column = OnFakeGpu(self.values[:, self.columns.index(name)])
        column.dtype, column.null_count = self.values.dtype, self.null_count
        return column

    def to_pandas(self):
        import pandas

        return pandas.DataFrame(self.values, columns=self.columns)


FrameOfCudf.__module__ = "cudf.core.dataframe"


@pytest.mark.parametrize("null_count", [0, 2])
def test_frames_of_cudf(null_count):
    names, table = list(NUMBERS.feature_names), RuleTable(TESTS)
    frame, X = FrameOfCudf(CELLS.astype(float), names, null_count), CELLS.astype(float)
    assert (table.predict(frame, engine="gpu") == table.predict(X, engine="cpu")).all()
    with pytest.raises(DataError, match="another order"):
        table.predict(FrameOfCudf(X, names[::-1]), engine="gpu")


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, 2**53 + 1])
def test_numbers_that_no_table_may_hold_are_refused_in_the_same_words(wrong):
    table = RuleTable(TESTS)
    X = CELLS.astype(np.float64 if np.isinf(wrong) else np.int64)
    X[7, 3] = wrong
    for engine in ("cpu", "gpu"):
        for given_X in (X, OnFakeGpu(X)):
            with pytest.raises(DataError, match=r"infinite|exactly"):
                table.predict(given_X, engine=engine)


def test_wrong_shapes_and_boards_are_refused_in_the_same_words():
    table = RuleTable(TESTS)
    for engine in ("cpu", "gpu"):
        for X in (CELLS[:, :5], OnFakeGpu(CELLS[:, :5])):
            with pytest.raises(DataError, match="X has 5 columns but the schema has 12"):
                table.predict(X, engine=engine)
        with pytest.raises(ValueError, match=r"board has the shape \(2, 2\), expected \(50, 2\)"):
            table.apply(CELLS, np.zeros((2, 2), np.int8), engine=engine)
        with pytest.raises(ValueError, match="reads has cells other than"):
            table.apply(CELLS, reads=np.full((50, 2), 7), engine=engine)


# ------------------------------------------------------------------ which engine


class NoKernels(NumpyApplyKernels):
    """They must not be used."""

    def __init__(self):
        raise AssertionError("the GPU is used")


class FullKernels(NumpyApplyKernels):
    """The memory is full."""

    def send(self, arrays):
        raise DeviceError("the memory of the GPU is full")


def test_automatic_takes_the_gpu_for_large_tables_and_for_those_in_its_memory(monkeypatch):
    table = RuleTable(TESTS)
    with fake_gpu(NoKernels):
        assert table.predict(CELLS).shape == (50, 2)
        with pytest.raises(AssertionError, match="the GPU is used"):
            table.predict(OnFakeGpu(CELLS))
        monkeypatch.setattr(device, "WORTH_TESTS", 200)  # 50 rows, 4 conditions on features
        with pytest.raises(AssertionError, match="the GPU is used"):
            table.predict(CELLS)
        table.predict(as_sparse(Dataset(NUMBERS, CELLS, np.zeros((50, 2)))))
        table.predict(CELLS, engine="cpu")


def test_engines_have_names():
    with pytest.raises(ValueError, match="engine must be"):
        RuleTable(TESTS).predict(CELLS, engine="cuda")


def test_without_a_gpu_there_is_an_error_or_the_cpu():
    with mock.patch.object(device, "why_no_gpu", return_value="CuPy is not installed"):
        with pytest.raises(DeviceError, match="needs a GPU, but CuPy is not installed"):
            RuleTable(TESTS).predict(CELLS, engine="gpu")
        assert RuleTable(TESTS).predict(CELLS).shape == (50, 2)


def test_where_memory_is_full_automatic_takes_the_cpu_and_logs_it(monkeypatch, caplog):
    monkeypatch.setattr(device, "WORTH_TESTS", 1)
    table = RuleTable(TESTS)
    expected = table.predict(CELLS, engine="cpu").tolist()
    with fake_gpu(FullKernels):
        with pytest.raises(DeviceError, match="the memory of the GPU is full"):
            table.predict(CELLS, engine="gpu")
        with caplog.at_level(logging.WARNING, logger="labelrules"):
            assert table.predict(CELLS).tolist() == expected
            assert table.predict(OnFakeGpu(CELLS)).tolist() == expected
    assert "engine='auto' takes the CPU: the memory of the GPU is full" in caplog.text


def test_pieces_are_as_small_as_memory_demands(monkeypatch):
    X = np.random.default_rng(0).integers(0, 9, (9000, 12)).astype(float)
    table = RuleTable(TESTS)
    expected = table.predict(X, engine="cpu")
    for room in (1 << 20, 1 << 21):
        monkeypatch.setattr(NumpyApplyKernels, "room_on_gpu", room)
        assert (table.predict(X, engine="gpu") == expected).all()
    monkeypatch.setattr(NumpyApplyKernels, "room_on_gpu", 1 << 16)
    with pytest.raises(DeviceError, match=r"0\.4 MB are needed for 4,096 rows, but 0\.0 MB"):
        table.predict(X, engine="gpu")


def test_an_error_in_one_piece_ends_the_others(monkeypatch):
    monkeypatch.setattr(pieces, "SENT", 1 << 17)
    with fake_gpu(FullKernels), pytest.raises(DeviceError, match="is full"):
        RuleTable(TESTS).predict(np.tile(CELLS, (1000, 1)), engine="gpu")


def test_no_rules_and_no_labels():
    for labels in ([], ["l"]):
        schema = Schema([Feature("x")], labels)
        X = np.zeros((3, 1))
        for theory in (DecisionList(schema), RuleSet(schema)):
            assert (RuleTable(theory).apply(X, engine="gpu") == -1).all()
