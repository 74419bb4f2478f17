"""Counting on a GPU, by the NumPy twins of its kernels: the same answers as from rows in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import SeparateAndConquer, dataset
from labelrules.data.codes.bins import Bins
from labelrules.learners.covering.counted_rows import CountedRows, is_counted
from labelrules.learners.covering.learner import counted_covering
from labelrules.learners.covering.loop import Covering
from labelrules.learners.covering.settings import checked_settings
from labelrules.scale.gpu.codes import SORTING, binned_on_gpu
from labelrules.scale.gpu.counts import GpuRows
from labelrules.search.bodies.code_tables import marked_columns
from tables import category_tables, tables
from twins.gpu_kernels import NumpyKernels


@settings(max_examples=60)
@given(tables(max_rows=40, max_features=5, unknown=True), st.integers(2, 6), st.booleans())
def test_bins_and_codes_are_those_of_the_cpu(data, n_bins, by_row):
    X = np.ascontiguousarray(data.X) if by_row and isinstance(data.X, np.ndarray) else data.X
    bins, codes = binned_on_gpu(X, data.schema, n_bins, NumpyKernels(), room=1 << 20)
    assert bins == Bins.of(data, n_bins)
    for at, expected in enumerate(bins.encode(data.X)):
        assert codes.column(at)[: len(data)].tolist() == expected.tolist()


class CountedKernels(NumpyKernels):
    """Knows how many bytes columns take that were sent together."""

    largest = 0

    def room_for_numbers(self, n_columns, n_rows):
        found = super().room_for_numbers(n_columns, n_rows)
        self.largest = max(self.largest, found.nbytes)
        return found


@pytest.mark.parametrize("room", [15_000, 20_000, 40_000])
def test_codes_leave_room_for_columns_that_come_by_rows(room):
    X = np.random.default_rng(0).normal(size=(200, 60))
    data, kernels = dataset(X, X[:, :1] > 0), CountedKernels()
    _, codes = binned_on_gpu(X, data.schema, 9, kernels, room)
    on_gpu = sum(codes.column(at).nbytes for at, there in enumerate(codes._on_gpu) if there)
    assert on_gpu > 0
    assert on_gpu + kernels.largest + SORTING * len(X) <= room


OPTIONS = st.fixed_dictionaries({}, optional={
    "pruning": st.sampled_from([None, "significance"]), "polarity": st.just("both"),
    "max_rules": st.integers(1, 3), "label_conditions": st.just(False),
    "operators": st.sampled_from([["!=", "<="], ["=", "!=", ">"], ["in", "<=", "!="]]),
    "measure": st.sampled_from(["precision", "correlation", "laplace"]),
})  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=80)
@given(
    tables(max_rows=30, max_features=4, unknown=True) | category_tables(), OPTIONS,
    st.integers(2, 5), st.sampled_from([0, 400, 1 << 20]),
)  # fmt: skip
def test_lists_are_those_of_the_cpu(data, options, n_bins, room):
    data = data.with_known_labels()
    settings = checked_settings(SeparateAndConquer(bins=n_bins, **options), data.schema)
    bins = Bins.of(data, n_bins)
    if not len(data) or not is_counted(settings):
        return
    expected = counted_covering(data, bins, settings, [])
    found, codes = binned_on_gpu(data.X, data.schema, n_bins, NumpyKernels(), room)
    rows = GpuRows(found, codes, data.Y, marked_columns(found, settings.allowed))
    learned = Covering(CountedRows(rows, found, settings), settings)
    for covering in (expected, learned):
        covering.go_on(lambda progress: None)
    lists = [covering.finished() for covering in (expected, learned)]
    assert lists[0] == lists[1]
    assert [r.evidence for r in lists[0]] == [r.evidence for r in lists[1]]
