"""The best refinements by columns: kept, compared, renewed, and how columns are divided."""

from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers
from labelrules.measures.measure import Merit

if TYPE_CHECKING:
    from labelrules.kernels.covering.refine import BestRefinements, RefinementSpace
    from labelrules.kernels.index import Index
    from labelrules.search.bodies.refine import Refiner

SEVERAL = 4
"""Changed labels beyond which conditions on all labels are searched anew."""

BUCKETS = 32
"""Groups of the refinements by a column, for each operator; see kernels/README.md, "Slots"."""


@cache
def growth_kernels() -> ModuleType:
    """The kernels of growth with what they take; an `import` in a loop asks for its module anew."""
    from labelrules.kernels.covering import grow

    return grow


class LabelRoot:
    """For each target the best condition on one label, from the empty body.

    A rule for a label changes what counts for it, and the rows that a condition on it covers; the
    rest stays, and is not searched again.
    """

    def __init__(self, n_labels: int) -> None:
        self.changed = np.ones(n_labels, dtype=np.bool_)
        self.best: BestRefinements | None = None

    def renewed(self, refiner: "Refiner", space: "RefinementSpace") -> "BestRefinements":
        """The best conditions, as the board is now."""
        changed = np.flatnonzero(self.changed)
        if self.best is None or changed.size > SEVERAL:
            targets = refiner.targets_of[refiner.cells.values > 0].ravel()
            found = _search_columns(refiner, space, targets)
            self.best = room_for(refiner.targets_of.size)
            for old, new in zip(self.best, found, strict=True):
                old[targets] = new
        else:
            for label in changed.tolist():
                self._renew(self.best, refiner, space, label)
        self.changed[:] = False
        return type(self.best)._make(part.copy() for part in self.best)

    def _renew(
        self, best: "BestRefinements", refiner: "Refiner", space: "RefinementSpace", label: int
    ) -> None:
        lost = best.columns == label
        lost[refiner.targets_of[label]] = True
        is_sought = np.repeat(refiner.cells.values > 0, refiner.n_layers)
        targets, others = np.flatnonzero(lost & is_sought), np.flatnonzero(~lost & is_sought)
        anew = _search_columns(refiner, space, targets)
        by_label, _ = refiner.search_space(space, refiner.everywhere, others, label, label + 1)
        kept = type(best)._make(part[others] for part in best)
        better = better_of(kept, by_label)
        for old, new, other in zip(best, anew, better, strict=True):
            old[targets], old[others] = new, other


def _search_columns(
    refiner: "Refiner", space: "RefinementSpace", targets: Integers
) -> "BestRefinements":
    """The best conditions on written labels; of many labels few may be, and only they are tried."""
    written = np.flatnonzero(space.listing.stop > space.listing.start)
    listing = type(space.listing)(space.listing.entries, *(p[written] for p in space.listing[1:]))
    few = space._replace(
        listing=listing, nominal=space.nominal[written],
        operators=np.take(space.operators, written, axis=1),  # row by row, as kernels expect it
        slots=space.slots[: written.size + 1], buckets=space.buckets[written],
        widths=space.widths[written],
    )  # fmt: skip
    best, _ = refiner.search_space(few, refiner.everywhere, targets)
    is_found = best.columns >= 0
    best.columns[is_found] = written[best.columns[is_found]]
    return best


def better_of(first: "BestRefinements", second: "BestRefinements") -> "BestRefinements":
    """For each target the better of two: score, then right cells, then the first column."""
    same = first.scores == second.scores
    wins = (second.scores > first.scores) | (same & (second.corrects > first.corrects))
    same &= (first.corrects == second.corrects) & (second.columns >= 0)
    wins |= same & (second.columns < first.columns)
    return type(first)._make(np.where(wins, b, a) for a, b in zip(first, second, strict=True))


def targets_of_best(best: "BestRefinements") -> Integers | None:
    """The targets of the best refinement: score, right cells, then the first condition."""
    top = top_of(best.scores)
    if top == -np.inf:
        return None
    (tied,) = (best.scores == top).nonzero()
    if tied.size > 1:
        tied = tied[best.corrects[tied] == best.corrects[tied].max()]
    if tied.size > 1:
        first = tied[np.lexsort((best.places[tied], best.columns[tied]))[0]]
        # A label with its first such condition further on is worse by this one.
        same = best.columns[tied] == best.columns[first]
        tied = tied[same & (best.places[tied] == best.places[first])]
    return np.asarray(tied)


def is_better_set(merit: Merit, column: int, other: Merit, other_column: int) -> bool:
    """Whether a set is better than another condition: in a column sets come last."""
    return merit > other or (merit == other and column < other_column)


def top_of(scores: Floats) -> float:
    """The greatest score, minus infinity without any; faster for a few than `max`."""
    return float(scores.item(scores.argmax())) if scores.size else -np.inf


def as_slice(numbers: Integers) -> Integers | slice:
    """Consecutive numbers as a slice, by which arrays are read and written faster."""
    if numbers.size and numbers[-1] - numbers[0] == numbers.size - 1:  # they rise
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


def room_for(n_targets: int) -> "BestRefinements":
    """No refinement yet, for each of several targets."""
    numbers = np.empty((3, n_targets), np.int64)  # filled: faster than `np.full` for a few
    scores = np.empty(n_targets)
    numbers.fill(-1)
    scores.fill(-np.inf)
    # Each by its number: an array that is unpacked raises an error at its end.
    room: BestRefinements = growth_kernels().BestRefinements(
        scores, numbers[0], numbers[1], numbers[2]
    )
    return room


def divided(index: "Index", n_threads: int) -> list[tuple[int, int]]:
    """Columns divided into parts of about equally many entries."""
    n_columns = index.start.size
    n_parts = max(1, min(n_threads, n_columns))
    # A column costs something even if it is empty.
    work = np.cumsum(index.stop - index.start + 8)
    ends = np.searchsorted(work, work[-1] * np.arange(1, n_parts) / n_parts) if n_columns else []
    edges = [0, *(int(end) + 1 for end in ends), n_columns]
    return list(pairwise(edges))


class Slots(NamedTuple):
    """Where the groups of refinements by each column begin, how many, and how wide they are."""

    starts: Integers
    buckets: Integers
    widths: Integers


def slots_of(nominal: npt.NDArray[np.int8], n_values: Integers) -> Slots:
    """Slots for columns; one of two values needs no second operator and has a slot for each."""
    two = (nominal > 0) & (n_values <= 2)
    buckets = np.where(two, 2, np.where(nominal > 0, np.minimum(n_values, BUCKETS), BUCKETS))
    sizes = np.where(two, 2, 2 * buckets)
    widths = np.where(nominal > 0, 1, -(-n_values // BUCKETS))
    return Slots(np.concatenate([[0], np.cumsum(sizes)]), buckets.astype(np.int64), widths)


def most_of_columns(by_slot: Integers, starts: Integers) -> Integers:
    """The greatest number in the slots of each column."""
    if starts.size == 1:
        return by_slot[:0]
    return np.asarray(np.maximum.reduceat(by_slot, starts[:-1]))
