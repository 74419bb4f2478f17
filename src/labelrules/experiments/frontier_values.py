"""Quality against size as values: points of learners, their knees, and the table of them."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from labelrules._checks import counted, one_of
from labelrules.rules.formats.frame import pandas_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def knee_of(points: Iterable[FrontierPoint], measure: str) -> FrontierPoint:
    """The smallest point that is within one standard error of the best one.

    The best has the greatest mean of the measure, of equal ones the fewest literals; the standard
    error is its own. Size is the mean of the literals used. Of points of equal size the better one
    is taken, and of equal ones the first.
    """
    every = list(points)
    best = max(every, key=lambda point: (point[measure].mean, -point.mean_literals))
    least = best[measure].mean - best[measure].standard_error
    near = [point for point in every if point[measure].mean >= least]
    return min(near, key=lambda point: (point.mean_literals, -point[measure].mean))


@dataclass(frozen=True, repr=False)
class Frontier:
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
    >>> values = [(5, 0.4, 0.5), (9, 0.6, 0.7), (30, 0.65, 0.75), (70, 0.66, 0.74)]
    >>> points = [
    ...     FrontierPoint("ripper", size, (size, size), (FoldValues("micro-F1", folds),))
    ...     for size, *folds in values
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

    def as_dict(self) -> dict[str, list[Any]]:
        """The points as columns, for a data frame of any library; see also `to_frame`.

        `literals` and the measures are means over the folds; `knee` marks that of each learner.
        """
        points = self.points
        knees = [self.knee(learner) for learner in self.learners]
        columns: dict[str, list[Any]] = {
            "learner": [point.learner for point in points],
            "max_literals": [point.max_literals for point in points],
            "literals": [point.mean_literals for point in points],
        }
        for name in self.measures:
            columns[name] = [point[name].mean for point in points]
            columns[f"{name} (standard error)"] = [point[name].standard_error for point in points]
        return {**columns, "knee": [point in knees for point in points]}

    def to_frame(self) -> Any:
        """The points as a pandas data frame, with the columns of `as_dict`."""
        return pandas_frame(self.as_dict())

    def plot(self, ax: "Axes | None" = None, *, measure: str | None = None) -> "Axes":
        """Draw a measure, by default the first, against the literals used, a line per learner.

        Bands show one standard error, rings the knees; the literals are on a logarithmic scale.

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
        from labelrules.experiments.frontier_plot import plot_frontier

        return plot_frontier(self, self._measure(measure), ax)

    def _measure(self, measure: str | None) -> str:
        return self.measures[0] if measure is None else one_of(measure, "measure", self.measures)

    def knee_text(self) -> str:
        """One sentence that names the knee of all learners, and the best point."""
        knee, name = self.knee(), self.measures[0]
        best = max(self.points, key=lambda point: (point[name].mean, -point.mean_literals))
        text = f"The knee by {name} is at {_described(knee, name)}"
        if best == knee:
            return f"{text}, and no larger model is better."
        error = f"{best[name].standard_error:.3f}"
        return (
            f"{text}: the smallest model within one standard error ({error}) of the best, which "
            f"has {_described(best, name)}."
        )

    def __repr__(self) -> str:
        knee = self.knee()
        return (
            f"<Frontier: {counted(len(self.points), 'point')} of "
            f"{counted(len(self.learners), 'learner')} on {self.data}, knee at "
            f"{_literals(knee)} by {knee.learner}>"
        )

    def __str__(self) -> str:
        rows = [self._head(), *(self._cells(same) for same in self._distinct())]
        lines = [self._title(), "", *_aligned(rows), "", "* knee of the learner"]
        missing = [f"Not all points: {self.stopped}."] if self.stopped else []
        return "\n".join([*lines, self.knee_text(), *missing])

    def _repr_html_(self) -> str:
        from labelrules._html import fragment, html_table, paragraphs, render

        rows = [self._cells(same) for same in self._distinct()]
        missing = [f"Not all points: {self.stopped}."] if self.stopped else []
        return fragment(
            render("<h4>{{ title }}</h4>", title=self._title()),
            html_table(rows, self._head()),
            paragraphs(["* knee of the learner", self.knee_text(), *missing]),
        )

    def _title(self) -> str:
        rows = counted(self.n_rows, "row")
        return f"{self.data}: quality against size, means of {self.n_folds} folds of {rows}"

    def _head(self) -> list[str]:
        first, *others = self.measures
        return ["learner", "at most", "literals", f"{first} (± error)", *others]

    def _distinct(self) -> list[list[FrontierPoint]]:
        """Points together if a greater limit changes nothing: one line shows them all."""
        alike = groupby(self.points, lambda one: (one.learner, one.literals, one.measures))
        return [list(same) for _, same in alike]

    def _cells(self, same: Sequence[FrontierPoint]) -> list[str]:
        point, last = same[0], same[-1]
        limits = dict.fromkeys(f"{one.max_literals:,}" for one in (point, last))
        first, *others = (point[name] for name in self.measures)
        star = " *" if point == self.knee(point.learner) else ""
        return [
            point.learner + star,
            " to ".join(limits),
            f"{point.mean_literals:,.0f}",
            f"{first.mean:.3f} ± {first.standard_error:.3f}",
            *(f"{other.mean:.3f}" for other in others),
        ]


def _literals(point: FrontierPoint) -> str:
    return counted(round(point.mean_literals), "literal")


def _described(point: FrontierPoint, measure: str) -> str:
    """A point in words."""
    limit = f"at most {point.max_literals:,}"
    return f"{_literals(point)} by {point.learner} ({limit}) with {point[measure].mean:.3f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column on the left, the others on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
