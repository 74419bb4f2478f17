"""Plots of label dependencies as a matrix, labels by labels."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from labelrules._types import Floats
from labelrules.inspection.dependencies import LabelGraph, PairCounts, dependencies_text
from labelrules.inspection.plots.common import (
    GREY,
    Source,
    check_matplotlib,
    graph_and_labels,
    new_axes,
    shown_name,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Point: TypeAlias = tuple[float, float]

FULL, PARTIAL = "#0072b2", "#009e73"  # the chapter's blue and green, safe for the colour-blind

_SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
_DISC = tuple((float(np.cos(a)), float(np.sin(a))) for a in np.linspace(0, 2 * np.pi, 17)[:-1])
_LARGEST, _SMALLEST = 0.235, 0.175  # half the width of a mark, in cells: two fit side by side
_THINNEST = 0.9  # points of the strokes of a sign: a dot wide even on a coarse screen
_WIDE = 6.0  # inches; a narrower figure has no room for the title of its legend on one line
MANY = 30  # more labels than this have their names on all four sides


class Mark(NamedTuple):
    """A mark in one corner of a cell."""

    place: Point
    half: float  # half its width, which grows with the root of the support
    is_full: bool
    strength: float  # NaN if nothing is known
    signs: str  # ``"+"``, ``"-"`` or both
    predicted: int  # the number of the label among those that are shown
    tested: int


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
    graph, labels = graph_and_labels(source, order, only_dependent)
    names = [shown_name(graph.schema.labels[label]) for label in labels]
    marks = [*marks_of(graph, labels)]
    is_ours = ax is None
    if ax is None:
        ax = _new_axes(names)
    _draw_grid(ax, graph, labels)
    _draw_marks(ax, marks)
    _draw_names(ax, names, is_ours and len(names) > MANY)
    n_edges = int(graph.adjacency[np.ix_(labels, labels)].sum())
    ax.set_title(dependencies_text(n_edges, len(labels)), fontsize=10)
    _add_legend(ax, marks, is_ours)
    return ax


def marks_of(graph: LabelGraph, labels: list[int]) -> Iterator[Mark]:
    """The marks of every dependency: in the row of the predicted label, and in its column."""
    chosen = np.ix_(labels, labels)
    fully, partly = (
        PairCounts(*(part[chosen] for part in counts)) for counts in (graph.fully, graph.partly)
    )
    most = max(int(fully.support.max(initial=0)), int(partly.support.max(initial=0)))
    for counts, x in ((fully, -0.25), (partly, 0.25)):
        strength, half = counts.strength, _half_widths(counts, most)
        for predicted, tested in np.argwhere(counts.rules > 0).tolist():
            # Rows are counted downwards, so the upper corners have the smaller y.
            mark = Mark(
                (tested + x, predicted - 0.25),
                float(half[predicted, tested]),
                counts is fully,
                float(strength[predicted, tested]),
                counts.sign(predicted, tested),
                predicted,
                tested,
            )
            yield mark
            if predicted != tested:
                yield mark._replace(place=(predicted + x, tested + 0.25))


def _half_widths(counts: PairCounts, most: int) -> Floats:
    """Half the widths of marks, from the smallest to the largest by the root of the support."""
    share = np.sqrt(counts.support / most) if most else np.ones(counts.support.shape)
    return np.asarray(_SMALLEST + (_LARGEST - _SMALLEST) * share)


def _cell(n_labels: int) -> float:
    """Inches of a cell: large for a few labels, and never so small that marks cannot be read."""
    return float(np.clip(13 / n_labels, 0.26, 0.62))


def _new_axes(names: list[str]) -> "Axes":
    cell = _cell(len(names))
    margin = 0.3 + 0.0085 * _font_size(len(names)) * max(len(name) for name in names)
    side = cell * len(names) + margin * (2 if len(names) > MANY else 1)
    return new_axes(max(side, 4.6), max(side, 3.2) + 1.3)


def _font_size(n_labels: int) -> float:
    return float(np.clip(72 * 0.62 * _cell(n_labels), 7.5, 10))


def _draw_grid(ax: "Axes", graph: LabelGraph, labels: list[int]) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    n = len(labels)
    ends = [i - 0.5 for i in range(n + 1)]
    lines = [[(-0.5, y), (n - 0.5, y)] for y in ends] + [[(x, -0.5), (x, n - 0.5)] for x in ends]
    # Every fifth line is darker, for the eye to follow.
    colors = ["#a8a8a8" if n > MANY and i % 5 == 0 else "#d4d4d4" for i in range(n + 1)]
    ax.add_collection(LineCollection(lines, colors=colors * 2, linewidths=0.5, zorder=1))
    for i in range(n):
        ax.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, facecolor="#e4e4e4", zorder=0))
    for row, column in relatives(graph, labels):
        ax.add_patch(
            Rectangle(
                (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="black", linewidth=1.2,
                zorder=2,
            )
        )  # fmt: skip
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_aspect("equal")


def relatives(graph: LabelGraph, labels: list[int]) -> Iterator[tuple[int, int]]:
    """The cells of a label and its parent in the hierarchy of the schema, both ways."""
    places = {graph.schema.labels[label]: place for place, label in enumerate(labels)}
    for name, place in places.items():
        parent = graph.schema.parents[graph.schema.label_index[name]]
        if parent is not None and parent in places:
            yield place, places[parent]
            yield places[parent], place


def _draw_marks(ax: "Axes", marks: list[Mark]) -> None:
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
        width = max(0.05 * 72 * _inches_of_a_cell(ax), _THINNEST)
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


def strokes(signs: str) -> tuple[tuple[Point, ...], ...]:
    """The lines of a plus, of a minus, or of a plus above a minus; y runs downwards."""
    across: tuple[Point, ...] = ((-0.7, 0.0), (0.7, 0.0))
    if signs == "-":
        return (across,)
    if signs == "+":
        return across, ((0.0, -0.7), (0.0, 0.7))
    return ((-0.5, -0.2), (0.5, -0.2)), ((0.0, -0.7), (0.0, 0.3)), ((-0.5, 0.6), (0.5, 0.6))


def _draw_names(ax: "Axes", names: list[str], around: bool) -> None:
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


def _add_legend(ax: "Axes", marks: list[Mark], is_ours: bool) -> None:
    """Below the axes; in a figure of our own at its lower edge, where there is room for it."""
    corners = ["upper corners: row predicted by column", "lower corners: column predicted by row"]
    words: dict[str, Any] = {
        "handles": _legend_handles(marks),
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


def _legend_handles(marks: list[Mark]) -> "list[Artist]":
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
