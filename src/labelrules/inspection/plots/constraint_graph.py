"""Plots of constraint graphs: which labels imply or exclude each other."""

from typing import TYPE_CHECKING, Any

from labelrules._checks import counted
from labelrules.constraints.graph import ConstraintGraph, ConstraintLink, Node
from labelrules.inspection.plots.common import (
    GREY,
    NAMES,
    VERMILION,
    check_matplotlib,
    legend_below,
    new_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

MAX_NODES, MAX_LINES = 80, 160  # nodes and lines that a plot can show; more could not be read

_SUBSET: dict[str, Any] = {"linestyle": "-", "color": "black"}
_EXCLUSION: dict[str, Any] = {"linestyle": (0, (4, 3)), "color": VERMILION}
_COLUMN = 2.4  # inches from one column to the next, if names are short


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
    _check(graph)
    places = _placed(graph)
    if ax is None:
        ax = _new_axes(places)
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": GREY}
    boxes = {
        node: ax.text(x, -y, _text(node), bbox=box, zorder=3, va="center", **NAMES)
        for node, (x, y) in places.items()
    }
    for link in graph.subsets:
        _draw(ax, link, boxes, places, _SUBSET)
    for link in graph.exclusions:
        _draw(ax, link, boxes, places, _EXCLUSION)
    _finish(ax, graph, places)
    return ax


def _check(graph: ConstraintGraph) -> None:
    n_lines = len(graph.subsets) + len(graph.exclusions)
    if len(graph.nodes) > MAX_NODES or n_lines > MAX_LINES:
        raise ValueError(
            f"the graph has {len(graph.nodes)} nodes and {n_lines} lines, and a plot can show "
            f"{MAX_NODES} and {MAX_LINES}: find constraints with alpha=0.05 or a greater "
            "min_support, or print the graph"
        )
    if not graph.nodes:
        raise ValueError("the graph has no constraints to draw")


def _text(node: Node) -> str:
    return "\n= ".join(node)


def _placed(graph: ConstraintGraph) -> dict[Node, tuple[float, float]]:
    """Column and height of each node, from the top."""
    columns: dict[int, list[Node]] = {}
    for node, column in _columns(graph).items():
        columns.setdefault(column, []).append(node)
    near = _neighbours(graph)
    heights: dict[Node, float] = {}
    # The widest column first, as it is; then its neighbours, each beside those it is linked to.
    widest = max(columns, key=lambda column: len(columns[column]))
    for column in sorted(columns, key=lambda number: abs(number - widest)):
        wanted = {node: _middle(near[node], heights) for node in columns[column]}
        order = sorted(columns[column], key=lambda node: wanted[node])
        height = -1.0
        for node in order:
            height = max(wanted[node], height + max(len(node), 1))
            heights[node] = height
    for column, nodes in columns.items():
        # Back to the middle, if the last ones were pushed down.
        pushed = max(heights[node] for node in nodes) - (len(columns[widest]) - 1)
        if column != widest and pushed > 0:
            for node in nodes:
                heights[node] -= pushed / 2
    return {node: (float(column), heights[node]) for column in columns for node in columns[column]}


def _columns(graph: ConstraintGraph) -> dict[Node, int]:
    """Steps below the topmost nodes; labels that only exclude others stand aside."""
    in_tree = {node for link in graph.subsets for node in (link.below, link.above)}
    depth = dict.fromkeys((node for node in graph.nodes if node in in_tree), 0)
    changed = True
    while changed:
        changed = False
        for link in graph.subsets:
            if depth[link.below] <= depth[link.above]:
                depth[link.below] = depth[link.above] + 1
                changed = True
    return _with_others(depth, _neighbours(graph))


def _with_others(depth: dict[Node, int], near: dict[Node, list[Node]]) -> dict[Node, int]:
    """Also those in no tree: on the side of the labels they exclude, one column further out."""
    columns = dict(depth)
    last = max(depth.values(), default=-1)
    while len(columns) < len(near):
        before = dict(columns)
        for node in near:
            partners = [before[other] for other in near[node] if other in before]
            if node not in before and partners:
                on_the_left = sum(partners) / len(partners) < last / 2
                columns[node] = min(0, *partners) - 1 if on_the_left else max(last, *partners) + 1
        if len(columns) == len(before):
            first = next(node for node in near if node not in columns)
            columns[first] = last + 1  # it is linked to none of the others
    return columns


def _neighbours(graph: ConstraintGraph) -> dict[Node, list[Node]]:
    near: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    for link in (*graph.subsets, *graph.exclusions):
        near[link.below].append(link.above)
        near[link.above].append(link.below)
    return near


def _middle(neighbours: list[Node], heights: dict[Node, float]) -> float:
    known = [heights[node] for node in neighbours if node in heights]
    return sum(known) / len(known) if known else 0.0


def _new_axes(places: dict[Node, tuple[float, float]]) -> "Axes":
    columns = [x for x, _ in places.values()]
    heights = [y for _, y in places.values()]
    longest = max(len(label) for node in places for label in node)
    width = max(_COLUMN, 0.09 * longest + 1.2) * (max(columns) - min(columns) + 1)
    height = 0.38 * (max(heights) - min(heights) + 1) + 1.2
    return new_axes(max(width, 5.0), max(height, 2.5))


def _draw(
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


def _title(n_lines: int, n_labels: int, n_left_out: int) -> str:
    """How much is drawn; labels that only imply each other have a box and no line."""
    title = f"{counted(n_lines, 'constraint')} between {counted(n_labels, 'label')}"
    follow = "follows" if n_left_out == 1 else "follow"
    return f"{title}; {n_left_out} more {follow} from them" if n_left_out else title


def _finish(ax: "Axes", graph: ConstraintGraph, places: dict[Node, tuple[float, float]]) -> None:
    from matplotlib.lines import Line2D

    n_lines = len(graph.subsets) + len(graph.exclusions)
    n_labels = sum(len(node) for node in graph.nodes)
    ax.set_title(_title(n_lines, n_labels, graph.n_left_out), fontsize=10)
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
