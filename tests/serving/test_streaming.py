"""From file to file, in partitions: what is predicted for all rows at once."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelrules import LabelPowerset, Measure, SeparateAndConquer, evaluate, load, scan
from labelrules.data import DataError, write_csv, write_parquet
from labelrules.data.files import csv_records
from labelrules.data.partitions import scanning
from labelrules.learners.base.tallies import OutcomeTally
from labelrules.measures.evaluation import evaluation_of_counts, value_of_counts
from labelrules.serving import evaluate_file, predict_file


@pytest.fixture(scope="module")
def model():
    return SeparateAndConquer(bins=15).fit(load("clinic"))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "CELLS_OF_A_PIECE", 3000)
    monkeypatch.setattr(csv_records, "_BYTES_AT_ONCE", 5000)


def cells_of(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", skiprows=1)


@pytest.mark.parametrize("write", [write_parquet, write_csv])
def test_predictions_are_those_of_all_rows(write, model, tmp_path: Path) -> None:
    data = load("clinic")
    source = tmp_path / f"rows{'.csv' if write is write_csv else '.parquet'}"
    write(data, source)
    target = tmp_path / "labels.csv.gz"
    assert predict_file(model, source, target) == len(data)
    assert np.array_equal(cells_of(target), model.predict(data))
    assert gzip.decompress(target.read_bytes()).startswith(b",".join(
        name.encode() for name in data.schema.labels[:2]
    ))  # fmt: skip
    predict_file(model, scan(source), target, probabilities=True)
    assert np.array_equal(cells_of(target), model.predict_proba(data))
    predict_file(model.theory_, [source], target)
    assert np.array_equal(cells_of(target), model.predict(data))
    expected = evaluate(data.Y, model.predict(data))
    assert evaluate_file(model, source) == expected
    assert evaluate_file(model.theory_, source) == expected
    for text in ("f1/macro/full", "jaccard/samples/full", "precision/micro/full"):
        value = Measure.parse(text).of_predictions(data.Y, model.predict(data))
        assert evaluate_file(model, source, [text]) == {text: value}


def test_new_rows_need_features_only(model, tmp_path: Path) -> None:
    data = load("clinic")
    write_csv(data, tmp_path / "all.csv")
    lines = (tmp_path / "all.csv").read_text().splitlines()
    lines = [",".join(["more" if k == 0 else str(k), line]) for k, line in enumerate(lines)]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    predict_file(model, tmp_path / "new.csv", tmp_path / "labels.csv")
    assert np.array_equal(cells_of(tmp_path / "labels.csv"), model.predict(data))


def test_what_is_wrong_is_named(model, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    target = tmp_path / "labels.csv"
    with pytest.raises(DataError, match="no column"):
        predict_file(model, tmp_path / "a.csv", target)
    assert not target.exists()
    with pytest.raises(TypeError, match="fitted learner or a theory, not a str"):
        predict_file("model.json", tmp_path / "a.csv", target)
    classes = LabelPowerset().fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match="predicts classes"):
        evaluate_file(classes, tmp_path / "a.csv")
    write_csv(load("clinic"), tmp_path / "b.csv")
    with pytest.raises(ValueError, match="another averaging than cell"):
        evaluate_file(model, tmp_path / "b.csv", ["f1/cell/full"])


BOARDS = st.integers(1, 4).flatmap(lambda n_labels: st.lists(
    st.tuples(*[st.tuples(st.integers(-1, 1), st.integers(0, 1))] * n_labels), min_size=1,
    max_size=12,
))  # fmt: skip


@given(BOARDS, st.integers(0, 12))
def test_measures_from_parts_are_those_of_all_rows(cells, cut):
    truth, predicted = np.moveaxis(np.array(cells, dtype=np.int8), 2, 0)
    if (truth == -1).all():
        return
    tally = OutcomeTally(truth.shape[1])
    for rows in (slice(None, cut), slice(cut, None)):
        tally.add(np.ascontiguousarray(truth[rows]), np.ascontiguousarray(predicted[rows]))
    counts = tally.counts()
    assert evaluation_of_counts(counts) == evaluate(truth, predicted)
    for text in ("f1/macro/partial", "recall/samples/full", "f2/micro/partial"):
        measure = Measure.parse(text)
        assert value_of_counts(measure, counts) == measure.of_predictions(truth, predicted)
