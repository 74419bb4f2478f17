"""Plots of search trees: which heads a search evaluated, pruned and skipped."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from labelrules._types import UNSET
from labelrules.inspection.plots.common import (
    GREY,
    NAMES,
    PURPLE,
    VERMILION,
    YELLOW,
    check_matplotlib,
    legend_below,
    new_axes,
)
from labelrules.search import SearchNode, SearchTree

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

MAX_HEADS = 127  # heads that a plot can show; more could not be read
WIDE = 10  # with more columns than this, the labels of a head stand one below the other
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


class _Placed(NamedTuple):
    """A head, where it is drawn, and where the head that it extends is."""

    node: SearchNode
    x: float
    depth: int
    parent_x: float


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
    _check(trees, label_names)
    placed, n_columns = _placed(tree)
    stacked = label_names is not None or n_columns > WIDE
    texts = [_text(p.node, label_names, stacked) for p in placed]
    if ax is None:
        ax = _new_axes(texts, n_columns, n_levels=max(p.depth for p in placed) + 1)
    _draw_edges(ax, placed)
    handles = _draw_heads(ax, tree, placed, texts) + _draw_cuts(ax, trees)
    inches = ax.get_window_extent().width / ax.figure.dpi
    legend_below(ax, handles, max(int(inches / 2.2), 1))
    ax.set_title(f"{tree.measure}, {tree.strategy}: {_counted(tree)} evaluated")
    ax.set_xlim(-0.6, n_columns - 0.4)
    ax.set_ylim(-0.9 - max(p.depth for p in placed), 0.1)
    ax.set_axis_off()
    return ax


def _check(trees: list[SearchTree], label_names: Sequence[str] | None) -> None:
    heads = [[node.literals for node in tree.nodes()] for tree in trees]
    if len(heads[0]) > MAX_HEADS:
        raise ValueError(
            f"the tree has {len(heads[0])} heads, and a plot can show {MAX_HEADS}: print it"
        )
    for tree, other in zip(trees, heads, strict=True):
        if other != heads[0]:
            raise ValueError(f"the search {tree.strategy!r} in also has other heads")
    n_labels = len(trees[0].vector)
    if label_names is not None and len(label_names) != n_labels:
        raise ValueError(f"there are {n_labels} labels but {len(label_names)} label names")


def _placed(tree: SearchTree) -> tuple[list[_Placed], int]:
    """Heads, children first, over the middle of their children; and the number of columns."""
    placed: list[_Placed] = []
    n_columns = 0

    def place(children: tuple[SearchNode, ...], depth: int) -> float:
        nonlocal n_columns
        if not children:
            n_columns += 1
            return n_columns - 1.0
        xs = [place(child.children, depth + 1) for child in children]
        middle = (xs[0] + xs[-1]) / 2
        placed.extend(
            _Placed(child, x, depth, middle) for child, x in zip(children, xs, strict=True)
        )
        return middle

    place(tree.roots, 1)
    return placed, n_columns


def _depths(tree: SearchTree) -> list[int]:
    """Below which level the line runs, by columns; it may go deeper where all is evaluated."""
    depths: list[int] = []
    for path in _paths(tree.roots, ()):
        n_evaluated = sum(node.fate != "skipped" for node in path)
        if n_evaluated == len(path) and depths:
            n_evaluated = max(n_evaluated, depths[-1])
        depths.append(n_evaluated)
    return depths


def _paths(
    children: tuple[SearchNode, ...], path: tuple[SearchNode, ...]
) -> Iterator[tuple[SearchNode, ...]]:
    """The heads on the path to each column."""
    if not children:
        yield path
    for child in children:
        yield from _paths(child.children, (*path, child))


def _text(node: SearchNode, names: Sequence[str] | None, stacked: bool) -> str:
    literals = [
        ("" if value else "¬") + (names[label] if names else str(label + 1))
        for label, value in node.literals
    ]
    head = "\n".join(literals) if stacked else "{" + ", ".join(literals) + "}"
    return f"{head}\n{node.value}"


def _counted(tree: SearchTree) -> str:
    return f"{tree.n_evaluated} of {sum(1 for _ in tree.nodes())} heads"


def _mark(tree: SearchTree, node: SearchNode) -> str:
    best = tuple((i, int(value)) for i, value in enumerate(tree.vector) if value != UNSET)
    if node.literals == best:
        return "best"
    if node.value == tree.value:
        return "as good"
    return "missed" if node.value > tree.value else ""


def _new_axes(texts: list[str], n_columns: int, n_levels: int) -> "Axes":
    """Axes large enough that the heads do not overlap."""
    lines = [text.splitlines() for text in texts]
    width = 0.3 + 0.08 * max(len(line) for text in lines for line in text)
    height = 0.5 + 0.16 * max(len(text) for text in lines)
    return new_axes(max(width * n_columns, 7.5), height * n_levels + 1.0)


def _draw_edges(ax: "Axes", placed: list[_Placed]) -> None:
    for p in placed:
        line = {k: v for k, v in _FATES[p.node.fate].items() if k != "edgecolor"}
        color = _FATES[p.node.fate]["edgecolor"]
        # From under the box above to the upper rim of this one, so as to pass over its neighbours.
        ax.plot([p.parent_x, p.x], [0.9 - p.depth, -p.depth], color=color, zorder=1, **line)


def _draw_heads(
    ax: "Axes", tree: SearchTree, placed: list[_Placed], texts: list[str]
) -> "list[Artist]":
    """Draw the heads; return a box of each kind for the legend."""
    from matplotlib.patches import Patch

    written = {**NAMES, "va": "top"}
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white"}
    ax.text(placed[-1].parent_x, 0, "∅", bbox={**box, "edgecolor": "black"}, zorder=3, **written)
    kinds: dict[str, dict[str, Any]] = {}
    for p, text in zip(placed, texts, strict=True):
        mark = _mark(tree, p.node)
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
        depths = _depths(tree)
        x = [-0.55, *range(len(depths)), len(depths) - 0.45]
        y = [-(depth + 0.80 - 0.06 * number) for depth in (depths[0], *depths, depths[-1])]
        label = f"{tree.strategy}: {_counted(tree)}"
        lines += ax.step(x, y, where="mid", zorder=2, label=label, **_CUTS[tree.strategy])
    return lines
