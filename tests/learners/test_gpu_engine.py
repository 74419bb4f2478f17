"""Learners with `engine="gpu"`, by the NumPy twins of its kernels: the same as on the CPU."""

import logging
import sys
import warnings
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from extras import pd as pandas
from labelrules import (
    BinaryRelevance,
    ClassifierChain,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
    load,
)
from labelrules.data import DataError, DeviceError
from labelrules.kernels import device
from labelrules.scale.gpu import codes as gpu_codes
from labelrules.scale.gpu.kernels.counting import columns_together, words_of_all
from labelrules.scale.gpu.rows import uncopied_cells
from tables import category_tables, tables
from twins.gpu_kernels import NumpyKernels

pytestmark = pytest.mark.filterwarnings("ignore")

SHARED = {"max_examples": 30, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


def use_twin(monkeypatch, kernels=NumpyKernels, memory=1 << 30):
    monkeypatch.setattr(gpu_codes, "GpuKernels", kernels)
    monkeypatch.setattr(gpu_codes, "free_bytes", lambda: memory)
    monkeypatch.setattr(device, "why_no_gpu", lambda: None)


@pytest.fixture
def twin(monkeypatch):
    use_twin(monkeypatch)


def fitted_state(model):
    """All that `fit` has learned, and what it predicts of the counts."""
    theory = model.theory_
    layers = getattr(theory, "layers", [theory])
    fallback = getattr(theory, "fallback", None) or ()
    rules = [rule for layer in [*layers, fallback] for rule in layer]
    background = getattr(model, "background_", None)
    counts = background and [background.ones.tolist(), background.zeros.tolist()]
    return (
        theory, [rule.evidence for rule in rules], counts, model.why_without_rules_,
        model.labels_, list(model.classes_), model.n_features_in_, model.about_.data,
    )  # fmt: skip


def assert_same(learner, X, Y):
    on_cpu = learner(engine="cpu").fit(X, Y)
    on_gpu = learner(engine="gpu").fit(X, Y)
    assert fitted_state(on_gpu) == fitted_state(on_cpu)
    return on_gpu


NUMBERS = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 7.25, np.nan])


@settings(**SHARED)
@given(st.data())
def test_arrays_go_as_they_are(twin, data):
    n_rows, n_features = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 4))
    size = n_rows * n_features
    X = np.array(data.draw(st.lists(NUMBERS, min_size=size, max_size=size)))
    X = X.reshape(n_rows, n_features).astype(data.draw(st.sampled_from([np.float32, np.float64])))
    X = np.asfortranarray(X) if data.draw(st.booleans()) else X
    cells = st.sampled_from([0, 1, 1, -1] if data.draw(st.booleans()) else [0, 1])
    Y = np.array(data.draw(st.lists(cells, min_size=2 * n_rows, max_size=2 * n_rows)))
    Y = Y.reshape(n_rows, 2)
    if (Y == -1).all():
        return
    assert_same(lambda **engine: SeparateAndConquer(bins=3, **engine), X, Y)


@settings(**SHARED)
@given(
    tables(max_rows=40, max_features=4, unknown=True) | category_tables(),
    st.sampled_from([None, "significance"]),
)
def test_data_sets_are_learned_from(twin, data, pruning):
    assert_same(
        lambda **engine: SeparateAndConquer(
            bins=4, pruning=pruning, operators=["<=", ">", "=", "!=", "in"], **engine
        ),
        data, None,
    )  # fmt: skip


@settings(**SHARED)
@given(tables(max_rows=60, max_features=4, max_labels=1), st.booleans(), st.integers(0, 2))
def test_ripper(twin, data, pruning, n_passes):
    assert_same(
        lambda **engine: Ripper(bins=4, pruning=pruning, n_passes=n_passes, **engine), data, None
    )


