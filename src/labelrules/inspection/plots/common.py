"""Colours, axes and legends of all plots, and the order of the labels in plots of dependencies."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from labelrules._checks import one_of
from labelrules._types import Mask
from labelrules.constraints.constraint import Constraints
from labelrules.inspection.dependencies import LabelGraph, label_graph
from labelrules.inspection.tracing import label_number
from labelrules.rules import Theory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Source: TypeAlias = LabelGraph | Theory | Constraints  # or a fitted learner

# Colours that the colour-blind can distinguish, and names as text even if they look like formulas.
GREY, VERMILION, PURPLE, YELLOW = "#6a6a6a", "#d55e00", "#8a3b7d", "#fff1b0"
NAMES: dict[str, Any] = {"ha": "center", "fontsize": 9, "parse_math": False}
MAX_LABELS = 300  # labels that a plot can show; a larger one would take gigabytes
LONGEST = 44  # letters of a name; the middle of a longer one is left out


def check_matplotlib() -> None:
    """Refuse to draw without the extra for it."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "labelrules[plot]"') from None


def new_axes(width: float, height: float) -> "Axes":
    """Axes in a new figure of this size, in inches."""
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax


def legend_below(ax: "Axes", handles: Any, n_columns: int, fontsize: float = 9) -> None:
    """A legend below the axes."""
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=n_columns,
        frameon=False, fontsize=fontsize, handlelength=3.0,
    )  # fmt: skip


def graph_and_labels(
    source: Source, order: str | Sequence[str], only_dependent: bool
) -> tuple[LabelGraph, list[int]]:
    """The graph that a plot shows, and its labels in their order."""
    graph = source if isinstance(source, LabelGraph) else label_graph(source)
    labels = ordered_labels(graph, order, only_dependent)
    if not labels:
        raise ValueError("there is nothing to draw: no rule predicts a label by testing another")
    if len(labels) > MAX_LABELS:
        raise ValueError(
            f"there are {len(labels)} labels, and a plot can show {MAX_LABELS}: name some in "
            "order" + ("" if only_dependent else ", or try only_dependent=True")
        )
    return graph, labels


def shown_name(name: str) -> str:
    """A name on one line, and not too long.

    >>> shown_name("a label with a name of very many words, too many to be shown")
    'a label with a name of very …to be shown'
    """
    line = "".join(character if character.isprintable() else " " for character in name)
    return line if len(line) <= LONGEST else f"{line[:28]}…{line[-11:]}"


def ordered_labels(
    graph: LabelGraph, order: str | Sequence[str] = "data", only_dependent: bool = False
) -> list[int]:
    """The labels to show, by number; see `plot_dependency_matrix` for the orders."""
    joined = graph.adjacency | graph.adjacency.T
    labels = _chosen(graph, order, joined)
    return [label for label in labels if joined[label].any()] if only_dependent else labels


def _chosen(graph: LabelGraph, order: str | Sequence[str], joined: Mask) -> list[int]:
    names = graph.schema.labels
    if not isinstance(order, str):
        if len(set(order)) < len(order):
            raise ValueError("order names a label twice")
        return [label_number(name, graph.schema) for name in order]
    one_of(order, "order", ("data", "name", "related"), also="a list of labels")
    if order == "name":
        return sorted(range(len(names)), key=lambda label: _natural(names[label]))
    return _related(joined) if order == "related" else list(range(len(names)))


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Class2 comes before Class10."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def _related(joined: Mask) -> list[int]:
    """Labels with similar neighbours together, those without neighbours at the end."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import pdist

    linked = np.flatnonzero(joined.any(axis=1))
    alone = np.flatnonzero(~joined.any(axis=1)).tolist()
    if len(linked) < 3:
        return [*linked.tolist(), *alone]
    # Each label is its own neighbour, so that two linked labels are alike.
    profile = joined[np.ix_(linked, linked)] | np.eye(len(linked), dtype=np.bool_)
    distances = pdist(profile, "jaccard")
    tree = optimal_leaf_ordering(linkage(distances, "average"), distances)
    return [*linked[leaves_list(tree)].tolist(), *alone]
