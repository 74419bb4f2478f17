"""Quality against size as values: points of learners, their knees, as a table and a picture."""

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from labelrules._checks import counted, one_of
from labelrules._report import Columns, FigureTable, Lines, Part, Report, Tabular, without_repeats
from labelrules.inspection.pictures.layouts import shown_name
from labelrules.inspection.pictures.plots import (
    GREY,
    PURPLE,
    VERMILION,
    check_matplotlib,
    new_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = ("#0072b2", VERMILION, "#009e73", PURPLE, GREY, "#b58900")
_MARKERS = ("o", "s", "^", "D", "v", "P")
"""Learners differ in both, for colours alone are not seen by everybody."""


@dataclass(frozen=True)
class FoldValues:
    """The values of a measure in the folds of a cross-validation.

    Examples
    --------
    >>> found = FoldValues("micro-F1", (0.5, 0.6, 0.7, 0.6))
    >>> round(found.mean, 3), round(found.standard_error, 3)
    (0.6, 0.041)
    """

    measure: str
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return statistics.fmean(self.values)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean: the deviation of the folds by the root of their number.

        The deviation is that of a sample, which divides by the number of folds less one.
        """
        return statistics.stdev(self.values) / math.sqrt(len(self.values))


@dataclass(frozen=True)
class FrontierPoint:
    """A learner with a limit of literals, and what it reached in the folds.

    Attributes
    ----------
    learner : str
    max_literals : int
        The limit.
    literals : tuple of int
        The literals of the theory of each fold, at most as many as the limit.
    measures : tuple of FoldValues
        For each measure its values in the folds; ``point["micro-F1"]`` finds one by name.

    Examples
    --------
    >>> point = FrontierPoint("ripper", 50, (48, 50), (FoldValues("micro-F1", (0.5, 0.6)),))
    >>> point.mean_literals, point["micro-F1"].mean
    (49.0, 0.55)
    """

    learner: str
    max_literals: int
    literals: tuple[int, ...]
    measures: tuple[FoldValues, ...]

    @property
    def mean_literals(self) -> float:
        """The literals that were used, in the mean over the folds."""
        return statistics.fmean(self.literals)

    def __getitem__(self, measure: str) -> FoldValues:
        names = [found.measure for found in self.measures]
        return self.measures[names.index(one_of(measure, "measure", names))]


def best_of(points: Iterable[FrontierPoint], measure: str) -> FrontierPoint:
    """The point with the greatest mean, of equal ones that with fewer literals, or the first."""
    return max(points, key=lambda point: (point[measure].mean, -point.mean_literals))


def knee_of(points: Iterable[FrontierPoint], measure: str) -> FrontierPoint:
    """The smallest point that is within one standard error of the best one.

    The best is that of `best_of`, and the standard error is its own. Size is the mean of the
    literals used. Of points of equal size the better one is taken, and of equal ones the first.
    """
    every = list(points)
    best = best_of(every, measure)
    least = best[measure].mean - best[measure].standard_error
    near = [point for point in every if point[measure].mean >= least]
    return min(near, key=lambda point: (point.mean_literals, -point[measure].mean))


@dataclass(frozen=True, repr=False)
class Frontier(Report, Tabular):
    """Quality against size, by cross-validation; printing it shows a table.

    Attributes
    ----------
    data : str
        The name of the data.
    n_rows, n_folds : int
    measures : tuple of str
        The names of the measures; the first decides where the knee is.
    points : tuple of FrontierPoint
        By learner, the smallest limit first.
    stopped : str or None
        Why there are not all points, if there are not.

    Examples
    --------
    >>> values = [(5, (0.4, 0.5)), (9, (0.6, 0.7)), (30, (0.6, 0.8)), (70, (0.6, 0.78))]
    >>> points = [
    ...     FrontierPoint("ripper", size, (size, size), (FoldValues("micro-F1", folds),))
    ...     for size, folds in values
    ... ]
    >>> found = Frontier("readers", 100, 2, ("micro-F1",), tuple(points))
    >>> found
    <Frontier: 4 points of 1 learner on readers, knee at 9 literals by ripper>
    >>> found.knee().max_literals
    9
    """

    data: str
    n_rows: int
    n_folds: int
    measures: tuple[str, ...]
    points: tuple[FrontierPoint, ...]
    stopped: str | None = None

    _gap, _heading = "\n\n", "h4"

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners that have points."""
        return tuple(dict.fromkeys(point.learner for point in self.points))

    def of(self, learner: str) -> tuple[FrontierPoint, ...]:
        """The points of one learner, the smallest limit first."""
        one_of(learner, "learner", self.learners)
        return tuple(point for point in self.points if point.learner == learner)

    def knee(self, learner: str | None = None, measure: str | None = None) -> FrontierPoint:
        """The smallest point within one standard error of the best: larger models gain little.

        Parameters
        ----------
        learner : str, optional
            Of which learner; by default of all.
        measure : str, optional
            By which measure; by default the first.
        """
        chosen = self._measure(measure)
        return knee_of(self.points if learner is None else self.of(learner), chosen)

    def as_dict(self) -> Columns:
        """The points as columns, for a data frame of any library; see also `to_frame`.

        `literals` and the measures are means over the folds; `knee` marks that of each learner.
        """
        points = self.points
        knees = [self.knee(learner) for learner in self.learners]
        columns: Columns = {
            "learner": [point.learner for point in points],
            "max_literals": [point.max_literals for point in points],
            "literals": [point.mean_literals for point in points],
        }
        for name in self.measures:
            columns[name] = [point[name].mean for point in points]
            columns[f"{name} (standard error)"] = [point[name].standard_error for point in points]
        return {**columns, "knee": [point in knees for point in points]}

    def plot(self, ax: "Axes | None" = None, *, measure: str | None = None) -> "Axes":
        """Draw a measure, by default the first, against the literals used, a line per learner.

        Bars show one standard error, rings the knees of learners, a dotted line that of all. The
        literals are on a logarithmic scale.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; by default in a new figure.
        measure : str, optional
            The name of the measure.

        Returns
        -------
        Axes
        """
        return _plot(self, self._measure(measure), ax)

    def _measure(self, measure: str | None) -> str:
        return self.measures[0] if measure is None else one_of(measure, "measure", self.measures)

    def knee_lines(self) -> list[str]:
        """Lines that name the knee of all learners and the best point, by the first measure."""
        name = self.measures[0]
        knee, best = self.knee(), best_of(self.points, name)
        lines = [f"knee by {name}: {_described(knee, name)}"]
        if best == knee:
            has_smaller = any(sum(one.literals) < sum(knee.literals) for one in self.points)
            by = ", by over one standard error of all smaller ones" if has_smaller else ""
            return [f"{lines[0]}; it is the best{by}"]
        return [
            *lines,
            f"best: {_described(best, name)}",
            f"The knee is the smallest model within one standard error "
            f"({best[name].standard_error:.3f}) of the best.",
        ]

    def __repr__(self) -> str:
        knee = self.knee()
        return (
            f"<Frontier: {counted(len(self.points), 'point')} of "
            f"{counted(len(self.learners), 'learner')} on {self.data}, knee at "
            f"{_literals(knee)} by {knee.learner}>"
        )

    def _parts(self) -> Iterator[Part]:
        first, *others = self.measures
        titles = ["learner", "at most", "literals", f"{first} (± error)", *others, ""]
        yield FigureTable(titles, without_repeats(self._rows()))
        missing = [f"Not all points: {self.stopped}."] if self.stopped else []
        yield Lines([*self.knee_lines(), *missing])

    @property
    def headline(self) -> str:
        """What was cross-validated."""
        rows = counted(self.n_rows, "row")
        return f"{self.data}: quality against size, means of {self.n_folds} folds of {rows}"

    def _rows(self) -> Iterator[list[str]]:
        """Cells of the table; where a greater limit changes nothing, one row shows both."""
        alike = groupby(self.points, lambda one: (one.learner, one.literals, one.measures))
        for _, same in alike:
            first, *others = same
            yield self._cells(first, others[-1] if others else first)

    def _cells(self, point: FrontierPoint, last: FrontierPoint) -> list[str]:
        limits = dict.fromkeys(f"{one.max_literals:,}" for one in (point, last))
        first, *others = (point[name] for name in self.measures)
        return [
            point.learner,
            " to ".join(limits),
            f"{point.mean_literals:,.0f}",
            f"{first.mean:.3f} ± {first.standard_error:.3f}",
            *(f"{other.mean:.3f}" for other in others),
            "knee" if point == self.knee(point.learner) else "",
        ]


def _literals(point: FrontierPoint) -> str:
    return counted(round(point.mean_literals), "literal")


def _described(point: FrontierPoint, measure: str) -> str:
    """A point in words."""
    limit = f"at most {point.max_literals:,}"
    return f"{_literals(point)} by {point.learner} ({limit}), {point[measure].mean:.3f}"


class _Style(NamedTuple):
    """How the points of a learner are drawn."""

    color: str
    marker: str

    @classmethod
    def of(cls, place: int) -> "_Style":
        """The colours come again with other markers after six learners."""
        return cls(_COLORS[place % 6], _MARKERS[(place + place // 6) % 6])


def _plot(found: Frontier, measure: str, ax: "Axes | None" = None) -> "Axes":
    """Draw a measure against the literals used."""
    check_matplotlib()
    if ax is None:
        ax = new_axes(6.4, 4.4)
    for place, learner in enumerate(found.learners):
        _draw_learner(ax, found, learner, measure, _Style.of(place))
    knee = found.knee(measure=measure).mean_literals
    ax.axvline(knee, color=GREY, linewidth=0.9, linestyle=":", label=f"knee of all: {knee:,.0f}")
    _set_sizes(ax, found.points)
    ax.set_ylabel(f"{measure}, mean of {found.n_folds} folds", parse_math=False)
    ax.set_title(f"{shown_name(found.data)}: quality against size", fontsize=10, parse_math=False)
    ax.grid(True, color="#e4e4e4", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    legend = ax.legend(fontsize=8, loc="lower right", framealpha=0.9, edgecolor="none")
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax


def _draw_learner(ax: "Axes", found: Frontier, learner: str, measure: str, style: _Style) -> None:
    """The points from the smallest model to the largest, their errors, and a ring at the knee."""
    points = sorted(found.of(learner), key=lambda point: point.mean_literals)
    knee = found.knee(learner, measure)
    ax.errorbar(
        [point.mean_literals for point in points],
        [point[measure].mean for point in points],
        [point[measure].standard_error for point in points],
        color=style.color, marker=style.marker, linewidth=1.4, markersize=4.5, elinewidth=0.8,
        capsize=2, zorder=3, label=f"{shown_name(learner)}, knee: {knee.mean_literals:,.0f}",
    )  # fmt: skip
    ax.plot(
        knee.mean_literals, knee[measure].mean, "o", markersize=11, markerfacecolor="none",
        markeredgecolor=style.color, markeredgewidth=1.4, zorder=4,
    )  # fmt: skip


def _set_sizes(ax: "Axes", points: Sequence[FrontierPoint]) -> None:
    """A logarithmic scale with plain numbers; linear if some theory has no literal."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xlabel("literals: conditions in bodies and labels in heads")
    sizes = [point.mean_literals for point in points]
    if min(sizes) <= 0:
        return
    ax.set_xscale("log")
    steps = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if max(sizes) < 12 * min(sizes) else (1.0, 2.0, 5.0)
    ax.xaxis.set_major_locator(LogLocator(subs=steps))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.10g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
