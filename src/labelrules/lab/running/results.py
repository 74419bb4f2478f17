"""The results of an experiment: fits in order, tables, ranks, and files."""

import csv
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelrules._checks import counted, one_of, suggestion
from labelrules._report import (
    AS_DICT,
    Columns,
    Lines,
    Part,
    Report,
    Table,
    Tabular,
    aligned,
    typed_frame,
    without_repeats,
)
from labelrules.data.files.access import checked_target, replacing, written_text
from labelrules.data.files.arrow import pyarrow
from labelrules.lab.comparing.ranks import AverageRanks, average_ranks
from labelrules.lab.comparing.score_tables import ScoreTable
from labelrules.lab.measuring import FitMeasure
from labelrules.lab.running.fitting import FitOutcome

SIZES = ("literals", "rules")
RESOURCES = ("seconds", "predict_seconds", "cpu_seconds", "peak_memory")
PLACE = ("data", "learner", "repeat", "fold")
_TYPES = {
    "data": "text",
    "learner": "text",
    "repeat": "number",
    "fold": "number",
    "status": "text",
    "message": "text",
    "literals": "count",
    "rules": "count",
    "peak_memory": "count",
    "version": "text",
    "fingerprint": "text",
}
"""Types of columns; all others are real numbers."""


@dataclass(frozen=True)
class Fit:
    """One fit of an experiment, and what came of it.

    Attributes
    ----------
    data, learner : str
    repeat, fold : int
        Which division of the rows, from 0.
    fingerprint : str
        A hash of the data, the rows, and the learner with its settings and its seed: fits with the
        same fingerprint have the same result.
    outcome : FitOutcome or None
        None if it has not been run.
    """

    data: str
    learner: str
    repeat: int
    fold: int
    fingerprint: str
    outcome: FitOutcome | None = None

    @property
    def status(self) -> str:
        """Whether it is "done", "failed", "timed out" or "not run"."""
        return "not run" if self.outcome is None else self.outcome.status

    @property
    def place(self) -> tuple[str, str, int, int]:
        """Where it stands in the experiment."""
        return self.data, self.learner, self.repeat, self.fold

    def value(self, name: str) -> float | None:
        """A measure, the size or a resource by name; None where it is not known."""
        if self.outcome is None:
            return None
        if name in (*SIZES, *RESOURCES):
            found: float | None = getattr(self.outcome, name)
            return found
        return self.outcome.values.get(name)

    def __str__(self) -> str:
        return f"{self.learner} on {self.data}, repeat {self.repeat}, fold {self.fold}"


