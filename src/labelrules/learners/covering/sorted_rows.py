"""Training rows in memory by sorted columns: every value is a threshold, all heads are searched."""

from functools import cached_property

import numpy as np

from labelrules._types import Mask
from labelrules.data import Dataset
from labelrules.data.codes.bins import Bins
from labelrules.data.table import column_of
from labelrules.learners.base.sampling import held_out_rows, row_keys
from labelrules.learners.base.theory_classifier import Background
from labelrules.learners.covering.board import TrainingBoard, evidence_of, total
from labelrules.learners.covering.pruning import RowPrefixes
from labelrules.learners.covering.settings import Settings
from labelrules.learners.covering.training_rows import RuleSearch, Values
from labelrules.rules import Body, Condition, DecisionList, Evidence, Head, LayeredTheory, Rule
from labelrules.search.bodies.category_sets import SetRefiner, set_columns
from labelrules.search.bodies.code_tables import rule_on_values
from labelrules.search.bodies.grow import GreedyRefinements, Grown, GrownBody, Growth, Refinements
from labelrules.search.bodies.head_scorers import (
    CountedRefinements,
    FixedHeadScorer,
    HeadScorer,
    LiteralScorer,
    RowScorer,
    TallyScorer,
)
from labelrules.search.bodies.refine import Refiner
from labelrules.search.bodies.sorted_columns import SortedColumns
from labelrules.search.heads.problem import Polarity
from labelrules.search.heads.size_bonus import no_bonus


class SortedSearch:
    """Finds rules for the cells that count on a board, by columns that were sorted once."""

    def __init__(
        self, columns: SortedColumns, board: TrainingBoard, settings: Settings, values: Values
    ) -> None:
        self.board, self.settings, self.values = board, settings, values
        self.merging, self.beam_width = settings.heads == "multi", settings.beam_width
        has_sets = set_columns(columns, settings.allowed.features).size > 0
        self.refiner = (SetRefiner if has_sets else Refiner)(
            columns,
            board.truth,
            board.board,
            board.counted,
            values,
            formula=settings.measure.formula,
            allowed=settings.allowed,
            counting=settings.counting,
            smallest=settings.min_coverage,
            merging=self.merging,
            largest=settings.largest,
            n_threads=settings.n_threads,
            unit=board.unit,
        )

    @property
    def stale(self) -> Mask:
        """For each label whether its cells have changed."""
        return self.refiner.stale

    def refinements(self, growth: Growth) -> Refinements:
        """By compiled passes over all columns where that is enough, else counted one by one."""
        remaining = self.board.remaining(self.settings.readd)
        if self._is_greedy:
            return GreedyRefinements(self.refiner, growth, remaining)
        fixed_scorer = self._fixed_scorer if self.settings.fixed_head else None
        return CountedRefinements(self.refiner, self._scorer(), growth, remaining, fixed_scorer)

    def drop(self, label: int) -> None:
        """Expect no rule for a label any more."""
        self.refiner.drop(label)

    def exclude(self, label: int) -> None:
        """Count the cells of a label no longer, if heads are searched for as a whole."""
        if not self.settings.scores_literals:
            self.board.counted[:, label] = False

    def close(self) -> None:
        """End the threads."""
        if self.refiner.pool is not None:
            self.refiner.pool.shutdown(wait=False, cancel_futures=True)

    @cached_property
    def _is_greedy(self) -> bool:
        """Whether one compiled pass per condition finds the best rule."""
        settings = self.settings
        several_fixed = settings.fixed_head and settings.heads != "single"
        if isinstance(self.refiner, SetRefiner) and settings.heads != "single":
            return False  # each label has a best set of its own
        return settings.beam_width == 1 and settings.scores_literals and not several_fixed

    def _scorer(self) -> HeadScorer:
        settings, board = self.settings, self.board
        measure, counting = settings.measure, settings.counting
        if settings.scores_literals:
            return LiteralScorer(
                measure.formula, counting, self.values, settings.min_coverage,
                settings.heads == "multi", settings.largest, board.unit,
            )  # fmt: skip
        polarity: Polarity = "both" if settings.polarity == "both" else "presence"
        complete = settings.heads == "complete"
        if settings.tallies_decide:
            n_labels, n_rows = board.truth.shape
            return TallyScorer(measure, counting, polarity, n_labels, n_rows, complete)
        flipped = board.is_common & (settings.polarity == "rarer")
        return RowScorer(
            measure, counting, polarity, board.truth, board.counted[0], settings.size_bonus,
            settings.largest, settings.min_coverage, flipped, complete,
        )  # fmt: skip

    def _fixed_scorer(self, head: Head) -> HeadScorer:
        """Scores refinements of a rule whose head stays."""
        settings = self.settings
        bonus = no_bonus if settings.scores_literals else settings.size_bonus or no_bonus
        return FixedHeadScorer(
            head, settings.measure, settings.counting, settings.min_coverage,
            float(bonus(len(head))), self.board.unit,
        )  # fmt: skip


