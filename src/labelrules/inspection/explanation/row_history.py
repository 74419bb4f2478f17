"""How one row went through each part of a theory, and which labels the rules saw on the way."""

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data.memory.encoding import encode
from labelrules.data.table import Dataset
from labelrules.inspection.tracing import LayeredTrace, Trace, trace
from labelrules.rules import (
    Condition,
    DecisionList,
    Gibbs,
    LabelByLabel,
    LayeredTheory,
    RuleSet,
    Theory,
)
from labelrules.rules.formats.text import rule_text
from labelrules.rules.inference import closed

NOWHERE = -1
"""No part has written what is seen: it was so before the last layer was asked label by label."""


@dataclass(frozen=True, eq=False)
class Passage:
    """One row on its way through one part of a theory.

    Attributes
    ----------
    story : Trace
        What happened.
    layer : int, optional
        Which layer this is, from 0; None for a theory without layers and for rows without labels.
    is_fallback : bool
        Whether this is the list for rows in which the layers found no label.
    seen : array of int8, optional
        Labels by labels: what the rules for the first saw of the second. None if the rules look
        at the board that they write.
    source : array of int, optional
        In the same way the part that had written it.
    is_sampled : bool
        Whether the labels were drawn by lot, so that no rule has written them.
    presence : array of float, optional
        If so, how probable each is.
    first : Trace, optional
        If the only layer has read its own labels, its first round.
    moving : tuple of str
        Labels that had not settled when the rounds ended.
    """

    story: Trace
    layer: int | None = None
    is_fallback: bool = False
    seen: Board | None = None
    source: Integers | None = None
    is_sampled: bool = False
    presence: Floats | None = None
    first: Trace | None = None
    moving: tuple[str, ...] = ()

    @cached_property
    def speaking(self) -> dict[int, dict[int, tuple[int, int]]]:
        """For each label the rules that speak of it: their numbers, with value and votes."""
        found: dict[int, dict[int, tuple[int, int]]] = {}
        for number, rule in enumerate(self.theory):
            for label, value, votes in rule.ballot:
                found.setdefault(label, {})[number] = (value, votes)
        return found

    @cached_property
    def _texts(self) -> dict[int, str]:
        return {}

    def text(self, number: int) -> str:
        """A rule in the rule language; every label of a long head asks for it."""
        if number not in self._texts:
            self._texts[number] = rule_text(self.theory[number], self.theory.schema)
        return self._texts[number]

    @property
    def theory(self) -> DecisionList | RuleSet:
        """The rules of this part."""
        return self.story.theory

    def cell(self, condition: Condition, number: int, told: int) -> int:
        """What rule `number`, about to write the label `told`, saw of the label it tests."""
        label = condition.column
        if self.seen is not None:
            return int(self.seen[told, label])
        written = 0 <= self.story.writer[label] < number
        return int(self.story.board[label]) if written else int(UNSET)

    def holds(self, condition: Condition, number: int, told: int) -> bool:
        """Whether a condition held when rule `number` was asked about the label `told`."""
        if condition.on_label:
            return self.cell(condition, number, told) == condition.value
        return bool(condition.holds(self.story.values[condition.column]))

    def source_of(self, condition: Condition, told: int, own: int) -> int:
        """The part that had written what a condition on a label saw; `own` is this one."""
        return own if self.source is None else int(self.source[told, condition.column])


def check_theory(theory: object) -> None:
    """Refuse what is no theory."""
    if not isinstance(theory, DecisionList | RuleSet | LayeredTheory):
        raise TypeError(
            f"a theory must be a DecisionList, RuleSet or LayeredTheory, not a "
            f"{type(theory).__name__}; of a learner give its theory_"
        )


def encoded_rows(theory: Theory, X: Any) -> Dataset:
    """The rows of X, encoded, once it is clear that the theory can be looked into."""
    check_theory(theory)
    matrix = encode(X, theory.schema)
    empty = np.zeros((matrix.shape[0], theory.schema.n_labels), dtype=np.int8)
    return Dataset(theory.schema, matrix, empty)


def single_row(rows: Dataset, row: object) -> Dataset:
    """One row as a data set of its own."""
    if isinstance(row, bool) or not isinstance(row, Integral):
        raise TypeError(f"a row is given by its number, not by {row!r}")
    if not 0 <= int(row) < len(rows):
        known = f"rows are numbered from 0 to {len(rows) - 1}" if len(rows) else "X has no rows"
        raise IndexError(f"there is no row {row}: {known}")
    return rows.take([int(row)])


def passages(theory: Theory, one: Dataset) -> tuple[Passage, ...]:
    """What happened to the only row of a data set: layer by layer, the deciding part last.

    If the layers found a label, the list for rows without labels is not among the parts.
    """
    story = trace(theory, one)
    if not isinstance(story, LayeredTrace):
        return (Passage(story),)
    found = []
    for layer, part in enumerate(story.layers):
        last = layer == len(story.layers) - 1
        if last and isinstance(story.theory.inference, Gibbs):
            found.append(Passage(part, layer, is_sampled=True, presence=story.presence))
        elif last:
            found.append(replace(_last(story, part, one), moving=story.moving))
        elif layer:
            found.append(_reading(part, layer, closed(story.layers[layer - 1].board), layer - 1))
        else:
            found.append(Passage(part, layer))
    if story.fallback is not None:
        found.append(Passage(story.fallback, is_fallback=True))
    return tuple(found)


def _last(story: LayeredTrace, part: Trace, one: Dataset) -> Passage:
    """The last layer; if it was asked until nothing changed, it has read its own result."""
    layer = len(story.layers) - 1
    own = closed(part.board)
    if story.rounds:
        found = _reading(part, layer, own, layer)
        return found if layer else replace(found, first=trace(part.theory, one))
    before = closed(story.layers[layer - 1].board) if layer else None
    if isinstance(story.theory.inference, LabelByLabel):
        start = closed(part.theory.apply(one)[0]) if before is None else before
        return _in_turn(part, layer, own, start, story.theory.inference)
    return Passage(part, layer) if before is None else _reading(part, layer, before, layer - 1)


def _reading(part: Trace, layer: int, seen: Board, source: int) -> Passage:
    n_labels = len(seen)
    sources = np.full((n_labels, n_labels), source)
    return Passage(part, layer, seen=np.tile(seen, (n_labels, 1)), source=sources)


def _in_turn(part: Trace, layer: int, own: Board, start: Board, way: LabelByLabel) -> Passage:
    """The first round, label by label: each sees those written before it, others as they were."""
    n_labels = len(own)
    turn = np.argsort(way.labels(n_labels))
    done = turn[None, :] < turn[:, None]
    source = np.where(done, layer, layer - 1 if layer else NOWHERE)
    return Passage(part, layer, seen=np.where(done, own, start), source=source)
