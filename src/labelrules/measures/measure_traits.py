"""Properties of measures that searches for the best head rely on: the chapter's table, corrected.

Four properties of the values h of all heads of a fixed body that covers at least one row,
whether heads may predict absence or not:

- anti-monotone: for heads p ⊂ s ⊂ a, if h(s) < h(p), then a is not a best head;
- finds: a search that skips every head containing such an s still meets a best head;
- decomposable: a head is a best one if and only if each of its labels alone is as good;
- merges: merging the labels that are best alone gives a best head.

Decomposable implies the rest; anti-monotone implies finds. A verdict "up to 0/0" means that the
property fails only on tables where 0/0 occurs. Tests confirm every verdict by brute force over all
small tables; each "no" names one of the `COUNTEREXAMPLES`.

Of these, names that begin with "written" concern a board on which earlier rules have written, the
two that begin with "size-bonus" a preference for larger heads. Rows and heads have a character for
each label, as in the chapter: 1 present, 0 absent, ? in a head for a label that it does not
concern, # in a row for a cell that an earlier rule has written; ``101*7`` is a row seven times.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Literal, TypeAlias, cast, get_args

import numpy as np

from labelrules._checks import one_of
from labelrules._types import UNSET, Board, Mask
from labelrules.measures import formulas
from labelrules.measures.confusion_matrix import COUNTINGS, Counting
from labelrules.measures.formulas import entry
from labelrules.measures.measure import Measure


@dataclass(frozen=True, repr=False)
class Counterexample:
    """A table, a measure, and the exact values of heads there.

    Parameters
    ----------
    name, shows : str
        Its name, and what fails, in one sentence.
    measure : Measure
    rows, uncovered : tuple of str
        The rows that are covered, and those that are not.
    values : mapping from str to Fraction
        The value of each head that matters; the greatest is the best of all heads.
    counting : {"chapter", "head-relative", "plain"}
    size_bonus : tuple of Fraction
        Factors for the value of a head with 1, 2, ... labels; empty for none.

    Examples
    --------
    >>> from labelrules.measures import COUNTEREXAMPLES
    >>> example = COUNTEREXAMPLES["f-partial-samples-decomposable"]
    >>> example
    <Counterexample: f-partial-samples-decomposable, f1/samples/partial on 10 01>
    >>> {head: str(value) for head, value in example.values.items()}
    {'1?': '1/2', '?1': '1/2', '11': '2/3', '00': '2/3'}
    """

    name: str
    shows: str
    measure: Measure
    rows: tuple[str, ...]
    values: Mapping[str, Fraction]
    uncovered: tuple[str, ...] = ()
    counting: Counting = "chapter"
    size_bonus: tuple[Fraction, ...] = ()

    def __repr__(self) -> str:
        return f"<Counterexample: {self.name}, {self.measure} on {' '.join(self.rows)}>"

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
        """What earlier rules have written: 0 in the marked cells, all others open."""
        rows = (*self.rows, *self.uncovered)
        return np.array([[0 if cell == "#" else UNSET for cell in row] for row in rows], np.int8)

    @property
    def best(self) -> Fraction:
        """The greatest value of any head, with its size bonus."""
        return max(self.value_with_bonus(head) for head in self.values)

    def value(self, head: str) -> Fraction:
        """The value of a head on this table, computed anew."""
        return self.measure.of_rule(
            self.Y, self.covered, head_vector(head), self.board, self.counting, exact=True
        )

    def value_with_bonus(self, head: str) -> Fraction:
        """The listed value of a head, times the bonus of its size."""
        size = sum(cell != "?" for cell in head)
        return self.values[head] * (self.size_bonus[size - 1] if self.size_bonus else 1)


def head_vector(text: str) -> Board:
    """The vector of a head that is written as text: "1?0" is 1, -1, 0."""
    values = {"0": 0, "1": 1, "?": int(UNSET)}
    return np.array([values[cell] for cell in text], dtype=np.int8)


_EXAMPLES = """
f-partial-samples-decomposable: f1/samples/partial on 10 01
  1? 1/2, ?1 1/2, 11 2/3, 00 2/3
  A head is better than each of its labels: the formula is concave in the number of right
  labels, so spreading them over the rows is rewarded.
