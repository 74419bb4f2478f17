"""Cross-validation of one learner: the usual measures and the size of its models."""

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from labelrules._checks import counted, job_count, one_of
from labelrules._interrupts import heard_interrupts
from labelrules._report import Lines, Part, Report, Table, aligned, pandas_frame
from labelrules._types import Integers
from labelrules.data import Dataset
from labelrules.lab.measuring import learned, literals_of, predictions, presence_scores
from labelrules.lab.size_frontier import FoldValues, rows_in_folds
from labelrules.learners.base.progress import Listener, progress_listener
from labelrules.learners.registry import command_name
from labelrules.measures import evaluate

if TYPE_CHECKING:
    import pandas

LITERALS = "literals"
"""The name under which the size of models is shown."""


@dataclass(frozen=True)
class FoldProgress:
    """The progress of a cross-validation: `n_done` of `n_folds` models are finished."""

    n_done: int
    n_folds: int

    @property
    def share(self) -> float:
        """The share of the models that are finished, from 0 to 1."""
        return self.n_done / self.n_folds

    def __str__(self) -> str:
        return f"{self.n_done} of {counted(self.n_folds, 'fold')}"


@dataclass(frozen=True, repr=False)
class CrossValidation(Report):
    """What a learner reached in the folds; printing it shows means and standard deviations.

    Attributes
    ----------
    data, learner : str
        Their names.
    n_rows, n_folds : int
    measures : tuple of FoldValues
        For each measure its values in the folds, those in which it is defined; the literals of the
        models come last, if they are rules. ``found["micro F1"]`` finds one by name.
    """

    data: str
    learner: str
    n_rows: int
    n_folds: int
    measures: tuple[FoldValues, ...]

    def __getitem__(self, measure: str) -> FoldValues:
        names = [found.measure for found in self.measures]
        return self.measures[names.index(one_of(measure, "measure", names))]

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """For each measure its mean, its deviation, and the values in the folds."""
        return {
            one.measure: {
                "mean": one.mean,
                "deviation": deviation(one),
                "folds": list(one.values),
            }
            for one in self.measures
        }

    def to_frame(self) -> "pandas.DataFrame":
        """A pandas frame with a row for each measure: `measure`, `mean`, `deviation`, `folds`."""
        rows = [{"measure": name, **values} for name, values in self.as_dict().items()]
        titles = ("measure", "mean", "deviation", "folds")
        return pandas_frame({title: [row[title] for row in rows] for title in titles})

    def __repr__(self) -> str:
        return f"<CrossValidation of {self.learner}: {counted(self.n_folds, 'fold')}>"

    @property
    def headline(self) -> str:
        """What was cross-validated."""
        rows = counted(self.n_rows, "row")
        return f"{self.learner} on {self.data}: means of {self.n_folds} folds of {rows}"

    def __str__(self) -> str:
        table = "\n".join(line for part in self._parts() for line in part.lines())
        return f"{self.headline} (± standard deviation)\n\n{table}"

    def _parts(self) -> Iterator[Part]:
        rows = list(self._rows())
        digits = max(len(mean) for _, mean, _ in rows)
        cells = [[name, f"{mean:>{digits}} ± {spread}"] for name, mean, spread in rows]
        yield Lines(aligned(cells, left=(0, 1)))

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        for one in self.measures:
            form = ".1f" if one.measure == LITERALS else ".4f"
            yield one.measure, f"{one.mean:{form}}", f"{deviation(one):{form}}"

    def _page(self) -> Iterator[Part]:
        yield Table(("measure", "mean", "standard deviation"), list(self._rows()))


def deviation(found: FoldValues) -> float:
    """The standard deviation of the values in the folds; 0 if there is one only."""
    return statistics.stdev(found.values) if len(found.values) > 1 else 0.0


def cross_validate(
    data: Dataset,
    learner: Any,
    n_folds: int = 5,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool | Listener = False,
    **fit_options: Any,
) -> CrossValidation:
    """Cross-validate a learner: the usual measures on rows that it has not seen, and literals.

    Label sets are spread evenly over the folds, whatever the order of the rows is. Labels that are
    unknown do not count. Weights of rows count in learning and in measures.

    Parameters
    ----------
    data : Dataset
    learner : learner of rules
        It stays as it is.
    n_folds : int, default=5
    random_state : int, RandomState or None, default=None
        Divides the rows. None is the same as 0.
    n_jobs : int, optional
        Folds that are learned at the same time, by joblib; -1 for all processors. The result does
        not depend on it.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`FoldProgress`.
    **fit_options
        For `fit`, such as ``theory=``, rules to keep.

    Examples
    --------
    >>> from labelrules import SeparateAndConquer, planted
    >>> data, _ = planted(200, random_state=1)
    >>> found = cross_validate(data, SeparateAndConquer(), n_folds=3)
    >>> found
    <CrossValidation of separate-and-conquer: 3 folds>
    >>> round(found["micro F1"].mean, 3), round(found["literals"].mean, 1)
    (0.898, 26.7)
    """
    data, folds = rows_in_folds(data, n_folds, random_state)
    parallel = Parallel(n_jobs=job_count(n_jobs), return_as="generator")
    found: list[dict[str, float]] = []
    with progress_listener(progress) as listener:
        tasks = (delayed(_scores)(data, learner, folds, n, fit_options) for n in range(n_folds))
        for values in parallel(tasks):
            found.append(values)
            listener(FoldProgress(len(found), n_folds))
    names = dict.fromkeys(name for values in found for name in values)
    measures = [
        FoldValues(name, tuple(values[name] for values in found if name in values))
        for name in sorted(names, key=LITERALS.__eq__)  # which come last
    ]
    title = command_name(type(learner))
    return CrossValidation(data.name or "data", title, len(data), n_folds, tuple(measures))


@heard_interrupts()
def _scores(
    data: Dataset, learner: Any, folds: Integers, fold: int, fit_options: dict[str, Any]
) -> dict[str, float]:
    """Learn from the other folds; the measures on this one, those that are defined."""
    held = data.take(folds == fold)
    model = learned(clone(learner), data.take(folds != fold), **fit_options)
    predicted, presence = predictions(model, held), presence_scores(model, held)
    values = dict(evaluate(held.Y, predicted, presence, sample_weight=held.weights))
    size = literals_of(model)
    if size is not None:
        values[LITERALS] = float(size)
    return {name: value for name, value in values.items() if math.isfinite(value)}
