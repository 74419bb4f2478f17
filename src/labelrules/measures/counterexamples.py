"""Every counterexample to a property, by name.

The trait that a table refutes is in :mod:`labelrules.measures.traits`, which names it.
Those that begin with "written" are about a board on which earlier rules have written; the two
that begin with "lift" are about preferring larger heads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from labelrules._types import UNSET, Board, Mask
from labelrules.measures.confusion import Convention
from labelrules.measures.measure import Measure

# -------------------- A small table on which a property of a measure fails, with the exact values
# of heads
# Rows and heads are written as in the chapter, a character for each label: 1 present, 0 absent,
# and in a head ? for a label that it does not concern; in a row # for a cell that an earlier rule
# has written.

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
    >>> example = COUNTEREXAMPLES["f-partial-samples-decomposable"]
    >>> example.rows, str(example.measure)
    (('10', '01'), 'f1/samples/partial')
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


# ---------------------------------------------------------------- the main part

_ENTRIES = (
    described(
        "f-partial-samples-decomposable",
        "A head is better than each of its labels: the formula is concave in the number of right"
        " labels, so spreading them over the rows is rewarded.",
        "f1/samples/partial",
        "10 01",
        "1? 1/2, ?1 1/2, 11 2/3, 00 2/3",
    ),
    described(
        "f-partial-samples-merges",
        "Merging the best single labels gives less than the best head.",
        "f1/samples/partial",
        "100 011",
        "1?? 1/2, ?1? 1/2, ??1 1/2, 111 13/20, 11? 2/3",
    ),
    described(
        "f-partial-samples-anti-monotone",
        "Adding label 2 to {1, 3} loses, and adding label 4 as well gives an optimum again.",
        "f1/samples/partial",
        "1100 0011",
        "1?1? 2/3, 111? 13/20, 1111 2/3",
    ),
    described(
        "f-partial-samples-finds",
        "The pruned search drops {1, 2} and with it the only optimum {1, 2, 3}; so does every"
        " table of a rows 010 and b rows 101 with 2a < b < 2.5a.",
        "f1/samples/partial",
        "101*7 010*3",
        "1?? 7/10, ?1? 3/10, ??1 7/10, 1?1 7/10, 11? 2/3, ?11 2/3, 111 71/100",
    ),
    described(
        "f0.5-partial-samples-finds",
        "The pruned search drops {1, 2} and with it the only optimum {1, 2, 3}.",
        "f0.5/samples/partial",
        "101*4 010*3",
        "1?? 4/7, 11? 5/9, 111 365/637",
    ),
    described(
        "f2-partial-samples-finds",
        "The pruned search drops {2, 3} and with it the only optimum {1, 2, 3}.",
        "f2/samples/partial",
        "100 110 011*3",
        "?1? 4/5, ?11 23/30, 11? 13/15, 111 67/77",
    ),
    described(
        "f-partial-samples-finds-any-beta",
        "The pruned search drops {1, 3, 4} and with it the only optimum {1, 2, 3, 4}, for every"
        " beta > 0 that was tried.",
        "f1/samples/partial",
        "0110 0111 1001 1011 1100",
        "1?1? 11/15, 1?11 18/25, 1111 26/35",
    ),
    described(
        "f-full-samples-anti-monotone",
        "Adding label 3 to {2} loses, and adding label 1 as well gives an optimum again.",
        "f1/samples/full",
        "100 011",
        "?1? 13/20, ?11 1/2, 111 13/20",
    ),
    described(
        "f-full-samples-finds",
        "The pruned search drops {1, 2} and with it the only optimum {1, 2, 3}; for every beta.",
        "f1/samples/full",
        "110 101*2 111",
        "1?? 29/40, ?1? 13/40, ??1 21/40, 11? 28/40, 1?1 33/40, ?11 23/40, 111 34/40",
    ),
    described(
        "f2-full-samples-finds",
        "For beta = 2 on three rows: the pruned search drops {2, 3} and so {1, 2, 3}.",
        "f2/samples/full",
        "100 011 111",
        "?1? 60/77, ?11 7/11, 11? 65/77, 1?1 65/77, 111 202/231",
    ),
    described(
        "recall-full-micro-anti-monotone",
        "{2, 3} is wrong everywhere, which is 0/0 = 0; {2} and {1, 2, 3} are optimal.",
        "recall/micro/full",
        "100",
        "?1? 1, ?11 0, 111 1",
    ),
    described(
        "recall-partial-micro-decomposable",
        "{2} is 0/0 = 0 and yet rides along in the optimal {1, 2}.",
        "recall/micro/partial",
        "10",
        "1? 1, ?1 0, 11 1",
    ),
    described(
        "recall-full-samples-anti-monotone",
        "{2, 3} is wrong everywhere, and still {1, 2, 3} is right somewhere.",
        "recall/samples/full",
        "100",
        "?1? 1, ?11 0, 111 1",
    ),
    described(
        "recall-full-samples-merges",
        "Both labels are best alone, as each leaves the other rightly absent; together they are"
        " worst.",
        "recall/samples/full",
        "00",
        "1? 1, ?1 1, 11 0",
    ),
    described(
        "recall-partial-samples-decomposable",
        "One label right per row is enough, so the head beats its labels.",
        "recall/samples/partial",
        "10 01",
        "1? 1/2, ?1 1/2, 11 1",
    ),
    described(
        "recall-partial-samples-merges",
        "The best single label is not the best head.",
        "recall/samples/partial",
        "10*2 01",
        "1? 2/3, ?1 1/3, 11 1",
    ),
    described(
        "subset-partial-samples-decomposable",
        "The best labels are never right together.",
        "subset/samples/partial",
        "10 01",
        "1? 1/2, ?1 1/2, 11 0",
    ),
    described(
        "subset-full-samples-decomposable",
        "The best labels are never right together.",
        "subset/samples/full",
        "10 01",
        "1? 1/2, ?1 1/2, 11 0",
    ),
    described(
        "subset-full-samples-finds",
        "The pruned search drops {1, 2} and with it the only optimum {1, 2, 3}.",
        "subset/samples/full",
        "100 111*2",
        "1?? 1/3, 11? 0, 1?1 0, 111 2/3",
    ),
    described(
        "full-votes",
        "Every label is decided on its own by a vote, so a label that is not the best one alone"
        " belongs into the best head; for all full measures but those of whole rows.",
        "precision/micro/full",
        "11*2 10",
        "1? 2/3, ?1 1/3, 11 5/6",
        uncovered="11 00",
    ),
    described(
        "f-full-micro-head-relative",
        "The false negatives depend on the head: the pruned search drops {1, 3} and with it the"
        " only optimum {1, 2, 3}.",
        "f1/micro/full",
        "110",
        "1?? 4/9, 1?1 1/3, 11? 3/4, 111 4/5",
        uncovered="000*2",
        convention="head-relative",
    ),
    described(
        "f0.5-full-micro-head-relative",
        "The same for beta >= 1/2; for a smaller beta take more than 1.5/beta² rows 000.",
        "f0.5/micro/full",
        "110",
        "1?? 5/14, 1?1 1/4, 11? 15/22, 111 5/7",
        uncovered="000*7",
        convention="head-relative",
    ),
    described(
        "recall-full-micro-head-relative",
        "The pruned search drops {2, 3} and with it the only optimum {1, 2, 3}.",
        "recall/micro/full",
        "100",
        "1?? 3/5, ?1? 1/3, ?11 0, 11? 2/3, 111 1",
        uncovered="000",
        convention="head-relative",
    ),
    described(
        "f-full-samples-plain-anti-monotone",
        "Counted plainly: adding label 2 to {1} loses, adding label 3 as well is optimal again.",
        "f1/samples/full",
        "100 111",
        "1?? 3/4, 11? 11/15, 111 3/4",
        convention="plain",
    ),
    described(
        "f-full-samples-plain-finds",
        "Counted plainly: {1, 4} is worse than {1}, which drops the only optimum.",
        "f1/samples/full",
        "10000 01100 10011",
        "1???? 1/2, 1??1? 22/45, 111?? 49/90, 11111 139/252",
        convention="plain",
    ),
    described(
        "lift-prefix",
        "Lifted, the best positive head of two labels is not made of the two best labels, so taking"
        " prefixes of the labels sorted by their value misses the optimum {1, 2}.",
        "f1/micro/partial",
        "010 011*2 110",
        "1?? 2/5, ?1? 8/9, ??1 4/8, ?11 12/17, 111 14/22, 11? 10/14",
        uncovered="001 011",
        lift="1 5/4 7/5",
    ),
    described(
        "lift-polarity",
        "Presence and absence of label 2 are worth the same alone, but not beside the absence of"
        " label 1.",
        "recall/micro/partial",
        "00*2 01",
        "0? 3/4, ?1 1, ?0 1, 01 4/5, 00 5/6",
        uncovered="10",
    ),
    described(
        "written-micro-decomposable",
        "All cells of label 1 are written: {1} is 0/0 = 0 and rides along in {1, 2}.",
        "precision/micro/partial",
        "#1",
        "1? 0, ?1 1, 11 1",
    ),
    described(
        "written-samples-merges",
        "No row has both labels open, so they do not compete and the best head has both.",
        "precision/samples/partial",
        "#1*2 1#",
        "1? 1/3, ?1 2/3, 11 1",
    ),
    described(
        "written-samples-finds",
        "A label weighs more in a row with fewer open cells: the pruned search drops {1, 3} and"
        " with it the only optimum {1, 2, 3}.",
        "precision/samples/partial",
        "#1#*2 101*2 001",
        "1?? 2/5, ??1 3/5, 11? 3/5, ?11 7/10, 1?1 1/2, 111 11/15",
    ),
    described(
        "written-subset-finds",
        "A row with nothing open counts 0 and can be won by a further label: the pruned search"
        " drops {1, 3} and with it the only optimum {1, 2, 3}.",
        "subset/samples/partial",
        "##1 #1#*2 100*2 1##",
        "1?? 1/2, ?1? 1/3, ??1 1/6, 11? 1/2, 1?1 1/3, ?11 1/2, 111 2/3",
    ),
    described(
        "written-recall-finds",
        "One open cell right per row is enough, and which cells are open differs: the pruned search"
        " drops {1, 2} and with it the only optimum {1, 2, 3}.",
        "recall/samples/full",
        "1## #10 #01 ##1",
        "1?? 3/4, ?1? 1/4, ??1 1/2, 11? 1/2, 1?1 3/4, ?11 3/4, 111 1",
    ),
)

COUNTEREXAMPLES: Mapping[str, Counterexample] = {entry.name: entry for entry in _ENTRIES}
"""By name."""