f-partial-samples-merges: f1/samples/partial on 100 011
  1?? 1/2, ?1? 1/2, ??1 1/2, 111 13/20, 11? 2/3
  Merging the best single labels gives less than the best head.
f-partial-samples-anti-monotone: f1/samples/partial on 1100 0011
  1?1? 2/3, 111? 13/20, 1111 2/3
  Adding label 2 to {1, 3} loses, and adding label 4 as well gives an optimum again.
f-partial-samples-finds: f1/samples/partial on 101*7 010*3
  1?? 7/10, ?1? 3/10, ??1 7/10, 1?1 7/10, 11? 2/3, ?11 2/3, 111 71/100
  The pruned search drops {1, 2} and with it the only optimum {1, 2, 3}; so does every table of
  a rows 010 and b rows 101 with 2a < b < 2.5a.
f0.5-partial-samples-finds: f0.5/samples/partial on 101*4 010*3
  1?? 4/7, 11? 5/9, 111 365/637
  The pruned search drops {1, 2} and with it the only optimum {1, 2, 3}.
f2-partial-samples-finds: f2/samples/partial on 100 110 011*3
  ?1? 4/5, ?11 23/30, 11? 13/15, 111 67/77
  The pruned search drops {2, 3} and with it the only optimum {1, 2, 3}.
f-partial-samples-finds-any-beta: f1/samples/partial on 0110 0111 1001 1011 1100
  1?1? 11/15, 1?11 18/25, 1111 26/35
  The pruned search drops {1, 3, 4} and with it the only optimum {1, 2, 3, 4}, for every beta >
  0 that was tried.
f-full-samples-anti-monotone: f1/samples/full on 100 011
  ?1? 13/20, ?11 1/2, 111 13/20
  Adding label 3 to {2} loses, and adding label 1 as well gives an optimum again.
f-full-samples-finds: f1/samples/full on 110 101*2 111
  1?? 29/40, ?1? 13/40, ??1 21/40, 11? 28/40, 1?1 33/40, ?11 23/40, 111 34/40
  The pruned search drops {1, 2} and with it the only optimum {1, 2, 3}; for every beta.
f2-full-samples-finds: f2/samples/full on 100 011 111
  ?1? 60/77, ?11 7/11, 11? 65/77, 1?1 65/77, 111 202/231
  For beta = 2 on three rows: the pruned search drops {2, 3} and so {1, 2, 3}.
recall-full-micro-anti-monotone: recall/micro/full on 100
  ?1? 1, ?11 0, 111 1
  {2, 3} is wrong everywhere, which is 0/0 = 0; {2} and {1, 2, 3} are optimal.
recall-partial-micro-decomposable: recall/micro/partial on 10
  1? 1, ?1 0, 11 1
  {2} is 0/0 = 0 and yet is part of the optimal {1, 2}.
recall-full-samples-anti-monotone: recall/samples/full on 100
  ?1? 1, ?11 0, 111 1
  {2, 3} is wrong everywhere, and still {1, 2, 3} is right somewhere.
recall-full-samples-merges: recall/samples/full on 00
  1? 1, ?1 1, 11 0
  Both labels are best alone, as each leaves the other rightly absent; together they are worst.
recall-partial-samples-decomposable: recall/samples/partial on 10 01
  1? 1/2, ?1 1/2, 11 1
  One label right per row is enough, so the head beats its labels.
recall-partial-samples-merges: recall/samples/partial on 10*2 01
  1? 2/3, ?1 1/3, 11 1
  The best single label is not the best head.
subset-partial-samples-decomposable: subset/samples/partial on 10 01
  1? 1/2, ?1 1/2, 11 0
  The best labels are never right together.
subset-full-samples-decomposable: subset/samples/full on 10 01
  1? 1/2, ?1 1/2, 11 0
  The best labels are never right together.
subset-full-samples-finds: subset/samples/full on 100 111*2
  1?? 1/3, 11? 0, 1?1 0, 111 2/3
  The pruned search drops {1, 2} and with it the only optimum {1, 2, 3}.
full-votes: precision/micro/full on 11*2 10; uncovered: 11 00
  1? 2/3, ?1 1/3, 11 5/6
  Every label is decided on its own by a vote, so a label that is not the best one alone belongs
  into the best head; for all full measures but those of whole rows.
