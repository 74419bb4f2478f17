"""The best refinement of a body, label by label, found by compiled passes over all columns."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._types import Board, Floats, Integers, Mask
from labelrules.data.table import column_of
from labelrules.measures import Formula
from labelrules.rules import Condition
from labelrules.search.bodies.language import Language, Operators
from labelrules.search.bodies.slots import (
    Reached,
    better_of,
    divided,
    is_monotone,
    is_worth_threads,
    kept_where,
    most_of_columns,
    nothing_found,
    slots_of,
)
from labelrules.search.bodies.sorted_columns import SortedColumns

if TYPE_CHECKING:
    from labelrules.kernels.columns import Index
    from labelrules.kernels.refine import BestRefinements, Cells, RefinementSpace

# -------------------- The best first conditions on labels, kept while rules are learned

SEVERAL = 4
"""Changed labels beyond which all is searched anew."""


class LabelRoot:
    """For each target the best condition on one label, from the empty body.

    A rule for a label changes what counts for it, and what a condition on it holds for; the rest
    stays, and is not searched again.
    """

    def __init__(self, n_labels: int) -> None:
        self.changed = np.ones(n_labels, dtype=np.bool_)
        self.best: BestRefinements | None = None

    def renewed(self, refiner: "Refiner", space: "RefinementSpace") -> "BestRefinements":
        """The best conditions, as the board is now."""
        changed = np.flatnonzero(self.changed)
        if self.best is None or changed.size > SEVERAL:
            self.best = self._search(refiner, space, refiner.targets_of.ravel())
        else:
            for label in changed.tolist():
                self._renew(self.best, refiner, space, label)
        self.changed[:] = False
        return type(self.best)(*(part.copy() for part in self.best))

    def _renew(
        self, best: "BestRefinements", refiner: "Refiner", space: "RefinementSpace", label: int
    ) -> None:
        lost = best.columns == label
        lost[refiner.targets_of[label]] = True
        targets = np.flatnonzero(lost)
        for old, new in zip(best, self._search(refiner, space, targets), strict=True):
            old[targets] = new
        others = np.flatnonzero(~lost)
        found = self._search(refiner, space, others, label, label + 1)
        same = found.ranks == best.ranks[others]
        wins = (found.ranks > best.ranks[others]) | (
            same & (found.corrects > best.corrects[others])
        )
        # Of equal conditions the first column wins.
        even = same & (found.corrects == best.corrects[others]) & (found.columns >= 0)
        wins |= even & (found.columns < best.columns[others])
        for old, new in zip(best, found, strict=True):
            old[others[wins]] = new[wins]

    def _search(
        self,
        refiner: "Refiner",
        space: "RefinementSpace",
        targets: Integers,
        first: int = 0,
        last: int | None = None,
    ) -> "BestRefinements":
        best, _ = refiner.search_space(
            space, refiner.everywhere, refiner.cells, targets, first, last
        )
        return best


# ---------------------------------------------------------------- the main part

_NOTHING = np.iinfo(np.int64).min


class Refinement(NamedTuple):
    """A refinement: how good it is, its condition by column and place, and labels for its head."""

    rank: int
    correct: int
    column: int
    place: int
    labels: Integers


class Covered(NamedTuple):
    """The rows that a body covers, with the columns narrowed down to them."""

    mask: Mask
    rows: Integers
    listing: "Index"


class Refiner:
    """Finds refinements on one data set while cells are written.

    Parameters
    ----------
    columns : Columns
    truth : array of int8
        Labels by rows.
    board : array of int8
        Labels by rows; what is written, for conditions on labels. It is read, not copied.
    counted : array of bool
        Layers by labels by rows: the cells that count. It is read, not copied.
    values : array of int8
        For each label 1 if heads may say it is absent, 2 present, 3 both.
    formula : Formula
    allowed : Language
    relative : bool
        Whether cells are counted relative to the head.
    smallest : int
        Cells that a rule must write for each label of its head.
    merging : bool
        Whether labels that are equally good make up one head.
    largest : int
        The most labels of a head.
    n_threads : int
    """

    def __init__(
        self,
        columns: SortedColumns,
        truth: Board,
        board: Board,
        counted: Mask,
        values: npt.NDArray[np.int8],
        formula: Formula,
        allowed: Language,
        *,
        relative: bool,
        smallest: int,
        merging: bool,
        largest: int,
        n_threads: int = 1,
    ) -> None:
        from labelrules.kernels.refine import BestRefinements, Cells
        from labelrules.kernels.scoring import Way
        from labelrules.kernels.specialised import specialised

        self.columns, self.board, self.allowed = columns, board, allowed
        self.cells = Cells(truth, counted, values)
        self.kernels = specialised(formula)
        self.merging, self.largest = merging, largest
        self.way = Way(
            float(formula.parameter or 0.0), relative, is_monotone(formula), int(smallest)
        )
        self.is_dense = not sparse.issparse(columns.X)
        n_labels, n_rows = truth.shape
        self.n_layers, self.n_features = len(counted), len(columns.nominal)
        n_targets = n_labels * self.n_layers
        self.everywhere = Covered(np.ones(n_rows, dtype=np.bool_), np.arange(n_rows), columns.index)
        self.root: BestRefinements = BestRefinements(
            *(np.empty(n_targets, np.int64) for _ in range(4))
        )
        self.slots = slots_of(columns.nominal, columns.n_values)
        self.label_slots = slots_of(np.ones(n_labels, np.int8), np.ones(n_labels, np.int64))
        self.reached = self._room(n_targets, self.slots.starts)
        self.alone = np.empty((n_labels, 2), np.int64), np.empty((n_labels, 2), np.int64)
        self.stale = np.ones(n_labels, dtype=np.bool_)
        self.label_root = LabelRoot(n_labels)
        self.n_threads = n_threads
        self.chunks = divided(columns.index, n_threads)
        self.pool = ThreadPoolExecutor(len(self.chunks)) if len(self.chunks) > 1 else None
        self.targets_of = np.arange(n_targets).reshape(n_labels, self.n_layers)

    # ------------------------------------------------------------ the empty body

    def refresh(self) -> None:
        """Search anew, from the empty body, for the labels whose cells have changed."""
        labels = np.flatnonzero(self.stale)
        if labels.size == 0:
            return
        ranks, corrects = self.score(self.everywhere, labels)
        self.alone[0][labels], self.alone[1][labels] = ranks, corrects
        targets = self.targets_of[labels].ravel()
        operators = self.allowed.first_features[np.newaxis]
        found, reached = self._search(self.everywhere, self.cells, targets, operators, None)
        for old, new in zip(self.root, found, strict=True):
            old[targets] = new
        if self.merging:
            self.reached[targets] = reached
        self.label_root.changed |= self.stale
        self.stale[:] = False

    def score(self, covered: Covered, labels: Integers) -> tuple[Integers, Integers]:
        """Ranks and right cells of the single-label heads of a body, labels by values."""
        shape = (len(labels), 2)
        ranks, corrects = np.empty(shape, np.int64), np.empty(shape, np.int64)
        self.kernels.score_heads(covered.rows, self.cells, labels, self.way, ranks, corrects)
        return ranks, corrects

    def best_first(self) -> Refinement | None:
        """The best first condition."""
        self.refresh()
        everything = self.targets_of.ravel()
        first = self.allowed.first_features[np.newaxis], self.allowed.first_labels
        return self._choose(self.everywhere, self.cells, everything, self.root, self.reached, first)

    def everywhere_codes(self, labels: Integers) -> Integers:
        """The codes of all rows added up: layers by labels."""
        counted = self.cells.counted[:, labels]
        ones = counted & (self.cells.truth[labels] == 1)
        cells = counted.sum(axis=2, dtype=np.int64) << 32
        return np.asarray(cells + ones.sum(axis=2, dtype=np.int64))

    # ------------------------------------------------------------ refinements

    def values_of(self, condition: Condition) -> Floats | Board:
        """The column of features, or of the board, that a condition looks at."""
        if condition.on_label:
            cells: Board = self.board[condition.column]
            return cells
        return column_of(self.columns.X, condition.column)

    def narrow(self, parent: Covered, condition: Condition) -> Covered:
        """The rows of a body with one more condition; columns are narrowed when searched."""
        mask = parent.mask & condition.holds(self.values_of(condition))
        return Covered(mask, np.flatnonzero(mask), parent.listing)

    def best(self, covered: Covered, labels: Integers) -> tuple[Refinement | None, Covered]:
        """The best further condition, and the covered rows with their columns narrowed down."""
        target = self.columns.space_for_narrowing
        narrowed = Covered(covered.mask, covered.rows, target)
        targets = self.targets_of[labels].ravel()
        operators = self.allowed.features[np.newaxis]
        found, reached = self._search(narrowed, self.cells, targets, operators, covered.listing)
        allowed = operators, self.allowed.labels
        return self._choose(narrowed, self.cells, targets, found, reached, allowed), narrowed

    def condition(
        self, choice: Refinement, covered: Covered, remaining: Mask | None = None
    ) -> Condition:
        """The condition that a choice stands for; see `Columns.condition`."""
        if choice.column >= self.n_features:
            label = choice.column - self.n_features
            present = self._label_values(label, covered)[choice.place]
            return Condition.label(label, present=bool(present))
        rows = None if remaining is None else covered.rows[remaining[covered.rows]]
        return self.columns.condition(
            choice.column, choice.place, covered.listing, len(covered.rows), rows
        )

    def _label_values(self, label: int, covered: Covered) -> list[int]:
        """The values that a label has on the covered rows, rising."""
        cells = self.board[label, covered.rows]
        return [value for value in (0, 1) if (cells == value).any()]

    def _choose(
        self,
        covered: Covered,
        cells: "Cells",
        targets: Integers,
        found: "BestRefinements",
        reached: Reached,
        allowed: tuple[Operators, Operators],
    ) -> Refinement | None:
        """The best of all labels, conditions on features before conditions on labels."""
        spaces = [self.space(covered.listing, allowed[0])]
        if self.allowed.has_labels and (space := self.label_space(covered, allowed[1])):
            spaces.append(space)
            if covered is self.everywhere and not self.merging:
                more, more_reached = self.label_root.renewed(self, space), reached
            else:
                more, more_reached = self.search_space(space, covered, cells, targets)
            more.columns[more.columns >= 0] += self.n_features
            if self.merging:
                reached = np.hstack([
                    kept_where(found.ranks >= more.ranks, reached),
                    kept_where(more.ranks >= found.ranks, more_reached),
                ])  # fmt: skip
            found = better_of(found, more)
        top = int(found.ranks.max(initial=_NOTHING))
        if top == _NOTHING:
            return None
        if self.merging:
            tied = found.ranks == top
            reached = reached if tied.all() else reached[tied]
            return self._merged(covered, cells, targets[tied], top, reached, spaces)
        return self._single(targets, found, top)

    def _single(self, targets: Integers, found: "BestRefinements", top: int) -> Refinement:
        """Most cells right, then the first condition."""
        if targets.size == 1:
            label = targets // self.n_layers
            most, column, place = (int(part[0]) for part in found[1:])
            return Refinement(top, most, column, place, label)
        tied = np.flatnonzero(found.ranks == top)
        if tied.size > 1:
            tied = tied[found.corrects[tied] == found.corrects[tied].max()]
        if tied.size > 1:
            tied = tied[np.lexsort((found.places[tied], found.columns[tied]))]
        where, most = tied[0], found.corrects[tied[0]]
        labels = targets[tied] // self.n_layers
        labels = labels if tied.size == 1 else np.unique(labels)
        return Refinement(
            top, int(most), int(found.columns[where]), int(found.places[where]), labels
        )

    def _merged(
        self,
        covered: Covered,
        cells: "Cells",
        targets: Integers,
        top: int,
        reached: Reached,
        spaces: "list[RefinementSpace]",
    ) -> Refinement:
        """The condition for which the labels of the best rank have the most cells right."""
        labels = np.unique(targets // self.n_layers)
        best, offset = Refinement(top, -1, -1, -1, labels), 0
        by_slot = reached.sum(axis=0, dtype=np.int64)
        for space in spaces:
            n_slots = int(space.slots[-1])
            bounds = most_of_columns(by_slot[:n_slots], space.slots)
            if bounds.any():
                correct, column, place = self.kernels.best_merged(
                    space, bounds, by_slot[:n_slots], covered.rows, cells, labels, top,
                    self.largest, self.way,
                )  # fmt: skip
                if correct > best.correct:
                    best = Refinement(top, int(correct), int(column) + offset, int(place), labels)
            by_slot = by_slot[n_slots:]
            offset += space.nominal.size
        return best

    # ------------------------------------------------------------ kernels and threads

    def space(self, index: "Index", operators: Operators) -> "RefinementSpace":
        """The features, as the kernels take them."""
        from labelrules.kernels.refine import RefinementSpace

        return RefinementSpace(index, True, self.columns.nominal, operators, *self.slots)

    def label_space(self, covered: Covered, operators: Operators) -> "RefinementSpace | None":
        """The labels written on covered rows, as the kernels take them; None if none is."""
        from labelrules.kernels.columns import Index, count_written, list_labels
        from labelrules.kernels.refine import RefinementSpace

        n_set = count_written(self.board, covered.rows)
        if n_set == 0:
            return None
        start, stop = np.empty((2, len(self.board)), np.int64)
        index = Index(np.empty(n_set, np.int32), start, start, stop, stop)
        list_labels(self.board, covered.rows, index.entries, start, stop)
        kinds = np.ones(len(self.board), dtype=np.int8)
        return RefinementSpace(index, False, kinds, operators, *self.label_slots)

    def _room(self, n_targets: int, starts: Integers) -> Reached:
        """Room for what is reached, if that is of interest."""
        return np.zeros((n_targets if self.merging else 0, int(starts[-1])), np.int32)

    def _search(
        self,
        covered: Covered,
        cells: "Cells",
        targets: Integers,
        operators: Operators,
        source: "Index | None",
    ) -> "tuple[BestRefinements, Reached]":
        """The best refinements by features; columns are narrowed down from `source` before."""
        space = self.space(covered.listing, operators)
        reached = self._room(len(targets), self.slots.starts)

        def search(first: int, last: int) -> "BestRefinements":
            if source is not None:
                self._narrow(source, first, last, covered)
            best = nothing_found(len(targets))
            self.kernels.best_refinements(
                space, first, last, covered.rows, cells, targets, self.way, best, reached
            )
            return best

        share = len(covered.rows) / max(1, len(covered.mask))
        size = share * len(targets) * len(self.columns.index.entries)
        chunks = self.chunks if is_worth_threads(size) else [(0, self.n_features)]
        parts = self._in_threads(search, chunks)
        found = parts[0]
        for part in parts[1:]:
            found = better_of(found, part)
        if self.merging:
            for (first, last), part in zip(chunks, parts, strict=True):
                slots = slice(self.slots.starts[first], self.slots.starts[last])
                reached[part.ranks < found.ranks, slots] = 0
        return found, reached

    def _narrow(self, source: "Index", first: int, last: int, covered: Covered) -> None:
        """Narrow columns down to the covered rows."""
        from labelrules.kernels.columns import FEW, narrow, narrow_to_few

        is_whole = source.entries is self.columns.index.entries
        if is_whole and FEW * len(covered.rows) < len(covered.mask) and self.is_dense:
            narrow_to_few(
                source, *self.columns.places, self.columns.by_column, first, last, covered.rows,
                covered.mask, covered.listing,
            )  # fmt: skip
        else:
            narrow(source, first, last, covered.mask, covered.listing)

    def search_space(
        self,
        space: "RefinementSpace",
        covered: Covered,
        cells: "Cells",
        targets: Integers,
        first: int = 0,
        last: int | None = None,
    ) -> "tuple[BestRefinements, Reached]":
        """The best refinements by the columns of a space, all or some."""
        n_columns = space.nominal.size
        reached = self._room(len(targets), space.slots)
        best = nothing_found(len(targets))
        self.kernels.best_refinements(
            space, first, n_columns if last is None else last, covered.rows, cells, targets,
            self.way, best, reached,
        )  # fmt: skip
        return best, reached

    def _in_threads(
        self, work: "Callable[[int, int], BestRefinements]", chunks: list[tuple[int, int]]
    ) -> "list[BestRefinements]":
        if self.pool is None or len(chunks) == 1:
            return [work(first, last) for first, last in chunks]
        waiting = [self.pool.submit(work, *chunk) for chunk in chunks[1:]]
        return [work(*chunks[0]), *(job.result() for job in waiting)]
