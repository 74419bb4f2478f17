"""Inference in layered theories: the last layer once, until stable, label by label, or sampled."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from labelrules._checks import whole_number
from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.table import Dataset
from labelrules.kernels.device import Engine
from labelrules.rules.rule import Evidence, Head, Rule
from labelrules.rules.rule_table import Numbers as Numbers
from labelrules.rules.rule_table import RowsAsGiven, table_of
from labelrules.rules.theory import RuleSet, Run, Theory, run_of
from labelrules.rules.theory import closed as closed


@dataclass(frozen=True, slots=True)
class Once:
    """The last layer is applied once and does not read its own result."""


@dataclass(frozen=True, slots=True)
class UntilStable:
    """The last layer reads its own result and is applied again, until nothing changes.

    All labels change at the same time, so that labels which exclude each other may flip for ever.
    A row that is not stable after the last round keeps the labels of the first round.

    Parameters
    ----------
    max_rounds : int, default=10
        The largest number of times the layer is applied, the first included.
    """

    max_rounds: int = 10

    def __post_init__(self) -> None:
        _set_whole(self, "max_rounds", 1)


@dataclass(frozen=True, slots=True)
class LabelByLabel:
    """The last layer writes one label after the other, each seeing those written before it.

    Parameters
    ----------
    max_rounds : int, default=10
        The largest number of passes over all labels. A row that is not stable after the last one
        keeps the labels of the first.
    order : iterable of int, optional
        The numbers of all labels; by default in the order of the schema.
    """

    max_rounds: int = 10
    order: tuple[int, ...] | None = None

    def __init__(self, max_rounds: int = 10, order: Iterable[int] | None = None) -> None:
        object.__setattr__(self, "max_rounds", max_rounds)
        object.__setattr__(self, "order", None if order is None else tuple(order))
        _set_whole(self, "max_rounds", 1)

    def labels(self, n_labels: int) -> tuple[int, ...]:
        """All labels, in their order."""
        order = tuple(range(n_labels)) if self.order is None else self.order
        if sorted(order) != list(range(n_labels)):
            raise ValueError(
                f"order must name each of the {n_labels} labels once, by its number; it is {order}"
            )
        return order


@dataclass(frozen=True, slots=True)
class Gibbs:
    """Gibbs sampling: the last layer is a conditional dependency network.

    Each round draws the labels one after the other, present with the probability of the rule that
    decides the label, given the row and the current labels. A label is predicted if the mean of
    these probabilities is above one half. All rows get the same random numbers, so the result for
    a row does not depend on other rows.

    Parameters
    ----------
    n_samples, burn_in : int, default=200 and 50
        Rounds that count, and rounds before them.
    random_state : int, default=0
    """

    n_samples: int = 200
    burn_in: int = 50
    random_state: int = 0

    def __post_init__(self) -> None:
        _set_whole(self, "n_samples", 1)
        _set_whole(self, "burn_in", 0)
        _set_whole(self, "random_state", 0)


Inference: TypeAlias = Once | UntilStable | LabelByLabel | Gibbs
"""How labels are inferred by rules that test labels."""


def _set_whole(inference: object, name: str, low: int) -> None:
    object.__setattr__(inference, name, whole_number(getattr(inference, name), name, low=low))


class ListChances(NamedTuple):
    """Probabilities of presence, where the first rule to write a label decides it."""

    by_rule: tuple[dict[int, float], ...]  # of the last layer, then for rows without labels
    undecided: tuple[float, ...]  # of labels that no rule writes


class PointChances(NamedTuple):
    """Probabilities of presence by points."""

    shift: int  # added to the points first
    doubling: int  # points that double the odds


Chances: TypeAlias = ListChances | PointChances
"""How a fitted learner estimates probabilities: what its method `_chances` returns."""


class Rounds(NamedTuple):
    """The result of the last layer and how it was reached."""

    run: Run
    n_rounds: Integers
    moving: Mask
    presence: Floats | None = None


Rows: TypeAlias = Dataset | RowsAsGiven
"""Rows that layers are applied to, again and again."""


class Reader(Protocol):
    """A layer that is applied to the same rows again and again."""

    def read(self, seen: Board | None) -> Run:
        """Apply the layer, conditions on labels tested on `seen`; None for its own board."""


class LabelColumn(Protocol):
    """The part of a layer that predicts one label, for some rows."""

    label: int

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """The cells of the label, and the numbers of the rules that wrote them."""

    def presence(self, seen: Board) -> Floats:
        """The probability that the label is present."""


def until_stable(reader: Reader, max_rounds: int, seen: Board | None) -> Rounds:
    """Apply a layer to its own result until nothing changes."""
    return _repeated(reader.read, max_rounds, seen)


def label_by_label(
    columns: Sequence[LabelColumn], order: tuple[int, ...], max_rounds: int, labels: Board
) -> Rounds:
    """Write one label after the other, starting from these labels."""

    def read(seen: Board | None) -> Run:
        current = (labels if seen is None else seen).copy()
        run = Run.by_none(current.copy())
        for label in order:
            run.board[:, label], run.writer[:, label] = columns[label].read(current)
            current[:, label] = closed(run.board[:, label])
        return run

    return _repeated(read, max_rounds, labels)


def _repeated(read: Callable[[Board | None], Run], max_rounds: int, seen: Board | None) -> Rounds:
    """Read labels, then the result, and so on; rows that do not settle keep the first result."""
    first = run = read(seen)
    n_rounds, moving = nothing_known(run.board)
    for number in range(1, max_rounds + 1):
        labels = closed(run.board)
        if seen is not None:
            moving = labels != seen
            n_rounds[(n_rounds == 0) & ~moving.any(axis=1)] = number
        if n_rounds.all() or number == max_rounds:
            break
        seen, run = labels, read(labels)
    return Rounds(_joined(run, first, n_rounds > 0), n_rounds, moving)


def _joined(one: Run, other: Run, rows: Mask) -> Run:
    """The results of one run in some rows, of the other run in the rest."""
    cells = rows[:, None]
    return Run(
        np.where(cells, one.board, other.board),
        np.where(cells, one.writer, other.writer),
        np.where(rows, one.stopped, other.stopped),
    )


def sampled(columns: Sequence[LabelColumn], gibbs: Gibbs, labels: Board) -> Rounds:
    """Draw one label after the other, starting from these labels."""
    labels = labels.copy()
    n_rounds = gibbs.burn_in + gibbs.n_samples
    draws = np.random.default_rng(gibbs.random_state).random((n_rounds, len(columns)))
    total = np.zeros(labels.shape)
    for number, numbers in enumerate(draws):
        for column, draw in zip(columns, numbers, strict=True):
            presence = column.presence(labels)
            # The same number for all rows, so that the result of a row does not depend on others.
            labels[:, column.label] = draw < presence
            if number >= gibbs.burn_in:
                total[:, column.label] += presence
    presence = total / gibbs.n_samples
    board = (presence > 0.5).astype(np.int8)
    return Rounds(Run.by_none(board), *nothing_known(board), presence)


def nothing_known(board: Board) -> tuple[Integers, Mask]:
    """Rounds and moving cells where no row has settled and no cell has changed."""
    return np.zeros(len(board), dtype=np.int64), np.zeros(board.shape, dtype=np.bool_)


class TheoryReader:
    """A theory as a layer that is applied to the same rows repeatedly; `known` cells are kept."""

    def __init__(
        self, layer: Theory, rows: Rows, known: Board | None, engine: Engine = "auto"
    ) -> None:
        self.table, self.rows, self.known, self.engine = table_of(layer), rows, known, engine

    def read(self, seen: Board | None) -> Run:
        """Apply the layer, conditions on labels tested on `seen`; None for its own board."""
        return run_of(self.table, self.rows, self.known, seen, engine=self.engine)


def infer(
    layer: Theory,
    inference: Inference,
    rows: Rows,
    known: Board | None,
    seen: Board | None,
    engine: Engine = "auto",
) -> Rounds:
    """Apply the last layer, which reads the labels `seen` of the layer before."""
    reader = TheoryReader(layer, rows, known, engine)
    if isinstance(inference, UntilStable):
        return until_stable(reader, inference.max_rounds, seen)
    if isinstance(inference, Once):
        run = reader.read(seen)
        return Rounds(run, *nothing_known(run.board))
    # The others go from label to label and need labels to start from.
    start = closed(reader.read(None).board if seen is None else seen)
    if known is not None:
        start = np.where(known == UNSET, start, known)
    labels = range(rows.schema.n_labels)
    columns = [TheoryColumn(layer, label, rows, known, engine) for label in labels]
    if isinstance(inference, LabelByLabel):
        order = inference.labels(len(columns))
        return label_by_label(columns, order, inference.max_rounds, start)
    return sampled(columns, inference, start)


class TheoryColumn:
    """The part of a theory that predicts one label."""

    def __init__(
        self,
        layer: Theory,
        label: int,
        rows: Rows,
        known: Board | None,
        engine: Engine = "auto",
    ) -> None:
        self.label, self.layer = label, layer
        # Where labels are decided together, none can be read without the others.
        whole = isinstance(layer, RuleSet) and layer.decides_rows
        self.numbers = list(range(len(layer))) if whole else _rules_for(label, layer)
        part = layer if whole else _part_for(label, layer, self.numbers)
        # The last place is for the number -1: no rule.
        self.lookup = np.array([*self.numbers, -1], dtype=np.int32)
        self.known = None if known is None else known[:, label]
        self.reader = TheoryReader(part, rows, known, engine)

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """The cells of the label, and the rules of the layer that wrote them."""
        run = self.reader.read(seen)
        return run.board[:, self.label], self.lookup[run.writer[:, self.label]]

    def presence(self, seen: Board) -> Floats:
        """The probability that the label is present, by the rules that decide it."""
        _, writer = self.read(seen)
        presence = self._by_rule[writer]
        if self.known is None:
            return presence
        return np.where(self.known == UNSET, presence, self.known)

    @cached_property
    def _by_rule(self) -> Floats:
        """The probability by each rule; a label that no rule decides is absent."""
        presence = np.zeros(len(self.layer) + 1)
        for number in self.numbers:
            presence[number] = _probability(self.layer[number], number, self.label)
        return presence


def _rules_for(label: int, layer: Theory) -> list[int]:
    """The rules that predict a label; all rules if one that does not may stop the list."""
    every = any(rule.stops and label not in rule.head.labels for rule in layer)
    return [number for number, rule in enumerate(layer) if every or label in rule.head.labels]


def _part_for(label: int, layer: Theory, numbers: list[int]) -> Theory:
    """The part of a layer that predicts a label."""
    return layer.with_rules(_only(label, layer[number]) for number in numbers)


def _only(label: int, rule: Rule) -> Rule:
    """The rule without its other labels; as it is if it does not predict this one."""
    for predicted, value, votes in rule.ballot:
        if predicted == label:
            head = Head({label: value}, rule.head.n_labels)
            return Rule(head, rule.body, rule.stops, votes=(votes,))
    return rule


def _probability(rule: Rule, number: int, label: int) -> float:
    """The probability of a label where this rule decides it."""
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
