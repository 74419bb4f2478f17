"""Which rule gave a row each of its labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data.memory.encoding import encode
from labelrules.data.schema import Schema
from labelrules.data.table import column_of
from labelrules.rules import DecisionList, LayeredRun, LayeredTheory, RuleSet, Run, Theory
from labelrules.rules.formats.language import name_text, number_text
from labelrules.rules.formats.text import rule_text
from labelrules.rules.inference import nobody
from labelrules.rules.layered_theory import bare


@dataclass(frozen=True)
class Trace:
    """One row on its way through a decision list; printing it tells the story.

    Attributes
    ----------
    theory : DecisionList or RuleSet
        The rules of a RuleSet vote, so that none of them writes a label.
    values : array of float
        The encoded features of the row.
    board : array of int8
        Its labels; `UNSET` where no rule spoke.
    writer : array of int
        For each label the rule that wrote it, -1 if none.
    stopped : int
        The stopping rule that ended the list, -1 if none.
    """

    theory: DecisionList | RuleSet
    values: Floats
    board: Board
    writer: Integers
    stopped: int

    def __str__(self) -> str:
        return "\n".join([_row_text(self.theory.schema, self.values), *self.lines()])

    def lines(self) -> Iterator[str]:
        """What is said of each label, and by which rule."""
        schema = self.theory.schema
        width = max((len(label) for label in schema.labels), default=0)
        for label, name in enumerate(schema.labels):
            yield f"  {name:<{width}}  {self._verdict(label)}"
        if self.stopped >= 0:
            yield f"Rule {self.stopped + 1} ended the list."

    def _verdict(self, label: int) -> str:
        number = int(self.writer[label])
        if self.board[label] == UNSET:
            return "absent   no rule that fires speaks of it, so it is taken to be absent"
        verdict = "present" if self.board[label] else "absent "
        if number < 0:
            return f"{verdict}  {'given beforehand' if self.theory.ordered else 'by vote'}"
        rule = self.theory[number]
        return f"{verdict}  rule {number + 1}: {rule_text(rule, self.theory.schema)}"


@dataclass(frozen=True)
class LayeredTrace:
    """One row on its way through the layers of a theory; printing it tells the story.

    Attributes
    ----------
    theory : LayeredTheory
    values : array of float
        The encoded features of the row.
    layers : tuple of Trace
        Its way through each layer.
    rounds : int
        How often the last layer was asked until nothing changed; 0 if it did not settle, or if
        nobody looked.
    moving : tuple of str
        Labels that changed even in the last round.
    presence : array of float, optional
        If the last layer was sampled, how probable each label is.
    fallback : Trace, optional
        If the layers found no label, its way through the list for such rows.
    """

    theory: LayeredTheory
    values: Floats
    layers: tuple[Trace, ...]
    rounds: int
    moving: tuple[str, ...]
    presence: Floats | None
    fallback: Trace | None = None

    def __str__(self) -> str:
        return "\n".join([_row_text(self.theory.schema, self.values), *self.lines()])

    def lines(self) -> Iterator[str]:
        """What each layer says of each label."""
        for number, layer in enumerate(self.layers, 1):
            yield f"Layer {number}:"
            shares = self.presence if number == len(self.layers) else None
            yield from layer.lines() if shares is None else self._sampled(shares)
        if self.rounds > 1:
            yield f"The last layer was asked {self.rounds} times, until nothing changed."
        if self.moving:
            yield (
                f"Nothing is settled: {', '.join(self.moving)} changed even in the last round, so "
                "what the first round said is kept."
            )
        if self.fallback is not None:
            yield "Rows without labels:"
            yield from self.fallback.lines()

    def _sampled(self, shares: Floats) -> Iterator[str]:
        labels = self.theory.schema.labels
        width = max((len(label) for label in labels), default=0)
        for name, share in zip(labels, shares, strict=True):
            verdict = "present" if share > 0.5 else "absent "
            yield f"  {name:<{width}}  {verdict}  sampled: present with probability {share:.2f}"


@overload
def trace(
    theory: LayeredTheory, X: Any, row: int = 0, board: Board | None = None
) -> LayeredTrace: ...
@overload
def trace(
    theory: DecisionList | RuleSet, X: Any, row: int = 0, board: Board | None = None
) -> Trace: ...
@overload
def trace(
    theory: Theory, X: Any, row: int = 0, board: Board | None = None
) -> Trace | LayeredTrace: ...
def trace(theory: Theory, X: Any, row: int = 0, board: Board | None = None) -> Trace | LayeredTrace:
    r"""Follow one row through a decision list, or through several in layers.

    Parameters
    ----------
    theory : DecisionList, RuleSet or LayeredTheory
        Rule sets have no rules to name, since theirs vote.
    X : array, sparse matrix, frame or Dataset
    row : int, default=0
        Which row of X.
    board : array of int8, optional
        Labels already given; see `Theory.apply`.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("not fashion <- sex = Male\nfashion, * <- true", readers.schema)
    >>> print(trace(theory, readers, 3))
    The row: education = University, marital = Divorced, sex = Female, children = No
      quality  absent   no rule that fires speaks of it, so it is taken to be absent
      tabloid  absent   no rule that fires speaks of it, so it is taken to be absent
      fashion  present  rule 2: fashion, * <- true
      sports   absent   no rule that fires speaks of it, so it is taken to be absent
    Rule 2 ended the list.
    """
    matrix = encode(X, theory.schema)
    if not 0 <= row < matrix.shape[0]:
        raise IndexError(
            f"there is no row {row}: rows are numbered from 0 to {matrix.shape[0] - 1}"
        )
    run = _run(theory, X, board)
    values = np.array([column_of(matrix, j)[row] for j in range(matrix.shape[1])])
    if isinstance(run, Run) or not isinstance(theory, LayeredTheory):
        return _trace(theory, values, run, row)
    layers = zip(theory.layers, run.layers, strict=True)
    moving = tuple(theory.schema.labels[j] for j in np.flatnonzero(run.moving[row]))
    fallback = None
    if run.fallback is not None and bare(run.layers[-1].board)[row]:
        fallback = _trace(theory.fallback, values, run.fallback, row)
    return LayeredTrace(
        theory,
        values,
        tuple(_trace(layer, values, part, row) for layer, part in layers),
        int(run.rounds[row]),
        moving,
        None if run.presence is None else run.presence[row],
        fallback,
    )


def _run(theory: Theory, X: Any, board: Board | None) -> Run | LayeredRun:
    if isinstance(theory, DecisionList | LayeredTheory):
        return theory.run(X, board)
    voted = theory.apply(X, board)
    return Run(voted, *nobody(voted))


def _trace(theory: Any, values: Floats, run: Any, row: int) -> Trace:
    return Trace(theory, values, run.board[row], run.writer[row], int(run.stopped[row]))


def _row_text(schema: Schema, values: Floats) -> str:
    return "The row: " + ", ".join(_value_text(schema, j, x) for j, x in enumerate(values))


def _value_text(schema: Schema, column: int, value: float) -> str:
    feature = schema.features[column]
    if np.isnan(value):
        text = "?"
    elif feature.categories is None:
        text = number_text(value)
    else:
        text = name_text(feature.categories[int(value)])
    return f"{name_text(feature.name)} = {text}"
