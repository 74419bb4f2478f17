"""Covering on binned columns: the loop sees counts over rows, and never the rows."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from labelrules.data import Dataset
from labelrules.data.codes.bins import Bins
from labelrules.learners.covering.board import TrainingBoard
from labelrules.learners.covering.counted_rules import CountedFinder, CountedRule, LabelCounts
from labelrules.learners.covering.gpu_rows import GpuRows
from labelrules.learners.covering.local_rows import rows_in_memory
from labelrules.learners.covering.loop import CoveringLoop
from labelrules.learners.covering.next_rule import MIN_RIGHT, last_resort_settings
from labelrules.learners.covering.pruning import (
    PATIENCE,
    DescriptionLength,
    Significance,
    exception_length,
)
from labelrules.learners.covering.row_counts import LabelTotals, RowCounts
from labelrules.learners.covering.settings import Settings
from labelrules.rules import DecisionList, Evidence, LayeredTheory, Rule
from labelrules.search.bodies.code_tables import marked_columns
from labelrules.search.bodies.gpu_bins import GpuCodes


def is_counted(settings: Settings, kept: Iterable[Rule] = ()) -> bool:
    """Whether counts by codes are all that a search by these settings needs.

    That is so for heads of one label that stay as they were chosen, greedy search, and lists that
    no rule stops, kept ones included. All else is searched for by `Covering` on the table of codes.
    """
    return settings.are_counted and not any(rule.stops for rule in kept)


class CountedCovering(CoveringLoop):
    """A list while it is learned, from counts over rows; the same as by `Covering` on codes."""

    finder: CountedFinder
    board: LabelCounts

    def __init__(
        self,
        rows: RowCounts,
        bins: Bins,
        settings: Settings,
        kept: list[Rule],
        unit: float = 1.0,
    ) -> None:
        super().__init__(settings, bins.schema.n_labels)
        self.rows, self.bins, self.schema = rows, bins, bins.schema
        self.totals = rows.totals()
        self.board = LabelCounts(self.totals, unit)
        self.settled = self.board.open.copy()
        self.rules = kept
        self.finder = CountedFinder(rows, self.board, bins, settings)
        self.finder.note_written()
        self.prune = self._pruner()

    def _find_anew(self, settings: Settings) -> CountedFinder:
        finder = CountedFinder(self.rows, self.board, self.bins, settings)
        finder.go_on_from(self.finder)
        return finder

    def _close(self) -> None:
        self.rows.close()

    def _begin_again(self) -> None:
        self.board.open[:] = self.settled

    def _pruner(self) -> DescriptionLength | Significance | None:
        if self.settings.pruning == "mdl":
            n_possible = self.bins.n_conditions + self.n_labels
            n_values = self.bins.n_values if self.settings.allowed.has_sets else None
            pruner = DescriptionLength(n_possible, self.n_labels, n_values)
            describe = partial(self.board.describe, n_possible=pruner.n_possible, patience=PATIENCE)
            self.finder.growth = replace(self.finder.growth, describe=describe)
            return pruner
        return Significance() if self.settings.pruning == "significance" else None

    def _pruned(self, grown: CountedRule) -> CountedRule | None:
        """The rule without the conditions that are not warranted; None if the rule is not."""
        kept = self._n_kept(grown)
        if kept is None:
            return None
        return grown._replace(
            steps=grown.steps[:kept], insides=grown.insides[: kept + 1], bodies=grown.bodies[:kept]
        )

    def _n_kept(self, grown: CountedRule) -> int | None:
        """How many conditions are kept, by what the first 0, 1, ... of them cover."""
        board, unit, prune = self.board, self.board.unit, self.prune
        counts = [board.evidence(grown.value, inside) for inside in grown.insides]
        if isinstance(prune, Significance):
            return prune.longest([(unit * right, unit * wrong) for right, wrong in counts])
        if prune is None:
            return len(grown.steps)
        before = board.describe(grown.label, grown.value, prune.n_possible, PATIENCE)
        first, *lengths = (
            exception_length(before, *each, unit) for each in (Evidence(0, 0), *counts)
        )
        bits = prune.body_bits(len(grown.steps), grown.steps)
        best = prune.shortest(first, lengths, bits, 1)
        return best if best is not None and counts[best].right > counts[best].wrong else None

    def _add(self, grown: CountedRule) -> Rule:
        written = self.finder.write(grown)
        evidence = self.board.evidence(grown.value, grown.insides[-1])
        body = self.finder.body_of(grown.steps, written.next_codes)
        rule = Rule(grown.head, body, evidence=(self.board.rounded(evidence),))
        self.rules.append(rule)
        self.settled = self.board.open.copy()
        return rule

    def _fall_back(self, least: float) -> list[Rule]:
        settings = last_resort_settings(self.settings)
        unit = self.board.unit
        resort = CountedLastResort(self.rows, self.totals, unit, self.bins, settings, least)
        return resort.rules(self._is_late)

    def finished(self) -> DecisionList | LayeredTheory:
        """The list with its default rule, rules for rows without a label, and all evidence."""
        rules, counts, default = list(self.rules), self.board, self.board.default()
        if self._wants_default(default):
            evidence = [
                counts.rounded(counts.evidence(value, int(counts.open[label])))
                for label, value in default
            ]
            rules.append(Rule(default, evidence=tuple(evidence)))
        theory = DecisionList(self.schema, rules)
        if not self.fallback:
            return theory
        fallback = DecisionList(self.schema, self.fallback)
        return LayeredTheory(self.schema, [theory], fallback=fallback)


def counted_covering(
    data: Dataset,
    bins: Bins,
    settings: Settings,
    prefix: DecisionList | None,
    codes: GpuCodes | None = None,
) -> CountedCovering:
    """The loop for the rows of a data set in memory, or of their codes on a GPU."""
    kept, board, unit = list(prefix or ()), None, 1.0
    if kept or data.weights is not None:
        replayed = TrainingBoard(data, "append")
        kept, unit = replayed.replay(kept, data.X), replayed.unit
        board = replayed.board if kept else None
    marked = marked_columns(bins, settings.allowed)
    rows: RowCounts
    if codes is None:
        rows = rows_in_memory(data, bins, marked, board, settings.n_threads)
    else:
        rows = GpuRows(bins, codes, data.Y, marked, board)
    return CountedCovering(rows, bins, settings, kept, unit)


class CountedLastResort:
    """Rules for rows in which no label was found, from counts; the twin of `LastResort`."""

    def __init__(
        self,
        rows: RowCounts,
        totals: LabelTotals,
        unit: float,
        bins: Bins,
        settings: Settings,
        least: float,
    ) -> None:
        self.rows, self.known, self.least = rows, totals.known, least
        self.waiting = rows.wait()
        self.counts = LabelCounts(totals._replace(open=self.waiting.open), unit)
        self.finder = CountedFinder(rows, self.counts, bins, settings)

    @property
    def are_often_labelled(self) -> bool:
        """Whether few enough of these rows have no label, among those of which it is known."""
        n_decided, n_bare = self.waiting.n_decided, self.waiting.n_bare
        return n_decided > 0 and n_bare / n_decided < self.least

    def rules(self, is_late: Callable[[], bool]) -> list[Rule]:
        """The rules, with their evidence; none if no label is probable enough."""
        rules: list[Rule] = []
        while self.are_often_labelled and not is_late():
            grown = self.finder.best_rule()
            if grown is None:
                break
            if self.is_probable(grown):
                rules.append(self.add(grown))
            else:
                self.finder.exclude(grown.head)
        return rules

    def is_probable(self, grown: CountedRule) -> bool:
        """Whether covered rows have the label more often than none, than others, and than least."""
        counts = self.counts
        n_right, n_wrong = counts.evidence(1, grown.insides[-1])
        n_covered, everywhere = n_right + n_wrong, counts.evidence(1, int(self.known[grown.label]))
        if n_right * counts.unit < MIN_RIGHT or n_right <= self.rows.bare(grown.steps):
            return False
        if n_right * sum(everywhere) < n_covered * everywhere.right:
            return False
        return n_right > self.least * n_covered

    def add(self, grown: CountedRule) -> Rule:
        """The rule; the rows that it covers have a label now, and leave."""
        evidence = self.counts.rounded(self.counts.evidence(1, grown.insides[-1]))
        self.waiting = self.rows.leave(grown.steps)
        self.counts.open[:] = self.waiting.open
        self.finder.stale[:] = True
        body = self.finder.body_of(grown.steps, self.waiting.next_codes)
        return Rule(grown.head, body, evidence=(evidence,))
