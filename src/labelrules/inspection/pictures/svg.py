"""Pictures as SVG, from templates: for pages and notebooks, without matplotlib."""

from collections.abc import Iterable, Sequence
from math import isfinite
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import numpy as np

from labelrules._checks import counted, suggestion
from labelrules._html import render
from labelrules._types import Floats
from labelrules.inspection.dependencies import Edge
from labelrules.inspection.pictures.layouts import (
    Arrow,
    CircleLayout,
    Mark,
    MatrixLayout,
    PlacedLabel,
    Point,
    Source,
    strokes,
)
from labelrules.inspection.review.coverage import FlowStep, RowFlow
from labelrules.inspection.review.matrix import Bar, ConditionCell, MatrixFeature, Threshold

if TYPE_CHECKING:
    from markupsafe import Markup

_CELL = 26  # of the matrix
_LETTER = 7.3  # width of a letter of a name
_HEAD = 9.0  # length of the head of an arrow
_DASHES = {"+": "", "-": "6 3", "+-": "8 3 2 3"}
_WORDS = {"+": "same sign", "-": "opposite sign", "+-": "both signs"}

_STEP = 26  # height of a rule
_FLOW_TOP = 34  # height of the titles of the columns
_TEXT, _TRUNK, _CAUGHT, _COUNTS = 0, 400, 590, 780  # where the columns begin
_FLOW_WIDTH, _TRUNK_WIDTH, _CAUGHT_WIDTH = 960, 160, 180
_LETTERS = 52  # of a rule

_WIDTH, _HEIGHT = 260, 76  # of the bars
_SIDE, _TOP, _BOTTOM = 10, 24, 34
_NAMED = 6  # of more categories only the tested ones have their names below


def linked(link: str | None, **values: object) -> str | None:
    """The address that a template gives for these values, each quoted as a part of an address.

    >>> linked("/rules?predicts={predicted}", predicted="hay fever & flu", tested="crp")
    '/rules?predicts=hay%20fever%20%26%20flu'
    """
    if link is None:
        return None
    for _, name, _, _ in Formatter().parse(link):
        if name is not None and name not in values:
            near = suggestion(name, values)
            raise ValueError(
                f"the link names {{{name}}}, but there are only "
                f"{', '.join(f'{{{known}}}' for known in values)}{near}"
            )
    quoted = {name: quote(str(value), safe="") for name, value in values.items()}
    return link.format(**quoted)


def cut_short(text: str, length: int) -> str:
    """A text of at most so many letters; what is left out at the end is marked.

    >>> cut_short("a rule of many words", 10), cut_short("short", 10)
    ('a rule of…', 'short')
    """
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


# -------------------------------------------------------------------- dependencies


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
    layout = MatrixLayout.of(source, order, only_dependent)
    # Names of many labels are on all four sides.
    margin = _LETTER * max(map(len, layout.names)) + 10
    size = _CELL * len(layout.names)
    after = margin if layout.is_large else 8
    edges = {(edge.predicted, edge.tested): edge for edge in layout.graph.edges()}
    return render(
        "dependency_matrix.svg",
        layout=layout,
        description=_description(edges.values()),
        marks=[_drawn_mark(mark, layout.labels, edges, link) for mark in layout.marks],
        cell=_CELL,
        margin=margin,
        size=size,
        width=max(margin + size + after, 450),
        height=margin + size + after + 66,
    )


def _drawn_mark(
    mark: Mark, labels: Sequence[str], edges: dict[tuple[str, str], Edge], link: str | None
) -> _DrawnMark:
    (x, y), half = mark.place, mark.half * _CELL
    center = (x + 0.5) * _CELL, (y + 0.5) * _CELL
    predicted, tested = labels[mark.predicted], labels[mark.tested]
    known = not np.isnan(mark.strength)
    return _DrawnMark(
        *center,
        half,
        mark.is_full,
        0.2 + 0.8 * mark.strength if known else 0.0,
        known and mark.strength > 0.65,
        " ".join(_stroke_path(stroke, center, half) for stroke in strokes(mark.signs)),
        _sentence(edges[predicted, tested]),
        linked(link, predicted=predicted, tested=tested),
    )


def _stroke_path(stroke: tuple[Point, ...], center: Point, half: float) -> str:
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
    layout = CircleLayout.of(source, order, only_dependent)
    n_labels = len(layout.labels)
    radius = max(n_labels * 17 / (2 * np.pi), min(110 + 3.5 * n_labels, 280))
    middle = radius + _LETTER * max(len(label.name) for label in layout.labels) + 26
    arrows = [_drawn_arrow(arrow, radius, link) for arrow in layout.arrows]
    return render(
        "label_graph.svg",
        title=layout.title,
        description=_description(arrow.edge for arrow in layout.arrows),
        arrows=sorted(arrows, key=lambda arrow: arrow.in_cycle),
        labels=[(label, _angle(label)) for label in layout.labels],
        radius=radius,
        middle=middle,
        width=max(2 * middle, 450),
        height=2 * middle + 30,
    )


