"""Which searches for the best head a measure allows: the chapter's table, corrected.

Four properties of the values h of all heads of a fixed body that covers at least one row,
whether heads may predict absence or not:

anti-monotone
    For heads p ⊂ s ⊂ a: if h(s) < h(p), then a is not a best head.
finds
    A search that skips every head containing such an s still meets a best head.
decomposable
    A head is a best one if and only if each of its labels alone is as good.
merges
    Merging the labels that are best alone gives a best head.

Decomposable implies the rest; anti-monotone implies finds. A verdict "up to 0/0" means that the
property fails only on tables where 0/0 occurs. Every verdict is confirmed by brute force over
all small tables in the tests; each "no" names a table of
:mod:`labelrules.measures.counterexamples` that shows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from labelrules.measures import formulas as formulas
from labelrules.measures.confusion import CONVENTIONS, Convention
from labelrules.measures.formulas import entry
from labelrules.measures.measure import Measure

Verdict: TypeAlias = Literal["yes", "no", "up to 0/0"]
Property: TypeAlias = Literal["anti_monotone", "finds", "decomposable", "merges"]
PROPERTIES: tuple[Property, ...] = get_args(Property)
Cell: TypeAlias = tuple[str, str, str]
"""Formula, predictions, averaging."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of a measure.

    Parameters
    ----------
    anti_monotone, finds, decomposable, merges : {"yes", "no", "up to 0/0"}
        The properties explained in :mod:`labelrules.measures.traits`.
    claimed_anti_monotone, claimed_decomposable : bool
        Whether the chapter's table says yes.
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
        """Whether the chapter's table says otherwise."""
        return (self.anti_monotone == "yes", self.decomposable == "yes") != (
            self.claimed_anti_monotone,
            self.claimed_decomposable,
        )


def traits(
    measure: Measure, convention: Convention = "chapter", *, written: bool = False
) -> Traits | None:
    """The properties of a measure, or None where they are not known.

    Known are precision, recall, Hamming, F and subset accuracy, not the other formulas, nor one
    that was replaced, nor plain counting.

    Parameters
    ----------
    measure : Measure
    convention : {"chapter", "head-relative", "plain"}
    written : bool, default=False
        Whether earlier rules may have written cells, which then do not count. This takes
        properties away: a mean over rows then weighs labels differently from row to row.

    Examples
    --------
    >>> traits(Measure.parse("precision/micro/partial")).decomposable
    'yes'
    >>> found = traits(Measure.parse("f1/samples/partial"))
    >>> found.claimed_decomposable, found.decomposable, found.witnesses["decomposable"]
    (True, 'no', 'f-partial-samples-decomposable')
    >>> traits(Measure.parse("precision/samples/partial"), written=True).merges
    'no'
    >>> traits(Measure.parse("laplace")) is None
    True
    """
    if convention not in CONVENTIONS:
        raise ValueError(f"there is no convention {convention!r}: use one of {CONVENTIONS}")
    name, beta = measure.formula.name, measure.formula.parameter
    if name not in _FUNCTIONS or entry(name)[0] is not _FUNCTIONS[name] or convention == "plain":
        return None
    if name == "f" and beta == 0:
        name = "precision"  # which F0 is, in every way
    cell = (name, measure.predictions, measure.averaging)
    found = TABLE[cell]
    if convention == "head-relative":
        found = _changed(found, HEAD_RELATIVE.get(cell, {}))
    return _changed(found, WRITTEN.get(cell, {})) if written else found


def _changed(traits: Traits, failures: Mapping[str, str]) -> Traits:
    """The traits with further properties failing; a witness may begin with "up to 0/0"."""
    verdicts = {key: _verdict(witness) for key, witness in failures.items()}
    witnesses = {**traits.witnesses, **{key: _name(one) for key, one in failures.items()}}
    return replace(traits, **verdicts, witnesses=MappingProxyType(witnesses))  # type: ignore[arg-type]


def _verdict(witness: str) -> Verdict:
    return "up to 0/0" if witness.startswith("up to 0/0: ") else "no"


def _name(witness: str) -> str:
    return witness.removeprefix("up to 0/0: ")


def _rows(
    name: str, predictions: str, averagings: str, claimed: str, **failures: str
) -> dict[Cell, Traits]:
    """The same traits for several averagings; what does not fail is "yes"."""
    holds = Traits(
        "yes", "yes", "yes", "yes", "anti-monotone" in claimed, "decomposable" in claimed, {}
    )
    found = _changed(holds, failures)
    return {(name, predictions, averaging): found for averaging in averagings.split()}


