"""Theories from a GPU are those from the CPU, bit for bit; errors in plain words."""

import logging
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import (
    BinaryRelevance,
    ClassifierChain,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
    dataset,
    load,
    planted,
)
from labelrules.data import DeviceError
from labelrules.kernels import device
from labelrules.learners import LearningInterrupted
from labelrules.learners.covering.settings import checked_settings
from labelrules.measures import formula_names
from tables import tables

pytestmark = pytest.mark.filterwarnings("ignore:columns look like")

NINE = ["flags", "emotions", "birds", "genbase", "medical", "enron", "scene", "yeast", "CAL500"]


def state_of(model):
    theory = model.theory_
    layers = [*getattr(theory, "layers", [theory]), getattr(theory, "fallback", None) or ()]
    background = getattr(model, "background_", None)
    counts = background and [background.ones.tolist(), background.zeros.tolist()]
    return theory, [rule.evidence for layer in layers for rule in layer], counts


def assert_same(learner, X, Y=None):
    expected = learner(engine="cpu").fit(X, Y)
    found = learner(engine="gpu").fit(X, Y)
    assert state_of(found) == state_of(expected)
    assert found.why_without_rules_ == expected.why_without_rules_
    assert found.about_.data == expected.about_.data


@pytest.mark.parametrize("name", [*NINE, "tmc2007-500", "imdb"])
@pytest.mark.parametrize("bins", [255, 7])
def test_benchmarks(data_folder, name, bins):
    data = load(name, data_folder)
    assert_same(lambda **engine: SeparateAndConquer(bins=bins, **engine), data)


@pytest.mark.parametrize("name", ["flags", "emotions"])
@pytest.mark.parametrize("layered", [BinaryRelevance, ClassifierChain, StackedBinaryRelevance])
@pytest.mark.parametrize("base", [SeparateAndConquer, Ripper])
def test_layered_learners(data_folder, name, layered, base):
    data = load(name, data_folder)
    assert_same(lambda **engine: layered(base(bins=31, **engine)), data)


@pytest.mark.parametrize("options", [
    {"pruning": None, "max_rules": 40}, {"pruning": "significance"}, {"polarity": "both"},
    {"polarity": "presence"}, {"label_conditions": False},
    {"operators": ["<=", ">", "=", "!=", "in"]},
    {"counting": "chapter"}, {"min_gain": 0.01}, {"max_conditions": 2}, {"bins": 1000},
], ids=str)  # fmt: skip
def test_options(data_folder, options):
    for name in ("emotions", "birds", "flags"):
        data = load(name, data_folder)
        given = {"bins": 63, **options}
        assert_same(lambda given=given, **engine: SeparateAndConquer(**given, **engine), data)


@pytest.mark.parametrize("measure", [*formula_names(), "f2", "f1/macro/partial"])
def test_measures(data_folder, measure):
    data = load("emotions", data_folder)
    try:
        checked_settings(SeparateAndConquer(measure=measure, bins=63, engine="gpu"), data.schema)
    except ValueError as error:
        pytest.skip(str(error))
    assert_same(lambda **engine: SeparateAndConquer(bins=63, measure=measure, **engine), data)


@settings(max_examples=150)
@given(tables(max_rows=60, max_features=5, unknown=True, storage=("dense", "sparse")),
       st.integers(2, 9))  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_generated_tables(data, bins):
    assert_same(lambda **engine: SeparateAndConquer(bins=bins, **engine), data)


@settings(max_examples=60)
@given(tables(max_rows=80, max_features=5, max_labels=1), st.integers(2, 9))
@pytest.mark.filterwarnings("ignore")
def test_generated_tables_by_ripper(data, bins):
    assert_same(lambda **engine: Ripper(bins=bins, **engine), data)


@pytest.fixture(scope="module")
def table():
    data = planted(60_000, 12, 2, 6, n_rules=12)[0]
    numbers = np.random.default_rng(3).normal(size=(60_000, 4)).round(2)
    X = np.ascontiguousarray(np.hstack([data.X[:, :12], numbers]), dtype=np.float32)
    return X, np.array(data.Y)


def test_arrays_of_all_kinds(table):
    import cupy

    X, Y = table
    expected = state_of(SeparateAndConquer(bins=99, engine="cpu").fit(X, Y))
    given = [
        X, np.asfortranarray(X), X.astype(np.float64), cupy.asarray(X),
        cupy.asfortranarray(cupy.asarray(X)), cupy.asarray(X)[:, :], dataset(X, Y),
    ]  # fmt: skip
    for one in given:
        labels = None if hasattr(one, "schema") else Y
        learner = SeparateAndConquer(bins=99, engine="gpu").fit(one, labels)
        assert state_of(learner) == expected, type(one)
    labels = SeparateAndConquer(bins=99, engine="gpu").fit(cupy.asarray(X), cupy.asarray(Y))
    assert state_of(labels) == expected