f-full-micro-head-relative: f1/micro/full on 110; uncovered: 000*2; counting: head-relative
  1?? 4/9, 1?1 1/3, 11? 3/4, 111 4/5
  The false negatives depend on the head: the pruned search drops {1, 3} and with it the only
  optimum {1, 2, 3}.
f0.5-full-micro-head-relative: f0.5/micro/full on 110; uncovered: 000*7; counting: head-relative
  1?? 5/14, 1?1 1/4, 11? 15/22, 111 5/7
  The same for beta >= 1/2; for a smaller beta take more than 1.5/beta² rows 000.
recall-full-micro-head-relative: recall/micro/full on 100; uncovered: 000; counting: head-relative
  1?? 3/5, ?1? 1/3, ?11 0, 11? 2/3, 111 1
  The pruned search drops {2, 3} and with it the only optimum {1, 2, 3}.
f-full-samples-plain-anti-monotone: f1/samples/full on 100 111; counting: plain
  1?? 3/4, 11? 11/15, 111 3/4
  Counted plainly: adding label 2 to {1} loses, adding label 3 as well is optimal again.
f-full-samples-plain-finds: f1/samples/full on 10000 01100 10011; counting: plain
  1???? 1/2, 1??1? 22/45, 111?? 49/90, 11111 139/252
  Counted plainly: {1, 4} is worse than {1}, which drops the only optimum.
size-bonus-prefix: f1/micro/partial on 010 011*2 110; uncovered: 001 011; size bonus: 1 5/4 7/5
  1?? 2/5, ?1? 8/9, ??1 4/8, ?11 12/17, 111 14/22, 11? 10/14
  With the bonus, the best positive head of two labels is not made of the two best labels, so
  taking prefixes of the labels sorted by their value misses the optimum {1, 2}.
size-bonus-polarity: recall/micro/partial on 00*2 01; uncovered: 10
  0? 3/4, ?1 1, ?0 1, 01 4/5, 00 5/6
  Presence and absence of label 2 are worth the same alone, but not beside the absence of label
  1.
written-micro-decomposable: precision/micro/partial on #1
  1? 0, ?1 1, 11 1
  All cells of label 1 are written: {1} is 0/0 = 0 and is part of {1, 2}.
written-samples-merges: precision/samples/partial on #1*2 1#
  1? 1/3, ?1 2/3, 11 1
  No row has both labels open, so they do not compete and the best head has both.
written-samples-finds: precision/samples/partial on #1#*2 101*2 001
  1?? 2/5, ??1 3/5, 11? 3/5, ?11 7/10, 1?1 1/2, 111 11/15
  A label weighs more in a row with fewer open cells: the pruned search drops {1, 3} and with it
  the only optimum {1, 2, 3}.
written-subset-finds: subset/samples/partial on ##1 #1#*2 100*2 1##
  1?? 1/2, ?1? 1/3, ??1 1/6, 11? 1/2, 1?1 1/3, ?11 1/2, 111 2/3
  A row with nothing open counts 0 and can be won by a further label: the pruned search drops
  {1, 3} and with it the only optimum {1, 2, 3}.
written-recall-finds: recall/samples/full on 1## #10 #01 ##1
  1?? 3/4, ?1? 1/4, ??1 1/2, 11? 1/2, 1?1 3/4, ?11 3/4, 111 1
  One open cell right per row is enough, and which cells are open differs: the pruned search
  drops {1, 2} and with it the only optimum {1, 2, 3}.
