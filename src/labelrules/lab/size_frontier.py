"""Quality against size, by cross-validation of learners with limits of size."""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from labelrules._checks import counted, job_count, one_of, suggestion, whole_number
from labelrules._interrupts import heard_interrupts
from labelrules._report import Columns, FigureTable, Lines, Part, Report, Tabular, without_repeats
from labelrules._types import Integers
from labelrules.data import Dataset
from labelrules.data.weights import without_idle_cells
from labelrules.inspection.pictures.layouts import shown_name
from labelrules.inspection.pictures.plots import (
    GREY,
    PURPLE,
    VERMILION,
    check_matplotlib,
    new_axes,
)
from labelrules.lab.measuring import learned, named_learners, predictions, refuse_cell_weights
from labelrules.learners import registered
from labelrules.learners.base.progress import Listener, progress_listener, warn_of_early_end
from labelrules.learners.base.sampling import folds_of
from labelrules.measures import Measure
from labelrules.rules import theory_of

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


SIZES = (25, 50, 100, 200, 400, 800)
"""The limits of literals by default."""

LEARNERS = ("separate-and-conquer", "classifier-chain", "binary-relevance", "scorecard")
"""The learners that are compared by default, those of them that are registered."""

MEASURES = {
    "micro-F1": "f1/micro/full",
    "macro-F1": "f1/macro/full",
    "example-F1": "f1/samples/full",
    "subset accuracy": "subset/samples/full",
}
"""Measures by the names that tables and pictures show."""

Learners: TypeAlias = "Mapping[str, Any] | Iterable[Any] | None"


@dataclass(frozen=True)
class FrontierProgress:
    """The progress of a cross-validation: `n_done` of `n_models` are finished.

    Attributes
    ----------
    n_done, n_models : int
    learner : str
        The learner of the last model.
    max_literals : int
        Its limit.
    """

    n_done: int
    n_models: int
    learner: str
    max_literals: int

    @property
    def share(self) -> float:
        """The share of the models that are finished, from 0 to 1."""
        return self.n_done / self.n_models

    def __str__(self) -> str:
        last = f"{self.learner}, at most {counted(self.max_literals, 'literal')}"
        return f"{self.n_done} of {counted(self.n_models, 'model')}, last one {last}"


def frontier(
    data: Dataset,
    learners: Learners = None,
    sizes: Iterable[int] = SIZES,
    n_folds: int = 5,
    measure: str | Measure | Iterable[str | Measure] = (
        "micro-F1",
        "example-F1",
        "subset accuracy",
    ),
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | Listener = False,
) -> Frontier:
    """Cross-validate learners with limits of size: what a smaller model costs.

    For each learner and each limit, a model is learned from all folds but one, and its predictions
    for that fold are measured; the points are means over the folds. The size of a model is the
    number of literals that it really has: conditions in bodies and labels in heads.

    Parameters
    ----------
    data : Dataset
    learners : list of names or of learners, or dict, optional
        Learners with a parameter `max_literals`, by their registered names or as instances, which
        stay as they are; a dict gives them names. By default `SeparateAndConquer`,
        `ClassifierChain`, `BinaryRelevance` with RIPPER, and `Scorecard` if it is registered.
    sizes : iterable of int, default=(25, 50, 100, 200, 400, 800)
        The limits of literals.
    n_folds : int, default=5
        How many folds; label sets are spread evenly over them, whatever the order of the rows is.
    measure : str, Measure, or several, default=("micro-F1", "example-F1", "subset accuracy")
        The measures: these names, "macro-F1", or any :class:`Measure` or its text. Greater values
        must be better. The first decides where the knee is.
    random_state : int, RandomState or None, default=None
        Divides the rows. None is the same as 0.
    n_jobs : int, optional
        Models that are learned at the same time, by joblib; -1 for all processors. The result does
        not depend on it.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`FrontierProgress`.

    Returns
    -------
    Frontier
        A table when printed; `to_frame`, `plot`, and :meth:`~Frontier.knee`.

    Notes
    -----
    The knee is the smallest model whose measure is within one standard error of the best: the
    one-standard-error rule. Ctrl-C keeps the points of which all folds are finished, the smaller
    limits first, with a warning.

    Examples
    --------
    >>> from labelrules import planted
    >>> data, _ = planted(200, random_state=1)
    >>> lists = ["separate-and-conquer"]
    >>> print(frontier(data, lists, sizes=(5, 10, 100, 200), n_folds=3, measure="micro-F1"))
    planted 200 x 10: quality against size, means of 3 folds of 200 rows
    <BLANKLINE>
    learner                at most  literals  micro-F1 (± error)
    separate-and-conquer         5         3       0.293 ± 0.022
                                10         9       0.638 ± 0.013
                        100 to 200        27       0.898 ± 0.023  knee
    <BLANKLINE>
    knee by micro-F1: 27 literals by separate-and-conquer (at most 100), 0.898; ...
    """
    data, folds = rows_in_folds(data, n_folds, random_state)
    trial = _Trial(data, folds, checked_learners(learners), checked_measures(measure))
    limits = _checked_sizes(sizes)
    tasks = [
        _Task(learner, limit, fold)
        for limit in limits
        for learner in trial.learners
        for fold in range(n_folds)
    ]
    with progress_listener(progress) as listener:
        results, was_interrupted = _results(trial, tasks, job_count(n_jobs), listener)
    points = tuple(
        trial.point(learner, limit, results)
        for learner in trial.learners
        for limit in limits
        if all(_Task(learner, limit, fold) in results for fold in range(n_folds))
    )
    stopped = None
    if was_interrupted:
        if not points:
            raise KeyboardInterrupt("before a point was finished")
        stopped = "it was interrupted"
        n_all = len(trial.learners) * len(limits)
        warn_of_early_end(stopped, f"the {len(points)} of {n_all} points finished so far are kept")
    names = tuple(trial.measures)
    return Frontier(data.name or "data", data.n_rows, n_folds, names, points, stopped)


