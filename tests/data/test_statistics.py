"""What is counted in a data set."""

import json
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given

import strategies
from labelrules.data import Dataset, dataset, load, statistics


def test_the_figures_of_the_magazines() -> None:
    figures = statistics(load("magazines"))
    assert (figures.instances, figures.nominal, figures.numeric, figures.labels) == (14, 4, 0, 4)
    assert figures.cardinality == 18 / 14
    assert figures.density == 18 / 14 / 4
    assert figures.distinct == 6
    assert figures.diversity == 6 / 14
    assert figures.label_counts.tolist() == [7, 6, 3, 2]
    assert figures.imbalance.tolist() == [1, 7 / 6, 7 / 3, 7 / 2]
    assert figures.imbalance_max == 3.5
    assert figures.imbalance_mean == pytest.approx((1 + 7 / 6 + 7 / 3 + 7 / 2) / 4)
    assert figures.never == 0
    assert figures.co_occurrence.tolist() == [
        [7, 3, 2, 2],
        [3, 6, 1, 0],
        [2, 1, 3, 0],
        [2, 0, 0, 2],
    ]


def test_they_print_as_a_table() -> None:
    assert str(statistics(load("magazines"))).splitlines() == [
        "magazines",
        "instances                   14",
        "nominal features             4",
        "numeric features             0",
        "labels                       4",
        "cardinality              1.286",
        "density                  0.321",
        "distinct label sets          6",
        "diversity                0.429",
        "mean imbalance           2.000",
        "largest imbalance        3.500",
        "labels never present         0",
        "",
        "label       rows   share  imbalance",
        "quality        7   0.500      1.000",
        "tabloid        6   0.429      1.167",
        "fashion        3   0.214      2.333",
        "sports         2   0.143      3.500",
    ]


def test_only_the_most_frequent_of_many_labels_are_printed() -> None:
    Y = np.triu(np.ones((30, 30), dtype=int))  # label 29 is in every row
    lines = str(statistics(dataset(np.empty((30, 0)), Y))).splitlines()
    assert lines[-1] == "... and 10 more"
    assert lines[-21].startswith("y29")
    assert lines[-2].startswith("y10")


def test_labels_that_no_row_has_are_counted_and_kept_out_of_the_mean() -> None:
    figures = statistics(dataset([[1], [2]], [[1, 0, 1], [1, 0, 0]]))
    assert figures.imbalance.tolist() == [1, float("inf"), 2]
    assert (figures.imbalance_mean, figures.imbalance_max, figures.never) == (1.5, 2, 1)


def test_unknown_labels_are_not_counted() -> None:
    figures = statistics(dataset([[1], [2], [3]], [[1, -1], [-1, -1], [0, 1]]))
    assert figures.label_counts.tolist() == [1, 1]
    assert figures.label_unknown.tolist() == [1, 2]
    assert figures.co_occurrence.tolist() == [[1, 0], [0, 1]]
    lines = str(figures).splitlines()
    assert "unknown cells                3" in lines
    assert lines[-2:] == ["y0           1   0.500      1.000", "y1           1   1.000      1.000"]


def test_nothing_to_count() -> None:
    figures = statistics(dataset(np.empty((0, 1)), np.empty((0, 2))))
    assert (figures.cardinality, figures.density, figures.distinct, figures.diversity) == (
        0,
        0,
        0,
        0,
    )
    assert (figures.imbalance_mean, figures.imbalance_max, figures.never) == (0, 0, 2)
    assert "y1" in str(figures)


@given(strategies.datasets())
def test_figures_equal_those_counted_by_hand(data: Dataset) -> None:
    figures = statistics(data)
    sets = data.label_sets()
    n_labels = data.schema.n_labels
    total = sum(map(len, sets))
    assert figures.instances == len(sets)
    assert figures.nominal + figures.numeric + figures.times == data.schema.n_features
    assert figures.distinct == len(set(sets))
    if sets:
        assert figures.cardinality == pytest.approx(float(Fraction(total, len(sets))))
        assert figures.density == pytest.approx(float(Fraction(total, len(sets) * n_labels)))
        assert figures.diversity == len(set(sets)) / min(2**n_labels, len(sets))
    for i, a in enumerate(data.schema.labels):
        assert figures.label_counts[i] == sum(a in labels for labels in sets)
        for j, b in enumerate(data.schema.labels):
            assert figures.co_occurrence[i, j] == sum(a in row and b in row for row in sets)


def test_figures_as_plain_values_and_frozen() -> None:
    figures = statistics(load("magazines"))
    plain = json.loads(json.dumps(figures.as_dict()))
    assert plain["label_counts"] == [7, 6, 3, 2]
    assert plain["name"] == "magazines"
    with pytest.raises(ValueError, match="read-only"):
        figures.co_occurrence[0, 0] = 1


def test_statistics_are_shown_in_one_line_and_in_notebooks_as_tables():
    figures = statistics(load("magazines"))
    assert repr(figures) == "Statistics('magazines': 14 rows, 4 labels, cardinality 1.286)"
    page = ElementTree.fromstring(figures._repr_html_())
    figure, labels = page.iter("table")
    assert [cell.text for cell in next(figure.iter("tr"))] == ["instances", "14"]
    assert [cell.text for cell in list(labels.iter("tr"))[1]] == ["quality", "7", "0.500", "1.000"]
    many = statistics(dataset(np.zeros((2, 1)), np.eye(2, 30)))
    assert "… and 10 more" in many._repr_html_()
