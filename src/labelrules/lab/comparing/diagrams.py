"""Critical-difference diagrams: average ranks on a scale, bars over learners not told apart."""

from collections.abc import Iterator
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


class _DiagramUnits(NamedTuple):
    """Where a picture has rank 1, the first bar and the first name, and the next of each."""

    start: float
    rank: float
    first_bar: float
    bar: float
    first_row: float
    row: float
    margin: float  # of the scale, beyond which names begin
    overhang: float  # of bars over the ranks of their learners


class _LearnerLine(NamedTuple):
    """A learner: from its rank on the scale down to `y`, and aside to its name at `end`."""

    learner: str
    name: str
    rank: float
    x: float
    y: float
    end: float
    on_the_left: bool


class _GroupBar(NamedTuple):
    """A bar over learners that do not differ."""

    low: float
    high: float
    y: float
    learners: tuple[str, ...]


class _Diagram:
    """What both pictures draw: ranks, groups and their levels, placed by the units of a picture."""

    def __init__(self, test: NemenyiTest) -> None:
        self.test, self.order = test, test.ranks.order
        self.n_learners = len(self.order)
        if self.n_learners > MAX_LEARNERS:
            raise ValueError(
                f"there are {self.n_learners} learners, and a diagram can show {MAX_LEARNERS}: "
                "compare fewer, or print the test"
            )
        self.n_rows = (self.n_learners + 1) // 2  # the better half has its names on the left
        self.names = [shown_name(learner) for learner in self.order]
        self.levels = list(self._levelled())
        self.n_levels = 1 + max(self.levels, default=-1)
        step = 1 if self.n_learners <= 20 else 5 if self.n_learners <= 50 else 10
        last = self.n_learners - 1
        self.ticks = sorted({0, last, *range(step - 1, last, step)})

    def _levelled(self) -> Iterator[int]:
        """For each group the first level on which its bar meets no other one."""
        ends: list[float] = []  # of each level
        gap = 0.08 * (self.n_learners - 1)
        for group in self.test.groups:
            low, high = self.test.ranks[group[0]], self.test.ranks[group[-1]]
            level = next((at for at, end in enumerate(ends) if end + gap < low), len(ends))
            ends[level : level + 1] = [high]
            yield level

    @property
    def caption(self) -> str:
        """What is compared."""
        n_sets = counted(len(self.test.ranks.datasets), "data set")
        return f"{counted(self.n_learners, 'learner')} over {n_sets}: average ranks, 1 is best"

    @property
    def legend(self) -> str:
        """What bars mean."""
        what = (
            "bars join learners that do not differ significantly"
            if self.test.groups
            else "all learners differ significantly"
        )
        return f"{what} (Nemenyi, alpha = {self.test.alpha:g})"

    @property
    def difference(self) -> str:
        """The critical difference in words."""
        return f"CD = {self.test.critical_difference:.3f}"

    def lines(self, units: _DiagramUnits) -> Iterator[_LearnerLine]:
        """The learners in their order, outermost names first on each side."""
        last = units.start + units.rank * (self.n_learners - 1)
        for place, (learner, name) in enumerate(zip(self.order, self.names, strict=True)):
            left, rank = place < self.n_rows, self.test.ranks[learner]
            row = place if left else self.n_learners - 1 - place
            end = units.start - units.margin if left else last + units.margin
            x, y = units.start + (rank - 1) * units.rank, units.first_row + units.row * row
            yield _LearnerLine(learner, name, rank, x, y, end, left)

    def bars(self, units: _DiagramUnits) -> Iterator[_GroupBar]:
        """The groups with their bars."""
        for group, level in zip(self.test.groups, self.levels, strict=True):
            ends = (self.test.ranks[group[0]], self.test.ranks[group[-1]])
            low, high = (units.start + (rank - 1) * units.rank for rank in ends)
            y = units.first_bar + units.bar * level
            yield _GroupBar(low - units.overhang, high + units.overhang, y, group)


_WIDTH = 380  # of the scale
_WIDEST = 700  # with many learners
_LETTER = 8.2  # width of a letter
_TOP = 80  # above the scale: title and critical difference
_RANK = 50  # from the end of a line to its name, with the average rank between them
_MARGIN = 24  # of the scale on both sides


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
    diagram = _Diagram(test)
    sides = diagram.names[: diagram.n_rows], diagram.names[diagram.n_rows :]
    left, right = (_LETTER * max(map(len, names), default=0) + _RANK + _MARGIN for names in sides)
    width = min(max(_WIDTH, 36 * diagram.n_learners), _WIDEST)
    unit, first_row = width / (diagram.n_learners - 1), _TOP + 24 + 10 * diagram.n_levels
    units = _DiagramUnits(left, unit, _TOP + 14, 10, first_row, 22, _MARGIN, 5)
    difference = test.critical_difference * unit
    return render(
        "critical_difference.svg",
        diagram=diagram,
        lines=list(diagram.lines(units)),
        bars=list(diagram.bars(units)),
        ticks=[(left + rank * unit, rank + 1) for rank in diagram.ticks],
        start=left,
        end=left + width,
        top=_TOP,
        beside=_RANK - 4,
        difference=difference,
        width=max(left + width + right, left + difference + 20, 460),
        height=first_row + 22 * diagram.n_rows + 14,
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
    diagram = _Diagram(test)
    n, first_row = diagram.n_learners, 0.9 + 0.45 * diagram.n_levels
    units = _DiagramUnits(1, 1, -0.55, -0.45, -first_row, -1, 0.06 * (n - 1), 0.012 * (n - 1))
    if ax is None:
        width = min(3.2 + 0.1 * n, 6.0) + 0.15 * max(map(len, diagram.names))
        ax = new_axes(width, 0.24 * (first_row + diagram.n_rows + 4) + 0.3)
    _draw_scale(ax, diagram)
    for bar in diagram.bars(units):
        ax.plot([bar.low, bar.high], [bar.y, bar.y], color="black", linewidth=3.5,
                solid_capstyle="butt", zorder=3)  # fmt: skip
    for one in diagram.lines(units):
        ax.plot([one.x, one.x, one.end], [0, one.y, one.y], color=GREY, linewidth=0.9, zorder=2)
        name, rank = one.name, f"{one.rank:.2f}"
        ax.text(
            one.end, one.y, f"{name}  {rank} " if one.on_the_left else f" {rank}  {name}",
            ha="right" if one.on_the_left else "left", va="center", fontsize=9, parse_math=False,
        )  # fmt: skip
    ax.set_title(diagram.caption, fontsize=10)
    ax.text(0.5, 0.0, diagram.legend, transform=ax.transAxes, ha="center", va="top", fontsize=8)
    ax.set_ylim(-first_row - diagram.n_rows, 2.6)
    ax.set_axis_off()
    return ax


def _draw_scale(ax: "Axes", diagram: _Diagram) -> None:
    """The scale with its ticks, and the critical difference above it."""
    ax.plot([1, diagram.n_learners], [0, 0], color="black", linewidth=1.0)
    for rank in diagram.ticks:
        ax.plot([rank + 1, rank + 1], [0, 0.2], color="black", linewidth=1.0)
        ax.text(rank + 1, 0.3, str(rank + 1), ha="center", va="bottom", fontsize=8)
    end = 1 + diagram.test.critical_difference
    ax.plot([1, end], [1.6, 1.6], color="black", linewidth=1.6)
    for x in (1, end):
        ax.plot([x, x], [1.4, 1.8], color="black", linewidth=1.6)
    ax.text((1 + end) / 2, 1.75, diagram.difference, ha="center", va="bottom", fontsize=8)
