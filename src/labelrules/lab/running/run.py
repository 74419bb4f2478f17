"""Run experiments: all fits of learners on divisions of data sets, each once."""

import errno
import os
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool  # of which that of joblib is one
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from sklearn.utils.parallel import Parallel, delayed

from labelrules._checks import counted, job_count, number, one_of, truth_value, whole_number
from labelrules._interrupts import heard_interrupts
from labelrules.data import FileError
from labelrules.data.document import Record, converted, read_document
from labelrules.data.files.access import opened_utf8, replacing, why_unreadable
from labelrules.lab.measuring import Categories, FitMeasure, fit_measures, named_learners
from labelrules.lab.running.definitions import (
    DividedData,
    Division,
    data_fingerprint,
    divided_datasets,
    fit_fingerprint,
    named_data,
    seeded,
)
from labelrules.lab.running.fitting import FitOutcome, FitTask, end_all, limited_outcome
from labelrules.lab.running.results import Fit, Results, save_columns
from labelrules.learners.base.progress import Listener, progress_listener, warn_of_early_end

FITS = "fits"
SCORES, RESOURCES = "scores.csv", "resources.csv"

USUAL_MEASURES = ("micro F1", "macro F1", "samples F1", "subset accuracy", "Hamming loss")
"""The measures by default."""


@dataclass(frozen=True)
class ExperimentProgress:
    """The progress of an experiment: `n_done` of `n_fits` are finished, the last one is `fit`."""

    n_done: int
    n_fits: int
    fit: Fit

    @property
    def share(self) -> float:
        """The share of the fits that are finished, from 0 to 1."""
        return self.n_done / self.n_fits

    def __str__(self) -> str:
        status = "" if self.fit.status == "done" else f" ({self.fit.status})"
        return f"{self.n_done} of {counted(self.n_fits, 'fit')}, last one {self.fit}{status}"


def experiment(
    learners: Any,
    data: Any,
    measures: Any = USUAL_MEASURES,
    split: Any = 5,
    *,
    n_repeats: int = 1,
    random_state: int = 0,
    time_limit: float | None = None,
    categories: Categories = "columns",
    folder: "str | os.PathLike[str] | None" = None,
    restart: bool = False,
    retry: bool = False,
    dry_run: bool = False,
    n_jobs: int | None = None,
    progress: bool | Listener = False,
) -> Results:
    """Learn with several learners on several data sets, and measure on rows not learned from.

    Each learner is fitted to each training part of each data set. A fit that fails, or that takes
    longer than its time limit, is recorded with the reason, and the others go on.

    Parameters
    ----------
    learners : dict from names to learners, or list
        Learners of rules, any scikit-learn estimators, or other objects with `fit(X, Y)` and
        `predict(X)`; or names of registered learners. They stay as they are. What has an attribute
        `n_literals` (and `n_rules`) when it is fitted says its size by it.
    data : dict from names to data sets, or list
        Each a :class:`Dataset`, a pair of them, to learn from and to measure on, or a name for
        :func:`load`.
    measures : list of str or Measure, default=("micro F1", "macro F1", ...)
        The measures of :func:`evaluate` by name, or any :class:`Measure` or its text.
    split : int, float or splitter, default=5
        The number of folds; the share of rows that is held out; or a splitter of scikit-learn.
        Folds and holdouts are stratified as by :class:`IterativeStratifiedKFold`, and do not depend
        on the order of the rows. Data sets that are pairs of parts are divided already.
    n_repeats : int, default=1
        How often the rows are divided, each time otherwise; a splitter has repeats of its own.
    random_state : int, default=0
        Divides the rows of repetition r by ``random_state + r``. Parameters `random_state` of
        learners that are None are set to the same number.
    time_limit : float, optional
        Seconds for learning and predicting of one fit. Each fit then has a process of its own,
        which is ended at the limit, and whose sudden end is no end of the others; starting it takes
        a second or two, which do not count.
    categories : {"columns", "codes"}, default="columns"
        How learners of other libraries get features with three or more categories: as a column of 0
        and 1 for each category, or as numbers of categories. Missing values are NaN.
    folder : path-like, optional
        Where fits are kept, each as soon as it is finished. A call with the same folder goes on
        where another one was ended, in whatever way. At the end `scores.csv` and `resources.csv`
        have a row for each fit.
    restart : bool, default=False
        Whether to remove the fits in the folder first.
    retry : bool, default=False
        Whether to run fits again that have failed or timed out.
    dry_run : bool, default=False
        Whether to list the fits only: those that are in the folder, and those to be run.
    n_jobs : int, optional
        Fits at the same time, by joblib; -1 for all processors. The backend is that of joblib's
        `parallel_config`, so that fits may run on a cluster.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`ExperimentProgress`.

    Returns
    -------
    Results
        A table when printed.

    Notes
    -----
    A fit that is in the folder is not repeated as long as its data, its rows, its learner with all
    settings, and its seed stay the same; names, and the order of learners and data sets, do not
    matter. It is run again for further measures, and if it was timed out at a smaller limit, but
    not after an update of a library: then begin anew (`restart`).

    The scores in `scores.csv` are in the order of the experiment, and byte for byte the same
    however often the program was ended meanwhile, if the learners themselves are deterministic;
    times and memory are in `resources.csv`. Ctrl-C keeps the finished fits, with a warning.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from labelrules import SeparateAndConquer, planted
    >>> learners = {"rules": SeparateAndConquer(), "tree": DecisionTreeClassifier(max_depth=4)}
    >>> data = {f"planted {n}": planted(150, random_state=n)[0] for n in (1, 2)}
    >>> found = experiment(learners, data, ["micro F1", "subset accuracy"], split=3)
    >>> print(found)
    2 learners on 2 data sets: 12 fits, 12 done
    ...
    """
    named, sets, chosen = named_learners(learners), named_data(data), fit_measures(measures)
    whole_number(n_repeats, "n_repeats", low=1)
    seed = whole_number(random_state, "random_state", low=0, high=2**32 - 1 - n_repeats)
    if time_limit is not None:
        number(time_limit, "time_limit", above=0, also="None")
    one_of(categories, "categories", ("columns", "codes"))
    for name, value in (("restart", restart), ("retry", retry), ("dry_run", dry_run)):
        truth_value(value, name)
    plan = _Plan(
        named, divided_datasets(sets, split, n_repeats, seed), chosen, seed, categories, time_limit
    )
    kept = None if folder is None else ExperimentFolder(folder)
    if kept is not None and not dry_run:
        kept.prepare(restart)
    fits = plan.fits(None if dry_run and restart else kept, retry)
    if dry_run:
        return Results(tuple(fits), chosen)
    run = _Run(plan, fits, kept)
    stopped = run.go(job_count(n_jobs), progress)
    results = Results(tuple(run.fits), chosen, stopped)
    if kept is not None:
        save_columns(results.scores_columns(), kept.path / SCORES)
        save_columns(results.resources_columns(), kept.path / RESOURCES)
    return results


