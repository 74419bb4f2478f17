"""The kernels that bin and count rows on a GPU against their NumPy twins."""

import numpy as np
import pytest

from labelrules.scale.gpu.kernels.counting import GROUP, MOST_OF_A_BYTE, GpuKernels
from twins.gpu_kernels import NumpyKernels

SIZES = [1, 31, 127, 128, 129, 1000, 16_384, 70_001]
VALUES = np.array([-np.inf, -2.5, -0.0, 0.0, 1e-300, 1.0, 3.0, 1e300, np.inf, np.nan])


def engines():
    return GpuKernels(), NumpyKernels()


def host(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def same(results):
    on_gpu, twin = (host(one) for one in results)
    np.testing.assert_array_equal(on_gpu, twin)


@pytest.fixture
def random():
    return np.random.default_rng(7)


def some_rows(kernels, cells):
    """The set of the rows whose cell is 1."""
    found = kernels.room_for_sets(1, len(cells))[0]
    kernels.pack(kernels.array(cells.astype(np.int8)), 1, found)
    return found


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("most", [3, MOST_OF_A_BYTE, 300, 65_535])
def test_codes_and_sets(random, n_rows, most):
    codes = random.integers(0, most + 1, n_rows)
    inside, positive = random.random((2, n_rows)) < 0.6
    low, high = sorted(random.integers(0, most + 1, 2).tolist())
    results = []
    for kernels in engines():
        own = kernels.room_for_codes(n_rows, most)
        own[:n_rows] = kernels.array(codes.astype(own.dtype))
        rows, right = some_rows(kernels, inside), some_rows(kernels, positive)
        sets = [kernels.narrow(rows, own, low, high, outside, most) for outside in (False, True)]
        sets += [kernels.common(rows, right), kernels.common(rows, right, without=True)]
        counts = kernels.room_for_counts(2 * (most + 1) + 2)
        columns = kernels.columns([own, own], [0, most + 1])
        kernels.count_codes(columns, rows, right, counts)
        kernels.next_code(rows, own, low, most, counts[-2:-1])
        kernels.count_common(rows, right, counts[-1:])
        masks = [kernels.unpack(one, n_rows) for one in sets]
        results.append((np.array([host(one) for one in sets]), masks, kernels.read(counts)))
    for on_gpu, twin in zip(*results, strict=True):
        np.testing.assert_array_equal(on_gpu, twin)


@pytest.mark.parametrize("together", [1, 2, GROUP])
@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 7, 50])
def test_several_columns_are_counted_at_once(random, n_columns, together):
    n_rows, n_codes = 100_000, 256
    codes = random.integers(0, n_codes, (n_columns, n_rows)).astype(np.uint8)
    inside, positive = random.random((2, n_rows)) < 0.5
    kernels = GpuKernels()
    kernels.group = together  # as on cards with less shared memory
    own = [kernels.room_for_codes(n_rows, 255) for _ in codes]
    for room, column in zip(own, codes, strict=True):
        room[:n_rows] = kernels.array(column)
    counts = kernels.room_for_counts(n_columns * n_codes)
    columns = kernels.columns(own, [n_codes * at for at in range(n_columns)])
    kernels.count_codes(columns, some_rows(kernels, inside), some_rows(kernels, positive), counts)
    weights = inside * ((1 << 32) + positive)
    expected = [
        np.bincount(one, inside, n_codes).astype(np.int64) * (1 << 32)
        + np.bincount(one, inside & positive, n_codes).astype(np.int64)
        for one in codes
    ]
    assert int(weights.sum()) == int(expected[0].sum())
    np.testing.assert_array_equal(kernels.read(counts).reshape(n_columns, n_codes), expected)


def test_cells_of_shared_memory_do_not_overflow():
    n_rows = 3 << 20  # all in one cell
    kernels = GpuKernels()
    codes, rows = kernels.room_for_codes(n_rows, 255), kernels.every(n_rows)
    counts = kernels.room_for_counts(256)
    kernels.count_codes(kernels.columns([codes], [0]), rows, rows, counts)
    assert kernels.read(counts).tolist() == [(n_rows << 32) + n_rows, *[0] * 255]


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("n_different", [1, 4, 10, 5000])
def test_bins(random, n_rows, n_different):
    known = np.concatenate([VALUES, random.normal(size=5000)])
    values = random.choice(random.permutation(known)[:n_different], n_rows)
    found = []
    for kernels in engines():
        own = kernels.numbers(values)
        keys = kernels.sorted_keys(own)
        n_missing, n_rises = kernels.count_rises(keys)
        n_known = n_rows - n_missing
        places = kernels.rises(keys, n_rises)
        some = np.unique(np.linspace(0, max(n_known - 1, 0), 9).astype(int))
        around = kernels.values_around(keys, n_known, some) if n_known else ()
        codes = kernels.room_for_codes(n_rows, 9)
        cuts = np.array([-1.0, 0.0, 0.5, 2.0])
        kernels.encode_numbers(own, cuts, 5, codes)
        found.append((n_missing, n_rises, places, *around, host(codes)))
    for on_gpu, twin in zip(*found, strict=True):
        np.testing.assert_array_equal(np.asarray(on_gpu) + 0.0, np.asarray(twin) + 0.0)


def test_categories(random):
    values = random.choice([0.0, 1.0, 2.0, np.nan], 1000)
    codes = []
    for kernels in engines():
        codes.append(kernels.room_for_codes(1000, 3))
        kernels.encode_categories(kernels.numbers(values), 3, codes[-1])
    same(codes)


@pytest.mark.parametrize("n_rows", SIZES)
def test_states_and_marks(random, n_rows):
    n_labels = 5
    truth, known = random.random((2, n_labels, n_rows)) < 0.6
    unset, ones = random.random((2, n_labels, n_rows)) < 0.5
    inside, results = random.random(n_rows) < 0.7, []
    for kernels in engines():
        planes = []
        for cells in (known, truth & known, unset, ones & ~unset):
            planes.append(kernels.room_for_sets(n_labels, n_rows))
            for own, plane in zip(cells, planes[-1], strict=True):
                kernels.pack(kernels.array(own.astype(np.int8)), 1, plane)
        rows, labels = some_rows(kernels, inside), kernels.array(np.arange(5, dtype=np.int32))
        counts = kernels.room_for_counts(6 * n_labels)
        kernels.count_states(rows, *planes, labels, counts[: 3 * n_labels])
        one = rows, planes[0][2], planes[1][2]
        kernels.count_states(*one, *planes[2:], labels, counts[3 * n_labels :])
        kernels.write(kernels.common(rows, planes[2][1]), 1, planes[2][1], planes[3][1])
        marks = kernels.row_marks(planes[0], planes[1], planes[3])
        every = kernels.every(n_rows)
        marks = [host(kernels.common(every, mark)) for mark in marks]
        results.append((kernels.read(counts), host(planes[2]), host(planes[3]), *marks))
    for on_gpu, twin in zip(*results, strict=True):
        np.testing.assert_array_equal(on_gpu, twin)