@dataclass(frozen=True, repr=False)
class Results(Report, Tabular):
    """What came of an experiment; printing it shows means and standard deviations.

    Attributes
    ----------
    fits : tuple of Fit
        By data set, learner, repetition and fold, whenever they were run.
    measures : tuple of FitMeasure
    stopped : str or None
        Why not all fits were run, if that is so.
    """

    fits: tuple[Fit, ...]
    measures: tuple[FitMeasure, ...]
    stopped: str | None = None

    _gap = "\n\n"

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the data sets."""
        return tuple(dict.fromkeys(fit.data for fit in self.fits))

    @property
    def learners(self) -> tuple[str, ...]:
        """The names of the learners."""
        return tuple(dict.fromkeys(fit.learner for fit in self.fits))

    @property
    def failures(self) -> tuple[Fit, ...]:
        """The fits that have failed or were stopped at their time limit."""
        return tuple(fit for fit in self.fits if fit.status in ("failed", "timed out"))

    def of(self, data: str, learner: str) -> tuple[Fit, ...]:
        """The fits of one learner on one data set."""
        one_of(data, "data", self.datasets)
        one_of(learner, "learner", self.learners)
        return tuple(fit for fit in self.fits if (fit.data, fit.learner) == (data, learner))

    def table(self, measure: str | None = None) -> ScoreTable:
        """The means of a measure, data sets by learners, for tests such as `nemenyi_test`.

        Parameters
        ----------
        measure : str, optional
            A measure of the experiment, "literals", "rules", "seconds", "predict_seconds",
            "cpu_seconds" or "peak_memory"; by default the first measure.

        Raises
        ------
        ValueError
            If a fit of some learner on some data set is not done.
        """
        name = self._named(measure)
        rows = [[self._mean(data, learner, name) for learner in self.learners]
                for data in self.datasets]  # fmt: skip
        return ScoreTable(self.datasets, self.learners, tuple(map(tuple, rows)))

    def ranks(self, measure: str | None = None) -> AverageRanks:
        """The average ranks of the learners over the data sets; see `table` for the measures."""
        return average_ranks(self.table(measure), higher_is_better=self.higher_is_better(measure))

    def higher_is_better(self, measure: str | None = None) -> bool:
        """Whether greater values of a measure are better; sizes and resources should be small."""
        name = self._named(measure)
        return any(one.name == name and one.higher_is_better for one in self.measures)

    def _named(self, measure: str | None) -> str:
        """The name of a measure, which may be written otherwise, such as micro-F1."""
        if measure is None:
            return self.measures[0].name
        names = [one.name for one in self.measures]
        known = [*names, *SIZES, *RESOURCES]
        if measure in known:
            return measure
        try:
            same = FitMeasure.of(measure)
        except ValueError:
            same = FitMeasure("")
        for one in self.measures:
            if one.name == same.name or (one.measure and one.measure == same.measure):
                return one.name
        near = suggestion(str(measure), known) or f"; there are {', '.join(map(repr, known))}"
        raise ValueError(f"the experiment has no measure {measure!r:.60}{near}")

    def _values(self, data: str, learner: str, name: str) -> list[float]:
        values = [fit.value(name) for fit in self.of(data, learner)]
        return [float(value) for value in values if value is not None]

    def _mean(self, data: str, learner: str, name: str) -> float:
        """The mean over the divisions; NaN if a fit is not done, or the measure never defined."""
        is_done = all(fit.status == "done" for fit in self.of(data, learner))
        values = self._values(data, learner, name)
        return statistics.fmean(values) if is_done and values else float("nan")

    # ------------------------------------------------------------ frames and files

    def as_dict(self) -> Columns:
        """A row for each fit, as columns.

        They are `data`, `learner`, `repeat`, `fold`, `status`, `message`, the measures, `literals`,
        `rules`, `seconds`, `predict_seconds`, `cpu_seconds`, `peak_memory` (bytes), `version` (of
        labelrules) and `fingerprint`; None where a value is not known.
        """
        return {**self.scores_columns(), **self.resources_columns(), **self._fingerprints()}

    def scores_columns(self) -> Columns:
        """The columns that do not depend on the machine, apart from time-outs."""
        outcomes = [fit.outcome for fit in self.fits]
        return {
            **self._places(),
            "status": [fit.status for fit in self.fits],
            "message": ["" if one is None else one.message for one in outcomes],
            **self._columns(*(one.name for one in self.measures), *SIZES),
        }

    def resources_columns(self) -> Columns:
        """The columns that are measured anew whenever a fit is run."""
        outcomes = [fit.outcome for fit in self.fits]
        versions = [one.versions.get("labelrules") if one else None for one in outcomes]
        return {**self._places(), **self._columns(*RESOURCES), "version": versions}

    def _places(self) -> Columns:
        return {name: [getattr(fit, name) for fit in self.fits] for name in PLACE}

    def _columns(self, *names: str) -> Columns:
        return {name: [fit.value(name) for fit in self.fits] for name in names}

    def _fingerprints(self) -> Columns:
        return {"fingerprint": [fit.fingerprint for fit in self.fits]}

    def to_frame(self, library: str = "pandas") -> Any:
        """A frame with a row for each fit, and the columns of `as_dict`.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
        """
        columns = self.as_dict()
        types = {name: _TYPES.get(name, "real") for name in columns}
        return typed_frame(columns, types, library, also=AS_DICT)

    def save_csv(self, path: str | Path) -> None:
        """Write a row for each fit as CSV, with the columns of `as_dict`."""
        save_columns(self.as_dict(), path)

    def save_parquet(self, path: str | Path) -> None:
        """Write a row for each fit as Parquet, with the columns of `as_dict`."""
        arrow = pyarrow()
        from pyarrow.parquet import write_table

        types = {"text": arrow.string(), "number": arrow.int64(), "count": arrow.int64()}
        columns = self.as_dict()
        arrays = [
            arrow.array(values, types.get(_TYPES.get(name, "real"), arrow.float64()))
            for name, values in columns.items()
        ]
        with replacing(checked_target(path)) as new:
            write_table(arrow.table(arrays, names=list(columns)), new)

    # ------------------------------------------------------------ texts

    @property
    def headline(self) -> str:
        """How many fits there are, and how many are done."""
        statuses = [fit.status for fit in self.fits]
        parts = [
            f"{statuses.count(status):,} {status}"
            for status in ("done", "failed", "timed out", "not run")
            if status == "done" or status in statuses
        ]
        return (
            f"{counted(len(self.learners), 'learner')} on {counted(len(self.datasets), 'data set')}"
            f": {counted(len(self.fits), 'fit')}, {', '.join(parts)}"
        )

    def summary_rows(self) -> Iterator[list[str]]:
        """For each data set and learner: means and standard deviations of measures and literals."""
        for data in self.datasets:
            for learner in self.learners:
                fits = self.of(data, learner)
                n_done = sum(fit.status == "done" for fit in fits)
                names = [one.name for one in self.measures]
                cells = [_spread(self._values(data, learner, name), 3) for name in names]
                size = _spread(self._values(data, learner, "literals"), 1)
                missing = f"{n_done} of {len(fits)} fits" if n_done < len(fits) else ""
                yield [data, learner, *cells, size, missing]

    @property
    def summary_head(self) -> list[str]:
        """The titles of the columns of `summary_rows`."""
        return ["data", "learner", *(one.name for one in self.measures), "literals", ""]

    def rank_rows(self) -> tuple[list[list[str]], list[str]]:
        """For each learner its average ranks by the measures; and notes why some are missing."""
        found, notes = {}, []
        for one in self.measures:
            try:
                found[one.name] = self.ranks(one.name)
            except ValueError as wrong:
                notes.append(f"No average ranks by {one.name}: {wrong}.")
        rows = [
            [learner, *(f"{found[name][learner]:.2f}" for name in found)]
            for learner in (self.learners if found else ())
        ]
        return ([["average rank", *found], *rows] if rows else []), notes

    def failure_lines(self) -> list[str]:
        """A line for each fit that has failed or was stopped."""
        return [
            f"{fit}: {fit.status}, {fit.outcome.message}" for fit in self.failures if fit.outcome
        ]

    def _parts(self) -> Iterator[Part]:
        rows = without_repeats(self.summary_rows())
        yield Lines(aligned([self.summary_head, *rows], left=(0, 1)))
        if len(self.datasets) > 1 and len(self.learners) > 1:
            ranks, notes = self.rank_rows()
            yield Lines([*aligned(ranks), *notes])
        yield Lines(self.failure_lines())
        yield Lines(self._stopped_lines())

    def _page(self) -> Iterator[Part]:
        yield Table(self.summary_head, list(self.summary_rows()))
        yield Lines([*self.failure_lines(), *self._stopped_lines()])

    def _stopped_lines(self) -> list[str]:
        return [f"Not all fits: {self.stopped}."] if self.stopped else []


def _spread(values: Sequence[float], digits: int) -> str:
    """Mean and standard deviation; empty without values."""
    if not values:
        return ""
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def save_columns(columns: Columns, path: str | Path) -> None:
    """Write columns as CSV, the same bytes for the same values; empty cells for None."""
    target = checked_target(path)
    with replacing(target) as new, written_text(new, target) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
