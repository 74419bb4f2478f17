"""Layouts of pictures: what stands where, before it is drawn by matplotlib or as SVG."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from labelrules._checks import counted, one_of
from labelrules._types import UNSET, Floats, Mask
from labelrules.constraints.constraint import Constraints
from labelrules.constraints.graph import ConstraintGraph, Node
from labelrules.inspection.dependencies import (
    Edge,
    LabelGraph,
    PairCounts,
    dependencies_text,
    label_graph,
)
from labelrules.inspection.tracing import label_number
from labelrules.rules import Theory
from labelrules.search import SearchNode, SearchTree

Source: TypeAlias = LabelGraph | Theory | Constraints  # or a fitted learner
MAX_LABELS = 300  # labels that a plot can show; a larger one would take gigabytes
LONGEST = 44  # letters of a name; the middle of a longer one is left out

Point: TypeAlias = tuple[float, float]
_LARGEST, _SMALLEST = 0.235, 0.175  # half the width of a mark, in cells: two fit side by side
MANY = 30  # more labels than this have their names on all four sides

MAX_ARROWS = 1500  # arrows that a plot can show; more could not be distinguished
_THINNEST, _THICKEST = 0.7, 2.8  # widths of lines, in points

MAX_NODES, MAX_LINES = 80, 160  # nodes and lines that a plot can show; more could not be read

MAX_HEADS = 127  # heads that a plot can show; more could not be read
WIDE = 10  # with more columns than this, the labels of a head stand one below the other


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


# -------------------------------------------------------------------- the matrix


class Mark(NamedTuple):
    """A mark in one corner of a cell."""

    place: Point
    half: float  # half its width, which grows with the root of the support
    is_full: bool
    strength: float  # NaN if nothing is known
    signs: str  # ``"+"``, ``"-"`` or both
    predicted: int  # the number of the label among those that are shown
    tested: int


class MatrixLayout(NamedTuple):
    """Label dependencies as a matrix: rows are predicted labels, columns those tested."""

    title: str
    labels: tuple[str, ...]
    names: tuple[str, ...]  # of the labels, as they are shown
    marks: tuple[Mark, ...]
    relatives: tuple[tuple[int, int], ...]  # cells of a label and its parent in a hierarchy
    graph: LabelGraph

    @classmethod
    def of(cls, source: Source, order: str | Sequence[str], only_dependent: bool) -> "MatrixLayout":
        """The layout of a graph, or of the graph of rules."""
        graph, labels = graph_and_labels(source, order, only_dependent)
        names = tuple(graph.schema.labels[label] for label in labels)
        n_edges = int(graph.adjacency[np.ix_(labels, labels)].sum())
        return cls(
            dependencies_text(n_edges, len(labels)),
            names,
            tuple(map(shown_name, names)),
            tuple(_marks(graph, labels)),
            tuple(_relatives(graph, labels)),
            graph,
        )

    @property
    def is_large(self) -> bool:
        """Whether names are on all four sides."""
        return len(self.names) > MANY


def _marks(graph: LabelGraph, labels: list[int]) -> Iterator[Mark]:
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


def _relatives(graph: LabelGraph, labels: list[int]) -> Iterator[tuple[int, int]]:
    """The cells of a label and its parent in the hierarchy of the schema, both ways."""
    places = {graph.schema.labels[label]: place for place, label in enumerate(labels)}
    for name, place in places.items():
        parent = graph.schema.parents[graph.schema.label_index[name]]
        if parent is not None and parent in places:
            yield place, places[parent]
            yield places[parent], place


def strokes(signs: str) -> tuple[tuple[Point, ...], ...]:
    """The lines of a plus, of a minus, or of a plus above a minus; y runs downwards."""
    across: tuple[Point, ...] = ((-0.7, 0.0), (0.7, 0.0))
    if signs == "-":
        return (across,)
    if signs == "+":
        return across, ((0.0, -0.7), (0.0, 0.7))
    return ((-0.5, -0.2), (0.5, -0.2)), ((0.0, -0.7), (0.0, 0.3)), ((-0.5, 0.6), (0.5, 0.6))


# -------------------------------------------------------------------- the graph of labels


class Arrow(NamedTuple):
    """A dependency, and how it is drawn: from the tested label to the predicted one."""

    edge: Edge
    start: Floats  # on the circle
    end: Floats
    in_cycle: bool
    width: float  # by its support as a part of the greatest

    @property
    def is_full(self) -> bool:
        """Whether some rule tests labels only."""
        return self.edge.n_full > 0

    @property
    def is_loop(self) -> bool:
        """Whether a label depends on itself."""
        return self.edge.tested == self.edge.predicted

    @property
    def bend(self) -> float:
        """How far a curve bends to its right, in lengths of the straight line.

        Along the circle between neighbours, with room for the head of an arrow; through the middle
        between opposite labels.
        """
        x, y = self.end - self.start
        length = float(np.hypot(x, y))
        left, right = np.array([-y, x]) / length, np.array([y, -x]) / length
        inwards = -(self.start + self.end) / 2 * np.clip(0.42 * length, 0.1, 0.8)
        return float((inwards + 0.05 * left) @ right / length)


class PlacedLabel(NamedTuple):
    """A label on the circle, whose name points away from the middle."""

    label: str
    name: str  # as it is shown
    x: float
    y: float  # upwards
    number: int | None  # of its cyclic component, the largest first

    @property
    def on_the_left(self) -> bool:
        """Whether the name ends at the circle."""
        return self.x < -1e-9


class CircleLayout(NamedTuple):
    """Label dependencies as arrows between labels on a circle, clockwise from the top."""

    title: str
    labels: tuple[PlacedLabel, ...]
    arrows: tuple[Arrow, ...]
    most: int  # support of a dependency

    @classmethod
    def of(cls, source: Source, order: str | Sequence[str], only_dependent: bool) -> "CircleLayout":
        """The layout of a graph, or of the graph of rules."""
        graph, numbers = graph_and_labels(source, order, only_dependent)
        names = [graph.schema.labels[number] for number in numbers]
        angles = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        places = dict(zip(names, circle, strict=True))
        edges = [edge for edge in graph.edges() if {edge.tested, edge.predicted} <= {*names}]
        if len(edges) > MAX_ARROWS:
            raise ValueError(
                f"there are {len(edges)} dependencies, and a plot can show {MAX_ARROWS} arrows: "
                "name some labels in order, or draw the matrix"
            )
        cycles = {name: n for n, group in enumerate(graph.components(), 1) for name in group}
        most = max((edge.support for edge in edges), default=0)
        arrows = [
            Arrow(
                edge,
                places[edge.tested],
                places[edge.predicted],
                edge.tested in cycles and cycles[edge.tested] == cycles.get(edge.predicted),
                line_width(edge.support, most),
            )
            for edge in edges
        ]
        labels = [
            PlacedLabel(name, shown_name(name), float(x), float(y), cycles.get(name))
            for name, (x, y) in places.items()
        ]
        n_cycles = len({number for name, number in cycles.items() if name in places})
        circular = counted(n_cycles, "cyclic component") if n_cycles else "no cycle"
        title = f"{dependencies_text(len(edges), len(names))}, {circular}"
        return cls(title, tuple(labels), tuple(arrows), most)


def line_width(support: int, most: int) -> float:
    """From the thinnest to the thickest line by the root of the support."""
    share = float(np.sqrt(support / most)) if most else 0.0
    return _THINNEST + (_THICKEST - _THINNEST) * share


# -------------------------------------------------------------------- constraints


def check_constraints(graph: ConstraintGraph) -> None:
    """Refuse a graph that is too large to be read, or has nothing to draw."""
    n_lines = len(graph.subsets) + len(graph.exclusions)
    if len(graph.nodes) > MAX_NODES or n_lines > MAX_LINES:
        raise ValueError(
            f"the graph has {len(graph.nodes)} nodes and {n_lines} lines, and a plot can show "
            f"{MAX_NODES} and {MAX_LINES}: find constraints with alpha=0.05 or a greater "
            "min_support, or print the graph"
        )
    if not graph.nodes:
        raise ValueError("the graph has no constraints to draw")


def constraints_title(graph: ConstraintGraph) -> str:
    """How much is drawn; labels that only imply each other have a box and no line."""
    n_lines = len(graph.subsets) + len(graph.exclusions)
    n_labels = sum(len(node) for node in graph.nodes)
    title = f"{counted(n_lines, 'constraint')} between {counted(n_labels, 'label')}"
    follow = "follows" if graph.n_left_out == 1 else "follow"
    return f"{title}; {graph.n_left_out} more {follow} from them" if graph.n_left_out else title


def constraint_places(graph: ConstraintGraph) -> dict[Node, tuple[float, float]]:
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


# -------------------------------------------------------------------- the search for a head


class PlacedHead(NamedTuple):
    """A head, where it is drawn, and where the head that it extends is."""

    node: SearchNode
    x: float
    depth: int
    parent_x: float


def check_searches(trees: list[SearchTree], label_names: Sequence[str] | None) -> None:
    """Refuse trees of too many heads, of other heads, or with too few names."""
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


def head_places(tree: SearchTree) -> tuple[list[PlacedHead], int]:
    """Heads, children first, over the middle of their children; and the number of columns."""
    placed: list[PlacedHead] = []
    n_columns = 0

    def place(children: tuple[SearchNode, ...], depth: int) -> float:
        nonlocal n_columns
        if not children:
            n_columns += 1
            return n_columns - 1.0
        xs = [place(child.children, depth + 1) for child in children]
        middle = (xs[0] + xs[-1]) / 2
        placed.extend(
            PlacedHead(child, x, depth, middle) for child, x in zip(children, xs, strict=True)
        )
        return middle

    place(tree.roots, 1)
    return placed, n_columns


def cut_depths(tree: SearchTree) -> list[int]:
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


def node_text(node: SearchNode, names: Sequence[str] | None, stacked: bool) -> str:
    """The labels of a head and its value."""
    literals = [
        ("" if value else "¬") + (names[label] if names else str(label + 1))
        for label, value in node.literals
    ]
    head = "\n".join(literals) if stacked else "{" + ", ".join(literals) + "}"
    return f"{head}\n{node.value}"


def counted_heads(tree: SearchTree) -> str:
    """How many of the heads were evaluated."""
    return f"{tree.n_evaluated} of {sum(1 for _ in tree.nodes())} heads"


def head_mark(tree: SearchTree, node: SearchNode) -> str:
    """Whether a head is the best one that was found, as good, or better but missed."""
    best = tuple((i, int(value)) for i, value in enumerate(tree.vector) if value != UNSET)
    if node.literals == best:
        return "best"
    if node.value == tree.value:
        return "as good"
    return "missed" if node.value > tree.value else ""
