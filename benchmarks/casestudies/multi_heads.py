"""The second study: BR, single- and multi-label heads by several objectives on eight data sets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from casestudies.chapter import ALPHA, FLAG_ROW
from casestudies.kept_work import MULTI, StudyFolder
from casestudies.materials import (
    LABEL_SETS,
    OBJECTIVES,
    SUBSET,
    StudyData,
    covering,
    multi_head_learners,
)
from labelrules._types import UNSET
from labelrules.data import Dataset
from labelrules.lab import (
    FriedmanTest,
    NemenyiTest,
    Results,
    ScoreTable,
    friedman_test,
    nemenyi_test,
)
from labelrules.learners.base.progress import Listener
from labelrules.rules import DecisionList, Rule

MEASURES = (
    "Hamming loss", "subset accuracy", "micro precision", "micro recall", "micro F1", "macro F1",
    "samples F1",
)  # fmt: skip
LEAST_SETS = 2
"""Data sets that tests over data sets need."""
EXACT_SUBSET = f"{SUBSET} (exact heads)"
"""Multi-label heads of any size by subset accuracy: rows, not counts, decide, which takes long."""


class HeadCounts(NamedTuple):
    """The heads of a list: how many rules, how many with several labels, labels per head."""

    data: str
    objective: str
    n_rules: int
    n_multi: int
    mean_size: float
    largest: int

    @property
    def share(self) -> float:
        """The share of rules with several labels in the head."""
        return self.n_multi / self.n_rules if self.n_rules else 0.0

    @classmethod
    def of(cls, data: str, objective: str, theory: DecisionList) -> "HeadCounts":
        """Count the heads of a list."""
        sizes = [len(rule.head) for rule in theory]
        n_multi = sum(size > 1 for size in sizes)
        mean = fmean(sizes) if sizes else 0.0
        return cls(data, objective, len(sizes), n_multi, mean, max(sizes, default=0))


class TimePair(NamedTuple):
    """Processor seconds of learning with single-label and with multi-label heads."""

    data: str
    objective: str
    n_labels: int
    single: float
    multi: float

    @property
    def ratio(self) -> float:
        """How much longer multi-label heads take."""
        return self.multi / self.single

    @property
    def times_labels(self) -> float:
        """The chapter's empty form: the time of single-label heads times the number of labels."""
        return self.single * self.n_labels


class FlagRule(NamedTuple):
    """A rule whose body holds for the flag, and what it did."""

    number: int
    rule: Rule
    right: int  #: Cells that it wrote rightly in all training rows.
    wrong: int
    written: tuple[str, ...]  #: The labels of the flag that it wrote.


@dataclass(frozen=True, eq=False)
class FlagLists:
    """The lists for flags by precision, and the rules that hold for the US Virgin Islands."""

    data: Dataset
    theories: dict[str, DecisionList]

    def covering(self, heads: str) -> list[FlagRule]:
        """All rules that hold for the flag when their turn comes, in order."""
        return list(self._covering(self.theories[heads]))

    def _covering(self, theory: DecisionList) -> Iterator[FlagRule]:
        run = theory.run(self.data)
        names = self.data.schema.labels
        writer = run.writer[FLAG_ROW]
        end = run.stopped[FLAG_ROW]
        board = np.full((1, len(names)), UNSET, dtype=np.int8)
        row = self.data.X[FLAG_ROW : FLAG_ROW + 1]
        for number, rule in enumerate(theory):
            if rule.body.covers(row, board)[0]:
                own = run.writer == number
                right = int((own & (run.board == self.data.Y)).sum())
                written = np.flatnonzero(writer == number)
                board[0, written] = run.board[FLAG_ROW, written]
                labels = tuple(names[label] for label in written)
                yield FlagRule(number + 1, rule, right, int(own.sum()) - right, labels)
            if number == end:
                return