def _drawn_arrow(arrow: Arrow, radius: float, link: str | None) -> _DrawnArrow:
    edge = arrow.edge
    line, head = (_loop if arrow.is_loop else _curve)(arrow, radius)
    return _DrawnArrow(
        line,
        head,
        arrow.is_full,
        arrow.in_cycle,
        arrow.width,
        _DASHES[edge.sign],
        _sentence(edge),
        linked(link, predicted=edge.predicted, tested=edge.tested),
    )


def _curve(arrow: Arrow, radius: float) -> tuple[str, str]:
    """The path of a curve and of its head; the circle is around 0, and y runs downwards."""
    start, end = arrow.start, arrow.end
    dx, dy = end - start
    control = (start + end) / 2 + arrow.bend * np.array([dy, -dx])
    one, middle, other = (
        radius * np.array([point[0], -point[1]]) for point in (start, control, end)
    )
    one = one + 6 * _direction(one, middle)
    towards = _direction(middle, other)
    tip, base = other - 8 * towards, other - (8 + _HEAD) * towards
    across = np.array([-towards[1], towards[0]]) * _HEAD * 0.42
    line = f"M{_at(one)}Q{_at(middle)} {_at(base)}"
    return line, f"M{_at(tip)}L{_at(base + across)}L{_at(base - across)}z"


def _loop(arrow: Arrow, radius: float) -> tuple[str, str]:
    """A circle on the inner side of a label that depends on itself."""
    outward = np.array([arrow.start[0], -arrow.start[1]])
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


def _angle(label: PlacedLabel) -> float:
    """How far the name of a label is turned, clockwise."""
    angle = float(np.degrees(np.arctan2(-label.y, label.x)))
    return angle - 180 if label.on_the_left else angle


# -------------------------------------------------------------------- the flow of rows


class _FlowRow(NamedTuple):
    """How one rule is drawn."""

    step: FlowStep
    text: str
    y: float
    width: float  # of the rows that reach it
    left: float  # of the rows that go on
    first: float  # of the rows of which it writes the first label
    further: float  # of those of which it writes a further label
    note: str
    sentence: str
    href: str | None


def flow_svg(flow: RowFlow, link: str | None = None) -> "Markup":
    r"""Draw the way of the rows through a list, as SVG.

    The grey band is the rows that are still under way; it narrows where rules end or complete
    rows. The bars are the rows in which a rule writes: dark where it is the first to write, striped
    where it writes a further label. All numbers are written, too.

    Parameters
    ----------
    flow : RowFlow
    link : str, optional
        The address behind each rule, such as ``"/rules/{rule}"``, with ``{rule}`` for the number
        by which it is called and ``{layer}`` for its layer, both from 1.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> from labelrules.inspection import row_flow
    >>> readers = load("magazines")
    >>> flow = row_flow(parse("quality <- sex = Female", readers.schema), readers)
    >>> flow_svg(flow).startswith("<svg")
    True
    """
    most = max(max((step.n_writing for step in flow.steps), default=0), 1)
    rows = [_flow_row(flow, number, step, most, link) for number, step in enumerate(flow.steps)]
    height = _FLOW_TOP + _STEP * (len(rows) + 1)
    return render(
        "flow.svg",
        title=f"The way of {flow.headline}",
        description="; ".join(row.sentence for row in rows[:20]),
        rows=rows,
        left=flow.n_left,
        left_words=flow.left_words,
        left_width=_TRUNK_WIDTH * flow.n_left / max(flow.n_rows, 1),
        width=_FLOW_WIDTH,
        height=height,
        step=_STEP,
        top=_FLOW_TOP,
        columns=(_TEXT, _TRUNK, _CAUGHT, _COUNTS),
    )


def _flow_row(flow: RowFlow, number: int, step: FlowStep, most: int, link: str | None) -> _FlowRow:
    scale = _TRUNK_WIDTH / max(flow.n_rows, 1)
    caught = _CAUGHT_WIDTH / most
    text = f"{step.place.called}  {step.text}"
    layer = 1 if step.place.layer is None else step.place.layer + 1
    return _FlowRow(
        step,
        cut_short(text, _LETTERS),
        _FLOW_TOP + _STEP * number,
        scale * step.n_reaching,
        scale * (step.n_reaching - step.n_leaving),
        caught * step.n_first,
        caught * (step.n_writing - step.n_first),
        _step_note(step),
        _step_sentence(step),
        linked(link, rule=step.place.called, layer=layer),
    )


def _step_note(step: FlowStep) -> str:
    parts = [f"{step.n_writing:,}"]
    if step.n_right is not None:
        parts.append(f"{step.n_right:,}/{step.n_wrong:,}")
    if step.n_leaving:
        parts.append(f"−{step.n_leaving:,}")
    return "  ".join(parts)


def _step_sentence(step: FlowStep) -> str:
    cells = "" if step.n_right is None else f", {step.n_right:,} right and {step.n_wrong:,} wrong"
    ends = f"; {counted(step.n_leaving, 'row')} go no further" if step.n_leaving else ""
    return (
        f"{step.place}: {step.text}: {counted(step.n_reaching, 'row')} reach it, it covers "
        f"{step.n_covered:,} and writes in {step.n_writing:,}, in {step.n_first:,} first"
        f"{cells}{ends}"
    )