@pytest.mark.parametrize("base", [SeparateAndConquer, Ripper])
@pytest.mark.parametrize("layered", [BinaryRelevance, ClassifierChain, StackedBinaryRelevance])
def test_layered_learners(twin, base, layered):
    random = np.random.default_rng(0)
    X = random.integers(0, 9, (80, 4)).astype(float)
    Y = np.array([X[:, 0] > 3, X[:, 1] + X[:, 2] > 8]).T.astype(int)
    assert_same(lambda **engine: layered(base(bins=5, **engine)), X, Y)


def test_kept_rules_go_on_there(twin):
    data = load("clinic")
    learn = {engine: SeparateAndConquer(bins=8, engine=engine) for engine in ("cpu", "gpu")}
    theory = learn["cpu"].fit(data).theory_
    kept = getattr(theory, "layers", [theory])[0]
    found = {name: one.fit(data, theory=kept[:2]) for name, one in learn.items()}
    assert fitted_state(found["gpu"]) == fitted_state(found["cpu"])


NUMERIC = np.arange(60.0).reshape(20, 3)[::-1] % 7
LABELS = (NUMERIC[:, :2] > 3).astype(int)


@pytest.mark.parametrize(
    ("learner", "fit", "message"),
    [
        (SeparateAndConquer(engine="gpu"), {}, "set bins, as in bins=255"),
        (Ripper(engine="gpu"), {}, "set bins, as in bins=255"),
        (SeparateAndConquer(engine="gpu", bins=9, heads="multi"), {}, "counts alone"),
        (SeparateAndConquer(engine="cuda"), {}, "engine must be 'auto', 'cpu' or 'gpu'"),
        (
            SeparateAndConquer(engine="gpu", bins=9),
            {"sample_weight": np.full(20, 0.5)}, "weights are counted on the CPU only",
        ),
        (
            SeparateAndConquer(engine="gpu", bins=9),
            {"theory": "y0, * <- x0 > 3"}, "no rule of theory stops",
        ),
    ],
)  # fmt: skip
def test_what_a_gpu_cannot_do_is_refused(twin, learner, fit, message):
    y = LABELS if isinstance(learner, SeparateAndConquer) else LABELS[:, 0]
    with pytest.raises(ValueError, match=message):
        learner.fit(NUMERIC, y, **fit)


def test_without_a_gpu(monkeypatch, caplog):
    monkeypatch.setattr(device, "why_no_gpu", lambda: "CUDA finds no GPU: check with nvidia-smi")
    with pytest.raises(DeviceError, match="needs a GPU, but CUDA finds no GPU: check with"):
        SeparateAndConquer(bins=9, engine="gpu").fit(NUMERIC, LABELS)
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    with caplog.at_level(logging.INFO):
        found = SeparateAndConquer(bins=9).fit(NUMERIC, LABELS)
    assert "engine='auto' takes the CPU: CUDA finds no GPU" in caplog.text
    assert fitted_state(found) == fitted_state(
        SeparateAndConquer(bins=9, engine="cpu").fit(NUMERIC, LABELS)
    )


def test_too_little_memory(monkeypatch, caplog):
    use_twin(monkeypatch, memory=1000)
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    with pytest.raises(DeviceError, match=r"memory of the GPU is too small: .* GB are needed"):
        SeparateAndConquer(bins=9, engine="gpu").fit(NUMERIC, LABELS)
    with caplog.at_level(logging.INFO):
        SeparateAndConquer(bins=9).fit(NUMERIC, LABELS)
    assert "engine='auto' takes the CPU: the memory of the GPU is too small" in caplog.text


def test_infinite_numbers_are_refused(twin):
    X = NUMERIC.copy()
    X[3, 1] = np.inf
    with pytest.raises(DataError, match="feature 'x1' has an infinite value"):
        SeparateAndConquer(bins=9, engine="gpu").fit(X, LABELS)


def failing_after(n_counts):
    """Kernels of a GPU that fails after so many tables of counts."""

    class FailingKernels(NumpyKernels):
        n_left = n_counts

        def count_codes(self, *given):
            FailingKernels.n_left -= 1
            if FailingKernels.n_left < 0:
                raise DeviceError("the GPU or its driver failed (unspecified launch failure)")
            super().count_codes(*given)

    return FailingKernels


