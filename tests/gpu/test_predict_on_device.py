"""Predictions of a real GPU: the same as on the CPU, from wherever the rows are."""

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applied_tables import VALUES, a_board, as_sparse, random_list, tables
from labelrules import (
    Body,
    Condition,
    DecisionList,
    Feature,
    Head,
    Rule,
    RuleSet,
    RuleTable,
    Schema,
    SeparateAndConquer,
    planted,
)
from labelrules.data import DataError, DeviceError
from labelrules.kernels import device
from labelrules.rules import LabelSet
from labelrules.scale.gpu.kernels import applying, pieces
from labelrules.scale.gpu.kernels.applying import ApplyKernels, n_words_of, ordered_atoms
from layered_theories import layered_theories
from theories import decision_lists, rule_sets, scorecards
from twins.gpu_apply import NumpyApplyKernels


@settings(max_examples=100)
@given(st.data())
def test_lists_and_sets(draw):
    data = draw.draw(tables())
    kinds = decision_lists, rule_sets, scorecards
    theory = draw.draw(st.one_of(kind(data.schema, VALUES) for kind in kinds))
    table, start, reads = RuleTable(theory), a_board(draw, data), a_board(draw, data)
    for storage in (data, as_sparse(data)):
        boards_of = [table.apply(storage, start, reads=reads, engine=e) for e in ("cpu", "gpu")]
        assert boards_of[0].tolist() == boards_of[1].tolist()
        if table.ordered:
            runs = [table.run(storage, start, reads=reads, engine=e) for e in ("cpu", "gpu")]
            assert all((a == b).all() for a, b in zip(*runs, strict=True))
        else:
            margins = [table.margin(storage, engine=e) for e in ("cpu", "gpu")]
            assert (margins[0] == margins[1]).all()
    assert (table.predict(data, engine="gpu") == table.predict(data, engine="cpu")).all()


@settings(max_examples=50)
@given(st.data())
def test_layers(draw):
    data = draw.draw(tables())
    theory = draw.draw(layered_theories(data.schema, VALUES))
    start = a_board(draw, data)
    found, expected = (theory.run(data, start, engine=engine) for engine in ("gpu", "cpu"))
    assert (found.board == expected.board).all()
    for one, wanted in zip(found.layers, expected.layers, strict=True):
        assert all((a == b).all() for a, b in zip(one, wanted, strict=True))


def a_table(n_rows, n_labels=5):
    return planted(
        n_rows, 4, 3, n_labels, n_rules=1, n_local=0, n_global=0, missing=0.1, random_state=n_rows
    )[0]


@pytest.mark.parametrize("n_rows", [1, 31, 32, 33, 4096, 4097, 100_000, 1_500_001])
@pytest.mark.parametrize("sent", [1 << 16, pieces.SENT])
def test_rows_in_pieces(n_rows, sent, monkeypatch):
    monkeypatch.setattr(pieces, "SENT", sent if n_rows < 200_000 else max(sent, 1 << 22))
    data = a_table(n_rows)
    theory = random_list(data.schema, seed=n_rows)
    rules = [Rule(rule.head, rule.body) for rule in theory]
    label_sets = [LabelSet((0, 1), 1), LabelSet((), 0), LabelSet((2, 3, 4), -1)]
    card = RuleTable(RuleSet(data.schema, rules, label_sets, at_least_one=True))
    table = RuleTable(theory)
    runs = [table.run(data, engine=engine) for engine in ("gpu", "cpu")]
    assert all((a == b).all() for a, b in zip(*runs, strict=True))
    for one in (card, RuleTable(RuleSet(data.schema, rules)), table):
        assert (one.predict(data, engine="gpu") == one.predict(data, engine="cpu")).all()
    assert (card.margin(data, engine="gpu") == card.margin(data, engine="cpu")).all()


