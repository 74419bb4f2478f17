"""Quality against size as a picture: a line for each learner, with its errors and its knee."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from labelrules.experiments.frontier_values import Frontier, FrontierPoint
from labelrules.inspection.plots.common import (
    GREY,
    PURPLE,
    VERMILION,
    check_matplotlib,
    new_axes,
    shown_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = ("#0072b2", VERMILION, "#009e73", PURPLE, GREY, "#b58900")
_MARKERS = ("o", "s", "^", "D", "v", "P")
"""Learners differ in both, for colours alone are not seen by everybody."""


class _Style(NamedTuple):
    """How the points of a learner are drawn."""

    color: str
    marker: str

    @classmethod
    def of(cls, place: int) -> "_Style":
        """The colours come again with other markers after six learners."""
        return cls(_COLORS[place % 6], _MARKERS[(place + place // 6) % 6])


def plot_frontier(found: Frontier, measure: str, ax: "Axes | None" = None) -> "Axes":
    """Draw a measure against the literals used; see :meth:`Frontier.plot`."""
    check_matplotlib()
    if ax is None:
        ax = new_axes(6.4, 4.4)
    for place, learner in enumerate(found.learners):
        _draw_learner(ax, found, learner, measure, _Style.of(place))
    _set_sizes(ax, found.points)
    ax.set_ylabel(f"{measure}, mean of {found.n_folds} folds")
    ax.set_title(f"{shown_name(found.data)}: quality against size", fontsize=10, parse_math=False)
    ax.grid(True, color="#e4e4e4", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    legend = ax.legend(frameon=False, fontsize=8, loc="lower right")
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax


def _draw_learner(
    ax: "Axes", found: Frontier, learner: str, measure: str, style: _Style
) -> None:
    """The points from the smallest model to the largest, the band of their errors, the knee."""
    points = sorted(found.of(learner), key=lambda point: point.mean_literals)
    sizes = [point.mean_literals for point in points]
    means = [point[measure].mean for point in points]
    errors = [point[measure].standard_error for point in points]
    look: dict[str, Any] = {"color": style.color, "marker": style.marker}
    ax.plot(sizes, means, label=learner, linewidth=1.4, markersize=4.5, zorder=3, **look)
    low = [mean - error for mean, error in zip(means, errors, strict=True)]
    high = [mean + error for mean, error in zip(means, errors, strict=True)]
    ax.fill_between(sizes, low, high, color=style.color, alpha=0.12, linewidth=0, zorder=1)
    _draw_knee(ax, found.knee(learner, measure), measure, style)


def _draw_knee(ax: "Axes", knee: FrontierPoint, measure: str, style: _Style) -> None:
    """A ring, with the number of literals."""
    place = knee.mean_literals, knee[measure].mean
    ax.plot(
        *place, "o", markersize=11, markerfacecolor="none", markeredgecolor=style.color,
        markeredgewidth=1.4, zorder=4,
    )  # fmt: skip
    ax.annotate(
        f"{place[0]:,.0f}", place, xytext=(0, 8), textcoords="offset points", ha="center",
        va="bottom", fontsize=8, color=style.color, zorder=5,
    )  # fmt: skip


def _set_sizes(ax: "Axes", points: Sequence[FrontierPoint]) -> None:
    """A logarithmic scale with plain numbers; linear if some theory has no literal."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xlabel("literals: conditions and labels in heads (ring: the knee)")
    if min(point.mean_literals for point in points) <= 0:
        return
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}" if size >= 1 else ""))
    ax.xaxis.set_minor_formatter(NullFormatter())
