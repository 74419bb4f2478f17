"""Discovery in partitions: the same results as from the rows in memory."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extras import needs, pd
from labelrules import Dataset, Schema, load, planted, scan
from labelrules.constraints import find, find_constraints
from labelrules.data import DataError, FileError, Partitions, rows, write_parquet
from labelrules.mining import (
    association_rules,
    frequent_itemsets,
    items_of,
    itemset_batches,
    level_wise,
)
from tables import tables


def parts_of(data: Dataset, *cuts: int, **options: int) -> Partitions:
    """The rows divided before these."""
    edges = [0, *sorted(cuts), len(data)]
    return scan([data.take(np.arange(a, b)) for a, b in pairwise(edges)], **options)


def assert_same_itemsets(found, expected) -> None:
    assert found.items.conditions == expected.items.conditions
    assert found.items.counts.tolist() == expected.items.counts.tolist()
    assert found.items.left_out == expected.items.left_out
    assert found.as_tuples() == expected.as_tuples()
    assert (found.minimum, found.stopped, str(found)) == (expected.minimum, None, str(expected))


@settings(max_examples=150)
@given(
    tables(max_rows=14, max_features=3, unknown=True),
    st.data(),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(1, 3)),
    st.sampled_from(["all", "closed", "maximal"]),
    st.sampled_from([True, False, "labels"]),
    st.sampled_from([None, "width", "frequency"]),
)
def test_any_partitions_give_the_itemsets_of_the_rows(
    data, drawn, minimum, longest, kind, absence, bins
):
    cuts = drawn.draw(st.lists(st.integers(0, len(data)), max_size=3))
    options = {"absent_items": absence, "bins": bins, "n_bins": drawn.draw(st.integers(2, 4))}
    items = items_of(data, **options)
    if not len(items) or items.left_out:
        return  # an error, the same as in memory
    options |= {"max_conditions": longest, "kind": kind}
    expected = frequent_itemsets(data, minimum, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(level_wise, "CANDIDATES", drawn.draw(st.sampled_from([1, 7, 1 << 22])))
        patch.setattr(rows, "MEGABYTE", drawn.draw(st.sampled_from([0, 1 << 20])))
        found = frequent_itemsets(parts_of(data, *cuts), minimum, max_memory=1 << 30, **options)
    assert_same_itemsets(found, expected)


def boards(max_labels=5):
    row = st.lists(st.sampled_from([0, 0, 1]), min_size=max_labels, max_size=max_labels)
    return st.lists(row, min_size=1, max_size=14).map(np.array)


@settings(max_examples=60)
@given(boards(), st.data(), st.integers(1, 3), st.sampled_from([0, 0.25]))
def test_any_partitions_give_the_constraints_of_the_rows(Y, drawn, max_conditions, tolerance):
    labels = [f"y{j}" for j in range(Y.shape[1])]
    data = Dataset(Schema([], labels, [None, "y0", None, "y0", None]), np.empty((len(Y), 0)), Y)
    cuts = drawn.draw(st.lists(st.integers(0, len(data)), max_size=3))
    options = {"max_conditions": max_conditions, "tolerance": tolerance}
    expected = find_constraints(data, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find, "CELLS_AT_ONCE", drawn.draw(st.sampled_from([1, 1 << 22])))
        found = find_constraints(parts_of(data, *cuts), **options)
    assert str(found) == str(expected)
    assert vars(found) == vars(expected)


def test_files_and_collections_of_dask(tmp_path: Path) -> None:
    """Without a client, Dask makes the partitions itself; `tests/learners/test_dask.py` has one."""
    da, dd = needs("dask.array"), needs("dask.dataframe")
    data, _ = planted(400, n_nominal=0, n_labels=4)
    write_parquet(data, tmp_path / "rows.parquet")
    Y = pd.DataFrame(data.Y, columns=list(data.schema.labels))
    X = pd.DataFrame(np.array(data.X), columns=list(data.schema.feature_names))
    both = dd.from_pandas(pd.concat([X, Y], axis=1), npartitions=3)
    arrays = [da.from_array(np.array(one), chunks=(150, 2)) for one in (data.X, data.Y)]
    options = {"bins": "frequency", "n_bins": 3, "min_support": 0.05}
    expected = frequent_itemsets(data, **options)
    assert len(expected) > 50
    rows = scan(both, labels=list(data.schema.labels))
    for parts in (scan(tmp_path, memory_limit=1), rows):
        assert_same_itemsets(frequent_itemsets(parts, **options), expected)
    expected = find_constraints(data, max_conditions=2, tolerance=0.3)
    names = {"label_names": data.schema.labels}
    for given_, more in ((rows, {}), (both[list(Y.columns)], {}), (arrays[1], names)):
        found = find_constraints(given_, max_conditions=2, tolerance=0.3, **more)
        assert str(found) == str(expected)
    assert len(frequent_itemsets(scan(*arrays), labels=True, features=False)) >= 4
    Path(tmp_path, "rows.parquet").write_bytes(b"nothing")
    with pytest.raises(FileError, match=r"rows\.parquet"):
        frequent_itemsets(scan(tmp_path, labels=["l0"]))


def test_what_is_refused_says_what_to_do() -> None:
    data, _ = planted(200, n_nominal=0, n_labels=3)
    parts = parts_of(data, 50)
    for call, message in (
        (lambda: frequent_itemsets(parts, bins="entropy"), "needs all rows in memory: .*'width'"),
        (lambda: frequent_itemsets(parts, 1, bins="width", max_sets=9), r"9 frequent .*max_sets"),
        (
            lambda: frequent_itemsets(parts, 1, bins="width", kind="closed", max_visited=9),
            r"9 frequent sets \(max_visited\)",
        ),
        (lambda: itemset_batches(parts), "frequent_itemsets and find_constraints take partitions"),
        (lambda: association_rules(parts), "needs all rows in memory"),
        (lambda: find_constraints(parts, label_names=["a"]), "leave label_names out"),
    ):
        with pytest.raises((DataError, ValueError), match=message):
            call()
    items = frequent_itemsets(parts, bins="width").items
    with pytest.raises(DataError, match="were only counted"):
        items.rows_of(0)
    Y = np.array(data.Y)
    Y[7, 1] = -1
    unknown = scan([Dataset(data.schema, data.X, Y)])
    with pytest.raises(DataError, match="in 1 row some label is unknown"):
        find_constraints(unknown)


@pytest.mark.parametrize(
    "name", ["yeast", "flags", pytest.param("tmc2007-500", marks=pytest.mark.slow)]
)
def test_real_data_give_the_same_results(name, data_folder) -> None:
    data = load(name, data_folder)
    rows = np.random.default_rng(0).permutation(len(data))
    parts = scan([data.take(some) for some in np.array_split(rows, 5)], memory_limit=1)
    for kind in ("all", "closed", "maximal"):
        options = {"max_conditions": 4, "kind": kind, "bins": "frequency", "absent_items": False}
        expected = frequent_itemsets(data, 0.12, **options)
        assert_same_itemsets(frequent_itemsets(parts, 0.12, **options), expected)
    expected = find_constraints(data, max_conditions=2, tolerance=0.2, min_support=20)
    found = find_constraints(parts, max_conditions=2, tolerance=0.2, min_support=20)
    assert vars(found) == vars(expected)