def test_tensors(table):
    torch = pytest.importorskip("torch")
    X, Y = table
    expected = state_of(SeparateAndConquer(bins=99, engine="cpu").fit(X, Y))
    for where in ("cuda", "cpu"):
        tensors = (torch.from_numpy(one).to(where) for one in (X, Y))
        assert state_of(SeparateAndConquer(bins=99, engine="gpu").fit(*tensors)) == expected


def test_other_learners_copy_arrays_from_the_gpu(table):
    import cupy

    X, Y = table
    small = BinaryRelevance(SeparateAndConquer(bins=9)).fit(X[:500], Y[:500])
    found = BinaryRelevance(SeparateAndConquer(bins=9)).fit(
        cupy.asarray(X[:500]), cupy.asarray(Y[:500])
    )
    assert found.theory_ == small.theory_
    assert (found.predict(cupy.asarray(X)) == small.predict(X)).all()


@pytest.mark.parametrize("megabytes", [4, 5, 8])
def test_codes_that_do_not_fit_go_through_in_pieces(table, megabytes, monkeypatch):
    X, Y = table
    expected = state_of(SeparateAndConquer(bins=99, engine="cpu").fit(X, Y))
    monkeypatch.setenv("LABELRULES_GPU_MEMORY", str(megabytes))
    assert state_of(SeparateAndConquer(bins=99, engine="gpu").fit(X, Y)) == expected


def test_too_little_memory(table, monkeypatch, caplog):
    X, Y = table
    monkeypatch.setenv("LABELRULES_GPU_MEMORY", "1")
    with pytest.raises(DeviceError, match="the memory of the GPU is too small"):
        SeparateAndConquer(bins=99, engine="gpu").fit(X, Y)
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    with caplog.at_level(logging.INFO):
        SeparateAndConquer(bins=99, max_rules=1).fit(X, Y)
    assert "engine='auto' takes the CPU: the memory of the GPU is too small" in caplog.text


def test_memory_is_given_back(table):
    import cupy

    X, Y = table
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    SeparateAndConquer(bins=99, engine="gpu", max_rules=1).fit(X, Y)
    assert pool.total_bytes() < before + (1 << 20)


def test_memory_that_others_take(table, monkeypatch):
    """The card looks free, but another program takes its memory first."""
    import cupy

    X, Y = table
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    with pool.device if hasattr(pool, "device") else cupy.cuda.Device():
        pool.set_limit(size=6 << 20)
    try:
        with pytest.raises(DeviceError, match="the memory of the GPU is full"):
            SeparateAndConquer(bins=99, engine="gpu").fit(X, Y)
    finally:
        pool.set_limit(size=0)
    SeparateAndConquer(bins=99, engine="gpu", max_rules=1).fit(X, Y)


def test_time_limits_and_interrupts(table):
    X, Y = table
    with pytest.warns(LearningInterrupted, match="time limit"):
        SeparateAndConquer(bins=99, engine="gpu", time_limit=0).fit(X, Y)
    seen = []

    def stop(progress):
        seen.append(progress.rule)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.warns(LearningInterrupted, match="the 3 rules learned so far are kept"):
        found = SeparateAndConquer(bins=99, engine="gpu", progress=stop).fit(X, Y)
    assert found.n_learned_ == 3


FAILING = """
import numpy as np, sys
from labelrules import SeparateAndConquer, planted
from labelrules.data import DeviceError
data = planted(5000, 8, 0, 4, n_rules=8)[0]
calls = []

def fail(progress):
    calls.append(progress)
    if len(calls) == 2:  # the driver fails, and with it all that follows
        import cupy
        kernel = cupy.RawKernel('extern "C" __global__ void f(int *p) { p[1LL << 44] = 1; }', "f")
        kernel((1,), (1,), (cupy.zeros(1, np.int32),))

learner = SeparateAndConquer(bins=20, engine="gpu", progress=fail)
try:
    learner.fit(data)
except DeviceError as error:
    print(error)
    learner.set_params(engine="cpu")
    print(len(learner.theory_) >= 2, learner.predict(data).shape == data.Y.shape)
"""


def test_an_error_of_the_driver():
    done = subprocess.run([sys.executable, "-c", FAILING], capture_output=True, text=True)
    assert "the GPU or its driver failed" in done.stdout, done.stdout + done.stderr
    assert "2 rules learned so far are kept in theory_" in done.stdout
    assert "True True" in done.stdout


TOGETHER = """
from labelrules import SeparateAndConquer, planted
data = planted(100_000, 20, 0, 8, n_rules=16)[0]
expected = SeparateAndConquer(bins=99, engine="cpu", max_rules=5).fit(data).theory_
for _ in range(5):
    assert SeparateAndConquer(bins=99, engine="gpu", max_rules=5).fit(data).theory_ == expected
"""


def test_two_processes_on_one_card():
    both = [subprocess.Popen([sys.executable, "-c", TOGETHER]) for _ in range(2)]
    assert [one.wait(300) for one in both] == [0, 0]
