"""Asking a layer: once, until nothing changes, label by label, or by drawing lots."""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.dataset import Dataset
from labelrules.rules.head import Head
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.rule import Evidence, Rule
from labelrules.rules.table import RuleTable
from labelrules.rules.theory import Run, Theory

Numbers: TypeAlias = npt.NDArray[np.int32]
"""Numbers of rules, -1 for none."""


class Rounds(NamedTuple):
    """How the last layer came to its result; see `LayeredRun`."""

    run: Run
    n_rounds: Integers
    moving: Mask
    presence: Floats | None = None


def closed(board: Board) -> Board:
    """The board on which cells that nobody wrote have become absent."""
    return np.where(board == UNSET, np.int8(0), board)


class Reader:
    """A layer that is asked for the same rows again and again.

    Parameters
    ----------
    layer : Theory
    rows : Dataset
        Whose labels do not matter.
    known : array of int8, optional
        Cells that are written beforehand.
    """

    def __init__(self, layer: Theory, rows: Dataset, known: Board | None) -> None:
        self.table, self.rows, self.known = RuleTable(layer), rows, known

    def read(self, seen: Board | None) -> Run:
        """What the layer writes when it sees these labels; those it writes itself if None."""
        if self.table.ordered:
            return self.table.run(self.rows, self.known, reads=seen)
        board = self.table.apply(self.rows, self.known, reads=seen)
        return Run(board, *_nobody(board))


def ask(
    layer: Theory, way: Inference, rows: Dataset, known: Board | None, seen: Board | None
) -> Rounds:
    """Ask the last layer in one of the ways there are."""
    if isinstance(way, UntilStable):
        return _until_stable(Reader(layer, rows, known), way.max_rounds, seen)
    if isinstance(way, Once):
        run = Reader(layer, rows, known).read(seen)
        return Rounds(run, *_nothing_known(run.board))
    # Both go from label to label, and must start somewhere.
    start = closed(Reader(layer, rows, known).read(None).board if seen is None else seen)
    columns = [_Column(layer, label, rows, known) for label in range(rows.schema.n_labels)]
    if isinstance(way, LabelByLabel):
        return _label_by_label(columns, way.labels(len(columns)), way.max_rounds, start)
    return _sampled(columns, way, start)


def _until_stable(reader: Reader, max_rounds: int, seen: Board | None) -> Rounds:
    result = _copied(reader.read(seen))
    labels = closed(result.board)
    n_rounds, moving = _nothing_known(labels)
    if seen is not None:
        moving = labels != seen
        n_rounds[~moving.any(axis=1)] = 1
    for number in range(2, max_rounds + 1):
        if n_rounds.all():
            break
        run = reader.read(labels)
        moving = closed(run.board) != labels
        labels = closed(run.board)
        stable = (n_rounds == 0) & ~moving.any(axis=1)
        n_rounds[stable] = number
        _take(result, run, stable)
    return Rounds(result, n_rounds, moving)


class _Column:
    """The part of a layer that speaks of one label."""

    def __init__(self, layer: Theory, label: int, rows: Dataset, known: Board | None) -> None:
        self.label, self.layer = label, layer
        self.numbers = _speaking_of(label, layer)
        rules = [_only(label, layer[number]) for number in self.numbers]
        # The last place is for the number -1: nobody.
        self.lookup = np.array([*self.numbers, -1], dtype=np.int32)
        self.known = None if known is None else known[:, label]
        self.reader = Reader(type(layer)(layer.schema, rules), rows, known)

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """The cells of the label, and the rules of the layer that wrote them."""
        run = self.reader.read(seen)
        return run.board[:, self.label], self.lookup[run.writer[:, self.label]]

    def presence(self, seen: Board) -> Floats:
        """How probable it is that the label is present, by the rules that decide about it."""
        _, writer = self.read(seen)
        found = self._by_rule()[writer]
        return found if self.known is None else np.where(self.known == UNSET, found, self.known)

    def _by_rule(self) -> Floats:
        """For each rule the probability; what nobody says is absent."""
        found = np.zeros(len(self.layer) + 1)
        for number in self.numbers:
            found[number] = _probability(self.layer[number], number, self.label)
        return found


def _label_by_label(
    columns: list[_Column], order: tuple[int, ...], max_rounds: int, labels: Board
) -> Rounds:
    result, first = Run(labels.copy(), *_nobody(labels)), None
    n_rounds, moving = _nothing_known(labels)
    for number in range(1, max_rounds + 1):
        before = labels.copy()
        for label in order:
            result.board[:, label], result.writer[:, label] = columns[label].read(labels)
            labels[:, label] = closed(result.board[:, label])
        moving = labels != before
        n_rounds[(n_rounds == 0) & ~moving.any(axis=1)] = number
        first = first or _copied(result)
        if n_rounds.all():
            break
    _take(result, first or result, n_rounds == 0)
    return Rounds(result, n_rounds, moving)


def _sampled(columns: list[_Column], way: Gibbs, labels: Board) -> Rounds:
    lots = np.random.default_rng(way.seed).random((way.burn_in + way.n_samples, len(columns)))
    total = np.zeros(labels.shape)
    for number, numbers in enumerate(lots):
        for column, lot in zip(columns, numbers, strict=True):
            presence = column.presence(labels)
            # The same lot for all rows: what a row gets must not depend on the others.
            labels[:, column.label] = lot < presence
            if number >= way.burn_in:
                total[:, column.label] += presence
    presence = total / way.n_samples
    board = (presence > 0.5).astype(np.int8)
    return Rounds(Run(board, *_nobody(board)), *_nothing_known(board), presence)


def _speaking_of(label: int, layer: Theory) -> list[int]:
    """The rules that decide about a label; all of them if one that does not may stop the list."""
    spoken = [number for number, rule in enumerate(layer) if label in rule.head.labels]
    if any(rule.stops and label not in rule.head.labels for rule in layer):
        return list(range(len(layer)))
    return spoken


def _only(label: int, rule: Rule) -> Rule:
    """The rule, silent about other labels; as it is if it speaks of others only."""
    said = dict(rule.head)
    if label not in said:
        return rule
    return Rule(Head({label: said[label]}, rule.head.n_labels), rule.body, rule.stops)


def _probability(rule: Rule, number: int, label: int) -> float:
    """How probable a label is where this rule decides about it."""
    if label not in rule.head.labels:
        return 0.0
    evidence = rule.evidence_for(label)
    if evidence is None:
        raise ValueError(
            f"rule {number + 1} of the last layer has no evidence, so it cannot be sampled from: "
            "count it by theory.with_evidence(X, Y)"
        )
    present = dict(rule.head)[label]
    return (evidence if present else Evidence(evidence.wrong, evidence.right)).probability()


def _take(target: Run, source: Run, rows: Mask) -> None:
    """Copy what happened to some rows."""
    target.board[rows] = source.board[rows]
    target.writer[rows] = source.writer[rows]
    target.stopped[rows] = source.stopped[rows]


def _copied(run: Run) -> Run:
    return Run(run.board.copy(), run.writer.copy(), run.stopped.copy())


def _nobody(board: Board) -> tuple[Numbers, Numbers]:
    """No rule wrote a cell, none ended a row."""
    return (
        np.full(board.shape, -1, dtype=np.int32),
        np.full(len(board), -1, dtype=np.int32),
    )


def _nothing_known(board: Board) -> tuple[Integers, Mask]:
    """No row is known to have settled, no cell to have changed."""
    return np.zeros(len(board), dtype=np.int64), np.zeros(board.shape, dtype=np.bool_)
