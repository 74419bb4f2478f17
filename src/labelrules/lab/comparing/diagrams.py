"""Critical-difference diagrams: average ranks on a scale, bars over learners not told apart."""

from typing import TYPE_CHECKING, NamedTuple

from labelrules._checks import counted
from labelrules._html import render
from labelrules.inspection.pictures.layouts import shown_name
from labelrules.inspection.pictures.plots import (
    GREY,
    check_matplotlib,
    new_axes,
)
from labelrules.lab.comparing.ranks import NemenyiTest

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

MAX_LEARNERS = 100
"""Learners that a diagram can show; more could not be read."""

_WIDTH = 380  # of the scale
_WIDEST = 700  # with many learners
_LETTER, _ROW, _BAR = 8.2, 22, 10  # width of a letter, height of a name, distance of bars
_TOP = 80  # above the scale: title and critical difference
_RANK = 50  # from the end of a line to its name, with the average rank between them
_MARGIN = 24  # of the scale on both sides


class _Label(NamedTuple):
    """A learner: its average rank, which row its name has, on which side."""

    learner: str
    rank: float
    row: int
    on_the_left: bool


class _GroupBar(NamedTuple):
    """A bar over learners that do not differ, and its level below the scale."""

    low: float
    high: float
    level: int
    learners: tuple[str, ...]


class _Diagram(NamedTuple):
    """What both pictures draw, in units of ranks, rows and levels."""

    labels: list[_Label]
    bars: list[_GroupBar]
    n_rows: int
    n_levels: int
    n_learners: int

    @classmethod
    def of(cls, test: NemenyiTest) -> "_Diagram":
        """The better half has its names on the left, the others on the right, outermost first."""
        order = test.ranks.order
        if len(order) > MAX_LEARNERS:
            raise ValueError(
                f"there are {len(order)} learners, and a diagram can show {MAX_LEARNERS}: compare "
                "fewer, or print the test"
            )
        half = (len(order) + 1) // 2
        labels = [
            _Label(
                learner,
                test.ranks[learner],
                place if place < half else len(order) - 1 - place,
                place < half,
            )
            for place, learner in enumerate(order)
        ]
        bars = _levelled(test)
        return cls(labels, bars, half, 1 + max((b.level for b in bars), default=-1), len(order))


def _levelled(test: NemenyiTest) -> list[_GroupBar]:
    """A bar for each group, on the first level on which it meets no other one."""
    bars: list[_GroupBar] = []
    ends: list[float] = []  # of each level
    least = 0.02 * (len(test.ranks.learners) - 1)
    for group in test.groups:
        low, high = test.ranks[group[0]], test.ranks[group[-1]]
        free = (level for level, end in enumerate(ends) if end + 4 * least < low)
        level = next(free, len(ends))
        ends[level : level + 1] = [high]
        bars.append(_GroupBar(low, high, level, group))
    return bars


def _caption(test: NemenyiTest) -> str:
    return (
        f"{counted(len(test.ranks.learners), 'learner')} over "
        f"{counted(len(test.ranks.datasets), 'data set')}: average ranks, 1 is best"
    )


def _legend(test: NemenyiTest) -> str:
    what = (
        "bars join learners that do not differ significantly"
        if test.groups
        else "all learners differ significantly"
    )
    return f"{what} (Nemenyi, alpha = {test.alpha:g})"


class _Drawn(NamedTuple):
    """How a learner is drawn: the path of its line, and its name beside the end."""

    path: str
    name: str
    x: float
    y: float
    on_the_left: bool
    rank: str
    sentence: str


def critical_difference_svg(test: NemenyiTest) -> "Markup":
    """Draw a critical-difference diagram as SVG; matplotlib is not needed.

    Learners stand at their average ranks, the best on the left. Bars join those that do not differ
    significantly; the bar above the scale is the critical difference. Each line says in words what
    it stands for, when the pointer is over it and to screen readers.

    Parameters
    ----------
    test : NemenyiTest
        From `nemenyi_test`.

    Examples
    --------
    >>> from labelrules.lab import nemenyi_test
    >>> scores = {"lists": [0.6, 0.7, 0.5], "chain": [0.5, 0.6, 0.6], "br": [0.4, 0.5, 0.3]}
    >>> picture = critical_difference_svg(nemenyi_test(scores))
    >>> "3 learners over 3 data sets: average ranks, 1 is best" in picture
    True
    """
    diagram = _Diagram.of(test)
    names = {label.learner: shown_name(label.learner) for label in diagram.labels}
    sides = [
        max(
            (len(names[one.learner]) for one in diagram.labels if one.on_the_left is left),
            default=0,
        )
        for left in (True, False)
    ]
    width = min(max(_WIDTH, 36 * diagram.n_learners), _WIDEST)
    start = _LETTER * sides[0] + _RANK + _MARGIN
    unit = width / (diagram.n_learners - 1)
    first_row = _TOP + 24 + _BAR * diagram.n_levels
    right = start + width + _MARGIN + _RANK + _LETTER * sides[1]
    difference = test.critical_difference * unit
    height = first_row + _ROW * diagram.n_rows + 14
    return render(
        "critical_difference.svg",
        title=_caption(test),
        legend=_legend(test),
        description="; ".join(f"{one.learner}: {one.rank:.3f}" for one in diagram.labels),
        labels=[
            _drawn(label, names[label.learner], diagram, (start, unit), first_row)
            for label in diagram.labels
        ],
        bars=[
            (
                start + (bar.low - 1) * unit - 5,
                start + (bar.high - 1) * unit + 5,
                _TOP + 14 + _BAR * bar.level,
                f"{', '.join(bar.learners)} do not differ significantly",
            )
            for bar in diagram.bars
        ],
        ticks=[(start + rank * unit, rank + 1) for rank in _ticks(diagram.n_learners)],
        start=start,
        end=start + width,
        top=_TOP,
        beside=_RANK - 4,
        difference=difference,
        difference_text=f"CD = {test.critical_difference:.3f}",
        width=max(right, start + difference + 20, 460),
        height=height,
    )