class _FitFile(Record):
    """The file of a fit: its outcome, and where it stood in the experiment when it was run."""

    data: str
    learner: str
    repeat: int
    fold: int
    outcome: FitOutcome


class ExperimentFolder:
    """The files of an experiment.

    ``fits/FINGERPRINT.json`` holds the outcome of a fit. A file is there as a whole or not at all,
    whenever the program is killed. One program at a time may use a folder.
    """

    def __init__(self, path: "str | os.PathLike[str]") -> None:
        self.path = Path(path)
        self._fits = self.path / FITS

    def prepare(self, is_restart: bool = False) -> None:
        """Make the folder if need be, and remove files that were not finished; or all of ours."""
        try:
            self._fits.mkdir(parents=True, exist_ok=True)
            if not os.access(self._fits, os.W_OK):
                raise PermissionError(errno.EACCES, "")
        except OSError as wrong:
            raise FileError(
                f"cannot be the folder of an experiment: {why_unreadable(wrong)}", self.path
            ) from None
        useless = list(self._fits.glob(".*.tmp"))
        if is_restart:
            useless += [*self._fits.glob("*.json"), self.path / SCORES, self.path / RESOURCES]
        for file in useless:
            file.unlink(missing_ok=True)

    def outcome(self, fingerprint: str) -> FitOutcome | None:
        """The outcome of a fit, if it is there."""
        path = self._file(fingerprint)
        if not path.is_file():
            return None
        try:
            with opened_utf8(path) as file:
                return converted(read_document(file.read()), _FitFile).outcome
        except FileError:
            raise
        except ValueError as wrong:
            message = f"this is no fit of an experiment ({wrong}): remove it, and it is run again"
            raise FileError(message, path) from None

    def keep(self, fingerprint: str, place: tuple[str, str, int, int], outcome: FitOutcome) -> None:
        """Keep the outcome of a fit."""
        content = msgspec.json.encode(_FitFile(*place, outcome))
        with replacing(self._file(fingerprint)) as new:
            new.write_bytes(msgspec.json.format(content, indent=2) + b"\n")

    def _file(self, fingerprint: str) -> Path:
        return self._fits / f"{fingerprint}.json"


