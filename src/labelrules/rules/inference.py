"""How the last layer of a layered theory comes to its result: four ways, as values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.table import Dataset
from labelrules.rules.rule import Evidence, Head, Rule
from labelrules.rules.rule_table import RuleTable
from labelrules.rules.theory import Run, Theory


@dataclass(frozen=True, slots=True)
class Once:
    """The last layer is asked once; nobody looks at its result."""


@dataclass(frozen=True, slots=True)
class UntilStable:
    """The last layer reads its own result again and again, until nothing changes.

    All labels change at the same time, so that labels which exclude each other may flip for ever.
    A row that is not stable after the last round keeps what the first round said.

    Parameters
    ----------
    max_rounds : int, default=10
        How often the layer is asked at most; the first time counts.
    """

    max_rounds: int = 10

    def __post_init__(self) -> None:
        _check_count(self, "max_rounds", 1)


@dataclass(frozen=True, slots=True)
class LabelByLabel:
    """The last layer writes one label after the other, each seeing those written before it.

    Parameters
    ----------
    max_rounds : int, default=10
        How often all labels are gone through at most; it ends when nothing changes. A row that
        is not stable after the last round keeps what the first round said.
    order : iterable of int, optional
        The labels by their numbers, each once; by default in the order of the schema.
    """

    max_rounds: int = 10
    order: tuple[int, ...] | None = None

    def __init__(self, max_rounds: int = 10, order: Iterable[int] | None = None) -> None:
        object.__setattr__(self, "max_rounds", max_rounds)
        object.__setattr__(self, "order", None if order is None else tuple(order))
        _check_count(self, "max_rounds", 1)

    def labels(self, n_labels: int) -> tuple[int, ...]:
        """All labels, in their order."""
        found = tuple(range(n_labels)) if self.order is None else self.order
        if sorted(found) != list(range(n_labels)):
            raise ValueError(
                f"order must name each of the {n_labels} labels once, by its number; it is {found}"
            )
        return found


@dataclass(frozen=True, slots=True)
class Gibbs:
    """The last layer is sampled from: a conditional dependency network.

    Each round goes through the labels and draws each anew, present with the probability of the
    rule that decides it, given the row and the labels as they are. What is predicted is what is
    present in more than half of the rounds, in the mean of these probabilities. All rows are given
    the same random numbers, so the result for a row does not depend on other rows.

    Parameters
    ----------
    n_samples : int, default=200
        Rounds that count.
    burn_in : int, default=50
        Rounds before them, which do not.
    seed : int, default=0
    """

    n_samples: int = 200
    burn_in: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        _check_count(self, "n_samples", 1)
        _check_count(self, "burn_in", 0)
        _check_count(self, "seed", 0)


Inference: TypeAlias = Once | UntilStable | LabelByLabel | Gibbs
"""A way to infer labels by rules that test labels."""


def _check_count(way: object, name: str, lowest: int) -> None:
    value = getattr(way, name)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < lowest:
        raise ValueError(f"{name} must be a whole number of at least {lowest}, not {value!r}")
    object.__setattr__(way, name, int(value))


# -------------------- Asking a layer again and again: until nothing changes, label by label, or
# by drawing lots

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


class Reader(Protocol):
    """A layer, for some rows."""

    def read(self, seen: Board | None) -> Run:
        """What the layer writes when it sees these labels; those it writes itself if None."""


class LabelColumn(Protocol):
    """The part of a layer that speaks of one label, for some rows."""

    label: int

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """The cells of the label, and the numbers of the rules that wrote them."""

    def presence(self, seen: Board) -> Floats:
        """How probable it is that the label is present."""


def until_stable(reader: Reader, max_rounds: int, seen: Board | None) -> Rounds:
    """Let a layer read its own result until nothing changes; see `UntilStable`."""
    result = _copied(reader.read(seen))
    labels = closed(result.board)
    n_rounds, moving = nothing_known(labels)
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


def label_by_label(
    columns: Sequence[LabelColumn], order: tuple[int, ...], max_rounds: int, labels: Board
) -> Rounds:
    """Let the labels be written one after the other, from these on; see `LabelByLabel`."""
    labels = labels.copy()
    result, first = Run(labels.copy(), *nobody(labels)), None
    n_rounds, moving = nothing_known(labels)
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


def sampled(columns: Sequence[LabelColumn], way: Gibbs, labels: Board) -> Rounds:
    """Draw label after label anew, from these on; see `Gibbs`."""
    labels = labels.copy()
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
    return Rounds(Run(board, *nobody(board)), *nothing_known(board), presence)


def _take(target: Run, source: Run, rows: Mask) -> None:
    """Copy what happened to some rows."""
    target.board[rows] = source.board[rows]
    target.writer[rows] = source.writer[rows]
    target.stopped[rows] = source.stopped[rows]


def _copied(run: Run) -> Run:
    return Run(run.board.copy(), run.writer.copy(), run.stopped.copy())


def nobody(board: Board) -> tuple[Numbers, Numbers]:
    """No rule wrote a cell, none ended a row."""
    return (
        np.full(board.shape, -1, dtype=np.int32),
        np.full(len(board), -1, dtype=np.int32),
    )


def nothing_known(board: Board) -> tuple[Integers, Mask]:
    """No row is known to have settled, no cell to have changed."""
    return np.zeros(len(board), dtype=np.int64), np.zeros(board.shape, dtype=np.bool_)


# -------------------- Theories as layers: asked for the same rows again and again, as a whole or
# label by label


class TheoryReader:
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
        return Run(board, *nobody(board))


def ask(
    layer: Theory, way: Inference, rows: Dataset, known: Board | None, seen: Board | None
) -> Rounds:
    """Ask the last layer in one of the ways there are."""
    if isinstance(way, UntilStable):
        return until_stable(TheoryReader(layer, rows, known), way.max_rounds, seen)
    if isinstance(way, Once):
        run = TheoryReader(layer, rows, known).read(seen)
        return Rounds(run, *nothing_known(run.board))
    # Both go from label to label, and must start somewhere.
    start = closed(TheoryReader(layer, rows, known).read(None).board if seen is None else seen)
    if known is not None:
        start = np.where(known == UNSET, start, known)
    columns = [TheoryColumn(layer, label, rows, known) for label in range(rows.schema.n_labels)]
    if isinstance(way, LabelByLabel):
        return label_by_label(columns, way.labels(len(columns)), way.max_rounds, start)
    return sampled(columns, way, start)


class TheoryColumn:
    """The part of a layer that speaks of one label."""

    def __init__(self, layer: Theory, label: int, rows: Dataset, known: Board | None) -> None:
        self.label, self.layer = label, layer
        self.numbers = _speaking_of(label, layer)
        rules = [_only(label, layer[number]) for number in self.numbers]
        # The last place is for the number -1: nobody.
        self.lookup = np.array([*self.numbers, -1], dtype=np.int32)
        self.known = None if known is None else known[:, label]
        self.reader = TheoryReader(type(layer)(layer.schema, rules), rows, known)

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """The cells of the label, and the rules of the layer that wrote them."""
        run = self.reader.read(seen)
        return run.board[:, self.label], self.lookup[run.writer[:, self.label]]

    def presence(self, seen: Board) -> Floats:
        """How probable it is that the label is present, by the rules that decide about it."""
        _, writer = self.read(seen)
        found = self._by_rule[writer]
        return found if self.known is None else np.where(self.known == UNSET, found, self.known)

    @cached_property
    def _by_rule(self) -> Floats:
        """For each rule the probability; what nobody says is absent."""
        found = np.zeros(len(self.layer) + 1)
        for number in self.numbers:
            found[number] = _probability(self.layer[number], number, self.label)
        return found


def _speaking_of(label: int, layer: Theory) -> list[int]:
    """The rules that decide about a label; all of them if one that does not may stop the list."""
    spoken = [number for number, rule in enumerate(layer) if label in rule.head.labels]
    if any(rule.stops and label not in rule.head.labels for rule in layer):
        return list(range(len(layer)))
    return spoken


def _only(label: int, rule: Rule) -> Rule:
    """The rule, silent about other labels; as it is if it speaks of others only."""
    for said, value, votes in rule.ballot:
        if said == label:
            head = Head({label: value}, rule.head.n_labels)
            return Rule(head, rule.body, rule.stops, votes=(votes,))
    return rule


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
