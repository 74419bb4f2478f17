"""Properties of measures that searches for the best head rely on: the chapter's table, corrected.

Four properties of the values h of all heads of a fixed body that covers at least one row,
whether heads may predict absence or not:

- anti-monotone: for heads p ⊂ s ⊂ a, if h(s) < h(p), then a is not a best head;
- finds: a search that skips every head containing such an s still meets a best head;
- decomposable: a head is a best one if and only if each of its labels alone is as good;
- merges: merging the labels that are best alone gives a best head.

Decomposable implies the rest; anti-monotone implies finds. A verdict "up to 0/0" means that the
property fails only on tables where 0/0 occurs. Tests confirm every verdict by brute force over all
small tables; each "no" names a table of :mod:`labelrules.measures.counterexamples`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from labelrules._checks import one_of
from labelrules.measures import formulas
from labelrules.measures.confusion_matrix import COUNTINGS, Counting
from labelrules.measures.formulas import entry
from labelrules.measures.measure import Measure

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
