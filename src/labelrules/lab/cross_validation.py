"""Cross-validation of learners with limits of size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from labelrules._checks import counted, job_count, suggestion, whole_number
from labelrules._interrupts import heard_interrupts
from labelrules._types import Integers
from labelrules.data import Dataset
from labelrules.lab.frontier_values import FoldValues, Frontier, FrontierPoint
from labelrules.lab.measuring import learned, named_learners, predictions, refuse_cell_weights
from labelrules.learners import registered
from labelrules.learners.base.progress import (
    Listener,
    progress_listener,
    warn_of_early_end,
)
from labelrules.learners.base.sampling import folds_of
from labelrules.learners.base.tables import without_idle_cells
from labelrules.measures import Measure
from labelrules.rules import theory_of

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
