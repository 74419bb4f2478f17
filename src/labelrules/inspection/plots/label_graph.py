"""Plots of label dependencies as a graph: arrows between labels on a circle."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labelrules._checks import counted
from labelrules._types import Floats
from labelrules.inspection.dependencies import Edge, LabelGraph, dependencies_text
from labelrules.inspection.plots.common import (
    GREY,
    VERMILION,
    Source,
    check_matplotlib,
    graph_and_labels,
    legend_below,
    new_axes,
    shown_name,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

MAX_ARROWS = 1500  # arrows that a plot can show; more could not be distinguished
_SIGNS: dict[str, Any] = {"+": "-", "-": (0, (4, 2)), "+-": (0, (6, 2, 1, 2))}  # line styles

_NO_CYCLE, _IN_CYCLE = GREY, VERMILION
_THINNEST, _THICKEST = 0.7, 2.8  # widths of lines, in points
_FONT, _LINE = 8.0, 0.18  # size of names in points, and their space on the circle in inches


def plot_label_graph(
    source: Source,
    ax: "Axes | None" = None,
    *,
    order: str | Sequence[str] = "data",
    only_dependent: bool = True,
) -> "Axes":
    r"""Draw label dependencies as arrows between labels on a circle.

    An arrow leads from the tested label to the predicted one. It is solid if rules predict presence
    from presence or absence from absence, dashed if the one from the other, dashed and dotted if
    both; the thicker, the more often they wrote the predicted label. Its head is filled if some
    rule tests labels only, open if all test features too. Labels in cycles carry the number of
    their component, the largest first; arrows within a component are orange, the others grey.

    Parameters
    ----------
    source, ax, order, only_dependent
        As for :func:`plot_dependency_matrix`; the order is clockwise from the top.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("quality <- sports\nsports <- not quality", load("magazines").schema)
    >>> ax = plot_label_graph(theory)
    >>> ax.get_title()
    '2 dependencies between 2 labels, 1 cyclic component'
    >>> import matplotlib.pyplot
    >>> matplotlib.pyplot.close(ax.figure)
    """
    check_matplotlib()
    graph, labels = graph_and_labels(source, order, only_dependent)
    names = [graph.schema.labels[label] for label in labels]
    edges = edges_between(graph, names)
    if ax is None:
        ax = _new_axes([shown_name(name) for name in names])
    places = circle_places(names)
    cycles = component_numbers(graph)
    most = max((edge.support for edge in edges), default=0)
    arrows = [Arrow.of(edge, cycles, most) for edge in edges]
    for edge, arrow in zip(edges, arrows, strict=True):
        _draw_edge(ax, places[edge.tested], places[edge.predicted], arrow)
    _draw_labels(ax, places, cycles)
    shown = len({number for name, number in cycles.items() if name in places})
    ax.set_title(graph_title(len(edges), len(names), shown), fontsize=10)
    ax.set_aspect("equal")
    ax.set_axis_off()
    _add_legend(ax, arrows, most)
    return ax


def edges_between(graph: LabelGraph, names: list[str]) -> list[Edge]:
    """The dependencies between these labels, if they are not too many to be drawn."""
    edges = [edge for edge in graph.edges() if {edge.tested, edge.predicted} <= {*names}]
    if len(edges) > MAX_ARROWS:
        raise ValueError(
            f"there are {len(edges)} dependencies, and a plot can show {MAX_ARROWS} arrows: name "
            "some labels in order, or draw the matrix"
        )
    return edges


class Arrow(NamedTuple):
    """How a dependency is drawn."""

    sign: str
    is_full: bool
    in_cycle: bool
    width: float

    @classmethod
    def of(cls, edge: Edge, cycles: dict[str, int], most: int) -> "Arrow":
        """By its sign, its kind, its place, and its support as a part of the greatest."""
        in_cycle = edge.tested in cycles and cycles[edge.tested] == cycles.get(edge.predicted)
        return cls(edge.sign, edge.n_full > 0, in_cycle, _width(edge.support, most))

    @property
    def color(self) -> str:
        """Orange in a cycle, grey elsewhere."""
        return _IN_CYCLE if self.in_cycle else _NO_CYCLE

    @property
    def line(self) -> dict[str, Any]:
        """The style of the line for matplotlib."""
        style = {"linestyle": _SIGNS[self.sign], "capstyle": "butt"}
        return {**style, "color": self.color, "linewidth": self.width}


def _width(support: int, most: int) -> float:
    """From the thinnest to the thickest line by the root of the support."""
    share = float(np.sqrt(support / most)) if most else 0.0
    return _THINNEST + (_THICKEST - _THINNEST) * share


def component_numbers(graph: LabelGraph) -> dict[str, int]:
    """The number of the cyclic component that a label is in."""
    return {name: n for n, group in enumerate(graph.components(), 1) for name in group}


def graph_title(n_edges: int, n_labels: int, n_cycles: int) -> str:
    """How many dependencies, labels and cyclic components are shown."""
    cycles = counted(n_cycles, "cyclic component") if n_cycles else "no cycle"
    return f"{dependencies_text(n_edges, n_labels)}, {cycles}"


def circle_places(names: list[str]) -> dict[str, Floats]:
    """Where each label is on the circle, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    return dict(zip(names, np.column_stack([np.cos(angles), np.sin(angles)]), strict=True))