_FUNCTIONS = {
    "precision": formulas.precision,
    "recall": formulas.recall,
    "hamming": formulas.hamming,
    "f": formulas.f,
    "subset": formulas.subset,
}

_BOTH, _ANTI_MONOTONE, _NEITHER = "anti-monotone decomposable", "anti-monotone", ""
_VOTES = {"decomposable": "full-votes", "merges": "full-votes"}

TABLE: Mapping[Cell, Traits] = {
    **_rows("precision", "partial", "micro macro samples cell", _BOTH),
    **_rows("precision", "full", "micro macro samples cell", _ANTI_MONOTONE, **_VOTES),
    **_rows(
        "recall",
        "partial",
        "micro",
        _BOTH,
        decomposable="up to 0/0: recall-partial-micro-decomposable",
    ),
    **_rows("recall", "partial", "macro cell", _BOTH),
    **_rows(
        "recall",
        "partial",
        "samples",
        _NEITHER,
        decomposable="recall-partial-samples-decomposable",
        merges="recall-partial-samples-merges",
    ),
    **_rows(
        "recall",
        "full",
        "micro",
        _ANTI_MONOTONE,
        anti_monotone="up to 0/0: recall-full-micro-anti-monotone",
        **_VOTES,
    ),
    **_rows("recall", "full", "macro cell", _ANTI_MONOTONE, **_VOTES),
    **_rows(
        "recall",
        "full",
        "samples",
        _NEITHER,
        anti_monotone="recall-full-samples-anti-monotone",
        decomposable="recall-full-samples-merges",
        merges="recall-full-samples-merges",
    ),
    **_rows("hamming", "partial", "micro macro samples cell", _BOTH),
    **_rows("hamming", "full", "micro macro samples cell", _ANTI_MONOTONE, **_VOTES),
    **_rows("f", "partial", "micro macro cell", _BOTH),
    **_rows(
        "f",
        "partial",
        "samples",
        _BOTH,
        anti_monotone="f-partial-samples-anti-monotone",
        finds="f-partial-samples-finds-any-beta",
        decomposable="f-partial-samples-decomposable",
        merges="f-partial-samples-merges",
    ),
    **_rows("f", "full", "micro macro cell", _ANTI_MONOTONE, **_VOTES),
    **_rows(
        "f",
        "full",
        "samples",
        _ANTI_MONOTONE,
        anti_monotone="f-full-samples-anti-monotone",
        finds="f-full-samples-finds",
        **_VOTES,
    ),
    **_rows(
        "subset",
        "partial",
        "samples",
        _ANTI_MONOTONE,
        decomposable="subset-partial-samples-decomposable",
        merges="subset-partial-samples-decomposable",
    ),
    **_rows(
        "subset",
        "full",
        "samples",
        _NEITHER,
        anti_monotone="subset-full-samples-finds",
        finds="subset-full-samples-finds",
        decomposable="subset-full-samples-decomposable",
        merges="subset-full-samples-decomposable",
    ),
}
"""The 34 cells of the chapter's table, counted as the chapter does, on an empty board.

What holds for F holds for every beta > 0.
"""

HEAD_RELATIVE: Mapping[Cell, Mapping[str, str]] = {
    ("recall", "full", "micro"): {
        "anti_monotone": "recall-full-micro-head-relative",
        "finds": "recall-full-micro-head-relative",
    },
    ("f", "full", "micro"): {
        "anti_monotone": "f0.5-full-micro-head-relative",
        "finds": "f0.5-full-micro-head-relative",
    },
}
"""What fails in addition with head-relative counting: the false negatives depend on the head."""

_RIDES_ALONG = "up to 0/0: written-micro-decomposable"

WRITTEN: Mapping[Cell, Mapping[str, str]] = {
    ("precision", "partial", "micro"): {"decomposable": _RIDES_ALONG},
    ("hamming", "partial", "micro"): {"decomposable": _RIDES_ALONG},
    ("f", "partial", "micro"): {"decomposable": _RIDES_ALONG},
    **{
        (name, "partial", "samples"): {
            "anti_monotone": "written-samples-finds",
            "finds": "written-samples-finds",
            "decomposable": "written-samples-merges",
            "merges": "written-samples-merges",
        }
        for name in ("precision", "hamming")
    },
    ("subset", "partial", "samples"): {
        "anti_monotone": "written-subset-finds",
        "finds": "written-subset-finds",
    },
    ("recall", "full", "samples"): {"finds": "written-recall-finds"},
}
"""What fails in addition when some cells are written already and do not count."""
