"""Theories as layers: asked for the same rows again and again, as a whole or label by label."""

from functools import cached_property

import numpy as np

from labelrules._types import UNSET, Board, Floats
from labelrules.data.table import Dataset
from labelrules.rules.head import Head
from labelrules.rules.inference import Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.rounds import (
    Numbers,
    Rounds,
    closed,
    label_by_label,
    nobody,
    nothing_known,
    sampled,
    until_stable,
)
from labelrules.rules.rule import Evidence, Rule
from labelrules.rules.table import RuleTable
from labelrules.rules.theory import Run, Theory


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
