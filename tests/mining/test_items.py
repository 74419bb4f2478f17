"""Items: what may be true of a row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelrules import dataset, load
from labelrules.mining import items_of
from labelrules.mining.binning import thresholds
from tables import tables
from twins.mining import item_masks

NAN = float("nan")


@given(
    tables(storage=("dense", "sparse")),
    st.sampled_from([None, "width", "frequency", "entropy"]),
    st.integers(2, 5),
    st.sampled_from([False, True, "features", "labels"]),
)
def test_an_item_holds_where_its_conditions_hold(data, bins, n_bins, absence):
    items = items_of(data, bins=bins, n_bins=n_bins, absent_items=absence)
    masks = item_masks(items, data)
    for item in range(len(items)):
        assert items.rows_of(item).tolist() == np.flatnonzero(masks[item]).tolist()
    bits = np.unpackbits(items.words.view(np.uint8), axis=1, bitorder="little")
    assert (bits[:, : data.n_rows] == masks).all()
    assert bits.sum() == masks.sum()


@given(tables(), st.sampled_from(["width", "frequency", "entropy"]), st.integers(2, 5))
def test_a_row_has_at_most_one_item_of_a_column_and_none_where_it_is_missing(data, bins, n_bins):
    items = items_of(data, bins=bins, n_bins=n_bins, absent_items=True)
    masks = item_masks(items, data)
    for j in range(data.schema.n_features):
        n_items = masks[(items.column == j) & ~items.is_label].sum(axis=0)
        missing = np.isnan(data.column(j))
        assert (n_items <= 1).all()
        assert (n_items[missing] == 0).all()
        if (n_items > 0).any():
            assert (n_items[~missing] == 1).all()


def test_the_readers_have_thirteen_items():
    items = items_of(load("magazines"))
    assert [items.text(item) for item in range(len(items))] == [
        "education = Primary",
        "education = Secondary",
        "education = University",
        "marital = Single",
        "marital = Married",
        "marital = Divorced",
        "sex = Male",
        "sex = Female",
        "children = Yes",
        "quality",
        "tabloid",
        "fashion",
        "sports",
    ]


def test_absence_is_an_item_on_request():
    data = load("magazines")
    kinds = {
        absence: len(items_of(data, absent_items=absence)) for absence in ("features", "labels")
    }
    assert kinds == {"features": 14, "labels": 17}
    assert len(items_of(data, absent_items=True)) == 18


def test_thresholds_are_simple_and_part_the_same_rows():
    values = np.array([0.1234, 0.2345, 0.3456, 0.4567, 0.5678, 0.6789])
    classes = np.zeros(6, dtype=np.int64)
    assert thresholds(values, classes, "width", 3) == [0.3, 0.5]
    assert thresholds(values, classes, "frequency", 2) == [0.4]
    assert thresholds(values, classes, "entropy", 4) == []


def test_entropy_cuts_where_label_sets_change():
    values = np.arange(100.0)
    classes = np.repeat([0, 1, 0], [30, 30, 40])
    assert thresholds(values, classes, "entropy", 9) == [29.0, 59.0]
    assert thresholds(values, classes, "entropy", 2) == [59.0]


def test_entropy_does_not_cut_noise():
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert thresholds(rng.random(200), rng.integers(0, 3, 200), "entropy", 9) == []


@pytest.mark.parametrize("bins", ["width", "frequency", "entropy"])
def test_the_order_of_rows_does_not_matter(bins):
    rng = np.random.default_rng(0)
    values, classes = rng.integers(0, 30, 200) / 8, rng.integers(0, 3, 200)
    classes[values > 2] = 0
    order = rng.permutation(200)
    assert thresholds(values, classes, bins, 6) == thresholds(
        values[order], classes[order], bins, 6
    )


def test_extreme_numbers_are_cut_too():
    values = np.array([-1.7e308, 0.0, 1.7e308, NAN])
    for bins in ("width", "frequency", "entropy"):
        for cut in thresholds(values, np.array([0, 0, 1, 1]), bins, 3):
            assert np.isfinite(cut)


def test_numeric_columns_of_zeros_and_ones_need_no_bins():
    items = items_of(
        dataset([[0, 5.5], [1, 2.5], [NAN, 1.0]], [[1], [0], [1]]), absent_items="features"
    )
    assert [items.text(i) for i in range(len(items))] == ["x0 > 0", "x0 <= 0", "y0"]
    assert items.left_out == ("x1",)
    assert str(items) == "3 items in 3 rows; 1 numeric feature not binned"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": "with"}, "did you mean 'width'"),
        ({"n_bins": 1}, "at least 2"),
        ({"absent_items": "label"}, "'features' or 'labels', not 'label'"),
        ({"features": False, "labels": False}, "take features, labels or both"),
    ],
)
def test_what_makes_no_items_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        items_of(load("magazines"), **settings)


@pytest.mark.parametrize("bins", [None, "width", "frequency", "entropy", "labels"])
@pytest.mark.parametrize("n_bins", [4.0, NAN, float("inf"), None, "4", True, 1])
def test_a_number_of_bins_is_whole(bins, n_bins):
    """What is no whole number was refused by whatever could not work with it, or not at all."""
    data = dataset([[0.5], [2.5], [1.5]], [[1], [0], [1]])
    with pytest.raises(ValueError, match="n_bins must be a whole number of at least 2, not "):
        items_of(data, bins=bins, n_bins=n_bins)


def test_a_table_must_be_a_data_set():
    with pytest.raises(ValueError, match="use dataset"):
        items_of([[1, 2]])
