"""Bins of rows in partitions are those of the rows in memory, whatever the partitions."""

from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extras import pa as arrow
from extras import pq as parquet
from labelrules import Dataset, dataset, load, scan
from labelrules.data import Feature, Schema
from labelrules.data.codes.bins import Bins
from labelrules.kernels.covering.tables import collect_between, count_between
from labelrules.scale.files import codes
from labelrules.scale.files.codes import bins_of_partitions

VALUES = st.one_of(
    st.sampled_from([0.0, -0.0, 0.0, 1.0, 1.0, nan]),  # many ties
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1, 1, width=32),
    st.integers(-(2**53), 2**53).map(float),
)
FEATURES = [
    Feature("x", kind="numeric"), Feature("n", kind="amount"), Feature("c", ("p", "q", "r")),
    Feature("o", ("s", "m", "l"), "ordered"), Feature("day", kind="date"),
    Feature("time", kind="UTC time"),
]  # fmt: skip
CELLS = {
    "numeric": VALUES, "amount": st.integers(0, 3).map(float) | st.just(nan),
    "nominal": st.sampled_from([0.0, 2.0, nan]), "ordered": st.sampled_from([0.0, 1.0, 2.0, nan]),
    "date": st.integers(0, 40000).map(float) | st.just(nan),
    "UTC time": st.integers(-(10**15), 10**15).map(float),
}  # fmt: skip


@st.composite
def parted(draw: st.DrawFn) -> tuple[Dataset, list[Dataset]]:
    """A data set of hostile columns, and the same rows in parts."""
    features = draw(st.lists(st.sampled_from(FEATURES), min_size=1, max_size=3, unique=True))
    n_rows = draw(st.integers(0, 40))
    X = np.empty((n_rows, len(features)))
    for at, feature in enumerate(features):
        column = st.lists(CELLS[feature.kind], min_size=n_rows, max_size=n_rows)
        X[:, at] = draw(column)
    labels = st.lists(st.integers(-1, 1), min_size=n_rows, max_size=n_rows)
    Y = np.array([draw(labels), draw(labels)], dtype=np.int8).T
    data = Dataset(Schema(features, ["y", "z"]), X, Y)
    cuts = sorted(draw(st.lists(st.integers(0, n_rows), max_size=3)))
    ranges = zip([0, *cuts], [*cuts, n_rows], strict=True)
    return data, [data.take(np.arange(start, stop)) for start, stop in ranges]


@given(parted(), st.integers(2, 9), st.integers(1, 9), st.integers(1, 12))
def test_bins_of_any_partitions_are_those_of_the_rows(given, n_bins, splitters, collected):
    data, parts = given
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "SPLITTERS", splitters)
        patch.setattr(codes, "SAMPLED", 2 * splitters)
        patch.setattr(codes, "COLLECTED", collected)
        found = bins_of_partitions(scan(parts), n_bins)
    assert found == Bins.of(data.with_known_labels(), n_bins)
    assert bins_of_partitions(scan(parts), n_bins) == found


def test_few_splitters_suffice_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "SPLITTERS", 64)
    monkeypatch.setattr(codes, "SAMPLED", 256)
    monkeypatch.setattr(codes, "COLLECTED", 500)
    random = np.random.default_rng(1)
    n = 6000
    X = np.column_stack([
        random.normal(size=n), random.standard_cauchy(size=n) ** 3, np.arange(n) // 7,
        random.integers(0, 2, n) * random.exponential(size=n), np.sort(random.normal(size=n)),
    ])  # fmt: skip
    data = dataset(X, random.integers(0, 2, (n, 2)))
    parts = scan([data.take(np.arange(start, start + 1500)) for start in range(0, n, 1500)])
    assert bins_of_partitions(parts, 31) == Bins.of(data, 31)


def test_a_sample_of_parquet_files_reads_few_rows(tmp_path: Path) -> None:
    data = load("clinic")
    numbers = arrow.table({"x": np.arange(3000.0), "y": np.arange(3000) % 2})
    parquet.write_table(numbers, tmp_path / "1.parquet", row_group_size=10)
    parts = scan(tmp_path, labels=["y"])
    some = list(parts.sample(100))
    assert sum(map(len, some)) <= 200
    assert max(part.X.max() for part in some) > 2900
    expected = Bins.of(dataset(np.arange(3000.0)[:, None], np.arange(3000) % 2), 9).columns
    assert bins_of_partitions(parts, 9).columns == expected
    assert bins_of_partitions(scan(data), 255) == Bins.of(data.with_known_labels(), 255)


@given(st.lists(VALUES | st.sampled_from([3.0, nan])), st.sets(VALUES.filter(lambda v: v == v)))
@example([1.0, 2.0, nan], set())
def test_counts_between_splitters_are_those_of_a_comparison(values, splitters):
    rising = np.array(sorted(splitters))
    n_gaps = len(rising) + 1
    equal, between = np.zeros(len(rising), dtype=np.int64), np.zeros(n_gaps, dtype=np.int64)
    least = np.full(n_gaps, inf)
    values = [*sorted(v for v in values if v == v), *(v for v in values if v != v)]
    column = np.array(values, dtype=np.float64)
    assert count_between(column, rising, equal, between, least) == sum(v == v for v in values)
    edges = [-inf, *rising.tolist(), inf]
    gaps = [[v for v in values if edges[g] < v < edges[g + 1]] for g in range(n_gaps)]
    assert equal.tolist() == [values.count(one) for one in rising.tolist()]
    assert between.tolist() == [len(gap) for gap in gaps]
    assert least.tolist() == [min(gap, default=inf) for gap in gaps]
    wanted = np.arange(n_gaps) % 2 == 0
    room = np.empty(len(values))
    n = collect_between(column, rising, wanted, room, 0)
    assert room[:n].tolist() == [v for v in values if any(v in gap for gap in gaps[::2])]