"""


def _examples() -> Iterator[Counterexample]:
    blocks: list[list[str]] = []
    for line in _EXAMPLES.strip().splitlines():
        if not line.startswith(" "):
            blocks.append([])
        blocks[-1].append(line.strip())
    for first, values, *shows in blocks:
        name, _, setting = first.partition(": ")
        measure, _, table = setting.partition(" on ")
        rows, *others = table.split("; ")
        options = dict(part.split(": ") for part in others)
        pairs = (pair.split() for pair in values.split(","))
        yield Counterexample(
            name=name,
            shows=" ".join(shows),
            measure=Measure.parse(measure),
            rows=_rows(rows),
            values={head: Fraction(value) for head, value in pairs},
            uncovered=_rows(options.get("uncovered", "")),
            counting=cast(Counting, options.get("counting", "chapter")),
            size_bonus=tuple(map(Fraction, options.get("size bonus", "").split())),
        )


def _rows(text: str) -> tuple[str, ...]:
    """The rows of ``"101*7 010"``, each the number of times after the star."""
    words = (word.partition("*") for word in text.split())
    return tuple(row for row, _, times in words for _ in range(int(times or 1)))


COUNTEREXAMPLES: Mapping[str, Counterexample] = {one.name: one for one in _examples()}
"""All counterexamples by name."""


Verdict: TypeAlias = Literal["yes", "no", "up to 0/0"]
Property: TypeAlias = Literal["anti_monotone", "finds", "decomposable", "merges"]
PROPERTIES: tuple[Property, ...] = get_args(Property)
Cell: TypeAlias = tuple[str, str, str]
"""Formula, predictions, averaging."""
Failures: TypeAlias = dict[str, tuple[Verdict, str]]
"""From a property that fails to the verdict and the name of a counterexample."""


@dataclass(frozen=True, slots=True)
class Traits:
    """The properties of a measure that searches for the best head rely on.

    Parameters
    ----------
    anti_monotone, finds, decomposable, merges : {"yes", "no", "up to 0/0"}
        The properties explained in :mod:`labelrules.measures.measure_traits`.
    claimed_anti_monotone, claimed_decomposable : bool
        Whether the chapter's table claims it.
    witnesses : mapping
        From each property that fails to the name of a counterexample.
    """

    anti_monotone: Verdict
    finds: Verdict
    decomposable: Verdict
    merges: Verdict
    claimed_anti_monotone: bool
    claimed_decomposable: bool
    witnesses: Mapping[str, str] = field(hash=False)

    def __reduce__(self) -> tuple[type["Traits"], tuple[object, ...]]:
        values = [getattr(self, name) for name in self.__slots__[:-1]]
        return Traits, (*values, dict(self.witnesses))

    @property
    def differs(self) -> bool:
        """Whether the chapter's table disagrees."""
        return (self.anti_monotone == "yes", self.decomposable == "yes") != (
            self.claimed_anti_monotone,
            self.claimed_decomposable,
        )


def traits(
    measure: Measure, counting: Counting = "chapter", *, written: bool = False
) -> Traits | None:
    """The properties of a measure, or None where they are not known.

    Known are precision, recall, Hamming, F and subset accuracy; not the other formulas, nor a
    formula that was replaced, nor plain counting.

    Parameters
    ----------
    measure : Measure
    counting : {"chapter", "head-relative", "plain"}
    written : bool, default=False
        Whether earlier rules may have written cells, which then do not count. Fewer properties
        hold then: a mean over rows weighs labels differently from row to row.

    Examples
    --------
    >>> known = traits(Measure.parse("f1/samples/partial"))
    >>> known.claimed_decomposable, known.decomposable, known.witnesses["decomposable"]
    (True, 'no', 'f-partial-samples-decomposable')
    >>> traits(Measure.parse("laplace")) is None
    True
    """
    one_of(counting, "counting", COUNTINGS)
    name, beta = measure.formula.name, measure.formula.parameter
    if name not in _FUNCTIONS or entry(name)[0] is not _FUNCTIONS[name] or counting == "plain":
        return None
    if name == "f" and beta == 0:
        name = "precision"  # F0 is precision
    cell = (name, measure.predictions, measure.averaging)
    known = TABLE[cell]
    if counting == "head-relative":
        known = _with_failures(known, HEAD_RELATIVE.get(cell, {}))
    return _with_failures(known, WRITTEN.get(cell, {})) if written else known


_FUNCTIONS = {
    "precision": formulas.precision,
    "recall": formulas.recall,
    "hamming": formulas.hamming,
    "f": formulas.f,
    "subset": formulas.subset,
}

