"""Label dependencies as SVG: a matrix of labels by labels, and a graph."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from labelrules._checks import counted
from labelrules._html import render
from labelrules._types import Floats
from labelrules.inspection.dependencies import Edge, LabelGraph, dependencies_text
from labelrules.inspection.pictures.drawing import linked
from labelrules.inspection.plots.common import Source, graph_and_labels, shown_name
from labelrules.inspection.plots.dependency_matrix import (
    MANY,
    Mark,
    Point,
    marks_of,
    relatives,
    strokes,
)
from labelrules.inspection.plots.label_graph import (
    Arrow,
    bend,
    circle_places,
    component_numbers,
    edges_between,
    graph_title,
)

if TYPE_CHECKING:
    from markupsafe import Markup

_CELL = 26  # of the matrix
_LETTER = 7.3  # width of a letter of a name
_HEAD = 9.0  # length of the head of an arrow
_DASHES = {"+": "", "-": "6 3", "+-": "8 3 2 3"}
_WORDS = {"+": "same sign", "-": "opposite sign", "+-": "both signs"}


class _DrawnMark(NamedTuple):
    """How a mark of the matrix is drawn."""

    x: float
    y: float
    half: float
    is_full: bool
    depth: float  # opacity of its colour; 0 without evidence
    is_dark: bool  # whether its sign must be light
    signs: str  # the path of its sign
    sentence: str
    href: str | None


def dependency_matrix_svg(
    source: Source,
    *,
    order: str | Sequence[str] = "data",
    only_dependent: bool = False,
    link: str | None = None,
) -> "Markup":
    r"""Draw label dependencies as a matrix of labels by labels, as SVG; matplotlib is not needed.

    It shows what `plot_dependency_matrix` shows. Each mark says in words what it stands for, when
    the pointer is over it and to screen readers.

    Parameters
    ----------
    source, order, only_dependent
        As for `plot_dependency_matrix`.
    link : str, optional
        The address behind each mark, such as ``"/rules?predicts={predicted}&tests={tested}"``.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("not sports <- fashion", load("magazines").schema)
    >>> picture = dependency_matrix_svg(theory, link="/rules?tests={tested}")
    >>> 'href="/rules?tests=fashion"' in picture
    True
    """
    graph, labels = graph_and_labels(source, order, only_dependent)
    names = [shown_name(graph.schema.labels[label]) for label in labels]
    # Names of many labels are on all four sides.
    margin = _LETTER * max(map(len, names)) + 10
    size = _CELL * len(names)
    after = margin if len(names) > MANY else 8
    edges = {(edge.predicted, edge.tested): edge for edge in graph.edges()}
    drawn = [_drawn(mark, graph, labels, edges, link) for mark in marks_of(graph, labels)]
    n_edges = int(graph.adjacency[np.ix_(labels, labels)].sum())
    return render(
        "dependency_matrix.svg",
        title=dependencies_text(n_edges, len(labels)),
        description=_description(edges.values()),
        names=names,
        marks=drawn,
        relatives=list(relatives(graph, labels)),
        cell=_CELL,
        margin=margin,
        size=size,
        around=len(names) > MANY,
        width=max(margin + size + after, 450),
        height=margin + size + after + 66,
    )


def _drawn(
    mark: Mark,
    graph: LabelGraph,
    labels: list[int],
    edges: dict[tuple[str, str], Edge],
    link: str | None,
) -> _DrawnMark:
    (x, y), half = mark.place, mark.half * _CELL
    center = (x + 0.5) * _CELL, (y + 0.5) * _CELL
    predicted, tested = (
        graph.schema.labels[labels[number]] for number in (mark.predicted, mark.tested)
    )
    known = not np.isnan(mark.strength)
    return _DrawnMark(
        *center,
        half,
        mark.is_full,
        0.2 + 0.8 * mark.strength if known else 0.0,
        known and mark.strength > 0.65,
        " ".join(_path(stroke, center, half) for stroke in strokes(mark.signs)),
        _sentence(edges[predicted, tested]),
        linked(link, predicted=predicted, tested=tested),
    )


def _path(stroke: tuple[Point, ...], center: Point, half: float) -> str:
    points = [(center[0] + half * x, center[1] + half * y) for x, y in stroke]
    (x, y), *others = points
    return f"M{x:.1f} {y:.1f}" + "".join(f"L{a:.1f} {b:.1f}" for a, b in others)


def _sentence(edge: Edge) -> str:
    """A dependency in words."""
    parts = [
        f"{counted(n, 'rule')} {what}"
        for n, what in ((edge.n_full, "on labels only"), (edge.n_partial, "with features"))
        if n
    ]
    counts = f"; right {edge.right:,}, wrong {edge.wrong:,}" if edge.support else ""
    return (
        f"{edge.predicted} is predicted from {edge.tested} ({_WORDS[edge.sign]}) by "
        f"{' and '.join(parts)}{counts}"
    )


def _description(edges: Iterable[Edge]) -> str:
    every = [_sentence(edge) for edge in edges]
    more = [f"and {len(every) - 20} more"] if len(every) > 20 else []
    return "; ".join([*every[:20], *more])


class _DrawnArrow(NamedTuple):
    """How an arrow of the graph is drawn."""

    line: str
    head: str
    is_full: bool
    in_cycle: bool
    width: float
    dashes: str
    sentence: str
    href: str | None


class _DrawnLabel(NamedTuple):
    """How a label of the graph is drawn."""

    name: str
    full_name: str
    x: float
    y: float
    angle: float
    on_the_left: bool
    number: int | None  # of its cyclic component


def label_graph_svg(
    source: Source,
    *,
    order: str | Sequence[str] = "data",
    only_dependent: bool = True,
    link: str | None = None,
) -> "Markup":
    r"""Draw label dependencies as arrows between labels on a circle, as SVG.

    It shows what `plot_label_graph` shows: solid arrows for the same sign, dashed ones for the
    opposite sign; filled heads for rules on labels only; orange arrows, and numbers in labels, for
    cycles.

    Parameters
    ----------
    source, order, only_dependent
        As for `plot_label_graph`.
    link : str, optional
        The address behind each arrow, such as ``"/rules?predicts={predicted}&tests={tested}"``.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("quality <- sports\nsports <- not quality", load("magazines").schema)
    >>> "2 dependencies between 2 labels, 1 cyclic component" in label_graph_svg(theory)
    True
    """
    graph, labels = graph_and_labels(source, order, only_dependent)
    names = [graph.schema.labels[label] for label in labels]
    edges = edges_between(graph, names)
    cycles = component_numbers(graph)
    radius = max(len(names) * 17 / (2 * np.pi), min(110 + 3.5 * len(names), 280))
    margin = _LETTER * max(len(shown_name(name)) for name in names) + 26
    middle = radius + margin
    places = circle_places(names)
    most = max((edge.support for edge in edges), default=0)
    arrows = [_arrow(edge, Arrow.of(edge, cycles, most), places, radius, link) for edge in edges]
    numbers = len({number for name, number in cycles.items() if name in places})
    return render(
        "label_graph.svg",
        title=graph_title(len(edges), len(names), numbers),
        description=_description(edges),
        arrows=[arrow for arrow in arrows if not arrow.in_cycle]
        + [arrow for arrow in arrows if arrow.in_cycle],
        labels=[_label(name, places[name], radius, cycles.get(name)) for name in names],
        middle=middle,
        width=max(2 * middle, 450),
        height=2 * middle + 30,
    )


def _arrow(
    edge: Edge, arrow: Arrow, places: dict[str, Floats], radius: float, link: str | None
) -> _DrawnArrow:
    start, end = places[edge.tested], places[edge.predicted]
    line, head = (_loop if edge.tested == edge.predicted else _curve)(start, end, radius)
    return _DrawnArrow(
        line,
        head,
        arrow.is_full,
        arrow.in_cycle,
        arrow.width,
        _DASHES[arrow.sign],
        _sentence(edge),
        linked(link, predicted=edge.predicted, tested=edge.tested),
    )


def _curve(start: Floats, end: Floats, radius: float) -> tuple[str, str]:
    """The path of a curve and of its head; the circle is around 0, and y runs downwards."""
    dx, dy = end - start
    how_far = bend(start, end)
    control = (start + end) / 2 + how_far * np.array([dy, -dx])
    one, middle, other = (
        radius * np.array([point[0], -point[1]]) for point in (start, control, end)
    )
    one = one + 6 * _direction(one, middle)
    towards = _direction(middle, other)
    tip, base = other - 8 * towards, other - (8 + _HEAD) * towards
    across = np.array([-towards[1], towards[0]]) * _HEAD * 0.42
    line = f"M{_at(one)}Q{_at(middle)} {_at(base)}"
    return line, f"M{_at(tip)}L{_at(base + across)}L{_at(base - across)}z"


def _loop(start: Floats, _: Floats, radius: float) -> tuple[str, str]:
    """A circle on the inner side of a label that depends on itself."""
    outward = np.array([start[0], -start[1]])
    near, size = (radius - 8) * outward, 9.0
    far = near - 2 * size * outward
    line = f"M{_at(near)}A{size} {size} 0 1 1 {_at(far)}A{size} {size} 0 1 1 {_at(near)}"
    across = np.array([-outward[1], outward[0]]) * _HEAD * 0.42
    base = near - _HEAD * outward
    return line, f"M{_at(near)}L{_at(base + across)}L{_at(base - across)}z"


def _direction(one: Floats, other: Floats) -> Floats:
    return np.asarray((other - one) / max(float(np.hypot(*(other - one))), 1e-9))


def _at(point: Floats) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _label(name: str, place: Floats, radius: float, number: int | None) -> _DrawnLabel:
    x, y = float(place[0]), float(place[1])
    angle = float(np.degrees(np.arctan2(-y, x)))
    on_the_left = x < -1e-9
    turned = angle - 180 if on_the_left else angle
    return _DrawnLabel(shown_name(name), name, radius * x, -radius * y, turned, on_the_left, number)
