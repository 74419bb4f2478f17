"""Runs of theories over rows: which rule wrote which cell, and what an edit would change."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Integers, Mask, Matrix
from labelrules.data.table import Dataset
from labelrules.rules.inference import (
    Gibbs,
    Inference,
    LabelByLabel,
    Once,
    TheoryColumn,
    TheoryReader,
    UntilStable,
    label_by_label,
    sampled,
    until_stable,
)
from labelrules.rules.layered_theory import LayeredRun, LayeredTheory, without_labels
from labelrules.rules.rule import Rule
from labelrules.rules.rule_table import RuleTable, kernel_columns, runner_of, table_of
from labelrules.rules.theory import DecisionList, Run, Theory, closed, run_of

if TYPE_CHECKING:
    from labelrules.kernels.apply import FlatRules


class WrittenRows(NamedTuple):
    """Rows in which a rule wrote a label, by what is true there."""

    right: Integers
    wrong: Integers
    unknown: Integers


class PartRun(NamedTuple):
    """What a part of a theory, a list or a set, did on rows; rules have its own numbers."""

    rules: Theory
    start: int  # the number of its first rule in the theory
    rows: Dataset
    run: Run
    seen: Board | None = None  # the labels that conditions are tested on; None for those it writes
    waiting: Mask | None = None  # the rows that it is applied to; None for all

    def wrote(self, number: int) -> Mask:
        """Which cells a rule of a list was the first to write: rows by the labels of its head."""
        return np.asarray(self.run.writer[:, _columns(self.rules[number])] == number)

    def before(self, number: int, labels: int | slice = slice(None)) -> Board:
        """The labels, all or one, on which the conditions of a rule are tested."""
        if self.seen is not None:
            return self.seen[:, labels]
        if not self.rules.ordered:
            return np.full_like(self.run.board[:, labels], UNSET)
        return self.run.before(number, labels)

    def covered(self, number: int) -> Mask:
        """The rows that the body of a rule covers, whatever other rules do with them."""
        body = self.rules[number].body
        covered = body.covers(
            self.rows.X, self.before(number) if body.on_labels else self.run.board
        )
        return covered if self.waiting is None else covered & self.waiting

    def fired(self) -> Iterator[tuple[int, Rule, Mask]]:
        """Each rule with its number and the rows on which it fired."""
        open_rows, board = self._all_rows(), self.before(0)
        is_written = self.rules.ordered and self.seen is None
        board = board.copy() if is_written else board
        for number, rule in enumerate(self.rules):
            fires = open_rows & rule.body.covers(self.rows.X, board)
            if self.rules.ordered:  # if it fired on labels that have changed since
                wrote = self.wrote(number)
                fires |= wrote.any(axis=1)
            yield number, rule, fires
            if is_written:
                labels = _columns(rule)
                board[:, labels] = np.where(wrote, self.run.board[:, labels], board[:, labels])
            if rule.stops:
                open_rows &= ~fires

    def reached(self) -> Iterator[tuple[int, Rule, Mask]]:
        """Each rule with its number and the rows that no rule has ended before it."""
        going = self._all_rows()
        if not any(rule.stops for rule in self.rules):
            yield from ((number, rule, going) for number, rule in enumerate(self.rules))
            return
        for number, rule, fires in self.fired():
            yield number, rule, going
            if rule.stops:
                going &= ~fires

    def written_rows(self, number: int, label: int, truth: Board) -> WrittenRows:
        """The rows in which a rule wrote a label."""
        wrote, true = self.run.writer[:, label] == number, truth[:, label]
        right, known = self.run.board[:, label] == true, true != UNSET
        return WrittenRows(
            *map(np.flatnonzero, (wrote & right, wrote & known & ~right, wrote & ~known))
        )

    def _all_rows(self) -> Mask:
        """The rows that it is applied to, as a mask of their own."""
        return np.ones(len(self.rows), np.bool_) if self.waiting is None else self.waiting.copy()


def _columns(rule: Rule) -> list[int] | slice:
    """The columns of the labels of a head, as a slice if there is one, which copies nothing."""
    labels = rule.head.labels
    return slice(labels[0], labels[0] + 1) if len(labels) == 1 else list(labels)


@dataclass(frozen=True, eq=False)
class TheoryRun:
    """What a theory did on rows: which rule wrote which cell, rightly or wrongly.

    Rules have the numbers of the theory, through all its parts, from 0. In a last layer that reads
    its own labels, bodies are tested on the final labels; if it was sampled, the rules that decide
    on these count as those that wrote them.
    """

    theory: Theory
    board: Board  # the labels; `UNSET` where no rule decided
    parts: tuple[PartRun, ...]

    @classmethod
    def of(cls, theory: Theory, rows: Dataset) -> "TheoryRun":
        """Apply a theory to rows, compiled."""
        if not isinstance(theory, LayeredTheory):
            run = run_of(runner_of(theory), rows)
            return cls(theory, run.board, (PartRun(theory, 0, rows, run),))
        layered = theory.run(rows)
        return cls(theory, layered.board, tuple(_parts(theory, rows, layered)))

    @property
    def layers(self) -> tuple[PartRun, ...]:
        """The runs of the layers, without the list for rows without labels."""
        return self.parts[: len(self.theory.layers)]

    def part_of(self, number: int) -> tuple[PartRun, int]:
        """The part that has a rule, and the number of the rule there."""
        part = next(one for one in reversed(self.parts) if one.start <= number)
        return part, number - part.start

    def evidence(self, truth: Board, weights: Floats | None = None) -> Integers:
        """The right and the wrong cells that each rule wrote: two by labels by rules."""
        parts = [part.run.counts(truth, len(part.rules), weights) for part in self.parts]
        return np.concatenate(parts, axis=2)


def _parts(theory: LayeredTheory, rows: Dataset, run: LayeredRun) -> Iterator[PartRun]:
    start, seen = 0, None
    for layer, done in zip(theory.layers[:-1], run.layers[:-1], strict=True):
        yield PartRun(layer, start, rows, done, seen)
        start, seen = start + len(layer), closed(done.board)
    last, done = theory.layers[-1], run.layers[-1]
    if not isinstance(theory.inference, Once):
        seen = closed(done.board)
        if isinstance(theory.inference, Gibbs):
            done = run_of(table_of(last), rows, reads=seen)
    yield PartRun(last, start, rows, done, seen)
    if run.fallback is not None and theory.fallback is not None:
        waiting = without_labels(run.layers[-1].board)
        yield PartRun(theory.fallback, start + len(last), rows, run.fallback, None, waiting)


class Usage(NamedTuple):
    """The use of each rule, in the order of the theory, and the cells that no rule decides."""

    counts: Integers  # the five counts of `RuleSummary`, by rules
    is_reached: Mask
    n_rows: int
    n_open: Integers  # rows in which no rule decides, by labels
    n_bare: int  # rows in which no rule decides any label
    n_wrong: Integers | None = None  # rows with a wrong prediction, by labels; None: truth unknown

    def of_rule(self, number: int) -> tuple[Any, ...]:
        """The counts of one rule, and whether it is reached."""
        return *self.counts[:, number].tolist(), bool(self.is_reached[number])

    def plus(self, other: "Usage") -> "Usage":
        """Add the use on other rows."""
        is_known = self.n_wrong is not None and other.n_wrong is not None
        return Usage(
            self.counts + other.counts,
            self.is_reached | other.is_reached,
            self.n_rows + other.n_rows,
            self.n_open + other.n_open,
            self.n_bare + other.n_bare,
            self.n_wrong + other.n_wrong if is_known else None,  # type: ignore[operator]
        )


def usage_of(theory: Theory, rows: Dataset, truth: Board | None = None) -> Usage:
    """Apply a theory and count what its rules do, as `TheoryRun` says."""
    run = TheoryRun.of(theory, rows)
    parts = [_part_usage(part) for part in run.parts]
    counts, is_reached = (np.concatenate(one, axis=-1) for one in zip(*parts, strict=True))
    start, last = run.layers[-1].start, theory.layers[-1]
    own = slice(start, start + len(last))
    if not isinstance(theory.inference, Once) and not is_reached[own].all():
        before = closed(run.layers[-2].run.board) if len(theory.layers) > 1 else None
        is_reached[own] |= active_rules(last, theory.inference, rows, before)
    is_open, n_wrong = run.board == UNSET, None
    if truth is not None:
        wrong = (run.board == 1) != (truth == 1)
        n_wrong = np.count_nonzero(wrong & (truth != UNSET), axis=0)
    n_bare = int(is_open.all(axis=1).sum())
    return Usage(counts, is_reached, len(rows), is_open.sum(axis=0), n_bare, n_wrong)


def _part_usage(part: PartRun) -> tuple[Integers, Mask]:
    """The counts of the rules of a part, and whether they are reached."""
    board = part.run.board
    counts = np.zeros((5, len(part.rules)), dtype=np.int64)
    decided = np.zeros_like(board, dtype=np.bool_)
    n_decided = 0
    ends = np.zeros(len(part.rules), dtype=np.bool_)
    for number, rule, fires in part.fired():
        labels = list(rule.head.labels)
        is_voting = not part.rules.ordered
        cells = np.repeat(fires[:, None], len(labels), axis=1) if is_voting else part.wrote(number)
        n_decided += int(np.count_nonzero(cells & ~decided[:, labels]))
        decided[:, labels] |= cells
        opposite = board[:, labels] == 1 - np.array(rule.head.values)
        counts[:, number] = (
            np.count_nonzero(fires),
            np.count_nonzero(cells.any(axis=1)),
            np.count_nonzero(cells),
            n_decided,
            np.count_nonzero(opposite & fires[:, None]),
        )
        ends[number] = rule.stops and fires.any()
    return counts, ends | (counts[2] > 0)


def active_rules(layer: Theory, inference: Inference, rows: Dataset, seen: Board | None) -> Mask:
    """Whether each rule writes, votes or ends a row in any round; `seen` is the layer before."""
    active = np.zeros(len(layer), dtype=np.bool_)
    reader = _RecordingReader(TheoryReader(layer, rows, None), layer, range(len(layer)), active)
    if isinstance(inference, UntilStable):
        until_stable(reader, inference.max_rounds, seen)
        return active
    start = closed(reader.read(None).board if seen is None else seen)
    columns = [TheoryColumn(layer, label, rows, None) for label in range(rows.schema.n_labels)]
    for column in columns:
        # Only what it writes of its own label counts.
        column.reader = _RecordingReader(column.reader, layer, column.numbers, active, column.label)
    if isinstance(inference, LabelByLabel):
        label_by_label(columns, inference.labels(len(columns)), inference.max_rounds, start)
    elif isinstance(inference, Gibbs):
        sampled(columns, inference, start)
    return active


class _RecordingReader(TheoryReader):
    """A reader that records the active rules, by their numbers in the whole layer."""

    def __init__(
        self,
        reader: TheoryReader,
        layer: Theory,
        numbers: Sequence[int],
        active: Mask,
        label: int | None = None,
    ) -> None:
        self.table, self.rows, self.known = reader.table, reader.rows, reader.known
        self.engine = reader.engine
        self.layer, self.numbers, self.active = layer, np.array(numbers, dtype=np.int64), active
        self.labels = slice(None) if label is None else slice(label, label + 1)

    def read(self, seen: Board | None) -> Run:
        """Run the layer on these labels."""
        run = super().read(seen)
        if isinstance(self.layer, DecisionList):
            for rules in (run.writer[:, self.labels], run.stopped):
                self.active[self.numbers[np.unique(rules[rules >= 0])]] = True
            return run
        labels = np.full_like(run.board, UNSET) if seen is None else seen
        for number in self.numbers[~self.active[self.numbers]]:
            body = self.layer[int(number)].body
            self.active[number] = body.covers(self.rows.X, labels).any()
        return run


Packed: TypeAlias = npt.NDArray[np.uint64]
"""Sets of rows, one bit for each: rules or labels by words."""


class Changes(NamedTuple):
    """What becomes of the predictions of a list when its rules change."""

    n_rows: int  #: Rows in which a prediction changes.
    n_cells: int  #: Predictions that change.
    n_known: int  #: Of these, those of which the truth is known.
    n_righted: int  #: Of those, the ones that become right.


class _Piece(NamedTuple):
    """Rules that stand together: all of the list, or all new."""

    arrays: "FlatRules"
    covered: Packed  # the rows that satisfy their conditions on features
    numbers: Sequence[int]
    is_kept: bool


class ListReplay:
    r"""Counts what edits of a decision list change in the predictions of some rows.

    Features are tested once for the rules of the list, and then for new rules only: that is most of
    the work. It needs a bit for each rule and row.

    Parameters
    ----------
    theory : DecisionList
    X : array or sparse matrix
        Encoded features of the rows.
    truth : int8 array, rows by labels, optional
        The true labels, UNSET where they are unknown.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("not sports <- sex = Male\nsports <- true", readers.schema)
    >>> replay = ListReplay(theory, readers.X, readers.Y)
    >>> replay.changes(theory.rules[1:])
    Changes(n_rows=9, n_cells=9, n_known=9, n_righted=1)
    """

    def __init__(self, theory: DecisionList, X: Matrix, truth: Board | None = None) -> None:
        from labelrules.kernels.replay import pack_cells

        self.theory, self.n_rows = theory, int(X.shape[0])
        self._n_words = (self.n_rows + 63) // 64
        self._columns = kernel_columns(X)
        self._number = {id(rule): number for number, rule in enumerate(theory)}
        self._kept = self._covered(theory)
        self._decided = np.zeros_like(self._kept[1])
        self._truth = self._no_cells(0 if truth is None else theory.schema.n_labels)
        if truth is not None:
            pack_cells(truth, *self._truth)
        everywhere = np.arange(self._n_words)
        self._before = self._present(
            [_Piece(*self._kept, range(len(theory)), True)], everywhere, self._decided
        )

    def changes(self, rules: Sequence[Rule]) -> Changes:
        """What changes in the predictions if these were the rules; kept ones are the same objects.

        A rule that is equal to one of the list, but another object, is tested anew.
        """
        from labelrules.kernels.replay import count_changes

        pieces = list(self._pieces(rules))
        places = self._words_that_may_change(pieces)
        after = self._present(pieces, places, np.empty((0, 0), np.uint64))
        counts = np.empty(4, np.int64)
        count_changes(self._before, after, places, *self._truth, counts)
        return Changes(*counts.tolist())

    def _pieces(self, rules: Sequence[Rule]) -> "Iterator[_Piece]":
        """Stretches of rules of the list, and of new ones."""
        for is_kept, group in groupby(rules, lambda rule: id(rule) in self._number):
            chosen = list(group)
            if is_kept:
                yield _Piece(*self._kept, [self._number[id(rule)] for rule in chosen], True)
            else:
                yield _Piece(*self._covered(chosen), range(len(chosen)), False)

    def _words_that_may_change(self, pieces: "Sequence[_Piece]") -> Integers:
        """The words with rows that a rule which leaves decided, or that a new rule may cover."""
        kept = [number for piece in pieces if piece.is_kept for number in piece.numbers]
        if kept != sorted(set(kept)):
            return np.arange(self._n_words)
        leaving = np.delete(self._decided, kept, axis=0)
        new = [piece.covered for piece in pieces if not piece.is_kept]
        return np.flatnonzero(np.concatenate([leaving, *new]).any(axis=0))

    def _present(self, pieces: "Sequence[_Piece]", places: Integers, decided: Packed) -> Packed:
        """The rows that have each label by these rules, in the words at these places."""
        from labelrules.kernels.replay import replay_list

        written: Packed
        present: Packed
        written, present = self._no_cells(self.theory.schema.n_labels)
        # The rows that no rule has stopped; those beyond the last are covered by no rule.
        active = np.full(self._n_words, -1).view(np.uint64)
        for piece in pieces:
            numbers = np.array(piece.numbers, np.int64)
            replay_list(
                piece.arrays, numbers, piece.covered, places, written, present, active, decided
            )
        return present

    def _covered(self, rules: Iterable[Rule]) -> "tuple[FlatRules, Packed]":
        """Rules as arrays, and the rows that satisfy their conditions on features."""
        from labelrules.kernels.replay import cover_rules

        arrays = RuleTable(DecisionList(self.theory.schema, rules)).arrays
        covered = np.zeros((len(arrays.stops), self._n_words), np.uint64)
        cover_rules(arrays, self._columns, self.n_rows, covered)
        return arrays, covered

    def _no_cells(self, n_labels: int) -> Packed:
        """Two empty sets of rows for each label."""
        return np.zeros((2, n_labels, self._n_words), np.uint64)