NUMBERS = Schema([Feature(f"x{number}") for number in range(12)], ["one", "two"])
RULES = DecisionList(
    NUMBERS,
    [
        Rule(Head({0: 1}, 2), Body([Condition.above(3, 2), Condition.at_most(5, 6)])),
        Rule(Head({1: 1}, 2), Body([Condition.at_most(3, 1), Condition.label(0, False)])),
        Rule(Head({0: 0, 1: 1}, 2), Body([Condition.above(7, 4.5)])),
    ],
)
CELLS = np.random.default_rng(0).integers(0, 9, (30_000, 12))
TYPES = ["f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F", "view"])
def test_arrays_of_cupy_are_read_in_place(dtype, order):
    import cupy

    X = np.array(CELLS, dtype=dtype, order="F" if order == "F" else "C")
    expected = RuleTable(RULES).predict(X, engine="cpu")
    assert (RuleTable(RULES).predict(X, engine="gpu") == expected).all()
    on_gpu = cupy.asarray(X)
    if order == "view":
        on_gpu = cupy.repeat(cupy.repeat(on_gpu, 2, axis=1), 3, axis=0)[::3, ::2]
    for engine in ("gpu", "auto", "cpu"):
        assert (RuleTable(RULES).predict(on_gpu, engine=engine) == expected).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_tensors_of_pytorch(dtype):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    X = CELLS.astype(dtype)
    tensor = torch.from_numpy(X).cuda()
    expected = RuleTable(RULES).predict(X, engine="cpu")
    assert (RuleTable(RULES).predict(tensor) == expected).all()
    assert (RuleTable(RULES).predict(tensor.T.contiguous().T) == expected).all()


def test_frames_of_cudf():
    cudf = pytest.importorskip("cudf", reason="cuDF is not installed")
    import cupy

    X = CELLS.astype(np.float64)
    frame = cudf.DataFrame(cupy.asarray(X), columns=list(NUMBERS.feature_names))
    expected = RuleTable(RULES).predict(X, engine="cpu")
    assert (RuleTable(RULES).predict(frame) == expected).all()
    frame["x3"] = frame["x3"].where(frame["x3"] > 0)  # some are missing
    expected = RuleTable(RULES).predict(frame.to_pandas(), engine="cpu")
    assert (RuleTable(RULES).predict(frame) == expected).all()


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, 2**53 + 1])
def test_numbers_that_no_table_may_hold(wrong):
    import cupy

    X = CELLS.astype(np.float64 if np.isinf(wrong) else np.int64)
    X[29_999, 3] = wrong
    for given_X in (X, cupy.asarray(X)):
        with pytest.raises(DataError, match=r"infinite|exactly"):
            RuleTable(RULES).predict(given_X, engine="gpu")


@pytest.mark.parametrize("target", ["labels", "classes"])
def test_learners(target):
    import cupy

    X = np.random.default_rng(1).random((500, 3)).astype(np.float32)
    labels = np.column_stack([X[:, 0] > 0.4, X[:, 1] + X[:, 2] > 0.8]).astype(int)
    Y = labels if target == "labels" else np.array(["a", "b", "c"])[labels.sum(axis=1)]
    model = SeparateAndConquer().fit(X, Y)
    expected = model.predict(X), model.predict_proba(X)
    model.engine = "gpu"
    for given_X in (X, cupy.asarray(X)):
        assert (model.predict(given_X) == expected[0]).all()
        assert (model.predict_proba(given_X) == expected[1]).all()


# ------------------------------------------------------------------ kernel by kernel


