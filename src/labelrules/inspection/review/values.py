"""Findings as values: what a person should look at, with proposed fixes and their effects."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from labelrules._checks import counted, one_of
from labelrules._html import folded, fragment, paragraphs
from labelrules._report import pandas_frame
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.review.fixes import Effect, Fix
from labelrules.inspection.summaries import titled
from labelrules.rules import Theory

if TYPE_CHECKING:
    import pandas

FindingKind: TypeAlias = Literal[
    "contradictory body",
    "duplicate",
    "subsumed",
    "unreachable",
    "superfluous",
    "unreachable label",
    "redundant condition",
    "more often wrong than right",
    "conflict",
    "circular labels",
    "constant label",
    "unused",
    "condition without effect",
]
KINDS: tuple[FindingKind, ...] = get_args(FindingKind)
"""The kinds of findings, in the order in which they are listed."""


class Finding(NamedTuple):
    """Something in a theory that a person should look at, with a proposed fix."""

    kind: FindingKind
    places: tuple[Place, ...]  #: The rules that it is about; the first is the one to be changed.
    sentence: str  #: What it is, in plain English.
    fix: Fix | None = None  #: An edit that would settle it, if there is a simple one.
    effect: Effect | None = None  #: What the fix changes in the predictions.
    n_rows: int | None = None  #: Rows of the data in which it happens; None where not counted.

    @property
    def rules(self) -> tuple[int, ...]:
        """The numbers of the rules in their lists, from 1."""
        return tuple(place.number + 1 for place in self.places)

    def __str__(self) -> str:
        return "\n  ".join(self.lines())

    def lines(self) -> list[str]:
        """The sentence, and the fix with its effect."""
        return [self.sentence, *([] if self.fix is None else [f"{self.fix}: {self.effect}"])]


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What was found in a theory, the surest first."""

    theory: Theory
    found: tuple[Finding, ...]
    n_rows: int | None = None  #: Of the data; None if only the rules were looked at.

    def of_kind(self, kind: str) -> tuple[Finding, ...]:
        """The findings of one kind."""
        one_of(kind, "kind", KINDS)
        return tuple(one for one in self.found if one.kind == kind)

    def by_kind(self) -> Iterator[tuple[FindingKind, tuple[Finding, ...]]]:
        """The kinds that there are, and the findings of each."""
        for kind in KINDS:
            if found := self.of_kind(kind):
                yield kind, found

    def about(self, rule: int, layer: int | None = None) -> tuple[Finding, ...]:
        """The findings about the rule of this number (and layer), from 1."""
        wanted = rule - 1, None if layer is None else layer - 1
        return tuple(
            one for one in self.found if wanted in [(p.number, p.layer) for p in one.places]
        )

    def to_frame(self) -> "pandas.DataFrame":
        """A pandas frame with a row for each finding."""
        effects = [one.effect for one in self.found]
        return pandas_frame(
            {
                "kind": [one.kind for one in self.found],
                "rules": [", ".join(map(str, one.places)) for one in self.found],
                "sentence": [one.sentence for one in self.found],
                "rows": [one.n_rows for one in self.found],
                "fix": [None if one.fix is None else str(one.fix) for one in self.found],
                "is_proved": [None if e is None else e.proved for e in effects],
                "changed": [None if e is None else e.n_changed_cells for e in effects],
                "righted": [None if e is None else e.n_righted for e in effects],
                "wronged": [None if e is None else e.n_wronged for e in effects],
            }
        )

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __getitem__(self, index: int) -> Finding:
        return self.found[index]

    def __repr__(self) -> str:
        return f"Findings({self.headline})"

    @property
    def headline(self) -> str:
        """How many findings there are, in how many rules."""
        rows = "" if self.n_rows is None else f" and {counted(self.n_rows, 'row')}"
        return f"{counted(len(self.found), 'finding')} in {counted(len(self.theory), 'rule')}{rows}"

    def __str__(self) -> str:
        parts = [self.headline]
        for kind, found in self.by_kind():
            parts += titled(f"{kind}: {len(found)}", [one.lines() for one in found])
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        lists = [folded(kind, [one.lines() for one in found]) for kind, found in self.by_kind()]
        return fragment(paragraphs([self.headline]), *lists)


def sorted_findings(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """By kind, then those in more rows, then in the order of the rules."""
    return tuple(sorted(found, key=lambda one: (KINDS.index(one.kind), -(one.n_rows or 0))))


def listed_rules(places: Iterable[Place], most: int = 5) -> str:
    """Rules in words; places of one list.

    >>> listed_rules([Place(0), Place(2), Place(4)]), listed_rules([Place(3)])
    ('rules 1, 3 and 5', 'rule 4')
    """
    every = list(places)
    if len(every) == 1:
        return str(every[0])
    numbers = [str(place.called) for place in every[:most]]
    if len(every) > most:
        numbers.append(f"{len(every) - most} more")
    where = str(every[0]).removeprefix(f"rule {every[0].called}")
    return f"rules {', '.join(numbers[:-1])} and {numbers[-1]}{where}"
