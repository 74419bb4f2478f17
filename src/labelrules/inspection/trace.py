"""Which rule gave a row each of its labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data.dataset import column_of
from labelrules.data.encode import encode
from labelrules.data.schema import Schema
from labelrules.rules import DecisionList
from labelrules.rules.text import rule_text
from labelrules.rules.tokens import name_text, number_text


@dataclass(frozen=True)
class Trace:
    """One row on its way through a decision list; printing it tells the story.

    Attributes
    ----------
    theory : DecisionList
    values : array of float
        The encoded features of the row.
    board : array of int8
        Its labels; `UNSET` where no rule spoke.
    writer : array of int
        For each label the rule that wrote it, -1 if none.
    stopped : int
        The stopping rule that ended the list, -1 if none.
    """

    theory: DecisionList
    values: Floats
    board: Board
    writer: Integers
    stopped: int

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        schema = self.theory.schema
        yield "The row: " + ", ".join(_value_text(schema, j, x) for j, x in enumerate(self.values))
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
            return f"{verdict}  given beforehand"
        rule = self.theory[number]
        return f"{verdict}  rule {number + 1}: {rule_text(rule, self.theory.schema)}"


def trace(theory: DecisionList, X: Any, row: int = 0, board: Board | None = None) -> Trace:
    r"""Follow one row through a decision list.

    Parameters
    ----------
    theory : DecisionList
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
    run = theory.run(X, board)
    values = np.array([column_of(matrix, j)[row] for j in range(matrix.shape[1])])
    return Trace(theory, values, run.board[row], run.writer[row], int(run.stopped[row]))


def _value_text(schema: Schema, column: int, value: float) -> str:
    feature = schema.features[column]
    if np.isnan(value):
        text = "?"
    elif feature.categories is None:
        text = number_text(value)
    else:
        text = name_text(feature.categories[int(value)])
    return f"{name_text(feature.name)} = {text}"
