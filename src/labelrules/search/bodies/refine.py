"""Refine a body: find its best further condition by compiled passes over all columns."""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Board, Floats, Integers, Mask
from labelrules.data.table import column_of
from labelrules.measures import Formula
from labelrules.measures.formulas import is_monotone
from labelrules.measures.measure import Merit
from labelrules.rules import Condition
from labelrules.search.bodies.best_by_column import (
    LabelRoot,
    as_slice,
    better_of,
    divided,
    growth_kernels,
    most_of_columns,
    room_for,
    slots_of,
    targets_of_best,
    top_of,
)
from labelrules.search.bodies.rule_language import Language, Operators
from labelrules.search.bodies.sorted_columns import SortedColumns

if TYPE_CHECKING:
    from labelrules.kernels.covering.grow import GrowthTable, SetGrowth
    from labelrules.kernels.covering.refine import BestRefinements, RefinementSpace
    from labelrules.kernels.index import Index

WORTH_A_THREAD = 200_000
"""Entries to count below which another thread costs more than it saves."""

Reached: TypeAlias = Any
"""By targets and slots: the right cells where the best score is reached, 0 elsewhere.

Whole numbers of 32 bits; None if labels are not merged.
"""


class Refinement(NamedTuple):
    """A condition by column and place, the merit it leads to, and the labels that its head has.

    A set of categories names these instead of a place.
    """

    merit: Merit
    column: int
    place: int
    labels: Integers
    codes: tuple[int, ...] = ()


class Covered(NamedTuple):
    """The rows that a body covers, with the columns narrowed down to them."""

    mask: Mask
    rows: Integers
    listing: "Index"