@pytest.mark.parametrize("n_rows", [1, 32, 1000, 300_001])
def test_kernels_do_what_their_twins_do(n_rows):
    random, n_labels = np.random.default_rng(n_rows), 5
    data = a_table(n_rows, n_labels)
    rules, tested = ordered_atoms(RuleTable(random_list(data.schema)).arrays, n_labels)
    few = min(n_rows, 2000)  # the twins go row by row
    cells = random.integers(-1, 2, (n_rows, n_labels), dtype=np.int8)
    columns = [np.ascontiguousarray(data.X[:, column]) for column in tested]
    results = []
    for kernels, size in ((ApplyKernels(), n_rows), (NumpyApplyKernels(), few)):
        with kernels:
            own = type(rules)(*(kernels.array(one) for one in rules))
            n_words = n_words_of(size)
            atoms = kernels.room((len(rules.operator), n_words), np.uint32)
            unfit = kernels.full(1, 0, np.int32)
            given = [kernels.array(one[:size]) for one in columns]
            kernels.test_atoms(given, own, size, atoms, unfit)
            planes = kernels.full((2, n_labels, n_words), 0, np.uint32)
            kernels.pack(kernels.array(cells[:size]), planes)
            writer = kernels.full((size, n_labels), -1, np.int32)
            stopped = kernels.full(size, -1, np.int32)
            kernels.run_list(own, atoms, planes, planes, size, writer, stopped)
            board = kernels.room((size, n_labels), np.int8)
            kernels.unpack(planes, board)
            covered = kernels.room((rules.n_rules, n_words), np.uint32)
            kernels.cover_rows(own, atoms, planes, size, covered)
            points = kernels.room((size, n_labels), np.int64)
            voted = kernels.array(cells[:size])
            kernels.count_votes(own, covered, points, voted)
            found = [np.empty(one.shape, one.dtype) for one in (writer, stopped, board, points)]
            found.append(np.empty(voted.shape, np.int8))
            arrays = (writer, stopped, board, points, voted)
            kernels.receive(list(zip(arrays, found, strict=True)))
        results.append(found)
    for real, twin in zip(*results, strict=True):
        assert (real[:few] == twin).all()


# ------------------------------------------------------------------ when it goes wrong


def test_several_threads_predict_at_once():
    table = RuleTable(RULES)
    expected = table.predict(CELLS, engine="cpu")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: table.predict(CELLS, engine="gpu"), range(12)))
    assert all((one == expected).all() for one in found)


@pytest.mark.parametrize("lies", [False, True])
def test_where_memory_is_full_there_is_an_error_or_the_cpu(lies, monkeypatch, caplog):
    """Free memory is too small for a piece, or was taken after it was asked for."""
    import cupy

    schema = Schema([Feature(f"x{number}") for number in range(1000)], ["one"])
    body = Body([Condition.above(column, 0.1) for column in range(1000)])
    table = RuleTable(DecisionList(schema, [Rule(Head({0: 1}, 1), body)]))
    X = np.random.default_rng(0).random((100_000, 1000))
    expected = table.predict(X, engine="cpu")
    table.predict(X[:10], engine="gpu")  # compiles, which takes memory
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    if lies:
        monkeypatch.setattr(applying, "free_bytes", lambda: 1 << 40)
    taken = cupy.cuda.runtime.malloc(cupy.cuda.runtime.memGetInfo()[0] - (24 << 20))
    try:
        with pytest.raises(DeviceError, match=r"the memory of the GPU is (full|too small)"):
            table.predict(X, engine="gpu")
        monkeypatch.setattr(device, "WORTH_TESTS", 1)
        with caplog.at_level(logging.WARNING, logger="labelrules"):
            assert (table.predict(X) == expected).all()
    finally:
        cupy.cuda.runtime.free(taken)
    assert "engine='auto' takes the CPU" in caplog.text
    assert (table.predict(X, engine="gpu") == expected).all()


def test_predicting_again_takes_no_more_memory():
    import cupy

    pool, X, sizes = cupy.get_default_memory_pool(), np.tile(CELLS, (100, 1)), []
    for _ in range(30):
        RuleTable(RULES).predict(X, engine="gpu")
        sizes.append(pool.total_bytes())
    assert sizes[-1] <= 2 * max(sizes[:3])


def test_little_memory_makes_small_pieces(monkeypatch):
    monkeypatch.setenv("LABELRULES_GPU_MEMORY", "4")
    X = np.tile(CELLS, (10, 1))
    expected = RuleTable(RULES).predict(X, engine="cpu")
    assert (RuleTable(RULES).predict(X, engine="gpu") == expected).all()
