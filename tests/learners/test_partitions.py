"""Learning from partitions: the same model as from the rows in memory."""

import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import (
    Dataset,
    LabelPowerset,
    SeparateAndConquer,
    load,
    planted,
    scan,
    to_json,
)
from labelrules.data import Partitions, write_csv, write_parquet
from labelrules.data.partitions import scanning
from labelrules.scale.files import counts as file_counts
from tables import category_tables, tables


def parts_of(data: Dataset, *cuts: int, **options: int) -> Partitions:
    """The rows divided before these."""
    edges = [0, *sorted(cuts), len(data)]
    rows = [np.arange(a, b) for a, b in pairwise(edges)]
    return scan([data.take(one) for one in rows], **options)


def assert_same_models(found: SeparateAndConquer, expected: SeparateAndConquer) -> None:
    assert found.theory_ == expected.theory_
    assert [r.evidence for r in found.theory_] == [r.evidence for r in expected.theory_]
    for name in ("ones", "zeros", "share"):
        assert np.array_equal(getattr(found.background_, name), getattr(expected.background_, name))
    assert found.why_without_rules_ == expected.why_without_rules_
    assert found.n_learned_ == expected.n_learned_
    assert found.schema_ == expected.schema_
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()


OPTIONS = st.fixed_dictionaries({}, optional={
    "pruning": st.sampled_from([None, "significance"]), "polarity": st.sampled_from(["both"]),
    "max_rules": st.integers(1, 3), "default_rule": st.booleans(),
    "label_conditions": st.just(False), "min_coverage": st.integers(1, 2),
    "last_resort": st.sampled_from([0.2, 0.6]),
    "operators": st.sampled_from([("in", "<=", ">"), ("!=", "=", "<=")]),
})  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40)
@given(
    tables(max_rows=20, max_features=4, unknown=True) | category_tables(), st.data(), OPTIONS,
    st.booleans(), st.integers(2, 5),
)  # fmt: skip
def test_any_partitions_give_the_model_of_the_rows(data, drawn, options, in_files, n_bins):
    cuts = drawn.draw(st.lists(st.integers(0, len(data)), max_size=3))
    learner = SeparateAndConquer(bins=n_bins, **options)
    expected = learner.fit(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_counts, "PART_BYTES", drawn.draw(st.sampled_from([1, 40, 1 << 20])))
        patch.setattr(file_counts, "MEGABYTE", 1 if in_files else 1 << 20)
        found = SeparateAndConquer(bins=n_bins, **options).fit(parts_of(data, *cuts))
    assert_same_models(found, expected)


@pytest.mark.parametrize("write", [write_parquet, write_csv])
def test_files_give_the_model_of_the_rows(write, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(scanning, "CELLS_OF_A_PIECE", 2000)
    monkeypatch.setattr(file_counts, "PART_BYTES", 5000)
    monkeypatch.setattr(file_counts, "MEGABYTE", 8)
    data = load("clinic")
    write(data, tmp_path / f"clinic{'.csv' if write is write_csv else '.parquet'}")
    expected = SeparateAndConquer(bins=31).fit(data)
    found = SeparateAndConquer(bins=31, n_jobs=2).fit(scan(tmp_path, memory_limit=1))
    assert len(found.theory_) > 5
    assert_same_models(found, expected)
    assert np.array_equal(found.predict(data), expected.predict(data))
    assert np.array_equal(found.predict_proba(data), expected.predict_proba(data))
    assert found.about_.n_rows == len(data)
    assert '"bins": 31' in to_json(found)


def test_the_files_are_removed_and_ctrl_c_keeps_the_rules(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(file_counts, "MEGABYTE", 1)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(file_counts.tempfile, "tempdir", None)
    data, _ = planted(400, n_labels=4)
    seen = []

    def stop_at_the_second(report: object) -> None:
        seen.extend(path for path in tmp_path.rglob("*.rows"))
        if report.n_rules == 2:
            raise KeyboardInterrupt

    learner = SeparateAndConquer(bins=15, progress=stop_at_the_second)
    with pytest.warns(UserWarning, match="interrupted; the 2 rules"):
        learner.fit(parts_of(data, 100, 300))
    assert seen
    assert not list(tmp_path.iterdir())
    whole = SeparateAndConquer(bins=15).fit(data)
    assert learner.theory_.rules[:2] == whole.theory_.rules[:2]


def test_what_partitions_are_not_for_is_refused() -> None:
    parts = parts_of(load("magazines"), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for learner, message in (
            (SeparateAndConquer(), "set bins, as in SeparateAndConquer"),
            (SeparateAndConquer(bins=9, heads="multi"), "by counts alone: leave heads"),
            (SeparateAndConquer(bins=9, max_literals=3), "max_literals needs all rows"),
        ):
            with pytest.raises(ValueError, match=message):
                learner.fit(parts)
        with pytest.raises(ValueError, match="leave all other arguments out"):
            SeparateAndConquer(bins=9).fit(parts, theory="quality <- sex = Male")
        with pytest.raises(TypeError, match="LabelPowerset needs all rows in memory"):
            LabelPowerset().fit(parts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tmc2007-500", "ohsumed", "imdb"])
def test_real_data_give_the_same_rules(name, data_folder, tmp_path: Path, monkeypatch) -> None:
    data = load(name, data_folder)
    write_parquet(data, tmp_path / "rows.parquet")
    expected = SeparateAndConquer(bins=255, max_rules=40).fit(data)
    monkeypatch.setattr(file_counts, "PART_BYTES", 1 << 22)
    rows = np.random.default_rng(0).permutation(len(data))
    shuffled = scan([data.take(some) for some in np.array_split(rows, 7)])
    for parts in (scan(tmp_path, memory_limit=1), shuffled):
        found = SeparateAndConquer(bins=255, max_rules=40).fit(parts)
        assert found.theory_ == expected.theory_
        assert_same_models(found, expected)