def failure_of(learner, data):
    """The error of `fit`, None if it had none."""
    try:
        learner.fit(data)
    except DeviceError as error:
        return str(error)
    return None


def test_rules_so_far_are_kept_when_the_gpu_fails(monkeypatch):
    data, whole = load("clinic"), SeparateAndConquer(bins=8).fit(load("clinic"))
    rules = list(getattr(whole.theory_, "layers", [whole.theory_])[0])
    n_kept = set()
    for n_counts in range(0, 60, 4):
        use_twin(monkeypatch, failing_after(n_counts))
        learner = SeparateAndConquer(bins=8, engine="gpu")
        message = failure_of(learner, data)
        if message is None:
            continue
        found = learner.n_learned_
        n_kept.add(found)
        assert "launch failure" in message
        assert f"{found} rules" in message or found < 2
        assert list(learner.theory_)[:found] == rules[:found]
        assert learner.set_params(engine="cpu").predict(data).shape == data.Y.shape
    assert len(n_kept) > 2


def test_rules_so_far_of_ripper_are_kept(monkeypatch):
    rows = np.random.default_rng(1).integers(0, 9, (300, 3)).astype(float)
    classes = (rows[:, 0] > 4) ^ (rows[:, 1] > 6)
    use_twin(monkeypatch, failing_after(12))
    learner = Ripper(bins=8, engine="gpu")
    with pytest.raises(DeviceError, match="rules learned so far are kept in theory_"):
        learner.fit(rows, classes)
    assert len(learner.theory_) > 1


def test_words_of_all_rows_leave_out_the_padding():
    assert words_of_all(33).tolist() == [0xFFFFFFFF, 1, 0, 0]


# ------------------------------------------------------------------ arrays that are not copied

CELLS = np.random.default_rng(0).integers(0, 9, (80, 4)).astype(float)
TRUTH = np.array([CELLS[:, 0] > 3, CELLS[:, 1] + CELLS[:, 2] > 8]).T.astype(np.int8)
COUNTER = np.column_stack([np.arange(600) % 256, np.arange(600) * 7 % 9]).astype(np.uint8)


