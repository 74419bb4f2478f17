"""The graph of label dependencies as a picture, drawn with matplotlib."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrules._messages import number_of
from labelrules._types import Floats
from labelrules.inspection.dependencies import Edge, LabelGraph
from labelrules.inspection.labelorder import Source, graph_and_labels, shown_name
from labelrules.inspection.plot import GREY, VERMILION, check_matplotlib

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

MAX_ARROWS = 1500
"""Arrows that a picture can hold; more could not be told apart."""

_SIGNS: dict[str, Any] = {"+": "-", "-": (0, (4, 2)), "+-": (0, (6, 2, 1, 2))}
"""The kind of line for each sign."""

_NO_CIRCLE: dict[str, Any] = {"color": GREY, "linewidth": 0.8}
_IN_CIRCLE: dict[str, Any] = {"color": VERMILION, "linewidth": 1.0}
_MUTUAL: dict[str, Any] = {"color": VERMILION, "linewidth": 2.0}

_FONT, _LINE = 8.0, 0.16
"""The size of names, in points, and the place that each has on the rim, in inches."""


def plot_label_graph(
    source: Source,
    ax: "Axes | None" = None,
    *,
    order: str | Sequence[str] = "data",
    only_dependent: bool = True,
) -> "Axes":
    r"""Draw which labels are told by which others as arrows between labels on a rim.

    An arrow leads from the label that is tested to the one that is told. It is solid if presence
    tells presence or absence absence, dashed if the one tells the other, dashed and dotted if
    both is so.

    Labels that depend on each other in a circle have the number of their circle, the largest
    circle first. Arrows within a circle are red, and thick if two labels tell each other
    directly; the others are thin and grey.

    Parameters
    ----------
    source : LabelGraph, Theory or Constraints
        A theory or constraints are turned into a graph by `label_graph`.
    ax : matplotlib Axes, optional
        Where to draw; if left out, in a new figure of fitting size.
    order : {"data", "name", "related"} or sequence of str, default="data"
        Clockwise from the top: as in the data; by name; labels with the same neighbours
        together; or the labels to be shown.
    only_dependent : bool, default=True
        Whether to leave out labels that have to do with no other.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("quality <- sports\nsports <- not quality", load("magazines").schema)
    >>> ax = plot_label_graph(theory)
    >>> ax.get_title()
    '2 dependencies between 2 labels, 1 circle'
    >>> import matplotlib.pyplot
    >>> matplotlib.pyplot.close(ax.figure)
    """
    check_matplotlib()
    graph, labels = graph_and_labels(source, order, only_dependent)
    names = [graph.schema.labels[label] for label in labels]
    edges = [edge for edge in graph.edges() if {edge.tested, edge.told} <= {*names}]
    if len(edges) > MAX_ARROWS:
        raise ValueError(
            f"there are {len(edges)} dependencies, and a graph can hold {MAX_ARROWS} arrows: name "
            "some labels in order, or draw the matrix"
        )
    if ax is None:
        ax = _new_axes([shown_name(name) for name in names])
    places = _places(names)
    circles = _numbered(graph)
    pairs = {(edge.tested, edge.told) for edge in edges}
    styles = {edge: _style(edge, pairs, circles) for edge in edges}
    for edge, style in styles.items():
        _draw_edge(ax, places[edge.tested], places[edge.told], {**style, **_sign(edge)})
    _draw_labels(ax, places, circles)
    shown = len({number for name, number in circles.items() if name in places})
    _finish(ax, _title(len(edges), len(names), shown))
    _add_legend(ax, edges, [*styles.values()])
    return ax


def _numbered(graph: LabelGraph) -> dict[str, int]:
    """The number of the circle that a label is in."""
    return {name: n for n, circle in enumerate(graph.components(), 1) for name in circle}


def _style(edge: Edge, pairs: set[tuple[str, str]], circles: dict[str, int]) -> dict[str, Any]:
    if edge.tested not in circles or circles[edge.tested] != circles.get(edge.told):
        return _NO_CIRCLE
    return _MUTUAL if (edge.told, edge.tested) in pairs else _IN_CIRCLE


def _sign(edge: Edge) -> dict[str, Any]:
    return {"linestyle": _SIGNS[edge.sign]}


def _title(n_edges: int, n_labels: int, n_circles: int) -> str:
    edges, labels = number_of("dependency", n_edges), number_of("label", n_labels)
    circles = number_of("circle", n_circles) if n_circles else "no circle"
    return f"{edges} between {labels}, {circles}"


# ---------------------------------------------------------------- drawing


def _places(names: list[str]) -> dict[str, Floats]:
    """Where each label is on the rim, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    return dict(zip(names, np.column_stack([np.cos(angles), np.sin(angles)]), strict=True))