class SortedRows:
    """The rows of a data set and the board that a list has written.

    With `bins` rules are searched for on codes, and then tell what these stand for.
    """

    def __init__(self, data: Dataset, settings: Settings, bins: Bins | None = None) -> None:
        self.data, self.settings, self.bins, self.schema = data, settings, bins, data.schema
        self.searched = data if bins is None else bins.coded(data)
        self.columns = SortedColumns.of(self.searched)
        self.n_conditions, self.n_values = self.columns.n_conditions, self.columns.n_values
        self.board = TrainingBoard(data, settings.order)

    def replay(self, rules: list[Rule]) -> list[Rule]:
        """Write these rules and no other; returns them with their evidence."""
        self.board = TrainingBoard(self.data, self.settings.order)
        return self.board.replay(rules, self.data.X)

    def hold_out(self, share: float, seed: int) -> None:
        """Search for rules without some of the rows, chosen by what is in them."""
        self.board.hold_out(held_out_rows(self.data.Y, row_keys(self.searched.X), share, seed))

    def search(self, settings: Settings, values: Values) -> SortedSearch:
        """A search for rules whose heads have these values, which may change."""
        return SortedSearch(self.columns, self.board, settings, values)

    def prefixes(self, grown: Grown) -> RowPrefixes:
        """The rows that no condition of a rule, the first, the first two and so on cover."""
        masks, body = [~self.board.ended], grown.body
        for holds in body.masks() if isinstance(body, GrownBody) else map(self._holds, body):
            masks.append(masks[-1] & holds)
        return RowPrefixes(self.board, grown, masks)

    def _holds(self, condition: Condition) -> Mask:
        column = condition.column
        return condition.holds(
            self.board.board[column] if condition.on_label else column_of(self.searched.X, column)
        )

    def write(self, grown: Grown, search: RuleSearch) -> Rule:
        """Write a rule, and mark it when it completes the rows that it covers."""
        board, covered, stale = self.board, grown.covered.mask, search.stale
        evidence = board.write(grown.head, board.left(covered))
        for label, _ in grown.head:
            stale[label] = True
        stops = self._stops(grown.head, covered)
        if stops:
            stale[board.end(covered)] = True
        body = Body(grown.body.conditions).without_implied()
        return self._rule(Rule(grown.head, body, stops, evidence))

    def _stops(self, head: Head, covered: Mask) -> bool:
        """Whether a rule stops the list; a complete head leaves nothing open and needs no mark."""
        share = self.settings.stop_share
        if share is None or head.is_complete:
            return False
        return self.board.share_incomplete(covered) <= share

    def _rule(self, rule: Rule) -> Rule:
        """The rule on values, if it was found on codes."""
        return rule if self.bins is None else rule_on_values(self.bins, rule)

    def wait(self) -> "WaitingSortedRows":
        """The rows in which no label was found."""
        return WaitingSortedRows(self)

    def write_default(self, head: Head) -> Rule:
        """Write a head into all open cells."""
        return Rule(head, evidence=self.board.write_open(head, ~self.board.ended))

    def settled(self, theory: DecisionList | LayeredTheory) -> DecisionList | LayeredTheory:
        """The finished theory; rules in front of others have written over what these wrote."""
        if self.board.prepends or isinstance(theory, LayeredTheory):
            self.board.board[:] = theory.apply(self.data).T
        return theory.with_evidence(self.data, self.data.Y) if self.board.prepends else theory

    def background(self, theory: DecisionList | LayeredTheory) -> Background:
        """The cells that a finished theory has not written."""
        return Background.count(self.board.board.T, self.data.Y, self.data.weights)

    @property
    def known_cells(self) -> None:
        """They are counted by whoever needs them."""
        return None

    def close(self) -> None:
        """Nothing but the search has threads."""


class WaitingSortedRows(SortedRows):
    """The rows in which no label was found; nothing is written, so the board is shared."""

    def __init__(self, rows: SortedRows) -> None:
        self.__dict__.update(rows.__dict__)
        self.board = board = TrainingBoard(rows.data, "append", rows.board)
        self.waiting: Mask = ~(board.board == 1).any(axis=0)
        board.counted[0][:, ~self.waiting] = False
        self.has_none: Mask = np.asarray((board.truth == 0).all(axis=0))
        self.is_decided: Mask = self.has_none | (board.truth == 1).any(axis=0)

    def n_decided_and_bare(self) -> tuple[int, int]:
        """The rows of which it is known whether they have a label, and those that have none."""
        kinds = self.is_decided, self.has_none
        n_decided, n_bare = (total(self.board.row_weight[self.waiting & one]) for one in kinds)
        return n_decided, n_bare

    def evidence(self, grown: Grown) -> Evidence:
        """The right and wrong cells of a rule for one label, in units."""
        ((label, value),) = grown.head
        return evidence_of(value, self.board.inside(label, grown.covered.mask & self.waiting))

    def n_bare(self, grown: Grown) -> int:
        """The covered rows that are known to have no label."""
        return total(self.board.row_weight[grown.covered.mask & self.waiting & self.has_none])

    def write(self, grown: Grown, search: RuleSearch) -> Rule:
        """Make a rule; the rows that it covers have a label now."""
        evidence = (self.board.rounded(self.evidence(grown)),)
        covered = grown.covered.mask & self.waiting
        self.waiting &= ~covered
        self.board.counted[0][:, covered] = False
        search.stale[:] = True
        body = Body(grown.body.conditions).without_implied()
        return self._rule(Rule(grown.head, body, evidence=evidence))
