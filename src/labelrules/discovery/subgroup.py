"""Groups of rows whose labels are exceptional, as they were found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from labelrules._checks import counted
from labelrules.data import Schema
from labelrules.discovery.deviations import Contrast
from labelrules.discovery.frames import frame_of
from labelrules.rules import Body, Condition, Head, Rule, RuleSet
from labelrules.rules.text import body_text
from labelrules.rules.tokens import name_text

SHOWN = 3
"""How many changes of labels are shown with a subgroup."""


@dataclass(frozen=True)
class Subgroup:
    """Rows that a body describes, and what is exceptional about their labels.

    Attributes
    ----------
    body : Body
    value : float
        What the measure says.
    n_covered : int
        How many rows there are.
    rule : Rule
        The body with a head: the target, if there was one, else what most of the rows have; the
        evidence says how many do.
    changes : tuple of Contrast
        What is otherwise here than elsewhere, the greatest change first; see `Subgroups`.
    p : float or None
        How probable it is by chance that a search finds something worth as much; None if that
        was not asked for.
    """

    body: Body
    value: float
    n_covered: int
    rule: Rule
    changes: tuple[Contrast, ...]
    p: float | None = None


@dataclass(frozen=True, eq=False)
class Subgroups(Sequence[Subgroup]):
    """What :func:`subgroups` has found, the best first; printing it shows each on a line.

    Behind the body stand the greatest changes: of labels the share of rows that have them, and of
    pairs of labels their correlation (phi), within the subgroup and elsewhere.

    Attributes
    ----------
    found : tuple of Subgroup
    measure : str
    schema : Schema
    n_rows : int
        Rows that were searched.
    target : Head or None
        What the rows of a subgroup are to have, if that was asked for.
    n_bodies : int
        Bodies that were looked at.
    is_complete : bool
        Whether none can be better, by the conditions that were allowed.
    """

    found: tuple[Subgroup, ...]
    measure: str
    schema: Schema
    n_rows: int
    target: Head | None
    n_bodies: int
    is_complete: bool

    def theory(self) -> RuleSet:
        """The rules of the subgroups, with evidence."""
        return RuleSet(self.schema, [group.rule for group in self.found])

    def bodies(self) -> list[Body]:
        """The bodies, the best first."""
        return [group.body for group in self.found]

    def as_dict(self) -> dict[str, list[Any]]:
        """The subgroups as columns, for a data frame of any library."""
        return {
            "body": [body_text(group.body, self.schema) for group in self.found],
            "value": [group.value for group in self.found],
            "n_covered": [group.n_covered for group in self.found],
            "coverage": [group.n_covered / self.n_rows for group in self.found],
            "changes": [self._changes(group) for group in self.found],
            "p": [group.p for group in self.found],
        }

    def to_frame(self) -> Any:
        """The subgroups as a data frame of pandas."""
        return frame_of(self.as_dict())

    @overload
    def __getitem__(self, index: int) -> Subgroup: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Subgroup]: ...
    def __getitem__(self, index: int | slice) -> Subgroup | Sequence[Subgroup]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Subgroup]:
        return iter(self.found)

    def __str__(self) -> str:
        n_found = f"{len(self)} subgroup{'s' if len(self) != 1 else ''}"
        how = "all bodies" if self.is_complete else f"{self.n_bodies:,} bodies"
        lines = [f"{n_found} of {self.n_rows} rows by {self.measure}, {how} searched"]
        for group in self.found:
            p = "" if group.p is None else f", p = {group.p:.2g}"
            lines.append(
                f"{group.value:.4f}, {counted(group.n_covered, 'row')}{p}: "
                f"{body_text(group.body, self.schema)} ({self._changes(group)})"
            )
        return "\n".join(lines)

    def _changes(self, group: Subgroup) -> str:
        return "; ".join(
            f"{self._what(change)} {change.inside:.2f} instead of {change.reference:.2f}"
            for change in group.changes[:SHOWN]
            if change.weight
        )

    def _what(self, change: Contrast) -> str:
        if self.target is None:
            return " ~ ".join(name_text(self.schema.labels[label]) for label in change.labels)
        conditions = [Condition.label(label, bool(value)) for label, value in self.target]
        return body_text(Body(conditions), self.schema)
