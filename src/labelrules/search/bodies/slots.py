"""What searches find, put together: the better of two, and columns divided among threads."""

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers, Mask
from labelrules.measures import Formula
from labelrules.measures import formulas as formulas
from labelrules.measures.formulas import entry

if TYPE_CHECKING:
    from labelrules.kernels.columns import Index
    from labelrules.kernels.refine import BestRefinements

WORTH_A_THREAD = 200_000
"""Entries to be counted below which another thread costs more than it brings."""

Reached: TypeAlias = npt.NDArray[np.int32]
"""By targets and slots: the cells right where the best rank is reached, 0 elsewhere."""

BUCKETS = 32
"""Parts of the refinements by a column that are told apart, for each operator."""


class Slots(NamedTuple):
    """Where the parts of the refinements by each column begin, how many and how wide they are."""

    starts: Integers
    buckets: Integers
    widths: Integers


def slots_of(nominal: npt.NDArray[np.int8], n_values: Integers) -> Slots:
    """Slots for columns of some kinds with so many values; see `kernels.refine.Space`.

    A column of two values, of which the second operator says nothing new, has a slot for each.
    """
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


def kept_where(chosen: Mask, reached: Reached) -> Reached:
    """What is reached, for the chosen targets only."""
    return np.where(chosen[:, np.newaxis], reached, np.int32(0))


def nothing_found(n_targets: int) -> "BestRefinements":
    """Room for what a search finds."""
    from labelrules.kernels.refine import BestRefinements

    return BestRefinements(*(np.empty(n_targets, np.int64) for _ in range(4)))


def better_of(first: "BestRefinements", second: "BestRefinements") -> "BestRefinements":
    """For each target the better of two; the first if they are equal."""
    wins = (second.ranks > first.ranks) | (
        (second.ranks == first.ranks) & (second.corrects > first.corrects)
    )
    return type(first)(*(np.where(wins, b, a) for a, b in zip(first, second, strict=True)))


def is_worth_threads(n_entries: float) -> bool:
    """Whether so much counting is worth being divided."""
    return n_entries >= WORTH_A_THREAD


def divided(index: "Index", n_threads: int) -> list[tuple[int, int]]:
    """Columns divided into parts of about equally many entries."""
    n_columns = index.start.size
    n_parts = max(1, min(n_threads, n_columns))
    # A column costs something even if it is empty.
    work = np.cumsum(index.stop - index.start + 8)
    ends = np.searchsorted(work, work[-1] * np.arange(1, n_parts) / n_parts) if n_columns else []
    edges = [0, *(int(end) + 1 for end in ends), n_columns]
    return list(pairwise(edges))


# -------------------- Formulas for which whole ranges of counts can be bounded

MONOTONE = frozenset({
    "precision", "recall", "hamming", "f", "jaccard", "laplace", "m-estimate",
    "weighted-relative-accuracy", "rate-difference", "linear-cost",
})  # fmt: skip
"""Formulas that more right cells never lower and more wrong ones never raise."""


def is_monotone(formula: Formula) -> bool:
    """Whether more right cells never lower the formula and more wrong ones never raise it.

    >>> is_monotone(Formula("f", 0.5)), is_monotone(Formula("linear-cost", 1.5))
    (True, False)
    """
    function, _ = entry(formula.name)
    is_ours = function.__module__ == formulas.__name__  # the name may have been given to another
    rewards_errors = formula.name == "linear-cost" and (formula.parameter or 0.0) > 1
    return formula.name in MONOTONE and is_ours and not rewards_errors