# -------------------------------------------------------------------- histograms


class _Column(NamedTuple):
    """How one bar is drawn."""

    bar: Bar
    x: float
    width: float
    height: float
    is_covered: bool
    name: str


class _Line(NamedTuple):
    """How a threshold is drawn."""

    threshold: Threshold
    x: float
    is_own: bool  # whether the rule that is shown has it
    anchor: str


def histogram_svg(tested: MatrixFeature, cell: ConditionCell | None = None) -> "Markup":
    r"""Draw the histogram of a feature with the thresholds of rules, as SVG.

    What the conditions of a rule cover is shaded, and its bars are framed. Each threshold is a line
    with its value; those of other rules are thin. The element has the attributes ``data-feature``,
    ``data-low`` and ``data-high``, the ends of the scale, and each line has ``data-threshold``, for
    scripts that let a person drag it.

    Parameters
    ----------
    tested : MatrixFeature
        Of a `ConditionMatrix`.
    cell : ConditionCell, optional
        The conditions of one rule on this feature; by default nothing is covered.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.inspection import condition_matrix
    >>> from labelrules.rules import clinic_truth
    >>> matrix = condition_matrix(clinic_truth(), load("clinic"))
    >>> 'data-threshold="80.0"' in histogram_svg(matrix.feature("crp"))
    True
    """
    histogram = tested.histogram
    most = max(histogram.most, 1)
    n = max(len(histogram.bars), 1)
    columns = []
    for number, bar in enumerate(histogram.bars):
        start, end = number / n, (number + 1) / n
        if not histogram.is_by_value:
            start, end = histogram.position(bar.low), histogram.position(bar.high)
        columns.append(
            _Column(
                bar,
                _SIDE + _WIDTH * start,
                _WIDTH * (end - start),
                _HEIGHT * bar.n_rows / most,
                _covers(cell, bar),
                _bar_name(tested, cell, bar, n),
            )
        )
    return render(
        "histogram.svg",
        title=_histogram_title(tested, cell),
        description="; ".join(f"{bar.text}: {bar.n_rows:,}" for bar in histogram.bars),
        name=tested.feature.name,
        ends=(histogram.bars[0], histogram.bars[-1]) if histogram.bars else (),
        shows_ends=tested.feature.categories is None,
        n_missing=histogram.n_missing,
        columns=columns,
        lines=_threshold_lines(tested, cell),
        shade=_shade(tested, cell),
        size=(_SIDE, _TOP, _WIDTH, _HEIGHT),
        width=_WIDTH + 2 * _SIDE,
        height=_TOP + _HEIGHT + _BOTTOM,
    )


def _histogram_title(tested: MatrixFeature, cell: ConditionCell | None) -> str:
    name = tested.feature.name
    if cell is None:
        return f"{name}, tested by {counted(tested.n_rules, 'rule')}"
    return f"{cell.text}: {counted(cell.n_inside, 'row')}"


def _covers(cell: ConditionCell | None, bar: Bar) -> bool:
    """Whether all rows of a bar are covered."""
    if cell is None:
        return False
    if cell.codes is not None:
        return int(bar.high) in cell.codes
    is_above = bar.low > cell.low if bar.low == bar.high else bar.low >= cell.low
    return is_above and bar.high <= cell.high


def _bar_name(tested: MatrixFeature, cell: ConditionCell | None, bar: Bar, n_bars: int) -> str:
    """The name below the bar of a category, if there is room, or if it is tested."""
    if tested.feature.categories is None:
        return ""
    is_named = n_bars <= _NAMED or (cell is not None and int(bar.high) in (cell.codes or ()))
    return cut_short(bar.text, max(4, 38 // n_bars)) if is_named else ""


def _threshold_lines(tested: MatrixFeature, cell: ConditionCell | None) -> list[_Line]:
    own = () if cell is None else (cell.low, cell.high)
    both = all(isfinite(value) for value in own)
    lines = []
    for threshold in tested.thresholds:
        share = tested.histogram.position(threshold.value)
        anchor = "start" if share < 0.2 else "end" if share > 0.8 else "middle"
        if both and own:  # texts of two lines side by side point away from each other
            anchor = "end" if threshold.value == own[0] and share > 0.2 else "start"
            anchor = "end" if share > 0.8 else anchor
        lines.append(_Line(threshold, _SIDE + _WIDTH * share, threshold.value in own, anchor))
    return lines


def _shade(tested: MatrixFeature, cell: ConditionCell | None) -> tuple[float, float] | None:
    """Where the covered values begin, and how wide they are; None for categories."""
    if cell is None or cell.codes is not None:
        return None
    low, high = (tested.histogram.position(value) for value in (cell.low, cell.high))
    return _SIDE + _WIDTH * low, max(_WIDTH * (high - low), 0.0)
