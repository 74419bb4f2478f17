"""Rows divided into folds by what they hold, not by their order."""

from collections.abc import Iterator

import numpy as np

from labelrules._types import Board, Integers, Mask
from labelrules.data import Dataset
from labelrules.learners.crew import Crew
from labelrules.learners.members import Fitted, Job, Member, Work
from labelrules.learners.pruning import row_keys
from labelrules.learners.widened import numbers_of
from labelrules.rules import DecisionList, RuleTable
from labelrules.rules.rounds import closed


def folds_of(data: Dataset, n_folds: int, seed: int = 0) -> Integers:
    """For each row its fold; each label set is spread evenly over the folds.

    Which fold a row is in follows from its values, its label set and the seed. Fewer rows than
    folds make fewer folds, but two at least.
    """
    sets, kinds = np.unique(data.Y, axis=0, return_inverse=True)
    chance = np.random.default_rng(seed)
    factor = chance.integers(1, 2**62, dtype=np.int64) * 2 + 1
    shuffled = chance.permutation(len(sets))[kinds.ravel()]
    keys = row_keys(data.X)
    order = np.lexsort(((keys * factor) ^ (keys >> 17), shuffled))
    folds = np.empty(data.n_rows, dtype=np.int64)
    folds[order] = np.arange(data.n_rows) % max(2, min(n_folds, data.n_rows))
    return folds


def held_out_cells(
    work: Work, jobs: list[Job], folds: Integers, crew: Crew, phase: str
) -> dict[Job, Board]:
    """For each job what is said of rows by models that were learned from the rows of other folds.

    What labels that are tested are like is as `work` shows it, in learning and in predicting.
    """
    n_rows = work.data.n_rows
    found: dict[Job, Board] = {job: np.zeros(n_rows, dtype=np.int8) for job in jobs}
    n_folds = int(folds.max()) + 1
    for number, held in enumerate(_each(folds)):
        kept = np.flatnonzero(~held)
        if not kept.size:  # a single row
            continue
        part = Work(work.base, work.data.take(kept), work.shown[kept], work.with_features)
        learned = crew.learn(part, jobs, f"{phase}, fold {number + 1} of {n_folds}")
        rows, seen = work.data.take(held), work.shown[held]
        for job, member in learned.items():
            found[job][held] = cells_said(member, job, rows, seen)
    return found


def cells_said(member: Member, job: Job, rows: Dataset, seen: Board) -> Board:
    """What a model says of a label when it sees these labels."""
    if isinstance(member, Fitted):
        return member.cells(numbers_of(rows), seen)
    board = RuleTable(DecisionList(rows.schema, member)).apply(rows, reads=seen)
    return closed(board)[:, job.label]


def _each(folds: Integers) -> Iterator[Mask]:
    for fold in range(int(folds.max()) + 1):
        yield folds == fold
