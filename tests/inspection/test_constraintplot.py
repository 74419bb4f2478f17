"""Pictures of constraints: every node and line is there, and nothing lies upon another."""

from itertools import combinations

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.patches import FancyArrowPatch

from labelrules import load
from labelrules.constraints import find_constraints
from labelrules.inspection import plot_constraints

GENRES = [
    {"music", "jazz"},
    {"music", "rock"},
    {"music"},
    {"news"},
    {"film", "cinema"},
    {"film", "cinema", "western"},
    {"jazz", "music", "swing"},
]


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def boxes(ax):
    ax.figure.canvas.draw()
    return [text.get_bbox_patch().get_window_extent() for text in ax.texts]


def test_every_node_and_line_is_drawn():
    graph = find_constraints(GENRES).graph()
    ax = plot_constraints(graph)
    assert {text.get_text() for text in ax.texts} == {
        "cinema\n= film", "jazz", "music", "news", "rock", "swing", "western"
    }  # fmt: skip
    lines = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    # A subset has a line and a head, an exclusion a line.
    assert len(lines) == 2 * len(graph.subsets) + len(graph.exclusions)
    assert "more follow" in ax.get_title()


def test_boxes_do_not_lie_upon_each_other():
    ax = plot_constraints(find_constraints(GENRES).graph())
    assert not any(first.overlaps(second) for first, second in combinations(boxes(ax), 2))


@pytest.mark.parametrize("name", ["enron", "genbase", "medical", "yeast"])
def test_pictures_of_real_data_can_be_read(name, data_folder):
    found = find_constraints(load(name, data_folder), alpha=0.05, tolerance=0.1)
    ax = plot_constraints(found.graph())
    extents = boxes(ax)
    assert not any(first.overlaps(second) for first, second in combinations(extents, 2))
    inside = ax.figure.bbox
    assert all(
        inside.contains(box.x0, box.y0) and inside.contains(box.x1, box.y1) for box in extents
    )


def test_given_axes_are_used():
    _, ax = pyplot.subplots()
    assert plot_constraints(find_constraints(GENRES).graph(), ax) is ax


def test_too_much_and_nothing_are_refused():
    many = np.eye(90, dtype=int)
    with pytest.raises(ValueError, match="a plot can show 80 and 160: find constraints with alpha"):
        plot_constraints(find_constraints(many, groups=False).graph())
    with pytest.raises(ValueError, match="no constraints to draw"):
        plot_constraints(find_constraints([[0, 1], [1, 1], [0, 0], [1, 0]]).graph())