class Refiner:
    """Finds refinements on one data set while the cells that count change; same with any threads.

    `truth` and `board` are labels by rows, `counted` is layers by labels by rows; the last two are
    read, not copied. `counted` has truth values, or weights as multiples of the `unit`. `values`
    has for each label 1 if heads may predict its absence, 2 its presence, 3 both. A rule must
    write `smallest` cells for each label of its head. With `merging`, up to `largest` labels that
    are equally good make up one head.
    """

    def __init__(
        self,
        columns: SortedColumns,
        truth: Board,
        board: Board,
        counted: npt.NDArray[Any],
        values: npt.NDArray[np.int8],
        formula: Formula,
        allowed: Language,
        *,
        counting: str,
        smallest: int,
        merging: bool,
        largest: int,
        n_threads: int = 1,
        unit: float = 1.0,
    ) -> None:
        from labelrules.kernels.compile import kernels_for, scoring_for
        from labelrules.kernels.covering.refine import Cells
        from labelrules.kernels.index import empty_codes

        self.columns, self.board, self.allowed = columns, board, allowed
        self.cells = Cells(truth, counted, values)
        self.code_type = empty_codes(counted, 0).dtype  # type: ignore[no-untyped-call]
        self.kernels = kernels_for(formula, counting)
        self.scoring = scoring_for(formula, counting, is_monotone(formula), int(smallest), unit)
        self.merging, self.largest = merging, largest
        n_labels, n_rows = truth.shape
        self.n_layers, self.n_features = len(counted), len(columns.nominal)
        self.n_conditions = columns.n_conditions
        n_targets = n_labels * self.n_layers
        self.targets_of = np.arange(n_targets).reshape(n_labels, self.n_layers)
        self.everywhere = Covered(np.ones(n_rows, dtype=np.bool_), np.arange(n_rows), columns.index)
        self.slots = slots_of(columns.nominal, columns.n_values)
        self.label_slots = slots_of(np.ones(n_labels, np.int8), np.ones(n_labels, np.int64))
        self.root = room_for(n_targets)
        self.reached = self._marks(n_targets, self.slots.starts)
        self.empty_body = np.empty((n_labels, 2)), np.empty((n_labels, 2), np.int64)
        self.stale = np.ones(n_labels, dtype=np.bool_)
        self.written = np.empty(0, np.int64)  # labels that conditions may test
        self.label_root = LabelRoot(n_labels)
        self.first_labels: RefinementSpace | None = None  # as the board was when last searched
        self.first: BestRefinements | None = None  # the best first conditions on any column
        self.chunks = divided(columns.index, n_threads)
        self.pool = ThreadPoolExecutor(len(self.chunks) - 1) if len(self.chunks) > 1 else None

    def refresh(self) -> None:
        """Search anew, from the empty body, for the labels whose cells have changed."""
        (labels,) = self.stale.nonzero()
        if labels.size == 0:
            return
        self.note_written(labels)
        values = self.cells.values[labels]
        self._search_first(labels[values > 0])
        for label in labels[values == 0].tolist():
            self.drop(label)
        self.label_root.changed |= self.stale
        self.first_labels = self.first = None
        self.stale[:] = False

    def _search_first(self, labels: Integers) -> None:
        """Search for the best first conditions for some labels."""
        at = as_slice(labels)
        for old, new in zip(self.empty_body, self.score(self.everywhere, labels), strict=True):
            old[at] = new
        targets = self.targets_of[at].ravel()
        best, reached = self._search(self.everywhere, targets, self.first_space, None)
        at = as_slice(targets)
        for old, new in zip(self.root, best, strict=True):
            old[at] = new
        if self.reached is not None:
            self.reached[targets] = reached

    def note_written(self, labels: Integers) -> None:
        """Keep up with the labels that are written in some row, if conditions may test them."""
        if self.allowed.has_labels:
            known = np.zeros(len(self.board), dtype=np.bool_)
            known[self.written] = True
            known[labels] = (self.board[labels] >= 0).any(axis=1)
            (self.written,) = known.nonzero()

    def drop(self, label: int) -> None:
        """Expect no rule for a label any more; its cells, and what others are told, stay."""
        targets = self.targets_of[label]
        self.empty_body[0][label] = -np.inf
        for best in (self.root, self.label_root.best, self.first):
            if best is not None:
                best.scores[targets], best.columns[targets] = -np.inf, -1
        if self.reached is not None:
            self.reached[targets] = 0

    def best_first(self) -> Refinement | None:
        """The best first condition, after `refresh`."""
        targets = self.targets_of.ravel()
        if self.merging:
            operators = self.allowed.first_features[np.newaxis], self.allowed.first_labels
            return self._choose(self.everywhere, targets, self.root, self.reached, operators)
        if self.first is None:
            self.first = self._first_on_any_column()
        return self._single(targets, self.first)

    def _first_on_any_column(self) -> "BestRefinements":
        """For each target the best first condition on a feature or a label."""
        space = self.label_space(self.everywhere, self.allowed.first_labels)
        if space is None:
            return self.root
        by_labels = self.label_root.renewed(self, space)
        by_labels.columns[by_labels.columns >= 0] += self.n_features
        return better_of(self.root, by_labels)

    def best(self, covered: Covered, labels: Integers) -> tuple[Refinement | None, Covered]:
        """The best further condition, and the covered rows with their columns narrowed down."""
        narrowed = covered._replace(listing=self.columns.space_for_narrowing)
        targets = self.targets_of[labels].ravel()
        operators = self.allowed.features[np.newaxis], self.allowed.labels
        space = self.space(narrowed.listing, operators[0])
        best, reached = self._search(narrowed, targets, space, covered.listing)
        return self._choose(narrowed, targets, best, reached, operators), narrowed

    def narrow(self, parent: Covered, condition: Condition) -> Covered:
        """The rows of a body with one more condition; columns are narrowed when searched."""
        mask = parent.mask & condition.holds(self.values_of(condition))
        return Covered(mask, np.flatnonzero(mask), parent.listing)

    def values_of(self, condition: Condition) -> Floats | Board:
        """The column of features, or of the board, that a condition tests."""
        if condition.on_label:
            cells: Board = self.board[condition.column]
            return cells
        return column_of(self.columns.X, condition.column)

    def condition(
        self, column: int, place: int, covered: Covered, remaining: Mask | None = None
    ) -> Condition:
        """The condition at a place; thresholds lie between values of `remaining` rows."""
        if column >= self.n_features:
            cells = self.board[column - self.n_features, covered.rows]
            values = [value for value in (0, 1) if (cells == value).any()]
            return Condition.label(column - self.n_features, present=bool(values[place]))
        rows = None if remaining is None else covered.rows[remaining[covered.rows]]
        n_rows = len(covered.rows)
        return self.columns.condition(column, place, covered.listing, n_rows, rows)

    def score(self, covered: Covered, labels: Integers) -> tuple[Floats, Integers]:
        """Scores and right cells of the single-label heads of a body, labels by values."""
        scores, corrects = np.empty((len(labels), 2)), np.empty((len(labels), 2), np.int64)
        self.kernels.score_literals(
            covered.rows, self.cells, labels, self.scoring, scores, corrects
        )
        return scores, corrects

    def _search(
        self,
        covered: Covered,
        targets: Integers,
        space: "RefinementSpace",
        source: "Index | None",
    ) -> "tuple[BestRefinements, Reached]":
        """The best refinements by features; columns are narrowed down from `source` before."""
        reached = self._marks(len(targets), self.slots.starts)

        def search(first: int, last: int) -> "BestRefinements":
            if source is not None:
                self._narrow(source, first, last, covered)
            best = room_for(len(targets))
            self.fill(best, space, first, last, covered, targets, reached)
            return best

        if self.pool is None or self._n_entries(covered, targets) < WORTH_A_THREAD:
            return search(0, self.n_features), reached
        waiting = [self.pool.submit(search, *chunk) for chunk in self.chunks[1:]]
        parts = [search(*self.chunks[0]), *(job.result() for job in waiting)]
        best = parts[0]
        for part in parts[1:]:
            best = better_of(best, part)
        if self.merging:
            for (first, last), part in zip(self.chunks, parts, strict=True):
                slots = slice(self.slots.starts[first], self.slots.starts[last])
                reached[part.scores < best.scores, slots] = 0
        return best, reached

    def _n_entries(self, covered: Covered, targets: Integers) -> float:
        """About how many entries are counted for the targets."""
        share = len(covered.rows) / max(1, len(covered.mask))
        return share * len(targets) * len(self.columns.index.entries)

    def _narrow(self, source: "Index", first: int, last: int, covered: Covered) -> None:
        """Narrow columns down to the covered rows."""
        from labelrules.kernels.index import FEW, narrow, narrow_to_few

        is_whole = source.entries is self.columns.index.entries
        is_dense = not sparse.issparse(self.columns.X)
        if is_whole and FEW * len(covered.rows) < len(covered.mask) and is_dense:
            narrow_to_few(
                source, *self.columns.places, self.columns.by_column, first, last, covered.rows,
                covered.mask, covered.listing,
            )  # fmt: skip
        else:
            narrow(source, first, last, covered.mask, covered.listing)

    def _choose(
        self,
        covered: Covered,
        targets: Integers,
        best: "BestRefinements",
        reached: Reached,
        operators: tuple[Operators, Operators],
    ) -> Refinement | None:
        """The best refinement of all labels, by features and by labels."""
        space = self.first_labels if covered is self.everywhere else None
        if space is None:
            space = self.label_space(covered, operators[1])
        if covered is self.everywhere:
            self.first_labels = space
        if space is not None:
            by_labels, marks = self.search_space(space, covered, targets)
            by_labels.columns[by_labels.columns >= 0] += self.n_features
            if self.merging:
                reached = np.hstack([
                    np.where((best.scores >= by_labels.scores)[:, np.newaxis], reached, 0),
                    np.where((by_labels.scores >= best.scores)[:, np.newaxis], marks, 0),
                ])  # fmt: skip
            best = better_of(best, by_labels)
        if not self.merging:
            return self._single(targets, best)
        top = top_of(best.scores)
        if top == -np.inf:
            return None
        spaces = [self.space(covered.listing, operators[0]), *([space] if space else [])]
        tied = best.scores == top
        return self._merged(covered, targets[tied], top, reached[tied], spaces)

    def _single(self, targets: Integers, best: "BestRefinements") -> Refinement | None:
        """The best refinement: then that with the most right cells, then the first condition."""
        tied = targets_of_best(best)
        if tied is None:
            return None
        at, labels = tied[0], targets[tied] // self.n_layers
        if tied.size > 1:
            labels = np.unique(labels)
        merit = Merit(float(best.scores[at]), int(best.corrects[at]))
        return Refinement(merit, int(best.columns[at]), int(best.places[at]), labels)

    def _merged(
        self,
        covered: Covered,
        targets: Integers,
        top: float,
        reached: Reached,
        spaces: "list[RefinementSpace]",
    ) -> Refinement:
        """The condition for which the labels of the best score have the most right cells."""
        labels = np.unique(targets // self.n_layers)
        best, offset = Refinement(Merit(top, -1), -1, -1, labels), 0
        by_slot = reached.sum(axis=0, dtype=np.int64)
        for space in spaces:
            n_slots = int(space.slots[-1])
            bounds = most_of_columns(by_slot[:n_slots], space.slots)
            if bounds.any():
                correct, column, place = self.kernels.best_merged(
                    space, bounds, by_slot[:n_slots], covered.rows, self.cells, labels, top,
                    self.largest, self.scoring,
                )  # fmt: skip
                if correct > best.merit.correct:
                    merit = Merit(top, int(correct))
                    best = Refinement(merit, int(column) + offset, int(place), labels)
            by_slot = by_slot[n_slots:]
            offset += space.nominal.size
        return best

    def space(self, index: "Index", operators: Operators) -> "RefinementSpace":
        """The features as columns to refine by."""
        space: RefinementSpace = growth_kernels().RefinementSpace(
            index, True, self.columns.nominal, operators, *self.slots
        )
        return space

    @cached_property
    def first_space(self) -> "RefinementSpace":
        """The features of all rows, with the operators of a first condition."""
        return self.space(self.columns.index, self.allowed.first_features[np.newaxis])

    def label_space(self, covered: Covered, operators: Operators) -> "RefinementSpace | None":
        """The labels written on covered rows as columns to refine by; None if none is."""
        if self.written.size == 0:
            return None
        kernels = growth_kernels()
        n_written = kernels.count_written(self.board, self.written, covered.rows)
        if n_written == 0:
            return None
        begin, end = np.empty(self.written.size, np.int64), np.empty(self.written.size, np.int64)
        entries = np.empty(n_written, np.int32)
        kernels.list_labels(self.board, self.written, covered.rows, entries, begin, end)
        n_labels = len(self.board)
        start, stop = np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)
        start[self.written], stop[self.written] = begin, end  # the others have no entries
        index = kernels.Index(entries, start, start, stop, stop)
        kinds = np.ones(n_labels, dtype=np.int8)
        space: RefinementSpace = kernels.RefinementSpace(
            index, False, kinds, operators, *self.label_slots
        )
        return space

    def growing_sets(self, first: Refinement, room: int) -> "SetGrowth | None":
        """The sets of categories that a compiled run may test for, after the first condition."""
        return None

    @cached_property
    def growth_table(self) -> "GrowthTable":
        """All that the compiled run of one label reads."""
        from labelrules.kernels.covering.grow import GrowthTable

        columns = self.columns
        space = self.space(columns.index, self.allowed.features[np.newaxis])
        return GrowthTable(
            space,
            columns.space_for_narrowing,
            *columns.places,
            columns.by_column,
            self.board,
            self.allowed.labels,
        )

    def search_space(
        self,
        space: "RefinementSpace",
        covered: Covered,
        targets: Integers,
        first: int = 0,
        last: int | None = None,
    ) -> "tuple[BestRefinements, Reached]":
        """The best refinements by the columns of a space, all or some."""
        reached, best = self._marks(len(targets), space.slots), room_for(len(targets))
        last = space.nominal.size if last is None else last
        self.fill(best, space, first, last, covered, targets, reached)
        return best, reached

    def fill(
        self,
        best: "BestRefinements",
        space: "RefinementSpace",
        first: int,
        last: int,
        covered: Covered,
        targets: Integers,
        reached: Reached,
    ) -> None:
        """Note the best refinements by some columns."""
        values = self.values_for(targets)
        codes = np.empty(len(covered.mask), self.code_type)
        unknown = np.empty(len(targets), np.int64)
        unknown.fill(-1)
        self.kernels.best_refinements(
            space, first, last, covered.rows, self.cells, targets, values, self.scoring, codes,
            unknown, best, reached,
        )  # fmt: skip

    def values_for(self, targets: Integers) -> npt.NDArray[np.int8]:
        """The values that heads may have, for each target."""
        if self.n_layers == 1:
            values: npt.NDArray[np.int8] = self.cells.values[targets]
            return values
        labels, layers = np.divmod(targets, 2)
        return self.cells.values[labels] & np.left_shift(1, layers).astype(np.int8)

    def _marks(self, n_targets: int, starts: Integers) -> Reached:
        """Room for the right cells that are reached, if labels are merged."""
        return np.zeros((n_targets, int(starts[-1])), np.int32) if self.merging else None