def _ticks(n_learners: int) -> list[int]:
    """The ranks that the scale names, less 1."""
    step = 1 if n_learners <= 20 else 5 if n_learners <= 50 else 10
    shown = [rank for rank in range(n_learners) if rank == 0 or (rank + 1) % step == 0]
    return shown if shown[-1] == n_learners - 1 else [*shown, n_learners - 1]


def _drawn(
    label: _Label, name: str, diagram: _Diagram, scale: tuple[float, float], first_row: float
) -> _Drawn:
    start, unit = scale
    x, y = start + (label.rank - 1) * unit, first_row + _ROW * label.row
    end = (
        start - _MARGIN if label.on_the_left else start + unit * (diagram.n_learners - 1) + _MARGIN
    )
    return _Drawn(
        f"M{x:.1f} {_TOP}V{y:.1f}H{end:.1f}",
        name,
        end,
        y + 4,
        label.on_the_left,
        f"{label.rank:.2f}",
        f"{label.learner}: average rank {label.rank:.3f}",
    )


def plot_critical_difference(test: NemenyiTest, ax: "Axes | None" = None) -> "Axes":
    """Draw a critical-difference diagram with matplotlib, for papers.

    It shows what `critical_difference_svg` shows.

    Parameters
    ----------
    test : NemenyiTest
        From `nemenyi_test`.
    ax : matplotlib Axes, optional
        Where to draw, best in a figure with ``layout="constrained"``; if left out, in a new figure
        of fitting size.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from labelrules.lab import nemenyi_test
    >>> scores = {"lists": [0.6, 0.7, 0.5], "chain": [0.5, 0.6, 0.6], "br": [0.4, 0.5, 0.3]}
    >>> ax = plot_critical_difference(nemenyi_test(scores))
    >>> ax.get_title()
    '3 learners over 3 data sets: average ranks, 1 is best'
    >>> ax.figure.savefig("ranks.pdf")  # doctest: +SKIP
    >>> import matplotlib.pyplot
    >>> matplotlib.pyplot.close(ax.figure)
    """
    check_matplotlib()
    diagram = _Diagram.of(test)
    first_row = 0.9 + 0.45 * diagram.n_levels
    if ax is None:
        longest = max(len(shown_name(one.learner)) for one in diagram.labels)
        width = min(3.2 + 0.1 * diagram.n_learners, 6.0) + 0.15 * longest
        ax = new_axes(width, 0.24 * (first_row + diagram.n_rows + 4) + 0.3)
    _draw_scale(ax, test, diagram)
    for bar in diagram.bars:
        y = -0.55 - 0.45 * bar.level
        margin = 0.012 * (diagram.n_learners - 1)
        ax.plot([bar.low - margin, bar.high + margin], [y, y], color="black", linewidth=3.5,
                solid_capstyle="butt", zorder=3)  # fmt: skip
    for label in diagram.labels:
        _draw_label(ax, label, diagram, first_row)
    ax.set_title(_caption(test), fontsize=10)
    ax.text(0.5, 0.0, _legend(test), transform=ax.transAxes, ha="center", va="top", fontsize=8)
    ax.set_ylim(-first_row - diagram.n_rows, 2.6)
    ax.set_axis_off()
    return ax


def _draw_scale(ax: "Axes", test: NemenyiTest, diagram: _Diagram) -> None:
    """The scale with its ticks, and the critical difference above it."""
    n = diagram.n_learners
    ax.plot([1, n], [0, 0], color="black", linewidth=1.0)
    for rank in _ticks(n):
        ax.plot([rank + 1, rank + 1], [0, 0.2], color="black", linewidth=1.0)
        ax.text(rank + 1, 0.3, str(rank + 1), ha="center", va="bottom", fontsize=8)
    end = 1 + test.critical_difference
    ax.plot([1, end], [1.6, 1.6], color="black", linewidth=1.6)
    for x in (1, end):
        ax.plot([x, x], [1.4, 1.8], color="black", linewidth=1.6)
    text = f"CD = {test.critical_difference:.3f}"
    ax.text((1 + end) / 2, 1.75, text, ha="center", va="bottom", fontsize=8)


def _draw_label(ax: "Axes", label: _Label, diagram: _Diagram, first_row: float) -> None:
    """A line from the scale down and aside, with the name and the average rank at its end."""
    margin = 0.06 * (diagram.n_learners - 1)
    end = 1 - margin if label.on_the_left else diagram.n_learners + margin
    y = -first_row - label.row
    ax.plot([label.rank, label.rank, end], [0, y, y], color=GREY, linewidth=0.9, zorder=2)
    name, rank = shown_name(label.learner), f"{label.rank:.2f}"
    ax.text(
        end, y, f"{name}  {rank} " if label.on_the_left else f" {rank}  {name}",
        ha="right" if label.on_the_left else "left", va="center", fontsize=9, parse_math=False,
    )  # fmt: skip
