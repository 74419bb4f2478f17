"""A small table on which a property of a measure fails, with the exact values of heads.

Rows and heads are written as in the chapter, a character for each label: 1 present, 0 absent,
and in a head ? for a label that it does not concern; in a row # for a cell that an earlier
rule has written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from labelrules._types import UNSET, Board, Mask
from labelrules.measures.confusion import Convention
from labelrules.measures.measure import Measure

_VALUES = {"0": 0, "1": 1, "?": int(UNSET)}


@dataclass(frozen=True)
class Counterexample:
    """A table, a measure, and what the heads are worth there.

    Parameters
    ----------
    name : str
    shows : str
        What fails, in one sentence.
    measure : Measure
    rows : tuple of str
        The covered rows.
    values : mapping from str to Fraction
        The value of each head that matters; the greatest is the best of all heads.
    uncovered : tuple of str
        The rows that are not covered.
    convention : {"chapter", "head-relative", "plain"}
    lift : tuple of Fraction
        What the value of a head with 1, 2, ... labels is multiplied by; empty for no lift.

    Examples
    --------
    >>> from labelrules.measures import COUNTEREXAMPLES
    >>> example = COUNTEREXAMPLES["f-partial-example-decomposable"]
    >>> example.rows, str(example.measure)
    (('10', '01'), 'f1/example/partial')
    >>> {head: str(value) for head, value in example.values.items()}
    {'1?': '1/2', '?1': '1/2', '11': '2/3', '00': '2/3'}
    >>> str(example.value("11"))
    '2/3'
    """

    name: str
    shows: str
    measure: Measure
    rows: tuple[str, ...]
    values: Mapping[str, Fraction]
    uncovered: tuple[str, ...] = ()
    convention: Convention = "chapter"
    lift: tuple[Fraction, ...] = ()

    @property
    def Y(self) -> Board:  # noqa: N802
        """The labels, covered rows first; a written cell, which never counts, is 0."""
        rows = (*self.rows, *self.uncovered)
        return np.array([[cell == "1" for cell in row] for row in rows], dtype=np.int8)

    @property
    def covered(self) -> Mask:
        """Which rows are covered."""
        return np.arange(len(self.rows) + len(self.uncovered)) < len(self.rows)

    @property
    def board(self) -> Board:
        """What earlier rules have written: 0 in the cells marked so, else open."""
        rows = (*self.rows, *self.uncovered)
        return np.array([[0 if cell == "#" else UNSET for cell in row] for row in rows], np.int8)

    @property
    def best(self) -> Fraction:
        """The greatest value of any head, lifted if there is a lift."""
        return max(self.lifted(head) for head in self.values)

    def value(self, head: str) -> Fraction:
        """The value of a head on this table, computed anew."""
        return self.measure.of_rule(
            self.Y, self.covered, head_vector(head), self.board, self.convention, exact=True
        )

    def lifted(self, head: str) -> Fraction:
        """The listed value of a head, times the lift of its size."""
        size = sum(cell != "?" for cell in head)
        return self.values[head] * (self.lift[size - 1] if self.lift else 1)


def head_vector(text: str) -> Board:
    """The head written as text, as a vector.

    >>> head_vector("1?0")
    array([ 1, -1,  0], dtype=int8)
    """
    return np.array([_VALUES[cell] for cell in text], dtype=np.int8)


def described(
    name: str,
    shows: str,
    measure: str,
    rows: str,
    values: str,
    uncovered: str = "",
    convention: Convention = "chapter",
    lift: str = "",
) -> Counterexample:
    """Read rows like ``"101*7 010"`` and values like ``"1?? 7/10, 111 71/100"``."""
    pairs = (pair.split() for pair in values.split(","))
    return Counterexample(
        name=name,
        shows=shows,
        measure=Measure.parse(measure),
        rows=_rows(rows),
        values={head: Fraction(value) for head, value in pairs},
        uncovered=_rows(uncovered),
        convention=convention,
        lift=tuple(Fraction(factor) for factor in lift.split()),
    )


def _rows(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in text.split():
        row, _, times = word.partition("*")
        found.extend([row] * int(times or 1))
    return tuple(found)