class _Task(NamedTuple):
    """A model to learn: by which learner, within which limit, without which fold."""

    learner: str
    max_literals: int
    fold: int


class _Result(NamedTuple):
    """The literals of a model, and its measures on the rows it has not learned from."""

    literals: int
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _Trial:
    """What all models have in common; it can be sent to other processes."""

    data: Dataset
    folds: Integers
    learners: dict[str, Any]
    measures: dict[str, Measure]

    def result(self, task: _Task) -> _Result:
        """Learn from the other folds, and predict this one."""
        limited = clone(self.learners[task.learner]).set_params(max_literals=task.max_literals)
        model = learned(limited, self.data.take(self.folds != task.fold))
        held = self.data.take(self.folds == task.fold)
        predicted = predictions(model, held)
        given = {"sample_weight": held.weights}
        values = (one.of_predictions(held.Y, predicted, **given) for one in self.measures.values())
        return _Result(theory_of(model).n_literals, tuple(values))

    def point(
        self, learner: str, max_literals: int, results: Mapping[_Task, _Result]
    ) -> FrontierPoint:
        """The results of all folds together."""
        n_folds = int(self.folds.max()) + 1
        found = [results[_Task(learner, max_literals, fold)] for fold in range(n_folds)]
        measures = tuple(
            FoldValues(name, tuple(one.values[place] for one in found))
            for place, name in enumerate(self.measures)
        )
        return FrontierPoint(learner, max_literals, tuple(one.literals for one in found), measures)


def _results(
    trial: _Trial, tasks: list[_Task], n_jobs: int | None, listener: Listener
) -> tuple[dict[_Task, _Result], bool]:
    """The results of the tasks that were finished, and whether Ctrl-C was pressed."""
    results: dict[_Task, _Result] = {}
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    try:
        for task, result in parallel(delayed(_result)(trial, task) for task in tasks):
            results[task] = result
            listener(FrontierProgress(len(results), len(tasks), task.learner, task.max_literals))
    except KeyboardInterrupt:
        return results, True
    return results, False


@heard_interrupts()
def _result(trial: _Trial, task: _Task) -> tuple[_Task, _Result]:
    return task, trial.result(task)


def rows_in_folds(data: Any, n_folds: Any, random_state: Any) -> tuple[Dataset, Integers]:
    """The rows that have labels, and for each its fold; label sets are spread evenly over them."""
    if not isinstance(data, Dataset):
        raise ValueError(f"data must be a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    refuse_cell_weights(data)
    data = without_idle_cells(data)
    checked = whole_number(n_folds, "n_folds", low=2)
    if checked > data.n_rows:
        raise ValueError(
            f"{checked} folds (n_folds) need as many rows, but the data have {data.n_rows}"
        )
    return data, folds_of(data, checked, random_state)


def _checked_sizes(sizes: Any) -> list[int]:
    if not isinstance(sizes, Iterable) or isinstance(sizes, str):
        raise ValueError(f"sizes must be a list of whole numbers, not {sizes!r:.60}")
    checked = [whole_number(size, "sizes: each", low=1) for size in sizes]
    if not checked:
        raise ValueError("sizes is empty: give at least one number of literals")
    return sorted(set(checked))


def checked_measures(measure: Any) -> dict[str, Measure]:
    """The measures by the names under which they are shown: one, or several."""
    is_one = isinstance(measure, str | Measure)
    if not is_one and not isinstance(measure, Iterable):
        raise ValueError(f"measure must be a name or a Measure, or several, not {measure!r:.60}")
    every = [measure] if is_one else list(measure)
    if not every:
        raise ValueError("measure is empty: give at least one")
    return {str(one): _measure(one) for one in every}


def _measure(given: Any) -> Measure:
    if isinstance(given, Measure):
        return given
    try:
        return Measure.parse(MEASURES.get(given, given))
    except ValueError as wrong:
        near = suggestion(given, MEASURES) if isinstance(given, str) else ""
        known = ", ".join(map(repr, MEASURES))
        raise ValueError(f"measure: {wrong}; there are also {known}{near}") from None


def limited_learners() -> dict[str, Any]:
    """The registered learners whose size can be limited, by name.

    >>> [name for name in limited_learners() if name in LEARNERS][:2]
    ['separate-and-conquer', 'binary-relevance']
    """
    return {name: one for name, one in registered().items() if _has_limit(one())}


def _has_limit(learner: Any) -> bool:
    return hasattr(learner, "get_params") and "max_literals" in learner.get_params(deep=False)


def checked_learners(learners: Learners = None) -> dict[str, Any]:
    """The learners to compare, by name, each with a parameter `max_literals`."""
    if learners is None:
        learners = [name for name in LEARNERS if name in registered()]
    found = named_learners(learners, limited_learners)
    for learner in found.values():
        if not _has_limit(learner):
            raise ValueError(
                f"{type(learner).__name__} has no parameter max_literals, so its size cannot be "
                f"limited; of the registered learners these have: {', '.join(limited_learners())}"
            )
    return found