def fitted_and_warned(engine, X, Y):
    """What `fit` has set and learned, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SeparateAndConquer(bins=9, engine=engine).fit(X, Y)
    names = getattr(model, "feature_names_in_", np.empty(0)).tolist()
    warned = [(str(one.message), one.filename) for one in caught]
    return fitted_state(model), sorted({*vars(model)}), names, warned, model.about_.data_name


@pytest.mark.parametrize("X", [
    CELLS.astype(np.int64), CELLS.astype(np.float16), CELLS.astype(">f4"), CELLS[::-1],
    np.repeat(CELLS, 2, axis=1)[:, ::2], np.ma.masked_equal(CELLS, 3), CELLS > 4,
    np.where(CELLS == 0, -0.0, CELLS), pandas.DataFrame(CELLS, columns=list("wxyz")),
    np.column_stack([CELLS, np.full(80, np.nan)]), np.column_stack([CELLS, np.arange(80)]),
], ids=range(11))  # fmt: skip
def test_types_and_layouts(twin, X):
    assert fitted_and_warned("gpu", X, TRUTH) == fitted_and_warned("cpu", X, TRUTH)


@pytest.mark.parametrize("Y", [
    TRUTH[:, 0], np.where(TRUTH[:, 0], "yes", "no"), TRUTH.sum(axis=1), np.zeros(80, int),
    pandas.DataFrame(TRUTH, columns=["one", "two"]), np.zeros((80, 2)), np.ones((80, 1)),
], ids=range(7))  # fmt: skip
def test_targets_of_all_kinds(twin, Y):
    assert fitted_and_warned("gpu", CELLS, Y) == fitted_and_warned("cpu", CELLS, Y)


@pytest.mark.parametrize("X", [COUNTER, COUNTER.view(np.int8), 255 - COUNTER[:200]])
def test_small_integers_wrap_around_without_a_wrong_warning(twin, X):
    Y = X[:, 1:] > 4
    assert fitted_and_warned("gpu", X, Y) == fitted_and_warned("cpu", X, Y)


def test_files_mapped_into_memory_go_as_they_are(twin, tmp_path):
    X = np.memmap(tmp_path / "X", np.float32, "w+", shape=CELLS.shape)
    X[:] = CELLS
    assert uncopied_cells(X, "gpu") is X
    assert fitted_and_warned("gpu", X, TRUTH) == fitted_and_warned("cpu", X, TRUTH)


def test_names_of_an_earlier_fit_are_forgotten(twin):
    learner = SeparateAndConquer(bins=9, engine="gpu")
    learner.fit(pandas.DataFrame(CELLS, columns=list("wxyz")), TRUTH).fit(CELLS, TRUTH)
    assert not hasattr(learner, "feature_names_in_")
    learner.set_params(engine="cpu")
    assert learner.predict(pandas.DataFrame(CELLS, columns=list("abcd"))).shape == TRUTH.shape


@pytest.mark.parametrize(("n_rows", "n_labelled"), [(1, 80), (80, 2), (80, 0)])
def test_numbers_of_rows_that_differ(twin, n_rows, n_labelled):
    messages = []
    for engine in ("cpu", "gpu"):
        with pytest.raises(DataError, match="rows but Y has") as raised:
            SeparateAndConquer(bins=9, engine=engine).fit(CELLS[:n_rows], TRUTH[:n_labelled])
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


REMEMBERED = weakref.WeakSet()


class Remembered(NumpyKernels):
    """Knows the codes of each column for as long as somebody has them."""

    def room_for_codes(self, n_rows, most):
        if len(REMEMBERED) == 2:
            raise DeviceError("the memory of the GPU is full")
        found = super().room_for_codes(n_rows, most).view(OnCard)
        REMEMBERED.add(found)
        return found


class OnCard(np.ndarray):
    """An array that can be referred to weakly, and is one of a set."""

    __hash__ = object.__hash__


def test_an_error_that_somebody_keeps_holds_no_memory(monkeypatch):
    use_twin(monkeypatch, Remembered)
    with pytest.raises(DeviceError) as kept:
        SeparateAndConquer(bins=9, engine="gpu").fit(CELLS, TRUTH)
    assert len(REMEMBERED) == 0, kept


@pytest.mark.filterwarnings("error")
def test_infinite_numbers_in_the_first_rows(twin):
    X = CELLS.copy()
    X[:3, 0] = np.inf
    with pytest.raises(DataError, match="feature 'x0' has an infinite value"):
        SeparateAndConquer(bins=9, engine="gpu").fit(X, TRUTH)


def test_large_integers_are_looked_at_only_if_there_is_a_gpu(monkeypatch, caplog):
    monkeypatch.setattr(device, "why_no_gpu", lambda: "CUDA finds no GPU")
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    monkeypatch.setattr("labelrules.scale.gpu.rows._are_exact", None)
    with caplog.at_level(logging.INFO):
        SeparateAndConquer(bins=9).fit(CELLS.astype(np.int64), TRUTH)
    assert caplog.text.count("takes the CPU") == 1


def test_an_unfitted_learner_says_so():
    with pytest.raises(NotFittedError):
        SeparateAndConquer(bins=9, engine="gpu").predict(CELLS)


# ------------------------------------------------------------------ the CPU instead


def test_the_fingerprint_does_not_depend_on_where_was_learned(monkeypatch):
    expected = SeparateAndConquer(bins=9, engine="cpu").fit(CELLS, TRUTH).about_.data
    use_twin(monkeypatch, memory=1000)
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    assert SeparateAndConquer(bins=9).fit(CELLS, TRUTH).about_.data == expected


def test_columns_of_too_many_categories_are_for_the_cpu(twin, monkeypatch, caplog):
    monkeypatch.setattr(gpu_codes, "MOST_BINS", 2)  # instead of 65,535, which two bytes hold
    data = load("magazines")
    with pytest.raises(DeviceError, match="feature 'education' has 3 categories, but a GPU counts"):
        SeparateAndConquer(bins=9, engine="gpu").fit(data)
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    with caplog.at_level(logging.INFO):
        SeparateAndConquer(bins=9).fit(data)
    assert "takes the CPU: feature 'education' has 3 categories" in caplog.text


class FullKernels(NumpyKernels):
    """The memory is full when the labels come."""

    n_released = 0

    def room_for_sets(self, n_sets, n_rows):
        raise DeviceError("the memory of the GPU is full")

    def release(self):
        FullKernels.n_released += 1


@pytest.mark.parametrize("data", [load("clinic"), (CELLS, TRUTH)], ids=["data set", "array"])
def test_memory_is_given_back_if_the_cpu_learns(monkeypatch, data):
    use_twin(monkeypatch, FullKernels)
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    before, given = FullKernels.n_released, data if isinstance(data, tuple) else (data,)
    found = SeparateAndConquer(bins=8).fit(*given)
    assert FullKernels.n_released > before
    assert fitted_state(found) == fitted_state(SeparateAndConquer(bins=8, engine="cpu").fit(*given))


class FullAtTheEnd(FullKernels):
    """The memory of the host is full when the codes come back."""

    def to_host(self, values):
        raise DeviceError("the memory of the GPU is full")


def test_memory_is_given_back_if_the_cpu_learns_by_ripper(monkeypatch):
    use_twin(monkeypatch, FullAtTheEnd)
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    before, expected = FullKernels.n_released, Ripper(bins=8, engine="cpu").fit(CELLS, TRUTH[:, 0])
    found = Ripper(bins=8).fit(CELLS, TRUTH[:, 0])
    assert FullKernels.n_released > before
    assert found.theory_ == expected.theory_


def test_rules_that_stop_the_list_need_no_gpu(monkeypatch):
    use_twin(monkeypatch, None)  # no kernels
    monkeypatch.setattr(device, "WORTH_A_GPU", 1)
    SeparateAndConquer(bins=9).fit(NUMERIC, LABELS, theory="y0, * <- x0 > 3")


# ------------------------------------------------------------------ the device


class FakeError(Exception):
    """No error of CuPy."""


def test_parts_of_cuda_that_are_missing_are_named(monkeypatch):
    cuda = SimpleNamespace(memory=SimpleNamespace(OutOfMemoryError=FakeError))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    message = r"misses a part of CUDA \(CuPy failed to load libnvrtc"
    with pytest.raises(DeviceError, match=message), device.gpu_errors():
        raise RuntimeError("CuPy failed to load libnvrtc.so.13: OSError: no such file")


def test_a_limit_of_memory_that_is_no_number(monkeypatch):
    pool = SimpleNamespace(free_bytes=lambda: 5)
    cuda = SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda: (1 << 30, 1 << 31)))
    fake = SimpleNamespace(cuda=cuda, get_default_memory_pool=lambda: pool)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    assert device.free_bytes() == (1 << 30) + 5
    monkeypatch.setenv("LABELRULES_GPU_MEMORY", "3")
    assert device.free_bytes() == 3 << 20
    monkeypatch.setenv("LABELRULES_GPU_MEMORY", "3 GB")
    with pytest.raises(ValueError, match="must be a whole number of MB, not '3 GB'"):
        device.free_bytes()


def test_cards_with_little_shared_memory_count_fewer_columns_together():
    sizes = {48: 1, 64: 2, 96: 3, 227: 3}  # in KB; 64 is that of a T4
    assert {size: columns_together(size << 10) for size in sizes} == sizes