def _new_axes(names: list[str]) -> "Axes":
    from matplotlib import pyplot

    n = len(names)
    radius = max(n * _LINE / (2 * np.pi), min(1.5 + 0.05 * n, 4.0))
    margin = 0.35 + 0.62 * _FONT / 72 * max(len(name) for name in names)
    side = 2 * (radius + margin)
    _, ax = pyplot.subplots(figsize=(max(side, 4.4), side + 0.9), layout="constrained")
    reach = 1 + margin / radius
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-reach, reach)
    return ax


def _draw_edge(ax: "Axes", start: Floats, end: Floats, style: dict[str, Any]) -> None:
    """A curve that bends to the middle, a little to its left, so that the way back is another."""
    from matplotlib.patches import Circle, FancyArrowPatch

    if (start == end).all():
        x, y = start * 0.93
        ax.add_patch(Circle((x, y), 0.06, fill=False, zorder=2, **style))
        return
    curve: dict[str, Any] = {
        "posA": start,
        "posB": end,
        "connectionstyle": f"arc3,rad={_bend(start, end)}",
        "shrinkA": 5,
        "shrinkB": 6,
    }
    ax.add_patch(FancyArrowPatch(**curve, arrowstyle="-", zorder=2, **style))
    # The head on its own, for that of a dashed line would have a dashed border.
    size = 8 + 3 * style["linewidth"]
    head = {"arrowstyle": "-|>", "mutation_scale": size, "linewidth": 0, "color": style["color"]}
    ax.add_patch(FancyArrowPatch(**curve, zorder=3, **head))


def _bend(start: Floats, end: Floats) -> float:
    """How far a curve bends to its right, in lengths of the straight line.

    Neighbours are joined along the rim, labels on opposite sides through the middle.
    """
    way = end - start
    length = float(np.hypot(*way))
    left, right = np.array([-way[1], way[0]]) / length, np.array([way[1], -way[0]]) / length
    inwards = -(start + end) / 2 * min(0.42 * length, 0.8)
    return float((inwards + 0.05 * left) @ right / length)


def _draw_labels(ax: "Axes", places: dict[str, Floats], circles: dict[str, int]) -> None:
    for name, (x, y) in places.items():
        number = circles.get(name)
        fill = "white" if number is None else VERMILION
        ax.plot(x, y, "o", markersize=10 if number else 5, color=fill, markeredgecolor="black",
                markeredgewidth=0.7, zorder=4)  # fmt: skip
        if number is not None:
            ax.annotate(str(number), (x, y), fontsize=6.5, ha="center", va="center", zorder=5)
        angle = float(np.degrees(np.arctan2(y, x)))
        on_the_left = x < -1e-9
        ax.annotate(
            shown_name(name), (x, y), xytext=(9 * x, 9 * y), textcoords="offset points",
            rotation=angle - 180 if on_the_left else angle, rotation_mode="anchor", va="center",
            ha="right" if on_the_left else "left", fontsize=_FONT, parse_math=False,
            annotation_clip=False,
        )  # fmt: skip


def _finish(ax: "Axes", title: str) -> None:
    ax.set_title(title, fontsize=10)
    ax.set_aspect("equal")
    ax.set_axis_off()


def _add_legend(ax: "Axes", edges: list[Edge], styles: list[dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    signs = {"+": "same sign", "-": "opposite sign", "+-": "both"}
    ways = [
        ("in a circle", _IN_CIRCLE),
        ("two tell each other", _MUTUAL),
        ("in no circle", _NO_CIRCLE),
    ]
    seen = {edge.sign for edge in edges}
    handles: list[Artist] = [
        Line2D([], [], color="black", linestyle=_SIGNS[sign], label=words)
        for sign, words in signs.items()
        if sign in seen
    ]
    handles += [Line2D([], [], label=words, **way) for words, way in ways if way in styles]
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False,
        fontsize=8, handlelength=3.0,
    )  # fmt: skip