@dataclass(frozen=True, eq=False)
class MultiHeadStudy:
    """Everything that the second study has found."""

    quality: Results
    heads: list[HeadCounts]
    times: list[TimePair]
    n_rounds: dict[str, int]  #: By data set how often each learner was timed.
    flags: FlagLists | None

    @cached_property
    def friedman(self) -> dict[str, FriedmanTest]:
        """By measure whether the algorithms differ; empty with fewer than two data sets."""
        return {name: friedman_test(table, **how) for name, table, how in self._tables()}

    @cached_property
    def nemenyi(self) -> dict[str, NemenyiTest]:
        """By measure which algorithms differ."""
        return {name: nemenyi_test(table, **how) for name, table, how in self._tables()}

    @cached_property
    def without_label_sets(self) -> dict[str, FriedmanTest]:
        """The same for the nine algorithms that are the chapter's, without rules for label sets."""
        return self._friedman_of([one for one in self.quality.learners if one != LABEL_SETS])

    @cached_property
    def of_lists(self) -> dict[str, FriedmanTest]:
        """The same for the six lists with single- and with multi-label heads."""
        return self._friedman_of(
            [one for one in self.quality.learners if one.startswith(("single", "multi"))]
        )

    def _friedman_of(self, learners: list[str]) -> dict[str, FriedmanTest]:
        found = {}
        for name, table, how in self._tables():
            values = tuple(zip(*map(table.of, learners), strict=True))
            found[name] = friedman_test(ScoreTable(table.datasets, tuple(learners), values), **how)
        return found

    def _tables(self) -> Iterator[tuple[str, ScoreTable, dict[str, Any]]]:
        if len(self.quality.datasets) < LEAST_SETS:
            return
        for name in MEASURES:
            better = self.quality.higher_is_better(name)
            yield name, self.quality.table(name), {"higher_is_better": better, "alpha": ALPHA}

    def share(self, objective: str) -> float:
        """The share of multi-label heads by an objective, a mean over the data sets."""
        found = [one.share for one in self.heads if one.objective == objective]
        return fmean(found) if found else 0.0

    @property
    def ratios(self) -> list[float]:
        """How much longer multi-label heads take, for each objective and data set."""
        return [one.ratio for one in self.times]

    @property
    def median_ratio(self) -> float:
        """The median over data sets and objectives."""
        return median(self.ratios)


def multi_head_study(
    sets: list[StudyData], folder: StudyFolder, tell: Callable[[str], object], progress: Listener
) -> MultiHeadStudy:
    """Learn with all algorithms, test, count heads, and measure times; see `single_head_study`."""
    pairs = {one.name: (one.train, one.test) for one in sets}
    quality = folder.results(MULTI, multi_head_learners(), pairs, MEASURES, progress)
    times: list[TimePair] = []
    n_rounds: dict[str, int] = {}
    for data in sets:
        for objective, measure in OBJECTIVES.items():
            tell(f"times by {objective} on {data.name}")
            both = {kind: covering(measure, kind) for kind in ("single", "multi")}
            found = folder.times(both, data.train)
            n_labels = data.train.schema.n_labels
            times.append(TimePair(data.name, objective, n_labels, **found.seconds))
            n_rounds[data.name] = min(n_rounds.get(data.name, found.n_rounds), found.n_rounds)
    heads = [one for data in sets for one in _head_counts(data, folder, tell)]
    flags = next((_flag_lists(data, folder) for data in sets if data.name == "flags"), None)
    return MultiHeadStudy(quality, heads, times, n_rounds, flags)


def _head_counts(
    data: StudyData, folder: StudyFolder, tell: Callable[[str], object]
) -> Iterator[HeadCounts]:
    """The heads of the lists with multi-label heads."""
    measures = dict(OBJECTIVES)
    if data.name == "flags":
        measures[EXACT_SUBSET] = "subset/samples/partial"
    for objective, measure in measures.items():
        tell(f"heads by {objective} on {data.name}")
        theory = folder.theory(covering(measure, "multi"), data.train)
        yield HeadCounts.of(data.name, objective, theory)  # type: ignore[arg-type]


def _flag_lists(data: StudyData, folder: StudyFolder) -> FlagLists:
    found = {kind: folder.theory(covering("precision", kind), data.train)
             for kind in ("multi", "single")}  # fmt: skip
    return FlagLists(data.train, found)  # type: ignore[arg-type]