def _new_axes(names: list[str]) -> "Axes":
    n = len(names)
    radius = max(n * _LINE / (2 * np.pi), min(1.5 + 0.05 * n, 4.0))
    margin = 0.35 + 0.62 * _FONT / 72 * max(len(name) for name in names)
    side = 2 * (radius + margin)
    ax = new_axes(max(side, 4.4), side + 0.9)
    reach = 1 + margin / radius
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-reach, reach)
    return ax


def _draw_edge(ax: "Axes", start: Floats, end: Floats, arrow: Arrow) -> None:
    """A curve that bends to the middle, a little to its left, so that opposite arrows differ."""
    from matplotlib.patches import Circle, FancyArrowPatch

    if (start == end).all():
        x, y = start * 0.93
        ax.add_patch(Circle((x, y), 0.06, fill=False, zorder=2, **arrow.line))
        ax.plot(*(start * 0.87), "o", markersize=5, zorder=3, **_filled(arrow))
        return
    curve: dict[str, Any] = {
        "posA": start,
        "posB": end,
        "connectionstyle": f"arc3,rad={bend(start, end)}",
        "shrinkA": 5,
    }
    ax.add_patch(FancyArrowPatch(**curve, shrinkB=8, arrowstyle="-", zorder=2, **arrow.line))
    # The head on its own, for that of a dashed line would have a dashed border. An open one is
    # filled with a smaller white one.
    size = 13 + 2.5 * arrow.width
    head: dict[str, Any] = {"arrowstyle": "-|>", "linewidth": 0}
    for part, color in ((1.0, arrow.color), *([] if arrow.is_full else [(0.55, "white")])):
        inset = 0.4 * size * (1 - part) * 0.6
        ax.add_patch(
            FancyArrowPatch(
                **curve, **head, shrinkB=6 + inset, mutation_scale=size * part, color=color,
                zorder=3,
            )
        )  # fmt: skip


def _filled(arrow: Arrow) -> dict[str, Any]:
    fill = arrow.color if arrow.is_full else "white"
    return {"markerfacecolor": fill, "markeredgecolor": arrow.color, "markeredgewidth": 1.0}


def bend(start: Floats, end: Floats) -> float:
    """How far a curve bends to its right, in lengths of the straight line.

    Along the circle between neighbours, with room for the head of an arrow; through the middle
    between opposite labels.
    """
    x, y = end - start
    length = float(np.hypot(x, y))
    left, right = np.array([-y, x]) / length, np.array([y, -x]) / length
    inwards = -(start + end) / 2 * np.clip(0.42 * length, 0.1, 0.8)
    return float((inwards + 0.05 * left) @ right / length)


def _draw_labels(ax: "Axes", places: dict[str, Floats], cycles: dict[str, int]) -> None:
    for name, (x, y) in places.items():
        number = cycles.get(name)
        edge = "black" if number is None else VERMILION
        ax.plot(x, y, "o", markersize=9.5 if number else 5, color="white", markeredgecolor=edge,
                markeredgewidth=1.2 if number else 0.7, zorder=4)  # fmt: skip
        if number is not None:
            ax.annotate(str(number), (x, y), fontsize=6.5, fontweight="bold", ha="center",
                        va="center_baseline", zorder=5)  # fmt: skip
        angle = float(np.degrees(np.arctan2(y, x)))
        on_the_left = x < -1e-9
        ax.annotate(
            shown_name(name), (x, y), xytext=(9 * x, 9 * y), textcoords="offset points",
            rotation=angle - 180 if on_the_left else angle, rotation_mode="anchor", va="center",
            ha="right" if on_the_left else "left", fontsize=_FONT, parse_math=False,
            annotation_clip=False,
        )  # fmt: skip


def _add_legend(ax: "Axes", arrows: list[Arrow], most: int) -> None:
    from matplotlib.lines import Line2D

    signs = {"+": "same sign", "-": "opposite sign", "+-": "both signs"}
    heads = {True: "labels only", False: "labels and features"}
    cycles = {True: "in a cycle", False: "in no cycle"}

    def line(words: str, **how: Any) -> "Artist":
        return Line2D([], [], label=words, **{"color": "black", "linewidth": 1.2, **how})

    handles = [
        line(words, linestyle=_SIGNS[sign])
        for sign, words in signs.items()
        if sign in {arrow.sign for arrow in arrows}
    ]
    handles += [
        line(words, linestyle="", marker=">", markersize=7,
             markerfacecolor="black" if kind else "white")
        for kind, words in heads.items()
        if kind in {arrow.is_full for arrow in arrows}
    ]  # fmt: skip
    handles += [
        line(words, color=_IN_CYCLE if kind else _NO_CYCLE, linewidth=2)
        for kind, words in cycles.items()
        if kind in {arrow.in_cycle for arrow in arrows}
    ]
    handles += [
        line(f"written {counted(support, 'time')}", linewidth=_width(support, most))
        for support in _examples(most)
    ]
    legend_below(ax, handles, 3, fontsize=8)


def _examples(most: int) -> list[int]:
    """Supports whose widths the legend shows: a tenth of the greatest, and the greatest."""
    return sorted({max(most // 10, 1), most}) if most else []
