"""What each rule of a theory does on rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from labelrules._types import UNSET, Board, Integers, Mask, Matrix
from labelrules.data.table import Dataset
from labelrules.rules import (
    DecisionList,
    Gibbs,
    LabelByLabel,
    LayeredTheory,
    Once,
    RuleSet,
    RuleTable,
    Theory,
    UntilStable,
)
from labelrules.rules.inference import (
    Inference,
    TheoryColumn,
    TheoryReader,
    closed,
    label_by_label,
    nobody,
    sampled,
    until_stable,
)
from labelrules.rules.layered_theory import bare
from labelrules.rules.theory import Run

# -------------------- Which rules of a last layer do anything while it is asked again and again


def active_rules(layer: Theory, way: Inference, rows: Dataset, seen: Board | None) -> Mask:
    """For each rule whether it writes, votes or ends a row in any round, also if that is undone.

    Parameters
    ----------
    layer : DecisionList or RuleSet
    way : UntilStable, LabelByLabel or Gibbs
    rows : Dataset
        Whose labels do not matter.
    seen : array of int8, optional
        What the layers before have found; None for the only layer.
    """
    active = np.zeros(len(layer), dtype=np.bool_)
    reader = _Watched(TheoryReader(layer, rows, None), layer, range(len(layer)), active)
    if isinstance(way, UntilStable):
        until_stable(reader, way.max_rounds, seen)
        return active
    start = closed(reader.read(None).board if seen is None else seen)
    columns = [TheoryColumn(layer, label, rows, None) for label in range(rows.schema.n_labels)]
    for column in columns:
        # What it writes of other labels is not looked at.
        column.reader = _Watched(column.reader, layer, column.numbers, active, column.label)
    if isinstance(way, LabelByLabel):
        label_by_label(columns, way.labels(len(columns)), way.max_rounds, start)
    elif isinstance(way, Gibbs):
        sampled(columns, way, start)
    return active


class _Watched(TheoryReader):
    """A reader that notes which rules do something; rules by their numbers in the whole layer."""

    def __init__(
        self,
        reader: TheoryReader,
        layer: Theory,
        numbers: Sequence[int],
        active: Mask,
        label: int | None = None,
    ) -> None:
        self.table, self.rows, self.known = reader.table, reader.rows, reader.known
        self.layer, self.numbers, self.active = layer, np.array(numbers, dtype=np.int64), active
        self.labels = slice(None) if label is None else slice(label, label + 1)

    def read(self, seen: Board | None) -> Run:
        """What the layer writes when it sees these labels."""
        run = super().read(seen)
        if isinstance(self.layer, DecisionList):
            for found in (run.writer[:, self.labels], run.stopped):
                self.active[self.numbers[np.unique(found[found >= 0])]] = True
            return run
        looked_at = np.full_like(run.board, UNSET) if seen is None else seen
        for number in self.numbers[~self.active[self.numbers]]:
            body = self.layer[int(number)].body
            self.active[number] = body.covers(self.rows.X, looked_at).any()
        return run


# ---------------------------------------------------------------- the main part


@dataclass(frozen=True, eq=False)
class Usage:
    """For each rule, in the order of the theory, what it did.

    Attributes
    ----------
    n_covered : array of int
        Rows on which it fired.
    n_rows, n_cells : array of int
        Rows and cells that it wrote, or in a rule set voted on.
    n_decided : array of int
        Cells of its part that are decided by it and the rules before it.
    n_overruled : array of int
        Cells of rows on which it fired where its part says the opposite.
    is_reached : array of bool
        Whether it wrote a cell, had a vote, or ended a row; of a layer that is asked again and
        again, in any of the rounds.
    board : array of int8
        The result; `UNSET` where no rule decided.
    """

    n_covered: Integers
    n_rows: Integers
    n_cells: Integers
    n_decided: Integers
    n_overruled: Integers
    is_reached: Mask
    board: Board

    def of_rule(self, number: int) -> tuple[int | bool, ...]:
        """The counts of one rule, in the order above, and whether it is reached."""
        counts = (self.n_covered, self.n_rows, self.n_cells, self.n_decided, self.n_overruled)
        return *(int(count[number]) for count in counts), bool(self.is_reached[number])


def usage_of(theory: Theory, X: Matrix) -> Usage:
    """Apply a theory and count what its rules do.

    In a last layer that is asked again and again, a rule covers a row if its body holds on the
    labels that were found in the end. If it was sampled, so that no rule has written anything, the
    rules that decide on these labels count as those that wrote them.
    """
    rows = Dataset(theory.schema, X, np.zeros((X.shape[0], theory.schema.n_labels), dtype=np.int8))
    if not isinstance(theory, LayeredTheory):
        return _part(theory, rows, _run(theory, rows), None, None)
    run = theory.run(rows)
    parts: list[Usage] = []
    seen: Board | None = None
    for number, (layer, done) in enumerate(zip(theory.layers, run.layers, strict=True)):
        if number == len(run.layers) - 1 and not isinstance(theory.inference, Once):
            parts.append(_asked_again(layer, theory.inference, rows, done, seen))
            break
        parts.append(_part(layer, rows, done, seen, None))
        seen = closed(done.board)
    if run.fallback is not None and theory.fallback is not None:
        waiting = bare(run.layers[-1].board)
        parts.append(_part(theory.fallback, rows, run.fallback, None, waiting))
    return Usage(
        np.concatenate([part.n_covered for part in parts]),
        np.concatenate([part.n_rows for part in parts]),
        np.concatenate([part.n_cells for part in parts]),
        np.concatenate([part.n_decided for part in parts]),
        np.concatenate([part.n_overruled for part in parts]),
        np.concatenate([part.is_reached for part in parts]),
        run.board,
    )


def _asked_again(
    layer: Theory, way: Inference, rows: Dataset, done: Run, before: Board | None
) -> Usage:
    """The usage of a last layer that sees its own labels, given those of the layers before."""
    seen = closed(done.board)
    if isinstance(way, Gibbs) and isinstance(layer, DecisionList):
        done = layer.run(rows, reads=seen)
    found = _part(layer, rows, done, seen, None)
    if found.is_reached.all():
        return found
    active = active_rules(layer, way, rows, before)
    return replace(found, is_reached=found.is_reached | active)


def _run(theory: Theory, rows: Dataset) -> Run:
    table = RuleTable(theory)
    if theory.ordered:
        return table.run(rows)
    board = table.apply(rows)
    return Run(board, *nobody(board))


def _part(
    theory: Theory, rows: Dataset, run: Run, seen: Board | None, waiting: Mask | None
) -> Usage:
    """The usage of the rules of a list or a set."""
    counts = np.zeros((5, len(theory)), dtype=np.int64)
    open_rows = np.ones(len(rows), dtype=np.bool_) if waiting is None else waiting.copy()
    decided = np.zeros_like(run.board, dtype=np.bool_)
    ends = np.zeros(len(theory), dtype=np.bool_)
    for number, rule in enumerate(theory):
        fires = open_rows & rule.body.covers(rows.X, _seen(theory, run, seen, number))
        if isinstance(theory, RuleSet):
            cells = np.zeros_like(decided)
            cells[:, list(rule.head.labels)] = fires[:, None]
        else:
            cells = run.writer == number
        fires |= cells.any(axis=1)  # perhaps on labels that have changed since
        decided |= cells
        opposite = run.board[:, list(rule.head.labels)] == 1 - np.array(rule.head.values)
        counts[:, number] = (
            fires.sum(),
            cells.any(axis=1).sum(),
            cells.sum(),
            decided.sum(),
            opposite[fires].sum(),
        )
        if rule.stops:
            open_rows &= ~fires
            ends[number] = fires.any()
    n_covered, n_rows, n_cells, n_decided, n_overruled = counts
    reached = ends | (n_cells > 0)
    return Usage(n_covered, n_rows, n_cells, n_decided, n_overruled, reached, run.board)


def _seen(theory: Theory, run: Run, seen: Board | None, number: int) -> Board:
    """The labels that a rule looks at."""
    if seen is not None:
        return seen
    if not isinstance(theory, DecisionList):
        return np.full_like(run.board, UNSET)
    written = (run.writer >= 0) & (run.writer < number)
    return np.where(written, run.board, UNSET)
