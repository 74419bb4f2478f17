"""Layered theories, learners and the command line predict on a GPU what they do on the CPU."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from applied_tables import VALUES, as_sparse, tables
from labelrules import (
    BinaryRelevance,
    ConstrainedClassifier,
    Dataset,
    LayeredTheory,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
    load,
    parse,
)
from labelrules.data import DataError, write_csv
from labelrules.data.memory import encoding
from labelrules.kernels import device
from labelrules.rules import UntilStable, rule_table
from labelrules.storage import save
from layered_theories import layered_theories
from shell import called, output
from theories import boards
from twins.gpu_apply import NumpyApplyKernels, OnFakeGpu, fake_gpu

READERS = load("magazines")

encode_table = encoding.encode


@pytest.fixture(autouse=True, scope="module")
def _gpu():
    with fake_gpu():
        yield


@settings(max_examples=50)
@given(st.data())
def test_layered_theories(draw):
    data = draw.draw(tables())
    theory = draw.draw(layered_theories(data.schema, VALUES))
    shape = data.n_rows, data.schema.n_labels
    start = np.array(draw.draw(boards(*shape)), dtype=np.int8).reshape(shape)
    expected = theory.run(data, start, engine="cpu")
    for storage in (data, as_sparse(data)):
        found = theory.run(storage, start, engine="gpu")
        assert found.board.tolist() == expected.board.tolist()
        assert found.rounds.tolist() == expected.rounds.tolist()
        for one, wanted in zip(found.layers, expected.layers, strict=True):
            assert all((a == b).all() for a, b in zip(one, wanted, strict=True))
    predicted = theory.predict(data, engine="gpu")
    assert predicted.tolist() == theory.predict(data, engine="cpu").tolist()


LAYERS = """
layer 1:
first <- x > 2
layer 2:
second <- first, z <= 5
not first <- x <= 7
"""


def numbers(dtype=np.float32):
    return np.random.default_rng(0).integers(0, 9, (40, 3)).astype(dtype)


def layered(X):
    from labelrules import Feature, Schema

    schema = Schema([Feature(name) for name in "xyz"], ["first", "second"])
    theory = parse(LAYERS, schema)
    assert isinstance(theory, LayeredTheory)
    return theory


def test_layers_read_arrays_as_they_are():
    X = numbers()
    theory, before = layered(X), NumpyApplyKernels.n_sent
    expected = theory.predict(X, engine="cpu").tolist()
    assert theory.predict(OnFakeGpu(X)).tolist() == expected
    assert NumpyApplyKernels.n_sent - before == 40 * 2  # the board that the second layer reads
    assert theory.predict(X, engine="gpu").tolist() == expected
    assert theory.predict(OnFakeGpu(X), engine="cpu").tolist() == expected


@pytest.mark.parametrize("X", [numbers().tolist(), numbers(np.float16)], ids=["list", "half"])
def test_other_tables_are_encoded_once_for_all_layers(X, monkeypatch):
    theory, encoded = layered(X).with_inference(UntilStable()), []
    expected = theory.predict(X, engine="cpu").tolist()

    def encode(X, schema):
        encoded.append(not isinstance(X, Dataset))
        return encode_table(X, schema)

    monkeypatch.setattr(encoding, "encode", encode)
    monkeypatch.setattr(rule_table, "encode", encode)
    assert theory.predict(X, engine="gpu").tolist() == expected
    assert sum(encoded) == 1


def test_large_tables_are_predicted_on_the_gpu_by_default(monkeypatch):
    X = numbers()
    theory, before = layered(X), NumpyApplyKernels.n_sent
    theory.predict(X)
    assert NumpyApplyKernels.n_sent == before
    monkeypatch.setattr(device, "WORTH_TESTS", 120)
    theory.predict(X)
    assert NumpyApplyKernels.n_sent > before


TARGETS = {
    "labels": lambda X: np.column_stack([X[:, 0] > 4, X[:, 1] + X[:, 2] > 8]).astype(int),
    "two classes": lambda X: np.where(X[:, 0] > 4, "high", "low"),
    "classes": lambda X: np.select([X[:, 0] > 5, X[:, 1] > 4], ["a", "b"], "c"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("learner", [
    SeparateAndConquer(), Scorecard(), BinaryRelevance(), StackedBinaryRelevance(),
])  # fmt: skip
def test_learners(learner, target):
    X = numbers()
    model = learner.fit(X, TARGETS[target](X))
    assert model.engine == "auto"
    expected = [f(X).tolist() for f in (model.predict, model.predict_proba)]
    try:
        model.engine, before = "gpu", NumpyApplyKernels.n_sent
        assert [f(X).tolist() for f in (model.predict, model.predict_proba)] == expected
        assert NumpyApplyKernels.n_sent > before
        on_gpu = OnFakeGpu(X)
        assert [f(on_gpu).tolist() for f in (model.predict, model.predict_proba)] == expected
        with pytest.raises(DataError, match="X has 2 columns but the schema has 3"):
            model.predict(OnFakeGpu(X[:, :2]))
    finally:
        model.engine = "auto"


@pytest.mark.parametrize("learner", [
    BinaryRelevance(DecisionTreeClassifier()), ConstrainedClassifier(SeparateAndConquer()),
])  # fmt: skip
def test_learners_that_do_more_than_apply_a_theory(learner):
    X = numbers()
    model = learner.fit(X, TARGETS["labels"](X))
    expected = model.predict(X).tolist()
    model.engine = "gpu"
    with pytest.raises(ValueError, match="predicts otherwise: set engine='auto' or 'cpu'"):
        model.predict(X)
    model.engine = "cpu"
    assert model.predict(X).tolist() == expected


def test_engines_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(READERS, "new.csv")
    model = SeparateAndConquer().fit(READERS)
    save(model, "model.json")
    save(model.theory_, "rules.json")
    for file in ("model.json", "rules.json"):
        expected, before = output("predict", file, "new.csv"), NumpyApplyKernels.n_sent
        assert output("predict", file, "new.csv", "--engine", "gpu") == expected
        assert NumpyApplyKernels.n_sent > before
    monkeypatch.setattr(device, "why_no_gpu", lambda: "CUDA finds no GPU")
    failed = called("predict", "model.json", "new.csv", "--engine", "gpu")
    assert "engine='gpu' needs a GPU, but CUDA finds no GPU" in failed.err
    wrong = called("predict", "model.json", "new.csv", "--engine", "cuda")
    assert "there is no engine 'cuda'" in wrong.err
