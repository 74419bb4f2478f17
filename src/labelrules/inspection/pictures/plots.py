"""Plots by matplotlib: label dependencies, constraints, searches for a head."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrules._checks import counted
from labelrules.constraints.graph import ConstraintGraph, ConstraintLink, Node
from labelrules.inspection.pictures.layouts import (
    WIDE,
    Arrow,
    CircleLayout,
    Mark,
    MatrixLayout,
    PlacedHead,
    PlacedLabel,
    Point,
    Source,
    check_constraints,
    check_searches,
    constraint_places,
    constraints_title,
    counted_heads,
    cut_depths,
    head_mark,
    head_places,
    line_width,
    node_text,
    strokes,
)
from labelrules.search import SearchTree

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Colours that the colour-blind can distinguish, and names as text even if they look like formulas.
GREY, VERMILION, PURPLE, YELLOW = "#6a6a6a", "#d55e00", "#8a3b7d", "#fff1b0"
NAMES: dict[str, Any] = {"ha": "center", "fontsize": 9, "parse_math": False}

FULL, PARTIAL = "#0072b2", "#009e73"  # the chapter's blue and green, safe for the colour-blind
_SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
_DISC = tuple((float(np.cos(a)), float(np.sin(a))) for a in np.linspace(0, 2 * np.pi, 17)[:-1])
_THINNEST_SIGN = 0.9  # points of the strokes of a sign: a dot wide even on a coarse screen
_WIDE = 6.0  # inches; a narrower figure has no room for the title of its legend on one line

_SIGNS: dict[str, Any] = {"+": "-", "-": (0, (4, 2)), "+-": (0, (6, 2, 1, 2))}  # line styles
_NO_CYCLE, _IN_CYCLE = GREY, VERMILION
_FONT, _LINE = 8.0, 0.18  # size of names in points, and their space on the circle in inches

_SUBSET: dict[str, Any] = {"linestyle": "-", "color": "black"}
_EXCLUSION: dict[str, Any] = {"linestyle": (0, (4, 3)), "color": VERMILION}
_COLUMN = 2.4  # inches from one column to the next, if names are short

_FATES: dict[str, dict[str, Any]] = {  # the border of a head, and the line that leads to it
    "evaluated": {"linestyle": "-", "edgecolor": "black", "linewidth": 0.9},
    "pruned": {"linestyle": "--", "edgecolor": VERMILION, "linewidth": 1.4},
    "skipped": {"linestyle": ":", "edgecolor": GREY, "linewidth": 0.9},
}
_MARKS: dict[str, dict[str, Any]] = {  # the border of a special head
    "": {},
    "best": {"linestyle": "-", "edgecolor": "black", "linewidth": 2.4, "facecolor": YELLOW},
    "as good": {"linestyle": "-", "edgecolor": "black", "linewidth": 2.4},
    "missed": {"linestyle": ":", "edgecolor": PURPLE, "linewidth": 2.6},
}
_WORDS = {
    "evaluated": "evaluated",
    "pruned": "evaluated and pruned",
    "skipped": "not evaluated",
    "best": "the best head found",
    "as good": "as good",
    "missed": "better, but missed",
}
_CUTS: dict[str, dict[str, Any]] = {  # the line below which a strategy evaluated nothing
    "tree": {"color": "#0072b2", "linestyle": (0, (6, 3)), "linewidth": 1.8},
    "breadth-first": {"color": "#009e73", "linestyle": "-.", "linewidth": 1.8},
    "decomposable": {"color": "#444444", "linestyle": "-", "linewidth": 1.8},
}


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


# -------------------------------------------------------------------- the matrix


def plot_dependency_matrix(
    source: Source,
    ax: "Axes | None" = None,
    *,
    order: str | Sequence[str] = "data",
    only_dependent: bool = False,
) -> "Axes":
    """Draw label dependencies as a matrix of labels by labels, like the chapter's figure.

    In the cell of a row and a column, the two upper corners show rules that predict the label of
    the row by testing that of the column, the lower ones the opposite direction. A square on the
    left shows rules that test labels only, a disc on the right rules that test features too.

    Unlike in the chapter's figure, a mark has a sign. Plus: presence predicts presence, or absence
    absence; minus: the one predicts the other. The larger the mark, the more often the rules wrote
    the label; the darker, the more often they were right; white without evidence. The cells of
    parents and children in a hierarchy of labels have a frame.

    Parameters
    ----------
    source : LabelGraph, Theory, fitted learner or Constraints
        All but a graph are turned into one by `label_graph`.
    ax : matplotlib Axes, optional
        Where to draw; if left out, in a new figure of fitting size.
    order : {"data", "name", "related"} or sequence of str, default="data"
        As in the data; by name, with numbers by their value; labels with the same neighbours
        together; or the labels to be shown.
    only_dependent : bool, default=False
        Whether to leave out labels without dependencies.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("not sports <- fashion", load("magazines").schema)
    >>> ax = plot_dependency_matrix(theory)
    >>> ax.get_title()
    '1 dependency between 4 labels'
    >>> import matplotlib.pyplot
    >>> matplotlib.pyplot.close(ax.figure)
    """
    check_matplotlib()
    layout = MatrixLayout.of(source, order, only_dependent)
    is_ours = ax is None
    if ax is None:
        ax = _matrix_axes(layout)
    _draw_grid(ax, layout)
    _draw_marks(ax, layout.marks)
    _draw_names(ax, layout.names, is_ours and layout.is_large)
    ax.set_title(layout.title, fontsize=10)
    _matrix_legend(ax, layout.marks, is_ours)
    return ax


def _cell(n_labels: int) -> float:
    """Inches of a cell: large for a few labels, and never so small that marks cannot be read."""
    return float(np.clip(13 / n_labels, 0.26, 0.62))


def _matrix_axes(layout: MatrixLayout) -> "Axes":
    names = layout.names
    cell = _cell(len(names))
    margin = 0.3 + 0.0085 * _font_size(len(names)) * max(len(name) for name in names)
    side = cell * len(names) + margin * (2 if layout.is_large else 1)
    return new_axes(max(side, 4.6), max(side, 3.2) + 1.3)


def _font_size(n_labels: int) -> float:
    return float(np.clip(72 * 0.62 * _cell(n_labels), 7.5, 10))


def _draw_grid(ax: "Axes", layout: MatrixLayout) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    n = len(layout.names)
    ends = [i - 0.5 for i in range(n + 1)]
    lines = [[(-0.5, y), (n - 0.5, y)] for y in ends] + [[(x, -0.5), (x, n - 0.5)] for x in ends]
    # Every fifth line is darker, for the eye to follow.
    colors = ["#a8a8a8" if layout.is_large and i % 5 == 0 else "#d4d4d4" for i in range(n + 1)]
    ax.add_collection(LineCollection(lines, colors=colors * 2, linewidths=0.5, zorder=1))
    for i in range(n):
        ax.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, facecolor="#e4e4e4", zorder=0))
    for row, column in layout.relatives:
        ax.add_patch(
            Rectangle(
                (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="black", linewidth=1.2,
                zorder=2,
            )
        )  # fmt: skip
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_aspect("equal")


def _draw_marks(ax: "Axes", marks: Sequence[Mark]) -> None:
    """Squares and discs, and upon them their signs."""
    from matplotlib.collections import LineCollection, PolyCollection

    for is_full, shape, color in ((True, _SQUARE, FULL), (False, _DISC, PARTIAL)):
        shown = [mark for mark in marks if mark.is_full == is_full]
        ax.add_collection(
            PolyCollection(
                [[_moved(mark, point) for point in shape] for mark in shown],
                facecolors=[_shade(color, mark.strength) for mark in shown],
                edgecolors=color,
                linewidths=0.7,
                zorder=3,
            )
        )
    for color in ("white", "black"):
        lines = [
            [_moved(mark, point) for point in stroke]
            for mark in marks
            if _ink(mark.strength) == color
            for stroke in strokes(mark.signs)
        ]
        width = max(0.05 * 72 * _inches_of_a_cell(ax), _THINNEST_SIGN)
        ax.add_collection(LineCollection(lines, colors=color, linewidths=width, zorder=4))


def _inches_of_a_cell(ax: "Axes") -> float:
    box = ax.get_window_extent()
    n = abs(ax.get_xlim()[1] - ax.get_xlim()[0])
    return float(min(box.width, box.height) / ax.figure.dpi / n)


def _moved(mark: Mark, point: Point) -> Point:
    (x, y), half = mark.place, mark.half
    return x + half * point[0], y + half * point[1]


def _shade(color: str, strength: float) -> tuple[float, float, float]:
    """From light, if never right, to the full colour, if always; white if nothing is known."""
    from matplotlib.colors import to_rgb

    depth = 0.0 if np.isnan(strength) else 0.2 + 0.8 * strength
    red, green, blue = (1 - depth * (1 - part) for part in to_rgb(color))
    return red, green, blue


def _ink(strength: float) -> str:
    """In which colour a sign is seen on a mark."""
    return "white" if strength > 0.65 else "black"


def _draw_names(ax: "Axes", names: Sequence[str], around: bool) -> None:
    size = min(72 * 0.62 * _inches_of_a_cell(ax), 10)
    places = range(len(names))
    written: dict[str, Any] = {"fontsize": max(size, 5), "parse_math": False}
    ax.set_yticks(places, names, **written)
    ax.set_xticks(places, names, rotation=90, **written)
    sides = {"labeltop": True, "labelbottom": around, "labelleft": True, "labelright": around}
    ax.tick_params(axis="both", length=0, pad=2, **sides)
    for spine in ax.spines.values():
        spine.set_color(GREY)


def _inches_wide(ax: "Axes") -> float:
    return float(ax.figure.bbox.width / ax.figure.dpi)


def _matrix_legend(ax: "Axes", marks: Sequence[Mark], is_ours: bool) -> None:
    """Below the axes; in a figure of our own at its lower edge, where there is room for it."""
    corners = ["upper corners: row predicted by column", "lower corners: column predicted by row"]
    words: dict[str, Any] = {
        "handles": _matrix_handles(marks),
        "frameon": False,
        "fontsize": 8,
        "handlelength": 1.4,
        "columnspacing": 1.2,
        "title": ("\n" if is_ours and _inches_wide(ax) < _WIDE else "; ").join(corners),
        "title_fontsize": 8,
        "ncols": 4,
    }
    if is_ours:
        ax.figure.legend(loc="outside lower center", **words)
    else:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), **words)


def _matrix_handles(marks: Sequence[Mark]) -> "list[Artist]":
    from matplotlib.lines import Line2D

    def sample(shape: str, words: str, color: str, fill: Any) -> "Artist":
        return Line2D(
            [], [], marker=shape, linestyle="", markersize=9, markerfacecolor=fill,
            markeredgecolor=color, label=words,
        )  # fmt: skip

    handles = [
        sample("s", "labels only", FULL, FULL),
        sample("o", "labels and features", PARTIAL, PARTIAL),
        sample("+", "same sign", "black", "black"),
        sample("_", "opposite sign", "black", "black"),
    ]
    if any(not np.isnan(mark.strength) for mark in marks):
        handles += [
            sample("s", "right 1/2", FULL, _shade(FULL, 0.5)),
            sample("s", "always right", FULL, FULL),
        ]
    if any(np.isnan(mark.strength) for mark in marks):
        handles.append(sample("s", "no evidence", FULL, "white"))
    return handles


# -------------------------------------------------------------------- the graph of labels


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
    layout = CircleLayout.of(source, order, only_dependent)
    if ax is None:
        ax = _graph_axes([label.name for label in layout.labels])
    for arrow in layout.arrows:
        _draw_arrow(ax, arrow)
    for label in layout.labels:
        _draw_label(ax, label)
    ax.set_title(layout.title, fontsize=10)
    ax.set_aspect("equal")
    ax.set_axis_off()
    _graph_legend(ax, layout)
    return ax


def _graph_axes(names: list[str]) -> "Axes":
    n = len(names)
    radius = max(n * _LINE / (2 * np.pi), min(1.5 + 0.05 * n, 4.0))
    margin = 0.35 + 0.62 * _FONT / 72 * max(len(name) for name in names)
    side = 2 * (radius + margin)
    ax = new_axes(max(side, 4.4), side + 0.9)
    reach = 1 + margin / radius
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-reach, reach)
    return ax


def _draw_arrow(ax: "Axes", arrow: Arrow) -> None:
    """A curve that bends to the middle, a little to its left, so that opposite arrows differ."""
    from matplotlib.patches import Circle, FancyArrowPatch

    start = arrow.start
    if arrow.is_loop:
        x, y = start * 0.93
        ax.add_patch(Circle((x, y), 0.06, fill=False, zorder=2, **_line(arrow)))
        ax.plot(*(start * 0.87), "o", markersize=5, zorder=3, **_filled(arrow))
        return
    curve: dict[str, Any] = {
        "posA": start,
        "posB": arrow.end,
        "connectionstyle": f"arc3,rad={arrow.bend}",
        "shrinkA": 5,
    }
    ax.add_patch(FancyArrowPatch(**curve, shrinkB=8, arrowstyle="-", zorder=2, **_line(arrow)))
    # The head on its own, for that of a dashed line would have a dashed border. An open one is
    # filled with a smaller white one.
    size = 13 + 2.5 * arrow.width
    head: dict[str, Any] = {"arrowstyle": "-|>", "linewidth": 0}
    for part, color in ((1.0, _color(arrow)), *([] if arrow.is_full else [(0.55, "white")])):
        inset = 0.4 * size * (1 - part) * 0.6
        ax.add_patch(
            FancyArrowPatch(
                **curve, **head, shrinkB=6 + inset, mutation_scale=size * part, color=color,
                zorder=3,
            )
        )  # fmt: skip


def _color(arrow: Arrow) -> str:
    """Orange in a cycle, grey elsewhere."""
    return _IN_CYCLE if arrow.in_cycle else _NO_CYCLE


def _line(arrow: Arrow) -> dict[str, Any]:
    """The style of the line."""
    style = {"linestyle": _SIGNS[arrow.edge.sign], "capstyle": "butt"}
    return {**style, "color": _color(arrow), "linewidth": arrow.width}


def _filled(arrow: Arrow) -> dict[str, Any]:
    fill = _color(arrow) if arrow.is_full else "white"
    return {"markerfacecolor": fill, "markeredgecolor": _color(arrow), "markeredgewidth": 1.0}


def _draw_label(ax: "Axes", label: PlacedLabel) -> None:
    x, y, number = label.x, label.y, label.number
    edge = "black" if number is None else VERMILION
    ax.plot(x, y, "o", markersize=9.5 if number else 5, color="white", markeredgecolor=edge,
            markeredgewidth=1.2 if number else 0.7, zorder=4)  # fmt: skip
    if number is not None:
        ax.annotate(str(number), (x, y), fontsize=6.5, fontweight="bold", ha="center",
                    va="center_baseline", zorder=5)  # fmt: skip
    angle = float(np.degrees(np.arctan2(y, x)))
    ax.annotate(
        label.name, (x, y), xytext=(9 * x, 9 * y), textcoords="offset points",
        rotation=angle - 180 if label.on_the_left else angle, rotation_mode="anchor", va="center",
        ha="right" if label.on_the_left else "left", fontsize=_FONT, parse_math=False,
        annotation_clip=False,
    )  # fmt: skip


def _graph_legend(ax: "Axes", layout: CircleLayout) -> None:
    from matplotlib.lines import Line2D

    signs = {"+": "same sign", "-": "opposite sign", "+-": "both signs"}
    arrows, most = layout.arrows, layout.most
    heads = {True: "labels only", False: "labels and features"}
    cycles = {True: "in a cycle", False: "in no cycle"}

    def line(words: str, **how: Any) -> "Artist":
        return Line2D([], [], label=words, **{"color": "black", "linewidth": 1.2, **how})

    handles = [
        line(words, linestyle=_SIGNS[sign])
        for sign, words in signs.items()
        if sign in {arrow.edge.sign for arrow in arrows}
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
        line(f"written {counted(support, 'time')}", linewidth=line_width(support, most))
        for support in _examples(most)
    ]
    legend_below(ax, handles, 3, fontsize=8)


def _examples(most: int) -> list[int]:
    """Supports whose widths the legend shows: a tenth of the greatest, and the greatest."""
    return sorted({max(most // 10, 1), most}) if most else []


# -------------------------------------------------------------------- constraints


def plot_constraints(graph: ConstraintGraph, ax: "Axes | None" = None) -> "Axes":
    """Draw subset and exclusion constraints between pairs of labels.

    Arrows lead from a label to those without which it does not occur, one column to the left;
    dashed lines join labels that exclude each other. Labels that imply each other share a box.
    Constraints that follow from the drawn ones are left out.

    Parameters
    ----------
    graph : ConstraintGraph
        From :meth:`labelrules.constraints.Constraints.graph`.
    ax : matplotlib Axes, optional
        Where to draw; if left out, in a new figure of fitting size.

    Examples
    --------
    >>> from labelrules.constraints import find_constraints
    >>> Y = [{"music", "jazz"}, {"music", "rock"}, {"music"}, {"news"}]
    >>> ax = plot_constraints(find_constraints(Y).graph())
    >>> ax.get_title()
    '4 constraints between 4 labels; 2 more follow from them'
    >>> import matplotlib.pyplot
    >>> matplotlib.pyplot.close(ax.figure)
    """
    check_matplotlib()
    check_constraints(graph)
    places = constraint_places(graph)
    if ax is None:
        ax = _constraint_axes(places)
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": GREY}
    boxes = {
        node: ax.text(x, -y, _box_text(node), bbox=box, zorder=3, va="center", **NAMES)
        for node, (x, y) in places.items()
    }
    for link in graph.subsets:
        _draw_link(ax, link, boxes, places, _SUBSET)
    for link in graph.exclusions:
        _draw_link(ax, link, boxes, places, _EXCLUSION)
    _finish_constraints(ax, graph, places)
    return ax


def _box_text(node: Node) -> str:
    return "\n= ".join(node)


def _constraint_axes(places: dict[Node, tuple[float, float]]) -> "Axes":
    columns = [x for x, _ in places.values()]
    heights = [y for _, y in places.values()]
    longest = max(len(label) for node in places for label in node)
    width = max(_COLUMN, 0.09 * longest + 1.2) * (max(columns) - min(columns) + 1)
    height = 0.38 * (max(heights) - min(heights) + 1) + 1.2
    return new_axes(max(width, 5.0), max(height, 2.5))


def _draw_link(
    ax: "Axes",
    link: ConstraintLink,
    boxes: "dict[Node, Text]",
    places: dict[Node, tuple[float, float]],
    style: dict[str, Any],
) -> None:
    """A line behind two boxes; one that would run through its column bends to the right.

    Its head is drawn after the boxes, whose size is known only then.
    """
    from matplotlib.patches import FancyArrowPatch

    start, end = ((places[node][0], -places[node][1]) for node in (link.below, link.above))
    bend = 0.0
    if start[0] == end[0]:
        bend = 0.35 if start[1] < end[1] else -0.35
    curve: dict[str, Any] = {"connectionstyle": f"arc3,rad={bend}", "shrinkA": 0, "shrinkB": 0}
    ax.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-", linewidth=1.0, zorder=2, **curve, **style)
    )
    if style is _SUBSET:
        target = boxes[link.above].get_bbox_patch()
        head: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 11, "linewidth": 0}
        head["patchB"] = target
        ax.add_patch(FancyArrowPatch(start, end, color=style["color"], zorder=4, **head, **curve))


def _finish_constraints(
    ax: "Axes", graph: ConstraintGraph, places: dict[Node, tuple[float, float]]
) -> None:
    from matplotlib.lines import Line2D

    ax.set_title(constraints_title(graph), fontsize=10)
    columns, heights = zip(*places.values(), strict=True)
    ax.set_xlim(min(columns) - 0.5, max(columns) + 0.5)
    ax.set_ylim(-max(heights) - 0.8, -min(heights) + 0.8)
    kinds = [
        ("occurs only with", _SUBSET, graph.subsets),
        ("exclude each other", _EXCLUSION, graph.exclusions),
    ]
    handles = [
        Line2D([], [], color=style["color"], linestyle=style["linestyle"], label=words)
        for words, style, links in kinds
        if links
    ]
    legend_below(ax, handles, 2)
    ax.set_axis_off()


# -------------------------------------------------------------------- the search for a head


def plot_search_tree(
    tree: SearchTree,
    ax: "Axes | None" = None,
    label_names: Sequence[str] | None = None,
    *,
    also: Iterable[SearchTree] = (),
) -> "Axes":
    """Draw a search for the best head, like the chapter's figure.

    From the empty head downwards, each head has one label more than the one above it. Below
    the line across the tree the search evaluated nothing; the values there are given in grey.

    Parameters
    ----------
    tree : SearchTree
        From :func:`labelrules.search.search_tree`.
    ax : matplotlib Axes, optional
        Where to draw, best in a figure with ``layout="constrained"``; if left out, in a new
        figure of fitting size.
    label_names : sequence of str, optional
        Names of the labels; they are numbered from 1 if left out.
    also : iterable of SearchTree, optional
        Other searches through the same heads, whose lines are drawn too.

    Examples
    --------
    >>> from labelrules.search import search_tree
    >>> Y = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
    >>> covered = [False, False, False, True, True, True]
    >>> tree = search_tree(Y, covered, "precision/micro/partial", "tree")
    >>> ax = plot_search_tree(tree)
    >>> ax.get_title()
    'precision/micro/partial, tree: 12 of 15 heads evaluated'
    >>> ax.figure.savefig("tree.svg")  # doctest: +SKIP
    >>> import matplotlib.pyplot
    >>> matplotlib.pyplot.close(ax.figure)
    """
    check_matplotlib()
    trees = [tree, *also]
    check_searches(trees, label_names)
    placed, n_columns = head_places(tree)
    stacked = label_names is not None or n_columns > WIDE
    texts = [node_text(p.node, label_names, stacked) for p in placed]
    if ax is None:
        ax = _search_axes(texts, n_columns, n_levels=max(p.depth for p in placed) + 1)
    _draw_edges(ax, placed)
    handles = _draw_heads(ax, tree, placed, texts) + _draw_cuts(ax, trees)
    inches = ax.get_window_extent().width / ax.figure.dpi
    legend_below(ax, handles, max(int(inches / 2.2), 1))
    ax.set_title(f"{tree.measure}, {tree.strategy}: {counted_heads(tree)} evaluated")
    ax.set_xlim(-0.6, n_columns - 0.4)
    ax.set_ylim(-0.9 - max(p.depth for p in placed), 0.1)
    ax.set_axis_off()
    return ax


def _search_axes(texts: list[str], n_columns: int, n_levels: int) -> "Axes":
    """Axes large enough that the heads do not overlap."""
    lines = [text.splitlines() for text in texts]
    width = 0.3 + 0.08 * max(len(line) for text in lines for line in text)
    height = 0.5 + 0.16 * max(len(text) for text in lines)
    return new_axes(max(width * n_columns, 7.5), height * n_levels + 1.0)


def _draw_edges(ax: "Axes", placed: list[PlacedHead]) -> None:
    for p in placed:
        line = {k: v for k, v in _FATES[p.node.fate].items() if k != "edgecolor"}
        color = _FATES[p.node.fate]["edgecolor"]
        # From under the box above to the upper rim of this one, so as to pass over its neighbours.
        ax.plot([p.parent_x, p.x], [0.9 - p.depth, -p.depth], color=color, zorder=1, **line)


def _draw_heads(
    ax: "Axes", tree: SearchTree, placed: list[PlacedHead], texts: list[str]
) -> "list[Artist]":
    """Draw the heads; return a box of each kind for the legend."""
    from matplotlib.patches import Patch

    written = {**NAMES, "va": "top"}
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white"}
    ax.text(placed[-1].parent_x, 0, "∅", bbox={**box, "edgecolor": "black"}, zorder=3, **written)
    kinds: dict[str, dict[str, Any]] = {}
    for p, text in zip(placed, texts, strict=True):
        mark = head_mark(tree, p.node)
        style = {**_FATES[p.node.fate], **_MARKS[mark]}
        color = GREY if p.node.fate == "skipped" and not mark else "black"
        ax.text(p.x, -p.depth, text, color=color, bbox={**box, **style}, zorder=3, **written)
        kinds[mark or p.node.fate] = style
    return [
        Patch(**{"facecolor": "white", **kinds[kind]}, label=words)
        for kind, words in _WORDS.items()
        if kind in kinds
    ]


def _draw_cuts(ax: "Axes", trees: list[SearchTree]) -> "list[Artist]":
    """Draw the lines below which nothing was evaluated; return them for the legend."""
    lines: list[Artist] = []
    cut = [tree for tree in trees if tree.n_evaluated < sum(1 for _ in tree.nodes())]
    for number, tree in enumerate(cut):
        depths = cut_depths(tree)
        x = [-0.55, *range(len(depths)), len(depths) - 0.45]
        y = [-(depth + 0.80 - 0.06 * number) for depth in (depths[0], *depths, depths[-1])]
        label = f"{tree.strategy}: {counted_heads(tree)}"
        lines += ax.step(x, y, where="mid", zorder=2, label=label, **_CUTS[tree.strategy])
    return lines