@dataclass(frozen=True, eq=False)
class _Plan:
    """All fits of an experiment, by their places."""

    learners: dict[str, Any]
    data: tuple[DividedData, ...]
    measures: tuple[FitMeasure, ...]
    seed: int
    categories: Categories
    time_limit: float | None

    def fits(self, kept: ExperimentFolder | None, retry: bool) -> list[Fit]:
        """The fits in order, with the outcomes that are kept and still hold."""
        found = []
        for data, division, name in self._places():
            learner = seeded(self.learners[name], self.seed + division.repeat)
            try:
                key = fit_fingerprint(
                    self._data_keys[data.name], division, learner, self.categories
                )
            except (ValueError, TypeError, RecursionError) as wrong:
                raise ValueError(f"learners[{name!r}] cannot be told apart: {wrong}") from None
            outcome = None if kept is None else kept.outcome(key)
            if outcome is not None and not self._holds(outcome, retry):
                outcome = None
            found.append(Fit(data.name, name, division.repeat, division.fold, key, outcome))
        return found

    def _places(self) -> Iterator[tuple[DividedData, Division, str]]:
        for data in self.data:
            for name in self.learners:
                for division in data.divisions:
                    yield data, division, name

    @cached_property
    def _data_keys(self) -> dict[str, str]:
        return {data.name: data_fingerprint(data) for data in self.data}

    @cached_property
    def _divisions(self) -> dict[tuple[str, int, int], tuple[DividedData, Division]]:
        return {
            (data.name, division.repeat, division.fold): (data, division)
            for data in self.data
            for division in data.divisions
        }

    def _holds(self, outcome: FitOutcome, retry: bool) -> bool:
        """Whether an outcome that is kept answers what is asked now."""
        if outcome.status == "done":
            return {one.name for one in self.measures} <= {*outcome.measures}
        if outcome.status == "timed out" and outcome.limit is not None:
            has_more_time = self.time_limit is None or self.time_limit > outcome.limit
            return not (retry or has_more_time)
        return not retry

    def task(self, fit: Fit) -> FitTask:
        """What is to be done for a fit."""
        data, division = self._divisions[fit.data, fit.repeat, fit.fold]
        learner = seeded(self.learners[fit.learner], self.seed + fit.repeat)
        return FitTask(
            learner, data.train_data, data.test_data, division.train, division.test,
            self.measures, self.categories, self.time_limit,
        )  # fmt: skip


class _Run:
    """The fits of an experiment while they are run."""

    def __init__(self, plan: _Plan, fits: list[Fit], kept: ExperimentFolder | None) -> None:
        self.plan, self.fits, self.kept = plan, fits, kept

    def go(self, n_jobs: int | None, progress: bool | Listener) -> str | None:
        """Run what is missing; returns why not all of it was run, or None."""
        missing = {fit.fingerprint: fit for fit in self.fits if fit.outcome is None}
        # batches would be kept late, and lost together
        parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
        calls = (delayed(_run)(key, self.plan.task(fit)) for key, fit in missing.items())
        with progress_listener(progress) as listener:
            try:
                for key, outcome in parallel(calls) if missing else ():
                    self._finished(key, outcome, listener)
            except KeyboardInterrupt:
                end_all()
                return self._interrupted()
            except BrokenProcessPool:
                raise RuntimeError(
                    "a worker process has ended suddenly, perhaps for lack of memory"
                    f"{self._kept_so_far()}: with a time limit (time_limit=) each fit has a "
                    "process of its own, and the end of one is recorded as a failure"
                ) from None
        return None

    def _finished(self, key: str, outcome: FitOutcome, listener: Listener) -> None:
        for place, fit in enumerate(self.fits):
            if fit.fingerprint == key:
                self.fits[place] = replace(fit, outcome=outcome)
        done = next(fit for fit in self.fits if fit.fingerprint == key)
        if self.kept is not None:
            self.kept.keep(key, done.place, outcome)
        listener(ExperimentProgress(self._n_done, len(self.fits), done))

    @property
    def _n_done(self) -> int:
        return sum(fit.outcome is not None for fit in self.fits)

    def _kept_so_far(self) -> str:
        return "" if self.kept is None else f"; the finished fits are kept in {self.kept.path}"

    def _interrupted(self) -> str:
        if not self._n_done:
            raise KeyboardInterrupt("before a fit was finished")
        finished = f"the {self._n_done} of {counted(len(self.fits), 'fit')} finished so far are"
        where = "kept" if self.kept is None else f"kept in {self.kept.path}"
        warn_of_early_end("it was interrupted", f"{finished} {where}")
        return "it was interrupted"


@heard_interrupts()
def _run(key: str, task: FitTask) -> tuple[str, FitOutcome]:
    return key, limited_outcome(task)
