"""Covering on rows in partitions, which need not fit into memory."""

from typing import NamedTuple

import numpy as np

from labelrules._types import Integers
from labelrules.data import Partitions
from labelrules.data.partitions.collections import CollectedRows
from labelrules.data.partitions.tasks import current_client
from labelrules.learners.base.progress import Listener, phase
from labelrules.learners.base.theory_classifier import Background
from labelrules.learners.covering.counted_loop import CountedCovering, is_counted
from labelrules.learners.covering.row_counts import RowCounts
from labelrules.learners.covering.settings import Settings
from labelrules.learners.covering.stored_rows import stored_parts
from labelrules.rules import DecisionList, Evidence, LayeredTheory
from labelrules.search.bodies.bins import Bins
from labelrules.search.bodies.code_tables import marked_columns
from labelrules.search.bodies.streamed_bins import bins_of_partitions

NOTHING_KNOWN = "all labels are unknown in all rows, so there is nothing to learn from"


class LearnedFromPartitions(NamedTuple):
    """A list, the loop that learned it, and what else a model needs of its rows."""

    theory: DecisionList | LayeredTheory
    covering: CountedCovering
    background: Background
    known: Integers
    """For each label the rows in which it is known and those that have it, in two halves."""


def learned_from_partitions(
    data: Partitions, settings: Settings, listener: Listener
) -> LearnedFromPartitions:
    """Learn a list; the same as from the rows in memory, with the same bins."""
    _check_settings(settings)
    phase("finding the bins of the columns")
    assert settings.bins is not None, "checked above"
    bins = _bins(data, settings.bins)
    if not is_counted(settings, bins):
        raise ValueError(
            "rows in partitions are learned from by counts alone: leave heads, size_bonus, "
            "fixed_head, beam_width, order, stop_share and readd at their defaults, pruning is "
            "'mdl', 'significance' or None, and operators are without 'in'"
        )
    phase("coding the columns")
    rows = _rows(data, bins, settings)
    try:
        covering = CountedCovering(rows, bins, settings, [])
        if not covering.totals.n_rows:
            raise ValueError(NOTHING_KNOWN)
        phase("searching for the first rule")
        covering.go_on(listener)
    finally:
        rows.close()
    theory = covering.finished()
    background, known = _background(theory, covering), covering.totals.known
    return LearnedFromPartitions(theory, covering, background, known)


def _bins(data: Partitions, n_bins: int) -> Bins:
    if isinstance(data, CollectedRows) and current_client() is not None:
        from labelrules.search.bodies.cluster_bins import bins_of_collection

        return bins_of_collection(data, n_bins)
    return bins_of_partitions(data, n_bins)


def _rows(data: Partitions, bins: Bins, settings: Settings) -> RowCounts:
    marked = marked_columns(bins, settings.allowed)
    if isinstance(data, CollectedRows) and current_client() is not None:
        from labelrules.learners.covering.cluster_rows import rows_on_workers

        return rows_on_workers(data, bins, marked)
    rows = stored_parts(data, bins, marked, settings.n_threads)
    if not rows.parts:
        raise ValueError(NOTHING_KNOWN)
    return rows


def _check_settings(settings: Settings) -> None:
    if settings.bins is None:
        raise ValueError(
            "rows in partitions are learned from by bins: set bins, as in "
            "SeparateAndConquer(bins=255)"
        )
    if settings.max_literals is not None:
        raise ValueError("max_literals needs all rows in memory: leave it out, or set max_rules")


def _background(theory: DecisionList | LayeredTheory, covering: CountedCovering) -> Background:
    """The cells that no rule wrote: those that the list left open, without those of last resorts.

    A last resort writes open cells only, since no label was found in its rows.
    """
    left = covering.board.open.copy()
    for rule in theory.fallback or () if isinstance(theory, LayeredTheory) else ():
        for (label, _), cells in zip(rule.head, rule.evidence or (), strict=True):
            right, wrong = cells or Evidence(0, 0)
            left[label] -= ((right + wrong) << 32) + right
    if isinstance(theory, DecisionList) and len(theory) > len(covering.rules):
        left[:] = 0  # a default rule writes all that is left
    return Background.of_cells(np.array([*_open_cells(left), *_known_cells(covering.totals.known)]))


def _open_cells(packed: Integers) -> tuple[Integers, Integers]:
    n_cells, n_present = _known_cells(packed)[::-1]
    return n_present, n_cells - n_present


def _known_cells(packed: Integers) -> tuple[Integers, Integers]:
    """The present cells and all cells of each label, from two halves of a number."""
    return packed & 0xFFFFFFFF, packed >> 32