# For each group of measures (formulas, predictions, averagings) the properties that the chapter
# claims; below it each counterexample with the properties that it refutes.
_CHAPTER = """
precision, partial, micro macro samples cell: anti_monotone decomposable
precision, full, micro macro samples cell: anti_monotone
  full-votes: decomposable merges
recall, partial, micro: anti_monotone decomposable
  recall-partial-micro-decomposable: decomposable up to 0/0
recall, partial, macro cell: anti_monotone decomposable
recall, partial, samples:
  recall-partial-samples-decomposable: decomposable
  recall-partial-samples-merges: merges
recall, full, micro: anti_monotone
  recall-full-micro-anti-monotone: anti_monotone up to 0/0
  full-votes: decomposable merges
recall, full, macro cell: anti_monotone
  full-votes: decomposable merges
recall, full, samples:
  recall-full-samples-anti-monotone: anti_monotone
  recall-full-samples-merges: decomposable merges
hamming, partial, micro macro samples cell: anti_monotone decomposable
hamming, full, micro macro samples cell: anti_monotone
  full-votes: decomposable merges
f, partial, micro macro cell: anti_monotone decomposable
f, partial, samples: anti_monotone decomposable
  f-partial-samples-anti-monotone: anti_monotone
  f-partial-samples-finds-any-beta: finds
  f-partial-samples-decomposable: decomposable
  f-partial-samples-merges: merges
f, full, micro macro cell: anti_monotone
  full-votes: decomposable merges
f, full, samples: anti_monotone
  f-full-samples-anti-monotone: anti_monotone
  f-full-samples-finds: finds
  full-votes: decomposable merges
subset, partial, samples: anti_monotone
  subset-partial-samples-decomposable: decomposable merges
subset, full, samples:
  subset-full-samples-finds: anti_monotone finds
  subset-full-samples-decomposable: decomposable merges
"""

_HEAD_RELATIVE = """
recall, full, micro:
  recall-full-micro-head-relative: anti_monotone finds
f, full, micro:
  f0.5-full-micro-head-relative: anti_monotone finds
"""

_WRITTEN = """
precision hamming f, partial, micro:
  written-micro-decomposable: decomposable up to 0/0
precision hamming, partial, samples:
  written-samples-finds: anti_monotone finds
  written-samples-merges: decomposable merges
subset, partial, samples:
  written-subset-finds: anti_monotone finds
recall, full, samples:
  written-recall-finds: finds
"""


def _blocks(text: str) -> Iterator[tuple[list[Cell], str, Failures]]:
    """Groups of measures, the properties claimed for them, and those that fail."""
    blocks: list[tuple[list[Cell], str, Failures]] = []
    for line in text.strip().splitlines():
        key, _, words = line.partition(":")
        if not line.startswith(" "):
            names, predictions, averagings = (part.split() for part in key.split(","))
            blocks.append((list(product(names, predictions, averagings)), words, {}))
            continue
        properties, zero, _ = words.partition("up to 0/0")
        verdict: Verdict = "up to 0/0" if zero else "no"
        blocks[-1][2].update({one: (verdict, key.strip()) for one in properties.split()})
    return iter(blocks)


def _with_failures(traits: Traits, failures: Failures) -> Traits:
    """The traits with further properties failing."""
    verdicts = {one: verdict for one, (verdict, _) in failures.items()}
    witnesses = {**traits.witnesses, **{one: name for one, (_, name) in failures.items()}}
    return replace(traits, **verdicts, witnesses=MappingProxyType(witnesses))  # type: ignore[arg-type]


def _traits(claims: str, failures: Failures) -> Traits:
    claimed = ("anti_monotone" in claims, "decomposable" in claims)
    return _with_failures(Traits("yes", "yes", "yes", "yes", *claimed, {}), failures)


TABLE: Mapping[Cell, Traits] = {
    cell: _traits(claims, failures)
    for cells, claims, failures in _blocks(_CHAPTER)
    for cell in cells
}
"""The chapter's 34 cells, on an empty board; what holds for F holds for every beta > 0."""

HEAD_RELATIVE: Mapping[Cell, Failures] = {
    cell: failures for cells, _, failures in _blocks(_HEAD_RELATIVE) for cell in cells
}
"""What fails in addition with head-relative counting: the false negatives depend on the head."""

WRITTEN: Mapping[Cell, Failures] = {
    cell: failures for cells, _, failures in _blocks(_WRITTEN) for cell in cells
}
"""What fails in addition when some cells are written already and do not count."""
